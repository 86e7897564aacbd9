//! Times the corpus: value and gradient of each program, and what the plugin adds to the time of the compiler.
//!
//! The programs measure themselves (minimum over rounds, value and gradient in turns). The allocator keeps what is freed, so that
//! the tape's pages are not fetched from the system at every call; `--default-malloc` shows the other case. The gradient is
//! timed alone: its value is not asked for. With `--enforce` a program over a limit is a failure.
#![forbid(unsafe_code)]

use std::io::{IsTerminal, Write};
use std::process::{Command, ExitCode};
use std::time::Duration;

use clap::{Parser, ValueEnum};
use enzyme_tests::corpus::{self, Outcome, Program, Timing};
use enzyme_tests::toolchain::{self, Compilation, Level};
use enzyme_tests::{Result, process, table};

/// Gradient over value, of a Gaussian mixture of the size in its source, at -O3.
const GMM_LIMIT: f64 = 4.0;
/// Gradient over value, of any other program.
const RATIO_LIMIT: f64 = 12.0;
/// Time of the compiler that the plugin may add, over its time without the plugin.
const ADDED_LIMIT: f64 = 3.0;

/// Times the corpus: value, gradient, compiler
#[derive(Parser)]
#[command(name = "bench", version)]
struct Arguments {
    /// Only programs whose name contains one of these
    filters: Vec<String>,
    /// Optimisation level of the programs
    #[arg(long, value_enum, default_value = "o3")]
    level: LevelName,
    /// Compile for this processor, wider vectors included
    #[arg(long)]
    native: bool,
    /// Leave the allocator's settings as they are
    #[arg(long)]
    default_malloc: bool,
    /// How often the compiler is timed
    #[arg(long, default_value_t = 3)]
    compilations: usize,
    /// Fail if a program is over its limit
    #[arg(long)]
    enforce: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum LevelName {
    O0,
    O1,
    O2,
    O3,
}

impl From<LevelName> for Level {
    fn from(name: LevelName) -> Self {
        match name {
            LevelName::O0 => Self::O0,
            LevelName::O1 => Self::O1,
            LevelName::O2 => Self::O2,
            LevelName::O3 => Self::O3,
        }
    }
}

fn main() -> ExitCode {
    match bench(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What was measured of a program.
struct Measured {
    outcomes: Vec<Outcome>,
    timings: Vec<Timing>,
    plain: Duration,
    with_plugin: Duration,
}

impl Measured {
    fn added(&self) -> f64 {
        (self.with_plugin.as_secs_f64() - self.plain.as_secs_f64()) / self.plain.as_secs_f64()
    }
}

fn bench(arguments: &Arguments) -> Result<bool> {
    toolchain::plugin()?;
    let wanted = |program: &Program| {
        arguments.filters.is_empty() || arguments.filters.iter().any(|filter| program.name.contains(filter))
    };
    // A program of exact output has nothing to time.
    let programs: Vec<Program> =
        corpus::programs()?.into_iter().filter(|program| program.exact.is_none() && wanted(program)).collect();
    let columns = ["program", "value", "primal µs", "gradient µs", "ratio", "clang ms", "+ plugin ms", "added / clang"];
    let mut rows = table::new(&columns);
    let mut good = true;
    for (index, program) in programs.iter().enumerate() {
        progress(&format!("{}/{} {}", index + 1, programs.len(), program.name));
        match measure(program, arguments) {
            Ok(measured) => good &= add_rows(&mut rows, &measured),
            Err(error) => {
                progress("");
                eprintln!("{}: {error}", program.name);
                rows.add_row([table::text(&program.name), table::verdict("failed", false)]);
                good = false;
            }
        }
    }
    progress("");
    println!("{rows}");
    println!(
        "limits: ratio {GMM_LIMIT} for gmm, {RATIO_LIMIT} for the others; added / clang {ADDED_LIMIT} (files of the corpus at -O2)"
    );
    Ok(good || !arguments.enforce)
}

fn add_rows(rows: &mut comfy_table::Table, measured: &Measured) -> bool {
    let mut good = measured.added() <= ADDED_LIMIT;
    let milliseconds = |duration: Duration| format!("{:.0}", 1e3 * duration.as_secs_f64());
    for (index, timing) in measured.timings.iter().enumerate() {
        let limit = if timing.name == "gmm" { GMM_LIMIT } else { RATIO_LIMIT };
        let within = timing.ratio() <= limit;
        good &= within;
        let value = measured.outcomes.iter().find(|outcome| outcome.name == timing.name);
        let mut row = vec![
            table::text(&timing.name),
            table::text(value.map_or_else(String::new, |outcome| format!("{:.6e}", outcome.value))),
            table::text(format!("{:.2}", 1e-3 * timing.primal_ns)),
            table::text(format!("{:.2}", 1e-3 * timing.gradient_ns)),
            table::verdict(format!("{:.2}", timing.ratio()), within),
        ];
        if index == 0 {
            row.push(table::text(milliseconds(measured.plain)));
            row.push(table::text(milliseconds(measured.with_plugin)));
            row.push(table::verdict(format!("{:.2}", measured.added()), measured.added() <= ADDED_LIMIT));
        }
        rows.add_row(row);
    }
    good
}

fn measure(program: &Program, arguments: &Arguments) -> Result<Measured> {
    let folder = toolchain::scratch()?;
    let native = arguments.native.then_some("-march=native");
    let compilation = program.compile(&folder.path().join("program"), arguments.level.into())?.flags(native);
    let executable = compilation.build()?;
    let mut command = Command::new(executable);
    command.arg("--bench");
    if !arguments.default_malloc {
        for name in ["MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_"] {
            command.env(name, "1073741824");
        }
    }
    let finished = process::run(&mut command, corpus::RUN_LIMIT)?;
    let timings = corpus::timings(&finished.stdout)?;
    let outcomes = program.check(finished)?;
    let object = folder.path().join("program.o");
    let plain = Compilation::new(&program.source, &object, Level::O2).only_compile();
    let with_plugin = program.compile(&object, Level::O2)?.only_compile();
    let (mut fastest_plain, mut fastest_with) = (Duration::MAX, Duration::MAX);
    for _ in 0..arguments.compilations.max(1) {
        fastest_plain = fastest_plain.min(plain.run()?.expect_success("the compiler failed")?.elapsed);
        fastest_with = fastest_with.min(with_plugin.run()?.expect_success("the compiler failed")?.elapsed);
    }
    Ok(Measured { outcomes, timings, plain: fastest_plain, with_plugin: fastest_with })
}

/// Says on a terminal what is being done, in a line that the next one overwrites.
fn progress(text: &str) {
    let mut terminal = std::io::stderr();
    if terminal.is_terminal() {
        // A terminal that cannot be written to is no reason to stop.
        let _ = write!(terminal, "\r\x1b[K{text}");
        let _ = terminal.flush();
    }
}
