//! Which types are made of floats alone, so that a derivative of the type is a value of the type.

/// A type made of floats alone: `f32`, `f64`, arrays and tuples of such types, structures that derive it.
///
/// # Safety
///
/// All bytes of a value belong to `f32` or `f64` or are padding, so that zero bytes are the value zero.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no derivative",
    label = "this activity is for types made of floats: `f32`, `f64`, arrays and tuples of them",
    note = "an argument without derivative is `Const`; data behind a reference is `Duplicated` (reverse) or `Dual` (forward)",
    note = "a structure of floats gets one by `#[derive(enzyme::Differentiable)]`"
)]
pub unsafe trait Differentiable: Sized {
    /// The value of which all floats are zero.
    fn zero() -> Self {
        // SAFETY: the trait says that zero bytes are a value.
        unsafe { std::mem::zeroed() }
    }
}

/// A float.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no float, so the function has no gradient",
    label = "a gradient is of a function that returns `f32` or `f64`",
    note = "`jacobian!` and `jvp!` are for functions that return several floats"
)]
pub trait Scalar: Differentiable + Copy {
    /// The number one.
    const ONE: Self;
    /// Tells the engine that so many of them lie at `memory`: what is only copied from there says nothing of its type.
    #[doc(hidden)]
    fn state(memory: *const Self, count: usize);
}

// SAFETY: floats.
unsafe impl Differentiable for f32 {}
// SAFETY: floats.
unsafe impl Differentiable for f64 {}
impl Scalar for f32 {
    const ONE: Self = 1.0;
    fn state(memory: *const Self, count: usize) {
        // SAFETY: the plugin takes the call away.
        unsafe { crate::rt::floats(memory.cast(), count.wrapping_mul(size_of::<Self>())) }
    }
}
impl Scalar for f64 {
    const ONE: Self = 1.0;
    fn state(memory: *const Self, count: usize) {
        // SAFETY: the plugin takes the call away.
        unsafe { crate::rt::doubles(memory.cast(), count.wrapping_mul(size_of::<Self>())) }
    }
}

// SAFETY: the elements are made of floats alone.
unsafe impl<T: Differentiable, const N: usize> Differentiable for [T; N] {}

macro_rules! tuples {
    ($($($name:ident)+;)*) => {
        $(
            // SAFETY: the elements are made of floats alone.
            unsafe impl<$($name: Differentiable),+> Differentiable for ($($name,)+) {}
        )*
    };
}
tuples! { A; A B; A B C; A B C D; A B C D E; A B C D E F; A B C D E F G; A B C D E F G H; }
