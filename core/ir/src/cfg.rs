//! Control flow: predecessors, successors, reachability, reverse post-order; dominators and loops in the sub-modules.
//!
//! All results are owned values computed from an immutable function by plain functions, without recursion, in time
//! linear in the number of edges (dominators: O(edges * log blocks)). They describe the function as it was.
//!
//! Malformed functions are tolerated: a block without terminator has no successors, targets that do not exist are
//! left out, blocks outside of the layout are unreachable.

mod dom;
mod loops;
#[cfg(test)]
mod tests;

use cranelift_entity::SecondaryMap;

use crate::func::Func;
use crate::ids::BlockId;

pub use dom::DomTree;
pub use loops::{Loop, LoopId, LoopNest};

/// Edges between the blocks of a function.
#[derive(Clone, Debug)]
pub struct Cfg {
    entry: Option<BlockId>,
    succs: SecondaryMap<BlockId, Vec<BlockId>>,
    preds: SecondaryMap<BlockId, Vec<BlockId>>,
    rpo: Vec<BlockId>,
    position: SecondaryMap<BlockId, u32>,
}

/// Position of blocks that are not reached.
const UNREACHED: u32 = u32::MAX;

impl Cfg {
    /// The edges of `func`. Predecessors include unreachable ones and repeat as edges do.
    pub fn new(func: &Func) -> Cfg {
        let count = func.blocks.len();
        let mut succs: SecondaryMap<BlockId, Vec<BlockId>> = SecondaryMap::with_capacity(count);
        let mut preds: SecondaryMap<BlockId, Vec<BlockId>> = SecondaryMap::with_capacity(count);
        let mut placed = SecondaryMap::with_capacity(count);
        let mut blocks = Vec::with_capacity(count);
        for b in &func.layout {
            if func.blocks.is_valid(*b) && !std::mem::replace(&mut placed[*b], true) {
                blocks.push(*b);
            }
        }
        for b in blocks {
            let last = func.blocks[b].insts.last();
            let Some(inst) = last.and_then(|i| func.insts.get(*i)) else { continue };
            if !inst.op.is_terminator() {
                continue;
            }
            let mut targets = inst.op.successors();
            targets.retain(|t| placed.get(*t).copied().unwrap_or(false));
            for t in &targets {
                preds[*t].push(b);
            }
            succs[b] = targets;
        }
        let entry = func.entry().filter(|e| func.blocks.is_valid(*e));
        let rpo = reverse_post_order(entry, &succs, count);
        let mut position = SecondaryMap::with_default(UNREACHED);
        for (i, b) in rpo.iter().enumerate() {
            position[*b] = i as u32;
        }
        Cfg { entry, succs, preds, rpo, position }
    }

    /// The entry block, if there is one.
    pub fn entry(&self) -> Option<BlockId> {
        self.entry
    }

    /// Sources of the edges into `b`, one per edge.
    pub fn preds(&self, b: BlockId) -> &[BlockId] {
        self.preds.get(b).map_or(&[], |v| v)
    }

    /// Targets of the edges out of `b`, one per edge, in operand order.
    pub fn succs(&self, b: BlockId) -> &[BlockId] {
        self.succs.get(b).map_or(&[], |v| v)
    }

    /// The different predecessors that are reachable, in order of their first edge.
    pub fn reachable_preds(&self, b: BlockId) -> Vec<BlockId> {
        let mut out: Vec<BlockId> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for p in self.preds(b) {
            if self.is_reachable(*p) && seen.insert(*p) {
                out.push(*p);
            }
        }
        out
    }

    /// The reachable blocks, each before its successors unless the edge closes a cycle.
    pub fn rpo(&self) -> &[BlockId] {
        &self.rpo
    }

    /// Position of `b` in [`Cfg::rpo`].
    pub fn rpo_position(&self, b: BlockId) -> Option<usize> {
        let at = self.position[b];
        (at != UNREACHED).then_some(at as usize)
    }

    /// Whether a path leads from the entry to `b`.
    pub fn is_reachable(&self, b: BlockId) -> bool {
        self.position[b] != UNREACHED
    }

    /// Reachable blocks without successors, in reverse post-order.
    pub fn exits(&self) -> impl Iterator<Item = BlockId> + '_ {
        self.rpo.iter().copied().filter(|b| self.succs(*b).is_empty())
    }
}

/// Depth-first search from `entry`. Successors are taken last to first, so that the first one of a branch comes
/// first in the result and the body of a loop usually stands before what follows the loop.
fn reverse_post_order(
    entry: Option<BlockId>,
    succs: &SecondaryMap<BlockId, Vec<BlockId>>,
    count: usize,
) -> Vec<BlockId> {
    let mut order = Vec::with_capacity(count);
    let Some(entry) = entry else { return order };
    let mut seen: SecondaryMap<BlockId, bool> = SecondaryMap::with_capacity(count);
    seen[entry] = true;
    let mut stack = vec![(entry, succs[entry].len())];
    while let Some((block, left)) = stack.last_mut() {
        if *left == 0 {
            order.push(*block);
            stack.pop();
            continue;
        }
        *left -= 1;
        let next = succs[*block][*left];
        if !std::mem::replace(&mut seen[next], true) {
            stack.push((next, succs[next].len()));
        }
    }
    order.reverse();
    order
}
