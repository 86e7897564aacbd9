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
use crate::memory::{ClassId, FuncMemory, Item, Placed, Proof, Untyped};
use crate::program::{Unit, outer_classes};
use network::{Marks, Network, Way};

mod network;

/// More sources in one function are not followed.
const MOST_SOURCES: usize = 2000;

/// Bytes that are read or written, and whether the program states that they are integers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Spot {
    place: Place,
    stated: bool,
}

impl Spot {
    fn within(self, calls: &BTreeMap<ClassId, Placed>) -> Option<Spot> {
        Some(Spot { place: self.place.within(calls)?, ..self })
    }
}

/// What a caller gives: integers in its memory, or an argument.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Given {
    /// What lies there.
    Memory(Spot),
    Param(usize),
}

/// What becomes of the integers of a function's callers.
#[derive(Clone, Debug, Default)]
pub struct Transfers {
    /// What is left where; and whether it was computed with.
    moved: BTreeSet<(Given, bool, Spot)>,
    /// What is returned.
    returned: BTreeSet<(Given, bool)>,
    /// Of what floats are made.
    made: BTreeSet<(Given, bool)>,
    /// Where the bits of the function's own floats are left, computed with.
    left: BTreeSet<Spot>,
    /// Such are returned.
    returns_own: bool,
    /// What takes the bits of floats that, by way of other functions, become floats again: loads, casts and calls.
    pub lost: BTreeSet<InstId>,
}

/// Where an integer comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Source {
    Given(Given),
    /// The bits of a float, which this takes.
    Own(InstId),
    /// What lies in memory of which nobody says what it holds, which this reads: given as well, to whoever knows more.
    Hidden(InstId),
}

/// Where integers are on their way.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Stop {
    Value(ValueId),
    /// Bytes to which they are stored.
    Stored(Spot),
    /// Bytes among which floats may lie, to which they are stored.
    Among(Place),
    /// Bytes which are read.
    Read(Place),
    /// Bytes which are copied to where nothing but floats lies.
    Taken(Place),
    Returned,
    /// They become floats.
    Floats,
}

/// Whether `func` makes floats of integers that it computed.
pub fn is_maker(module: &Module, func: &Func, memory: &FuncMemory) -> bool {
    let mut worked: BTreeSet<ValueId> = BTreeSet::new();
    loop {
        let before = worked.len();
        for (_, i) in func.placed() {
            let inst = &func.insts[i];
            let Some(r) = inst.result.filter(|r| is_int(module, func, *r)) else { continue };
            let passes = passes_on(&inst.op) && inst.args.iter().any(|a| worked.contains(a));
            // Bits are rotated and bytes swapped by calls, and functions of the program do what they do.
            let calls = matches!(inst.op, Op::Call(_) | Op::Invoke { .. });
            let works = || match &inst.op {
                Op::Binary(op) => works(*op),
                _ => calls && matches!(resolve(module, func, i), Callee::Known(_) | Callee::Defined(_)),
            };
            if passes || works() {
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
    let mut ways = Ways { module, func, facts, memory, carry, callees, outer, network: Network::default() };
    for (n, p) in func.params.iter().enumerate() {
        if is_int(module, func, *p) {
            ways.network.begin(Source::Given(Given::Param(n)), Stop::Value(*p), Marks::CROSSED);
        }
    }
    for (_, i) in func.placed() {
        ways.step(i);
    }
    ways.through_memory();
    if ways.network.sources() > MOST_SOURCES { Transfers::default() } else { ways.summary() }
}

struct Ways<'a> {
    module: &'a Module,
    func: &'a Func,
    facts: &'a Facts,
    memory: &'a FuncMemory,
    carry: &'a SecondaryMap<ValueId, Carry>,
    callees: &'a BTreeMap<FuncId, Unit>,
    outer: BTreeSet<ClassId>,
    network: Network<Source, Stop>,
}

impl Ways<'_> {
    fn step(&mut self, i: InstId) {
        let inst = &self.func.insts[i];
        let float = |v: ValueId| self.module.ctx.types.contains_float(self.func.ty(v));
        match (&inst.op, inst.args.as_slice(), inst.result) {
            (Op::Store(_), [v, p], _) => {
                let Some(place) = self.place(*v, *p).filter(|_| is_int(self.module, self.func, *v)) else { return };
                let spot = Spot { place, stated: self.facts.states_no_floats(i) };
                // All else that moves pieces is asked when the derivative runs.
                let way = if self.carry[*v] == Carry::Mixed {
                    Way { kept_is_crossed: true, ..Way::adding(Marks::empty()) }
                } else {
                    Way::adding(Marks::empty())
                };
                self.put(Stop::Value(*v), spot, way);
            }
            (Op::Load(_), [p], Some(r)) if is_int(self.module, self.func, r) => {
                let Some(place) = self.place(r, *p) else { return };
                for (source, marks) in self.begun(Spot { place, stated: self.facts.states_no_floats(i) }, i) {
                    self.network.begin(source, Stop::Value(r), marks);
                }
                self.network.lead(Stop::Read(place), Stop::Value(r), Way::adding(Marks::KEPT));
            }
            (Op::Cast(CastOp::BitCast), [v], Some(r)) if float(*v) && is_int(self.module, self.func, r) => {
                self.network.begin(Source::Own(i), Stop::Value(r), Marks::empty());
            }
            (Op::Cast(CastOp::BitCast), [v], Some(r)) if float(r) => {
                self.network.lead(Stop::Value(*v), Stop::Floats, Way::asking(Marks::CROSSED | Marks::KEPT));
            }
            (Op::Ret, args, _) => {
                for v in args {
                    self.network.lead(Stop::Value(*v), Stop::Returned, Way::adding(Marks::empty()));
                }
            }
            (Op::Call(_) | Op::Invoke { .. }, ..) => self.call(i),
            (op, args, Some(r)) if passes_on(op) && is_int(self.module, self.func, r) => {
                let args = if matches!(op, Op::Select) { args.get(1..).unwrap_or_default() } else { args };
                let way = Way::adding(Marks::worked(matches!(op, Op::Binary(op) if works(*op))));
                for v in args {
                    self.network.lead(Stop::Value(*v), Stop::Value(r), way);
                }
            }
            _ => {}
        }
    }

    fn call(&mut self, i: InstId) {
        let (args, result) = (self.func.call_args(i), self.func.insts[i].result);
        let result = result.filter(|r| is_int(self.module, self.func, *r));
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
                let [to, read] = [to, from].map(|place| Spot { place, stated: false });
                if self.is_float(to, Untyped::READ) {
                    // An array of integers that becomes one of floats.
                    if self.memory.bytes_at_all(&[*dst], Some(len)).uniform().is_some() {
                        let way = Way::asking(Marks::CROSSED | Marks::KEPT);
                        self.network.lead(Stop::Taken(from), Stop::Floats, way);
                    }
                    return;
                }
                for (source, marks) in self.begun(read, i) {
                    if !matches!(source, Source::Own(_)) {
                        self.network.begin(source, Stop::Stored(to), marks);
                    }
                }
                self.network.lead(Stop::Read(from), Stop::Stored(to), Way::adding(Marks::empty()));
            }
            // Bytes swapped, bits moved around.
            Callee::Known(_) => {
                for (a, r) in args.iter().zip(result.into_iter().cycle()) {
                    self.network.lead(Stop::Value(*a), Stop::Value(r), Way::adding(Marks::WORKED));
                }
            }
            Callee::Defined(g) => {
                let Some(unit) = self.callees.get(&g) else { return };
                let none = BTreeMap::new();
                let calls = self.memory.calls.get(&i).unwrap_or(&none);
                let theirs = &unit.transfers;
                let crossing = |worked: bool| Marks::CROSSED | Marks::worked(worked);
                for (given, worked, to) in &theirs.moved {
                    let (Some(to), Some(from)) = (to.within(calls), self.given(*given, i, calls)) else { continue };
                    if !self.is_float(to, Untyped::READ) {
                        self.begin_all(*given, from, i, Stop::Stored(to), crossing(*worked));
                    }
                    self.put(from, to, Way::adding(crossing(*worked)));
                }
                for spot in &theirs.left {
                    let Some(to) = spot.within(calls) else { continue };
                    let to = if self.is_float(to, Untyped::READ) { Stop::Floats } else { Stop::Stored(to) };
                    self.network.begin(Source::Own(i), to, crossing(true));
                }
                for (given, worked) in &theirs.made {
                    let Some(from) = self.given(*given, i, calls) else { continue };
                    // Floats that it reads itself as integers are seen to there.
                    if let (Stop::Read(place), Given::Memory(spot)) = (from, *given) {
                        for (source, marks) in self.begun(Spot { place, ..spot }, i) {
                            if matches!(source, Source::Given(_)) {
                                self.network.begin(source, Stop::Floats, marks | crossing(*worked));
                            }
                        }
                    }
                    self.network.lead(from, Stop::Floats, Way::adding(crossing(*worked)));
                }
                for (p, a) in self.module.funcs[g].params.iter().zip(args) {
                    if matches!(unit.carry[*p], Carry::Bits(..)) {
                        self.network.lead(Stop::Value(*a), Stop::Floats, Way::adding(Marks::empty()));
                    }
                }
                let Some(r) = result else { return };
                for (given, worked) in &theirs.returned {
                    let Some(from) = self.given(*given, i, calls) else { continue };
                    self.begin_all(*given, from, i, Stop::Value(r), crossing(*worked));
                    self.network.lead(from, Stop::Value(r), Way::adding(crossing(*worked)));
                }
                if theirs.returns_own {
                    self.network.begin(Source::Own(i), Stop::Value(r), crossing(true));
                }
            }
            Callee::Math(_) | Callee::Unknown(_) => {}
        }
    }

    /// Where what the callee of `i` is given is here.
    fn given(&self, given: Given, i: InstId, calls: &BTreeMap<ClassId, Placed>) -> Option<Stop> {
        match given {
            Given::Memory(spot) => spot.place.within(calls).map(Stop::Read),
            Given::Param(n) => self.func.call_args(i).get(n).map(|a| Stop::Value(*a)),
        }
    }

    /// What begins where the callee of `i` reads, goes there.
    fn begin_all(&mut self, given: Given, from: Stop, i: InstId, to: Stop, marks: Marks) {
        if let (Stop::Read(place), Given::Memory(spot)) = (from, given) {
            for (source, more) in self.begun(Spot { place, ..spot }, i) {
                self.network.begin(source, to, more | marks);
            }
        }
    }

    /// What an integer that `i` reads there is by itself: the bits of a float, or of who knows what.
    fn begun(&self, spot: Spot, i: InstId) -> impl Iterator<Item = (Source, Marks)> + use<> {
        let Spot { place, stated } = spot;
        let class = &self.memory.classes[place.class];
        let floats = self.is_float(spot, Untyped::WRITTEN);
        let stated = stated || self.memory.is_count_of_storage(self.module, place.class, place.span, place.size);
        let declared = |item: &Item| {
            matches!(item.ty, ByteType::Float(_)) && item.span.overlaps(item.size, place.span, place.size)
        };
        let hidden = !stated && (class.foreign && !class.has_known_floats() || class.items.keys().any(declared));
        let own = if floats { Some(Source::Own(i)) } else { hidden.then_some(Source::Hidden(i)) };
        let given = !floats && self.outer.contains(&place.class);
        let given = given.then_some(Source::Given(Given::Memory(Spot { place, stated })));
        own.map(|s| (s, Marks::empty())).into_iter().chain(given.map(|s| (s, Marks::CROSSED)))
    }

    /// Stored there; such as come from elsewhere and become floats there are lost.
    fn put(&mut self, from: Stop, spot: Spot, way: Way) {
        if self.is_float(spot, Untyped::READ) {
            self.network.lead(from, Stop::Floats, Way { asked: Marks::CROSSED, ..way });
            self.network.lead(from, Stop::Among(spot.place), way);
        } else {
            self.network.lead(from, Stop::Stored(spot), way);
        }
    }

    /// What is read was left there: of words what was left as words, and not of single bytes that seem to lie among them.
    fn through_memory(&mut self) {
        let (mut stored, mut read) =
            (BTreeMap::<_, Vec<(Stop, Place)>>::new(), BTreeMap::<_, Vec<(Stop, Place)>>::new());
        for stop in self.network.stops() {
            match stop {
                Stop::Stored(Spot { place, .. }) | Stop::Among(place) => {
                    stored.entry(place.class).or_default().push((stop, place));
                }
                Stop::Read(place) | Stop::Taken(place) => read.entry(place.class).or_default().push((stop, place)),
                Stop::Value(_) | Stop::Returned | Stop::Floats => {}
            }
        }
        for (class, places) in read {
            for (to, place) in places {
                // What lies among floats is read there as such, unless it is copied.
                let goes = |stop: Stop| !matches!((stop, to), (Stop::Among(_), Stop::Read(_)));
                let near = |at: Place| at.size >= place.size.min(8) && at.meets(place);
                let of_class = stored.get(&class).into_iter().flatten();
                for (from, _) in of_class.filter(|(from, at)| goes(*from) && near(*at)) {
                    self.network.lead(*from, to, Way::adding(Marks::empty()));
                }
            }
        }
    }

    fn summary(&self) -> Transfers {
        let tells = |stop| match stop {
            Stop::Stored(spot) => self.outer.contains(&spot.place.class),
            Stop::Returned | Stop::Floats => true,
            Stop::Value(_) | Stop::Read(_) | Stop::Among(_) | Stop::Taken(_) => false,
        };
        let mut out = Transfers::default();
        for (stop, source, marks) in self.network.arrivals(tells) {
            let worked = marks.contains(Marks::WORKED);
            match (stop, source) {
                (Stop::Stored(spot), Source::Given(given)) => out.moved.extend([(given, worked, spot)]),
                (Stop::Stored(spot), Source::Own(_)) if worked => out.left.extend([spot]),
                (Stop::Returned, Source::Given(given)) => out.returned.extend([(given, worked)]),
                (Stop::Returned, Source::Own(_)) => out.returns_own |= worked,
                (Stop::Floats, Source::Given(given)) => out.made.extend([(given, worked)]),
                (Stop::Floats, Source::Own(i) | Source::Hidden(i)) if worked => out.lost.extend([i]),
                _ => {}
            }
        }
        out
    }

    /// The bytes of `v` at `p`: of a vector those of one element, wherever one is.
    fn place(&self, v: ValueId, p: ValueId) -> Option<Place> {
        let types = &self.module.ctx.types;
        let (ty, span) = (self.func.ty(v), self.memory.span_of[p]);
        let size = |ty| self.module.ctx.layout.store_size(types, ty);
        let (size, span) = match types[ty] {
            Type::Vector { elem, .. } => size(elem).map(|size| (size, span.step(size, crate::memory::Steps::Up)))?,
            _ => (size(ty)?, span),
        };
        Some(Place { class: self.memory.class_of[p]?, span, size })
    }

    /// Whether floats may lie there that are used so, if integers are said to. Where single bytes are read or written in the same memory, as the marks of a hash table beside its
    /// entries are, nothing here tells what lies where.
    fn is_float(&self, spot: Spot, so: Untyped) -> bool {
        let place = spot.place;
        let typed = spot.stated && !self.memory.may_be_bits(place.class, place.span, place.size, so);
        if typed || self.memory.is_count_of_storage(self.module, place.class, place.span, place.size) {
            return false;
        }
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
