; An arm that is not selected does not spoil the adjoint of the other.
; grad: @select_poison(0.0) == (1.0)
; grad: @select_poison(2.0)

; The arm that is not selected is infinite, and so is its derivative: it must not spoil the other.
define double @select_poison(double %x) {
  %bad = fdiv double 1.0, %x
  %is = fcmp oeq double %x, 0.0
  %one = fadd double %x, 1.0
  %y = select i1 %is, double %one, double %bad
  ret double %y
}
