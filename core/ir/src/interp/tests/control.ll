; Branches, switches, phis, loops.

define i64 @fibonacci(i64 %n) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %head ]
  %a = phi i64 [ 0, %entry ], [ %b, %head ]
  %b = phi i64 [ 1, %entry ], [ %sum, %head ]
  %sum = add i64 %a, %b
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %head, label %done
done:
  ret i64 %b
}
; @f(i64 1) = i64 1
; @f(i64 10) = i64 55

define i32 @swap(i32 %n) {
entry:
  br label %head
head:
  %x = phi i32 [ 1, %entry ], [ %y, %head ]
  %y = phi i32 [ 2, %entry ], [ %x, %head ]
  %i = phi i32 [ %n, %entry ], [ %less, %head ]
  %less = sub i32 %i, 1
  %stop = icmp eq i32 %less, 0
  br i1 %stop, label %done, label %head
done:
  %z = mul i32 %x, 10
  %r = add i32 %z, %y
  ret i32 %r
}
; @f(i32 1) = i32 12
; @f(i32 2) = i32 21
; @f(i32 3) = i32 12

define i32 @cases(i8 %x) {
entry:
  switch i8 %x, label %other [ i8 1, label %one
                               i8 -1, label %minus
                               i8 100, label %one ]
one:
  %p = phi i32 [ 10, %entry ], [ 10, %entry ]
  ret i32 %p
minus:
  ret i32 20
other:
  ret i32 30
}
; @f(i8 1) = i32 10
; @f(i8 100) = i32 10
; @f(i8 -1) = i32 20
; @f(i8 0) = i32 30

define i32 @wide_cases(i128 %x) {
  switch i128 %x, label %other [ i128 -1, label %minus ]
minus:
  ret i32 1
other:
  ret i32 0
}
; @f(i128 -1) = i32 1
; @f(i128 18446744073709551615) = i32 0

define i32 @indirect(i1 %c) {
  %p = select i1 %c, ptr blockaddress(@indirect, %a), ptr blockaddress(@indirect, %b)
  indirectbr ptr %p, [label %a, label %b]
a:
  ret i32 1
b:
  ret i32 2
}
; @f(i1 1) = i32 1
; @f(i1 0) = i32 2

define void @nowhere() {
  unreachable
}
; @f() traps unreachable

define i32 @same_edge_twice(i1 %c) {
entry:
  br i1 %c, label %join, label %join
join:
  %r = phi i32 [ 7, %entry ], [ 7, %entry ]
  ret i32 %r
}
; @f(i1 1) = i32 7
