; Stack memory made in loops and in recursion.
; grad: @alloca_in_loop([1.5, 2.0, 0.5], i64 3)
; grad: @in_recursion(1.5, i32 4)
; grad: @in_recursion(1.5, i32 0)
; grad: @branch_lifetimes([1.5, -2.0, 0.5], i64 3)

declare void @llvm.lifetime.start.p0(ptr)
declare void @llvm.lifetime.end.p0(ptr)

define double @alloca_in_loop(ptr %v, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %s = phi double [ 1.0, %entry ], [ %t, %loop ]
  %old = phi ptr [ %v, %entry ], [ %l, %loop ]
  %l = alloca double
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  %o = load double, ptr %old
  %xo = fmul double %x, %o
  store double %xo, ptr %l
  %y = load double, ptr %l
  %t = fmul double %s, %y
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %loop, label %done
done:
  %r = phi double [ %t, %loop ]
  ret double %r
}

define internal void @accumulate(ptr %sum, double %x, i32 %n) {
entry:
  %own = alloca double
  %zero = icmp eq i32 %n, 0
  br i1 %zero, label %out, label %more
more:
  %xx = fmul double %x, %x
  %h = fmul double %xx, 0.5
  store double %h, ptr %own
  %m = sub i32 %n, 1
  call void @accumulate(ptr %own, double %h, i32 %m)
  %a = load double, ptr %sum
  %b = load double, ptr %own
  %c = fmul double %b, %x
  %d = fadd double %a, %c
  store double %d, ptr %sum
  br label %out
out:
  ret void
}

define double @in_recursion(double %x, i32 %n) {
  %s = alloca double
  store double %x, ptr %s
  call void @accumulate(ptr %s, double %x, i32 %n)
  %r = load double, ptr %s
  ret double %r
}

define double @branch_lifetimes(ptr %v, i64 %n) {
entry:
  %l = alloca double
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
  %s = phi double [ 1.0, %entry ], [ %t, %latch ]
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  %pos = fcmp ogt double %x, 0.0
  br i1 %pos, label %scoped, label %latch
scoped:
  call void @llvm.lifetime.start.p0(ptr %l)
  %m = fmul double %x, %x
  store double %m, ptr %l
  %y = load double, ptr %l
  %z = fmul double %y, %s
  store double %z, ptr %l
  %w = load double, ptr %l
  call void @llvm.lifetime.end.p0(ptr %l)
  br label %latch
latch:
  %t = phi double [ %w, %scoped ], [ %s, %loop ]
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %loop, label %done
done:
  %r = phi double [ %t, %latch ]
  ret double %r
}
