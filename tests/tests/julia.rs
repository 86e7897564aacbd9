//! Julia programs through the package in `bindings/julia`: its own tests, a test case for each file; the program of the README from an empty folder; and
//! a copy of the package beside an installed library.
//!
//! Julia 1.5 comes from an older Debian (`xtask/julia.sh`). Where it can't be had there is one ignored test case, whose name says so.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use enzyme_tests::{Error, Result, process, toolchain};
use libtest_mimic::{Arguments, Failed, Trial};

/// The largest file, and Julia's own compilation of it, on a machine with other work.
const LIMIT: Duration = Duration::from_secs(900);
/// The files of the package's tests, and the checks that each has at least.
const FILES: [(&str, usize); 23] = [
    ("scalars", 140),
    ("arrays", 60),
    ("structures", 50),
    ("programs", 20),
    ("dynamic", 62),
    ("dispatched", 40),
    ("linear_algebra", 60),
    ("factorisations", 55),
    ("ranges", 35),
    ("assembled", 35),
    ("globals", 25),
    ("sugar", 40),
    ("errors", 84),
    ("catching", 75),
    ("modes", 45),
    ("nested", 35),
    ("everyday", 33),
    ("containers", 27),
    ("unions", 125),
    ("unchanged", 20),
    ("collector", 50),
    ("rules", 50),
    ("bitcode", 10),
];

/// The files that run as Julia starts by itself. The others run with `-O1`, where machine code is made quickly, from derivatives that are made
/// and optimised as ever: it was half of the time.
const OPTIMISED: [&str; 5] = ["scalars", "arrays", "structures", "nested", "rules"];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    match missing() {
        Some(why) => {
            let name = format!("skipped: {why}");
            trials.push(Trial::test(name, || Ok(())).with_ignored_flag(true));
        }
        None => {
            for (file, least) in FILES {
                trials.push(trial(&format!("tests::{file}"), move || tests(file, least)));
            }
            trials.push(trial("readme", readme));
            trials.push(trial("first_call", first_call));
            trials.push(trial("installed", installed));
        }
    }
    // One after the other: they share the package that is precompiled.
    libtest_mimic::run(&Arguments { test_threads: Some(1), ..arguments }, trials).exit_code()
}

fn trial(name: &str, test: impl FnOnce() -> Result<()> + Send + 'static) -> Trial {
    Trial::test(name, move || test().map_err(Failed::from))
}

/// Why there is no Julia to test with.
fn missing() -> Option<String> {
    let output = Command::new("julia").arg("--version").output();
    let Ok(output) = output else { return Some("there is no julia (sh xtask/julia.sh says why)".to_owned()) };
    let version = String::from_utf8_lossy(&output.stdout).into_owned();
    (!version.contains(" 1.5.")).then(|| format!("{} is not of a version that was tried", version.trim()))
}

/// Julia as a user starts it, with the package of `packages`.
fn julia(packages: &Path) -> Command {
    let mut command = Command::new("julia");
    command
        .arg("--startup-file=no")
        .env("JULIA_LOAD_PATH", format!("{}:@stdlib", packages.display()))
        .env("JULIA_DEPOT_PATH", toolchain::root().join("target/julia"))
        .env_remove("ENZYME_LIBRARY");
    command
}

fn bindings() -> PathBuf {
    toolchain::root().join("bindings/julia")
}

fn tests(file: &str, least: usize) -> Result<()> {
    let mut command = julia(&bindings());
    if !OPTIMISED.contains(&file) {
        command.arg("-O1");
    }
    command.arg(bindings().join("Enzyme/test/runtests.jl")).arg(file);
    let finished = process::run(&mut command, LIMIT)?.expect_success("a test of the package failed")?;
    let good = passed(&finished.stdout);
    if good >= least { Ok(()) } else { Err(finished.failure(&format!("{good} checks ran, {least} are expected"))) }
}

/// The checks of the outermost set: the line of the summary that begins with the package's name.
fn passed(text: &str) -> usize {
    let line = text.lines().find(|line| line.starts_with("Enzyme"));
    line.and_then(|line| line.split('|').nth(1)?.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

const PROGRAM: &str = "
using Enzyme
println(autodiff(Reverse, x -> sin(x) * x, Active, Active(1.0)))
";

fn says(command: &mut Command) -> Result<()> {
    let finished = process::run(command.args(["-e", PROGRAM]), LIMIT)?.expect_success("julia failed")?;
    if finished.stdout.trim() == "((1.3817732906760363,),)" {
        return Ok(());
    }
    Err(finished.failure("the derivative is another"))
}

/// How many methods Julia compiles, of the package, of its own library, for the first derivative in a process. Julia keeps what it inferred when
/// the package was precompiled, not the machine code: each method that is called for the first time costs about 10 ms.
const FIRST: &str = "
using Enzyme
function compiled()
    count = 0
    function instances(method)
        for i in 1:length(method.specializations)
            isassigned(method.specializations, i) || continue
            instance = method.specializations[i]
            isdefined(instance, :cache) || continue
            code = instance.cache
            while true
                code.invoke == C_NULL || (count += 1)
                isdefined(code, :next) || break
                code = code.next
            end
        end
    end
    tables, modules = Set{Any}(), Set{Module}()
    function table(mt)
        mt in tables && return
        push!(tables, mt)
        Base.visit(instances, mt)
    end
    function look(scope)
        scope in modules && return
        push!(modules, scope)
        for name in names(scope; all = true)
            isdefined(scope, name) || continue
            value = getfield(scope, name)
            value isa Module && look(value)
            value isa Function && table(typeof(value).name.mt)
            value = Base.unwrap_unionall(value)
            value isa DataType && isdefined(value.name, :mt) && table(value.name.mt)
        end
    end
    foreach(look, Base.loaded_modules_array())
    count
end
f(x) = x * sin(x) + exp(x)
compiled()
before = compiled()
autodiff(Reverse, f, Active, Active(1.0))
println(compiled() - before)
";

/// It is 254, the same each time; 417 where methods of the package are specialised, or pull in much that is not called.
fn first_call() -> Result<()> {
    says_nothing(&mut julia(&bindings()))?;
    let finished = process::run(julia(&bindings()).args(["-e", FIRST]), LIMIT)?.expect_success("julia failed")?;
    match finished.stdout.trim().parse::<usize>() {
        Ok(methods) if (50..320).contains(&methods) => Ok(()),
        _ => Err(finished.failure("the first derivative has too much compiled")),
    }
}

/// The package is precompiled.
fn says_nothing(command: &mut Command) -> Result<()> {
    process::run(command.args(["-e", "using Enzyme"]), LIMIT)?.expect_success("julia failed").map(|_| ())
}

fn readme() -> Result<()> {
    let folder = toolchain::scratch()?;
    says(julia(&bindings()).current_dir(folder.path()))
}

/// The package finds the library of the installation that it lies in.
fn installed() -> Result<()> {
    let built = toolchain::root().join("build");
    let prefix = toolchain::scratch()?;
    let copy = |from: PathBuf, to: &str| {
        let to = prefix.path().join(to);
        std::fs::create_dir_all(&to).map_err(Error::io("making a folder"))?;
        process::run(Command::new("cp").arg("-r").arg(from).arg(to), LIMIT)?.expect_success("cp failed").map(|_| ())
    };
    copy(built.join("share/enzyme/julia"), "share/enzyme")?;
    copy(built.join("lib/libEnzyme-22.so"), "lib")?;
    says(&mut julia(&prefix.path().join("share/enzyme/julia")))
}
