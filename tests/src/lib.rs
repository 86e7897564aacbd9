//! Whole programs through clang: what the corpus runner, the tests of refusals, the benchmark and the demonstration share.
//!
//! [`toolchain`] knows where clang, the plugin and the command `enzyme` are, [`process`] runs programs within a time limit, and
//! [`corpus`] knows the programs of `tests/corpus/` and what they print, [`kernels`] those of `tests/bench/` and [`others`] the tools
//! that they are compared with; [`results`] is what was measured of the latter two. Nothing here depends on a crate of the project: the plugin is met as users meet it, as a file
//! that clang loads.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod corpus;
pub mod fuzz;
pub mod kernels;
pub mod others;
pub mod process;
pub mod results;
pub mod table;
pub mod toolchain;

/// What went wrong, in words for whoever runs the tests.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A program that is needed could not be started or read.
    #[error("{what}: {source}")]
    Io {
        /// What was being done.
        what: String,
        /// Why it failed.
        source: std::io::Error,
    },
    /// Something that `make` builds is not there.
    #[error("{what} is not there ({path}): run `make`")]
    NotBuilt {
        /// What it is.
        what: &'static str,
        /// Where it was looked for.
        path: String,
    },
    /// A check failed.
    #[error("{0}")]
    Failed(String),
}

impl Error {
    /// Wraps an I/O error with what was being done.
    pub fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}

/// The result of most functions here.
pub type Result<T, E = Error> = std::result::Result<T, E>;
