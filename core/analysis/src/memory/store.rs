//! The classes while they are being solved: a union-find whose links carry the distance of the origins.

use std::collections::{BTreeMap, BTreeSet};

use enzyme_ir::ByteType;
use indexmap::IndexMap;

use super::span::{Span, Steps, gcd};
use super::{Item, Object, Proof, add_item};

/// More places for pointers than this in one class are no longer told apart.
const MAX_EDGES: usize = 32;
/// Of constants that one leads to, more are not copied but taken for one memory with what has them.
const MAX_COPIES: usize = 64;
const POINTER: u64 = 8;

/// Places in the memory of a class that is being solved.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Addr {
    /// The class; perhaps no longer the representative.
    pub class: u32,
    /// Offsets from its origin.
    pub span: Span,
}

impl Addr {
    pub fn shift(self, by: i64) -> Addr {
        Addr { span: self.span.shift(by), ..self }
    }
    pub fn step(self, by: u64, way: Steps) -> Addr {
        Addr { span: self.span.step(by, way), ..self }
    }
}

/// One class.
#[derive(Default, Debug)]
pub(super) struct Raw {
    /// Where pointers are stored, and where they point to.
    pub edges: Vec<(Span, Addr)>,
    pub objects: BTreeSet<Object>,
    pub items: BTreeMap<Item, Proof>,
    /// When the last of them was added, by the store's clock.
    pub learned: u64,
    /// It is several objects to a function that is called.
    pub merged: bool,
    /// Something of unknown origin is put there.
    pub opaque: bool,
    /// Floats in it need not be aligned.
    pub unaligned: bool,
    /// It is nothing but global constants.
    pub constant: bool,
}

impl Raw {
    fn weight(&self) -> usize {
        self.edges.len() + self.objects.len() + self.items.len()
    }
}

/// All classes.
#[derive(Default)]
pub(super) struct Store {
    /// Parent, and what to add to an offset from the own origin.
    parent: Vec<(u32, i64)>,
    pub raw: Vec<Raw>,
    dirty: BTreeSet<u32>,
    /// Something was learned since this was last reset.
    pub changed: bool,
    /// How many times items were added to classes.
    clock: u64,
    /// Constants that are being copied with what they lead to, and the origins of their copies.
    copied: BTreeMap<u32, Addr>,
}

impl Store {
    pub fn fresh(&mut self) -> Addr {
        let class = self.parent.len() as u32;
        self.parent.push((class, 0));
        self.raw.push(Raw::default());
        Addr { class, span: Span::at(0) }
    }

    pub fn len(&self) -> u32 {
        self.parent.len() as u32
    }

    /// Representative of a class and where the class's origin lies in it.
    pub fn find(&mut self, class: u32) -> (u32, i64) {
        let (mut at, mut total) = (class, 0i64);
        while self.parent[at as usize].0 != at {
            let (up, by) = self.parent[at as usize];
            total = total.wrapping_add(by);
            at = up;
        }
        // Compress: every class on the way now hangs under the representative.
        let (mut x, mut left) = (class, total);
        while x != at {
            let (up, by) = self.parent[x as usize];
            self.parent[x as usize] = (at, left);
            left = left.wrapping_sub(by);
            x = up;
        }
        (at, total)
    }

    /// The same places, from the origin of the representative.
    pub fn resolve(&mut self, a: Addr) -> Addr {
        let (class, by) = self.find(a.class);
        Addr { class, span: a.span.shift(by) }
    }

    /// The class of `a`.
    pub fn raw_of(&mut self, a: Addr) -> &mut Raw {
        let (class, _) = self.find(a.class);
        &mut self.raw[class as usize]
    }

    /// Makes one class of two, so that the least offsets of both addresses fall together.
    pub fn unify(&mut self, a: Addr, b: Addr) {
        let (mut a, mut b) = (self.resolve(a), self.resolve(b));
        if a.class == b.class {
            return;
        }
        self.changed = true;
        if self.raw[a.class as usize].weight() < self.raw[b.class as usize].weight() {
            std::mem::swap(&mut a, &mut b);
        }
        let by = a.span.offset.wrapping_sub(b.span.offset);
        let gone = std::mem::take(&mut self.raw[b.class as usize]);
        self.parent[b.class as usize] = (a.class, by);
        self.dirty.remove(&b.class);
        self.dirty.insert(a.class);
        self.clock += 1;
        let kept = &mut self.raw[a.class as usize];
        kept.learned = self.clock;
        kept.objects.extend(gone.objects);
        kept.merged |= gone.merged;
        kept.opaque |= gone.opaque;
        kept.unaligned |= gone.unaligned;
        kept.constant &= gone.constant;
        for (item, proof) in gone.items {
            add_item(&mut kept.items, Item { span: item.span.shift(by), ..item }, proof);
        }
        kept.edges.extend(gone.edges.into_iter().map(|(at, to)| (at.shift(by), to)));
    }

    /// The join of what an address was known to be, and what it is found to be now. Constants that an address may lead to besides
    /// are copied to its class: what two places have in common with one constant (the flags of every empty hash map), they do
    /// not have in common with each other.
    pub fn join(&mut self, known: Addr, found: Addr) -> Addr {
        let (a, b) = (self.resolve(known), self.resolve(found));
        let is_constant = |at: Addr| self.raw[at.class as usize].constant;
        if is_constant(a) != is_constant(b) && self.copied.len() < MAX_COPIES {
            let (kept, constant) = if is_constant(a) { (b, a) } else { (a, b) };
            self.changed |= kept != a;
            return self.copy_constant(kept, constant);
        }
        self.unify(known, found);
        let (known, found) = (self.resolve(known), self.resolve(found));
        let span = known.span.widened(found.span);
        self.changed |= span != known.span;
        Addr { class: known.class, span }
    }

    /// The address in a class of its own, if that is one of constants: what is found there is not what lies elsewhere in them.
    pub fn apart(&mut self, a: Addr) -> Addr {
        let a = self.resolve(a);
        if !self.raw[a.class as usize].constant || self.copied.len() >= MAX_COPIES {
            return a;
        }
        let fresh = Addr { span: Span::at(a.span.offset), ..self.fresh() };
        self.copy_constant(fresh, a)
    }

    /// Adds to the class of `kept` what is known of that of `constant`, and to the address its places.
    fn copy_constant(&mut self, kept: Addr, constant: Addr) -> Addr {
        let by = kept.span.offset.wrapping_sub(constant.span.offset);
        let Raw { edges, objects, items, merged, opaque, unaligned, learned: _, constant: _ } =
            &self.raw[constant.class as usize];
        let (edges, objects, items) = (edges.clone(), objects.clone(), items.clone());
        let flags = (*merged, *opaque, *unaligned);
        let to = &mut self.raw[kept.class as usize];
        (to.merged, to.opaque, to.unaligned) = (to.merged | flags.0, to.opaque | flags.1, to.unaligned | flags.2);
        let base = Addr { class: kept.class, span: Span::at(0) };
        objects.into_iter().for_each(|object| self.add_object(base, object));
        for (item, proof) in items {
            self.add_item(base, Item { span: item.span.shift(by), ..item }, proof);
        }
        // Constants may lead back to themselves, and to one in many ways: each is copied once.
        let outermost = self.copied.is_empty();
        self.copied.insert(constant.class, Addr { class: kept.class, span: Span::at(by) });
        for (at, target) in edges {
            let target = self.resolve(target);
            let copy = self.copied.get(&target.class).copied().map(|copy| self.resolve(copy));
            let to = copy.map_or(target, |c| Addr { class: c.class, span: target.span.shift(c.span.offset) });
            self.add_edge(Addr { span: at.shift(by), ..base }, to);
        }
        if outermost {
            self.copied.clear();
        }
        let kept = self.resolve(kept);
        let span = kept.span.widened(Span { offset: kept.span.offset, ..constant.span });
        self.changed |= span != kept.span;
        Addr { class: kept.class, span }
    }

    pub fn add_object(&mut self, a: Addr, object: Object) {
        let raw = self.raw_of(a);
        raw.constant &= matches!(object, Object::Global(_));
        let fresh = raw.objects.insert(object);
        self.changed |= fresh;
    }

    /// `item` is relative to the address.
    pub fn add_item(&mut self, a: Addr, item: Item, proof: Proof) {
        let a = self.resolve(a);
        let item = Item { span: a.span.plus(item.span), ..item };
        let raw = &mut self.raw[a.class as usize];
        if add_item(&mut raw.items, item, proof) {
            self.clock += 1;
            raw.learned = self.clock;
            self.changed = true;
        }
    }

    /// Where the pointers stored at `at` point to; a class of their own at first.
    pub fn target(&mut self, at: Addr) -> Addr {
        let at = self.resolve(at);
        let known = self.edge(at);
        match known {
            Some(to) => to,
            None => {
                let to = self.fresh();
                self.raw[at.class as usize].edges.push((at.span, to));
                self.dirty.insert(at.class);
                self.changed = true;
                to
            }
        }
    }

    fn edge(&self, at: Addr) -> Option<Addr> {
        let edges = &self.raw[at.class as usize].edges;
        let exact = edges.iter().find(|(s, _)| *s == at.span);
        exact.or_else(|| edges.iter().find(|(s, _)| s.covers(at.span))).map(|e| e.1)
    }

    /// Whether the program says that floats lie at this place: then no pointers do, whatever is copied from there to where some are.
    pub fn is_stated_float(&self, class: u32, span: Span) -> bool {
        let raw = &self.raw[class as usize];
        let stated =
            |(item, proof): (&Item, &Proof)| *proof == Proof::Asserted && item.span.overlaps(item.size, span, POINTER);
        !self.is_several(class) && raw.items.iter().any(stated)
    }

    /// Whether an array of characters begins here or goes on, of which the program reads or writes some.
    pub fn is_text(&self, at: Addr) -> bool {
        let character = |(item, proof): (&Item, &Proof)| {
            let array = item.ty == ByteType::Integer && item.size == 1 && item.span.stride == 1;
            array && *proof >= Proof::Accessed && item.span.overlaps(1, at.span, 1)
        };
        self.raw[at.class as usize].items.iter().any(character)
    }

    /// Whether more than one object is of this class.
    pub fn is_several(&self, class: u32) -> bool {
        let raw = &self.raw[class as usize];
        raw.merged || raw.objects.len() > 1
    }

    /// Pointers to `to` are stored at `at`.
    pub fn add_edge(&mut self, at: Addr, to: Addr) {
        let mut at = self.resolve(at);
        // Classes that have become one have brought theirs.
        if self.raw[at.class as usize].edges.len() > 2 * MAX_EDGES {
            self.gather(at.class);
            at = self.resolve(at);
        }
        match self.edge(at) {
            Some(known) => {
                let joined = self.join(known, to);
                let at = self.resolve(at);
                let raw = &mut self.raw[at.class as usize];
                let place = raw.edges.iter().position(|(s, _)| *s == at.span);
                let place = place.or_else(|| raw.edges.iter().position(|(s, _)| s.covers(at.span)));
                if let Some(e) = place.and_then(|n| raw.edges.get_mut(n)) {
                    e.1 = joined;
                }
            }
            None => {
                // What a constant leads to is a constant.
                let to = if self.raw[at.class as usize].constant { to } else { self.apart(to) };
                self.raw[at.class as usize].edges.push((at.span, to));
                self.dirty.insert(at.class);
                self.changed = true;
            }
        }
    }

    /// Joins what pointers in the same places point to; too many places are no longer told apart but by what they leave, divided by the
    /// length of what lies there side by side.
    fn gather(&mut self, class: u32) {
        let mut edges = std::mem::take(&mut self.raw[class as usize].edges);
        let places: BTreeSet<Span> = edges.iter().map(|(at, _)| *at).collect();
        if places.len() > MAX_EDGES {
            let length = places.iter().fold(0, |length, at| gcd(length, at.stride));
            let left = |at: Span| Span::at(at.offset).step(length, Steps::Both);
            let told = length.is_multiple_of(POINTER) && length != 0;
            let told = told && places.iter().map(|at| left(*at)).collect::<BTreeSet<Span>>().len() <= MAX_EDGES / 2;
            edges.iter_mut().for_each(|e| e.0 = if told { left(e.0) } else { Span::anywhere() });
        }
        let mut gathered: IndexMap<Span, Addr> = IndexMap::new();
        for (at, to) in edges {
            let joined = gathered.get(&at).copied().map_or(to, |known| self.join(known, to));
            gathered.insert(at, joined);
        }
        // Joining may have made one class of this and others.
        let (class, by) = self.find(class);
        self.raw[class as usize].edges.extend(gathered.into_iter().map(|(at, to)| (at.shift(by), to)));
        self.dirty.insert(class);
        self.changed = true;
    }

    /// Joins what pointers in overlapping places point to, in all classes.
    pub fn close(&mut self) {
        while let Some(class) = self.dirty.pop_first() {
            let (class, _) = self.find(class);
            self.close_class(class);
        }
        // What is joined by value alone marks no class: every class with several places is looked at again.
        for class in 0..self.len() {
            if self.parent[class as usize].0 == class && self.raw[class as usize].edges.len() > 1 {
                self.close_class(class);
            }
        }
    }

    fn close_class(&mut self, class: u32) {
        let mut class = class;
        loop {
            if self.raw[class as usize].edges.len() > MAX_EDGES {
                self.gather(class);
                class = self.find(class).0;
            }
            let edges = self.raw[class as usize].edges.clone();
            let mut again = false;
            'pairs: for (n, (at, to)) in edges.iter().enumerate() {
                for (m, (other_at, other_to)) in edges.iter().enumerate().skip(n + 1) {
                    if !at.overlaps(POINTER, *other_at, POINTER) {
                        continue;
                    }
                    let (a, b) = (self.resolve(*to), self.resolve(*other_to));
                    if a == b && at != other_at {
                        continue;
                    }
                    if a != b {
                        let joined = self.join(a, b);
                        self.changed = true;
                        class = self.find(class).0;
                        // Joining may have moved this very class: start over on what it is now.
                        let list = &mut self.raw[class as usize].edges;
                        if list.len() != edges.len() {
                            again = true;
                            break 'pairs;
                        }
                        list[n].1 = joined;
                        list[m].1 = joined;
                    }
                    if at == other_at {
                        self.raw[class as usize].edges.remove(m);
                    }
                    again = true;
                    break 'pairs;
                }
            }
            if !again {
                return;
            }
        }
    }
}
