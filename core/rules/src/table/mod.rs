//! The table of derivative rules, one file per theme.
//!
//! `README.md` of this crate holds the laws for authors of rows; `docs/rules.md` is generated from here.

mod choices;
mod complex;
mod exponentials;
mod hyperbolic;
mod instructions;
mod parts;
mod powers;
mod rounding;
mod special;
mod trigonometric;

use crate::expr::Expr;
use crate::rule::Rule;

/// All tables, in the order of [`Group::ALL`](crate::Group::ALL).
static TABLES: &[&[Rule]] = &[
    instructions::RULES,
    powers::RULES,
    complex::RULES,
    exponentials::RULES,
    trigonometric::RULES,
    hyperbolic::RULES,
    special::RULES,
    choices::RULES,
    rounding::RULES,
    parts::RULES,
];

/// All rules, in a fixed order.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    TABLES.iter().flat_map(|t| t.iter())
}

/// First operand.
const X: Expr = Expr::Arg(0);
/// Second operand.
const Y: Expr = Expr::Arg(1);
/// Third operand.
const Z: Expr = Expr::Arg(2);
/// Fourth operand.
const W: Expr = Expr::Arg(3);
/// First output.
const R: Expr = Expr::Result(0);
/// Second output.
const R1: Expr = Expr::Result(1);
/// Positive infinity.
const INF: Expr = Expr::Const(f64::INFINITY);

// Constants in two parts: see the notes on constants in `expr`.
/// Half a turn.
const PI: Expr = Expr::Add(&Expr::Const(std::f64::consts::PI), &Expr::Const(1.2246467991473532e-16));
/// `1/π`.
const INV_PI: Expr = Expr::Add(&Expr::Const(std::f64::consts::FRAC_1_PI), &Expr::Const(-1.9678676675182486e-17));
/// `log 2`.
const LN2: Expr = Expr::Add(&Expr::Const(std::f64::consts::LN_2), &Expr::Const(2.3190468138462996e-17));
/// `log 10`.
const LN10: Expr = Expr::Add(&Expr::Const(std::f64::consts::LN_10), &Expr::Const(-2.1707562233822494e-16));
/// `1 / log 2`.
const LOG2E: Expr = Expr::Add(&Expr::Const(std::f64::consts::LOG2_E), &Expr::Const(2.0355273740931033e-17));
/// `1 / log 10`.
const LOG10E: Expr = Expr::Add(&Expr::Const(std::f64::consts::LOG10_E), &Expr::Const(1.098319650216765e-17));
/// `2 / sqrt(π)`.
const TWO_OVER_SQRT_PI: Expr =
    Expr::Add(&Expr::Const(std::f64::consts::FRAC_2_SQRT_PI), &Expr::Const(1.533545961316588e-17));

#[cfg(test)]
mod tests {
    use super::*;

    /// `value * 2^112`, truncated, of a decimal fraction below 4.
    fn from_decimal(text: &str) -> i128 {
        let (whole, fraction) = text.split_once('.').unwrap();
        let mut digits: Vec<u8> = fraction.bytes().map(|b| b - b'0').collect();
        let mut out: i128 = whole.parse().unwrap();
        for _ in 0..112 {
            let mut carry = 0;
            for d in digits.iter_mut().rev() {
                let twice = 2 * *d + carry;
                (*d, carry) = (twice % 10, twice / 10);
            }
            out = 2 * out + i128::from(carry);
        }
        out
    }

    /// `value * 2^112`, exact for the constants here.
    fn from_f64(value: f64) -> i128 {
        let high = (value * 2f64.powi(56)).trunc();
        let low = (value * 2f64.powi(56) - high) * 2f64.powi(56);
        ((high as i128) << 56) + low as i128
    }

    #[test]
    fn constants_have_a_hundred_bits() {
        let cases = [
            (PI, "3.14159265358979323846264338327950288419716939937510"),
            (INV_PI, "0.31830988618379067153776752674502872406891929148091"),
            (LN2, "0.69314718055994530941723212145817656807550013436026"),
            (LN10, "2.30258509299404568401799145468436420760110148862877"),
            (LOG2E, "1.44269504088896340735992468100189213742664595415299"),
            (LOG10E, "0.43429448190325182765112891891660508229439700580367"),
            (TWO_OVER_SQRT_PI, "1.12837916709551257389615890312154517168810125865800"),
        ];
        for (constant, decimal) in cases {
            let Expr::Add(Expr::Const(high), Expr::Const(low)) = constant else { panic!("{decimal}") };
            assert_eq!(high + low, *high, "{decimal}: the first part is the rounded value");
            let error = (from_f64(*high) + from_f64(*low) - from_decimal(decimal)).abs();
            assert!(error < 1 << 10, "{decimal}: off by {error} units of 2^-112");
        }
    }
}
