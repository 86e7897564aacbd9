//! What a differentiated function returns: floats, one behind the other.

use crate::Scalar;

/// A float, an array or a vector of floats.
///
/// # Safety
///
/// [`Output::write`] writes as many elements as [`Output::len`] says.
#[diagnostic::on_unimplemented(
    message = "a function that returns `{Self}` cannot be differentiated here",
    label = "neither a float, nor an array or a vector of floats"
)]
pub unsafe trait Output: Sized {
    /// Its elements.
    type Element: Scalar;
    /// Their number, if the type says so.
    const LEN: Option<usize>;

    /// The number of elements.
    fn len(&self) -> usize;
    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Writes the elements.
    ///
    /// # Panics
    ///
    /// If there are not `len` of them.
    ///
    /// # Safety
    ///
    /// There is room for `len` elements.
    unsafe fn write(self, to: *mut Self::Element, len: usize);
    /// A value of these elements.
    fn of(elements: Vec<Self::Element>) -> Self;
}

macro_rules! scalars {
    ($($ty:ty)*) => {
        $(
            // SAFETY: one element.
            unsafe impl Output for $ty {
                type Element = $ty;
                const LEN: Option<usize> = Some(1);
                fn len(&self) -> usize {
                    1
                }
                unsafe fn write(self, to: *mut $ty, _: usize) {
                    // SAFETY: the caller has room for one.
                    unsafe { to.write(self) };
                }
                fn of(elements: Vec<$ty>) -> $ty {
                    elements[0]
                }
            }
        )*
    };
}
scalars! { f32 f64 }

// SAFETY: as many elements as the array has.
unsafe impl<T: Scalar, const N: usize> Output for [T; N] {
    type Element = T;
    const LEN: Option<usize> = Some(N);
    fn len(&self) -> usize {
        N
    }
    unsafe fn write(self, to: *mut T, _: usize) {
        // SAFETY: the caller has room for the array.
        unsafe { to.cast::<[T; N]>().write(self) };
    }
    fn of(elements: Vec<T>) -> [T; N] {
        std::array::from_fn(|n| elements[n])
    }
}

// SAFETY: as many elements as the vector has, which are as many as there is room for, or none.
unsafe impl<T: Scalar> Output for Vec<T> {
    type Element = T;
    const LEN: Option<usize> = None;
    fn len(&self) -> usize {
        Vec::len(self)
    }
    unsafe fn write(self, to: *mut T, len: usize) {
        if Vec::len(&self) != len {
            of_another_length(Vec::len(&self), len);
        }
        for (n, value) in self.into_iter().enumerate() {
            // SAFETY: the caller has room for `len` elements.
            unsafe { to.add(n).write(value) };
        }
    }
    fn of(elements: Vec<T>) -> Vec<T> {
        elements
    }
}

#[cold]
#[inline(never)]
fn of_another_length(found: usize, before: usize) -> ! {
    // tidy: allow(crashes): as an index out of bounds is in Rust
    panic!("the function returned {found} elements, and {before} when it was called before with the same argument");
}
