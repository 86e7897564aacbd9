; Callees that allocate, free, and return pointers.
; grad: @returned(1.5)
; grad: @chosen([1.5, 2.5], i64 1)
; grad: @out_parameters(1.5)
; grad: @structure(1.5, 2.5)
; grad: @made_in_loop([1.5, 2.0, 0.5], i64 3)
; grad: @list([1.5, 2.0, 0.5], i64 3)

declare ptr @malloc(i64)
declare void @free(ptr)

define internal ptr @make(double %x) {
  %p = call ptr @malloc(i64 16)
  store double %x, ptr %p
  %q = getelementptr double, ptr %p, i64 1
  %y = fmul double %x, %x
  store double %y, ptr %q
  ret ptr %p
}

define internal void @drop(ptr %p) {
  call void @free(ptr %p)
  ret void
}

define double @returned(double %x) {
  %p = call ptr @make(double %x)
  %q = getelementptr double, ptr %p, i64 1
  %a = load double, ptr %p
  %b = load double, ptr %q
  %c = fmul double %a, %b
  call void @drop(ptr %p)
  ret double %c
}

define internal ptr @element(ptr %v, i64 %i) {
  %p = getelementptr double, ptr %v, i64 %i
  ret ptr %p
}

define double @chosen(ptr %v, i64 %i) {
  %p = call ptr @element(ptr %v, i64 %i)
  %a = load double, ptr %p
  %b = fmul double %a, %a
  store double %b, ptr %p
  %c = load double, ptr %v
  %d = fmul double %b, %c
  ret double %d
}

define internal void @split(double %x, ptr %a, ptr %b) {
  %half = fmul double %x, 0.5
  store double %half, ptr %a
  %square = fmul double %x, %x
  store double %square, ptr %b
  ret void
}

define double @out_parameters(double %x) {
  %a = alloca double
  %b = alloca double
  call void @split(double %x, ptr %a, ptr %b)
  %c = load double, ptr %a
  %d = load double, ptr %b
  %e = fmul double %c, %d
  ret double %e
}

define internal { double, double } @both(double %x, double %y) {
  %s = fadd double %x, %y
  %p = fmul double %x, %y
  %a = insertvalue { double, double } poison, double %s, 0
  %b = insertvalue { double, double } %a, double %p, 1
  ret { double, double } %b
}

define double @structure(double %x, double %y) {
  %r = call { double, double } @both(double %x, double %y)
  %s = extractvalue { double, double } %r, 0
  %p = extractvalue { double, double } %r, 1
  %q = fmul double %s, %p
  ret double %q
}

define double @made_in_loop(ptr %v, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]
  %s = phi double [ 1.0, %entry ], [ %t, %loop ]
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  %p = call ptr @make(double %x)
  %q = getelementptr double, ptr %p, i64 1
  %a = load double, ptr %q
  %t = fmul double %s, %a
  call void @drop(ptr %p)
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %loop, label %done
done:
  %r = phi double [ %t, %loop ]
  ret double %r
}

; A linked list: all instances of one allocation live at once.
define double @list(ptr %v, i64 %n) {
entry:
  br label %build
build:
  %i = phi i64 [ 0, %entry ], [ %i1, %build ]
  %head = phi ptr [ null, %entry ], [ %node, %build ]
  %at = getelementptr double, ptr %v, i64 %i
  %x = load double, ptr %at
  %node = call ptr @malloc(i64 16)
  %value = getelementptr { ptr, double }, ptr %node, i64 0, i32 1
  store ptr %head, ptr %node
  store double %x, ptr %value
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %build, label %between
between:
  %first = phi ptr [ %node, %build ]
  br label %walk
walk:
  %p = phi ptr [ %first, %between ], [ %next, %step ]
  %s = phi double [ 1.0, %between ], [ %t, %step ]
  %end = icmp eq ptr %p, null
  br i1 %end, label %done, label %step
step:
  %at1 = getelementptr { ptr, double }, ptr %p, i64 0, i32 1
  %y = load double, ptr %at1
  %yy = fmul double %y, %y
  %t = fmul double %s, %yy
  %next = load ptr, ptr %p
  call void @free(ptr %p)
  br label %walk
done:
  %r = phi double [ %s, %walk ]
  ret double %r
}
