; Globals, their initialisers, constant expressions.

@numbers = constant [4 x i32] [i32 1, i32 -2, i32 3, i32 4]
@text = private constant [6 x i8] c"hello\00"
@second = global ptr getelementptr (i8, ptr @numbers, i64 4)
@mixed = global { i8, ptr, [2 x float], <2 x i16>, x86_fp80, i1 } { i8 7, ptr @callee, [2 x float] [float 1.5, float 2.5], <2 x i16> <i16 3, i16 4>, x86_fp80 0xK3FFF8000000000000000, i1 true }
@zeros = global [100 x i64] zeroinitializer
@difference = global i64 sub (i64 ptrtoint (ptr getelementptr (i8, ptr @text, i64 5) to i64), i64 ptrtoint (ptr @text to i64))
@other = external global i32

define i32 @callee(i32 %x) {
  %r = mul i32 %x, 3
  ret i32 %r
}
; @f(i32 5) = i32 15

define i32 @element(i64 %i) {
  %p = getelementptr [4 x i32], ptr @numbers, i64 0, i64 %i
  %r = load i32, ptr %p
  ret i32 %r
}
; @f(i64 1) = i32 -2
; @f(i64 4) traps out of bounds

define i32 @through_pointer() {
  %p = load ptr, ptr @second
  %r = load i32, ptr %p
  ret i32 %r
}
; @f() = i32 -2

define i32 @function_in_structure(i32 %x) {
  %p = getelementptr { i8, ptr, [2 x float], <2 x i16>, x86_fp80, i1 }, ptr @mixed, i64 0, i32 1
  %f = load ptr, ptr %p
  %r = call i32 %f(i32 %x)
  ret i32 %r
}
; @f(i32 7) = i32 21

define { i8, ptr, [2 x float], <2 x i16>, x86_fp80, i1 } @all() {
  store ptr null, ptr getelementptr ({ i8, ptr, [2 x float], <2 x i16>, x86_fp80, i1 }, ptr @mixed, i64 0, i32 1)
  %r = load { i8, ptr, [2 x float], <2 x i16>, x86_fp80, i1 }, ptr @mixed
  ret { i8, ptr, [2 x float], <2 x i16>, x86_fp80, i1 } %r
}
; @f() = [i8 7, ptr 0, [f32 1.5, f32 2.5], [i16 3, i16 4], f80 1, i1 1]

define i64 @distance() {
  %r = load i64, ptr @difference
  ret i64 %r
}
; @f() = i64 5

define i32 @unknown_global() {
  %r = load i32, ptr @other
  ret i32 %r
}
; @f() = i32 0

define void @write_constant() {
  store i8 0, ptr @text
  ret void
}
; @f() traps read-only

define <2 x i64> @vector_expression() {
  ret <2 x i64> <i64 ptrtoint (ptr inttoptr (i64 5 to ptr) to i64), i64 xor (i64 6, i64 -1)>
}
; @f() = [i64 5, i64 -7]
