; What control depends on changes while it runs: the bound of a loop, the condition of a branch.
; grad: @bound_in_memory([i64 5], [1.5, 2.0])
; grad: @bound_in_memory([i64 1], [1.5, 2.0])
; grad: @bound_phi(1.25, i64 9)
; grad: @condition_overwritten([1.5, 2.0])
; grad: @condition_overwritten([-1.5, 2.0])
; grad: @flag_overwritten([i32 1], [1.5, 2.0])
; grad: @flag_overwritten([i32 0], [1.5, 2.0])
; grad: @index_overwritten([i64 2, i64 0, i64 1], [1.5, 2.0, 3.0])

define double @bound_in_memory(ptr %n, ptr %v) {
entry:
  %v1 = getelementptr double, ptr %v, i64 1
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %x = load double, ptr %v
  %y = load double, ptr %v1
  %z = fmul double %x, %y
  store double %z, ptr %v
  %bound = load i64, ptr %n
  %less = sub i64 %bound, 1
  store i64 %less, ptr %n
  %i1 = add i64 %i, 1
  %more = icmp slt i64 %i1, %less
  br i1 %more, label %loop, label %done
done:
  %r = load double, ptr %v
  ret double %r
}

define double @bound_phi(double %x, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %b = phi i64 [ %n, %entry ], [ %b1, %loop ]
  %s = phi double [ %x, %entry ], [ %t, %loop ]
  %t = fmul double %s, %x
  %b1 = lshr i64 %b, 1
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %b1
  br i1 %more, label %loop, label %done
done:
  %r = phi double [ %t, %loop ]
  ret double %r
}

define double @condition_overwritten(ptr %v) {
entry:
  %v1 = getelementptr double, ptr %v, i64 1
  %x = load double, ptr %v
  %y = load double, ptr %v1
  %neg = fcmp olt double %x, 0.0
  br i1 %neg, label %a, label %b
a:
  %p = fmul double %x, %y
  store double %p, ptr %v
  br label %join
b:
  %q = fmul double %y, %y
  %nq = fneg double %q
  store double %nq, ptr %v
  br label %join
join:
  %m = phi double [ %y, %a ], [ %x, %b ]
  %w = load double, ptr %v
  %r = fmul double %w, %m
  ret double %r
}

define double @flag_overwritten(ptr %flag, ptr %v) {
entry:
  %f = load i32, ptr %flag
  %set = icmp ne i32 %f, 0
  %v1 = getelementptr double, ptr %v, i64 1
  br i1 %set, label %a, label %b
a:
  store i32 0, ptr %flag
  %x = load double, ptr %v
  br label %join
b:
  store i32 7, ptr %flag
  %y = load double, ptr %v1
  br label %join
join:
  %m = phi double [ %x, %a ], [ %y, %b ]
  %r = fmul double %m, %m
  ret double %r
}

; The index that was read is needed for the adjoint, after it was overwritten.
define double @index_overwritten(ptr %index, ptr %v) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %s = phi double [ 1.0, %entry ], [ %t, %loop ]
  %at = getelementptr i64, ptr %index, i64 %i
  %k = load i64, ptr %at
  store i64 %i, ptr %at
  %from = getelementptr double, ptr %v, i64 %k
  %x = load double, ptr %from
  %t = fmul double %s, %x
  store double %t, ptr %from
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, 3
  br i1 %more, label %loop, label %done
done:
  %r = phi double [ %t, %loop ]
  ret double %r
}
