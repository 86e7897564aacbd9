//! How values carry floats.

use std::collections::BTreeMap;

use enzyme_analysis::{Carry, Units};
use enzyme_ir::{ByteRun, ByteType, Facts, FloatKind, Op};

use crate::{parse, value};

fn show(c: Carry) -> String {
    match c {
        Carry::None => "none".to_owned(),
        Carry::Native => "float".to_owned(),
        Carry::Bits(kind, n) => format!("{n} {}", kind.name()),
        Carry::Unknown => "unknown".to_owned(),
        Carry::Word => "word".to_owned(),
        Carry::Mixed => "mixed".to_owned(),
    }
}

/// `expected` is a list of `name=carry`. With `ty`, the first load is stated to read that.
fn check_stated(body: &str, ty: Option<ByteType>, expected: &str) {
    let source =
        format!("define void @f(ptr %p, ptr %q, i64 %n, double %d, i1 %c) {{\nentry:\n{body}\n  ret void\n}}\n");
    let module = parse(&source);
    let f = module.find_func("f").unwrap();
    let func = &module.funcs[f];
    let mut facts = Facts::default();
    if let Some(ty) = ty {
        let load = func.placed().map(|(_, i)| i).find(|i| matches!(func.insts[*i].op, Op::Load(_))).unwrap();
        facts.access_types.insert(load, vec![ByteRun { offset: 0, size: 8, ty }]);
    }
    let units = Units::analyze(&module, &BTreeMap::from([(f, facts)]), &[f]);
    let unit = units.get(f).unwrap();
    for want in expected.split(", ") {
        let (name, carry) = want.split_once('=').unwrap();
        assert_eq!(show(unit.carry[value(func, name)]), carry, "%{name} in {body}");
    }
}

fn check(body: &str, expected: &str) {
    check_stated(body, None, expected);
}

#[test]
fn types_and_casts() {
    check("", "d=float, n=none, p=none, c=none");
    check("  %b = bitcast double %d to i64", "b=1 double");
    check("  %b = bitcast i64 %n to double", "n=1 double");
    check("  %b = bitcast i64 %n to <2 x float>", "n=2 float, b=float");
    check(
        "  %v = insertelement <2 x double> poison, double %d, i32 0\n  %s = insertvalue { double, i32 } poison, i32 1, 1",
        "v=float, s=float",
    );
    check("  %i = fptosi double %d to i64", "i=none");
    // Through selects and frozen values.
    check(
        "  %b = bitcast double %d to i64\n  %s = select i1 %c, i64 %b, i64 %n\n  %z = freeze i64 %s",
        "s=1 double, z=1 double, n=1 double",
    );
}

#[test]
fn copies() {
    let store = "  %x = load i64, ptr %p\n  store i64 %x, ptr %q\n";
    // The caller's memory may hold floats that nobody here sees; a stack slot of integers does not.
    check(store, "x=unknown");
    check("  %l = alloca i64\n  store i64 %n, ptr %l\n  %x = load i64, ptr %l", "x=none");
    check(&format!("{store}  %y = load double, ptr %p"), "x=1 double");
    check(&format!("{store}  %y = load double, ptr %q"), "x=1 double");
    check(&format!("{store}  %y = load float, ptr %q"), "x=unknown");
    // Where a double, a pointer and a number in use take turns, the word itself tells.
    let turns = "  %y = load double, ptr %q\n  %z = load ptr, ptr %q\n  %n2 = load i64, ptr %q\n  %k = mul i64 %n2, 3";
    check(&format!("{store}{turns}"), "x=word, n2=none, k=none");
    check(&format!("{store}{turns}\n  %s = load float, ptr %q"), "x=unknown, n2=none, k=none");
    check(
        "  %x = load i64, ptr %p\n  %r = getelementptr float, ptr %p, i64 %n\n  %z = load float, ptr %r",
        "x=2 float",
    );
    // Other things are told apart by where they are.
    check(
        &format!("{store}  %y = load double, ptr %p\n  %r = getelementptr ptr, ptr %p, i64 1\n  %z = load ptr, ptr %r"),
        "x=1 double",
    );
    // What is computed with is an integer, unless it is copied too, as it lies where floats do.
    check(&format!("{store}  %y = load double, ptr %p\n  %k = mul i64 %x, 3"), "x=1 double, k=none");
    check("  %x = load i64, ptr %p\n  %y = load double, ptr %p\n  %k = mul i64 %x, 3", "x=none, k=none");
    check(
        "  %x = load i64, ptr %p\n  %k = add i64 %x, 1\n  store i64 %k, ptr %p\n  %y = load double, ptr %q",
        "x=none, k=none",
    );
}

#[test]
fn metadata_goes_first() {
    let store = "  %x = load i64, ptr %p\n  store i64 %x, ptr %q\n  %y = load ptr, ptr %p";
    check_stated(store, Some(ByteType::Float(FloatKind::Double)), "x=1 double");
    let load = "  %x = load i64, ptr %p\n  %z = load double, ptr %p";
    check_stated(load, None, "x=1 double");
    check_stated(load, Some(ByteType::Pointer), "x=none");
}

#[test]
fn bits_on_their_way_into_a_float_are_mixed() {
    check(
        "  %b = bitcast double %d to i64\n  %k = xor i64 %b, 1\n  %e = bitcast i64 %k to double",
        "k=mixed, b=mixed, e=float",
    );
    check("  %t = trunc i64 %n to i32\n  %e = bitcast i32 %t to float", "t=mixed, n=mixed");
    check("  %b = bitcast double %d to i64\n  %k = icmp slt i64 %b, 0", "b=1 double, k=none");
}
