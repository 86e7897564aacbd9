//! File tests: functions in LLVM assembly, differentiated and interpreted without LLVM, one test case for each file.
//!
//! `directive` says what the comments of a file mean, `check` what is tested. Cases are called `area::name`; filters
//! and options are those of libtest: `cargo test -p enzyme-diff --test filetests -- loops::`. With the environment
//! variable `FILETESTS_PRINT` set, modules with their derivatives are printed.

#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

mod check;
mod directive;
mod point;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests");
    let root = std::env::var_os("FILETESTS_ROOT").map_or(root, PathBuf::from);
    let mut trials =
        vec![Trial::test("wrong_derivatives_are_seen", || wrong_derivatives_are_seen().map_err(Failed::from))];
    for area in entries(&root).into_iter().filter(|p| p.is_dir()) {
        for file in entries(&area).into_iter().filter(|p| p.extension().is_some_and(|e| e == "ll")) {
            let name = |p: &Path| p.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let name = format!("{}::{}", name(&area), name(&file));
            trials.push(Trial::test(name, move || check_file(&file).map_err(Failed::from)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut out: Vec<PathBuf> = read.map(|e| e.path()).collect();
    out.sort();
    out
}

fn check_file(path: &Path) -> Result<(), String> {
    let source = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let directives = directive::parse(&source)?;
    check::file(&source, &directives)
}

/// The checks fail on a kink, where one-sided derivatives are not what differences say, on a wrong exact gradient, on a
/// refusal of another kind, and on a plan that is not as said.
fn wrong_derivatives_are_seen() -> Result<(), String> {
    let body = "define double @f(double %x) {\n  %y = fmul double %x, %x\n  ret double %y\n}\n\
        declare double @llvm.fabs.f64(double)\n\
        define double @k(double %x) {\n  %y = call double @llvm.fabs.f64(double %x)\n  ret double %y\n}\n";
    let right = ["grad: @f(1.5)", "grad: @f(1.5) == (3.0)", "grad: @k(1.5)", "plan: @f kept not %y\n; grad: @f(1.0)"];
    let wrong = [
        "grad: @f(1.5) == (3.1)",
        "grad: @k(0.0)",
        "error[UnknownType]: @f(1.5)",
        "plan: @f needed has %y\n; grad: @f(1.0)",
        "stable: @f %z\n; grad: @f(1.0)",
    ];
    let run = |directive: &str| {
        let source = format!("; {directive}\n{body}");
        directive::parse(&source).and_then(|d| check::file(&source, &d))
    };
    for d in right {
        run(d).map_err(|e| format!("`{d}` fails: {e}"))?;
    }
    match wrong.iter().find(|d| run(d).is_ok()) {
        Some(d) => Err(format!("`{d}` passes")),
        None => Ok(()),
    }
}
