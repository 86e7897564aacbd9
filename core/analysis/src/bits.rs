//! Floats whose bits are taken apart as integers and put together again, also by way of memory and calls.
//!
//! An integer computed from the bits of a float (shifted, masked, truncated) is *tainted*; so is memory in which it is
//! stored, and what is read from there. If something tainted becomes a float again, a derivative would be lost on the
//! way: all that is tainted then counts as [`Carry::Mixed`], which is refused where it is active. Where nothing becomes a
//! float again (hashes, comparisons, printing) the integers are integers.
//!
//! Flow-insensitive, one function at a time; callees say whether they return tainted integers. Not found: bits that a
//! callee leaves in memory.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::SecondaryMap;
use enzyme_ir::{BinOp, CastOp, Facts, Func, FuncId, InstId, Module, Op, Type, ValueId};

use crate::callee::{Callee, resolve};
use crate::carry::Carry;
use crate::memory::{ClassId, FuncMemory};
use crate::program::{Unit, outer_classes};
use crate::uses::Uses;

struct Flow<'a> {
    module: &'a Module,
    func: &'a Func,
    facts: &'a Facts,
    memory: &'a FuncMemory,
    outer: BTreeSet<ClassId>,
    uses: &'a Uses,
    callees: &'a BTreeMap<FuncId, Unit>,
    values: BTreeSet<ValueId>,
    classes: BTreeSet<ClassId>,
}

/// Marks what is tainted and becomes a float again in `carry`. Whether the function returns something tainted.
pub fn follow(
    module: &Module,
    func: &Func,
    facts: &Facts,
    memory: &FuncMemory,
    uses: &Uses,
    callees: &BTreeMap<FuncId, Unit>,
    carry: &mut SecondaryMap<ValueId, Carry>,
) -> bool {
    let mut flow = Flow {
        module,
        func,
        facts,
        memory,
        outer: outer_classes(memory),
        uses,
        callees,
        values: BTreeSet::new(),
        classes: BTreeSet::new(),
    };
    for (_, i) in func.placed() {
        for v in flow.in_place(i) {
            carry[v] = Carry::Mixed;
        }
    }
    loop {
        let before = (flow.values.len(), flow.classes.len());
        for (_, i) in func.placed() {
            flow.step(i, carry);
        }
        if (flow.values.len(), flow.classes.len()) == before {
            break;
        }
    }
    if flow.values.is_empty() {
        return false;
    }
    if func.placed().any(|(_, i)| flow.becomes_float(i, carry)) {
        for v in &flow.values {
            if carry[*v] != Carry::Native {
                carry[*v] = Carry::Mixed;
            }
        }
    }
    func.placed().any(|(_, i)| {
        let inst = &func.insts[i];
        matches!(inst.op, Op::Ret) && inst.args.iter().any(|a| flow.values.contains(a))
    })
}

impl Flow<'_> {
    fn is_int(&self, v: ValueId) -> bool {
        let types = &self.module.ctx.types;
        let scalar = match types[self.func.ty(v)] {
            Type::Vector { elem, .. } => elem,
            _ => self.func.ty(v),
        };
        matches!(types[scalar], Type::Int(bits) if bits > 1)
    }

    /// Whether an integer at `p` lies on the bytes of floats.
    fn on_floats(&self, v: ValueId, p: ValueId) -> bool {
        let len = self.module.ctx.layout.store_size(&self.module.ctx.types, self.func.ty(v)).unwrap_or(0);
        if let Type::Vector { .. } = self.module.ctx.types[self.func.ty(v)] {
            // That vectors of integers are computed with there proves nothing: so do signs of floats change.
            return self.memory.may_hold_floats(p, len);
        }
        len >= 2 && self.memory.floats_under(p, len).is_some_and(|f| !f.is_empty())
    }

    /// The integers by which the store `i` changes, in its place, what may be the sign, the exponent or the precision of
    /// a float: `place ^= 0x80`. Integers lie there as well, so only a constant that is of use for floats tells.
    fn in_place(&self, i: InstId) -> Vec<ValueId> {
        let inst = &self.func.insts[i];
        let (Op::Store(_), [stored, p]) = (&inst.op, inst.args.as_slice()) else { return Vec::new() };
        let mut values = vec![*stored];
        let mut masks = Vec::new();
        while let Some(v) = values.last().copied() {
            let Some(def) = self.func.def_inst(v).map(|d| &self.func.insts[d]) else { return Vec::new() };
            match (&def.op, def.args.as_slice()) {
                (Op::Cast(CastOp::Trunc | CastOp::ZExt | CastOp::SExt), [from]) => values.push(*from),
                (Op::Binary(op), [from, by]) if masks.is_empty() => {
                    let Some(by) = self.func.as_const(*by).and_then(|c| self.module.ctx.consts.as_u64(c)) else {
                        return Vec::new();
                    };
                    masks.push((*op, by));
                    values.push(*from);
                }
                (Op::Load(_), [q]) => {
                    let memory = self.memory;
                    let same = memory.class_of[*q] == memory.class_of[*p] && memory.span_of[*q] == memory.span_of[*p];
                    let Type::Int(bits) = self.module.ctx.types[self.func.ty(v)] else { return Vec::new() };
                    let telling = masks.iter().any(|(op, by)| is_for_floats(*op, *by, bits));
                    let floats = same && telling && memory.may_hold_floats(*p, u64::from(bits.div_ceil(8)));
                    return if floats { values } else { Vec::new() };
                }
                _ => return Vec::new(),
            }
        }
        Vec::new()
    }

    fn step(&mut self, i: InstId, carry: &SecondaryMap<ValueId, Carry>) {
        let inst = &self.func.insts[i];
        let holds_bits = |v: &ValueId| matches!(carry[*v], Carry::Bits(..) | Carry::Mixed);
        let args = inst.args.as_slice();
        if let (Op::Store(_), [v, p]) = (&inst.op, args) {
            if self.values.contains(v) {
                self.classes.extend(self.memory.class_of[*p]);
            }
            return;
        }
        let Some(r) = inst.result.filter(|r| self.is_int(*r)) else { return };
        let tainted = match (&inst.op, args) {
            (Op::Load(_), [p]) => {
                let counted = carry[r] == Carry::None && !self.uses.is_copied_only(self.func, r);
                let class = self.memory.class_of[*p];
                // What the caller keeps in its memory may be floats that nobody here reads as such.
                let hidden = !self.facts.access_types.contains_key(&i)
                    && class.is_some_and(|c| self.outer.contains(&c) && self.memory.classes[c].floats().is_empty());
                class.is_some_and(|c| self.classes.contains(&c)) || counted && (hidden || self.on_floats(r, *p))
            }
            (Op::Binary(_) | Op::Cast(CastOp::Trunc | CastOp::ZExt), _) => {
                args.iter().any(|a| self.values.contains(a) || holds_bits(a) && self.is_int(*a))
            }
            (Op::Phi(_) | Op::Freeze, _) => args.iter().any(|a| self.values.contains(a)),
            (Op::Select, [_, a, b]) => self.values.contains(a) || self.values.contains(b),
            (Op::Call(_) | Op::Invoke { .. }, _) => match resolve(self.module, self.func, i) {
                Callee::Defined(g) => self.callees.get(&g).is_some_and(|u| u.returns_bits),
                Callee::Math(_) | Callee::Known(_) | Callee::Unknown(_) => false,
            },
            _ => false,
        };
        if tainted {
            self.values.insert(r);
        }
    }

    /// Whether something tainted becomes a float by `i`.
    fn becomes_float(&self, i: InstId, carry: &SecondaryMap<ValueId, Carry>) -> bool {
        let inst = &self.func.insts[i];
        let float = inst.result.is_some_and(|r| self.module.ctx.types.contains_float(self.func.ty(r)));
        match (&inst.op, inst.args.as_slice()) {
            (Op::Cast(CastOp::BitCast), [v]) => float && self.values.contains(v),
            (Op::Store(_), [v, p]) => self.values.contains(v) && carry[*v] != Carry::Mixed && self.on_floats(*v, *p),
            (Op::Load(_), [p]) => {
                float && self.memory.class_of[*p].is_some_and(|c| self.classes.contains(&c)) && self.overlaps_taint(i)
            }
            (Op::Call(_) | Op::Invoke { .. }, _) => {
                let Callee::Defined(g) = resolve(self.module, self.func, i) else { return false };
                let Some(callee) = self.callees.get(&g) else { return false };
                let params = self.module.funcs[g].params.iter();
                params.zip(self.func.call_args(i)).any(|(p, a)| self.values.contains(a) && callee.carry[*p].may())
            }
            _ => false,
        }
    }

    /// Whether the bytes that `i` loads are those of a tainted store.
    fn overlaps_taint(&self, i: InstId) -> bool {
        let layout = &self.module.ctx.layout;
        let types = &self.module.ctx.types;
        let size = |v: ValueId| layout.store_size(types, self.func.ty(v)).unwrap_or(0);
        let inst = &self.func.insts[i];
        let (Some(r), Some(p)) = (inst.result, inst.args.first()) else { return false };
        self.func.placed().any(|(_, s)| match (&self.func.insts[s].op, self.func.insts[s].args.as_slice()) {
            (Op::Store(_), [v, q]) => {
                self.values.contains(v)
                    && self.memory.class_of[*q] == self.memory.class_of[*p]
                    && self.memory.span_of[*q] == self.memory.span_of[*p]
                    && size(*v) == size(r)
            }
            _ => false,
        })
    }
}

/// Whether `op` with the constant `by` on the uppermost `bits` of a float is one that is written for floats: it changes
/// nothing but the sign, steps the exponent, or cuts off at least twenty digits.
fn is_for_floats(op: BinOp, by: u64, bits: u32) -> bool {
    if !matches!(bits, 8 | 16 | 32 | 64) {
        return false;
    }
    let all = u64::MAX >> (64 - bits);
    let sign = 1u64 << (bits - 1);
    match op {
        BinOp::Xor | BinOp::Or => by & all == sign,
        BinOp::And => by & all == all ^ sign || bits >= 32 && by & sign != 0 && by.trailing_zeros() >= 20,
        // 11 bits of exponent in a double, 8 in a float.
        BinOp::Add | BinOp::Sub => bits >= 32 && (by & all).trailing_zeros() + 12 >= bits && by & all != 0,
        _ => false,
    }
}
