; A structure of a pointer and a float that is constant meets one that is active: its pointer is its own shadow, its float has
; no tangent.
; grad: @merged(1.5, i1 0)
; grad: @merged(1.5, i1 1)
; grad: @passed(1.5, i1 0)
; grad: @passed(1.5, i1 1)

define internal { ptr, double } @constant(ptr %p) {
  %a = insertvalue { ptr, double } poison, ptr %p, 0
  %b = insertvalue { ptr, double } %a, double 0.5, 1
  ret { ptr, double } %b
}

define internal { ptr, double } @active(ptr %p, double %x) {
  %y = fmul double %x, %x
  %a = insertvalue { ptr, double } poison, ptr %p, 0
  %b = insertvalue { ptr, double } %a, double %y, 1
  ret { ptr, double } %b
}

define double @merged(double %x, i1 %which) {
  %slot = alloca i32
  store i32 3, ptr %slot
  br i1 %which, label %one, label %other
one:
  %a = call { ptr, double } @constant(ptr %slot)
  br label %out
other:
  %b = call { ptr, double } @active(ptr %slot, double %x)
  br label %out
out:
  %both = phi { ptr, double } [ %a, %one ], [ %b, %other ]
  %y = extractvalue { ptr, double } %both, 1
  %z = fmul double %y, %x
  ret double %z
}

define internal double @second({ ptr, double } %both) {
  %y = extractvalue { ptr, double } %both, 1
  %z = fmul double %y, %y
  ret double %z
}

define double @passed(double %x, i1 %which) {
  %slot = alloca i32
  store i32 3, ptr %slot
  %a = call { ptr, double } @constant(ptr %slot)
  %b = call { ptr, double } @active(ptr %slot, double %x)
  %both = select i1 %which, { ptr, double } %a, { ptr, double } %b
  %y = call double @second({ ptr, double } %both)
  %z = fmul double %y, %x
  ret double %z
}
