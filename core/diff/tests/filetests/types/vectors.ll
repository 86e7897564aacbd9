; Vectors: lanes put in, taken out, shuffled, selected; loads and stores of whole vectors.
; grad: @lanes(1.5, 2.5)
; grad: @argument(<1.5, 2.5>, 0.5)
; grad: @shuffled(<1.5, 2.5>, <3.0, -1.0>)
; grad: @selected(<1.5, -2.5>, <3.0, 1.0>)
; grad: @memory([1.0, 2.0, 3.0, 4.0])
; grad: @variable(<1.5, 2.5>, i32 1)
; grad: @result(1.5)

define double @lanes(double %x, double %y) {
  %a = insertelement <2 x double> poison, double %x, i32 0
  %b = insertelement <2 x double> %a, double %y, i32 1
  %c = fmul <2 x double> %b, %b
  %d = extractelement <2 x double> %c, i32 0
  %e = extractelement <2 x double> %c, i32 1
  %f = fmul double %d, %e
  ret double %f
}

define <2 x double> @argument(<2 x double> %v, double %x) {
  %a = insertelement <2 x double> %v, double %x, i32 0
  %b = fmul <2 x double> %a, %v
  ret <2 x double> %b
}

define <3 x double> @shuffled(<2 x double> %v, <2 x double> %w) {
  %a = shufflevector <2 x double> %v, <2 x double> %w, <3 x i32> <i32 3, i32 0, i32 0>
  %b = fmul <3 x double> %a, %a
  ret <3 x double> %b
}

define <2 x double> @selected(<2 x double> %v, <2 x double> %w) {
  %pos = fcmp ogt <2 x double> %v, zeroinitializer
  %a = fmul <2 x double> %v, %w
  %b = select <2 x i1> %pos, <2 x double> %a, <2 x double> %w
  %c = select i1 true, <2 x double> %b, <2 x double> %v
  ret <2 x double> %c
}

define <2 x double> @memory(ptr %p) {
  %v = load <2 x double>, ptr %p, align 8
  %q = getelementptr double, ptr %p, i64 1
  %x = load double, ptr %q
  %w = insertelement <2 x double> %v, double %x, i64 0
  %z = fmul <2 x double> %w, %v
  %r = getelementptr double, ptr %p, i64 2
  store <2 x double> %z, ptr %r, align 8
  store <2 x double> %v, ptr %q, align 8
  %last = load <2 x double>, ptr %r, align 8
  ret <2 x double> %last
}

define double @variable(<2 x double> %v, i32 %i) {
  %x = extractelement <2 x double> %v, i32 %i
  %y = fmul double %x, %x
  %w = insertelement <2 x double> %v, double %y, i32 %i
  %z = extractelement <2 x double> %w, i32 0
  %u = fmul double %y, %z
  ret double %u
}

declare <2 x double> @llvm.sin.v2f64(<2 x double>)

define <2 x double> @result(double %x) {
  %a = insertelement <2 x double> <double 1.0, double 2.0>, double %x, i32 1
  %b = call <2 x double> @llvm.sin.v2f64(<2 x double> %a)
  ret <2 x double> %b
}
