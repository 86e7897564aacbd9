//! Integers that are computed of words read where floats lie, and stored where floats lie: the bits of floats, of which
//! nobody here knows it, or counts that share their places with floats.
//!
//! Which of them it is, the memory of the derivative tells when it runs: a count has neither a tangent nor an adjoint.
//! Floats may lie in a place if somebody reads or writes just these bytes as one, or elements of an array that comes there;
//! and in memory of callers that is only read here, as something of which the program does not say what it is.
//!
//! Flow-insensitive, one function at a time, over what moves and combines bits. Not followed: integers that are moved as
//! they are (`FuncMemory::may_hide_doubles`), products of them (hashes), what comes from calls or goes to them.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::SecondaryMap;
use enzyme_ir::{BinOp, CastOp, Facts, Func, InstId, Module, Op, Type, ValueId};

use crate::callee::{Callee, resolve};
use crate::carry::Carry;
use crate::memory::FuncMemory;
use crate::program::outer_classes;

/// The stores of such integers, and the loads of which each is made.
pub fn find(
    module: &Module,
    func: &Func,
    facts: &Facts,
    memory: &FuncMemory,
    carry: &SecondaryMap<ValueId, Carry>,
) -> BTreeMap<InstId, BTreeSet<InstId>> {
    let is_word = |v: ValueId| matches!(module.ctx.types[func.ty(v)], Type::Int(32 | 64)) && carry[v] == Carry::None;
    let size = |v: ValueId| module.ctx.layout.store_size(&module.ctx.types, func.ty(v)).unwrap_or(0);
    let is_among = |v: ValueId, p: ValueId| is_word(v) && memory.is_also_float(p, size(v));
    let outer = outer_classes(memory);
    let stores = func.placed().filter(|(_, i)| matches!(func.insts[*i].op, Op::Store(_)));
    let written: Vec<ValueId> = stores.filter_map(|(_, i)| func.insts[i].args.get(1).copied()).collect();
    // What callers keep there may be floats that nobody here reads as such, unless integers are put there.
    let is_hidden = |i: InstId, p: ValueId| {
        let Some(class) = memory.class_of[p].filter(|c| outer.contains(c)) else { return false };
        let put = |to: &ValueId| memory.class_of[*to] == Some(class);
        memory.classes[class].floats().is_empty() && !facts.access_types.contains_key(&i) && !written.iter().any(put)
    };
    let mut found = BTreeMap::new();
    for (_, store) in func.placed() {
        let inst = &func.insts[store];
        let (Op::Store(_), [v, p]) = (&inst.op, inst.args.as_slice()) else { continue };
        if func.as_const(*v).is_some() || !is_among(*v, *p) {
            continue;
        }
        let (mut work, mut seen, mut loads) = (vec![*v], BTreeSet::new(), BTreeSet::new());
        let mut worked = false;
        while let Some(v) = work.pop() {
            let Some(i) = func.def_inst(v).filter(|_| seen.insert(v)) else { continue };
            let inst = &func.insts[i];
            match (&inst.op, inst.args.as_slice()) {
                (Op::Load(_), [q]) if is_among(v, *q) || is_word(v) && is_hidden(i, *q) => {
                    loads.insert(i);
                }
                (Op::Select, [_, either @ ..]) => work.extend(either),
                (Op::Binary(op), args) if moves_bits(*op) => {
                    worked = true;
                    work.extend(args);
                }
                (Op::Cast(CastOp::Trunc | CastOp::ZExt | CastOp::SExt) | Op::Phi(_) | Op::Freeze, args) => {
                    work.extend(args);
                }
                // Bytes in another order, bits moved around, the smaller of two.
                (Op::Call(_), _) if matches!(resolve(module, func, i), Callee::Known(_)) => {
                    worked = true;
                    work.extend(func.call_args(i).iter().filter(|a| is_word(**a)));
                }
                _ => {}
            }
        }
        if worked && !loads.is_empty() {
            found.insert(store, loads);
        }
    }
    found
}

fn moves_bits(op: BinOp) -> bool {
    matches!(op, BinOp::And | BinOp::Or | BinOp::Xor | BinOp::Add | BinOp::Sub | BinOp::Shl | BinOp::LShr | BinOp::AShr)
}
