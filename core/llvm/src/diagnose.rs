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
    /// Text; further lines are notes.
    pub message: String,
    /// The function it is about, where it has a counterpart in the LLVM module.
    pub function: Option<FuncId>,
    /// The place in the source, if known.
    pub loc: Option<LocId>,
}

impl Session {
    /// Hands `diagnostic` to the host. Some hosts (opt, by default) end the process at an error, after printing it.
    ///
    /// A location with a chain of inlined calls is reported where the code was written.
    pub fn diagnose(&mut self, diagnostic: &Diagnostic) {
        let function = diagnostic.function.and_then(|f| self.llvm_function(f));
        let loc = diagnostic.loc.and_then(|l| self.llvm_loc(l));
        // SAFETY: the host, the function and the location belong to this session's module, which is alive.
        unsafe { report_on(self.host, diagnostic, function, loc) };
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
    unsafe { ffi::enz_diagnose(host, severity, function, loc, Str::of(&diagnostic.message)) };
}
