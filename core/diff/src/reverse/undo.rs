//! Stores that are taken back: see [`crate::undo`].

use enzyme_ir::cfg::LoopId;
use enzyme_ir::{FloatKind, InstId, MemClass, Op, ValueId};

use super::Reverse;
use crate::refusal::Refusal;
use crate::runtime;
use crate::undo::Extent;

impl Reverse<'_, '_> {
    /// Makes slots for what the forward sweep left in memory: null, then the elements of one store after the other where they lie
    /// and how many there are.
    pub fn make_held(&mut self) {
        let (ptr, i64) = (self.e.module.ctx.types.ptr(), self.e.module.ctx.types.int(64));
        for i in self.plan.undone.clone() {
            if self.s.undo.stores.get(&i).is_none_or(|u| u.extent.is_none()) {
                continue;
            }
            let null = self.e.b().zero(ptr);
            let mut slots = vec![self.e.slot(ptr, Some(null)), self.e.slot(ptr, Some(null))];
            let zero = self.e.b().i64(0);
            slots.extend((0..2 * runtime::HELD_DEPTH).map(|_| self.e.slot(i64, Some(zero))));
            self.held.insert(i, slots);
        }
    }

    /// Stores what the store `i` has overwritten.
    pub fn take_back(&mut self, i: InstId) -> Result<(), Refusal> {
        let Some(undone) = self.s.undo.stores.get(&i).filter(|_| self.plan.undone.contains(&i)) else { return Ok(()) };
        let (old, at) = (self.primal(undone.old)?, self.primal(undone.address)?);
        if let Op::Store(access) = &self.s.func.insts[i].op {
            self.e.b().store(old, at, access.align, MemClass::Primal);
        }
        Ok(())
    }

    fn stored_kind(&self, i: InstId) -> Option<FloatKind> {
        let v = self.s.func.insts[i].args.first()?;
        self.e.module.ctx.types.float_kind(self.s.func.ty(*v))
    }

    /// The stores whose extents are known before `l`.
    fn held_over(&self, l: LoopId) -> Vec<(InstId, Extent)> {
        let extents = self.held.keys().filter_map(|i| Some((*i, self.s.undo.stores.get(i)?.extent.clone()?)));
        extents.filter(|(_, e)| e.over == l).collect()
    }

    /// Copies aside what such stores left, where the reverse sweep enters `l`.
    pub fn hold(&mut self, l: LoopId) -> Result<(), Refusal> {
        for (i, extent) in self.held_over(l) {
            let Some(kind) = self.stored_kind(i) else { continue };
            let (one, none) = (self.e.b().i64(1), self.e.b().i64(0));
            let mut arguments = vec![self.primal(extent.start)?];
            for n in 0..runtime::HELD_DEPTH {
                let (mut count, mut stride) = (one, none);
                if let Some((c, s)) = extent.steps.get(n) {
                    let c = self.primal(*c)?;
                    let c = self.e.to_i64(c);
                    (count, stride) = (self.e.b().add(c, one), self.primal(*s)?);
                }
                for (guard, value) in extent.guards.iter().filter(|_| n == 0) {
                    let guard = self.primal(*guard)?;
                    let (yes, no) = if *value { (count, none) } else { (none, count) };
                    count = self.e.choose(guard, yes, no);
                }
                arguments.extend([count, stride]);
            }
            let hold = runtime::hold(self.e.module, kind);
            let data = self.e.call_func(hold, &arguments);
            let slots = self.held.get(&i).cloned().unwrap_or_default();
            for (slot, v) in slots.into_iter().zip([data].into_iter().chain(arguments)) {
                self.e.b().store(v, slot, 0, MemClass::Unknown);
            }
        }
        Ok(())
    }

    /// Leaves in memory what the forward sweep left, of earlier loops before that of later ones.
    pub fn put_back(&mut self) {
        let place = |i: &InstId| {
            let extent = self.s.undo.stores.get(i)?.extent.as_ref()?;
            let header = self.s.shape.loops.loops().find(|(id, _)| *id == extent.over)?.1.header;
            self.s.shape.cfg.rpo().iter().position(|b| *b == header)
        };
        let mut order: Vec<InstId> = self.held.keys().copied().collect();
        order.sort_by_key(place);
        for i in order {
            let Some(kind) = self.stored_kind(i) else { continue };
            let arguments: Vec<ValueId> = self.held.get(&i).cloned().unwrap_or_default();
            let arguments: Vec<ValueId> = arguments
                .into_iter()
                .enumerate()
                .map(|(n, slot)| {
                    let types = &mut self.e.module.ctx.types;
                    let ty = if n < 2 { types.ptr() } else { types.int(64) };
                    self.e.b().load(ty, slot, 0, MemClass::Unknown)
                })
                .collect();
            let put = runtime::put_back(self.e.module, kind);
            self.e.call_func(put, &arguments);
        }
    }
}
