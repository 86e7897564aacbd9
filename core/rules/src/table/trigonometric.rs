//! Trigonometric functions and their inverses.

use super::*;
use crate::rule::Place::*;
use crate::rule::Spelling::*;

// atan2(y, x): its first operand is the ordinate (X below), its second the abscissa (Y below). Both partials are
// quotients by x^2 + y^2, computed as larger * (larger + smaller * (smaller / larger)) so that nothing overflows or
// underflows which need not.
/// The operand of larger magnitude.
const LARGER: Expr = expr!([if ([Fabs X] < [Fabs Y]) Y X]);
/// The operand of smaller magnitude.
const SMALLER: Expr = expr!([if ([Fabs X] < [Fabs Y]) X Y]);
/// `(x^2 + y^2) / larger`.
const SPREAD: Expr = expr!((LARGER + (SMALLER * (SMALLER / LARGER))));
/// `∂atan2/∂ordinate`.
const ATAN2_ORDINATE: Expr = expr!(((Y / LARGER) / SPREAD));
/// `∂atan2/∂abscissa`.
const ATAN2_ABSCISSA: Expr = expr!((-((X / LARGER) / SPREAD)));

pub(super) static RULES: &[Rule] = &[
    rule! {
        "sin" in Trigonometric,
        spelled: [Intrinsic("sin"), Libm("sin")],
        operands: [Float],
        outputs: [Return => [[Cos X]]],
        formula: "cos(x)",
        kinks: "none; x = ±∞: NaN",
        boxes: [[(-4.0, 4.0)]],
        edges: [[0.0] => [1.0], [f64::INFINITY] => [f64::NAN]],
    },
    rule! {
        "cos" in Trigonometric,
        spelled: [Intrinsic("cos"), Libm("cos")],
        operands: [Float],
        outputs: [Return => [(- [Sin X])]],
        formula: "-sin(x)",
        kinks: "none; x = ±∞: NaN",
        boxes: [[(-4.0, 4.0)]],
        edges: [[0.0] => [-0.0], [f64::INFINITY] => [f64::NAN]],
    },
    rule! {
        "tan" in Trigonometric,
        spelled: [Intrinsic("tan"), Libm("tan")],
        operands: [Float],
        outputs: [Return => [(1.0 + (R * R))]],
        formula: "1 + tan(x)^2",
        kinks: "none: no float is a pole; x = ±∞: NaN",
        boxes: [[(-1.4, 1.4)]],
        edges: [[0.0] => [1.0], [f64::INFINITY] => [f64::NAN]],
    },
    rule! {
        "sincos" in Trigonometric,
        spelled: [Libm("sincos")],
        operands: [Float, OutPtr, OutPtr],
        // Not in terms of the results: they lie in memory, which may have changed by the time they are needed.
        outputs: [Pointee(1) => [[Cos X], _, _], Pointee(2) => [(- [Sin X]), _, _]],
        formula: "∂sin(x)/∂x = cos(x), ∂cos(x)/∂x = -sin(x)",
        kinks: "none; x = ±∞: NaN",
        boxes: [[(-4.0, 4.0), (0.0, 0.0), (0.0, 0.0)]],
        edges: [[0.0, 0.0, 0.0] => [1.0, 0.0, 0.0, -0.0, 0.0, 0.0]],
    },
    rule! {
        "llvm.sincos" in Trigonometric,
        spelled: [Intrinsic("sincos")],
        operands: [Float],
        outputs: [ReturnField(0) => [R1], ReturnField(1) => [(- R)]],
        formula: "∂sin(x)/∂x = cos(x), ∂cos(x)/∂x = -sin(x)",
        kinks: "none; x = ±∞: NaN",
        boxes: [[(-4.0, 4.0)]],
        edges: [[0.0] => [1.0, -0.0]],
    },
    rule! {
        "llvm.sincospi" in Trigonometric,
        spelled: [Intrinsic("sincospi")],
        operands: [Float],
        outputs: [ReturnField(0) => [(PI * R1)], ReturnField(1) => [(- (PI * R))]],
        formula: "∂sin(πx)/∂x = π cos(πx), ∂cos(πx)/∂x = -π sin(πx)",
        kinks: "none; x = ±∞: NaN",
        boxes: [[(-2.0, 2.0)]],
        edges: [[0.0] => [std::f64::consts::PI, -0.0]],
    },
    rule! {
        "asin" in Trigonometric,
        spelled: [Intrinsic("asin"), Libm("asin")],
        operands: [Float],
        outputs: [Return => [(1.0 / [Sqrt ((1.0 - X) * (1.0 + X))])]],
        formula: "1 / sqrt(1 - x^2)",
        kinks: "x = ±1: +∞; beyond: NaN",
        boxes: [[(-0.95, 0.95)]],
        edges: [[0.0] => [1.0], [1.0] => [f64::INFINITY], [-1.0] => [f64::INFINITY], [2.0] => [f64::NAN]],
    },
    rule! {
        "acos" in Trigonometric,
        spelled: [Intrinsic("acos"), Libm("acos")],
        operands: [Float],
        outputs: [Return => [((-1.0) / [Sqrt ((1.0 - X) * (1.0 + X))])]],
        formula: "-1 / sqrt(1 - x^2)",
        kinks: "x = ±1: -∞; beyond: NaN",
        boxes: [[(-0.95, 0.95)]],
        edges: [[0.0] => [-1.0], [1.0] => [f64::NEG_INFINITY], [-1.0] => [f64::NEG_INFINITY], [2.0] => [f64::NAN]],
    },
    rule! {
        "atan" in Trigonometric,
        spelled: [Intrinsic("atan"), Libm("atan")],
        operands: [Float],
        outputs: [Return => [(1.0 / (1.0 + (X * X)))]],
        formula: "1 / (1 + x^2)",
        kinks: "none; x = ±∞: 0",
        boxes: [[(-4.0, 4.0)]],
        edges: [[0.0] => [1.0], [f64::INFINITY] => [0.0], [f64::NEG_INFINITY] => [0.0]],
    },
    rule! {
        "atan2" in Trigonometric,
        spelled: [Intrinsic("atan2"), Libm("atan2")],
        operands: [Float, Float],
        outputs: [Return => [ATAN2_ORDINATE, ATAN2_ABSCISSA]],
        formula: "atan2(x, y): ∂/∂x = y / (x^2 + y^2), ∂/∂y = -x / (x^2 + y^2)",
        kinks: "(0, 0): NaN; the jump on the negative abscissa is not differentiated; an infinite operand: 0 for it or NaN",
        boxes: [[(0.5, 3.0), (-2.0, 2.0)], [(-3.0, -0.5), (-2.0, 2.0)], [(-0.4, 0.4), (0.5, 3.0)],
                [(0.1, 0.4), (-3.0, -0.5)]],
        edges: [[0.0, 0.0] => [f64::NAN, f64::NAN], [0.0, 1.0] => [1.0, -0.0], [1.0, 0.0] => [0.0, -1.0],
                [0.0, -1.0] => [-1.0, -0.0], [1e200, 1e200] => [5e-201, -5e-201],
                [1e-200, 1e-200] => [5e199, -5e199]],
    },
    rule! {
        "sinpi" in Trigonometric,
        spelled: [Libm("sinpi")],
        operands: [Float],
        outputs: [Return => [(PI * [Cospi X])]],
        formula: "π cos(πx)",
        kinks: "none; x = ±∞: NaN",
        boxes: [[(-2.0, 2.0)]],
        edges: [[0.0] => [std::f64::consts::PI]],
    },
    rule! {
        "cospi" in Trigonometric,
        spelled: [Libm("cospi")],
        operands: [Float],
        outputs: [Return => [(- (PI * [Sinpi X]))]],
        formula: "-π sin(πx)",
        kinks: "none; x = ±∞: NaN",
        boxes: [[(-2.0, 2.0)]],
        edges: [[0.0] => [-0.0]],
    },
    rule! {
        "tanpi" in Trigonometric,
        spelled: [Libm("tanpi")],
        operands: [Float],
        outputs: [Return => [(PI * (1.0 + (R * R)))]],
        formula: "π (1 + tan(πx)^2)",
        kinks: "half-integers: +∞",
        boxes: [[(-0.4, 0.4)]],
        edges: [[0.0] => [std::f64::consts::PI]],
    },
    rule! {
        "asinpi" in Trigonometric,
        spelled: [Libm("asinpi")],
        operands: [Float],
        outputs: [Return => [(INV_PI / [Sqrt ((1.0 - X) * (1.0 + X))])]],
        formula: "1 / (π sqrt(1 - x^2))",
        kinks: "x = ±1: +∞; beyond: NaN",
        boxes: [[(-0.95, 0.95)]],
        edges: [[1.0] => [f64::INFINITY], [2.0] => [f64::NAN]],
    },
    rule! {
        "acospi" in Trigonometric,
        spelled: [Libm("acospi")],
        operands: [Float],
        outputs: [Return => [(- (INV_PI / [Sqrt ((1.0 - X) * (1.0 + X))]))]],
        formula: "-1 / (π sqrt(1 - x^2))",
        kinks: "x = ±1: -∞; beyond: NaN",
        boxes: [[(-0.95, 0.95)]],
        edges: [[1.0] => [f64::NEG_INFINITY], [2.0] => [f64::NAN]],
    },
    rule! {
        "atanpi" in Trigonometric,
        spelled: [Libm("atanpi")],
        operands: [Float],
        outputs: [Return => [(INV_PI / (1.0 + (X * X)))]],
        formula: "1 / (π (1 + x^2))",
        kinks: "none; x = ±∞: 0",
        boxes: [[(-4.0, 4.0)]],
        edges: [[f64::INFINITY] => [0.0]],
    },
    rule! {
        "atan2pi" in Trigonometric,
        spelled: [Libm("atan2pi")],
        operands: [Float, Float],
        outputs: [Return => [(INV_PI * ATAN2_ORDINATE), (INV_PI * ATAN2_ABSCISSA)]],
        formula: "the partials of atan2 over π",
        kinks: "as for atan2",
        boxes: [[(0.5, 3.0), (-2.0, 2.0)]],
        edges: [[0.0, 0.0] => [f64::NAN, f64::NAN]],
    },
];
