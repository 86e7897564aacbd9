//! Numbers with slopes that may be infinite, that somebody wants on some ways only.
//!
//! ```text
//!   r = sqrt(square); if (verbose) count++; if (r > cutoff) continue; sum += r;
//! ```
//!
//! The adjoint of `r` is zero in the turns in which it is compared and no more, and zero times infinity is no number. Where a way leads
//! from where it is computed to the end of the function, or to where it is computed again, on which nobody wants it, its adjoint's zeros
//! are respected (`Plan::selectable`), as those of the arms of selections are.
//!
//! In forward mode it is what a slope is applied to that may be a constant on some ways ([`is_steep_at_constants`]): its tangent is zero there.
//!
//! Not handled: values that only others want which are themselves unwanted in other blocks; what goes into a phi counts as wanted there.

use std::collections::BTreeSet;

use enzyme_analysis::{Callee, resolve};
use enzyme_ir::{BinOp, BlockId, InstId, Module, Op, Type, ValueId};
use enzyme_rules::Rule;

use crate::keys::Subject;

/// Functions whose slopes are infinite, or no numbers, somewhere.
const STEEP: [&str; 16] = [
    "acos", "acosh", "asin", "atan2", "atanh", "cbrt", "hypot", "lgamma", "log", "log10", "log1p", "log2", "pow",
    "powi", "sqrt", "tgamma",
];
/// Blocks that are looked at for what comes after one.
const MOST_BLOCKS: usize = 1000;

/// How many operations are followed back from an operand to the constants that it may be made of.
const MOST_STEPS: u32 = 4;

/// Whether what is applied to `v` has a slope that may be infinite, while `v` is made of constants on some ways (`root = 0; loop { sum +=
/// sqrt(root); root = f(x); }`): of those nothing is wanted either. In reverse mode their adjoint goes nowhere; a tangent of theirs is a zero.
pub fn is_steep_at_constants(module: &Module, s: &Subject<'_>, rule: &Rule, v: ValueId) -> bool {
    STEEP.contains(&rule.name) && is_constant_at_times(module, s, v, MOST_STEPS)
}

/// Whether `v` depends on no active number on some way, as far as registers show.
fn is_constant_at_times(module: &Module, s: &Subject<'_>, v: ValueId, steps: u32) -> bool {
    if !s.is_active(v) {
        return true;
    }
    let (Some(i), Some(steps)) = (s.func.def_inst(v), steps.checked_sub(1)) else { return false };
    let inst = &s.func.insts[i];
    match inst.op {
        Op::Phi(_) => inst.args.iter().any(|a| has_constant_lanes(module, s, *a)),
        Op::Select => inst.args.iter().skip(1).any(|a| has_constant_lanes(module, s, *a)),
        Op::ExtractElement => inst.args.first().is_some_and(|a| is_constant_at_times(module, s, *a, steps)),
        Op::Binary(_) | Op::FNeg => inst.args.iter().all(|a| is_constant_at_times(module, s, *a, steps)),
        _ => false,
    }
}

/// Whether `v` is constant, or a vector that has a constant beside active numbers.
fn has_constant_lanes(module: &Module, s: &Subject<'_>, v: ValueId) -> bool {
    let (mut at, mut given) = (v, BTreeSet::new());
    while s.is_active(at) {
        let Some(inst) = s.func.def_inst(at).map(|i| &s.func.insts[i]) else { return false };
        let (Op::InsertElement, [base, lane, index]) = (&inst.op, inst.args.as_slice()) else { return false };
        if !s.is_active(*lane) || !given.insert(*index) {
            return true;
        }
        at = *base;
    }
    let lanes = match module.ctx.types[s.func.ty(v)] {
        Type::Vector { len, .. } => len as usize,
        _ => 1,
    };
    at == v || given.len() < lanes
}

/// Such numbers.
pub fn at_times(module: &Module, s: &Subject<'_>) -> BTreeSet<ValueId> {
    let mut out = BTreeSet::new();
    for b in s.shape.cfg.rpo() {
        if !s.func.blocks[*b].insts.iter().any(|i| is_steep(module, s, *i)) {
            continue;
        }
        // From the last to the first: what in this block only makes others that are unwanted is unwanted as they are.
        let mut unwanted = BTreeSet::new();
        for i in s.func.blocks[*b].insts.iter().rev() {
            let Some(r) = s.func.insts[*i].result.filter(|r| s.is_active(*r)) else { continue };
            if is_unwanted(s, *b, r, &unwanted) {
                unwanted.insert(r);
                out.extend(is_steep(module, s, *i).then_some(r));
            }
        }
    }
    out
}

/// Whether `i` may have an infinite slope.
fn is_steep(module: &Module, s: &Subject<'_>, i: InstId) -> bool {
    match s.func.insts[i].op {
        Op::Binary(BinOp::FDiv) => true,
        Op::Call(_) => matches!(resolve(module, s.func, i), Callee::Math(math) if STEEP.contains(&math.rule.name)),
        _ => false,
    }
}

/// Where a value is wanted.
#[derive(Default)]
struct Wanted {
    blocks: BTreeSet<BlockId>,
    edges: BTreeSet<(BlockId, BlockId)>,
}

/// Whether nobody wants `r`, computed in `b`, on some way; `unwanted` are values of that block for which it is so.
fn is_unwanted(s: &Subject<'_>, b: BlockId, r: ValueId, unwanted: &BTreeSet<ValueId>) -> bool {
    let mut wanted = Wanted::default();
    for i in s.unit.uses.of(r) {
        let inst = &s.func.insts[*i];
        let Some(at) = s.shape.block_of[*i] else { continue };
        if let Op::Phi(from) = &inst.op {
            let by = from.iter().zip(&inst.args).filter(|(_, v)| **v == r);
            wanted.edges.extend(by.map(|(x, _)| (*x, at)));
            continue;
        }
        let compared =
            matches!(inst.op, Op::FCmp(_) | Op::ICmp(_) | Op::Cast(_)) && !inst.result.is_some_and(|r| s.is_active(r));
        if compared || at == b && inst.result.is_some_and(|r| unwanted.contains(&r)) {
            continue;
        }
        if at == b {
            return false;
        }
        wanted.blocks.insert(at);
    }
    let mut seen = BTreeSet::new();
    let mut work = vec![b];
    while let Some(x) = work.pop() {
        let after = s.func.successors(x);
        if after.is_empty() && s.shape.exit == Some(x) {
            return true;
        }
        for to in after {
            if wanted.edges.contains(&(x, to)) || wanted.blocks.contains(&to) {
                continue;
            }
            if to == b {
                return true;
            }
            if seen.insert(to) {
                work.push(to);
            }
        }
        if seen.len() > MOST_BLOCKS {
            return false;
        }
    }
    false
}
