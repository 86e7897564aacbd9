//! Active data in exception objects.
//!
//! The memory of an exception object has no shadow: so what is thrown active is lost where it is caught. Within one
//! function nothing joins the two; the engine refuses a request in which one function throws active data and one, the
//! same or another, computes with what it caught. What leaves the derivative is the caller's.

use std::collections::BTreeSet;

use enzyme_ir::{Func, InstId, Op, ValueId};

use crate::callee::{Callee, MemoryEffect, resolve};
use crate::memory::ClassId;
use crate::program::{Program, Unit};

const MAKES: &[&str] = &["__cxa_allocate_exception"];
const CATCHES: &[&str] = &["__cxa_begin_catch", "__cxa_get_exception_ptr"];

/// Classes of what the named functions return, and of what it points to.
fn classes(program: &Program<'_>, func: &Func, unit: &Unit, names: &[&str]) -> BTreeSet<ClassId> {
    let mut out = BTreeSet::new();
    for (_, i) in func.placed() {
        let target = program.module.direct_callee(func, i).map(|f| program.module.funcs[f].name.as_str());
        if let (Some(r), true) = (func.insts[i].result, target.is_some_and(|n| names.contains(&n)))
            && let Some(c) = unit.memory.class_of[r]
        {
            out.extend(unit.memory.chain(c));
        }
    }
    out
}

/// The first instruction that puts into an exception object what is `active`: a float, or a pointer to active memory.
pub fn thrown(
    program: &Program<'_>,
    func: &Func,
    unit: &Unit,
    active: &dyn Fn(ValueId) -> bool,
    differentiated: &dyn Fn(InstId) -> bool,
) -> Option<InstId> {
    accessed(program, func, unit, &classes(program, func, unit, MAKES), &|i| match &func.insts[i].op {
        Op::Store(_) => func.insts[i].args.first().is_some_and(|v| active(*v)),
        Op::Load(_) => false,
        _ => differentiated(i) || func.call_args(i).iter().any(|a| active(*a)),
    })
}

/// The first instruction that computes with the content of an exception object.
pub fn caught(
    program: &Program<'_>,
    func: &Func,
    unit: &Unit,
    useful: &dyn Fn(ValueId) -> bool,
    differentiated: &dyn Fn(InstId) -> bool,
) -> Option<InstId> {
    accessed(program, func, unit, &classes(program, func, unit, CATCHES), &|i| match &func.insts[i].op {
        Op::Store(_) => func.insts[i].args.first().is_some_and(|v| unit.carry[*v].may()),
        Op::Load(_) => func.insts[i].result.is_some_and(|r| unit.carry[r].may() && useful(r)),
        _ => match resolve(program.module, func, i) {
            Callee::Known(k) => matches!(k.memory(), MemoryEffect::Copy { .. } | MemoryEffect::Set { .. }),
            Callee::Math(_) => true,
            Callee::Defined(_) | Callee::Unknown(_) => differentiated(i),
        },
    })
}

/// The first access to memory of `classes` of which `counts` says yes.
fn accessed(
    program: &Program<'_>,
    func: &Func,
    unit: &Unit,
    classes: &BTreeSet<ClassId>,
    counts: &dyn Fn(InstId) -> bool,
) -> Option<InstId> {
    if classes.is_empty() {
        return None;
    }
    let within = |v: &ValueId| unit.memory.class_of[*v].is_some_and(|c| classes.contains(&c));
    let names: Vec<&str> = MAKES.iter().chain(CATCHES).copied().collect();
    func.placed().map(|e| e.1).find(|i| {
        let inst = &func.insts[*i];
        match &inst.op {
            Op::Load(_) => inst.args.first().is_some_and(within) && counts(*i),
            Op::Store(_) => inst.args.get(1).is_some_and(within) && counts(*i),
            Op::Call(_) | Op::Invoke { .. } => {
                let target = program.module.direct_callee(func, *i).map(|f| program.module.funcs[f].name.as_str());
                !target.is_some_and(|n| names.contains(&n)) && func.call_args(*i).iter().any(within) && counts(*i)
            }
            _ => false,
        }
    })
}
