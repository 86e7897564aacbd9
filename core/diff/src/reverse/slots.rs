//! Stack slots of the forward sweep, which in split mode outlive their function, and what is freed at the end of the reverse
//! sweep instead of where the primal frees it.

use enzyme_ir::{Inst, InstId, IntPred, Op, ValueId};

use super::Reverse;
use crate::keys::Key;
use crate::refusal::{Refusal, RefusalKind};

impl Reverse<'_, '_> {
    pub(super) fn forward_slot(&mut self, i: InstId, elem: enzyme_ir::TypeId) -> Result<(), Refusal> {
        let inst = self.s.func.insts[i].clone();
        let Some(r) = inst.result else { return Ok(()) };
        let shadowed = self.s.has_shadow(r);
        let size = self.e.module.ctx.layout.size_of(&self.e.module.ctx.types, elem);
        let Some(size) = size else {
            return Err(Refusal::new(RefusalKind::Operation("a stack slot of unknown size".into())).at(i));
        };
        let size = self.e.b().i64(size);
        let count = inst.args.first().map(|n| self.forward_value(*n));
        let bytes = match count {
            Some(n) => {
                let n = self.e.to_i64(n);
                self.e.b().binary(enzyme_ir::BinOp::Mul, n, size)
            }
            None => size,
        };
        let types = &self.e.module.ctx.types;
        let stated = match inst.op {
            Op::Alloca { align, .. } => u64::from(align),
            _ => 0,
        };
        let align = self.e.module.ctx.layout.align_of(types, elem).max(stated);
        let fixed = self.s.is_static_slot(i);
        let on_heap = self.s.is_split() && (!fixed || self.plan.choice.cached.contains(&Key::Primal(r)));
        let primal = if self.lane > 0 {
            self.forward_value(r)
        } else if on_heap {
            self.slot_memory(bytes, align, fixed)
        } else if fixed {
            self.entry_slot(&inst)
        } else {
            self.copy_forward(&inst).unwrap_or(bytes)
        };
        self.map[r] = Some(primal);
        if on_heap && !fixed && self.lane == 0 {
            self.defer_free(primal, "free");
        }
        if !shadowed {
            return Ok(());
        }
        if self.s.has_own_shadow(r) && fixed {
            // The forward sweep neither reads nor writes it.
            let shadow = self.shadow_slot(&inst);
            self.shadows[self.lane].insert(r, shadow);
            return Ok(());
        }
        let shadow = if self.s.is_split() {
            let p = self.slot_memory(bytes, align, fixed);
            if !fixed {
                self.defer_free(p, "free");
            }
            p
        } else if fixed {
            self.shadow_slot(&inst)
        } else {
            let mut copy = inst.clone();
            copy.origin = None;
            self.repeat_forward(&copy).unwrap_or(bytes)
        };
        self.e.fill_zero(shadow, bytes);
        self.shadows[self.lane].insert(r, shadow);
        Ok(())
    }

    /// Memory of a stack slot that outlives its function.
    fn slot_memory(&mut self, bytes: ValueId, align: u64, fixed: bool) -> ValueId {
        let arena = self.arena().filter(|_| fixed);
        let wide = align > crate::runtime::MALLOC_ALIGN;
        let mut args: Vec<ValueId> = arena.into_iter().collect();
        args.extend(wide.then(|| self.e.b().i64(align)));
        args.push(bytes);
        let f = match (arena.is_some(), wide) {
            (true, true) => crate::arena::take_aligned(self.e.module),
            (true, false) => crate::arena::take(self.e.module),
            (false, true) => crate::runtime::alloc_aligned(self.e.module),
            (false, false) => crate::runtime::alloc(self.e.module),
        };
        self.e.call_func(f, &args)
    }

    /// The bytes of the stack slot `i`, which is fixed.
    pub(super) fn slot_bytes(&mut self, i: InstId) -> ValueId {
        let inst = &self.s.func.insts[i];
        let count = inst.args.first().and_then(|n| self.s.func.as_const(*n));
        let count = count.map_or(Some(1), |c| self.e.module.ctx.consts.as_u64(c));
        let size = match inst.op {
            Op::Alloca { elem, .. } => self.e.module.ctx.layout.size_of(&self.e.module.ctx.types, elem),
            _ => None,
        };
        let bytes = size.zip(count).map_or(u64::MAX, |(size, n)| size.wrapping_mul(n));
        self.e.b().i64(bytes)
    }

    /// The arena from which this derivative has what it needs between the sweeps.
    pub(super) fn arena(&self) -> Option<ValueId> {
        self.state.deferred
    }

    /// Memory that lasts from the forward sweep to the reverse sweep.
    pub(super) fn take_memory(&mut self, bytes: ValueId) -> ValueId {
        match self.arena() {
            Some(arena) => {
                let take = crate::arena::take(self.e.module);
                self.e.call_func(take, &[arena, bytes])
            }
            None => {
                let alloc = crate::runtime::alloc(self.e.module);
                self.e.call_func(alloc, &[bytes])
            }
        }
    }

    /// Gives such memory back.
    pub(super) fn give_memory(&mut self, p: ValueId, bytes: ValueId) {
        if self.s.is_split() || self.arena().is_some() {
            let give = crate::arena::give(self.e.module);
            self.e.call_func(give, &[p, bytes]);
        } else {
            let void = self.e.module.ctx.types.void();
            self.e.call("free", void, &[p]);
        }
    }

    fn shadow_slot(&mut self, inst: &Inst) -> ValueId {
        let mut copy = inst.clone();
        copy.origin = None;
        self.entry_slot(&copy)
    }

    /// The shadows, of zeros, that the second of two sweeps makes by itself.
    pub(super) fn own_slots(&mut self) -> Result<(), Refusal> {
        for (_, i) in self.s.func.placed() {
            let inst = self.s.func.insts[i].clone();
            let (Op::Alloca { elem, .. }, Some(r)) = (&inst.op, inst.result) else { continue };
            if !self.s.is_static_slot(i) || !self.s.has_own_shadow(r) {
                continue;
            }
            let Some(size) = self.e.module.ctx.layout.size_of(&self.e.module.ctx.types, *elem) else {
                return Err(Refusal::new(RefusalKind::Operation("a stack slot of unknown size".into())).at(i));
            };
            let count = inst.args.first().and_then(|n| self.s.func.as_const(*n));
            let count = count.and_then(|c| self.e.module.ctx.consts.as_u64(c)).unwrap_or(1);
            self.in_lanes(|this| {
                let shadow = this.shadow_slot(&inst);
                let bytes = this.e.b().i64(size.saturating_mul(count));
                this.e.fill_zero(shadow, bytes);
                this.shadows[this.lane].insert(r, shadow);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// A copy of a stack slot in the entry block.
    fn entry_slot(&mut self, inst: &Inst) -> ValueId {
        let block = std::mem::replace(&mut self.e.block, self.e.entry);
        let v = self.repeat_forward(inst);
        self.e.block = block;
        let ty = self.e.module.ctx.types.ptr();
        match v {
            Some(v) => v,
            None => self.e.b().poison(ty),
        }
    }

    /// Puts off freeing `p` by `release` to the end of the reverse sweep.
    pub fn defer_free(&mut self, p: ValueId, release: &str) {
        let (ptr, void) = (self.e.module.ctx.types.ptr(), self.e.module.ctx.types.void());
        let f = self.e.module.declare(release, void, &[ptr]);
        self.defer_free_by(p, f);
    }

    /// The function by which memory that the call `i` frees can be freed with a pointer alone.
    pub(super) fn release_of(&mut self, i: InstId, args: &[ValueId]) -> Option<enzyme_ir::FuncId> {
        let name = self.callee_name(i);
        let (ptr, void) = (self.e.module.ctx.types.ptr(), self.e.module.ctx.types.void());
        if let Some(plain) = release_of(&name) {
            return Some(self.e.module.declare(plain, void, &[ptr]));
        }
        let stated = self.e.module.direct_callee(self.s.func, i);
        if let Some(f) = stated.filter(|f| self.e.module.stated.like.contains_key(f) && args.len() == 1) {
            return Some(f);
        }
        let (symbol, position) = release_of_aligned(&name)?;
        let align = args.get(position).and_then(|a| self.s.func.as_const(*a))?;
        let align = self.e.module.ctx.consts.as_u64(align)?;
        Some(crate::runtime::release_aligned(self.e.module, symbol, align))
    }

    /// The address of that function, in the forward sweep; where an alignment is known then alone, it is chosen then, by powers of two.
    pub(super) fn releasing(&mut self, i: InstId, args: &[ValueId]) -> Option<ValueId> {
        if let Some(known) = self.release_of(i, args) {
            return Some(self.e.b().func_addr(known));
        }
        let (symbol, position) = release_of_aligned(&self.callee_name(i))?;
        let align = self.forward_value(*args.get(position)?);
        let align = self.e.to_i64(align);
        let mut chosen = None;
        for power in (0..=LARGEST_ALIGNMENT).rev() {
            let release = crate::runtime::release_aligned(self.e.module, symbol, 1 << power);
            let release = self.e.b().func_addr(release);
            chosen = Some(match chosen {
                None => release,
                Some(larger) => {
                    let this = self.e.b().i64(1 << power);
                    let is_this = self.e.b().icmp(IntPred::Ule, align, this);
                    self.e.choose(is_this, release, larger)
                }
            });
        }
        chosen
    }

    pub(super) fn defer_free_by(&mut self, p: ValueId, release: enzyme_ir::FuncId) {
        let release = self.e.b().func_addr(release);
        self.defer_free_through(p, release);
    }

    /// The same through the address of a function.
    pub(super) fn defer_free_through(&mut self, p: ValueId, release: ValueId) {
        let Some(head) = self.state.deferred else { return };
        let defer = crate::arena::defer(self.e.module);
        self.e.call_func(defer, &[head, p, release]);
    }
}

/// The exponent of the largest alignment that memory is freed by: that of a page.
const LARGEST_ALIGNMENT: u32 = 12;

/// The function by which memory that a deallocation function frees can be freed with a pointer alone.
fn release_of(name: &str) -> Option<&'static str> {
    match name {
        "free" | "cfree" => Some("free"),
        "_ZdlPv" | "_ZdlPvm" | "_ZdlPvRKSt9nothrow_t" => Some("_ZdlPv"),
        "_ZdaPv" | "_ZdaPvm" | "_ZdaPvRKSt9nothrow_t" => Some("_ZdaPv"),
        _ => None,
    }
}

/// The same for memory with an alignment, and which argument gives that.
fn release_of_aligned(name: &str) -> Option<(&'static str, usize)> {
    match name {
        "_ZdlPvSt11align_val_t" | "_ZdlPvSt11align_val_tRKSt9nothrow_t" => Some(("_ZdlPvSt11align_val_t", 1)),
        "_ZdlPvmSt11align_val_t" => Some(("_ZdlPvSt11align_val_t", 2)),
        "_ZdaPvSt11align_val_t" | "_ZdaPvSt11align_val_tRKSt9nothrow_t" => Some(("_ZdaPvSt11align_val_t", 1)),
        "_ZdaPvmSt11align_val_t" => Some(("_ZdaPvSt11align_val_t", 2)),
        _ => None,
    }
}
