//! The reference system's C interface, for compilers that were written against it: same names, order of arguments, numbers and
//! ownership. No header declares these: those compilers bring declarations of their own.
//!
//! The references of LLVM-C that come in (modules, values, builders) cannot be checked, and belong to the caller, who loads
//! the same libLLVM as this library. Handles of ours are looked up as those of the own interface are. What goes wrong is told through
//! `CustomErrorHandler` (see `report`); the function then returns null or 0. Nothing aborts.
//!
//! What is not there is in `missing`; docs/capi.md lists it, and says what is taken without effect.

#![allow(non_snake_case, reason = "the names are the reference's")]

pub mod gradient;
pub mod helpers;
pub mod hooks;
pub mod llvm;
pub mod logic;
pub mod missing;
pub mod report;
pub mod rules;
pub mod trees;
pub mod types;
