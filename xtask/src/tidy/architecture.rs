//! ARCHITECTURE.md as data: its table of crates, the paths it names.
//!
//! The table of crates is the one below the heading `## Crates`: crate, folder, what lives there, crates it may use, whether it may
//! contain `unsafe`. Names and paths stand in backticks.

use std::path::PathBuf;
use std::sync::LazyLock;

use anyhow::{Result, bail};
use regex::Regex;

use super::Finding;
use crate::project::Project;

/// The document that this module reads.
pub const DOCUMENT: &str = "ARCHITECTURE.md";

/// A row of the table of crates.
#[derive(Clone, Debug)]
pub struct Row {
    /// The crate's name.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// The crates of the project that it may depend on.
    pub may_use: Vec<String>,
    /// Whether it may contain unsafe code.
    pub may_be_unsafe: bool,
    /// The line of the document.
    pub line: usize,
}

static QUOTED: LazyLock<Regex> = LazyLock::new(|| Regex::new("`([^`]+)`").expect("the expression is constant"));

fn quoted(text: &str) -> impl Iterator<Item = String> {
    QUOTED.captures_iter(text).map(|found| found[1].to_owned())
}

/// Reads the table of crates.
pub fn crate_table(project: &Project) -> Result<Vec<Row>> {
    parse_table(&project.read(DOCUMENT.as_ref())?)
}

fn parse_table(document: &str) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let lines = document.lines().enumerate().skip_while(|(_, line)| line.trim() != "## Crates").skip(1);
    for (index, line) in lines.take_while(|(_, line)| !line.starts_with("## ")) {
        if !line.starts_with("| `") {
            continue;
        }
        let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
        let [name, folder, _, may_use, may_be_unsafe] = cells[..] else {
            bail!("{DOCUMENT}:{}: the table of crates has five columns", index + 1);
        };
        let (Some(name), Some(folder)) = (quoted(name).next(), quoted(folder).next()) else {
            bail!("{DOCUMENT}:{}: the crate and its folder stand in backticks", index + 1);
        };
        let may_be_unsafe = match may_be_unsafe {
            "yes" => true,
            "no" => false,
            other => bail!("{DOCUMENT}:{}: the last column says yes or no, not {other:?}", index + 1),
        };
        rows.push(Row {
            name,
            folder: folder.into(),
            may_use: quoted(may_use).collect(),
            may_be_unsafe,
            line: index + 1,
        });
    }
    if rows.is_empty() {
        bail!("{DOCUMENT}: there is no table below `## Crates`");
    }
    Ok(rows)
}

/// Each crate has its row, each row its crate, and each path that the document names exists.
pub fn check(project: &Project) -> Result<Vec<Finding>> {
    let table = crate_table(project)?;
    let mut findings = Vec::new();
    for package in project.packages() {
        let folder = project.folder(package);
        match table.iter().find(|row| row.name == package.name.as_str()) {
            None => findings.push(Finding::new(
                DOCUMENT,
                0,
                format!("the crate {} is not in the table of crates", package.name),
            )),
            Some(row) if row.folder != folder => {
                let message = format!("{} lies in {}, not in {}", row.name, folder.display(), row.folder.display());
                findings.push(Finding::new(DOCUMENT, row.line, message));
            }
            Some(_) => {}
        }
    }
    for row in &table {
        let known = |name: &str| project.packages().iter().any(|package| package.name.as_str() == name);
        for name in row.may_use.iter().chain([&row.name]).filter(|name| !known(name)) {
            findings.push(Finding::new(DOCUMENT, row.line, format!("there is no crate {name}")));
        }
    }
    for (index, line) in project.read(DOCUMENT.as_ref())?.lines().enumerate() {
        for path in quoted(line).filter(|text| is_path(text)) {
            // What a build makes is named too, but is no part of the project.
            if !path.starts_with("build/") && !project.root.join(&path).exists() {
                findings.push(Finding::new(DOCUMENT, index + 1, format!("there is no {path}")));
            }
        }
    }
    Ok(findings)
}

/// Whether a text in backticks names a path of the project: it has a slash or a known ending, and nothing else than a path has.
fn is_path(text: &str) -> bool {
    let endings = [".rs", ".md", ".toml", ".c", ".cpp", ".h", ".sh", "/"];
    let is_plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
    is_plain
        && !text.starts_with(['/', '-', '.'])
        && (text.contains('/') || endings.iter().any(|ending| text.ends_with(ending)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read() {
        let text = "# A\n| `no` | `x` | | | |\n## Crates\n\n| crate | folder | here | may use | unsafe |\n| --- |\n\
                    | `a` | `core/a` | this | nothing | no |\n| `b` | `core/b` | that | `a`, `c` | yes |\n## Next\n| `d` |\n";
        let rows = parse_table(text).unwrap();
        assert_eq!(rows.len(), 2);
        assert_eq!(
            (rows[0].name.as_str(), rows[0].may_use.len(), rows[0].may_be_unsafe, rows[0].line),
            ("a", 0, false, 7)
        );
        assert_eq!((rows[1].may_use.join(" "), rows[1].may_be_unsafe), ("a c".to_owned(), true));
        assert!(parse_table("no table").is_err());
        assert!(parse_table("## Crates\n| `a` | `b` | c | d | perhaps |\n").is_err());
    }

    #[test]
    fn paths_are_told_from_other_text() {
        for path in ["core/ir", "core/ir/src/op.rs", "Makefile.md", "docs/"] {
            assert!(is_path(path), "{path}");
        }
        for text in ["enzyme-ir", "-O2", "a -> b", "f(x)/g", "/usr/lib", "unsafe", "../up"] {
            assert!(!is_path(text), "{text}");
        }
    }
}
