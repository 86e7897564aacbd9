//! Activity: which values and which memory carry derivatives.
//!
//! A value is *varied* if it depends on an active input, *useful* if an active output depends on it, and active if it
//! is both (Hascoët & Pascual, 2013, section 4). Memory is treated by class ([`crate::memory`]): a class is shadowed if
//! the request gave it a shadow, or if varied data is stored in it that is useful when read back; and whenever memory
//! that it points to is shadowed, since a shadow pointer is then needed beside each pointer.
//!
//! ```text
//!   Free  ->  Shadowed  ->  Mixed
//!             Pinned    ->  Mixed         Pinned: const arguments, constant and external globals
//! ```
//!
//! A class that is pinned never gets a shadow: varied data stored in it is dropped if nothing reads it back, and is an
//! error otherwise. A class that holds constant memory and memory with a shadow at once (a pointer that is now one, now
//! the other) is mixed: there the shadow pointer of constant memory is the pointer itself, and the derivative tests each
//! pointer at run time. Functions are analysed once per [`Context`]; recursion is solved by iteration from below, so the
//! result is the least solution. Results keep their [`Reason`].
//!
//! Flow-sensitive for values (SSA), flow-insensitive for memory.

mod called;
mod conflicts;
mod elsewhere;
mod outside;
mod relocated;
mod unknown;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use cranelift_entity::SecondaryMap;
use enzyme_ir::{BinOp, CastOp, FuncId, InstId, Linkage, Op, ValueId};

use crate::callee::{Callee, MathOutput, MemoryEffect, resolve};
use crate::carry::Carry;
use crate::memory::{ClassId, Object, is_fortran_storage};
use crate::program::{Program, Unit};

/// What the surroundings say of the memory of a class.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum State {
    /// Nothing: it becomes shadowed if varied data is stored in it.
    #[default]
    Free,
    /// It has a shadow.
    Shadowed,
    /// It never has one.
    Pinned,
    /// Some of it has one: a shadow pointer equal to the pointer itself says that there is none.
    Mixed,
}

impl State {
    /// Whether pointers to the memory have shadow pointers.
    pub fn has_shadow(self) -> bool {
        matches!(self, State::Shadowed | State::Mixed)
    }
}

/// How a function is called: the key of an analysis and of a derivative.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Context {
    /// Per parameter: a float in it is active.
    pub scalars: Vec<bool>,
    /// Per class of the function that the caller can reach; others are free.
    pub classes: BTreeMap<ClassId, State>,
    /// The result is used.
    pub ret: bool,
}

/// Why a value or a memory is active.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The request or the caller says so.
    Given,
    /// An operand of the instruction is active.
    Operand(InstId, ValueId),
    /// It is read from active memory.
    Read(InstId, ClassId),
    /// An active value is stored in it.
    Stored(InstId, Option<ValueId>),
    /// A call writes active data in it, or returns it.
    Call(InstId),
    /// The memory it points to has a shadow.
    PointsTo(ClassId),
}

/// What can't be differentiated, found by the analysis.
#[derive(Clone, PartialEq, Debug)]
pub enum Conflict {
    /// Active data is stored in memory that has no shadow and is read back.
    LostInPinned {
        /// The memory.
        class: ClassId,
        /// What stores.
        store: InstId,
        /// What reads.
        load: InstId,
    },
    /// A call of an unknown function with active operands.
    UnknownCall(InstId),
    /// A function pointer is called with active operands.
    IndirectCall(InstId),
    /// The operation has no derivative here.
    Unsupported(InstId, &'static str),
    /// Bits of active floats are computed with as integers.
    BitTrick(InstId),
    /// A function that returns twice.
    ReturnsTwice(InstId),
    /// Assembly with active operands.
    Assembly(InstId),
}

/// The result for one function in one context.
#[derive(Clone, Debug, Default)]
pub struct Activity {
    /// Active values (varied and useful) and why.
    pub active: SecondaryMap<ValueId, Option<Reason>>,
    /// Classes whose memory has a shadow, and why.
    pub shadowed: BTreeMap<ClassId, Reason>,
    /// Shadowed classes that are mixed.
    pub mixed: BTreeSet<ClassId>,
    /// Pinned classes into which active data is stored: what callers must know.
    pub dropped: BTreeSet<ClassId>,
    /// Pinned classes that a rule of the program's is given together with active data, which it may store there: where a caller has
    /// memory of its own in such a class, that memory has a shadow.
    pub given: BTreeSet<ClassId>,
    /// States of all classes before usefulness was considered; what callers must know.
    pub states: BTreeMap<ClassId, State>,
    /// Why the states are what they are.
    reasons: BTreeMap<ClassId, Reason>,
    /// The result is active.
    pub ret: bool,
    /// Calls of functions with a body that need a derivative: the context of each.
    pub calls: BTreeMap<InstId, Context>,
    /// The same calls as functions and contexts.
    pub callees: BTreeSet<(FuncId, Context)>,
    /// Calls of which only the run can tell what they call: if they are reached, there is no derivative.
    pub aborts: BTreeSet<InstId>,
    /// What can't be differentiated.
    pub conflicts: Vec<Conflict>,
    /// What puts active data into an exception object, and what computes with the content of a caught one.
    pub thrown: Option<InstId>,
    /// See `thrown`.
    pub caught: Option<InstId>,
}

impl Activity {
    /// Whether the float in `v` is active.
    pub fn is_active(&self, v: ValueId) -> bool {
        self.active[v].is_some()
    }
    /// Whether memory of `class` has a shadow.
    pub fn is_shadowed(&self, class: ClassId) -> bool {
        self.shadowed.contains_key(&class)
    }
}

/// Activities of all contexts reached from a root.
#[derive(Clone, Debug, Default)]
pub struct Activities {
    /// Of contexts that are not finished only what callers must know.
    table: BTreeMap<(FuncId, Context), Activity>,
    /// Those that derivatives need.
    finished: BTreeSet<(FuncId, Context)>,
    users: BTreeMap<(FuncId, Context), BTreeSet<(FuncId, Context)>>,
}

impl Activities {
    /// Solves for `f` in `ctx` and everything it calls.
    pub fn solve(&mut self, program: &Program<'_>, f: FuncId, ctx: Context) {
        let mut work = vec![(f, ctx)];
        while let Some(key) = work.pop() {
            if self.finished.contains(&key) {
                continue;
            }
            self.settle(program, &key);
            let result = match is_ruled(program, key.0) {
                Some(_) => self.table.get(&key).cloned().unwrap_or_default(),
                None => Pass::new(program, key.0, &key.1, self).finish(),
            };
            work.extend(result.callees.iter().cloned());
            self.table.insert(key.clone(), result);
            self.finished.insert(key);
        }
    }

    /// Finds what callers must know of a function and of everything it calls. That only rises from one look at a function to
    /// the next, so this ends: a class that was pinned and is found to be mixed never becomes pinned again, nor a result
    /// constant because a call was asked of in another context meanwhile.
    fn settle(&mut self, program: &Program<'_>, key: &(FuncId, Context)) {
        if self.table.contains_key(key) {
            return;
        }
        let mut waiting = Waiting::default();
        waiting.first(key.clone());
        while let Some(key) = waiting.next() {
            let known = self.table.contains_key(&key);
            let (result, asked) = match is_ruled(program, key.0) {
                Some(unit) => (crate::ruled::analyze(program, key.0, unit, &key.1), BTreeSet::new()),
                None => Pass::new(program, key.0, &key.1, self).run(),
            };
            for callee in asked {
                self.users.entry(callee.clone()).or_default().insert(key.clone());
                if !self.table.contains_key(&callee) {
                    self.table.insert(callee.clone(), Activity::default());
                    waiting.last(key.clone());
                    waiting.first(callee);
                }
            }
            let changed = match self.table.get(&key) {
                Some(old) => {
                    (&old.states, old.ret, &old.dropped, &old.given)
                        != (&result.states, result.ret, &result.dropped, &result.given)
                }
                None => true,
            };
            self.table.insert(key.clone(), result);
            if changed || !known {
                for user in self.users.get(&key).into_iter().flatten().filter(|u| **u != key || changed) {
                    waiting.first(user.clone());
                }
            }
        }
    }

    /// All results, in order.
    pub fn all(&self) -> impl Iterator<Item = (FuncId, &Activity)> + '_ {
        self.table.iter().filter(|(key, _)| self.finished.contains(key)).map(|((f, _), a)| (*f, a))
    }

    /// The result for `f` in `ctx`, if it was solved.
    pub fn get(&self, f: FuncId, ctx: &Context) -> Option<&Activity> {
        self.table.get(&(f, ctx.clone()))
    }
}

/// What is known of `f`, if nothing is known of what it does but that it has a rule.
fn is_ruled<'a>(program: &Program<'a>, f: FuncId) -> Option<&'a Unit> {
    program.unit(f).filter(|_| crate::ruled::is_opaque(program.module, f))
}

/// Functions to look at again, each once.
#[derive(Default)]
struct Waiting {
    order: VecDeque<(FuncId, Context)>,
    members: BTreeSet<(FuncId, Context)>,
}

impl Waiting {
    fn first(&mut self, key: (FuncId, Context)) {
        if self.members.insert(key.clone()) {
            self.order.push_front(key);
        }
    }
    fn last(&mut self, key: (FuncId, Context)) {
        if self.members.insert(key.clone()) {
            self.order.push_back(key);
        }
    }
    fn next(&mut self) -> Option<(FuncId, Context)> {
        let key = self.order.pop_front()?;
        self.members.remove(&key);
        Some(key)
    }
}

struct Pass<'a> {
    program: &'a Program<'a>,
    f: FuncId,
    ctx: &'a Context,
    done: &'a Activities,
    varied: SecondaryMap<ValueId, Option<Reason>>,
    states: BTreeMap<ClassId, State>,
    reasons: BTreeMap<ClassId, Reason>,
    /// First varied store into each pinned class.
    dropped: BTreeMap<ClassId, InstId>,
    /// What an earlier look at the function found to be dropped.
    dropped_before: BTreeSet<ClassId>,
    /// Pinned classes that a rule is given.
    given: BTreeSet<ClassId>,
    /// Classes of addresses that are numbers in which a rule may hand back others.
    handed_back: BTreeSet<ClassId>,
    ret: bool,
    asked: BTreeSet<(FuncId, Context)>,
    aborts: BTreeSet<InstId>,
    conflicts: Vec<Conflict>,
    changed: bool,
}

impl<'a> Pass<'a> {
    fn new(program: &'a Program<'a>, f: FuncId, ctx: &'a Context, done: &'a Activities) -> Pass<'a> {
        let mut pass = Pass {
            program,
            f,
            ctx,
            done,
            varied: SecondaryMap::new(),
            states: BTreeMap::new(),
            reasons: BTreeMap::new(),
            dropped: BTreeMap::new(),
            dropped_before: BTreeSet::new(),
            given: BTreeSet::new(),
            handed_back: crate::ruled::handed_back(program, f),
            ret: false,
            asked: BTreeSet::new(),
            aborts: BTreeSet::new(),
            conflicts: Vec::new(),
            changed: true,
        };
        let last = done.table.get(&(f, ctx.clone()));
        if let Some(last) = last {
            (pass.ret, pass.dropped_before, pass.given) = (last.ret, last.dropped.clone(), last.given.clone());
        }
        match last.filter(|last| !last.states.is_empty()) {
            Some(last) => (pass.states, pass.reasons) = (last.states.clone(), last.reasons.clone()),
            None => pass.begin(),
        }
        pass
    }

    /// The states on entry.
    fn begin(&mut self) {
        let Some(unit) = self.program.unit(self.f) else { return };
        self.states.clone_from(&self.ctx.classes);
        for (id, class) in unit.memory.classes.iter() {
            if unit.memory.is_code(id) {
                self.states.insert(id, State::Pinned);
            } else if class.objects.iter().any(|o| self.is_pinned_object(o)) {
                let outer = self.ctx.classes.get(&id).copied().unwrap_or_default();
                self.states.insert(id, if outer.has_shadow() { State::Mixed } else { State::Pinned });
            }
        }
        self.pin_what_pinned_memory_holds(unit);
        let given = self.ctx.classes.iter().filter(|(_, state)| state.has_shadow());
        self.reasons.extend(given.map(|(id, _)| (*id, Reason::Given)));
    }

    /// The addresses in memory without a shadow are their own shadows: what lies behind them has none, unless it is also reached in
    /// other ways.
    fn pin_what_pinned_memory_holds(&mut self, unit: &Unit) {
        // Classes of which a part is made here hold other addresses as well.
        let is_pinned = |id: ClassId| {
            let objects = &unit.memory.classes[id].objects;
            !objects.is_empty() && objects.iter().all(|o| self.is_pinned_object(o))
        };
        let is_behind = |id: ClassId| {
            let objects = &unit.memory.classes[id].objects;
            objects.iter().all(|o| matches!(o, Object::Unknown(..)) || self.is_pinned_object(o))
        };
        let behind: BTreeSet<ClassId> = unit.memory.classes.keys().filter(|c| is_behind(*c)).collect();
        let mut work: Vec<ClassId> =
            self.states.iter().filter(|e| *e.1 == State::Pinned && is_pinned(*e.0)).map(|e| *e.0).collect();
        while let Some(outer) = work.pop() {
            for inner in unit.memory.classes[outer].targets().filter(|inner| behind.contains(inner)) {
                match self.state(inner) {
                    State::Free => {
                        self.states.insert(inner, State::Pinned);
                        work.push(inner);
                    }
                    State::Shadowed => {
                        self.states.insert(inner, State::Mixed);
                    }
                    State::Pinned | State::Mixed => {}
                }
            }
        }
    }

    /// What callers must know, and the callees that were asked.
    fn run(&mut self) -> (Activity, BTreeSet<(FuncId, Context)>) {
        self.spread();
        (self.told(), std::mem::take(&mut self.asked))
    }

    /// Follows what varies.
    fn spread(&mut self) {
        let func = self.program.func(self.f);
        for (p, active) in func.params.iter().zip(&self.ctx.scalars) {
            if *active {
                self.varied[*p] = Some(Reason::Given);
            }
        }
        while self.changed {
            self.changed = false;
            for (_, i) in func.placed() {
                self.forward(i);
            }
            self.close_upwards();
        }
    }

    /// What callers must know.
    fn told(&self) -> Activity {
        let dropped = self.dropped.keys().chain(&self.dropped_before);
        let dropped = dropped.copied().filter(|c| self.state(*c) == State::Pinned).collect();
        let (states, reasons) = (self.states.clone(), self.reasons.clone());
        Activity { states, reasons, ret: self.ret, dropped, given: self.given.clone(), ..Activity::default() }
    }

    fn is_pinned_object(&self, o: &Object) -> bool {
        match o {
            Object::Global(id) => {
                let module = self.program.module;
                let g = &module.globals[*id];
                // Every procedure sees what is in a module or a COMMON block: their variables cannot be made static.
                let is_seen_by_all =
                    (g.linkage == Linkage::External || g.init.is_none()) && !is_fortran_storage(module, g);
                module.stated.inactive.contains(id) || g.constant || is_seen_by_all
            }
            Object::Param(..)
            | Object::Stack(..)
            | Object::Heap(..)
            | Object::Code(_)
            | Object::Called(..)
            | Object::Unknown(..) => false,
        }
    }

    fn close_upwards(&mut self) {
        let Some(unit) = self.program.unit(self.f) else { return };
        for (id, class) in unit.memory.classes.iter() {
            for inner in class.targets() {
                if self.state(inner).has_shadow() && self.state(id) == State::Free {
                    self.shadow(id, Reason::PointsTo(inner));
                }
            }
        }
    }

    fn state(&self, class: ClassId) -> State {
        self.states.get(&class).copied().unwrap_or_default()
    }

    fn shadow(&mut self, class: ClassId, reason: Reason) {
        if self.state(class) == State::Free {
            self.states.insert(class, State::Shadowed);
            self.reasons.insert(class, reason);
            self.changed = true;
        }
    }

    fn store_into(&mut self, class: ClassId, by: InstId, value: Option<ValueId>) {
        match self.state(class) {
            State::Pinned if self.has_own_memory(class) => {
                self.states.insert(class, State::Mixed);
                self.reasons.insert(class, Reason::Stored(by, value));
                self.changed = true;
            }
            State::Pinned => {
                self.dropped.entry(class).or_insert(by);
            }
            State::Free | State::Shadowed | State::Mixed => self.shadow(class, Reason::Stored(by, value)),
        }
    }

    /// Whether `i` stores an integer, made of what is read in active memory, where floats may lie: what is found there when the
    /// derivative runs says what it was.
    fn may_move_floats(&self, i: InstId) -> bool {
        let Some(unit) = self.program.unit(self.f) else { return false };
        let func = self.program.func(self.f);
        let read = |load: &InstId| func.insts[*load].args.first().and_then(|p| self.class(*p));
        unit.reworked.get(&i).is_some_and(|r| r.loads.iter().filter_map(read).any(|c| self.state(c).has_shadow()))
    }

    /// Whether a class may be memory that this function makes, to which a shadow can be made.
    pub(super) fn has_own_memory(&self, class: ClassId) -> bool {
        let Some(unit) = self.program.unit(self.f) else { return false };
        unit.memory.classes[class].objects.iter().any(|o| matches!(o, Object::Stack(..) | Object::Heap(..)))
    }

    fn vary(&mut self, v: Option<ValueId>, reason: Reason) {
        if let Some(v) = v
            && self.varied[v].is_none()
        {
            self.varied[v] = Some(reason);
            self.changed = true;
        }
    }

    fn class(&self, v: ValueId) -> Option<ClassId> {
        self.program.unit(self.f)?.memory.class_of[v]
    }

    fn carry(&self, v: ValueId) -> Carry {
        self.program.unit(self.f).map_or(Carry::None, |u| u.carry[v])
    }

    fn first_varied(&self, args: &[ValueId]) -> Option<ValueId> {
        args.iter().copied().find(|a| self.varied[*a].is_some())
    }

    fn forward(&mut self, i: InstId) {
        let func = self.program.func(self.f);
        let inst = &func.insts[i];
        let args = inst.args.as_slice();
        let from_operand = |this: &mut Self, args: &[ValueId]| {
            if let Some(v) = this.first_varied(args) {
                this.vary(inst.result, Reason::Operand(i, v));
            }
        };
        match &inst.op {
            Op::FNeg | Op::Freeze | Op::ShuffleVector(_) | Op::ExtractValue(_) | Op::Phi(_) => {
                from_operand(self, args);
            }
            Op::Binary(op) => match op {
                BinOp::FAdd | BinOp::FSub if crate::rounding::rounds(self.program.module, func, i) => {}
                BinOp::FAdd | BinOp::FSub | BinOp::FMul | BinOp::FDiv | BinOp::FRem => from_operand(self, args),
                BinOp::Add
                | BinOp::Sub
                | BinOp::Mul
                | BinOp::UDiv
                | BinOp::SDiv
                | BinOp::URem
                | BinOp::SRem
                | BinOp::Shl
                | BinOp::LShr
                | BinOp::AShr
                | BinOp::And
                | BinOp::Or
                | BinOp::Xor => {
                    // Only bits on their way into a float: refused later if they are useful.
                    if inst.result.is_some_and(|r| self.carry(r) == Carry::Mixed) {
                        from_operand(self, args);
                    }
                }
            },
            Op::Cast(op) => match op {
                CastOp::FPTrunc | CastOp::FPExt | CastOp::BitCast => from_operand(self, args),
                CastOp::Trunc | CastOp::ZExt => {
                    if inst.result.is_some_and(|r| self.carry(r) == Carry::Mixed) {
                        from_operand(self, args);
                    }
                }
                CastOp::SExt
                | CastOp::FPToUI
                | CastOp::FPToSI
                | CastOp::UIToFP
                | CastOp::SIToFP
                | CastOp::PtrToInt
                | CastOp::PtrToAddr
                | CastOp::IntToPtr
                | CastOp::AddrSpaceCast => {}
            },
            Op::Select => from_operand(self, args.get(1..).unwrap_or(&[])),
            Op::ExtractElement => from_operand(self, args.get(..1).unwrap_or(&[])),
            Op::InsertElement => from_operand(self, args.get(..2).unwrap_or(&[])),
            Op::InsertValue(_) => from_operand(self, args),
            Op::Load(_) => {
                let (Some(r), Some(p)) = (inst.result, args.first()) else { return };
                if let Some(c) = self.class(*p)
                    && self.state(c).has_shadow()
                    && self.carry(r).may()
                {
                    self.vary(inst.result, Reason::Read(i, c));
                }
            }
            Op::Store(_) => {
                let (Some(v), Some(p)) = (args.first(), args.get(1)) else { return };
                let Some(c) = self.class(*p) else { return };
                if self.varied[*v].is_some() {
                    self.store_into(c, i, Some(*v));
                } else if self.may_move_floats(i) {
                    self.store_into(c, i, None);
                }
                // A pointer to active memory, stored where its shadow has no place.
                let address = self.class(*v).is_some_and(|x| self.state(x).has_shadow());
                if address && self.state(c) == State::Pinned {
                    self.dropped.entry(c).or_insert(i);
                }
            }
            Op::AtomicRmw(..) => {
                let (Some(p), Some(v)) = (args.first(), args.get(1)) else { return };
                let Some(c) = self.class(*p) else { return };
                if self.varied[*v].is_some() {
                    self.store_into(c, i, Some(*v));
                }
                if inst.result.is_some_and(|r| self.carry(r).may()) && self.state(c).has_shadow() {
                    self.vary(inst.result, Reason::Read(i, c));
                }
            }
            Op::Call(_) | Op::Invoke { .. } | Op::CallBr { .. } => self.call(i),
            Op::Ret => {
                if self.first_varied(args).is_some() && !self.ret {
                    self.ret = true;
                    self.changed = true;
                }
            }
            // Not followed: what makes the memory active makes the check refuse.
            Op::CmpXchg { .. } => {
                let (Some(p), Some(v)) = (args.first(), args.get(2)) else { return };
                if let (Some(c), true) = (self.class(*p), self.varied[*v].is_some()) {
                    self.store_into(c, i, Some(*v));
                }
            }
            Op::ICmp(_)
            | Op::FCmp(_)
            | Op::Alloca { .. }
            | Op::Gep { .. }
            | Op::Fence(_)
            | Op::VaArg
            | Op::LandingPad { .. }
            | Op::CleanupPad
            | Op::CatchPad
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

    /// Whether an argument brings activity into a call: an active float, or a pointer to memory with a shadow.
    fn brings(&self, v: ValueId) -> bool {
        self.varied[v].is_some() || self.class(v).is_some_and(|c| self.state(c).has_shadow())
    }

    fn call(&mut self, i: InstId) {
        let func = self.program.func(self.f);
        let args: Vec<ValueId> = func.call_args(i).to_vec();
        let result = func.insts[i].result;
        match resolve(self.program.module, func, i) {
            Callee::Math(math) => {
                let Some(v) = math.float_args(&args).into_iter().find(|a| self.varied[*a].is_some()) else { return };
                for output in math.outputs() {
                    match output {
                        MathOutput::Return => self.vary(result, Reason::Operand(i, v)),
                        MathOutput::Pointee(n) => {
                            if let Some(c) = args.get(n).and_then(|p| self.class(*p)) {
                                self.store_into(c, i, Some(v));
                            }
                        }
                    }
                }
            }
            Callee::Known(known) => {
                let mixed = result.is_some_and(|r| self.carry(r) == Carry::Mixed);
                if let (true, Some(v)) = (mixed, args.iter().find(|a| self.varied[**a].is_some())) {
                    self.vary(result, Reason::Operand(i, *v));
                }
                if let MemoryEffect::Copy { dst, src, .. } = known.memory() {
                    let (Some(d), Some(s)) = (args.get(dst), args.get(src)) else { return };
                    let (Some(d), Some(s)) = (self.class(*d), self.class(*s)) else { return };
                    if self.state(s).has_shadow() {
                        self.store_into(d, i, None);
                    }
                }
            }
            Callee::Unknown(_) => {}
            Callee::Defined(g) => {
                let Some(ctx) = self.callee_context(i, g, &args) else { return };
                let bits = self.program.unit(g).is_some_and(|u| u.bits.returned);
                if bits && result.is_some_and(|r| self.carry(r) == Carry::Mixed) {
                    self.vary(result, Reason::Call(i));
                }
                self.asked.insert((g, ctx.clone()));
                let Some(info) = self.done.get(g, &ctx) else { return };
                let (ret, states, dropped, given) =
                    (info.ret, info.states.clone(), info.dropped.clone(), info.given.clone());
                self.pass_to_rule(i, g, &args);
                if ret {
                    self.vary(result, Reason::Call(i));
                }
                for (theirs, ours) in self.class_map(i, g) {
                    if dropped.contains(&theirs) {
                        self.store_into(ours, i, None);
                    }
                    if given.contains(&theirs) {
                        self.give(ours, i);
                    }
                    let after = states.get(&theirs).copied().unwrap_or_default();
                    if after.has_shadow() && self.state(ours) == State::Free {
                        self.shadow(ours, Reason::Call(i));
                    }
                    if after == State::Mixed && self.state(ours) != State::Mixed {
                        self.states.insert(ours, State::Mixed);
                        self.reasons.entry(ours).or_insert(Reason::Call(i));
                        self.changed = true;
                    }
                }
            }
        }
    }

    /// A rule of the program's may leave derivatives in all memory that it reaches, of which its model knows nothing.
    fn pass_to_rule(&mut self, i: InstId, g: FuncId, args: &[ValueId]) {
        let Some(unit) = self.program.unit(self.f).filter(|_| crate::ruled::is_opaque(self.program.module, g)) else {
            return;
        };
        for class in args.iter().filter_map(|a| self.class(*a)).flat_map(|c| unit.memory.chain(c)).collect::<Vec<_>>() {
            if !unit.memory.is_code(class) {
                self.give(class, i);
            }
        }
    }

    /// Lets a rule store derivatives in the memory of a class, as far as that is not constant.
    fn give(&mut self, class: ClassId, i: InstId) {
        match self.state(class) {
            State::Pinned if self.has_own_memory(class) => self.store_into(class, i, None),
            State::Pinned if self.handed_back.contains(&class) => {
                self.states.insert(class, State::Mixed);
                self.reasons.insert(class, Reason::Call(i));
                self.changed = true;
            }
            State::Pinned => {
                self.given.insert(class);
            }
            State::Free | State::Shadowed | State::Mixed => self.shadow(class, Reason::Call(i)),
        }
    }

    /// Which class of ours each outer class of the callee is.
    fn class_map(&self, i: InstId, g: FuncId) -> Vec<(ClassId, ClassId)> {
        self.program.class_map(self.f, i, g)
    }

    /// The context of a call, or `None` if nothing active enters it.
    fn callee_context(&self, i: InstId, g: FuncId, args: &[ValueId]) -> Option<Context> {
        if self.program.func(g).attrs.inactive {
            return None;
        }
        let scalars: Vec<bool> = args.iter().map(|a| self.varied[*a].is_some()).collect();
        let classes: BTreeMap<ClassId, State> =
            self.class_map(i, g).into_iter().map(|(t, o)| (t, self.state(o))).filter(|e| e.1 != State::Free).collect();
        let any = scalars.iter().any(|s| *s) || classes.values().any(|s| s.has_shadow());
        let used = self.program.func(self.f).insts[i].result.is_some();
        any.then_some(Context { scalars, classes, ret: used })
    }

    /// Memory that holds pointers to memory with a shadow has one, too. Whether anything was new.
    fn point_to_shadowed(&self, unit: &Unit, shadowed: &mut BTreeMap<ClassId, Reason>) -> bool {
        let before = shadowed.len();
        for (id, class) in unit.memory.classes.iter() {
            let inner = class.targets().find(|c| shadowed.contains_key(c));
            if let Some(inner) = inner.filter(|_| self.state(id) != State::Pinned) {
                shadowed.entry(id).or_insert(Reason::PointsTo(inner));
            }
        }
        shadowed.len() > before
    }

    /// The whole result, once all that is called is settled.
    fn finish(&mut self) -> Activity {
        self.spread();
        let Some(unit) = self.program.unit(self.f) else { return Activity::default() };
        let func = self.program.func(self.f);
        let useful = crate::useful::analyze(self.program, self.f, self.ctx, &|i| {
            matches!(resolve(self.program.module, func, i), Callee::Defined(_))
                && func.call_args(i).iter().any(|a| self.brings(*a))
        });
        let mut out = self.told();
        for (class, state) in &self.states {
            let given = self.ctx.classes.get(class).is_some_and(|s| s.has_shadow());
            if state.has_shadow() && (given || useful.classes.contains(class)) {
                out.shadowed.insert(*class, self.reasons.get(class).copied().unwrap_or(Reason::Given));
            }
        }
        for v in func.values.keys() {
            if self.varied[v].is_some() && useful.values[v] {
                out.active[v] = self.varied[v];
            }
        }
        let calls = self.active_calls(func, &useful);
        while self.point_to_shadowed(unit, &mut out.shadowed) || self.shadow_what_calls_make(unit, &calls, &mut out) {}
        out.mixed = out.shadowed.keys().copied().filter(|c| self.state(*c) == State::Mixed).collect();
        for (i, (g, ctx)) in calls {
            out.callees.insert((g, ctx.clone()));
            out.calls.insert(i, ctx);
        }
        let active = |v: ValueId| {
            self.varied[v].is_some() || unit.memory.class_of[v].is_some_and(|c| out.is_shadowed(c)) && unit.addresses[v]
        };
        let differentiated = |i: InstId| out.calls.contains_key(&i);
        let thrown = crate::exceptions::thrown(self.program, func, unit, &active, &differentiated);
        let counts = |v: ValueId| useful.values[v];
        let caught = crate::exceptions::caught(self.program, func, unit, (&active, &counts), &differentiated);
        (out.thrown, out.caught) = (thrown, caught);
        if let Some(i) = crate::exceptions::read(self.program, func, unit, &counts) {
            self.conflicts.push(Conflict::Unsupported(i, "what an exception carries"));
        }
        self.check(&out, &useful);
        out.conflicts = std::mem::take(&mut self.conflicts);
        out.aborts = std::mem::take(&mut self.aborts);
        out
    }
}
