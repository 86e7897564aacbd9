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

use crate::carry::Carry;
use crate::hidden::Hidden;
use crate::memory::FuncMemory;

/// The loads of such integers, or of vectors of them, that are converted here or returned.
pub fn find(
    module: &Module,
    func: &Func,
    memory: &FuncMemory,
    carry: &SecondaryMap<ValueId, Carry>,
) -> BTreeSet<InstId> {
    let mut work: Vec<ValueId> = Vec::new();
    let mut loads = Vec::new();
    for (_, i) in func.placed() {
        let inst = &func.insts[i];
        match inst.op {
            Op::Cast(CastOp::SIToFP | CastOp::UIToFP) | Op::Ret => {
                work.extend(inst.args.iter().filter(|v| piece_of(module, func.ty(**v)).is_some()));
            }
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
    let hidden = Hidden::find(module, func, memory, carry);
    let is_among = |(_, v, p): &(InstId, ValueId, ValueId)| {
        let piece = piece_of(module, func.ty(*v));
        let whole = module.ctx.layout.store_size(&module.ctx.types, func.ty(*v)).unwrap_or(0);
        piece.is_some_and(|len| memory.is_also_float(*p, len)) || hidden.holds(*p, whole)
    };
    loads.into_iter().filter(is_among).map(|(i, _, _)| i).collect()
}

/// The operand in which the operation `op`, with a constant, is linear as long as it leaves the top of a mantissa.
fn linear_in(module: &Module, func: &Func, op: BinOp, args: &[ValueId]) -> Option<ValueId> {
    let (mut v, mut by) = (*args.first()?, *args.get(1)?);
    if op == BinOp::Sub && func.as_const(v).is_some() {
        std::mem::swap(&mut v, &mut by);
    }
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
