//! Where functions of [`crate::calculus`] are differentiated: an argument, or several in a tuple, and the shadow beside it.
//!
//! A point is handed to the engine as it lies in memory. Its shadow has the same shape: for a float a float, for a reference a reference to a buffer.

use std::mem::MaybeUninit;

use crate::Scalar;

/// An argument of a function that is differentiated: a float, an array of floats, a reference to a slice, an array or a vector of floats,
/// or a tuple of these.
///
/// # Safety
///
/// [`Point::shadow`] has the shape of the point, and refers only to memory of the buffer, which is its own.
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

    /// Memory for a shadow, all zero.
    fn buffer(&self) -> Self::Buffer;
    /// A shadow that refers to `buffer`; to be handed to the engine, and not to be used as a value meanwhile.
    fn shadow(buffer: &mut Self::Buffer) -> MaybeUninit<Self>;
    /// The derivative that the engine has left in `buffer` or `shadow`.
    fn gradient(buffer: Self::Buffer, shadow: MaybeUninit<Self>) -> Self::Gradient;
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
                fn buffer(&self) {}
                fn shadow(_: &mut ()) -> MaybeUninit<Self> {
                    MaybeUninit::zeroed()
                }
                fn gradient(_: (), shadow: MaybeUninit<Self>) -> $ty {
                    // SAFETY: zero bytes are floats, and the engine has written floats.
                    unsafe { shadow.assume_init() }
                }
                fn has_shape_of(&self, _: &Self) -> bool {
                    true
                }
            }
        )*
    };
}
values! { [] f32; [] f64; [T: Scalar, const N: usize] [T; N]; }

// SAFETY: the shadow is a slice of the buffer.
unsafe impl<T: Scalar> Point for &[T] {
    type Gradient = Vec<T>;
    type Buffer = Vec<T>;
    fn buffer(&self) -> Vec<T> {
        vec![T::zero(); self.len()]
    }
    fn shadow(buffer: &mut Vec<T>) -> MaybeUninit<Self> {
        // SAFETY: the buffer lives and is left alone for as long as the engine uses the shadow.
        MaybeUninit::new(unsafe { std::slice::from_raw_parts(buffer.as_mut_ptr(), buffer.len()) })
    }
    fn gradient(buffer: Vec<T>, _: MaybeUninit<Self>) -> Vec<T> {
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
    fn buffer(&self) -> Box<[T; N]> {
        Box::new([T::zero(); N])
    }
    fn shadow(buffer: &mut Box<[T; N]>) -> MaybeUninit<Self> {
        // SAFETY: the buffer lives and is left alone for as long as the engine uses the shadow.
        MaybeUninit::new(unsafe { &*buffer.as_mut_ptr().cast() })
    }
    fn gradient(buffer: Box<[T; N]>, _: MaybeUninit<Self>) -> [T; N] {
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
    fn buffer(&self) -> Box<Vec<T>> {
        Box::new(vec![T::zero(); self.len()])
    }
    fn shadow(buffer: &mut Box<Vec<T>>) -> MaybeUninit<Self> {
        let vector: *mut Vec<T> = &raw mut **buffer;
        // SAFETY: the buffer lives and is left alone for as long as the engine uses the shadow.
        MaybeUninit::new(unsafe { &*vector })
    }
    fn gradient(buffer: Box<Vec<T>>, _: MaybeUninit<Self>) -> Vec<T> {
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
                fn buffer(&self) -> Self::Buffer {
                    ($(self.$index.buffer(),)+)
                }
                fn shadow(buffer: &mut Self::Buffer) -> MaybeUninit<Self> {
                    let mut whole = MaybeUninit::<Self>::zeroed();
                    let place = whole.as_mut_ptr();
                    // SAFETY: each element is written in its place.
                    $(unsafe { (&raw mut (*place).$index).write($name::shadow(&mut buffer.$index).assume_init()) };)+
                    whole
                }
                fn gradient(buffer: Self::Buffer, shadow: MaybeUninit<Self>) -> Self::Gradient {
                    let place = shadow.as_ptr();
                    // SAFETY: an element is a float or a reference, of which a copy may be read.
                    ($($name::gradient(buffer.$index, unsafe {
                        MaybeUninit::new((&raw const (*place).$index).read())
                    }),)+)
                }
                fn has_shape_of(&self, other: &Self) -> bool {
                    $(self.$index.has_shape_of(&other.$index))&&+
                }
            }
        )*
    };
}
tuples! { A 0 B 1; A 0 B 1 C 2; A 0 B 1 C 2 D 3; }
