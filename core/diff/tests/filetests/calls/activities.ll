; One callee, active in one call and not in another; one function differentiated for several activities.
; grad: @caller(1.5, 2.5)
; grad: @caller(const: 1.5, 2.5)
; grad: @caller(1.5, const: 2.5)
; grad: @memory([1.5, 2.0], [2.5, 3.0])
; grad: @memory([1.5, 2.0], const: [2.5, 3.0])
; error[LostInPinned]: @memory(const: [1.5, 2.0], [2.5, 3.0])
; grad: @chain(1.5)
; grad: @writes([1.5, 2.0])
; grad: @unused_result(1.5)
; stable: @scale_by %f
; stable: @twice %a

define internal double @product(double %a, double %b) {
  %c = fmul double %a, %b
  %d = fmul double %c, %a
  ret double %d
}

define double @caller(double %x, double %y) {
  %inactive = call double @product(double 2.0, double 3.0)
  %a = call double @product(double %x, double %inactive)
  %b = call double @product(double 5.0, double %y)
  %c = call double @product(double %a, double %b)
  ret double %c
}

define internal double @scale_by(ptr %v, ptr %factor) {
  %f = load double, ptr %factor
  %x = load double, ptr %v
  %y = fmul double %x, %f
  store double %y, ptr %v
  %z = fmul double %y, %x
  ret double %z
}

define double @memory(ptr %a, ptr %b) {
  %local = alloca double
  store double 3.0, ptr %local
  %r = call double @scale_by(ptr %a, ptr %b)
  %s = call double @scale_by(ptr %a, ptr %local)
  %a1 = getelementptr double, ptr %a, i64 1
  %t = call double @scale_by(ptr %a1, ptr %b)
  %rs = fmul double %r, %s
  %rst = fadd double %rs, %t
  ret double %rst
}

define internal double @twice(ptr %p) {
  %a = load double, ptr %p
  %b = fmul double %a, 2.0
  ret double %b
}

define double @chain(double %x) {
  %l = alloca double
  store double %x, ptr %l
  %a = call double @twice(ptr %l)
  store double %a, ptr %l
  %b = call double @twice(ptr %l)
  %c = fmul double %a, %b
  ret double %c
}

; Overwrites what it was called with, after the call read it.
define internal void @square_in_place(ptr %p) {
  %a = load double, ptr %p
  %b = fmul double %a, %a
  store double %b, ptr %p
  ret void
}

define void @writes(ptr %v) {
  %v1 = getelementptr double, ptr %v, i64 1
  call void @square_in_place(ptr %v)
  call void @square_in_place(ptr %v1)
  call void @square_in_place(ptr %v)
  %x = load double, ptr %v
  %y = load double, ptr %v1
  %z = fdiv double %x, %y
  store double %z, ptr %v
  ret void
}

define double @unused_result(double %x) {
  %l = alloca double
  store double %x, ptr %l
  call void @square_in_place(ptr %l)
  %unused = call double @scale_by(ptr %l, ptr %l)
  %y = load double, ptr %l
  ret double %y
}
