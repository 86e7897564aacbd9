//! Usefulness: which values and memory an active output may depend on, by a backward pass.
//!
//! Memory that the caller can reach is useful; local memory is useful if something useful is read from it. Arguments
//! of calls that are differentiated are taken as useful, unless nothing comes out of the call but a result of no use
//! ([`crate::observing`]).

use std::collections::BTreeSet;

use cranelift_entity::SecondaryMap;
use enzyme_ir::{CastOp, FuncId, InstId, Op, ValueId};

use crate::activity::{Context, State};
use crate::callee::{Callee, MathOutput, MemoryEffect, resolve};
use crate::carry::Carry;
use crate::memory::{ClassId, Object};
use crate::program::Program;

/// The result of the pass.
#[derive(Clone, Debug, Default)]
pub struct Useful {
    /// Useful values.
    pub values: SecondaryMap<ValueId, bool>,
    /// Useful memory.
    pub classes: BTreeSet<ClassId>,
}

/// Analyses `f`; `differentiated` tells which calls of functions with a body get a derivative.
pub fn analyze(program: &Program<'_>, f: FuncId, ctx: &Context, differentiated: &dyn Fn(InstId) -> bool) -> Useful {
    let mut out = Useful::default();
    let Some(unit) = program.unit(f) else { return out };
    let func = program.func(f);
    for (class, state) in &ctx.classes {
        if state.has_shadow() {
            out.classes.insert(*class);
        }
    }
    // Memory that reaches the caller: through the result, or from outer memory.
    out.classes.extend(unit.outer_classes.iter().filter(|c| ctx.classes.get(c) != Some(&State::Pinned)));
    for (id, class) in unit.memory.classes.iter() {
        if class.objects.iter().any(|o| matches!(o, Object::Global(_))) {
            out.classes.insert(id);
        }
    }
    let order: Vec<InstId> = func.placed().map(|e| e.1).collect();
    let class_of = |v: ValueId| unit.memory.class_of[v];
    loop {
        let mut changed = false;
        let mut mark = |out: &mut Useful, v: ValueId| {
            if !out.values[v] {
                out.values[v] = true;
                changed = true;
            }
        };
        let mut grown: Vec<ClassId> = Vec::new();
        for i in order.iter().rev() {
            let inst = &func.insts[*i];
            let used = inst.result.is_some_and(|r| out.values[r]);
            let args = inst.args.as_slice();
            // What may be the bits of a float is looked at if its memory is active.
            let numbers = unit.numbers.get(i).into_iter().flat_map(|n| &n.loads);
            grown.extend(numbers.filter_map(|l| func.insts[*l].args.first().and_then(|p| class_of(*p))));
            match &inst.op {
                Op::Ret => {
                    if ctx.ret {
                        args.iter().for_each(|a| mark(&mut out, *a));
                    }
                }
                Op::Store(_) => {
                    if let (Some(v), Some(c)) = (args.first(), args.get(1).and_then(|p| class_of(*p)))
                        && out.classes.contains(&c)
                    {
                        mark(&mut out, *v);
                        // Whether what it is made of are the bits of floats, the memory they are read from tells.
                        let loads = unit.reworked.get(i).into_iter().flat_map(|r| &r.loads);
                        grown.extend(loads.filter_map(|l| func.insts[*l].args.first().and_then(|p| class_of(*p))));
                    }
                }
                Op::AtomicRmw(..) | Op::CmpXchg { .. } => {
                    args.iter().skip(1).for_each(|a| mark(&mut out, *a));
                    grown.extend(args.first().and_then(|p| class_of(*p)));
                }
                Op::Load(_) => {
                    if used {
                        grown.extend(args.first().and_then(|p| class_of(*p)));
                    }
                }
                Op::Call(_) | Op::Invoke { .. } | Op::CallBr { .. } => {
                    let args = func.call_args(*i);
                    match resolve(program.module, func, *i) {
                        Callee::Math(math) => {
                            let into_useful = math.outputs().iter().any(|o| match o {
                                MathOutput::Return => used,
                                MathOutput::Pointee(n) => {
                                    args.get(*n).and_then(|p| class_of(*p)).is_some_and(|c| out.classes.contains(&c))
                                }
                            });
                            if into_useful {
                                args.iter().for_each(|a| mark(&mut out, *a));
                            }
                        }
                        Callee::Known(known) => {
                            // The bytes of a float, in another order.
                            if used && inst.result.is_some_and(|r| unit.carry[r] == Carry::Mixed) {
                                args.iter().for_each(|a| mark(&mut out, *a));
                            }
                            if let MemoryEffect::Copy { dst, src, .. } = known.memory() {
                                let d = args.get(dst).and_then(|p| class_of(*p));
                                if d.is_some_and(|c| out.classes.contains(&c)) {
                                    grown.extend(args.get(src).and_then(|p| class_of(*p)));
                                }
                            }
                        }
                        Callee::Defined(g) => {
                            if differentiated(*i) && (used || !program.units.is_observing(g)) {
                                for a in args {
                                    mark(&mut out, *a);
                                    grown.extend(class_of(*a).into_iter().flat_map(|c| unit.memory.chain(c)));
                                }
                            }
                        }
                        Callee::Unknown(_) => {
                            for a in args {
                                if used || inst.result.is_none() {
                                    mark(&mut out, *a);
                                }
                                grown.extend(class_of(*a).into_iter().flat_map(|c| unit.memory.chain(c)));
                            }
                        }
                    }
                }
                Op::Cast(CastOp::FPToUI | CastOp::FPToSI | CastOp::UIToFP | CastOp::SIToFP)
                | Op::ICmp(_)
                | Op::FCmp(_) => {}
                Op::Select => {
                    if used {
                        args.iter().skip(1).for_each(|a| mark(&mut out, *a));
                    }
                }
                Op::FNeg
                | Op::Binary(_)
                | Op::Cast(_)
                | Op::Phi(_)
                | Op::Freeze
                | Op::Gep { .. }
                | Op::ExtractElement
                | Op::InsertElement
                | Op::ShuffleVector(_)
                | Op::ExtractValue(_)
                | Op::InsertValue(_) => {
                    if used {
                        args.iter().for_each(|a| mark(&mut out, *a));
                    }
                }
                Op::Alloca { .. }
                | Op::Fence(_)
                | Op::VaArg
                | Op::LandingPad { .. }
                | Op::CleanupPad
                | Op::CatchPad
                | Op::Br(_)
                | Op::CondBr { .. }
                | Op::Switch { .. }
                | Op::IndirectBr(_)
                | Op::Resume
                | Op::Unreachable
                | Op::CleanupRet(_)
                | Op::CatchRet(_)
                | Op::CatchSwitch { .. } => {}
            }
        }
        for c in grown {
            changed |= out.classes.insert(c);
        }
        if !changed {
            return out;
        }
    }
}
