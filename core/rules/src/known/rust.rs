//! Functions of Rust's own library. The rim knows them by their paths, and has them taken for the rows here; functions with the
//! symbols below need no path.
//!
//! Left out: what calls the program back (`catch_unwind`, `Once::call`), and the allocator where its body is at hand, which
//! calls that of C.

use super::*;

const fn row(title: &'static str, effects: Effects, names: &'static [Name]) -> KnownFn {
    KnownFn { title, names, what: Known::Inactive, effects, returns: None, floats: true }
}

/// The title of the row of what copies text to memory of its own.
pub(super) const COPIED: &str = "Rust: text into memory of its own";

pub(super) static ROWS: &[KnownFn] = &[
    row("Rust: functions that panic or end the program", ENDS, names!["enzyme.rust.ends"]),
    row("Rust: text of values, values of text", writes_hidden(&[0]), names!["enzyme.rust.text"]),
    row(COPIED, writes_hidden(&[0]), names!["enzyme.rust.copied"]),
    row("Rust: values that show themselves to a formatter", writes_hidden(&[1]), names!["enzyme.rust.shows"]),
    row("Rust: output, and questions to the system", writes_hidden(&[0]), names!["enzyme.rust.system"]),
    row("Rust: input", writes_hidden(&[0, 1]), names!["enzyme.rust.reads"]),
];
