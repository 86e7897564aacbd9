//! Which values carry floats, and in what form.
//!
//! A float may pass through integer registers: a copy of eight bytes loaded and stored as `i64`, a `bitcast`, two
//! floats packed in one `i64` by a calling convention. Types are about bytes, not about LLVM's names for them, so each
//! value gets a [`Carry`]. Evidence, strongest first: the value's own type; a `bitcast` to or from a float; what
//! metadata says of the bytes loaded or stored; the only float format ever seen in that memory.
//!
//! An integer that is computed with is an integer, unless the computation only moves bits (shifts by whole half-words,
//! truncation, `or`) towards a float: then it is [`Carry::Mixed`], which is refused where it is active.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::SecondaryMap;
use enzyme_ir::{
    BinOp, ByteRun, ByteType, CastOp, Facts, FloatKind, Func, FuncId, InstId, Module, Op, Type, TypeId, ValueId,
};

use crate::callee::{Callee, resolve};
use crate::memory::{ClassId, FuncMemory};
use crate::program::{Unit, outer_classes};
use crate::uses::Uses;

/// How a value carries floats.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Carry {
    /// It carries none.
    #[default]
    None,
    /// Its type says so.
    Native,
    /// An integer holding the bits of this many floats of a format, and nothing else.
    Bits(FloatKind, u32),
    /// An integer copied from memory that holds floats among other things; which it is can't be told.
    Unknown,
    /// An integer that holds bits of floats among other bits.
    Mixed,
}

impl Carry {
    /// Whether the value may carry a float.
    pub fn may(self) -> bool {
        !matches!(self, Carry::None)
    }
}

/// What the bytes of an integer of `bits` are, by the runs that metadata states for an access.
pub fn runs_as_bits(runs: &[ByteRun], bits: u32) -> Option<Carry> {
    let first = runs.first()?;
    match first.ty {
        ByteType::Integer | ByteType::Pointer => {
            runs.iter().all(|r| !matches!(r.ty, ByteType::Float(_))).then_some(Carry::None)
        }
        ByteType::Float(kind) => {
            let total: u64 = runs.iter().map(|r| r.size).sum();
            let same = runs.iter().all(|r| r.ty == first.ty);
            let whole = total * 8 == u64::from(bits) && bits.is_multiple_of(kind.bits());
            (same && whole).then(|| Carry::Bits(kind, bits / kind.bits()))
        }
    }
}

/// How each value of `func` carries floats.
pub fn analyze(
    module: &Module,
    func: &Func,
    facts: &Facts,
    memory: &FuncMemory,
    uses: &Uses,
    callees: &BTreeMap<FuncId, Unit>,
) -> SecondaryMap<ValueId, Carry> {
    let outer = outer_classes(memory);
    let mut pass = Pass { module, func, facts, memory, uses, outer, callees, out: SecondaryMap::new() };
    for v in func.values.keys() {
        if module.ctx.types.contains_float(func.ty(v)) {
            pass.out[v] = Carry::Native;
        }
    }
    for (_, i) in func.placed() {
        pass.seed(i);
    }
    pass.want_bits();
    pass.out
}

struct Pass<'a> {
    module: &'a Module,
    func: &'a Func,
    facts: &'a Facts,
    memory: &'a FuncMemory,
    uses: &'a Uses,
    outer: BTreeSet<ClassId>,
    callees: &'a BTreeMap<FuncId, Unit>,
    out: SecondaryMap<ValueId, Carry>,
}

impl Pass<'_> {
    fn int_bits(&self, ty: TypeId) -> Option<u32> {
        match self.module.ctx.types[ty] {
            Type::Int(bits) => Some(bits),
            _ => None,
        }
    }

    /// Bits of the integer value `v` as floats of the type `float_ty`.
    fn as_lanes(&self, float_ty: TypeId, bits: u32) -> Option<Carry> {
        let kind = self.module.ctx.types.float_kind(float_ty)?;
        bits.is_multiple_of(kind.bits()).then(|| Carry::Bits(kind, bits / kind.bits()))
    }

    /// Gives `v` and all that it is merged with the carry `c`.
    fn spread(&mut self, v: ValueId, c: Carry) {
        let mut work = vec![v];
        let mut seen = BTreeSet::new();
        while let Some(v) = work.pop() {
            if !seen.insert(v) || self.func.as_const(v).is_some() || self.int_bits(self.func.ty(v)).is_none() {
                continue;
            }
            match (self.out[v], c) {
                (Carry::None | Carry::Unknown, _) => self.out[v] = c,
                (Carry::Bits(..), Carry::Bits(..) | Carry::None | Carry::Unknown | Carry::Native) => continue,
                (_, Carry::Mixed) => self.out[v] = c,
                (Carry::Native | Carry::Mixed, _) => continue,
            }
            if let Some(i) = self.func.def_inst(v) {
                let inst = &self.func.insts[i];
                match inst.op {
                    Op::Phi(_) | Op::Freeze => work.extend(inst.args.iter().copied()),
                    Op::Select => work.extend(inst.args.iter().skip(1).copied()),
                    _ => {}
                }
            }
            for i in self.uses.of(v) {
                let inst = &self.func.insts[*i];
                match inst.op {
                    Op::Phi(_) | Op::Freeze => work.extend(inst.result),
                    Op::Select if inst.args.first() != Some(&v) => work.extend(inst.result),
                    _ => {}
                }
            }
        }
    }

    fn seed(&mut self, i: InstId) {
        let inst = &self.func.insts[i];
        match &inst.op {
            Op::Cast(CastOp::BitCast) => {
                let (Some(from), Some(to)) = (inst.args.first().copied(), inst.result) else { return };
                for (a, b) in [(from, to), (to, from)] {
                    if let Some(bits) = self.int_bits(self.func.ty(a))
                        && let Some(c) = self.as_lanes(self.func.ty(b), bits)
                    {
                        self.spread(a, c);
                    }
                }
            }
            Op::Call(_) | Op::Invoke { .. } => {
                // What the callee makes of an integer parameter is what the argument is.
                let Callee::Defined(g) = resolve(self.module, self.func, i) else { return };
                let Some(callee) = self.callees.get(&g) else { return };
                for (p, a) in self.module.funcs[g].params.iter().zip(self.func.call_args(i)) {
                    if callee.carry[*p].may() && self.int_bits(self.func.ty(*a)).is_some() {
                        self.spread(*a, callee.carry[*p]);
                    }
                }
            }
            Op::Load(_) => {
                if let (Some(v), Some(p)) = (inst.result, inst.args.first().copied()) {
                    self.access(i, v, p);
                }
            }
            Op::Store(_) => {
                if let (Some(v), Some(p)) = (inst.args.first().copied(), inst.args.get(1).copied()) {
                    self.access(i, v, p);
                }
            }
            _ => {}
        }
    }

    fn access(&mut self, i: InstId, v: ValueId, p: ValueId) {
        let Some(bits) = self.int_bits(self.func.ty(v)) else { return };
        if self.func.as_const(v).is_some() || !self.uses.is_copied_only(self.func, v) {
            return;
        }
        let Some(class) = self.memory.class_of[p] else { return };
        let memory = &self.memory.classes[class];
        // Floats copied into memory that is only ever read as integers: the name of the integer type proves nothing.
        let hidden = memory.floats.is_empty() && !memory.copied_floats.is_empty();
        let stated = self.facts.access_types.get(&i).and_then(|runs| runs_as_bits(runs, bits));
        if let Some(c) = stated.filter(|_| !hidden) {
            if c != Carry::None {
                self.spread(v, c);
            }
            return;
        }
        if memory.all_floats().is_empty() {
            // Nobody here says what the caller keeps in its memory.
            let unsaid = !memory.pointers && !memory.integers && bits >= 8 && self.outer.contains(&class);
            if unsaid {
                self.spread(v, Carry::Unknown);
            }
            return;
        }
        if is_narrow_field(self.module, self.func, self.memory, p, bits) {
            return;
        }
        match self.memory.uniform_float(class) {
            Some(kind) if bits.is_multiple_of(kind.bits()) => self.spread(v, Carry::Bits(kind, bits / kind.bits())),
            _ => self.spread(v, Carry::Unknown),
        }
    }

    /// Integers whose bits move, other than by plain copies, into a float.
    fn want_bits(&mut self) {
        let mut work: Vec<ValueId> = Vec::new();
        for (_, i) in self.func.placed() {
            let inst = &self.func.insts[i];
            if matches!(inst.op, Op::Cast(CastOp::BitCast)) && self.module.ctx.types.is_float_or_vector(inst.ty) {
                work.extend(inst.args.iter().copied());
            }
        }
        self.mix_backwards(work, &|op| matches!(op, Op::Cast(CastOp::Trunc | CastOp::ZExt) | Op::Binary(_)));
        let stored = self.func.placed().filter_map(|(_, i)| self.stored_pieces(i)).collect();
        self.mix_backwards(stored, &moves_bits);
    }

    /// The integer that instruction `i` stores among floats, if it was put together from pieces.
    fn stored_pieces(&self, i: InstId) -> Option<ValueId> {
        let inst = &self.func.insts[i];
        let (Op::Store(_), [v, p]) = (&inst.op, inst.args.as_slice()) else { return None };
        self.int_bits(self.func.ty(*v)).filter(|b| b % 16 == 0)?;
        let class = self.memory.class_of[*p]?;
        let stated = self.facts.access_types.contains_key(&i);
        let amid_floats = !self.memory.classes[class].floats.is_empty();
        let def = self.func.def_inst(*v)?;
        (!stated && amid_floats && moves_bits(&self.func.insts[def].op) && self.shifts_whole_pieces(def)).then_some(*v)
    }

    /// Whether a shift is by a whole number of half-words; true for all else.
    fn shifts_whole_pieces(&self, i: InstId) -> bool {
        let inst = &self.func.insts[i];
        match inst.op {
            Op::Binary(BinOp::Shl | BinOp::LShr) => {
                let amount = inst.args.get(1).and_then(|a| self.func.as_const(*a));
                amount.and_then(|c| self.module.ctx.consts.as_u64(c)).is_some_and(|n| n > 0 && n % 16 == 0)
            }
            _ => true,
        }
    }

    /// Marks all that `work` is made of, through operations for which `through` holds, as [`Carry::Mixed`].
    fn mix_backwards(&mut self, mut work: Vec<ValueId>, through: &dyn Fn(&Op) -> bool) {
        let mut seen = BTreeSet::new();
        while let Some(v) = work.pop() {
            if !seen.insert(v) {
                continue;
            }
            let Some(i) = self.func.def_inst(v) else {
                continue;
            };
            let inst = &self.func.insts[i];
            let moves = through(&inst.op);
            if moves {
                self.out[v] = Carry::Mixed;
                for a in &inst.args {
                    if self.func.as_const(*a).is_none() {
                        self.out[*a] = match self.out[*a] {
                            Carry::None | Carry::Unknown | Carry::Bits(..) => Carry::Mixed,
                            known @ (Carry::Native | Carry::Mixed) => known,
                        };
                        work.push(*a);
                    }
                }
                continue;
            }
            match &inst.op {
                Op::Phi(_) | Op::Freeze => work.extend(inst.args.iter().copied()),
                Op::Select => work.extend(inst.args.iter().skip(1).copied()),
                _ => {}
            }
        }
    }
}

/// Whether an integer operation only moves bits.
pub fn moves_bits(op: &Op) -> bool {
    matches!(op, Op::Binary(BinOp::Shl | BinOp::LShr | BinOp::Or) | Op::Cast(CastOp::Trunc | CastOp::ZExt))
}

/// Whether an integer of `bits` at `p` is a field beside floats rather than a piece of one: it is narrower than every
/// float in that memory, and its address does not step in units smaller than those floats, as a copy piece by piece would.
pub fn is_narrow_field(module: &Module, func: &Func, memory: &FuncMemory, p: ValueId, bits: u32) -> bool {
    let Some(class) = memory.class_of[p] else { return false };
    let Some(smallest) = memory.classes[class].all_floats().iter().map(|k| k.bits()).min() else { return false };
    bits < smallest
        && steps_at_least(module, func, p, u64::from(smallest / 8))
        && !overlaps_a_float(module, func, memory, class, p, bits)
}

/// Whether every variable step on the way to the address `p` is at least `unit` bytes.
fn steps_at_least(module: &Module, func: &Func, p: ValueId, unit: u64) -> bool {
    let ctx = &module.ctx;
    let mut seen = BTreeSet::new();
    let mut work = vec![p];
    while let Some(p) = work.pop() {
        if !seen.insert(p) {
            continue;
        }
        let Some(i) = func.def_inst(p) else { continue };
        let inst = &func.insts[i];
        match &inst.op {
            Op::Gep { elem, .. } => {
                let (Some(base), indices) = (inst.args.first(), inst.args.get(1..).unwrap_or(&[])) else {
                    return false;
                };
                let mut ty = *elem;
                let mut moved = 0u64;
                for (n, index) in indices.iter().enumerate() {
                    let value = func.as_const(*index).and_then(|c| ctx.consts.as_u64(c));
                    if n > 0 {
                        let Some((offset, inner)) = ctx.layout.element(&ctx.types, ty, value.unwrap_or(0)) else {
                            return false;
                        };
                        ty = inner;
                        moved = moved.wrapping_add(offset);
                    }
                    let size = ctx.layout.size_of(&ctx.types, ty).unwrap_or(0);
                    match value {
                        Some(v) if n == 0 => moved = moved.wrapping_add(v.wrapping_mul(size)),
                        Some(_) => {}
                        None if size < unit => return false,
                        None => {}
                    }
                }
                // A constant step that a loop repeats.
                let repeated = func.def_inst(*base).is_some_and(|b| matches!(func.insts[b].op, Op::Phi(_)));
                let back = (moved as i64).unsigned_abs();
                if repeated && seen.contains(base) && back != 0 && back < unit {
                    return false;
                }
                work.push(*base);
            }
            Op::Phi(_) => {
                for a in &inst.args {
                    let step = func.def_inst(*a).filter(|s| func.insts[*s].args.first() == Some(&p));
                    let gep = step.map(|s| &func.insts[s]).and_then(|s| match (&s.op, s.args.as_slice()) {
                        (Op::Gep { elem, .. }, [_, n]) => Some((*elem, *n)),
                        _ => None,
                    });
                    if let Some((elem, n)) = gep {
                        let count =
                            func.as_const(n).and_then(|c| ctx.consts.as_u64(c)).map(|v| (v as i64).unsigned_abs());
                        let size = ctx.layout.size_of(&ctx.types, elem).unwrap_or(0);
                        if count.unwrap_or(1).saturating_mul(size) < unit {
                            return false;
                        }
                    }
                    work.push(*a);
                }
            }
            Op::Select => work.extend(inst.args.iter().skip(1).copied()),
            Op::Cast(_) | Op::Freeze => work.extend(inst.args.iter().copied()),
            _ => {}
        }
    }
    true
}

/// Start of an address computation, constant bytes added, and the greatest common divisor of all variable steps.
fn offset_of(module: &Module, func: &Func, p: ValueId) -> Option<(ValueId, i64, u64)> {
    let ctx = &module.ctx;
    let (mut at, mut offset, mut step) = (p, 0i64, 0u64);
    for _ in 0..64 {
        let Some(i) = func.def_inst(at) else { return Some((at, offset, step)) };
        let inst = &func.insts[i];
        let Op::Gep { elem, .. } = &inst.op else { return Some((at, offset, step)) };
        let mut ty = *elem;
        for (n, index) in inst.args.iter().enumerate().skip(1) {
            let value = func.as_const(*index).and_then(|c| ctx.consts.as_u64(c));
            if n > 1 {
                let (moved, inner) = ctx.layout.element(&ctx.types, ty, value.unwrap_or(0))?;
                ty = inner;
                offset = offset.wrapping_add(moved as i64);
            }
            let size = ctx.layout.size_of(&ctx.types, ty)?;
            match value {
                Some(v) if n == 1 => offset = offset.wrapping_add((v as i64).wrapping_mul(size as i64)),
                Some(_) => {}
                None => step = gcd(step, size),
            }
        }
        at = *inst.args.first()?;
    }
    None
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Whether an integer at `p` may lie on bytes that are accessed as floats elsewhere, by offsets from where the addresses
/// start (all starts of a class are taken to be the same place of a record).
fn overlaps_a_float(module: &Module, func: &Func, memory: &FuncMemory, class: ClassId, p: ValueId, bits: u32) -> bool {
    let Some((_, own, own_step)) = offset_of(module, func, p) else { return true };
    let size = i64::from(bits / 8);
    func.placed().any(|(_, i)| {
        let inst = &func.insts[i];
        let (value, address) = match (&inst.op, inst.args.as_slice()) {
            (Op::Load(_), [p]) => (inst.result, *p),
            (Op::Store(_), [v, p]) => (Some(*v), *p),
            _ => return false,
        };
        let Some(kind) = value.and_then(|v| module.ctx.types.float_kind(func.ty(v))) else { return false };
        if memory.class_of[address] != Some(class) {
            return false;
        }
        let Some((_, offset, step)) = offset_of(module, func, address) else { return true };
        let width = i64::from(kind.bits() / 8);
        let period = gcd(own_step, step) as i64;
        let distance = own - offset;
        // Bytes [distance, distance + size) against [0, width), repeated with the period.
        match period {
            0 => distance < width && distance + size > 0,
            _ => {
                let d = distance.rem_euclid(period);
                d < width || d + size > period
            }
        }
    })
}
