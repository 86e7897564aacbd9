; No iteration, one, many; with the count known and not.
; grad: @power(1.25, i64 0)
; grad: @power(1.25, i64 1)
; grad: @power(1.25, i64 5)
; grad: @fixed(1.25)
; grad: @down(1.25, i32 4)
; grad: @strided([1.0, 2.0, 3.0, 4.0, 5.0], i64 5)
; grad: @strided([1.0], i64 1)
; grad: @empty([], i64 0)
; trip: @power %loop %last
; trip: @fixed %loop %four
; trip: @empty %loop %last
; stable: all

define double @power(double %x, i64 %n) {
entry:
  %some = icmp ne i64 %n, 0
  br i1 %some, label %ahead, label %out
ahead:
  %last = add i64 %n, -1
  br label %loop
loop:
  %i = phi i64 [ 0, %ahead ], [ %i1, %loop ]
  %p = phi double [ 1.0, %ahead ], [ %q, %loop ]
  %q = fmul double %p, %x
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %loop, label %done
done:
  %e = phi double [ %q, %loop ]
  br label %out
out:
  %r = phi double [ 1.0, %entry ], [ %e, %done ]
  ret double %r
}

define double @fixed(double %x) {
entry:
  %four = add i64 0, 4
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %p = phi double [ %x, %entry ], [ %q, %loop ]
  %f = sitofp i64 %i to double
  %a = fadd double %p, %f
  %q = fmul double %a, %p
  %qq = fdiv double %q, 4.0
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, 5
  br i1 %more, label %loop, label %done
done:
  %r = phi double [ %qq, %loop ]
  ret double %r
}

; The header leaves the loop.
define double @down(double %x, i32 %n) {
entry:
  br label %head
head:
  %k = phi i32 [ %n, %entry ], [ %k1, %body ]
  %p = phi double [ %x, %entry ], [ %q, %body ]
  %done = icmp eq i32 %k, 0
  br i1 %done, label %out, label %body
body:
  %q = fmul double %p, %x
  %k1 = sub i32 %k, 1
  br label %head
out:
  %r = phi double [ %p, %head ]
  ret double %r
}

define double @strided(ptr %v, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i2, %loop ]
  %s = phi double [ 1.0, %entry ], [ %t, %loop ]
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  %t = fmul double %s, %x
  %i2 = add i64 %i, 2
  %more = icmp slt i64 %i2, %n
  br i1 %more, label %loop, label %done
done:
  %r = phi double [ %t, %loop ]
  ret double %r
}

define double @empty(ptr %v, i64 %n) {
entry:
  %none = icmp eq i64 %n, 0
  br i1 %none, label %out, label %ahead
ahead:
  %last = add i64 %n, -1
  br label %loop
loop:
  %i = phi i64 [ 0, %ahead ], [ %i1, %loop ]
  %s = phi double [ 0.0, %ahead ], [ %t, %loop ]
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  %t = fadd double %s, %x
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %loop, label %done
done:
  %e = phi double [ %t, %loop ]
  br label %out
out:
  %r = phi double [ 0.0, %entry ], [ %e, %done ]
  ret double %r
}
