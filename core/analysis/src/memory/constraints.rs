//! The constraints that instructions put on memory classes, solved by passes over a recursive group until nothing changes.
//!
//! A pass takes each instruction once: addresses join at merges, loads and stores meet in the class of their address,
//! calls of other groups copy what is known of the callee. Spans only widen and classes only merge, so that passes end;
//! two or three are usual.

use std::collections::BTreeMap;

use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};
use enzyme_ir::{
    BinOp, ByteType, CastOp, Const, ConstId, Facts, Func, FuncId, GlobalId, InstId, Module, Op, Type, TypeId, ValueDef,
    ValueId,
};

use super::bytes::{copied_items, float_bytes, items_of_type, moved_span};
use super::span::gcd;
use super::store::{Addr, Store};
use super::{Class, ClassId, Copied, Edge, FuncMemory, Item, Object, Placed, Proof, Span, may_hold_address};
use crate::callee::{Callee, MemoryEffect, PointerEffect, resolve};
use crate::uses::Uses;

/// Beyond this many passes spans are given up, so that the rest settles at once.
const MANY_PASSES: usize = 24;
/// The most elements of a global's initialiser that are told apart.
const MAX_ELEMENTS: u64 = 64;
const POINTER: u64 = 8;

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
        if !solver.store.changed || pass >= 2 * MANY_PASSES {
            break;
        }
    }
    solver.finish()
}

struct GroupFunc {
    uses: Uses,
    of: SecondaryMap<ValueId, Option<Addr>>,
    ret: Option<Addr>,
    calls: BTreeMap<InstId, BTreeMap<ClassId, Addr>>,
}

struct Solver<'a> {
    module: &'a Module,
    facts: &'a BTreeMap<FuncId, Facts>,
    done: &'a BTreeMap<FuncId, FuncMemory>,
    store: Store,
    globals: BTreeMap<GlobalId, Addr>,
    code: BTreeMap<FuncId, Addr>,
    group: BTreeMap<FuncId, GroupFunc>,
    /// Destination, source and length of what is copied.
    copies: Vec<(Addr, Addr, Option<u64>)>,
}

impl<'a> Solver<'a> {
    fn declare(&mut self, f: FuncId) {
        let func = &self.module.funcs[f];
        let mut of = SecondaryMap::new();
        for (i, p) in func.params.iter().enumerate() {
            if may_hold_address(self.module, func.ty(*p)) {
                let c = self.store.fresh();
                self.store.add_object(c, Object::Param(f, i as u32));
                of[*p] = Some(c);
                self.declare_param(f, func, i, c);
            }
        }
        self.group.insert(f, GroupFunc { uses: Uses::new(func), of, ret: None, calls: BTreeMap::new() });
    }

    /// What attributes and debug information say of the memory behind a parameter.
    fn declare_param(&mut self, f: FuncId, func: &Func, n: usize, at: Addr) {
        let ctx = &self.module.ctx;
        if let Some(ty) = func.param_attrs.get(n).and_then(|a| a.byval.or(a.sret)) {
            for item in items_of_type(&ctx.layout, &ctx.types, ty) {
                self.store.add_item(at, item, Proof::Declared);
            }
        }
        let stated = self.facts.get(&f).and_then(|facts| facts.param_types.get(&(n as u32)));
        let Some(runs) = stated else { return };
        let period = runs.last().map_or(0, |r| r.offset + r.size);
        for run in runs {
            let step = if runs.len() == 1 { run.size } else { period };
            let span = Span::at(run.offset as i64).step(step, false);
            self.store.add_item(at, Item { span, size: run.size, ty: run.ty }, Proof::Declared);
        }
    }

    fn global(&mut self, g: GlobalId) -> Addr {
        if let Some(c) = self.globals.get(&g) {
            return *c;
        }
        let c = self.store.fresh();
        self.globals.insert(g, c);
        self.store.add_object(c, Object::Global(g));
        let global = &self.module.globals[g];
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
                        work.push((*e, if many { place.step(size, false) } else { place }));
                    }
                }
                Const::Global(_) | Const::Func(_) | Const::Expr { .. } => {
                    if let Some(to) = self.constant(c) {
                        let item = Item { span: Span::at(0), size: POINTER, ty: ByteType::Pointer };
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
    fn known(&mut self, f: FuncId, v: ValueId) -> Option<Addr> {
        match self.module.funcs[f].values[v].def {
            ValueDef::Const(c) => self.constant(c),
            ValueDef::Param(_) | ValueDef::Inst(_) => self.group.get(&f)?.of[v],
        }
    }

    /// Where a value points to; a class of its own if nothing is known.
    fn addr(&mut self, f: FuncId, v: ValueId) -> Option<Addr> {
        if let Some(known) = self.known(f, v) {
            return Some(known);
        }
        let func = &self.module.funcs[f];
        if func.as_const(v).is_some() || !may_hold_address(self.module, func.ty(v)) {
            return None;
        }
        let c = self.store.fresh();
        self.store.changed = true;
        self.group.get_mut(&f)?.of[v] = Some(c);
        Some(c)
    }

    /// `v` may point to `found`.
    fn meet(&mut self, f: FuncId, v: ValueId, found: Addr) {
        let func = &self.module.funcs[f];
        if !may_hold_address(self.module, func.ty(v)) {
            return;
        }
        let known = self.known(f, v);
        let joined = match known {
            Some(known) => self.store.join(known, found),
            None => {
                self.store.changed = true;
                found
            }
        };
        if func.as_const(v).is_none()
            && let Some(g) = self.group.get_mut(&f)
        {
            g.of[v] = Some(joined);
        }
    }

    /// `v` may point wherever `from` does, which need not be known yet.
    fn follow(&mut self, f: FuncId, v: ValueId, from: ValueId) {
        if let Some(a) = self.known(f, from) {
            self.meet(f, v, a);
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
        let counted = constant.is_none() && !self.group.get(&f).is_some_and(|g| g.uses.is_copied_only(func, v));
        for (offset, scalar) in ctx.layout.scalars(&ctx.types, ty, 64).unwrap_or_default() {
            let item = match ctx.types[scalar] {
                Type::Float(kind) => Some((float_bytes(kind), ByteType::Float(kind))),
                Type::Ptr(_) => Some((POINTER, ByteType::Pointer)),
                Type::Int(_) if counted => {
                    Some((ctx.layout.store_size(&ctx.types, scalar).unwrap_or(1), ByteType::Integer))
                }
                _ => None,
            };
            // Zeroes written over several fields at once say nothing of the fields.
            if let Some((size, ty)) = item.filter(|_| single || !zero) {
                let span = Span::at(offset as i64);
                self.store.add_item(at, Item { span, size, ty }, Proof::Accessed);
            }
            if may_hold_address(self.module, scalar) {
                let place = at.shift(offset as i64);
                if is_store {
                    if let Some(to) = self.known(f, v) {
                        self.store.add_edge(place, to);
                    }
                } else {
                    let to = self.store.target(place);
                    self.meet(f, v, to);
                }
            }
        }
        self.stated(f, i, &[at], self.module.ctx.layout.store_size(&self.module.ctx.types, ty));
        if is_store && matches!(self.module.ctx.types[ty], Type::Int(_) | Type::Vector { .. }) && !counted {
            self.copied_through_registers(f, v, at);
        }
    }

    /// What metadata states of an access of `len` bytes.
    fn stated(&mut self, f: FuncId, i: InstId, places: &[Addr], len: Option<u64>) {
        let Some(runs) = self.facts.get(&f).and_then(|facts| facts.access_types.get(&i)) else { return };
        let end = runs.iter().map(|r| r.offset + r.size).max().unwrap_or(0);
        let repeats = end > 0 && len.is_none();
        for run in runs {
            let span = Span::at(run.offset as i64).step(if repeats { end } else { 0 }, false);
            // Of a run of floats each one counts.
            let (size, span) = match run.ty {
                ByteType::Float(kind) if run.size > float_bytes(kind) => {
                    (float_bytes(kind), span.step(float_bytes(kind), false))
                }
                ByteType::Float(_) | ByteType::Pointer | ByteType::Integer => (run.size, span),
            };
            for at in places {
                self.store.add_item(*at, Item { span, size, ty: run.ty }, Proof::Stated);
            }
        }
    }

    /// An integer that is stored at `to` as it was loaded elsewhere: a copy of its bytes.
    fn copied_through_registers(&mut self, f: FuncId, v: ValueId, to: Addr) {
        let func = &self.module.funcs[f];
        let len = self.module.ctx.layout.store_size(&self.module.ctx.types, func.ty(v));
        let mut seen = vec![v];
        let mut n = 0;
        while let Some(v) = seen.get(n).copied() {
            n += 1;
            let Some(i) = func.def_inst(v) else { continue };
            let inst = &func.insts[i];
            let more: &[ValueId] = match &inst.op {
                Op::Phi(_) | Op::Freeze => &inst.args,
                Op::Select => inst.args.get(1..).unwrap_or(&[]),
                Op::Load(_) => {
                    if let Some(from) = inst.args.first().and_then(|p| self.known(f, *p)) {
                        self.copies.push((to, from, len));
                    }
                    &[]
                }
                _ => &[],
            };
            for m in more {
                if !seen.contains(m) && seen.len() < 64 {
                    seen.push(*m);
                }
            }
        }
    }

    fn unknown(&mut self, f: FuncId, i: InstId, result: Option<ValueId>) {
        if let Some(a) = result.and_then(|v| self.addr(f, v)) {
            self.store.add_object(a, Object::Unknown(f, i));
        }
    }

    /// Where the result of an address computation points to.
    fn step(&mut self, f: FuncId, func: &Func, i: InstId, elem: TypeId) {
        let inst = &func.insts[i];
        let (Some(v), Some(base)) = (inst.result, inst.args.first()) else { return };
        let Some(mut at) = self.known(f, *base) else { return };
        let ctx = &self.module.ctx;
        // The type that the computation steps through is a declaration of what is there.
        if matches!(ctx.types[elem], Type::Struct(_)) {
            for item in items_of_type(&ctx.layout, &ctx.types, elem) {
                self.store.add_item(at, item, Proof::Declared);
            }
        }
        let mut ty = elem;
        for (n, index) in inst.args.iter().enumerate().skip(1) {
            let value =
                func.as_const(*index).and_then(|c| ctx.consts.as_u64(c)).map(|x| match ctx.types[func.ty(*index)] {
                    Type::Int(bits) if bits < 64 => ((x << (64 - bits)) as i64) >> (64 - bits),
                    _ => x as i64,
                });
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
                (None, Some(size)) => {
                    let times = factor(self.module, func, *index, &mut Vec::new()).max(1);
                    at = at.step(size.saturating_mul(times), may_step_back(func, *index));
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
                        self.follow(f, v, p);
                        if *op == CastOp::IntToPtr && !traces_to_pointer(func, p) {
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
            Op::Binary(BinOp::Add | BinOp::Sub | BinOp::And | BinOp::Or) => {
                for p in args.iter().copied().filter(|p| traces_to_pointer(func, *p)) {
                    if let (Some(v), Some(a)) = (inst.result, self.known(f, p)) {
                        self.meet(f, v, Addr { span: Span::anywhere(), ..a });
                    }
                }
            }
            Op::Phi(_)
            | Op::InsertElement
            | Op::ShuffleVector(_)
            | Op::InsertValue(_)
            | Op::ExtractElement
            | Op::ExtractValue(_) => {
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
                a
            }
        };
        if let Some(g) = self.group.get_mut(&f) {
            g.ret = Some(joined);
        }
    }

    fn call(&mut self, f: FuncId, func: &'a Func, i: InstId) {
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
                        let item = Item { span: Span::at(0), size: float_bytes(kind), ty: ByteType::Float(kind) };
                        self.store.add_item(at, item, Proof::Accessed);
                    }
                }
            }
            Callee::Known(known) => {
                let len = |n: usize| {
                    args.get(n).and_then(|a| func.as_const(*a)).and_then(|c| self.module.ctx.consts.as_u64(c))
                };
                let touched: Option<(Vec<usize>, Option<u64>)> = match known.memory() {
                    MemoryEffect::Copy { dst, src, len: n, .. } => Some((vec![dst, src], len(n))),
                    MemoryEffect::Set { dst, len: n, .. } => Some((vec![dst], len(n))),
                    _ => None,
                };
                if let Some((which, len)) = touched {
                    let places: Vec<Addr> =
                        which.iter().filter_map(|n| args.get(*n)).filter_map(|a| self.addr(f, *a)).collect();
                    self.stated(f, i, &places, len);
                    if let [dst, src] = places.as_slice() {
                        self.copies.push((*dst, *src, len));
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
                if let Some(a) = result.and_then(|v| self.addr(f, v)) {
                    self.store.add_object(a, Object::Heap(f, i));
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
                    let item = Item { span: Span::at(0), size: POINTER, ty: ByteType::Pointer };
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
            let span = self.module.funcs[g].params.get(n).map_or(Span::at(0), |v| callee.span_of[*v]);
            roots.push((*p, span, a));
        }
        for (id, class) in callee.classes.iter() {
            for o in &class.objects {
                if let Object::Global(gl) = o {
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
                None => origin,
            };
            map.insert(theirs, joined);
            let joined = self.store.resolve(joined);
            if seen.get(&theirs) == Some(&joined) {
                continue;
            }
            seen.insert(theirs, joined);
            let class = &callee.classes[theirs];
            for (item, proof) in &class.items {
                self.store.add_item(joined, *item, *proof);
            }
            for o in &class.objects {
                match o {
                    Object::Heap(..) => self.store.add_object(joined, Object::Heap(f, i)),
                    Object::Unknown(..) => self.store.add_object(joined, Object::Unknown(f, i)),
                    Object::Code(_) | Object::Called(..) => self.store.add_object(joined, *o),
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
        for c in &callee.copies {
            if let (Some(d), Some(s)) = (map.get(&c.dst.0).copied(), map.get(&c.src.0).copied()) {
                let place = |origin: Addr, span: Span| Addr { class: origin.class, span: origin.span.plus(span) };
                self.copies.push((place(d, c.dst.1), place(s, c.src.1), c.len));
            }
        }
        if let Some(group) = self.group.get_mut(&f) {
            group.calls.insert(i, map);
        }
    }

    /// What is copied as bytes is the same on both sides.
    fn spread_copies(&mut self, give_up: bool) {
        for (dst, src, len) in self.copies.clone() {
            for (from, to) in [(src, dst), (dst, src)] {
                let (mut from, mut to) = (self.store.resolve(from), self.store.resolve(to));
                if give_up {
                    (from.span, to.span) = (Span::anywhere(), Span::anywhere());
                }
                let same = from.class == to.class;
                let items = copied_items(&self.store.raw_of(from).items, from.span, to.span, len, same);
                let base = Addr { class: to.class, span: Span::at(0) };
                for (item, proof) in items {
                    self.store.add_item(base, item, proof);
                }
                for (at, target) in self.store.raw_of(from).edges.clone() {
                    if let Some(span) = moved_span(at, POINTER, from.span, to.span, len, same) {
                        self.store.add_edge(Addr { class: to.class, span }, target);
                    }
                }
            }
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
            classes.push(Class { edges, objects: raw.objects, items: raw.items });
        }
        let mut place = |a: Addr| {
            let a = self.store.resolve(a);
            Some((*number.get(&a.class)?, a.span))
        };
        let mut copies: Vec<Copied> = Vec::new();
        for (dst, src, len) in std::mem::take(&mut self.copies) {
            if let (Some(dst), Some(src)) = (place(dst), place(src)) {
                let copied = Copied { dst, src, len };
                if !copies.contains(&copied) && copies.len() < 1024 {
                    copies.push(copied);
                }
            }
        }
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
            let (classes, copies) = (classes.clone(), copies.clone());
            let memory = FuncMemory { class_of, span_of, classes, params, ret, ret_span, calls, callees, copies };
            out.insert(f, memory);
        }
        out
    }
}

/// Where the origin of a class lies, if `span` in it is `ours`.
fn origin_of(span: Span, ours: Addr) -> Addr {
    let at = ours.span.shift(span.offset.wrapping_neg());
    // Equal strides are taken to be those of the same array.
    let stride = if span.stride == ours.span.stride { 0 } else { span.stride };
    let span = match span.stride {
        s if s == ours.span.stride && s != 0 => Span::at(at.offset),
        _ => at.step(stride, true),
    };
    Addr { class: ours.class, span }
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

/// A number of which the integer `v` is always a multiple; zero for the constant zero. `open` are the merges at hand.
fn factor(module: &Module, func: &Func, v: ValueId, open: &mut Vec<ValueId>) -> u64 {
    if let Some(c) = func.as_const(v) {
        return module.ctx.consts.as_u64(c).map_or(1, |x| (x as i64).unsigned_abs());
    }
    if open.contains(&v) {
        return 0;
    }
    let Some(i) = func.def_inst(v).filter(|_| open.len() < 16) else { return 1 };
    let inst = &func.insts[i];
    let amount = |n: usize| inst.args.get(n).and_then(|a| func.as_const(*a)).and_then(|c| module.ctx.consts.as_u64(c));
    open.push(v);
    let mut of = |a: &ValueId| factor(module, func, *a, open);
    let out = match (&inst.op, inst.args.as_slice()) {
        (Op::Phi(_), args) => args.iter().fold(0, |g, a| gcd(g, of(a))),
        (Op::Select, [_, a, b]) | (Op::Binary(BinOp::Add | BinOp::Sub), [a, b]) => gcd(of(a), of(b)),
        (Op::Binary(BinOp::Or), [a, b]) => {
            let both = gcd(of(a), of(b));
            if both == 0 { 0 } else { 1 << both.trailing_zeros() }
        }
        (Op::Binary(BinOp::Mul), [a, b]) => of(a).saturating_mul(of(b)),
        (Op::Binary(BinOp::Shl), [a, _]) => match amount(1) {
            Some(n) if n < 32 => of(a).saturating_mul(1 << n),
            _ => 1,
        },
        (Op::Binary(BinOp::And), [_, _]) => {
            amount(1).filter(|m| *m != 0).map_or(1, |m| 1 << m.trailing_zeros().min(32))
        }
        (Op::Cast(CastOp::SExt | CastOp::ZExt), [a]) | (Op::Freeze, [a]) => of(a),
        (Op::Cast(CastOp::Trunc), [a]) => match of(a) {
            0 => 0,
            n => 1 << n.trailing_zeros().min(16),
        },
        _ => 1,
    };
    open.pop();
    out
}

/// Whether an index is visibly meant to be negative at times.
fn may_step_back(func: &Func, index: ValueId) -> bool {
    let mut at = index;
    for _ in 0..4 {
        let Some(i) = func.def_inst(at) else { return false };
        let inst = &func.insts[i];
        match &inst.op {
            Op::Binary(BinOp::Sub | BinOp::Xor) => return true,
            Op::Cast(_) | Op::Freeze => match inst.args.first() {
                Some(a) => at = *a,
                None => return false,
            },
            _ => return false,
        }
    }
    false
}

/// Whether an integer is a `ptrtoint`, perhaps with something added.
fn traces_to_pointer(func: &Func, v: ValueId) -> bool {
    let mut at = v;
    for _ in 0..8 {
        let Some(i) = func.def_inst(at) else { return false };
        match &func.insts[i].op {
            Op::Cast(CastOp::PtrToInt | CastOp::PtrToAddr) => return true,
            // A loaded or merged integer may be a stored pointer: its class says so.
            Op::Load(_) | Op::Phi(_) | Op::Select => return true,
            Op::Binary(BinOp::Add | BinOp::Sub | BinOp::And | BinOp::Or) | Op::Freeze => {
                match func.insts[i].args.first() {
                    Some(a) => at = *a,
                    None => return false,
                }
            }
            _ => return false,
        }
    }
    false
}
