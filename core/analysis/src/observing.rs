//! Functions of which nothing comes out but their result: norms and residuals that only a condition asks for, as in
//! `if (norm(r, n) < tolerance) break;`.
//!
//! Where the result of such a call is of no use, the call has no derivative, whatever enters it. Its arguments are not
//! useful either; and a slope in it that is infinite (the root of a residual that vanishes) meets no zero.
//!
//! Such a function stores to memory of its own alone, keeps no address, and calls functions of this kind, and known
//! ones that leave nothing in memory of others. To functions that only read, and to what it calls through pointers, it
//! gives constants and counts: what reports an index out of range and may return.
//!
//! Not handled: recursive functions, and results other than floats and plain integers.

use std::collections::BTreeSet;

use enzyme_ir::{FuncId, InstId, Module, Op, ValueId};

use crate::callee::{Callee, MathOutput, MemoryEffect, resolve};
use crate::carry::Carry;
use crate::memory::Object;
use crate::program::Unit;

/// Functions that observe.
#[derive(Clone, Debug, Default)]
pub(crate) struct Observing {
    /// Those of which nothing comes out but their result.
    pub always: BTreeSet<FuncId>,
    /// Others, of which it is so where constants and counts are all that enters.
    of_constants: BTreeSet<FuncId>,
}

impl Observing {
    /// Takes in `f`, whose callees were.
    pub fn add(&mut self, module: &Module, f: FuncId, unit: &Unit) {
        if is_observing(module, f, unit, self, false) {
            self.always.insert(f);
        } else if is_observing(module, f, unit, self, true) {
            self.of_constants.insert(f);
        }
    }
}

/// Whether something in a function is looked at when the derivative runs, or refused: integers that may be bits of floats.
fn has_doubts(unit: &Unit) -> bool {
    let refused = !unit.bits.lost.is_empty() || !unit.transfers.lost.is_empty();
    refused || !unit.numbers.is_empty() || !unit.reworked.is_empty()
}

/// Whether `f` is of this kind, if what it is given is constant or not; `known` are those that it may call.
fn is_observing(module: &Module, f: FuncId, unit: &Unit, known: &Observing, of_constants: bool) -> bool {
    let func = &module.funcs[f];
    if module.stated.rules.contains_key(&f) || func.attrs.interposable || has_doubts(unit) {
        return false;
    }
    // Memory that a caller can reach is outer memory; what else there is of a function is its own.
    let own = |v: &ValueId| {
        let is_own = |o: &Object| matches!(o, Object::Stack(g, _) | Object::Heap(g, _) if *g == f);
        unit.memory.class_of[*v]
            .is_some_and(|c| !unit.outer_classes.contains(&c) && unit.memory.classes[c].objects.iter().all(is_own))
    };
    let types = &module.ctx.types;
    let is_plain = |v: &ValueId| {
        types.is_float_or_vector(func.ty(*v))
            || unit.carry[*v] == Carry::None && !unit.addresses[*v] && !types.contains_pointer(func.ty(*v))
    };
    // What a function of which nothing is known may be given.
    let is_constant = |v: &ValueId| {
        let given = |o: &Object| of_constants && matches!(o, Object::Param(g, _) if *g == f);
        let of_class = unit.memory.class_of[*v].map(|c| {
            let objects = &unit.memory.classes[c].objects;
            unit.constants.contains(&c) || unit.memory.is_code(c) || !objects.is_empty() && objects.iter().all(given)
        });
        !types.is_float_or_vector(func.ty(*v)) && unit.carry[*v] == Carry::None && of_class.unwrap_or(true)
    };
    let leaves_nothing = |i: InstId| {
        let args = func.call_args(i);
        let at = |n: usize| args.get(n).is_some_and(own);
        match resolve(module, func, i) {
            Callee::Math(math) => math.outputs().iter().all(|o| match o {
                MathOutput::Return => true,
                MathOutput::Pointee(n) => at(*n),
            }),
            Callee::Known(known) => match known.memory() {
                MemoryEffect::None | MemoryEffect::Alloc { .. } => true,
                MemoryEffect::Copy { dst: n, .. }
                | MemoryEffect::Set { dst: n, .. }
                | MemoryEffect::Realloc { ptr: n, .. }
                | MemoryEffect::AllocInto { place: n, .. }
                | MemoryEffect::Free { ptr: n }
                | MemoryEffect::LifetimeStart { ptr: n } => at(n),
                MemoryEffect::Unsupported(_) => false,
            },
            Callee::Defined(g) => {
                known.always.contains(&g) || known.of_constants.contains(&g) && args.iter().all(is_constant)
            }
            // What writes unseen may reach active variables: that is refused where the caller is differentiated.
            Callee::Unknown(callee) => {
                callee.is_none_or(|g| module.funcs[g].attrs.no_write) && args.iter().all(is_constant)
            }
        }
    };
    func.placed().all(|(_, i)| {
        let inst = &func.insts[i];
        match &inst.op {
            Op::Ret => inst.args.iter().all(is_plain),
            Op::Store(_) => inst.args.get(1).is_some_and(own),
            Op::AtomicRmw(..) | Op::CmpXchg { .. } => inst.args.first().is_some_and(own),
            Op::Call(_) => leaves_nothing(i),
            Op::Invoke { .. }
            | Op::CallBr { .. }
            | Op::LandingPad { .. }
            | Op::Resume
            | Op::CleanupPad
            | Op::CatchPad
            | Op::CleanupRet(_)
            | Op::CatchRet(_)
            | Op::CatchSwitch { .. }
            | Op::VaArg => false,
            _ => true,
        }
    })
}
