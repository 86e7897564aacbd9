//! Functions of `<math.h>` and the compiler's run-time library that pass pointers or complex numbers.

use super::super::trap::Trap;
use super::super::value::Val;
use super::super::{Interp, floats, math};
use super::{Builtin, Outcome, number, word};
use crate::types::FloatKind;

fn float(args: &[Val], i: usize) -> Result<(FloatKind, u128), Trap> {
    args.get(i)
        .and_then(Val::float_bits)
        .ok_or_else(|| Trap::fault(format!("a mathematical function without a float as argument {i}")))
}

fn store(i: &mut Interp<'_>, address: u64, kind: FloatKind, bits: u128) -> Result<(), Trap> {
    let size = kind.bits() as usize / 8;
    i.write_bytes(address, bits.to_le_bytes().get(..size).unwrap_or(&[]))
}

fn result(kind: FloatKind, bits: u128) -> Outcome {
    Ok(Some(Val::from_float_bits(kind, bits)))
}

fn find(name: &str) -> Option<Builtin> {
    Some(match name {
        "frexp" => |i, a| {
            let (kind, x) = float(a, 0)?;
            let (fraction, exponent) = floats::split(kind, x);
            i.write_u32(word(a, 1)?, exponent as u32)?;
            result(kind, fraction)
        },
        "modf" => |i, a| {
            let (kind, x) = float(a, 0)?;
            let (rest, whole) = math::Split::Modf.apply(kind, 0, x);
            store(i, word(a, 1)?, kind, whole)?;
            result(kind, rest)
        },
        "sincos" => |i, a| {
            let (kind, x) = float(a, 0)?;
            let (sin, cos) = math::Split::SinCos.apply(kind, 0, x);
            store(i, word(a, 1)?, kind, sin)?;
            store(i, word(a, 2)?, kind, cos)?;
            Ok(None)
        },
        "lgamma_r" => |i, a| {
            let (kind, x) = float(a, 0)?;
            let (value, sign) = if kind == FloatKind::Float {
                let (value, sign) = libm::lgammaf_r(f32::from_bits(x as u32));
                (u128::from(value.to_bits()), sign)
            } else {
                let (value, sign) = libm::lgamma_r(floats::to_f64(kind, x));
                (floats::from_f64(kind, value), sign)
            };
            i.write_u32(word(a, 1)?, sign as u32)?;
            result(kind, value)
        },
        "remquo" => |i, a| {
            let ((kind, x), (_, y)) = (float(a, 0)?, float(a, 1)?);
            let rest = floats::remainder(kind, x, y);
            let (_, quotient) = libm::remquo(floats::to_f64(kind, x), floats::to_f64(kind, y));
            i.write_u32(word(a, 2)?, quotient as u32)?;
            result(kind, rest)
        },
        "nexttoward" => |_, a| {
            let ((kind, x), (other, y)) = (float(a, 0)?, float(a, 1)?);
            let wide = floats::convert(kind, FloatKind::Fp128, x);
            let target = floats::convert(other, FloatKind::Fp128, y);
            let order = |p| floats::compare(FloatKind::Fp128, p, wide, target);
            let next = if order(crate::FloatPred::Uno) {
                floats::from_f64(kind, f64::NAN)
            } else if order(crate::FloatPred::Oeq) {
                floats::convert(other, kind, y)
            } else {
                let limit = if order(crate::FloatPred::Olt) { f64::INFINITY } else { f64::NEG_INFINITY };
                floats::next_after(kind, x, floats::from_f64(kind, limit))
            };
            result(kind, next)
        },
        "cabs" => |_, a| Ok(Some(Val::F64(number(a, 0)?.hypot(number(a, 1)?)))),
        "__fpclassify" => |_, a| {
            let (kind, x) = float(a, 0)?;
            let class = floats::class(kind, x);
            // glibc's numbers: NaN, infinite, zero, subnormal, normal.
            let number = [0b11, 0b10_0000_0100, 0b110_0000, 0b1001_0000].iter().position(|m| class & m != 0);
            Ok(Some(Val::int(number.unwrap_or(4) as i64)))
        },
        // Complex product and quotient (C17, annex G), for finite operands.
        "__muldc3" | "__mulsc3" => |_, a| {
            let (ar, ai, br, bi) = (number(a, 0)?, number(a, 1)?, number(a, 2)?, number(a, 3)?);
            complex(a, ar * br - ai * bi, ar * bi + ai * br)
        },
        "__divdc3" | "__divsc3" => |_, a| {
            let (ar, ai, br, bi) = (number(a, 0)?, number(a, 1)?, number(a, 2)?, number(a, 3)?);
            let size = br.abs().max(bi.abs());
            let scale = if size.is_finite() && size > 0.0 { f64::from(-libm::ilogb(size)).exp2() } else { 1.0 };
            let (br, bi) = (br * scale, bi * scale);
            let denominator = br * br + bi * bi;
            let re = (ar * br + ai * bi) / denominator * scale;
            complex(a, re, (ai * br - ar * bi) / denominator * scale)
        },
        _ => return None,
    })
}

/// The pair in the format of the arguments; two `float`s travel in one vector on x86-64.
fn complex(args: &[Val], re: f64, im: f64) -> Outcome {
    let (kind, _) = float(args, 0)?;
    Ok(Some(Val::Agg(vec![Val::float(kind, re), Val::float(kind, im)])))
}

/// A function of this file, for `double`, `float` or `long double`.
pub(super) fn function(name: &str) -> Option<Builtin> {
    let base = match name {
        "lgammaf_r" | "lgammal_r" => "lgamma_r",
        "__fpclassifyf" | "__fpclassifyl" => "__fpclassify",
        _ => name,
    };
    find(base).or_else(|| find(base.strip_suffix(['f', 'l'])?))
}
