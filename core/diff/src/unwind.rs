//! Exceptions: which calls may throw, and what is lost when they do.
//!
//! A function that is left by an exception leaves no tape. So what it did to memory with a shadow before it threw can't
//! be reversed, should the exception be caught inside of the derivative: [`loses`] finds functions that may do so. One
//! that checks its arguments before it writes does not.
//!
//! Out of memory in `operator new` does not count as a throw here: what leaks then does not matter.

use std::collections::{BTreeMap, BTreeSet};

use enzyme_analysis::callee::MemoryEffect;
use enzyme_analysis::{Activities, Activity, Callee, ClassId, Context, Unit, Units, resolve};
use enzyme_ir::{BlockId, Func, FuncId, Inst, InstId, Module, Op, ValueId};

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
    let name = enzyme_analysis::callee::name_of(module, callee);
    // A function of the program's that stands for one of libm may throw, as that does not.
    let is_own = name != target.name;
    if target.attrs.nounwind || name.starts_with("llvm.") || !is_own && enzyme_rules::lookup_call(name).is_some() {
        return Thrower::No;
    }
    if !target.is_declaration() {
        return Thrower::Defined(callee);
    }
    match enzyme_rules::known(name) {
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

/// What a function does to memory that its caller knows.
#[derive(Clone, Default, PartialEq)]
struct Effects {
    /// Classes that it may write.
    written: BTreeSet<ClassId>,
    /// Classes that it may write before it throws.
    lost: BTreeSet<ClassId>,
}

type Table = BTreeMap<(FuncId, Context), Effects>;

/// Whether `f`, called so, may write floats with a shadow that its caller knows, and throw afterwards.
pub fn loses(module: &Module, units: &Units, activities: &Activities, f: FuncId, context: &Context) -> bool {
    if !may_unwind(module, f) {
        return false;
    }
    let root = (f, context.clone());
    let mut table: Table = BTreeMap::new();
    let mut work = vec![root.clone()];
    while let Some((f, context)) = work.pop() {
        if table.contains_key(&(f, context.clone())) {
            continue;
        }
        let Some(activity) = activities.get(f, &context) else { return true };
        for (i, inner) in &activity.calls {
            if let Callee::Defined(g) = resolve(module, &module.funcs[f], *i) {
                work.push((g, inner.clone()));
            }
        }
        table.insert((f, context), Effects::default());
    }
    // Recursion is solved from below.
    loop {
        let mut changed = false;
        for key in table.keys().cloned().collect::<Vec<_>>() {
            let (Some(unit), Some(activity)) = (units.get(key.0), activities.get(key.0, &key.1)) else { return true };
            let effects = effects(module, units, unit, activity, key.0, &table);
            changed |= table.get(&key) != Some(&effects);
            table.insert(key, effects);
        }
        if !changed {
            break;
        }
    }
    let (Some(unit), Some(activity), Some(found)) = (units.get(f), activities.get(f, context), table.get(&root)) else {
        return true;
    };
    found.lost.iter().any(|c| activity.is_shadowed(*c) && !unit.memory.classes[*c].floats().is_empty())
}

fn effects(module: &Module, units: &Units, unit: &Unit, activity: &Activity, f: FuncId, table: &Table) -> Effects {
    let func = &module.funcs[f];
    let after = unwinding_blocks(module, func);
    let mut out = Effects::default();
    for b in &func.layout {
        let insts = &func.blocks[*b].insts;
        let last = insts.iter().rposition(|i| inst_may_unwind(module, func, &func.insts[*i]));
        let onward = func.successors(*b).iter().any(|s| after.contains(s));
        for (n, i) in insts.iter().enumerate() {
            let Effects { written, lost } = inst_effects(module, units, unit, activity, f, *i, table);
            if onward || last.is_some_and(|l| l > n) {
                out.lost.extend(&written);
            }
            out.lost.extend(lost);
            out.written.extend(written);
        }
    }
    let outer = |c: &ClassId| unit.outer_classes.contains(c);
    Effects {
        written: out.written.into_iter().filter(outer).collect(),
        lost: out.lost.into_iter().filter(outer).collect(),
    }
}

fn inst_effects(
    module: &Module,
    units: &Units,
    unit: &Unit,
    activity: &Activity,
    f: FuncId,
    i: InstId,
    table: &Table,
) -> Effects {
    let func = &module.funcs[f];
    let class = |v: &ValueId| unit.memory.class_of[*v];
    let behind = |v: &ValueId| class(v).map(|c| unit.memory.chain(c)).unwrap_or_default();
    let args = func.call_args(i);
    let written = match &func.insts[i].op {
        Op::Store(_) => func.insts[i].args.get(1).and_then(class).into_iter().collect(),
        Op::CmpXchg { .. } | Op::AtomicRmw(..) => func.insts[i].args.first().and_then(class).into_iter().collect(),
        Op::Call(_) | Op::Invoke { .. } => match resolve(module, func, i) {
            Callee::Known(k) => match k.memory() {
                MemoryEffect::None | MemoryEffect::LifetimeStart { .. } | MemoryEffect::Alloc { .. } => BTreeSet::new(),
                MemoryEffect::Copy { dst, .. } | MemoryEffect::Set { dst, .. } => {
                    args.get(dst).and_then(class).into_iter().collect()
                }
                _ => args.iter().flat_map(behind).collect(),
            },
            Callee::Math(_) => args.iter().filter_map(class).collect(),
            Callee::Unknown(_) => args.iter().flat_map(behind).collect(),
            Callee::Defined(g) => {
                let inner = activity.calls.get(&i).and_then(|context| table.get(&(g, context.clone())));
                return inner.map(|e| placed(units, unit, i, g, e)).unwrap_or_default();
            }
        },
        _ => BTreeSet::new(),
    };
    Effects { written, lost: BTreeSet::new() }
}

/// The effects of a callee in the classes of its caller.
fn placed(units: &Units, unit: &Unit, i: InstId, g: FuncId, effects: &Effects) -> Effects {
    let map = unit.memory.calls.get(&i);
    let outer = units.get(g).map(|u| &u.outer_classes);
    let ours = |c: &ClassId| match map {
        Some(map) => map.get(c).map(|p| p.class),
        // Within a recursive group classes are shared.
        None => Some(*c).filter(|c| outer.is_some_and(|o| o.contains(c))),
    };
    Effects {
        written: effects.written.iter().filter_map(ours).collect(),
        lost: effects.lost.iter().filter_map(ours).collect(),
    }
}
