//! Decodes calls of LLVM's intrinsics (`llvm.*`), lane by lane where they take vectors.
//!
//! The name without its type suffixes is looked up longest first. What only informs the optimiser is dropped.

use super::arith::{Pair, Unary};
use super::code::{Arg, Code, Funnel, Reg};
use super::decode::Decoder;
use super::decode_call::scalar_math;
use super::decode_inst::unused;
use super::math::{self, Split};
use super::shape::Scalar;
use super::trap::Trap;
use crate::ids::TypeId;
use crate::op::BinOp;
use crate::types::{FloatKind, Type};

/// Argument `i`, or a fault.
pub(super) fn arg(args: &[Arg], i: usize) -> Result<Arg, Trap> {
    args.get(i).copied().ok_or_else(|| Trap::fault("an intrinsic with too few arguments"))
}

fn wrong_type() -> Trap {
    Trap::fault("an intrinsic with an argument of a wrong type")
}

fn int_bits(scalar: Scalar) -> Result<u8, Trap> {
    match scalar {
        Scalar::Int(bits @ 1..=128) => Ok(bits as u8),
        _ => Err(wrong_type()),
    }
}

pub(super) fn float_kind(scalar: Scalar) -> Result<FloatKind, Trap> {
    match scalar {
        Scalar::Float(kind) => Ok(kind),
        Scalar::Int(_) | Scalar::Ptr => Err(wrong_type()),
    }
}

fn unary(base: &str) -> Option<Unary> {
    Some(match base {
        "abs" => Unary::Abs,
        "ctpop" => Unary::CountOnes,
        "ctlz" => Unary::LeadingZeros,
        "cttz" => Unary::TrailingZeros,
        "bswap" => Unary::SwapBytes,
        "bitreverse" => Unary::ReverseBits,
        _ => return None,
    })
}

fn pair(base: &str) -> Option<Pair> {
    Some(match base {
        "smin" => Pair::SMin,
        "smax" => Pair::SMax,
        "umin" => Pair::UMin,
        "umax" => Pair::UMax,
        "sadd.sat" => Pair::SAddSat,
        "uadd.sat" => Pair::UAddSat,
        "ssub.sat" => Pair::SSubSat,
        "usub.sat" => Pair::USubSat,
        "sshl.sat" => Pair::SShlSat,
        "ushl.sat" => Pair::UShlSat,
        "scmp" => Pair::SCompare,
        "ucmp" => Pair::UCompare,
        _ => return None,
    })
}

fn overflow(base: &str) -> Option<(BinOp, bool)> {
    Some(match base {
        "sadd.with.overflow" => (BinOp::Add, true),
        "uadd.with.overflow" => (BinOp::Add, false),
        "ssub.with.overflow" => (BinOp::Sub, true),
        "usub.with.overflow" => (BinOp::Sub, false),
        "smul.with.overflow" => (BinOp::Mul, true),
        "umul.with.overflow" => (BinOp::Mul, false),
        _ => return None,
    })
}

/// What has no effect on values or memory.
fn is_silent(base: &str) -> bool {
    matches!(
        base,
        "lifetime.start"
            | "lifetime.end"
            | "assume"
            | "prefetch"
            | "donothing"
            | "sideeffect"
            | "pseudoprobe"
            | "experimental.noalias.scope.decl"
            | "dbg.value"
            | "dbg.declare"
            | "dbg.assign"
            | "dbg.label"
            | "invariant.end"
            | "var.annotation"
            | "va_end"
            | "fake.use"
            | "codeview.annotation"
    )
}

impl Decoder<'_, '_> {
    /// Appends the steps of intrinsic `llvm.<name>`.
    pub fn intrinsic(&mut self, name: &str, args: &[Arg], d: Reg, ret: TypeId) -> Result<(), Trap> {
        let mut base = name;
        loop {
            if self.known_intrinsic(base, args, d, ret)? {
                return Ok(());
            }
            match base.rsplit_once('.') {
                Some((shorter, _)) => base = shorter,
                None => return Err(Trap::unsupported(format!("the intrinsic `llvm.{name}`"))),
            }
        }
    }

    /// Whether the steps of an intrinsic were appended.
    fn known_intrinsic(&mut self, base: &str, args: &[Arg], d: Reg, ret: TypeId) -> Result<bool, Trap> {
        if is_silent(base) {
            return Ok(true);
        }
        if let Some(op) = unary(base) {
            let a = arg(args, 0)?;
            let (count, scalar) = self.lanes(a.ty)?;
            let (bits, words) = (int_bits(scalar)?, scalar.words());
            (0..count).for_each(|l| self.push(Code::IntUnary { op, bits, d: d + l * words, a: a.reg + l * words }));
        } else if let Some(op) = pair(base) {
            let (a, b) = (arg(args, 0)?, arg(args, 1)?);
            let (count, scalar) = self.lanes(a.ty)?;
            let out = self.lanes(ret)?.1;
            let (bits, out_bits, w) = (int_bits(scalar)?, int_bits(out)?, scalar.words());
            for l in 0..count {
                let (d, a, b) = (d + l * out.words(), a.reg + l * w, b.reg + l * w);
                self.push(Code::IntPair { op, bits, out_bits, d, a, b });
            }
        } else if let Some((op, signed)) = overflow(base) {
            let (a, b) = (arg(args, 0)?, arg(args, 1)?);
            let (count, scalar) = self.lanes(a.ty)?;
            let (bits, w) = (int_bits(scalar)?, scalar.words());
            for l in 0..count {
                let (value, flag) = (d + l * w, d + count * w + l);
                let (a, b) = (a.reg + l * w, b.reg + l * w);
                self.push(Code::Overflow { op, signed, bits, d: value, e: flag, a, b });
            }
        } else if matches!(base, "fma" | "fmuladd") {
            let (a, b, c) = (arg(args, 0)?, arg(args, 1)?, arg(args, 2)?);
            let (count, scalar) = self.lanes(a.ty)?;
            let (kind, w) = (float_kind(scalar)?, scalar.words());
            let fused = base == "fma" || self.interp.config.fuse_multiply_add;
            for at in (0..count).map(|l| l * w) {
                let (d, a, b, c) = (d + at, a.reg + at, b.reg + at, c.reg + at);
                self.push(match (kind, fused) {
                    (FloatKind::Double, false) => Code::FMulAdd64 { d, a, b, c },
                    _ => Code::Fma { kind, d, a, b, c, fused },
                });
            }
        } else if matches!(base, "ldexp" | "powi") {
            let f = if base == "powi" { math::WithInt::Powi } else { math::WithInt::Ldexp };
            let (a, i) = (arg(args, 0)?, arg(args, 1)?);
            let ((count, scalar), (ints, int)) = (self.lanes(a.ty)?, self.lanes(i.ty)?);
            let (kind, w) = (float_kind(scalar)?, scalar.words());
            for l in 0..count {
                let (d, a, i) = (d + l * w, a.reg + l * w, i.reg + if ints > 1 { l * int.words() } else { 0 });
                self.push(Code::MathInt { f, kind, d, a, i, sh: unused(int.bits()) });
            }
        } else if matches!(base, "frexp" | "modf" | "sincos" | "sincospi") {
            self.two_results(base, args, d, ret)?;
        } else if matches!(base, "fptosi.sat" | "fptoui.sat") {
            let a = arg(args, 0)?;
            let ((count, from), (_, to)) = (self.lanes(a.ty)?, self.lanes(ret)?);
            let (kind, bits, signed) = (float_kind(from)?, int_bits(to)?, base == "fptosi.sat");
            for l in 0..count {
                let (d, a) = (d + l * to.words(), a.reg + l * from.words());
                self.push(Code::SatInt { signed, kind, bits, d, a });
            }
        } else if base == "is.fpclass" {
            let (a, mask) = (arg(args, 0)?, arg(args, 1)?.reg);
            let (count, scalar) = self.lanes(a.ty)?;
            let kind = float_kind(scalar)?;
            for l in 0..count {
                self.push(Code::FpClass { kind, d: d + l, a: a.reg + l * scalar.words(), mask });
            }
        } else if matches!(base, "fshl" | "fshr") {
            let (a, b, c) = (arg(args, 0)?, arg(args, 1)?, arg(args, 2)?);
            let (count, scalar) = self.lanes(a.ty)?;
            let (bits, w) = (u32::from(int_bits(scalar)?), scalar.words());
            for at in (0..count).map(|l| l * w) {
                let (a, b, c) = (a.reg + at, b.reg + at, c.reg + at);
                self.push(Code::Funnel(Box::new(Funnel { left: base == "fshl", bits, d: d + at, a, b, c })));
            }
        } else if let Some(function) = math::intrinsic(base) {
            self.math_lanes(function, args, d, ret)?;
        } else if base.starts_with("vector.reduce.") {
            self.reduce(base.get(14..).unwrap_or(""), args, d)?;
        } else {
            return self.memory_intrinsic(base, args, d, ret);
        }
        Ok(true)
    }

    fn math_lanes(&mut self, function: math::Function, args: &[Arg], d: Reg, ret: TypeId) -> Result<(), Trap> {
        let (count, out) = self.lanes(ret)?;
        for lane in 0..count {
            let mut lanes = Vec::new();
            for a in args {
                let (_, scalar) = self.lanes(a.ty)?;
                let reg = a.reg + lane * scalar.words();
                lanes.push(Arg { reg, words: scalar.words(), ty: a.ty, scalar: Some(scalar) });
            }
            let d = d + lane * out.words();
            let code = scalar_math(function, &lanes, d, out);
            self.push(code.ok_or_else(wrong_type)?);
        }
        Ok(())
    }

    fn two_results(&mut self, base: &str, args: &[Arg], d: Reg, ret: TypeId) -> Result<(), Trap> {
        let a = arg(args, 0)?;
        let (count, scalar) = self.lanes(a.ty)?;
        let (kind, w) = (float_kind(scalar)?, scalar.words());
        let (second, ty) = self.interp.shapes.element(ret, &[1])?;
        let (_, other) = self.lanes(ty)?;
        let f = match base {
            "frexp" => Split::Frexp,
            "modf" => Split::Modf,
            "sincos" => Split::SinCos,
            _ => Split::SinCosPi,
        };
        let bits = other.bits() as u8;
        for l in 0..count {
            let (d, e, a) = (d + l * w, d + second + l * other.words(), a.reg + l * w);
            self.push(Code::Split { f, kind, bits, d, e, a });
        }
        Ok(())
    }

    /// Reductions go through the lanes in order, from the start value if there is one.
    fn reduce(&mut self, what: &str, args: &[Arg], d: Reg) -> Result<(), Trap> {
        let kind_name = what.split('.').next().unwrap_or("");
        let with_start = matches!(kind_name, "fadd" | "fmul");
        let v = arg(args, usize::from(with_start))?;
        let (count, scalar) = self.lanes(v.ty)?;
        let w = scalar.words();
        let (mut sum, first) = if with_start { (arg(args, 0)?.reg, 0) } else { (v.reg, 1) };
        let bits = scalar.bits().min(128) as u8;
        for l in first..count {
            let next = if l + 1 == count { d } else { self.fresh(w) };
            let (d, a, b) = (next, sum, v.reg + l * w);
            let int = |op| Code::Int { op, bits, d, a, b };
            let pair = |op| Code::IntPair { op, bits, out_bits: bits, d, a, b };
            let code = match kind_name {
                "fadd" => Code::Float { op: BinOp::FAdd, kind: float_kind(scalar)?, d, a, b },
                "fmul" => Code::Float { op: BinOp::FMul, kind: float_kind(scalar)?, d, a, b },
                "add" => int(BinOp::Add),
                "mul" => int(BinOp::Mul),
                "and" => int(BinOp::And),
                "or" => int(BinOp::Or),
                "xor" => int(BinOp::Xor),
                "smin" => pair(Pair::SMin),
                "smax" => pair(Pair::SMax),
                "umin" => pair(Pair::UMin),
                "umax" => pair(Pair::UMax),
                "fmin" | "fmax" | "fminimum" | "fmaximum" => {
                    let Some(math::Function::Two(f)) = math::find(kind_name) else { return Err(wrong_type()) };
                    Code::Math2 { kind: float_kind(scalar)?, d, a, b, f }
                }
                _ => return Err(Trap::unsupported(format!("the intrinsic `llvm.vector.reduce.{what}`"))),
            };
            self.push(code);
            sum = next;
        }
        if first >= count {
            self.moves(d, sum, w);
        }
        Ok(())
    }

    /// Element count of a vector type, for intrinsics whose name does not say it.
    pub fn vector_len(&self, ty: TypeId) -> u32 {
        match self.interp.shapes.ty(ty) {
            Type::Vector { len, .. } => *len,
            _ => 1,
        }
    }
}
