//! The command as users call it: its output, its messages, its exit statuses.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;
use std::process::{Command, Output};

fn enzyme(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_enzyme")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// A module of LLVM IR in a file of its own.
fn module(name: &str, ir: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, ir).unwrap();
    path
}

const HELLO: &str = r#"
@text = private constant [15 x i8] c"%s has %d, %f\0A\00"
declare i32 @printf(ptr, ...)
define i32 @main(i32 %count, ptr %strings) {
  %place = getelementptr ptr, ptr %strings, i64 1
  %first = load ptr, ptr %place
  %half = fdiv double 1.0, 2.0
  %printed = call i32 (ptr, ...) @printf(ptr @text, ptr %first, i32 %count, double %half)
  ret i32 %count
}
"#;

#[test]
fn a_program_runs_with_its_arguments_and_its_status() {
    let file = module("hello.ll", HELLO);
    let output = enzyme(&["run", file.to_str().unwrap(), "-x", "y"]);
    assert_eq!(text(&output.stderr), "");
    assert_eq!(text(&output.stdout), "-x has 3, 0.500000\n");
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn a_fault_is_told_after_the_output() {
    let ir = "@text = private constant [4 x i8] c\"out\\00\"\n\
              declare i32 @puts(ptr)\n\
              define i32 @main() {\n  %p = call i32 @puts(ptr @text)\n  %x = load i32, ptr null\n  ret i32 %x\n}\n";
    let output = enzyme(&["run", module("fault.ll", ir).to_str().unwrap()]);
    assert_eq!(text(&output.stdout), "out\n");
    assert!(text(&output.stderr).starts_with("enzyme: error: ") && text(&output.stderr).contains("`main`"));
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn what_cannot_be_run_is_refused() {
    let cases = [
        ("no.ll", None, "no.ll"),
        ("broken.ll", Some("define i32 @main() {"), "broken.ll"),
        ("library.ll", Some("define i32 @f() {\n  ret i32 0\n}\n"), "defines no function `main`"),
        ("strange.ll", Some("define i32 @main(double %x) {\n  ret i32 0\n}\n"), "`main` takes other arguments"),
    ];
    for (name, ir, expected) in cases {
        let file = match ir {
            Some(ir) => module(name, ir),
            None => PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name),
        };
        let output = enzyme(&["run", file.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(1), "{name}");
        assert!(text(&output.stderr).contains(expected), "{name}: {}", text(&output.stderr));
        assert_eq!(text(&output.stdout), "", "{name}");
    }
}

#[test]
fn codes_and_rules_are_explained() {
    let unknown = enzyme(&["explain", "E9999"]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(text(&unknown.stderr).contains("there is no error code \"E9999\""));
    for line in text(&enzyme(&["explain"]).stdout).lines() {
        let (code, title) = line.split_once("  ").unwrap();
        let page = enzyme(&["explain", code]);
        assert!(text(&page.stdout).starts_with(&format!("{code}: {title}\n\n")), "{code}");
        assert!(page.status.success());
    }
    let rules = enzyme(&["rules"]);
    assert!(rules.status.success());
    assert!(text(&rules.stdout).contains("sqrt"));
}

#[test]
fn the_command_line_is_checked() {
    assert!(text(&enzyme(&["version"]).stdout).starts_with(&format!("enzyme {}\n", env!("CARGO_PKG_VERSION"))));
    assert_eq!(enzyme(&["fly"]).status.code(), Some(2));
    assert_eq!(enzyme(&[]).status.code(), Some(2));
}
