; Values that phis carry from iteration to iteration are kept in one column, with what the phis start from in front of it.
; grad: @heat([0.4, -0.3, 0.7, 0.1, 0.6], i64 2, i64 1)
; grad: @heat([0.4, -0.3, 0.7, 0.1, 0.6], i64 2, i64 3)
; grad: @heat([0.4, -0.3, 0.7, 0.1, 0.6], i64 3, i64 4)
; grad: @once([0.4, -0.3, 0.7, 0.1, 0.6], 0.3, i64 1)
; grad: @once([0.4, -0.3, 0.7, 0.1, 0.6], 0.3, i64 3)
; grad: @swap([0.4, -0.3, 0.7, 0.1], 0.3, 0.5, i64 4)
; grad: @two([0.4, -0.3, 0.7, 0.1], 0.3, 0.5, i64 4)
; trip: @heat %t %turns
; trip: @heat %i %last
; trip: @once %i %last
; trip: @swap %i %last
; trip: @two %i %last
; plan: @heat loops has Column
; plan: @heat loops not %left
; plan: @heat loops not %here
; plan: @heat loops not Primal
; plan: @once loops has %x
; plan: @once loops not %second
; plan: @swap loops has %x
; plan: @swap loops not Column
; plan: @two loops has %x
; alone: in split mode addresses of slots are kept besides

; Two neighbours to the left of what is loaded; u changes afterwards.
define double @heat(ptr %u, i64 %n, i64 %steps) {
entry:
  %turns = add i64 %steps, -1
  %last = add i64 %n, -1
  %p1 = getelementptr double, ptr %u, i64 1
  br label %t
t:
  %k = phi i64 [ 0, %entry ], [ %k1, %latch ]
  %u0 = load double, ptr %u
  %u1 = load double, ptr %p1
  br label %i
i:
  %m = phi i64 [ 0, %t ], [ %m1, %i ]
  %left = phi double [ %u0, %t ], [ %here, %i ]
  %here = phi double [ %u1, %t ], [ %x, %i ]
  %m1 = add i64 %m, 1
  %m2 = add i64 %m, 2
  %p = getelementptr double, ptr %u, i64 %m2
  %x = load double, ptr %p
  %a = fmul double %left, %here
  %b = fmul double %a, %x
  %q = getelementptr double, ptr %u, i64 %m1
  store double %b, ptr %q
  %mi = icmp ult i64 %m1, %n
  br i1 %mi, label %i, label %latch
latch:
  %end = phi double [ %b, %i ]
  %k1 = add i64 %k, 1
  %mt = icmp ult i64 %k1, %steps
  br i1 %mt, label %t, label %done
done:
  %r = phi double [ %end, %latch ]
  ret double %r
}

; One loop, of which the number of rows is known before it.
define double @once(ptr %u, double %start, i64 %n) {
entry:
  %last = add i64 %n, -1
  br label %i
i:
  %m = phi i64 [ 0, %entry ], [ %m1, %i ]
  %second = phi double [ %start, %entry ], [ %first, %i ]
  %first = phi double [ 0.25, %entry ], [ %x, %i ]
  %s = phi double [ 0.0, %entry ], [ %s1, %i ]
  %p = getelementptr double, ptr %u, i64 %m
  %x = load double, ptr %p
  %a = fmul double %second, %first
  %b = fmul double %a, %x
  store double %b, ptr %p
  %s1 = fadd double %s, %b
  %m1 = add i64 %m, 1
  %mi = icmp ult i64 %m1, %n
  br i1 %mi, label %i, label %done
done:
  %r = phi double [ %s1, %i ]
  ret double %r
}

; Phis that come from each other.
define double @swap(ptr %u, double %y, double %z, i64 %n) {
entry:
  %last = add i64 %n, -1
  br label %i
i:
  %m = phi i64 [ 0, %entry ], [ %m1, %i ]
  %a = phi double [ %y, %entry ], [ %b, %i ]
  %b = phi double [ %z, %entry ], [ %a, %i ]
  %s = phi double [ 0.0, %entry ], [ %s1, %i ]
  %p = getelementptr double, ptr %u, i64 %m
  %x = load double, ptr %p
  %c = fmul double %a, %x
  %d = fmul double %c, %x
  store double %d, ptr %p
  %s1 = fadd double %s, %d
  %m1 = add i64 %m, 1
  %mi = icmp ult i64 %m1, %n
  br i1 %mi, label %i, label %done
done:
  %r = phi double [ %s1, %i ]
  ret double %r
}

; Two phis that carry the same value on, and start from others: one of them has a column of its own.
define double @two(ptr %u, double %y, double %z, i64 %n) {
entry:
  %last = add i64 %n, -1
  br label %i
i:
  %m = phi i64 [ 0, %entry ], [ %m1, %i ]
  %a = phi double [ %y, %entry ], [ %x, %i ]
  %b = phi double [ %z, %entry ], [ %x, %i ]
  %s = phi double [ 0.0, %entry ], [ %s1, %i ]
  %p = getelementptr double, ptr %u, i64 %m
  %x = load double, ptr %p
  %c = fmul double %a, %b
  %d = fmul double %c, %x
  store double %d, ptr %p
  %s1 = fadd double %s, %d
  %m1 = add i64 %m, 1
  %mi = icmp ult i64 %m1, %n
  br i1 %mi, label %i, label %done
done:
  %r = phi double [ %s1, %i ]
  ret double %r
}
