; Invokes, landing pads and cleanups: the interpreter does not unwind, so what is seen is the way without exceptions, in
; functions that are whole.
; grad: @validated(1.5)
; grad: @called_twice(1.5)
; grad: @loop([1.5, 0.5], i32 5)
; grad: @allocates(1.5)
; grad: @plain([0.5, 0.3], i32 3)
; grad: @catches([1.5, 0.5])

declare i32 @__gxx_personality_v0(...)
declare ptr @__cxa_begin_catch(ptr)
declare void @__cxa_end_catch()
declare ptr @__cxa_allocate_exception(i64)
declare void @__cxa_throw(ptr, ptr, ptr)
declare noalias ptr @_Znwm(i64)
declare void @_ZdlPv(ptr) nounwind
declare double @sin(double) nounwind

define double @checked(double %x) {
entry:
  %bad = fcmp olt double %x, 0.0
  br i1 %bad, label %fail, label %good
fail:
  %e = call ptr @__cxa_allocate_exception(i64 8)
  call void @__cxa_throw(ptr %e, ptr null, ptr null)
  unreachable
good:
  %y = fmul double %x, %x
  %z = fmul double %y, %x
  ret double %z
}

define double @validated(double %x) personality ptr @__gxx_personality_v0 {
entry:
  %v = invoke double @checked(double %x) to label %ok unwind label %pad
ok:
  %w = fmul double %v, %x
  ret double %w
pad:
  %e = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %e
}

define double @called_twice(double %x) personality ptr @__gxx_personality_v0 {
entry:
  %v = invoke double @checked(double %x) to label %ok unwind label %pad
ok:
  %a = fmul double %v, %x
  %w = invoke double @checked(double %a) to label %ok2 unwind label %pad
ok2:
  br label %out
pad:
  %p = phi double [ %x, %entry ], [ %a, %ok ]
  %e = landingpad { ptr, i32 } catch ptr null
  %o = extractvalue { ptr, i32 } %e, 0
  %c = call ptr @__cxa_begin_catch(ptr %o)
  call void @__cxa_end_catch()
  %q = fmul double %p, %p
  br label %out
out:
  %r = phi double [ %w, %ok2 ], [ %q, %pad ]
  %s = fmul double %r, %x
  ret double %s
}

define double @loop(ptr %x, i32 %n) personality ptr @__gxx_personality_v0 {
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %i1, %latch ]
  %s = phi double [ 0.5, %entry ], [ %s2, %latch ]
  %k = and i32 %i, 1
  %at = getelementptr double, ptr %x, i32 %k
  %a = load double, ptr %at
  %b = fmul double %s, %a
  %v = invoke double @checked(double %b) to label %ok unwind label %pad
ok:
  %w = fadd double %v, %a
  br label %latch
pad:
  %e = landingpad { ptr, i32 } catch ptr null
  %o = extractvalue { ptr, i32 } %e, 0
  %c = call ptr @__cxa_begin_catch(ptr %o)
  call void @__cxa_end_catch()
  %t = call double @sin(double %b)
  br label %latch
latch:
  %s2 = phi double [ %w, %ok ], [ %t, %pad ]
  %i1 = add i32 %i, 1
  %more = icmp slt i32 %i1, %n
  br i1 %more, label %head, label %exit
exit:
  %out = phi double [ %s2, %latch ]
  ret double %out
}

; The allocation may throw, and is freed on both ways.
define double @allocates(double %x) personality ptr @__gxx_personality_v0 {
entry:
  %p = invoke ptr @_Znwm(i64 8) to label %made unwind label %pad
made:
  %y = fmul double %x, %x
  store double %y, ptr %p
  %v = invoke double @checked(double %y) to label %ok unwind label %cleanup
ok:
  %z = load double, ptr %p
  %w = fmul double %v, %z
  call void @_ZdlPv(ptr %p)
  ret double %w
cleanup:
  %f = landingpad { ptr, i32 } cleanup
  call void @_ZdlPv(ptr %p)
  resume { ptr, i32 } %f
pad:
  %e = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %e
}

; Plain calls that may throw, in a loop that keeps values.
define double @plain(ptr %x, i32 %n) {
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %i1, %head ]
  %s = phi double [ 0.5, %entry ], [ %w, %head ]
  %k = and i32 %i, 1
  %at = getelementptr double, ptr %x, i32 %k
  %a = load double, ptr %at
  %b = fmul double %s, %a
  %v = call double @checked(double %b)
  %w = fadd double %v, %a
  store double %w, ptr %at
  %i1 = add i32 %i, 1
  %more = icmp slt i32 %i1, %n
  br i1 %more, label %head, label %exit
exit:
  %out = phi double [ %w, %head ]
  ret double %out
}

define double @catches(ptr %x) personality ptr @__gxx_personality_v0 {
entry:
  %a = load double, ptr %x
  %at = getelementptr double, ptr %x, i64 1
  %b = load double, ptr %at
  %c = fcmp olt double %a, %b
  br i1 %c, label %then, label %else
then:
  %v = invoke double @checked(double %a) to label %vok unwind label %pad
vok:
  br label %join
else:
  %w = invoke double @checked(double %b) to label %wok unwind label %pad
wok:
  br label %join
pad:
  %e = landingpad { ptr, i32 } catch ptr null
  %o = extractvalue { ptr, i32 } %e, 0
  %h = call ptr @__cxa_begin_catch(ptr %o)
  call void @__cxa_end_catch()
  %p = fmul double %a, %b
  br label %join
join:
  %r = phi double [ %v, %vok ], [ %w, %wok ], [ %p, %pad ]
  store double %r, ptr %x
  %q = fmul double %r, %b
  ret double %q
}
