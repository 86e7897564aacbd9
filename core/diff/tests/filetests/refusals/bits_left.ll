; Bits of a float that one function leaves in memory, byte by byte, and of which another makes a float again.
; error[BitTrick]: @through_callees(1.5)
; error[BitTrick]: @through_callees(1.5) forward
; error[BitTrick]: @read_back(1.5)
; error[BitTrick]: @put_together(1.5)
; error[BitTrick]: @over_a_float([2.0], 1.5)
; error[BitTrick]: @vector_of_integers([2.0, 3.0])
; error[BitTrick]: @vector_of_integers([2.0, 3.0]) forward
; grad: @exponent_beside(1.5)

define void @put(ptr %to, double %x) {
  %u = bitcast double %x to i64
  br label %loop
loop:
  %k = phi i64 [ 0, %0 ], [ %n, %loop ]
  %s = shl i64 %k, 3
  %v = lshr i64 %u, %s
  %b = trunc i64 %v to i8
  %p = getelementptr i8, ptr %to, i64 %k
  store i8 %b, ptr %p
  %n = add i64 %k, 1
  %c = icmp eq i64 %n, 8
  br i1 %c, label %out, label %loop
out:
  ret void
}

define double @get(ptr %from) {
  br label %loop
loop:
  %k = phi i64 [ 0, %0 ], [ %n, %loop ]
  %u = phi i64 [ 0, %0 ], [ %w, %loop ]
  %p = getelementptr i8, ptr %from, i64 %k
  %b = load i8, ptr %p
  %z = zext i8 %b to i64
  %s = shl i64 %k, 3
  %v = shl i64 %z, %s
  %w = or i64 %u, %v
  %n = add i64 %k, 1
  %c = icmp eq i64 %n, 8
  br i1 %c, label %out, label %loop
out:
  %x = bitcast i64 %w to double
  ret double %x
}

define double @through_callees(double %x) {
  %buffer = alloca [8 x i8]
  call void @put(ptr %buffer, double %x)
  %y = call double @get(ptr %buffer)
  ret double %y
}

define double @read_back(double %x) {
  %buffer = alloca [8 x i8]
  call void @put(ptr %buffer, double %x)
  %y = load double, ptr %buffer
  ret double %y
}

define double @put_together(double %x) {
  %buffer = alloca [8 x i8]
  %u = bitcast double %x to i64
  %low = trunc i64 %u to i32
  %up = lshr i64 %u, 32
  %high = trunc i64 %up to i32
  %middle = getelementptr i8, ptr %buffer, i64 4
  store i32 %low, ptr %buffer
  store i32 %high, ptr %middle
  %y = call double @get(ptr %buffer)
  ret double %y
}

define double @over_a_float(ptr %p, double %x) {
  %old = load double, ptr %p
  %u = bitcast double %x to i64
  %up = lshr i64 %u, 40
  %b = trunc i64 %up to i8
  %at = getelementptr i8, ptr %p, i64 5
  store i8 %b, ptr %at
  %new = load double, ptr %p
  %y = fmul double %old, %new
  ret double %y
}

; The exponent, as frexp gives it, beside a float in one structure.
define void @parts(ptr %to, double %x) {
  %u = bitcast double %x to i64
  %e = lshr i64 %u, 52
  %n = trunc i64 %e to i32
  store double %x, ptr %to
  %at = getelementptr i8, ptr %to, i64 8
  store i32 %n, ptr %at
  ret void
}

define double @exponent_beside(double %x) {
  %parts = alloca { double, i32 }
  call void @parts(ptr %parts, double %x)
  %y = load double, ptr %parts
  %at = getelementptr i8, ptr %parts, i64 8
  %n = load i32, ptr %at
  %f = sitofp i32 %n to double
  %r = fmul double %y, %f
  ret double %r
}

; Which lane holds what is not followed here; the preparation splits such vectors where it can.
define double @vector_of_integers(ptr %p) {
  %w = alloca [2 x double]
  %q = getelementptr double, ptr %p, i64 1
  %a = load i64, ptr %p
  %b = load i64, ptr %q
  %u = insertelement <2 x i64> poison, i64 %b, i64 0
  %v = insertelement <2 x i64> %u, i64 %a, i64 1
  store <2 x i64> %v, ptr %w
  %x = load double, ptr %w
  %y = load double, ptr %p
  %z = fmul double %x, %y
  ret double %z
}
