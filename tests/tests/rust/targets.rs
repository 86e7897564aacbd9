//! Tests and benches of a package, through `cargo enzyme`, and what their links leave as it is.

use std::path::Path;
use std::process::Command;

use enzyme_tests::toolchain::llvm_program;
use enzyme_tests::{Error, Result, process};

use super::{BUILD_LIMIT, cargo_enzyme, package};

const LIBRARY: &str = "
pub fn squares(x: &[f64]) -> f64 { x.iter().map(|v| v * v).sum() }
#[cfg(test)]
mod tests {
    #[test]
    fn gradient_of_squares() {
        assert_eq!(enzyme::grad!(super::squares, &[3.0, -2.0][..]), [6.0, -4.0]);
    }
}
";
const BENCH: &str = "
fn main() {
    println!(\"gradient {:?}\", enzyme::grad!(one::squares, &[3.0, -2.0][..]));
}
";

/// `cargo enzyme test` and `cargo enzyme bench` run what cargo's commands do, with derivatives. In the linked bench, what reads debug information for
/// backtraces stays as Rust's library has it, and nothing else does.
pub fn tests_and_benches() -> Result<()> {
    let folder = package("fn main() {}")?;
    let write =
        |name: &str, text: &str| std::fs::write(folder.path().join(name), text).map_err(Error::io("writing a package"));
    let manifest = std::fs::read_to_string(folder.path().join("Cargo.toml")).map_err(Error::io("reading a package"))?;
    write("Cargo.toml", &format!("{manifest}[[bench]]\nname = \"gradients\"\nharness = false\n"))?;
    write("src/lib.rs", LIBRARY)?;
    std::fs::create_dir(folder.path().join("benches")).map_err(Error::io("making a folder"))?;
    write("benches/gradients.rs", BENCH)?;

    let mut command = cargo_enzyme(folder.path())?;
    let tested = process::run(command.args(["test", "--lib"]), BUILD_LIMIT)?.expect_success("cargo enzyme failed")?;
    if !tested.stdout.contains("test tests::gradient_of_squares ... ok") {
        return Err(tested.failure("the test does not run"));
    }
    let mut command = cargo_enzyme(folder.path())?;
    let built = folder.path().join("target");
    command.args(["bench", "--bench", "gradients"]).env("CARGO_TARGET_DIR", &built);
    command.env("RUSTFLAGS", "-Clink-arg=-Wl,--save-temps");
    let measured = process::run(&mut command, BUILD_LIMIT)?.expect_success("cargo enzyme failed")?;
    if !measured.stdout.contains("gradient [6.0, -4.0]") {
        return Err(measured.failure("the bench does not run"));
    }
    leaves_backtraces(&built)
}

/// Of the functions in the module that was linked, those are `optnone` that belong to the readers of debug information.
fn leaves_backtraces(built: &Path) -> Result<()> {
    let entries = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut objects = entries(built).flat_map(|platform| entries(&platform.join("release/deps")));
    let module = objects.find(|path| path.to_string_lossy().ends_with("precodegen.bc"));
    let module = module.ok_or_else(|| Error::Failed("the linker keeps no module".into()))?;
    let mut command = Command::new(llvm_program("llvm-dis"));
    let text =
        process::run(command.arg(module).args(["-o", "-"]), BUILD_LIMIT)?.expect_success("llvm-dis failed")?.stdout;
    let groups: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("attributes #") && line.contains(" optnone "))
        .filter_map(|line| line.split(' ').nth(1))
        .collect();
    let is_left = |line: &&str| line.starts_with("define ") && line.split(' ').any(|word| groups.contains(&word));
    let left: Vec<&str> = text.lines().filter(is_left).collect();
    let readers = left.iter().filter(|line| line.contains("5gimli")).count();
    let own =
        left.iter().filter(|line| ["squares", "gradients", "enzyme"].iter().any(|name| line.contains(name))).count();
    if readers > 20 && own == 0 {
        return Ok(());
    }
    Err(Error::Failed(format!(
        "{} functions are left as they are, {readers} of the readers, {own} of the program",
        left.len()
    )))
}
