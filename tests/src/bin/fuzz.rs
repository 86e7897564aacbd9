//! Hunts for wrong derivatives: random programs, their derivatives compared; broken IR, the compiler must survive it.
//!
//! Failures are made small and saved in `build/fuzz/failures`; refusals are counted by code and are none.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};
use enzyme_tests::fuzz::generate::{self, Program, Weights};
use enzyme_tests::fuzz::mutate::{self, Fate};
use enzyme_tests::fuzz::reduce;
use enzyme_tests::fuzz::run::{self, Bench, Finding, Mode, Outcome};
use enzyme_tests::fuzz::scale::{self, Shape};
use enzyme_tests::toolchain::{self, Level};
use enzyme_tests::{Error, Result, corpus, process, table};
use indicatif::{ProgressBar, ProgressStyle};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Random programs whose derivatives are compared, and broken IR that the compiler must survive
#[derive(Parser)]
#[command(name = "fuzz", version, args_override_self = true)]
struct Arguments {
    /// How many programs
    #[arg(long, default_value_t = 1000)]
    programs: u32,
    /// The number of the first program
    #[arg(long, default_value_t = 0)]
    first: u32,
    /// The seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Threads
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Levels, all of which must agree
    #[arg(long, value_enum, value_delimiter = ',', default_values = ["o0", "o3"])]
    levels: Vec<LevelName>,
    /// Programs per call of the compiler
    #[arg(long, default_value_t = 40)]
    batch: u32,
    /// Share of batches that is compiled once more with sanitizers
    #[arg(long, default_value_t = 0.05)]
    sanitize_share: f64,
    /// Share of batches that is compiled once more: at another level, with -g, with calls left as calls, or with all cached or rebuilt
    #[arg(long, default_value_t = 0.2)]
    other_share: f64,
    /// Share of batches that is compiled once more after passes of LLVM in random order
    #[arg(long, default_value_t = 0.2)]
    reshape_share: f64,
    /// Share of batches that is run once more by the interpreter, for which the command `enzyme` must be built
    #[arg(long, default_value_t = 0.1)]
    interpret_share: f64,
    /// Share of programs with single precision
    #[arg(long, default_value_t = 0.2)]
    floats: f64,
    /// Share of programs with calls through function pointers
    #[arg(long, default_value_t = 0.03)]
    indirect: f64,
    /// Share of programs with constructs that may well be refused
    #[arg(long, default_value_t = 0.05)]
    rare: f64,
    /// Share of programs that are differentiated in two calls, in lanes, and twice as well
    #[arg(long, default_value_t = 0.1)]
    modes: f64,
    /// Stop after so many seconds
    #[arg(long)]
    time_limit: Option<u64>,
    /// Stop after so many failures
    #[arg(long, default_value_t = 50)]
    stop_after: usize,
    /// Trials to make a failing program small (0: leave it)
    #[arg(long, default_value_t = 500)]
    trials: u32,
    /// Save one small program for each kind of refusal, too
    #[arg(long)]
    save_refusals: bool,
    /// Where failures go
    #[arg(long)]
    output: Option<PathBuf>,
    /// Break this many modules of IR instead, and see whether the compiler survives
    #[arg(long, value_name = "N")]
    mutants: Option<u32>,
    /// Time growing functions and modules instead
    #[arg(long)]
    scale: bool,
    /// With --scale: the largest size
    #[arg(long, default_value_t = 100_000)]
    largest: usize,
    /// With --scale: only this shape
    #[arg(long, requires = "scale")]
    shape: Option<Shape>,
    /// Print the program of this number, and do nothing else
    #[arg(long)]
    print: Option<u32>,
    /// Further options of the compiler
    #[arg(last = true)]
    flags: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum LevelName {
    O0,
    O1,
    O2,
    O3,
    Og,
}

impl From<LevelName> for Level {
    fn from(name: LevelName) -> Self {
        match name {
            LevelName::O0 => Self::O0,
            LevelName::O1 => Self::O1,
            LevelName::O2 => Self::O2,
            LevelName::O3 => Self::O3,
            LevelName::Og => Self::Og,
        }
    }
}

fn main() -> ExitCode {
    match hunt(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("fuzz: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What was seen so far.
#[derive(Default)]
struct Tally {
    classes: BTreeMap<&'static str, u64>,
    refusals: BTreeMap<String, (u64, u32)>,
    unfit: BTreeMap<String, (u64, u32)>,
    failures: usize,
    signatures: BTreeMap<String, u32>,
}

struct Failure {
    program: Program,
    modes: Vec<Mode>,
    outcome: Outcome,
    /// Whether it is one of the first of its signature, and thus made small.
    small: bool,
}

/// What caching may cost: everything cached, everything rebuilt, or as the plan has it.
const PRICES: [Option<u32>; 4] = [Some(1), Some(1_000_000), None, None];

/// Where there is no terminal for a bar: a line each time that so many programs are done.
const LINE_EVERY: u64 = 500;

/// So many failures of a signature are made small.
const SMALL: u32 = 3;

fn weights(arguments: &Arguments) -> Weights {
    Weights { floats: arguments.floats, indirect: arguments.indirect, rare: arguments.rare, modes: arguments.modes }
}

fn hunt(arguments: &Arguments) -> Result<bool> {
    if let Some(id) = arguments.print {
        let program = generate::program(arguments.seed, id, &weights(arguments));
        print!("{}", run::batch(&[&program]).0);
        return Ok(true);
    }
    if arguments.scale {
        return scale(arguments.largest, arguments.shape);
    }
    if let Some(count) = arguments.mutants {
        return mutants(arguments, count);
    }
    let bench = Bench::new(arguments.flags.clone())?;
    let output = arguments.output.clone().unwrap_or_else(|| toolchain::root().join("build/fuzz/failures"));
    let start = Instant::now();
    let bar = ProgressBar::new(u64::from(arguments.programs));
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {per_sec} {eta} {msg}") {
        bar.set_style(style);
    }
    let tally = Mutex::new(Tally::default());
    let (stop, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let firsts: Vec<u32> = (arguments.first..arguments.first.saturating_add(arguments.programs))
        .step_by(arguments.batch.max(1) as usize)
        .collect();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(arguments.jobs)
        .build()
        .map_err(|error| Error::Failed(format!("starting threads: {error}")))?;
    let result: Result<()> = pool.install(|| {
        firsts.par_iter().with_max_len(1).try_for_each(|&first| {
            let late = arguments.time_limit.is_some_and(|limit| start.elapsed() > Duration::from_secs(limit));
            if late || stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let end = (first + arguments.batch).min(arguments.first.saturating_add(arguments.programs));
            let found = one_batch(arguments, &bench, first, end)?;
            let before = done.fetch_add(u64::from(end - first), Ordering::Relaxed);
            let mut saved = Vec::new();
            if let Ok(mut tally) = tally.lock() {
                for (program, modes, outcome) in found {
                    saved.extend(tally.add(program, modes, outcome, arguments.save_refusals));
                }
                if tally.failures >= arguments.stop_after {
                    stop.store(true, Ordering::Relaxed);
                }
                bar.set_message(format!("{} failures", tally.failures));
            }
            for failure in saved {
                bar.suspend(|| failure.print());
                if let Some(path) = failure.save(&bench, &output, arguments)? {
                    bar.suspend(|| println!("    saved {}", path.display()));
                }
            }
            bar.inc(u64::from(end - first));
            let after = before + u64::from(end - first);
            if bar.is_hidden() && before / LINE_EVERY != after / LINE_EVERY {
                eprintln!("{after} of {} programs in {:.0} s", arguments.programs, start.elapsed().as_secs_f64());
            }
            Ok(())
        })
    });
    result?;
    bar.finish_and_clear();
    let tally = tally.into_inner().map_err(|error| Error::Failed(error.to_string()))?;
    tally.print(done.into_inner(), start.elapsed());
    Ok(tally.failures == 0)
}

type Found = Vec<(Program, Vec<Mode>, Outcome)>;

/// All modes over one batch.
fn one_batch(arguments: &Arguments, bench: &Bench, first: u32, end: u32) -> Result<Found> {
    let programs: Vec<Program> =
        (first..end).map(|id| generate::program(arguments.seed, id, &weights(arguments))).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(arguments.seed ^ 0x5eed);
    rng.set_stream(u64::from(first));
    let plain = Mode::plain;
    let mut modes: Vec<Mode> = arguments.levels.iter().map(|&level| plain(level.into())).collect();
    let all = Level::ALL;
    if rng.random_bool(arguments.other_share) {
        let level = all[rng.random_range(0..all.len())];
        let (debug, apart) = (rng.random_bool(0.3), rng.random_bool(0.6));
        let cache_price = PRICES[rng.random_range(0..PRICES.len())];
        modes.push(Mode { debug, apart, cache_price, ..plain(level) });
    }
    if rng.random_bool(arguments.sanitize_share) {
        let level = all[rng.random_range(0..all.len())];
        modes.push(Mode { sanitize: true, ..plain(level) });
    }
    if rng.random_bool(arguments.reshape_share) {
        modes.push(Mode { reshaped: Some(rng.random()), apart: rng.random_bool(0.3), ..plain(Level::O0) });
    }
    if rng.random_bool(arguments.interpret_share) {
        let level = [Level::O0, Level::O1, Level::O2][rng.random_range(0..3)];
        modes.push(Mode { interpreted: true, ..plain(level) });
    }
    let mut results: Vec<BTreeMap<u32, Finding>> = Vec::new();
    for mode in &modes {
        results.push(bench.evaluate(&programs, *mode, run::COMPILE_LIMIT)?);
    }
    let mut found = Found::new();
    for program in programs {
        let seen: Vec<(Mode, &Finding)> =
            modes.iter().zip(&results).filter_map(|(mode, result)| Some((*mode, result.get(&program.id)?))).collect();
        let (program, modes, outcome) = verdict(program, &seen);
        let blameless = match (&outcome, modes.as_slice()) {
            (Outcome::Wrong(_), [one, other]) => !agree_bare(bench, &program, *one, *other)?,
            (Outcome::Wrong(_), [one]) if one.reshaped.is_none() && one.level != Level::O0 => {
                !agree_bare(bench, &program, *one, Mode::plain(Level::O0))?
            }
            _ => false,
        };
        let outcome = if blameless { Outcome::Unfit(UNSTABLE.to_owned()) } else { outcome };
        found.push((program, modes, outcome));
    }
    Ok(found)
}

/// Why levels may disagree for no fault of a derivative.
const UNSTABLE: &str = "optimisation changes the value of the program itself";

/// Whether two levels give one value without any derivative. Where they do not, the compiler is wrong, or the program has
/// no meaning.
fn agree_bare(bench: &Bench, program: &Program, one: Mode, other: Mode) -> Result<bool> {
    let mut results = Vec::new();
    for mode in [one, other] {
        let mode = Mode { bare: true, ..Mode::plain(mode.level) };
        results.extend(bench.evaluate(std::slice::from_ref(program), mode, run::COMPILE_LIMIT)?.remove(&program.id));
    }
    Ok(match results.as_slice() {
        [one, other] => run::disagreement(program, one, other).is_none(),
        _ => true,
    })
}

/// One outcome for all modes: a failure if there is one, a disagreement, a refusal, else right.
fn verdict(program: Program, seen: &[(Mode, &Finding)]) -> (Program, Vec<Mode>, Outcome) {
    if let Some((mode, finding)) = seen.iter().find(|(_, finding)| finding.outcome.is_failure()) {
        return (program, vec![*mode], finding.outcome.clone());
    }
    let mut numbers = seen.iter().filter(|(_, finding)| !finding.values.is_empty());
    if let Some((mode, finding)) = numbers.next() {
        for (other, second) in numbers {
            if let Some(text) = run::disagreement(&program, finding, second) {
                return (program, vec![*mode, *other], Outcome::Wrong(text));
            }
        }
    }
    for class in ["unfit", "refused", "uncertain"] {
        if let Some((mode, finding)) = seen.iter().find(|(_, finding)| finding.outcome.class() == class) {
            return (program, vec![*mode], finding.outcome.clone());
        }
    }
    (program, Vec::new(), Outcome::Right)
}

/// The text without names and numbers: what refusals are counted by.
fn kind_of(text: &str) -> String {
    let mut kind = String::new();
    let mut quoted = false;
    for c in text.chars() {
        quoted ^= c == '\'';
        if !quoted && !c.is_ascii_digit() || kind.len() < 6 {
            kind.push(c);
        }
    }
    kind
}

impl Tally {
    /// Counts an outcome; gives it back if it is a failure, or a first refusal of its kind when those are wanted.
    fn add(&mut self, program: Program, modes: Vec<Mode>, outcome: Outcome, refusals: bool) -> Option<Failure> {
        *self.classes.entry(outcome.class()).or_default() += 1;
        let level = modes.first().map(|mode| mode.name()).unwrap_or_default();
        match &outcome {
            Outcome::Refused(text) => {
                let count = self.refusals.entry(format!("{} ({level})", kind_of(text))).or_insert((0, program.id));
                count.0 += 1;
                if refusals && count.0 == 1 {
                    return Some(Failure { program, modes, outcome, small: true });
                }
            }
            Outcome::Unfit(text) => self.unfit.entry(kind_of(text)).or_insert((0, program.id)).0 += 1,
            failed if failed.is_failure() => {
                self.failures += 1;
                let count = self.signatures.entry(failed.signature()).or_default();
                *count += 1;
                return Some(Failure { program, modes, small: *count <= SMALL, outcome });
            }
            _ => {}
        }
        None
    }

    fn print(&self, programs: u64, elapsed: Duration) {
        let mut rows = table::new(&["outcome", "programs"]);
        for (class, count) in &self.classes {
            let good = matches!(*class, "right" | "refused" | "uncertain");
            rows.add_row(vec![table::verdict(class, good), table::text(count)]);
        }
        println!("{rows}");
        for (what, found) in [("refused", &self.refusals), ("unfit", &self.unfit)] {
            let mut sorted: Vec<_> = found.iter().collect();
            sorted.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
            for (kind, (count, id)) in sorted {
                println!("{what} {count:6}  {kind} (program {id})");
            }
        }
        println!("{programs} programs in {:.0} s, {} failures", elapsed.as_secs_f64(), self.failures);
    }
}

impl Failure {
    fn modes(&self) -> String {
        self.modes.iter().map(|mode| mode.name()).collect::<Vec<_>>().join(" and ")
    }

    fn print(&self) {
        let (class, text) = (self.outcome.class(), self.outcome.text());
        println!("program {} at {}: {class}: {text}", self.program.id, self.modes());
    }

    /// Writes it into a folder, as small as it gets.
    fn save(&self, bench: &Bench, folder: &Path, arguments: &Arguments) -> Result<Option<PathBuf>> {
        if !self.small {
            return Ok(None);
        }
        std::fs::create_dir_all(folder).map_err(Error::io(format!("making {}", folder.display())))?;
        let (small, seen) =
            reduce::reduce(bench, &self.program, &self.modes, &self.outcome.signature(), arguments.trials)?;
        let outcome = if seen == Outcome::Right { &self.outcome } else { &seen };
        let (seed, id) = (arguments.seed, small.id);
        let path = folder.join(format!("{}-{seed}-{id}.c", outcome.class()));
        let head = format!(
            "// {}: {}\n// at {}; fuzz --seed {seed} --first {id} --programs 1\n",
            outcome.class(),
            outcome.text().replace('\n', " "),
            self.modes(),
        );
        let text = head + &run::batch(&[&small]).0;
        std::fs::write(&path, text).map_err(Error::io(format!("writing {}", path.display())))?;
        Ok(Some(path))
    }
}

/// Prints how time grows with size.
fn scale(largest: usize, only: Option<Shape>) -> Result<bool> {
    let mut rows =
        table::new(&["shape", "size", "opt alone", "-O2 adds", "exponent", "plugin adds", "per unit", "exponent"]);
    let limit = Duration::from_secs(300);
    for shape in Shape::ALL.into_iter().filter(|shape| only.is_none_or(|only| only == *shape)) {
        let samples = scale::measure(shape, largest, limit)?;
        let exponent = |time: fn(&scale::Sample) -> Option<f64>| {
            scale::exponent(&samples, time).map_or_else(|| "-".to_owned(), |exponent| format!("{exponent:.2}"))
        };
        let exponents = [exponent(|sample| sample.optimised), exponent(|sample| sample.added)];
        let seconds = |time: Option<f64>| {
            time.map_or_else(|| format!("> {} s", limit.as_secs()), |time| table::duration(time * 1e9))
        };
        for (index, sample) in samples.iter().enumerate() {
            let unit = sample.added.map_or(f64::NAN, |added| added * 1e9 / sample.size as f64);
            let last = |text: &String| if index + 1 == samples.len() { table::text(text) } else { table::text("") };
            rows.add_row(vec![
                table::text(shape.name()),
                table::text(sample.size),
                table::text(table::duration(sample.alone * 1e9)),
                table::text(seconds(sample.optimised)),
                last(&exponents[0]),
                table::text(seconds(sample.added)),
                table::text(table::duration(unit)),
                last(&exponents[1]),
            ]);
        }
        eprintln!("{} done", shape.name());
    }
    println!("{rows}");
    Ok(true)
}

/// Longer texts are not broken.
const LARGEST_MODULE: usize = 80_000;

/// LLVM assembly to break: the corpus, and some generated programs, before the plugin.
fn modules(arguments: &Arguments, folder: &Path) -> Result<Vec<(String, String)>> {
    let programs = corpus::programs()?.into_iter().filter(|program| !program.is_cpp());
    let mut sources: Vec<_> = programs.map(|program| (program.source, program.flags)).collect();
    for id in 0..60 {
        let program = generate::program(arguments.seed, id, &weights(arguments));
        let path = folder.join(format!("program{id}.c"));
        std::fs::write(&path, run::batch(&[&program]).0).map_err(Error::io("writing a program"))?;
        sources.push((path, Vec::new()));
    }
    let mut modules = Vec::new();
    for (source, flags) in sources {
        for level in ["-O0", "-O2"] {
            let mut command = std::process::Command::new(toolchain::llvm_program("clang"));
            command.args([level, "-w", "-S", "-emit-llvm", "-DCORPUS_SMALL", "-I"]).arg(run::sources());
            command.args(&flags).arg(&source).args(["-o", "-"]);
            let finished = process::run(&mut command, Duration::from_secs(60))?.expect_success("clang failed")?;
            let name = source.file_stem().unwrap_or_default().to_string_lossy();
            // Many small modules say more than a few large ones.
            if finished.stdout.len() < LARGEST_MODULE {
                modules.push((format!("{name}{level}"), finished.stdout));
            }
        }
    }
    Ok(modules)
}

/// Breaks modules; fails if the compiler did not survive.
fn mutants(arguments: &Arguments, count: u32) -> Result<bool> {
    let start = Instant::now();
    let folder = toolchain::scratch()?;
    let modules = modules(arguments, folder.path())?;
    let output = arguments.output.clone().unwrap_or_else(|| toolchain::root().join("build/fuzz/failures"));
    let bar = ProgressBar::new(u64::from(count));
    let (fates, failures) = (Mutex::new(BTreeMap::<String, u64>::new()), Mutex::new(Vec::new()));
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(arguments.jobs)
        .build()
        .map_err(|error| Error::Failed(format!("starting threads: {error}")))?;
    pool.install(|| {
        (arguments.first..arguments.first + count).into_par_iter().try_for_each(|number| -> Result<()> {
            if arguments.time_limit.is_some_and(|limit| start.elapsed() > Duration::from_secs(limit)) {
                return Ok(());
            }
            let mut rng = ChaCha8Rng::seed_from_u64(arguments.seed);
            rng.set_stream(u64::from(number));
            let (name, text) = &modules[rng.random_range(0..modules.len())];
            let path = folder.path().join(format!("mutant{number}.ll"));
            // What LLVM itself rejects says little of the plugin, so another change is tried.
            let (mut broken, mut what, mut fate) = (String::new(), String::new(), Fate::Rejected);
            for _ in 0..6 {
                let Some(mutant) = mutate::mutate(text, &mut rng) else { return Ok(()) };
                (broken, what) = mutant;
                std::fs::write(&path, &broken).map_err(Error::io("writing a mutant"))?;
                fate = mutate::judge(&path)?;
                if fate != Fate::Rejected {
                    break;
                }
            }
            let _ = std::fs::remove_file(&path);
            bar.inc(1);
            let word = match &fate {
                Fate::Accepted => "accepted".to_owned(),
                Fate::Refused(code) => format!("refused {code}"),
                Fate::Rejected => "rejected by LLVM".to_owned(),
                Fate::Crash(_) => "crash".to_owned(),
                Fate::Hang => "hang".to_owned(),
            };
            if let Ok(mut fates) = fates.lock() {
                *fates.entry(word.clone()).or_default() += 1;
            }
            let text = match fate {
                Fate::Crash(text) => text,
                Fate::Hang => String::new(),
                _ => return Ok(()),
            };
            std::fs::create_dir_all(&output).map_err(Error::io("making the folder of failures"))?;
            let saved = output.join(format!("{word}-{}-{number}.ll", arguments.seed));
            std::fs::write(&saved, format!("; {word}: {text}\n; {name}, {what}\n{broken}"))
                .map_err(Error::io("saving"))?;
            if let Ok(mut failures) = failures.lock() {
                failures.push(format!("{}: {name}, {what}\n    {text}", saved.display()));
            }
            Ok(())
        })
    })?;
    bar.finish_and_clear();
    let fates = fates.into_inner().map_err(|error| Error::Failed(error.to_string()))?;
    let failures: Vec<String> = failures.into_inner().map_err(|error| Error::Failed(error.to_string()))?;
    let mut rows = table::new(&["outcome", "mutants"]);
    for (word, number) in &fates {
        rows.add_row(vec![table::verdict(word, word != "crash" && word != "hang"), table::text(number)]);
    }
    println!("{rows}");
    for failure in &failures {
        println!("{failure}");
    }
    println!(
        "{} mutants in {:.0} s, {} failures",
        fates.values().sum::<u64>(),
        start.elapsed().as_secs_f64(),
        failures.len()
    );
    Ok(failures.is_empty())
}
