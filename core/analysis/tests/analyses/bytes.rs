//! What the bytes of memory are: by offset, from accesses, declarations, copies and callers.

use std::collections::BTreeMap;

use enzyme_analysis::Units;
use enzyme_ir::{ByteRun, ByteType, Facts, FloatKind, Op};

use crate::{analyze, parse, value};

const HEAD: &str = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\ndeclare ptr @malloc(i64)\n%mixed = type { i32, double, ptr }\n";

/// What `len` bytes behind `%name` of `@f` are.
fn check(functions: &str, name: &str, len: Option<u64>, expected: &str) {
    check_stated(functions, &[], name, len, expected);
}

/// Likewise, where metadata states floats of all that stores to these pointers touch.
fn check_stated(functions: &str, floats: &[(&str, u64)], name: &str, len: Option<u64>, expected: &str) {
    let module = parse(&format!("{HEAD}{functions}"));
    let f = module.find_func("f").unwrap();
    let func = &module.funcs[f];
    let mut facts = Facts::default();
    for (to, size) in floats {
        let stores = func.insts.iter().filter(|(_, inst)| matches!(inst.op, Op::Store(_)));
        let mut stores = stores.filter(|(_, inst)| inst.args.last() == Some(&value(func, to)));
        let (store, _) = stores.next().unwrap();
        facts
            .access_types
            .insert(store, vec![ByteRun { offset: 0, size: *size, ty: ByteType::Float(FloatKind::Double) }]);
    }
    let defined: Vec<_> = module.funcs.iter().filter(|(_, f)| !f.is_declaration()).map(|(id, _)| id).collect();
    let units = Units::analyze(&module, &BTreeMap::from([(f, facts)]), &defined);
    let bytes = units.get(f).unwrap().memory.bytes_at(value(&module.funcs[f], name), len);
    let mut words: Vec<String> = bytes
        .runs
        .iter()
        .map(|r| {
            let what = match r.ty {
                ByteType::Float(kind) => kind.name(),
                ByteType::Pointer => "pointer",
                ByteType::Integer => "integer",
            };
            format!("{}..{} {what}", r.offset, r.offset + r.size)
        })
        .collect();
    words.push(format!("every {}", bytes.period));
    if bytes.clash {
        words.push("clash".to_owned());
    }
    assert_eq!(words.join(", "), expected, "{functions}");
}

fn body(text: &str) -> String {
    format!("define void @f(ptr %p, ptr %q, i64 %n, double %d) {{\n{text}\n  ret void\n}}\n")
}

#[test]
fn fields_are_told_apart() {
    let fields = "  %a = load i32, ptr %p\n  %b = add i32 %a, 1\n  store i32 %b, ptr %p\n\
        \x20 %x = getelementptr %mixed, ptr %p, i64 0, i32 1\n  store double %d, ptr %x\n\
        \x20 %y = getelementptr %mixed, ptr %p, i64 0, i32 2\n  %z = load ptr, ptr %y";
    check(&body(fields), "p", Some(24), "0..4 integer, 8..16 double, 16..24 pointer, every 24");
    // The declaration alone tells as much.
    check(
        &body("  %x = getelementptr %mixed, ptr %p, i64 0, i32 1"),
        "p",
        Some(24),
        "0..4 integer, 8..16 double, 16..24 pointer, every 24",
    );
}

#[test]
fn floats_of_one_access_end_with_it() {
    // What was set as a vector says nothing of the members behind it.
    let pair = body(
        "  %x = getelementptr i8, ptr %p, i64 8\n  store <2 x double> zeroinitializer, ptr %x\n\
        \x20 %y = getelementptr i8, ptr %p, i64 32\n  %z = load ptr, ptr %y",
    );
    check_stated(&pair, &[("x", 16)], "p", Some(40), "8..24 double, 32..40 pointer, every 40");
    let many = body("  %e = getelementptr <2 x double>, ptr %p, i64 %n\n  store <2 x double> zeroinitializer, ptr %e");
    check_stated(&many, &[("e", 16)], "p", None, "0..8 double, every 8");
}

#[test]
fn arrays_of_structures_repeat() {
    let element = "  %e = getelementptr { double, i64 }, ptr %p, i64 %n\n  store double %d, ptr %e\n\
        \x20 %k = getelementptr { double, i64 }, ptr %p, i64 %n, i32 1\n  %i = load i64, ptr %k\n  %j = mul i64 %i, 3\n  store i64 %j, ptr %k";
    check(&body(element), "p", None, "0..8 double, 8..16 integer, every 16");
    check(&body(element), "k", None, "0..8 integer, 8..16 double, every 16");
    // An index that is visibly a multiple of eight bytes.
    check(
        &body("  %o = shl i64 %n, 3\n  %e = getelementptr i8, ptr %p, i64 %o\n  store double %d, ptr %e"),
        "p",
        None,
        "0..8 double, every 8",
    );
}

#[test]
fn one_place_with_two_uses() {
    let both = "  store double %d, ptr %p\n  %x = load ptr, ptr %p";
    check(&body(both), "p", Some(8), "every 8, clash");
    // An integer beside a float of the same bytes is no clash: the adjoint of an integer is zero.
    let number = "  store double %d, ptr %p\n  %i = load i64, ptr %p\n  %j = add i64 %i, 1\n  store i64 %j, ptr %p";
    check(&body(number), "p", Some(8), "0..8 double, every 8");
}

#[test]
fn copies_and_callers_tell() {
    let copied = "  store double %d, ptr %p\n  call void @llvm.memcpy.p0.p0.i64(ptr %q, ptr %p, i64 8, i1 false)";
    check(&body(copied), "q", Some(8), "0..8 double, every 8");
    let generic = "define void @f(ptr %to, ptr %from) {\n  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 8, i1 false)\n  ret void\n}\n\
        define void @caller(ptr %a) {\n  %b = alloca double\n  call void @f(ptr %b, ptr %a)\n  %x = load double, ptr %b\n  ret void\n}\n";
    check(generic, "to", Some(8), "0..8 double, every 8");
    check(generic, "from", Some(8), "0..8 double, every 8");
}

#[test]
fn what_callers_have_there_counts() {
    // A float where it stores, and what a caller reads as a pointer: one or the other, as the run will have it.
    let either = "define void @f(ptr %to, ptr %from, double %d, i1 %c) {\n  br i1 %c, label %a, label %b\na:\n  store double %d, ptr %to\n  ret void\nb:\n\
        \x20 call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 8, i1 false)\n  ret void\n}\n\
        define void @caller(ptr %a, ptr %x, i1 %c) {\n  %b = alloca ptr\n  store ptr %x, ptr %a\n  call void @f(ptr %b, ptr %a, double 1.0, i1 %c)\n\
        \x20 %y = load ptr, ptr %b\n  ret void\n}\n";
    let module = parse(&format!("{HEAD}{either}"));
    let units = analyze(&module);
    let f = module.find_func("f").unwrap();
    let (func, memory) = (&module.funcs[f], &units.get(f).unwrap().memory);
    assert!(!memory.bytes_at(value(func, "to"), Some(8)).clash);
    assert!(memory.bytes_at_all(&[value(func, "to"), value(func, "from")], Some(8)).clash);
}

#[test]
fn entries_lie_before_what_marks_them() {
    // { integer, double, integer } in steps before the one address of new memory that is used, marks behind it.
    let table = "  %m = call ptr @malloc(i64 %n)\n  %marks = getelementptr i8, ptr %m, i64 %n\n  %at = and i64 %n, 63\n  %i = sub i64 0, %at\n\
        \x20 %e = getelementptr { i64, double, i64 }, ptr %marks, i64 %i\n  %v = getelementptr i8, ptr %e, i64 -16\n  store double %d, ptr %v\n\
        \x20 %k = getelementptr i8, ptr %e, i64 -24\n  %x = load i64, ptr %k\n  %y = add i64 %x, 1\n  store i64 %y, ptr %k\n\
        \x20 %g = getelementptr i8, ptr %marks, i64 %n\n  %s = load i32, ptr %g\n  %t = add i32 %s, 1\n  store i32 %t, ptr %g";
    check(&body(table), "k", Some(16), "0..8 integer, 8..16 double, every 16");
    check(&body(table), "g", Some(4), "0..1 integer, every 1");
    // A negated counter that begins below zero goes both ways.
    let around = "  br label %again\nagain:\n  %i = phi i64 [ -3, %0 ], [ %next, %again ]\n  %next = add i64 %i, 1\n  %m = sub i64 0, %i\n\
        \x20 %e = getelementptr double, ptr %p, i64 %m\n  store double %d, ptr %e\n  %last = icmp eq i64 %next, 4\n  br i1 %last, label %end, label %again\nend:\n\
        \x20 %g = getelementptr double, ptr %p, i64 2";
    check(&body(around), "g", Some(8), "0..8 double, every 8");
    // Two words of an entry that a loop goes over are of one entry.
    let swapped = "  %at = and i64 %n, 63\n  %i = sub i64 -16, %at\n  %e = getelementptr i8, ptr %p, i64 %i\n  br label %again\nagain:\n\
        \x20 %w = phi i64 [ 0, %0 ], [ %next, %again ]\n  %next = add i64 %w, 1\n  %a = getelementptr i64, ptr %e, i64 %w\n\
        \x20 store double %d, ptr %a\n  %last = icmp eq i64 %next, 2\n  br i1 %last, label %end, label %again\nend:\n\
        \x20 %g = getelementptr i8, ptr %p, i64 %n\n  %s = load i32, ptr %g\n  %t = add i32 %s, 1\n  store i32 %t, ptr %g";
    check(&body(swapped), "g", Some(4), "0..1 integer, every 1");
}

#[test]
fn floats_and_pointers_take_turns() {
    // Anywhere in an array pointers are read here, and floats written by a caller: what is moved may be either.
    let text = "define void @f(ptr %to, ptr %from, i64 %n) {\n  %a = getelementptr ptr, ptr %from, i64 %n\n  %x = load ptr, ptr %a\n\
        \x20 %g = getelementptr [3 x i64], ptr %from, i64 %n\n  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %g, i64 24, i1 false)\n  ret void\n}\n\
        define void @caller(ptr %a, ptr %b, i64 %n, double %d) {\n  %e = getelementptr double, ptr %a, i64 %n\n  store double %d, ptr %e\n\
        \x20 call void @f(ptr %b, ptr %a, i64 %n)\n  ret void\n}\n";
    let module = parse(&format!("{HEAD}{text}"));
    let units = analyze(&module);
    let f = module.find_func("f").unwrap();
    let (func, memory) = (&module.funcs[f], &units.get(f).unwrap().memory);
    assert!(memory.bytes_at_all(&[value(func, "g")], Some(24)).clash);
}
