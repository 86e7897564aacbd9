; error[E0203]: "active data carried by an exception"
; flags: -enzyme-inline-count=0
; The exception object holds the square of the argument, and is read where it is caught.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

@_ZTId = external constant ptr

declare double @__enzyme_autodiff(ptr, ...)
declare i32 @__gxx_personality_v0(...)
declare ptr @__cxa_allocate_exception(i64)
declare void @__cxa_throw(ptr, ptr, ptr)
declare ptr @__cxa_begin_catch(ptr)
declare void @__cxa_end_catch()

define internal double @thrower(double %x) {
entry:
  %big = fcmp ogt double %x, 1.0
  br i1 %big, label %fail, label %good
fail:
  %e = call ptr @__cxa_allocate_exception(i64 8)
  %y = fmul double %x, %x
  store double %y, ptr %e
  call void @__cxa_throw(ptr %e, ptr @_ZTId, ptr null)
  unreachable
good:
  ret double %x
}

define internal double @catcher(double %x) personality ptr @__gxx_personality_v0 {
entry:
  %v = invoke double @thrower(double %x) to label %ok unwind label %pad
ok:
  ret double %v
pad:
  %e = landingpad { ptr, i32 } catch ptr @_ZTId
  %o = extractvalue { ptr, i32 } %e, 0
  %c = call ptr @__cxa_begin_catch(ptr %o)
  %w = load double, ptr %c
  call void @__cxa_end_catch()
  ret double %w
}

define double @gradient(double %x) {
  %d = call double (ptr, ...) @__enzyme_autodiff(ptr @catcher, double %x)
  ret double %d
}
