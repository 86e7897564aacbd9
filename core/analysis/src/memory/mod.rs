//! Which pointers may reach the same memory, and what its bytes are.
//!
//! Every value that may hold an address (a pointer, an integer as wide as one, an aggregate of such) belongs to a
//! [`ClassId`]; two values whose memory may overlap are of one class. A class has an origin, and each address a [`Span`]
//! of offsets from it. What is known of the memory is kept by offset: the pointers stored there ([`Edge`]) and the types
//! of its bytes ([`Item`]). Constraints are those of Steensgaard, *Points-to analysis by type inference of programs with
//! structures and unions* (CC 1996), with offsets as weights of the union-find: near-linear, flow-insensitive,
//! field-sensitive. A call of a function with a body copies the callee's classes into the caller, so callees are seen
//! per call site; functions of one recursive group are solved together.
//!
//! A derivative needs this because memory and its shadow come in pairs: either all objects of a class have a shadow or
//! none has, and every pointer of the class then has a shadow pointer.
//!
//! Not handled: addresses that travel through integer arithmetic other than adding to a `ptrtoint`; they start a class
//! of their own, marked [`Object::Unknown`].

mod aligned;
mod bytes;
mod calls;
mod constraints;
mod contents;
mod index;
mod span;
mod store;

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::{PrimaryMap, SecondaryMap, entity_impl};
use enzyme_ir::{ByteType, FloatKind, FuncId, Global, GlobalId, InstId, Module, Type, TypeId, ValueId};

pub use bytes::{Bytes, items_of_type, moved_span};
pub use constraints::analyze_group;
pub use index::{is_address, leads_nowhere, numbered};
pub use span::{Span, Steps};

/// A set of pointers that may reach the same memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(u32);
entity_impl!(ClassId, "m");

/// Something that memory of a class may be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Object {
    /// What a parameter of the analysed function points to.
    Param(FuncId, u32),
    /// A stack slot.
    Stack(FuncId, InstId),
    /// Memory returned by an allocation function.
    Heap(FuncId, InstId),
    /// A global variable.
    Global(GlobalId),
    /// A function.
    Code(FuncId),
    /// What an instruction calls through a pointer.
    Called(FuncId, InstId),
    /// The result of an instruction of which nothing is known.
    Unknown(FuncId, InstId),
}

/// Bytes of one type in the memory of a class.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Item {
    /// Where they are.
    pub span: Span,
    /// How many they are at each offset of the span.
    pub size: u64,
    /// What they are.
    pub ty: ByteType,
    /// Whether floats are used there by others than accesses of which the program states that they are of floats.
    pub untyped: Untyped,
}

bitflags::bitflags! {
    /// How floats are read or written without a statement of their type: where there is one, no integer lies, as the languages that
    /// state types have it.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    pub struct Untyped: u8 {
        /// They are read so, or copied from there.
        const READ = 1;
        /// They are written so, or copied there.
        const WRITTEN = 2;
    }
}

impl Item {
    /// Bytes of which no more is said.
    pub fn new(span: Span, size: u64, ty: ByteType) -> Item {
        Item { span, size, ty, untyped: Untyped::all() }
    }
}

/// How sure the type of an [`Item`] is; the surer one counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Proof {
    /// The declared type of a variable or structure.
    Declared,
    /// Some caller's memory has it.
    Passed,
    /// It was copied there, or from there.
    Copied,
    /// Metadata states it.
    Stated,
    /// It is read or written so.
    Accessed,
    /// The program says by a statement that these are floats, however it reads and writes them.
    Asserted,
}

/// Pointers stored in the memory of a class.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Edge {
    /// Where they are stored.
    pub at: Span,
    /// The class they point to.
    pub to: ClassId,
    /// Where in it.
    pub span: Span,
}

/// What is known of the memory of a class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Class {
    /// The pointers stored in it.
    pub edges: Vec<Edge>,
    /// What it may be.
    pub objects: BTreeSet<Object>,
    /// What its bytes are.
    pub items: BTreeMap<Item, Proof>,
    /// It is several objects to a function that is called.
    pub merged: bool,
    /// Memory may be among it to which pointers lead that the function did not store: its callers', of whatever objects.
    pub given: bool,
    /// Something of unknown origin is put there.
    pub opaque: bool,
    /// Floats in it need not be aligned.
    pub unaligned: bool,
    /// Memory may be among it that others made, whose shadow is theirs.
    pub foreign: bool,
}

impl Class {
    /// Whether different objects may be meant, so that what lies at one place of it may be this here and that there.
    pub fn is_several(&self) -> bool {
        self.merged || self.objects.len() > 1
    }

    /// The same, counting what callers may have put beside objects of the function's own.
    pub fn mixes_objects(&self) -> bool {
        let is_param = |o: &Object| matches!(o, Object::Param(..));
        self.is_several() || self.given && !self.objects.iter().all(is_param)
    }

    /// The same, as far as a caller has not told apart what it knows to be one object: what several parameters point to may be.
    pub fn is_several_to_callers(&self) -> bool {
        let is_param = |o: &&Object| matches!(o, Object::Param(..));
        let params = self.objects.iter().filter(is_param).count();
        self.merged || self.objects.len() - params + params.min(1) > 1
    }

    /// Formats of all floats that may be in it.
    pub fn floats(&self) -> BTreeSet<FloatKind> {
        let kind = |i: &Item| match i.ty {
            ByteType::Float(k) => Some(k),
            ByteType::Pointer | ByteType::Integer => None,
        };
        self.items.keys().filter_map(kind).collect()
    }

    /// Whether more than a declaration says that floats may be in it.
    pub fn has_known_floats(&self) -> bool {
        self.items.iter().any(|(i, proof)| matches!(i.ty, ByteType::Float(_)) && *proof > Proof::Declared)
    }

    /// Whether pointers are read or written in it.
    pub fn has_pointers(&self) -> bool {
        self.items.keys().any(|i| i.ty == ByteType::Pointer)
    }

    /// The classes that the pointers in it point to.
    pub fn targets(&self) -> impl Iterator<Item = ClassId> + '_ {
        self.edges.iter().map(|e| e.to)
    }
}

/// Where the memory of a class of the callee lies in the caller's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Placed {
    /// The caller's class.
    pub class: ClassId,
    /// Where the origin of the callee's class is in it.
    pub origin: Span,
}

/// Bytes that are copied between two classes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Copied {
    /// Destination.
    pub dst: (ClassId, Span),
    /// Source.
    pub src: (ClassId, Span),
    /// Number of bytes, if it is known.
    pub len: Option<u64>,
    /// What goes along.
    pub what: Contents,
}

/// What bytes that are copied may be.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Contents {
    /// Whatever lies there.
    Anything,
    /// Characters, among which there are no pointers.
    Text,
    /// Pointers and nothing else, as their type says.
    Pointers,
    /// What is read and written as integers, as the program states.
    Integers,
}

impl Contents {
    /// What is known of `item`, in the memory from which is copied, where it is copied to, or with `back` the other way around: floats that
    /// are put at one end are written at the other, and those that are looked at there are read here.
    fn carry(self, item: Item, back: bool) -> Option<Item> {
        let untyped = if back { Untyped::READ } else { Untyped::WRITTEN };
        let has = match self {
            Contents::Anything | Contents::Text => true,
            Contents::Pointers => item.ty == ByteType::Pointer,
            Contents::Integers => item.untyped.intersects(untyped),
        };
        has.then_some(Item { untyped: if let ByteType::Float(_) = item.ty { untyped } else { item.untyped }, ..item })
    }
}

/// Classes of one function.
#[derive(Clone, Debug, Default)]
pub struct FuncMemory {
    /// Class of each value that may hold an address.
    pub class_of: SecondaryMap<ValueId, Option<ClassId>>,
    /// Where in its class each such value points to.
    pub span_of: SecondaryMap<ValueId, Span>,
    /// All classes of the recursive group that the function belongs to.
    pub classes: PrimaryMap<ClassId, Class>,
    /// Class of each parameter.
    pub params: Vec<Option<ClassId>>,
    /// Where in its class an argument points to that comes from outside of the recursive group: one place, wherever calls within
    /// the group let the parameter point to besides.
    pub entries: Vec<Span>,
    /// Class of the result.
    pub ret: Option<ClassId>,
    /// Where in its class the result points to.
    pub ret_span: Span,
    /// For each call of a function with a body: which class of the caller each class of the callee is.
    pub calls: BTreeMap<InstId, BTreeMap<ClassId, Placed>>,
    /// The functions that these calls call.
    pub callees: BTreeMap<InstId, FuncId>,
    /// Copies of bytes, those made by callees among them.
    pub copies: Vec<Copied>,
    /// What the program puts into the classes of which all writes are known.
    pub contents: SecondaryMap<ClassId, Option<Class>>,
    /// The constraints were given up before they were solved: nothing here can be relied on.
    pub unsettled: bool,
}

impl FuncMemory {
    /// The only type of byte in the memory of `class`, if it is one float format throughout.
    pub fn uniform_float(&self, class: ClassId) -> Option<FloatKind> {
        let c = &self.classes[class];
        let floats = c.floats();
        let all = c.items.keys().all(|i| matches!(i.ty, ByteType::Float(_)));
        let first = floats.first().copied();
        (floats.len() == 1 && all).then_some(first).flatten()
    }

    /// Whether the class is known to be memory: something is in it, or is read or written there.
    pub fn is_memory(&self, class: ClassId) -> bool {
        let Class { edges: _, objects, items, merged: _, given: _, opaque: _, unaligned: _, foreign: _ } =
            &self.classes[class];
        !objects.is_empty() || !items.is_empty()
    }

    /// Whether the class is code, or a table of nothing but pointers to code (the virtual functions of a type): such
    /// memory never has a shadow. A class that holds data as well (one place stores now this, now that) is not code.
    pub fn is_code(&self, class: ClassId) -> bool {
        let code = |c: ClassId| {
            let c = &self.classes[c];
            let data = |o: &Object| matches!(o, Object::Stack(..) | Object::Heap(..) | Object::Global(_));
            let called = |o: &Object| matches!(o, Object::Code(_) | Object::Called(..));
            c.objects.iter().any(called) && c.items.is_empty() && !c.objects.iter().any(data)
        };
        let c = &self.classes[class];
        let variable = |o: &Object| matches!(o, Object::Stack(..) | Object::Heap(..) | Object::Param(..));
        let table = !c.edges.is_empty()
            && c.targets().all(code)
            && c.items.keys().all(|i| !matches!(i.ty, ByteType::Float(_)))
            && !c.objects.iter().any(variable);
        code(class) || table
    }

    /// The class and those reached through the pointers stored in it, each once.
    pub fn chain(&self, class: ClassId) -> Vec<ClassId> {
        let mut out = vec![class];
        let mut n = 0;
        while let Some(at) = out.get(n).copied() {
            for next in self.classes[at].targets() {
                if !out.contains(&next) {
                    out.push(next);
                }
            }
            n += 1;
        }
        out
    }

    /// What the `len` bytes behind the address `p` are; of a repeating pattern if `len` is unknown.
    pub fn bytes_at(&self, p: ValueId, len: Option<u64>) -> Bytes {
        self.bytes(&[p], len, bytes::Use::Accessed)
    }

    /// What `len` bytes are that are moved between these addresses, or fill one: evidence about either counts.
    pub fn bytes_at_all(&self, addresses: &[ValueId], len: Option<u64>) -> Bytes {
        self.bytes(addresses, len, bytes::Use::Moved)
    }

    /// What the `len` bytes behind `p` are, if all that is put there is known and is one thing.
    pub fn contents_at(&self, p: ValueId, len: Option<u64>) -> Option<Bytes> {
        let contents = self.contents[self.class_of[p]?].as_ref()?;
        let found = bytes::bytes_of(&[(contents, self.span_of[p])], len, bytes::Use::Moved);
        (!found.clash && found.gap < POINTER).then_some(found)
    }

    fn bytes(&self, addresses: &[ValueId], len: Option<u64>, asked: bytes::Use) -> Bytes {
        let place = |p: &ValueId| self.class_of[*p].map(|c| (&self.classes[c], self.span_of[*p]));
        let places: Vec<(&Class, Span)> = addresses.iter().filter_map(place).collect();
        bytes::bytes_of(&places, len, asked)
    }

    /// The floats of which `len` bytes behind `p` are a part or the whole, by offset from `p`; `None` if that can't be
    /// told.
    pub fn floats_under(&self, p: ValueId, len: u64) -> Option<Vec<(i64, FloatKind)>> {
        let Some(class) = self.class_of[p] else { return Some(Vec::new()) };
        bytes::floats_under(&self.classes[class], self.span_of[p], len)
    }

    /// The floats that may lose content where an integer is stored in `len` bytes behind `p`, by offset from `p`; `None` if
    /// that can't be told.
    pub fn floats_replaced(&self, p: ValueId, len: u64) -> Option<Vec<(i64, FloatKind)>> {
        let Some(class) = self.class_of[p] else { return Some(Vec::new()) };
        bytes::floats_replaced(&self.classes[class], self.span_of[p], len)
    }

    /// Whether the float that may be `offset` bytes behind `p` is more than a guess.
    pub fn is_float_at(&self, p: ValueId, offset: i64, kind: FloatKind) -> bool {
        let Some(class) = self.class_of[p] else { return false };
        bytes::is_float_at(&self.classes[class], self.span_of[p].shift(offset), kind)
    }

    /// Whether the `len` bytes behind `p` are read or written as a float of that length here, and not as an integer.
    pub fn is_used_as_float(&self, p: ValueId, len: u64) -> bool {
        let Some(class) = self.class_of[p] else { return false };
        let item = |ty, untyped| Item { span: self.span_of[p], size: len, ty, untyped };
        let used =
            |ty, how| self.classes[class].items.get(&item(ty, how)).is_some_and(|proof| *proof >= Proof::Accessed);
        let used = |ty| (0..).map_while(Untyped::from_bits).any(|how| used(ty, how));
        let mut kinds = self.classes[class].floats().into_iter();
        kinds.any(|kind| bytes::float_bytes(kind) == len && used(ByteType::Float(kind))) && !used(ByteType::Integer)
    }

    /// The length of the shortest float that may lie in some of `len` bytes behind `p`, as far as anything but a declaration says so. Bytes
    /// beside an array, as flags in a structure, are none of its floats: these are reached one after the other.
    pub fn shortest_float(&self, p: ValueId, len: u64) -> Option<u64> {
        let class = &self.classes[self.class_of[p]?];
        let there = |(item, proof): (&Item, &Proof)| match item.ty {
            ByteType::Float(kind) if *proof > Proof::Declared => {
                let (place, size) = (self.span_of[p], bytes::float_bytes(kind));
                let fixed = place.stride == 0 && item.span.stride == 0;
                let near = len >= 4 || len == size || fixed || (1..size).contains(&place.stride);
                (near && item.span.overlaps(item.size, place, len)).then_some(size)
            }
            _ => None,
        };
        class.items.iter().filter_map(there).min()
    }

    /// Whether just the `len` bytes behind `p` may be such as are read or written as a float somewhere.
    pub fn is_also_float(&self, p: ValueId, len: u64) -> bool {
        let Some(class) = self.class_of[p] else { return false };
        bytes::is_also_float(&self.classes[class], self.span_of[p], len)
    }

    /// Whether both doubles and pointers may lie in the word behind `p`, as far as is known.
    pub fn takes_turns(&self, p: ValueId) -> bool {
        self.clashes(p) || self.may_take_turns(p) && self.tells_all_words(p) && !self.mixes_objects(p)
    }

    /// The same where the program computes with whole words in the place of a double, of which those that are not computed with tell.
    pub fn takes_turns_with_numbers(&self, p: ValueId) -> bool {
        self.may_take_turns(p) && self.tells_whole_words(p) && !self.mixes_objects(p)
    }

    /// The same where a pointer is read or written just there, whatever else the program computes with.
    pub fn takes_turns_with_pointers(&self, p: ValueId) -> bool {
        let Some(class) = self.class_of[p].map(|c| &self.classes[c]) else { return false };
        let here = |(item, proof): (&Item, &Proof)| {
            item.ty == ByteType::Pointer && *proof >= Proof::Accessed && item.span == self.span_of[p]
        };
        class.items.iter().any(here) && self.may_take_turns(p) && self.tells_words(p)
    }

    fn mixes_objects(&self, p: ValueId) -> bool {
        self.class_of[p].is_some_and(|c| self.classes[c].mixes_objects())
    }

    /// The same, be they told apart or not, or known but by where pointers to several objects may lead.
    pub fn may_take_turns(&self, p: ValueId) -> bool {
        let (Some(class), place) = (self.class_of[p].map(|c| &self.classes[c]), self.span_of[p]) else { return false };
        let there = |ty: ByteType| {
            let mut items = class.items.iter().filter(|(item, proof)| item.ty == ty && **proof > Proof::Declared);
            items.any(|(item, _)| item.span.overlaps(item.size, place, POINTER))
        };
        let leads = || class.edges.iter().any(|e| e.at.overlaps(POINTER, place, POINTER) && self.is_memory(e.to));
        self.clashes(p) || there(ByteType::Float(FloatKind::Double)) && (there(ByteType::Pointer) || leads())
    }

    fn clashes(&self, p: ValueId) -> bool {
        self.bytes_at_all(&[p], Some(POINTER)).clash
    }

    /// Whether what lies behind `p` is told when a derivative runs, word by word: doubles, pointers and integers where they are aligned.
    /// As a double an address is so small that none of these is meant, and an integer has a shadow of zero (`enzyme_diff::words`).
    pub fn tells_words(&self, p: ValueId) -> bool {
        let Some(class) = self.class_of[p].map(|c| &self.classes[c]) else { return false };
        !class.unaligned && class.floats().into_iter().all(|kind| kind == FloatKind::Double)
    }

    /// Whether `len` bytes behind `p` that are taken for characters are told from parts of floats and pointers when a derivative runs
    /// (`enzyme_diff::words::require_text`): in words, or where they are too few for a float; never where no float is known, which may be
    /// of any format.
    pub fn tells_characters(&self, p: ValueId, len: Option<u64>) -> bool {
        let Some(class) = self.class_of[p].map(|c| &self.classes[c]) else { return false };
        let few = |kind: FloatKind| len.is_some_and(|n| n <= bytes::float_bytes(kind) / 2);
        let floats = class.floats();
        !floats.is_empty() && (self.tells_words(p) || floats.into_iter().all(few))
    }

    /// The same where the program computes with no integer in the place of a double.
    pub fn tells_all_words(&self, p: ValueId) -> bool {
        self.tells_words_without(p, |_| true)
    }

    /// The same where it computes with no piece of a word there.
    pub fn tells_whole_words(&self, p: ValueId) -> bool {
        self.tells_words_without(p, |number| !number.size.is_multiple_of(POINTER))
    }

    fn tells_words_without(&self, p: ValueId, counts: impl Fn(&Item) -> bool) -> bool {
        let Some(class) = self.class_of[p].map(|c| &self.classes[c]) else { return false };
        let is_double = |item: &Item| item.ty == ByteType::Float(FloatKind::Double);
        let is_number =
            |(item, proof): &(&Item, &Proof)| item.ty == ByteType::Integer && **proof > Proof::Declared && counts(item);
        let mut numbers = class.items.iter().filter(is_number);
        let beside = |n: &Item| class.items.keys().any(|d| is_double(d) && d.span.overlaps(d.size, n.span, n.size));
        self.tells_words(p) && !numbers.any(|(n, _)| beside(n))
    }

    /// Whether doubles may lie in `len` bytes that begin `offset` bytes behind `p`, however likely something else is, in memory whose shadow
    /// the derivative makes.
    pub fn may_hide_doubles(&self, p: ValueId, offset: u64, len: u64) -> bool {
        self.may_have_doubles(p, offset, len) && self.class_of[p].is_some_and(|c| !self.classes[c].foreign)
    }

    /// The same in memory whose shadow others make: what lies there in the end tells nothing.
    pub fn may_lose_doubles(&self, p: ValueId, len: u64) -> bool {
        self.may_have_doubles(p, 0, len) && self.class_of[p].is_some_and(|c| self.classes[c].foreign)
    }

    /// Whether doubles may lie in the word behind `p`, and nothing else is seen to be used there.
    pub fn has_likely_doubles(&self, p: ValueId) -> bool {
        let Some(class) = self.class_of[p].map(|c| &self.classes[c]) else { return false };
        let other = |(item, proof): (&Item, &Proof)| {
            let used = !matches!(item.ty, ByteType::Float(_)) && *proof >= Proof::Accessed;
            used && item.span.overlaps(item.size, self.span_of[p], POINTER)
        };
        self.may_have_doubles(p, 0, POINTER) && !class.items.iter().any(other)
    }

    /// Whether anything but a declaration says that doubles lie in `len` bytes that begin `offset` bytes behind `p`.
    pub fn may_have_doubles(&self, p: ValueId, offset: u64, len: u64) -> bool {
        let Some(class) = self.class_of[p].map(|c| &self.classes[c]) else { return false };
        let place = self.span_of[p].shift(offset as i64);
        let there = |(item, proof): (&Item, &Proof)| {
            let double = item.ty == ByteType::Float(FloatKind::Double) && *proof > Proof::Declared;
            double && item.span.overlaps(item.size, place, len)
        };
        class.items.iter().any(there)
    }

    /// The format of the floats that may be `len` bytes behind `p`, where these may also be integers and nothing else.
    pub fn float_or_integer(&self, p: ValueId, len: u64) -> Option<FloatKind> {
        bytes::float_or_integer(&self.classes[self.class_of[p]?], self.span_of[p], len)
    }

    /// Whether characters lie somewhere in the memory that `p` points to.
    pub fn holds_characters(&self, p: ValueId) -> bool {
        let character = |i: &Item| i.ty == ByteType::Integer && i.size == 1;
        self.class_of[p].is_some_and(|c| self.classes[c].items.keys().any(character))
    }

    /// Whether what is used as an integer, as the program states, in `len` bytes at `span` may be the bits of floats: these are read or
    /// written there so, or just there in one object, as where a copy between two was none to the optimiser.
    pub fn may_be_bits(&self, class: ClassId, span: Span, len: u64, so: Untyped) -> bool {
        let known = &self.classes[class];
        let bits = |(item, proof): (&Item, &Proof)| {
            let same = !known.is_several() && item.span == span && item.size == len && *proof >= Proof::Stated;
            let untyped = item.untyped.intersects(so) && *proof > Proof::Declared;
            matches!(item.ty, ByteType::Float(_)) && (same || untyped) && item.span.overlaps(item.size, span, len)
        };
        known.items.iter().any(bits)
    }

    /// Whether anything says that some of `len` bytes behind `p` are those of floats, however weak it is.
    pub fn may_hold_floats(&self, p: ValueId, len: u64) -> bool {
        self.holds_floats(p, len, Proof::Declared)
    }

    /// As [`Self::may_hold_floats`], but declarations do not count.
    pub fn may_hold_known_floats(&self, p: ValueId, len: u64) -> bool {
        self.holds_floats(p, len, Proof::Passed)
    }

    fn holds_floats(&self, p: ValueId, len: u64, least: Proof) -> bool {
        let Some(class) = self.class_of[p] else { return false };
        let float = |i: &Item| matches!(i.ty, ByteType::Float(_)) && i.span.overlaps(i.size, self.span_of[p], len);
        self.classes[class].items.iter().any(|(i, proof)| *proof >= least && float(i))
    }

    /// Whether an integer of `len` bytes lies there, in a COMMON block or a variable of Fortran, where floats lie, if at all, because an array
    /// before or behind it seems to have no end: an index stays within its array there, and halves of numbers are not moved.
    pub fn is_count_of_storage(&self, module: &Module, class: ClassId, span: Span, len: u64) -> bool {
        let known = &self.classes[class];
        let is_union = |ty| matches!(&module.ctx.types[ty], Type::Struct(s) if s.name.as_deref().is_some_and(|n| n.starts_with("union.")));
        let is_storage = |o: &Object| {
            let Object::Global(g) = o else { return false };
            let global = &module.globals[*g];
            is_fortran_storage(module, global) && !is_union(global.ty)
        };
        let is_alone = known.objects.len() == 1 && known.objects.iter().all(is_storage) && !known.merged;
        let mut floats =
            known.items.keys().filter(|i| matches!(i.ty, ByteType::Float(_)) && i.span.overlaps(i.size, span, len));
        is_alone && span.stride == 0 && floats.all(|i| i.span.stride != 0 && i.size > len)
    }

    /// Adds what a caller knows of the memory it passes: `theirs` is the caller's class of each of ours. A function that it does not call
    /// itself, but which calls the one that it calls and is called by it, may be called with other memory: floats count `elsewhere` only
    /// where it has nothing else. Whether anything was new.
    pub fn learn(
        &mut self,
        placed: &BTreeMap<ClassId, Placed>,
        theirs: &PrimaryMap<ClassId, Class>,
        elsewhere: bool,
    ) -> bool {
        let mut grown = false;
        for (ours, place) in placed {
            let (Some(class), Some(known)) = (theirs.get(place.class), self.classes.get_mut(*ours)) else { continue };
            known.unaligned |= class.unaligned;
            let own = if elsewhere { known.items.clone() } else { BTreeMap::new() };
            let is_float = |item: &Item| matches!(item.ty, ByteType::Float(_));
            let has_else = |span: Span, size: u64| {
                let there = || own.iter().filter(|(i, _)| i.span.overlaps(i.size, span, size));
                !there().any(|(i, _)| is_float(i)) && there().any(|(_, proof)| *proof >= Proof::Accessed)
            };
            for (item, proof) in &class.items {
                let span = item.span.shift(place.origin.offset.wrapping_neg());
                let span = span.step(place.origin.stride, place.origin.back());
                if is_float(item) && has_else(span, item.size) {
                    continue;
                }
                grown |= add_item(&mut known.items, Item { span, ..*item }, (*proof).min(Proof::Passed));
            }
        }
        grown
    }

    /// Spreads what was learned over what is copied.
    pub fn spread_copies(&mut self) {
        self.copy_items();
        self.classes.values_mut().for_each(aligned::align);
    }

    fn copy_items(&mut self) {
        for _ in 0..4 {
            let mut grown = false;
            for c in &self.copies {
                let unaligned = self.classes[c.src.0].unaligned || self.classes[c.dst.0].unaligned;
                for (from, to, back) in [(c.src, c.dst, false), (c.dst, c.src, true)] {
                    grown |= unaligned && !std::mem::replace(&mut self.classes[to.0].unaligned, true);
                    let found = bytes::copied_items(&self.classes[from.0].items, from.1, to.1, c.len, from.0 == to.0);
                    for (item, proof) in
                        found.into_iter().filter_map(|(item, proof)| Some((c.what.carry(item, back)?, proof)))
                    {
                        grown |= add_item(&mut self.classes[to.0].items, item, proof);
                    }
                }
            }
            if !grown {
                return;
            }
        }
    }
}

const POINTER: u64 = 8;
/// The most items that a class keeps apart.
const MAX_ITEMS: usize = 4096;

/// Adds an item; whether anything was new. Where there are too many, only what repeats every eight bytes is told apart.
fn add_item(items: &mut BTreeMap<Item, Proof>, item: Item, proof: Proof) -> bool {
    let item = match items.len() < MAX_ITEMS || items.contains_key(&item) {
        true => item,
        false => Item { span: item.span.step(8, Steps::Both), ..item },
    };
    match items.get_mut(&item) {
        Some(known) if *known >= proof => false,
        Some(known) => {
            *known = proof;
            true
        }
        None => {
            items.insert(item, proof);
            true
        }
    }
}

/// Whether a value of this type may hold an address.
pub fn may_hold_address(module: &Module, ty: TypeId) -> bool {
    let bits = module.ctx.layout.pointer_bits(0);
    module.ctx.types.contains(ty, &|t| match t {
        Type::Ptr(_) => true,
        Type::Int(n) => *n >= bits,
        _ => false,
    })
}

/// Whether a variable is that of a Fortran module or procedure, or a COMMON block, which is bytes or, with initial values, a
/// structure.
pub(crate) fn is_fortran_storage(module: &Module, global: &Global) -> bool {
    let types = &module.ctx.types;
    let is_block = || match types[global.ty] {
        Type::Array { elem, .. } => matches!(types[elem], Type::Int(8)),
        Type::Struct(_) => true,
        _ => false,
    };
    let name = &global.name;
    name.starts_with("_QM") || name.starts_with("_QF") || name.ends_with('_') && !name.starts_with('_') && is_block()
}
