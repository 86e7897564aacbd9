//! The facade: finds markers in a module, differentiates, replaces them. One straight pipeline, in [`pipeline`].

#![forbid(unsafe_code)]

mod batch;
pub mod codes;
pub mod compiler;
mod fortran;
mod forward_split;
pub mod marker;
pub mod named;
pub mod pipeline;
pub mod report;
mod rules;
mod tape_size;
pub mod trees;
mod truncate;
pub mod wrapper;

pub use codes::Code;
pub use enzyme_diff::Story;
pub use enzyme_diff::story;
pub use pipeline::{explain, run};
pub use report::Report;
