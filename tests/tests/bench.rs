//! The kernels of the benchmark: our gradient, the handwritten adjoint and finite differences agree, with and without the value,
//! at the small size, compiled by -O3. So do, where a kernel's mathematics is written for other tools, its values with plain
//! numbers and the gradients of ADOL-C. Nothing is timed here.
//!
//! One test case for each kernel: `cargo test -p enzyme-tests --test bench -- heat`.

use std::process::ExitCode;

use enzyme_tests::kernels::{self, Column, Kernel, Mode};
use enzyme_tests::others::{self, Tool};
use enzyme_tests::{Error, Result, toolchain};
use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    match kernels::kernels() {
        Ok(kernels) => {
            let trial = |kernel: Kernel| {
                Trial::test(kernel.name.clone(), move || agree(&kernel).map_err(|e| e.to_string().into()))
            };
            libtest_mimic::run(&arguments, kernels.into_iter().map(trial).collect()).exit_code()
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn agree(kernel: &Kernel) -> Result<()> {
    let folder = toolchain::scratch()?;
    let main = kernels::build_main(folder.path())?;
    // Two gradients and their values, the handwritten ones, and finite differences; values of a template, and two gradients.
    let (columns, expected) = if others::has_template(&kernel.name) {
        (vec![Column::Tool(Tool::Plain), Column::Tool(Tool::Adolc)], 10)
    } else {
        (vec![], 7)
    };
    // Under a limit, the gradient once more.
    let expected = expected + usize::from(kernel.limit.is_some());
    let columns: Vec<Column> = columns.into_iter().chain(kernel.limit.clone().map(Column::Limited)).collect();
    // Where arithmetic is fast, a maximum and its place are found by two loops.
    for fast in [false, true].into_iter().take(if kernel.name == "log_sum_exp" { 2 } else { 1 }) {
        let built = kernel.build(folder.path(), &main, Mode { native: false, fast }, &columns)?;
        if let Some((column, why)) = built.missing.first() {
            return Err(Error::Failed(format!("{column}: {why}")));
        }
        let printed = kernels::run(&built.program, &["--small", "--check", "--memory"])?;
        if printed.compared < expected {
            return Err(Error::Failed(format!("{} compared {} numbers only", kernel.name, printed.compared)));
        }
    }
    Ok(())
}
