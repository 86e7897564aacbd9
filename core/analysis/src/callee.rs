//! What a call calls, and what that does to memory: the one place where names of functions are looked up.

use enzyme_ir::{ByteType, FloatKind, Func, FuncId, InstId, Module, ValueId};
use enzyme_rules::known::{Alloc, AllocPlace, AllocSize, Effects, Known, Reach};
use enzyme_rules::{CallRule, KnownFn, Operand, Place, Rule};

/// Facts of a function that the user declares inactive.
static DECLARED_INACTIVE: KnownFn = KnownFn {
    title: "declared inactive",
    names: &[],
    what: Known::Inactive,
    effects: Effects { reads: Reach::AllArgs, writes: Reach::Nothing, hidden: true, noreturn: false },
    returns: None,
    floats: true,
};

/// Facts of a statement of the type of bytes.
static TYPE_STATEMENT: KnownFn = KnownFn {
    title: "type statement",
    names: &[],
    what: Known::Inactive,
    effects: Effects { reads: Reach::Nothing, writes: Reach::Nothing, hidden: false, noreturn: false },
    returns: None,
    floats: true,
};

/// Parts of names of functions that state the type of the bytes behind a pointer.
const TYPE_STATEMENTS: &[(&str, ByteType)] = &[
    ("__enzyme_float", ByteType::Float(FloatKind::Float)),
    ("__enzyme_double", ByteType::Float(FloatKind::Double)),
    ("__enzyme_integer", ByteType::Integer),
    ("__enzyme_pointer", ByteType::Pointer),
];

/// What a call calls.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Callee {
    /// A mathematical function with a row in the table of rules.
    Math(MathCall),
    /// An external function of which facts are known.
    Known(KnownCall),
    /// A function with a body.
    Defined(FuncId),
    /// A function without body of which nothing is known, or a pointer.
    Unknown(Option<FuncId>),
}

/// A call of a mathematical function.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MathCall {
    /// Its row.
    pub rule: &'static Rule,
}

/// Where a mathematical function leaves a float that may carry a derivative.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MathOutput {
    /// In its result.
    Return,
    /// Where this argument points to.
    Pointee(usize),
}

/// A call of a known external function.
#[derive(Clone, Copy, Debug)]
pub struct KnownCall {
    /// Its facts.
    pub facts: &'static KnownFn,
    /// It is LLVM's marker of the begin of a stack slot's life.
    pub starts_lifetime: bool,
    /// It is LLVM's marker of the end of a stack slot's life.
    pub ends_lifetime: bool,
    /// It states the type of the bytes that its first argument points to, as many as its second argument says.
    pub states: Option<ByteType>,
}

impl PartialEq for KnownCall {
    fn eq(&self, other: &KnownCall) -> bool {
        std::ptr::eq(self.facts, other.facts)
    }
}

/// How the result and arguments of a known function are related as pointers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PointerEffect {
    /// Not at all.
    None,
    /// The result is new memory.
    Fresh,
    /// The result is new memory or that of this argument.
    FreshLike(usize),
    /// New memory is stored where this argument points to.
    FreshInto(usize),
    /// Bytes are copied; the result, if any, is the destination.
    Copy {
        /// Destination argument.
        dst: usize,
        /// Source argument.
        src: usize,
    },
    /// The result may point into any argument.
    MayReturn,
}

/// What a known function does that a derivative must follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemoryEffect {
    /// Nothing: inactive.
    None,
    /// `len` bytes are copied.
    Copy {
        /// Destination argument.
        dst: usize,
        /// Source argument.
        src: usize,
        /// Length argument.
        len: usize,
        /// The regions may overlap.
        overlap: bool,
    },
    /// `len` bytes are set to one value.
    Set {
        /// Destination argument.
        dst: usize,
        /// Value argument; `None` is zero.
        value: Option<usize>,
        /// Length argument.
        len: usize,
    },
    /// New memory is returned, of the size that is the product of these arguments.
    Alloc {
        /// First factor; `None` if the size is not known.
        size: Option<usize>,
        /// Second factor.
        count: Option<usize>,
        /// It is zero.
        zeroed: bool,
    },
    /// The memory of an argument moves to new memory of the size that is the product of these arguments.
    Realloc {
        /// The old memory, or null.
        ptr: usize,
        /// First factor.
        size: usize,
        /// Second factor.
        count: Option<usize>,
    },
    /// New memory is stored where an argument points to; the result, if any, is 0 on success.
    AllocInto {
        /// The argument.
        place: usize,
        /// First factor of the size.
        size: usize,
        /// Second factor.
        count: Option<usize>,
    },
    /// The memory of an argument is freed.
    Free {
        /// The argument.
        ptr: usize,
    },
    /// The life of a stack slot begins.
    LifetimeStart {
        /// The argument.
        ptr: usize,
    },
    /// No derivative here if active memory is involved; says what it is.
    Unsupported(&'static str),
}

/// What the call `i` of `func` calls.
pub fn resolve(module: &Module, func: &Func, i: InstId) -> Callee {
    let Some(target) = module.direct_callee(func, i) else { return Callee::Unknown(None) };
    let callee = &module.funcs[target];
    if !callee.is_declaration() {
        return Callee::Defined(target);
    }
    let name = name_of(module, target);
    if let Some(rule) = enzyme_rules::lookup_call(name) {
        let params: Vec<_> = func.call_args(i).iter().map(|a| func.ty(*a)).collect();
        if fits(module, &rule, func.insts[i].ty, &params) {
            return Callee::Math(MathCall { rule: rule.rule });
        }
    }
    let (ret, params, _) = module.signature(target);
    // A call through another prototype may pass fewer arguments than the row speaks of.
    let complete = func.call_args(i).len() >= params.len();
    match enzyme_rules::known(name).filter(|k| complete && k.fits(&module.ctx.types, ret, &params)) {
        Some(facts) => Callee::Known(KnownCall {
            facts,
            starts_lifetime: callee.name.starts_with("llvm.lifetime.start"),
            ends_lifetime: callee.name.starts_with("llvm.lifetime.end"),
            states: None,
        }),
        None if callee.attrs.inactive => Callee::Known(KnownCall::plain(&DECLARED_INACTIVE, None)),
        None => match TYPE_STATEMENTS.iter().find(|(part, _)| callee.name.contains(part)) {
            Some((_, ty)) => Callee::Known(KnownCall::plain(&TYPE_STATEMENT, Some(*ty))),
            None => Callee::Unknown(Some(target)),
        },
    }
}

/// The name under which the tables know `f`: its own, or that of the function that it is to be taken for.
pub fn name_of(module: &Module, f: FuncId) -> &str {
    module.stated.like.get(&f).map_or(module.funcs[f].name.as_str(), String::as_str)
}

fn fits(module: &Module, rule: &CallRule, ret: enzyme_ir::TypeId, params: &[enzyme_ir::TypeId]) -> bool {
    let Some(ty) = rule.fits(&module.ctx.types, ret, params) else { return false };
    // Integers cannot be spread over an unknown number of lanes.
    let scalable = matches!(module.ctx.types[ty], enzyme_ir::Type::Vector { scalable: true, .. });
    !scalable || !rule.rule.operands.contains(&Operand::Int)
}

impl MathCall {
    /// The float arguments.
    pub fn float_args(&self, args: &[ValueId]) -> Vec<ValueId> {
        let operands = self.rule.operands.iter().zip(args);
        operands.filter(|(o, _)| **o == Operand::Float).map(|(_, a)| *a).collect()
    }

    /// Outputs that depend differentiably on some operand, or are written to memory.
    pub fn outputs(&self) -> Vec<MathOutput> {
        let mut out = Vec::new();
        for o in self.rule.outputs {
            match o.place {
                Place::Return | Place::ReturnField(_) if o.is_zero() => {}
                Place::Return | Place::ReturnField(_) => out.push(MathOutput::Return),
                Place::Pointee(_) if o.is_zero() => {}
                Place::Pointee(n) => out.push(MathOutput::Pointee(n as usize)),
            }
        }
        out
    }

    /// Whether it writes no memory (other than `errno`).
    pub fn is_pure(&self) -> bool {
        !self.rule.operands.iter().any(|o| matches!(o, Operand::OutPtr | Operand::OutIntPtr | Operand::Other))
    }
}

impl KnownCall {
    fn plain(facts: &'static KnownFn, states: Option<ByteType>) -> KnownCall {
        KnownCall { facts, starts_lifetime: false, ends_lifetime: false, states }
    }

    /// How pointers are related.
    pub fn pointers(&self) -> PointerEffect {
        match self.facts.what {
            Known::Inactive | Known::MemSet { .. } | Known::Free { .. } => match self.facts.returns {
                Some(n) => PointerEffect::Copy { dst: usize::from(n), src: usize::from(n) },
                None => PointerEffect::None,
            },
            Known::Identity { .. } => PointerEffect::MayReturn,
            Known::Alloc(a) => match a.place {
                AllocPlace::Return => PointerEffect::Fresh,
                AllocPlace::Pointee(n) => PointerEffect::FreshInto(usize::from(n)),
            },
            Known::Realloc { ptr, .. } => PointerEffect::FreshLike(usize::from(ptr)),
            Known::MemCopy { dst, src, .. } | Known::MemMove { dst, src, .. } => {
                PointerEffect::Copy { dst: usize::from(dst), src: usize::from(src) }
            }
        }
    }

    /// What a derivative must follow.
    pub fn memory(&self) -> MemoryEffect {
        match self.facts.what {
            Known::Inactive if self.starts_lifetime => MemoryEffect::LifetimeStart { ptr: 0 },
            Known::Inactive if self.ends_lifetime => MemoryEffect::None,
            Known::Inactive => match self.facts.effects.writes {
                Reach::Nothing => MemoryEffect::None,
                Reach::Args(_) | Reach::AllArgs => {
                    MemoryEffect::Unsupported("a library function that writes active memory")
                }
            },
            Known::Identity { .. } => MemoryEffect::Unsupported("an optimisation barrier on an active pointer"),
            Known::Alloc(Alloc { place: AllocPlace::Return, size, zeroed, .. }) => match size {
                AllocSize::Arg(n) => MemoryEffect::Alloc { size: Some(usize::from(n)), count: None, zeroed },
                AllocSize::Product(a, b) => {
                    MemoryEffect::Alloc { size: Some(usize::from(a)), count: Some(usize::from(b)), zeroed }
                }
                AllocSize::String(_) => MemoryEffect::Unsupported("a copied string that holds active data"),
                AllocSize::Unknown => MemoryEffect::Alloc { size: None, count: None, zeroed },
            },
            Known::Alloc(Alloc { place: AllocPlace::Pointee(place), size, .. }) => match factors(size) {
                Some((size, count)) => MemoryEffect::AllocInto { place: usize::from(place), size, count },
                None => MemoryEffect::Unsupported("an allocation through a pointer argument"),
            },
            // Other allocators want to be told the old size when they free.
            Known::Realloc { ptr, size, release } if release.symbol == "free" => match factors(size) {
                Some((size, count)) => MemoryEffect::Realloc { ptr: usize::from(ptr), size, count },
                None => MemoryEffect::Unsupported("reallocation of active memory"),
            },
            Known::Realloc { .. } => MemoryEffect::Unsupported("reallocation of active memory"),
            Known::Free { ptr } => MemoryEffect::Free { ptr: usize::from(ptr) },
            Known::MemCopy { dst, src, len } => copy(dst, src, len, false),
            Known::MemMove { dst, src, len } => copy(dst, src, len, true),
            Known::MemSet { dst, value, len } => {
                MemoryEffect::Set { dst: usize::from(dst), value: value.map(usize::from), len: usize::from(len) }
            }
        }
    }

    /// Whether it neither reads nor writes memory, nor changes hidden state.
    pub fn is_pure(&self) -> bool {
        let e = &self.facts.effects;
        let inactive = matches!(self.facts.what, Known::Inactive);
        inactive && e.reads == Reach::Nothing && e.writes == Reach::Nothing && !e.hidden && !e.noreturn
    }
}

/// The arguments whose product is a size.
fn factors(size: AllocSize) -> Option<(usize, Option<usize>)> {
    match size {
        AllocSize::Arg(n) => Some((usize::from(n), None)),
        AllocSize::Product(a, b) => Some((usize::from(a), Some(usize::from(b)))),
        AllocSize::String(_) | AllocSize::Unknown => None,
    }
}

fn copy(dst: u8, src: u8, len: u8, overlap: bool) -> MemoryEffect {
    MemoryEffect::Copy { dst: usize::from(dst), src: usize::from(src), len: usize::from(len), overlap }
}
