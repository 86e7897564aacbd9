//! Exceptions in the forward sweep: calls that go to a landing pad, and what is left behind when an exception passes.
//!
//! The call of an invoke goes to a block of its own, where its results are taken apart, and from there to the copy of
//! its normal destination. Blocks that lead to a `resume` only are copied; before it, the memory of caches goes, and
//! stack memory that was put on the heap. A plain call that may throw becomes an invoke if there is such memory.
//!
//! Tapes of calls that have returned, and all memory that goes with them, are on the list of deferred frees, which the
//! outermost derivative releases in any case. Those of products are on a list of their own.

use enzyme_ir::{BlockId, Const, FuncId, Inst, InstId, MemClass, Op, ValueId};
use smallvec::smallvec;

use super::Reverse;
use crate::keys::Key;
use crate::request::Mode;
use crate::unwind::inst_may_unwind;

/// `inst` with an invoke as a plain call.
pub(crate) fn as_call(inst: &Inst) -> Inst {
    match &inst.op {
        Op::Invoke { call, .. } => Inst { op: Op::Call(call.clone()), origin: None, ..inst.clone() },
        _ => inst.clone(),
    }
}

impl Reverse<'_, '_> {
    /// Whether memory would leak if an exception passed.
    fn has_belongings(&self) -> bool {
        let heap_slots = self.s.is_split() && !self.plan.heap_slots.is_empty();
        let list = self.s.key.mode == Mode::Combined && self.state.deferred.is_some();
        !self.s.func.attrs.nounwind && (!self.state.buffers().is_empty() || heap_slots || list)
    }

    /// Where an exception in a call of the forward sweep goes, if not out of the derivative.
    fn pad_of(&mut self, inst: &Inst) -> Option<BlockId> {
        match &inst.op {
            Op::Invoke { unwind, .. } => {
                if let Some(b) = self.here {
                    self.throws.insert(b, self.e.block);
                }
                self.starts.get(unwind).copied()
            }
            Op::Call(_) if self.has_belongings() && inst_may_unwind(self.e.module, self.s.func, inst) => {
                Some(self.cleanup_block())
            }
            _ => None,
        }
    }

    /// Places a copy of a call of the primal, or of any other instruction.
    pub fn place_copy(&mut self, inst: &Inst, args: &[ValueId], mem: MemClass) -> Option<ValueId> {
        let Some(unwind) = self.pad_of(inst) else { return self.e.copy(inst, args, mem) };
        let normal = self.e.new_block("returned");
        let mut copy = inst.clone();
        if let Op::Call(call) | Op::Invoke { call, .. } = &inst.op {
            copy.op = Op::Invoke { call: call.clone(), normal, unwind };
        }
        let v = self.e.copy(&copy, args, mem);
        self.e.block = normal;
        v
    }

    /// Calls `f` for the primal call `i`.
    pub fn call_for(&mut self, i: InstId, f: FuncId, args: &[ValueId]) -> ValueId {
        let inst = self.s.func.insts[i].clone();
        let Some(unwind) = self.pad_of(&inst) else { return self.e.call_func(f, args) };
        let normal = self.e.new_block("returned");
        let sig = self.e.module.funcs[f].sig;
        let v = self.e.b().invoke(f, sig, args, normal, unwind);
        self.e.block = normal;
        v
    }

    /// The block that an exception passes on its way out of the derivative.
    fn cleanup_block(&mut self) -> BlockId {
        if let Some(b) = self.cleanup {
            return b;
        }
        let types = &mut self.e.module.ctx.types;
        let (ptr, i32, void) = (types.ptr(), types.int(32), types.void());
        let pair = types.tuple(vec![ptr, i32]);
        if self.e.func.personality.is_none() {
            // Any will do for a pad that only cleans up; LLVM inlines between functions with the same one.
            let known = ["enzyme.caught", "__gxx_personality_v0", "rust_eh_personality"]
                .iter()
                .find_map(|n| self.e.module.find_func(n));
            let f = known.unwrap_or_else(|| self.e.module.declare("__gcc_personality_v0", i32, &[]));
            self.e.func.personality = Some(self.e.module.ctx.consts.intern(Const::Func(f)));
        }
        let block = self.e.new_block("unwound");
        let back = std::mem::replace(&mut self.e.block, block);
        let pad = self.e.b().value(Op::LandingPad { cleanup: true, clauses: Vec::new() }, smallvec![], pair);
        self.clean_up();
        self.e.b().inst(Op::Resume, smallvec![pad], void);
        self.e.block = back;
        self.cleanup = Some(block);
        block
    }

    /// Frees what is this function's own before an exception leaves it.
    pub fn clean_up(&mut self) {
        for (p, bytes) in self.belongings() {
            self.give_memory(p, bytes);
        }
        self.release_list();
    }

    /// The cells with the addresses of stack slots that are on the heap, and which slots these are.
    pub fn heap_slot_cells(&self) -> Vec<(ValueId, InstId)> {
        if !self.s.is_split() {
            return Vec::new();
        }
        let slots = self.plan.heap_slots.iter().filter_map(|i| Some((self.s.func.insts[*i].result?, *i)));
        let shadows = |v| (0..self.shadows.len()).map(move |lane| (Key::Shadow(v), lane));
        let keys = slots.flat_map(|(v, i)| std::iter::once((Key::Primal(v), 0)).chain(shadows(v)).map(move |k| (k, i)));
        keys.filter_map(|(k, i)| self.state.cells.get(&k).map(|c| (c.0, i))).collect()
    }

    /// Frees all that was put off, and the tapes of products, in the outermost derivative.
    pub fn release_list(&mut self) {
        if let (Some(head), Mode::Combined) = (self.state.deferred, self.s.key.mode) {
            let ptr = self.e.module.ctx.types.ptr();
            let list = self.e.b().load(ptr, head, 0, MemClass::Unknown);
            let release = crate::arena::release(self.e.module);
            self.e.call_func(release, &[list]);
        }
        if let (Some(head), Mode::Combined) = (self.state.products, self.s.key.mode) {
            let ptr = self.e.module.ctx.types.ptr();
            let list = self.e.b().load(ptr, head, 0, MemClass::Unknown);
            let release = crate::runtime::release_products(self.e.module);
            self.e.call_func(release, &[list]);
        }
    }

    /// Whether memory of the tape is on the list, where it stays to the end.
    pub fn tape_is_listed(&self) -> bool {
        self.s.is_split() && self.s.key.unwinds
    }

    /// Puts the tape and what belongs to it on the list.
    pub fn list_tape(&mut self, tape: ValueId) {
        let Some(arena) = self.arena() else { return };
        let mut all = Vec::new();
        if !self.s.key.placed {
            let bytes = self.tape_bytes();
            all.push((tape, self.e.b().i64(bytes)));
        }
        all.extend(self.belongings());
        let list = crate::arena::list(self.e.module);
        for (p, bytes) in all {
            self.e.call_func(list, &[arena, p, bytes]);
        }
    }

    /// Whether the exception that brought control from `p` to `b` may have taken with it what is needed to go on.
    pub fn lost_by_throw(&mut self, p: BlockId, b: BlockId) -> Option<InstId> {
        let i = self.s.func.terminator(p).filter(|_| self.s.shape.is_unwind_edge(self.s.func, p, b))?;
        let context = self.s.activity.calls.get(&i)?;
        let f = self.e.module.direct_callee(self.s.func, i)?;
        self.derivatives.loses(self.e.module, f, context).then_some(i)
    }
}
