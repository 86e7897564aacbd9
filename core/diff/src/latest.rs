//! Numbers that a loop carries on and replaces by another one now and then, as a maximum is found.
//!
//! ```text
//!   for i: best = phi(start, chosen);  c = a[i] > best;  chosen = select(c, a[i], best)
//! ```
//!
//! The adjoint of `best` goes to what it was replaced by last, and is zero from there back to the first iteration. So the number of
//! that iteration says as much as all conditions do, one for each iteration, and is kept in their place.
//!
//! Not handled: conditions that do not ask for the number itself, which may be computed again without it; numbers that are used
//! for anything but comparisons before the loop ends; intrinsics that choose (`llvm.maxnum`).

use std::collections::BTreeMap;

use enzyme_ir::cfg::LoopId;
use enzyme_ir::{BlockId, Func, InstId, Module, Op, Type, ValueId};

use crate::shape::Shape;

/// How such a number is replaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Running {
    /// The loop that carries it on.
    pub in_loop: LoopId,
    /// What the condition of the selection is where it is replaced.
    pub replaced_if: bool,
}

/// The selections that replace such numbers.
pub fn find(module: &Module, func: &Func, shape: &Shape) -> BTreeMap<ValueId, Running> {
    let mut candidates: Vec<(ValueId, ValueId, Running)> = Vec::new();
    for (id, l) in shape.loops.loops() {
        let [latch] = l.latches.as_slice() else { continue };
        for i in &func.blocks[l.header].insts {
            let inst = &func.insts[*i];
            let (Op::Phi(blocks), Some(phi)) = (&inst.op, inst.result) else { break };
            let next = blocks.iter().position(|b| b == latch).and_then(|n| inst.args.get(n)).copied();
            let Some((chosen, replaced_if)) = next.and_then(|v| Some((v, replaces(module, func, v, phi)?))) else {
                continue;
            };
            if shape.def_loop(func, chosen) == Some(id) {
                candidates.push((phi, chosen, Running { in_loop: id, replaced_if }));
            }
        }
    }
    if candidates.is_empty() {
        return BTreeMap::new();
    }
    let mut users: BTreeMap<ValueId, Vec<(BlockId, InstId)>> = BTreeMap::new();
    for (b, i) in func.placed() {
        for v in &func.insts[i].args {
            users.entry(*v).or_default().push((b, i));
        }
    }
    let compares = |i: InstId| matches!(func.insts[i].op, Op::FCmp(_));
    let quiet = |(phi, chosen, running): &(ValueId, ValueId, Running)| {
        let none = Vec::new();
        let of = |v: &ValueId| users.get(v).unwrap_or(&none).iter();
        of(phi).all(|(_, i)| compares(*i) || func.insts[*i].result == Some(*chosen))
            && of(chosen).all(|(b, i)| {
                compares(*i) || func.insts[*i].result == Some(*phi) || !shape.loops.contains(running.in_loop, *b)
            })
    };
    candidates.into_iter().filter(quiet).map(|(_, chosen, running)| (chosen, running)).collect()
}

/// What the condition is where the selection `v` does not choose `phi`, if it compares that with something.
fn replaces(module: &Module, func: &Func, v: ValueId, phi: ValueId) -> Option<bool> {
    let selection = &func.insts[func.def_inst(v)?];
    let (Op::Select, [condition, then, other]) = (&selection.op, selection.args.as_slice()) else { return None };
    let comparison = &func.insts[func.def_inst(*condition)?];
    let asks = matches!(comparison.op, Op::FCmp(_)) && comparison.args.contains(&phi);
    let scalar = matches!(module.ctx.types[func.ty(*condition)], Type::Int(1));
    match (*then == phi, *other == phi) {
        (true, false) if asks && scalar => Some(false),
        (false, true) if asks && scalar => Some(true),
        _ => None,
    }
}
