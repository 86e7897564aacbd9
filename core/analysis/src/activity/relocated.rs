//! Addresses that are computed as integers and of which no shadow can be told: those that lie as far from one object as a third lies from
//! another (relocated structures, pointers kept as offsets), and those that were made of numbers alone.
//!
//! Within one function. Not found: distances that come out of memory or other functions.

use std::collections::BTreeSet;

use enzyme_ir::{BinOp, Op, ValueId};

use super::Pass;
use crate::memory::{ClassId, Object};

/// How many of the values that an address is computed from are looked at.
const MOST: usize = 32;

impl Pass<'_> {
    /// Whether `address` is computed with the distance of two objects: it leads from one to the other, which its shadow does not.
    pub(super) fn is_relocated(&self, address: ValueId) -> bool {
        let func = self.program.func(self.f);
        let mut seen: BTreeSet<ValueId> = BTreeSet::from([address]);
        let mut work = vec![address];
        while let Some(v) = work.pop() {
            let Some(i) = func.def_inst(v) else { continue };
            let inst = &func.insts[i];
            if let (Op::Binary(BinOp::Sub), [a, b]) = (&inst.op, inst.args.as_slice())
                && self.are_of_two_objects(*a, *b)
            {
                return true;
            }
            let computes = matches!(inst.op, Op::Cast(_) | Op::Binary(_) | Op::Phi(_) | Op::Select | Op::Freeze);
            if computes && seen.len() < MOST {
                work.extend(inst.args.iter().copied().filter(|a| seen.insert(*a)));
            }
        }
        false
    }

    /// Whether both are addresses of memory that is known, and not the same.
    fn are_of_two_objects(&self, a: ValueId, b: ValueId) -> bool {
        let Some(unit) = self.program.unit(self.f) else { return false };
        let (Some(one), Some(other)) = (self.class(a), self.class(b)) else { return false };
        let objects = |class: ClassId| &unit.memory.classes[class].objects;
        let made = |o: &Object| matches!(o, Object::Stack(..) | Object::Heap(..) | Object::Global(_));
        let known = |class: ClassId| !objects(class).is_empty() && objects(class).iter().all(made);
        known(one) && known(other) && objects(one).is_disjoint(objects(other))
    }

    /// Whether data that depends on an active input is stored in memory of `class`, wanted or not.
    pub(super) fn is_varied(&self, class: ClassId) -> bool {
        let func = self.program.func(self.f);
        func.placed().any(|(_, i)| match (&func.insts[i].op, func.insts[i].args.as_slice()) {
            (Op::Store(_), [v, p]) => self.varied[*v].is_some() && self.class(*p) == Some(class),
            _ => false,
        })
    }
}
