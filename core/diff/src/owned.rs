//! Memory of the caller that a reverse derivative must not lose.
//!
//! What a function reallocates has a new shadow afterwards; the adjoints of its old content end up in the old shadow,
//! which dies with the derivative. For memory that the caller of the derivative owns that would be the gradient: such
//! requests are refused. Calls are followed; all calls of one function count for each of them.

use std::collections::{BTreeMap, BTreeSet};

use enzyme_analysis::callee::MemoryEffect;
use enzyme_analysis::{Callee, ClassId, Context, Units, resolve};
use enzyme_ir::{FuncId, InstId, Module};

/// The instruction of `root` that reallocates memory with a shadow given by the caller, if there is one.
pub fn reallocates(module: &Module, units: &Units, root: FuncId, context: &Context) -> Option<InstId> {
    let mut moved: BTreeMap<FuncId, BTreeMap<ClassId, InstId>> = BTreeMap::new();
    loop {
        let before: usize = moved.values().map(BTreeMap::len).sum();
        for f in units.functions() {
            let found = moved_in(module, units, f, &moved);
            let known = moved.entry(f).or_default();
            for (class, i) in found {
                known.entry(class).or_insert(i);
            }
        }
        if moved.values().map(BTreeMap::len).sum::<usize>() == before {
            break;
        }
    }
    let given: BTreeSet<ClassId> = context.classes.iter().filter(|e| e.1.has_shadow()).map(|e| *e.0).collect();
    moved.get(&root)?.iter().find(|(class, _)| given.contains(class)).map(|e| *e.1)
}

fn moved_in(
    module: &Module,
    units: &Units,
    f: FuncId,
    moved: &BTreeMap<FuncId, BTreeMap<ClassId, InstId>>,
) -> Vec<(ClassId, InstId)> {
    let Some(unit) = units.get(f) else { return Vec::new() };
    let func = &module.funcs[f];
    let mut out = Vec::new();
    for (_, i) in func.placed() {
        if func.insts[i].op.call_info().is_none() {
            continue;
        }
        match resolve(module, func, i) {
            Callee::Known(known) => {
                if let MemoryEffect::Realloc { ptr, .. } = known.memory() {
                    let class = func.call_args(i).get(ptr).and_then(|p| unit.memory.class_of[*p]);
                    out.extend(class.map(|c| (c, i)));
                }
            }
            Callee::Defined(g) => {
                let Some(inner) = moved.get(&g) else { continue };
                let placed = unit.memory.calls.get(&i);
                for class in inner.keys() {
                    // Within a recursive group classes are shared.
                    let ours = match placed {
                        Some(map) => map.get(class).map(|p| p.class),
                        None => Some(*class),
                    };
                    out.extend(ours.map(|c| (c, i)));
                }
            }
            Callee::Math(_) | Callee::Unknown(_) => {}
        }
    }
    out
}
