//! Dominators and post-dominators.
//!
//! Lengauer and Tarjan, "A fast algorithm for finding dominators in a flowgraph" (TOPLAS 1979), the version with
//! path compression and without balancing: O(edges * log blocks) for every graph. (Iterating to a fixed point as
//! Cooper, Harvey and Kennedy do is quadratic on a long chain of blocks that all leave to one exit, which
//! error-checking code is.) Dominance is answered in constant time from pre-order numbers of the tree.
//!
//! Post-dominators are those of the reversed graph from a virtual exit, which follows each block without successors
//! and, for each cycle that nothing leaves, the last block of it in reverse post-order. Only blocks reachable from
//! the entry are in either tree.

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use petgraph::graph::{DiGraph, NodeIndex};

use super::Cfg;
use crate::func::Func;
use crate::ids::BlockId;

/// A tree of dominators or post-dominators.
#[derive(Clone, Debug)]
pub struct DomTree {
    is_post: bool,
    roots: Vec<BlockId>,
    preorder: Vec<BlockId>,
    nodes: SecondaryMap<BlockId, Node>,
}

#[derive(Clone, Debug, Default)]
struct Node {
    idom: PackedOption<BlockId>,
    children: Vec<BlockId>,
    /// Pre-order numbers of the subtree are `first..end`; empty outside of the tree.
    first: u32,
    end: u32,
    depth: u32,
}

impl DomTree {
    /// Dominators of the blocks that the entry reaches.
    pub fn new(func: &Func, cfg: &Cfg) -> DomTree {
        let number = |b: &BlockId| cfg.rpo_position(*b).map(|i| i as u32);
        let succs: Vec<Vec<u32>> =
            cfg.rpo().iter().map(|b| cfg.succs(*b).iter().filter_map(number).collect()).collect();
        let idoms = if succs.is_empty() { Vec::new() } else { immediate_dominators(&succs, 0) };
        DomTree::from_idoms(func, cfg, &idoms, false)
    }

    /// Post-dominators of the blocks that the entry reaches.
    pub fn post(func: &Func, cfg: &Cfg) -> DomTree {
        let rpo = cfg.rpo();
        let exit = rpo.len();
        let mut reversed: Vec<Vec<u32>> = vec![Vec::new(); exit + 1];
        for (i, b) in rpo.iter().enumerate() {
            for s in cfg.succs(*b) {
                if let Some(s) = cfg.rpo_position(*s) {
                    reversed[s].push(i as u32);
                }
            }
        }
        reversed[exit] = roots_of_reversed(cfg, &reversed);
        let idoms = immediate_dominators(&reversed, exit);
        DomTree::from_idoms(func, cfg, &idoms, true)
    }

    /// Tree over positions in reverse post-order; an immediate dominator past the end is the virtual exit.
    fn from_idoms(func: &Func, cfg: &Cfg, idoms: &[Option<u32>], is_post: bool) -> DomTree {
        let rpo = cfg.rpo();
        let mut nodes: SecondaryMap<BlockId, Node> = SecondaryMap::with_capacity(func.blocks.len());
        let mut roots = Vec::new();
        for (b, idom) in rpo.iter().zip(idoms) {
            match idom.and_then(|i| rpo.get(i as usize)) {
                Some(parent) => {
                    nodes[*b].idom = Some(*parent).into();
                    nodes[*parent].children.push(*b);
                }
                None => roots.push(*b),
            }
        }
        let mut preorder = Vec::with_capacity(rpo.len());
        let mut stack: Vec<BlockId> = roots.iter().rev().copied().collect();
        while let Some(b) = stack.pop() {
            let depth = nodes[b].idom.expand().map_or(0, |p| nodes[p].depth + 1);
            let node = &mut nodes[b];
            node.first = preorder.len() as u32;
            node.end = node.first + 1;
            node.depth = depth;
            preorder.push(b);
            stack.extend(node.children.iter().rev());
        }
        for b in preorder.iter().rev() {
            let end = nodes[*b].end;
            if let Some(p) = nodes[*b].idom.expand() {
                let parent = &mut nodes[p];
                parent.end = parent.end.max(end);
            }
        }
        DomTree { is_post, roots, preorder, nodes }
    }

    /// Whether this is a tree of post-dominators.
    pub fn is_post(&self) -> bool {
        self.is_post
    }

    /// Whether `b` is in the tree, that is, reachable from the entry.
    pub fn contains(&self, b: BlockId) -> bool {
        self.nodes[b].end != 0
    }

    /// The immediate (post-)dominator: `None` for roots (in the post tree: below the virtual exit) and for blocks
    /// outside of the tree.
    pub fn idom(&self, b: BlockId) -> Option<BlockId> {
        self.nodes[b].idom.expand()
    }

    /// Whether every path from the entry to `b` (post: from `b` to the exit) passes `a`; true for `a == b` and, as
    /// there is no such path, whenever `b` is outside of the tree.
    pub fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        if a == b || !self.contains(b) {
            return true;
        }
        let (a, b) = (&self.nodes[a], &self.nodes[b]);
        a.first <= b.first && b.first < a.end
    }

    /// [`DomTree::dominates`] between different blocks.
    pub fn strictly_dominates(&self, a: BlockId, b: BlockId) -> bool {
        a != b && self.dominates(a, b)
    }

    /// Blocks whose immediate (post-)dominator is `b`, in reverse post-order.
    pub fn children(&self, b: BlockId) -> &[BlockId] {
        &self.nodes[b].children
    }

    /// Blocks without immediate dominator: the entry, or the blocks just before the virtual exit.
    pub fn roots(&self) -> &[BlockId] {
        &self.roots
    }

    /// All blocks of the tree, parents before children, each subtree contiguous.
    pub fn preorder(&self) -> &[BlockId] {
        &self.preorder
    }

    /// Number of strict (post-)dominators.
    pub fn depth(&self, b: BlockId) -> u32 {
        self.nodes[b].depth
    }

    /// The lowest block that (post-)dominates both; `None` if there is none or one is outside of the tree.
    pub fn common(&self, a: BlockId, b: BlockId) -> Option<BlockId> {
        if !self.contains(a) || !self.contains(b) {
            return None;
        }
        let mut at = a;
        while !self.dominates(at, b) {
            at = self.idom(at)?;
        }
        Some(at)
    }

    /// Dominance frontier of each block: where its dominance ends. Of the post tree: the blocks whose branch decides
    /// whether the block runs (control dependence). The sum of the sizes can be quadratic in contrived graphs.
    pub fn frontiers(&self, cfg: &Cfg) -> SecondaryMap<BlockId, Vec<BlockId>> {
        let mut out: SecondaryMap<BlockId, Vec<BlockId>> = SecondaryMap::new();
        for b in cfg.rpo() {
            let stop = self.idom(*b);
            let edges = if self.is_post { cfg.succs(*b) } else { cfg.preds(*b) };
            for from in edges {
                let mut at = Some(*from).filter(|f| self.contains(*f));
                while at != stop {
                    let Some(runner) = at else { break };
                    if out[runner].last() == Some(b) {
                        break;
                    }
                    out[runner].push(*b);
                    at = self.idom(runner);
                }
            }
        }
        out
    }
}

/// Where the virtual exit is entered from: blocks without successors, and one block of each cycle without way out.
fn roots_of_reversed(cfg: &Cfg, reversed: &[Vec<u32>]) -> Vec<u32> {
    let rpo = cfg.rpo();
    let mut roots: Vec<u32> = cfg.exits().filter_map(|b| cfg.rpo_position(b)).map(|i| i as u32).collect();
    let mut reached = vec![false; rpo.len()];
    let mut stack = roots.clone();
    while let Some(i) = stack.pop() {
        if !std::mem::replace(&mut reached[i as usize], true) {
            stack.extend(&reversed[i as usize]);
        }
    }
    if reached.iter().all(|r| *r) {
        return roots;
    }
    let mut graph: DiGraph<(), (), u32> = DiGraph::with_capacity(rpo.len(), rpo.len());
    for _ in rpo {
        graph.add_node(());
    }
    for (to, froms) in reversed.iter().enumerate().take(rpo.len()) {
        for from in froms {
            graph.add_edge(NodeIndex::new(*from as usize), NodeIndex::new(to), ());
        }
    }
    let mut component = vec![0usize; rpo.len()];
    let components = petgraph::algo::kosaraju_scc(&graph);
    for (c, members) in components.iter().enumerate() {
        for m in members {
            component[m.index()] = c;
        }
    }
    let mut is_sink = vec![true; components.len()];
    for edge in graph.raw_edges() {
        let from = component[edge.source().index()];
        if from != component[edge.target().index()] {
            is_sink[from] = false;
        }
    }
    for (c, members) in components.iter().enumerate() {
        let Some(last) = members.iter().map(|m| m.index()).max() else { continue };
        if is_sink[c] && !reached[last] {
            roots.push(last as u32);
        }
    }
    roots.sort_unstable();
    roots
}

/// Immediate dominators of nodes `0..succs.len()` from `root`; `None` for the root and nodes it does not reach.
pub(super) fn immediate_dominators(succs: &[Vec<u32>], root: usize) -> Vec<Option<u32>> {
    const NONE: u32 = u32::MAX;
    // From here on nodes go by their number in a depth-first search.
    let mut number = vec![NONE; succs.len()];
    let mut vertex: Vec<u32> = Vec::with_capacity(succs.len());
    let mut parent: Vec<u32> = Vec::with_capacity(succs.len());
    number[root] = 0;
    vertex.push(root as u32);
    parent.push(NONE);
    let mut stack = vec![(root, 0usize)];
    while let Some((node, next)) = stack.last_mut() {
        let Some(to) = succs[*node].get(*next).map(|t| *t as usize) else {
            stack.pop();
            continue;
        };
        *next += 1;
        if number[to] == NONE {
            number[to] = vertex.len() as u32;
            parent.push(number[*node]);
            vertex.push(to as u32);
            stack.push((to, 0));
        }
    }
    let count = vertex.len();
    let mut preds: Vec<Vec<u32>> = vec![Vec::new(); count];
    for (from, v) in vertex.iter().enumerate() {
        for to in &succs[*v as usize] {
            preds[number[*to as usize] as usize].push(from as u32);
        }
    }

    let mut forest = Forest {
        ancestor: vec![NONE; count],
        label: (0..count as u32).collect(),
        semi: (0..count as u32).collect(),
        path: Vec::new(),
    };
    let mut bucket: Vec<Vec<u32>> = vec![Vec::new(); count];
    let mut idom = vec![0u32; count];
    for w in (1..count).rev() {
        for v in &preds[w] {
            let u = forest.eval(*v as usize);
            forest.semi[w] = forest.semi[w].min(forest.semi[u]);
        }
        bucket[forest.semi[w] as usize].push(w as u32);
        let p = parent[w] as usize;
        forest.ancestor[w] = p as u32;
        for v in std::mem::take(&mut bucket[p]) {
            let u = forest.eval(v as usize);
            idom[v as usize] = if forest.semi[u] < forest.semi[v as usize] { u as u32 } else { p as u32 };
        }
    }
    let mut out = vec![None; succs.len()];
    for w in 1..count {
        if idom[w] != forest.semi[w] {
            idom[w] = idom[idom[w] as usize];
        }
        out[vertex[w] as usize] = Some(vertex[idom[w] as usize]);
    }
    out
}

/// The forest of nodes linked so far, with compressed paths.
struct Forest {
    ancestor: Vec<u32>,
    label: Vec<u32>,
    semi: Vec<u32>,
    path: Vec<usize>,
}

impl Forest {
    /// The node of least semidominator on the path from `v` up to, not including, the root of its tree.
    fn eval(&mut self, v: usize) -> usize {
        const NONE: u32 = u32::MAX;
        if self.ancestor[v] == NONE {
            return v;
        }
        let mut at = v;
        while self.ancestor[self.ancestor[at] as usize] != NONE {
            self.path.push(at);
            at = self.ancestor[at] as usize;
        }
        while let Some(node) = self.path.pop() {
            let above = self.ancestor[node] as usize;
            if self.semi[self.label[above] as usize] < self.semi[self.label[node] as usize] {
                self.label[node] = self.label[above];
            }
            self.ancestor[node] = self.ancestor[above];
        }
        self.label[v] as usize
    }
}
