//! What can't be differentiated, found once it is known what is active.

use enzyme_ir::{CastOp, InstId, Op, RmwOp, ValueId};

use super::{Activity, Conflict, Pass, State};
use crate::callee::{Callee, MemoryEffect, resolve};
use crate::carry::Carry;
use crate::memory::{ClassId, Object, leads_nowhere, numbered};

impl Pass<'_> {
    /// Whether nothing is known of the memory of `class` but that integers were made pointers to it.
    fn is_out_of_thin_air(&self, class: ClassId) -> bool {
        let Some(unit) = self.program.unit(self.f) else { return false };
        let objects = &unit.memory.classes[class].objects;
        let func = self.program.func(self.f);
        // Beside null lies no memory: what the last element of an empty array would be is not read.
        let beside_null = |v: ValueId| {
            let number = func.as_const(v).and_then(|c| self.program.module.ctx.consts.as_u64(c));
            number.is_some_and(|n| n.min(n.wrapping_neg()) >> 16 == 0)
        };
        let made = |o: &Object| match o {
            Object::Unknown(f, i) if *f == self.f => {
                let inst = &func.insts[*i];
                matches!(inst.op, Op::Cast(CastOp::IntToPtr)) && !inst.args.iter().any(|v| beside_null(*v))
            }
            _ => false,
        };
        !objects.is_empty() && objects.iter().all(made) && !unit.outer_classes.contains(&class)
    }

    /// Whether `r`, an address read from memory of `class`, has itself for a shadow, as it is read from a variable that has none, while nothing
    /// tests that at run time.
    fn is_its_own_shadow(&self, class: ClassId, r: ValueId, out: &Activity) -> bool {
        let Some(unit) = self.program.unit(self.f) else { return false };
        let objects = &unit.memory.classes[class].objects;
        let is_variable = |o: &Object| {
            matches!(o, Object::Global(g) if !self.program.module.globals[*g].constant) && self.is_pinned_object(o)
        };
        let behind = self.class(r).is_some_and(|c| !out.mixed.contains(&c) && self.state(c) == State::Shadowed);
        behind && !out.is_shadowed(class) && !self.is_declared_inactive(class) && objects.iter().any(is_variable)
    }

    /// Whether memory of this function, in which addresses of active memory have lost their shadows, can be reached from `class`.
    fn leads_to_dropped(&self, class: ClassId) -> bool {
        let lost = |c: &ClassId| self.dropped.contains_key(c) && self.has_own_memory(*c);
        let unit = self.program.unit(self.f).filter(|_| !self.dropped.is_empty());
        unit.is_some_and(|u| u.memory.chain(class).iter().any(lost))
    }

    /// The conflict that `i` is if it reads the memory of `class`, where active data has lost its derivative.
    fn lost_in(&self, class: ClassId, i: InstId) -> Option<Conflict> {
        let store = *self.dropped.get(&class).filter(|_| !self.is_declared_inactive(class))?;
        Some(Conflict::LostInPinned { class, store, load: i })
    }

    /// Whether the program says that no derivative flows through the memory of `class`.
    pub(super) fn is_declared_inactive(&self, class: ClassId) -> bool {
        let declared = |o: &Object| matches!(o, Object::Global(g) if self.program.module.stated.inactive.contains(g));
        self.program.unit(self.f).is_some_and(|u| u.memory.classes[class].objects.iter().any(declared))
    }

    /// Whether `i` takes the bits of floats that depend on an active input, and of these bits, by way of other functions or of memory
    /// of integers, floats are made again: beyond that way nothing is known to be useful.
    fn is_lost_elsewhere(&self, i: InstId) -> bool {
        let Some(unit) = self.program.unit(self.f).filter(|u| u.transfers.lost.contains(&i)) else { return false };
        let func = self.program.func(self.f);
        let args = if unit.memory.calls.contains_key(&i) { func.call_args(i) } else { &func.insts[i].args };
        args.iter().any(|a| self.varied[*a].is_some() || self.class(*a).is_some_and(|c| self.state(c).has_shadow()))
    }

    /// Finds what can't be differentiated.
    pub(super) fn check(&mut self, out: &Activity, useful: &crate::useful::Useful) {
        let func = self.program.func(self.f);
        if let Some(unit) = self.program.unit(self.f) {
            let lost = crate::lanes::lost(self.program, func, unit, out, useful);
            self.conflicts.extend(lost.into_iter().map(Conflict::BitTrick));
        }
        let unsettled = self.program.unit(self.f).is_some_and(|u| u.memory.unsettled);
        if let Some((_, first)) = func.placed().next().filter(|_| unsettled) {
            self.conflicts.push(Conflict::Unsupported(first, "a function whose pointers are too entangled to follow"));
        }
        for (_, i) in func.placed() {
            let inst = &func.insts[i];
            if let Some(r) = inst.result
                && out.is_active(r)
                && self.carry(r) == Carry::Mixed
                && !self.conflicts.iter().any(|c| matches!(c, Conflict::BitTrick(j) if func.insts[*j].loc == inst.loc))
            {
                self.conflicts.push(Conflict::BitTrick(i));
            }
            if self.is_lost_elsewhere(i) {
                self.conflicts.push(Conflict::BitTrick(i));
            }
            match &inst.op {
                Op::Load(_) => {
                    let (Some(r), Some(p)) = (inst.result, inst.args.first()) else { continue };
                    let Some(class) = self.class(*p) else { continue };
                    if self.carry(r).may() && useful.values[r] && self.is_out_of_thin_air(class) {
                        let what = "a read through an address that was computed as an integer";
                        self.conflicts.push(Conflict::Unsupported(i, what));
                    }
                    let address = self.class(r).is_some_and(|c| out.is_shadowed(c));
                    if address && self.is_its_own_shadow(class, r, out) {
                        let what = "an address read from memory without a shadow, which may be that of active memory";
                        self.conflicts.push(Conflict::Unsupported(i, what));
                    }
                    if self.carry(r).may() && useful.values[r] || address {
                        self.conflicts.extend(self.lost_in(class, i));
                    }
                }
                Op::CmpXchg { .. } | Op::AtomicRmw(..) => {
                    let class = inst.args.first().and_then(|p| self.class(*p));
                    if class.is_some_and(|c| out.is_shadowed(c)) && !self.is_followed(i, out) {
                        self.conflicts.push(Conflict::Unsupported(i, "an atomic update of active memory"));
                    }
                    if inst.result.is_some_and(|r| self.carry(r).may() && useful.values[r]) {
                        self.conflicts.extend(class.and_then(|c| self.lost_in(c, i)));
                    }
                }
                // What `&`, `|` and sums make of an address is followed; what `^` or a table makes of one has no shadow.
                Op::Cast(CastOp::IntToPtr) => {
                    let (Some(r), [from]) = (inst.result, inst.args.as_slice()) else { continue };
                    let made = self.program.unit(self.f).is_some_and(|u| !u.addresses[*from]);
                    let marks = func.as_const(*from).is_some() || leads_nowhere(self.program.module, func, *from);
                    // What lies at an address out of thin air may be wanted through another.
                    let is_used = |c| out.is_shadowed(c) || made && self.is_out_of_thin_air(c) && self.is_varied(c);
                    let is_lost = |c| (made && !marks || self.is_relocated(*from, c)) && is_used(c);
                    if self.class(r).is_some_and(is_lost) {
                        self.conflicts
                            .push(Conflict::Unsupported(i, "an address of active memory computed as an integer"));
                    }
                }
                Op::Store(_) => {
                    let [v, p] = inst.args.as_slice() else { continue };
                    if self.class(*p).is_some_and(|c| out.is_shadowed(c)) && self.is_distance_from(*v, *p) {
                        let what = "an address that is kept as the distance from where it lies";
                        self.conflicts.push(Conflict::Unsupported(i, what));
                    } else if self.is_distance_of_objects(*v, |c| out.is_shadowed(c) || self.is_varied(c)) {
                        let what = "an address that is kept as the distance from another object";
                        self.conflicts.push(Conflict::Unsupported(i, what));
                    }
                }
                Op::Gep { .. } => {
                    let class = inst.result.and_then(|r| self.class(r)).filter(|c| out.is_shadowed(*c));
                    let leads_on = |c| inst.args.iter().skip(1).any(|v| self.is_relocated(*v, c));
                    if class.is_some_and(leads_on) {
                        let what = "an address in one object that is computed from that of another";
                        self.conflicts.push(Conflict::Unsupported(i, what));
                    }
                }
                // Where it is read again as an address, its shadow is lost.
                Op::Cast(CastOp::BitCast) => {
                    let [from] = inst.args.as_slice() else { continue };
                    if self.program.module.ctx.types.contains_float(inst.ty)
                        && numbered(func, *from).into_iter().any(|p| self.class(p).is_some_and(|c| out.is_shadowed(c)))
                    {
                        self.conflicts.push(Conflict::Unsupported(i, "an address of active memory taken for a float"));
                    }
                }
                Op::Call(_) | Op::Invoke { .. } | Op::CallBr { .. } => {
                    let args = func.call_args(i);
                    self.conflicts.extend(self.goes_outside(i));
                    let lost = self.program.unit(self.f).is_some_and(|u| u.bits.lost.contains(&i));
                    let given = |a: &ValueId| out.is_active(*a) || self.class(*a).is_some_and(|c| out.is_shadowed(c));
                    if lost && func.call_args(i).iter().any(given) {
                        self.conflicts.push(Conflict::BitTrick(i));
                    }
                    let reads_dropped = func.call_args(i).iter().filter_map(|a| self.class(*a)).find_map(|c| {
                        let chain = self.program.unit(self.f).map(|u| u.memory.chain(c)).unwrap_or_default();
                        chain.into_iter().find_map(|c| Some((c, *self.dropped.get(&c)?)))
                    });
                    if let (Some((class, store)), true) = (reads_dropped, out.calls.contains_key(&i)) {
                        self.conflicts.push(Conflict::LostInPinned { class, store, load: i });
                    }
                    if let Callee::Known(known) = resolve(self.program.module, func, i)
                        && let MemoryEffect::Copy { dst, src, .. } = known.memory()
                        && let (Some(d), Some(s)) = (args.get(dst), args.get(src))
                        && self.class(*d).is_some_and(|c| useful.classes.contains(&c))
                    {
                        self.conflicts.extend(self.class(*s).and_then(|c| self.lost_in(c, i)));
                    }
                    if let Some(lost) = self.read_elsewhere(i, out, useful) {
                        self.conflicts.push(lost);
                    }
                    if let Callee::Unknown(callee) = resolve(self.program.module, func, i) {
                        // What it keeps of a number, another call may give back; what it returns may be no more than whether all went well.
                        let keeps = callee.is_some_and(|g| !self.program.module.funcs[g].attrs.no_write);
                        let active = func.call_args(i).iter().any(|a| {
                            out.is_active(*a)
                                || self.varied[*a].is_some()
                                    && (keeps || inst.result.is_some_and(|r| self.carry(r).may()))
                                || self.class(*a).is_some_and(|c| out.is_shadowed(c) || self.leads_to_dropped(c))
                        });
                        let fallback = self.program.unit(self.f).is_some_and(|u| u.facts.fallbacks.contains(&i));
                        let gives = inst.result.and_then(|r| self.class(r)).is_some_and(|c| out.is_shadowed(c));
                        if fallback && (active || gives) {
                            self.aborts.insert(i);
                        } else if active {
                            let pointer = func.callee(i).is_some_and(|v| func.as_const(v).is_none());
                            self.conflicts.push(match callee {
                                Some(_) => Conflict::UnknownCall(i),
                                None if pointer => Conflict::IndirectCall(i),
                                None => Conflict::Assembly(i),
                            });
                        } else if let Some(callee) = callee {
                            self.conflicts.extend(self.reaches_unseen(i, callee, useful));
                        }
                    }
                    let callee = self.program.module.direct_callee(func, i);
                    if callee.is_some_and(|g| returns_twice(&self.program.module.funcs[g].name)) {
                        self.conflicts.push(Conflict::ReturnsTwice(i));
                    }
                }
                _ => {}
            }
        }
    }
}

impl Pass<'_> {
    /// Whether the derivative of an atomic update of memory with a shadow is known: sums, minima, maxima and exchanges of
    /// floats are, others are if they touch neither floats nor pointers to memory with a shadow.
    fn is_followed(&self, i: InstId, out: &Activity) -> bool {
        let inst = &self.program.func(self.f).insts[i];
        let operands = inst.args.get(1..).unwrap_or(&[]);
        let pointer = |v: &ValueId| self.class(*v).is_some_and(|c| out.is_shadowed(c));
        if operands.iter().any(pointer) {
            return false;
        }
        let carries = operands.iter().chain(&inst.result).any(|v| self.carry(*v).may());
        match &inst.op {
            Op::AtomicRmw(RmwOp::Xchg, _) => carries || !self.may_overwrite_floats(i),
            Op::AtomicRmw(op, _) => !carries || enzyme_rules::rmw_float_op(*op).is_some(),
            _ => !carries,
        }
    }

    /// Whether an integer that `i` exchanges may lie on the bytes of a float.
    fn may_overwrite_floats(&self, i: InstId) -> bool {
        let func = self.program.func(self.f);
        let (Some(unit), Some(p)) = (self.program.unit(self.f), func.insts[i].args.first()) else { return true };
        let ctx = &self.program.module.ctx;
        let bytes = unit.memory.bytes_at(*p, ctx.layout.store_size(&ctx.types, func.insts[i].ty));
        bytes.clash || bytes.has_floats()
    }
}

/// Functions that may return more than once: what they restore, no derivative can follow.
fn returns_twice(name: &str) -> bool {
    ["setjmp", "_setjmp", "__setjmp", "sigsetjmp", "__sigsetjmp", "savectx", "getcontext", "vfork"].contains(&name)
}
