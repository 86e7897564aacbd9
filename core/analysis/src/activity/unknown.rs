//! What a function without body may do to active data that nobody gives it: it may find an address or a value in a global
//! variable that other modules see, and it may call back a function of this module that it is given.
//!
//! Flow-insensitive, within one function and what its callees leave. Not found: an address that a callee leaves in a global
//! variable; data that the caller of the derivative left somewhere.

use std::collections::BTreeSet;

use enzyme_ir::{Const, ConstId, FuncId, GlobalId, InstId, Linkage, Op, Type, ValueId};

use super::{Conflict, Pass};
use crate::memory::{ClassId, Object};

const WRITES: &str =
    "a function without body that may change active data, as it can find the address in a global variable";
const READS: &str = "the result of a function without body that may read active data in a global variable";
const CALLS_BACK: &str = "a function without body that is given a function which uses active data";

impl Pass<'_> {
    /// Why the call `i` of `callee`, which has no body and is given nothing active, can't be differentiated.
    pub(super) fn reaches_unseen(&self, i: InstId, callee: FuncId, useful: &crate::useful::Useful) -> Option<Conflict> {
        let func = self.program.func(self.f);
        let attrs = self.program.module.funcs[callee].attrs;
        if func.call_args(i).iter().any(|a| self.calls_back(*a)) {
            return Some(Conflict::Unsupported(i, CALLS_BACK));
        }
        if attrs.arg_mem_only {
            return None;
        }
        let shared: Vec<(ClassId, InstId)> =
            self.dropped.iter().map(|d| (*d.0, *d.1)).filter(|d| self.shared(d.0).next().is_some()).collect();
        let shadowed = |v: &ValueId| self.class(*v).is_some_and(|c| self.state(c).has_shadow());
        let address = |(class, s): &(ClassId, InstId)| match func.insts[*s].op {
            Op::Store(_) => func.insts[*s].args.first().is_some_and(shadowed),
            _ => self.shared(*class).any(|g| self.holds_pointer(g)) && func.call_args(*s).iter().any(shadowed),
        };
        if !attrs.no_write && shared.iter().any(address) {
            // Once is enough: every call from here on may.
            let said = |c: &Conflict| matches!(c, Conflict::Unsupported(_, what) if *what == WRITES);
            return (!self.conflicts.iter().any(said)).then_some(Conflict::Unsupported(i, WRITES));
        }
        let result = func.insts[i].result.is_some_and(|r| self.carry(r).may() && useful.values[r]);
        (!attrs.no_read && result && !shared.is_empty()).then_some(Conflict::Unsupported(i, READS))
    }

    /// The global variables that may be the memory of `class` and that other modules see.
    fn shared(&self, class: ClassId) -> impl Iterator<Item = GlobalId> + '_ {
        let module = self.program.module;
        let objects = self.program.unit(self.f).into_iter().flat_map(move |u| u.memory.classes[class].objects.iter());
        objects.filter_map(move |o| match o {
            Object::Global(g) if module.globals[*g].linkage == Linkage::External => Some(*g),
            _ => None,
        })
    }

    fn holds_pointer(&self, g: GlobalId) -> bool {
        let module = self.program.module;
        matches!(module.ctx.types[module.globals[g].ty], Type::Ptr(_))
    }

    /// Whether `v` is a function of this module that uses a global variable with a shadow.
    fn calls_back(&self, v: ValueId) -> bool {
        let module = self.program.module;
        let func = self.program.func(self.f);
        let Some(unit) = self.program.unit(self.f) else { return false };
        let Some(Const::Func(first)) = func.as_const(v).map(|c| &module.ctx.consts[c]) else { return false };
        let globals = |c: ClassId| {
            unit.memory.classes[c].objects.iter().filter_map(|o| match o {
                Object::Global(g) => Some(*g),
                _ => None,
            })
        };
        let shadowed: BTreeSet<GlobalId> =
            unit.memory.classes.keys().filter(|c| self.state(*c).has_shadow()).flat_map(globals).collect();
        // A body that was not asked for yet may use any of them.
        if module.funcs[*first].is_declaration() && !shadowed.is_empty() {
            return true;
        }
        let mut seen = BTreeSet::from([*first]);
        let mut work: Vec<ConstId> = module.funcs[*first].constants().collect();
        while let Some(c) = work.pop() {
            match &module.ctx.consts[c] {
                Const::Func(g) if seen.insert(*g) => work.extend(module.funcs[*g].constants()),
                Const::Global(g) if shadowed.contains(g) => return true,
                Const::Expr { args, .. } => work.extend(args),
                _ => {}
            }
        }
        false
    }
}
