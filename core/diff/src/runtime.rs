//! Small functions that derivatives call, written as IR into the module on first use.
//!
//! All are internal and named `enzyme.rt.*`. Memory that can't be had is reported on standard error and ends the
//! program with `abort`: a derivative has no other way to say it.

use enzyme_ir::{
    Access, BinOp, BlockId, ByteRun, ByteType, CastOp, Const, FloatKind, Func, FuncId, Global, GlobalId, IntPred,
    Linkage, MemClass, Module, Op, Ordering, TypeId, ValueId,
};
use smallvec::smallvec;

use crate::emit::Emit;

/// Types that the helpers use.
pub(crate) struct Common {
    pub(crate) void: TypeId,
    pub(crate) ptr: TypeId,
    pub(crate) i64: TypeId,
}

pub(crate) fn common(module: &mut Module) -> Common {
    let types = &mut module.ctx.types;
    Common { void: types.void(), ptr: types.ptr(), i64: types.int(64) }
}

pub(crate) fn define(
    module: &mut Module,
    name: &str,
    ret: TypeId,
    params: &[TypeId],
    body: impl FnOnce(&mut Emit<'_>, &[ValueId]),
) -> FuncId {
    if let Some(f) = module.find_func(name).filter(|f| !module.funcs[*f].is_declaration()) {
        return f;
    }
    let id = module.declare(name, ret, params);
    let sig = module.funcs[id].sig;
    let mut func = Func::new(name, sig, params);
    func.linkage = Linkage::Internal;
    func.attrs.nounwind = true;
    let values = func.params.clone();
    let mut emit = Emit::new(module, func);
    let start = emit.new_block("start");
    emit.block = start;
    body(&mut emit, &values);
    let func = emit.finish(start);
    module.funcs[id] = func;
    id
}

/// A constant C string.
fn text(module: &mut Module, name: &str, value: &str) -> Const {
    let i8 = module.ctx.types.int(8);
    let mut bytes = value.as_bytes().to_vec();
    bytes.push(0);
    let ty = module.ctx.types.array(i8, bytes.len() as u64);
    let init = module.ctx.consts.intern(Const::Data { ty, bytes });
    let g = module.find_global(name).unwrap_or_else(|| {
        module.globals.push(Global {
            name: name.to_owned(),
            ty,
            init: Some(init),
            constant: true,
            linkage: Linkage::Internal,
            align: 1,
            thread_local: false,
            space: 0,
        })
    });
    Const::Global(g)
}

/// A variable of the program that is zero to begin with.
fn number(module: &mut Module, name: &str) -> GlobalId {
    let ty = module.ctx.types.int(64);
    let init = module.ctx.consts.intern(Const::Zero(ty));
    module.find_global(name).unwrap_or_else(|| {
        module.globals.push(Global {
            name: name.to_owned(),
            ty,
            init: Some(init),
            constant: false,
            linkage: Linkage::Internal,
            align: 8,
            thread_local: false,
            space: 0,
        })
    })
}

/// Ends the block: `p` is returned unless it is null and `bytes` is not zero.
fn return_or_abort(e: &mut Emit<'_>, p: ValueId, bytes: ValueId) {
    let c = common(e.module);
    let null = e.b().zero(c.ptr);
    let zero = e.b().i64(0);
    let is_null = e.b().icmp(IntPred::Eq, p, null);
    let wanted = e.b().icmp(IntPred::Ne, bytes, zero);
    let failed = e.b().binary(BinOp::And, is_null, wanted);
    let (bad, good) = (e.new_block("failed"), e.new_block("done"));
    e.b().cond_br(failed, bad, good);
    e.block = bad;
    let message = text(e.module, "enzyme.rt.oom", "enzyme: out of memory for the tape of a derivative");
    let message = e.module.ctx.consts.intern(message);
    let message = e.func.constant(message, c.ptr);
    e.call("perror", c.void, &[message]);
    let abort = e.module.declare("abort", c.void, &[]);
    e.call_func(abort, &[]);
    e.b().unreachable();
    e.block = good;
    e.b().ret(Some(p));
}

/// `ptr enzyme.rt.alloc(i64 bytes)`: `malloc` that does not fail.
pub fn alloc(module: &mut Module) -> FuncId {
    let c = common(module);
    define(module, "enzyme.rt.alloc", c.ptr, &[c.i64], |e, args| {
        let p = e.call("malloc", c.ptr, &[args[0]]);
        return_or_abort(e, p, args[0]);
    })
}

/// What `reserve` has a use for: glibc gives smaller blocks from memory that it keeps, and maps larger ones whatever was freed before.
const RESERVED_BYTES: std::ops::RangeInclusive<u64> = (32 << 10)..=(32 << 20);

/// Binary logarithm of how much more `reserve` has glibc keep, and the least: a derivative takes other memory beside one buffer or
/// several, and puts off what the program frees.
const KEPT_BESIDE: u64 = 2;
const LEAST_KEPT: u64 = 4 << 20;

/// `void enzyme.rt.reserve(i64 bytes)`: takes more than that at once, and gives it back untouched, unless it did before. From then on
/// glibc keeps that much of what is freed (mallopt(3), M_TRIM_THRESHOLD: it follows the largest block that was unmapped), where
/// buffers that are taken one by one would go back to the system, and come from there page by page, in every call of a derivative.
fn reserve(module: &mut Module) -> FuncId {
    let c = common(module);
    let f = define(module, "enzyme.rt.reserve", c.void, &[c.i64], |e, args| {
        let slot = e.slot(c.ptr, None);
        let kept = number(e.module, "enzyme.rt.kept");
        let kept = e.module.ctx.consts.intern(Const::Global(kept));
        let kept = e.func.constant(kept, c.ptr);
        // What another thread does meanwhile is done twice at worst.
        let shared = Access { ordering: Ordering::Monotonic, align: 8, ..Access::default() };
        let (least, range) = (e.b().i64(*RESERVED_BYTES.start()), RESERVED_BYTES.end() - RESERVED_BYTES.start());
        let (above, range) = (e.b().binary(BinOp::Sub, args[0], least), e.b().i64(range));
        let wanted = e.b().icmp(IntPred::Ule, above, range);
        let (take, done) = (e.new_block("take"), e.new_block("done"));
        e.b().cond_br(wanted, take, done);
        e.block = take;
        let factor = e.b().i64(KEPT_BESIDE);
        let mut all = e.b().binary(BinOp::Shl, args[0], factor);
        for (bound, pred) in [(LEAST_KEPT, IntPred::Ult), (*RESERVED_BYTES.end(), IntPred::Ugt)] {
            let bound = e.b().i64(bound);
            let beyond = e.b().icmp(pred, all, bound);
            all = e.choose(beyond, bound, all);
        }
        let before = e.b().value(Op::Load(shared), smallvec![kept], c.i64);
        let more = e.b().icmp(IntPred::Ugt, all, before);
        let first = e.new_block("first");
        e.b().cond_br(more, first, done);
        e.block = first;
        e.b().inst(Op::Store(shared), smallvec![all, kept], c.void);
        let p = e.call("malloc", c.ptr, &[all]);
        // LLVM drops memory that is freed unused; this one goes through a place that it may not look through.
        let access = Access { volatile: true, ..Access::default() };
        e.b().inst(Op::Store(access), smallvec![p, slot], c.void);
        let p = e.b().value(Op::Load(access), smallvec![slot], c.ptr);
        e.call("free", c.void, &[p]);
        e.b().br(done);
        e.block = done;
        e.b().ret(None);
    });
    module.funcs[f].attrs.inactive = true;
    f
}

/// Prepares for buffers of so many bytes that are allocated one by one.
pub fn expect(e: &mut Emit<'_>, bytes: &[ValueId]) {
    if let [first, others @ ..] = bytes
        && e.module.triple.contains("linux-gnu")
    {
        let total = others.iter().fold(*first, |sum, more| e.b().add(sum, *more));
        let f = reserve(e.module);
        e.call_func(f, &[total]);
    }
}

/// Bytes at multiples of which `malloc` puts memory, on every system with 8-byte pointers.
pub const MALLOC_ALIGN: u64 = 16;

/// `ptr enzyme.rt.alloc.aligned(i64 align, i64 bytes)`: `aligned_alloc` that does not fail, of any number of bytes.
pub(crate) fn alloc_aligned(module: &mut Module) -> FuncId {
    let c = common(module);
    define(module, "enzyme.rt.alloc.aligned", c.ptr, &[c.i64, c.i64], |e, args| {
        let one = e.b().i64(1);
        let zero = e.b().i64(0);
        let less = e.b().binary(BinOp::Sub, args[0], one);
        let up = e.b().binary(BinOp::Add, args[1], less);
        let mask = e.b().binary(BinOp::Sub, zero, args[0]);
        let size = e.b().binary(BinOp::And, up, mask);
        let p = e.call("aligned_alloc", c.ptr, &[args[0], size]);
        return_or_abort(e, p, size);
    })
}

/// `ptr enzyme.rt.grow(ptr old, i64 bytes)`: `realloc` that does not fail.
pub fn grow(module: &mut Module) -> FuncId {
    let c = common(module);
    define(module, "enzyme.rt.grow", c.ptr, &[c.ptr, c.i64], |e, args| {
        if e.module.triple.contains("linux-gnu") {
            let f = reserve(e.module);
            e.call_func(f, &[args[1]]);
        }
        let p = e.call("realloc", c.ptr, &[args[0], args[1]]);
        return_or_abort(e, p, args[1]);
    })
}

/// Ends the program with a message unless `shadow` differs from `primal`: active data is about to be stored in memory
/// that was declared constant, where its derivative would be lost.
pub fn require_shadow(e: &mut Emit<'_>, shadow: ValueId, primal: ValueId, place: &str) {
    let lost = e.b().icmp(IntPred::Eq, shadow, primal);
    let (bad, good) = (e.new_block("lost"), e.new_block("kept"));
    e.b().cond_br(lost, bad, good);
    e.block = bad;
    stop(e, place, "[E0302] active data is stored in memory that was declared constant");
    e.block = good;
}

/// As [`require_shadow`], of what is copied: `from` is shadow and primal of a source which may be constant too, and then may be copied
/// into such memory.
pub fn require_shadow_of_copy(e: &mut Emit<'_>, to: (ValueId, ValueId), from: Option<(ValueId, ValueId)>, place: &str) {
    let Some(from) = from else { return require_shadow(e, to.0, to.1, place) };
    let is_constant = e.b().icmp(IntPred::Eq, from.0, from.1);
    let ty = e.ty(to.0);
    let null = e.b().zero(ty);
    let shadow = e.choose(is_constant, null, to.0);
    require_shadow(e, shadow, to.1, place);
}

/// Ends the program with a message if there is memory at `primal` that was declared constant, of which `shadow` is no other: it is about
/// to be reallocated, and what holds its content then has a shadow.
pub fn require_own(e: &mut Emit<'_>, shadow: ValueId, primal: ValueId, place: &str) {
    let ty = e.ty(primal);
    let null = e.b().zero(ty);
    let constant = e.b().icmp(IntPred::Eq, shadow, primal);
    let some = e.b().icmp(IntPred::Ne, primal, null);
    let bad = e.b().binary(BinOp::And, constant, some);
    let (constant, own) = (e.new_block("constant"), e.new_block("own"));
    e.b().cond_br(bad, constant, own);
    e.block = constant;
    stop(e, place, "[E0203] memory that was declared constant is reallocated");
    e.block = own;
}

/// Ends the program, and the block, with a message.
pub fn stop(e: &mut Emit<'_>, place: &str, why: &str) {
    fail(e, &format!("{place}: enzyme: {why}\n"));
    e.b().unreachable();
}

/// Functions that a message names.
const NAMED: usize = 3;

/// Ends the program with a message: the call `op` went to a function that the derivative does not know, perhaps one that was refused.
pub fn refuse_target(e: &mut Emit<'_>, place: &str, op: &Op) {
    let mut message = format!(
        "{place}: enzyme: [E0202] active data enters a function that was not known at compile time, or has no derivative\n"
    );
    let module = &e.module;
    let fits = |name: &str| {
        op.call_info().is_some_and(|c| module.find_func(name).is_some_and(|f| module.funcs[f].sig == c.sig))
    };
    for why in module.refused.iter().filter(|(name, _)| fits(name)).take(NAMED).map(|(_, why)| why) {
        message.push_str(&format!("  it may be {why}\n"));
    }
    fail(e, &message);
}

/// Ends the program with a message unless the `bytes` of shadow memory at `shadow` are zero: they were taken for
/// characters, which have no derivative and lead nowhere.
pub fn require_zero(e: &mut Emit<'_>, shadow: ValueId, bytes: ValueId, place: &str) {
    let line =
        format!("{place}: enzyme: [E0301] bytes of unknown type that were taken for characters have a derivative\n");
    let message = message(e, &line);
    let length = e.b().i64(line.len() as u64);
    let f = zero_or_stop(e.module);
    e.call_func(f, &[shadow, bytes, message, length]);
}

/// `void enzyme.rt.zero_or_stop(ptr memory, i64 bytes, ptr message, i64 length)`.
pub(crate) fn zero_or_stop(module: &mut Module) -> FuncId {
    let c = common(module);
    define(module, "enzyme.rt.zero_or_stop", c.void, &[c.ptr, c.i64, c.ptr, c.i64], |e, args| {
        let (i8, i32) = (e.module.ctx.types.int(8), e.module.ctx.types.int(32));
        let (some, good, bad) = (e.new_block("some"), e.new_block("good"), e.new_block("bad"));
        let (none, one) = (e.b().i64(0), e.b().i64(1));
        let empty = e.b().icmp(IntPred::Eq, args[1], none);
        e.b().cond_br(empty, good, some);
        e.block = some;
        // All bytes are zero if the first one is and each is equal to the next.
        let first = e.b().load(i8, args[0], 1, MemClass::Shadow);
        let first = e.b().cast(CastOp::ZExt, first, i32);
        let next = e.b().byte_offset(args[0], one);
        let rest = e.b().binary(BinOp::Sub, args[1], one);
        let differs = e.call("memcmp", i32, &[args[0], next, rest]);
        let any = e.b().binary(BinOp::Or, first, differs);
        let zero = e.b().int(i32, 0);
        let clean = e.b().icmp(IntPred::Eq, any, zero);
        e.b().cond_br(clean, good, bad);
        e.block = bad;
        stop_with(e, args[2], args[3]);
        e.block = good;
        e.b().ret(None);
    })
}

/// Ends the program with a message of that length.
pub(crate) fn stop_with(e: &mut Emit<'_>, message: ValueId, length: ValueId) {
    let c = common(e.module);
    let i32 = e.module.ctx.types.int(32);
    let stderr = e.b().int(i32, 2);
    e.call("write", c.i64, &[stderr, message, length]);
    let abort = e.module.declare("abort", c.void, &[]);
    e.call_func(abort, &[]);
    e.b().unreachable();
}

/// The address of a constant text.
pub(crate) fn message(e: &mut Emit<'_>, line: &str) -> ValueId {
    let c = common(e.module);
    let name = format!("enzyme.rt.message.{}", e.module.globals.len());
    let message = text(e.module, &name, line);
    let message = e.module.ctx.consts.intern(message);
    e.func.constant(message, c.ptr)
}

/// Writes `line` to standard error and ends the program.
fn fail(e: &mut Emit<'_>, line: &str) {
    let c = common(e.module);
    let i32 = e.module.ctx.types.int(32);
    let message = message(e, line);
    let (stderr, length) = (e.b().int(i32, 2), e.b().i64(line.len() as u64));
    e.call("write", c.i64, &[stderr, message, length]);
    let abort = e.module.declare("abort", c.void, &[]);
    e.call_func(abort, &[]);
}

/// Ends the program with a message if `shadow` is null and `primal` is not: a pointer that a global variable has from
/// code that was not differentiated.
pub fn require_pointer_shadow(e: &mut Emit<'_>, shadow: ValueId, primal: ValueId, place: &str) {
    let ty = e.ty(primal);
    let null = e.b().zero(ty);
    let (no_shadow, is_set) = (e.b().icmp(IntPred::Eq, shadow, null), e.b().icmp(IntPred::Ne, primal, null));
    let lost = e.b().binary(BinOp::And, no_shadow, is_set);
    let (bad, good) = (e.new_block("lost"), e.new_block("kept"));
    e.b().cond_br(lost, bad, good);
    e.block = bad;
    let why = "[E0304] a pointer to active memory has no shadow: a global variable had it before the derivative began";
    stop(e, place, why);
    e.block = good;
}

/// `i64 enzyme.rt.times(i64, i64)`: the product, or the largest number if it overflows (which no allocation can have).
pub fn times(module: &mut Module) -> FuncId {
    let c = common(module);
    let i1 = module.ctx.types.int(1);
    let pair = module.ctx.types.tuple(vec![c.i64, i1]);
    define(module, "enzyme.rt.times", c.i64, &[c.i64, c.i64], |e, args| {
        let r = e.call("llvm.umul.with.overflow.i64", pair, &[args[0], args[1]]);
        let (product, over) = (e.b().extract_value(r, &[0]), e.b().extract_value(r, &[1]));
        let most = e.b().i64(u64::MAX);
        let out = e.choose(over, most, product);
        e.b().ret(Some(out));
    })
}

/// `KIND enzyme.rt.again.KIND(KIND value, i1 again)`: the value. Where `again` is true, it is stored to tape that holds it already:
/// the optimiser may leave that out (`core/llvm/bridge/again.cpp`).
pub fn again(module: &mut Module, kind: FloatKind) -> FuncId {
    let (float, i1) = (module.ctx.types.float(kind), module.ctx.types.int(1));
    let id = define(module, &format!("enzyme.rt.again.{}", kind.name()), float, &[float, i1], |e, args| {
        e.b().ret(Some(args[0]));
    });
    let attrs = &mut module.funcs[id].attrs;
    (attrs.no_read, attrs.no_write) = (true, true);
    id
}

/// `void enzyme.rt.add.KIND(ptr dst, ptr src, i64 bytes)`: adjoint of copying floats that do not overlap:
/// `src[k] += dst[k]; dst[k] = 0`. `dst == src` is allowed and does nothing. If `atomic` the sums are.
pub fn copy_adjoint(module: &mut Module, kind: FloatKind, atomic: bool) -> FuncId {
    let c = common(module);
    let float = module.ctx.types.float(kind);
    let size = module.ctx.layout.float_size(&mut module.ctx.types, kind);
    let name = format!("enzyme.rt.{}.{}", if atomic { "addatomically" } else { "add" }, kind.name());
    define(module, &name, c.void, &[c.ptr, c.ptr, c.i64], |e, args| {
        let same = e.b().icmp(IntPred::Eq, args[0], args[1]);
        let (work, done) = (e.new_block("work"), e.new_block("done"));
        e.b().cond_br(same, done, work);
        e.block = work;
        let width = e.b().i64(size);
        let count = e.b().binary(BinOp::UDiv, args[2], width);
        for_each(e, count, done, |e, index| {
            let (d, s) = (e.b().gep(float, args[0], &[index]), e.b().gep(float, args[1], &[index]));
            run_element(e, if atomic { RunWork::AddAtomically } else { RunWork::Add }, float, d, s);
        });
        e.block = done;
        e.b().ret(None);
    })
}

/// `void enzyme.rt.move.KIND(ptr dst, ptr src, i64 bytes)`: adjoint of moving floats between regions that may overlap:
/// the adjoints of `dst` are taken out, then added to `src`.
pub fn move_adjoint(module: &mut Module, kind: FloatKind, atomic: bool) -> FuncId {
    let c = common(module);
    let i1 = module.ctx.types.int(1);
    let alloc = alloc(module);
    let add = copy_adjoint(module, kind, atomic);
    let name = format!("enzyme.rt.{}.{}", if atomic { "moveatomically" } else { "move" }, kind.name());
    define(module, &name, c.void, &[c.ptr, c.ptr, c.i64], |e, args| {
        let held = e.call_func(alloc, &[args[2]]);
        let copy = e.module.declare("llvm.memcpy.p0.p0.i64", c.void, &[c.ptr, c.ptr, c.i64, i1]);
        let no = e.b().zero(i1);
        e.call_func(copy, &[held, args[0], args[2], no]);
        e.fill_zero(args[0], args[2]);
        e.call_func(add, &[held, args[1], args[2]]);
        e.call("free", c.void, &[held]);
        e.b().ret(None);
    })
}

/// What [`over_runs`] does with the pieces of a structure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunWork {
    /// The adjoint of copying the floats: `src += dst; dst = 0`.
    Add,
    /// The same, where several threads may add to `src` at once.
    AddAtomically,
    /// The adjoint of overwriting the floats: `dst = 0`.
    Clear,
    /// Copying the pointers: `dst = src`.
    Repeat,
}

/// `void enzyme.rt.runs.…(ptr dst, ptr src, i64 bytes)`: does `work` with all structures in that many bytes, of which
/// each has `period` bytes, made of `runs`. The regions do not overlap, or are the same.
pub fn over_runs(module: &mut Module, work: RunWork, runs: &[ByteRun], period: u64) -> FuncId {
    let c = common(module);
    let wanted = |r: &&ByteRun| match r.ty {
        ByteType::Float(_) => work != RunWork::Repeat,
        ByteType::Pointer => work == RunWork::Repeat,
        ByteType::Integer => false,
    };
    let runs: Vec<ByteRun> = runs.iter().filter(wanted).copied().collect();
    let mut name = format!("enzyme.rt.runs.{work:?}.{period}").to_lowercase();
    for r in &runs {
        let what = match r.ty {
            ByteType::Float(kind) => kind.name(),
            ByteType::Pointer | ByteType::Integer => "ptr",
        };
        name.push_str(&format!(".{}.{what}.{}", r.offset, r.size));
    }
    define(module, &name, c.void, &[c.ptr, c.ptr, c.i64], |e, args| {
        let (structures, done) = (e.new_block("structures"), e.new_block("done"));
        let same = e.b().icmp(IntPred::Eq, args[0], args[1]);
        e.b().cond_br(same, done, structures);
        e.block = structures;
        let width = e.b().i64(period.max(1));
        let count = e.b().binary(BinOp::UDiv, args[2], width);
        let (rest, piece) = (e.new_block("rest"), e.new_block("piece"));
        for_each(e, count, rest, |e, index| {
            let start = e.b().binary(BinOp::Mul, index, width);
            one_structure(e, work, &runs, args, start, false);
        });
        e.block = rest;
        let start = e.b().binary(BinOp::Mul, count, width);
        let partial = e.b().icmp(IntPred::Ult, start, args[2]);
        e.b().cond_br(partial, piece, done);
        e.block = piece;
        one_structure(e, work, &runs, args, start, true);
        e.b().br(done);
        e.block = done;
        e.b().ret(None);
    })
}

/// Does `work` with the structure at `start`; with what of it lies within the bytes given, if it may be cut.
fn one_structure(e: &mut Emit<'_>, work: RunWork, runs: &[ByteRun], args: &[ValueId], start: ValueId, cut: bool) {
    let ptr = e.module.ctx.types.ptr();
    for r in runs {
        let (ty, step) = match r.ty {
            ByteType::Float(kind) => {
                (e.module.ctx.types.float(kind), e.module.ctx.layout.float_size(&mut e.module.ctx.types, kind))
            }
            ByteType::Pointer | ByteType::Integer => (ptr, 8),
        };
        let elements = e.b().i64((r.size / step.max(1)).max(1));
        let after = e.new_block("after");
        for_each(e, elements, after, |e, k| {
            let (first, step) = (e.b().i64(r.offset), e.b().i64(step));
            let within = e.b().binary(BinOp::Mul, k, step);
            let within = e.b().add(within, first);
            let offset = e.b().add(start, within);
            let next = e.new_block("next");
            if cut {
                let end = e.b().add(offset, step);
                let fits = e.b().icmp(IntPred::Ule, end, args[2]);
                let whole = e.new_block("whole");
                e.b().cond_br(fits, whole, next);
                e.block = whole;
            }
            let d = e.b().byte_offset(args[0], offset);
            let s = e.b().byte_offset(args[1], offset);
            run_element(e, work, ty, d, s);
            e.b().br(next);
            e.block = next;
        });
        e.block = after;
    }
}

/// As [`over_runs`], for regions that may overlap by any number of bytes: by way of a copy.
pub fn over_moved_runs(module: &mut Module, work: RunWork, runs: &[ByteRun], period: u64) -> FuncId {
    let c = common(module);
    let i1 = module.ctx.types.int(1);
    let alloc = alloc(module);
    let (inner, clear) = (over_runs(module, work, runs, period), over_runs(module, RunWork::Clear, runs, period));
    let name = module.funcs[inner].name.replace("enzyme.rt.runs.", "enzyme.rt.moved.");
    define(module, &name, c.void, &[c.ptr, c.ptr, c.i64], |e, args| {
        let held = e.call_func(alloc, &[args[2]]);
        let from = if work == RunWork::Repeat { args[1] } else { args[0] };
        let copy = e.module.declare("llvm.memcpy.p0.p0.i64", c.void, &[c.ptr, c.ptr, c.i64, i1]);
        let no = e.b().zero(i1);
        e.call_func(copy, &[held, from, args[2], no]);
        match work {
            RunWork::Repeat => drop(e.call_func(inner, &[args[0], held, args[2]])),
            RunWork::Add | RunWork::AddAtomically => {
                let null = e.b().zero(c.ptr);
                e.call_func(clear, &[args[0], null, args[2]]);
                e.call_func(inner, &[held, args[1], args[2]]);
            }
            RunWork::Clear => {}
        }
        e.call("free", c.void, &[held]);
        e.b().ret(None);
    })
}

fn run_element(e: &mut Emit<'_>, work: RunWork, ty: TypeId, d: ValueId, s: ValueId) {
    match work {
        RunWork::Repeat => {
            let v = e.b().load(ty, s, 1, MemClass::Shadow);
            e.b().store(v, d, 1, MemClass::Shadow);
        }
        RunWork::Clear => {
            let zero = e.b().zero(ty);
            e.b().store(zero, d, 1, MemClass::Shadow);
        }
        RunWork::AddAtomically => {
            let x = e.b().load(ty, d, 1, MemClass::Shadow);
            let zero = e.b().zero(ty);
            e.b().store(zero, d, 1, MemClass::Shadow);
            e.add_atomically(s, x, MemClass::Shadow);
        }
        RunWork::Add => {
            let x = e.b().load(ty, d, 1, MemClass::Shadow);
            let zero = e.b().zero(ty);
            e.b().store(zero, d, 1, MemClass::Shadow);
            let y = e.b().load(ty, s, 1, MemClass::Shadow);
            let sum = e.b().binary(BinOp::FAdd, y, x);
            e.b().store(sum, s, 1, MemClass::Shadow);
        }
    }
}

/// `bytes`, or the size of the allocation `old` (0 for null) if that is smaller.
pub fn common_bytes(e: &mut Emit<'_>, old: ValueId, bytes: ValueId) -> ValueId {
    let i64 = e.module.ctx.types.int(64);
    let size = e.call("malloc_usable_size", i64, &[old]);
    let smaller = e.b().icmp(IntPred::Ult, size, bytes);
    e.choose(smaller, size, bytes)
}

/// `void (ptr)`: releases memory by `symbol`, which wants to be told the alignment.
pub fn release_aligned(module: &mut Module, symbol: &str, align: u64) -> FuncId {
    let c = common(module);
    define(module, &format!("enzyme.rt.release.{symbol}.{align}"), c.void, &[c.ptr], |e, args| {
        let align = e.b().i64(align);
        e.call(symbol, c.void, &[args[0], align]);
        e.b().ret(None);
    })
}

/// Runs `body` with `0 .. count`, then goes to `done`.
pub(crate) fn for_each(e: &mut Emit<'_>, count: ValueId, done: BlockId, body: impl FnOnce(&mut Emit<'_>, ValueId)) {
    let i64 = e.ty(count);
    let (zero, one) = (e.b().i64(0), e.b().i64(1));
    let before = e.block;
    let (head, inner) = (e.new_block("head"), e.new_block("body"));
    e.go(head);
    let index = e.b().phi(i64, &[(before, zero)]);
    let more = e.b().icmp(IntPred::Ult, index, count);
    e.b().cond_br(more, inner, done);
    e.block = inner;
    body(e, index);
    let next = e.b().add(index, one);
    let end = e.block;
    e.b().br(head);
    if let Some(phi) = e.func.def_inst(index) {
        if let Op::Phi(blocks) = &mut e.func.insts[phi].op {
            blocks.push(end);
        }
        e.func.insts[phi].args.push(next);
    }
}

/// Loops in whose iterations a store writes one element each.
pub const HELD_DEPTH: usize = 3;

/// Runs `body` with the position and address of each element: counts and strides in bytes, the innermost loop first.
fn for_elements(
    e: &mut Emit<'_>,
    start: ValueId,
    steps: &[ValueId],
    position: ValueId,
    done: BlockId,
    body: &mut dyn FnMut(&mut Emit<'_>, ValueId, ValueId),
) {
    let [inner @ .., count, stride] = steps else {
        body(e, position, start);
        e.b().br(done);
        return;
    };
    for_each(e, *count, done, |e, n| {
        let offset = e.b().binary(BinOp::Mul, n, *stride);
        let at = e.b().byte_offset(start, offset);
        let before = e.b().binary(BinOp::Mul, position, *count);
        let position = e.b().add(before, n);
        let next = e.new_block("next");
        for_elements(e, at, inner, position, next, body);
        e.block = next;
    });
}

/// `ptr enzyme.rt.hold(ptr start, i64 count, i64 stride, ...)`: a copy of the elements that some loops go through.
pub fn hold(module: &mut Module, kind: FloatKind) -> FuncId {
    let c = common(module);
    let ty = module.ctx.types.float(kind);
    let (alloc, times) = (alloc(module), times(module));
    let size = module.ctx.layout.float_size(&mut module.ctx.types, kind);
    let params: Vec<TypeId> = [c.ptr].into_iter().chain([c.i64; 2 * HELD_DEPTH]).collect();
    let name = format!("enzyme.rt.hold.{}", kind.name());
    define(module, &name, c.ptr, &params, |e, args| {
        let mut bytes = e.b().i64(size);
        for count in args[1..].iter().step_by(2) {
            bytes = e.call_func(times, &[bytes, *count]);
        }
        let data = e.call_func(alloc, &[bytes]);
        let (zero, done) = (e.b().i64(0), e.new_block("done"));
        for_elements(e, args[0], &args[1..], zero, done, &mut |e, n, at| {
            let v = e.b().load(ty, at, 1, MemClass::Primal);
            let to = e.b().gep(ty, data, &[n]);
            e.b().store(v, to, 1, MemClass::Tape);
        });
        e.block = done;
        e.b().ret(Some(data));
    })
}

/// `void enzyme.rt.put_back(ptr data, ptr start, i64 count, i64 stride, ...)`: writes the elements of such a copy where they were,
/// and frees it; nothing if it is null.
pub fn put_back(module: &mut Module, kind: FloatKind) -> FuncId {
    let c = common(module);
    let ty = module.ctx.types.float(kind);
    let params: Vec<TypeId> = [c.ptr, c.ptr].into_iter().chain([c.i64; 2 * HELD_DEPTH]).collect();
    let name = format!("enzyme.rt.put_back.{}", kind.name());
    define(module, &name, c.void, &params, |e, args| {
        let (null, zero) = (e.b().zero(c.ptr), e.b().i64(0));
        let is_null = e.b().icmp(IntPred::Eq, args[0], null);
        let (held, done, end) = (e.new_block("held"), e.new_block("done"), e.new_block("end"));
        e.b().cond_br(is_null, end, held);
        e.block = held;
        let data = args[0];
        for_elements(e, args[1], &args[2..], zero, done, &mut |e, n, at| {
            let from = e.b().gep(ty, data, &[n]);
            let v = e.b().load(ty, from, 1, MemClass::Tape);
            e.b().store(v, at, 1, MemClass::Primal);
        });
        e.block = done;
        e.call("free", c.void, &[data]);
        e.b().br(end);
        e.block = end;
        e.b().ret(None);
    })
}

/// The address of a field of a node on the list of tapes of products.
fn product_field(e: &mut Emit<'_>, c: &Common, node: ValueId, n: u64) -> ValueId {
    let (ty, i32) = (e.module.ctx.types.tuple(vec![c.ptr, c.ptr]), e.module.ctx.types.int(32));
    let (zero, field) = (e.b().int(i32, 0), e.b().int(i32, n));
    e.b().gep(ty, node, &[zero, field])
}

/// `void enzyme.rt.products.defer(ptr head, ptr tape)`: puts the tape of a product on the list at `head`, if there is one. The list
/// leads to floats alone, which the list of all else does not: derivatives of derivatives tell them apart by that.
pub fn defer_product(module: &mut Module) -> FuncId {
    let c = common(module);
    let alloc = alloc(module);
    define(module, "enzyme.rt.products.defer", c.void, &[c.ptr, c.ptr], |e, args| {
        let (some, done) = (e.new_block("some"), e.new_block("done"));
        let null = e.b().zero(c.ptr);
        let is_some = e.b().icmp(IntPred::Ne, args[1], null);
        e.b().cond_br(is_some, some, done);
        e.block = some;
        let bytes = e.b().i64(16);
        let new = e.call_func(alloc, &[bytes]);
        let next = e.b().load(c.ptr, args[0], 0, MemClass::Tape);
        for (n, v) in [next, args[1]].into_iter().enumerate() {
            let at = product_field(e, &c, new, n as u64);
            e.b().store(v, at, 0, MemClass::Tape);
        }
        e.b().store(new, args[0], 0, MemClass::Tape);
        e.b().br(done);
        e.block = done;
        e.b().ret(None);
    })
}

/// `void enzyme.rt.products.release(ptr list)`: frees the tapes of products.
pub fn release_products(module: &mut Module) -> FuncId {
    let c = common(module);
    define(module, "enzyme.rt.products.release", c.void, &[c.ptr], |e, args| {
        let before = e.block;
        let (head, body, done) = (e.new_block("head"), e.new_block("body"), e.new_block("done"));
        e.go(head);
        let at = e.b().phi(c.ptr, &[(before, args[0])]);
        let null = e.b().zero(c.ptr);
        let more = e.b().icmp(IntPred::Ne, at, null);
        e.b().cond_br(more, body, done);
        e.block = body;
        let fields = [0, 1].map(|n| {
            let address = product_field(e, &c, at, n);
            e.b().load(c.ptr, address, 0, MemClass::Tape)
        });
        e.call("free", c.void, &[fields[1]]);
        e.call("free", c.void, &[at]);
        let body = e.block;
        e.b().br(head);
        if let Some(phi) = e.func.def_inst(at) {
            if let Op::Phi(blocks) = &mut e.func.insts[phi].op {
                blocks.push(body);
            }
            e.func.insts[phi].args.push(fields[0]);
        }
        e.block = done;
        e.b().ret(None);
    })
}
