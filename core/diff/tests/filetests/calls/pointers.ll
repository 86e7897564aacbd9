; Calls through pointers, after the direct calls of the functions that are known to fit: the last branch is not reached, and
; is no obstacle. Objects and tables of functions are read without shadows of the pointers to code.
; needs-facts: without the fact that the last branch is one, it is a call of something unknown
; fallback: @choice %other
; fallback: @object %other
; grad: @choice(1.5, i1 0)
; grad: @choice(1.5, i1 1)
; grad: @object([1.5, 2.0])

@table = internal constant [3 x ptr] [ptr null, ptr null, ptr @square]

define internal double @square(double %x) {
  %y = fmul double %x, %x
  ret double %y
}

define internal double @cube(double %x) {
  %y = fmul double %x, %x
  %z = fmul double %y, %x
  ret double %z
}

define double @choice(double %x, i1 %which) {
  %f = select i1 %which, ptr @square, ptr @cube
  %is_square = icmp eq ptr %f, @square
  br i1 %is_square, label %first, label %more
first:
  %a = call double @square(double %x)
  br label %out
more:
  %is_cube = icmp eq ptr %f, @cube
  br i1 %is_cube, label %second, label %rest
second:
  %b = call double @cube(double %x)
  br label %out
rest:
  %other = call double %f(double %x)
  br label %out
out:
  %r = phi double [ %a, %first ], [ %b, %second ], [ %other, %rest ]
  %s = fmul double %r, %x
  ret double %s
}

define double @object(ptr %x) {
  %o = alloca { ptr, double }
  %point = getelementptr i8, ptr @table, i64 8
  store ptr %point, ptr %o
  %field = getelementptr i8, ptr %o, i64 8
  %v = load double, ptr %x
  store double %v, ptr %field
  %next = getelementptr double, ptr %x, i64 1
  %w = load double, ptr %next
  %t = load ptr, ptr %o
  %slot = getelementptr i8, ptr %t, i64 8
  %f = load ptr, ptr %slot
  %u = load double, ptr %field
  %is_square = icmp eq ptr %f, @square
  br i1 %is_square, label %first, label %rest
first:
  %a = call double @square(double %u)
  br label %out
rest:
  %other = call double %f(double %u)
  br label %out
out:
  %r = phi double [ %a, %first ], [ %other, %rest ]
  %s = fmul double %r, %w
  ret double %s
}
