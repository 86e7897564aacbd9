//! What is put into memory that the program allocates: it decides what a copy moves, where all writes are known.

use enzyme_ir::ByteType;

use crate::{analyze, parse, value};

const HEAD: &str = "declare ptr @malloc(i64)\ndeclare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n";

/// What is put into eight bytes behind `%name` of `@f`, which get an address, a number or both.
fn check(body: &str, name: &str, expected: &str) {
    let text = format!("{HEAD}define void @f(ptr %p, ptr %q, double %d) {{\n{body}\n  ret void\n}}\n");
    let module = parse(&text);
    let units = analyze(&module);
    let f = module.find_func("f").unwrap();
    let found = units.get(f).unwrap().memory.contents_at(value(&module.funcs[f], name), Some(8));
    let what = found.map_or("unknown", |bytes| match bytes.runs.as_slice() {
        [run] if run.size == 8 && run.ty == ByteType::Pointer => "pointer",
        [run] if run.size == 8 && matches!(run.ty, ByteType::Float(_)) => "float",
        _ => "other",
    });
    assert_eq!(what, expected, "{text}");
}

/// Two boxes behind one place, one of which gets an address from a slot, and the other a number.
const BOXES: &str = "  %s = alloca ptr\n  store ptr %q, ptr %s\n  %b = call ptr @malloc(i64 8)\n  %c = call ptr @malloc(i64 8)\n\
    \x20 store double %d, ptr %b\n  store ptr %b, ptr %p\n  store ptr %c, ptr %p\n\
    \x20 call void @llvm.memcpy.p0.p0.i64(ptr %c, ptr %s, i64 8, i1 false)";

#[test]
fn what_other_objects_hold_does_not_count() {
    check(BOXES, "s", "pointer");
    // The boxes are of one class, which gets both.
    check(BOXES, "c", "unknown");
}

#[test]
fn copies_flow_forwards() {
    let chain = "  %a = alloca double\n  store double %d, ptr %a\n  %b = alloca double\n  %c = alloca double\n\
        \x20 call void @llvm.memcpy.p0.p0.i64(ptr %b, ptr %a, i64 8, i1 false)\n\
        \x20 call void @llvm.memcpy.p0.p0.i64(ptr %c, ptr %b, i64 8, i1 false)";
    check(chain, "c", "float");
    let both = "  %e = alloca ptr\n  store ptr %q, ptr %e\n  call void @llvm.memcpy.p0.p0.i64(ptr %b, ptr %e, i64 8, i1 false)";
    check(&format!("{chain}\n{both}"), "c", "unknown");
}

#[test]
fn what_callers_have_is_unknown() {
    check("  store double %d, ptr %p", "p", "unknown");
    let read = "  %a = alloca double\n  store double %d, ptr %a\n  call void @llvm.memcpy.p0.p0.i64(ptr %a, ptr %p, i64 8, i1 false)";
    check(read, "a", "unknown");
}

#[test]
fn what_pointers_of_callers_lead_to_is_unknown() {
    let read = "  %o = load ptr, ptr %p\n  %a = call ptr @malloc(i64 8)\n\
        \x20 call void @llvm.memcpy.p0.p0.i64(ptr %a, ptr %o, i64 8, i1 false)\n\
        \x20 %n = load i64, ptr %q\n  %m = add i64 %n, 1\n  store i64 %m, ptr %a";
    check(&format!("{read}\n  store ptr %a, ptr %p"), "o", "unknown");
}
