//! Values of expressions in `double`, and of the helper functions by a straight-line interpreter of their IR.

use enzyme_ir::{BinOp, Const, FloatPred, FuncId, Module, Op, ValueDef, ValueId};
use enzyme_rules::{Cond, Expr, Helper, MathFn, build_helper};

/// A module with the helpers.
pub fn mini_module() -> Module {
    let mut module = Module::default();
    for h in Helper::ALL {
        build_helper(&mut module, h);
    }
    module
}

/// Value of an expression.
pub fn eval(e: &Expr, args: &[f64], results: &[f64], m: &Module) -> f64 {
    let go = |e: &Expr| eval(e, args, results, m);
    match e {
        Expr::Arg(i) | Expr::IntToFloat(i) => args[usize::from(*i)],
        Expr::Result(i) => results[usize::from(*i)],
        Expr::Const(v) => *v,
        Expr::Neg(a) => -go(a),
        Expr::Add(a, b) => go(a) + go(b),
        Expr::Sub(a, b) => go(a) - go(b),
        Expr::Mul(a, b) => go(a) * go(b),
        Expr::Div(a, b) => go(a) / go(b),
        Expr::Call(f, list) => call(*f, &list.iter().map(go).collect::<Vec<_>>(), m),
        Expr::Select(c, a, b) => go(if holds(c, args, results, m) { a } else { b }),
        Expr::IntAdd(i, k) => args[usize::from(*i)] + *k as f64,
    }
}

fn holds(c: &Cond, args: &[f64], results: &[f64], m: &Module) -> bool {
    let go = |e: &Expr| eval(e, args, results, m);
    match c {
        Cond::Lt(a, b) => go(a) < go(b),
        Cond::Le(a, b) => go(a) <= go(b),
        Cond::Gt(a, b) => go(a) > go(b),
        Cond::Ge(a, b) => go(a) >= go(b),
        Cond::Eq(a, b) => go(a) == go(b),
        Cond::Ne(a, b) => go(a) != go(b),
        Cond::Unordered(a, b) => go(a).is_nan() || go(b).is_nan(),
        Cond::SignBit(a) => go(a).is_sign_negative(),
        Cond::And(a, b) => holds(a, args, results, m) && holds(b, args, results, m),
        Cond::Or(a, b) => holds(a, args, results, m) || holds(b, args, results, m),
    }
}

fn call(f: MathFn, a: &[f64], m: &Module) -> f64 {
    assert_eq!(a.len(), f.arity(), "{f:?}");
    match f {
        MathFn::Sqrt => libm::sqrt(a[0]),
        MathFn::Sin => libm::sin(a[0]),
        MathFn::Cos => libm::cos(a[0]),
        MathFn::Sinh => libm::sinh(a[0]),
        MathFn::Cosh => libm::cosh(a[0]),
        MathFn::Exp => libm::exp(a[0]),
        MathFn::Exp2 => libm::exp2(a[0]),
        MathFn::Exp10 => libm::exp10(a[0]),
        MathFn::Log => libm::log(a[0]),
        MathFn::Log1p => libm::log1p(a[0]),
        MathFn::Fabs => libm::fabs(a[0]),
        MathFn::Copysign => libm::copysign(a[0], a[1]),
        MathFn::Pow => libm::pow(a[0], a[1]),
        MathFn::Powi => a[0].powi(a[1] as i32),
        MathFn::Ldexp | MathFn::Scalbln => libm::ldexp(a[0], a[1] as i32),
        MathFn::Atan2 => libm::atan2(a[0], a[1]),
        MathFn::Hypot => libm::hypot(a[0], a[1]),
        MathFn::Sinpi => sinpi(a[0]),
        MathFn::Cospi => cospi(a[0]),
        MathFn::J0 => libm::j0(a[0]),
        MathFn::J1 => libm::j1(a[0]),
        MathFn::Jn => libm::jn(a[0] as i32, a[1]),
        MathFn::Y0 => libm::y0(a[0]),
        MathFn::Y1 => libm::y1(a[0]),
        MathFn::Yn => libm::yn(a[0] as i32, a[1]),
        MathFn::Digamma => run_helper(m, Helper::Digamma, a[0]),
    }
}

/// `sin(πx)`, by reduction to a turn.
pub fn sinpi(x: f64) -> f64 {
    libm::sin(std::f64::consts::PI * (x - 2.0 * libm::rint(x / 2.0)))
}

/// `cos(πx)`, by reduction to a turn.
pub fn cospi(x: f64) -> f64 {
    libm::cos(std::f64::consts::PI * (x - 2.0 * libm::rint(x / 2.0)))
}

/// Value of a helper.
pub fn run_helper(m: &Module, helper: Helper, x: f64) -> f64 {
    run(m, m.find_func(helper.symbol()).unwrap(), x)
}

/// Runs a function of one block on doubles.
fn run(m: &Module, f: FuncId, x: f64) -> f64 {
    let func = &m.funcs[f];
    let mut values = std::collections::HashMap::<ValueId, f64>::new();
    let get = |values: &std::collections::HashMap<ValueId, f64>, v: ValueId| match func.values[v].def {
        ValueDef::Const(c) => match &m.ctx.consts[c] {
            Const::Float { bits, .. } => f64::from_bits(*bits as u64),
            other => panic!("constant {other:?}"),
        },
        ValueDef::Param(_) => x,
        ValueDef::Inst(_) => values[&v],
    };
    assert_eq!(func.layout.len(), 1, "helpers are straight-line code");
    for i in &func.blocks[func.layout[0]].insts {
        let inst = &func.insts[*i];
        let arg = |n: usize| get(&values, inst.args[n]);
        let value = match &inst.op {
            Op::Binary(BinOp::FAdd) => arg(0) + arg(1),
            Op::Binary(BinOp::FSub) => arg(0) - arg(1),
            Op::Binary(BinOp::FMul) => arg(0) * arg(1),
            Op::Binary(BinOp::FDiv) => arg(0) / arg(1),
            Op::FCmp(FloatPred::Olt) => f64::from(u8::from(arg(0) < arg(1))),
            Op::FCmp(FloatPred::Oeq) => f64::from(u8::from(arg(0) == arg(1))),
            Op::Select => arg(if arg(0) == 1.0 { 1 } else { 2 }),
            Op::Call(_) => {
                let callee = m.direct_callee(func, *i).unwrap();
                match m.funcs[callee].name.as_str() {
                    "llvm.log.f64" => libm::log(arg(1)),
                    "llvm.tan.f64" => libm::tan(arg(1)),
                    "llvm.rint.f64" => libm::rint(arg(1)),
                    other => panic!("call of {other}"),
                }
            }
            Op::Ret => return arg(0),
            other => panic!("operation {other:?}"),
        };
        values.insert(inst.result.unwrap(), value);
    }
    panic!("no return");
}
