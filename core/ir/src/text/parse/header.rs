//! Reads what stands outside of bodies: settings, types, attribute groups, globals, headers of functions.

use std::borrow::Cow;
use std::collections::HashMap;

use super::scan::{Item, ItemKind};
use super::{BodyAt, Fail, Name, NamedType, Parser, Res, Symbol, Tok};
use crate::func::{Func, FuncAttrs, Linkage, ParamAttrs};
use crate::ids::{FuncId, GlobalId, TypeId};
use crate::layout::DataLayout;
use crate::module::Global;
use crate::text::words;
use crate::types::Type;

/// Linkage, and the words around it that matter.
#[derive(Default)]
struct Prefix {
    linkage: Linkage,
    interposable: bool,
    /// `external` or `extern_weak` was written out.
    is_declaration: bool,
    thread_local: bool,
    space: u32,
}

/// An alias: its name and the token of the type of what it stands for.
struct Alias<'a> {
    name: Name<'a>,
    prefix: Prefix,
    content: TypeId,
    target: usize,
}

impl<'a> Parser<'a> {
    /// Everything but the bodies.
    pub(super) fn headers(&mut self, items: &[Item]) -> Res<()> {
        for item in items {
            self.at = item.start;
            match item.kind {
                ItemKind::Setting => self.setting()?,
                ItemKind::Attributes => self.attribute_group(item.end)?,
                ItemKind::Variable | ItemKind::Function | ItemKind::Noted | ItemKind::Skipped => {}
            }
        }
        self.define_types(items)?;
        let mut initialisers: Vec<(GlobalId, usize, usize)> = Vec::new();
        let mut personalities: Vec<(FuncId, usize)> = Vec::new();
        let mut aliases: Vec<Alias<'a>> = Vec::new();
        for item in items {
            self.at = item.start;
            match item.kind {
                ItemKind::Variable => {
                    if let Some(alias) = self.variable(item.end, &mut initialisers)? {
                        aliases.push(alias);
                    }
                }
                ItemKind::Function => self.function(item.end, &mut personalities)?,
                ItemKind::Setting | ItemKind::Attributes | ItemKind::Noted | ItemKind::Skipped => {}
            }
        }
        self.resolve_aliases(aliases)?;
        for (id, at, end) in initialisers {
            self.at = at;
            let ty = self.module.globals[id].ty;
            let init = self.constant(ty)?;
            let (align, after) = (self.align_in_rest(end)?, self.at);
            if after > end {
                return self.fail_at(end, "definition runs into the next one");
            }
            let global = &mut self.module.globals[id];
            (global.init, global.align) = (Some(init), align);
        }
        for (id, at) in personalities {
            self.at = at;
            self.module.funcs[id].personality = Some(self.typed_constant()?.1);
        }
        Ok(())
    }

    fn setting(&mut self) -> Res<()> {
        if self.eat_word("source_filename") {
            self.expect(b'=')?;
            self.module.name = self.string()?;
            return Ok(());
        }
        self.expect_word("target")?;
        let is_layout = self.is_word("datalayout");
        if !is_layout && !self.is_word("triple") {
            return self.unexpected("datalayout or triple");
        }
        self.bump();
        self.expect(b'=')?;
        let text = self.string()?;
        if is_layout {
            self.module.ctx.layout = DataLayout::parse(&text);
        } else {
            self.module.triple = text;
        }
        Ok(())
    }

    fn attribute_group(&mut self, end: usize) -> Res<()> {
        self.expect_word("attributes")?;
        let token = self.bump();
        self.expect(b'=')?;
        self.expect(b'{')?;
        let mut attrs = FuncAttrs::default();
        while self.at < end && !self.is(b'}') {
            if !self.func_attr(&mut attrs)? {
                return self.unexpected("an attribute");
            }
        }
        if let Name::Number(n) = self.name_of(token) {
            self.groups.insert(n, attrs);
        }
        Ok(())
    }

    /// Reads all named types, in order, also those that nothing uses.
    fn define_types(&mut self, items: &[Item]) -> Res<()> {
        for item in items.iter().filter(|i| i.kind == ItemKind::Noted) {
            self.at = item.start;
            if self.peek() == Tok::Local
                && matches!(self.named_types.get(&self.name_of(self.peek_at(0))), Some(NamedType::At(_)))
            {
                self.ty()?;
            }
        }
        Ok(())
    }

    fn define_symbol(&mut self, name: Name<'a>, symbol: Symbol, at: u32) -> Res<()> {
        match self.symbols.insert(name, symbol) {
            None => Ok(()),
            Some(_) => Err(Fail { at, message: "defined twice".to_owned() }),
        }
    }

    fn prefix(&mut self) -> Res<Prefix> {
        let mut out = Prefix::default();
        while let Some(word) = self.word() {
            match word {
                "private" | "internal" => out.linkage = Linkage::Internal,
                "weak" | "linkonce" | "common" => out.interposable = true,
                "extern_weak" => (out.interposable, out.is_declaration) = (true, true),
                "external" => out.is_declaration = true,
                "weak_odr"
                | "linkonce_odr"
                | "available_externally"
                | "appending"
                | "dso_local"
                | "dso_preemptable"
                | "default"
                | "hidden"
                | "protected"
                | "dllimport"
                | "dllexport"
                | "unnamed_addr"
                | "local_unnamed_addr"
                | "externally_initialized" => {}
                "thread_local" => {
                    out.thread_local = true;
                    if self.peek_at(1).tok == Tok::Punct(b'(') {
                        self.bump();
                        self.skip_group()?;
                        continue;
                    }
                }
                "addrspace" => {
                    self.bump();
                    out.space = self.number_in_parentheses()?;
                    continue;
                }
                _ => break,
            }
            self.bump();
        }
        Ok(out)
    }

    /// A global variable; an alias or ifunc is returned for later.
    fn variable(&mut self, end: usize, initialisers: &mut Vec<(GlobalId, usize, usize)>) -> Res<Option<Alias<'a>>> {
        let token = self.bump();
        let name = self.name_of(token);
        self.expect(b'=')?;
        let prefix = self.prefix()?;
        let is_alias = self.is_word("alias");
        if is_alias || self.is_word("ifunc") {
            self.bump();
            let content = self.ty()?;
            self.expect(b',')?;
            let target = if is_alias { self.at } else { usize::MAX };
            return Ok(Some(Alias { name, prefix, content, target }));
        }
        let constant = self.is_word("constant");
        if !constant && !self.is_word("global") {
            return self.unexpected("global, constant or alias");
        }
        self.bump();
        let ty = self.value_type()?;
        let id = self.module.globals.push(Global {
            name: text_of_name(&name),
            ty,
            init: None,
            constant,
            linkage: prefix.linkage,
            align: 0,
            thread_local: prefix.thread_local,
            space: prefix.space,
        });
        if prefix.is_declaration {
            self.module.globals[id].align = self.align_in_rest(end)?;
        } else {
            initialisers.push((id, self.at, end));
        }
        self.define_symbol(name, Symbol::Global(id), token.start)?;
        Ok(None)
    }

    /// The alignment in what follows the initialiser of a global: a list begun by commas.
    fn align_in_rest(&mut self, end: usize) -> Res<u32> {
        let mut align = 0;
        if self.at < end && !self.is(b',') {
            return self.unexpected("',' or the next definition");
        }
        while self.at < end {
            if self.eat_word("align") {
                align = self.alignment()?;
                continue;
            }
            self.bump();
        }
        Ok(align)
    }

    /// A power of two in bytes.
    pub(super) fn alignment(&mut self) -> Res<u32> {
        let start = self.at;
        let align: u64 = self.number()?;
        match u32::try_from(align) {
            Ok(n) if n.is_power_of_two() => Ok(n),
            _ => self.fail_at(start, "alignment is not a power of two or too large"),
        }
    }

    /// Aliases stand for their targets; one of something that is not a plain name is taken as external.
    fn resolve_aliases(&mut self, aliases: Vec<Alias<'a>>) -> Res<()> {
        let by_name: HashMap<Name<'a>, usize> = aliases.iter().enumerate().map(|(i, a)| (a.name.clone(), i)).collect();
        for alias in &aliases {
            let mut target = alias.target;
            let mut found = None;
            for _ in 0..64 {
                self.at = target;
                let direct = self.eat_word("ptr") && {
                    if self.eat_word("addrspace") {
                        self.number_in_parentheses()?;
                    }
                    self.peek() == Tok::Global
                };
                if !direct {
                    break;
                }
                let name = self.name_of(self.peek_at(0));
                found = self.symbols.get(&name).copied();
                match by_name.get(&name) {
                    Some(next) if found.is_none() => target = aliases[*next].target,
                    _ => break,
                }
            }
            let is_func = matches!(self.module.ctx.types[alias.content], Type::Func { .. });
            let symbol = match found.filter(|_| !alias.prefix.interposable) {
                Some(symbol) => symbol,
                None if is_func => {
                    let mut func = self.new_func(&alias.name, alias.content);
                    func.attrs.interposable = alias.prefix.interposable;
                    Symbol::Func(self.module.funcs.push(func))
                }
                None => Symbol::Global(self.module.globals.push(Global {
                    name: text_of_name(&alias.name),
                    ty: alias.content,
                    init: None,
                    constant: false,
                    linkage: Linkage::External,
                    align: 0,
                    thread_local: alias.prefix.thread_local,
                    space: alias.prefix.space,
                })),
            };
            let at = self.token(target).start;
            self.define_symbol(alias.name.clone(), symbol, at)?;
        }
        Ok(())
    }

    fn new_func(&self, name: &Name<'a>, sig: TypeId) -> Func {
        let params = match &self.module.ctx.types[sig] {
            Type::Func { params, .. } => params.as_slice(),
            _ => &[],
        };
        Func::new(text_of_name(name), sig, params)
    }

    /// A function of LLVM's that may be used without declaration, with the signature of the use.
    pub(super) fn declare_intrinsic(&mut self, name: &Name<'a>, sig: TypeId) {
        if let Name::Text(text) = name
            && text.starts_with("llvm.")
            && !self.knows(name)
        {
            let func = self.new_func(name, sig);
            let id = self.module.funcs.push(func);
            self.symbols.insert(name.clone(), Symbol::Func(id));
        }
    }

    /// `cc 10` or the word of a calling convention, if one stands here.
    pub(super) fn convention(&mut self) -> Res<Option<u32>> {
        if self.is_word("cc") && self.peek_at(1).tok == Tok::Int {
            self.bump();
            return Ok(Some(self.number()?));
        }
        let found = self.word().and_then(words::find_convention);
        if found.is_some() {
            self.bump();
        }
        Ok(found)
    }

    /// The header of a function up to its body.
    fn function(&mut self, end: usize, personalities: &mut Vec<(FuncId, usize)>) -> Res<()> {
        let is_definition = self.is_word("define");
        self.bump();
        while self.peek() == Tok::Meta && self.at < end {
            self.skip_attachment()?;
        }
        let prefix = self.prefix()?;
        let conv = self.convention()?.unwrap_or(0);
        self.param_attrs()?;
        let start = self.at;
        let ret = self.ty()?;
        if matches!(self.module.ctx.types[ret], Type::Func { .. } | Type::Label | Type::Metadata) {
            return self.fail_at(start, "functions cannot return this type");
        }
        if self.peek() != Tok::Global {
            return self.unexpected("the name of the function");
        }
        let token = self.bump();
        let name = self.name_of(token);
        let (params, variadic) = self.parameters()?;
        let types: Vec<TypeId> = params.iter().map(|p| p.0).collect();
        let sig = self.intern_type(Type::Func { ret, params: types, variadic })?;
        let mut func = self.new_func(&name, sig);
        func.linkage = prefix.linkage;
        func.conv = conv;
        func.param_attrs = params.iter().map(|p| p.1).collect();
        func.attrs.interposable = prefix.interposable;
        let mut personality = None;
        while self.at < end && !(is_definition && self.is(b'{')) {
            self.header_attribute(&mut func, &mut personality)?;
        }
        let id = self.module.funcs.push(func);
        if is_definition {
            if !self.is(b'{') {
                return self.unexpected("the body of the function");
            }
            let param_names = params.into_iter().map(|p| p.2).collect();
            self.body_starts.insert(id, self.at);
            self.bodies.push(BodyAt { func: id, at: self.at, param_names });
        }
        personalities.extend(personality.map(|at| (id, at)));
        self.define_symbol(name, Symbol::Func(id), token.start)
    }

    /// One of the things that may follow the parameters.
    fn header_attribute(&mut self, func: &mut Func, personality: &mut Option<usize>) -> Res<()> {
        match self.peek() {
            Tok::Meta => {
                if let Some(loc) = self.skip_attachment()?.loc {
                    func.loc = Some(loc);
                }
            }
            Tok::Word => match self.text() {
                "section" | "gc" | "partition" => {
                    self.bump();
                    self.string()?;
                }
                "comdat" => {
                    self.bump();
                    if self.is(b'(') {
                        self.skip_group()?;
                    }
                }
                word @ ("prefix" | "prologue" | "personality") => {
                    self.bump();
                    if word == "personality" {
                        *personality = Some(self.at);
                    }
                    self.ty()?;
                    // Names may not be known yet: the constant is read later, or not at all.
                    if matches!(self.peek(), Tok::Punct(b'{' | b'[')) {
                        self.skip_group()?;
                    } else {
                        self.bump();
                    }
                    while self.is(b'(') {
                        self.skip_group()?;
                    }
                }
                _ => {
                    self.func_attr(&mut func.attrs)?;
                }
            },
            _ => {
                if !self.func_attr(&mut func.attrs)? {
                    return self.unexpected("an attribute or the body");
                }
            }
        }
        Ok(())
    }

    #[expect(clippy::type_complexity, reason = "local to this file")]
    fn parameters(&mut self) -> Res<(Vec<(TypeId, ParamAttrs, Option<usize>)>, bool)> {
        self.expect(b'(')?;
        let mut out = Vec::new();
        let mut variadic = false;
        while !self.is(b')') {
            if self.peek() == Tok::Dots {
                self.bump();
                variadic = true;
                break;
            }
            let ty = self.value_type()?;
            let attrs = self.param_attrs()?;
            let name = (self.peek() == Tok::Local).then_some(self.at);
            if name.is_some() {
                self.bump();
            }
            out.push((ty, attrs, name));
            if !self.eat(b',') {
                break;
            }
        }
        self.expect(b')')?;
        Ok((out, variadic))
    }
}

fn text_of_name(name: &Name<'_>) -> String {
    match name {
        Name::Text(Cow::Borrowed(t)) => (*t).to_owned(),
        Name::Text(Cow::Owned(t)) => t.clone(),
        Name::Number(_) => String::new(),
    }
}
