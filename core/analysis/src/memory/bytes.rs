//! What a stretch of memory holds, byte by byte, from all that is known of its class.
//!
//! Evidence is ranked: what is known of one exact place goes before what is known of an array around it; how something is
//! accessed goes before what metadata states, that before what callers know, that before declarations. Of equal
//! evidence, a float goes before an integer (the adjoint of bytes that are no float is zero and stays so), a pointer
//! before an integer; a float and a pointer, or two floats that overlap, clash.
//!
//! Objects that one pointer may lead to are of one class, so an integer field of a structure may seem to lie in an array of
//! floats, and copies out of one constant may lay the integers of one structure over the floats of another. Where bytes are moved or
//! filled ([`Use::Moved`]) a float that is more than declared therefore goes before any integer: if there is none, its adjoint is zero.

use std::collections::{BTreeMap, BTreeSet};

use enzyme_ir::{ByteRun, ByteType, DataLayout, FloatKind, Type, TypeId, Types};

use super::span::gcd;
use super::{Class, Item, Proof, Span, Steps};

/// Beyond this length a copy is looked at as a repeating pattern.
const MAX_CELLS: u64 = 1 << 16;
/// The most items that the declaration of a type is worth.
const MAX_DECLARED: usize = 256;
/// Arrays up to this length are taken apart in declarations.
const SHORT: u64 = 16;
const POINTER: u64 = 8;

/// What a stretch of memory holds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Bytes {
    /// In order of offset; floats and pointers are whole.
    pub runs: Vec<ByteRun>,
    /// After this many bytes the runs repeat; the whole length if that is known.
    pub period: u64,
    /// The longest stretch of which nothing is known.
    pub gap: u64,
    /// Evidence contradicts itself.
    pub clash: bool,
}

impl Bytes {
    /// The formats of floats among the runs.
    pub fn has_floats(&self) -> bool {
        self.runs.iter().any(|r| matches!(r.ty, ByteType::Float(_)))
    }

    /// Whether there are pointers among the runs.
    pub fn has_pointers(&self) -> bool {
        self.runs.iter().any(|r| r.ty == ByteType::Pointer)
    }

    /// The one float format of all bytes.
    pub fn uniform(&self) -> Option<FloatKind> {
        let [ByteRun { ty: ByteType::Float(kind), .. }, rest @ ..] = self.runs.as_slice() else { return None };
        let whole: u64 = self.runs.iter().map(|r| r.size).sum();
        let same = rest.iter().all(|r| r.ty == ByteType::Float(*kind));
        (same && whole == self.period && !self.clash).then_some(*kind)
    }
}

/// What it is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// One access.
    Accessed,
    /// A copy or fill: no float may be lost.
    Moved,
}

/// How much evidence counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// Distance of the places that it speaks of: the farther apart, the less it is a guess for each.
    apart: u64,
    proof: Proof,
}

/// A copy or fill, in memory that is one object or several, which may hold different things at one offset.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Moved {
    several: bool,
}

#[derive(Clone, Copy, Default)]
struct Cell {
    rank: Option<Rank>,
    ty: Option<ByteType>,
    /// Which byte of its item this is.
    nth: u64,
    clash: bool,
}

/// What `len` bytes at each of the places are.
pub fn bytes_of(places: &[(&Class, Span)], len: Option<u64>, asked: Use) -> Bytes {
    let reach = len.unwrap_or(1 << 40);
    let mut found: Vec<(Item, Proof, Span)> = Vec::new();
    for (class, span) in places {
        let here = class.items.iter().filter(|(i, _)| i.span.overlaps(i.size, *span, reach));
        found.extend(here.map(|(i, p)| (*i, *p, *span)));
    }
    let Some((first, ..)) = found.first().copied() else {
        return Bytes { period: len.unwrap_or(1), gap: reach, ..Bytes::default() };
    };
    if let ByteType::Float(_) = first.ty
        && found.iter().all(|(i, ..)| i.ty == first.ty && i.size == first.size)
        && len.is_none_or(|n| n % float_stride(first.ty) == 0)
        && (found.iter().any(|(i, _, s)| i.span.stride != 0 || s.stride != 0) || covers(&found, len))
    {
        // Floats of one format and nothing else: what was never looked at is taken for one of them.
        let period = len.filter(|n| *n <= MAX_CELLS).unwrap_or(float_stride(first.ty));
        let runs = vec![ByteRun { offset: 0, size: period, ty: first.ty }];
        return Bytes { runs, period, gap: 0, clash: false };
    }
    // The pattern repeats with the least common multiple of the strides.
    let stride =
        found.iter().map(|(i, _, s)| gcd(i.span.stride, s.stride)).filter(|s| *s != 0).fold(0, common_multiple);
    let repeats = found.iter().all(|(i, _, s)| gcd(i.span.stride, s.stride) != 0);
    // Pointers of which not even the place in their own bytes is known: whatever is moved, their shadows are moved alike.
    let floats = found.iter().any(|(i, ..)| matches!(i.ty, ByteType::Float(_)));
    let anywhere = !floats
        && found.iter().any(|(i, _, s)| {
            let step = gcd(i.span.stride, s.stride);
            i.ty == ByteType::Pointer && step != 0 && step < i.size
        });
    let cells = match len {
        _ if anywhere => 0,
        Some(n) if repeats && stride <= MAX_CELLS && n.is_multiple_of(stride) => stride,
        Some(n) if n <= MAX_CELLS => n,
        _ if stride > 0 && stride <= MAX_CELLS => stride,
        _ => 0,
    };
    if cells == 0 {
        let pointers = found.iter().any(|(i, ..)| i.ty == ByteType::Pointer);
        let ty = if pointers { ByteType::Pointer } else { ByteType::Integer };
        let runs = vec![ByteRun { offset: 0, size: POINTER, ty }];
        return Bytes { runs, period: POINTER, gap: 0, clash: floats };
    }
    let whole = len == Some(cells);
    let mut map = vec![Cell::default(); cells as usize];
    let mut ranked: Vec<(Rank, u64, Item, Span)> = Vec::new();
    for (item, proof, span) in &found {
        let step = gcd(item.span.stride, span.stride);
        let step = if whole || step == 0 { step } else { gcd(step, cells) };
        // What the program states of an array holds for each of its elements.
        let sure = step == 0 || *proof == Proof::Asserted;
        let proof = if *proof == Proof::Copied { &Proof::Stated } else { proof };
        let mut rank = Rank { apart: if sure { u64::MAX } else { step }, proof: *proof };
        if item.ty == ByteType::Integer && (item.size == 1 || *proof == Proof::Declared) {
            // A character may be a byte of anything, and a declaration is no use.
            rank = Rank { apart: 0, proof: Proof::Declared };
        }
        if let ByteType::Float(_) = item.ty
            && step != 0
            && step < item.size
        {
            return Bytes { clash: true, ..Bytes::default() };
        }
        ranked.push((rank, step, *item, *span));
    }
    // What a copy takes from one object it puts into another of the same kind; a fill says nothing of what was there.
    let several = match places {
        [(class, _)] => class.mixes_objects(),
        _ => places.iter().any(|(class, _)| class.is_several()),
    };
    let moved = (asked == Use::Moved).then_some(Moved { several });
    // The strongest first: what contradicts only weaker evidence is no contradiction.
    ranked.sort_by_key(|(rank, ..)| std::cmp::Reverse(*rank));
    for (rank, step, item, span) in &ranked {
        let start = item.span.offset.wrapping_sub(span.offset);
        match i64::try_from(*step) {
            Ok(0) if whole => mark(&mut map, start, item, *rank, moved),
            Ok(0) => mark(&mut map, start.rem_euclid(cells as i64), item, *rank, moved),
            Ok(s) => {
                // What begins within the stretch and goes on behind it.
                let begins = whole && start > 0 && span.stride == 0 && item.span.way == Steps::Up;
                let ends = whole && span.stride == 0 && item.span.way == Steps::Down;
                let mut at = if begins { start } else { start.rem_euclid(s) };
                // An item that begins before the stretch and reaches into it.
                if whole && !begins && at + item.size as i64 > s {
                    mark(&mut map, at - s, item, *rank, moved);
                }
                while at < cells as i64 && (!ends || at <= start) {
                    mark(&mut map, at, item, *rank, moved);
                    at += s;
                }
            }
            Err(_) => {}
        }
    }
    collect(&map)
}

/// The least common multiple; beyond what a pattern may have, the last one.
fn common_multiple(a: u64, b: u64) -> u64 {
    match (a, a / gcd(a, b).max(1)) {
        (0, _) => b,
        (_, times) => times.checked_mul(b).filter(|n| *n <= MAX_CELLS).unwrap_or(b),
    }
}

/// Whether single floats fill `len` bytes.
fn covers(found: &[(Item, Proof, Span)], len: Option<u64>) -> bool {
    let offsets: BTreeSet<i64> = found.iter().map(|(i, _, s)| i.span.offset.wrapping_sub(s.offset)).collect();
    let size = found.first().map_or(1, |(i, ..)| float_stride(i.ty));
    len.is_none_or(|n| (0..n / size).all(|k| offsets.contains(&((k * size) as i64))))
}

fn mark(map: &mut [Cell], at: i64, item: &Item, rank: Rank, moved: Option<Moved>) {
    for nth in 0..item.size {
        let Some(cell) = usize::try_from(at + nth as i64).ok().and_then(|n| map.get_mut(n)) else { continue };
        let new = Cell { rank: Some(rank), ty: Some(item.ty), nth, clash: cell.clash };
        let stronger = cell.rank.max(Some(rank));
        if cell.rank != Some(rank) {
            // What is only declared must not turn a pointer into a float.
            let kinds = [cell.ty, Some(item.ty)].map(|t| t == Some(ByteType::Pointer));
            let somewhere = item.ty == ByteType::Pointer && rank.apart < item.size;
            let weak = stronger.is_some_and(|r| r.proof <= Proof::Passed) && !somewhere;
            // A float to a function, and a pointer to its callers: of what it moves, nobody knows which of them it is.
            let single = |r: Rank| r.proof >= Proof::Passed && r.apart == u64::MAX;
            let both = moved.is_some() && single(rank) && cell.rank.is_some_and(single);
            // Floats and pointers in places as far apart: they take turns there.
            let turns =
                moved.is_some() && rank.proof >= Proof::Passed && cell.rank.is_some_and(|r| r.apart == rank.apart);
            let several = moved == Some(Moved { several: true });
            let doubtful = (weak || both || turns || several) && item.ty != ByteType::Integer;
            cell.clash |= doubtful && cell.ty.is_some_and(|t| t != ByteType::Integer) && kinds[0] != kinds[1];
            let float = moved.is_some() && matches!(item.ty, ByteType::Float(_));
            if stronger == Some(rank) || float && cell.ty == Some(ByteType::Integer) {
                *cell = Cell { clash: cell.clash, ..new };
            }
            continue;
        }
        match (cell.ty, item.ty) {
            (Some(ByteType::Integer) | None, _) => *cell = new,
            (Some(_), ByteType::Integer) => {}
            (Some(ByteType::Pointer), ByteType::Pointer) => {}
            (Some(a), b) => cell.clash |= a != b || cell.nth != nth,
        }
    }
}

fn collect(map: &[Cell]) -> Bytes {
    let mut out = Bytes { period: map.len() as u64, ..Bytes::default() };
    let (mut at, mut gap) = (0usize, 0u64);
    while let Some(cell) = map.get(at) {
        out.clash |= cell.clash;
        let Some(ty) = cell.ty else {
            gap += 1;
            out.gap = out.gap.max(gap);
            at += 1;
            continue;
        };
        let whole = match ty {
            ByteType::Integer => 1,
            ByteType::Pointer => POINTER as usize,
            ByteType::Float(kind) => float_bytes(kind) as usize,
        };
        let rest = map.get(at..at + whole).unwrap_or(&[]);
        let fits = rest.len() == whole
            && (ty == ByteType::Integer
                || rest.iter().enumerate().all(|(n, c)| c.ty == Some(ty) && c.nth == n as u64 && !c.clash));
        if !fits {
            // Part of it is something else, of which more is known: then it is not what the rest was taken for.
            out.clash |= cell.rank.is_some_and(|r| r.apart == u64::MAX) && rest.len() < whole;
            gap += 1;
            out.gap = out.gap.max(gap);
            at += 1;
            continue;
        }
        gap = 0;
        // The padding of a format belongs to its values.
        let padded = if let ByteType::Float(_) = ty { float_stride(ty) as usize } else { whole };
        let padding = map.get(at + whole..at + padded).unwrap_or(&[]);
        let whole = if padding.iter().all(|c| c.ty.is_none()) { whole + padding.len() } else { whole };
        let size = whole as u64;
        match out.runs.last_mut() {
            Some(last) if last.ty == ty && last.offset + last.size == at as u64 => last.size += size,
            _ => out.runs.push(ByteRun { offset: at as u64, size, ty }),
        }
        at += whole;
    }
    out
}

/// Bytes that a float of this format is known by; those of `x86_fp80` are the ten that are written.
pub fn float_bytes(kind: FloatKind) -> u64 {
    u64::from(kind.bits()).div_ceil(8)
}

/// Whether integers are read or written in `len` bytes at `place`, of which the program does not say that they are floats.
fn is_computed_with(class: &Class, place: Span, len: u64) -> bool {
    let own = Item::new(place, len, ByteType::Integer);
    let asserted =
        |(item, proof): (&Item, &Proof)| *proof == Proof::Asserted && item.span.overlaps(item.size, place, len);
    class.items.get(&own).is_some_and(|p| *p >= Proof::Accessed) && !class.items.iter().any(asserted)
}

/// The floats of which `len` bytes at `place` are a part or the whole; `None` if that can't be told.
pub fn floats_under(class: &Class, place: Span, len: u64) -> Option<Vec<(i64, FloatKind)>> {
    let bytes = bytes_of(&[(class, place)], Some(len), Use::Accessed);
    if !bytes.clash && !bytes.has_floats() && bytes.gap < len {
        return Some(Vec::new());
    }
    // An array of integers that are computed with: floats that seem to reach into it are of another array.
    if is_computed_with(class, place, len) {
        return Some(Vec::new());
    }
    let mut out = Vec::new();
    for (item, proof) in &class.items {
        let ByteType::Float(kind) = item.ty else { continue };
        if *proof <= Proof::Declared || !item.span.overlaps(item.size, place, len) {
            continue;
        }
        let apart = item.span.offset.wrapping_sub(place.offset);
        match i64::try_from(gcd(item.span.stride, place.stride)).ok()? {
            0 => out.push((apart, kind)),
            step if (step as u64) < item.size => return None,
            step => {
                let begins = apart > 0 && place.stride == 0 && item.span.way == Steps::Up;
                let ends = place.stride == 0 && item.span.way == Steps::Down;
                let mut at = if begins { apart } else { apart.rem_euclid(step) };
                if !begins && at + item.size as i64 > step {
                    out.push((at - step, kind));
                }
                while at < len as i64 && (!ends || at <= apart) {
                    out.push((at, kind));
                    at += step;
                }
            }
        }
    }
    out.sort_unstable();
    out.dedup();
    Some(out)
}

/// The floats that may lose content where an integer that is computed with is stored in `len` bytes at `place`, as those of
/// [`floats_under`]. An integer may take the place of a float (a union, a float made of random bits), however much more is
/// known of the integer: `None` is the answer even if the floats seem to be of another array.
pub fn floats_replaced(class: &Class, place: Span, len: u64) -> Option<Vec<(i64, FloatKind)>> {
    if !is_computed_with(class, place, len) {
        return floats_under(class, place, len);
    }
    let mut out = Vec::new();
    for (item, proof) in &class.items {
        let ByteType::Float(kind) = item.ty else { continue };
        if *proof <= Proof::Declared || !item.span.overlaps(item.size, place, len) {
            continue;
        }
        if gcd(item.span.stride, place.stride) != 0 {
            return None;
        }
        out.push((item.span.offset.wrapping_sub(place.offset), kind));
    }
    Some(out)
}

/// Whether the `len` bytes at `place` may be just those of a float that is more than declared: of one array, whose elements are as
/// far apart as whole floats.
pub fn is_also_float(class: &Class, place: Span, len: u64) -> bool {
    class.items.iter().any(|(item, proof)| {
        let ByteType::Float(kind) = item.ty else { return false };
        let apart = item.span.offset.wrapping_sub(place.offset);
        let step = gcd(item.span.stride, place.stride);
        let meets =
            if step == 0 { apart == 0 } else { step.is_multiple_of(len) && apart.unsigned_abs().is_multiple_of(step) };
        *proof > Proof::Declared && float_bytes(kind) == len && item.size == len && meets
    })
}

/// Whether a float of this format at `place` is more than a guess from an array that only seems to come here: nothing
/// better is known of any of its bytes.
pub fn is_float_at(class: &Class, place: Span, kind: FloatKind) -> bool {
    let size = float_bytes(kind);
    let there = bytes_of(&[(class, place)], Some(size), Use::Accessed);
    matches!(there.runs.as_slice(), [r] if r.ty == ByteType::Float(kind) && r.size >= size)
}

/// The only format of floats that are as long as `len` bytes at `place` and lie there exactly, where all else that is known
/// of these bytes is that they were integers.
pub fn float_or_integer(class: &Class, place: Span, len: u64) -> Option<FloatKind> {
    let mut found = None;
    // A declaration is no use against integers that are computed with just there.
    let counted = class.items.get(&Item::new(place, len, ByteType::Integer)).is_some_and(|p| *p >= Proof::Accessed);
    for (item, proof) in class.items.iter().filter(|(item, _)| item.span.overlaps(item.size, place, len)) {
        match item.ty {
            ByteType::Integer => {}
            ByteType::Float(_) if counted && *proof == Proof::Declared => {}
            ByteType::Float(kind) if found.is_none_or(|k| k == kind) => found = Some(kind),
            ByteType::Pointer | ByteType::Float(_) => return None,
        }
    }
    // No float begins at another byte and only overlaps.
    let none = |at: Span| class.items.keys().all(|i| i.ty == ByteType::Integer || !i.span.overlaps(1, at, 1));
    let exact = |n: u64| none(place.shift(n as i64)) && none(place.shift((n as i64).wrapping_neg()));
    found.filter(|kind| float_bytes(*kind) == len && (1..len).all(exact))
}

/// Distance of the values in an array of floats; one for all else.
pub fn float_stride(ty: ByteType) -> u64 {
    match ty {
        ByteType::Float(FloatKind::X86Fp80) => 16,
        ByteType::Float(kind) => float_bytes(kind),
        ByteType::Pointer | ByteType::Integer => 1,
    }
}

/// Items that appear at `to` when `len` bytes are copied there from `from`, where `items` are known.
pub fn copied_items(
    items: &BTreeMap<Item, Proof>,
    from: Span,
    to: Span,
    len: Option<u64>,
    same: bool,
) -> Vec<(Item, Proof)> {
    let mut out = Vec::new();
    // A stretch of any length that moves within one memory to where it cannot be told says hardly anything of what lies where.
    let vague = same && len.is_none() && (1..POINTER).contains(&to.stride.min(from.stride));
    let most = if vague { Proof::Declared } else { Proof::Copied };
    for (item, proof) in items {
        if let Some(span) = moved_span(item.span, item.size, from, to, len, same) {
            out.push((Item { span, ..*item }, (*proof).min(most)));
        }
    }
    out
}

/// Where something of `size` bytes at `what` is after `len` bytes were copied from `from` to `to`; `same` if both are
/// of one class.
pub fn moved_span(what: Span, size: u64, from: Span, to: Span, len: Option<u64>, same: bool) -> Option<Span> {
    let reach = len.unwrap_or(1 << 40);
    if !what.overlaps(size, from, reach) {
        return None;
    }
    let step = gcd(what.stride, from.stride);
    let apart = what.offset.wrapping_sub(from.offset);
    let within = match i64::try_from(step) {
        Ok(0) => Span::at((apart >= 0 && (apart as u64).saturating_add(size) <= reach).then_some(apart)?),
        Ok(s) if reach <= step => {
            let r = apart.rem_euclid(s);
            Span::at((r as u64 + size <= reach).then_some(r)?)
        }
        // What begins within the stretch and goes on behind it.
        Ok(_) if apart > 0 && from.stride == 0 && what.way == Steps::Up => Span::at(apart).step(step, Steps::Up),
        Ok(s) => Span::at(apart.rem_euclid(s)).step(step, Steps::Up),
        Err(_) => return None,
    };
    let span = to.plus(within);
    // What is copied within one memory again and again would wander without end.
    Some(if same && len.is_none() { span.step(to.offset.abs_diff(from.offset), Steps::Both) } else { span })
}

/// What the declaration of a type says of its bytes; characters may stand for the bytes of anything and say nothing.
pub fn items_of_type(layout: &DataLayout, types: &Types, ty: TypeId) -> Vec<Item> {
    let mut out = Vec::new();
    let mut work = vec![(ty, Span::at(0))];
    while let Some((ty, span)) = work.pop() {
        if out.len() >= MAX_DECLARED {
            break;
        }
        match &types[ty] {
            Type::Float(kind) => out.push(Item::new(span, float_bytes(*kind), ByteType::Float(*kind))),
            Type::Ptr(space) => {
                let size = u64::from(layout.pointer_bits(*space) / 8);
                out.push(Item::new(span, size, ByteType::Pointer));
            }
            Type::Int(bits) if *bits > 8 => {
                if let Some(size) = layout.store_size(types, ty) {
                    out.push(Item::new(span, size, ByteType::Integer));
                }
            }
            Type::Array { elem, len: count } => {
                match layout.size_of(types, *elem) {
                    // Elements of short arrays are told apart, so that they do not reach into what follows.
                    Some(size) if *count <= SHORT => {
                        work.extend((0..*count).map(|n| (*elem, span.shift((n * size) as i64))));
                    }
                    Some(size) => work.push((*elem, span.step(size, Steps::Up))),
                    None => {}
                }
            }
            Type::Vector { elem, len: count, .. } => {
                if let (Some(size), true) = (layout.size_of(types, *elem), *count > 0) {
                    work.push((*elem, if *count > 1 { span.step(size, Steps::Up) } else { span }));
                }
            }
            Type::Struct(s) => {
                let Some((offsets, _)) = layout.fields(types, s) else { continue };
                for (offset, field) in offsets.iter().zip(s.fields.iter().flatten()) {
                    work.push((*field, span.shift(*offset as i64)));
                }
            }
            _ => {}
        }
    }
    out
}
