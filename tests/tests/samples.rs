//! Sums over samples are reversed iteration by iteration, and others are not: what the plan says of the loops of the corpus programs
//! `samples` and `samples_scratch`, and that the memory of such gradients does not grow with the number of samples. That the results are right, the
//! corpus says.

use std::process::ExitCode;

use enzyme_tests::kernels::{self, Mode};
use enzyme_tests::toolchain::{Compilation, Level, plugin, root, scratch};
use enzyme_tests::{Error, Result};
use libtest_mimic::{Arguments, Trial};

const TAKEN: &str = "are reversed one by one";
const LEFT: &str = "are not reversed one by one";

/// Functions of the program `samples`, and what is said of each of their loops.
const EXPECTED: [(&str, usize, &str); 16] = [
    ("network", 1, TAKEN),
    ("branches", 1, TAKEN),
    ("chained", 2, TAKEN),
    ("ragged", 1, TAKEN),
    ("checked", 1, TAKEN),
    ("averages", 1, LEFT),
    ("overwritten", 1, LEFT),
    ("logarithm", 1, LEFT),
    ("forgetting", 1, LEFT),
    ("compounded", 1, LEFT),
    ("discounted", 1, LEFT),
    ("cumulated", 1, LEFT),
    ("replaced", 1, LEFT),
    ("few", 1, LEFT),
    ("twice", 1, LEFT),
    // In both of its bodies: where what is written is apart from what is read again, and where it may not be.
    ("reread", 2, LEFT),
];

/// The same of `samples_scratch`; some have one loop more, before that over the samples.
const SCRATCH: [(&str, usize, &str); 12] = [
    ("layer", 1, TAKEN),
    ("factor", 1, TAKEN),
    ("inner", 1, TAKEN),
    ("bins", 1, LEFT),
    ("remembered", 1, LEFT),
    ("behind", 1, LEFT),
    ("sometimes", 1, LEFT),
    ("early", 1, LEFT),
    ("spread", 1, LEFT),
    ("first", 1, LEFT),
    ("last", 1, LEFT),
    ("either", 1, LEFT),
];

/// Kernels, and two sizes of each.
const GROWING: [(&str, [&str; 2]); 3] = [("spmv", ["200", "4000"]), ("mlp", ["6", "24"]), ("gmm", ["100", "1000"])];

fn main() -> ExitCode {
    let mut trials: Vec<Trial> = [("samples", &EXPECTED[..]), ("samples_scratch", &SCRATCH[..])]
        .into_iter()
        .map(|(name, expected)| {
            Trial::test(format!("plan::{name}"), move || planned(name, expected).map_err(|e| e.to_string().into()))
        })
        .collect();
    for (name, sizes) in GROWING {
        trials.push(Trial::test(name, move || stays(name, sizes).map_err(|e| e.to_string().into())));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn planned(program: &str, expected: &[(&str, usize, &str)]) -> Result<()> {
    let folder = scratch()?;
    let source = root().join(format!("tests/corpus/{program}.c"));
    let output = folder.path().join("samples.o");
    let plain = Compilation::new(source, output, Level::O2).only_compile().with_plugin()?;
    let loaded =
        plain.flags(["-Xclang", "-load", "-Xclang"]).flags([plugin()?]).flags(["-mllvm", "-enzyme-print-plan"]);
    let printed = loaded.run()?.expect_success("the compiler failed")?.stderr;
    for &(function, count, what) in expected {
        let name = format!("of @{function} ");
        let said = printed.lines().filter(|l| l.contains(&name) && l.contains(what)).count();
        if said != count {
            return Err(Error::Failed(format!("of {function}, {said} loops {what}, not {count}:\n{printed}")));
        }
    }
    Ok(())
}

fn stays(name: &str, sizes: [&str; 2]) -> Result<()> {
    let folder = scratch()?;
    let main = kernels::build_main(folder.path())?;
    let missing = || Error::Failed(format!("no kernel {name}, or no word on its memory"));
    let kernel = kernels::kernels()?.into_iter().find(|k| k.name == name).ok_or_else(missing)?;
    let built = kernel.build(folder.path(), &main, Mode { native: false, fast: false }, &[])?;
    let heap = |size: &str| {
        let printed = kernels::run(&built.program, &["--size", size, "--check", "--memory"])?;
        printed.memory("gradient").map(|m| m.heap).ok_or_else(missing)
    };
    let [small, large] = [heap(sizes[0])?, heap(sizes[1])?];
    // What the sizes of a sample make of it may differ a little.
    if large > small + 4096 {
        return Err(Error::Failed(format!("the gradient of {name} takes {small} bytes, and {large} of more samples")));
    }
    Ok(())
}
