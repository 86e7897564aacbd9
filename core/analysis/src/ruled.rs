//! Activity of functions for which the program gives derivatives: nothing is known of what they do, so that all floats and all
//! memory that they are given, and all that they return, is taken to be active as soon as anything is.
//!
//! Memory that the call declares constant stays so.
//!
//! Not so products of matrices: their model says what they compute.

use std::collections::BTreeSet;

use enzyme_ir::{FuncId, InstId, Module, Op, Type, ValueId};

use crate::activity::{Activity, Context, Reason, State};
use crate::callee::{Callee, resolve};
use crate::memory::{ClassId, Object};
use crate::program::{Program, Unit};

/// Whether nothing is known of what `f` does but that it has a rule.
pub(crate) fn is_opaque(module: &Module, f: FuncId) -> bool {
    module.stated.rules.get(&f).is_some_and(|rule| !rule.product)
}

/// Classes of which all that is known is that addresses which are numbers lead there, and that a call in `f` may hand back, as its result or in memory that it
/// is given: a rule may have made that memory, or handed on what it was given. Numbers are their own shadows, such addresses are not.
pub(crate) fn handed_back(program: &Program<'_>, f: FuncId) -> BTreeSet<ClassId> {
    let module = program.module;
    let Some(unit) = program.unit(f).filter(|_| module.stated.rules.values().any(|rule| !rule.product)) else {
        return BTreeSet::new();
    };
    let is_number = |o: &Object| matches!(o, Object::Global(g) if module.globals[*g].is_memory_of_numbers());
    let numbers: BTreeSet<ClassId> =
        unit.memory.classes.iter().filter(|(_, class)| class.objects.iter().any(is_number)).map(|(id, _)| id).collect();
    if numbers.is_empty() {
        return numbers;
    }
    let func = program.func(f);
    let of = |v: &ValueId| unit.memory.class_of[*v];
    let is_call = |i: InstId| matches!(resolve(module, func, i), Callee::Defined(_));
    let calls: BTreeSet<InstId> =
        func.placed().map(|(_, i)| i).filter(|i| func.insts[*i].op.call_info().is_some() && is_call(*i)).collect();
    let reached: BTreeSet<ClassId> = calls
        .iter()
        .flat_map(|i| func.call_args(*i).iter().filter_map(of))
        .flat_map(|class| unit.memory.chain(class))
        .collect();
    let reads = |i: InstId| {
        let inst = &func.insts[i];
        matches!(inst.op, Op::Load(_)) && inst.args.first().and_then(of).is_some_and(|c| reached.contains(&c))
    };
    func.placed()
        .filter(|(_, i)| calls.contains(i) || reads(*i))
        .filter_map(|(_, i)| func.insts[i].result.as_ref().and_then(of))
        .filter(|class| numbers.contains(class))
        .collect()
}

/// The activity of `f`, which has a rule, in `ctx`.
pub(crate) fn analyze(program: &Program<'_>, f: FuncId, unit: &Unit, ctx: &Context) -> Activity {
    let func = program.func(f);
    let types = &program.module.ctx.types;
    let mut out = Activity::default();
    out.states.clone_from(&ctx.classes);
    for (p, active) in func.params.iter().zip(&ctx.scalars) {
        out.active[*p] = active.then_some(Reason::Given);
    }
    for class in &unit.outer_classes {
        if unit.memory.is_code(*class) {
            out.states.insert(*class, State::Pinned);
            continue;
        }
        let state = out.states.entry(*class).or_default();
        if *state == State::Free {
            *state = State::Shadowed;
        }
        if state.has_shadow() {
            out.shadowed.insert(*class, Reason::Given);
        }
        if *state == State::Mixed {
            out.mixed.insert(*class);
        }
    }
    out.ret = match &types[func.sig] {
        Type::Func { ret, .. } => types.contains_float(*ret),
        _ => false,
    };
    out
}
