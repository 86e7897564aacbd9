//! Parses LLVM assembly.
//!
//! Three steps over the tokens: find the top-level items; read all types, then the headers of globals and functions
//! (so that everything may be named before it is defined); then initialisers and bodies. The first error ends it.

mod attrs;
mod body;
mod consts;
mod control;
mod header;
mod inst;
mod meta;
mod numbers;
mod scan;
mod types;

use std::borrow::Cow;
use std::collections::HashMap;

use cranelift_entity::SecondaryMap;

use crate::func::FuncAttrs;
use crate::ids::{FuncId, GlobalId, LocId, TypeId};
use crate::module::{Loc, Module};

use super::MAX_DEPTH;
use super::lexer::{Tok, Token, tokens, unescape};

/// Why a text is not a module.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
    /// What is wrong.
    pub message: String,
}

/// Parses a module in LLVM assembly.
pub fn parse_module(source: &str) -> Result<Module, ParseError> {
    let mut parser = Parser::new(source);
    parser.module().map_err(|fail| {
        let before = source.get(..fail.at as usize).unwrap_or(source);
        let line = before.bytes().filter(|b| *b == b'\n').count() as u32 + 1;
        let column = (before.len() - before.rfind('\n').map_or(0, |n| n + 1)) as u32 + 1;
        ParseError { line, column, message: fail.message }
    })?;
    Ok(parser.module)
}

/// An error at a byte of the source.
#[derive(Debug)]
struct Fail {
    at: u32,
    message: String,
}

type Res<T> = Result<T, Fail>;

/// A name without its sigil, or a number in its place.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Name<'a> {
    Text(Cow<'a, str>),
    Number(u32),
}

/// What a global name stands for.
#[derive(Clone, Copy)]
enum Symbol {
    Global(GlobalId),
    Func(FuncId),
}

/// A named type.
#[derive(Clone, Copy)]
enum NamedType {
    /// Defined at this token.
    At(usize),
    Busy,
    Done(TypeId),
}

/// A body still to be read.
struct BodyAt {
    func: FuncId,
    /// Token of the opening brace.
    at: usize,
    /// Tokens of the names of parameters.
    param_names: Vec<Option<usize>>,
}

struct Parser<'a> {
    source: &'a str,
    tokens: Vec<Token>,
    at: usize,
    depth: u32,
    module: Module,
    named_types: HashMap<Name<'a>, NamedType>,
    /// Height, and size written out, of the types made here.
    type_sizes: SecondaryMap<TypeId, (u32, u32)>,
    symbols: HashMap<Name<'a>, Symbol>,
    groups: HashMap<u32, FuncAttrs>,
    /// Tokens at which numbered metadata nodes are defined.
    nodes: HashMap<u32, usize>,
    /// Locations by the token of their node, and by what they say.
    locs: HashMap<usize, Option<LocId>>,
    known_locs: HashMap<Loc, LocId>,
    bodies: Vec<BodyAt>,
    /// Tokens at which bodies begin, kept while they are read.
    body_starts: HashMap<FuncId, usize>,
    /// Positions of labels, of functions whose blocks have their address taken.
    labels: HashMap<FuncId, HashMap<Name<'a>, u32>>,
}

impl<'a> Parser<'a> {
    fn new(source: &'a str) -> Parser<'a> {
        Parser {
            source,
            tokens: tokens(source),
            at: 0,
            depth: 0,
            module: Module::default(),
            named_types: HashMap::new(),
            type_sizes: SecondaryMap::new(),
            symbols: HashMap::new(),
            groups: HashMap::new(),
            nodes: HashMap::new(),
            locs: HashMap::new(),
            known_locs: HashMap::new(),
            bodies: Vec::new(),
            body_starts: HashMap::new(),
            labels: HashMap::new(),
        }
    }

    fn module(&mut self) -> Res<()> {
        let items = self.scan()?;
        self.headers(&items)?;
        for body in std::mem::take(&mut self.bodies) {
            self.body(body)?;
        }
        Ok(())
    }

    /// The token `ahead` of the current one; the end repeats.
    fn peek_at(&self, ahead: usize) -> Token {
        self.token(self.at.saturating_add(ahead))
    }

    fn token(&self, index: usize) -> Token {
        let end = self.source.len() as u32;
        self.tokens.get(index).copied().unwrap_or(Token { tok: Tok::Eof, start: end, end })
    }

    fn peek(&self) -> Tok {
        self.peek_at(0).tok
    }

    fn text_of(&self, token: Token) -> &'a str {
        self.source.get(token.start as usize..token.end as usize).unwrap_or("")
    }

    /// The source of the current token.
    fn text(&self) -> &'a str {
        self.text_of(self.peek_at(0))
    }

    /// The source from token `from` to before token `to`.
    fn slice(&self, from: usize, to: usize) -> &'a str {
        if to <= from {
            return "";
        }
        self.source.get(self.token(from).start as usize..self.token(to - 1).end as usize).unwrap_or("")
    }

    fn bump(&mut self) -> Token {
        let token = self.peek_at(0);
        if self.at < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    fn fail<T>(&self, message: impl Into<String>) -> Res<T> {
        Err(Fail { at: self.peek_at(0).start, message: message.into() })
    }

    fn fail_at<T>(&self, token: usize, message: impl Into<String>) -> Res<T> {
        Err(Fail { at: self.token(token).start, message: message.into() })
    }

    fn unexpected<T>(&self, wanted: &str) -> Res<T> {
        let found = match self.peek() {
            Tok::Eof => "the end of the text".to_owned(),
            Tok::Error => "a character that begins nothing or a string without end".to_owned(),
            _ => format!("'{}'", self.text().chars().take(40).collect::<String>()),
        };
        self.fail(format!("expected {wanted}, found {found}"))
    }

    fn is(&self, punct: u8) -> bool {
        self.peek() == Tok::Punct(punct)
    }

    fn eat(&mut self, punct: u8) -> bool {
        let found = self.is(punct);
        if found {
            self.bump();
        }
        found
    }

    fn expect(&mut self, punct: u8) -> Res<()> {
        if self.eat(punct) { Ok(()) } else { self.unexpected(&format!("'{}'", punct as char)) }
    }

    /// The current token if it is a bare word.
    fn word(&self) -> Option<&'a str> {
        (self.peek() == Tok::Word).then(|| self.text())
    }

    fn is_word(&self, word: &str) -> bool {
        self.word() == Some(word)
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.bump();
        }
        found
    }

    fn expect_word(&mut self, word: &str) -> Res<()> {
        if self.eat_word(word) { Ok(()) } else { self.unexpected(&format!("'{word}'")) }
    }

    /// A decimal number without sign.
    fn number<T: std::str::FromStr>(&mut self) -> Res<T> {
        if self.peek() != Tok::Int {
            return self.unexpected("a number");
        }
        match self.text().parse() {
            Ok(n) => {
                self.bump();
                Ok(n)
            }
            Err(_) => self.fail("number out of range"),
        }
    }

    /// `( n )`.
    fn number_in_parentheses(&mut self) -> Res<u32> {
        self.expect(b'(')?;
        let n = self.number()?;
        self.expect(b')')?;
        Ok(n)
    }

    fn string(&mut self) -> Res<String> {
        if self.peek() != Tok::Str {
            return self.unexpected("a string");
        }
        let token = self.bump();
        Ok(unquote(self.text_of(token)).into_owned())
    }

    /// The name in a token, whose sigil or colon is taken off.
    fn name_of(&self, token: Token) -> Name<'a> {
        let text = self.text_of(token);
        let bare = match token.tok {
            Tok::Label => text.strip_suffix(':').unwrap_or(text),
            Tok::Local | Tok::Global | Tok::AttrGroup | Tok::Comdat => text.get(1..).unwrap_or(""),
            _ => text,
        };
        if bare.starts_with('"') {
            return Name::Text(unquote(bare));
        }
        match bare.parse() {
            Ok(n) if bare.bytes().all(|c| c.is_ascii_digit()) => Name::Number(n),
            _ => Name::Text(Cow::Borrowed(bare)),
        }
    }

    /// Takes a token that is a name.
    fn bump_name(&mut self) -> Name<'a> {
        let token = self.bump();
        self.name_of(token)
    }

    fn enter(&mut self) -> Res<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { self.fail("nested too deeply") } else { Ok(()) }
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    /// From an opening bracket to after the one that closes it.
    fn skip_group(&mut self) -> Res<()> {
        let mut open = 0u32;
        loop {
            match self.peek() {
                Tok::Punct(b'(' | b'[' | b'{') => open += 1,
                Tok::Punct(b')' | b']' | b'}') => open = open.saturating_sub(1),
                Tok::Eof | Tok::Error => return self.unexpected("a closing bracket"),
                _ => {}
            }
            self.bump();
            if open == 0 {
                return Ok(());
            }
        }
    }
}

/// The content of a quoted string.
fn unquote(text: &str) -> Cow<'_, str> {
    let inside = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(text);
    if inside.contains('\\') {
        Cow::Owned(String::from_utf8_lossy(&unescape(inside)).into_owned())
    } else {
        Cow::Borrowed(inside)
    }
}

/// Whether a word begins a constant expression of a cast or an arithmetic operation.
fn words_of_expressions(word: &str) -> bool {
    super::words::find_cast_op(word).is_some() || super::words::find_bin_op(word).is_some()
}
