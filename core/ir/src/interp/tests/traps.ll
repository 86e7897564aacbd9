; What cannot be run says so, and only when it is reached.

declare i32 @mystery(i32)
declare void @abort()
declare void @llvm.trap()
declare i32 @exit_like(i32)

define i32 @unknown(i1 %c, i32 %x) {
  br i1 %c, label %call, label %skip
call:
  %r = call i32 @mystery(i32 %x)
  ret i32 %r
skip:
  ret i32 %x
}
; @f(i1 0, i32 3) = i32 3
; @f(i1 1, i32 3) traps `mystery`

define void @aborts() {
  call void @abort()
  unreachable
}
; @f() traps abort

define void @stops() {
  call void @llvm.trap()
  unreachable
}
; @f() traps llvm.trap

define i32 @assembly(i32 %x) {
  %r = call i32 asm "addl $$1, $0", "=r,0"(i32 %x)
  ret i32 %r
}
; @f(i32 1) traps asm

define i32 @barrier(i32 %x) {
  call void asm sideeffect "", "~{memory}"()
  ret i32 %x
}
; @f(i32 1) = i32 1

define void @endless() {
  br label %loop
loop:
  %a = alloca [1000000 x i64]
  br label %loop
}
; @f() traps memory
