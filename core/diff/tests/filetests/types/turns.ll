; Where doubles and pointers take turns, a number from a call that may unwind is merged with a word that was read: as a word it stands behind
; the call. Where other ways lead to behind the call there is no such place, so the derivative is refused.
; grad: @alone([1.5, 2.5], i1 1, i1 1)
; grad: @alone([1.5, 2.5], i1 1, i1 0)
; grad: @alone([1.5, 2.5], i1 0, i1 0)
; error[UnknownType]: @among_others([1.5, 2.5], i1 1, i1 1)

declare i32 @personality(...)

define double @measured(ptr %x) {
  %v = load double, ptr %x
  %s = fmul double %v, %v
  ret double %s
}

define void @put(ptr %cell, ptr %x, i1 %number) {
  %q = getelementptr double, ptr %x, i64 1
  br i1 %number, label %float, label %address
float:
  %a = load double, ptr %x
  %b = load double, ptr %q
  %v = fmul double %a, %b
  store double %v, ptr %cell
  br label %out
address:
  store ptr %q, ptr %cell
  br label %out
out:
  ret void
}

define double @take(ptr %cell, i1 %number) {
  br i1 %number, label %float, label %address
float:
  %v = load double, ptr %cell
  %s = fmul double %v, %v
  br label %out
address:
  %p = load ptr, ptr %cell
  %b = load double, ptr %p
  %c = fmul double %b, 3.0
  br label %out
out:
  %r = phi double [ %s, %float ], [ %c, %address ]
  ret double %r
}

define double @alone(ptr %x, i1 %number, i1 %new) personality ptr @personality {
  %cell = alloca i64
  %other = alloca i64
  call void @put(ptr %cell, ptr %x, i1 %number)
  br i1 %new, label %made, label %moved
made:
  %m = invoke double @measured(ptr %x) to label %behind unwind label %thrown
behind:
  br label %join
moved:
  %w = load double, ptr %cell
  br label %join
join:
  %v = phi double [ %m, %behind ], [ %w, %moved ]
  store double %v, ptr %other
  %r = call double @take(ptr %other, i1 %number)
  ret double %r
thrown:
  %e = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %e
}

define double @among_others(ptr %x, i1 %number, i1 %new) personality ptr @personality {
  %cell = alloca i64
  %other = alloca i64
  call void @put(ptr %cell, ptr %x, i1 %number)
  %w = load double, ptr %cell
  br i1 %new, label %made, label %join
made:
  %m = invoke double @measured(ptr %x) to label %join unwind label %thrown
join:
  %v = phi double [ %m, %made ], [ %w, %0 ]
  store double %v, ptr %other
  %r = call double @take(ptr %other, i1 %number)
  ret double %r
thrown:
  %e = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %e
}
