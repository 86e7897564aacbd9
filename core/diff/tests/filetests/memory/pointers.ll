; Pointers chosen at run time: phis, selects, pointers in memory.
; grad: @ping_pong([1.0, 2.0], [3.0, 4.0], i64 3)
; grad: @ping_pong([1.0, 2.0], [3.0, 4.0], i64 1)
; grad: @chosen([1.5], [2.5], i1 1)
; grad: @chosen([1.5], [2.5], i1 0)
; grad: @rows([[1.0, 2.0], [3.0, 4.0]])
; grad: @table([[1.0, 2.0], [3.0, 4.0]])
; grad: @walk([1.0, 2.0, 3.0], i64 3)
; grad: @backwards([1.0, 2.0, 3.0], i64 3)

define double @ping_pong(ptr %a, ptr %b, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %p = phi ptr [ %a, %entry ], [ %q, %loop ]
  %q = phi ptr [ %b, %entry ], [ %p, %loop ]
  %p1 = getelementptr double, ptr %p, i64 1
  %q1 = getelementptr double, ptr %q, i64 1
  %x = load double, ptr %p
  %y = load double, ptr %p1
  %z = fmul double %x, %y
  store double %z, ptr %q
  %w = load double, ptr %q1
  %ww = fmul double %w, %x
  store double %ww, ptr %q1
  %i1 = add i64 %i, 1
  %again = icmp ult i64 %i1, %n
  br i1 %again, label %loop, label %done
done:
  %end = phi ptr [ %q, %loop ]
  %r = load double, ptr %end
  ret double %r
}

define double @chosen(ptr %a, ptr %b, i1 %c) {
  %p = select i1 %c, ptr %a, ptr %b
  %x = load double, ptr %p
  %y = load double, ptr %a
  %z = fmul double %x, %y
  store double %z, ptr %p
  %w = load double, ptr %b
  %v = fmul double %w, %z
  ret double %v
}

define double @rows(ptr %m) {
  %m1 = getelementptr ptr, ptr %m, i64 1
  %r0 = load ptr, ptr %m
  %r1 = load ptr, ptr %m1
  store ptr %r1, ptr %m
  store ptr %r0, ptr %m1
  %s = load ptr, ptr %m
  %a = load double, ptr %s
  %b = load double, ptr %r0
  %c = fmul double %a, %b
  %r01 = getelementptr double, ptr %r0, i64 1
  store double %c, ptr %r01
  ret double %c
}

define double @table(ptr %m) {
  %local = alloca [2 x ptr]
  %l1 = getelementptr ptr, ptr %local, i64 1
  %m1 = getelementptr ptr, ptr %m, i64 1
  %r0 = load ptr, ptr %m
  %r1 = load ptr, ptr %m1
  store ptr %r0, ptr %l1
  store ptr %r1, ptr %local
  %p = load ptr, ptr %local
  %q = load ptr, ptr %l1
  %a = load double, ptr %p
  %b = load double, ptr %q
  %c = fmul double %a, %b
  store double %c, ptr %p
  ret double %b
}

define double @walk(ptr %a, i64 %n) {
entry:
  %end = getelementptr double, ptr %a, i64 %n
  br label %loop
loop:
  %p = phi ptr [ %a, %entry ], [ %p1, %loop ]
  %s = phi double [ 1.0, %entry ], [ %t, %loop ]
  %x = load double, ptr %p
  %t = fmul double %s, %x
  store double %s, ptr %p
  %p1 = getelementptr double, ptr %p, i64 1
  %stop = icmp eq ptr %p1, %end
  br i1 %stop, label %done, label %loop
done:
  %r = phi double [ %t, %loop ]
  ret double %r
}

define double @backwards(ptr %a, i64 %n) {
entry:
  br label %loop
loop:
  %k = phi i64 [ %n, %entry ], [ %k1, %loop ]
  %s = phi double [ 1.0, %entry ], [ %t, %loop ]
  %k1 = add i64 %k, -1
  %p = getelementptr double, ptr %a, i64 %k1
  %x = load double, ptr %p
  %t = fmul double %s, %x
  %more = icmp ne i64 %k1, 0
  br i1 %more, label %loop, label %done
done:
  %r = phi double [ %t, %loop ]
  ret double %r
}
