; Arrays of structures that are copied as bytes.
; grad: @element_of_row([1.5], 2.5, i64 2)

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

; Which of the four is read is not known, so it might seem to be any double behind them; the pointer says itself what it is.
%row = type { double, i32, [4 x double], i8, ptr }

define double @element_of_row(ptr %b, double %s, i64 %n) {
  %t = alloca [4 x %row], align 16
  %one = alloca %row, align 8
  %k = getelementptr inbounds i8, ptr %one, i64 8
  %a0 = getelementptr inbounds i8, ptr %one, i64 16
  %a2 = getelementptr inbounds i8, ptr %one, i64 32
  %c = getelementptr inbounds i8, ptr %one, i64 48
  %p = getelementptr inbounds i8, ptr %one, i64 56
  br label %loop

loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  store double 5.0e-01, ptr %one, align 8
  store i32 1, ptr %k, align 8
  store double 5.0e-01, ptr %a0, align 8
  store double %s, ptr %a2, align 8
  store i8 1, ptr %c, align 8
  store ptr %b, ptr %p, align 8
  %to = getelementptr inbounds %row, ptr %t, i64 %i
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %one, i64 64, i1 false)
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, 4
  br i1 %done, label %end, label %loop

end:
  %first = getelementptr inbounds i8, ptr %t, i64 80
  %which = and i64 %n, 3
  %at = getelementptr inbounds double, ptr %first, i64 %which
  %x = load double, ptr %at, align 8
  %there = getelementptr inbounds i8, ptr %t, i64 120
  %q = load ptr, ptr %there
  %y = load double, ptr %q
  %z = fmul double %x, %y
  ret double %z
}
