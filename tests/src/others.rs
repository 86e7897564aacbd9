//! Other tools on the mathematics of the kernels: how they are built and run, and what was measured of them.
//!
//! ADOL-C and CppAD record operations on scalars of their own. `tests/bench/others/NAME.hpp` has the mathematics of a kernel as a
//! template over the scalar; one object for each tool is linked with the kernel and measured in turns with it, in one process.
//! JAX has its own version of the mathematics in `kernels_jax.py`, which is given the kernel's data in a file and runs the kernel's
//! program in turns with itself.
//!
//! CppAD and JAX are looked for in `target/others`, where `xtask/others.sh` puts them; ADOL-C is a package of the system.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::Serialize;

use crate::kernels::{self, Column, Kernel, Mode, Printed, Time};
use crate::results::{self, Row, Show};
use crate::toolchain::{Compilation, Level, root};
use crate::{Error, Result, process};

/// A kernel whose record takes gigabytes is slow.
const RUN_LIMIT: Duration = Duration::from_secs(900);

/// -O3 -march=native, strict.
const STRICT: Mode = Mode { native: true, fast: false };
/// With -ffast-math and the vector library: what XLA may do, too.
const FAST: Mode = Mode { native: true, fast: true };

/// A tool that differentiates templates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// None: the template's values, to be compared with the kernel's.
    Plain,
    /// ADOL-C.
    Adolc,
    /// CppAD.
    CppAd,
}

impl Tool {
    /// Its name, in file names and in the lines that the program prints.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Adolc => "adolc",
            Self::CppAd => "cppad",
        }
    }

    /// What a program is linked with.
    pub fn libraries(self) -> Option<&'static str> {
        (self == Self::Adolc).then_some("-ladolc")
    }

    /// The compilation of a kernel's template.
    pub fn object(self, kernel: &str, output: &Path, mode: Mode) -> Result<Compilation> {
        let source = folder().join(format!("{}.cpp", self.name()));
        let mathematics = format!("-DBENCH_MATHEMATICS=\"{kernel}.hpp\"");
        let mut compilation = Compilation::new(source, output, Level::O3).flags(["-DNDEBUG", mathematics.as_str()]);
        if mode.native {
            compilation = compilation.flags(["-march=native"]);
        }
        if self == Self::CppAd {
            compilation = compilation.flags(["-isystem".into(), cppad_headers()?.into_os_string()]);
        }
        Ok(compilation.only_compile())
    }
}

fn folder() -> PathBuf {
    root().join("tests/bench/others")
}

/// Whether the mathematics of a kernel is written for other tools.
pub fn has_template(kernel: &str) -> bool {
    folder().join(format!("{kernel}.hpp")).is_file()
}

/// Where `xtask/others.sh` puts what it fetches.
fn fetched() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").filter(|path| !path.is_empty());
    target.map_or_else(|| root().join("target"), |path| root().join(path)).join("others")
}

fn cppad_headers() -> Result<PathBuf> {
    let libraries = std::fs::read_dir(fetched().join("lib")).into_iter().flatten().flatten();
    let headers = libraries.map(|entry| entry.path().join("site-packages/cmeel.prefix/include"));
    let mut found = headers.filter(|folder| folder.join("cppad/cppad.hpp").is_file());
    found.next().ok_or_else(|| Error::Failed("its headers are not there (sh xtask/others.sh says why)".to_owned()))
}

/// The tools that are there.
#[derive(Clone, Debug, Default)]
pub struct Found {
    columns: Vec<Column>,
    python: Option<PathBuf>,
    /// Those that are not, and why.
    pub missing: Vec<String>,
}

impl Found {
    /// Looks for them; `scratch` is a folder for what is made on the way.
    pub fn new(scratch: &Path) -> Self {
        let mut found = Self::default();
        for (tool, title) in [(Tool::Adolc, "ADOL-C"), (Tool::CppAd, "CppAD")] {
            // What compiles and links is there, and nothing else is.
            match Self::try_tool(tool, scratch) {
                Ok(()) => found.columns.push(Column::Tool(tool)),
                Err(error) => found.missing.push(format!("{title}: {}", kernels::first_error(&error.to_string()))),
            }
        }
        let python = fetched().join("bin/python");
        let jax = process::run(Command::new(&python).args(["-c", "import jax"]), Duration::from_secs(60));
        match jax.and_then(|finished| finished.expect_success("JAX does not load")) {
            Ok(_) => found.python = Some(python),
            Err(_) => found.missing.push("JAX: it is not there (sh xtask/others.sh says why)".to_owned()),
        }
        found
    }

    fn try_tool(tool: Tool, scratch: &Path) -> Result<()> {
        let object = tool.object("sum_squares", &scratch.join("tried.o"), STRICT)?.flags(["-O0", "-fPIC"]).build()?;
        let mut command = Command::new(crate::toolchain::llvm_program("clang++"));
        command.args(["-shared", "-o"]).arg(scratch.join("tried.so")).arg(object).args(tool.libraries());
        process::run(&mut command, Duration::from_secs(60))?.expect_success("the linker failed").map(|_| ())
    }
}

/// What was measured: minima and medians of interleaved rounds.
#[derive(Clone, Debug, Serialize)]
pub struct Others {
    /// The function.
    pub primal: Time,
    /// Our gradient alone.
    pub gradient: Time,
    /// The handwritten one.
    pub hand: Time,
    /// The function with fast arithmetic.
    pub fast_primal: Time,
    /// Our gradient of it.
    pub fast_gradient: Time,
    /// ADOL-C.
    pub adolc: Option<Recorded>,
    /// CppAD.
    pub cppad: Option<Recorded>,
    /// JAX.
    pub jax: Option<Jax>,
}

/// A tool that records.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Recorded {
    /// Recording and going back.
    pub gradient: Time,
    /// With a record that was there, going forward and back.
    pub reused: Time,
    /// Bytes of the record and of the values that belong to it.
    pub tape: u64,
}

/// JAX, and the kernel's program between its rounds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Jax {
    /// The kernel's function.
    pub primal: Time,
    /// JAX's own.
    pub value: Time,
    /// JAX's gradient.
    pub gradient: Time,
}

fn recorded(printed: &Printed, tool: Tool) -> Option<Recorded> {
    let [gradient, reused] = ["gradient", "reused"].map(|variant| format!("{}.{variant}", tool.name()));
    let tape = printed.memory(&gradient)?.heap;
    Some(Recorded { gradient: printed.time(&gradient)?, reused: printed.time(&reused)?, tape })
}

fn time(printed: &Printed, variant: &str) -> Result<Time> {
    printed.time(variant).ok_or_else(|| Error::Failed(format!("no time of {variant} was printed")))
}

/// Builds a kernel with the tools that are there, and measures; what it says goes to `say`.
pub fn measure(
    kernel: &Kernel,
    folder: &Path,
    main: &Path,
    found: &Found,
    seconds: f64,
    say: impl Fn(&str),
    row: &mut Row,
) -> Result<()> {
    say("compiling");
    let built = kernel.build(folder, main, STRICT, &found.columns)?;
    row.remarks.extend(built.missing.iter().map(|(column, why)| format!("no column {column}: {why}")));
    say("measuring");
    let mut command = Command::new(&built.program);
    command.args(["--check", "--memory", "--time"]).arg(seconds.to_string());
    let printed = kernels::run_command(&mut command, RUN_LIMIT)?;
    row.size = printed.size;
    let mut jax = None;
    if let Some(python) = &found.python {
        say("JAX");
        match run_jax(python, kernel, folder, &built.program, seconds) {
            Ok(times) => jax = Some(times),
            Err(error) => row.remarks.push(format!("JAX: {}", kernels::first_error(&error.to_string()))),
        }
    }
    say("fast-math");
    let fast = kernel.build(folder, main, FAST, &[])?;
    let fast = kernels::run(&fast.program, &["--time", &(0.3 * seconds).to_string()])?;
    row.others = Some(Others {
        primal: time(&printed, "primal")?,
        gradient: time(&printed, "gradient")?,
        hand: time(&printed, "hand")?,
        fast_primal: time(&fast, "primal")?,
        fast_gradient: time(&fast, "gradient")?,
        adolc: recorded(&printed, Tool::Adolc),
        cppad: recorded(&printed, Tool::CppAd),
        jax,
    });
    Ok(())
}

fn run_jax(python: &Path, kernel: &Kernel, scratch: &Path, program: &Path, seconds: f64) -> Result<Jax> {
    let data = scratch.join("data");
    let written = process::run(Command::new(program).arg("--write-data").arg(&data), RUN_LIMIT)?;
    written.expect_success("the kernel's data could not be written")?;
    let mut command = Command::new(python);
    command.arg(folder().join("kernels_jax.py")).arg(&kernel.name).arg(&data).arg(program).arg(seconds.to_string());
    let printed = kernels::run_command(&mut command, RUN_LIMIT)?;
    let part = |name: &str| time(&printed, &format!("jax.{name}"));
    Ok(Jax { primal: part("primal")?, value: part("value")?, gradient: part("gradient")? })
}

fn others(row: &Row, number: impl Fn(&Others) -> Option<f64>) -> Option<f64> {
    row.others.as_ref().and_then(number)
}

fn over_primal(others: &Others, time: Option<Time>) -> Option<f64> {
    time.map(|time| time.minimum / others.primal.minimum)
}

/// The columns of the table: ratios to the primal of the same run.
pub const COLUMNS: [results::Column; 13] = [
    ("primal", |row| others(row, |o| Some(o.primal.minimum)), Show::Time),
    ("gradient", |row| others(row, |o| over_primal(o, Some(o.gradient))), Show::Ratio),
    ("hand", |row| others(row, |o| over_primal(o, Some(o.hand))), Show::Ratio),
    ("ADOL-C", |row| others(row, |o| over_primal(o, o.adolc.map(|tool| tool.gradient))), Show::Ratio),
    ("ADOL-C, tape reused", |row| others(row, |o| over_primal(o, o.adolc.map(|tool| tool.reused))), Show::Ratio),
    ("CppAD", |row| others(row, |o| over_primal(o, o.cppad.map(|tool| tool.gradient))), Show::Ratio),
    ("CppAD, tape reused", |row| others(row, |o| over_primal(o, o.cppad.map(|tool| tool.reused))), Show::Ratio),
    ("JAX", |row| others(row, |o| o.jax.map(|jax| jax.gradient.minimum / jax.primal.minimum)), Show::Ratio),
    ("JAX: primal", |row| others(row, |o| o.jax.map(|jax| jax.value.minimum / jax.primal.minimum)), Show::Ratio),
    ("fast: gradient", |row| others(row, |o| over_primal(o, Some(o.fast_gradient))), Show::Ratio),
    ("fast: primal", |row| others(row, |o| over_primal(o, Some(o.fast_primal))), Show::Ratio),
    ("tape: ADOL-C", |row| others(row, |o| o.adolc.map(|tool| tool.tape as f64)), Show::Bytes),
    ("tape: CppAD", |row| others(row, |o| o.cppad.map(|tool| tool.tape as f64)), Show::Bytes),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_tools_have_the_table_for_themselves() {
        let time = |nanoseconds: f64| Time { minimum: nanoseconds, median: nanoseconds };
        let others = Others {
            primal: time(100.0),
            gradient: time(150.0),
            hand: time(160.0),
            fast_primal: time(50.0),
            fast_gradient: time(90.0),
            adolc: Some(Recorded { gradient: time(6000.0), reused: time(2000.0), tape: 4800 }),
            cppad: None,
            jax: Some(Jax { primal: time(200.0), value: time(100.0), gradient: time(500.0) }),
        };
        let row = Row { name: "heat".to_owned(), size: 40, others: Some(others), ..Row::default() };
        let missing = vec!["CppAD: its headers are not there".to_owned()];
        let results =
            results::Results { processor: "P".to_owned(), compiler: "C".to_owned(), kernels: vec![row], missing };
        let markdown = results.markdown();
        let line = "| heat | 40 | 100 ns | 1.50 | 1.60 | 60.00 | 20.00 | 2.50 | 0.50 | 0.90 | 0.50 | 4.8 kB |";
        assert!(markdown.contains(line) && markdown.contains("- CppAD: its headers"), "{markdown}");
        assert!(!markdown.contains("heap") && !markdown.contains("| CppAD"), "{markdown}");
        assert!(results.json().unwrap().contains("\"adolc\""));
    }

    #[test]
    fn what_is_written_for_templates_is_written_for_jax() {
        let functions = std::fs::read_to_string(folder().join("kernels_jax.py")).unwrap();
        let known: Vec<Kernel> = kernels::kernels().unwrap().into_iter().filter(|k| has_template(&k.name)).collect();
        assert!(known.len() >= 15, "{known:?}");
        for kernel in known {
            assert!(functions.contains(&format!("\ndef {}(x, ", kernel.name)), "{}", kernel.name);
        }
    }
}
