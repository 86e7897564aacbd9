//! What the bytes of a copy are taken for.

use enzyme_diff::RefusalKind;
use enzyme_diff::copies::{Bytes, classify};
use enzyme_ir::{ByteRun, ByteType, Facts, FloatKind, Func, InstId, Op};

use crate::with_subject;

fn copy(func: &Func) -> InstId {
    func.placed().map(|(_, i)| i).find(|i| matches!(func.insts[*i].op, Op::Call(_))).unwrap()
}

fn show_runs(runs: &[ByteRun]) -> String {
    let one = |r: &ByteRun| match r.ty {
        ByteType::Float(kind) => format!("{} at {}", kind.name(), r.offset),
        ByteType::Integer => format!("integer of {} at {}", r.size, r.offset),
        ByteType::Pointer => format!("pointer at {}", r.offset),
    };
    runs.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// What `classify` says of the first call of a body.
fn check_with(body: &str, facts: impl Fn(&Func) -> Facts, expected: &str) {
    let source = format!(
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n%pair = type {{ double, i64 }}\n%linked = type {{ ptr, float, float }}\n\
         define void @f(ptr %d, ptr %s, i64 %n) {{\n{body}\n  ret void\n}}\n"
    );
    with_subject(&source, facts, |module, s| {
        let i = copy(s.func);
        let found = match classify(module, s, i, &s.func.call_args(i)[..2], s.func.call_args(i)[2]) {
            Ok(Bytes::Floats(kind)) => format!("all {}", kind.name()),
            Ok(Bytes::NoFloats(pointers)) => format!("no floats{}", if pointers { ", pointers" } else { "" }),
            Ok(Bytes::Runs(runs, period)) => format!("{}; every {period}", show_runs(&runs)),
            Ok(Bytes::Characters) => "characters".to_owned(),
            Ok(Bytes::Words) => "words".to_owned(),
            Err(e) => match e.kind {
                RefusalKind::UnknownType(_) => "unknown".to_owned(),
                other => format!("{other:?}"),
            },
        };
        assert_eq!(found, expected, "{body}");
    });
}

fn check(body: &str, expected: &str) {
    check_with(body, |_| Facts::default(), expected);
}

const COPY: &str = "  call void @llvm.memcpy.p0.p0.i64(ptr %d, ptr %s, i64 %n, i1 false)\n";

#[test]
fn evidence_in_the_memory() {
    check(COPY, "unknown");
    check(&format!("{COPY}  %x = load double, ptr %d"), "all double");
    check(&format!("{COPY}  %x = load float, ptr %s"), "all float");
    check(&format!("{COPY}  %x = load float, ptr %s\n  %y = load double, ptr %d"), "unknown");
    check(&format!("{COPY}  %x = load i32, ptr %s\n  %y = add i32 %x, 1"), "no floats");
    check(&format!("{COPY}  %x = load ptr, ptr %s"), "no floats, pointers");
    check(
        &format!("{COPY}  %x = load double, ptr %s\n  %q = getelementptr i8, ptr %s, i64 8\n  %y = load ptr, ptr %q"),
        "words",
    );
}

#[test]
fn evidence_in_types() {
    let local = |ty: &str, n: u64| {
        format!(
            "  %l = alloca {ty}\n  call void @llvm.memcpy.p0.p0.i64(ptr %l, ptr %s, i64 {n}, i1 false)\n  %x = load double, ptr %l\n\
             \x20 %q = getelementptr i8, ptr %l, i64 8\n  %y = load i64, ptr %q\n  %z = add i64 %y, 1"
        )
    };
    check(&local("%pair", 16), "double at 0, integer of 8 at 8; every 16");
    check(&local("[2 x %pair]", 32), "double at 0, integer of 8 at 8, double at 16, integer of 8 at 24; every 32");
    // Characters may stand for anything: how they are used counts.
    check(&local("[16 x i8]", 16), "double at 0, integer of 8 at 8; every 16");
    let element = "  %e = getelementptr %linked, ptr %d, i64 %n\n  call void @llvm.memcpy.p0.p0.i64(ptr %e, ptr %s, i64 16, i1 false)\n\
        %x = load ptr, ptr %e\n  %q = getelementptr %linked, ptr %e, i64 0, i32 1\n  %y = load float, ptr %q";
    check(element, "pointer at 0, float at 8; every 16");
}

#[test]
fn evidence_in_metadata() {
    let stated = |runs: &[ByteRun]| {
        let runs = runs.to_vec();
        move |func: &Func| {
            let mut facts = Facts::default();
            facts.access_types.insert(copy(func), runs.clone());
            facts
        }
    };
    let double = |offset| ByteRun { offset, size: 8, ty: ByteType::Float(FloatKind::Double) };
    let integer = |offset| ByteRun { offset, size: 8, ty: ByteType::Integer };
    let known = "  call void @llvm.memcpy.p0.p0.i64(ptr %d, ptr %s, i64 16, i1 false)\n";
    check_with(known, stated(&[integer(0), double(8)]), "integer of 8 at 0, double at 8; every 16");
    // A gap in which a float could hide: what is stated is not all.
    check_with(known, stated(&[double(0)]), "unknown");
}

/// A float and a pointer in one place, of unknown length: refused, unless there are characters in that memory.
#[test]
fn clashing_bytes_are_characters_only_beside_characters() {
    let clash = "  store float 1.0, ptr %d\n  store ptr %s, ptr %d\n";
    let call = "  call void @llvm.memcpy.p0.p0.i64(ptr %d, ptr %s, i64 %n, i1 false)";
    check(&format!("{clash}{call}"), "unknown");
    check(&format!("{clash}  %end = getelementptr i8, ptr %d, i64 %n\n  store i8 0, ptr %end\n{call}"), "characters");
    // Doubles and pointers are told apart when it runs, where they are aligned.
    check(&format!("{}{call}", clash.replace("float", "double")), "words");
    check(&format!("{}  %x = load double, ptr %d, align 4\n{call}", clash.replace("float", "double")), "unknown");
}
