//! What gradients of kernels take from malloc, beside what has to be kept: a limit for each, with a little room, so that nothing
//! comes back that was once left out of a tape. And with a limit that the user sets (`-enzyme-max-tape`): no more than that.
//! What several buffers take is kept by glibc from call to call, with its own settings. The schedule of such loops by itself
//! (`tests/tapes/schedule.c`), and how often memory is taken where calls stay calls (`tests/tapes/pieces.c`).

use std::process::ExitCode;

use enzyme_tests::kernels::{self, Mode};
use enzyme_tests::toolchain::{Compilation, Level, plugin, root, scratch};
use enzyme_tests::{Error, Result, corpus};
use libtest_mimic::{Arguments, Trial};

/// Kernels, sizes, and the most bytes that their gradients may take.
const LIMITS: [(&str, &str, u64); 6] = [
    // Twiddle factors once for each length, and of each swap what it swaps; not how that was found. And two chunks of an arena.
    ("fft", "512", 13_400),
    // The exponentials, and when the greatest number was found.
    ("log_sum_exp", "10000", 80_100),
    // The states and gates, what is put out and its exponentials; not what the last step has put out.
    ("lstm", "100", 185_000),
    // Nothing of the substitution, nor of the factors, the first column of which LLVM treats apart.
    ("cholesky", "60", 300),
    // Arrays are apart, as a comparison at run time says: neither the coefficients nor the factors are overwritten. Of the
    // first substitution each number once.
    ("stencil", "100", 0),
    ("lu_solve", "50", 500),
];

/// The same with fast arithmetic.
const FAST: [(&str, &str, u64); 3] = [
    // Exponentials that run in vectors are computed again; of a running maximum the last change alone counts.
    ("log_sum_exp", "10000", 0),
    // What the loops count is known although LLVM has made numbers of it where it compares it with zero.
    ("cholesky", "60", 60_000),
    // Samples are reversed one by one, although the logarithm of nothing is any number.
    ("gmm", "100", 30_000),
];

/// Kernels, sizes, and the limits that users set.
const GRANTED: [(&str, &str, u64); 5] = [
    // What one call computes is computed again.
    ("log_sum_exp", "100000", 1_000),
    // Eight megabytes without a limit; the states themselves, and what a step needs, come on top.
    ("heat", "1000", 1_000_000),
    // Loops that would keep nothing, or less than two of their states, stay as they are, and leave others what is known of memory.
    ("cholesky", "60", 30_000),
    ("stencil", "100", 170_000),
    // Samples are reversed one by one, with a limit as without.
    ("gmm", "100", 30_000),
];

/// Kernels, sizes, limits, and the most bytes that states may take, with the last one, which comes on top.
const STATES: [(&str, &str, u64, u64); 3] = [
    // Steps are reversed several at a time, so that all are repeated but once: then as much as for their caches is enough for
    // states. Without the slopes, which each step fills before it reads them.
    ("rk4", "100", 600_000, 95_000),
    ("heat", "1000", 1_000_000, 570_000),
    // Neighbours in a periodic grid, whose rows follow from a choice, are within the state; eleven megabytes without a limit.
    ("brusselator", "26", 1_000_000, 800_000),
];

const STRICT: Mode = Mode { native: false, fast: false };
const FASTER: Mode = Mode { native: false, fast: true };

fn main() -> ExitCode {
    let little = |(name, size, most): (&'static str, &'static str, u64)| {
        Trial::test(name, move || keeps_little(name, size, most, None, STRICT).map_err(|e| e.to_string().into()))
    };
    let fast = |(name, size, most): (&'static str, &'static str, u64)| {
        let kept = move || keeps_little(name, size, most, None, FASTER).map_err(|e| e.to_string().into());
        Trial::test(format!("{name}_fast"), kept)
    };
    let state = |(name, size, limit, most): (&'static str, &'static str, u64, u64)| {
        let kept = move || keeps_little(name, size, most, Some(limit), STRICT).map_err(|e| e.to_string().into());
        Trial::test(format!("{name}_state"), kept)
    };
    let granted = |(name, size, most): (&'static str, &'static str, u64)| {
        let limited =
            move || keeps_little(name, size, most + most / 20, Some(most), STRICT).map_err(|e| e.to_string().into());
        Trial::test(format!("{name}_limited"), limited)
    };
    let fetched = Trial::test("rk4_fetched", || fetches_little("rk4", "100").map_err(|e| e.to_string().into()));
    let schedule = Trial::test("schedule", || schedule().map_err(|e| e.to_string().into()));
    let unlimited = Trial::test("unlimited", || unlimited().map_err(|e| e.to_string().into()));
    let pieces = [Level::O0, Level::O2]
        .map(|level| Trial::test(format!("pieces_{level:?}"), move || pieces(level).map_err(|e| e.to_string().into())));
    let trials = LIMITS
        .into_iter()
        .map(little)
        .chain(FAST.into_iter().map(fast))
        .chain(GRANTED.into_iter().map(granted))
        .chain(STATES.into_iter().map(state))
        .chain([fetched, schedule, unlimited])
        .chain(pieces)
        .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Calls after the first ones fetch no pages for a tape of several buffers: 382 without what keeps them.
fn fetches_little(name: &str, size: &str) -> Result<()> {
    let folder = scratch()?;
    let main = kernels::build_main(folder.path())?;
    let missing = || Error::Failed(format!("no kernel {name}, or no word on its pages"));
    let kernel = kernels::kernels()?.into_iter().find(|k| k.name == name).ok_or_else(missing)?;
    let built = kernel.build(folder.path(), &main, STRICT, &[])?;
    let arguments = ["--size", size, "--default-malloc", "--faults", "--variant", "gradient"];
    let printed = kernels::run(&built.program, &arguments)?;
    match printed.faults.as_slice() {
        [(_, pages)] if *pages < 20 => Ok(()),
        [(_, pages)] => Err(Error::Failed(format!("a call of the gradient of {name} fetches {pages} pages"))),
        _ => Err(missing()),
    }
}

/// The schedule does what it says, in no memory but its own.
fn schedule() -> Result<()> {
    let folder = scratch()?;
    let source = root().join("tests/tapes/schedule.c");
    // It declares what it takes from the C library, since it is compiled for whatever processor there is.
    let flags =
        ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-Wno-incompatible-library-redeclaration"];
    let program = Compilation::new(source, folder.path().join("schedule"), Level::O1).flags(flags).build()?;
    let finished = corpus::run(&program, &[])?.expect_success("the schedule is not as it should be")?;
    if finished.stdout.trim() == "ok" { Ok(()) } else { Err(finished.failure("the schedule says nothing")) }
}

/// Calls cut what they keep from chunks.
fn pieces(level: Level) -> Result<()> {
    let folder = scratch()?;
    let source = root().join("tests/tapes/pieces.c");
    let compilation = Compilation::new(source, folder.path().join("pieces"), level);
    let program = compilation.flags(["-lm"]).with_plugin()?.build()?;
    let finished = corpus::run(&program, &[])?.expect_success("memory is taken too often")?;
    if finished.stdout.trim() == "ok" { Ok(()) } else { Err(finished.failure("the program says nothing")) }
}

/// Of loops for which a limit does not hold the compiler warns, at their lines and with the reason, and of no others.
fn unlimited() -> Result<()> {
    let folder = scratch()?;
    let source = root().join("tests/tapes/unlimited.c");
    let text = std::fs::read_to_string(&source).map_err(Error::io(format!("reading {}", source.display())))?;
    let expected = |(n, line): (usize, &str)| {
        line.split_once("// warned of: ").map(|(_, why)| (format!("unlimited.c:{}:", n + 1), why.to_owned()))
    };
    let expected: Vec<(String, String)> = text.lines().enumerate().filter_map(expected).collect();
    let compilation = Compilation::new(source, folder.path().join("unlimited.o"), Level::O2);
    let finished = compilation.flags(["-g"]).only_compile().with_plugin()?.run()?.expect_success("it was refused")?;
    let warnings: Vec<&str> = finished.stderr.lines().filter(|line| line.contains("warning:")).collect();
    let told = |(place, why): &(String, String)| warnings.iter().any(|w| w.contains(place) && w.contains(why));
    if warnings.len() == expected.len() && expected.iter().all(told) {
        return Ok(());
    }
    Err(finished.failure("it does not warn of these loops alone"))
}

fn keeps_little(name: &str, size: &str, most: u64, limit: Option<u64>, mode: Mode) -> Result<()> {
    let folder = scratch()?;
    let main = kernels::build_main(folder.path())?;
    let missing = || Error::Failed(format!("no kernel {name}, or no word on its memory"));
    let mut kernel = kernels::kernels()?.into_iter().find(|k| k.name == name).ok_or_else(missing)?;
    if let Some(limit) = limit {
        // The plugin's options exist once it is loaded: before they are read.
        let plugin = plugin()?.display().to_string();
        let flags = ["-Xclang", "-load", "-Xclang", &plugin, "-mllvm", &format!("-enzyme-max-tape={limit}")];
        kernel.flags.extend(flags.map(str::to_owned));
    }
    let built = kernel.build(folder.path(), &main, mode, &[])?;
    let printed = kernels::run(&built.program, &["--size", size, "--check", "--memory"])?;
    let heap = printed.memory("gradient").map(|m| m.heap).ok_or_else(missing)?;
    if heap > most {
        return Err(Error::Failed(format!("the gradient of {name} takes {heap} bytes, more than {most}")));
    }
    Ok(())
}
