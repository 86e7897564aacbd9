; Every instruction and type of LLVM, and constants of every kind: the module goes through the mirror and comes back.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

%named = type { i32, [2 x double], <{ i8, i64 }> }
%opaque = type opaque

@number = global i37 -5
@wide = constant i200 1606938044258990275541962092341162602522202993782792835301399
@halves = constant [2 x half] [half 0xH3C00, half 0xHFE01]
@brain = constant bfloat 0xR3F80
@single = constant float 0x7FF0000020000000
@extended = constant x86_fp80 0xK3FFF8000000000000001
@quad = constant fp128 0xL00000000000000013FFF000000000000
@pair = constant ppc_fp128 0xM3FF00000000000003C90000000000000
@text = private unnamed_addr constant [6 x i8] c"hello\00"
@struct = global %named { i32 1, [2 x double] [double 1.0, double -0.0], <{ i8, i64 }> <{ i8 3, i64 4 }> }, align 32
@vector = constant <4 x i32> <i32 1, i32 undef, i32 poison, i32 4>
@zeros = global [100 x %named] zeroinitializer
@address = global ptr getelementptr inbounds (i8, ptr @zeros, i64 12)
@difference = global i64 sub (i64 ptrtoint (ptr @address to i64), i64 ptrtoint (ptr @number to i64))
@itself = global ptr @itself
@function = global ptr @arithmetic
@block = global ptr blockaddress(@jumps, %second)
@space = addrspace(1) global i32 0
@outside = external global i32
@thread = thread_local global i32 7
@alias = alias i37, ptr @number

declare double @callee(double, ...)
declare i32 @__gxx_personality_v0(...)
declare i32 @__CxxFrameHandler3(...)
declare void @may_throw()
declare void @llvm.assume(i1)
declare double @llvm.fma.f64(double, double, double)

define { i64, double } @arithmetic(i64 %a, i64 %b, double %x, float %y) {
  %1 = add nuw nsw i64 %a, %b
  %2 = sub i64 %1, 3
  %3 = mul nsw i64 %2, %2
  %4 = udiv exact i64 %3, 3
  %5 = sdiv i64 %4, 5
  %6 = urem i64 %5, 7
  %7 = srem i64 %6, 9
  %8 = shl nuw i64 %7, 2
  %9 = lshr exact i64 %8, 1
  %10 = ashr i64 %9, 1
  %11 = and i64 %10, 255
  %12 = or disjoint i64 %11, 256
  %13 = xor i64 %12, -1
  %f1 = fadd fast double %x, 1.0
  %f2 = fsub reassoc nnan double %f1, %x
  %f3 = fmul ninf nsz double %f2, 2.0
  %f4 = fdiv arcp contract double %f3, %x
  %f5 = frem afn double %f4, 3.0
  %f6 = fneg double %f5
  %t = trunc nuw nsw i64 %13 to i32
  %z = zext nneg i32 %t to i64
  %s = sext i32 %t to i64
  %fu = fptoui double %f6 to i64
  %fs = fptosi double %f6 to i64
  %uf = uitofp nneg i64 %z to double
  %sf = sitofp i64 %s to double
  %ft = fptrunc double %uf to float
  %fe = fpext float %ft to double
  %bits = bitcast double %fe to i64
  %c = icmp samesign ult i64 %bits, %a
  %d = fcmp nnan ueq double %sf, %fe
  %e = select i1 %c, i64 %fu, i64 %fs
  %g = freeze i64 %e
  %h = select fast i1 %d, double %sf, double %fe
  %fma = call fast double @llvm.fma.f64(double %h, double %x, double %sf)
  call void @llvm.assume(i1 %d)
  %i = insertvalue { i64, double } poison, i64 %g, 0
  %j = insertvalue { i64, double } %i, double %fma, 1
  ret { i64, double } %j
}

define ptr addrspace(1) @memory(ptr %p, i64 %n, ptr addrspace(1) %q) {
  %slot = alloca %named, align 16
  %many = alloca double, i64 %n, align 8
  %one = load double, ptr %p, align 4, !range.like !0
  %two = load volatile i32, ptr %p, align 4, !range !1
  %three = load atomic i64, ptr %p acquire, align 8
  store double %one, ptr %many, align 1
  store atomic i32 %two, ptr %p release, align 4
  %field = getelementptr inbounds nuw %named, ptr %slot, i64 0, i32 1, i64 1
  %element = getelementptr nusw i32, ptr %p, i64 %n
  fence seq_cst
  %exchanged = cmpxchg weak volatile ptr %p, i64 %three, i64 5 acq_rel monotonic, align 8
  %old = extractvalue { i64, i1 } %exchanged, 0
  %r1 = atomicrmw volatile xchg ptr %p, i64 %old monotonic, align 8
  %r2 = atomicrmw fadd ptr %p, double %one seq_cst, align 8
  %r3 = atomicrmw umax ptr %p, i64 %r1 acquire, align 8
  %r4 = atomicrmw usub_sat ptr %p, i64 %r3 acq_rel, align 8
  %number = ptrtoint ptr %element to i64
  %pointer = inttoptr i64 %number to ptr
  %cast = addrspacecast ptr %pointer to ptr addrspace(1)
  %plain = load i32, ptr addrspace(1) %q, align 4
  store i32 %plain, ptr addrspace(1) @space
  %both = select i1 true, ptr addrspace(1) %cast, ptr addrspace(1) %q
  ret ptr addrspace(1) %both
}

define <4 x float> @vectors(<4 x float> %v, <vscale x 2 x double> %w, i32 %i, ptr %list) {
  %e = extractelement <4 x float> %v, i32 %i
  %n = insertelement <4 x float> %v, float %e, i64 2
  %s = shufflevector <4 x float> %v, <4 x float> %n, <4 x i32> <i32 0, i32 5, i32 poison, i32 7>
  %sv = fadd <vscale x 2 x double> %w, splat (double 1.0)
  %x = extractelement <vscale x 2 x double> %sv, i32 0
  %ps = getelementptr double, ptr %list, <4 x i64> <i64 0, i64 1, i64 2, i64 3>
  %a = va_arg ptr %list, i32
  %m = fcmp olt <4 x float> %s, splat (float 2.0)
  %r = select <4 x i1> %m, <4 x float> %s, <4 x float> zeroinitializer
  store <4 x ptr> %ps, ptr %list
  store double %x, ptr %list
  ret <4 x float> %r
}

define i32 @jumps(i32 %k, ptr %where) {
entry:
  switch i32 %k, label %first [
    i32 1, label %second
    i32 -7, label %third
    i32 9, label %third
  ]
first:
  indirectbr ptr %where, [label %second, label %third]
second:
  %p = phi i32 [ 1, %entry ], [ 2, %first ]
  br label %loop
loop:
  %i = phi i32 [ %p, %second ], [ %next, %loop ]
  %next = add i32 %i, 1
  %c = icmp slt i32 %next, 10
  br i1 %c, label %loop, label %fourth, !prof !2, !llvm.loop !3
third:
  %g = callbr i32 asm "", "=r,r,!i"(i32 %k) to label %fourth [label %fifth]
fourth:
  %r = phi i32 [ %next, %loop ], [ %g, %third ]
  ret i32 %r
fifth:
  unreachable
}

define double @calls(double %x, ptr %f, ptr %s) {
  %1 = tail call double (double, ...) @callee(double %x, i32 3, ptr @number)
  %2 = call fastcc double %f(double %1)
  call void asm sideeffect "nop", "~{memory}"()
  call void %f(ptr byval(%named) align 8 %s)
  %3 = notail call nsz double @llvm.fma.f64(double %2, double %2, double noundef %1)
  call void @may_throw() [ "deopt"(i32 1, double %3) ]
  ret double %3
}

define void @itanium() personality ptr @__gxx_personality_v0 {
  invoke void @may_throw() to label %done unwind label %pad
pad:
  %e = landingpad { ptr, i32 } cleanup catch ptr @number filter [1 x ptr] [ptr @outside]
  resume { ptr, i32 } %e
done:
  ret void
}

define void @windows() personality ptr @__CxxFrameHandler3 {
entry:
  invoke void @may_throw() to label %next unwind label %dispatch
next:
  invoke void @may_throw() to label %done unwind label %cleanup
dispatch:
  %cs = catchswitch within none [label %handler] unwind label %cleanup
handler:
  %cp = catchpad within %cs [ptr null, i32 64, ptr null]
  call void @may_throw() [ "funclet"(token %cp) ]
  catchret from %cp to label %done
cleanup:
  %clean = cleanuppad within none []
  call void @may_throw() [ "funclet"(token %clean) ]
  cleanupret from %clean unwind to caller
done:
  ret void
}

define target("spirv.DeviceEvent") @target(target("spirv.DeviceEvent") %t) {
  %f = freeze target("spirv.DeviceEvent") zeroinitializer
  ret target("spirv.DeviceEvent") %t
}

!0 = !{}
!1 = !{i32 0, i32 100}
!2 = !{!"branch_weights", i32 5, i32 1}
!3 = distinct !{!3}
