//! What one row of the table says, and what follows from it.
//!
//! A row describes a family: one mathematical function in all its formats and spellings. Its partials are real
//! expressions; the tangent of output `j` is `sum_i partial[j][i] * tangent_i`, the adjoint of operand `i` is
//! `sum_j partial[j][i] * adjoint_j`. Everything else (needed values, documentation, tests) is read off the row.

use crate::expr::{Expr, Needs};
use enzyme_ir::{BinOp, CastOp, FloatKind};

/// What an operand of an operation is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    /// A float of the operation's format and lane count.
    Float,
    /// An integer: a scalar, or a vector of the operation's lane count.
    Int,
    /// A pointer through which the operation writes one float of its format (see [`Place::Pointee`]).
    OutPtr,
    /// A pointer through which the operation writes one `int`.
    OutIntPtr,
    /// Anything else; carries no derivative.
    Other,
}

/// Where an output of an operation is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// It is the result.
    Return,
    /// A field of the structure returned.
    ReturnField(u32),
    /// Written through this operand, a pointer. The operation writes it without reading it first.
    Pointee(u8),
}

/// A floating-point output and its partial derivatives.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Output {
    /// Where it is.
    pub place: Place,
    /// One per operand; `None` is identically zero. Operands that are not floats have `None`.
    pub partials: &'static [Option<Expr>],
}

impl Output {
    /// What the partials of this output with respect to the active operands read.
    pub fn needs(&self, active: &[bool]) -> Needs {
        let pairs = self.partials.iter().zip(active);
        pairs.filter(|(_, a)| **a).filter_map(|(p, _)| p.as_ref()).fold(Needs::default(), |n, e| n.union(e.needs()))
    }

    /// Whether no operand has a derivative in this output.
    pub fn is_zero(&self) -> bool {
        self.partials.iter().all(Option::is_none)
    }
}

/// Chapter of the table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Group {
    /// Floating-point instructions and conversions.
    Instructions,
    /// Powers, roots, lengths.
    Powers,
    /// Functions of complex numbers.
    Complex,
    /// Exponentials and logarithms.
    Exponentials,
    /// Trigonometric functions and their inverses.
    Trigonometric,
    /// Hyperbolic functions and their inverses.
    Hyperbolic,
    /// Error, gamma and Bessel functions.
    Special,
    /// Minimum, maximum, absolute value, sign.
    Choices,
    /// Rounding to integers: zero derivative.
    Rounding,
    /// Taking floats apart, and remainders.
    Parts,
}

impl Group {
    /// All chapters in order.
    pub const ALL: [Group; 10] = [
        Group::Instructions,
        Group::Powers,
        Group::Complex,
        Group::Exponentials,
        Group::Trigonometric,
        Group::Hyperbolic,
        Group::Special,
        Group::Choices,
        Group::Rounding,
        Group::Parts,
    ];

    /// Heading.
    pub fn title(self) -> &'static str {
        match self {
            Group::Instructions => "Instructions",
            Group::Powers => "Powers, roots, lengths",
            Group::Complex => "Functions of complex numbers",
            Group::Exponentials => "Exponentials and logarithms",
            Group::Trigonometric => "Trigonometric functions",
            Group::Hyperbolic => "Hyperbolic functions",
            Group::Special => "Error, gamma and Bessel functions",
            Group::Choices => "Minimum, maximum, absolute value, sign",
            Group::Rounding => "Rounding",
            Group::Parts => "Parts of floats, and remainders",
        }
    }
}

/// A way in which programs write an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spelling {
    /// `fneg`.
    FNeg,
    /// A two-operand instruction.
    Binary(BinOp),
    /// A conversion instruction.
    Cast(CastOp),
    /// `llvm.NAME`, and `llvm.experimental.constrained.NAME`, followed by the types it is overloaded on.
    Intrinsic(&'static str),
    /// A function of the C library by its `double` name; stands for all formats (see [`crate::names`]).
    Libm(&'static str),
    /// One symbol in one format.
    Exact(&'static str, FloatKind),
}

/// Sample points of a row: each box is an interval per operand in whose interior the function is smooth.
#[derive(Clone, Copy, Debug)]
pub struct TestDomain {
    /// Boxes; one interval per operand (unused for pointers).
    pub boxes: &'static [&'static [(f64, f64)]],
    /// Points where the value of each partial is stated.
    pub edges: &'static [Edge],
}

/// A kink or an edge of the domain, and what the partials are there.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// One number per operand.
    pub at: &'static [f64],
    /// Partials, output by output, one per operand; 0 where the row says `None`. NaN stands for NaN.
    pub partials: &'static [f64],
}

/// The derivative of one function.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Unique name: that of the C function or instruction.
    pub name: &'static str,
    /// Chapter.
    pub group: Group,
    /// How programs write it.
    pub spellings: &'static [Spelling],
    /// What its operands are.
    pub operands: &'static [Operand],
    /// Its floating-point outputs; integer outputs carry no derivative and are not listed.
    pub outputs: &'static [Output],
    /// The derivative as a mathematician writes it.
    pub formula: &'static str,
    /// What is chosen at kinks and edges of the domain.
    pub kinks: &'static str,
    /// Where it is tested.
    pub test: TestDomain,
}

/// By name, which is unique.
impl PartialEq for Rule {
    fn eq(&self, other: &Rule) -> bool {
        self.name == other.name
    }
}

impl Eq for Rule {}

impl Rule {
    /// What the partials of all outputs with respect to the active operands read.
    pub fn needs(&self, active: &[bool]) -> Needs {
        self.outputs.iter().fold(Needs::default(), |n, o| n.union(o.needs(active)))
    }

    /// Whether no output depends differentiably on any operand.
    pub fn is_zero(&self) -> bool {
        self.outputs.iter().all(Output::is_zero)
    }

    /// Names of the operands for readers: floats `x`, `y`, `z`, `w`, integers `n`, others `p`, `q`.
    pub fn operand_names(&self) -> Vec<&'static str> {
        let (mut floats, mut ints, mut others) = (["x", "y", "z", "w"].iter(), ["n", "m"].iter(), ["p", "q"].iter());
        let names = self.operands.iter().map(|o| match o {
            Operand::Float => floats.next(),
            Operand::Int => ints.next(),
            Operand::OutPtr | Operand::OutIntPtr | Operand::Other => others.next(),
        });
        names.map(|n| n.copied().unwrap_or("?")).collect()
    }

    /// The partial of output `output` with respect to operand `operand`; `None` is zero.
    pub fn partial(&self, output: usize, operand: usize) -> Option<&'static Expr> {
        self.outputs.get(output)?.partials.get(operand)?.as_ref()
    }
}
