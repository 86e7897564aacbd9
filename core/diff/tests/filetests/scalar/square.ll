; A value used twice in one instruction.
; grad: @square(1.5)
; grad: @square(0.0)
; grad: @square(const: 1.5)
; plan: @square needed has %x

define double @square(double %x) {
  %y = fmul double %x, %x
  ret double %y
}
