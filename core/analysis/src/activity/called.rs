//! Calls of functions with a body: which have a derivative, in which context, and what they make.

use std::collections::BTreeMap;

use enzyme_ir::{Func, FuncId, InstId};

use super::{Activity, Context, Pass, Reason};
use crate::callee::{Callee, resolve};
use crate::memory::Object;
use crate::program::Unit;
use crate::useful::Useful;

impl Pass<'_> {
    /// Memory that a differentiated call makes has a shadow, even if it is of no use here: somebody must free it. Whether
    /// anything was new.
    pub(super) fn shadow_what_calls_make(
        &self,
        unit: &Unit,
        calls: &BTreeMap<InstId, (FuncId, Context)>,
        out: &mut Activity,
    ) -> bool {
        let before = out.shadowed.len();
        for (i, (g, _)) in calls {
            for (_, ours) in self.class_map(*i, *g) {
                let made = unit.memory.classes[ours].objects.contains(&Object::Heap(self.f, *i));
                if made && self.state(ours).has_shadow() {
                    out.shadowed.entry(ours).or_insert(Reason::Call(*i));
                }
            }
        }
        out.shadowed.len() > before
    }

    /// The calls of functions with a body into which something active enters. Whether anything useful comes out counts only where
    /// nothing but a result can: what has no derivative in there must be found. A float of no use is no active result.
    pub(super) fn active_calls(&self, func: &Func, useful: &Useful) -> BTreeMap<InstId, (FuncId, Context)> {
        let mut out = BTreeMap::new();
        for (_, i) in func.placed().filter(|(_, i)| func.insts[*i].op.call_info().is_some()) {
            let Callee::Defined(g) = resolve(self.program.module, func, i) else { continue };
            let Some(mut ctx) = self.callee_context(i, g, func.call_args(i)) else { continue };
            let is_used = func.insts[i].result.is_some_and(|r| useful.values[r]);
            if !is_used && self.program.units.is_observing(g) {
                continue;
            }
            ctx.ret &= is_used || !self.program.module.ctx.types.is_float_or_vector(func.insts[i].ty);
            out.insert(i, (g, ctx));
        }
        out
    }
}
