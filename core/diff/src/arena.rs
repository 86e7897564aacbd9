//! Memory that split derivatives take between their sweeps: an arena for each outermost derivative, and the list of what is
//! released at its end.
//!
//! A call of a function that is differentiated takes many small pieces of memory: its tape, stack slots that outlive it, rows of
//! loops with few iterations. Each by `malloc` costs more than what is computed with it. Pieces of up to [`POOLED`] bytes are
//! cut from chunks instead (region allocation, D. T. Ross 1967; each chunk twice as large as the last), which stay until
//! the outermost derivative returns, or an exception leaves it. Larger pieces are allocated by themselves, and freed as soon as
//! the reverse sweep is done with them: so the peak is that of the forward sweep with or without arena.
//!
//! The arena is a record in the frame of the outermost derivative, of which each augmented primal gets the address: the list of
//! what is released, where the chunk goes on, the bytes left in it, the size of the last chunk. Chunks are on that list, with
//! their node in front of them.
//!
//! An arena holds data of all kinds at places that nobody knows beforehand. Where derivatives are differentiated themselves, each
//! of these functions stands for what allocates, or frees, one piece (`core/llvm/bridge/tape.cpp`). So what is written here
//! is called even where it does nothing.

use enzyme_ir::{BinOp, CastOp, FuncId, IntPred, MemClass, Module, Op, TypeId, ValueId};
use smallvec::smallvec;

use crate::emit::Emit;
use crate::runtime::{Common, MALLOC_ALIGN, alloc, alloc_aligned, common, define, expect, grow};

/// Bytes of the largest piece that is cut from a chunk.
pub const POOLED: u64 = 1024;

/// Bytes of the first chunk, which glibc keeps for the thread, and of the largest.
const CHUNKS: (u64, u64) = (1024, 4 << 20);

/// Bytes of a node of the list, and of what comes before the first piece of a chunk.
const NODE: (u64, u64) = (24, 32);

/// Offsets in the record: where the chunk goes on, the bytes left, the size of the last chunk. The list comes first.
const PLACE: u64 = 8;
const LEFT: u64 = 16;
const LAST: u64 = 24;

/// A new arena, in the frame of the function.
pub fn make(e: &mut Emit<'_>) -> ValueId {
    let c = common(e.module);
    let ty = e.module.ctx.types.tuple(vec![c.ptr, c.ptr, c.i64, c.i64]);
    let mut b = e.at_entry();
    let (arena, null, none) = (b.alloca(ty), b.zero(c.ptr), b.i64(0));
    for (offset, value) in [(0, null), (PLACE, null), (LEFT, none), (LAST, none)] {
        let offset = b.i64(offset);
        let at = b.byte_offset(arena, offset);
        b.store(value, at, 0, MemClass::Unknown);
    }
    arena
}

fn field(e: &mut Emit<'_>, arena: ValueId, offset: u64) -> ValueId {
    let offset = e.b().i64(offset);
    e.b().byte_offset(arena, offset)
}

/// Writes a node of the list to `node`, and puts it first.
fn put(e: &mut Emit<'_>, arena: ValueId, node: ValueId, memory: ValueId, release: ValueId) {
    let ty = node_type(e.module);
    let (ptr, i32) = (e.module.ctx.types.ptr(), e.module.ctx.types.int(32));
    let next = e.b().load(ptr, arena, 0, MemClass::Tape);
    for (n, v) in [next, memory, release].into_iter().enumerate() {
        let (zero, field) = (e.b().int(i32, 0), e.b().int(i32, n as u64));
        let at = e.b().gep(ty, node, &[zero, field]);
        e.b().store(v, at, 0, MemClass::Tape);
    }
    e.b().store(node, arena, 0, MemClass::Tape);
}

fn node_type(module: &mut Module) -> TypeId {
    let ptr = module.ctx.types.ptr();
    module.ctx.types.tuple(vec![ptr, ptr, ptr])
}

/// Whether `bytes` are taken from chunks; a value of the program.
fn is_pooled(e: &mut Emit<'_>, bytes: ValueId) -> ValueId {
    let most = e.b().i64(POOLED);
    e.b().icmp(IntPred::Ule, bytes, most)
}

/// `ptr enzyme.rt.take(ptr arena, i64 bytes)`: memory at a multiple of [`MALLOC_ALIGN`].
pub fn take(module: &mut Module) -> FuncId {
    let c = common(module);
    let alloc = alloc(module);
    define(module, "enzyme.rt.take", c.ptr, &[c.ptr, c.i64], |e, args| {
        let (small, large) = (e.new_block("small"), e.new_block("large"));
        let pooled = is_pooled(e, args[1]);
        e.b().cond_br(pooled, small, large);
        e.block = large;
        let p = e.call_func(alloc, &[args[1]]);
        e.b().ret(Some(p));
        e.block = small;
        let p = cut(e, &c, args[0], args[1]);
        e.b().ret(Some(p));
    })
}

/// `ptr enzyme.rt.take.aligned(ptr arena, i64 align, i64 bytes)`: the same at a multiple of a power of two beyond that.
pub fn take_aligned(module: &mut Module) -> FuncId {
    let c = common(module);
    let alloc = alloc_aligned(module);
    define(module, "enzyme.rt.take.aligned", c.ptr, &[c.ptr, c.i64, c.i64], |e, args| {
        let (small, large) = (e.new_block("small"), e.new_block("large"));
        let pooled = is_pooled(e, args[2]);
        e.b().cond_br(pooled, small, large);
        e.block = large;
        let p = e.call_func(alloc, &[args[1], args[2]]);
        e.b().ret(Some(p));
        e.block = small;
        let room = e.b().add(args[2], args[1]);
        let p = cut(e, &c, args[0], room);
        let (at, none, one) = (e.b().cast(CastOp::PtrToInt, p, c.i64), e.b().i64(0), e.b().i64(1));
        let back = e.b().binary(BinOp::Sub, none, at);
        let less = e.b().binary(BinOp::Sub, args[1], one);
        let skipped = e.b().binary(BinOp::And, back, less);
        let p = e.b().byte_offset(p, skipped);
        e.b().ret(Some(p));
    })
}

/// Memory from a chunk. Written out in what takes it, as LLVM inlines nothing into what is made this late.
fn cut(e: &mut Emit<'_>, c: &Common, arena: ValueId, bytes: ValueId) -> ValueId {
    let chunk = chunk(e.module);
    let (ready, short) = (e.new_block("ready"), e.new_block("short"));
    let (up, mask) = (e.b().i64(MALLOC_ALIGN - 1), e.b().i64(!(MALLOC_ALIGN - 1)));
    let size = e.b().add(bytes, up);
    let size = e.b().binary(BinOp::And, size, mask);
    let at = field(e, arena, LEFT);
    let left = e.b().load(c.i64, at, 0, MemClass::Tape);
    let fits = e.b().icmp(IntPred::Ule, size, left);
    e.b().cond_br(fits, ready, short);
    e.block = short;
    e.call_func(chunk, &[arena, size]);
    e.b().br(ready);
    e.block = ready;
    let (place, left) = (field(e, arena, PLACE), field(e, arena, LEFT));
    let p = e.b().load(c.ptr, place, 0, MemClass::Tape);
    let next = e.b().byte_offset(p, size);
    e.b().store(next, place, 0, MemClass::Tape);
    let before = e.b().load(c.i64, left, 0, MemClass::Tape);
    let after = e.b().binary(BinOp::Sub, before, size);
    e.b().store(after, left, 0, MemClass::Tape);
    p
}

/// `void enzyme.rt.chunk(ptr arena, i64 size)`: begins a chunk with room for `size` bytes.
fn chunk(module: &mut Module) -> FuncId {
    let c = common(module);
    let alloc = alloc(module);
    define(module, "enzyme.rt.chunk", c.void, &[c.ptr, c.i64], |e, args| {
        let last = field(e, args[0], LAST);
        let (first, most) = (e.b().i64(CHUNKS.0), e.b().i64(CHUNKS.1));
        let (before, one) = (e.b().load(c.i64, last, 0, MemClass::Tape), e.b().i64(1));
        let mut larger = e.b().binary(BinOp::Shl, before, one);
        for (bound, pred) in [(first, IntPred::Ult), (most, IntPred::Ugt)] {
            let beyond = e.b().icmp(pred, larger, bound);
            larger = e.choose(beyond, bound, larger);
        }
        e.b().store(larger, last, 0, MemClass::Tape);
        let node = e.b().i64(NODE.1);
        let needed = e.b().add(args[1], node);
        let short = e.b().icmp(IntPred::Ult, larger, needed);
        let bytes = e.choose(short, needed, larger);
        expect(e, &[bytes]);
        let memory = e.call_func(alloc, &[bytes]);
        let free = e.module.declare("free", c.void, &[c.ptr]);
        let free = e.b().func_addr(free);
        put(e, args[0], memory, memory, free);
        let (place, left) = (field(e, args[0], PLACE), field(e, args[0], LEFT));
        let start = e.b().byte_offset(memory, node);
        e.b().store(start, place, 0, MemClass::Tape);
        let rest = e.b().binary(BinOp::Sub, bytes, node);
        e.b().store(rest, left, 0, MemClass::Tape);
        e.b().ret(None);
    })
}

/// `ptr enzyme.rt.extend(ptr arena, ptr old, i64 old_bytes, i64 bytes)`: more memory than before with the same content.
pub fn extend(module: &mut Module) -> FuncId {
    let c = common(module);
    let (take, grow) = (take(module), grow(module));
    define(module, "enzyme.rt.extend", c.ptr, &[c.ptr, c.ptr, c.i64, c.i64], |e, args| {
        let (moved, own) = (e.new_block("moved"), e.new_block("own"));
        let pooled = is_pooled(e, args[2]);
        e.b().cond_br(pooled, moved, own);
        e.block = moved;
        let p = e.call_func(take, &[args[0], args[3]]);
        e.move_bytes(p, args[1], args[2]);
        e.b().ret(Some(p));
        e.block = own;
        let p = e.call_func(grow, &[args[1], args[3]]);
        e.b().ret(Some(p));
    })
}

/// `void enzyme.rt.give(ptr memory, i64 bytes)`: gives back what was taken.
pub fn give(module: &mut Module) -> FuncId {
    let c = common(module);
    define(module, "enzyme.rt.give", c.void, &[c.ptr, c.i64], |e, args| {
        let (own, done) = (e.new_block("own"), e.new_block("done"));
        let pooled = is_pooled(e, args[1]);
        e.b().cond_br(pooled, done, own);
        e.block = own;
        e.call("free", c.void, &[args[0]]);
        e.b().br(done);
        e.block = done;
        e.b().ret(None);
    })
}

/// `void enzyme.rt.list(ptr arena, ptr memory, i64 bytes)`: has what was taken given back at the end.
pub fn list(module: &mut Module) -> FuncId {
    let c = common(module);
    let defer = defer(module);
    define(module, "enzyme.rt.list", c.void, &[c.ptr, c.ptr, c.i64], |e, args| {
        let (own, done) = (e.new_block("own"), e.new_block("done"));
        let pooled = is_pooled(e, args[2]);
        e.b().cond_br(pooled, done, own);
        e.block = own;
        let free = e.module.declare("free", c.void, &[c.ptr]);
        let free = e.b().func_addr(free);
        e.call_func(defer, &[args[0], args[1], free]);
        e.b().br(done);
        e.block = done;
        e.b().ret(None);
    })
}

/// `void enzyme.rt.defer(ptr arena, ptr memory, ptr release)`: puts `memory` on the list, to be given to `release` at the end of
/// the reverse sweep.
pub fn defer(module: &mut Module) -> FuncId {
    let c = common(module);
    let take = take(module);
    define(module, "enzyme.rt.defer", c.void, &[c.ptr, c.ptr, c.ptr], |e, args| {
        let bytes = e.b().i64(NODE.0);
        let new = e.call_func(take, &[args[0], bytes]);
        put(e, args[0], new, args[1], args[2]);
        e.b().ret(None);
    })
}

/// `void enzyme.rt.release(ptr list)`: frees all that was put off: last what came first, as nodes lie in chunks that are on the list
/// before them. Where it is differentiated itself, what `free` releases can be followed; what else may be called ends the
/// program (the bridge marks that call).
pub fn release(module: &mut Module) -> FuncId {
    let c = common(module);
    let node = node_type(module);
    let give = give(module);
    let free_sig = module.ctx.types.func(c.void, vec![c.ptr]);
    define(module, "enzyme.rt.release", c.void, &[c.ptr], |e, args| {
        let before = e.block;
        let (head, body, done) = (e.new_block("head"), e.new_block("body"), e.new_block("done"));
        e.go(head);
        let at = e.b().phi(c.ptr, &[(before, args[0])]);
        let null = e.b().zero(c.ptr);
        let more = e.b().icmp(IntPred::Ne, at, null);
        e.b().cond_br(more, body, done);
        e.block = body;
        let i32 = e.module.ctx.types.int(32);
        let mut fields = Vec::new();
        for n in 0..3 {
            let (zero, field) = (e.b().int(i32, 0), e.b().int(i32, n));
            let address = e.b().gep(node, at, &[zero, field]);
            fields.push(e.b().load(c.ptr, address, 0, MemClass::Tape));
        }
        let bytes = e.b().i64(NODE.0);
        e.call_func(give, &[at, bytes]);
        let free = e.module.declare("free", c.void, &[c.ptr]);
        let usual = e.b().func_addr(free);
        let is_usual = e.b().icmp(IntPred::Eq, fields[2], usual);
        let (plain, other, next) = (e.new_block("free"), e.new_block("other"), e.new_block("next"));
        e.b().cond_br(is_usual, plain, other);
        e.block = plain;
        e.call_func(free, &[fields[1]]);
        e.b().br(next);
        e.block = other;
        let info = enzyme_ir::CallInfo { sig: free_sig, num_args: 1, tail: enzyme_ir::TailKind::None, conv: 0 };
        e.b().inst(Op::Call(Box::new(info)), smallvec![fields[2], fields[1]], c.void);
        e.b().br(next);
        e.block = next;
        e.b().br(head);
        if let Some(phi) = e.func.def_inst(at) {
            if let Op::Phi(blocks) = &mut e.func.insts[phi].op {
                blocks.push(next);
            }
            e.func.insts[phi].args.push(fields[0]);
        }
        e.block = done;
        e.b().ret(None);
    })
}
