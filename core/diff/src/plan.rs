//! The plan of a reverse derivative: what is cached where, what is rebuilt, how frees are handled.
//!
//! A value; synthesis makes no decisions of its own. `Display` prints it for `-enzyme-print-plan`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use enzyme_analysis::callee::MemoryEffect;
use enzyme_analysis::{Callee, ClassId, resolve};
use enzyme_ir::cfg::LoopId;
use enzyme_ir::{BlockId, InstId, Module, Op, ShadowRule, ValueId};

use crate::carried::Carried;
use crate::cut::{CachePrice, Choice, choose};
use crate::keys::{Key, Subject};
use crate::needs;
use crate::passed::Passed;
use crate::refusal::Refusal;
use crate::shape::Trip;
use crate::steady::{self, SteadyCache};
use crate::undo::Undo;
use crate::vanishing::Products;

/// How the rows of a loop's cache are allocated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rows {
    /// All at once before the loop, which is an outermost one with this backedge count.
    Exact(ValueId),
    /// Grown when the loop is entered, whose backedge count is known then. If the counts of all loops around it are
    /// known before the outermost one, their product says how much is asked for at first: a guess, since a count says
    /// nothing of a loop that is not entered.
    PerEntry(ValueId, Option<Vec<ValueId>>),
    /// Grown while the loop runs.
    PerIteration,
}

/// The cache of the values of one loop body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoopCache {
    /// What a row holds.
    pub keys: Vec<Key>,
    /// How rows are allocated.
    pub rows: Rows,
    /// The outermost loop around it.
    pub outermost: LoopId,
    /// Rows before that of the first iteration, in each entry of the loop: where columns hold what phis started from.
    pub front: u64,
}

/// What happens to an allocation that the primal frees.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frees {
    /// Allocations freed where their reversal is done: the allocation, and the call that frees it in the primal.
    pub at_reversal: BTreeMap<InstId, InstId>,
    /// Calls that free something whose allocation is not the same for sure: put off to the end of the reverse sweep.
    pub deferred: BTreeSet<InstId>,
    /// Calls that free an allocation of the same function on a way that leads to no return, so to no reverse sweep.
    pub in_place: BTreeSet<InstId>,
}

/// The plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Keys the reverse sweep reads directly.
    pub needed: BTreeSet<Key>,
    /// Cached and rebuilt keys.
    pub choice: Choice,
    /// Cached keys outside of all loops.
    pub cells: Vec<Key>,
    /// Caches of loops, outer loops first.
    pub loops: BTreeMap<LoopId, LoopCache>,
    /// Caches of loads that are the same throughout an outer loop.
    pub steady: Vec<SteadyCache>,
    /// Frees.
    pub frees: Frees,
    /// Values whose adjoint may be zero because another arm of a selection was taken, nobody wanted them, or, in some lanes, because these hold nothing.
    pub selectable: BTreeSet<ValueId>,
    /// Products of adjoints in what is a derivative already.
    pub products: Products,
    /// Stack slots that must outlive the forward sweep of a split derivative.
    pub heap_slots: BTreeSet<InstId>,
    /// Stores that are taken back.
    pub undone: BTreeSet<InstId>,
    /// What was known of these and others when the choice was made.
    pub undo: Undo,
    /// What the reverse sweep passes over.
    pub passed: Passed,
}

impl Plan {
    /// Plans the reverse derivative of `s`.
    pub fn new(module: &Module, s: &Subject<'_>, price: CachePrice) -> Result<Plan, Refusal> {
        let passed = Passed::new(module, s);
        let mut needed = needs::collect(module, s, &passed)?;
        let frees = plan_frees(module, s);
        for alloc in frees.at_reversal.keys() {
            if let Some(r) = s.func.insts[*alloc].result {
                needed.insert(Key::Primal(r));
                if s.has_shadow(r) {
                    needed.insert(Key::Shadow(r));
                }
            }
        }
        if s.key.keeps {
            needed.extend(cleared_again(module, s)?);
        }
        if s.is_split() {
            // Memory that outlives the forward sweep is on the heap, and freed at the end of the reverse sweep.
            let read_again = read_again(s, &needed);
            let slots =
                s.func.placed().filter(|(_, i)| s.is_static_slot(*i)).filter_map(|(_, i)| s.func.insts[i].result);
            for r in slots {
                if s.has_shadow(r) && !s.has_own_shadow(r) {
                    needed.insert(Key::Shadow(r));
                }
                if s.unit.memory.class_of[r].is_some_and(|c| read_again.contains(&c)) {
                    needed.insert(Key::Primal(r));
                }
            }
        }
        let (mut needed, mut choice, cost) = settle(module, s, needed, price);
        let mut undo = Undo::new(s);
        if !undo.is_empty() {
            let (more, other, less) = settle(module, &Subject { undo: &undo, ..*s }, needed.clone(), price);
            if less < cost && !undo.undone(&other.rebuilt).is_empty() {
                (needed, choice) = (more, other);
            } else {
                undo = Undo::default();
            }
        }
        let s = &Subject { undo: &undo, ..*s };
        let undone = undo.undone(&choice.rebuilt);
        read_from_columns(s, &mut choice);
        let (alike, varied): (Vec<Key>, Vec<Key>) = choice.cached.iter().partition(|k| steady::of(s, **k).is_some());
        let mut cells = Vec::new();
        let mut loops: BTreeMap<LoopId, Vec<Key>> = BTreeMap::new();
        for k in &varied {
            match s.scope(*k) {
                None => cells.push(*k),
                Some(l) => loops.entry(l).or_default().push(*k),
            }
        }
        let loops = loops.into_iter().map(|(l, keys)| (l, plan_rows(s, l, keys, &choice))).collect();
        let mut heap_slots = BTreeSet::new();
        if s.is_split() {
            for (_, i) in s.func.placed() {
                if let (true, Some(r)) = (s.is_static_slot(i), s.func.insts[i].result) {
                    let kept = [Key::Primal(r), Key::Shadow(r)].iter().any(|k| choice.cached.contains(k));
                    if kept || s.has_shadow(r) && !s.has_own_shadow(r) {
                        heap_slots.insert(i);
                    }
                }
            }
        }
        let steady = steady::caches(s, &alike);
        let mut selectable = find_selectable(s);
        selectable.extend(crate::lanes::partly_undefined(module, s));
        selectable.extend(crate::hoisted::in_vain(module, s));
        selectable.extend(crate::unwanted::at_times(module, s));
        Ok(Plan {
            needed,
            choice,
            cells,
            loops,
            steady,
            frees,
            selectable,
            products: Products::new(module, s),
            heap_slots,
            undone,
            undo: undo.clone(),
            passed,
        })
    }

    /// Where a load is kept that is the same throughout a loop: which of the caches, and its position there.
    pub fn steady_row(&self, key: Key) -> Option<(usize, usize)> {
        let position = |c: &SteadyCache| c.keys.iter().position(|k| *k == key);
        self.steady.iter().enumerate().find_map(|(n, c)| Some((n, position(c)?)))
    }

    /// The column from which a primal value is read, and how many iterations earlier what it holds was computed.
    pub fn column_of(&self, s: &Subject<'_>, v: ValueId) -> Option<Carried> {
        column_of(s, &self.choice, v)
    }

    /// Where a cached key is kept: the loop whose row holds it, and its position there.
    pub fn row_of(&self, s: &Subject<'_>, key: Key) -> Option<(LoopId, usize)> {
        let l = s.scope(key)?;
        let position = self.loops.get(&l)?.keys.iter().position(|k| *k == key)?;
        Some((l, position))
    }
}

fn column_of(s: &Subject<'_>, choice: &Choice, v: ValueId) -> Option<Carried> {
    let own = Carried { leading: v, distance: 0 };
    let from = s.shape.carried.phis.get(&v).copied();
    from.into_iter().chain([own]).find(|c| choice.cached.contains(&Key::Column(c.leading)))
}

/// The cheapest choice. The reverse sweep asks again whether what is kept once was the same throughout.
fn settle(
    module: &Module,
    s: &Subject<'_>,
    mut needed: BTreeSet<Key>,
    price: CachePrice,
) -> (BTreeSet<Key>, Choice, u64) {
    loop {
        let (choice, cost) = choose(module, s, &needed, price);
        let places = choice.cached.iter().filter_map(|k| steady::of(s, *k));
        let asked = places.flat_map(|p| {
            let conditions = p.condition.into_iter().map(|c| c.0).chain(p.guards.into_iter().map(|g| g.0));
            conditions.chain(p.per.into_iter().map(|per| per.1)).collect::<Vec<_>>()
        });
        let asked = asked.filter(|v| s.func.as_const(*v).is_none()).map(Key::Primal);
        let more: Vec<Key> = asked.filter(|k| !needed.contains(k)).collect();
        if more.is_empty() {
            return (needed, choice, cost);
        }
        needed.extend(more);
    }
}

/// What a column holds needs no column of its own.
fn read_from_columns(s: &Subject<'_>, choice: &mut Choice) {
    let twice = |k: &Key| matches!(k, Key::Primal(v) if column_of(s, choice, *v).is_some());
    let twice: Vec<Key> = choice.cached.iter().copied().filter(twice).collect();
    for k in twice {
        choice.cached.remove(&k);
        choice.rebuilt.insert(k);
    }
}

fn plan_rows(s: &Subject<'_>, l: LoopId, keys: Vec<Key>, choice: &Choice) -> LoopCache {
    let far = |k: &Key| match k {
        Key::Primal(v) => {
            column_of(s, choice, *v).filter(|c| keys.contains(&Key::Column(c.leading))).map(|c| c.distance)
        }
        _ => None,
    };
    let front = choice.rebuilt.iter().filter_map(far).max().unwrap_or(0);
    let mut path = vec![l];
    while let Some(up) = s.scope(Key::Count(*path.last().unwrap_or(&l))) {
        path.push(up);
    }
    let outermost = path.last().copied().unwrap_or(l);
    let preheader = s.shape.loops.preheader(outermost);
    let known = |l: &LoopId| match s.shape.trips.get(l) {
        Some(Trip::Known(v)) => Some(*v),
        Some(Trip::Counted) | None => None,
    };
    let at_preheader = |v: ValueId| match (s.shape.def_block(s.func, v), preheader) {
        (None, _) => true,
        (Some(b), Some(p)) => s.shape.dom.dominates(b, p),
        (Some(_), None) => false,
    };
    let counts: Option<Vec<ValueId>> = path.iter().map(|l| known(l).filter(|v| at_preheader(*v))).collect();
    let rows = match (known(&l), path.len()) {
        (Some(v), 1) => Rows::Exact(v),
        (Some(v), _) => Rows::PerEntry(v, counts),
        (None, _) => Rows::PerIteration,
    };
    LoopCache { keys, rows, outermost, front }
}

fn plan_frees(module: &Module, s: &Subject<'_>) -> Frees {
    let mut out = Frees::default();
    let unwinding = crate::unwind::unwinding_blocks(module, s.func);
    let mut freed_by: BTreeMap<InstId, Vec<InstId>> = BTreeMap::new();
    for (_, i) in s.func.placed() {
        if !matches!(s.func.insts[i].op, Op::Call(_) | Op::Invoke { .. }) {
            continue;
        }
        let Callee::Known(known) = resolve(module, s.func, i) else { continue };
        if let (MemoryEffect::Realloc { .. }, Some(r)) = (known.memory(), s.func.insts[i].result)
            && s.has_shadow(r)
        {
            out.deferred.insert(i);
        }
        let MemoryEffect::Free { ptr } = known.memory() else { continue };
        let Some(p) = s.func.call_args(i).get(ptr) else { continue };
        match s.func.def_inst(*p).filter(|d| is_allocation(module, s, *d)) {
            Some(_) if s.shape.block_of[i].is_some_and(|b| !s.shape.live[b]) => drop(out.in_place.insert(i)),
            Some(alloc) => freed_by.entry(alloc).or_default().push(i),
            None => drop(out.deferred.insert(i)),
        }
    }
    for (alloc, frees) in freed_by {
        let matched = match (frees.as_slice(), s.shape.block_of[alloc]) {
            ([free], Some(a)) => s.shape.block_of[*free].is_some_and(|f| {
                s.shape.live[a]
                    && s.shape.live[f]
                    && s.shape.dom.dominates(a, f)
                    && always_passes(s, a, f)
                    && !unwinding.contains(&f)
                    && !(s.is_split() && s.key.unwinds)
                    && s.shape.loops.innermost(a) == s.shape.loops.innermost(f)
            }),
            _ => false,
        };
        if matched {
            out.at_reversal.insert(alloc, frees[0]);
        } else {
            out.deferred.extend(frees);
        }
    }
    out
}

/// What the reverse sweep must know to leave zeros in the shadows of memory that the function allocates.
fn cleared_again(module: &Module, s: &Subject<'_>) -> Result<Vec<Key>, Refusal> {
    let mut out = Vec::new();
    for (_, i) in s.func.placed() {
        let inst = &s.func.insts[i];
        let Some(r) = inst.result.filter(|r| s.has_shadow(*r)) else { continue };
        let known = match (&inst.op, resolve(module, s.func, i)) {
            (Op::Alloca { .. }, _) if !s.is_static_slot(i) => {
                MemoryEffect::Unsupported("a stack slot of variable size")
            }
            (Op::Call(_) | Op::Invoke { .. }, Callee::Known(known)) => known.memory(),
            _ => continue,
        };
        match known {
            MemoryEffect::Alloc { size: Some(size), count, .. } => {
                let args = s.func.call_args(i);
                let factors = std::iter::once(size).chain(count).filter_map(|n| args.get(n).copied());
                out.extend(factors.map(Key::Primal));
                out.push(Key::Shadow(r));
            }
            MemoryEffect::Alloc { size: None, .. }
            | MemoryEffect::Realloc { .. }
            | MemoryEffect::AllocInto { .. }
            | MemoryEffect::Unsupported(_) => {
                let what = "memory of this kind where a tape is used again (enzyme_nofree)".to_owned();
                return Err(Refusal::new(crate::refusal::RefusalKind::Operation(what)).at(i));
            }
            _ => {}
        }
    }
    Ok(out)
}

/// Whether every way from `a` to the return passes `b`.
fn always_passes(s: &Subject<'_>, a: BlockId, b: BlockId) -> bool {
    let mut seen = BTreeSet::from([a, b]);
    let mut work = vec![a];
    while let Some(x) = work.pop().filter(|_| a != b) {
        if s.shape.exit == Some(x) {
            return false;
        }
        work.extend(s.func.successors(x).into_iter().filter(|n| s.shape.live[*n] && seen.insert(*n)));
    }
    true
}

/// Classes whose primal memory the reverse sweep may read: by loads that are done again, or through pointers that it
/// needs (those that it hands to the reverse sweeps of callees among them).
fn read_again(s: &Subject<'_>, needed: &BTreeSet<Key>) -> BTreeSet<ClassId> {
    let mut out = BTreeSet::new();
    for (_, i) in s.func.placed() {
        if matches!(s.func.insts[i].op, Op::Load(_)) && s.is_stable_load(i) {
            out.extend(s.func.insts[i].args.first().and_then(|p| s.unit.memory.class_of[*p]));
        }
    }
    for i in s.shape.standing.values() {
        out.extend(s.func.insts[*i].args.get(1).and_then(|p| s.unit.memory.class_of[*p]));
    }
    for key in needed {
        if let Key::Primal(v) = key {
            out.extend(s.unit.memory.class_of[*v].filter(|_| s.unit.addresses[*v]));
        }
    }
    out
}

/// Everything that arms of selections are computed from, within registers.
fn find_selectable(s: &Subject<'_>) -> BTreeSet<ValueId> {
    let mut work: Vec<ValueId> = Vec::new();
    for (_, i) in s.func.placed() {
        let inst = &s.func.insts[i];
        if matches!(inst.op, Op::Select) && inst.result.is_some_and(|r| s.is_active(r)) {
            work.extend(inst.args.iter().skip(1).copied());
        }
    }
    let mut out = BTreeSet::new();
    while let Some(v) = work.pop() {
        if !s.is_active(v) || !out.insert(v) {
            continue;
        }
        if let Some(i) = s.func.def_inst(v) {
            work.extend(s.func.insts[i].args.iter().copied());
        }
    }
    out
}

/// How the shadow of the memory that `i` allocates is made, if not as the memory is.
pub fn shadow_rule(module: &Module, func: &enzyme_ir::Func, i: InstId) -> Option<ShadowRule> {
    module.direct_callee(func, i).and_then(|f| module.stated.shadows.get(&f)).copied()
}

/// What frees the shadow of the memory at `p`, if not what frees the memory.
pub fn shadow_release(module: &Module, s: &Subject<'_>, p: ValueId) -> Result<Option<enzyme_ir::FuncId>, Refusal> {
    if module.stated.shadows.values().all(|rule| rule.free.is_none()) {
        return Ok(None);
    }
    match s.func.def_inst(p).filter(|i| is_allocation(module, s, *i)) {
        Some(i) => Ok(shadow_rule(module, s.func, i).and_then(|rule| rule.free)),
        None => {
            let what = "freeing memory of which the allocator, and so what frees its shadow, is not known".to_owned();
            Err(Refusal::new(crate::refusal::RefusalKind::Operation(what)))
        }
    }
}

/// Whether `i` is a call of an allocation function.
pub fn is_allocation(module: &Module, s: &Subject<'_>, i: InstId) -> bool {
    matches!(s.func.insts[i].op, Op::Call(_) | Op::Invoke { .. })
        && match resolve(module, s.func, i) {
            Callee::Known(known) => matches!(known.memory(), MemoryEffect::Alloc { .. }),
            Callee::Math(_) | Callee::Defined(_) | Callee::Unknown(_) => false,
        }
}

/// One line for each value that is cached: where, what, how many bytes a time, the place in the source, and why, if known.
pub fn describe(module: &Module, s: &Subject<'_>, plan: &Plan) -> String {
    let mut out = String::new();
    for k in &plan.choice.cached {
        let place = s.scope(*k).map_or("once".to_owned(), |l| l.to_string());
        let (v, bytes) = match k {
            Key::Primal(v) | Key::Shadow(v) | Key::Column(v) => {
                (Some(*v), crate::keys::cached_bytes(module, s.func.ty(*v)))
            }
            Key::Entered(_) => (None, 4),
            Key::Latest(v) => (Some(*v), 8),
            Key::Count(_) | Key::Tape(_) => (None, 8),
        };
        let inst = v.and_then(|v| s.func.def_inst(v));
        let what = inst.map_or(String::new(), |i| {
            let loc = s.func.insts[i].loc.map_or(String::new(), |l| format!(" at {}", module.describe_loc(l)));
            let op = format!("{:?}", s.func.insts[i].op);
            let args = s.func.insts[i].args.iter().map(|a| format!(" {a}")).collect::<String>();
            format!(": {}{args}{loc}", op.split(['(', ' ']).next().unwrap_or_default())
        });
        let why = v.and_then(|v| crate::why::kept(module, s, v)).map_or(String::new(), |why| format!("; {why}"));
        out.push_str(&format!("  caches {k:?} ({place}, {bytes} bytes){what}{why}\n"));
    }
    out.push_str(&crate::undo::describe(module, s, &plan.undone));
    out
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |keys: &mut dyn Iterator<Item = &Key>| keys.map(|k| format!("{k:?}")).collect::<Vec<_>>().join(" ");
        writeln!(f, "needed   {}", list(&mut self.needed.iter()))?;
        writeln!(f, "rebuilt  {}", list(&mut self.choice.rebuilt.iter()))?;
        writeln!(f, "kept     {}", list(&mut self.cells.iter()))?;
        for (l, cache) in &self.loops {
            writeln!(f, "{l}  {:?}  {}", cache.rows, list(&mut cache.keys.iter()))?;
        }
        for cache in &self.steady {
            writeln!(f, "same throughout {}  {:?}  {}", cache.place.over, cache.place, list(&mut cache.keys.iter()))?;
        }
        writeln!(f, "deferred frees {:?}", self.frees.deferred)
    }
}
