//! The project speaks of itself alone: no file says how, where or by whom it was made.
//!
//! That is: no path of one machine, and no talk of the tools at work. Licences and lock files are texts of others.

use std::path::Path;
use std::sync::LazyLock;

use anyhow::Result;
use regex::Regex;

use super::Finding;
use super::rust_source::is_excused;
use crate::project::Project;

/// What must not be said. The expressions are broken up so that this file does not say it either.
static UNWANTED: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let folders = concat!(r#"(^|[\s"'`(=:])/(wo"#, r"rk|ro", r"ot|tm", r#"p/w|home/[a-z]+|Users/[A-Za-z]+)/"#);
    let making = concat!(
        r"(?i)\b((previous|earlier|last|next|coding) sess",
        r"ion|(sub-?)?ag",
        r"ents?|chat",
        r"bots?|as an a",
        r"i|language mod",
        r"els?|prom",
        r"pt engineering)\b"
    );
    [(folders, "a path of one machine"), (making, "talk of how the project was made")]
        .map(|(expression, what)| (Regex::new(expression).expect("the expression is constant"), what))
        .into()
});

/// LLVM's own word for a synchronisation scope.
const NOT_MEANT: [&str; 2] = ["syncscope(", "amdgcn"];

/// Reads all text files.
pub fn check(project: &Project) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for file in &project.files {
        let name = file.file_name().unwrap_or_default();
        if name == "LICENSE" || name == "Cargo.lock" {
            continue;
        }
        let bytes = std::fs::read(project.root.join(file))?;
        if let Ok(text) = String::from_utf8(bytes) {
            findings.extend(check_text(file, &text));
        }
    }
    Ok(findings)
}

fn check_text(file: &Path, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for (expression, what) in UNWANTED.iter() {
            if let Some(found) = expression.find(line)
                && !NOT_MEANT.iter().any(|word| line.contains(word))
                && !is_excused(text, index + 1, "words")
            {
                findings.push(Finding::new(file, index + 1, format!("{what}: {:?}", found.as_str().trim())));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unwanted_words_are_found() {
        let found = |text: &str| !check_text(Path::new("a.md"), text).is_empty();
        for text in [
            concat!("see /wo", "rk/main/a"),
            concat!("\"/ro", "ot/x\""),
            concat!("in the previous sess", "ion it"),
            concat!("an Ag", "ent wrote"),
        ] {
            assert!(found(text), "{text}");
        }
        let fine = [
            "core/work/x",
            "Session::new(module)",
            "https://a/home/b",
            "a reagent",
            "obsessions",
            "/usr/lib/llvm-22",
            concat!("syncscope(\"ag", "ent\")"),
        ];
        for text in fine {
            assert!(!found(text), "{text}");
        }
    }
}
