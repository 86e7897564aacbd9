//! Hyperbolic functions and their inverses.

use super::*;
use crate::rule::Place::*;
use crate::rule::Spelling::*;

pub(super) static RULES: &[Rule] = &[
    rule! {
        "sinh" in Hyperbolic,
        spelled: [Intrinsic("sinh"), Libm("sinh")],
        operands: [Float],
        outputs: [Return => [[Cosh X]]],
        formula: "cosh(x)",
        kinks: "none; overflow gives ∞",
        boxes: [[(-3.0, 3.0)]],
        edges: [[0.0] => [1.0], [f64::NEG_INFINITY] => [f64::INFINITY]],
    },
    rule! {
        "cosh" in Hyperbolic,
        spelled: [Intrinsic("cosh"), Libm("cosh")],
        operands: [Float],
        outputs: [Return => [[Sinh X]]],
        formula: "sinh(x)",
        kinks: "none; overflow gives ±∞",
        boxes: [[(-3.0, 3.0)]],
        edges: [[0.0] => [0.0], [f64::NEG_INFINITY] => [f64::NEG_INFINITY]],
    },
    rule! {
        "tanh" in Hyperbolic,
        spelled: [Intrinsic("tanh"), Libm("tanh")],
        operands: [Float],
        outputs: [Return => [(1.0 - (R * R))]],
        formula: "1 - tanh(x)^2",
        kinks: "none; the error is one rounding of 1, so the tails are exact in the absolute sense only",
        boxes: [[(-3.0, 3.0)]],
        edges: [[0.0] => [1.0], [f64::INFINITY] => [0.0], [f64::NEG_INFINITY] => [0.0], [f64::NAN] => [f64::NAN]],
    },
    rule! {
        "asinh" in Hyperbolic,
        spelled: [Libm("asinh")],
        operands: [Float],
        // hypot, since x * x overflows half way through the range.
        outputs: [Return => [(1.0 / [Hypot 1.0 X])]],
        formula: "1 / sqrt(1 + x^2)",
        kinks: "none; x = ±∞: 0",
        boxes: [[(-3.0, 3.0)]],
        edges: [[0.0] => [1.0], [f64::INFINITY] => [0.0], [1e200] => [1e-200]],
    },
    rule! {
        "acosh" in Hyperbolic,
        spelled: [Libm("acosh")],
        operands: [Float],
        outputs: [Return => [(1.0 / ([Sqrt (X - 1.0)] * [Sqrt (X + 1.0)]))]],
        formula: "1 / sqrt(x^2 - 1)",
        kinks: "x = 1: +∞; x < 1: NaN; x = ∞: 0",
        boxes: [[(1.1, 4.0)]],
        edges: [[1.0] => [f64::INFINITY], [0.5] => [f64::NAN], [-3.0] => [f64::NAN], [f64::INFINITY] => [0.0]],
    },
    rule! {
        "atanh" in Hyperbolic,
        spelled: [Libm("atanh")],
        operands: [Float],
        outputs: [Return => [(1.0 / ((1.0 - X) * (1.0 + X)))]],
        formula: "1 / (1 - x^2)",
        kinks: "x = ±1: +∞; beyond: 1 / (1 - x^2), although the value is NaN",
        boxes: [[(-0.9, 0.9)]],
        edges: [[0.0] => [1.0], [1.0] => [f64::INFINITY], [-1.0] => [f64::INFINITY]],
    },
];
