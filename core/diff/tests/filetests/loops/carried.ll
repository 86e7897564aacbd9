; Values and pointers carried from iteration to iteration, and loops that follow one another.
; grad: @zero_trip_inner([1.5, 2.0, 0.5], i64 3)
; grad: @jacobi([1.0, 2.0, 4.0, 3.0], [0.0, 0.0, 0.0, 0.0], i64 3)
; grad: @break_out([1.5, 2.0, 0.5, 1.25], i64 2)
; grad: @two_loops([1.5, 2.0, 0.5], i64 3)
; grad: @long_chain([1.5, 2.0, 0.5], i64 3)
; grad: @reverse_order(1.5, i64 3)
; trip: @zero_trip_inner %outer %n1
; trip: @zero_trip_inner %inner %im1
; trip: @jacobi %outer %n1
; trip: @jacobi %inner %one
; trip: @two_loops %l1 %n1
; trip: @two_loops %l2 %n1

define double @zero_trip_inner(ptr %v, i64 %n) {
entry:
  %n1 = add i64 %n, -1
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
  %s = phi double [ 1.0, %entry ], [ %e, %latch ]
  %none = icmp eq i64 %i, 0
  br i1 %none, label %latch, label %ahead
ahead:
  %im1 = add i64 %i, -1
  br label %inner
inner:
  %j = phi i64 [ 0, %ahead ], [ %j1, %inner ]
  %u = phi double [ %s, %ahead ], [ %t, %inner ]
  %at = getelementptr double, ptr %v, i64 %j
  %x = load double, ptr %at
  %t = fmul double %u, %x
  %tt = fadd double %t, %x
  store double %tt, ptr %at
  %j1 = add i64 %j, 1
  %g = icmp ult i64 %j1, %i
  br i1 %g, label %inner, label %after
after:
  %w = phi double [ %t, %inner ]
  br label %latch
latch:
  %e = phi double [ %s, %outer ], [ %w, %after ]
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %outer, label %done
done:
  %r = phi double [ %e, %latch ]
  ret double %r
}

define double @jacobi(ptr %a0, ptr %b0, i64 %n) {
entry:
  %n1 = add i64 %n, -1
  %one = add i64 0, 1
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
  %a = phi ptr [ %a0, %entry ], [ %b, %latch ]
  %b = phi ptr [ %b0, %entry ], [ %a, %latch ]
  br label %inner
inner:
  %j = phi i64 [ 1, %outer ], [ %j1, %inner ]
  %jm = add i64 %j, -1
  %j1 = add i64 %j, 1
  %pm = getelementptr double, ptr %a, i64 %jm
  %pc = getelementptr double, ptr %a, i64 %j
  %pp = getelementptr double, ptr %a, i64 %j1
  %x = load double, ptr %pm
  %y = load double, ptr %pc
  %z = load double, ptr %pp
  %xy = fmul double %x, %y
  %xyz = fadd double %xy, %z
  %o = getelementptr double, ptr %b, i64 %j
  store double %xyz, ptr %o
  %g = icmp ult i64 %j1, 3
  br i1 %g, label %inner, label %latch
latch:
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %outer, label %done
done:
  %end = phi ptr [ %b, %latch ]
  %q = getelementptr double, ptr %end, i64 2
  %r = load double, ptr %q
  ret double %r
}

; The inner loop has two exits into the outer one's body.
define double @break_out(ptr %v, i64 %n) {
entry:
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
  %s = phi double [ 1.0, %entry ], [ %e, %latch ]
  br label %inner
inner:
  %j = phi i64 [ 0, %outer ], [ %j1, %next ]
  %u = phi double [ %s, %outer ], [ %t, %next ]
  %k = add i64 %i, %j
  %at = getelementptr double, ptr %v, i64 %k
  %x = load double, ptr %at
  %big = fcmp ogt double %x, 1.75
  br i1 %big, label %broken, label %next
next:
  %t = fmul double %u, %x
  store double %u, ptr %at
  %j1 = add i64 %j, 1
  %g = icmp ult i64 %j1, 3
  br i1 %g, label %inner, label %through
broken:
  %bu = phi double [ %u, %inner ]
  %bx = phi double [ %x, %inner ]
  %bb = fmul double %bu, %bx
  br label %latch
through:
  %tt = phi double [ %t, %next ]
  br label %latch
latch:
  %e = phi double [ %bb, %broken ], [ %tt, %through ]
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %outer, label %done
done:
  %r = phi double [ %e, %latch ]
  ret double %r
}

define double @two_loops(ptr %v, i64 %n) {
entry:
  %n1 = add i64 %n, -1
  br label %l1
l1:
  %i = phi i64 [ 0, %entry ], [ %i1, %l1 ]
  %s = phi double [ 1.0, %entry ], [ %t, %l1 ]
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  %t = fmul double %s, %x
  store double %t, ptr %at
  %i1 = add i64 %i, 1
  %g = icmp ult i64 %i1, %n
  br i1 %g, label %l1, label %mid
mid:
  %m = phi double [ %t, %l1 ]
  br label %l2
l2:
  %j = phi i64 [ 0, %mid ], [ %j1, %l2 ]
  %u = phi double [ %m, %mid ], [ %w, %l2 ]
  %at2 = getelementptr double, ptr %v, i64 %j
  %y = load double, ptr %at2
  %um = fmul double %u, %m
  %w = fmul double %um, %y
  store double %u, ptr %at2
  %j1 = add i64 %j, 1
  %h = icmp ult i64 %j1, %n
  br i1 %h, label %l2, label %done
done:
  %r = phi double [ %w, %l2 ]
  ret double %r
}

; Header phis that feed each other: values of earlier iterations.
define double @long_chain(ptr %v, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %a = phi double [ 1.0, %entry ], [ %x, %loop ]
  %b = phi double [ 2.0, %entry ], [ %a, %loop ]
  %c = phi double [ 3.0, %entry ], [ %b, %loop ]
  %s = phi double [ 1.0, %entry ], [ %t, %loop ]
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  %ab = fmul double %a, %b
  %abc = fmul double %ab, %c
  %t = fmul double %s, %abc
  %i1 = add i64 %i, 1
  %g = icmp ult i64 %i1, %n
  br i1 %g, label %loop, label %done
done:
  %r = phi double [ %t, %loop ]
  %q = phi double [ %x, %loop ]
  %rq = fmul double %r, %q
  ret double %rq
}

; Blocks stand in another order than they run.
define double @reverse_order(double %x, i64 %n) {
entry:
  br label %loop
done:
  %r = phi double [ %t, %latch ]
  ret double %r
latch:
  %t = fmul double %m, %x
  %i1 = add i64 %i, 1
  %g = icmp ult i64 %i1, %n
  br i1 %g, label %loop, label %done
odd:
  %so = fmul double %s, %s
  br label %join
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
  %s = phi double [ %x, %entry ], [ %t, %latch ]
  %bit = trunc i64 %i to i1
  br i1 %bit, label %odd, label %join
join:
  %m = phi double [ %so, %odd ], [ %s, %loop ]
  br label %latch
}
