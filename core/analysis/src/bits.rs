//! Floats whose bits are taken apart as integers and put together again, also by way of memory and calls.
//!
//! An integer computed from the bits of a float (shifted, masked, truncated) is *tainted*; so is memory in which it is
//! stored, and what is read from there. If something tainted becomes a float again, a derivative would be lost on the
//! way: all that is tainted then counts as [`Carry::Mixed`], which is refused where it is active. Where nothing becomes a
//! float again (hashes, comparisons, printing) the integers are integers.
//!
//! Taint is *certain* if a float is known to be where it comes from, and not only memory in which some may lie. Of certain
//! bits each byte is followed; others count where they are read as they were written.
//!
//! Flow-insensitive, one function at a time; callees say whether they return tainted integers and where they leave some.
//! Bits that a callee leaves and that become a float in the caller, or in another callee, make the call a bit trick, as
//! nothing in the caller has the bits. Not found: bits left in the memory of whoever asked for the derivative.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::SecondaryMap;
use enzyme_ir::{BinOp, ByteType, CastOp, Facts, Func, FuncId, InstId, Module, Op, Type, ValueId};

use crate::callee::{Callee, MemoryEffect, resolve};
use crate::carry::Carry;
use crate::memory::{ClassId, FuncMemory, Object, Placed, Span, Untyped};
use crate::program::{Unit, outer_classes};
use crate::uses::Uses;

/// What a function does with the bits of floats.
#[derive(Clone, Debug, Default)]
pub struct Bits {
    /// It returns integers computed from them.
    pub returned: bool,
    /// And these are certain.
    pub returned_certain: bool,
    /// Where it leaves such integers in memory that callers reach.
    pub left: BTreeSet<Place>,
    /// It returns an integer that is the bits of a float, as they are.
    pub returned_whole: bool,
    /// As [`Bits::returned`], if its integer parameters are such integers.
    pub returned_if_given: bool,
    /// As [`Bits::left`], if its integer parameters are such integers.
    pub left_if_given: BTreeSet<Place>,
    /// Where it reads integers, in memory that callers reach, of which it makes floats.
    pub made: BTreeSet<Place>,
    /// Calls that leave such integers where they become floats again.
    pub lost: BTreeSet<InstId>,
}

/// Some bytes of a class.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    pub(crate) class: ClassId,
    pub(crate) span: Span,
    pub(crate) size: u64,
}

impl Place {
    pub(crate) fn meets(self, other: Place) -> bool {
        self.class == other.class && self.span.overlaps(self.size, other.span, other.size)
    }

    /// The same bytes as a caller knows them, where the classes of its callee lie in `calls`.
    pub(crate) fn within(self, calls: &BTreeMap<ClassId, Placed>) -> Option<Place> {
        let ours = calls.get(&self.class)?;
        let span = self.span.shift(ours.origin.offset).step(ours.origin.stride, ours.origin.back());
        Some(Place { class: ours.class, span, ..self })
    }
}

#[derive(Clone)]
struct Flow<'a> {
    module: &'a Module,
    func: &'a Func,
    facts: &'a Facts,
    memory: &'a FuncMemory,
    outer: BTreeSet<ClassId>,
    uses: &'a Uses,
    callees: &'a BTreeMap<FuncId, Unit>,
    values: BTreeSet<ValueId>,
    classes: BTreeSet<ClassId>,
    /// Where tainted values are put, here or by callees.
    put: Left,
    /// Where tainted values are stored here.
    stored: BTreeSet<Place>,
    /// Those of the values that are certain.
    certain: BTreeSet<ValueId>,
    /// Where certain ones are left, and by which store or call.
    left: Left,
    /// Where whole floats are copied from other memory, and from where they are copied to such: `memcpy(&bits, &x, 8)`.
    copied: Copied,
}

/// Places of integers that are copies of floats, and such of which floats are copies.
#[derive(Clone, Default)]
struct Copied {
    from_floats: BTreeSet<Place>,
    to_floats: BTreeSet<Place>,
}

impl Copied {
    fn new(module: &Module, func: &Func, memory: &FuncMemory) -> Copied {
        let mut out = Copied::default();
        for (_, i) in func.placed() {
            let Callee::Known(known) = resolve(module, func, i) else { continue };
            let MemoryEffect::Copy { dst, src, len, .. } = known.memory() else { continue };
            let args = func.call_args(i);
            let (Some(dst), Some(src), Some(len)) = (args.get(dst), args.get(src), args.get(len)) else { continue };
            let Some(len) = func.as_const(*len).and_then(|c| module.ctx.consts.as_u64(c)) else { continue };
            let place = |p: ValueId| Some(Place { class: memory.class_of[p]?, span: memory.span_of[p], size: len });
            if memory.is_used_as_float(*src, len) {
                out.from_floats.extend(place(*dst));
            }
            if memory.is_used_as_float(*dst, len) {
                out.to_floats.extend(place(*src));
            }
        }
        out
    }
}

/// Places by class, and what leaves something there.
#[derive(Clone, Default)]
struct Left {
    places: BTreeMap<ClassId, BTreeMap<Place, BTreeSet<InstId>>>,
    count: usize,
}

impl Left {
    fn insert(&mut self, place: Place, by: InstId) {
        let new = self.places.entry(place.class).or_default().entry(place).or_default().insert(by);
        self.count += usize::from(new);
    }

    fn all(&self) -> impl Iterator<Item = Place> + '_ {
        self.places.values().flat_map(|of_class| of_class.keys().copied())
    }

    /// What leaves something in these bytes.
    fn meeting(&self, read: Place) -> impl Iterator<Item = InstId> + '_ {
        let of_class = self.places.get(&read.class).into_iter().flatten();
        of_class.filter(move |(place, _)| place.meets(read)).flat_map(|(_, by)| by.iter().copied())
    }
}

/// Marks what is tainted and becomes a float again in `carry`, and says what the function does with such bits.
pub fn follow(
    module: &Module,
    func: &Func,
    facts: &Facts,
    memory: &FuncMemory,
    uses: &Uses,
    callees: &BTreeMap<FuncId, Unit>,
    carry: &mut SecondaryMap<ValueId, Carry>,
) -> Bits {
    let start = Flow {
        module,
        func,
        facts,
        memory,
        outer: outer_classes(memory),
        uses,
        callees,
        values: BTreeSet::new(),
        classes: BTreeSet::new(),
        put: Left::default(),
        stored: BTreeSet::new(),
        certain: BTreeSet::new(),
        left: Left::default(),
        copied: Copied::new(module, func, memory),
    };
    for (_, i) in func.placed() {
        for v in start.in_place(i) {
            carry[v] = Carry::Mixed;
        }
    }
    let mut given = start.clone();
    given.values.extend(func.params.iter().copied().filter(|v| start.is_int(*v)));
    given.certain = given.values.clone();
    if !given.values.is_empty() {
        given.settle(carry);
    }
    let mut flow = start;
    flow.settle(carry);
    let made = func.placed().flat_map(|(_, i)| flow.makes_float(i, carry)).collect::<BTreeSet<Place>>();
    let made = made.into_iter().filter(|place| flow.outer.contains(&place.class)).collect();
    let returns = |values: &BTreeSet<ValueId>| {
        func.placed().any(|(_, i)| {
            let inst = &func.insts[i];
            matches!(inst.op, Op::Ret) && inst.args.iter().any(|a| values.contains(a))
        })
    };
    let (returned_if_given, left_if_given) = (returns(&given.certain), given.left_outside());
    let whole = func.placed().flat_map(|(_, i)| func.insts[i].result).chain(func.params.iter().copied());
    let whole = whole.filter(|v| flow.is_int(*v) && matches!(carry[*v], Carry::Bits(..) | Carry::Mixed));
    let returned_whole = returns(&whole.collect());
    if flow.values.is_empty() && flow.left.count == 0 {
        return Bits { returned_whole, returned_if_given, left_if_given, made, ..Bits::default() };
    }
    let read: BTreeSet<InstId> = func.placed().flat_map(|(_, i)| flow.read_as_float(i, carry)).collect();
    let (lost, stored): (BTreeSet<InstId>, BTreeSet<InstId>) =
        read.into_iter().partition(|i| !matches!(func.insts[*i].op, Op::Store(_)));
    if !stored.is_empty() || func.placed().any(|(_, i)| flow.becomes_float(i, carry)) {
        for v in &flow.values {
            if carry[*v] != Carry::Native {
                carry[*v] = Carry::Mixed;
            }
        }
    }
    let (returned, returned_certain) = (returns(&flow.values), returns(&flow.certain));
    let left = flow.left_outside();
    Bits { returned, returned_certain, returned_whole, left, returned_if_given, left_if_given, made, lost }
}

impl<'a> Flow<'a> {
    /// Follows what is tainted until nothing new is.
    fn settle(&mut self, carry: &SecondaryMap<ValueId, Carry>) {
        loop {
            let sizes = |flow: &Flow<'_>| (flow.values.len(), flow.put.count, flow.certain.len(), flow.left.count);
            let before = sizes(self);
            for (_, i) in self.func.placed() {
                self.step(i, carry);
            }
            if sizes(self) == before {
                break;
            }
        }
    }

    /// What is left in memory that callers reach.
    fn left_outside(&self) -> BTreeSet<Place> {
        self.left.all().filter(|place| self.outer.contains(&place.class)).collect()
    }

    fn is_int(&self, v: ValueId) -> bool {
        self.lane_bits(v) > 1
    }

    /// How many bits an integer has, or each of a vector; 0 of what is none.
    fn lane_bits(&self, v: ValueId) -> u32 {
        let types = &self.module.ctx.types;
        let scalar = match types[self.func.ty(v)] {
            Type::Vector { elem, .. } => elem,
            _ => self.func.ty(v),
        };
        if let Type::Int(bits) = types[scalar] { bits } else { 0 }
    }

    /// Whether it is integers that may be floats each.
    fn is_of_words(&self, v: ValueId) -> bool {
        self.lane_bits(v) >= 16
    }

    fn size(&self, v: ValueId) -> u64 {
        self.module.ctx.layout.store_size(&self.module.ctx.types, self.func.ty(v)).unwrap_or(0)
    }

    /// The bytes of `v` at `p`.
    fn place(&self, v: ValueId, p: ValueId) -> Option<Place> {
        Some(Place { class: self.memory.class_of[p]?, span: self.memory.span_of[p], size: self.size(v) })
    }

    /// Whether the program never writes the memory of `class`: a table of which a compiler made a `switch`.
    fn is_constant(&self, class: ClassId) -> bool {
        let constant = |o: &Object| matches!(o, Object::Global(g) if self.module.globals[*g].constant);
        let objects = &self.memory.classes[class].objects;
        !objects.is_empty() && objects.iter().all(constant)
    }

    /// Whether an integer of at least some bytes at `p` lies on the bytes of floats.
    fn on_floats(&self, i: InstId, v: ValueId, p: ValueId, least: u64) -> bool {
        let mut len = self.size(v);
        if let Type::Vector { .. } = self.module.ctx.types[self.func.ty(v)] {
            // That vectors of integers are computed with there proves nothing, unless the program says so: thus do signs of floats change.
            if !self.is_stated_integer(i) {
                // Single bytes are those of keys and marks where floats are but declared.
                return match self.lane_bits(v) {
                    8 => self.memory.may_hold_known_floats(p, len),
                    _ => self.memory.may_hold_floats(p, len),
                };
            }
            len = u64::from(self.lane_bits(v) / 8);
        }
        let used = match self.func.insts[i].op {
            Op::Store(_) => Untyped::READ,
            _ => Untyped::WRITTEN,
        };
        let bits = |class| self.memory.may_be_bits(class, self.memory.span_of[p], len, used);
        let typed = self.is_stated_integer(i) && !self.memory.class_of[p].is_some_and(bits);
        len >= least && !typed && self.memory.floats_under(p, len).is_some_and(|f| !f.is_empty())
    }

    /// Whether the integer `v`, read from `p`, is a copy of a float.
    fn is_copy(&self, v: ValueId, p: ValueId) -> bool {
        self.place(v, p).is_some_and(|place| self.copied.from_floats.contains(&place))
    }

    /// Whether metadata says that what `i` reads as the integer `v` are floats.
    fn is_stated_float(&self, i: InstId, v: ValueId) -> bool {
        let runs = self.facts.access_types.get(&i).map_or(&[][..], Vec::as_slice);
        !runs.is_empty()
            && runs.iter().all(|run| matches!(run.ty, ByteType::Float(_)))
            && runs.iter().map(|run| run.size).sum::<u64>() == self.size(v)
    }

    /// Whether metadata says that what `i` reads or writes are integers.
    fn is_stated_integer(&self, i: InstId) -> bool {
        self.facts.is_stated(i, |ty| ty == ByteType::Integer)
    }

    /// The integers by which the store `i` changes, in its place, what may be the sign, the exponent or the precision of
    /// a float: `place ^= 0x80`. Integers lie there as well, so only a constant that is of use for floats tells.
    fn in_place(&self, i: InstId) -> Vec<ValueId> {
        let inst = &self.func.insts[i];
        let (Op::Store(_), [stored, p]) = (&inst.op, inst.args.as_slice()) else { return Vec::new() };
        let mut values = vec![*stored];
        let mut masks = Vec::new();
        while let Some(v) = values.last().copied() {
            let Some(def) = self.func.def_inst(v).map(|d| &self.func.insts[d]) else { return Vec::new() };
            match (&def.op, def.args.as_slice()) {
                (Op::Cast(CastOp::Trunc | CastOp::ZExt | CastOp::SExt), [from]) => values.push(*from),
                (Op::Binary(op), [from, by]) if masks.is_empty() => {
                    let Some(by) = self.func.as_const(*by).and_then(|c| self.module.ctx.consts.as_u64(c)) else {
                        return Vec::new();
                    };
                    masks.push((*op, by));
                    values.push(*from);
                }
                (Op::Load(_), [q]) => {
                    let memory = self.memory;
                    let same = memory.class_of[*q] == memory.class_of[*p] && memory.span_of[*q] == memory.span_of[*p];
                    let Type::Int(bits) = self.module.ctx.types[self.func.ty(v)] else { return Vec::new() };
                    let telling = masks.iter().any(|(op, by)| is_for_floats(*op, *by, bits));
                    let floats = same && telling && memory.may_hold_floats(*p, u64::from(bits.div_ceil(8)));
                    return if floats { values } else { Vec::new() };
                }
                _ => return Vec::new(),
            }
        }
        Vec::new()
    }

    fn step(&mut self, i: InstId, carry: &SecondaryMap<ValueId, Carry>) {
        let inst = &self.func.insts[i];
        let holds_bits = |v: &ValueId| matches!(carry[*v], Carry::Bits(..) | Carry::Mixed);
        let args = inst.args.as_slice();
        if let (Op::Store(_), [v, p]) = (&inst.op, args) {
            if self.values.contains(v)
                && let Some(place) = self.place(*v, *p)
            {
                self.classes.insert(place.class);
                self.stored.insert(place);
                self.put.insert(place, i);
                if self.certain.contains(v) {
                    self.left.insert(place, i);
                }
            }
            return;
        }
        let called = match inst.op {
            Op::Call(_) | Op::Invoke { .. } => self.func.call_args(i),
            _ => &[],
        };
        let given = called.iter().any(|a| self.certain.contains(a) || holds_bits(a) && self.is_int(*a));
        if let Some((callee, calls)) = self.callee(i) {
            let bits = &callee.bits;
            let left = bits.left.iter().chain(bits.left_if_given.iter().filter(|_| given));
            for place in left.filter_map(|place| place.within(calls)) {
                self.classes.insert(place.class);
                self.put.insert(place, i);
                self.left.insert(place, i);
            }
        }
        let Some(r) = inst.result.filter(|r| self.is_int(*r)) else { return };
        let tainted = match (&inst.op, args) {
            (Op::Load(_), [p]) => {
                let copied_only = self.uses.is_copied_only(self.module, self.func, r);
                let returned = copied_only
                    && self.uses.is_only_returned(self.func, r)
                    && self.memory.may_hold_floats(*p, self.size(r));
                let counted = carry[r] == Carry::None && (returned || !copied_only);
                let class = self.memory.class_of[*p];
                // What the caller keeps in its memory may be floats that nobody here reads as such.
                let hidden = !self.facts.access_types.contains_key(&i)
                    && class.is_some_and(|c| self.outer.contains(&c) && !self.memory.classes[c].has_known_floats())
                    && !class.is_some_and(|c| self.is_constant(c));
                let float = self.is_copy(r, *p) || self.is_stated_float(i, r);
                let floats = hidden || returned || float || self.on_floats(i, r, *p, 2);
                // Floats that are moved as they are lie where no such integer was put.
                let moved = copied_only && matches!(carry[r], Carry::Bits(..));
                let met = || self.place(r, *p).is_none_or(|read| self.put.meeting(read).next().is_some());
                class.is_some_and(|c| self.classes.contains(&c)) && (!moved || met()) || counted && floats
            }
            (Op::Binary(_) | Op::Cast(CastOp::Trunc | CastOp::ZExt), _) => {
                // What is computed of a word is no word.
                let counts = |a: &ValueId| holds_bits(a) || carry[*a] == Carry::Word;
                args.iter().any(|a| self.values.contains(a) || counts(a) && self.is_int(*a))
            }
            // Lanes of another width are the same bits; single bytes are those of keys and marks.
            (Op::Cast(CastOp::BitCast), _) => {
                self.is_of_words(r) && args.iter().any(|a| self.values.contains(a) && self.is_of_words(*a))
            }
            (Op::Phi(_) | Op::Freeze | Op::InsertElement | Op::ExtractElement | Op::ShuffleVector(_), _) => {
                args.iter().any(|a| self.values.contains(a))
            }
            (Op::Select, [_, a, b]) => self.values.contains(a) || self.values.contains(b),
            (Op::Call(_) | Op::Invoke { .. }, _) => match resolve(self.module, self.func, i) {
                Callee::Defined(g) => {
                    // What is only moved on is known to be bits by what it becomes.
                    let whole = carry[r] == Carry::None;
                    let bits = self.callees.get(&g).map(|u| &u.bits);
                    bits.is_some_and(|b| b.returned || given && b.returned_if_given || whole && b.returned_whole)
                }
                // Bytes swapped, the smaller of two integers.
                Callee::Known(_) => {
                    called.iter().any(|a| self.values.contains(a) || carry[*a].may() && self.is_int(*a))
                }
                Callee::Math(_) | Callee::Unknown(_) => false,
            },
            _ => false,
        };
        let certain = match (&inst.op, args) {
            (Op::Load(_), [p]) => {
                let left = self.place(r, *p).is_some_and(|read| self.left.meeting(read).next().is_some());
                left || tainted && (self.is_copy(r, *p) || self.is_stated_float(i, r))
            }
            (Op::Call(_) | Op::Invoke { .. }, _) => match self.callee(i) {
                Some((g, _)) => {
                    g.bits.returned_certain || given && g.bits.returned_if_given || tainted && g.bits.returned_whole
                }
                None => tainted && given,
            },
            (Op::Cast(CastOp::SExt) | Op::InsertElement | Op::ExtractElement | Op::ShuffleVector(_), _) => {
                args.iter().any(|a| self.certain.contains(a) || holds_bits(a) && self.is_int(*a))
            }
            _ => tainted && args.iter().any(|a| self.certain.contains(a) || holds_bits(a)),
        };
        if tainted || certain {
            self.values.insert(r);
        }
        if certain {
            self.certain.insert(r);
        }
    }

    /// Whether something tainted becomes a float by `i`.
    fn becomes_float(&self, i: InstId, carry: &SecondaryMap<ValueId, Carry>) -> bool {
        let inst = &self.func.insts[i];
        let float = inst.result.is_some_and(|r| self.module.ctx.types.contains_float(self.func.ty(r)));
        match (&inst.op, inst.args.as_slice()) {
            (Op::Cast(CastOp::BitCast), [v]) => float && self.values.contains(v),
            (Op::Store(_), [v, p]) => {
                let least = if self.certain.contains(v) { 1 } else { 2 };
                let floats = self.on_floats(i, *v, *p, least)
                    || self.place(*v, *p).is_some_and(|place| self.copied.to_floats.contains(&place));
                self.values.contains(v) && carry[*v] != Carry::Mixed && floats
            }
            (Op::Load(_), [p]) => {
                let read = inst.result.filter(|_| float).and_then(|r| self.place(r, *p));
                read.is_some_and(|read| self.stored.contains(&read))
            }
            (Op::Call(_) | Op::Invoke { .. }, _) => {
                let Callee::Defined(g) = resolve(self.module, self.func, i) else { return false };
                let Some(callee) = self.callees.get(&g) else { return false };
                let params = self.module.funcs[g].params.iter();
                params.zip(self.func.call_args(i)).any(|(p, a)| self.values.contains(a) && callee.carry[*p].may())
            }
            _ => false,
        }
    }

    /// The callee of `i`, and where its classes lie in ours.
    fn callee(&self, i: InstId) -> Option<(&'a Unit, &'a BTreeMap<ClassId, Placed>)> {
        let Callee::Defined(g) = resolve(self.module, self.func, i) else { return None };
        Some((self.callees.get(&g)?, self.memory.calls.get(&i)?))
    }

    /// Where `i` reads integers of which floats are made.
    fn makes_float(&self, i: InstId, carry: &SecondaryMap<ValueId, Carry>) -> Vec<Place> {
        let inst = &self.func.insts[i];
        if let (Op::Load(_), Some(r), [p]) = (&inst.op, inst.result, inst.args.as_slice())
            && matches!(carry[r], Carry::Bits(..) | Carry::Mixed)
        {
            return self.place(r, *p).into_iter().collect();
        }
        let Some((callee, calls)) = self.callee(i) else { return Vec::new() };
        callee.bits.made.iter().filter_map(|place| place.within(calls)).collect()
    }

    /// The stores and calls that left tainted integers where `i` reads a float.
    fn read_as_float(&self, i: InstId, carry: &SecondaryMap<ValueId, Carry>) -> Vec<InstId> {
        let inst = &self.func.insts[i];
        let mut read = self.makes_float(i, carry);
        if let (Op::Load(_), Some(r), [p]) = (&inst.op, inst.result, inst.args.as_slice())
            && self.module.ctx.types.contains_float(self.func.ty(r))
        {
            read.extend(self.place(r, *p));
        }
        if let Some((callee, calls)) = self.callee(i) {
            for class in calls.keys() {
                let items = callee.memory.classes[*class].items.keys();
                let floats = items.filter(|item| matches!(item.ty, ByteType::Float(_)));
                let places = floats.map(|item| Place { class: *class, span: item.span, size: item.size });
                read.extend(places.filter_map(|place| place.within(calls)));
            }
        }
        read.into_iter().flat_map(|r| self.left.meeting(r)).filter(|by| *by != i).collect()
    }
}

/// Whether `op` with the constant `by` on the uppermost `bits` of a float is one that is written for floats: it changes
/// nothing but the sign, steps the exponent, or cuts off at least twenty digits.
fn is_for_floats(op: BinOp, by: u64, bits: u32) -> bool {
    if !matches!(bits, 8 | 16 | 32 | 64) {
        return false;
    }
    let all = u64::MAX >> (64 - bits);
    let sign = 1u64 << (bits - 1);
    match op {
        BinOp::Xor | BinOp::Or => by & all == sign,
        BinOp::And => by & all == all ^ sign || bits >= 32 && by & sign != 0 && by.trailing_zeros() >= 20,
        // 11 bits of exponent in a double, 8 in a float.
        BinOp::Add | BinOp::Sub => bits >= 32 && (by & all).trailing_zeros() + 12 >= bits && by & all != 0,
        _ => false,
    }
}
