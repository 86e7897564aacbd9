//! `__enzyme_truncate_op_func`: a function whose operations are done in a narrower format. Nothing is differentiated.
//!
//! The function is followed by the number of bits of the format that is replaced, and by that of the other one, or by how many bits
//! of exponent and of digits that has. Only formats that a type of LLVM has: 64, 32 and 16 bits, (8, 7) for bfloat.

use enzyme_llvm::{MarkerCall, MarkerValue, Session};

use crate::codes;
use crate::marker;
use crate::report::Report;

/// Part of the names of the marker.
pub const TRUNCATE: &str = "__enzyme_truncate_op_func";

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
    if session.truncate(call, function, from, to) {
        return Ok(());
    }
    let why = format!("'{}' knows no such formats, or the second is not narrower", call.callee);
    Err(Report::new(codes::E0105, why).note("formats of 64, 32 and 16 bits, (8, 7) for bfloat"))
}
