; Local arrays, and lifetimes that begin anew in each iteration.
; grad: @local_array([1.0, 2.0, 3.0])
; grad: @lifetimes([1.0, 2.0, 3.0], i64 3)
; grad: @carried([1.0, 2.0, 3.0], i64 3)
; grad: @dynamic([1.0, 2.0, 3.0], i64 3)

declare void @llvm.lifetime.start.p0(ptr)
declare void @llvm.lifetime.end.p0(ptr)

define double @local_array(ptr %v) {
entry:
  %l = alloca [3 x double]
  br label %fill
fill:
  %i = phi i64 [ 0, %entry ], [ %i1, %fill ]
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  %xx = fmul double %x, %x
  %to = getelementptr [3 x double], ptr %l, i64 0, i64 %i
  store double %xx, ptr %to
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, 3
  br i1 %more, label %fill, label %between
between:
  br label %sum
sum:
  %j = phi i64 [ 2, %between ], [ %j1, %sum ]
  %s = phi double [ 1.0, %between ], [ %t, %sum ]
  %from = getelementptr [3 x double], ptr %l, i64 0, i64 %j
  %y = load double, ptr %from
  %t = fmul double %s, %y
  store double %t, ptr %from
  %j1 = add i64 %j, -1
  %rest = icmp sge i64 %j1, 0
  br i1 %rest, label %sum, label %done
done:
  %r = phi double [ %t, %sum ]
  ret double %r
}

define double @lifetimes(ptr %v, i64 %n) {
entry:
  %l = alloca double
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %s = phi double [ 1.0, %entry ], [ %t, %loop ]
  call void @llvm.lifetime.start.p0(ptr %l)
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  %xs = fmul double %x, %s
  store double %xs, ptr %l
  %y = load double, ptr %l
  %t = fmul double %y, %x
  call void @llvm.lifetime.end.p0(ptr %l)
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %loop, label %done
done:
  %r = phi double [ %t, %loop ]
  ret double %r
}

; Without markers the slot carries its content from one iteration to the next.
define double @carried(ptr %v, i64 %n) {
entry:
  %l = alloca double
  store double 1.0, ptr %l
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  %y = load double, ptr %l
  %z = fmul double %x, %y
  %w = fadd double %z, %x
  store double %w, ptr %l
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %loop, label %done
done:
  %r = load double, ptr %l
  ret double %r
}

define double @dynamic(ptr %v, i64 %n) {
entry:
  %l = alloca double, i64 %n
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  %xx = fmul double %x, %x
  %to = getelementptr double, ptr %l, i64 %i
  store double %xx, ptr %to
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %loop, label %done
done:
  %a = load double, ptr %l
  %b = load double, ptr %v
  %c = fmul double %a, %b
  ret double %c
}
