//! Floats that a function is given or returns within integers: a structure of a float and a count is passed in one register,
//! as an integer of which only the caller knows the parts.
//!
//! Followed to a result is what moves bits and leaves those of a float together: zero extension, shifts by whole bytes, `or`, masks of
//! whole floats, merges, copies by way of memory, calls. What computes with bits, as a hash does, makes a number of its own.

use std::collections::{BTreeMap, BTreeSet};

use enzyme_ir::{BinOp, ByteType, CastOp, Func, FuncId, InstId, Module, Op, Type, TypeId, ValueId};

use crate::callee::{Callee, resolve};
use crate::carry::Carry;
use crate::program::Units;

/// Bits of the shortest float that a structure in a register has beside something else.
const SHORTEST: u32 = 16;

/// How deep the search for what a result is made of goes. What lies further is taken for a float: a constant result can be
/// said to be one, a zero that is wrong cannot be seen.
const DEPTH: usize = 2000;

/// How far parts are followed back; code that is never reached may go in circles.
const STEPS: usize = 64;

/// The integers of `f` that hold floats beside other things on their way to its result; none if its result has floats by its
/// type.
pub fn returned(module: &Module, units: &Units, f: FuncId) -> Vec<ValueId> {
    let mut search = Search { module, units, found: BTreeSet::new(), seen: BTreeSet::new(), depth: 0 };
    loop {
        let before = search.found.len();
        search.seen.clear();
        search.is_packed(f);
        if search.found.len() == before {
            break;
        }
    }
    search.found.into_iter().filter(|(g, _)| *g == f).map(|(_, v)| v).collect()
}

/// The parameters of `func` that are integers of which parts are taken for floats, as they come: a structure that is passed
/// in a register. Integers of which floats are made by arithmetic are none.
pub fn given(module: &Module, func: &Func) -> Vec<usize> {
    let constant = |v: ValueId| func.as_const(v).and_then(|c| module.ctx.consts.as_u64(c));
    // Where parameters are put, in code that nobody has optimised.
    let mut spilled: BTreeMap<ValueId, ValueId> = BTreeMap::new();
    for (_, i) in func.placed() {
        if let (Op::Store(_), [v, to]) = (&func.insts[i].op, func.insts[i].args.as_slice())
            && func.params.contains(v)
        {
            spilled.insert(*to, *v);
        }
    }
    let whole = |v: &ValueId| {
        func.def_inst(*v).and_then(|i| match (&func.insts[i].op, func.insts[i].args.as_slice()) {
            (Op::Cast(CastOp::Trunc) | Op::Freeze, [from]) => Some(*from),
            (Op::Binary(BinOp::LShr), [from, by]) if constant(*by).is_some_and(|n| n % 8 == 0) => Some(*from),
            (Op::Gep { .. }, [from, ..]) => Some(*from),
            (Op::Alloca { .. }, _) => spilled.get(v).copied(),
            _ => None,
        })
    };
    let mut found = BTreeSet::new();
    for (_, i) in func.placed() {
        let inst = &func.insts[i];
        if !module.ctx.types.contains_float(inst.ty) || !matches!(inst.op, Op::Cast(CastOp::BitCast) | Op::Load(_)) {
            continue;
        }
        let steps = std::iter::successors(inst.args.first().copied(), whole).take(STEPS);
        let integer = steps.filter(|v| matches!(module.ctx.types[func.ty(*v)], Type::Int(_)));
        found.extend(integer.filter_map(|v| func.params.iter().position(|p| *p == v)));
    }
    found.into_iter().collect()
}

struct Search<'a> {
    module: &'a Module,
    units: &'a Units,
    /// Integers that hold floats. What a loop carries is found by looking again.
    found: BTreeSet<(FuncId, ValueId)>,
    /// Values that were looked at in this round.
    seen: BTreeSet<(FuncId, ValueId)>,
    depth: usize,
}

impl Search<'_> {
    /// Whether `f` returns floats within integers.
    fn is_packed(&mut self, f: FuncId) -> bool {
        let func = &self.module.funcs[f];
        let returned = func.placed().filter(|(_, i)| matches!(func.insts[*i].op, Op::Ret));
        let returned: Vec<ValueId> = returned.filter_map(|(_, i)| func.insts[i].args.first().copied()).collect();
        self.any_holds(f, &returned)
    }

    /// Whether one of `values` holds floats; all are looked at.
    fn any_holds(&mut self, f: FuncId, values: &[ValueId]) -> bool {
        let held: Vec<bool> = values.iter().map(|v| self.holds_floats(f, *v)).collect();
        held.contains(&true)
    }

    fn is_of_integers(&self, ty: TypeId) -> bool {
        match &self.module.ctx.types[ty] {
            Type::Int(bits) => *bits >= SHORTEST,
            Type::Vector { elem, .. } | Type::Array { elem, .. } => {
                matches!(self.module.ctx.types[*elem], Type::Int(_))
            }
            Type::Struct(s) => {
                let types = &self.module.ctx.types;
                !types.contains_float(ty) && s.fields.iter().flatten().any(|ty| matches!(types[*ty], Type::Int(_)))
            }
            _ => false,
        }
    }

    fn holds_floats(&mut self, f: FuncId, v: ValueId) -> bool {
        let func = &self.module.funcs[f];
        let (Some(i), Some(unit)) = (func.def_inst(v), self.units.get(f)) else { return false };
        if !self.is_of_integers(func.ty(v)) {
            return false;
        }
        if !self.seen.insert((f, v)) {
            return self.found.contains(&(f, v));
        }
        if self.depth == DEPTH {
            self.found.insert((f, v));
            return true;
        }
        self.depth += 1;
        let found = self.is_made_of_floats(f, i) || matches!(unit.carry[v], Carry::Bits(..) | Carry::Mixed);
        self.depth -= 1;
        if found {
            self.found.insert((f, v));
        }
        found
    }

    /// Whether what `i` gives holds floats, by its operands.
    fn is_made_of_floats(&mut self, f: FuncId, i: InstId) -> bool {
        let func = &self.module.funcs[f];
        let inst = &func.insts[i];
        let constant = |v: ValueId| func.as_const(v).and_then(|c| self.module.ctx.consts.as_u64(c));
        match (&inst.op, inst.args.as_slice()) {
            (Op::Cast(CastOp::BitCast), [from]) => {
                self.module.ctx.types.contains_float(func.ty(*from)) || self.holds_floats(f, *from)
            }
            (Op::Cast(CastOp::ZExt), [from]) => self.holds_floats(f, *from),
            (Op::Binary(BinOp::Shl), [from, by]) => {
                constant(*by).is_some_and(|n| n % 8 == 0) && self.holds_floats(f, *from)
            }
            (Op::Binary(BinOp::And), [from, mask]) => {
                constant(*mask).is_some_and(keeps_floats) && self.holds_floats(f, *from)
            }
            (Op::Binary(BinOp::Or), args)
            | (Op::Phi(_) | Op::Freeze | Op::InsertValue(_) | Op::InsertElement | Op::ShuffleVector(_), args) => {
                self.any_holds(f, args)
            }
            (Op::Select, [_, either @ ..]) => self.any_holds(f, either),
            (Op::Load(_), [p]) => {
                let Some(unit) = self.units.get(f) else { return false };
                let len = self.module.ctx.layout.store_size(&self.module.ctx.types, inst.ty).unwrap_or(0);
                let stated = unit.facts.access_types.get(&i).map_or(&[][..], Vec::as_slice);
                let integers = !stated.is_empty() && stated.iter().all(|run| run.ty == ByteType::Integer);
                let floats = unit.memory.floats_under(*p, len);
                !integers && floats.is_some_and(|f| !f.is_empty())
            }
            (Op::Call(_) | Op::Invoke { .. }, _) => match resolve(self.module, func, i) {
                Callee::Defined(g) => self.is_packed(g),
                _ => false,
            },
            _ => false,
        }
    }
}

/// Whether `mask` takes nothing away of a float in a word that it does not take away whole.
fn keeps_floats(mask: u64) -> bool {
    let parts = (0..u64::BITS / SHORTEST).map(|n| (mask >> (n * SHORTEST)) as u16);
    mask != 0 && parts.into_iter().all(|part| [0, u16::MAX].contains(&part))
}
