//! Parses constants.

use super::numbers::{MAX_LITERAL_BITS, float_bits, int_words};
use super::{Name, Parser, Res, Symbol, Tok};
use crate::consts::{Const, ConstOp};
use crate::ids::{ConstId, TypeId};
use crate::op::GepFlags;
use crate::text::lexer::unescape;
use crate::text::words;
use crate::types::{FloatKind, StructType, Type};

/// Lanes up to which a splat or a mask is written out.
const MAX_LANES: u32 = 1 << 16;

impl Parser<'_> {
    /// A type and a constant of it.
    pub(super) fn typed_constant(&mut self) -> Res<(TypeId, ConstId)> {
        let ty = self.value_type()?;
        Ok((ty, self.constant(ty)?))
    }

    /// A constant of type `ty`.
    pub(super) fn constant(&mut self, ty: TypeId) -> Res<ConstId> {
        self.enter()?;
        let c = self.constant_inside(ty)?;
        self.leave();
        Ok(c)
    }

    fn type_of(&self, ty: TypeId) -> &Type {
        &self.module.ctx.types[ty]
    }

    fn intern(&mut self, c: Const) -> Res<ConstId> {
        Ok(self.module.ctx.consts.intern(c))
    }

    fn constant_inside(&mut self, ty: TypeId) -> Res<ConstId> {
        match self.peek() {
            Tok::Int => {
                let Type::Int(bits) = *self.type_of(ty) else {
                    return self.fail("an integer literal must have an integer type");
                };
                if bits > MAX_LITERAL_BITS {
                    return self.fail("integer literal of a type that is too wide");
                }
                let Some(words) = int_words(self.text(), bits) else {
                    return self.fail("integer does not fit its type");
                };
                self.bump();
                self.intern(Const::Int { ty, words })
            }
            Tok::Decimal | Tok::Hex => {
                let Type::Float(kind) = *self.type_of(ty) else {
                    return self.fail("a float literal must have a float type");
                };
                match float_bits(self.text(), kind) {
                    Ok(bits) => {
                        self.bump();
                        self.intern(Const::Float { ty, bits })
                    }
                    Err(message) => self.fail(message),
                }
            }
            Tok::CStr => {
                let text = self.text();
                let bytes = unescape(text.strip_prefix("c\"").and_then(|t| t.strip_suffix('"')).unwrap_or(""));
                let fits = match self.type_of(ty) {
                    Type::Array { elem, len } => {
                        *len == bytes.len() as u64 && matches!(self.type_of(*elem), Type::Int(8))
                    }
                    _ => false,
                };
                if !fits {
                    return self.fail("string does not fit its type");
                }
                self.bump();
                self.intern(Const::Data { ty, bytes })
            }
            Tok::Global => self.symbol_constant(ty),
            Tok::Punct(b'[' | b'{' | b'<') => self.aggregate(ty),
            Tok::Word => self.word_constant(ty),
            _ => self.unexpected("a value"),
        }
    }

    fn symbol_constant(&mut self, ty: TypeId) -> Res<ConstId> {
        let Type::Ptr(space) = *self.type_of(ty) else {
            return self.fail("a global name must have type ptr");
        };
        let name = self.name_of(self.peek_at(0));
        match self.symbols.get(&name).copied() {
            Some(Symbol::Global(g)) => {
                if self.module.globals[g].space != space {
                    return self.fail("global of another address space");
                }
                self.bump();
                self.intern(Const::Global(g))
            }
            Some(Symbol::Func(f)) => {
                self.bump();
                self.intern(Const::Func(f))
            }
            None => self.fail(format!("'{}' is not defined", self.text())),
        }
    }

    fn aggregate(&mut self, ty: TypeId) -> Res<ConstId> {
        let start = self.at;
        let packed_braces = self.is(b'<') && self.peek_at(1).tok == Tok::Punct(b'{');
        let (close, fields) = match self.type_of(ty) {
            Type::Array { .. } if self.is(b'[') => (b']', None),
            Type::Vector { scalable: false, .. } if self.is(b'<') && !packed_braces => (b'>', None),
            Type::Struct(StructType { fields: Some(fields), packed: false, .. }) if self.is(b'{') => {
                (b'}', Some(fields.clone()))
            }
            Type::Struct(StructType { fields: Some(fields), packed: true, .. }) if packed_braces => {
                (b'}', Some(fields.clone()))
            }
            _ => return self.fail("a constant of this form does not have this type"),
        };
        let (elem, len) = match self.type_of(ty) {
            Type::Array { elem, len } => (Some(*elem), *len),
            Type::Vector { elem, len, .. } => (Some(*elem), u64::from(*len)),
            _ => (None, fields.as_ref().map_or(0, |f| f.len() as u64)),
        };
        self.bump();
        if packed_braces {
            self.bump();
        }
        let mut elems = Vec::new();
        while !self.is(close) {
            let at = self.at;
            let (found, c) = self.typed_constant()?;
            let expected = elem.or_else(|| fields.as_ref()?.get(elems.len()).copied());
            if expected != Some(found) {
                return self.fail_at(at, "element of another type than the aggregate demands");
            }
            elems.push(c);
            if !self.eat(b',') {
                break;
            }
        }
        self.expect(close)?;
        if packed_braces {
            self.expect(b'>')?;
        }
        if elems.len() as u64 != len {
            return self.fail_at(start, format!("expected {len} elements, found {}", elems.len()));
        }
        match self.as_data(ty, &elems) {
            Some(bytes) => self.intern(Const::Data { ty, bytes }),
            None => self.intern(Const::Aggregate { ty, elems }),
        }
    }

    /// The bytes of a non-empty array of simple numbers.
    fn as_data(&self, ty: TypeId, elems: &[ConstId]) -> Option<Vec<u8>> {
        let Type::Array { elem, .. } = self.type_of(ty) else { return None };
        let size = match self.type_of(*elem) {
            Type::Int(bits @ (8 | 16 | 32 | 64)) => bits / 8,
            Type::Float(FloatKind::Half | FloatKind::BFloat) => 2,
            Type::Float(FloatKind::Float) => 4,
            Type::Float(FloatKind::Double) => 8,
            _ => return None,
        } as usize;
        let mut bytes = Vec::with_capacity(elems.len() * size);
        for e in elems {
            let word = match &self.module.ctx.consts[*e] {
                Const::Int { words, .. } => *words.first()?,
                Const::Float { bits, .. } => *bits as u64,
                _ => return None,
            };
            bytes.extend(word.to_le_bytes().iter().take(size));
        }
        (!bytes.is_empty()).then_some(bytes)
    }

    fn word_constant(&mut self, ty: TypeId) -> Res<ConstId> {
        let word = self.text();
        let kind = self.type_of(ty);
        let constant = match word {
            "true" | "false" if matches!(kind, Type::Int(1)) => {
                self.bump();
                return Ok(self.module.ctx.int(ty, u64::from(word == "true")));
            }
            "null" if matches!(kind, Type::Ptr(_)) => Const::Zero(ty),
            "none" if matches!(kind, Type::Token) => Const::TokenNone,
            "undef" => Const::Undef(ty),
            "poison" => Const::Poison(ty),
            "zeroinitializer" => {
                if matches!(kind, Type::Label | Type::Metadata | Type::Token | Type::X86Amx) {
                    return self.fail("this type has no zero");
                }
                self.bump();
                return Ok(match self.type_of(ty) {
                    Type::Int(bits) if *bits > MAX_LITERAL_BITS => self.module.ctx.consts.intern(Const::Zero(ty)),
                    _ => self.module.ctx.zero(ty),
                });
            }
            "true" | "false" | "null" | "none" => return self.fail("this constant does not have this type"),
            "splat" => return self.splat(ty),
            "blockaddress" => return self.block_address(ty),
            "asm" | "dso_local_equivalent" | "no_cfi" | "ptrauth" => return self.opaque(ty),
            _ => return self.expression(ty),
        };
        self.bump();
        self.intern(constant)
    }

    fn splat(&mut self, ty: TypeId) -> Res<ConstId> {
        let Type::Vector { elem, len, scalable } = *self.type_of(ty) else {
            return self.fail("a splat must have a vector type");
        };
        if len > MAX_LANES {
            return self.fail("splat of a vector that is too long");
        }
        self.bump();
        self.expect(b'(')?;
        let start = self.at;
        let (found, lane) = self.typed_constant()?;
        self.expect(b')')?;
        if found != elem {
            return self.fail_at(start, "lane of another type than the vector's");
        }
        if !scalable {
            return self.intern(Const::Aggregate { ty, elems: vec![lane; len as usize] });
        }
        let poison = self.intern(Const::Poison(ty))?;
        let i64 = self.intern_type(Type::Int(64))?;
        let zero = self.module.ctx.int(i64, 0);
        let first = Const::Expr { ty, op: ConstOp::InsertElement, args: vec![poison, lane, zero] };
        let first = self.intern(first)?;
        let op = ConstOp::Shuffle(vec![0; len as usize]);
        self.intern(Const::Expr { ty, op, args: vec![first, poison] })
    }

    fn block_address(&mut self, ty: TypeId) -> Res<ConstId> {
        self.bump();
        self.expect(b'(')?;
        let start = self.at;
        let f = self.symbol_constant(ty)?;
        let Const::Func(func) = self.module.ctx.consts[f] else {
            return self.fail_at(start, "expected a function");
        };
        self.expect(b',')?;
        if !self.labels.contains_key(&func) {
            let at = self.body_starts.get(&func).copied();
            let labels = at.map(|at| self.scan_labels(at)).unwrap_or_default();
            self.labels.insert(func, labels);
        }
        if self.peek() != Tok::Local {
            return self.unexpected("a label");
        }
        let label = self.name_of(self.peek_at(0));
        let block = self.labels.get(&func).and_then(|l| l.get(&label)).copied();
        let Some(block) = block else { return self.fail("label is not in that function") };
        self.bump();
        self.expect(b')')?;
        self.intern(Const::BlockAddress { func, block })
    }

    /// What is kept as text: inline assembly and some kinds of addresses.
    fn opaque(&mut self, ty: TypeId) -> Res<ConstId> {
        if !matches!(self.type_of(ty), Type::Ptr(_)) {
            return self.fail("this constant must have type ptr");
        }
        let start = self.at;
        let token = self.bump();
        match self.text_of(token) {
            "asm" => {
                while matches!(self.word(), Some("sideeffect" | "alignstack" | "inteldialect" | "unwind")) {
                    self.bump();
                }
                self.string()?;
                self.expect(b',')?;
                self.string()?;
            }
            "ptrauth" => {
                if !self.is(b'(') {
                    return self.unexpected("'('");
                }
                self.skip_group()?;
            }
            _ => {
                if self.peek() != Tok::Global {
                    return self.unexpected("a global name");
                }
                self.bump();
            }
        }
        let text = self.slice(start, self.at).to_owned();
        self.intern(Const::Opaque { ty, text })
    }

    fn expression(&mut self, ty: TypeId) -> Res<ConstId> {
        let start = self.at;
        let word = self.text();
        let cast = words::find_cast_op(word);
        let mut op = match (word, cast, words::find_bin_op(word)) {
            (_, Some(cast), _) => ConstOp::Cast(cast),
            (_, _, Some(bin)) => ConstOp::Binary(bin),
            ("getelementptr", ..) => ConstOp::Gep(ty, GepFlags::empty()),
            ("extractelement", ..) => ConstOp::ExtractElement,
            ("insertelement", ..) => ConstOp::InsertElement,
            ("shufflevector", ..) => ConstOp::Shuffle(Vec::new()),
            _ => return self.unexpected("a value"),
        };
        self.bump();
        if let ConstOp::Gep(_, flags) = &mut op {
            *flags = self.gep_flags()?;
        }
        while matches!(self.word(), Some("nuw" | "nsw" | "exact" | "nneg" | "disjoint")) {
            self.bump();
        }
        self.expect(b'(')?;
        if let ConstOp::Gep(elem, _) = &mut op {
            *elem = self.value_type()?;
            self.expect(b',')?;
        }
        let mut args = Vec::new();
        let mut arg_types = Vec::new();
        let count = match op {
            ConstOp::Cast(_) => 1,
            ConstOp::Binary(_) | ConstOp::ExtractElement | ConstOp::Shuffle(_) => 2,
            ConstOp::InsertElement => 3,
            ConstOp::Gep(..) => usize::MAX,
        };
        while args.len() < count {
            let (t, c) = self.typed_constant()?;
            args.push(c);
            arg_types.push(t);
            if args.len() < count && !self.eat(b',') {
                if count == usize::MAX {
                    break;
                }
                return self.unexpected("','");
            }
        }
        let result = match &mut op {
            ConstOp::Cast(_) => {
                self.expect_word("to")?;
                Some(self.value_type()?)
            }
            ConstOp::Shuffle(mask) => {
                self.expect(b',')?;
                let (found, scalable) = self.mask()?;
                let result = self.shuffle_type(arg_types[0], found.len() as u32, scalable)?;
                *mask = found;
                Some(result)
            }
            ConstOp::Binary(_) | ConstOp::InsertElement => arg_types.first().copied(),
            ConstOp::ExtractElement => match self.type_of(arg_types[0]) {
                Type::Vector { elem, .. } => Some(*elem),
                _ => None,
            },
            ConstOp::Gep(..) => Some(self.gep_type(&arg_types)?),
        };
        if result != Some(ty) {
            return self.fail_at(start, "constant expression of another type");
        }
        self.expect(b')')?;
        self.intern(Const::Expr { ty, op, args })
    }

    pub(super) fn gep_flags(&mut self) -> Res<GepFlags> {
        let mut flags = GepFlags::empty();
        loop {
            match self.word() {
                Some("inbounds") => flags |= GepFlags::INBOUNDS | GepFlags::NUSW,
                Some("nusw") => flags |= GepFlags::NUSW,
                Some("nuw") => flags |= GepFlags::NUW,
                Some("inrange") => {
                    self.bump();
                    self.skip_group()?;
                    continue;
                }
                _ => return Ok(flags),
            }
            self.bump();
        }
    }

    /// The type of an address computation: a vector if any operand is one.
    pub(super) fn gep_type(&mut self, args: &[TypeId]) -> Res<TypeId> {
        let Some(base) = args.first() else { return self.unexpected("a pointer") };
        if !self.module.ctx.types.is_pointer_or_vector(*base) {
            return self.fail("expected a pointer to compute from");
        }
        if matches!(self.type_of(*base), Type::Vector { .. }) {
            return Ok(*base);
        }
        for a in args {
            if let Type::Vector { len, scalable, .. } = *self.type_of(*a) {
                return self.intern_type(Type::Vector { elem: *base, len, scalable });
            }
        }
        Ok(*base)
    }

    /// Result of a shuffle of vectors of type `ty` with a mask of `len` lanes.
    pub(super) fn shuffle_type(&mut self, ty: TypeId, len: u32, scalable: bool) -> Res<TypeId> {
        match *self.type_of(ty) {
            Type::Vector { elem, .. } => self.intern_type(Type::Vector { elem, len, scalable }),
            _ => self.fail("expected vectors to shuffle"),
        }
    }

    /// A typed shuffle mask and whether its length is scalable.
    pub(super) fn mask(&mut self) -> Res<(Vec<i32>, bool)> {
        let start = self.at;
        let ty = self.value_type()?;
        let (len, scalable) = match *self.type_of(ty) {
            Type::Vector { elem, len, scalable } if matches!(self.type_of(elem), Type::Int(32)) && len <= MAX_LANES => {
                (len, scalable)
            }
            _ => return self.fail_at(start, "a mask is a vector of i32"),
        };
        let c = self.constant(ty)?;
        let consts = &self.module.ctx.consts;
        let lane = |c: ConstId| match &consts[c] {
            Const::Int { words, .. } => words.first().and_then(|w| i32::try_from(*w).ok()),
            Const::Undef(_) | Const::Poison(_) => Some(-1),
            _ => None,
        };
        let mask = match &consts[c] {
            Const::Zero(_) => Some(vec![0; len as usize]),
            Const::Undef(_) | Const::Poison(_) => Some(vec![-1; len as usize]),
            Const::Aggregate { elems, .. } => elems.iter().map(|e| lane(*e)).collect(),
            _ => None,
        };
        match mask {
            Some(mask) => Ok((mask, scalable)),
            None => self.fail_at(start, "a mask is made of integers"),
        }
    }

    /// The text of a metadata operand: a node, or a constant with its type.
    pub(super) fn metadata_text(&mut self) -> Res<ConstId> {
        let start = self.at;
        let mut text = None;
        if matches!(self.peek(), Tok::Punct(b'!') | Tok::Meta) {
            self.skip_node()?;
        } else {
            let ty = self.value_type()?;
            if self.peek() == Tok::Local {
                // Local values as metadata would need names that hold beyond this text.
                self.bump();
                text = Some("!{}");
            } else {
                self.constant(ty)?;
            }
        }
        let text = text.unwrap_or_else(|| self.slice(start, self.at));
        self.intern(Const::Metadata(text.to_owned()))
    }

    /// Whether a name is that of a function or global.
    pub(super) fn knows(&self, name: &Name<'_>) -> bool {
        self.symbols.contains_key(name)
    }
}
