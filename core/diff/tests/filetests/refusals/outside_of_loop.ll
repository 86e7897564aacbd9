; Values of a loop used after it without a phi: the importer makes that phi.
; error[Shape]: @outside(1.25, i64 3)
; error[Shape]: @outside_of_two(1.25, i64 3)

define double @outside(double %x, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %s = phi double [ %x, %entry ], [ %t, %loop ]
  %t = fmul double %s, %x
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %loop, label %done
done:
  %r = fmul double %t, %s
  %f = uitofp i64 %i to double
  %rr = fmul double %r, %f
  ret double %rr
}

define double @outside_of_two(double %x, i64 %n) {
entry:
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
  %s = phi double [ %x, %entry ], [ %q, %latch ]
  br label %inner
inner:
  %j = phi i64 [ 0, %outer ], [ %j1, %inner ]
  %u = phi double [ %s, %outer ], [ %t, %inner ]
  %t = fmul double %u, %x
  %j1 = add i64 %j, 1
  %g = icmp ule i64 %j1, %i
  br i1 %g, label %inner, label %latch
latch:
  %q = fmul double %t, %u
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %outer, label %done
done:
  %r = fmul double %t, %q
  ret double %r
}
