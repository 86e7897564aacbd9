//! Constants of LLVM 22, interned.
//!
//! Numbers are kept as bit patterns so that NaN payloads, signed zeros and wide integers survive. What has no
//! use in a derivative (inline assembly, pointer authentication) is carried as an opaque item.

use cranelift_entity::EntityRef;
use indexmap::IndexSet;
use smallvec::SmallVec;

use crate::ids::{ConstId, FuncId, GlobalId, TypeId};
use crate::op::{BinOp, CastOp, GepFlags};

/// One constant.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Const {
    /// Integer, little-endian words, the bits above its width zero.
    Int {
        /// An integer type.
        ty: TypeId,
        /// `ceil(bits / 64)` words.
        words: SmallVec<[u64; 2]>,
    },
    /// Floating point by its bits.
    Float {
        /// A float type.
        ty: TypeId,
        /// The encoding, in the low bits.
        bits: u128,
    },
    /// Null pointer, zero aggregate, zero vector or `none` of a target type.
    Zero(TypeId),
    /// `undef`.
    Undef(TypeId),
    /// `poison`.
    Poison(TypeId),
    /// Array, structure or vector by elements.
    Aggregate {
        /// Its type.
        ty: TypeId,
        /// One constant per element.
        elems: Vec<ConstId>,
    },
    /// Array or vector of simple integers or floats by its bytes, little-endian.
    Data {
        /// Its type.
        ty: TypeId,
        /// Element bytes without padding.
        bytes: Vec<u8>,
    },
    /// Address of a global variable.
    Global(GlobalId),
    /// Address of a function.
    Func(FuncId),
    /// `blockaddress`, by position of the block in its function.
    BlockAddress {
        /// The function.
        func: FuncId,
        /// Position of the block.
        block: u32,
    },
    /// Constant expression.
    Expr {
        /// Type of the result.
        ty: TypeId,
        /// Operation.
        op: ConstOp,
        /// Operands.
        args: Vec<ConstId>,
    },
    /// `token none`.
    TokenNone,
    /// Metadata operand, as text.
    Metadata(String),
    /// Anything else (inline assembly, `dso_local_equivalent`, `no_cfi`, `ptrauth`): its type, printed form.
    Opaque {
        /// Its type.
        ty: TypeId,
        /// LLVM's text for it.
        text: String,
    },
}

/// Operation of a constant expression.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ConstOp {
    /// Conversion.
    Cast(CastOp),
    /// Arithmetic.
    Binary(BinOp),
    /// Address arithmetic over the source element type.
    Gep(TypeId, GepFlags),
    /// Lane selection.
    ExtractElement,
    /// Lane replacement.
    InsertElement,
    /// Lane permutation; the mask follows, -1 is poison.
    Shuffle(Vec<i32>),
}

/// Interner of constants.
#[derive(Clone, Debug, Default)]
pub struct Consts {
    set: IndexSet<Const>,
}

impl Consts {
    /// The id of `c`, the same for equal constants.
    pub fn intern(&mut self, c: Const) -> ConstId {
        ConstId::new(self.set.insert_full(c).0)
    }
    /// Number of interned constants.
    pub fn len(&self) -> usize {
        self.set.len()
    }
    /// Whether no constant was interned.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
    }
    /// The value of an integer constant of at most 64 bits, zero-extended.
    pub fn as_u64(&self, id: ConstId) -> Option<u64> {
        match &self[id] {
            Const::Int { words, .. } if words.iter().skip(1).all(|w| *w == 0) => {
                Some(words.first().copied().unwrap_or(0))
            }
            Const::Zero(_) => Some(0),
            _ => None,
        }
    }
}

impl std::ops::Index<ConstId> for Consts {
    type Output = Const;
    fn index(&self, id: ConstId) -> &Const {
        &self.set[id.index()]
    }
}
