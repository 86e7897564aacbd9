//! A bounded share of the differential generator, with a fixed seed: what `make fuzz` does for longer.

#![cfg_attr(test, allow(clippy::unwrap_used))]

use std::process::Command;
use std::time::Duration;

use enzyme_tests::process;

const LIMIT: Duration = Duration::from_secs(1200);

fn fuzz(arguments: &[&str]) {
    let folder = enzyme_tests::toolchain::scratch().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_fuzz"));
    command.args(arguments).arg("--output").arg(folder.path());
    let finished = process::run(&mut command, LIMIT).unwrap();
    println!("{}", finished.stdout);
    assert!(finished.succeeded(), "{}", finished.failure("`make fuzz` keeps and reduces what failed"));
}

#[test]
fn generated_programs_have_right_derivatives() {
    fuzz(&["--seed", "22", "--programs", "600", "--jobs", "2", "--trials", "0", "--sanitize-share", "0.1"]);
}

#[test]
fn broken_modules_do_not_crash_the_compiler() {
    fuzz(&["--seed", "22", "--mutants", "300", "--jobs", "2"]);
}
