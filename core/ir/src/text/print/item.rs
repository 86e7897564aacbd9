//! Prints types and constants.

use std::fmt::Write;

use cranelift_entity::EntityRef;

use crate::consts::{Const, ConstOp};
use crate::float::to_f64;
use crate::ids::{ConstId, TypeId};
use crate::op::GepFlags;
use crate::types::{FloatKind, StructType, Type, Types};

use super::names::Names;
use super::{BAD, Node, Printer, write_name};
use crate::text::lexer::escape;
use crate::text::words;

/// Nesting beyond which printing gives up; text never nests this deep.
const MAX_DEPTH: u32 = 1000;

/// Appends a type; `named` is told of each named structure.
pub(super) fn write_type(types: &Types, ty: TypeId, depth: u32, out: &mut String, named: &mut dyn FnMut(TypeId)) {
    if ty.index() >= types.len() || depth > MAX_DEPTH {
        out.push_str(BAD);
        return;
    }
    let mut inner = |t: TypeId, out: &mut String| write_type(types, t, depth + 1, out, named);
    match &types[ty] {
        Type::Void => out.push_str("void"),
        Type::Int(bits) => {
            let _ = write!(out, "i{bits}");
        }
        Type::Float(kind) => out.push_str(kind.name()),
        Type::Ptr(0) => out.push_str("ptr"),
        Type::Ptr(space) => {
            let _ = write!(out, "ptr addrspace({space})");
        }
        Type::Vector { elem, len, scalable } => {
            let scale = if *scalable { "vscale x " } else { "" };
            let _ = write!(out, "<{scale}{len} x ");
            inner(*elem, out);
            out.push('>');
        }
        Type::Array { elem, len } => {
            let _ = write!(out, "[{len} x ");
            inner(*elem, out);
            out.push(']');
        }
        Type::Struct(s) => match &s.name {
            Some(name) => {
                write_name('%', name, out);
                named(ty);
            }
            None => write_struct_body(types, s, depth, out, named),
        },
        Type::Func { ret, params, variadic } => {
            inner(*ret, out);
            out.push_str(" (");
            for (i, p) in params.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                inner(*p, out);
            }
            if *variadic {
                out.push_str(if params.is_empty() { "..." } else { ", ..." });
            }
            out.push(')');
        }
        Type::Label => out.push_str("label"),
        Type::Metadata => out.push_str("metadata"),
        Type::Token => out.push_str("token"),
        Type::X86Amx => out.push_str("x86_amx"),
        Type::TargetExt { name, types: parts, ints } => {
            out.push_str("target(\"");
            escape(name.as_bytes(), out);
            out.push('"');
            for p in parts {
                out.push_str(", ");
                inner(*p, out);
            }
            for i in ints {
                let _ = write!(out, ", {i}");
            }
            out.push(')');
        }
    }
}

/// Appends the fields of a structure with their braces.
pub(super) fn write_struct_body(
    types: &Types,
    s: &StructType,
    depth: u32,
    out: &mut String,
    named: &mut dyn FnMut(TypeId),
) {
    let Some(fields) = &s.fields else {
        out.push_str("opaque");
        return;
    };
    out.push_str(match (s.packed, fields.is_empty()) {
        (false, false) => "{ ",
        (false, true) => "{}",
        (true, false) => "<{ ",
        (true, true) => "<{}>",
    });
    for (i, f) in fields.iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        write_type(types, *f, depth + 1, out, named);
    }
    if !fields.is_empty() {
        out.push_str(if s.packed { " }>" } else { " }" });
    }
}

/// Decimal of a two's complement number of `bits` bits, or hexadecimal beyond 4096 bits.
fn write_int(words: &[u64], bits: u32, out: &mut String) {
    if let ([word], 2..=64) = (words, bits) {
        let shift = 64 - bits;
        let _ = write!(out, "{}", ((word << shift) as i64) >> shift);
        return;
    }
    if words.len() > 64 {
        out.push_str("u0x");
        let significant = words.iter().rposition(|w| *w != 0).unwrap_or(0);
        let _ = write!(out, "{:X}", words[significant]);
        for w in words[..significant].iter().rev() {
            let _ = write!(out, "{w:016X}");
        }
        return;
    }
    let mut rest = words.to_vec();
    let top = bits.saturating_sub(1);
    let negative = words.get((top / 64) as usize).is_some_and(|w| (w >> (top % 64)) & 1 == 1);
    if negative {
        let mut carry = true;
        for w in &mut rest {
            let (sum, overflow) = (!*w).overflowing_add(u64::from(carry));
            (*w, carry) = (sum, overflow);
        }
        if let (Some(last), used @ 1..) = (rest.last_mut(), bits % 64) {
            *last &= (1 << used) - 1;
        }
        out.push('-');
    }
    const CHUNK: u128 = 10_000_000_000_000_000_000;
    let mut chunks = Vec::new();
    while rest.iter().any(|w| *w != 0) {
        let mut remainder = 0u128;
        for w in rest.iter_mut().rev() {
            let current = (remainder << 64) | u128::from(*w);
            *w = (current / CHUNK) as u64;
            remainder = current % CHUNK;
        }
        chunks.push(remainder as u64);
    }
    let _ = write!(out, "{}", chunks.pop().unwrap_or(0));
    for c in chunks.iter().rev() {
        let _ = write!(out, "{c:019}");
    }
}

/// A float as LLVM prints it: six digits if they say it exactly, else the bits.
pub(super) fn write_float(kind: FloatKind, bits: u128, out: &mut String) {
    let (low, high) = (bits as u64, (bits >> 64) as u64);
    let _ = match kind {
        FloatKind::Half => write!(out, "0xH{:04X}", bits as u16),
        FloatKind::BFloat => write!(out, "0xR{:04X}", bits as u16),
        FloatKind::X86Fp80 => write!(out, "0xK{:04X}{low:016X}", high as u16),
        FloatKind::Fp128 => write!(out, "0xL{low:016X}{high:016X}"),
        FloatKind::PpcFp128 => write!(out, "0xM{low:016X}{high:016X}"),
        FloatKind::Float | FloatKind::Double => {
            let value = to_f64(kind, bits);
            let text = format!("{value:.5e}");
            if let Some((digits, exponent)) = text.split_once('e')
                && value.is_finite()
                && text.parse() == Ok(value)
            {
                let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |e| ('-', e));
                write!(out, "{digits}0e{sign}{exponent:0>2}")
            } else if kind == FloatKind::Double {
                write!(out, "0x{low:016X}")
            } else {
                write!(out, "0x{:016X}", float_as_double_bits(bits as u32))
            }
        }
    };
}

/// The bits of a binary32 number in binary64, payloads of NaNs kept at the top of the fraction.
fn float_as_double_bits(bits: u32) -> u64 {
    if bits & 0x7f80_0000 == 0x7f80_0000 {
        return u64::from(bits >> 31) << 63 | 0x7ff << 52 | u64::from(bits & 0x7f_ffff) << 29;
    }
    f64::from(f32::from_bits(bits)).to_bits()
}

impl Printer<'_> {
    /// A constant without its type.
    pub(super) fn constant(&mut self, c: ConstId, depth: u32) {
        let module = self.module;
        if c.index() >= module.ctx.consts.len() || depth > MAX_DEPTH {
            self.out.push_str(BAD);
            return;
        }
        let types = &module.ctx.types;
        let get = |ty: &TypeId| (ty.index() < types.len()).then(|| &types[*ty]);
        match &module.ctx.consts[c] {
            Const::Int { ty, words } => match get(ty) {
                Some(Type::Int(1)) => {
                    self.out.push_str(if words.first().is_some_and(|w| w & 1 == 1) { "true" } else { "false" });
                }
                Some(Type::Int(bits)) => write_int(words, *bits, &mut self.out),
                _ => self.out.push_str(BAD),
            },
            Const::Float { ty, bits } => match get(ty) {
                Some(Type::Float(kind)) => write_float(*kind, *bits, &mut self.out),
                _ => self.out.push_str(BAD),
            },
            Const::Zero(ty) => self.out.push_str(match get(ty) {
                Some(Type::Ptr(_)) => "null",
                Some(Type::Token) => "none",
                Some(Type::Int(1)) => "false",
                Some(Type::Int(_)) => "0",
                Some(Type::Float(FloatKind::Float | FloatKind::Double)) => "0.000000e+00",
                Some(Type::Float(kind)) => return write_float(*kind, 0, &mut self.out),
                _ => "zeroinitializer",
            }),
            Const::Undef(_) => self.out.push_str("undef"),
            Const::Poison(_) => self.out.push_str("poison"),
            Const::Aggregate { ty, elems } => self.aggregate(*ty, elems, depth),
            Const::Data { ty, bytes } => self.data(*ty, bytes),
            Const::Global(g) => self.global_name(*g),
            Const::Func(f) => self.func_name(*f),
            Const::BlockAddress { func, block } => {
                self.out.push_str("blockaddress(");
                self.func_name(*func);
                self.out.push_str(", ");
                let f = module.funcs.get(*func);
                match f.and_then(|f| Some((f, *f.layout.get(*block as usize)?))) {
                    Some((f, b)) => {
                        let names = self.label_names.entry(*func).or_insert_with(|| Names::new(f));
                        self.out.push_str(names.block(b));
                    }
                    None => self.out.push_str(BAD),
                }
                self.out.push(')');
            }
            Const::Expr { ty, op, args } => self.expression(*ty, op, args, depth),
            Const::TokenNone => self.out.push_str("none"),
            Const::Metadata(text) => self.metadata(text),
            Const::Opaque { text, .. } => self.out.push_str(text),
        }
    }

    /// A constant with its type, which is `ty` where the place says it.
    fn typed_constant(&mut self, c: ConstId, ty: Option<TypeId>, depth: u32) {
        let ctx = &self.module.ctx;
        let found = (c.index() < ctx.consts.len()).then(|| &ctx.consts[c]);
        match (ty, found) {
            (Some(ty), _) => self.ty(ty),
            (
                None,
                Some(
                    Const::Int { ty, .. }
                    | Const::Float { ty, .. }
                    | Const::Aggregate { ty, .. }
                    | Const::Data { ty, .. }
                    | Const::Expr { ty, .. }
                    | Const::Opaque { ty, .. }
                    | Const::Zero(ty)
                    | Const::Undef(ty)
                    | Const::Poison(ty),
                ),
            ) => self.ty(*ty),
            (None, Some(Const::Global(g))) => match self.module.globals.get(*g).map_or(0, |g| g.space) {
                0 => self.out.push_str("ptr"),
                space => self.put(format_args!("ptr addrspace({space})")),
            },
            (None, Some(Const::Func(_) | Const::BlockAddress { .. })) => self.out.push_str("ptr"),
            (None, Some(Const::TokenNone)) => self.out.push_str("token"),
            (None, Some(Const::Metadata(_))) => self.out.push_str("metadata"),
            (None, None) => self.out.push_str(BAD),
        }
        self.out.push(' ');
        self.constant(c, depth + 1);
    }

    fn aggregate(&mut self, ty: TypeId, elems: &[ConstId], depth: u32) {
        let types = &self.module.ctx.types;
        let (open, close, is_vector) = match (ty.index() < types.len()).then(|| &types[ty]) {
            Some(Type::Array { .. }) => ("[", "]", false),
            Some(Type::Vector { .. }) => ("<", ">", true),
            Some(Type::Struct(StructType { packed: true, .. })) if elems.is_empty() => ("<{", "}>", false),
            Some(Type::Struct(StructType { packed: true, .. })) => ("<{ ", " }>", false),
            Some(Type::Struct(_)) if elems.is_empty() => ("{", "}", false),
            Some(Type::Struct(_)) => ("{ ", " }", false),
            _ => (BAD, BAD, false),
        };
        let is_number = |c: &ConstId| {
            c.index() < self.module.ctx.consts.len()
                && matches!(self.module.ctx.consts[*c], Const::Int { .. } | Const::Float { .. })
        };
        let element_types: Vec<Option<TypeId>> = match (ty.index() < types.len()).then(|| &types[ty]) {
            Some(Type::Array { elem, .. } | Type::Vector { elem, .. }) => vec![Some(*elem); elems.len()],
            Some(Type::Struct(StructType { fields: Some(fields), .. })) => {
                (0..elems.len()).map(|i| fields.get(i).copied()).collect()
            }
            _ => vec![None; elems.len()],
        };
        if let Some(first) = elems.first()
            && is_vector
            && is_number(first)
            && elems.iter().all(|e| e == first)
        {
            self.out.push_str("splat (");
            self.typed_constant(*first, element_types[0], depth);
            self.out.push(')');
            return;
        }
        self.out.push_str(open);
        for (i, (e, ty)) in elems.iter().zip(element_types).enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.typed_constant(*e, ty, depth);
        }
        self.out.push_str(close);
    }

    fn data(&mut self, ty: TypeId, bytes: &[u8]) {
        let types = &self.module.ctx.types;
        let (elem, is_vector) = match (ty.index() < types.len()).then(|| &types[ty]) {
            Some(Type::Array { elem, .. }) => (*elem, false),
            Some(Type::Vector { elem, .. }) => (*elem, true),
            _ => return self.out.push_str(BAD),
        };
        let size = match (elem.index() < types.len()).then(|| &types[elem]) {
            Some(Type::Int(8)) if !is_vector => {
                self.out.push_str("c\"");
                escape(bytes, &mut self.out);
                self.out.push('"');
                return;
            }
            Some(Type::Int(bits @ (8 | 16 | 32 | 64))) => bits / 8,
            Some(Type::Float(kind)) => kind.bits() / 8,
            _ => return self.out.push_str(BAD),
        } as usize;
        let is_splat = is_vector && bytes.chunks(size).all(|c| bytes.starts_with(c)) && !bytes.is_empty();
        self.out.push_str(match (is_vector, is_splat) {
            (_, true) => "splat (",
            (true, _) => "<",
            (false, _) => "[",
        });
        for (i, chunk) in bytes.chunks(size).enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            let word = chunk.iter().rev().fold(0u128, |acc, b| acc << 8 | u128::from(*b));
            self.ty(elem);
            self.out.push(' ');
            match &self.module.ctx.types[elem] {
                Type::Float(kind) => write_float(*kind, word, &mut self.out),
                _ => write_int(&[word as u64], size as u32 * 8, &mut self.out),
            }
            if is_splat {
                break;
            }
        }
        self.out.push_str(match (is_vector, is_splat) {
            (_, true) => ")",
            (true, _) => ">",
            (false, _) => "]",
        });
    }

    /// The lane of a splat written as the shuffle of one inserted lane, which scalable vectors need.
    fn splat_lane(&self, op: &ConstOp, args: &[ConstId]) -> Option<ConstId> {
        let consts = &self.module.ctx.consts;
        let get = |c: &ConstId| (c.index() < consts.len()).then(|| &consts[*c]);
        let (ConstOp::Shuffle(mask), [inserted, unused]) = (op, args) else { return None };
        let Some(Const::Expr { op: ConstOp::InsertElement, args, .. }) = get(inserted) else { return None };
        let [base, lane, index] = args.as_slice() else { return None };
        let first = matches!(get(index), Some(Const::Int { .. })) && consts.as_u64(*index) == Some(0);
        let number = matches!(get(lane), Some(Const::Int { .. } | Const::Float { .. }));
        let poison = [base, unused].iter().all(|c| matches!(get(c), Some(Const::Poison(_))));
        (first && number && poison && mask.iter().all(|m| *m == 0)).then_some(*lane)
    }

    fn expression(&mut self, ty: TypeId, op: &ConstOp, args: &[ConstId], depth: u32) {
        let types = &self.module.ctx.types;
        if ty.index() < types.len()
            && matches!(types[ty], Type::Vector { scalable: true, .. })
            && let Some(lane) = self.splat_lane(op, args)
        {
            self.out.push_str("splat (");
            self.typed_constant(lane, None, depth);
            self.out.push(')');
            return;
        }
        match op {
            ConstOp::Cast(cast) => self.put(format_args!("{} (", words::cast_op(*cast))),
            ConstOp::Binary(bin) => self.put(format_args!("{} (", words::bin_op(*bin))),
            ConstOp::Gep(elem, flags) => {
                self.out.push_str("getelementptr ");
                self.gep_flags(*flags);
                self.out.push('(');
                self.ty(*elem);
                self.out.push_str(", ");
            }
            ConstOp::ExtractElement => self.out.push_str("extractelement ("),
            ConstOp::InsertElement => self.out.push_str("insertelement ("),
            ConstOp::Shuffle(_) => self.out.push_str("shufflevector ("),
        }
        for (i, a) in args.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.typed_constant(*a, None, depth);
        }
        match op {
            ConstOp::Cast(_) => {
                self.out.push_str(" to ");
                self.ty(ty);
            }
            ConstOp::Shuffle(mask) => self.shuffle_mask(mask, ty),
            ConstOp::Binary(_) | ConstOp::Gep(..) | ConstOp::ExtractElement | ConstOp::InsertElement => {}
        }
        self.out.push(')');
    }

    pub(super) fn gep_flags(&mut self, flags: GepFlags) {
        if flags.contains(GepFlags::INBOUNDS) {
            self.out.push_str("inbounds ");
        } else if flags.contains(GepFlags::NUSW) {
            self.out.push_str("nusw ");
        }
        if flags.contains(GepFlags::NUW) {
            self.out.push_str("nuw ");
        }
    }

    /// `, <n x i32> mask` of a shuffle with result type `ty`.
    pub(super) fn shuffle_mask(&mut self, mask: &[i32], ty: TypeId) {
        let types = &self.module.ctx.types;
        let scalable = ty.index() < types.len() && matches!(types[ty], Type::Vector { scalable: true, .. });
        let scale = if scalable { "vscale x " } else { "" };
        self.put(format_args!(", <{scale}{} x i32> ", mask.len()));
        if mask.iter().all(|m| *m == 0) {
            self.out.push_str("zeroinitializer");
        } else if mask.iter().all(|m| *m < 0) {
            self.out.push_str("poison");
        } else {
            for (i, m) in mask.iter().enumerate() {
                self.out.push_str(if i == 0 { "<" } else { ", " });
                match m {
                    0.. => self.put(format_args!("i32 {m}")),
                    _ => self.out.push_str("i32 poison"),
                }
            }
            self.out.push('>');
        }
    }

    /// Metadata text, with its numbered nodes renumbered to entries of the table at the end.
    fn metadata(&mut self, text: &str) {
        let mut rest = text;
        let mut in_string = false;
        while let Some(c) = rest.chars().next() {
            let after = &rest[c.len_utf8()..];
            in_string ^= c == '"';
            self.out.push(c);
            rest = after;
            let digits = after.len() - after.trim_start_matches(|d: char| d.is_ascii_digit()).len();
            if c == '!' && !in_string && digits > 0 && self.with_table {
                let number = after[..digits].parse().unwrap_or(u64::MAX);
                let index = self.table.insert_full(Node::Foreign(number)).0;
                self.put(format_args!("{index}"));
                rest = &after[digits..];
            }
        }
    }
}
