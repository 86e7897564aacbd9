//! Exceptions: which calls may throw, and what is lost when they do.
//!
//! A function that is left by an exception leaves no tape. So what it did to memory with a shadow before it threw can't
//! be reversed, should the exception be caught inside of the derivative: [`loses`] finds functions that may do so. One
//! that checks its arguments before it writes does not.
//!
//! Out of memory in `operator new` does not count as a throw here: what leaks then does not matter.

use std::collections::BTreeSet;

use enzyme_analysis::callee::MemoryEffect;
use enzyme_analysis::{Activities, Callee, Context, Units, resolve};
use enzyme_ir::{BlockId, Func, FuncId, Inst, InstId, Module, Op};

/// Whether an exception may leave `f`.
pub fn may_unwind(module: &Module, f: FuncId) -> bool {
    let mut seen = BTreeSet::from([f]);
    let mut work = vec![f];
    while let Some(f) = work.pop() {
        let func = &module.funcs[f];
        if func.attrs.nounwind {
            continue;
        }
        for (_, i) in func.placed() {
            match thrower(module, func, &func.insts[i]) {
                Thrower::No => {}
                Thrower::Yes => return true,
                Thrower::Defined(g) => {
                    if seen.insert(g) {
                        work.push(g);
                    }
                }
            }
        }
    }
    false
}

/// Whether an exception may leave `func` by the instruction.
pub fn inst_may_unwind(module: &Module, func: &Func, inst: &Inst) -> bool {
    match thrower(module, func, inst) {
        Thrower::No => false,
        Thrower::Yes => true,
        Thrower::Defined(g) => may_unwind(module, g),
    }
}

enum Thrower {
    No,
    Yes,
    /// If this function does.
    Defined(FuncId),
}

fn thrower(module: &Module, func: &Func, inst: &Inst) -> Thrower {
    match &inst.op {
        Op::Resume => Thrower::Yes,
        Op::Call(_) => called(module, func, inst),
        _ => Thrower::No,
    }
}

fn called(module: &Module, func: &Func, inst: &Inst) -> Thrower {
    let Some(callee) = inst.args.first().and_then(|v| module.as_func(func, *v)) else { return Thrower::Yes };
    let target = &module.funcs[callee];
    if target.attrs.nounwind || target.name.starts_with("llvm.") || enzyme_rules::lookup_call(&target.name).is_some() {
        return Thrower::No;
    }
    if !target.is_declaration() {
        return Thrower::Defined(callee);
    }
    match enzyme_rules::known(&target.name) {
        Some(known) if !known.effects.noreturn => Thrower::No,
        Some(_) | None => Thrower::Yes,
    }
}

/// Blocks from which an exception may leave `func`.
pub fn unwinding_blocks(module: &Module, func: &Func) -> BTreeSet<BlockId> {
    let mut out = BTreeSet::new();
    if func.attrs.nounwind {
        return out;
    }
    for (b, i) in func.placed() {
        if inst_may_unwind(module, func, &func.insts[i]) {
            out.insert(b);
        }
    }
    loop {
        let before = out.len();
        for b in &func.layout {
            if func.successors(*b).iter().any(|s| out.contains(s)) {
                out.insert(*b);
            }
        }
        if out.len() == before {
            return out;
        }
    }
}

/// Whether `f`, called so, may write floats with a shadow that its caller knows, and throw afterwards.
pub fn loses(module: &Module, units: &Units, activities: &Activities, f: FuncId, context: &Context) -> bool {
    let mut seen = BTreeSet::new();
    let mut work = vec![(f, context.clone())];
    while let Some((f, context)) = work.pop() {
        if !seen.insert((f, context.clone())) || !may_unwind(module, f) {
            continue;
        }
        let (Some(unit), Some(activity)) = (units.get(f), activities.get(f, &context)) else { return true };
        let func = &module.funcs[f];
        let outer = |v: enzyme_ir::ValueId| {
            unit.memory.class_of[v].is_some_and(|c| {
                unit.memory.chain(c).iter().any(|c| {
                    activity.is_shadowed(*c)
                        && unit.outer_classes.contains(c)
                        && !unit.memory.classes[*c].floats().is_empty()
                })
            })
        };
        let writes = |i: InstId| match &func.insts[i].op {
            Op::Store(_) => func.insts[i].args.get(1).is_some_and(|p| outer(*p)),
            Op::Call(_) | Op::Invoke { .. } => match resolve(module, func, i) {
                Callee::Defined(_) => activity.calls.contains_key(&i) && func.call_args(i).iter().any(|a| outer(*a)),
                Callee::Known(k) => {
                    !matches!(k.memory(), MemoryEffect::None | MemoryEffect::LifetimeStart { .. })
                        && func.call_args(i).iter().any(|a| outer(*a))
                }
                Callee::Math(_) | Callee::Unknown(_) => func.call_args(i).iter().any(|a| outer(*a)),
            },
            _ => false,
        };
        // What such a call did before it threw itself.
        for (i, inner) in &activity.calls {
            if let Callee::Defined(g) = resolve(module, func, *i) {
                work.push((g, inner.clone()));
            }
        }
        let after = unwinding_blocks(module, func);
        for b in &func.layout {
            let insts = &func.blocks[*b].insts;
            let last = insts.iter().rposition(|i| inst_may_unwind(module, func, &func.insts[*i]));
            let onward = func.successors(*b).iter().any(|s| after.contains(s));
            for (n, i) in insts.iter().enumerate() {
                if writes(*i) && (onward || last.is_some_and(|l| l > n)) {
                    return true;
                }
            }
        }
    }
    false
}
