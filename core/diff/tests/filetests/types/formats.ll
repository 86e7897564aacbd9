; Other formats than double, and conversions between them.
; grad: @mixed(1.5, 2.5) tol 1e-3 because floats have 24 bits, half of which a step leaves
; grad: @long(1.5)
; grad: @long_value(1.5)
; grad: @arrays([f32 1.5, f32 2.5], [1.0, 2.0]) tol 1e-3 because floats have 24 bits, half of which a step leaves

define float @mixed(float %x, double %y) {
  %a = fpext float %x to double
  %b = fmul double %a, %y
  %c = fptrunc double %b to float
  %d = fmul float %c, %x
  ret float %d
}

define double @long(double %x) {
  %a = fpext double %x to x86_fp80
  %b = fmul x86_fp80 %a, %a
  %c = fdiv x86_fp80 %b, 0xK4000C000000000000000
  %d = fmul x86_fp80 %c, %a
  %e = fptrunc x86_fp80 %d to double
  ret double %e
}

define x86_fp80 @long_value(x86_fp80 %x) {
  %s = alloca x86_fp80
  store x86_fp80 %x, ptr %s
  %a = load x86_fp80, ptr %s
  %b = fmul x86_fp80 %a, %x
  ret x86_fp80 %b
}

define void @arrays(ptr %f, ptr %d) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %fp = getelementptr float, ptr %f, i64 %i
  %dp = getelementptr double, ptr %d, i64 %i
  %x = load float, ptr %fp
  %y = load double, ptr %dp
  %xd = fpext float %x to double
  %z = fmul double %xd, %y
  %zf = fptrunc double %z to float
  store float %zf, ptr %fp
  %zz = fmul double %z, %y
  store double %zz, ptr %dp
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, 2
  br i1 %more, label %loop, label %done
done:
  ret void
}
