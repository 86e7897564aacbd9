//! Writes the partial derivatives of a rule as instructions.
//!
//! The three laws of [`enzyme_rules::expr`] hold here: a product distributes over a selection, an adjoint times a
//! quotient divides last, results are those computed.

use enzyme_ir::{BinOp, CastOp, FastMath, FloatKind, FloatPred, IntPred, Type, TypeId, ValueId};
use enzyme_rules::{Callee, Cond, Expr, MathFn};

use crate::emit::Emit;

/// What an expression is written over.
pub struct Operands<'a> {
    /// Operand values; poison where the expression does not read them.
    pub args: &'a [ValueId],
    /// Output values.
    pub results: &'a [ValueId],
    /// Type of the operation: a float or a vector of floats.
    pub ty: TypeId,
}

/// `factor * expr`, or zero where `factor` is zero, whatever the expression is.
pub fn strong_product(e: &mut Emit<'_>, factor: ValueId, expr: &Expr, over: &Operands<'_>) -> ValueId {
    let term = product(e, factor, expr, over);
    if expr.as_const().is_some() {
        return term;
    }
    let zero = e.b().float(over.ty, 0.0);
    let none = e.neutral(over.ty);
    let vanishes = e.b().fcmp(FloatPred::Oeq, factor, zero);
    e.choose(vanishes, none, term)
}

/// `factor * expr`.
pub fn product(e: &mut Emit<'_>, factor: ValueId, expr: &Expr, over: &Operands<'_>) -> ValueId {
    if let Some(c) = expr.as_const() {
        if c == 0.0 {
            return e.neutral(over.ty);
        }
        if c == 1.0 {
            return factor;
        }
        if c == -1.0 {
            return e.b().fneg(factor);
        }
    }
    match expr {
        Expr::Neg(a) => {
            let p = product(e, factor, a, over);
            if e.is_neutral(p) { p } else { e.b().fneg(p) }
        }
        Expr::Div(a, b) => {
            let top = product(e, factor, a, over);
            let bottom = value(e, b, over);
            quotient(e, top, bottom)
        }
        Expr::Select(c, a, b) => {
            let cond = condition(e, c, over);
            let x = product(e, factor, a, over);
            let y = product(e, factor, b, over);
            e.choose(cond, x, y)
        }
        // `-((1 / y) * r)` shares the division with the partial `1 / y` of the other operand.
        Expr::Mul(a, b) if matches!(a, Expr::Div(..)) => {
            let p = product(e, factor, a, over);
            let v = value(e, b, over);
            e.b().fmul(p, v)
        }
        Expr::Mul(a, b) if has_select(a) => {
            let p = value(e, b, over);
            let f = e.b().fmul(factor, p);
            product(e, f, a, over)
        }
        Expr::Mul(a, b) if has_select(b) => {
            let p = value(e, a, over);
            let f = e.b().fmul(factor, p);
            product(e, f, b, over)
        }
        Expr::Arg(_)
        | Expr::Result(_)
        | Expr::Const(_)
        | Expr::Add(..)
        | Expr::Sub(..)
        | Expr::Mul(..)
        | Expr::Call(..)
        | Expr::IntToFloat(_)
        | Expr::IntAdd(..) => {
            let v = value(e, expr, over);
            e.b().fmul(factor, v)
        }
    }
}

/// `top / bottom`, where the reciprocal may be taken once for all of a loop that has the same `bottom` in each turn.
///
/// Doubles alone: for narrower formats some processors have estimates, which this would allow as well.
fn quotient(e: &mut Emit<'_>, top: ValueId, bottom: ValueId) -> ValueId {
    let ty = e.ty(top);
    let fast = e.fast;
    if e.module.ctx.types.float_kind(ty) == Some(FloatKind::Double) {
        e.fast |= FastMath::ARCP;
    }
    let made = e.b().binary(BinOp::FDiv, top, bottom);
    e.fast = fast;
    made
}

fn has_select(expr: &Expr) -> bool {
    let mut found = false;
    expr.visit(&mut |x| found |= matches!(x, Expr::Select(..)));
    found
}

fn get(list: &[ValueId], n: u8) -> Option<ValueId> {
    list.get(n as usize).copied()
}

/// The value of an expression.
pub fn value(e: &mut Emit<'_>, expr: &Expr, over: &Operands<'_>) -> ValueId {
    match expr {
        Expr::Arg(n) => match get(over.args, *n) {
            Some(v) => v,
            None => e.b().poison(over.ty),
        },
        Expr::Result(n) => match get(over.results, *n) {
            Some(v) => v,
            None => e.b().poison(over.ty),
        },
        Expr::Const(c) => e.b().float(over.ty, *c),
        Expr::Neg(a) => {
            let x = value(e, a, over);
            e.b().fneg(x)
        }
        Expr::Add(a, b) => binary(e, BinOp::FAdd, a, b, over),
        Expr::Sub(a, b) => binary(e, BinOp::FSub, a, b, over),
        Expr::Mul(a, b) => binary(e, BinOp::FMul, a, b, over),
        Expr::Div(a, b) => binary(e, BinOp::FDiv, a, b, over),
        Expr::Call(f, args) => call(e, *f, args, over),
        Expr::Select(c, a, b) => {
            let cond = condition(e, c, over);
            let (x, y) = (value(e, a, over), value(e, b, over));
            e.choose(cond, x, y)
        }
        Expr::IntToFloat(n) => {
            let Some(v) = get(over.args, *n) else { return e.b().poison(over.ty) };
            let scalar_int = matches!(e.module.ctx.types[e.ty(v)], Type::Int(_));
            match e.module.ctx.types[over.ty] {
                Type::Vector { elem, len, .. } if scalar_int => {
                    let x = e.b().cast(CastOp::SIToFP, v, elem);
                    splat(e, x, over.ty, len)
                }
                _ => e.b().cast(CastOp::SIToFP, v, over.ty),
            }
        }
        Expr::IntAdd(n, k) => {
            let Some(v) = get(over.args, *n) else { return e.b().poison(over.ty) };
            let ty = e.ty(v);
            let int = match e.module.ctx.types[ty] {
                Type::Vector { elem, len, .. } => {
                    let k = e.b().int(elem, *k as u64);
                    splat(e, k, ty, len)
                }
                _ => e.b().int(ty, *k as u64),
            };
            e.b().add(v, int)
        }
    }
}

fn splat(e: &mut Emit<'_>, x: ValueId, ty: TypeId, len: u32) -> ValueId {
    let mut out = e.b().poison(ty);
    for n in 0..len {
        let index = e.b().i64(u64::from(n));
        out = e.b().value(enzyme_ir::Op::InsertElement, smallvec::smallvec![out, x, index], ty);
    }
    out
}

fn binary(e: &mut Emit<'_>, op: BinOp, a: &Expr, b: &Expr, over: &Operands<'_>) -> ValueId {
    let (x, y) = (value(e, a, over), value(e, b, over));
    e.b().binary(op, x, y)
}

fn condition(e: &mut Emit<'_>, c: &Cond, over: &Operands<'_>) -> ValueId {
    let mut compare = |pred, a: &Expr, b: &Expr| {
        let (x, y) = (value(e, a, over), value(e, b, over));
        e.b().fcmp(pred, x, y)
    };
    match c {
        Cond::Lt(a, b) => compare(FloatPred::Olt, a, b),
        Cond::Le(a, b) => compare(FloatPred::Ole, a, b),
        Cond::Gt(a, b) => compare(FloatPred::Ogt, a, b),
        Cond::Ge(a, b) => compare(FloatPred::Oge, a, b),
        Cond::Eq(a, b) => compare(FloatPred::Oeq, a, b),
        Cond::Ne(a, b) => compare(FloatPred::Une, a, b),
        Cond::Unordered(a, b) => compare(FloatPred::Uno, a, b),
        Cond::SignBit(a) => sign_bit(e, a, over),
        Cond::And(a, b) => {
            let (x, y) = (condition(e, a, over), condition(e, b, over));
            e.b().binary(BinOp::And, x, y)
        }
        Cond::Or(a, b) => {
            let (x, y) = (condition(e, a, over), condition(e, b, over));
            e.b().binary(BinOp::Or, x, y)
        }
    }
}

/// The sign bit as a condition: the bits as an integer are negative.
fn sign_bit(e: &mut Emit<'_>, a: &Expr, over: &Operands<'_>) -> ValueId {
    let x = value(e, a, over);
    let bits = e.module.ctx.types.float_kind(over.ty).map_or(64, FloatKind::bits);
    let int = e.module.ctx.types.int(bits);
    let int_ty = match e.module.ctx.types[over.ty] {
        Type::Vector { len, scalable, .. } => e.module.ctx.types.intern(Type::Vector { elem: int, len, scalable }),
        _ => int,
    };
    let as_int = e.b().cast(CastOp::BitCast, x, int_ty);
    let zero = e.b().zero(int_ty);
    e.b().icmp(IntPred::Slt, as_int, zero)
}

fn call(e: &mut Emit<'_>, f: MathFn, args: &[Expr], over: &Operands<'_>) -> ValueId {
    let mut values: Vec<ValueId> = args.iter().map(|a| value(e, a, over)).collect();
    match f.callee() {
        Callee::Intrinsic(base) => {
            let mut overloads = vec![over.ty];
            overloads.extend(f.int_arg().and_then(|n| values.get(n)).map(|v| e.ty(*v)));
            match enzyme_rules::intrinsic_symbol(&e.module.ctx.types, base, &overloads) {
                Some(name) => e.call(&name, over.ty, &values),
                None => e.b().poison(over.ty),
            }
        }
        Callee::Libm(base) => {
            let kind = e.module.ctx.types.float_kind(over.ty).unwrap_or(FloatKind::Double);
            let triple = e.module.triple.clone();
            match enzyme_rules::libm_symbol(base, kind, &triple) {
                Some(name) => e.call(&name, over.ty, &values),
                None => {
                    // Half and bfloat have no library functions: compute in float.
                    let float = e.module.ctx.types.float(FloatKind::Float);
                    for v in &mut values {
                        if e.module.ctx.types.is_float_or_vector(e.ty(*v)) {
                            *v = e.b().cast(CastOp::FPExt, *v, float);
                        }
                    }
                    let name = format!("{base}f");
                    let wide = e.call(&name, float, &values);
                    e.b().cast(CastOp::FPTrunc, wide, over.ty)
                }
            }
        }
        Callee::Helper(helper) => {
            let double = e.module.ctx.types.double();
            let narrow = e.module.ctx.types.float_kind(over.ty).is_some_and(|k| k.bits() < 64);
            let (there, back) =
                if narrow { (CastOp::FPExt, CastOp::FPTrunc) } else { (CastOp::FPTrunc, CastOp::FPExt) };
            let values: Vec<ValueId> = values.iter().map(|v| e.b().cast(there, *v, double)).collect();
            let f = enzyme_rules::build_helper(e.module, helper);
            let r = e.call_func(f, &values);
            e.b().cast(back, r, over.ty)
        }
    }
}
