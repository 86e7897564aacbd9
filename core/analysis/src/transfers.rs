//! Integers that one function makes of the bits of floats and leaves in memory, while another makes floats of them: keys by
//! which floats are sorted, encoders and decoders. [`crate::bits`] sees what happens within one function, and what is known
//! there to be the bits of a float; here neither the one who takes the bits nor the one who gives them back need know it. The same
//! within one function, if they lay in memory of integers meanwhile: numbers cut to sixteen bits.
//!
//! Each function says which integers, that it reads in its callers' memory or is given, it leaves in what other memory of theirs, which it
//! returns, and of which it makes floats. A caller puts these together: what a call reads where floats may lie, or where
//! nobody says what lies, is on the way; if it was computed with and ends as a float, a derivative is lost.
//!
//! Forward, flow-insensitive, callees first, to a fixed point over sets of sources; asked only of programs in which some
//! function makes floats of integers that it computed ([`is_maker`]). Not followed: products of integers (hashes, random
//! numbers), functions that call each other or are called through pointers.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::SecondaryMap;
use enzyme_ir::{BinOp, ByteType, CastOp, Facts, Func, FuncId, InstId, Module, Op, Type, ValueId};

use crate::bits::Place;
use crate::callee::{Callee, MemoryEffect, resolve};
use crate::carry::Carry;
use crate::memory::{ClassId, FuncMemory, Item, Placed, Proof};
use crate::program::{Unit, outer_classes};

/// More sources in one function are not followed.
const MOST_SOURCES: usize = 2000;

/// What a caller gives: integers in its memory, or an argument.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Given {
    /// What lies there; and whether anything states that these are integers.
    Memory(Place, bool),
    Param(usize),
}

/// What becomes of the integers of a function's callers.
#[derive(Clone, Debug, Default)]
pub struct Transfers {
    /// What is left where; and whether it was computed with.
    moved: BTreeSet<(Given, bool, Place)>,
    /// What is returned.
    returned: BTreeSet<(Given, bool)>,
    /// Of what floats are made.
    made: BTreeSet<(Given, bool)>,
    /// Where the bits of the function's own floats are left, computed with.
    left: BTreeSet<Place>,
    /// Such are returned.
    returns_own: bool,
    /// What takes the bits of floats that, by way of other functions, become floats again: loads, casts and calls.
    pub lost: BTreeSet<InstId>,
}

/// Where an integer comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Source {
    Given(Given),
    /// The bits of a float, which this takes.
    Own(InstId),
    /// What lies in memory of which nobody says what it holds, which this reads: given as well, to whoever knows more.
    Hidden(InstId),
}

/// What is known of an integer of this source.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Trace {
    source: Source,
    /// It was computed with.
    worked: bool,
    /// It was in other functions.
    crossed: bool,
    /// It was in memory where no floats lie.
    kept: bool,
}

type Traces = BTreeSet<Trace>;

/// Whether `func` makes floats of integers that it computed.
pub fn is_maker(module: &Module, func: &Func, memory: &FuncMemory) -> bool {
    let mut worked: BTreeSet<ValueId> = BTreeSet::new();
    loop {
        let before = worked.len();
        for (_, i) in func.placed() {
            let inst = &func.insts[i];
            let Some(r) = inst.result.filter(|r| is_int(module, func, *r)) else { continue };
            let passes = passes_on(&inst.op) && inst.args.iter().any(|a| worked.contains(a));
            if passes || matches!(inst.op, Op::Binary(op) if works(op)) {
                worked.insert(r);
            }
        }
        if worked.len() == before {
            break;
        }
    }
    let size = |v: ValueId| module.ctx.layout.store_size(&module.ctx.types, func.ty(v)).unwrap_or(0);
    let foreign = |p: ValueId| memory.class_of[p].is_some_and(|c| memory.classes[c].foreign);
    func.placed().any(|(_, i)| match (&func.insts[i].op, func.insts[i].args.as_slice()) {
        (Op::Cast(CastOp::BitCast), [v]) => {
            worked.contains(v) && !is_int(module, func, func.insts[i].result.unwrap_or(*v))
        }
        (Op::Store(_), [v, p]) => worked.contains(v) && (memory.may_hold_floats(*p, size(*v)) || foreign(*p)),
        _ => false,
    })
}

/// What `func` does with such integers.
pub fn follow(
    module: &Module,
    func: &Func,
    facts: &Facts,
    memory: &FuncMemory,
    carry: &SecondaryMap<ValueId, Carry>,
    callees: &BTreeMap<FuncId, Unit>,
) -> Transfers {
    let outer = outer_classes(memory);
    let mut flow = Flow {
        module,
        func,
        facts,
        memory,
        carry,
        callees,
        outer,
        values: BTreeMap::new(),
        places: BTreeMap::new(),
        sources: BTreeSet::new(),
        out: Transfers::default(),
        count: 0,
    };
    for (n, p) in func.params.iter().enumerate() {
        if is_int(module, func, *p) {
            let trace = Trace { source: Source::Given(Given::Param(n)), worked: false, crossed: true, kept: false };
            flow.values.insert(*p, Traces::from([trace]));
        }
    }
    loop {
        let before = flow.count;
        for (_, i) in func.placed() {
            flow.step(i);
        }
        if flow.sources.len() > MOST_SOURCES {
            return Transfers::default();
        }
        if flow.count == before {
            return flow.out;
        }
    }
}

struct Flow<'a> {
    module: &'a Module,
    func: &'a Func,
    facts: &'a Facts,
    memory: &'a FuncMemory,
    carry: &'a SecondaryMap<ValueId, Carry>,
    callees: &'a BTreeMap<FuncId, Unit>,
    outer: BTreeSet<ClassId>,
    values: BTreeMap<ValueId, Traces>,
    places: BTreeMap<ClassId, BTreeMap<Place, Traces>>,
    sources: BTreeSet<Source>,
    out: Transfers,
    /// How often anything new was found.
    count: usize,
}

impl Flow<'_> {
    fn step(&mut self, i: InstId) {
        let inst = &self.func.insts[i];
        let float = |v: ValueId| self.module.ctx.types.contains_float(self.func.ty(v));
        match (&inst.op, inst.args.as_slice(), inst.result) {
            (Op::Store(_), [v, p], _) => {
                let (Some(traces), Some(place)) = (self.values.get(v).cloned(), self.place(*v, *p)) else { return };
                // All else that moves pieces is asked when the derivative runs.
                let mixed = self.carry[*v] == Carry::Mixed;
                let traces = traces.into_iter().map(|t| Trace { crossed: t.crossed || t.kept && mixed, ..t }).collect();
                self.put(place, traces, true);
            }
            (Op::Load(_), [p], Some(r)) if is_int(self.module, self.func, r) => {
                let Some(place) = self.place(r, *p) else { return };
                let stated = self.facts.access_types.contains_key(&i);
                let traces = self.begun(place, stated, i).into_iter();
                let kept = self.lying(place).into_iter().map(|t| Trace { kept: true, ..t });
                let traces = traces.chain(kept).collect();
                self.add(r, traces);
            }
            (Op::Cast(CastOp::BitCast), [v], Some(r)) if float(*v) && is_int(self.module, self.func, r) => {
                self.add(
                    r,
                    Traces::from([Trace { source: Source::Own(i), worked: false, crossed: false, kept: false }]),
                );
            }
            (Op::Cast(CastOp::BitCast), [v], Some(r)) if float(r) => {
                let traces = self.values.get(v).cloned().unwrap_or_default();
                self.sink(traces.into_iter().filter(|t| t.crossed || t.kept));
            }
            (Op::Ret, args, _) => {
                for t in args.iter().flat_map(|v| self.values.get(v).cloned().unwrap_or_default()) {
                    match t.source {
                        Source::Given(given) => self.count += usize::from(self.out.returned.insert((given, t.worked))),
                        Source::Own(_) if t.worked => self.out.returns_own = true,
                        Source::Own(_) | Source::Hidden(_) => {}
                    }
                }
            }
            (Op::Call(_) | Op::Invoke { .. }, ..) => self.call(i),
            (op, args, Some(r)) if passes_on(op) && is_int(self.module, self.func, r) => {
                let args = if matches!(op, Op::Select) { args.get(1..).unwrap_or_default() } else { args };
                let worked = matches!(op, Op::Binary(op) if works(*op));
                let traces = args.iter().filter_map(|a| self.values.get(a)).flatten();
                let traces = traces.map(|t| Trace { worked: t.worked || worked, ..*t }).collect();
                self.add(r, traces);
            }
            _ => {}
        }
    }

    fn call(&mut self, i: InstId) {
        let (args, result) = (self.func.call_args(i), self.func.insts[i].result);
        match resolve(self.module, self.func, i) {
            Callee::Known(known) if matches!(known.memory(), MemoryEffect::Copy { .. }) => {
                let MemoryEffect::Copy { dst, src, len, .. } = known.memory() else { return };
                let (Some(dst), Some(src), Some(len)) = (args.get(dst), args.get(src), args.get(len)) else { return };
                // Of what is copied in unknown numbers one element stands for all.
                let len = self.func.as_const(*len).and_then(|c| self.module.ctx.consts.as_u64(c)).unwrap_or(8);
                let place = |p: ValueId| {
                    Some(Place { class: self.memory.class_of[p]?, span: self.memory.span_of[p], size: len })
                };
                let (Some(to), Some(from)) = (place(*dst), place(*src)) else { return };
                let passed = self.begun(from, false, i).into_iter().filter(|t| matches!(t.source, Source::Given(_)));
                let traces = passed.chain(self.lying(from)).collect();
                self.put(to, traces, false);
            }
            // Bytes swapped, bits moved around.
            Callee::Known(_) => {
                let traces = args.iter().filter_map(|a| self.values.get(a)).flatten();
                let traces = traces.map(|t| Trace { worked: true, ..*t }).collect();
                if let Some(r) = result.filter(|r| is_int(self.module, self.func, *r)) {
                    self.add(r, traces);
                }
            }
            Callee::Defined(g) => {
                let Some(unit) = self.callees.get(&g) else { return };
                let none = BTreeMap::new();
                let calls = self.memory.calls.get(&i).unwrap_or(&none);
                let theirs = &unit.transfers;
                let crossing = |t: Trace, worked: bool| Trace { worked: t.worked || worked, crossed: true, ..t };
                for (given, worked, to) in &theirs.moved {
                    let Some(to) = to.within(calls) else { continue };
                    let (begun, lying) = self.given(*given, i, calls);
                    self.put(to, lying.into_iter().map(|t| crossing(t, *worked)).collect(), true);
                    self.put(to, begun.into_iter().map(|t| crossing(t, *worked)).collect(), false);
                }
                for place in &theirs.left {
                    let own = Trace { source: Source::Own(i), worked: true, crossed: true, kept: false };
                    if let Some(to) = place.within(calls) {
                        self.put(to, Traces::from([own]), true);
                    }
                }
                for (given, worked) in &theirs.made {
                    // Floats that it reads itself as integers are seen to there.
                    let (begun, lying) = self.given(*given, i, calls);
                    let passed = begun.into_iter().filter(|t| matches!(t.source, Source::Given(_)));
                    self.sink(passed.chain(lying).map(|t| crossing(t, *worked)));
                }
                for (p, a) in self.module.funcs[g].params.iter().zip(args) {
                    let traces = self.values.get(a).filter(|_| matches!(unit.carry[*p], Carry::Bits(..))).cloned();
                    self.sink(traces.unwrap_or_default());
                }
                let Some(r) = result.filter(|r| is_int(self.module, self.func, *r)) else { return };
                for (given, worked) in &theirs.returned {
                    let (begun, lying) = self.given(*given, i, calls);
                    self.add(r, begun.into_iter().chain(lying).map(|t| crossing(t, *worked)).collect());
                }
                if theirs.returns_own {
                    self.add(
                        r,
                        Traces::from([Trace { source: Source::Own(i), worked: true, crossed: true, kept: false }]),
                    );
                }
            }
            Callee::Math(_) | Callee::Unknown(_) => {}
        }
    }

    /// What the callee of `i` is given: what begins there, and what was left there before.
    fn given(&mut self, given: Given, i: InstId, calls: &BTreeMap<ClassId, Placed>) -> (Traces, Traces) {
        match given {
            Given::Memory(place, stated) => {
                let Some(place) = place.within(calls) else { return Default::default() };
                (self.begun(place, stated, i), self.lying(place))
            }
            Given::Param(n) => {
                let traces = self.func.call_args(i).get(n).and_then(|a| self.values.get(a)).cloned();
                (Traces::new(), traces.unwrap_or_default())
            }
        }
    }

    /// What an integer that `i` reads there is by itself: the bits of a float, or of who knows what.
    fn begun(&mut self, place: Place, stated: bool, i: InstId) -> Traces {
        let class = &self.memory.classes[place.class];
        let floats = self.is_float(place);
        let declared = |item: &Item| {
            matches!(item.ty, ByteType::Float(_)) && item.span.overlaps(item.size, place.span, place.size)
        };
        let hidden = !stated && (class.foreign && !class.has_known_floats() || class.items.keys().any(declared));
        let mut out = Traces::new();
        if floats || hidden {
            let source = if floats { Source::Own(i) } else { Source::Hidden(i) };
            out.insert(Trace { source, worked: false, crossed: false, kept: false });
        }
        if !floats && self.outer.contains(&place.class) {
            let given = Given::Memory(place, stated);
            out.insert(Trace { source: Source::Given(given), worked: false, crossed: true, kept: false });
        }
        self.sources.extend(out.iter().map(|t| t.source));
        out
    }

    /// What was left there: of words what was left as words, and not of single bytes that seem to lie among them.
    fn lying(&self, place: Place) -> Traces {
        let near = |at: &Place| at.size >= place.size.min(8) && at.meets(place);
        let there = self.places.get(&place.class).into_iter().flatten().filter(|(at, _)| near(at));
        there.flat_map(|(_, traces)| traces.iter().copied()).collect()
    }

    /// Stores there; `ends` if such as come from elsewhere and become floats there are lost.
    fn put(&mut self, place: Place, traces: Traces, ends: bool) {
        if self.is_float(place) {
            if ends {
                self.sink(traces.into_iter().filter(|t| t.crossed));
            }
            return;
        }
        if self.outer.contains(&place.class) {
            for t in &traces {
                match t.source {
                    Source::Given(given) => {
                        self.count += usize::from(self.out.moved.insert((given, t.worked, place)));
                    }
                    Source::Own(_) if t.worked => self.count += usize::from(self.out.left.insert(place)),
                    Source::Own(_) | Source::Hidden(_) => {}
                }
            }
        }
        let there = self.places.entry(place.class).or_default().entry(place).or_default();
        let before = there.len();
        there.extend(traces);
        self.count += there.len() - before;
    }

    fn add(&mut self, r: ValueId, traces: Traces) {
        if traces.is_empty() {
            return;
        }
        let known = self.values.entry(r).or_default();
        let before = known.len();
        known.extend(traces);
        self.count += known.len() - before;
    }

    /// These become floats.
    fn sink(&mut self, traces: impl IntoIterator<Item = Trace>) {
        for t in traces {
            match t.source {
                Source::Given(given) => self.count += usize::from(self.out.made.insert((given, t.worked))),
                Source::Own(i) | Source::Hidden(i) if t.worked => self.count += usize::from(self.out.lost.insert(i)),
                Source::Own(_) | Source::Hidden(_) => {}
            }
        }
    }

    /// The bytes of `v` at `p`: of a vector those of one element, wherever one is.
    fn place(&self, v: ValueId, p: ValueId) -> Option<Place> {
        let types = &self.module.ctx.types;
        let (ty, span) = (self.func.ty(v), self.memory.span_of[p]);
        let size = |ty| self.module.ctx.layout.store_size(types, ty);
        let (size, span) = match types[ty] {
            Type::Vector { elem, .. } => size(elem).map(|size| (size, span.step(size, false)))?,
            _ => (size(ty)?, span),
        };
        Some(Place { class: self.memory.class_of[p]?, span, size })
    }

    /// Whether floats may lie there. Where single bytes are read or written in the same memory, as the marks of a hash table beside its
    /// entries are, nothing here tells what lies where.
    fn is_float(&self, place: Place) -> bool {
        let items = &self.memory.classes[place.class].items;
        let known = |(item, proof): (&Item, &Proof)| (*proof > Proof::Declared).then_some(*item);
        let is_byte = |item: Item| item.ty == ByteType::Integer && item.size == 1;
        let meets =
            |item: Item| matches!(item.ty, ByteType::Float(_)) && item.span.overlaps(item.size, place.span, place.size);
        items.iter().filter_map(known).any(meets) && !items.iter().filter_map(known).any(is_byte)
    }
}

/// Whether `v` is an integer, or has some among its members.
fn is_int(module: &Module, func: &Func, v: ValueId) -> bool {
    let types = &module.ctx.types;
    let scalar = match types[func.ty(v)] {
        Type::Vector { elem, .. } => elem,
        _ => func.ty(v),
    };
    matches!(types[scalar], Type::Int(2..) | Type::Struct { .. } | Type::Array { .. })
}

/// Whether the bits of an operand are among those of the result.
fn passes_on(op: &Op) -> bool {
    match op {
        Op::Binary(op) => works(*op),
        Op::Cast(CastOp::Trunc | CastOp::ZExt | CastOp::SExt | CastOp::BitCast) => true,
        _ => {
            matches!(op, Op::Phi(_) | Op::Select | Op::Freeze)
                || matches!(op, Op::InsertElement | Op::ExtractElement | Op::ShuffleVector(_))
                || matches!(op, Op::InsertValue(_) | Op::ExtractValue(_))
        }
    }
}

/// Whether it makes other integers of some in a way that can be undone.
fn works(op: BinOp) -> bool {
    matches!(op, BinOp::And | BinOp::Or | BinOp::Xor | BinOp::Shl | BinOp::LShr | BinOp::AShr | BinOp::Add | BinOp::Sub)
}
