//! The installation that this program belongs to, and the compilers of the same LLVM.
//!
//! The plugin lies in `../lib` beside this program's folder. A compiler is named by its variable (`ENZYME_CLANG`, `ENZYME_CLANGXX`,
//! `ENZYME_FLANG`, ...), else found on the PATH, with the major version behind its name or without; another major version cannot load the
//! plugin.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The major version of LLVM that the plugin is made for.
pub const LLVM_MAJOR: u32 = 22;

/// A program of LLVM, or one that carries an LLVM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tool {
    /// Its name without a version.
    pub name: &'static str,
    /// The variable that names another.
    pub variable: &'static str,
    /// Debian's package.
    pub package: &'static str,
    /// What it is wanted for.
    pub purpose: &'static str,
    /// Without it nothing can be done.
    pub needed: bool,
}

/// What the plugin is loaded into.
pub const TOOLS: [Tool; 5] = [
    Tool { name: "clang", variable: "ENZYME_CLANG", package: "clang-22", purpose: "C", needed: true },
    Tool { name: "clang++", variable: "ENZYME_CLANGXX", package: "clang-22", purpose: "C++", needed: false },
    Tool { name: "flang", variable: "ENZYME_FLANG", package: "flang-22", purpose: "Fortran", needed: false },
    Tool {
        name: "ld.lld",
        variable: "ENZYME_LLD",
        package: "lld-22",
        purpose: "link-time optimisation",
        needed: false,
    },
    Tool { name: "opt", variable: "ENZYME_OPT", package: "llvm-22", purpose: "files of LLVM IR", needed: false },
];

/// A file of the installation, relative to its prefix.
pub fn installed(file: &str) -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?.canonicalize().ok()?;
    let path = program.parent()?.parent()?.join(file);
    path.is_file().then_some(path)
}

/// The plugin, or where it should be.
pub fn plugin() -> Result<PathBuf, String> {
    let name = format!("lib/LLVMEnzyme-{LLVM_MAJOR}.{}", if cfg!(target_os = "macos") { "dylib" } else { "so" });
    installed(&name).ok_or_else(|| {
        let program = std::env::current_exe().map(|p| p.display().to_string()).unwrap_or_default();
        format!("the plugin is missing: there is no ../{name} beside the folder of {program}; `make install` puts both in place")
    })
}

/// Where a program was found, and the version it states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its file.
    pub path: PathBuf,
    /// Such as 22.1.8; empty if it states none.
    pub version: String,
}

impl Found {
    /// Whether it can load the plugin.
    pub fn fits(&self) -> bool {
        self.version.split('.').next() == Some(LLVM_MAJOR.to_string().as_str())
    }
}

impl Tool {
    /// The program of the right version, else the first of another.
    pub fn find(&self) -> Option<Found> {
        if let Some(named) = std::env::var_os(self.variable).filter(|v| !v.is_empty()) {
            return which::which(named).ok().map(Found::of);
        }
        let candidates = [format!("{}-{LLVM_MAJOR}", self.name), self.name.to_owned()];
        let found: Vec<Found> = candidates.iter().filter_map(|name| which::which(name).ok()).map(Found::of).collect();
        found.iter().find(|f| f.fits()).or(found.first()).cloned()
    }
}

impl Found {
    fn of(path: PathBuf) -> Found {
        let version = version(&path);
        Found { path, version }
    }
}

/// The version of the LLVM that rustc is built on.
pub fn llvm_of_rustc() -> Option<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().find_map(|line| line.strip_prefix("LLVM version: ")).map(str::to_owned)
}

/// What `--version` says: the first word that begins like a version.
fn version(program: &Path) -> String {
    let Ok(output) = Command::new(program).arg("--version").output() else { return String::new() };
    first_version(&String::from_utf8_lossy(&output.stdout))
}

fn first_version(text: &str) -> String {
    let digits = |word: &str| word.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect::<String>();
    let words = text.split_whitespace().map(digits);
    words.into_iter().find(|word| word.contains('.') && !word.starts_with('.')).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        assert_eq!(first_version("Debian clang version 22.1.8 (1~deb12u1)\nTarget: x86_64"), "22.1.8");
        assert_eq!(first_version("Debian LLD 22.1.8 (compatible with GNU linkers)"), "22.1.8");
        assert_eq!(first_version("LLVM (http://llvm.org/):\n  LLVM version 19.1.7\n"), "19.1.7");
        assert_eq!(first_version("nothing"), "");
    }

    #[test]
    fn only_our_llvm_fits() {
        let found = |version: &str| Found { path: PathBuf::new(), version: version.to_owned() };
        assert!(found("22.1.8").fits());
        assert!(!found("2.2").fits());
        assert!(!found("").fits());
    }
}
