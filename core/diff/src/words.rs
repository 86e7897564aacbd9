//! Words of memory where doubles, pointers and integers take turns, told apart when the derivative runs.
//!
//! A word is taken for an address if its bits, as those of a double, are a positive number below the normal ones, and so are those
//! of its shadow: where a pointer leads to active memory both are addresses; the shadow of a double is zero or an adjoint, that
//! of an integer zero. In the forward sweep the shadows of addresses go where these go, and none is left where something else
//! comes to lie. In the reverse sweep what lies in shadow memory and is no address is an adjoint, or zero: it is taken out and added
//! to that of what was copied. An adjoint so small that it looks like an address stays behind: it is below 2.3e-308.
//!
//! Doubles and pointers lie where they are aligned (`FuncMemory::tells_words`). What is copied to where they would not be has no
//! shadow, which is checked, unless it comes from constant memory, as texts do.
//!
//! Not handled: floats of other formats; sums that must be atomic; machines whose addresses have bits above the lower 52 (tags of
//! memory).

use enzyme_ir::{BinOp, CastOp, FloatKind, FloatPred, FuncId, IntPred, MemClass, Module, Op, Type, TypeId, ValueId};
use smallvec::smallvec;

use crate::emit::Emit;
use crate::runtime::{define, for_each, message, stop_with, zero_or_stop};

const SIZE: u64 = 8;
/// The least bits of a normal positive double.
const LEAST_NORMAL: u64 = 1 << 52;

/// Whether the bits are those of an address: none of a double that is zero, negative or normal.
fn is_address(e: &mut Emit<'_>, word: ValueId) -> ValueId {
    let (one, most) = (e.b().i64(1), e.b().i64(LEAST_NORMAL - 1));
    let less = e.b().binary(BinOp::Sub, word, one);
    e.b().icmp(IntPred::Ult, less, most)
}

/// What lies below is given to no program (Linux: vm.mmap_min_addr); sizes and counters are.
const LEAST_ADDRESS: u64 = 1 << (8 * SMALL);
/// The bytes of a word that such numbers fill.
const SMALL: u64 = 2;

/// The same of an address that a program may have.
fn is_large_address(e: &mut Emit<'_>, word: ValueId) -> ValueId {
    let (least, range) = (e.b().i64(LEAST_ADDRESS), e.b().i64(LEAST_NORMAL - LEAST_ADDRESS));
    let above = e.b().binary(BinOp::Sub, word, least);
    e.b().icmp(IntPred::Ult, above, range)
}

/// The shadow of a word out of constant memory: an address is its own, all else has none.
pub fn of_constant(e: &mut Emit<'_>, word: ValueId) -> ValueId {
    let i64 = e.ty(word);
    let word = e.b().value(Op::Freeze, smallvec![word], i64);
    let (address, none) = (is_large_address(e, word), e.b().i64(0));
    e.choose(address, word, none)
}

/// What is left in shadow memory, where `old` was, of a word with this shadow.
fn moved(e: &mut Emit<'_>, primal: ValueId, shadow: ValueId, old: ValueId) -> ValueId {
    let i64 = e.ty(shadow);
    // What was never written may be anything.
    let [primal, shadow, old] = [primal, shadow, old].map(|v| e.b().value(Op::Freeze, smallvec![v], i64));
    let (a, b, stale) = (is_address(e, primal), is_address(e, shadow), is_address(e, old));
    let both = e.b().binary(BinOp::And, a, b);
    let none = e.b().i64(0);
    let rest = e.choose(stale, none, old);
    e.choose(both, shadow, rest)
}

/// The forward sweep of a store: the word `primal`, with the shadow `shadow`, is put where the shadow memory is `at`.
pub fn store(e: &mut Emit<'_>, primal: ValueId, shadow: ValueId, at: ValueId) {
    let i64 = e.ty(primal);
    let old = e.load_in_lane(i64, at, SIZE as u32);
    let new = moved(e, primal, shadow, old);
    e.store_in_lane(new, at, SIZE as u32);
}

/// Clears the addresses among the words of `bytes` of shadow memory at `at`, where floats come to lie; adjoints stay.
pub fn forget(e: &mut Emit<'_>, at: ValueId, bytes: ValueId) {
    let f = over_aligned(e.module, "forget", |e, [at, _]| {
        let i64 = e.module.ctx.types.int(64);
        let old = e.b().load(i64, at, SIZE as u32, MemClass::Shadow);
        let old = e.b().value(Op::Freeze, smallvec![old], i64);
        let (stale, none) = (is_address(e, old), e.b().i64(0));
        let new = e.choose(stale, none, old);
        e.b().store(new, at, SIZE as u32, MemClass::Shadow);
    });
    e.call_func(f, &[at, at, bytes]);
}

/// The forward mode of a copy of `bytes` from constant memory, of which `primal` is the result: the shadow memory at `at` of the words.
pub fn repeat_constant(e: &mut Emit<'_>, at: ValueId, primal: ValueId, bytes: ValueId) {
    let f = over_aligned(e.module, "constant", |e, [at, primal]| {
        let i64 = e.module.ctx.types.int(64);
        let word = e.b().load(i64, primal, SIZE as u32, MemClass::Primal);
        let shadow = of_constant(e, word);
        e.b().store(shadow, at, SIZE as u32, MemClass::Shadow);
    });
    e.call_func(f, &[at, primal, bytes]);
}

/// `void enzyme.rt.words.…(ptr memory, ptr other, i64 bytes)`: does something with each aligned word, and what lies as far in other memory.
fn over_aligned(module: &mut Module, name: &str, body: impl Fn(&mut Emit<'_>, [ValueId; 2])) -> FuncId {
    let (ptr, void, i64) = (module.ctx.types.ptr(), module.ctx.types.void(), module.ctx.types.int(64));
    define(module, &format!("enzyme.rt.words.{name}"), void, &[ptr, ptr, i64], |e, args| {
        let [at, other, bytes] = [args[0], args[1], args[2]];
        let done = e.new_block("done");
        let address = e.b().cast(CastOp::PtrToInt, at, i64);
        let (front, count) = aligned_words(e, address, bytes);
        let size = e.b().i64(SIZE);
        for_each(e, count, done, |e, n| {
            let offset = e.b().binary(BinOp::Mul, n, size);
            let offset = e.b().add(front, offset);
            let places = [at, other].map(|p| e.b().byte_offset(p, offset));
            body(e, places);
        });
        e.block = done;
        e.b().ret(None);
    })
}

/// The reverse sweep of a store: the adjoint in the shadow memory at `at`, which is taken from there.
pub fn take(e: &mut Emit<'_>, at: ValueId) -> ValueId {
    let (i64, double) = (e.module.ctx.types.int(64), double(e.module));
    let word = e.load_in_lane(i64, at, SIZE as u32);
    let (left, amount) = taken(e, word, double);
    e.store_in_lane(left, at, SIZE as u32);
    amount
}

/// The reverse sweep of a load: adds to the shadow memory at `at`.
pub fn add(e: &mut Emit<'_>, at: ValueId, amount: ValueId) {
    let double = e.ty(amount);
    let old = e.load_in_lane(double, at, SIZE as u32);
    let new = added(e, old, amount);
    e.store_in_lane(new, at, SIZE as u32);
}

/// What is left of a word of shadow memory, and the adjoint that was there.
fn taken(e: &mut Emit<'_>, word: ValueId, double: TypeId) -> (ValueId, ValueId) {
    let address = is_address(e, word);
    let none = e.b().i64(0);
    let (left, amount) = (e.choose(address, word, none), e.choose(address, none, word));
    (left, e.b().cast(CastOp::BitCast, amount, double))
}

/// The sum; where nothing is added all bits stay, those of an address too.
fn added(e: &mut Emit<'_>, old: ValueId, amount: ValueId) -> ValueId {
    let ty = e.ty(amount);
    let zero = e.b().zero(ty);
    let nothing = e.b().fcmp(FloatPred::Oeq, amount, zero);
    let sum = e.b().binary(BinOp::FAdd, old, amount);
    e.choose(nothing, old, sum)
}

/// The type of the adjoint of a word.
pub fn double(module: &mut Module) -> TypeId {
    module.ctx.types.float(FloatKind::Double)
}

/// Ends the program if there is an adjoint in `bytes` of shadow memory at `at`, of what was taken for none of floats.
pub fn require_none(e: &mut Emit<'_>, at: ValueId, bytes: ValueId, place: &str) {
    let line = format!("{place}: enzyme: [E0301] what was taken for integers and pointers has a derivative\n");
    let (text, length) = (message(e, &line), e.b().i64(line.len() as u64));
    let stop = zero_or_stop(e.module);
    let f = over_adjoints(e.module, "none_or_stop", |e, word, args| {
        let size = e.b().i64(SIZE);
        e.call_func(stop, &[word, size, args[0], args[1]]);
    });
    e.call_func(f, &[at, bytes, text, length]);
}

/// Integers so far below zero may be copies of what a program keeps beside its floats.
const LEAST: u64 = 1 << 16;

/// Ends the program if `word`, of shadow memory, is a tangent or an adjoint of what was computed with as an integer, or several of
/// them, of `piece` bytes each.
pub fn require_integer(e: &mut Emit<'_>, word: ValueId, piece: u64, place: &str) {
    let ty = e.ty(word);
    let Type::Int(bits) = e.module.ctx.types[ty] else { return };
    let one = u32::try_from(8 * piece).unwrap_or(bits).clamp(8, 64);
    if bits > one {
        let narrow = e.module.ctx.types.int(one);
        for n in 0..bits / one {
            let by = e.b().int(ty, u64::from(n * one));
            let part = e.b().binary(BinOp::LShr, word, by);
            let part = e.b().cast(CastOp::Trunc, part, narrow);
            require_integer(e, part, piece, place);
        }
        return;
    }
    let line = format!("{place}: enzyme: [E0301] what was computed with as an integer has a derivative\n");
    let (text, length) = (message(e, &line), e.b().i64(line.len() as u64));
    // All bits of a mantissa, and the sign, which goes to the left; of what may be the end of a double alone, all bits count.
    let (name, digits) = match bits {
        64 => ("enzyme.rt.words.integer", 53),
        32 => ("enzyme.rt.words.integer32", 24),
        16 => ("enzyme.rt.words.integer16", 0),
        _ => ("enzyme.rt.words.integer8", 0),
    };
    let (ptr, void, i64) = (e.module.ctx.types.ptr(), e.module.ctx.types.void(), e.module.ctx.types.int(64));
    let f = define(e.module, name, void, &[ty, ptr, i64], |e, args| {
        let (float, integer) = (e.new_block("float"), e.new_block("integer"));
        let word = e.b().value(Op::Freeze, smallvec![args[0]], ty);
        let zero = e.b().int(ty, 0);
        let exponent = if digits > 0 {
            let (twice, digits) = (e.b().add(word, word), e.b().int(ty, digits));
            e.b().binary(BinOp::LShr, twice, digits)
        } else {
            word
        };
        let is_float = e.b().icmp(IntPred::Ne, exponent, zero);
        let is_float = if digits > 0 {
            // A little less than zero is no float that would be anything but an odd NaN.
            let most = e.b().int(ty, LEAST);
            let up = e.b().add(word, most);
            let is_large = e.b().icmp(IntPred::Uge, up, most);
            e.b().binary(BinOp::And, is_float, is_large)
        } else {
            is_float
        };
        e.b().cond_br(is_float, float, integer);
        e.block = float;
        stop_with(e, args[1], args[2]);
        e.block = integer;
        e.b().ret(None);
    });
    e.call_func(f, &[word, text, length]);
}

/// Ends the program if the integer `v`, or one of the vector `v`, which becomes a number as it is, looks like the bits of a float: those of
/// about 1e-154 to 1e154, or for 32 bits 5e-10 to 8e9. A count is none of these.
pub fn require_counts(e: &mut Emit<'_>, v: ValueId, place: &str) {
    let ty = e.ty(v);
    let bits = match e.module.ctx.types[ty] {
        Type::Int(bits) => bits,
        Type::Vector { elem, len, .. } => {
            for n in 0..len {
                let at = e.b().i64(u64::from(n));
                let one = e.b().value(Op::ExtractElement, smallvec![v, at], elem);
                require_counts(e, one, place);
            }
            return;
        }
        _ => return,
    };
    let line = format!("{place}: enzyme: [E0301] the bits of a float were converted as an integer\n");
    let (text, length) = (message(e, &line), e.b().i64(line.len() as u64));
    let (name, mantissa, least, most) = match bits {
        64 => ("enzyme.rt.words.count", 52, 512, 1536),
        32 => ("enzyme.rt.words.count32", 23, 96, 160),
        _ => return,
    };
    let (ptr, void, i64) = (e.module.ctx.types.ptr(), e.module.ctx.types.void(), e.module.ctx.types.int(64));
    let f = define(e.module, name, void, &[ty, ptr, i64], |e, args| {
        let (float, count) = (e.new_block("float"), e.new_block("count"));
        let word = e.b().value(Op::Freeze, smallvec![args[0]], ty);
        let (twice, places) = (e.b().add(word, word), e.b().int(ty, mantissa + 1));
        let exponent = e.b().binary(BinOp::LShr, twice, places);
        let (least, range) = (e.b().int(ty, least), e.b().int(ty, most - least));
        let above = e.b().binary(BinOp::Sub, exponent, least);
        let usual = e.b().icmp(IntPred::Ult, above, range);
        e.b().cond_br(usual, float, count);
        e.block = float;
        stop_with(e, args[1], args[2]);
        e.block = count;
        e.b().ret(None);
    });
    e.call_func(f, &[v, text, length]);
}

/// Ends the program if something among `bytes` of shadow memory at `at`, of what was taken for characters, is an adjoint or, where
/// `primal` is what it is the shadow of, the shadow of an address. Sizes and addresses that lay there before may have left shadows, which
/// are none of what lies there now.
pub fn require_text(e: &mut Emit<'_>, at: ValueId, primal: Option<ValueId>, bytes: ValueId, place: &str) {
    let line =
        format!("{place}: enzyme: [E0301] bytes of unknown type that were taken for characters have a derivative\n");
    let (text, length) = (message(e, &line), e.b().i64(line.len() as u64));
    let f = text_or_stop(e.module, primal.is_some());
    e.call_func(f, &[at, primal.unwrap_or(at), bytes, text, length]);
}

/// `void enzyme.rt.words.text…(ptr shadow, ptr primal, i64 bytes, ptr message, i64 length)`: see [`require_text`]; whether shadows of
/// addresses count.
fn text_or_stop(module: &mut Module, addresses: bool) -> FuncId {
    let (ptr, void, i64) = (module.ctx.types.ptr(), module.ctx.types.void(), module.ctx.types.int(64));
    let stop = zero_or_stop(module);
    let name = if addresses { "enzyme.rt.words.text" } else { "enzyme.rt.words.text_adjoint" };
    define(module, name, void, &[ptr, ptr, i64, ptr, i64], |e, args| {
        let [at, primal, bytes, message, length] = [args[0], args[1], args[2], args[3], args[4]];
        let done = e.new_block("done");
        let address = e.b().cast(CastOp::PtrToInt, at, i64);
        let (front, count) = aligned_words(e, address, bytes);
        let (size, small, none) = (e.b().i64(SIZE), e.b().i64(SMALL), e.b().i64(0));
        let within = e.b().icmp(IntPred::Ult, front, bytes);
        let begin = e.choose(within, front, bytes);
        e.call_func(stop, &[at, begin, message, length]);
        // What begins a word may be what is left of a size.
        let words = e.b().binary(BinOp::Mul, count, size);
        let end = e.b().add(begin, words);
        let rest = e.b().binary(BinOp::Sub, bytes, end);
        let is_more = e.b().icmp(IntPred::Ugt, rest, small);
        let (after, less) = (e.b().add(end, small), e.b().binary(BinOp::Sub, rest, small));
        let (tail, less) = (e.b().byte_offset(at, after), e.choose(is_more, less, none));
        e.call_func(stop, &[tail, less, message, length]);
        for_each(e, count, done, |e, n| {
            let offset = e.b().binary(BinOp::Mul, n, size);
            let offset = e.b().add(begin, offset);
            let word = e.b().byte_offset(at, offset);
            let bits = e.b().load(i64, word, SIZE as u32, MemClass::Shadow);
            let mut idle = is_address(e, bits);
            if addresses {
                let beside = e.b().byte_offset(primal, offset);
                let beside = e.b().load(i64, beside, 1, MemClass::Primal);
                let [shadow, beside] = [bits, beside].map(|word| is_large_address(e, word));
                let leads = e.b().binary(BinOp::And, shadow, beside);
                let i1 = e.module.ctx.types.int(1);
                let no = e.b().int(i1, 0);
                idle = e.choose(leads, no, idle);
            }
            let checked = e.choose(idle, none, size);
            e.call_func(stop, &[word, checked, message, length]);
        });
        e.block = done;
        e.b().ret(None);
    })
}

/// Ends the program if one of the words in `bytes` of memory at `primal`, that were taken for doubles, is an address which leads to
/// active memory, as its shadow behind `at` says.
pub fn require_doubles(e: &mut Emit<'_>, at: ValueId, primal: ValueId, bytes: ValueId, place: &str) {
    let line = format!("{place}: enzyme: [E0301] what was taken for floats is an address\n");
    let (text, length) = (message(e, &line), e.b().i64(line.len() as u64));
    let (ptr, void, i64) = (e.module.ctx.types.ptr(), e.module.ctx.types.void(), e.module.ctx.types.int(64));
    let f = define(e.module, "enzyme.rt.words.doubles", void, &[ptr, ptr, i64, ptr, i64], |e, args| {
        let done = e.new_block("done");
        let size = e.b().i64(SIZE);
        let count = e.b().binary(BinOp::UDiv, args[2], size);
        for_each(e, count, done, |e, n| {
            let offset = e.b().binary(BinOp::Mul, n, size);
            let [shadow, word] = [(args[0], MemClass::Shadow), (args[1], MemClass::Primal)].map(|(at, kind)| {
                let at = e.b().byte_offset(at, offset);
                let word = e.b().load(i64, at, 1, kind);
                is_large_address(e, word)
            });
            let leads = e.b().binary(BinOp::And, shadow, word);
            let (bad, next) = (e.new_block("bad"), e.new_block("next"));
            e.b().cond_br(leads, bad, next);
            e.block = bad;
            stop_with(e, args[3], args[4]);
            e.block = next;
        });
        e.block = done;
        e.b().ret(None);
    });
    e.call_func(f, &[at, primal, bytes, text, length]);
}

/// Takes the adjoints from `bytes` of shadow memory at `at`: something without derivative was put there.
pub fn discard(e: &mut Emit<'_>, at: ValueId, bytes: ValueId) {
    let f = over_adjoints(e.module, "discard", |e, word, _| {
        let none = e.b().i64(0);
        e.b().store(none, word, SIZE as u32, MemClass::Shadow);
    });
    let (ptr, none) = (e.module.ctx.types.ptr(), e.b().i64(0));
    let text = e.b().zero(ptr);
    e.call_func(f, &[at, bytes, text, none]);
}

/// How many bytes lie before the first aligned word of the `bytes` at `address`, and how many such words there are.
fn aligned_words(e: &mut Emit<'_>, address: ValueId, bytes: ValueId) -> (ValueId, ValueId) {
    let (mask, none, size) = (e.b().i64(SIZE - 1), e.b().i64(0), e.b().i64(SIZE));
    let minus = e.b().binary(BinOp::Sub, none, address);
    let front = e.b().binary(BinOp::And, minus, mask);
    let some = e.b().icmp(IntPred::Ult, front, bytes);
    let rest = e.b().binary(BinOp::Sub, bytes, front);
    let rest = e.choose(some, rest, none);
    (front, e.b().binary(BinOp::UDiv, rest, size))
}

/// `void enzyme.rt.words.…(ptr memory, i64 bytes, ptr message, i64 length)`: does something with each aligned word that is neither
/// zero nor an address.
fn over_adjoints(module: &mut Module, name: &str, body: impl Fn(&mut Emit<'_>, ValueId, [ValueId; 2])) -> FuncId {
    let (ptr, void, i64) = (module.ctx.types.ptr(), module.ctx.types.void(), module.ctx.types.int(64));
    let name = format!("enzyme.rt.words.{name}");
    define(module, &name, void, &[ptr, i64, ptr, i64], |e, args| {
        let [at, bytes, message, length] = [args[0], args[1], args[2], args[3]];
        let done = e.new_block("done");
        let address = e.b().cast(CastOp::PtrToInt, at, i64);
        let (front, count) = aligned_words(e, address, bytes);
        let (none, size) = (e.b().i64(0), e.b().i64(SIZE));
        for_each(e, count, done, |e, n| {
            let offset = e.b().binary(BinOp::Mul, n, size);
            let offset = e.b().add(front, offset);
            let word = e.b().byte_offset(at, offset);
            let bits = e.b().load(i64, word, SIZE as u32, MemClass::Shadow);
            // Zero has a sign.
            let twice = e.b().add(bits, bits);
            let zero = e.b().icmp(IntPred::Eq, twice, none);
            let address = is_address(e, bits);
            let idle = e.b().binary(BinOp::Or, zero, address);
            let (adjoint, next) = (e.new_block("adjoint"), e.new_block("next"));
            e.b().cond_br(idle, next, adjoint);
            e.block = adjoint;
            body(e, word, [message, length]);
            e.b().br(next);
            e.block = next;
        });
        e.block = done;
        e.b().ret(None);
    })
}

/// Calls what repeats on shadow memory the copying of `bytes` from `from` to `to`, which in primal memory is `primal` and was done.
/// `shadows` is how many bytes of the source have a shadow: none where it is constant memory, of which `from` is no other.
pub fn repeat_copy(e: &mut Emit<'_>, [to, from, primal]: [ValueId; 3], [bytes, shadows]: [ValueId; 2], place: &str) {
    let f = over_words(e.module, "repeat", false, |e, [to, from, primal]| {
        let i64 = e.module.ctx.types.int(64);
        let [old, shadow, primal] = [(to, MemClass::Shadow), (from, MemClass::Shadow), (primal, MemClass::Primal)]
            .map(|(at, mem)| e.b().load(i64, at, SIZE as u32, mem));
        let new = moved(e, primal, shadow, old);
        e.b().store(new, to, SIZE as u32, MemClass::Shadow);
    });
    call(e, f, [to, from, primal], [bytes, shadows], place);
}

/// Calls what adds the adjoints of copied words to those of their source.
pub fn add_copied(e: &mut Emit<'_>, to: ValueId, from: ValueId, bytes: ValueId, place: &str) {
    let f = over_words(e.module, "add", true, |e, [to, from, _]| {
        let (i64, double) = (e.module.ctx.types.int(64), double(e.module));
        let word = e.b().load(i64, to, SIZE as u32, MemClass::Shadow);
        let (left, amount) = taken(e, word, double);
        e.b().store(left, to, SIZE as u32, MemClass::Shadow);
        let old = e.b().load(double, from, SIZE as u32, MemClass::Shadow);
        let new = added(e, old, amount);
        e.b().store(new, from, SIZE as u32, MemClass::Shadow);
    });
    call(e, f, [to, from, to], [bytes, bytes], place);
}

fn call(e: &mut Emit<'_>, f: FuncId, [to, from, primal]: [ValueId; 3], [bytes, shadows]: [ValueId; 2], place: &str) {
    let line = format!(
        "{place}: enzyme: [E0301] bytes that were copied in pieces, or to where they are not aligned, have a derivative\n"
    );
    let (text, length) = (message(e, &line), e.b().i64(line.len() as u64));
    e.call_func(f, &[to, from, primal, bytes, shadows, text, length]);
}

/// `void enzyme.rt.words.…(ptr to, ptr from, ptr primal, i64 bytes, i64 shadows, ptr message, i64 length)`: does something with each aligned
/// word of regions that may overlap: of those at `to` and `from` the one is read before the other is written over it. If `back`, what
/// is at `to` is read, else what is at `from`.
fn over_words(module: &mut Module, name: &str, back: bool, body: impl FnOnce(&mut Emit<'_>, [ValueId; 3])) -> FuncId {
    let (ptr, void, i64) = (module.ctx.types.ptr(), module.ctx.types.void(), module.ctx.types.int(64));
    let (stop, text) = (zero_or_stop(module), text_or_stop(module, !back));
    let name = format!("enzyme.rt.words.{name}");
    define(module, &name, void, &[ptr, ptr, ptr, i64, i64, ptr, i64], |e, args| {
        let [to, from, primal, bytes] = [args[0], args[1], args[2], args[3]];
        let [shadows, message, length] = [args[4], args[5], args[6]];
        let (apart, askew, even, done) =
            (e.new_block("apart"), e.new_block("askew"), e.new_block("even"), e.new_block("done"));
        let same = e.b().icmp(IntPred::Eq, to, from);
        e.b().cond_br(same, done, apart);
        e.block = apart;
        let [a, b] = [to, from].map(|p| e.b().cast(CastOp::PtrToInt, p, i64));
        let (mask, none) = (e.b().i64(SIZE - 1), e.b().i64(0));
        let distance = e.b().binary(BinOp::Sub, a, b);
        let off = e.b().binary(BinOp::And, distance, mask);
        let is_even = e.b().icmp(IntPred::Eq, off, none);
        e.b().cond_br(is_even, even, askew);
        e.block = askew;
        // A double may lie across words.
        e.call_func(stop, &[if back { to } else { from }, shadows, message, length]);
        e.b().br(done);
        e.block = even;
        let (front, count) = aligned_words(e, a, bytes);
        let size = e.b().i64(SIZE);
        let one = e.b().i64(1);
        // What is less than a word at either end has no shadow.
        let within = e.b().icmp(IntPred::Ult, front, bytes);
        let begin = e.choose(within, front, bytes);
        let whole = e.b().binary(BinOp::Mul, count, size);
        let end = e.b().add(begin, whole);
        let rest = e.b().binary(BinOp::Sub, bytes, end);
        let none_there = e.b().icmp(IntPred::Eq, shadows, none);
        let [before, after] = [begin, rest].map(|n| e.choose(none_there, none, n));
        let read = if back { to } else { from };
        e.call_func(text, &[read, primal, before, message, length]);
        let [read, beside] = [read, primal].map(|p| e.b().byte_offset(p, end));
        e.call_func(text, &[read, beside, after, message, length]);
        let last = e.b().binary(BinOp::Sub, count, one);
        let order = if back { IntPred::Ult } else { IntPred::Ugt };
        let down = e.b().icmp(order, a, b);
        for_each(e, count, done, |e, n| {
            let turned = e.b().binary(BinOp::Sub, last, n);
            let n = e.choose(down, turned, n);
            let words = e.b().binary(BinOp::Mul, n, size);
            let offset = e.b().add(front, words);
            let places = [to, from, primal].map(|p| e.b().byte_offset(p, offset));
            body(e, places);
        });
        e.block = done;
        e.b().ret(None);
    })
}
