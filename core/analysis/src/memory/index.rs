//! What integers tell of the addresses made with them.

use enzyme_ir::{BinOp, CastOp, Func, Module, Op, ValueId};

use super::span::gcd;

/// A number of which the integer `v` is always a multiple; zero for the constant zero. `open` are the merges at hand.
pub(super) fn factor(module: &Module, func: &Func, v: ValueId, open: &mut Vec<ValueId>) -> u64 {
    if let Some(c) = func.as_const(v) {
        return module.ctx.consts.as_u64(c).map_or(1, |x| (x as i64).unsigned_abs());
    }
    if open.contains(&v) {
        return 0;
    }
    let Some(i) = func.def_inst(v).filter(|_| open.len() < 16) else { return 1 };
    let inst = &func.insts[i];
    let amount = |n: usize| inst.args.get(n).and_then(|a| func.as_const(*a)).and_then(|c| module.ctx.consts.as_u64(c));
    open.push(v);
    let mut of = |a: &ValueId| factor(module, func, *a, open);
    let out = match (&inst.op, inst.args.as_slice()) {
        (Op::Phi(_), args) => args.iter().fold(0, |g, a| gcd(g, of(a))),
        (Op::Select, [_, a, b]) | (Op::Binary(BinOp::Add | BinOp::Sub), [a, b]) => gcd(of(a), of(b)),
        (Op::Binary(BinOp::Or), [a, b]) => {
            let both = gcd(of(a), of(b));
            if both == 0 { 0 } else { 1 << both.trailing_zeros() }
        }
        (Op::Binary(BinOp::Mul), [a, b]) => of(a).saturating_mul(of(b)),
        (Op::Binary(BinOp::Shl), [a, _]) => match amount(1) {
            Some(n) if n < 32 => of(a).saturating_mul(1 << n),
            _ => 1,
        },
        (Op::Binary(BinOp::And), [_, _]) => {
            amount(1).filter(|m| *m != 0).map_or(1, |m| 1 << m.trailing_zeros().min(32))
        }
        (Op::Cast(CastOp::SExt | CastOp::ZExt), [a]) | (Op::Freeze, [a]) => of(a),
        (Op::Cast(CastOp::Trunc), [a]) => match of(a) {
            0 => 0,
            n => 1 << n.trailing_zeros().min(16),
        },
        _ => 1,
    };
    open.pop();
    out
}

/// Whether an index is visibly meant to be negative at times.
pub(super) fn may_step_back(func: &Func, index: ValueId) -> bool {
    let mut at = index;
    for _ in 0..4 {
        let Some(i) = func.def_inst(at) else { return false };
        let inst = &func.insts[i];
        match &inst.op {
            Op::Binary(BinOp::Sub | BinOp::Xor) => return true,
            Op::Cast(_) | Op::Freeze => match inst.args.first() {
                Some(a) => at = *a,
                None => return false,
            },
            _ => return false,
        }
    }
    false
}

/// Whether an integer is a `ptrtoint`, perhaps with something added.
pub(super) fn traces_to_pointer(func: &Func, v: ValueId) -> bool {
    let mut at = v;
    for _ in 0..8 {
        let Some(i) = func.def_inst(at) else { return false };
        match &func.insts[i].op {
            Op::Cast(CastOp::PtrToInt | CastOp::PtrToAddr) => return true,
            // A loaded or merged integer may be a stored pointer: its class says so.
            Op::Load(_) | Op::Phi(_) | Op::Select => return true,
            Op::Binary(BinOp::Add | BinOp::Sub | BinOp::And | BinOp::Or) | Op::Freeze => {
                match func.insts[i].args.first() {
                    Some(a) => at = *a,
                    None => return false,
                }
            }
            _ => return false,
        }
    }
    false
}
