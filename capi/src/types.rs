//! The types of the interface. What C passes as an enumeration arrives as a number, since C may pass any.

use std::ffi::c_char;

/// The version of this interface. It grows when something is taken away or changes its meaning; what is new is found by
/// its name.
pub const ENZYME_ABI_VERSION: u32 = 1;

/// How a call ended.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EnzymeStatus {
    /// All is well.
    #[default]
    Ok = 0,
    /// The caller broke a rule of this interface: a null or freed handle, a null pointer, an unknown option or version.
    Misuse = 1,
    /// The bytes are no module of LLVM IR.
    Malformed = 2,
    /// There is no derivative; the error says why, where and what to do.
    Refused = 3,
    /// Native code could not be made, or does not have the symbol.
    NoCode = 4,
    /// A defect of this library.
    Internal = 5,
}

/// What kind of derivative is asked for.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EnzymeMode {
    /// Reverse mode. For `double f(double x, double *y, int n)` it is `void g(double x, double *dx, double *y, double *dy, int n)`: adjoints
    /// are added to what lies behind `dx` and `dy`, the adjoint of the result is 1.
    Gradient = 0,
    /// Forward mode. For the same function it is `double t(double x, double dx, double *y, double *dy, int n)`: the tangent of the
    /// result is returned, tangents of memory are left behind `dy`.
    Tangent = 1,
}

/// What a parameter is to the derivative.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EnzymeActivity {
    /// What its type says: floats and pointers are active, integers are constant.
    ByType = 0,
    /// Constant: the derivative has the parameter alone.
    Const = 1,
    /// Active: behind the parameter come its tangents, or pointers to its adjoints, one for each lane.
    Active = 2,
    /// Active memory whose final content is not needed.
    NoNeed = 3,
}

/// The function's value is wanted, too: a gradient returns it; a tangent stores it through a pointer that is its last parameter.
pub const ENZYME_WITH_VALUE: u32 = 1;
/// Pointers may turn out at run time to have no shadow of their own.
pub const ENZYME_RUNTIME_ACTIVITY: u32 = 2;
/// A zero adjoint stays zero through infinite partial derivatives.
pub const ENZYME_STRONG_ZERO: u32 = 4;

/// A derivative that is asked for. Begin with all bytes zero and set what is needed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EnzymeRequest {
    /// `sizeof(EnzymeRequest)`: later versions may have more fields.
    pub size: usize,
    /// The symbol of the function, in UTF-8.
    pub function: *const c_char,
    /// The symbol that the derivative gets; null for that of the function and `_gradient` or `_tangent`.
    pub name: *const c_char,
    /// An `EnzymeMode`.
    pub mode: u32,
    /// `ENZYME_WITH_VALUE` and kin, or-ed.
    pub flags: u32,
    /// One `EnzymeActivity` per parameter; null if all are by type.
    pub activities: *const u32,
    /// How many there are; 0 if all are by type.
    pub num_activities: usize,
    /// Lanes, 1 to 64; 0 is 1. With several, each `dx` and `dy` is that many parameters, and a tangent of the result is stored through as
    /// many pointers behind all others.
    pub width: u32,
    /// Zero.
    pub reserved: u32,
}

/// Settings for what is made with it.
pub struct EnzymeContext {
    _hidden: (),
}

/// A module of LLVM IR.
pub struct EnzymeModule {
    _hidden: (),
}

/// Native code in this process.
pub struct EnzymeCode {
    _hidden: (),
}

/// What went wrong, in one or more items.
pub struct EnzymeError {
    _hidden: (),
}
