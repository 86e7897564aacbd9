//! Integers that are read where floats may lie and become numbers nearly as they are: `(double)bits` is an approximate logarithm if they are the
//! bits of a float, whose derivative would be lost, and a count otherwise.
//!
//! Which of them it is shows when the derivative runs: a count is no such integer as the bits of a float of a usual size are. Floats may lie in a place if somebody reads or writes just its bytes as one, or copies one there, and in memory
//! of callers of which nobody here says what it is.
//!
//! Looked through are sums with constants, shifts and masks that leave the top of a mantissa; exponents alone are steady. Not looked at:
//! other integers that are computed with ([`crate::bits`], [`crate::reworked`]), and what goes through memory on the way.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::SecondaryMap;
use enzyme_ir::{BinOp, CastOp, Func, InstId, Module, Op, Type, TypeId, ValueId};

use crate::carry::Carry;
use crate::hidden::Hidden;
use crate::memory::FuncMemory;
use crate::uses::Uses;

/// An integer, or a vector of them, that becomes a number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Number {
    /// What is converted, but for the operations that are looked through.
    pub value: ValueId,
    /// Where it may have been read, where floats may lie.
    pub loads: BTreeSet<InstId>,
}

/// Such integers, by the instructions after which it is known that somebody wants them: conversions, and for what is returned those that
/// make it. A conversion that a selection may discard is none, as it may be made of anything.
pub fn find(
    module: &Module,
    func: &Func,
    memory: &FuncMemory,
    uses: &Uses,
    carry: &SecondaryMap<ValueId, Carry>,
) -> BTreeMap<InstId, Number> {
    let mut found: Vec<(InstId, ValueId, Vec<Read>)> = Vec::new();
    for (_, i) in func.placed() {
        let inst = &func.insts[i];
        let [v] = inst.args.as_slice() else { continue };
        if piece_of(module, func.ty(*v)).is_none() {
            continue;
        }
        let base = base_of(module, func, *v);
        let reads = || reads(module, func, carry, base);
        match (&inst.op, func.def_inst(base)) {
            (Op::Cast(CastOp::SIToFP | CastOp::UIToFP), _)
                if !inst.result.is_some_and(|r| is_chosen(func, uses, r, NEAR)) =>
            {
                found.push((i, base, reads()));
            }
            (Op::Ret, Some(made)) if matches!(func.insts[made].op, Op::Phi(_)) => {
                found.extend(reads().into_iter().map(|read| (read.0, read.1, vec![read])));
            }
            (Op::Ret, Some(made)) => found.push((made, base, reads())),
            _ => {}
        }
    }
    found.retain(|(_, _, reads)| !reads.is_empty());
    if found.is_empty() {
        return BTreeMap::new();
    }
    let hidden = Hidden::find(module, func, memory, carry);
    let is_among = |(_, v, p): &Read| {
        let whole = module.ctx.layout.store_size(&module.ctx.types, func.ty(*v)).unwrap_or(0);
        let piece = piece_of(module, func.ty(*v));
        piece.is_some_and(|len| memory.is_also_float(*p, len)) || hidden.holds(*p, whole)
    };
    let mut out = BTreeMap::new();
    for (i, value, reads) in found {
        let loads: BTreeSet<InstId> = reads.iter().filter(|read| is_among(read)).map(|read| read.0).collect();
        if !loads.is_empty() {
            out.insert(i, Number { value, loads });
        }
    }
    out
}

/// A load, what it reads and where.
type Read = (InstId, ValueId, ValueId);

/// How many operations before a conversion are looked through; code that never runs may go in circles.
const MOST: usize = 100;

/// How many operations after a conversion a selection is looked for.
const NEAR: u32 = 3;

/// Whether `v`, or what is computed from it in a few steps, is an arm of a selection.
fn is_chosen(func: &Func, uses: &Uses, v: ValueId, steps: u32) -> bool {
    uses.of(v).iter().any(|i| {
        let inst = &func.insts[*i];
        match inst.op {
            Op::Select => inst.args.iter().skip(1).any(|a| *a == v),
            Op::Binary(_) | Op::FNeg | Op::Cast(_) | Op::Freeze | Op::Call(_) => {
                steps > 0 && inst.result.is_some_and(|r| is_chosen(func, uses, r, steps - 1))
            }
            _ => false,
        }
    })
}

/// What `v` is made of by operations that are looked through, of which there are few.
fn base_of(module: &Module, func: &Func, v: ValueId) -> ValueId {
    let from = |v: &ValueId| {
        let inst = &func.insts[func.def_inst(*v)?];
        match inst.op {
            Op::Freeze => inst.args.first().copied(),
            Op::Binary(op) => linear_in(module, func, op, &inst.args),
            _ => None,
        }
    };
    std::iter::successors(Some(v), from).take(MOST).last().unwrap_or(v)
}

/// The loads that `v` may come from.
fn reads(module: &Module, func: &Func, carry: &SecondaryMap<ValueId, Carry>, v: ValueId) -> Vec<Read> {
    let (mut work, mut seen, mut out) = (vec![v], BTreeSet::from([v]), Vec::new());
    while let Some(v) = work.pop() {
        let Some(i) = func.def_inst(v) else { continue };
        let inst = &func.insts[i];
        match inst.op {
            Op::Load(_) if carry[v] == Carry::None => out.extend(inst.args.first().map(|p| (i, v, *p))),
            Op::Phi(_) | Op::Freeze => work.extend(inst.args.iter().copied().filter(|a| seen.insert(*a))),
            Op::Select => work.extend(inst.args.iter().skip(1).copied().filter(|a| seen.insert(*a))),
            Op::Binary(op) => work.extend(linear_in(module, func, op, &inst.args).filter(|a| seen.insert(*a))),
            _ => {}
        }
    }
    out
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
