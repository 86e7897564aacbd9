; Nests: triangular, known in unknown and the other way round, an inner loop that runs at times only.
; grad: @triangle([1.0, 2.0, 3.0], i64 3)
; grad: @triangle([1.5], i64 1)
; grad: @unknown_in_known([30.0, 2.0, 9.0], i64 3)
; grad: @known_in_unknown(50.0, i64 3)
; grad: @known_in_unknown(0.5, i64 3)
; grad: @at_times([1.0, 2.0, 3.0, 4.0], i64 4)
; grad: @deep(1.1, i64 2, i64 3, i64 2)
; trip: @triangle %outer %n1
; trip: @triangle %inner %i
; trip: @unknown_in_known %outer %n1
; trip: @known_in_unknown %inner %m1
; trip: @deep %l1 %a1
; trip: @deep %l2 %b1
; trip: @deep %l3 %c1
; stable: @unknown_in_known %x
; stable: @at_times %x

define double @triangle(ptr %v, i64 %n) {
entry:
  %n1 = add i64 %n, -1
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
  %s = phi double [ 1.0, %entry ], [ %end, %latch ]
  %ai = getelementptr double, ptr %v, i64 %i
  br label %inner
inner:
  %j = phi i64 [ 0, %outer ], [ %j1, %inner ]
  %t = phi double [ %s, %outer ], [ %u, %inner ]
  %aj = getelementptr double, ptr %v, i64 %j
  %x = load double, ptr %ai
  %y = load double, ptr %aj
  %xy = fmul double %x, %y
  %u = fadd double %t, %xy
  %small = fmul double %u, 0.125
  store double %small, ptr %aj
  %j1 = add i64 %j, 1
  %more = icmp ule i64 %j1, %i
  br i1 %more, label %inner, label %latch
latch:
  %end = phi double [ %u, %inner ]
  %i1 = add i64 %i, 1
  %again = icmp ult i64 %i1, %n
  br i1 %again, label %outer, label %done
done:
  %r = phi double [ %end, %latch ]
  ret double %r
}

define double @unknown_in_known(ptr %v, i64 %n) {
entry:
  %n1 = add i64 %n, -1
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
  %s = phi double [ 1.0, %entry ], [ %s1, %latch ]
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  br label %inner
inner:
  %y = phi double [ %x, %outer ], [ %y1, %inner ]
  %y1 = fmul double %y, 0.5
  %more = fcmp ogt double %y1, 1.1
  br i1 %more, label %inner, label %latch
latch:
  %z = phi double [ %y1, %inner ]
  %zz = fmul double %z, %x
  %s1 = fmul double %s, %zz
  %i1 = add i64 %i, 1
  %again = icmp ult i64 %i1, %n
  br i1 %again, label %outer, label %done
done:
  %r = phi double [ %s1, %latch ]
  ret double %r
}

define double @known_in_unknown(double %x, i64 %m) {
entry:
  %m1 = add i64 %m, -1
  br label %outer
outer:
  %y = phi double [ %x, %entry ], [ %half, %latch ]
  %s = phi double [ 1.0, %entry ], [ %end, %latch ]
  br label %inner
inner:
  %j = phi i64 [ 0, %outer ], [ %j1, %inner ]
  %t = phi double [ %s, %outer ], [ %u, %inner ]
  %ty = fmul double %t, %y
  %u = fmul double %ty, 0.25
  %j1 = add i64 %j, 1
  %more = icmp ult i64 %j1, %m
  br i1 %more, label %inner, label %latch
latch:
  %end = phi double [ %u, %inner ]
  %half = fmul double %y, 0.4
  %again = fcmp ogt double %half, 1.0
  br i1 %again, label %outer, label %done
done:
  %r = phi double [ %end, %latch ]
  ret double %r
}

define double @at_times(ptr %v, i64 %n) {
entry:
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
  %s = phi double [ 1.0, %entry ], [ %next, %latch ]
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  %odd = and i64 %i, 1
  %is = icmp eq i64 %odd, 0
  br i1 %is, label %ahead, label %skip
ahead:
  br label %inner
inner:
  %j = phi i64 [ 0, %ahead ], [ %j1, %inner ]
  %t = phi double [ %s, %ahead ], [ %u, %inner ]
  %u = fmul double %t, %x
  %j1 = add i64 %j, 1
  %more = icmp ult i64 %j1, 2
  br i1 %more, label %inner, label %after
after:
  %w = phi double [ %u, %inner ]
  br label %latch
skip:
  %v2 = fadd double %s, %x
  br label %latch
latch:
  %next = phi double [ %w, %after ], [ %v2, %skip ]
  %i1 = add i64 %i, 1
  %again = icmp ult i64 %i1, %n
  br i1 %again, label %outer, label %done
done:
  %r = phi double [ %next, %latch ]
  ret double %r
}

define double @deep(double %x, i64 %a, i64 %b, i64 %c) {
entry:
  %a1 = add i64 %a, -1
  %b1 = add i64 %b, -1
  %c1 = add i64 %c, -1
  br label %l1
l1:
  %i = phi i64 [ 0, %entry ], [ %i1, %e1 ]
  %s1 = phi double [ %x, %entry ], [ %r1, %e1 ]
  br label %l2
l2:
  %j = phi i64 [ 0, %l1 ], [ %j1, %e2 ]
  %s2 = phi double [ %s1, %l1 ], [ %r2, %e2 ]
  %m2 = fmul double %s2, %x
  br label %l3
l3:
  %k = phi i64 [ 0, %l2 ], [ %k1, %l3 ]
  %s3 = phi double [ %m2, %l2 ], [ %m3, %l3 ]
  %d = fmul double %s3, %x
  %dd = fmul double %d, %s1
  %m3 = fmul double %dd, 0.5
  %k1 = add i64 %k, 1
  %g3 = icmp ult i64 %k1, %c
  br i1 %g3, label %l3, label %e2
e2:
  %q = phi double [ %m3, %l3 ]
  %r2 = fadd double %q, %s2
  %j1 = add i64 %j, 1
  %g2 = icmp ult i64 %j1, %b
  br i1 %g2, label %l2, label %e1
e1:
  %w = phi double [ %r2, %e2 ]
  %r1 = fmul double %w, %s1
  %i1 = add i64 %i, 1
  %g1 = icmp ult i64 %i1, %a
  br i1 %g1, label %l1, label %done
done:
  %r = phi double [ %r1, %e1 ]
  ret double %r
}
