; What cannot be differentiated is refused by name.
; error[UnknownCall]: @unknown(1.5)
; error[UnknownCall]: @unknown(1.5) forward
; error[UnknownCall]: @unknown_memory([1.5])
; error[IndirectCall]: @indirect(1.5, null)
; error[LostInPinned]: @through_constant(1.5, const: [0.0])
; error[BitTrick]: @bit_trick(1.5)
; error[UnknownType]: @untyped([1.0, 2.0], [3.0, 4.0])
; error[Control]: @computed(1.5, i1 1)
; error[Control]: @two_entries(1.5, i1 1)
; error[Shape]: @two_returns(1.5, i1 1)
; error[Unsupported]: @atomic([1.5], 2.5)
; grad: @unknown_inactive(1.5)

declare double @mystery(double)
declare double @mystery_memory(ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define double @unknown(double %x) {
  %y = call double @mystery(double %x)
  ret double %y
}

define double @unknown_memory(ptr %p) {
  %y = call double @mystery_memory(ptr %p)
  ret double %y
}

define double @unknown_inactive(double %x) {
  %c = fcmp ogt double %x, 0.0
  %y = fmul double %x, %x
  br i1 %c, label %out, label %never
never:
  %z = call double @mystery(double 1.0)
  br label %out
out:
  %r = phi double [ %y, %0 ], [ %z, %never ]
  ret double %r
}

define double @indirect(double %x, ptr %f) {
  %y = call double %f(double %x)
  ret double %y
}

define double @through_constant(double %x, ptr %c) {
  store double %x, ptr %c
  %y = load double, ptr %c
  ret double %y
}

define double @bit_trick(double %x) {
  %b = bitcast double %x to i64
  %c = xor i64 %b, -9223372036854775808
  %d = bitcast i64 %c to double
  ret double %d
}

define void @untyped(ptr %d, ptr %s) {
  call void @llvm.memcpy.p0.p0.i64(ptr %d, ptr %s, i64 16, i1 false)
  ret void
}

define double @computed(double %x, i1 %c) {
entry:
  %t = select i1 %c, ptr blockaddress(@computed, %a), ptr blockaddress(@computed, %b)
  indirectbr ptr %t, [label %a, label %b]
a:
  br label %out
b:
  br label %out
out:
  %r = phi double [ %x, %a ], [ 2.0, %b ]
  ret double %r
}

define double @two_entries(double %x, i1 %c) {
entry:
  br i1 %c, label %a, label %b
a:
  %p = phi double [ %x, %entry ], [ %q, %b ]
  %pp = fmul double %p, %x
  %big = fcmp ogt double %pp, 9.0
  br i1 %big, label %out, label %b
b:
  %q = phi double [ %x, %entry ], [ %pp, %a ]
  br label %a
out:
  ret double %pp
}

define double @two_returns(double %x, i1 %c) {
entry:
  br i1 %c, label %a, label %b
a:
  ret double %x
b:
  %y = fmul double %x, %x
  ret double %y
}

define double @atomic(ptr %p, double %x) {
  %from = bitcast double %x to i64
  %r = cmpxchg ptr %p, i64 0, i64 %from seq_cst seq_cst
  %new = load double, ptr %p
  ret double %new
}
