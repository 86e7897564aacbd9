//! Which pointers may reach the same memory: classes of pointers by unification.
//!
//! Every value that may hold an address (a pointer, an integer as wide as one, an aggregate of such) belongs to a
//! [`ClassId`]; two values whose memory may overlap are of one class, and the pointers stored in the memory of a class
//! point to its `deref` class. Constraints are those of Steensgaard, *Points-to analysis in almost linear time* (POPL
//! 1996), without fields: near-linear, flow-insensitive. A call of a function with a body copies the callee's classes
//! into the caller, so callees are seen per call site; functions of one recursive group are solved together.
//!
//! A derivative needs this because memory and its shadow come in pairs: either all objects of a class have a shadow or
//! none has, and every pointer of the class then has a shadow pointer.
//!
//! Not handled: addresses that travel through integer arithmetic other than adding to a `ptrtoint`; they start a class
//! of their own, marked [`Object::Unknown`].

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap, entity_impl};
use enzyme_ir::{
    BinOp, CastOp, Const, ConstId, FloatKind, Func, FuncId, GlobalId, InstId, Module, Op, Type, TypeId, ValueDef,
    ValueId,
};

use crate::callee::{Callee, PointerEffect, resolve};
use crate::uses::Uses;

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
    /// The result of an instruction of which nothing is known.
    Unknown(FuncId, InstId),
}

/// What is known of the memory of a class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Class {
    /// The class of the pointers stored in this memory.
    pub deref: Option<ClassId>,
    /// What it may be.
    pub objects: BTreeSet<Object>,
    /// Formats of floats read or written in it.
    pub floats: BTreeSet<FloatKind>,
    /// Formats of floats in memory that is copied to or from it as bytes.
    pub copied_floats: BTreeSet<FloatKind>,
    /// Pointers are read or written in it.
    pub pointers: bool,
    /// Integers that are not mere copies are read or written in it.
    pub integers: bool,
}

impl Class {
    /// Formats of all floats that may be in it.
    pub fn all_floats(&self) -> BTreeSet<FloatKind> {
        self.floats.union(&self.copied_floats).copied().collect()
    }
}

/// Classes of one function.
#[derive(Clone, Debug, Default)]
pub struct FuncMemory {
    /// Class of each value that may hold an address.
    pub class_of: SecondaryMap<ValueId, Option<ClassId>>,
    /// All classes of the recursive group that the function belongs to.
    pub classes: PrimaryMap<ClassId, Class>,
    /// Class of each parameter.
    pub params: Vec<Option<ClassId>>,
    /// Class of the result.
    pub ret: Option<ClassId>,
    /// For each call of a function with a body: which class of the caller each class of the callee is.
    pub calls: BTreeMap<InstId, BTreeMap<ClassId, ClassId>>,
}

impl FuncMemory {
    /// The only type of byte in the memory of `class`, if it is one float format throughout.
    pub fn uniform_float(&self, class: ClassId) -> Option<FloatKind> {
        let c = &self.classes[class];
        let floats = c.all_floats();
        let first = floats.first().copied();
        (floats.len() == 1 && !c.pointers && !c.integers).then_some(first).flatten()
    }

    /// Whether the class is known to be memory: something is in it, or is read or written there.
    pub fn is_memory(&self, class: ClassId) -> bool {
        let Class { deref: _, objects, floats, copied_floats, pointers, integers } = &self.classes[class];
        !objects.is_empty() || !floats.is_empty() || !copied_floats.is_empty() || *pointers || *integers
    }

    /// The class and those reached through the pointers stored in it, each once.
    pub fn chain(&self, class: ClassId) -> Vec<ClassId> {
        let mut out = vec![class];
        let mut at = class;
        while let Some(next) = self.classes[at].deref {
            if out.contains(&next) {
                break;
            }
            out.push(next);
            at = next;
        }
        out
    }
}

/// Solves one recursive group of functions. `done` holds the results of all defined functions called from it.
pub fn analyze_group(
    module: &Module,
    group: &[FuncId],
    done: &BTreeMap<FuncId, FuncMemory>,
) -> BTreeMap<FuncId, FuncMemory> {
    let mut solver = Solver {
        module,
        done,
        classes: Vec::new(),
        parent: Vec::new(),
        globals: BTreeMap::new(),
        group: BTreeMap::new(),
        copies: Vec::new(),
    };
    for f in group {
        solver.declare(*f);
    }
    for f in group {
        solver.function(*f);
    }
    solver.finish()
}

struct GroupFunc {
    uses: Uses,
    of: SecondaryMap<ValueId, Option<u32>>,
    ret: Option<u32>,
    calls: BTreeMap<InstId, BTreeMap<ClassId, u32>>,
}

struct Solver<'a> {
    module: &'a Module,
    done: &'a BTreeMap<FuncId, FuncMemory>,
    classes: Vec<RawClass>,
    parent: Vec<u32>,
    globals: BTreeMap<GlobalId, u32>,
    group: BTreeMap<FuncId, GroupFunc>,
    /// Classes between which bytes are copied.
    copies: Vec<(u32, u32)>,
}

#[derive(Default)]
struct RawClass {
    deref: Option<u32>,
    facts: Class,
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

impl<'a> Solver<'a> {
    fn fresh(&mut self) -> u32 {
        let id = self.parent.len() as u32;
        self.parent.push(id);
        self.classes.push(RawClass::default());
        id
    }

    fn find(&mut self, mut x: u32) -> u32 {
        while self.parent[x as usize] != x {
            let up = self.parent[self.parent[x as usize] as usize];
            self.parent[x as usize] = up;
            x = up;
        }
        x
    }

    fn unify(&mut self, a: u32, b: u32) {
        let mut work = vec![(a, b)];
        while let Some((a, b)) = work.pop() {
            let (a, b) = (self.find(a), self.find(b));
            if a == b {
                continue;
            }
            let gone = std::mem::take(&mut self.classes[b as usize]);
            self.parent[b as usize] = a;
            let Class { deref: _, objects, floats, copied_floats, pointers, integers } = gone.facts;
            let kept = &mut self.classes[a as usize];
            kept.facts.objects.extend(objects);
            kept.facts.floats.extend(floats);
            kept.facts.copied_floats.extend(copied_floats);
            kept.facts.pointers |= pointers;
            kept.facts.integers |= integers;
            match (kept.deref, gone.deref) {
                (Some(x), Some(y)) => work.push((x, y)),
                (None, Some(y)) => kept.deref = Some(y),
                (_, None) => {}
            }
        }
    }

    fn facts(&mut self, class: u32) -> &mut Class {
        let c = self.find(class);
        &mut self.classes[c as usize].facts
    }

    fn deref(&mut self, class: u32) -> u32 {
        let c = self.find(class);
        if let Some(d) = self.classes[c as usize].deref {
            return self.find(d);
        }
        let d = self.fresh();
        self.classes[c as usize].deref = Some(d);
        d
    }

    fn declare(&mut self, f: FuncId) {
        let func = &self.module.funcs[f];
        let mut of = SecondaryMap::new();
        for (i, p) in func.params.iter().enumerate() {
            if may_hold_address(self.module, func.ty(*p)) {
                let c = self.fresh();
                self.facts(c).objects.insert(Object::Param(f, i as u32));
                of[*p] = Some(c);
            }
        }
        self.group.insert(f, GroupFunc { uses: Uses::new(func), of, ret: None, calls: BTreeMap::new() });
    }

    fn global(&mut self, g: GlobalId) -> u32 {
        if let Some(c) = self.globals.get(&g) {
            return *c;
        }
        let c = self.fresh();
        self.globals.insert(g, c);
        self.facts(c).objects.insert(Object::Global(g));
        if let Some(init) = self.module.globals[g].init {
            for target in self.pointers_in(init) {
                let d = self.deref(c);
                self.facts(c).pointers = true;
                self.unify(d, target);
            }
        }
        c
    }

    /// Classes of the addresses that occur in a constant.
    fn pointers_in(&mut self, c: ConstId) -> Vec<u32> {
        let mut out = Vec::new();
        let mut work = vec![c];
        let mut seen = BTreeSet::new();
        while let Some(c) = work.pop() {
            if !seen.insert(c) {
                continue;
            }
            match &self.module.ctx.consts[c] {
                Const::Global(g) => out.push(self.global(*g)),
                Const::Func(f) => {
                    let (f, class) = (*f, self.fresh());
                    self.facts(class).objects.insert(Object::Code(f));
                    out.push(class);
                }
                Const::Aggregate { elems, .. } => work.extend(elems.iter().copied()),
                Const::Expr { args, .. } => work.extend(args.iter().copied()),
                Const::Int { .. }
                | Const::Float { .. }
                | Const::Zero(_)
                | Const::Undef(_)
                | Const::Poison(_)
                | Const::Data { .. }
                | Const::BlockAddress { .. }
                | Const::TokenNone
                | Const::Metadata(_)
                | Const::Opaque { .. } => {}
            }
        }
        out
    }

    /// The class of a value; `None` if it can't hold an address or is a constant without one.
    fn class(&mut self, f: FuncId, v: ValueId) -> Option<u32> {
        let func = &self.module.funcs[f];
        if let ValueDef::Const(c) = func.values[v].def {
            let found = self.pointers_in(c);
            let (first, rest) = found.split_first()?;
            for other in rest {
                self.unify(*first, *other);
            }
            return Some(*first);
        }
        if let Some(c) = self.group.get(&f)?.of[v] {
            return Some(c);
        }
        if !may_hold_address(self.module, func.ty(v)) {
            return None;
        }
        let c = self.fresh();
        self.group.get_mut(&f)?.of[v] = Some(c);
        Some(c)
    }

    fn same(&mut self, f: FuncId, a: ValueId, b: ValueId) {
        if let (Some(x), Some(y)) = (self.class(f, a), self.class(f, b)) {
            self.unify(x, y);
        }
    }

    /// `v` is read from or written to memory at `addr`.
    fn access(&mut self, f: FuncId, v: ValueId, addr: ValueId) {
        let Some(memory) = self.class(f, addr) else { return };
        let func = &self.module.funcs[f];
        let types = &self.module.ctx.types;
        let ty = func.ty(v);
        let zero_const = func.as_const(v).is_some();
        let mut floats = BTreeSet::new();
        for kind in FloatKind::ALL {
            if types.contains(ty, &|t| *t == Type::Float(kind)) {
                floats.insert(kind);
            }
        }
        let pointers = types.contains_pointer(ty);
        let holds_integer = types.contains(ty, &|t| matches!(t, Type::Int(_)));
        let integers =
            holds_integer && !zero_const && !self.group.get(&f).is_some_and(|g| g.uses.is_copied_only(func, v));
        let facts = self.facts(memory);
        facts.floats.extend(floats);
        facts.pointers |= pointers;
        facts.integers |= integers;
        if let Some(held) = self.class(f, v) {
            let inner = self.deref(memory);
            self.unify(inner, held);
        }
    }

    fn function(&mut self, f: FuncId) {
        let func = &self.module.funcs[f];
        for (_, i) in func.placed() {
            self.instruction(f, func, i);
        }
    }

    fn unknown(&mut self, f: FuncId, i: InstId, result: Option<ValueId>) {
        if let Some(c) = result.and_then(|v| self.class(f, v)) {
            self.facts(c).objects.insert(Object::Unknown(f, i));
        }
    }

    fn instruction(&mut self, f: FuncId, func: &'a Func, i: InstId) {
        let inst = &func.insts[i];
        let args = &inst.args;
        let arg = |n: usize| args.get(n).copied();
        match &inst.op {
            Op::Alloca { .. } => {
                if let Some(c) = inst.result.and_then(|v| self.class(f, v)) {
                    self.facts(c).objects.insert(Object::Stack(f, i));
                }
            }
            Op::Load(_) => {
                if let (Some(v), Some(p)) = (inst.result, arg(0)) {
                    self.access(f, v, p);
                }
            }
            Op::Store(_) => {
                if let (Some(v), Some(p)) = (arg(0), arg(1)) {
                    self.access(f, v, p);
                }
            }
            Op::AtomicRmw(..) => {
                for v in inst.result.into_iter().chain(arg(1)) {
                    if let Some(p) = arg(0) {
                        self.access(f, v, p);
                    }
                }
            }
            Op::CmpXchg { .. } => {
                for v in inst.result.into_iter().chain(arg(1)).chain(arg(2)) {
                    if let Some(p) = arg(0) {
                        self.access(f, v, p);
                    }
                }
            }
            Op::Gep { .. } | Op::Freeze => {
                if let (Some(v), Some(p)) = (inst.result, arg(0)) {
                    self.same(f, v, p);
                }
            }
            Op::Cast(op) => match op {
                CastOp::PtrToInt | CastOp::PtrToAddr | CastOp::IntToPtr | CastOp::BitCast | CastOp::AddrSpaceCast => {
                    if let (Some(v), Some(p)) = (inst.result, arg(0)) {
                        self.same(f, v, p);
                    }
                    let from_int = *op == CastOp::IntToPtr && arg(0).is_some_and(|p| !traces_to_pointer(func, p));
                    if from_int {
                        self.unknown(f, i, inst.result);
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
                    if let Some(v) = inst.result {
                        self.same(f, v, p);
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
                        self.same(f, v, *p);
                    }
                }
            }
            Op::Select => {
                for p in args.iter().skip(1) {
                    if let Some(v) = inst.result {
                        self.same(f, v, *p);
                    }
                }
            }
            Op::Call(_) | Op::Invoke { .. } | Op::CallBr { .. } => self.call(f, func, i),
            Op::Ret => {
                if let Some(c) = arg(0).and_then(|v| self.class(f, v)) {
                    let known = self.group.get(&f).and_then(|g| g.ret);
                    match known {
                        Some(r) => self.unify(r, c),
                        None => {
                            if let Some(g) = self.group.get_mut(&f) {
                                g.ret = Some(c);
                            }
                        }
                    }
                }
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

    fn call(&mut self, f: FuncId, func: &'a Func, i: InstId) {
        let result = func.insts[i].result;
        let args = func.call_args(i);
        match resolve(self.module, func, i) {
            Callee::Defined(g) if self.group.contains_key(&g) => {
                let params = self.module.funcs[g].params.clone();
                for (p, a) in params.iter().zip(args) {
                    if let (Some(x), Some(y)) = (self.class(g, *p), self.class(f, *a)) {
                        self.unify(x, y);
                    }
                }
                if let Some(c) = result.and_then(|v| self.class(f, v)) {
                    let known = self.group.get(&g).and_then(|g| g.ret);
                    match known {
                        Some(r) => self.unify(r, c),
                        None => {
                            if let Some(g) = self.group.get_mut(&g) {
                                g.ret = Some(c);
                            }
                        }
                    }
                }
            }
            Callee::Defined(g) => self.instantiate(f, i, g, args, result),
            Callee::Math(_) => {
                for a in args {
                    if let Some(c) = self.class(f, *a).filter(|_| self.module.ctx.types.contains_pointer(func.ty(*a))) {
                        let kinds: Vec<FloatKind> =
                            args.iter().filter_map(|v| self.module.ctx.float_kind(func.ty(*v))).collect();
                        self.facts(c).floats.extend(kinds);
                    }
                }
            }
            Callee::Known(known) => match known.pointers() {
                PointerEffect::Fresh => {
                    if let Some(c) = result.and_then(|v| self.class(f, v)) {
                        self.facts(c).objects.insert(Object::Heap(f, i));
                    }
                }
                PointerEffect::FreshLike(n) => {
                    if let Some(c) = result.and_then(|v| self.class(f, v)) {
                        self.facts(c).objects.insert(Object::Heap(f, i));
                        if let Some(a) = args.get(n).and_then(|a| self.class(f, *a)) {
                            self.unify(c, a);
                        }
                    }
                }
                PointerEffect::Copy { dst, src } => {
                    if let (Some(d), Some(s)) = (args.get(dst).copied(), args.get(src).copied()) {
                        if let (Some(x), Some(y)) = (self.class(f, d), self.class(f, s)) {
                            self.copies.push((x, y));
                            let (x, y) = (self.deref(x), self.deref(y));
                            self.unify(x, y);
                        }
                        if let Some(v) = result {
                            self.same(f, v, d);
                        }
                    }
                }
                PointerEffect::FreshInto(n) => {
                    if let Some(c) = args.get(n).and_then(|a| self.class(f, *a)) {
                        let inner = self.deref(c);
                        self.facts(c).pointers = true;
                        self.facts(inner).objects.insert(Object::Heap(f, i));
                    }
                }
                PointerEffect::MayReturn => {
                    for a in args {
                        if let Some(v) = result {
                            self.same(f, v, *a);
                        }
                    }
                    self.unknown(f, i, result);
                }
                PointerEffect::None => {}
            },
            Callee::Unknown(_) => {
                for a in args {
                    if let Some(v) = result {
                        self.same(f, v, *a);
                    }
                }
                self.unknown(f, i, result);
            }
        }
    }

    /// Copies the classes of `g` that its parameters and result reach, and joins them with those of the call.
    fn instantiate(&mut self, f: FuncId, i: InstId, g: FuncId, args: &[ValueId], result: Option<ValueId>) {
        let Some(callee) = self.done.get(&g) else {
            self.unknown(f, i, result);
            return;
        };
        let mut map: BTreeMap<ClassId, u32> = BTreeMap::new();
        let mut roots: Vec<(ClassId, u32)> = Vec::new();
        for (p, a) in callee.params.iter().zip(args) {
            if let (Some(p), Some(a)) = (p, self.class(f, *a)) {
                roots.push((*p, a));
            }
        }
        if let (Some(r), Some(c)) = (callee.ret, result.and_then(|v| self.class(f, v))) {
            roots.push((r, c));
        }
        for (id, class) in callee.classes.iter() {
            for o in &class.objects {
                if let Object::Global(gl) = o {
                    roots.push((id, self.global(*gl)));
                }
            }
        }
        while let Some((theirs, ours)) = roots.pop() {
            if let Some(known) = map.get(&theirs) {
                let known = *known;
                self.unify(known, ours);
                continue;
            }
            map.insert(theirs, ours);
            let Class { deref, objects, floats, copied_floats, pointers, integers } = &callee.classes[theirs];
            let facts = self.facts(ours);
            facts.floats.extend(floats);
            facts.copied_floats.extend(copied_floats);
            facts.pointers |= pointers;
            facts.integers |= integers;
            for o in objects {
                match o {
                    Object::Heap(..) => drop(facts.objects.insert(Object::Heap(f, i))),
                    Object::Unknown(..) => drop(facts.objects.insert(Object::Unknown(f, i))),
                    Object::Code(_) => drop(facts.objects.insert(*o)),
                    Object::Param(..) | Object::Stack(..) | Object::Global(_) => {}
                }
            }
            if let Some(d) = deref {
                let inner = self.deref(ours);
                roots.push((*d, inner));
            }
        }
        if let Some(group) = self.group.get_mut(&f) {
            group.calls.insert(i, map);
        }
    }

    /// What is copied as bytes is the same on both sides.
    fn spread_copied_floats(&mut self) {
        let copies = std::mem::take(&mut self.copies);
        loop {
            let mut grown = false;
            for (a, b) in &copies {
                for (from, to) in [(*a, *b), (*b, *a)] {
                    let all = self.facts(from).all_floats();
                    let target = self.facts(to);
                    let before = target.copied_floats.len();
                    target.copied_floats.extend(all);
                    grown |= target.copied_floats.len() != before;
                }
            }
            if !grown {
                return;
            }
        }
    }

    fn finish(mut self) -> BTreeMap<FuncId, FuncMemory> {
        self.spread_copied_floats();
        let mut number: BTreeMap<u32, ClassId> = BTreeMap::new();
        for x in 0..self.parent.len() as u32 {
            let root = self.find(x);
            let next = ClassId::new(number.len());
            number.entry(root).or_insert(next);
        }
        let mut classes: PrimaryMap<ClassId, Class> = PrimaryMap::new();
        let mut order: Vec<(ClassId, u32)> = number.iter().map(|(root, id)| (*id, *root)).collect();
        order.sort_unstable();
        for (_, root) in &order {
            let deref = self.classes[*root as usize].deref.map(|d| self.find(d)).and_then(|d| number.get(&d).copied());
            let mut class = std::mem::take(&mut self.classes[*root as usize].facts);
            class.deref = deref;
            classes.push(class);
        }
        let groups = std::mem::take(&mut self.group);
        let mut out = BTreeMap::new();
        for (f, group) in groups {
            let func = &self.module.funcs[f];
            let mut class_of = SecondaryMap::new();
            for v in func.values.keys() {
                let raw = match func.values[v].def {
                    // Constants that hold addresses are globals or functions; only globals have classes to find again.
                    ValueDef::Const(c) => self.pointers_known(c),
                    ValueDef::Param(_) | ValueDef::Inst(_) => group.of[v],
                };
                class_of[v] = raw.map(|c| self.find(c)).and_then(|c| number.get(&c).copied());
            }
            let params = func.params.iter().map(|p| class_of[*p]).collect();
            let ret = group.ret.map(|c| self.find(c)).and_then(|c| number.get(&c).copied());
            let mut calls = BTreeMap::new();
            for (i, map) in group.calls {
                let mapped = map.iter().filter_map(|(k, c)| Some((*k, *number.get(&self.find(*c))?))).collect();
                calls.insert(i, mapped);
            }
            out.insert(f, FuncMemory { class_of, classes: classes.clone(), params, ret, calls });
        }
        out
    }

    /// The class of a constant address after solving.
    fn pointers_known(&self, c: ConstId) -> Option<u32> {
        match &self.module.ctx.consts[c] {
            Const::Global(g) => self.globals.get(g).copied(),
            Const::Expr { args, .. } => args.iter().find_map(|a| self.pointers_known(*a)),
            Const::Aggregate { elems, .. } => elems.iter().find_map(|e| self.pointers_known(*e)),
            Const::Int { .. }
            | Const::Float { .. }
            | Const::Zero(_)
            | Const::Undef(_)
            | Const::Poison(_)
            | Const::Data { .. }
            | Const::Func(_)
            | Const::BlockAddress { .. }
            | Const::TokenNone
            | Const::Metadata(_)
            | Const::Opaque { .. } => None,
        }
    }
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
