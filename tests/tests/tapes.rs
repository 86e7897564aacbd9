//! What gradients of kernels take from malloc, beside what has to be kept: a limit for each, with a little room, so that nothing
//! comes back that was once left out of a tape.

use std::process::ExitCode;

use enzyme_tests::kernels::{self, Mode};
use enzyme_tests::toolchain::scratch;
use enzyme_tests::{Error, Result};
use libtest_mimic::{Arguments, Trial};

/// Kernels, sizes, and the most bytes that their gradients may take.
const LIMITS: [(&str, &str, u64); 4] = [
    // Twiddle factors once for each length, and of each swap what it swaps.
    ("fft", "512", 20_000),
    // The exponentials, and when the greatest number was found.
    ("log_sum_exp", "10000", 80_100),
    // The states and gates, what is put out and its exponentials.
    ("lstm", "100", 200_000),
    // Nothing of the substitution.
    ("cholesky", "60", 30_000),
];

fn main() -> ExitCode {
    let trial = |(name, size, most): (&'static str, &'static str, u64)| {
        Trial::test(name, move || keeps_little(name, size, most).map_err(|e| e.to_string().into()))
    };
    libtest_mimic::run(&Arguments::from_args(), LIMITS.into_iter().map(trial).collect()).exit_code()
}

fn keeps_little(name: &str, size: &str, most: u64) -> Result<()> {
    let folder = scratch()?;
    let main = kernels::build_main(folder.path())?;
    let missing = || Error::Failed(format!("no kernel {name}, or no word on its memory"));
    let kernel = kernels::kernels()?.into_iter().find(|k| k.name == name).ok_or_else(missing)?;
    let built = kernel.build(folder.path(), &main, Mode { native: false, fast: false }, &[])?;
    let printed = kernels::run(&built.program, &["--size", size, "--check", "--memory"])?;
    let heap = printed.memory("gradient").map(|m| m.heap).ok_or_else(missing)?;
    if heap > most {
        return Err(Error::Failed(format!("the gradient of {name} takes {heap} bytes, more than {most}")));
    }
    Ok(())
}
