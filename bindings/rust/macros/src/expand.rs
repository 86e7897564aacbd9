//! The derivative of a function, as a function: its signature after `std::autodiff`, its body a marker call.
//!
//! The marker gets a function of pointers and numbers alone, so that nothing depends on how Rust passes arguments: a slice is an address and a
//! length, another reference an address; what is passed by value lies in a place of its own, of which the address is passed; so does
//! the result. That function is a closure without captures which calls the primal: it may name `Self` and the generics around it.
//! A call that never runs lets the compiler infer its types.
//!
//! Shadows: of a reference, a reference to the same type, `&mut` in reverse mode; of a value in forward mode, a value; of an `Active`
//! value, a place that starts at zero and is returned.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Error, FnArg, Ident, ItemFn, Pat, Result, ReturnType, Type};

use crate::activity::{Activity, Attribute, Given, Mode};

/// How an argument is passed to the marker.
enum Passed {
    /// A reference to a slice: address and length.
    Slice { is_mut: bool },
    /// Another reference, or the receiver `&self`: an address.
    Reference { is_mut: bool },
    /// A raw pointer.
    Pointer,
    /// Whatever else: the address of a place.
    Place,
}

/// An argument of the primal.
struct Argument {
    name: Ident,
    ty: Type,
    passed: Passed,
    given: Given,
    /// The names of its shadows among the arguments of the derivative.
    shadows: Vec<Ident>,
}

/// What stands for an argument in the parts of the derivative's body.
#[derive(Default)]
struct Parts {
    /// Statements before the call.
    before: Vec<TokenStream>,
    /// Parameters of the closure, and their types.
    names: Vec<Ident>,
    types: Vec<TokenStream>,
    /// What the closure passes to the primal.
    calls: Vec<TokenStream>,
    /// Values of the closure's parameters.
    values: Vec<TokenStream>,
    /// Arguments of the marker.
    marker: Vec<TokenStream>,
    /// Derivatives that are returned, with their types.
    returned: Vec<(TokenStream, TokenStream)>,
}

/// The derivative of `function` that `attribute` asks for.
pub fn derivative(mode: Mode, attribute: &Attribute, function: &ItemFn) -> Result<TokenStream> {
    let sig = &function.sig;
    if let Some(word) = &sig.asyncness {
        return Err(Error::new_spanned(word, "an `async` function has no derivative: its body runs later"));
    }
    if let Some(dots) = &sig.variadic {
        return Err(Error::new_spanned(dots, "a variable number of arguments cannot be differentiated"));
    }
    let result: Option<&Type> = match &sig.output {
        ReturnType::Type(_, ty) if !is_unit(ty) => Some(ty),
        ReturnType::Type(..) | ReturnType::Default => None,
    };
    check_activities(mode, attribute, function, result)?;
    let arguments: Vec<Argument> = sig
        .inputs
        .iter()
        .zip(&attribute.activities)
        .enumerate()
        .map(|(n, (input, given))| argument(n, input, *given, attribute.width))
        .collect::<Result<_>>()?;

    let mut parts = Parts::default();
    let mut inputs = Vec::new();
    for a in &arguments {
        check_type(a)?;
        inputs.push(input_of(sig, a));
        inputs.extend(shadow_inputs(mode, a));
        pass(&mut parts, a, attribute.width);
    }
    let given = attribute.activities.get(arguments.len());
    if mode == Mode::Reverse
        && let (Some(ty), Some(given)) = (result, given)
        && *given != Activity::Const
    {
        inputs.push(quote!(dret: #ty));
    }
    let result = result.zip(given);
    let answer = take_result(&mut parts, mode, attribute.width, result);
    Ok(write(mode, attribute, function, &inputs, &parts, &answer))
}

impl PartialEq<Activity> for Given {
    fn eq(&self, other: &Activity) -> bool {
        self.activity == *other
    }
}

fn is_unit(ty: &Type) -> bool {
    matches!(ty, Type::Tuple(tuple) if tuple.elems.is_empty())
}

fn mode_word(mode: Mode) -> &'static str {
    match mode {
        Mode::Forward => "forward",
        Mode::Reverse => "reverse",
    }
}

fn check_activities(mode: Mode, attribute: &Attribute, function: &ItemFn, result: Option<&Type>) -> Result<()> {
    let sig = &function.sig;
    let wanted = sig.inputs.len() + usize::from(result.is_some());
    let found = attribute.activities.len();
    if wanted != found {
        let of_result = if result.is_some() { " and one for the result" } else { "" };
        let why = format!(
            "`{}` has {} arguments: one activity is needed for each{of_result}, {wanted} in all, and {found} are given",
            sig.ident,
            sig.inputs.len()
        );
        return Err(Error::new(attribute.name.span(), why));
    }
    for (n, given) in attribute.activities.iter().enumerate() {
        let (activity, is_result) = (given.activity, n == sig.inputs.len());
        let name = activity.name();
        let problem = match activity {
            _ if !activity.fits(mode) => {
                let other = if mode == Mode::Forward { "`Dual`" } else { "`Duplicated` or `Active`" };
                format!("`{name}` is not for {} mode: use {other}, or `Const`", mode_word(mode))
            }
            Activity::Duplicated | Activity::DuplicatedOnly if is_result => {
                format!("`{name}` is for arguments behind references: a result is `Active`, `ActiveOnly` or `Const`")
            }
            Activity::ActiveOnly if !is_result => "`ActiveOnly` is for results: an argument is `Active`".to_owned(),
            Activity::Dualv | Activity::DualvOnly if is_result => {
                format!("`{name}` is for slices: a result is `Dual`, `DualOnly` or `Const`")
            }
            Activity::Active if !is_result && attribute.width > 1 => {
                "several derivatives at once cannot be returned: pass a reference, `Duplicated`".to_owned()
            }
            _ => continue,
        };
        return Err(Error::new(given.span, problem));
    }
    Ok(())
}

/// The type behind parentheses.
fn bare(ty: &Type) -> &Type {
    match ty {
        Type::Paren(inner) => bare(&inner.elem),
        Type::Group(inner) => bare(&inner.elem),
        _ => ty,
    }
}

fn passed(ty: &Type) -> Passed {
    match bare(ty) {
        Type::Reference(reference) => {
            let is_mut = reference.mutability.is_some();
            match bare(&reference.elem) {
                Type::Slice(_) => Passed::Slice { is_mut },
                Type::TraitObject(_) | Type::ImplTrait(_) => Passed::Place,
                Type::Path(path) if path.path.is_ident("str") => Passed::Place,
                _ => Passed::Reference { is_mut },
            }
        }
        Type::Ptr(_) => Passed::Pointer,
        _ => Passed::Place,
    }
}

fn argument(n: usize, input: &FnArg, given: Given, width: u32) -> Result<Argument> {
    let (name, ty) = match input {
        FnArg::Receiver(receiver) => (Ident::new("self", receiver.self_token.span), (*receiver.ty).clone()),
        FnArg::Typed(typed) => {
            let name = match &*typed.pat {
                Pat::Ident(pattern) => pattern.ident.clone(),
                _ => format_ident!("argument_{n}"),
            };
            (name, (*typed.ty).clone())
        }
    };
    let lanes = match given.activity {
        Activity::Const | Activity::Active | Activity::ActiveOnly => 0,
        Activity::Dualv | Activity::DualvOnly => 1,
        Activity::Dual | Activity::DualOnly | Activity::Duplicated | Activity::DuplicatedOnly => width,
    };
    let letter = if matches!(given.activity, Activity::Duplicated | Activity::DuplicatedOnly) { "d" } else { "b" };
    let shadows = (0..lanes).map(|lane| format_ident!("{letter}{name}_{lane}")).collect();
    Ok(Argument { passed: passed(&ty), name, ty, given, shadows })
}

/// Types of which the name alone says that they hold no floats.
const WITHOUT_FLOATS: [&str; 16] = [
    "bool", "char", "str", "String", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128",
    "isize",
];

/// The name of the type that an argument is of, or is made of, if that holds no floats.
fn without_floats(ty: &Type) -> Option<String> {
    match bare(ty) {
        Type::Reference(reference) => without_floats(&reference.elem),
        Type::Slice(slice) => without_floats(&slice.elem),
        Type::Array(array) => without_floats(&array.elem),
        Type::Path(path) => {
            let word = path.path.get_ident()?.to_string();
            WITHOUT_FLOATS.contains(&word.as_str()).then_some(word)
        }
        _ => None,
    }
}

/// Whether the activity can be meant for the type.
fn check_type(a: &Argument) -> Result<()> {
    let (name, word) = (&a.name, a.given.activity.name());
    let is_value = matches!(a.passed, Passed::Place);
    let is_dyn = is_value && matches!(bare(&a.ty), Type::Reference(_));
    let problem = match a.given.activity {
        Activity::Const => return Ok(()),
        _ if without_floats(&a.ty).is_some() => {
            let ty = without_floats(&a.ty).unwrap_or_default();
            format!("`{name}` cannot be `{word}`: a `{ty}` has no derivative. Use `Const`")
        }
        Activity::Active | Activity::ActiveOnly if !is_value || is_dyn => {
            format!(
                "`{name}` cannot be `Active`: it is a reference, behind which derivatives are added to a shadow. Use `Duplicated`"
            )
        }
        Activity::Duplicated | Activity::DuplicatedOnly if is_value && !is_dyn => {
            format!(
                "`{name}` cannot be `{word}`: it is passed by value, so its derivative is returned. Use `Active`, or pass a reference"
            )
        }
        _ if is_dyn => {
            format!(
                "`{name}` cannot be `{word}`: the type of what is behind it is not known. Use `Const`, or a generic type"
            )
        }
        Activity::Dualv | Activity::DualvOnly if !matches!(a.passed, Passed::Slice { .. }) => {
            format!("`{name}` cannot be `{word}`: only the tangents of slices lie one behind the other. Use `Dual`")
        }
        _ => return Ok(()),
    };
    Err(Error::new(a.given.span, problem))
}

/// The parameter of the derivative for an argument itself.
fn input_of(sig: &syn::Signature, a: &Argument) -> TokenStream {
    let (name, ty) = (&a.name, &a.ty);
    let receiver = sig.inputs.iter().find_map(|input| match input {
        FnArg::Receiver(receiver) if a.name == "self" => Some(receiver),
        _ => None,
    });
    match receiver {
        Some(receiver) => {
            let mut receiver = receiver.clone();
            receiver.attrs.clear();
            if receiver.reference.is_none() {
                receiver.mutability = None;
            }
            quote!(#receiver)
        }
        None => quote!(#name: #ty),
    }
}

/// The parameters of the derivative for the shadows of an argument.
fn shadow_inputs(mode: Mode, a: &Argument) -> Vec<TokenStream> {
    let mut ty = a.ty.clone();
    if mode == Mode::Reverse {
        match &mut ty {
            Type::Reference(reference) => reference.mutability = Some(Default::default()),
            Type::Ptr(pointer) => {
                pointer.const_token = None;
                pointer.mutability = Some(Default::default());
            }
            _ => {}
        }
    }
    a.shadows.iter().map(|shadow| quote!(#shadow: #ty)).collect()
}

fn local(name: &str, of: &Ident) -> Ident {
    Ident::new(&format!("{name}_{of}"), Span::mixed_site())
}

/// The annotation of a pointer.
fn annotation(given: Given) -> TokenStream {
    let name = match given.activity {
        Activity::Const => "enzyme_const",
        Activity::Active | Activity::Dual | Activity::Duplicated => "enzyme_dup",
        Activity::ActiveOnly | Activity::DualOnly | Activity::DuplicatedOnly => "enzyme_dupnoneed",
        Activity::Dualv => "enzyme_dupv",
        Activity::DualvOnly => "enzyme_dupnoneedv",
    };
    let name = Ident::new(name, Span::mixed_site());
    quote!(&raw const ::enzyme::rt::#name)
}

/// Writes the parts for one argument.
fn pass(parts: &mut Parts, a: &Argument, width: u32) {
    let name = &a.name;
    let (x, n) = (local("pointer", name), local("length", name));
    let note = annotation(a.given);
    let constant = quote!(&raw const ::enzyme::rt::enzyme_const);
    parts.names.push(x.clone());
    match &a.passed {
        Passed::Slice { is_mut } => {
            let (pointer, method, whole) = match is_mut {
                true => (quote!(*mut _), quote!(as_mut_ptr), quote!(from_raw_parts_mut)),
                false => (quote!(*const _), quote!(as_ptr), quote!(from_raw_parts)),
            };
            let text = name.to_string();
            let all = matches!(a.given.activity, Activity::Dualv | Activity::DualvOnly);
            let times = if all { width as usize } else { 1 };
            for shadow in &a.shadows {
                let check = quote!(::enzyme::rt::check_length(#text, #name.len(), #shadow.len(), #times););
                parts.before.push(check);
            }
            let value = local("value", name);
            parts.before.push(quote!(let (#value, #n) = (#name.#method(), #name.len());));
            parts.names.push(n.clone());
            parts.types.extend([pointer, quote!(usize)]);
            parts.calls.push(quote!(::core::slice::#whole(#x, #n)));
            parts.values.extend([quote!(#value), quote!(#n)]);
            parts.marker.push(note);
            if all {
                parts.marker.push(quote!(#n * ::enzyme::rt::size_behind(#value)));
            }
            parts.marker.push(quote!(#value));
            parts.marker.extend(a.shadows.iter().map(|shadow| quote!(#shadow.as_ptr())));
            parts.marker.extend([constant, quote!(#n)]);
        }
        Passed::Reference { is_mut } => {
            let (pointer, raw, call) = match is_mut {
                true => (quote!(*mut _), quote!(&raw mut *#name), quote!(&mut *#x)),
                false => (quote!(*const _), quote!(&raw const *#name), quote!(&*#x)),
            };
            let thin = if *is_mut { quote!(thin_mut) } else { quote!(thin) };
            let value = local("value", name);
            parts.before.push(quote!(let #value = ::enzyme::rt::#thin(#raw);));
            parts.types.push(pointer);
            parts.calls.push(call);
            parts.values.push(quote!(#value));
            parts.marker.extend([note, quote!(#value)]);
            parts.marker.extend(a.shadows.iter().map(|shadow| quote!(&raw const *#shadow)));
        }
        Passed::Pointer => {
            parts.types.push(quote!(_));
            parts.calls.push(quote!(#x));
            parts.values.push(quote!(#name));
            parts.marker.extend([note, quote!(#name)]);
            parts.marker.extend(a.shadows.iter().map(|shadow| quote!(#shadow)));
        }
        Passed::Place => {
            // The primal takes the value out of its place, and drops it there.
            let place = local("place", name);
            parts.before.push(quote!(let #place = ::core::mem::ManuallyDrop::new(#name);));
            parts.types.push(quote!(*const _));
            parts.calls.push(quote!(::core::mem::ManuallyDrop::into_inner(::core::ptr::read(#x))));
            parts.values.push(quote!(&raw const #place));
            parts.marker.extend([note, quote!(&raw const #place)]);
            for shadow in &a.shadows {
                let place = local("place", shadow);
                parts.before.push(quote!(let #place = ::core::mem::ManuallyDrop::new(#shadow);));
                parts.marker.push(quote!(&raw const #place));
            }
            if a.given == Activity::Active {
                let (ty, shadow) = (&a.ty, local("shadow", name));
                let zero = zero(ty, a.given.span);
                parts.before.push(quote!(let mut #shadow = #zero;));
                parts.marker.push(quote!(&raw mut #shadow));
                parts.returned.push((quote!(#shadow), quote!(#ty)));
            }
        }
    }
}

/// The zero of a type, of which the compiler says at the activity if it has none.
fn zero(ty: &Type, span: Span) -> TokenStream {
    let check = quote_spanned!(span=> ::enzyme::rt::differentiable::<#ty>());
    quote!({ #check; <#ty as ::enzyme::Differentiable>::zero() })
}

/// Writes the parts for the result; what the derivative returns, and its type.
fn take_result(
    parts: &mut Parts,
    mode: Mode,
    width: u32,
    result: Option<(&Type, &Given)>,
) -> (TokenStream, TokenStream) {
    let mut returned = std::mem::take(&mut parts.returned);
    if let Some((ty, given)) = result {
        let [out, x, shadow] = ["out", "to", "out_shadow"].map(|name| Ident::new(name, Span::mixed_site()));
        parts.before.push(quote!(let mut #out = ::core::mem::MaybeUninit::<#ty>::uninit();));
        parts.names.push(x);
        parts.types.push(quote!(*mut _));
        parts.values.push(quote!(#out.as_mut_ptr()));
        let is_constant = *given == Activity::Const;
        parts.marker.extend([
            annotation(Given { activity: if is_constant { Activity::Dual } else { given.activity }, ..*given }),
            quote!(#out.as_mut_ptr()),
        ]);
        let value = quote!(#out.assume_init());
        for lane in 0..width {
            let shadow = format_ident!("{shadow}_{lane}");
            let start = match mode {
                _ if is_constant => quote!(::enzyme::rt::no_shadow::<#ty>()),
                Mode::Reverse if lane + 1 == width => quote!(dret),
                Mode::Reverse => quote!(::core::clone::Clone::clone(&dret)),
                Mode::Forward => zero(ty, given.span),
            };
            let check = quote_spanned!(given.span=> ::enzyme::rt::differentiable::<#ty>());
            let check = (!is_constant).then_some(check);
            parts.before.push(quote!(#check; let mut #shadow = #start;));
            parts.marker.push(quote!(&raw mut #shadow));
            if mode == Mode::Forward && !is_constant {
                returned.push((quote!(#shadow), quote!(#ty)));
            }
        }
        if !given.activity.is_only() {
            returned.insert(0, (value, quote!(#ty)));
        }
        if mode == Mode::Forward && width > 1 && !is_constant {
            let (values, count) = (returned.iter().map(|(value, _)| value), returned.len());
            return (quote!([#(#values),*]), quote!([#ty; #count]));
        }
    }
    let (values, types): (Vec<_>, Vec<_>) = returned.into_iter().unzip();
    match values.as_slice() {
        [one] => (one.clone(), types[0].clone()),
        _ => (quote!((#(#values),*)), quote!((#(#types),*))),
    }
}

/// Whether one of these words stands among the tokens, in whatever brackets.
fn has_word(tokens: TokenStream, words: &[&str]) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => words.iter().any(|word| ident == word),
        TokenTree::Group(group) => has_word(group.stream(), words),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

fn write(
    mode: Mode,
    attribute: &Attribute,
    function: &ItemFn,
    inputs: &[TokenStream],
    parts: &Parts,
    (value, ty): &(TokenStream, TokenStream),
) -> TokenStream {
    let (sig, vis, name) = (&function.sig, &function.vis, &attribute.name);
    let original = &sig.ident;
    let names_self = has_word(sig.to_token_stream(), &["Self", "self"]);
    let primal = if names_self { quote!(Self::#original) } else { quote!(#original) };
    // Types are passed on; lifetimes, and types of arguments that have no name, are inferred.
    let has_impl =
        sig.inputs.iter().any(|input| matches!(input, FnArg::Typed(a) if has_word(a.ty.to_token_stream(), &["impl"])));
    let generics: Vec<&Ident> = sig
        .generics
        .params
        .iter()
        .filter_map(|param| match param {
            syn::GenericParam::Type(param) => Some(&param.ident),
            syn::GenericParam::Const(param) => Some(&param.ident),
            syn::GenericParam::Lifetime(_) => None,
        })
        .collect();
    let primal = if generics.is_empty() || has_impl { primal } else { quote!(#primal::<#(#generics),*>) };

    let Parts { before, names, types, calls, values, marker, .. } = parts;
    let [call, to] = ["primal", "to"].map(|name| Ident::new(name, Span::mixed_site()));
    let call_of_primal = quote!(#primal(#(#calls),*));
    let has_result = names.contains(&to);
    let body = if has_result { quote!(::core::ptr::write(#to, #call_of_primal)) } else { quote!(#call_of_primal) };
    let function_of_mode = match mode {
        Mode::Forward => quote!(::enzyme::rt::forward),
        Mode::Reverse => quote!(::enzyme::rt::reverse),
    };
    let width = attribute.width;
    let lanes = (width > 1).then(|| quote!(, &raw const ::enzyme::rt::enzyme_width, #width));
    let about = format!(" The {}-mode derivative of [`{original}`].", mode_word(mode));
    let (unsafety, heads, clause) = (&sig.unsafety, &sig.generics, &sig.generics.where_clause);
    let params = (!heads.params.is_empty()).then(|| {
        let params = &heads.params;
        quote!(<#params>)
    });
    quote! {
        #[doc = #about]
        #[allow(unused_mut, unused_unsafe, clippy::all)]
        #vis #unsafety fn #name #params (#(#inputs),*) -> #ty #clause {
            // SAFETY: the closure calls the primal with the arguments of this function, of which shadows have the types and lengths.
            unsafe {
                #(#before)*
                let #call: unsafe fn(#(#types),*) = |#(#names),*| unsafe { #body };
                if false {
                    #call(#(#values),*);
                }
                #function_of_mode(#call as *const ::core::ffi::c_void #lanes, #(#marker),*);
                #value
            }
        }
    }
}
