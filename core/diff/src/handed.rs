//! Pointers that calls hand over and that may be doubles: compilers pass a union by the type of its first member.
//!
//! Within a function such words are taken apart (`crate::moved`). What a call passes or returns as a pointer is one to both
//! functions, so a pointer that was read where doubles may lie as well, went through a call, and goes to memory again may
//! lose an adjoint. Its store is refused.
//!
//! Not handled: doubles that calls hand over and that may be pointers. C passes unions of both as integers or as pointers.

use std::collections::BTreeSet;

use enzyme_analysis::{Activities, Callee, Units, resolve};
use enzyme_ir::{FuncId, InstId, Module, Op, Type, ValueDef, ValueId};

use crate::moved::View;
use crate::refusal::{Refusal, RefusalKind};

const WHAT: &str = "a pointer that a call hands over, and that may be a float";

/// The first store of such a pointer to active memory.
pub fn lost(module: &Module, units: &Units, activities: &Activities) -> Option<(FuncId, Refusal)> {
    let mut search = Search { module, units, handed: BTreeSet::new() };
    if !search.placed().any(|(f, i)| is_pointer(module, f, i) && search.view(f).is_some_and(|v| v.reads_turns(i))) {
        return None;
    }
    loop {
        let more: BTreeSet<(FuncId, usize)> = search.placed().flat_map(|(f, i)| search.hands_over(f, i)).collect();
        if more.is_subset(&search.handed) {
            break;
        }
        search.handed.extend(more);
    }
    let (f, i) = search.placed().find(|(f, i)| {
        let place = module.funcs[*f].insts[*i].args.get(1).copied();
        let class = units.get(*f).and_then(|unit| unit.memory.class_of[place?]);
        let active = activities.all().any(|(g, a)| g == *f && class.is_some_and(|c| a.is_shadowed(c)));
        active && search.is_lost(*f, *i)
    })?;
    Some((f, Refusal::new(RefusalKind::UnknownType(WHAT)).at(i)))
}

fn is_pointer(module: &Module, f: FuncId, i: InstId) -> bool {
    matches!(module.ctx.types[module.funcs[f].insts[i].ty], Type::Ptr(_))
}

struct Search<'a> {
    module: &'a Module,
    units: &'a Units,
    /// Parameters by position that may be doubles.
    handed: BTreeSet<(FuncId, usize)>,
}

impl<'a> Search<'a> {
    fn view(&self, f: FuncId) -> Option<View<'a>> {
        Some(View { module: self.module, func: &self.module.funcs[f], unit: self.units.get(f)? })
    }

    fn placed(&self) -> impl Iterator<Item = (FuncId, InstId)> + use<'a> {
        let module = self.module;
        self.units.functions().flat_map(move |f| module.funcs[f].placed().map(move |(_, i)| (f, i)))
    }

    /// The parameters of functions that the call `i` gives what may be a double.
    fn hands_over(&self, f: FuncId, i: InstId) -> Vec<(FuncId, usize)> {
        let func = &self.module.funcs[f];
        if func.insts[i].op.call_info().is_none() {
            return Vec::new();
        }
        let Callee::Defined(g) = resolve(self.module, func, i) else { return Vec::new() };
        let pointer = |v: ValueId| matches!(self.module.ctx.types[func.ty(v)], Type::Ptr(_));
        let given = func.call_args(i).iter().enumerate();
        given
            .filter(|(_, v)| pointer(**v) && self.may_be_double(f, **v, &mut BTreeSet::new()))
            .map(|(n, _)| (g, n))
            .collect()
    }

    /// Whether `i` stores such a pointer, of which nothing is known any more where it is read again.
    fn is_lost(&self, f: FuncId, i: InstId) -> bool {
        let Some(view) = self.view(f) else { return false };
        let inst = &view.func.insts[i];
        let (Op::Store(_), Some(v)) = (&inst.op, inst.args.first()) else { return false };
        matches!(self.module.ctx.types[view.func.ty(*v)], Type::Ptr(_))
            && !view.unit.facts.access_types.contains_key(&i)
            && self.may_be_double(f, *v, &mut BTreeSet::new())
    }

    /// Whether the pointer, or aggregate of pointers, may be read where doubles lie as well.
    fn may_be_double(&self, f: FuncId, v: ValueId, seen: &mut BTreeSet<(FuncId, ValueId)>) -> bool {
        if !seen.insert((f, v)) {
            return false;
        }
        let Some(view) = self.view(f) else { return false };
        let i = match view.func.values[v].def {
            ValueDef::Param(n) => return self.handed.contains(&(f, n as usize)),
            ValueDef::Const(_) => return false,
            ValueDef::Inst(i) => i,
        };
        let inst = &view.func.insts[i];
        match inst.op {
            Op::Load(_) => is_pointer(self.module, f, i) && view.reads_turns(i),
            Op::Phi(_) | Op::Freeze | Op::InsertValue(_) | Op::ExtractValue(_) => {
                inst.args.iter().any(|v| self.may_be_double(f, *v, seen))
            }
            Op::Select => inst.args.iter().skip(1).any(|v| self.may_be_double(f, *v, seen)),
            _ if inst.op.call_info().is_some() => {
                let Callee::Defined(g) = resolve(self.module, view.func, i) else { return false };
                let callee = &self.module.funcs[g];
                let ends = callee.placed().filter(|(_, i)| matches!(callee.insts[*i].op, Op::Ret));
                let mut values = ends.flat_map(|(_, i)| callee.insts[i].args.iter().copied());
                values.any(|v| self.may_be_double(g, v, seen))
            }
            _ => false,
        }
    }
}
