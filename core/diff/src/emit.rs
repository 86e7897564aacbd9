//! A function being written, with the module it will belong to.
//!
//! [`Emit`] keeps the block at hand and hands out [`Builder`]s for it, declares callees, and holds the few forms of
//! arithmetic that all derivatives share. Stack slots go to an entry block of their own, so that LLVM promotes them.
//!
//! Adjoints start from **minus** zero: it is the neutral element of IEEE addition (`-0.0 + x` is `x` for every `x`), so
//! that the first contribution to an adjoint costs nothing after promotion, without any fast-math flag.

use enzyme_ir::{
    Access, BinOp, BlockId, Builder, CastOp, Const, FastMath, Func, FuncId, Inst, Like, MemClass, Module, Op, Ordering,
    Origin, RmwOp, Type, TypeId, ValueId,
};
use smallvec::smallvec;

/// A function being written.
pub struct Emit<'m> {
    /// The module, without the function.
    pub module: &'m mut Module,
    /// The function.
    pub func: Func,
    /// Where stack slots go.
    pub entry: BlockId,
    /// Where instructions go.
    pub block: BlockId,
    /// Source location of instructions.
    pub loc: Option<enzyme_ir::LocId>,
    /// Flags of derivative arithmetic.
    pub fast: FastMath,
    /// The memory of the lane at hand.
    pub shadow: MemClass,
    /// The access of the primal that is repeated or mirrored in its place.
    pub scoped: Option<Origin>,
}

impl<'m> Emit<'m> {
    /// `start`, moved as far as `to` is from `from`.
    pub fn moved_alike(&mut self, start: ValueId, from: ValueId, to: ValueId) -> ValueId {
        let i64 = self.module.ctx.types.int(64);
        let [to, from] = [to, from].map(|p| self.b().cast(CastOp::PtrToInt, p, i64));
        let distance = self.b().binary(BinOp::Sub, to, from);
        self.b().byte_offset(start, distance)
    }

    /// Starts the body of `func`, which has no blocks yet.
    pub fn new(module: &'m mut Module, mut func: Func) -> Emit<'m> {
        let entry = func.add_block(Some("entry".to_owned()));
        Emit {
            module,
            func,
            entry,
            block: entry,
            loc: None,
            fast: FastMath::empty(),
            shadow: MemClass::Shadow,
            scoped: None,
        }
    }

    /// A builder at the block at hand.
    pub fn b(&mut self) -> Builder<'_> {
        let mut b = Builder::new(&mut self.module.ctx, &mut self.func, self.block);
        b.loc = self.loc;
        b.fast = self.fast;
        b
    }

    /// A builder at the entry block.
    pub fn at_entry(&mut self) -> Builder<'_> {
        Builder::new(&mut self.module.ctx, &mut self.func, self.entry)
    }

    /// A load from the shadow memory of the lane at hand.
    pub fn load_in_lane(&mut self, ty: TypeId, addr: ValueId, align: u32) -> ValueId {
        let (shadow, scoped) = (self.shadow, self.scoped);
        let v = self.b().load(ty, addr, align, shadow);
        if let Some(i) = self.func.def_inst(v) {
            self.func.insts[i].scoped = scoped;
        }
        v
    }

    /// A store into the shadow memory of the lane at hand.
    pub fn store_in_lane(&mut self, v: ValueId, addr: ValueId, align: u32) {
        let (shadow, scoped) = (self.shadow, self.scoped);
        let i = self.b().store(v, addr, align, shadow);
        self.func.insts[i].scoped = scoped;
    }

    /// `memory += amount` of one float, as one operation among those of all threads.
    pub fn add_atomically(&mut self, addr: ValueId, amount: ValueId, mem: MemClass) {
        let ty = self.ty(amount);
        let access = Access { ordering: Ordering::Monotonic, ..Access::default() };
        let id = self.b().inst(Op::AtomicRmw(RmwOp::FAdd, access), smallvec![addr, amount], ty);
        self.func.insts[id].mem = mem;
    }

    /// A new block.
    pub fn new_block(&mut self, name: &str) -> BlockId {
        self.func.add_block(Some(name.to_owned()))
    }

    /// Type of a value.
    pub fn ty(&self, v: ValueId) -> TypeId {
        self.func.ty(v)
    }

    /// The block `b` repeats `of`, or turns it round.
    pub fn runs_for(&mut self, b: BlockId, primal: &Func, of: BlockId, turned: bool) {
        let end = primal.terminator(of).and_then(|t| primal.insts[t].origin);
        self.func.blocks[b].like = end.map(|end| Like { end, turned });
    }

    /// A stack slot for one `ty`, in the entry block, holding `init`.
    pub fn slot(&mut self, ty: TypeId, init: Option<ValueId>) -> ValueId {
        let mut b = self.at_entry();
        let slot = b.alloca(ty);
        if let Some(v) = init {
            b.store(v, slot, 0, MemClass::Unknown);
        }
        slot
    }

    /// Calls `name`, declaring it if need be.
    pub fn call(&mut self, name: &str, ret: TypeId, args: &[ValueId]) -> ValueId {
        let params: Vec<TypeId> = args.iter().map(|a| self.func.ty(*a)).collect();
        let f = self.module.declare(name, ret, &params);
        // Where the program declares it otherwise (Julia: pointers as integers), this is the type it is called by.
        let sig = self.module.ctx.types.func(ret, params);
        self.b().call(f, sig, args)
    }

    /// Calls a function of the module.
    pub fn call_func(&mut self, f: FuncId, args: &[ValueId]) -> ValueId {
        let sig = self.module.funcs[f].sig;
        self.b().call(f, sig, args)
    }

    /// The neutral element of addition of a type that carries floats: `-0.0` in floats, zero elsewhere.
    pub fn neutral(&mut self, ty: TypeId) -> ValueId {
        let c = neutral_const(self.module, ty);
        self.func.constant(c, ty)
    }

    /// Whether `v` is the neutral constant of its type, or plus zero.
    pub fn is_neutral(&mut self, v: ValueId) -> bool {
        let ty = self.func.ty(v);
        let Some(c) = self.func.as_const(v) else { return false };
        self.module.ctx.is_zero(c) || c == neutral_const(self.module, ty)
    }

    /// Sum of two values of a type that carries floats; integers and pointers in it are those of `a`.
    pub fn sum(&mut self, a: ValueId, b: ValueId) -> ValueId {
        if self.is_neutral(b) {
            return a;
        }
        if self.is_neutral(a) {
            return b;
        }
        let ty = self.func.ty(a);
        match self.module.ctx.types[ty].clone() {
            Type::Float(_) | Type::Vector { .. } => self.b().binary(enzyme_ir::BinOp::FAdd, a, b),
            Type::Struct(s) => {
                let fields = s.fields.unwrap_or_default();
                self.sum_parts(a, b, &fields)
            }
            Type::Array { elem, len } => {
                let fields = vec![elem; usize::try_from(len).unwrap_or(0)];
                self.sum_parts(a, b, &fields)
            }
            Type::Void
            | Type::Int(_)
            | Type::Ptr(_)
            | Type::Func { .. }
            | Type::Label
            | Type::Metadata
            | Type::Token
            | Type::X86Amx
            | Type::TargetExt { .. } => a,
        }
    }

    fn sum_parts(&mut self, a: ValueId, b: ValueId, fields: &[TypeId]) -> ValueId {
        let mut out = a;
        for (n, field) in fields.iter().enumerate() {
            if !self.module.ctx.types.contains_float(*field) {
                continue;
            }
            let path = [n as u32];
            let (x, y) = (self.b().extract_value(a, &path), self.b().extract_value(b, &path));
            let s = self.sum(x, y);
            out = self.b().insert_value(out, s, &path);
        }
        out
    }

    /// Copies an instruction with other operands and targets; its result, if it has one.
    pub fn copy(&mut self, inst: &Inst, args: &[ValueId], mem: MemClass) -> Option<ValueId> {
        let mut copy = inst.clone();
        copy.args = args.iter().copied().collect();
        copy.mem = mem;
        copy.scoped = self.scoped;
        let id = self.b().place(copy);
        self.func.insts[id].result
    }

    /// Loads from shadow memory with the alignment of a primal access.
    pub fn load_shadow(&mut self, ty: TypeId, addr: ValueId, access: Access) -> ValueId {
        let align = self.shadow_align(ty, access.align);
        self.load_in_lane(ty, addr, align)
    }

    /// Stores to shadow memory with the alignment of a primal access.
    pub fn store_shadow(&mut self, v: ValueId, addr: ValueId, access: Access) {
        let align = self.shadow_align(self.ty(v), access.align);
        self.store_in_lane(v, addr, align);
    }

    /// The alignment of an access to shadow memory where the primal one has `align`: programs find out at run time where
    /// vectors may begin in their memory, and the shadow need not lie as the primal does.
    pub fn shadow_align(&self, ty: TypeId, align: u32) -> u32 {
        let ctx = &self.module.ctx;
        match ctx.types[ty] {
            Type::Vector { elem, .. } => {
                let lane = ctx.layout.size_of(&ctx.types, elem).unwrap_or(1).min(16) as u32;
                if align == 0 { lane } else { align.min(lane) }
            }
            _ => align,
        }
    }

    /// A shadow address at which `ty` may be written in any case: `shadow`, or a slot of its own holding zero if it equals
    /// `primal`, which says that the memory there has no shadow.
    pub fn guarded(&mut self, shadow: ValueId, primal: ValueId, ty: TypeId) -> ValueId {
        let zero = self.module.ctx.zero(ty);
        let zero = self.func.constant(zero, ty);
        let spare = self.slot(ty, None);
        self.b().store(zero, spare, 0, MemClass::Unknown);
        let none = self.b().icmp(enzyme_ir::IntPred::Eq, shadow, primal);
        self.choose(none, spare, shadow)
    }

    /// `bytes`, or zero if `shadow` equals `primal`.
    pub fn guarded_bytes(&mut self, shadow: ValueId, primal: ValueId, bytes: ValueId) -> ValueId {
        let ty = self.func.ty(bytes);
        let zero = self.b().zero(ty);
        let none = self.b().icmp(enzyme_ir::IntPred::Eq, shadow, primal);
        self.choose(none, zero, bytes)
    }

    /// `memset(addr, 0, bytes)`.
    pub fn fill_zero(&mut self, addr: ValueId, bytes: ValueId) {
        let (i8, i1) = (self.module.ctx.types.int(8), self.module.ctx.types.int(1));
        let (ptr, void) = (self.module.ctx.types.ptr(), self.module.ctx.types.void());
        let i64 = self.module.ctx.types.int(64);
        let bytes = self.to_i64(bytes);
        let f = self.module.declare("llvm.memset.p0.i64", void, &[ptr, i8, i64, i1]);
        let (zero, no) = (self.b().zero(i8), self.b().zero(i1));
        self.call_func(f, &[addr, zero, bytes, no]);
    }

    /// `memmove(to, from, bytes)`.
    pub fn move_bytes(&mut self, to: ValueId, from: ValueId, bytes: ValueId) {
        let i1 = self.module.ctx.types.int(1);
        let (ptr, void) = (self.module.ctx.types.ptr(), self.module.ctx.types.void());
        let i64 = self.module.ctx.types.int(64);
        let f = self.module.declare("llvm.memmove.p0.p0.i64", void, &[ptr, ptr, i64, i1]);
        let no = self.b().zero(i1);
        self.call_func(f, &[to, from, bytes, no]);
    }

    /// An integer as `i64`, zero-extended.
    pub fn to_i64(&mut self, v: ValueId) -> ValueId {
        let i64 = self.module.ctx.types.int(64);
        self.to_int(v, i64)
    }

    /// An integer as the integer type `ty`, zero-extended or truncated.
    pub fn to_int(&mut self, v: ValueId, ty: TypeId) -> ValueId {
        let bits = |t: TypeId, m: &Module| match m.ctx.types[t] {
            Type::Int(n) => n,
            _ => 64,
        };
        let from = bits(self.func.ty(v), self.module);
        let to = bits(ty, self.module);
        match from.cmp(&to) {
            std::cmp::Ordering::Less => self.b().cast(enzyme_ir::CastOp::ZExt, v, ty),
            std::cmp::Ordering::Greater => self.b().cast(enzyme_ir::CastOp::Trunc, v, ty),
            std::cmp::Ordering::Equal => v,
        }
    }

    /// A float, or vector of floats, in another format.
    pub fn to_float(&mut self, v: ValueId, ty: TypeId) -> ValueId {
        let kind = |t: TypeId, m: &Module| m.ctx.types.float_kind(t).map_or(0, enzyme_ir::FloatKind::bits);
        let (from, to) = (kind(self.func.ty(v), self.module), kind(ty, self.module));
        match from.cmp(&to) {
            std::cmp::Ordering::Less => self.b().cast(enzyme_ir::CastOp::FPExt, v, ty),
            std::cmp::Ordering::Greater => self.b().cast(enzyme_ir::CastOp::FPTrunc, v, ty),
            std::cmp::Ordering::Equal => v,
        }
    }

    /// An unconditional branch, and the builder goes to its target.
    pub fn go(&mut self, to: BlockId) {
        self.b().br(to);
        self.block = to;
    }

    /// A value inserted as an aggregate's fields, in order; `None` where there are no fields.
    pub fn tuple(&mut self, ty: TypeId, fields: &[ValueId]) -> Option<ValueId> {
        if fields.is_empty() {
            return None;
        }
        let mut out = self.b().poison(ty);
        for (n, v) in fields.iter().enumerate() {
            out = self.b().insert_value(out, *v, &[n as u32]);
        }
        Some(out)
    }

    /// Selects between values of any type.
    pub fn choose(&mut self, cond: ValueId, a: ValueId, b: ValueId) -> ValueId {
        if a == b {
            return a;
        }
        let ty = self.func.ty(a);
        self.b().value(Op::Select, smallvec![cond, a, b], ty)
    }

    /// Ends the entry block with a branch to `body`, and gives back the function.
    pub fn finish(mut self, body: BlockId) -> Func {
        self.at_entry().br(body);
        self.func
    }
}

fn neutral_const(module: &mut Module, ty: TypeId) -> enzyme_ir::ConstId {
    match module.ctx.types[ty].clone() {
        Type::Float(_) => module.ctx.float(ty, -0.0),
        Type::Vector { elem, scalable: false, .. } if module.ctx.types.is_float_or_vector(elem) => {
            module.ctx.float(ty, -0.0)
        }
        Type::Struct(s) if module.ctx.types.contains_float(ty) => {
            let fields = s.fields.unwrap_or_default();
            let elems = fields.iter().map(|f| neutral_const(module, *f)).collect();
            module.ctx.consts.intern(Const::Aggregate { ty, elems })
        }
        Type::Array { elem, len } if module.ctx.types.contains_float(ty) && len <= 4096 => {
            let e = neutral_const(module, elem);
            module.ctx.consts.intern(Const::Aggregate { ty, elems: vec![e; len as usize] })
        }
        _ => module.ctx.zero(ty),
    }
}
