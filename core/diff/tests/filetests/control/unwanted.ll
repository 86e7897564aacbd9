; What a block computes for the decision at its end, and is not used on the way taken: its adjoint is zero whatever its slopes are.

; sqrt(x), if that is not zero; the slope at 0 is infinite
; grad: @norm(0.0) == (0.0)
; grad: @norm(2.0) tol 1e-7 because central differences of smooth functions have some nine digits
define double @norm(double %x) {
entry:
  %r = call double @llvm.sqrt.f64(double %x)
  %none = fcmp oeq double %r, 0.0
  br i1 %none, label %done, label %some
some:
  %square = fmul double %r, %r
  %sum = fadd double %square, %r
  br label %done
done:
  %result = phi double [ 0.0, %entry ], [ %sum, %some ]
  ret double %result
}

; used on both ways: the slope is wanted
; grad: @both(0.25) tol 1e-7 because central differences of smooth functions have some nine digits
; grad: @both(9.0) tol 1e-7 because central differences of smooth functions have some nine digits
define double @both(double %x) {
entry:
  %r = call double @llvm.sqrt.f64(double %x)
  %large = fcmp ogt double %r, 1.0
  br i1 %large, label %above, label %below
above:
  %more = fmul double %r, 3.0
  br label %done
below:
  br label %done
done:
  %result = phi double [ %more, %above ], [ %r, %below ]
  ret double %result
}

; used behind the decision of the next block, in which nothing is computed
; grad: @later(0.0, 2.0) == (0.0, 0.0)
; grad: @later(4.0, 2.0) tol 1e-7 because central differences of smooth functions have some nine digits
define double @later(double %x, double %y) {
entry:
  %r = call double @llvm.sqrt.f64(double %x)
  %none = fcmp oeq double %r, 0.0
  br i1 %none, label %out, label %next
next:
  %q = fdiv double %y, %r
  %far = fcmp ogt double %q, 5.0
  br i1 %far, label %out, label %use
use:
  %p = fmul double %q, %q
  br label %out
out:
  %result = phi double [ 0.0, %entry ], [ 0.0, %next ], [ %p, %use ]
  ret double %result
}

; a loop: elements behind the cutoff are left out, and the sum is carried through the block that decides
; grad: @within([0.0, 0.5, 4.0, 0.25], i64 4) == (0.0, 1.0, 0.0, 1.0)
define double @within(ptr %a, i64 %n) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %tail ]
  %s = phi double [ 0.0, %entry ], [ %sum, %tail ]
  %at = getelementptr double, ptr %a, i64 %i
  %v = load double, ptr %at
  %r = call double @llvm.sqrt.f64(double %v)
  %near = fcmp olt double %r, 0.1
  br i1 %near, label %tail, label %farther
farther:
  %far = fcmp ogt double %r, 1.0
  br i1 %far, label %tail, label %add
add:
  %square = fmul double %r, %r
  %more = fadd double %s, %square
  br label %tail
tail:
  %sum = phi double [ %s, %head ], [ %s, %farther ], [ %more, %add ]
  %next = add i64 %i, 1
  %last = icmp eq i64 %next, %n
  br i1 %last, label %done, label %head
done:
  %total = phi double [ %sum, %tail ]
  ret double %total
}

declare double @llvm.sqrt.f64(double)
