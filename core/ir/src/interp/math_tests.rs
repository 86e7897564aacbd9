//! Rows against known values, in every format.

use std::f64::consts::{FRAC_PI_3, FRAC_PI_6, SQRT_2};

use super::*;

fn one(name: &str) -> &'static Row1 {
    match find(name) {
        Some(Function::One(row)) => row,
        other => panic!("{name}: {other:?}"),
    }
}

fn two(name: &str) -> &'static Row2 {
    match find(name) {
        Some(Function::Two(row)) => row,
        other => panic!("{name}: {other:?}"),
    }
}

/// Relative error allowed in a format: a few units in its last place, at least those of `double`.
fn tolerance(kind: FloatKind) -> f64 {
    match kind {
        FloatKind::Half => 1e-3,
        FloatKind::BFloat => 8e-3,
        FloatKind::Float => 1e-6,
        _ => 1e-15,
    }
}

#[test]
fn functions_of_one_float() {
    // Reference values to 17 digits (Abramowitz and Stegun's tables, extended).
    let rows = [
        ("sin", 0.5, 0.479425538604203),
        ("cos", 0.5, 0.8775825618903728),
        ("tan", 0.5, 0.5463024898437905),
        ("asin", 0.5, FRAC_PI_6),
        ("acos", 0.5, FRAC_PI_3),
        ("atan", 0.5, 0.4636476090008061),
        ("sinh", 0.5, 0.5210953054937474),
        ("cosh", 0.5, 1.1276259652063807),
        ("tanh", 0.5, 0.46211715726000973),
        ("asinh", 0.5, 0.48121182505960347),
        ("acosh", 1.5, 0.9624236501192069),
        ("atanh", 0.5, 0.5493061443340549),
        ("exp", 0.5, 1.6487212707001282),
        ("exp2", 0.5, SQRT_2),
        ("exp10", 0.5, 3.1622776601683795),
        ("expm1", 0.5, 0.6487212707001282),
        ("log", 1.5, 0.4054651081081644),
        ("log2", 1.5, 0.5849625007211562),
        ("log10", 1.5, 0.17609125905568124),
        ("log1p", 0.5, 0.4054651081081644),
        ("cbrt", 0.125, 0.5),
        ("erf", 0.5, 0.5204998778130465),
        ("erfc", 0.5, 0.4795001221869535),
        ("tgamma", 0.5, 1.772453850905516),
        ("lgamma", 0.5, 0.5723649429247001),
        ("j0", 0.5, 0.938469807240813),
        ("j1", 0.5, 0.24226845767487387),
        ("y0", 0.5, -0.44451873350670656),
        ("y1", 0.5, -1.471472392670243),
        ("sqrt", 2.25, 1.5),
        ("fabs", -2.25, 2.25),
        ("floor", -2.5, -3.0),
        ("ceil", -2.5, -2.0),
        ("trunc", -2.5, -2.0),
        ("round", -2.5, -3.0),
        ("roundeven", -2.5, -2.0),
        ("rint", 3.5, 4.0),
        ("nearbyint", 2.5, 2.0),
        ("logb", 10.0, 3.0),
        ("sinpi", 0.5, 1.0),
        ("cospi", 1.0, -1.0),
    ];
    for (name, x, expected) in rows {
        for kind in FloatKind::ALL {
            let result = floats::to_f64(kind, one(name).apply(kind, floats::from_f64(kind, x)));
            let error = (result - expected).abs() / f64::abs(expected);
            assert!(error <= tolerance(kind), "{name} of {kind:?}: {result} for {expected}");
        }
    }
}

#[test]
fn functions_of_two_floats() {
    let rows = [
        ("pow", 2.0, 0.5, SQRT_2),
        ("atan2", 1.0, -1.0, 2.356194490192345),
        ("hypot", 3.0, 4.0, 5.0),
        ("fmod", -5.5, 2.0, -1.5),
        ("remainder", -5.5, 2.0, 0.5),
        ("fdim", 3.0, 1.5, 1.5),
        ("fdim", 1.0, 1.5, 0.0),
        ("copysign", 3.0, -1.0, -3.0),
        ("fmin", f64::NAN, 1.0, 1.0),
        ("fmax", 2.0, 1.0, 2.0),
        ("fmaximum", 0.0, -0.0, 0.0),
        ("fminimum_num", 0.0, -0.0, -0.0),
    ];
    for (name, x, y, expected) in rows {
        for kind in FloatKind::ALL {
            let bits = two(name).apply(kind, floats::from_f64(kind, x), floats::from_f64(kind, y));
            let result = floats::to_f64(kind, bits);
            assert!((result - expected).abs() <= tolerance(kind) * f64::abs(expected), "{name} of {kind:?}: {result}");
            let negative = bits & floats::sign_bit(kind) != 0;
            assert_eq!(negative, expected.is_sign_negative(), "{name} of {kind:?}");
        }
    }
    for kind in FloatKind::ALL {
        let nan = two("fminimum").apply(kind, floats::from_f64(kind, f64::NAN), floats::from_f64(kind, 1.0));
        assert!(floats::is_nan(kind, nan));
        let one = floats::from_f64(kind, 1.0);
        let next = two("nextafter").apply(kind, one, floats::from_f64(kind, 2.0));
        assert_eq!(two("nextafter").apply(kind, next, 0), one);
    }
}

#[test]
fn functions_with_integers() {
    for kind in FloatKind::ALL {
        let bits = |x: f64| floats::from_f64(kind, x);
        assert_eq!(WithInt::Ldexp.apply(kind, bits(1.5), 4), bits(24.0));
        assert_eq!(WithInt::Powi.apply(kind, bits(2.0), -3), bits(0.125));
        let j2 = floats::to_f64(kind, WithInt::Jn.apply(kind, bits(1.0), 2));
        assert!((j2 - 0.11490348493190049).abs() < tolerance(kind), "{j2}");
        assert_eq!(ToInt::LRound.apply(kind, 64, bits(-2.5)) as i64, -3);
        assert_eq!(ToInt::LRint.apply(kind, 32, bits(-2.5)) as i32, -2);
        assert_eq!(ToInt::ILogb.apply(kind, 32, bits(10.0)), 3);
        assert_eq!(ToInt::ILogb.apply(kind, 32, bits(0.0)) as u32 as i32, i32::MIN);
        assert_eq!(Split::Frexp.apply(kind, 32, bits(-10.0)), (bits(-0.625), 4));
        assert_eq!(Split::Modf.apply(kind, 0, bits(-2.25)), (bits(-0.25), bits(-2.0)));
        // By value, since a double-double has several zeros.
        let (rest, whole) = Split::Modf.apply(kind, 0, bits(f64::NEG_INFINITY));
        assert_eq!(floats::to_f64(kind, rest).to_bits(), (-0.0f64).to_bits());
        assert_eq!(whole, bits(f64::NEG_INFINITY));
        assert_eq!(Split::SinCosPi.apply(kind, 0, bits(2.5)), (bits(1.0), bits(0.0)));
    }
}

#[test]
fn names_have_their_suffixes() {
    for name in
        ["erff", "modff", "ceill", "fabsl", "fmaxf", "sinl", "logbf", "log1pl", "jnf", "lroundl", "__exp_finite"]
    {
        let known = find(name).is_some();
        assert_eq!(known, !name.starts_with("modf"), "{name}");
    }
    assert!(find("canonicalize").is_none());
    assert!(find("sinx").is_none());
}
