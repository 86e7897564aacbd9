//! Classes of memory: which pointers are unified, what their memory is, and that the order of the text does not matter.

use enzyme_analysis::Units;
use enzyme_ir::{FuncId, Module};

use crate::{analyze, describe, members, parse, value};

const HEAD: &str = "declare ptr @malloc(i64)\ndeclare void @free(ptr)\ndeclare ptr @mystery(ptr)\n\
    declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n@g = global double 1.0\n@t = internal global [2 x ptr] [ptr @g, ptr null]\n";

/// Classes of `@f` with more than their facts in `expected`: `names: facts -> names of what the pointers in it point to`.
fn check(functions: &str, expected: &str) {
    let module = parse(&format!("{HEAD}{functions}"));
    let units = analyze(&module);
    let found = show(&module, &units, module.find_func("f").unwrap());
    assert_eq!(found, expected, "{functions}");
}

fn show(module: &Module, units: &Units, f: FuncId) -> String {
    let all = members(module, units, f);
    let classes = &units.get(f).unwrap().memory.classes;
    let mut lines = Vec::new();
    for (c, names) in &all {
        let mut names = names.clone();
        names.sort();
        let named = |d| all.iter().find(|(x, _)| *x == d).map(|(_, n)| n.iter().min().unwrap().as_str());
        let targets: std::collections::BTreeSet<&str> = classes[*c].targets().filter_map(named).collect();
        let targets: String = targets.iter().map(|t| format!(" -> {t}")).collect();
        lines.push(format!("{}: {}{targets}", names.join(" "), describe(module, &classes[*c])));
    }
    lines.sort();
    lines.join("\n")
}

#[test]
fn pointers_of_one_function() {
    check(
        "define void @f(ptr %p, ptr %q) {\n  %a = getelementptr double, ptr %p, i64 1\n  %x = load double, ptr %a\n  ret void\n}\n",
        "a p: double parameter\nq: parameter",
    );
    check(
        "define void @f(ptr %p, ptr %q, i1 %c) {\n  %a = select i1 %c, ptr %p, ptr %q\n  store double 1.0, ptr %a\n  ret void\n}\n",
        "a p q: double parameter",
    );
    check(
        "define void @f(ptr %p, i32 %n) {\n  %l = alloca i32\n  %m = add i32 %n, 1\n  store i32 %m, ptr %l\n  store ptr %l, ptr %p\n  ret void\n}\n",
        "l: integers stack\np: parameter pointers -> l",
    );
    // What is read from a pointer's memory is what was written to it, also after a copy.
    check(
        "define void @f(ptr %p, ptr %q, ptr %r) {\n  store ptr %r, ptr %p\n  call void @llvm.memcpy.p0.p0.i64(ptr %q, ptr %p, i64 8, i1 false)\n\
         \x20 %s = load ptr, ptr %q\n  ret void\n}\n",
        "p: parameter pointers -> r\nq: parameter pointers -> r\nr s: parameter",
    );
    check(
        "define void @f(ptr %p) {\n  %m = call ptr @malloc(i64 8)\n  %n = call ptr @malloc(i64 8)\n  store float 1.0, ptr %m\n\
         \x20 call void @free(ptr %m)\n  ret void\n}\n",
        "m: float heap\nn: heap\np: parameter",
    );
    check(
        "define void @f(ptr %p) {\n  %m = call ptr @mystery(ptr %p)\n  store double 1.0, ptr %m\n  ret void\n}\n",
        "m p: double parameter unknown",
    );
    check(
        "define void @f(ptr %p) {\n  %i = ptrtoint ptr %p to i64\n  %j = add i64 %i, 8\n  %q = inttoptr i64 %j to ptr\n  store double 1.0, ptr %q\n  ret void\n}\n",
        "i j p q: double parameter",
    );
    check("define void @f(i64 %i) {\n  %q = inttoptr i64 %i to ptr\n  ret void\n}\n", "i q: parameter unknown");
}

#[test]
fn a_copied_integer_is_no_integer() {
    check(
        "define void @f(ptr %p, ptr %q) {\n  %x = load i64, ptr %p\n  store i64 %x, ptr %q\n  %y = load double, ptr %q\n  ret void\n}\n",
        "p: double parameter -> x\nq: double parameter -> x\nx: ",
    );
    check(
        "define void @f(ptr %p, ptr %q) {\n  %x = load i64, ptr %p\n  %y = mul i64 %x, 3\n  store i64 %y, ptr %q\n  ret void\n}\n",
        "p: integers parameter\nq: integers parameter",
    );
}

#[test]
fn a_number_is_no_address() {
    // A stride at any of its places, which lie beside an address.
    let strides = |more: &str| {
        format!(
            "define void @f(ptr %p, ptr %q, i64 %i) {{\n  %a = getelementptr i64, ptr %p, i64 %i\n  %x = load i64, ptr %a\n\
             \x20 %b = getelementptr i8, ptr %p, i64 16\n  %d = load ptr, ptr %b\n  %n = sub i64 0, %x\n\
             \x20 %e = getelementptr double, ptr %d, i64 %n\n{more}  ret void\n}}\n"
        )
    };
    check(&strides(""), "a b p: integers parameter pointers -> d\nd e: \ni: parameter\nq: parameter");
    // Elsewhere it may be read as an address.
    check(
        &strides("  store i64 %x, ptr %q\n"),
        "a b p: integers parameter pointers -> d\nd e x: \ni: parameter\nq: integers parameter -> d",
    );
    check(
        &strides("  %t = and i64 %x, -8\n  %y = inttoptr i64 %t to ptr\n  store double 1.0, ptr %y\n"),
        "a b p: integers parameter pointers -> d\nd e t x y: double\ni: parameter\nq: parameter",
    );
}

#[test]
fn many_places_of_pairs_are_told_apart() {
    let store = |n: i64| {
        format!(
            "  %a{n} = getelementptr i8, ptr %b, i64 {}\n  store ptr %x, ptr %a{n}\n  %c{n} = getelementptr i8, ptr %b, i64 {}\n\
             \x20 store ptr %y, ptr %c{n}\n",
            n * 16,
            n * 16 + 8
        )
    };
    let function = |more: &str| {
        let stores: String = (0..40).map(store).collect();
        format!(
            "define void @f(ptr %p, ptr %x, ptr %y, i64 %i) {{\n  %b = getelementptr {{ ptr, ptr }}, ptr %p, i64 %i\n{stores}{more}\
             \x20 store double 1.0, ptr %y\n  ret void\n}}\n"
        )
    };
    let found = |text: &str| {
        let module = parse(&format!("{HEAD}{text}"));
        let lines = show(&module, &analyze(&module), module.find_func("f").unwrap());
        lines.lines().filter(|line| !line.contains(" p: ") && !line.starts_with("i: ")).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(found(&function("")), "x: parameter\ny: double parameter");
    // By as little as nothing tells two of them apart, they are one.
    let odd = "  %d = getelementptr i8, ptr %p, i64 %i\n  %z = load ptr, ptr %d\n";
    assert_eq!(found(&function(odd)), "x y z: double parameter");
}

#[test]
fn what_is_passed_is_known_to_all_that_call_each_other() {
    let text = "define internal void @one(ptr %p, ptr %q, i1 %c) {\n  call void @other(ptr %p, ptr %q, i1 %c)\n  ret void\n}\n\
         define internal void @other(ptr %p, ptr %q, i1 %c) {\n  %x = load i64, ptr %p\n  store i64 %x, ptr %q\n\
         \x20 br i1 %c, label %go, label %end\ngo:\n  call void @one(ptr %q, ptr %p, i1 false)\n  br label %end\nend:\n  ret void\n}\n\
         define void @f(ptr %v, ptr %w, i1 %c) {\n  %d = load ptr, ptr %v\n  %y = load double, ptr %d\n\
         \x20 call void @one(ptr %v, ptr %w, i1 %c)\n  ret void\n}\n";
    let module = parse(&format!("{HEAD}{text}"));
    let found = show(&module, &analyze(&module), module.find_func("other").unwrap());
    assert!(found.lines().any(|line| line == "x: double"), "{found}");
}

#[test]
fn globals() {
    check("define void @f() {\n  %x = load double, ptr @g\n  ret void\n}\n", "@g: @g double");
    check(
        "define void @f(i64 %i) {\n  %s = getelementptr ptr, ptr @t, i64 %i\n  %p = load ptr, ptr %s\n  store double 2.0, ptr %p\n  ret void\n}\n",
        "@t s: @t pointers -> p\ni: parameter\np: @g double",
    );
}

#[test]
fn calls_are_seen_one_by_one() {
    let id = "define internal ptr @id(ptr %x) {\n  ret ptr %x\n}\n";
    check(
        &format!(
            "{id}define void @f(ptr %p, ptr %q) {{\n  %a = call ptr @id(ptr %p)\n  %b = call ptr @id(ptr %q)\n  store double 1.0, ptr %a\n  ret void\n}}\n"
        ),
        "a p: double parameter\nb q: parameter",
    );
    let link = "define internal void @link(ptr %x, ptr %y) {\n  store ptr %y, ptr %x\n  ret void\n}\n";
    check(
        &format!(
            "{link}define void @f(ptr %p, ptr %q, ptr %r) {{\n  call void @link(ptr %p, ptr %q)\n  %s = load ptr, ptr %p\n  ret void\n}}\n"
        ),
        "p: parameter pointers -> q\nq s: parameter\nr: parameter",
    );
    let make =
        "define internal ptr @make() {\n  %m = call ptr @malloc(i64 8)\n  store double 0.0, ptr %m\n  ret ptr %m\n}\n";
    check(
        &format!("{make}define void @f() {{\n  %a = call ptr @make()\n  %b = call ptr @make()\n  ret void\n}}\n"),
        "a: double heap\nb: double heap",
    );
    // A recursive group is one problem.
    check(
        "define void @f(ptr %p, ptr %q, i1 %c) {\n  br i1 %c, label %go, label %end\ngo:\n  call void @f(ptr %q, ptr %p, i1 false)\n\
         \x20 br label %end\nend:\n  store double 1.0, ptr %p\n  ret void\n}\n",
        "p q: double parameter",
    );
}

#[test]
fn chains() {
    let module = parse(
        "define void @f(ptr %p, ptr %list) {\n  %q = load ptr, ptr %p\n  %r = load ptr, ptr %q\n  %x = load double, ptr %r\n\
        \x20 %n = load ptr, ptr %list\n  store ptr %n, ptr %n\n  ret void\n}\n",
    );
    let units = analyze(&module);
    let f = module.find_func("f").unwrap();
    let memory = &units.get(f).unwrap().memory;
    let class = |n: &str| memory.class_of[value(&module.funcs[f], n)].unwrap();
    assert_eq!(memory.chain(class("p")), [class("p"), class("q"), class("r")]);
    // A list whose nodes point to themselves ends.
    assert_eq!(memory.chain(class("list")), [class("list"), class("n")]);
    assert_eq!(memory.uniform_float(class("r")), Some(enzyme_ir::FloatKind::Double));
    assert_eq!(memory.uniform_float(class("p")), None);
}

/// A function with every kind of constraint, in many blocks.
const TANGLE: &str = "define ptr @f(ptr %p, ptr %q, ptr %r, i1 %c, i64 %n) {
entry:
  %l = alloca ptr
  br i1 %c, label %a, label %b
a:
  store ptr %p, ptr %l
  %a1 = getelementptr double, ptr %q, i64 %n
  store double 1.0, ptr %a1
  br label %m
b:
  store ptr %q, ptr %l
  %b1 = call ptr @malloc(i64 %n)
  store i64 %n, ptr %b1
  br label %m
m:
  %m1 = phi ptr [ %a1, %a ], [ %b1, %b ]
  %m2 = load ptr, ptr %l
  br i1 %c, label %d, label %e
d:
  %d1 = load ptr, ptr @t
  call void @llvm.memcpy.p0.p0.i64(ptr %r, ptr %d1, i64 8, i1 false)
  %d2 = call ptr @g2(ptr %r, ptr %m2)
  br label %x
e:
  %e1 = load float, ptr %r
  %e2 = call ptr @g1(ptr %p, ptr %r)
  br label %x
x:
  %x1 = phi ptr [ %d2, %d ], [ %e2, %e ]
  ret ptr %x1
}
define ptr @g1(ptr %u, ptr %v) {
entry:
  %k = load ptr, ptr %u
  store ptr %v, ptr %u
  ret ptr %k
}
define ptr @g2(ptr %u, ptr %v) {
entry:
  %w = alloca [4 x i8]
  %z = call ptr @g2(ptr %v, ptr %w)
  %k = call ptr @g1(ptr %u, ptr %z)
  ret ptr %v
}
";

/// The blocks of each function after the first are put in other orders: the classes stay the same.
#[test]
fn the_order_of_blocks_does_not_matter() {
    let module = parse(&format!("{HEAD}{TANGLE}"));
    let functions = ["f", "g1", "g2"].map(|n| module.find_func(n).unwrap());
    let expected: Vec<String> = functions.iter().map(|f| show(&module, &analyze(&module), *f)).collect();
    let mut state = 7u64;
    for _ in 0..200 {
        let mut shuffled = module.clone();
        for f in functions {
            let layout = &mut shuffled.funcs[f].layout;
            for i in (2..layout.len()).rev() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                layout.swap(i, 1 + (state >> 33) as usize % i);
            }
        }
        let units = analyze(&shuffled);
        for (f, text) in functions.iter().zip(&expected) {
            assert_eq!(&show(&shuffled, &units, *f), text, "{:?}", shuffled.funcs[*f].layout);
        }
    }
}

/// The same for the order in which functions stand in the module.
#[test]
fn the_order_of_functions_does_not_matter() {
    let parts: Vec<&str> = TANGLE.split_inclusive("\n}\n").collect();
    let expected = {
        let module = parse(&format!("{HEAD}{TANGLE}"));
        show(&module, &analyze(&module), module.find_func("f").unwrap())
    };
    for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let text: String = order.iter().map(|n| parts[*n]).collect();
        let module = parse(&format!("{HEAD}{text}"));
        assert_eq!(show(&module, &analyze(&module), module.find_func("f").unwrap()), expected, "{order:?}");
    }
}

#[test]
fn one_constant_in_two_places_joins_nothing() {
    check(
        "@none = private constant [8 x i8] zeroinitializer\ndefine void @f(i1 %c) {\n  %a = call ptr @malloc(i64 8)\n  %b = call ptr @malloc(i64 8)\n\
        \x20 %p = select i1 %c, ptr %a, ptr @none\n  %q = select i1 %c, ptr @none, ptr %b\n  store double 1.0, ptr %p\n  ret void\n}\n",
        "@none: @none\na p: @none double heap\nb q: @none heap",
    );
    // Nor does a structure with a pointer to one, of which copies are made.
    check(
        "@none = private constant [8 x i8] zeroinitializer\n@empty = private constant { ptr, i64 } { ptr @none, i64 0 }\n\
        define void @f(ptr %p, ptr %q) {\n  %a = alloca { ptr, i64 }\n  %b = alloca { ptr, i64 }\n\
        \x20 call void @llvm.memcpy.p0.p0.i64(ptr %a, ptr @empty, i64 16, i1 false)\n\
        \x20 call void @llvm.memcpy.p0.p0.i64(ptr %b, ptr @empty, i64 16, i1 false)\n\
        \x20 store ptr %p, ptr %a\n  store ptr %q, ptr %b\n  store double 1.0, ptr %p\n  ret void\n}\n",
        "@empty: @empty integers pointers\na: integers pointers stack -> p\nb: integers pointers stack -> q\np: @none double parameter\nq: @none parameter",
    );
}

/// As the descriptions of types are that flang writes: what is copied of them ends.
#[test]
fn constants_that_lead_back_to_themselves_are_copied_once() {
    let module = parse(
        "@type = private constant { ptr, i64, ptr } { ptr @part, i64 8, ptr @type }\n\
        @part = private constant { ptr, ptr } { ptr @type, ptr @part }\n\
        define void @f(i1 %c, ptr %p) {\n  %a = alloca { ptr, i64, ptr }\n  %b = alloca { ptr, ptr }\n\
        \x20 call void @llvm.memcpy.p0.p0.i64(ptr %a, ptr @type, i64 24, i1 false)\n\
        \x20 call void @llvm.memcpy.p0.p0.i64(ptr %b, ptr @part, i64 16, i1 false)\n\
        \x20 %d = select i1 %c, ptr %a, ptr @type\n  store ptr %p, ptr %d\n  store ptr %d, ptr %b\n  store double 1.0, ptr %p\n  ret void\n}\n",
    );
    let text = show(&module, &analyze(&module), module.find_func("f").unwrap());
    assert!(text.lines().any(|l| l.starts_with("p:") && l.contains("double")), "{text}");
}

/// Counts behind arrays without an end in a COMMON block; not so halves of numbers, unions, and memory that is not Fortran's.
#[test]
fn counts_of_storage() {
    let is_count = |name: &str, ty: &str, more: &str| {
        let module = parse(&format!(
            "%union.u = type {{ [80 x i8] }}\n@{name} = global {ty} zeroinitializer\ndefine void @f(i64 %i) {{\n\
            \x20 %array = getelementptr i8, ptr @{name}, i64 8\n  %element = getelementptr double, ptr %array, i64 %i\n\
            \x20 store double 1.0, ptr %element\n  %place = getelementptr i8, ptr @{name}, i64 64\n\
            \x20 %n = load i32, ptr %place\n{more}  ret void\n}}\n"
        ));
        let (units, f) = (analyze(&module), module.find_func("f").unwrap());
        let (memory, place) = (&units.get(f).unwrap().memory, value(&module.funcs[f], "place"));
        let at = |len| memory.is_count_of_storage(&module, memory.class_of[place].unwrap(), memory.span_of[place], len);
        (at(4), at(8))
    };
    let bytes = "[80 x i8]";
    assert_eq!(is_count("state_", bytes, ""), (true, false));
    assert_eq!(is_count("state_", bytes, "  %d = load double, ptr %place\n"), (false, false));
    assert_eq!(is_count("state_", "%union.u", ""), (false, false));
    assert_eq!(is_count("state", bytes, ""), (false, false));
}
