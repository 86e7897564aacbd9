//! Modules: what a set of functions shares.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::{EntityRef, PrimaryMap};

use crate::consts::{Const, Consts};
use crate::func::{Func, Linkage};
use crate::ids::{ConstId, FuncId, GlobalId, InstId, LocId, TypeId, ValueId};
use crate::layout::DataLayout;
use crate::types::{FloatKind, Type, Types};
use smallvec::SmallVec;

/// Interned types and constants, and the layout of memory.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// Types.
    pub types: Types,
    /// Constants.
    pub consts: Consts,
    /// Sizes and alignments.
    pub layout: DataLayout,
}

impl Context {
    /// The type of a constant.
    pub fn const_type(&mut self, c: ConstId) -> TypeId {
        match &self.consts[c] {
            Const::Int { ty, .. }
            | Const::Float { ty, .. }
            | Const::Aggregate { ty, .. }
            | Const::Data { ty, .. }
            | Const::Expr { ty, .. }
            | Const::Opaque { ty, .. } => *ty,
            Const::Zero(ty) | Const::Undef(ty) | Const::Poison(ty) => *ty,
            // Address spaces of globals and functions are applied by the users of the module.
            Const::Global(_) | Const::Func(_) | Const::BlockAddress { .. } => self.types.ptr(),
            Const::TokenNone => self.types.intern(Type::Token),
            Const::Metadata(_) => self.types.intern(Type::Metadata),
        }
    }

    /// Integer constant; the bits of `value` above the width are cut off.
    pub fn int(&mut self, ty: TypeId, value: u64) -> ConstId {
        let bits = if let Type::Int(b) = self.types[ty] { b } else { 64 };
        let first = if bits < 64 { value & ((1u64 << bits) - 1) } else { value };
        let mut words: SmallVec<[u64; 2]> = SmallVec::from_elem(0, bits.div_ceil(64).max(1) as usize);
        words[0] = first;
        self.consts.intern(Const::Int { ty, words })
    }

    /// Floating-point constant rounded to the format of `ty`, splat over the lanes of a vector.
    /// Exact for all formats where `value` is an integer below 2^8 or a half of one.
    pub fn float(&mut self, ty: TypeId, value: f64) -> ConstId {
        match self.types[ty].clone() {
            Type::Float(kind) => {
                let bits = crate::float::from_f64(kind, value);
                self.consts.intern(Const::Float { ty, bits })
            }
            Type::Vector { elem, len, scalable: false } => {
                let lane = self.float(elem, value);
                self.consts.intern(Const::Aggregate { ty, elems: vec![lane; len as usize] })
            }
            _ => self.consts.intern(Const::Poison(ty)),
        }
    }

    /// The zero of any sized type: `0`, `+0.0`, `null` or `zeroinitializer`.
    pub fn zero(&mut self, ty: TypeId) -> ConstId {
        match self.types[ty] {
            Type::Int(_) => self.int(ty, 0),
            Type::Float(_) => self.float(ty, 0.0),
            _ => self.consts.intern(Const::Zero(ty)),
        }
    }

    /// Whether `c` is zero in all bits.
    pub fn is_zero(&self, c: ConstId) -> bool {
        match &self.consts[c] {
            Const::Int { words, .. } => words.iter().all(|w| *w == 0),
            Const::Float { bits, .. } => *bits == 0,
            Const::Zero(_) => true,
            Const::Aggregate { elems, .. } => elems.iter().all(|e| self.is_zero(*e)),
            Const::Data { bytes, .. } => bytes.iter().all(|b| *b == 0),
            _ => false,
        }
    }

    /// The float kind of lanes of `ty`.
    pub fn float_kind(&self, ty: TypeId) -> Option<FloatKind> {
        self.types.float_kind(ty)
    }
}

/// A place in a source file.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Loc {
    /// File as the compiler was given it.
    pub file: String,
    /// Line, from 1; 0 is unknown.
    pub line: u32,
    /// Column, from 1; 0 is unknown.
    pub column: u32,
    /// Name of the enclosing function in the source.
    pub scope: String,
    /// The call site into which this was inlined.
    pub inlined_at: Option<LocId>,
}

/// The variable that stands for memory at addresses which the program gives as numbers (the bridge's `addresses.cpp`).
const MEMORY_OF_NUMBERS: &str = "enzyme.memory.of.numbers";

/// A global variable.
#[derive(Clone, Debug)]
pub struct Global {
    /// Symbol.
    pub name: String,
    /// Type of its content.
    pub ty: TypeId,
    /// Initial content; `None` for a declaration.
    pub init: Option<ConstId>,
    /// Never written.
    pub constant: bool,
    /// Linkage.
    pub linkage: Linkage,
    /// Alignment in bytes; 0 means the ABI's.
    pub align: u32,
    /// One instance per thread.
    pub thread_local: bool,
    /// Address space.
    pub space: u32,
}

impl Global {
    /// Whether it stands for memory at addresses that are numbers, of which nobody can make a shadow.
    pub fn is_memory_of_numbers(&self) -> bool {
        self.name == MEMORY_OF_NUMBERS
    }

    /// Whether it is a constant of no bytes. What is defined elsewhere may have some: an array without size is declared so.
    pub fn is_empty(&self, ctx: &Context) -> bool {
        self.constant && self.init.is_some() && ctx.layout.size_of(&ctx.types, self.ty) == Some(0)
    }

    /// Whether derivatives have a variable beside it for its shadow.
    pub fn can_have_shadow(&self) -> bool {
        !self.constant && !self.is_memory_of_numbers()
    }
}

/// Derivatives that a program gives of one of its functions, which take the place of ours.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CustomRule {
    /// Computes the function and keeps what the reverse rule needs.
    pub augmented: Option<FuncId>,
    /// Adds to the adjoints.
    pub reverse: Option<FuncId>,
    /// Computes the function and its tangent.
    pub forward: Option<FuncId>,
    /// Stands for the reverse rule where the sweep is transposed afterwards, since tangents on the tape are wanted.
    pub transposed: Option<FuncId>,
    /// The function is one of ours that computes C = alpha A B + beta C, and so are the rules: they take a word of flags, the forward
    /// rule makes the tangent alone, the reverse rule leaves its tape.
    pub product: bool,
}

/// What a program states of its functions and globals.
#[derive(Clone, Debug, Default)]
pub struct Stated {
    /// Derivatives of functions.
    pub rules: BTreeMap<FuncId, CustomRule>,
    /// The library functions that functions are to be taken for.
    pub like: BTreeMap<FuncId, String>,
    /// How shadows of the memory of allocators are made.
    pub shadows: BTreeMap<FuncId, ShadowRule>,
    /// Globals through which no derivative flows.
    pub inactive: BTreeSet<GlobalId>,
}

/// How the shadow of memory from an allocator is made, and freed if not as the memory is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShadowRule {
    /// Takes the arguments of the allocator; what it gives is zero.
    pub make: FuncId,
    /// Takes the shadow.
    pub free: Option<FuncId>,
}

/// Functions, globals and what they share.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Name.
    pub name: String,
    /// Target triple.
    pub triple: String,
    /// Types, constants and layout.
    pub ctx: Context,
    /// Global variables.
    pub globals: PrimaryMap<GlobalId, Global>,
    /// Functions.
    pub funcs: PrimaryMap<FuncId, Func>,
    /// Source locations.
    pub locs: PrimaryMap<LocId, Loc>,
    /// What the program states of them.
    pub stated: Stated,
    /// Functions that pointers may hold and that were refused, by name, each with its name for readers and the reason.
    pub refused: BTreeMap<String, String>,
}

impl Module {
    /// The function called `name`.
    pub fn find_func(&self, name: &str) -> Option<FuncId> {
        self.funcs.iter().find(|(_, f)| f.name == name).map(|(id, _)| id)
    }

    /// The global called `name`.
    pub fn find_global(&self, name: &str) -> Option<GlobalId> {
        self.globals.iter().find(|(_, g)| g.name == name).map(|(id, _)| id)
    }

    /// The function called `name`, declared with the signature given if it was not there.
    pub fn declare(&mut self, name: &str, ret: TypeId, params: &[TypeId]) -> FuncId {
        if let Some(id) = self.find_func(name) {
            return id;
        }
        let sig = self.ctx.types.func(ret, params.to_vec());
        self.funcs.push(Func::new(name, sig, params))
    }

    /// Return type and parameter types of a function.
    pub fn signature(&self, f: FuncId) -> (TypeId, Vec<TypeId>, bool) {
        match &self.ctx.types[self.funcs[f].sig] {
            Type::Func { ret, params, variadic } => (*ret, params.clone(), *variadic),
            _ => (TypeId::new(0), Vec::new(), false),
        }
    }

    /// The function that `v` of `func` is the address of.
    pub fn as_func(&self, func: &Func, v: ValueId) -> Option<FuncId> {
        match self.ctx.consts[func.as_const(v)?] {
            Const::Func(f) => Some(f),
            _ => None,
        }
    }

    /// The statically known callee of a call in `func`.
    pub fn direct_callee(&self, func: &Func, call: InstId) -> Option<FuncId> {
        self.as_func(func, func.callee(call)?)
    }

    /// `file:line:column` of a location, with the call sites it was inlined into.
    pub fn describe_loc(&self, loc: LocId) -> String {
        let l = &self.locs[loc];
        let mut out = format!("{}:{}:{}", l.file, l.line, l.column);
        if let Some(at) = l.inlined_at {
            out.push_str(" (inlined at ");
            out.push_str(&self.describe_loc(at));
            out.push(')');
        }
        out
    }
}
