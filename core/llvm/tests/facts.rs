//! What prepare makes of a function, and what LLVM is made to say of it.

#![cfg(feature = "link")]
#![allow(clippy::unwrap_used)]

mod common;

use common::{compile, insts, text};
use enzyme_ir::{ByteRun, ByteType, Facts, FloatKind, FuncId, Op, ValueDef};
use enzyme_llvm::{PrepareOptions, Session};

const LEVELS: [&str; 4] = ["-O0", "-O1", "-O2", "-O3"];

/// Prepares function `f` of a program at each level and hands it to `look`.
fn each_level(name: &str, source: &str, look: impl Fn(&str, &Session, FuncId, &Facts)) {
    for level in LEVELS {
        let mut module =
            compile(&format!("facts-{name}{level}"), source, &[level, "-fno-vectorize", "-fno-unroll-loops"]);
        module.with_session(|session| {
            let f = session.find_function("f").unwrap();
            session.define_body(f, &PrepareOptions::default()).unwrap();
            let errors = enzyme_ir::verify(&session.ir, &session.ir.funcs[f]);
            assert!(errors.is_empty(), "{errors:?}");
            let facts = session.facts(f).clone();
            look(level, session, f, &facts);
        });
    }
}

#[test]
fn stack_slots_become_values_and_small_callees_come_in() {
    let source = "static double g(double x) { double y = x; y *= 2; return y; }\n\
                  double f(double x) { double z = g(x); return z + x; }";
    each_level("slots", source, |level, session, f, _| {
        let func = &session.ir.funcs[f];
        let left = insts(func, |op| matches!(op, Op::Alloca { .. } | Op::Load(_) | Op::Store(_) | Op::Call(_)));
        assert!(left.is_empty(), "{level}: {}", text(&session.ir, func));
        assert_eq!(insts(func, |op| matches!(op, Op::Ret)).len(), 1, "{level}");
    });
}

#[test]
fn functions_that_are_to_stay_calls_stay() {
    let source = "double keep_me(double x) { return x * x; }\n\
                  double rec(double x, int n) { return n < 1 ? x : rec(x * x, n - 1) + rec(x, n - 2); }\n\
                  double f(double x) { return keep_me(x) + rec(x, 5); }";
    let mut module = compile("facts-keep", source, &["-O0"]);
    module.with_session(|session| {
        let f = session.find_function("f").unwrap();
        let options = PrepareOptions { keep: vec!["keep_me".to_owned()], ..PrepareOptions::default() };
        session.define_body(f, &options).unwrap();
        let func = &session.ir.funcs[f];
        let calls = insts(func, |op| matches!(op, Op::Call(_)));
        let names: Vec<&str> =
            calls.iter().map(|c| session.ir.funcs[session.ir.direct_callee(func, *c).unwrap()].name.as_str()).collect();
        assert_eq!(names, ["keep_me", "rec"]);
        let callee = session.ir.find_func("rec").unwrap();
        assert!(session.ir.funcs[callee].is_declaration() && session.has_body(callee));
        session.define_body(callee, &PrepareOptions::default()).unwrap();
        assert!(!session.ir.funcs[callee].is_declaration());
    });
}

#[test]
fn trip_counts_are_stated_where_they_are_known() {
    let source = "double f(double *restrict x, int n, int m) {\n\
                    double s = 0;\n\
                    for (int i = 0; i < n; ++i)\n\
                      for (int j = 0; j <= i + m; j += 3)\n\
                        s += x[i] * x[j];\n\
                    for (int k = 0; k < 100; ++k)\n\
                      s = s * x[k] + 1;\n\
                    return s; }";
    each_level("trips", source, |level, session, f, facts| {
        let func = &session.ir.funcs[f];
        assert_eq!(facts.trip_counts.len(), 3, "{level}: {facts:?}\n{}", text(&session.ir, func));
        let constant = facts.trip_counts.values().filter_map(|v| match func.values[*v].def {
            ValueDef::Const(c) => session.ir.ctx.consts.as_u64(c),
            _ => None,
        });
        assert_eq!(constant.collect::<Vec<_>>(), [99], "{level}");
    });
}

#[test]
fn loops_left_by_data_have_no_trip_count() {
    let source = "double f(double x) { while (x > 1) x = x * 0.5 - 1e-3; return x; }";
    each_level("while", source, |level, _, _, facts| {
        assert!(facts.trip_counts.is_empty(), "{level}: {facts:?}");
    });
}

fn loads_and_stable(session: &Session, f: FuncId, facts: &Facts) -> (usize, usize) {
    let loads = insts(&session.ir.funcs[f], |op| matches!(op, Op::Load(_)));
    let stable = loads.iter().filter(|l| facts.stable_loads.contains(l)).count();
    (loads.len(), stable)
}

#[test]
fn loads_of_memory_that_is_only_read_are_stable() {
    let source = "double f(const double *x, int n) { double s = 0; for (int i = 0; i < n; ++i) s += x[i]; return s; }";
    each_level("readonly", source, |level, session, f, facts| {
        let (loads, stable) = loads_and_stable(session, f, facts);
        assert!(loads > 0 && loads == stable, "{level}: {loads} {stable}");
    });
}

#[test]
fn loads_of_memory_that_a_later_iteration_writes_are_not_stable() {
    let source = "void f(double *x, int n) { for (int i = 0; i < n; ++i) x[i] = x[i] * x[i]; }";
    each_level("sameplace", source, |level, session, f, facts| {
        let (loads, stable) = loads_and_stable(session, f, facts);
        assert!(loads > 0 && stable == 0, "{level}: {loads} {stable}");
    });
    let source = "void f(double *x, int n) { for (int i = 0; i < n; ++i) x[i * 2] = x[i] * 2; }";
    each_level("nextplace", source, |level, session, f, facts| {
        let (loads, stable) = loads_and_stable(session, f, facts);
        assert!(loads > 0 && stable == 0, "{level}: {loads} {stable}");
    });
}

#[test]
fn restrict_of_an_inlined_callee_is_not_believed_across_calls() {
    // Within one call of `g` the pointers are apart; over two calls the same memory is read first and written later.
    let source = "static void g(double *restrict a, double *restrict b) { *a = *b * *b; }\n\
                  void f(double *x, int n) { for (int i = 0; i + 1 < n; ++i) g(x + i + 1, x + (n - 1 - i)); }";
    each_level("scopes", source, |level, session, f, facts| {
        let (loads, stable) = loads_and_stable(session, f, facts);
        assert!(loads > 0 && stable == 0, "{level}: {loads} {stable}");
    });
}

#[test]
fn restrict_of_the_function_itself_is_believed() {
    let source = "void f(double *restrict y, const double *restrict x, int n) {\n\
                    for (int i = 0; i < n; ++i) y[i] = x[i] * x[i]; }";
    each_level("restrict", source, |level, session, f, facts| {
        let (loads, stable) = loads_and_stable(session, f, facts);
        assert!(loads > 0 && loads == stable, "{level}: {loads} {stable}");
    });
}

#[test]
fn writes_that_come_first_do_not_count() {
    let source = "double f(double *x, int n) {\n\
                    for (int i = 0; i < n; ++i) x[i] = i;\n\
                    double s = 0; for (int i = 0; i < n; ++i) s += x[i] * x[i]; return s; }";
    each_level("order", source, |level, session, f, facts| {
        let (loads, stable) = loads_and_stable(session, f, facts);
        assert!(loads > 0 && loads == stable, "{level}: {loads} {stable}");
    });
}

#[test]
fn freed_memory_is_not_stable_and_arguments_of_calls_are_judged() {
    let source = "#include <stdlib.h>\n\
                  double h(const double *p);\n\
                  double f(double *x, double *y) { double a = h(x); double *p = malloc(8); *p = a; double b = h(y);\n\
                    double c = *p; free(p); return a + b * c + h(x); }";
    each_level("calls", source, |level, session, f, facts| {
        let func = &session.ir.funcs[f];
        let calls: Vec<_> = insts(func, |op| matches!(op, Op::Call(_)))
            .into_iter()
            .filter(|c| session.ir.funcs[session.ir.direct_callee(func, *c).unwrap()].name == "h")
            .collect();
        assert_eq!(calls.len(), 3, "{level}");
        // Later calls of `h` may write anything; after the last one nothing does.
        let stable: Vec<bool> = calls.iter().map(|c| facts.stable_args.contains(&(*c, 0))).collect();
        assert_eq!(stable, [false, false, true], "{level}");
    });
}

#[test]
fn types_of_bytes_come_from_metadata() {
    let source = "typedef struct { double a; int n; float b[2]; double *p; } S;\n\
                  double h(const S *s);\n\
                  double f(S *s, const double *x, const S *t) { *s = *t; return x[0] + (double)s->n; }";
    let mut module = compile("facts-bytes", source, &["-O1", "-g"]);
    module.with_session(|session| {
        let f = session.find_function("f").unwrap();
        session.define_body(f, &PrepareOptions::default()).unwrap();
        let facts = session.facts(f).clone();
        let run = |offset, size, ty| ByteRun { offset, size, ty };
        let double = ByteType::Float(FloatKind::Double);
        assert_eq!(facts.param_types[&1], [run(0, 8, double)]);
        let float = ByteType::Float(FloatKind::Float);
        let of_struct = [
            run(0, 8, double),
            run(8, 4, ByteType::Integer),
            run(12, 4, float),
            run(16, 4, float),
            run(24, 8, ByteType::Pointer),
        ];
        assert_eq!(facts.param_types[&0], of_struct);
        assert!(facts.alone.is_empty(), "{:?}", facts.alone);
        let func = &session.ir.funcs[f];
        let copies = insts(func, |op| matches!(op, Op::Call(_)));
        assert_eq!(copies.len(), 1, "{}", text(&session.ir, func));
        let copied = &facts.access_types[&copies[0]];
        assert_eq!(copied.first(), Some(&run(0, 8, double)), "{copied:?}");
        assert_eq!(copied.last(), Some(&run(24, 8, ByteType::Pointer)), "{copied:?}");
        let loads = insts(func, |op| matches!(op, Op::Load(_)));
        assert!(loads.iter().any(|l| facts.access_types.get(l).is_some_and(|r| r[0].ty == double)));
    });
}

#[test]
fn the_users_function_is_left_as_it_was() {
    let source = "double f(double *x, int n) { double s = 0; for (int i = 0; i < n; ++i) s += x[i]; return s; }";
    let mut module = compile("facts-untouched", source, &["-O0"]);
    module.with_session(|session| {
        let before = session.print_llvm_module();
        let f = session.find_function("f").unwrap();
        session.define_body(f, &PrepareOptions::default()).unwrap();
        assert_ne!(session.print_llvm_module(), before);
        session.finish(&[]);
        // Attribute groups are numbered by use, so only the function itself is compared.
        let body = |text: &str| text.split("define").nth(1).map(str::to_owned);
        assert_eq!(body(&session.print_llvm_module()), body(&before));
        session.verify().unwrap();
    });
}

/// A function that is called often comes in as long as what is copied is little, if it is optimised.
#[test]
fn what_is_called_often_is_not_copied_without_end() {
    let terms: String = (1..40).map(|i| format!("y += g(x * {i}.0) / (x + {i}.0);\n")).collect();
    let long: String = (1..50).map(|i| format!("y = y * x + {i}.0 / (y + {i}.5);\n")).collect();
    let source = format!(
        "static double g(double x) {{ double y = x;\n{long} return y; }}\n\
         double f(double x) {{ double y = x;\n{terms} return y; }}"
    );
    for (level, all) in [("-O0", true), ("-O2", false)] {
        let mut module = compile(&format!("facts-often{level}"), &source, &[level]);
        module.with_session(|session| {
            let f = session.find_function("f").unwrap();
            let options = PrepareOptions::default();
            session.begin_request(&options);
            session.define_body(f, &options).unwrap();
            let func = &session.ir.funcs[f];
            let calls = insts(func, |op| matches!(op, Op::Call(_)));
            let callees = calls.iter().filter_map(|c| session.ir.direct_callee(func, *c));
            let left = callees.filter(|c| session.ir.funcs[*c].name == "g").count();
            assert_eq!(left == 0, all, "{level}: {left} calls are left");
        });
    }
}
