; Recursion of every depth from 0, and functions that call each other.
; grad: @power(1.25, i32 0)
; grad: @power(1.25, i32 1)
; grad: @power(1.25, i32 6)
; grad: @in_memory([1.0, 2.0, 3.0], i64 3)
; grad: @in_memory([1.0], i64 0)
; grad: @even(1.25, i32 0)
; grad: @even(1.25, i32 1)
; grad: @even(1.25, i32 5)
; grad: @fibonacci(1.1, i32 5)

define double @power(double %x, i32 %n) {
entry:
  %zero = icmp eq i32 %n, 0
  br i1 %zero, label %out, label %more
more:
  %m = sub i32 %n, 1
  %p = call double @power(double %x, i32 %m)
  %q = fmul double %p, %x
  br label %out
out:
  %r = phi double [ 1.0, %entry ], [ %q, %more ]
  ret double %r
}

define double @in_memory(ptr %v, i64 %n) {
entry:
  %zero = icmp eq i64 %n, 0
  br i1 %zero, label %out, label %more
more:
  %x = load double, ptr %v
  %xx = fmul double %x, %x
  store double %xx, ptr %v
  %next = getelementptr double, ptr %v, i64 1
  %m = sub i64 %n, 1
  %s = call double @in_memory(ptr %next, i64 %m)
  %y = load double, ptr %v
  %t = fmul double %s, %y
  br label %out
out:
  %r = phi double [ 2.0, %entry ], [ %t, %more ]
  ret double %r
}

define double @even(double %x, i32 %n) {
entry:
  %zero = icmp eq i32 %n, 0
  br i1 %zero, label %out, label %more
more:
  %m = sub i32 %n, 1
  %y = fmul double %x, 1.5
  %p = call double @odd(double %y, i32 %m)
  %q = fmul double %p, %x
  br label %out
out:
  %r = phi double [ %x, %entry ], [ %q, %more ]
  ret double %r
}

define double @odd(double %x, i32 %n) {
entry:
  %zero = icmp eq i32 %n, 0
  br i1 %zero, label %out, label %more
more:
  %m = sub i32 %n, 1
  %y = fadd double %x, 0.5
  %p = call double @even(double %y, i32 %m)
  %q = fdiv double %p, %x
  br label %out
out:
  %r = phi double [ 2.0, %entry ], [ %q, %more ]
  ret double %r
}

define double @fibonacci(double %x, i32 %n) {
entry:
  %small = icmp slt i32 %n, 2
  br i1 %small, label %out, label %more
more:
  %n1 = sub i32 %n, 1
  %n2 = sub i32 %n, 2
  %a = call double @fibonacci(double %x, i32 %n1)
  %b = call double @fibonacci(double %a, i32 %n2)
  %c = fmul double %a, %b
  br label %out
out:
  %r = phi double [ %x, %entry ], [ %c, %more ]
  ret double %r
}
