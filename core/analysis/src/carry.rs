//! Which values carry floats, and in what form.
//!
//! A float may pass through integer registers: a copy of eight bytes loaded and stored as `i64`, a `bitcast`, two
//! floats packed in one `i64` by a calling convention. Types are about bytes, not about LLVM's names for them, so each
//! value gets a [`Carry`]. Evidence, strongest first: the value's own type; a `bitcast` to or from a float; what
//! metadata says of the bytes loaded or stored; the only float format ever seen in that memory.
//!
//! Where doubles and pointers take turns in one place, a word that is only copied from or to it is [`Carry::Word`].
//!
//! An integer that is computed with is an integer, unless the computation only moves bits (shifts by whole half-words,
//! truncation, `or`) towards a float: then it is [`Carry::Mixed`], which is refused where it is active.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::SecondaryMap;
use enzyme_ir::{
    BinOp, ByteRun, ByteType, CastOp, Const, ConstId, Facts, FloatKind, Func, FuncId, InstId, Module, Op, Type, TypeId,
    ValueId,
};

use crate::callee::{Callee, KnownCall, MemoryEffect, resolve};
use crate::memory::{ClassId, FuncMemory, is_address, may_hold_address};
use crate::program::{Unit, outer_classes};
use crate::uses::Uses;

/// How a value carries floats.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Carry {
    /// It carries none.
    #[default]
    None,
    /// Its type says so.
    Native,
    /// An integer holding the bits of this many floats of a format, and nothing else.
    Bits(FloatKind, u32),
    /// An integer copied from memory that holds floats among other things; which it is can't be told.
    Unknown,
    /// A word copied from or to memory where doubles, pointers and integers take turns: what it is, its bits and those of its shadow
    /// tell when the derivative runs.
    Word,
    /// An integer that holds bits of floats among other bits.
    Mixed,
}

impl Carry {
    /// Whether the value may carry a float.
    pub fn may(self) -> bool {
        !matches!(self, Carry::None)
    }
}

/// Bytes of a double.
const WORD: u64 = 8;

/// How each value of `func` carries floats.
pub fn analyze(
    module: &Module,
    func: &Func,
    facts: &Facts,
    memory: &FuncMemory,
    uses: &Uses,
    callees: &BTreeMap<FuncId, Unit>,
) -> SecondaryMap<ValueId, Carry> {
    let outer = outer_classes(memory);
    let mut pass = Pass {
        module,
        func,
        facts,
        memory,
        uses,
        outer,
        callees,
        out: SecondaryMap::new(),
        doubtful: Vec::new(),
        integers: Vec::new(),
        words: Vec::new(),
        sinks: Vec::new(),
        pointers: Vec::new(),
        lost: Vec::new(),
        wanted: Vec::new(),
    };
    for v in func.values.keys() {
        if module.ctx.types.contains_float(func.ty(v)) {
            pass.out[v] = Carry::Native;
        }
    }
    for (_, i) in func.placed() {
        pass.seed(i);
    }
    pass.settle();
    pass.want_bits();
    pass.out
}

struct Pass<'a> {
    module: &'a Module,
    func: &'a Func,
    facts: &'a Facts,
    memory: &'a FuncMemory,
    uses: &'a Uses,
    outer: BTreeSet<ClassId>,
    callees: &'a BTreeMap<FuncId, Unit>,
    out: SecondaryMap<ValueId, Carry>,
    /// Values copied from or to places of which nothing certain is known.
    doubtful: Vec<ValueId>,
    /// Values copied from or to places that hold integers.
    integers: Vec<ValueId>,
    /// Values read from places where doubles and pointers take turns.
    words: Vec<ValueId>,
    /// Values put into such places, and what they are if nothing else says it.
    sinks: Vec<(ValueId, Carry)>,
    /// Values copied from or to places that hold pointers, or put where doubles and pointers take turns.
    pointers: Vec<ValueId>,
    /// Values put where a double would be lost if they are taken for something else, and whether nobody would know.
    lost: Vec<(ValueId, bool)>,
    /// Values of whose bits callees make floats.
    wanted: Vec<ValueId>,
}

impl Pass<'_> {
    /// Bits of an integer or a vector of integers.
    fn int_bits(&self, ty: TypeId) -> Option<u32> {
        let types = &self.module.ctx.types;
        match types[ty] {
            Type::Int(bits) => Some(bits),
            Type::Vector { elem, len, scalable: false } => match types[elem] {
                Type::Int(bits) => Some(bits * len),
                _ => None,
            },
            _ => None,
        }
    }

    /// Bits of the integer value `v` as floats of the type `float_ty`.
    fn as_lanes(&self, float_ty: TypeId, bits: u32) -> Option<Carry> {
        let kind = self.module.ctx.types.float_kind(float_ty)?;
        bits.is_multiple_of(kind.bits()).then(|| Carry::Bits(kind, bits / kind.bits()))
    }

    /// Gives `v` and all that it is merged with the carry `c`.
    fn spread(&mut self, v: ValueId, c: Carry) {
        for v in self.merged_with(v) {
            match (self.out[v], c) {
                (Carry::None | Carry::Unknown | Carry::Word, _) | (Carry::Bits(..), Carry::Mixed | Carry::Word) => {
                    self.out[v] = c
                }
                (Carry::Bits(..) | Carry::Native | Carry::Mixed, _) => {}
            }
        }
    }

    fn seed(&mut self, i: InstId) {
        let inst = &self.func.insts[i];
        match &inst.op {
            Op::Cast(CastOp::BitCast) => {
                let (Some(from), Some(to)) = (inst.args.first().copied(), inst.result) else { return };
                for (a, b) in [(from, to), (to, from)] {
                    if let Some(bits) = self.int_bits(self.func.ty(a))
                        && let Some(c) = self.as_lanes(self.func.ty(b), bits)
                    {
                        self.spread(a, c);
                    }
                }
            }
            Op::Call(_) | Op::Invoke { .. } => {
                // What the callee makes of an integer parameter is what the argument is.
                let Callee::Defined(g) = resolve(self.module, self.func, i) else { return };
                let Some(callee) = self.callees.get(&g) else { return };
                for (p, a) in self.module.funcs[g].params.iter().zip(self.func.call_args(i)) {
                    if callee.carry[*p].may() && self.int_bits(self.func.ty(*a)).is_some() {
                        self.spread(*a, callee.carry[*p]);
                        if callee.carry[*p] == Carry::Mixed {
                            self.wanted.push(*a);
                        }
                    }
                }
            }
            Op::Load(_) => {
                if let (Some(v), Some(p)) = (inst.result, inst.args.first().copied()) {
                    self.access(i, v, p);
                }
            }
            Op::Store(_) => {
                if let (Some(v), Some(p)) = (inst.args.first().copied(), inst.args.get(1).copied()) {
                    self.access(i, v, p);
                }
            }
            _ => {}
        }
    }

    /// What an integer that is merely copied from or to memory at `p` carries: what the bytes there are.
    fn access(&mut self, i: InstId, v: ValueId, p: ValueId) {
        let ty = self.func.ty(v);
        let Some(bits) = self.int_bits(ty) else { return };
        let copied_only = self.uses.is_copied_only(self.module, self.func, v)
            && !self.uses.is_merged_of_numbers(self.module, self.func, v);
        // What is computed of a word, as whether it may be an address, changes nothing of where it goes.
        let asked = !copied_only
            && matches!(self.module.ctx.types[ty], Type::Int(64))
            && self.is_moved(v)
            && self.is_put_back(v);
        let plain = copied_only || self.is_stored(v);
        if self.func.as_const(v).is_some() || bits % 8 != 0 || !plain && !asked {
            return;
        }
        let Some(class) = self.memory.class_of[p] else { return };
        if may_hold_address(self.module, ty) && is_address(self.module, self.func, self.uses, v) {
            return;
        }
        if self.memory.is_count_of_storage(self.module, class, self.memory.span_of[p], u64::from(bits / 8)) {
            return self.integers.push(v);
        }
        // One place may have several uses: what metadata says of this very one counts.
        let stated = self.facts.access_types.get(&i).map(Vec::as_slice);
        match stated {
            Some([ByteRun { ty: ByteType::Pointer, .. }, ..]) => return,
            Some([ByteRun { ty: ByteType::Float(kind), size, .. }]) if plain && size * 8 == u64::from(bits) => {
                return self.spread(v, Carry::Bits(*kind, bits / kind.bits()));
            }
            _ => {}
        }
        if plain
            && !matches!(stated, Some([ByteRun { ty: ByteType::Integer, .. }]))
            && let Some(kind) = self.memory.float_or_integer(p, u64::from(bits / 8))
        {
            // An integer has no derivative that moving it like a float could spoil.
            return self.spread(v, Carry::Bits(kind, 1));
        }
        if !copied_only && !asked {
            return;
        }
        let len = Some(u64::from(bits / 8));
        let mut bytes = self.memory.bytes_at(p, len);
        let address = self.memory.class_of[v].is_some_and(|c| self.memory.is_memory(c));
        // Where a pointer lies at times, it must not be lost on the way.
        let may_be_word = address && matches!(self.module.ctx.types[ty], Type::Int(64));
        let apart = || self.func.words.contains_key(&i) && self.memory.takes_turns_with_numbers(p);
        let read = matches!(self.func.insts[i].op, Op::Load(_));
        let told = || {
            let all = self.memory.tells_all_words(p) && self.memory.takes_turns(p);
            all || apart() || read && self.is_only_moved(v) && self.memory.takes_turns_with_pointers(p)
        };
        let mut takes_turns = may_be_word && told();
        if read
            && (bytes.clash || bytes.has_floats())
            && let Some(contents) = self.memory.contents_at(p, len)
        {
            // What is read is what was put there, whatever pointers to it lead to besides.
            (bytes, takes_turns) = (contents, false);
        }
        let integer = bytes.runs.iter().all(|r| r.ty == ByteType::Integer) && !bytes.runs.is_empty();
        let stated_integer = matches!(stated, Some([ByteRun { ty: ByteType::Integer, .. }]));
        let pointer = address && !bytes.clash && !bytes.has_floats();
        if takes_turns && !read || pointer && bytes.has_pointers() {
            self.pointers.push(v);
        }
        if takes_turns && !stated_integer && (read || self.func.words.contains_key(&i)) {
            self.words.push(v);
        } else if takes_turns && pointer {
            // What is read says what it is.
        } else if pointer && read && !stated_integer && self.is_several_with_floats(class, p, len) {
            self.doubtful.push(v);
        } else if bytes.clash && stated_integer || pointer {
            // A pointer is likely; but a double that is put there instead would be lost: where the derivative makes the shadow it ends
            // then, elsewhere nobody would know.
            let len = u64::from(bits / 8);
            let hides = !read && !stated_integer && self.memory.may_have_doubles(p, 0, len);
            if hides && self.is_read_from(v, &|p| self.memory.may_have_doubles(p, 0, WORD)) {
                let likely = self.is_read_from(v, &|p| self.memory.has_likely_doubles(p));
                self.lost.push((v, likely && self.memory.may_lose_doubles(p, len)));
            } else if !asked {
                self.integers.push(v);
            }
        } else if bytes.clash {
            self.doubtful.push(v);
        } else if asked {
            // Numbers and their bits, of which something is computed.
        } else if let Some(kind) = bytes.uniform() {
            let carry = Carry::Bits(kind, bits / kind.bits());
            if takes_turns { self.sinks.push((v, carry)) } else { self.spread(v, carry) }
        } else if bytes.has_floats() {
            self.doubtful.push(v);
        } else if integer && bits > 8 {
            self.integers.push(v);
        } else if bytes.runs.is_empty() && self.outer.contains(&class) {
            // Nobody here says what the caller keeps in its memory.
            self.doubtful.push(v);
        }
    }

    /// Whether `v`, of unknown bytes, is a word read from memory and only returned: that it becomes no float there is seen to by
    /// [`crate::bits`].
    fn is_returned(&self, v: ValueId) -> bool {
        let is_word = matches!(self.module.ctx.types[self.func.ty(v)], Type::Int(64));
        let read = |p: ValueId| self.memory.may_hold_floats(p, WORD);
        let made = self.func.def_inst(v).map(|i| &self.func.insts[i]);
        let read = made.is_some_and(|i| matches!(i.op, Op::Load(_)) && i.args.first().is_some_and(|p| read(*p)));
        is_word && read && self.uses.is_only_returned(self.func, v)
    }

    /// Whether of several objects that `p` may point to one may hold floats where another holds pointers.
    fn is_several_with_floats(&self, class: ClassId, p: ValueId, len: Option<u64>) -> bool {
        self.memory.classes[class].is_several() && self.memory.bytes_at_all(&[p], len).clash
    }

    /// Whether the integer `v` is read from memory, goes to memory as it is, and goes nowhere else.
    fn is_only_moved(&self, v: ValueId) -> bool {
        let made = self.func.def_inst(v).map(|i| &self.func.insts[i].op);
        matches!(made, Some(Op::Load(_))) && self.uses.of(v).iter().all(|i| self.stores(*i, v))
    }

    /// Whether the integer `v`, read from memory, goes to memory as it is, at once or, if it is but compared or something is computed of it,
    /// where ways have met.
    fn is_stored(&self, v: ValueId) -> bool {
        let loaded = |v: ValueId| self.func.def_inst(v).is_some_and(|i| matches!(self.func.insts[i].op, Op::Load(_)));
        let stored = |v: ValueId| self.uses.of(v).iter().any(|i| self.stores(*i, v));
        if loaded(v) && stored(v) {
            return true;
        }
        let merged = self.merged_with(v);
        let moves = |i: InstId| matches!(self.func.insts[i].op, Op::Phi(_) | Op::Freeze | Op::Select);
        let only = merged.iter().all(|v| {
            // `f64::total_cmp` computes with the bits of what it compares.
            let compares = |i: InstId| matches!(self.func.insts[i].op, Op::ICmp(_) | Op::Binary(_));
            self.func.def_inst(*v).is_some_and(|i| moves(i) || loaded(*v))
                && self.uses.of(*v).iter().all(|i| moves(*i) || compares(*i) || self.stores(*i, *v))
        });
        only && merged.iter().any(|v| loaded(*v)) && merged.iter().any(|v| stored(*v))
    }

    /// What is copied between a doubtful place and a certain one is what the certain one holds.
    fn settle(&mut self) {
        let integers: BTreeSet<ValueId> =
            std::mem::take(&mut self.integers).into_iter().flat_map(|v| self.merged_with(v)).collect();
        for v in std::mem::take(&mut self.doubtful) {
            if !integers.contains(&v) && !self.uses.is_constant_choice(self.func, v) {
                let floats = matches!(self.out[v], Carry::Bits(..));
                let address = self.memory.class_of[v].is_some_and(|c| self.memory.is_memory(c));
                if (!floats || address) && self.is_told(v) {
                    self.spread(v, Carry::Word);
                } else if floats || !self.is_returned(v) {
                    self.spread(v, Carry::Unknown);
                }
            }
        }
        // What is read is what was put there, unless that is now this, now that.
        let pointers: BTreeSet<ValueId> =
            std::mem::take(&mut self.pointers).into_iter().flat_map(|v| self.merged_with(v)).collect();
        for v in std::mem::take(&mut self.words) {
            let float = matches!(self.out[v], Carry::Bits(..));
            let both = float && pointers.contains(&v);
            if both || !float && !integers.contains(&v) && !self.uses.is_constant_choice(self.func, v) {
                if self.is_moved(v) {
                    self.spread(v, Carry::Word);
                } else if both || !self.is_returned(v) {
                    self.spread(v, Carry::Unknown);
                }
            }
        }
        for (v, in_silence) in std::mem::take(&mut self.lost) {
            if self.out[v] == Carry::None && self.is_told(v) {
                self.spread(v, Carry::Word);
            } else if self.out[v] == Carry::None && in_silence {
                self.spread(v, Carry::Unknown);
            }
        }
        for (v, carry) in std::mem::take(&mut self.sinks) {
            if !integers.contains(&v) && !matches!(self.out[v], Carry::Word | Carry::Unknown) {
                self.spread(v, carry);
            }
        }
    }

    /// Whether `v`, or what it is merged with, is read from such a place.
    fn is_read_from(&self, v: ValueId, such: &dyn Fn(ValueId) -> bool) -> bool {
        self.merged_with(v).into_iter().filter_map(|v| self.func.def_inst(v)).any(|i| {
            let inst = &self.func.insts[i];
            let place = inst.args.first().filter(|_| matches!(inst.op, Op::Load(_)));
            place.is_some_and(|p| such(*p))
        })
    }

    /// Whether `v` is read from memory and put into memory, perhaps where ways meet, and nothing else becomes of it but numbers: what
    /// is computed of it is another integer (`crate::bits`).
    fn is_moved(&self, v: ValueId) -> bool {
        self.merged_with(v).into_iter().all(|v| {
            let made = self.func.def_inst(v).map(|i| &self.func.insts[i].op);
            let used = |i: &InstId| match &self.func.insts[*i].op {
                Op::Store(_) => self.stores(*i, v),
                Op::Phi(_) | Op::Freeze | Op::Select => true,
                op => is_computing(op) || self.is_idle(*i),
            };
            let cast = matches!(made, Some(Op::Cast(CastOp::BitCast | CastOp::PtrToInt)));
            (cast || matches!(made, Some(Op::Load(_) | Op::Phi(_) | Op::Freeze | Op::Select)))
                && self.uses.of(v).iter().all(used)
        })
    }

    /// Whether `i` puts `v` into memory.
    fn stores(&self, i: InstId, v: ValueId) -> bool {
        let inst = &self.func.insts[i];
        matches!(inst.op, Op::Store(_)) && inst.args.first() == Some(&v)
    }

    /// Whether `v`, or what it is merged with, goes to memory.
    fn is_put_back(&self, v: ValueId) -> bool {
        self.merged_with(v).into_iter().any(|v| self.uses.of(v).iter().any(|i| self.stores(*i, v)))
    }

    /// Whether nothing becomes of what `i`, a call, takes: a note for debuggers.
    fn is_idle(&self, i: InstId) -> bool {
        let known = |known: KnownCall| known.memory() == MemoryEffect::None;
        let idle = matches!(resolve(self.module, self.func, i), Callee::Known(call) if known(call));
        idle && self.func.insts[i].op.call_info().is_some() && self.func.insts[i].result.is_none()
    }

    /// Whether `v` is a word that is only moved, from and to places where words are told when the derivative runs, of which doubles are
    /// known to lie in one. Where characters lie only what is known to be aligned is a word, and not some characters.
    fn is_told(&self, v: ValueId) -> bool {
        let place = |i: InstId| match (&self.func.insts[i].op, self.func.insts[i].args.as_slice()) {
            (Op::Load(access), [p, ..]) | (Op::Store(access), [_, p, ..]) => Some((*p, u64::from(access.align))),
            _ => None,
        };
        let merged = self.merged_with(v);
        let is_word = |v: &ValueId| matches!(self.module.ctx.types[self.func.ty(*v)], Type::Int(64));
        let accesses =
            merged.iter().flat_map(|v| self.func.def_inst(*v).into_iter().chain(self.uses.of(*v).iter().copied()));
        let places: BTreeSet<(ValueId, u64)> = accesses.filter_map(place).collect();
        let tells =
            |p: ValueId, align: u64| self.memory.tells_words(p) && (align >= WORD || !self.memory.holds_characters(p));
        self.is_moved(v)
            && merged.iter().all(is_word)
            && places.iter().all(|(p, align)| tells(*p, *align))
            && places.iter().any(|(p, _)| self.memory.may_have_doubles(*p, 0, WORD))
    }

    /// `v` and all integers that it is merged with.
    fn merged_with(&self, v: ValueId) -> BTreeSet<ValueId> {
        let mut work = vec![v];
        let mut seen = BTreeSet::new();
        while let Some(v) = work.pop() {
            if self.func.as_const(v).is_some() || self.int_bits(self.func.ty(v)).is_none() || !seen.insert(v) {
                continue;
            }
            if let Some(i) = self.func.def_inst(v) {
                let inst = &self.func.insts[i];
                match inst.op {
                    Op::Phi(_) | Op::Freeze => work.extend(inst.args.iter().copied()),
                    Op::Select => work.extend(inst.args.iter().skip(1).copied()),
                    _ => {}
                }
            }
            for i in self.uses.of(v) {
                let inst = &self.func.insts[*i];
                match inst.op {
                    Op::Phi(_) | Op::Freeze => work.extend(inst.result),
                    Op::Select if inst.args.first() != Some(&v) => work.extend(inst.result),
                    _ => {}
                }
            }
        }
        seen
    }

    /// Integers whose bits move, other than by plain copies, into a float.
    fn want_bits(&mut self) {
        let mut work: Vec<ValueId> = std::mem::take(&mut self.wanted);
        for (_, i) in self.func.placed() {
            let inst = &self.func.insts[i];
            if matches!(inst.op, Op::Cast(CastOp::BitCast)) && self.module.ctx.types.is_float_or_vector(inst.ty) {
                work.extend(inst.args.iter().copied());
            }
        }
        let through = |op: &Op| matches!(op, Op::Cast(CastOp::Trunc | CastOp::ZExt) | Op::Binary(_));
        work.retain(|v| !self.is_made_of_counts(*v, &through));
        self.mix_backwards(work, &through);
        let stored = self.func.placed().filter_map(|(_, i)| self.stored_pieces(i)).collect();
        self.mix_backwards(stored, &moves_bits);
    }

    /// The integer that instruction `i` stores among floats, if it was put together from pieces.
    fn stored_pieces(&self, i: InstId) -> Option<ValueId> {
        let inst = &self.func.insts[i];
        let (Op::Store(_), [v, p]) = (&inst.op, inst.args.as_slice()) else { return None };
        self.int_bits(self.func.ty(*v)).filter(|b| b % 16 == 0)?;
        let stated = self.facts.access_types.contains_key(&i);
        let len = self.int_bits(self.func.ty(*v)).map(|b| u64::from(b / 8));
        let amid_floats = self.memory.bytes_at(*p, len).has_floats();
        let def = self.func.def_inst(*v)?;
        let moves = moves_bits(&self.func.insts[def].op) && !self.marks_bytes(def) && self.shifts_whole_pieces(def);
        (!stated && amid_floats && moves).then_some(*v)
    }

    /// Whether `i` sets the same bits in each byte of a vector: control bytes of a hash table.
    fn marks_bytes(&self, i: InstId) -> bool {
        let inst = &self.func.insts[i];
        let same = |bytes: &[u8]| bytes.iter().all(|b| Some(b) == bytes.first());
        let marks = |c: ConstId| matches!(&self.module.ctx.consts[c], Const::Data { bytes, .. } if same(bytes));
        let marks = || inst.args.iter().filter_map(|a| self.func.as_const(*a)).any(marks);
        matches!(inst.op, Op::Binary(BinOp::Or)) && marks()
    }

    /// Whether a shift is by a whole number of half-words; true for all else.
    fn shifts_whole_pieces(&self, i: InstId) -> bool {
        let inst = &self.func.insts[i];
        match inst.op {
            Op::Binary(BinOp::Shl | BinOp::LShr) => {
                let amount = inst.args.get(1).and_then(|a| self.func.as_const(*a));
                amount.and_then(|c| self.module.ctx.consts.as_u64(c)).is_some_and(|n| n > 0 && n % 16 == 0)
            }
            _ => true,
        }
    }

    /// Whether `v` is read where the compiler states that there is an integer and nothing speaks of floats: the state of a generator
    /// of random numbers. Whether bits of floats were left there, [`crate::bits`] and [`crate::transfers`] tell.
    fn is_stated_count(&self, v: ValueId) -> bool {
        let Some(i) = self.func.def_inst(v) else { return false };
        let (Op::Load(_), [p]) = (&self.func.insts[i].op, self.func.insts[i].args.as_slice()) else { return false };
        let len = self.int_bits(self.func.ty(v)).map_or(0, |bits| u64::from(bits / 8));
        let stated = self.facts.access_types.get(&i).map_or(&[][..], Vec::as_slice);
        let integers = !stated.is_empty() && stated.iter().all(|run| run.ty == ByteType::Integer);
        integers && !self.memory.may_hold_floats(*p, len)
    }

    /// Whether all that `v` is made of, through operations for which `through` holds and merges, are such integers and constants.
    fn is_made_of_counts(&self, v: ValueId, through: &dyn Fn(&Op) -> bool) -> bool {
        let (mut work, mut seen) = (vec![v], BTreeSet::new());
        while let Some(v) = work.pop() {
            if self.func.as_const(v).is_some() || self.is_stated_count(v) || !seen.insert(v) {
                continue;
            }
            let Some(i) = self.func.def_inst(v) else { return false };
            let inst = &self.func.insts[i];
            match &inst.op {
                Op::Phi(_) | Op::Freeze => work.extend(inst.args.iter().copied()),
                Op::Select => work.extend(inst.args.iter().skip(1).copied()),
                op if through(op) => work.extend(inst.args.iter().copied()),
                _ => return false,
            }
        }
        true
    }

    /// Marks all that `work` is made of, through operations for which `through` holds, as [`Carry::Mixed`].
    fn mix_backwards(&mut self, mut work: Vec<ValueId>, through: &dyn Fn(&Op) -> bool) {
        let mut seen = BTreeSet::new();
        while let Some(v) = work.pop() {
            if !seen.insert(v) {
                continue;
            }
            let Some(i) = self.func.def_inst(v) else {
                continue;
            };
            let inst = &self.func.insts[i];
            let moves = through(&inst.op);
            if moves {
                self.out[v] = Carry::Mixed;
                for a in &inst.args {
                    if self.func.as_const(*a).is_none() {
                        self.out[*a] = match self.out[*a] {
                            Carry::None | Carry::Unknown | Carry::Word | Carry::Bits(..) => Carry::Mixed,
                            known @ (Carry::Native | Carry::Mixed) => known,
                        };
                        work.push(*a);
                    }
                }
                continue;
            }
            match &inst.op {
                Op::Phi(_) | Op::Freeze => work.extend(inst.args.iter().copied()),
                Op::Select => work.extend(inst.args.iter().skip(1).copied()),
                Op::Call(_) if chooses(self.module, self.func, i) => {
                    self.out[v] = Carry::Mixed;
                    for a in self.func.call_args(i).iter().filter(|a| self.func.as_const(**a).is_none()) {
                        if !matches!(self.out[*a], Carry::Native) {
                            self.out[*a] = Carry::Mixed;
                        }
                        work.push(*a);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Whether call `i` gives the smaller or larger of two integers, or the bits of one in another order.
fn chooses(module: &Module, func: &Func, i: InstId) -> bool {
    let name = module.direct_callee(func, i).map_or("", |f| module.funcs[f].name.as_str());
    let name = name.strip_prefix("llvm.").and_then(|name| name.split('.').next()).unwrap_or_default();
    matches!(name, "umax" | "umin" | "smax" | "smin" | "bswap" | "bitreverse" | "fshl" | "fshr" | "abs")
}

/// Whether an operation makes another number of integers.
pub fn is_computing(op: &Op) -> bool {
    let cast =
        |op: &CastOp| matches!(op, CastOp::Trunc | CastOp::ZExt | CastOp::SExt | CastOp::UIToFP | CastOp::SIToFP);
    match op {
        Op::Cast(op) => cast(op),
        op => matches!(op, Op::ICmp(_) | Op::Binary(_) | Op::Gep { .. } | Op::Switch { .. }),
    }
}

/// Whether an integer operation only moves bits.
pub fn moves_bits(op: &Op) -> bool {
    matches!(op, Op::Binary(BinOp::Shl | BinOp::LShr | BinOp::Or) | Op::Cast(CastOp::Trunc | CastOp::ZExt))
}
