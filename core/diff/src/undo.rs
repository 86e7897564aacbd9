//! Stores that the reverse sweep takes back, so that loads of the memory they overwrote can be done again.
//!
//! Where the reverse sweep comes to such a store, it stores again what that had overwritten, which is kept ("to be recorded";
//! Hascoet, Naumann, Pascual 2005). From there on back to the store before it, memory is what it was in the forward sweep, and
//! what was read there is read again: one number is kept for each that is overwritten, however often it is read. The plan weighs
//! that against keeping what was read.
//!
//! Memory that others than the function see must be in the end what the forward sweep left. Before the outermost loop around
//! such a store is turned round, all that the store writes is copied aside; it is copied back at the end of the reverse sweep, later
//! loops after earlier ones.
//!
//! Not handled: split derivatives, of which the caller sees memory between the sweeps; memory that may have no shadow of its
//! own; functions through which exceptions pass.

use std::collections::{BTreeMap, BTreeSet};

use enzyme_analysis::ClassId;
use enzyme_ir::cfg::LoopId;
use enzyme_ir::{Func, InstId, Module, Op, ValueId};

use crate::keys::{Key, Subject};
use crate::request::Mode;
use crate::steady::{Entry, before, entry_of, known_before};

/// A load that can be done again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Read {
    /// The load, of which the value at hand may be a copy.
    pub load: ValueId,
    /// What must be taken back for it.
    pub stores: Vec<InstId>,
}

/// What a store writes, over all iterations of a loop: an element for each iteration of some loops in it, of whose counters the
/// address is affine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Extent {
    /// The outermost loop around the store.
    pub over: LoopId,
    /// The first address.
    pub start: ValueId,
    /// Backedge counts of loops, and bytes from one of their iterations to the next.
    pub steps: Vec<(ValueId, ValueId)>,
    /// Conditions without which it writes nothing, and what each has to be.
    pub guards: Vec<(ValueId, bool)>,
}

/// A store that can be taken back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Undone {
    /// What it overwrites.
    pub old: ValueId,
    /// Where.
    pub address: ValueId,
    /// What others see of it.
    pub extent: Option<Extent>,
}

impl Undone {
    /// What the reverse sweep must know to take the store back.
    fn keys(&self) -> Vec<Key> {
        let mut known = vec![self.old, self.address];
        if let Some(extent) = &self.extent {
            for (count, stride) in &extent.steps {
                known.extend([*count, *stride]);
            }
            known.extend(extent.guards.iter().map(|guard| guard.0));
            known.push(extent.start);
        }
        known.into_iter().map(Key::Primal).collect()
    }
}

/// What could be taken back and done again in a function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Undo {
    /// By value.
    pub reads: BTreeMap<ValueId, Read>,
    /// By store.
    pub stores: BTreeMap<InstId, Undone>,
    /// The memory that such stores write.
    classes: BTreeSet<ClassId>,
}

/// Whether a function goes on after an exception that it has caught: what ran before may have stopped anywhere.
fn catches(func: &Func) -> bool {
    let caught = |op: &Op| match op {
        Op::LandingPad { clauses, .. } => !clauses.is_empty(),
        op => matches!(op, Op::CatchPad | Op::CleanupPad),
    };
    func.placed().any(|(_, i)| caught(&func.insts[i].op))
}

/// Nothing is taken back.
pub static NOTHING: Undo = Undo { reads: BTreeMap::new(), stores: BTreeMap::new(), classes: BTreeSet::new() };

impl Undo {
    /// Looks at what the facts of `s` offer.
    pub fn new(s: &Subject<'_>) -> Undo {
        let mut out = Undo::default();
        let facts = &s.unit.facts;
        if s.key.mode != Mode::Combined || catches(s.func) || facts.repeated_loads.is_empty() {
            return out;
        }
        let usable = |p: ValueId| !s.is_mixed(p) && s.unit.memory.class_of[p].is_some();
        for (i, fact) in &facts.undone_stores {
            let inst = &s.func.insts[*i];
            let (Op::Store(_), [_, address]) = (&inst.op, inst.args.as_slice()) else { continue };
            let Some(old) = s.func.insts[fact.old].result.filter(|_| usable(*address)) else { continue };
            let extent = fact.written.as_ref().map(|written| extent_of(s, *i, written));
            if matches!(extent, Some(None)) || s.shape.block_of[*i].is_none_or(|b| !s.shape.live[b]) {
                continue;
            }
            out.stores.insert(*i, Undone { old, address: *address, extent: extent.flatten() });
        }
        for (i, stores) in &facts.repeated_loads {
            let inst = &s.func.insts[*i];
            let (Some(load), Some(address)) = (inst.result, inst.args.first()) else { continue };
            let live = |store: &InstId| s.shape.block_of[*store].is_some_and(|b| s.shape.live[b]);
            let stores: Vec<InstId> = stores.iter().copied().filter(live).collect();
            if !usable(*address) || !stores.iter().all(|store| out.stores.contains_key(store)) {
                continue;
            }
            let read = Read { load, stores };
            if let Some(phi) = facts.stand_for.get(i) {
                out.reads.insert(*phi, read.clone());
            }
            out.reads.insert(load, read);
        }
        let used: BTreeSet<InstId> = out.reads.values().flat_map(|r| r.stores.iter().copied()).collect();
        out.stores.retain(|i, _| used.contains(i));
        out.classes = out.stores.values().filter_map(|u| s.unit.memory.class_of[u.address]).collect();
        out
    }

    /// Whether there is nothing to take back.
    pub fn is_empty(&self) -> bool {
        self.reads.is_empty()
    }

    /// Whether a store that may be taken back writes to memory of this class.
    pub fn concerns(&self, class: ClassId) -> bool {
        self.classes.contains(&class)
    }

    /// Whether `key` is a load that could be done again.
    pub fn offers(&self, key: Key) -> bool {
        matches!(key, Key::Primal(v) if self.reads.contains_key(&v))
    }

    /// What must be had as well where `key` is rebuilt: what the stores that are taken back for it take.
    pub fn demands(&self, key: Key) -> Vec<Key> {
        let Key::Primal(v) = key else { return Vec::new() };
        let Some(read) = self.reads.get(&v).filter(|r| r.load == v) else { return Vec::new() };
        let mut out = Vec::new();
        for store in read.stores.iter().filter_map(|i| self.stores.get(i)) {
            out.extend(store.keys());
        }
        out
    }

    /// The stores that are to be taken back for loads that are done again.
    pub fn undone(&self, rebuilt: &BTreeSet<Key>) -> BTreeSet<InstId> {
        let repeated = self.reads.iter().filter(|(v, r)| r.load == **v && rebuilt.contains(&Key::Primal(**v)));
        repeated.flat_map(|(_, r)| r.stores.iter().copied()).collect()
    }
}

fn extent_of(s: &Subject<'_>, store: InstId, written: &enzyme_ir::facts::Written) -> Option<Extent> {
    let over = s.shape.loops.headed_by(written.header)?;
    if s.scope(Key::Count(over)).is_some() || !before(s, over, written.start) {
        return None;
    }
    let inner = s.shape.loops.innermost(s.shape.block_of[store]?)?;
    let mut guards = Vec::new();
    for l in std::iter::successors(Some(inner), |l| s.scope(Key::Count(*l))).take_while(|l| *l != over) {
        match entry_of(s, l, s.scope(Key::Count(l))?)? {
            Entry::Always => {}
            Entry::If(guard, value) if before(s, over, guard) => guards.push((guard, value)),
            Entry::If(..) => return None,
        }
    }
    let step = |(header, stride): &(enzyme_ir::BlockId, ValueId)| {
        let count = known_before(s, s.shape.loops.headed_by(*header)?, over)?;
        before(s, over, *stride).then_some((count, *stride))
    };
    let steps = written.steps.iter().map(step).collect::<Option<Vec<_>>>()?;
    Some(Extent { over, start: written.start, steps, guards })
}

/// One line for each store that is taken back.
pub fn describe(module: &Module, s: &Subject<'_>, undone: &BTreeSet<InstId>) -> String {
    let line = |i: &InstId| {
        let at = s.func.insts[*i].loc.map_or(String::new(), |l| format!(" at {}", module.describe_loc(l)));
        let seen = s.undo.stores.get(i).is_some_and(|u| u.extent.is_some());
        format!("  takes back {i}{at}{}\n", if seen { ", and restores what it left in the end" } else { "" })
    };
    undone.iter().map(line).collect()
}
