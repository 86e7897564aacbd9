; Lanes: taking out, putting in, permuting, choosing.

define i32 @extract(<4 x i32> %v, i32 %i) {
  %r = extractelement <4 x i32> %v, i32 %i
  ret i32 %r
}
; @f([i32 1, i32 2, i32 3, i32 4], i32 2) = i32 3

define double @extract_constant(<2 x double> %v) {
  %r = extractelement <2 x double> %v, i64 1
  ret double %r
}
; @f([f64 1, f64 2]) = f64 2

define <3 x i128> @insert(<3 x i128> %v, i128 %x, i8 %i) {
  %r = insertelement <3 x i128> %v, i128 %x, i8 %i
  ret <3 x i128> %r
}
; @f([i128 1, i128 2, i128 3], i128 -1, i8 1) = [i128 1, i128 -1, i128 3]

define <4 x i16> @shuffle(<2 x i16> %a, <2 x i16> %b) {
  %r = shufflevector <2 x i16> %a, <2 x i16> %b, <4 x i32> <i32 3, i32 0, i32 poison, i32 1>
  ret <4 x i16> %r
}
; @f([i16 1, i16 2], [i16 3, i16 4]) = [i16 4, i16 1, i16 0, i16 2]

define <2 x i8> @choose(<2 x i1> %c, <2 x i8> %a, <2 x i8> %b) {
  %r = select <2 x i1> %c, <2 x i8> %a, <2 x i8> %b
  ret <2 x i8> %r
}
; @f([i1 1, i1 0], [i8 1, i8 2], [i8 3, i8 4]) = [i8 1, i8 4]

define <2 x i8> @choose_whole(i1 %c, <2 x i8> %a, <2 x i8> %b) {
  %r = select i1 %c, <2 x i8> %a, <2 x i8> %b
  ret <2 x i8> %r
}
; @f(i1 0, [i8 1, i8 2], [i8 3, i8 4]) = [i8 3, i8 4]

define double @pointers(i64 %i) {
  %a = alloca [8 x double]
  %p = getelementptr double, ptr %a, <2 x i64> <i64 1, i64 3>
  %p0 = extractelement <2 x ptr> %p, i32 0
  %p1 = extractelement <2 x ptr> %p, i32 1
  store double 1.5, ptr %p0
  store double 2.5, ptr %p1
  %q = getelementptr [8 x double], ptr %a, i64 0, i64 %i
  %r = load double, ptr %q
  ret double %r
}
; @f(i64 1) = f64 1.5
; @f(i64 3) = f64 2.5
; @f(i64 2) = f64 0

define <vscale x 2 x i64> @scalable(<vscale x 2 x i64> %a) {
  %r = add <vscale x 2 x i64> %a, %a
  ret <vscale x 2 x i64> %r
}
; @f([i64 1, i64 2]) = [i64 2, i64 4]

define i8 @packed_bits(<8 x i1> %v) {
  %a = alloca <8 x i1>
  store <8 x i1> %v, ptr %a
  %r = load i8, ptr %a
  ret i8 %r
}
; @f([i1 1, i1 0, i1 0, i1 0, i1 1, i1 1, i1 0, i1 1]) = i8 0xb1

define <5 x i3> @packed_again(i15 %v) {
  %a = alloca i16
  store i15 %v, ptr %a
  %r = load <5 x i3>, ptr %a
  ret <5 x i3> %r
}
; @f(i15 0x6345) = [i3 5, i3 0, i3 5, i3 1, i3 6]
