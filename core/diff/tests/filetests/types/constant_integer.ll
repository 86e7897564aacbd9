; Bits of a constant are stored over an active float.
; grad: @ones([1.5, 2.5])
; grad: @zero([1.5, 2.5])
; grad: @merged([1.5, 2.5], i1 0)
; grad: @merged([1.5, 2.5], i1 1)
; grad: @chosen([1.5, 2.5], i1 0)
; grad: @chosen([1.5, 2.5], i1 1)
; grad: @beside_a_table([1.5, 2.5], i1 0)
; grad: @beside_a_table([1.5, 2.5], i1 1)

@table = internal constant [2 x double] [double 3.0, double 4.0]

define double @ones(ptr %p) {
  %x = load double, ptr %p
  store i64 4607182418800017408, ptr %p
  %y = load double, ptr %p
  %q = getelementptr double, ptr %p, i64 1
  %w = load double, ptr %q
  %s = fadd double %w, %y
  %z = fmul double %x, %s
  ret double %z
}

define double @zero(ptr %p) {
  %x = load double, ptr %p
  store i64 0, ptr %p
  %q = getelementptr double, ptr %p, i64 1
  %w = load double, ptr %q
  %z = fmul double %x, %w
  ret double %z
}

; Bits that are a constant on one way and those of an active float on the other.
define double @merged(ptr %p, i1 %c) {
  %x = load double, ptr %p
  %q = getelementptr double, ptr %p, i64 1
  br i1 %c, label %copy, label %join
copy:
  %bits = load i64, ptr %q
  br label %join
join:
  %either = phi i64 [ %bits, %copy ], [ 4602678819172646912, %0 ]
  store i64 %either, ptr %p
  %y = load double, ptr %p
  %z = fmul double %x, %y
  ret double %z
}

define double @chosen(ptr %p, i1 %c) {
  %x = load double, ptr %p
  %q = getelementptr double, ptr %p, i64 1
  %bits = load i64, ptr %q
  %either = select i1 %c, i64 %bits, i64 4602678819172646912
  store i64 %either, ptr %p
  %y = load double, ptr %p
  %z = fmul double %x, %y
  ret double %z
}

; The same over memory that is seen together with constant memory.
define double @beside_a_table(ptr %p, i1 %c) {
  %w = alloca [2 x double]
  %x = load double, ptr %p
  store double %x, ptr %w
  %q = getelementptr double, ptr %w, i64 1
  store double %x, ptr %q
  %r = select i1 %c, ptr @table, ptr %w
  %a = load double, ptr %r
  store i64 4602678819172646912, ptr %w
  %b = load double, ptr %w
  %d = load double, ptr %q
  %s = fmul double %a, %b
  %z = fmul double %s, %d
  ret double %z
}
