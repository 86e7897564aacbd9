//! Types of LLVM 22, interned.
//!
//! A [`TypeId`] is equal exactly when the type is: structures compare structurally unless they are named, in
//! which case the name decides, as in LLVM. Pointers are opaque and carry an address space only.
//!
//! Not represented: the bodies of target extension types (they are carried by name and parameters).

use indexmap::IndexSet;

use crate::ids::TypeId;
use cranelift_entity::EntityRef;

/// A floating-point format of LLVM.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FloatKind {
    /// IEEE binary16.
    Half,
    /// Brain float, 8 exponent bits.
    BFloat,
    /// IEEE binary32.
    Float,
    /// IEEE binary64.
    Double,
    /// x87 80-bit extended.
    X86Fp80,
    /// IEEE binary128.
    Fp128,
    /// PowerPC double-double.
    PpcFp128,
}

impl FloatKind {
    /// All formats, narrowest first.
    pub const ALL: [FloatKind; 7] = [
        FloatKind::Half,
        FloatKind::BFloat,
        FloatKind::Float,
        FloatKind::Double,
        FloatKind::X86Fp80,
        FloatKind::Fp128,
        FloatKind::PpcFp128,
    ];

    /// Width of the format in bits (80 for `x86_fp80`, whose storage is larger).
    pub fn bits(self) -> u32 {
        match self {
            FloatKind::Half | FloatKind::BFloat => 16,
            FloatKind::Float => 32,
            FloatKind::Double => 64,
            FloatKind::X86Fp80 => 80,
            FloatKind::Fp128 | FloatKind::PpcFp128 => 128,
        }
    }

    /// LLVM's keyword.
    pub fn name(self) -> &'static str {
        match self {
            FloatKind::Half => "half",
            FloatKind::BFloat => "bfloat",
            FloatKind::Float => "float",
            FloatKind::Double => "double",
            FloatKind::X86Fp80 => "x86_fp80",
            FloatKind::Fp128 => "fp128",
            FloatKind::PpcFp128 => "ppc_fp128",
        }
    }

    /// The suffix in names of overloaded intrinsics (`f64`).
    pub fn intrinsic_suffix(self) -> &'static str {
        match self {
            FloatKind::Half => "f16",
            FloatKind::BFloat => "bf16",
            FloatKind::Float => "f32",
            FloatKind::Double => "f64",
            FloatKind::X86Fp80 => "f80",
            FloatKind::Fp128 => "f128",
            FloatKind::PpcFp128 => "ppcf128",
        }
    }
}

/// One type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// No value.
    Void,
    /// Integer of `n` bits, 1 to 2^23.
    Int(u32),
    /// Floating point.
    Float(FloatKind),
    /// Opaque pointer in an address space.
    Ptr(u32),
    /// `<len x elem>`, or `<vscale x len x elem>` if scalable.
    Vector {
        /// Lane type.
        elem: TypeId,
        /// (Minimum) number of lanes.
        len: u32,
        /// Multiplied by the run-time `vscale`.
        scalable: bool,
    },
    /// `[len x elem]`.
    Array {
        /// Element type.
        elem: TypeId,
        /// Number of elements.
        len: u64,
    },
    /// Structure, literal or named.
    Struct(StructType),
    /// Function signature.
    Func {
        /// Return type.
        ret: TypeId,
        /// Fixed parameters.
        params: Vec<TypeId>,
        /// More arguments may follow.
        variadic: bool,
    },
    /// Basic block label.
    Label,
    /// Metadata as an operand.
    Metadata,
    /// Token.
    Token,
    /// AMX tile.
    X86Amx,
    /// `target("name", types..., ints...)`.
    TargetExt {
        /// Target type name.
        name: String,
        /// Type parameters.
        types: Vec<TypeId>,
        /// Integer parameters.
        ints: Vec<u32>,
    },
}

/// A structure type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct StructType {
    /// Identity of a named structure; `None` for a literal one.
    pub name: Option<String>,
    /// Field types; `None` for an opaque structure.
    pub fields: Option<Vec<TypeId>>,
    /// No padding between the fields.
    pub packed: bool,
}

/// Interner of types.
#[derive(Clone, Debug)]
pub struct Types {
    set: IndexSet<Type>,
}

impl Default for Types {
    fn default() -> Self {
        Types { set: IndexSet::new() }
    }
}

impl Types {
    /// The id of `ty`, the same for equal types.
    pub fn intern(&mut self, ty: Type) -> TypeId {
        TypeId::new(self.set.insert_full(ty).0)
    }

    /// The id of `ty` if it was interned before.
    pub fn find(&self, ty: &Type) -> Option<TypeId> {
        self.set.get_index_of(ty).map(TypeId::new)
    }

    /// Number of interned types.
    pub fn len(&self) -> usize {
        self.set.len()
    }

    /// Whether no type was interned.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// `void`.
    pub fn void(&mut self) -> TypeId {
        self.intern(Type::Void)
    }
    /// `iN`.
    pub fn int(&mut self, bits: u32) -> TypeId {
        self.intern(Type::Int(bits))
    }
    /// A floating-point type.
    pub fn float(&mut self, kind: FloatKind) -> TypeId {
        self.intern(Type::Float(kind))
    }
    /// `double`.
    pub fn double(&mut self) -> TypeId {
        self.float(FloatKind::Double)
    }
    /// `ptr` in address space 0.
    pub fn ptr(&mut self) -> TypeId {
        self.intern(Type::Ptr(0))
    }
    /// `[len x elem]`.
    pub fn array(&mut self, elem: TypeId, len: u64) -> TypeId {
        self.intern(Type::Array { elem, len })
    }
    /// `<len x elem>`, fixed.
    pub fn vector(&mut self, elem: TypeId, len: u32) -> TypeId {
        self.intern(Type::Vector { elem, len, scalable: false })
    }
    /// Literal, unpacked structure.
    pub fn tuple(&mut self, fields: Vec<TypeId>) -> TypeId {
        self.intern(Type::Struct(StructType { name: None, fields: Some(fields), packed: false }))
    }
    /// Signature without variadic part.
    pub fn func(&mut self, ret: TypeId, params: Vec<TypeId>) -> TypeId {
        self.intern(Type::Func { ret, params, variadic: false })
    }

    /// The float format of a scalar float or of the lanes of a float vector.
    pub fn float_kind(&self, ty: TypeId) -> Option<FloatKind> {
        match &self[ty] {
            Type::Float(k) => Some(*k),
            Type::Vector { elem, .. } => self.float_kind(*elem),
            Type::Void
            | Type::Int(_)
            | Type::Ptr(_)
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

    /// Whether `ty` is a float or a vector of floats.
    pub fn is_float_or_vector(&self, ty: TypeId) -> bool {
        self.float_kind(ty).is_some()
    }

    /// Whether `ty` is a pointer or a vector of pointers.
    pub fn is_pointer_or_vector(&self, ty: TypeId) -> bool {
        match &self[ty] {
            Type::Ptr(_) => true,
            Type::Vector { elem, .. } => matches!(self[*elem], Type::Ptr(_)),
            _ => false,
        }
    }

    /// The element or field types of an aggregate or vector, with repetition counts; empty for scalars.
    pub fn children(&self, ty: TypeId) -> Vec<(TypeId, u64)> {
        match &self[ty] {
            Type::Vector { elem, len, .. } => vec![(*elem, u64::from(*len))],
            Type::Array { elem, len } => vec![(*elem, *len)],
            Type::Struct(s) => s.fields.iter().flatten().map(|f| (*f, 1)).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether a scalar satisfying `pred` occurs anywhere in `ty`.
    pub fn contains(&self, ty: TypeId, pred: &dyn Fn(&Type) -> bool) -> bool {
        pred(&self[ty]) || self.children(ty).iter().any(|(c, n)| *n > 0 && self.contains(*c, pred))
    }

    /// Whether `ty` holds a float anywhere.
    pub fn contains_float(&self, ty: TypeId) -> bool {
        self.contains(ty, &|t| matches!(t, Type::Float(_)))
    }

    /// Whether `ty` holds a pointer anywhere.
    pub fn contains_pointer(&self, ty: TypeId) -> bool {
        self.contains(ty, &|t| matches!(t, Type::Ptr(_)))
    }

    /// Where floats, or vectors of them, lie in the structures and arrays that `ty` is made of, and their types.
    pub fn float_fields(&self, ty: TypeId) -> Vec<(Vec<u32>, TypeId)> {
        let fields: Vec<TypeId> = match &self[ty] {
            Type::Array { elem, len } if self.contains_float(*elem) => vec![*elem; *len as usize],
            Type::Struct(s) => s.fields.clone().unwrap_or_default(),
            _ => return Vec::new(),
        };
        let mut out = Vec::new();
        for (n, field) in (0..).zip(fields) {
            if self.is_float_or_vector(field) {
                out.push((vec![n], field));
            }
            out.extend(self.float_fields(field).into_iter().map(|(path, float)| ([vec![n], path].concat(), float)));
        }
        out
    }

    /// The type of `ty` after following `path` (as `extractvalue` does), or `None` if the path leaves it.
    pub fn at_path(&self, ty: TypeId, path: &[u32]) -> Option<TypeId> {
        let Some((first, rest)) = path.split_first() else { return Some(ty) };
        let next = match &self[ty] {
            Type::Array { elem, len } if u64::from(*first) < *len => *elem,
            Type::Struct(s) => *s.fields.as_ref()?.get(*first as usize)?,
            _ => return None,
        };
        self.at_path(next, rest)
    }
}

impl std::ops::Index<TypeId> for Types {
    type Output = Type;
    fn index(&self, id: TypeId) -> &Type {
        &self.set[id.index()]
    }
}
