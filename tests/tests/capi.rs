//! The C ABI from C: `tests/capi` against the built libraries, shared and static, with sanitizers and under valgrind.
//!
//! `functions.c` is compiled to bitcode, with its lines, and handed to `interface.c`, which differentiates it, calls the results,
//! compares them with differences, and misuses the interface in every way that it promises to notice. `cycles.c` makes a thousand
//! derivatives in several threads and looks at the memory. `beside.c` has another LLVM in the same process. The example of the
//! README must print what the README says.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use enzyme_tests::{Error, Result, process, toolchain};
use libtest_mimic::{Arguments, Failed, Trial};

/// Valgrind takes most of it.
const LIMIT: Duration = Duration::from_secs(400);
const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"];
const SANITIZERS: [&str; 2] = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"];
const PRINTED: &str = "f = 49.200000, gradient = (-215.600000, 112.000000, -100.000000)\n";

/// How a program is linked and run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Shared,
    Static,
    Sanitized,
    Valgrind,
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let trial = |name: &str, test: fn() -> Result<()>| Trial::test(name, move || test().map_err(Failed::from));
    let trials = vec![
        trial("header::c11", || header("clang", "c11", "c")),
        trial("header::c++17", || header("clang++", "c++17", "c++")),
        trial("interface::shared_O0", || interface("-O0", How::Shared)),
        trial("interface::shared_O2", || interface("-O2", How::Shared)),
        trial("interface::static", || interface("-O1", How::Static)),
        trial("interface::sanitized", || interface("-O1", How::Sanitized)),
        trial("interface::valgrind", || interface("-O2", How::Valgrind)),
        trial("cycles", || expect_ok(&mut Command::new(build("cycles.c", Path::new("cycles"), How::Shared)?.1))),
        trial("compiler::shared", || compiler("compiler.c", How::Shared)),
        trial("compiler::static", || compiler("compiler.c", How::Static)),
        trial("compiler::sanitized", || compiler("compiler.c", How::Sanitized)),
        trial("compiler::valgrind", || compiler("compiler.c", How::Valgrind)),
        trial("requests::shared", || compiler("requests.c", How::Shared)),
        trial("requests::sanitized", || compiler("requests.c", How::Sanitized)),
        trial("requests::valgrind", || compiler("requests.c", How::Valgrind)),
        trial("atomic::shared", || compiler("atomic.c", How::Shared)),
        trial("atomic::valgrind", || compiler("atomic.c", How::Valgrind)),
        trial("misuse::shared", || compiler("misuse.c", How::Shared)),
        trial("misuse::sanitized", || compiler("misuse.c", How::Sanitized)),
        trial("misuse::valgrind", || compiler("misuse.c", How::Valgrind)),
        trial("headers_are_whole", headers),
        trial("beside_another_llvm", beside),
        trial("example", example),
    ];
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn folder(name: &str) -> PathBuf {
    toolchain::root().join("build").join(name)
}

fn library(name: &str) -> Result<PathBuf> {
    let path = folder("lib").join(name);
    let missing = || Error::NotBuilt { what: "the library of the C ABI", path: path.display().to_string() };
    path.is_file().then_some(()).ok_or_else(missing)?;
    Ok(path)
}

fn run(command: &mut Command, what: &str) -> Result<process::Finished> {
    process::run(command, LIMIT)?.expect_success(what)
}

fn expect_ok(command: &mut Command) -> Result<()> {
    let finished = run(command, "the program failed")?;
    if finished.stdout.lines().any(|line| line == "ok") { Ok(()) } else { Err(finished.failure("it must say ok")) }
}

/// The header alone, as strict as compilers are.
fn header(compiler: &str, standard: &str, language: &str) -> Result<()> {
    let folder_of_source = toolchain::scratch()?;
    let source = folder_of_source.path().join("header.c");
    let text = "#include <enzyme/enzyme.h>\nint main(void) { return (int)enzyme_abi_version(); }\n";
    std::fs::write(&source, text).map_err(Error::io("writing a source file"))?;
    let mut command = Command::new(toolchain::llvm_program(compiler));
    command.args(WARNINGS).arg(format!("-std={standard}")).args(["-x", language, "-fsyntax-only", "-I"]);
    run(command.arg(folder("include")).arg(source), "the header is not clean").map(|_| ())
}

/// Compiles and links a program; it lies in a folder that vanishes with the first value.
fn build(source: &str, program: &Path, how: How) -> Result<(tempfile::TempDir, PathBuf)> {
    build_with(source, program, how, &[])
}

/// The same, with further words for the compiler.
fn build_with(source: &str, program: &Path, how: How, further: &[&str]) -> Result<(tempfile::TempDir, PathBuf)> {
    let scratch = toolchain::scratch()?;
    let path = scratch.path().join(program);
    let root = toolchain::root();
    let source = root.join(if source.contains('/') { source.to_owned() } else { format!("tests/capi/{source}") });
    let mut command = Command::new(toolchain::llvm_program("clang"));
    // What valgrind reads of a program's lines ends with version 4.
    command.args(WARNINGS).args(["-std=gnu11", "-g", "-gdwarf-4", "-I"]).arg(folder("include")).arg(source);
    match how {
        How::Static => {
            command.arg(library("libEnzyme-22.a")?);
            let config = toolchain::llvm_program("llvm-config");
            let words = run(Command::new(config).args(["--link-shared", "--ldflags", "--libs"]), "llvm-config failed")?;
            command.args(words.stdout.split_whitespace()).arg("-lstdc++");
        }
        How::Shared | How::Sanitized | How::Valgrind => {
            library("libEnzyme-22.so")?;
            let libraries = folder("lib");
            command.arg("-L").arg(&libraries).arg("-lEnzyme-22").arg(format!("-Wl,-rpath,{}", libraries.display()));
        }
    }
    if how == How::Sanitized {
        command.args(SANITIZERS);
    }
    command.args(further).args(["-lm", "-lpthread", "-ldl", "-o"]).arg(&path);
    run(&mut command, "clang failed")?;
    Ok((scratch, path))
}

fn bitcode(source: &Path, level: &str, to: &Path) -> Result<()> {
    let mut command = Command::new(toolchain::llvm_program("clang"));
    command.args([level, "-g", "-emit-llvm", "-c"]).arg(source).arg("-o").arg(to);
    run(&mut command, "clang failed").map(|_| ())
}

fn interface(level: &str, how: How) -> Result<()> {
    let (scratch, program) = build("interface.c", Path::new("interface"), how)?;
    let functions = scratch.path().join("functions.bc");
    bitcode(&toolchain::root().join("tests/capi/functions.c"), level, &functions)?;
    expect_ok(runs(how, program).arg(functions))
}

/// The command that runs a program.
fn runs(how: How, program: PathBuf) -> Command {
    match how {
        How::Valgrind => {
            let mut command = Command::new("valgrind");
            command.args(["-q", "--error-exitcode=3", "--leak-check=full", "--show-leak-kinds=definite"]);
            command.arg("--errors-for-leak-kinds=definite").arg(program);
            command
        }
        How::Shared | How::Static | How::Sanitized => Command::new(program),
    }
}

/// The newest LLVM of another version that the system has.
fn other_llvm() -> Result<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for folder in ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"] {
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        found.extend(entries.flatten().map(|e| e.path()).filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name.starts_with("libLLVM") && name.contains(".so") && !name.contains("22")
        }));
    }
    found.sort();
    found.pop().ok_or_else(|| Error::NotBuilt { what: "another LLVM (Debian: libllvm19)", path: "/usr/lib".to_owned() })
}

fn beside() -> Result<()> {
    let (_scratch, program) = build("beside.c", Path::new("beside"), How::Shared)?;
    expect_ok(Command::new(program).arg(other_llvm()?).arg(library("libEnzyme-22.so")?))
}

/// The headers declare what the library exports, and are clean.
fn headers() -> Result<()> {
    let folder_of_headers = folder("include").join("enzyme");
    let mut text = String::new();
    for name in ["enzyme.h", "compiler.h"] {
        text += &std::fs::read_to_string(folder_of_headers.join(name)).map_err(Error::io("reading a header"))?;
    }
    let declared: BTreeSet<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let mut names = Command::new(toolchain::llvm_program("llvm-nm"));
    names.args(["-D", "--defined-only", "--format=just-symbols"]).arg(library("libEnzyme-22.so")?);
    let exported = run(&mut names, "llvm-nm failed")?.stdout;
    let bare = |line: &str| line.split('@').next().unwrap_or(line).trim().to_owned();
    let missing: Vec<String> = exported.lines().map(bare).filter(|name| !declared.contains(name.as_str())).collect();
    if exported.lines().count() > 100 && missing.is_empty() {
        return Ok(());
    }
    Err(Error::Failed(format!("exported, and in no header: {missing:?}")))
}

/// A program that drives the interface for compilers, through LLVM-C of the same libLLVM.
fn compiler(source: &str, how: How) -> Result<()> {
    let config = toolchain::llvm_program("llvm-config");
    let words =
        run(Command::new(config).args(["--includedir", "--link-shared", "--ldflags", "--libs"]), "llvm-config failed")?;
    let of_llvm = words
        .stdout
        .split_whitespace()
        .flat_map(|word| if word.starts_with('/') { vec!["-isystem", word] } else { vec![word] });
    let further: Vec<&str> = ["-rdynamic"].into_iter().chain(of_llvm).collect();
    let (_scratch, program) = build_with(source, Path::new("compiler"), how, &further)?;
    expect_ok(&mut runs(how, program))
}

fn example() -> Result<()> {
    let (scratch, program) = build("examples/capi/gradient.c", Path::new("gradient"), How::Shared)?;
    let input = scratch.path().join("rosenbrock.bc");
    bitcode(&toolchain::root().join("examples/capi/rosenbrock.c"), "-O1", &input)?;
    let finished = run(Command::new(program).arg(input), "the program failed")?;
    let readme =
        std::fs::read_to_string(toolchain::root().join("README.md")).map_err(Error::io("reading README.md"))?;
    if finished.stdout != PRINTED {
        return Err(finished.failure(&format!("it must print {PRINTED:?}")));
    }
    let source = std::fs::read_to_string(toolchain::root().join("examples/capi/gradient.c"));
    let source = source.map_err(Error::io("reading the example"))?;
    let shown = source.lines().skip_while(|line| !line.starts_with("#include")).collect::<Vec<_>>().join("\n");
    if readme.contains(&shown) && readme.contains(PRINTED.trim_end()) {
        Ok(())
    } else {
        Err(finished.failure("README.md shows another program, or another result"))
    }
}
