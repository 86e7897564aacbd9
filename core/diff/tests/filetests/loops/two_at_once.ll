; Ways out that leave two loops at once, ways that end in `unreachable`, and counts that depend on unknown loops.
; grad: @find([1.5, 2.0, 3.5, 1.25], i64 2, 3.0)
; grad: @find([1.5, 2.0, 2.5, 1.25], i64 2, 3.0)
; grad: @find([4.5, 2.0, 2.5, 1.25], i64 2, 3.0)
; grad: @checked([1.5, 2.0, 3.5], i64 3)
; grad: @inner_count(1.25, i64 6)
; trip: @inner_count %inner %k1

declare void @abort()

define double @find(ptr %v, i64 %n, double %limit) {
entry:
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
  %s = phi double [ 1.0, %entry ], [ %e, %latch ]
  %row = mul i64 %i, %n
  br label %inner
inner:
  %j = phi i64 [ 0, %outer ], [ %j1, %next ]
  %u = phi double [ %s, %outer ], [ %t, %next ]
  %k = add i64 %row, %j
  %at = getelementptr double, ptr %v, i64 %k
  %x = load double, ptr %at
  %big = fcmp ogt double %x, %limit
  br i1 %big, label %found, label %next
next:
  %t = fmul double %u, %x
  %j1 = add i64 %j, 1
  %more = icmp ult i64 %j1, %n
  br i1 %more, label %inner, label %latch
latch:
  %e = phi double [ %t, %next ]
  %i1 = add i64 %i, 1
  %again = icmp ult i64 %i1, %n
  br i1 %again, label %outer, label %ended
found:
  %fu = phi double [ %u, %inner ]
  %fx = phi double [ %x, %inner ]
  %f = fmul double %fu, %fx
  %ff = fmul double %f, %fx
  br label %join
ended:
  %l = phi double [ %e, %latch ]
  br label %join
join:
  %r = phi double [ %ff, %found ], [ %l, %ended ]
  ret double %r
}

define double @checked(ptr %v, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %fine ]
  %s = phi double [ 1.0, %entry ], [ %t, %fine ]
  %out = icmp ugt i64 %i, 100
  br i1 %out, label %fail, label %fine
fine:
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  %t = fmul double %s, %x
  store double %t, ptr %at
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %loop, label %done
fail:
  call void @abort()
  unreachable
done:
  %r = phi double [ %t, %fine ]
  ret double %r
}

; The outer loop runs a number of times that nobody knows, the inner one each time as often as is known then.
define double @inner_count(double %x, i64 %n) {
entry:
  br label %outer
outer:
  %k = phi i64 [ %n, %entry ], [ %half, %latch ]
  %s = phi double [ 1.0, %entry ], [ %e, %latch ]
  %k1 = add i64 %k, -1
  br label %inner
inner:
  %j = phi i64 [ 0, %outer ], [ %j1, %inner ]
  %u = phi double [ %s, %outer ], [ %t, %inner ]
  %us = fmul double %u, %x
  %t = fmul double %us, %s
  %j1 = add i64 %j, 1
  %more = icmp ult i64 %j1, %k
  br i1 %more, label %inner, label %latch
latch:
  %e0 = phi double [ %t, %inner ]
  %e = fmul double %e0, 0.5
  %half = lshr i64 %k, 1
  %again = icmp ugt i64 %half, 0
  br i1 %again, label %outer, label %done
done:
  %r = phi double [ %e, %latch ]
  ret double %r
}
