//! The attributes of the crate `enzyme`, in the grammar of the standard library's unstable `std::autodiff`: the name of the
//! derivative, perhaps a width, an activity for each argument and one for the result. `activity` reads that, `expand` writes the derivative
//! as an ordinary function that calls a marker.
//!
//! Not handled: functions of traits without a body, `async` functions, patterns with several names as arguments whose shadows then have
//! numbers for names.
#![forbid(unsafe_code)]

mod activity;
mod expand;
mod structure;

use activity::{Attribute, Mode};
use proc_macro::TokenStream;
use syn::parse_macro_input;

/// `#[autodiff_forward(derivative, activities...)]`: a function `derivative` that takes tangents and gives the tangent of the result.
#[proc_macro_attribute]
pub fn autodiff_forward(attribute: TokenStream, item: TokenStream) -> TokenStream {
    derivative(Mode::Forward, attribute, item)
}

/// `#[autodiff_reverse(derivative, activities...)]`: a function `derivative` that takes the adjoint of the result and gives, or adds to
/// shadows, those of the arguments.
#[proc_macro_attribute]
pub fn autodiff_reverse(attribute: TokenStream, item: TokenStream) -> TokenStream {
    derivative(Mode::Reverse, attribute, item)
}

/// `#[derive(Differentiable)]`: a structure whose fields are floats, or arrays, tuples and structures of floats, may be `Active`.
#[proc_macro_derive(Differentiable)]
pub fn differentiable(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as syn::DeriveInput);
    structure::derive(&item).unwrap_or_else(|error| error.to_compile_error()).into()
}

fn derivative(mode: Mode, attribute: TokenStream, item: TokenStream) -> TokenStream {
    let original = proc_macro2::TokenStream::from(item.clone());
    let attribute = parse_macro_input!(attribute as Attribute);
    let function = match syn::parse::<syn::ItemFn>(item) {
        Ok(function) => function,
        Err(_) => {
            let error = syn::Error::new_spanned(&original, "a derivative is made of a function with a body");
            let error = error.to_compile_error();
            return quote::quote!(#original #error).into();
        }
    };
    // The function itself stays whatever becomes of its derivative, so that one mistake gives one message.
    let made = expand::derivative(mode, &attribute, &function).unwrap_or_else(|error| error.to_compile_error());
    quote::quote!(#original #made).into()
}
