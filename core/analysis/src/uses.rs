//! Def-use chains of one function.

use std::collections::BTreeSet;

use cranelift_entity::SecondaryMap;
use enzyme_ir::{CastOp, Func, FuncId, InstId, Module, Op, ValueId};
use enzyme_rules::Operand;

use crate::callee::{Callee, resolve};
use crate::carry::is_computing;

/// The placed instructions that use each value, in layout order, each once.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    of: SecondaryMap<ValueId, Vec<InstId>>,
}

impl Uses {
    /// Collects the uses of all values. Cost: linear in the operands.
    pub fn new(func: &Func) -> Uses {
        let mut of: SecondaryMap<ValueId, Vec<InstId>> = SecondaryMap::new();
        for (_, i) in func.placed() {
            for v in &func.insts[i].args {
                if of[*v].last() != Some(&i) {
                    of[*v].push(i);
                }
            }
        }
        Uses { of }
    }

    /// Instructions that use `v`.
    pub fn of(&self, v: ValueId) -> &[InstId] {
        &self.of[v]
    }

    /// Whether `v` is one of several constants: no derivative comes with it.
    pub fn is_constant_choice(&self, func: &Func, v: ValueId) -> bool {
        let mut seen = vec![v];
        let mut n = 0;
        while let Some(v) = seen.get(n).copied() {
            n += 1;
            if func.as_const(v).is_some() {
                continue;
            }
            let Some(i) = func.def_inst(v) else { return false };
            let inst = &func.insts[i];
            let from = match inst.op {
                Op::Phi(_) | Op::Freeze => inst.args.as_slice(),
                Op::Select => inst.args.get(1..).unwrap_or(&[]),
                _ => return false,
            };
            for a in from {
                if !seen.contains(a) {
                    seen.push(*a);
                }
            }
        }
        true
    }

    /// Whether `v` is merged of constants and of integers that are computed, or given by the caller and computed with: each is a number.
    /// Addresses may be among them: the key of an entry that is to be made, in the place of where one was found.
    pub fn is_merged_of_numbers(&self, module: &Module, func: &Func, v: ValueId) -> bool {
        let (mut work, mut seen, mut merged) = (vec![v], BTreeSet::new(), false);
        let (mut addresses, mut numbers) = (0, 0);
        while let Some(v) = work.pop() {
            if func.as_const(v).is_some() || !seen.insert(v) {
                continue;
            }
            let made = func.def_inst(v).map(|i| &func.insts[i]);
            match made.map(|inst| (&inst.op, inst.args.as_slice())) {
                Some((Op::Phi(_) | Op::Freeze, parts)) => work.extend(parts.iter().copied()),
                Some((Op::Select, parts)) => work.extend(parts.iter().skip(1).copied()),
                Some((Op::Cast(CastOp::PtrToInt), _)) => {
                    addresses += 1;
                    continue;
                }
                Some((Op::Binary(_), _)) | None if !self.is_copied_only(module, func, v) => {
                    numbers += 1;
                    continue;
                }
                _ => return false,
            }
            merged = true;
        }
        merged && (addresses == 0 || numbers > 0)
    }

    /// Whether `v` is returned, perhaps where ways meet, and goes nowhere else as it is.
    pub fn is_only_returned(&self, func: &Func, v: ValueId) -> bool {
        let (mut work, mut seen, mut returned) = (vec![v], BTreeSet::new(), false);
        while let Some(v) = work.pop() {
            if !seen.insert(v) {
                continue;
            }
            for i in self.of(v) {
                let inst = &func.insts[*i];
                match &inst.op {
                    Op::Ret => returned = true,
                    Op::Phi(_) | Op::Freeze | Op::Select => work.extend(inst.result),
                    op if is_computing(op) => {}
                    _ => return false,
                }
            }
        }
        returned
    }

    /// Whether an integer is only moved about (loaded, stored, merged, cast to a float), never computed with: then
    /// its bytes may be those of anything.
    pub fn is_copied_only(&self, module: &Module, func: &Func, v: ValueId) -> bool {
        let mut seen = BTreeSet::new();
        let mut work = vec![v];
        let mut passed = Vec::new();
        while let Some(v) = work.pop() {
            if !seen.insert(v) {
                continue;
            }
            let moved_in = func.def_inst(v).is_none_or(|i| {
                matches!(
                    &func.insts[i].op,
                    Op::Load(_)
                        | Op::Phi(_)
                        | Op::Select
                        | Op::Freeze
                        | Op::ExtractValue(_)
                        | Op::ExtractElement
                        | Op::Cast(CastOp::BitCast | CastOp::PtrToInt)
                        | Op::InsertElement
                        | Op::InsertValue(_)
                        | Op::Call(_)
                        | Op::Invoke { .. }
                ) && !is_rotation(module, func, i)
                    && !makes_number(module, func, i)
            });
            if !moved_in {
                return false;
            }
            for i in self.of(v) {
                let inst = &func.insts[*i];
                match &inst.op {
                    Op::Store(_) if inst.args.first() == Some(&v) => {}
                    Op::Phi(_)
                    | Op::Freeze
                    | Op::InsertValue(_)
                    | Op::ExtractValue(_)
                    | Op::Cast(CastOp::BitCast | CastOp::IntToPtr) => {
                        work.extend(inst.result);
                    }
                    Op::Select if inst.args.first() != Some(&v) => work.extend(inst.result),
                    Op::Call(_) if is_number(module, func, *i, v) || is_rotation(module, func, *i) => return false,
                    Op::Ret => {}
                    Op::Call(_) | Op::Invoke { .. } => passed.push((*i, v)),
                    _ => return false,
                }
            }
        }
        !is_passed_as_index(module, func, &passed)
    }
}

/// Whether one of the calls is to a function of the program that takes its argument for the index of an element, or passes it to
/// one that does.
fn is_passed_as_index(module: &Module, func: &Func, passed: &[(InstId, ValueId)]) -> bool {
    let parameters = |func: &Func, i: InstId, v: ValueId| -> Vec<(FuncId, usize)> {
        let Some(callee) = module.direct_callee(func, i) else { return Vec::new() };
        let given = func.call_args(i).iter().enumerate().filter(|(_, a)| **a == v);
        given.map(|(n, _)| (callee, n)).collect()
    };
    let mut work: Vec<(FuncId, usize)> = passed.iter().flat_map(|(i, v)| parameters(func, *i, *v)).collect();
    let mut seen = BTreeSet::new();
    while let Some((callee, n)) = work.pop() {
        let callee_body = &module.funcs[callee];
        let Some(v) = callee_body.params.get(n).copied().filter(|_| seen.insert((callee, n))) else { continue };
        for (_, i) in callee_body.placed() {
            let inst = &callee_body.insts[i];
            match &inst.op {
                Op::Gep { .. } if inst.args.iter().skip(1).any(|a| *a == v) => return true,
                Op::Call(_) | Op::Invoke { .. } if inst.args.contains(&v) => {
                    work.extend(parameters(callee_body, i, v));
                }
                _ => {}
            }
        }
    }
    false
}

/// Whether the mathematical function called by `i` takes `v` for an integer, as an exponent.
fn is_number(module: &Module, func: &Func, i: InstId, v: ValueId) -> bool {
    let Callee::Math(math) = resolve(module, func, i) else { return false };
    let mut args = func.call_args(i).iter().zip(math.rule.operands);
    args.any(|(a, operand)| *a == v && *operand == Operand::Int)
}

/// Whether `i` calls a function that makes a number of a float, or counts bits.
pub(crate) fn makes_number(module: &Module, func: &Func, i: InstId) -> bool {
    let counts = ["llvm.ctpop.", "llvm.ctlz.", "llvm.cttz.", "llvm.fptosi.sat.", "llvm.fptoui.sat."];
    let name = module.direct_callee(func, i).map_or("", |f| module.funcs[f].name.as_str());
    let is_float = |v: &ValueId| module.ctx.float_kind(func.ty(*v)).is_some();
    counts.iter().any(|start| name.starts_with(start))
        || matches!(resolve(module, func, i), Callee::Math(_)) && func.call_args(i).iter().any(is_float)
}

/// Whether `i` moves the bits of an integer around, as random numbers and hashes are made.
fn is_rotation(module: &Module, func: &Func, i: InstId) -> bool {
    let name = module.direct_callee(func, i).map_or("", |f| module.funcs[f].name.as_str());
    name.starts_with("llvm.fshl.") || name.starts_with("llvm.fshr.")
}
