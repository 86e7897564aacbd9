//! Lanes of vectors that hold nothing.
//!
//! A vectoriser leaves lanes undefined that nothing reads: `fmul <2 x double> %x, <double 0.5, double poison>`. The adjoint of such a
//! lane is zero, but zero times a partial derivative that is poison is poison, and it would be added to a lane of the other operand
//! which somebody does read. What is found here has its adjoint's zeros respected (`Plan::selectable`).
//!
//! An analysis by lane, over registers: undefined are the lanes of constants that say so, those that shuffles take from nowhere and
//! that insertions have not filled, and what arithmetic makes of these. Phis begin as defined: the greatest solution.
//!
//! Not handled: lanes that go through memory or calls; vectors of over 64 lanes.

use std::collections::BTreeSet;

use cranelift_entity::SecondaryMap;
use enzyme_ir::{Const, ConstId, Module, Op, Type, TypeId, ValueDef, ValueId};

use crate::keys::Subject;

/// Rounds until all is taken for found; each lane of each value can only change once.
const ROUNDS: usize = 64;

/// Vectors of floats of which a lane is undefined, among the results of instructions.
pub fn partly_undefined(module: &Module, s: &Subject<'_>) -> BTreeSet<ValueId> {
    let mut missing: SecondaryMap<ValueId, u64> = SecondaryMap::new();
    let vectors: Vec<_> = s
        .func
        .placed()
        .filter_map(|(_, i)| s.func.insts[i].result.map(|r| (i, r)))
        .filter(|(_, r)| lanes_of(module, s.func.ty(*r)).is_some())
        .collect();
    for _ in 0..ROUNDS {
        let mut changed = false;
        for (i, r) in &vectors {
            let inst = &s.func.insts[*i];
            let of = |v: ValueId| match s.func.values[v].def {
                ValueDef::Const(c) => missing_in(module, c),
                ValueDef::Param(_) | ValueDef::Inst(_) => missing[v],
            };
            let any = || inst.args.iter().fold(0, |sum, a| sum | of(*a));
            let now = match (&inst.op, inst.args.as_slice()) {
                (Op::Binary(_) | Op::FNeg | Op::Cast(_) | Op::Phi(_) | Op::Call(_), _) => any(),
                (Op::Select, [_, a, b]) => of(*a) | of(*b),
                (Op::InsertElement, [into, _, at]) => {
                    let lane = s.func.as_const(*at).and_then(|c| module.ctx.consts.as_u64(c)).filter(|n| *n < 64);
                    lane.map_or(0, |n| of(*into) & !(1 << n))
                }
                (Op::ShuffleVector(mask), [a, b]) => {
                    let length = lanes_of(module, s.func.ty(*a)).unwrap_or(0);
                    let from = |lane: i32| match u32::try_from(lane) {
                        Ok(n) if n < length => of(*a) >> n & 1,
                        Ok(n) if n - length < 64 => of(*b) >> (n - length) & 1,
                        Ok(_) => 0,
                        Err(_) => 1,
                    };
                    mask.iter().take(64).enumerate().fold(0, |sum, (n, lane)| sum | from(*lane) << n)
                }
                _ => 0,
            };
            changed |= now != missing[*r];
            missing[*r] |= now;
        }
        if !changed {
            break;
        }
    }
    vectors.into_iter().map(|(_, r)| r).filter(|r| missing[*r] != 0).collect()
}

/// How many lanes a vector of floats has, if a mask can say which.
fn lanes_of(module: &Module, ty: TypeId) -> Option<u32> {
    match module.ctx.types[ty] {
        Type::Vector { elem, len, scalable: false } => {
            module.ctx.types.float_kind(elem).map(|_| len).filter(|len| *len <= 64)
        }
        _ => None,
    }
}

fn missing_in(module: &Module, c: ConstId) -> u64 {
    match &module.ctx.consts[c] {
        Const::Undef(ty) | Const::Poison(ty) => {
            lanes_of(module, *ty).map_or(0, |n| u64::MAX.checked_shr(64 - n).unwrap_or(0))
        }
        Const::Aggregate { elems, .. } => elems.iter().take(64).enumerate().fold(0, |sum, (n, e)| {
            let undefined = matches!(module.ctx.consts[*e], Const::Undef(_) | Const::Poison(_));
            sum | u64::from(undefined) << n
        }),
        _ => 0,
    }
}
