; A union of a double and a pointer that a call takes and returns as a pointer: its store is refused, that of a pointer is not.
; error[UnknownType]: @handed([1.5, 2.5], i1 1)
; grad: @pointers([1.5, 2.5], i1 1)

define { i64, ptr } @either(i64 %t, ptr %p, i64 %s, ptr %q, i1 %first) {
  %tag = select i1 %first, i64 %t, i64 %s
  %word = select i1 %first, ptr %p, ptr %q
  %one = insertvalue { i64, ptr } poison, i64 %tag, 0
  %both = insertvalue { i64, ptr } %one, ptr %word, 1
  ret { i64, ptr } %both
}

define double @handed(ptr %x, i1 %first) {
  %number = alloca { i64, ptr }
  %boxed = alloca { i64, ptr }
  %box = alloca double
  %into = alloca { i64, ptr }
  %second = getelementptr double, ptr %x, i64 1
  %a = load double, ptr %x
  %b = load double, ptr %second
  store double %b, ptr %box
  %n = getelementptr i8, ptr %number, i64 8
  store double %a, ptr %n
  %m = getelementptr i8, ptr %boxed, i64 8
  store ptr %box, ptr %m
  store ptr %box, ptr %n
  store double %a, ptr %n
  %p = load ptr, ptr %n
  %q = load ptr, ptr %m
  %r = call { i64, ptr } @either(i64 0, ptr %p, i64 1, ptr %q, i1 %first)
  %w = extractvalue { i64, ptr } %r, 1
  %i = getelementptr i8, ptr %into, i64 8
  store ptr %w, ptr %i
  %v = load double, ptr %i
  %y = fmul double %v, %b
  ret double %y
}

define double @pointers(ptr %x, i1 %first) {
  %boxed = alloca { i64, ptr }
  %box = alloca double
  %into = alloca { i64, ptr }
  %second = getelementptr double, ptr %x, i64 1
  %a = load double, ptr %x
  %b = load double, ptr %second
  store double %b, ptr %box
  %m = getelementptr i8, ptr %boxed, i64 8
  store ptr %box, ptr %m
  %q = load ptr, ptr %m
  %r = call { i64, ptr } @either(i64 0, ptr %q, i64 1, ptr %q, i1 %first)
  %w = extractvalue { i64, ptr } %r, 1
  %i = getelementptr i8, ptr %into, i64 8
  store ptr %w, ptr %i
  %t = load ptr, ptr %i
  %v = load double, ptr %t
  %y = fmul double %v, %a
  ret double %y
}
