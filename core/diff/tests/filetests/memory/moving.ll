; Memory that moves: reallocation in loops, of nothing, to less; memory allocated through a pointer.
; grad: @grow([1.0, 2.0, 3.0, 4.0, 5.0], i64 5)
; grad: @grow([1.5], i64 1)
; grad: @shrink(1.5, 2.5)
; grad: @table([1.0, 2.0, 3.0], i64 3)
; grad: @through(1.5, 2.5)
; grad: @own_or_constant([1.5, 2.5], const: [4.0, 5.0], i64 0)

declare ptr @realloc(ptr, i64)
declare ptr @reallocarray(ptr, i64, i64)
declare ptr @malloc(i64)
declare i32 @posix_memalign(ptr, i64, i64)
declare void @free(ptr)

define double @grow(ptr %x, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %old = phi ptr [ null, %entry ], [ %new, %loop ]
  %last = phi double [ 2.0, %entry ], [ %product, %loop ]
  %next = add i64 %i, 1
  %bytes = mul i64 %next, 8
  %new = call ptr @realloc(ptr %old, i64 %bytes)
  %xi = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %xi
  %product = fmul double %v, %last
  %at = getelementptr double, ptr %new, i64 %i
  store double %product, ptr %at
  %first = load double, ptr %new
  %more = fmul double %first, %v
  store double %more, ptr %new
  %done = icmp eq i64 %next, %n
  br i1 %done, label %out, label %loop
out:
  %end = phi ptr [ %new, %loop ]
  %half = lshr i64 %n, 1
  %middle = getelementptr double, ptr %end, i64 %half
  %a = load double, ptr %end
  %b = load double, ptr %middle
  call void @free(ptr %end)
  %r = fmul double %a, %b
  ret double %r
}

define double @shrink(double %x, double %y) {
  %p = call ptr @malloc(i64 16)
  %q = getelementptr double, ptr %p, i64 1
  store double %x, ptr %p
  store double %y, ptr %q
  %a = load double, ptr %q
  %r = call ptr @realloc(ptr %p, i64 8)
  %b = load double, ptr %r
  %c = fmul double %a, %b
  %d = fmul double %c, %b
  store double %d, ptr %r
  %e = load double, ptr %r
  call void @free(ptr %r)
  ret double %e
}

define double @table(ptr %x, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %old = phi ptr [ null, %entry ], [ %new, %loop ]
  %next = add i64 %i, 1
  %new = call ptr @reallocarray(ptr %old, i64 %next, i64 8)
  %cell = call ptr @malloc(i64 8)
  %xi = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %xi
  %w = fmul double %v, %v
  store double %w, ptr %cell
  %at = getelementptr ptr, ptr %new, i64 %i
  store ptr %cell, ptr %at
  %done = icmp eq i64 %next, %n
  br i1 %done, label %out, label %loop
out:
  %end = phi ptr [ %new, %loop ]
  %one = load ptr, ptr %end
  %second = getelementptr ptr, ptr %end, i64 1
  %last = getelementptr ptr, ptr %end, i64 2
  %two = load ptr, ptr %second
  %three = load ptr, ptr %last
  %a = load double, ptr %one
  %b = load double, ptr %three
  %r = fmul double %a, %b
  call void @free(ptr %one)
  call void @free(ptr %two)
  call void @free(ptr %three)
  call void @free(ptr %end)
  ret double %r
}

define double @through(double %x, double %y) {
  %slot = alloca ptr
  %s = call i32 @posix_memalign(ptr %slot, i64 32, i64 16)
  %p = load ptr, ptr %slot
  %q = getelementptr double, ptr %p, i64 1
  store double %x, ptr %p
  %a = fmul double %x, %y
  store double %a, ptr %q
  %b = load double, ptr %p
  %c = load double, ptr %q
  %d = fmul double %b, %c
  %again = load ptr, ptr %slot
  call void @free(ptr %again)
  ret double %d
}

; What grows is memory of its own; of that of the caller it might be, but does not.
define double @own_or_constant(ptr %x, ptr %c, i64 %n) {
  %h = call ptr @malloc(i64 16)
  %a = load double, ptr %x
  %xb = getelementptr double, ptr %x, i64 1
  %b = load double, ptr %xb
  %aa = fmul double %a, %a
  store double %aa, ptr %h
  %hb = getelementptr double, ptr %h, i64 1
  store double %b, ptr %hb
  %seven = icmp eq i64 %n, 7
  %p = select i1 %seven, ptr %c, ptr %h
  %q = call ptr @realloc(ptr %p, i64 24)
  %qb = getelementptr double, ptr %q, i64 1
  %qc = getelementptr double, ptr %q, i64 2
  %d = load double, ptr %qb
  %k = load double, ptr %c
  %e = fmul double %d, %k
  store double %e, ptr %qc
  %f = load double, ptr %q
  %g = load double, ptr %qc
  %r = fmul double %f, %g
  call void @free(ptr %q)
  ret double %r
}
