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
static QUOTED: LazyLock<Regex> = LazyLock::new(|| Regex::new("\"([^\"]+)\"").expect("the expression is constant"));

/// Compares the licences of all packages of others with the list.
pub fn check(project: &Project) -> Result<Vec<Finding>> {
    let allowed =
        allowed(&project.read(DOCUMENT.as_ref())?).context("deny.toml has no list `allow` below [licenses]")?;
    let mut findings = Vec::new();
    for package in project.metadata.packages.iter().filter(|package| package.source.is_some()) {
        let licence = package.license.as_deref().unwrap_or("none stated");
        if !is_allowed(licence, &allowed) {
            let message =
                format!("the licence of {} {} ({licence}) is not among those allowed", package.name, package.version);
            findings.push(Finding::new(DOCUMENT, 0, message));
        }
    }
    Ok(findings)
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
