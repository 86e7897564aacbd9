//! Sections of `docs/errors.md`, which is built into the program, and the tables of rules as data.

use serde::Serialize;
use thiserror::Error;

static PAGES: &str = include_str!("../../docs/errors.md");

/// Why there is nothing to print.
#[derive(Debug, PartialEq, Eq, Error)]
pub enum ExplainError {
    /// The caller's fault: no such code.
    #[error("there is no error code {0:?}; `enzyme explain` lists all codes")]
    Unknown(String),
}

/// The section of a code, or the list of all codes.
pub fn explain(code: Option<&str>) -> Result<String, ExplainError> {
    explain_from(PAGES, code)
}

fn explain_from(pages: &str, code: Option<&str>) -> Result<String, ExplainError> {
    let Some(code) = code else {
        let mut list = String::new();
        for (code, title, _) in sections(pages) {
            list.push_str(&format!("{code}  {title}\n"));
        }
        return Ok(list);
    };
    // Codes may be written as the compiler prints them, in brackets, or in lower case.
    find(pages, code).map(|(code, title, text)| format!("{code}: {title}\n\n{}\n", text.trim()))
}

fn find<'a>(pages: &'a str, code: &str) -> Result<(&'a str, &'a str, &'a str), ExplainError> {
    let wanted = code.trim_matches(['[', ']']).to_uppercase();
    let found = sections(pages).into_iter().find(|(code, _, _)| *code == wanted);
    found.ok_or_else(|| ExplainError::Unknown(code.to_owned()))
}

/// A section as data.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Section {
    code: &'static str,
    title: &'static str,
    text: &'static str,
}

/// The section of a code, or all of them.
pub fn data(code: Option<&str>) -> Result<Vec<Section>, ExplainError> {
    let found = match code {
        Some(code) => vec![find(PAGES, code)?],
        None => sections(PAGES),
    };
    Ok(found.into_iter().map(|(code, title, text)| Section { code, title, text: text.trim() }).collect())
}

/// The tables of derivative rules and of functions that are known, as data.
pub fn rules() -> serde_json::Value {
    let rule = |r: enzyme_rules::RuleInWords| serde_json::json!({ "group": r.group, "operations": r.operations, "partials": r.partials, "formula": r.formula, "kinks": r.kinks });
    let known = |k: enzyme_rules::KnownInWords| serde_json::json!({ "functions": k.functions, "title": k.title, "what": k.what, "memory": k.memory });
    let rules: Vec<_> = enzyme_rules::rules_in_words().map(rule).collect();
    let functions: Vec<_> = enzyme_rules::known_in_words().map(known).collect();
    serde_json::json!({ "rules": rules, "functions": functions })
}

/// Code, title and text of each section. Titles stand in the table at the head of the page.
fn sections(pages: &str) -> Vec<(&str, &str, &str)> {
    let title = |code: &str| {
        let row = pages.lines().find(|line| line.starts_with(&format!("| [{code}]")));
        row.and_then(|row| row.split('|').nth(2)).map_or("", str::trim)
    };
    pages
        .split("\n## ")
        .skip(1)
        .filter_map(|section| section.split_once('\n'))
        .map(|(heading, text)| (heading.trim(), title(heading.trim()), text))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: &str = "# Errors\n\n| [E0001](#e0001) | first thing |\n| [E0002](#e0002) | second |\n\n\
                        ## E0001\n\nText one.\n\n## E0002\n\nText two.\n";

    #[test]
    fn sections_are_found() {
        assert_eq!(explain_from(SOME, Some("E0001")).unwrap(), "E0001: first thing\n\nText one.\n");
        assert_eq!(explain_from(SOME, Some("[e0002]")).unwrap(), "E0002: second\n\nText two.\n");
        assert_eq!(explain_from(SOME, Some("E9")), Err(ExplainError::Unknown("E9".to_owned())));
        assert_eq!(explain_from(SOME, None).unwrap(), "E0001  first thing\nE0002  second\n");
    }
}
