//! Rust programs through `cargo enzyme`, on the toolchain that builds the project: `tests/rust` in one binary, at three levels, a test case for
//! each gradient that it prints. A few cases more: what the compiler says of a wrong activity, what a link without the plugin says, what is refused
//! at its place, and that the checks of the harness can fail.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use enzyme_tests::{Error, Result, corpus, process, toolchain};
use libtest_mimic::{Arguments, Failed, Trial};

/// All packages and the whole program, on a machine with other work.
const BUILD_LIMIT: Duration = Duration::from_secs(600);
/// Gradients that the programs check; a program that stops early has fewer.
const CHECKS: usize = 47;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = vec![
        trial("refused::activity", || {
            says(WRONG_ACTIVITY, true, &["`n` cannot be `Active`: a `usize` has no derivative"])
        }),
        trial("refused::reference", || says(REFERENCE, true, &["behind which derivatives are added to a shadow"])),
        trial("refused::structure", || {
            says(STRUCTURE, true, &["`Text` has no derivative", "derive(enzyme::Differentiable)"])
        }),
        trial("refused::count", || {
            says(COUNT, true, &["one activity is needed for each and one for the result, 3 in all"])
        }),
        trial("refused::unknown", || says(UNKNOWN, true, &["[E0201]", "main.rs:"])),
        trial("without_plugin", || says(RIGHT, false, &["use `cargo enzyme build`"])),
        trial("lto_by_rustc", llvm_plugins),
    ];
    for (name, level) in [("O0", "0"), ("O2", "2"), ("O3", "3")] {
        trials.push(trial(name, move || right(level)));
    }
    // One after the other: they share the packages that are built.
    libtest_mimic::run(&Arguments { test_threads: Some(1), ..arguments }, trials).exit_code()
}

fn trial(name: &str, test: impl FnOnce() -> Result<()> + Send + 'static) -> Trial {
    Trial::test(name, move || test().map_err(Failed::from))
}

/// `cargo enzyme`, in a folder; what it builds lies in `build/rust`, and is found there the next time.
fn cargo_enzyme(folder: &Path) -> Result<Command> {
    let program = toolchain::root().join("build/bin/cargo-enzyme");
    if !program.is_file() {
        return Err(Error::NotBuilt { what: "the command `cargo enzyme`", path: program.display().to_string() });
    }
    let mut command = Command::new(program);
    command.current_dir(folder).env("ENZYME_PLUGIN", toolchain::plugin()?).env("CARGO_TARGET_DIR", target());
    clean(&mut command);
    Ok(command)
}

fn target() -> PathBuf {
    toolchain::root().join("target/rust-programs")
}

/// What cargo tells the tests that it runs is not meant for the cargo that they run.
fn clean(command: &mut Command) {
    for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET", "RUSTC", "RUSTC_WRAPPER"] {
        command.env_remove(name);
    }
}

fn right(level: &str) -> Result<()> {
    let mut command = cargo_enzyme(&toolchain::root().join("tests/rust"))?;
    command.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", level).args(["build", "--release"]);
    process::run(&mut command, BUILD_LIMIT)?.expect_success("cargo enzyme failed")?;
    let built = std::fs::read_dir(target()).map_err(Error::io("reading the folder of what was built"))?;
    let program = built
        .filter_map(|entry| Some(entry.ok()?.path().join("release/enzyme-rust-programs")))
        .find(|path| path.is_file())
        .ok_or_else(|| Error::Failed("cargo enzyme has built no program".to_owned()))?;
    let finished =
        process::run(&mut Command::new(&program), corpus::RUN_LIMIT)?.expect_success("the program failed")?;
    let good = finished.stdout.lines().filter(|line| line.starts_with("ok ")).count();
    if good != CHECKS || finished.stdout.contains("WRONG") {
        return Err(finished.failure(&format!("{good} of {CHECKS} checks are right")));
    }
    let selftest = process::run(Command::new(&program).arg("selftest"), corpus::RUN_LIMIT)?;
    if selftest.stdout.contains("WRONG selftest") { Ok(()) } else { Err(selftest.failure("a wrong gradient passes")) }
}

/// A package with one file, in a folder of its own.
fn package(source: &str) -> Result<tempfile::TempDir> {
    let folder = toolchain::scratch()?;
    let bindings = toolchain::root().join("bindings/rust");
    let manifest = format!(
        "[package]\nname = \"one\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies]\nenzyme = {{ path = {bindings:?} }}\n[workspace]\n"
    );
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap_or(folder.path())).map_err(Error::io("making a folder"))?;
        std::fs::write(file, text).map_err(Error::io("writing a package"))
    };
    write("Cargo.toml", &manifest)?;
    write("src/main.rs", source)?;
    Ok(folder)
}

/// What a build that fails says.
fn says(source: &str, plugin: bool, texts: &[&str]) -> Result<()> {
    let folder = package(source)?;
    let mut command = if plugin { cargo_enzyme(folder.path())? } else { Command::new("cargo") };
    if !plugin {
        command.current_dir(folder.path()).env("CARGO_TARGET_DIR", target());
        clean(&mut command);
    }
    let finished = process::run(command.arg("build"), BUILD_LIMIT)?;
    if !finished.succeeded() && texts.iter().all(|text| finished.stderr.contains(text)) {
        return Ok(());
    }
    Err(finished.failure(&format!("it must fail and say {texts:?}")))
}

/// The same numbers when rustc itself loads the plugin.
fn llvm_plugins() -> Result<()> {
    let folder = package(RIGHT)?;
    let mut answers = Vec::new();
    for mode in [None, Some("--llvm-plugins")] {
        let mut command = cargo_enzyme(folder.path())?;
        command.args(mode).args(["run", "--release"]);
        if mode.is_some() {
            command.env("RUSTC_BOOTSTRAP", "1");
        }
        answers.push(process::run(&mut command, BUILD_LIMIT)?.expect_success("cargo enzyme failed")?.stdout);
    }
    if answers[0] == answers[1] && answers[0].starts_with("5 [0.6") {
        return Ok(());
    }
    Err(Error::Failed(format!("by the linker {:?}, by rustc {:?}", answers[0], answers[1])))
}

const RIGHT: &str = "
#[enzyme::autodiff_reverse(norm_gradient, Duplicated, Active)]
fn norm(x: &[f64]) -> f64 {
    x.iter().map(|v| v * v).sum::<f64>().sqrt()
}
fn main() {
    let mut dx = [0.0; 2];
    let value = norm_gradient(&[3.0, 4.0], &mut dx, 1.0);
    println!(\"{value} {dx:?}\");
}
";
const WRONG_ACTIVITY: &str = "
#[enzyme::autodiff_reverse(d, Active, Active, Active)]
fn f(x: f64, n: usize) -> f64 { x * n as f64 }
fn main() {}
";
const REFERENCE: &str = "
#[enzyme::autodiff_reverse(d, Active, Active)]
fn f(x: &f64) -> f64 { x * x }
fn main() {}
";
const STRUCTURE: &str = "
struct Text { name: String, x: f64 }
#[enzyme::autodiff_reverse(d, Active, Active)]
fn f(t: Text) -> f64 { t.x * t.name.len() as f64 }
fn main() {}
";
const COUNT: &str = "
#[enzyme::autodiff_reverse(d, Active, Active)]
fn f(x: f64, y: f64) -> f64 { x * y }
fn main() {}
";
/// A function of which nothing is known.
const UNKNOWN: &str = "
unsafe extern \"C\" { fn strange(x: f64) -> f64; }
#[enzyme::autodiff_reverse(d, Active, Active)]
fn f(x: f64) -> f64 { unsafe { strange(x) } }
fn main() { println!(\"{:?}\", d(1.0, 1.0)); }
";
