//! Error codes: each one declared once, given somewhere, explained in docs/errors.md, and hit by a test.
//!
//! They are declared in a table of rows `E0001, "title", "help";`; the tests that hit them lie in `tests/errors/` and `tests/capi/`. Codes of the
//! family E09 are for failures of the engine itself: no input is known that hits them, or it would have been repaired.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use anyhow::Result;
use regex::Regex;

use super::Finding;
use crate::project::Project;

/// The table in the sources.
pub const TABLE: &str = "core/src/codes.rs";
/// The document that explains them: one section `## E0001` each.
pub const DOCUMENT: &str = "docs/errors.md";
/// The tests.
const TESTS: [&str; 2] = ["tests/errors", "tests/capi"];

/// A declared code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// `E0001`.
    pub name: String,
    /// What it says, in a line.
    pub title: String,
    /// The line of the table.
    pub line: usize,
}

static ROW: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?m)^\s*(E[0-9]{4}),\s*"((?:[^"\\]|\\.)*)",\s*"(?:[^"\\]|\\.)*";"#)
        .expect("the expression is constant")
});
static CODE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\bE[0-9]{4}\b").expect("the expression is constant"));
static SECTION: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?m)^## (E[0-9]{4})$").expect("the expression is constant"));

/// The codes of the table, in its order; none while there is no table.
pub fn declared(project: &Project) -> Result<Vec<Code>> {
    if !project.files.iter().any(|file| file == Path::new(TABLE)) {
        return Ok(Vec::new());
    }
    Ok(parse_table(&project.read(TABLE.as_ref())?))
}

fn parse_table(text: &str) -> Vec<Code> {
    ROW.captures_iter(text)
        .map(|row| Code {
            name: row[1].to_owned(),
            title: row[2].replace("\\\"", "\""),
            line: 1 + text[..row.get(0).map_or(0, |all| all.start())].matches('\n').count(),
        })
        .collect()
}

/// Compares table, document, tests and uses.
pub fn check(project: &Project) -> Result<Vec<Finding>> {
    let codes = declared(project)?;
    let document = project.read(DOCUMENT.as_ref())?;
    let mut tests = String::new();
    let mut uses: BTreeMap<String, (String, usize)> = BTreeMap::new();
    for file in &project.files {
        if TESTS.iter().any(|folder| file.starts_with(folder)) {
            tests.push_str(&project.read(file)?);
        }
        let is_engine = ["core", "plugin", "capi"].iter().any(|folder| file.starts_with(folder));
        if is_engine && file != Path::new(TABLE) && file.extension().is_some_and(|extension| extension == "rs") {
            for (index, line) in project.read(file)?.lines().enumerate() {
                for code in CODE.find_iter(line) {
                    uses.entry(code.as_str().to_owned()).or_insert_with(|| (file.display().to_string(), index + 1));
                }
            }
        }
    }
    Ok(compare(&codes, &document, &tests, &uses))
}

fn compare(codes: &[Code], document: &str, tests: &str, uses: &BTreeMap<String, (String, usize)>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let sections = sections(document);
    for (index, code) in codes.iter().enumerate() {
        let Code { name, title: _, line } = code;
        if codes[..index].iter().any(|other| other.name == *name) {
            findings.push(Finding::new(TABLE, *line, format!("{name} is declared twice")));
        }
        match sections.get(name.as_str()) {
            None => findings.push(Finding::new(
                DOCUMENT,
                0,
                format!("{name} has no section: add `## {name}` with what to do about it"),
            )),
            Some(text) if text.trim().is_empty() => {
                findings.push(Finding::new(DOCUMENT, 0, format!("the section of {name} is empty")))
            }
            Some(_) => {}
        }
        if !uses.contains_key(name) {
            findings.push(Finding::new(TABLE, *line, format!("{name} is never given")));
        }
        if !tests.contains(name.as_str()) && !name.starts_with("E09") {
            findings.push(Finding::new(TABLE, *line, format!("{name} is hit by no test in {}", TESTS.join(", "))));
        }
    }
    let known = |name: &str| codes.iter().any(|code| code.name == name);
    for name in sections.keys().filter(|name| !known(name)) {
        findings.push(Finding::new(DOCUMENT, 0, format!("{name} has a section but is not declared in {TABLE}")));
    }
    for (name, (file, line)) in uses.iter().filter(|(name, _)| !known(name)) {
        findings.push(Finding::new(file, *line, format!("{name} is not declared in {TABLE}")));
    }
    findings
}

/// The sections of the document, by code.
fn sections(document: &str) -> BTreeMap<&str, &str> {
    let marks: Vec<_> =
        SECTION.captures_iter(document).filter_map(|found| Some((found.get(0)?, found.get(1)?))).collect();
    let ends = marks.iter().skip(1).map(|(all, _)| all.start()).chain([document.len()]);
    marks.iter().zip(ends).map(|((all, name), end)| (name.as_str(), &document[all.end()..end])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_needs_a_row_a_section_a_use_and_a_test() {
        let codes =
            parse_table("code! {\n    E0001, \"first\",\n        \"do\";\n    E0002, \"a \\\"b\\\"\", \"do\";\n}\n");
        assert_eq!(codes.iter().map(|code| code.line).collect::<Vec<_>>(), [2, 4]);
        assert_eq!(codes[1].title, "a \"b\"");

        let document = "# Errors\n## E0001\n\nText.\n## E0002\n\nText.\n";
        let both = "E0001 E0002";
        let messages = |document: &str, tests: &str, used: &str| {
            let uses = used.split(' ').map(|name| (name.to_owned(), ("core/src/a.rs".to_owned(), 3))).collect();
            let findings = compare(&codes, document, tests, &uses);
            findings.into_iter().map(|finding| finding.message).collect::<Vec<_>>().join("\n")
        };
        assert_eq!(messages(document, both, both), "");
        assert_eq!(messages(document, "E0001", both), "E0002 is hit by no test in tests/errors, tests/capi");
        assert_eq!(messages(document, both, "E0001"), "E0002 is never given");
        assert_eq!(messages(document, both, "E0001 E0002 E0003"), "E0003 is not declared in core/src/codes.rs");
        assert!(messages("## E0001\nText.\n", both, both).contains("E0002 has no section"));
        assert_eq!(messages("## E0001\n## E0002\nText.\n", both, both), "the section of E0001 is empty");
        assert!(messages("## E0001\nText\n## E0002\nText\n## E0009\nText", both, both).contains("E0009 has a section"));
    }
}
