//! Calls of markers from Fortran: external procedures without an interface, to which everything is passed by reference.
//!
//! So an integer arrives as an address: it is constant unless an annotation says otherwise. A parameter with the attribute `value`
//! is read from where its argument lies. An array that the function describes to itself by its shape (`x(:)`, `allocatable`,
//! `pointer`) needs an interface of the marker: without one its bare address arrives, which is refused.

use enzyme_ir::{Module, Type, TypeId};
use enzyme_llvm::{MarkerCall, Session};

use crate::codes;
use crate::marker::Marker;
use crate::report::Report;

/// The beginnings of the symbols of markers; programs declare interfaces of their own under names that begin so.
pub const GRAD: &str = "enzyme_grad_";
/// As [`GRAD`], by the name that other tools use.
pub const AUTODIFF: &str = "enzyme_autodiff_";
/// A function that returns the value of the function, too.
pub const VALUE_AND_GRAD: &str = "enzyme_value_and_grad_";
/// A function that returns the tangent of the function's result.
pub const JVP: &str = "enzyme_jvp_";
/// As [`JVP`], by the name that other tools use.
pub const FWDDIFF: &str = "enzyme_fwddiff_";

/// Whether a marker is called from Fortran: its compilers put an underscore behind names.
pub fn is_fortran(callee: &str) -> bool {
    callee.ends_with('_') && !callee.starts_with('_')
}

/// Whether argument `at` of a call from Fortran is the address of what the function takes by value.
pub fn is_behind(module: &Module, call: &MarkerCall, at: usize, ty: TypeId) -> bool {
    let types = &module.ctx.types;
    let is_scalar = matches!(types[ty], Type::Int(_) | Type::Float(_));
    is_scalar && call.args.get(at).is_some_and(|a| matches!(types[a.ty], Type::Ptr(_))) && is_fortran(&call.callee)
}

/// Refuses arrays of which the function wants more than the address, where that is all that is given.
pub fn check_shapes(session: &Session, call: &MarkerCall, marker: &Marker) -> Result<(), Report> {
    if !is_fortran(&call.callee) {
        return Ok(());
    }
    for (n, p) in (0..).zip(&marker.params) {
        let given = std::iter::once(&p.primal).chain(&p.shadows);
        let bare = given.map(|lane| &call.args[lane.arg]).any(|a| !a.descriptor);
        if bare && session.wants_descriptor(marker.func, n) {
            let name = &session.ir.funcs[marker.func].name;
            let what = format!("argument {} of '{name}' is an array of assumed shape, allocatable or a pointer", n + 1);
            return Err(Report::new(codes::E0105, what)
                .note("without an interface of the marker, only the address of its first element is passed")
                .note(format!(
                    "declare an interface, under a name of your own that begins with '{GRAD}', with such arrays"
                )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_fortran;

    #[test]
    fn names_of_c_are_not_those_of_fortran() {
        assert!(is_fortran("enzyme_grad_"));
        assert!(is_fortran("enzyme_grad_assumed_"));
        for name in
            ["enzyme_grad", "enzyme_grad_norm", "__enzyme_autodiff", "__enzyme_autodiff_", "_Z17__enzyme_autodiff_"]
        {
            assert!(!is_fortran(name), "{name}");
        }
    }
}
