//! Constants of LLVM into the mirror.

use enzyme_ir::{BinOp, CastOp, Const, ConstId, ConstOp, GepFlags};
use smallvec::SmallVec;

use super::{declare_function, declare_global, import_type, list};
use crate::ffi::{self, ConstInfo, ValueRef};
use crate::session::Session;
use crate::text::collect;

pub(crate) const BINARY: [BinOp; 18] = [
    BinOp::Add,
    BinOp::FAdd,
    BinOp::Sub,
    BinOp::FSub,
    BinOp::Mul,
    BinOp::FMul,
    BinOp::UDiv,
    BinOp::SDiv,
    BinOp::FDiv,
    BinOp::URem,
    BinOp::SRem,
    BinOp::FRem,
    BinOp::Shl,
    BinOp::LShr,
    BinOp::AShr,
    BinOp::And,
    BinOp::Or,
    BinOp::Xor,
];

pub(crate) const CASTS: [CastOp; 14] = [
    CastOp::Trunc,
    CastOp::ZExt,
    CastOp::SExt,
    CastOp::FPToUI,
    CastOp::FPToSI,
    CastOp::UIToFP,
    CastOp::SIToFP,
    CastOp::FPTrunc,
    CastOp::FPExt,
    CastOp::PtrToInt,
    CastOp::PtrToAddr,
    CastOp::IntToPtr,
    CastOp::BitCast,
    CastOp::AddrSpaceCast,
];

pub(crate) fn const_info(value: ValueRef) -> ConstInfo {
    let mut info = ConstInfo::default();
    // SAFETY: the value belongs to the module; `info` is valid to write to.
    unsafe { ffi::enz_const_info(value, &raw mut info) };
    info
}

/// Whether a described value is no constant at all.
pub(super) fn is_not_constant(info: &ConstInfo) -> bool {
    info.kind == 16
}

pub(crate) fn import_const(session: &mut Session, value: ValueRef) -> ConstId {
    if let Some(c) = session.imported.consts.get(&value) {
        return *c;
    }
    let info = const_info(value);
    let c = describe(session, value, &info);
    session.imported.consts.insert(value, c);
    c
}

fn describe(session: &mut Session, value: ValueRef, info: &ConstInfo) -> ConstId {
    let ty = match info.ty {
        Some(ty) => import_type(session, ty),
        None => session.ir.ctx.types.void(),
    };
    let described = match (info.kind, info.target) {
        (0, _) => Const::Int { ty, words: words(info) },
        (1, _) => Const::Float { ty, bits: float_bits(info) },
        (2, _) => Const::Zero(ty),
        (3, _) => Const::Undef(ty),
        (4, _) => Const::Poison(ty),
        (5, _) => Const::Aggregate { ty, elems: parts(session, value, info) },
        (6, _) => Const::Data { ty, bytes: info.bytes.to_bytes() },
        (7, Some(global)) => Const::Global(declare_global(session, global)),
        (8, Some(function)) => Const::Func(declare_function(session, function)),
        (9, Some(function)) => Const::BlockAddress { func: declare_function(session, function), block: info.index },
        (10, _) => match expression(session, value, info) {
            Some(op) => Const::Expr { ty, op, args: parts(session, value, info) },
            None => return opaque(session, value, ty, false),
        },
        (11, _) => Const::TokenNone,
        (12, _) => return opaque(session, value, ty, true),
        (14 | 15, _) => match splat(session, ty, info) {
            Some(described) => described,
            None => return opaque(session, value, ty, false),
        },
        _ => return opaque(session, value, ty, false),
    };
    session.ir.ctx.consts.intern(described)
}

fn words(info: &ConstInfo) -> SmallVec<[u64; 2]> {
    if info.words.is_null() {
        return SmallVec::new();
    }
    // SAFETY: the bridge announces `count` words, owned by a constant of the context.
    SmallVec::from_slice(unsafe { std::slice::from_raw_parts(info.words, info.count as usize) })
}

fn float_bits(info: &ConstInfo) -> u128 {
    u128::from(info.bits[0]) | (u128::from(info.bits[1]) << 64)
}

/// A vector given by one number; `None` if its length is not known.
fn splat(session: &mut Session, ty: enzyme_ir::TypeId, info: &ConstInfo) -> Option<Const> {
    let enzyme_ir::Type::Vector { elem, len, scalable: false } = session.ir.ctx.types[ty] else { return None };
    let lane = match info.kind {
        14 => Const::Int { ty: elem, words: words(info) },
        _ => Const::Float { ty: elem, bits: float_bits(info) },
    };
    let lane = session.ir.ctx.consts.intern(lane);
    Some(Const::Aggregate { ty, elems: vec![lane; len as usize] })
}

fn parts(session: &mut Session, value: ValueRef, info: &ConstInfo) -> Vec<ConstId> {
    (0..info.count)
        // SAFETY: `i` is below the announced number of operands.
        .filter_map(|i| unsafe { ffi::enz_const_part(value, i) })
        .map(|part| import_const(session, part))
        .collect()
}

fn expression(session: &mut Session, value: ValueRef, info: &ConstInfo) -> Option<ConstOp> {
    Some(match info.expr {
        0 => ConstOp::Cast(*CASTS.get(info.sub as usize)?),
        1 => ConstOp::Binary(*BINARY.get(info.sub as usize)?),
        2 => ConstOp::Gep(import_type(session, info.elem?), GepFlags::from_bits_truncate(info.flags as u8)),
        3 => ConstOp::ExtractElement,
        4 => ConstOp::InsertElement,
        5 => ConstOp::Shuffle(list(|out, cap| {
            // SAFETY: the value is a constant expression and `out` has room for `cap` entries.
            unsafe { ffi::enz_const_mask(value, out, cap) }
        })),
        _ => return None,
    })
}

/// What only LLVM can repeat, by its text; the handle is remembered for export.
fn opaque(session: &mut Session, value: ValueRef, ty: enzyme_ir::TypeId, metadata: bool) -> ConstId {
    // SAFETY: the value belongs to the module.
    let text = collect(|sink, context| unsafe { ffi::enz_print_value(value, sink, context) }).1;
    let described = if metadata { Const::Metadata(text) } else { Const::Opaque { ty, text } };
    let c = session.ir.ctx.consts.intern(described);
    session.imported.opaque.insert(c, value);
    c
}
