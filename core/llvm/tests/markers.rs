//! Marker calls: what is seen of them at each level, and how they are replaced.

#![cfg(feature = "link")]
#![allow(clippy::unwrap_used)]

mod common;

use common::compile;
use enzyme_ir::{Builder, Func, FuncId, Type};
use enzyme_llvm::tools::OwnedModule;
use enzyme_llvm::{Level, MarkerCall, MarkerValue, Session};

const SOURCE: &str = "
extern int enzyme_dup, enzyme_const;
double __enzyme_autodiff(void *, ...);
static double f(double *x, int n) { return x[0] * n; }
double g(double *x, double *dx, int flag) {
  double (*indirect)(double *, int) = f;
  double r = __enzyme_autodiff((void *)f, enzyme_dup, x, dx, enzyme_const, 7);
  if (flag)
    r += __enzyme_autodiff((void *)indirect, enzyme_dup, x, dx, 3);
  return r;
}";

#[test]
fn arguments_are_classified_at_every_level() {
    for level in ["-O0", "-O1", "-O2", "-O3", "-Os"] {
        let mut module = compile(&format!("markers{level}"), SOURCE, &[level, "-g"]);
        module.with_session(|session| {
            let calls = session.find_marker_calls(&["__enzyme_autodiff"]);
            assert_eq!(calls.len(), 2, "{level}");
            let first = &calls[0];
            assert_eq!((first.callee.as_str(), first.caller_name.as_str()), ("__enzyme_autodiff", "g"));
            let f = session.find_function("f").unwrap();
            let values: Vec<&MarkerValue> = first.args.iter().map(|a| &a.value).collect();
            let load = |name: &str| MarkerValue::LoadOfGlobal(name.to_owned());
            let expected = [
                &MarkerValue::Function(f),
                &load("enzyme_dup"),
                &MarkerValue::Other,
                &MarkerValue::Other,
                &load("enzyme_const"),
                &MarkerValue::ConstInt(7),
            ];
            assert_eq!(values, expected, "{level}");
            assert_eq!(calls[1].args[0].value, MarkerValue::Function(f), "{level}");
            assert_eq!(calls[1].args[1].value, load("enzyme_dup"), "{level}");
            let loc = &session.ir.locs[first.loc.unwrap()];
            assert_eq!((loc.line, loc.scope.as_str()), (7, "g"), "{level}");
        });
    }
}

/// A function of the call's type that returns the sum of a constant and nothing else.
fn constant_wrapper(session: &mut Session, call: &MarkerCall, value: f64) -> FuncId {
    let params: Vec<_> = call.args.iter().map(|a| a.ty).collect();
    let sig = session.ir.ctx.types.func(call.ret, params.clone());
    let mut func = Func::new("wrapper", sig, &params);
    let entry = func.add_block(None);
    let mut b = Builder::new(&mut session.ir.ctx, &mut func, entry);
    let result = b.float(call.ret, value);
    b.ret(Some(result));
    session.ir.funcs.push(func)
}

#[test]
fn replaced_calls_leave_nothing_of_the_marker() {
    for (level, speed) in [("-O0", 0), ("-O2", 2)] {
        let mut module = compile(&format!("replace{level}"), SOURCE, &[level]);
        module.with_session(|session| {
            let calls = session.find_marker_calls(&["__enzyme_autodiff"]);
            let mut wrappers = Vec::new();
            for (call, value) in calls.iter().zip([1.0, 2.0]) {
                let wrapper = constant_wrapper(session, call, value);
                session.export(&[wrapper]).unwrap();
                session.replace_marker(call, wrapper).unwrap();
                assert!(session.replace_marker(call, wrapper).is_err(), "a call is replaced once");
                wrappers.push(wrapper);
            }
            session.optimise(&wrappers, &calls, Level { speed, size: 0 });
            session.finish(&["__enzyme_autodiff", "enzyme_dup", "enzyme_const"]);
            session.verify().unwrap();
            let text = session.print_llvm_module();
            assert!(!text.contains("__enzyme_autodiff") && !text.contains("@wrapper"), "{text}");
            if speed > 0 {
                assert!(!text.contains("enzyme_dup"), "{text}");
            }
        });
    }
}

/// A call under a condition that turns out never to hold goes when the one before it is replaced and tidied.
#[test]
fn calls_that_are_never_reached_are_no_longer_there() {
    let source = "
double __enzyme_autodiff(void *, ...);
static double f(double x) { return x * x; }
double g(double x) {
  int never = 0;
  double r = __enzyme_autodiff((void *)f, x);
  if (never)
    r += __enzyme_autodiff((void *)f, r);
  return r;
}";
    let mut module = compile("unreached", source, &["-O1", "-Xclang", "-disable-llvm-passes"]);
    module.with_session(|session| {
        let calls = session.find_marker_calls(&["__enzyme_autodiff"]);
        assert_eq!(calls.len(), 2);
        let wrapper = constant_wrapper(session, &calls[0], 1.0);
        session.export(&[wrapper]).unwrap();
        session.replace_marker(&calls[0], wrapper).unwrap();
        assert!(!session.is_there(&calls[0]) && session.is_there(&calls[1]));
        session.optimise(&[wrapper], &calls, Level { speed: 2, size: 0 });
        assert!(!session.is_there(&calls[1]));
        session.verify().unwrap();
    });
}

#[test]
fn wrappers_of_another_type_are_refused_and_the_call_stays() {
    let mut module = compile("replace-type", SOURCE, &["-O1"]);
    module.with_session(|session| {
        let calls = session.find_marker_calls(&["__enzyme_autodiff"]);
        let wrapper = constant_wrapper(session, &calls[1], 0.0);
        assert!(session.replace_marker(&calls[0], wrapper).is_err(), "not exported yet");
        session.export(&[wrapper]).unwrap();
        let problem = session.replace_marker(&calls[0], wrapper).unwrap_err();
        assert!(problem.message.contains("type"), "{problem}");
        session.replace_marker(&calls[1], wrapper).unwrap();
        session.verify().unwrap();
        assert_eq!(session.find_marker_calls(&["__enzyme_autodiff"]).len(), 1);
    });
}

#[test]
fn invokes_and_results_in_memory_are_kept_so() {
    let text = r"
        %pair = type { double, double, double }
        @enzyme_out = external global i32
        declare void @__enzyme_autodiff_pair(ptr sret(%pair) align 8, ...)
        declare i32 @__gxx_personality_v0(...)
        define double @f(double %x) {
          ret double %x
        }
        define void @g(ptr %out, double %x, i1 %c) personality ptr @__gxx_personality_v0 {
          br i1 %c, label %a, label %b
        a:
          %m = load i32, ptr @enzyme_out
          br label %join
        b:
          %n = load i32, ptr @enzyme_out
          br label %join
        join:
          %k = phi i32 [ %m, %a ], [ %n, %b ]
          invoke void (ptr, ...) @__enzyme_autodiff_pair(ptr sret(%pair) align 8 %out, ptr @f, i32 %k, double %x)
              to label %done unwind label %pad
        done:
          ret void
        pad:
          %e = landingpad { ptr, i32 } cleanup
          resume { ptr, i32 } %e
        }";
    let mut module = OwnedModule::parse(text).unwrap();
    module.with_session(|session| {
        let calls = session.find_marker_calls(&["__enzyme_autodiff"]);
        assert_eq!(calls.len(), 1);
        let pair = calls[0].sret().unwrap();
        assert!(matches!(&session.ir.ctx.types[pair], Type::Struct(s) if s.name.as_deref() == Some("pair")));
        assert_eq!(calls[0].args[2].value, MarkerValue::LoadOfGlobal("enzyme_out".to_owned()));
        let params: Vec<_> = calls[0].args.iter().map(|a| a.ty).collect();
        let sig = session.ir.ctx.types.func(calls[0].ret, params.clone());
        let mut func = Func::new("wrapper", sig, &params);
        func.param_attrs[0].sret = Some(pair);
        let entry = func.add_block(None);
        Builder::new(&mut session.ir.ctx, &mut func, entry).ret(None);
        let wrapper = session.ir.funcs.push(func);
        session.export(&[wrapper]).unwrap();
        session.replace_marker(&calls[0], wrapper).unwrap();
        session.verify().unwrap();
        let out = session.print_llvm_module();
        assert!(out.contains("invoke void @wrapper(ptr sret(%pair)"), "{out}");
        session.optimise(&[wrapper], &[], Level::default());
        session.finish(&["__enzyme_"]);
        session.verify().unwrap();
        assert!(!session.print_llvm_module().contains("__enzyme_"));
    });
}

#[test]
fn functions_hidden_in_fields_of_stack_slots_are_found() {
    let text = r"
        declare double @__enzyme_autodiff(ptr, double)
        define double @f(double %x) {
          ret double %x
        }
        define double @g(double %x, i64 %other) {
          %slot = alloca { i64, i64 }
          %second = getelementptr { i64, i64 }, ptr %slot, i32 0, i32 1
          store i64 %other, ptr %slot
          store i64 ptrtoint (ptr @f to i64), ptr %second
          %a = load i64, ptr %second
          %b = inttoptr i64 %a to ptr
          %r = call double @__enzyme_autodiff(ptr %b, double %x)
          %c = load i64, ptr %slot
          %d = inttoptr i64 %c to ptr
          %s = call double @__enzyme_autodiff(ptr %d, double %r)
          ret double %s
        }";
    OwnedModule::parse(text).unwrap().with_session(|session| {
        let calls = session.find_marker_calls(&["__enzyme_autodiff"]);
        let f = session.find_function("f").unwrap();
        assert_eq!(calls[0].args[0].value, MarkerValue::Function(f));
        assert_eq!(calls[1].args[0].value, MarkerValue::Other);
    });
}
