//! What is implicit in a function is written out before it is analysed.
//!
//! A `byval` parameter is a copy that the caller makes. In derivatives the pointer is an ordinary one, so the copy is
//! made inside: a stack slot and a `memcpy` at the entry, whose derivatives are those of any other.

use enzyme_ir::{Builder, FuncId, InstId, Module, Type, ValueId};

/// Writes out the copies of `byval` parameters of `f`. Does nothing the second time.
pub fn by_value(module: &mut Module, f: FuncId) {
    if module.funcs[f].is_declaration() {
        return;
    }
    let params: Vec<(usize, ValueId)> = module.funcs[f].params.iter().copied().enumerate().collect();
    for (n, p) in params {
        let Some(ty) = module.funcs[f].param_attrs.get_mut(n).and_then(|a| a.byval.take()) else { continue };
        let types = &mut module.ctx.types;
        let (ptr, void, i64, i1) = (types.ptr(), types.void(), types.int(64), types.int(1));
        let Some(bytes) = module.ctx.layout.size_of(&module.ctx.types, ty) else { continue };
        if !matches!(module.ctx.types[module.funcs[f].ty(p)], Type::Ptr(_)) {
            continue;
        }
        let copy = module.declare("llvm.memcpy.p0.p0.i64", void, &[ptr, ptr, i64, i1]);
        let sig = module.funcs[copy].sig;
        let mut func = module.funcs[f].clone();
        let Some(entry) = func.entry() else { continue };
        let old: Vec<InstId> = std::mem::take(&mut func.blocks[entry].insts);
        let mut b = Builder::new(&mut module.ctx, &mut func, entry);
        let slot = b.alloca(ty);
        let (size, no) = (b.i64(bytes), b.zero(i1));
        b.call(copy, sig, &[slot, p, size, no]);
        func.blocks[entry].insts.extend(old.iter().copied());
        let all: Vec<InstId> = func.placed().map(|e| e.1).collect();
        for i in all.into_iter().filter(|i| !func.blocks[entry].insts[..2].contains(i)) {
            for a in &mut func.insts[i].args {
                if *a == p {
                    *a = slot;
                }
            }
        }
        module.funcs[f] = func;
    }
}
