//! `__enzyme_fwdsplit`: tangents at the point of an augmented forward sweep, from its tape alone.
//!
//! A reverse sweep on a tape is a linear map of adjoints, the transpose of the one that tangents go through. So a tangent is had
//! by the reverse mode of the reverse sweep (transposed twice: Radul et al., *You Only Linearize Once*, POPL 2023, take the
//! same relation the other way). Two functions are written for each call, whose markers are then replaced like others:
//!
//! ```text
//! sweep(primals, shadows, seeds, adjoints, tape) { *adjoints = __enzyme_reverse(f, primals, shadows, seeds, tape) }
//! call(arguments of the marker)                  { return __enzyme_autodiff(sweep, tangents in the places of adjoints) }
//! ```
//!
//! A linear map needs none of the values that it is applied to: in the place of the shadows stands memory that is not
//! there, which reads as zero and forgets what is written (`core/llvm/bridge/dense.cpp`), with the tangents as its shadow.
//! So the primal arguments may be null as they may be in `__enzyme_reverse`, and the tape stays as it is.
//!
//! Not handled (E0113): pointers in memory that has tangents, since the memory behind them is not there; shadows that the
//! augmented sweep allocated, which lie on the tape.

use std::collections::{BTreeMap, BTreeSet};

use enzyme_diff::custom::transposed;
use enzyme_diff::emit::Emit;
use enzyme_diff::{Engine, Mode, ParamActivity};
use enzyme_ir::{Func, FuncId, Linkage, MemClass, Module, Type, TypeId, ValueId};
use enzyme_llvm::{MarkerCall, Session};

use crate::codes;
use crate::marker::{self, FORWARD_SPLIT, Marker};
use crate::report::{Report, from_problem};
use crate::wrapper;

/// Memory that reads as zero and forgets what is written.
pub const ZERO: &str = "__enzyme_todense.zero";

/// How the names of the markers for reverse sweeps begin.
const SWEEP: &str = "__enzyme_reverse.sweep";

/// Which call of the marker each function was written for, by name.
#[derive(Default)]
pub struct Written {
    sweeps: BTreeMap<String, MarkerCall>,
    wrappers: BTreeMap<String, MarkerCall>,
    /// The functions of which it was said that they are refused.
    said: BTreeSet<String>,
}

impl Written {
    /// What is said where `call`, which one of the functions makes or needs, is refused: it has a place in the source.
    pub fn explain(&mut self, session: &Session, call: &MarkerCall, reports: Vec<Report>) -> Vec<Report> {
        if self.wrappers.contains_key(&call.caller_name) {
            let why = reports.first().map(|r| r.message.clone()).unwrap_or_default();
            return self.refuse(session, call, &why).into_iter().collect();
        }
        let Some(origin) = self.sweeps.get(&call.caller_name) else { return reports };
        // What waits for this one is refused with it.
        self.said.extend(self.wrappers.iter().filter(|w| w.1.handle == origin.handle).map(|w| w.0.clone()));
        reports.into_iter().map(|r| Report { func: None, loc: None, ..r }.at(Some(origin.caller), origin.loc)).collect()
    }

    /// Whether `call` is in one of the functions, as all views of memory are that is not there.
    pub fn has(&self, call: &MarkerCall) -> bool {
        self.wrappers.contains_key(&call.caller_name)
    }

    /// What is said, once, where memory that is not there can't be done without.
    pub fn refuse(&mut self, session: &Session, call: &MarkerCall, why: &str) -> Option<Report> {
        let origin = self.wrappers.get(&call.caller_name).filter(|_| self.said.insert(call.caller_name.clone()))?;
        let name = marker::function_of(origin).map(|f| session.ir.funcs[f].name.clone()).unwrap_or_default();
        let report = Report::new(codes::E0113, format!("the reverse sweep of '{name}' can't be transposed: {why}"));
        Some(report.at(Some(origin.caller), origin.loc))
    }
}

/// Whether `call` is of a marker for a reverse sweep that is transposed.
pub fn is_sweep(call: &MarkerCall) -> bool {
    call.callee.starts_with(SWEEP)
}

/// Refuses the reverse sweep `call` if it finds shadows on its tape: tangents have no place there. And a derivative that would call
/// what stands for a reverse rule only until it is transposed.
pub fn check(module: &Module, engine: &Engine, call: &MarkerCall, sweep: FuncId) -> Result<(), Report> {
    let mut reached = vec![sweep];
    let mut n = 0;
    while let Some(f) = reached.get(n).copied() {
        if !is_sweep(call) {
            if transposed::is_declared(&module.funcs[f]) {
                let what = "a rule for tangents on a tape is not linear in what the sweep gives it here";
                return Err(Report::new(codes::E0113, what));
            }
        } else if engine.remembering.contains(&f) {
            let what = "shadows that the augmented sweep allocated or was given behind pointers lie on the tape";
            return Err(Report::new(codes::E0113, what)
                .note("a reverse sweep is transposed here, which must find what it changes in its arguments"));
        }
        let more = enzyme_analysis::program::callees(module, &module.funcs[f]);
        reached.extend(more.into_iter().filter(|g| !reached.contains(g)).collect::<Vec<_>>());
        n += 1;
    }
    Ok(())
}

/// Replaces all calls of the marker by calls of other markers.
pub fn lower(session: &mut Session) -> Written {
    let mut written = Written::default();
    let calls = session.find_marker_calls(&[FORWARD_SPLIT]);
    for (number, call) in calls.iter().enumerate() {
        if let Err(report) = replace(session, call, number, &mut written) {
            report.at(Some(call.caller), call.loc).show(session);
        }
    }
    written
}

fn replace(session: &mut Session, call: &MarkerCall, number: usize, written: &mut Written) -> Result<(), Report> {
    let func = marker::function_of(call)?;
    let marker = marker::parse(&session.ir, call, Mode::Forward, func)?;
    let sweep = sweep(&mut session.ir, call, &marker, number)?;
    let wrapper = tangents(&mut session.ir, call, &marker, sweep, number)?;
    written.sweeps.insert(session.ir.funcs[sweep].name.clone(), call.clone());
    written.wrappers.insert(session.ir.funcs[wrapper].name.clone(), call.clone());
    let exported = session.export(&[sweep, wrapper]);
    exported.map_err(|problems| match problems.first() {
        Some(p) => from_problem(p, codes::E0901),
        None => Report::new(codes::E0901, "a function was not accepted".to_owned()),
    })?;
    session.redirect_marker(call, wrapper).map_err(|p| from_problem(&p, codes::E0901))
}

/// What a marker call gets, in order.
struct Arguments<'a, 'm> {
    e: &'a mut Emit<'m>,
    list: Vec<ValueId>,
}

impl Arguments<'_, '_> {
    fn of_function(e: &mut Emit<'_>, f: FuncId) -> Vec<ValueId> {
        vec![e.b().func_addr(f)]
    }

    fn note(&mut self, name: &str) {
        let value = marker::address_of_annotation(self.e, name);
        self.list.push(value);
    }

    fn settings(&mut self, marker: &Marker) {
        let s = &marker.settings;
        for (wanted, name) in [(s.strong_zero, "enzyme_strong_zero"), (s.tested, "enzyme_runtime_activity")] {
            if wanted {
                self.note(name);
            }
        }
    }
}

/// What the reverse sweep returns: the adjoints of the floats that are passed by value, of each all lanes.
fn adjoints(module: &mut Module, marker: &Marker) -> Vec<TypeId> {
    let (_, types, _) = module.signature(marker.func);
    let scalars = marker.params.iter().zip(types).filter(|(p, ty)| is_scalar(module, p.activity, *ty));
    scalars.flat_map(|(_, ty)| vec![ty; marker.settings.width as usize]).collect()
}

fn is_scalar(module: &Module, activity: ParamActivity, ty: TypeId) -> bool {
    activity == ParamActivity::Dup && !module.ctx.types.contains_pointer(ty)
}

/// The type of what is returned where these are.
fn whole(module: &mut Module, types: &[TypeId]) -> TypeId {
    match types {
        [] => module.ctx.types.void(),
        [one] => *one,
        _ => module.ctx.types.tuple(types.to_vec()),
    }
}

/// The type of the seeds of the result, if it has any.
fn seed_of(module: &Module, marker: &Marker) -> Option<TypeId> {
    let (ret, _, _) = module.signature(marker.func);
    (module.ctx.types.contains_float(ret) && !marker.settings.constant_result).then_some(ret)
}

/// The reverse sweep as a function of adjoints: what each parameter of the primal function is given, the shadows of its lanes
/// behind it; seeds; where the adjoints of floats that are passed by value go; the tape.
fn sweep(module: &mut Module, call: &MarkerCall, marker: &Marker, number: usize) -> Result<FuncId, Report> {
    let (_, types, _) = module.signature(marker.func);
    let (ptr, void) = (module.ctx.types.ptr(), module.ctx.types.void());
    let width = marker.settings.width as usize;
    let seed = seed_of(module, marker);
    let adjoints = adjoints(module, marker);
    let mut params = Vec::new();
    for (p, ty) in marker.params.iter().zip(&types) {
        params.push(*ty);
        let pointer = module.ctx.types.contains_pointer(*ty);
        if pointer && p.activity == ParamActivity::Dup {
            if *ty != ptr {
                let why = format!("'{}' takes a structure that holds an address by value", call.callee);
                return Err(Report::new(codes::E0109, why));
            }
            params.extend(vec![ptr; width]);
        }
    }
    params.extend(seed.iter().flat_map(|ty| vec![*ty; width]));
    params.extend((!adjoints.is_empty()).then_some(ptr));
    params.push(ptr);
    let sig = module.ctx.types.func(void, params.clone());
    let name = format!("enzyme.sweep.{}.{number}", module.funcs[marker.func].name);
    let mut func = Func::new(name, sig, &params);
    func.linkage = Linkage::Internal;
    let mut e = Emit::new(module, func);
    let start = e.new_block("start");
    e.block = start;
    let mut given = e.func.params.clone().into_iter();
    let list = Arguments::of_function(&mut e, marker.func);
    let mut args = Arguments { e: &mut e, list };
    args.settings(marker);
    if width > 1 {
        args.note("enzyme_width");
        let lanes = args.e.b().i64(width as u64);
        args.list.push(lanes);
    }
    if marker.settings.constant_result {
        args.note("enzyme_const_return");
    }
    for (p, ty) in marker.params.iter().zip(&types) {
        let scalar = is_scalar(args.e.module, p.activity, *ty);
        args.note(match p.activity {
            ParamActivity::Dup | ParamActivity::Active if scalar => "enzyme_out",
            ParamActivity::Dup | ParamActivity::Active => "enzyme_dup",
            ParamActivity::Const => "enzyme_const",
        });
        let count = 1 + if p.activity == ParamActivity::Dup && !scalar { width } else { 0 };
        args.list.extend(given.by_ref().take(count));
    }
    args.list.extend(given.by_ref().take(if seed.is_some() { width } else { 0 }));
    let out = given.by_ref().take(usize::from(!adjoints.is_empty())).next();
    args.note("enzyme_nofree");
    args.note("enzyme_tape");
    args.list.extend(given);
    let list = args.list;
    let ret = whole(e.module, &adjoints);
    let value = e.call(&format!("{SWEEP}{number}"), ret, &list);
    if let Some(out) = out {
        e.b().store(value, out, 0, MemClass::Unknown);
    }
    e.b().ret(None);
    let func = e.finish(start);
    Ok(module.funcs.push(func))
}

/// The function that takes the place of the marker call.
fn tangents(
    module: &mut Module,
    call: &MarkerCall,
    marker: &Marker,
    sweep: FuncId,
    number: usize,
) -> Result<FuncId, Report> {
    let (_, types, _) = module.signature(marker.func);
    let ptr = module.ctx.types.ptr();
    let width = marker.settings.width as usize;
    let seed = seed_of(module, marker);
    let adjoints = adjoints(module, marker);
    let params: Vec<TypeId> = call.args.iter().map(|a| a.ty).collect();
    let sig = module.ctx.types.func(call.ret, params.clone());
    let name = format!("enzyme.fwdsplit.{}.call{number}", module.funcs[marker.func].name);
    let mut func = Func::new(name, sig, &params);
    func.linkage = Linkage::Internal;
    for (n, a) in call.args.iter().enumerate() {
        func.param_attrs[n] = a.attrs;
    }
    let mut e = Emit::new(module, func);
    let start = e.new_block("start");
    e.block = start;
    let list = Arguments::of_function(&mut e, sweep);
    let mut args = Arguments { e: &mut e, list };
    args.settings(marker);
    let mut scalars = Vec::new();
    for (p, ty) in marker.params.iter().zip(&types) {
        let primal = wrapper::lane_of(args.e, &p.primal, *ty);
        args.note("enzyme_const");
        args.list.push(primal);
        let tangents: Vec<ValueId> = p.shadows.iter().map(|lane| wrapper::lane_of(args.e, lane, *ty)).collect();
        if is_scalar(args.e.module, p.activity, *ty) {
            scalars.extend(tangents);
            continue;
        }
        for tangent in tangents {
            args.note("enzyme_dupnoneed");
            let null = args.e.b().zero(ptr);
            let nothing = args.e.call(ZERO, ptr, &[null]);
            args.list.extend([nothing, tangent]);
        }
    }
    let lanes = seed.iter().flat_map(|ty| vec![*ty; width]).collect::<Vec<_>>();
    for ty in &lanes {
        args.note("enzyme_out");
        let zero = args.e.b().zero(*ty);
        args.list.push(zero);
    }
    if !adjoints.is_empty() {
        let ty = whole(args.e.module, &adjoints);
        let tangents = match scalars.as_slice() {
            [one] => Some(*one),
            all => args.e.tuple(ty, all),
        };
        args.note("enzyme_dup");
        let (unused, given) = (args.e.slot(ty, None), args.e.slot(ty, None));
        if let Some(v) = tangents {
            args.e.b().store(v, given, 0, MemClass::Unknown);
        }
        args.list.extend([unused, given]);
    }
    let Some(tape) = marker.tape.and_then(|n| args.e.func.params.get(n).copied()) else {
        let why = format!("'{}' has no tape: the result of the call of __enzyme_augmentfwd comes last", call.callee);
        return Err(Report::new(codes::E0101, why));
    };
    args.note("enzyme_const");
    args.list.push(tape);
    let list = args.list;
    let ret = whole(e.module, &lanes);
    let value = e.call(&format!("__enzyme_autodiff.sweep{number}"), ret, &list);
    let values = match lanes.len() {
        0 => Vec::new(),
        1 => vec![value],
        n => (0..n as u32).map(|lane| e.b().extract_value(value, &[lane])).collect(),
    };
    let value = match e.module.ctx.types[call.ret] {
        Type::Void if call.sret().is_none() => None,
        _ => wrapper::give_back(&mut e, call, values, "the derivative is the tangent of the function's result")?,
    };
    e.b().ret(value);
    let func = e.finish(start);
    Ok(module.funcs.push(func))
}
