//! What the reverse sweep may want to know of the forward sweep, and how each piece can be had again.
//!
//! A [`Key`] names a piece: a primal value, a shadow pointer, how often a loop ran, which way control came, the tape of
//! a call. [`derive()`] says whether it is simply there, can be rebuilt from other keys, or is a *root* that only a cache
//! can give back.

use std::collections::BTreeSet;

use enzyme_analysis::callee::MemoryEffect;
use enzyme_analysis::{Activity, Callee, ClassId, Unit, resolve};
use enzyme_ir::cfg::LoopId;
use enzyme_ir::{BinOp, BlockId, CastOp, Const, Consts, Func, InstId, Module, Op, Type, ValueDef, ValueId};

use crate::request::{DerivativeKey, Mode, has_shadow_pointer};
use crate::shape::{Merge, Shape, Trip};
use crate::undo::Undo;

/// A piece of knowledge of the forward sweep.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Key {
    /// A value of the primal function.
    Primal(ValueId),
    /// The shadow pointer beside a value.
    Shadow(ValueId),
    /// Backedges taken by a loop when it was left.
    Count(LoopId),
    /// Position of the predecessor from which a block was entered.
    Entered(BlockId),
    /// Tape of a call.
    Tape(InstId),
    /// All that a value was in the iterations of its loop, and what phis that carry it on started from.
    Column(ValueId),
    /// The last iteration in which a selection replaced the number that its loop carries on, or -1.
    Latest(ValueId),
}

/// The function being differentiated and what is known of it.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The primal function.
    pub func: &'a Func,
    /// What is known of it.
    pub unit: &'a Unit,
    /// Its activity in this context.
    pub activity: &'a Activity,
    /// Its control flow.
    pub shape: &'a Shape,
    /// The request.
    pub key: &'a DerivativeKey,
    /// Stores that may be taken back.
    pub undo: &'a Undo,
}

/// How a key can be had in the reverse sweep.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// It is there: a constant, a parameter, a stack slot of the same function.
    Free,
    /// It must be cached.
    Root,
    /// It can be rebuilt from these, at this cost (in quarters of an addition).
    Rebuild(Vec<Key>, u64),
}

/// How many operations in the ways that meet in a phi are done again, whichever was taken.
const SELECTION_SIZE: u32 = 100;

/// How many values are looked at to see where a pointer comes from.
const MOVES: usize = 40;

/// How far it is looked whether a value that stands in memory is better computed.
const STANDING_DEPTH: u32 = 6;

/// Costs of rebuilding, in quarters of a simple operation.
pub(crate) mod cost {
    use enzyme_rules::{Group, Rule};

    pub const ADDRESS: u64 = 1;
    pub const SIMPLE: u64 = 4;
    pub const LOAD: u64 = 10;
    pub const DIVIDE: u64 = 60;
    pub const CALL: u64 = 160;
    /// A call of which several are computed at once: a tenth of the time, in glibc's vectors of four doubles.
    pub const VECTOR_CALL: u64 = 32;

    /// What is one instruction on every machine costs as one; roots are divisions; the rest are calls.
    pub fn of(rule: &Rule) -> u64 {
        match rule.group {
            Group::Instructions | Group::Choices | Group::Rounding => SIMPLE,
            Group::Powers if rule.name == "sqrt" => DIVIDE,
            Group::Powers
            | Group::Complex
            | Group::Exponentials
            | Group::Trigonometric
            | Group::Hyperbolic
            | Group::Special
            | Group::Parts => CALL,
        }
    }
}

impl Subject<'_> {
    /// Whether the float in `v` is active.
    pub fn is_active(&self, v: ValueId) -> bool {
        self.activity.is_active(v)
    }

    /// Whether `v` has a shadow pointer.
    pub fn has_shadow(&self, v: ValueId) -> bool {
        has_shadow_pointer(self.unit, self.activity, v)
    }

    /// Whether it must be tested at run time if the memory behind `v` has a shadow.
    pub fn is_mixed(&self, v: ValueId) -> bool {
        self.unit.memory.class_of[v].is_some_and(|c| self.activity.mixed.contains(&c))
    }

    /// Whether `i` loads a pointer, or a number that is made one, from a global variable that code which is not differentiated may set.
    pub fn reads_global_pointer(&self, module: &Module, i: InstId) -> bool {
        let inst = &self.func.insts[i];
        let is_pointer = || match module.ctx.types[inst.ty] {
            Type::Ptr(_) => true,
            Type::Int(_) => inst.result.is_some_and(|r| self.becomes_pointer(r)),
            _ => false,
        };
        let class = inst.args.first().and_then(|p| self.unit.memory.class_of[*p]);
        let variable = |o: &enzyme_analysis::Object| match o {
            enzyme_analysis::Object::Global(g) => !module.globals[*g].constant,
            _ => false,
        };
        class.is_some_and(|c| self.unit.memory.classes[c].objects.iter().any(variable)) && is_pointer()
    }

    /// Whether a pointer is made of the integer `v`, or of sums with it.
    fn becomes_pointer(&self, v: ValueId) -> bool {
        let mut seen = vec![v];
        let mut n = 0;
        while let Some(at) = seen.get(n).copied() {
            n += 1;
            for i in self.unit.uses.of(at) {
                let inst = &self.func.insts[*i];
                match &inst.op {
                    Op::Cast(CastOp::IntToPtr) => return true,
                    Op::Binary(BinOp::Add | BinOp::Sub | BinOp::And | BinOp::Or)
                    | Op::Phi(_)
                    | Op::Select
                    | Op::Freeze => seen.extend(inst.result.filter(|r| !seen.contains(r))),
                    _ => {}
                }
            }
        }
        false
    }

    /// Whether the sweeps are two functions.
    pub fn is_split(&self) -> bool {
        matches!(self.key.mode, Mode::Augmented | Mode::Gradient)
    }

    /// Whether `i` is a stack slot of fixed size in the entry block.
    pub fn is_static_slot(&self, i: InstId) -> bool {
        let inst = &self.func.insts[i];
        let fixed = inst.args.first().is_none_or(|n| self.func.as_const(*n).is_some());
        matches!(inst.op, Op::Alloca { .. }) && fixed && self.shape.block_of[i] == self.shape.cfg.entry()
    }

    /// Whether `v` is an address in a stack slot of which each sweep of a split derivative has a shadow of its own: it holds no
    /// pointers, which the forward sweep would leave there.
    pub fn has_own_shadow(&self, v: ValueId) -> bool {
        self.is_split()
            && self.shape.local.contains(&v)
            && self.has_shadow(v)
            && !self.is_mixed(v)
            && self.unit.memory.class_of[v].is_some_and(|c| {
                let class = &self.unit.memory.classes[c];
                !class.has_pointers() && class.edges.is_empty()
            })
    }

    /// Whether `i` is a load that nothing uses.
    pub fn is_idle_load(&self, i: InstId) -> bool {
        self.unit.facts.stand_for.contains_key(&i)
    }

    /// Whether what the load `i` reads is still there in the reverse sweep.
    pub fn is_stable_load(&self, i: InstId) -> bool {
        let inst = &self.func.insts[i];
        let Some(address) = inst.args.first() else { return false };
        let Op::Load(access) = &inst.op else { return false };
        if access.volatile || access.ordering != enzyme_ir::Ordering::NotAtomic {
            return false;
        }
        let Some(class) = self.unit.memory.class_of[*address] else { return false };
        if self.unit.constants.contains(&class) {
            return true;
        }
        if !self.unit.facts.stable_loads.contains(&i) || self.unit.retyped.contains(&i) {
            return false;
        }
        self.stays_between_sweeps(class)
    }

    fn stays_between_sweeps(&self, class: ClassId) -> bool {
        !self.is_split() || self.key.kept.contains(&class) || !self.unit.outer_classes.contains(&class)
    }

    /// The store that left `v` in memory, where it still stands in the reverse sweep and is read more cheaply than `v` is
    /// computed again.
    pub fn standing(&self, module: &Module, v: ValueId) -> Option<InstId> {
        let i = self.shape.standing.get(&v).copied()?;
        let address = self.func.insts[i].args.get(1).copied()?;
        let class = self.unit.memory.class_of[address]?;
        // Where memory goes back to what it was before, what stood there in the end does not.
        if !self.stays_between_sweeps(class)
            || self.undo.concerns(class)
            || cone_cost(module, self, v, STANDING_DEPTH).is_some_and(|c| c <= cost::LOAD)
        {
            return None;
        }
        cone_cost(module, self, address, STANDING_DEPTH).map(|_| i)
    }

    /// How often the body of `l` runs each time that the loop is entered, if that is a number.
    pub fn trips_of(&self, module: &Module, l: LoopId) -> Option<u64> {
        let Some(Trip::Known(v)) = self.shape.trips.get(&l) else { return None };
        let count = self.func.as_const(*v).and_then(|c| module.ctx.consts.as_u64(c))?;
        Some(count.saturating_add(1))
    }

    /// The innermost loop in which `key` has one value per iteration.
    pub fn scope(&self, key: Key) -> Option<LoopId> {
        let block = match key {
            Key::Primal(v) | Key::Shadow(v) | Key::Column(v) => self.shape.def_block(self.func, v)?,
            Key::Count(l) => return self.shape.loops.loops().find(|(id, _)| *id == l).and_then(|(_, l)| l.parent),
            Key::Latest(v) => return self.scope(Key::Count(self.shape.running.get(&v)?.in_loop)),
            Key::Entered(b) => b,
            Key::Tape(i) => self.shape.block_of[i]?,
        };
        self.shape.loops.innermost(block)
    }
}

/// A phi where two ways meet as a selection: the condition by which they parted, and what comes along each, where both can be
/// computed whichever was taken.
pub fn selection(module: &Module, s: &Subject<'_>, i: InstId) -> Option<[ValueId; 3]> {
    let (decider, parts) = ways(s, i)?;
    let mut left = SELECTION_SIZE;
    parts.iter().skip(1).all(|v| is_speculable(module, s, *v, decider, &mut left)).then_some(parts)
}

/// Where the ways that meet in a phi parted: the block, the condition, and what comes along each.
fn ways(s: &Subject<'_>, i: InstId) -> Option<(BlockId, [ValueId; 3])> {
    let Op::Phi(blocks) = &s.func.insts[i].op else { return None };
    let block = s.shape.block_of[i]?;
    let Some(Merge::Decided { decider, by_successor }) = s.shape.merges.get(&block) else { return None };
    let decision = &s.func.insts[s.func.terminator(*decider)?];
    let (Op::CondBr { .. }, [Some(then), Some(other)]) = (&decision.op, by_successor.as_slice()) else { return None };
    let from = |b: &BlockId| {
        let n = blocks.iter().position(|x| x == b)?;
        s.func.insts[i].args.get(n).copied()
    };
    Some((*decider, [*decision.args.first()?, from(then)?, from(other)?]))
}

/// Whether `v` may be computed although control did not come to where it is defined after `decider`.
fn is_speculable(module: &Module, s: &Subject<'_>, v: ValueId, decider: BlockId, left: &mut u32) -> bool {
    let Some(i) = s.func.def_inst(v) else { return true };
    if s.shape.block_of[i].is_some_and(|b| s.shape.dom.dominates(b, decider)) {
        return true;
    }
    let Some(less) = left.checked_sub(1) else { return false };
    *left = less;
    if s.shape.block_of[i].is_none_or(|b| s.shape.loops.innermost(b) != s.shape.loops.innermost(decider)) {
        return false;
    }
    let inst = &s.func.insts[i];
    let operands = match &inst.op {
        Op::Phi(_) => match ways(s, i) {
            Some((_, parts)) => parts.to_vec(),
            None => return false,
        },
        Op::Call(_) => match resolve(module, s.func, i) {
            Callee::Math(math) if math.is_pure() => s.func.call_args(i).to_vec(),
            Callee::Math(_) | Callee::Known(_) | Callee::Defined(_) | Callee::Unknown(_) => return false,
        },
        Op::Binary(BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem) => return false,
        Op::Binary(_) | Op::FNeg | Op::ICmp(_) | Op::FCmp(_) | Op::Select | Op::Gep { .. } | Op::Cast(_) => {
            inst.args.to_vec()
        }
        _ => return false,
    };
    operands.into_iter().all(|a| is_speculable(module, s, a, decider, left))
}

/// How `key` can be had in the reverse sweep of `s`.
pub fn derive(module: &Module, s: &Subject<'_>, key: Key) -> Source {
    match key {
        Key::Count(_) | Key::Entered(_) | Key::Tape(_) | Key::Column(_) | Key::Latest(_) => Source::Root,
        Key::Primal(v) => derive_primal(module, s, v),
        Key::Shadow(v) => derive_shadow(module, s, v),
    }
}

fn derive_primal(module: &Module, s: &Subject<'_>, v: ValueId) -> Source {
    match s.standing(module, v).and_then(|i| s.func.insts[i].args.get(1).copied()) {
        Some(address) => Source::Rebuild(vec![Key::Primal(address)], cost::LOAD),
        None => match derive_by_op(module, s, v) {
            Source::Root => derive_by_column(s, v),
            other => other,
        },
    }
}

/// What can only be kept is read from a column where phis carry it on, and so are they.
fn derive_by_column(s: &Subject<'_>, v: ValueId) -> Source {
    let chains = &s.shape.carried;
    match chains.phis.get(&v) {
        Some(c) => Source::Rebuild(vec![Key::Column(c.leading)], cost::SIMPLE),
        None if chains.starts.contains_key(&v) => Source::Rebuild(vec![Key::Column(v)], cost::ADDRESS),
        None => Source::Root,
    }
}

/// What it costs to compute `v` again from what is simply there, as far as `depth` operations reach; `None` if that does
/// not do.
fn cone_cost(module: &Module, s: &Subject<'_>, v: ValueId, depth: u32) -> Option<u64> {
    match derive_by_op(module, s, v) {
        Source::Free => Some(0),
        Source::Root => None,
        Source::Rebuild(..) if depth == 0 => None,
        Source::Rebuild(from, own) => from.iter().try_fold(own, |sum, k| match k {
            Key::Primal(d) => Some(sum + cone_cost(module, s, *d, depth - 1)?),
            Key::Shadow(_) | Key::Count(_) | Key::Entered(_) | Key::Tape(_) | Key::Column(_) | Key::Latest(_) => None,
        }),
    }
}

fn derive_by_op(module: &Module, s: &Subject<'_>, v: ValueId) -> Source {
    let ValueDef::Inst(i) = s.func.values[v].def else { return Source::Free };
    if let Some(a) = s.shape.affine.get(&v) {
        return Source::Rebuild(vec![Key::Primal(a.start), Key::Primal(a.step)], cost::ADDRESS);
    }
    let inst = &s.func.insts[i];
    let operands = || inst.args.iter().map(|a| Key::Primal(*a)).collect::<Vec<_>>();
    match s.undo.reads.get(&v) {
        Some(read) if read.load == v => return Source::Rebuild(operands(), cost::LOAD),
        Some(read) => return Source::Rebuild(vec![Key::Primal(read.load)], 0),
        None => {}
    }
    if let Some(parts) = selection(module, s, i) {
        return Source::Rebuild(parts.map(Key::Primal).to_vec(), cost::SIMPLE);
    }
    match &inst.op {
        Op::Alloca { .. } if s.is_static_slot(i) && !s.is_split() => Source::Free,
        Op::Load(_) if s.is_stable_load(i) => Source::Rebuild(operands(), cost::LOAD),
        Op::Gep { .. } | Op::Cast(CastOp::Trunc | CastOp::ZExt | CastOp::SExt | CastOp::BitCast) => {
            Source::Rebuild(operands(), cost::ADDRESS)
        }
        Op::Binary(BinOp::FDiv | BinOp::FRem | BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem) => {
            Source::Rebuild(operands(), cost::DIVIDE)
        }
        Op::Binary(
            BinOp::Add
            | BinOp::Sub
            | BinOp::Mul
            | BinOp::Shl
            | BinOp::LShr
            | BinOp::AShr
            | BinOp::And
            | BinOp::Or
            | BinOp::Xor
            | BinOp::FAdd
            | BinOp::FSub
            | BinOp::FMul,
        )
        | Op::FNeg
        | Op::ICmp(_)
        | Op::FCmp(_)
        | Op::Select
        | Op::ExtractElement
        | Op::InsertElement
        | Op::ShuffleVector(_)
        | Op::ExtractValue(_)
        | Op::InsertValue(_)
        | Op::Cast(
            CastOp::FPToUI
            | CastOp::FPToSI
            | CastOp::UIToFP
            | CastOp::SIToFP
            | CastOp::FPTrunc
            | CastOp::FPExt
            | CastOp::PtrToInt
            | CastOp::PtrToAddr
            | CastOp::IntToPtr
            | CastOp::AddrSpaceCast,
        ) => Source::Rebuild(operands(), cost::SIMPLE),
        Op::Call(_) | Op::Invoke { .. } => match resolve(module, s.func, i) {
            Callee::Math(math) if math.is_pure() => {
                let cost = cost::of(math.rule);
                let cost = if s.unit.facts.vector_calls.contains(&i) { cost.min(cost::VECTOR_CALL) } else { cost };
                Source::Rebuild(s.func.call_args(i).iter().map(|a| Key::Primal(*a)).collect(), cost)
            }
            Callee::Known(known) if known.is_pure() => {
                Source::Rebuild(s.func.call_args(i).iter().map(|a| Key::Primal(*a)).collect(), cost::SIMPLE)
            }
            Callee::Math(_) | Callee::Known(_) | Callee::Defined(_) | Callee::Unknown(_) => Source::Root,
        },
        // A frozen poison must stay the same; phis depend on the way taken; the rest reads or makes state.
        Op::Freeze
        | Op::Phi(_)
        | Op::Alloca { .. }
        | Op::Load(_)
        | Op::Store(_)
        | Op::Fence(_)
        | Op::CmpXchg { .. }
        | Op::AtomicRmw(..)
        | Op::VaArg
        | Op::LandingPad { .. }
        | Op::CleanupPad
        | Op::CatchPad
        | Op::Ret
        | Op::Br(_)
        | Op::CondBr { .. }
        | Op::Switch { .. }
        | Op::IndirectBr(_)
        | Op::CallBr { .. }
        | Op::Resume
        | Op::Unreachable
        | Op::CleanupRet(_)
        | Op::CatchRet(_)
        | Op::CatchSwitch { .. } => Source::Root,
    }
}

fn derive_shadow(module: &Module, s: &Subject<'_>, v: ValueId) -> Source {
    let ValueDef::Inst(i) = s.func.values[v].def else { return Source::Free };
    if let Some(a) = s.shape.affine.get(&v) {
        return Source::Rebuild(vec![Key::Shadow(a.start), Key::Primal(a.step)], cost::ADDRESS);
    }
    let inst = &s.func.insts[i];
    let address = |v: ValueId| if s.has_shadow(v) { Key::Shadow(v) } else { Key::Primal(v) };
    match &inst.op {
        Op::Alloca { .. } if s.is_static_slot(i) && (!s.is_split() || s.has_own_shadow(v)) => Source::Free,
        Op::Gep { .. } => {
            let keys = inst.args.iter().enumerate().map(|(n, a)| if n == 0 { address(*a) } else { Key::Primal(*a) });
            Source::Rebuild(keys.collect(), cost::ADDRESS)
        }
        Op::Cast(CastOp::BitCast | CastOp::AddrSpaceCast | CastOp::PtrToInt | CastOp::IntToPtr) => {
            Source::Rebuild(inst.args.iter().map(|a| address(*a)).collect(), cost::ADDRESS)
        }
        Op::Select => {
            let keys = inst.args.iter().enumerate().map(|(n, a)| if n == 0 { Key::Primal(*a) } else { address(*a) });
            Source::Rebuild(keys.collect(), cost::SIMPLE)
        }
        Op::ExtractValue(_) | Op::InsertValue(_) => {
            Source::Rebuild(inst.args.iter().map(|a| address(*a)).collect(), cost::SIMPLE)
        }
        Op::Load(_) if s.is_stable_load(i) => {
            Source::Rebuild(inst.args.iter().map(|a| address(*a)).collect(), cost::LOAD)
        }
        Op::Phi(_) => match moved_from(module, s, v) {
            Some(base) => Source::Rebuild(vec![Key::Primal(v), Key::Primal(base), Key::Shadow(base)], cost::SIMPLE),
            None => Source::Root,
        },
        _ => Source::Root,
    }
}

/// The pointer from which a phi comes on every way, moved by offsets alone: its shadow is as far from that one's shadow as it is
/// from that one. It is one that no loop makes anew.
pub fn moved_from(module: &Module, s: &Subject<'_>, phi: ValueId) -> Option<ValueId> {
    let ty = s.func.ty(phi);
    let is_phi = s.func.def_inst(phi).is_some_and(|i| matches!(s.func.insts[i].op, Op::Phi(_)));
    if !is_phi || !matches!(module.ctx.types[ty], Type::Ptr(_)) {
        return None;
    }
    let (mut base, mut seen, mut work) = (None, BTreeSet::new(), vec![phi]);
    while let Some(v) = work.pop() {
        if !seen.insert(v) {
            continue;
        }
        if s.func.ty(v) != ty || seen.len() > MOVES {
            return None;
        }
        let inst = s.func.def_inst(v).map(|i| &s.func.insts[i]);
        match inst.map(|i| (&i.op, &i.args)) {
            Some((Op::Gep { .. }, args)) => work.extend(args.first()),
            Some((Op::Phi(_), args)) => work.extend(args.iter()),
            Some((Op::Select, args)) => work.extend(args.iter().skip(1)),
            _ if base.is_none_or(|b| b == v) => base = Some(v),
            _ => return None,
        }
    }
    base.filter(|b| s.has_shadow(*b) && s.scope(Key::Primal(*b)).is_none())
}

/// [`moved_from`], where there are several shadows: their offset takes one register instead of one for each.
pub fn moved_in_lanes(module: &Module, s: &Subject<'_>, phi: ValueId) -> Option<ValueId> {
    if s.key.width > 1 { moved_from(module, s, phi) } else { None }
}

/// Bytes that caching a value of this type takes.
pub fn cached_bytes(module: &Module, ty: enzyme_ir::TypeId) -> u64 {
    match module.ctx.types[ty] {
        Type::Int(1) => 1,
        _ => module.ctx.layout.size_of(&module.ctx.types, ty).unwrap_or(64),
    }
}

/// Whether a constant is the null pointer, undef or poison: its own shadow.
fn is_own_shadow(c: &Const) -> bool {
    matches!(c, Const::Zero(_) | Const::Undef(_) | Const::Poison(_) | Const::Int { .. } | Const::Float { .. })
}

/// Whether a constant, perhaps of several parts, holds no address, so that a shadow of it is what it is.
pub fn holds_no_address(consts: &Consts, c: &Const) -> bool {
    match c {
        Const::Aggregate { elems, .. } => elems.iter().all(|e| holds_no_address(consts, &consts[*e])),
        Const::Data { .. } => true,
        _ => is_own_shadow(c),
    }
}

/// Whether `v` is a number that a library function makes of what it reads, as `strlen` does: where it becomes part of an address it is
/// its own shadow.
pub fn counts(module: &Module, s: &Subject<'_>, v: ValueId) -> bool {
    let call = s.func.def_inst(v).filter(|i| s.func.insts[*i].op.call_info().is_some());
    matches!(module.ctx.types[s.func.ty(v)], Type::Int(_))
        && call.is_some_and(
            |i| matches!(resolve(module, s.func, i), Callee::Known(known) if known.memory() == MemoryEffect::None),
        )
}
