//! Compares gradients with central differences, and prints `ok NAME` or `WRONG NAME` and the numbers.
//!
//! The step is 1e-5 of the size of an argument: the error of a central difference is then some 1e-10 of the third derivative, and rounding adds
//! 1e-11 of the value. Functions here have values and derivatives of about one, so 1e-6 is right by far and wrong by far else.

const TOLERANCE: f64 = 1e-6;
/// Of numbers that differ by rounding alone.
const ROUNDING: f64 = 1e-10;

fn report(name: &str, wrong: Option<String>) {
    match wrong {
        None => println!("ok {name}"),
        Some(why) => println!("WRONG {name}: {why}"),
    }
}

/// Whether numbers are the same, as far as the tolerance says; NaN never is.
fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
}

/// Numbers against others that were found in another way.
pub fn same(name: &str, found: &[f64], wanted: &[f64]) {
    within(name, found, wanted, TOLERANCE);
}

/// Numbers against others that are as exact.
pub fn exactly(name: &str, found: &[f64], wanted: &[f64]) {
    within(name, found, wanted, ROUNDING);
}

fn within(name: &str, found: &[f64], wanted: &[f64], tolerance: f64) {
    let good = found.len() == wanted.len() && found.iter().zip(wanted).all(|(a, b)| close(*a, *b, tolerance));
    report(name, (!good || found.is_empty()).then(|| format!("{found:?} is not {wanted:?}")));
}

/// A gradient against differences.
pub fn gradient(name: &str, found: &[f64], x: &[f64], f: impl Fn(&[f64]) -> f64) {
    let mut at = x.to_vec();
    let mut slope = |n: usize| {
        let h = 1e-5 * x[n].abs().max(1.0);
        at[n] = x[n] + h;
        let up = f(&at);
        at[n] = x[n] - h;
        let down = f(&at);
        at[n] = x[n];
        (up - down) / (2.0 * h)
    };
    let wanted: Vec<f64> = (0..x.len()).map(&mut slope).collect();
    let moves = wanted.iter().any(|d| d.abs() > 1e-3);
    if moves { same(name, found, &wanted) } else { report(name, Some(format!("nothing to compare: {wanted:?}"))) }
}

/// As many numbers between 0.2 and 1.2, always the same.
pub fn numbers(count: usize) -> Vec<f64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        0.2 + (state >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..count).map(|_| next()).collect()
}

/// The gradient of `f` at `count` numbers against central differences.
pub fn compare(name: &str, count: usize, f: impl Fn(&[f64]) -> f64) {
    let x = numbers(count);
    gradient(name, &enzyme::grad!(&f, &x[..]), &x, &f);
}
