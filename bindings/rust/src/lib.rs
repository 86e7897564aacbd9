//! Derivatives of Rust functions, on the stable toolchain.
//!
//! ```ignore
//! use enzyme::{autodiff_reverse, grad};
//!
//! #[autodiff_reverse(norm_gradient, Duplicated, Active)]
//! fn norm(x: &[f64]) -> f64 {
//!     x.iter().map(|v| v * v).sum::<f64>().sqrt()
//! }
//!
//! fn main() {
//!     let mut dx = [0.0; 2];
//!     let value = norm_gradient(&[3.0, 4.0], &mut dx, 1.0); // adds to dx
//!     println!("{value} {dx:?} {:?}", grad!(|x: &[f64]| norm(x), &[3.0, 4.0][..]));
//! }
//! ```
//!
//! `cargo enzyme run` builds and runs it: derivatives are made when the program is linked. The attributes have the grammar of the standard
//! library's unstable `std::autodiff`. The manual is `docs/rust.md`.
//!
//! The crate holds no mathematics: [`rt`] declares the markers that the plugin replaces, [`calculus`] calls them for closures.

pub mod calculus;
mod differentiable;
mod output;
mod point;
pub mod rt;

pub use calculus::{gradient, hessian_vector_product, jacobian, jacobian_vector_product, value_and_gradient};
pub use differentiable::{Differentiable, Scalar};
pub use enzyme_macros::{Differentiable, autodiff_forward, autodiff_reverse};
pub use output::Output;
pub use point::Point;

/// The gradient of a function at a point: `grad!(f, x)`, `grad!(|x: &[f64]| ..., &x[..])`, `grad!(f, x, y)`.
///
/// Arguments may be floats, arrays, and references to slices, arrays and vectors of floats; the gradient is a float, an array or a
/// vector. Of several arguments it is a tuple. What a closure captures is constant.
#[macro_export]
macro_rules! grad {
    ($f:expr, $x:expr $(,)?) => { $crate::gradient($f, $x) };
    ($f:expr, $x:expr, $y:expr $(,)?) => { $crate::gradient($crate::rt::two($f), ($x, $y)) };
    ($f:expr, $x:expr, $y:expr, $z:expr $(,)?) => { $crate::gradient($crate::rt::three($f), ($x, $y, $z)) };
}

/// As [`grad!`], with the value of the function before the gradient.
#[macro_export]
macro_rules! value_and_grad {
    ($f:expr, $x:expr $(,)?) => { $crate::value_and_gradient($f, $x) };
    ($f:expr, $x:expr, $y:expr $(,)?) => { $crate::value_and_gradient($crate::rt::two($f), ($x, $y)) };
    ($f:expr, $x:expr, $y:expr, $z:expr $(,)?) => { $crate::value_and_gradient($crate::rt::three($f), ($x, $y, $z)) };
}

/// The derivative of a function at a point along a direction: `jvp!(f, x, v)`.
#[macro_export]
macro_rules! jvp {
    ($f:expr, $x:expr, $v:expr $(,)?) => { $crate::jacobian_vector_product($f, $x, $v) };
}

/// The product of a function's Hessian at a point and a direction: `hvp!(f, x, v)`.
#[macro_export]
macro_rules! hvp {
    ($f:expr, $x:expr, $v:expr $(,)?) => { $crate::hessian_vector_product($f, $x, $v) };
}

/// The Jacobian of a function at a point, a gradient for each element of its result: `jacobian!(f, x)`.
#[macro_export]
macro_rules! jacobian {
    ($f:expr, $x:expr $(,)?) => { $crate::jacobian($f, $x) };
}
