; Branches that lead to one place, blocks that nothing reaches, values that are frozen.
; grad: @both_same(1.5, i1 1)
; grad: @switch_same(1.5, i32 4)
; grad: @unreached(1.5)
; grad: @frozen(1.5)
; grad: @never_returns_in_loop(1.5, i32 3)
; grad: @volatile([1.5])

define double @both_same(double %x, i1 %c) {
entry:
  %y = fmul double %x, %x
  br i1 %c, label %next, label %next
next:
  %m = phi double [ %y, %entry ], [ %y, %entry ]
  %z = fmul double %m, %x
  ret double %z
}

define double @switch_same(double %x, i32 %k) {
entry:
  switch i32 %k, label %next [
    i32 0, label %next
  ]
next:
  %m = phi double [ %x, %entry ], [ %x, %entry ]
  %z = fmul double %m, %x
  ret double %z
}

define double @unreached(double %x) {
entry:
  %y = fmul double %x, %x
  br label %out
island:
  %z = fmul double %x, 2.0
  br label %out
out:
  %r = phi double [ %y, %entry ], [ %z, %island ]
  ret double %r
}

define double @frozen(double %x) {
  %f = freeze double %x
  %y = fmul double %f, %x
  ret double %y
}

define double @never_returns_in_loop(double %x, i32 %n) {
entry:
  %y = fmul double %x, %x
  %ok = icmp slt i32 %n, 5
  br i1 %ok, label %fine, label %ahead
ahead:
  br label %forever
forever:
  %i = phi i32 [ 0, %ahead ], [ %i1, %forever ]
  %i1 = add i32 %i, 1
  br label %forever
fine:
  %z = fmul double %y, %x
  ret double %z
}

define double @volatile(ptr %p) {
  %x = load volatile double, ptr %p
  %y = load volatile double, ptr %p
  %z = fmul double %x, %y
  store volatile double %z, ptr %p
  ret double %z
}
