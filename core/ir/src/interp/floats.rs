//! Floating-point arithmetic on encodings of every format.
//!
//! `float` and `double` are computed by the processor, the other formats by `rustc_apfloat`, all rounded once to
//! nearest, ties to even (IEEE 754-2019). `ppc_fp128` is the exception: it is computed in binary128 and split into
//! two doubles again, which is at least as exact as the usual double-double algorithms but not equal to them in
//! the last bits. Payloads of NaNs are not promised.

use rustc_apfloat::ieee::{BFloat, Double, Half, Quad, Single, X87DoubleExtended};
use rustc_apfloat::{Float, FloatConvert, Round};

use super::arith;
use super::shape::cut;
use crate::op::{BinOp, FloatPred};
use crate::types::FloatKind;

fn from_ppc(bits: u128) -> Quad {
    let wide = |b: u128| -> Quad { Double::from_bits(b & u128::from(u64::MAX)).convert(&mut false).value };
    let (high, low) = (wide(bits), wide(bits >> 64));
    if low.is_zero() || !high.is_finite() { high } else { (high + low).value }
}

fn to_ppc(value: Quad) -> u128 {
    let high: Double = value.convert(&mut false).value;
    if !high.is_finite() || high.is_zero() {
        return high.to_bits();
    }
    let back: Quad = high.convert(&mut false).value;
    let low: Double = (value - back).value.convert(&mut false).value;
    high.to_bits() | (low.to_bits() << 64)
}

/// Runs `$body` with the software type of a format, its decoder and its encoder.
macro_rules! with_format {
    ($kind:expr, |$get:ident, $put:ident| $body:expr) => {
        match $kind {
            FloatKind::Half => {
                let ($get, $put) = (Half::from_bits, Half::to_bits);
                $body
            }
            FloatKind::BFloat => {
                let ($get, $put) = (BFloat::from_bits, BFloat::to_bits);
                $body
            }
            FloatKind::Float => {
                let ($get, $put) = (Single::from_bits, Single::to_bits);
                $body
            }
            FloatKind::Double => {
                let ($get, $put) = (Double::from_bits, Double::to_bits);
                $body
            }
            FloatKind::X86Fp80 => {
                let ($get, $put) = (X87DoubleExtended::from_bits, X87DoubleExtended::to_bits);
                $body
            }
            FloatKind::Fp128 => {
                let ($get, $put) = (Quad::from_bits, Quad::to_bits);
                $body
            }
            FloatKind::PpcFp128 => {
                let ($get, $put) = (from_ppc, to_ppc);
                $body
            }
        }
    };
}

/// An encoding as `f64`, correctly rounded.
#[inline]
pub(super) fn to_f64(kind: FloatKind, bits: u128) -> f64 {
    match kind {
        FloatKind::Double => f64::from_bits(bits as u64),
        FloatKind::Float => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(convert(kind, FloatKind::Double, bits) as u64),
    }
}

/// An `f64` in another format, correctly rounded.
#[inline]
pub(super) fn from_f64(kind: FloatKind, value: f64) -> u128 {
    match kind {
        FloatKind::Double => u128::from(value.to_bits()),
        FloatKind::Float => u128::from((value as f32).to_bits()),
        _ => convert(FloatKind::Double, kind, u128::from(value.to_bits())),
    }
}

/// Changes the format.
pub(super) fn convert(from: FloatKind, to: FloatKind, bits: u128) -> u128 {
    with_format!(from, |get, _put| {
        let value = get(bits);
        match to {
            FloatKind::Half => FloatConvert::<Half>::convert(value, &mut false).value.to_bits(),
            FloatKind::BFloat => FloatConvert::<BFloat>::convert(value, &mut false).value.to_bits(),
            FloatKind::Float => FloatConvert::<Single>::convert(value, &mut false).value.to_bits(),
            FloatKind::Double => FloatConvert::<Double>::convert(value, &mut false).value.to_bits(),
            FloatKind::X86Fp80 => FloatConvert::<X87DoubleExtended>::convert(value, &mut false).value.to_bits(),
            FloatKind::Fp128 => FloatConvert::<Quad>::convert(value, &mut false).value.to_bits(),
            FloatKind::PpcFp128 => to_ppc(FloatConvert::<Quad>::convert(value, &mut false).value),
        }
    })
}

/// `a op b`; integer operations give zero.
pub(super) fn binary(kind: FloatKind, op: BinOp, a: u128, b: u128) -> u128 {
    macro_rules! native {
        ($float:ty, $bits:ty) => {{
            let (x, y) = (<$float>::from_bits(a as $bits), <$float>::from_bits(b as $bits));
            let value = match op {
                BinOp::FAdd => x + y,
                BinOp::FSub => x - y,
                BinOp::FMul => x * y,
                BinOp::FDiv => x / y,
                BinOp::FRem => x % y,
                _ => 0.0,
            };
            u128::from(value.to_bits())
        }};
    }
    match kind {
        FloatKind::Double => native!(f64, u64),
        FloatKind::Float => native!(f32, u32),
        _ => with_format!(kind, |get, put| {
            let (x, y) = (get(a), get(b));
            match op {
                BinOp::FAdd => put((x + y).value),
                BinOp::FSub => put((x - y).value),
                BinOp::FMul => put((x * y).value),
                BinOp::FDiv => put((x / y).value),
                BinOp::FRem => put((x % y).value),
                _ => 0,
            }
        }),
    }
}

/// `a * b + c`, rounded once.
pub(super) fn fma(kind: FloatKind, a: u128, b: u128, c: u128) -> u128 {
    match kind {
        FloatKind::Double => {
            let [x, y, z] = [a, b, c].map(|v| f64::from_bits(v as u64));
            u128::from(x.mul_add(y, z).to_bits())
        }
        FloatKind::Float => {
            let [x, y, z] = [a, b, c].map(|v| f32::from_bits(v as u32));
            u128::from(x.mul_add(y, z).to_bits())
        }
        _ => with_format!(kind, |get, put| put(get(a).mul_add(get(b), get(c)).value)),
    }
}

/// The bit that holds the sign.
pub(super) fn sign_bit(kind: FloatKind) -> u128 {
    match kind {
        // The sign of a double-double is that of its first half.
        FloatKind::PpcFp128 => 1 << 63,
        _ => 1 << (kind.bits() - 1),
    }
}

/// `-a`.
pub(super) fn negate(kind: FloatKind, a: u128) -> u128 {
    match kind {
        FloatKind::PpcFp128 => a ^ ((1 << 63) | (1 << 127)),
        _ => a ^ sign_bit(kind),
    }
}

/// `|a|`.
pub(super) fn absolute(kind: FloatKind, a: u128) -> u128 {
    if a & sign_bit(kind) != 0 { negate(kind, a) } else { a }
}

/// `a` with the sign of `b`.
pub(super) fn copy_sign(kind: FloatKind, a: u128, b: u128) -> u128 {
    if (a ^ b) & sign_bit(kind) != 0 { negate(kind, a) } else { a }
}

/// Whether `a` is a NaN.
pub(super) fn is_nan(kind: FloatKind, a: u128) -> bool {
    with_format!(kind, |get, _put| get(a).is_nan())
}

/// Whether `a pred b`.
pub(super) fn compare(kind: FloatKind, pred: FloatPred, a: u128, b: u128) -> bool {
    let order = match kind {
        FloatKind::Double => f64::from_bits(a as u64).partial_cmp(&f64::from_bits(b as u64)),
        FloatKind::Float => f32::from_bits(a as u32).partial_cmp(&f32::from_bits(b as u32)),
        _ => with_format!(kind, |get, _put| get(a).partial_cmp(&get(b))),
    };
    let holds = |equal: bool, less: bool, greater: bool| match order {
        Some(std::cmp::Ordering::Equal) => equal,
        Some(std::cmp::Ordering::Less) => less,
        Some(std::cmp::Ordering::Greater) => greater,
        None => false,
    };
    let unordered = order.is_none();
    match pred {
        FloatPred::False => false,
        FloatPred::Oeq => holds(true, false, false),
        FloatPred::Ogt => holds(false, false, true),
        FloatPred::Oge => holds(true, false, true),
        FloatPred::Olt => holds(false, true, false),
        FloatPred::Ole => holds(true, true, false),
        FloatPred::One => holds(false, true, true),
        FloatPred::Ord => !unordered,
        FloatPred::Uno => unordered,
        FloatPred::Ueq => unordered || holds(true, false, false),
        FloatPred::Ugt => unordered || holds(false, false, true),
        FloatPred::Uge => unordered || holds(true, false, true),
        FloatPred::Ult => unordered || holds(false, true, false),
        FloatPred::Ule => unordered || holds(true, true, false),
        FloatPred::Une => unordered || holds(false, true, true),
        FloatPred::True => true,
    }
}

/// An integer of `bits` as a float.
pub(super) fn from_int(kind: FloatKind, signed: bool, bits: u32, value: u128) -> u128 {
    let wide = arith::signed(value, bits);
    match (kind, signed) {
        (FloatKind::Double, true) => u128::from((wide as f64).to_bits()),
        (FloatKind::Double, false) => u128::from((value as f64).to_bits()),
        (FloatKind::Float, true) => u128::from((wide as f32).to_bits()),
        (FloatKind::Float, false) => u128::from((value as f32).to_bits()),
        _ => with_format!(kind, |get, put| {
            // The decoder is named only to fix the type.
            let mut number = get(0);
            number = if signed {
                same_type(number, Float::from_i128(wide).value)
            } else {
                same_type(number, Float::from_u128(value).value)
            };
            put(number)
        }),
    }
}

fn same_type<T>(_: T, value: T) -> T {
    value
}

/// A float as an integer of `bits`, towards zero. Out of range it is what saturates at the limits of the width,
/// and zero for NaN, if `saturate`; otherwise the value is poison and we give what x86-64 usually leaves.
pub(super) fn to_int(kind: FloatKind, signed: bool, bits: u32, value: u128, saturate: bool) -> u128 {
    let bits = bits.clamp(1, 128);
    if !saturate && bits <= 64 && matches!(kind, FloatKind::Double | FloatKind::Float) {
        let x = to_f64(kind, value);
        let narrow = signed && bits <= 32;
        let limit = if narrow { 2_147_483_648.0 } else { 9_223_372_036_854_775_808.0 };
        let indefinite = if narrow { i64::from(i32::MIN) } else { i64::MIN };
        if !signed && x >= limit {
            return cut(u128::from(x as u64), bits);
        }
        let inside = x.trunc() >= -limit && x.trunc() < limit;
        return cut(if inside { x as i64 } else { indefinite } as u128, bits);
    }
    with_format!(kind, |get, _put| {
        let x = get(value);
        if x.is_nan() {
            return 0;
        }
        let width = bits as usize;
        let found = if signed {
            x.to_i128_r(width, Round::TowardZero, &mut false).value as u128
        } else {
            x.to_u128_r(width, Round::TowardZero, &mut false).value
        };
        cut(found, bits)
    })
}

/// Rounding to an integral value, exact in every format.
pub(super) fn round_to_integral(kind: FloatKind, a: u128, round: Round) -> u128 {
    with_format!(kind, |get, put| put(get(a).round_to_integral(round).value))
}

/// `a * 2^n`.
pub(super) fn scale(kind: FloatKind, a: u128, n: i32) -> u128 {
    with_format!(kind, |get, put| put(get(a).scalbn(n)))
}

/// Fraction in [0.5, 1) and exponent; zero, infinity and NaN keep themselves and exponent zero.
pub(super) fn split(kind: FloatKind, a: u128) -> (u128, i32) {
    with_format!(kind, |get, put| {
        let x = get(a);
        if x.is_zero() || !x.is_finite() {
            return (a, 0);
        }
        let mut exponent = 0;
        let fraction = x.frexp(&mut exponent);
        (put(fraction), exponent)
    })
}

/// Exponent of a finite number other than zero.
pub(super) fn exponent(kind: FloatKind, a: u128) -> i32 {
    split(kind, a).1 - 1
}

/// IEEE remainder: `a - n b` with `n` the integer nearest to `a / b`.
pub(super) fn remainder(kind: FloatKind, a: u128, b: u128) -> u128 {
    with_format!(kind, |get, put| put(get(a).ieee_rem(get(b)).value))
}

/// The neighbour of `a` towards `b`.
pub(super) fn next_after(kind: FloatKind, a: u128, b: u128) -> u128 {
    if is_nan(kind, a) || compare(kind, FloatPred::Oeq, a, b) {
        return b;
    }
    let up = compare(kind, FloatPred::Olt, a, b);
    with_format!(kind, |get, put| put(if up { get(a).next_up().value } else { get(a).next_down().value }))
}

/// Square root: a first guess in `f64`, then Heron's iteration in the format itself, which is correct up to the
/// last bit.
pub(super) fn square_root(kind: FloatKind, a: u128) -> u128 {
    match kind {
        FloatKind::Half | FloatKind::BFloat | FloatKind::Double => from_f64(kind, to_f64(kind, a).sqrt()),
        FloatKind::Float => u128::from(f32::from_bits(a as u32).sqrt().to_bits()),
        FloatKind::X86Fp80 | FloatKind::Fp128 | FloatKind::PpcFp128 => {
            let negative = a & sign_bit(kind) != 0;
            let zero = compare(kind, FloatPred::Oeq, a, 0);
            let (fraction, exponent) = split(kind, a);
            let guess = to_f64(kind, fraction).sqrt();
            if zero || negative || !guess.is_finite() || to_f64(kind, fraction) == f64::INFINITY {
                return if zero || !negative { a } else { from_f64(kind, f64::NAN) };
            }
            // An even exponent comes out of the root whole.
            let odd = exponent.rem_euclid(2);
            let x = convert(kind, FloatKind::Fp128, scale(kind, fraction, odd));
            let wide = FloatKind::Fp128;
            let mut root = from_f64(wide, to_f64(wide, x).sqrt());
            for _ in 0..3 {
                let sum = binary(wide, BinOp::FAdd, root, binary(wide, BinOp::FDiv, x, root));
                root = scale(wide, sum, -1);
            }
            convert(wide, kind, scale(wide, root, (exponent - odd) / 2))
        }
    }
}

/// Bits of `llvm.is.fpclass` and of C's classification.
pub(super) fn class(kind: FloatKind, a: u128) -> u32 {
    let negative = a & sign_bit(kind) != 0;
    with_format!(kind, |get, _put| {
        let x = get(a);
        if x.is_nan() {
            return if x.is_signaling() { 1 } else { 2 };
        }
        let (minus, plus) = if x.is_infinite() {
            (2, 9)
        } else if x.is_zero() {
            (5, 6)
        } else if x.is_denormal() {
            (4, 7)
        } else {
            (3, 8)
        };
        1 << if negative { minus } else { plus }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_is_exact_in_every_format() {
        for kind in FloatKind::ALL {
            let [one, three, half] = [1.0, 3.0, 0.5].map(|x| from_f64(kind, x));
            assert_eq!(to_f64(kind, binary(kind, BinOp::FAdd, one, half)), 1.5, "{kind:?}");
            assert_eq!(to_f64(kind, binary(kind, BinOp::FMul, three, half)), 1.5);
            assert_eq!(to_f64(kind, binary(kind, BinOp::FRem, three, from_f64(kind, 1.25))), 0.5);
            assert_eq!(to_f64(kind, negate(kind, three)), -3.0);
            assert_eq!(to_f64(kind, absolute(kind, negate(kind, three))), 3.0);
            assert_eq!(to_f64(kind, square_root(kind, from_f64(kind, 2.25))), 1.5);
            assert!(compare(kind, FloatPred::Olt, half, one));
            assert!(compare(kind, FloatPred::Uno, one, from_f64(kind, f64::NAN)));
            assert_eq!(to_f64(kind, from_int(kind, true, 8, 0xfd)), -3.0);
            assert_eq!(to_int(kind, true, 8, from_f64(kind, -3.5), false), 0xfd);
            assert_eq!(to_int(kind, false, 8, from_f64(kind, 300.0), true), 255);
            assert_eq!(split(kind, from_f64(kind, 6.0)), (from_f64(kind, 0.75), 3));
            assert_eq!(class(kind, from_f64(kind, -0.0)), 1 << 5);
            assert_eq!(class(kind, from_f64(kind, f64::INFINITY)), 1 << 9);
        }
    }

    #[test]
    fn half_rounds_to_eleven_bits() {
        let kind = FloatKind::Half;
        let third = binary(kind, BinOp::FDiv, from_f64(kind, 1.0), from_f64(kind, 3.0));
        assert_eq!(third, 0x3555);
        // 2^-11 is a tie beside one and goes to even; the least bit more goes up.
        let (x, one) = (from_f64(kind, 2f64.powi(-6)), from_f64(kind, 1.0));
        let tie = fma(kind, x, from_f64(kind, 2f64.powi(-5)), one);
        let above = fma(kind, x, from_f64(kind, 2f64.powi(-5) * (1.0 + 2f64.powi(-10))), one);
        assert_eq!((tie, above), (0x3c00, 0x3c01));
    }

    #[test]
    fn extended_precision_keeps_64_bits() {
        let kind = FloatKind::X86Fp80;
        let third = binary(kind, BinOp::FDiv, from_f64(kind, 1.0), from_f64(kind, 3.0));
        assert_eq!(third, 0x3ffd_aaaa_aaaa_aaaa_aaab);
        // sqrt(2) to 64 bits: 0xb504f333f9de6484.
        assert_eq!(square_root(kind, from_f64(kind, 2.0)), 0x3fff_b504_f333_f9de_6484);
        assert_eq!(to_f64(kind, square_root(kind, from_f64(kind, 1e-300))), 1e-150);
    }

    #[test]
    fn native_conversions_out_of_range() {
        let bits = |x: f64| u128::from(x.to_bits());
        assert_eq!(to_int(FloatKind::Double, true, 32, bits(1e10), false), 0x8000_0000);
        assert_eq!(to_int(FloatKind::Double, false, 64, bits(1e19), false), 10_000_000_000_000_000_000);
        assert_eq!(to_int(FloatKind::Double, true, 64, bits(f64::NAN), false), 1 << 63);
        assert_eq!(to_int(FloatKind::Double, true, 32, bits(f64::NAN), true), 0);
    }
}
