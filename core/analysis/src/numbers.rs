//! Integers that are read where floats may lie and become numbers nearly as they are: `(double)bits` is an approximate logarithm if they are the
//! bits of a float, whose derivative would be lost, and a count otherwise.
//!
//! Which of them it is shows when the derivative runs: the tangent beside a count is zero, and a count is no such integer as the bits of a
//! float of a usual size are. Floats may lie in a place if somebody reads or writes just its bytes as one, or copies one there, and in memory
//! of callers of which nobody here says what it is.
//!
//! Looked through are sums with constants, shifts and masks that leave the top of a mantissa; exponents alone are steady. Not looked at:
//! other integers that are computed with ([`crate::bits`], [`crate::reworked`]), and what goes through memory on the way.

use std::collections::BTreeSet;

use cranelift_entity::SecondaryMap;
use enzyme_ir::{BinOp, CastOp, Func, InstId, Module, Op, Type, TypeId, ValueId};

use crate::callee::{Callee, MemoryEffect, resolve};
use crate::carry::Carry;
use crate::memory::{ClassId, FuncMemory};
use crate::program::outer_classes;

/// The loads of such integers, or of vectors of them, that are converted here or returned.
pub fn find(
    module: &Module,
    func: &Func,
    memory: &FuncMemory,
    carry: &SecondaryMap<ValueId, Carry>,
) -> BTreeSet<InstId> {
    let mut work: Vec<ValueId> = Vec::new();
    let (mut stored, mut loads) = (BTreeSet::new(), Vec::new());
    for (_, i) in func.placed() {
        let inst = &func.insts[i];
        match inst.op {
            Op::Cast(CastOp::SIToFP | CastOp::UIToFP) | Op::Ret => {
                work.extend(inst.args.iter().filter(|v| piece_of(module, func.ty(**v)).is_some()));
            }
            Op::Store(_) => stored.extend(inst.args.get(1).and_then(|to| memory.class_of[*to])),
            _ => {}
        }
    }
    let mut seen: BTreeSet<ValueId> = work.iter().copied().collect();
    while let Some(v) = work.pop() {
        let Some(i) = func.def_inst(v) else { continue };
        let inst = &func.insts[i];
        match inst.op {
            Op::Load(_) if carry[v] == Carry::None => loads.extend(inst.args.first().map(|p| (i, v, *p))),
            Op::Phi(_) | Op::Freeze => work.extend(inst.args.iter().copied().filter(|a| seen.insert(*a))),
            Op::Select => work.extend(inst.args.iter().skip(1).copied().filter(|a| seen.insert(*a))),
            Op::Binary(op) => work.extend(linear_in(module, func, op, &inst.args).filter(|a| seen.insert(*a))),
            _ => {}
        }
    }
    if loads.is_empty() {
        return BTreeSet::new();
    }
    let nameless = |class: ClassId| !stored.contains(&class) && !memory.classes[class].has_known_floats();
    let mut hidden: BTreeSet<ClassId> = outer_classes(memory).into_iter().filter(|c| nameless(*c)).collect();
    // So may be what is copied from there.
    loop {
        let copies = func.placed().filter_map(|(_, i)| copied(module, func, memory, i));
        let new = copies.filter(|(to, from)| hidden.contains(from) && nameless(*to) && !hidden.contains(to));
        let new: Vec<ClassId> = new.map(|(to, _)| to).collect();
        if new.is_empty() {
            break;
        }
        hidden.extend(new);
    }
    let is_hidden = |class: ClassId| hidden.contains(&class);
    let is_among = |(_, v, p): &(InstId, ValueId, ValueId)| {
        let piece = piece_of(module, func.ty(*v));
        piece.is_some_and(|len| memory.is_also_float(*p, len)) || memory.class_of[*p].is_some_and(is_hidden)
    };
    loads.into_iter().filter(is_among).map(|(i, _, _)| i).collect()
}

/// The operand in which the operation `op`, with a constant, is linear as long as it leaves the top of a mantissa.
fn linear_in(module: &Module, func: &Func, op: BinOp, args: &[ValueId]) -> Option<ValueId> {
    let (v, by) = (*args.first()?, *args.get(1)?);
    let mantissa: u64 = if piece_of(module, func.ty(v))? == 8 { 52 } else { 23 };
    let constant = func.as_const(by)?;
    let number = module.ctx.consts.as_u64(constant);
    let linear = match op {
        BinOp::Add | BinOp::Sub => true,
        BinOp::And => number.is_some_and(|mask| mask >> (mantissa - 1) & 1 == 1),
        BinOp::LShr | BinOp::AShr => number.is_some_and(|places| places < mantissa),
        _ => false,
    };
    linear.then_some(v)
}

/// The memory that `i` copies to, and from.
fn copied(module: &Module, func: &Func, memory: &FuncMemory, i: InstId) -> Option<(ClassId, ClassId)> {
    let Callee::Known(known) = resolve(module, func, i) else { return None };
    let MemoryEffect::Copy { dst, src, .. } = known.memory() else { return None };
    let class = |n: usize| func.call_args(i).get(n).and_then(|p| memory.class_of[*p]);
    Some((class(dst)?, class(src)?))
}

/// The bytes of an integer of this type that is as long as a float, or of each in a vector.
pub fn piece_of(module: &Module, ty: TypeId) -> Option<u64> {
    let types = &module.ctx.types;
    let scalar = match types[ty] {
        Type::Vector { elem, scalable: false, .. } => elem,
        _ => ty,
    };
    match types[scalar] {
        Type::Int(bits @ (32 | 64)) => Some(u64::from(bits / 8)),
        _ => None,
    }
}
