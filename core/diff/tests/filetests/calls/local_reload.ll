; A local table is read again in the reverse sweep, also when that is another function.
; grad: @f([1.5, 2.0, 0.5], i64 1, i64 3)
; stable: @f %k

define double @f(ptr %v, i64 %n, i64 %m) {
entry:
  %table = alloca [2 x i64]
  %second = getelementptr [2 x i64], ptr %table, i64 0, i64 1
  store i64 2, ptr %table
  store i64 1, ptr %second
  %which = and i64 %n, 1
  %slot = getelementptr [2 x i64], ptr %table, i64 0, i64 %which
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %s = phi double [ 1.0, %entry ], [ %t, %loop ]
  %k = load i64, ptr %slot
  %at = getelementptr double, ptr %v, i64 %k
  %x = load double, ptr %at
  %t = fmul double %s, %x
  store double %t, ptr %at
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %m
  br i1 %more, label %loop, label %done
done:
  %r = phi double [ %t, %loop ]
  ret double %r
}
