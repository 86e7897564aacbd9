//! Quotients and roots that were computed before it was known that somebody wants them.
//!
//! `if x > 0.0 { Some(x.sqrt()) } else { None }`: nobody reads a number in `None`, so an optimiser keeps the root alone and computes it
//! for negative `x` as well. Its adjoint is zero then, but zero times a partial derivative that is infinite or no number is no number.
//! What is found here has its adjoint's zeros respected (`Plan::selectable`), as the arms of selections have.
//!
//! No instruction says that it was hoisted. Two signs of it are looked for in a block that has a quotient or a root: that the outcome of a
//! comparison is kept there as a number or a pointer (the tag of the option); or that none of what is computed from the quotient is used
//! before the block's end, at which there is a choice. Counted with it is what the block computes from it.
//!
//! Not handled: hoisting that leaves neither sign; other functions with infinite slopes, which no optimiser computes in vain.

use std::collections::BTreeSet;

use enzyme_analysis::{Callee, resolve};
use enzyme_ir::{BinOp, BlockId, InstId, Module, Op, Type, TypeId, ValueId};

use crate::keys::Subject;

/// Active results that may have been computed in vain.
pub fn in_vain(module: &Module, s: &Subject<'_>) -> BTreeSet<ValueId> {
    if !s.func.placed().any(|(_, i)| is_steep(module, s, i)) {
        return BTreeSet::new();
    }
    let outcomes = outcomes(module, s);
    let mut out = BTreeSet::new();
    for b in s.shape.cfg.rpo() {
        let insts = &s.func.blocks[*b].insts;
        let cone = cone(module, s, insts);
        if cone.is_empty() {
            continue;
        }
        let keeps =
            |i: &InstId| kept(&s.func.insts[*i].op, &s.func.insts[*i].args).iter().any(|v| outcomes.contains(v));
        let chooses = s.shape.cfg.succs(*b).len() > 1;
        if insts.iter().any(keeps)
            || passed_on(s, *b).iter().any(|v| outcomes.contains(v))
            || chooses && !is_used(s, *b, insts, &cone)
        {
            out.extend(cone.into_iter().filter(|v| s.is_active(*v)));
        }
    }
    out
}

/// Whether `i` is a quotient or a root.
fn is_steep(module: &Module, s: &Subject<'_>, i: InstId) -> bool {
    match &s.func.insts[i].op {
        Op::Binary(BinOp::FDiv) => true,
        Op::Call(_) => matches!(resolve(module, s.func, i), Callee::Math(math) if math.rule.name == "sqrt"),
        _ => false,
    }
}

fn computes(op: &Op) -> bool {
    matches!(op, Op::Binary(_) | Op::FNeg | Op::Cast(_) | Op::Select | Op::Call(_))
}

/// The quotients and roots of a block and what it computes from them.
fn cone(module: &Module, s: &Subject<'_>, insts: &[InstId]) -> BTreeSet<ValueId> {
    let mut out = BTreeSet::new();
    for i in insts {
        let inst = &s.func.insts[*i];
        let from = || computes(&inst.op) && inst.args.iter().any(|a| out.contains(a));
        if let Some(r) = inst.result.filter(|_| is_steep(module, s, *i) || from()) {
            out.insert(r);
        }
    }
    out
}

/// Whether anything but what is computed in block `b` from values of `cone` uses one of them there.
fn is_used(s: &Subject<'_>, b: BlockId, insts: &[InstId], cone: &BTreeSet<ValueId>) -> bool {
    let uses = |i: &InstId| {
        let inst = &s.func.insts[*i];
        !matches!(inst.op, Op::Phi(_))
            && inst.result.is_none_or(|r| !cone.contains(&r))
            && inst.args.iter().any(|a| cone.contains(a))
    };
    insts.iter().any(uses) || passed_on(s, b).iter().any(|v| cone.contains(v))
}

/// What goes from block `b` into phis, whatever is chosen at its end or in the next turn of a loop.
fn passed_on(s: &Subject<'_>, b: BlockId) -> Vec<ValueId> {
    let succs = s.shape.cfg.succs(b);
    let mut out = Vec::new();
    for to in succs {
        if succs.len() > 1 && !s.shape.dom.dominates(*to, b) {
            continue;
        }
        for i in &s.func.blocks[*to].insts {
            if let Op::Phi(from) = &s.func.insts[*i].op {
                let args = from.iter().zip(&s.func.insts[*i].args);
                out.extend(args.filter(|(f, _)| **f == b).map(|(_, v)| *v));
            }
        }
    }
    out
}

/// Numbers and pointers made of the outcome of a comparison, and truth values.
fn outcomes(module: &Module, s: &Subject<'_>) -> BTreeSet<ValueId> {
    let is_truth = |ty: TypeId| matches!(module.ctx.types[ty], Type::Int(1));
    let mut out: BTreeSet<ValueId> = BTreeSet::new();
    for b in s.shape.cfg.rpo() {
        for i in &s.func.blocks[*b].insts {
            let inst = &s.func.insts[*i];
            let Some(r) = inst.result else { continue };
            let is_float = module.ctx.types.float_kind(inst.ty).is_some();
            let from = |args: &[ValueId]| args.iter().any(|a| out.contains(a));
            let is_one = match &inst.op {
                Op::ICmp(_) | Op::FCmp(_) => is_truth(inst.ty),
                Op::Cast(_) | Op::Binary(_) | Op::Select | Op::Freeze => !is_float && from(&inst.args),
                _ => false,
            };
            if is_one {
                out.insert(r);
            }
        }
    }
    out
}

/// What an instruction keeps in memory, an aggregate or a result, or hands to a call.
fn kept<'a>(op: &Op, args: &'a [ValueId]) -> &'a [ValueId] {
    match op {
        Op::Store(_) => args.get(..1).unwrap_or(&[]),
        Op::InsertValue(_) | Op::Ret | Op::Call(_) | Op::Invoke { .. } => args,
        _ => &[],
    }
}
