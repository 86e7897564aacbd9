; A float in an integer register passes through a function that knows nothing of it.
; grad: @three_levels(1.5)
; grad: @loaded_argument([1.5, 2.5])

define internal double @as_float(i64 %b) {
  %x = bitcast i64 %b to double
  %y = fmul double %x, %x
  ret double %y
}

; In this function nothing says that its argument is a float.
define internal double @hand_on(i64 %b) {
  %y = call double @as_float(i64 %b)
  ret double %y
}

define double @three_levels(double %x) {
  %b = bitcast double %x to i64
  %y = call double @hand_on(i64 %b)
  ret double %y
}

define double @loaded_argument(ptr %p) {
  %b = load i64, ptr %p
  %y = call double @hand_on(i64 %b)
  %q = getelementptr double, ptr %p, i64 1
  %z = load double, ptr %q
  %r = fmul double %y, %z
  ret double %r
}
