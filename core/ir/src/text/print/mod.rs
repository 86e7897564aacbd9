//! Prints modules, functions and their parts.
//!
//! Malformed input prints as something that does not parse (`<bad>`), never panics. Everything is in the order of the
//! module; named types and source locations are listed in the order of their first use, so that printing what was
//! parsed from a print gives the same text.

mod inst;
mod item;
mod names;

use std::collections::HashMap;
use std::fmt::Write;

use cranelift_entity::{EntityRef, SecondaryMap};
use indexmap::IndexSet;

use crate::func::{Func, FuncAttrs, Linkage, ParamAttrs};
use crate::ids::{ConstId, FuncId, GlobalId, InstId, LocId, TypeId, ValueId};
use crate::module::Module;
use crate::types::{Type, Types};

use super::lexer::escape;
use super::words;
use names::{Names, write_name};

/// What stands where an id is out of range.
const BAD: &str = "<bad>";

/// LLVM assembly of a whole module.
pub fn print_module(module: &Module) -> String {
    let mut p = Printer::new(module, true);
    for (id, g) in module.globals.iter() {
        p.global(id, g);
    }
    for (id, f) in module.funcs.iter() {
        p.newline_if_any();
        p.func(f, Some(id));
    }
    let body = std::mem::take(&mut p.out);
    if !module.name.is_empty() {
        p.out.push_str("source_filename = \"");
        escape(module.name.as_bytes(), &mut p.out);
        p.out.push_str("\"\n");
    }
    if !module.ctx.layout.text.is_empty() {
        p.out.push_str("target datalayout = \"");
        escape(module.ctx.layout.text.as_bytes(), &mut p.out);
        p.out.push_str("\"\n");
    }
    if !module.triple.is_empty() {
        p.out.push_str("target triple = \"");
        escape(module.triple.as_bytes(), &mut p.out);
        p.out.push_str("\"\n");
    }
    p.named_types();
    p.newline_if_any();
    p.out.push_str(&body);
    p.metadata_table();
    p.out
}

/// LLVM assembly of one function, without the types and locations it refers to.
pub fn print_func(module: &Module, func: &Func) -> String {
    let mut p = Printer::new(module, false);
    p.func(func, None);
    p.out
}

/// A function whose values are numbered once, to print many of them.
pub struct Numbered<'a> {
    /// Where the function is.
    pub module: &'a Module,
    /// The function.
    pub func: &'a Func,
    names: Names,
}

impl<'a> Numbered<'a> {
    /// Numbers all values of the function.
    pub fn new(module: &'a Module, func: &'a Func) -> Numbered<'a> {
        Numbered { module, func, names: Names::new(func) }
    }

    /// One instruction as LLVM assembly.
    pub fn inst(&self, inst: InstId) -> String {
        let mut p = Printer::new(self.module, false);
        p.inst(self.func, &self.names, inst);
        p.out
    }

    /// A value with its type, as an operand.
    pub fn value(&self, value: ValueId) -> String {
        let mut p = Printer::new(self.module, false);
        p.typed(self.func, &self.names, Some(value));
        p.out
    }
}

/// One instruction as LLVM assembly; for more than one see [`Numbered`].
pub fn print_inst(module: &Module, func: &Func, inst: InstId) -> String {
    Numbered::new(module, func).inst(inst)
}

/// A value with its type, as an operand; for more than one see [`Numbered`].
pub fn print_value(module: &Module, func: &Func, value: ValueId) -> String {
    Numbered::new(module, func).value(value)
}

/// A constant without its type.
pub fn print_const(module: &Module, c: ConstId) -> String {
    let mut p = Printer::new(module, false);
    p.constant(c, 0);
    p.out
}

/// A type.
pub fn print_type(types: &Types, ty: TypeId) -> String {
    let mut out = String::new();
    item::write_type(types, ty, 0, &mut out, &mut |_| {});
    out
}

struct Printer<'a> {
    module: &'a Module,
    out: String,
    /// Named types used so far, in order.
    named: IndexSet<TypeId>,
    /// Entries of the table at the end, in order.
    table: IndexSet<Node>,
    /// Whether that table is printed.
    with_table: bool,
    global_numbers: SecondaryMap<GlobalId, u32>,
    func_numbers: SecondaryMap<FuncId, u32>,
    /// Names in functions whose blocks have their address taken.
    label_names: HashMap<FuncId, Names>,
}

/// A numbered metadata node.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Node {
    /// A source location.
    Loc(LocId),
    /// A node of the imported module, whose content is not kept.
    Foreign(u64),
}

impl<'a> Printer<'a> {
    fn new(module: &'a Module, with_table: bool) -> Printer<'a> {
        let mut next = 0;
        let mut number = || {
            next += 1;
            next - 1
        };
        let mut global_numbers = SecondaryMap::new();
        for (id, _) in module.globals.iter().filter(|(_, g)| g.name.is_empty()) {
            global_numbers[id] = number();
        }
        let mut func_numbers = SecondaryMap::new();
        for (id, _) in module.funcs.iter().filter(|(_, f)| f.name.is_empty()) {
            func_numbers[id] = number();
        }
        Printer {
            module,
            out: String::new(),
            named: IndexSet::new(),
            table: IndexSet::new(),
            with_table,
            global_numbers,
            func_numbers,
            label_names: HashMap::new(),
        }
    }

    fn newline_if_any(&mut self) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
    }

    fn numbered(&mut self, number: u32) {
        self.put(format_args!("@{number}"));
    }

    fn put(&mut self, args: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = self.out.write_fmt(args);
    }

    fn ty(&mut self, ty: TypeId) {
        let named = &mut self.named;
        item::write_type(&self.module.ctx.types, ty, 0, &mut self.out, &mut |t| {
            named.insert(t);
        });
    }

    fn global_name(&mut self, id: GlobalId) {
        match self.module.globals.get(id) {
            Some(g) if g.name.is_empty() => self.numbered(self.global_numbers[id]),
            Some(g) => write_name('@', &g.name, &mut self.out),
            None => self.out.push_str(BAD),
        }
    }

    fn func_name(&mut self, id: FuncId) {
        match self.module.funcs.get(id) {
            Some(f) if f.name.is_empty() => self.numbered(self.func_numbers[id]),
            Some(f) => write_name('@', &f.name, &mut self.out),
            None => self.out.push_str(BAD),
        }
    }

    fn global(&mut self, id: GlobalId, g: &crate::module::Global) {
        self.global_name(id);
        self.out.push_str(" = ");
        let is_list =
            matches!(g.name.as_str(), "llvm.used" | "llvm.compiler.used" | "llvm.global_ctors" | "llvm.global_dtors");
        self.out.push_str(match (g.linkage, g.init.is_some()) {
            // LLVM allows these no other linkage.
            _ if is_list => "appending ",
            (Linkage::Internal, _) => "internal ",
            (Linkage::External, true) => "",
            (Linkage::External, false) => "external ",
        });
        if g.thread_local {
            self.out.push_str("thread_local ");
        }
        if g.space != 0 {
            self.put(format_args!("addrspace({}) ", g.space));
        }
        self.out.push_str(if g.constant { "constant " } else { "global " });
        self.ty(g.ty);
        if let Some(init) = g.init {
            self.out.push(' ');
            self.constant(init, 0);
        }
        if g.align != 0 {
            self.put(format_args!(", align {}", g.align));
        }
        self.out.push('\n');
    }

    fn func(&mut self, f: &Func, id: Option<FuncId>) {
        let types = &self.module.ctx.types;
        let names = Names::new(f);
        let is_declaration = f.is_declaration();
        self.out.push_str(if is_declaration { "declare " } else { "define " });
        self.out.push_str(match (f.linkage, f.attrs.interposable) {
            (Linkage::Internal, _) => "internal ",
            (Linkage::External, false) => "",
            (Linkage::External, true) if is_declaration => "extern_weak ",
            (Linkage::External, true) => "weak ",
        });
        self.out.push_str(&words::convention(f.conv));
        let sig = (f.sig.index() < types.len()).then(|| &types[f.sig]);
        let (ret, params, variadic) = match sig {
            Some(Type::Func { ret, params, variadic }) => (Some(*ret), params.as_slice(), *variadic),
            _ => (None, &[][..], false),
        };
        match ret {
            Some(ret) => self.ty(ret),
            None => self.out.push_str(BAD),
        }
        self.out.push(' ');
        match id {
            Some(id) => self.func_name(id),
            None => write_name('@', &f.name, &mut self.out),
        }
        self.out.push('(');
        for (i, ty) in params.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.ty(*ty);
            if let Some(attrs) = f.param_attrs.get(i) {
                self.param_attrs(attrs);
            }
            if let Some(v) = f.params.get(i)
                && !is_declaration
            {
                self.out.push(' ');
                self.out.push_str(names.value(*v));
            }
        }
        if variadic {
            self.out.push_str(if params.is_empty() { "..." } else { ", ..." });
        }
        self.out.push(')');
        self.func_attrs(&f.attrs);
        if let Some(personality) = f.personality {
            self.out.push_str(" personality ptr ");
            self.constant(personality, 0);
        }
        if let Some(loc) = f.loc.filter(|_| self.with_table && !is_declaration) {
            self.out.push_str(" !enzyme.loc ");
            self.loc(loc);
        }
        if is_declaration {
            self.out.push('\n');
            return;
        }
        self.out.push_str(" {\n");
        for (i, b) in f.layout.iter().enumerate() {
            let is_named = f.blocks.get(*b).is_some_and(|b| b.name.as_ref().is_some_and(|n| !n.is_empty()));
            if i > 0 {
                self.out.push('\n');
            }
            if i > 0 || is_named {
                let label = names.block(*b).trim_start_matches('%');
                self.put(format_args!("{label}:\n"));
            }
            for inst in f.blocks.get(*b).map_or(&[][..], |b| &b.insts) {
                self.out.push_str("  ");
                self.inst(f, &names, *inst);
                self.out.push('\n');
            }
        }
        self.out.push_str("}\n");
    }

    fn param_attrs(&mut self, attrs: &ParamAttrs) {
        let ParamAttrs { noalias, readonly, writeonly, nocapture, sret, byval } = attrs;
        let words = [
            (*noalias, " noalias"),
            (*readonly && *writeonly, " readnone"),
            (*readonly && !*writeonly, " readonly"),
            (*writeonly && !*readonly, " writeonly"),
        ];
        words.iter().filter(|w| w.0).for_each(|w| self.out.push_str(w.1));
        for (word, ty) in [(" sret(", sret), (" byval(", byval)] {
            if let Some(ty) = ty {
                self.out.push_str(word);
                self.ty(*ty);
                self.out.push(')');
            }
        }
        if *nocapture {
            self.out.push_str(" captures(none)");
        }
    }

    fn func_attrs(&mut self, attrs: &FuncAttrs) {
        let FuncAttrs { no_read, no_write, arg_mem_only, noreturn, nounwind, inactive, interposable: _ } = *attrs;
        let memory = match (no_read, no_write, arg_mem_only) {
            (true, true, _) => "none",
            (false, true, false) => "read",
            (true, false, false) => "write",
            (false, true, true) => "argmem: read",
            (true, false, true) => "argmem: write",
            (false, false, true) => "argmem: readwrite",
            (false, false, false) => "",
        };
        if noreturn {
            self.out.push_str(" noreturn");
        }
        if nounwind {
            self.out.push_str(" nounwind");
        }
        if !memory.is_empty() {
            self.put(format_args!(" memory({memory})"));
        }
        if inactive {
            self.out.push_str(" \"enzyme_inactive\"");
        }
    }

    fn named_types(&mut self) {
        let types = &self.module.ctx.types;
        let mut at = 0;
        while let Some(ty) = self.named.get_index(at).copied() {
            at += 1;
            if at == 1 {
                self.newline_if_any();
            }
            let Type::Struct(s) = &types[ty] else { continue };
            write_name('%', s.name.as_deref().unwrap_or(""), &mut self.out);
            self.out.push_str(" = type ");
            let named = &mut self.named;
            item::write_struct_body(types, s, 0, &mut self.out, &mut |t| {
                named.insert(t);
            });
            self.out.push('\n');
        }
    }

    /// The reference to a location, which puts it and the call sites around it in the table, those first.
    fn loc(&mut self, loc: LocId) {
        let mut chain = vec![loc];
        let mut at = loc;
        while let Some(outer) = self.module.locs.get(at).and_then(|l| l.inlined_at) {
            if chain.len() > self.module.locs.len() || self.table.contains(&Node::Loc(outer)) {
                break;
            }
            chain.push(outer);
            at = outer;
        }
        for l in chain.into_iter().rev() {
            self.table.insert(Node::Loc(l));
        }
        let index = self.table.get_index_of(&Node::Loc(loc)).unwrap_or(0);
        self.put(format_args!("!{index}"));
    }

    fn metadata_table(&mut self) {
        for i in 0..self.table.len() {
            if i == 0 {
                self.newline_if_any();
            }
            self.put(format_args!("!{i} = !{{"));
            match self.table.get_index(i) {
                Some(Node::Loc(id)) => self.loc_fields(*id),
                // Not kept, but it must be some node, and a list of one alias scope is valid in most places.
                Some(Node::Foreign(_)) | None => self.put(format_args!("!{{!\"node {i}\", !{{!\"imported\"}}}}")),
            }
            self.out.push_str("}\n");
        }
    }

    fn loc_fields(&mut self, id: LocId) {
        let Some(loc) = self.module.locs.get(id) else { return };
        for text in [&loc.file, &loc.scope] {
            self.out.push_str("!\"");
            escape(text.as_bytes(), &mut self.out);
            self.out.push_str("\", ");
        }
        self.put(format_args!("i32 {}, i32 {}", loc.line as i32, loc.column as i32));
        if let Some(at) = loc.inlined_at.and_then(|at| self.table.get_index_of(&Node::Loc(at))) {
            self.put(format_args!(", !{at}"));
        }
    }
}
