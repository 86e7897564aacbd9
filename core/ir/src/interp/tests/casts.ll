; Conversions.

define i8 @trunc(i32 %a) {
  %r = trunc i32 %a to i8
  ret i8 %r
}
; @f(i32 0x1ff) = i8 255

define i64 @sext(i8 %a) {
  %r = sext i8 %a to i64
  ret i64 %r
}
; @f(i8 -2) = i64 -2

define i16 @sext1(i1 %a) {
  %r = sext i1 %a to i16
  ret i16 %r
}
; @f(i1 1) = i16 -1

define i128 @zext(i8 %a) {
  %r = zext i8 %a to i128
  ret i128 %r
}
; @f(i8 -1) = i128 255

define i128 @sext_wide(i64 %a) {
  %r = sext i64 %a to i128
  ret i128 %r
}
; @f(i64 -5) = i128 -5

define double @sitofp(i32 %a) {
  %r = sitofp i32 %a to double
  ret double %r
}
; @f(i32 -3) = f64 -3

define float @uitofp(i64 %a) {
  %r = uitofp i64 %a to float
  ret float %r
}
; @f(i64 -1) = f32 18446744073709551616
; @f(i64 16777217) = f32 16777216

define i32 @fptosi(double %a) {
  %r = fptosi double %a to i32
  ret i32 %r
}
; @f(f64 -2.9) = i32 -2

define i64 @fptoui(float %a) {
  %r = fptoui float %a to i64
  ret i64 %r
}
; @f(f32 18446742974197923840) = i64 18446742974197923840

define half @narrow(double %a) {
  %r = fptrunc double %a to half
  ret half %r
}
; @f(f64 0.1) = f16 0.0999755859375
; @f(f64 1e6) = f16 inf

define fp128 @widen(bfloat %a) {
  %r = fpext bfloat %a to fp128
  ret fp128 %r
}
; @f(bf16 -1.5) = f128 -1.5

define i64 @f80_to_int(x86_fp80 %a) {
  %r = fptosi x86_fp80 %a to i64
  ret i64 %r
}
; @f(f80 -9007199254740993) = i64 -9007199254740992

define i64 @bits(double %a) {
  %r = bitcast double %a to i64
  ret i64 %r
}
; @f(f64 1.0) = i64 0x3ff0000000000000

define <2 x i32> @halves(i64 %a) {
  %r = bitcast i64 %a to <2 x i32>
  ret <2 x i32> %r
}
; @f(i64 0x500000007) = [i32 7, i32 5]

define <2 x double> @lanes(<2 x i32> %a) {
  %r = sitofp <2 x i32> %a to <2 x double>
  ret <2 x double> %r
}
; @f([i32 -1, i32 7]) = [f64 -1, f64 7]

define i64 @through_pointer(i64 %a) {
  %p = inttoptr i64 %a to ptr
  %q = getelementptr i8, ptr %p, i64 4
  %r = ptrtoint ptr %q to i64
  ret i64 %r
}
; @f(i64 100) = i64 104

define i80 @x87_bits(x86_fp80 %a) {
  %r = bitcast x86_fp80 %a to i80
  ret i80 %r
}
; @f(f80 1.0) = i80 0x3fff8000000000000000
