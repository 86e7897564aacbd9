//! Where the plugin and the tools of LLVM are: the plugin in `../lib` beside this program's folder, tools on the PATH or where a variable
//! says.

use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

/// The version of LLVM that the plugin is made for.
pub const LLVM_MAJOR: u32 = 22;

fn folder() -> Result<PathBuf, String> {
    let program = std::env::current_exe().and_then(|path| path.canonicalize());
    let program = program.map_err(|error| format!("this program's own place is not known: {error}"))?;
    program.parent().map(PathBuf::from).ok_or_else(|| "this program lies in no folder".to_owned())
}

/// The plugin.
pub fn plugin() -> Result<PathBuf, String> {
    if let Some(named) = std::env::var_os("ENZYME_PLUGIN").filter(|value| !value.is_empty()) {
        return Ok(PathBuf::from(named));
    }
    let path = folder()?.join(format!("../lib/LLVMEnzyme-{LLVM_MAJOR}.so"));
    path.canonicalize().map_err(|_| {
        format!("the plugin is missing: {} is not there; `make install` puts both in place", path.display())
    })
}

/// What tells one version of a file from another.
pub fn stamp(path: &Path) -> Result<u64, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut hasher = std::hash::DefaultHasher::new();
    bytes.hash(&mut hasher);
    Ok(hasher.finish())
}

/// A program beside this one.
pub fn beside(name: &str) -> Result<PathBuf, String> {
    let path = folder()?.join(name);
    if path.is_file() { Ok(path) } else { Err(format!("{} is missing: `make install` puts it there", path.display())) }
}

/// A tool of LLVM.
pub fn tool(name: &str, variable: &str, package: &str) -> Result<PathBuf, String> {
    if let Some(named) = std::env::var_os(variable).filter(|value| !value.is_empty()) {
        return which::which(&named).map_err(|error| format!("{variable}: {error}"));
    }
    let found = which::which(format!("{name}-{LLVM_MAJOR}")).or_else(|_| which::which(name));
    found.map_err(|_| {
        format!("{name} {LLVM_MAJOR} was not found (Debian: apt-get install {package}); {variable} names one elsewhere")
    })
}
