source_filename = "everything.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

%pair = type { i32, double }
%outer = type <{ i8, %pair, [2 x %pair] }>
%hidden = type opaque
%"odd name" = type { ptr }

@zero = internal global [4 x double] zeroinitializer, align 16
@numbers = internal constant [3 x i32] [i32 1, i32 -2, i32 3], align 4
@text = constant [6 x i8] c"a\22b\\\0A\00"
@pair = global %pair { i32 7, double 2.500000e+00 }, align 8
@packed = global %outer <{ i8 1, %pair zeroinitializer, [2 x %pair] [%pair { i32 1, double 1.000000e+00 }, %pair undef] }>
@outside = external global i64, align 8
@opaque = external global %hidden
@local = internal thread_local global i32 0
@shared = addrspace(3) global float 0.000000e+00
@table = constant [2 x ptr] [ptr @simple, ptr null]
@"odd global" = global %"odd name" { ptr @"odd global" }
@part = global ptr getelementptr inbounds ([4 x double], ptr @zero, i64 0, i64 2)
@moved = global ptr getelementptr nusw nuw (i8, ptr @zero, i64 8)
@number = global i64 ptrtoint (ptr @zero to i64)
@distance = global i64 sub (i64 ptrtoint (ptr @zero to i64), i64 ptrtoint (ptr @numbers to i64))
@elsewhere = global ptr addrspacecast (ptr addrspace(3) @shared to ptr)
@labels = internal constant [2 x ptr] [ptr blockaddress(@jump, %one), ptr blockaddress(@jump, %two)]
@weird = global [3 x half] [half 0xH3C00, half 0xH7C01, half 0xH8000]
@brain = global bfloat 0xR3F80
@extended = global x86_fp80 0xK3FFF8000000000000000
@quad = global fp128 0xL00000000000000003FFF000000000000
@double_double = global ppc_fp128 0xM3FF00000000000000000000000000000
@inexact = global double 0x3FD5555555555555
@tenth = global double 1.000000e-01
@infinite = global float 0x7FF0000000000000
@wide = global i128 -170141183460469231731687303715884105728
@odd = global i7 -3
@0 = internal global i8 1

declare double @sin(double)

declare void @take(ptr noalias readonly captures(none), ptr writeonly, ptr readnone) nounwind memory(argmem: readwrite)

declare void @returns(ptr sret(%pair), ptr byval(%outer))

declare i32 @printf(ptr, ...)

declare extern_weak void @maybe()

declare fastcc i32 @pure(i32) nounwind memory(none) "enzyme_inactive"

declare void @looks(ptr) memory(read)

declare void @fills(ptr) memory(write)

declare void @sees(ptr) memory(argmem: read)

declare void @puts_in(ptr) memory(argmem: write)

declare void @abort() noreturn

declare i32 @__gxx_personality_v0(...)

declare i32 @__CxxFrameHandler3(...)

declare void @llvm.experimental.noalias.scope.decl(metadata)

declare double @llvm.experimental.constrained.fadd.f64(double, double, metadata, metadata)

declare void @llvm.assume(i1)

declare x86_amx @llvm.x86.tileloadd64.internal(i16, i16, ptr, i64)

declare i1 @llvm.coro.end(ptr, i1, token)

define double @simple(double %x, ptr noalias %p) {
entry:
  %a = fadd fast double %x, 1.000000e+00
  %b = fneg nnan double %a
  %c = fmul reassoc ninf nsz arcp contract afn double %b, %a
  store double %c, ptr %p, align 8
  ret double %c
}

define i32 @integers(i32 %0, i32 %1, i64 %2) {
  %4 = add nuw nsw i32 %0, %1
  %5 = sub nsw i32 %4, 1
  %6 = mul nuw i32 %5, %5
  %7 = udiv exact i32 %6, 3
  %8 = sdiv i32 %7, -3
  %9 = urem i32 %8, 5
  %10 = srem i32 %9, 5
  %11 = shl nuw nsw i32 %10, 2
  %12 = lshr exact i32 %11, 1
  %13 = ashr i32 %12, 1
  %14 = and i32 %13, 255
  %15 = or disjoint i32 %14, 256
  %16 = xor i32 %15, -1
  %17 = trunc nuw nsw i64 %2 to i32
  %18 = zext nneg i32 %17 to i64
  %19 = sext i32 %16 to i64
  %20 = icmp samesign ult i64 %18, %19
  %21 = icmp ne i32 %0, 0
  %22 = select i1 %20, i1 %21, i1 false
  %23 = freeze i1 %22
  %24 = zext i1 %23 to i32
  ret i32 %24
}

define <2 x double> @floats(float %f, double %d, x86_fp80 %l, <2 x double> %v) {
  %1 = fpext fast float %f to double
  %2 = fptrunc double %d to float
  %3 = fptoui float %2 to i32
  %4 = fptosi double %1 to i64
  %5 = uitofp nneg i32 %3 to double
  %6 = sitofp i64 %4 to double
  %7 = fsub double %5, %6
  %8 = fdiv arcp double %7, %d
  %9 = frem double %8, 3.000000e+00
  %10 = fcmp nnan olt double %9, 0.000000e+00
  %11 = fcmp true double %9, %9
  %12 = select fast i1 %10, double %9, double -0.000000e+00
  %13 = bitcast double %12 to i64
  %14 = insertelement <2 x double> %v, double %12, i32 1
  %15 = extractelement <2 x double> %14, i64 0
  %16 = shufflevector <2 x double> %14, <2 x double> poison, <4 x i32> <i32 0, i32 3, i32 poison, i32 1>
  %17 = shufflevector <4 x double> %16, <4 x double> %16, <2 x i32> zeroinitializer
  %18 = fadd <2 x double> %17, splat (double 5.000000e-01)
  %19 = fadd <2 x double> %18, <double 1.000000e+00, double 0x7FF8000000000000>
  %20 = call fast double @sin(double %15)
  ret <2 x double> %19
}

define <vscale x 2 x double> @scalable(<vscale x 2 x double> %v) {
  %1 = fadd <vscale x 2 x double> %v, splat (double 2.000000e+00)
  %2 = fmul <vscale x 2 x double> %1, shufflevector (<vscale x 2 x double> insertelement (<vscale x 2 x double> poison, double 2.000000e+00, i64 1), <vscale x 2 x double> poison, <vscale x 2 x i32> zeroinitializer)
  ret <vscale x 2 x double> %2
}

define void @memory(ptr %p, i64 %n, ptr %list, <2 x ptr> %many) {
entry:
  %slot = alloca %pair, align 8
  %array = alloca double, i64 %n, align 16
  %far = alloca i32, align 4, addrspace(5)
  %field = getelementptr inbounds nuw %pair, ptr %slot, i32 0, i32 1
  %v = load volatile double, ptr %field, align 8, !enzyme.mem !{!"primal"}
  store double %v, ptr %array, align 4, !enzyme.mem !{!"shadow"}
  %t = load double, ptr %p, align 8, !enzyme.mem !{!"tape"}
  %each = getelementptr %pair, <2 x ptr> %many, i64 1
  %fan = getelementptr i8, ptr %p, <2 x i64> <i64 0, i64 8>
  %i = load atomic i32, ptr %p seq_cst, align 4
  store atomic volatile i32 %i, ptr %p release, align 4
  fence acquire
  %swap = cmpxchg weak volatile ptr %p, i32 %i, i32 0 acq_rel monotonic, align 4
  %old = extractvalue { i32, i1 } %swap, 0
  %both = insertvalue { i32, i1 } %swap, i32 1, 0
  %sum = atomicrmw fadd ptr %p, double %v seq_cst, align 8
  %max = atomicrmw volatile umax ptr %p, i32 %old monotonic, align 4
  %next = va_arg ptr %list, double
  %to = inttoptr i64 %n to ptr
  %from = ptrtoint ptr %to to i64
  %address = ptrtoaddr ptr %to to i64
  %space = addrspacecast ptr %p to ptr addrspace(1)
  call void @returns(ptr %slot, ptr %p)
  ret void
}

define i32 @flow(i32 %n, ptr %where) !enzyme.loc !0 {
entry:
  switch i32 %n, label %loop [
    i32 0, label %done
    i32 -1, label %done
    i32 7, label %odd.block
  ]

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n, !enzyme.loc !1
  br i1 %more, label %loop, label %done, !enzyme.loc !3

odd.block:
  br label %"block with spaces"

"block with spaces":
  indirectbr ptr %where, [label %done, label %never]

done:
  %r = phi i32 [ %next, %loop ], [ 5, %"block with spaces" ], [ 6, %entry ], [ 6, %entry ]
  ret i32 %r

never:
  call void @abort()
  unreachable
}

define ptr @jump(i1 %c) {
  br i1 %c, label %one, label %two

one:
  ret ptr @0

two:
  ret ptr null
}

define weak i32 @calls(ptr %f, ...) noreturn nounwind {
  %1 = tail call i32 (ptr, ...) @printf(ptr @text, double 1.000000e+00)
  %2 = musttail call i32 (ptr, ...) @calls.2(ptr %f, ...)
  ret i32 %2
}

define internal i32 @calls.2(ptr %f, ...) {
  %1 = call fastcc i32 @pure(i32 1)
  %2 = notail call cc 10 double %f(double 2.000000e+00, ptr @local)
  call void asm sideeffect "nop # $0", "r,~{memory}"(i32 %1)
  call void @llvm.assume(i1 true) [ "ignore"(ptr %f, i64 8) ]
  call void @llvm.experimental.noalias.scope.decl(metadata !4)
  %3 = call double @llvm.experimental.constrained.fadd.f64(double %2, double 1.000000e+00, metadata !"round.tonearest", metadata !"fpexcept.strict")
  callbr void asm "", "!i"()
          to label %4 [label %5]

4:
  ret i32 poison

5:
  ret i32 undef
}

define void @unwinds(ptr %f) personality ptr @__gxx_personality_v0 {
entry:
  %v = invoke i32 @pure(i32 1)
          to label %next unwind label %pad

next:
  invoke void %f(i32 %v)
          to label %end unwind label %pad

pad:
  %e = landingpad { ptr, i32 }
          cleanup
          catch ptr @numbers
          filter [1 x ptr] [ptr @zero]
  resume { ptr, i32 } %e

end:
  ret void
}

define void @unwinds_elsewhere(ptr %f) personality ptr @__CxxFrameHandler3 {
entry:
  invoke void %f()
          to label %end unwind label %switch

switch:
  %s = catchswitch within none [label %handler] unwind label %cleanup

handler:
  %c = catchpad within %s [ptr null, i32 64, ptr null]
  catchret from %c to label %end

cleanup:
  %k = cleanuppad within none []
  cleanupret from %k unwind to caller

end:
  ret void
}

define coldcc void @kinds(target("spirv.Image", void, i32, 0, 1) %g, { i32, <{}> } %s, {} %n) {
  ret void
}

!0 = !{!"everything.c", !"flow", i32 3, i32 0}
!1 = !{!"everything.c", !"flow", i32 5, i32 7}
!2 = !{!"everything.c", !"flow", i32 9, i32 1}
!3 = !{!"other.h", !"inlined \22here\22", i32 1, i32 2, !2}
!4 = !{!{!"node 4", !{!"imported"}}}
