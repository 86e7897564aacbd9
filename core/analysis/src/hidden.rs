//! Memory of callers that is only read here, as something of which the program does not say what it is, what is copied from there, and where
//! integers are put that carry floats: floats may lie in it that nobody here reads as such.
//!
//! Of memory that a function fills, the bytes that it copies there count, and not others, which are what it puts there.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::SecondaryMap;
use enzyme_ir::{Func, InstId, Module, Op, ValueId};

use crate::bits::Place;
use crate::callee::{Callee, MemoryEffect, resolve};
use crate::carry::Carry;
use crate::memory::{ClassId, FuncMemory};
use crate::program::outer_classes;

/// Such memory.
pub struct Hidden<'a> {
    memory: &'a FuncMemory,
    classes: BTreeSet<ClassId>,
    /// Bytes that were copied or put there, as far as their number is known.
    copied: BTreeMap<ClassId, BTreeSet<Place>>,
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
        let mut out = Hidden { memory, classes, copied: BTreeMap::new() };
        for (_, i) in func.placed() {
            let inst = &func.insts[i];
            if let (Op::Store(_), [v, p]) = (&inst.op, inst.args.as_slice())
                && matches!(carry[*v], Carry::Bits(..) | Carry::Unknown | Carry::Word)
            {
                out.add(*p, module.ctx.layout.store_size(&module.ctx.types, func.ty(*v)).unwrap_or(0));
            }
        }
        let copies: Vec<Copy> = func.placed().filter_map(|(_, i)| copy(module, func, i)).collect();
        let mut grows = true;
        while grows {
            grows = false;
            for Copy { to, from, len } in &copies {
                grows |= out.holds(*from, *len) && out.add(*to, *len);
            }
        }
        out
    }

    fn place(&self, p: ValueId, size: u64) -> Option<Place> {
        Some(Place { class: self.memory.class_of[p]?, span: self.memory.span_of[p], size })
    }

    /// Adds `len` bytes behind `p`; whether that is new.
    fn add(&mut self, p: ValueId, len: u64) -> bool {
        self.place(p, len).is_some_and(|place| self.copied.entry(place.class).or_default().insert(place))
    }

    /// Whether one of `len` bytes behind `p` is such.
    pub fn holds(&self, p: ValueId, len: u64) -> bool {
        self.place(p, len).is_some_and(|place| {
            let mut copied = self.copied.get(&place.class).into_iter().flatten();
            self.classes.contains(&place.class) || copied.any(|other| other.meets(place))
        })
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
