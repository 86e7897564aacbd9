//! LLVM's module into the mirror: types, declarations, globals, locations; bodies in [`body`], constants in
//! [`constants`], facts in [`facts`].
//!
//! Everything is imported when it is first met, and once. Handles of constants are not remembered beyond one body,
//! since LLVM may free constant expressions and reuse their addresses; functions, globals, types and locations live
//! as long as the session unless it erases them itself.

use std::collections::{BTreeMap, HashMap};

use cranelift_entity::{EntityRef, SecondaryMap};
use enzyme_ir::{
    FloatKind, Func, FuncAttrs, FuncId, Global, GlobalId, InstId, Linkage, Loc, LocId, ParamAttrs, StructType, Type,
    TypeId,
};

use crate::ffi::{self, FuncInfo, HostRef, LocInfo, LocRef, ParamInfo, TypeInfo, TypeRef, ValueRef};
use crate::problem::Problem;
use crate::session::{Handles, Session};

mod body;
mod constants;
mod facts;

pub(crate) use body::{FLOAT_PREDS, INT_PREDS, import_body};

/// What was imported, and from where.
#[derive(Default)]
pub(crate) struct Imported {
    types: HashMap<TypeRef, TypeId>,
    funcs: HashMap<ValueRef, FuncId>,
    func_values: Handles<FuncId>,
    globals: HashMap<ValueRef, GlobalId>,
    global_values: Handles<GlobalId>,
    /// Globals whose initial content is still to be imported.
    pending: Vec<(GlobalId, ValueRef)>,
    consts: HashMap<ValueRef, enzyme_ir::ConstId>,
    /// Constants that only LLVM can repeat: inline assembly, metadata, aliases.
    opaque: Handles<enzyme_ir::ConstId>,
    locs: HashMap<LocRef, LocId>,
    loc_refs: HashMap<LocId, LocRef>,
    /// Locations by what they say: LLVM has several of one place where blocks of the source nest.
    places: HashMap<Loc, LocId>,
    insts: BTreeMap<FuncId, SecondaryMap<InstId, Option<ValueRef>>>,
    names: HashMap<String, FuncId>,
    /// How many functions of the mirror `names` covers.
    named: usize,
}

impl Imported {
    pub(crate) fn func_value(&self, f: FuncId) -> Option<ValueRef> {
        self.func_values.get(&f).copied()
    }

    pub(crate) fn bind_function(&mut self, f: FuncId, value: ValueRef) {
        self.func_values.insert(f, value);
        self.funcs.insert(value, f);
    }

    pub(crate) fn global_value(&self, g: GlobalId) -> Option<ValueRef> {
        self.global_values.get(&g).copied()
    }

    pub(crate) fn set_global_value(&mut self, g: GlobalId, value: ValueRef) {
        self.global_values.insert(g, value);
        self.globals.insert(value, g);
    }

    pub(crate) fn forget_global(&mut self, g: GlobalId) {
        if let Some(value) = self.global_values.remove(&g) {
            self.globals.remove(&value);
        }
    }

    pub(crate) fn opaque_value(&self, c: enzyme_ir::ConstId) -> Option<ValueRef> {
        self.opaque.get(&c).copied()
    }

    pub(crate) fn loc_ref(&self, loc: LocId) -> Option<LocRef> {
        self.loc_refs.get(&loc).copied()
    }

    /// The LLVM instruction that `inst` of `f` was read from.
    pub(crate) fn inst_value(&self, f: FuncId, inst: InstId) -> Option<ValueRef> {
        *self.insts.get(&f)?.get(inst)?
    }

    pub(crate) fn forget_body(&mut self, f: FuncId) {
        self.insts.remove(&f);
    }

    pub(crate) fn forget_function(&mut self, value: ValueRef) {
        if let Some(f) = self.funcs.remove(&value) {
            self.func_values.remove(&f);
        }
    }
}

pub(crate) fn import_module(session: &mut Session) -> Result<(), Vec<Problem>> {
    for global in list(|out, cap| {
        // SAFETY: the host is alive and `out` has room for `cap` handles.
        unsafe { ffi::enz_module_globals(session.host, out, cap) }
    }) {
        declare_global(session, global);
    }
    let functions = list(|out, cap| {
        // SAFETY: as above.
        unsafe { ffi::enz_module_functions(session.host, out, cap) }
    });
    for function in &functions {
        declare_function(session, *function);
    }
    let mut problems = Vec::new();
    for function in functions {
        let f = declare_function(session, function);
        if func_info(session.host, function).flags & ffi::FUNC_DECLARATION == 0
            && session.ir.funcs[f].is_declaration()
            && let Err(mut found) = import_body(session, f, function, None)
        {
            problems.append(&mut found);
        }
    }
    import_pending(session);
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Reads a list through a function that writes up to a capacity and returns the whole number.
pub(crate) fn list<T>(mut read: impl FnMut(*mut T, usize) -> usize) -> Vec<T> {
    let mut out: Vec<T> = Vec::new();
    let n = read(std::ptr::null_mut(), 0);
    out.reserve(n);
    let written = read(out.as_mut_ptr(), n);
    if written == n {
        // SAFETY: `read` wrote `n` elements into the reserved room.
        unsafe { out.set_len(n) };
    }
    out
}

pub(crate) fn func_info(host: HostRef, value: ValueRef) -> FuncInfo {
    let mut info = FuncInfo::default();
    // SAFETY: the function belongs to the host's module; `info` is valid to write to.
    unsafe { ffi::enz_func_info(host, value, &raw mut info) };
    info
}

/// The mirror's id of an LLVM function; it is declared there with its attributes if it was not.
pub(crate) fn declare_function(session: &mut Session, value: ValueRef) -> FuncId {
    if let Some(f) = session.imported.funcs.get(&value) {
        return *f;
    }
    let info = func_info(session.host, value);
    let name = info.name.to_text();
    let f = match find_unbound(session, &name) {
        Some(f) => f,
        None => {
            let func = describe_function(session, value, &info, &name);
            session.ir.funcs.push(func)
        }
    };
    session.imported.funcs.insert(value, f);
    session.imported.func_values.insert(f, value);
    if info.like.len > 0 {
        session.ir.stated.like.insert(f, info.like.to_text());
    }
    f
}

/// Makes `f` the declaration again that it was before it got a body.
pub(crate) fn undefine(session: &mut Session, f: FuncId) {
    let Some(value) = session.imported.func_value(f) else { return };
    let info = func_info(session.host, value);
    let name = info.name.to_text();
    session.ir.funcs[f] = describe_function(session, value, &info, &name);
}

/// A declaration of this name that the caller added and that stands for no LLVM function yet.
fn find_unbound(session: &mut Session, name: &str) -> Option<FuncId> {
    let imported = &mut session.imported;
    for index in imported.named..session.ir.funcs.len() {
        let f = FuncId::new(index);
        imported.names.entry(session.ir.funcs[f].name.clone()).or_insert(f);
    }
    imported.named = session.ir.funcs.len();
    let f = *imported.names.get(name).filter(|_| !name.is_empty())?;
    (!imported.func_values.contains_key(&f) && session.ir.funcs[f].is_declaration()).then_some(f)
}

fn describe_function(session: &mut Session, value: ValueRef, info: &FuncInfo, name: &str) -> Func {
    let sig = match info.sig {
        Some(ty) => import_type(session, ty),
        None => session.ir.ctx.types.void(),
    };
    let params = match &session.ir.ctx.types[sig] {
        Type::Func { params, .. } => params.clone(),
        _ => Vec::new(),
    };
    let mut func = Func::new(name, sig, &params);
    let has = |bit: u32| info.flags & bit != 0;
    func.linkage = if has(ffi::FUNC_INTERNAL) { Linkage::Internal } else { Linkage::External };
    func.conv = info.conv;
    func.attrs = FuncAttrs {
        no_read: has(ffi::FUNC_NO_READ),
        no_write: has(ffi::FUNC_NO_WRITE),
        arg_mem_only: has(ffi::FUNC_ARG_MEM_ONLY),
        noreturn: has(ffi::FUNC_NORETURN),
        nounwind: has(ffi::FUNC_NOUNWIND),
        inactive: has(ffi::FUNC_INACTIVE),
        interposable: has(ffi::FUNC_INTERPOSABLE),
    };
    func.param_attrs = (0..params.len())
        .map(|i| {
            let mut raw = ParamInfo::default();
            // SAFETY: the function has more than `i` parameters; `raw` is valid to write to.
            unsafe { ffi::enz_param_info(value, i as u32, &raw mut raw) };
            param_attrs(session, &raw)
        })
        .collect();
    if let Some(scope) = info.scope {
        let mut raw = LocInfo::default();
        // SAFETY: the scope is debug information of a function of the module.
        unsafe { ffi::enz_scope_info(scope, &raw mut raw) };
        func.loc = Some(intern_loc(session, describe_loc(&raw, None)));
    }
    func
}

pub(crate) fn param_attrs(session: &mut Session, raw: &ParamInfo) -> ParamAttrs {
    let has = |bit: u32| raw.flags & bit != 0;
    ParamAttrs {
        noalias: has(ffi::PARAM_NOALIAS),
        readonly: has(ffi::PARAM_READONLY),
        writeonly: has(ffi::PARAM_WRITEONLY),
        nocapture: has(ffi::PARAM_NOCAPTURE),
        sret: raw.sret.map(|ty| import_type(session, ty)),
        byval: raw.byval.map(|ty| import_type(session, ty)),
    }
}

/// The mirror's id of an LLVM global; its content is imported with the next body.
pub(crate) fn declare_global(session: &mut Session, value: ValueRef) -> GlobalId {
    if let Some(g) = session.imported.globals.get(&value) {
        return *g;
    }
    let mut info = ffi::GlobalInfo::default();
    // SAFETY: the global belongs to the module; `info` is valid to write to.
    unsafe { ffi::enz_global_info(value, &raw mut info) };
    let ty = match info.ty {
        Some(ty) => import_type(session, ty),
        None => session.ir.ctx.types.void(),
    };
    let g = session.ir.globals.push(Global {
        name: info.name.to_text(),
        ty,
        init: None,
        constant: info.constant != 0,
        linkage: if info.internal != 0 { Linkage::Internal } else { Linkage::External },
        align: info.align,
        thread_local: info.thread_local != 0,
        space: info.space,
    });
    session.imported.set_global_value(g, value);
    if info.inactive != 0 {
        session.ir.stated.inactive.insert(g);
    }
    if let Some(init) = info.init {
        session.imported.pending.push((g, init));
    }
    g
}

/// Imports the initial contents of globals met so far, and of those that they name.
fn import_pending(session: &mut Session) {
    while let Some((g, init)) = session.imported.pending.pop() {
        let c = constants::import_const(session, init);
        session.ir.globals[g].init = Some(c);
    }
}

pub(crate) fn import_loc(session: &mut Session, loc: LocRef) -> LocId {
    if let Some(id) = session.imported.locs.get(&loc) {
        return *id;
    }
    let mut raw = LocInfo::default();
    // SAFETY: the location belongs to the module's context; `raw` is valid to write to.
    unsafe { ffi::enz_loc_info(loc, &raw mut raw) };
    let inlined_at = raw.inlined_at.map(|at| import_loc(session, at));
    let id = intern_loc(session, describe_loc(&raw, inlined_at));
    session.imported.locs.insert(loc, id);
    session.imported.loc_refs.entry(id).or_insert(loc);
    id
}

fn intern_loc(session: &mut Session, loc: Loc) -> LocId {
    let locs = &mut session.ir.locs;
    *session.imported.places.entry(loc).or_insert_with_key(|loc| locs.push(loc.clone()))
}

fn describe_loc(raw: &LocInfo, inlined_at: Option<LocId>) -> Loc {
    Loc { file: raw.file.to_text(), line: raw.line, column: raw.column, scope: raw.scope.to_text(), inlined_at }
}

fn float_kind(raw: u32) -> FloatKind {
    FloatKind::ALL.get(raw as usize).copied().unwrap_or(FloatKind::Double)
}

pub(crate) fn import_type(session: &mut Session, ty: TypeRef) -> TypeId {
    if let Some(id) = session.imported.types.get(&ty) {
        return *id;
    }
    let mut info = TypeInfo::default();
    // SAFETY: the type belongs to the module's context; `info` is valid to write to.
    unsafe { ffi::enz_type_info(ty, &raw mut info) };
    let mut parts = Vec::new();
    if matches!(info.kind, 6 | 7 | 12) {
        for i in 0..info.count {
            // SAFETY: `i` is below the announced number of parts.
            let part = unsafe { ffi::enz_type_part(ty, i as u32) };
            parts.extend(part.map(|p| import_type(session, p)));
        }
    }
    let elem = info.elem.map(|e| import_type(session, e));
    let elem = elem.unwrap_or_else(|| session.ir.ctx.types.void());
    let described = match info.kind {
        0 => Type::Void,
        1 => Type::Int(info.bits),
        2 => Type::Float(float_kind(info.bits)),
        3 => Type::Ptr(info.bits),
        4 => Type::Vector { elem, len: info.count as u32, scalable: info.scalable != 0 },
        5 => Type::Array { elem, len: info.count },
        6 => Type::Struct(StructType {
            name: (info.name.len > 0).then(|| info.name.to_text()),
            fields: (info.opaque == 0).then_some(parts),
            packed: info.packed != 0,
        }),
        7 => Type::Func { ret: elem, params: parts, variadic: info.variadic != 0 },
        8 => Type::Label,
        9 => Type::Metadata,
        10 => Type::Token,
        11 => Type::X86Amx,
        12 => Type::TargetExt {
            name: info.name.to_text(),
            types: parts,
            ints: (0..info.ints)
                // SAFETY: `i` is below the announced number of integers.
                .map(|i| unsafe { ffi::enz_type_int(ty, i) })
                .collect(),
        },
        _ => Type::TargetExt { name: "unknown".to_owned(), types: Vec::new(), ints: Vec::new() },
    };
    let id = session.ir.ctx.types.intern(described);
    session.imported.types.insert(ty, id);
    id
}
