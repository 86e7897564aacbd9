//! How the time of differentiation grows with what is differentiated.
//!
//! For each shape, modules of growing size are written as LLVM assembly and given to opt with the plugin and without it; the
//! difference is the plugin's. LLVM's own -O2 of the same module stands beside it, as the primal is optimised before it is
//! differentiated. The exponent is the slope of the logarithms by least squares: 1 is linear, and n log n between a
//! thousand and a hundred thousand looks like 1.1. The functions are only compiled, never run.

use std::fmt::Write;
use std::process::Command;
use std::time::Duration;

use clap::ValueEnum;

use crate::process;
use crate::{Error, Result, toolchain};

/// What grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shape {
    /// One block of arithmetic.
    Arithmetic,
    /// One block of loads and stores.
    Memory,
    /// Loops one after the other.
    Loops,
    /// Branches one after the other.
    Branches,
    /// Branches in both arms of branches.
    Tree,
    /// Conditions in a chain, each within the one before, that leave to one block.
    Nested,
    /// Functions that call each other.
    Functions,
    /// The same, too large to be inlined.
    LargeFunctions,
}

impl Shape {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Arithmetic,
        Self::Memory,
        Self::Loops,
        Self::Branches,
        Self::Tree,
        Self::Nested,
        Self::Functions,
        Self::LargeFunctions,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Arithmetic => "arithmetic",
            Self::Memory => "memory",
            Self::Loops => "loops",
            Self::Branches => "branches",
            Self::Tree => "tree of branches",
            Self::Nested => "nested branches",
            Self::Functions => "functions",
            Self::LargeFunctions => "noinline functions",
        }
    }

    /// Sizes to measure: instructions, or functions.
    pub fn sizes(self) -> &'static [usize] {
        match self {
            Self::Functions | Self::LargeFunctions => &[10, 100, 500, 2000],
            _ => &[1000, 10_000, 100_000],
        }
    }

    /// A module of this size.
    pub fn module(self, size: usize) -> String {
        let mut text = String::new();
        match self {
            Self::Arithmetic => function(&mut text, "f", "", |text| arithmetic(text, size)),
            Self::Memory => function(&mut text, "f", "", |text| memory(text, size)),
            Self::Loops => function(&mut text, "f", "", |text| loops(text, size)),
            Self::Branches => function(&mut text, "f", "", |text| branches(text, size)),
            Self::Tree => function(&mut text, "f", "", |text| tree(text, size)),
            Self::Nested => function(&mut text, "f", "", |text| nested(text, size)),
            Self::Functions | Self::LargeFunctions => functions(&mut text, size, self == Self::LargeFunctions),
        }
        text.push_str(
            "define double @gradient(ptr %a, ptr %da, i64 %n, double %x) {\n  %g = call double (ptr, ...) @__enzyme_autodiff(ptr @f, ptr %a, ptr %da, i64 %n, double %x)\n  ret double %g\n}\ndeclare double @__enzyme_autodiff(ptr, ...)\ndeclare double @llvm.sin.f64(double)\n",
        );
        text
    }
}

fn function(text: &mut String, name: &str, attributes: &str, body: impl FnOnce(&mut String) -> String) {
    let _ = writeln!(text, "define internal double @{name}(ptr %a, i64 %n, double %x) {attributes} {{\nentry:");
    let result = body(text);
    let _ = writeln!(text, "  ret double {result}\n}}");
}

fn arithmetic(text: &mut String, size: usize) -> String {
    let value = |i: usize| if i == 0 { "%x".to_owned() } else { format!("%v{i}") };
    for i in 1..=size {
        let (a, b) = (value(i - 1), value(i.saturating_sub(1 + i % 7)));
        let _ = match i % 5 {
            0 => writeln!(text, "  %v{i} = call double @llvm.sin.f64(double {a})"),
            1 | 3 => writeln!(text, "  %v{i} = fmul double {a}, {b}"),
            _ => writeln!(text, "  %v{i} = fadd double {a}, {b}"),
        };
    }
    value(size)
}

fn memory(text: &mut String, size: usize) -> String {
    let mut last = "%x".to_owned();
    for i in 0..size / 4 {
        let (from, to) = (i * 37 % 64, i * 11 % 64);
        let _ = writeln!(text, "  %p{i} = getelementptr double, ptr %a, i64 {from}\n  %l{i} = load double, ptr %p{i}");
        let _ = writeln!(text, "  %m{i} = fmul double %l{i}, {last}\n  %q{i} = getelementptr double, ptr %a, i64 {to}");
        let _ = writeln!(text, "  store double %m{i}, ptr %q{i}");
        last = format!("%m{i}");
    }
    last
}

fn loops(text: &mut String, size: usize) -> String {
    let (mut last, mut block) = ("%x".to_owned(), "entry".to_owned());
    for i in 0..size / 10 {
        let _ = writeln!(text, "  br label %loop{i}\nloop{i}:");
        let _ = writeln!(text, "  %i{i} = phi i64 [ 0, %{block} ], [ %n{i}, %loop{i} ]");
        let _ = writeln!(text, "  %s{i} = phi double [ {last}, %{block} ], [ %t{i}, %loop{i} ]");
        let _ = writeln!(text, "  %p{i} = getelementptr double, ptr %a, i64 %i{i}\n  %l{i} = load double, ptr %p{i}");
        let _ = writeln!(text, "  %m{i} = fmul double %l{i}, %s{i}\n  %t{i} = fadd double %m{i}, %x");
        let _ = writeln!(text, "  store double %t{i}, ptr %p{i}\n  %n{i} = add nuw i64 %i{i}, 1");
        let _ =
            writeln!(text, "  %c{i} = icmp ult i64 %n{i}, %n\n  br i1 %c{i}, label %loop{i}, label %next{i}\nnext{i}:");
        (last, block) = (format!("%t{i}"), format!("next{i}"));
    }
    last
}

fn branches(text: &mut String, size: usize) -> String {
    let mut last = "%x".to_owned();
    for i in 0..size / 8 {
        let _ =
            writeln!(text, "  %c{i} = fcmp olt double {last}, {:?}\n  br i1 %c{i}, label %t{i}, label %e{i}", i as f64);
        let _ = writeln!(text, "t{i}:\n  %u{i} = fmul double {last}, %x\n  br label %j{i}");
        let _ = writeln!(text, "e{i}:\n  %w{i} = call double @llvm.sin.f64(double {last})\n  br label %j{i}");
        let _ = writeln!(
            text,
            "j{i}:\n  %v{i} = phi double [ %u{i}, %t{i} ], [ %w{i}, %e{i} ]\n  %z{i} = fadd double %v{i}, %x"
        );
        last = format!("%z{i}");
    }
    last
}

fn tree(text: &mut String, size: usize) -> String {
    // A node takes three instructions and a branch, and a phi where it is not a leaf.
    let height = (size / 8).max(1).ilog2();
    arms(text, height, "%x", &mut 0).0
}

/// A tree of branches of `height` from the block that is open, and in which block its result is.
fn arms(text: &mut String, height: u32, from: &str, count: &mut usize) -> (String, Option<String>) {
    let i = *count;
    *count += 1;
    let _ = writeln!(text, "  %v{i} = fmul double {from}, %x\n  %w{i} = fadd double %v{i}, {:?}", i as f64);
    if height == 0 {
        return (format!("%w{i}"), None);
    }
    let _ = writeln!(text, "  %c{i} = fcmp olt double %w{i}, 2.0\n  br i1 %c{i}, label %t{i}, label %e{i}\nt{i}:");
    let (a, from_a) = arms(text, height - 1, &format!("%w{i}"), count);
    let _ = writeln!(text, "  br label %j{i}\ne{i}:");
    let (b, from_b) = arms(text, height - 1, &format!("%w{i}"), count);
    let (from_a, from_b) = (from_a.unwrap_or(format!("t{i}")), from_b.unwrap_or(format!("e{i}")));
    let _ = writeln!(text, "  br label %j{i}\nj{i}:");
    let _ = writeln!(text, "  %z{i} = phi double [ {a}, %{from_a} ], [ {b}, %{from_b} ]");
    (format!("%z{i}"), Some(format!("j{i}")))
}

/// Chains of conditions, each within the one before, that meet in one block.
fn nested(text: &mut String, size: usize) -> String {
    let depth = size / 4;
    let mut last = "%x".to_owned();
    let (mut from, mut phi) = ("entry".to_owned(), String::new());
    for i in 0..depth {
        let _ = writeln!(text, "  %v{i} = fmul double {last}, %x\n  %w{i} = fadd double %v{i}, {:?}", i as f64);
        let _ = writeln!(text, "  %c{i} = fcmp olt double %w{i}, 2.0\n  br i1 %c{i}, label %in{i}, label %out\nin{i}:");
        let _ = write!(phi, "[ %w{i}, %{from} ], ");
        (last, from) = (format!("%w{i}"), format!("in{i}"));
    }
    let _ = writeln!(text, "  br label %out\nout:\n  %result = phi double {phi}[ {last}, %{from} ]");
    "%result".to_owned()
}

fn functions(text: &mut String, count: usize, apart: bool) {
    for i in 0..count {
        let name = if i == 0 { "f".to_owned() } else { format!("f{i}") };
        function(text, &name, if apart { "noinline" } else { "" }, |text| {
            let last = memory(text, 24);
            let mut sum = last;
            for (k, callee) in [2 * i + 1, 2 * i + 2].into_iter().enumerate() {
                if callee < count {
                    let _ = writeln!(text, "  %r{k} = call double @f{callee}(ptr %a, i64 %n, double {sum})");
                    sum = format!("%r{k}");
                }
            }
            sum
        });
    }
}

/// One measurement.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Instructions or functions.
    pub size: usize,
    /// Seconds of opt alone.
    pub alone: f64,
    /// Seconds that LLVM's own optimisation of the primal adds, without the plugin; `None` past the time limit.
    pub optimised: Option<f64>,
    /// Seconds that the plugin adds; `None` past the time limit.
    pub added: Option<f64>,
}

/// Measures a shape at its sizes, none larger than `largest`.
pub fn measure(shape: Shape, largest: usize, limit: Duration) -> Result<Vec<Sample>> {
    let folder = toolchain::scratch()?;
    let path = folder.path().join("module.ll");
    let mut samples = Vec::new();
    for &size in shape.sizes().iter().filter(|&&size| size <= largest) {
        std::fs::write(&path, shape.module(size)).map_err(Error::io("writing a module"))?;
        let mut load = std::ffi::OsString::from("-load-pass-plugin=");
        load.push(toolchain::plugin()?);
        let time = |options: &[std::ffi::OsString]| -> Result<Option<f64>> {
            let mut best = None::<f64>;
            for _ in 0..2 {
                let mut command = Command::new(toolchain::llvm_program("opt"));
                command.args(options).arg(&path).args(["-o", "/dev/null"]);
                let finished = process::run(&mut command, limit)?;
                if finished.timed_out {
                    return Ok(None);
                }
                let seconds = finished.expect_success("opt failed")?.elapsed.as_secs_f64();
                best = Some(best.map_or(seconds, |least| least.min(seconds)));
                if seconds > 10.0 {
                    break;
                }
            }
            Ok(best)
        };
        let alone = time(&["-passes=verify".into()])?.unwrap_or(f64::NAN);
        let optimised = time(&["-passes=default<O2>".into()])?;
        let total = time(&[load, "-passes=enzyme".into()])?;
        let more = |total: f64| (total - alone).max(1e-3);
        samples.push(Sample { size, alone, optimised: optimised.map(more), added: total.map(more) });
        if total.is_none() {
            break;
        }
    }
    Ok(samples)
}

/// Slope of the logarithm of such a time over that of size.
pub fn exponent(samples: &[Sample], time: impl Fn(&Sample) -> Option<f64>) -> Option<f64> {
    let points: Vec<(f64, f64)> =
        samples.iter().filter_map(|sample| Some(((sample.size as f64).ln(), time(sample)?.ln()))).collect();
    if points.len() < 2 {
        return None;
    }
    let count = points.len() as f64;
    let (mean_x, mean_y) =
        (points.iter().map(|p| p.0).sum::<f64>() / count, points.iter().map(|p| p.1).sum::<f64>() / count);
    let above: f64 = points.iter().map(|p| (p.0 - mean_x) * (p.1 - mean_y)).sum();
    let below: f64 = points.iter().map(|p| (p.0 - mean_x) * (p.0 - mean_x)).sum();
    Some(above / below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_of_a_square_is_two() {
        let sample = |size: usize| Sample { size, alone: 0.0, optimised: None, added: Some((size * size) as f64) };
        let samples = [sample(10), sample(100), sample(1000)];
        assert!((exponent(&samples, |sample| sample.added).unwrap() - 2.0).abs() < 1e-9);
        assert!(exponent(&samples, |sample| sample.optimised).is_none());
        assert!(exponent(&samples[..1], |sample| sample.added).is_none());
    }
}
