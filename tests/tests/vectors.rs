//! Where the flags allow it, derivatives call the vector functions of libmvec in their loops, as the primal does: looked up in the assembly of
//! `tests/vectors/loop.c` and of kernels of the benchmark and of the corpus, which are then run.
//! And loops of vectors store no zeros that the next iteration overwrites, nor divide by what stays, and
//! go up through rows whose order is free.
//!
//! Not tested: SLEEF, which clang takes for other processors alone (`-fveclib=SLEEF` is refused for x86-64).
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::Path;

use enzyme_tests::kernels::{self, Kernel, Mode};
use enzyme_tests::toolchain::{self, Compilation, Level, root};

/// Options of a compilation to assembly; those of the plugin only count once it is loaded.
fn assembly(source: &Path, output: &Path, flags: &[&str]) -> String {
    let plugin = toolchain::plugin().unwrap().into_os_string();
    let compilation = Compilation::new(source, output, Level::O3)
        .with_plugin()
        .unwrap()
        .flags(["-w", "-mavx2", "-mfma", "-ffast-math", "-Xclang", "-load", "-Xclang"])
        .flags([plugin])
        .flags(["-mllvm", "-enzyme-fast-math"])
        .flags(flags)
        .only_compile()
        .flags(["-S"]);
    std::fs::read_to_string(compilation.build().unwrap()).unwrap()
}

const LIBMVEC: &str = "-fveclib=libmvec";

/// The functions of libmvec that are called from functions whose name the predicate takes.
fn vector_calls(assembly: &str, takes: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let mut calls = BTreeSet::new();
    let mut is_taken = false;
    for line in assembly.lines() {
        let label = line.split_once(':').map(|(name, _)| name.trim_matches('"'));
        if let Some(name) = label.filter(|name| !name.starts_with([' ', '\t', '.', '#'])) {
            is_taken = takes(name);
        }
        let (operation, operand) = line.trim().split_once('\t').unwrap_or_default();
        let called = operand.strip_prefix("_ZGV").filter(|_| is_taken && operation.starts_with(['c', 'j']));
        calls.extend(called.map(|called| called.trim_end_matches("@PLT").to_owned()));
    }
    calls
}

/// Without their shapes: what is left of a loop comes in vectors of other widths.
fn names(calls: &BTreeSet<String>) -> BTreeSet<String> {
    calls.iter().filter_map(|call| Some(call.split_once('_')?.1.to_owned())).collect()
}

/// The function, what its own loop calls, and what the loops of its derivatives call.
const FUNCTIONS: [(&str, &str, &str); 14] = [
    ("exp", "exp", "exp"),
    ("sin", "sin", "cos"),
    ("cos", "cos", "sin"),
    ("tanh", "tanh", "tanh"),
    ("sinh", "sinh", "cosh"),
    ("cosh", "cosh", "sinh"),
    ("tan", "tan", "tan"),
    ("exp2", "exp2", "exp2"),
    ("erf", "erf", "exp"),
    ("expm1", "expm1", "exp"),
    ("log", "log", ""),
    ("log1p", "log1p", ""),
    ("atan", "atan", ""),
    ("cbrt", "cbrt", "cbrt"),
];

fn loops_call(real: &str, suffix: &str, shape: &str) {
    let folder = toolchain::scratch().unwrap();
    let source = root().join("tests/vectors/loop.c");
    for (function, primal, derivative) in FUNCTIONS {
        for (mode, expected) in [("-DVALUE", primal), ("-DTANGENT", derivative), ("-DGRADIENT", derivative)] {
            let flags = [&format!("-DREAL={real}"), &format!("-DFUNCTION={function}{suffix}"), mode, LIBMVEC];
            let text = assembly(&source, &folder.path().join("loop.s"), &flags.map(|flag| flag as &str));
            let found = vector_calls(&text, |_| true);
            let expected = Some(expected).filter(|name| !name.is_empty());
            let expected: BTreeSet<String> = expected.map(|name| format!("{name}{suffix}")).into_iter().collect();
            assert_eq!(names(&found), expected, "{function}{suffix} {mode}");
            assert!(
                expected.iter().all(|name| found.contains(&format!("{shape}_{name}"))),
                "{function} {mode}: {found:?}"
            );
        }
    }
}

#[test]
fn loops_over_doubles_call_libmvec() {
    loops_call("double", "", "dN4v");
}

#[test]
fn loops_over_floats_call_libmvec() {
    loops_call("float", "f", "dN8v");
}

/// Nothing is called that was not asked for.
#[test]
fn without_the_library_nothing_calls_it() {
    let folder = toolchain::scratch().unwrap();
    let source = root().join("tests/vectors/loop.c");
    for flags in [&["-DGRADIENT"][..], &["-DGRADIENT", LIBMVEC, "-fno-fast-math"]] {
        let flags = [&["-DREAL=double", "-DFUNCTION=tanh"], flags].concat();
        let text = assembly(&source, &folder.path().join("loop.s"), &flags);
        assert_eq!(vector_calls(&text, |_| true), BTreeSet::new(), "{flags:?}");
    }
}

/// What the primal's loops call, the derivative's do.
#[test]
fn kernels_call_what_their_primals_call() {
    let folder = toolchain::scratch().unwrap();
    let kernels =
        [("bench", "log_sum_exp"), ("bench", "mlp"), ("bench", "lstm"), ("bench", "lstm_dense"), ("bench", "gmm")];
    let programs = [("corpus", "mlp"), ("corpus", "lstm"), ("corpus", "gmm")];
    for (place, name) in kernels.into_iter().chain(programs) {
        let source = root().join("tests").join(place).join(format!("{name}.c"));
        let text = assembly(&source, &folder.path().join("kernel.s"), &[LIBMVEC]);
        let primal = vector_calls(&text, |function| !function.starts_with("enzyme."));
        assert!(primal.contains("dN4v_exp"), "{name}: {primal:?}");
        let modes = if place == "corpus" { &["enzyme.fwd", "enzyme.grad"][..] } else { &["enzyme.grad"] };
        for mode in modes {
            let derivative = vector_calls(&text, |function| function.starts_with(mode));
            assert!(names(&derivative).is_superset(&names(&primal)), "{name}, {mode}: {derivative:?}, {primal:?}");
        }
    }
}

/// The values are right within what the library promises, and the library is found.
#[test]
fn kernels_agree_with_vector_functions() {
    let folder = toolchain::scratch().unwrap();
    let main = kernels::build_main(folder.path()).unwrap();
    let wanted = |kernel: &Kernel| ["log_sum_exp", "mlp", "lstm", "lstm_dense", "gmm"].contains(&kernel.name.as_str());
    let kernels: Vec<Kernel> = kernels::kernels().unwrap().into_iter().filter(wanted).collect();
    assert_eq!(kernels.len(), 5);
    for kernel in kernels {
        let built = kernel.build(folder.path(), &main, Mode { native: false, fast: true }, &[]).unwrap();
        assert!(kernels::run(&built.program, &["--small", "--check"]).unwrap().compared >= 7, "{}", kernel.name);
    }
}

#[test]
fn zeros_that_are_overwritten_are_not_stored() {
    let folder = toolchain::scratch().unwrap();
    let output = folder.path().join("heat.ll");
    let compilation = Compilation::new(root().join("tests/corpus/heat.c"), &output, Level::O2).with_plugin().unwrap();
    compilation.only_compile().flags(["-S", "-emit-llvm"]).build().unwrap();
    let text = std::fs::read_to_string(&output).unwrap();
    let begins = |line: &&str| line.starts_with("define") && line.contains("enzyme.grad.heat_loss");
    let derivative: Vec<&str> = text.lines().skip_while(|l| !begins(l)).take_while(|l| *l != "}").collect();
    assert!(derivative.iter().any(|l| l.contains("store <2 x double> %")), "no loop of vectors stores anything");
    let zeros: Vec<&&str> = derivative.iter().filter(|l| l.contains("store <2 x double> zeroinitializer")).collect();
    assert!(zeros.is_empty(), "{zeros:?}");
}

/// The primal divides in each iteration, as it is strict; its derivative multiplies with the reciprocal.
#[test]
fn a_divisor_that_stays_has_one_reciprocal() {
    let folder = toolchain::scratch().unwrap();
    let output = folder.path().join("divided.ll");
    let source = root().join("tests/vectors/divided.c");
    let compilation = Compilation::new(source, &output, Level::O2).with_plugin().unwrap();
    compilation.only_compile().flags(["-S", "-emit-llvm"]).build().unwrap();
    let text = std::fs::read_to_string(&output).unwrap();
    let count = |what: &str| text.lines().filter(|line| line.contains(what)).count();
    assert_eq!(count("fdiv <2 x double>"), 1, "{text}");
    assert_eq!(count("fdiv arcp double 1.000000e+00"), 1, "{text}");
}

/// A loop of vectors that goes down has addresses below the element that it counts.
#[test]
fn rows_whose_order_is_free_are_gone_through_upward() {
    let folder = toolchain::scratch().unwrap();
    let output = folder.path().join("rows.ll");
    let source = root().join("tests/vectors/rows.c");
    let compilation = Compilation::new(source, &output, Level::O2).with_plugin().unwrap();
    compilation.only_compile().flags(["-S", "-emit-llvm"]).build().unwrap();
    let text = std::fs::read_to_string(&output).unwrap();
    assert!(text.lines().filter(|line| line.contains("load <2 x double>")).count() >= 4, "{text}");
    let below = text.lines().filter(|line| line.contains("getelementptr") && line.contains(", i64 -")).count();
    assert_eq!(below, 0, "{text}");
}
