//! Functions of the mirror into LLVM's module.
//!
//! All functions of one request are declared before any is written, so they may call each other. Each is written block by
//! block in reverse post-order, so that definitions come before uses; phis get their incoming values last. Then LLVM's
//! verifier looks at it; if anything is wrong, everything this request made is removed again.
//!
//! Blocks that cannot be reached are not written.

use std::collections::{BTreeMap, HashMap};

use enzyme_ir::{BlockId, ConstId, Func, FuncAttrs, FuncId, InstId, Linkage, Op, TypeId, ValueDef, ValueId};

use crate::ffi::{self, BlockRef, BuilderRef, FuncSpec, ParamInfo, Str, TypeRef, ValueRef};
use crate::problem::Problem;
use crate::session::Session;
use crate::text::collect;

mod constants;
mod insts;

/// What was written.
#[derive(Default)]
pub(crate) struct Exported {
    functions: BTreeMap<FuncId, ValueRef>,
    types: HashMap<TypeId, TypeRef>,
    /// Constants of the request under way.
    consts: HashMap<ConstId, ValueRef>,
}

impl Exported {
    pub(crate) fn function(&self, f: FuncId) -> Option<ValueRef> {
        self.functions.get(&f).copied()
    }

    /// Forgets a function that is about to be erased.
    pub(crate) fn forget(&mut self, value: ValueRef) {
        self.functions.retain(|_, v| *v != value);
    }
}

/// The function being written.
struct Target<'a> {
    func: &'a Func,
    value: ValueRef,
    builder: BuilderRef,
    blocks: HashMap<BlockId, BlockRef>,
    values: HashMap<ValueId, ValueRef>,
}

pub(crate) fn export(session: &mut Session, functions: &[FuncId], linkage: Linkage) -> Result<(), Vec<Problem>> {
    session.exported.consts.clear();
    let mut made = Vec::new();
    let mut problems = Vec::new();
    for f in functions {
        if session.exported.function(*f).is_some() {
            continue;
        }
        match declare(session, *f, linkage) {
            Ok(value) => {
                session.exported.functions.insert(*f, value);
                made.push((*f, value));
            }
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() {
        for (f, value) in &made {
            let func = session.ir.funcs[*f].clone();
            if let Err(problem) = define(session, &func, *value) {
                problems.push(problem);
            }
        }
    }
    session.exported.consts.clear();
    if problems.is_empty() {
        return Ok(());
    }
    for (f, value) in &made {
        session.exported.functions.remove(f);
        // SAFETY: the function was made by this request; clearing all bodies first leaves no uses among them.
        unsafe { ffi::enz_function_clear(*value) };
    }
    for (_, value) in &made {
        // SAFETY: as above, and nothing refers to it any more.
        unsafe { ffi::enz_function_erase(session.host, *value) };
    }
    Err(problems)
}

fn func_flags(attrs: &FuncAttrs) -> u32 {
    let FuncAttrs { no_read, no_write, arg_mem_only, noreturn, nounwind, inactive, interposable } = *attrs;
    let bit = |on: bool, bit: u32| if on { bit } else { 0 };
    bit(no_read, ffi::FUNC_NO_READ)
        | bit(no_write, ffi::FUNC_NO_WRITE)
        | bit(arg_mem_only, ffi::FUNC_ARG_MEM_ONLY)
        | bit(noreturn, ffi::FUNC_NORETURN)
        | bit(nounwind, ffi::FUNC_NOUNWIND)
        | bit(inactive, ffi::FUNC_INACTIVE)
        | bit(interposable, ffi::FUNC_INTERPOSABLE)
}

/// Makes the LLVM function of `f`: a declaration, or one whose body is to follow.
fn make(session: &mut Session, f: FuncId, generated: Option<Linkage>) -> Result<ValueRef, Problem> {
    let func = &session.ir.funcs[f];
    let (name, sig_id, conv, flags) = (func.name.clone(), func.sig, func.conv, func_flags(&func.attrs));
    let param_attrs = func.param_attrs.clone();
    let like = func.placed().find_map(|(_, i)| func.insts[i].origin).and_then(|o| session.llvm_function(o.func));
    let sig = constants::export_type(session, sig_id)
        .ok_or_else(|| Problem::new(&name, "the function's type does not exist in LLVM"))?;
    let mut params = Vec::new();
    for attrs in &param_attrs {
        let bit = |on: bool, bit: u32| if on { bit } else { 0 };
        params.push(ParamInfo {
            flags: bit(attrs.noalias, ffi::PARAM_NOALIAS)
                | bit(attrs.readonly, ffi::PARAM_READONLY)
                | bit(attrs.writeonly, ffi::PARAM_WRITEONLY)
                | bit(attrs.nocapture, ffi::PARAM_NOCAPTURE),
            sret: attrs.sret.and_then(|ty| constants::export_type(session, ty)),
            byval: attrs.byval.and_then(|ty| constants::export_type(session, ty)),
        });
    }
    let spec = FuncSpec {
        name: Str::of(&name),
        sig,
        flags,
        conv,
        internal: u8::from(generated == Some(Linkage::Internal)),
        always_inline: 0,
        generated: u8::from(generated.is_some()),
        like,
        params: params.as_ptr(),
        num_params: params.len(),
    };
    // SAFETY: the host is alive; `spec` borrows for the call.
    unsafe { ffi::enz_func_make(session.host, &raw const spec) }
        .ok_or_else(|| Problem::new(&name, "LLVM does not accept a function of this name and type"))
}

fn declare(session: &mut Session, f: FuncId, linkage: Linkage) -> Result<ValueRef, Problem> {
    match session.ir.funcs.get(f) {
        Some(func) if !func.is_declaration() => make(session, f, Some(linkage)),
        Some(func) => Err(Problem::new(&func.name, "the function has no body to export")),
        None => Err(Problem::new("", "there is no such function to export")),
    }
}

/// The LLVM function that a call of `f` from generated code means.
fn callee(session: &mut Session, f: FuncId) -> Result<ValueRef, Problem> {
    if let Some(value) = session.exported.function(f).or_else(|| session.llvm_function(f)) {
        return Ok(value);
    }
    let Some(func) = session.ir.funcs.get(f) else {
        return Err(Problem::new("", "a constant names a function that does not exist"));
    };
    if !func.is_declaration() {
        return Err(Problem::new(&func.name, "the function is used but was not exported"));
    }
    let value = make(session, f, None)?;
    session.imported.bind_function(f, value);
    Ok(value)
}

fn define(session: &mut Session, func: &Func, value: ValueRef) -> Result<(), Problem> {
    // SAFETY: the function was made for this purpose and has no body yet.
    let builder = unsafe { ffi::enz_builder_new(session.host, value) };
    let mut target = Target { func, value, builder, blocks: HashMap::new(), values: HashMap::new() };
    let written = write(session, &mut target);
    // SAFETY: the builder was made above and is not used any more.
    unsafe { ffi::enz_builder_drop(builder) };
    written.map_err(|(message, inst)| Problem {
        message,
        function: func.name.clone(),
        loc: inst.and_then(|i| func.insts[i].loc),
    })
}

type Failure = (String, Option<InstId>);

fn write(session: &mut Session, target: &mut Target<'_>) -> Result<(), Failure> {
    let func = target.func;
    let order = reverse_post_order(func);
    let reached: std::collections::BTreeSet<BlockId> = order.iter().copied().collect();
    for (i, param) in func.params.iter().enumerate() {
        // SAFETY: the bridge checks the index.
        if let Some(value) = unsafe { ffi::enz_func_param(target.value, i as u32) } {
            target.values.insert(*param, value);
            if let Some(name) = func.value_names.get(param) {
                // SAFETY: the parameter belongs to the function made for this; the name is borrowed for the call.
                unsafe { ffi::enz_value_set_name(value, Str::of(name)) };
            }
        }
    }
    if let Some(routine) = func.personality {
        let routine = constants::export_const(session, routine).map_err(|p| (p.message, None))?;
        // SAFETY: function and constant belong to the module; the bridge checks the type.
        if unsafe { ffi::enz_set_personality(target.value, routine) } == 0 {
            return Err(("the personality routine is not an address".to_owned(), None));
        }
    }
    for block in func.layout.iter().filter(|b| reached.contains(b)) {
        let name = func.blocks[*block].name.as_deref().unwrap_or("");
        // SAFETY: the function is ours; the name is borrowed for the call.
        let made = unsafe { ffi::enz_block_make(target.value, Str::of(name)) };
        target.blocks.insert(*block, made);
    }
    let mut phis = Vec::new();
    for block in &order {
        for inst in &func.blocks[*block].insts {
            let value = insts::build(session, target, *block, *inst).map_err(|m| (m, Some(*inst)))?;
            if let Some(result) = func.insts[*inst].result {
                target.values.insert(result, value);
            }
            if matches!(func.insts[*inst].op, Op::Phi(_)) {
                phis.push((*inst, value));
            }
        }
        if func.terminator(*block).is_none() {
            return Err((format!("block {block} has no terminator"), None));
        }
        let like = func.blocks[*block].like;
        if let Some((like, end)) = like.and_then(|l| Some((l, session.imported.inst_value(l.end.func, l.end.inst)?)))
            && let Some(at) = target.blocks.get(block)
        {
            // SAFETY: builder, block and instruction belong to the module of this session.
            unsafe { ffi::enz_builder_block(target.builder, *at, end, u8::from(like.turned)) };
        }
    }
    for (inst, phi) in phis {
        let Op::Phi(blocks) = &func.insts[inst].op else { continue };
        for (from, arg) in blocks.iter().zip(&func.insts[inst].args) {
            let Some(block) = target.blocks.get(from).copied() else { continue };
            let value = value_of(session, target, *arg).map_err(|m| (m, Some(inst)))?;
            // SAFETY: phi, value and block belong to the module; the bridge checks types.
            if unsafe { ffi::enz_phi_add(phi, value, block) } == 0 {
                return Err(("a phi has an incoming value of another type".to_owned(), Some(inst)));
            }
        }
    }
    // SAFETY: the builder is that of the function, which is complete.
    unsafe { ffi::enz_builder_finish(target.builder) };
    // SAFETY: the function is ours and complete.
    let (good, message) = collect(|sink, context| unsafe { ffi::enz_verify_function(target.value, sink, context) });
    if good != 0 { Ok(()) } else { Err((format!("LLVM's verifier says: {}", message.trim_end()), None)) }
}

/// The LLVM value of `v`, which is a constant or was defined in a block written before.
fn value_of(session: &mut Session, target: &mut Target<'_>, v: ValueId) -> Result<ValueRef, String> {
    if let Some(value) = target.values.get(&v) {
        return Ok(*value);
    }
    let Some(described) = target.func.values.get(v) else { return Err(format!("{v} does not exist")) };
    let ValueDef::Const(c) = described.def else {
        return Err(format!("{v} is used before it is defined"));
    };
    let value = constants::export_const(session, c).map_err(|p| p.message)?;
    target.values.insert(v, value);
    Ok(value)
}

fn reverse_post_order(func: &Func) -> Vec<BlockId> {
    let Some(entry) = func.entry() else { return Vec::new() };
    let mut seen = std::collections::BTreeSet::from([entry]);
    let mut post = Vec::new();
    let mut stack = vec![(entry, func.successors(entry), 0usize)];
    while let Some((block, successors, next)) = stack.last_mut() {
        match successors.get(*next).copied() {
            Some(to) => {
                *next += 1;
                if func.blocks.get(to).is_some() && seen.insert(to) {
                    stack.push((to, func.successors(to), 0));
                }
            }
            None => {
                post.push(*block);
                stack.pop();
            }
        }
    }
    post.reverse();
    post
}
