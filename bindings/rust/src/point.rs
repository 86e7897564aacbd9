//! Where functions of [`crate::calculus`] are differentiated: an argument, or several in a tuple, and the shadow beside it.
//!
//! The engine gets a point in two parts: floats and addresses, which have a shadow of the same type, and lengths, which are constant. A shadow is for a float
//! a float, for a reference the address of a buffer.

use crate::{Differentiable, Scalar};

/// An argument of a function that is differentiated: a float, an array of floats, a reference to a slice, an array or a vector of floats,
/// or a tuple of these.
///
/// # Safety
///
/// [`Point::shadow`] has the shape of the point, and refers only to memory of the buffer, which is its own; [`Point::of`] gives the point whose
/// parts it gets.
#[diagnostic::on_unimplemented(
    message = "a function cannot be differentiated with respect to `{Self}`",
    label = "neither a float, nor an array of floats, nor a reference to a slice, an array or a vector of floats",
    note = "let a closure capture what is constant: `grad!(|x: &[f64]| loss(x, &data), &x[..])`"
)]
pub unsafe trait Point: Sized {
    /// What the derivative with respect to it is.
    type Gradient;
    /// Memory that the shadow refers to.
    type Buffer;
    /// Its floats and addresses.
    type Memory: Copy;
    /// Its lengths.
    type Shape: Copy;

    /// Its floats and addresses.
    fn memory(&self) -> Self::Memory;
    /// Its lengths.
    fn shape(&self) -> Self::Shape;
    /// The point of these parts.
    ///
    /// # Safety
    ///
    /// The parts are those of one point, which lives as long as what is made of them.
    unsafe fn of(memory: Self::Memory, shape: Self::Shape) -> Self;
    /// Memory for a shadow, all zero.
    fn buffer(&self) -> Self::Buffer;
    /// A shadow that refers to `buffer`, which is left alone while the engine uses the shadow.
    fn shadow(buffer: &mut Self::Buffer) -> Self::Memory;
    /// The derivative that the engine has left in `buffer` or `shadow`.
    fn gradient(buffer: Self::Buffer, shadow: Self::Memory) -> Self::Gradient;
    /// Whether a direction has the shape of the point.
    fn has_shape_of(&self, other: &Self) -> bool;
}

macro_rules! values {
    ($([$($generics:tt)*] $ty:ty;)*) => {
        $(
            // SAFETY: a value refers to nothing.
            unsafe impl<$($generics)*> Point for $ty {
                type Gradient = $ty;
                type Buffer = ();
                type Memory = $ty;
                type Shape = ();
                fn memory(&self) -> $ty {
                    *self
                }
                fn shape(&self) {}
                unsafe fn of(memory: $ty, (): ()) -> $ty {
                    memory
                }
                fn buffer(&self) {}
                fn shadow((): &mut ()) -> $ty {
                    <$ty as Differentiable>::zero()
                }
                fn gradient((): (), shadow: $ty) -> $ty {
                    shadow
                }
                fn has_shape_of(&self, _: &Self) -> bool {
                    true
                }
            }
        )*
    };
}
values! { [] f32; [] f64; [T: Scalar, const N: usize] [T; N]; }

// SAFETY: the shadow is the address of the buffer, which is as long.
unsafe impl<T: Scalar> Point for &[T] {
    type Gradient = Vec<T>;
    type Buffer = Vec<T>;
    type Memory = *const T;
    type Shape = usize;
    fn memory(&self) -> *const T {
        self.as_ptr()
    }
    fn shape(&self) -> usize {
        self.len()
    }
    unsafe fn of(memory: *const T, shape: usize) -> Self {
        T::state(memory, shape);
        // SAFETY: as the caller says.
        unsafe { std::slice::from_raw_parts(memory, shape) }
    }
    fn buffer(&self) -> Vec<T> {
        vec![T::zero(); self.len()]
    }
    fn shadow(buffer: &mut Vec<T>) -> *const T {
        buffer.as_mut_ptr()
    }
    fn gradient(buffer: Vec<T>, _: *const T) -> Vec<T> {
        buffer
    }
    fn has_shape_of(&self, other: &Self) -> bool {
        self.len() == other.len()
    }
}

// SAFETY: the shadow is the array in the buffer.
unsafe impl<T: Scalar, const N: usize> Point for &[T; N] {
    type Gradient = [T; N];
    type Buffer = Box<[T; N]>;
    type Memory = *const [T; N];
    type Shape = ();
    fn memory(&self) -> *const [T; N] {
        *self
    }
    fn shape(&self) {}
    unsafe fn of(memory: *const [T; N], (): ()) -> Self {
        T::state(memory.cast(), N);
        // SAFETY: as the caller says.
        unsafe { &*memory }
    }
    fn buffer(&self) -> Box<[T; N]> {
        Box::new([T::zero(); N])
    }
    fn shadow(buffer: &mut Box<[T; N]>) -> *const [T; N] {
        &raw mut **buffer
    }
    fn gradient(buffer: Box<[T; N]>, _: *const [T; N]) -> [T; N] {
        *buffer
    }
    fn has_shape_of(&self, _: &Self) -> bool {
        true
    }
}

// SAFETY: the shadow is the vector in the buffer.
unsafe impl<T: Scalar> Point for &Vec<T> {
    type Gradient = Vec<T>;
    type Buffer = Box<Vec<T>>;
    type Memory = *const Vec<T>;
    type Shape = ();
    fn memory(&self) -> *const Vec<T> {
        *self
    }
    fn shape(&self) {}
    unsafe fn of(memory: *const Vec<T>, (): ()) -> Self {
        // SAFETY: as the caller says.
        let vector = unsafe { &*memory };
        T::state(vector.as_ptr(), vector.len());
        vector
    }
    fn buffer(&self) -> Box<Vec<T>> {
        Box::new(vec![T::zero(); self.len()])
    }
    fn shadow(buffer: &mut Box<Vec<T>>) -> *const Vec<T> {
        &raw mut **buffer
    }
    fn gradient(buffer: Box<Vec<T>>, _: *const Vec<T>) -> Vec<T> {
        *buffer
    }
    fn has_shape_of(&self, other: &Self) -> bool {
        self.len() == other.len()
    }
}

macro_rules! tuples {
    ($($($name:ident $index:tt)+;)*) => {
        $(
            // SAFETY: a tuple refers to what its elements refer to.
            unsafe impl<$($name: Point),+> Point for ($($name,)+) {
                type Gradient = ($($name::Gradient,)+);
                type Buffer = ($($name::Buffer,)+);
                type Memory = ($($name::Memory,)+);
                type Shape = ($($name::Shape,)+);
                fn memory(&self) -> Self::Memory {
                    ($(self.$index.memory(),)+)
                }
                fn shape(&self) -> Self::Shape {
                    ($(self.$index.shape(),)+)
                }
                unsafe fn of(memory: Self::Memory, shape: Self::Shape) -> Self {
                    // SAFETY: as the caller says, of each element.
                    ($(unsafe { $name::of(memory.$index, shape.$index) },)+)
                }
                fn buffer(&self) -> Self::Buffer {
                    ($(self.$index.buffer(),)+)
                }
                fn shadow(buffer: &mut Self::Buffer) -> Self::Memory {
                    ($($name::shadow(&mut buffer.$index),)+)
                }
                fn gradient(buffer: Self::Buffer, shadow: Self::Memory) -> Self::Gradient {
                    ($($name::gradient(buffer.$index, shadow.$index),)+)
                }
                fn has_shape_of(&self, other: &Self) -> bool {
                    $(self.$index.has_shape_of(&other.$index))&&+
                }
            }
        )*
    };
}
tuples! { A 0 B 1; A 0 B 1 C 2; A 0 B 1 C 2 D 3; }
