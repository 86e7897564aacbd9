; Pointers that were read from memory and are overwritten there.
; alone: a second call would find no pointers
; grad: @shadow_of_loaded([[1.5, 2.0], [2.5, 3.0]], i64 2)

define double @shadow_of_loaded(ptr %m, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %s = phi double [ 1.0, %entry ], [ %t, %loop ]
  %slot = getelementptr ptr, ptr %m, i64 %i
  %row = load ptr, ptr %slot
  %x = load double, ptr %row
  %q = getelementptr double, ptr %row, i64 1
  %y = load double, ptr %q
  %xy = fmul double %x, %y
  %t = fmul double %s, %xy
  store double %t, ptr %row
  store ptr null, ptr %slot
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %loop, label %done
done:
  %r = phi double [ %t, %loop ]
  ret double %r
}
