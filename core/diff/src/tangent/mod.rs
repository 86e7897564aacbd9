//! Synthesis of forward derivatives: one walk, a tangent beside each active value, a shadow beside each pointer.
//!
//! Shadow memory holds the tangents of what primal memory holds, at all times: what writes one writes the other.
//! Control flow is that of the primal. Tangents of values that are not active are zero.

mod calls;
mod dependence;
mod error;

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use enzyme_analysis::Carry;
use enzyme_ir::cfg::Cfg;
use enzyme_ir::{
    Access, BinOp, BlockId, CastOp, Const, FastMath, FloatPred, Func, FuncId, Inst, InstId, MemClass, Module, Op,
    RmwOp, TailKind, TypeId, ValueDef, ValueId,
};
use enzyme_rules::{Place, Rule};

use crate::copies::replaced;
use crate::emit::Emit;
use crate::keys::{Subject, counts, holds_no_address, moved_in_lanes};
use crate::lower::{Operands, product, strong_product};
use crate::needs::{active_operands, rule_needs};
use crate::refusal::{Refusal, RefusalKind};
use crate::request::{Derivatives, Signature};
use crate::reverse::memory::choice_of;
use crate::reverse::{Content, Options, ShadowGlobals, counted, place_of, shadow_global};
use crate::unwanted;
use crate::vanishing::{self, Vanishing};

pub use dependence::UNION;

struct Tangent<'a, 'm> {
    e: Emit<'m>,
    s: Subject<'a>,
    sig: Signature,
    derivatives: &'a mut dyn Derivatives,
    globals: &'a mut ShadowGlobals,
    options: Options,
    map: SecondaryMap<ValueId, Option<ValueId>>,
    /// Tangents and shadow pointers of each lane.
    shadows: Vec<BTreeMap<ValueId, ValueId>>,
    /// The lane whose tangents are written.
    lane: usize,
    starts: BTreeMap<BlockId, BlockId>,
    ends: BTreeMap<BlockId, BlockId>,
    /// Block that ends in the invoke that ends a primal block; what follows it when it returns is in `ends`.
    throws: BTreeMap<BlockId, BlockId>,
    /// The primal block at hand.
    here: Option<BlockId>,
}

/// Writes the forward derivative of `s` into the declared function `id`.
pub fn synthesise(
    module: &mut Module,
    id: FuncId,
    s: Subject<'_>,
    sig: Signature,
    derivatives: &mut dyn Derivatives,
    globals: &mut ShadowGlobals,
    options: Options,
) -> Result<Func, Refusal> {
    let declared = &module.funcs[id];
    let mut func = Func::new(declared.name.clone(), declared.sig, &sig.params);
    func.linkage = enzyme_ir::Linkage::Internal;
    func.personality = s.func.personality;
    let mut t = Tangent {
        e: Emit::new(module, func),
        s,
        sig,
        derivatives,
        globals,
        options,
        map: SecondaryMap::new(),
        shadows: vec![BTreeMap::new(); s.key.width as usize],
        lane: 0,
        starts: BTreeMap::new(),
        ends: BTreeMap::new(),
        throws: BTreeMap::new(),
        here: None,
    };
    let start = t.e.new_block("start");
    t.e.block = start;
    t.run()?;
    Ok(t.e.finish(start))
}

impl Tangent<'_, '_> {
    fn run(&mut self) -> Result<(), Refusal> {
        for (i, p) in self.s.func.params.iter().enumerate() {
            self.map[*p] = self.sig.primal.get(i).and_then(|n| self.e.func.params.get(*n)).copied();
            if let Some(n) = self.sig.shadow[i] {
                for (lane, shadows) in self.shadows.iter_mut().enumerate() {
                    shadows.insert(*p, self.e.func.params[n + lane]);
                }
            }
        }
        let cfg = Cfg::new(self.s.func);
        let order: Vec<BlockId> = cfg.rpo().to_vec();
        for b in &order {
            let name = self.s.func.blocks[*b].name.clone().unwrap_or_else(|| b.to_string());
            let start = self.e.new_block(&name);
            self.starts.insert(*b, start);
            self.e.runs_for(start, self.s.func, *b, false);
        }
        if let Some(entry) = order.first() {
            let start = self.starts[entry];
            self.e.b().br(start);
        }
        let mut phis = Vec::new();
        for b in &order {
            self.e.block = self.starts[b];
            self.here = Some(*b);
            let mut moved = Vec::new();
            for i in &self.s.func.blocks[*b].insts {
                let inst = &self.s.func.insts[*i];
                let (Op::Phi(_), Some(r)) = (&inst.op, inst.result) else { break };
                let v = self.e.b().phi(inst.ty, &[]);
                self.map[r] = Some(v);
                phis.push((*i, v, None));
                if let Some(base) = moved_in_lanes(self.e.module, &self.s, r).filter(|_| self.wants_shadow(r)) {
                    moved.push((r, base));
                } else if self.wants_shadow(r) {
                    for lane in 0..self.shadows.len() {
                        let v = self.e.b().phi(inst.ty, &[]);
                        self.shadows[lane].insert(r, v);
                        phis.push((*i, v, Some(lane)));
                    }
                }
            }
            if Some(b) == order.first() {
                self.s.func.params.iter().for_each(|p| self.clear_tangents(*p));
            }
            for i in &self.s.func.blocks[*b].insts {
                let inst = &self.s.func.insts[*i];
                let (Op::Phi(_), Some(r)) = (&inst.op, inst.result) else { break };
                self.clear_tangents(r);
            }
            for (r, base) in moved {
                let (from, to) = (self.value(base), self.value(r));
                self.in_lanes(|this| {
                    let start = this.shadow(base)?;
                    let v = this.e.moved_alike(start, from, to);
                    this.shadows[this.lane].insert(r, v);
                    Ok(())
                })?;
            }
            for i in &self.s.func.blocks[*b].insts {
                let inst = &self.s.func.insts[*i];
                self.e.loc = inst.loc;
                self.e.fast = FastMath::empty();
                if !matches!(inst.op, Op::Phi(_)) {
                    self.instruction(*i, &inst.clone()).map_err(|r| if r.inst.is_some() { r } else { r.at(*i) })?;
                    inst.result.into_iter().for_each(|r| self.clear_tangents(r));
                }
                if let Op::Invoke { normal, .. } = inst.op
                    && let Some(start) = self.starts.get(&normal).copied()
                {
                    self.e.b().br(start);
                }
            }
            self.ends.insert(*b, self.e.block);
        }
        for (i, phi, lane) in phis {
            self.lane = lane.unwrap_or(0);
            let inst = &self.s.func.insts[i];
            let (Op::Phi(blocks), Some(to)) = (&inst.op, self.s.shape.block_of[i]) else { continue };
            let (mut from, mut args) = (Vec::new(), enzyme_ir::Args::new());
            for (b, a) in blocks.iter().zip(&inst.args) {
                let thrown = self.s.shape.is_unwind_edge(self.s.func, *b, to);
                let known = if thrown { &self.throws } else { &self.ends };
                let Some(end) = known.get(b) else { continue };
                from.push(*end);
                let v = if lane.is_some() { self.shadow_into(*a, inst.result)? } else { self.value(*a) };
                args.push(v);
            }
            if let Some(d) = self.e.func.def_inst(phi) {
                self.e.func.insts[d].op = Op::Phi(from);
                self.e.func.insts[d].args = args;
            }
        }
        Ok(())
    }

    /// Whether `v` has a tangent or a shadow pointer.
    fn wants_shadow(&self, v: ValueId) -> bool {
        self.s.is_active(v) || self.s.has_shadow(v)
    }

    fn value(&mut self, v: ValueId) -> ValueId {
        match self.s.func.values[v].def {
            ValueDef::Const(c) => self.e.func.constant(c, self.s.func.ty(v)),
            ValueDef::Param(_) | ValueDef::Inst(_) => match self.map[v] {
                Some(x) => x,
                None => {
                    let ty = self.s.func.ty(v);
                    self.e.b().poison(ty)
                }
            },
        }
    }

    /// Tangent or shadow pointer of `v`: zero, or the value itself, where it has none.
    fn shadow(&mut self, v: ValueId) -> Result<ValueId, Refusal> {
        let ty = self.s.func.ty(v);
        if let ValueDef::Const(c) = self.s.func.values[v].def {
            return Ok(match self.e.module.ctx.consts[c].clone() {
                Const::Global(g) if self.s.has_shadow(v) && self.e.module.globals[g].can_have_shadow() => {
                    let shadow = shadow_global(self.e.module, self.globals, g, self.lane as u32);
                    let c = self.e.module.ctx.consts.intern(Const::Global(shadow));
                    self.e.func.constant(c, ty)
                }
                Const::Global(_) | Const::Func(_) => self.e.func.constant(c, ty),
                _ if self.e.module.ctx.types.contains_float(ty) => self.e.b().zero(ty),
                k if holds_no_address(&self.e.module.ctx.consts, &k) => self.e.func.constant(c, ty),
                Const::Aggregate { .. } | Const::Data { .. } => self.e.b().zero(ty),
                _ => return Err(Refusal::new(RefusalKind::NoShadow("a constant address expression".into()))),
            });
        }
        if let Some(x) = self.shadows[self.lane].get(&v) {
            return Ok(*x);
        }
        if self.s.has_shadow(v) {
            if counts(self.e.module, &self.s, v) {
                return Ok(self.value(v));
            }
            let refusal = Refusal::new(RefusalKind::NoShadow("a pointer of unknown origin".into()));
            return Err(Refusal { inst: self.s.func.def_inst(v), ..refusal });
        }
        if self.e.module.ctx.types.contains_pointer(ty) { Ok(self.value(v)) } else { Ok(self.e.b().zero(ty)) }
    }

    /// The shadow of a constant structure that holds pointers and floats: its pointers, and no tangents.
    fn clear_tangents(&mut self, v: ValueId) {
        let ty = self.s.func.ty(v);
        if self.wants_shadow(v) || !self.e.module.ctx.types.contains_pointer(ty) {
            return;
        }
        let fields = self.e.module.ctx.types.float_fields(ty);
        if fields.is_empty() {
            return;
        }
        let mut out = self.value(v);
        for (path, float) in fields {
            let zero = self.e.b().zero(float);
            out = self.e.b().insert_value(out, zero, &path);
        }
        for lane in &mut self.shadows {
            lane.insert(v, out);
        }
    }

    fn copy(&mut self, inst: &Inst) -> Option<ValueId> {
        let args: Vec<ValueId> = inst.args.iter().map(|a| self.value(*a)).collect();
        let mut inst = inst.clone();
        if let Op::Call(info) | Op::Invoke { call: info, .. } = &mut inst.op {
            info.tail = TailKind::None;
        }
        let starts = &self.starts;
        inst.op.map_targets(&mut |t| starts.get(&t).copied().unwrap_or(t));
        let mem = if matches!(inst.op, Op::Load(_) | Op::Store(_)) { MemClass::Primal } else { MemClass::Unknown };
        let next = self.unwinding(&inst.op).map(|_| self.e.new_block("returned"));
        if let (Op::Invoke { normal, .. }, Some(next)) = (&mut inst.op, next) {
            *normal = next;
        }
        self.e.scoped = inst.origin.filter(|_| mem == MemClass::Primal);
        let v = self.e.copy(&inst, &args, mem);
        self.e.scoped = None;
        self.e.block = next.unwrap_or(self.e.block);
        v
    }

    /// Where an exception goes in the call that is to be written at the end of the block at hand.
    fn unwinding(&mut self, op: &Op) -> Option<BlockId> {
        let Op::Invoke { unwind, .. } = op else { return None };
        if let Some(b) = self.here {
            self.throws.insert(b, self.e.block);
        }
        Some(*unwind)
    }

    fn copy_to(&mut self, inst: &Inst) {
        let v = self.copy(inst);
        if let Some(r) = inst.result {
            self.map[r] = v;
        }
    }

    /// The same operation on shadows, indices and conditions being those of the primal.
    fn mirror(&mut self, inst: &Inst) -> Result<Option<ValueId>, Refusal> {
        let mut args = Vec::new();
        for (n, a) in inst.args.iter().enumerate() {
            let plain = match inst.op {
                Op::Gep { .. } | Op::ExtractElement => n > 0,
                Op::Select => n == 0,
                Op::InsertElement => n == 2,
                _ => false,
            };
            args.push(if plain { self.value(*a) } else { self.shadow_into(*a, inst.result)? });
        }
        let mem = if matches!(inst.op, Op::Load(_) | Op::Store(_)) { self.e.shadow } else { MemClass::Unknown };
        let mut copy = inst.clone();
        copy.origin = None;
        let moved = if let Op::Store(_) = inst.op { args.first().map(|v| self.e.ty(*v)) } else { Some(inst.ty) };
        if let (Op::Load(access) | Op::Store(access), Some(ty)) = (&mut copy.op, moved) {
            *access = enzyme_ir::Access { align: self.e.shadow_align(ty, access.align), ..Default::default() };
        }
        self.e.scoped = inst.origin.filter(|_| mem != MemClass::Unknown && !self.has_mixed_place(inst));
        let copy = self.e.copy(&copy, &args, mem);
        self.e.scoped = None;
        Ok(copy)
    }

    /// Whether it is only known at run time if the memory that it accesses has a shadow.
    fn has_mixed_place(&self, inst: &Inst) -> bool {
        let place = if let Op::Store(_) = inst.op { 1 } else { 0 };
        inst.args.get(place).is_some_and(|p| self.s.is_mixed(*p))
    }

    fn refuse<T>(&self, i: InstId, what: &str) -> Result<T, Refusal> {
        Err(Refusal::new(RefusalKind::Operation(what.to_owned())).at(i))
    }

    fn check_carry(&self, i: InstId, r: ValueId) -> Result<(), Refusal> {
        match self.s.unit.carry[r] {
            Carry::Mixed => self.refuse(i, "integer arithmetic on the bits of active floats"),
            Carry::None | Carry::Native | Carry::Bits(..) | Carry::Unknown | Carry::Word => Ok(()),
        }
    }

    fn instruction(&mut self, i: InstId, inst: &Inst) -> Result<(), Refusal> {
        if let Some(r) = inst.result.filter(|r| self.wants_shadow(*r) && self.s.is_active(*r)) {
            self.check_carry(i, r)?;
        }
        match &inst.op {
            Op::Ret => return self.ret(inst),
            Op::Call(_) | Op::Invoke { .. } => return self.call(i, inst),
            Op::Alloca { elem, .. } => return self.slot(i, inst, *elem),
            _ => self.copy_to(inst),
        }
        if let Some(number) = counted(&self.s, i) {
            let (v, place) = (self.value(number), place_of(self.e.module, self.s.func, i));
            crate::words::require_counts(&mut self.e, v, &place);
        }
        self.in_lanes(|this| this.tangent(i, inst))
    }

    /// Writes the tangents of all lanes, one after the other.
    fn in_lanes(&mut self, mut write: impl FnMut(&mut Self) -> Result<(), Refusal>) -> Result<(), Refusal> {
        for lane in 0..self.shadows.len() {
            self.lane = lane;
            self.e.shadow = MemClass::shadow(lane);
            write(self)?;
        }
        self.lane = 0;
        self.e.shadow = MemClass::Shadow;
        Ok(())
    }

    /// The tangent of an instruction whose primal has just been written.
    fn tangent(&mut self, i: InstId, inst: &Inst) -> Result<(), Refusal> {
        let active = inst.result.filter(|r| self.wants_shadow(*r));
        match &inst.op {
            Op::Store(access) => return self.store(i, inst, *access),
            Op::AtomicRmw(op, access) => return self.atomic(i, inst, *op, *access),
            Op::FNeg | Op::Binary(_) | Op::Cast(CastOp::FPTrunc | CastOp::FPExt) => {
                // An address may be computed as an integer: a tagged pointer.
                let address = inst.result.filter(|r| self.s.has_shadow(*r) && !self.s.is_active(*r));
                let Some(r) = address.or(active.filter(|r| self.s.is_active(*r))) else { return Ok(()) };
                let narrows =
                    matches!(inst.op, Op::Cast(CastOp::FPTrunc)) && self.options.content == Content::Dependence;
                if let (true, Some(from)) = (narrows, inst.args.first()) {
                    let wide = self.shadow(*from)?;
                    let name = self.narrowed(wide, inst.ty)?;
                    self.shadows[self.lane].insert(r, name);
                    return Ok(());
                }
                if address.is_some() || matches!(inst.op, Op::Cast(_)) {
                    if let Some(mut v) = self.mirror(inst)? {
                        if self.options.content == Content::ErrorBound && matches!(inst.op, Op::Cast(CastOp::FPTrunc)) {
                            let result = self.value(r);
                            let size = self.magnitude(result);
                            v = self.with_rounding(v, size, 1.0);
                        }
                        self.shadows[self.lane].insert(r, v);
                    }
                    return Ok(());
                }
                let Some(rule) = enzyme_rules::lookup_inst(&inst.op) else { return self.refuse(i, "this arithmetic") };
                self.e.fast = inst.fast | self.options.fast;
                let tangent = self.rule(rule, &inst.args, Some(r))?;
                self.shadows[self.lane].insert(r, tangent);
                return Ok(());
            }
            _ => {}
        }
        if let (Op::Load(access), [p]) = (&inst.op, inst.args.as_slice()) {
            self.require_integer(i, inst, *p, *access)?;
        }
        let Some(r) = active else { return Ok(()) };
        match &inst.op {
            Op::Load(access) => {
                let Some(p) = inst.args.first().copied() else { return Ok(()) };
                if self.s.unit.carry[r] == Carry::Word && self.s.is_mixed(p) {
                    let (shadow, primal) = (self.shadow(p)?, self.value(p));
                    let (own, word) = (self.e.load_shadow(inst.ty, shadow, *access), self.value(r));
                    let constant = self.e.b().icmp(enzyme_ir::IntPred::Eq, shadow, primal);
                    let itself = crate::words::of_constant(&mut self.e, word);
                    let v = self.e.choose(constant, itself, own);
                    self.shadows[self.lane].insert(r, v);
                    return Ok(());
                }
                if self.s.is_active(r) && self.s.is_mixed(p) {
                    let at = self.guarded(p, inst.ty)?;
                    let v = self.e.load_shadow(inst.ty, at, *access);
                    self.shadows[self.lane].insert(r, v);
                    return Ok(());
                }
            }
            Op::Select => {
                if let Some(product) = vanishing::of(self.e.module, self.s.func, inst) {
                    let v = self.vanishing(inst, &product)?;
                    self.shadows[self.lane].insert(r, v);
                    return Ok(());
                }
            }
            Op::Gep { .. }
            | Op::Cast(_)
            | Op::Freeze
            | Op::ExtractElement
            | Op::InsertElement
            | Op::ShuffleVector(_)
            | Op::ExtractValue(_)
            | Op::InsertValue(_) => {}
            _ => return self.refuse(i, "this instruction"),
        }
        if let Some(v) = self.mirror(inst)? {
            if matches!(inst.op, Op::Load(_)) && self.s.reads_global_pointer(self.e.module, i) {
                let (primal, place) = (self.value(r), place_of(self.e.module, self.s.func, i));
                crate::runtime::require_pointer_shadow(&mut self.e, v, primal, &place);
            }
            self.shadows[self.lane].insert(r, v);
        }
        Ok(())
    }

    /// A word that is computed with as an integer, and put where floats lie, must have no tangent.
    fn require_integer(
        &mut self,
        i: InstId,
        inst: &Inst,
        p: ValueId,
        access: enzyme_ir::Access,
    ) -> Result<(), Refusal> {
        let put = |store: InstId| self.s.func.insts[store].args.get(1).is_some_and(|p| self.s.has_shadow(*p));
        let of = self.s.unit.reworked.iter().filter(|(store, r)| r.loads.contains(&i) && put(**store));
        let (pieces, wholes): (Vec<u64>, Vec<bool>) = of.map(|(_, r)| (r.piece, r.whole)).unzip();
        let Some(piece) = pieces.into_iter().min() else { return Ok(()) };
        if self.s.has_shadow(p) {
            let at = if self.s.is_mixed(p) { self.guarded(p, inst.ty)? } else { self.shadow(p)? };
            let word = self.e.load_shadow(inst.ty, at, access);
            let place = place_of(self.e.module, self.s.func, i);
            crate::words::require_integer(&mut self.e, word, piece, &place);
            return Ok(());
        }
        let state = self.s.unit.memory.class_of[p].and_then(|c| self.s.activity.states.get(&c));
        let stated = self.s.unit.facts.access_types.contains_key(&i);
        if state.is_some_and(|state| state.has_shadow()) && wholes.contains(&true) && !stated {
            // There is one, but nobody here has it.
            return Err(Refusal::new(RefusalKind::Conflict(enzyme_analysis::Conflict::BitTrick(i))).at(i));
        }
        Ok(())
    }

    /// The tangent of a product that is left out where a factor is zero: nothing where the factor's tangent is zero, too.
    fn vanishing(&mut self, inst: &Inst, selection: &Vanishing) -> Result<ValueId, Refusal> {
        let tangent = self.shadow(inst.args[selection.product])?;
        let mut vanishes = None;
        for factor in &selection.factors {
            let mut zeros = vec![self.value(*factor)];
            if self.s.is_active(*factor) {
                zeros.push(self.shadow(*factor)?);
            }
            for x in zeros {
                let ty = self.e.ty(x);
                let zero = self.e.b().zero_float(ty);
                let is_zero = self.e.b().fcmp(FloatPred::Oeq, x, zero);
                vanishes = Some(vanishes.map_or(is_zero, |all| self.e.b().binary(BinOp::And, all, is_zero)));
            }
        }
        let ty = self.e.ty(tangent);
        let none = self.e.neutral(ty);
        Ok(vanishes.map_or(tangent, |v| self.e.choose(v, none, tangent)))
    }

    /// The tangent of a store, in shadow memory.
    fn store(&mut self, i: InstId, inst: &Inst, access: Access) -> Result<(), Refusal> {
        let Some(p) = inst.args.get(1) else { return Ok(()) };
        if self.s.has_shadow(*p) {
            if self.s.is_mixed(*p) {
                let v = inst.args[0];
                if self.s.is_active(v) || self.s.has_shadow(v) {
                    let (shadow, primal) = (self.shadow(*p)?, self.value(*p));
                    let place = place_of(self.e.module, self.s.func, i);
                    crate::runtime::require_shadow(&mut self.e, shadow, primal, &place);
                }
                let ty = self.s.func.ty(v);
                let at = self.guarded(*p, ty)?;
                if let Some(lost) = replaced(&self.e.module.ctx, &self.s, v, *p) {
                    self.clear_floats(&lost, at);
                } else {
                    let zero = self.zero_of_integer(v);
                    let tangent = zero.map_or_else(|| self.shadow(v), Ok)?;
                    self.e.store_shadow(tangent, at, access);
                }
            } else if let Some(lost) = replaced(&self.e.module.ctx, &self.s, inst.args[0], *p) {
                let at = self.shadow(*p)?;
                self.clear_floats(&lost, at);
            } else if let Some(zero) = self.zero_of_integer(inst.args[0]) {
                // Constant bits: if they are a float's, its tangent is zero.
                let at = self.shadow(*p)?;
                self.e.store_shadow(zero, at, access);
            } else {
                self.mirror(inst)?;
            }
        }
        Ok(())
    }

    /// No tangent is left of floats at these offsets behind `at`, over which an integer was written.
    fn clear_floats(&mut self, lost: &[(i64, enzyme_ir::FloatKind)], at: ValueId) {
        for (offset, kind) in lost {
            let by = self.e.b().i64(*offset as u64);
            let (address, float) = (self.e.b().byte_offset(at, by), self.e.module.ctx.types.float(*kind));
            let zero = self.e.b().zero(float);
            self.e.store_in_lane(zero, address, 1);
        }
    }

    /// The tangent of `a`, which goes into the value `r`: constant bits of a float have none.
    fn shadow_into(&mut self, a: ValueId, r: Option<ValueId>) -> Result<ValueId, Refusal> {
        let zero = r.filter(|r| self.s.unit.carry[*r].may()).and_then(|_| self.zero_of_integer(a));
        zero.map_or_else(|| self.shadow(a), Ok)
    }

    /// The zero of the type of `v`, if that is a constant integer.
    fn zero_of_integer(&mut self, v: ValueId) -> Option<ValueId> {
        let c = self.s.func.as_const(v)?;
        match &self.e.module.ctx.consts[c] {
            Const::Int { ty, .. } => {
                let ty = *ty;
                Some(self.e.b().zero(ty))
            }
            _ => None,
        }
    }

    /// The shadow address behind `p`, or a zero of its own where the memory has no shadow.
    fn guarded(&mut self, p: ValueId, ty: TypeId) -> Result<ValueId, Refusal> {
        let (shadow, primal) = (self.shadow(p)?, self.value(p));
        Ok(self.e.guarded(shadow, primal, ty))
    }

    fn guarded_if_mixed(&mut self, p: ValueId, ty: TypeId) -> Result<ValueId, Refusal> {
        if self.s.is_mixed(p) { self.guarded(p, ty) } else { self.shadow(p) }
    }

    /// The bytes behind `p` that have a shadow: all of `bytes`, or none.
    fn guarded_bytes(&mut self, p: ValueId, bytes: ValueId) -> Result<ValueId, Refusal> {
        if !self.s.is_mixed(p) {
            return Ok(bytes);
        }
        let (shadow, primal) = (self.shadow(p)?, self.value(p));
        Ok(self.e.guarded_bytes(shadow, primal, bytes))
    }

    fn slot(&mut self, i: InstId, inst: &Inst, elem: TypeId) -> Result<(), Refusal> {
        let fixed = self.s.is_static_slot(i);
        let here = self.e.block;
        if fixed {
            self.e.block = self.e.entry;
        }
        self.copy_to(inst);
        let Some(r) = inst.result.filter(|r| self.s.has_shadow(*r)) else {
            self.e.block = here;
            return Ok(());
        };
        self.in_lanes(|this| {
            this.shadow_slot(inst, r, elem);
            Ok(())
        })?;
        self.e.block = here;
        Ok(())
    }

    fn shadow_slot(&mut self, inst: &Inst, r: ValueId, elem: TypeId) {
        let mut copy = inst.clone();
        copy.origin = None;
        let shadow = self.copy(&copy);
        let ctx = &self.e.module.ctx;
        if let (Some(shadow), Some(size)) = (shadow, ctx.layout.size_of(&ctx.types, elem)) {
            let size = self.e.b().i64(size);
            let count = inst.args.first().map(|n| self.value(*n));
            let bytes = match count {
                Some(n) => {
                    let n = self.e.to_i64(n);
                    self.e.b().binary(enzyme_ir::BinOp::Mul, n, size)
                }
                None => size,
            };
            self.e.fill_zero(shadow, bytes);
            self.shadows[self.lane].insert(r, shadow);
        }
    }

    /// The tangent of the result of an operation with a rule; writes tangents of what it writes to memory.
    fn rule(&mut self, rule: &Rule, args: &[ValueId], result: Option<ValueId>) -> Result<ValueId, Refusal> {
        let active = active_operands(&self.s, args);
        let live = |s: &Subject<'_>, place: Place| match place {
            Place::Return | Place::ReturnField(_) => result.is_some_and(|r| s.is_active(r)),
            Place::Pointee(n) => args.get(n as usize).is_some_and(|p| s.has_shadow(*p)),
        };
        let needs = rule_needs(rule, &active, &|p| live(&self.s, p));
        let ty = self.float_type(rule, args);
        let operands: Vec<ValueId> = args.iter().map(|a| self.value(*a)).collect();
        let whole = result.map(|r| self.value(r));
        let mut results = Vec::new();
        for o in rule.outputs {
            let v = match (o.place, whole) {
                (Place::Return, Some(w)) if needs.results != 0 => w,
                (Place::ReturnField(n), Some(w)) if needs.results != 0 => self.e.b().extract_value(w, &[n]),
                (Place::Pointee(n), _) if needs.results != 0 => {
                    let at = self.value(args[n as usize]);
                    self.e.b().load(ty, at, 0, MemClass::Primal)
                }
                _ => self.e.b().poison(ty),
            };
            results.push(v);
        }
        let over = Operands { args: &operands, results: &results, ty };
        let result_ty = result.map_or(ty, |r| self.s.func.ty(r));
        let mut out = self.e.neutral(result_ty);
        for o in rule.outputs {
            let mut tangent: Option<ValueId> = None;
            for (n, partial) in o.partials.iter().enumerate() {
                let (Some(expr), true) = (partial, active.get(n).copied().unwrap_or(false)) else { continue };
                let x = self.shadow(args[n])?;
                let strong =
                    self.options.strong_zero || unwanted::is_steep_at_constants(self.e.module, &self.s, rule, args[n]);
                let term = match (self.options.content, strong) {
                    (Content::Dependence, _) => x,
                    (_, true) => strong_product(&mut self.e, x, expr, &over),
                    (_, false) => product(&mut self.e, x, expr, &over),
                };
                let term = if self.options.content == Content::ErrorBound { self.magnitude(term) } else { term };
                tangent = Some(match tangent {
                    Some(t) if self.options.content == Content::Dependence => self.union(t, term)?,
                    Some(t) => self.e.sum(t, term),
                    None => term,
                });
            }
            // Conversions have another format there.
            let mut tangent = match o.place {
                Place::Return => tangent.map(|t| self.e.to_float(t, result_ty)),
                Place::ReturnField(_) | Place::Pointee(_) => tangent,
            };
            if let (Content::ErrorBound, Some(t)) = (self.options.content, tangent)
                && let Some(size) = self.size(rule, o.place, args, ty, whole)
            {
                tangent = Some(self.with_rounding(t, size, error::roundings(rule)));
            }
            match o.place {
                Place::Return => out = tangent.unwrap_or(out),
                Place::ReturnField(n) => {
                    if let Some(t) = tangent {
                        out = self.e.b().insert_value(out, t, &[n]);
                    }
                }
                Place::Pointee(n) => {
                    if live(&self.s, o.place) {
                        let t = match tangent {
                            Some(t) => t,
                            None => self.e.b().zero(ty),
                        };
                        let at = self.guarded_if_mixed(args[n as usize], ty)?;
                        self.e.store_in_lane(t, at, 0);
                    }
                }
            }
        }
        Ok(out)
    }

    /// An atomic update: the same on the tangent in shadow memory, not atomically.
    fn atomic(&mut self, i: InstId, inst: &Inst, op: RmwOp, access: Access) -> Result<(), Refusal> {
        let (Some(p), Some(v)) = (inst.args.first().copied(), inst.args.get(1).copied()) else { return Ok(()) };
        let carries = |x: ValueId| self.s.unit.carry[x].may();
        if !self.s.has_shadow(p) || !(carries(v) || inst.result.is_some_and(carries)) {
            return Ok(());
        }
        match self.options.content {
            Content::Tangent => {}
            Content::ErrorBound => return self.refuse(i, "the rounding error of an atomic update"),
            Content::Dependence => return self.refuse(i, "what an atomic update depends on"),
        }
        if self.s.is_mixed(p) && self.s.is_active(v) {
            let (shadow, primal) = (self.shadow(p)?, self.value(p));
            let place = place_of(self.e.module, self.s.func, i);
            crate::runtime::require_shadow(&mut self.e, shadow, primal, &place);
        }
        let at = self.guarded_if_mixed(p, inst.ty)?;
        let old = self.e.load_shadow(inst.ty, at, access);
        let amount = if self.s.is_active(v) { self.shadow(v)? } else { self.e.b().zero(inst.ty) };
        let new = match (op, choice_of(op)) {
            (RmwOp::Xchg, _) => amount,
            (RmwOp::FAdd, _) => self.e.b().binary(BinOp::FAdd, old, amount),
            (RmwOp::FSub, _) => self.e.b().binary(BinOp::FSub, old, amount),
            (_, Some(rule)) => {
                let args = [inst.result.map_or(v, |r| r), v].map(|x| self.value(x));
                let over = Operands { args: &args, results: &[], ty: inst.ty };
                let mut sum = self.e.neutral(inst.ty);
                for (n, x) in [old, amount].into_iter().enumerate() {
                    if let Some(expr) = rule.partial(0, n) {
                        let term = product(&mut self.e, x, expr, &over);
                        sum = self.e.sum(sum, term);
                    }
                }
                sum
            }
            (_, None) => return self.refuse(i, "an atomic update of active memory"),
        };
        self.e.store_shadow(new, at, access);
        if let Some(r) = inst.result.filter(|r| self.s.is_active(*r)) {
            self.shadows[self.lane].insert(r, old);
        }
        Ok(())
    }

    fn ret(&mut self, inst: &Inst) -> Result<(), Refusal> {
        let mut fields = Vec::new();
        if let Some(v) = inst.args.first() {
            if self.sig.result_field.is_some() {
                fields.push(self.value(*v));
            }
            if self.sig.shadow_field.is_some() {
                self.in_lanes(|this| {
                    fields.push(this.shadow(*v)?);
                    Ok(())
                })?;
            }
        }
        let out = self.e.tuple(self.sig.ret, &fields);
        self.e.b().ret(out);
        Ok(())
    }
}
