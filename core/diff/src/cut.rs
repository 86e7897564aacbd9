//! Cache or rebuild: the cheapest choice, by a minimum cut.
//!
//! Each key `k` has two vertices. `in_k` on the sink's side means "the reverse sweep must get k"; `out_k` on the sink's
//! side means "k is rebuilt". Cutting `out_k -> in_k` is caching it, cutting `source -> out_k` is paying for its
//! rebuilding, and an infinite edge `in_d -> out_k` for each operand `d` says that who rebuilds `k` must get `d`.
//!
//! ```text
//!   source --rebuild(k)--> out_k --cache(k)--> in_k --inf--> sink      (k needed)
//!                            ^
//!                          in_d  (inf, for each operand d of k)
//! ```
//!
//! What is needed is at the sink, and what can't be rebuilt at the source: the network falls into parts that share nothing but its
//! ends, each of which is cut by itself.
//!
//! The cut is exact for this cost model (a key that is both cached and rebuilt for others pays both). Flow by Dinic's
//! algorithm from petgraph. The costs are those of `keys` and [`CACHE_BASE`], times how often the scope of a key runs.
//! What the forward sweep would compute for nothing but the cache, since nobody asks for the primal's result, is part of
//! the price of caching: then it is computed in either sweep, and rebuilding saves the cache.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::SecondaryMap;
use enzyme_analysis::{Callee, resolve};
use enzyme_ir::cfg::LoopId;
use enzyme_ir::{InstId, Module, Op};
use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};
use petgraph::unionfind::UnionFind;
use petgraph::visit::EdgeRef;

use crate::keys::cost::LOAD;
use crate::keys::{Key, Source, Subject, cached_bytes, derive};

type Sources = BTreeMap<Key, Source>;
type Computed = SecondaryMap<InstId, bool>;

/// Cost of storing and loading a cached value in a loop, in quarters of a simple operation, without its bytes.
const CACHE_BASE: u64 = 48;
/// Cost of each of its bytes: what does not fit the nearest cache passes through the next ones twice.
const CACHE_BYTE: u64 = 2;
/// Cost of keeping a value that is defined outside of all loops.
const CACHE_OUTSIDE: u64 = 6;
/// Trip count taken for a loop of which none is known.
const UNKNOWN_TRIPS: u64 = 16;
/// The same for loops over pairs, edges, or entries of a sparse matrix: there are several for each particle, node or row.
const UNKNOWN_PAIRS: u64 = 64;
/// Weights stay below this, so that sums do not overflow.
const MAX_WEIGHT: u64 = 1 << 36;
/// Above this number of edges in one part of the network, what that part needs directly is cached, for the sake of compile time.
const MAX_EDGES: usize = 200_000;
const INFINITE: u64 = 1 << 50;
/// Values that are looked at to see what one value costs to compute.
const CONE_LIMIT: usize = 64;

/// What caching costs, in percent of what is thought to be right: 1 caches all that is needed directly, a very large number rebuilds
/// all that can be rebuilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CachePrice(pub u64);

impl Default for CachePrice {
    fn default() -> Self {
        Self(100)
    }
}

/// The choice for every key that takes part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choice {
    /// Keys to cache.
    pub cached: BTreeSet<Key>,
    /// Keys to rebuild.
    pub rebuilt: BTreeSet<Key>,
}

/// How often the body of `l` runs per call, roughly.
pub fn weight(module: &Module, s: &Subject<'_>, l: Option<LoopId>) -> u64 {
    let mut total = 1u64;
    let mut at = l;
    while let Some(id) = at {
        let known = s.trips_of(module, id);
        let unknown = if s.shape.gathering.contains(&id) { UNKNOWN_PAIRS } else { UNKNOWN_TRIPS };
        total = total.saturating_mul(known.unwrap_or(unknown).max(1)).min(MAX_WEIGHT);
        at = s.scope(Key::Count(id));
    }
    total
}

fn value_type(module: &Module, s: &Subject<'_>, key: Key) -> u64 {
    match key {
        Key::Primal(v) | Key::Shadow(v) | Key::Column(v) => cached_bytes(module, s.func.ty(v)),
        Key::Entered(_) => 4,
        Key::Count(_) | Key::Tape(_) | Key::Latest(_) => 8,
    }
}

/// What storing and loading `key` costs in all.
fn caching_cost(module: &Module, s: &Subject<'_>, key: Key, price: CachePrice) -> u64 {
    let scope = s.scope(key);
    let lanes = if matches!(key, Key::Shadow(_)) { u64::from(s.key.width) } else { 1 };
    let bytes = value_type(module, s, key).saturating_mul(lanes);
    let once = if scope.is_some() { CACHE_BASE + CACHE_BYTE * bytes } else { CACHE_OUTSIDE + bytes / 8 };
    let times = weight(module, s, scope);
    // Of what is overwritten for sure, a comparison at run time hardly says that it is not. What is kept once is read each time.
    let sum = match crate::steady::of(s, key) {
        Some(place) if place.condition.is_none() || !s.undo.offers(key) => {
            let rows = once.saturating_mul(crate::steady::rows(module, s, &place));
            rows.saturating_add(LOAD.saturating_mul(times)).min(once.saturating_mul(times))
        }
        Some(_) | None => once.saturating_mul(times),
    };
    let all = u128::from(sum) * u128::from(price.0) / 100;
    u64::try_from(all).unwrap_or(u64::MAX).clamp(1, INFINITE / 4)
}

/// The cheapest way to have all of `needed`, and what it costs in quarters of a simple operation.
pub fn choose(module: &Module, s: &Subject<'_>, needed: &BTreeSet<Key>, price: CachePrice) -> (Choice, u64) {
    let mut sources = Sources::new();
    // An address in a shadow that each sweep has of its own is rebuilt.
    let mut own = BTreeSet::new();
    let mut wanted = BTreeSet::new();
    let mut work: Vec<Key> = needed.iter().copied().collect();
    while let Some(k) = work.pop() {
        match (k, derive(module, s, k)) {
            (Key::Shadow(v), Source::Rebuild(from, _)) if s.has_own_shadow(v) => {
                if own.insert(k) {
                    work.extend(from);
                }
            }
            _ => {
                wanted.insert(k);
            }
        }
    }
    let needed = &wanted;
    let mut work: Vec<Key> = needed.iter().copied().collect();
    while let Some(k) = work.pop() {
        if sources.contains_key(&k) {
            continue;
        }
        let source = derive(module, s, k);
        if let Source::Rebuild(from, _) = &source {
            work.extend(from.iter().copied());
            work.extend(s.undo.demands(k));
        }
        sources.insert(k, source);
    }
    let (mut choice, cost) = cut(module, s, needed, &sources, price);
    choice.rebuilt.extend(own);
    (choice, cost)
}

/// What caching costs, in a function of which `needed` is needed.
pub struct Prices<'a> {
    module: &'a Module,
    s: &'a Subject<'a>,
    price: CachePrice,
    anyway: Computed,
}

impl<'a> Prices<'a> {
    /// Looks at what the forward sweep computes in any case.
    pub fn new(module: &'a Module, s: &'a Subject<'a>, needed: &BTreeSet<Key>, price: CachePrice) -> Self {
        Prices { module, s, price, anyway: computed_anyway(module, s, needed) }
    }

    /// What caching `key` costs in all, in quarters of a simple operation.
    pub fn caching(&self, key: Key) -> u64 {
        let computing = computing_cost(self.module, self.s, key, &self.anyway);
        (caching_cost(self.module, self.s, key, self.price) + computing).min(INFINITE / 4)
    }
}

/// What the forward sweep computes whatever is cached: what its effects and branches need, what the caller gets, and
/// what the reverse sweep reads and only a cache can give back.
fn computed_anyway(module: &Module, s: &Subject<'_>, needed: &BTreeSet<Key>) -> Computed {
    let mut work: Vec<InstId> = Vec::new();
    for (_, i) in s.func.placed() {
        let op = &s.func.insts[i].op;
        let is_result = matches!(op, Op::Ret);
        let acts = match op {
            Op::Ret => s.is_split() || s.key.value,
            Op::Call(_) | Op::Invoke { .. } => match resolve(module, s.func, i) {
                Callee::Math(math) => !math.is_pure(),
                Callee::Known(known) => !known.is_pure(),
                Callee::Defined(_) | Callee::Unknown(_) => true,
            },
            Op::Load(access) => access.volatile || access.ordering != enzyme_ir::Ordering::NotAtomic,
            Op::Store(_) | Op::Fence(_) | Op::CmpXchg { .. } | Op::AtomicRmw(..) | Op::VaArg => true,
            _ => op.is_terminator() && !is_result,
        };
        if acts {
            work.push(i);
        }
    }
    for k in needed {
        if let Key::Latest(v) = k {
            work.extend(s.func.def_inst(*v));
        }
        let Key::Primal(v) = k else { continue };
        match derive(module, s, *k) {
            Source::Root => work.extend(s.func.def_inst(*v)),
            Source::Rebuild(from, _) => {
                if let [Key::Column(leading)] = from.as_slice() {
                    work.extend(s.func.def_inst(*leading));
                }
            }
            Source::Free => {}
        }
    }
    let mut out = Computed::new();
    while let Some(i) = work.pop() {
        if !std::mem::replace(&mut out[i], true) {
            work.extend(s.func.insts[i].args.iter().filter_map(|a| s.func.def_inst(*a)));
        }
    }
    out
}

/// What the forward sweep computes for the sake of caching `key` alone.
fn computing_cost(module: &Module, s: &Subject<'_>, key: Key, anyway: &Computed) -> u64 {
    let (Key::Primal(v) | Key::Column(v)) = key else { return 0 };
    let mut work = vec![v];
    let mut seen = BTreeSet::new();
    let mut total = 0u64;
    while let Some(v) = work.pop() {
        let Some(i) = s.func.def_inst(v).filter(|i| !anyway[*i]) else { continue };
        if seen.len() >= CONE_LIMIT || !seen.insert(v) {
            continue;
        }
        let own = match derive(module, s, Key::Primal(v)) {
            Source::Rebuild(_, cost) => cost.saturating_mul(weight(module, s, s.scope(Key::Primal(v)))),
            Source::Free | Source::Root => 0,
        };
        total = total.saturating_add(own).min(INFINITE / 8);
        work.extend(s.func.insts[i].args.iter().copied());
    }
    total
}

/// The two ends of the network; other vertices count from [`FIRST`].
const SOURCE: usize = 0;
const SINK: usize = 1;
const FIRST: usize = 2;

fn cut(
    module: &Module,
    s: &Subject<'_>,
    needed: &BTreeSet<Key>,
    sources: &Sources,
    price: CachePrice,
) -> (Choice, u64) {
    let prices = Prices::new(module, s, needed, price);
    let mut next = FIRST;
    let mut vertex = |fixed: Option<usize>| {
        fixed.unwrap_or_else(|| {
            next += 1;
            next - 1
        })
    };
    let mut vertices: BTreeMap<Key, (usize, usize)> = BTreeMap::new();
    for (k, how) in sources.iter().filter(|(_, how)| **how != Source::Free) {
        let inner = vertex(needed.contains(k).then_some(SINK));
        let outer = vertex((*how == Source::Root).then_some(SOURCE));
        vertices.insert(*k, (inner, outer));
    }
    let mut edges: Vec<Edge> = Vec::new();
    for (k, (inner, outer)) in &vertices {
        edges.push((*outer, *inner, prices.caching(*k)));
        if let Some(Source::Rebuild(from, cost)) = sources.get(k) {
            let times = weight(module, s, s.scope(*k));
            edges.push((SOURCE, *outer, cost.saturating_mul(times).min(INFINITE / 4)));
            let demands = s.undo.demands(*k);
            let operands = from.iter().chain(&demands).filter_map(|d| vertices.get(d));
            edges.extend(operands.map(|(operand, _)| (*operand, *outer, INFINITE)));
        }
    }
    let on_source_side = source_side(next, &edges);
    let mut choice = Choice::default();
    let mut total = 0u64;
    for (k, (inner, outer)) in &vertices {
        let must_get = !on_source_side[*inner];
        let is_rebuilt = !on_source_side[*outer];
        if must_get && is_rebuilt {
            choice.rebuilt.insert(*k);
            if let Some(Source::Rebuild(_, cost)) = sources.get(k) {
                total = total.saturating_add(cost.saturating_mul(weight(module, s, s.scope(*k))));
            }
        } else if must_get {
            choice.cached.insert(*k);
            total = total.saturating_add(prices.caching(*k));
        }
    }
    for i in s.undo.undone(&choice.rebuilt) {
        let around = s.shape.block_of[i].and_then(|b| s.shape.loops.innermost(b));
        total = total.saturating_add(LOAD.saturating_mul(weight(module, s, around)));
    }
    (choice, total)
}

/// From, to, capacity.
type Edge = (usize, usize, u64);

/// Which of `count` vertices a minimum cut leaves with the source, the fewest that can be. What hangs together only through the
/// ends is cut apart from the rest: a function is mostly many small questions, and the time of a flow grows faster than its network.
fn source_side(count: usize, edges: &[Edge]) -> Vec<bool> {
    // No flow leaves the sink or comes back to the source, and what joins them directly is cut in any case.
    let counts = |e: &&Edge| e.0 != SINK && e.1 != SOURCE && (e.0, e.1) != (SOURCE, SINK);
    let mut parts = UnionFind::<usize>::new(count);
    for (from, to, _) in edges.iter().filter(counts).filter(|e| e.0 != SOURCE && e.1 != SINK) {
        parts.union(*from, *to);
    }
    let mut by_part: BTreeMap<usize, Vec<Edge>> = BTreeMap::new();
    for edge in edges.iter().filter(counts) {
        let within = if edge.0 == SOURCE { edge.1 } else { edge.0 };
        by_part.entry(parts.find_mut(within)).or_default().push(*edge);
    }
    let mut side = vec![false; count];
    side[SOURCE] = true;
    for edges in by_part.values() {
        if edges.len() > MAX_EDGES {
            for (from, to, _) in edges {
                side[*from] = true;
                side[*to] |= *to != SINK;
            }
            continue;
        }
        let mut graph: DiGraph<usize, u64> = DiGraph::new();
        let mut nodes: BTreeMap<usize, NodeIndex> = BTreeMap::new();
        let (source, sink) = (graph.add_node(SOURCE), graph.add_node(SINK));
        nodes.extend([(SOURCE, source), (SINK, sink)]);
        for (from, to, capacity) in edges {
            let [from, to] = [from, to].map(|v| *nodes.entry(*v).or_insert_with(|| graph.add_node(*v)));
            graph.add_edge(from, to, *capacity);
        }
        let (_, flows) = petgraph::algo::dinics(&graph, source, sink);
        let mut seen = vec![false; graph.node_count()];
        let mut work = vec![source];
        while let Some(n) = work.pop() {
            if std::mem::replace(&mut seen[n.index()], true) {
                continue;
            }
            side[graph[n]] = true;
            let flow = |id: EdgeIndex| flows.get(id.index()).copied().unwrap_or_default();
            work.extend(graph.edges(n).filter(|e| flow(e.id()) < *e.weight()).map(|e| e.target()));
            let back = graph.edges_directed(n, petgraph::Direction::Incoming);
            work.extend(back.filter(|e| flow(e.id()) > 0).map(|e| e.source()));
        }
    }
    side
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What cutting along `side` costs.
    fn cost(edges: &[Edge], side: &dyn Fn(usize) -> bool) -> u64 {
        edges.iter().filter(|(from, to, _)| side(*from) && !side(*to)).map(|e| e.2).sum()
    }

    #[test]
    fn small_networks_are_cut_where_trying_all_ways_cuts_them() {
        const INNER: usize = 7;
        let mut state = 7u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for round in 0..300 {
            let mut edges = Vec::new();
            for _ in 0..4 + round % 12 {
                let (from, to) = (random(FIRST + INNER), random(FIRST + INNER));
                let capacity = if random(4) == 0 && from != SOURCE { INFINITE } else { random(20) as u64 };
                if from != to && from != SINK && to != SOURCE {
                    edges.push((from, to, capacity));
                }
            }
            let of = |bits: usize| move |v: usize| v == SOURCE || (v != SINK && bits >> (v - FIRST) & 1 == 1);
            let ways = 0..1usize << INNER;
            let best = ways.min_by_key(|bits| (cost(&edges, &of(*bits)), bits.count_ones())).unwrap();
            let side = source_side(FIRST + INNER, &edges);
            let expected: Vec<bool> = (0..FIRST + INNER).map(of(best)).collect();
            assert_eq!(side, expected, "{edges:?}");
        }
    }

    #[test]
    fn a_part_that_is_too_large_keeps_what_it_needs() {
        let mut edges: Vec<Edge> = (0..MAX_EDGES).map(|n| (FIRST + n, FIRST + n + 1, 1)).collect();
        edges.extend([(SOURCE, FIRST, 5), (FIRST + MAX_EDGES, SINK, 7)]);
        let side = source_side(FIRST + MAX_EDGES + 1, &edges);
        assert!(!side[SINK] && side.iter().filter(|on| !**on).count() == 1);
    }
}
