//! What can be said of a function before it is differentiated: memory classes, carried floats, activity.
//!
//! Inputs are immutable; every result is an owned value that keeps its reasons. [`Units`] holds what does not depend on
//! a request; [`Activities`] what does.

#![forbid(unsafe_code)]

pub mod activity;
mod bits;
pub mod callee;
pub mod carry;
pub mod exceptions;
mod given;
mod hidden;
mod lanes;
pub mod memory;
pub mod numbers;
mod observing;
pub mod packed;
pub mod print;
pub mod program;
mod reworked;
mod rounding;
mod ruled;
pub mod text;
pub mod timing;
mod transfers;
pub mod useful;
pub mod uses;

pub use activity::{Activities, Activity, Conflict, Context, Reason, State};
pub use callee::{Callee, resolve};
pub use carry::Carry;
pub use given::Given;
pub use memory::{ClassId, FuncMemory, Object};
pub use program::{Program, Unit, Units};
pub use timing::Timing;
pub use uses::Uses;
