//! The facade: finds markers in a module, differentiates, replaces them. One straight pipeline, in [`pipeline`]. Compilers that use the
//! engine as a library begin at [`derive()`].

#![forbid(unsafe_code)]

mod batch;
pub mod codes;
pub mod compiler;
mod fortran;
mod forward_split;
pub mod library;
pub mod marker;
pub mod named;
mod names;
pub mod pipeline;
pub mod report;
mod retry;
mod rules;
mod tape_size;
pub mod trees;
mod truncate;
pub mod wrapper;

pub use codes::Code;
pub use enzyme_diff::Story;
pub use enzyme_diff::story;
pub use enzyme_llvm::{Options, Told};
pub use library::{Failed, derive};
pub use named::{Activity, Named};
pub use pipeline::{explain, run};
pub use report::Report;
