//! A bounded share of the differential generator, with a fixed seed: what `make fuzz` does for longer. And the checks
//! themselves, on handwritten derivatives that are right and wrong.

#![cfg_attr(test, allow(clippy::unwrap_used))]

use std::process::Command;
use std::time::Duration;

use enzyme_tests::fuzz::generate::Program;
use enzyme_tests::fuzz::run::{self, Bench, Mode};
use enzyme_tests::fuzz::tree::{Kind, Node};
use enzyme_tests::process;
use enzyme_tests::toolchain::Level;

const LIMIT: Duration = Duration::from_secs(1200);

fn fuzz(arguments: &[&str]) {
    let folder = enzyme_tests::toolchain::scratch().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_fuzz"));
    command.args(arguments).arg("--output").arg(folder.path());
    let finished = process::run(&mut command, LIMIT).unwrap();
    println!("{}", finished.stdout);
    assert!(finished.succeeded(), "{}", finished.failure("`make fuzz` keeps and reduces what failed"));
}

#[test]
fn generated_programs_have_right_derivatives() {
    fuzz(&["--seed", "22", "--programs", "400", "--jobs", "2", "--trials", "0", "--sanitize-share", "0.1"]);
}

#[test]
fn broken_modules_do_not_crash_the_compiler() {
    fuzz(&["--seed", "22", "--mutants", "300", "--jobs", "2"]);
}

/// f(x) = x0 x1 + s^2, and x0 becomes sin x0.
const VALUE: &str = "static double value$(double *x, int n)\n{\ndouble r = x[0] * x[1] + x[16] * x[16];\nx[0] = sin(x[0]);\nreturn r;\n}\n";
const GRADIENT: &str = "double old = x[0], f = g[0];\nx[0] = sin(old);\ng[0] = f * cos(old) + x[1];\ng[1] += old;\ng[16] += 2.0 * x[16];\n";
const TANGENT: &str =
    "double t = x[0] * g[1] + g[0] * x[1] + 2.0 * x[16] * g[16];\ng[0] *= cos(x[0]);\nx[0] = sin(x[0]);\n";

fn handwritten(id: u32, gradient: &str, tangent: &str) -> Program {
    let wrappers = format!(
        "static void gradient$(double *x, double *g, int n)\n{{\n{gradient}}}\nstatic double tangent$(double *x, double *g, int n)\n{{\n{tangent}return t;\n}}\n"
    );
    Program { id, floats: false, body: Node::new(Kind::Fixed, VALUE, Vec::new()), wrappers, modes: None }
}

#[test]
fn the_checks_tell_right_from_wrong() {
    let half_tangent = "g[1] *= 0.5;\n".to_owned() + TANGENT;
    let half_gradient = GRADIENT.to_owned() + "g[1] -= 0.5 * old;\n";
    let cases = [
        ("right", GRADIENT.to_owned(), TANGENT.to_owned()),
        ("wrong", GRADIENT.to_owned() + "g[3] += 1e-7;\n", TANGENT.to_owned()),
        ("wrong", GRADIENT.replace("g[0] = f", "g[0] += f"), TANGENT.to_owned()),
        ("wrong", GRADIENT.to_owned() + "x[0] = old;\n", TANGENT.to_owned()),
        ("wrong", GRADIENT.to_owned(), half_tangent.clone()),
        ("wrong", half_gradient, TANGENT.replace("x[0] * g[1]", "0.5 * x[0] * g[1]")),
        ("wrong", GRADIENT.to_owned() + "static double k;\ng[2] += k;\nk += 1.0;\n", TANGENT.to_owned()),
        ("memory", GRADIENT.to_owned() + "void *volatile p = malloc(8);\n", TANGENT.to_owned()),
        ("memory", GRADIENT.to_owned() + "void *volatile p = malloc(8);\nfree(p);\nfree(p);\n", TANGENT.to_owned()),
        ("memory", GRADIENT.to_owned() + "char *volatile p = malloc(8);\np[8] = 1;\nfree(p);\n", TANGENT.to_owned()),
        ("memory", GRADIENT.to_owned(), "void *volatile p = malloc(8);\n".to_owned() + TANGENT),
        ("crash", GRADIENT.to_owned() + "abort();\n", TANGENT.to_owned()),
        ("right", GRADIENT.to_owned(), TANGENT.to_owned()),
    ];
    let programs: Vec<Program> =
        (0..).zip(&cases).map(|(id, (_, gradient, tangent))| handwritten(id, gradient, tangent)).collect();
    let bench = Bench::new(Vec::new()).unwrap();
    let mode = Mode::plain(Level::O0);
    let findings = bench.evaluate(&programs, mode, run::COMPILE_LIMIT).unwrap();
    for (id, (expected, gradient, _)) in (0..).zip(&cases) {
        let outcome = &findings[&id].outcome;
        assert_eq!(outcome.class(), *expected, "case {id}: {}\n{gradient}", outcome.text());
    }
}

/// The other modes of the handwritten program; the derivative of the gradient by differences, which is close enough for the check.
const MODES: [&str; 4] = [
    "static void split$(double *x, double *g, int n)\n{\ngradient$(x, g, n);\n",
    "static void lanes$(double *x, double *g, double *h, int n)\n{\ndouble copy[17];\nmemcpy(copy, x, sizeof copy);\ngradient$(x, g, n);\ngradient$(copy, h, n);\n",
    "static void tangents$(double *x, double *g, double *h, int n, double *results)\n{\ndouble copy[17];\nmemcpy(copy, x, sizeof copy);\nresults[0] = tangent$(x, g, n);\nresults[1] = tangent$(copy, h, n);\n",
    "static void second$(double *x, double *v, double *g, double *h, int n)\n{\ndouble up[17], down[17], low[17];\nfor (int i = 0; i < 17; i++) {\nup[i] = x[i] + 1e-5 * v[i];\ndown[i] = x[i] - 1e-5 * v[i];\nh[i] = low[i] = g[i];\n}\ngradient$(up, h, n);\ngradient$(down, low, n);\nfor (int i = 0; i < 17; i++)\nh[i] = (h[i] - low[i]) / 2e-5;\ngradient$(x, g, n);\n",
];

#[test]
fn the_checks_tell_right_from_wrong_in_other_modes() {
    let slips = ["g[2] += 1e-4;\n", "h[5] -= 1e-4;\n", "results[1] *= 1.0001;\n", "h[0] += 1e-3;\n"];
    let programs: Vec<Program> = (0..5u32)
        .map(|id| {
            let text = (0u32..)
                .zip(MODES.iter().zip(slips))
                .map(|(n, (mode, slip))| format!("{mode}{}}}\n", if n + 1 == id { slip } else { "" }));
            Program { modes: Some(text.collect()), ..handwritten(id, GRADIENT, TANGENT) }
        })
        .collect();
    let bench = Bench::new(Vec::new()).unwrap();
    let findings = bench.evaluate(&programs, Mode::plain(Level::O0), run::COMPILE_LIMIT).unwrap();
    for id in 0..5 {
        let expected = if id == 0 { "right" } else { "wrong" };
        assert_eq!(findings[&id].outcome.class(), expected, "case {id}: {}", findings[&id].outcome.text());
    }
}

#[test]
fn a_compilation_that_takes_too_long_is_a_hang() {
    let program = handwritten(0, GRADIENT, TANGENT);
    let bench = Bench::new(Vec::new()).unwrap();
    let findings = bench.evaluate(&[program], Mode::plain(Level::O0), Duration::from_millis(1)).unwrap();
    assert_eq!(findings[&0].outcome.class(), "compiler-hang");
}
