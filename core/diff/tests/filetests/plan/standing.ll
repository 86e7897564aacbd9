; A product that is stored where nothing overwrites it is read from there; what nobody else computes is not cached.
; grad: @stands([1.5, 0.5, -0.75], [0.0, 0.0, 0.0], i64 3)
; grad: @dead([1.5, 0.5, 0.75], i64 3)
; stands: @stands %t
; stable: @dead %x
; trip: @stands %loop %last
; trip: @dead %loop %last
; plan: @stands rebuilt has %t
; plan: @stands loops not %t
; plan: @dead rebuilt has %e
; plan: @dead loops not %e
; alone: in split mode the memory of arguments may change in between

; The partial products in out.
define double @stands(ptr %v, ptr %out, i64 %n) {
entry:
  %last = add i64 %n, -1
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %s = phi double [ 1.0, %entry ], [ %t, %loop ]
  %at = getelementptr double, ptr %v, i64 %i
  %to = getelementptr double, ptr %out, i64 %i
  %x = load double, ptr %at
  %y = fmul double %x, %s
  %t = call double @llvm.exp.f64(double %y)
  store double %t, ptr %to
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %loop, label %done
done:
  %r = phi double [ %t, %loop ]
  ret double %r
}

; The exponentials are computed in one sweep only, since nobody asks for the sum.
define double @dead(ptr %v, i64 %n) {
entry:
  %last = add i64 %n, -1
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %s = phi double [ 0.0, %entry ], [ %t, %loop ]
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  %e = call double @llvm.exp.f64(double %x)
  %t = fadd double %s, %e
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %loop, label %done
done:
  %r = phi double [ %t, %loop ]
  ret double %r
}

declare double @llvm.exp.f64(double)
