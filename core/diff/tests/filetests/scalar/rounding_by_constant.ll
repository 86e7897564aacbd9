; Adding a large constant and taking it off again is rounding, whichever way it is written; a smaller one keeps digits.
; grad: @nearest(2.3)
; grad: @nearest_by_sums(-1.7)
; grad: @ones_place(7.8)
; grad: @in_single(2.3) tol 1e-4 because the sums are in single precision
; grad: @in_vectors(2.3, -1.6)
; grad: @halves(1.25) == (2.0)
; grad: @another_constant(1.5) == (1.0)

define double @nearest(double %x) {
  %a = fadd double %x, 0x4338000000000000
  %r = fsub double %a, 0x4338000000000000
  %d = fsub double %x, %r
  %y = fmul double %d, %d
  ret double %y
}

define double @nearest_by_sums(double %x) {
  %a = fadd double 0x4338000000000000, %x
  %r = fadd double %a, 0xC338000000000000
  %y = fmul double %r, %x
  ret double %y
}

define double @ones_place(double %x) {
  %a = fsub double %x, 0x4330000000000000
  %r = fadd double %a, 0x4330000000000000
  %y = fmul double %r, %x
  ret double %y
}

define double @in_single(double %x) {
  %s = fptrunc double %x to float
  %a = fadd float %s, 0x4168000000000000
  %r = fsub float %a, 0x4168000000000000
  %f = fpext float %r to double
  %y = fmul double %f, %x
  ret double %y
}

define double @in_vectors(double %x, double %z) {
  %v0 = insertelement <2 x double> poison, double %x, i32 0
  %v = insertelement <2 x double> %v0, double %z, i32 1
  %a = fadd <2 x double> %v, <double 0x4338000000000000, double 0x4338000000000000>
  %r = fsub <2 x double> %a, <double 0x4338000000000000, double 0x4338000000000000>
  %p = fmul <2 x double> %r, %v
  %p0 = extractelement <2 x double> %p, i32 0
  %p1 = extractelement <2 x double> %p, i32 1
  %y = fadd double %p0, %p1
  ret double %y
}

; The leading half of the digits, and the rest: their sum is x.
define double @halves(double %x) {
  %a = fadd double %x, 0x41A8000000000000
  %h = fsub double %a, 0x41A8000000000000
  %l = fsub double %x, %h
  %s = fadd double %h, %h
  %t = fadd double %l, %l
  %y = fadd double %s, %t
  ret double %y
}

define double @another_constant(double %x) {
  %a = fadd double %x, 0x4338000000000000
  %r = fsub double %a, 0x4348000000000000
  ret double %r
}
