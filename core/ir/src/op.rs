//! Operations of LLVM 22.
//!
//! [`Op`] holds what an instruction has beside its value operands: predicates, targets, types, flags. Value
//! operands stand in [`Inst::args`](crate::Inst) in the order given at each variant.

use bitflags::bitflags;

use crate::ids::{BlockId, ConstId, TypeId};

/// Two-operand arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the names are LLVM's")]
pub enum BinOp {
    Add,
    FAdd,
    Sub,
    FSub,
    Mul,
    FMul,
    UDiv,
    SDiv,
    FDiv,
    URem,
    SRem,
    FRem,
    Shl,
    LShr,
    AShr,
    And,
    Or,
    Xor,
}

/// Conversion.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the names are LLVM's")]
pub enum CastOp {
    Trunc,
    ZExt,
    SExt,
    FPToUI,
    FPToSI,
    UIToFP,
    SIToFP,
    FPTrunc,
    FPExt,
    PtrToInt,
    PtrToAddr,
    IntToPtr,
    BitCast,
    AddrSpaceCast,
}

/// Integer comparison.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the names are LLVM's")]
pub enum IntPred {
    Eq,
    Ne,
    Ugt,
    Uge,
    Ult,
    Ule,
    Sgt,
    Sge,
    Slt,
    Sle,
}

/// Floating-point comparison.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the names are LLVM's")]
pub enum FloatPred {
    False,
    Oeq,
    Ogt,
    Oge,
    Olt,
    Ole,
    One,
    Ord,
    Uno,
    Ueq,
    Ugt,
    Uge,
    Ult,
    Ule,
    Une,
    True,
}

/// Read-modify-write operation of `atomicrmw`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the names are LLVM's")]
pub enum RmwOp {
    Xchg,
    Add,
    Sub,
    And,
    Nand,
    Or,
    Xor,
    Max,
    Min,
    UMax,
    UMin,
    FAdd,
    FSub,
    FMax,
    FMin,
    FMaximum,
    FMinimum,
    UIncWrap,
    UDecWrap,
    USubCond,
    USubSat,
}

/// Atomic ordering.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[expect(missing_docs, reason = "the names are LLVM's")]
pub enum Ordering {
    #[default]
    NotAtomic,
    Unordered,
    Monotonic,
    Acquire,
    Release,
    AcquireRelease,
    SequentiallyConsistent,
}

bitflags! {
    /// Fast-math flags.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
    pub struct FastMath: u8 {
        /// Reassociation.
        const REASSOC = 1;
        /// No NaNs.
        const NNAN = 2;
        /// No infinities.
        const NINF = 4;
        /// Signed zeros do not matter.
        const NSZ = 8;
        /// Reciprocal instead of division.
        const ARCP = 16;
        /// Contraction (fma).
        const CONTRACT = 32;
        /// Approximate functions.
        const AFN = 64;
    }
}

bitflags! {
    /// Promises on integer arithmetic and conversions.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
    pub struct IntFlags: u8 {
        /// No unsigned wrap.
        const NUW = 1;
        /// No signed wrap.
        const NSW = 2;
        /// Exact division or shift.
        const EXACT = 4;
        /// `or disjoint`.
        const DISJOINT = 8;
        /// `zext nneg`, `uitofp nneg`.
        const NNEG = 16;
        /// `icmp samesign`.
        const SAMESIGN = 32;
    }
}

bitflags! {
    /// Promises on address arithmetic.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
    pub struct GepFlags: u8 {
        /// `inbounds` (implies `nusw`).
        const INBOUNDS = 1;
        /// No unsigned-signed wrap.
        const NUSW = 2;
        /// No unsigned wrap.
        const NUW = 4;
    }
}

/// How a memory access is made.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Access {
    /// Alignment in bytes, a power of two; 0 means the ABI's.
    pub align: u32,
    /// `volatile`.
    pub volatile: bool,
    /// Atomic ordering.
    pub ordering: Ordering,
}

/// Which of the memories that a derivative keeps apart an access touches. Primal and shadow of one object, and
/// the tape, never overlap; export turns this into alias scopes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum MemClass {
    /// Not known: no promise.
    #[default]
    Unknown,
    /// Memory of the primal program.
    Primal,
    /// Tangent or adjoint memory.
    Shadow,
    /// Cached primal values.
    Tape,
    /// Tangent or adjoint memory of another lane than the first.
    Lane(u8),
}

impl MemClass {
    /// Lanes of which it is promised that their memory does not overlap; further ones are of one class.
    pub const LANES: u8 = 15;

    /// The tangent or adjoint memory of a lane.
    pub fn shadow(lane: usize) -> MemClass {
        match lane {
            0 => MemClass::Shadow,
            n => MemClass::Lane(n.min(usize::from(MemClass::LANES)) as u8),
        }
    }
}

/// What a call has beside its operands.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct CallInfo {
    /// Function type of the call.
    pub sig: TypeId,
    /// Number of call arguments; operands after them belong to operand bundles.
    pub num_args: u32,
    /// `tail`, `musttail` or `notail` marker.
    pub tail: TailKind,
    /// LLVM's numeric calling convention.
    pub conv: u32,
}

/// Tail marker of a call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[expect(missing_docs, reason = "the names are LLVM's")]
pub enum TailKind {
    #[default]
    None,
    Tail,
    MustTail,
    NoTail,
}

/// Clause of a `landingpad`; the operand is in the instruction's arguments, in order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names are LLVM's")]
pub enum Clause {
    Catch,
    Filter,
}

/// An operation, with all that is not a value operand.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// `fneg a`.
    FNeg,
    /// `a op b`.
    Binary(BinOp),
    /// Conversion of `a`.
    Cast(CastOp),
    /// Comparison of `a` and `b`.
    ICmp(IntPred),
    /// Comparison of `a` and `b`.
    FCmp(FloatPred),
    /// Incoming values as operands, in the order of these predecessor blocks.
    Phi(Vec<BlockId>),
    /// `select cond, a, b`.
    Select,
    /// `freeze a`.
    Freeze,
    /// Stack slot: operand is the element count.
    Alloca {
        /// Element type.
        elem: TypeId,
        /// Alignment in bytes; 0 means the ABI's.
        align: u32,
    },
    /// Operand: address.
    Load(Access),
    /// Operands: value, address.
    Store(Access),
    /// Operands: base, indices.
    Gep {
        /// Source element type.
        elem: TypeId,
        /// Promises.
        flags: GepFlags,
    },
    /// Memory fence.
    Fence(Ordering),
    /// Operands: address, expected, new; result `{T, i1}`.
    CmpXchg {
        /// Ordering on success.
        success: Ordering,
        /// Ordering on failure.
        failure: Ordering,
        /// May fail spuriously.
        weak: bool,
        /// Alignment, volatility.
        access: Access,
    },
    /// Operands: address, value.
    AtomicRmw(RmwOp, Access),
    /// Operands: callee, arguments, bundle operands.
    Call(Box<CallInfo>),
    /// `va_arg`; operand: list.
    VaArg,
    /// Operands: vector, index.
    ExtractElement,
    /// Operands: vector, element, index.
    InsertElement,
    /// Operands: two vectors; mask, -1 is poison.
    ShuffleVector(Vec<i32>),
    /// Operand: aggregate; path.
    ExtractValue(Vec<u32>),
    /// Operands: aggregate, element; path.
    InsertValue(Vec<u32>),
    /// Operands: clause values.
    LandingPad {
        /// `cleanup`.
        cleanup: bool,
        /// Kinds of the clauses, in operand order.
        clauses: Vec<Clause>,
    },
    /// Operands: parent pad, arguments.
    CleanupPad,
    /// Operands: catchswitch, arguments.
    CatchPad,

    // Terminators.
    /// Operand: value, or none for `ret void`.
    Ret,
    /// Unconditional branch.
    Br(BlockId),
    /// Operand: condition.
    CondBr {
        /// Taken when the condition is true.
        then_to: BlockId,
        /// Taken when it is false.
        else_to: BlockId,
    },
    /// Operand: scrutinee.
    Switch {
        /// Where no case matches.
        default: BlockId,
        /// Constants and targets.
        cases: Vec<(ConstId, BlockId)>,
    },
    /// Operand: address; possible targets.
    IndirectBr(Vec<BlockId>),
    /// As a call.
    Invoke {
        /// As for a call.
        call: Box<CallInfo>,
        /// Normal return.
        normal: BlockId,
        /// Landing pad.
        unwind: BlockId,
    },
    /// As a call.
    CallBr {
        /// As for a call.
        call: Box<CallInfo>,
        /// Fall-through.
        default: BlockId,
        /// Labels named by the assembly.
        indirect: Vec<BlockId>,
    },
    /// Operand: the value being thrown on.
    Resume,
    /// No way further.
    Unreachable,
    /// Operand: pad.
    CleanupRet(Option<BlockId>),
    /// Operand: pad.
    CatchRet(BlockId),
    /// Operand: parent pad.
    CatchSwitch {
        /// Handlers.
        handlers: Vec<BlockId>,
        /// Where to go if none matches; `None` unwinds to the caller.
        unwind: Option<BlockId>,
    },
}

impl Op {
    /// Whether this ends a block.
    pub fn is_terminator(&self) -> bool {
        match self {
            Op::Ret
            | Op::Br(_)
            | Op::CondBr { .. }
            | Op::Switch { .. }
            | Op::IndirectBr(_)
            | Op::Invoke { .. }
            | Op::CallBr { .. }
            | Op::Resume
            | Op::Unreachable
            | Op::CleanupRet(_)
            | Op::CatchRet(_)
            | Op::CatchSwitch { .. } => true,
            Op::FNeg
            | Op::Binary(_)
            | Op::Cast(_)
            | Op::ICmp(_)
            | Op::FCmp(_)
            | Op::Phi(_)
            | Op::Select
            | Op::Freeze
            | Op::Alloca { .. }
            | Op::Load(_)
            | Op::Store(_)
            | Op::Gep { .. }
            | Op::Fence(_)
            | Op::CmpXchg { .. }
            | Op::AtomicRmw(..)
            | Op::Call(_)
            | Op::VaArg
            | Op::ExtractElement
            | Op::InsertElement
            | Op::ShuffleVector(_)
            | Op::ExtractValue(_)
            | Op::InsertValue(_)
            | Op::LandingPad { .. }
            | Op::CleanupPad
            | Op::CatchPad => false,
        }
    }

    /// Successor blocks of a terminator, in operand order, with repetitions.
    pub fn successors(&self) -> Vec<BlockId> {
        let mut out = Vec::new();
        self.each_target(&mut |b| out.push(b));
        out
    }

    /// Calls `f` with each target.
    fn each_target(&self, f: &mut dyn FnMut(BlockId)) {
        let mut copy = self.clone();
        copy.map_targets(&mut |b| {
            f(b);
            b
        });
    }

    /// Replaces each branch target `b` by `f(b)`. The blocks of a phi are not targets.
    pub fn map_targets(&mut self, f: &mut dyn FnMut(BlockId) -> BlockId) {
        match self {
            Op::Br(b) | Op::CatchRet(b) => *b = f(*b),
            Op::CondBr { then_to, else_to } => {
                *then_to = f(*then_to);
                *else_to = f(*else_to);
            }
            Op::Switch { default, cases } => {
                *default = f(*default);
                cases.iter_mut().for_each(|(_, b)| *b = f(*b));
            }
            Op::IndirectBr(targets) => targets.iter_mut().for_each(|b| *b = f(*b)),
            Op::Invoke { normal, unwind, .. } => {
                *normal = f(*normal);
                *unwind = f(*unwind);
            }
            Op::CallBr { default, indirect, .. } => {
                *default = f(*default);
                indirect.iter_mut().for_each(|b| *b = f(*b));
            }
            Op::CleanupRet(Some(b)) => *b = f(*b),
            Op::CatchSwitch { handlers, unwind } => {
                handlers.iter_mut().for_each(|b| *b = f(*b));
                if let Some(b) = unwind {
                    *b = f(*b);
                }
            }
            _ => {}
        }
    }

    /// The call part of `call`, `invoke` and `callbr`.
    pub fn call_info(&self) -> Option<&CallInfo> {
        match self {
            Op::Call(c) | Op::Invoke { call: c, .. } | Op::CallBr { call: c, .. } => Some(c),
            _ => None,
        }
    }
}
