; Memory handed from function to function: freed, returned, swapped and overwritten by others.
; grad: @mutual_memory([1.5, 2.0, 0.5, 1.25], i64 4)
; grad: @frees_mine([1.5, 2.0], i64 2)
; grad: @returns_either([1.5], [2.5], i1 0)
; grad: @returns_either([1.5], [2.5], i1 1)
; grad: @ignored_struct(1.5, 2.5)
; grad: @swap_rows([[1.5, 2.0], [2.5, 3.0]])
; grad: @constant_callee([1.5, 2.0])
; grad: @read_then_overwrite_by_callee([1.5, 2.0])
; grad: @pure_twice(1.5)

declare ptr @malloc(i64)
declare void @free(ptr)

define void @ping(ptr %v, i64 %n) {
entry:
  %z = icmp eq i64 %n, 0
  br i1 %z, label %out, label %go
go:
  %x = load double, ptr %v
  %y = fmul double %x, %x
  store double %y, ptr %v
  %p = getelementptr double, ptr %v, i64 1
  %m = add i64 %n, -1
  call void @pong(ptr %p, i64 %m, double %x)
  %q = load double, ptr %v
  %w = fmul double %q, %x
  store double %w, ptr %v
  br label %out
out:
  ret void
}

define void @pong(ptr %v, i64 %n, double %f) {
entry:
  %z = icmp eq i64 %n, 0
  br i1 %z, label %out, label %go
go:
  %l = alloca double
  store double %f, ptr %l
  %x = load double, ptr %v
  %g = load double, ptr %l
  %y = fmul double %x, %g
  store double %y, ptr %v
  %p = getelementptr double, ptr %v, i64 1
  %m = add i64 %n, -1
  call void @ping(ptr %p, i64 %m)
  br label %out
out:
  ret void
}

define double @mutual_memory(ptr %v, i64 %n) {
  call void @ping(ptr %v, i64 %n)
  %x = load double, ptr %v
  ret double %x
}

define internal double @use_and_free(ptr %p) {
  %x = load double, ptr %p
  %y = fmul double %x, %x
  call void @free(ptr %p)
  ret double %y
}

define double @frees_mine(ptr %v, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %s = phi double [ 1.0, %entry ], [ %t, %loop ]
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  %p = call ptr @malloc(i64 8)
  %sx = fmul double %x, %s
  store double %sx, ptr %p
  %y = call double @use_and_free(ptr %p)
  %t = fmul double %y, %s
  %i1 = add i64 %i, 1
  %g = icmp ult i64 %i1, %n
  br i1 %g, label %loop, label %done
done:
  %r = phi double [ %t, %loop ]
  ret double %r
}

define internal ptr @either(ptr %a, ptr %b, i1 %c) {
entry:
  br i1 %c, label %yes, label %out
yes:
  %x = load double, ptr %a
  %y = fmul double %x, %x
  store double %y, ptr %a
  br label %out
out:
  %r = phi ptr [ %a, %yes ], [ %b, %entry ]
  ret ptr %r
}

define double @returns_either(ptr %a, ptr %b, i1 %c) {
  %p = call ptr @either(ptr %a, ptr %b, i1 %c)
  %x = load double, ptr %p
  %y = load double, ptr %a
  %z = fmul double %x, %y
  store double %z, ptr %p
  ret double %z
}

define internal { double, double } @both(double %x, double %y) {
  %s = fadd double %x, %y
  %p = fmul double %x, %y
  %a = insertvalue { double, double } poison, double %s, 0
  %b = insertvalue { double, double } %a, double %p, 1
  ret { double, double } %b
}

define double @ignored_struct(double %x, double %y) {
  %r = call { double, double } @both(double %x, double %y)
  %p = extractvalue { double, double } %r, 1
  %u = call { double, double } @both(double %p, double 2.0)
  %v = call { double, double } @both(double %x, double %p)
  %s = extractvalue { double, double } %v, 0
  %q = fmul double %s, %p
  ret double %q
}

define internal void @swap(ptr %m) {
  %m1 = getelementptr ptr, ptr %m, i64 1
  %a = load ptr, ptr %m
  %b = load ptr, ptr %m1
  store ptr %b, ptr %m
  store ptr %a, ptr %m1
  ret void
}

define double @swap_rows(ptr %m) {
  %r0 = load ptr, ptr %m
  %x = load double, ptr %r0
  call void @swap(ptr %m)
  %r1 = load ptr, ptr %m
  %y = load double, ptr %r1
  %z = fmul double %x, %y
  store double %z, ptr %r1
  call void @swap(ptr %m)
  %r2 = load ptr, ptr %m
  %w = load double, ptr %r2
  %o = fmul double %w, %z
  ret double %o
}

define internal double @answer(ptr %p) {
  ret double 42.0
}

define double @constant_callee(ptr %v) {
  %a = call double @answer(ptr %v)
  %x = load double, ptr %v
  %y = fmul double %x, %a
  ret double %y
}

define internal void @overwrite(ptr %v, double %x) {
  store double %x, ptr %v
  ret void
}

define double @read_then_overwrite_by_callee(ptr %v) {
  %x = load double, ptr %v
  %y = fmul double %x, %x
  call void @overwrite(ptr %v, double %y)
  %z = load double, ptr %v
  %q = getelementptr double, ptr %v, i64 1
  %w = load double, ptr %q
  call void @overwrite(ptr %v, double 3.0)
  %r = fmul double %z, %w
  ret double %r
}

define internal double @cube(double %x) {
  %y = fmul double %x, %x
  %z = fmul double %y, %x
  ret double %z
}

define double @pure_twice(double %x) {
  %a = call double @cube(double %x)
  %b = call double @cube(double %a)
  %c = call double @cube(double %b)
  %d = fmul double %a, %c
  ret double %d
}
