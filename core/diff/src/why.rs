//! Why a value is kept and not computed again, in words: what it is read from is overwritten before the reverse sweep comes to it.
//!
//! For plans and pages alone; decides nothing.

use std::collections::BTreeSet;

use enzyme_ir::{Module, Op, ValueId};

use crate::keys::Subject;

/// How many of the values that one is computed from are looked at.
const MOST: usize = 64;

/// What overwrites what `v`, or a value that it is computed from, was read from; nothing if that is not the reason, or not known.
pub fn kept(module: &Module, s: &Subject<'_>, v: ValueId) -> Option<String> {
    let mut seen: BTreeSet<ValueId> = BTreeSet::from([v]);
    let mut work = vec![v];
    while let Some(v) = work.pop() {
        let Some(i) = s.func.def_inst(v) else { continue };
        let inst = &s.func.insts[i];
        if let Some(fact) = s.unit.facts.overwritten.get(&i) {
            let by = &s.func.insts[fact.by];
            let at = by.loc.map_or(String::new(), |l| format!(" at {}", module.describe_loc(l)));
            let what = if matches!(by.op, Op::Store(_)) { "store" } else { "call" };
            return Some(match fact.apart {
                true => format!(
                    "the {what}{at} may overwrite it through another pointer (`restrict` would say that it does not)"
                ),
                false => format!("the {what}{at} overwrites it"),
            });
        }
        let computes = matches!(inst.op, Op::Binary(_) | Op::Cast(_) | Op::FNeg | Op::Select | Op::Call(_));
        if computes && seen.len() < MOST {
            work.extend(inst.args.iter().copied().filter(|a| seen.insert(*a)));
        }
    }
    None
}
