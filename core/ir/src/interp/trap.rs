//! Why a run stopped early.
//!
//! Everything a program can do wrong ends in a [`Trap`], never in a panic of the interpreter. A trap raised while
//! an instruction runs carries the [`Place`] of that instruction and the functions that were calling.

use std::fmt;

use crate::ids::InstId;

/// Where a trap was raised.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// Function being run.
    pub func: String,
    /// The instruction, absent for the body of an external function.
    pub inst: Option<InstId>,
    /// Name of its operation.
    pub op: String,
    /// Source location, if the instruction has one.
    pub source: Option<String>,
    /// The calling functions, innermost first, at most eight.
    pub callers: Vec<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in `{}`", self.func)?;
        if let Some(inst) = self.inst {
            write!(f, ", {inst} ({})", self.op)?;
        }
        if let Some(source) = &self.source {
            write!(f, " at {source}")?;
        }
        for caller in &self.callers {
            write!(f, ", called by `{caller}`")?;
        }
        Ok(())
    }
}

/// Why a run stopped before its function returned.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Trap {
    /// The program did what has no defined meaning: a bad access, a division by zero, `unreachable`, `abort`.
    #[error("{message}{}", suffix(place))]
    Fault {
        /// What happened.
        message: String,
        /// Where.
        place: Option<Box<Place>>,
    },
    /// The program is fine, but uses what the interpreter does not know.
    #[error("not supported by the interpreter: {message}{}", suffix(place))]
    Unsupported {
        /// What is not known.
        message: String,
        /// Where.
        place: Option<Box<Place>>,
    },
    /// A limit of [`Config`](super::Config) was reached.
    #[error("limit reached: {message}{}", suffix(place))]
    Limit {
        /// Which limit.
        message: String,
        /// Where.
        place: Option<Box<Place>>,
    },
    /// The program called `exit` or a relative of it.
    #[error("the program exited with status {0}")]
    Exit(i32),
}

fn suffix(place: &Option<Box<Place>>) -> String {
    place.as_ref().map(|p| format!(" ({p})")).unwrap_or_default()
}

impl Trap {
    /// A fault without a place.
    pub fn fault(message: impl Into<String>) -> Trap {
        Trap::Fault { message: message.into(), place: None }
    }
    /// An unsupported item without a place.
    pub fn unsupported(message: impl Into<String>) -> Trap {
        Trap::Unsupported { message: message.into(), place: None }
    }
    /// A limit without a place.
    pub fn limit(message: impl Into<String>) -> Trap {
        Trap::Limit { message: message.into(), place: None }
    }

    /// Where the trap was raised, if it is known.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Trap::Fault { place, .. } | Trap::Unsupported { place, .. } | Trap::Limit { place, .. } => place.as_deref(),
            Trap::Exit(_) => None,
        }
    }

    /// The trap with a place, unless it has one already.
    pub(super) fn with_place(mut self, make: impl FnOnce() -> Place) -> Trap {
        match &mut self {
            Trap::Fault { place, .. } | Trap::Unsupported { place, .. } | Trap::Limit { place, .. } => {
                if place.is_none() {
                    *place = Some(Box::new(make()));
                }
            }
            Trap::Exit(_) => {}
        }
        self
    }
}
