; One pointer that is now constant memory, now memory with a shadow.
; grad: @chosen([1.5], const: [2.5], i1 1)
; grad: @chosen([1.5], const: [2.5], i1 0)
; grad: @chosen(const: [1.5], const: [2.5], i1 0)
; grad: @in_loop([1.5, 2.0], const: [2.5, 3.0], i64 4)
; grad: @constant_table(1.5, i64 1)
; grad: @constant_default([1.5], i1 0)
; grad: @constant_default([1.5], i1 1)
; grad: @default_or_callers([[1.5]], i1 0)
; grad: @default_or_callers([[1.5]], i1 1)

@table = constant [3 x double] [double 2.0, double 3.0, double 5.0]
@default = internal constant double 4.0

define double @chosen(ptr %a, ptr %b, i1 %c) {
  %p = select i1 %c, ptr %a, ptr %b
  %x = load double, ptr %p
  %y = load double, ptr %a
  %z = fmul double %x, %y
  ret double %z
}

define double @in_loop(ptr %a, ptr %b, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %p = phi ptr [ %a, %entry ], [ %q, %loop ]
  %q = phi ptr [ %b, %entry ], [ %p, %loop ]
  %s = phi double [ 1.0, %entry ], [ %t, %loop ]
  %x = load double, ptr %p
  %t = fmul double %s, %x
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %loop, label %done
done:
  %r = phi double [ %t, %loop ]
  ret double %r
}

define double @constant_table(double %x, i64 %i) {
  %p = getelementptr [3 x double], ptr @table, i64 0, i64 %i
  %f = load double, ptr %p
  %y = fmul double %x, %f
  ret double %y
}

define double @constant_default(ptr %a, i1 %c) {
  %p = select i1 %c, ptr %a, ptr @default
  %x = load double, ptr %p
  %y = load double, ptr %a
  %z = fmul double %x, %y
  ret double %z
}

; What the pointer in the caller's memory points to is no constant for being mixed with one.
define double @default_or_callers(ptr %a, i1 %c) {
  %q = load ptr, ptr %a
  %p = select i1 %c, ptr %q, ptr @default
  %x = load double, ptr %p
  %y = load double, ptr %q
  %z = fmul double %y, %y
  store double 0.0, ptr %q
  %w = fmul double %x, %z
  ret double %w
}
