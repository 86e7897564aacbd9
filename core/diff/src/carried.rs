//! Values that go from iteration to iteration, and share one column of the cache with what they come from.
//!
//! A phi at the head of a loop is in iteration `i` what its *leading* value was in iteration `i - d`, where `d` is the number
//! of phis on the way to it, and in the first `d` iterations what the phis started from. So the column of the leading value
//! serves all, if as many rows as the greatest distance stand in front of it:
//!
//! ```text
//!   row        0         1         2         3         ...        leading value in iteration i: row i + 2
//!   content    start b   start a   lead 0    lead 1    ...        a = phi(start a, lead): row i + 1;  b = phi(start b, a): row i
//! ```
//!
//! Not handled: loops whose number of iterations is not known on entry, or is a small constant; several phis at one distance.

use std::collections::BTreeMap;

use enzyme_ir::cfg::LoopId;
use enzyme_ir::{Facts, Func, Module, Op, ValueId};

use crate::shape::{Shape, Trip};

/// The most rows in front of a column.
const FARTHEST: usize = 4;
/// Constant trip counts below this have no columns that are shared.
const FEWEST_TRIPS: u64 = 16;

/// Where a phi comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Carried {
    /// The value that it was `distance` iterations ago.
    pub leading: ValueId,
    /// How many iterations ago, at least 1.
    pub distance: u64,
}

/// All such phis of a function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chains {
    /// By phi.
    pub phis: BTreeMap<ValueId, Carried>,
    /// By leading value: what the phis at distances 1, 2, ... start from.
    pub starts: BTreeMap<ValueId, Vec<ValueId>>,
}

impl Chains {
    /// Finds them.
    pub fn new(module: &Module, func: &Func, facts: &Facts, shape: &Shape) -> Chains {
        let mut next: BTreeMap<ValueId, (LoopId, ValueId, ValueId)> = BTreeMap::new();
        for (id, l) in shape.loops.loops() {
            let (Some(preheader), [latch]) = (l.preheader, l.latches.as_slice()) else { continue };
            if !shape.trips.get(&id).is_some_and(|t| is_long(module, func, *t)) {
                continue;
            }
            for i in &func.blocks[l.header].insts {
                let inst = &func.insts[*i];
                let Op::Phi(blocks) = &inst.op else { break };
                let from = |b| blocks.iter().position(|x| *x == b).and_then(|n| inst.args.get(n)).copied();
                if let (Some(phi), Some(start), Some(v)) = (inst.result, from(preheader), from(*latch))
                    && module.ctx.types.contains_float(inst.ty)
                    && shape.def_loop(func, v) == Some(id)
                {
                    next.insert(phi, (id, start, v));
                }
            }
        }
        let mut out = Chains::default();
        for phi in next.keys() {
            let (mut path, mut at) = (Vec::new(), *phi);
            while let Some((_, start, v)) = next.get(&at).filter(|_| path.len() <= FARTHEST) {
                path.push(*start);
                at = *v;
            }
            let is_steady = func.def_inst(at).is_some_and(|i| facts.steady_loads.contains_key(&i));
            if path.len() > FARTHEST || is_steady {
                continue;
            }
            // The starts nearest to the leading value come last.
            path.reverse();
            let starts = out.starts.entry(at).or_default();
            let shared = starts.len().min(path.len());
            if starts[..shared] != path[..shared] {
                continue;
            }
            let distance = path.len() as u64;
            starts.extend(path.drain(shared..));
            out.phis.insert(*phi, Carried { leading: at, distance });
        }
        out.starts.retain(|_, s| !s.is_empty());
        out
    }
}

fn is_long(module: &Module, func: &Func, trip: Trip) -> bool {
    match trip {
        Trip::Known(count) => {
            let constant = func.as_const(count).and_then(|c| module.ctx.consts.as_u64(c));
            constant.is_none_or(|n| n >= FEWEST_TRIPS)
        }
        Trip::Counted => false,
    }
}
