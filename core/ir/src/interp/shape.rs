//! How a value of a type lies in registers and in memory.
//!
//! A register is one 64-bit word. A scalar takes `ceil(bits / 64)` words, zero-extended; vectors, arrays and
//! structures are their scalars one after another, so that taking an element out is a copy of words and no value
//! needs the heap. In memory a scalar stands at a bit offset: lanes of vectors are packed without padding (LLVM
//! LangRef, "Vector Type"), everything else starts at a byte.
//!
//! Scalable vectors have `vscale` = 1. Only little-endian layouts are handled.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::trap::Trap;
use super::value::Val;
use crate::ids::TypeId;
use crate::module::Module;
use crate::types::{FloatKind, Type};

/// Most scalars that one first-class value may have.
const MAX_LANES: u64 = 1 << 22;

/// A type without parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scalar {
    /// Integer of that many bits.
    Int(u32),
    /// Float.
    Float(FloatKind),
    /// 64-bit pointer.
    Ptr,
}

impl Scalar {
    /// Width in bits.
    pub fn bits(self) -> u32 {
        match self {
            Scalar::Int(bits) => bits,
            Scalar::Float(kind) => kind.bits(),
            Scalar::Ptr => 64,
        }
    }

    /// Registers taken.
    pub fn words(self) -> u32 {
        self.bits().div_ceil(64).max(1)
    }

    /// Bytes that a store writes.
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }
}

/// One scalar of a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lane {
    /// First register, counted from that of the value.
    pub word: u32,
    /// Place in memory, in bits from the start of the value.
    pub bit: u64,
    /// What it is.
    pub scalar: Scalar,
}

/// All scalars of a type.
#[derive(Debug)]
pub(super) struct Flat {
    /// In order of registers and of memory.
    pub lanes: Vec<Lane>,
    /// Registers taken by the whole.
    pub words: u32,
    /// Bytes that a store writes.
    pub bytes: u64,
}

impl Flat {
    /// Encodes `words` into `bytes`; padding is left alone.
    pub fn write(&self, words: &[u64], bytes: &mut [u8]) -> Option<()> {
        for lane in &self.lanes {
            let from = words.get(lane.word as usize..(lane.word + lane.scalar.words()) as usize)?;
            put_bits(bytes, lane.bit, lane.scalar.bits(), from)?;
        }
        Some(())
    }

    /// Decodes `bytes` into `words`.
    pub fn read(&self, bytes: &[u8], words: &mut [u64]) -> Option<()> {
        for lane in &self.lanes {
            let to = words.get_mut(lane.word as usize..(lane.word + lane.scalar.words()) as usize)?;
            take_bits(bytes, lane.bit, lane.scalar.bits(), to)?;
        }
        Some(())
    }
}

/// Writes `bits` bits at bit `at`; what is left of the last byte becomes zero, what stands before `at` in the
/// first byte stays.
fn put_bits(bytes: &mut [u8], at: u64, bits: u32, words: &[u64]) -> Option<()> {
    let (first, shift) = (usize::try_from(at / 8).ok()?, (at % 8) as u32);
    if let (64, 0, [word]) = (bits, shift, words) {
        *bytes.get_mut(first..)?.first_chunk_mut()? = word.to_le_bytes();
        return Some(());
    }
    let count = (bits + shift).div_ceil(8) as usize;
    let target = bytes.get_mut(first..first.checked_add(count)?)?;
    if shift == 0 {
        for (i, byte) in target.iter_mut().enumerate() {
            *byte = (words.get(i / 8)? >> (8 * (i % 8))) as u8;
        }
        return Some(());
    }
    let kept = *target.first()? & ((1u8 << shift) - 1);
    for (i, byte) in target.iter_mut().enumerate() {
        let low = source_byte(words, i.checked_mul(8)? as i64 - i64::from(shift));
        *byte = low;
    }
    *target.first_mut()? |= kept;
    Some(())
}

/// The eight bits of `words` from bit `at` on, which may lie partly outside.
fn source_byte(words: &[u64], at: i64) -> u8 {
    (0..8).fold(0, |byte, i| {
        let bit = at + i;
        let word = usize::try_from(bit.div_euclid(64)).ok().and_then(|w| words.get(w)).copied().unwrap_or(0);
        byte | ((((word >> bit.rem_euclid(64)) & 1) as u8) << i)
    })
}

fn take_bits(bytes: &[u8], at: u64, bits: u32, words: &mut [u64]) -> Option<()> {
    let (first, shift) = (usize::try_from(at / 8).ok()?, (at % 8) as u32);
    match (bits, shift, &mut *words) {
        (64, 0, [word]) => {
            *word = u64::from_le_bytes(*bytes.get(first..)?.first_chunk()?);
            return Some(());
        }
        (32, 0, [word]) => {
            *word = u64::from(u32::from_le_bytes(*bytes.get(first..)?.first_chunk()?));
            return Some(());
        }
        _ => {}
    }
    let count = (bits + shift).div_ceil(8) as usize;
    let source = bytes.get(first..first.checked_add(count)?)?;
    words.fill(0);
    for (i, byte) in source.iter().enumerate() {
        let place = i as i64 * 8 - i64::from(shift);
        if place < 0 {
            *words.first_mut()? |= u64::from(*byte >> shift);
            continue;
        }
        let (word, offset) = (place as usize / 64, place as u32 % 64);
        if let Some(w) = words.get_mut(word) {
            *w |= u64::from(*byte) << offset;
        }
        if offset > 56
            && let Some(w) = words.get_mut(word + 1)
        {
            *w |= u64::from(*byte) >> (64 - offset);
        }
    }
    if !bits.is_multiple_of(64) {
        *words.last_mut()? &= u64::MAX >> (64 - bits % 64);
    }
    Some(())
}

/// Shapes of the types of a module, computed once each.
pub(super) struct Shapes<'m> {
    module: &'m Module,
    cache: RefCell<HashMap<TypeId, Rc<Flat>>>,
}

impl<'m> Shapes<'m> {
    pub fn new(module: &'m Module) -> Shapes<'m> {
        Shapes { module, cache: RefCell::new(HashMap::new()) }
    }

    /// The type itself.
    pub fn ty(&self, ty: TypeId) -> &'m Type {
        &self.module.ctx.types[ty]
    }

    /// The scalar that `ty` is, if it is one.
    pub fn scalar(&self, ty: TypeId) -> Option<Scalar> {
        match self.ty(ty) {
            Type::Int(bits) => Some(Scalar::Int(*bits)),
            Type::Float(kind) => Some(Scalar::Float(*kind)),
            Type::Ptr(_) => Some(Scalar::Ptr),
            _ => None,
        }
    }

    /// Number of lanes and lane type of a scalar (one lane) or vector.
    pub fn lanes(&self, ty: TypeId) -> Result<(u32, Scalar), Trap> {
        let (len, elem) = match self.ty(ty) {
            Type::Vector { elem, len, .. } => (*len, *elem),
            _ => (1, ty),
        };
        let scalar = self.scalar(elem).ok_or_else(|| Trap::unsupported("a lane that is not a scalar"))?;
        Ok((len, scalar))
    }

    /// Bytes from one array element of `ty` to the next.
    pub fn size_of(&self, ty: TypeId) -> Result<u64, Trap> {
        let (types, layout) = (&self.module.ctx.types, &self.module.ctx.layout);
        let size = match &types[ty] {
            Type::Vector { scalable: true, .. } => Some(self.flat(ty)?.bytes.next_power_of_two()),
            _ => layout.size_of(types, ty),
        };
        size.ok_or_else(|| Trap::unsupported("a type without a size in memory"))
    }

    /// The scalars of a type.
    pub fn flat(&self, ty: TypeId) -> Result<Rc<Flat>, Trap> {
        if let Some(found) = self.cache.borrow().get(&ty) {
            return Ok(Rc::clone(found));
        }
        let mut lanes = Vec::new();
        let words = self.push_lanes(ty, 0, 0, &mut lanes)?;
        let types = &self.module.ctx.types;
        let bytes = match &types[ty] {
            Type::Vector { .. } => lanes.iter().map(|l| u64::from(l.scalar.bits())).sum::<u64>().div_ceil(8),
            _ => self.module.ctx.layout.store_size(types, ty).unwrap_or(0),
        };
        let flat = Rc::new(Flat { lanes, words, bytes });
        self.cache.borrow_mut().insert(ty, Rc::clone(&flat));
        Ok(flat)
    }

    /// Appends the scalars of `ty` at `bit` of memory and register `word`; the next free register.
    fn push_lanes(&self, ty: TypeId, bit: u64, word: u32, out: &mut Vec<Lane>) -> Result<u32, Trap> {
        let (types, layout) = (&self.module.ctx.types, &self.module.ctx.layout);
        let too_large = || Trap::unsupported("a first-class value with too many elements");
        let no_size = || Trap::unsupported("a value of a type without a size");
        let mut next = word;
        match &types[ty] {
            Type::Int(_) | Type::Float(_) | Type::Ptr(_) => {
                if let Type::Ptr(space) = &types[ty]
                    && layout.pointer_bits(*space) != 64
                {
                    return Err(Trap::unsupported(format!("pointers of {} bits", layout.pointer_bits(*space))));
                }
                let scalar = self.scalar(ty).ok_or_else(no_size)?;
                if out.len() as u64 >= MAX_LANES {
                    return Err(too_large());
                }
                out.push(Lane { word, bit, scalar });
                next = word.checked_add(scalar.words()).ok_or_else(too_large)?;
            }
            Type::Vector { elem, len, .. } => {
                let step = u64::from(self.scalar(*elem).ok_or_else(no_size)?.bits());
                for i in 0..u64::from(*len) {
                    next = self.push_lanes(*elem, bit + i * step, next, out)?;
                }
            }
            Type::Array { elem, len } => {
                let step = layout.size_of(types, *elem).ok_or_else(no_size)?;
                let inner = self.flat(*elem)?;
                if inner.words == 0 {
                    return Ok(word);
                }
                if len.saturating_mul(inner.lanes.len().max(1) as u64) > MAX_LANES {
                    return Err(too_large());
                }
                for i in 0..*len {
                    let offset = step.saturating_mul(i).saturating_mul(8).saturating_add(bit);
                    let moved = |l: &Lane| Lane { word: l.word + next, bit: l.bit.saturating_add(offset), ..*l };
                    out.extend(inner.lanes.iter().map(moved));
                    next = next.checked_add(inner.words).ok_or_else(too_large)?;
                }
            }
            Type::Struct(s) => {
                let fields = s.fields.as_deref().unwrap_or(&[]);
                let (offsets, _) = layout.fields(types, s).ok_or_else(no_size)?;
                for (field, offset) in fields.iter().zip(offsets) {
                    next = self.push_lanes(*field, bit.saturating_add(offset.saturating_mul(8)), next, out)?;
                }
            }
            // Tokens and metadata are carried as one word that nobody reads.
            Type::Token | Type::Metadata | Type::Label | Type::Void | Type::TargetExt { .. } => next = word + 1,
            Type::Func { .. } | Type::X86Amx => return Err(no_size()),
        }
        Ok(next)
    }

    /// First register and type of the element that `path` leads to.
    pub fn element(&self, ty: TypeId, path: &[u32]) -> Result<(u32, TypeId), Trap> {
        let outside = || Trap::fault("an element path that leaves its type");
        let Some((first, rest)) = path.split_first() else { return Ok((0, ty)) };
        let (skipped, elem) = match self.ty(ty) {
            Type::Array { elem, len } if u64::from(*first) < *len => (self.flat(*elem)?.words * first, *elem),
            Type::Struct(s) => {
                let fields = s.fields.as_deref().unwrap_or(&[]);
                let elem = *fields.get(*first as usize).ok_or_else(outside)?;
                let mut words = 0;
                for before in fields.iter().take(*first as usize) {
                    words += self.flat(*before)?.words;
                }
                (words, elem)
            }
            _ => return Err(outside()),
        };
        let (inner, found) = self.element(elem, rest)?;
        Ok((skipped + inner, found))
    }

    /// Appends the words of `value` as a value of `ty`.
    pub fn push_words(&self, value: &Val, ty: TypeId, out: &mut Vec<u64>) -> Result<(), Trap> {
        let mismatch = || Trap::fault(format!("a value of another type than expected: {value:?}"));
        if let Some(scalar) = self.scalar(ty) {
            return push_scalar(value, scalar, out).ok_or_else(mismatch);
        }
        let Val::Agg(elements) = value else { return Err(mismatch()) };
        let children = self.module.ctx.types.children(ty);
        let expected: u64 = children.iter().map(|(_, n)| n).sum();
        if expected != elements.len() as u64 {
            return Err(mismatch());
        }
        let kinds = children.iter().flat_map(|(c, n)| std::iter::repeat_n(*c, *n as usize));
        for (element, child) in elements.iter().zip(kinds) {
            self.push_words(element, child, out)?;
        }
        Ok(())
    }

    /// Reads a value of `ty` from the front of `words`, which moves on.
    pub fn take_value(&self, ty: TypeId, words: &mut &[u64]) -> Result<Val, Trap> {
        if let Some(scalar) = self.scalar(ty) {
            let short = || Trap::fault("a value that is cut short");
            let (head, tail) = words.split_at_checked(scalar.words() as usize).ok_or_else(short)?;
            *words = tail;
            return Ok(scalar_value(scalar, head));
        }
        let mut elements = Vec::new();
        for (child, count) in self.module.ctx.types.children(ty) {
            for _ in 0..count {
                elements.push(self.take_value(child, words)?);
            }
        }
        Ok(Val::Agg(elements))
    }
}

/// Joins one or two words.
pub(super) fn join(words: &[u64]) -> u128 {
    let word = |i: usize| u128::from(words.get(i).copied().unwrap_or(0));
    word(0) | (word(1) << 64)
}

/// The readable form of a scalar.
pub(super) fn scalar_value(scalar: Scalar, words: &[u64]) -> Val {
    match scalar {
        Scalar::Int(bits) if bits > 128 => Val::Wide(words.to_vec()),
        Scalar::Int(_) => Val::Int(join(words)),
        Scalar::Float(kind) => Val::from_float_bits(kind, join(words)),
        Scalar::Ptr => Val::Ptr(words.first().copied().unwrap_or(0)),
    }
}

/// The bits of `value` above `bits` cut off.
pub(super) fn cut(value: u128, bits: u32) -> u128 {
    if bits >= 128 { value } else { value & ((1 << bits) - 1) }
}

fn push_scalar(value: &Val, scalar: Scalar, out: &mut Vec<u64>) -> Option<()> {
    match (scalar, value) {
        (Scalar::Int(bits), Val::Int(x)) if bits <= 128 => {
            let x = cut(*x, bits);
            out.push(x as u64);
            if bits > 64 {
                out.push((x >> 64) as u64);
            }
        }
        (Scalar::Int(bits), Val::Ptr(x)) if bits <= 64 => out.push(cut(u128::from(*x), bits) as u64),
        (Scalar::Int(bits), Val::Wide(words)) if words.len() == scalar.words() as usize => {
            out.extend_from_slice(words);
            if !bits.is_multiple_of(64) {
                *out.last_mut()? &= u64::MAX >> (64 - bits % 64);
            }
        }
        (Scalar::Float(kind), _) => {
            let (found, bits) = value.float_bits()?;
            if found != kind {
                return None;
            }
            out.push(bits as u64);
            if kind.bits() > 64 {
                out.push((bits >> 64) as u64);
            }
        }
        (Scalar::Ptr, Val::Ptr(x)) => out.push(*x),
        (Scalar::Ptr, Val::Int(x)) => out.push(*x as u64),
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_packed_and_taken_back() {
        let lanes = (0..5).map(|i| Lane { word: i, bit: u64::from(i) * 3, scalar: Scalar::Int(3) }).collect();
        let flat = Flat { lanes, words: 5, bytes: 2 };
        let values = [5u64, 0, 7, 2, 6];
        let mut bytes = [0xffu8; 2];
        flat.write(&values, &mut bytes).unwrap();
        assert_eq!(u16::from_le_bytes(bytes), 5 | (7 << 6) | (2 << 9) | (6 << 12));
        let mut back = [9u64; 5];
        flat.read(&bytes, &mut back).unwrap();
        assert_eq!(back, values);
    }

    #[test]
    fn scalars_over_two_words_are_whole() {
        let lane = |word, bit, bits| Lane { word, bit, scalar: Scalar::Int(bits) };
        let flat = Flat { lanes: vec![lane(0, 0, 80), lane(2, 128, 128)], words: 4, bytes: 32 };
        let values = [0x0123_4567_89ab_cdef, 0xfedc, u64::MAX, 1];
        let mut bytes = [0u8; 32];
        flat.write(&values, &mut bytes).unwrap();
        assert_eq!(bytes[8..12], [0xdc, 0xfe, 0, 0]);
        let mut back = [0u64; 4];
        flat.read(&bytes, &mut back).unwrap();
        assert_eq!(back, values);
        assert!(flat.read(&bytes[..20], &mut back).is_none());
    }
}
