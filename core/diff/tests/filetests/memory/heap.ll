; Memory that the function allocates: shadows, frees, values needed after the free.
; grad: @scratch(1.5, 2.5)
; grad: @freed_before_use(1.5)
; grad: @in_loop([1.0, 2.0, 3.0], i64 3)
; grad: @in_loop([1.0], i64 0)
; grad: @kept_alive([1.0, 2.0, 3.0], i64 3)
; grad: @sometimes(1.5, i1 1)
; grad: @sometimes(1.5, i1 0)
; grad: @freed_through_memory(1.5)
; grad: @pointers_are_cleared(1.5)

declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare ptr @malloc(i64)
declare ptr @calloc(i64, i64)
declare void @free(ptr)

define double @scratch(double %x, double %y) {
  %p = call ptr @malloc(i64 16)
  %q = getelementptr double, ptr %p, i64 1
  store double %x, ptr %p
  %a = fmul double %x, %y
  store double %a, ptr %q
  %b = load double, ptr %p
  %c = load double, ptr %q
  %d = fmul double %b, %c
  call void @free(ptr %p)
  ret double %d
}

define double @freed_before_use(double %x) {
  %p = call ptr @calloc(i64 2, i64 8)
  %q = getelementptr double, ptr %p, i64 1
  store double %x, ptr %p
  %a = load double, ptr %p
  %z = load double, ptr %q
  call void @free(ptr %p)
  %b = fmul double %a, %a
  %c = fmul double %b, %x
  %d = fadd double %c, %z
  ret double %d
}

; One allocation in each iteration, freed in the same one.
define double @in_loop(ptr %v, i64 %n) {
entry:
  %some = icmp ne i64 %n, 0
  br i1 %some, label %ahead, label %out
ahead:
  br label %loop
loop:
  %i = phi i64 [ 0, %ahead ], [ %i1, %loop ]
  %sum = phi double [ 1.0, %ahead ], [ %next, %loop ]
  %p = call ptr @malloc(i64 8)
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  %xx = fmul double %x, %sum
  store double %xx, ptr %p
  %y = load double, ptr %p
  %yy = fmul double %y, %x
  store double %yy, ptr %p
  %z = load double, ptr %p
  %next = fadd double %sum, %z
  call void @free(ptr %p)
  %i1 = add i64 %i, 1
  %again = icmp ult i64 %i1, %n
  br i1 %again, label %loop, label %done
done:
  %last = phi double [ %next, %loop ]
  br label %out
out:
  %r = phi double [ 0.0, %entry ], [ %last, %done ]
  ret double %r
}

; The allocation of one iteration is used and freed in the next one.
define double @kept_alive(ptr %v, i64 %n) {
entry:
  %first = call ptr @malloc(i64 8)
  store double 2.0, ptr %first
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %old = phi ptr [ %first, %entry ], [ %new, %loop ]
  %new = call ptr @malloc(i64 8)
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  %o = load double, ptr %old
  %y = fmul double %x, %o
  store double %y, ptr %new
  call void @free(ptr %old)
  %i1 = add i64 %i, 1
  %again = icmp ult i64 %i1, %n
  br i1 %again, label %loop, label %done
done:
  %end = phi ptr [ %new, %loop ]
  %r = load double, ptr %end
  %rr = fmul double %r, %r
  call void @free(ptr %end)
  ret double %rr
}

define double @sometimes(double %x, i1 %c) {
entry:
  br i1 %c, label %heap, label %none
heap:
  %p = call ptr @malloc(i64 8)
  store double %x, ptr %p
  %a = load double, ptr %p
  %b = fmul double %a, %a
  call void @free(ptr %p)
  br label %join
none:
  br label %join
join:
  %r = phi double [ %b, %heap ], [ %x, %none ]
  ret double %r
}

define double @freed_through_memory(double %x) {
  %slot = alloca ptr
  %p = call ptr @malloc(i64 8)
  store ptr %p, ptr %slot
  store double %x, ptr %p
  %q = load ptr, ptr %slot
  %a = load double, ptr %q
  %b = fmul double %a, %x
  call void @free(ptr %q)
  ret double %b
}

; Freeing nothing frees no shadow either.
define double @pointers_are_cleared(double %x) {
  %table = alloca [2 x ptr]
  %p = call ptr @malloc(i64 8)
  store ptr %p, ptr %table
  store double %x, ptr %p
  %q = load ptr, ptr %table
  %a = load double, ptr %q
  %b = fmul double %a, %x
  call void @free(ptr %q)
  call void @llvm.memset.p0.i64(ptr %table, i8 0, i64 16, i1 false)
  %none = load ptr, ptr %table
  call void @free(ptr %none)
  ret double %b
}
