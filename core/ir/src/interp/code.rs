//! What a function is decoded into before it runs.
//!
//! Registers are numbered within a frame: parameters, then constants, then results. Vector arithmetic is unrolled
//! into its lanes, constants are evaluated, branches lead to positions in the code, and phis are moves on the edges.

use std::rc::Rc;

use super::arith::{Pair, Unary};
use super::math;
use super::shape::{Flat, Scalar};
use super::trap::Trap;
use crate::ids::{FuncId, InstId, TypeId};
use crate::op::{BinOp, CastOp, FloatPred, IntPred, RmwOp};
use crate::types::FloatKind;

/// A register of a frame.
pub(super) type Reg = u32;

/// One step. `d` is the result, `a`, `b`, `c` are operands; `sh` is 64 minus the width of an integer.
/// Set as a table, one line per step.
#[derive(Debug)]
#[rustfmt::skip]
pub(super) enum Code {
    Mov { d: Reg, a: Reg },
    MovN { d: Reg, a: Reg, n: u32 },
    Set { d: Reg, value: u64 },
    Jump(u32),
    CondBr { c: Reg, then_to: u32, else_to: u32 },
    Switch(Box<Switch>),
    Ret { a: Reg, n: u32 },
    Trap(Box<Trap>),

    Add { d: Reg, a: Reg, b: Reg, sh: u8 },
    Sub { d: Reg, a: Reg, b: Reg, sh: u8 },
    Mul { d: Reg, a: Reg, b: Reg, sh: u8 },
    And { d: Reg, a: Reg, b: Reg },
    Or { d: Reg, a: Reg, b: Reg },
    Xor { d: Reg, a: Reg, b: Reg },
    Shl { d: Reg, a: Reg, b: Reg, sh: u8 },
    LShr { d: Reg, a: Reg, b: Reg },
    AShr { d: Reg, a: Reg, b: Reg, sh: u8 },
    /// Any integer operation of at most 128 bits.
    Int { op: BinOp, bits: u8, d: Reg, a: Reg, b: Reg },
    ICmp { pred: IntPred, d: Reg, a: Reg, b: Reg, sh: u8 },
    ICmpWide { pred: IntPred, bits: u8, d: Reg, a: Reg, b: Reg },

    FAdd64 { d: Reg, a: Reg, b: Reg },
    FSub64 { d: Reg, a: Reg, b: Reg },
    FMul64 { d: Reg, a: Reg, b: Reg },
    FDiv64 { d: Reg, a: Reg, b: Reg },
    FNeg64 { d: Reg, a: Reg },
    FMulAdd64 { d: Reg, a: Reg, b: Reg, c: Reg },
    FCmp64 { pred: FloatPred, d: Reg, a: Reg, b: Reg },
    Float { op: BinOp, kind: FloatKind, d: Reg, a: Reg, b: Reg },
    FNeg { kind: FloatKind, d: Reg, a: Reg },
    FCmp { pred: FloatPred, kind: FloatKind, d: Reg, a: Reg, b: Reg },

    /// Keeps the low bits.
    ZExt { d: Reg, a: Reg, sh: u8 },
    SExt { d: Reg, a: Reg, from_sh: u8, to_sh: u8 },
    /// Signed integer of at most 64 bits to `double`.
    SToF64 { d: Reg, a: Reg, sh: u8 },
    Cast(Box<Cast>),
    BitCast(Box<BitCast>),

    Select { d: Reg, c: Reg, a: Reg, b: Reg },
    SelectN(Box<[Reg; 5]>),
    /// `n` registers from `a`, the lane chosen by register `b` among `len`.
    ExtractLane { d: Reg, a: Reg, b: Reg, n: u32, len: u32 },
    /// Replaces in place, after the vector was moved to `d`.
    InsertLane { d: Reg, a: Reg, b: Reg, n: u32, len: u32 },

    Alloca { d: Reg, count: Reg, size: u64 },
    Load8 { d: Reg, a: Reg },
    Load4 { d: Reg, a: Reg },
    Load1 { d: Reg, a: Reg, sh: u8 },
    Store8 { a: Reg, v: Reg },
    Store4 { a: Reg, v: Reg },
    Store1 { a: Reg, v: Reg },
    LoadFlat(Box<(Reg, Reg, Rc<Flat>)>),
    StoreFlat(Box<(Reg, Reg, Rc<Flat>)>),
    /// Address plus constant.
    Offset { d: Reg, a: Reg, by: i64 },
    /// Address plus scaled index plus constant.
    Index { d: Reg, a: Reg, i: Reg, scale: u32, by: i32, sh: u8 },
    Gep(Box<Gep>),
    CmpXchg(Box<CmpXchg>),
    Rmw(Box<Rmw>),
    /// `memcpy` or `memmove`.
    Copy { to: Reg, from: Reg, len: Reg, len_sh: u8 },
    Fill { to: Reg, byte: Reg, len: Reg, len_sh: u8 },
    Masked(Box<Masked>),

    Call(Box<Call>),
    Host(Box<Host>),
    Math1 { kind: FloatKind, d: Reg, a: Reg, f: &'static math::Row1 },
    Math2 { kind: FloatKind, d: Reg, a: Reg, b: Reg, f: &'static math::Row2 },
    Fma { kind: FloatKind, d: Reg, a: Reg, b: Reg, c: Reg, fused: bool },
    /// Float scaled by, raised to or of order of a signed integer.
    MathInt { f: math::WithInt, kind: FloatKind, d: Reg, a: Reg, i: Reg, sh: u8 },
    /// Float to integer.
    ToInt { f: math::ToInt, kind: FloatKind, bits: u8, d: Reg, a: Reg },
    /// Saturating conversion.
    SatInt { signed: bool, kind: FloatKind, bits: u8, d: Reg, a: Reg },
    /// Two floats, or a float and an integer of `bits`, in two places.
    Split { f: math::Split, kind: FloatKind, bits: u8, d: Reg, e: Reg, a: Reg },
    FpClass { kind: FloatKind, d: Reg, a: Reg, mask: Reg },
    IntUnary { op: Unary, bits: u8, d: Reg, a: Reg },
    IntPair { op: Pair, bits: u8, out_bits: u8, d: Reg, a: Reg, b: Reg },
    /// Value to `d`, flag to `e`.
    Overflow { op: BinOp, signed: bool, bits: u8, d: Reg, e: Reg, a: Reg, b: Reg },
    Funnel(Box<Funnel>),
    StackSave { d: Reg },
    StackRestore { a: Reg },
    VaStart { a: Reg },
}

/// Targets of a `switch`, the cases sorted.
#[derive(Debug)]
pub(super) struct Switch {
    pub value: Reg,
    pub words: u32,
    pub cases: Vec<(u128, u32)>,
    pub default: u32,
}

/// A scalar conversion.
#[derive(Debug)]
pub(super) struct Cast {
    pub op: CastOp,
    pub d: Reg,
    pub a: Reg,
    pub from: Scalar,
    pub to: Scalar,
}

/// A change of type by way of the bytes.
#[derive(Debug)]
pub(super) struct BitCast {
    pub d: Reg,
    pub a: Reg,
    pub from: Rc<Flat>,
    pub to: Rc<Flat>,
}

/// Address arithmetic with several indices, in the form register, 64 minus width, scale.
#[derive(Debug)]
pub(super) struct Gep {
    pub d: Reg,
    pub a: Reg,
    pub by: i64,
    pub terms: Vec<(Reg, u8, i64)>,
}

/// Compare and exchange; the flag stands after the old value.
#[derive(Debug)]
pub(super) struct CmpXchg {
    pub d: Reg,
    pub addr: Reg,
    pub expected: Reg,
    pub new: Reg,
    pub flat: Rc<Flat>,
}

/// Read, modify, write.
#[derive(Debug)]
pub(super) struct Rmw {
    pub op: RmwOp,
    pub d: Reg,
    pub addr: Reg,
    pub value: Reg,
    pub flat: Rc<Flat>,
    pub scalar: Scalar,
}

/// Masked, gathered or scattered access, lane by lane.
#[derive(Debug)]
pub(super) struct Masked {
    /// Moves register to memory instead of memory to register.
    pub store: bool,
    /// First register of the lanes written (load) or read (store).
    pub value: Reg,
    /// Lanes where the mask is off (load).
    pub other: Reg,
    pub addr: Reg,
    /// `addr` is a vector of addresses.
    pub many: bool,
    /// Only the active lanes stand in memory, one after another.
    pub dense: bool,
    pub mask: Reg,
    pub lanes: u32,
    pub lane: Rc<Flat>,
    /// Bytes from one lane to the next.
    pub step: u64,
}

/// A shift of two integers joined.
#[derive(Debug)]
pub(super) struct Funnel {
    pub left: bool,
    pub bits: u32,
    pub d: Reg,
    pub a: Reg,
    pub b: Reg,
    pub c: Reg,
}

/// An operand of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arg {
    pub reg: Reg,
    pub words: u32,
    pub ty: TypeId,
    /// Absent for vectors and aggregates.
    pub scalar: Option<Scalar>,
}

/// Who is called.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    Func(FuncId),
    /// Address in a register.
    Address(Reg),
}

/// A call that makes a frame.
#[derive(Debug)]
pub(super) struct Call {
    pub target: Target,
    pub args: Vec<Arg>,
    pub d: Reg,
    /// Registers of the result.
    pub words: u32,
}

/// A call of a function of the interpreter or of its user.
#[derive(Debug)]
pub(super) struct Host {
    /// Position in the table of host functions.
    pub index: u32,
    pub args: Vec<Arg>,
    /// Also pass what the frame got beyond its parameters.
    pub forward: bool,
    pub d: Reg,
    /// Type of the result, absent for `void`.
    pub ret: Option<TypeId>,
}

/// A function ready to run.
#[derive(Debug)]
pub(super) struct Compiled {
    pub id: FuncId,
    pub code: Vec<Code>,
    /// The instruction that each step belongs to.
    pub insts: Vec<Option<InstId>>,
    /// Registers of each parameter.
    pub params: Vec<ParamSlot>,
    /// Registers of all parameters.
    pub param_words: usize,
    pub variadic: bool,
    /// Contents of the registers after the parameters.
    pub constants: Vec<u64>,
    /// Registers of a frame.
    pub words: usize,
    /// Registers of the result.
    pub ret_words: u32,
}

/// A parameter.
#[derive(Clone, Copy, Debug)]
pub(super) struct ParamSlot {
    pub words: u32,
    /// Takes a vector register on x86-64.
    pub in_vector: bool,
    /// Size of what is copied for `byval`.
    pub byval: Option<u64>,
}
