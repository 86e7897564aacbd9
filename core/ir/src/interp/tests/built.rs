//! Functions made with the builder.

use super::super::*;
use crate::op::{BinOp, FloatPred, IntPred, MemClass};
use crate::{Builder, Func, FuncId, Module, TypeId, ValueId};

/// Adds a function to a module; `body` writes its entry block and what follows.
pub(super) fn function(
    module: &mut Module,
    name: &str,
    ret: TypeId,
    params: &[TypeId],
    body: impl FnOnce(&mut Builder<'_>, &[ValueId]),
) -> FuncId {
    let sig = module.ctx.types.func(ret, params.to_vec());
    let id = module.funcs.push(Func::new(name, sig, params));
    define(module, id, body);
    id
}

/// Writes the body of a declared function.
fn define(module: &mut Module, id: FuncId, body: impl FnOnce(&mut Builder<'_>, &[ValueId])) {
    let mut func = module.funcs[id].clone();
    let entry = func.add_block(None);
    let params = func.params.clone();
    body(&mut Builder::new(&mut module.ctx, &mut func, entry), &params);
    module.funcs[id] = func;
}

fn run(module: &Module, func: FuncId, args: &[Val]) -> Result<Option<Val>, Trap> {
    Interp::new(module, Config::default())?.run(func, args)
}

#[test]
fn straight_line_and_calls_of_mathematics() {
    let mut m = Module::default();
    let double = m.ctx.types.double();
    let sin = m.declare("sin", double, &[double]);
    let sig = m.funcs[sin].sig;
    let f = function(&mut m, "f", double, &[double, double], |b, p| {
        let s = b.call(sin, sig, &[p[0]]);
        let product = b.binary(BinOp::FMul, s, p[1]);
        b.ret(Some(product));
    });
    assert_eq!(run(&m, f, &[0.5.into(), 3.0.into()]), Ok(Some(Val::F64(0.5f64.sin() * 3.0))));
}

/// Sums an array in a loop with two phis.
fn array_sum(m: &mut Module) -> FuncId {
    let (double, ptr, i64) = (m.ctx.types.double(), m.ctx.types.ptr(), m.ctx.types.int(64));
    function(m, "sum", double, &[ptr, i64], |b, p| {
        let (entry, head, done) = (b.block, b.func.add_block(None), b.func.add_block(None));
        b.br(head);
        b.block = head;
        let (zero, none) = (b.int(i64, 0), b.float(double, 0.0));
        let i = b.phi(i64, &[(entry, zero)]);
        let sum = b.phi(double, &[(entry, none)]);
        let address = b.gep(double, p[0], &[i]);
        let x = b.load(double, address, 0, MemClass::Unknown);
        let next_sum = b.binary(BinOp::FAdd, sum, x);
        let one = b.int(i64, 1);
        let next = b.add(i, one);
        let more = b.icmp(IntPred::Ult, next, p[1]);
        b.cond_br(more, head, done);
        for (phi, value) in [(i, next), (sum, next_sum)] {
            let inst = b.func.def_inst(phi).unwrap();
            b.func.insts[inst].args.push(value);
            if let crate::Op::Phi(blocks) = &mut b.func.insts[inst].op {
                blocks.push(head);
            }
        }
        b.block = done;
        b.ret(Some(next_sum));
    })
}

#[test]
fn a_loop_over_memory() {
    let mut m = Module::default();
    let f = array_sum(&mut m);
    let mut interp = Interp::new(&m, Config::default()).unwrap();
    let array = interp.alloc_f64s(&[1.0, 2.5, -4.0]).unwrap();
    assert_eq!(interp.run(f, &[Val::Ptr(array), 3i64.into()]), Ok(Some(Val::F64(-0.5))));
    let trap = interp.run(f, &[Val::Ptr(array), 4i64.into()]).unwrap_err();
    assert!(trap.to_string().contains("out of bounds"), "{trap}");
    let place = trap.place().unwrap();
    assert_eq!((place.func.as_str(), place.op.as_str()), ("sum", "Load"));
}

#[test]
fn recursion_is_as_deep_as_memory_allows() {
    let mut m = Module::default();
    let i64 = m.ctx.types.int(64);
    let depth = m.declare("depth", i64, &[i64]);
    let sig = m.funcs[depth].sig;
    define(&mut m, depth, |b, p| {
        let (more, done) = (b.func.add_block(None), b.func.add_block(None));
        let zero = b.int(i64, 0);
        let stop = b.icmp(IntPred::Eq, p[0], zero);
        b.cond_br(stop, done, more);
        b.block = done;
        b.ret(Some(zero));
        b.block = more;
        let one = b.int(i64, 1);
        let less = b.binary(BinOp::Sub, p[0], one);
        let inner = b.call(depth, sig, &[less]);
        let sum = b.add(inner, one);
        b.ret(Some(sum));
    });
    assert_eq!(run(&m, depth, &[100_000i64.into()]), Ok(Some(Val::Int(100_000))));
    let config = Config { max_depth: 1000, ..Config::default() };
    let trap = Interp::new(&m, config).unwrap().run(depth, &[2000i64.into()]).unwrap_err();
    assert!(matches!(trap, Trap::Limit { .. }), "{trap}");
    assert_eq!(trap.place().unwrap().callers.len(), 8);
    let config = Config { max_steps: 100, ..Config::default() };
    let trap = Interp::new(&m, config).unwrap().run(depth, &[2000i64.into()]).unwrap_err();
    assert!(matches!(trap, Trap::Limit { .. }), "{trap}");
}

#[test]
fn vectors_are_computed_lane_by_lane() {
    let mut m = Module::default();
    let float = m.ctx.types.float(crate::FloatKind::Float);
    let v4 = m.ctx.types.vector(float, 4);
    let f = function(&mut m, "f", v4, &[v4, v4], |b, p| {
        let sum = b.binary(BinOp::FAdd, p[0], p[1]);
        let less = b.fcmp(FloatPred::Olt, p[0], p[1]);
        let chosen = b.select(less, sum, p[0]);
        b.ret(Some(chosen));
    });
    let vector = |x: [f32; 4]| Val::Agg(x.map(Val::F32).to_vec());
    let result = run(&m, f, &[vector([1.0, 2.0, 3.0, 4.0]), vector([2.0, 1.0, 5.0, f32::NAN])]);
    assert_eq!(result, Ok(Some(vector([3.0, 2.0, 8.0, 4.0]))));
}

#[test]
fn user_functions_and_unknown_ones() {
    let mut m = Module::default();
    let double = m.ctx.types.double();
    let known = m.declare("known", double, &[double]);
    let unknown = m.declare("unknown", double, &[double]);
    let sig = m.funcs[known].sig;
    let f = function(&mut m, "f", double, &[double], |b, p| {
        let y = b.call(known, sig, &[p[0]]);
        b.ret(Some(y));
    });
    let g = function(&mut m, "g", double, &[double], |b, p| {
        let y = b.call(unknown, sig, &[p[0]]);
        b.ret(Some(y));
    });
    let mut interp = Interp::new(&m, Config::default()).unwrap();
    interp.register("known", move |interp, args| {
        // A registered function may call back.
        let x = args.first().and_then(Val::as_f64).unwrap_or(0.0);
        if x < 10.0 { interp.run(known, &[Val::F64(x * 2.0)]) } else { Ok(Some(Val::F64(x))) }
    });
    assert_eq!(interp.run(f, &[3.0.into()]), Ok(Some(Val::F64(12.0))));
    let trap = interp.run(g, &[3.0.into()]).unwrap_err();
    assert!(matches!(trap, Trap::Unsupported { .. }) && trap.to_string().contains("`unknown`"), "{trap}");
    assert!(interp.run(f, &[]).is_err());
    assert!(interp.run(f, &[Val::Int(3)]).is_err());
}
