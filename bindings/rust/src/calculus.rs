//! Derivatives of functions and closures, without an attribute: what the macros [`crate::grad!`] and its like call.
//!
//! What a closure captures is constant. A function that is differentiated may call these functions itself.

use std::ffi::c_void;
use std::mem::MaybeUninit;

use crate::rt::{self, enzyme_const, enzyme_dup};
use crate::{Differentiable, Output, Point, Scalar};

/// Calls `f` with the argument at `x`; the result goes to `out`.
unsafe fn call<F: Fn(X) -> R, X, R: Output>(f: *const F, x: *const X, out: *mut R::Element, len: usize) {
    // SAFETY: as the caller says. A point is a float or a reference, of which a copy may be read.
    unsafe { (*f)(x.read()).write(out, len) }
}

/// Runs `f` and its reverse sweep: the value goes to `out`, of which `seed` is the adjoint; derivatives are added to `dx`.
unsafe fn sweep<F: Fn(X) -> R, X, R: Output>(
    f: *const F,
    x: *const X,
    dx: *mut X,
    out: *mut R::Element,
    seed: *mut R::Element,
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
            &raw const enzyme_dup,
            out,
            seed,
            &raw const enzyme_const,
            len,
        );
    }
}

/// As [`sweep`], of a function with one result whose adjoint is one.
unsafe fn sweep_scalar<F: Fn(X) -> R, X, R: Output<Element = R> + Scalar>(f: *const F, x: *const X, dx: *mut X) -> R {
    let (mut out, mut seed) = (R::zero(), R::ONE);
    // SAFETY: as the caller says; there is room for one result.
    unsafe { sweep::<F, X, R>(f, x, dx, &raw mut out, &raw mut seed, 1) };
    out
}

/// The value of a function at a point, and its gradient.
pub fn value_and_gradient<F, X, R>(f: F, x: X) -> (R, X::Gradient)
where
    F: Fn(X) -> R,
    X: Point,
    R: Output<Element = R> + Scalar,
{
    let mut buffer = x.buffer();
    let mut shadow = X::shadow(&mut buffer);
    // SAFETY: the shadow has the shape of the point.
    let value = unsafe { sweep_scalar::<F, X, R>(&raw const f, &raw const x, shadow.as_mut_ptr()) };
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
fn length<F: Fn(X) -> R, X, R: Output>(f: &F, x: &X) -> usize {
    // SAFETY: a point is a float or a reference, of which a copy may be read.
    R::LEN.unwrap_or_else(|| f(unsafe { (x as *const X).read() }).len())
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
    let (mut out, mut tangent) = (vec![R::Element::zero(); len], vec![R::Element::zero(); len]);
    // SAFETY: the arguments are those of `call`, with shadows of the same shape.
    unsafe {
        rt::forward(
            call::<F, X, R> as *const c_void,
            &raw const enzyme_const,
            &raw const f,
            &raw const enzyme_dup,
            &raw const x,
            &raw const v,
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
    let row = |n: usize| {
        let mut buffer = x.buffer();
        let mut shadow = X::shadow(&mut buffer);
        let (mut out, mut seed) = (vec![R::Element::zero(); len], vec![R::Element::zero(); len]);
        seed[n] = R::Element::ONE;
        let (f, x, dx) = (&raw const f, &raw const x, shadow.as_mut_ptr());
        // SAFETY: the shadow has the shape of the point, and there is room for the results.
        unsafe { sweep::<F, X, R>(f, x, dx, out.as_mut_ptr(), seed.as_mut_ptr(), len) };
        X::gradient(buffer, shadow)
    };
    (0..len).map(row).collect()
}

/// The gradient as a function that is differentiated once more.
unsafe fn gradient_into<F: Fn(X) -> R, X, R: Output<Element = R> + Scalar>(f: *const F, x: *const X, dx: *mut X) {
    // SAFETY: as the caller says.
    unsafe { sweep_scalar::<F, X, R>(f, x, dx) };
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
    let (mut buffer, mut tangents) = (x.buffer(), x.buffer());
    let mut shadow: MaybeUninit<X> = X::shadow(&mut buffer);
    let mut product: MaybeUninit<X> = X::shadow(&mut tangents);
    // SAFETY: the arguments are those of `gradient_into`, with shadows of the same shape.
    unsafe {
        rt::forward(
            gradient_into::<F, X, R> as *const c_void,
            &raw const enzyme_const,
            &raw const f,
            &raw const enzyme_dup,
            &raw const x,
            &raw const v,
            &raw const enzyme_dup,
            shadow.as_mut_ptr(),
            product.as_mut_ptr(),
        );
    }
    drop(buffer);
    X::gradient(tangents, product)
}

#[track_caller]
fn check_shape<X: Point>(x: &X, v: &X) {
    if !x.has_shape_of(v) {
        // tidy: allow(crashes): as an index out of bounds is in Rust
        panic!("the direction has not as many elements as the point");
    }
}
