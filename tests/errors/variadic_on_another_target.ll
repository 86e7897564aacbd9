; error[E0203]: "takes a variable number of arguments"
target triple = "aarch64-unknown-linux-gnu"

define internal double @first(i32 %n, ...) noinline {
  %list = alloca [4 x i64]
  call void @llvm.va_start(ptr %list)
  %x = va_arg ptr %list, double
  call void @llvm.va_end(ptr %list)
  ret double %x
}

define double @f(double %x) {
  %y = call double (i32, ...) @first(i32 1, double %x)
  %z = fmul double %y, %y
  ret double %z
}

define double @gradient(double %x) {
  %g = call double (ptr, ...) @__enzyme_autodiff(ptr @f, double %x)
  ret double %g
}

declare double @__enzyme_autodiff(ptr, ...)
declare void @llvm.va_start(ptr)
declare void @llvm.va_end(ptr)
