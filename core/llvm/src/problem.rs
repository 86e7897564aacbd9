//! What goes wrong at the rim: in the input, or in what was asked to be written.

use enzyme_ir::LocId;
use thiserror::Error;

/// Why an import, a preparation, an export or a replacement was not possible. Nothing was changed then.
///
/// In import it is the user's program that holds what we cannot represent; in export it is the caller's function that
/// is malformed.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("in function '{function}': {message}")]
pub struct Problem {
    /// What is wrong.
    pub message: String,
    /// The function in which it is, by its symbol.
    pub function: String,
    /// Place in the source, if known.
    pub loc: Option<LocId>,
}

impl Problem {
    /// A problem without a place.
    pub fn new(function: impl Into<String>, message: impl Into<String>) -> Problem {
        Problem { message: message.into(), function: function.into(), loc: None }
    }
}
