//! Addresses that are computed as integers and of which no shadow can be told: those that lie as far from one object as a third lies from
//! another (relocated structures), those that are kept as the distance from where they lie (`boost::interprocess::offset_ptr`) or from another
//! object, and those that were made of numbers alone.
//!
//! Within one function. Not found: distances that come out of other functions, or between objects that phis choose.

use std::collections::BTreeSet;

use enzyme_ir::{BinOp, CastOp, InstId, Op, ValueId};

use super::Pass;
use crate::memory::{ClassId, Object};

/// How many of the values that an address is computed from are looked at.
const MOST: usize = 32;

impl Pass<'_> {
    /// Whether `address`, or what is added to one in memory of `class`, is computed with the distance of another object from that memory: it
    /// leads from one to the other, which its shadow does not.
    pub(super) fn is_relocated(&self, address: ValueId, class: ClassId) -> bool {
        self.has_distance(address, |_, from| from == Some(class))
    }

    /// Whether `number`, which is stored, is computed with the distance between two objects, one of which is of a class that `wanted` names:
    /// whoever reads it can go from one to the other.
    pub(super) fn is_distance_of_objects(&self, number: ValueId, wanted: impl Fn(ClassId) -> bool) -> bool {
        self.has_distance(number, |to, from| to.is_some_and(&wanted) || from.is_some_and(&wanted))
    }

    /// Whether `v` is computed with the distance between two objects whose classes are such.
    fn has_distance(&self, v: ValueId, are: impl Fn(Option<ClassId>, Option<ClassId>) -> bool) -> bool {
        let func = self.program.func(self.f);
        let mut seen: BTreeSet<ValueId> = BTreeSet::from([v]);
        let mut work = vec![v];
        while let Some(v) = work.pop() {
            let Some(i) = func.def_inst(v) else { continue };
            let inst = &func.insts[i];
            if let (Op::Binary(BinOp::Sub), [a, b]) = (&inst.op, inst.args.as_slice())
                && are(self.class(*a), self.class(*b))
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

    /// Whether `number` is how far another address is from `place`, and not surely one in the same object.
    pub(super) fn is_distance_from(&self, number: ValueId, place: ValueId) -> bool {
        let func = self.program.func(self.f);
        let plain = |mut v: ValueId| {
            for _ in 0..MOST {
                let Some(inst) = func.def_inst(v).map(|i| &func.insts[i]) else { break };
                match (&inst.op, inst.args.as_slice()) {
                    (Op::Cast(CastOp::PtrToInt | CastOp::PtrToAddr | CastOp::BitCast), [from]) => v = *from,
                    _ => break,
                }
            }
            v
        };
        let mut seen: BTreeSet<ValueId> = BTreeSet::from([number]);
        let mut work = vec![number];
        while let Some(inst) = work.pop().and_then(|v| func.def_inst(v)).map(|i| &func.insts[i]) {
            match (&inst.op, inst.args.as_slice()) {
                (Op::Binary(BinOp::Sub), [to, from])
                    if plain(*from) == place && self.origin(*to) != self.origin(place) =>
                {
                    return true;
                }
                (Op::Phi(_) | Op::Select, parts) if seen.len() < MOST => {
                    work.extend(parts.iter().copied().filter(|a| seen.insert(*a) && func.def_inst(*a).is_some()));
                }
                _ => {}
            }
        }
        false
    }

    /// Whether both are addresses in memory that this function makes, by different instructions.
    fn are_of_two_objects(&self, a: ValueId, b: ValueId) -> bool {
        self.made_by(a).zip(self.made_by(b)).is_some_and(|(one, other)| one != other)
    }

    /// What `address` is computed from, with no choice between several.
    fn origin(&self, address: ValueId) -> ValueId {
        let func = self.program.func(self.f);
        let mut v = address;
        for _ in 0..MOST {
            let Some(inst) = func.def_inst(v).map(|i| &func.insts[i]) else { break };
            match (&inst.op, inst.args.first()) {
                (Op::Cast(_) | Op::Gep { .. } | Op::Freeze, Some(from)) => v = *from,
                _ => break,
            }
        }
        v
    }

    /// What makes the memory that `address` is computed from.
    fn made_by(&self, address: ValueId) -> Option<InstId> {
        let v = self.origin(address);
        let i = self.program.func(self.f).def_inst(v)?;
        let objects = &self.program.unit(self.f)?.memory.classes[self.class(v)?].objects;
        let made = [Object::Heap(self.f, i), Object::Stack(self.f, i)];
        made.iter().any(|o| objects.contains(o)).then_some(i)
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
