//! Sizes, alignments and offsets of types, from a data layout string.
//!
//! Understands what decides the layout in memory (`e`/`E`, `p`, `i`, `f`, `v`, `a`, `n`); the rest of the string is
//! kept as text. Scalable vectors have no size here.

use crate::ids::TypeId;
use crate::types::{FloatKind, StructType, Type, Types};

/// A parsed data layout.
#[derive(Clone, Debug)]
pub struct DataLayout {
    /// The string as LLVM prints it.
    pub text: String,
    /// Most significant byte first.
    pub big_endian: bool,
    pointers: Vec<PointerSpec>,
    ints: Vec<(u32, u32)>,
    floats: Vec<(u32, u32)>,
    vectors: Vec<(u32, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct PointerSpec {
    space: u32,
    bits: u32,
    align: u32,
    index_bits: u32,
}

/// Layout of x86-64 Linux, the default where none is given.
pub const X86_64: &str = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128";

impl Default for DataLayout {
    fn default() -> Self {
        DataLayout::parse(X86_64)
    }
}

fn number(text: Option<&str>) -> Option<u32> {
    text?.parse().ok()
}

fn put(list: &mut Vec<(u32, u32)>, bits: u32, align: u32) {
    match list.iter_mut().find(|e| e.0 == bits) {
        Some(e) => e.1 = align,
        None => list.push((bits, align)),
    }
    list.sort_unstable();
}

impl DataLayout {
    /// Parses LLVM's data layout string; parts not understood are ignored.
    pub fn parse(text: &str) -> DataLayout {
        let mut out = DataLayout {
            text: text.to_owned(),
            big_endian: false,
            pointers: vec![PointerSpec { space: 0, bits: 64, align: 8, index_bits: 64 }],
            ints: vec![(1, 1), (8, 1), (16, 2), (32, 4), (64, 8)],
            floats: vec![(16, 2), (32, 4), (64, 8), (128, 16)],
            vectors: vec![(64, 8), (128, 16)],
        };
        for part in text.split('-') {
            let mut fields = part.split(':');
            let Some(head) = fields.next() else { continue };
            let Some(kind) = head.chars().next() else { continue };
            let size = head.get(1..).unwrap_or("");
            match kind {
                'E' => out.big_endian = true,
                'e' => out.big_endian = false,
                'p' => {
                    let Some(bits) = number(fields.next()) else { continue };
                    let align = number(fields.next()).unwrap_or(bits) / 8;
                    let _preferred = fields.next();
                    let index_bits = number(fields.next()).unwrap_or(bits);
                    let space = size.parse().unwrap_or(0);
                    let spec = PointerSpec { space, bits, align: align.max(1), index_bits };
                    out.pointers.retain(|p| p.space != space);
                    out.pointers.push(spec);
                }
                'i' | 'f' | 'v' => {
                    let (Ok(bits), Some(abi)) = (size.parse(), number(fields.next())) else { continue };
                    let list = match kind {
                        'i' => &mut out.ints,
                        'f' => &mut out.floats,
                        _ => &mut out.vectors,
                    };
                    put(list, bits, (abi / 8).max(1));
                }
                _ => {}
            }
        }
        out
    }

    fn pointer(&self, space: u32) -> PointerSpec {
        let find = |s| self.pointers.iter().copied().find(|p| p.space == s);
        find(space).or_else(|| find(0)).unwrap_or(PointerSpec { space, bits: 64, align: 8, index_bits: 64 })
    }

    /// Bits of a pointer in `space`.
    pub fn pointer_bits(&self, space: u32) -> u32 {
        self.pointer(space).bits
    }

    /// Bits of an address computation in `space`.
    pub fn index_bits(&self, space: u32) -> u32 {
        self.pointer(space).index_bits
    }

    /// ABI alignment in bytes; 1 for types without a size.
    pub fn align_of(&self, types: &Types, ty: TypeId) -> u64 {
        match &types[ty] {
            Type::Int(bits) => {
                let found = self.ints.iter().find(|(b, _)| b >= bits).or(self.ints.last());
                u64::from(found.map_or(1, |e| e.1))
            }
            Type::Float(kind) => {
                let bits = kind.bits();
                let found = self.floats.iter().find(|(b, _)| *b == bits);
                u64::from(found.map_or_else(|| (bits / 8).next_power_of_two(), |e| e.1))
            }
            Type::Ptr(space) => u64::from(self.pointer(*space).align),
            Type::Vector { .. } => {
                let bits = self.bits_of(types, ty).unwrap_or(8);
                let found = self.vectors.iter().find(|(b, _)| u64::from(*b) == bits);
                found.map_or_else(|| bits.div_ceil(8).next_power_of_two(), |e| u64::from(e.1))
            }
            Type::Array { elem, .. } => self.align_of(types, *elem),
            Type::Struct(StructType { packed: true, .. }) => 1,
            Type::Struct(s) => s.fields.iter().flatten().map(|f| self.align_of(types, *f)).max().unwrap_or(1),
            Type::X86Amx => 64,
            Type::Void | Type::Func { .. } | Type::Label | Type::Metadata | Type::Token | Type::TargetExt { .. } => 1,
        }
    }

    /// Exact number of bits, or `None` for types without a size (or a scalable one).
    pub fn bits_of(&self, types: &Types, ty: TypeId) -> Option<u64> {
        match &types[ty] {
            Type::Int(bits) => Some(u64::from(*bits)),
            Type::Float(kind) => Some(u64::from(kind.bits())),
            Type::Ptr(space) => Some(u64::from(self.pointer(*space).bits)),
            Type::Vector { scalable: true, .. } => None,
            Type::Vector { elem, len, .. } => self.bits_of(types, *elem)?.checked_mul(u64::from(*len)),
            Type::X86Amx => Some(8192),
            Type::Array { .. } | Type::Struct(_) => self.size_of(types, ty)?.checked_mul(8),
            Type::Void | Type::Func { .. } | Type::Label | Type::Metadata | Type::Token | Type::TargetExt { .. } => {
                None
            }
        }
    }

    /// Bytes that a store of `ty` writes.
    pub fn store_size(&self, types: &Types, ty: TypeId) -> Option<u64> {
        match &types[ty] {
            Type::Array { .. } | Type::Struct(_) => self.size_of(types, ty),
            _ => Some(self.bits_of(types, ty)?.div_ceil(8)),
        }
    }

    /// Distance in bytes between consecutive elements of `ty` in an array.
    pub fn size_of(&self, types: &Types, ty: TypeId) -> Option<u64> {
        match &types[ty] {
            Type::Array { elem, len } => self.size_of(types, *elem)?.checked_mul(*len),
            Type::Struct(s) => Some(self.fields(types, s)?.1),
            _ => {
                let align = self.align_of(types, ty);
                self.store_size(types, ty)?.checked_next_multiple_of(align)
            }
        }
    }

    /// Byte offset of each field, and the whole size.
    pub fn fields(&self, types: &Types, s: &StructType) -> Option<(Vec<u64>, u64)> {
        let mut offsets = Vec::new();
        let mut at = 0u64;
        let mut align = 1;
        for field in s.fields.as_ref()? {
            let a = if s.packed { 1 } else { self.align_of(types, *field) };
            align = align.max(a);
            at = at.checked_next_multiple_of(a)?;
            offsets.push(at);
            at = at.checked_add(self.size_of(types, *field)?)?;
        }
        Some((offsets, at.checked_next_multiple_of(align)?))
    }

    /// Offset in bytes and type of element `index` of a structure, array or vector.
    pub fn element(&self, types: &Types, ty: TypeId, index: u64) -> Option<(u64, TypeId)> {
        match &types[ty] {
            Type::Struct(s) => {
                let i = usize::try_from(index).ok()?;
                Some((*self.fields(types, s)?.0.get(i)?, *s.fields.as_ref()?.get(i)?))
            }
            Type::Array { elem, .. } => Some((self.size_of(types, *elem)?.checked_mul(index)?, *elem)),
            Type::Vector { elem, .. } => Some((self.bits_of(types, *elem)?.checked_mul(index)? / 8, *elem)),
            _ => None,
        }
    }

    /// The scalars of `ty` laid out in memory: byte offset and type, in order; `None` if over `limit` or unsized.
    pub fn scalars(&self, types: &Types, ty: TypeId, limit: usize) -> Option<Vec<(u64, TypeId)>> {
        let mut out = Vec::new();
        self.push_scalars(types, ty, 0, limit, &mut out)?;
        Some(out)
    }

    fn push_scalars(
        &self,
        types: &Types,
        ty: TypeId,
        at: u64,
        limit: usize,
        out: &mut Vec<(u64, TypeId)>,
    ) -> Option<()> {
        let count = match &types[ty] {
            Type::Struct(s) => s.fields.as_ref()?.len() as u64,
            Type::Array { len, .. } => *len,
            Type::Vector { len, scalable: false, .. } => u64::from(*len),
            Type::Vector { .. } => return None,
            _ => {
                out.push((at, ty));
                return Some(());
            }
        };
        for i in 0..count {
            let (offset, elem) = self.element(types, ty, i)?;
            self.push_scalars(types, elem, at + offset, limit, out)?;
            if out.len() > limit {
                return None;
            }
        }
        Some(())
    }

    /// Bits of a float format in memory, padding included.
    pub fn float_size(&self, types: &mut Types, kind: FloatKind) -> u64 {
        let ty = types.float(kind);
        self.size_of(types, ty).unwrap_or(16)
    }
}
