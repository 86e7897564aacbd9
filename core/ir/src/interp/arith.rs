//! Integer arithmetic of any width up to 128 bits.
//!
//! Values are zero-extended bit patterns. A result that LLVM calls poison (a shift by the width or more, a broken
//! promise of `nsw` and its like) is some number; undefined behaviour (division by zero or overflowing) is an error.

use super::shape::cut;
use crate::op::{BinOp, IntPred, RmwOp};

/// The two's complement reading of a pattern.
pub(super) fn signed(value: u128, bits: u32) -> i128 {
    let shift = 128 - bits.clamp(1, 128);
    ((value << shift) as i128) >> shift
}

/// `a op b`, cut to the width.
pub(super) fn binary(op: BinOp, bits: u32, a: u128, b: u128) -> Result<u128, &'static str> {
    let in_range = b < u128::from(bits);
    let value = match op {
        BinOp::Add => a.wrapping_add(b),
        BinOp::Sub => a.wrapping_sub(b),
        BinOp::Mul => a.wrapping_mul(b),
        BinOp::UDiv => a.checked_div(b).ok_or("division by zero")?,
        BinOp::URem => a.checked_rem(b).ok_or("division by zero")?,
        BinOp::SDiv | BinOp::SRem => {
            let (x, y) = (signed(a, bits), signed(b, bits));
            if y == 0 {
                return Err("division by zero");
            }
            if y == -1 && x == signed(1 << (bits.clamp(1, 128) - 1), bits) {
                return Err("overflow in signed division");
            }
            if op == BinOp::SDiv { x.wrapping_div(y) as u128 } else { x.wrapping_rem(y) as u128 }
        }
        BinOp::Shl if in_range => a << b,
        BinOp::LShr if in_range => a >> b,
        BinOp::AShr if in_range => (signed(a, bits) >> b) as u128,
        BinOp::Shl | BinOp::LShr | BinOp::AShr => 0,
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
        BinOp::FAdd | BinOp::FSub | BinOp::FMul | BinOp::FDiv | BinOp::FRem => {
            return Err("float arithmetic on integers");
        }
    };
    Ok(cut(value, bits))
}

/// Whether `a pred b`.
pub(super) fn compare(pred: IntPred, bits: u32, a: u128, b: u128) -> bool {
    let (x, y) = (signed(a, bits), signed(b, bits));
    match pred {
        IntPred::Eq => a == b,
        IntPred::Ne => a != b,
        IntPred::Ugt => a > b,
        IntPred::Uge => a >= b,
        IntPred::Ult => a < b,
        IntPred::Ule => a <= b,
        IntPred::Sgt => x > y,
        IntPred::Sge => x >= y,
        IntPred::Slt => x < y,
        IntPred::Sle => x <= y,
    }
}

/// A function of one integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unary {
    Abs,
    CountOnes,
    LeadingZeros,
    TrailingZeros,
    SwapBytes,
    ReverseBits,
}

/// `op a`, cut to the width.
pub(super) fn unary(op: Unary, bits: u32, a: u128) -> u128 {
    let unused = 128 - bits.clamp(1, 128);
    let value = match op {
        Unary::Abs => signed(a, bits).unsigned_abs(),
        Unary::CountOnes => u128::from(a.count_ones()),
        Unary::LeadingZeros => u128::from(a.leading_zeros().saturating_sub(unused)),
        Unary::TrailingZeros => u128::from(a.trailing_zeros().min(bits)),
        Unary::SwapBytes => a.swap_bytes() >> unused,
        Unary::ReverseBits => a.reverse_bits() >> unused,
    };
    cut(value, bits)
}

/// A function of two integers that no instruction computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pair {
    SMin,
    SMax,
    UMin,
    UMax,
    SAddSat,
    UAddSat,
    SSubSat,
    USubSat,
    SShlSat,
    UShlSat,
    /// -1, 0 or 1.
    SCompare,
    UCompare,
}

/// `op(a, b)` of operands of `bits`.
pub(super) fn pair(op: Pair, bits: u32, a: u128, b: u128) -> u128 {
    let (x, y) = (signed(a, bits), signed(b, bits));
    let smin = signed(1 << (bits.clamp(1, 128) - 1), bits);
    let smax = !smin;
    let umax = cut(u128::MAX, bits);
    let value = match op {
        Pair::SMin => x.min(y) as u128,
        Pair::SMax => x.max(y) as u128,
        Pair::UMin => a.min(b),
        Pair::UMax => a.max(b),
        Pair::SAddSat => x.saturating_add(y).clamp(smin, smax) as u128,
        Pair::SSubSat => x.saturating_sub(y).clamp(smin, smax) as u128,
        Pair::UAddSat => a.saturating_add(b).min(umax),
        Pair::USubSat => a.saturating_sub(b),
        Pair::UShlSat => {
            let moved = if b < 128 { a << b } else { 0 };
            let lossless = b < 128 && (moved >> b) == a && moved <= umax;
            if lossless { moved } else { umax }
        }
        Pair::SShlSat => {
            let moved = if b < 128 { x << b } else { 0 };
            let lossless = b < 128 && (moved >> b) == x && moved == moved.clamp(smin, smax);
            let edge = if x < 0 { smin } else { smax };
            (if lossless { moved } else { edge }) as u128
        }
        Pair::SCompare => x.cmp(&y) as i8 as u128,
        Pair::UCompare => a.cmp(&b) as i8 as u128,
    };
    // A three-way comparison has a result type of its own; its caller cuts.
    if matches!(op, Pair::SCompare | Pair::UCompare) { value } else { cut(value, bits) }
}

/// `a op b` with the flag of `llvm.*.with.overflow`; `op` is an addition, subtraction or multiplication.
pub(super) fn overflowing(op: BinOp, is_signed: bool, bits: u32, a: u128, b: u128) -> (u128, bool) {
    let (x, y) = (signed(a, bits), signed(b, bits));
    if is_signed {
        let (value, wrapped) = match op {
            BinOp::Sub => x.overflowing_sub(y),
            BinOp::Mul => x.overflowing_mul(y),
            _ => x.overflowing_add(y),
        };
        let result = cut(value as u128, bits);
        return (result, wrapped || signed(result, bits) != value);
    }
    let (value, wrapped) = match op {
        BinOp::Sub => a.overflowing_sub(b),
        BinOp::Mul => a.overflowing_mul(b),
        _ => a.overflowing_add(b),
    };
    (cut(value, bits), wrapped || cut(value, bits) != value)
}

/// The upper (`left`) or lower half of `a:b` after a shift by `count` modulo the width.
pub(super) fn funnel(left: bool, bits: u32, a: u128, b: u128, count: u128) -> u128 {
    let by = (count % u128::from(bits.max(1))) as u32;
    let value = match (left, by) {
        (true, 0) => a,
        (false, 0) => b,
        (true, by) => (a << by) | (b >> (bits - by)),
        (false, by) => (a << (bits - by)) | (b >> by),
    };
    cut(value, bits)
}

/// What an integer `atomicrmw` stores over `old`.
pub(super) fn read_modify_write(op: RmwOp, bits: u32, old: u128, new: u128) -> Result<u128, &'static str> {
    Ok(match op {
        RmwOp::Xchg => new,
        RmwOp::Add => cut(old.wrapping_add(new), bits),
        RmwOp::Sub => cut(old.wrapping_sub(new), bits),
        RmwOp::And => old & new,
        RmwOp::Nand => cut(!(old & new), bits),
        RmwOp::Or => old | new,
        RmwOp::Xor => old ^ new,
        RmwOp::Max => pair(Pair::SMax, bits, old, new),
        RmwOp::Min => pair(Pair::SMin, bits, old, new),
        RmwOp::UMax => old.max(new),
        RmwOp::UMin => old.min(new),
        RmwOp::UIncWrap => cut(if old >= new { 0 } else { old.wrapping_add(1) }, bits),
        RmwOp::UDecWrap => {
            if old == 0 || old > new {
                new
            } else {
                old - 1
            }
        }
        RmwOp::USubCond => {
            if old >= new {
                old - new
            } else {
                old
            }
        }
        RmwOp::USubSat => old.saturating_sub(new),
        RmwOp::FAdd | RmwOp::FSub | RmwOp::FMax | RmwOp::FMin | RmwOp::FMaximum | RmwOp::FMinimum => {
            return Err("float operation on integer memory");
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_widths_agree_with_exhaustive_reading() {
        for a in 0u128..16 {
            for b in 0u128..16 {
                let (x, y) = (signed(a, 4), signed(b, 4));
                assert_eq!(binary(BinOp::Sub, 4, a, b), Ok((x - y) as u128 & 15));
                assert_eq!(binary(BinOp::Mul, 4, a, b), Ok((x * y) as u128 & 15));
                assert_eq!(compare(IntPred::Slt, 4, a, b), x < y);
                assert_eq!(pair(Pair::SAddSat, 4, a, b), (x + y).clamp(-8, 7) as u128 & 15);
                assert_eq!(pair(Pair::USubSat, 4, a, b), a.saturating_sub(b));
                let (value, flag) = overflowing(BinOp::Mul, true, 4, a, b);
                assert_eq!((value, flag), ((x * y) as u128 & 15, !(-8..8).contains(&(x * y))));
                let (_, flag) = overflowing(BinOp::Sub, false, 4, a, b);
                assert_eq!(flag, a < b);
                if y != 0 && !(x == -8 && y == -1) {
                    assert_eq!(binary(BinOp::SDiv, 4, a, b), Ok((x / y) as u128 & 15));
                    assert_eq!(binary(BinOp::SRem, 4, a, b), Ok((x % y) as u128 & 15));
                } else {
                    assert!(binary(BinOp::SDiv, 4, a, b).is_err());
                }
            }
        }
    }

    #[test]
    fn full_width() {
        let min = 1u128 << 127;
        assert!(binary(BinOp::SDiv, 128, min, u128::MAX).is_err());
        assert_eq!(binary(BinOp::AShr, 128, min, 127), Ok(u128::MAX));
        assert_eq!(pair(Pair::SAddSat, 128, min, min), min);
        assert_eq!(overflowing(BinOp::Mul, false, 128, min, 2), (0, true));
        assert_eq!(unary(Unary::LeadingZeros, 128, 0), 128);
    }

    #[test]
    fn bit_functions() {
        assert_eq!(unary(Unary::LeadingZeros, 8, 1), 7);
        assert_eq!(unary(Unary::TrailingZeros, 8, 0), 8);
        assert_eq!(unary(Unary::SwapBytes, 32, 0x1234_5678), 0x7856_3412);
        assert_eq!(unary(Unary::ReverseBits, 8, 0b1101), 0b1011_0000);
        assert_eq!(unary(Unary::Abs, 8, 0x80), 0x80);
        assert_eq!(funnel(true, 8, 0x12, 0x34, 4), 0x23);
        assert_eq!(funnel(false, 8, 0x12, 0x34, 12), 0x23);
        assert_eq!(funnel(true, 8, 0x12, 0x34, 8), 0x12);
        assert_eq!(pair(Pair::SShlSat, 8, 0x40, 1), 0x7f);
        assert_eq!(pair(Pair::SShlSat, 8, 0xc0, 2), 0x80);
        assert_eq!(pair(Pair::UShlSat, 8, 0x81, 1), 0xff);
    }
}
