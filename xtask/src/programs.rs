//! The demonstration and the benchmarks: programs of the crate `enzyme-tests`, run on a fresh build.

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

/// Measures the kernels; with `write`, the results go to docs/benchmarks.md, sizes swept.
pub fn bench(project: &Project, arguments: &[String], write: bool) -> Result<bool> {
    artefacts::build(project)?;
    println!();
    let invocation = program(project, "bench", arguments);
    if !write {
        return passed(&invocation);
    }
    let results = invocation.arguments(&["--sweep", "--markdown", "--plot", PICTURE]).output()?;
    print!("{results}");
    let path = project.root.join(DOCUMENT);
    let document = fs::read_to_string(&path).with_context(|| format!("reading {DOCUMENT}"))?;
    fs::write(&path, splice(&document, &results)?).with_context(|| format!("writing {DOCUMENT}"))?;
    println!("wrote {DOCUMENT} and {PICTURE}");
    Ok(true)
}

/// Runs a program that says itself what went wrong.
fn passed(invocation: &Invocation) -> Result<bool> {
    Ok(invocation.run().is_ok())
}

/// Puts results into the document, as they are.
fn splice(document: &str, results: &str) -> Result<String> {
    let Some((head, rest)) = document.split_once(START) else { bail!("{DOCUMENT}: the line {START} is missing") };
    let Some((_, tail)) = rest.split_once(END) else { bail!("{DOCUMENT}: the line {END} is missing") };
    Ok(format!("{head}{START}\n\n{}\n\n{END}{tail}", results.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_a_place() {
        let document = format!("a\n{START}\nold\n{END}\nb\n");
        assert_eq!(splice(&document, "new\n\n").unwrap(), format!("a\n{START}\n\nnew\n\n{END}\nb\n"));
        assert!(splice("a", "new").is_err());
    }
}
