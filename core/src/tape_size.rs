//! `__enzyme_augmentsize`: how many bytes the tape of a split derivative takes where the caller gives the memory for it.
//!
//! The call holds a function and annotations alone, one for each parameter. It is read as if arguments stood behind these, so that
//! the derivative whose tape is measured is the one that the calls of the sweeps get.
//!
//! Not handled: annotations that describe several parameters at once (`enzyme_byref`, `enzyme_interleave`). The size is then that of
//! the record, and the tape is memory of its own.

use enzyme_diff::emit::Emit;
use enzyme_diff::{Mode, ParamActivity};
use enzyme_ir::{Func, FuncId, Linkage, Module, ParamAttrs, Type, TypeId};
use enzyme_llvm::{MarkerArg, MarkerCall, MarkerValue};

use crate::marker::{self, TAPE_BYTES};
use crate::report::Report;

/// The call of the augmented sweep that `call` asks about.
pub fn asked(module: &Module, call: &MarkerCall) -> Result<MarkerCall, Report> {
    let func = marker::function_of(call)?;
    let first = usize::from(call.sret().is_some());
    let mut given = call.args.iter().skip(first + 1).peekable();
    let mut args: Vec<MarkerArg> = call.args.get(first).cloned().into_iter().collect();
    let lanes = marker::width_of(call).ok().flatten().unwrap_or(1) as usize;
    let something = |ty: TypeId| MarkerArg {
        ty,
        value: MarkerValue::Other,
        attrs: ParamAttrs::default(),
        integers: false,
        descriptor: false,
    };
    for ty in module.signature(func).1 {
        // What is about the whole call, with what it holds, comes before what is about the parameter.
        let mut stated = None;
        while let (None, Some(arg)) = (stated, given.peek()) {
            stated = marker::activity_of(module, arg, ty);
            args.extend(given.next().cloned());
        }
        let activity = stated.unwrap_or_else(|| marker::default_activity(module, ty, Mode::Augmented));
        args.push(something(ty));
        args.extend(vec![something(ty); if activity == ParamActivity::Dup { lanes } else { 0 }]);
    }
    args.extend(given.cloned());
    Ok(MarkerCall { callee: "__enzyme_augmentfwd".to_owned(), args, ..call.clone() })
}

/// The function that takes the place of the call: the size of the record and of a tape behind it.
pub fn wrapper(module: &mut Module, call: &MarkerCall, tape: u64, number: usize) -> FuncId {
    let params: Vec<TypeId> = call.args.iter().map(|a| a.ty).collect();
    let sig = module.ctx.types.func(call.ret, params.clone());
    let mut func = Func::new(format!("enzyme.size.call{number}"), sig, &params);
    func.linkage = Linkage::Internal;
    let mut e = Emit::new(module, func);
    let start = e.new_block("start");
    e.block = start;
    let value = match e.module.ctx.types[call.ret] {
        Type::Int(_) => Some(e.b().int(call.ret, TAPE_BYTES + tape)),
        Type::Void => None,
        _ => Some(e.b().zero(call.ret)),
    };
    e.b().ret(value);
    let func = e.finish(start);
    module.funcs.push(func)
}
