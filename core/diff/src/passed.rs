//! Parts of a function that the reverse sweep passes over, since there is nothing in them to turn round.
//!
//! ```text
//!   bit = n / 2; while (j & bit) { j ^= bit; bit /= 2 }; j ^= bit; if (i < j) swap(&x[i], &x[j])
//! ```
//!
//! What computes `j` has no adjoint: how often that loop ran need not be known again. From a block the reverse sweep goes to the
//! nearest block before it that every way there passes in the same iteration of the same loops, where no instruction in
//! between has an adjoint or leaves anything that is taken back, and no phi at the end passes an adjoint on.
//!
//! Not handled: calls of functions with bodies, even where nothing flows through them; loops that are headers of what is passed.

use std::collections::{BTreeMap, BTreeSet};

use enzyme_analysis::callee::MemoryEffect;
use enzyme_analysis::{Callee, resolve};
use enzyme_ir::cfg::LoopId;
use enzyme_ir::{BlockId, InstId, Module, Op, ValueId};

use crate::keys::Subject;

/// Where the reverse sweep goes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Passed {
    /// From blocks to those that come next, over all that lies between.
    pub back: BTreeMap<BlockId, BlockId>,
    /// The blocks that it comes to.
    pub turned: BTreeSet<BlockId>,
}

impl Passed {
    /// Looks for such parts.
    pub fn new(module: &Module, s: &Subject<'_>) -> Passed {
        let idle: BTreeSet<BlockId> = s.shape.live_blocks().filter(|b| is_idle(module, s, *b)).collect();
        let mut out = Passed::default();
        let mut work: Vec<BlockId> = s.shape.exit.into_iter().collect();
        while let Some(b) = work.pop() {
            if !out.turned.insert(b) {
                continue;
            }
            match passes_to(s, b, &idle) {
                Some(before) => {
                    out.back.insert(b, before);
                    work.push(before);
                }
                None => work.extend(s.shape.cfg.reachable_preds(b)),
            }
        }
        out
    }

    /// Whether the reverse sweep goes through `l`.
    pub fn turns(&self, s: &Subject<'_>, l: LoopId) -> bool {
        s.shape.loops.loops().any(|(id, nest)| id == l && self.turned.contains(&nest.header))
    }
}

/// The block to which the reverse sweep goes from `b` over others that are idle.
fn passes_to(s: &Subject<'_>, b: BlockId, idle: &BTreeSet<BlockId>) -> Option<BlockId> {
    if s.shape.loops.headed_by(b).is_some() {
        return None;
    }
    let around = s.shape.loops.innermost(b);
    let mut before = s.shape.dom.idom(b)?;
    while s.shape.loops.innermost(before) != around {
        before = s.shape.dom.idom(before)?;
    }
    let mut between = BTreeSet::new();
    let mut work = s.shape.cfg.reachable_preds(b);
    while let Some(x) = work.pop() {
        if x != before && between.insert(x) {
            if !idle.contains(&x) {
                return None;
            }
            work.extend(s.shape.cfg.reachable_preds(x));
        }
    }
    let passes_adjoint = |i: &InstId| {
        let inst = &s.func.insts[*i];
        matches!(inst.op, Op::Phi(_)) && inst.result.is_some_and(|r| s.is_active(r))
    };
    let is_last = |x: BlockId| s.func.terminator(x).is_some_and(|t| branches(&s.func.insts[t].op));
    (!between.is_empty() && is_last(before) && !s.func.blocks[b].insts.iter().any(passes_adjoint)).then_some(before)
}

fn branches(op: &Op) -> bool {
    matches!(op, Op::Br(_) | Op::CondBr { .. } | Op::Switch { .. })
}

/// Whether nothing in `b` has an adjoint, or has to be taken back.
fn is_idle(module: &Module, s: &Subject<'_>, b: BlockId) -> bool {
    s.shape.insts(s.func, b).into_iter().all(|i| is_idle_inst(module, s, i))
}

fn is_idle_inst(module: &Module, s: &Subject<'_>, i: InstId) -> bool {
    let inst = &s.func.insts[i];
    if inst.result.is_some_and(|r| s.is_active(r)) {
        return false;
    }
    match &inst.op {
        Op::FNeg
        | Op::Binary(_)
        | Op::Cast(_)
        | Op::ICmp(_)
        | Op::FCmp(_)
        | Op::Phi(_)
        | Op::Select
        | Op::Freeze
        | Op::Gep { .. }
        | Op::ExtractElement
        | Op::InsertElement
        | Op::ShuffleVector(_)
        | Op::ExtractValue(_)
        | Op::InsertValue(_)
        | Op::Load(_) => true,
        Op::Br(_) | Op::CondBr { .. } | Op::Switch { .. } => true,
        Op::Store(_) => {
            let kept = |p: &ValueId| !s.has_shadow(*p) && !s.is_mixed(*p);
            inst.args.get(1).is_some_and(kept) && !s.unit.facts.undone_stores.contains_key(&i)
        }
        Op::Call(_) => match resolve(module, s.func, i) {
            Callee::Math(math) => math.is_pure(),
            Callee::Known(known) => known.is_pure() && matches!(known.memory(), MemoryEffect::None),
            Callee::Defined(_) | Callee::Unknown(_) => false,
        },
        Op::Alloca { .. }
        | Op::Fence(_)
        | Op::CmpXchg { .. }
        | Op::AtomicRmw(..)
        | Op::VaArg
        | Op::LandingPad { .. }
        | Op::CleanupPad
        | Op::CatchPad
        | Op::Ret
        | Op::IndirectBr(_)
        | Op::Invoke { .. }
        | Op::CallBr { .. }
        | Op::Resume
        | Op::Unreachable
        | Op::CleanupRet(_)
        | Op::CatchRet(_)
        | Op::CatchSwitch { .. } => false,
    }
}
