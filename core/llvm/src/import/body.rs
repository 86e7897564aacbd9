//! The body of one function into the mirror.
//!
//! Two walks: the first gives every instruction its id and result, so that the second can resolve operands defined later.
//! Debug records, assumptions and alias scope declarations are left out.

use std::collections::HashMap;

use cranelift_entity::SecondaryMap;
use enzyme_ir::{
    Access, Args, BlockId, CallInfo, Clause, Facts, FastMath, FloatPred, Func, FuncId, GepFlags, Inst, InstId,
    IntFlags, IntPred, MemClass, Op, Ordering, Origin, RmwOp, TailKind, Type, ValueId,
};

use super::constants::{BINARY, CASTS, const_info, import_const, is_not_constant};
use super::{facts, import_loc, import_pending, import_type, list};
use crate::ffi::{self, BlockRef, InstInfo, ValueRef};
use crate::problem::Problem;
use crate::session::Session;

pub(crate) const INT_PREDS: [IntPred; 10] = [
    IntPred::Eq,
    IntPred::Ne,
    IntPred::Ugt,
    IntPred::Uge,
    IntPred::Ult,
    IntPred::Ule,
    IntPred::Sgt,
    IntPred::Sge,
    IntPred::Slt,
    IntPred::Sle,
];

pub(crate) const FLOAT_PREDS: [FloatPred; 16] = [
    FloatPred::False,
    FloatPred::Oeq,
    FloatPred::Ogt,
    FloatPred::Oge,
    FloatPred::Olt,
    FloatPred::Ole,
    FloatPred::One,
    FloatPred::Ord,
    FloatPred::Uno,
    FloatPred::Ueq,
    FloatPred::Ugt,
    FloatPred::Uge,
    FloatPred::Ult,
    FloatPred::Ule,
    FloatPred::Une,
    FloatPred::True,
];

pub(crate) const RMW_OPS: [RmwOp; 21] = [
    RmwOp::Xchg,
    RmwOp::Add,
    RmwOp::Sub,
    RmwOp::And,
    RmwOp::Nand,
    RmwOp::Or,
    RmwOp::Xor,
    RmwOp::Max,
    RmwOp::Min,
    RmwOp::UMax,
    RmwOp::UMin,
    RmwOp::FAdd,
    RmwOp::FSub,
    RmwOp::FMax,
    RmwOp::FMin,
    RmwOp::FMaximum,
    RmwOp::FMinimum,
    RmwOp::UIncWrap,
    RmwOp::UDecWrap,
    RmwOp::USubCond,
    RmwOp::USubSat,
];

pub(crate) const ORDERINGS: [Ordering; 7] = [
    Ordering::NotAtomic,
    Ordering::Unordered,
    Ordering::Monotonic,
    Ordering::Acquire,
    Ordering::Release,
    Ordering::AcquireRelease,
    Ordering::SequentiallyConsistent,
];

pub(crate) const TAILS: [TailKind; 4] = [TailKind::None, TailKind::Tail, TailKind::MustTail, TailKind::NoTail];

/// Handles of one function to ids of its mirror.
pub(super) struct BodyMap {
    pub(super) values: HashMap<ValueRef, ValueId>,
    pub(super) insts: HashMap<ValueRef, InstId>,
    pub(super) blocks: HashMap<BlockRef, BlockId>,
}

/// Gives `f` the body of `value`, and fills `facts` if asked to; the function is then a prepared clone, into which trip
/// counts are written first.
pub(crate) fn import_body(
    session: &mut Session,
    f: FuncId,
    value: ValueRef,
    facts: Option<&mut Facts>,
) -> Result<(), Vec<Problem>> {
    session.imported.consts.clear();
    let asked = match &facts {
        Some(_) => facts::ask(session.host, value, session.external_writes),
        None => facts::Asked::default(),
    };
    let (mut func, mut map, problems) = read(session, f, value);
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut origins = SecondaryMap::new();
    for (handle, inst) in &map.insts {
        origins[*inst] = Some(*handle);
    }
    session.imported.insts.insert(f, origins);
    if let Some(out) = facts {
        facts::translate(session, &mut func, &mut map, &asked, out);
    }
    session.ir.funcs[f] = func;
    import_pending(session);
    session.imported.consts.clear();
    Ok(())
}

fn read(session: &mut Session, f: FuncId, value: ValueRef) -> (Func, BodyMap, Vec<Problem>) {
    let declared = &session.ir.funcs[f];
    let param_types: Vec<_> = declared.params.iter().map(|p| declared.ty(*p)).collect();
    let mut func = Func::new(declared.name.clone(), declared.sig, &param_types);
    func.linkage = declared.linkage;
    func.attrs = declared.attrs;
    func.param_attrs = declared.param_attrs.clone();
    func.conv = declared.conv;
    func.loc = declared.loc;
    if let Some(routine) = super::func_info(session.host, value).personality {
        func.personality = Some(import_const(session, routine));
    }
    let mut map = BodyMap { values: HashMap::new(), insts: HashMap::new(), blocks: HashMap::new() };
    for (i, param) in func.params.iter().enumerate() {
        // SAFETY: the function belongs to the module; the bridge checks the index.
        if let Some(handle) = unsafe { ffi::enz_func_param(value, i as u32) } {
            map.values.insert(handle, *param);
            note_name(&mut func.value_names, *param, handle);
        }
    }
    let mut placed: Vec<(ValueRef, InstId, InstInfo)> = Vec::new();
    let blocks = list(|out, cap| {
        // SAFETY: the function belongs to the module and `out` has room for `cap` handles.
        unsafe { ffi::enz_func_blocks(value, out, cap) }
    });
    for block in &blocks {
        // SAFETY: the block belongs to the function.
        let name = unsafe { ffi::enz_block_name(*block) }.to_text();
        let id = func.add_block((!name.is_empty()).then_some(name));
        map.blocks.insert(*block, id);
    }
    for block in &blocks {
        let id = map.blocks[block];
        for handle in list(|out, cap| {
            // SAFETY: the block belongs to the function and `out` has room for `cap` handles.
            unsafe { ffi::enz_block_insts(*block, out, cap) }
        }) {
            let mut info = InstInfo::default();
            // SAFETY: the instruction belongs to the block; `info` is valid to write to.
            unsafe { ffi::enz_inst_info(handle, &raw mut info) };
            if info.op == 37 {
                continue;
            }
            let inst = place(session, &mut func, id, &info);
            if let Some(result) = func.insts[inst].result {
                map.values.insert(handle, result);
                if info.name.len > 0 {
                    func.value_names.insert(result, info.name.to_text());
                }
            }
            map.insts.insert(handle, inst);
            placed.push((handle, inst, info));
        }
    }
    let mut problems = Vec::new();
    for (handle, inst, info) in placed {
        let args = operands(session, &mut func, &mut map, handle, &info);
        match args.and_then(|args| Ok((operation(session, &map, handle, &info)?, args))) {
            Ok((op, args)) => {
                let slot = &mut func.insts[inst];
                slot.op = op;
                slot.args = args;
                slot.origin = Some(Origin { func: f, inst });
            }
            Err(message) => {
                problems.push(Problem { message, function: func.name.clone(), loc: func.insts[inst].loc });
            }
        }
    }
    (func, map, problems)
}

fn note_name(names: &mut HashMap<ValueId, String>, value: ValueId, handle: ValueRef) {
    // SAFETY: the value belongs to the module.
    let name = unsafe { ffi::enz_value_name(handle) }.to_text();
    if !name.is_empty() {
        names.insert(value, name);
    }
}

/// Places an instruction whose operation and operands follow in the second walk.
fn place(session: &mut Session, func: &mut Func, block: BlockId, info: &InstInfo) -> InstId {
    let ty = match info.ty {
        Some(ty) => import_type(session, ty),
        None => session.ir.ctx.types.void(),
    };
    let inst = Inst {
        op: Op::Unreachable,
        args: Args::new(),
        ty,
        result: None,
        fast: FastMath::from_bits_truncate(info.fast),
        ints: IntFlags::from_bits_truncate(info.ints),
        loc: info.loc.map(|l| import_loc(session, l)),
        origin: None,
        scoped: None,
        mem: MemClass::Unknown,
    };
    let is_void = matches!(session.ir.ctx.types[ty], Type::Void);
    let id = func.make_inst(inst, is_void);
    func.blocks[block].insts.push(id);
    id
}

/// The id of an operand: a value of this body, or a constant.
pub(super) fn operand(
    session: &mut Session,
    func: &mut Func,
    map: &mut BodyMap,
    handle: ValueRef,
) -> Result<ValueId, String> {
    if let Some(v) = map.values.get(&handle) {
        return Ok(*v);
    }
    if is_not_constant(&const_info(handle)) {
        return Err("an operand is neither a constant nor defined in the function".to_owned());
    }
    let c = import_const(session, handle);
    // SAFETY: the constant belongs to the module.
    let ty = import_type(session, unsafe { ffi::enz_value_type(handle) });
    let v = func.constant(c, ty);
    map.values.insert(handle, v);
    Ok(v)
}

fn operands(
    session: &mut Session,
    func: &mut Func,
    map: &mut BodyMap,
    inst: ValueRef,
    info: &InstInfo,
) -> Result<Args, String> {
    let n = info.num_operands as usize;
    let mut handles: Vec<ValueRef> = Vec::with_capacity(n);
    // SAFETY: the bridge writes as many operands as it announced, for which there is room.
    unsafe { ffi::enz_inst_operands(inst, handles.as_mut_ptr()) };
    // SAFETY: they were written just now.
    unsafe { handles.set_len(n) };
    handles.into_iter().map(|h| operand(session, func, map, h)).collect()
}

fn targets(map: &BodyMap, inst: ValueRef, info: &InstInfo) -> Result<Vec<BlockId>, String> {
    let n = info.num_targets as usize;
    if n == 0 {
        return Ok(Vec::new());
    }
    let mut handles: Vec<BlockRef> = Vec::with_capacity(n);
    // SAFETY: the bridge writes as many targets as it announced, for which there is room.
    unsafe { ffi::enz_inst_targets(inst, handles.as_mut_ptr()) };
    // SAFETY: they were written just now.
    unsafe { handles.set_len(n) };
    let find = |b: &BlockRef| map.blocks.get(b).copied().ok_or_else(|| "a branch leaves the function".to_owned());
    handles.iter().map(find).collect()
}

fn indices(inst: ValueRef, info: &InstInfo) -> Vec<i32> {
    let mut out = vec![0; info.num_indices as usize];
    // SAFETY: the bridge writes as many indices as it announced.
    unsafe { ffi::enz_inst_indices(inst, out.as_mut_ptr()) };
    out
}

fn pick<T: Copy>(table: &[T], index: u32) -> Result<T, String> {
    table.get(index as usize).copied().ok_or_else(|| "an operation of a newer LLVM".to_owned())
}

fn operation(session: &mut Session, map: &BodyMap, inst: ValueRef, info: &InstInfo) -> Result<Op, String> {
    let access = Access {
        align: info.align,
        volatile: info.volatile != 0,
        ordering: pick(&ORDERINGS, u32::from(info.ordering))?,
    };
    let blocks = targets(map, inst, info)?;
    let target = |i: usize| blocks.get(i).copied().ok_or_else(|| "a terminator lacks a target".to_owned());
    let elem = match info.elem {
        Some(ty) => import_type(session, ty),
        None => session.ir.ctx.types.void(),
    };
    let path = || indices(inst, info).into_iter().map(|i| i as u32).collect();
    let call = || -> Result<Box<CallInfo>, String> {
        let tail = pick(&TAILS, u32::from(info.tail))?;
        Ok(Box::new(CallInfo { sig: elem, num_args: info.num_args, tail, conv: info.conv }))
    };
    Ok(match info.op {
        0 => Op::FNeg,
        1 => Op::Binary(pick(&BINARY, info.sub)?),
        2 => Op::Cast(pick(&CASTS, info.sub)?),
        3 => Op::ICmp(pick(&INT_PREDS, info.sub)?),
        4 => Op::FCmp(pick(&FLOAT_PREDS, info.sub)?),
        5 => Op::Phi(blocks),
        6 => Op::Select,
        7 => Op::Freeze,
        8 => Op::Alloca { elem, align: info.align },
        9 => Op::Load(access),
        10 => Op::Store(access),
        11 => Op::Gep { elem, flags: GepFlags::from_bits_truncate(info.gep) },
        12 => Op::Fence(access.ordering),
        13 => Op::CmpXchg {
            success: access.ordering,
            failure: pick(&ORDERINGS, u32::from(info.failure))?,
            weak: info.weak != 0,
            access,
        },
        14 => Op::AtomicRmw(pick(&RMW_OPS, info.sub)?, access),
        15 => Op::Call(call()?),
        16 => Op::VaArg,
        17 => Op::ExtractElement,
        18 => Op::InsertElement,
        19 => Op::ShuffleVector(indices(inst, info)),
        20 => Op::ExtractValue(path()),
        21 => Op::InsertValue(path()),
        22 => Op::LandingPad {
            cleanup: info.cleanup != 0,
            clauses: indices(inst, info)
                .into_iter()
                .map(|k| if k == 0 { Clause::Catch } else { Clause::Filter })
                .collect(),
        },
        23 => Op::CleanupPad,
        24 => Op::CatchPad,
        25 => Op::Ret,
        26 => Op::Br(target(0)?),
        27 => Op::CondBr { then_to: target(0)?, else_to: target(1)? },
        28 => Op::Switch { default: target(0)?, cases: cases(session, inst, info, &blocks) },
        29 => Op::IndirectBr(blocks),
        30 => Op::Invoke { call: call()?, normal: target(0)?, unwind: target(1)? },
        31 => Op::CallBr { call: call()?, default: target(0)?, indirect: blocks.get(1..).unwrap_or(&[]).to_vec() },
        32 => Op::Resume,
        33 => Op::Unreachable,
        34 => Op::CleanupRet(blocks.first().copied()),
        35 => Op::CatchRet(target(0)?),
        36 => {
            let handlers = blocks.len() - usize::from(info.cleanup != 0).min(blocks.len());
            Op::CatchSwitch { handlers: blocks[..handlers].to_vec(), unwind: blocks.get(handlers).copied() }
        }
        _ => return Err("an instruction that is not known".to_owned()),
    })
}

fn cases(
    session: &mut Session,
    inst: ValueRef,
    info: &InstInfo,
    blocks: &[BlockId],
) -> Vec<(enzyme_ir::ConstId, BlockId)> {
    let n = info.sub as usize;
    let mut values: Vec<ValueRef> = Vec::with_capacity(n);
    // SAFETY: the bridge writes as many values as there are cases.
    unsafe { ffi::enz_switch_values(inst, values.as_mut_ptr()) };
    // SAFETY: they were written just now.
    unsafe { values.set_len(n) };
    values.into_iter().zip(blocks.iter().skip(1)).map(|(v, b)| (import_const(session, v), *b)).collect()
}
