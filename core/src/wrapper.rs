//! The function that takes a marker call's place: its exact signature outside, the derivative inside.
//!
//! Arguments are converted as C's default promotions require back (a `float` parameter is passed as `double`). Adjoints
//! of several `enzyme_out` arguments are returned as the structure of their types in order, through memory if the
//! platform's convention says so: they are laid out in a buffer and read back with the type that the marker returns. The
//! primal result, where it is asked for, comes first.

use enzyme_diff::emit::Emit;
use enzyme_diff::{Derivative, Mode, ParamActivity, ShadowGlobals};
use enzyme_ir::{CastOp, Const, Func, FuncId, IntPred, Linkage, MemClass, Module, Type, TypeId, ValueId};
use enzyme_llvm::MarkerCall;

use crate::codes;
use crate::marker::{Allocated, LaneArg, Marker, TAPE_BYTES};
use crate::report::{Report, several_parts};

/// What a marker call is about.
pub struct Made<'a> {
    /// The derivative.
    pub derivative: Derivative,
    /// Shadows of global variables.
    pub globals: &'a ShadowGlobals,
    /// The bytes of a tape that lies where the wrapper says.
    pub tape: Option<u64>,
}

/// Writes the wrapper for `call` into `module`.
pub fn build(
    module: &mut Module,
    call: &MarkerCall,
    marker: &Marker,
    made: &Made<'_>,
    number: usize,
) -> Result<FuncId, Report> {
    let derivative = &made.derivative;
    let params: Vec<TypeId> = call.args.iter().map(|a| a.ty).collect();
    let sig = module.ctx.types.func(call.ret, params.clone());
    let base = module.funcs[derivative.func].name.clone();
    let mut func = Func::new(format!("{base}.call{number}"), sig, &params);
    func.linkage = Linkage::Internal;
    for (n, a) in call.args.iter().enumerate() {
        func.param_attrs[n] = a.attrs;
    }
    let mut e = Emit::new(module, func);
    let start = e.new_block("start");
    e.block = start;
    if marker.mode != Mode::Gradient {
        clear_globals(&mut e, made.globals);
    }
    let signature = &derivative.signature;
    let (ret, param_types, _) = e.module.signature(marker.func);
    let mut args: Vec<Option<ValueId>> = vec![None; signature.params.len()];
    for (n, p) in marker.params.iter().enumerate() {
        let ty = param_types[n];
        let primal = lane_of(&mut e, &p.primal, ty);
        args[signature.primal[n]] = Some(primal);
        if let Some(at) = signature.shadow[n] {
            for lane in 0..marker.settings.width as usize {
                args[at + lane] = Some(match p.shadows.get(lane) {
                    Some(given) => lane_of(&mut e, given, ty),
                    // Constant memory in a mixed class: a shadow pointer equal to the pointer says so.
                    None if e.module.ctx.types.contains_pointer(ty) => primal,
                    None => e.b().zero(ty),
                });
            }
        }
    }
    if let (Some(at), Some(given)) = (signature.seed, marker.seed) {
        for lane in 0..marker.settings.width as usize {
            let given = e.func.params[given + lane];
            let seed = convert(&mut e, given, ret);
            if e.ty(seed) != ret {
                return Err(Report::new(codes::E0105, "the adjoint of the result has another type than the result"));
            }
            args[at + lane] = Some(seed);
        }
    } else if let Some(at) = signature.seed {
        let one = match e.module.ctx.types[ret] {
            Type::Float(_) => e.b().float(ret, 1.0),
            _ => {
                let name = &e.module.funcs[marker.func].name;
                return Err(several_parts(name, "a structure or vector"));
            }
        };
        for lane in 0..marker.settings.width as usize {
            args[at + lane] = Some(one);
        }
    }
    let record = record_before(&mut e, call, marker, made, &mut args);
    let arena = derivative.signature.deferred.and_then(|at| args[at]);
    let args: Vec<ValueId> = args.into_iter().flatten().collect();
    let out = e.call_func(derivative.func, &args);
    if let (Some(record), Some(arena)) = (record, arena) {
        let ptr = e.module.ctx.types.ptr();
        let (all, list) = (e.b().load(ptr, arena, 0, MemClass::Tape), record_field(&mut e, record, 1));
        e.b().store(all, list, 0, MemClass::Tape);
    }
    let value = match marker.mode {
        Mode::Forward => tangent(&mut e, call, marker, derivative, out)?,
        Mode::Augmented => augmented(&mut e, call, marker, derivative, out, record)?,
        Mode::Gradient => {
            release_record(&mut e, marker, record, made.tape);
            adjoints(&mut e, call, marker, derivative, out)?
        }
        Mode::Combined => adjoints(&mut e, call, marker, derivative, out)?,
    };
    e.b().ret(value);
    let func = e.finish(start);
    Ok(module.funcs.push(func))
}

/// A field of the record that the two calls of a split derivative share.
fn record_field(e: &mut Emit<'_>, record: ValueId, n: u64) -> ValueId {
    let offset = e.b().i64(8 * n);
    e.b().byte_offset(record, offset)
}

/// A number that tells derivatives apart whose tapes are not alike: FNV-1a of what decides them.
pub fn layout_of(module: &Module, call: &MarkerCall, marker: &Marker) -> u64 {
    let activities: Vec<ParamActivity> = marker.params.iter().map(|p| p.activity).collect();
    let (name, s) = (&module.funcs[marker.func].name, &marker.settings);
    let limit = crate::marker::max_tape(call).ok().flatten();
    let text =
        format!("{name} {activities:?} {} {} {} {} {limit:?}", s.constant_result, s.strong_zero, s.width, s.tested);
    let text = if s.kept_tapes { text + " kept" } else { text };
    let text = if s.atomic { text + " atomic" } else { text };
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

/// The record of a split derivative: made by the first call, read by the second, which passes on what it holds.
fn record_before(
    e: &mut Emit<'_>,
    call: &MarkerCall,
    marker: &Marker,
    made: &Made<'_>,
    args: &mut [Option<ValueId>],
) -> Option<ValueId> {
    let (signature, tape) = (&made.derivative.signature, made.tape.unwrap_or(0));
    let given = marker.tape.map(|n| e.func.params[n]);
    let layout = layout_of(e.module, call, marker);
    let layout = e.b().i64(layout);
    let ptr = e.module.ctx.types.ptr();
    match marker.mode {
        Mode::Augmented => {
            let record = match given {
                Some(memory) => memory,
                None => {
                    let alloc = enzyme_diff::runtime::alloc(e.module);
                    let bytes = e.b().i64(TAPE_BYTES + tape);
                    e.call_func(alloc, &[bytes])
                }
            };
            let number = record_field(e, record, 2);
            e.b().store(layout, number, 0, MemClass::Tape);
            if let Some(at) = signature.deferred {
                args[at] = Some(enzyme_diff::arena::make(e));
            }
            if let Some(at) = signature.place {
                args[at] = Some(place(e, call, marker, record, tape));
            }
            Some(record)
        }
        Mode::Gradient => {
            let record = given?;
            let i64 = e.module.ctx.types.int(64);
            let number = record_field(e, record, 2);
            let number = e.b().load(i64, number, 0, MemClass::Tape);
            let other = e.b().icmp(IntPred::Ne, number, layout);
            let (bad, good) = (e.new_block("other"), e.new_block("same"));
            e.b().cond_br(other, bad, good);
            e.block = bad;
            let why = "the tape was not written by __enzyme_augmentfwd of this function with these annotations";
            enzyme_diff::runtime::stop(e, &call.callee, why);
            e.block = good;
            if let Some(at) = signature.tape {
                args[at] = Some(e.b().load(ptr, record, 0, MemClass::Tape));
            }
            Some(record)
        }
        Mode::Forward | Mode::Combined => None,
    }
}

/// Where the tape goes: behind the record if there is room, else into memory of its own.
fn place(e: &mut Emit<'_>, call: &MarkerCall, marker: &Marker, record: ValueId, tape: u64) -> ValueId {
    let behind = record_field(e, record, TAPE_BYTES / 8);
    let needed = TAPE_BYTES + tape;
    let granted = match (marker.tape, marker.settings.allocated) {
        (None, _) => return behind,
        (Some(_), Some(Allocated::Bytes(n))) if n >= needed => return behind,
        (Some(_), Some(Allocated::Argument(n))) => {
            let n = e.func.params[n];
            Some(e.to_i64(n))
        }
        (Some(_), Some(Allocated::Bytes(_)) | None) => None,
    };
    let alloc = enzyme_diff::runtime::alloc(e.module);
    let bytes = e.b().i64(tape);
    let Some(granted) = granted else { return e.call_func(alloc, &[bytes]) };
    let (none, record_alone) = (e.new_block("none"), e.new_block("record"));
    let (more, ready) = (e.new_block("more"), e.new_block("ready"));
    let least = e.b().i64(TAPE_BYTES);
    let too_few = e.b().icmp(IntPred::Ult, granted, least);
    e.b().cond_br(too_few, none, record_alone);
    e.block = none;
    enzyme_diff::runtime::stop(e, &call.callee, "enzyme_allocated grants fewer bytes than __enzyme_augmentsize says");
    e.block = record_alone;
    let ptr = e.module.ctx.types.ptr();
    let slot = e.slot(ptr, None);
    e.b().store(behind, slot, 0, MemClass::Unknown);
    let all = e.b().i64(needed);
    let enough = e.b().icmp(IntPred::Uge, granted, all);
    e.b().cond_br(enough, ready, more);
    e.block = more;
    let own = e.call_func(alloc, &[bytes]);
    e.b().store(own, slot, 0, MemClass::Unknown);
    e.b().br(ready);
    e.block = ready;
    e.b().load(ptr, slot, 0, MemClass::Unknown)
}

/// Frees what was put off, the tape if it does not lie behind the record, and the record if it is ours.
fn release_record(e: &mut Emit<'_>, marker: &Marker, record: Option<ValueId>, tape: Option<u64>) {
    let Some(record) = record.filter(|_| !marker.settings.keeps_tape) else { return };
    let (ptr, void) = (e.module.ctx.types.ptr(), e.module.ctx.types.void());
    let list = record_field(e, record, 1);
    let list = e.b().load(ptr, list, 0, MemClass::Tape);
    let release = enzyme_diff::arena::release(e.module);
    e.call_func(release, &[list]);
    if tape.is_some_and(|bytes| bytes > 0) {
        let at = e.b().load(ptr, record, 0, MemClass::Tape);
        let behind = record_field(e, record, TAPE_BYTES / 8);
        let apart = e.b().icmp(IntPred::Ne, at, behind);
        let null = e.b().zero(ptr);
        let own = e.choose(apart, at, null);
        e.call("free", void, &[own]);
    }
    if marker.settings.tape.is_none() {
        e.call("free", void, &[record]);
    }
}

fn augmented(
    e: &mut Emit<'_>,
    call: &MarkerCall,
    marker: &Marker,
    derivative: &Derivative,
    out: ValueId,
    record: Option<ValueId>,
) -> Result<Option<ValueId>, Report> {
    let Some(record) = record else { return Ok(None) };
    if let Some(field) = derivative.signature.tape_field {
        let tape = e.b().extract_value(out, &[field]);
        e.b().store(tape, record, 0, MemClass::Tape);
    }
    let mut values = Vec::new();
    if marker.tape.is_none() {
        if matches!(e.module.ctx.types[call.ret], Type::Void) && call.sret().is_none() {
            return Err(misfit(call, "it returns the tape, unless enzyme_tape says where that goes"));
        }
        values.push(record);
        if e.ty(record) == call.ret {
            return Ok(Some(record));
        }
    }
    values.extend(primal_result(e, marker, derivative, out));
    if let Some(field) = derivative.signature.shadow_field {
        values.extend((0..marker.settings.width).map(|lane| e.b().extract_value(out, &[field + lane])));
    }
    give_back(e, call, values, "the first call of a split derivative returns the tape, the result, and its shadow")
}

/// Shadows that we made of global variables start from zero at each call.
fn clear_globals(e: &mut Emit<'_>, globals: &ShadowGlobals) {
    for shadow in globals.values() {
        let ty = e.module.globals[*shadow].ty;
        let ctx = &e.module.ctx;
        let size = ctx.layout.size_of(&ctx.types, ty).unwrap_or(0);
        let ptr = e.module.ctx.types.ptr();
        let c = e.module.ctx.consts.intern(Const::Global(*shadow));
        let address = e.func.constant(c, ptr);
        let bytes = e.b().i64(size);
        e.fill_zero(address, bytes);
    }
}

/// The shadow or tangent of a lane, as the type of the parameter.
pub fn lane_of(e: &mut Emit<'_>, given: &LaneArg, ty: TypeId) -> ValueId {
    let v = e.func.params[given.arg];
    let v = match given.stride {
        Some((stride, lane)) => {
            let (stride, lane) = (e.func.params[stride], e.b().i64(u64::from(lane)));
            let stride = e.to_i64(stride);
            let bytes = e.b().binary(enzyme_ir::BinOp::Mul, stride, lane);
            e.b().byte_offset(v, bytes)
        }
        None => v,
    };
    if let Some(offset) = given.behind {
        let offset = e.b().i64(offset);
        let at = e.b().byte_offset(v, offset);
        return e.b().load(ty, at, 1, MemClass::Unknown);
    }
    convert(e, v, ty)
}

/// `v` as the type of the parameter: floats and integers change width.
fn convert(e: &mut Emit<'_>, v: ValueId, ty: TypeId) -> ValueId {
    let from = e.ty(v);
    if from == ty {
        return v;
    }
    let widths = (e.module.ctx.types[from].clone(), e.module.ctx.types[ty].clone());
    match widths {
        (Type::Float(a), Type::Float(b)) => {
            let op = if a.bits() < b.bits() { CastOp::FPExt } else { CastOp::FPTrunc };
            e.b().cast(op, v, ty)
        }
        (Type::Int(a), Type::Int(b)) => {
            let op = if a < b { CastOp::SExt } else { CastOp::Trunc };
            e.b().cast(op, v, ty)
        }
        (Type::Ptr(_), Type::Ptr(_)) => e.b().cast(CastOp::AddrSpaceCast, v, ty),
        _ => v,
    }
}

fn misfit(call: &MarkerCall, what: &str) -> Report {
    Report::new(codes::E0106, format!("'{}' is declared with a result that does not fit: {what}", call.callee))
}

fn tangent(
    e: &mut Emit<'_>,
    call: &MarkerCall,
    marker: &Marker,
    derivative: &Derivative,
    out: ValueId,
) -> Result<Option<ValueId>, Report> {
    let mut values = primal_result(e, marker, derivative, out);
    let (ret, _, _) = e.module.signature(marker.func);
    match derivative.signature.shadow_field {
        Some(field) => values.extend((0..marker.settings.width).map(|lane| e.b().extract_value(out, &[field + lane]))),
        // A tangent that is zero has its place beside the primal result.
        None if !values.is_empty() && !marker.settings.constant_result => {
            values.extend((0..marker.settings.width).map(|_| e.b().zero(ret)));
        }
        None => {}
    }
    give_back(e, call, values, "the derivative is the tangent of the function's result")
}

/// The primal result, if it is asked for.
fn primal_result(e: &mut Emit<'_>, marker: &Marker, derivative: &Derivative, out: ValueId) -> Vec<ValueId> {
    let field = derivative.signature.result_field.filter(|_| marker.settings.primal);
    field.map(|n| e.b().extract_value(out, &[n])).into_iter().collect()
}

fn adjoints(
    e: &mut Emit<'_>,
    call: &MarkerCall,
    marker: &Marker,
    derivative: &Derivative,
    out: ValueId,
) -> Result<Option<ValueId>, Report> {
    let (_, param_types, _) = e.module.signature(marker.func);
    let mut values = primal_result(e, marker, derivative, out);
    for (n, p) in marker.params.iter().enumerate() {
        if p.activity != ParamActivity::Active {
            continue;
        }
        for lane in 0..marker.settings.width {
            values.push(match derivative.signature.adjoints[n] {
                Some(field) => e.b().extract_value(out, &[field + lane]),
                None => e.b().zero(param_types[n]),
            });
        }
    }
    give_back(e, call, values, "the derivative has one field for each enzyme_out argument")
}

/// Returns `values` in the form that the marker is declared with.
pub fn give_back(
    e: &mut Emit<'_>,
    call: &MarkerCall,
    values: Vec<ValueId>,
    what: &str,
) -> Result<Option<ValueId>, Report> {
    let void = matches!(e.module.ctx.types[call.ret], Type::Void);
    if let Some(ty) = call.sret() {
        let to = e.func.params[0];
        store_in_order(e, to, ty, &values).ok_or_else(|| misfit(call, what))?;
        return Ok(None);
    }
    if void {
        return Ok(None);
    }
    if let Some(fields) = fields_of(e, call.ret)
        && !values.is_empty()
        && fields.iter().zip(&values).all(|(t, v)| *t == e.ty(*v))
        && fields.len() >= values.len()
    {
        let mut whole = e.b().zero(call.ret);
        for (n, v) in values.iter().enumerate() {
            whole = e.b().insert_value(whole, *v, &[n as u32]);
        }
        return Ok(Some(whole));
    }
    match values.as_slice() {
        [] => Ok(Some(e.b().zero(call.ret))),
        [one] => {
            let from = e.ty(*one);
            let same_kind = match (&e.module.ctx.types[from], &e.module.ctx.types[call.ret]) {
                (Type::Float(_), Type::Float(_)) => true,
                _ => from == call.ret,
            };
            if same_kind {
                return Ok(Some(convert(e, *one, call.ret)));
            }
            through_memory(e, call, &values).ok_or_else(|| misfit(call, what)).map(Some)
        }
        _ => through_memory(e, call, &values).ok_or_else(|| misfit(call, what)).map(Some),
    }
}

fn fields_of(e: &Emit<'_>, ty: TypeId) -> Option<Vec<TypeId>> {
    match &e.module.ctx.types[ty] {
        Type::Struct(s) => s.fields.clone(),
        _ => None,
    }
}

fn tuple_of(e: &mut Emit<'_>, values: &[ValueId]) -> TypeId {
    let fields = values.iter().map(|v| e.ty(*v)).collect();
    e.module.ctx.types.tuple(fields)
}

fn store_in_order(e: &mut Emit<'_>, to: ValueId, ty: TypeId, values: &[ValueId]) -> Option<()> {
    let tuple = tuple_of(e, values);
    let ctx = &e.module.ctx;
    if ctx.layout.size_of(&ctx.types, tuple)? > ctx.layout.size_of(&ctx.types, ty)? {
        return None;
    }
    for (n, v) in values.iter().enumerate() {
        let (offset, _) = e.module.ctx.layout.element(&e.module.ctx.types, tuple, n as u64)?;
        let offset = e.b().i64(offset);
        let at = e.b().byte_offset(to, offset);
        e.b().store(*v, at, 1, MemClass::Unknown);
    }
    Some(())
}

fn through_memory(e: &mut Emit<'_>, call: &MarkerCall, values: &[ValueId]) -> Option<ValueId> {
    if e.module.ctx.types.contains_pointer(call.ret) {
        return None;
    }
    let buffer = e.slot(call.ret, None);
    store_in_order(e, buffer, call.ret, values)?;
    Some(e.b().load(call.ret, buffer, 0, MemClass::Unknown))
}
