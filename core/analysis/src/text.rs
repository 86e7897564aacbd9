//! Functions of Rust's own library that make text of values or values of text, its locks and its panics, by what their symbols spell.
//!
//! The rim marks them (`core/llvm/bridge/rust.cpp`), so that they have no bodies and are of one of the rows `enzyme.rust.*`; which of a row's
//! functions it is says the path, whose parts stand in the symbol behind their lengths.

use enzyme_ir::{Const, Func, FuncId, InstId, Module, ValueId};

use crate::callee::name_of;

const TEXT: [&str; 2] = ["enzyme.rust.text", "enzyme.rust.shows"];
const SYSTEM: [&str; 2] = ["enzyme.rust.system", "enzyme.rust.reads"];
/// Of paths by which text is made of values.
const MADE: [&str; 4] = ["3fmt", "flt2dec", "ToString", "to_string"];
const ENDS: &str = "enzyme.rust.ends";
/// Of paths by which a panic begins with a value of the program's, which whoever catches it gets.
const CARRIES: [&str; 4] = ["panic_any", "begin_panic", "resume_unwind", "rust_panic"];
/// Of the path of what makes floats of text.
const PARSER: &str = "7dec2flt";
const LOCKS: [&str; 2] = ["3sys4sync5mutex", "3sys4sync6rwlock"];
/// What prints to the terminal, where it writes nothing that it is given.
const PRINTS: [&str; 2] = ["5stdio6__print", "5stdio7__eprint"];

/// The symbol of what `i` calls, if it is of one of these rows.
fn symbol<'a>(module: &'a Module, func: &Func, i: InstId, rows: &[&str]) -> Option<&'a str> {
    marked(module, module.direct_callee(func, i)?, rows)
}

fn marked<'a>(module: &'a Module, f: FuncId, rows: &[&str]) -> Option<&'a str> {
    let known = module.funcs[f].is_declaration() && rows.contains(&name_of(module, f));
    known.then_some(module.funcs[f].name.as_str())
}

/// Whether `i` may make text of values.
pub fn is_made(module: &Module, func: &Func, i: InstId) -> bool {
    symbol(module, func, i, &TEXT).is_some_and(|name| MADE.iter().any(|part| name.contains(part)))
}

/// Whether `i` begins a panic that carries what it is given.
pub fn is_panic_with_value(module: &Module, func: &Func, i: InstId) -> bool {
    symbol(module, func, i, &[ENDS]).is_some_and(|name| CARRIES.iter().any(|part| name.contains(part)))
}

/// Whether `v` is a function that makes a float of text.
pub fn is_parser(module: &Module, func: &Func, v: ValueId) -> bool {
    match func.as_const(v).map(|c| &module.ctx.consts[c]) {
        Some(Const::Func(f)) => marked(module, *f, &TEXT).is_some_and(|name| name.contains(PARSER)),
        _ => false,
    }
}

/// Whether `i` prints, or does with a lock what is more than a few instructions: no float is written by it.
pub fn writes_no_float(module: &Module, func: &Func, i: InstId) -> bool {
    let is_one = |name: &str| LOCKS.iter().chain(&PRINTS).any(|part| name.contains(part));
    symbol(module, func, i, &SYSTEM).is_some_and(is_one)
}
