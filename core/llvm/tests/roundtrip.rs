//! Import and export of C programs: a copy that went through the mirror computes what the original does, bit for bit,
//! at every level, with and without preparation. Bit for bit, since nothing in between may reorder arithmetic.

#![cfg(feature = "link")]
#![allow(clippy::unwrap_used)]

mod common;

use common::{clang, program, run, scratch};
use enzyme_ir::FuncId;
use enzyme_llvm::PrepareOptions;
use enzyme_llvm::tools::OwnedModule;

fn check(level: &str, prepared: bool, options: &PrepareOptions) {
    let dir = scratch(&format!("roundtrip{level}-{prepared}-{}", options.inline_budget));
    let path = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let source = program("kernels.c");
    let ll = path("kernels.ll");
    run(&clang(), &[level, "-g", "-S", "-emit-llvm", source.to_str().unwrap(), "-o", &ll]);
    let mut module = OwnedModule::read(ll.as_ref()).unwrap();
    module.with_session(|session| {
        let mut names: Vec<String> = Vec::new();
        for line in std::fs::read_to_string(program("driver.c")).unwrap().split_whitespace() {
            if let Some(name) = line.strip_prefix("F(").and_then(|l| l.strip_suffix(')')) {
                names.push(name.to_owned());
            }
        }
        assert!(names.len() >= 15, "{names:?}");
        let mut copies: Vec<FuncId> = Vec::new();
        for name in &names {
            let f = session.find_function(name).unwrap();
            assert!(session.has_body(f));
            if prepared { session.define_body(f, options) } else { session.import_body(f) }
                .unwrap_or_else(|p| panic!("{name}: {p:?}"));
            let mut copy = session.ir.funcs[f].clone();
            copy.name = format!("copy_{name}");
            copies.push(session.ir.funcs.push(copy));
        }
        session.export_external(&copies).unwrap_or_else(|p| panic!("{p:?}"));
        session.finish(&[]);
        session.verify().unwrap_or_else(|p| panic!("{p}"));
    });
    let both = path("both.ll");
    module.write(both.as_ref()).unwrap();
    let exe = path("program");
    let driver = program("driver.c");
    // No further optimisation that could fold a copy into its original: -O1 without inlining.
    run(
        &clang(),
        &["-O1", "-fno-inline", "-ffp-contract=off", "-w", &both, driver.to_str().unwrap(), "-lm", "-o", &exe],
    );
    let original = run(&exe, &[]).stdout;
    let copied = run(&exe, &["copy"]).stdout;
    assert!(original.len() > 500);
    assert_eq!(String::from_utf8(original).unwrap(), String::from_utf8(copied).unwrap(), "{level}");
}

#[test]
fn copies_agree_with_originals_at_every_level() {
    for level in ["-O0", "-O1", "-O2", "-O3", "-Os"] {
        check(level, false, &PrepareOptions::default());
    }
}

#[test]
fn prepared_copies_agree_with_originals_at_every_level() {
    for level in ["-O0", "-O1", "-O2", "-O3", "-Os"] {
        check(level, true, &PrepareOptions::default());
        check(level, true, &PrepareOptions { inline_budget: 0, facts: false, ..PrepareOptions::default() });
    }
}
