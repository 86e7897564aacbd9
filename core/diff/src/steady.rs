//! Caches of loads, and of what is computed of such and of counters, that have the same value in each iteration of an outer loop.
//!
//! A reload of `h[j]` in a loop over `j` inside of a loop over `g` which does not write `h` has one value for each `j`, not
//! one for each pair. It is kept at the row `base + j`, where `base` counts the rows of all earlier entries of the loop over
//! `g`: each iteration of that loop stores it again at the same place, unless the optimiser leaves that to the first one.
//! Where only a comparison at run time says that nothing is overwritten meanwhile, the row is `base + j + g * step`, and
//! `step` is 0 or the number of values of `j`: one piece of code for both.
//!
//! Where the value varies in several loops, `j` counts the iterations of all, the innermost fastest.
//!
//! Where an inner loop is entered under a condition that is known before the outer one, there are no rows unless it holds.
//!
//! In a triangle, where `j` counts to another number in each iteration of the outer loop, there is a row for each `j` that any of
//! them comes to.
//!
//! Not handled: other loads whose number is not known on entry of the outer loop, or inner loops that are entered in some of its
//! iterations.

use std::collections::{BTreeMap, BTreeSet};

use enzyme_ir::cfg::LoopId;
use enzyme_ir::{BlockId, Module, Op, ValueId};

use crate::cut::weight;
use crate::keys::{Key, Subject};
use crate::shape::Trip;

/// Where a steady load is kept.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Steady {
    /// The loop in whose iterations it is the same.
    pub over: LoopId,
    /// The loops in whose iterations it is not, which are inside of that one, and their backedge counts, or the most of them;
    /// innermost first.
    pub per: Vec<(LoopId, ValueId)>,
    /// Conditions under which these are entered, and what each has to be.
    pub guards: Vec<(ValueId, bool)>,
    /// The condition without which it is another one in each iteration of either, and the backedge count of `over`.
    pub condition: Option<(ValueId, ValueId)>,
}

/// The cache of steady loads that are kept alike.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SteadyCache {
    /// Where they are kept.
    pub place: Steady,
    /// What a row holds.
    pub keys: Vec<Key>,
    /// The outermost loop around all.
    pub outermost: LoopId,
    /// Backedge counts, known before the outermost loop, whose product says how many rows to expect.
    pub guess: Option<Vec<ValueId>>,
}

/// Where `key` is kept, if it is a steady load.
pub fn of(s: &Subject<'_>, key: Key) -> Option<Steady> {
    let Key::Primal(v) = key else { return None };
    let i = s.func.def_inst(v)?;
    let (over, asked, varies, most) = match s.unit.facts.steady_loads.get(&i) {
        Some(fact) => (s.shape.loops.headed_by(fact.header)?, fact.condition, fact.varies, fact.most),
        None => s.shape.fixed.get(&v).map(|f| (f.over, None, f.varies, None))?,
    };
    let inner = s.shape.loops.innermost(s.shape.block_of[i]?)?;
    if let Some(most) = most {
        let is_row = varies == 1 && asked.is_none() && before(s, over, most);
        return is_row.then(|| Steady { over, per: vec![(inner, most)], guards: Vec::new(), condition: None });
    }
    let known = |l: LoopId| known_before(s, l, over);
    let (mut per, mut guards) = (Vec::new(), Vec::new());
    let mut all_vary = true;
    let around = std::iter::successors(Some(inner), |l| s.scope(Key::Count(*l)));
    for (depth, l) in around.take_while(|l| *l != over).enumerate() {
        match entry_of(s, l, s.scope(Key::Count(l))?)? {
            Entry::Always => {}
            Entry::If(guard, value) if before(s, over, guard) => guards.push((guard, value)),
            Entry::If(..) => return None,
        }
        if varies.checked_shr(depth as u32).unwrap_or(0) & 1 == 0 {
            all_vary = false;
            continue;
        }
        per.push((l, known(l)?));
    }
    if per.len() != varies.count_ones() as usize {
        return None;
    }
    let condition = match asked {
        None => None,
        Some(c) if all_vary && before(s, over, c) => Some((c, known(over)?)),
        Some(_) => return None,
    };
    Some(Steady { over, per, guards, condition })
}

/// How often `l` goes round, if that is known before `over`.
pub(crate) fn known_before(s: &Subject<'_>, l: LoopId, over: LoopId) -> Option<ValueId> {
    match s.shape.trips.get(&l)? {
        Trip::Known(count) if before(s, over, *count) => Some(*count),
        Trip::Known(_) | Trip::Counted => None,
    }
}

/// Whether the first iteration of the loop throughout which `key` is the same stores all rows that any of them stores.
pub(crate) fn is_filled_at_once(s: &Subject<'_>, key: Key, place: &Steady) -> bool {
    let Key::Primal(v) = key else { return false };
    let (Some((inner, _)), Some(block)) = (place.per.first(), s.shape.def_block(s.func, v)) else { return false };
    let latches = s.shape.loops.loops().find(|(id, _)| id == inner).map(|(_, l)| &l.latches);
    s.shape.loops.innermost(block) == Some(*inner)
        && latches.is_some_and(|all| all.iter().all(|latch| s.shape.dom.dominates(block, *latch)))
        && place.per.iter().all(|(l, count)| known_before(s, *l, place.over) == Some(*count))
}

/// Whether `v` is available at the end of the preheader of `l`.
pub(crate) fn before(s: &Subject<'_>, l: LoopId, v: ValueId) -> bool {
    match (s.shape.def_block(s.func, v), s.shape.loops.preheader(l)) {
        (None, _) => s.func.def_inst(v).is_none(),
        (Some(b), Some(p)) => s.shape.dom.dominates(b, p),
        (Some(_), None) => false,
    }
}

/// When a loop is entered in an iteration of the one around it.
pub(crate) enum Entry {
    /// In each.
    Always,
    /// Where this condition has this value.
    If(ValueId, bool),
}

/// When `inner` is entered in an iteration of `outer`, if one condition says it.
pub(crate) fn entry_of(s: &Subject<'_>, inner: LoopId, outer: LoopId) -> Option<Entry> {
    let exits = s.shape.loops.exits(&s.shape.cfg, outer);
    let latches = s.shape.loops.loops().find(|(id, _)| *id == outer).map(|(_, l)| l.latches.clone());
    let ends: Vec<BlockId> = exits.into_iter().map(|(from, _)| from).chain(latches.unwrap_or_default()).collect();
    let always = |b: BlockId| ends.iter().all(|e| s.shape.dom.dominates(b, *e));
    let mut block = s.shape.loops.preheader(inner)?;
    while !always(block) {
        let before = s.shape.dom.idom(block)?;
        if all_lead_to(s, before, block, &ends) {
            block = before;
            continue;
        }
        let branch = &s.func.insts[s.func.terminator(before)?];
        match &branch.op {
            Op::Br(to) if *to == block => block = before,
            Op::CondBr { then_to, else_to } if then_to != else_to && always(before) => {
                let entered = [*then_to, *else_to].iter().position(|to| *to == block)?;
                return Some(Entry::If(*branch.args.first()?, entered == 0));
            }
            _ => return None,
        }
    }
    Some(Entry::Always)
}

/// Whether all ways on from `from` come to `to`, without leaving an iteration by one of `ends` before.
fn all_lead_to(s: &Subject<'_>, from: BlockId, to: BlockId, ends: &[BlockId]) -> bool {
    let mut seen = BTreeSet::new();
    let mut work = vec![from];
    while let Some(b) = work.pop() {
        if b == to || !seen.insert(b) {
            continue;
        }
        let next = s.func.successors(b);
        if next.is_empty() || ends.contains(&b) {
            return false;
        }
        work.extend(next);
    }
    true
}

/// How often a row is written per call, roughly, iterations that store the same again aside.
pub fn rows(module: &Module, s: &Subject<'_>, place: &Steady) -> u64 {
    let entries = weight(module, s, s.scope(Key::Count(place.over)));
    let Some((innermost, _)) = place.per.first() else { return entries };
    let own = |l: LoopId| weight(module, s, Some(l)) / weight(module, s, s.scope(Key::Count(l))).max(1);
    let rows = place.per.iter().fold(1u64, |n, (l, _)| n.saturating_mul(own(*l).max(1)));
    entries.saturating_mul(rows).min(weight(module, s, Some(*innermost)))
}

/// Caches of those of `keys` that are steady.
pub fn caches(s: &Subject<'_>, keys: &[Key]) -> Vec<SteadyCache> {
    let mut by_place: BTreeMap<Steady, Vec<Key>> = BTreeMap::new();
    for k in keys {
        if let Some(place) = of(s, *k) {
            by_place.entry(place).or_default().push(*k);
        }
    }
    let make = |(place, keys): (Steady, Vec<Key>)| {
        let mut path = Vec::new();
        let mut at = s.scope(Key::Count(place.over));
        while let Some(l) = at {
            path.push(l);
            at = s.scope(Key::Count(l));
        }
        let outermost = path.last().copied().unwrap_or(place.over);
        let counts = path.iter().map(|l| match s.shape.trips.get(l) {
            Some(Trip::Known(v)) => Some(*v),
            Some(Trip::Counted) | None => None,
        });
        let all: Option<Vec<ValueId>> = place.per.iter().map(|p| Some(p.1)).chain(counts).collect();
        let guess = all.filter(|v| !path.is_empty() && v.iter().all(|c| before(s, outermost, *c)));
        SteadyCache { place, keys, outermost, guess }
    };
    by_place.into_iter().map(make).collect()
}
