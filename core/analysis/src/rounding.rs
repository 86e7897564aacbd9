//! Rounding by a large constant: `(x + 0x1.8p52) - 0x1.8p52` is the integer nearest to `x`.
//!
//! In real arithmetic that is `x`, and so the sum of the two derivatives would say 1; what the program computes is constant between
//! jumps, as `rint` is. Codes with periodic boxes take nearest images so.
//!
//! Taken is a constant with one or two leading bits whose last place counts at least 1, added and then taken off again. A smaller
//! one only cuts off digits, and whoever splits numbers into halves wants their derivative. What it is added to may be a product, by
//! which compilers make one operation of both.

use enzyme_ir::{BinOp, Const, ConstId, FloatKind, Func, InstId, Module, Op, Type, ValueId};

/// Whether instruction `i` is the second of the two operations.
pub fn rounds(module: &Module, func: &Func, i: InstId) -> bool {
    let Some((inner, outer)) = shifted(module, func, i) else { return false };
    let Some(first) = func.def_inst(inner) else { return false };
    let added = shifted(module, func, first).map(|(_, added)| added).or_else(|| fused(module, func, first));
    added.is_some_and(|added| added == -outer)
}

/// The constant that instruction `i` adds to a product.
fn fused(module: &Module, func: &Func, i: InstId) -> Option<f64> {
    let callee = &module.funcs[module.direct_callee(func, i)?];
    let fused = ["llvm.fmuladd.", "llvm.fma."].iter().any(|name| callee.name.starts_with(name));
    large(module, func.as_const(*func.call_args(i).get(2).filter(|_| fused)?)?)
}

/// The value and the constant of which instruction `i` is the sum.
fn shifted(module: &Module, func: &Func, i: InstId) -> Option<(ValueId, f64)> {
    let inst = &func.insts[i];
    let large = |v: ValueId| large(module, func.as_const(v)?);
    match (&inst.op, inst.args.as_slice()) {
        (Op::Binary(BinOp::FAdd), [a, b]) => large(*b).map(|c| (*a, c)).or_else(|| large(*a).map(|c| (*b, c))),
        (Op::Binary(BinOp::FSub), [a, b]) => large(*b).map(|c| (*a, -c)),
        _ => None,
    }
}

/// A constant, or one in each lane, that leaves no digits behind the point.
fn large(module: &Module, c: ConstId) -> Option<f64> {
    let types = &module.ctx.types;
    let (value, fraction, leading) = match &module.ctx.consts[c] {
        Const::Float { ty, bits } => of_bits(types.float_kind(*ty)?, *bits)?,
        Const::Aggregate { ty, elems } if matches!(types[*ty], Type::Vector { .. }) => {
            let [first, rest @ ..] = elems.as_slice() else { return None };
            return large(module, *first).filter(|_| rest.iter().all(|e| e == first));
        }
        Const::Data { ty, bytes } => {
            let Type::Vector { elem, .. } = types[*ty] else { return None };
            let kind = types.float_kind(elem)?;
            let mut lanes = bytes.chunks_exact(kind.bits() as usize / 8);
            let first = lanes.next()?;
            if lanes.any(|lane| lane != first) {
                return None;
            }
            of_bits(kind, first.iter().rev().fold(0, |bits, byte| bits << 8 | u128::from(*byte)))?
        }
        _ => return None,
    };
    (leading == 0 && value.abs() >= (1u64 << fraction) as f64).then_some(value)
}

/// Such a float as a number, how many bits it has behind the first, and these without the uppermost.
fn of_bits(kind: FloatKind, bits: u128) -> Option<(f64, u32, u64)> {
    match kind {
        FloatKind::Double => {
            let bits = u64::try_from(bits).ok()?;
            Some((f64::from_bits(bits), 52, bits & ((1 << 51) - 1)))
        }
        FloatKind::Float => {
            let bits = u32::try_from(bits).ok()?;
            Some((f64::from(f32::from_bits(bits)), 23, u64::from(bits & ((1 << 22) - 1))))
        }
        _ => None,
    }
}
