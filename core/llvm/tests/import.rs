//! Whole modules into the mirror: everything clang emits for the kernels is represented, verifies, survives the text form,
//! and means the same to the interpreter as to the processor.

#![cfg(feature = "link")]
#![allow(clippy::unwrap_used)]

mod common;

use common::{clang, program, run, scratch};
use enzyme_ir::interp::{Config, Interp, Val};
use enzyme_llvm::tools::OwnedModule;

/// Kernels whose arithmetic the interpreter repeats bit for bit; `sin` and `fma` of the platform's library may differ in the
/// last place, and `k_pointers` becomes a table of relative addresses, which the interpreter's memory does not have.
const EXACT: [&str; 8] =
    ["k_sum", "k_switch", "k_inplace", "k_structs", "k_integers", "k_recursion", "k_goto", "k_vla"];

#[test]
fn modules_verify_and_print_and_run() {
    for level in ["-O0", "-O1", "-O2", "-O3"] {
        let dir = scratch(&format!("import{level}"));
        let ll = dir.join("kernels.ll");
        let source = program("kernels.c");
        run(&clang(), &[level, "-g", "-S", "-emit-llvm", source.to_str().unwrap(), "-o", ll.to_str().unwrap()]);
        let exe = dir.join("program");
        let driver = program("driver.c");
        let args = ["-O1", "-ffp-contract=off", "-w", ll.to_str().unwrap(), driver.to_str().unwrap(), "-lm", "-o"];
        let mut args: Vec<&str> = args.to_vec();
        args.push(exe.to_str().unwrap());
        // The driver names copies too; they are the originals here.
        let defines: Vec<String> = EACH.iter().map(|k| format!("-Dcopy_{k}={k}")).collect();
        args.extend(defines.iter().map(String::as_str));
        run(&clang(), &args);
        let native = String::from_utf8(run(exe.to_str().unwrap(), &[]).stdout).unwrap();

        let mut owned = OwnedModule::read(&ll).unwrap();
        let module = owned.with_session(|session| {
            session.import_module().unwrap();
            session.ir.clone()
        });
        let errors = enzyme_ir::verify_module(&module);
        assert!(errors.is_empty(), "{level}: {errors:?}");
        let text = enzyme_ir::text::print_module(&module);
        let parsed = enzyme_ir::text::parse_module(&text).unwrap_or_else(|e| panic!("{level}: {e:?}\n{text}"));
        let again = enzyme_ir::text::print_module(&parsed);
        let difference = text.lines().zip(again.lines()).find(|(a, b)| a != b);
        assert_eq!(difference, None, "{level}");
        assert_eq!(again.len(), text.len(), "{level}");
        for kernel in EXACT {
            let expected = native.lines().find(|l| l.starts_with(&format!("{kernel} 10 "))).unwrap();
            let expected: f64 = expected.split(' ').nth(2).unwrap().parse().unwrap();
            let mut interp = Interp::new(&module, Config::default()).unwrap();
            let data: Vec<f64> = (0..10).map(|i| 1.0 / f64::from(i + 1) + f64::from(i % 3) * 0.25).collect();
            let x = interp.alloc_f64s(&data).unwrap();
            let f = module.find_func(kernel).unwrap();
            let got = interp.run(f, &[Val::Ptr(x), Val::int(10)]).unwrap_or_else(|t| panic!("{kernel}: {t:?}"));
            assert_eq!(got, Some(Val::F64(expected)), "{level} {kernel}");
        }
    }
}

const EACH: [&str; 15] = [
    "k_sum",
    "k_branches",
    "k_switch",
    "k_inplace",
    "k_structs",
    "k_heap",
    "k_integers",
    "k_recursion",
    "k_goto",
    "k_pointers",
    "k_long_double",
    "k_vla",
    "k_vectors",
    "k_complex",
    "k_atomics",
];

#[test]
fn malformed_files_give_errors() {
    let dir = scratch("malformed");
    let cases: [(&str, &[u8]); 6] = [
        ("empty.bc", b"BC\xc0\xde"),
        ("syntax.ll", b"define double @f(double %x) { ret double %y }"),
        ("words.ll", b"this is not LLVM"),
        ("types.ll", b"define double @f(float %x) {\n  ret float %x\n}"),
        ("dominance.ll", b"define i32 @f(i1 %c) {\n  br i1 %c, label %a, label %b\na:\n  %v = add i32 1, 2\n  br label %b\nb:\n  ret i32 %v\n}"),
        ("truncated.bc", b"BC\xc0\xde5\x14\x00\x00\x05\x00\x00\x00b\x0c0$"),
    ];
    for (name, bytes) in cases {
        let path = dir.join(name);
        std::fs::write(&path, bytes).unwrap();
        let error = OwnedModule::read(&path).map(|_| ()).unwrap_err();
        assert!(!error.message.is_empty(), "{name}");
        assert_eq!(error.path, path);
    }
    let error = OwnedModule::read(&dir.join("missing.ll")).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("missing.ll"), "{error}");
    let good = OwnedModule::parse("define void @f() {\n  ret void\n}").unwrap();
    assert!(good.write(&dir.join("no/such/folder.ll")).is_err());
}
