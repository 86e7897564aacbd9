; Calls in loops and branches: tapes of callees that loop themselves; what callees need is overwritten later.
; grad: @iterates([1.5, 0.5, 1.25], i64 3)
; grad: @sometimes([1.5, -0.5, 1.25], i64 3)
; grad: @overwritten_after([1.5, 0.5, 1.25], i64 2)
; grad: @same_twice([1.5, 0.5, 1.25])
; grad: @only_integers(1.5, [i32 0, i32 2, i32 1])

define internal double @root(double %a) {
entry:
  br label %loop
loop:
  %x = phi double [ %a, %entry ], [ %x1, %loop ]
  %n = phi i32 [ 0, %entry ], [ %n1, %loop ]
  %q = fdiv double %a, %x
  %s = fadd double %q, %x
  %x1 = fmul double %s, 0.5
  %n1 = add i32 %n, 1
  %more = icmp ult i32 %n1, 4
  br i1 %more, label %loop, label %done
done:
  %r = phi double [ %x1, %loop ]
  ret double %r
}

define double @iterates(ptr %v, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %s = phi double [ 1.0, %entry ], [ %t, %loop ]
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  %y = call double @root(double %x)
  %z = call double @root(double %y)
  %t = fmul double %s, %z
  store double %t, ptr %at
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %loop, label %done
done:
  %r = phi double [ %t, %loop ]
  ret double %r
}

define double @sometimes(ptr %v, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
  %s = phi double [ 1.0, %entry ], [ %t, %latch ]
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  %pos = fcmp ogt double %x, 0.0
  br i1 %pos, label %yes, label %no
yes:
  %y = call double @root(double %x)
  %ys = fmul double %y, %s
  br label %latch
no:
  %xs = fmul double %x, %s
  br label %latch
latch:
  %t = phi double [ %ys, %yes ], [ %xs, %no ]
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %loop, label %done
done:
  %r = phi double [ %t, %latch ]
  ret double %r
}

define internal double @dot(ptr %v) {
  %a = load double, ptr %v
  %q = getelementptr double, ptr %v, i64 1
  %b = load double, ptr %q
  %c = fmul double %a, %b
  ret double %c
}

define double @overwritten_after(ptr %v, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %s = phi double [ 1.0, %entry ], [ %t, %loop ]
  %at = getelementptr double, ptr %v, i64 %i
  %d = call double @dot(ptr %at)
  %t = fmul double %s, %d
  store double %t, ptr %at
  %q = getelementptr double, ptr %at, i64 1
  store double %d, ptr %q
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %loop, label %done
done:
  %r = phi double [ %t, %loop ]
  ret double %r
}

define double @same_twice(ptr %v) {
  %a = call double @dot(ptr %v)
  %b = call double @dot(ptr %v)
  %q = getelementptr double, ptr %v, i64 1
  %c = call double @dot(ptr %q)
  store double %a, ptr %q
  %d = call double @dot(ptr %v)
  %ab = fmul double %a, %b
  %cd = fmul double %c, %d
  %r = fadd double %ab, %cd
  ret double %r
}

; A callee without floats: its stores to integers must not be repeated.
define internal i32 @bump(ptr %k) {
  %n = load i32, ptr %k
  %m = add i32 %n, 3
  store i32 %m, ptr %k
  ret i32 %n
}

define double @only_integers(double %x, ptr %k) {
  %k1 = getelementptr i32, ptr %k, i64 1
  %a = call i32 @bump(ptr %k1)
  %b = call i32 @bump(ptr %k1)
  %f = sitofp i32 %a to double
  %g = sitofp i32 %b to double
  %y = fmul double %x, %f
  %z = fmul double %y, %x
  %w = fmul double %z, %g
  ret double %w
}
