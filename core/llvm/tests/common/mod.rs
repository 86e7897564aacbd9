//! Running compilers from tests, and finding things in what they make.

#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use enzyme_ir::{Func, InstId, Module, Op};
use enzyme_llvm::tools::OwnedModule;

/// The compiler, which must be of the LLVM this crate is built for.
pub fn clang() -> String {
    std::env::var("CLANG").unwrap_or_else(|_| "clang-22".to_owned())
}

/// A source file beside the tests.
pub fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name)
}

/// A fresh directory below cargo's own for tests.
pub fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).expect("the directory for test output can be made");
    dir
}

/// Runs a command and returns what it wrote; fails the test if the command fails.
pub fn run(program: &str, args: &[&str]) -> Output {
    let out = Command::new(program).args(args).output().unwrap_or_else(|e| panic!("{program}: {e}"));
    assert!(
        out.status.success(),
        "{program} {args:?} failed:\n{}{}",
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr)
    );
    out
}

/// C source compiled to a module of its own.
pub fn compile(name: &str, source: &str, flags: &[&str]) -> OwnedModule {
    let dir = scratch(name);
    let (c, ll) = (dir.join("source.c"), dir.join("source.ll"));
    std::fs::write(&c, source).unwrap();
    let mut args = vec!["-S", "-emit-llvm", "-o", ll.to_str().unwrap(), c.to_str().unwrap()];
    args.extend(flags);
    run(&clang(), &args);
    OwnedModule::read(&ll).unwrap()
}

/// The placed instructions of a function for which `pick` holds.
pub fn insts(func: &Func, pick: impl Fn(&Op) -> bool) -> Vec<InstId> {
    func.placed().map(|(_, i)| i).filter(|i| pick(&func.insts[*i].op)).collect()
}

/// The mirror's text of a function, for messages.
pub fn text(module: &Module, func: &Func) -> String {
    enzyme_ir::text::print_func(module, func)
}
