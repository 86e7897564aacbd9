//! Products of adjoints that are nothing where the adjoint is zero, as derivatives of first order have them, differentiated once more.
//!
//! Where an arm of a selection was not taken, its adjoint is zero and its partial derivatives may be infinite or NaN, so that the
//! reverse mode writes `a == 0 ? -0 : a * p` ([`crate::lower::strong_product`]). Read as a program this has the derivative 0
//! where `a` is zero; but it stands for the product, of which the derivative by `a` is `p` wherever the arm was taken: a residual that
//! is zero has a Hessian. So the tangent is that of the product unless the tangent of `a` is zero, too; and the adjoint of the
//! product goes to `a` alone, where `a` is zero.
//!
//! What is meant is told by the constant: the neutral element of sums is minus zero, which programs do not write. A program's own
//! `x == 0 ? 0 : x * log(x)` has the derivatives of its arms.
//!
//! Not handled: products that LLVM has put in other words, and in reverse mode those of several factors, as tangents of such products are
//! (then the derivative is that of the arm that is taken).

use std::collections::{BTreeMap, BTreeSet};

use enzyme_ir::{BinOp, CastOp, Const, ConstId, FloatPred, Func, Inst, Module, Op, Type, ValueId};

use crate::keys::Subject;

/// How many comparisons are looked at, and how many values for the way from a product to its factor.
const LIMIT: usize = 64;

/// A selection that stands for a product.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Vanishing {
    /// What must be zero so that the product is left out: at least one.
    pub factors: Vec<ValueId>,
    /// Which operand of the selection is the product.
    pub product: usize,
}

/// What a selection stands for, if it was written for a product.
pub fn of(module: &Module, func: &Func, inst: &Inst) -> Option<Vanishing> {
    let (Op::Select, [cond, a, b]) = (&inst.op, inst.args.as_slice()) else { return None };
    let none = |v: ValueId| func.as_const(v).is_some_and(|c| is_zero(module, c, true));
    let (product, all, pred, other) = match (none(*a), none(*b)) {
        (true, false) => (2, BinOp::And, [FloatPred::Oeq, FloatPred::Ueq], false),
        (false, true) => (1, BinOp::Or, [FloatPred::Une, FloatPred::One], true),
        _ => return None,
    };
    let (mut factors, mut work, mut seen) = (Vec::new(), vec![*cond], 0);
    while let Some(c) = work.pop() {
        seen += 1;
        let made = &func.insts[func.def_inst(c).filter(|_| seen <= LIMIT)?];
        match (&made.op, made.args.as_slice()) {
            (Op::Binary(op), [x, y]) if *op == all => work.extend([*x, *y]),
            // `x && y` and `x || y`, which need not look at `y`.
            (Op::Select, [x, y, z]) => {
                let (next, fixed) = if other { (*z, *y) } else { (*y, *z) };
                func.as_const(fixed).filter(|c| module.ctx.is_zero(*c) != other)?;
                work.extend([*x, next]);
            }
            (Op::FCmp(p), [x, zero]) if pred.contains(p) => {
                func.as_const(*zero).filter(|c| is_zero(module, *c, false) || is_zero(module, *c, true))?;
                factors.push(*x);
            }
            _ => return None,
        }
    }
    Some(Vanishing { factors, product })
}

/// An operation on the way from a factor to its product: the adjoints of its other operands are zero where the factor is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Way {
    /// The condition of the selection.
    pub cond: ValueId,
    /// Its value where the factor is zero.
    pub vanishes: bool,
    /// The operand that leads to the factor.
    pub toward: ValueId,
}

/// The products of a function that have one factor, of which the way to it is seen.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Products {
    /// By the results of the operations.
    pub ways: BTreeMap<ValueId, Way>,
    /// Which operand the product is of each selection.
    pub selections: BTreeMap<ValueId, usize>,
}

impl Products {
    /// Those of `s`.
    pub fn new(module: &Module, s: &Subject<'_>) -> Products {
        let mut out = Products::default();
        for (_, i) in s.func.placed() {
            let inst = &s.func.insts[i];
            let Some(r) = inst.result.filter(|r| s.is_active(*r) && !s.shape.running.contains_key(r)) else { continue };
            let Some(Vanishing { factors, product }) = of(module, s.func, inst) else { continue };
            let [factor] = factors.as_slice() else { continue };
            let mut steps = Vec::new();
            if s.is_active(*factor) && lead(s.func, inst.args[product], *factor, &mut BTreeSet::new(), &mut steps) {
                out.selections.insert(r, product);
                let (cond, vanishes) = (inst.args[0], product == 2);
                out.ways.extend(steps.into_iter().map(|(r, toward)| (r, Way { cond, vanishes, toward })));
            }
        }
        out
    }
}

/// Whether `v` is `factor` times something; then each operation between them is in `steps`, with the operand that leads there.
fn lead(
    func: &Func,
    v: ValueId,
    factor: ValueId,
    seen: &mut BTreeSet<ValueId>,
    steps: &mut Vec<(ValueId, ValueId)>,
) -> bool {
    if v == factor {
        return true;
    }
    // What is used twice leads nowhere the second time either.
    if seen.len() >= LIMIT || !seen.insert(v) {
        return false;
    }
    let Some(inst) = func.def_inst(v).map(|i| &func.insts[i]) else { return false };
    let through = match &inst.op {
        Op::Binary(BinOp::FMul) => inst.args.as_slice(),
        Op::Binary(BinOp::FDiv) | Op::FNeg | Op::Cast(CastOp::FPExt | CastOp::FPTrunc) => &inst.args[..1],
        _ => return false,
    };
    let found = through.iter().copied().find(|a| lead(func, *a, factor, seen, steps));
    steps.extend(found.map(|toward| (v, toward)));
    found.is_some()
}

/// Whether a constant is zero with this sign, in all lanes.
fn is_zero(module: &Module, c: ConstId, minus: bool) -> bool {
    match &module.ctx.consts[c] {
        Const::Zero(_) => !minus,
        Const::Float { ty, bits } => {
            let kind = module.ctx.types.float_kind(*ty);
            kind.is_some_and(|k| *bits == if minus { 1 << (k.bits() - 1) } else { 0 })
        }
        Const::Aggregate { ty, elems } => {
            matches!(module.ctx.types[*ty], Type::Vector { .. }) && elems.iter().all(|e| is_zero(module, *e, minus))
        }
        _ => false,
    }
}
