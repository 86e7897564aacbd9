//! The corpus, one test case for each program and engine:
//!
//! - `gmm::O0` to `gmm::O3`: compiled by clang with the plugin at that level and run; the program checks its own gradients;
//! - `gmm::leaks`: the same under AddressSanitizer, which sees what a derivative forgets to free, with debug information, at -Og.
//!   That is -O1 with variables kept alive for debuggers, so it has a case of its own, `gmm::Og`, only where the sanitizer has
//!   none. A program that is not compiled at -Og has its `leaks` at -O1;
//! - `std_map::libcxx_O2`: with LLVM's C++ library instead of the GNU one, for programs that name levels for it;
//! - `eigen_qr::debug_O0`: with debug information as well, which tells types, for programs that name levels for it;
//! - `cutoffs::coverage_O0`: with counters in all blocks, as for reports of coverage, for programs that name levels for it;
//! - `eigen_llt::fma_O2`: for processors with AVX2 and FMA, for programs that name levels for it;
//! - `mlp::link_O2`: differentiated by the linker (`-flto`), after the compiler's optimisations, for programs that name levels for it;
//! - `free_list::valgrind`: the small size at -O2 under valgrind, for the programs that allocate and free in the derived code;
//! - `gmm::interpreter`: the optimised IR of the small size, run by the interpreter and natively; both must agree. C only: the
//!   interpreter has no C++ library. The tolerance of 1e-9 covers the last places of two implementations of the math functions,
//!   carried through the program;
//! - `selftest::...`: programs with handwritten derivatives, right and wrong, which show that the checks can fail.
//!
//! Filters and options are those of libtest: `cargo test -p enzyme-tests --test corpus -- gmm::`.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use enzyme_tests::corpus::{self, Outcome, Program};
use enzyme_tests::toolchain::{self, Compilation, Level};
use enzyme_tests::{Error, Result, process};
use libtest_mimic::{Arguments, Failed, Trial};

/// The mark of a program that needs functions or instructions which the interpreter does not have.
const NATIVE: &str = "// corpus: native";

/// The line of a program that is refused where the sanitizer keeps clang from its usual simplifications.
const UNSANITIZED: &str = "// corpus: no sanitizer";
/// The line of a program that is compiled with libc++, too, at the levels it names.
const LIBCXX: &str = "// corpus: libc++ ";
/// The line of a program that is compiled with -g, too, at the levels it names.
const DEBUG: &str = "// corpus: debug ";
/// The line of a program whose blocks are counted, too, at the levels it names.
const COVERAGE: &str = "// corpus: coverage ";
/// What a program is compiled with at the levels that these lines name.
const VARIANTS: [(&str, &str, &[&str]); 3] =
    [(LIBCXX, "libcxx", &["-stdlib=libc++"]), (DEBUG, "debug", &["-g"]), (COVERAGE, "coverage", &["--coverage"])];
/// The line of a program that is compiled for processors with AVX2 and FMA, too, at the levels it names.
const FMA: &str = "// corpus: fma ";
/// The line of a program that the linker differentiates, too, at the levels it names.
const LINK: &str = "// corpus: link ";
/// The line of a program that valgrind runs, too.
const VALGRIND: &str = "// corpus: valgrind";
/// Valgrind is some fifty times slower than native code.
const VALGRIND_LIMIT: Duration = Duration::from_secs(120);
/// The interpreter is some hundred times slower than native code; the small sizes are made for it.
const INTERPRETER_LIMIT: Duration = Duration::from_secs(300);
/// Relative; see above.
const ENGINES_AGREE: f64 = 1e-9;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    match trials() {
        Ok(trials) => libtest_mimic::run(&arguments, trials).exit_code(),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn trials() -> Result<Vec<Trial>> {
    let mut trials = Vec::new();
    for program in corpus::programs()? {
        let sanitized = !says(&program, UNSANITIZED)?;
        for &level in program.levels.iter().filter(|&&level| !(sanitized && level == Level::Og)) {
            let name = format!("{}::{}", program.name, level.name());
            trials.push(trial(name, &program, move |program| native(program, level, &[])));
        }
        if sanitized {
            trials.push(trial(format!("{}::leaks", program.name), &program, |program| {
                let level = if program.levels.contains(&Level::Og) { Level::Og } else { Level::O1 };
                native(program, level, &["-fsanitize=address", "-g"])
            }));
        }
        for (mark, kind, flags) in VARIANTS {
            for level in corpus::levels_after(&program.source, mark)?.unwrap_or_default() {
                let name = format!("{}::{kind}_{}", program.name, level.name());
                trials.push(trial(name, &program, move |program| native(program, level, flags)));
            }
        }
        // Elsewhere there are no such instructions.
        if cfg!(target_arch = "x86_64") {
            for level in corpus::levels_after(&program.source, FMA)?.unwrap_or_default() {
                let name = format!("{}::fma_{}", program.name, level.name());
                trials.push(trial(name, &program, move |program| with_fma(program, level)));
            }
        }
        for level in corpus::levels_after(&program.source, LINK)?.unwrap_or_default() {
            let name = format!("{}::link_{}", program.name, level.name());
            trials.push(trial(name, &program, move |program| linked(program, level)));
        }
        if says(&program, VALGRIND)? {
            trials.push(trial(format!("{}::valgrind", program.name), &program, under_valgrind));
        }
        if !program.is_cpp() && !says(&program, NATIVE)? {
            trials.push(trial(format!("{}::interpreter", program.name), &program, interpreted));
        }
    }
    for program in corpus::programs_in(&toolchain::root().join("tests/selftest"))? {
        trials.push(trial(format!("selftest::{}", program.name), &program, selftest));
    }
    Ok(trials)
}

/// Whether a program has a line that begins so.
fn says(program: &Program, marker: &str) -> Result<bool> {
    let source = &program.source;
    let text = std::fs::read_to_string(source).map_err(Error::io(format!("reading {}", source.display())))?;
    Ok(text.lines().any(|line| line.starts_with(marker)))
}

fn trial(name: String, program: &Program, test: impl FnOnce(&Program) -> Result<()> + Send + 'static) -> Trial {
    let program = program.clone();
    Trial::test(name, move || test(&program).map_err(Failed::from))
}

fn native(program: &Program, level: Level, flags: &[&str]) -> Result<()> {
    let folder = toolchain::scratch()?;
    let executable = program.compile(&folder.path().join("program"), level)?.flags(flags.to_vec()).build()?;
    program.check(corpus::run(&executable, &[])?)?;
    Ok(())
}

/// On a machine without these instructions the program is compiled, and not run.
fn with_fma(program: &Program, level: Level) -> Result<()> {
    let flags = ["-mavx2", "-mfma"];
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
        return native(program, level, &flags);
    }
    let folder = toolchain::scratch()?;
    program.compile(&folder.path().join("program"), level)?.flags(flags).build()?;
    Ok(())
}

fn linked(program: &Program, level: Level) -> Result<()> {
    let folder = toolchain::scratch()?;
    let executable = program.compile_and_link(&folder.path().join("program"), level)?.build()?;
    program.check(corpus::run(&executable, &[])?)?;
    Ok(())
}

/// No byte lost for certain, none freed twice, none read before it was written.
fn under_valgrind(program: &Program) -> Result<()> {
    let folder = toolchain::scratch()?;
    let executable =
        program.compile(&folder.path().join("program"), Level::O2)?.flags(["-DCORPUS_SMALL", "-g"]).build()?;
    let mut command = Command::new("valgrind");
    command.args(["-q", "--leak-check=full", "--errors-for-leak-kinds=definite", "--error-exitcode=9"]).arg(executable);
    program.check(process::run(&mut command, VALGRIND_LIMIT)?)?;
    Ok(())
}

fn interpreted(program: &Program) -> Result<()> {
    let folder = toolchain::scratch()?;
    // Contraction would leave it to the engine whether a product is rounded before it is added.
    let flags = ["-DCORPUS_SMALL", "-ffp-contract=off"];
    let bitcode = program.compile(&folder.path().join("program.bc"), Level::O1)?.to_bitcode().flags(flags).build()?;
    let expected = native_run_of(program, &bitcode, folder.path())?;
    let command = toolchain::enzyme_command()?;
    let finished = process::run(Command::new(command).arg("run").arg(&bitcode), INTERPRETER_LIMIT)?;
    corpus::compare(&program.check(finished)?, &expected, ENGINES_AGREE)
}

fn native_run_of(program: &Program, bitcode: &Path, folder: &Path) -> Result<Vec<Outcome>> {
    let executable = Compilation::new(bitcode, folder.join("program"), Level::O0).build()?;
    program.check(corpus::run(&executable, &[])?)
}

fn selftest(program: &Program) -> Result<()> {
    let folder = toolchain::scratch()?;
    let executable = Compilation::new(&program.source, folder.path().join("program"), Level::O1)
        .flags(["-Wall", "-Wextra", "-Werror"])
        .build()?;
    let finished = corpus::run(&executable, &[])?;
    if program.name.starts_with("right") {
        return finished.expect_success("a right derivative was refused").map(|_| ());
    }
    if finished.status == Some(1) && finished.stdout.contains("FAIL") {
        Ok(())
    } else {
        Err(Error::Failed(format!("a wrong derivative passed: {}\n{}", finished.ending(), finished.stdout)))
    }
}
