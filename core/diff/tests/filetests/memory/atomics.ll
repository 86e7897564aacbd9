; Atomic accesses of active memory by one thread.
; grad: @loads_and_stores([1.5, 2.0], 0.5)
; grad: @add([1.5], 2.5)
; grad: @subtract([1.5], 2.5)
; grad: @exchange([1.5], 2.5)
; grad: @exchange_bits([1.5], 2.5)
; grad: @larger([1.5], 2.5)
; grad: @larger([3.5], 2.5)
; grad: @smaller([1.5], 2.5)
; grad: @smaller([3.5], 2.5)
; grad: @volatile([1.5], 2.5)
; error[Unsupported]: @compared([1.5], 2.5)
; error[Unsupported]: @compared([1.5], 2.5) forward

define double @loads_and_stores(ptr %p, double %x) {
  %a = load atomic double, ptr %p seq_cst, align 8
  %b = fmul double %a, %x
  %q = getelementptr double, ptr %p, i64 1
  %c = load atomic double, ptr %q monotonic, align 8
  store atomic double %b, ptr %q release, align 8
  %d = load double, ptr %q
  %e = fmul double %d, %c
  store atomic double %e, ptr %p seq_cst, align 8
  %f = fmul double %e, %b
  ret double %f
}

define double @add(ptr %p, double %x) {
  %y = fmul double %x, %x
  %old = atomicrmw fadd ptr %p, double %y seq_cst
  %new = load double, ptr %p
  %a = fmul double %new, %old
  %b = fmul double %a, %x
  ret double %b
}

define double @subtract(ptr %p, double %x) {
  %y = fmul double %x, %x
  %old = atomicrmw fsub ptr %p, double %y monotonic
  %new = load double, ptr %p
  %a = fmul double %new, %old
  store double %a, ptr %p
  ret double %a
}

define double @exchange(ptr %p, double %x) {
  %old = atomicrmw xchg ptr %p, double %x seq_cst
  %new = load double, ptr %p
  %a = fmul double %new, %old
  %b = fmul double %a, %new
  ret double %b
}

define double @exchange_bits(ptr %p, double %x) {
  %bits = bitcast double %x to i64
  %were = atomicrmw xchg ptr %p, i64 %bits seq_cst
  %old = bitcast i64 %were to double
  %new = load double, ptr %p
  %a = fmul double %new, %old
  %b = fmul double %a, %new
  ret double %b
}

define double @larger(ptr %p, double %x) {
  %y = fmul double %x, 1.125
  %old = atomicrmw fmax ptr %p, double %y seq_cst
  %new = load double, ptr %p
  %a = fmul double %new, %old
  ret double %a
}

define double @smaller(ptr %p, double %x) {
  %y = fmul double %x, 1.125
  %old = atomicrmw fmin ptr %p, double %y seq_cst
  %new = load double, ptr %p
  %a = fmul double %new, %new
  ret double %a
}

define double @volatile(ptr %p, double %x) {
  %a = load volatile double, ptr %p
  %b = fmul double %a, %x
  store volatile double %b, ptr %p
  %c = load volatile double, ptr %p
  %d = fmul double %c, %a
  ret double %d
}

define double @compared(ptr %p, double %x) {
  %a = load double, ptr %p
  %b = fmul double %a, %x
  %from = bitcast double %a to i64
  %to = bitcast double %b to i64
  %r = cmpxchg ptr %p, i64 %from, i64 %to seq_cst seq_cst
  %c = load double, ptr %p
  ret double %c
}
