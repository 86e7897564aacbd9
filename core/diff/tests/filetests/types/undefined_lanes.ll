; Lanes that hold nothing and that nobody reads: what they do to the adjoints of the other operand's lanes, which somebody does read.
; grad: @by_constant(1.5)
; grad: @by_value(1.5, 2.5)
; grad: @in_a_loop(1.5, i32 3)

define double @by_constant(double %x) {
  %a = insertelement <2 x double> poison, double %x, i32 0
  %v = shufflevector <2 x double> %a, <2 x double> poison, <2 x i32> zeroinitializer
  %m = fmul <2 x double> %v, <double 0.5, double poison>
  %d = fdiv <2 x double> %v, <double poison, double 4.0>
  %s = shufflevector <2 x double> %m, <2 x double> %d, <2 x i32> <i32 0, i32 3>
  %first = extractelement <2 x double> %s, i32 0
  %second = extractelement <2 x double> %s, i32 1
  %r = fmul double %first, %second
  ret double %r
}

define double @by_value(double %x, double %y) {
  %a = insertelement <2 x double> poison, double %x, i32 0
  %v = insertelement <2 x double> %a, double %y, i32 1
  %w = shufflevector <2 x double> %v, <2 x double> poison, <2 x i32> <i32 1, i32 poison>
  %q = fdiv <2 x double> %v, %w
  %p = fmul <2 x double> %q, %v
  %first = extractelement <2 x double> %p, i32 0
  %second = extractelement <2 x double> %v, i32 1
  %r = fmul double %first, %second
  ret double %r
}

define double @in_a_loop(double %x, i32 %n) {
entry:
  %a = insertelement <2 x double> poison, double %x, i32 0
  %v = insertelement <2 x double> %a, double 2.0, i32 1
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %j, %loop ]
  %sum = phi <2 x double> [ %a, %entry ], [ %next, %loop ]
  %last = phi <2 x double> [ %v, %entry ], [ %both, %loop ]
  %next = fmul <2 x double> %sum, %last
  %both = fadd <2 x double> %last, %v
  %j = add i32 %i, 1
  %more = icmp slt i32 %j, %n
  br i1 %more, label %loop, label %out
out:
  %product = phi <2 x double> [ %next, %loop ]
  %total = phi <2 x double> [ %both, %loop ]
  %first = extractelement <2 x double> %product, i32 0
  %second = extractelement <2 x double> %total, i32 1
  %r = fmul double %first, %second
  ret double %r
}
