//! One instruction of the mirror into LLVM.
//!
//! What has an origin is copied from the LLVM instruction it was read from, if the operation is still of that kind, and
//! so keeps metadata, attributes and operand bundles; phis and terminators are always built. Flags are those of
//! the mirror.

use enzyme_ir::{BlockId, CallInfo, Clause, InstId, MemClass, Op, Ordering, RmwOp, TailKind};

use super::constants::{binary_number, cast_number, export_const, export_type};
use super::{Target, value_of};
use crate::ffi::{self, BlockRef, InstInfo, Str, ValueRef};
use crate::import::{FLOAT_PREDS, INT_PREDS};
use crate::session::Session;
use crate::text::collect;

fn ordering_number(ordering: Ordering) -> u8 {
    match ordering {
        Ordering::NotAtomic => 0,
        Ordering::Unordered => 1,
        Ordering::Monotonic => 2,
        Ordering::Acquire => 3,
        Ordering::Release => 4,
        Ordering::AcquireRelease => 5,
        Ordering::SequentiallyConsistent => 6,
    }
}

fn rmw_number(op: RmwOp) -> u32 {
    match op {
        RmwOp::Xchg => 0,
        RmwOp::Add => 1,
        RmwOp::Sub => 2,
        RmwOp::And => 3,
        RmwOp::Nand => 4,
        RmwOp::Or => 5,
        RmwOp::Xor => 6,
        RmwOp::Max => 7,
        RmwOp::Min => 8,
        RmwOp::UMax => 9,
        RmwOp::UMin => 10,
        RmwOp::FAdd => 11,
        RmwOp::FSub => 12,
        RmwOp::FMax => 13,
        RmwOp::FMin => 14,
        RmwOp::FMaximum => 15,
        RmwOp::FMinimum => 16,
        RmwOp::UIncWrap => 17,
        RmwOp::UDecWrap => 18,
        RmwOp::USubCond => 19,
        RmwOp::USubSat => 20,
    }
}

/// What an operation has beside its operands, spread out.
#[derive(Default)]
struct Parts {
    info: InstInfo,
    targets: Vec<BlockId>,
    indices: Vec<i32>,
    cases: Vec<enzyme_ir::ConstId>,
}

pub(super) fn build(
    session: &mut Session,
    target: &mut Target<'_>,
    block: BlockId,
    id: InstId,
) -> Result<ValueRef, String> {
    let inst = &target.func.insts[id];
    let mut parts = describe(session, &inst.op)?;
    parts.info.ty = Some(export_type(session, inst.ty).ok_or("the type of the result does not exist in LLVM")?);
    parts.info.fast = inst.fast.bits();
    parts.info.ints = inst.ints.bits();
    parts.info.mem = match inst.mem {
        MemClass::Unknown => 0,
        MemClass::Primal => 1,
        MemClass::Shadow => 2,
        MemClass::Tape => 3,
        MemClass::Lane(n) => 3 + n.min(MemClass::LANES),
    };
    let name = inst.result.and_then(|r| target.func.value_names.get(&r)).map_or("", String::as_str);
    parts.info.name = Str::of(name);
    let is_phi = matches!(inst.op, Op::Phi(_));
    let mut operands = Vec::with_capacity(inst.args.len());
    if !is_phi {
        for arg in &inst.args {
            operands.push(value_of(session, target, *arg)?);
        }
    }
    parts.info.num_operands = operands.len() as u32;
    let mut targets: Vec<BlockRef> = Vec::with_capacity(parts.targets.len());
    if !is_phi {
        for to in &parts.targets {
            targets.push(*target.blocks.get(to).ok_or_else(|| format!("{to} does not exist"))?);
        }
    }
    parts.info.num_targets = targets.len() as u32;
    parts.info.num_indices = parts.indices.len() as u32;
    let mut cases = Vec::with_capacity(parts.cases.len());
    for case in &parts.cases {
        cases.push(export_const(session, *case).map_err(|p| p.message)?);
    }
    let origin = inst.origin.and_then(|o| session.imported.inst_value(o.func, o.inst));
    let at = *target.blocks.get(&block).ok_or("the block does not exist")?;
    let (info, builder) = (parts.info, target.builder);
    // SAFETY: all handles belong to the module of this session; the arrays are as long as announced; the bridge checks
    // that the instruction is well formed before it makes it.
    let (made, message) = collect(|sink, context| unsafe {
        ffi::enz_build(
            builder,
            at,
            &raw const info,
            operands.as_ptr(),
            targets.as_ptr(),
            parts.indices.as_ptr(),
            cases.as_ptr(),
            origin,
            sink,
            context,
        )
    });
    let made = made.ok_or(message)?;
    if let Some(like) = inst.scoped.and_then(|o| session.imported.inst_value(o.func, o.inst)) {
        // SAFETY: both instructions belong to the module of this session.
        unsafe { ffi::enz_builder_access(builder, made, like, info.mem) };
    }
    Ok(made)
}

fn describe_call(session: &mut Session, info: &mut InstInfo, call: &CallInfo) -> Result<(), String> {
    info.elem = Some(export_type(session, call.sig).ok_or("the signature of a call does not exist in LLVM")?);
    info.num_args = call.num_args;
    info.conv = call.conv;
    info.tail = match call.tail {
        TailKind::None => 0,
        TailKind::Tail => 1,
        TailKind::MustTail => 2,
        TailKind::NoTail => 3,
    };
    Ok(())
}

fn position<T: PartialEq>(table: &[T], item: &T) -> u32 {
    table.iter().position(|t| t == item).unwrap_or(0) as u32
}

fn describe(session: &mut Session, op: &Op) -> Result<Parts, String> {
    let mut parts = Parts::default();
    let info = &mut parts.info;
    let access = |info: &mut InstInfo, a: &enzyme_ir::Access| {
        info.align = a.align;
        info.volatile = u8::from(a.volatile);
        info.ordering = ordering_number(a.ordering);
    };
    match op {
        Op::FNeg => info.op = 0,
        Op::Binary(b) => (info.op, info.sub) = (1, binary_number(*b)),
        Op::Cast(c) => (info.op, info.sub) = (2, cast_number(*c)),
        Op::ICmp(p) => (info.op, info.sub) = (3, position(&INT_PREDS, p)),
        Op::FCmp(p) => (info.op, info.sub) = (4, position(&FLOAT_PREDS, p)),
        Op::Phi(blocks) => {
            info.op = 5;
            parts.targets.clone_from(blocks);
        }
        Op::Select => info.op = 6,
        Op::Freeze => info.op = 7,
        Op::Alloca { elem, align } => {
            (info.op, info.align) = (8, *align);
            info.elem = Some(export_type(session, *elem).ok_or("an allocated type does not exist in LLVM")?);
        }
        Op::Load(a) => {
            info.op = 9;
            access(info, a);
        }
        Op::Store(a) => {
            info.op = 10;
            access(info, a);
        }
        Op::Gep { elem, flags } => {
            (info.op, info.gep) = (11, flags.bits());
            info.elem = Some(export_type(session, *elem).ok_or("an element type does not exist in LLVM")?);
        }
        Op::Fence(ordering) => (info.op, info.ordering) = (12, ordering_number(*ordering)),
        Op::CmpXchg { success, failure, weak, access: a } => {
            info.op = 13;
            access(info, a);
            info.ordering = ordering_number(*success);
            info.failure = ordering_number(*failure);
            info.weak = u8::from(*weak);
        }
        Op::AtomicRmw(rmw, a) => {
            (info.op, info.sub) = (14, rmw_number(*rmw));
            access(info, a);
        }
        Op::Call(call) => {
            info.op = 15;
            describe_call(session, info, call)?;
        }
        Op::VaArg => info.op = 16,
        Op::ExtractElement => info.op = 17,
        Op::InsertElement => info.op = 18,
        Op::ShuffleVector(mask) => {
            info.op = 19;
            parts.indices.clone_from(mask);
        }
        Op::ExtractValue(path) => {
            info.op = 20;
            parts.indices = path.iter().map(|i| *i as i32).collect();
        }
        Op::InsertValue(path) => {
            info.op = 21;
            parts.indices = path.iter().map(|i| *i as i32).collect();
        }
        Op::LandingPad { cleanup, clauses } => {
            (info.op, info.cleanup) = (22, u8::from(*cleanup));
            parts.indices = clauses.iter().map(|c| i32::from(*c == Clause::Filter)).collect();
        }
        Op::CleanupPad => info.op = 23,
        Op::CatchPad => info.op = 24,
        Op::Ret => info.op = 25,
        Op::Br(to) => {
            info.op = 26;
            parts.targets = vec![*to];
        }
        Op::CondBr { then_to, else_to } => {
            info.op = 27;
            parts.targets = vec![*then_to, *else_to];
        }
        Op::Switch { default, cases } => {
            (info.op, info.sub) = (28, cases.len() as u32);
            parts.targets = std::iter::once(*default).chain(cases.iter().map(|c| c.1)).collect();
            parts.cases = cases.iter().map(|c| c.0).collect();
        }
        Op::IndirectBr(to) => {
            info.op = 29;
            parts.targets.clone_from(to);
        }
        Op::Invoke { call, normal, unwind } => {
            info.op = 30;
            parts.targets = vec![*normal, *unwind];
            describe_call(session, info, call)?;
        }
        Op::CallBr { call, default, indirect } => {
            info.op = 31;
            parts.targets = std::iter::once(*default).chain(indirect.iter().copied()).collect();
            describe_call(session, info, call)?;
        }
        Op::Resume => info.op = 32,
        Op::Unreachable => info.op = 33,
        Op::CleanupRet(to) => {
            (info.op, info.cleanup) = (34, u8::from(to.is_some()));
            parts.targets = to.iter().copied().collect();
        }
        Op::CatchRet(to) => {
            info.op = 35;
            parts.targets = vec![*to];
        }
        Op::CatchSwitch { handlers, unwind } => {
            (info.op, info.cleanup) = (36, u8::from(unwind.is_some()));
            parts.targets = handlers.iter().chain(unwind).copied().collect();
        }
    }
    Ok(parts)
}
