; Allocations that are freed elsewhere: in another loop, in another branch, never by their own name.
; grad: @freed_in_other_loop([1.5, 2.0, 0.5], i64 3)
; grad: @freed_in_other_branch(1.5, i1 1)
; grad: @freed_in_other_branch(1.5, i1 0)
; grad: @leaves_early([1.5, 2.0, 9.0, 4.0], i64 4)
; grad: @leaves_early([1.5, 2.0, 3.0, 4.0], i64 4)
; grad: @rows(1.5, i64 3)

declare ptr @malloc(i64)
declare void @free(ptr)

define double @freed_in_other_loop(ptr %v, i64 %n) {
entry:
  %bytes = mul i64 %n, 8
  %table = call ptr @malloc(i64 %bytes)
  br label %make
make:
  %i = phi i64 [ 0, %entry ], [ %i1, %make ]
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  %p = call ptr @malloc(i64 8)
  store double %x, ptr %p
  %slot = getelementptr ptr, ptr %table, i64 %i
  store ptr %p, ptr %slot
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %make, label %between
between:
  br label %use
use:
  %j = phi i64 [ 0, %between ], [ %j1, %use ]
  %s = phi double [ 1.0, %between ], [ %t, %use ]
  %slot2 = getelementptr ptr, ptr %table, i64 %j
  %q = load ptr, ptr %slot2
  %y = load double, ptr %q
  %yy = fmul double %y, %y
  %t = fmul double %s, %yy
  call void @free(ptr %q)
  %j1 = add i64 %j, 1
  %rest = icmp ult i64 %j1, %n
  br i1 %rest, label %use, label %done
done:
  %r = phi double [ %t, %use ]
  call void @free(ptr %table)
  ret double %r
}

define double @freed_in_other_branch(double %x, i1 %c) {
entry:
  br i1 %c, label %make, label %none
make:
  %p = call ptr @malloc(i64 8)
  store double %x, ptr %p
  br label %middle
none:
  br label %middle
middle:
  %q = phi ptr [ %p, %make ], [ null, %none ]
  %there = icmp ne ptr %q, null
  br i1 %there, label %use, label %out
use:
  %y = load double, ptr %q
  %z = fmul double %y, %y
  br label %out
out:
  %r = phi double [ %z, %use ], [ %x, %middle ]
  call void @free(ptr %q)
  ret double %r
}

define double @leaves_early(ptr %v, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
  %s = phi double [ 1.0, %entry ], [ %t, %latch ]
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  %p = call ptr @malloc(i64 8)
  %m = fmul double %s, %x
  store double %m, ptr %p
  %big = fcmp ogt double %x, 5.0
  br i1 %big, label %early, label %latch
latch:
  %t = load double, ptr %p
  call void @free(ptr %p)
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %loop, label %late
early:
  %ep = phi ptr [ %p, %loop ]
  %e = load double, ptr %ep
  %ee = fmul double %e, %e
  call void @free(ptr %ep)
  br label %out
late:
  %l = phi double [ %t, %latch ]
  br label %out
out:
  %r = phi double [ %ee, %early ], [ %l, %late ]
  ret double %r
}

; Each iteration makes a buffer of another size, fills it in an inner loop and reads it in a second one.
define double @rows(double %x, i64 %n) {
entry:
  br label %outer
outer:
  %i = phi i64 [ 1, %entry ], [ %i1, %latch ]
  %s = phi double [ %x, %entry ], [ %t, %latch ]
  %bytes = shl i64 %i, 3
  %p = call ptr @malloc(i64 %bytes)
  br label %fill
fill:
  %j = phi i64 [ 0, %outer ], [ %j1, %fill ]
  %a = phi double [ %s, %outer ], [ %b, %fill ]
  %to = getelementptr double, ptr %p, i64 %j
  store double %a, ptr %to
  %b = fmul double %a, %x
  %j1 = add i64 %j, 1
  %more = icmp ult i64 %j1, %i
  br i1 %more, label %fill, label %middle
middle:
  br label %sum
sum:
  %k = phi i64 [ 0, %middle ], [ %k1, %sum ]
  %u = phi double [ 0.0, %middle ], [ %w, %sum ]
  %from = getelementptr double, ptr %p, i64 %k
  %y = load double, ptr %from
  %yy = fmul double %y, %y
  %w = fadd double %u, %yy
  %k1 = add i64 %k, 1
  %rest = icmp ult i64 %k1, %i
  br i1 %rest, label %sum, label %latch
latch:
  %t = phi double [ %w, %sum ]
  call void @free(ptr %p)
  %i1 = add i64 %i, 1
  %again = icmp ule i64 %i1, %n
  br i1 %again, label %outer, label %done
done:
  %r = phi double [ %t, %latch ]
  ret double %r
}
