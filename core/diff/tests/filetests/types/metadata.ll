; Integers copied between structures: metadata says which are floats.
; grad: @with_integers([1.5, i64 3], [2.5, i64 4])
; bytes: @with_integers %a double
; bytes: @with_integers %b double
; needs-facts: nothing else tells the copied bytes from the integer beside them

define double @with_integers(ptr %p, ptr %q) {
  %pn = getelementptr i64, ptr %p, i64 1
  %n = load i64, ptr %pn
  %n1 = add i64 %n, 1
  store i64 %n1, ptr %pn
  %a = load i64, ptr %p
  %b = load i64, ptr %q
  store i64 %b, ptr %p
  store i64 %a, ptr %q
  %x = load double, ptr %p
  %f = sitofp i64 %n1 to double
  %y = fmul double %x, %f
  ret double %y
}
