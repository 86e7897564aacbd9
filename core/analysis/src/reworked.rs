//! Integers that are made of what is read where floats may lie, and stored where floats may lie: the bits of floats, of which
//! nobody here knows it, or counts that share their places with floats.
//!
//! Which of them it is, the memory of the derivative tells when it runs: a count has neither a tangent nor an adjoint.
//! Floats may lie in a place if somebody reads or writes its bytes as one, or elements of an array that comes there; in memory
//! of which nobody here knows what it is ([`crate::hidden`]); and in memory on the way from the one to the other. An integer may be
//! one float, a part of one, as a byte is, or several beside each other.
//!
//! Looked at are integers that are computed with, and those that are moved as they are if the compiler states that they are
//! integers, as a program may copy doubles as `int` though C does not allow that. All others that are moved are seen to by
//! [`crate::carry`].
//!
//! Flow-insensitive, one function at a time, over what moves and combines bits. Not followed: products of such integers
//! (hashes), what comes from calls or goes to them, memory of integers that one function fills and another reads.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::SecondaryMap;
use enzyme_ir::{BinOp, CastOp, Facts, Func, InstId, Module, Op, Type, ValueId};

use crate::callee::{Callee, resolve};
use crate::carry::Carry;
use crate::hidden::Hidden;
use crate::memory::{ClassId, FuncMemory};

/// What a store of such an integer is made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reworked {
    /// Where it was read.
    pub loads: BTreeSet<InstId>,
    /// How many of its bytes may be one float, or a part of one.
    pub piece: u64,
    /// Whether it is as long as the floats there, and computed with.
    pub whole: bool,
}

/// The stores of such integers.
pub fn find(
    module: &Module,
    func: &Func,
    facts: &Facts,
    memory: &FuncMemory,
    carry: &SecondaryMap<ValueId, Carry>,
) -> BTreeMap<InstId, Reworked> {
    let is_word = |v: ValueId| {
        matches!(module.ctx.types[func.ty(v)], Type::Int(8 | 16 | 32 | 64 | 128)) && carry[v] == Carry::None
    };
    let size = |v: ValueId| module.ctx.layout.store_size(&module.ctx.types, func.ty(v)).unwrap_or(0);
    let is_among = |v: ValueId, p: ValueId| is_word(v) && memory.is_also_float(p, size(v));
    // Parts of floats, and several of them.
    let overlaps = |v: ValueId, p: ValueId| is_word(v) && memory.shortest_float(p, size(v)).is_some();
    let hidden = Hidden::find(module, func, memory, carry);
    let is_hidden = |v: ValueId, p: ValueId| hidden.holds(p, size(v));
    let stored = func.placed().filter_map(|(_, i)| made_of(module, func, i, &is_word));
    let stored: Vec<Stored> = stored.filter(|s| !s.loads.is_empty()).collect();
    let is_float =
        |v: ValueId, p: ValueId, whole: bool| (if whole { is_among(v, p) } else { overlaps(v, p) }) || is_hidden(v, p);
    // Memory on the way: bits of floats may come there (forward), and go from there to where floats lie.
    let reached = |known: &BTreeSet<ClassId>, forward: bool| -> BTreeSet<ClassId> {
        let among = |v: ValueId, p: ValueId| overlaps(v, p) || memory.class_of[p].is_some_and(|c| known.contains(&c));
        let mut out = known.clone();
        for s in &stored {
            let from = |(_, v, q): &(InstId, ValueId, ValueId)| among(*v, *q) || forward && is_hidden(*v, *q);
            if forward && s.loads.iter().any(from) && !overlaps(s.value, s.to) {
                out.extend(memory.class_of[s.to]);
            } else if !forward && among(s.value, s.to) {
                let plain = s.loads.iter().filter(|(_, v, q)| !overlaps(*v, *q) && !is_hidden(*v, *q));
                out.extend(plain.filter_map(|(_, _, q)| memory.class_of[*q]));
            }
        }
        out
    };
    let closure = |forward: bool| {
        let mut known = BTreeSet::new();
        loop {
            let next = reached(&known, forward);
            if next == known {
                return known;
            }
            known = next;
        }
    };
    let (from, to) = (closure(true), closure(false));
    let is_between = |p: ValueId| memory.class_of[p].is_some_and(|c| from.contains(&c) && to.contains(&c));
    let shortest_of_all = stored.iter().filter_map(|s| memory.shortest_float(s.to, size(s.value))).min();
    let mut found = BTreeMap::new();
    for s in stored {
        let shortest = memory.shortest_float(s.to, size(s.value));
        if shortest.is_none() && !is_between(s.to) {
            continue;
        }
        let whole = shortest.is_none() || is_among(s.value, s.to);
        let floats = |(_, v, q): &&(InstId, ValueId, ValueId)| !s.worked || is_float(*v, *q, whole) || is_between(*q);
        let loads: BTreeSet<InstId> = s.loads.iter().filter(floats).map(|(load, _, _)| *load).collect();
        let stated = |i: &InstId| facts.access_types.contains_key(i);
        // Of what is moved as it is the compiler states that it is an integer, or nothing is thought of it here.
        if !loads.is_empty() && (s.worked || stated(&s.store) && loads.iter().all(stated)) {
            let piece = if shortest.is_some() && whole { None } else { shortest.or(shortest_of_all) };
            let piece = piece.map_or(size(s.value), |piece| piece.min(size(s.value)));
            found.insert(s.store, Reworked { loads, piece, whole: whole && s.worked && shortest.is_some() });
        }
    }
    found
}

/// A store of an integer, and what that is made of.
struct Stored {
    store: InstId,
    value: ValueId,
    to: ValueId,
    /// Loads, what they read and where.
    loads: Vec<(InstId, ValueId, ValueId)>,
    /// Whether anything is computed on the way.
    worked: bool,
}

fn made_of(module: &Module, func: &Func, store: InstId, is_word: &dyn Fn(ValueId) -> bool) -> Option<Stored> {
    let inst = &func.insts[store];
    let (Op::Store(_), [value, to]) = (&inst.op, inst.args.as_slice()) else { return None };
    if func.as_const(*value).is_some() || !is_word(*value) {
        return None;
    }
    let mut out = Stored { store, value: *value, to: *to, loads: Vec::new(), worked: false };
    let (mut work, mut seen) = (vec![*value], BTreeSet::new());
    while let Some(v) = work.pop() {
        let Some(i) = func.def_inst(v).filter(|_| seen.insert(v)) else { continue };
        let inst = &func.insts[i];
        match (&inst.op, inst.args.as_slice()) {
            (Op::Load(_), [from]) if is_word(v) => out.loads.push((i, v, *from)),
            (Op::Select, [_, either @ ..]) => work.extend(either),
            (Op::Binary(op), args) if moves_bits(*op) => {
                out.worked = true;
                work.extend(args);
            }
            (Op::Cast(CastOp::Trunc | CastOp::ZExt | CastOp::SExt) | Op::Phi(_) | Op::Freeze, args) => {
                work.extend(args);
            }
            // Bytes in another order, bits moved around, the smaller of two.
            (Op::Call(_), _) if matches!(resolve(module, func, i), Callee::Known(_)) => {
                out.worked = true;
                work.extend(func.call_args(i).iter().filter(|a| is_word(**a)));
            }
            _ => {}
        }
    }
    Some(out)
}

fn moves_bits(op: BinOp) -> bool {
    matches!(op, BinOp::And | BinOp::Or | BinOp::Xor | BinOp::Add | BinOp::Sub | BinOp::Shl | BinOp::LShr | BinOp::AShr)
}
