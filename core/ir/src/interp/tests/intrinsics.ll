; Intrinsics, scalar and by lanes.

declare double @llvm.sqrt.f64(double)
declare <2 x float> @llvm.fabs.v2f32(<2 x float>)
declare double @llvm.fma.f64(double, double, double)
declare <2 x double> @llvm.fmuladd.v2f64(<2 x double>, <2 x double>, <2 x double>)
declare double @llvm.powi.f64.i32(double, i32)
declare float @llvm.ldexp.f32.i32(float, i32)
declare { double, i32 } @llvm.frexp.f64.i32(double)
declare { x86_fp80, x86_fp80 } @llvm.modf.f80(x86_fp80)
declare { double, double } @llvm.sincos.f64(double)
declare i64 @llvm.lround.i64.f64(double)
declare double @llvm.minimum.f64(double, double)
declare double @llvm.maxnum.f64(double, double)
declare half @llvm.floor.f16(half)
declare i1 @llvm.is.fpclass.f64(double, i32)
declare i32 @llvm.abs.i32(i32, i1)
declare <2 x i8> @llvm.ctpop.v2i8(<2 x i8>)
declare i32 @llvm.ctlz.i32(i32, i1)
declare i64 @llvm.bswap.i64(i64)
declare i8 @llvm.smax.i8(i8, i8)
declare i8 @llvm.uadd.sat.i8(i8, i8)
declare { i32, i1 } @llvm.smul.with.overflow.i32(i32, i32)
declare { <2 x i8>, <2 x i1> } @llvm.uadd.with.overflow.v2i8(<2 x i8>, <2 x i8>)
declare i32 @llvm.fshl.i32(i32, i32, i32)
declare i8 @llvm.fptosi.sat.i8.f64(double)
declare double @llvm.vector.reduce.fadd.v4f64(double, <4 x double>)
declare i32 @llvm.vector.reduce.umax.v4i32(<4 x i32>)
declare i1 @llvm.vector.reduce.and.v4i1(<4 x i1>)
declare <4 x i32> @llvm.masked.load.v4i32.p0(ptr, i32, <4 x i1>, <4 x i32>)
declare void @llvm.masked.store.v4i32.p0(<4 x i32>, ptr, i32, <4 x i1>)
declare <2 x i32> @llvm.masked.gather.v2i32.v2p0(<2 x ptr>, i32, <2 x i1>, <2 x i32>)
declare void @llvm.masked.scatter.v2i32.v2p0(<2 x i32>, <2 x ptr>, i32, <2 x i1>)
declare ptr @llvm.stacksave.p0()
declare void @llvm.stackrestore.p0(ptr)
declare i64 @llvm.objectsize.i64.p0(ptr, i1, i1, i1)
declare void @llvm.assume(i1)
declare void @llvm.lifetime.start.p0(ptr)
declare i32 @llvm.scmp.i32.i64(i64, i64)
declare <4 x i32> @llvm.vector.reverse.v4i32(<4 x i32>)
declare <2 x i32> @llvm.vector.extract.v2i32.v4i32(<4 x i32>, i64)
declare i64 @llvm.vscale.i64()
declare void @llvm.mystery()

define double @sqrt(double %x) {
  %r = call double @llvm.sqrt.f64(double %x)
  ret double %r
}
; @f(f64 2) = f64 1.4142135623730951
; @f(f64 -1) = f64 nan

define <2 x float> @fabs(<2 x float> %x) {
  %r = call <2 x float> @llvm.fabs.v2f32(<2 x float> %x)
  ret <2 x float> %r
}
; @f([f32 -1, f32 2]) = [f32 1, f32 2]

define double @fma(double %a, double %b, double %c) {
  %r = call double @llvm.fma.f64(double %a, double %b, double %c)
  ret double %r
}
; @f(f64 1.0000000000000002, f64 1.0000000000000002, f64 -1.0000000000000004) = f64 4.930380657631324e-32

define <2 x double> @fmuladd(<2 x double> %a) {
  %r = call <2 x double> @llvm.fmuladd.v2f64(<2 x double> %a, <2 x double> %a, <2 x double> <double -1.0000000000000004, double 1.0>)
  ret <2 x double> %r
}
; @f([f64 1.0000000000000002, f64 3]) = [f64 0, f64 10]

define double @powi(double %x, i32 %n) {
  %r = call double @llvm.powi.f64.i32(double %x, i32 %n)
  ret double %r
}
; @f(f64 3, i32 4) = f64 81
; @f(f64 2, i32 -2) = f64 0.25

define float @ldexp(float %x, i32 %n) {
  %r = call float @llvm.ldexp.f32.i32(float %x, i32 %n)
  ret float %r
}
; @f(f32 1.5, i32 -3) = f32 0.1875

define { double, i32 } @frexp(double %x) {
  %r = call { double, i32 } @llvm.frexp.f64.i32(double %x)
  ret { double, i32 } %r
}
; @f(f64 -6) = [f64 -0.75, i32 3]

define { x86_fp80, x86_fp80 } @modf(x86_fp80 %x) {
  %r = call { x86_fp80, x86_fp80 } @llvm.modf.f80(x86_fp80 %x)
  ret { x86_fp80, x86_fp80 } %r
}
; @f(f80 -2.75) = [f80 -0.75, f80 -2]

define { double, double } @sincos(double %x) {
  %r = call { double, double } @llvm.sincos.f64(double %x)
  ret { double, double } %r
}
; @f(f64 0) = [f64 0, f64 1]

define i64 @lround(double %x) {
  %r = call i64 @llvm.lround.i64.f64(double %x)
  ret i64 %r
}
; @f(f64 -2.5) = i64 -3

define double @extremes(double %x, double %y) {
  %a = call double @llvm.minimum.f64(double %x, double %y)
  %b = call double @llvm.maxnum.f64(double %a, double 1.0)
  ret double %b
}
; @f(f64 3, f64 2) = f64 2
; @f(f64 nan, f64 2) = f64 1

define half @floor(half %x) {
  %r = call half @llvm.floor.f16(half %x)
  ret half %r
}
; @f(f16 -2.5) = f16 -3

define i1 @infinite(double %x) {
  %r = call i1 @llvm.is.fpclass.f64(double %x, i32 516)
  ret i1 %r
}
; @f(f64 -inf) = i1 1
; @f(f64 1) = i1 0

define i32 @bits(i32 %x) {
  %a = call i32 @llvm.abs.i32(i32 %x, i1 false)
  %b = call i32 @llvm.ctlz.i32(i32 %a, i1 false)
  %c = call i32 @llvm.fshl.i32(i32 %x, i32 %a, i32 %b)
  ret i32 %c
}
; @f(i32 -8) = i32 -2147483648

define i64 @swap(i64 %x) {
  %r = call i64 @llvm.bswap.i64(i64 %x)
  ret i64 %r
}
; @f(i64 1) = i64 0x100000000000000

define <2 x i8> @population(<2 x i8> %x) {
  %r = call <2 x i8> @llvm.ctpop.v2i8(<2 x i8> %x)
  ret <2 x i8> %r
}
; @f([i8 -1, i8 6]) = [i8 8, i8 2]

define i8 @saturate(i8 %x, i8 %y) {
  %a = call i8 @llvm.uadd.sat.i8(i8 %x, i8 %y)
  %b = call i8 @llvm.smax.i8(i8 %a, i8 -3)
  ret i8 %b
}
; @f(i8 200, i8 100) = i8 -1
; @f(i8 -128, i8 0) = i8 -3

define { i32, i1 } @overflow(i32 %x) {
  %r = call { i32, i1 } @llvm.smul.with.overflow.i32(i32 %x, i32 65536)
  ret { i32, i1 } %r
}
; @f(i32 3) = [i32 196608, i1 0]
; @f(i32 32768) = [i32 -2147483648, i1 1]

define { <2 x i8>, <2 x i1> } @overflow_lanes(<2 x i8> %x) {
  %r = call { <2 x i8>, <2 x i1> } @llvm.uadd.with.overflow.v2i8(<2 x i8> %x, <2 x i8> splat (i8 1))
  ret { <2 x i8>, <2 x i1> } %r
}
; @f([i8 1, i8 -1]) = [[i8 2, i8 0], [i1 0, i1 1]]

define i8 @to_small(double %x) {
  %r = call i8 @llvm.fptosi.sat.i8.f64(double %x)
  ret i8 %r
}
; @f(f64 300) = i8 127
; @f(f64 -1e30) = i8 -128
; @f(f64 nan) = i8 0

define double @sum(double %s, <4 x double> %v) {
  %r = call double @llvm.vector.reduce.fadd.v4f64(double %s, <4 x double> %v)
  ret double %r
}
; @f(f64 1, [f64 1e16, f64 1, f64 -1e16, f64 0.5]) = f64 0.5

define i32 @greatest(<4 x i32> %v) {
  %r = call i32 @llvm.vector.reduce.umax.v4i32(<4 x i32> %v)
  ret i32 %r
}
; @f([i32 1, i32 -1, i32 7, i32 0]) = i32 -1

define i1 @every(<4 x i1> %v) {
  %r = call i1 @llvm.vector.reduce.and.v4i1(<4 x i1> %v)
  ret i1 %r
}
; @f([i1 1, i1 1, i1 1, i1 1]) = i1 1
; @f([i1 1, i1 1, i1 0, i1 1]) = i1 0

define <4 x i32> @masked(<4 x i32> %v) {
  %a = alloca [2 x i32]
  call void @llvm.masked.store.v4i32.p0(<4 x i32> %v, ptr %a, i32 4, <4 x i1> <i1 1, i1 1, i1 0, i1 0>)
  %r = call <4 x i32> @llvm.masked.load.v4i32.p0(ptr %a, i32 4, <4 x i1> <i1 0, i1 1, i1 0, i1 0>, <4 x i32> splat (i32 9))
  ret <4 x i32> %r
}
; @f([i32 1, i32 2, i32 3, i32 4]) = [i32 9, i32 2, i32 9, i32 9]

define <2 x i32> @gathered(<2 x i32> %v) {
  %a = alloca [4 x i32]
  %p = getelementptr i32, ptr %a, <2 x i64> <i64 3, i64 1>
  call void @llvm.masked.scatter.v2i32.v2p0(<2 x i32> %v, <2 x ptr> %p, i32 4, <2 x i1> splat (i1 true))
  %q = getelementptr i32, ptr %a, <2 x i64> <i64 1, i64 3>
  %r = call <2 x i32> @llvm.masked.gather.v2i32.v2p0(<2 x ptr> %q, i32 4, <2 x i1> splat (i1 true), <2 x i32> poison)
  ret <2 x i32> %r
}
; @f([i32 5, i32 6]) = [i32 6, i32 5]

define i32 @stack() {
  %s = call ptr @llvm.stacksave.p0()
  %a = alloca i32
  store i32 1, ptr %a
  call void @llvm.stackrestore.p0(ptr %s)
  %r = load i32, ptr %a
  ret i32 %r
}
; @f() traps no longer alive

define i64 @silent() {
  %a = alloca i64
  call void @llvm.lifetime.start.p0(ptr %a)
  call void @llvm.assume(i1 true) [ "align"(ptr %a, i64 8) ]
  %n = call i64 @llvm.objectsize.i64.p0(ptr %a, i1 false, i1 true, i1 false)
  ret i64 %n
}
; @f() = i64 -1

define i32 @three_way(i64 %a, i64 %b) {
  %r = call i32 @llvm.scmp.i32.i64(i64 %a, i64 %b)
  ret i32 %r
}
; @f(i64 -1, i64 1) = i32 -1
; @f(i64 1, i64 1) = i32 0

define <2 x i32> @parts(<4 x i32> %v) {
  %a = call <4 x i32> @llvm.vector.reverse.v4i32(<4 x i32> %v)
  %b = call <2 x i32> @llvm.vector.extract.v2i32.v4i32(<4 x i32> %a, i64 2)
  ret <2 x i32> %b
}
; @f([i32 1, i32 2, i32 3, i32 4]) = [i32 2, i32 1]

define i64 @vscale() {
  %r = call i64 @llvm.vscale.i64()
  ret i64 %r
}
; @f() = i64 1

define void @unknown() {
  call void @llvm.mystery()
  ret void
}
; @f() traps llvm.mystery
