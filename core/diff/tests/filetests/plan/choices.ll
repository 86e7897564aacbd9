; What is kept and what is computed again.
; grad: @cheap_again(1.5, 2.5)
; grad: @linear([1.0, 2.0, 3.0], i64 3)
; grad: @product([1.0, 2.0, 3.0], i64 3)
; plan: @cheap_again kept not %c
; plan: @linear loops not %x
; plan: @product loops has %s
; plan: @product loops has Exact
; trip: @linear %loop %n1
; trip: @product %loop %n1
; stable: all

define double @cheap_again(double %x, double %y) {
  %a = fadd double %x, %y
  %b = fsub double %x, %y
  %c = fmul double %a, %b
  %d = fmul double %c, %c
  ret double %d
}

; A sum needs no values at all.
define double @linear(ptr %v, i64 %n) {
entry:
  %n1 = add i64 %n, -1
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %s = phi double [ 0.0, %entry ], [ %t, %loop ]
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  %h = fmul double %x, 0.5
  %t = fadd double %s, %h
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %loop, label %done
done:
  %r = phi double [ %t, %loop ]
  ret double %r
}

; A product needs the partial products; the factors are loaded again.
define double @product(ptr %v, i64 %n) {
entry:
  %n1 = add i64 %n, -1
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %s = phi double [ 1.0, %entry ], [ %t, %loop ]
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  %t = fmul double %s, %x
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %loop, label %done
done:
  %r = phi double [ %t, %loop ]
  ret double %r
}
