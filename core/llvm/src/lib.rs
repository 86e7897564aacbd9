//! The rim: LLVM functions to snapshots and back.
//!
//! This is the only room that knows LLVM, and (with the plugin and the C API, which are thin) the only one with `unsafe`.
//! Everything it offers speaks of [`enzyme_ir`] and of small plain structures; no LLVM type leaves it. Below the
//! safe wrappers lie the declarations of [`ffi`] and, in `bridge/`, C++ functions that describe LLVM's objects as flat
//! structures with numbers of our own: whatever depends on the version of LLVM is there.
//!
//! # How a module is differentiated
//!
//! A [`Session`] stands for one LLVM module and owns the [`enzyme_ir::Module`] that mirrors it, in its public field
//! [`Session::ir`]. The caller adds functions there (`session.ir.funcs.push(func)`) and exports them:
//!
//! ```text
//! fn handler(session: &mut Session, options: &Options, phase: Phase, level: Level) -> bool {  // set by pass::set_handler
//!     let calls = session.find_marker_calls(&["__enzyme_autodiff"]);                // Vec<MarkerCall>, in order
//!     for call in &calls {
//!         let MarkerValue::Function(f) = call.args[0].value else { ... };           // declared in session.ir
//!         session.define_body(f, &PrepareOptions::default())?;                      // prepared clone -> session.ir.funcs[f]
//!         let facts = session.facts(f);                                             // trip counts, stable loads, ...
//!         ...                                                                       // analyses, plan, synthesis
//!         let wrapper = session.ir.funcs.push(wrapper);                             // generated, like the derivative
//!         session.export(&[derivative, wrapper])?;                                  // declares all, then defines all
//!         session.replace_marker(call, wrapper)?;                                   // the call now calls the wrapper
//!     }
//!     session.optimise(&generated, &calls, level);                                  // then inlines the wrappers
//!     session.finish(&["__enzyme_autodiff"]);                                       // clones and unused markers go
//! }
//! ```
//!
//! * [`Session::define_body`] gives the declaration `f` the body of a simplified clone (the module's own function is
//!   never changed); calls in it refer to functions of the module by [`enzyme_ir::FuncId`], declared on demand.
//!   [`Session::has_body`] says whether a declaration can be given a body. Instructions carry
//!   [`enzyme_ir::Origin`], by which export copies their metadata and attributes.
//! * [`Session::export`] writes functions of `ir` into the LLVM module. A callee that is only declared in `ir` is found by
//!   its name in the LLVM module or declared there (intrinsics by LLVM's own declaration). Functions defined by
//!   `define_body` and called from generated code mean the module's own, unchanged function.
//! * Fallible operations return [`Problem`]s: a message, the function and, if known, the place in the source.
//!   [`Session::diagnose`] hands a [`Diagnostic`] to the host compiler, which prints it in its own way and fails.
//!
//! For tools and tests (feature `link`), [`tools::OwnedModule`] reads `.ll` and `.bc` files and makes a session on them;
//! [`Session::import_module`] then brings in everything, unprepared.
//!
//! # Invariants
//!
//! No function here aborts or panics on what a user can feed. Orders are those of the module. A failed export leaves
//! no trace in the LLVM module. Marker handles stay valid until [`Session::optimise`] or [`Session::finish`].

pub mod compiler;
pub mod diagnose;
mod export;
pub mod ffi;
mod import;
pub mod markers;
pub mod options;
pub mod pass;
mod problem;
pub mod registry;
pub mod session;
mod text;
pub mod tools;

pub use diagnose::{Diagnostic, Severity, Told};
pub use markers::{MarkerArg, MarkerCall, MarkerValue};
pub use options::{OptionKind, OptionRow, Options};
pub use pass::{Level, Phase};
pub use problem::Problem;
pub use registry::{Registration, RegistrationKind};
pub use session::{Checkpoints, ExternalWrites, PrepareOptions, Session};
