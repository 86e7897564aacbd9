//! The project's own build program: builds what users load, runs all checks, keeps generated files fresh.
//!
//! It depends on nothing of LLVM, so it builds first and can say what is missing. `main.rs` is the command line; the checks on
//! the project's own shape are in [`tidy`] and run as ordinary tests too (`cargo test -p xtask`).
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod artefacts;
pub mod ci;
pub mod command;
pub mod format;
pub mod fuzz;
pub mod generate;
pub mod llvm;
pub mod programs;
pub mod project;
pub mod tidy;
