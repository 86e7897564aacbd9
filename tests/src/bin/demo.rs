//! The demonstration: differentiates real programs and shows what came out, then recovers the past of a rod from its present.
//!
//! Everything is compiled by stock clang with the plugin, as a user would. The picture goes to `build/demo/rod.svg`.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Parser;
use enzyme_tests::corpus::{self, Outcome, Program, Timing};
use enzyme_tests::toolchain::{self, Compilation, Level};
use enzyme_tests::{Error, Result, process, table};

/// The programs that are shown, with what they are.
const SHOWN: [(&str, &str); 12] = [
    ("gmm", "Gaussian mixture model"),
    ("ba", "bundle adjustment"),
    ("lstm", "recurrent neural network"),
    ("hand", "hand tracking"),
    ("mlp", "dense neural network"),
    ("fft", "fast Fourier transform, in place"),
    ("brusselator", "reaction and diffusion in 2-D"),
    ("leapfrog", "orbits by leapfrog"),
    ("cholesky", "Cholesky factorisation, in place"),
    ("lu_pivot", "elimination with pivoting"),
    ("simpson", "adaptive quadrature, recursive"),
    ("sort_sum", "a function of sorted data"),
];

/// Differentiates real programs, then solves an inverse problem and draws it
#[derive(Parser)]
#[command(name = "demo", version)]
struct Arguments {
    /// Folder of the picture
    #[arg(long)]
    output: Option<PathBuf>,
}

fn main() -> ExitCode {
    match demonstrate(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("demo: {error}");
            ExitCode::FAILURE
        }
    }
}

fn demonstrate(arguments: &Arguments) -> Result<()> {
    toolchain::plugin()?;
    show_square()?;
    show_programs()?;
    solve_inverse_problem(&arguments.output.clone().unwrap_or_else(|| toolchain::root().join("build/demo")))
}

/// A path as one would type it in the project's folder.
fn short(path: &Path) -> String {
    path.strip_prefix(toolchain::root()).unwrap_or(path).display().to_string()
}

fn show_square() -> Result<()> {
    let programs = corpus::programs()?;
    let Some(square) = programs.iter().find(|program| program.name == "square") else {
        return Err(Error::Failed("tests/corpus/square.c is missing".to_owned()));
    };
    let folder = toolchain::scratch()?;
    let executable = square.compile(&folder.path().join("square"), Level::O2)?.build()?;
    let finished = corpus::run(&executable, &[])?;
    let printed = finished.stdout.clone();
    square.check(finished)?;
    println!("A C function, differentiated by stock clang with a plugin:\n");
    println!(
        "  $ clang-22 -O2 -fpass-plugin={} tests/corpus/square.c -lm -o square && ./square",
        short(&toolchain::plugin()?)
    );
    println!("  {printed}");
    Ok(())
}

fn show_programs() -> Result<()> {
    println!("Real programs, their gradients by reverse mode (clang -O3):\n");
    let programs = corpus::programs()?;
    let columns = [
        "program",
        "what it is",
        "value",
        "|gradient|",
        "error against\nfinite differences",
        "value in",
        "gradient in",
        "ratio",
    ];
    let mut rows = table::new(&columns);
    if let Some(column) = rows.column_mut(1) {
        column.set_cell_alignment(comfy_table::CellAlignment::Left);
    }
    let mut failures = Vec::new();
    for (name, description) in SHOWN {
        let Some(program) = programs.iter().find(|program| program.name == name) else {
            return Err(Error::Failed(format!("tests/corpus/{name}.c is missing")));
        };
        match measure(program) {
            Ok((outcome, timing)) => {
                rows.add_row([
                    table::text(name),
                    table::text(description),
                    table::text(format!("{:.6}", outcome.value)),
                    table::text(format!("{:.4e}", outcome.gradient_norm)),
                    table::verdict(format!("{:.1e}", outcome.difference_error), true),
                    table::text(table::duration(timing.primal_ns)),
                    table::text(table::duration(timing.gradient_ns)),
                    table::text(format!("{:.2}", timing.ratio())),
                ]);
            }
            Err(error) => {
                rows.add_row([table::text(name), table::text(description), table::verdict("failed", false)]);
                failures.push(format!("{name}: {error}"));
            }
        }
    }
    println!("{rows}\n");
    if failures.is_empty() { Ok(()) } else { Err(Error::Failed(failures.join("\n"))) }
}

/// The first problem of a program.
fn measure(program: &Program) -> Result<(Outcome, Timing)> {
    let folder = toolchain::scratch()?;
    let executable = program.compile(&folder.path().join("program"), Level::O3)?.build()?;
    let finished = corpus::run(&executable, &["--bench"])?;
    let timings = corpus::timings(&finished.stdout)?;
    let outcomes = program.check(finished)?;
    outcomes
        .into_iter()
        .zip(timings)
        .next()
        .ok_or_else(|| Error::Failed(format!("{} printed no RESULT and TIME lines", program.name)))
}

fn solve_inverse_problem(output: &Path) -> Result<()> {
    println!("An inverse problem: the initial temperature and the diffusivity of a rod, from its noisy end state");
    println!("(examples/demo/rod.c: 65 unknowns, 400 time steps, L-BFGS with our gradient):\n");
    std::fs::create_dir_all(output).map_err(Error::io(format!("making {}", output.display())))?;
    let folder = toolchain::scratch()?;
    let source = toolchain::root().join("examples/demo/rod.c");
    let executable = Compilation::new(source, folder.path().join("rod"), Level::O3).with_plugin()?.build()?;
    let picture = output.join("rod.svg");
    let finished = process::run(Command::new(executable).arg(&picture), corpus::RUN_LIMIT)?;
    print!("{}", finished.stdout);
    finished.expect_success("the rod was not recovered")?;
    println!("\nThe picture is {}", short(&picture));
    Ok(())
}
