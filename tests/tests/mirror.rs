//! Loops of reverse sweeps are made of vectors whose lanes lie as memory does: none is turned around in a loop, backward though these
//! run. Looked at is what clang's optimiser hands on for a processor with AVX2; that the results are right, the benchmark and the
//! random programs say.

use std::process::ExitCode;

use enzyme_tests::toolchain::{Compilation, Level, root, scratch};
use enzyme_tests::{Error, Result};
use libtest_mimic::{Arguments, Trial};

const KERNELS: [&str; 4] = ["heat", "nbody", "rk4", "lu_solve"];

fn main() -> ExitCode {
    let trial = |name: &'static str| Trial::test(name, move || lies_as_memory(name).map_err(|e| e.to_string().into()));
    libtest_mimic::run(&Arguments::from_args(), KERNELS.into_iter().map(trial).collect()).exit_code()
}

/// Vector loops of a derivative, and the turns in them.
#[derive(Default)]
struct Seen {
    loops: usize,
    turns: Vec<String>,
}

fn lies_as_memory(name: &str) -> Result<()> {
    let folder = scratch()?;
    let output = folder.path().join("kernel.ll");
    let source = root().join(format!("tests/bench/{name}.c"));
    let built =
        Compilation::new(source, &output, Level::O3).only_compile().flags(["-S", "-emit-llvm", "-march=haswell"]);
    built.with_plugin()?.build()?;
    let seen = look(&std::fs::read_to_string(&output).map_err(Error::io("reading the kernel"))?);
    if seen.loops == 0 {
        return Err(Error::Failed(format!("no loop of the gradient of {name} has vectors")));
    }
    if let Some(first) = seen.turns.first() {
        return Err(Error::Failed(format!(
            "{} vectors are turned in loops of {name}, first {first}",
            seen.turns.len()
        )));
    }
    Ok(())
}

/// Loops of one block in functions of ours, which is what the vectoriser makes.
fn look(text: &str) -> Seen {
    let mut seen = Seen::default();
    for function in text.split("\ndefine ").filter(|f| f.lines().next().is_some_and(|l| l.contains("@enzyme."))) {
        for block in function.split("\n\n") {
            let Some((label, rest)) = block.split_once(':') else { continue };
            let again = format!("label %{label}");
            if !rest.lines().any(|l| l.trim_start().starts_with("br ") && l.contains(&again)) {
                continue;
            }
            seen.loops += usize::from(rest.contains("load <4 x double>"));
            let is_turn = |l: &&str| l.contains("poison, <4 x i32> <i32 3, i32 2, i32 1, i32 0>");
            seen.turns.extend(rest.lines().filter(is_turn).map(|l| l.trim().to_owned()));
        }
    }
    seen
}
