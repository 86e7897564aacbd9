//! Parses attributes: those that the crate knows are kept, the others skipped.

use super::types::is_type_word;
use super::{Name, Parser, Res, Tok, unquote};
use crate::func::{FuncAttrs, ParamAttrs};

/// Words that begin a constant, and so end a list of attributes before it.
fn begins_constant(word: &str) -> bool {
    matches!(
        word,
        "true"
            | "false"
            | "null"
            | "none"
            | "undef"
            | "poison"
            | "zeroinitializer"
            | "splat"
            | "asm"
            | "blockaddress"
            | "dso_local_equivalent"
            | "no_cfi"
            | "ptrauth"
            | "getelementptr"
            | "extractelement"
            | "insertelement"
            | "shufflevector"
    ) || super::words_of_expressions(word)
}

impl Parser<'_> {
    /// Attributes before a value, a parameter name or the end of a parameter.
    pub(super) fn param_attrs(&mut self) -> Res<ParamAttrs> {
        let mut out = ParamAttrs::default();
        loop {
            match self.peek() {
                Tok::Word if !begins_constant(self.text()) && !is_type_word(self.text()) => {
                    let word = self.text();
                    self.bump();
                    match word {
                        "noalias" => out.noalias = true,
                        "readonly" => out.readonly = true,
                        "writeonly" => out.writeonly = true,
                        "readnone" => (out.readonly, out.writeonly) = (true, true),
                        "nocapture" => out.nocapture = true,
                        "sret" | "byval" if self.eat(b'(') => {
                            let ty = Some(self.value_type()?);
                            self.expect(b')')?;
                            if word == "sret" {
                                out.sret = ty;
                            } else {
                                out.byval = ty;
                            }
                        }
                        "captures" => {
                            let is_none = self.is(b'(') && self.text_of(self.peek_at(1)) == "none";
                            out.nocapture |= is_none && self.peek_at(2).tok == Tok::Punct(b')');
                            self.skip_argument(word)?;
                        }
                        _ => self.skip_argument(word)?,
                    }
                }
                Tok::Str => self.skip_string_attr(),
                Tok::AttrGroup => {
                    self.bump();
                }
                _ => return Ok(out),
            }
        }
    }

    /// `(...)` or `=8` after the word of an attribute; `8` after `align`.
    fn skip_argument(&mut self, word: &str) -> Res<()> {
        if self.is(b'(') {
            return self.skip_group();
        }
        if (self.eat(b'=') || word == "align") && self.peek() == Tok::Int {
            self.bump();
        }
        Ok(())
    }

    fn skip_string_attr(&mut self) {
        self.bump();
        if self.is(b'=') && self.peek_at(1).tok == Tok::Str {
            self.bump();
            self.bump();
        }
    }

    /// One attribute of a function; false if none begins here.
    pub(super) fn func_attr(&mut self, out: &mut FuncAttrs) -> Res<bool> {
        match self.peek() {
            Tok::Str => {
                out.inactive |= unquote(self.text()) == "enzyme_inactive";
                self.skip_string_attr();
            }
            Tok::AttrGroup => {
                if let Name::Number(n) = self.name_of(self.peek_at(0))
                    && let Some(group) = self.groups.get(&n)
                {
                    let FuncAttrs { no_read, no_write, arg_mem_only, noreturn, nounwind, inactive, interposable } =
                        *group;
                    out.no_read |= no_read;
                    out.no_write |= no_write;
                    out.arg_mem_only |= arg_mem_only;
                    out.noreturn |= noreturn;
                    out.nounwind |= nounwind;
                    out.inactive |= inactive;
                    out.interposable |= interposable;
                }
                self.bump();
            }
            Tok::Word => {
                let word = self.text();
                self.bump();
                match word {
                    "noreturn" => out.noreturn = true,
                    "nounwind" => out.nounwind = true,
                    "readnone" => (out.no_read, out.no_write) = (true, true),
                    "readonly" => out.no_write = true,
                    "writeonly" => out.no_read = true,
                    "argmemonly" => out.arg_mem_only = true,
                    "memory" if self.is(b'(') => self.memory(out)?,
                    _ => self.skip_argument(word)?,
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `(read, argmem: readwrite, ...)`.
    fn memory(&mut self, out: &mut FuncAttrs) -> Res<()> {
        self.expect(b'(')?;
        // Reads and writes of argument memory, and of any other; the default comes first.
        let mut args = None;
        let mut named = (false, false);
        let mut default = (false, false);
        while !self.is(b')') {
            let location = (self.peek() == Tok::Label).then(|| {
                let token = self.bump();
                self.text_of(token)
            });
            let access = match self.word() {
                Some("none") => (false, false),
                Some("read") => (true, false),
                Some("write") => (false, true),
                Some("readwrite") => (true, true),
                _ => return self.unexpected("none, read, write or readwrite"),
            };
            self.bump();
            match location {
                None => default = access,
                Some("argmem:") => args = Some(access),
                Some(_) => named = (named.0 || access.0, named.1 || access.1),
            }
            if !self.eat(b',') {
                break;
            }
        }
        self.expect(b')')?;
        let args = args.unwrap_or(default);
        let other = (named.0 || default.0, named.1 || default.1);
        out.no_read |= !args.0 && !other.0;
        out.no_write |= !args.1 && !other.1;
        out.arg_mem_only |= !other.0 && !other.1;
        Ok(())
    }
}
