//! Operands, result, flags and attributes of each operation.

use cranelift_entity::EntityRef;
use smallvec::SmallVec;
use std::collections::HashSet;

use super::casts::{Lanes, cast_fits, lane_bits, split};
use super::{Entity, Verifier};
use crate::consts::Const;
use crate::func::Inst;
use crate::ids::{BlockId, InstId, TypeId, ValueId};
use crate::op::{Access, BinOp, CallInfo, CastOp, Clause, FastMath, IntFlags, Op, Ordering, RmwOp};
use crate::types::{StructType, Type};

type Check = Result<(), String>;

fn ensure(holds: bool, message: &str) -> Check {
    if holds { Ok(()) } else { Err(message.to_owned()) }
}

impl Verifier<'_> {
    pub(super) fn operations(&mut self) {
        let func = self.func;
        for (_, i) in func.placed() {
            if let Err(message) = self.operation(i) {
                self.error(Entity::Inst(i), message);
            }
        }
    }

    fn types_of(&self, inst: &Inst) -> SmallVec<[TypeId; 4]> {
        inst.args.iter().map(|a| self.func.ty(*a)).collect()
    }

    fn split(&self, ty: TypeId) -> (Lanes, TypeId) {
        split(self.module, ty)
    }

    fn is_int(&self, ty: TypeId) -> bool {
        matches!(self.get(self.split(ty).1), Type::Int(_))
    }

    fn is_float(&self, ty: TypeId) -> bool {
        matches!(self.get(self.split(ty).1), Type::Float(_))
    }

    fn is_ptr(&self, ty: TypeId) -> bool {
        matches!(self.get(self.split(ty).1), Type::Ptr(_))
    }

    fn is_address(&self, ty: TypeId) -> bool {
        matches!(self.get(ty), Type::Ptr(_))
    }

    fn is_bool(&self, ty: TypeId) -> bool {
        matches!(self.get(self.split(ty).1), Type::Int(1))
    }

    fn is_token(&self, ty: TypeId) -> bool {
        matches!(self.get(ty), Type::Token)
    }

    fn is_void(&self, ty: TypeId) -> bool {
        matches!(self.get(ty), Type::Void)
    }

    /// Whether a value of `ty` may be moved around: sized, or not of a module-internal kind.
    fn is_sized(&self, ty: TypeId) -> bool {
        self.parts.is_sized(ty)
    }

    fn operation(&self, i: InstId) -> Check {
        let inst = &self.func.insts[i];
        let types = self.types_of(inst);
        self.flags(inst)?;
        if inst.op.is_terminator() {
            return self.terminator(inst, &types);
        }
        match (&inst.op, types.as_slice()) {
            (Op::FNeg, &[a]) => ensure(self.is_float(a) && a == inst.ty, "negation of what is no float"),
            (Op::Binary(op), &[a, b]) => {
                let is_float = matches!(op, BinOp::FAdd | BinOp::FSub | BinOp::FMul | BinOp::FDiv | BinOp::FRem);
                ensure(a == b && a == inst.ty, "operands and result must have the same type")?;
                let fits = if is_float { self.is_float(a) } else { self.is_int(a) };
                ensure(fits, "operation on a type that it is not made for")
            }
            (Op::Cast(op), &[a]) => {
                ensure(cast_fits(self.module, *op, a, inst.ty), "conversion between types that it is not made for")
            }
            (Op::ICmp(_), &[a, b]) => {
                ensure(a == b, "compared values must have the same type")?;
                ensure(self.is_int(a) || self.is_ptr(a), "icmp compares integers or pointers")?;
                self.comparison(a, inst.ty)
            }
            (Op::FCmp(_), &[a, b]) => {
                ensure(a == b && self.is_float(a), "fcmp compares floats of the same type")?;
                self.comparison(a, inst.ty)
            }
            (Op::Phi(blocks), _) => {
                ensure(blocks.len() == types.len(), "phi must have as many values as blocks")?;
                ensure(!self.is_void(inst.ty) && !self.is_token(inst.ty), "phi of this type")?;
                ensure(types.iter().all(|t| *t == inst.ty), "incoming value of another type than the phi")
            }
            (Op::Select, &[c, a, b]) => {
                ensure(a == b && a == inst.ty, "selected values and result must have the same type")?;
                ensure(self.is_bool(c), "condition is not i1")?;
                let lanes = self.split(c).0;
                ensure(lanes.is_none() || lanes == self.split(a).0, "condition has other lanes than the values")
            }
            (Op::Freeze, &[a]) => ensure(a == inst.ty && !self.is_token(a), "freeze must keep the type"),
            (
                Op::Alloca { .. }
                | Op::Load(_)
                | Op::Store(_)
                | Op::Gep { .. }
                | Op::Fence(_)
                | Op::CmpXchg { .. }
                | Op::AtomicRmw(..),
                _,
            ) => self.memory(inst, &types),
            (Op::Call(call), _) => self.call(inst, call, &types),
            (Op::VaArg, &[list]) => ensure(self.is_address(list), "argument list is not a pointer"),
            (Op::ExtractElement, &[v, index]) => match self.get(v) {
                Type::Vector { elem, .. } => {
                    ensure(*elem == inst.ty && self.is_plain_int(index), "lane or index of another type")
                }
                _ => Err("lane of what is no vector".to_owned()),
            },
            (Op::InsertElement, &[v, e, index]) => match self.get(v) {
                Type::Vector { elem, .. } => {
                    ensure(v == inst.ty && *elem == e && self.is_plain_int(index), "lane or index of another type")
                }
                _ => Err("lane of what is no vector".to_owned()),
            },
            (Op::ShuffleVector(mask), &[a, b]) => match (self.get(a), self.get(inst.ty)) {
                (
                    Type::Vector { elem, len, scalable },
                    Type::Vector { elem: result_elem, len: result_len, scalable: result_scalable },
                ) => {
                    ensure(a == b && elem == result_elem && scalable == result_scalable, "shuffle changes the type")?;
                    ensure(mask.len() == *result_len as usize, "mask and result have different lengths")?;
                    let limit = i64::from(*len) * 2;
                    ensure(mask.iter().all(|m| i64::from(*m) < limit && *m >= -1), "mask names no lane")?;
                    let is_uniform = mask.iter().all(|m| *m == 0) || mask.iter().all(|m| *m == -1);
                    ensure(!scalable || is_uniform, "mask of a scalable vector must be a splat of lane 0")
                }
                _ => Err("shuffle of what is no vector".to_owned()),
            },
            (Op::ExtractValue(path), &[a]) => {
                let part = self.part(a, path);
                ensure(part == Some(inst.ty), "the aggregate has no such part of this type")
            }
            (Op::InsertValue(path), &[a, v]) => {
                ensure(a == inst.ty && self.part(a, path) == Some(v), "the aggregate has no such part of this type")
            }
            (Op::LandingPad { cleanup, clauses }, _) => {
                ensure(clauses.len() == types.len(), "landing pad must have one operand for each clause")?;
                let fits = |(clause, ty): (&Clause, &TypeId)| match clause {
                    Clause::Catch => self.is_address(*ty),
                    Clause::Filter => matches!(self.get(*ty), Type::Array { .. }),
                };
                ensure(clauses.iter().zip(&types).all(fits), "clause of a type that it cannot have")?;
                ensure(*cleanup || !clauses.is_empty(), "landing pad without clause that is no cleanup")?;
                ensure(self.func.personality.is_some(), "landing pad in a function without personality routine")
            }
            (Op::CleanupPad | Op::CatchPad, [parent, ..]) => {
                ensure(self.is_token(*parent) && self.is_token(inst.ty), "exception pads are tokens")?;
                ensure(self.func.personality.is_some(), "exception pad in a function without personality routine")
            }
            _ => Err(format!("wrong number of operands ({})", types.len())),
        }
    }

    fn is_plain_int(&self, ty: TypeId) -> bool {
        matches!(self.get(ty), Type::Int(_))
    }

    fn part(&self, ty: TypeId, path: &[u32]) -> Option<TypeId> {
        let mut at = ty;
        for step in path {
            at = self.module.ctx.types.at_path(at, &[*step])?;
        }
        (!path.is_empty()).then_some(at)
    }

    fn comparison(&self, operand: TypeId, result: TypeId) -> Check {
        let same = self.is_bool(result) && self.split(result).0 == self.split(operand).0;
        ensure(same, "result of a comparison is i1 in the lanes of the operands")
    }

    fn flags(&self, inst: &Inst) -> Check {
        let mut fast = false;
        let ints = match &inst.op {
            Op::FNeg | Op::FCmp(_) => {
                fast = true;
                IntFlags::empty()
            }
            Op::Phi(_) | Op::Select | Op::Call(_) | Op::Invoke { .. } | Op::CallBr { .. } => {
                fast = self.is_float_aggregate(inst.ty);
                IntFlags::empty()
            }
            Op::Binary(op) => match op {
                BinOp::FAdd | BinOp::FSub | BinOp::FMul | BinOp::FDiv | BinOp::FRem => {
                    fast = true;
                    IntFlags::empty()
                }
                BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Shl => IntFlags::NUW | IntFlags::NSW,
                BinOp::UDiv | BinOp::SDiv | BinOp::LShr | BinOp::AShr => IntFlags::EXACT,
                BinOp::Or => IntFlags::DISJOINT,
                BinOp::URem | BinOp::SRem | BinOp::And | BinOp::Xor => IntFlags::empty(),
            },
            Op::Cast(CastOp::FPTrunc | CastOp::FPExt) => {
                fast = true;
                IntFlags::empty()
            }
            Op::Cast(CastOp::Trunc) => IntFlags::NUW | IntFlags::NSW,
            Op::Cast(CastOp::ZExt | CastOp::UIToFP) => IntFlags::NNEG,
            Op::ICmp(_) => IntFlags::SAMESIGN,
            _ => IntFlags::empty(),
        };
        ensure(fast || inst.fast == FastMath::empty(), "fast-math flags on an operation that has none")?;
        ensure(ints.contains(inst.ints), "integer flags that the operation does not have")
    }

    /// Whether fast-math flags mean something for a result of this type.
    fn is_float_aggregate(&self, ty: TypeId) -> bool {
        match self.get(ty) {
            Type::Array { elem, .. } => self.is_float(*elem) || self.is_float_aggregate(*elem),
            Type::Struct(StructType { fields: Some(fields), .. }) => {
                fields.first().is_some_and(|f| self.is_float(*f) && fields.iter().all(|g| g == f))
            }
            _ => self.is_float(ty),
        }
    }

    fn alignment(align: u32) -> Check {
        ensure(align == 0 || align.is_power_of_two(), "alignment is not a power of two")
    }

    /// Alignment and ordering of an access of a value of type `ty`.
    fn access(&self, access: &Access, ty: TypeId, forbidden: &[Ordering]) -> Check {
        Self::alignment(access.align)?;
        ensure(!forbidden.contains(&access.ordering), "ordering that this access cannot have")?;
        if access.ordering == Ordering::NotAtomic {
            return Ok(());
        }
        let is_scalar = matches!(self.get(ty), Type::Int(_) | Type::Float(_) | Type::Ptr(_) | Type::Vector { .. });
        let bits = lane_bits(self.module, ty).unwrap_or(0) * self.split(ty).0.map_or(1, |l| l.0);
        // 80-bit floats are stored in 128 bits.
        let bits = if bits == 80 { 128 } else { bits };
        ensure(is_scalar && bits >= 8 && bits.is_power_of_two(), "atomic access of a type that has no atomic form")
    }

    fn memory(&self, inst: &Inst, types: &[TypeId]) -> Check {
        const LOAD: [Ordering; 2] = [Ordering::Release, Ordering::AcquireRelease];
        const STORE: [Ordering; 2] = [Ordering::Acquire, Ordering::AcquireRelease];
        match (&inst.op, types) {
            (Op::Alloca { elem, align }, &[count]) => {
                Self::alignment(*align)?;
                ensure(self.parts.has_type(*elem) && self.is_sized(*elem), "stack slot of a type without size")?;
                ensure(self.is_plain_int(count), "element count is not an integer")?;
                ensure(self.is_address(inst.ty), "result is not a pointer")
            }
            (Op::Load(access), &[address]) => {
                ensure(self.is_address(address), "address is not a pointer")?;
                ensure(self.is_sized(inst.ty), "load of a type without size")?;
                self.access(access, inst.ty, &LOAD)
            }
            (Op::Store(access), &[value, address]) => {
                ensure(self.is_address(address), "address is not a pointer")?;
                ensure(self.is_sized(value), "store of a type without size")?;
                ensure(self.is_void(inst.ty), "store has no result")?;
                self.access(access, value, &STORE)
            }
            (Op::Gep { elem, .. }, [base, indices @ ..]) => self.gep(inst, *elem, *base, indices),
            (Op::Fence(ordering), []) => {
                let weak = [Ordering::NotAtomic, Ordering::Unordered, Ordering::Monotonic];
                ensure(!weak.contains(ordering), "ordering that a fence cannot have")
            }
            (Op::CmpXchg { success, failure, access, .. }, &[address, expected, new]) => {
                ensure(self.is_address(address), "address is not a pointer")?;
                let scalar = matches!(self.get(expected), Type::Int(_) | Type::Ptr(_));
                ensure(expected == new && scalar, "cmpxchg exchanges integers or pointers")?;
                let fits = match self.get(inst.ty) {
                    Type::Struct(StructType { fields: Some(fields), packed: false, .. }) => {
                        matches!(fields.as_slice(), [v, ok] if *v == expected && matches!(self.get(*ok), Type::Int(1)))
                    }
                    _ => false,
                };
                ensure(fits, "result of cmpxchg is the value and an i1")?;
                let weak = [Ordering::NotAtomic, Ordering::Unordered];
                ensure(!weak.contains(success) && !weak.contains(failure), "ordering that is too weak")?;
                ensure(!LOAD.contains(failure), "ordering that failure cannot have")?;
                self.access(&Access { ordering: *success, ..*access }, expected, &[])
            }
            (Op::AtomicRmw(op, access), &[address, value]) => {
                ensure(self.is_address(address), "address is not a pointer")?;
                ensure(value == inst.ty, "result has the type of the value")?;
                let fits = match op {
                    RmwOp::Xchg => self.is_plain_int(value) || self.is_address(value) || self.is_float(value),
                    RmwOp::FAdd | RmwOp::FSub | RmwOp::FMax | RmwOp::FMin | RmwOp::FMaximum | RmwOp::FMinimum => {
                        self.is_float(value)
                    }
                    RmwOp::Add
                    | RmwOp::Sub
                    | RmwOp::And
                    | RmwOp::Nand
                    | RmwOp::Or
                    | RmwOp::Xor
                    | RmwOp::Max
                    | RmwOp::Min
                    | RmwOp::UMax
                    | RmwOp::UMin
                    | RmwOp::UIncWrap
                    | RmwOp::UDecWrap
                    | RmwOp::USubCond
                    | RmwOp::USubSat => self.is_plain_int(value),
                };
                ensure(fits, "operation on a type that it is not made for")?;
                let weak = [Ordering::NotAtomic, Ordering::Unordered];
                self.access(access, value, &weak)
            }
            _ => Err(format!("wrong number of operands ({})", types.len())),
        }
    }

    fn gep(&self, inst: &Inst, elem: TypeId, base: TypeId, indices: &[TypeId]) -> Check {
        ensure(self.parts.has_type(elem) && self.is_sized(elem), "address of elements without size")?;
        ensure(self.is_ptr(base), "base is not a pointer")?;
        let mut lanes = self.split(base).0;
        for index in indices {
            ensure(self.is_int(*index), "index is not an integer")?;
            let of_index = self.split(*index).0;
            ensure(lanes.is_none() || of_index.is_none() || lanes == of_index, "vectors of different lengths")?;
            lanes = lanes.or(of_index);
        }
        let (result_lanes, result) = self.split(inst.ty);
        ensure(result_lanes == lanes && result == self.split(base).1, "result of another type than the base")?;
        let mut at = elem;
        for (position, index) in inst.args.iter().enumerate().skip(2) {
            at = match self.get(at) {
                Type::Array { elem, .. } | Type::Vector { elem, .. } => *elem,
                Type::Struct(StructType { fields: Some(fields), .. }) => {
                    let field = self.constant_index(*index);
                    match field.and_then(|f| fields.get(f as usize)) {
                        Some(ty) => *ty,
                        None => return Err(format!("index {position} is not a constant that names a field")),
                    }
                }
                _ => return Err(format!("index {position} goes into a type that has no parts")),
            };
        }
        Ok(())
    }

    fn constant_index(&self, v: ValueId) -> Option<u64> {
        let consts = &self.module.ctx.consts;
        let c = self.func.as_const(v)?;
        match &consts[c] {
            Const::Aggregate { elems, .. } if elems.iter().all(|e| *e == elems[0]) => consts.as_u64(*elems.first()?),
            Const::Data { bytes, .. } => {
                let word = bytes.get(..4)?;
                bytes.chunks(4).all(|c| c == word).then(|| word.iter().rev().fold(0, |a, b| a << 8 | u64::from(*b)))
            }
            _ => consts.as_u64(c),
        }
    }

    fn call(&self, inst: &Inst, call: &CallInfo, types: &[TypeId]) -> Check {
        ensure(self.parts.has_type(call.sig), "function type of the call is out of range")?;
        let Type::Func { ret, params, variadic } = self.get(call.sig) else {
            return Err("called with a type that is no function type".to_owned());
        };
        let Some((callee, rest)) = types.split_first() else { return Err("call without callee".to_owned()) };
        ensure(self.is_address(*callee), "callee is not a pointer")?;
        let Some(args) = rest.get(..call.num_args as usize) else {
            return Err("fewer operands than the call has arguments".to_owned());
        };
        let enough = args.len() == params.len() || (*variadic && args.len() > params.len());
        ensure(enough, "number of arguments does not agree with the function type")?;
        ensure(args.starts_with(params), "argument of another type than the function type says")?;
        ensure(args.iter().all(|t| !self.is_void(*t)), "argument without value")?;
        ensure(*ret == inst.ty, "result of another type than the function type says")
    }

    fn terminator(&self, inst: &Inst, types: &[TypeId]) -> Check {
        if !matches!(inst.op, Op::Invoke { .. } | Op::CallBr { .. } | Op::CatchSwitch { .. }) {
            ensure(self.is_void(inst.ty), "terminator has no result")?;
        }
        match (&inst.op, types) {
            (Op::Ret, _) => {
                let Type::Func { ret, .. } = self.get(self.func.sig) else { return Ok(()) };
                let agrees = match types {
                    [] => self.is_void(*ret),
                    [v] => v == ret,
                    _ => false,
                };
                ensure(agrees, "returned value does not agree with the signature")
            }
            (Op::Br(_) | Op::Unreachable, []) => Ok(()),
            (Op::CondBr { .. }, &[c]) => ensure(matches!(self.get(c), Type::Int(1)), "condition is not i1"),
            (Op::Switch { cases, .. }, &[v]) => {
                ensure(self.is_plain_int(v), "switch on what is no integer")?;
                let mut seen = HashSet::new();
                for (c, _) in cases {
                    ensure(c.index() < self.module.ctx.consts.len(), "case is out of range")?;
                    match &self.module.ctx.consts[*c] {
                        Const::Int { ty, .. } if *ty == v => {}
                        Const::Zero(ty) if *ty == v => {}
                        _ => return Err("case is not an integer of the type of the operand".to_owned()),
                    }
                    ensure(seen.insert(*c), "two cases are equal")?;
                }
                Ok(())
            }
            (Op::IndirectBr(_), &[a]) => ensure(self.is_address(a), "address is not a pointer"),
            (Op::Invoke { call, normal, unwind }, _) => {
                self.call(inst, call, types)?;
                ensure(normal != unwind, "normal return and unwinding lead to the same block")?;
                ensure(self.func.personality.is_some(), "invoke in a function without personality routine")?;
                let first = self.first_after_phis(*unwind);
                let is_pad = matches!(first, Some(Op::LandingPad { .. } | Op::CleanupPad | Op::CatchSwitch { .. }));
                ensure(is_pad, "unwinds to a block that does not begin with an exception pad")?;
                let to_pad = matches!(self.first_after_phis(*normal), Some(Op::LandingPad { .. }));
                ensure(!to_pad, "returns to a landing pad")
            }
            (Op::CallBr { call, .. }, _) => self.call(inst, call, types),
            (Op::Resume, [_]) => {
                ensure(self.func.personality.is_some(), "resume in a function without personality routine")
            }
            (Op::CleanupRet(_) | Op::CatchRet(_), &[pad]) => ensure(self.is_token(pad), "pad is not a token"),
            (Op::CatchSwitch { handlers, .. }, &[pad]) => {
                ensure(self.is_token(pad) && self.is_token(inst.ty), "exception pads are tokens")?;
                ensure(!handlers.is_empty(), "catchswitch without handlers")?;
                let is_pad = |b: &BlockId| matches!(self.first_after_phis(*b), Some(Op::CatchPad));
                ensure(handlers.iter().all(is_pad), "handler that does not begin with a catchpad")
            }
            _ => Err(format!("wrong number of operands ({})", types.len())),
        }?;
        let targets = inst.op.successors();
        let unwinds = matches!(inst.op, Op::Invoke { .. });
        let enters_pad = targets.iter().any(|t| matches!(self.first_after_phis(*t), Some(Op::LandingPad { .. })));
        ensure(unwinds || !enters_pad, "enters a landing pad otherwise than by unwinding")
    }

    fn first_after_phis(&self, b: BlockId) -> Option<&Op> {
        let insts = &self.func.blocks.get(b)?.insts;
        let ops = insts.iter().filter_map(|i| Some(&self.func.insts.get(*i)?.op));
        ops.into_iter().find(|op| !matches!(op, Op::Phi(_)))
    }
}
