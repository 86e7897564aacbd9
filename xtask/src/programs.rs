//! The demonstration and the benchmarks: programs of the crate `enzyme-tests` and of `tests/rust`, run on a fresh build.

use std::fs;

use anyhow::{Context, Result, bail};

use crate::artefacts;
use crate::command::{Invocation, cargo};
use crate::project::Project;

/// The document with the benchmarks' results, its picture, and where in it they stand.
const DOCUMENT: &str = "docs/benchmarks.md";
const PICTURE: &str = "docs/benchmarks.svg";
const START: &str = "<!-- results: start (written by `cargo xtask bench --write`) -->";
const END: &str = "<!-- results: end -->";
/// Where in it the comparison with other tools stands.
const OTHERS_START: &str = "<!-- others: start (written by `cargo xtask bench --write -- --others`) -->";
/// The same for Rust programs.
const RUST_DOCUMENT: &str = "docs/benchmarks-rust.md";
const RUST_START: &str = "<!-- results: start (written by `cargo xtask bench-rust --write`) -->";

fn program(project: &Project, name: &str, arguments: &[String]) -> Invocation {
    let run = ["run", "--quiet", "--package", "enzyme-tests", "--bin", name, "--"];
    cargo(project, &run).arguments(arguments)
}

/// Differentiates real programs and draws a picture.
pub fn demo(project: &Project, arguments: &[String]) -> Result<bool> {
    artefacts::build(project)?;
    println!();
    passed(&program(project, "demo", arguments))
}

/// Measures the kernels; with `write`, the results go to docs/benchmarks.md, sizes swept. With `--others` among the arguments, other
/// tools are fetched and measured, and have a table of their own.
pub fn bench(project: &Project, arguments: &[String], write: bool) -> Result<bool> {
    artefacts::build(project)?;
    let with_others = arguments.iter().any(|argument| argument == "--others");
    if with_others {
        Invocation::new(project, "sh").arguments(&["xtask/others.sh"]).run()?;
    }
    println!();
    let invocation = program(project, "bench", arguments);
    if !write {
        return passed(&invocation);
    }
    if with_others {
        let results = invocation.arguments(&["--markdown"]).output()?;
        print!("{results}");
        put(project, DOCUMENT, OTHERS_START, &results)?;
        println!("wrote {DOCUMENT}");
        return Ok(true);
    }
    let results = invocation.arguments(&["--sweep", "--markdown", "--plot", PICTURE]).output()?;
    print!("{results}");
    put(project, DOCUMENT, START, &results)?;
    println!("wrote {DOCUMENT} and {PICTURE}");
    Ok(true)
}

/// Measures Rust programs, in release; with `write`, the results go to docs/benchmarks-rust.md.
pub fn bench_rust(project: &Project, is_written: bool) -> Result<bool> {
    artefacts::build(project)?;
    println!();
    let words = ["run", "--quiet", "--release", "--manifest-path", "tests/rust/Cargo.toml", "--bin", "bench"];
    let invocation = Invocation::new(project, project.root.join("build/bin/cargo-enzyme"))
        .arguments(&words)
        .environment("CARGO_TARGET_DIR", project.root.join("target/rust-programs"));
    if !is_written {
        return passed(&invocation);
    }
    let results = invocation.output()?;
    print!("{results}");
    put(project, RUST_DOCUMENT, RUST_START, &results)?;
    println!("wrote {RUST_DOCUMENT}");
    Ok(true)
}

/// Puts results into a document of the project.
fn put(project: &Project, document: &str, start: &str, results: &str) -> Result<()> {
    let path = project.root.join(document);
    let text = fs::read_to_string(&path).with_context(|| format!("reading {document}"))?;
    let text = splice(&text, start, results).with_context(|| format!("filling {document}"))?;
    fs::write(&path, text).with_context(|| format!("writing {document}"))
}

/// Runs a program that says itself what went wrong.
fn passed(invocation: &Invocation) -> Result<bool> {
    Ok(invocation.run().is_ok())
}

/// Puts results into the document, as they are.
fn splice(document: &str, start: &str, results: &str) -> Result<String> {
    let Some((head, rest)) = document.split_once(start) else { bail!("the line {start} is missing") };
    let Some((_, tail)) = rest.split_once(END) else { bail!("the line {END} is missing") };
    Ok(format!("{head}{start}\n\n{}\n\n{END}{tail}", results.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_result_has_its_place() {
        let document = format!("{START}\nold\n{END}\n{OTHERS_START}\nold\n{END}\n");
        let filled = splice(&document, OTHERS_START, "new").unwrap();
        assert_eq!(filled, format!("{START}\nold\n{END}\n{OTHERS_START}\n\nnew\n\n{END}\n"));
    }

    #[test]
    fn results_have_a_place() {
        let document = format!("a\n{START}\nold\n{END}\nb\n");
        assert_eq!(splice(&document, START, "new\n\n").unwrap(), format!("a\n{START}\n\nnew\n\n{END}\nb\n"));
        assert!(splice("a", START, "new").is_err());
    }
}
