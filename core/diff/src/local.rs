//! Stack slots whose address stays in the function: it goes through address arithmetic alone, and is only read, written,
//! copied from and to, and filled. In split mode the reverse sweep makes the shadow of such a slot by itself, since nobody
//! else can know where it lies; others go from the forward sweep to the reverse sweep through the tape.
//!
//! Not followed: calls, merges of pointers, comparisons.

use std::collections::{BTreeMap, BTreeSet};

use enzyme_analysis::callee::MemoryEffect;
use enzyme_analysis::{Callee, resolve};
use enzyme_ir::{CastOp, Func, InstId, Module, Op, ValueId};

/// The addresses in such slots, those of the slots among them.
pub fn addresses(module: &Module, func: &Func) -> BTreeSet<ValueId> {
    let mut users: BTreeMap<ValueId, Vec<InstId>> = BTreeMap::new();
    let mut slots = Vec::new();
    for (_, i) in func.placed() {
        let inst = &func.insts[i];
        if let (Op::Alloca { .. }, Some(r)) = (&inst.op, inst.result) {
            slots.push(r);
        }
        for a in &inst.args {
            users.entry(*a).or_default().push(i);
        }
    }
    let mut out = BTreeSet::new();
    for slot in slots {
        let mut reached = BTreeSet::from([slot]);
        let mut work = vec![slot];
        let mut stays = true;
        while let Some(v) = work.pop().filter(|_| stays) {
            for i in users.get(&v).into_iter().flatten() {
                match use_of(module, func, *i, v) {
                    Use::Access => {}
                    Use::Address(r) => {
                        if reached.insert(r) {
                            work.push(r);
                        }
                    }
                    Use::Other => stays = false,
                }
            }
        }
        if stays {
            out.extend(reached);
        }
    }
    out
}

enum Use {
    /// The memory is read or written.
    Access,
    /// Another address is made of it.
    Address(ValueId),
    /// Anything else.
    Other,
}

fn use_of(module: &Module, func: &Func, i: InstId, v: ValueId) -> Use {
    let inst = &func.insts[i];
    let only_first = inst.args.iter().skip(1).all(|a| *a != v);
    match (&inst.op, inst.result) {
        (Op::Load(_), _) => Use::Access,
        (Op::Store(_), _) if inst.args.first() != Some(&v) => Use::Access,
        (Op::Gep { .. }, Some(r)) if only_first => Use::Address(r),
        (Op::Cast(CastOp::BitCast), Some(r)) => Use::Address(r),
        (Op::Call(_), None) => match resolve(module, func, i) {
            Callee::Known(known) => match known.memory() {
                MemoryEffect::Copy { .. } | MemoryEffect::Set { .. } | MemoryEffect::LifetimeStart { .. } => {
                    Use::Access
                }
                _ if known.ends_lifetime => Use::Access,
                _ => Use::Other,
            },
            Callee::Math(_) | Callee::Defined(_) | Callee::Unknown(_) => Use::Other,
        },
        _ => Use::Other,
    }
}
