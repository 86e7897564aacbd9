; Arguments by value and by reference, stores on one path, patterns.
; grad: @by_reference(1.5)
; grad: @conditional_store([1.5, 2.5], i1 1)
; grad: @conditional_store([1.5, 2.5], i1 0)
; grad: @nan_result(1.5)
; grad: @pattern([1.5, 2.5])

define internal void @gives(ptr sret({ double, double }) %p, double %x) {
  %q = getelementptr double, ptr %p, i64 1
  store double %x, ptr %p
  %y = fmul double %x, %x
  store double %y, ptr %q
  ret void
}

define double @by_reference(double %x) {
  %l = alloca { double, double }
  call void @gives(ptr sret({ double, double }) %l, double %x)
  %q = getelementptr double, ptr %l, i64 1
  %a = load double, ptr %l
  %b = load double, ptr %q
  %c = fmul double %a, %b
  ret double %c
}

define double @conditional_store(ptr %p, i1 %c) {
entry:
  %x = load double, ptr %p
  br i1 %c, label %yes, label %out
yes:
  %y = fmul double %x, %x
  store double %y, ptr %p
  br label %out
out:
  %z = load double, ptr %p
  %q = getelementptr double, ptr %p, i64 1
  %w = load double, ptr %q
  %r = fmul double %z, %w
  ret double %r
}

define double @nan_result(double %x) {
  %inf = fdiv double 1.0, 0.0
  %c = fcmp ogt double %x, 1.0
  %y = select i1 %c, double %x, double %inf
  %z = fmul double %y, %y
  ret double %z
}

declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define double @pattern(ptr %p) {
  %x = load double, ptr %p
  call void @llvm.memset.p0.i64(ptr %p, i8 64, i64 8, i1 false)
  %y = load double, ptr %p
  %z = fmul double %x, %y
  ret double %z
}
