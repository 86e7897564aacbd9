//! Appends instructions to a function.
//!
//! A [`Builder`] borrows the context (for types and constants) and one function, and stands at the end of a
//! block. It folds nothing except what would be wasted in nearly every derivative: see [`Builder::fadd`] and
//! [`Builder::fmul`], whose identities are exact in IEEE arithmetic only as their docs say.

use smallvec::smallvec;

use crate::consts::Const;
use crate::func::{Args, Func, Inst};
use crate::ids::{BlockId, ConstId, FuncId, InstId, LocId, TypeId, ValueId};
use crate::module::Context;
use crate::op::*;
use crate::types::Type;

/// Appends to one block of a function.
pub struct Builder<'a> {
    /// Types and constants.
    pub ctx: &'a mut Context,
    /// The function being written.
    pub func: &'a mut Func,
    /// Where instructions go.
    pub block: BlockId,
    /// Source location given to instructions.
    pub loc: Option<LocId>,
    /// Fast-math flags given to floating-point instructions.
    pub fast: FastMath,
}

impl<'a> Builder<'a> {
    /// A builder at the end of `block`.
    pub fn new(ctx: &'a mut Context, func: &'a mut Func, block: BlockId) -> Builder<'a> {
        Builder { ctx, func, block, loc: None, fast: FastMath::empty() }
    }

    /// Appends `op`; the result is absent if `ty` is `void`.
    pub fn inst(&mut self, op: Op, args: Args, ty: TypeId) -> InstId {
        let is_float = match op {
            Op::FNeg | Op::FCmp(_) => true,
            Op::Binary(b) => matches!(b, BinOp::FAdd | BinOp::FSub | BinOp::FMul | BinOp::FDiv | BinOp::FRem),
            Op::Call(_) | Op::Select | Op::Phi(_) => self.ctx.types.is_float_or_vector(ty),
            _ => false,
        };
        let inst = Inst {
            op,
            args,
            ty,
            result: None,
            fast: if is_float { self.fast } else { FastMath::empty() },
            ints: IntFlags::empty(),
            loc: self.loc,
            origin: None,
            scoped: None,
            mem: MemClass::Unknown,
        };
        self.place(inst)
    }

    /// Appends a complete instruction, giving it a fresh result.
    pub fn place(&mut self, inst: Inst) -> InstId {
        let is_void = matches!(self.ctx.types[inst.ty], Type::Void);
        let id = self.func.make_inst(inst, is_void);
        self.func.blocks[self.block].insts.push(id);
        id
    }

    /// Appends `op` with a result; the value of `void` operations is poison and is never used.
    pub fn value(&mut self, op: Op, args: Args, ty: TypeId) -> ValueId {
        let id = self.inst(op, args, ty);
        match self.func.insts[id].result {
            Some(v) => v,
            // `void` has no values, not even poison.
            None => {
                let bit = self.ctx.types.int(1);
                self.poison(bit)
            }
        }
    }

    /// A constant as a value.
    pub fn constant(&mut self, c: ConstId) -> ValueId {
        let ty = self.ctx.const_type(c);
        self.func.constant(c, ty)
    }
    /// Poison of type `ty`.
    pub fn poison(&mut self, ty: TypeId) -> ValueId {
        let c = self.ctx.consts.intern(Const::Poison(ty));
        self.func.constant(c, ty)
    }
    /// Integer constant of type `ty`.
    pub fn int(&mut self, ty: TypeId, value: u64) -> ValueId {
        let c = self.ctx.int(ty, value);
        self.func.constant(c, ty)
    }
    /// `i64` constant.
    pub fn i64(&mut self, value: u64) -> ValueId {
        let ty = self.ctx.types.int(64);
        self.int(ty, value)
    }
    /// Float constant of type `ty`, splat over vector lanes.
    pub fn float(&mut self, ty: TypeId, value: f64) -> ValueId {
        let c = self.ctx.float(ty, value);
        self.func.constant(c, ty)
    }
    /// Zero of type `ty`.
    pub fn zero(&mut self, ty: TypeId) -> ValueId {
        let c = self.ctx.zero(ty);
        self.func.constant(c, ty)
    }
    /// Plus zero of a float or float vector type, lane by lane.
    pub fn zero_float(&mut self, ty: TypeId) -> ValueId {
        self.float(ty, 0.0)
    }
    /// Whether `v` is a constant that is zero in all bits.
    pub fn is_zero(&self, v: ValueId) -> bool {
        self.func.as_const(v).is_some_and(|c| self.ctx.is_zero(c))
    }
    /// The address of a function.
    pub fn func_addr(&mut self, f: FuncId) -> ValueId {
        let c = self.ctx.consts.intern(Const::Func(f));
        let ty = self.ctx.types.ptr();
        self.func.constant(c, ty)
    }

    /// `a op b`.
    pub fn binary(&mut self, op: BinOp, a: ValueId, b: ValueId) -> ValueId {
        let ty = self.func.ty(a);
        self.value(Op::Binary(op), smallvec![a, b], ty)
    }
    /// `a + b` on floats; a constant +0.0 is dropped (differs only in the sign of a zero sum).
    pub fn fadd(&mut self, a: ValueId, b: ValueId) -> ValueId {
        if self.is_zero(a) {
            return b;
        }
        if self.is_zero(b) {
            return a;
        }
        self.binary(BinOp::FAdd, a, b)
    }
    /// `a * b` on floats; multiplication by a constant one is dropped (exact).
    pub fn fmul(&mut self, a: ValueId, b: ValueId) -> ValueId {
        if self.is_one(a) {
            return b;
        }
        if self.is_one(b) {
            return a;
        }
        self.binary(BinOp::FMul, a, b)
    }
    fn is_one(&mut self, v: ValueId) -> bool {
        let ty = self.func.ty(v);
        let Some(c) = self.func.as_const(v) else { return false };
        self.ctx.types.is_float_or_vector(ty) && self.ctx.float(ty, 1.0) == c
    }
    /// `-a` on floats.
    pub fn fneg(&mut self, a: ValueId) -> ValueId {
        let ty = self.func.ty(a);
        self.value(Op::FNeg, smallvec![a], ty)
    }
    /// `a + b` on integers.
    pub fn add(&mut self, a: ValueId, b: ValueId) -> ValueId {
        if self.is_zero(b) {
            return a;
        }
        if self.is_zero(a) {
            return b;
        }
        self.binary(BinOp::Add, a, b)
    }
    /// Conversion of `a` to `ty`; `a` itself if the type is the same.
    pub fn cast(&mut self, op: CastOp, a: ValueId, ty: TypeId) -> ValueId {
        if self.func.ty(a) == ty {
            return a;
        }
        self.value(Op::Cast(op), smallvec![a], ty)
    }
    /// `i1` (or its vector).
    pub fn icmp(&mut self, pred: IntPred, a: ValueId, b: ValueId) -> ValueId {
        let ty = self.bool_like(a);
        self.value(Op::ICmp(pred), smallvec![a, b], ty)
    }
    /// `i1` (or its vector).
    pub fn fcmp(&mut self, pred: FloatPred, a: ValueId, b: ValueId) -> ValueId {
        let ty = self.bool_like(a);
        self.value(Op::FCmp(pred), smallvec![a, b], ty)
    }
    fn bool_like(&mut self, a: ValueId) -> TypeId {
        let i1 = self.ctx.types.int(1);
        match self.ctx.types[self.func.ty(a)] {
            Type::Vector { len, scalable, .. } => self.ctx.types.intern(Type::Vector { elem: i1, len, scalable }),
            _ => i1,
        }
    }
    /// `cond ? a : b`.
    pub fn select(&mut self, cond: ValueId, a: ValueId, b: ValueId) -> ValueId {
        if a == b {
            return a;
        }
        let ty = self.func.ty(a);
        self.value(Op::Select, smallvec![cond, a, b], ty)
    }
    /// A stack slot for one `elem`.
    pub fn alloca(&mut self, elem: TypeId) -> ValueId {
        let one = self.i64(1);
        let ptr = self.ctx.types.ptr();
        self.value(Op::Alloca { elem, align: 0 }, smallvec![one], ptr)
    }
    /// `load ty, addr` with ABI alignment unless `align` is given.
    pub fn load(&mut self, ty: TypeId, addr: ValueId, align: u32, mem: MemClass) -> ValueId {
        let access = Access { align, ..Access::default() };
        let id = self.inst(Op::Load(access), smallvec![addr], ty);
        self.func.insts[id].mem = mem;
        match self.func.insts[id].result {
            Some(v) => v,
            None => self.poison(ty),
        }
    }
    /// `store v, addr`.
    pub fn store(&mut self, v: ValueId, addr: ValueId, align: u32, mem: MemClass) -> InstId {
        let access = Access { align, ..Access::default() };
        let void = self.ctx.types.void();
        let id = self.inst(Op::Store(access), smallvec![v, addr], void);
        self.func.insts[id].mem = mem;
        id
    }
    /// Address `base + index * sizeof(elem)`.
    pub fn gep(&mut self, elem: TypeId, base: ValueId, indices: &[ValueId]) -> ValueId {
        let ty = self.func.ty(base);
        let mut args: Args = smallvec![base];
        args.extend_from_slice(indices);
        self.value(Op::Gep { elem, flags: GepFlags::INBOUNDS | GepFlags::NUSW }, args, ty)
    }
    /// Address `base + bytes`.
    pub fn byte_offset(&mut self, base: ValueId, bytes: ValueId) -> ValueId {
        if self.is_zero(bytes) {
            return base;
        }
        let i8 = self.ctx.types.int(8);
        self.gep(i8, base, &[bytes])
    }
    /// Direct call; the value of a `void` call is poison.
    pub fn call(&mut self, callee: FuncId, sig: TypeId, args: &[ValueId]) -> ValueId {
        let ret = match self.ctx.types[sig] {
            Type::Func { ret, .. } => ret,
            _ => self.ctx.types.void(),
        };
        let mut all: Args = smallvec![self.func_addr(callee)];
        all.extend_from_slice(args);
        let info = CallInfo { sig, num_args: args.len() as u32, tail: TailKind::None, conv: 0 };
        self.value(Op::Call(Box::new(info)), all, ret)
    }
    /// Direct call that goes to `unwind` if the callee throws; the value of a `void` call is poison.
    pub fn invoke(
        &mut self,
        callee: FuncId,
        sig: TypeId,
        args: &[ValueId],
        normal: BlockId,
        unwind: BlockId,
    ) -> ValueId {
        let ret = match self.ctx.types[sig] {
            Type::Func { ret, .. } => ret,
            _ => self.ctx.types.void(),
        };
        let mut all: Args = smallvec![self.func_addr(callee)];
        all.extend_from_slice(args);
        let call = CallInfo { sig, num_args: args.len() as u32, tail: TailKind::None, conv: 0 };
        self.value(Op::Invoke { call: Box::new(call), normal, unwind }, all, ret)
    }
    /// Field `path` of an aggregate.
    pub fn extract_value(&mut self, agg: ValueId, path: &[u32]) -> ValueId {
        let whole = self.func.ty(agg);
        let Some(ty) = self.ctx.types.at_path(whole, path) else { return self.poison(whole) };
        self.value(Op::ExtractValue(path.to_vec()), smallvec![agg], ty)
    }
    /// `agg` with field `path` replaced.
    pub fn insert_value(&mut self, agg: ValueId, v: ValueId, path: &[u32]) -> ValueId {
        let ty = self.func.ty(agg);
        self.value(Op::InsertValue(path.to_vec()), smallvec![agg, v], ty)
    }
    /// A phi of `ty` with the incoming values given.
    pub fn phi(&mut self, ty: TypeId, incoming: &[(BlockId, ValueId)]) -> ValueId {
        let blocks = incoming.iter().map(|e| e.0).collect();
        let args = incoming.iter().map(|e| e.1).collect();
        self.value(Op::Phi(blocks), args, ty)
    }
    /// Branch.
    pub fn br(&mut self, to: BlockId) -> InstId {
        let void = self.ctx.types.void();
        self.inst(Op::Br(to), Args::new(), void)
    }
    /// Conditional branch.
    pub fn cond_br(&mut self, cond: ValueId, then_to: BlockId, else_to: BlockId) -> InstId {
        let void = self.ctx.types.void();
        self.inst(Op::CondBr { then_to, else_to }, smallvec![cond], void)
    }
    /// `switch v, default, cases`.
    pub fn switch(&mut self, v: ValueId, default: BlockId, cases: Vec<(ConstId, BlockId)>) -> InstId {
        let void = self.ctx.types.void();
        self.inst(Op::Switch { default, cases }, smallvec![v], void)
    }
    /// Return.
    pub fn ret(&mut self, v: Option<ValueId>) -> InstId {
        let void = self.ctx.types.void();
        self.inst(Op::Ret, v.into_iter().collect(), void)
    }
    /// `unreachable`.
    pub fn unreachable(&mut self) -> InstId {
        let void = self.ctx.types.void();
        self.inst(Op::Unreachable, Args::new(), void)
    }
}
