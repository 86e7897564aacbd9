; Denormals and large numbers: no step of differences is small enough, so the gradients are stated.
; grad: @square(1e-310) == (2e-310)
; grad: @square(4e-324) == (8e-324)
; grad: @scale(1e300, 1e-300) == (1e-300, 1e300)
; grad: @quotient(1e-308) == (-1.0e308) tol 1e-8

define double @square(double %x) {
  %y = fmul double %x, %x
  ret double %y
}

define double @scale(double %x, double %y) {
  %z = fmul double %x, %y
  ret double %z
}

define double @quotient(double %x) {
  %a = fdiv double 1.0e-308, %x
  ret double %a
}
