//! Rust programs with derivatives, in one binary: a link with all of them takes as long as a link with one. `tests/tests/rust.rs` builds it at several
//! levels of optimisation and reads what it prints: `ok NAME` or `WRONG NAME` for each gradient.

mod basics;
mod check;
mod crates;
mod language;
mod memory;
mod programs;
mod science;
mod streams;

fn main() {
    if std::env::args().any(|word| word == "selftest") {
        // A gradient that is wrong in one component.
        check::gradient("selftest", &[2.0, 4.00001], &[1.0, 2.0], |x| x[0] * x[0] + x[1] * x[1]);
        return;
    }
    if let Some(word) = std::env::args().nth(1) {
        return match word.as_str() {
            "leaks" => memory::run(false),
            "forget" => memory::run(true),
            _ => corpus(Some(&word)),
        };
    }
    basics::run();
    language::run();
    science::run();
    streams::run();
    crates::run();
    corpus(None);
}

/// The corpus: all programs, or those whose names contain a word.
fn corpus(word: Option<&str>) {
    programs::run(word);
}
