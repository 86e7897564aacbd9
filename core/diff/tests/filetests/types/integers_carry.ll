; Floats that travel in integer registers.
; grad: @copied([1.5, 2.5], [3.5])
; grad: @cast(1.5)
; grad: @loaded_argument([1.5, 2.5])
; grad: @swapped([1.5, 2.5], i64 2)

define double @copied(ptr %p, ptr %q) {
  %y = load double, ptr %q
  %a = load i64, ptr %p
  store i64 %a, ptr %q
  %x = load double, ptr %q
  %p1 = getelementptr double, ptr %p, i64 1
  %z = load double, ptr %p1
  %xx = fmul double %x, %z
  %r = fmul double %xx, %y
  ret double %r
}

define double @cast(double %x) {
entry:
  %b = bitcast double %x to i64
  %slot = alloca i64
  store i64 %b, ptr %slot
  %c = load i64, ptr %slot
  %d = bitcast i64 %c to double
  %e = fmul double %d, %x
  ret double %e
}

define internal double @as_float(i64 %b) {
  %x = bitcast i64 %b to double
  %y = fmul double %x, %x
  ret double %y
}

define double @loaded_argument(ptr %p) {
  %b = load i64, ptr %p
  %y = call double @as_float(i64 %b)
  %q = getelementptr double, ptr %p, i64 1
  %z = load double, ptr %q
  %r = fmul double %y, %z
  ret double %r
}

define double @swapped(ptr %p, i64 %n) {
entry:
  %q = getelementptr i64, ptr %p, i64 1
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %a = load i64, ptr %p
  %b = load i64, ptr %q
  %c = icmp eq i64 %i, 0
  %d = select i1 %c, i64 %a, i64 %b
  store i64 %b, ptr %p
  store i64 %d, ptr %q
  %x = load double, ptr %p
  %y = load double, ptr %q
  %z = fmul double %x, %y
  store double %z, ptr %p
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %loop, label %done
done:
  %r = load double, ptr %p
  ret double %r
}
