//! Spellings of known functions: from a symbol to its row, and from a function to its symbol.
//!
//! **Libm.** A row lists the `double` name. The other formats append a suffix: `f` float, `l` long double, `f16`,
//! `f32`, `f64`, `f128`, `f32x`, `f64x` the formats of ISO/IEC TS 18661-3, `q` libquadmath. `__NAME_finite` is what
//! glibc's headers once chose under `-ffast-math`.
//!
//! **Intrinsics.** `llvm.NAME` is followed by the types it is overloaded on (`.f64`, `.v4f32`, `.nxv2f64.i32`). The
//! `llvm.experimental.constrained.` forms of the same names, and of instructions, take rounding and exception
//! metadata behind their operands and have the same derivative.
//!
//! A name alone does not make a function of the C library: a program may call its own function `y1`. Users check
//! [`CallRule::fits`] against the signature of the call.
//!
//! Not handled: vector-predicated intrinsics (`llvm.vp.*`), vector math libraries (`_ZGV*`), device libraries.

use std::collections::HashMap;
use std::sync::LazyLock;

use enzyme_ir::{BinOp, CastOp, FloatKind, Op, Type, TypeId, Types};

use crate::rule::{Operand, Place, Rule, Spelling};
use crate::table::rules;

/// Lane count of a call, from its symbol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lanes {
    /// Not a vector.
    Scalar,
    /// `<n x T>`.
    Fixed(u32),
    /// `<vscale x n x T>`.
    Scalable(u32),
}

/// Begin of the names of wrappers: see [`lookup_call`].
pub const WRAPPER: &str = "enzyme.abi.";

/// A row, and in which format and lane count a symbol asks for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallRule {
    /// The row.
    pub rule: &'static Rule,
    /// The format; `None` for C's `long double`, whose format is that of the call's own types.
    pub kind: Option<FloatKind>,
    /// The lane count.
    pub lanes: Lanes,
}

#[derive(Default)]
struct Index {
    libm: HashMap<&'static str, &'static Rule>,
    intrinsics: HashMap<&'static str, &'static Rule>,
    exact: HashMap<&'static str, (&'static Rule, FloatKind)>,
    fneg: Option<&'static Rule>,
    binary: HashMap<BinOp, &'static Rule>,
    casts: HashMap<CastOp, &'static Rule>,
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut index = Index::default();
    for rule in rules() {
        for spelling in rule.spellings {
            match *spelling {
                Spelling::FNeg => index.fneg = Some(rule),
                Spelling::Binary(op) => {
                    index.binary.insert(op, rule);
                }
                Spelling::Cast(op) => {
                    index.casts.insert(op, rule);
                }
                Spelling::Intrinsic(name) => {
                    index.intrinsics.insert(name, rule);
                }
                Spelling::Libm(name) => {
                    index.libm.insert(name, rule);
                }
                Spelling::Exact(name, kind) => {
                    index.exact.insert(name, (rule, kind));
                }
            }
        }
    }
    index
});

/// The row of an instruction, if its derivative is given by one.
pub fn lookup_inst(op: &Op) -> Option<&'static Rule> {
    match op {
        Op::FNeg => INDEX.fneg,
        Op::Binary(b) => INDEX.binary.get(b).copied(),
        Op::Cast(c) => INDEX.casts.get(c).copied(),
        _ => None,
    }
}

/// The row of a called symbol. A wrapper that the importer puts between a call and what its calling convention makes of
/// complex numbers is named [`WRAPPER`] and the symbol of the function.
pub fn lookup_call(name: &str) -> Option<CallRule> {
    let name = name.strip_prefix(WRAPPER).unwrap_or(name);
    match name.strip_prefix("llvm.") {
        Some(rest) => lookup_intrinsic(rest),
        None => lookup_libm(name),
    }
}

/// Suffixes of libm names, longest first; `None` is long double.
pub const LIBM_SUFFIXES: &[(&str, Option<FloatKind>)] = &[
    ("f128", Some(FloatKind::Fp128)),
    ("f32x", Some(FloatKind::Double)),
    ("f64x", None),
    ("f16", Some(FloatKind::Half)),
    ("f32", Some(FloatKind::Float)),
    ("f64", Some(FloatKind::Double)),
    ("f", Some(FloatKind::Float)),
    ("l", None),
    ("q", Some(FloatKind::Fp128)),
];

fn lookup_libm(name: &str) -> Option<CallRule> {
    let found = |rule, kind| Some(CallRule { rule, kind, lanes: Lanes::Scalar });
    if let Some((rule, kind)) = INDEX.exact.get(name) {
        // The 80-bit spellings are those of long double on x86; elsewhere the same name has another format.
        return found(rule, Some(*kind).filter(|k| *k != FloatKind::X86Fp80));
    }
    let name = name.strip_prefix("__").and_then(|n| n.strip_suffix("_finite")).unwrap_or(name);
    if let Some(rule) = INDEX.libm.get(name) {
        return found(rule, Some(FloatKind::Double));
    }
    LIBM_SUFFIXES.iter().find_map(|(suffix, kind)| found(INDEX.libm.get(name.strip_suffix(suffix)?)?, *kind))
}

/// The instruction behind a constrained intrinsic.
fn constrained_inst(base: &str) -> Option<&'static Rule> {
    let op = match base {
        "fadd" => Op::Binary(BinOp::FAdd),
        "fsub" => Op::Binary(BinOp::FSub),
        "fmul" => Op::Binary(BinOp::FMul),
        "fdiv" => Op::Binary(BinOp::FDiv),
        "frem" => Op::Binary(BinOp::FRem),
        "fpext" => Op::Cast(CastOp::FPExt),
        "fptrunc" => Op::Cast(CastOp::FPTrunc),
        "sitofp" => Op::Cast(CastOp::SIToFP),
        "uitofp" => Op::Cast(CastOp::UIToFP),
        "fptosi" => Op::Cast(CastOp::FPToSI),
        "fptoui" => Op::Cast(CastOp::FPToUI),
        _ => return None,
    };
    lookup_inst(&op)
}

fn lookup_intrinsic(rest: &str) -> Option<CallRule> {
    let (rest, constrained) = match rest.strip_prefix("experimental.constrained.") {
        Some(r) => (r, true),
        None => (rest, false),
    };
    // The name is the longest prefix, at a dot, that a row has; the types follow.
    let dots: Vec<usize> = rest.match_indices('.').map(|(i, _)| i).collect();
    dots.into_iter().rev().find_map(|dot| {
        let (base, types) = rest.split_at_checked(dot)?;
        let row = INDEX.intrinsics.get(base).copied();
        let rule = if constrained { row.or_else(|| constrained_inst(base)) } else { row }?;
        let types: Option<Vec<_>> = types.get(1..)?.split('.').map(parse_overload).collect();
        let (kind, lanes) = types?.into_iter().find_map(|(kind, lanes)| Some((kind?, lanes)))?;
        Some(CallRule { rule, kind: Some(kind), lanes })
    })
}

/// One type in the name of an overloaded intrinsic: its float format, or `None` for an integer, and its lanes.
fn parse_overload(text: &str) -> Option<(Option<FloatKind>, Lanes)> {
    let vector = |text: &str, prefix: &str| {
        let text = text.strip_prefix(prefix)?;
        let end = text.find(|c: char| !c.is_ascii_digit())?;
        let (count, scalar) = text.split_at_checked(end)?;
        Some((count.parse::<u32>().ok()?, parse_scalar(scalar)?))
    };
    if let Some((n, scalar)) = vector(text, "nxv") {
        return Some((scalar, Lanes::Scalable(n)));
    }
    if let Some((n, scalar)) = vector(text, "v") {
        return Some((scalar, Lanes::Fixed(n)));
    }
    Some((parse_scalar(text)?, Lanes::Scalar))
}

fn parse_scalar(text: &str) -> Option<Option<FloatKind>> {
    if let Some(kind) = FloatKind::ALL.into_iter().find(|k| k.intrinsic_suffix() == text) {
        return Some(Some(kind));
    }
    let bits = text.strip_prefix('i')?;
    (!bits.is_empty() && bits.bytes().all(|b| b.is_ascii_digit())).then_some(None)
}

impl CallRule {
    /// Whether a call with this result type and these parameter types is the function that the row describes. Says
    /// the float type of the operation if so.
    pub fn fits(&self, types: &Types, ret: TypeId, params: &[TypeId]) -> Option<TypeId> {
        let operands = self.rule.operands;
        let (own, extra) = params.split_at_checked(operands.len())?;
        // Rounding and exception behaviour of constrained intrinsics.
        if !extra.iter().all(|p| matches!(types[*p], Type::Metadata)) {
            return None;
        }
        let float_of = |p: Place| match p {
            Place::Return => Some(ret),
            Place::ReturnField(i) => types.at_path(ret, &[i]),
            Place::Pointee(_) => None,
        };
        let mut floats = Vec::new();
        for (operand, ty) in operands.iter().zip(own) {
            match operand {
                Operand::Float => floats.push(*ty),
                Operand::Int => match types[*ty] {
                    Type::Int(_) => {}
                    Type::Vector { elem, .. } if matches!(types[elem], Type::Int(_)) => {}
                    _ => return None,
                },
                Operand::OutPtr | Operand::OutIntPtr => {
                    if !matches!(types[*ty], Type::Ptr(_)) {
                        return None;
                    }
                }
                Operand::Other => {}
            }
        }
        // A conversion has two float types; all others one.
        let is_cast = self.rule.spellings.iter().any(|s| matches!(s, Spelling::Cast(_)));
        for output in self.rule.outputs {
            match output.place {
                Place::Pointee(_) => {}
                Place::Return | Place::ReturnField(_) if is_cast => {
                    floats = vec![float_of(output.place)?];
                }
                Place::Return | Place::ReturnField(_) => floats.push(float_of(output.place)?),
            }
        }
        let first = *floats.first()?;
        let same = floats.iter().all(|t| *t == first) && types.float_kind(first).is_some();
        (same && self.has_format(types, first)).then_some(first)
    }

    /// Whether the format and lanes of `ty` are those that the symbol names.
    fn has_format(&self, types: &Types, ty: TypeId) -> bool {
        let kind = types.float_kind(ty);
        let lanes = match types[ty] {
            Type::Vector { len, scalable: true, .. } => Lanes::Scalable(len),
            Type::Vector { len, .. } => Lanes::Fixed(len),
            _ => Lanes::Scalar,
        };
        lanes == self.lanes && (self.kind.is_none() || self.kind == kind)
    }
}

/// The symbol of an overloaded intrinsic: `llvm.powi` on `<4 x double>` and `i32` is `llvm.powi.v4f64.i32`.
pub fn intrinsic_symbol(types: &Types, base: &str, overloads: &[TypeId]) -> Option<String> {
    let mut out = base.to_owned();
    for ty in overloads {
        out.push('.');
        out.push_str(&overload_name(types, *ty)?);
    }
    Some(out)
}

fn overload_name(types: &Types, ty: TypeId) -> Option<String> {
    match &types[ty] {
        Type::Int(bits) => Some(format!("i{bits}")),
        Type::Float(kind) => Some(kind.intrinsic_suffix().to_owned()),
        Type::Ptr(space) => Some(format!("p{space}")),
        Type::Vector { elem, len, scalable } => {
            let prefix = if *scalable { "nxv" } else { "v" };
            Some(format!("{prefix}{len}{}", overload_name(types, *elem)?))
        }
        Type::Void
        | Type::Array { .. }
        | Type::Struct(_)
        | Type::Func { .. }
        | Type::Label
        | Type::Metadata
        | Type::Token
        | Type::X86Amx
        | Type::TargetExt { .. } => None,
    }
}

/// The symbol of a libm function by its `double` name in another format, or `None` where the C library has none
/// (half and bfloat: compute in float). `fp128` is `long double` on targets where that is its format, else `_Float128`.
pub fn libm_symbol(name: &str, kind: FloatKind, triple: &str) -> Option<String> {
    match kind {
        FloatKind::Half | FloatKind::BFloat => None,
        FloatKind::Float => Some(format!("{name}f")),
        FloatKind::Double => Some(name.to_owned()),
        FloatKind::X86Fp80 | FloatKind::PpcFp128 => Some(format!("{name}l")),
        FloatKind::Fp128 => {
            let machine = triple.split('-').next().unwrap_or("");
            let has_other_long_double = ["x86_64", "i386", "i486", "i586", "i686", "powerpc"];
            let suffix = if has_other_long_double.iter().any(|m| machine.starts_with(m)) { "f128" } else { "l" };
            Some(format!("{name}{suffix}"))
        }
    }
}
