; Integers made of floats have no derivative; floats made of integers have none either.
; grad: @through_integer(2.25)
; grad: @index(2.25, [1.0, 2.0, 4.0])

define double @through_integer(double %x) {
  %n = fptosi double %x to i32
  %m = mul i32 %n, 3
  %f = sitofp i32 %m to double
  %y = fmul double %f, %x
  ret double %y
}

define double @index(double %x, ptr %p) {
  %n = fptoui double %x to i64
  %q = getelementptr double, ptr %p, i64 %n
  %v = load double, ptr %q
  %y = fmul double %v, %x
  ret double %y
}
