//! Checks on the text of the sources: where `unsafe` may stand, what each file must begin with, how long it may be, and that nothing
//! in the engine can crash its host.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cargo_metadata::{Package, TargetKind};

use super::tokens::{self, Source, Word};
use super::{Finding, architecture};
use crate::project::Project;

/// From this length on a file is said to be long.
const LONG: usize = 500;
/// Above this length a file must be split.
const TOO_LONG: usize = 800;

/// Files above the limit that stay whole, each with the reason.
const LONG_FOR_A_REASON: [(&str, &str); 0] = [];

/// Macros and methods that abort the process or leave work undone.
const CRASHES: [&str; 5] = ["panic", "unreachable", "assert", "assert_eq", "assert_ne"];
const UNDONE: [&str; 3] = ["todo", "unimplemented", "dbg"];

/// Packages that are run by developers only, so may stop with a panic.
const DEVELOPERS_ONLY: [&str; 3] = ["xtask", "enzyme-tests", "enzyme-benches"];

/// Programs as users write them, in a workspace of their own; some differentiate functions of raw pointers.
const PROGRAMS_OF_USERS: &str = "tests/rust/src";

/// `unsafe` stands only in crates whose row allows it; the others forbid it in each of their roots.
pub fn check_unsafe(project: &Project) -> Result<Vec<Finding>> {
    let table = architecture::crate_table(project)?;
    let mut findings = Vec::new();
    for package in project.packages() {
        // A crate without a row is the business of the check `architecture`.
        let Some(row) = table.iter().find(|row| row.name == package.name.as_str()) else { continue };
        if row.may_be_unsafe {
            continue;
        }
        for root in roots(project, package) {
            if !project.read(&root)?.lines().any(|line| line.trim() == "#![forbid(unsafe_code)]") {
                findings.push(Finding::new(
                    &root,
                    1,
                    "this crate may hold no unsafe code: add #![forbid(unsafe_code)]",
                ));
            }
        }
    }
    for file in project.files_with_extension("rs").filter(|file| !file.starts_with(PROGRAMS_OF_USERS)) {
        let Some(package) = project.package_of(file) else { continue };
        if table.iter().any(|row| row.name == package.name.as_str() && row.may_be_unsafe) {
            continue;
        }
        let source = tokens::read(&project.read(file)?, true).with_context(|| file.display().to_string())?;
        for word in source.words.iter().filter(|word| word.text == "unsafe") {
            findings.push(Finding::new(file, word.line, format!("{} may hold no unsafe code", package.name)));
        }
    }
    Ok(findings)
}

/// The root files of a package's libraries and programs.
fn roots(project: &Project, package: &Package) -> Vec<PathBuf> {
    let is_root = |kind: &TargetKind| {
        matches!(
            kind,
            TargetKind::Lib | TargetKind::RLib | TargetKind::CDyLib | TargetKind::StaticLib | TargetKind::Bin
        )
    };
    let targets = package.targets.iter().filter(|target| target.kind.iter().any(is_root));
    let paths: BTreeSet<PathBuf> = targets
        .filter_map(|target| target.src_path.as_std_path().strip_prefix(&project.root).ok().map(Path::to_owned))
        .collect();
    paths.into_iter().collect()
}

/// Each file says what it is about, and is of a length that one can read.
pub fn check_docs_and_length(project: &Project) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for file in &project.files {
        let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        if !["rs", "c", "cpp", "h", "hpp"].contains(&extension) {
            continue;
        }
        findings.extend(check_file(file, &project.read(file)?, extension == "rs"));
    }
    Ok(findings)
}

fn check_file(file: &Path, text: &str, is_rust: bool) -> Option<Finding> {
    let first = text.lines().next().unwrap_or_default();
    if is_rust && !first.starts_with("//! ") {
        return Some(Finding::new(file, 1, "a file begins with `//!`: what it does, what it does not handle"));
    }
    if !is_rust && !first.starts_with("//") && !first.starts_with("/*") {
        return Some(Finding::new(file, 1, "a file begins with a comment: what it does, what it does not handle"));
    }
    let count = text.lines().count();
    let is_exempt = text.lines().take(5).any(|line| line.contains("@generated"))
        || LONG_FOR_A_REASON.iter().any(|(path, _)| Path::new(path) == file);
    match count {
        _ if is_exempt => None,
        count if count > TOO_LONG => {
            Some(Finding::new(file, 0, format!("{count} lines; above {TOO_LONG} a file is split by topic")))
        }
        count if count > LONG => {
            Some(Finding::warning(file, 0, format!("{count} lines; most files have 200 to {LONG}")))
        }
        _ => None,
    }
}

/// What a user can feed gives an error, never a crash; and nothing is left undone.
pub fn check_crashes(project: &Project) -> Result<Vec<Finding>> {
    let files: Vec<&Path> = project.files_with_extension("rs").collect();
    let mut sources: Vec<(&Path, String, Source)> = Vec::new();
    for file in files {
        let text = project.read(file)?;
        let source = tokens::read(&text, false).with_context(|| file.display().to_string())?;
        sources.push((file, text, source));
    }
    let test_files: BTreeSet<PathBuf> =
        sources.iter().flat_map(|(file, _, source)| test_module_files(file, source)).collect();
    let mut findings = Vec::new();
    for (file, text, source) in &sources {
        let Some(package) = project.package_of(file) else { continue };
        let inside = file.strip_prefix(project.folder(package)).unwrap_or(file);
        let is_test = DEVELOPERS_ONLY.contains(&package.name.as_str())
            || ["tests", "benches", "examples", "build.rs"].iter().any(|first| inside.starts_with(first))
            || inside.components().any(|part| part.as_os_str() == "tests")
            || inside.file_stem().is_some_and(|stem| stem == "tests" || stem.to_string_lossy().ends_with("_tests"))
            || test_files.iter().any(|test| file.starts_with(test.with_extension("")) || *file == test);
        findings.extend(crashes(file, text, &source.words, is_test));
    }
    Ok(findings)
}

/// The files in which the test modules of a file may lie.
fn test_module_files(file: &Path, source: &Source) -> Vec<PathBuf> {
    let folder = file.parent().unwrap_or(Path::new(""));
    let stem = file.file_stem().unwrap_or_default();
    let is_root = ["lib", "main", "mod"].iter().any(|name| stem == *name);
    let base = if is_root { folder.to_owned() } else { folder.join(stem) };
    source.test_modules.iter().map(|name| base.join(format!("{name}.rs"))).collect()
}

fn crashes(file: &Path, text: &str, words: &[Word], is_test: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    let at = |index: usize| words.get(index).map_or("", |word| word.text.as_str());
    // Up to which word an assertion is checked by the compiler: `const _: () = assert!(...);`.
    let mut constant_until = 0;
    for (index, word) in words.iter().enumerate() {
        if word.text == "const" && at(index + 1) == "_" {
            constant_until = index + words[index..].iter().position(|word| word.text == ";").unwrap_or(words.len());
        }
        let is_macro = at(index + 1) == "!" && at(index + 2) != "=";
        let name = word.text.as_str();
        let message = if is_macro && UNDONE.contains(&name) {
            format!("{name}! marks work undone")
        } else if is_test {
            continue;
        } else if is_macro && CRASHES.contains(&name) && index >= constant_until {
            format!("{name}! can abort the host program: return an error")
        } else if name == "unwrap" && index > 0 && at(index - 1) == "." && at(index + 1) == "(" {
            "unwrap() can abort the host program: return an error, or say with expect() why it can't fail".to_owned()
        } else {
            continue;
        };
        if !is_excused(text, word.line, "crashes") {
            findings.push(Finding::new(file, word.line, message));
        }
    }
    findings
}

/// Whether a line is excused from a check, by a remark with a reason on it or right above it.
pub fn is_excused(text: &str, line: usize, check: &str) -> bool {
    let mark = format!("// tidy: allow({check}): ");
    let lines = text.lines().skip(line.saturating_sub(2)).take(if line > 1 { 2 } else { 1 });
    lines.filter_map(|line| line.split_once(&mark)).any(|(_, reason)| reason.trim().len() > 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<usize> {
        let source = tokens::read(text, false).unwrap();
        crashes(Path::new("a.rs"), text, &source.words, false).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn crashes_are_found() {
        assert_eq!(found("fn f() {\n x.unwrap();\n panic!(\"a\");\n todo!()\n}"), [2, 3, 4]);
        assert_eq!(found("const _: () = assert!(A == B);\nfn f() { assert!(a); }"), [2]);
        let fine = "fn f() { unwrap_or(x); debug_assert!(a); x.expect(\"a reason\"); assert != 3 }";
        assert!(found(fine).is_empty(), "{:?}", found(fine));
        assert!(found("#[cfg(test)]\nmod tests { fn f() { panic!() } }").is_empty());
    }

    #[test]
    fn an_excuse_needs_a_reason() {
        assert!(found("// tidy: allow(crashes): the table is constant\nfn f() { panic!() }").is_empty());
        assert_eq!(found("// tidy: allow(crashes): \nfn f() { panic!() }"), [2]);
        assert_eq!(found("// tidy: allow(words): a reason\nfn f() { panic!() }"), [2]);
    }

    #[test]
    fn files_have_docs_and_an_end() {
        let file = Path::new("a.rs");
        assert_eq!(check_file(file, "//! Adds.\n", true), None);
        assert!(check_file(file, "// Adds.\n", true).is_some_and(|finding| !finding.warning));
        let long = |count: usize| format!("//! Adds.\n{}", "\n".repeat(count - 1));
        assert!(check_file(file, &long(501), true).is_some_and(|finding| finding.warning));
        assert!(check_file(file, &long(801), true).is_some_and(|finding| !finding.warning));
        assert_eq!(check_file(file, &format!("//! @generated\n{}", long(900)), true), None);
    }

    #[test]
    fn modules_of_tests_have_files() {
        let source = Source { test_modules: vec!["checks".to_owned()], ..Source::default() };
        assert_eq!(test_module_files(Path::new("a/lib.rs"), &source), [PathBuf::from("a/checks.rs")]);
        assert_eq!(test_module_files(Path::new("a/b.rs"), &source), [PathBuf::from("a/b/checks.rs")]);
    }
}
