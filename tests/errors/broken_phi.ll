; error[E0110]: a module that does not verify: the function that holds the marker has a phi without an entry for one predecessor
; flags: -disable-verify

declare double @__enzyme_autodiff(ptr, ...)

define double @square(double %x) {
  %result = fmul double %x, %x
  ret double %result
}

define double @gradient(double %x, i1 %choice) {
entry:
  br i1 %choice, label %ask, label %join

ask:
  %asked = call double (ptr, ...) @__enzyme_autodiff(ptr @square, double %x)
  br label %join

join:
  %result = phi double [ %asked, %ask ]
  ret double %result
}
