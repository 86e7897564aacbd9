//! Conversions of scalars.

use super::arith;
use super::floats;
use super::shape::{Scalar, cut};
use super::trap::Trap;
use crate::op::CastOp;

/// `value` of `from` converted to `to`. Bit casts are those of equal width.
pub(super) fn cast(op: CastOp, from: Scalar, to: Scalar, value: u128) -> Result<u128, Trap> {
    if from.bits() > 128 || to.bits() > 128 {
        return Err(Trap::unsupported("integers wider than 128 bits"));
    }
    let mismatch = || Trap::fault(format!("{op:?} from {from:?} to {to:?}"));
    Ok(match op {
        CastOp::Trunc
        | CastOp::ZExt
        | CastOp::PtrToInt
        | CastOp::PtrToAddr
        | CastOp::IntToPtr
        | CastOp::BitCast
        | CastOp::AddrSpaceCast => cut(value, to.bits()),
        CastOp::SExt => cut(arith::signed(value, from.bits()) as u128, to.bits()),
        CastOp::FPToUI | CastOp::FPToSI => {
            let Scalar::Float(kind) = from else { return Err(mismatch()) };
            floats::to_int(kind, op == CastOp::FPToSI, to.bits(), value, false)
        }
        CastOp::UIToFP | CastOp::SIToFP => {
            let Scalar::Float(kind) = to else { return Err(mismatch()) };
            floats::from_int(kind, op == CastOp::SIToFP, from.bits(), value)
        }
        CastOp::FPTrunc | CastOp::FPExt => {
            let (Scalar::Float(a), Scalar::Float(b)) = (from, to) else { return Err(mismatch()) };
            match (a, b) {
                (crate::types::FloatKind::Float, _) | (crate::types::FloatKind::Double, _) => {
                    floats::from_f64(b, floats::to_f64(a, value))
                }
                _ => floats::convert(a, b, value),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::FloatKind;

    #[test]
    fn between_integers_and_floats() {
        let (i8, i128) = (Scalar::Int(8), Scalar::Int(128));
        let (half, f80) = (Scalar::Float(FloatKind::Half), Scalar::Float(FloatKind::X86Fp80));
        assert_eq!(cast(CastOp::SExt, i8, i128, 0x80), Ok((-128i128) as u128));
        assert_eq!(cast(CastOp::Trunc, i128, i8, 0x1ff), Ok(0xff));
        assert_eq!(cast(CastOp::SIToFP, i8, half, 0xff), Ok(0xbc00));
        assert_eq!(cast(CastOp::FPExt, half, f80, 0xbc00), Ok(0xbfff_8000_0000_0000_0000));
        assert_eq!(cast(CastOp::FPToSI, f80, i8, 0xbfff_8000_0000_0000_0000), Ok(0xff));
        let wide = (1u128 << 63) + 1;
        let exact = cast(CastOp::UIToFP, Scalar::Int(64), f80, wide);
        assert_eq!(cast(CastOp::FPToUI, f80, Scalar::Int(64), exact.unwrap()), Ok(wide));
        assert!(cast(CastOp::FPExt, i8, f80, 0).is_err());
        assert!(cast(CastOp::Trunc, Scalar::Int(200), i8, 0).is_err());
    }
}
