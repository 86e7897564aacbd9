//! Having a key in the reverse sweep: from where it is kept, or rebuilt from other keys.
//!
//! Within one block a key is had once (`memo`); LLVM's value numbering joins the rest. Long chains are rebuilt with an
//! explicit stack.

use enzyme_analysis::{Callee, resolve};
use enzyme_ir::{BinOp, FloatKind, Inst, InstId, MemClass, Op, Type, ValueDef, ValueId};
use enzyme_rules::{Group, Spelling};

use super::{Reverse, as_call};
use crate::keys::{Key, Source, derive, moved_from, selection};
use crate::refusal::{Refusal, RefusalKind};
use crate::request::Mode;

impl Reverse<'_, '_> {
    /// A primal value in the reverse sweep.
    pub fn primal(&mut self, v: ValueId) -> Result<ValueId, Refusal> {
        self.lookup(Key::Primal(v))
    }

    /// A shadow pointer in the reverse sweep.
    pub fn shadow(&mut self, v: ValueId) -> Result<ValueId, Refusal> {
        self.lookup(Key::Shadow(v))
    }

    /// The shadow address behind `v` for an access of type `ty`, tested where the memory may have none.
    pub fn shadow_place(&mut self, v: ValueId, ty: enzyme_ir::TypeId) -> Result<ValueId, Refusal> {
        let shadow = self.shadow(v)?;
        if !self.s.is_mixed(v) {
            return Ok(shadow);
        }
        let primal = self.primal(v)?;
        Ok(self.e.guarded(shadow, primal, ty))
    }

    /// The number of bytes behind `v` that have a shadow: all of `bytes`, or none.
    pub fn shadow_bytes(&mut self, v: ValueId, bytes: ValueId) -> Result<ValueId, Refusal> {
        if !self.s.is_mixed(v) {
            return Ok(bytes);
        }
        let (shadow, primal) = (self.shadow(v)?, self.primal(v)?);
        Ok(self.e.guarded_bytes(shadow, primal, bytes))
    }

    /// Where the shadow of what lies at `p` is; a place that nobody reads if there is none.
    pub fn forward_place(&mut self, p: ValueId, ty: enzyme_ir::TypeId) -> Result<ValueId, Refusal> {
        let at = self.forward_shadow(p)?;
        if !self.s.is_mixed(p) {
            return Ok(at);
        }
        let primal = self.forward_value(p);
        Ok(self.e.guarded(at, primal, ty))
    }

    /// The number of bytes at `shadow`, that of `p`, that are shadow memory: all, or none.
    pub fn forward_shadow_bytes(&mut self, p: ValueId, shadow: ValueId, bytes: ValueId) -> ValueId {
        if !self.s.is_mixed(p) {
            return bytes;
        }
        let primal = self.forward_value(p);
        self.e.guarded_bytes(shadow, primal, bytes)
    }

    /// Any key in the reverse sweep.
    pub fn lookup(&mut self, key: Key) -> Result<ValueId, Refusal> {
        let mut stack = vec![key];
        while let Some(k) = stack.last().copied() {
            if self.memo.contains_key(&(k, self.lane_of(k))) {
                stack.pop();
                continue;
            }
            if let Some(v) = self.at_hand(k)? {
                self.memo.insert((k, self.lane_of(k)), v);
                stack.pop();
                continue;
            }
            let Source::Rebuild(from, _) = derive(self.e.module, &self.s, k) else {
                return Err(Refusal::new(RefusalKind::Internal(format!("{k:?} was not planned for"))));
            };
            let before = stack.len();
            stack.extend(from.iter().filter(|d| !self.memo.contains_key(&(**d, self.lane_of(**d)))));
            if stack.len() == before {
                let v = self.rebuild(k)?;
                self.memo.insert((k, self.lane_of(k)), v);
                stack.pop();
            }
        }
        self.memo
            .get(&(key, self.lane_of(key)))
            .copied()
            .ok_or_else(|| Refusal::new(RefusalKind::Internal(format!("{key:?} was lost"))))
    }

    /// What needs no computation: constants, parameters, cached keys, stack slots of this function.
    fn at_hand(&mut self, key: Key) -> Result<Option<ValueId>, Refusal> {
        if self.plan.choice.cached.contains(&key) {
            return Ok(self.recall(key));
        }
        let (Key::Primal(v) | Key::Shadow(v)) = key else { return Ok(None) };
        let is_shadow = matches!(key, Key::Shadow(_));
        if let Some(column) = self.plan.column_of(&self.s, v).filter(|_| !is_shadow) {
            return Ok(self.recall_carried(column));
        }
        Ok(match self.s.func.values[v].def {
            ValueDef::Const(c) if !is_shadow => Some(self.e.func.constant(c, self.s.func.ty(v))),
            ValueDef::Const(_) => Some(self.constant_shadow(v)?),
            ValueDef::Param(i) => {
                let i = i as usize;
                let own = if is_shadow { self.sig.shadow.get(i).copied().flatten() } else { None };
                let n = own.map(|n| n + self.lane).or_else(|| self.sig.primal.get(i).copied());
                n.and_then(|n| self.e.func.params.get(n)).copied()
            }
            ValueDef::Inst(i) if is_shadow && self.s.is_static_slot(i) && self.s.has_own_shadow(v) => {
                self.shadows[self.lane].get(&v).copied()
            }
            ValueDef::Inst(i) if self.s.key.mode == Mode::Combined && self.s.is_static_slot(i) => {
                if is_shadow {
                    self.shadows[self.lane].get(&v).copied()
                } else {
                    self.map[v]
                }
            }
            ValueDef::Inst(_) if is_shadow && !self.s.has_shadow(v) => Some(self.lookup(Key::Primal(v))?),
            ValueDef::Inst(_) => None,
        })
    }

    /// A key whose parts are all in `memo`.
    fn rebuild(&mut self, key: Key) -> Result<ValueId, Refusal> {
        let (Key::Primal(v) | Key::Shadow(v)) = key else {
            return Err(Refusal::new(RefusalKind::Internal(format!("{key:?} can't be rebuilt"))));
        };
        let is_shadow = matches!(key, Key::Shadow(_));
        if let Some(store) = self.s.standing(self.e.module, v).filter(|_| !is_shadow)
            && let (Op::Store(access), [_, p]) =
                (&self.s.func.insts[store].op, self.s.func.insts[store].args.as_slice())
        {
            let (access, p, ty) = (*access, *p, self.s.func.ty(v));
            let at = self.part(p, false);
            return Ok(self.e.b().load(ty, at, access.align, MemClass::Primal));
        }
        if let Some(read) = self.s.undo.reads.get(&v).filter(|r| !is_shadow && r.load != v) {
            return Ok(self.part(read.load, false));
        }
        if let Some(affine) = self.s.shape.affine.get(&v).copied() {
            let start = self.part(affine.start, is_shadow);
            let step = self.part(affine.step, false);
            return Ok(self.induction(v, affine, start, step));
        }
        let Some(i) = self.s.func.def_inst(v) else {
            return Err(Refusal::new(RefusalKind::Internal(format!("{key:?} has no definition"))));
        };
        if let Some(base) = moved_from(self.e.module, &self.s, v).filter(|_| is_shadow) {
            let (to, from, start) = (self.part(v, false), self.part(base, false), self.part(base, true));
            return Ok(self.e.moved_alike(start, from, to));
        }
        if let Some([condition, then, other]) = selection(self.e.module, &self.s, i).filter(|_| !is_shadow) {
            let [condition, then, other] = [condition, then, other].map(|v| self.part(v, false));
            return Ok(self.e.choose(condition, then, other));
        }
        let inst: Inst = self.s.func.insts[i].clone();
        let mut args = Vec::new();
        for (n, a) in inst.args.iter().enumerate() {
            let index = matches!(inst.op, Op::Gep { .. }) && n > 0
                || matches!(inst.op, Op::Select) && n == 0
                || matches!(inst.op, Op::Call(_));
            args.push(self.part(*a, is_shadow && !index));
        }
        if let Some(name) = self.intrinsic_of(i) {
            let (ty, fast) = (inst.ty, std::mem::replace(&mut self.e.fast, inst.fast));
            let v = self.e.call(&name, ty, &args[1..]);
            self.e.fast = fast;
            return Ok(v);
        }
        let mut copy = as_call(&inst);
        let mem = match (&copy.op, is_shadow) {
            (Op::Load(_), true) => self.e.shadow,
            (Op::Load(_), false) => MemClass::Primal,
            _ => MemClass::Unknown,
        };
        if is_shadow {
            copy.origin = None;
        }
        if let Op::Call(info) = &mut copy.op {
            info.tail = enzyme_ir::TailKind::None;
        }
        let ty = copy.ty;
        match self.e.copy(&copy, &args, mem) {
            Some(x) => Ok(x),
            None => Ok(self.e.b().poison(ty)),
        }
    }

    /// The intrinsic that computes what the library function does that `i` calls, and sets no `errno`: two calls of it are
    /// one, and it is dropped where nobody needs it.
    fn intrinsic_of(&self, i: InstId) -> Option<String> {
        let inst = &self.s.func.insts[i];
        let Op::Call(_) = inst.op else { return None };
        let Callee::Math(math) = resolve(self.e.module, self.s.func, i) else { return None };
        let plain = matches!(self.e.module.ctx.types[inst.ty], Type::Float(FloatKind::Float | FloatKind::Double));
        let alike = self.s.func.call_args(i).iter().all(|a| self.s.func.ty(*a) == inst.ty);
        let transcendental = matches!(math.rule.group, Group::Exponentials | Group::Trigonometric | Group::Hyperbolic);
        if !(transcendental || math.rule.name == "sqrt")
            || !plain
            || !alike
            || !math.is_pure()
            || self.callee_name(i).starts_with("llvm.")
        {
            return None;
        }
        let base = math.rule.spellings.iter().find_map(|s| match s {
            Spelling::Intrinsic(base) => Some(format!("llvm.{base}")),
            _ => None,
        })?;
        enzyme_rules::intrinsic_symbol(&self.e.module.ctx.types, &base, &[inst.ty])
    }

    /// An operand that `memo` holds, or that is a constant.
    fn part(&mut self, v: ValueId, is_shadow: bool) -> ValueId {
        let key = if is_shadow && self.s.has_shadow(v) { Key::Shadow(v) } else { Key::Primal(v) };
        if let Some(x) = self.memo.get(&(key, self.lane_of(key))) {
            return *x;
        }
        match self.s.func.values[v].def {
            ValueDef::Const(c) => self.e.func.constant(c, self.s.func.ty(v)),
            ValueDef::Param(_) | ValueDef::Inst(_) => {
                let ty = self.s.func.ty(v);
                self.e.b().poison(ty)
            }
        }
    }

    /// `start + iteration * step`.
    fn induction(&mut self, phi: ValueId, affine: crate::shape::Affine, start: ValueId, step: ValueId) -> ValueId {
        let i64 = self.e.module.ctx.types.int(64);
        let Some(counter) = self.counters.get(&affine.in_loop).copied() else { return start };
        let iteration = self.e.b().load(i64, counter, 0, MemClass::Unknown);
        let step_ty = self.e.ty(step);
        match (&self.s.func.insts[affine.next].op, &self.e.module.ctx.types[self.s.func.ty(phi)]) {
            (Op::Gep { elem, .. }, _) => {
                let elem = *elem;
                // Indices are signed: widen the step before multiplying.
                let wide = self.e.b().cast(enzyme_ir::CastOp::SExt, step, i64);
                let index = self.e.b().binary(BinOp::Mul, iteration, wide);
                let offset = Op::Gep { elem, flags: enzyme_ir::GepFlags::empty() };
                let ptr = self.s.func.ty(phi);
                self.e.b().value(offset, smallvec::smallvec![start, index], ptr)
            }
            (_, Type::Int(_)) => {
                let n = self.e.to_int(iteration, step_ty);
                let one = self.e.b().int(step_ty, 1);
                let moved = if step == one { n } else { self.e.b().binary(BinOp::Mul, n, step) };
                self.e.b().add(start, moved)
            }
            _ => start,
        }
    }
}
