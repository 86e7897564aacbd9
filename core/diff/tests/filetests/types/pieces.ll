; Floats copied in pieces, as structures, and pointers that travel as integers.
; grad: @structure_copied([1.5, i64 3, 2.5], [0.5, i64 4, 1.0])
; grad: @pointer_stored_as_integer([1.5, 2.5])
; grad: @records([[1.5, 2.0], 2.5])

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

%record = type { double, i64, double }

define double @structure_copied(ptr %d, ptr %s) {
  %l = alloca %record
  call void @llvm.memcpy.p0.p0.i64(ptr %l, ptr %s, i64 24, i1 false)
  %nl = getelementptr %record, ptr %l, i64 0, i32 1
  %n = load i64, ptr %nl
  %f = sitofp i64 %n to double
  %x = load double, ptr %l
  %y = fmul double %x, %f
  store double %y, ptr %l
  call void @llvm.memcpy.p0.p0.i64(ptr %d, ptr %l, i64 24, i1 false)
  %dl = getelementptr %record, ptr %d, i64 0, i32 2
  %z = load double, ptr %dl
  %r = fmul double %z, %y
  ret double %r
}

define double @pointer_stored_as_integer(ptr %p) {
  %slot = alloca i64
  %i = ptrtoint ptr %p to i64
  store i64 %i, ptr %slot
  %j = load i64, ptr %slot
  %q = inttoptr i64 %j to ptr
  %x = load double, ptr %q
  %y = fmul double %x, %x
  store double %y, ptr %p
  ret double %y
}

; A structure of a pointer and a float is copied whole.
define double @records(ptr %r) {
  %l = alloca { ptr, double }
  call void @llvm.memcpy.p0.p0.i64(ptr %l, ptr %r, i64 16, i1 false)
  %p = load ptr, ptr %l
  %fl = getelementptr { ptr, double }, ptr %l, i64 0, i32 1
  %f = load double, ptr %fl
  %x = load double, ptr %p
  %y = fmul double %x, %f
  store double %y, ptr %p
  store double %y, ptr %fl
  call void @llvm.memcpy.p0.p0.i64(ptr %r, ptr %l, i64 16, i1 false)
  ret double %y
}
