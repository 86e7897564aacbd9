; error[E0205]: the tangents of doubles that are rounded by way of their bits, in a function where nothing says that they are doubles
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

declare double @__enzyme_fwddiff(ptr, ptr, ptr)

define internal void @round_both(ptr %x, ptr %rounded) noinline {
  %first = load i64, ptr %x, align 1
  %up = add i64 %first, 33554432
  %cut = and i64 %up, -67108864
  store i64 %cut, ptr %rounded, align 1
  %x.second = getelementptr inbounds i8, ptr %x, i64 8
  %second = load i64, ptr %x.second, align 1
  %second.up = add i64 %second, 33554432
  %second.cut = and i64 %second.up, -67108864
  %rounded.second = getelementptr inbounds i8, ptr %rounded, i64 8
  store i64 %second.cut, ptr %rounded.second, align 1
  ret void
}

define internal double @energy(ptr %x) {
  %rounded = alloca [16 x i8], align 16
  call void @round_both(ptr %x, ptr %rounded)
  %second = getelementptr inbounds i8, ptr %rounded, i64 8
  %a = load double, ptr %rounded, align 8
  %b = load double, ptr %second, align 8
  %product = fmul double %a, %b
  ret double %product
}

define double @slope(ptr %x, ptr %direction) {
  %t = call double @__enzyme_fwddiff(ptr @energy, ptr %x, ptr %direction)
  ret double %t
}
