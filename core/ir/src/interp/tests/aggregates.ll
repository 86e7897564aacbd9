; Structures and arrays as values.

%pair = type { i8, double }

define double @extract({ i32, [2 x %pair] } %s) {
  %r = extractvalue { i32, [2 x %pair] } %s, 1, 1, 1
  ret double %r
}
; @f([i32 1, [[i8 2, f64 3], [i8 4, f64 5]]]) = f64 5

define { i32, [2 x %pair] } @insert({ i32, [2 x %pair] } %s, %pair %p) {
  %r = insertvalue { i32, [2 x %pair] } %s, %pair %p, 1, 0
  ret { i32, [2 x %pair] } %r
}
; @f([i32 1, [[i8 2, f64 3], [i8 4, f64 5]]], [i8 6, f64 7]) = [i32 1, [[i8 6, f64 7], [i8 4, f64 5]]]

define %pair @through_memory(%pair %p) {
  %a = alloca %pair
  store %pair %p, ptr %a
  %d = getelementptr %pair, ptr %a, i32 0, i32 1
  %x = load double, ptr %d
  %y = fadd double %x, 1.0
  store double %y, ptr %d
  %r = load %pair, ptr %a
  ret %pair %r
}
; @f([i8 -1, f64 2]) = [i8 -1, f64 3]

define i64 @layout() {
  %p = getelementptr { i8, i16, i128, x86_fp80, <3 x float> }, ptr null, i64 1, i32 4
  %r = ptrtoint ptr %p to i64
  ret i64 %r
}
; @f() = i64 112

define [3 x i32] @undefined() {
  %r = insertvalue [3 x i32] undef, i32 5, 2
  ret [3 x i32] %r
}
; @f() = [i32 0, i32 0, i32 5]

define {} @empty() {
  ret {} zeroinitializer
}
; @f() = []
