; Merges whose predecessor one branch tells, and merges whose predecessor must be recorded.
; grad: @diamond(1.5)
; grad: @diamond(-1.5)
; grad: @triangle(1.5)
; grad: @triangle(-1.5)
; grad: @four(1.5, 2.5)
; grad: @four(1.5, -2.5)
; grad: @four(-1.5, 2.5)
; grad: @four(-1.5, -2.5)
; grad: @early(1.5, 0.5)
; grad: @early(-1.5, 0.5)
; grad: @early(1.5, 3.5)
; grad: @swapped(1.5, 2.5, i1 0)
; grad: @swapped(1.5, 2.5, i1 1)
; grad: @stays(1.5, i1 1)
; plan: @diamond needed not Entered
; plan: @four needed has Entered

define double @diamond(double %x) {
entry:
  %pos = fcmp ogt double %x, 0.0
  br i1 %pos, label %a, label %b
a:
  %p = fmul double %x, %x
  br label %join
b:
  %q = fdiv double 2.0, %x
  br label %join
join:
  %r = phi double [ %p, %a ], [ %q, %b ]
  %s = fmul double %r, %x
  ret double %s
}

define double @triangle(double %x) {
entry:
  %y = fmul double %x, 3.0
  %pos = fcmp ogt double %x, 0.0
  br i1 %pos, label %a, label %join
a:
  %p = fmul double %x, %y
  br label %join
join:
  %r = phi double [ %p, %a ], [ %y, %entry ]
  %s = fmul double %r, %r
  ret double %s
}

; Four predecessors, told apart by three branches.
define double @four(double %x, double %y) {
entry:
  %cx = fcmp ogt double %x, 0.0
  br i1 %cx, label %right, label %left
right:
  %cy = fcmp ogt double %y, 0.0
  br i1 %cy, label %a, label %b
left:
  %cz = fcmp ogt double %y, %x
  br i1 %cz, label %join, label %d
a:
  %pa = fmul double %x, %y
  br label %join
b:
  %pb = fdiv double %x, %y
  br label %join
d:
  %pd = fmul double %y, %y
  br label %join
join:
  %r = phi double [ %pa, %a ], [ %pb, %b ], [ %x, %left ], [ %pd, %d ]
  %t = phi double [ %y, %a ], [ %x, %b ], [ %y, %left ], [ 3.0, %d ]
  %s = fmul double %r, %t
  ret double %s
}

; Early returns, as they are after their merge into one.
define double @early(double %x, double %y) {
entry:
  %neg = fcmp olt double %x, 0.0
  br i1 %neg, label %out, label %next
next:
  %a = fmul double %x, %y
  %big = fcmp ogt double %a, 2.0
  br i1 %big, label %out, label %rest
rest:
  %b = fmul double %a, %a
  %c = fadd double %b, %y
  br label %out
out:
  %r = phi double [ %x, %entry ], [ %a, %next ], [ %c, %rest ]
  ret double %r
}

; Phis of one block exchange values.
define double @swapped(double %x, double %y, i1 %twice) {
entry:
  br label %loop
loop:
  %first = phi i1 [ true, %entry ], [ false, %loop ]
  %a = phi double [ %x, %entry ], [ %b, %loop ]
  %b = phi double [ %y, %entry ], [ %a, %loop ]
  %again = and i1 %first, %twice
  br i1 %again, label %loop, label %done
done:
  %ea = phi double [ %a, %loop ]
  %eb = phi double [ %b, %loop ]
  %e2 = fmul double %eb, %eb
  %r = fmul double %ea, %e2
  ret double %r
}

; A way that ends in `unreachable` is no way to the return.
define double @stays(double %x, i1 %c) {
entry:
  %y = fmul double %x, %x
  br i1 %c, label %fine, label %fail
fail:
  %z = fmul double %y, 2.0
  unreachable
fine:
  %r = fmul double %y, %x
  ret double %r
}
