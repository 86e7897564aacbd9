; Direct, indirect and recursive calls.

declare double @sin(double)
declare float @sqrtf(float)
declare i32 @abs(i32)
declare double @frexp(double, ptr)
declare i32 @printf(ptr, ...)
declare i32 @__gxx_personality_v0(...)

define i32 @ackermann(i32 %m, i32 %n) {
entry:
  %zero = icmp eq i32 %m, 0
  br i1 %zero, label %base, label %more
base:
  %n1 = add i32 %n, 1
  ret i32 %n1
more:
  %less = sub i32 %m, 1
  %last = icmp eq i32 %n, 0
  br i1 %last, label %one, label %two
one:
  %a = tail call i32 @ackermann(i32 %less, i32 1)
  ret i32 %a
two:
  %k = sub i32 %n, 1
  %b = call i32 @ackermann(i32 %m, i32 %k)
  %c = tail call i32 @ackermann(i32 %less, i32 %b)
  ret i32 %c
}
; @f(i32 2, i32 3) = i32 9

define double @chosen(i1 %c, double %x) {
  %f = select i1 %c, ptr @sin, ptr @twice
  %r = call double %f(double %x)
  ret double %r
}
; @f(i1 1, f64 0) = f64 0
; @f(i1 0, f64 4) = f64 8

define double @twice(double %x) {
  %r = fadd double %x, %x
  ret double %r
}
; @f(f64 1.5) = f64 3

define float @library(float %x) {
  %r = call float @sqrtf(float %x)
  ret float %r
}
; @f(f32 6.25) = f32 2.5

define i32 @absolute(i32 %x) {
  %r = call i32 @abs(i32 %x)
  ret i32 %r
}
; @f(i32 -9) = i32 9

define { double, i32 } @split(double %x) {
  %e = alloca i32
  %m = call double @frexp(double %x, ptr %e)
  %n = load i32, ptr %e
  %a = insertvalue { double, i32 } poison, double %m, 0
  %b = insertvalue { double, i32 } %a, i32 %n, 1
  ret { double, i32 } %b
}
; @f(f64 12) = [f64 0.75, i32 4]

define i32 @invoked(i32 %x) personality ptr @__gxx_personality_v0 {
  %r = invoke i32 @absolute(i32 %x) to label %fine unwind label %bad
fine:
  ret i32 %r
bad:
  %l = landingpad { ptr, i32 } cleanup
  ret i32 -1
}
; @f(i32 -3) = i32 3

define i64 @private_copy() {
  %a = alloca i64
  store i64 1, ptr %a
  call void @overwrite(ptr byval(i64) %a)
  %r = load i64, ptr %a
  ret i64 %r
}
; @f() = i64 1

define void @overwrite(ptr byval(i64) %p) {
  store i64 2, ptr %p
  ret void
}

define i64 @no_function() {
  %p = inttoptr i64 4096 to ptr
  %r = call i64 %p()
  ret i64 %r
}
; @f() traps no function

define i64 @too_few() {
  %r = call i64 @needs_one()
  ret i64 %r
}
; @f() traps 0 arguments

define i64 @needs_one(i64 %x) {
  ret i64 %x
}
; @f(i64 1) = i64 1

define void @forever() {
  call void @forever()
  ret void
}
; @f() traps nested calls

define i32 @formatted() {
  %a = alloca [4 x i8]
  store [4 x i8] c"%d\0A\00", ptr %a
  %r = call i32 (ptr, ...) @printf(ptr %a, i32 123)
  ret i32 %r
}
; @f() = i32 4
