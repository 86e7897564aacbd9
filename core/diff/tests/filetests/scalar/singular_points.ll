; Functions at points where their derivatives have no finite value, on paths that are not taken, and at points where
; careless formulas give NaN.
; grad: @sqrt_not_taken(0.0, 2.0) == (0.0, 3.0)
; grad: @sqrt_not_taken(4.0, 2.0)
; grad: @pow_at_zero(0.0) == (0.0)
; grad: @log_not_taken(0.0) == (2.0)
; grad: @log_not_taken(3.0)

declare double @llvm.sqrt.f64(double)
declare double @llvm.pow.f64(double, double)
declare double @llvm.log.f64(double)

define double @sqrt_not_taken(double %x, double %y) {
entry:
  %positive = fcmp ogt double %x, 0.0
  br i1 %positive, label %root, label %other
root:
  %r = call double @llvm.sqrt.f64(double %x)
  br label %join
other:
  %o = fmul double %y, 3.0
  br label %join
join:
  %out = phi double [ %r, %root ], [ %o, %other ]
  ret double %out
}

define double @pow_at_zero(double %x) {
  %y = call double @llvm.pow.f64(double %x, double 2.0)
  ret double %y
}

define double @log_not_taken(double %x) {
entry:
  %zero = fcmp oeq double %x, 0.0
  br i1 %zero, label %plain, label %logarithm
plain:
  %p = fmul double %x, 2.0
  br label %join
logarithm:
  %l = call double @llvm.log.f64(double %x)
  br label %join
join:
  %out = phi double [ %p, %plain ], [ %l, %logarithm ]
  ret double %out
}
