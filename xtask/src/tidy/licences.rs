//! Everything that is built in has a licence that deny.toml allows.
//!
//! `cargo deny` reads the same file and knows more; this check needs nothing installed.

use std::sync::LazyLock;

use anyhow::{Context, Result};
use regex::Regex;
use spdx::{Expression, ParseMode};

use super::Finding;
use crate::project::Project;

const DOCUMENT: &str = "deny.toml";

static ALLOW: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?s)\[licenses\][^\[]*?allow\s*=\s*\[(.*?)\]").expect("the expression is constant"));
static EXCEPTION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"\{ allow = \[([^\]]*)\], crate = "([^"]+)" \}"#).expect("the expression is constant")
});
static QUOTED: LazyLock<Regex> = LazyLock::new(|| Regex::new("\"([^\"]+)\"").expect("the expression is constant"));

/// Compares the licences of all packages of others with the list.
pub fn check(project: &Project) -> Result<Vec<Finding>> {
    let allowed =
        allowed(&project.read(DOCUMENT.as_ref())?).context("deny.toml has no list `allow` below [licenses]")?;
    let exceptions = exceptions(&project.read(DOCUMENT.as_ref())?);
    let mut findings = Vec::new();
    for package in project.metadata.packages.iter().filter(|package| package.source.is_some()) {
        let licence = package.license.as_deref().unwrap_or("none stated");
        let excepted = |(name, list): &(String, Vec<String>)| *name == *package.name && is_allowed(licence, list);
        if !is_allowed(licence, &allowed) && !exceptions.iter().any(excepted) {
            let message =
                format!("the licence of {} {} ({licence}) is not among those allowed", package.name, package.version);
            findings.push(Finding::new(DOCUMENT, 0, message));
        }
    }
    Ok(findings)
}

/// Packages with licences that only they may have.
fn exceptions(text: &str) -> Vec<(String, Vec<String>)> {
    let quoted = |list: &str| QUOTED.captures_iter(list).map(|found| found[1].to_owned()).collect();
    EXCEPTION.captures_iter(text).map(|found| (found[2].to_owned(), quoted(&found[1]))).collect()
}

fn allowed(text: &str) -> Option<Vec<String>> {
    let list = ALLOW.captures(text)?.get(1)?.as_str();
    Some(QUOTED.captures_iter(list).map(|found| found[1].to_owned()).collect())
}

fn is_allowed(licence: &str, allowed: &[String]) -> bool {
    let expression = Expression::parse_mode(licence, ParseMode::LAX);
    expression.is_ok_and(|expression| expression.evaluate(|requirement| allowed.contains(&requirement.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_are_read() {
        let text = "exceptions = [{ allow = [\"MPL-2.0\"], crate = \"cbindgen\" }]\n";
        assert_eq!(exceptions(text), [("cbindgen".to_owned(), vec!["MPL-2.0".to_owned()])]);
    }

    #[test]
    fn expressions_are_understood() {
        let allowed = allowed(
            "[bans]\nallow = [\"x\"]\n[licenses]\n# why\nallow = [\n \"MIT\",\n \"Apache-2.0 WITH LLVM-exception\" ]\n",
        )
        .unwrap();
        assert_eq!(allowed.len(), 2);
        for licence in ["MIT", "GPL-2.0 OR MIT", "Apache-2.0 WITH LLVM-exception", "Unlicense/MIT"] {
            assert!(is_allowed(licence, &allowed), "{licence}");
        }
        for licence in ["Apache-2.0", "MIT AND GPL-2.0", "none stated"] {
            assert!(!is_allowed(licence, &allowed), "{licence}");
        }
    }
}
