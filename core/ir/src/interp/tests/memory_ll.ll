; Memory: allocation, access, lifetime, atomics.

declare ptr @malloc(i64)
declare ptr @calloc(i64, i64)
declare ptr @realloc(ptr, i64)
declare void @free(ptr)
declare i64 @strlen(ptr)
declare i32 @memcmp(ptr, ptr, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memmove.p0.p0.i32(ptr, ptr, i32, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define double @heap(i64 %i) {
  %p = call ptr @malloc(i64 32)
  %q = getelementptr double, ptr %p, i64 %i
  store double 2.5, ptr %q
  %r = load double, ptr %q
  call void @free(ptr %p)
  ret double %r
}
; @f(i64 3) = f64 2.5
; @f(i64 4) traps out of bounds: 8 bytes at offset 32 of a heap object of 32 bytes
; @f(i64 -1) traps offset -8 of a heap object

define i8 @after_free() {
  %p = call ptr @malloc(i64 1)
  call void @free(ptr %p)
  %r = load i8, ptr %p
  ret i8 %r
}
; @f() traps no longer alive

define void @double_free() {
  %p = call ptr @malloc(i64 1)
  call void @free(ptr %p)
  call void @free(ptr %p)
  ret void
}
; @f() traps double free

define void @free_null() {
  call void @free(ptr null)
  ret void
}
; @f() = void

define void @free_stack() {
  %p = alloca i32
  call void @free(ptr %p)
  ret void
}
; @f() traps free of a stack object

define ptr @dangling() {
  %p = alloca i32
  ret ptr %p
}

define i32 @after_return() {
  %p = call ptr @dangling()
  %r = load i32, ptr %p
  ret i32 %r
}
; @f() traps no longer alive

define i32 @null() {
  %p = getelementptr { i64, i32 }, ptr null, i64 0, i32 1
  %r = load i32, ptr %p
  ret i32 %r
}
; @f() traps null pointer (address 0x8)

define i64 @grown() {
  %p = call ptr @calloc(i64 2, i64 4)
  store i32 7, ptr %p
  %q = call ptr @realloc(ptr %p, i64 16)
  %r = load i64, ptr %q
  ret i64 %r
}
; @f() = i64 7

define i32 @misaligned() {
  %p = alloca [8 x i8]
  store i64 1234605616436508552, ptr %p
  %q = getelementptr i8, ptr %p, i64 3
  %r = load i32, ptr %q, align 1
  ret i32 %r
}
; @f() = i32 0x22334455

define i24 @odd_width(i24 %x) {
  %p = alloca i32
  store i32 -1, ptr %p
  store i24 %x, ptr %p
  %r = load i24, ptr %p
  %w = load i32, ptr %p
  %h = lshr i32 %w, 24
  %t = trunc i32 %h to i24
  %s = sub i24 %r, %t
  ret i24 %s
}
; @f(i24 1000) = i24 745

define x86_fp80 @extended(x86_fp80 %x) {
  %p = alloca [2 x x86_fp80]
  %q = getelementptr x86_fp80, ptr %p, i64 1
  store x86_fp80 %x, ptr %q
  %r = load x86_fp80, ptr %q
  ret x86_fp80 %r
}
; @f(f80 -2.5) = f80 -2.5

define i200 @wide(i64 %x) {
  %p = alloca i200
  store i200 0, ptr %p
  store i64 %x, ptr %p
  %r = load i200, ptr %p
  ret i200 %r
}

define i64 @wide_low(i64 %x) {
  %p = alloca i200
  %w = call i200 @wide(i64 %x)
  store i200 %w, ptr %p
  %r = load i64, ptr %p
  ret i64 %r
}
; @f(i64 -1) = i64 -1

define i64 @dynamic(i32 %n) {
  %p = alloca i64, i32 %n
  %last = sub i32 %n, 1
  %q = getelementptr i64, ptr %p, i32 %last
  store i64 5, ptr %q
  %r = load i64, ptr %q
  ret i64 %r
}
; @f(i32 100) = i64 5
; @f(i32 0) traps offset -8 of a stack object

define i64 @copied() {
  %p = alloca [3 x i64]
  %q = getelementptr i64, ptr %p, i64 1
  call void @llvm.memset.p0.i64(ptr %p, i8 1, i64 8, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %q, ptr %p, i64 8, i1 false)
  call void @llvm.memmove.p0.p0.i32(ptr %q, ptr %p, i32 16, i1 false)
  %l = getelementptr i64, ptr %p, i64 2
  %r = load i64, ptr %l
  ret i64 %r
}
; @f() = i64 0x101010101010101

define void @copy_nothing() {
  call void @llvm.memcpy.p0.p0.i64(ptr null, ptr null, i64 0, i1 false)
  call void @llvm.memset.p0.i64(ptr null, i8 0, i64 0, i1 false)
  ret void
}
; @f() = void

define { i32, i1 } @exchange(i32 %expected) {
  %p = alloca i32
  store i32 5, ptr %p
  %a = cmpxchg ptr %p, i32 %expected, i32 9 seq_cst monotonic
  %v = load atomic i32, ptr %p acquire, align 4
  %r = insertvalue { i32, i1 } %a, i32 %v, 0
  ret { i32, i1 } %r
}
; @f(i32 5) = [i32 9, i1 1]
; @f(i32 6) = [i32 5, i1 0]

define i32 @modify() {
  %p = alloca i32
  store atomic i32 12, ptr %p release, align 4
  %a = atomicrmw add ptr %p, i32 3 seq_cst
  %b = atomicrmw xchg ptr %p, i32 -5 seq_cst
  %c = atomicrmw umin ptr %p, i32 10 seq_cst
  %d = atomicrmw max ptr %p, i32 11 seq_cst
  %e = atomicrmw nand ptr %p, i32 3 seq_cst
  %f = atomicrmw uinc_wrap ptr %p, i32 3 seq_cst
  fence seq_cst
  %s0 = add i32 %a, %b
  %s1 = add i32 %s0, %c
  %s2 = add i32 %s1, %d
  %s3 = add i32 %s2, %e
  %s4 = add i32 %s3, %f
  ret i32 %s4
}
; @f() = i32 39

define double @modify_float() {
  %p = alloca double
  store double 1.5, ptr %p
  %a = atomicrmw fadd ptr %p, double 2.0 seq_cst
  %b = atomicrmw fmax ptr %p, double 9.0 seq_cst
  %c = load double, ptr %p
  %r = fadd double %b, %c
  ret double %r
}
; @f() = f64 12.5

define i64 @text_length() {
  %p = alloca [4 x i8]
  store [4 x i8] c"abc\00", ptr %p
  %r = call i64 @strlen(ptr %p)
  ret i64 %r
}
; @f() = i64 3

define i64 @text_without_end() {
  %p = alloca [3 x i8]
  store [3 x i8] c"abc", ptr %p
  %r = call i64 @strlen(ptr %p)
  ret i64 %r
}
; @f() traps without an end
