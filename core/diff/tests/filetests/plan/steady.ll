; Loads that are the same in all iterations of a loop are kept once for all of these: by a fact, or where a condition holds.
; The pointers of the last gradients are the same one, and the condition is false.
; grad: @always([1.5, 0.5, -0.75], [0.0, 0.0], i64 1)
; grad: @always([1.5, 0.5, -0.75], [0.0, 0.0], i64 3)
; grad: @at_times([1.5, 0.5, -0.75], [0.1, 0.2, 0.3], i64 3)
; grad: @at_times([0.5, 0.25, -0.75], same: 0, i64 2)
; grad: @at_times([0.5, 0.25, -0.75], same: 0, i64 3)
; grad: @one([1.5, 0.5], i64 1)
; grad: @one([1.5, 0.5], i64 4)
; steady: @always %x %g varies
; steady: @at_times %x %g varies if %apart
; grad: @triangle([0.8, 0.5, -0.75, 0.3], i64 1, i64 2)
; grad: @triangle([0.8, 0.5, -0.75, 0.3], i64 2, i64 3)
; grad: @triangle([0.8, 0.5, -0.75, 0.3], i64 3, i64 4)
; steady: @one %x %inner
; steady: @triangle %x %i varies most %two
; trip: @always %t %last
; trip: @always %g %one
; trip: @always %j %two
; trip: @at_times %t %last
; trip: @at_times %g %one
; trip: @at_times %j %two
; trip: @one %outer %last
; trip: @one %inner %two
; plan: @always same has %x
; plan: @at_times same has %x
; plan: @at_times needed has %apart
; trip: @triangle %t %turns
; trip: @triangle %i %one
; trip: @triangle %j %before
; plan: @one same has %x
; plan: @triangle same has %x
; alone: in split mode addresses of slots are kept besides

; out[g] = sum of h[j]^2 / 10, for g = 0, 1; then h[0] changes.
define double @always(ptr %h, ptr %out, i64 %n) {
entry:
  %last = add i64 %n, -1
  %one = add i64 0, 1
  %two = add i64 0, 2
  br label %t
t:
  %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
  %s = phi double [ 0.0, %entry ], [ %s1, %latch ]
  br label %g
g:
  %k = phi i64 [ 0, %t ], [ %k1, %gl ]
  br label %j
j:
  %m = phi i64 [ 0, %g ], [ %m1, %j ]
  %a = phi double [ 0.0, %g ], [ %b, %j ]
  %p = getelementptr double, ptr %h, i64 %m
  %x = load double, ptr %p
  %xx = fmul double %x, %x
  %b = fadd double %a, %xx
  %m1 = add i64 %m, 1
  %mj = icmp ult i64 %m1, 3
  br i1 %mj, label %j, label %gl
gl:
  %sum = phi double [ %b, %j ]
  %small = fmul double %sum, 0.1
  %q = getelementptr double, ptr %out, i64 %k
  store double %small, ptr %q
  %k1 = add i64 %k, 1
  %mg = icmp ult i64 %k1, 2
  br i1 %mg, label %g, label %latch
latch:
  %end = phi double [ %small, %gl ]
  store double %end, ptr %h
  %s1 = fadd double %s, %end
  %i1 = add i64 %i, 1
  %mt = icmp ult i64 %i1, %n
  br i1 %mt, label %t, label %done
done:
  %r = phi double [ %s1, %latch ]
  ret double %r
}

; The same, where out may be h.
define double @at_times(ptr %h, ptr %out, i64 %n) {
entry:
  %last = add i64 %n, -1
  %one = add i64 0, 1
  %two = add i64 0, 2
  br label %t
t:
  %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
  %s = phi double [ 0.0, %entry ], [ %s1, %latch ]
  %apart = icmp ne ptr %h, %out
  br label %g
g:
  %k = phi i64 [ 0, %t ], [ %k1, %gl ]
  br label %j
j:
  %m = phi i64 [ 0, %g ], [ %m1, %j ]
  %a = phi double [ 0.0, %g ], [ %b, %j ]
  %p = getelementptr double, ptr %h, i64 %m
  %x = load double, ptr %p
  %xx = fmul double %x, %x
  %b = fadd double %a, %xx
  %m1 = add i64 %m, 1
  %mj = icmp ult i64 %m1, 3
  br i1 %mj, label %j, label %gl
gl:
  %sum = phi double [ %b, %j ]
  %small = fmul double %sum, 0.1
  %q = getelementptr double, ptr %out, i64 %k
  store double %small, ptr %q
  %k1 = add i64 %k, 1
  %mg = icmp ult i64 %k1, 2
  br i1 %mg, label %g, label %latch
latch:
  %end = phi double [ %small, %gl ]
  store double %end, ptr %h
  %s1 = fadd double %s, %end
  %i1 = add i64 %i, 1
  %mt = icmp ult i64 %i1, %n
  br i1 %mt, label %t, label %done
done:
  %r = phi double [ %s1, %latch ]
  ret double %r
}

; One element, read in each iteration of the inner loop, written between its entries.
define double @one(ptr %h, i64 %n) {
entry:
  %last = add i64 %n, -1
  %two = add i64 0, 2
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
  br label %inner
inner:
  %m = phi i64 [ 0, %outer ], [ %m1, %inner ]
  %a = phi double [ 1.0, %outer ], [ %b, %inner ]
  %x = load double, ptr %h
  %xx = fmul double %x, %x
  %b = fadd double %a, %xx
  %m1 = add i64 %m, 1
  %mj = icmp ult i64 %m1, 3
  br i1 %mj, label %inner, label %latch
latch:
  %sum = phi double [ %b, %inner ]
  %small = fmul double %sum, 0.125
  store double %small, ptr %h
  %i1 = add i64 %i, 1
  %mt = icmp ult i64 %i1, %n
  br i1 %mt, label %outer, label %done
done:
  %r = phi double [ %small, %latch ]
  ret double %r
}

; x[i] is multiplied by the squares of all before it, for i = 1 .. n - 1: in place, so that each stays what it is once it is read. Then
; they all change.
define double @triangle(ptr %h, i64 %steps, i64 %n) {
entry:
  %turns = add i64 %steps, -1
  %one = sub i64 %n, 2
  br label %t
t:
  %k = phi i64 [ 0, %entry ], [ %k1, %latch ]
  %two = sub i64 %n, 2
  br label %i
i:
  %m = phi i64 [ 1, %t ], [ %m1, %il ]
  %q = getelementptr double, ptr %h, i64 %m
  %start = load double, ptr %q
  %before = add i64 %m, -1
  br label %j
j:
  %l = phi i64 [ 0, %i ], [ %l1, %j ]
  %a = phi double [ %start, %i ], [ %b, %j ]
  %p = getelementptr double, ptr %h, i64 %l
  %x = load double, ptr %p
  %xx = fmul double %x, %x
  %b = fmul double %a, %xx
  %l1 = add i64 %l, 1
  %mj = icmp ult i64 %l1, %m
  br i1 %mj, label %j, label %il
il:
  %left = phi double [ %b, %j ]
  %more = fadd double %left, 0.25
  store double %more, ptr %q
  %m1 = add i64 %m, 1
  %mi = icmp ult i64 %m1, %n
  br i1 %mi, label %i, label %latch
latch:
  %last = phi double [ %more, %il ]
  %first = load double, ptr %h
  %next = fmul double %first, %last
  store double %next, ptr %h
  %k1 = add i64 %k, 1
  %mt = icmp ult i64 %k1, %steps
  br i1 %mt, label %t, label %done
done:
  %r = phi double [ %next, %latch ]
  ret double %r
}
