; What is computed alike in each iteration of an outer loop is kept once for all of these: powers of one number, but not of one that
; the outer loop changes, nor what depends on the way taken.
; grad: @powers([1.5, 0.5, 2.25], 0.75, i64 3)
; grad: @powers([1.5], 0.75, i64 1)
; grad: @other_powers([1.5, 0.5, 2.25], 0.75, i64 3)
; grad: @other_count([1.5, 0.5, 2.25], 0.75, i64 3)
; grad: @either_way([1.5, 0.5, 2.25], 0.75, i64 3)
; trip: @powers %t %last
; trip: @powers %j %last
; trip: @other_powers %t %last
; trip: @other_powers %j %last
; trip: @other_count %t %last
; trip: @other_count %j %a
; trip: @either_way %t %last
; trip: @either_way %j %last
; stable: all
; plan: @powers same has %w
; plan: @powers loops not %w
; plan: @other_powers same not %w
; plan: @other_count same not %w
; plan: @either_way same not %w

declare double @llvm.sin.f64(double)

; sum over t, j of (v[j] + t) sin(w_j), w = 1, q, q^2, ...
define double @powers(ptr %v, double %q, i64 %n) {
entry:
  %last = add i64 %n, -1
  br label %t
t:
  %a = phi i64 [ 0, %entry ], [ %a1, %next ]
  %s = phi double [ 0.0, %entry ], [ %s1, %next ]
  br label %j
j:
  %b = phi i64 [ 0, %t ], [ %b1, %j ]
  %w = phi double [ 1.0, %t ], [ %w1, %j ]
  %u = phi double [ %s, %t ], [ %u1, %j ]
  %at = getelementptr double, ptr %v, i64 %b
  %x = load double, ptr %at
  %ww = call double @llvm.sin.f64(double %w)
  %p = fmul double %x, %ww
  %u1 = fadd double %u, %p
  %w1 = fmul double %w, %q
  %b1 = add i64 %b, 1
  %bm = icmp ult i64 %b1, %n
  br i1 %bm, label %j, label %next
next:
  %s1 = phi double [ %u1, %j ]
  %a1 = add i64 %a, 1
  %am = icmp ult i64 %a1, %n
  br i1 %am, label %t, label %done
done:
  %r = phi double [ %s1, %next ]
  ret double %r
}

; The number of which powers are taken is another one in each iteration.
define double @other_powers(ptr %v, double %q, i64 %n) {
entry:
  %last = add i64 %n, -1
  br label %t
t:
  %a = phi i64 [ 0, %entry ], [ %a1, %next ]
  %z = phi double [ %q, %entry ], [ %z1, %next ]
  %s = phi double [ 0.0, %entry ], [ %s1, %next ]
  %z1 = fmul double %z, 0.5
  br label %j
j:
  %b = phi i64 [ 0, %t ], [ %b1, %j ]
  %w = phi double [ 1.0, %t ], [ %w1, %j ]
  %u = phi double [ %s, %t ], [ %u1, %j ]
  %at = getelementptr double, ptr %v, i64 %b
  %x = load double, ptr %at
  %ww = call double @llvm.sin.f64(double %w)
  %p = fmul double %x, %ww
  %u1 = fadd double %u, %p
  %w1 = fmul double %w, %z
  %b1 = add i64 %b, 1
  %bm = icmp ult i64 %b1, %n
  br i1 %bm, label %j, label %next
next:
  %s1 = phi double [ %u1, %j ]
  %a1 = add i64 %a, 1
  %am = icmp ult i64 %a1, %n
  br i1 %am, label %t, label %done
done:
  %r = phi double [ %s1, %next ]
  ret double %r
}

; The inner loop runs more often each time.
define double @other_count(ptr %v, double %q, i64 %n) {
entry:
  %last = add i64 %n, -1
  br label %t
t:
  %a = phi i64 [ 0, %entry ], [ %a1, %next ]
  %s = phi double [ 0.0, %entry ], [ %s1, %next ]
  %a1 = add i64 %a, 1
  br label %j
j:
  %b = phi i64 [ 0, %t ], [ %b1, %j ]
  %w = phi double [ 1.0, %t ], [ %w1, %j ]
  %u = phi double [ %s, %t ], [ %u1, %j ]
  %at = getelementptr double, ptr %v, i64 %b
  %x = load double, ptr %at
  %ww = call double @llvm.sin.f64(double %w)
  %p = fmul double %x, %ww
  %u1 = fadd double %u, %p
  %w1 = fmul double %w, %q
  %b1 = add i64 %b, 1
  %bm = icmp ult i64 %b1, %a1
  br i1 %bm, label %j, label %next
next:
  %s1 = phi double [ %u1, %j ]
  %am = icmp ult i64 %a1, %n
  br i1 %am, label %t, label %done
done:
  %r = phi double [ %s1, %next ]
  ret double %r
}

; The factor depends on a way that the outer loop decides.
define double @either_way(ptr %v, double %q, i64 %n) {
entry:
  %last = add i64 %n, -1
  br label %t
t:
  %a = phi i64 [ 0, %entry ], [ %a1, %next ]
  %s = phi double [ 0.0, %entry ], [ %s1, %next ]
  %odd = trunc i64 %a to i1
  br label %j
j:
  %b = phi i64 [ 0, %t ], [ %b1, %jl ]
  %w = phi double [ 1.0, %t ], [ %w1, %jl ]
  %u = phi double [ %s, %t ], [ %u1, %jl ]
  %at = getelementptr double, ptr %v, i64 %b
  %x = load double, ptr %at
  %ww = call double @llvm.sin.f64(double %w)
  %p = fmul double %x, %ww
  %u1 = fadd double %u, %p
  br i1 %odd, label %one, label %jl
one:
  %wq = fmul double %w, %q
  br label %jl
jl:
  %f = phi double [ %q, %j ], [ %wq, %one ]
  %w1 = fmul double %w, %f
  %b1 = add i64 %b, 1
  %bm = icmp ult i64 %b1, %n
  br i1 %bm, label %j, label %next
next:
  %s1 = phi double [ %u1, %jl ]
  %a1 = add i64 %a, 1
  %am = icmp ult i64 %a1, %n
  br i1 %am, label %t, label %done
done:
  %r = phi double [ %s1, %next ]
  ret double %r
}
