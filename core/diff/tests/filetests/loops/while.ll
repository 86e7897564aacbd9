; Loops of which nobody knows how often they run.
; grad: @newton(7.0)
; grad: @newton(1.0)
; grad: @collatz(1.01, i64 6)
; grad: @collatz(1.01, i64 1)
; grad: @nested([5.0, 3.0])
; grad: @caches_grow(0.99)

declare double @llvm.fabs.f64(double)

; Newton's iteration is run until it stands still within 1e-3, so that all nearby runs take as many steps.
define double @newton(double %a) {
entry:
  br label %loop
loop:
  %x = phi double [ %a, %entry ], [ %x1, %loop ]
  %q = fdiv double %a, %x
  %s = fadd double %q, %x
  %x1 = fmul double %s, 0.5
  %d = fsub double %x1, %x
  %e = call double @llvm.fabs.f64(double %d)
  %more = fcmp ogt double %e, 0.05
  br i1 %more, label %loop, label %done
done:
  %r = phi double [ %x1, %loop ]
  ret double %r
}

define double @collatz(double %x, i64 %n) {
entry:
  br label %head
head:
  %k = phi i64 [ %n, %entry ], [ %next, %latch ]
  %s = phi double [ %x, %entry ], [ %t, %latch ]
  %end = icmp ule i64 %k, 1
  br i1 %end, label %done, label %body
body:
  %bit = and i64 %k, 1
  %odd = icmp ne i64 %bit, 0
  br i1 %odd, label %up, label %halve
up:
  %k3 = mul i64 %k, 3
  %k31 = add i64 %k3, 1
  %s3 = fmul double %s, %s
  br label %latch
halve:
  %k2 = lshr i64 %k, 1
  %s2 = fmul double %s, %x
  br label %latch
latch:
  %next = phi i64 [ %k31, %up ], [ %k2, %halve ]
  %t = phi double [ %s3, %up ], [ %s2, %halve ]
  br label %head
done:
  %r = phi double [ %s, %head ]
  ret double %r
}

define double @nested(ptr %v) {
entry:
  %v1 = getelementptr double, ptr %v, i64 1
  br label %outer
outer:
  %s = phi double [ 1.0, %entry ], [ %u, %latch ]
  %x = load double, ptr %v
  %y = load double, ptr %v1
  br label %inner
inner:
  %z = phi double [ %y, %outer ], [ %z1, %inner ]
  %t = phi double [ %s, %outer ], [ %t1, %inner ]
  %t1 = fmul double %t, %z
  %z1 = fmul double %z, 0.45
  %go = fcmp ogt double %z1, %x
  br i1 %go, label %inner, label %latch
latch:
  %u = phi double [ %t1, %inner ]
  %zl = phi double [ %z1, %inner ]
  %uz = fadd double %u, %zl
  %x1 = fmul double %x, 0.35
  store double %x1, ptr %v
  %y1 = fmul double %y, %uz
  %y2 = fmul double %y1, 0.125
  store double %y2, ptr %v1
  %again = fcmp ogt double %x1, 0.5
  br i1 %again, label %outer, label %done
done:
  %r = phi double [ %u, %latch ]
  ret double %r
}

; Some hundred iterations: the caches grow several times.
define double @caches_grow(double %x) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %s = phi double [ 1.0, %entry ], [ %t, %loop ]
  %p = fmul double %s, %x
  %pp = fmul double %p, %s
  %t = fsub double %pp, 0.01
  %i1 = add i64 %i, 1
  %big = fcmp ogt double %t, -10.0
  %few = icmp ult i64 %i1, 300
  %more = and i1 %big, %few
  br i1 %more, label %loop, label %done
done:
  %r = phi double [ %t, %loop ]
  ret double %r
}
