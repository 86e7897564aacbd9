//! Finds the top-level items of a module.

use std::collections::HashMap;

use super::{Name, NamedType, Parser, Res, Tok};

/// A top-level item and the token it begins at.
#[derive(Clone, Copy)]
pub(super) struct Item {
    pub kind: ItemKind,
    pub start: usize,
    pub end: usize,
}

/// What an item is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemKind {
    /// `@x = ...`.
    Variable,
    /// `declare` or `define`.
    Function,
    /// `attributes #0 = ...`.
    Attributes,
    /// `source_filename`, `target`.
    Setting,
    /// A type or metadata definition, already noted.
    Noted,
    /// What has no place in a module here.
    Skipped,
}

impl<'a> Parser<'a> {
    /// The items in order; types and metadata nodes are noted by name and number.
    pub(super) fn scan(&mut self) -> Res<Vec<Item>> {
        let mut items: Vec<Item> = Vec::new();
        let mut open: Vec<u8> = Vec::new();
        let mut at = 0;
        loop {
            self.at = at;
            let tok = self.peek();
            match tok {
                Tok::Eof if open.is_empty() => break,
                Tok::Eof => return self.unexpected("a closing bracket"),
                Tok::Error => return self.unexpected("a token"),
                Tok::Punct(c @ (b'(' | b'[' | b'{')) => open.push(c),
                Tok::Punct(c @ (b')' | b']' | b'}')) => {
                    let fits = matches!((open.pop(), c), (Some(b'('), b')') | (Some(b'['), b']') | (Some(b'{'), b'}'));
                    if !fits {
                        return self.fail("closing bracket without an opening one");
                    }
                }
                _ if open.is_empty() => {
                    if let Some(kind) = self.item_kind()? {
                        if let Some(last) = items.last_mut() {
                            last.end = at;
                        }
                        items.push(Item { kind, start: at, end: usize::MAX });
                    } else if items.is_empty() {
                        return self.unexpected("a definition");
                    }
                }
                _ => {}
            }
            at += 1;
        }
        if let Some(last) = items.last_mut() {
            last.end = at;
        }
        Ok(items)
    }

    /// The kind of the item that begins at the current token, if one does.
    fn item_kind(&mut self) -> Res<Option<ItemKind>> {
        let is_equal = |p: &Self, ahead| p.peek_at(ahead).tok == Tok::Punct(b'=');
        Ok(match self.peek() {
            Tok::Local if is_equal(self, 1) => {
                if self.text_of(self.peek_at(2)) != "type" {
                    return self.fail("expected '= type' after a name at top level");
                }
                let name = self.name_of(self.peek_at(0));
                if self.named_types.insert(name, NamedType::At(self.at + 3)).is_some() {
                    return self.fail("type defined twice");
                }
                Some(ItemKind::Noted)
            }
            Tok::Global if is_equal(self, 1) => Some(ItemKind::Variable),
            Tok::Comdat | Tok::Summary if is_equal(self, 1) => Some(ItemKind::Skipped),
            Tok::Meta if is_equal(self, 1) => Some(ItemKind::Skipped),
            Tok::Punct(b'!') if self.peek_at(1).tok == Tok::Int && is_equal(self, 2) => {
                if let Ok(n) = self.text_of(self.peek_at(1)).parse() {
                    self.nodes.insert(n, self.at + 3);
                }
                Some(ItemKind::Noted)
            }
            Tok::Word => match self.text() {
                "define" | "declare" => Some(ItemKind::Function),
                "attributes" if self.peek_at(1).tok == Tok::AttrGroup => Some(ItemKind::Attributes),
                "source_filename" if is_equal(self, 1) => Some(ItemKind::Setting),
                "target" if self.peek_at(1).tok == Tok::Word && is_equal(self, 2) => Some(ItemKind::Setting),
                "module" if self.text_of(self.peek_at(1)) == "asm" => Some(ItemKind::Skipped),
                "uselistorder" | "uselistorder_bb" => Some(ItemKind::Skipped),
                _ => None,
            },
            _ => None,
        })
    }

    /// Positions of the labels of a body that begins at token `at`, in layout order.
    pub(super) fn scan_labels(&self, at: usize) -> HashMap<Name<'a>, u32> {
        let mut out = HashMap::new();
        let mut open = 0i32;
        let mut count = u32::from(self.token(at + 1).tok != Tok::Label);
        let mut i = at;
        loop {
            let token = self.token(i);
            match token.tok {
                Tok::Eof | Tok::Error => return out,
                Tok::Punct(b'(' | b'[' | b'{') => open += 1,
                Tok::Punct(b')' | b']' | b'}') => open -= 1,
                Tok::Label if open == 1 => {
                    out.insert(self.name_of(token), count);
                    count += 1;
                }
                _ => {}
            }
            if open <= 0 {
                return out;
            }
            i += 1;
        }
    }
}
