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
//! And blocks that it comes to from one side with nothing to turn round, since all that they compute was wanted on the other:
//!
//! ```text
//!   r = distance(x[i], x[j]); if (r > cutoff) continue; ...
//! ```
//!
//! Adjoints of what such a block computes are zero there, and what it adds to others is left out: it would cost time, and zero
//! times infinity is no number. Where the other side adds to no memory, and no slope may be infinite, all stays: a loop of
//! selections can run in vectors.
//!
//! Not handled: calls of functions with bodies, even where nothing flows through them; loops that are headers of what is passed.

use std::collections::{BTreeMap, BTreeSet};

use enzyme_analysis::callee::MemoryEffect;
use enzyme_analysis::{Callee, resolve};
use enzyme_ir::cfg::LoopId;
use enzyme_ir::{BinOp, BlockId, InstId, Module, Op, ValueId};

use crate::keys::Subject;

/// Blocks that are looked at for what comes after one.
const MOST_BLOCKS: usize = 1000;

/// Where the reverse sweep goes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Passed {
    /// From blocks to those that come next, over all that lies between.
    pub back: BTreeMap<BlockId, BlockId>,
    /// The blocks that it comes to.
    pub turned: BTreeSet<BlockId>,
    /// Edges, of which the block they leave has nothing to turn round but its phis if it is come to by them.
    pub short: BTreeSet<(BlockId, BlockId)>,
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
        for b in out.turned.iter().filter(|b| is_linear(module, s, **b)) {
            let ways: BTreeSet<BlockId> = s.func.successors(*b).into_iter().collect();
            out.short.extend(ways.iter().filter(|to| is_short(module, s, *b, **to, &ways)).map(|to| (*b, *to)));
        }
        out
    }

    /// Whether the reverse sweep goes through `l`.
    pub fn turns(&self, s: &Subject<'_>, l: LoopId) -> bool {
        s.shape.loops.loops().any(|(id, nest)| id == l && self.turned.contains(&nest.header))
    }
}

/// Whether the adjoints of `b` are linear in those of what it computes, of which there is something.
fn is_linear(module: &Module, s: &Subject<'_>, b: BlockId) -> bool {
    let insts = s.shape.insts(s.func, b);
    let computes = |i: &InstId| !matches!(s.func.insts[*i].op, Op::Phi(_)) && is_active_inst(s, *i);
    insts.iter().any(computes)
        && insts.iter().all(|i| {
            let op = &s.func.insts[*i].op;
            let plain = !matches!(op, Op::Load(access) if access.volatile);
            (is_idle_op(module, s, *i) || is_watched(module, s, *i)) && plain && !matches!(op, Op::Store(_))
        })
}

fn is_active_inst(s: &Subject<'_>, i: InstId) -> bool {
    s.func.insts[i].result.is_some_and(|r| s.is_active(r))
}

/// Whether nothing that `b` computes has an adjoint where it goes on to `to`, while another way adds to memory, or slopes may be
/// infinite.
fn is_short(module: &Module, s: &Subject<'_>, b: BlockId, to: BlockId, ways: &BTreeSet<BlockId>) -> bool {
    // What such a way dominates is come to by it alone.
    let own = |way: &BlockId| *way != to && s.shape.cfg.reachable_preds(*way) == [b];
    let others: Vec<BlockId> = ways.iter().copied().filter(own).collect();
    let elsewhere = |at: BlockId| others.iter().any(|way| s.shape.dom.dominates(*way, at));
    let mut here: Option<Option<BTreeSet<BlockId>>> = None;
    let mut comes_to = |at: BlockId| {
        let reached = |here: &mut Option<Option<BTreeSet<BlockId>>>| match here.get_or_insert_with(|| reached(s, b, to))
        {
            Some(blocks) => blocks.contains(&at),
            None => true,
        };
        !elsewhere(at) && reached(&mut here)
    };
    let mut is_wanted = |r: ValueId| {
        s.unit.uses.of(r).iter().any(|i| {
            let inst = &s.func.insts[*i];
            if is_watched(module, s, *i) {
                return false;
            }
            match (&inst.op, s.shape.block_of[*i]) {
                (Op::Phi(from), Some(at)) => {
                    let mut by = from.iter().zip(&inst.args).filter(|(_, v)| **v == r).map(|(x, _)| *x);
                    by.any(|x| if x == b { at == to } else { comes_to(x) })
                }
                (_, Some(at)) => at != b && comes_to(at),
                (_, None) => false,
            }
        })
    };
    let computed = s.shape.insts(s.func, b).into_iter().filter(|i| !matches!(s.func.insts[*i].op, Op::Phi(_)));
    let wanted = computed.filter_map(|i| s.func.insts[i].result).filter(|r| s.is_active(*r)).any(&mut is_wanted);
    let steep = || s.shape.insts(s.func, b).into_iter().any(|i| is_steep(s, i));
    !wanted && (steep() || others.iter().any(|way| adds_within(module, s, *way)))
}

/// Whether a block that `way` dominates adds to memory.
fn adds_within(module: &Module, s: &Subject<'_>, way: BlockId) -> bool {
    let mut seen = BTreeSet::new();
    let mut work = vec![way];
    while let Some(x) = work.pop() {
        if seen.len() < MOST_BLOCKS && s.shape.dom.dominates(way, x) && seen.insert(x) {
            if s.shape.insts(s.func, x).into_iter().any(|i| adds_to_memory(module, s, i)) {
                return true;
            }
            work.extend(s.func.successors(x));
        }
    }
    false
}

/// Whether `i` may have an infinite slope.
fn is_steep(s: &Subject<'_>, i: InstId) -> bool {
    is_active_inst(s, i) && matches!(s.func.insts[i].op, Op::Call(_) | Op::Binary(BinOp::FDiv))
}

/// Whether `i` hands numbers to somebody who does nothing with them that has a derivative: debuggers, output.
fn is_watched(module: &Module, s: &Subject<'_>, i: InstId) -> bool {
    match resolve(module, s.func, i) {
        Callee::Known(known) => {
            let hands_memory = s.func.insts[i].args.iter().any(|a| s.has_shadow(*a) || s.is_mixed(*a));
            !is_active_inst(s, i) && !hands_memory && matches!(known.memory(), MemoryEffect::None)
        }
        Callee::Math(_) | Callee::Defined(_) | Callee::Unknown(_) => false,
    }
}

/// The blocks that come after `to`, with it, without a way through `b`; `None` if they are many.
fn reached(s: &Subject<'_>, b: BlockId, to: BlockId) -> Option<BTreeSet<BlockId>> {
    let mut out = BTreeSet::new();
    let mut work = vec![to];
    while let Some(x) = work.pop() {
        if x != b && out.insert(x) {
            work.extend(s.func.successors(x));
        }
        if out.len() > MOST_BLOCKS {
            return None;
        }
    }
    Some(out)
}

fn adds_to_memory(module: &Module, s: &Subject<'_>, i: InstId) -> bool {
    match &s.func.insts[i].op {
        Op::Load(_) => is_active_inst(s, i),
        Op::Store(_) | Op::Call(_) => !is_idle_inst(module, s, i) && !is_pure_math(module, s, i),
        _ => false,
    }
}

fn is_pure_math(module: &Module, s: &Subject<'_>, i: InstId) -> bool {
    matches!(resolve(module, s.func, i), Callee::Math(math) if math.is_pure())
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
    !is_active_inst(s, i) && is_idle_op(module, s, i)
}

/// Whether `i` has no adjoint unless what it computes has one.
fn is_idle_op(module: &Module, s: &Subject<'_>, i: InstId) -> bool {
    let inst = &s.func.insts[i];
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
