//! Powers, roots and lengths.

use super::*;
use crate::rule::Place::*;
use crate::rule::Spelling::*;
use enzyme_ir::FloatKind;

/// The base of the logarithm in `∂pow/∂y`, with the cases where `log` is infinite and the power is 0 or 1 taken out.
const POW_LOG: Expr = expr!([Log [if (R == 0.0) 1.0 [if ((X == 0.0) and (Y == 0.0)) 1.0 X]]]);

pub(super) static RULES: &[Rule] = &[
    rule! {
        "sqrt" in Powers,
        spelled: [Intrinsic("sqrt"), Libm("sqrt")],
        operands: [Float],
        outputs: [Return => [(0.5 / R)]],
        formula: "1 / (2 sqrt(x))",
        kinks: "x = +0: +∞ (x = -0: -∞, the sign of the result); x < 0: NaN; x = ∞: 0",
        boxes: [[(0.01, 4.0)], [(1e6, 1e7)]],
        edges: [[0.0] => [f64::INFINITY], [-0.0] => [f64::NEG_INFINITY], [-1.0] => [f64::NAN],
                [f64::INFINITY] => [0.0], [f64::NAN] => [f64::NAN]],
    },
    rule! {
        "rsqrt" in Powers,
        spelled: [Libm("rsqrt")],
        operands: [Float],
        outputs: [Return => [((-0.5) * (R / X))]],
        formula: "-1 / (2 x sqrt(x))",
        kinks: "x = 0: -∞; x < 0: NaN",
        boxes: [[(0.1, 4.0)]],
        edges: [[0.0] => [f64::NEG_INFINITY], [-1.0] => [f64::NAN], [f64::INFINITY] => [0.0]],
    },
    rule! {
        "x86 reciprocal" in Powers,
        spelled: [Intrinsic("x86rcp")],
        operands: [Float],
        outputs: [Return => [(- (R * R))]],
        formula: "-1/x^2, as minus the square of the estimate",
        kinks: "x = 0: -∞; as inexact as the estimate, which is good to 12 bits",
        boxes: [[(0.5, 2.0)]],
        edges: [[0.0] => [f64::NEG_INFINITY]],
    },
    rule! {
        "x86 reciprocal root" in Powers,
        spelled: [Intrinsic("x86rsqrt")],
        operands: [Float],
        outputs: [Return => [((-0.5) * (R * (R * R)))]],
        formula: "-1/(2 x sqrt(x)), as minus half the cube of the estimate",
        kinks: "x = 0: -∞; as inexact as the estimate, which is good to 12 bits",
        boxes: [[(0.5, 2.0)]],
        edges: [[0.0] => [f64::NEG_INFINITY]],
    },
    rule! {
        "cbrt" in Powers,
        spelled: [Libm("cbrt")],
        operands: [Float],
        outputs: [Return => [(1.0 / (3.0 * (R * R)))]],
        formula: "1 / (3 cbrt(x)^2)",
        kinks: "x = 0: +∞; x = ±∞: 0",
        boxes: [[(0.01, 4.0)], [(-4.0, -0.01)]],
        edges: [[0.0] => [f64::INFINITY], [-0.0] => [f64::INFINITY], [f64::INFINITY] => [0.0]],
    },
    rule! {
        "hypot" in Powers,
        spelled: [Libm("hypot")],
        operands: [Float, Float],
        outputs: [Return => [[if (R == 0.0) 0.0 (X / R)], [if (R == 0.0) 0.0 (Y / R)]]],
        formula: "∂/∂x = x / hypot(x, y), ∂/∂y = y / hypot(x, y)",
        kinks: "(0, 0): 0, the subgradient of least norm; an infinite operand: NaN for that operand, 0 for the other",
        boxes: [[(-2.0, 2.0), (0.5, 3.0)], [(1e-3, 1e-2), (-2e-3, -1e-3)]],
        edges: [[0.0, 0.0] => [0.0, 0.0], [3.0, 4.0] => [0.6, 0.8], [-2.0, 0.0] => [-1.0, 0.0],
                [f64::INFINITY, 1.0] => [f64::NAN, 0.0]],
    },
    rule! {
        "pow" in Powers,
        spelled: [Intrinsic("pow"), Libm("pow"), Libm("powr")],
        operands: [Float, Float],
        outputs: [Return => [
            [if (Y == 0.0) 0.0 (Y * [Pow X (Y - 1.0)])],
            (R * POW_LOG),
        ]],
        formula: "∂/∂x = y pow(x, y - 1), ∂/∂y = pow(x, y) log(x)",
        kinks: "∂/∂x at y = 0: 0 for every x. ∂/∂y where the power is 0 (x = 0 with y > 0, x = ∞ with y < 0, underflow): 0; \
                at x = y = 0: 0; at x = 0 with y < 0: -∞; for x < 0: NaN, since the power is real at isolated y only",
        boxes: [[(0.1, 3.0), (-2.0, 3.0)], [(0.5, 1.5), (4.0, 9.0)]],
        edges: [[0.0, 2.0] => [0.0, 0.0], [0.0, 0.0] => [0.0, 0.0], [0.0, 1.0] => [1.0, 0.0],
                [0.0, 0.5] => [f64::INFINITY, 0.0], [0.0, -1.0] => [f64::NEG_INFINITY, f64::NEG_INFINITY],
                [-2.0, 3.0] => [12.0, f64::NAN], [-2.0, 0.0] => [0.0, f64::NAN],
                [f64::INFINITY, -1.0] => [0.0, 0.0], [2.0, 0.0] => [0.0, std::f64::consts::LN_2],
                [f64::NAN, 2.0] => [f64::NAN, f64::NAN], [2.0, f64::NAN] => [f64::NAN, f64::NAN]],
    },
    rule! {
        "powi" in Powers,
        spelled: [Intrinsic("powi"), Exact("__powisf2", FloatKind::Float), Exact("__powidf2", FloatKind::Double),
                  Exact("__powixf2", FloatKind::X86Fp80), Exact("__powitf2", FloatKind::Fp128)],
        operands: [Float, Int],
        outputs: [Return => [[if ((int 1) == 0.0) 0.0 ((int 1) * [Powi X (int 1 - 1)])], _]],
        formula: "n powi(x, n - 1)",
        kinks: "n = 0: 0 for every x; x = 0 with n = 1: 1; x = 0 with n < 0: infinite. n - 1 wraps at the least integer",
        boxes: [[(0.2, 2.0), (3.0, 3.0)], [(-2.0, -0.2), (5.0, 5.0)], [(0.5, 2.0), (-2.0, -2.0)], [(-1.0, 1.0), (1.0, 1.0)]],
        edges: [[0.0, 0.0] => [0.0, 0.0], [0.0, 1.0] => [1.0, 0.0], [0.0, 2.0] => [0.0, 0.0],
                [0.0, -1.0] => [f64::NEG_INFINITY, 0.0], [f64::NAN, 2.0] => [f64::NAN, 0.0]],
    },
];
