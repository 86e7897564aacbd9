//! Encodings of the float formats, to and from `f64`.
//!
//! Rounding is to nearest, ties to even (IEEE 754-2019, 4.3.1). x87 and the two 128-bit formats hold every `f64`
//! exactly, so widening is exact; narrowing to `f64` rounds once.

use crate::types::FloatKind;

/// Exponent width, stored fraction width, whether the integer bit is explicit.
fn shape(kind: FloatKind) -> (u32, u32, bool) {
    match kind {
        FloatKind::Half => (5, 10, false),
        FloatKind::BFloat => (8, 7, false),
        FloatKind::Float => (8, 23, false),
        FloatKind::Double | FloatKind::PpcFp128 => (11, 52, false),
        FloatKind::X86Fp80 => (15, 63, true),
        FloatKind::Fp128 => (15, 112, false),
    }
}

/// The encoding of `value` in `kind`.
pub fn from_f64(kind: FloatKind, value: f64) -> u128 {
    match kind {
        FloatKind::Double | FloatKind::PpcFp128 => u128::from(value.to_bits()),
        FloatKind::Float => u128::from((value as f32).to_bits()),
        FloatKind::Half | FloatKind::BFloat => u128::from(narrow(kind, value)),
        FloatKind::X86Fp80 | FloatKind::Fp128 => widen(kind, value),
    }
}

/// The value of an encoding, rounded to `f64`.
pub fn to_f64(kind: FloatKind, bits: u128) -> f64 {
    match kind {
        FloatKind::Double => f64::from_bits(bits as u64),
        FloatKind::Float => f64::from(f32::from_bits(bits as u32)),
        FloatKind::PpcFp128 => {
            let (high, low) = (f64::from_bits(bits as u64), f64::from_bits((bits >> 64) as u64));
            if low == 0.0 { high } else { high + low }
        }
        FloatKind::Half | FloatKind::BFloat | FloatKind::X86Fp80 | FloatKind::Fp128 => decode(kind, bits),
    }
}

fn narrow(kind: FloatKind, value: f64) -> u16 {
    let (exp_bits, frac_bits, _) = shape(kind);
    let bias = (1i32 << (exp_bits - 1)) - 1;
    let sign = ((value.to_bits() >> 63) as u16) << 15;
    let max_exp = (1i32 << exp_bits) - 1;
    if value.is_nan() {
        return sign | ((max_exp as u16) << frac_bits) | (1 << (frac_bits - 1));
    }
    let magnitude = value.abs();
    if magnitude.is_infinite() {
        return sign | ((max_exp as u16) << frac_bits);
    }
    if magnitude == 0.0 {
        return sign;
    }
    let exponent = (((magnitude.to_bits() >> 52) & 0x7ff) as i32 - 1023).max(1 - bias);
    // Units in the last place of the target at this exponent; the quotient is rounded to even below.
    let ulp = 2f64.powi(exponent - frac_bits as i32);
    let units = (magnitude / ulp).round_ties_even() as u32;
    let encoded = ((exponent + bias - 1) as u32) * (1 << frac_bits) + units;
    let infinity = (max_exp as u32) << frac_bits;
    sign | encoded.min(infinity) as u16
}

fn widen(kind: FloatKind, value: f64) -> u128 {
    let (exp_bits, frac_bits, explicit) = shape(kind);
    let bias = (1i64 << (exp_bits - 1)) - 1;
    let bits = value.to_bits();
    let sign = u128::from(bits >> 63) << (exp_bits + frac_bits + u32::from(explicit));
    let exp = ((bits >> 52) & 0x7ff) as i64;
    let frac = bits & ((1u64 << 52) - 1);
    let (exponent, significand) = match (exp, frac) {
        (0, 0) => return sign,
        (0, f) => {
            let shift = f.leading_zeros() - 11;
            (1 - i64::from(shift) - 1023 + bias, (f << shift) & ((1 << 52) - 1))
        }
        (0x7ff, f) => ((1i64 << exp_bits) - 1, f),
        (e, f) => (e - 1023 + bias, f),
    };
    let fraction = u128::from(significand) << (frac_bits - 52);
    let integer = if explicit { 1u128 << frac_bits } else { 0 };
    sign | ((exponent as u128) << (frac_bits + u32::from(explicit))) | integer | fraction
}

fn decode(kind: FloatKind, bits: u128) -> f64 {
    let (exp_bits, frac_bits, explicit) = shape(kind);
    let stored = frac_bits + u32::from(explicit);
    let bias = (1i32 << (exp_bits - 1)) - 1;
    let sign = if (bits >> (exp_bits + stored)) & 1 == 1 { -1.0 } else { 1.0 };
    let exp = ((bits >> stored) & ((1 << exp_bits) - 1)) as i32;
    let frac = bits & ((1u128 << frac_bits) - 1);
    if exp == (1 << exp_bits) - 1 {
        return if frac == 0 { sign * f64::INFINITY } else { f64::NAN };
    }
    let implicit = u128::from(exp != 0 && !explicit) << frac_bits;
    let significand = (bits & ((1u128 << stored) - 1)) | implicit;
    let exponent = exp.max(1) - bias - frac_bits as i32;
    sign * scale(significand as f64, exponent)
}

fn scale(mut x: f64, mut exponent: i32) -> f64 {
    while exponent < -1000 {
        x *= 2f64.powi(-1000);
        exponent += 1000;
    }
    while exponent > 1000 {
        x *= 2f64.powi(1000);
        exponent -= 1000;
    }
    x * 2f64.powi(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_round_trips_simple_values() {
        for kind in FloatKind::ALL {
            for v in [0.0, -0.0, 1.0, -1.5, 0.5, 240.0, f64::INFINITY, f64::NEG_INFINITY] {
                let back = to_f64(kind, from_f64(kind, v));
                assert_eq!(back.to_bits(), v.to_bits(), "{kind:?} {v}");
            }
            assert!(to_f64(kind, from_f64(kind, f64::NAN)).is_nan());
        }
    }

    #[test]
    fn narrowing_rounds_to_even_and_overflows_to_infinity() {
        assert_eq!(from_f64(FloatKind::Half, 65504.0), 0x7bff);
        assert_eq!(from_f64(FloatKind::Half, 65520.0), 0x7c00);
        assert_eq!(from_f64(FloatKind::Half, 1.0 + 2f64.powi(-11)), 0x3c00);
        assert_eq!(from_f64(FloatKind::Half, 2f64.powi(-24)), 1);
        assert_eq!(from_f64(FloatKind::Half, 2f64.powi(-25)), 0);
        assert_eq!(from_f64(FloatKind::BFloat, 1.0), 0x3f80);
    }

    #[test]
    fn wide_formats_hold_denormals() {
        for kind in [FloatKind::X86Fp80, FloatKind::Fp128] {
            for v in [f64::MIN_POSITIVE, 5e-324, f64::MAX] {
                assert_eq!(to_f64(kind, from_f64(kind, v)), v);
            }
        }
    }
}
