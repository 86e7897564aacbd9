//! Texts in, texts or errors out. `tests/everything.ll` holds each kind of type, constant, instruction, flag and
//! attribute once; LLVM's own tools accept it.

use super::*;
use crate::func::{Func, Inst};
use crate::ids::{BlockId, ConstId, InstId, TypeId, ValueId};
use crate::module::Module;
use crate::op::{CallInfo, FastMath, IntFlags, MemClass, Op, TailKind};
use cranelift_entity::EntityRef;
use std::time::{Duration, Instant};

const EVERYTHING: &str = include_str!("tests/everything.ll");

fn parse(text: &str) -> Module {
    parse_module(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// First line at which two texts differ.
fn first_difference(a: &str, b: &str) -> String {
    let lines = a.lines().zip(b.lines()).enumerate();
    let found = lines.filter(|(_, (x, y))| x != y).map(|(i, (x, y))| format!("line {}:\n- {x}\n+ {y}", i + 1)).next();
    found.unwrap_or_else(|| format!("lengths {} and {}", a.len(), b.len()))
}

#[test]
fn everything_prints_as_it_was_written() {
    let module = parse(EVERYTHING);
    let printed = print_module(&module);
    assert!(printed == EVERYTHING, "{}", first_difference(EVERYTHING, &printed));
    let errors = crate::verify::verify_module(&module);
    assert!(errors.is_empty(), "{errors:?}");
}

#[test]
fn what_compilers_add_is_read_over() {
    let module = parse(
        r#"
; ModuleID = 'a.c'
source_filename = "a.c"
module asm ".globl x"
$c = comdat any
%0 = type { i32 }
@a = private unnamed_addr constant [3 x i8] c"ab\00", section "s", comdat($c), align 1, !dbg !9
@b = dso_local local_unnamed_addr global i32 0, comdat, no_sanitize_address, align 4
@n = linkonce_odr hidden thread_local(initialexec) unnamed_addr externally_initialized global %0 zeroinitializer
@al = unnamed_addr alias double (double), ptr @f
@ch = alias double (double), ptr @al
@off = alias i8, getelementptr (i8, ptr @a, i64 1)
@ifu = ifunc void (), ptr @resolver
define dso_local noundef double @f(double noundef %x) local_unnamed_addr #0 section "t" comdat($c) align 16 prefix i32 1 !dbg !5 {
    #dbg_value(double %x, !6, !DIExpression(), !7)
  %t = tail call fast noundef nofpclass(nan inf) double @g(ptr noundef nonnull align 8 dereferenceable(8) @a, i32 signext range(i32 0, 5) 2) #1, !dbg !7, !fpmath !{float 2.5}
  %u = call double @llvm.sqrt.f64(double %t) nounwind memory(none)
  %w = call double @ch(double %u), !dbg !8
  ret double %w
  uselistorder double %t, { 1, 0 }
}
declare nofpclass(nan) double @g(ptr noundef readonly captures(address, read_provenance), i32 signext) #2
declare void @resolver()
attributes #0 = { mustprogress nounwind memory(argmem: read) uwtable(sync) "frame-pointer"="all" alignstack=16 }
attributes #1 = { nounwind }
attributes #2 = { "enzyme_inactive" noreturn memory(read, argmem: none, inaccessiblemem: none) }
uselistorder ptr @a, { 1, 0 }
!llvm.dbg.cu = !{!2}
!llvm.ident = !{!1}
!1 = !{!"clang"}
!2 = distinct !DICompileUnit(language: DW_LANG_C11, file: !3, producer: "x", emissionKind: FullDebug)
!3 = !DIFile(filename: "a.c", directory: "/src")
!5 = distinct !DISubprogram(name: "f", scope: !3, file: !3, line: 2, unit: !2)
!6 = !DILocalVariable(name: "x", arg: 1, scope: !5, file: !3)
!7 = !DILocation(line: 3, column: 4, scope: !10)
!8 = !DILocation(line: 20, column: 1, scope: !5, inlinedAt: !7)
!9 = !{}
!10 = distinct !DILexicalBlock(scope: !5, file: !3, line: 3)
^0 = module: (path: "a", hash: (0, 0))
"#,
    );
    let f = &module.funcs[module.find_func("f").expect("f")];
    assert!(f.attrs.nounwind && f.attrs.no_write && f.attrs.arg_mem_only && !f.attrs.no_read);
    let g = &module.funcs[module.find_func("g").expect("g")];
    assert!(g.attrs.inactive && g.attrs.noreturn && g.attrs.no_write && !g.attrs.arg_mem_only);
    assert!(g.param_attrs[0].readonly && !g.param_attrs[0].nocapture);
    assert!(module.find_func("al").is_none() && module.find_func("ifu").is_some());
    assert!(module.find_global("off").is_some());
    let locs: Vec<String> = f.placed().filter_map(|(_, i)| f.insts[i].loc).map(|l| module.describe_loc(l)).collect();
    assert_eq!(locs, ["a.c:3:4", "a.c:20:1 (inlined at a.c:3:4)"]);
    assert_eq!(module.locs[f.loc.expect("location")].scope, "f");
    assert!(crate::verify::verify_module(&module).is_empty());
    let printed = print_module(&module);
    assert_eq!(print_module(&parse(&printed)), printed);
    assert!(printed.contains("%w = call double @f(double %u)"), "aliases stand for their targets\n{printed}");
}

#[test]
fn forward_references_of_all_kinds() {
    let text = "%a = type { %b }
%b = type { i32 }

@first = global ptr @second
@second = global ptr @later

define i32 @user(i1 %c) {
start:
  br label %head

body:
  %s = add i32 %p, 1
  br label %head

head:
  %p = phi i32 [ 0, %start ], [ %s, %body ]
  %k = call i32 @later(i32 %p)
  br i1 %c, label %body, label %out

out:
  ret i32 %k
}

define internal i32 @later(i32 %0) {
  ret i32 %0
}
";
    let printed = print_module(&parse(text));
    let body = |t: &str| t[t.find("@first").expect("first global")..].to_owned();
    assert_eq!(body(&printed), body(text));
}

#[test]
fn names_are_made_unique_and_numbered() {
    let mut module = parse("define i32 @f(i32 %x) {\nb:\n  %y = add i32 %x, 1\n  %z = add i32 %y, 1\n  ret i32 %z\n}");
    let id = module.find_func("f").expect("f");
    let func = &mut module.funcs[id];
    func.value_names.retain(|_, name| name != "y");
    func.value_names.values_mut().for_each(|name| *name = "b".to_owned());
    let printed = print_func(&module, &module.funcs[id]);
    let expect = "define i32 @f(i32 %b) {\nb.1:\n  %0 = add i32 %b, 1\n  %b.2 = add i32 %0, 1\n  ret i32 %b.2\n}\n";
    assert_eq!(printed, expect);
}

#[test]
fn floats_are_read_and_printed_as_llvm_does() {
    for (ty, written, printed) in [
        ("double", "1.0", "1.000000e+00"),
        ("double", "-0.0", "-0.000000e+00"),
        ("double", "1.0e100", "1.000000e+100"),
        ("double", "1.5e-7", "1.500000e-07"),
        ("double", "1.234567", "0x3FF3C0C9539B8887"),
        ("double", "1.23456", "1.234560e+00"),
        ("double", "0x7FF0000000000000", "0x7FF0000000000000"),
        ("double", "0xFFF8000000000001", "0xFFF8000000000001"),
        ("float", "0.5", "5.000000e-01"),
        ("float", "0x3FB99999A0000000", "0x3FB99999A0000000"),
        ("float", "0x7FF0000020000000", "0x7FF0000020000000"),
        ("float", "0xFFF8000000000000", "0xFFF8000000000000"),
        ("half", "1.5", "0xH3E00"),
        ("half", "0xHFE01", "0xHFE01"),
        ("bfloat", "1.0", "0xR3F80"),
        ("x86_fp80", "0xK3FFF8000000000000000", "0xK3FFF8000000000000000"),
        ("fp128", "0xL00000000000000013FFF000000000000", "0xL00000000000000013FFF000000000000"),
        ("ppc_fp128", "0xM3FF00000000000000000000000000001", "0xM3FF00000000000000000000000000001"),
    ] {
        let module = parse(&format!("@x = global {ty} {written}"));
        let c = module.globals.values().next().and_then(|g| g.init).expect("initialiser");
        assert_eq!(print_const(&module, c), printed, "{ty} {written}");
    }
}

#[test]
fn errors_say_where_and_what() {
    let body = |inst: &str| format!("define void @f(double %x, ptr %p) {{\n{inst}\n  ret void\n}}");
    for (text, line, column, part) in [
        ("define void @f() {".to_owned(), 1, 19, "closing bracket"),
        ("hello".to_owned(), 1, 1, "expected a definition"),
        ("@x = global i32 1.0".to_owned(), 1, 17, "float literal"),
        ("@x = global float 0.1".to_owned(), 1, 19, "not exactly"),
        ("@x = global i8 256".to_owned(), 1, 16, "does not fit"),
        ("@x = global i0 0".to_owned(), 1, 13, "1 to 8388608"),
        ("@x = global ptr @y".to_owned(), 1, 17, "not defined"),
        ("@x = global i32 0\n@x = global i32 0".to_owned(), 2, 1, "defined twice"),
        ("@x = global [2 x i8] [i8 1]".to_owned(), 1, 22, "expected 2 elements"),
        ("@x = global [2 x i8] [i8 1, i9 2]".to_owned(), 1, 29, "another type"),
        ("@x = global i32* null".to_owned(), 1, 16, "pointers are written"),
        ("%a = type { %b }".to_owned(), 1, 13, "not defined"),
        ("%a = type { [2 x %a] }".to_owned(), 1, 18, "holds itself"),
        ("@x = global i32 0, align 3".to_owned(), 1, 26, "power of two"),
        ("@s = global [1 x i8] c\"ab".to_owned(), 1, 22, "string without end"),
        (body("  %y = fadd double %x, %z"), 2, 24, "'%z' is not defined"),
        (body("  %y = fadd float %x, 1.0"), 2, 19, "'double'"),
        (body("  br label %nowhere\nb:"), 2, 12, "label is not defined"),
        (body("  %y = frobnicate double %x"), 2, 8, "expected an instruction"),
        (body("  %x = fneg double %x"), 2, 3, "defined twice"),
        (body("  %7 = fneg double %x\n  %3 = fneg double %x"), 3, 3, "number 8 or greater"),
        (body("  %v = store double %x, ptr %p"), 2, 3, "without result"),
        (body("  %y = fadd nuw double %x, %x"), 2, 17, "does not have"),
        (body("  call void @g()"), 2, 13, "'@g' is not defined"),
        (body("  %y = extractvalue { i32 } undef, 1"), 2, 21, "no such part"),
        (body("  %y = shufflevector <2 x i8> undef, <2 x i8> undef, <1 x i64> undef"), 2, 54, "vector of i32"),
        (body("a:\nb:\n"), 3, 1, "no terminator"),
        (body("  %y = load double, ptr %p, align 3"), 2, 35, "power of two"),
        (body("  ret void\nb:\n  ret void\nb:\n"), 5, 1, "label defined twice"),
    ] {
        let error = parse_module(&text).expect_err(&text);
        assert!(error.message.contains(part), "{text}\n{error}");
        assert_eq!((error.line, error.column), (line, column), "{text}\n{error}");
    }
}

/// Whatever a text is, nothing panics: not the parser, and not verifier and printer on what it let through.
fn survives(text: &str) {
    if let Ok(module) = parse_module(text) {
        let _ = crate::verify::verify_module(&module);
        let printed = print_module(&module);
        match parse_module(&printed) {
            Ok(again) => assert!(print_module(&again) == printed, "unstable:\n{printed}"),
            Err(e) => panic!("what was parsed prints as what does not parse: {e}\n{printed}"),
        }
    }
}

#[test]
fn truncated_texts_do_no_harm() {
    for end in (0..EVERYTHING.len()).filter(|e| EVERYTHING.is_char_boundary(*e)) {
        survives(&EVERYTHING[..end]);
    }
}

#[test]
fn mutilated_texts_do_no_harm() {
    let mut seed = 1u64;
    let mut random = |n: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((seed >> 33) as usize) % n
    };
    let interesting = b"{}[]()<>,=%@!\"#:;0129x*. \n-";
    for at in 0..EVERYTHING.len() {
        let mut bytes = EVERYTHING.as_bytes().to_vec();
        match random(4) {
            0 => bytes[at] ^= 1 << random(8),
            1 => bytes[at] = interesting[random(interesting.len())],
            2 => {
                let end = (at + 1 + random(12)).min(bytes.len());
                bytes.drain(at..end);
            }
            _ => {
                // A word from elsewhere.
                let from = random(EVERYTHING.len() - 16);
                let word = EVERYTHING.as_bytes()[from..from + random(16)].to_vec();
                bytes.splice(at..at, word);
            }
        }
        survives(&String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn deep_and_large_texts_are_refused_in_time() {
    let start = Instant::now();
    let many = 100_000;
    let deep_type = |open: &str, close: &str| format!("@x = global {}i8{} 0", open.repeat(many), close.repeat(many));
    for text in [
        deep_type("[1 x ", "]"),
        deep_type("{", "}"),
        deep_type("target(\"a\", ", ")"),
        format!("@x = global ptr {}", "inttoptr (i64 ptrtoint (ptr ".repeat(many)),
        format!("@x = global i8 {}", "[".repeat(many)),
        format!("@x = global i8 {}", "(i8 ".repeat(many)),
        format!("@x = global i{} 1", 1 << 22),
        format!("@x = global i32 {}", "9".repeat(many)),
        "@x = global <4000000000 x i8> splat (i8 1)".to_owned(),
        format!("declare void @f({}", "i32, ".repeat(many)),
        format!("!0 = {}", "!{".repeat(many)),
    ] {
        assert!(parse_module(&text).is_err());
    }
    // Each type holds the one before twice: written out, the last would have 2^100 parts.
    let mut doubling = "%t0 = type { i8 }\n".to_owned();
    let mut chain = doubling.clone();
    for i in 1..many {
        if i <= 100 {
            doubling += &format!("%t{i} = type {{ %t{p}, %t{p} }}\n", p = i - 1);
        }
        chain += &format!("%t{i} = type {{ %t{p} }}\n", p = i - 1);
    }
    assert!(parse_module(&doubling).is_err_and(|e| e.message.contains("too large")));
    assert!(parse_module(&chain).is_err_and(|e| e.message.contains("too large")));
    // Long is not deep.
    let mut long = "define void @f(ptr %p) {\n".to_owned();
    for i in 0..many {
        long += &format!("  store i32 {i}, ptr %p\n  br label %b{i}\nb{i}:\n");
    }
    long += "  ret void\n}\n";
    assert_eq!(parse(&long).funcs.values().next().map(|f| f.layout.len()), Some(many + 1));
    // Unoptimised and on a busy machine all of this takes a few seconds; quadratic work would take hours.
    assert!(start.elapsed() < Duration::from_secs(120));
}

#[test]
fn malformed_functions_print_without_panic() {
    let mut module = parse("define void @f(i32 %x) {\n  ret void\n}");
    let id = module.find_func("f").expect("f");
    let bad_call = CallInfo { sig: TypeId::new(999), num_args: 7, tail: TailKind::Tail, conv: 3 };
    let ops = [
        Op::FNeg,
        Op::Phi(vec![BlockId::new(77)]),
        Op::Alloca { elem: TypeId::new(999), align: 3 },
        Op::Load(Default::default()),
        Op::Store(Default::default()),
        Op::Call(Box::new(bad_call)),
        Op::Switch { default: BlockId::new(9), cases: vec![(ConstId::new(999), BlockId::new(9))] },
        Op::ExtractValue(vec![1]),
        Op::CatchSwitch { handlers: vec![BlockId::new(3)], unwind: None },
    ];
    let func: &mut Func = &mut module.funcs[id];
    func.blocks[BlockId::new(0)].insts.push(InstId::new(99));
    func.layout.push(BlockId::new(5));
    for op in ops {
        for args in [vec![], vec![ValueId::new(55), ValueId::new(0)]] {
            let inst = Inst {
                op: op.clone(),
                args: args.into_iter().collect(),
                ty: TypeId::new(500),
                result: Some(ValueId::new(600)),
                fast: FastMath::all(),
                ints: IntFlags::all(),
                loc: None,
                origin: None,
                scoped: None,
                mem: MemClass::Tape,
            };
            let i = func.insts.push(inst);
            func.blocks[BlockId::new(0)].insts.push(i);
        }
    }
    func.sig = TypeId::new(321);
    let printed = print_module(&module);
    assert!(printed.contains("<bad>"));
    assert!(parse_module(&printed).is_err());
    assert!(!crate::verify::verify_module(&module).is_empty());
    assert_eq!(print_const(&module, ConstId::new(9999)), "<bad>");
    assert_eq!(print_type(&module.ctx.types, TypeId::new(9999)), "<bad>");
}
