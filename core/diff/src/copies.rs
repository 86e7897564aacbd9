//! What the bytes of a bulk copy or fill are: the derivative adds floats, repeats pointers, leaves the rest.
//!
//! Where all that is put into the memory that is read is known, that decides; else all evidence about the memory on either side
//! counts (`enzyme_analysis::memory::Bytes`). Bytes of which nothing is
//! known matter only where somebody may read them as floats later: then the copy is refused.

use std::collections::BTreeSet;

use enzyme_analysis::callee::KnownCall;
use enzyme_analysis::{Carry, Object};
use enzyme_ir::{ByteRun, ByteType, Context, FloatKind, InstId, Module, Op, Type, ValueId};
use enzyme_rules::known::Reach;

use crate::keys::Subject;
use crate::refusal::{Refusal, RefusalKind};

const WORD: u64 = 8;

/// What the bytes are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Bytes {
    /// Floats of one format throughout.
    Floats(FloatKind),
    /// No floats; pointers if `true`.
    NoFloats(bool),
    /// This sequence, repeated with the period given.
    Runs(Vec<ByteRun>, u64),
    /// Evidence does not suffice, but there are characters in that memory, and these must be some: their shadow is zero,
    /// which the run checks. (A string that keeps short content in itself points to itself: its characters and what lies
    /// around it are of one class.)
    Characters,
    /// Doubles, pointers, integers and characters take turns there: the words tell what they are when the derivative runs.
    Words,
}

/// What instruction `i` moves to `places[0]`, from `places[1]` if there is one; `len` is the number of bytes.
pub fn classify(
    module: &Module,
    s: &Subject<'_>,
    i: InstId,
    places: &[ValueId],
    len: ValueId,
) -> Result<Bytes, Refusal> {
    classify_bytes(s, i, places, fixed_length(module, s, len))
}

fn fixed_length(module: &Module, s: &Subject<'_>, len: ValueId) -> Option<u64> {
    s.func.as_const(len).and_then(|c| module.ctx.consts.as_u64(c))
}

/// As [`classify`], for a length known or not.
pub fn classify_bytes(s: &Subject<'_>, i: InstId, places: &[ValueId], len: Option<u64>) -> Result<Bytes, Refusal> {
    let source = if let [_, source] = places { s.unit.memory.contents_at(*source, len) } else { None };
    let bytes = source.unwrap_or_else(|| s.unit.memory.bytes_at_all(places, len));
    // In memory that may be constant a value is rather moved as a whole than as so many characters, unless these are too few for one.
    let likely = len.is_none_or(|n| n < WORD) || !places.iter().any(|p| s.is_mixed(*p));
    let doubtful = || match likely && likely_characters(s, i, places) {
        true => Ok(Bytes::Characters),
        false => Err(Refusal::new(RefusalKind::UnknownType("the bytes written here")).at(i)),
    };
    if bytes.clash {
        // Words whose shadows are zero are moved as characters are.
        let told = places.len() == 2 && are_words(places, len, &|p| s.unit.memory.tells_words(p));
        return if told { Ok(Bytes::Words) } else { doubtful() };
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
        return doubtful();
    }
    Ok(match bytes.has_floats() {
        true => Bytes::Runs(bytes.runs, bytes.period),
        false => Bytes::NoFloats(bytes.has_pointers()),
    })
}

/// Whether all that may have a shadow in `len` bytes at these places are words that are told at run time, as `tells` says.
fn are_words(places: &[ValueId], len: Option<u64>, tells: &dyn Fn(ValueId) -> bool) -> bool {
    len.is_none_or(|n| n >= WORD) && places.iter().all(|p| tells(*p))
}

/// What the reallocation `i` of the memory at `places[1]`, which lies at `places[0]` from then on, moves: all of an object, which is
/// aligned.
pub fn classify_moved(s: &Subject<'_>, i: InstId, places: &[ValueId]) -> Result<Bytes, Refusal> {
    let mixed = places.iter().any(|p| s.is_mixed(*p));
    match classify_bytes(s, i, places, None)? {
        Bytes::Characters if !mixed && are_words(places, None, &|p| s.unit.memory.tells_words(p)) => Ok(Bytes::Words),
        Bytes::Words if !mixed => Ok(Bytes::Words),
        Bytes::Characters | Bytes::Words => Err(Refusal::new(RefusalKind::UnknownType("the bytes moved here")).at(i)),
        bytes => Ok(bytes),
    }
}

/// Whether what `i` moves are characters, as far as is known.
pub fn likely_characters(s: &Subject<'_>, i: InstId, places: &[ValueId]) -> bool {
    s.unit.facts.overlapping.contains(&i) || places.iter().any(|p| s.unit.memory.holds_characters(*p))
}

/// Whether a library function that computes nothing writes text, or other things without derivative, at its first argument
/// alone, where a structure is known to have no float: as much as it may write there by the rules of the language is none. Of
/// functions of Rust's library more is known: what makes text writes where no float lies if that has no shadow, whatever it shows, and
/// locks and output have none. So does what moves text in Fortran. Locks write their own objects, also within structures that have floats;
/// text comes to memory of its own.
pub fn writes_beside_floats(module: &Module, s: &Subject<'_>, i: InstId, known: &KnownCall) -> bool {
    let (args, result) = (s.func.call_args(i), s.func.insts[i].result);
    if known.facts.is_lock() || known.facts.is_text_alone() || enzyme_analysis::text::writes_no_float(module, s.func, i)
    {
        return true;
    }
    let of_text = enzyme_analysis::text::is_made(module, s.func, i) || known.facts.is_text();
    if of_text
        && let Reach::Args(written) = known.facts.effects.writes
        && written.iter().all(|n| args.get(usize::from(*n)).is_some_and(|a| !s.has_shadow(*a)))
        && !result.is_some_and(|r| s.has_shadow(r))
    {
        return true;
    }
    let first = matches!(known.facts.effects.writes, Reach::Args([0]));
    let taken = result.is_some_and(|r| s.has_shadow(r) && !s.unit.uses.of(r).is_empty());
    let (true, false, Some(p)) = (first, taken, args.first().copied()) else { return false };
    let Some(class) = s.unit.memory.class_of[p] else { return false };
    let laid_out = !s.unit.memory.classes[class].floats().is_empty();
    laid_out && !s.is_mixed(p) && s.unit.memory.floats_under(p, 1).is_some_and(|floats| floats.is_empty())
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
    if len >= 2 && s.unit.uses.is_constant_choice(s.func, v) && unknown() {
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

/// Whether the integer `v` of unknown content, which goes from or to memory at `p`, is taken for a character or another
/// integer beside some, with a check at run time.
pub fn taken_for_integer(s: &Subject<'_>, v: ValueId, p: ValueId) -> bool {
    let unknown = s.unit.carry[v] == Carry::Unknown && s.func.as_const(v).is_none();
    unknown && !s.is_mixed(p) && s.unit.memory.holds_characters(p)
}

/// The number of bytes of `v`, read by `i` at `p` as doubles and only moved, if pointers may lie there, too, and nothing tells them
/// apart.
pub fn hiding_pointers(module: &Module, s: &Subject<'_>, i: InstId, v: ValueId, p: ValueId) -> Option<u64> {
    let types = &module.ctx.types;
    let doubles = types.float_kind(s.func.ty(v)) == Some(FloatKind::Double);
    let stated = s.func.words.contains_key(&i) || s.unit.facts.access_types.contains_key(&i);
    let moved = || s.unit.uses.is_copied_only(module, s.func, v) && is_stored(s, v);
    let either = || s.has_shadow(p) && s.unit.memory.may_take_turns(p);
    (doubles && !stated && moved() && either()).then(|| module.ctx.layout.store_size(types, s.func.ty(v))).flatten()
}

/// Whether `v` is stored for sure where it is read, or where that way meets others: it may be read in vain elsewhere.
fn is_stored(s: &Subject<'_>, v: ValueId) -> bool {
    let (mut work, mut seen) = (vec![v], BTreeSet::from([v]));
    while let Some(v) = work.pop() {
        let Some(block) = s.func.def_inst(v).and_then(|i| s.shape.block_of[i]) else { continue };
        let goes_on = s.func.successors(block).len() == 1;
        for at in s.unit.uses.of(v) {
            let inst = &s.func.insts[*at];
            let here = s.shape.block_of[*at] == Some(block);
            match &inst.op {
                Op::Store(_) if here && inst.args.first() == Some(&v) => return true,
                Op::Freeze if here => work.extend(inst.result.filter(|r| seen.insert(*r))),
                Op::Phi(from) if goes_on => {
                    let mut ways = from.iter().zip(&inst.args);
                    if ways.any(|(x, a)| *x == block && *a == v) {
                        work.extend(inst.result.filter(|r| seen.insert(*r)));
                    }
                }
                _ => {}
            }
        }
    }
    false
}

/// The number of bytes of `v`, words that are taken for none of floats, if they are stored where doubles may lie.
pub fn hiding_bytes(module: &Module, s: &Subject<'_>, v: ValueId, p: ValueId) -> Option<u64> {
    let size = module.ctx.layout.store_size(&module.ctx.types, s.func.ty(v))?;
    let words = size >= WORD && size.is_multiple_of(WORD) && s.unit.carry[v] == Carry::None;
    (words && s.unit.memory.may_hide_doubles(p, 0, size)).then_some(size)
}

/// Whether doubles may lie in `len` bytes behind `p` where `bytes` has none.
pub fn hides_doubles(module: &Module, s: &Subject<'_>, bytes: &Bytes, p: ValueId, len: ValueId) -> bool {
    let hidden = |offset, size| s.unit.memory.may_hide_doubles(p, offset, size);
    match bytes {
        Bytes::NoFloats(_) => hidden(0, fixed_length(module, s, len).unwrap_or(1 << 40)),
        Bytes::Runs(runs, _) => {
            runs.iter().any(|r| !matches!(r.ty, ByteType::Float(_)) && r.size >= WORD && hidden(r.offset, r.size))
        }
        Bytes::Floats(_) | Bytes::Characters | Bytes::Words => false,
    }
}

/// Whether `v` is, or may be, as it was read from memory or came from a call.
pub fn is_moved(s: &Subject<'_>, v: ValueId) -> bool {
    let (mut work, mut seen) = (vec![v], BTreeSet::new());
    while let Some(v) = work.pop() {
        if !seen.insert(v) || s.func.as_const(v).is_some() {
            continue;
        }
        let Some(i) = s.func.def_inst(v) else { return true };
        let inst = &s.func.insts[i];
        match inst.op {
            Op::Phi(_) | Op::Freeze | Op::Cast(_) => work.extend(inst.args.iter().copied()),
            Op::Select => work.extend(inst.args.iter().skip(1).copied()),
            Op::Load(_) | Op::ExtractValue(_) => return true,
            _ if inst.op.call_info().is_some() => return true,
            _ => {}
        }
    }
    false
}

/// The floats known to lie where the integer `v` is stored that lose their content, by offset from `p`.
pub fn replaced(ctx: &Context, s: &Subject<'_>, v: ValueId, p: ValueId) -> Option<Vec<(i64, FloatKind)>> {
    let ty = s.func.ty(v);
    let none = matches!(s.unit.carry[v], Carry::None | Carry::Mixed) && !s.is_active(v);
    if !matches!(ctx.types[ty], Type::Int(_)) || !none || s.has_shadow(v) {
        return None;
    }
    match overwritten(s, v, p, ctx.layout.store_size(&ctx.types, ty).unwrap_or(0)) {
        Overwritten::Nothing | Overwritten::Bytes => None,
        Overwritten::Digits => Some(Vec::new()),
        Overwritten::Floats(lost) => lost.iter().all(|(o, k)| s.unit.memory.is_float_at(p, *o, *k)).then_some(lost),
    }
}

fn reaches_caller(s: &Subject<'_>, p: ValueId) -> bool {
    let Some(c) = s.unit.memory.class_of[p] else { return true };
    let objects = &s.unit.memory.classes[c].objects;
    s.unit.outer_classes.contains(&c) || objects.iter().any(|o| matches!(o, Object::Unknown(..)))
}
