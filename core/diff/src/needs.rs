//! What the reverse sweep needs to know, read off the rules: one entry per instruction that has an adjoint.

use std::collections::BTreeSet;

use enzyme_analysis::callee::MemoryEffect;
use enzyme_analysis::{Callee, Carry, resolve};
use enzyme_ir::{CastOp, InstId, Module, Op, ValueId};
use enzyme_rules::{Needs, Operand, Place, Rule};

use crate::copies::{Bytes, Overwritten, hiding_bytes, overwritten, taken_for_integer, writes_beside_floats};
use crate::keys::{Key, Subject};
use crate::owned::Replaced;
use crate::passed::Passed;
use crate::refusal::{Refusal, RefusalKind};
use crate::shape::{Merge, Trip};
use crate::vanishing::Products;

const CONTENDED: &str = "a float in the place of a pointer, in memory of the caller";

/// All keys that the reverse sweep reads directly.
pub fn collect(module: &Module, s: &Subject<'_>, passed: &Passed) -> Result<BTreeSet<Key>, Refusal> {
    let mut out = Collector { module, s, products: Products::new(module, s), needed: BTreeSet::new() };
    for b in s.shape.live_blocks() {
        for i in s.shape.insts(s.func, b) {
            out.instruction(i)?;
        }
        if passed.back.contains_key(&b) || !passed.turned.contains(&b) {
            continue;
        }
        match s.shape.merges.get(&b) {
            Some(Merge::Decided { decider, .. }) => {
                if let Some(cond) = s.func.terminator(*decider).and_then(|t| s.func.insts[t].args.first().copied()) {
                    out.primal(cond);
                }
            }
            Some(Merge::Recorded(_)) => drop(out.needed.insert(Key::Entered(b))),
            Some(Merge::Single(_)) | None => {}
        }
    }
    for (l, trip) in s.shape.trips.iter().filter(|(l, _)| passed.turns(s, **l)) {
        match trip {
            Trip::Known(v) => out.primal(*v),
            Trip::Counted => drop(out.needed.insert(Key::Count(*l))),
        }
    }
    Ok(out.needed)
}

struct Collector<'a> {
    module: &'a Module,
    s: &'a Subject<'a>,
    products: Products,
    needed: BTreeSet<Key>,
}

/// Which operands of an instruction or call are active floats.
pub fn active_operands(s: &Subject<'_>, args: &[ValueId]) -> Vec<bool> {
    args.iter().map(|a| s.is_active(*a)).collect()
}

/// What the adjoints of the active operands read, given which outputs have an adjoint.
pub fn rule_needs(rule: &Rule, active: &[bool], live_output: &dyn Fn(Place) -> bool) -> Needs {
    let outputs = rule.outputs.iter().filter(|o| live_output(o.place));
    outputs.fold(Needs::default(), |n, o| n.union(o.needs(active)))
}

impl Collector<'_> {
    fn primal(&mut self, v: ValueId) {
        if self.s.func.as_const(v).is_none() {
            self.needed.insert(Key::Primal(v));
        }
    }

    fn shadow(&mut self, v: ValueId) {
        if self.s.func.as_const(v).is_none() {
            self.needed.insert(Key::Shadow(v));
        }
        if self.s.is_mixed(v) {
            self.primal(v);
        }
    }

    fn rule(&mut self, rule: &Rule, args: &[ValueId], result: Option<ValueId>) {
        let active = active_operands(self.s, args);
        let result_active = result.is_some_and(|r| self.s.is_active(r));
        let needs = rule_needs(rule, &active, &|place| match place {
            Place::Return | Place::ReturnField(_) => result_active,
            Place::Pointee(n) => args.get(n as usize).is_some_and(|p| self.s.has_shadow(*p)),
        });
        for (n, a) in args.iter().enumerate() {
            if needs.arg(n) {
                self.primal(*a);
            }
            if rule.operands.get(n) == Some(&Operand::OutPtr) && self.s.has_shadow(*a) {
                self.shadow(*a);
            }
        }
        if needs.results != 0
            && let Some(r) = result
        {
            self.primal(r);
        }
        if let Some(way) = result.and_then(|r| self.products.ways.get(&r)).copied()
            && args.iter().zip(&active).any(|(a, active)| *active && *a != way.toward)
        {
            self.primal(way.cond);
        }
    }

    /// Floats that `i` puts where pointers of the caller may lie are refused.
    fn check_places(&self, i: InstId) -> Result<(), Refusal> {
        let contended = |(p, len): &(ValueId, u64)| {
            self.s.has_shadow(*p) && crate::owned::replaces_pointer(self.s, *p, *len) == Replaced::Contended
        };
        match crate::owned::float_places(self.module, self.s, i).iter().any(contended) {
            true => self.refuse(i, CONTENDED),
            false => Ok(()),
        }
    }

    fn refuse(&self, i: InstId, what: &str) -> Result<(), Refusal> {
        Err(Refusal::new(RefusalKind::Operation(what.to_owned())).at(i))
    }

    /// Whether the integer that `i` copies is checked where it is read, or is merged of such.
    fn is_checked(&self, i: InstId) -> bool {
        let inst = &self.s.func.insts[i];
        match (&inst.op, inst.result, inst.args.first()) {
            (Op::Load(_), Some(r), Some(p)) => taken_for_integer(self.s, r, *p),
            (Op::Phi(_) | Op::Freeze | Op::Select, ..) => true,
            _ => false,
        }
    }

    fn instruction(&mut self, i: InstId) -> Result<(), Refusal> {
        let s = self.s;
        let inst = &s.func.insts[i];
        let args = inst.args.as_slice();
        let active = inst.result.is_some_and(|r| s.is_active(r));
        let carry = |v: ValueId| s.unit.carry[v];
        if let Some(r) = inst.result.filter(|_| active) {
            match carry(r) {
                Carry::Unknown if self.is_checked(i) => {}
                Carry::Unknown => {
                    return Err(Refusal::new(RefusalKind::UnknownType("an integer copied from active memory")).at(i));
                }
                Carry::Mixed => return self.refuse(i, "integer arithmetic on the bits of active floats"),
                Carry::None | Carry::Native | Carry::Bits(..) | Carry::Word => {}
            }
        }
        match &inst.op {
            Op::FNeg | Op::Binary(_) | Op::Cast(CastOp::FPTrunc | CastOp::FPExt) => {
                if active {
                    match enzyme_rules::lookup_inst(&inst.op) {
                        Some(rule) => self.rule(rule, args, inst.result),
                        None => return self.refuse(i, "this arithmetic"),
                    }
                }
            }
            Op::Load(_) => {
                if active && !s.is_idle_load(i) {
                    self.shadow(args[0]);
                }
            }
            Op::Store(_) => {
                let (Some(v), Some(p)) = (args.first(), args.get(1)) else { return Ok(()) };
                if s.has_shadow(*p) && carry(*v) != Carry::None {
                    let unknown = carry(*v) == Carry::Unknown && s.func.as_const(*v).is_none();
                    if unknown && !taken_for_integer(s, *v, *p) {
                        return Err(
                            Refusal::new(RefusalKind::UnknownType("an integer stored among active floats")).at(i)
                        );
                    }
                    self.check_places(i)?;
                    self.shadow(*p);
                } else if s.has_shadow(*p) {
                    // What is no float may overwrite one.
                    let ctx = &self.module.ctx;
                    let len = ctx.layout.store_size(&ctx.types, s.func.ty(*v)).unwrap_or(0);
                    if hiding_bytes(self.module, s, *v, *p).is_some() || s.unit.reworked.contains_key(&i) {
                        self.shadow(*p);
                    }
                    match overwritten(s, *v, *p, len) {
                        Overwritten::Nothing | Overwritten::Digits => {}
                        Overwritten::Floats(_) | Overwritten::Bytes => self.shadow(*p),
                    }
                }
            }
            Op::Select => match inst.result.filter(|_| active) {
                Some(r) if s.shape.running.contains_key(&r) => drop(self.needed.insert(Key::Latest(r))),
                Some(_) => self.primal(args[0]),
                None => {}
            },
            Op::ExtractElement => {
                if active {
                    self.primal(args[1]);
                }
            }
            Op::InsertElement => {
                if active {
                    self.primal(args[2]);
                }
            }
            Op::ShuffleVector(_) => {
                if active && is_scalable(self.module, inst.ty) {
                    return self.refuse(i, "a shuffle of a vector of unknown length");
                }
            }
            Op::Call(_) | Op::Invoke { .. } => self.call(i)?,
            Op::Alloca { .. } => {
                let Some(r) = inst.result else { return Ok(()) };
                if !s.is_static_slot(i) && s.has_shadow(r) {
                    self.shadow(r);
                }
            }
            Op::Phi(_)
            | Op::Freeze
            | Op::Cast(_)
            | Op::ICmp(_)
            | Op::FCmp(_)
            | Op::Gep { .. }
            | Op::ExtractValue(_)
            | Op::InsertValue(_)
            | Op::Ret
            | Op::Br(_)
            | Op::CondBr { .. }
            | Op::Switch { .. }
            | Op::LandingPad { .. }
            | Op::Fence(_)
            | Op::Unreachable => {}
            Op::AtomicRmw(op, _) if crate::reverse::memory::has_derivative(*op) => {
                let (Some(p), Some(v)) = (args.first(), args.get(1)) else { return Ok(()) };
                let carries = carry(*v).may() || inst.result.is_some_and(|r| carry(r).may());
                if s.has_shadow(*p) && carries {
                    self.shadow(*p);
                    if crate::reverse::memory::choice_of(*op).is_some() {
                        inst.result.into_iter().chain([*v]).for_each(|x| self.primal(x));
                    }
                }
            }
            Op::CmpXchg { .. } | Op::AtomicRmw(..) => {
                if active
                    || args.first().is_some_and(|p| s.has_shadow(*p) && inst.result.is_some_and(|r| carry(r).may()))
                {
                    return self.refuse(i, "an atomic update of active memory");
                }
            }
            Op::VaArg
            | Op::CleanupPad
            | Op::CatchPad
            | Op::IndirectBr(_)
            | Op::CallBr { .. }
            | Op::Resume
            | Op::CleanupRet(_)
            | Op::CatchRet(_)
            | Op::CatchSwitch { .. } => return self.refuse(i, "this instruction"),
        }
        Ok(())
    }

    fn call(&mut self, i: InstId) -> Result<(), Refusal> {
        let s = self.s;
        let result = s.func.insts[i].result;
        let args = s.func.call_args(i);
        match resolve(self.module, s.func, i) {
            Callee::Math(math) => {
                for (n, o) in math.rule.outputs.iter().enumerate() {
                    let reads_pointee = matches!(o.place, Place::Pointee(_))
                        && math.rule.outputs.iter().any(|x| x.needs(&active_operands(s, args)).result(n));
                    if reads_pointee && args.iter().any(|a| s.is_active(*a)) {
                        return self.refuse(i, "a function whose derivative reads what it wrote to memory");
                    }
                }
                self.check_places(i)?;
                self.rule(math.rule, args, result);
            }
            Callee::Known(known) => match known.memory() {
                MemoryEffect::Copy { dst, src, len, .. } => {
                    let (Some(d), Some(c)) = (args.get(dst), args.get(src)) else { return Ok(()) };
                    if let (true, Some(n)) = (s.has_shadow(*d), args.get(len)) {
                        let bytes = crate::copies::classify(self.module, s, i, &[*d, *c], *n)?;
                        let fixed = s.func.as_const(*n).and_then(|c| self.module.ctx.consts.as_u64(c));
                        let floats = match bytes {
                            Bytes::Floats(_) => fixed,
                            Bytes::Words => Some(fixed.unwrap_or(1 << 40)),
                            _ => None,
                        };
                        if floats.is_some_and(|n| crate::owned::replaces_pointer(s, *d, n) == Replaced::Contended) {
                            return self.refuse(i, CONTENDED);
                        }
                        self.shadow(*d);
                        if s.has_shadow(*c) {
                            self.shadow(*c);
                        }
                        args.get(len).into_iter().for_each(|n| self.primal(*n));
                    }
                }
                MemoryEffect::Set { dst, len, .. } => {
                    let Some(d) = args.get(dst) else { return Ok(()) };
                    if s.has_shadow(*d) {
                        self.shadow(*d);
                        args.get(len).into_iter().for_each(|n| self.primal(*n));
                    }
                }
                MemoryEffect::Alloc { .. } => {}
                MemoryEffect::Realloc { ptr, size, count } => {
                    let (Some(p), Some(r)) = (args.get(ptr), result.filter(|r| s.has_shadow(*r))) else {
                        return Ok(());
                    };
                    crate::copies::classify_moved(s, i, &[r, *p])?;
                    self.shadow(*p);
                    self.shadow(r);
                    let sizes = [Some(size), count].into_iter().flatten().filter_map(|n| args.get(n));
                    sizes.for_each(|n| self.primal(*n));
                }
                MemoryEffect::AllocInto { place, .. } => {
                    if args.get(place).is_some_and(|p| s.is_mixed(*p)) {
                        return self.refuse(i, "an allocation stored in memory that may be constant");
                    }
                }
                MemoryEffect::Free { .. } | MemoryEffect::None => {}
                MemoryEffect::LifetimeStart { ptr } => {
                    // The shadow of a slot that is born again in each iteration starts from zero each time.
                    let slot = args.get(ptr).copied().filter(|p| s.has_shadow(*p));
                    slot.into_iter().for_each(|p| self.shadow(p));
                }
                MemoryEffect::Unsupported(what) => {
                    let shadowed = args.iter().any(|a| s.has_shadow(*a)) || result.is_some_and(|r| s.has_shadow(r));
                    if shadowed && !writes_beside_floats(self.module, s, i, &known) {
                        return self.refuse(i, what);
                    }
                }
            },
            Callee::Defined(_) => {
                if s.activity.calls.contains_key(&i) && !crate::reverse::samples::is_sample(self.module, s, i) {
                    self.needed.insert(Key::Tape(i));
                    for a in args {
                        self.primal(*a);
                        if s.has_shadow(*a) {
                            self.shadow(*a);
                        }
                    }
                }
            }
            Callee::Unknown(_) => {}
        }
        Ok(())
    }
}

fn is_scalable(module: &Module, ty: enzyme_ir::TypeId) -> bool {
    matches!(module.ctx.types[ty], enzyme_ir::Type::Vector { scalable: true, .. })
}
