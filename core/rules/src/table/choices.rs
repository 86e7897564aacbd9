//! Minimum, maximum, absolute value, sign: piecewise linear functions.
//!
//! At a tie of a minimum or maximum the first operand is chosen: the derivative is that of the branch `x` of
//! `x < y ? y : x`. At the kink of the absolute value the derivative is that from the right.

use super::*;
use crate::rule::Place::*;
use crate::rule::Spelling::*;

pub(super) static RULES: &[Rule] = &[
    rule! {
        "fabs" in Choices,
        spelled: [Intrinsic("fabs"), Libm("fabs")],
        operands: [Float],
        outputs: [Return => [[if (X < 0.0) (-1.0) 1.0]]],
        formula: "-1 for x < 0, else 1",
        kinks: "x = ±0: 1, the derivative from the right; NaN: 1",
        boxes: [[(0.1, 2.0)], [(-2.0, -0.1)]],
        edges: [[0.0] => [1.0], [-0.0] => [1.0], [f64::NEG_INFINITY] => [-1.0]],
    },
    rule! {
        "copysign" in Choices,
        spelled: [Intrinsic("copysign"), Libm("copysign")],
        operands: [Float, Float],
        outputs: [Return => [([Copysign 1.0 X] * [Copysign 1.0 Y]), _]],
        formula: "∂/∂x = 1 where the signs agree, else -1; ∂/∂y = 0",
        kinks: "x = ±0 and y = ±0: by the sign bit; the jump at y = 0 is not differentiated",
        boxes: [[(0.1, 2.0), (0.1, 2.0)], [(0.1, 2.0), (-2.0, -0.1)], [(-2.0, -0.1), (0.1, 2.0)]],
        edges: [[0.0, -1.0] => [-1.0, 0.0], [-0.0, -1.0] => [1.0, 0.0], [1.0, -0.0] => [-1.0, 0.0]],
    },
    rule! {
        "fmax" in Choices,
        spelled: [Intrinsic("maxnum"), Intrinsic("maximumnum"), Libm("fmax"), Libm("fmaximum_num")],
        operands: [Float, Float],
        outputs: [Return => [
            [if ((X < Y) or (nan X)) 0.0 1.0],
            [if ((X < Y) or (nan X)) 1.0 0.0],
        ]],
        formula: "1 for the operand that is the maximum, 0 for the other",
        kinks: "tie, also of +0 and -0: the first; one NaN: the other operand; both NaN: the second",
        boxes: [[(0.0, 1.0), (1.1, 2.0)], [(1.1, 2.0), (0.0, 1.0)]],
        edges: [[1.0, 1.0] => [1.0, 0.0], [-0.0, 0.0] => [1.0, 0.0], [f64::NAN, 1.0] => [0.0, 1.0],
                [1.0, f64::NAN] => [1.0, 0.0], [f64::NEG_INFINITY, 1.0] => [0.0, 1.0]],
    },
    rule! {
        "fmin" in Choices,
        spelled: [Intrinsic("minnum"), Intrinsic("minimumnum"), Libm("fmin"), Libm("fminimum_num")],
        operands: [Float, Float],
        outputs: [Return => [
            [if ((X > Y) or (nan X)) 0.0 1.0],
            [if ((X > Y) or (nan X)) 1.0 0.0],
        ]],
        formula: "1 for the operand that is the minimum, 0 for the other",
        kinks: "tie, also of +0 and -0: the first; one NaN: the other operand; both NaN: the second",
        boxes: [[(0.0, 1.0), (1.1, 2.0)], [(1.1, 2.0), (0.0, 1.0)]],
        edges: [[1.0, 1.0] => [1.0, 0.0], [-0.0, 0.0] => [1.0, 0.0], [f64::NAN, 1.0] => [0.0, 1.0],
                [1.0, f64::NAN] => [1.0, 0.0], [f64::INFINITY, 1.0] => [0.0, 1.0]],
    },
    rule! {
        "fmaximum" in Choices,
        spelled: [Intrinsic("maximum"), Libm("fmaximum")],
        operands: [Float, Float],
        outputs: [Return => [[if (X < Y) 0.0 1.0], [if (X < Y) 1.0 0.0]]],
        formula: "1 for the operand that is the maximum, 0 for the other",
        kinks: "tie, also of +0 and -0: the first; NaN (the value is NaN): the first",
        boxes: [[(0.0, 1.0), (1.1, 2.0)], [(1.1, 2.0), (0.0, 1.0)]],
        edges: [[1.0, 1.0] => [1.0, 0.0], [f64::NAN, 1.0] => [1.0, 0.0], [f64::NEG_INFINITY, 1.0] => [0.0, 1.0]],
    },
    rule! {
        "fminimum" in Choices,
        spelled: [Intrinsic("minimum"), Libm("fminimum")],
        operands: [Float, Float],
        outputs: [Return => [[if (X > Y) 0.0 1.0], [if (X > Y) 1.0 0.0]]],
        formula: "1 for the operand that is the minimum, 0 for the other",
        kinks: "tie, also of +0 and -0: the first; NaN (the value is NaN): the first",
        boxes: [[(0.0, 1.0), (1.1, 2.0)], [(1.1, 2.0), (0.0, 1.0)]],
        edges: [[1.0, 1.0] => [1.0, 0.0], [f64::NAN, 1.0] => [1.0, 0.0], [f64::INFINITY, 1.0] => [0.0, 1.0]],
    },
    rule! {
        "fdim" in Choices,
        spelled: [Libm("fdim")],
        operands: [Float, Float],
        outputs: [Return => [[if (X <= Y) 0.0 1.0], [if (X <= Y) 0.0 (-1.0)]]],
        formula: "1 and -1 for x > y, else 0",
        kinks: "x = y: 0; NaN: 1 and -1",
        boxes: [[(0.0, 1.0), (1.1, 2.0)], [(1.1, 2.0), (0.0, 1.0)]],
        edges: [[1.0, 1.0] => [0.0, 0.0], [f64::INFINITY, 1.0] => [1.0, -1.0], [f64::NAN, 1.0] => [1.0, -1.0]],
    },
];
