; Integer arithmetic, comparison and bit operations of many widths.

define i32 @add(i32 %a, i32 %b) {
  %r = add nsw i32 %a, %b
  ret i32 %r
}
; @f(i32 2147483647, i32 1) = i32 -2147483648
; @f(i32 -1, i32 1) = i32 0

define i7 @sub7(i7 %a, i7 %b) {
  %r = sub i7 %a, %b
  ret i7 %r
}
; @f(i7 0, i7 1) = i7 127

define i64 @mul(i64 %a, i64 %b) {
  %r = mul i64 %a, %b
  ret i64 %r
}
; @f(i64 0x123456789abcdef, i64 16) = i64 0x123456789abcdef0

define i128 @wide(i128 %a, i128 %b) {
  %p = mul i128 %a, %b
  %q = sdiv i128 %p, -3
  %r = ashr i128 %q, 1
  ret i128 %r
}
; @f(i128 1000000000000000000000, i128 3) = i128 -500000000000000000000

define i100 @odd(i100 %a) {
  %x = shl i100 %a, 60
  %y = lshr i100 %x, 60
  %z = xor i100 %y, -1
  ret i100 %z
}
; @f(i100 0xabcdefabcdef) = i100 0xfffffffffffffff3210543210

define i32 @sdiv(i32 %a, i32 %b) {
  %r = sdiv i32 %a, %b
  ret i32 %r
}
; @f(i32 -7, i32 2) = i32 -3
; @f(i32 1, i32 0) traps division by zero
; @f(i32 -2147483648, i32 -1) traps overflow

define i8 @urem(i8 %a, i8 %b) {
  %q = udiv i8 %a, %b
  %r = urem i8 %a, %b
  %s = shl i8 %q, 4
  %t = or disjoint i8 %s, %r
  ret i8 %t
}
; @f(i8 100, i8 7) = i8 0xe2
; @f(i8 -16, i8 -1) = i8 0xf0

define i64 @srem(i64 %a, i64 %b) {
  %r = srem i64 %a, %b
  ret i64 %r
}
; @f(i64 -7, i64 3) = i64 -1

define i16 @shifts(i16 %a, i16 %n) {
  %x = ashr i16 %a, %n
  %y = lshr i16 %a, %n
  %z = shl i16 %a, %n
  %s = add i16 %x, %y
  %t = add i16 %s, %z
  ret i16 %t
}
; @f(i16 -256, i16 4) = i16 0xffe0
; @f(i16 -256, i16 16) = i16 -1

define i32 @compare(i32 %a, i32 %b) {
  %c0 = icmp eq i32 %a, %b
  %c1 = icmp ne i32 %a, %b
  %c2 = icmp ugt i32 %a, %b
  %c3 = icmp uge i32 %a, %b
  %c4 = icmp ult i32 %a, %b
  %c5 = icmp ule i32 %a, %b
  %c6 = icmp sgt i32 %a, %b
  %c7 = icmp sge i32 %a, %b
  %c8 = icmp slt i32 %a, %b
  %c9 = icmp sle i32 %a, %b
  %v0 = insertelement <10 x i1> poison, i1 %c0, i32 0
  %v1 = insertelement <10 x i1> %v0, i1 %c1, i32 1
  %v2 = insertelement <10 x i1> %v1, i1 %c2, i32 2
  %v3 = insertelement <10 x i1> %v2, i1 %c3, i32 3
  %v4 = insertelement <10 x i1> %v3, i1 %c4, i32 4
  %v5 = insertelement <10 x i1> %v4, i1 %c5, i32 5
  %v6 = insertelement <10 x i1> %v5, i1 %c6, i32 6
  %v7 = insertelement <10 x i1> %v6, i1 %c7, i32 7
  %v8 = insertelement <10 x i1> %v7, i1 %c8, i32 8
  %v9 = insertelement <10 x i1> %v8, i1 %c9, i32 9
  %bits = bitcast <10 x i1> %v9 to i10
  %r = zext i10 %bits to i32
  ret i32 %r
}
; @f(i32 1, i32 1) = i32 0x2a9
; @f(i32 -1, i32 1) = i32 0x30e
; @f(i32 1, i32 2) = i32 0x332

define i1 @compare_wide(i128 %a, i128 %b) {
  %r = icmp slt i128 %a, %b
  ret i1 %r
}
; @f(i128 -1, i128 0) = i1 1
; @f(i128 18446744073709551616, i128 1) = i1 0

define i32 @choose(i1 %c, i32 %a, i32 %b) {
  %r = select i1 %c, i32 %a, i32 %b
  %f = freeze i32 %r
  ret i32 %f
}
; @f(i1 1, i32 5, i32 6) = i32 5
; @f(i1 0, i32 5, i32 6) = i32 6

