//! Diagnostics through the host compiler's own machinery.
//!
//! LLVM's context hands a diagnostic to whoever compiles: clang prints `file.c:12:3: error: ...` with the line quoted, counts
//! the error and writes no output; opt, lld, flang and rustc print it in their ways and fail. Without debug information
//! clang still finds the line of the function.

use enzyme_ir::{FuncId, LocId};

use crate::ffi::{self, HostRef, LocRef, Str, ValueRef};
use crate::session::Session;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// Compilation fails.
    Error,
    /// Compilation goes on.
    Warning,
    /// Information the user asked for.
    Remark,
}

/// A message for the user.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Code that users can look up; empty if there is none.
    pub code: &'static str,
    /// What is said.
    pub message: String,
    /// Why, one line each.
    pub notes: Vec<String>,
    /// What to do; may be empty.
    pub help: &'static str,
    /// The function it is about, where it has a counterpart in the LLVM module.
    pub function: Option<FuncId>,
    /// The place in the source, if known.
    pub loc: Option<LocId>,
}

impl Diagnostic {
    /// The text that a host prints.
    pub fn text(&self) -> String {
        let mut out = if self.code.is_empty() { String::new() } else { format!("[{}] ", self.code) };
        out.push_str(&self.message);
        let help = Some(self.help).filter(|help| !help.is_empty());
        for (what, line) in self.notes.iter().map(|n| ("note", n.as_str())).chain(help.map(|help| ("help", help))) {
            out.push_str(&format!("\n  {what}: {line}"));
        }
        out
    }
}

/// A diagnostic that was kept, with its place by name.
#[derive(Clone, PartialEq, Debug)]
pub struct Told {
    /// What was said.
    pub diagnostic: Diagnostic,
    /// The function; empty if not known.
    pub function: String,
    /// The file; empty if not known.
    pub file: String,
    /// Line, from 1; 0 if not known.
    pub line: u32,
    /// Column, from 1; 0 if not known.
    pub column: u32,
}

impl Told {
    /// Whether another says the same of the same place, for whatever reasons; functions may be copies of each other there. Without a
    /// place all that is said must be the same.
    fn says_the_same(&self, other: &Told) -> bool {
        let what = |told: &Told| (told.diagnostic.code, told.line, told.column);
        if what(self) != what(other) || self.diagnostic.message != other.diagnostic.message || self.file != other.file {
            return false;
        }
        self.line > 0 || self.function == other.function && self.diagnostic.notes == other.diagnostic.notes
    }
}

impl std::fmt::Display for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.file.as_str(), self.function.as_str()) {
            ("", "") => {}
            ("", function) => write!(f, "in function {function}: ")?,
            (file, _) => write!(f, "{file}:{}:{}: ", self.line, self.column)?,
        }
        f.write_str(&self.diagnostic.text())
    }
}

impl Session {
    /// Hands `diagnostic` to the host. Some hosts (opt, by default) end the process at an error, after printing it.
    ///
    /// Of a location with a chain of inlined calls the caller says which is reported. What is met on several paths is said once.
    pub fn diagnose(&mut self, diagnostic: &Diagnostic) {
        let told = self.place(diagnostic);
        let keeps = self.kept.is_some();
        // Who keeps them asks what was refused.
        if keeps && diagnostic.severity != Severity::Error {
            return;
        }
        let list = self.kept.as_mut().unwrap_or(&mut self.said);
        if list.iter().any(|earlier| earlier.says_the_same(&told)) {
            return;
        }
        list.push(told);
        if keeps {
            return;
        }
        let function = diagnostic.function.and_then(|f| self.llvm_function(f));
        let loc = diagnostic.loc.and_then(|l| self.llvm_loc(l));
        // SAFETY: the host, the function and the location belong to this session's module, which is alive.
        unsafe { report_on(self.host, diagnostic, function, loc) };
    }

    /// Keeps errors from here on instead of handing them to the host, and nothing else.
    pub fn keep_diagnostics(&mut self) {
        self.kept.get_or_insert_default();
    }

    /// What was kept since the last call.
    pub fn take_diagnostics(&mut self) -> Vec<Told> {
        self.kept.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn place(&self, diagnostic: &Diagnostic) -> Told {
        let function = diagnostic.function.and_then(|f| self.ir.funcs.get(f)).map(|f| f.name.clone());
        let loc = diagnostic.loc.and_then(|l| self.ir.locs.get(l));
        Told {
            diagnostic: diagnostic.clone(),
            function: function.unwrap_or_default(),
            file: loc.map(|l| l.file.clone()).unwrap_or_default(),
            line: loc.map_or(0, |l| l.line),
            column: loc.map_or(0, |l| l.column),
        }
    }
}

/// Hands a diagnostic to the context of `host`.
///
/// # Safety
///
/// `host` must be alive; `function` and `loc` must belong to its module.
pub(crate) unsafe fn report_on(
    host: HostRef,
    diagnostic: &Diagnostic,
    function: Option<ValueRef>,
    loc: Option<LocRef>,
) {
    let severity = match diagnostic.severity {
        Severity::Error => 0,
        Severity::Warning => 1,
        Severity::Remark => 2,
    };
    // SAFETY: by this function's contract; the message is borrowed for the call.
    unsafe { ffi::enz_diagnose(host, severity, function, loc, Str::of(&diagnostic.text())) };
}
