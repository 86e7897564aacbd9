; error[E0110]: a module that does not verify: a value is used where its definition does not dominate
; flags: -disable-verify

declare double @__enzyme_autodiff(ptr, ...)

define double @broken(double %x, i1 %choice) {
entry:
  br i1 %choice, label %left, label %right

left:
  %square = fmul double %x, %x
  br label %join

right:
  br label %join

join:
  %sum = fadd double %square, %x
  ret double %sum
}

define double @gradient(double %x, i1 %choice) {
  %result = call double (ptr, ...) @__enzyme_autodiff(ptr @broken, double %x, i1 %choice)
  ret double %result
}
