//! Adjoints of instructions, and the slots that adjoints are summed in.

use enzyme_analysis::callee::MemoryEffect;
use enzyme_analysis::{Callee, Carry, Conflict, resolve};
use enzyme_ir::{Access, CastOp, FastMath, FloatKind, InstId, MemClass, Op, Type, TypeId, ValueId};
use enzyme_rules::{Place, Rule};
use smallvec::smallvec;

use super::forward::place_of;
use super::{Reverse, as_call, samples};
use crate::copies::{
    Bytes, Overwritten, classify, classify_bytes, hides_doubles, hiding_bytes, is_moved, likely_characters,
    overwritten, taken_for_integer,
};
use crate::lower::{Operands, product, strong_product};
use crate::needs::{active_operands, rule_needs};
use crate::plan::shadow_rule;
use crate::refusal::{Refusal, RefusalKind};
use crate::runtime::{RunWork, over_runs};
use crate::vanishing::Way;

/// Does something with one float of an aggregate in memory: its path, type and address.
type EachFloat<'f, R> = &'f mut dyn FnMut(&mut R, &[u32], TypeId, ValueId) -> Result<(), Refusal>;

impl Reverse<'_, '_> {
    /// Type of the adjoint of `v`: its own, or floats where an integer holds their bits.
    pub fn adjoint_type(&mut self, v: ValueId) -> TypeId {
        match self.s.unit.carry[v] {
            Carry::Bits(kind, lanes) => {
                let float = self.e.module.ctx.types.float(kind);
                if lanes == 1 { float } else { self.e.module.ctx.types.vector(float, lanes) }
            }
            Carry::Word => crate::words::double(self.e.module),
            Carry::None | Carry::Native | Carry::Unknown | Carry::Mixed => self.s.func.ty(v),
        }
    }

    fn adjoint_slot(&mut self, v: ValueId) -> ValueId {
        if let Some(slot) = self.adjoints.get(&(v, self.lane)) {
            return *slot;
        }
        let ty = self.adjoint_type(v);
        let zero = self.e.neutral(ty);
        let slot = self.e.slot(ty, Some(zero));
        self.adjoints.insert((v, self.lane), slot);
        slot
    }

    /// Adds to the adjoint of `v`; nothing if `v` is not active. What the iterations of a loop add to the adjoint of a value
    /// from outside has no order in the program: LLVM may choose one, so that such sums run over vectors.
    pub fn add_adjoint(&mut self, v: ValueId, amount: ValueId) -> Result<(), Refusal> {
        if !self.s.is_active(v) || self.e.is_neutral(amount) {
            return Ok(());
        }
        let ty = self.adjoint_type(v);
        let amount = self.same_bits(amount, ty)?;
        let slot = self.adjoint_slot(v);
        let old = self.e.b().load(ty, slot, 0, MemClass::Unknown);
        let free = self.turning.is_some_and(|l| self.s.shape.is_outside(self.s.func, l, v));
        let flags = self.e.fast;
        self.e.fast |= if free { FastMath::REASSOC } else { FastMath::empty() };
        let new = self.e.sum(old, amount);
        self.e.fast = flags;
        self.e.b().store(new, slot, 0, MemClass::Unknown);
        Ok(())
    }

    /// Reads and clears the adjoint of `v`; `None` if nothing was ever added to it.
    pub fn take_adjoint(&mut self, v: ValueId) -> Result<Option<ValueId>, Refusal> {
        if !self.s.is_active(v) {
            return Ok(None);
        }
        let ty = self.adjoint_type(v);
        let slot = self.adjoint_slot(v);
        let value = self.e.b().load(ty, slot, 0, MemClass::Unknown);
        let zero = self.e.neutral(ty);
        self.e.b().store(zero, slot, 0, MemClass::Unknown);
        Ok(Some(value))
    }

    /// `v` with the type `ty`, which differs at most in how the same floats are wrapped.
    fn same_bits(&mut self, v: ValueId, ty: TypeId) -> Result<ValueId, Refusal> {
        let from = self.e.ty(v);
        if from == ty {
            return Ok(v);
        }
        let kind = |t: TypeId| self.e.module.ctx.types.float_kind(t);
        match (kind(from), kind(ty)) {
            (Some(a), Some(b)) if a != b => {
                Err(Refusal::new(RefusalKind::Operation("reading the bits of floats of one format as another".into())))
            }
            _ => Ok(self.e.b().cast(CastOp::BitCast, v, ty)),
        }
    }

    fn refuse<T>(&self, i: InstId, what: &str) -> Result<T, Refusal> {
        Err(Refusal::new(RefusalKind::Operation(what.to_owned())).at(i))
    }

    /// Writes the adjoint of `i`.
    pub fn adjoint(&mut self, i: InstId) -> Result<(), Refusal> {
        let inst = self.s.func.insts[i].clone();
        self.e.fast = inst.fast | self.options.fast;
        let out = self.adjoint_of(i, &inst);
        self.e.fast = FastMath::empty();
        out.map_err(|r| if r.inst.is_some() { r } else { r.at(i) })
    }

    fn adjoint_of(&mut self, i: InstId, inst: &enzyme_ir::Inst) -> Result<(), Refusal> {
        let args = inst.args.as_slice();
        let active = inst.result.filter(|r| self.s.is_active(*r));
        match &inst.op {
            Op::FNeg | Op::Binary(_) | Op::Cast(CastOp::FPTrunc | CastOp::FPExt) => {
                let Some(r) = active else { return Ok(()) };
                let Some(rule) = enzyme_rules::lookup_inst(&inst.op) else { return self.refuse(i, "this arithmetic") };
                if let Op::Cast(back) = &inst.op {
                    let Some(t) = self.take_adjoint(r)? else { return Ok(()) };
                    let reverse = if *back == CastOp::FPExt { CastOp::FPTrunc } else { CastOp::FPExt };
                    let ty = self.s.func.ty(args[0]);
                    let t = self.e.b().cast(reverse, t, ty);
                    return self.add_adjoint(args[0], t);
                }
                self.rule_adjoint(rule, args, Some(r))
            }
            Op::Load(access) => match (active, args.first()) {
                (Some(r), Some(p)) if !self.s.is_idle_load(i) => {
                    let Some(t) = self.take_adjoint(r)? else { return Ok(()) };
                    let ty = self.e.ty(t);
                    let at = self.shadow_place(*p, ty)?;
                    let told =
                        self.s.func.words.contains_key(&i) && self.e.ty(t) == crate::words::double(self.e.module);
                    if told && !self.options.atomic && !self.s.is_mixed(*p) || self.s.unit.carry[r] == Carry::Word {
                        self.check_words()?;
                        crate::words::add(&mut self.e, at, t);
                        return Ok(());
                    }
                    self.e.scoped = inst.origin.filter(|_| !self.s.is_mixed(*p));
                    let out = self.add_to_memory(at, t, plain(*access));
                    self.e.scoped = None;
                    out
                }
                _ => Ok(()),
            },
            Op::Store(access) => self.store_adjoint(i, args, plain(*access)),
            Op::Select => match active {
                Some(r) => {
                    let Some(t) = self.take_adjoint(r)? else { return Ok(()) };
                    if let Some(n) = self.plan.products.selections.get(&r) {
                        return self.add_adjoint(args[*n], t);
                    }
                    let cond = match self.s.shape.running.get(&r).copied() {
                        Some(running) => self.replaced_here(r, running)?,
                        None => self.primal(args[0])?,
                    };
                    let ty = self.e.ty(t);
                    let none = self.e.neutral(ty);
                    let (a, b) = (self.e.choose(cond, t, none), self.e.choose(cond, none, t));
                    self.add_adjoint(args[1], a)?;
                    self.add_adjoint(args[2], b)
                }
                None => Ok(()),
            },
            Op::Freeze | Op::Cast(CastOp::BitCast) => match active {
                Some(r) => {
                    let Some(t) = self.take_adjoint(r)? else { return Ok(()) };
                    self.add_adjoint(args[0], t)
                }
                None => Ok(()),
            },
            Op::ExtractElement
            | Op::InsertElement
            | Op::ShuffleVector(_)
            | Op::ExtractValue(_)
            | Op::InsertValue(_) => match active {
                Some(r) => self.parts_adjoint(i, &inst.op, args, r),
                None => Ok(()),
            },
            Op::Call(_) | Op::Invoke { .. } => self.call_adjoint(i),
            Op::AtomicRmw(op, _) => self.atomic_adjoint(*op, args, inst.result),
            Op::Phi(_)
            | Op::Cast(_)
            | Op::ICmp(_)
            | Op::FCmp(_)
            | Op::Alloca { .. }
            | Op::Gep { .. }
            | Op::Fence(_)
            | Op::CmpXchg { .. }
            | Op::VaArg
            | Op::LandingPad { .. }
            | Op::CleanupPad
            | Op::CatchPad
            | Op::Ret
            | Op::Br(_)
            | Op::CondBr { .. }
            | Op::Switch { .. }
            | Op::IndirectBr(_)
            | Op::CallBr { .. }
            | Op::Resume
            | Op::Unreachable
            | Op::CleanupRet(_)
            | Op::CatchRet(_)
            | Op::CatchSwitch { .. } => Ok(()),
        }
    }

    /// `memory += amount`, float by float. Such sums have no order in the program, and no sign if they are zero.
    fn add_to_memory(&mut self, at: ValueId, amount: ValueId, access: Access) -> Result<(), Refusal> {
        let flags = self.e.fast;
        self.e.fast |= FastMath::REASSOC | FastMath::NSZ;
        let out = self.add_floats_to_memory(at, amount, access);
        self.e.fast = flags;
        out
    }

    fn add_floats_to_memory(&mut self, at: ValueId, amount: ValueId, access: Access) -> Result<(), Refusal> {
        let ty = self.e.ty(amount);
        if self.e.module.ctx.types.is_float_or_vector(ty) {
            if self.options.atomic {
                return self.add_atomically(at, amount, access.align);
            }
            let old = self.e.load_shadow(ty, at, access);
            let new = self.e.sum(old, amount);
            self.e.store_shadow(new, at, access);
            return Ok(());
        }
        self.each_float(ty, at, &mut |r, path, leaf, address| {
            let x = r.e.b().extract_value(amount, path);
            if r.options.atomic {
                return r.add_atomically(address, x, 0);
            }
            let old = r.e.load_in_lane(leaf, address, 1);
            let new = r.e.sum(old, x);
            r.e.store_in_lane(new, address, 1);
            Ok(())
        })
    }

    /// Calls `f` with path, type and address of every float or float vector in an aggregate in memory.
    fn each_float(&mut self, ty: TypeId, at: ValueId, f: EachFloat<'_, Self>) -> Result<(), Refusal> {
        let mut work = vec![(ty, 0u64, Vec::new())];
        while let Some((ty, offset, path)) = work.pop() {
            if !self.e.module.ctx.types.contains_float(ty) {
                continue;
            }
            if self.e.module.ctx.types.is_float_or_vector(ty) {
                let bytes = self.e.b().i64(offset);
                let address = self.e.b().byte_offset(at, bytes);
                f(self, &path, ty, address)?;
                continue;
            }
            let count: u64 = self.e.module.ctx.types.children(ty).iter().map(|c| c.1).sum();
            for n in (0..count).rev() {
                let ctx = &self.e.module.ctx;
                if let Some((inner, child)) = ctx.layout.element(&ctx.types, ty, n) {
                    let mut path = path.clone();
                    path.push(n as u32);
                    work.push((child, offset + inner, path));
                }
            }
        }
        Ok(())
    }

    fn store_adjoint(&mut self, i: InstId, args: &[ValueId], access: Access) -> Result<(), Refusal> {
        let (Some(v), Some(p)) = (args.first().copied(), args.get(1).copied()) else { return Ok(()) };
        if !self.s.has_shadow(p) {
            return Ok(());
        }
        if taken_for_integer(&self.s, v, p) {
            let ty = self.s.func.ty(v);
            let len = self.e.module.ctx.layout.store_size(&self.e.module.ctx.types, ty).unwrap_or(0);
            let (at, bytes) = (self.shadow(p)?, self.e.b().i64(len));
            let place = place_of(self.e.module, self.s.func, i);
            match self.s.unit.memory.tells_characters(p, Some(len)) {
                true => crate::words::require_text(&mut self.e, at, None, bytes, &place),
                false => crate::runtime::require_zero(&mut self.e, at, bytes, &place),
            }
            return Ok(());
        }
        let ty = match self.s.unit.carry[v] {
            Carry::None | Carry::Mixed => {
                let asked = || hiding_bytes(self.e.module, &self.s, v, p).is_some() && is_moved(&self.s, v);
                if let Some(reworked) = self.s.unit.reworked.get(&i).filter(|_| !asked()) {
                    let piece = reworked.piece;
                    let ty = self.s.func.ty(v);
                    let at = self.shadow_place(p, ty)?;
                    let word = self.e.load_in_lane(ty, at, 1);
                    let place = place_of(self.e.module, self.s.func, i);
                    crate::words::require_integer(&mut self.e, word, piece, &place);
                }
                self.require_none(i, v, p)?;
                return self.overwrite(v, p);
            }
            Carry::Word => {
                let double = crate::words::double(self.e.module);
                let at = self.shadow_place(p, double)?;
                let amount = crate::words::take(&mut self.e, at);
                return self.add_adjoint(v, amount);
            }
            Carry::Native | Carry::Bits(..) | Carry::Unknown => self.adjoint_type(v),
        };
        let at = self.shadow_place(p, ty)?;
        if self.e.module.ctx.types.is_float_or_vector(ty) {
            let scoped = self.s.func.insts[i].origin.filter(|_| !self.s.is_mixed(p));
            if self.s.is_active(v) {
                self.e.scoped = scoped;
                let old = self.e.load_shadow(ty, at, access);
                self.e.scoped = None;
                self.add_adjoint(v, old)?;
            }
            let zero = self.e.b().zero(ty);
            self.e.scoped = scoped;
            self.e.store_shadow(zero, at, access);
            self.e.scoped = None;
            return Ok(());
        }
        let mut total = self.e.neutral(ty);
        let mut parts: Vec<(Vec<u32>, ValueId)> = Vec::new();
        self.each_float(ty, at, &mut |r, path, leaf, address| {
            let old = r.e.load_in_lane(leaf, address, 1);
            parts.push((path.to_vec(), old));
            let zero = r.e.b().zero(leaf);
            r.e.store_in_lane(zero, address, 1);
            Ok(())
        })?;
        for (path, old) in parts {
            total = self.e.b().insert_value(total, old, &path);
        }
        self.add_adjoint(v, total)
    }

    /// Words that are taken for no floats have no adjoint: those that are moved must have none, that of others goes.
    fn require_none(&mut self, i: InstId, v: ValueId, p: ValueId) -> Result<(), Refusal> {
        let Some(len) = hiding_bytes(self.e.module, &self.s, v, p) else { return Ok(()) };
        let at = self.shadow_place(p, self.s.func.ty(v))?;
        let bytes = self.e.b().i64(len);
        if is_moved(&self.s, v) {
            let place = place_of(self.e.module, self.s.func, i);
            crate::words::require_none(&mut self.e, at, bytes, &place);
        } else {
            crate::words::discard(&mut self.e, at, bytes);
        }
        Ok(())
    }

    /// The adjoint of storing what is no float: floats that it overwrites lose theirs.
    fn overwrite(&mut self, v: ValueId, p: ValueId) -> Result<(), Refusal> {
        let ty = self.s.func.ty(v);
        let len = self.e.module.ctx.layout.store_size(&self.e.module.ctx.types, ty).unwrap_or(0);
        let lost = match overwritten(&self.s, v, p, len) {
            Overwritten::Nothing | Overwritten::Digits => return Ok(()),
            Overwritten::Floats(lost) => lost,
            Overwritten::Bytes => {
                let at = self.shadow_place(p, ty)?;
                let bytes = self.e.b().i64(len);
                self.e.fill_zero(at, bytes);
                return Ok(());
            }
        };
        let at = self.shadow_place(p, ty)?;
        for (offset, kind) in lost {
            let size = u64::from(kind.bits()).div_ceil(8);
            let inside = u64::try_from(offset).is_ok_and(|o| o + size <= len);
            if !inside && !self.s.unit.memory.is_float_at(p, offset, kind) {
                // What else may lie around the bytes written stays.
                let first = offset.max(0);
                let end = offset.saturating_add(size as i64).min(len as i64);
                let by = self.e.b().i64(first as u64);
                let address = self.e.b().byte_offset(at, by);
                let bytes = self.e.b().i64((end - first).max(0) as u64);
                self.e.fill_zero(address, bytes);
                continue;
            }
            let float = self.e.module.ctx.types.float(kind);
            let by = self.e.b().i64(offset as u64);
            let address = self.e.b().byte_offset(at, by);
            let zero = self.e.b().zero(float);
            self.e.store_in_lane(zero, address, 1);
        }
        Ok(())
    }

    /// Adjoints by the partial derivatives of a rule.
    fn rule_adjoint(&mut self, rule: &Rule, args: &[ValueId], result: Option<ValueId>) -> Result<(), Refusal> {
        let active = active_operands(&self.s, args);
        let result_active = result.is_some_and(|r| self.s.is_active(r));
        let live = |place: Place| match place {
            Place::Return | Place::ReturnField(_) => result_active,
            Place::Pointee(n) => args.get(n as usize).is_some_and(|p| self.s.has_shadow(*p)),
        };
        let needs = rule_needs(rule, &active, &live);
        let lives: Vec<bool> = rule.outputs.iter().map(|o| live(o.place)).collect();
        let ty = match args.iter().zip(&active).find(|(_, a)| **a) {
            Some((v, _)) => self.s.func.ty(*v),
            None => match rule.operands.iter().zip(args).find(|(o, _)| **o == enzyme_rules::Operand::Float) {
                Some((_, v)) => self.s.func.ty(*v),
                None => return Ok(()),
            },
        };
        let mut operands = Vec::new();
        for (n, a) in args.iter().enumerate() {
            operands.push(if needs.arg(n) {
                self.primal(*a)?
            } else {
                let t = self.s.func.ty(*a);
                self.e.b().poison(t)
            });
        }
        let whole = match result {
            Some(r) if needs.results != 0 => Some(self.primal(r)?),
            _ => None,
        };
        let adjoint = if result_active { result.map(|r| self.take_adjoint(r)).transpose()?.flatten() } else { None };
        let mut results = Vec::new();
        for o in rule.outputs {
            let value = match (o.place, whole) {
                (Place::Return, Some(w)) => w,
                (Place::ReturnField(n), Some(w)) => self.e.b().extract_value(w, &[n]),
                _ => self.e.b().poison(ty),
            };
            results.push(value);
        }
        let over = Operands { args: &operands, results: &results, ty };
        // An arm that was not selected has adjoint zero, whatever its partial derivatives are, and so has a lane that holds nothing.
        let selectable = result.is_some_and(|r| self.plan.selectable.contains(&r));
        let mut sums: Vec<Option<ValueId>> = vec![None; args.len()];
        for (o, is_live) in rule.outputs.iter().zip(&lives) {
            if !is_live {
                continue;
            }
            let seed = match o.place {
                Place::Return => adjoint,
                Place::ReturnField(n) => adjoint.map(|a| self.e.b().extract_value(a, &[n])),
                Place::Pointee(n) => {
                    let at = self.shadow_place(args[n as usize], ty)?;
                    let old = self.e.load_in_lane(ty, at, 0);
                    let zero = self.e.b().zero(ty);
                    self.e.store_in_lane(zero, at, 0);
                    Some(old)
                }
            };
            let Some(seed) = seed else { continue };
            // Conversions have another format there.
            let seed = self.e.to_float(seed, ty);
            for (n, partial) in o.partials.iter().enumerate() {
                let (Some(expr), true) = (partial, active.get(n).copied().unwrap_or(false)) else { continue };
                let term = match self.options.strong_zero || selectable {
                    true => strong_product(&mut self.e, seed, expr, &over),
                    false => product(&mut self.e, seed, expr, &over),
                };
                let way = result.and_then(|r| self.plan.products.ways.get(&r)).filter(|way| args[n] != way.toward);
                let term = match way.copied() {
                    Some(way) => self.where_factor_counts(term, way)?,
                    None => term,
                };
                sums[n] = Some(match sums[n] {
                    Some(s) => self.e.sum(s, term),
                    None => term,
                });
            }
        }
        for (a, sum) in args.iter().zip(sums) {
            if let Some(s) = sum {
                self.add_adjoint(*a, s)?;
            }
        }
        Ok(())
    }

    /// `term`, or nothing where the factor of the product that it belongs to is zero.
    fn where_factor_counts(&mut self, term: ValueId, way: Way) -> Result<ValueId, Refusal> {
        let cond = self.primal(way.cond)?;
        let ty = self.e.ty(term);
        let none = self.e.neutral(ty);
        Ok(if way.vanishes { self.e.choose(cond, none, term) } else { self.e.choose(cond, term, none) })
    }

    /// Adjoints of taking vectors and aggregates apart and putting them together.
    fn parts_adjoint(&mut self, i: InstId, op: &Op, args: &[ValueId], r: ValueId) -> Result<(), Refusal> {
        let Some(t) = self.take_adjoint(r)? else { return Ok(()) };
        match op {
            Op::ExtractElement => {
                let index = self.primal(args[1])?;
                let ty = self.adjoint_type(args[0]);
                let none = self.e.neutral(ty);
                let spread = self.e.b().value(Op::InsertElement, smallvec![none, t, index], ty);
                self.add_adjoint(args[0], spread)
            }
            Op::InsertElement => {
                let index = self.primal(args[2])?;
                let ty = self.e.ty(t);
                let lane_ty = self.s.func.ty(args[1]);
                let lane = self.e.b().value(Op::ExtractElement, smallvec![t, index], lane_ty);
                self.add_adjoint(args[1], lane)?;
                let none = self.e.neutral(lane_ty);
                let rest = self.e.b().value(Op::InsertElement, smallvec![t, none, index], ty);
                self.add_adjoint(args[0], rest)
            }
            Op::ShuffleVector(mask) => {
                let ty = self.s.func.ty(args[0]);
                let Type::Vector { elem, len, .. } = self.e.module.ctx.types[ty] else { return Ok(()) };
                for (side, source) in args.iter().take(2).enumerate() {
                    if !self.s.is_active(*source) {
                        continue;
                    }
                    let mut lanes: Vec<Option<ValueId>> = vec![None; len as usize];
                    for (n, m) in mask.iter().enumerate() {
                        let Some(lane) = usize::try_from(*m).ok().and_then(|m| m.checked_sub(side * len as usize))
                        else {
                            continue;
                        };
                        if lane >= len as usize {
                            continue;
                        }
                        let index = self.e.b().i64(n as u64);
                        let x = self.e.b().value(Op::ExtractElement, smallvec![t, index], elem);
                        lanes[lane] = Some(match lanes[lane] {
                            Some(s) => self.e.sum(s, x),
                            None => x,
                        });
                    }
                    let mut whole = self.e.neutral(ty);
                    for (n, x) in lanes.into_iter().enumerate() {
                        if let Some(x) = x {
                            let index = self.e.b().i64(n as u64);
                            whole = self.e.b().value(Op::InsertElement, smallvec![whole, x, index], ty);
                        }
                    }
                    self.add_adjoint(*source, whole)?;
                }
                Ok(())
            }
            Op::ExtractValue(path) => {
                let ty = self.adjoint_type(args[0]);
                let none = self.e.neutral(ty);
                let part = self.e.b().extract_value(none, path);
                if self.e.ty(part) != self.e.ty(t) {
                    return Err(Refusal::new(RefusalKind::Conflict(Conflict::BitTrick(i))));
                }
                let spread = self.e.b().insert_value(none, t, path);
                self.add_adjoint(args[0], spread)
            }
            Op::InsertValue(path) => {
                let part = self.e.b().extract_value(t, path);
                let part_ty = self.e.ty(part);
                if self.s.is_active(args[1]) {
                    if self.adjoint_type(args[1]) != part_ty {
                        return Err(Refusal::new(RefusalKind::Conflict(Conflict::BitTrick(i))));
                    }
                    self.add_adjoint(args[1], part)?;
                }
                let none = self.e.neutral(part_ty);
                let rest = self.e.b().insert_value(t, none, path);
                self.add_adjoint(args[0], rest)
            }
            _ => Ok(()),
        }
    }

    fn call_adjoint(&mut self, i: InstId) -> Result<(), Refusal> {
        let args: Vec<ValueId> = self.s.func.call_args(i).to_vec();
        let result = self.s.func.insts[i].result;
        match resolve(self.e.module, self.s.func, i) {
            Callee::Math(math) => self.rule_adjoint(math.rule, &args, result),
            // One call for all lanes.
            Callee::Defined(_) if self.s.activity.calls.contains_key(&i) => match self.lane {
                0 if samples::is_sample(self.e.module, &self.s, i) => self.sample_adjoint(i),
                0 => self.reverse_derivative_call(i),
                _ => Ok(()),
            },
            Callee::Defined(_) | Callee::Unknown(_) => Ok(()),
            Callee::Known(known) => match known.memory() {
                MemoryEffect::Copy { dst, src, len, overlap } => {
                    self.copy_adjoint(i, args[dst], args[src], args[len], overlap)
                }
                MemoryEffect::Set { dst, len, .. } => self.fill_adjoint(i, args[dst], args[len]),
                MemoryEffect::Alloc { size: Some(size), count, .. } if self.s.key.keeps => {
                    self.clear_allocation(i, args[size], count.and_then(|n| args.get(n)).copied())
                }
                MemoryEffect::Alloc { .. } => self.free_allocation(i),
                MemoryEffect::Realloc { ptr, size, count } => self.realloc_adjoint(i, &args, ptr, size, count),
                MemoryEffect::AllocInto { .. } => Ok(()),
                MemoryEffect::LifetimeStart { ptr } => self.clear_slot(args[ptr]),
                MemoryEffect::Free { .. } | MemoryEffect::None | MemoryEffect::Unsupported(_) => Ok(()),
            },
        }
    }

    fn copy_adjoint(
        &mut self,
        i: InstId,
        dst: ValueId,
        src: ValueId,
        len: ValueId,
        overlap: bool,
    ) -> Result<(), Refusal> {
        if !self.s.has_shadow(dst) {
            return Ok(());
        }
        if !self.s.has_shadow(src) {
            return self.fill_adjoint(i, dst, len);
        }
        let bytes = classify(self.e.module, &self.s, i, &[dst, src], len)?;
        let hidden = hides_doubles(self.e.module, &self.s, &bytes, dst, len);
        if matches!(bytes, Bytes::NoFloats(_)) && !hidden {
            return Ok(());
        }
        let (to, from) = (self.shadow(dst)?, self.shadow(src)?);
        let n = self.primal(len)?;
        let n = self.e.to_i64(n);
        if matches!(bytes, Bytes::NoFloats(_) | Bytes::Characters) {
            let n = self.shadow_bytes(dst, n)?;
            let place = place_of(self.e.module, self.s.func, i);
            match bytes {
                Bytes::Characters if self.s.unit.memory.tells_characters(dst, None) => {
                    crate::words::require_text(&mut self.e, to, None, n, &place);
                }
                Bytes::Characters => crate::runtime::require_zero(&mut self.e, to, n, &place),
                _ => crate::words::require_none(&mut self.e, to, n, &place),
            }
            return Ok(());
        }
        let there = self.shadow_bytes(dst, n)?;
        let both = self.shadow_bytes(src, there)?;
        if bytes == Bytes::Words {
            if self.options.atomic && likely_characters(&self.s, i, &[dst, src]) {
                let place = place_of(self.e.module, self.s.func, i);
                crate::words::require_text(&mut self.e, to, None, both, &place);
                return Ok(());
            }
            self.add_words(i, to, from, both)?;
            if self.s.is_mixed(dst) || self.s.is_mixed(src) {
                let rest = self.e.b().binary(enzyme_ir::BinOp::Sub, there, both);
                crate::words::discard(&mut self.e, to, rest);
            }
            return Ok(());
        }
        let add = match &bytes {
            Bytes::Floats(kind) => self.sum_of_copied(*kind, overlap)?,
            Bytes::Runs(runs, period) => self.sum_of_runs(runs, *period, overlap)?,
            Bytes::NoFloats(_) | Bytes::Characters | Bytes::Words => return Ok(()),
        };
        self.e.call_func(add, &[to, from, both]);
        if hidden {
            let place = place_of(self.e.module, self.s.func, i);
            crate::words::require_none(&mut self.e, to, both, &place);
        }
        if self.s.is_mixed(dst) || self.s.is_mixed(src) {
            // Where nothing was moved, what was overwritten still is.
            let rest = self.e.b().binary(enzyme_ir::BinOp::Sub, there, both);
            self.clear_bytes(&bytes, to, rest);
        }
        Ok(())
    }

    /// Clears the adjoints in `n` bytes of shadow memory at `to`.
    fn clear_bytes(&mut self, bytes: &Bytes, to: ValueId, n: ValueId) {
        match bytes {
            Bytes::NoFloats(_) => {}
            Bytes::Floats(_) | Bytes::Characters | Bytes::Words => self.e.fill_zero(to, n),
            Bytes::Runs(runs, period) => {
                let f = over_runs(self.e.module, RunWork::Clear, runs, *period);
                let ptr = self.e.module.ctx.types.ptr();
                let null = self.e.b().zero(ptr);
                self.e.call_func(f, &[to, null, n]);
            }
        }
    }

    /// Clears the adjoints of `len` bytes.
    fn fill_adjoint(&mut self, i: InstId, dst: ValueId, len: ValueId) -> Result<(), Refusal> {
        if !self.s.has_shadow(dst) {
            return Ok(());
        }
        // Where types are not known all of the shadow is cleared: what a fill overwrites, nobody reads any more.
        let bytes = classify(self.e.module, &self.s, i, &[dst], len).unwrap_or(Bytes::Floats(FloatKind::Double));
        let hidden = hides_doubles(self.e.module, &self.s, &bytes, dst, len);
        if matches!(bytes, Bytes::NoFloats(_)) && !hidden {
            return Ok(());
        }
        let to = self.shadow(dst)?;
        let n = self.primal(len)?;
        let n = self.e.to_i64(n);
        let n = self.shadow_bytes(dst, n)?;
        self.clear_bytes(&bytes, to, n);
        if hidden {
            crate::words::discard(&mut self.e, to, n);
        }
        Ok(())
    }

    /// Frees an allocation, and its shadow, that the primal frees in the same turn.
    fn free_allocation(&mut self, i: InstId) -> Result<(), Refusal> {
        let Some(free) = self.plan.frees.at_reversal.get(&i).copied() else { return Ok(()) };
        let Some(r) = self.s.func.insts[i].result else { return Ok(()) };
        let call = as_call(&self.s.func.insts[free]);
        let mut pointers = Vec::new();
        if self.lane == 0 {
            pointers.push(self.primal(r)?);
        }
        if self.s.has_shadow(r) {
            let shadow = self.shadow(r)?;
            match shadow_rule(self.e.module, self.s.func, i).and_then(|rule| rule.free) {
                Some(release) => {
                    self.e.call_func(release, &[shadow]);
                }
                None => pointers.push(shadow),
            }
        }
        // A size is no more known here than it must be.
        let plain = if call.args.len() > 2 { self.release_of(free, self.s.func.call_args(free)) } else { None };
        for p in pointers {
            if let Some(release) = plain {
                self.e.call_func(release, &[p]);
                continue;
            }
            let mut values = Vec::new();
            for a in &call.args {
                values.push(if *a == r { p } else { self.primal(*a)? });
            }
            self.e.copy(&call, &values, MemClass::Unknown);
        }
        Ok(())
    }

    /// Leaves zeros in the shadow of an allocation that is there again for another reverse sweep; pointers stay.
    fn clear_allocation(&mut self, i: InstId, size: ValueId, count: Option<ValueId>) -> Result<(), Refusal> {
        let Some(r) = self.s.func.insts[i].result.filter(|r| self.s.has_shadow(*r)) else { return Ok(()) };
        let size = self.primal(size)?;
        let mut bytes = self.e.to_i64(size);
        if let Some(count) = count {
            let count = self.primal(count)?;
            let count = self.e.to_i64(count);
            bytes = self.e.b().binary(enzyme_ir::BinOp::Mul, bytes, count);
        }
        self.clear_shadow(i, r, bytes)
    }

    /// Leaves zeros in the floats of the shadow behind `r`.
    pub fn clear_shadow(&mut self, i: InstId, r: ValueId, bytes: ValueId) -> Result<(), Refusal> {
        let fixed = self.e.func.as_const(bytes).and_then(|c| self.e.module.ctx.consts.as_u64(c));
        let kind = classify_bytes(&self.s, i, &[r], fixed)?;
        let at = self.shadow(r)?;
        self.clear_bytes(&kind, at, bytes);
        Ok(())
    }

    /// The shadow of a stack slot whose life begins here starts from zero in the turn before.
    fn clear_slot(&mut self, p: ValueId) -> Result<(), Refusal> {
        if !self.s.has_shadow(p) {
            return Ok(());
        }
        let Some(slot) = self.s.func.def_inst(p) else { return Ok(()) };
        let Op::Alloca { elem, .. } = self.s.func.insts[slot].op else { return Ok(()) };
        let has_pointers = self.s.unit.memory.class_of[p].is_some_and(|c| self.s.unit.memory.classes[c].has_pointers());
        if has_pointers {
            return Ok(());
        }
        let size = self.e.module.ctx.layout.size_of(&self.e.module.ctx.types, elem).unwrap_or(0);
        let at = self.shadow(p)?;
        let bytes = self.e.b().i64(size);
        let bytes = self.shadow_bytes(p, bytes)?;
        self.e.fill_zero(at, bytes);
        Ok(())
    }
}

/// An access to shadow memory like one to primal memory: same alignment, neither volatile nor atomic.
fn plain(access: Access) -> Access {
    Access { align: access.align, ..Access::default() }
}
