//! Measures the kernels of `tests/bench/`: primal, our gradient and the handwritten adjoint in turns, their memory, what
//! differentiating costs the compiler, and how large the derivative is.
//!
//! `REFERENCE_PLUGIN=path` measures another plugin on the same sources beside ours, `--others` other tools on the same mathematics.
//! What the numbers mean, and the last table, is
//! in `docs/benchmarks.md`.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Parser;
use enzyme_tests::kernels::{self, Built, COUNTED, Column, Kernel, Mode};
use enzyme_tests::others::{self, Found};
use enzyme_tests::results::{Compile, Growth, Results, Row, Space, Speed};
use enzyme_tests::toolchain::{self, Level, llvm_program};
use enzyme_tests::{Error, Result, process};
use indicatif::{ProgressBar, ProgressStyle};

const STRICT: Mode = Mode { native: true, fast: false };
const FAST: Mode = Mode { native: true, fast: true };

/// Measures gradients against handwritten adjoints
#[derive(Parser)]
#[command(name = "bench", version)]
struct Arguments {
    /// Only kernels whose name contains one of these
    filters: Vec<String>,
    /// Strict arithmetic alone, short, and no compiler's time
    #[arg(long)]
    quick: bool,
    /// Other sizes, too
    #[arg(long)]
    sweep: bool,
    /// Compare with ADOL-C, CppAD and JAX on the same mathematics, and do nothing else (`cargo xtask bench` fetches them)
    #[arg(long, conflicts_with_all = ["quick", "sweep", "plot"])]
    others: bool,
    /// Seconds for the variants of one program
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// How often the compiler is timed
    #[arg(long, default_value_t = 3)]
    compilations: usize,
    /// Count the instructions of the gradients in tests/bench/instructions.json anew, and do nothing else
    #[arg(long)]
    record: bool,
    /// Print Markdown
    #[arg(long)]
    markdown: bool,
    /// Write the numbers to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draw the ratios to this file
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
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

fn bench(arguments: &Arguments) -> Result<bool> {
    toolchain::plugin()?;
    if arguments.record {
        return record().map(|()| true);
    }
    let wanted = |kernel: &Kernel| {
        let is_named = arguments.filters.iter().any(|filter| kernel.name.contains(filter.as_str()));
        (is_named || arguments.filters.is_empty()) && (!arguments.others || others::has_template(&kernel.name))
    };
    let kernels: Vec<Kernel> = kernels::kernels()?.into_iter().filter(wanted).collect();
    let folder = toolchain::scratch()?;
    let main = kernels::build_main(folder.path())?;
    let found = if arguments.others { Found::new(folder.path()) } else { Found::default() };
    found.missing.iter().for_each(|what| eprintln!("left out: {what}"));
    let progress = ProgressBar::new(kernels.len() as u64);
    if let Ok(style) = ProgressStyle::with_template("{pos}/{len} {msg} {elapsed}") {
        progress.set_style(style);
    }
    let mut rows = Vec::new();
    let mut good = true;
    for kernel in &kernels {
        let mut row = Row { name: kernel.name.clone(), ..Row::default() };
        let measured = if arguments.others {
            let say = |what: &str| progress.set_message(format!("{}: {what}", kernel.name));
            others::measure(kernel, folder.path(), &main, &found, arguments.seconds, say, &mut row)
        } else {
            measure(kernel, folder.path(), &main, arguments, &progress, &mut row)
        };
        if let Err(error) = measured {
            progress.suspend(|| eprintln!("{}: {error}", kernel.name));
            row.remarks.push(kernels::first_error(&error.to_string()));
            good = false;
        }
        rows.push(row);
        progress.inc(1);
    }
    progress.finish_and_clear();
    let results = Results { processor: processor(), compiler: compiler()?, kernels: rows, missing: found.missing };
    println!("{}", if arguments.markdown { results.markdown() } else { results.terminal() });
    if let Some(path) = &arguments.json {
        std::fs::write(path, results.json()?).map_err(Error::io(format!("writing {}", path.display())))?;
    }
    if let Some(path) = &arguments.plot {
        results.plot(path)?;
    }
    Ok(good)
}

/// Writes the file that the test `ratchet` compares with.
fn record() -> Result<()> {
    let mut counts = BTreeMap::new();
    for (name, size) in COUNTED {
        let count = kernels::count_instructions(name, size)?;
        println!("{name} {count}");
        counts.insert(name, count);
    }
    let text = serde_json::to_string_pretty(&counts).map_err(|error| Error::Failed(error.to_string()))?;
    let path = kernels::record();
    std::fs::write(&path, text + "\n").map_err(Error::io(format!("writing {}", path.display())))
}

fn measure(
    kernel: &Kernel,
    folder: &Path,
    main: &Path,
    arguments: &Arguments,
    progress: &ProgressBar,
    row: &mut Row,
) -> Result<()> {
    let say = |what: &str| progress.set_message(format!("{}: {what}", kernel.name));
    let reference = std::env::var_os("REFERENCE_PLUGIN").filter(|path| !path.is_empty()).map(PathBuf::from);
    let reference: Vec<Column> = reference.into_iter().map(Column::Reference).collect();
    let mut columns = reference.clone();
    columns.extend(kernel.limit.clone().map(Column::Limited));
    if !arguments.quick {
        columns.push(Column::Unoptimised);
    }
    let seconds = if arguments.quick { 0.2 * arguments.seconds } else { arguments.seconds };
    let time = |built: &Built, share: f64, more: &[&str]| {
        let budget = (share * seconds).to_string();
        kernels::run(&built.program, &[&["--time", &budget], more].concat())
    };

    say("compiling");
    let mut strict = kernel.build(folder, main, STRICT, &columns)?;
    row.remarks.extend(strict.missing.iter().map(|(column, why)| format!("no column {column}: {why}")));
    say("measuring");
    let printed = match time(&strict, 1.0, &["--check", "--memory"]) {
        Ok(printed) => printed,
        // The fault may be a further column's: then ours is measured without it.
        Err(error) if !columns.is_empty() => {
            row.remarks
                .push(format!("without further columns, since with them {}", kernels::first_error(&error.to_string())));
            strict = kernel.build(folder, main, STRICT, &[])?;
            time(&strict, 1.0, &["--check", "--memory"])?
        }
        Err(error) => return Err(error),
    };
    row.size = printed.size;
    row.strict = Some(Speed::new(&printed)?);
    row.memory = Space::new(&printed);
    if arguments.sweep {
        for size in kernels::run(&strict.program, &["--sizes"])?.sizes {
            say(&format!("size {size}"));
            let printed = time(&strict, 0.3, &["--size", &size.to_string(), "--memory"])?;
            let memory = Space::new(&printed);
            let heap = memory.map(|memory| (memory.gradient.heap, memory.hand.heap));
            row.growth.push(Growth { size, speed: Speed::new(&printed)?, heap });
        }
    }
    if arguments.quick {
        return Ok(());
    }
    say("default malloc");
    row.default_malloc = Some(Speed::new(&time(&strict, 0.3, &["--default-malloc"])?)?);
    say("fast-math");
    let fast = kernel.build(folder, main, FAST, &reference)?;
    row.fast = Some(Speed::new(&time(&fast, 0.5, &[])?)?);
    say("the compiler");
    row.compilation = Some(compile(kernel, folder, arguments.compilations.max(1))?);
    Ok(())
}

/// What the plugin adds to the time of `clang -O2`, and the size of the derivative at -O3.
fn compile(kernel: &Kernel, folder: &Path, repetitions: usize) -> Result<Compile> {
    let alone = ["-DBENCH_GRADIENT_ALONE"];
    let object = folder.join("timed.o");
    let generic = Mode { native: false, fast: false };
    let report = folder.join("timed.csv");
    // The compiler proper as a process of its own: clang reports what that took of the processor.
    let timed = ["-fno-integrated-cc1".to_owned(), format!("-fproc-stat-report={}", report.display())];
    let plain = kernel.object(&object, Level::O2, generic).flags(alone).flags(timed.clone());
    let with_plugin = kernel.object_with_plugin(&object, Level::O2, generic)?.flags(alone).flags(timed);
    let mut seconds = [f64::INFINITY; 2];
    for _ in 0..repetitions {
        for (compilation, fastest) in [&plain, &with_plugin].into_iter().zip(&mut seconds) {
            // The report is appended to.
            let _ = std::fs::remove_file(&report);
            compilation.build()?;
            *fastest = fastest.min(seconds_of(&report)?);
        }
    }
    let sizes = |object: &Path| -> Result<Vec<(String, u64)>> {
        let mut command = Command::new(llvm_program("llvm-nm"));
        let arguments = ["--print-size", "--defined-only", "--radix=d"];
        let finished = process::run(command.args(arguments).arg(object), std::time::Duration::from_secs(60))?;
        Ok(code_symbols(&finished.expect_success("llvm-nm failed")?.stdout))
    };
    kernel.object(&object, Level::O3, STRICT).flags(alone).build()?;
    let before = sizes(&object)?;
    kernel.object_with_plugin(&object, Level::O3, STRICT)?.flags(alone).build()?;
    let symbols = sizes(&object)?;
    // The function with the marker call, and functions that were not there before.
    let ours = |name: &str| name.contains("bench_gradient") || before.iter().all(|(other, _)| other != name);
    let code = symbols.iter().filter(|(name, _)| ours(name)).map(|(_, size)| size).sum();
    let by_hand = |name: &str| name.starts_with("hand_") || name == "bench_hand";
    let hand_code = symbols.iter().filter(|(name, _)| by_hand(name)).map(|(_, size)| size).sum();
    Ok(Compile { plain: seconds[0], with_plugin: seconds[1], code, hand_code })
}

/// The processor's time in clang's report: lines `"program","output",total,user,memory`, in microseconds.
fn seconds_of(report: &Path) -> Result<f64> {
    let text = std::fs::read_to_string(report).map_err(Error::io(format!("reading {}", report.display())))?;
    let total = |line: &str| line.rsplit(',').nth(2).and_then(|number| number.trim().parse::<f64>().ok());
    let microseconds: Option<f64> = text.lines().map(total).sum();
    match microseconds {
        Some(number) if number > 0.0 => Ok(1e-6 * number),
        _ => Err(Error::Failed(format!("clang's report has no times: {text:?}"))),
    }
}

/// Names and sizes of functions in the output of llvm-nm; C++ names are reduced to the function's own.
fn code_symbols(text: &str) -> Vec<(String, u64)> {
    let symbol = |line: &str| {
        let [_, size, kind, name] = line.split_whitespace().collect::<Vec<_>>()[..] else { return None };
        let own = name.strip_prefix("_ZL").map_or(name, |rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
        let own = if name.starts_with("_ZL") && own.starts_with("bench_hand") && !own.starts_with("bench_hand_") {
            "bench_hand"
        } else {
            own
        };
        ["t", "T", "w", "W"].contains(&kind).then(|| Some((own.to_owned(), size.parse().ok()?))).flatten()
    };
    text.lines().filter_map(symbol).collect()
}

fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}

fn compiler() -> Result<String> {
    let mut command = Command::new(llvm_program("clang"));
    let finished = process::run(command.arg("--version"), std::time::Duration::from_secs(60))?;
    Ok(finished.expect_success("clang failed")?.stdout.lines().next().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found() {
        let text = "0000 0016 t bench_hand\n0016 0032 t hand_axpy\n0048 0008 r table\n         U exp\n\
                    0048 0100 t _ZL10bench_handP11bench_pointPd\n0148 0009 t _ZL16bench_hand_valueP11bench_pointPd\n";
        let symbols = code_symbols(text);
        let found: Vec<(&str, u64)> = symbols.iter().map(|(name, size)| (name.as_str(), *size)).collect();
        assert_eq!(
            found,
            [("bench_hand", 16), ("hand_axpy", 32), ("bench_hand", 100), ("bench_hand_valueP11bench_pointPd", 9)]
        );
    }
}
