//! What integers tell of the addresses made with them.

use std::collections::BTreeSet;

use enzyme_ir::{BinOp, CastOp, Const, Context, FloatKind, Func, InstId, IntPred, Module, Op, Type, ValueId};

use super::span::gcd;
use super::{Span, Steps};
use crate::callee::{Callee, resolve};
use crate::uses::Uses;

/// Choices among more constants are not followed.
const MAX_CHOICES: usize = 16;

/// Class and offsets of an address.
pub(super) type Place<'p> = &'p mut dyn FnMut(ValueId) -> Option<(u32, Span)>;

/// A number of which the integer `v` is always a multiple; zero for the constant zero. `open` are the merges at hand;
/// distances between addresses of one class are multiples of what their offsets allow.
pub(super) fn factor(module: &Module, func: &Func, v: ValueId, open: &mut Vec<ValueId>, place: Place<'_>) -> u64 {
    if let Some(c) = func.as_const(v) {
        return module.ctx.consts.as_u64(c).map_or(1, |x| (x as i64).unsigned_abs());
    }
    if open.contains(&v) {
        return 0;
    }
    let Some(i) = func.def_inst(v).filter(|_| open.len() < 16) else { return 1 };
    let inst = &func.insts[i];
    let amount = |n: usize| inst.args.get(n).and_then(|a| func.as_const(*a)).and_then(|c| module.ctx.consts.as_u64(c));
    open.push(v);
    let pointer = |v: ValueId| {
        let made = func.def_inst(v).filter(|i| matches!(func.insts[*i].op, Op::Cast(CastOp::PtrToInt)));
        made.and_then(|i| func.insts[i].args.first().copied())
    };
    if let (Op::Binary(BinOp::Sub), [a, b]) = (&inst.op, inst.args.as_slice())
        && let (Some(a), Some(b)) = (pointer(*a), pointer(*b))
    {
        open.pop();
        return match (place(a), place(b)) {
            (Some((x, a)), Some((y, b))) if x == y => gcd(gcd(a.stride, b.stride), a.offset.abs_diff(b.offset)),
            (Some(_), Some(_)) => 1,
            _ => 0,
        };
    }
    let mut of = |a: &ValueId| factor(module, func, *a, open, place);
    let out = match (&inst.op, inst.args.as_slice()) {
        (Op::Phi(_), args) => args.iter().fold(0, |g, a| gcd(g, of(a))),
        (Op::Select, [_, a, b]) | (Op::Binary(BinOp::Add | BinOp::Sub), [a, b]) => gcd(of(a), of(b)),
        (Op::Binary(BinOp::Or), [a, b]) => {
            let both = gcd(of(a), of(b));
            if both == 0 { 0 } else { 1 << both.trailing_zeros() }
        }
        (Op::Binary(BinOp::Mul), [a, b]) => of(a).saturating_mul(of(b)),
        (Op::Binary(BinOp::Shl), [a, _]) => match amount(1) {
            Some(n) if n < 32 => of(a).saturating_mul(1 << n),
            _ => 1,
        },
        (Op::Binary(BinOp::And), [_, _]) => {
            amount(1).filter(|m| *m != 0).map_or(1, |m| 1 << m.trailing_zeros().min(32))
        }
        (Op::Cast(CastOp::SExt | CastOp::ZExt), [a]) | (Op::Freeze, [a]) => of(a),
        (Op::Cast(CastOp::Trunc), [a]) => match of(a) {
            0 => 0,
            n => 1 << n.trailing_zeros().min(16),
        },
        _ => 1,
    };
    open.pop();
    out
}

/// The integers that `v` may be, if it is a choice of constants.
pub(super) fn choices(module: &Module, func: &Func, v: ValueId) -> Option<Vec<i64>> {
    let (mut work, mut seen, mut out) = (vec![v], Vec::new(), Vec::new());
    while let Some(v) = work.pop() {
        if seen.contains(&v) {
            continue;
        }
        seen.push(v);
        if func.as_const(v).is_some() {
            out.push(signed(module, func, v)?);
            continue;
        }
        let inst = &func.insts[func.def_inst(v).filter(|_| seen.len() < MAX_CHOICES)?];
        match (&inst.op, inst.args.as_slice()) {
            (Op::Phi(_), args) => work.extend(args),
            (Op::Select, [_, a, b]) => work.extend([a, b]),
            (Op::Freeze, [a]) => work.push(*a),
            _ => return None,
        }
    }
    Some(out)
}

/// The integers that `v` may be, if it counts up from one constant to another, few in all: a loop of which the only way back is
/// taken while the next one is not the last.
pub(super) fn counted(module: &Module, func: &Func, v: ValueId) -> Option<Vec<i64>> {
    let phi = func.def_inst(v)?;
    let Op::Phi(from) = &func.insts[phi].op else { return None };
    let [a, b] = func.insts[phi].args.as_slice() else { return None };
    let (first, next, latch) = match (func.as_const(*a), func.as_const(*b)) {
        (Some(_), None) => (*a, *b, *from.get(1)?),
        (None, Some(_)) => (*b, *a, *from.first()?),
        _ => return None,
    };
    let number = |v: ValueId| signed(module, func, v);
    let step = &func.insts[func.def_inst(next)?];
    let by = match (&step.op, step.args.as_slice()) {
        (Op::Binary(BinOp::Add), [x, by]) if *x == v => number(*by).filter(|n| *n > 0)?,
        _ => return None,
    };
    let branch = &func.insts[func.terminator(latch)?];
    let (Op::CondBr { then_to, else_to }, [cond]) = (&branch.op, branch.args.as_slice()) else { return None };
    let test = &func.insts[func.def_inst(*cond)?];
    let (Op::ICmp(pred), [x, last]) = (&test.op, test.args.as_slice()) else { return None };
    let back = match pred {
        IntPred::Eq => *else_to,
        IntPred::Ne => *then_to,
        _ => return None,
    };
    let (first, last) = (number(first)?, number(*last)?);
    let count = last.checked_sub(first).filter(|n| *x == next && *n > 0 && n % by == 0)? / by;
    let goes_back = then_to != else_to && func.blocks[back].insts.contains(&phi);
    (goes_back && count <= MAX_CHOICES as i64).then(|| (0..count).map(|n| first + n * by).collect())
}

/// The address in new memory `v` from which the program goes on, if that is only one, a number of bytes behind the start that varies:
/// a table whose entries lie before it. It is the origin.
pub(super) fn origin_within(module: &Module, func: &Func, uses: &Uses, v: ValueId) -> Option<ValueId> {
    let mut start = v;
    // Perhaps where memory of two allocators meets.
    for _ in 0..4 {
        let used = uses.of(start).iter().map(|i| &func.insts[*i]);
        let mut used = used.filter(|inst| !matches!(inst.op, Op::ICmp(_)));
        let (Some(inst), None) = (used.next(), used.next()) else { return None };
        match (&inst.op, inst.args.as_slice()) {
            (Op::Phi(_), _) => start = inst.result?,
            (Op::Gep { elem, .. }, [base, by]) => {
                let bytes = matches!(module.ctx.types[*elem], Type::Int(8));
                return inst.result.filter(|_| bytes && *base == start && func.as_const(*by).is_none());
            }
            _ => return None,
        }
    }
    None
}

/// The value of a constant index.
pub(super) fn signed(module: &Module, func: &Func, v: ValueId) -> Option<i64> {
    let x = module.ctx.consts.as_u64(func.as_const(v)?)?;
    Some(match module.ctx.types[func.ty(v)] {
        Type::Int(bits) if bits < 64 => ((x << (64 - bits)) as i64) >> (64 - bits),
        _ => x as i64,
    })
}

/// Whether an integer is made of a pointer, or made a pointer, here or where a call takes it to or has it from.
pub fn is_address(module: &Module, func: &Func, uses: &Uses, v: ValueId) -> bool {
    if is_made(func, v) || uses.of(v).iter().any(|i| matches!(func.insts[*i].op, Op::Cast(CastOp::IntToPtr))) {
        return true;
    }
    let callee = |i: InstId| match resolve(module, func, i) {
        Callee::Defined(g) => Some(&module.funcs[g]),
        Callee::Math(_) | Callee::Known(_) | Callee::Unknown(_) => None,
    };
    let is_call = |i: &InstId| func.insts[*i].op.call_info().is_some();
    let taken = uses.of(v).iter().filter(|i| is_call(i)).any(|i| {
        callee(*i).is_some_and(|g| {
            let mut passed = g.params.iter().zip(func.call_args(*i)).filter(|(_, a)| **a == v);
            passed.any(|(p, _)| makes_pointer(g, *p))
        })
    });
    let from = func.def_inst(v).filter(is_call).and_then(callee);
    taken || from.is_some_and(returns_made)
}

fn is_made(func: &Func, v: ValueId) -> bool {
    func.def_inst(v).is_some_and(|i| matches!(func.insts[i].op, Op::Cast(CastOp::PtrToInt)))
}

fn makes_pointer(func: &Func, p: ValueId) -> bool {
    func.placed().any(|(_, i)| {
        let inst = &func.insts[i];
        matches!(inst.op, Op::Cast(CastOp::IntToPtr)) && inst.args.first() == Some(&p)
    })
}

fn returns_made(func: &Func) -> bool {
    let mut work: Vec<ValueId> = func
        .placed()
        .map(|(_, i)| &func.insts[i])
        .filter(|i| matches!(i.op, Op::Ret))
        .flat_map(|i| i.args.iter().copied())
        .collect();
    let mut seen = Vec::new();
    while let Some(v) = work.pop() {
        if seen.contains(&v) || seen.len() > 16 {
            continue;
        }
        seen.push(v);
        if is_made(func, v) {
            return true;
        }
        if let Some(i) = func.def_inst(v)
            && matches!(func.insts[i].op, Op::Phi(_) | Op::Select | Op::Binary(BinOp::Or | BinOp::Add))
        {
            work.extend(func.insts[i].args.iter().copied());
        }
    }
    false
}

/// The float whose bits the integer `v` is: it was made of one, or one is made of it, as a whole, perhaps where ways meet.
pub(super) fn bits_of(ctx: &Context, func: &Func, uses: &Uses, v: ValueId) -> Option<FloatKind> {
    if !matches!(ctx.types[func.ty(v)], Type::Int(_)) || func.as_const(v).is_some() {
        return None;
    }
    let kind = |v: ValueId| match ctx.types[func.ty(v)] {
        Type::Float(kind) => Some(kind),
        _ => None,
    };
    let moved = |i: InstId| match func.insts[i].op {
        Op::Cast(CastOp::BitCast) | Op::Phi(_) | Op::Freeze => func.insts[i].args.as_slice(),
        Op::Select => func.insts[i].args.get(1..).unwrap_or(&[]),
        _ => &[],
    };
    let sources = |v: ValueId| func.def_inst(v).map(moved).unwrap_or(&[]).to_vec();
    let targets = |v: ValueId| {
        let users = uses.of(v).iter().filter(|i| moved(**i).contains(&v));
        users.filter_map(|i| func.insts[*i].result).collect()
    };
    let reached = |next: &dyn Fn(ValueId) -> Vec<ValueId>| {
        let mut seen = vec![v];
        let mut n = 0;
        while let Some(at) = seen.get(n).copied() {
            n += 1;
            if let Some(found) = kind(at) {
                return Some(found);
            }
            let new: Vec<ValueId> = next(at).into_iter().filter(|x| !seen.contains(x)).collect();
            seen.extend(new);
        }
        None
    };
    reached(&sources).or_else(|| reached(&targets))
}

/// Whether the integer `v`, read at `p`, is nothing but a number: no address, as the size of a tree is none that lies where a node has its
/// right child, and the strides of an array are none beside the address of its elements. What it is multiplied or shifted to, compared with,
/// or scaled by as an index may be any number; what is added to it must be one in turn; and it is stored only where it is counted.
pub(super) fn is_number(module: &Module, func: &Func, uses: &Uses, v: ValueId, p: ValueId) -> bool {
    let same = |q: ValueId| {
        let made = |v: ValueId| func.def_inst(v).map(|i| (&func.insts[i].op, &func.insts[i].args));
        q == p || made(q).zip(made(p)).is_some_and(|(a, b)| a == b && matches!(a.0, Op::Gep { .. }))
    };
    let is_amount = |v: &ValueId| signed(module, func, *v).is_some();
    let is_one = |v: &ValueId| signed(module, func, *v).is_some_and(|n| n.abs() == 1);
    let is_place = |v: &ValueId| match func.as_const(*v) {
        Some(c) => matches!(module.ctx.consts[c], Const::Global(_)),
        None => true,
    };
    let (mut work, mut seen, mut counts) = (vec![(v, true)], BTreeSet::new(), true);
    while let Some((v, steps)) = work.pop() {
        counts &= steps;
        if !seen.insert(v) {
            continue;
        }
        for i in uses.of(v) {
            let inst = &func.insts[*i];
            match (&inst.op, inst.args.as_slice()) {
                (Op::Store(_), [stored, q]) if *stored == v && *q != v && same(*q) && seen.len() > 1 && counts => {}
                (Op::Binary(BinOp::Add | BinOp::Sub), [a, b]) if *a == v && is_amount(b) => {
                    work.extend(inst.result.map(|r| (r, steps && is_one(b))));
                }
                (Op::Binary(BinOp::Sub), [a, _]) if is_amount(a) => work.extend(inst.result.map(|r| (r, false))),
                (Op::Binary(BinOp::Mul | BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem), _) => {}
                (Op::Binary(BinOp::Shl | BinOp::LShr | BinOp::AShr), _) => {}
                (Op::Phi(_) | Op::Freeze, _) => work.extend(inst.result.map(|r| (r, steps))),
                (Op::ICmp(_) | Op::Cast(CastOp::UIToFP | CastOp::SIToFP | CastOp::Trunc), _) => {}
                (Op::Gep { .. }, [base, ..]) if *base != v && is_place(base) => {}
                _ => return false,
            }
        }
    }
    true
}

/// Whether `v` is the least or the most of some numbers, as the size of what has room for both is: no address, but for those that pointers
/// were made.
pub(super) fn is_least_or_most(module: &Module, func: &Func, v: ValueId) -> bool {
    let Some(i) = func.def_inst(v).filter(|i| func.insts[*i].op.call_info().is_some()) else { return false };
    let name = module.direct_callee(func, i).map_or("", |f| module.funcs[f].name.as_str());
    let chosen = ["llvm.smin.i", "llvm.smax.i", "llvm.umin.i", "llvm.umax.i"];
    chosen.iter().any(|begin| name.starts_with(begin)) && !func.call_args(i).iter().any(|a| is_made(func, *a))
}

/// Where an index leads, and from what constant on: it is visibly meant to be negative where a number is taken from one that is not
/// positive, and at times where it is a difference.
pub(super) fn steps(module: &Module, func: &Func, index: ValueId) -> (i64, Steps) {
    steps_of(module, func, index, false)
}

/// As [`steps`]; of what is `multiplied` with a negative number, another such factor is not followed.
fn steps_of(module: &Module, func: &Func, index: ValueId, multiplied: bool) -> (i64, Steps) {
    let number = |v: ValueId| signed(module, func, v);
    // What is given may be negative, and a counter that begins below zero is: negated, they are positive.
    let may_be_negative = |v: ValueId| {
        func.def_inst(v).map(|i| &func.insts[i]).is_none_or(|inst| {
            matches!(inst.op, Op::Phi(_)) && inst.args.iter().any(|a| number(*a).is_some_and(|n| n < 0))
        })
    };
    let (mut at, mut times, mut plus) = (index, 1i64, 0i64);
    for _ in 0..6 {
        let Some(i) = func.def_inst(at) else { break };
        let inst = &func.insts[i];
        let down = |from: i64| (from.wrapping_mul(times).wrapping_add(plus), Steps::Down);
        match (&inst.op, inst.args.as_slice()) {
            (Op::Binary(BinOp::Sub), [from, x])
                if let Some(from) = number(*from).filter(|n| *n <= 0 && !may_be_negative(*x)) =>
            {
                return down(from);
            }
            (Op::Binary(BinOp::Xor), [x, ones]) if number(*ones) == Some(-1) && !may_be_negative(*x) => {
                return down(-1);
            }
            (Op::Binary(BinOp::Sub | BinOp::Xor), _) => return (0, Steps::Both),
            (Op::Binary(BinOp::Shl), [a, by]) if let Some(by) = number(*by).filter(|n| (0..32).contains(n)) => {
                times = times.wrapping_mul(1 << by);
                at = *a;
            }
            (Op::Binary(BinOp::Mul), [a, by]) if let Some(by) = number(*by).filter(|n| *n > 0) => {
                times = times.wrapping_mul(by);
                at = *a;
            }
            (Op::Binary(BinOp::Mul), [_, by]) if multiplied && number(*by).is_some_and(|n| n < 0) => {
                return (0, Steps::Both);
            }
            (Op::Binary(BinOp::Mul), [a, by]) if let Some(by) = number(*by).filter(|n| *n < 0) => {
                let made = func.def_inst(*a).map(|i| &func.insts[i]);
                let (a, more) = match made.map(|inst| (&inst.op, inst.args.as_slice())) {
                    Some((Op::Binary(BinOp::Add), [x, more])) if let Some(more) = number(*more) => (*x, more),
                    _ => (*a, 0),
                };
                return match steps_of(module, func, a, true) {
                    (0, Steps::Up) if !may_be_negative(a) => down(by.wrapping_mul(more)),
                    _ => (0, Steps::Both),
                };
            }
            (Op::Binary(BinOp::Add), [a, by]) if let Some(by) = number(*by) => {
                plus = plus.wrapping_add(by.wrapping_mul(times));
                at = *a;
            }
            (Op::Cast(_) | Op::Freeze, [a]) => at = *a,
            _ => break,
        }
    }
    (0, Steps::Up)
}

/// The pointers that the integer `v` may be the number of, as it was merged of others.
pub fn numbered(func: &Func, v: ValueId) -> BTreeSet<ValueId> {
    let (mut work, mut seen, mut out) = (vec![v], BTreeSet::new(), BTreeSet::new());
    while let Some(v) = work.pop() {
        let Some(i) = func.def_inst(v).filter(|_| seen.insert(v)) else { continue };
        let inst = &func.insts[i];
        match inst.op {
            Op::Phi(_) | Op::Freeze => work.extend(&inst.args),
            Op::Select => work.extend(inst.args.iter().skip(1)),
            Op::Cast(CastOp::PtrToInt) => out.extend(&inst.args),
            _ => {}
        }
    }
    out
}

/// Bits of numbers at which no memory of a program lies: pointers that are made of them mark something, as null does.
const NOWHERE: u32 = 16;

/// Whether the integer `v` is so small, whatever it is, that no memory lies there.
pub fn leads_nowhere(module: &Module, func: &Func, v: ValueId) -> bool {
    let Some(i) = func.def_inst(v) else { return false };
    let narrow = |v: &ValueId| matches!(module.ctx.types[func.ty(*v)], Type::Int(bits) if bits <= NOWHERE);
    matches!(func.insts[i].op, Op::Cast(CastOp::ZExt)) && func.insts[i].args.first().is_some_and(narrow)
}

/// Whether `v` is the difference of two integers that may be addresses.
pub(super) fn is_distance(func: &Func, v: ValueId) -> bool {
    let inst = func.def_inst(v).map(|i| &func.insts[i]).filter(|inst| matches!(inst.op, Op::Binary(BinOp::Sub)));
    inst.is_some_and(|inst| inst.args.iter().all(|a| traces_to_pointer(func, *a)))
}

/// Whether an integer is a `ptrtoint`, perhaps with something added.
pub(super) fn traces_to_pointer(func: &Func, v: ValueId) -> bool {
    let mut at = v;
    for _ in 0..8 {
        let Some(i) = func.def_inst(at) else { return false };
        match &func.insts[i].op {
            Op::Cast(CastOp::PtrToInt | CastOp::PtrToAddr) => return true,
            // A loaded or merged integer may be a stored pointer: its class says so.
            Op::Load(_) | Op::Phi(_) | Op::Select => return true,
            Op::Binary(BinOp::Add | BinOp::Sub | BinOp::And | BinOp::Or) | Op::Freeze => {
                match func.insts[i].args.first() {
                    Some(a) => at = *a,
                    None => return false,
                }
            }
            _ => return false,
        }
    }
    false
}
