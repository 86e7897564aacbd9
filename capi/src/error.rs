//! What went wrong, as data.

use std::ffi::CString;

use enzyme_llvm::Told;

use crate::types::EnzymeStatus;

/// One thing that went wrong, or several of the same call.
#[derive(Default)]
pub struct Failure {
    pub status: EnzymeStatus,
    pub items: Vec<Item>,
}

/// One diagnostic. All texts are ready for C.
#[derive(Default)]
pub struct Item {
    pub code: CString,
    pub message: CString,
    pub notes: Vec<CString>,
    pub help: CString,
    pub function: CString,
    pub file: CString,
    pub line: u32,
    pub column: u32,
}

/// Text for C: a zero within it is no end.
fn text(s: &str) -> CString {
    CString::new(s.replace('\0', "\u{fffd}")).unwrap_or_default()
}

impl Failure {
    fn new(status: EnzymeStatus, message: &str) -> Failure {
        Failure { status, items: vec![Item { message: text(message), ..Item::default() }] }
    }

    /// The caller broke a rule of this interface.
    pub fn misuse(message: impl AsRef<str>) -> Failure {
        Failure::new(EnzymeStatus::Misuse, message.as_ref())
    }

    /// The module cannot be read.
    pub fn malformed(message: impl AsRef<str>) -> Failure {
        Failure::new(EnzymeStatus::Malformed, message.as_ref())
    }

    /// Native code could not be made.
    pub fn native(message: impl AsRef<str>) -> Failure {
        Failure::new(EnzymeStatus::NoCode, message.as_ref())
    }

    /// A defect of ours.
    pub fn internal(message: &str) -> Failure {
        Failure::new(EnzymeStatus::Internal, &format!("internal error in Enzyme, please report it: {message}"))
    }

    /// A derivative that is refused.
    pub fn refused(told: &[Told]) -> Failure {
        let item = |t: &Told| Item {
            code: text(t.diagnostic.code),
            message: text(&t.diagnostic.message),
            notes: t.diagnostic.notes.iter().map(|n| text(n)).collect(),
            help: text(t.diagnostic.help),
            function: text(&t.function),
            file: text(&t.file),
            line: t.line,
            column: t.column,
        };
        Failure { status: EnzymeStatus::Refused, items: told.iter().map(item).collect() }
    }
}
