; Loops left by each of their exits, in the first and in the last iteration, and never.
; grad: @search([1.0, 2.0, 3.0], i64 3, 10.0)
; grad: @search([20.0, 2.0, 3.0], i64 3, 10.0)
; grad: @search([1.0, 2.0, 13.0], i64 3, 10.0)
; grad: @search([1.0, 12.0, 3.0], i64 3, 10.0)
; grad: @search([1.0], i64 1, 10.0)
; grad: @three([1.0, 2.0, 3.0], i64 3)
; grad: @three([1.0, -2.0, 3.0], i64 3)
; grad: @three([1.0, 200.0, 3.0], i64 3)
; grad: @three([-1.0, 200.0, 3.0], i64 3)
; grad: @three([100.0, 200.0, 3.0], i64 3)
; stable: all

define double @search(ptr %v, i64 %n, double %limit) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %next ]
  %s = phi double [ 1.0, %entry ], [ %t, %next ]
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  %big = fcmp ogt double %x, %limit
  br i1 %big, label %found, label %next
next:
  %t = fmul double %s, %x
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %loop, label %ended
found:
  %fx = phi double [ %x, %loop ]
  %fs = phi double [ %s, %loop ]
  %f = fmul double %fx, %fs
  %ff = fmul double %f, %fs
  br label %join
ended:
  %et = phi double [ %t, %next ]
  %e = fmul double %et, %limit
  br label %join
join:
  %r = phi double [ %ff, %found ], [ %e, %ended ]
  ret double %r
}

; Two ways out go to one block, after which the third joins.
define double @three(ptr %v, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %last ]
  %s = phi double [ 1.0, %entry ], [ %t, %last ]
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  %neg = fcmp olt double %x, 0.0
  br i1 %neg, label %common, label %second
second:
  %u = fmul double %s, %x
  %big = fcmp ogt double %u, 50.0
  br i1 %big, label %common, label %last
last:
  %t = fadd double %u, %s
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %loop, label %ended
common:
  %c = phi double [ %s, %loop ], [ %u, %second ]
  %cx = phi double [ %x, %loop ], [ %x, %second ]
  %cc = fmul double %c, %cx
  br label %join
ended:
  %e = phi double [ %t, %last ]
  %ee = fmul double %e, %e
  br label %join
join:
  %r = phi double [ %cc, %common ], [ %ee, %ended ]
  ret double %r
}
