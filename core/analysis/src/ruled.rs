//! Activity of functions for which the program gives derivatives: nothing is known of what they do, so that all floats and all
//! memory that they are given, and all that they return, is taken to be active as soon as anything is.
//!
//! Memory that the call declares constant stays so.
//!
//! Not so products of matrices: their model says what they compute.

use std::collections::BTreeSet;

use enzyme_ir::{FuncId, InstId, Module, Op, Type, ValueId};

use crate::activity::{Activity, Context, Reason, State};
use crate::memory::{ClassId, Object};
use crate::program::{Program, Unit};

/// Whether nothing is known of what `f` does but that it has a rule.
pub(crate) fn is_opaque(module: &Module, f: FuncId) -> bool {
    module.stated.rules.get(&f).is_some_and(|rule| !rule.product)
}

/// Whether the call `i` in `f`, in which a rule is given memory of `class`, may hand back an address of memory that the rule has made, as its result or
/// in memory that it is given, though all that is known of `class` is that addresses which are numbers lead there: these are their own shadows, the rule's is
/// not.
pub(crate) fn may_hand_back(program: &Program<'_>, f: FuncId, i: InstId, class: ClassId) -> bool {
    let Some(unit) = program.unit(f) else { return false };
    let is_number = |o: &Object| matches!(o, Object::Global(g) if program.module.globals[*g].is_memory_of_numbers());
    if !unit.memory.classes[class].objects.iter().any(is_number) {
        return false;
    }
    let func = program.func(f);
    let of = |v: &ValueId| unit.memory.class_of[*v];
    let reached: BTreeSet<ClassId> =
        func.call_args(i).iter().filter_map(of).flat_map(|c| unit.memory.chain(c)).collect();
    let reads = |j: InstId| {
        let inst = &func.insts[j];
        matches!(inst.op, Op::Load(_)) && inst.args.first().and_then(of).is_some_and(|c| reached.contains(&c))
    };
    func.placed().any(|(_, j)| (j == i || reads(j)) && func.insts[j].result.as_ref().and_then(of) == Some(class))
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
