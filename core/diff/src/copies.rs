//! What the bytes of a bulk copy or fill are: the derivative adds floats, repeats pointers, leaves the rest.
//!
//! Evidence in order: what metadata states for the very instruction, if it leaves no gap that could hold a float; that the memory holds one float format throughout,
//! or none; the declared type of a stack slot or parameter that is copied whole. Without evidence the copy is refused
//! where the memory has a shadow.

use enzyme_analysis::{ClassId, Object};
use enzyme_ir::{ByteRun, ByteType, FloatKind, InstId, Module, Op, Type, TypeId, ValueDef, ValueId};

use crate::keys::Subject;
use crate::refusal::{Refusal, RefusalKind};

/// The most scalars that a copied type is taken apart into.
const MAX_SCALARS: usize = 1024;

/// What the bytes are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Bytes {
    /// Floats of one format throughout.
    Floats(FloatKind),
    /// No floats; pointers if `true`.
    NoFloats(bool),
    /// This sequence, repeated with the period given.
    Runs(Vec<ByteRun>, u64),
}

/// What a copy of `i` between memory reached by `pointers` moves.
pub fn classify(module: &Module, s: &Subject<'_>, i: InstId, pointers: &[ValueId]) -> Result<Bytes, Refusal> {
    let classes: Vec<ClassId> = pointers.iter().filter_map(|p| s.unit.memory.class_of[*p]).collect();
    let (mut floats, mut has_pointers, mut integers) = (std::collections::BTreeSet::new(), false, false);
    for c in &classes {
        let class = &s.unit.memory.classes[*c];
        floats.extend(class.all_floats());
        has_pointers |= class.pointers;
        integers |= class.integers;
    }
    if let Some(runs) = s.unit.facts.access_types.get(&i).filter(|r| names_every_float(module, s, i, r, &floats)) {
        let period = runs.last().map_or(0, |r| r.offset + r.size);
        return Ok(Bytes::Runs(runs.clone(), period));
    }
    let only = floats.first().copied();
    match (only, floats.len(), has_pointers || integers) {
        // Memory in which nobody here ever sees a float may still hold floats for the caller.
        (None, _, _) if !reaches_caller(s, &classes) || has_pointers || integers => {
            return Ok(Bytes::NoFloats(has_pointers));
        }
        (Some(kind), 1, false) => return Ok(Bytes::Floats(kind)),
        _ => {}
    }
    for p in pointers {
        if let Some((runs, period)) = declared(module, s, *p) {
            return Ok(Bytes::Runs(runs, period));
        }
    }
    Err(Refusal::new(RefusalKind::UnknownType("the bytes copied here")).at(i))
}

/// Whether `runs` leave no gap in which a float could hide: compilers describe arrays inside of structures as
/// characters, which the importer leaves out. Without a float seen in the memory the smallest one counts.
fn names_every_float(
    module: &Module,
    s: &Subject<'_>,
    i: InstId,
    runs: &[ByteRun],
    floats: &std::collections::BTreeSet<FloatKind>,
) -> bool {
    let smallest = floats.iter().map(|k| u64::from(k.bits() / 8)).min().unwrap_or(2);
    let length = s.func.call_args(i).get(2).and_then(|n| s.func.as_const(*n)).and_then(|c| module.ctx.consts.as_u64(c));
    let Some(length) = length else { return false };
    let mut at = 0;
    for r in runs {
        if r.offset < at || r.offset - at >= smallest {
            return false;
        }
        at = r.offset + r.size;
    }
    !runs.is_empty() && at <= length && length - at < smallest
}

fn reaches_caller(s: &Subject<'_>, classes: &[ClassId]) -> bool {
    classes.iter().any(|c| {
        let objects = &s.unit.memory.classes[*c].objects;
        s.unit.outer_classes.contains(c) || objects.iter().any(|o| matches!(o, Object::Unknown(..)))
    })
}

/// The declared type of what `p` is the start of.
fn declared(module: &Module, s: &Subject<'_>, p: ValueId) -> Option<(Vec<ByteRun>, u64)> {
    match s.func.values[p].def {
        ValueDef::Inst(i) => match &s.func.insts[i].op {
            Op::Alloca { elem, .. } => runs_of(module, *elem),
            Op::Gep { elem, .. } => match &module.ctx.types[*elem] {
                // An element of an array of structures.
                Type::Struct(_) if s.func.insts[i].args.len() == 2 => runs_of(module, *elem),
                _ => None,
            },
            _ => None,
        },
        ValueDef::Param(n) => {
            let by_type = s.func.param_attrs.get(n as usize).and_then(|a| a.byval.or(a.sret));
            if let Some(ty) = by_type {
                return runs_of(module, ty);
            }
            let runs = s.unit.facts.param_types.get(&n)?.clone();
            let period = runs.last().map(|r| r.offset + r.size)?;
            Some((runs, period))
        }
        ValueDef::Const(_) => None,
    }
}

fn runs_of(module: &Module, ty: TypeId) -> Option<(Vec<ByteRun>, u64)> {
    let layout = &module.ctx.layout;
    let types = &module.ctx.types;
    let period = layout.size_of(types, ty)?;
    let mut runs = Vec::new();
    for (offset, scalar) in layout.scalars(types, ty, MAX_SCALARS)? {
        let kind = match types[scalar] {
            Type::Float(k) => ByteType::Float(k),
            Type::Ptr(_) => ByteType::Pointer,
            // Characters may stand for the bytes of anything.
            Type::Int(8) => return None,
            _ => ByteType::Integer,
        };
        runs.push(ByteRun { offset, size: layout.store_size(types, scalar)?, ty: kind });
    }
    Some((runs, period))
}
