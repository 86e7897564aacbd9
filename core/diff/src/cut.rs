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
//! The cut is exact for this cost model (a key that is both cached and rebuilt for others pays both). Flow by Dinic's
//! algorithm from petgraph. The costs are those of `keys` and [`CACHE_BASE`], times how often the scope of a key runs.
//! What the forward sweep would compute for nothing but the cache, since nobody asks for the primal's result, is part of
//! the price of caching: then it is computed in either sweep, and rebuilding saves the cache.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::SecondaryMap;
use enzyme_analysis::{Callee, resolve};
use enzyme_ir::cfg::LoopId;
use enzyme_ir::{InstId, Module, Op};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

use crate::keys::{Key, Source, Subject, cached_bytes, derive};
use crate::shape::Trip;

type Sources = BTreeMap<Key, Source>;
type Computed = SecondaryMap<InstId, bool>;

/// Cost of storing and loading a cached value in a loop, in quarters of a simple operation, without its bytes.
const CACHE_BASE: u64 = 24;
/// Cost of keeping a value that is defined outside of all loops.
const CACHE_OUTSIDE: u64 = 6;
/// Trip count taken for a loop of which none is known.
const UNKNOWN_TRIPS: u64 = 16;
/// Weights stay below this, so that sums do not overflow.
const MAX_WEIGHT: u64 = 1 << 36;
/// Above this number of keys, everything that is needed directly is cached, for the sake of compile time.
const MAX_KEYS: usize = 60_000;
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
        let known = match s.shape.trips.get(&id) {
            Some(Trip::Known(v)) => {
                s.func.as_const(*v).and_then(|c| module.ctx.consts.as_u64(c)).map(|n| n.saturating_add(1))
            }
            Some(Trip::Counted) | None => None,
        };
        total = total.saturating_mul(known.unwrap_or(UNKNOWN_TRIPS).max(1)).min(MAX_WEIGHT);
        at = s.scope(Key::Count(id));
    }
    total
}

fn value_type(module: &Module, s: &Subject<'_>, key: Key) -> u64 {
    match key {
        Key::Primal(v) | Key::Shadow(v) | Key::Column(v) => cached_bytes(module, s.func.ty(v)),
        Key::Entered(_) => 4,
        Key::Count(_) | Key::Tape(_) => 8,
    }
}

/// What storing and loading `key` costs in all.
fn caching_cost(module: &Module, s: &Subject<'_>, key: Key, price: CachePrice) -> u64 {
    let scope = s.scope(key);
    let bytes = value_type(module, s, key);
    let once = if scope.is_some() { CACHE_BASE + bytes } else { CACHE_OUTSIDE + bytes / 8 };
    let times = match crate::steady::of(s, key) {
        Some(place) => crate::steady::rows(module, s, &place),
        None => weight(module, s, scope),
    };
    let all = u128::from(once.saturating_mul(times)) * u128::from(price.0) / 100;
    u64::try_from(all).unwrap_or(u64::MAX).clamp(1, INFINITE / 4)
}

/// The cheapest way to have all of `needed`.
pub fn choose(module: &Module, s: &Subject<'_>, needed: &BTreeSet<Key>, price: CachePrice) -> Choice {
    let mut sources = Sources::new();
    let mut work: Vec<Key> = needed.iter().copied().collect();
    while let Some(k) = work.pop() {
        if sources.contains_key(&k) {
            continue;
        }
        let source = derive(module, s, k);
        if let Source::Rebuild(from, _) = &source {
            work.extend(from.iter().copied());
        }
        sources.insert(k, source);
    }
    if sources.len() > MAX_KEYS {
        let cached = needed.iter().copied().filter(|k| sources.get(k) != Some(&Source::Free)).collect();
        return Choice { cached, rebuilt: BTreeSet::new() };
    }
    cut(module, s, needed, &sources, price)
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

fn cut(module: &Module, s: &Subject<'_>, needed: &BTreeSet<Key>, sources: &Sources, price: CachePrice) -> Choice {
    let prices = Prices::new(module, s, needed, price);
    let mut graph: DiGraph<(), u64> = DiGraph::new();
    let source = graph.add_node(());
    let sink = graph.add_node(());
    let mut vertices: BTreeMap<Key, (NodeIndex, NodeIndex)> = BTreeMap::new();
    for (k, how) in sources {
        if *how != Source::Free {
            vertices.insert(*k, (graph.add_node(()), graph.add_node(())));
        }
    }
    for (k, (inner, outer)) in &vertices {
        let times = weight(module, s, s.scope(*k));
        graph.add_edge(*outer, *inner, prices.caching(*k));
        if needed.contains(k) {
            graph.add_edge(*inner, sink, INFINITE);
        }
        match sources.get(k) {
            Some(Source::Rebuild(from, cost)) => {
                graph.add_edge(source, *outer, cost.saturating_mul(times).min(INFINITE / 4));
                for d in from {
                    if let Some((d_inner, _)) = vertices.get(d) {
                        graph.add_edge(*d_inner, *outer, INFINITE);
                    }
                }
            }
            Some(Source::Root | Source::Free) | None => {
                graph.add_edge(source, *outer, INFINITE);
            }
        }
    }
    let (_, flows) = petgraph::algo::dinics(&graph, source, sink);
    let mut on_source_side = vec![false; graph.node_count()];
    let mut work = vec![source];
    while let Some(n) = work.pop() {
        if std::mem::replace(&mut on_source_side[n.index()], true) {
            continue;
        }
        for e in graph.edges(n) {
            if flows.get(e.id().index()).is_some_and(|f| *f < *e.weight()) {
                work.push(e.target());
            }
        }
        for e in graph.edges_directed(n, petgraph::Direction::Incoming) {
            if flows.get(e.id().index()).is_some_and(|f| *f > 0) {
                work.push(e.source());
            }
        }
    }
    let mut choice = Choice::default();
    for (k, (inner, outer)) in &vertices {
        let must_get = !on_source_side[inner.index()];
        let is_rebuilt = !on_source_side[outer.index()];
        if must_get && is_rebuilt {
            choice.rebuilt.insert(*k);
        } else if must_get {
            choice.cached.insert(*k);
        }
    }
    choice
}
