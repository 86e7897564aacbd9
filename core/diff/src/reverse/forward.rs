//! The forward sweep: the primal function again, with shadow pointers beside pointers, storing what is cached.

use enzyme_analysis::callee::MemoryEffect;
use enzyme_analysis::{Callee, Carry, resolve};
use enzyme_ir::cfg::LoopId;
use enzyme_ir::{BlockId, CallInfo, Const, Global, Inst, InstId, Linkage, MemClass, Op, TailKind, ValueDef, ValueId};

use super::checks::require_text;
use super::{Reverse, as_call, samples};
use crate::checkpoint;
use crate::copies::{Bytes, classify};
use crate::keys::{Key, counts, holds_no_address, moved_in_lanes};
use crate::owned::replaces_pointer;
use crate::plan::{Rows, shadow_release, shadow_rule};
use crate::refusal::{Refusal, RefusalKind};
use crate::request::Mode;
use crate::runtime::{RunWork, over_moved_runs};
use crate::shape::Merge;

/// Rows of up to this many columns are stored at the end of a block.
const LATE_KEYS: usize = 24;

impl Reverse<'_, '_> {
    /// Writes the forward sweep from the block at hand; its return goes to `turn`.
    pub fn forward_sweep(&mut self, turn: BlockId) -> Result<(), Refusal> {
        for (i, p) in self.s.func.params.iter().enumerate() {
            self.map[*p] = self.sig.primal.get(i).and_then(|n| self.e.func.params.get(*n)).copied();
            if let Some(n) = self.sig.shadow[i] {
                for (lane, shadows) in self.shadows.iter_mut().enumerate() {
                    shadows.insert(*p, self.e.func.params[n + lane]);
                }
            }
        }
        let i64 = self.e.module.ctx.types.int(64);
        let loops: Vec<LoopId> = self.s.shape.loops.loops().map(|e| e.0).collect();
        for l in loops {
            let slot = self.e.slot(i64, None);
            self.counters.insert(l, slot);
        }
        // `next` holds the number of the coming iteration.
        let mut next = std::collections::BTreeMap::new();
        for (l, _) in self.s.shape.loops.loops() {
            next.insert(l, self.e.slot(i64, None));
        }
        self.make_latest();
        let order: Vec<BlockId> = self.s.shape.cfg.rpo().to_vec();
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
        let mut phis: Vec<(InstId, ValueId, Option<usize>)> = Vec::new();
        for b in &order {
            self.e.block = self.starts[b];
            self.here = Some(*b);
            self.block_head(*b, &mut phis, &next)?;
            for i in &self.s.func.blocks[*b].insts {
                let inst = &self.s.func.insts[*i];
                self.e.loc = inst.loc;
                if let Op::Invoke { normal, .. } = inst.op {
                    self.keep_late();
                    self.forward_inst(*i)?;
                    self.keep_late();
                    let next = self.start_of(*b, normal)?;
                    self.e.b().br(next);
                } else if inst.op.is_terminator() {
                    self.keep_late();
                    self.before_terminator(*b, &next);
                    self.forward_terminator(*b, inst, turn)?;
                } else if !matches!(inst.op, Op::Phi(_) | Op::LandingPad { .. }) {
                    self.forward_inst(*i)?;
                }
            }
            self.ends.insert(*b, self.e.block);
        }
        self.fill_phis(&phis)
    }

    /// Phis, and what happens on entry of a block: counters, room in caches, records of the way taken.
    fn block_head(
        &mut self,
        b: BlockId,
        phis: &mut Vec<(InstId, ValueId, Option<usize>)>,
        next: &std::collections::BTreeMap<LoopId, ValueId>,
    ) -> Result<(), Refusal> {
        let (mut entered, mut moved) = (None, Vec::new());
        let i32 = self.e.module.ctx.types.int(32);
        if self.plan.choice.cached.contains(&Key::Entered(b))
            && let Some(Merge::Recorded(_)) = self.s.shape.merges.get(&b)
        {
            entered = Some(self.e.b().phi(i32, &[]));
        }
        for i in &self.s.func.blocks[b].insts {
            let inst = &self.s.func.insts[*i];
            let (Op::Phi(_), Some(r)) = (&inst.op, inst.result) else { break };
            let v = self.e.b().phi(inst.ty, &[]);
            self.map[r] = Some(v);
            phis.push((*i, v, None));
            if let Some(base) = moved_in_lanes(self.e.module, &self.s, r).filter(|_| self.s.has_shadow(r)) {
                moved.push((r, base));
                continue;
            }
            for lane in 0..if self.s.has_shadow(r) { self.shadows.len() } else { 0 } {
                let v = self.e.b().phi(inst.ty, &[]);
                self.shadows[lane].insert(r, v);
                phis.push((*i, v, Some(lane)));
            }
        }
        // A landing pad stands before all else.
        let pad =
            self.s.func.blocks[b].insts.iter().find(|i| !matches!(self.s.func.insts[**i].op, Op::Phi(_))).copied();
        if let Some(i) = pad.filter(|i| matches!(self.s.func.insts[*i].op, Op::LandingPad { .. })) {
            self.forward_inst(i)?;
        }
        for (r, base) in moved {
            let (from, to) = (self.forward_value(base), self.forward_value(r));
            self.in_lanes(|this| {
                let start = this.forward_shadow(base)?;
                let v = this.e.moved_alike(start, from, to);
                this.shadows[this.lane].insert(r, v);
                Ok(())
            })?;
        }
        let (i64, one) = (self.e.module.ctx.types.int(64), self.e.b().i64(1));
        if let Some(l) = self.s.shape.loops.headed_by(b)
            && let (Some(n), Some(c)) = (next.get(&l).copied(), self.counters.get(&l).copied())
        {
            let now = self.e.b().load(i64, n, 0, MemClass::Unknown);
            self.e.b().store(now, c, 0, MemClass::Unknown);
            let then = self.e.b().add(now, one);
            self.e.b().store(then, n, 0, MemClass::Unknown);
            if self.plan.loops.get(&l).is_some_and(|c| c.rows == Rows::PerIteration) {
                self.ensure_rows(l, then);
            }
        }
        // Dedicated exits: entering this block leaves these loops, the inner ones first.
        let from = self.s.shape.cfg.reachable_preds(b).first().copied();
        for l in from.map(|p| self.s.shape.left_between(p, b)).unwrap_or_default() {
            let Some(counter) = self.counters.get(&l).copied() else { continue };
            let iteration = self.e.b().load(i64, counter, 0, MemClass::Unknown);
            self.keep(Key::Count(l), iteration);
            self.keep_latest(l);
            if let Some(base) = self.state.bases.get(&l).copied() {
                let old = self.e.b().load(i64, base, 0, MemClass::Unknown);
                let ran = self.e.b().add(iteration, one);
                let ran = self.with_front(l, ran);
                let new = self.e.b().add(old, ran);
                self.e.b().store(new, base, 0, MemClass::Unknown);
            }
            for n in self.steady_over(l) {
                self.move_steady(n, true);
            }
        }
        if let (Some(v), Some(Merge::Recorded(preds))) = (entered, self.s.shape.merges.get(&b)) {
            self.keep(Key::Entered(b), v);
            self.pending_entered.push((v, b, preds.clone()));
        }
        for i in &self.s.func.blocks[b].insts {
            let inst = &self.s.func.insts[*i];
            let (Op::Phi(_), Some(r)) = (&inst.op, inst.result) else { break };
            self.keep_value(r);
        }
        Ok(())
    }

    fn keep_value(&mut self, r: ValueId) {
        if let Some(v) = self.map[r] {
            self.keep_later(Key::Primal(r), v);
            self.keep_later(Key::Column(r), v);
        }
        for lane in 0..self.shadows.len() {
            if let Some(v) = self.shadows[lane].get(&r).copied() {
                self.lane = lane;
                self.keep_later(Key::Shadow(r), v);
            }
        }
        self.lane = 0;
    }

    /// Keeps a value in the row of its loop at the end of the block: LLVM's vectoriser can't move a store of what the
    /// iteration before has loaded behind the load of this one. Large rows are stored at once, to spare registers.
    fn keep_later(&mut self, key: Key, v: ValueId) {
        let row = self.plan.row_of(&self.s, key).and_then(|(l, _)| self.plan.loops.get(&l));
        if row.is_some_and(|cache| cache.keys.len() <= LATE_KEYS) || self.plan.steady_row(key).is_some() {
            self.late.push((key, v, self.lane));
        } else {
            self.keep(key, v);
        }
    }

    fn keep_late(&mut self) {
        for (key, v, lane) in std::mem::take(&mut self.late) {
            self.lane = lane;
            self.keep(key, v);
        }
        self.lane = 0;
    }

    fn before_terminator(&mut self, b: BlockId, next: &std::collections::BTreeMap<LoopId, ValueId>) {
        let entered: Vec<LoopId> =
            self.s.shape.loops.loops().filter(|(_, l)| l.preheader == Some(b)).map(|(id, _)| id).collect();
        for l in entered {
            let zero = self.e.b().i64(0);
            if let Some(n) = next.get(&l).copied() {
                self.e.b().store(zero, n, 0, MemClass::Unknown);
            }
            self.reset_latest(l);
            self.allocate_rows(l);
            self.open_steady(l);
            if let Some(Rows::PerEntry(v, _)) = self.plan.loops.get(&l).map(|c| c.rows.clone()) {
                let count = self.forward_value(v);
                let count = self.e.to_i64(count);
                let one = self.e.b().i64(1);
                let rows = self.e.b().add(count, one);
                let rows = self.with_front(l, rows);
                self.begin_chunk(l, rows);
                self.ensure_rows(l, rows);
            }
            self.keep_starts(l);
        }
    }

    fn forward_terminator(&mut self, b: BlockId, inst: &Inst, turn: BlockId) -> Result<(), Refusal> {
        match &inst.op {
            Op::Ret => {
                if let (Mode::Augmented | Mode::Combined, Some(v)) = (self.s.key.mode, inst.args.first())
                    && self.sig.result_field.is_some()
                {
                    let mut shadows = Vec::new();
                    self.in_lanes(|this| {
                        shadows.extend(this.forward_shadow_if(*v)?);
                        Ok(())
                    })?;
                    self.returned = Some((self.forward_value(*v), shadows));
                }
                self.e.b().br(turn);
            }
            op => {
                let mut op = op.clone();
                let mut to = std::collections::BTreeMap::new();
                for t in op.successors() {
                    to.insert(t, self.start_of(b, t)?);
                }
                op.map_targets(&mut |t| to.get(&t).copied().unwrap_or(t));
                if matches!(op, Op::Resume) {
                    self.clean_up();
                }
                let args: Vec<ValueId> = inst.args.iter().map(|a| self.forward_value(*a)).collect();
                let mut copy = inst.clone();
                copy.op = op;
                self.e.copy(&copy, &args, MemClass::Unknown);
            }
        }
        Ok(())
    }

    fn start_of(&self, b: BlockId, to: BlockId) -> Result<BlockId, Refusal> {
        let lost = || Refusal::new(RefusalKind::Internal(format!("{b} branches to an unreachable block")));
        self.starts.get(&to).copied().ok_or_else(lost)
    }

    /// Block of the forward sweep from which control comes to the copy of `to` where it came from `from` in the primal.
    fn came_from(&self, from: BlockId, to: BlockId) -> Option<BlockId> {
        let thrown = self.s.shape.is_unwind_edge(self.s.func, from, to);
        if thrown { self.throws.get(&from).copied() } else { self.ends.get(&from).copied() }
    }

    fn fill_phis(&mut self, phis: &[(InstId, ValueId, Option<usize>)]) -> Result<(), Refusal> {
        for (i, phi, lane) in phis {
            self.lane = lane.unwrap_or(0);
            let inst = &self.s.func.insts[*i];
            let (Op::Phi(blocks), Some(to)) = (&inst.op, self.s.shape.block_of[*i]) else { continue };
            let (mut from, mut args) = (Vec::new(), enzyme_ir::Args::new());
            for (b, a) in blocks.iter().zip(&inst.args) {
                let Some(end) = self.came_from(*b, to) else { continue };
                from.push(end);
                let v = if lane.is_some() { self.forward_shadow(*a)? } else { self.forward_value(*a) };
                args.push(v);
            }
            if let Some(d) = self.e.func.def_inst(*phi) {
                self.e.func.insts[d].op = Op::Phi(from);
                self.e.func.insts[d].args = args;
            }
        }
        self.lane = 0;
        let i32 = self.e.module.ctx.types.int(32);
        for (phi, b, preds) in std::mem::take(&mut self.pending_entered) {
            let (mut from, mut args) = (Vec::new(), enzyme_ir::Args::new());
            for (n, p) in preds.iter().enumerate() {
                let Some(end) = self.came_from(*p, b) else { continue };
                // A predecessor may have several edges here; a phi has an entry for each.
                let edges = self.s.shape.cfg.succs(*p).iter().filter(|s| **s == b).count();
                for _ in 0..edges.max(1) {
                    from.push(end);
                    args.push(self.e.b().int(i32, n as u64));
                }
            }
            if let Some(d) = self.e.func.def_inst(phi) {
                self.e.func.insts[d].op = Op::Phi(from);
                self.e.func.insts[d].args = args;
            }
        }
        Ok(())
    }

    /// The forward sweep's value of a primal value.
    pub fn forward_value(&mut self, v: ValueId) -> ValueId {
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

    fn forward_shadow_if(&mut self, v: ValueId) -> Result<Option<ValueId>, Refusal> {
        if self.s.has_shadow(v) { self.forward_shadow(v).map(Some) } else { Ok(None) }
    }

    /// The forward sweep's shadow pointer of a primal value; the value itself where its memory has no shadow.
    pub fn forward_shadow(&mut self, v: ValueId) -> Result<ValueId, Refusal> {
        match self.s.func.values[v].def {
            ValueDef::Const(_) => self.constant_shadow(v),
            ValueDef::Param(_) | ValueDef::Inst(_) => match self.shadows[self.lane].get(&v) {
                Some(x) => Ok(*x),
                None if !self.s.has_shadow(v) || counts(self.e.module, &self.s, v) => Ok(self.forward_value(v)),
                None => {
                    let refusal = Refusal::new(RefusalKind::NoShadow("a pointer of unknown origin".into()));
                    Err(Refusal { inst: self.s.func.def_inst(v), ..refusal })
                }
            },
        }
    }

    /// The shadow of a constant: itself for null, the shadow of a global.
    pub fn constant_shadow(&mut self, v: ValueId) -> Result<ValueId, Refusal> {
        let Some(c) = self.s.func.as_const(v) else { return Ok(v) };
        let ty = self.s.func.ty(v);
        match self.e.module.ctx.consts[c].clone() {
            Const::Global(g) if self.s.has_shadow(v) && self.e.module.globals[g].can_have_shadow() => {
                let shadow = shadow_global(self.e.module, self.globals, g, self.lane as u32);
                let c = self.e.module.ctx.consts.intern(Const::Global(shadow));
                Ok(self.e.func.constant(c, ty))
            }
            Const::Global(_) | Const::Func(_) => Ok(self.e.func.constant(c, ty)),
            c0 if holds_no_address(&self.e.module.ctx.consts, &c0) => Ok(self.e.func.constant(c, ty)),
            _ => Err(Refusal::new(RefusalKind::NoShadow("a constant address expression".into()))),
        }
    }

    /// Copies `inst` with forward operands: once, with the first lane.
    pub fn copy_forward(&mut self, inst: &Inst) -> Option<ValueId> {
        if self.lane > 0 {
            return inst.result.and_then(|r| self.map[r]);
        }
        self.repeat_forward(inst)
    }

    /// The same for each lane.
    pub(super) fn repeat_forward(&mut self, inst: &Inst) -> Option<ValueId> {
        let args: Vec<ValueId> = inst.args.iter().map(|a| self.forward_value(*a)).collect();
        let mut inst = inst.clone();
        if let Op::Call(info) | Op::Invoke { call: info, .. } = &mut inst.op {
            // What was in tail position is no longer.
            **info = CallInfo { tail: TailKind::None, ..(**info).clone() };
        }
        let mem = if matches!(inst.op, Op::Load(_) | Op::Store(_)) { MemClass::Primal } else { MemClass::Unknown };
        self.e.scoped = inst.origin.filter(|_| mem == MemClass::Primal);
        let copy = self.place_copy(&inst, &args, mem);
        self.e.scoped = None;
        copy
    }

    fn forward_inst(&mut self, i: InstId) -> Result<(), Refusal> {
        self.in_lanes(|this| this.forward_inst_in_lane(i))?;
        if let Some(r) = self.s.func.insts[i].result {
            self.keep_value(r);
            self.note_latest(i, r);
        }
        Ok(())
    }

    fn forward_inst_in_lane(&mut self, i: InstId) -> Result<(), Refusal> {
        let inst = self.s.func.insts[i].clone();
        let result = inst.result;
        match &inst.op {
            Op::Alloca { elem, .. } => self.forward_slot(i, *elem)?,
            Op::Call(_) | Op::Invoke { .. } => self.forward_call(i)?,
            Op::AtomicRmw(..) => {
                if let (Some(p), Some(v)) = (inst.args.first(), inst.args.get(1)) {
                    self.forward_atomic(i, *p, *v)?;
                }
                let v = self.copy_forward(&inst);
                if let Some(r) = result {
                    self.map[r] = v;
                }
            }
            Op::Store(access) => {
                self.copy_forward(&inst);
                let (Some(v), Some(p)) = (inst.args.first(), inst.args.get(1)) else { return Ok(()) };
                if self.s.is_mixed(*p) && (self.s.is_active(*v) || self.s.has_shadow(*v)) {
                    let (shadow, primal) = (self.forward_shadow(*p)?, self.forward_value(*p));
                    let place = place_of(self.e.module, self.s.func, i);
                    crate::runtime::require_shadow(&mut self.e, shadow, primal, &place);
                }
                let ty = self.s.func.ty(*v);
                if self.s.has_shadow(*p) && self.s.unit.carry[*v] == Carry::Word {
                    let (shadow, primal) = (self.forward_shadow(*v)?, self.forward_value(*v));
                    let at = self.forward_place(*p, ty)?;
                    crate::words::store(&mut self.e, primal, shadow, at);
                    return Ok(());
                }
                let is_pointer = self.e.module.ctx.types.contains_pointer(ty) || self.s.has_shadow(*v);
                if self.s.has_shadow(*p) && is_pointer {
                    if self.e.module.ctx.types.contains_float(ty) {
                        return Err(Refusal::new(RefusalKind::Operation(
                            "a store of pointers and floats at once".into(),
                        ))
                        .at(i));
                    }
                    let shadow = self.forward_shadow(*v)?;
                    let at = self.forward_place(*p, ty)?;
                    self.e.store_shadow(shadow, at, *access);
                } else {
                    self.forget_pointers(i)?;
                }
            }
            _ => {
                let v = self.copy_forward(&inst);
                if let Some(r) = result {
                    self.map[r] = v;
                    self.check_read(i, r)?;
                    if self.s.has_shadow(r) {
                        self.forward_pointer(i)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The shadow pointer of an instruction that computes a pointer.
    fn forward_pointer(&mut self, i: InstId) -> Result<(), Refusal> {
        let inst = self.s.func.insts[i].clone();
        let Some(r) = inst.result else { return Ok(()) };
        if self.s.unit.carry[r] == Carry::Word && matches!(inst.op, Op::Cast(enzyme_ir::CastOp::BitCast)) {
            // A float among words has no address.
            let none = self.e.b().i64(0);
            self.shadows[self.lane].insert(r, none);
            return Ok(());
        }
        let mut args = Vec::new();
        for (n, a) in inst.args.iter().enumerate() {
            let index = match inst.op {
                Op::Gep { .. } | Op::ExtractElement => n > 0,
                Op::Select => n == 0,
                Op::InsertElement => n == 2,
                _ => false,
            };
            args.push(if index { self.forward_value(*a) } else { self.forward_shadow(*a)? });
        }
        match &inst.op {
            Op::Gep { .. } | Op::Cast(_) | Op::Select | Op::Freeze | Op::ExtractValue(_) | Op::InsertValue(_) => {}
            // Vectors of pointers.
            Op::ExtractElement | Op::InsertElement | Op::ShuffleVector(_) => {}
            Op::Load(access) => {
                let holds_pointer = self.e.module.ctx.types.contains_pointer(inst.ty);
                if !holds_pointer && self.s.unit.carry[r].may() && self.s.unit.carry[r] != Carry::Word {
                    return Ok(());
                }
                let v = self.e.load_shadow(inst.ty, args[0], *access);
                if self.s.reads_global_pointer(self.e.module, i) {
                    let (primal, place) = (self.forward_value(r), place_of(self.e.module, self.s.func, i));
                    crate::runtime::require_pointer_shadow(&mut self.e, v, primal, &place);
                }
                self.shadows[self.lane].insert(r, v);
                return Ok(());
            }
            // Integers computed from addresses have no shadow that anyone reads.
            Op::Binary(_) => {}
            _ => return Ok(()),
        }
        let mut copy = inst.clone();
        copy.origin = None;
        if let Some(v) = self.e.copy(&copy, &args, MemClass::Unknown) {
            self.shadows[self.lane].insert(r, v);
        }
        Ok(())
    }

    fn forward_call(&mut self, i: InstId) -> Result<(), Refusal> {
        let inst = self.s.func.insts[i].clone();
        let args: Vec<ValueId> = self.s.func.call_args(i).to_vec();
        if self.s.activity.aborts.contains(&i) && self.lane > 0 {
            return Ok(());
        }
        if self.s.activity.aborts.contains(&i) {
            let place = place_of(self.e.module, self.s.func, i);
            crate::runtime::refuse_target(&mut self.e, &place, &inst.op);
            if let Some(r) = inst.result {
                let nothing = self.e.b().poison(inst.ty);
                self.map[r] = Some(nothing);
                for shadows in &mut self.shadows {
                    shadows.insert(r, nothing);
                }
            }
            return Ok(());
        }
        if let Some(question) = checkpoint::question(self.e.module, self.s.func, i) {
            if let Some(r) = inst.result.filter(|_| self.lane == 0) {
                self.map[r] = Some(self.answer(question, i, &args));
            }
            return Ok(());
        }
        let callee = resolve(self.e.module, self.s.func, i);
        match callee {
            Callee::Defined(_) if self.s.activity.calls.contains_key(&i) => {
                // One call for all lanes.
                return match self.lane {
                    0 if samples::is_sample(self.e.module, &self.s, i) => self.sample(i, &args),
                    0 => self.forward_derivative_call(i, &args),
                    _ => Ok(()),
                };
            }
            Callee::Known(known) => match known.memory() {
                MemoryEffect::LifetimeStart { .. } => return Ok(()),
                MemoryEffect::Free { ptr } => {
                    if self.plan.frees.in_place.contains(&i) {
                        let mut values: Vec<ValueId> = inst.args.iter().map(|a| self.forward_value(*a)).collect();
                        if self.lane == 0 {
                            self.e.copy(&as_call(&inst), &values, MemClass::Unknown);
                        }
                        if let Some(p) = args.get(ptr).filter(|p| self.s.has_shadow(**p)) {
                            values[ptr + 1] = self.forward_shadow(*p)?;
                            match shadow_release(self.e.module, &self.s, *p).map_err(|r| r.at(i))? {
                                Some(release) => {
                                    self.e.call_func(release, &[values[ptr + 1]]);
                                }
                                None => {
                                    let copy = Inst { origin: None, ..as_call(&inst) };
                                    self.e.copy(&copy, &values, MemClass::Unknown);
                                }
                            }
                        }
                    } else if self.plan.frees.deferred.contains(&i) {
                        let Some(release) = self.releasing(i, &args) else {
                            return Err(Refusal::new(RefusalKind::Variable("this form of deallocation")).at(i));
                        };
                        if let Some(p) = args.get(ptr) {
                            if self.lane == 0 {
                                let primal = self.forward_value(*p);
                                self.defer_free_through(primal, release);
                            }
                            if self.s.has_shadow(*p) {
                                let shadow = self.forward_shadow(*p)?;
                                match shadow_release(self.e.module, &self.s, *p).map_err(|r| r.at(i))? {
                                    Some(by) => self.defer_free_by(shadow, by),
                                    None => self.defer_free_through(shadow, release),
                                }
                            }
                        }
                    }
                    return Ok(());
                }
                MemoryEffect::Copy { dst, src, len, .. } => {
                    self.copy_call(&inst);
                    self.forward_copy(i, &args, dst, Some(src), len)?;
                    return Ok(());
                }
                MemoryEffect::Alloc { size, count, zeroed } => {
                    self.copy_call(&inst);
                    let Some(r) = inst.result.filter(|r| self.s.has_shadow(*r)) else { return Ok(()) };
                    if let Some(rule) = shadow_rule(self.e.module, self.s.func, i) {
                        let values: Vec<ValueId> = args.iter().map(|a| self.forward_value(*a)).collect();
                        let shadow = self.e.call_func(rule.make, &values);
                        self.shadows[self.lane].insert(r, shadow);
                        return Ok(());
                    }
                    let mut bytes = size.and_then(|n| args.get(n)).map(|a| self.forward_value(*a));
                    if let (Some(a), Some(b)) = (bytes, count.and_then(|n| args.get(n))) {
                        let b = self.forward_value(*b);
                        bytes = Some(self.e.b().binary(enzyme_ir::BinOp::Mul, a, b));
                    }
                    let mut copy = as_call(&inst);
                    copy.origin = None;
                    let shadow = self.repeat_forward(&copy);
                    if let (Some(shadow), Some(bytes)) = (shadow, bytes) {
                        if !zeroed {
                            self.e.fill_zero(shadow, bytes);
                        }
                        self.shadows[self.lane].insert(r, shadow);
                    }
                    return Ok(());
                }
                MemoryEffect::Realloc { ptr, size, count } => {
                    self.copy_call(&inst);
                    return self.forward_realloc(i, &args, ptr, size, count);
                }
                MemoryEffect::AllocInto { place, size, count } => {
                    self.copy_call(&inst);
                    return self.forward_alloc_into(i, &args, place, size, count);
                }
                MemoryEffect::Set { dst, len, .. } => {
                    self.copy_call(&inst);
                    return self.forward_set(i, &args, dst, len);
                }
                MemoryEffect::None | MemoryEffect::Unsupported(_) => {
                    if is_stack_marker(&self.callee_name(i)) {
                        return Ok(());
                    }
                }
            },
            Callee::Math(_) => self.forget_pointers(i)?,
            Callee::Defined(_) | Callee::Unknown(_) => {}
        }
        self.copy_call(&inst);
        Ok(())
    }

    fn copy_call(&mut self, inst: &Inst) {
        let v = self.copy_forward(inst);
        if let Some(r) = inst.result {
            self.map[r] = v;
        }
    }

    /// Name of the directly called function.
    pub fn callee_name(&self, i: InstId) -> String {
        let target = self.e.module.direct_callee(self.s.func, i);
        target.map(|f| self.e.module.funcs[f].name.clone()).unwrap_or_default()
    }

    /// Repeats on shadow memory the copying of pointers.
    fn forward_copy(
        &mut self,
        i: InstId,
        args: &[ValueId],
        dst: usize,
        src: Option<usize>,
        len: usize,
    ) -> Result<(), Refusal> {
        let (Some(d), Some(c), Some(n)) = (args.get(dst), src.and_then(|s| args.get(s)), args.get(len)) else {
            return Ok(());
        };
        if let Some(r) = self.s.func.insts[i].result.filter(|r| self.s.has_shadow(*r)) {
            let shadow = self.forward_shadow(*d)?;
            self.shadows[self.lane].insert(r, shadow);
        }
        if !self.s.has_shadow(*d) {
            return Ok(());
        }
        let bytes = classify(self.e.module, &self.s, i, &[*d, *c], *n)?;
        if self.s.is_mixed(*d) && self.s.has_shadow(*c) && !matches!(bytes, Bytes::NoFloats(_)) {
            let to = (self.forward_shadow(*d)?, self.forward_value(*d));
            let from = match self.s.is_mixed(*c) {
                true => Some((self.forward_shadow(*c)?, self.forward_value(*c))),
                false => None,
            };
            let place = place_of(self.e.module, self.s.func, i);
            crate::runtime::require_shadow_of_copy(&mut self.e, to, from, &place);
        }
        match bytes {
            Bytes::NoFloats(false) => {}
            Bytes::Floats(_) => {
                let fixed = self.s.func.as_const(*n).and_then(|c| self.e.module.ctx.consts.as_u64(c));
                let replaced = replaces_pointer(&self.s, *d, fixed.unwrap_or(1 << 40));
                let bytes = self.forward_value(*n);
                let bytes = self.e.to_i64(bytes);
                self.forget_replaced(*d, bytes, replaced)?;
            }
            Bytes::Characters => {
                if self.s.has_shadow(*c) {
                    let (shadow, bytes) = (self.forward_shadow(*c)?, self.forward_value(*n));
                    let (bytes, place) = (self.e.to_i64(bytes), place_of(self.e.module, self.s.func, i));
                    let bytes = self.forward_shadow_bytes(*c, shadow, bytes);
                    // The source may have been overwritten.
                    let primal = self.forward_value(*d);
                    let tells = self.s.unit.memory.tells_characters(*c, None);
                    require_text(&mut self.e, tells, [shadow, primal], bytes, &place);
                }
            }
            Bytes::Words => {
                let [to, from] = [self.forward_shadow(*d)?, self.forward_shadow(*c)?];
                let (primal, bytes) = (self.forward_value(*d), self.forward_value(*n));
                let (bytes, place) = (self.e.to_i64(bytes), place_of(self.e.module, self.s.func, i));
                let bytes = self.forward_shadow_bytes(*d, to, bytes);
                let shadows = match self.s.has_shadow(*c) {
                    true => self.forward_shadow_bytes(*c, from, bytes),
                    false => self.e.b().i64(0),
                };
                crate::words::repeat_copy(&mut self.e, [to, from, primal], [bytes, shadows], &place);
            }
            Bytes::NoFloats(true) => {
                let mut copy = as_call(&self.s.func.insts[i]);
                copy.origin = None;
                let mut values: Vec<ValueId> = copy.args.iter().map(|a| self.forward_value(*a)).collect();
                values[dst + 1] = self.forward_shadow(*d)?;
                values[src.unwrap_or(0) + 1] = self.forward_shadow(*c)?;
                values[len + 1] = self.forward_shadow_bytes(*d, values[dst + 1], values[len + 1]);
                self.e.copy(&copy, &values, MemClass::Unknown);
            }
            Bytes::Runs(runs, period) => {
                if runs.iter().any(|r| r.ty == enzyme_ir::ByteType::Pointer) {
                    let f = over_moved_runs(self.e.module, RunWork::Repeat, &runs, period);
                    let (to, from) = (self.forward_shadow(*d)?, self.forward_shadow(*c)?);
                    let bytes = self.forward_value(*n);
                    let bytes = self.e.to_i64(bytes);
                    let bytes = self.forward_shadow_bytes(*d, to, bytes);
                    self.e.call_func(f, &[to, from, bytes]);
                }
            }
        }
        Ok(())
    }
}

/// Source place of an instruction, for messages at run time.
pub fn place_of(module: &enzyme_ir::Module, func: &enzyme_ir::Func, i: InstId) -> String {
    func.insts[i].loc.map_or_else(|| format!("in '{}'", func.name), |l| module.describe_loc(l))
}

/// Intrinsics that shorten the life of stack memory: left out, since the reverse sweep needs it.
fn is_stack_marker(name: &str) -> bool {
    ["llvm.stacksave", "llvm.stackrestore", "llvm.lifetime."].iter().any(|p| name.starts_with(p))
}

/// The shadow of a global variable: made on first use, zero, internal.
pub fn shadow_global(
    module: &mut enzyme_ir::Module,
    made: &mut super::ShadowGlobals,
    g: enzyme_ir::GlobalId,
    lane: u32,
) -> enzyme_ir::GlobalId {
    if let Some(s) = made.get(&(g, lane)) {
        return *s;
    }
    let original = module.globals[g].clone();
    let zero = module.ctx.zero(original.ty);
    let lane_name = if lane == 0 { String::new() } else { format!(".{lane}") };
    let mut name = format!("{}.enzyme.shadow{lane_name}", original.name);
    while module.find_global(&name).is_some() {
        name.push_str(".next");
    }
    let shadow = Global { name, init: Some(zero), constant: false, linkage: Linkage::Internal, ..original };
    let id = module.globals.push(shadow);
    made.insert((g, lane), id);
    id
}
