//! Memory that moves, is made through a pointer, or is accessed atomically, in both sweeps.
//!
//! Reallocation moves the primal memory as the program does. The shadow of the old memory stays, since the reverse sweep
//! adds to it what belongs to the time before; its release is put off. The shadow of the new memory is made, zero, with
//! the shadow pointers of the old one copied. In the reverse sweep the adjoints of the common part go back. How large the
//! old shadow is, the allocator says.
//!
//! Adjoints of atomic accesses are plain: a derivative is right if no two threads touch the same shadow at once. Where they may
//! (`Options::atomic`), sums in shadow memory are atomic, float by float; what is overwritten is read and cleared as ever, since the
//! program's own store was no other thread's business either.
//!
//! Where memory may be constant, a reallocation of what is constant ends the program.
//!
//! Not handled: allocation through a pointer where memory may be constant; structures that cannot be told apart.

use enzyme_analysis::Carry;
use enzyme_ir::{BinOp, ByteRun, ByteType, FloatKind, FuncId, InstId, IntPred, MemClass, Op, RmwOp, Type, ValueId};
use enzyme_rules::{Expr, RmwFloat, Rule};
use smallvec::smallvec;

use super::Reverse;
use super::place_of;
use crate::copies::{Bytes, classify, classify_moved};
use crate::keys::Subject;
use crate::lower::{Operands, product};
use crate::owned::{Replaced, float_places, replaces_pointer};
use crate::refusal::{Refusal, RefusalKind};
use crate::runtime::{RunWork, over_moved_runs, over_runs};

/// Whether all processors have sums of such floats that no other thread comes between.
fn is_atomic(kind: FloatKind) -> bool {
    matches!(kind.bits(), 32 | 64)
}

impl Reverse<'_, '_> {
    /// Refuses sums in memory that cannot be atomic where they must be: of other formats, or in memory that is not aligned.
    fn check_atomic(&self, kind: FloatKind, align: u32) -> Result<(), Refusal> {
        if is_atomic(kind) && (align == 0 || align >= kind.bits() / 8) {
            return Ok(());
        }
        let what =
            format!("a sum of adjoints in memory that must be atomic, of {} and aligned to {align} bytes", kind.name());
        Err(Refusal::new(RefusalKind::Operation(what)))
    }

    /// `memory += amount` of a float or a vector of floats, one by one, each atomically.
    pub fn add_atomically(&mut self, at: ValueId, amount: ValueId, align: u32) -> Result<(), Refusal> {
        let (ty, shadow) = (self.e.ty(amount), self.e.shadow);
        let kind = self.e.module.ctx.types.float_kind(ty).unwrap_or(FloatKind::Double);
        let size = self.e.module.ctx.layout.float_size(&mut self.e.module.ctx.types, kind);
        let Type::Vector { elem, len, scalable: false } = self.e.module.ctx.types[ty] else {
            self.check_atomic(kind, align)?;
            self.e.add_atomically(at, amount, shadow);
            return Ok(());
        };
        // What vectors are made of is aligned in the program's memory.
        self.check_atomic(kind, 0)?;
        for n in 0..u64::from(len) {
            let (index, offset) = (self.e.b().i64(n), self.e.b().i64(n * size));
            let lane = self.e.b().value(Op::ExtractElement, smallvec![amount, index], elem);
            let address = self.e.b().byte_offset(at, offset);
            self.e.add_atomically(address, lane, shadow);
        }
        Ok(())
    }

    /// What adds the adjoints of copied floats to those of their source.
    pub fn sum_of_copied(&mut self, kind: FloatKind, overlap: bool) -> Result<FuncId, Refusal> {
        let atomic = self.options.atomic;
        if atomic {
            self.check_atomic(kind, 0)?;
        }
        let module = &mut *self.e.module;
        Ok(match overlap {
            true => crate::runtime::move_adjoint(module, kind, atomic),
            false => crate::runtime::copy_adjoint(module, kind, atomic),
        })
    }

    /// Adds the adjoints of words that `i` copied to those of their source.
    pub fn add_words(&mut self, i: InstId, to: ValueId, from: ValueId, bytes: ValueId) -> Result<(), Refusal> {
        self.check_words()?;
        let place = place_of(self.e.module, self.s.func, i);
        crate::words::add_copied(&mut self.e, to, from, bytes, &place);
        Ok(())
    }

    /// Refuses sums of words, of which it is told at run time what they are, where sums must be atomic.
    pub fn check_words(&self) -> Result<(), Refusal> {
        let what = "a sum of adjoints in memory that must be atomic, of words that may be floats";
        if self.options.atomic { Err(Refusal::new(RefusalKind::Operation(what.to_owned()))) } else { Ok(()) }
    }

    /// As [`Self::sum_of_copied`], of structures.
    pub fn sum_of_runs(&mut self, runs: &[ByteRun], period: u64, overlap: bool) -> Result<FuncId, Refusal> {
        let work = if self.options.atomic { RunWork::AddAtomically } else { RunWork::Add };
        for run in runs {
            if let (ByteType::Float(kind), true) = (run.ty, self.options.atomic) {
                self.check_atomic(kind, 0)?;
            }
        }
        let module = &mut *self.e.module;
        Ok(match overlap {
            true => over_moved_runs(module, work, runs, period),
            false => over_runs(module, work, runs, period),
        })
    }

    /// The product of the arguments that give a size, in the forward sweep.
    fn forward_bytes(&mut self, args: &[ValueId], size: usize, count: Option<usize>) -> ValueId {
        let mut bytes = match args.get(size) {
            Some(n) => self.forward_value(*n),
            None => self.e.b().i64(0),
        };
        bytes = self.e.to_i64(bytes);
        if let Some(n) = count.and_then(|n| args.get(n)) {
            let n = self.forward_value(*n);
            let n = self.e.to_i64(n);
            bytes = self.e.b().binary(BinOp::Mul, bytes, n);
        }
        bytes
    }

    /// Reallocation in the forward sweep; the call itself was copied.
    pub fn forward_realloc(
        &mut self,
        i: InstId,
        args: &[ValueId],
        ptr: usize,
        size: usize,
        count: Option<usize>,
    ) -> Result<(), Refusal> {
        let Some(r) = self.s.func.insts[i].result.filter(|r| self.s.has_shadow(*r)) else { return Ok(()) };
        let old = self.forward_shadow(args[ptr])?;
        if self.s.is_mixed(args[ptr]) {
            let (primal, place) = (self.forward_value(args[ptr]), place_of(self.e.module, self.s.func, i));
            crate::runtime::require_own(&mut self.e, old, primal, &place);
        }
        let bytes = self.forward_bytes(args, size, count);
        let content = classify_moved(&self.s, i, &[r, args[ptr]])?;
        let alloc = crate::runtime::alloc(self.e.module);
        let new = self.e.call_func(alloc, &[bytes]);
        self.e.fill_zero(new, bytes);
        let common = common_bytes(self, old, bytes);
        match content {
            Bytes::Floats(_) | Bytes::NoFloats(false) | Bytes::Characters => {}
            Bytes::NoFloats(true) => self.e.move_bytes(new, old, common),
            Bytes::Words => {
                let (moved, place) = (self.forward_value(r), place_of(self.e.module, self.s.func, i));
                crate::words::repeat_copy(&mut self.e, [new, old, moved], [common, common], &place);
            }
            Bytes::Runs(runs, period) => {
                if runs.iter().any(|r| r.ty == ByteType::Pointer) {
                    let f = over_runs(self.e.module, RunWork::Repeat, &runs, period);
                    self.e.call_func(f, &[new, old, common]);
                }
            }
        }
        self.shadows[self.lane].insert(r, new);
        // Where it failed the old memory is still in use.
        let result = self.forward_value(r);
        let ty = self.e.ty(result);
        let (null, zero) = (self.e.b().zero(ty), self.e.b().i64(0));
        let is_null = self.e.b().icmp(IntPred::Eq, result, null);
        let wanted = self.e.b().icmp(IntPred::Ne, bytes, zero);
        let failed = self.e.b().binary(BinOp::And, is_null, wanted);
        let gone = self.e.choose(failed, null, old);
        self.defer_free(gone, "free");
        Ok(())
    }

    /// Clears the shadows of pointers whose places floats take that `i` puts there: they are no adjoints of these.
    pub fn forget_pointers(&mut self, i: InstId) -> Result<(), Refusal> {
        for (p, len) in float_places(self.e.module, &self.s, i) {
            if self.s.has_shadow(p) {
                let bytes = self.e.b().i64(len);
                self.forget_replaced(p, bytes, replaces_pointer(&self.s, p, len))?;
            }
        }
        Ok(())
    }

    /// The same for `bytes` at `p`, of whose pointers it is known what becomes of them.
    pub fn forget_replaced(&mut self, p: ValueId, bytes: ValueId, replaced: Replaced) -> Result<(), Refusal> {
        if !matches!(replaced, Replaced::Cleared | Replaced::Told) {
            return Ok(());
        }
        let at = self.forward_shadow(p)?;
        let bytes = self.forward_shadow_bytes(p, at, bytes);
        match replaced {
            Replaced::Told => crate::words::forget(&mut self.e, at, bytes),
            _ => self.e.fill_zero(at, bytes),
        }
        Ok(())
    }

    /// Where pointers were overwritten by a fill their shadows are null in the forward sweep; the call itself was copied.
    pub fn forward_set(&mut self, i: InstId, args: &[ValueId], dst: usize, len: usize) -> Result<(), Refusal> {
        let (Some(d), Some(n)) = (args.get(dst).copied(), args.get(len).copied()) else { return Ok(()) };
        if let Some(r) = self.s.func.insts[i].result.filter(|r| self.s.has_shadow(*r)) {
            let shadow = self.forward_shadow(d)?;
            self.shadows[self.lane].insert(r, shadow);
        }
        if !self.s.has_shadow(d) {
            return Ok(());
        }
        let pointers: Option<(Vec<ByteRun>, u64)> = match classify(self.e.module, &self.s, i, &[d], n) {
            Ok(Bytes::NoFloats(true)) => None,
            // Zero bits are zero bits: what clears adjoints clears pointers.
            Ok(Bytes::Runs(runs, period)) if runs.iter().any(|r| r.ty == ByteType::Pointer) => {
                let pointers = runs.iter().filter(|r| r.ty == ByteType::Pointer);
                let double = ByteType::Float(FloatKind::Double);
                Some((pointers.map(|r| ByteRun { ty: double, ..*r }).collect(), period))
            }
            _ => return Ok(()),
        };
        let to = self.forward_shadow(d)?;
        let n = self.forward_value(n);
        let mut n = self.e.to_i64(n);
        if self.s.is_mixed(d) {
            let primal = self.forward_value(d);
            n = self.e.guarded_bytes(to, primal, n);
        }
        match pointers {
            None => self.e.fill_zero(to, n),
            Some((runs, period)) => {
                let f = over_runs(self.e.module, RunWork::Clear, &runs, period);
                let ptr = self.e.module.ctx.types.ptr();
                let null = self.e.b().zero(ptr);
                self.e.call_func(f, &[to, null, n]);
            }
        }
        Ok(())
    }

    /// Adjoint of a reallocation.
    pub fn realloc_adjoint(
        &mut self,
        i: InstId,
        args: &[ValueId],
        ptr: usize,
        size: usize,
        count: Option<usize>,
    ) -> Result<(), Refusal> {
        let Some(r) = self.s.func.insts[i].result.filter(|r| self.s.has_shadow(*r)) else { return Ok(()) };
        let content = classify_moved(&self.s, i, &[r, args[ptr]])?;
        if matches!(content, Bytes::NoFloats(_)) {
            return Ok(());
        }
        let (new, old) = (self.shadow(r)?, self.shadow(args[ptr])?);
        let mut bytes = self.primal(args[size])?;
        bytes = self.e.to_i64(bytes);
        if let Some(n) = count {
            let n = self.primal(args[n])?;
            let n = self.e.to_i64(n);
            bytes = self.e.b().binary(BinOp::Mul, bytes, n);
        }
        let common = common_bytes(self, old, bytes);
        let f = match content {
            Bytes::NoFloats(_) | Bytes::Characters => return Ok(()),
            Bytes::Words => return self.add_words(i, new, old, common),
            Bytes::Floats(kind) => self.sum_of_copied(kind, false)?,
            Bytes::Runs(runs, period) => self.sum_of_runs(&runs, period, false)?,
        };
        self.e.call_func(f, &[new, old, common]);
        Ok(())
    }

    /// Allocation whose result is stored through a pointer, in the forward sweep; the call itself was copied.
    pub fn forward_alloc_into(
        &mut self,
        i: InstId,
        args: &[ValueId],
        place: usize,
        size: usize,
        count: Option<usize>,
    ) -> Result<(), Refusal> {
        let p = args[place];
        if !self.s.has_shadow(p) {
            return Ok(());
        }
        let at = self.forward_shadow(p)?;
        let ptr = self.e.module.ctx.types.ptr();
        if !holds_shadowed(&self.s, p) {
            let primal = self.forward_value(p);
            let made = self.e.b().load(ptr, primal, 0, MemClass::Primal);
            self.e.store_in_lane(made, at, 0);
            return Ok(());
        }
        let mut copy = self.s.func.insts[i].clone();
        copy.origin = None;
        let mut values: Vec<ValueId> = copy.args.iter().map(|a| self.forward_value(*a)).collect();
        values[place + 1] = at;
        let status = self.e.copy(&copy, &values, MemClass::Unknown);
        let bytes = self.forward_bytes(args, size, count);
        clear_new(&mut self.e, status, at, bytes);
        Ok(())
    }

    /// Adjoint of an atomic update of memory.
    pub fn atomic_adjoint(&mut self, op: RmwOp, args: &[ValueId], result: Option<ValueId>) -> Result<(), Refusal> {
        let (Some(p), Some(v)) = (args.first().copied(), args.get(1).copied()) else { return Ok(()) };
        let Some(ty) = self.atomic_type(p, v, result) else { return Ok(()) };
        let at = self.shadow_place(p, ty)?;
        // A sum whose old content is not looked at leaves the adjoint in memory as it is.
        let is_read = result.is_some_and(|r| self.s.is_active(r));
        if self.options.atomic && (is_read || !matches!(op, RmwOp::FAdd | RmwOp::FSub)) {
            let what = "an atomic update that is no sum alone, of memory to whose adjoints several threads may add";
            return Err(Refusal::new(RefusalKind::Operation(what.to_owned())));
        }
        let after = self.e.load_in_lane(ty, at, 1);
        let taken = match result {
            Some(r) => self.take_adjoint(r)?,
            None => None,
        };
        let taken = match taken {
            Some(t) => self.e.b().cast(enzyme_ir::CastOp::BitCast, t, ty),
            None => self.e.neutral(ty),
        };
        let before = match (op, choice_of(op)) {
            (RmwOp::FAdd, _) => {
                self.add_adjoint(v, after)?;
                self.e.sum(after, taken)
            }
            (RmwOp::FSub, _) => {
                let less = self.e.b().fneg(after);
                self.add_adjoint(v, less)?;
                self.e.sum(after, taken)
            }
            (_, Some(rule)) => {
                let old = match result {
                    Some(r) => self.primal(r)?,
                    None => self.e.b().poison(ty),
                };
                let new = self.primal(v)?;
                let over = Operands { args: &[old, new], results: &[], ty };
                let (to_old, to_new) = (partial(rule, 0), partial(rule, 1));
                let kept = to_old.map_or(after, |x| product(&mut self.e, after, x, &over));
                let amount = to_new.map_or(after, |x| product(&mut self.e, after, x, &over));
                self.add_adjoint(v, amount)?;
                self.e.sum(kept, taken)
            }
            (_, None) => {
                self.add_adjoint(v, after)?;
                taken
            }
        };
        if !self.options.atomic {
            self.e.store_in_lane(before, at, 1);
        }
        Ok(())
    }

    /// The type of the adjoint that an atomic update at `p` changes; `None` if it changes none.
    fn atomic_type(&mut self, p: ValueId, v: ValueId, result: Option<ValueId>) -> Option<enzyme_ir::TypeId> {
        if !self.s.has_shadow(p) {
            return None;
        }
        let holder = [Some(v), result].into_iter().flatten().find(|x| self.s.unit.carry[*x] != Carry::None)?;
        Some(self.adjoint_type(holder))
    }

    /// What the forward sweep checks at an atomic update: that active data goes where it has a shadow.
    pub fn forward_atomic(&mut self, i: InstId, p: ValueId, v: ValueId) -> Result<(), Refusal> {
        if self.s.is_mixed(p) && self.s.is_active(v) {
            let (shadow, primal) = (self.forward_shadow(p)?, self.forward_value(p));
            let place = place_of(self.e.module, self.s.func, i);
            crate::runtime::require_shadow(&mut self.e, shadow, primal, &place);
        }
        Ok(())
    }
}

/// The rule of the choice between old and new content, for atomic minimum and maximum.
pub fn choice_of(op: RmwOp) -> Option<&'static Rule> {
    match enzyme_rules::rmw_float_op(op) {
        Some(RmwFloat::Rule(name)) => enzyme_rules::rules().find(|r| r.name == name),
        Some(RmwFloat::Binary(_)) | None => None,
    }
}

/// Whether pointers in the memory behind `p` point to memory with a shadow.
pub fn holds_shadowed(s: &Subject<'_>, p: ValueId) -> bool {
    let Some(c) = s.unit.memory.class_of[p] else { return false };
    s.unit.memory.classes[c].targets().any(|t| s.activity.is_shadowed(t))
}

/// Partial derivative of the only output of `rule`.
pub fn partial(rule: &'static Rule, operand: usize) -> Option<&'static Expr> {
    rule.partial(0, operand)
}

/// Whether an atomic update of active floats has a derivative.
pub fn has_derivative(op: RmwOp) -> bool {
    op == RmwOp::Xchg || enzyme_rules::rmw_float_op(op).is_some()
}

/// `bytes`, or the size of the allocation `old` if that is smaller.
fn common_bytes(r: &mut Reverse<'_, '_>, old: ValueId, bytes: ValueId) -> ValueId {
    crate::runtime::common_bytes(&mut r.e, old, bytes)
}

/// Clears memory whose address was stored at `at` by a call that returns 0 on success.
pub fn clear_new(e: &mut crate::emit::Emit<'_>, status: Option<ValueId>, at: ValueId, bytes: ValueId) {
    let ptr = e.module.ctx.types.ptr();
    let mut bytes = bytes;
    if let Some(status) = status {
        let ty = e.ty(status);
        let (good, none) = (e.b().zero(ty), e.b().i64(0));
        let failed = e.b().icmp(IntPred::Ne, status, good);
        bytes = e.choose(failed, none, bytes);
    }
    let made = e.load_in_lane(ptr, at, 0);
    e.fill_zero(made, bytes);
}
