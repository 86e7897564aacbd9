//! Every partial of every row against differences of the function itself, and at the edges that the row states.
//!
//! Reference: central differences extrapolated to step zero (Ridders 1982, *Advances in Engineering Software* 4(2)).
//! The values come from `libm`, whose error is some 1e-15 of the value; the best step of the scheme is about a tenth of
//! the width of a box, so a difference carries some 1e-14 |f| / width of noise, and extrapolation as much error again
//! as the last two estimates differ. 1e-9 of max(|f'|, |f| / width, tiny) is above all that and far below any error in a
//! formula.

#![allow(clippy::unwrap_used)]

mod complex;
mod digamma;
mod eval;
mod primal;

use enzyme_rules::{Operand, Rule, rules};
use eval::{eval, mini_module};
use primal::primal;

const TOLERANCE: f64 = 1e-9;
const POINTS: usize = 50;

/// Derivative of `f` at 0 by Ridders' method, starting at step `h`; and its error estimate.
fn ridders(f: &dyn Fn(f64) -> f64, h: f64) -> (f64, f64) {
    const SHRINK: f64 = 1.6;
    const ROWS: usize = 12;
    let mut table = [[0.0; ROWS]; ROWS];
    let (mut best, mut error) = (f64::NAN, f64::INFINITY);
    let mut h = h;
    for i in 0..ROWS {
        table[i][0] = (f(h) - f(-h)) / (2.0 * h);
        let mut factor = SHRINK * SHRINK;
        for j in 1..=i {
            table[i][j] = (table[i][j - 1] * factor - table[i - 1][j - 1]) / (factor - 1.0);
            factor *= SHRINK * SHRINK;
            let e = (table[i][j] - table[i][j - 1]).abs().max((table[i][j] - table[i - 1][j - 1]).abs());
            if e <= error {
                (best, error) = (table[i][j], e);
            }
        }
        h /= SHRINK;
    }
    (best, error)
}

/// Point `n` of a sequence that fills the box evenly (additive recurrence on the square roots of primes), between 10%
/// and 90% of each side.
fn sample(sides: &[(f64, f64)], n: usize) -> Vec<f64> {
    let primes = [2.0f64, 3.0, 5.0, 7.0, 11.0];
    let spread = |i: usize| 0.1 + 0.8 * ((n as f64 + 1.0) * primes[i % 5].sqrt()).fract();
    sides.iter().enumerate().map(|(i, (lo, hi))| lo + (hi - lo) * spread(i)).collect()
}

fn check_box(rule: &Rule, sides: &[(f64, f64)]) {
    let module = mini_module();
    for n in 0..POINTS {
        let at = sample(sides, n);
        let results = primal(rule.name, &at).unwrap();
        assert_eq!(results.len(), rule.outputs.len(), "{}: number of outputs", rule.name);
        for (i, operand) in rule.operands.iter().enumerate() {
            if *operand != Operand::Float {
                continue;
            }
            let (lo, hi) = sides[i];
            let width = hi - lo;
            assert!(width > 0.0, "{}: operand {i} has an empty interval", rule.name);
            for o in 0..rule.outputs.len() {
                let ours = rule.partial(o, i).map_or(0.0, |e| eval(e, &at, &results, &module));
                let along = |t: f64| {
                    let mut at = at.clone();
                    at[i] += t;
                    primal(rule.name, &at).unwrap()[o]
                };
                let (reference, error) = ridders(&along, 0.09 * width);
                let scale = reference.abs().max(results[o].abs() / width).max(1e-6);
                assert!(error < TOLERANCE * scale, "{}: the reference is bad at {at:?}: error {error}", rule.name);
                let off = (ours - reference).abs() / scale;
                assert!(off < TOLERANCE, "{}: d out{o}/d arg{i} at {at:?}: {ours}, differences {reference}", rule.name);
            }
        }
    }
}

#[test]
fn partials_agree_with_differences() {
    for rule in rules() {
        for sides in rule.test.boxes {
            assert_eq!(sides.len(), rule.operands.len(), "{}: intervals", rule.name);
            check_box(rule, sides);
        }
    }
}

#[test]
fn partials_at_edges_are_those_stated() {
    let module = mini_module();
    let mut wrong = Vec::new();
    for rule in rules() {
        for edge in rule.test.edges {
            assert_eq!(edge.at.len(), rule.operands.len(), "{}: operands of an edge", rule.name);
            assert_eq!(edge.partials.len(), rule.operands.len() * rule.outputs.len(), "{}: partials", rule.name);
            let Some(results) = primal(rule.name, edge.at) else { panic!("{}: no value", rule.name) };
            for o in 0..rule.outputs.len() {
                for i in 0..rule.operands.len() {
                    let ours = rule.partial(o, i).map_or(0.0, |e| eval(e, edge.at, &results, &module));
                    let stated = edge.partials[o * rule.operands.len() + i];
                    // Some forty units in the last place: digamma(1) is a difference of terms five times its size. The sign
                    // of a zero is not stated.
                    let same = ours == stated
                        || (ours.is_nan() && stated.is_nan())
                        || (stated.is_finite() && (ours - stated).abs() <= 1e-14 * stated.abs());
                    if !same {
                        wrong.push(format!(
                            "{} at {:?}: d out{o}/d arg{i} = {ours}, stated {stated}",
                            rule.name, edge.at
                        ));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_reference_notices_an_error_of_a_millionth() {
    let (d, error) = ridders(&|t| (0.3 + t).sin() * (1.0 + 1e-6 * t), 0.2);
    assert!(error < 1e-10);
    assert!((d - 0.3f64.cos()).abs() > 1e-7);
}
