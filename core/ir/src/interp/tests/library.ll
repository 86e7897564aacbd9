; Functions of the C library.

@ab = constant [3 x i8] c"ab\00"
@abc = constant [4 x i8] c"abc\00"
@number = constant [10 x i8] c" -12.5e1x\00"
@hex = constant [5 x i8] c"0x1f\00"
@format = constant [6 x i8] c"%d-%s\00"
@sorted = constant [5 x i32] [i32 1, i32 3, i32 5, i32 7, i32 9]

declare i32 @strcmp(ptr, ptr)
declare i32 @strncmp(ptr, ptr, i64)
declare ptr @strchr(ptr, i32)
declare ptr @strstr(ptr, ptr)
declare ptr @strcpy(ptr, ptr)
declare ptr @strncpy(ptr, ptr, i64)
declare ptr @strcat(ptr, ptr)
declare ptr @memchr(ptr, i32, i64)
declare i32 @memcmp(ptr, ptr, i64)
declare ptr @memset(ptr, i32, i64)
declare double @strtod(ptr, ptr)
declare i64 @strtol(ptr, ptr, i32)
declare i32 @atoi(ptr)
declare i32 @snprintf(ptr, i64, ptr, ...)
declare ptr @bsearch(ptr, ptr, i64, i64, ptr)
declare double @modf(double, ptr)
declare void @sincosf(float, ptr, ptr)
declare double @remquo(double, double, ptr)
declare double @lgamma_r(double, ptr)
declare { double, double } @__muldc3(double, double, double, double)
declare { double, double } @__divdc3(double, double, double, double)
declare i64 @labs(i64)
declare i32 @isupper(i32)
declare i32 @toupper(i32)
declare i32 @posix_memalign(ptr, i64, i64)
declare void @free(ptr)
declare void @exit(i32)
declare void @__assert_fail(ptr, ptr, i32, ptr)
declare i64 @clock()
declare ptr @getenv(ptr)

define i32 @compared() {
  %a = call i32 @strcmp(ptr @ab, ptr @abc)
  %b = call i32 @strncmp(ptr @ab, ptr @abc, i64 2)
  %c = call i32 @memcmp(ptr @abc, ptr @ab, i64 3)
  %s = add i32 %a, %b
  %r = sub i32 %c, %s
  ret i32 %r
}
; @f() = i32 198

define i64 @found() {
  %a = call ptr @strchr(ptr @abc, i32 99)
  %b = call ptr @strstr(ptr @abc, ptr @ab)
  %c = call ptr @memchr(ptr @abc, i32 120, i64 4)
  %i = ptrtoint ptr %a to i64
  %j = ptrtoint ptr %b to i64
  %k = ptrtoint ptr %c to i64
  %d = sub i64 %i, %j
  %r = add i64 %d, %k
  ret i64 %r
}
; @f() = i64 2

define i64 @joined() {
  %p = alloca i64
  store i64 -1, ptr %p
  %a = call ptr @strcpy(ptr %p, ptr @ab)
  %b = call ptr @strcat(ptr %p, ptr @abc)
  %r = load i64, ptr %p
  ret i64 %r
}
; @f() = i64 0xffff006362616261

define void @too_long() {
  %p = alloca i16
  %a = call ptr @strcpy(ptr %p, ptr @abc)
  ret void
}
; @f() traps out of bounds: 4 bytes at offset 0 of a stack object of 2 bytes

define i32 @padded() {
  %p = alloca i32
  store i32 -1, ptr %p
  %a = call ptr @strncpy(ptr %p, ptr @ab, i64 4)
  %r = load i32, ptr %p
  ret i32 %r
}
; @f() = i32 0x6261

define { double, i64 } @parsed() {
  %e = alloca ptr
  %x = call double @strtod(ptr @number, ptr %e)
  %p = load ptr, ptr %e
  %i = ptrtoint ptr %p to i64
  %n = sub i64 %i, ptrtoint (ptr @number to i64)
  %a = insertvalue { double, i64 } poison, double %x, 0
  %b = insertvalue { double, i64 } %a, i64 %n, 1
  ret { double, i64 } %b
}
; @f() = [f64 -125, i64 8]

define i64 @parsed_integers() {
  %a = call i64 @strtol(ptr @hex, ptr null, i32 0)
  %b = call i32 @atoi(ptr @number)
  %c = sext i32 %b to i64
  %r = mul i64 %a, %c
  ret i64 %r
}
; @f() = i64 -372

define { i32, i32 } @cut() {
  %p = alloca i32
  %n = call i32 (ptr, i64, ptr, ...) @snprintf(ptr %p, i64 4, ptr @format, i32 7, ptr @abc)
  %v = load i32, ptr %p
  %a = insertvalue { i32, i32 } poison, i32 %n, 0
  %b = insertvalue { i32, i32 } %a, i32 %v, 1
  ret { i32, i32 } %b
}
; @f() = [i32 5, i32 0x612d37]

define i32 @order(ptr %a, ptr %b) {
  %x = load i32, ptr %a
  %y = load i32, ptr %b
  %r = sub i32 %x, %y
  ret i32 %r
}

define i64 @searched(i32 %x) {
  %k = alloca i32
  store i32 %x, ptr %k
  %p = call ptr @bsearch(ptr %k, ptr @sorted, i64 5, i64 4, ptr @order)
  %i = ptrtoint ptr %p to i64
  %none = icmp eq ptr %p, null
  %d = sub i64 %i, ptrtoint (ptr @sorted to i64)
  %r = select i1 %none, i64 -1, i64 %d
  ret i64 %r
}
; @f(i32 1) = i64 0
; @f(i32 7) = i64 12
; @f(i32 9) = i64 16
; @f(i32 4) = i64 -1

define [3 x double] @parts(double %x) {
  %w = alloca double
  %q = alloca i32
  %a = call double @modf(double %x, ptr %w)
  %b = load double, ptr %w
  %c = call double @remquo(double %x, double 2.0, ptr %q)
  %r0 = insertvalue [3 x double] poison, double %a, 0
  %r1 = insertvalue [3 x double] %r0, double %b, 1
  %r2 = insertvalue [3 x double] %r1, double %c, 2
  ret [3 x double] %r2
}
; @f(f64 -5.25) = [f64 -0.25, f64 -5, f64 0.75]

define [2 x float] @sine_and_cosine(float %x) {
  %p = alloca [2 x float]
  %q = getelementptr float, ptr %p, i64 1
  call void @sincosf(float %x, ptr %p, ptr %q)
  %r = load [2 x float], ptr %p
  ret [2 x float] %r
}
; @f(f32 0) = [f32 0, f32 1]

define i32 @sign_of_gamma(double %x) {
  %p = alloca i32
  %y = call double @lgamma_r(double %x, ptr %p)
  %r = load i32, ptr %p
  ret i32 %r
}
; @f(f64 -0.5) = i32 -1
; @f(f64 2.5) = i32 1

define { double, double } @complex(double %a, double %b, double %c, double %d) {
  %p = call { double, double } @__muldc3(double %a, double %b, double %c, double %d)
  %x = extractvalue { double, double } %p, 0
  %y = extractvalue { double, double } %p, 1
  %q = call { double, double } @__divdc3(double %x, double %y, double %c, double %d)
  ret { double, double } %q
}
; @f(f64 1, f64 2, f64 3, f64 4) = [f64 1, f64 2]

define i64 @absolute(i64 %x) {
  %r = call i64 @labs(i64 %x)
  ret i64 %r
}
; @f(i64 -2415919104) = i64 2415919104

define i32 @letters(i32 %c) {
  %a = call i32 @isupper(i32 %c)
  %b = call i32 @toupper(i32 %c)
  %m = mul i32 %a, 1000
  %r = add i32 %m, %b
  ret i32 %r
}
; @f(i32 65) = i32 1065
; @f(i32 97) = i32 65
; @f(i32 -1) = i32 -1

define i32 @aligned() {
  %p = alloca ptr
  %r = call i32 @posix_memalign(ptr %p, i64 64, i64 8)
  %q = load ptr, ptr %p
  store i64 1, ptr %q
  call void @free(ptr %q)
  ret i32 %r
}
; @f() = i32 0

define void @leaves(i32 %n) {
  call void @exit(i32 %n)
  unreachable
}
; @f(i32 3) traps exited with status 3

define void @asserts() {
  call void @__assert_fail(ptr @ab, ptr @abc, i32 12, ptr @ab)
  unreachable
}
; @f() traps abc:12: the assertion `ab` does not hold

define i1 @clock_moves() {
  %a = call i64 @clock()
  %b = call i64 @clock()
  %r = icmp ult i64 %a, %b
  ret i1 %r
}
; @f() = i1 1

define ptr @environment() {
  %r = call ptr @getenv(ptr @ab)
  ret ptr %r
}
; @f() = ptr 0
