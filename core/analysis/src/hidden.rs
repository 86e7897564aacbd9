//! Memory of callers that is only read here, as something of which the program does not say what it is, what is copied from there, and where
//! integers are put that carry floats: floats may lie in it that nobody here reads as such.
//!
//! Of memory that a function fills, the bytes that it copies there count, and not others, which are what it puts there.

use std::collections::BTreeSet;

use cranelift_entity::SecondaryMap;
use enzyme_ir::{Func, InstId, Module, Op, ValueId};

use crate::callee::{Callee, MemoryEffect, resolve};
use crate::carry::Carry;
use crate::memory::{ClassId, FuncMemory, Span};
use crate::program::outer_classes;

/// Such memory.
pub struct Hidden<'a> {
    memory: &'a FuncMemory,
    classes: BTreeSet<ClassId>,
    /// Bytes that were copied or put there, as far as their number is known.
    copied: Vec<(ClassId, Span, u64)>,
}

/// More bytes than these are not told apart.
const ALL: u64 = i64::MAX as u64;

impl<'a> Hidden<'a> {
    /// Looks for it.
    pub fn find(
        module: &Module,
        func: &Func,
        memory: &'a FuncMemory,
        carry: &SecondaryMap<ValueId, Carry>,
    ) -> Hidden<'a> {
        let stores = func.placed().filter(|(_, i)| matches!(func.insts[*i].op, Op::Store(_)));
        let written = stores.filter_map(|(_, i)| func.insts[i].args.get(1).and_then(|to| memory.class_of[*to]));
        let written: BTreeSet<ClassId> = written.collect();
        let mut classes = outer_classes(memory);
        classes.retain(|c| !written.contains(c) && !memory.classes[*c].has_known_floats());
        let put = func.placed().filter_map(|(_, i)| {
            let inst = &func.insts[i];
            let (Op::Store(_), [v, p]) = (&inst.op, inst.args.as_slice()) else { return None };
            let size = module.ctx.layout.store_size(&module.ctx.types, func.ty(*v))?;
            let carries = matches!(carry[*v], Carry::Bits(..) | Carry::Unknown | Carry::Word);
            Some((memory.class_of[*p].filter(|_| carries)?, memory.span_of[*p], size))
        });
        let mut out = Hidden { memory, classes, copied: put.collect() };
        let copies: Vec<Copy> = func.placed().filter_map(|(_, i)| copy(module, func, i)).collect();
        loop {
            let before = out.copied.len();
            for Copy { to, from, len } in &copies {
                let Some(class) = memory.class_of[*to].filter(|_| out.holds(*from, *len)) else { continue };
                let place = (class, memory.span_of[*to], *len);
                if !out.copied.contains(&place) {
                    out.copied.push(place);
                }
            }
            if out.copied.len() == before {
                return out;
            }
        }
    }

    /// Whether one of `len` bytes behind `p` is such.
    pub fn holds(&self, p: ValueId, len: u64) -> bool {
        let Some(class) = self.memory.class_of[p] else { return false };
        let place = self.memory.span_of[p];
        self.classes.contains(&class)
            || self.copied.iter().any(|(c, span, size)| *c == class && span.overlaps(*size, place, len))
    }
}

struct Copy {
    to: ValueId,
    from: ValueId,
    len: u64,
}

fn copy(module: &Module, func: &Func, i: InstId) -> Option<Copy> {
    let Callee::Known(known) = resolve(module, func, i) else { return None };
    let MemoryEffect::Copy { dst, src, len, .. } = known.memory() else { return None };
    let args = func.call_args(i);
    let number = |v: ValueId| func.as_const(v).and_then(|c| module.ctx.consts.as_u64(c));
    let len = args.get(len).and_then(|v| number(*v)).unwrap_or(ALL);
    Some(Copy { to: *args.get(dst)?, from: *args.get(src)?, len })
}
