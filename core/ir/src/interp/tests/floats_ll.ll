; Floating-point arithmetic in every format.

define double @double(double %a, double %b) {
  %s = fadd double %a, %b
  %d = fsub double %s, 0.5
  %m = fmul double %d, %b
  %q = fdiv double %m, %a
  %n = fneg double %q
  ret double %n
}
; @f(f64 2, f64 3) = f64 -6.75
; @f(f64 0, f64 3) = f64 -inf

define float @float(float %a, float %b) {
  %m = fmul float %a, %b
  %r = frem float %m, 3.0
  ret float %r
}
; @f(f32 5, f32 4) = f32 2
; @f(f32 0.1, f32 0.1) = f32 0.010000001

define half @half(half %a, half %b) {
  %s = fadd half %a, %b
  %n = fneg half %s
  ret half %n
}
; @f(f16 2048, f16 1) = f16 -2048
; @f(f16 2048, f16 3) = f16 -2052

define bfloat @bfloat(bfloat %a, bfloat %b) {
  %m = fdiv bfloat %a, %b
  ret bfloat %m
}
; @f(bf16 1, bf16 3) = bf16 0.333984375

define x86_fp80 @f80(x86_fp80 %a, x86_fp80 %b) {
  %q = fdiv x86_fp80 %a, %b
  %m = fmul x86_fp80 %q, %b
  %d = fsub x86_fp80 %m, %a
  %s = fadd x86_fp80 %d, %b
  ret x86_fp80 %s
}
; @f(f80 1, f80 3) = f80 3

define double @f80_third(double %a) {
  %x = fpext double %a to x86_fp80
  %q = fdiv x86_fp80 %x, 0xK4000C000000000000000
  %y = fptrunc x86_fp80 %q to double
  %z = fpext double %y to x86_fp80
  %d = fsub x86_fp80 %q, %z
  %r = fptrunc x86_fp80 %d to double
  ret double %r
}
; @f(f64 1) = f64 1.8512752095189988e-17

define fp128 @f128(fp128 %a, fp128 %b) {
  %q = frem fp128 %a, %b
  ret fp128 %q
}
; @f(f128 7.5, f128 2) = f128 1.5

define i1 @ordered(double %a, double %b) {
  %r = fcmp one double %a, %b
  ret i1 %r
}
; @f(f64 1, f64 2) = i1 1
; @f(f64 1, f64 nan) = i1 0
; @f(f64 1, f64 1) = i1 0

define i1 @unordered(double %a, double %b) {
  %r = fcmp une double %a, %b
  ret i1 %r
}
; @f(f64 1, f64 nan) = i1 1
; @f(f64 -0, f64 0) = i1 0

define <4 x i1> @wide_compare(x86_fp80 %a, x86_fp80 %b) {
  %w = fcmp ult x86_fp80 %a, %b
  %x = fcmp oge x86_fp80 %a, %b
  %y = fcmp uno x86_fp80 %a, %b
  %z = fcmp ueq x86_fp80 %a, %b
  %v0 = insertelement <4 x i1> poison, i1 %w, i32 0
  %v1 = insertelement <4 x i1> %v0, i1 %x, i32 1
  %v2 = insertelement <4 x i1> %v1, i1 %y, i32 2
  %v3 = insertelement <4 x i1> %v2, i1 %z, i32 3
  ret <4 x i1> %v3
}
; @f(f80 1, f80 2) = [i1 1, i1 0, i1 0, i1 0]
; @f(f80 2, f80 2) = [i1 0, i1 1, i1 0, i1 1]
; @f(f80 nan, f80 2) = [i1 1, i1 0, i1 1, i1 1]

define <2 x float> @vector(<2 x float> %a, <2 x float> %b) {
  %m = fmul <2 x float> %a, %b
  %r = fadd <2 x float> %m, splat (float 1.0)
  ret <2 x float> %r
}
; @f([f32 2, f32 3], [f32 4, f32 -1]) = [f32 9, f32 -2]
