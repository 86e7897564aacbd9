//! Checks on the project's own shape: what ARCHITECTURE.md and the house style promise, held by a program.
//!
//! Each check is a function from the [`Project`] to [`Finding`]s and has a test of the same name in `tests/tidy.rs`. A line may be
//! excused from a check on source text by a remark on it or right above it: `// tidy: allow(<check>): <reason>`.

pub mod architecture;
pub mod codes;
pub mod edges;
pub mod licences;
pub mod rust_source;
pub mod tokens;
pub mod words;

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::command::{green, red};
use crate::project::Project;

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The file, relative to the root.
    pub file: PathBuf,
    /// The line, from 1; 0 for the file as a whole.
    pub line: usize,
    /// What is wrong and what to do.
    pub message: String,
    /// Whether it is only said, and fails nothing.
    pub warning: bool,
}

impl Finding {
    /// A finding that fails the check.
    pub fn new(file: impl AsRef<Path>, line: usize, message: impl Into<String>) -> Finding {
        Finding { file: file.as_ref().to_owned(), line, message: message.into(), warning: false }
    }

    /// A finding that is only said.
    pub fn warning(file: impl AsRef<Path>, line: usize, message: impl Into<String>) -> Finding {
        Finding { warning: true, ..Finding::new(file, line, message) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        write!(f, ": {}{}", if self.warning { "warning: " } else { "" }, self.message)
    }
}

/// A check: its name and what it does.
pub type Check = (&'static str, fn(&Project) -> Result<Vec<Finding>>);

/// All checks.
pub const CHECKS: [Check; 9] = [
    ("edges", edges::check),
    ("pure", |project| Ok(edges::check_pure(project))),
    ("architecture", architecture::check),
    ("unsafe_code", rust_source::check_unsafe),
    ("module_docs", rust_source::check_docs_and_length),
    ("crashes", rust_source::check_crashes),
    ("error_codes", codes::check),
    ("licences", licences::check),
    ("words", words::check),
];

/// Runs all checks and says what they found; `false` if anything fails.
pub fn report(project: &Project) -> Result<bool> {
    let mut good = true;
    for (name, check) in CHECKS {
        for finding in check(project)? {
            good &= finding.warning;
            let word = if finding.warning { name.to_owned() } else { red(name) };
            eprintln!("{word}: {finding}");
        }
    }
    if good {
        println!("{} {} checks", green("tidy:"), CHECKS.len());
    }
    Ok(good)
}
