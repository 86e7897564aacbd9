//! Projects that find an installation by CMake and by pkg-config, and the drivers of the command `enzyme`: configured, built and run as a
//! user does. The installation is a copy of `build/` at another place, so whatever it says of itself must be relative.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use enzyme_tests::{Error, Result, process, toolchain};
use libtest_mimic::{Arguments, Failed, Trial};

const LIMIT: Duration = Duration::from_secs(240);

/// Projects of `tests/cmake`, and what they print.
const PROJECTS: [(&str, &str); 6] = [
    ("c", "1.080605\n"),
    ("cxx", "3 12 27\n"),
    ("fortran", " 2.0 4.0 6.0\n"),
    ("lto", " 0.1429 0.2857 0.4286\n"),
    ("capi", "6\n"),
    ("gradient", "18 6 24 15\n"),
];

/// Drivers of the command, what they compile, and what that prints.
const DRIVERS: [(&str, &str, &str); 3] = [
    ("cc", "c/main.c", "1.080605\n"),
    ("c++", "cxx/main.cpp", "3 12 27\n"),
    ("fc", "fortran/main.f90", " 2.0 4.0 6.0\n"),
];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials: Vec<Trial> = PROJECTS
        .into_iter()
        .map(|(name, printed)| Trial::test(name, move || project(name, printed).map_err(Failed::from)))
        .collect();
    for (driver, source, printed) in DRIVERS {
        trials.push(Trial::test(format!("driver_{driver}"), move || {
            drive(driver, source, printed).map_err(Failed::from)
        }));
    }
    trials.push(Trial::test("doctor", || doctor().map_err(Failed::from)));
    trials.push(Trial::test("version", || too_new().map_err(Failed::from)));
    trials.push(Trial::test("pkg_config", || pkg_config().map_err(Failed::from)));
    trials.push(Trial::test("module_file", || module_file().map_err(Failed::from)));
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn run(command: &mut Command, what: &str) -> Result<process::Finished> {
    process::run(command, LIMIT)?.expect_success(what)
}

/// A copy of what is installed.
fn installation(folder: &Path) -> Result<PathBuf> {
    toolchain::plugin()?;
    let prefix = folder.join("prefix");
    std::fs::create_dir(&prefix).map_err(Error::io("making a folder"))?;
    let built = toolchain::root().join("build");
    let parts = ["bin", "include", "lib", "share"].map(|part| built.join(part));
    run(Command::new("cp").arg("-a").args(parts).arg(&prefix), "copying failed")?;
    Ok(prefix)
}

fn configure(source: &Path, folder: &Path) -> Result<process::Finished> {
    let prefix = installation(folder)?;
    let compiler = |variable: &str, name: &str| {
        let mut definition = std::ffi::OsString::from(format!("-DCMAKE_{variable}_COMPILER="));
        definition.push(toolchain::llvm_program(name));
        definition
    };
    let mut command = Command::new("cmake");
    command.arg("-S").arg(source).arg("-B").arg(folder.join("build")).arg("-DCMAKE_BUILD_TYPE=Release");
    command.args([compiler("C", "clang"), compiler("CXX", "clang++"), compiler("Fortran", "flang")]);
    command.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display()));
    process::run(&mut command, LIMIT)
}

fn project(name: &str, printed: &str) -> Result<()> {
    let folder = toolchain::scratch()?;
    configure(&toolchain::root().join("tests/cmake").join(name), folder.path())?.expect_success("cmake failed")?;
    let build = folder.path().join("build");
    run(Command::new("cmake").arg("--build").arg(&build), "the build failed")?;
    let finished = run(&mut Command::new(build.join("program")), "the program failed")?;
    if finished.stdout == printed {
        return Ok(());
    }
    Err(finished.failure(&format!("it must print {printed:?}")))
}

/// A version that is not there yet is not found.
fn too_new() -> Result<()> {
    let folder = toolchain::scratch()?;
    let source = folder.path().join("source");
    std::fs::create_dir(&source).map_err(Error::io("making a folder"))?;
    let text = "cmake_minimum_required(VERSION 3.18)\nproject(sample C)\nfind_package(Enzyme 99 CONFIG REQUIRED)\n";
    std::fs::write(source.join("CMakeLists.txt"), text).map_err(Error::io("writing a project"))?;
    let finished = configure(&source, folder.path())?;
    if !finished.succeeded() && finished.stderr.contains("requested version \"99\"") {
        return Ok(());
    }
    Err(finished.failure("version 99 is found"))
}

/// One call that links, and two of which the second does.
fn drive(driver: &str, source: &str, printed: &str) -> Result<()> {
    let folder = toolchain::scratch()?;
    let command = installation(folder.path())?.join("bin/enzyme");
    let source = toolchain::root().join("tests/cmake").join(source);
    let (program, object) = (folder.path().join("program"), folder.path().join("part.o"));
    let standard: &[&str] = if driver == "c++" { &["-std=c++20"] } else { &[] };
    let call = || {
        let mut call = Command::new(&command);
        call.current_dir(folder.path()).arg(driver).arg("-O2").args(standard);
        call
    };
    let check = || {
        let finished = run(&mut Command::new(&program), "the program failed")?;
        if finished.stdout == printed { Ok(()) } else { Err(finished.failure(&format!("it must print {printed:?}"))) }
    };
    run(call().arg(&source).arg("-o").arg(&program).arg("-lm"), "compiling failed")?;
    check()?;
    let compiled = run(call().arg("-c").arg(&source).arg("-o").arg(&object), "compiling alone failed")?;
    let linked = run(call().arg(&object).arg("-o").arg(&program).arg("-lm"), "linking failed")?;
    if !compiled.stderr.is_empty() || !linked.stderr.is_empty() {
        return Err(linked.failure("the driver is not quiet"));
    }
    check()?;
    let failed = process::run(call().arg("no such file"), LIMIT)?;
    if failed.succeeded() { Err(failed.failure("a missing file is no error")) } else { Ok(()) }
}

/// It finds what the other tests use, and says what is missing elsewhere.
fn doctor() -> Result<()> {
    let folder = toolchain::scratch()?;
    let command = installation(folder.path())?.join("bin/enzyme");
    let well = run(Command::new(&command).args(["doctor", "--json"]), "the doctor is not content")?;
    let findings: serde_json::Value =
        serde_json::from_str(&well.stdout).map_err(|e| Error::Failed(format!("no JSON: {e}")))?;
    let good = |what: &str| {
        let mut all = findings.as_array().into_iter().flatten();
        all.any(|f| f["what"] == what && f["state"] == "good")
    };
    if !["plugin", "clang", "flang", "loading"].into_iter().all(good) {
        return Err(well.failure("not all is found"));
    }
    let mut ill = Command::new(&command);
    let ill = process::run(ill.arg("doctor").env("ENZYME_CLANG", "/nowhere/clang"), LIMIT)?;
    if !ill.succeeded() && ill.stdout.contains("mend: apt-get install clang-22") {
        return Ok(());
    }
    Err(ill.failure("a missing clang is not noticed"))
}

/// Fortran with the module's file alone, as flang reads it.
fn module_file() -> Result<()> {
    let folder = toolchain::scratch()?;
    let prefix = installation(folder.path())?;
    let program = folder.path().join("program");
    let mut compile = Command::new(toolchain::llvm_program("flang"));
    compile
        .current_dir(folder.path())
        .arg("-O1")
        .arg(format!("-fpass-plugin={}", prefix.join("lib/FlangEnzyme-22.so").display()));
    compile.arg("-I").arg(prefix.join("share/enzyme/fortran"));
    compile.arg(toolchain::root().join("tests/cmake/fortran/main.f90")).arg("-o").arg(&program);
    run(&mut compile, "flang failed")?;
    let finished = run(&mut Command::new(program), "the program failed")?;
    if finished.stdout == " 2.0 4.0 6.0\n" { Ok(()) } else { Err(finished.failure("another derivative is printed")) }
}

fn pkg_config() -> Result<()> {
    let folder = toolchain::scratch()?;
    let prefix = installation(folder.path())?;
    let mut asked = Command::new("pkg-config");
    asked.args(["--cflags", "enzyme"]).env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
    let flags = run(&mut asked, "pkg-config failed")?.stdout;
    let program = folder.path().join("program");
    let mut compile = Command::new(toolchain::llvm_program("clang"));
    compile.arg("-O2").args(flags.split_whitespace()).arg(toolchain::root().join("tests/cmake/c/main.c"));
    run(compile.args(["-lm", "-o"]).arg(&program), "clang failed")?;
    let finished = run(&mut Command::new(program), "the program failed")?;
    if finished.stdout == "1.080605\n" { Ok(()) } else { Err(finished.failure("another derivative is printed")) }
}
