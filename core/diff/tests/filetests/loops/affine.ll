; Counters that are rebuilt: of narrow types that wrap, going down, with a step known at run time only, pointers over
; structures, and counters that look affine but are not.
; grad: @wraps([1.5, 2.0, 0.5, 3.0], i8 -2)
; grad: @step_known_late([1.5, 2.0, 0.5, 3.0, 1.0, 4.0], i64 2, i64 3)
; grad: @over_structures([1.5, i64 2, 0.5, i64 3, 2.5, i64 4], i64 3)
; grad: @not_affine([1.5, 2.0, 0.5, 3.0, 1.0, 4.0, 2.0], i64 3)
; grad: @pointer_down([1.5, 2.0, 0.5], i64 3)
; grad: @inner_start([1.5, 2.0, 0.5, 3.0], i64 2)
; bytes: @over_structures %n int

define double @wraps(ptr %v, i8 %start) {
entry:
  br label %loop
loop:
  %c = phi i8 [ %start, %entry ], [ %c1, %loop ]
  %s = phi double [ 1.0, %entry ], [ %t, %loop ]
  %two = add i8 %c, 2
  %i = zext i8 %two to i64
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  %t = fmul double %s, %x
  store double %t, ptr %at
  %c1 = add i8 %c, 1
  %more = icmp ne i8 %c1, 2
  br i1 %more, label %loop, label %done
done:
  %r = phi double [ %t, %loop ]
  ret double %r
}

define double @step_known_late(ptr %v, i64 %step, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %k = phi i64 [ 1, %entry ], [ %k1, %loop ]
  %s = phi double [ 1.0, %entry ], [ %t, %loop ]
  %at = getelementptr double, ptr %v, i64 %k
  %x = load double, ptr %at
  %t = fmul double %s, %x
  store double %t, ptr %at
  %k1 = add i64 %step, %k
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %loop, label %done
done:
  %r = phi double [ %t, %loop ]
  ret double %r
}

define double @over_structures(ptr %v, i64 %count) {
entry:
  %end = getelementptr { double, i64 }, ptr %v, i64 %count
  br label %loop
loop:
  %p = phi ptr [ %v, %entry ], [ %p1, %loop ]
  %s = phi double [ 1.0, %entry ], [ %t, %loop ]
  %np = getelementptr { double, i64 }, ptr %p, i64 0, i32 1
  %x = load double, ptr %p
  %n = load i64, ptr %np
  %f = sitofp i64 %n to double
  %y = fmul double %x, %f
  %t = fmul double %s, %y
  store double %t, ptr %p
  %p1 = getelementptr { double, i64 }, ptr %p, i64 1
  %more = icmp ne ptr %p1, %end
  br i1 %more, label %loop, label %done
done:
  %r = phi double [ %t, %loop ]
  ret double %r
}

; The step grows.
define double @not_affine(ptr %v, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %k = phi i64 [ 0, %entry ], [ %k1, %loop ]
  %s = phi double [ 1.0, %entry ], [ %t, %loop ]
  %at = getelementptr double, ptr %v, i64 %k
  %x = load double, ptr %at
  %t = fmul double %s, %x
  store double %t, ptr %at
  %i1 = add i64 %i, 1
  %k1 = add i64 %k, %i1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %loop, label %done
done:
  %r = phi double [ %t, %loop ]
  ret double %r
}

define double @pointer_down(ptr %v, i64 %n) {
entry:
  %last = getelementptr double, ptr %v, i64 %n
  %first = getelementptr double, ptr %last, i64 -1
  br label %loop
loop:
  %p = phi ptr [ %first, %entry ], [ %p1, %loop ]
  %s = phi double [ 1.0, %entry ], [ %t, %loop ]
  %x = load double, ptr %p
  %t = fmul double %s, %x
  store double %t, ptr %p
  %stop = icmp eq ptr %p, %v
  %p1 = getelementptr double, ptr %p, i64 -1
  br i1 %stop, label %done, label %loop
done:
  %r = phi double [ %t, %loop ]
  ret double %r
}

; The inner counter starts where the outer one stands.
define double @inner_start(ptr %v, i64 %n) {
entry:
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
  %s = phi double [ 1.0, %entry ], [ %e, %latch ]
  %top = add i64 %i, 2
  br label %inner
inner:
  %j = phi i64 [ %i, %outer ], [ %j1, %inner ]
  %u = phi double [ %s, %outer ], [ %t, %inner ]
  %at = getelementptr double, ptr %v, i64 %j
  %x = load double, ptr %at
  %t = fmul double %u, %x
  store double %u, ptr %at
  %j1 = add i64 %j, 1
  %more = icmp ult i64 %j1, %top
  br i1 %more, label %inner, label %latch
latch:
  %e = phi double [ %t, %inner ]
  %i1 = add i64 %i, 1
  %again = icmp ult i64 %i1, %n
  br i1 %again, label %outer, label %done
done:
  %r = phi double [ %e, %latch ]
  ret double %r
}
