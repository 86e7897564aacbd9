; A state that is overwritten step by step is kept once for each number that is overwritten, however often that is read: the reverse
; sweep takes the stores back. What others see of the state is put back in the end.
; grad: @own([0.5, 0.25, -0.75], i64 1)
; grad: @own([0.5, 0.25, -0.75], i64 4)
; grad: @shown([0.5, 0.25, -0.75], i64 1)
; grad: @shown([0.5, 0.25, -0.75], i64 3)
; grad: @shown([0.5, 0.25, -0.75], i64 4)
; undone: @own %x %y of %new %old
; undone: @shown %x %y of %new %old seen %t %p %k %eight
; trip: @own %t %last
; trip: @own %j %two
; trip: @own %k %two
; trip: @shown %t %last
; trip: @shown %j %two
; trip: @shown %k %two
; plan: @own takes has back
; plan: @own rebuilt has %x
; plan: @own rebuilt has %y
; plan: @shown takes has restores
; plan: @shown rebuilt has %x
; plan: @shown rebuilt has %y

; s[k] += sum over j of (p[j] * p[2 - j])^2 / 8, in each step for all k, where s is a copy of p on the stack.
define double @own(ptr %p, i64 %n) {
entry:
  %s = alloca [3 x double]
  %last = add i64 %n, -1
  %two = add i64 0, 2
  %p0 = load double, ptr %p
  store double %p0, ptr %s
  %a1 = getelementptr double, ptr %p, i64 1
  %b1 = getelementptr double, ptr %s, i64 1
  %p1 = load double, ptr %a1
  store double %p1, ptr %b1
  %a2 = getelementptr double, ptr %p, i64 2
  %b2 = getelementptr double, ptr %s, i64 2
  %p2 = load double, ptr %a2
  store double %p2, ptr %b2
  br label %t
t:
  %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
  br label %j
j:
  %m = phi i64 [ 0, %t ], [ %m1, %j ]
  %sum = phi double [ 0.0, %t ], [ %sum1, %j ]
  %back = sub i64 2, %m
  %ax = getelementptr double, ptr %s, i64 %m
  %x = load double, ptr %ax
  %ay = getelementptr double, ptr %s, i64 %back
  %y = load double, ptr %ay
  %xy = fmul double %x, %y
  %xyxy = fmul double %xy, %xy
  %sum1 = fadd double %sum, %xyxy
  %m1 = add i64 %m, 1
  %mj = icmp ult i64 %m1, 3
  br i1 %mj, label %j, label %between
between:
  %all = phi double [ %sum1, %j ]
  %part = fmul double %all, 0.125
  br label %k
k:
  %l = phi i64 [ 0, %between ], [ %l1, %k ]
  %at = getelementptr double, ptr %s, i64 %l
  %old = load double, ptr %at
  %new = fadd double %old, %part
  store double %new, ptr %at
  %l1 = add i64 %l, 1
  %lk = icmp ult i64 %l1, 3
  br i1 %lk, label %k, label %latch
latch:
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %t, label %done
done:
  %r0 = load double, ptr %s
  %r1 = load double, ptr %b1
  %r = fmul double %r0, %r1
  ret double %r
}

; The same in memory of the caller's.
define double @shown(ptr %p, i64 %n) {
entry:
  %last = add i64 %n, -1
  %two = add i64 0, 2
  %eight = add i64 0, 8
  %b1 = getelementptr double, ptr %p, i64 1
  br label %t
t:
  %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
  br label %j
j:
  %m = phi i64 [ 0, %t ], [ %m1, %j ]
  %sum = phi double [ 0.0, %t ], [ %sum1, %j ]
  %back = sub i64 2, %m
  %ax = getelementptr double, ptr %p, i64 %m
  %x = load double, ptr %ax
  %ay = getelementptr double, ptr %p, i64 %back
  %y = load double, ptr %ay
  %xy = fmul double %x, %y
  %xyxy = fmul double %xy, %xy
  %sum1 = fadd double %sum, %xyxy
  %m1 = add i64 %m, 1
  %mj = icmp ult i64 %m1, 3
  br i1 %mj, label %j, label %between
between:
  %all = phi double [ %sum1, %j ]
  %part = fmul double %all, 0.125
  br label %k
k:
  %l = phi i64 [ 0, %between ], [ %l1, %k ]
  %at = getelementptr double, ptr %p, i64 %l
  %old = load double, ptr %at
  %new = fadd double %old, %part
  store double %new, ptr %at
  %l1 = add i64 %l, 1
  %lk = icmp ult i64 %l1, 3
  br i1 %lk, label %k, label %latch
latch:
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %t, label %done
done:
  %r0 = load double, ptr %p
  %r1 = load double, ptr %b1
  %r = fmul double %r0, %r1
  ret double %r
}
