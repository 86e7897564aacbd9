; Memory reached in several ways.
; grad: @mixed_store([1.5, 2.0], const: [0.0, 0.0], i1 1)
; grad: @double_indirect([[[1.5]]])
; grad: @strided_copy([1.5, 2.0, 3.0, 4.0])


declare ptr @malloc(i64)
declare void @free(ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define double @mixed_store(ptr %a, ptr %b, i1 %c) {
  %p = select i1 %c, ptr %a, ptr %b
  %x = load double, ptr %a
  %y = fmul double %x, %x
  store double %y, ptr %p
  %z = load double, ptr %p
  %w = fmul double %z, %x
  ret double %w
}

define double @double_indirect(ptr %ppp) {
  %pp = load ptr, ptr %ppp
  %p = load ptr, ptr %pp
  %x = load double, ptr %p
  %y = fmul double %x, %x
  store double %y, ptr %p
  ret double %y
}

define double @strided_copy(ptr %v) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %from = getelementptr double, ptr %v, i64 %i
  %k = sub i64 3, %i
  %to = getelementptr double, ptr %v, i64 %k
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 8, i1 false)
  %x = load double, ptr %to
  %y = fmul double %x, %x
  store double %y, ptr %from
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, 2
  br i1 %more, label %loop, label %done
done:
  %a = load double, ptr %v
  ret double %a
}
