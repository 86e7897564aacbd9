//! Splits LLVM assembly into tokens.
//!
//! A token is its kind and its place in the source, nothing else: names and numbers are read from the source when
//! they are needed. Follows the lexical rules of LLVM's own lexer, including that a word followed at once by a colon
//! is a label, and that `-` and `$` may be part of words.

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tok {
    /// End of the text.
    Eof,
    /// A character that begins no token, or a string without end.
    Error,
    /// `%name`, `%"name"` or `%7`.
    Local,
    /// `@name`, `@"name"` or `@7`.
    Global,
    /// `$name`.
    Comdat,
    /// `name:`, `"name":` or `7:`; the colon belongs to it.
    Label,
    /// Keyword, type or other bare word.
    Word,
    /// `-12`, `12`, `u0x1F`, `s0x1F`.
    Int,
    /// `1.5e+00`.
    Decimal,
    /// `0x3FF0...`, `0xH3C00` and the like.
    Hex,
    /// `"..."`.
    Str,
    /// `c"..."`.
    CStr,
    /// `#7`.
    AttrGroup,
    /// `!name`.
    Meta,
    /// `^7`.
    Summary,
    /// `...`.
    Dots,
    /// One of `= , * ( ) [ ] { } < > ! | # :`.
    Punct(u8),
}

/// A token and its place: bytes `start..end` of the source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// Kind.
    pub tok: Tok,
    /// First byte.
    pub start: u32,
    /// First byte after it.
    pub end: u32,
}

/// The tokens of `source`, ending in [`Tok::Eof`]; stops at the first [`Tok::Error`]. Sources over 4 GiB are an error
/// at their beginning.
pub fn tokens(source: &str) -> Vec<Token> {
    let mut out = Vec::with_capacity(source.len() / 4 + 1);
    let Ok(len) = u32::try_from(source.len()) else {
        return vec![Token { tok: Tok::Error, start: 0, end: 0 }];
    };
    let mut lexer = Lexer { bytes: source.as_bytes(), at: 0 };
    loop {
        lexer.skip_blank();
        let start = lexer.at;
        let tok = lexer.next();
        out.push(Token { tok, start: start as u32, end: (lexer.at as u32).min(len) });
        if matches!(tok, Tok::Eof | Tok::Error) {
            return out;
        }
    }
}

struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
}

fn is_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, b'-' | b'$' | b'.' | b'_')
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn run(&mut self, accept: impl Fn(u8) -> bool) {
        while self.bytes.get(self.at).is_some_and(|c| accept(*c)) {
            self.at += 1;
        }
    }

    fn skip_blank(&mut self) {
        loop {
            self.run(|c| c.is_ascii_whitespace() || c == 0 || c == 0x0b);
            if self.peek(0) != b';' {
                return;
            }
            self.run(|c| c != b'\n');
        }
    }

    fn next(&mut self) -> Tok {
        let Some(&c) = self.bytes.get(self.at) else { return Tok::Eof };
        match c {
            b'%' => self.name(Tok::Local),
            b'@' => self.name(Tok::Global),
            b'"' => {
                if !self.string() {
                    return Tok::Error;
                }
                self.label_or(Tok::Str)
            }
            b'!' => {
                self.at += 1;
                let c = self.peek(0);
                if c.is_ascii_alphabetic() || matches!(c, b'-' | b'$' | b'.' | b'_' | b'\\') {
                    self.run(|c| is_word(c) || c == b'\\');
                    return Tok::Meta;
                }
                Tok::Punct(b'!')
            }
            b'#' => self.counted(Tok::AttrGroup, Tok::Punct(b'#')),
            b'^' => self.counted(Tok::Summary, Tok::Error),
            b'.' if self.peek(1) == b'.' && self.peek(2) == b'.' && !is_word(self.peek(3)) => {
                self.at += 3;
                Tok::Dots
            }
            b'c' if self.peek(1) == b'"' => {
                self.at += 1;
                if self.string() { Tok::CStr } else { Tok::Error }
            }
            b'=' | b',' | b'*' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>' | b'|' | b':' => {
                self.at += 1;
                Tok::Punct(c)
            }
            b'0'..=b'9' | b'+' | b'-' => self.number(),
            b'$' => self.comdat(),
            _ if is_word(c) => self.word(),
            _ => Tok::Error,
        }
    }

    /// A string from its opening quote; false if it has no end.
    fn string(&mut self) -> bool {
        self.at += 1;
        self.run(|c| c != b'"');
        let closed = self.at < self.bytes.len();
        self.at += usize::from(closed);
        closed
    }

    fn label_or(&mut self, tok: Tok) -> Tok {
        if self.peek(0) == b':' {
            self.at += 1;
            return Tok::Label;
        }
        tok
    }

    fn name(&mut self, tok: Tok) -> Tok {
        self.at += 1;
        match self.peek(0) {
            b'"' => {
                if self.string() {
                    tok
                } else {
                    Tok::Error
                }
            }
            b'0'..=b'9' => {
                self.run(|c| c.is_ascii_digit());
                tok
            }
            c if is_word(c) => {
                self.run(is_word);
                tok
            }
            _ => Tok::Error,
        }
    }

    fn counted(&mut self, tok: Tok, bare: Tok) -> Tok {
        self.at += 1;
        if !self.peek(0).is_ascii_digit() {
            return bare;
        }
        self.run(|c| c.is_ascii_digit());
        tok
    }

    fn comdat(&mut self) -> Tok {
        let start = self.at;
        self.at += 1;
        if self.peek(0) == b'"' {
            return if self.string() { Tok::Comdat } else { Tok::Error };
        }
        self.run(is_word);
        if self.at == start + 1 { Tok::Error } else { self.label_or(Tok::Comdat) }
    }

    fn word(&mut self) -> Tok {
        let start = self.at;
        if matches!(self.peek(0), b'u' | b's') && self.peek(1) == b'0' && self.peek(2) == b'x' {
            self.at += 3;
            self.run(|c| c.is_ascii_hexdigit());
            if self.at > start + 3 && !is_word(self.peek(0)) && self.peek(0) != b':' {
                return Tok::Int;
            }
            self.at = start;
        }
        self.run(is_word);
        if self.peek(0) == b':' {
            self.at += 1;
            return Tok::Label;
        }
        // A keyword ends before the first character that only names may hold.
        self.at = start;
        self.run(|c| c.is_ascii_alphanumeric() || c == b'_');
        if self.at == start { Tok::Error } else { Tok::Word }
    }

    fn number(&mut self) -> Tok {
        let start = self.at;
        self.at += 1;
        if !self.bytes[start].is_ascii_digit() && !self.peek(0).is_ascii_digit() {
            self.run(is_word);
            return if self.bytes[start] == b'-' { self.label_or(Tok::Error) } else { Tok::Error };
        }
        if self.bytes[start] == b'0' && self.peek(0) == b'x' {
            self.at += 1;
            if matches!(self.peek(0), b'K' | b'L' | b'M' | b'H' | b'R') {
                self.at += 1;
            }
            let digits = self.at;
            self.run(|c| c.is_ascii_hexdigit());
            return if self.at > digits { Tok::Hex } else { Tok::Error };
        }
        self.run(|c| c.is_ascii_digit());
        if self.peek(0) == b'.' {
            self.at += 1;
            self.run(|c| c.is_ascii_digit());
            let signed = usize::from(matches!(self.peek(1), b'+' | b'-'));
            if matches!(self.peek(0), b'e' | b'E') && self.peek(1 + signed).is_ascii_digit() {
                self.at += 1 + signed;
                self.run(|c| c.is_ascii_digit());
            }
            return Tok::Decimal;
        }
        if self.bytes[start] != b'+' {
            let end = self.at;
            self.run(is_word);
            if self.peek(0) == b':' {
                self.at += 1;
                return Tok::Label;
            }
            self.at = end;
            return Tok::Int;
        }
        Tok::Error
    }
}

/// The bytes of a string's inside: `\\` is a backslash, `\hh` the byte of that number.
pub fn unescape(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((c, after)) = rest.split_first() {
        rest = after;
        if *c == b'\\' {
            if let [b'\\', after @ ..] = rest {
                rest = after;
            } else if let [high, low, after @ ..] = rest
                && let (Some(h), Some(l)) = ((*high as char).to_digit(16), (*low as char).to_digit(16))
            {
                out.push((h * 16 + l) as u8);
                rest = after;
                continue;
            }
        }
        out.push(*c);
    }
    out
}

/// The inverse of [`unescape`], as LLVM writes it: printable ASCII but `"` and `\` stands for itself.
pub fn escape(bytes: &[u8], out: &mut String) {
    use std::fmt::Write;
    for b in bytes {
        match b {
            b'\\' => out.push_str("\\\\"),
            b'"' => out.push_str("\\22"),
            0x20..=0x7e => out.push(*b as char),
            _ => {
                let _ = write!(out, "\\{b:02X}");
            }
        }
    }
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(Tok, &str)> {
        tokens(text).iter().map(|t| (t.tok, &text[t.start as usize..t.end as usize])).collect()
    }

    #[test]
    fn tokens_are_those_of_llvm() {
        let p = Tok::Punct;
        for (text, expect) in [
            ("%a.b-1 = ", vec![(Tok::Local, "%a.b-1"), (p(b'='), "=")]),
            ("%\"x y\",", vec![(Tok::Local, "%\"x y\""), (p(b','), ",")]),
            ("%7 @12", vec![(Tok::Local, "%7"), (Tok::Global, "@12")]),
            (
                "for.body: 12: \"q r\": -x:",
                vec![(Tok::Label, "for.body:"), (Tok::Label, "12:"), (Tok::Label, "\"q r\":"), (Tok::Label, "-x:")],
            ),
            (
                "-3 1.5e-3 1.0 0xK3F 0x3FF0 u0x1F -2.",
                vec![
                    (Tok::Int, "-3"),
                    (Tok::Decimal, "1.5e-3"),
                    (Tok::Decimal, "1.0"),
                    (Tok::Hex, "0xK3F"),
                    (Tok::Hex, "0x3FF0"),
                    (Tok::Int, "u0x1F"),
                    (Tok::Decimal, "-2."),
                ],
            ),
            ("c\"a\\00\" \"b\" ; c\n...", vec![(Tok::CStr, "c\"a\\00\""), (Tok::Str, "\"b\""), (Tok::Dots, "...")]),
            (
                "!dbg !7 #3 #dbg ^4",
                vec![
                    (Tok::Meta, "!dbg"),
                    (p(b'!'), "!"),
                    (Tok::Int, "7"),
                    (Tok::AttrGroup, "#3"),
                    (p(b'#'), "#"),
                    (Tok::Word, "dbg"),
                    (Tok::Summary, "^4"),
                ],
            ),
            (
                "$a.b [3 x i8]",
                vec![
                    (Tok::Comdat, "$a.b"),
                    (p(b'['), "["),
                    (Tok::Int, "3"),
                    (Tok::Word, "x"),
                    (Tok::Word, "i8"),
                    (p(b']'), "]"),
                ],
            ),
            ("x \"open", vec![(Tok::Word, "x"), (Tok::Error, "\"open")]),
        ] {
            let mut expect = expect;
            if expect.last().is_none_or(|e| e.0 != Tok::Error) {
                expect.push((Tok::Eof, ""));
            }
            assert_eq!(kinds(text), expect, "{text}");
        }
    }

    #[test]
    fn strings_round_trip() {
        let all: Vec<u8> = (0..=255).collect();
        let mut text = String::new();
        escape(&all, &mut text);
        assert_eq!(unescape(&text), all);
        assert_eq!(unescape("\\4z\\"), b"\\4z\\");
    }
}
