; Switches: several labels for one block, a default that is not taken, merges after them.
; grad: @polynomial(1.25, i32 0)
; grad: @polynomial(1.25, i32 1)
; grad: @polynomial(1.25, i32 2)
; grad: @polynomial(1.25, i32 3)
; grad: @polynomial(1.25, i32 -5)
; grad: @straight(1.25, i32 0)
; grad: @straight(1.25, i32 1)
; grad: @straight(1.25, i32 7)
; grad: @in_loop([1.25, 0.5, 2.0, 1.5], i64 4)
; stable: @in_loop %x

define double @polynomial(double %x, i32 %k) {
entry:
  switch i32 %k, label %other [
    i32 0, label %zero
    i32 1, label %one
    i32 2, label %many
    i32 3, label %many
  ]
zero:
  br label %join
one:
  %a = fmul double %x, 3.0
  br label %join
many:
  %kf = sitofp i32 %k to double
  %b = fmul double %x, %kf
  %c = fmul double %b, %x
  br label %join
other:
  %d = fdiv double 1.0, %x
  br label %join
join:
  %r = phi double [ %x, %zero ], [ %a, %one ], [ %c, %many ], [ %d, %other ]
  %rr = fmul double %r, %x
  ret double %rr
}

; Edges go to the merge directly, twice from the same block.
define double @straight(double %x, i32 %k) {
entry:
  %y = fmul double %x, %x
  switch i32 %k, label %other [
    i32 0, label %join
    i32 1, label %join
  ]
other:
  %d = fdiv double 1.0, %x
  br label %join
join:
  %r = phi double [ %y, %entry ], [ %y, %entry ], [ %d, %other ]
  %rr = fmul double %r, %x
  ret double %rr
}

define double @in_loop(ptr %v, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
  %s = phi double [ 1.0, %entry ], [ %t, %latch ]
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  %k = and i64 %i, 3
  switch i64 %k, label %c [
    i64 0, label %a
    i64 1, label %b
  ]
a:
  %ta = fmul double %s, %x
  br label %latch
b:
  %tb = fadd double %s, %x
  br label %latch
c:
  %tc = fmul double %s, %s
  %big = fcmp ogt double %x, 1.75
  br i1 %big, label %d, label %latch
d:
  %td = fdiv double %tc, %x
  br label %latch
latch:
  %t = phi double [ %ta, %a ], [ %tb, %b ], [ %tc, %c ], [ %td, %d ]
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %loop, label %done
done:
  %r = phi double [ %t, %latch ]
  ret double %r
}
