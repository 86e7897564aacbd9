//! Activity of functions for which the program gives derivatives: nothing is known of what they do, so that all floats and all
//! memory that they are given, and all that they return, is taken to be active as soon as anything is.
//!
//! Memory that the call declares constant stays so.
//!
//! Not so products of matrices: their model says what they compute.

use enzyme_ir::{FuncId, Module, Type};

use crate::activity::{Activity, Context, Reason, State};
use crate::program::{Program, Unit};

/// Whether nothing is known of what `f` does but that it has a rule.
pub(crate) fn is_opaque(module: &Module, f: FuncId) -> bool {
    module.stated.rules.get(&f).is_some_and(|rule| !rule.product)
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
