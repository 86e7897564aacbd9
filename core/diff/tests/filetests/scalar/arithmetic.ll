; Every float instruction, with operands active in turns.
; grad: @all(1.5, -0.75)
; grad: @all(const: 1.5, -0.75)
; grad: @all(1.5, const: -0.75)
; grad: @remainder(7.5, 2.0)
; grad: @constant(1.5)
; grad: @unused(1.5, 2.5)
; grad: @same(1.25)

define double @all(double %x, double %y) {
  %a = fadd double %x, %y
  %b = fsub double %a, %x
  %c = fmul double %b, %a
  %d = fdiv double %c, %x
  %e = fneg double %d
  %f = fmul double %e, %e
  %g = fsub double %f, %y
  %h = fdiv double %g, %g
  %i = fadd double %h, %f
  ret double %i
}

define double @remainder(double %x, double %y) {
  %r = frem double %x, %y
  %s = fmul double %r, %r
  ret double %s
}

define double @constant(double %x) {
  ret double 3.0
}

define double @unused(double %x, double %y) {
  %a = fmul double %x, %y
  %b = fadd double %x, 1.0
  ret double %b
}

define double @same(double %x) {
  %a = fadd double %x, %x
  %b = fsub double %a, %a
  %c = fdiv double %x, %x
  %d = fadd double %b, %c
  %e = fmul double %d, %x
  ret double %e
}
