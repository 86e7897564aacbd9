; Where doubles and pointers take turns in one place, a copied word is told by its bits when the derivative runs.
; grad: @by_register([1.5, 2.5], i1 1)
; grad: @by_register([0.0, 0.0], i1 1)
; grad: @by_register([1.5, 2.5], i1 0)
; grad: @by_copy([1.5, 2.5], i1 1)
; grad: @by_copy([1.5, 2.5], i1 0)
; grad: @swapped([1.5, 2.5])
; grad: @shifted([1.5, 2.5])
; error[UnknownType]: @of_floats([1.5, 2.5], i1 1)

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)

define void @put(ptr %cell, ptr %x, ptr %box, i1 %number) {
  %a = load double, ptr %x
  %q = getelementptr double, ptr %x, i64 1
  %b = load double, ptr %q
  %v = fmul double %a, %b
  br i1 %number, label %float, label %boxed
float:
  store double %v, ptr %cell
  br label %out
boxed:
  store double %b, ptr %box
  store ptr %box, ptr %cell
  br label %out
out:
  ret void
}

define double @take(ptr %cell, i1 %number) {
  br i1 %number, label %float, label %boxed
float:
  %v = load double, ptr %cell
  %s = fmul double %v, %v
  br label %out
boxed:
  %box = load ptr, ptr %cell
  %b = load double, ptr %box
  %c = fmul double %b, 3.0
  br label %out
out:
  %r = phi double [ %s, %float ], [ %c, %boxed ]
  ret double %r
}

define double @by_register(ptr %x, i1 %number) {
  %box = alloca double
  %cell = alloca i64
  %other = alloca i64
  call void @put(ptr %cell, ptr %x, ptr %box, i1 %number)
  %w = load i64, ptr %cell
  store i64 %w, ptr %other
  store i64 0, ptr %cell
  %r = call double @take(ptr %other, i1 %number)
  ret double %r
}

define double @by_copy(ptr %x, i1 %number) {
  %box = alloca double
  %cell = alloca i64
  %other = alloca i64
  call void @put(ptr %cell, ptr %x, ptr %box, i1 %number)
  call void @llvm.memcpy.p0.p0.i64(ptr %other, ptr %cell, i64 8, i1 false)
  %r = call double @take(ptr %other, i1 %number)
  ret double %r
}

; A number and a box change places.
define double @swapped(ptr %x) {
  %box = alloca double
  %one = alloca i64
  %two = alloca i64
  call void @put(ptr %one, ptr %x, ptr %box, i1 1)
  call void @put(ptr %two, ptr %x, ptr %box, i1 0)
  %v = load i64, ptr %one
  %w = load i64, ptr %two
  store i64 %w, ptr %one
  store i64 %v, ptr %two
  %a = call double @take(ptr %two, i1 1)
  %b = call double @take(ptr %one, i1 0)
  %r = fmul double %a, %b
  ret double %r
}

; Both move within one piece of memory, there and back.
define double @shifted(ptr %x) {
  %box = alloca double
  %m = alloca [3 x i64]
  %second = getelementptr i64, ptr %m, i64 1
  %third = getelementptr i64, ptr %m, i64 2
  call void @put(ptr %m, ptr %x, ptr %box, i1 1)
  call void @put(ptr %second, ptr %x, ptr %box, i1 0)
  call void @llvm.memmove.p0.p0.i64(ptr %second, ptr %m, i64 16, i1 false)
  %a = call double @take(ptr %second, i1 1)
  call void @llvm.memmove.p0.p0.i64(ptr %m, ptr %second, i64 16, i1 false)
  %b = call double @take(ptr %second, i1 0)
  %c = call double @take(ptr %m, i1 1)
  %ab = fmul double %a, %b
  %r = fadd double %ab, %c
  ret double %r
}

; Half a word is no double and no pointer.
define double @of_floats(ptr %x, i1 %number) {
  %box = alloca double
  %cell = alloca i64
  %other = alloca i64
  call void @put(ptr %cell, ptr %x, ptr %box, i1 %number)
  %half = load float, ptr %other
  call void @llvm.memcpy.p0.p0.i64(ptr %other, ptr %cell, i64 8, i1 false)
  %r = call double @take(ptr %other, i1 %number)
  %h = fpext float %half to double
  %s = fadd double %r, %h
  ret double %s
}
