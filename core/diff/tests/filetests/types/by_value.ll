; A structure passed by value, which the callee overwrites.
; grad: @by_value([1.5, 2.5])

define internal double @takes(ptr byval({ double, double }) %p) {
  %q = getelementptr double, ptr %p, i64 1
  %x = load double, ptr %p
  %y = load double, ptr %q
  %z = fmul double %x, %y
  store double %z, ptr %p
  %w = load double, ptr %p
  %r = fmul double %w, %w
  ret double %r
}

define double @by_value(ptr %p) {
  %a = call double @takes(ptr byval({ double, double }) %p)
  %x = load double, ptr %p
  %b = fmul double %a, %x
  ret double %b
}
