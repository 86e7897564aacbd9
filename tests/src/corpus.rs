//! The programs of `tests/corpus/` and what they print.
//!
//! A program prints `RESULT name value=... gradnorm=... fd_err=... dot_err=...` for each problem, and with `--bench`
//! `TIME name primal_ns=... gradient_ns=... ratio=...`. One whose source has a line `// corpus: stdout TEXT` prints exactly that
//! line and nothing else. A line `// corpus: flags -fsome-option` gives clang further options. A line `// corpus: levels O0 O2` has
//! it compiled at these levels only: for C++ whose headers alone take clang many seconds (`tests/corpus/README.md` says which
//! levels those are). A line `// corpus: libc++ O0 O2` names levels at which it is compiled with that library as well, `// corpus: link O2`
//! those at which it is differentiated by the linker as well.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::process::{self, Finished};
use crate::toolchain::{self, Compilation, Level, root};
use crate::{Error, Result};

/// A program that runs longer hangs: each takes well under a second, and some seconds with `--bench`.
pub const RUN_LIMIT: Duration = Duration::from_secs(120);

/// The marker of exact output.
const EXACT: &str = "// corpus: stdout ";

/// The marker of a choice of levels.
const LEVELS: &str = "// corpus: levels ";

/// The marker of options for the compiler.
const FLAGS: &str = "// corpus: flags ";
/// Headers of libraries that programs are linked with: of numbers with many digits, and of linear algebra.
const LIBRARIES: [(&str, &[&str]); 4] = [
    ("fprt/mpfr.h", &["-lmpfr"]),
    ("<cblas.h>", &["-lopenblas"]),
    ("<lapacke.h>", &["-llapacke", "-lopenblas"]),
    ("<armadillo>", &["-lopenblas"]),
];

/// A program.
#[derive(Clone, Debug)]
pub struct Program {
    /// The name of its file without the ending.
    pub name: String,
    /// Its source.
    pub source: PathBuf,
    /// What it prints, if that is stated.
    pub exact: Option<String>,
    /// The levels it is compiled at.
    pub levels: Vec<Level>,
    /// Further options.
    pub flags: Vec<String>,
}

/// One `RESULT` line.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The problem.
    pub name: String,
    /// The function's value.
    pub value: f64,
    /// The gradient's Euclidean norm.
    pub gradient_norm: f64,
    /// The largest relative error against finite differences.
    pub difference_error: f64,
    /// The relative error of reverse against forward mode.
    pub dot_error: f64,
}

/// One `TIME` line.
#[derive(Clone, Debug, PartialEq)]
pub struct Timing {
    /// The problem.
    pub name: String,
    /// Nanoseconds that one value takes.
    pub primal_ns: f64,
    /// Nanoseconds that one gradient takes.
    pub gradient_ns: f64,
}

impl Timing {
    /// How many times as long the gradient takes.
    pub fn ratio(&self) -> f64 {
        self.gradient_ns / self.primal_ns
    }
}

/// All programs, by name.
pub fn programs() -> Result<Vec<Program>> {
    programs_in(&root().join("tests/corpus"))
}

/// The programs of a folder, by name.
pub fn programs_in(folder: &Path) -> Result<Vec<Program>> {
    let mut programs = Vec::new();
    for source in files(folder, &["c", "cpp"])? {
        let text = std::fs::read_to_string(&source).map_err(Error::io(format!("reading {}", source.display())))?;
        let exact = text.lines().find_map(|line| line.strip_prefix(EXACT)).map(|line| format!("{line}\n"));
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let levels = levels_after(&source, LEVELS)?.unwrap_or_else(|| Level::ALL.to_vec());
        let flags = text.lines().find_map(|line| line.strip_prefix(FLAGS)).unwrap_or("");
        let flags = flags.split_whitespace().map(str::to_owned).collect();
        programs.push(Program { name, source, exact, levels, flags });
    }
    if programs.is_empty() {
        return Err(Error::Failed(format!("no programs in {}", folder.display())));
    }
    Ok(programs)
}

/// The levels that a program's line with a marker names, if it has one.
pub fn levels_after(source: &Path, marker: &str) -> Result<Option<Vec<Level>>> {
    let text = std::fs::read_to_string(source).map_err(Error::io(format!("reading {}", source.display())))?;
    let line = text.lines().find_map(|line| line.strip_prefix(marker));
    let named = line.map(|line| levels(line).map_err(|error| Error::Failed(format!("{}: {error}", source.display()))));
    named.transpose()
}

/// The levels that a line names.
fn levels(line: &str) -> Result<Vec<Level>> {
    let level = |word: &str| {
        let known = Level::NAMED.into_iter().find(|level| level.name() == word);
        known.ok_or_else(|| Error::Failed(format!("no level: {word:?}")))
    };
    line.split_whitespace().map(level).collect()
}

/// The files of a folder with one of these endings, by name.
pub fn files(folder: &Path, endings: &[&str]) -> Result<Vec<PathBuf>> {
    let reading = || format!("reading {}", folder.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(Error::io(reading()))? {
        let path = entry.map_err(Error::io(reading()))?.path();
        if endings.iter().any(|ending| path.extension().is_some_and(|extension| extension == *ending)) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The libraries whose headers a source includes.
pub fn libraries(source: &str) -> impl Iterator<Item = &'static str> {
    let used = LIBRARIES.iter().filter(|(header, _)| source.contains(header));
    used.flat_map(|(_, libraries)| libraries.iter().copied())
}

impl Program {
    /// Whether it is C++, whose standard library the interpreter does not have.
    pub fn is_cpp(&self) -> bool {
        toolchain::is_cpp(&self.source)
    }

    /// Compiles it with the plugin; linked with the libraries whose headers it includes.
    pub fn compile(&self, output: &Path, level: Level) -> Result<Compilation> {
        self.complete(Compilation::new(&self.source, output, level).with_plugin()?)
    }

    /// Compiles this program to `output` and differentiates it when it is linked.
    pub fn compile_and_link(&self, output: &Path, level: Level) -> Result<Compilation> {
        self.complete(Compilation::new(&self.source, output, level).with_plugin_in_link()?)
    }

    fn complete(&self, compilation: Compilation) -> Result<Compilation> {
        let text = std::fs::read_to_string(&self.source).map_err(Error::io("reading a program"))?;
        Ok(compilation.flags(&self.flags).libraries(libraries(&text)))
    }

    /// Checks what a run of it printed.
    pub fn check(&self, finished: Finished) -> Result<Vec<Outcome>> {
        let finished = finished.expect_success(&format!("{} failed", self.name))?;
        if let Some(exact) = &self.exact {
            return if finished.stdout == *exact {
                Ok(Vec::new())
            } else {
                Err(Error::Failed(format!("{} must print {exact:?}, not {:?}", self.name, finished.stdout)))
            };
        }
        let outcomes = outcomes(&finished.stdout)?;
        if outcomes.is_empty() {
            return Err(finished.failure(&format!("{} printed no RESULT line", self.name)));
        }
        Ok(outcomes)
    }
}

/// Runs a program that was compiled.
pub fn run(program: &Path, arguments: &[&str]) -> Result<Finished> {
    process::run(Command::new(program).args(arguments), RUN_LIMIT)
}

/// The numbers of a line `WORD name key=number ...`, in the order of `keys`.
fn numbers<const N: usize>(line: &str, word: &str, keys: [&str; N]) -> Option<Result<(String, [f64; N])>> {
    let mut words = line.strip_prefix(word)?.strip_prefix(' ')?.split_whitespace();
    let name = words.next()?.to_owned();
    let mut found = [f64::NAN; N];
    let mut seen = [false; N];
    for (key, text) in words.filter_map(|pair| pair.split_once('=')) {
        if let Some(index) = keys.iter().position(|known| *known == key) {
            let Ok(number) = text.parse() else {
                return Some(Err(Error::Failed(format!("no number: {text:?} in {line:?}"))));
            };
            found[index] = number;
            seen[index] = true;
        }
    }
    Some(if seen == [true; N] { Ok((name, found)) } else { Err(Error::Failed(format!("incomplete line: {line:?}"))) })
}

/// The `RESULT` lines.
pub fn outcomes(stdout: &str) -> Result<Vec<Outcome>> {
    let keys = ["value", "gradnorm", "fd_err", "dot_err"];
    let outcome = |(name, [value, gradient_norm, difference_error, dot_error]): (String, [f64; 4])| Outcome {
        name,
        value,
        gradient_norm,
        difference_error,
        dot_error,
    };
    stdout.lines().filter_map(|line| numbers(line, "RESULT", keys)).map(|found| found.map(outcome)).collect()
}

/// The `TIME` lines.
pub fn timings(stdout: &str) -> Result<Vec<Timing>> {
    let timing = |(name, [primal_ns, gradient_ns]): (String, [f64; 2])| Timing { name, primal_ns, gradient_ns };
    let lines = stdout.lines().filter_map(|line| numbers(line, "TIME", ["primal_ns", "gradient_ns"]));
    lines.map(|found| found.map(timing)).collect()
}

/// Whether two numbers agree to a relative tolerance; two NaN agree.
pub fn agree(one: f64, other: f64, tolerance: f64) -> bool {
    one == other || (one.is_nan() && other.is_nan()) || (one - other).abs() <= tolerance * one.abs().max(other.abs())
}

/// Compares the values and gradient norms of two engines. Errors against finite differences are rounding noise: they
/// are not compared. The dot-product test tells how far rounding alone moves the results of a program (about 1e-7 where it
/// computes in single precision, and the engines' functions differ in the last bit): agreement is not asked for below four
/// times that, which is capped so that a wrong derivative can't hide behind its own error.
pub fn compare(one: &[Outcome], other: &[Outcome], tolerance: f64) -> Result<()> {
    if one.len() != other.len() {
        return Err(Error::Failed(format!("{} results against {}", one.len(), other.len())));
    }
    for (left, right) in one.iter().zip(other) {
        let Outcome { name, value, gradient_norm, difference_error: _, dot_error } = left;
        let tolerance = tolerance.max(4.0 * dot_error.max(right.dot_error).min(5e-7));
        let same = *name == right.name
            && agree(*value, right.value, tolerance)
            && agree(*gradient_norm, right.gradient_norm, tolerance);
        if !same {
            return Err(Error::Failed(format!(
                "the two engines differ by more than {tolerance:.0e}:\n  {left:?}\n  {right:?}"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_and_time_lines_are_read() {
        let text = "check x: dot test error=0 tolerance=1 ok\n\
                    RESULT x value=1.5 gradnorm=-nan fd_err=1e-09 dot_err=0\n\
                    TIME x primal_ns=2 gradient_ns=5 ratio=2.5\n";
        let found = outcomes(&text.replace("-nan", "nan")).unwrap();
        assert_eq!((found.len(), found[0].name.as_str(), found[0].value), (1, "x", 1.5));
        assert!(found[0].gradient_norm.is_nan());
        assert_eq!(timings(text).unwrap()[0].ratio(), 2.5);
        assert!(outcomes("RESULT x value=1").is_err());
        assert!(outcomes("RESULT x value=one gradnorm=1 fd_err=1 dot_err=1").is_err());
    }

    #[test]
    fn engines_that_differ_are_noticed() {
        let with = |value: f64, name: &str| Outcome {
            name: name.to_owned(),
            value,
            gradient_norm: 1.0,
            difference_error: 0.0,
            dot_error: 0.0,
        };
        assert!(compare(&[with(1.0, "a")], &[with(1.0 + 1e-12, "a")], 1e-9).is_ok());
        assert!(compare(&[with(1.0, "a")], &[with(1.0 + 1e-6, "a")], 1e-9).is_err());
        assert!(compare(&[with(1.0, "a")], &[with(f64::NAN, "a")], 1e-9).is_err());
        assert!(compare(&[with(1.0, "a")], &[with(1.0, "b")], 1e-9).is_err());
        assert!(compare(&[with(1.0, "a")], &[], 1e-9).is_err());
    }

    #[test]
    fn the_corpus_is_found() {
        let programs = programs().unwrap();
        let square = programs.iter().find(|program| program.name == "square").unwrap();
        assert_eq!(square.exact.as_deref(), Some("square'(3.140000) = 6.280000\n"));
        let gmm = programs.iter().find(|program| program.name == "gmm").unwrap();
        assert!(gmm.exact.is_none() && !gmm.is_cpp() && gmm.levels == Level::ALL);
    }

    #[test]
    fn levels_are_read() {
        assert_eq!(levels("O0 Og").unwrap(), [Level::O0, Level::Og]);
        assert!(levels("O4").is_err());
    }
}
