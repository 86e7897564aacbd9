//! The pass as hosts run it: plugin information, phases, and the boundary that no panic crosses.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use crate::diagnose::{Diagnostic, Severity};
use crate::ffi::{self, HostRef};
use crate::options::Options;
use crate::session::Session;

/// Where in a compilation the pass runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Named in a pipeline (`opt -passes=enzyme`).
    Explicit,
    /// One file, without link-time optimisation.
    Compile,
    /// One file that a link-time phase may follow: what needs functions without a body here may be left for it.
    PreLink,
    /// One module of a thin link.
    ThinLink,
    /// The whole program, in a full link.
    FullLink,
}

impl Phase {
    /// Whether markers that need a body from another file may be left alone.
    pub fn may_defer(self) -> bool {
        self == Phase::PreLink
    }

    fn from_raw(raw: u32) -> Option<Phase> {
        match raw {
            0 => Some(Phase::Explicit),
            1 => Some(Phase::Compile),
            2 => Some(Phase::PreLink),
            3 => Some(Phase::ThinLink),
            4 => Some(Phase::FullLink),
            _ => None,
        }
    }
}

/// Optimisation level of the host's pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Level {
    /// 0 to 3, as in `-O2`.
    pub speed: u32,
    /// 1 for `-Os`, 2 for `-Oz`, else 0.
    pub size: u32,
}

impl Default for Level {
    fn default() -> Level {
        Level { speed: 2, size: 0 }
    }
}

/// What is run on each module; returns whether the module was changed.
pub type Handler = fn(&mut Session, &Options, Phase, Level) -> bool;

static HANDLER: OnceLock<Handler> = OnceLock::new();

/// Sets what the pass does. The first call decides, as a plugin has one purpose for the life of the process.
pub fn set_handler(handler: Handler) {
    let _ = HANDLER.set(handler);
}

/// The structure that hosts ask a plugin for.
pub fn plugin_info() -> ffi::PluginInfo {
    let mut info = ffi::PluginInfo {
        api: 0,
        name: std::ptr::null(),
        version: std::ptr::null(),
        register_callbacks: std::ptr::null_mut(),
        pre_codegen: std::ptr::null_mut(),
    };
    // SAFETY: `info` is valid to write to; `run` has the signature of the declaration.
    unsafe { ffi::enz_plugin_info(&raw mut info, run) };
    info
}

/// Says once which of the flags given do nothing.
fn note_once() {
    static NOTED: std::sync::Once = std::sync::Once::new();
    NOTED.call_once(|| {
        let given = crate::options::given_without_effect();
        if !given.is_empty() {
            eprintln!("note: without effect here: -{} (docs/compat.md says why)", given.join(", -"));
        }
    });
}

unsafe extern "C" fn run(host: HostRef, phase: u32, speed: u32, size: u32) -> u8 {
    let Some(handler) = HANDLER.get() else { return 0 };
    let result = catch_unwind(AssertUnwindSafe(|| {
        let options = Options::from_command_line();
        note_once();
        let Some(phase) = Phase::from_raw(phase).filter(|_| options.enable) else { return false };
        // SAFETY: the bridge passes a host whose module is alive during the call and used by nobody else.
        let mut session = unsafe { Session::new(host) };
        handler(&mut session, &options, phase, Level { speed, size })
    }));
    match result {
        Ok(changed) => u8::from(changed),
        Err(panic) => {
            let what = panic.downcast_ref::<String>().map(String::as_str);
            let what = what.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unknown cause");
            let message = format!("internal error in Enzyme, please report it: {what}");
            let (code, notes, help) = ("", Vec::new(), "");
            let report =
                Diagnostic { severity: Severity::Error, code, message, notes, help, function: None, loc: None };
            // SAFETY: the host is alive during this call.
            unsafe { crate::diagnose::report_on(host, &report, None, None) };
            1
        }
    }
}
