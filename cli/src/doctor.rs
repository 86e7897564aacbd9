//! `enzyme doctor`: which compilers are there, whether they and the plugin are of one LLVM, and whether the plugin loads.
//!
//! Each thing that is amiss comes with the command that mends it. The exit status is 1 if C cannot be differentiated.

use std::process::Command;

use serde::Serialize;

use crate::toolchain::{self, Found, LLVM_MAJOR, TOOLS, Tool};

/// How one thing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// As it must be.
    Good,
    /// Not there; something cannot be done.
    Missing,
    /// There, and of no use.
    Wrong,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is.
    pub what: String,
    /// How it is.
    pub state: State,
    /// Where it is, its version, or what is wrong.
    pub about: String,
    /// What mends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mend: Option<String>,
    /// Without it nothing can be done.
    pub needed: bool,
}

/// All findings, in the order in which they are to be mended.
pub fn examine() -> Vec<Finding> {
    let mut out = vec![plugin()];
    out.extend(TOOLS.iter().map(|tool| describe(tool, tool.find())));
    out.push(rust(toolchain::llvm_of_rustc()));
    if let (Ok(plugin), Some(clang)) = (toolchain::plugin(), TOOLS[0].find().filter(Found::fits)) {
        let mut command = Command::new(&clang.path);
        let mut load = std::ffi::OsString::from("-fpass-plugin=");
        load.push(&plugin);
        let tried = command.arg(load).args(["-O1", "-x", "c", "-c", "/dev/null", "-o", "/dev/null"]).output();
        let (state, about) = match tried {
            Ok(out) if out.status.success() => (State::Good, "clang loads it".to_owned()),
            Ok(out) => (State::Wrong, String::from_utf8_lossy(&out.stderr).trim().to_owned()),
            Err(error) => (State::Wrong, error.to_string()),
        };
        let mend = (state != State::Good)
            .then(|| "build the plugin against the LLVM of this clang: LLVM_CONFIG=... make".to_owned());
        out.push(Finding { what: "loading".to_owned(), state, about, mend, needed: true });
    }
    out
}

fn plugin() -> Finding {
    let (state, about, mend) = match toolchain::plugin() {
        Ok(path) => (State::Good, path.display().to_string(), None),
        Err(why) => (State::Missing, why, Some("make install PREFIX=...".to_owned())),
    };
    Finding { what: "plugin".to_owned(), state, about, mend, needed: true }
}

fn describe(tool: &Tool, found: Option<Found>) -> Finding {
    let package = tool.package;
    let install = format!("apt-get install {package}    (or set {})", tool.variable);
    let (state, about, mend) = match found {
        Some(found) if found.fits() => (State::Good, format!("{} {}", found.path.display(), found.version), None),
        Some(found) => {
            let about = format!("{} is version {}, not {LLVM_MAJOR}", found.path.display(), found.version);
            (State::Wrong, about, Some(install))
        }
        None => (State::Missing, format!("not found: no {}", tool.purpose), Some(install)),
    };
    Finding { what: tool.name.to_owned(), state, about, mend, needed: tool.needed }
}

/// Whether the bitcode of rustc, whose LLVM has this version, can be linked with the plugin.
fn rust(version: Option<String>) -> Finding {
    let fits = version.as_deref().is_some_and(|v| v.split('.').next() == Some(LLVM_MAJOR.to_string().as_str()));
    let (state, about) = match version {
        Some(version) if fits => (State::Good, format!("its LLVM is {version}, as the plugin's")),
        Some(version) => (State::Wrong, format!("its LLVM is {version}, and the plugin is for LLVM {LLVM_MAJOR}")),
        None => (State::Missing, "not found: no Rust".to_owned()),
    };
    let mend = (!fits).then(|| "rustup toolchain install 1.95    (docs/rust.md)".to_owned());
    Finding { what: "rustc".to_owned(), state, about, mend, needed: false }
}

/// Whether C can be differentiated.
pub fn is_well(findings: &[Finding]) -> bool {
    findings.iter().all(|f| !f.needed || f.state == State::Good)
}

/// For people: a line for each finding, and what mends it below.
pub fn text(findings: &[Finding]) -> String {
    let mut out = String::new();
    for f in findings {
        let mark = match f.state {
            State::Good => "ok",
            State::Missing => "missing",
            State::Wrong => "WRONG",
        };
        out.push_str(&format!("{mark:8} {:8} {}\n", f.what, f.about));
        if let Some(mend) = &f.mend {
            out.push_str(&format!("{:17} mend: {mend}\n", ""));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn what_is_amiss_comes_with_what_mends_it() {
        let old =
            describe(&TOOLS[0], Some(Found { path: PathBuf::from("/usr/bin/clang"), version: "14.0.6".to_owned() }));
        assert_eq!(old.state, State::Wrong);
        assert!(text(std::slice::from_ref(&old)).contains("mend: apt-get install clang-22"));
        assert!(!is_well(&[old]));
        assert_eq!(rust(Some("22.1.2".to_owned())).state, State::Good);
        assert_eq!(rust(Some("21.1.0".to_owned())).state, State::Wrong);
        let none = describe(&TOOLS[2], None);
        assert_eq!(none.state, State::Missing);
        assert!(is_well(&[none]));
    }
}
