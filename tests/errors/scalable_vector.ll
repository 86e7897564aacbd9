; error[E0203]: "vector of unknown length"

declare double @__enzyme_autodiff(ptr, ...)

define double @spread(double %x, i64 %n) {
  %a = insertelement <vscale x 2 x double> poison, double %x, i64 0
  %b = shufflevector <vscale x 2 x double> %a, <vscale x 2 x double> poison, <vscale x 2 x i32> zeroinitializer
  %c = fmul <vscale x 2 x double> %b, %b
  %d = extractelement <vscale x 2 x double> %c, i64 %n
  ret double %d
}

define double @gradient(double %x, i64 %n) {
  %r = call double (ptr, ...) @__enzyme_autodiff(ptr @spread, double %x, i64 %n)
  ret double %r
}
