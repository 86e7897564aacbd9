; An integer of a float's bits that is looked at and stored as well moves the float; and one that may be either moves both.
; grad: @sorted([3.0, 2.0])
; grad: @tagged([1.5], i32 1)
; grad: @tagged([1.5], i32 0)
; error[BitTrick]: @swapped_twice([1.5])

define double @sorted(ptr %p) {
  %places = alloca [2 x double]
  %second = getelementptr double, ptr %p, i64 1
  %a = load i64, ptr %p
  %b = load i64, ptr %second
  %c = icmp ugt i64 %a, %b
  %first = zext i1 %c to i64
  %other = xor i64 %first, 1
  %q = getelementptr double, ptr %places, i64 %first
  %r = getelementptr double, ptr %places, i64 %other
  store i64 %a, ptr %q
  store i64 %b, ptr %r
  %x = load double, ptr %places
  %at = getelementptr double, ptr %places, i64 1
  %z = load double, ptr %at
  %xx = fmul double %x, %x
  %y = fmul double %xx, %z
  ret double %y
}

define double @tagged(ptr %p, i32 %tag) {
  %slot = alloca [2 x i64]
  %is = icmp ne i32 %tag, 0
  br i1 %is, label %number, label %count
number:
  %x = load double, ptr %p
  store double %x, ptr %slot
  br label %on
count:
  store i64 7, ptr %slot
  br label %on
on:
  %w = load i64, ptr %slot
  %next = getelementptr i64, ptr %slot, i64 1
  store i64 %w, ptr %next
  %n = sitofp i64 %w to double
  %d = load double, ptr %next
  %s = select i1 %is, double %d, double %n
  %y = fmul double %s, %s
  ret double %y
}

define double @swapped_twice(ptr %p) {
  %there = alloca i64
  %x = load i64, ptr %p
  %t = call i64 @llvm.bswap.i64(i64 %x)
  store i64 %t, ptr %there
  %u = load i64, ptr %there
  %v = call i64 @llvm.bswap.i64(i64 %u)
  %y = bitcast i64 %v to double
  ret double %y
}

declare i64 @llvm.bswap.i64(i64)
