//! `#[derive(Differentiable)]`: the promise that all fields are floats, field by field.
//!
//! Not handled: enumerations and unions, which hold more than floats.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Result};

/// The implementation for a structure.
pub fn derive(item: &DeriveInput) -> Result<TokenStream> {
    let Data::Struct(data) = &item.data else {
        return Err(Error::new_spanned(&item.ident, "only a structure of floats can be `Differentiable`"));
    };
    let name = &item.ident;
    let mut generics = item.generics.clone();
    let checks: Vec<TokenStream> = data
        .fields
        .iter()
        .map(|field| {
            let ty = &field.ty;
            quote_spanned!(ty.span()=> ::enzyme::rt::differentiable::<#ty>();)
        })
        .collect();
    if item.generics.type_params().next().is_some() {
        let clause = generics.make_where_clause();
        for field in &data.fields {
            let ty = &field.ty;
            clause.predicates.push(syn::parse_quote!(#ty: ::enzyme::Differentiable));
        }
    }
    let (heads, types, clause) = generics.split_for_impl();
    Ok(quote! {
        #[allow(clippy::all)]
        const _: () = {
            // SAFETY: all fields are, as the function below has the compiler check.
            unsafe impl #heads ::enzyme::Differentiable for #name #types #clause {}
            #[allow(dead_code, clippy::extra_unused_type_parameters)]
            fn fields #heads () #clause { #(#checks)* }
        };
    })
}
