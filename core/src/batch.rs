//! `__enzyme_batch`: a function called for several lanes of arguments at once. Nothing is differentiated; the calls are inlined and
//! put side by side, so that LLVM may compute them with vectors.
//!
//! | annotation | what follows it |
//! | --- | --- |
//! | `enzyme_vector` | one argument for each lane |
//! | `enzyme_scalar` | one argument for all lanes |
//! | `enzyme_buffer` | a number of bytes and an address, that of the first lane; those of the others follow at this distance |
//!
//! The results of all lanes are returned in order.

use enzyme_diff::emit::Emit;
use enzyme_ir::{Func, FuncId, Linkage, Module, Type, TypeId};
use enzyme_llvm::MarkerCall;

use crate::codes;
use crate::marker::{self, LaneArg};
use crate::report::Report;
use crate::wrapper;

/// Part of the names of the marker.
pub const BATCH: &str = "__enzyme_batch";

/// Where each lane finds its argument, for each parameter of `func`.
fn arguments(module: &Module, call: &MarkerCall, func: FuncId, width: u32) -> Result<Vec<Vec<LaneArg>>, Report> {
    let name = &module.funcs[func].name;
    let (_, params, variadic) = module.signature(func);
    if variadic {
        return Err(Report::new(codes::E0203, format!("'{name}' takes a variable number of arguments")));
    }
    let mut at = usize::from(call.sret().is_some()) + 1;
    let mut out = Vec::new();
    let width_at = |at: usize| marker::annotation_at(call, at) == Some("enzyme_width");
    for (n, ty) in params.iter().enumerate() {
        while width_at(at) {
            at += 2;
        }
        let note = marker::annotation_at(call, at);
        let lane = |arg: usize, stride: Option<(usize, u32)>| LaneArg { arg, stride, behind: None };
        let lanes: Vec<LaneArg> = match note {
            Some("enzyme_vector") => (0..width).map(|k| lane(at + 1 + k as usize, None)).collect(),
            Some("enzyme_scalar") => (0..width).map(|_| lane(at + 1, None)).collect(),
            Some("enzyme_buffer") if matches!(module.ctx.types[*ty], Type::Ptr(_)) => {
                (0..width).map(|k| lane(at + 2, Some((at + 1, k)))).collect()
            }
            Some("enzyme_buffer") => {
                let why = format!("'enzyme_buffer' stands before parameter {} of '{name}', which is no pointer", n + 1);
                return Err(Report::new(codes::E0109, why));
            }
            Some(other) => return Err(Report::new(codes::E0102, format!("'{other}' says nothing of a batch"))),
            None => {
                let why = format!(
                    "parameter {} of '{name}' is neither enzyme_vector, enzyme_scalar nor enzyme_buffer",
                    n + 1
                );
                return Err(Report::new(codes::E0105, why));
            }
        };
        for l in &lanes {
            marker::check(module, call, l.arg, *ty, n, name)?;
        }
        at = lanes.iter().map(|l| l.arg + 1).max().unwrap_or(at + 1);
        out.push(lanes);
    }
    while width_at(at) {
        at += 2;
    }
    if at < call.args.len() {
        let why = format!("'{}' has {} arguments more than '{name}' takes", call.callee, call.args.len() - at);
        return Err(Report::new(codes::E0107, why));
    }
    Ok(out)
}

/// The function that takes the place of a call of the marker.
pub fn build(module: &mut Module, call: &MarkerCall, number: usize) -> Result<FuncId, Report> {
    let func = marker::function_of(call)?;
    let Some(width) = marker::width_of(call)? else {
        return Err(Report::new(codes::E0101, format!("'{}' has no enzyme_width", call.callee)));
    };
    let lanes = arguments(module, call, func, width)?;
    let params: Vec<TypeId> = call.args.iter().map(|a| a.ty).collect();
    let sig = module.ctx.types.func(call.ret, params.clone());
    let name = format!("enzyme.batch.{}.call{number}", module.funcs[func].name);
    let mut made = Func::new(name, sig, &params);
    made.linkage = Linkage::Internal;
    for (n, a) in call.args.iter().enumerate() {
        made.param_attrs[n] = a.attrs;
    }
    let (ret, types, _) = module.signature(func);
    let mut e = Emit::new(module, made);
    let start = e.new_block("start");
    e.block = start;
    let mut values = Vec::new();
    for k in 0..width as usize {
        let args: Vec<_> = lanes.iter().zip(&types).map(|(l, ty)| wrapper::lane_of(&mut e, &l[k], *ty)).collect();
        let value = e.call_func(func, &args);
        if e.module.ctx.types[ret] != Type::Void {
            values.push(value);
        }
    }
    let value = wrapper::give_back(&mut e, call, values, "the results of all lanes follow each other")?;
    e.b().ret(value);
    let made = e.finish(start);
    Ok(module.funcs.push(made))
}
