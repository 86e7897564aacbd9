//! LLVM's words for the enumerations of the crate, in both directions.

use crate::op::{BinOp, CastOp, FastMath, FloatPred, IntFlags, IntPred, Ordering, RmwOp, TailKind};

macro_rules! words {
    ($name:ident, $find:ident, $enum:ident { $($variant:ident = $word:literal),* $(,)? }) => {
        #[doc = concat!("LLVM's word for a [`", stringify!($enum), "`].")]
        pub fn $name(item: $enum) -> &'static str {
            match item {
                $($enum::$variant => $word,)*
            }
        }
        #[doc = concat!("The [`", stringify!($enum), "`] of a word.")]
        pub fn $find(word: &str) -> Option<$enum> {
            match word {
                $($word => Some($enum::$variant),)*
                _ => None,
            }
        }
    };
}

words!(bin_op, find_bin_op, BinOp {
    Add = "add", FAdd = "fadd", Sub = "sub", FSub = "fsub", Mul = "mul", FMul = "fmul", UDiv = "udiv", SDiv = "sdiv",
    FDiv = "fdiv", URem = "urem", SRem = "srem", FRem = "frem", Shl = "shl", LShr = "lshr", AShr = "ashr", And = "and",
    Or = "or", Xor = "xor",
});

words!(cast_op, find_cast_op, CastOp {
    Trunc = "trunc", ZExt = "zext", SExt = "sext", FPToUI = "fptoui", FPToSI = "fptosi", UIToFP = "uitofp",
    SIToFP = "sitofp", FPTrunc = "fptrunc", FPExt = "fpext", PtrToInt = "ptrtoint", PtrToAddr = "ptrtoaddr",
    IntToPtr = "inttoptr", BitCast = "bitcast", AddrSpaceCast = "addrspacecast",
});

words!(int_pred, find_int_pred, IntPred {
    Eq = "eq", Ne = "ne", Ugt = "ugt", Uge = "uge", Ult = "ult", Ule = "ule", Sgt = "sgt", Sge = "sge", Slt = "slt",
    Sle = "sle",
});

words!(float_pred, find_float_pred, FloatPred {
    False = "false", Oeq = "oeq", Ogt = "ogt", Oge = "oge", Olt = "olt", Ole = "ole", One = "one", Ord = "ord",
    Uno = "uno", Ueq = "ueq", Ugt = "ugt", Uge = "uge", Ult = "ult", Ule = "ule", Une = "une", True = "true",
});

words!(rmw_op, find_rmw_op, RmwOp {
    Xchg = "xchg", Add = "add", Sub = "sub", And = "and", Nand = "nand", Or = "or", Xor = "xor", Max = "max",
    Min = "min", UMax = "umax", UMin = "umin", FAdd = "fadd", FSub = "fsub", FMax = "fmax", FMin = "fmin",
    FMaximum = "fmaximum", FMinimum = "fminimum", UIncWrap = "uinc_wrap", UDecWrap = "udec_wrap",
    USubCond = "usub_cond", USubSat = "usub_sat",
});

words!(ordering, find_ordering, Ordering {
    NotAtomic = "not_atomic", Unordered = "unordered", Monotonic = "monotonic", Acquire = "acquire",
    Release = "release", AcquireRelease = "acq_rel", SequentiallyConsistent = "seq_cst",
});

words!(tail_kind, find_tail_kind, TailKind {
    None = "", Tail = "tail", MustTail = "musttail", NoTail = "notail",
});

/// Flags of fast-math with their words, in LLVM's order.
pub const FAST_MATH: [(FastMath, &str); 7] = [
    (FastMath::REASSOC, "reassoc"),
    (FastMath::NNAN, "nnan"),
    (FastMath::NINF, "ninf"),
    (FastMath::NSZ, "nsz"),
    (FastMath::ARCP, "arcp"),
    (FastMath::CONTRACT, "contract"),
    (FastMath::AFN, "afn"),
];

/// Integer flags with their words, in LLVM's order.
pub const INT_FLAGS: [(IntFlags, &str); 6] = [
    (IntFlags::NUW, "nuw"),
    (IntFlags::NSW, "nsw"),
    (IntFlags::EXACT, "exact"),
    (IntFlags::DISJOINT, "disjoint"),
    (IntFlags::NNEG, "nneg"),
    (IntFlags::SAMESIGN, "samesign"),
];

/// Calling conventions that have words of their own; the others are written `cc N`.
const CONVENTIONS: [(&str, u32); 52] = [
    ("ccc", 0),
    ("fastcc", 8),
    ("coldcc", 9),
    ("ghccc", 10),
    ("anyregcc", 13),
    ("preserve_mostcc", 14),
    ("preserve_allcc", 15),
    ("swiftcc", 16),
    ("cxx_fast_tlscc", 17),
    ("tailcc", 18),
    ("cfguard_checkcc", 19),
    ("swifttailcc", 20),
    ("preserve_nonecc", 21),
    ("x86_stdcallcc", 64),
    ("x86_fastcallcc", 65),
    ("arm_apcscc", 66),
    ("arm_aapcscc", 67),
    ("arm_aapcs_vfpcc", 68),
    ("msp430_intrcc", 69),
    ("x86_thiscallcc", 70),
    ("ptx_kernel", 71),
    ("ptx_device", 72),
    ("spir_func", 75),
    ("spir_kernel", 76),
    ("intel_ocl_bicc", 77),
    ("x86_64_sysvcc", 78),
    ("win64cc", 79),
    ("x86_vectorcallcc", 80),
    ("hhvmcc", 81),
    ("hhvm_ccc", 82),
    ("x86_intrcc", 83),
    ("avr_intrcc", 84),
    ("avr_signalcc", 85),
    ("amdgpu_vs", 87),
    ("amdgpu_gs", 88),
    ("amdgpu_ps", 89),
    ("amdgpu_cs", 90),
    ("amdgpu_kernel", 91),
    ("x86_regcallcc", 92),
    ("amdgpu_hs", 93),
    ("amdgpu_ls", 95),
    ("amdgpu_es", 96),
    ("aarch64_vector_pcs", 97),
    ("aarch64_sve_vector_pcs", 98),
    ("amdgpu_gfx", 100),
    ("m68k_intrcc", 101),
    ("amdgpu_cs_chain", 104),
    ("amdgpu_cs_chain_preserve", 105),
    ("m68k_rtdcc", 106),
    ("graalcc", 107),
    ("riscv_vector_cc", 110),
    ("amdgpu_gfx_whole_wave", 124),
];

/// Number of a calling convention by its word.
pub fn find_convention(word: &str) -> Option<u32> {
    CONVENTIONS.iter().find(|c| c.0 == word).map(|c| c.1)
}

/// How a calling convention is written before a type, with the blank after it: empty for C's.
pub fn convention(number: u32) -> String {
    match number {
        0 => String::new(),
        8 | 9 | 71 | 75 | 76 | 91 => match CONVENTIONS.iter().find(|c| c.1 == number) {
            Some((word, _)) => format!("{word} "),
            None => format!("cc {number} "),
        },
        n => format!("cc {n} "),
    }
}
