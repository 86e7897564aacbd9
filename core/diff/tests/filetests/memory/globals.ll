; Global variables: constant, internal with a shadow of their own, tables of pointers.
; grad: @through_global(1.5, 2.5)
; grad: @accumulates([1.5, 2.0, 0.5], i64 3)
; grad: @global_pointer(1.5)
; grad: @counts_calls(1.5)

@state = internal global double 1.0
@sum = internal global [2 x double] zeroinitializer
@where = internal global ptr null
@calls = internal global i32 0

define double @through_global(double %x, double %y) {
  store double %x, ptr @state
  %a = load double, ptr @state
  %b = fmul double %a, %y
  store double %b, ptr @state
  %c = load double, ptr @state
  %d = fmul double %c, %a
  store double 1.0, ptr @state
  ret double %d
}

define double @accumulates(ptr %v, i64 %n) {
entry:
  store double 1.0, ptr @sum
  %second = getelementptr [2 x double], ptr @sum, i64 0, i64 1
  store double 0.0, ptr %second
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  %p = load double, ptr @sum
  %q = fmul double %p, %x
  store double %q, ptr @sum
  %s = load double, ptr %second
  %t = fadd double %s, %q
  store double %t, ptr %second
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %loop, label %done
done:
  %r = load double, ptr %second
  ret double %r
}

define double @global_pointer(double %x) {
  %l = alloca double
  store double %x, ptr %l
  store ptr %l, ptr @where
  %p = load ptr, ptr @where
  %a = load double, ptr %p
  %b = fmul double %a, %x
  store double %b, ptr %p
  %c = load double, ptr %l
  store ptr null, ptr @where
  ret double %c
}

; The side effects of the primal happen once: the count decides what is computed.
define internal double @next(double %x) {
  %n = load i32, ptr @calls
  %n1 = add i32 %n, 1
  store i32 %n1, ptr @calls
  %f = sitofp i32 %n1 to double
  %y = fmul double %x, %f
  ret double %y
}

define double @counts_calls(double %x) {
  store i32 0, ptr @calls
  %a = call double @next(double %x)
  %b = call double @next(double %a)
  %c = call double @next(double %b)
  %d = fmul double %b, %c
  %n = load i32, ptr @calls
  %f = sitofp i32 %n to double
  %e = fmul double %d, %f
  ret double %e
}
