//! What each operation does to derivatives, by its kind alone.

use enzyme_ir::{BinOp, CastOp, Op, RmwOp};

use crate::names::lookup_inst;
use crate::rule::Rule;

/// How an operation treats derivatives.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum OpDerivative {
    /// Its row says: the floating-point arithmetic and the conversions between float formats.
    Rule(&'static Rule),
    /// The result has no derivative: comparisons, conversions between integers and floats.
    Zero,
    /// The result is one operand, or parts of some, unchanged: the derivative moves in the same way.
    Moves,
    /// Integer arithmetic: no derivative, unless the integer holds the bits of a float (or of a pointer).
    Bits,
    /// Reads, writes or makes memory, or computes an address.
    Memory,
    /// A call: decided by the callee.
    Call,
    /// Directs control: carries no value, except what `ret` returns and exceptions carry.
    Control,
}

/// How `op` treats derivatives.
pub fn op_derivative(op: &Op) -> OpDerivative {
    match op {
        Op::FNeg => by_rule(op),
        Op::Binary(b) => match b {
            BinOp::FAdd | BinOp::FSub | BinOp::FMul | BinOp::FDiv | BinOp::FRem => by_rule(op),
            BinOp::Add
            | BinOp::Sub
            | BinOp::Mul
            | BinOp::UDiv
            | BinOp::SDiv
            | BinOp::URem
            | BinOp::SRem
            | BinOp::Shl
            | BinOp::LShr
            | BinOp::AShr
            | BinOp::And
            | BinOp::Or
            | BinOp::Xor => OpDerivative::Bits,
        },
        Op::Cast(c) => match c {
            CastOp::FPExt | CastOp::FPTrunc => by_rule(op),
            CastOp::FPToUI | CastOp::FPToSI | CastOp::UIToFP | CastOp::SIToFP => OpDerivative::Zero,
            CastOp::BitCast | CastOp::AddrSpaceCast | CastOp::PtrToInt | CastOp::PtrToAddr | CastOp::IntToPtr => {
                OpDerivative::Moves
            }
            CastOp::Trunc | CastOp::ZExt | CastOp::SExt => OpDerivative::Bits,
        },
        Op::ICmp(_) | Op::FCmp(_) => OpDerivative::Zero,
        Op::Phi(_)
        | Op::Select
        | Op::Freeze
        | Op::ExtractElement
        | Op::InsertElement
        | Op::ShuffleVector(_)
        | Op::ExtractValue(_)
        | Op::InsertValue(_) => OpDerivative::Moves,
        Op::Alloca { .. }
        | Op::Load(_)
        | Op::Store(_)
        | Op::Gep { .. }
        | Op::Fence(_)
        | Op::CmpXchg { .. }
        | Op::AtomicRmw(..)
        | Op::VaArg => OpDerivative::Memory,
        Op::Call(_) | Op::Invoke { .. } | Op::CallBr { .. } => OpDerivative::Call,
        Op::LandingPad { .. }
        | Op::CleanupPad
        | Op::CatchPad
        | Op::Ret
        | Op::Br(_)
        | Op::CondBr { .. }
        | Op::Switch { .. }
        | Op::IndirectBr(_)
        | Op::Resume
        | Op::Unreachable
        | Op::CleanupRet(_)
        | Op::CatchRet(_)
        | Op::CatchSwitch { .. } => OpDerivative::Control,
    }
}

fn by_rule(op: &Op) -> OpDerivative {
    // A test checks that each of these has a row. `Call` is what is refused when nothing is known of it.
    lookup_inst(op).map_or(OpDerivative::Call, OpDerivative::Rule)
}

/// Whether the float result of `op`, if it has one, has derivative zero whatever its operands are.
pub fn is_zero_derivative(op: &Op) -> bool {
    matches!(op_derivative(op), OpDerivative::Zero)
}

/// The floating-point operation of an `atomicrmw`: the new content is `old op operand`.
pub fn rmw_float_op(op: RmwOp) -> Option<RmwFloat> {
    match op {
        RmwOp::FAdd => Some(RmwFloat::Binary(BinOp::FAdd)),
        RmwOp::FSub => Some(RmwFloat::Binary(BinOp::FSub)),
        RmwOp::FMax => Some(RmwFloat::Rule("fmax")),
        RmwOp::FMin => Some(RmwFloat::Rule("fmin")),
        RmwOp::FMaximum => Some(RmwFloat::Rule("fmaximum")),
        RmwOp::FMinimum => Some(RmwFloat::Rule("fminimum")),
        RmwOp::Xchg
        | RmwOp::Add
        | RmwOp::Sub
        | RmwOp::And
        | RmwOp::Nand
        | RmwOp::Or
        | RmwOp::Xor
        | RmwOp::Max
        | RmwOp::Min
        | RmwOp::UMax
        | RmwOp::UMin
        | RmwOp::UIncWrap
        | RmwOp::UDecWrap
        | RmwOp::USubCond
        | RmwOp::USubSat => None,
    }
}

/// See [`rmw_float_op`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RmwFloat {
    /// As the instruction.
    Binary(BinOp),
    /// As the row of this name.
    Rule(&'static str),
}
