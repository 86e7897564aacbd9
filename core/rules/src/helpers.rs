//! Functions that partial derivatives call and no library has, built as IR.
//!
//! They are in `double`, straight-line (selections instead of branches, so that a vectoriser and a second
//! differentiation have an easy time) and call nothing but LLVM's intrinsics. Other formats convert to `double` and
//! back: a derivative of `lgammal` has double precision.
//!
//! **Digamma** ψ, the derivative of `log Γ` (Abramowitz & Stegun 1964, chapter 6.3):
//! - reflection for `x < 0` (6.3.7): `ψ(x) = ψ(1 - x) - π / tan(πx)`, with `πx` reduced by the nearest integer first;
//! - recurrence for `x < 8` (6.3.5): `ψ(x) = ψ(x + 8) - Σ_{k<8} 1/(x + k)`;
//! - asymptotic series from 8 on (6.3.18): `log x - 1/(2x) - Σ B_2n / (2n x^2n)`, up to `x^-16`; the first term left
//!   out is below `2e-16` there.
//!
//! The error is a few units in the last place of `max(1, |ψ|)`; near the root 1.4616 it is small in the absolute
//! sense only. `ψ(±0) = ∓∞`; NaN at negative integers and at -∞; `ψ(∞) = ∞`.

use enzyme_ir::{BinOp, Builder, FloatPred, Func, FuncId, Linkage, Module, TypeId, ValueId};

/// A function built by this crate.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Helper {
    /// Digamma function of a `double`.
    Digamma,
}

impl Helper {
    /// All of them.
    pub const ALL: [Helper; 1] = [Helper::Digamma];

    /// The symbol, local to each module.
    pub fn symbol(self) -> &'static str {
        match self {
            Helper::Digamma => "enzyme.rt.digamma",
        }
    }
}

/// The helper's function in `module`, built on first use.
pub fn build_helper(module: &mut Module, helper: Helper) -> FuncId {
    let name = helper.symbol();
    if let Some(id) = module.find_func(name).filter(|id| !module.funcs[*id].is_declaration()) {
        return id;
    }
    let double = module.ctx.types.double();
    let callees = Intrinsics {
        sig: module.ctx.types.func(double, vec![double]),
        log: module.declare("llvm.log.f64", double, &[double]),
        tan: module.declare("llvm.tan.f64", double, &[double]),
        rint: module.declare("llvm.rint.f64", double, &[double]),
    };
    for f in [callees.log, callees.tan, callees.rint] {
        mark_pure(&mut module.funcs[f]);
    }
    let id = module.declare(name, double, &[double]);
    let mut func = Func::new(name, module.funcs[id].sig, &[double]);
    func.linkage = Linkage::Internal;
    mark_pure(&mut func);
    match helper {
        Helper::Digamma => digamma(module, &mut func, &callees),
    }
    module.funcs[id] = func;
    id
}

fn mark_pure(func: &mut Func) {
    func.attrs.no_read = true;
    func.attrs.no_write = true;
    func.attrs.nounwind = true;
}

struct Intrinsics {
    sig: TypeId,
    log: FuncId,
    tan: FuncId,
    rint: FuncId,
}

/// Where the asymptotic series takes over, and the number of steps of the recurrence up to it.
const SERIES_FROM: u32 = 8;

/// `B_2n / 2n` for n = 1 to 8.
const SERIES: [(f64, f64); 8] = [
    (1.0, 12.0),
    (-1.0, 120.0),
    (1.0, 252.0),
    (-1.0, 240.0),
    (1.0, 132.0),
    (-691.0, 32760.0),
    (1.0, 12.0),
    (-3617.0, 8160.0),
];

fn digamma(module: &mut Module, func: &mut Func, callees: &Intrinsics) {
    let double = module.ctx.types.double();
    let Some(x) = func.params.first().copied() else { return };
    let entry = func.add_block(Some("entry".to_owned()));
    let mut b = Builder::new(&mut module.ctx, func, entry);
    let zero = b.float(double, 0.0);
    let one = b.float(double, 1.0);

    let is_negative = b.fcmp(FloatPred::Olt, x, zero);
    let reflected = b.binary(BinOp::FSub, one, x);
    let positive = b.select(is_negative, reflected, x);

    // Recurrence.
    let is_small = {
        let limit = b.float(double, f64::from(SERIES_FROM));
        b.fcmp(FloatPred::Olt, positive, limit)
    };
    let mut steps: Option<ValueId> = None;
    for k in 0..SERIES_FROM {
        let term = if k == 0 {
            positive
        } else {
            let k = b.float(double, f64::from(k));
            b.binary(BinOp::FAdd, positive, k)
        };
        let term = b.binary(BinOp::FDiv, one, term);
        steps = Some(steps.map_or(term, |sum| b.binary(BinOp::FAdd, sum, term)));
    }
    let steps = steps.unwrap_or(zero);
    let below = b.select(is_small, steps, zero);
    let shift = b.float(double, f64::from(SERIES_FROM));
    let shifted = b.binary(BinOp::FAdd, positive, shift);
    let large = b.select(is_small, shifted, positive);

    // Series, by Horner's scheme in 1/x^2.
    let inverse = b.binary(BinOp::FDiv, one, large);
    let square = b.fmul(inverse, inverse);
    let mut sum: Option<ValueId> = None;
    for (p, q) in SERIES.iter().rev() {
        let coefficient = b.float(double, p / q);
        let inner = match sum {
            Some(s) => b.binary(BinOp::FAdd, coefficient, s),
            None => coefficient,
        };
        sum = Some(b.binary(BinOp::FMul, square, inner));
    }
    let sum = sum.unwrap_or(zero);
    let half = b.float(double, 0.5);
    let log = b.call(callees.log, callees.sig, &[large]);
    let half_inverse = b.fmul(half, inverse);
    let tail = b.binary(BinOp::FAdd, half_inverse, sum);
    let series = b.binary(BinOp::FSub, log, tail);
    let value = b.binary(BinOp::FSub, series, below);

    // Reflection.
    let nearest = b.call(callees.rint, callees.sig, &[x]);
    let fraction = b.binary(BinOp::FSub, x, nearest);
    let pi = b.float(double, std::f64::consts::PI);
    let angle = b.fmul(pi, fraction);
    let tangent = b.call(callees.tan, callees.sig, &[angle]);
    let cotangent = b.binary(BinOp::FDiv, pi, tangent);
    let is_pole = b.fcmp(FloatPred::Oeq, fraction, zero);
    let nan = b.float(double, f64::NAN);
    let cotangent = b.select(is_pole, nan, cotangent);
    let mirrored = b.binary(BinOp::FSub, value, cotangent);
    let result = b.select(is_negative, mirrored, value);
    b.ret(Some(result));
}
