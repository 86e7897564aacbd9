//! Finds the LLVM to build with, in the order: `LLVM_CONFIG`, `LLVM_SYS_221_PREFIX`, the PATH, usual folders.
//!
//! `setup.sh` looks in the same order. Where llvm-sys finds the right `llvm-config` on the PATH by itself, nothing is put into the
//! environment of cargo, so that `make` and a bare `cargo test` share their build.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

/// The major version of LLVM that this project is built with.
pub const MAJOR: &str = "22";

/// Names under which llvm-sys itself looks for a `llvm-config` on the PATH.
const FOUND_BY_ITSELF: [&str; 2] = ["llvm-config-22", "llvm-config"];

/// Folders of other packagings (Fedora, Arch, Homebrew).
const USUAL: [&str; 7] = [
    "/usr/lib/llvm-22/bin/llvm-config",
    "/usr/lib64/llvm22/bin/llvm-config",
    "/usr/lib/llvm22/bin/llvm-config",
    "/opt/homebrew/opt/llvm@22/bin/llvm-config",
    "/opt/homebrew/opt/llvm/bin/llvm-config",
    "/usr/local/opt/llvm@22/bin/llvm-config",
    "/usr/local/opt/llvm/bin/llvm-config",
];

/// An LLVM, by its `llvm-config`.
pub struct Llvm {
    /// The program that describes it.
    pub config: PathBuf,
    /// Whether llvm-sys would find the same one by itself.
    found_by_itself: bool,
}

/// What `llvm-config` answers to one question; `None` if it is no program or fails.
fn ask(config: &Path, question: &str) -> Option<String> {
    let output = Command::new(config).arg(question).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn has_right_version(config: &Path) -> bool {
    ask(config, "--version").is_some_and(|version| version.split('.').next() == Some(MAJOR))
}

/// Finds the LLVM to build with.
pub fn find() -> Result<Llvm> {
    let named = std::env::var_os("LLVM_CONFIG").filter(|name| !name.is_empty()).map(PathBuf::from);
    let prefix = std::env::var_os("LLVM_SYS_221_PREFIX").filter(|name| !name.is_empty());
    let from_prefix = prefix.map(|prefix| PathBuf::from(prefix).join("bin/llvm-config"));
    if let Some(config) = named.or(from_prefix) {
        if has_right_version(&config) {
            return Ok(Llvm { config, found_by_itself: false });
        }
        bail!("{} is no llvm-config of LLVM {MAJOR}", config.display());
    }
    let candidates = FOUND_BY_ITSELF.iter().map(|name| (name, true)).chain(USUAL.iter().map(|path| (path, false)));
    for (name, found_by_itself) in candidates {
        if has_right_version(Path::new(name)) {
            return Ok(Llvm { config: PathBuf::from(name), found_by_itself });
        }
    }
    bail!("LLVM {MAJOR} was not found; `make` installs it or says how to")
}

impl Llvm {
    /// The folder with LLVM's programs.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let path = PathBuf::from(ask(&self.config, "--bindir")?).join(name);
        path.exists().then_some(path)
    }
}

/// The variables that a cargo call needs in order to use the LLVM chosen.
pub fn environment() -> Vec<(OsString, OsString)> {
    match find() {
        Ok(llvm) if !llvm.found_by_itself => match ask(&llvm.config, "--prefix") {
            Some(prefix) => {
                let config: OsString = llvm.config.into();
                vec![("LLVM_SYS_221_PREFIX".into(), prefix.into()), ("LLVM_CONFIG".into(), config)]
            }
            None => Vec::new(),
        },
        // Without any LLVM the crates that need none still build; the others say what they miss.
        Ok(_) | Err(_) => Vec::new(),
    }
}
