//! Symbols as people write them: `_ZN3geo4areaERKd` is `geo::area`, `_QMgeoParea` is `geo::area`.
//!
//! Manglings: Itanium C++ ABI, section 5.1 (and with it Rust's older one); Rust RFC 2603; flang's `lib/Optimizer/Support/InternalNames.cpp`.
//! Left out: parameters, results, the hash of a Rust symbol. Two functions that differ in nothing else have one name here, so that what
//! is meant for a program (`enzyme explain`, a function to be marked) goes by symbols.

use std::borrow::Cow;

/// What a message says, with names in place of quoted symbols.
pub fn readable(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("'_") {
        let (before, quoted) = rest.split_at(start + 1);
        let end = quoted.find('\'').unwrap_or(quoted.len());
        let (symbol, after) = quoted.split_at(end);
        out.push_str(before);
        out.push_str(&of_symbol(symbol).unwrap_or_else(|| symbol.to_owned()));
        rest = after;
    }
    if out.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(out + rest) }
}

/// The name of a symbol that a C++, Rust or Fortran compiler made.
pub fn of_symbol(symbol: &str) -> Option<String> {
    if let Ok(name) = rustc_demangle::try_demangle(symbol) {
        return Some(format!("{name:#}"));
    }
    if symbol.starts_with("_Z") {
        let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
        return cpp_demangle::Symbol::new(symbol.as_bytes()).ok()?.demangle_with_options(&options).ok();
    }
    of_fortran(symbol.strip_prefix("_Q")?)
}

/// Modules (`M`), submodules (`S`) and hosts (`F`) come before a procedure (`P`) or a variable (`E`); Fortran has no capitals there. What
/// flang makes for itself has no name.
fn of_fortran(mangled: &str) -> Option<String> {
    let starts: Vec<usize> = mangled.char_indices().filter(|(_, c)| c.is_ascii_uppercase()).map(|(n, _)| n).collect();
    let ends = starts.iter().skip(1).copied().chain([mangled.len()]);
    let words = starts.iter().zip(ends).map(|(start, end)| (&mangled[*start..=*start], &mangled[start + 1..end]));
    let names: Option<Vec<&str>> =
        words.map(|(kind, name)| ("MSFPE".contains(kind) && !name.is_empty()).then_some(name)).collect();
    names.filter(|_| starts.first() == Some(&0)).map(|names| names.join("::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_names() {
        let name = |symbol| of_symbol(symbol).unwrap_or_default();
        assert_eq!(name("_ZN3geo4areaERKd"), "geo::area");
        assert_eq!(name("_Z3mixPKdPd"), "mix");
        assert_eq!(name("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE"), "core::fmt::Write::write_fmt");
        assert_eq!(name("_RNvCs1234_7mycrate3foo"), "mycrate::foo");
        assert_eq!(name("_QMgeoParea"), "geo::area");
        assert_eq!(name("_QPsolve"), "solve");
        assert_eq!(name("_QMgeoFareaPinner"), "geo::area::inner");
        assert_eq!(of_symbol("_QQmain"), None);
        assert_eq!(of_symbol("cblas_dgemm"), None);
        assert_eq!(of_symbol("_Quick_exit"), None);
    }

    #[test]
    fn only_quoted_symbols_of_a_message_change() {
        assert_eq!(readable("the call of '_Z3mixPKdPd' isn't '_known' here"), "the call of 'mix' isn't '_known' here");
        assert_eq!(readable("it's '_exit"), "it's '_exit");
        assert_eq!(readable("nothing"), "nothing");
    }
}
