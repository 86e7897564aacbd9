//! Metadata attachments: locations and memory classes are kept, the rest is stepped over.

use super::{Name, Parser, Res, Tok, unquote};
use crate::ids::LocId;
use crate::module::Loc;
use crate::op::MemClass;

/// What the attachments of an instruction say.
#[derive(Clone, Copy, Default)]
pub(super) struct Attached {
    pub loc: Option<LocId>,
    pub mem: MemClass,
}

/// A location before its call sites are known.
struct RawLoc {
    file: String,
    line: u32,
    column: u32,
    scope: String,
    inlined_at: Option<usize>,
}

/// Scopes and call sites followed outwards from one location.
const MAX_SCOPES: usize = 256;

impl<'a> Parser<'a> {
    /// `!kind !node`.
    pub(super) fn skip_attachment(&mut self) -> Res<Attached> {
        let mut out = Attached::default();
        let token = self.bump();
        let node = self.at;
        self.skip_node()?;
        match self.text_of(token) {
            "!dbg" | "!enzyme.loc" => out.loc = self.loc_at(node),
            "!enzyme.mem" => out.mem = self.mem_at(node),
            _ => {}
        }
        Ok(out)
    }

    /// The memory class in `!{!"class"}`, written at token `at` or named there.
    fn mem_at(&self, at: usize) -> MemClass {
        let text = self.node_at(at).map_or("", |node| self.text_of(self.token(node + 3)));
        match text {
            "\"primal\"" => MemClass::Primal,
            "\"shadow\"" => MemClass::Shadow,
            "\"tape\"" => MemClass::Tape,
            lane => match lane.trim_matches('"').strip_prefix("lane").map(str::parse) {
                Some(Ok(n)) => MemClass::Lane(n),
                Some(Err(_)) | None => MemClass::Unknown,
            },
        }
    }

    /// `!7`, `!{...}`, `!Kind(...)`, all perhaps `distinct`.
    pub(super) fn skip_node(&mut self) -> Res<()> {
        self.eat_word("distinct");
        match self.peek() {
            Tok::Meta => {
                self.bump();
                if !self.is(b'(') {
                    return self.unexpected("'('");
                }
                self.skip_group()
            }
            Tok::Punct(b'!') => {
                self.bump();
                match self.peek() {
                    Tok::Int | Tok::Str => {
                        self.bump();
                        Ok(())
                    }
                    Tok::Punct(b'{') => self.skip_group(),
                    _ => self.unexpected("a metadata node"),
                }
            }
            _ => self.unexpected("a metadata node"),
        }
    }

    /// The token at which the node that stands or is named at token `at` begins.
    fn node_at(&self, at: usize) -> Option<usize> {
        if self.token(at).tok == Tok::Punct(b'!') && self.token(at + 1).tok == Tok::Int {
            let number = self.text_of(self.token(at + 1)).parse().ok()?;
            return self.nodes.get(&number).copied();
        }
        Some(at)
    }

    /// Kind and fields of a specialised node: name with colon, token of the value.
    fn node_fields(&self, at: usize) -> Option<(&'a str, Vec<(&'a str, usize)>)> {
        let at = at + usize::from(self.text_of(self.token(at)) == "distinct");
        if self.token(at).tok != Tok::Meta || self.token(at + 1).tok != Tok::Punct(b'(') {
            return None;
        }
        let mut out = Vec::new();
        let mut open = 0u32;
        for i in at + 1.. {
            match self.token(i).tok {
                Tok::Punct(b'(' | b'[' | b'{') => open += 1,
                Tok::Punct(b')' | b']' | b'}') => open = open.saturating_sub(1),
                Tok::Label if open == 1 => out.push((self.text_of(self.token(i)), i + 1)),
                Tok::Eof | Tok::Error => return None,
                _ => {}
            }
            if open == 0 {
                break;
            }
        }
        Some((self.text_of(self.token(at)), out))
    }

    fn small(&self, at: usize) -> u32 {
        self.text_of(self.token(at)).parse().unwrap_or(0)
    }

    fn quoted(&self, at: usize) -> String {
        match self.token(at).tok {
            Tok::Str => unquote(self.text_of(self.token(at))).into_owned(),
            _ => String::new(),
        }
    }

    /// A location written at token `at`, or named there.
    pub(super) fn loc_at(&mut self, at: usize) -> Option<LocId> {
        let mut chain: Vec<(usize, RawLoc)> = Vec::new();
        let mut next = self.node_at(at);
        let mut outer = None;
        while let Some(node) = next {
            if let Some(known) = self.locs.get(&node) {
                outer = *known;
                break;
            }
            if chain.len() >= MAX_SCOPES || chain.iter().any(|c| c.0 == node) {
                break;
            }
            let Some(raw) = self.raw_loc(node) else { break };
            next = raw.inlined_at.and_then(|i| self.node_at(i));
            chain.push((node, raw));
        }
        if chain.is_empty() && outer.is_none() {
            return None;
        }
        for (node, raw) in chain.into_iter().rev() {
            let RawLoc { file, line, column, scope, inlined_at: _ } = raw;
            let loc = Loc { file, line, column, scope, inlined_at: outer };
            let locs = &mut self.module.locs;
            outer = Some(*self.known_locs.entry(loc).or_insert_with_key(|l| locs.push(l.clone())));
            self.locs.insert(node, outer);
        }
        outer
    }

    fn raw_loc(&self, node: usize) -> Option<RawLoc> {
        if self.token(node).tok == Tok::Punct(b'!') {
            return self.own_loc(node);
        }
        let (kind, fields) = self.node_fields(node)?;
        let find = |name: &str| fields.iter().find(|f| f.0 == name).map(|f| f.1);
        let number = |name: &str| find(name).map_or(0, |at| self.small(at));
        match kind {
            "!DILocation" => {
                let (file, scope) = self.scope(find("scope:")?);
                let inlined_at = find("inlinedAt:");
                Some(RawLoc { file, line: number("line:"), column: number("column:"), scope, inlined_at })
            }
            "!DISubprogram" => {
                let (file, scope) = self.scope(node);
                Some(RawLoc { file, line: number("line:"), column: 0, scope, inlined_at: None })
            }
            _ => None,
        }
    }

    /// File of the innermost scope that has one, and name of the function around it.
    fn scope(&self, at: usize) -> (String, String) {
        let mut file = String::new();
        let mut next = self.node_at(at);
        for _ in 0..MAX_SCOPES {
            let Some((kind, fields)) = next.and_then(|n| self.node_fields(n)) else { break };
            let find = |name: &str| fields.iter().find(|f| f.0 == name).map(|f| f.1);
            if file.is_empty()
                && let Some((_, of_file)) = find("file:").and_then(|f| self.node_fields(self.node_at(f)?))
            {
                file = of_file.iter().find(|f| f.0 == "filename:").map(|f| self.quoted(f.1)).unwrap_or_default();
            }
            if kind == "!DISubprogram" {
                return (file, find("name:").map(|n| self.quoted(n)).unwrap_or_default());
            }
            next = find("scope:").and_then(|s| self.node_at(s));
        }
        (file, String::new())
    }

    /// `!{!"file", !"scope", i32 line, i32 column}` and perhaps `, !outer` before the brace.
    fn own_loc(&self, node: usize) -> Option<RawLoc> {
        let shape = [(1, b'{'), (2, b'!'), (4, b','), (5, b'!'), (7, b','), (10, b',')];
        if shape.iter().any(|(i, c)| self.token(node + i).tok != Tok::Punct(*c)) {
            return None;
        }
        let number = |at: usize| self.text_of(self.token(at)).parse::<i64>().unwrap_or(0) as u32;
        Some(RawLoc {
            file: self.quoted(node + 3),
            scope: self.quoted(node + 6),
            line: number(node + 9),
            column: number(node + 12),
            inlined_at: (self.token(node + 13).tok == Tok::Punct(b',')).then_some(node + 14),
        })
    }

    /// The number that a numbered name has.
    pub(super) fn as_number(name: &Name<'_>) -> Option<u32> {
        match name {
            Name::Number(n) => Some(*n),
            Name::Text(_) => None,
        }
    }
}
