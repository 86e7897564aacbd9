//! Types and constants of the mirror into LLVM.

use enzyme_ir::{BinOp, CastOp, Const, ConstId, ConstOp, FloatKind, GlobalId, Linkage, Type, TypeId};

use super::callee;
use crate::ffi::{self, ConstInfo, GlobalInfo, Str, TypeInfo, TypeRef, ValueRef};
use crate::problem::Problem;
use crate::session::Session;

/// The LLVM type, or `None` if LLVM has no such type.
pub(super) fn export_type(session: &mut Session, ty: TypeId) -> Option<TypeRef> {
    if let Some(known) = session.exported.types.get(&ty) {
        return Some(*known);
    }
    let described = session.ir.ctx.types[ty].clone();
    let mut info = TypeInfo::default();
    let mut parts: Vec<TypeId> = Vec::new();
    let mut ints: Vec<u32> = Vec::new();
    let mut name = String::new();
    match described {
        Type::Void => info.kind = 0,
        Type::Int(bits) => (info.kind, info.bits) = (1, bits),
        Type::Float(kind) => (info.kind, info.bits) = (2, float_number(kind)),
        Type::Ptr(space) => (info.kind, info.bits) = (3, space),
        Type::Vector { elem, len, scalable } => {
            (info.kind, info.count, info.scalable) = (4, u64::from(len), u8::from(scalable));
            info.elem = Some(export_type(session, elem)?);
        }
        Type::Array { elem, len } => {
            (info.kind, info.count) = (5, len);
            info.elem = Some(export_type(session, elem)?);
        }
        Type::Struct(s) => {
            (info.kind, info.packed, info.opaque) = (6, u8::from(s.packed), u8::from(s.fields.is_none()));
            name = s.name.unwrap_or_default();
            parts = s.fields.unwrap_or_default();
        }
        Type::Func { ret, params, variadic } => {
            (info.kind, info.variadic) = (7, u8::from(variadic));
            info.elem = Some(export_type(session, ret)?);
            parts = params;
        }
        Type::Label => info.kind = 8,
        Type::Metadata => info.kind = 9,
        Type::Token => info.kind = 10,
        Type::X86Amx => info.kind = 11,
        Type::TargetExt { name: target, types, ints: numbers } => {
            info.kind = 12;
            name = target;
            parts = types;
            ints = numbers;
        }
    }
    let parts: Vec<TypeRef> = parts.into_iter().map(|p| export_type(session, p)).collect::<Option<_>>()?;
    if !parts.is_empty() || matches!(info.kind, 6 | 7 | 12) {
        info.count = parts.len() as u64;
    }
    info.ints = ints.len() as u32;
    info.name = Str::of(&name);
    // SAFETY: the host is alive; all arrays are as long as announced and live across the call.
    let made = unsafe { ffi::enz_type_make(session.host, &raw const info, parts.as_ptr(), ints.as_ptr()) }?;
    session.exported.types.insert(ty, made);
    Some(made)
}

fn float_number(kind: FloatKind) -> u32 {
    match kind {
        FloatKind::Half => 0,
        FloatKind::BFloat => 1,
        FloatKind::Float => 2,
        FloatKind::Double => 3,
        FloatKind::X86Fp80 => 4,
        FloatKind::Fp128 => 5,
        FloatKind::PpcFp128 => 6,
    }
}

pub(super) fn binary_number(op: BinOp) -> u32 {
    match op {
        BinOp::Add => 0,
        BinOp::FAdd => 1,
        BinOp::Sub => 2,
        BinOp::FSub => 3,
        BinOp::Mul => 4,
        BinOp::FMul => 5,
        BinOp::UDiv => 6,
        BinOp::SDiv => 7,
        BinOp::FDiv => 8,
        BinOp::URem => 9,
        BinOp::SRem => 10,
        BinOp::FRem => 11,
        BinOp::Shl => 12,
        BinOp::LShr => 13,
        BinOp::AShr => 14,
        BinOp::And => 15,
        BinOp::Or => 16,
        BinOp::Xor => 17,
    }
}

pub(super) fn cast_number(op: CastOp) -> u32 {
    match op {
        CastOp::Trunc => 0,
        CastOp::ZExt => 1,
        CastOp::SExt => 2,
        CastOp::FPToUI => 3,
        CastOp::FPToSI => 4,
        CastOp::UIToFP => 5,
        CastOp::SIToFP => 6,
        CastOp::FPTrunc => 7,
        CastOp::FPExt => 8,
        CastOp::PtrToInt => 9,
        CastOp::PtrToAddr => 10,
        CastOp::IntToPtr => 11,
        CastOp::BitCast => 12,
        CastOp::AddrSpaceCast => 13,
    }
}

/// The LLVM constant.
pub(super) fn export_const(session: &mut Session, c: ConstId) -> Result<ValueRef, Problem> {
    if let Some(known) = session.exported.consts.get(&c) {
        return Ok(*known);
    }
    let value = make(session, c)?;
    session.exported.consts.insert(c, value);
    Ok(value)
}

fn make(session: &mut Session, c: ConstId) -> Result<ValueRef, Problem> {
    let described = session.ir.ctx.consts[c].clone();
    let mut info = ConstInfo::default();
    let mut parts: Vec<ConstId> = Vec::new();
    let mut mask: Vec<i32> = Vec::new();
    match &described {
        Const::Int { words, .. } => {
            (info.kind, info.count, info.words) = (0, words.len() as u32, words.as_ptr());
        }
        Const::Float { bits, .. } => {
            info.kind = 1;
            info.bits = [*bits as u64, (*bits >> 64) as u64];
        }
        Const::Zero(_) => info.kind = 2,
        Const::Undef(_) => info.kind = 3,
        Const::Poison(_) => info.kind = 4,
        Const::Aggregate { elems, .. } => {
            info.kind = 5;
            parts.clone_from(elems);
        }
        Const::Data { bytes, .. } => {
            info.kind = 6;
            info.bytes = Str { data: bytes.as_ptr(), len: bytes.len() };
        }
        Const::Global(g) => return global(session, *g),
        Const::Func(f) => return callee(session, *f),
        Const::BlockAddress { func, block } => {
            info.kind = 9;
            info.target = Some(callee(session, *func)?);
            info.index = *block;
        }
        Const::Expr { op, args, .. } => {
            info.kind = 10;
            parts.clone_from(args);
            match op {
                ConstOp::Cast(cast) => (info.expr, info.sub) = (0, cast_number(*cast)),
                ConstOp::Binary(op) => (info.expr, info.sub) = (1, binary_number(*op)),
                ConstOp::Gep(elem, flags) => {
                    (info.expr, info.flags) = (2, u32::from(flags.bits()));
                    info.elem = export_type(session, *elem);
                }
                ConstOp::ExtractElement => info.expr = 3,
                ConstOp::InsertElement => info.expr = 4,
                ConstOp::Shuffle(lanes) => {
                    (info.expr, info.flags) = (5, lanes.len() as u32);
                    mask.clone_from(lanes);
                }
            }
        }
        Const::TokenNone => info.kind = 11,
        Const::Metadata(text) | Const::Opaque { text, .. } => {
            return session
                .imported
                .opaque_value(c)
                .ok_or_else(|| Problem::new("", format!("the constant '{text}' cannot be rebuilt")));
        }
    }
    let ty = session.ir.ctx.const_type(c);
    info.ty = export_type(session, ty);
    let parts: Vec<ValueRef> = parts.into_iter().map(|p| export_const(session, p)).collect::<Result<_, _>>()?;
    if matches!(info.kind, 5 | 10) {
        info.count = parts.len() as u32;
    }
    let wrong = || Problem::new("", "a constant does not exist in LLVM");
    if info.ty.is_none() {
        return Err(wrong());
    }
    // SAFETY: the host is alive; all arrays are as long as announced and live across the call.
    unsafe { ffi::enz_const_make(session.host, &raw const info, parts.as_ptr(), mask.as_ptr()) }.ok_or_else(wrong)
}

fn global(session: &mut Session, g: GlobalId) -> Result<ValueRef, Problem> {
    if let Some(value) = session.imported.global_value(g) {
        return Ok(value);
    }
    let Some(described) = session.ir.globals.get(g).cloned() else {
        return Err(Problem::new("", "a constant names a global that does not exist"));
    };
    let wrong = || Problem::new("", format!("LLVM does not accept the global '{}'", described.name));
    let info = GlobalInfo {
        name: Str::of(&described.name),
        ty: export_type(session, described.ty),
        init: None,
        align: described.align,
        space: described.space,
        constant: u8::from(described.constant),
        thread_local: u8::from(described.thread_local),
        internal: u8::from(described.linkage == Linkage::Internal && described.init.is_some()),
        inactive: 0,
    };
    if info.ty.is_none() {
        return Err(wrong());
    }
    // SAFETY: the host is alive; `info` borrows for the call.
    let value = unsafe { ffi::enz_global_make(session.host, &raw const info) }.ok_or_else(wrong)?;
    session.imported.set_global_value(g, value);
    if let Some(init) = described.init {
        let made = export_const(session, init);
        // SAFETY: the global was made above; the bridge checks the type of the content.
        let set = made.map(|content| unsafe { ffi::enz_global_set_init(value, content) });
        if !matches!(set, Ok(good) if good != 0) {
            session.imported.forget_global(g);
            // SAFETY: the global was made above; its uses, if any, are constants of this failed request.
            unsafe { ffi::enz_global_erase(value) };
            return Err(set.err().unwrap_or_else(wrong));
        }
    }
    Ok(value)
}
