//! Parses types. Named types are read when they are first needed; one that holds itself is refused, and so are types
//! so deep or so large when written out that walking them would not end.

use super::{NamedType, Parser, Res, Tok, unquote};
use crate::ids::TypeId;
use crate::text::MAX_DEPTH;
use crate::types::{FloatKind, StructType, Type};

/// Number of types, written out in full, that one type may hold.
const MAX_SIZE: u32 = 1 << 20;

/// Whether a bare word begins a type.
pub(super) fn is_type_word(word: &str) -> bool {
    matches!(word, "void" | "ptr" | "label" | "metadata" | "token" | "x86_amx" | "target")
        || FloatKind::ALL.iter().any(|k| k.name() == word)
        || int_width(word).is_some()
}

fn int_width(word: &str) -> Option<u32> {
    let digits = word.strip_prefix('i')?;
    if digits.bytes().all(|c| c.is_ascii_digit()) { digits.parse().ok() } else { None }
}

impl Parser<'_> {
    /// Interns a type unless it is too deep or too large.
    pub(super) fn intern_type(&mut self, ty: Type) -> Res<TypeId> {
        let (mut height, mut size) = (0, 1u32);
        let mut add = |t: &TypeId| {
            let (h, s) = self.type_sizes[*t];
            height = height.max(h + 1);
            size = size.saturating_add(s.max(1));
        };
        match &ty {
            Type::Vector { elem, .. } | Type::Array { elem, .. } => add(elem),
            Type::Struct(s) => s.fields.iter().flatten().for_each(&mut add),
            Type::Func { ret, params, .. } => {
                add(ret);
                params.iter().for_each(&mut add);
            }
            Type::TargetExt { types, .. } => types.iter().for_each(&mut add),
            Type::Void
            | Type::Int(_)
            | Type::Float(_)
            | Type::Ptr(_)
            | Type::Label
            | Type::Metadata
            | Type::Token
            | Type::X86Amx => {}
        }
        if height > MAX_DEPTH || size > MAX_SIZE {
            return self.fail("type too large");
        }
        let id = self.module.ctx.types.intern(ty);
        self.type_sizes[id] = (height, size);
        Ok(id)
    }

    /// A type, also `void` and function types.
    pub(super) fn ty(&mut self) -> Res<TypeId> {
        self.enter()?;
        let mut ty = self.base_type()?;
        while self.is(b'(') {
            ty = self.func_type(ty)?;
        }
        self.leave();
        Ok(ty)
    }

    /// A type that values may have.
    pub(super) fn value_type(&mut self) -> Res<TypeId> {
        let start = self.at;
        let ty = self.ty()?;
        match self.module.ctx.types[ty] {
            Type::Void | Type::Func { .. } => self.fail_at(start, "a value cannot have this type"),
            _ => Ok(ty),
        }
    }

    /// A type that parts of aggregates may have.
    fn element_type(&mut self) -> Res<TypeId> {
        let start = self.at;
        let ty = self.value_type()?;
        match self.module.ctx.types[ty] {
            Type::Label | Type::Metadata | Type::Token => self.fail_at(start, "aggregates cannot hold this type"),
            _ => Ok(ty),
        }
    }

    fn base_type(&mut self) -> Res<TypeId> {
        match self.peek() {
            Tok::Word => self.word_type(),
            Tok::Local => {
                let token = self.at;
                let name = self.name_of(self.peek_at(0));
                self.bump();
                match self.named_types.get(&name).copied() {
                    Some(NamedType::Done(ty)) => Ok(ty),
                    Some(NamedType::Busy) => self.fail_at(token, "type holds itself"),
                    None => self.fail_at(token, "type is not defined"),
                    Some(NamedType::At(at)) => {
                        let back = std::mem::replace(&mut self.at, at);
                        self.named_types.insert(name.clone(), NamedType::Busy);
                        let text = match &name {
                            super::Name::Text(t) => t.to_string(),
                            super::Name::Number(n) => n.to_string(),
                        };
                        let ty = self.type_definition(text)?;
                        self.named_types.insert(name, NamedType::Done(ty));
                        self.at = back;
                        Ok(ty)
                    }
                }
            }
            Tok::Punct(b'{') => {
                let fields = self.fields()?;
                self.intern_type(Type::Struct(StructType { name: None, fields: Some(fields), packed: false }))
            }
            Tok::Punct(b'<') => {
                self.bump();
                if self.is(b'{') {
                    let fields = self.fields()?;
                    self.expect(b'>')?;
                    return self.intern_type(Type::Struct(StructType {
                        name: None,
                        fields: Some(fields),
                        packed: true,
                    }));
                }
                let scalable = self.eat_word("vscale");
                if scalable {
                    self.expect_word("x")?;
                }
                let len = self.number()?;
                self.expect_word("x")?;
                let start = self.at;
                let elem = self.value_type()?;
                self.expect(b'>')?;
                if len == 0 {
                    return self.fail("vectors have at least one lane");
                }
                match self.module.ctx.types[elem] {
                    Type::Int(_) | Type::Float(_) | Type::Ptr(_) => {
                        self.intern_type(Type::Vector { elem, len, scalable })
                    }
                    _ => self.fail_at(start, "vectors cannot hold this type"),
                }
            }
            Tok::Punct(b'[') => {
                self.bump();
                let len = self.number()?;
                self.expect_word("x")?;
                let elem = self.element_type()?;
                self.expect(b']')?;
                self.intern_type(Type::Array { elem, len })
            }
            _ => self.unexpected("a type"),
        }
    }

    /// What follows `%name = type`.
    fn type_definition(&mut self, name: String) -> Res<TypeId> {
        if self.eat_word("opaque") {
            return self.intern_type(Type::Struct(StructType { name: Some(name), fields: None, packed: false }));
        }
        let packed = self.is(b'<') && self.peek_at(1).tok == Tok::Punct(b'{');
        if packed {
            self.bump();
        }
        if !self.is(b'{') {
            return self.ty();
        }
        let fields = self.fields()?;
        if packed {
            self.expect(b'>')?;
        }
        self.intern_type(Type::Struct(StructType { name: Some(name), fields: Some(fields), packed }))
    }

    fn fields(&mut self) -> Res<Vec<TypeId>> {
        let mut out = Vec::new();
        self.expect(b'{')?;
        if !self.eat(b'}') {
            loop {
                out.push(self.element_type()?);
                if !self.eat(b',') {
                    break;
                }
            }
            self.expect(b'}')?;
        }
        Ok(out)
    }

    fn func_type(&mut self, ret: TypeId) -> Res<TypeId> {
        if matches!(self.module.ctx.types[ret], Type::Func { .. } | Type::Label | Type::Metadata) {
            return self.fail("functions cannot return this type");
        }
        self.expect(b'(')?;
        let (mut params, mut variadic) = (Vec::new(), false);
        if !self.is(b')') {
            loop {
                if self.peek() == Tok::Dots {
                    self.bump();
                    variadic = true;
                    break;
                }
                params.push(self.value_type()?);
                if !self.eat(b',') {
                    break;
                }
            }
        }
        self.expect(b')')?;
        self.intern_type(Type::Func { ret, params, variadic })
    }

    fn word_type(&mut self) -> Res<TypeId> {
        let word = self.text();
        let ty = match word {
            "void" => Type::Void,
            "label" => Type::Label,
            "metadata" => Type::Metadata,
            "token" => Type::Token,
            "x86_amx" => Type::X86Amx,
            "ptr" => {
                self.bump();
                let space = if self.eat_word("addrspace") { self.number_in_parentheses()? } else { 0 };
                if self.is(b'*') {
                    return self.fail("pointers have no pointee type");
                }
                return self.intern_type(Type::Ptr(space));
            }
            "target" => return self.target_type(),
            _ => match (int_width(word), FloatKind::ALL.into_iter().find(|k| k.name() == word)) {
                (Some(bits @ 1..=0x80_0000), _) => Type::Int(bits),
                (Some(_), _) => return self.fail("integers have 1 to 8388608 bits"),
                (None, Some(kind)) => Type::Float(kind),
                (None, None) => return self.unexpected("a type"),
            },
        };
        self.bump();
        if self.is(b'*') {
            return self.fail("pointers are written 'ptr'");
        }
        self.intern_type(ty)
    }

    fn target_type(&mut self) -> Res<TypeId> {
        self.bump();
        self.expect(b'(')?;
        if self.peek() != Tok::Str {
            return self.unexpected("a string");
        }
        let token = self.bump();
        let name = unquote(self.text_of(token)).into_owned();
        let (mut types, mut ints) = (Vec::new(), Vec::new());
        while self.eat(b',') {
            if self.peek() == Tok::Int {
                ints.push(self.number()?);
            } else if ints.is_empty() {
                types.push(self.ty()?);
            } else {
                return self.unexpected("a number");
            }
        }
        self.expect(b')')?;
        self.intern_type(Type::TargetExt { name, types, ints })
    }
}
