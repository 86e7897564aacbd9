//! Rust source as a flat list of words with their lines: comments, strings and, where asked, code of tests are left out.
//!
//! This is enough to find `unsafe` or a call of `panic!` without being misled by text about them, also within macros, which a parser
//! of items would not look into.

use std::str::FromStr;

use anyhow::{Result, anyhow};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A word or a sign of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Its text; the brackets of groups are words too. A string is `""`.
    pub text: String,
    /// Its line, from 1.
    pub line: usize,
}

/// What was read from one file.
#[derive(Default, Debug)]
pub struct Source {
    /// The words in order.
    pub words: Vec<Word>,
    /// Names of modules in files of their own that exist for tests only.
    pub test_modules: Vec<String>,
}

/// Reads source text; `with_tests` says whether code that exists for tests only is wanted.
pub fn read(text: &str, with_tests: bool) -> Result<Source> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let stream = TokenStream::from_str(text).map_err(|error| anyhow!("line {}: {error}", error.span().start().line))?;
    let mut source = Source::default();
    walk(stream, with_tests, &mut source);
    Ok(source)
}

fn walk(stream: TokenStream, with_tests: bool, source: &mut Source) {
    let mut trees = stream.into_iter().peekable();
    while let Some(tree) = trees.next() {
        let line = tree.span().start().line;
        let mut push = |text: String| source.words.push(Word { text, line });
        match tree {
            TokenTree::Punct(sign) if sign.as_char() == '#' => {
                let attribute = match trees.peek() {
                    Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket => group.stream(),
                    // An inner attribute (`#![...]`) or a sign of a macro: no item follows.
                    _ => {
                        push("#".to_owned());
                        continue;
                    }
                };
                if !with_tests && is_for_tests(&attribute) {
                    trees.next();
                    skip_item(&mut trees, source);
                } else {
                    push("#".to_owned());
                }
            }
            TokenTree::Punct(sign) => push(sign.as_char().to_string()),
            TokenTree::Ident(name) => push(name.to_string()),
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                push(if text.ends_with('"') || text.ends_with('#') { "\"\"".to_owned() } else { text });
            }
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                push(open.to_owned());
                walk(group.stream(), with_tests, source);
                source.words.push(Word { text: close.to_owned(), line: group.span_close().start().line });
            }
        }
    }
}

/// Whether an attribute (without its brackets) keeps its item for tests: `test`, `cfg(test)`, `cfg(all(test, ...))`.
fn is_for_tests(attribute: &TokenStream) -> bool {
    let words: Vec<String> = flat(attribute.clone());
    let has = |name: &str| words.iter().any(|word| word == name);
    match words.first().map(String::as_str) {
        Some("test") => words.len() == 1,
        Some("cfg") => has("test") && !has("not") && !has("any"),
        _ => false,
    }
}

fn flat(stream: TokenStream) -> Vec<String> {
    let mut words = Vec::new();
    for tree in stream {
        match tree {
            TokenTree::Group(group) => words.extend(flat(group.stream())),
            other => words.push(other.to_string()),
        }
    }
    words
}

/// Skips up to the end of an item: a block in braces or a semicolon. Notes the name if it is a module in another file.
fn skip_item(trees: &mut impl Iterator<Item = TokenTree>, source: &mut Source) {
    let mut last_names: [String; 2] = Default::default();
    for tree in trees {
        match tree {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => return,
            TokenTree::Punct(sign) if sign.as_char() == ';' => {
                let [keyword, name] = last_names;
                if keyword == "mod" {
                    source.test_modules.push(name);
                }
                return;
            }
            TokenTree::Ident(name) => {
                last_names.swap(0, 1);
                last_names[1] = name.to_string();
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, with_tests: bool) -> String {
        read(text, with_tests).unwrap().words.into_iter().map(|word| word.text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_strings_and_tests_are_left_out() {
        let text =
            "//! unsafe\nfn f() { g(\"unsafe\"); /* unsafe */ }\n#[cfg(test)]\nmod tests { unsafe {} }\nfn h() {}";
        assert_eq!(
            words(text, false),
            "# ! fn f ( ) { g ( \"\" ) ; } fn h ( ) { }".replace("# ! ", "# ! [ doc = \"\" ] ")
        );
        assert!(words(text, true).contains("unsafe"));
        assert!(words("#[cfg(not(test))] fn f() { unsafe {} }", false).contains("unsafe"));
        assert!(words("#[cfg(any(test, x))] fn f() { unsafe {} }", false).contains("unsafe"));
        assert_eq!(words("#[test] #[cfg(x)] fn f() { unsafe {} } a", false), "a");
    }

    #[test]
    fn modules_of_tests_are_noted() {
        let source = read("#[cfg(test)]\nmod checks;\nmod real;", false).unwrap();
        assert_eq!(source.test_modules, ["checks"]);
        assert_eq!(source.words.first().unwrap().line, 3);
        assert!(read("fn f( {", false).is_err());
    }
}
