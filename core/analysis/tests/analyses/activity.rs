//! Activity: what is active, why, and what is refused.

use std::collections::BTreeMap;

use enzyme_analysis::{Activities, Activity, Conflict, Context, Program, Reason, State, Units};
use enzyme_ir::{FuncId, Module, ValueDef};

use crate::{analyze, name, parse, value};

const HEAD: &str = "declare double @mystery(double)\ndeclare double @llvm.sin.f64(double)\ndeclare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n\
    declare ptr @malloc(i64)\n@constant = constant double 2.0\n@outer = external global double\n@own = internal global double 0.0\n";

/// The context in which the parameters named in `constant` are constant and all others active.
fn context(module: &Module, units: &Units, f: FuncId, constant: &[&str]) -> Context {
    let (func, unit) = (&module.funcs[f], units.get(f).unwrap());
    let mut classes: BTreeMap<_, State> = BTreeMap::new();
    let mut scalars = Vec::new();
    for p in &func.params {
        let is_constant = constant.contains(&name(func, *p).as_str());
        scalars.push(!is_constant && module.ctx.types.contains_float(func.ty(*p)));
        let pointer = module.ctx.types.contains_pointer(func.ty(*p));
        for c in unit.memory.class_of[*p].filter(|_| pointer).map(|c| unit.memory.chain(c)).unwrap_or_default() {
            let state = if is_constant { State::Pinned } else { State::Shadowed };
            let known = *classes.entry(c).or_insert(state);
            if known != state {
                classes.insert(c, State::Mixed);
            }
        }
    }
    Context { scalars, classes, ret: true }
}

fn solve(functions: &str, constant: &[&str], test: impl FnOnce(&Module, &Units, FuncId, &Activity, &Activities)) {
    let module = parse(&format!("{HEAD}{functions}"));
    let units = analyze(&module);
    let f = module.find_func("f").unwrap();
    let context = context(&module, &units, f, constant);
    let mut activities = Activities::default();
    activities.solve(&Program { module: &module, units: &units }, f, context.clone());
    test(&module, &units, f, activities.get(f, &context).unwrap(), &activities);
}

/// Active values of `@f`, then values whose memory has a shadow after `|`, both sorted.
fn check(functions: &str, constant: &[&str], expected: &str) {
    solve(functions, constant, |module, units, f, activity, _| {
        let func = &module.funcs[f];
        let named = || func.values.keys().filter(|v| !matches!(func.values[*v].def, ValueDef::Const(_)));
        let mut active: Vec<String> = named().filter(|v| activity.is_active(*v)).map(|v| name(func, v)).collect();
        let memory = &units.get(f).unwrap().memory;
        let shadowed = |v| memory.class_of[v].is_some_and(|c| activity.is_shadowed(c));
        let mut shadows: Vec<String> = named().filter(|v| shadowed(*v)).map(|v| name(func, v)).collect();
        active.sort();
        shadows.sort();
        assert_eq!(format!("{} | {}", active.join(" "), shadows.join(" ")), expected, "{functions}");
    });
}

#[test]
fn values() {
    let f = "define double @f(double %x, double %y) {\n  %a = fmul double %x, %y\n  %b = fadd double %x, 1.0\n  %c = fptosi double %a to i32\n\
        \x20 %d = sitofp i32 %c to double\n  %e = fmul double %d, %b\n  ret double %e\n}\n";
    // What leads to an integer only is varied but not useful.
    check(f, &[], "b e x | ");
    check(f, &["x"], " | ");
    check(f, &["y"], "b e x | ");
    let select = "define double @f(double %x, double %y, i1 %c) {\n  %a = select i1 %c, double %x, double 2.0\n  %b = fcmp ogt double %y, %a\n\
        \x20 %d = select i1 %b, double %a, double 1.0\n  ret double %d\n}\n";
    check(select, &[], "a d x | ");
    check(
        "define double @f(double %x) {\n  %a = call double @llvm.sin.f64(double %x)\n  ret double 1.0\n}\n",
        &[],
        " | ",
    );
}

#[test]
fn memory() {
    let f = "define void @f(ptr %p, ptr %q) {\n  %x = load double, ptr %p\n  %y = fmul double %x, %x\n  store double %y, ptr %q\n  ret void\n}\n";
    check(f, &[], "x y | p q");
    check(f, &["p"], " | q");
    // Nothing reads what is dropped: that is allowed, and nothing is useful.
    check(f, &["q"], " | p");
    let local = "define double @f(double %x) {\n  %l = alloca double\n  %m = alloca double\n  store double %x, ptr %l\n  store double %x, ptr %m\n\
        \x20 %a = load double, ptr %l\n  ret double %a\n}\n";
    // Memory that nobody reads needs no shadow.
    check(local, &[], "a x | l");
    check(local, &["x"], " | ");
    let copied = "define double @f(ptr %p) {\n  %l = alloca double\n  call void @llvm.memcpy.p0.p0.i64(ptr %l, ptr %p, i64 8, i1 false)\n\
        \x20 %a = load double, ptr %l\n  ret double %a\n}\n";
    check(copied, &[], "a | l p");
    check(copied, &["p"], " | ");
    // A pointer to shadowed memory needs a shadow beside it, where it is stored too.
    let stored = "define double @f(ptr %p) {\n  %l = alloca ptr\n  store ptr %p, ptr %l\n  %q = load ptr, ptr %l\n  %a = load double, ptr %q\n  ret double %a\n}\n";
    check(stored, &[], "a | l p q");
    check(stored, &["p"], " | ");
    check(
        "define double @f(double %x) {\n  %a = load double, ptr @constant\n  %b = fmul double %x, %a\n  ret double %b\n}\n",
        &[],
        "b x | ",
    );
    check(
        "define double @f(double %x) {\n  store double %x, ptr @own\n  %a = load double, ptr @own\n  ret double %a\n}\n",
        &[],
        "a x | ",
    );
}

#[test]
fn memory_that_is_constant_by_turns() {
    let f = "define double @f(ptr %p, ptr %q, i1 %c) {\n  %r = select i1 %c, ptr %p, ptr %q\n  %a = load double, ptr %r\n  ret double %a\n}\n";
    let mixed = |constant: &[&str], expected: usize| {
        solve(f, constant, |_, _, _, activity, _| assert_eq!(activity.mixed.len(), expected, "{constant:?}"));
    };
    mixed(&[], 0);
    mixed(&["q"], 1);
    mixed(&["p", "q"], 0);
    check(f, &["q"], "a | p q r");
}

#[test]
fn calls() {
    let g = "define internal double @g(double %u, double %v) {\n  %w = fmul double %u, %v\n  ret double %w\n}\n";
    let f = "define double @f(double %x, double %y) {\n  %a = call double @g(double %x, double 2.0)\n  %b = call double @g(double 3.0, double %y)\n\
        \x20 %c = call double @g(double 3.0, double 4.0)\n  %d = fadd double %a, %b\n  %e = fadd double %d, %c\n  ret double %e\n}\n";
    check(&format!("{g}{f}"), &[], "a b d e x y | ");
    check(&format!("{g}{f}"), &["y"], "a d e x | ");
    // Each call has its context, and one without active arguments none.
    let contexts = |constant: &[&str], expected: &[[bool; 2]]| {
        solve(&format!("{g}{f}"), constant, |module, _, _, activity, activities| {
            let g = module.find_func("g").unwrap();
            let found: Vec<Vec<bool>> = activity.calls.values().map(|c| c.scalars.clone()).collect();
            assert_eq!(found, expected.iter().map(|e| e.to_vec()).collect::<Vec<_>>(), "{constant:?}");
            assert!(activity.calls.values().all(|c| activities.get(g, c).is_some_and(|a| a.ret)));
        });
    };
    contexts(&[], &[[true, false], [false, true]]);
    contexts(&["x"], &[[false, true]]);
    contexts(&["x", "y"], &[]);
    // Recursion: activity comes back through the call.
    let recursive = "define double @f(double %x, i32 %n) {\nentry:\n  %z = icmp eq i32 %n, 0\n  br i1 %z, label %out, label %more\nmore:\n\
        \x20 %m = sub i32 %n, 1\n  %a = call double @f(double %x, i32 %m)\n  br label %out\nout:\n  %r = phi double [ %x, %entry ], [ %a, %more ]\n  ret double %r\n}\n";
    check(recursive, &[], "a r x | ");
}

/// The reason why `what` of `@f` is active.
fn check_reason(functions: &str, what: &str, expected: &str) {
    solve(functions, &[], |module, _, f, activity, _| {
        let func = &module.funcs[f];
        let inst = |i| func.insts[i].result.map_or("store".to_owned(), |r| name(func, r));
        let found = match activity.active[value(func, what)] {
            None => "inactive".to_owned(),
            Some(Reason::Given) => "given".to_owned(),
            Some(Reason::Operand(i, v)) => format!("operand {} of {}", name(func, v), inst(i)),
            Some(Reason::Read(i, _)) => format!("read by {}", inst(i)),
            Some(Reason::Stored(i, _)) => format!("stored by {}", inst(i)),
            Some(Reason::Call(i)) => format!("call {}", inst(i)),
            Some(Reason::PointsTo(_)) => "points".to_owned(),
        };
        assert_eq!(found, expected, "%{what} of {functions}");
    });
}

#[test]
fn reasons_are_kept() {
    let f = "define internal double @g(double %u) {\n  ret double %u\n}\n\
        define double @f(double %x, ptr %p) {\n  %a = fmul double 2.0, %x\n  %b = load double, ptr %p\n  %c = fadd double 1.0, %b\n\
        \x20 %d = call double @g(double %c)\n  %e = fadd double %d, %a\n  ret double %e\n}\n";
    check_reason(f, "x", "given");
    check_reason(f, "a", "operand x of a");
    check_reason(f, "b", "read by b");
    check_reason(f, "c", "operand b of c");
    check_reason(f, "d", "call d");
    check_reason(f, "e", "operand d of e");
}

/// Conflicts of `@f`, by name and the value of the instruction.
fn check_conflicts(functions: &str, constant: &[&str], expected: &str) {
    solve(functions, constant, |module, _, f, activity, _| {
        let func = &module.funcs[f];
        let at = |i| func.insts[i].result.map_or("store".to_owned(), |r| name(func, r));
        let words = activity.conflicts.iter().map(|c| match c {
            Conflict::LostInPinned { load, .. } => format!("lost, read by {}", at(*load)),
            Conflict::UnknownCall(i) => format!("unknown call {}", at(*i)),
            Conflict::IndirectCall(i) => format!("indirect call {}", at(*i)),
            Conflict::Unsupported(i, _) => format!("unsupported {}", at(*i)),
            Conflict::BitTrick(i) => format!("bit trick {}", at(*i)),
            Conflict::ReturnsTwice(i) => format!("returns twice {}", at(*i)),
            Conflict::Assembly(i) => format!("assembly {}", at(*i)),
        });
        assert_eq!(words.collect::<Vec<_>>().join("; "), expected, "{functions}");
    });
}

#[test]
fn conflicts() {
    let unknown = "define double @f(double %x, double %y) {\n  %a = call double @mystery(double %x)\n  %b = fmul double %a, %y\n  ret double %b\n}\n";
    check_conflicts(unknown, &[], "unknown call a");
    check_conflicts(unknown, &["x"], "");
    let indirect = "define double @f(double %x, ptr %g) {\n  %a = call double %g(double %x)\n  ret double %a\n}\n";
    check_conflicts(indirect, &["g"], "indirect call a");
    let lost = "define double @f(double %x, ptr %c) {\n  store double %x, ptr %c\n  %a = load double, ptr %c\n  ret double %a\n}\n";
    check_conflicts(lost, &["c"], "lost, read by a");
    check_conflicts(lost, &["x", "c"], "");
    check_conflicts(lost, &[], "");
    let global = lost.replace("%c\n", "@outer\n").replace(", ptr %c)", ")");
    check_conflicts(&global, &[], "lost, read by a");
    let trick = "define double @f(double %x) {\n  %b = bitcast double %x to i64\n  %c = xor i64 %b, 1\n  %d = bitcast i64 %c to double\n  ret double %d\n}\n";
    solve(trick, &[], |_, _, _, activity, _| {
        assert!(
            activity.conflicts.iter().all(|c| matches!(c, Conflict::BitTrick(_))) && !activity.conflicts.is_empty()
        );
    });
    check_conflicts(trick, &["x"], "");
    let atomic =
        "define double @f(ptr %p, double %x) {\n  %a = atomicrmw fadd ptr %p, double %x seq_cst\n  ret double %a\n}\n";
    check_conflicts(atomic, &[], "");
    let exchanged = "define double @f(ptr %p, double %x) {\n  %b = bitcast double %x to i64\n\
        \x20 %a = cmpxchg ptr %p, i64 0, i64 %b seq_cst seq_cst\n  %l = load double, ptr %p\n  ret double %l\n}\n";
    check_conflicts(exchanged, &[], "unsupported a");
    check_conflicts(exchanged, &["p", "x"], "");
    // Floats that pass through integer lanes, which nothing follows.
    let lanes = "define double @f(ptr %p) {\n  %a = load <2 x i32>, ptr %p\n\
        \x20 %b = shufflevector <2 x i32> %a, <2 x i32> poison, <2 x i32> <i32 1, i32 0>\n\
        \x20 %c = bitcast <2 x i32> %b to double\n  ret double %c\n}\n";
    check_conflicts(lanes, &[], "bit trick a");
    check_conflicts(lanes, &["p"], "");
}

/// Functions and blocks in another order give the same activity.
#[test]
fn the_order_of_blocks_does_not_matter() {
    let f = "define double @f(double %x, ptr %p, i1 %c) {\nentry:\n  %l = alloca double\n  br i1 %c, label %a, label %b\na:\n  store double %x, ptr %l\n\
        \x20 br label %m\nb:\n  %v = load double, ptr %p\n  br label %m\nm:\n  %w = phi double [ %x, %a ], [ %v, %b ]\n  %u = load double, ptr %l\n\
        \x20 %r = fmul double %u, %w\n  ret double %r\n}\n";
    let expected = "r u v w x | l p";
    check(f, &[], expected);
    let (head, rest) = f.split_at(f.find("a:\n").unwrap());
    let (a, rest) = rest.split_at(rest.find("b:\n").unwrap());
    let (b, m) = rest.split_at(rest.find("m:\n").unwrap());
    let m = m.trim_end_matches("}\n");
    for order in [[a, m, b], [b, a, m], [b, m, a], [m, a, b], [m, b, a]] {
        check(&format!("{head}{}}}\n", order.concat()), &[], expected);
    }
}

/// What only a comparison asks for: a function that leaves nothing else behind has no derivative there, one that writes has one
/// without an active result, and what writes unseen is looked into.
#[test]
fn results_of_no_use() {
    let observed = |body: &str| {
        let text = format!(
            "declare void @tick()\ndefine double @g(ptr %q, double %s) {{\n{body}}}\n\
            define double @f(ptr %p, double %x) {{\n  %r = call double @g(ptr %p, double %x)\n  %c = fcmp olt double %r, 1.0\n\
            \x20 %y = select i1 %c, double %x, double 2.0\n  ret double %y\n}}\n"
        );
        let mut calls = Vec::new();
        solve(&text, &[], |module, _, f, activity, _| {
            assert!(!activity.is_active(value(&module.funcs[f], "r")), "{text}");
            calls.extend(activity.calls.values().map(|c| c.ret));
        });
        calls
    };
    assert_eq!(observed("  %a = load double, ptr %q\n  %b = fmul double %a, %s\n  ret double %b\n"), []);
    assert_eq!(
        observed("  %l = alloca double\n  store double %s, ptr %l\n  %b = load double, ptr %l\n  ret double %b\n"),
        []
    );
    assert_eq!(observed("  store double %s, ptr %q\n  ret double %s\n"), [false]);
    assert_eq!(observed("  store double %s, ptr @own\n  ret double %s\n"), [false]);
    assert_eq!(observed("  call void @tick()\n  ret double %s\n"), [false]);
}
