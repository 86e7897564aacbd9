//! The constraints that instructions put on memory classes, solved by passes over a recursive group until nothing changes.
//!
//! A pass takes each instruction once: addresses join at merges, loads and stores meet in the class of their address,
//! calls of other groups copy what is known of the callee. Spans only widen and classes only merge, so that passes end;
//! two or three are usual.

use std::collections::{BTreeMap, HashMap, HashSet};

use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};
use enzyme_ir::{
    BinOp, ByteType, CastOp, Const, ConstId, Facts, Func, FuncId, Global, GlobalId, InstId, Module, Op, Type, TypeId,
    ValueDef, ValueId,
};
use indexmap::IndexSet;

use super::aligned::align;
use super::bytes::{float_bytes, float_stride, items_of_type};
use super::contents::contents;
use super::index::{
    bits_of, choices, counted, factor, is_address, is_distance, is_least_or_most, is_number, leads_nowhere, numbered,
    signed, steps, traces_to_pointer,
};
use super::store::{Addr, Store};
use super::{
    Class, ClassId, Contents, Copied, Edge, FuncMemory, Item, Object, Placed, Proof, Span, Steps, Untyped,
    may_hold_address,
};
use crate::callee::{Callee, resolve};
use crate::uses::{Uses, makes_number};

/// Beyond this many passes spans are given up, so that the rest settles at once.
const MANY_PASSES: usize = 24;
/// The most elements of a global's initialiser that are told apart.
const MAX_ELEMENTS: u64 = 64;
/// The floats of one access that are kept apart.
const MAX_LANES: u64 = 16;
/// The most copies of bytes that a function is followed through.
const MAX_COPIES: usize = 16_384;
pub(super) const POINTER: u64 = 8;

/// Solves one recursive group of functions. `done` holds the results of all defined functions called from it.
pub fn analyze_group(
    module: &Module,
    facts: &BTreeMap<FuncId, Facts>,
    group: &[FuncId],
    done: &BTreeMap<FuncId, FuncMemory>,
) -> BTreeMap<FuncId, FuncMemory> {
    let mut solver = Solver {
        module,
        facts,
        done,
        store: Store::default(),
        globals: BTreeMap::new(),
        code: BTreeMap::new(),
        group: BTreeMap::new(),
        copies: Vec::new(),
        spread: HashMap::new(),
        origins: HashSet::new(),
        unsettled: false,
    };
    for f in group {
        solver.declare(*f);
    }
    for pass in 0.. {
        solver.store.changed = false;
        solver.copies.clear();
        for f in group {
            let func = &module.funcs[*f];
            for (_, i) in func.placed() {
                solver.instruction(*f, func, i);
            }
        }
        solver.spread_copies(pass >= MANY_PASSES);
        solver.store.close();
        if !solver.store.changed {
            break;
        }
        if pass >= 2 * MANY_PASSES {
            solver.unsettled = true;
            break;
        }
    }
    solver.finish()
}

pub(super) struct GroupFunc {
    pub(super) uses: Uses,
    pub(super) of: SecondaryMap<ValueId, Option<Addr>>,
    /// Where the arguments of callers outside of the group point to; calls inside of it widen only the parameters.
    entries: Vec<Option<Addr>>,
    pub(super) ret: Option<Addr>,
    pub(super) calls: BTreeMap<InstId, BTreeMap<ClassId, Addr>>,
    /// The same for memory of the callee's own over which it copies.
    pub(super) relays: BTreeMap<InstId, BTreeMap<ClassId, Addr>>,
}

/// Bytes that are copied, as [`Copied`] between places of classes that are being solved.
#[derive(Clone, Copy)]
pub(super) struct Moved {
    pub(super) dst: Addr,
    pub(super) src: Addr,
    pub(super) len: Option<u64>,
    pub(super) what: Contents,
}

pub(super) struct Solver<'a> {
    pub(super) module: &'a Module,
    pub(super) facts: &'a BTreeMap<FuncId, Facts>,
    pub(super) done: &'a BTreeMap<FuncId, FuncMemory>,
    pub(super) store: Store,
    pub(super) globals: BTreeMap<GlobalId, Addr>,
    pub(super) code: BTreeMap<FuncId, Addr>,
    pub(super) group: BTreeMap<FuncId, GroupFunc>,
    pub(super) copies: Vec<Moved>,
    /// Addresses behind the start of new memory that are its origin.
    pub(super) origins: HashSet<(FuncId, ValueId)>,
    /// When the source of a copy had last learned something, as items were spread from there, and whether the destination was several objects.
    pub(super) spread: HashMap<(Addr, Addr, Option<u64>), (u64, bool)>,
    /// There was no end to what passes found.
    pub(super) unsettled: bool,
}

impl<'a> Solver<'a> {
    fn declare(&mut self, f: FuncId) {
        let func = &self.module.funcs[f];
        let mut of = SecondaryMap::new();
        let mut entries = vec![None; func.params.len()];
        for (i, p) in func.params.iter().enumerate() {
            if may_hold_address(self.module, func.ty(*p)) {
                let c = self.store.fresh();
                self.store.add_object(c, Object::Param(f, i as u32));
                of[*p] = Some(c);
                entries[i] = Some(c);
                self.declare_param(f, func, i, c);
            }
        }
        let (calls, relays) = (BTreeMap::new(), BTreeMap::new());
        self.group.insert(f, GroupFunc { uses: Uses::new(func), of, entries, ret: None, calls, relays });
    }

    /// What attributes and debug information say of the memory behind a parameter.
    fn declare_param(&mut self, f: FuncId, func: &Func, n: usize, at: Addr) {
        let ctx = &self.module.ctx;
        if let Some(ty) = func.param_attrs.get(n).and_then(|a| a.byval.or(a.sret)) {
            for item in items_of_type(&ctx.layout, &ctx.types, ty) {
                self.store.add_item(at, item, Proof::Declared);
            }
        }
        let Some(facts) = self.facts.get(&f) else { return };
        let Some(runs) = facts.param_types.get(&(n as u32)) else { return };
        let period = runs.last().map_or(0, |r| r.offset + r.size);
        for run in runs {
            let step = match runs.len() {
                _ if facts.alone.contains(&(n as u32)) => 0,
                1 => run.size,
                _ => period,
            };
            let span = Span::at(run.offset as i64).step(step, Steps::Up);
            self.store.add_item(at, Item::new(span, run.size, run.ty), Proof::Declared);
        }
    }

    pub(super) fn global(&mut self, g: GlobalId) -> Addr {
        if let Some(c) = self.globals.get(&g) {
            return *c;
        }
        let c = self.store.fresh();
        self.globals.insert(g, c);
        let global = &self.module.globals[g];
        self.store.raw_of(c).constant = is_constant(global);
        self.store.add_object(c, Object::Global(g));
        let ctx = &self.module.ctx;
        for item in items_of_type(&ctx.layout, &ctx.types, global.ty) {
            self.store.add_item(c, item, Proof::Declared);
        }
        if let Some(init) = global.init {
            self.initialiser(init, c);
        }
        c
    }

    /// The pointers of an initialiser, which is at `at`.
    fn initialiser(&mut self, init: ConstId, at: Addr) {
        let mut work = vec![(init, at)];
        while let Some((c, at)) = work.pop() {
            match &self.module.ctx.consts[c] {
                Const::Aggregate { ty, elems } => {
                    let ctx = &self.module.ctx;
                    let array = matches!(ctx.types[*ty], Type::Array { .. });
                    let many = array && elems.len() as u64 > MAX_ELEMENTS;
                    for (n, e) in elems.iter().enumerate() {
                        let index = if many { 0 } else { n as u64 };
                        let Some((offset, inner)) = ctx.layout.element(&ctx.types, *ty, index) else { continue };
                        let place = at.shift(offset as i64);
                        let size = ctx.layout.size_of(&ctx.types, inner).unwrap_or(1);
                        work.push((*e, if many { place.step(size, Steps::Up) } else { place }));
                    }
                }
                Const::Global(_) | Const::Func(_) | Const::Expr { .. } => {
                    if let Some(to) = self.constant(c) {
                        let item = Item::new(Span::at(0), POINTER, ByteType::Pointer);
                        self.store.add_item(at, item, Proof::Accessed);
                        self.store.add_edge(at, to);
                    }
                }
                _ => {}
            }
        }
    }

    /// Where a constant address points to.
    fn constant(&mut self, c: ConstId) -> Option<Addr> {
        match &self.module.ctx.consts[c] {
            // Nothing lies there, so nobody reads or writes: its address is only compared, as null is.
            Const::Global(g) if self.module.globals[*g].is_empty(&self.module.ctx) => None,
            Const::Global(g) => Some(self.global(*g)),
            Const::Func(f) => {
                if let Some(known) = self.code.get(f) {
                    return Some(*known);
                }
                let (f, class) = (*f, self.store.fresh());
                self.store.add_object(class, Object::Code(f));
                self.code.insert(f, class);
                Some(class)
            }
            Const::Aggregate { elems: args, .. } | Const::Expr { args, .. } => {
                let mut out: Option<Addr> = None;
                for a in args.clone() {
                    let Some(found) = self.constant(a) else { continue };
                    let found = Addr { span: Span::anywhere(), ..found };
                    out = Some(match out {
                        Some(known) => self.store.join(known, found),
                        None => found,
                    });
                }
                out
            }
            _ => None,
        }
    }

    /// Where a value points to, as far as it is known yet.
    pub(super) fn known(&mut self, f: FuncId, v: ValueId) -> Option<Addr> {
        match self.module.funcs[f].values[v].def {
            ValueDef::Const(c) => self.constant(c),
            ValueDef::Param(_) | ValueDef::Inst(_) => self.group.get(&f)?.of[v],
        }
    }

    /// Where a value points to; a class of its own if nothing is known.
    pub(super) fn addr(&mut self, f: FuncId, v: ValueId) -> Option<Addr> {
        if let Some(known) = self.known(f, v) {
            return Some(known);
        }
        let func = &self.module.funcs[f];
        let number = || {
            let made = func.def_inst(v).filter(|i| func.insts[*i].op.call_info().is_some());
            is_least_or_most(self.module, func, v) || made.is_some_and(|i| makes_number(self.module, func, i))
        };
        let may_hold = || may_hold_address(self.module, func.ty(v)) && !number();
        if func.as_const(v).is_some() || !may_hold() {
            return None;
        }
        let c = self.store.fresh();
        self.store.changed = true;
        self.group.get_mut(&f)?.of[v] = Some(c);
        Some(c)
    }

    /// Whether it is a float as wide as an address, which LLVM makes addresses where it merges words.
    fn is_word(&self, ty: TypeId) -> bool {
        matches!(self.module.ctx.types[ty], Type::Float(kind) if float_bytes(kind) == POINTER)
    }

    /// `v` may point where `args` do. Places of one class are put together before that meets another: of the root of a tree, the left
    /// and the right child of a node it is the left one that lies as the root does.
    fn meet_together(&mut self, f: FuncId, v: ValueId, args: &[ValueId]) {
        let mut places: BTreeMap<u32, Span> = BTreeMap::new();
        for arg in args {
            let Some(at) = self.known(f, *arg).map(|a| self.store.resolve(a)) else { continue };
            places.entry(at.class).and_modify(|span| *span = span.join(at.span)).or_insert(at.span);
        }
        if places.len() > 1 {
            for (class, span) in places {
                self.meet(f, v, Addr { class, span });
            }
        }
    }

    /// `v` may point to `found`.
    pub(super) fn meet(&mut self, f: FuncId, v: ValueId, found: Addr) {
        let func = &self.module.funcs[f];
        if may_hold_address(self.module, func.ty(v)) {
            self.widen(f, v, found);
        }
    }

    fn widen(&mut self, f: FuncId, v: ValueId, found: Addr) {
        let func = &self.module.funcs[f];
        let known = self.known(f, v);
        let joined = match known {
            Some(known) => self.store.join(known, found),
            None if func.as_const(v).is_some() => return,
            None => {
                self.store.changed = true;
                self.store.apart(found)
            }
        };
        if func.as_const(v).is_none()
            && let Some(g) = self.group.get_mut(&f)
        {
            g.of[v] = Some(joined);
        }
    }

    /// `v` may point wherever `from` does, which need not be known yet.
    pub(super) fn follow(&mut self, f: FuncId, v: ValueId, from: ValueId) {
        if let Some(a) = self.known(f, from) {
            if self.is_word(self.module.funcs[f].ty(v)) {
                self.widen(f, v, a);
            } else {
                self.meet(f, v, a);
            }
        }
    }

    /// `v` is read from or written to memory at `p` by `i`.
    fn access(&mut self, f: FuncId, i: InstId, v: ValueId, p: ValueId, is_store: bool) {
        let Some(at) = self.addr(f, p) else { return };
        let func = &self.module.funcs[f];
        let ctx = &self.module.ctx;
        let ty = func.ty(v);
        let constant = func.as_const(v);
        let zero =
            constant.is_some_and(|c| matches!(ctx.consts[c], Const::Zero(_) | Const::Undef(_) | Const::Poison(_)));
        let single = matches!(ctx.types[ty], Type::Float(_) | Type::Ptr(_));
        let uses = self.group.get(&f).map(|g| &g.uses);
        // An integer narrower than a pointer is none, whatever it was made of.
        let wide = constant.is_none() && may_hold_address(self.module, ty);
        let address = wide && uses.is_some_and(|u| is_address(self.module, func, u, v));
        let counted = constant.is_none() && !uses.is_some_and(|u| u.is_copied_only(self.module, func, v));
        let number = counted && !is_store && uses.is_some_and(|u| is_number(self.module, func, u, v, p));
        let float = uses.and_then(|u| bits_of(ctx, func, u, v));
        let was = func.words.get(&i).and_then(|word| word.was);
        let typed = self.facts.get(&f).is_some_and(|facts| facts.states_floats(i));
        for (offset, scalar) in ctx.layout.scalars(&ctx.types, ty, 64).unwrap_or_default() {
            let item = match ctx.types[scalar] {
                Type::Float(kind) => Some((float_bytes(kind), ByteType::Float(kind))),
                Type::Int(64) if was.is_some() => was.map(|ty| (POINTER, ty)),
                Type::Int(_) if float.is_some() => float.map(|kind| (float_bytes(kind), ByteType::Float(kind))),
                Type::Ptr(_) => Some((POINTER, ByteType::Pointer)),
                Type::Int(_) if address => Some((POINTER, ByteType::Pointer)),
                // A character: the end of a string.
                Type::Int(8) if is_store && constant.is_some() => Some((1, ByteType::Integer)),
                Type::Int(_) if counted => {
                    Some((ctx.layout.store_size(&ctx.types, scalar).unwrap_or(1), ByteType::Integer))
                }
                _ => None,
            };
            if let Some((size, ByteType::Float(_))) = item
                && let Op::Load(access) | Op::Store(access) = &func.insts[i].op
                && access.align != 0
                && u64::from(access.align) < size
            {
                self.store.raw_of(at).unaligned = true;
            }
            // Zeroes written over several fields at once say nothing of the fields.
            if let Some((size, ty)) = item.filter(|(size, _)| single || !zero || *size == 1) {
                let span = Span::at(offset as i64);
                let untyped = match ty {
                    ByteType::Float(_) if typed => Untyped::empty(),
                    ByteType::Float(_) if is_store => Untyped::WRITTEN,
                    ByteType::Float(_) => Untyped::READ,
                    ByteType::Pointer | ByteType::Integer => Untyped::all(),
                };
                self.store.add_item(at, Item { untyped, ..Item::new(span, size, ty) }, Proof::Accessed);
            }
            let place = at.shift(offset as i64);
            if is_store && (may_hold_address(self.module, scalar) || self.is_word(ty)) {
                if !self.is_stated_float(place, scalar)
                    && let Some(to) = self.known(f, v)
                {
                    self.store.add_edge(place, to);
                }
            } else if !is_store
                && !number
                && may_hold_address(self.module, scalar)
                && !self.is_stated_float(place, scalar)
            {
                let to = self.store.target(place);
                self.meet(f, v, to);
            }
        }
        self.stated(f, i, &[at], self.module.ctx.layout.store_size(&self.module.ctx.types, ty));
        if is_store && matches!(self.module.ctx.types[ty], Type::Int(_) | Type::Vector { .. }) && !counted {
            self.copied_through_registers(f, i, v, at);
        }
    }

    /// Whether an integer that is read at `place` is the bits of floats, as the program says.
    fn is_stated_float(&mut self, place: Addr, ty: TypeId) -> bool {
        let at = self.store.resolve(place);
        matches!(self.module.ctx.types[ty], Type::Int(_)) && self.store.is_stated_float(at.class, at.span)
    }

    /// What metadata states of an access of `len` bytes.
    pub(super) fn stated(&mut self, f: FuncId, i: InstId, places: &[Addr], len: Option<u64>) {
        let Some(runs) = self.facts.get(&f).and_then(|facts| facts.access_types.get(&i)) else { return };
        let end = runs.iter().map(|r| r.offset + r.size).max().unwrap_or(0);
        let repeats = end > 0 && len.is_none();
        let is_access =
            self.module.funcs[f].insts.get(i).is_some_and(|inst| matches!(inst.op, Op::Load(_) | Op::Store(_)));
        for run in runs {
            let span = Span::at(run.offset as i64).step(if repeats { end } else { 0 }, Steps::Up);
            let untyped =
                if is_access && matches!(run.ty, ByteType::Float(_)) { Untyped::empty() } else { Untyped::all() };
            // Of a run of floats each one counts; what lies behind a short one is none of them.
            let (size, apart) = match run.ty {
                ByteType::Float(kind) => (float_bytes(kind).min(run.size), float_stride(run.ty)),
                ByteType::Pointer | ByteType::Integer => (run.size, run.size.max(1)),
            };
            let count = run.size.div_ceil(apart);
            let array = count > 1 && (repeats || count > MAX_LANES);
            let span = if array { span.step(apart, Steps::Up) } else { span };
            for nth in 0..if array { 1 } else { count } {
                let item = Item::new(span.shift((nth * apart) as i64), size, run.ty);
                for at in places {
                    self.store.add_item(*at, Item { untyped, ..item }, Proof::Stated);
                }
            }
        }
    }

    pub(super) fn unknown(&mut self, f: FuncId, i: InstId, result: Option<ValueId>) {
        if let Some(a) = result.and_then(|v| self.addr(f, v)) {
            self.store.add_object(a, Object::Unknown(f, i));
        }
    }

    /// Where the result of an address computation points to.
    fn step(&mut self, f: FuncId, func: &Func, i: InstId, elem: TypeId) {
        let inst = &func.insts[i];
        let (Some(v), Some(base)) = (inst.result, inst.args.first()) else { return };
        let Some(mut at) = self.known(f, *base) else { return };
        if self.origins.contains(&(f, v)) {
            return;
        }
        let ctx = &self.module.ctx;
        // The type that the computation steps through is a declaration of what is there.
        if matches!(ctx.types[elem], Type::Struct(_)) {
            let first = inst.args.get(1).map(|index| steps(self.module, func, *index));
            let size = ctx.layout.size_of(&ctx.types, elem).unwrap_or(0) as i64;
            // Those that lie before it may end there.
            let nearest = match first {
                Some((from, Steps::Down)) => at.shift(from.min(-1).wrapping_mul(size)),
                _ => at,
            };
            for item in items_of_type(&ctx.layout, &ctx.types, elem) {
                self.store.add_item(nearest, item, Proof::Declared);
            }
        }
        let mut ty = elem;
        for (n, index) in inst.args.iter().enumerate().skip(1) {
            let value = signed(self.module, func, *index);
            if n > 1 {
                let Some((moved, inner)) = ctx.layout.element(&ctx.types, ty, value.map_or(0, |v| v as u64)) else {
                    at = Addr { span: Span::anywhere(), ..at };
                    break;
                };
                at = at.shift(moved as i64);
                ty = inner;
            }
            let size = ctx.layout.size_of(&ctx.types, ty);
            match (value, size) {
                (Some(x), Some(size)) if n == 1 => at = at.shift(x.wrapping_mul(size as i64)),
                (Some(_), _) => {}
                (None, Some(size))
                    if let Some(chosen) =
                        choices(self.module, func, *index).or_else(|| counted(self.module, func, *index)) =>
                {
                    let places = chosen.iter().map(|x| at.span.shift(x.wrapping_mul(size as i64)));
                    at.span = places.reduce(Span::join).unwrap_or(at.span);
                }
                (None, Some(size)) => {
                    let module = self.module;
                    let mut place = |v: ValueId| {
                        let a = self.known(f, v)?;
                        let a = self.store.resolve(a);
                        Some((a.class, a.span))
                    };
                    let times = factor(module, func, *index, &mut Vec::new(), &mut place);
                    let (from, way) = steps(module, func, *index);
                    at = at.shift(from.wrapping_mul(size as i64)).step(size.saturating_mul(times), way);
                }
                (None, None) => at = Addr { span: Span::anywhere(), ..at },
            }
        }
        if !matches!(ctx.types[func.ty(*base)], Type::Ptr(_)) {
            at = Addr { span: Span::anywhere(), ..at };
        }
        self.meet(f, v, at);
    }

    fn instruction(&mut self, f: FuncId, func: &'a Func, i: InstId) {
        let inst = &func.insts[i];
        let args = &inst.args;
        let arg = |n: usize| args.get(n).copied();
        match &inst.op {
            Op::Alloca { elem, .. } => {
                if let Some(a) = inst.result.and_then(|v| self.addr(f, v)) {
                    self.store.add_object(a, Object::Stack(f, i));
                    let ctx = &self.module.ctx;
                    for item in items_of_type(&ctx.layout, &ctx.types, *elem) {
                        self.store.add_item(a, item, Proof::Declared);
                    }
                }
            }
            Op::Load(_) => {
                if let (Some(v), Some(p)) = (inst.result, arg(0)) {
                    self.access(f, i, v, p, false);
                }
            }
            Op::Store(_) => {
                if let (Some(v), Some(p)) = (arg(0), arg(1)) {
                    self.access(f, i, v, p, true);
                }
            }
            Op::AtomicRmw(..) => {
                if let (Some(p), Some(v), Some(r)) = (arg(0), arg(1), inst.result) {
                    self.access(f, i, v, p, true);
                    self.access(f, i, r, p, false);
                }
            }
            Op::CmpXchg { .. } => {
                for v in arg(1).into_iter().chain(arg(2)) {
                    if let Some(p) = arg(0) {
                        self.access(f, i, v, p, true);
                    }
                }
                if let (Some(p), Some(v), Some(r)) = (arg(0), arg(1), inst.result) {
                    self.access(f, i, v, p, false);
                    self.follow(f, r, v);
                }
            }
            Op::Gep { elem, .. } => self.step(f, func, i, *elem),
            Op::Freeze => {
                if let (Some(v), Some(p)) = (inst.result, arg(0)) {
                    self.follow(f, v, p);
                }
            }
            Op::Cast(op) => match op {
                CastOp::PtrToInt | CastOp::PtrToAddr | CastOp::IntToPtr | CastOp::BitCast | CastOp::AddrSpaceCast => {
                    if let (Some(v), Some(p)) = (inst.result, arg(0)) {
                        if !self.is_word(inst.ty) || !numbered(func, p).is_empty() {
                            self.follow(f, v, p);
                        }
                        if *op == CastOp::IntToPtr
                            && (!traces_to_pointer(func, p) || is_distance(func, p))
                            && !leads_nowhere(self.module, func, p)
                        {
                            self.unknown(f, i, inst.result);
                        }
                    }
                }
                CastOp::Trunc
                | CastOp::ZExt
                | CastOp::SExt
                | CastOp::FPToUI
                | CastOp::FPToSI
                | CastOp::UIToFP
                | CastOp::SIToFP
                | CastOp::FPTrunc
                | CastOp::FPExt => {}
            },
            // The distance of two addresses is none.
            Op::Binary(BinOp::Sub) if arg(1).is_some_and(|p| traces_to_pointer(func, p)) => {}
            Op::Binary(BinOp::Add | BinOp::Sub | BinOp::And | BinOp::Or) => {
                let mut from: Vec<ValueId> = args.iter().copied().filter(|p| traces_to_pointer(func, *p)).collect();
                if from.is_empty() {
                    // What a caller or callee passes as an integer may be an address too.
                    let passed = |v: &ValueId| match func.def_inst(*v) {
                        Some(i) => func.insts[i].op.call_info().is_some(),
                        None => func.as_const(*v).is_none(),
                    };
                    from = args.iter().copied().filter(passed).collect();
                }
                for p in from {
                    if let (Some(v), Some(a)) = (inst.result, self.known(f, p)) {
                        self.meet(f, v, Addr { span: Span::anywhere(), ..a });
                    }
                }
            }
            // Of several parts it is not known which the address is, and a float is rarely one.
            Op::ExtractElement | Op::ExtractValue(_) if self.is_word(inst.ty) => {}
            Op::Phi(_)
            | Op::InsertElement
            | Op::ShuffleVector(_)
            | Op::InsertValue(_)
            | Op::ExtractElement
            | Op::ExtractValue(_) => {
                if let (Op::Phi(_), Some(v)) = (&inst.op, inst.result) {
                    self.meet_together(f, v, args);
                }
                for p in args {
                    if let Some(v) = inst.result {
                        self.follow(f, v, *p);
                    }
                }
            }
            Op::Select => {
                for p in args.iter().skip(1) {
                    if let Some(v) = inst.result {
                        self.follow(f, v, *p);
                    }
                }
            }
            Op::Call(_) | Op::Invoke { .. } | Op::CallBr { .. } => self.call(f, func, i),
            Op::Ret => {
                let Some(a) = arg(0).and_then(|v| self.known(f, v)) else { return };
                self.returns(f, a);
            }
            Op::VaArg | Op::LandingPad { .. } | Op::CatchPad | Op::CleanupPad => self.unknown(f, i, inst.result),
            Op::Binary(_)
            | Op::FNeg
            | Op::ICmp(_)
            | Op::FCmp(_)
            | Op::Fence(_)
            | Op::Br(_)
            | Op::CondBr { .. }
            | Op::Switch { .. }
            | Op::IndirectBr(_)
            | Op::Resume
            | Op::Unreachable
            | Op::CleanupRet(_)
            | Op::CatchRet(_)
            | Op::CatchSwitch { .. } => {}
        }
    }

    fn returns(&mut self, f: FuncId, a: Addr) {
        let known = self.group.get(&f).and_then(|g| g.ret);
        let joined = match known {
            Some(r) => self.store.join(r, a),
            None => {
                self.store.changed = true;
                self.store.apart(a)
            }
        };
        if let Some(g) = self.group.get_mut(&f) {
            g.ret = Some(joined);
        }
    }

    fn finish(mut self) -> BTreeMap<FuncId, FuncMemory> {
        // Pointers of which nothing is known have a class too.
        for f in self.group.keys().copied().collect::<Vec<_>>() {
            let func = &self.module.funcs[f];
            for (_, i) in func.placed() {
                if let Some(v) = func.insts[i].result
                    && self.module.ctx.types.contains_pointer(func.ty(v))
                {
                    self.addr(f, v);
                }
            }
        }
        let mut number: BTreeMap<u32, ClassId> = BTreeMap::new();
        for x in 0..self.store.len() {
            let (root, _) = self.store.find(x);
            let next = ClassId::new(number.len());
            number.entry(root).or_insert(next);
        }
        let mut order: Vec<(ClassId, u32)> = number.iter().map(|(root, id)| (*id, *root)).collect();
        order.sort_unstable();
        let mut classes: PrimaryMap<ClassId, Class> = PrimaryMap::new();
        for (_, root) in &order {
            let raw = std::mem::take(&mut self.store.raw[*root as usize]);
            let mut edges = Vec::new();
            for (at, to) in raw.edges {
                let to = self.store.resolve(to);
                edges.extend(number.get(&to.class).map(|id| Edge { at, to: *id, span: to.span }));
            }
            edges.sort_unstable();
            let (objects, items) = (raw.objects, raw.items);
            let mut class = Class {
                edges,
                objects,
                items,
                merged: raw.merged,
                given: false,
                opaque: raw.opaque,
                unaligned: raw.unaligned,
                foreign: false,
            };
            align(&mut class);
            classes.push(class);
        }
        mark_given(&mut classes);
        let mut place = |a: Addr| {
            let a = self.store.resolve(a);
            Some((*number.get(&a.class)?, a.span))
        };
        let mut copies: IndexSet<Copied> = IndexSet::new();
        for Moved { dst, src, len, what } in std::mem::take(&mut self.copies) {
            if let (Some(dst), Some(src)) = (place(dst), place(src)) {
                copies.insert(Copied { dst, src, len, what });
            }
        }
        let unsettled = self.unsettled || copies.len() > MAX_COPIES;
        let copies: Vec<Copied> = copies.into_iter().take(MAX_COPIES).collect();
        let contents = if unsettled { SecondaryMap::new() } else { contents(&classes, &copies) };
        let mut out = BTreeMap::new();
        for (f, group) in std::mem::take(&mut self.group) {
            let func = &self.module.funcs[f];
            let mut class_of = SecondaryMap::new();
            let mut span_of = SecondaryMap::new();
            for v in func.values.keys() {
                let raw = match func.values[v].def {
                    // Constants that hold addresses are globals or functions; only globals have classes to find again.
                    ValueDef::Const(c) => known_constant(self.module, &self.globals, c),
                    ValueDef::Param(_) | ValueDef::Inst(_) => group.of[v],
                };
                if let Some((class, span)) = raw.and_then(&mut place) {
                    class_of[v] = Some(class);
                    span_of[v] = span;
                }
            }
            let params = func.params.iter().map(|p| class_of[*p]).collect();
            let entry = |a: Option<Addr>| a.and_then(&mut place).map_or(Span::at(0), |(_, span)| span);
            let entries = group.entries.into_iter().map(entry).collect();
            let ret = group.ret.and_then(&mut place);
            let mut calls = BTreeMap::new();
            for (i, map) in group.calls {
                let placed = map.into_iter().filter_map(|(theirs, a)| {
                    let (class, origin) = place(a)?;
                    Some((theirs, Placed { class, origin }))
                });
                calls.insert(i, placed.collect());
            }
            let (ret, ret_span) = (ret.map(|r| r.0), ret.map_or(Span::at(0), |r| r.1));
            let called = |i: InstId| match resolve(self.module, func, i) {
                Callee::Defined(g) => Some((i, g)),
                Callee::Math(_) | Callee::Known(_) | Callee::Unknown(_) => None,
            };
            let callees = BTreeMap::keys(&calls).filter_map(|i: &InstId| called(*i)).collect();
            let (classes, copies, contents) = (classes.clone(), copies.clone(), contents.clone());
            let memory = FuncMemory {
                class_of,
                span_of,
                classes,
                params,
                entries,
                ret,
                ret_span,
                calls,
                callees,
                copies,
                contents,
                unsettled,
            };
            out.insert(f, memory);
        }
        out
    }
}

/// Whether a variable is never written, and what it holds is known.
pub(super) fn is_constant(global: &Global) -> bool {
    global.constant && global.init.is_some()
}

/// The class of a constant address after solving.
fn known_constant(module: &Module, globals: &BTreeMap<GlobalId, Addr>, c: ConstId) -> Option<Addr> {
    let anywhere = |a: Addr| Addr { span: Span::anywhere(), ..a };
    match &module.ctx.consts[c] {
        Const::Global(g) => globals.get(g).copied(),
        Const::Expr { args, .. } => args.iter().find_map(|a| known_constant(module, globals, *a)).map(anywhere),
        Const::Aggregate { elems, .. } => elems.iter().find_map(|e| known_constant(module, globals, *e)).map(anywhere),
        _ => None,
    }
}

/// Finds the classes to which pointers lead from memory that is not the function's own.
fn mark_given(classes: &mut PrimaryMap<ClassId, Class>) {
    let own = |o: &Object| matches!(o, Object::Stack(..) | Object::Heap(..) | Object::Code(_));
    let foreign = |class: &Class| !class.objects.iter().all(own);
    let mut work: Vec<ClassId> = classes.iter().filter(|(_, class)| foreign(class)).map(|(id, _)| id).collect();
    while let Some(id) = work.pop() {
        let targets: Vec<ClassId> = classes[id].targets().collect();
        for to in targets {
            if !std::mem::replace(&mut classes[to].given, true) {
                work.push(to);
            }
        }
    }
}
