//! Other formats: functions whose operations are done in one (`__enzyme_truncate_op_func`), whose memory holds values of one
//! (`__enzyme_truncate_mem_func`), whole modules (`-enzyme-truncate-all`). Nothing is differentiated.
//!
//! A function is followed by the number of bits of the format that is replaced, 64, 32 or 16, and by that of the other one, or by
//! how many bits of exponent and of digits that has. What memory holds of a narrower format are values of the type that is
//! replaced, so both kinds of functions are the same; of a wider one it holds where a number is kept (`<enzyme/fprt/mpfr.h>`).

use std::collections::BTreeSet;

use enzyme_llvm::{MarkerCall, MarkerValue, Session};

use crate::codes;
use crate::marker;
use crate::report::{Report, from_problem};

/// Part of the names of markers for functions.
pub const TRUNCATE: &str = "__enzyme_truncate_op_func";
/// The same, for functions whose memory holds narrower values.
pub const TRUNCATE_MEMORY: &str = "__enzyme_truncate_mem_func";
/// How names of functions begin that compute with numbers in a table (`<enzyme/fprt/mpfr.h>`).
pub const KEPT: &str = "__enzyme_fprt_";
/// Parts of the names of markers for values, of which only those are left that say no format.
pub const VALUES: [&str; 2] = ["__enzyme_truncate_mem_value", "__enzyme_expand_mem_value"];

const FORMATS: &str = "the first has 64, 32 or 16 bits; the second as well, or 80, 128 or a multiple of 32 bits, or so many bits of exponent (2 to 30) and of digits";

/// What is said of a marker for a value that was not understood.
pub fn no_value(call: &MarkerCall) -> Report {
    let why = format!("'{}' takes a value and the constant widths of two formats, not the same", call.callee);
    Report::new(codes::E0105, why).note(FORMATS)
}

/// Rounds all operations of the module, as the option says: `64to32`, `11-52to8-7`, several with semicolons.
pub fn all(session: &mut Session, option: &str) -> Result<(), Report> {
    let parts: Vec<&str> = option.split(';').filter(|p| !p.trim().is_empty()).collect();
    if parts.is_empty() {
        return Ok(());
    }
    if let Err(problem) = session.verify() {
        return Err(from_problem(&problem, codes::E0110));
    }
    let mut replaced = BTreeSet::new();
    for part in parts {
        let done = formats(part).is_some_and(|(from, to)| replaced.insert(from) && session.truncate_all(from, to));
        if !done {
            let why = format!("'-enzyme-truncate-all={part}' names no two formats, or replaces one again");
            return Err(
                Report::new(codes::E0105, why).note("as in 64to32, or 11-52to8-7: bits of exponent and of digits")
            );
        }
    }
    Ok(())
}

fn formats(part: &str) -> Option<(u32, (u32, u32, u32))> {
    let (from, to) = part.trim().split_once("to")?;
    let pair = |s: &str| s.split_once('-').and_then(|(e, d)| Some((e.parse().ok()?, d.parse().ok()?)));
    let from = match pair(from) {
        Some((11, 52)) => 64,
        Some((8, 23)) => 32,
        Some((5, 10)) => 16,
        Some(_) => return None,
        None => from.parse().ok()?,
    };
    Some((from, pair(to).map_or_else(|| to.parse().ok().map(|bits| (bits, 0, 0)), |(e, d)| Some((0, e, d)))?))
}

/// Replaces the call.
pub fn replace(session: &mut Session, call: &MarkerCall) -> Result<(), Report> {
    let function = marker::function_of(call)?;
    let number = |at: usize| match call.args.get(at).map(|a| &a.value) {
        Some(MarkerValue::ConstInt(n)) => u32::try_from(*n).ok(),
        _ => None,
    };
    let to = match (call.args.len(), number(2), number(3)) {
        (3, Some(bits), None) => Some((bits, 0, 0)),
        (4, Some(exponent), Some(digits)) => Some((0, exponent, digits)),
        _ => None,
    };
    let (Some(from), Some(to)) = (number(1), to) else {
        let why = format!("'{}' takes a function and the constant widths of two formats", call.callee);
        return Err(Report::new(codes::E0105, why));
    };
    if !session.has_body(function) {
        let name = session.ir.funcs[function].name.clone();
        return Err(Report::new(codes::E0104, format!("'{name}' has no body here")));
    }
    let memory = call.callee.contains(TRUNCATE_MEMORY);
    session.truncate(call, function, from, to, memory).map_err(|why| match why.as_str() {
        "" => Report::new(codes::E0105, format!("'{}' knows no such formats, or they are the same", call.callee))
            .note(FORMATS),
        _ => Report::new(codes::E0105, format!("'{}' can't change the format: {why}", call.callee)),
    })
}
