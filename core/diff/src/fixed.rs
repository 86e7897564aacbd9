//! Numbers in a loop nest that are computed alike in each iteration of an outer loop.
//!
//! ```text
//!   for start: w = 1; for k: ...; w = w * step         `step` is known before the loop over `start`
//! ```
//!
//! `w` depends on `k` alone: nothing that it is computed from changes in the loop over `start`. One copy of it is kept for all
//! iterations of that, as of a load that is the same throughout ([`crate::steady`]).
//!
//! For each loop all values in it are taken to be alike at first; then those are struck out that read what may differ: phis of its
//! own header, phis that depend on the way taken, memory that may be written in between, calls that are more than mathematics, and
//! what is computed from such values.
//!
//! Not handled: loads that are the same for a while only, values that leave an inner loop.

use std::collections::{BTreeMap, BTreeSet};

use enzyme_analysis::{Callee, resolve};
use enzyme_ir::cfg::LoopId;
use enzyme_ir::{Const, ConstId, Facts, Func, InstId, Module, Op, Ordering, ValueDef, ValueId};

use crate::shape::Shape;

/// In which loops a value is the same, and in which it is not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fixed {
    /// The outermost loop in whose iterations it is the same.
    pub over: LoopId,
    /// The loops in it in whose iterations it is another one, as bits: bit 0 is the innermost loop around the value.
    pub varies: u64,
}

/// Finds all such numbers that change in some inner loop.
pub fn find(module: &Module, func: &Func, facts: &Facts, shape: &Shape) -> BTreeMap<ValueId, Fixed> {
    let mut out = BTreeMap::new();
    let parents: BTreeSet<LoopId> = shape.loops.loops().filter_map(|(_, l)| l.parent).collect();
    // Outer loops come first.
    for over in parents {
        for (v, loops) in alike(module, func, facts, shape, over) {
            let around = shape.def_block(func, v).into_iter().flat_map(|b| shape.loops.around(b));
            let inside = around.take_while(|l| *l != over).enumerate().filter(|(depth, _)| *depth < 64);
            let varies = inside.filter(|(_, l)| loops.contains(l)).fold(0, |bits, (depth, _)| bits | 1u64 << depth);
            let number = module.ctx.types.contains_float(func.ty(v));
            if number && varies != 0 && varies.count_ones() as usize == loops.len() {
                out.entry(v).or_insert(Fixed { over, varies });
            }
        }
    }
    out
}

/// The values in `over` that are the same in each of its iterations, and the inner loops in which they vary.
fn alike(
    module: &Module,
    func: &Func,
    facts: &Facts,
    shape: &Shape,
    over: LoopId,
) -> BTreeMap<ValueId, BTreeSet<LoopId>> {
    let inside = |v: ValueId| match func.values[v].def {
        ValueDef::Inst(i) => shape.block_of[i].is_some_and(|b| shape.loops.contains(over, b)),
        ValueDef::Param(_) | ValueDef::Const(_) => false,
    };
    let mut varies: BTreeMap<ValueId, BTreeSet<LoopId>> = BTreeMap::new();
    let mut placed: Vec<(InstId, ValueId)> = Vec::new();
    for (b, i) in func.placed().filter(|(b, _)| shape.loops.contains(over, *b)) {
        let Some(r) = func.insts[i].result else { continue };
        let headed = shape.loops.headed_by(b).filter(|l| *l != over);
        let own = headed.filter(|_| matches!(func.insts[i].op, Op::Phi(_)));
        let settled = |a: &ValueId| func.as_const(*a).is_none_or(|c| is_settled(module, c));
        if (own.is_some() || repeats(module, func, facts, i)) && func.insts[i].args.iter().all(settled) {
            varies.insert(r, own.into_iter().collect());
            placed.push((i, r));
        }
    }
    loop {
        let before = varies.len();
        for (i, r) in &placed {
            if func.insts[*i].args.iter().any(|a| inside(*a) && !varies.contains_key(a)) {
                varies.remove(r);
            }
        }
        if varies.len() == before {
            break;
        }
        placed.retain(|(_, r)| varies.contains_key(r));
    }
    loop {
        let mut changed = false;
        for (i, r) in &placed {
            let args = func.insts[*i].args.iter();
            let more: BTreeSet<LoopId> = args.filter_map(|a| varies.get(a)).flatten().copied().collect();
            if let Some(loops) = varies.get_mut(r) {
                let known = loops.len();
                loops.extend(more);
                changed |= loops.len() != known;
            }
        }
        if !changed {
            return varies;
        }
    }
}

/// Whether an instruction other than a phi makes the same of the same operands, whenever it runs.
fn repeats(module: &Module, func: &Func, facts: &Facts, i: InstId) -> bool {
    match &func.insts[i].op {
        Op::FNeg
        | Op::Binary(_)
        | Op::ICmp(_)
        | Op::FCmp(_)
        | Op::Select
        | Op::Cast(_)
        | Op::Gep { .. }
        | Op::ExtractElement
        | Op::InsertElement
        | Op::ShuffleVector(_)
        | Op::ExtractValue(_)
        | Op::InsertValue(_) => true,
        Op::Load(access) => {
            let stays = facts.stable_loads.contains(&i) && !facts.typed_loads.contains(&i);
            stays && !access.volatile && access.ordering == Ordering::NotAtomic
        }
        Op::Call(_) => matches!(resolve(module, func, i), Callee::Math(math) if math.is_pure()),
        _ => false,
    }
}

/// Whether a constant is the same number each time it is read.
fn is_settled(module: &Module, c: ConstId) -> bool {
    match &module.ctx.consts[c] {
        Const::Undef(_) | Const::Poison(_) => false,
        Const::Aggregate { elems, .. } => elems.iter().all(|e| is_settled(module, *e)),
        _ => true,
    }
}
