//! What the attributes and [`crate::calculus`] call: the markers, and small functions that let the compiler check types.
//!
//! A marker is a function without a body whose name the plugin knows. It is given a function of pointers and numbers, and for each
//! parameter an annotation, the argument, and a shadow if it has one; the plugin puts a derivative in the place of the call. Without the plugin
//! the name stays, and is what the linker then says.
//!
//! Nothing here is meant to be called by hand, and all of it may change.

use std::ffi::c_void;
use std::mem::MaybeUninit;

use crate::Differentiable;

unsafe extern "C-unwind" {
    /// The marker of reverse mode.
    #[link_name = "__enzyme_autodiff: this derivative is made by the Enzyme plugin when the program is linked: use `cargo enzyme build`"]
    pub fn reverse(function: *const c_void, ...);
    /// The marker of forward mode.
    #[link_name = "__enzyme_fwddiff: this derivative is made by the Enzyme plugin when the program is linked: use `cargo enzyme build`"]
    pub fn forward(function: *const c_void, ...);
    /// States that so many bytes are those of `f64`; nothing is left of it in the program.
    #[link_name = "__enzyme_double: this derivative is made by the Enzyme plugin when the program is linked: use `cargo enzyme build`"]
    pub fn doubles(memory: *const c_void, bytes: usize);
    /// The same of `f32`.
    #[link_name = "__enzyme_float: this derivative is made by the Enzyme plugin when the program is linked: use `cargo enzyme build`"]
    pub fn floats(memory: *const c_void, bytes: usize);
}

/// What the next argument is. Only the addresses count.
#[allow(non_upper_case_globals, missing_docs)]
mod annotations {
    macro_rules! annotations {
        ($($name:ident)*) => { $(#[unsafe(no_mangle)] pub static $name: u8 = 0;)* };
    }
    annotations! { enzyme_const enzyme_dup enzyme_dupnoneed enzyme_dupv enzyme_dupnoneedv enzyme_width }
}
#[doc(hidden)]
pub use annotations::*;

/// Has the compiler check that `T` can be differentiated.
pub const fn differentiable<T: Differentiable>() {}

/// A shadow without derivatives, as bytes: of a result that is constant it is never read as a value.
pub fn no_shadow<T>() -> MaybeUninit<T> {
    MaybeUninit::zeroed()
}

/// The address of what has a size that is known: nothing else goes with it.
pub const fn thin<T>(pointer: *const T) -> *const T {
    pointer
}

/// As [`thin`].
pub const fn thin_mut<T>(pointer: *mut T) -> *mut T {
    pointer
}

/// A shadow is as long as what it belongs to, or as many times as there are derivatives at once.
#[track_caller]
pub fn check_length(name: &str, primal: usize, shadow: usize, times: usize) {
    if primal.checked_mul(times) != Some(shadow) {
        let each = if times == 1 { String::new() } else { format!(" for each of {times} derivatives") };
        // tidy: allow(crashes): as an index out of bounds is in Rust
        panic!("the shadow of `{name}` has {shadow} elements, and `{name}` has {primal}{each}");
    }
}

/// A function of a pair, from one of two arguments.
pub fn two<A, B, R>(f: impl Fn(A, B) -> R) -> impl Fn((A, B)) -> R {
    move |(a, b)| f(a, b)
}

/// A function of three values at once, from one of three arguments.
pub fn three<A, B, C, R>(f: impl Fn(A, B, C) -> R) -> impl Fn((A, B, C)) -> R {
    move |(a, b, c)| f(a, b, c)
}

/// The size of what an address is of.
pub const fn size_behind<T>(_: *const T) -> usize {
    size_of::<T>()
}
