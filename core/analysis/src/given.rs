//! Which addresses may lead to memory of the caller: those that were handed in, and those that are found behind such.
//!
//! Memory classes say which addresses *may reach the same memory*, whichever way they came to do so: an iterator that is now over the caller's
//! slice, now over a vector makes one class of both. Here addresses are followed in the direction in which they go, over merges,
//! calls and places in memory, so that the vector's own address, kept elsewhere, is not taken for the caller's.
//!
//! Flow-insensitive; all calls of a function count for each of them. What a caller left in variables is its own.
//!
//! Not followed, as classes do not: addresses in numbers that are computed other than by adding. What is made of one by a
//! cast counts as the caller's.

use std::collections::{BTreeMap, BTreeSet};

use enzyme_ir::{ByteType, CastOp, Const, ConstId, Func, FuncId, InstId, Module, Op, Type, ValueDef, ValueId};

use crate::callee::{Callee, KnownCall, MemoryEffect, PointerEffect, resolve};
use crate::memory::{ClassId, FuncMemory, Item, Proof, Span, Steps, leads_nowhere, may_hold_address, moved_span};
use crate::program::{Unit, Units};

const POINTER: u64 = 8;
/// Of more places than this in one memory each may be one.
const MOST_PLACES: usize = 64;

/// Where addresses of the caller's memory are.
#[derive(Clone, Debug, Default)]
pub struct Given {
    values: BTreeSet<(FuncId, ValueId)>,
    places: BTreeMap<(FuncId, ClassId), BTreeSet<Span>>,
    returned: BTreeSet<FuncId>,
}

impl Given {
    /// Follows all addresses that the caller of `root` hands in.
    pub fn follow(module: &Module, units: &Units, root: FuncId) -> Given {
        let mut search = Search { module, units, found: Given::default(), changed: true };
        for p in &module.funcs[root].params {
            search.mark(root, *p);
        }
        while std::mem::take(&mut search.changed) {
            for f in units.functions() {
                for (_, i) in module.funcs[f].placed() {
                    search.step(f, i);
                }
            }
        }
        search.found
    }

    /// Whether the address `v` in `f` may lead to memory of the caller.
    pub fn leads_to_callers(&self, module: &Module, f: FuncId, v: ValueId) -> bool {
        match module.funcs[f].values[v].def {
            ValueDef::Const(c) => is_variable(module, c),
            ValueDef::Param(_) | ValueDef::Inst(_) => self.values.contains(&(f, v)),
        }
    }
}

/// Whether the constant is the address of something that may be written, so that a caller may have put addresses there.
fn is_variable(module: &Module, c: ConstId) -> bool {
    match &module.ctx.consts[c] {
        Const::Global(g) => !module.globals[*g].constant,
        Const::Expr { args, .. } | Const::Aggregate { elems: args, .. } => args.iter().any(|a| is_variable(module, *a)),
        _ => false,
    }
}

struct Search<'a> {
    module: &'a Module,
    units: &'a Units,
    found: Given,
    changed: bool,
}

impl<'a> Search<'a> {
    fn is_given(&self, f: FuncId, v: ValueId) -> bool {
        self.found.leads_to_callers(self.module, f, v)
    }

    fn mark(&mut self, f: FuncId, v: ValueId) {
        let Some(unit) = self.units.get(f) else { return };
        let ty = self.module.funcs[f].ty(v);
        // A number without a class is no address; of numbers beside each other some may be.
        let wide = may_hold_address(self.module, ty) && !matches!(self.module.ctx.types[ty], Type::Int(_));
        if (wide || unit.memory.class_of[v].is_some()) && self.module.funcs[f].as_const(v).is_none() {
            self.changed |= self.found.values.insert((f, v));
        }
    }

    fn put(&mut self, f: FuncId, class: ClassId, span: Span) {
        let places = self.found.places.entry((f, class)).or_default();
        if places.len() < MOST_PLACES {
            self.changed |= places.insert(span);
        } else if !places.contains(&Span::anywhere()) {
            places.insert(Span::anywhere());
            self.changed = true;
        }
    }

    /// The places of the class where such addresses lie.
    fn places(&self, f: FuncId, class: ClassId) -> BTreeSet<Span> {
        self.found.places.get(&(f, class)).cloned().unwrap_or_default()
    }

    fn size(&self, func: &Func, v: ValueId) -> u64 {
        self.module.ctx.layout.store_size(&self.module.ctx.types, func.ty(v)).unwrap_or(1 << 40)
    }

    fn step(&mut self, f: FuncId, i: InstId) {
        let Some(unit) = self.units.get(f) else { return };
        let func = &self.module.funcs[f];
        let inst = &func.insts[i];
        let args = inst.args.as_slice();
        let any = |s: &Self, vs: &[ValueId]| vs.iter().any(|v| s.is_given(f, *v));
        let made = match (&inst.op, args) {
            (Op::Load(_), [p, ..]) => {
                inst.result.is_some_and(|r| self.is_found(f, &unit.memory, *p, self.size(func, r)))
            }
            (Op::Store(_), [v, p, ..]) => {
                self.store(f, &unit.memory, *v, *p);
                false
            }
            (Op::CmpXchg { .. }, [p, _, v, ..]) | (Op::AtomicRmw(..), [p, v, ..]) => {
                self.store(f, &unit.memory, *v, *p);
                self.is_found(f, &unit.memory, *p, self.size(func, *v))
            }
            (Op::Gep { .. }, [base, rest @ ..]) => {
                // An index is none, unless it is all there is.
                self.is_given(f, *base) || func.as_const(*base).is_some() && any(self, rest)
            }
            (Op::Select, [_, rest @ ..]) => any(self, rest),
            (Op::Cast(CastOp::IntToPtr), [from]) => {
                let followed = unit.memory.class_of[*from].is_some() || func.as_const(*from).is_some();
                any(self, args) || !followed && !leads_nowhere(self.module, func, *from)
            }
            (Op::LandingPad { .. } | Op::VaArg, _) => true,
            (Op::Ret, _) => {
                if any(self, args) {
                    self.changed |= self.found.returned.insert(f);
                }
                false
            }
            _ if inst.op.call_info().is_some() => self.call(f, unit, i),
            _ => any(self, args),
        };
        if let Some(r) = inst.result.filter(|_| made) {
            self.mark(f, r);
        }
    }

    /// Whether such an address may be read in `size` bytes at `p`.
    fn is_found(&self, f: FuncId, memory: &FuncMemory, p: ValueId, size: u64) -> bool {
        let Some(class) = memory.class_of[p] else { return self.is_given(f, p) };
        let span = memory.span_of[p];
        // Where the program itself reads or writes floats, and addresses at most in copies of what comes to lie elsewhere with
        // some, callers have put none.
        let lies = |is: fn(ByteType) -> bool| {
            let known = |(item, proof): (&Item, &Proof)| {
                *proof >= Proof::Stated && is(item.ty) && item.span.overlaps(item.size, span, size)
            };
            memory.classes[class].items.iter().any(known)
        };
        let holds_none = || lies(|ty| matches!(ty, ByteType::Float(_))) && !lies(|ty| ty == ByteType::Pointer);
        self.is_given(f, p) && !holds_none() || self.places(f, class).iter().any(|at| at.overlaps(POINTER, span, size))
    }

    fn store(&mut self, f: FuncId, memory: &FuncMemory, v: ValueId, p: ValueId) {
        if self.is_given(f, v)
            && let Some(class) = memory.class_of[p]
        {
            let func = &self.module.funcs[f];
            let words = self.size(func, v).div_ceil(POINTER);
            let span = memory.span_of[p];
            match words {
                0 | 1 => self.put(f, class, span),
                // Which part of an aggregate it is, is not told.
                _ => self.put(f, class, span.step(1, Steps::Up)),
            }
        }
    }

    /// Whether the result of the call `i` is such an address; leaves what the call leaves.
    fn call(&mut self, f: FuncId, unit: &Unit, i: InstId) -> bool {
        let func = &self.module.funcs[f];
        let args = func.call_args(i);
        let given = |s: &Self, n: usize| args.get(n).is_some_and(|a| s.is_given(f, *a));
        match resolve(self.module, func, i) {
            Callee::Math(_) => false,
            Callee::Defined(g) => {
                self.enter(f, unit, i, g, args);
                self.found.returned.contains(&g)
            }
            Callee::Known(known) => {
                self.copy(f, &unit.memory, func, args, &known);
                match known.pointers() {
                    PointerEffect::FreshLike(n) | PointerEffect::Copy { dst: n, .. } => given(self, n),
                    PointerEffect::MayReturn => (0..args.len()).any(|n| given(self, n)),
                    PointerEffect::Fresh | PointerEffect::FreshInto(_) | PointerEffect::None => false,
                }
            }
            // Where it is reached with active data, the program ends.
            Callee::Unknown(_) if unit.facts.fallbacks.contains(&i) => false,
            Callee::Unknown(callee) => {
                let writes = callee.is_none_or(|g| !self.module.funcs[g].attrs.no_write);
                let reached = args.iter().filter_map(|a| unit.memory.class_of[*a]);
                for class in reached.filter(|_| writes).flat_map(|c| unit.memory.chain(c)).collect::<BTreeSet<_>>() {
                    self.put(f, class, Span::anywhere());
                }
                true
            }
        }
    }

    /// What is copied as bytes.
    fn copy(&mut self, f: FuncId, memory: &FuncMemory, func: &Func, args: &[ValueId], known: &KnownCall) {
        let MemoryEffect::Copy { dst, src, len, .. } = known.memory() else { return };
        let (Some(dst), Some(src)) = (args.get(dst), args.get(src)) else { return };
        let (Some(to), Some(from)) = (memory.class_of[*dst], memory.class_of[*src]) else { return };
        let len = args.get(len).and_then(|n| func.as_const(*n)).and_then(|c| self.module.ctx.consts.as_u64(c));
        let source = &memory.classes[from];
        if self.is_given(f, *src) && (source.has_pointers() || !source.edges.is_empty()) {
            self.put(f, to, Span::anywhere());
        }
        for at in self.places(f, from) {
            let moved = moved_span(at, POINTER, memory.span_of[*src], memory.span_of[*dst], len, to == from);
            // Of what is cut by an end of the stretch a part is moved.
            let partly = || at.overlaps(POINTER, memory.span_of[*src], len.unwrap_or(1 << 40));
            if let Some(span) = moved.or_else(|| partly().then(Span::anywhere)) {
                self.put(f, to, span);
            }
        }
    }

    /// What is handed to the function `g` by the call `i`, and what it leaves.
    fn enter(&mut self, f: FuncId, unit: &Unit, i: InstId, g: FuncId, args: &[ValueId]) {
        for (p, a) in self.module.funcs[g].params.iter().zip(args) {
            if self.is_given(f, *a) {
                self.mark(g, *p);
            }
        }
        let Some(map) = unit.memory.calls.get(&i) else {
            // Within a recursive group classes are shared.
            for (from, to) in [(f, g), (g, f)] {
                let all = self.found.places.range((from, ClassId::from_u32(0))..);
                let all: Vec<(ClassId, BTreeSet<Span>)> =
                    all.take_while(|((of, _), _)| *of == from).map(|((_, c), spans)| (*c, spans.clone())).collect();
                for (class, spans) in all {
                    spans.into_iter().for_each(|span| self.put(to, class, span));
                }
            }
            return;
        };
        for (theirs, ours) in map {
            for span in self.places(g, *theirs) {
                let span = span.shift(ours.origin.offset).step(ours.origin.stride, ours.origin.back());
                self.put(f, ours.class, span);
            }
            for span in self.places(f, ours.class) {
                let back = span.shift(ours.origin.offset.wrapping_neg()).step(ours.origin.stride, Steps::Both);
                self.put(g, *theirs, back);
            }
        }
    }
}
