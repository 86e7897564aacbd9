//! The demonstration and the benchmarks: programs of the crate `enzyme-tests`, run on a fresh build.

use std::fs;

use anyhow::{Context, Result, bail};

use crate::artefacts;
use crate::command::{Invocation, cargo};
use crate::project::Project;

/// Where the benchmarks' results stand in README.md.
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

/// Times the corpus; with `write`, the results go to README.md.
pub fn bench(project: &Project, arguments: &[String], write: bool) -> Result<bool> {
    artefacts::build(project)?;
    println!();
    let invocation = program(project, "bench", arguments);
    if !write {
        return passed(&invocation);
    }
    let results = invocation.output()?;
    print!("{results}");
    let path = project.root.join("README.md");
    let document = fs::read_to_string(&path).context("reading README.md")?;
    fs::write(&path, splice(&document, &results)?).context("writing README.md")?;
    println!("wrote README.md");
    Ok(true)
}

/// Runs a program that says itself what went wrong.
fn passed(invocation: &Invocation) -> Result<bool> {
    Ok(invocation.run().is_ok())
}

/// Puts results into the document, as they are.
fn splice(document: &str, results: &str) -> Result<String> {
    let Some((head, rest)) = document.split_once(START) else { bail!("README.md: the line {START} is missing") };
    let Some((_, tail)) = rest.split_once(END) else { bail!("README.md: the line {END} is missing") };
    Ok(format!("{head}{START}\n\n```text\n{}\n```\n\n{END}{tail}", results.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_a_place() {
        let document = format!("a\n{START}\nold\n{END}\nb\n");
        assert_eq!(splice(&document, "new\n\n").unwrap(), format!("a\n{START}\n\n```text\nnew\n```\n\n{END}\nb\n"));
        assert!(splice("a", "new").is_err());
    }
}
