//! Generated functions: what LLVM makes of them, and what becomes of malformed ones.

#![cfg(feature = "link")]
#![allow(clippy::unwrap_used)]

mod common;

use enzyme_ir::{BinOp, Builder, Const, Func, FuncId, MemClass, Op, Type};
use enzyme_llvm::Session;
use enzyme_llvm::tools::OwnedModule;

fn with_empty_module(work: impl FnOnce(&mut Session)) {
    OwnedModule::parse("define void @user() {\n  ret void\n}").unwrap().with_session(work);
}

/// Adds a function whose body `write` fills in.
fn generate(
    session: &mut Session,
    name: &str,
    params: &[Type],
    ret: Type,
    write: impl FnOnce(&mut Builder<'_>),
) -> FuncId {
    let ret = session.ir.ctx.types.intern(ret);
    let params: Vec<_> = params.iter().map(|p| session.ir.ctx.types.intern(p.clone())).collect();
    let sig = session.ir.ctx.types.func(ret, params.clone());
    let mut func = Func::new(name, sig, &params);
    let entry = func.add_block(None);
    write(&mut Builder::new(&mut session.ir.ctx, &mut func, entry));
    session.ir.funcs.push(func)
}

const DOUBLE: Type = Type::Float(enzyme_ir::FloatKind::Double);

#[test]
fn memory_of_different_classes_is_declared_apart() {
    with_empty_module(|session| {
        let f = generate(session, "classes", &[Type::Ptr(0), Type::Ptr(0), Type::Ptr(0)], Type::Void, |b| {
            let double = b.ctx.types.double();
            let (p, s, t) = (b.func.params[0], b.func.params[1], b.func.params[2]);
            let x = b.load(double, p, 8, MemClass::Primal);
            b.store(x, t, 8, MemClass::Tape);
            let y = b.load(double, s, 8, MemClass::Shadow);
            let z = b.load(double, p, 8, MemClass::Unknown);
            let sum = b.fadd(y, z);
            b.store(sum, s, 8, MemClass::Shadow);
            b.ret(None);
        });
        session.export(&[f]).unwrap();
        let text = session.print_llvm(f).unwrap();
        assert_eq!(text.matches("!alias.scope").count(), 4, "{text}");
        assert_eq!(text.matches("!noalias").count(), 4, "{text}");
        session.verify().unwrap();
    });
}

#[test]
fn callees_are_found_or_declared_with_what_llvm_knows_of_them() {
    with_empty_module(|session| {
        let types = &mut session.ir.ctx.types;
        let (double, ptr, i64) = (types.double(), types.ptr(), types.int(64));
        let void = types.void();
        let malloc = session.ir.declare("malloc", ptr, &[i64]);
        let sqrt = session.ir.declare("llvm.sqrt.f64", double, &[double]);
        let user = session.ir.declare("user", void, &[]);
        let f = generate(session, "calls", &[DOUBLE], DOUBLE, |b| {
            let x = b.func.params[0];
            let n = b.i64(16);
            let of_malloc = b.ctx.types.func(ptr, vec![i64]);
            let p = b.call(malloc, of_malloc, &[n]);
            let of_sqrt = b.ctx.types.func(double, vec![double]);
            let r = b.call(sqrt, of_sqrt, &[x]);
            b.store(r, p, 8, MemClass::Tape);
            let of_user = b.ctx.types.func(void, vec![]);
            b.call(user, of_user, &[]);
            b.ret(Some(r));
        });
        session.export(&[f]).unwrap();
        session.verify().unwrap();
        let text = session.print_llvm_module();
        assert!(text.contains("declare noalias noundef ptr @malloc(i64"), "{text}");
        assert!(text.contains("declare double @llvm.sqrt.f64(double) #"), "{text}");
        assert_eq!(text.matches("@user()").count(), 2, "{text}");
    });
}

#[test]
fn functions_may_call_each_other() {
    with_empty_module(|session| {
        let double = session.ir.ctx.types.double();
        let sig = session.ir.ctx.types.func(double, vec![double]);
        let even = generate(session, "even", &[DOUBLE], DOUBLE, |b| {
            b.unreachable();
        });
        let odd = generate(session, "odd", &[DOUBLE], DOUBLE, |b| {
            let x = b.func.params[0];
            let r = b.call(even, sig, &[x]);
            b.ret(Some(r));
        });
        let mut func = Func::new("even", sig, &[double]);
        let entry = func.add_block(None);
        let mut b = Builder::new(&mut session.ir.ctx, &mut func, entry);
        let x = b.func.params[0];
        let r = b.call(odd, sig, &[x]);
        b.ret(Some(r));
        session.ir.funcs[even] = func;
        session.export(&[even, odd]).unwrap();
        session.verify().unwrap();
    });
}

/// A malformed function must give a problem and leave the module as it was.
fn refused(write: impl FnOnce(&mut Builder<'_>)) {
    with_empty_module(|session| {
        let before = session.print_llvm_module();
        let good = generate(session, "good", &[], Type::Void, |b| {
            b.ret(None);
        });
        let bad = generate(session, "bad", &[DOUBLE, Type::Ptr(0)], DOUBLE, write);
        let problems = session.export(&[good, bad]).unwrap_err();
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].function, "bad");
        assert!(!problems[0].message.is_empty());
        assert_eq!(session.print_llvm_module(), before, "{problems:?}");
        session.verify().unwrap();
    });
}

#[test]
fn malformed_functions_give_problems_and_leave_no_trace() {
    refused(|b| {
        b.br(enzyme_ir::BlockId::from_u32(7));
    });
    refused(|_| {});
    refused(|b| {
        let (x, p) = (b.func.params[0], b.func.params[1]);
        let sum = b.value(Op::Binary(BinOp::FAdd), [x, p].into_iter().collect(), b.func.ty(x));
        b.ret(Some(sum));
    });
    refused(|b| {
        let x = b.func.params[0];
        let sum = b.value(Op::Binary(BinOp::Add), [x, x].into_iter().collect(), b.func.ty(x));
        b.ret(Some(sum));
    });
    refused(|b| {
        let p = b.func.params[1];
        b.ret(Some(p));
    });
    refused(|b| {
        // Used before its definition.
        let x = b.func.params[0];
        let id = b.inst(Op::FNeg, [x].into_iter().collect(), b.func.ty(x));
        let result = b.func.insts[id].result.unwrap();
        b.func.insts[id].args[0] = result;
        b.ret(Some(result));
    });
    refused(|b| {
        // A phi in a block without predecessors.
        let x = b.func.params[0];
        let (ty, block) = (b.func.ty(x), b.block);
        let phi = b.phi(ty, &[(block, x)]);
        b.ret(Some(phi));
    });
    refused(|b| {
        let double = b.ctx.types.double();
        let opaque = b.ctx.consts.intern(Const::Opaque { ty: double, text: "nothing".to_owned() });
        let v = b.func.constant(opaque, double);
        b.ret(Some(v));
    });
    refused(|b| {
        let double = b.ctx.types.double();
        let i32 = b.ctx.types.int(32);
        let lane = b.ctx.int(i32, 1);
        let wrong = b.ctx.consts.intern(Const::Aggregate { ty: double, elems: vec![lane] });
        let v = b.func.constant(wrong, double);
        b.ret(Some(v));
    });
    refused(|b| {
        let x = b.func.params[0];
        let mixed = b.ctx.types.func(b.func.ty(x), vec![]);
        let missing = FuncId::from_u32(1000);
        let v = b.call(missing, mixed, &[]);
        b.ret(Some(v));
    });
    refused(|b| {
        let x = b.func.params[0];
        let v = b.value(Op::ExtractValue(vec![3]), [x].into_iter().collect(), b.func.ty(x));
        b.ret(Some(v));
    });
    refused(|b| {
        let wide = b.ctx.types.intern(Type::Int(1 << 30));
        let p = b.func.params[1];
        let v = b.load(wide, p, 0, MemClass::Unknown);
        let double = b.ctx.types.double();
        let v = b.cast(enzyme_ir::CastOp::UIToFP, v, double);
        b.ret(Some(v));
    });
}
