//! Mathematical functions of C's `<math.h>` and of LLVM's intrinsics, by rows.
//!
//! `float` and `double` come from the functions of `std` where those call the system's mathematical library (so
//! that results agree with compiled programs bit by bit) and else from the crate `libm`, within an ulp or two.
//! Functions that have an exact result (rounding, sign, remainder, extremes) are exact in every format. The others
//! are computed in `double` for the wider formats, which leaves 53 good bits and its range of exponents, and in
//! `double` and then rounded for the 16-bit ones.

use rustc_apfloat::Round;

use super::floats;
use crate::op::{BinOp, FloatPred};
use crate::types::FloatKind;

type Exact1 = fn(FloatKind, u128) -> u128;
type Exact2 = fn(FloatKind, u128, u128) -> u128;

/// A function of one float.
#[derive(Debug)]
pub(super) struct Row1 {
    name: &'static str,
    pub double: fn(f64) -> f64,
    pub float: fn(f32) -> f32,
    exact: Option<Exact1>,
}

/// A function of two floats.
#[derive(Debug)]
pub(super) struct Row2 {
    name: &'static str,
    pub double: fn(f64, f64) -> f64,
    pub float: fn(f32, f32) -> f32,
    exact: Option<Exact2>,
}

const fn row1(name: &'static str, double: fn(f64) -> f64, float: fn(f32) -> f32) -> Row1 {
    Row1 { name, double, float, exact: None }
}

const fn exact1(name: &'static str, double: fn(f64) -> f64, float: fn(f32) -> f32, exact: Exact1) -> Row1 {
    Row1 { name, double, float, exact: Some(exact) }
}

const fn row2(name: &'static str, double: fn(f64, f64) -> f64, float: fn(f32, f32) -> f32) -> Row2 {
    Row2 { name, double, float, exact: None }
}

const fn exact2(name: &'static str, double: fn(f64, f64) -> f64, float: fn(f32, f32) -> f32, exact: Exact2) -> Row2 {
    Row2 { name, double, float, exact: Some(exact) }
}

static ROWS1: &[Row1] = &[
    row1("sin", f64::sin, f32::sin),
    row1("cos", f64::cos, f32::cos),
    row1("tan", f64::tan, f32::tan),
    row1("asin", f64::asin, f32::asin),
    row1("acos", f64::acos, f32::acos),
    row1("atan", f64::atan, f32::atan),
    row1("sinh", f64::sinh, f32::sinh),
    row1("cosh", f64::cosh, f32::cosh),
    row1("tanh", f64::tanh, f32::tanh),
    row1("asinh", libm::asinh, libm::asinhf),
    row1("acosh", libm::acosh, libm::acoshf),
    row1("atanh", libm::atanh, libm::atanhf),
    row1("exp", f64::exp, f32::exp),
    row1("exp2", f64::exp2, f32::exp2),
    row1("exp10", libm::exp10, libm::exp10f),
    row1("expm1", f64::exp_m1, f32::exp_m1),
    row1("log", f64::ln, f32::ln),
    row1("log2", f64::log2, f32::log2),
    row1("log10", f64::log10, f32::log10),
    row1("log1p", f64::ln_1p, f32::ln_1p),
    row1("cbrt", f64::cbrt, f32::cbrt),
    row1("erf", libm::erf, libm::erff),
    row1("erfc", libm::erfc, libm::erfcf),
    row1("tgamma", libm::tgamma, libm::tgammaf),
    row1("lgamma", libm::lgamma, libm::lgammaf),
    row1("gamma", libm::lgamma, libm::lgammaf),
    row1("j0", libm::j0, libm::j0f),
    row1("j1", libm::j1, libm::j1f),
    row1("y0", libm::y0, libm::y0f),
    row1("y1", libm::y1, libm::y1f),
    row1("sinpi", |x| sin_cos_pi(x).0, |x| sin_cos_pi(f64::from(x)).0 as f32),
    row1("cospi", |x| sin_cos_pi(x).1, |x| sin_cos_pi(f64::from(x)).1 as f32),
    exact1("sqrt", f64::sqrt, f32::sqrt, floats::square_root),
    exact1("fabs", f64::abs, f32::abs, floats::absolute),
    exact1("floor", f64::floor, f32::floor, |k, a| floats::round_to_integral(k, a, Round::TowardNegative)),
    exact1("ceil", f64::ceil, f32::ceil, |k, a| floats::round_to_integral(k, a, Round::TowardPositive)),
    exact1("trunc", f64::trunc, f32::trunc, |k, a| floats::round_to_integral(k, a, Round::TowardZero)),
    exact1("round", f64::round, f32::round, |k, a| floats::round_to_integral(k, a, Round::NearestTiesToAway)),
    exact1("roundeven", f64::round_ties_even, f32::round_ties_even, round_even),
    exact1("rint", f64::round_ties_even, f32::round_ties_even, round_even),
    exact1("nearbyint", f64::round_ties_even, f32::round_ties_even, round_even),
    exact1("logb", native_logb, |x| native_logb(f64::from(x)) as f32, wide_logb),
    exact1("canonicalize", |x| x, |x| x, |_, a| a),
];

static ROWS2: &[Row2] = &[
    row2("pow", f64::powf, f32::powf),
    row2("atan2", f64::atan2, f32::atan2),
    row2("hypot", f64::hypot, f32::hypot),
    exact2("fmod", libm::fmod, libm::fmodf, |k, a, b| floats::binary(k, BinOp::FRem, a, b)),
    exact2("remainder", libm::remainder, libm::remainderf, floats::remainder),
    exact2("drem", libm::remainder, libm::remainderf, floats::remainder),
    exact2("fdim", libm::fdim, libm::fdimf, difference),
    exact2("nextafter", libm::nextafter, libm::nextafterf, floats::next_after),
    exact2("copysign", f64::copysign, f32::copysign, floats::copy_sign),
    exact2("fmin", libm::fminimum_num, libm::fminimum_numf, |k, a, b| extreme(k, a, b, false, false)),
    exact2("fmax", libm::fmaximum_num, libm::fmaximum_numf, |k, a, b| extreme(k, a, b, true, false)),
    exact2("fminimum", libm::fminimum, libm::fminimumf, |k, a, b| extreme(k, a, b, false, true)),
    exact2("fmaximum", libm::fmaximum, libm::fmaximumf, |k, a, b| extreme(k, a, b, true, true)),
    exact2("fminimum_num", libm::fminimum_num, libm::fminimum_numf, |k, a, b| extreme(k, a, b, false, false)),
    exact2("fmaximum_num", libm::fmaximum_num, libm::fmaximum_numf, |k, a, b| extreme(k, a, b, true, false)),
];

fn round_even(kind: FloatKind, a: u128) -> u128 {
    floats::round_to_integral(kind, a, Round::NearestTiesToEven)
}

fn native_logb(x: f64) -> f64 {
    if x == 0.0 {
        f64::NEG_INFINITY
    } else if !x.is_finite() {
        x * x
    } else {
        f64::from(libm::ilogb(x))
    }
}

fn wide_logb(kind: FloatKind, a: u128) -> u128 {
    let finite_not_zero = floats::class(kind, a) & 0b01_1001_1000 != 0;
    let value =
        if finite_not_zero { f64::from(floats::exponent(kind, a)) } else { native_logb(floats::to_f64(kind, a)) };
    floats::from_f64(kind, value)
}

fn difference(kind: FloatKind, a: u128, b: u128) -> u128 {
    if floats::compare(kind, FloatPred::Ole, a, b) { 0 } else { floats::binary(kind, BinOp::FSub, a, b) }
}

/// The greater or lesser; minus zero is less than zero. A NaN wins if it is `sticky`, else it loses.
fn extreme(kind: FloatKind, a: u128, b: u128, greater: bool, sticky: bool) -> u128 {
    match (floats::is_nan(kind, a), floats::is_nan(kind, b)) {
        (true, false) => return if sticky { a } else { b },
        (false, true) => return if sticky { b } else { a },
        (true, true) => return a,
        (false, false) => {}
    }
    let a_less = if floats::compare(kind, FloatPred::Oeq, a, b) {
        a & floats::sign_bit(kind) != 0
    } else {
        floats::compare(kind, FloatPred::Olt, a, b)
    };
    if a_less == greater { b } else { a }
}

/// Sine and cosine of `x` half turns; the reduction is exact.
fn sin_cos_pi(x: f64) -> (f64, f64) {
    if !x.is_finite() {
        return (f64::NAN, f64::NAN);
    }
    let turn = libm::remainder(x, 2.0);
    let quarter = (turn * 2.0).round_ties_even();
    let (s, c) = ((turn - quarter * 0.5) * std::f64::consts::PI).sin_cos();
    let (s, c) = match (quarter as i64).rem_euclid(4) {
        0 => (s, c),
        1 => (c, -s),
        2 => (-s, -c),
        _ => (-c, s),
    };
    (if s == 0.0 { 0.0f64.copysign(x) } else { s }, c + 0.0)
}

impl Row1 {
    /// The function on an encoding.
    pub fn apply(&self, kind: FloatKind, a: u128) -> u128 {
        match (kind, self.exact) {
            (FloatKind::Double, _) => u128::from((self.double)(f64::from_bits(a as u64)).to_bits()),
            (FloatKind::Float, _) => u128::from((self.float)(f32::from_bits(a as u32)).to_bits()),
            (_, Some(exact)) => exact(kind, a),
            (_, None) => floats::from_f64(kind, (self.double)(floats::to_f64(kind, a))),
        }
    }
}

impl Row2 {
    /// The function on two encodings.
    pub fn apply(&self, kind: FloatKind, a: u128, b: u128) -> u128 {
        match (kind, self.exact) {
            (FloatKind::Double, _) => {
                u128::from((self.double)(f64::from_bits(a as u64), f64::from_bits(b as u64)).to_bits())
            }
            (FloatKind::Float, _) => {
                u128::from((self.float)(f32::from_bits(a as u32), f32::from_bits(b as u32)).to_bits())
            }
            (_, Some(exact)) => exact(kind, a, b),
            (_, None) => floats::from_f64(kind, (self.double)(floats::to_f64(kind, a), floats::to_f64(kind, b))),
        }
    }
}

/// A function of a float and an integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WithInt {
    Ldexp,
    Powi,
    /// Bessel functions: order, argument.
    Jn,
    Yn,
}

impl WithInt {
    pub fn apply(self, kind: FloatKind, a: u128, n: i64) -> u128 {
        let n = n.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
        match self {
            WithInt::Ldexp => floats::scale(kind, a, n.clamp(-100_000, 100_000)),
            WithInt::Powi => power(kind, a, n),
            WithInt::Jn | WithInt::Yn if kind == FloatKind::Float => {
                let f = if self == WithInt::Jn { libm::jnf } else { libm::ynf };
                u128::from(f(n, f32::from_bits(a as u32)).to_bits())
            }
            WithInt::Jn => floats::from_f64(kind, libm::jn(n, floats::to_f64(kind, a))),
            WithInt::Yn => floats::from_f64(kind, libm::yn(n, floats::to_f64(kind, a))),
        }
    }
}

/// Repeated squaring in the order of LLVM's run-time library, so that the last bit agrees too.
fn power(kind: FloatKind, a: u128, n: i32) -> u128 {
    let wider = if matches!(kind, FloatKind::Half | FloatKind::BFloat) { FloatKind::Float } else { kind };
    let mut square = floats::convert(kind, wider, a);
    let mut product = floats::from_f64(wider, 1.0);
    let mut left = n.unsigned_abs();
    loop {
        if left & 1 == 1 {
            product = floats::binary(wider, BinOp::FMul, product, square);
        }
        left >>= 1;
        if left == 0 {
            break;
        }
        square = floats::binary(wider, BinOp::FMul, square, square);
    }
    if n < 0 {
        product = floats::binary(wider, BinOp::FDiv, floats::from_f64(wider, 1.0), product);
    }
    floats::convert(wider, kind, product)
}

/// A function from a float to an integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ToInt {
    LRound,
    LRint,
    ILogb,
    IsNan,
    /// Sign of an infinity, else zero.
    IsInf,
    IsFinite,
    SignBit,
}

impl ToInt {
    pub fn apply(self, kind: FloatKind, bits: u32, a: u128) -> u128 {
        let class = floats::class(kind, a);
        match self {
            ToInt::LRound => {
                let whole = floats::round_to_integral(kind, a, Round::NearestTiesToAway);
                floats::to_int(kind, true, bits, whole, false)
            }
            ToInt::LRint => floats::to_int(kind, true, bits, round_even(kind, a), false),
            ToInt::ILogb => {
                let value = match class {
                    c if c & 0b11 != 0 || c & 0b0001100000 != 0 => i32::MIN,
                    c if c & 0b1000000100 != 0 => i32::MAX,
                    _ => floats::exponent(kind, a),
                };
                super::shape::cut(i128::from(value) as u128, bits)
            }
            ToInt::IsNan => u128::from(class & 0b11 != 0),
            ToInt::IsInf if class == 1 << 2 => super::shape::cut(u128::MAX, bits),
            ToInt::IsInf => u128::from(class == 1 << 9),
            ToInt::IsFinite => u128::from(class & 0b0111111000 != 0),
            ToInt::SignBit => u128::from(a & floats::sign_bit(kind) != 0),
        }
    }
}

/// A function with two results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Split {
    /// Fraction and exponent, the latter as an integer.
    Frexp,
    /// Fractional and integral part.
    Modf,
    /// Sine and cosine.
    SinCos,
    SinCosPi,
}

impl Split {
    pub fn apply(self, kind: FloatKind, bits: u32, a: u128) -> (u128, u128) {
        match self {
            Split::Frexp => {
                let (fraction, exponent) = floats::split(kind, a);
                (fraction, super::shape::cut(i128::from(exponent) as u128, bits))
            }
            Split::Modf => {
                let whole = floats::round_to_integral(kind, a, Round::TowardZero);
                let infinite = floats::class(kind, a) & 0b1000000100 != 0;
                let rest = if infinite { 0 } else { floats::binary(kind, BinOp::FSub, a, whole) };
                (floats::copy_sign(kind, rest, a), whole)
            }
            Split::SinCos if kind == FloatKind::Float => {
                let x = f32::from_bits(a as u32);
                (u128::from(x.sin().to_bits()), u128::from(x.cos().to_bits()))
            }
            Split::SinCos => {
                let x = floats::to_f64(kind, a);
                (floats::from_f64(kind, x.sin()), floats::from_f64(kind, x.cos()))
            }
            Split::SinCosPi => {
                let (s, c) = sin_cos_pi(floats::to_f64(kind, a));
                (floats::from_f64(kind, s), floats::from_f64(kind, c))
            }
        }
    }
}

/// How a C function is computed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Function {
    One(&'static Row1),
    Two(&'static Row2),
    Fma,
    /// The integer stands first if the flag is set.
    WithInt(WithInt, bool),
    ToInt(ToInt),
}

fn exact_name(name: &str) -> Option<Function> {
    let special = match name {
        "fma" => Function::Fma,
        "ldexp" | "scalbn" | "scalbln" => Function::WithInt(WithInt::Ldexp, false),
        "jn" => Function::WithInt(WithInt::Jn, true),
        "yn" => Function::WithInt(WithInt::Yn, true),
        "lround" | "llround" => Function::ToInt(ToInt::LRound),
        "lrint" | "llrint" => Function::ToInt(ToInt::LRint),
        "ilogb" => Function::ToInt(ToInt::ILogb),
        "isnan" | "__isnan" => Function::ToInt(ToInt::IsNan),
        "isinf" | "__isinf" => Function::ToInt(ToInt::IsInf),
        "finite" | "__finite" => Function::ToInt(ToInt::IsFinite),
        "__signbit" => Function::ToInt(ToInt::SignBit),
        _ => {
            let one = ROWS1.iter().find(|r| r.name == name).map(Function::One);
            return one.or_else(|| ROWS2.iter().find(|r| r.name == name).map(Function::Two));
        }
    };
    Some(special)
}

/// The C function called `name`, in its form for `double`, `float` (`sinf`) or `long double` (`sinl`).
pub(super) fn find(name: &str) -> Option<Function> {
    exact_name(name)
        .or_else(|| exact_name(name.strip_suffix(['f', 'l'])?))
        .or_else(|| exact_name(name.strip_prefix("__")?.strip_suffix("_finite")?))
        .filter(|f| !matches!(f, Function::One(Row1 { name: "canonicalize", .. })))
}

/// The C function that intrinsic `llvm.<base>` equals.
pub(super) fn intrinsic(base: &str) -> Option<Function> {
    let name = match base {
        "minnum" => "fmin",
        "maxnum" => "fmax",
        "minimum" => "fminimum",
        "maximum" => "fmaximum",
        "minimumnum" => "fminimum_num",
        "maximumnum" => "fmaximum_num",
        "gamma" | "drem" | "hypot" | "fdim" | "fmod" => return None,
        other => other,
    };
    exact_name(name)
}

#[cfg(test)]
#[path = "math_tests.rs"]
mod tests;
