//! Numbers that loops carry on and replace now and then: when they did so last. See [`crate::latest`].

use enzyme_ir::cfg::LoopId;
use enzyme_ir::{InstId, IntPred, MemClass, ValueId};

use super::Reverse;
use crate::keys::Key;
use crate::latest::Running;
use crate::refusal::Refusal;

impl Reverse<'_, '_> {
    /// Makes a slot for each that the reverse sweep asks for.
    pub(super) fn make_latest(&mut self) {
        let i64 = self.e.module.ctx.types.int(64);
        for v in self.s.shape.running.keys() {
            if self.plan.choice.cached.contains(&Key::Latest(*v)) {
                let slot = self.e.slot(i64, None);
                self.latest.insert(*v, slot);
            }
        }
    }

    fn latest_in(&self, l: LoopId) -> Vec<(ValueId, ValueId)> {
        let running = |v: &ValueId| self.s.shape.running.get(v).is_some_and(|r| r.in_loop == l);
        self.latest.iter().filter(|(v, _)| running(v)).map(|(v, slot)| (*v, *slot)).collect()
    }

    /// Says before `l` that nothing was replaced.
    pub(super) fn reset_latest(&mut self, l: LoopId) {
        for (_, slot) in self.latest_in(l) {
            let never = self.e.b().i64(u64::MAX);
            self.e.b().store(never, slot, 0, MemClass::Unknown);
        }
    }

    /// Notes the iteration at hand, if the selection `i`, whose result is `r`, replaces the number in it.
    pub(super) fn note_latest(&mut self, i: InstId, r: ValueId) {
        let (Some(slot), Some(running)) = (self.latest.get(&r).copied(), self.s.shape.running.get(&r).copied()) else {
            return;
        };
        let Some(condition) = self.s.func.insts[i].args.first().copied() else { return };
        let i64 = self.e.module.ctx.types.int(64);
        let condition = self.forward_value(condition);
        let now = self.iteration(running.in_loop);
        let before = self.e.b().load(i64, slot, 0, MemClass::Unknown);
        let (yes, no) = if running.replaced_if { (now, before) } else { (before, now) };
        let latest = self.e.choose(condition, yes, no);
        self.e.b().store(latest, slot, 0, MemClass::Unknown);
    }

    /// Keeps what was noted, where `l` was left.
    pub(super) fn keep_latest(&mut self, l: LoopId) {
        let i64 = self.e.module.ctx.types.int(64);
        for (v, slot) in self.latest_in(l) {
            let latest = self.e.b().load(i64, slot, 0, MemClass::Unknown);
            self.keep(Key::Latest(v), latest);
        }
    }

    /// What stands for the condition of the selection `v` in the reverse sweep.
    pub(super) fn replaced_here(&mut self, v: ValueId, running: Running) -> Result<ValueId, Refusal> {
        let latest = self.lookup(Key::Latest(v))?;
        let now = self.iteration(running.in_loop);
        let same = if running.replaced_if { IntPred::Eq } else { IntPred::Ne };
        Ok(self.e.b().icmp(same, now, latest))
    }
}
