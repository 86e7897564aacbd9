//! The reverse sweep's control flow: every edge of the primal turned round.

use enzyme_ir::cfg::LoopId;
use enzyme_ir::{BlockId, IntPred, MemClass, Op, ValueId};

use super::{Reverse, place_of};
use crate::keys::Key;
use crate::refusal::{Refusal, RefusalKind};
use crate::shape::{Merge, Trip};

/// A phi, its adjoint, and the lane of that.
type PhiAdjoint = (ValueId, ValueId, usize);

impl Reverse<'_, '_> {
    /// Writes the reverse sweep from the block at hand to the return of the derivative.
    pub fn reverse_sweep(&mut self) -> Result<(), Refusal> {
        self.e.loc = None;
        let i64 = self.e.module.ctx.types.int(64);
        // The iteration at hand, counted down; slots of its own, so that the sweeps do not depend on each other.
        let loops: Vec<LoopId> = self.s.shape.loops.loops().map(|e| e.0).collect();
        for l in loops {
            let slot = self.e.slot(i64, None);
            self.counters.insert(l, slot);
        }
        self.make_held();
        let Some(exit) = self.s.shape.exit else {
            self.e.b().unreachable();
            return Ok(());
        };
        let order: Vec<BlockId> = self.s.shape.live_blocks().filter(|b| self.plan.passed.turned.contains(b)).collect();
        for b in order.iter().rev() {
            let name = format!("{}.rev", self.s.func.blocks[*b].name.clone().unwrap_or_else(|| b.to_string()));
            let r = self.e.new_block(&name);
            self.reversed.insert(*b, r);
            self.e.runs_for(r, self.s.func, *b, true);
            if self.plan.passed.short.iter().any(|(from, _)| from == b) {
                let end = self.e.new_block(&format!("{name}.end"));
                self.left.insert(*b, end);
                self.e.runs_for(end, self.s.func, *b, true);
            }
        }
        if let (Some(seed), Some(t)) = (self.sig.seed, self.s.func.terminator(exit))
            && let Some(v) = self.s.func.insts[t].args.first().copied()
        {
            self.in_lanes(|this| {
                let seed = this.e.func.params[seed + this.lane];
                this.add_adjoint(v, seed)
            })?;
        }
        self.e.b().br(self.reversed[&exit]);
        for b in order.iter().rev() {
            self.e.block = self.reversed[b];
            self.turning = self.s.shape.loops.innermost(*b);
            self.memo.clear();
            let insts = self.s.shape.insts(self.s.func, *b);
            for i in insts.iter().rev() {
                if !matches!(self.s.func.insts[*i].op, Op::Phi(_)) {
                    self.e.loc = self.s.func.insts[*i].loc;
                    self.take_back(*i)?;
                    self.in_lanes(|this| this.adjoint(*i))?;
                }
            }
            if let Some(end) = self.left.get(b).copied() {
                self.e.b().br(end);
                self.e.block = end;
                self.memo.clear();
            }
            self.leave(*b)?;
        }
        Ok(())
    }

    /// The end of the reverse of `b`: adjoints of its phis, and the way to the block that it was entered from.
    fn leave(&mut self, b: BlockId) -> Result<(), Refusal> {
        // All phis are read before any incoming adjoint is written.
        let mut phis: Vec<PhiAdjoint> = Vec::new();
        for i in self.s.func.blocks[b].insts.clone() {
            let inst = &self.s.func.insts[i];
            let (Op::Phi(_), Some(r)) = (&inst.op, inst.result) else { break };
            if self.s.is_active(r) {
                self.in_lanes(|this| {
                    phis.extend(this.take_adjoint(r)?.map(|t| (r, t, this.lane)));
                    Ok(())
                })?;
            }
        }
        if self.s.shape.cfg.entry() == Some(b) {
            return self.finish_reverse();
        }
        if let Some(l) = self.s.shape.loops.headed_by(b) {
            return self.leave_header(b, l, &phis);
        }
        if let Some(before) = self.plan.passed.back.get(&b).copied() {
            return self.edge(b, before, &phis);
        }
        match self.s.shape.merges.get(&b).cloned() {
            Some(Merge::Single(p)) => self.edge(b, p, &phis),
            Some(Merge::Decided { decider, by_successor }) => self.leave_decided(b, decider, &by_successor, &phis),
            Some(Merge::Recorded(preds)) => {
                let way = self.lookup(Key::Entered(b))?;
                self.switch_to(b, way, &preds, &phis)
            }
            None => Err(Refusal::new(RefusalKind::Internal(format!("{b} has no way back")))),
        }
    }

    fn leave_header(&mut self, b: BlockId, l: LoopId, phis: &[PhiAdjoint]) -> Result<(), Refusal> {
        let i64 = self.e.module.ctx.types.int(64);
        let nest = self.s.shape.loops.loops().find(|e| e.0 == l).map(|e| (e.1.preheader, e.1.latches.clone()));
        let Some((Some(preheader), latches)) = nest else {
            return Err(Refusal::new(RefusalKind::Internal(format!("{l} lost its shape"))));
        };
        let (Some(latch), Some(counter)) = (latches.first().copied(), self.counters.get(&l).copied()) else {
            return Err(Refusal::new(RefusalKind::Internal(format!("{l} lost its latch"))));
        };
        let iteration = self.e.b().load(i64, counter, 0, MemClass::Unknown);
        let (zero, one) = (self.e.b().i64(0), self.e.b().i64(1));
        let first = self.e.b().icmp(IntPred::Eq, iteration, zero);
        let (out, again) = (self.e.new_block("rev.enter"), self.e.new_block("rev.again"));
        self.e.b().cond_br(first, out, again);
        self.e.block = again;
        self.memo.clear();
        let less = self.e.b().binary(enzyme_ir::BinOp::Sub, iteration, one);
        self.e.b().store(less, counter, 0, MemClass::Unknown);
        self.edge(b, latch, phis)?;
        self.e.block = out;
        self.memo.clear();
        if self.s.scope(Key::Count(l)).is_none() {
            self.free_rows(l);
        }
        self.edge(b, preheader, phis)
    }

    fn leave_decided(
        &mut self,
        b: BlockId,
        decider: BlockId,
        by_successor: &[Option<BlockId>],
        phis: &[PhiAdjoint],
    ) -> Result<(), Refusal> {
        let lost = || Refusal::new(RefusalKind::Internal(format!("the decision before {b} is lost")));
        let terminator = self.s.func.terminator(decider).ok_or_else(lost)?;
        let inst = self.s.func.insts[terminator].clone();
        let condition = self.primal(*inst.args.first().ok_or_else(lost)?)?;
        let mut blocks = Vec::new();
        for _ in by_successor {
            blocks.push(self.e.new_block("rev.edge"));
        }
        match (&inst.op, blocks.as_slice()) {
            (Op::CondBr { .. }, [then_to, else_to]) => drop(self.e.b().cond_br(condition, *then_to, *else_to)),
            (Op::Switch { cases, .. }, [default, rest @ ..]) => {
                let cases = cases.iter().zip(rest).map(|((c, _), to)| (*c, *to)).collect();
                self.e.b().switch(condition, *default, cases);
            }
            _ => return Err(lost()),
        }
        for (block, pred) in blocks.into_iter().zip(by_successor) {
            self.e.block = block;
            self.memo.clear();
            match pred {
                Some(p) => self.edge(b, *p, phis)?,
                None => drop(self.e.b().unreachable()),
            }
        }
        Ok(())
    }

    fn switch_to(&mut self, b: BlockId, way: ValueId, preds: &[BlockId], phis: &[PhiAdjoint]) -> Result<(), Refusal> {
        let i32 = self.e.module.ctx.types.int(32);
        let blocks: Vec<BlockId> = preds.iter().map(|_| self.e.new_block("rev.edge")).collect();
        let Some((default, rest)) = blocks.split_first() else {
            return Err(Refusal::new(RefusalKind::Internal(format!("{b} has no predecessors"))));
        };
        let mut cases = Vec::new();
        for (n, to) in rest.iter().enumerate() {
            cases.push((self.e.module.ctx.int(i32, n as u64 + 1), *to));
        }
        self.e.b().switch(way, *default, cases);
        for (block, p) in blocks.into_iter().zip(preds) {
            self.e.block = block;
            self.memo.clear();
            self.edge(b, *p, phis)?;
        }
        Ok(())
    }

    /// The reverse of the edge from `p` to `b`: adjoints of phis go to what came along it; loops that it left are
    /// entered at their last iteration.
    fn edge(&mut self, b: BlockId, p: BlockId, phis: &[PhiAdjoint]) -> Result<(), Refusal> {
        for (phi, adjoint, lane) in phis {
            let Some(i) = self.s.func.def_inst(*phi) else { continue };
            let inst = &self.s.func.insts[i];
            let Op::Phi(blocks) = &inst.op else { continue };
            let incoming = blocks.iter().position(|x| *x == p).and_then(|n| inst.args.get(n)).copied();
            if let Some(v) = incoming {
                self.lane = *lane;
                self.add_adjoint(v, *adjoint)?;
            }
        }
        self.lane = 0;
        if let Some(i) = self.lost_by_throw(p, b) {
            let place = place_of(self.e.module, self.s.func, i);
            crate::runtime::stop(
                &mut self.e,
                &place,
                "[E0204] what a function did before it threw an exception, which was caught, can't be run backwards",
            );
            return Ok(());
        }
        let (i64, one) = (self.e.module.ctx.types.int(64), self.e.b().i64(1));
        // Outer loops first: what inner loops kept is numbered by the iteration of the outer ones.
        for l in self.s.shape.left_between(p, b).into_iter().rev() {
            let last = match self.s.shape.trips.get(&l) {
                Some(Trip::Known(v)) => {
                    let v = self.primal(*v)?;
                    self.e.to_i64(v)
                }
                Some(Trip::Counted) => self.lookup(Key::Count(l))?,
                None => return Err(Refusal::new(RefusalKind::Internal(format!("{l} has no trip count")))),
            };
            if let Some(counter) = self.counters.get(&l).copied() {
                self.e.b().store(last, counter, 0, MemClass::Unknown);
            }
            if let Some(base) = self.state.bases.get(&l).copied() {
                let old = self.e.b().load(i64, base, 0, MemClass::Unknown);
                let ran = self.e.b().add(last, one);
                let ran = self.with_front(l, ran);
                let new = self.e.b().binary(enzyme_ir::BinOp::Sub, old, ran);
                self.e.b().store(new, base, 0, MemClass::Unknown);
                self.begin_chunk(l, ran);
            }
            for n in self.steady_over(l) {
                let place = self.plan.steady[n].place.clone();
                let condition = place.condition.map(|c| self.primal(c.0)).transpose()?;
                let per = place.per.iter().map(|p| self.primal(p.1)).collect::<Result<Vec<_>, _>>()?;
                let over = place.condition.map(|c| self.primal(c.1)).transpose()?;
                let mut guards = Vec::new();
                for (guard, value) in &place.guards {
                    guards.push((self.primal(*guard)?, *value));
                }
                self.begin_steady(n, condition, (&per, &guards), over);
                self.move_steady(n, false);
            }
            self.hold(l)?;
            self.memo.clear();
        }
        let is_short = self.plan.passed.short.contains(&(p, b));
        let Some(to) = if is_short { self.left.get(&p) } else { self.reversed.get(&p) }.copied() else {
            return Err(Refusal::new(RefusalKind::Internal(format!("{p} has no reverse"))));
        };
        self.e.b().br(to);
        Ok(())
    }

    /// The return of the derivative: deferred frees, the primal result if it is asked for, adjoints of parameters.
    fn finish_reverse(&mut self) -> Result<(), Refusal> {
        self.put_back();
        self.free_heap_slots()?;
        self.release_list();
        let mut fields: Vec<ValueId> = self.returned.iter().map(|r| r.0).collect();
        for (i, p) in self.s.func.params.clone().into_iter().enumerate() {
            if self.sig.adjoints[i].is_some() {
                let ty = self.s.func.ty(p);
                self.in_lanes(|this| {
                    fields.push(match this.take_adjoint(p)? {
                        Some(v) => this.normalised(v, ty),
                        None => this.e.b().zero(ty),
                    });
                    Ok(())
                })?;
            }
        }
        let value = self.e.tuple(self.sig.ret, &fields);
        self.e.b().ret(value);
        Ok(())
    }

    /// An adjoint as the caller gets it: minus zero, where accumulation starts, becomes plus zero.
    fn normalised(&mut self, v: ValueId, ty: enzyme_ir::TypeId) -> ValueId {
        let from = self.e.ty(v);
        let v = if matches!(self.e.module.ctx.types[from], enzyme_ir::Type::Float(_) | enzyme_ir::Type::Vector { .. }) {
            let zero = self.e.b().zero_float(from);
            self.e.b().binary(enzyme_ir::BinOp::FAdd, v, zero)
        } else {
            v
        };
        self.e.b().cast(enzyme_ir::CastOp::BitCast, v, ty)
    }

    /// Another reverse sweep on this tape finds shadows of zeros again.
    fn clear_heap_slots(&mut self) -> Result<(), Refusal> {
        for i in self.plan.heap_slots.clone() {
            let shadowed = |r: &ValueId| self.s.has_shadow(*r) && !self.s.has_own_shadow(*r);
            let Some(r) = self.s.func.insts[i].result.filter(shadowed) else { continue };
            let Op::Alloca { elem, .. } = self.s.func.insts[i].op else { continue };
            let types = &self.e.module.ctx.types;
            let bytes = self.e.module.ctx.layout.size_of(types, elem).unwrap_or(0);
            let bytes = self.e.b().i64(bytes);
            self.in_lanes(|this| this.clear_shadow(i, r, bytes))?;
        }
        Ok(())
    }

    fn free_heap_slots(&mut self) -> Result<(), Refusal> {
        if self.s.key.keeps && self.s.is_split() {
            return self.clear_heap_slots();
        }
        if !self.s.is_split() || self.tape_is_listed() {
            return Ok(());
        }
        for i in self.plan.heap_slots.clone() {
            let Some(v) = self.s.func.insts[i].result else { continue };
            for key in [Key::Primal(v), Key::Shadow(v)] {
                if !self.plan.choice.cached.contains(&key) {
                    continue;
                }
                let lanes = if matches!(key, Key::Shadow(_)) { self.shadows.len() } else { 1 };
                for lane in 0..lanes {
                    self.lane = lane;
                    let p = self.lookup(key)?;
                    let bytes = self.slot_bytes(i);
                    self.give_memory(p, bytes);
                }
                self.lane = 0;
            }
        }
        Ok(())
    }
}
