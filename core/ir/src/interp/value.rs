//! Values as callers of the interpreter see them.
//!
//! Inside, a value is a flat run of machine words (see [`super::shape`]); [`Val`] is its readable form, used at
//! the rim: arguments, results and external functions.

use crate::float;
use crate::types::FloatKind;

/// One value.
#[derive(Clone, PartialEq, Debug)]
pub enum Val {
    /// Integer of at most 128 bits. Results are zero-extended; arguments are cut to the width of the type.
    Int(u128),
    /// Integer of more than 128 bits, least significant word first.
    Wide(Vec<u64>),
    /// `float`.
    F32(f32),
    /// `double`.
    F64(f64),
    /// Another float format, by its encoding.
    Float(FloatKind, u128),
    /// Pointer.
    Ptr(u64),
    /// Vector, array or structure.
    Agg(Vec<Val>),
}

impl Val {
    /// An integer, two's complement.
    pub fn int(value: impl Into<i128>) -> Val {
        Val::Int(value.into() as u128)
    }

    /// A float of any format, rounded to it.
    pub fn float(kind: FloatKind, value: f64) -> Val {
        Val::from_float_bits(kind, float::from_f64(kind, value))
    }

    /// A float of any format by its encoding.
    pub fn from_float_bits(kind: FloatKind, bits: u128) -> Val {
        match kind {
            FloatKind::Float => Val::F32(f32::from_bits(bits as u32)),
            FloatKind::Double => Val::F64(f64::from_bits(bits as u64)),
            FloatKind::Half | FloatKind::BFloat | FloatKind::X86Fp80 | FloatKind::Fp128 | FloatKind::PpcFp128 => {
                Val::Float(kind, bits)
            }
        }
    }

    /// Format and encoding of a float.
    pub fn float_bits(&self) -> Option<(FloatKind, u128)> {
        match self {
            Val::F32(x) => Some((FloatKind::Float, u128::from(x.to_bits()))),
            Val::F64(x) => Some((FloatKind::Double, u128::from(x.to_bits()))),
            Val::Float(kind, bits) => Some((*kind, *bits)),
            Val::Int(_) | Val::Wide(_) | Val::Ptr(_) | Val::Agg(_) => None,
        }
    }

    /// The value of a float of any format, rounded to `f64`.
    pub fn as_f64(&self) -> Option<f64> {
        self.float_bits().map(|(kind, bits)| float::to_f64(kind, bits))
    }

    /// The low 64 bits of an integer or pointer.
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Val::Int(x) => Some(*x as u64),
            Val::Ptr(x) => Some(*x),
            Val::Wide(words) => words.first().copied(),
            Val::F32(_) | Val::F64(_) | Val::Float(..) | Val::Agg(_) => None,
        }
    }

    /// The low 32 bits of an integer, signed.
    pub fn as_i32(&self) -> Option<i32> {
        self.as_u64().map(|x| x as i32)
    }

    /// The low 64 bits of an integer, signed.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_u64().map(|x| x as i64)
    }

    /// The elements of a vector, array or structure.
    pub fn elements(&self) -> Option<&[Val]> {
        if let Val::Agg(elements) = self { Some(elements) } else { None }
    }
}

impl From<f64> for Val {
    fn from(x: f64) -> Val {
        Val::F64(x)
    }
}

impl From<f32> for Val {
    fn from(x: f32) -> Val {
        Val::F32(x)
    }
}

impl From<i32> for Val {
    fn from(x: i32) -> Val {
        Val::int(x)
    }
}

impl From<i64> for Val {
    fn from(x: i64) -> Val {
        Val::int(x)
    }
}

impl From<bool> for Val {
    fn from(x: bool) -> Val {
        Val::Int(u128::from(x))
    }
}

impl From<Vec<Val>> for Val {
    fn from(elements: Vec<Val>) -> Val {
        Val::Agg(elements)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accessors_follow_the_variant() {
        assert_eq!(Val::from(-3i32).as_i32(), Some(-3));
        assert_eq!(Val::from(-3i64).as_i64(), Some(-3));
        assert_eq!(Val::from(1.5f32).as_f64(), Some(1.5));
        assert_eq!(Val::float(FloatKind::X86Fp80, -2.25).as_f64(), Some(-2.25));
        assert_eq!(Val::Ptr(7).as_u64(), Some(7));
        assert_eq!(Val::Ptr(7).as_f64(), None);
        assert_eq!(Val::from(vec![Val::Int(1)]).elements().map(<[Val]>::len), Some(1));
    }
}
