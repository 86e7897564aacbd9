; Bits of a constant are stored over an active float.
; grad: @ones([1.5, 2.5])
; grad: @zero([1.5, 2.5])

define double @ones(ptr %p) {
  %x = load double, ptr %p
  store i64 4607182418800017408, ptr %p
  %y = load double, ptr %p
  %q = getelementptr double, ptr %p, i64 1
  %w = load double, ptr %q
  %s = fadd double %w, %y
  %z = fmul double %x, %s
  ret double %z
}

define double @zero(ptr %p) {
  %x = load double, ptr %p
  store i64 0, ptr %p
  %q = getelementptr double, ptr %p, i64 1
  %w = load double, ptr %q
  %z = fmul double %x, %w
  ret double %z
}
