; A request for an integer that carries a float.
; alone: nothing in a caller would say that its integer is a float
; grad: @argument(bits 1.5)

define double @argument(i64 %b) {
  %x = bitcast i64 %b to double
  %y = fmul double %x, %x
  ret double %y
}
