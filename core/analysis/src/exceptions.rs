//! Active data in exception objects.
//!
//! The memory of an exception object has no shadow: so what is thrown active is lost where it is caught. Within one
//! function nothing joins the two; the engine refuses a request in which one function throws active data and one, the
//! same or another, computes with what it caught. What leaves the derivative is the caller's.
//!
//! Julia's objects are thrown by functions without derivative. So floats of what is caught there are refused ([`read`]),
//! wherever they come from, and so is all that may lead to such a float out of sight.

use std::collections::{BTreeMap, BTreeSet};

use enzyme_ir::{Func, FuncId, InstId, Op, ValueId};

use crate::callee::{Callee, MemoryEffect, resolve};
use crate::memory::ClassId;
use crate::program::{Program, Unit, callees};

const MAKES: &[&str] = &["__cxa_allocate_exception"];
const CATCHES: &[&str] = &["__cxa_begin_catch", "__cxa_get_exception_ptr"];

/// Functions of Julia's run-time system that return what was caught.
const HOLDS: &[&str] = &["jl_current_exception"];

/// Classes of what the named functions return, of what it points to, and of what is reached from there by steps within it: fields of
/// one object may have classes of their own.
fn classes(program: &Program<'_>, func: &Func, unit: &Unit, names: &[&str]) -> BTreeSet<ClassId> {
    let mut out = BTreeSet::new();
    let mut within = BTreeSet::new();
    loop {
        let before = within.len();
        for (_, i) in func.placed() {
            let inst = &func.insts[i];
            let Some(r) = inst.result.filter(|r| !within.contains(r)) else { continue };
            let is_within = match &inst.op {
                Op::Gep { .. } | Op::Cast(_) | Op::Freeze | Op::Phi(_) | Op::Select => {
                    inst.args.iter().any(|v| within.contains(v))
                }
                Op::Call(_) | Op::Invoke { .. } => {
                    let target = program.module.direct_callee(func, i).map(|f| program.module.funcs[f].name.as_str());
                    target.is_some_and(|n| names.contains(&n))
                }
                _ => false,
            };
            if is_within {
                within.insert(r);
            }
        }
        if within.len() == before {
            break;
        }
    }
    for class in within.iter().filter_map(|v| unit.memory.class_of[*v]) {
        out.extend(unit.memory.chain(class));
    }
    out
}

/// The first instruction that puts into an exception object what is `active`: a float, or a pointer to active memory; or that calls, for
/// nothing else that would be differentiated, a function which throws floats.
pub fn thrown(
    program: &Program<'_>,
    func: &Func,
    unit: &Unit,
    active: &dyn Fn(ValueId) -> bool,
    differentiated: &dyn Fn(InstId) -> bool,
) -> Option<InstId> {
    let here = accessed(program, func, unit, &classes(program, func, unit, MAKES), &|i| match &func.insts[i].op {
        Op::Store(_) => func.insts[i].args.first().is_some_and(|v| active(*v)),
        Op::Load(_) => false,
        _ => differentiated(i) || func.call_args(i).iter().any(|a| active(*a)),
    });
    here.or_else(|| {
        func.placed().map(|e| e.1).find(|i| {
            let throws =
                || matches!(resolve(program.module, func, *i), Callee::Defined(g) if program.units.throws_floats(g));
            !differentiated(*i) && func.call_args(*i).iter().any(|a| active(*a)) && throws()
        })
    })
}

/// Functions that may put floats into an exception object, and those that call such.
pub(crate) fn throwing(program: &Program<'_>) -> BTreeSet<FuncId> {
    let mut callers: BTreeMap<FuncId, Vec<FuncId>> = BTreeMap::new();
    let mut work = Vec::new();
    for f in program.units.functions() {
        let (func, Some(unit)) = (program.func(f), program.unit(f)) else { continue };
        for g in callees(program.module, func) {
            callers.entry(g).or_default().push(f);
        }
        let made = classes(program, func, unit, MAKES);
        let puts = accessed(program, func, unit, &made, &|i| match &func.insts[i].op {
            Op::Store(_) => func.insts[i].args.first().is_some_and(|v| unit.carry[*v].may()),
            Op::Load(_) => false,
            _ => match resolve(program.module, func, i) {
                Callee::Known(k) => matches!(k.memory(), MemoryEffect::Copy { .. }),
                Callee::Math(_) | Callee::Defined(_) | Callee::Unknown(_) => true,
            },
        });
        if puts.is_some() {
            work.push(f);
        }
    }
    let mut out = BTreeSet::new();
    while let Some(f) = work.pop() {
        if out.insert(f) {
            work.extend(callers.get(&f).into_iter().flatten());
        }
    }
    out
}

/// The first instruction that computes with the content of an exception object.
pub fn caught(
    program: &Program<'_>,
    func: &Func,
    unit: &Unit,
    (active, useful): (&dyn Fn(ValueId) -> bool, &dyn Fn(ValueId) -> bool),
    differentiated: &dyn Fn(InstId) -> bool,
) -> Option<InstId> {
    let gives = |i: InstId| func.insts[i].result.is_some_and(|r| unit.carry[r].may() && useful(r));
    let held = classes(program, func, unit, CATCHES);
    let beside = |a: &ValueId| active(*a) && !unit.memory.class_of[*a].is_some_and(|c| held.contains(&c));
    accessed(program, func, unit, &held, &|i| match &func.insts[i].op {
        Op::Store(_) => func.insts[i].args.first().is_some_and(|v| unit.carry[*v].may()),
        Op::Load(_) => gives(i),
        _ => match resolve(program.module, func, i) {
            Callee::Known(k) => matches!(k.memory(), MemoryEffect::Copy { .. } | MemoryEffect::Set { .. }),
            Callee::Math(_) => true,
            Callee::Defined(_) | Callee::Unknown(_) => {
                differentiated(i) || gives(i) || func.call_args(i).iter().any(beside)
            }
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

/// Exceptions of Julia's in a function: values that are one, or lead into one, and memory that holds such.
#[derive(Default)]
struct Held {
    values: BTreeSet<ValueId>,
    classes: BTreeSet<ClassId>,
}

/// What the address is of, as far as steps within it go.
fn base(func: &Func, mut v: ValueId) -> ValueId {
    while let Some(i) = func.def_inst(v)
        && matches!(func.insts[i].op, Op::Gep { .. } | Op::Cast(_) | Op::Freeze)
        && let Some(from) = func.insts[i].args.first()
    {
        v = *from;
    }
    v
}

/// Whether the memory is the function's own: a slot, or what a call has just made.
fn is_own(func: &Func, v: ValueId) -> bool {
    let made = |i: InstId| matches!(func.insts[i].op, Op::Alloca { .. } | Op::Call(_) | Op::Invoke { .. });
    func.def_inst(base(func, v)).is_some_and(made)
}

fn held(program: &Program<'_>, func: &Func, unit: &Unit) -> Held {
    let mut out = Held { classes: classes(program, func, unit, HOLDS), ..Held::default() };
    let class = |v: &ValueId| unit.memory.class_of[*v];
    loop {
        let before = (out.values.len(), out.classes.len());
        for (_, i) in func.placed() {
            let inst = &func.insts[i];
            let known = |v: &ValueId| out.values.contains(v) || class(v).is_some_and(|c| out.classes.contains(&c));
            match &inst.op {
                Op::Store(_) => {
                    if let (true, Some(to)) = (inst.args.first().is_some_and(known), inst.args.get(1)) {
                        out.classes.extend(class(to));
                        out.values.insert(base(func, *to));
                    }
                }
                Op::Call(_) | Op::Invoke { .. } => {
                    let target = program.module.direct_callee(func, i).map(|f| program.module.funcs[f].name.as_str());
                    if target.is_some_and(|n| HOLDS.contains(&n)) {
                        out.values.extend(inst.result);
                    }
                }
                Op::ICmp(_) | Op::FCmp(_) => {}
                _ => {
                    let is_pointer = program.module.ctx.types.contains_pointer(inst.ty);
                    if is_pointer && inst.args.iter().any(known) {
                        out.values.extend(inst.result);
                    }
                }
            }
        }
        if before == (out.values.len(), out.classes.len()) {
            return out;
        }
    }
}

/// The first instruction that takes a float, or something that may lead to one, out of an exception of Julia's.
pub fn read(program: &Program<'_>, func: &Func, unit: &Unit, useful: &dyn Fn(ValueId) -> bool) -> Option<InstId> {
    let held = held(program, func, unit);
    if held.values.is_empty() {
        return None;
    }
    let class = |v: &ValueId| unit.memory.class_of[*v];
    let chain = |v: &ValueId| class(v).map(|c| unit.memory.chain(c)).unwrap_or_default();
    let is_held = |v: &ValueId| held.values.contains(v);
    let leads_there = |v: &ValueId| is_held(v) || chain(v).iter().any(|c| held.classes.contains(c));
    let has_floats = |v: &ValueId| chain(v).iter().any(|c| !unit.memory.classes[*c].floats().is_empty());
    func.placed().map(|e| e.1).find(|i| {
        let inst = &func.insts[*i];
        let takes_float = inst.result.is_some_and(|r| unit.carry[r].may() && useful(r));
        match &inst.op {
            Op::Load(_) => takes_float && inst.args.iter().any(leads_there),
            // The exception goes where others look for it.
            Op::Store(_) => {
                inst.args.first().is_some_and(is_held) && inst.args.get(1).is_some_and(|p| !is_own(func, *p))
            }
            Op::Ret => inst.args.iter().any(leads_there),
            Op::Call(_) | Op::Invoke { .. } => {
                let target = program.module.direct_callee(func, *i);
                let inactive = target.is_some_and(|f| program.module.funcs[f].attrs.inactive);
                let ruled = target.is_some_and(|f| program.module.stated.rules.contains_key(&f));
                let args = func.call_args(*i);
                if let Callee::Known(k) = resolve(program.module, func, *i)
                    && !matches!(k.memory(), MemoryEffect::Copy { .. } | MemoryEffect::Set { .. })
                {
                    return false;
                }
                let leads = takes_float || ruled || inst.result.iter().chain(args).any(has_floats);
                !inactive && leads && args.iter().any(leads_there)
            }
            _ => false,
        }
    })
}
