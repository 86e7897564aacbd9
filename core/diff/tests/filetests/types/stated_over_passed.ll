; A function copies what its caller keeps a float in, and metadata says of a look at it that it is an integer: the copy moves the float.
; grad: @f([1.5, 2.0])
; bytes: @pass %look int
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define void @pass(ptr %dst, ptr %src) {
  %look = load i32, ptr %src
  call void @llvm.memcpy.p0.p0.i64(ptr %dst, ptr %src, i64 16, i1 false)
  ret void
}

define double @f(ptr %x) {
  %a = alloca [2 x double]
  %b = alloca [2 x double]
  %first = load double, ptr %x
  %at = getelementptr double, ptr %x, i64 1
  %second = load double, ptr %at
  %square = fmul double %first, %first
  store double %square, ptr %a
  %behind = getelementptr double, ptr %a, i64 1
  store double %second, ptr %behind
  call void @pass(ptr %b, ptr %a)
  %back = load double, ptr %b
  %other = getelementptr double, ptr %b, i64 1
  %rest = load double, ptr %other
  %r = fmul double %back, %rest
  ret double %r
}
