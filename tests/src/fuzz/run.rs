//! Compiles batches of generated programs, runs them, and says what came of each.
//!
//! Many programs share one call of the compiler. A refusal names a line, so the programs that are refused are taken out and the
//! rest is compiled again; what makes the compiler crash or hang is found by halving. A program that crashes when it runs is
//! passed over and the run goes on behind it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::generate::Program;
use super::reshape;
use crate::process::{self, Finished};
use crate::toolchain::{self, Level};
use crate::{Error, Result};

/// What came of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All checks passed.
    Right,
    /// All checks passed, but differences could not tell whether both modes are wrong alike.
    Uncertain,
    /// Refused with a code, when it was compiled or when it ran.
    Refused(String),
    /// A check failed.
    Wrong(String),
    /// Memory was leaked, freed twice or overrun.
    Memory(String),
    /// A derivative ended by a signal.
    Crash(String),
    /// A derivative ran on.
    Hang,
    /// A sanitizer spoke up.
    Sanitizer(String),
    /// The compiler crashed.
    CompilerCrash(String),
    /// The compiler did not end.
    CompilerHang,
    /// The engine says itself that it failed.
    Engine(String),
    /// The program itself is unfit: a defect of the generator.
    Unfit(String),
}

impl Outcome {
    /// One word.
    pub fn class(&self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Uncertain => "uncertain",
            Self::Refused(_) => "refused",
            Self::Wrong(_) => "wrong",
            Self::Memory(_) => "memory",
            Self::Crash(_) => "crash",
            Self::Hang => "hang",
            Self::Sanitizer(_) => "sanitizer",
            Self::CompilerCrash(_) => "compiler-crash",
            Self::CompilerHang => "compiler-hang",
            Self::Engine(_) => "engine",
            Self::Unfit(_) => "unfit",
        }
    }

    /// What there is to say.
    pub fn text(&self) -> &str {
        match self {
            Self::Right | Self::Uncertain | Self::Hang | Self::CompilerHang => "",
            Self::Refused(text)
            | Self::Wrong(text)
            | Self::Memory(text)
            | Self::Crash(text)
            | Self::Sanitizer(text)
            | Self::CompilerCrash(text)
            | Self::Engine(text)
            | Self::Unfit(text) => text,
        }
    }

    /// Whether it is a defect of the engine.
    pub fn is_failure(&self) -> bool {
        !matches!(self, Self::Right | Self::Uncertain | Self::Refused(_) | Self::Unfit(_))
    }

    /// What a smaller program must share to have the same defect: the text without its numbers.
    pub fn signature(&self) -> String {
        let words = self.text().split([':', '\n']).next().unwrap_or_default();
        let plain: String = words.chars().filter(|c| !c.is_ascii_digit()).collect();
        format!("{}: {plain}", self.class())
    }
}

/// An outcome with the numbers that other levels must reproduce, one row per point.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What came of it.
    pub outcome: Outcome,
    /// Value and gradient.
    pub values: Vec<Vec<f64>>,
}

impl From<Outcome> for Finding {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, values: Vec::new() }
    }
}

/// How a batch is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// Optimisation.
    pub level: Level,
    /// Under AddressSanitizer and UndefinedBehaviorSanitizer.
    pub sanitize: bool,
    /// With debug information.
    pub debug: bool,
    /// Without inlining before differentiation: calls are differentiated as calls.
    pub apart: bool,
    /// With another price of caching: what is cached and what is rebuilt must not matter.
    pub cache_price: Option<u32>,
    /// Run by the interpreter of the command `enzyme`.
    pub interpreted: bool,
    /// After passes in an order that this seed stands for.
    pub reshaped: Option<u64>,
    /// Without derivatives, by the compiler alone.
    pub bare: bool,
}

impl Mode {
    /// A level and nothing else.
    pub fn plain(level: Level) -> Self {
        Self {
            level,
            sanitize: false,
            debug: false,
            apart: false,
            cache_price: None,
            interpreted: false,
            reshaped: None,
            bare: false,
        }
    }

    /// As options of clang.
    pub fn name(self) -> String {
        let mut name = self.level.flags().join(" ");
        if self.debug {
            name.push_str(" -g");
        }
        if self.apart {
            name.push_str(" -enzyme-inline-count=0");
        }
        if let Some(price) = self.cache_price {
            name.push_str(&format!(" -enzyme-cache-price={price}"));
        }
        if self.interpreted {
            name.push_str(" interpreted");
        }
        if self.bare {
            name.push_str(" without derivatives");
        }
        if self.sanitize {
            name.push_str(" -fsanitize=address,undefined");
        }
        if let Some(seed) = self.reshaped {
            let (emission, passes) = reshape::drawn(seed);
            name.push_str(&format!(" after clang {} and opt -passes='{passes}'", emission.join(" ")));
        }
        name
    }
}

/// A compilation of one program that takes much longer hangs: four times what the slowest need, undisturbed.
pub const COMPILE_LIMIT: Duration = Duration::from_secs(20);
/// Each further program of a batch may add so much. A batch that takes longer is halved, so the limits add up: what
/// hangs among 40 programs is known after some minutes.
const COMPILE_FURTHER: Duration = Duration::from_secs(1);
/// What seems to hang is given so many times its time before it is said to.
const AGAIN: u32 = 3;
/// Time of a program's run; each ends itself after ten seconds.
const RUN_SECONDS: u64 = 600;

/// The laboratory: a folder with the compiled checks.
#[derive(Debug)]
pub struct Bench {
    folder: tempfile::TempDir,
    plugin: PathBuf,
    checks: PathBuf,
    counter: AtomicUsize,
    flags: Vec<String>,
}

/// The folder of the checks.
pub fn sources() -> PathBuf {
    toolchain::root().join("tests/fuzz")
}

fn clang() -> Command {
    Command::new(toolchain::llvm_program("clang"))
}

/// Checks of pointer arithmetic make integers of pointers, which is refused in most programs.
const SANITIZERS: [&str; 3] =
    ["-fsanitize=address,undefined", "-fno-sanitize=pointer-overflow", "-fno-sanitize-recover=all"];
const WRAPPED: [&str; 6] = ["malloc", "calloc", "realloc", "free", "aligned_alloc", "malloc_usable_size"];

impl Bench {
    /// Compiles the checks; `flags` are given to every compilation of generated programs.
    pub fn new(flags: Vec<String>) -> Result<Self> {
        let folder = toolchain::scratch()?;
        let variants = [
            ("check.o", &["-DFUZZ_WRAP"][..]),
            ("check_san.o", &SANITIZERS[..]),
            ("check_bare.o", &["-DFUZZ_PLAIN"][..]),
        ];
        for (name, options) in variants {
            let mut command = clang();
            command.args(["-O1", "-w", "-c"]).args(options).arg(sources().join("check.c"));
            command.arg("-o").arg(folder.path().join(name));
            process::run(&mut command, Duration::from_secs(60))?.expect_success("the checks do not compile")?;
        }
        let checks = folder.path().to_owned();
        Ok(Self { folder, plugin: toolchain::plugin()?, checks, counter: AtomicUsize::new(0), flags })
    }

    /// What comes of each program under a mode, when one that compiles for longer than `limit` is said to hang.
    pub fn evaluate(&self, programs: &[Program], mode: Mode, limit: Duration) -> Result<BTreeMap<u32, Finding>> {
        let mut findings = BTreeMap::new();
        let number = self.counter.fetch_add(1, Ordering::Relaxed);
        let (source, program) =
            (self.folder.path().join(format!("{number}.c")), self.folder.path().join(format!("{number}.out")));
        let result = self.evaluate_into(programs, (mode, limit), &source, &program, &mut findings);
        let _ = (std::fs::remove_file(&source), std::fs::remove_file(&program));
        let _ = std::fs::remove_file(source.with_extension("bc"));
        result.map(|()| findings)
    }

    fn evaluate_into(
        &self,
        programs: &[Program],
        (mode, limit): (Mode, Duration),
        source: &Path,
        program: &Path,
        findings: &mut BTreeMap<u32, Finding>,
    ) -> Result<()> {
        let mut left: Vec<&Program> = programs.iter().collect();
        while !left.is_empty() {
            let ends = write_batch(&left, source)?;
            let module = source.with_extension("bc");
            let source = match mode.reshaped {
                Some(seed) if reshape::reshape(source, &module, seed, &self.flags)? => &module,
                _ => source,
            };
            let time = time_for(left.len(), mode, limit);
            let mut finished = self.compile(source, program, mode, time)?;
            if finished.timed_out && left.len() == 1 {
                // Much else may have run meanwhile.
                finished = self.compile(source, program, mode, AGAIN * time)?;
            }
            if finished.succeeded() {
                return run_batch(program, mode, &left, findings);
            }
            let crashed = crash_of(&finished);
            let blamed = if crashed.is_some() { BTreeMap::new() } else { blame(&finished.stderr, &ends) };
            if blamed.is_empty() {
                if let [only] = left[..] {
                    let outcome = if finished.timed_out {
                        Outcome::CompilerHang
                    } else if let Some(text) = crashed {
                        Outcome::CompilerCrash(text)
                    } else {
                        Outcome::Engine(first_error(&finished.stderr))
                    };
                    findings.insert(only.id, outcome.into());
                    return Ok(());
                }
                let owned: Vec<Program> = left.iter().map(|program| (*program).clone()).collect();
                let (first, second) = owned.split_at(owned.len() / 2);
                findings.extend(self.evaluate(first, mode, limit)?);
                findings.extend(self.evaluate(second, mode, limit)?);
                return Ok(());
            }
            let mut index = 0;
            left.retain(|program| {
                let outcome = blamed.get(&index).cloned();
                index += 1;
                match outcome {
                    Some(outcome) => {
                        findings.insert(program.id, outcome.into());
                        false
                    }
                    None => true,
                }
            });
        }
        Ok(())
    }

    /// The command that compiles a batch.
    pub fn command(&self, source: &Path, program: &Path, mode: Mode) -> Command {
        let mut command = clang();
        command.args(mode.level.flags()).arg("-w");
        if mode.bare {
            command.args(flags_of_compiler(&self.flags));
            command.args(["-DFUZZ_PLAIN", "-I"]).arg(sources()).arg(source).arg(self.checks.join("check_bare.o"));
            command.arg("-o").arg(program).arg("-lm");
            return command;
        }
        let mut plugin = std::ffi::OsString::from("-fpass-plugin=");
        plugin.push(&self.plugin);
        command.args(&self.flags).arg(plugin).arg("-I").arg(sources());
        if mode.debug {
            command.arg("-g");
        }
        let apart = mode.apart.then(|| "-enzyme-inline-count=0".to_owned());
        let options = apart.into_iter().chain(mode.cache_price.map(|price| format!("-enzyme-cache-price={price}")));
        for (index, option) in options.enumerate() {
            if index == 0 {
                command.args(["-Xclang", "-load", "-Xclang"]).arg(&self.plugin);
            }
            command.args(["-mllvm", &option]);
        }
        if mode.interpreted {
            // Contraction would leave it to the engine whether a product is rounded before it is added.
            command.args(["-ffp-contract=off", "-emit-llvm", "-c", "-include", "values.c", "-o"]);
            command.arg(program).arg(source);
            return command;
        }
        if mode.sanitize {
            command.args(SANITIZERS);
        } else {
            command.args(WRAPPED.map(|name| format!("-Wl,--wrap={name}")));
        }
        command.arg(source).arg(self.checks.join(if mode.sanitize { "check_san.o" } else { "check.o" }));
        command.arg("-o").arg(program).arg("-lm");
        command
    }

    fn compile(&self, source: &Path, program: &Path, mode: Mode, limit: Duration) -> Result<Finished> {
        process::run(&mut self.command(source, program, mode), limit)
    }
}

/// Time to compile `count` programs.
fn time_for(count: usize, mode: Mode, alone: Duration) -> Duration {
    let further = u32::try_from(count.saturating_sub(1)).unwrap_or(u32::MAX);
    let plain = alone.saturating_add(COMPILE_FURTHER.saturating_mul(further));
    if mode.sanitize { 2 * plain } else { plain }
}

/// Writes a batch; the result has the last line of each program.
fn write_batch(programs: &[&Program], path: &Path) -> Result<Vec<usize>> {
    let (text, ends) = batch(programs);
    std::fs::write(path, text).map_err(Error::io(format!("writing {}", path.display())))?;
    Ok(ends)
}

/// The text of a batch, and the last line of each program.
pub fn batch(programs: &[&Program]) -> (String, Vec<usize>) {
    let mut text = String::from("#include \"check.h\"\n\n");
    let (mut lines, mut ends, mut rows) = (2, Vec::new(), String::new());
    for program in programs {
        let printed = program.print();
        lines += printed.lines().count();
        ends.push(lines);
        text.push_str(&printed);
        rows.push_str(&program.row());
    }
    text.push_str("const struct fuzz_case fuzz_cases[] = {\n");
    text.push_str(&rows);
    text.push_str(&format!("}};\nconst int fuzz_count = {};\n", programs.len()));
    (text, ends)
}

/// Which programs of a batch the compiler's errors are about.
fn blame(messages: &str, ends: &[usize]) -> BTreeMap<usize, Outcome> {
    let mut blamed = BTreeMap::new();
    for line in messages.lines() {
        let Some((place, error)) = error_of(line) else { continue };
        let mut fields = place.rsplit(':');
        let (column, row) = (fields.next(), fields.next());
        let (Some(_), Some(Ok(row))) = (column, row.map(str::parse::<usize>)) else { continue };
        let index = ends.partition_point(|&end| end < row);
        if index == ends.len() {
            continue;
        }
        let code = error.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(code, _)| code);
        let outcome = match code {
            Some("E0901" | "E0110") => Outcome::Engine(error.to_owned()),
            Some(_) => Outcome::Refused(error.to_owned()),
            None => Outcome::Unfit(error.to_owned()),
        };
        let worse = matches!(outcome, Outcome::Engine(_) | Outcome::Unfit(_));
        if worse || !blamed.contains_key(&index) {
            blamed.insert(index, outcome);
        }
    }
    blamed
}

/// The place and the text of an error of clang's, which it prints in another form when its input is LLVM IR.
fn error_of(line: &str) -> Option<(&str, &str)> {
    let Some(rest) = line.strip_prefix("error: ") else { return line.split_once(": error: ") };
    let (place, rest) = rest.split_once(": in function ")?;
    Some((place, rest.split_once(": ")?.1))
}

/// What LLVM and Rust print when they crash.
pub const CRASHES: [&str; 6] =
    ["PLEASE submit a bug report", "Stack dump", "panicked at", "LLVM ERROR", "Assertion `", "AddressSanitizer"];

/// Whether a compiler crashed, and what it said.
pub fn crash_of(finished: &Finished) -> Option<String> {
    if finished.timed_out {
        return None;
    }
    let said = finished.stderr.lines().find(|line| CRASHES.iter().any(|crash| line.contains(crash)));
    let signalled = finished.status.is_none_or(|status| status > 128);
    if said.is_none() && !signalled {
        return None;
    }
    let telling = finished
        .stderr
        .lines()
        .find(|line| line.contains("panicked at") || line.contains("LLVM ERROR") || line.contains("Assertion `"));
    Some(telling.or(said).unwrap_or("ended by a signal").to_owned())
}

fn first_error(messages: &str) -> String {
    messages.lines().find(|line| line.contains("error")).unwrap_or("no message").to_owned()
}

/// Runs a compiled batch and reads what it prints.
fn run_batch(program: &Path, mode: Mode, programs: &[&Program], findings: &mut BTreeMap<u32, Finding>) -> Result<()> {
    let mut start = 0;
    while start < programs.len() {
        let mut command =
            Command::new(if mode.interpreted { toolchain::enzyme_command()? } else { program.to_owned() });
        if mode.interpreted {
            command.arg("run").arg(program);
        }
        command.arg(start.to_string());
        command.env("ASAN_OPTIONS", "detect_stack_use_after_return=1").env("UBSAN_OPTIONS", "print_stacktrace=0");
        let finished = process::run(&mut command, Duration::from_secs(RUN_SECONDS))?;
        let mut last = None;
        let mut derived = false;
        for line in finished.stdout.lines() {
            let mut words = line.splitn(3, ' ');
            let (word, id) = (words.next().unwrap_or_default(), words.next().and_then(|id| id.parse::<u32>().ok()));
            let (Some(id), rest) = (id, words.next().unwrap_or_default().to_owned()) else { continue };
            let finding = findings.entry(id).or_insert_with(|| Outcome::Right.into());
            match word {
                "BEGIN" => {
                    last = Some(id);
                    derived = false;
                }
                "DERIVATIVES" => derived = true,
                "WRONG" => finding.outcome = Outcome::Wrong(rest),
                "LEAK" => finding.outcome = Outcome::Memory(rest),
                "INVALID" => finding.outcome = Outcome::Unfit(rest),
                "UNCERTAIN" => finding.outcome = Outcome::Uncertain,
                "VALUES" => {
                    finding.values.push(rest.split(' ').skip(2).filter_map(|number| number.parse().ok()).collect());
                }
                _ => {}
            }
        }
        if finished.succeeded() && finished.stdout.ends_with("DONE\n") {
            return Ok(());
        }
        let Some(id) = last else { return Err(finished.failure("a batch did not start")) };
        let outcome = ending(&finished, mode, derived);
        findings.insert(id, outcome.into());
        start = programs.iter().position(|program| program.id == id).map_or(programs.len(), |index| index + 1);
    }
    Ok(())
}

/// Why a batch ended before its end.
fn ending(finished: &Finished, mode: Mode, derived: bool) -> Outcome {
    let report = finished.stderr.lines().find(|line| {
        line.contains("runtime error:") || line.contains("ERROR: AddressSanitizer") || line.contains("LeakSanitizer")
    });
    let refused = finished.stderr.lines().find_map(|line| {
        let at = line.find("[E0")?;
        line.get(at..).filter(|rest| rest.as_bytes().get(6) == Some(&b']')).map(str::to_owned)
    });
    if let Some(text) = refused {
        return Outcome::Refused(format!("when run: {text}"));
    }
    let text = match report {
        Some(line) if mode.sanitize => line.split(": ").skip(1).collect::<Vec<_>>().join(" ").replace("0x", ""),
        _ => finished.stdout.lines().rfind(|line| line.starts_with("SIGNAL")).unwrap_or(&finished.ending()).to_owned(),
    };
    if !derived {
        return Outcome::Unfit(format!("the program itself: {text}"));
    }
    match report {
        Some(_) if mode.sanitize => Outcome::Sanitizer(text),
        _ if text.contains("SIGNAL 14") || finished.timed_out => Outcome::Hang,
        _ => Outcome::Crash(text),
    }
}

/// Those of the flags that the compiler knows without the plugin.
fn flags_of_compiler(flags: &[String]) -> impl Iterator<Item = &String> {
    let ours = |n: usize| flags.get(n).is_some_and(|f| f.starts_with("-enzyme-"));
    let is_known = move |n: usize| !(ours(n) || flags[n] == "-mllvm" && ours(n + 1));
    flags.iter().enumerate().filter(move |(n, _)| is_known(*n)).map(|(_, f)| f)
}

/// Where two levels differ, if they do.
pub fn disagreement(program: &Program, first: &Finding, second: &Finding) -> Option<String> {
    let tolerance = if program.floats { 2e-3 } else { 1e-9 };
    for (one, other) in first.values.iter().zip(&second.values) {
        let scale = one.iter().skip(1).fold(1e-3_f64, |most, value| most.max(value.abs()));
        for (index, (a, b)) in one.iter().zip(other).enumerate() {
            let scale = if index == 0 { a.abs().max(1.0) } else { scale };
            let near = (a - b).abs() <= tolerance * scale;
            if !near {
                let what = if index == 0 { "levels give other values" } else { "levels give other gradients" };
                return Some(format!("{what}: component {index}: {a} and {b}"));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_blamed_on_programs() {
        let text = "x.c:7:3: error: [E0301] a\n  note: b\nx.c:15:3: error: [E0901] c\nx.c:30:1: error: d\n\
            error: x.c:35:2: in function f double (ptr): [E0205] e\n";
        let blamed = blame(text, &[10, 20, 30, 40]);
        let classes: Vec<&str> = blamed.values().map(Outcome::class).collect();
        assert_eq!(classes, ["refused", "engine", "unfit", "refused"]);
    }
}
