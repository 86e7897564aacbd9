//! Complex functions of the C library, and product and quotient of the compiler's runtime: pairs of real numbers, differentiated as such.
//!
//! Where a function is holomorphic with derivative `p + iq`, its real part has the partials `p, -q` and its imaginary
//! part `q, p`. Operands X and Y are real and imaginary part of the first number, Z and W those of the second. Names
//! are those of functions that take and return the parts one by one: how a calling convention packs them is undone
//! before. Jumps on branch cuts are not differentiated: the partials are those of the side on which the value lies.

use super::*;
use crate::rule::Place::*;
use crate::rule::Spelling::*;
use enzyme_ir::FloatKind;

/// `1 / sqrt(3)`.
const INV_SQRT3: f64 = 0.577_350_269_189_625_8;
/// `|z|`.
const LENGTH: Expr = expr!([Hypot X Y]);
/// Real and imaginary part of `1/z`, of which the former also is `∂ arg(z) / ∂y`.
const INVERSE_RE: Expr = expr!(((X / LENGTH) / LENGTH));
const INVERSE_IM: Expr = expr!((-((Y / LENGTH) / LENGTH)));
/// `∂|z|/∂x`, `∂|z|/∂y`.
const ALONG_X: Expr = expr!([if (R == 0.0) 0.0 (X / R)]);
const ALONG_Y: Expr = expr!([if (R == 0.0) 0.0 (Y / R)]);

/// `|z + i w|^2` of the divisor of a complex quotient.
const DIVISOR: Expr = expr!(((Z * Z) + (W * W)));
/// Real part of quotient over divisor.
const QUOTIENT_RE: Expr = expr!((((R * Z) + (R1 * W)) / DIVISOR));
/// Imaginary part of quotient over divisor.
const QUOTIENT_IM: Expr = expr!((((R1 * Z) - (R * W)) / DIVISOR));

/// `1 / (2 sqrt(z))`.
const ROOT_RE: Expr = expr!((0.5 * (R / LENGTH)));
const ROOT_IM: Expr = expr!((-(0.5 * (R1 / LENGTH))));

/// `w f`, `f` the power.
const POWER_UP_RE: Expr = expr!(((Z * R) - (W * R1)));
const POWER_UP_IM: Expr = expr!(((Z * R1) + (W * R)));
/// `w f / z`; at zero that of the first power, or zero for larger ones.
const POWER_RE: Expr = expr!([if (LENGTH == 0.0)
    [if ((Z == 1.0) and (W == 0.0)) 1.0 [if (Z > 1.0) 0.0 (0.0 / LENGTH)]]
    ((((POWER_UP_RE * X) + (POWER_UP_IM * Y)) / LENGTH) / LENGTH)]);
const POWER_IM: Expr = expr!([if (LENGTH == 0.0)
    [if (Z >= 1.0) 0.0 (0.0 / LENGTH)]
    ((((POWER_UP_IM * X) - (POWER_UP_RE * Y)) / LENGTH) / LENGTH)]);
/// `f log(z)`; at zero 0 for exponents that have a power there.
const LOG_LENGTH: Expr = expr!([Log [if (LENGTH == 0.0) 1.0 LENGTH]]);
const ANGLE: Expr = expr!([Atan2 Y X]);
const EXPONENT_RE: Expr = expr!([if (LENGTH == 0.0) [if (Z > 0.0) 0.0 (0.0 / LENGTH)]
    ((R * LOG_LENGTH) - (R1 * ANGLE))]);
const EXPONENT_IM: Expr = expr!([if (LENGTH == 0.0) [if (Z > 0.0) 0.0 (0.0 / LENGTH)]
    ((R1 * LOG_LENGTH) + (R * ANGLE))]);

// Sine and cosine, circular and hyperbolic: of the operand, and of the result.
const SIN_RE: Expr = expr!(([Sin X] * [Cosh Y]));
const SIN_IM: Expr = expr!(([Cos X] * [Sinh Y]));
const COS_RE: Expr = expr!(([Cos X] * [Cosh Y]));
const COS_IM: Expr = expr!((-([Sin X] * [Sinh Y])));
const SINH_RE: Expr = expr!(([Sinh X] * [Cos Y]));
const SINH_IM: Expr = expr!(([Cosh X] * [Sin Y]));
const COSH_RE: Expr = expr!(([Cosh X] * [Cos Y]));
const COSH_IM: Expr = expr!(([Sinh X] * [Sin Y]));
const TAN_RE: Expr = expr!((1.0 + ((R - R1) * (R + R1))));
const TAN_IM: Expr = expr!((2.0 * (R * R1)));
const TANH_RE: Expr = expr!((1.0 - ((R - R1) * (R + R1))));

/// `1/u` for `u` of the parts given.
macro_rules! inverse {
    ($re:ident, $im:ident: $of_re:tt, $of_im:tt) => {
const $re: Expr = expr!((($of_re / [Hypot $of_re $of_im]) / [Hypot $of_re $of_im]));
const $im: Expr = expr!((-(($of_im / [Hypot $of_re $of_im]) / [Hypot $of_re $of_im])));
    };
}

// The derivative of the inverse of `s` is `1 / s'(result)`.
inverse!(ASIN_RE, ASIN_IM: ([Cos R] * [Cosh R1]), (-([Sin R] * [Sinh R1])));
inverse!(ACOS_RE, ACOS_IM: (-([Sin R] * [Cosh R1])), (-([Cos R] * [Sinh R1])));
inverse!(ASINH_RE, ASINH_IM: ([Cosh R] * [Cos R1]), ([Sinh R] * [Sin R1]));
inverse!(ACOSH_RE, ACOSH_IM: ([Sinh R] * [Cos R1]), ([Cosh R] * [Sin R1]));
inverse!(ATAN_RE, ATAN_IM: (1.0 + ((X - Y) * (X + Y))), (2.0 * (X * Y)));
inverse!(ATANH_RE, ATANH_IM: (1.0 - ((X - Y) * (X + Y))), ((-2.0) * (X * Y)));

/// A holomorphic function of one number.
macro_rules! holomorphic {
    ($name:literal, $re:tt, $im:tt, $formula:literal, $kinks:literal, boxes: [$($box:tt),*], edges: [$($edge:tt)*]) => {
        rule! {
            $name in Complex,
            spelled: [Libm($name)],
            operands: [Float, Float],
            outputs: [ReturnField(0) => [$re, (- $im)], ReturnField(1) => [$im, $re]],
            formula: $formula,
            kinks: $kinks,
            boxes: [$($box),*],
            edges: [$($edge)*],
        }
    };
}

pub(super) static RULES: &[Rule] = &[
    rule! {
        "complex product" in Complex,
        spelled: [Exact("__mulsc3", FloatKind::Float), Exact("__muldc3", FloatKind::Double),
                  Exact("__mulxc3", FloatKind::X86Fp80), Exact("__multc3", FloatKind::Fp128)],
        operands: [Float, Float, Float, Float],
        outputs: [
            ReturnField(0) => [Z, (- W), X, (- Y)],
            ReturnField(1) => [W, Z, Y, X],
        ],
        formula: "(x + iy)(z + iw) = (xz - yw) + i(xw + yz), differentiated term by term",
        kinks: "none; infinite operands follow the plain products",
        boxes: [[(-2.0, 2.0), (-2.0, 2.0), (-2.0, 2.0), (-2.0, 2.0)]],
        edges: [[1.0, 2.0, 3.0, 4.0] => [3.0, -4.0, 1.0, -2.0, 4.0, 3.0, 2.0, 1.0]],
    },
    rule! {
        "complex quotient" in Complex,
        spelled: [Exact("__divsc3", FloatKind::Float), Exact("__divdc3", FloatKind::Double),
                  Exact("__divxc3", FloatKind::X86Fp80), Exact("__divtc3", FloatKind::Fp128)],
        operands: [Float, Float, Float, Float],
        outputs: [
            ReturnField(0) => [(Z / DIVISOR), (W / DIVISOR), (- QUOTIENT_RE), QUOTIENT_IM],
            ReturnField(1) => [(- (W / DIVISOR)), (Z / DIVISOR), (- QUOTIENT_IM), (- QUOTIENT_RE)],
        ],
        formula: "with u = z + iw and q = (x + iy)/u: dq = (dx + i dy)/u - (q/u)(dz + i dw)",
        kinks: "u = 0: NaN or infinite; |u|^2 overflows and underflows at the square roots of the format's range",
        boxes: [[(-2.0, 2.0), (-2.0, 2.0), (0.5, 2.0), (-2.0, 2.0)]],
        edges: [[1.0, 0.0, 1.0, 0.0] => [1.0, 0.0, -1.0, 0.0, 0.0, 1.0, 0.0, -1.0]],
    },
    rule! {
        "cabs" in Complex,
        spelled: [Libm("cabs")],
        operands: [Float, Float],
        outputs: [Return => [ALONG_X, ALONG_Y]],
        formula: "∂/∂x = x/|z|, ∂/∂y = y/|z|",
        kinks: "0: 0, the subgradient of least norm",
        boxes: [[(-2.0, 2.0), (0.5, 3.0)]],
        edges: [[0.0, 0.0] => [0.0, 0.0], [3.0, -4.0] => [0.6, -0.8]],
    },
    rule! {
        "carg" in Complex,
        spelled: [Libm("carg")],
        operands: [Float, Float],
        outputs: [Return => [INVERSE_IM, INVERSE_RE]],
        formula: "∂/∂x = -y/|z|^2, ∂/∂y = x/|z|^2",
        kinks: "0: NaN; the jump on the negative axis is not differentiated",
        boxes: [[(-2.0, 2.0), (0.5, 3.0)], [(0.5, 3.0), (-2.0, 2.0)]],
        edges: [[0.0, 0.0] => [f64::NAN, f64::NAN], [2.0, 0.0] => [0.0, 0.5], [1e200, 1e200] => [-5e-201, 5e-201]],
    },
    rule! {
        "creal" in Complex,
        spelled: [Libm("creal")],
        operands: [Float, Float],
        outputs: [Return => [1.0, _]],
        formula: "∂/∂x = 1, ∂/∂y = 0",
        kinks: "none",
        boxes: [[(-2.0, 2.0), (-3.0, 3.0)]],
        edges: [[0.0, 1.0] => [1.0, 0.0]],
    },
    rule! {
        "cimag" in Complex,
        spelled: [Libm("cimag")],
        operands: [Float, Float],
        outputs: [Return => [_, 1.0]],
        formula: "∂/∂x = 0, ∂/∂y = 1",
        kinks: "none",
        boxes: [[(-2.0, 2.0), (-3.0, 3.0)]],
        edges: [[0.0, 1.0] => [0.0, 1.0]],
    },
    rule! {
        "conj" in Complex,
        spelled: [Libm("conj")],
        operands: [Float, Float],
        outputs: [ReturnField(0) => [1.0, _], ReturnField(1) => [_, (-1.0)]],
        formula: "the real part as it is, the imaginary part negated",
        kinks: "none",
        boxes: [[(-2.0, 2.0), (-3.0, 3.0)]],
        edges: [[0.0, 1.0] => [1.0, 0.0, 0.0, -1.0]],
    },
    rule! {
        "cproj" in Complex,
        spelled: [Libm("cproj")],
        operands: [Float, Float],
        outputs: [ReturnField(0) => [1.0, _], ReturnField(1) => [_, 1.0]],
        formula: "the identity",
        kinks: "infinite numbers: as finite ones",
        boxes: [[(-2.0, 2.0), (-3.0, 3.0)]],
        edges: [[0.0, 1.0] => [1.0, 0.0, 0.0, 1.0]],
    },
    holomorphic!("cexp", R, R1, "exp(z)", "none", boxes: [[(-2.0, 2.0), (-3.0, 3.0)]],
        edges: [[0.0, 0.0] => [1.0, 0.0, 0.0, 1.0]]),
    holomorphic!("clog", INVERSE_RE, INVERSE_IM, "1/z",
        "0: NaN; the jump on the negative axis is not differentiated",
        boxes: [[(-2.0, 2.0), (0.5, 3.0)], [(0.5, 3.0), (-2.0, 2.0)]],
        edges: [[0.0, 0.0] => [f64::NAN, f64::NAN, f64::NAN, f64::NAN], [2.0, 0.0] => [0.5, 0.0, 0.0, 0.5]]),
    holomorphic!("csqrt", ROOT_RE, ROOT_IM, "1 / (2 sqrt(z)), as conj(sqrt(z)) / (2|z|)",
        "0: NaN; the jump on the negative axis is not differentiated",
        boxes: [[(-2.0, 2.0), (0.5, 3.0)], [(0.5, 3.0), (-2.0, 2.0)], [(-2.0, -0.5), (-2.0, -0.5)]],
        edges: [[0.0, 0.0] => [f64::NAN, f64::NAN, f64::NAN, f64::NAN], [4.0, 0.0] => [0.25, 0.0, 0.0, 0.25]]),
    rule! {
        "cpow" in Complex,
        spelled: [Libm("cpow")],
        operands: [Float, Float, Float, Float],
        outputs: [
            ReturnField(0) => [POWER_RE, (- POWER_IM), EXPONENT_RE, (- EXPONENT_IM)],
            ReturnField(1) => [POWER_IM, POWER_RE, EXPONENT_IM, EXPONENT_RE],
        ],
        formula: "with base z and exponent u: ∂/∂z = u z^u / z, ∂/∂u = z^u log z",
        kinks: "z = 0: 1 for u = 1, 0 where Re u > 1, else NaN; for u: 0 where Re u > 0, else NaN",
        boxes: [[(-2.0, 2.0), (0.5, 3.0), (-2.0, 2.0), (-1.0, 1.0)]],
        edges: [[0.0, 0.0, 2.0, 0.0] => [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
                [0.0, 0.0, 1.0, 0.0] => [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]],
    },
    holomorphic!("csin", COS_RE, COS_IM, "cos(z)", "none", boxes: [[(-2.0, 2.0), (-1.0, 1.0)]],
        edges: [[0.0, 0.0] => [1.0, 0.0, 0.0, 1.0]]),
    rule! {
        "ccos" in Complex,
        spelled: [Libm("ccos")],
        operands: [Float, Float],
        outputs: [ReturnField(0) => [(- SIN_RE), SIN_IM], ReturnField(1) => [(- SIN_IM), (- SIN_RE)]],
        formula: "-sin(z)",
        kinks: "none",
        boxes: [[(-2.0, 2.0), (-1.0, 1.0)]],
        edges: [[0.0, 0.0] => [0.0, 0.0, 0.0, 0.0]],
    },
    holomorphic!("ctan", TAN_RE, TAN_IM, "1 + tan(z)^2", "poles: infinite or NaN", boxes: [[(-1.0, 1.0), (-1.0, 1.0)]],
        edges: [[0.0, 0.0] => [1.0, 0.0, 0.0, 1.0]]),
    holomorphic!("csinh", COSH_RE, COSH_IM, "cosh(z)", "none", boxes: [[(-1.0, 1.0), (-2.0, 2.0)]],
        edges: [[0.0, 0.0] => [1.0, 0.0, 0.0, 1.0]]),
    holomorphic!("ccosh", SINH_RE, SINH_IM, "sinh(z)", "none", boxes: [[(-1.0, 1.0), (-2.0, 2.0)]],
        edges: [[0.0, 0.0] => [0.0, 0.0, 0.0, 0.0]]),
    rule! {
        "ctanh" in Complex,
        spelled: [Libm("ctanh")],
        operands: [Float, Float],
        outputs: [ReturnField(0) => [TANH_RE, TAN_IM], ReturnField(1) => [(- TAN_IM), TANH_RE]],
        formula: "1 - tanh(z)^2",
        kinks: "poles: infinite or NaN",
        boxes: [[(-1.0, 1.0), (-1.0, 1.0)]],
        edges: [[0.0, 0.0] => [1.0, 0.0, 0.0, 1.0]],
    },
    holomorphic!("casin", ASIN_RE, ASIN_IM, "1 / cos(asin(z))", "±1: infinite or NaN",
        boxes: [[(-2.0, 2.0), (0.5, 2.0)]], edges: [[0.0, 0.0] => [1.0, 0.0, 0.0, 1.0]]),
    holomorphic!("cacos", ACOS_RE, ACOS_IM, "-1 / sin(acos(z))", "±1: infinite or NaN",
        boxes: [[(-2.0, 2.0), (0.5, 2.0)]], edges: [[0.0, 0.0] => [-1.0, 0.0, 0.0, -1.0]]),
    holomorphic!("catan", ATAN_RE, ATAN_IM, "1 / (1 + z^2)", "±i: infinite or NaN",
        boxes: [[(0.5, 2.0), (-2.0, 2.0)]], edges: [[0.0, 0.0] => [1.0, 0.0, 0.0, 1.0]]),
    holomorphic!("casinh", ASINH_RE, ASINH_IM, "1 / cosh(asinh(z))", "±i: infinite or NaN",
        boxes: [[(0.5, 2.0), (-2.0, 2.0)]], edges: [[0.0, 0.0] => [1.0, 0.0, 0.0, 1.0]]),
    holomorphic!("cacosh", ACOSH_RE, ACOSH_IM, "1 / sinh(acosh(z))", "±1: infinite or NaN",
        boxes: [[(-2.0, 2.0), (0.5, 2.0)]], edges: [[2.0, 0.0] => [INV_SQRT3, 0.0, 0.0, INV_SQRT3]]),
    holomorphic!("catanh", ATANH_RE, ATANH_IM, "1 / (1 - z^2)", "±1: infinite or NaN",
        boxes: [[(-2.0, 2.0), (0.5, 2.0)]], edges: [[0.0, 0.0] => [1.0, 0.0, 0.0, 1.0]]),
];
