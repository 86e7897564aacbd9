; A double copied in halves: tangents can be moved so, adjoints cannot be added.
; error[UnknownType]: @in_halves([1.5], [2.5])
; grad: @in_halves([1.5], [2.5]) forward

define double @in_halves(ptr %d, ptr %s) {
  %a = load i32, ptr %s
  %s1 = getelementptr i32, ptr %s, i64 1
  %b = load i32, ptr %s1
  store i32 %a, ptr %d
  %d1 = getelementptr i32, ptr %d, i64 1
  store i32 %b, ptr %d1
  %x = load double, ptr %d
  %y = load double, ptr %s
  %z = fmul double %x, %y
  ret double %z
}
