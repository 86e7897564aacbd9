; Reads and writes of one place in every order.
; grad: @write_read(1.5, [2.0])
; grad: @read_write(1.5, [2.0])
; grad: @read_write_read(1.5, [2.0])
; grad: @write_write_read(1.5, [2.0])
; grad: @read_modify_write([2.0, 3.0])
; grad: @clear([2.0, 3.0])
; error[LostInPinned]: @read_write_read(1.5, const: [2.0])
; grad: @swap([2.0, 3.0])
; grad: @needed_after_overwrite([2.0, 3.0])
; grad: @padding_is_written([2.0, 3.0], i64 1, i64 2)
; grad: @halves_are_cleared([2.0, 3.0], i64 1)
; grad: @only_cleared(1.5, [2.0])
; grad: @only_set(1.5, [2.0])
; grad: @random_bits([1.5], i32 7)
; grad: @random_bits_in_array([1.5, 2.5, 3.5], i32 7, i64 1)
; grad: @low_digits([1.5])
; error[BitTrick]: @sign_bit([1.5])
; error[BitTrick]: @sign_byte([1.5])
; error[BitTrick]: @next_power([1.5])
; grad: @bits_read_once([2.0, 3.0, 5.0, 7.0], [1.5], i64 3)

define double @write_read(double %x, ptr %p) {
  %a = fmul double %x, %x
  store double %a, ptr %p
  %b = load double, ptr %p
  %c = fmul double %b, %a
  ret double %c
}

define double @read_write(double %x, ptr %p) {
  %b = load double, ptr %p
  %a = fmul double %x, %b
  store double %a, ptr %p
  ret double %b
}

define double @read_write_read(double %x, ptr %p) {
  %b = load double, ptr %p
  store double %x, ptr %p
  %d = load double, ptr %p
  %e = fmul double %b, %d
  ret double %e
}

define double @write_write_read(double %x, ptr %p) {
  %a = fmul double %x, 2.0
  store double %a, ptr %p
  %b = fmul double %x, %x
  store double %b, ptr %p
  %c = load double, ptr %p
  %d = fmul double %c, %c
  ret double %d
}

define void @read_modify_write(ptr %p) {
  %q = getelementptr double, ptr %p, i64 1
  %a = load double, ptr %p
  %b = load double, ptr %q
  %c = fmul double %a, %b
  store double %c, ptr %p
  %d = load double, ptr %p
  %e = fmul double %d, %b
  store double %e, ptr %q
  ret void
}

define double @clear(ptr %p) {
  %a = load double, ptr %p
  store double 0.0, ptr %p
  %q = getelementptr double, ptr %p, i64 1
  %b = load double, ptr %q
  %c = fmul double %a, %b
  ret double %c
}

define void @swap(ptr %p) {
  %q = getelementptr double, ptr %p, i64 1
  %a = load double, ptr %p
  %b = load double, ptr %q
  store double %b, ptr %p
  store double %a, ptr %q
  ret void
}

declare double @llvm.exp.f64(double)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

; The operand of the product was overwritten when the product is reversed.
define void @needed_after_overwrite(ptr %p) {
  %q = getelementptr double, ptr %p, i64 1
  %a = load double, ptr %p
  %b = call double @llvm.exp.f64(double %a)
  store double %b, ptr %p
  %c = load double, ptr %q
  %d = fmul double %a, %c
  store double %d, ptr %q
  %e = load double, ptr %p
  %f = fdiv double %d, %e
  store double %f, ptr %p
  ret void
}

; The array in a structure, indexed by variables, seems to reach over the float before the padding of the next one.
define double @padding_is_written(ptr %p, i64 %n, i64 %k) {
  %t = alloca [3 x { double, float, [2 x double] }]
  %x = load double, ptr %p
  %f = fptrunc double %x to float
  %row = getelementptr [3 x { double, float, [2 x double] }], ptr %t, i64 0, i64 %n
  %at = getelementptr i8, ptr %row, i64 8
  store float %f, ptr %at
  %padding = getelementptr i8, ptr %row, i64 12
  store i32 0, ptr %padding
  %arr = getelementptr i8, ptr %row, i64 16
  %last = getelementptr double, ptr %arr, i64 1
  store double %x, ptr %last
  %m = sub i64 %k, %n
  %element = getelementptr double, ptr %arr, i64 %m
  %b = load double, ptr %element
  %c = load float, ptr %at
  %d = fpext float %c to double
  %e = fmul double %d, %x
  %r = fmul double %e, %b
  ret double %r
}

define double @halves_are_cleared(ptr %p, i64 %n) {
  %t = alloca [2 x double]
  %x = load double, ptr %p
  %at = getelementptr double, ptr %t, i64 %n
  store double %x, ptr %at
  %a = load double, ptr %at
  store i32 0, ptr %at
  %high = getelementptr i8, ptr %at, i64 4
  store i32 0, ptr %high
  %b = load double, ptr %at
  %c = fadd double %b, %x
  %r = fmul double %a, %c
  ret double %r
}

; Nothing says that the caller keeps floats here.
define double @only_cleared(double %x, ptr %p) {
  store i64 0, ptr %p
  %y = fmul double %x, %x
  ret double %y
}

define double @only_set(double %x, ptr %p) {
  store i64 4602678819172646912, ptr %p
  %y = fmul double %x, %x
  ret double %y
}

; One load of the bits serves as a number and as what is moved: the place that it is moved to holds a float all the same.
define double @bits_read_once(ptr %a, ptr %w, i64 %k) {
  %bits = load i64, ptr %w
  store i64 %bits, ptr %a
  call void @llvm.memset.p0.i64(ptr %a, i8 0, i64 24, i1 false)
  %far = getelementptr double, ptr %a, i64 %k
  %x = load double, ptr %far
  %y = bitcast i64 %bits to double
  %r = fmul double %x, %y
  ret double %r
}

; An integer that is computed takes the place of a float: what was there is gone.
define double @random_bits(ptr %p, i32 %n) {
  %u = alloca i64
  %x = load double, ptr %p
  store double %x, ptr %u
  %z = zext i32 %n to i64
  %m = mul i64 %z, 11400714819323198485
  %s = lshr i64 %m, 12
  %bits = or i64 %s, 4607182418800017408
  store i64 %bits, ptr %u
  %d = load double, ptr %u
  %r = fmul double %d, %x
  ret double %r
}

define double @random_bits_in_array(ptr %p, i32 %n, i64 %i) {
  %x = load double, ptr %p
  %at = getelementptr i64, ptr %p, i64 %i
  %y = load double, ptr %at
  %z = zext i32 %n to i64
  %m = mul i64 %z, 11400714819323198485
  %s = lshr i64 %m, 12
  %bits = or i64 %s, 4607182418800017408
  store i64 %bits, ptr %at
  %d = load double, ptr %at
  %r = fmul double %d, %x
  %t = fmul double %r, %y
  ret double %t
}

; A float that loses its last digits is still that float.
define double @low_digits(ptr %p) {
  %u = alloca double
  %x = load double, ptr %p
  %y = fmul double %x, %x
  store double %y, ptr %u
  store i16 0, ptr %u
  %d = load double, ptr %u
  ret double %d
}

define double @sign_bit(ptr %p) {
  %u = alloca i64
  %x = load double, ptr %p
  store double %x, ptr %u
  %bits = load i64, ptr %u
  %turned = xor i64 %bits, -9223372036854775808
  store i64 %turned, ptr %u
  %d = load double, ptr %u
  ret double %d
}

define double @sign_byte(ptr %p) {
  %u = alloca i64
  %x = load double, ptr %p
  store double %x, ptr %u
  %at = getelementptr i8, ptr %u, i64 7
  %byte = load i8, ptr %at
  %wide = zext i8 %byte to i32
  %turned = xor i32 %wide, 128
  %narrow = trunc i32 %turned to i8
  store i8 %narrow, ptr %at
  %d = load double, ptr %u
  ret double %d
}

define double @next_power(ptr %p) {
  %u = alloca i64
  %x = load double, ptr %p
  store double %x, ptr %u
  %bits = load i64, ptr %u
  %twice = add i64 %bits, 4503599627370496
  store i64 %twice, ptr %u
  %d = load double, ptr %u
  ret double %d
}
