//! The digamma helper against published values (DLMF 5.4, and Abramowitz & Stegun tables 6.1 and 6.3).

use crate::eval::{mini_module, run_helper};
use enzyme_rules::Helper;

const GAMMA: f64 = 0.577_215_664_901_532_9;

#[test]
fn values() {
    let ln2 = std::f64::consts::LN_2;
    let pi = std::f64::consts::PI;
    let cases = [
        (1.0, -GAMMA),
        (2.0, 1.0 - GAMMA),
        (0.5, -GAMMA - 2.0 * ln2),
        (0.25, -GAMMA - 3.0 * ln2 - pi / 2.0),
        (1.0 / 3.0, -GAMMA - pi / (2.0 * 3f64.sqrt()) - 1.5 * 3f64.ln()),
        (10.0, 7129.0 / 2520.0 - GAMMA),
        (9.0, 761.0 / 280.0 - GAMMA),
        (8.0, 363.0 / 140.0 - GAMMA),
        (-0.5, 2.0 - GAMMA - 2.0 * ln2),
        (-1.5, 2.0 + 2.0 / 3.0 - GAMMA - 2.0 * ln2),
        (1e10, 1e10f64.ln() - 0.5e-10),
        (1e-10, -1e10 - GAMMA),
    ];
    let module = mini_module();
    for (x, expected) in cases {
        let value = run_helper(&module, Helper::Digamma, x);
        // Where the series is used alone: the roundings of a logarithm and two sums. Elsewhere ten terms are summed.
        let roundings = if x >= 8.0 { 2.0 } else { 16.0 };
        let tolerance = roundings * f64::EPSILON * expected.abs().max(1.0);
        assert!((value - expected).abs() <= tolerance, "digamma({x}) = {value}, expected {expected}");
    }
}

#[test]
fn recurrence_and_reflection_hold_between_the_branches() {
    let module = mini_module();
    let psi = |x| run_helper(&module, Helper::Digamma, x);
    for n in 1..400 {
        let x = f64::from(n) * 0.0377;
        let step = psi(x + 1.0) - psi(x) - 1.0 / x;
        assert!(step.abs() <= 32.0 * f64::EPSILON * psi(x).abs().max(1.0), "at {x}: {step}");
        let x = -x;
        let step = psi(x + 1.0) - psi(x) - 1.0 / x;
        // Near a pole the argument's own rounding is magnified by its distance.
        let near = (x - x.round()).abs().max(1e-3);
        assert!(step.abs() <= 64.0 * f64::EPSILON * (1.0 + x.abs()) / (near * near), "at {x}: {step}");
    }
}

#[test]
fn edges() {
    let module = mini_module();
    let psi = |x| run_helper(&module, Helper::Digamma, x);
    assert_eq!(psi(0.0), f64::NEG_INFINITY);
    assert_eq!(psi(-0.0), f64::INFINITY);
    assert_eq!(psi(f64::INFINITY), f64::INFINITY);
    assert!(psi(f64::NEG_INFINITY).is_nan());
    assert!(psi(f64::NAN).is_nan());
    assert!(psi(-3.0).is_nan());
}
