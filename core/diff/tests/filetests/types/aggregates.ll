; Structures and arrays as values and in memory.
; grad: @values(1.5, 2.5)
; grad: @structure({1.5, i32 3, 2.5})
; grad: @record([1.5, i32 3, f32 2.5])
; grad: @merged(1.5, 2.5, i1 1)
; grad: @merged(1.5, 2.5, i1 0)
; grad: @with_pointer([1.5, 2.5])

define double @values(double %x, double %y) {
  %a = insertvalue [2 x double] poison, double %x, 0
  %b = insertvalue [2 x double] %a, double %y, 1
  %c = insertvalue { i32, [2 x double] } { i32 4, [2 x double] zeroinitializer }, [2 x double] %b, 1
  %d = extractvalue { i32, [2 x double] } %c, 1, 0
  %e = extractvalue { i32, [2 x double] } %c, 1
  %f = extractvalue [2 x double] %e, 1
  %g = fmul double %d, %f
  %h = insertvalue { i32, [2 x double] } %c, double %g, 1, 0
  %i = extractvalue { i32, [2 x double] } %h, 1, 0
  %j = fmul double %i, %d
  ret double %j
}

define { double, double } @structure({ double, i32, double } %s) {
  %x = extractvalue { double, i32, double } %s, 0
  %n = extractvalue { double, i32, double } %s, 1
  %y = extractvalue { double, i32, double } %s, 2
  %f = sitofp i32 %n to double
  %a = fmul double %x, %f
  %b = fmul double %a, %y
  %r = insertvalue { double, double } poison, double %a, 0
  %t = insertvalue { double, double } %r, double %b, 1
  ret { double, double } %t
}

define double @record(ptr %p) {
  %nx = getelementptr { double, i32, float }, ptr %p, i64 0, i32 1
  %fx = getelementptr { double, i32, float }, ptr %p, i64 0, i32 2
  %x = load double, ptr %p
  %n = load i32, ptr %nx
  %f = load float, ptr %fx
  %m = add i32 %n, 1
  store i32 %m, ptr %nx
  %d = fpext float %f to double
  %nf = sitofp i32 %n to double
  %y = fmul double %x, %d
  %z = fmul double %y, %nf
  store double %z, ptr %p
  ret double %y
}

define double @merged(double %x, double %y, i1 %c) {
entry:
  %a = insertvalue { double, double } poison, double %x, 0
  %b = insertvalue { double, double } %a, double %y, 1
  br i1 %c, label %swap, label %join
swap:
  %d = insertvalue { double, double } %b, double %y, 0
  %e = insertvalue { double, double } %d, double %x, 1
  br label %join
join:
  %m = phi { double, double } [ %b, %entry ], [ %e, %swap ]
  %n = select i1 %c, { double, double } %m, { double, double } %b
  %p = extractvalue { double, double } %n, 0
  %q = extractvalue { double, double } %m, 1
  %r = fmul double %p, %q
  %s = fmul double %r, %p
  ret double %s
}

define internal { ptr, double } @pair(ptr %p) {
  %x = load double, ptr %p
  %q = getelementptr double, ptr %p, i64 1
  %a = insertvalue { ptr, double } poison, ptr %q, 0
  %b = insertvalue { ptr, double } %a, double %x, 1
  ret { ptr, double } %b
}

define double @with_pointer(ptr %p) {
  %r = call { ptr, double } @pair(ptr %p)
  %q = extractvalue { ptr, double } %r, 0
  %x = extractvalue { ptr, double } %r, 1
  %y = load double, ptr %q
  %z = fmul double %x, %y
  store double %z, ptr %q
  ret double %z
}
