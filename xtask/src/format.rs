//! Formatting: rustfmt for Rust, clang-format of our LLVM's version for the C++ bridge.

use std::path::Path;

use anyhow::{Result, bail};

use crate::command::{Invocation, cargo};
use crate::llvm;
use crate::project::Project;

/// What to do with a file that is not formatted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Fail.
    Check,
    /// Rewrite it.
    Write,
}

/// Formats the sources, or checks that they are formatted.
pub fn format(project: &Project, mode: Mode) -> Result<()> {
    // Both languages are looked at before a failure of the first is told.
    let rust = cargo(project, &["fmt", "--all"])
        .arguments(if mode == Mode::Check { &["--check", "--", "-l"][..] } else { &[] })
        .run();
    bridge(project, mode)?;
    rust
}

/// Only the bridge: other C sources are examples of what users write.
fn bridge(project: &Project, mode: Mode) -> Result<()> {
    let is_bridge = |file: &&Path| file.starts_with("core/llvm/bridge") || file.starts_with("plugin");
    let files: Vec<&Path> = ["cpp", "h"]
        .into_iter()
        .flat_map(|extension| project.files_with_extension(extension))
        .filter(is_bridge)
        .collect();
    // Versions of clang-format differ in what they write, so it has to be this one.
    let beside_llvm = llvm::find().ok().and_then(|llvm| llvm.program("clang-format")).map(|path| path.into_os_string());
    let Some(program) = [Some("clang-format-22".into()), beside_llvm].into_iter().flatten().find(|program| {
        let version = Invocation::new(project, program).arguments(&["--version"]).output_quietly();
        version.is_some_and(|text| text.contains(&format!("version {}.", llvm::MAJOR)))
    }) else {
        println!("note: clang-format {} is not there; the C++ sources were left out", llvm::MAJOR);
        return Ok(());
    };
    if mode == Mode::Write {
        return Invocation::new(project, program).arguments(&["-i"]).arguments(&files).run();
    }
    let is_formatted = |file: &&Path| {
        let check = Invocation::new(project, &program).arguments(&["--dry-run", "-Werror"]).arguments(&[file]);
        check.output_quietly().is_some()
    };
    let unformatted: Vec<&Path> = files.into_iter().filter(|file| !is_formatted(file)).collect();
    for file in &unformatted {
        println!("{}", file.display());
    }
    if !unformatted.is_empty() {
        bail!("clang-format would change {} files", unformatted.len());
    }
    Ok(())
}
