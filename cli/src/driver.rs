//! `enzyme cc`, `enzyme c++`, `enzyme fc`: the compiler of our LLVM with the plugin loaded, and otherwise that compiler.
//!
//! All arguments go on as they are; the plugin, its options and the headers come first, quietly where a call only links. Fortran finds the
//! module `enzyme`: it is compiled for this call to a folder that vanishes, and is linked in where the call links.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::toolchain::{self, Found, LLVM_MAJOR, TOOLS, Tool};

/// A language with its compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C.
    C,
    /// C++.
    Cpp,
    /// Fortran.
    Fortran,
}

impl Language {
    fn tool(self) -> &'static Tool {
        match self {
            Language::C => &TOOLS[0],
            Language::Cpp => &TOOLS[1],
            Language::Fortran => &TOOLS[2],
        }
    }

    /// Its compiler, of the plugin's LLVM.
    pub fn compiler(self) -> Result<Found, String> {
        let tool = self.tool();
        let found = tool.find().ok_or_else(|| {
            let (name, package) = (tool.name, tool.package);
            format!(
                "{name} {LLVM_MAJOR} was not found (Debian: apt-get install {package}); {} names one elsewhere",
                tool.variable
            )
        })?;
        if !found.fits() {
            let path = found.path.display();
            return Err(format!(
                "{path} is version {}, and the plugin is for LLVM {LLVM_MAJOR}; see `enzyme doctor`",
                found.version
            ));
        }
        Ok(found)
    }
}

/// Options after which a compiler does not link.
const NO_LINK: [&str; 6] = ["-c", "-S", "-E", "-fsyntax-only", "--version", "-M"];

/// Runs the compiler; the exit status is its own.
pub fn compile(language: Language, arguments: &[OsString]) -> Result<ExitCode, String> {
    let found = language.compiler()?;
    let plugin = toolchain::plugin()?;
    let mut command = Command::new(&found.path);
    command.args(plugin_options(language, &plugin));
    // Its module lives as long as the call.
    let _module =
        if language == Language::Fortran { Some(add_module(&mut command, &found.path, arguments)?) } else { None };
    let status = command.args(arguments).status().map_err(|e| format!("{}: {e}", found.path.display()))?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}

fn plugin_options(language: Language, plugin: &Path) -> Vec<OsString> {
    let with = |option: &str, path: &Path| {
        let mut word = OsString::from(option);
        word.push(path);
        word
    };
    if language == Language::Fortran {
        return vec![with("-fpass-plugin=", plugin)];
    }
    let mut options = vec![OsString::from("--start-no-unused-arguments"), with("-fpass-plugin=", plugin)];
    // So that the plugin's options exist when they are read.
    options.extend(["-Xclang", "-load", "-Xclang"].map(OsString::from));
    options.push(plugin.as_os_str().to_owned());
    if let Some(prefix) = plugin.parent().and_then(Path::parent) {
        options.push(with("-I", &prefix.join("include")));
    }
    options.push(OsString::from("--end-no-unused-arguments"));
    options
}

/// Compiles the module to a folder of its own; it is linked where the call links and does not bring it along.
fn add_module(command: &mut Command, flang: &Path, arguments: &[OsString]) -> Result<tempfile::TempDir, String> {
    let source = toolchain::installed("share/enzyme/fortran/enzyme.f90").ok_or("the module enzyme.f90 is missing")?;
    let folder = tempfile::tempdir().map_err(|e| format!("making a folder for the module: {e}"))?;
    let object = folder.path().join("enzyme.o");
    let made = Command::new(flang).arg("-c").arg(&source).arg("-o").arg(&object).arg("-J").arg(folder.path()).output();
    let made = made.map_err(|e| format!("{}: {e}", flang.display()))?;
    if !made.status.success() {
        return Err(format!("{} could not be compiled: {}", source.display(), String::from_utf8_lossy(&made.stderr)));
    }
    command.arg("-I").arg(folder.path());
    if links(arguments) {
        command.arg(&object);
    }
    Ok(folder)
}

/// Whether a call links, and does not bring the module's object or source along.
fn links(arguments: &[OsString]) -> bool {
    let words: Vec<_> = arguments.iter().map(|a| a.to_string_lossy()).collect();
    let name = |word: &str| Path::new(word).file_name().map(|name| name.to_string_lossy().into_owned());
    let brings = |word: &str| name(word).is_some_and(|name| matches!(name.as_str(), "enzyme.f90" | "enzyme.o"));
    let is_file = |word: &str| !word.starts_with('-') && word.contains('.');
    words.iter().any(|w| is_file(w)) && !words.iter().any(|w| NO_LINK.contains(&w.as_ref()) || is_file(w) && brings(w))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links_with(words: &[&str]) -> bool {
        links(&words.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn what_links_is_known() {
        assert!(links_with(&["-O2", "a.f90", "-o", "a"]));
        assert!(links_with(&["a.o", "b.o"]));
        assert!(!links_with(&["-c", "a.f90"]));
        assert!(!links_with(&["a.f90", "enzyme.f90"]));
        assert!(!links_with(&["a.o", "lib/enzyme.o"]));
        assert!(!links_with(&["--version"]));
        assert!(!links_with(&[]));
    }
}
