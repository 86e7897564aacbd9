//! The differential generator: random programs whose derivatives are taken in several ways and compared.
//!
//! [`generate`] writes C programs as [`tree`]s, [`run`] compiles them in batches and sorts what comes of them, [`reduce`] makes
//! failing ones small, [`reshape`] gives the compiler's passes a turn first. What is checked is told in `tests/fuzz/check.c`.

mod asked;
pub mod generate;
mod helpers;
pub mod mutate;
mod overlaps;
pub mod reduce;
pub mod reshape;
pub mod run;
pub mod scale;
mod statements;
mod sweeps;
pub mod tree;
