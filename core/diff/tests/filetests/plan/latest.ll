; Of a number that a loop replaces now and then, the last time is kept, unless somebody else asks for it in the loop.
; grad: @greatest([1.5, 0.5, 2.25, 2.0], i64 4)
; grad: @greatest([2.5, 0.5, 2.25, 2.0], i64 4)
; grad: @greatest([1.5], i64 1)
; grad: @least_of_rows([1.5, 0.5, 2.25, 0.25], i64 2)
; grad: @summed([1.5, 0.5, 2.25, 2.0], i64 4)
; grad: @left_early([1.5, 0.5, 2.25, 2.0], i64 4)
; grad: @other_question([1.5, 0.5, 2.25, 2.0], i64 4)
; trip: @greatest %loop %last
; trip: @least_of_rows %i %last
; trip: @least_of_rows %j %last
; trip: @summed %loop %last
; trip: @other_question %loop %last
; stable: all
; plan: @greatest kept has Latest
; plan: @greatest loops not %c
; plan: @least_of_rows loops has Latest
; plan: @summed kept not Latest
; plan: @left_early kept not Latest
; plan: @other_question kept not Latest

define double @greatest(ptr %v, i64 %n) {
entry:
  %last = add i64 %n, -1
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %m = phi double [ 1.0, %entry ], [ %s, %loop ]
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  %xx = fmul double %x, %x
  %c = fcmp ogt double %xx, %m
  %s = select i1 %c, double %xx, double %m
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %loop, label %done
done:
  %r = phi double [ %s, %loop ]
  ret double %r
}

; The least of each row, with the selection the other way round; the next row begins with a part of the last.
define double @least_of_rows(ptr %v, i64 %n) {
entry:
  %last = add i64 %n, -1
  br label %i
i:
  %a = phi i64 [ 0, %entry ], [ %a1, %next ]
  %from = phi double [ 9.0, %entry ], [ %half, %next ]
  %row = mul i64 %a, %n
  br label %j
j:
  %b = phi i64 [ 0, %i ], [ %b1, %j ]
  %m = phi double [ %from, %i ], [ %s, %j ]
  %k = add i64 %row, %b
  %at = getelementptr double, ptr %v, i64 %k
  %x = load double, ptr %at
  %xx = fmul double %x, %x
  %c = fcmp olt double %m, %xx
  %s = select i1 %c, double %m, double %xx
  %b1 = add i64 %b, 1
  %bm = icmp ult i64 %b1, %n
  br i1 %bm, label %j, label %next
next:
  %least = phi double [ %s, %j ]
  %half = fmul double %least, 0.75
  %a1 = add i64 %a, 1
  %am = icmp ult i64 %a1, %n
  br i1 %am, label %i, label %done
done:
  %r = phi double [ %half, %next ]
  ret double %r
}

; All greatest numbers so far are added: each has an adjoint of its own.
define double @summed(ptr %v, i64 %n) {
entry:
  %last = add i64 %n, -1
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %m = phi double [ 1.0, %entry ], [ %s, %loop ]
  %sum = phi double [ 0.0, %entry ], [ %t, %loop ]
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  %c = fcmp ogt double %x, %m
  %s = select i1 %c, double %x, double %m
  %t = fadd double %sum, %s
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %loop, label %done
done:
  %r = phi double [ %t, %loop ]
  ret double %r
}

; What the loop leaves is the greatest number before the last one.
define double @left_early(ptr %v, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %m = phi double [ 1.0, %entry ], [ %s, %loop ]
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  %c = fcmp ogt double %x, %m
  %s = select i1 %c, double %x, double %m
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %loop, label %done
done:
  %r = phi double [ %m, %loop ]
  ret double %r
}

; The condition is known without the number.
define double @other_question(ptr %v, i64 %n) {
entry:
  %last = add i64 %n, -1
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %m = phi double [ 1.0, %entry ], [ %s, %loop ]
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  %c = fcmp ogt double %x, 1.25
  %s = select i1 %c, double %x, double %m
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %loop, label %done
done:
  %r = phi double [ %s, %loop ]
  ret double %r
}
