//! The constraints of calls: what library functions do to pointers, what is known of callees, what is copied as bytes.

use std::collections::{BTreeMap, BTreeSet};

use enzyme_ir::{ByteType, Func, FuncId, InstId, Op, Type, ValueId};
use petgraph::unionfind::UnionFind;

use super::bytes::{copied_items, float_bytes, moved_span};
use super::constraints::{Moved, POINTER, Solver, is_constant};
use super::index::origin_within;
use super::span::gcd;
use super::store::Addr;
use super::{ClassId, Contents, FuncMemory, Item, Object, Proof, Span, Steps, Untyped};
use crate::callee::{Callee, MemoryEffect, PointerEffect, resolve};

impl<'a> Solver<'a> {
    pub(super) fn call(&mut self, f: FuncId, func: &'a Func, i: InstId) {
        let result = func.insts[i].result;
        let args = func.call_args(i);
        if let Some(target) = func.callee(i).filter(|v| func.as_const(*v).is_none())
            && let Some(a) = self.addr(f, target)
        {
            self.store.add_object(a, Object::Called(f, i));
        }
        match resolve(self.module, func, i) {
            Callee::Defined(g) if self.group.contains_key(&g) => {
                let params = self.module.funcs[g].params.clone();
                for (p, a) in params.iter().zip(args) {
                    if let Some(a) = self.known(f, *a) {
                        self.meet(g, *p, a);
                    }
                }
                if let (Some(v), Some(r)) = (result, self.group.get(&g).and_then(|g| g.ret)) {
                    self.meet(f, v, r);
                }
            }
            Callee::Defined(g) => self.instantiate(f, i, g, args, result),
            Callee::Math(_) => {
                for a in args {
                    let pointer = self.module.ctx.types.contains_pointer(func.ty(*a));
                    let Some(at) = self.addr(f, *a).filter(|_| pointer) else { continue };
                    for kind in args.iter().filter_map(|v| self.module.ctx.float_kind(func.ty(*v))) {
                        let item = Item {
                            untyped: Untyped::empty(),
                            ..Item::new(Span::at(0), float_bytes(kind), ByteType::Float(kind))
                        };
                        self.store.add_item(at, item, Proof::Accessed);
                    }
                }
            }
            Callee::Known(known) => {
                let len = |n: usize| {
                    args.get(n).and_then(|a| func.as_const(*a)).and_then(|c| self.module.ctx.consts.as_u64(c))
                };
                if let (Some(ty), Some(at)) = (known.states, args.first().and_then(|a| self.addr(f, *a))) {
                    let bytes = if args.len() > 1 { len(1) } else { Some(0) };
                    self.state_type(at, ty, bytes);
                }
                let touched: Option<(Vec<usize>, Option<u64>)> = match known.memory() {
                    MemoryEffect::Copy { dst, src, len: n, .. } => Some((vec![dst, src], len(n))),
                    MemoryEffect::Set { dst, len: n, .. } => Some((vec![dst], len(n))),
                    _ => None,
                };
                if let Some((which, len)) = touched {
                    let places: Vec<Addr> =
                        which.iter().filter_map(|n| args.get(*n)).filter_map(|a| self.addr(f, *a)).collect();
                    self.stated(f, i, &places, len);
                    // What is copied in chunks is copied as a whole too, which says what lies where.
                    let chunk = self.facts.get(&f).is_some_and(|facts| facts.overlapping.contains(&i));
                    if let ([dst, src], false) = (places.as_slice(), chunk) {
                        let text = len.is_none() && self.is_text_copy(f, func, args);
                        let what = if text { Contents::Text } else { Contents::Anything };
                        self.copies.push(Moved { dst: *dst, src: *src, len, what });
                    }
                }
                self.pointer_effect(f, i, args, result, known.pointers());
            }
            Callee::Unknown(_) => {
                for a in args {
                    if let Some(v) = result {
                        self.follow_anywhere(f, v, *a);
                    }
                }
                self.unknown(f, i, result);
            }
        }
    }

    /// Whether bytes are copied as texts are: a single one by itself, as a character, and more of them by this call.
    fn is_text_copy(&self, f: FuncId, func: &Func, args: &[ValueId]) -> bool {
        let ([dst, src, ..], Some(group)) = (args, self.group.get(&f)) else { return false };
        let is_stored = |v: ValueId| {
            let uses = group.uses.of(v).iter().map(|i| &func.insts[*i]);
            uses.into_iter().any(|inst| matches!(inst.op, Op::Store(_)) && inst.args.as_slice() == [v, *dst])
        };
        let character = |i: &InstId| {
            let inst = &func.insts[*i];
            let byte = inst.result.filter(|v| self.module.ctx.types[func.ty(*v)] == Type::Int(8));
            matches!(inst.op, Op::Load(_)) && inst.args.first() == Some(src) && byte.is_some_and(is_stored)
        };
        group.uses.of(*src).iter().any(character)
    }

    /// `bytes` behind `at` are of this type, all of an array if their number is not known, and one value at least.
    fn state_type(&mut self, at: Addr, ty: ByteType, bytes: Option<u64>) {
        let size = match ty {
            ByteType::Float(kind) => float_bytes(kind),
            ByteType::Pointer => POINTER,
            ByteType::Integer => 4,
        };
        let proof = if let ByteType::Float(_) = ty { Proof::Asserted } else { Proof::Accessed };
        match bytes.map(|n| (n / size).max(1)).filter(|n| *n <= 64) {
            Some(count) => (0..count).for_each(|n| {
                let span = Span::at(i64::try_from(n * size).unwrap_or(0));
                self.store.add_item(at, Item::new(span, size, ty), proof);
            }),
            None => self.store.add_item(at, Item::new(Span::at(0).step(size, Steps::Up), size, ty), proof),
        }
    }

    fn follow_anywhere(&mut self, f: FuncId, v: ValueId, from: ValueId) {
        if let Some(a) = self.known(f, from) {
            self.meet(f, v, Addr { span: Span::anywhere(), ..a });
        }
    }

    fn pointer_effect(
        &mut self,
        f: FuncId,
        i: InstId,
        args: &[ValueId],
        result: Option<ValueId>,
        effect: PointerEffect,
    ) {
        match effect {
            PointerEffect::Fresh => {
                let (module, func) = (self.module, &self.module.funcs[f]);
                let uses = self.group.get(&f).map(|g| &g.uses);
                let within = result.zip(uses).and_then(|(v, uses)| origin_within(module, func, uses, v));
                let origin = within.or(result);
                if let Some(a) = origin.and_then(|v| self.addr(f, v)) {
                    self.store.add_object(a, Object::Heap(f, i));
                    if let Some((v, at)) = result.zip(origin).filter(|(v, at)| v != at) {
                        self.origins.insert((f, at));
                        self.meet(f, v, Addr { span: Span::anywhere(), ..a });
                    }
                }
            }
            PointerEffect::FreshLike(n) => {
                if let Some(v) = result {
                    if let Some(a) = args.get(n) {
                        self.follow(f, v, *a);
                    }
                    if let Some(a) = self.addr(f, v) {
                        self.store.add_object(a, Object::Heap(f, i));
                    }
                }
            }
            PointerEffect::Copy { dst, .. } => {
                if let (Some(v), Some(d)) = (result, args.get(dst)) {
                    self.follow(f, v, *d);
                }
            }
            PointerEffect::FreshInto(n) => {
                if let Some(at) = args.get(n).and_then(|a| self.addr(f, *a)) {
                    let item = Item::new(Span::at(0), POINTER, ByteType::Pointer);
                    self.store.add_item(at, item, Proof::Accessed);
                    let inner = self.store.target(at);
                    self.store.add_object(inner, Object::Heap(f, i));
                }
            }
            PointerEffect::MayReturn => {
                for a in args {
                    if let Some(v) = result {
                        self.follow_anywhere(f, v, *a);
                    }
                }
                self.unknown(f, i, result);
            }
            PointerEffect::None => {}
        }
    }

    /// Copies the classes of `g` that its parameters and result reach, and joins them with those of the call.
    fn instantiate(&mut self, f: FuncId, i: InstId, g: FuncId, args: &[ValueId], result: Option<ValueId>) {
        let Some(callee) = self.done.get(&g) else {
            self.unknown(f, i, result);
            return;
        };
        let mut map: BTreeMap<ClassId, Addr> =
            self.group.get_mut(&f).and_then(|g| g.calls.remove(&i)).unwrap_or_default();
        let mut seen: BTreeMap<ClassId, Addr> = BTreeMap::new();
        // Their class, where an address points to in it, and where the same address points to in ours.
        let mut roots: Vec<(ClassId, Span, Addr)> = Vec::new();
        for (n, (p, a)) in callee.params.iter().zip(args).enumerate() {
            let Some(p) = p else { continue };
            let Some(a) = self.addr(f, *a) else { continue };
            let span = callee.entries.get(n).copied().unwrap_or_default();
            roots.push((*p, span, a));
        }
        let constant = |o: &Object| matches!(o, Object::Global(g) if is_constant(&self.module.globals[*g]));
        for (id, class) in callee.classes.iter() {
            for o in &class.objects {
                if let Object::Global(gl) = o
                    && !constant(o)
                {
                    let at = self.global(*gl);
                    roots.push((id, Span::at(0), at));
                }
            }
        }
        if let (Some(r), Some(v)) = (callee.ret, result) {
            let known = self.addr(f, v);
            roots.extend(known.map(|k| (r, callee.ret_span, k)));
        }
        while let Some((theirs, span, ours)) = roots.pop() {
            let origin = origin_of(span, ours);
            let known = map.get(&theirs).copied();
            let joined = match known {
                Some(known) => self.store.join(known, origin),
                None => self.store.apart(origin),
            };
            map.insert(theirs, joined);
            let joined = self.store.resolve(joined);
            if seen.get(&theirs) == Some(&joined) {
                continue;
            }
            seen.insert(theirs, joined);
            let class = &callee.classes[theirs];
            for (item, proof) in &class.items {
                // What a callee copies from memory of its own is not seen as a copy here.
                let proof = if *proof == Proof::Copied { Proof::Stated } else { *proof };
                self.store.add_item(joined, *item, proof);
            }
            let raw = self.store.raw_of(joined);
            raw.merged |= class.is_several_to_callers();
            raw.opaque |= class.opaque;
            raw.unaligned |= class.unaligned;
            for o in &class.objects {
                match o {
                    Object::Heap(..) => self.store.add_object(joined, Object::Heap(f, i)),
                    Object::Unknown(..) => self.store.add_object(joined, Object::Unknown(f, i)),
                    Object::Code(_) | Object::Called(..) => self.store.add_object(joined, *o),
                    Object::Global(g) if constant(o) => {
                        let at = self.global(*g);
                        self.store.join(joined, at);
                    }
                    Object::Param(..) | Object::Stack(..) | Object::Global(_) => {}
                }
            }
            for edge in &class.edges {
                let at = Addr { class: joined.class, span: joined.span.plus(edge.at) };
                let known = map.get(&edge.to).copied();
                let target = match known {
                    Some(to) => {
                        let to = Addr { class: to.class, span: to.span.plus(edge.span) };
                        self.store.add_edge(at, to);
                        self.store.target(at)
                    }
                    None => self.store.target(at),
                };
                roots.push((edge.to, edge.span, target));
            }
        }
        if let (Some(r), Some(v)) = (callee.ret, result)
            && let Some(origin) = map.get(&r).copied()
        {
            self.meet(f, v, Addr { class: origin.class, span: origin.span.plus(callee.ret_span) });
        }
        let mut relays = self.group.get_mut(&f).and_then(|g| g.relays.remove(&i));
        let relays = relays.get_or_insert_with(|| self.relays_of(callee, &map));
        for c in &callee.copies {
            let origin = |class: &ClassId| map.get(class).or_else(|| relays.get(class)).copied();
            if let (Some(d), Some(s)) = (origin(&c.dst.0), origin(&c.src.0)) {
                let place = |origin: Addr, span: Span| Addr { class: origin.class, span: origin.span.plus(span) };
                let (dst, src) = (place(d, c.dst.1), place(s, c.src.1));
                self.copies.push(Moved { dst, src, len: c.len, what: c.what });
            } else if let (Some(d), None) = (origin(&c.dst.0), &callee.contents[c.src.0]) {
                self.store.raw_of(d).opaque = true;
            }
        }
        if let Some(group) = self.group.get_mut(&f) {
            group.calls.insert(i, map);
            group.relays.insert(i, std::mem::take(relays));
        }
    }

    /// A class for each memory of a callee's own over which it copies between places that its caller sees.
    fn relays_of(&mut self, callee: &FuncMemory, seen: &BTreeMap<ClassId, Addr>) -> BTreeMap<ClassId, Addr> {
        let own = |class: ClassId| !seen.contains_key(&class);
        let mut connected = UnionFind::<u32>::new(callee.classes.len());
        for c in &callee.copies {
            if own(c.dst.0) && own(c.src.0) {
                connected.union(c.dst.0.as_u32(), c.src.0.as_u32());
            }
        }
        let (mut filled, mut read) = (BTreeSet::new(), BTreeSet::new());
        for c in &callee.copies {
            match (own(c.dst.0), own(c.src.0)) {
                (true, false) => drop(filled.insert(connected.find(c.dst.0.as_u32()))),
                (false, true) => drop(read.insert(connected.find(c.src.0.as_u32()))),
                _ => {}
            }
        }
        let mut relays = BTreeMap::new();
        for class in callee.copies.iter().flat_map(|c| [c.dst.0, c.src.0]).filter(|c| own(*c)) {
            let way = connected.find(class.as_u32());
            if filled.contains(&way) && read.contains(&way) {
                relays.entry(class).or_insert_with(|| self.store.fresh());
            }
        }
        relays
    }

    /// An integer or vector that `i` stores at `to` as it was loaded elsewhere: a copy of its bytes, unless the program states that it is
    /// floats at both ends.
    pub(super) fn copied_through_registers(&mut self, f: FuncId, i: InstId, v: ValueId, to: Addr) {
        let func = &self.module.funcs[f];
        let types = &self.module.ctx.types;
        let len = self.module.ctx.layout.store_size(types, func.ty(v));
        let pointers = matches!(types[func.ty(v)], Type::Vector { elem, .. } if matches!(types[elem], Type::Ptr(_)));
        let facts = self.facts.get(&f);
        let floats = |i| facts.is_some_and(|facts| facts.states_floats(i));
        let others = |i| facts.is_some_and(|facts| facts.states_no_floats(i));
        let (is_float, is_other) = (floats(i), others(i));
        let mut seen = vec![v];
        let mut n = 0;
        while let Some(v) = seen.get(n).copied() {
            n += 1;
            let Some(i) = func.def_inst(v) else {
                // A caller's.
                if func.as_const(v).is_none() {
                    self.store.raw_of(to).opaque = true;
                }
                continue;
            };
            let inst = &func.insts[i];
            let more: &[ValueId] = match &inst.op {
                Op::Phi(_) | Op::Freeze => &inst.args,
                Op::Select => inst.args.get(1..).unwrap_or(&[]),
                Op::Load(_) if is_float && floats(i) => &[],
                Op::Load(_) => {
                    let what = match is_other && others(i) {
                        _ if pointers => Contents::Pointers,
                        true => Contents::Integers,
                        false => Contents::Anything,
                    };
                    if let Some(from) = inst.args.first().and_then(|p| self.known(f, *p)) {
                        self.copies.push(Moved { dst: to, src: from, len, what });
                    }
                    &[]
                }
                _ => {
                    self.store.raw_of(to).opaque |= inst.op.call_info().is_some();
                    &[]
                }
            };
            for m in more {
                if !seen.contains(m) && seen.len() < 64 {
                    seen.push(*m);
                }
            }
        }
    }

    /// What is copied as bytes is the same on both sides.
    pub(super) fn spread_copies(&mut self, give_up: bool) {
        for Moved { dst, src, len, what } in self.copies.clone() {
            for (from, to, back) in [(src, dst, false), (dst, src, true)] {
                let (mut from, mut to) = (self.store.resolve(from), self.store.resolve(to));
                if give_up {
                    (from.span, to.span) = (Span::anywhere(), Span::anywhere());
                }
                let same = from.class == to.class;
                let unaligned = self.store.raw_of(from).unaligned;
                let there = &mut self.store.raw_of(to).unaligned;
                let fresh = unaligned && !std::mem::replace(there, unaligned || *there);
                self.store.changed |= fresh;
                // Nobody puts anything into a constant.
                if self.store.raw_of(to).constant {
                    continue;
                }
                // Characters lead nowhere and say nothing else, whatever lies behind the place of a short text.
                if what == Contents::Text {
                    let span = Span::at(0).step(1, Steps::Up);
                    self.store.add_item(to, Item::new(span, 1, ByteType::Integer), Proof::Copied);
                    continue;
                }
                // What was spread before is there.
                let known = (self.store.raw_of(from).learned, self.store.is_several(to.class));
                if self.spread.insert((from, to, len), known) != Some(known) {
                    let items = copied_items(&self.store.raw_of(from).items, from.span, to.span, len, same);
                    let base = Addr { class: to.class, span: Span::at(0) };
                    for (item, proof) in
                        items.into_iter().filter_map(|(item, proof)| Some((what.carry(item, back)?, proof)))
                    {
                        if item.ty != ByteType::Pointer || !self.store.is_stated_float(to.class, item.span) {
                            self.store.add_item(base, item, proof);
                        }
                    }
                }
                // Neither do those that are moved by a distance at which no pointer is one.
                let apart = gcd(gcd(from.span.stride, to.span.stride), from.span.offset.abs_diff(to.span.offset));
                let shifted = same && len.is_none() && !apart.is_multiple_of(POINTER);
                if shifted && self.store.is_text(from) && self.store.is_text(to) {
                    continue;
                }
                for (at, target) in self.store.raw_of(from).edges.clone() {
                    if let Some(span) = moved_span(at, POINTER, from.span, to.span, len, same)
                        && !self.store.is_stated_float(to.class, span)
                    {
                        self.store.add_edge(Addr { class: to.class, span }, target);
                    }
                }
            }
        }
    }
}

/// Where the origin of a class lies, if `span` in it is `ours`.
fn origin_of(span: Span, ours: Addr) -> Addr {
    let at = ours.span.shift(span.offset.wrapping_neg());
    // Equal strides are taken to be those of the same array.
    let stride = if span.stride == ours.span.stride { 0 } else { span.stride };
    let span = match span.stride {
        s if s == ours.span.stride && s != 0 => Span::at(at.offset),
        _ => at.step(stride, Steps::Both),
    };
    Addr { class: ours.class, span }
}
