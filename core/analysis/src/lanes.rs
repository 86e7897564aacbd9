//! Floats and pointers that hide in vectors of integers.
//!
//! Nothing says what an integer lane holds, and derivatives do not follow it. Where bits of memory with a shadow, or of
//! active floats, travel in such a vector and come back as floats, as pointers or into memory with a shadow, the
//! derivative would lose them: these places are found here and refused. Arithmetic ends the way: what is added or
//! compared is an integer.
//!
//! Not found: bits that pass through memory without a shadow.

use std::collections::BTreeSet;

use enzyme_ir::{BinOp, CastOp, Func, InstId, Module, Op, Type, TypeId, ValueId};

use crate::activity::Activity;
use crate::program::{Program, Unit};
use crate::useful::Useful;

/// Whether a type is a vector of integers.
fn is_int_vector(module: &Module, ty: TypeId) -> bool {
    match module.ctx.types[ty] {
        Type::Vector { elem, .. } => matches!(module.ctx.types[elem], Type::Int(bits) if bits > 1),
        _ => false,
    }
}

/// Whether the bits of operands are found again in the result.
fn moves_bits(op: &Op) -> bool {
    matches!(
        op,
        Op::Cast(CastOp::BitCast | CastOp::Trunc | CastOp::ZExt)
            | Op::ShuffleVector(_)
            | Op::ExtractElement
            | Op::InsertElement
            | Op::Select
            | Op::Phi(_)
            | Op::Freeze
            | Op::Binary(BinOp::And | BinOp::Or | BinOp::Xor | BinOp::Shl | BinOp::LShr)
    )
}

/// The first instruction of `func` after which derivatives would be lost, if there is one.
pub fn lost(program: &Program<'_>, func: &Func, unit: &Unit, activity: &Activity, useful: &Useful) -> Vec<InstId> {
    let module = program.module;
    let shadowed = |v: ValueId| unit.memory.class_of[v].is_some_and(|c| activity.is_shadowed(c));
    let mut out = Vec::new();
    // What was read, by what, and whether it was in a vector since.
    let mut work: Vec<(ValueId, InstId, bool)> = Vec::new();
    for (_, i) in func.placed() {
        let inst = &func.insts[i];
        let Some(r) = inst.result else { continue };
        let is_vector = is_int_vector(module, inst.ty);
        if is_vector && activity.is_active(r) {
            out.push(i);
        } else if let (Op::Load(_), Some(p)) = (&inst.op, inst.args.first().filter(|p| shadowed(**p))) {
            let bytes = if let Type::Int(bits) = module.ctx.types[inst.ty] { u64::from(bits / 8) } else { 0 };
            let is_piece = bytes > 1 && unit.memory.may_hold_floats(*p, bytes);
            if is_vector || is_piece {
                work.push((r, i, is_vector));
            }
        }
    }
    let mut seen = BTreeSet::new();
    while let Some((v, from, was_vector)) = work.pop() {
        if !seen.insert((v, was_vector)) {
            continue;
        }
        for i in unit.uses.of(v) {
            let inst = &func.insts[*i];
            let is_useful = inst.result.is_some_and(|r| useful.values[r]);
            let comes_back = match &inst.op {
                Op::Store(_) => inst.args.first() == Some(&v) && inst.args.get(1).is_some_and(|p| shadowed(*p)),
                Op::Cast(CastOp::BitCast) => module.ctx.types.is_float_or_vector(inst.ty) && is_useful,
                Op::Cast(CastOp::IntToPtr) => inst.result.is_some_and(shadowed),
                Op::Ret => true,
                Op::Call(_) | Op::Invoke { .. } => activity.calls.contains_key(i),
                _ => false,
            };
            if comes_back && was_vector {
                out.push(from);
            }
            let is_condition = matches!(inst.op, Op::Select) && inst.args.first() == Some(&v);
            let is_float = module.ctx.types.is_float_or_vector(inst.ty);
            if moves_bits(&inst.op) && !is_condition && !is_float {
                let now = was_vector || is_int_vector(module, inst.ty);
                work.extend(inst.result.map(|r| (r, from, now)));
            }
        }
    }
    out.sort_unstable();
    out.truncate(1);
    out
}
