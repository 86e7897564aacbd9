//! Derivatives of functions and closures, without an attribute: what the macros [`crate::grad!`] and its like call.
//!
//! What a closure captures is constant. A function that is differentiated may call these functions itself.

use std::ffi::c_void;

use crate::rt::{self, enzyme_const, enzyme_dup};
use crate::{Differentiable, Output, Point, Scalar};

/// Calls `f` with the argument whose parts are at `x` and `shape`; the result goes to `out`.
unsafe fn call<F: Fn(X) -> R, X: Point, R: Output>(
    f: *const F,
    x: *const X::Memory,
    shape: *const X::Shape,
    out: *mut R::Element,
    len: usize,
) {
    R::Element::state(out, len);
    // SAFETY: as the caller says.
    unsafe { (*f)(X::of(x.read(), shape.read())).write(out, len) }
}

/// Runs `f` and its reverse sweep: the value goes to `out`, of which `seed` is the adjoint; derivatives are added to `dx`.
unsafe fn sweep<F: Fn(X) -> R, X: Point, R: Output>(
    f: *const F,
    (x, shape, dx): (*const X::Memory, *const X::Shape, *mut X::Memory),
    (out, seed): (*mut R::Element, *mut R::Element),
    len: usize,
) {
    let function = call::<F, X, R> as *const c_void;
    // SAFETY: the arguments are those of `call`, with shadows of the same shape.
    unsafe {
        rt::reverse(
            function,
            &raw const enzyme_const,
            f,
            &raw const enzyme_dup,
            x,
            dx,
            &raw const enzyme_const,
            shape,
            &raw const enzyme_dup,
            out,
            seed,
            &raw const enzyme_const,
            len,
        );
    }
}

/// As [`sweep`], of a function with one result whose adjoint is one.
unsafe fn sweep_scalar<F: Fn(X) -> R, X: Point, R: Output<Element = R> + Scalar>(
    f: *const F,
    x: *const X::Memory,
    shape: *const X::Shape,
    dx: *mut X::Memory,
) -> R {
    let (mut out, mut seed) = (R::zero(), R::ONE);
    // SAFETY: as the caller says; there is room for one result.
    unsafe { sweep::<F, X, R>(f, (x, shape, dx), (&raw mut out, &raw mut seed), 1) };
    out
}

/// The value of a function at a point, and its gradient.
pub fn value_and_gradient<F, X, R>(f: F, x: X) -> (R, X::Gradient)
where
    F: Fn(X) -> R,
    X: Point,
    R: Output<Element = R> + Scalar,
{
    let (memory, shape, mut buffer) = (x.memory(), x.shape(), x.buffer());
    let mut shadow = X::shadow(&mut buffer);
    // SAFETY: the shadow has the shape of the point.
    let value = unsafe { sweep_scalar::<F, X, R>(&raw const f, &raw const memory, &raw const shape, &raw mut shadow) };
    (value, X::gradient(buffer, shadow))
}

/// The gradient of a function at a point.
pub fn gradient<F, X, R>(f: F, x: X) -> X::Gradient
where
    F: Fn(X) -> R,
    X: Point,
    R: Output<Element = R> + Scalar,
{
    value_and_gradient(f, x).1
}

/// The number of elements of a result: the function is run where its type leaves that open.
fn length<F: Fn(X) -> R, X: Point, R: Output>(f: &F, x: &X) -> usize {
    // SAFETY: the parts are those of the point.
    R::LEN.unwrap_or_else(|| f(unsafe { X::of(x.memory(), x.shape()) }).len())
}

/// The derivative of a function at a point along a direction.
///
/// # Panics
///
/// If the direction has not the shape of the point.
#[track_caller]
pub fn jacobian_vector_product<F, X, R>(f: F, x: X, v: X) -> R
where
    F: Fn(X) -> R,
    X: Point,
    R: Output,
{
    check_shape(&x, &v);
    let len = length(&f, &x);
    let (memory, shape, direction) = (x.memory(), x.shape(), v.memory());
    let (mut out, mut tangent) = (vec![R::Element::zero(); len], vec![R::Element::zero(); len]);
    // SAFETY: the arguments are those of `call`, with shadows of the same shape.
    unsafe {
        rt::forward(
            call::<F, X, R> as *const c_void,
            &raw const enzyme_const,
            &raw const f,
            &raw const enzyme_dup,
            &raw const memory,
            &raw const direction,
            &raw const enzyme_const,
            &raw const shape,
            &raw const enzyme_dup,
            out.as_mut_ptr(),
            tangent.as_mut_ptr(),
            &raw const enzyme_const,
            len,
        );
    }
    R::of(tangent)
}

/// The Jacobian of a function at a point: a gradient for each element of the result, by a reverse sweep each.
pub fn jacobian<F, X, R>(f: F, x: X) -> Vec<X::Gradient>
where
    F: Fn(X) -> R,
    X: Point,
    R: Output,
{
    let len = length(&f, &x);
    let (memory, shape) = (x.memory(), x.shape());
    let row = |n: usize| {
        let mut buffer = x.buffer();
        let mut shadow = X::shadow(&mut buffer);
        let (mut out, mut seed) = (vec![R::Element::zero(); len], vec![R::Element::zero(); len]);
        seed[n] = R::Element::ONE;
        let point = (&raw const memory, &raw const shape, &raw mut shadow);
        // SAFETY: the shadow has the shape of the point, and there is room for the results.
        unsafe { sweep::<F, X, R>(&raw const f, point, (out.as_mut_ptr(), seed.as_mut_ptr()), len) };
        X::gradient(buffer, shadow)
    };
    (0..len).map(row).collect()
}

/// The gradient as a function that is differentiated once more.
unsafe fn gradient_into<F: Fn(X) -> R, X: Point, R: Output<Element = R> + Scalar>(
    f: *const F,
    x: *const X::Memory,
    shape: *const X::Shape,
    dx: *mut X::Memory,
) {
    // SAFETY: as the caller says.
    unsafe { sweep_scalar::<F, X, R>(f, x, shape, dx) };
}

/// The product of a function's Hessian at a point and a direction.
///
/// # Panics
///
/// If the direction has not the shape of the point.
#[track_caller]
pub fn hessian_vector_product<F, X, R>(f: F, x: X, v: X) -> X::Gradient
where
    F: Fn(X) -> R,
    X: Point,
    R: Output<Element = R> + Scalar,
{
    check_shape(&x, &v);
    let (memory, shape, direction) = (x.memory(), x.shape(), v.memory());
    let (mut buffer, mut tangents) = (x.buffer(), x.buffer());
    let (mut shadow, mut product) = (X::shadow(&mut buffer), X::shadow(&mut tangents));
    // SAFETY: the arguments are those of `gradient_into`, with shadows of the same shape.
    unsafe {
        rt::forward(
            gradient_into::<F, X, R> as *const c_void,
            &raw const enzyme_const,
            &raw const f,
            &raw const enzyme_dup,
            &raw const memory,
            &raw const direction,
            &raw const enzyme_const,
            &raw const shape,
            &raw const enzyme_dup,
            &raw mut shadow,
            &raw mut product,
        );
    }
    X::gradient(tangents, product)
}

#[track_caller]
fn check_shape<X: Point>(x: &X, v: &X) {
    if !x.has_shape_of(v) {
        // tidy: allow(crashes): as an index out of bounds is in Rust
        panic!("the direction has not as many elements as the point");
    }
}
