; A sample of mathematical functions; the rules have tests of their own.
; grad: @many(0.7, 1.3)
; grad: @fused(0.7, 1.3, -0.4)
; grad: @choice(0.7, 1.3)
; grad: @choice(1.3, 0.7)
; grad: @integer_power(1.3)

declare double @llvm.sin.f64(double)
declare double @llvm.exp.f64(double)
declare double @llvm.fma.f64(double, double, double)
declare double @llvm.fmuladd.f64(double, double, double)
declare double @llvm.maxnum.f64(double, double)
declare double @llvm.minnum.f64(double, double)
declare double @llvm.fabs.f64(double)
declare double @llvm.copysign.f64(double, double)
declare double @llvm.floor.f64(double)
declare double @llvm.powi.f64.i32(double, i32)
declare double @tanh(double)
declare double @atan2(double, double)
declare double @cbrt(double)
declare double @hypot(double, double)

define double @many(double %x, double %y) {
  %a = call double @llvm.sin.f64(double %x)
  %b = call double @llvm.exp.f64(double %a)
  %c = call double @tanh(double %b)
  %d = call double @atan2(double %c, double %y)
  %e = call double @cbrt(double %d)
  %f = call double @hypot(double %e, double %x)
  %g = call double @llvm.floor.f64(double %y)
  %h = fadd double %f, %g
  ret double %h
}

define double @fused(double %x, double %y, double %z) {
  %a = call double @llvm.fma.f64(double %x, double %y, double %z)
  %b = call double @llvm.fmuladd.f64(double %a, double %x, double %a)
  ret double %b
}

define double @choice(double %x, double %y) {
  %a = call double @llvm.maxnum.f64(double %x, double %y)
  %b = call double @llvm.minnum.f64(double %x, double %y)
  %c = fdiv double %a, %b
  %d = fneg double %c
  %e = call double @llvm.fabs.f64(double %d)
  %f = call double @llvm.copysign.f64(double %e, double %d)
  ret double %f
}

define double @integer_power(double %x) {
  %a = call double @llvm.powi.f64.i32(double %x, i32 3)
  %b = call double @llvm.powi.f64.i32(double %a, i32 0)
  %c = call double @llvm.powi.f64.i32(double %x, i32 -2)
  %d = fadd double %a, %b
  %e = fadd double %d, %c
  ret double %e
}
