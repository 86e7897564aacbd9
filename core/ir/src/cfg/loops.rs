//! The nest of natural loops, and the cycles that are none.
//!
//! A back edge goes to a block that dominates its source; a natural loop is a header and all that reaches one of its
//! latches without passing the header. Inner headers come later in reverse post-order than outer ones, so loops are
//! found innermost first and what was found is stepped over as one node (as in Havlak, "Nesting of reducible and
//! irreducible loops", TOPLAS 1997, restricted to natural loops): near-linear, whatever the depth.
//!
//! Blocks are kept in an order in which each loop is contiguous, starts with its header, and which is topological but
//! for the edges that close cycles (a weak topological order, Bourdoncle, FMPA 1993).
//!
//! Cycles with several entries are not loops here; they are reported as irreducible regions.

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap, entity_impl};
use petgraph::graph::{DiGraph, NodeIndex};

use super::{Cfg, DomTree};
use crate::func::Func;
use crate::ids::BlockId;

/// A natural loop of one function. Outer loops have smaller numbers than those inside of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LoopId(u32);
entity_impl!(LoopId, "loop");

/// A natural loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The only block through which the loop is entered.
    pub header: BlockId,
    /// Sources of the back edges, in reverse post-order, each once.
    pub latches: Vec<BlockId>,
    /// The loop around this one.
    pub parent: Option<LoopId>,
    /// The loops directly inside of this one, in order of their headers.
    pub children: Vec<LoopId>,
    /// 1 for an outermost loop.
    pub depth: u32,
    /// The only block outside from which the header is entered, if it leads nowhere else.
    pub preheader: Option<BlockId>,
    start: usize,
    end: usize,
}

/// All loops of a function.
#[derive(Clone, Debug)]
pub struct LoopNest {
    loops: PrimaryMap<LoopId, Loop>,
    innermost: SecondaryMap<BlockId, PackedOption<LoopId>>,
    order: Vec<BlockId>,
    position: SecondaryMap<BlockId, Option<u32>>,
    irreducible: Vec<Vec<BlockId>>,
    in_irreducible: SecondaryMap<BlockId, bool>,
}

impl LoopNest {
    /// The loops of the reachable part of `func`.
    pub fn new(func: &Func, cfg: &Cfg, dom: &DomTree) -> LoopNest {
        let mut loops: PrimaryMap<LoopId, Loop> = PrimaryMap::new();
        for header in cfg.rpo() {
            let mut latches: Vec<BlockId> = cfg.reachable_preds(*header);
            latches.retain(|p| dom.dominates(*header, *p));
            if latches.is_empty() {
                continue;
            }
            latches.sort_by_key(|b| cfg.rpo_position(*b));
            let preheader = preheader(cfg, dom, *header);
            loops.push(Loop {
                header: *header,
                latches,
                parent: None,
                children: Vec::new(),
                depth: 1,
                preheader,
                start: 0,
                end: 0,
            });
        }
        let innermost = fill(func, cfg, &mut loops);
        for id in loops.keys() {
            if let Some(parent) = loops[id].parent {
                loops[id].depth = loops[parent].depth + 1;
                loops[parent].children.push(id);
            }
        }
        let mut nest = LoopNest {
            loops,
            innermost,
            order: Vec::with_capacity(cfg.rpo().len()),
            position: SecondaryMap::with_capacity(func.blocks.len()),
            irreducible: Vec::new(),
            in_irreducible: SecondaryMap::new(),
        };
        nest.arrange(cfg);
        nest.find_irreducible(cfg, dom);
        nest
    }

    /// Number of loops.
    pub fn len(&self) -> usize {
        self.loops.len()
    }

    /// Whether there is no natural loop.
    pub fn is_empty(&self) -> bool {
        self.loops.is_empty()
    }

    /// The loops, outer ones before those inside of them.
    pub fn loops(&self) -> impl DoubleEndedIterator<Item = (LoopId, &Loop)> + '_ {
        self.loops.iter()
    }

    /// The outermost loops, in reverse post-order of their headers.
    pub fn outermost(&self) -> impl Iterator<Item = LoopId> + '_ {
        self.loops.iter().filter(|(_, l)| l.parent.is_none()).map(|(id, _)| id)
    }

    /// The innermost loop around `b`.
    pub fn innermost(&self, b: BlockId) -> Option<LoopId> {
        self.innermost[b].expand()
    }

    /// Number of loops around `b`.
    pub fn depth(&self, b: BlockId) -> u32 {
        self.innermost(b).map_or(0, |l| self.loops[l].depth)
    }

    /// The loops around `b`, innermost first.
    pub fn around(&self, b: BlockId) -> impl Iterator<Item = LoopId> + '_ {
        std::iter::successors(self.innermost(b), |l| self.loops[*l].parent)
    }

    /// The loop that `b` is the header of.
    pub fn headed_by(&self, b: BlockId) -> Option<LoopId> {
        self.innermost(b).filter(|l| self.loops[*l].header == b)
    }

    /// The only block from which the loop is entered, if it leads nowhere else.
    pub fn preheader(&self, l: LoopId) -> Option<BlockId> {
        self.loops[l].preheader
    }

    /// The blocks of a loop with those of the loops inside: header first, each inner loop contiguous, successors later
    /// except along back edges (and edges of irreducible regions).
    pub fn blocks(&self, l: LoopId) -> &[BlockId] {
        self.order.get(self.loops[l].start..self.loops[l].end).unwrap_or(&[])
    }

    /// All reachable blocks in the order described at [`LoopNest::blocks`].
    pub fn order(&self) -> &[BlockId] {
        &self.order
    }

    /// Whether `b` is in loop `l` or in one inside of it.
    pub fn contains(&self, l: LoopId, b: BlockId) -> bool {
        self.position[b].is_some_and(|p| (self.loops[l].start..self.loops[l].end).contains(&(p as usize)))
    }

    /// Whether loop `inner` is `outer` or inside of it.
    pub fn encloses(&self, outer: LoopId, inner: LoopId) -> bool {
        self.contains(outer, self.loops[inner].header)
    }

    /// The edges out of a loop: exiting block, block outside; in the order of [`LoopNest::blocks`], one per edge.
    pub fn exits(&self, cfg: &Cfg, l: LoopId) -> Vec<(BlockId, BlockId)> {
        let mut out = Vec::new();
        for b in self.blocks(l) {
            out.extend(cfg.succs(*b).iter().filter(|s| !self.contains(l, **s)).map(|s| (*b, *s)));
        }
        out
    }

    /// Cycles with several entries, each with all natural loops headed in it, in reverse post-order. Regions may nest.
    pub fn irreducible(&self) -> &[Vec<BlockId>] {
        &self.irreducible
    }

    /// Whether `b` is in an irreducible region.
    pub fn is_irreducible(&self, b: BlockId) -> bool {
        self.in_irreducible[b]
    }

    /// Lays out the blocks so that each loop is contiguous.
    fn arrange(&mut self, cfg: &Cfg) {
        #[derive(Clone, Copy)]
        enum Item {
            Block(BlockId),
            Enter(LoopId),
            Leave(LoopId),
        }
        let mut items: SecondaryMap<LoopId, Vec<Item>> = SecondaryMap::with_capacity(self.loops.len());
        let mut top = Vec::new();
        for b in cfg.rpo() {
            let mut around = self.innermost(*b);
            let mut item = Item::Block(*b);
            if let Some(l) = self.headed_by(*b) {
                items[l].push(item);
                item = Item::Enter(l);
                around = self.loops[l].parent;
            }
            match around {
                Some(l) => items[l].push(item),
                None => top.push(item),
            }
        }
        top.reverse();
        while let Some(item) = top.pop() {
            match item {
                Item::Block(b) => {
                    self.position[b] = Some(self.order.len() as u32);
                    self.order.push(b);
                }
                Item::Enter(l) => {
                    self.loops[l].start = self.order.len();
                    top.push(Item::Leave(l));
                    top.extend(items[l].drain(..).rev());
                }
                Item::Leave(l) => self.loops[l].end = self.order.len(),
            }
        }
    }

    /// Without its back edges a reducible graph has no cycles: those left are the irreducible ones.
    fn find_irreducible(&mut self, cfg: &Cfg, dom: &DomTree) {
        let rpo = cfg.rpo();
        let mut graph: DiGraph<(), (), u32> = DiGraph::with_capacity(rpo.len(), rpo.len());
        for _ in rpo {
            graph.add_node(());
        }
        let mut retreats = false;
        for (i, b) in rpo.iter().enumerate() {
            for s in cfg.succs(*b) {
                let Some(to) = cfg.rpo_position(*s) else { continue };
                if !dom.dominates(*s, *b) {
                    retreats |= to <= i;
                    graph.add_edge(NodeIndex::new(i), NodeIndex::new(to), ());
                }
            }
        }
        if !retreats {
            return;
        }
        for component in petgraph::algo::kosaraju_scc(&graph) {
            if component.len() < 2 {
                continue;
            }
            let mut region: Vec<usize> = Vec::new();
            for node in component {
                let b = rpo[node.index()];
                region.push(node.index());
                if let Some(l) = self.headed_by(b) {
                    region.extend(self.blocks(l).iter().filter_map(|b| cfg.rpo_position(*b)));
                }
            }
            region.sort_unstable();
            region.dedup();
            let blocks: Vec<BlockId> = region.iter().map(|i| rpo[*i]).collect();
            blocks.iter().for_each(|b| self.in_irreducible[*b] = true);
            self.irreducible.push(blocks);
        }
        self.irreducible.sort_by_key(|r| r.first().and_then(|b| cfg.rpo_position(*b)));
    }
}

impl std::ops::Index<LoopId> for LoopNest {
    type Output = Loop;
    fn index(&self, id: LoopId) -> &Loop {
        &self.loops[id]
    }
}

fn preheader(cfg: &Cfg, dom: &DomTree, header: BlockId) -> Option<BlockId> {
    let mut outside = cfg.reachable_preds(header).into_iter().filter(|p| !dom.dominates(header, *p));
    let only = outside.next()?;
    (outside.next().is_none() && cfg.succs(only).len() == 1).then_some(only)
}

/// Finds the blocks of each loop, innermost loops first, and the parents.
fn fill(func: &Func, cfg: &Cfg, loops: &mut PrimaryMap<LoopId, Loop>) -> SecondaryMap<BlockId, PackedOption<LoopId>> {
    let mut innermost: SecondaryMap<BlockId, PackedOption<LoopId>> = SecondaryMap::with_capacity(func.blocks.len());
    // The outermost loop known around each loop, with compressed paths.
    let mut outer: Vec<LoopId> = loops.keys().collect();
    for id in loops.keys().rev() {
        let header = loops[id].header;
        let mut work = loops[id].latches.clone();
        innermost[header] = Some(id).into();
        while let Some(b) = work.pop() {
            let Some(found) = innermost[b].expand() else {
                innermost[b] = Some(id).into();
                work.extend(cfg.preds(b).iter().filter(|p| cfg.is_reachable(**p)));
                continue;
            };
            let top = find(&mut outer, found);
            if top == id {
                continue;
            }
            outer[top.index()] = id;
            loops[top].parent = Some(id);
            work.extend(cfg.preds(loops[top].header).iter().filter(|p| cfg.is_reachable(**p)));
        }
    }
    innermost
}

/// Representative of the set of `l`, halving the path on the way.
fn find(outer: &mut [LoopId], mut l: LoopId) -> LoopId {
    while outer[l.index()] != l {
        outer[l.index()] = outer[outer[l.index()].index()];
        l = outer[l.index()];
    }
    l
}
