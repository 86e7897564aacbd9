//! Expressions over the operands and results of one operation: what a partial derivative is written in.
//!
//! An [`Expr`] is a tree of references to constants, so that a table of rules is plain `static` data. It denotes a
//! real number; a reader gives it the format and lane count of the operation. Three rules bind every reader:
//!
//! 1. A product *distributes over* [`Expr::Select`]: `adjoint * select(c, a, b)` means `select(c, adjoint * a,
//!    adjoint * b)`, and a factor `Const(0)` gives an exact zero, also for an infinite adjoint. So an arm not taken
//!    poisons nothing.
//! 2. `adjoint * (a * b)` may be computed as `(adjoint * a) * b`, `adjoint * (a / b)` as `(adjoint * a) / b`, and
//!    `adjoint * (1 / b)` as `adjoint / b`; the optimiser may take one reciprocal for many such quotients.
//! 3. [`Expr::Result`] is the value that the operation has computed, not a recomputation.
//!
//! Constants are `f64`. One that is not exact in `f64` is written as a sum of two constants, the second the rounding
//! error of the first: it folds to the rounded value in every format up to 64 bits, and gives the wider ones 106 bits.
//!
//! Not expressible: loops, memory, integer arithmetic other than adding a constant. What needs those is a
//! [`Helper`].

use crate::helpers::Helper;

/// A real-valued expression over the operands and results of an operation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Expr {
    /// A floating-point operand.
    Arg(u8),
    /// An output of the operation, by its index in [`Rule::outputs`](crate::Rule).
    Result(u8),
    /// A number.
    Const(f64),
    /// Negation: flips the sign bit.
    Neg(&'static Expr),
    /// Sum.
    Add(&'static Expr, &'static Expr),
    /// Difference.
    Sub(&'static Expr, &'static Expr),
    /// Product.
    Mul(&'static Expr, &'static Expr),
    /// Quotient.
    Div(&'static Expr, &'static Expr),
    /// A function of the arguments given.
    Call(MathFn, &'static [Expr]),
    /// The second if the condition holds, else the third.
    Select(&'static Cond, &'static Expr, &'static Expr),
    /// An integer operand (signed) converted to the float format; splat over lanes if the operand is a scalar and
    /// the operation is not.
    IntToFloat(u8),
    /// An integer operand plus a constant, wrapping; stands only where a function takes an integer.
    IntAdd(u8, i64),
}

/// A condition.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Cond {
    /// Less, and neither is NaN (`fcmp olt`).
    Lt(&'static Expr, &'static Expr),
    /// Less or equal, and neither is NaN (`fcmp ole`).
    Le(&'static Expr, &'static Expr),
    /// Greater, and neither is NaN (`fcmp ogt`).
    Gt(&'static Expr, &'static Expr),
    /// Greater or equal, and neither is NaN (`fcmp oge`).
    Ge(&'static Expr, &'static Expr),
    /// Equal, and neither is NaN (`fcmp oeq`).
    Eq(&'static Expr, &'static Expr),
    /// Different, or one is NaN (`fcmp une`).
    Ne(&'static Expr, &'static Expr),
    /// One is NaN (`fcmp uno`).
    Unordered(&'static Expr, &'static Expr),
    /// The sign bit is set, also of a zero or NaN.
    SignBit(&'static Expr),
    /// Both hold.
    And(&'static Cond, &'static Cond),
    /// One or both hold.
    Or(&'static Cond, &'static Cond),
}

/// Declares [`MathFn`] with its callee, its integer argument, and its arity.
macro_rules! math_functions {
    ($($(#[$doc:meta])* $name:ident($args:literal $(, int $int:literal)?) = $kind:ident($callee:expr);)*) => {
        /// A function that partial derivatives call.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum MathFn {
            $($(#[$doc])* $name,)*
        }

        impl MathFn {
            /// All of them.
            pub const ALL: &'static [MathFn] = &[$(MathFn::$name,)*];

            /// How it is called.
            pub fn callee(self) -> Callee {
                match self {
                    $(MathFn::$name => Callee::$kind($callee),)*
                }
            }

            /// Number of arguments.
            pub fn arity(self) -> usize {
                match self {
                    $(MathFn::$name => $args,)*
                }
            }

            /// The position of its integer argument, if it has one.
            pub fn int_arg(self) -> Option<usize> {
                match self {
                    $(MathFn::$name => math_functions!(@int $($int)?),)*
                }
            }
        }
    };
    (@int) => { None };
    (@int $int:literal) => { Some($int) };
}

math_functions! {
    /// Square root.
    Sqrt(1) = Intrinsic("llvm.sqrt");
    /// Sine.
    Sin(1) = Intrinsic("llvm.sin");
    /// Cosine.
    Cos(1) = Intrinsic("llvm.cos");
    /// Hyperbolic sine.
    Sinh(1) = Intrinsic("llvm.sinh");
    /// Hyperbolic cosine.
    Cosh(1) = Intrinsic("llvm.cosh");
    /// Exponential.
    Exp(1) = Intrinsic("llvm.exp");
    /// Power of two.
    Exp2(1) = Intrinsic("llvm.exp2");
    /// Power of ten.
    Exp10(1) = Intrinsic("llvm.exp10");
    /// Natural logarithm.
    Log(1) = Intrinsic("llvm.log");
    /// Absolute value.
    Fabs(1) = Intrinsic("llvm.fabs");
    /// Magnitude of the first, sign of the second.
    Copysign(2) = Intrinsic("llvm.copysign");
    /// First to the power of the second.
    Pow(2) = Intrinsic("llvm.pow");
    /// First to the power of an integer.
    Powi(2, int 1) = Intrinsic("llvm.powi");
    /// First times two to an `int` power.
    Ldexp(2, int 1) = Intrinsic("llvm.ldexp");
    /// First times two to a `long` power.
    Scalbln(2, int 1) = Libm("scalbln");
    /// Length of a vector of two components.
    Hypot(2) = Libm("hypot");
    /// Angle of the point whose second coordinate is the first argument.
    Atan2(2) = Intrinsic("llvm.atan2");
    /// `sin(pi x)`.
    Sinpi(1) = Libm("sinpi");
    /// `cos(pi x)`.
    Cospi(1) = Libm("cospi");
    /// `log(1 + x)`.
    Log1p(1) = Libm("log1p");
    /// Bessel function of the first kind, order 0.
    J0(1) = Libm("j0");
    /// Bessel function of the first kind, order 1.
    J1(1) = Libm("j1");
    /// Bessel function of the first kind, integer order.
    Jn(2, int 0) = Libm("jn");
    /// Bessel function of the second kind, order 0.
    Y0(1) = Libm("y0");
    /// Bessel function of the second kind, order 1.
    Y1(1) = Libm("y1");
    /// Bessel function of the second kind, integer order.
    Yn(2, int 0) = Libm("yn");
    /// Logarithmic derivative of the gamma function.
    Digamma(1) = Helper(Helper::Digamma);
}

/// How a [`MathFn`] is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Callee {
    /// An LLVM intrinsic, overloaded on the float type (and on the type of an integer argument, if it has one):
    /// available in every format and lane count. [`intrinsic_symbol`](crate::names::intrinsic_symbol) builds the symbol.
    Intrinsic(&'static str),
    /// A function of the C library, scalar, one symbol per format: [`libm_symbol`](crate::names::libm_symbol). No
    /// rule that has a vector, half or bfloat spelling needs one of these.
    Libm(&'static str),
    /// A function that this crate builds, scalar and in `double`; other formats are converted to `double` and back.
    Helper(Helper),
}

/// Which operands and outputs an expression reads, as bit masks.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Needs {
    /// Bit `i`: operand `i`, float or integer.
    pub args: u32,
    /// Bit `i`: output `i`.
    pub results: u32,
}

impl Needs {
    /// What either needs.
    pub fn union(self, other: Needs) -> Needs {
        Needs { args: self.args | other.args, results: self.results | other.results }
    }
    /// Whether operand `i` is read.
    pub fn arg(self, i: usize) -> bool {
        i < 32 && self.args & (1 << i) != 0
    }
    /// Whether output `i` is read.
    pub fn result(self, i: usize) -> bool {
        i < 32 && self.results & (1 << i) != 0
    }
    /// Whether nothing is read: the partial is a constant.
    pub fn is_empty(self) -> bool {
        self == Needs::default()
    }
}

fn bit(i: u8) -> u32 {
    1u32.checked_shl(u32::from(i)).unwrap_or(0)
}

impl Expr {
    /// What the expression reads.
    pub fn needs(&self) -> Needs {
        match self {
            Expr::Arg(i) | Expr::IntToFloat(i) | Expr::IntAdd(i, _) => Needs { args: bit(*i), results: 0 },
            Expr::Result(i) => Needs { args: 0, results: bit(*i) },
            Expr::Const(_) => Needs::default(),
            Expr::Neg(a) => a.needs(),
            Expr::Add(a, b) | Expr::Sub(a, b) | Expr::Mul(a, b) | Expr::Div(a, b) => a.needs().union(b.needs()),
            Expr::Call(_, args) => args.iter().fold(Needs::default(), |n, a| n.union(a.needs())),
            Expr::Select(c, a, b) => c.needs().union(a.needs()).union(b.needs()),
        }
    }

    /// The value, if it is a constant.
    pub fn as_const(&self) -> Option<f64> {
        match self {
            Expr::Const(v) => Some(*v),
            Expr::Neg(a) => Some(-a.as_const()?),
            Expr::Add(a, b) => Some(a.as_const()? + b.as_const()?),
            Expr::Arg(_)
            | Expr::Result(_)
            | Expr::Sub(..)
            | Expr::Mul(..)
            | Expr::Div(..)
            | Expr::Call(..)
            | Expr::Select(..)
            | Expr::IntToFloat(_)
            | Expr::IntAdd(..) => None,
        }
    }

    /// Calls `f` with this expression and all inside it, conditions included.
    pub fn visit(&self, f: &mut dyn FnMut(&Expr)) {
        f(self);
        match self {
            Expr::Arg(_) | Expr::Result(_) | Expr::Const(_) | Expr::IntToFloat(_) | Expr::IntAdd(..) => {}
            Expr::Neg(a) => a.visit(f),
            Expr::Add(a, b) | Expr::Sub(a, b) | Expr::Mul(a, b) | Expr::Div(a, b) => {
                a.visit(f);
                b.visit(f);
            }
            Expr::Call(_, args) => args.iter().for_each(|a| a.visit(f)),
            Expr::Select(c, a, b) => {
                c.visit(f);
                a.visit(f);
                b.visit(f);
            }
        }
    }
}

impl Cond {
    /// What the condition reads.
    pub fn needs(&self) -> Needs {
        let mut out = Needs::default();
        self.visit(&mut |e| out = out.union(e.needs()));
        out
    }

    /// Calls `f` with all expressions inside.
    pub fn visit(&self, f: &mut dyn FnMut(&Expr)) {
        match self {
            Cond::Lt(a, b)
            | Cond::Le(a, b)
            | Cond::Gt(a, b)
            | Cond::Ge(a, b)
            | Cond::Eq(a, b)
            | Cond::Ne(a, b)
            | Cond::Unordered(a, b) => {
                a.visit(f);
                b.visit(f);
            }
            Cond::SignBit(a) => a.visit(f),
            Cond::And(a, b) | Cond::Or(a, b) => {
                a.visit(f);
                b.visit(f);
            }
        }
    }
}
