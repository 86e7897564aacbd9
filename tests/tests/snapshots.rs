//! Which states are read where the reverse sweep has kept them (`snapshots.cpp`), and which are copied back: looked up in what clang's
//! optimiser hands on for the corpus program `states_in_snapshots`, whose results the corpus checks.

use std::process::ExitCode;

use enzyme_tests::toolchain::{Compilation, Level, root, scratch};
use enzyme_tests::{Error, Result};
use libtest_mimic::{Arguments, Trial};

/// Functions of the program; whether their states are read in snapshots, if the run says that all reads lie there. The same ones
/// overwrite all of the state after a nest of loops, which has the cache fetch the tape (`prefetch.cpp`).
const FUNCTIONS: [(&str, bool); 8] = [
    ("torus", true),
    ("bounded", true),
    ("beyond", true),
    ("inner", true),
    ("late_turn", true),
    ("row_by_row", false),
    ("scattered", false),
    ("twice", false),
];

fn main() -> ExitCode {
    let trial = Trial::test("states_in_snapshots", || states().map_err(|e| e.to_string().into()));
    libtest_mimic::run(&Arguments::from_args(), vec![trial]).exit_code()
}

fn states() -> Result<()> {
    let folder = scratch()?;
    let output = folder.path().join("program.ll");
    let source = root().join("tests/corpus/states_in_snapshots.c");
    let flags = ["-S", "-emit-llvm", "-fno-discard-value-names"];
    Compilation::new(source, &output, Level::O2).only_compile().flags(flags).with_plugin()?.build()?;
    let text = std::fs::read_to_string(&output).map_err(Error::io("reading the program"))?;
    for (name, expected) in FUNCTIONS {
        let head = format!("@enzyme.grad.{name}(");
        let body = text
            .split("\ndefine ")
            .find(|function| function.split('\n').next().is_some_and(|first| first.contains(&head)))
            .and_then(|function| function.split("\n}").next())
            .ok_or_else(|| Error::Failed(format!("there is no gradient of {name}")))?;
        if body.contains("%snapshot") != expected {
            let not = if expected { "not " } else { "" };
            return Err(Error::Failed(format!("the state of {name} is {not}read in its snapshots")));
        }
        if body.contains("call void @llvm.prefetch") != expected {
            let not = if expected { "not " } else { "" };
            return Err(Error::Failed(format!("the tape of {name} is {not}fetched before it is filled in one go")));
        }
    }
    Ok(())
}
