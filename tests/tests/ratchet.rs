//! No gradient grows unnoticed: the instructions that the gradients of eight kernels of the benchmark take (valgrind's callgrind,
//! -O3 for any x86-64, small sizes) are at most 3 % above those recorded in `tests/bench/instructions.json`.
//!
//! After a change that is meant, or a gain that is to be kept: `cargo run -p enzyme-tests --bin bench -- --record`. The counts
//! hold for one version of clang and of glibc's math functions.

use std::process::ExitCode;

use enzyme_tests::kernels::{self, COUNTED};
use enzyme_tests::{Error, Result};
use libtest_mimic::{Arguments, Trial};

/// What a count may be above the recorded one, as a share of it.
const SLACK: f64 = 0.03;

fn main() -> ExitCode {
    let trial = |(name, size): (&'static str, u32)| Trial::test(name, move || within(name, size).map_err(Into::into));
    libtest_mimic::run(&Arguments::from_args(), COUNTED.into_iter().map(trial).collect()).exit_code()
}

fn within(name: &str, size: u32) -> Result<()> {
    let recorded = kernels::recorded()?;
    let before = *recorded.get(name).ok_or_else(|| Error::Failed(format!("no count of {name} is recorded")))?;
    let now = kernels::count_instructions(name, size)?;
    let change = now as f64 / before as f64 - 1.0;
    if change > SLACK {
        return Err(Error::Failed(format!(
            "the gradient of {name} takes {now} instructions, {:.1} % more than the recorded {before}; \
             if that is meant: cargo run -p enzyme-tests --bin bench -- --record",
            100.0 * change
        )));
    }
    println!("{name}: {now} instructions, {:+.1} %", 100.0 * change);
    Ok(())
}
