//! Which states are read where the reverse sweep has kept them (`snapshots.cpp`), and which are copied back: looked up in what clang's
//! optimiser hands on for the corpus program `states_in_snapshots`, whose results the corpus checks.
//!
//! And which loops have a copy that does not store again what is on the tape (`again.cpp`): likewise for `rows_stored_once`. Which
//! hand sums on to the next iteration (`relay.cpp`): for `leapfrog`. And that what a step of `argon`, `atoms_in_vectors`, `over_lists`
//! and `rows_in_vectors` overwrites is kept, not what each pair of atoms or entry computes; and that a plan says why it keeps more.

use std::process::ExitCode;

use enzyme_tests::toolchain::{Compilation, Level, plugin, root, scratch};
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

/// Functions of the other program; whether a row that stays is stored in the first step alone. Under a condition it may have holes.
const ROWS: [(&str, bool); 7] = [
    ("rod", true),
    ("rounds", true),
    ("shorter", true),
    ("chosen", false),
    ("triangle", false),
    ("ends", false),
    ("turns", true),
];

fn main() -> ExitCode {
    let trials = vec![
        Trial::test("states_in_snapshots", || states().map_err(|e| e.to_string().into())),
        Trial::test("rows_stored_once", || rows().map_err(|e| e.to_string().into())),
        Trial::test("leapfrog", || handed_on().map_err(|e| e.to_string().into())),
        // Positions, and velocities twice, each with three coordinates.
        Trial::test("argon", || taken_back("argon.c", "argon", 9, Some(10)).map_err(|e| e.to_string().into())),
        // Positions alone: the velocities are the function's own, and go into nothing but sums.
        Trial::test("atoms_in_vectors", || {
            taken_back("atoms_in_vectors.cpp", "_Z6movingPKd", 3, Some(9)).map_err(|e| e.to_string().into())
        }),
        // Positions, where neighbours end, and how many numbers there are.
        Trial::test("over_lists::atoms", || {
            taken_back("over_lists.c", "atoms", 1, Some(3)).map_err(|e| e.to_string().into())
        }),
        // The state, the new one, its length, sums of rows, and where rows end.
        Trial::test("over_lists::power", || {
            taken_back("over_lists.c", "power", 1, Some(6)).map_err(|e| e.to_string().into())
        }),
        // Directions, residuals, products and the solution; what else is kept says how vectors grew.
        Trial::test("rows_in_vectors", || {
            let name = "_ZN12_GLOBAL__N_18pressureEPKdi";
            taken_back("rows_in_vectors.cpp", name, 4, None).map_err(|e| e.to_string().into())
        }),
        Trial::test("over_lists::why", || why().map_err(|e| e.to_string().into())),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// What clang's optimiser hands on for a program of the corpus.
fn compiled(program: &str) -> Result<String> {
    let folder = scratch()?;
    let output = folder.path().join("program.ll");
    let source = root().join("tests/corpus").join(program);
    let flags = ["-S", "-emit-llvm", "-fno-discard-value-names"];
    Compilation::new(source, &output, Level::O2).only_compile().flags(flags).with_plugin()?.build()?;
    std::fs::read_to_string(&output).map_err(Error::io("reading the program"))
}

fn gradient_of<'a>(text: &'a str, name: &str) -> Result<&'a str> {
    let head = format!("@enzyme.grad.{name}(");
    text.split("\ndefine ")
        .find(|function| function.split('\n').next().is_some_and(|first| first.contains(&head)))
        .and_then(|function| function.split("\n}").next())
        .ok_or_else(|| Error::Failed(format!("there is no gradient of {name}")))
}

fn rows() -> Result<()> {
    let text = compiled("rows_stored_once.c")?;
    for (name, expected) in ROWS {
        let body = gradient_of(&text, name)?;
        if body.lines().any(|l| !l.starts_with(' ') && l.contains(".again")) != expected {
            let not = if expected { "not " } else { "" };
            return Err(Error::Failed(format!("the row of {name} is {not}stored in the first step alone")));
        }
        if body.contains("@enzyme.rt.again") {
            return Err(Error::Failed(format!("the gradient of {name} still asks what is stored again")));
        }
    }
    Ok(())
}

fn handed_on() -> Result<()> {
    let text = compiled("leapfrog.c")?;
    for name in ["waves", "transport"] {
        let head = format!("@enzyme.rev.{name}(");
        let function =
            text.split("\ndefine ").find(|f| f.split('\n').next().is_some_and(|first| first.contains(&head)));
        let body = function.and_then(|f| f.split("\n}").next()).unwrap_or_default();
        // In vectors, but for what is left at the end of a row.
        if !body.contains("\nrelay:") || !body.contains("%vector.recur") {
            return Err(Error::Failed(format!("the sums of {name} are not handed on from iteration to iteration")));
        }
    }
    Ok(())
}

/// The plan for a function of the corpus, as it is printed.
fn plan(program: &str, function: &str) -> Result<String> {
    let folder = scratch()?;
    let source = root().join("tests/corpus").join(program);
    let plain = Compilation::new(source, folder.path().join("program.o"), Level::O2);
    let plain = plain.only_compile().with_plugin()?.flags(["-Xclang", "-load", "-Xclang"]).flags([plugin()?]);
    let printed = plain.flags(["-mllvm", "-enzyme-print-plan"]).run()?.expect_success("the compiler failed")?.stderr;
    let plan = printed.split("plan of @").find(|plan| plan.starts_with(&format!("enzyme.grad.{function}\n")));
    plan.map(str::to_owned).ok_or_else(|| Error::Failed(format!("there is no plan of {function}")))
}

/// Of arrays that may overlap, each edge is kept, and the plan names what may overwrite it; of arrays that are apart, the nodes are.
fn why() -> Result<()> {
    const APART: &str = "through another pointer (`restrict`";
    let (flow, flow_apart) = (plan("over_lists.c", "flow")?, plan("over_lists.c", "flow_apart")?);
    if flow.contains(APART) && flow.contains("overwrites it") && !flow_apart.contains(APART) {
        return Ok(());
    }
    Err(Error::Failed(format!("it is not said why values are kept:\n{flow}{flow_apart}")))
}

/// How many stores of a function the plan takes back, and how many values it keeps, if that is asked.
fn taken_back(program: &str, function: &str, takes: usize, keeps: Option<usize>) -> Result<()> {
    let plan = plan(program, function)?;
    let lines = |what: &str| plan.lines().filter(|l| l.starts_with("  ") && l.contains(what)).count();
    let (taken, kept) = (lines("takes back"), lines("caches Primal"));
    if taken != takes || keeps.is_some_and(|keeps| kept != keeps) {
        return Err(Error::Failed(format!("{taken} stores are taken back, and {kept} values kept:\n{plan}")));
    }
    Ok(())
}

fn states() -> Result<()> {
    let text = compiled("states_in_snapshots.c")?;
    for (name, expected) in FUNCTIONS {
        let body = gradient_of(&text, name)?;
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
