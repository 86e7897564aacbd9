//! What the bytes of a bulk copy or fill are: the derivative adds floats, repeats pointers, leaves the rest.
//!
//! All evidence about the memory on either side counts (`enzyme_analysis::memory::Bytes`). Bytes of which nothing is
//! known matter only where somebody may read them as floats later: then the copy is refused.

use enzyme_analysis::Object;
use enzyme_ir::{ByteRun, ByteType, FloatKind, InstId, Module, ValueId};

use crate::keys::Subject;
use crate::refusal::{Refusal, RefusalKind};

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

/// What instruction `i` moves to `places[0]`, from `places[1]` if there is one; `len` is the number of bytes.
pub fn classify(
    module: &Module,
    s: &Subject<'_>,
    i: InstId,
    places: &[ValueId],
    len: ValueId,
) -> Result<Bytes, Refusal> {
    let fixed = s.func.as_const(len).and_then(|c| module.ctx.consts.as_u64(c));
    classify_bytes(s, i, places, fixed)
}

/// As [`classify`], for a length known or not.
pub fn classify_bytes(s: &Subject<'_>, i: InstId, places: &[ValueId], len: Option<u64>) -> Result<Bytes, Refusal> {
    let bytes = s.unit.memory.bytes_at_all(places, len);
    if bytes.clash {
        return Err(Refusal::new(RefusalKind::UnknownType("the bytes written here")).at(i));
    }
    if let Some(kind) = bytes.uniform() {
        return Ok(Bytes::Floats(kind));
    }
    let float = |r: &ByteRun| match r.ty {
        ByteType::Float(kind) => Some(u64::from(kind.bits() / 8)),
        ByteType::Pointer | ByteType::Integer => None,
    };
    let smallest = bytes.runs.iter().filter_map(float).min();
    let hides_float = match smallest {
        Some(size) => bytes.gap >= size,
        None => bytes.gap >= 8 || bytes.runs.is_empty() && bytes.gap >= 2,
    };
    if hides_float && places.first().is_some_and(|p| reaches_caller(s, *p)) {
        return Err(Refusal::new(RefusalKind::UnknownType("the bytes written here")).at(i));
    }
    Ok(match bytes.has_floats() {
        true => Bytes::Runs(bytes.runs, bytes.period),
        false => Bytes::NoFloats(bytes.has_pointers()),
    })
}

/// What becomes of floats where something that is none is stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Overwritten {
    /// There is none.
    Nothing,
    /// They lose no more than digits: sign and exponent stay, and so does what the float depends on.
    Digits,
    /// These lose their content, by offset from the place.
    Floats(Vec<(i64, FloatKind)>),
    /// Some lose it; where they begin can't be told. Constant bits may be those of floats in memory of which only callers
    /// know what it holds.
    Bytes,
}

/// What becomes of floats where `len` bytes of `v`, which is no float, are stored at `p`.
pub fn overwritten(s: &Subject<'_>, v: ValueId, p: ValueId, len: u64) -> Overwritten {
    let unknown = || s.unit.memory.bytes_at(p, Some(len)).runs.is_empty() && reaches_caller(s, p);
    if len >= 2 && s.func.as_const(v).is_some() && unknown() {
        return Overwritten::Bytes;
    }
    let Some(mut floats) = s.unit.memory.floats_replaced(p, len) else { return Overwritten::Bytes };
    if floats.is_empty() {
        return Overwritten::Nothing;
    }
    // The last byte in memory has the sign (little-endian).
    floats.retain(|(offset, kind)| offset.saturating_add(i64::from(kind.bits().div_ceil(8))) <= len as i64);
    if floats.is_empty() { Overwritten::Digits } else { Overwritten::Floats(floats) }
}

fn reaches_caller(s: &Subject<'_>, p: ValueId) -> bool {
    let Some(c) = s.unit.memory.class_of[p] else { return true };
    let objects = &s.unit.memory.classes[c].objects;
    s.unit.outer_classes.contains(&c) || objects.iter().any(|o| matches!(o, Object::Unknown(..)))
}
