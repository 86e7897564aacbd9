//! Every check there is, as a list of named steps; each failure names the command that repairs or repeats it.
//!
//! Cheap steps come first. A step that fails does not keep the others from running, so one run shows all there is to
//! repair, unless they need what it makes.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::command::{Invocation, bold, cargo, green, red};
use crate::project::Project;
use crate::tidy;
use crate::{artefacts, command};
use crate::{format, generate};

/// The crates that know nothing of LLVM.
pub const PURE: [&str; 4] = ["enzyme-ir", "enzyme-rules", "enzyme-analysis", "enzyme-diff"];

/// What a step found.
struct Outcome {
    good: bool,
    tests: Tests,
}

/// Tests that ran.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct Tests {
    passed: u64,
    failed: u64,
}

struct Step {
    name: &'static str,
    about: &'static str,
    /// The step whose result this one uses.
    needs: Option<&'static str>,
    repair: &'static str,
    run: fn(&Project) -> Result<Outcome>,
}

const STEPS: [Step; 9] = [
    Step { name: "format", about: "the sources are formatted", needs: None, repair: "make fix", run: formatted },
    Step {
        name: "tidy",
        about: "the project has the shape that ARCHITECTURE.md says",
        needs: None,
        repair: "see the findings above; `cargo xtask tidy` repeats them",
        run: |project| plain(tidy::report(project)),
    },
    Step {
        name: "generated",
        about: "generated documentation is fresh",
        needs: None,
        repair: "make fix",
        run: |project| plain(generate::check(project)),
    },
    Step {
        name: "clippy",
        about: "no lint speaks up",
        needs: None,
        repair: "cargo clippy --workspace --all-targets --fix --allow-dirty, or by hand",
        run: clippy,
    },
    Step {
        name: "pure",
        about: "the crates that need no LLVM pass their tests without one",
        needs: None,
        repair: "`cargo xtask pure` repeats it",
        run: pure,
    },
    Step {
        name: "build",
        about: "what users load builds, in release",
        needs: None,
        repair: "`make` repeats it",
        run: |project| plain(artefacts::build(project).map(|()| true)),
    },
    Step {
        name: "tests",
        about: "all other tests: the rim, the corpus through clang, the refusals, the command",
        needs: Some("build"),
        repair: "`cargo xtask ci --only build,tests` repeats them",
        run: tests,
    },
    Step {
        name: "examples",
        about: "the documentation's code runs",
        needs: None,
        repair: "`cargo test --doc` repeats it",
        run: examples,
    },
    Step {
        name: "docs",
        about: "the documentation builds without a warning",
        needs: None,
        repair: "`cargo xtask ci --only docs` repeats it",
        run: docs,
    },
];

/// Prints the steps.
pub fn list() {
    for step in &STEPS {
        println!("{:10} {}", step.name, step.about);
    }
}

/// Runs the steps (all, or those named); `false` if one failed. The closing lines say what was run and what came of it.
pub fn run(project: &Project, only: &[String], fail_fast: bool) -> Result<bool> {
    if let Some(unknown) = only.iter().find(|name| STEPS.iter().all(|step| step.name != name.as_str())) {
        bail!("there is no step {unknown:?}; `cargo xtask ci --list` names them");
    }
    let mut done: Vec<(&Step, Option<Outcome>, Duration)> = Vec::new();
    for step in STEPS.iter().filter(|step| only.is_empty() || only.iter().any(|name| name == step.name)) {
        let failed = |name| {
            done.iter().any(|(other, outcome, _)| other.name == name && !outcome.as_ref().is_some_and(|o| o.good))
        };
        if step.needs.is_some_and(failed) {
            done.push((step, None, Duration::ZERO));
            continue;
        }
        println!("\n{} {}", bold(&format!("{}:", step.name)), step.about);
        let start = Instant::now();
        let outcome = (step.run)(project).unwrap_or_else(|error| {
            eprintln!("{} {error:#}", red("error:"));
            Outcome { good: false, tests: Tests::default() }
        });
        if !outcome.good {
            eprintln!("{} {}. Next: {}", red("failed:"), step.name, step.repair);
        }
        let good = outcome.good;
        done.push((step, Some(outcome), start.elapsed()));
        if !good && fail_fast {
            break;
        }
    }

    println!();
    let mut tests = Tests::default();
    for (step, outcome, time) in &done {
        let (word, count) = match outcome {
            Some(outcome) => {
                tests.passed += outcome.tests.passed;
                tests.failed += outcome.tests.failed;
                (
                    if outcome.good { green("ok    ") } else { red("FAILED") },
                    outcome.tests.passed + outcome.tests.failed,
                )
            }
            None => (red("not run"), 0),
        };
        let count = if count > 0 { format!("  {count} tests") } else { String::new() };
        let repair =
            if outcome.as_ref().is_some_and(|o| o.good) { String::new() } else { format!("  next: {}", step.repair) };
        println!("{word} {:10} {:>6.1} s{count}{repair}", step.name, time.as_secs_f64());
    }
    let good = done.iter().all(|(_, outcome, _)| outcome.as_ref().is_some_and(|o| o.good));
    let failed_steps = done.iter().filter(|(_, outcome, _)| !outcome.as_ref().is_some_and(|o| o.good)).count();
    println!("{} of {} steps failed", failed_steps, done.len());
    println!("{} passed, {} failed", tests.passed, tests.failed);
    Ok(good)
}

fn plain(result: Result<bool>) -> Result<Outcome> {
    result.map(|good| Outcome { good, tests: Tests::default() })
}

fn formatted(project: &Project) -> Result<Outcome> {
    plain(format::format(project, format::Mode::Check).map(|()| true))
}

fn clippy(project: &Project) -> Result<Outcome> {
    plain(
        cargo(project, &["clippy", "--workspace", "--all-targets", "--keep-going", "--", "-D", "warnings"])
            .run()
            .map(|()| true),
    )
}

/// Links to private items are for readers of the source, who have them.
const RUSTDOC: &str = "-D warnings -A rustdoc::private_intra_doc_links";

fn docs(project: &Project) -> Result<Outcome> {
    let invocation =
        cargo(project, &["doc", "--no-deps", "--workspace", "--keep-going"]).environment("RUSTDOCFLAGS", RUSTDOC);
    plain(invocation.run().map(|()| true))
}

/// The pure crates must not even have a way to LLVM in their graph; then they are tested with every way to one cut off.
fn pure(project: &Project) -> Result<Outcome> {
    let findings = tidy::edges::check_pure(project);
    for finding in &findings {
        eprintln!("{finding}");
    }
    let arguments: Vec<&str> = PURE.iter().flat_map(|name| ["--package", name]).collect();
    let nowhere = "/nowhere/llvm-config";
    let invocation = test_runner(project, &arguments)
        .environment("LLVM_CONFIG", nowhere)
        .environment("LLVM_SYS_221_PREFIX", "/nowhere");
    let mut outcome = count(&invocation)?;
    outcome.good &= findings.is_empty();
    Ok(outcome)
}

/// This crate is tested by itself: beside others it would have other features of its packages, and be compiled once more with them.
fn tests(project: &Project) -> Result<Outcome> {
    let own = count(&test_runner(project, &["--package", "xtask"]))?;
    let mut arguments = vec!["--workspace", "--exclude", "xtask"];
    arguments.extend(PURE.iter().flat_map(|name| ["--exclude", name]));
    let others = count(&test_runner(project, &arguments))?;
    let tests =
        Tests { passed: own.tests.passed + others.tests.passed, failed: own.tests.failed + others.tests.failed };
    Ok(Outcome { good: own.good && others.good, tests })
}

/// Code in documentation; only of the crates that link fast, since each example is a program of its own.
fn examples(project: &Project) -> Result<Outcome> {
    let arguments: Vec<&str> = PURE.iter().flat_map(|name| ["--package", name]).collect();
    count(&cargo(project, &["test", "--doc", "--quiet"]).arguments(&arguments))
}

/// cargo-nextest if it is there, else cargo's own runner.
fn test_runner(project: &Project, arguments: &[&str]) -> Invocation {
    let has_nextest = cargo(project, &["nextest", "--version"]).output_quietly().is_some();
    let colour = if command::colour() { "--color=always" } else { "--color=never" };
    if has_nextest {
        let quiet =
            ["nextest", "run", "--no-fail-fast", "--no-tests=pass", "--status-level=fail", "--final-status-level=fail"];
        cargo(project, &quiet).arguments(&[colour]).arguments(arguments)
    } else {
        cargo(project, &["test", "--no-fail-fast", "--lib", "--bins", "--tests", colour]).arguments(arguments)
    }
}

fn count(invocation: &Invocation) -> Result<Outcome> {
    let (good, text) = invocation.tee()?;
    Ok(Outcome { good, tests: count_tests(&text) })
}

/// Adds up the summaries of cargo-nextest (`Summary [ 1.2s] 5 tests run: 4 passed, 1 failed, 0 skipped`) and of cargo's own runner
/// (`test result: FAILED. 4 passed; 1 failed; ...`).
fn count_tests(text: &str) -> Tests {
    let text = strip_colour(text);
    let lines = || text.lines().map(str::trim_start);
    // cargo-nextest repeats what a failed test printed, which may look like a summary of the other runner.
    let mark = if lines().any(|line| line.starts_with("Summary [")) { "Summary [" } else { "test result:" };
    let mut tests = Tests::default();
    for line in lines().filter(|line| line.starts_with(mark)) {
        let words: Vec<&str> = line.split_whitespace().collect();
        for pair in words.windows(2) {
            let [number, word] = pair else { continue };
            let Ok(number) = number.parse::<u64>() else { continue };
            match word.trim_end_matches([',', ';']) {
                "passed" => tests.passed += number,
                "failed" | "timed" => tests.failed += number,
                _ => {}
            }
        }
    }
    tests
}

/// Removes the escape sequences that set colours.
fn strip_colour(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character == '\x1b' {
            for skipped in characters.by_ref() {
                if skipped.is_ascii_alphabetic() {
                    break;
                }
            }
        } else {
            plain.push(character);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_are_added_up() {
        let nextest = "     Summary [   0.512s] 7 tests run: 4 passed (1 slow), 2 failed, 1 timed out, 3 skipped\n";
        assert_eq!(count_tests(nextest), Tests { passed: 4, failed: 3 });
        let repeated = format!("test result: FAILED. 0 passed; 1 failed\n{nextest}");
        assert_eq!(count_tests(&repeated), Tests { passed: 4, failed: 3 });
        let coloured = "\x1b[32;1m     Summary\x1b[0m [   0.5s] \x1b[1m2\x1b[0m tests run: \x1b[1m2\x1b[0m \x1b[32;1mpassed\x1b[0m, \x1b[1m0\x1b[0m skipped\n";
        assert_eq!(count_tests(coloured), Tests { passed: 2, failed: 0 });
        let plain =
            "test result: FAILED. 4 passed; 1 failed; 0 ignored\ntest result: ok. 3 passed; 0 failed; 0 ignored\n";
        assert_eq!(count_tests(plain), Tests { passed: 7, failed: 1 });
        assert_eq!(count_tests("3 passed, 4 failed"), Tests::default());
    }

    #[test]
    fn needed_steps_come_before() {
        for (index, step) in STEPS.iter().enumerate() {
            assert!(
                step.needs.is_none_or(|needed| STEPS[..index].iter().any(|other| other.name == needed)),
                "{}",
                step.name
            );
        }
    }
}
