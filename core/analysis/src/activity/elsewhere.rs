//! Active data that is stored in memory without a shadow here, or by a callee, and is read by another callee: one that may itself be
//! given nothing active, as both find the memory by name.
//!
//! Flow-insensitive, as all of activity is of memory: the read may come first. A callee matters if it hands on what it reads: by its result, by
//! floats that it stores in memory of others, or as it is differentiated. Not followed: what it prints.

use std::collections::BTreeSet;

use enzyme_ir::{FuncId, InstId, Op};

use super::{Activity, Conflict, Pass};
use crate::callee::{Callee, MemoryEffect, resolve};
use crate::memory::ClassId;
use crate::program::Program;
use crate::useful::Useful;

impl Pass<'_> {
    /// The conflict that the call `i` is, if it reads what has lost its derivative.
    pub(super) fn read_elsewhere(&self, i: InstId, out: &Activity, useful: &Useful) -> Option<Conflict> {
        let func = self.program.func(self.f);
        let Callee::Defined(g) = resolve(self.program.module, func, i) else { return None };
        if self.dropped.is_empty() || self.program.func(g).attrs.inactive {
            return None;
        }
        let mut classes = self.class_map(i, g).into_iter().filter(|(_, ours)| !self.is_declared_inactive(*ours));
        let (class, store) = classes.find_map(|(theirs, ours)| {
            let store = *self.dropped.get(&ours)?;
            reads(self.program, g, theirs, &mut BTreeSet::new()).then_some((ours, store))
        })?;
        let result = func.insts[i].result.is_some_and(|r| self.carry(r).may() && useful.values[r]);
        let matters = result || out.calls.contains_key(&i) || leaves(self.program, g, &mut BTreeSet::new());
        matters.then_some(Conflict::LostInPinned { class, store, load: i })
    }
}

/// Whether `f` or what it calls reads floats or addresses, or copies bytes, out of its class.
fn reads(program: &Program<'_>, f: FuncId, class: ClassId, seen: &mut BTreeSet<(FuncId, ClassId)>) -> bool {
    if !seen.insert((f, class)) {
        return false;
    }
    let Some(unit) = program.unit(f) else { return false };
    let func = program.func(f);
    let is_class = |v: &_| unit.memory.class_of[*v] == Some(class);
    func.placed().any(|(_, i)| {
        let inst = &func.insts[i];
        match &inst.op {
            Op::Load(_) | Op::AtomicRmw(..) => {
                inst.args.first().is_some_and(is_class)
                    && inst.result.is_some_and(|r| unit.carry[r].may() || unit.memory.class_of[r].is_some())
            }
            Op::Call(_) | Op::Invoke { .. } | Op::CallBr { .. } => match resolve(program.module, func, i) {
                Callee::Defined(g) if !program.func(g).attrs.inactive => {
                    program.class_map(f, i, g).iter().any(|(t, ours)| *ours == class && reads(program, g, *t, seen))
                }
                Callee::Known(known) => match known.memory() {
                    MemoryEffect::Copy { src, .. } => func.call_args(i).get(src).is_some_and(is_class),
                    _ => false,
                },
                Callee::Math(_) => func.call_args(i).iter().any(is_class),
                Callee::Defined(_) | Callee::Unknown(_) => false,
            },
            _ => false,
        }
    })
}

/// Whether `f` or what it calls stores floats, or copies bytes, into memory that its caller sees.
fn leaves(program: &Program<'_>, f: FuncId, seen: &mut BTreeSet<FuncId>) -> bool {
    if !seen.insert(f) {
        return false;
    }
    let Some(unit) = program.unit(f) else { return false };
    let func = program.func(f);
    let is_outer = |v: &_| unit.memory.class_of[*v].is_some_and(|c| unit.outer_classes.contains(&c));
    func.placed().any(|(_, i)| {
        let inst = &func.insts[i];
        match &inst.op {
            Op::Store(_) => {
                let stored = inst.args.first().is_some_and(|v| unit.carry[*v].may());
                stored && inst.args.get(1).is_some_and(is_outer)
            }
            Op::Call(_) | Op::Invoke { .. } | Op::CallBr { .. } => match resolve(program.module, func, i) {
                Callee::Defined(g) => !program.func(g).attrs.inactive && leaves(program, g, seen),
                Callee::Known(known) => match known.memory() {
                    MemoryEffect::Copy { dst, .. } => func.call_args(i).get(dst).is_some_and(is_outer),
                    _ => false,
                },
                Callee::Math(_) => func.call_args(i).iter().any(is_outer),
                Callee::Unknown(_) => false,
            },
            _ => false,
        }
    })
}
