; memcpy, memmove and memset of uniform memory, also with length zero, overlap and source equal to destination.
; grad: @copy([1.0, 2.0, 3.0], [4.0, 5.0, 6.0], i64 24)
; grad: @copy([1.0, 2.0, 3.0], [4.0, 5.0, 6.0], i64 8)
; grad: @copy([1.0, 2.0, 3.0], [4.0, 5.0, 6.0], i64 0)
; grad: @copy([1.0, 2.0, 3.0], same: 0, i64 24)
; grad: @move([1.0, 2.0, 3.0, 4.0], i64 24)
; grad: @move_back([1.0, 2.0, 3.0, 4.0], i64 24)
; grad: @clear([1.0, 2.0, 3.0, 4.0], i64 16)
; grad: @through_local([1.0, 2.0])
; grad: @singles([f32 1.0, f32 2.0], [f32 4.0, f32 5.0]) tol 1e-3 because floats have 24 bits, half of which a step leaves

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define double @copy(ptr %d, ptr %s, i64 %n) {
  %a = load double, ptr %d
  call void @llvm.memcpy.p0.p0.i64(ptr %d, ptr %s, i64 %n, i1 false)
  %b = load double, ptr %d
  %c = fmul double %a, %b
  store double %c, ptr %s
  %e = load double, ptr %d
  %f = fmul double %e, %c
  ret double %f
}

define double @move(ptr %p, i64 %n) {
  %q = getelementptr double, ptr %p, i64 1
  call void @llvm.memmove.p0.p0.i64(ptr %q, ptr %p, i64 %n, i1 false)
  %r = getelementptr double, ptr %p, i64 2
  %a = load double, ptr %q
  %b = load double, ptr %r
  %c = fmul double %a, %b
  ret double %c
}

define double @move_back(ptr %p, i64 %n) {
  %q = getelementptr double, ptr %p, i64 1
  call void @llvm.memmove.p0.p0.i64(ptr %p, ptr %q, i64 %n, i1 false)
  %a = load double, ptr %p
  %b = load double, ptr %q
  %c = fmul double %a, %b
  store double %c, ptr %p
  ret double %b
}

define double @clear(ptr %p, i64 %n) {
  %a = load double, ptr %p
  call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 %n, i1 false)
  %b = load double, ptr %p
  %q = getelementptr double, ptr %p, i64 3
  %c = load double, ptr %q
  %d = fmul double %a, %c
  %e = fadd double %b, %d
  ret double %e
}

define double @through_local(ptr %p) {
  %l = alloca [2 x double]
  call void @llvm.memcpy.p0.p0.i64(ptr %l, ptr %p, i64 16, i1 false)
  %q = getelementptr double, ptr %l, i64 1
  %a = load double, ptr %l
  %b = load double, ptr %q
  %c = fmul double %a, %b
  store double %c, ptr %q
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %l, i64 16, i1 false)
  ret double %c
}

define float @singles(ptr %d, ptr %s) {
  call void @llvm.memcpy.p0.p0.i64(ptr %d, ptr %s, i64 8, i1 false)
  %q = getelementptr float, ptr %d, i64 1
  %a = load float, ptr %d
  %b = load float, ptr %q
  %c = fmul float %a, %b
  ret float %c
}
