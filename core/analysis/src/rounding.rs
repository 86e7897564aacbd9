//! Rounding by a large constant: `(x + 0x1.8p52) - 0x1.8p52` is the integer nearest to `x`.
//!
//! In real arithmetic that is `x`, and so the sum of the two derivatives would say 1; what the program computes is constant between
//! jumps, as `rint` is. Codes with periodic boxes take nearest images so.
//!
//! The constant may have the sign of `x`: `(x + c) - c` where `c` is `copysign(0x1p52, x)`.
//!
//! Taken is a constant with one or two leading bits whose last place counts at least 1, added and then taken off again. A smaller
//! one only cuts off digits, and whoever splits numbers into halves wants their derivative. What it is added to may be a product, by
//! which compilers make one operation of both.

use enzyme_ir::{BinOp, Const, ConstId, FloatKind, Func, InstId, Module, Op, Type, ValueId};

/// What is added: a constant, or a value that is one or the same with the other sign, taken off if `minus`.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Shift {
    Constant(f64),
    Signed { value: ValueId, minus: bool },
}

impl Shift {
    fn negated(self) -> Shift {
        match self {
            Shift::Constant(c) => Shift::Constant(-c),
            Shift::Signed { value, minus } => Shift::Signed { value, minus: !minus },
        }
    }
}

/// Whether instruction `i` is the second of the two operations.
pub fn rounds(module: &Module, func: &Func, i: InstId) -> bool {
    shifted(module, func, i).into_iter().flatten().any(|(inner, outer)| {
        let Some(first) = func.def_inst(inner) else { return false };
        let added = shifted(module, func, first).into_iter().flatten().map(|(_, added)| added);
        added.chain(fused(module, func, first)).any(|added| added == outer.negated())
    })
}

/// What instruction `i` adds to a product.
fn fused(module: &Module, func: &Func, i: InstId) -> Option<Shift> {
    let callee = &module.funcs[module.direct_callee(func, i)?];
    let fused = ["llvm.fmuladd.", "llvm.fma."].iter().any(|name| callee.name.starts_with(name));
    shift(module, func, *func.call_args(i).get(2).filter(|_| fused)?)
}

/// The value of which instruction `i` is the sum with something large, and that, for either order.
fn shifted(module: &Module, func: &Func, i: InstId) -> [Option<(ValueId, Shift)>; 2] {
    let inst = &func.insts[i];
    let sum = |value: ValueId, by: ValueId| Some((value, shift(module, func, by)?));
    match (&inst.op, inst.args.as_slice()) {
        (Op::Binary(BinOp::FAdd), [a, b]) => [sum(*a, *b), sum(*b, *a)],
        (Op::Binary(BinOp::FSub), [a, b]) => [sum(*a, *b).map(|(value, by)| (value, by.negated())), None],
        _ => [None, None],
    }
}

/// `v`, if nothing behind the point is left of what it is added to.
fn shift(module: &Module, func: &Func, v: ValueId) -> Option<Shift> {
    if let Some(c) = func.as_const(v) {
        return large(module, c).map(Shift::Constant);
    }
    let i = func.def_inst(v)?;
    let inst = &func.insts[i];
    let size = |v: ValueId| large(module, func.as_const(v)?).map(f64::abs);
    let signed = match (&inst.op, inst.args.as_slice()) {
        (Op::FNeg, [of]) => return shift(module, func, *of).map(Shift::negated),
        (Op::Select, [_, a, b]) => size(*a).is_some() && size(*a) == size(*b),
        (Op::Call(_), _) => {
            let callee = &module.funcs[module.direct_callee(func, i)?];
            let copies =
                callee.name.starts_with("llvm.copysign.") || ["copysign", "copysignf"].contains(&&*callee.name);
            copies && func.call_args(i).first().is_some_and(|c| size(*c).is_some())
        }
        _ => false,
    };
    signed.then_some(Shift::Signed { value: v, minus: false })
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
