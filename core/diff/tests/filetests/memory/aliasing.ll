; The same memory through two arguments.
; grad: @two([2.0, 3.0], [5.0, 7.0])
; grad: @two([2.0, 3.0], same: 0)
; grad: @two([2.0, 3.0, 4.0], same: 0+8)

define double @two(ptr %p, ptr %q) {
  %p1 = getelementptr double, ptr %p, i64 1
  %a = load double, ptr %p
  %b = load double, ptr %q
  %c = fmul double %a, %b
  store double %c, ptr %q
  %d = load double, ptr %p
  %e = fmul double %d, %a
  store double %e, ptr %p
  %f = load double, ptr %q
  %g = load double, ptr %p1
  %h = fmul double %f, %g
  ret double %h
}
