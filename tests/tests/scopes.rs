//! What `restrict` promises of a function that was inlined is promised of its derivative's accesses too (`scopes.cpp`), in loops, and
//! nothing of two shadows of what was only read: looked up in the alias scopes of what clang's optimiser hands on for the corpus
//! program `restrict_inlined`, whose results the corpus checks.
//!
//! And which programs have a second body for arrays that are apart (`disjoint.cpp`): not those where only a row would be kept, once
//! for all steps. What is compared does not depend on where the compiler's own objects lie, which no two runs have in common.

use std::collections::BTreeMap;
use std::process::ExitCode;

use enzyme_tests::toolchain::{Compilation, Level, root, scratch};
use enzyme_tests::{Error, Result};
use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let mut trials = vec![Trial::test("restrict_inlined", || promised().map_err(|e| e.to_string().into()))];
    for (program, bodies) in
        [("bench/stencil", 2), ("bench/lu_solve", 2), ("bench/heat", 1), ("corpus/restrict_inlined", 1)]
    {
        trials.push(Trial::test(format!("bodies::{program}"), move || {
            has_bodies(program, bodies).map_err(|e| e.to_string().into())
        }));
    }
    trials.push(Trial::test("same_each_time::bench/lu_solve", || {
        is_same_each_time("bench/lu_solve").map_err(|e| e.to_string().into())
    }));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// What clang's optimiser hands on for a program.
fn compiled(program: &str) -> Result<String> {
    let folder = scratch()?;
    let output = folder.path().join("program.ll");
    let source = root().join(format!("tests/{program}.c"));
    Compilation::new(source, &output, Level::O2).only_compile().flags(["-S", "-emit-llvm"]).with_plugin()?.build()?;
    std::fs::read_to_string(&output).map_err(Error::io("reading the program"))
}

fn has_bodies(program: &str, wanted: usize) -> Result<()> {
    let found = if compiled(program)?.contains("!\"enzyme.compared\"") { 2 } else { 1 };
    if found == wanted { Ok(()) } else { Err(Error::Failed(format!("{found} instead of {wanted}"))) }
}

/// Two pointers are found in either order in half of the runs if it is that of their addresses.
fn is_same_each_time(program: &str) -> Result<()> {
    let first = compiled(program)?;
    for _ in 1..8 {
        if compiled(program)? != first {
            return Err(Error::Failed("another derivative of the same program".into()));
        }
    }
    Ok(())
}

/// The nodes that a node of metadata names, and the string in it.
struct Node<'a> {
    operands: Vec<&'a str>,
    name: Option<&'a str>,
}

fn nodes(text: &str) -> BTreeMap<&str, Node<'_>> {
    let mut out = BTreeMap::new();
    for line in text.lines().filter(|l| l.starts_with('!')) {
        let Some((id, content)) = line.split_once(" = ") else { continue };
        let inner = content.trim_start_matches("distinct ").trim_start_matches("!{").trim_end_matches('}');
        let name = inner.split_once("!\"").and_then(|(_, rest)| rest.strip_suffix('"'));
        let operands = inner.split(", ").filter(|o| o.starts_with('!') && !o.starts_with("!\"")).collect();
        out.insert(id, Node { operands, name });
    }
    out
}

fn promised() -> Result<()> {
    let text = compiled("corpus/restrict_inlined")?;
    let nodes = nodes(&text);
    let names = |line: &str, kind: &str| -> Vec<&str> {
        let list = line.split_once(kind).and_then(|(_, rest)| rest.split([',', ' ']).next());
        let scopes = list.and_then(|l| nodes.get(l)).map_or(&[][..], |n| &n.operands);
        scopes.iter().filter_map(|s| nodes.get(s)?.name).collect()
    };
    let (mut read, mut written) = (0, 0);
    for line in text.lines().filter(|l| l.contains(" load ") || l.trim_start().starts_with("store ")) {
        let (through, apart) = (names(line, "!alias.scope "), names(line, "!noalias "));
        if through.iter().any(|n| n.ends_with(".shadow.written")) {
            written += usize::from(apart.iter().any(|n| n.ends_with(".shadow.read")));
        }
        if through.iter().any(|n| n.ends_with(".shadow.read")) {
            read += usize::from(apart.iter().any(|n| n.ends_with(".shadow.written")));
            if let Some(wrong) = apart.iter().find(|n| n.ends_with(".shadow.read")) {
                return Err(Error::Failed(format!(
                    "nothing says that what was only read is apart from {wrong}: {line}"
                )));
            }
        }
    }
    if read == 0 || written == 0 {
        return Err(Error::Failed(format!(
            "{read} shadows of what was read and {written} of what was written are apart"
        )));
    }
    Ok(())
}
