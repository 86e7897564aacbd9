//! Facts about known external functions that are not mathematics: what they allocate, free, copy; that they are
//! inactive; what memory they touch.
//!
//! A row holds for all functions named in it. A function that is not in the table, has no rule and no body is refused
//! by the engine: so a row here is a promise, and what a row leaves out is harmless. Left out on purpose: functions
//! that call back into the program (`qsort`, `bsearch`, `pthread_create`, `atexit`), functions that read numbers into
//! memory (`scanf`, `fread`, `std::istream`).
//!
//! "Inactive" means: no derivative flows in or out. The call stays in the primal, once, in its place; a float it
//! returns has derivative zero; memory it writes holds data without derivative.
//!
//! A row is for functions without a body in the module; users check [`KnownFn::fits`] against the signature.

mod exceptions;
mod fortran;
mod inactive;
mod julia;
mod lapack;
mod memory;
mod rust;

use std::collections::HashMap;
use std::sync::LazyLock;

use enzyme_ir::{Type, TypeId, Types};

/// How a row names functions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Name {
    /// This symbol.
    Exact(&'static str),
    /// All symbols that start so.
    Prefix(&'static str),
    /// All symbols that end so: mangled names of which only the tail is fixed.
    Suffix(&'static str),
}

/// What a known function does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Known {
    /// No derivative flows through it.
    Inactive,
    /// Its result (a pointer or not) is this argument, unchanged; nothing else happens.
    Identity {
        /// The argument.
        arg: u8,
    },
    /// Makes new memory.
    Alloc(Alloc),
    /// Moves memory into a new size: the common part is kept, the rest is undefined.
    Realloc {
        /// The old pointer, possibly null.
        ptr: u8,
        /// The new size.
        size: AllocSize,
        /// How the new memory is released.
        release: Release,
    },
    /// Releases memory.
    Free {
        /// The pointer, possibly null.
        ptr: u8,
    },
    /// Copies bytes between memories that do not overlap.
    MemCopy {
        /// Destination pointer.
        dst: u8,
        /// Source pointer.
        src: u8,
        /// Number of bytes.
        len: u8,
    },
    /// Copies bytes between memories that may overlap.
    MemMove {
        /// Destination pointer.
        dst: u8,
        /// Source pointer.
        src: u8,
        /// Number of bytes.
        len: u8,
    },
    /// Fills bytes.
    MemSet {
        /// Destination pointer.
        dst: u8,
        /// The byte, in the low bits; `None` is zero.
        value: Option<u8>,
        /// Number of bytes.
        len: u8,
    },
}

/// A function that makes new memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Alloc {
    /// Bytes.
    pub size: AllocSize,
    /// The argument that gives the alignment; `None` is the library's default.
    pub align: Option<u8>,
    /// All bytes are zero.
    pub zeroed: bool,
    /// Where the pointer is returned.
    pub place: AllocPlace,
    /// How it is released.
    pub release: Release,
}

/// Size of an allocation in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AllocSize {
    /// An argument.
    Arg(u8),
    /// Product of two arguments.
    Product(u8, u8),
    /// Length of the string an argument points to, and its terminator. The new memory holds that string.
    String(u8),
    /// Not known.
    Unknown,
}

/// Where a function returns new memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AllocPlace {
    /// It is the result.
    Return,
    /// Written through this pointer argument.
    Pointee(u8),
}

/// How memory is released.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Release {
    /// Symbol; for an allocator named by [`Name::Suffix`], what replaces that suffix.
    pub symbol: &'static str,
    /// Its arguments; none where a collector releases the memory.
    pub args: &'static [ReleaseArg],
}

/// Argument of a releasing function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReleaseArg {
    /// The pointer.
    Ptr,
    /// The size with which it was allocated.
    Size,
    /// The alignment with which it was allocated.
    Align,
}

/// What memory a function reaches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// None.
    Nothing,
    /// What these arguments point to, directly.
    Args(&'static [u8]),
    /// What the arguments point to, directly or not.
    AllArgs,
}

impl Reach {
    /// Whether memory pointed to by argument `i` may be reached.
    pub fn arg(self, i: usize) -> bool {
        match self {
            Reach::Nothing => false,
            Reach::Args(list) => list.iter().any(|a| usize::from(*a) == i),
            Reach::AllArgs => true,
        }
    }
}

/// Memory effects of a function. No function of the table keeps a pointer argument for later, except where it
/// returns it and for the text buffers of streams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effects {
    /// Memory of the program that it reads.
    pub reads: Reach,
    /// Memory of the program that it writes.
    pub writes: Reach,
    /// It uses or changes state that the program cannot see as memory (streams, the heap, a clock, locks): it may be
    /// neither dropped, nor repeated, nor moved across others of its kind.
    pub hidden: bool,
    /// It never returns.
    pub noreturn: bool,
}

/// A row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KnownFn {
    /// One line: what these functions have in common.
    pub title: &'static str,
    /// Which functions.
    pub names: &'static [Name],
    /// What they do.
    pub what: Known,
    /// What memory they touch.
    pub effects: Effects,
    /// The argument that is also the result, if there is one.
    pub returns: Option<u8>,
    /// Their signatures may have floats.
    pub floats: bool,
}

impl KnownFn {
    /// Whether the row is that of what makes, moves or searches text: what it writes, or reads as characters, is none of a float.
    pub fn is_text(&self) -> bool {
        [fortran::TEXTS, inactive::TEXTS].contains(&self.title)
    }

    /// Whether the row is that of what copies text to memory in which nothing else lies.
    pub fn is_text_alone(&self) -> bool {
        self.title == rust::COPIED
    }

    /// Whether the row is that of locks, which write their own objects alone.
    pub fn is_lock(&self) -> bool {
        self.title == inactive::LOCKS
    }

    /// Whether a function with this result type and these fixed parameters can be one of the row, by what a signature
    /// shows: programs have their own functions called `access` or `random`, in other files.
    pub fn fits(&self, types: &Types, ret: TypeId, params: &[TypeId]) -> bool {
        let is_pointer = |i: u8| params.get(usize::from(i)).is_some_and(|t| matches!(types[*t], Type::Ptr(_)));
        let is_int = |i: u8| params.get(usize::from(i)).is_some_and(|t| matches!(types[*t], Type::Int(_)));
        let is_size = |size: AllocSize| match size {
            AllocSize::Arg(i) => is_int(i),
            AllocSize::Product(i, j) => is_int(i) && is_int(j),
            AllocSize::String(i) => is_pointer(i),
            AllocSize::Unknown => true,
        };
        let returns_pointer = matches!(types[ret], Type::Ptr(_));
        let shape = match self.what {
            Known::Inactive => self.returns.is_none_or(|_| returns_pointer),
            Known::Identity { arg } => params.get(usize::from(arg)) == Some(&ret),
            Known::Alloc(a) => {
                let place = match a.place {
                    AllocPlace::Return => returns_pointer,
                    AllocPlace::Pointee(i) => is_pointer(i),
                };
                place && is_size(a.size) && a.align.is_none_or(is_int)
            }
            Known::Realloc { ptr, size, .. } => returns_pointer && is_pointer(ptr) && is_size(size),
            Known::Free { ptr } => is_pointer(ptr),
            Known::MemCopy { dst, src, len } | Known::MemMove { dst, src, len } => {
                is_pointer(dst) && is_pointer(src) && is_int(len)
            }
            Known::MemSet { dst, value, len } => is_pointer(dst) && value.is_none_or(is_int) && is_int(len),
        };
        shape && (self.floats || !params.iter().chain([&ret]).any(|t| types.contains_float(*t)))
    }

    /// The symbol that releases what `symbol`, an allocator of this row, has made; none where a collector does.
    pub fn release_symbol(&self, symbol: &str) -> Option<String> {
        let release = match self.what {
            Known::Alloc(Alloc { release, .. }) | Known::Realloc { release, .. } => release,
            Known::Inactive
            | Known::Identity { .. }
            | Known::Free { .. }
            | Known::MemCopy { .. }
            | Known::MemMove { .. }
            | Known::MemSet { .. } => return None,
        };
        if release.args.is_empty() {
            return None;
        }
        let stem = self.names.iter().find_map(|n| match n {
            Name::Suffix(s) => symbol.strip_suffix(s),
            Name::Exact(_) | Name::Prefix(_) => None,
        });
        Some(format!("{}{}", stem.unwrap_or(""), release.symbol))
    }
}

/// All rows, in a fixed order.
pub fn rows() -> impl Iterator<Item = &'static KnownFn> {
    memory::ROWS
        .iter()
        .chain(inactive::ROWS)
        .chain(exceptions::ROWS)
        .chain(fortran::ROWS)
        .chain(rust::ROWS)
        .chain(julia::ROWS)
        .chain(lapack::ROWS)
}

#[derive(Default)]
struct Index {
    exact: HashMap<&'static str, &'static KnownFn>,
    prefixes: Vec<(&'static str, &'static KnownFn)>,
    suffixes: Vec<(&'static str, &'static KnownFn)>,
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut index = Index::default();
    for row in rows() {
        for name in row.names {
            match *name {
                Name::Exact(n) => {
                    index.exact.insert(n, row);
                }
                Name::Prefix(n) => index.prefixes.push((n, row)),
                Name::Suffix(n) => index.suffixes.push((n, row)),
            }
        }
    }
    index
});

/// The row of an external function, by its symbol.
pub fn known(name: &str) -> Option<&'static KnownFn> {
    let index = &*INDEX;
    let exact = index.exact.get(name).copied();
    let prefix = || index.prefixes.iter().find(|(p, _)| name.starts_with(p)).map(|e| e.1);
    let suffix = || index.suffixes.iter().find(|(s, _)| name.ends_with(s)).map(|e| e.1);
    exact.or_else(prefix).or_else(suffix)
}

// What the rows are written with.
/// The row, for functions with floats in their signatures.
const fn with_floats(row: KnownFn) -> KnownFn {
    KnownFn { floats: true, ..row }
}
const NOTHING: Effects = Effects { reads: Reach::Nothing, writes: Reach::Nothing, hidden: false, noreturn: false };
const HIDDEN: Effects = Effects { hidden: true, ..NOTHING };
const READS: Effects = Effects { reads: Reach::AllArgs, ..NOTHING };
const PRINTS: Effects = Effects { hidden: true, ..READS };
const ENDS: Effects = Effects { noreturn: true, ..PRINTS };

/// Reads all arguments, writes through these.
const fn writes(args: &'static [u8]) -> Effects {
    Effects { writes: Reach::Args(args), ..READS }
}

/// As [`writes`], with hidden state.
const fn writes_hidden(args: &'static [u8]) -> Effects {
    Effects { writes: Reach::Args(args), ..PRINTS }
}

/// Names of a row.
macro_rules! names {
    ($($name:literal)*) => { &[$(Name::Exact($name)),*] };
    (starting $($name:literal)*) => { &[$(Name::Prefix($name)),*] };
    (ending $($name:literal)*) => { &[$(Name::Suffix($name)),*] };
}
use names;
