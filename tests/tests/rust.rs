//! Rust programs through `cargo enzyme`, on the toolchain that builds the project: `tests/rust` in one binary, at three levels (what takes longest at two), each gradient that it
//! prints compared with differences and dual numbers, and under valgrind. A few cases more: what the compiler says of a wrong activity, what a link
//! without the plugin says, what is refused at its place, that the linker and rustc make the same bits, that other packages stay as they are, and that the
//! checks of the harness can fail.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use enzyme_tests::{Error, Result, corpus, process, toolchain};
use libtest_mimic::{Arguments, Failed, Trial};

#[path = "rust/targets.rs"]
mod targets;

/// All packages and the whole program, on a machine with other work.
const BUILD_LIMIT: Duration = Duration::from_secs(1500);
/// Some hundred allocations in a second.
const VALGRIND_LIMIT: Duration = Duration::from_secs(120);
/// Checks that the programs make; a program that stops early has fewer.
const CHECKS: usize = 195;
/// Three for each program that uses faer, and for those besides that have factors of symmetric matrices.
const CHECKS_OF_FAER: usize = 18;
const CHECKS_OF_FACTORS: usize = 6;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = vec![
        trial("refused::activity", || {
            says(WRONG_ACTIVITY, true, &["`n` cannot be `Active`: a `usize` has no derivative"])
        }),
        trial("refused::reference", || says(REFERENCE, true, &["behind which derivatives are added to a shadow"])),
        trial("refused::structure", || {
            says(STRUCTURE, true, &["`Text` has no derivative", "derive(enzyme::Differentiable)"])
        }),
        trial("refused::count", || {
            says(COUNT, true, &["one activity is needed for each and one for the result, 3 in all"])
        }),
        trial("refused::dualv", || {
            let texts = [
                "`x` cannot be `Dualv`: only the tangents of slices lie one behind the other. Use `Dual`",
                "`DualvOnly` is for slices: a result is `Dual`, `DualOnly` or `Const`",
                "`Dualv` is not for reverse mode: use `Duplicated` or `Active`, or `Const`",
                "several derivatives at once cannot be returned: pass a reference, `Duplicated`",
                "`p` cannot be `Active`: it is a reference, behind which derivatives are added to a shadow",
                "`x` cannot be `DuplicatedOnly`: it is passed by value, so its derivative is returned",
                "`ActiveOnly` is for results: an argument is `Active`",
            ];
            says(DUALV, true, &texts)
        }),
        trial("refused::unknown", unknown),
        trial("refused::in_library", || says(IN_LIBRARY, true, &["error: src/main.rs:3:35: in function", "[E0205]"])),
        trial("refused::singles", || says(SINGLES, true, &["src/main.rs:", "[E0301]"])),
        trial("refused::text", || says(THROUGH_TEXT, true, &["src/main.rs:", "[E0203]", "numbers are made of text"])),
        trial("refused::panic", || says(PANIC, true, &["src/main.rs:", "[E0203]", "a panic that carries active data"])),
        trial("refused::lost_address", || says(LOST_ADDRESS, true, &["src/main.rs:", "[E0203]"])),
        trial("without_plugin", || says(RIGHT, false, &["use `cargo enzyme build`"])),
        trial("lto_by_rustc", llvm_plugins),
        trial("hash_map", hash_map),
        trial("variants", variants),
        trial("moved", moved),
        trial("enums", enums),
        trial("idioms", || each_is_right(IDIOMS, &["0", "3"], &[])),
        trial("layers", layers),
        trial("nested", || each_is_right(NESTED, &["0", "3"], &[])),
        trial("other_packages", others),
        trial("two_hundred_dependencies", two_hundred),
        trial("another_plugin", another_plugin),
        trial("tests_and_benches", targets::tests_and_benches),
    ];
    for (name, level) in [("O0", "0"), ("O2", "2"), ("O3", "3")] {
        trials.push(trial(name, move || right(level)));
    }
    for (name, level) in [("O0", "0"), ("O3", "3")] {
        trials.push(trial(&format!("faer::{name}"), move || faer(level)));
    }
    // One after the other: they share the packages that are built.
    libtest_mimic::run(&Arguments { test_threads: Some(1), ..arguments }, trials).exit_code()
}

fn trial(name: &str, test: impl FnOnce() -> Result<()> + Send + 'static) -> Trial {
    Trial::test(name, move || test().map_err(Failed::from))
}

/// `cargo enzyme`, in a folder; what it builds lies in `build/rust`, and is found there the next time.
fn cargo_enzyme(folder: &Path) -> Result<Command> {
    let program = toolchain::root().join("build/bin/cargo-enzyme");
    if !program.is_file() {
        return Err(Error::NotBuilt { what: "the command `cargo enzyme`", path: program.display().to_string() });
    }
    let mut command = Command::new(program);
    command.current_dir(folder).env("ENZYME_PLUGIN", toolchain::plugin()?).env("CARGO_TARGET_DIR", target());
    clean(&mut command);
    Ok(command)
}

fn target() -> PathBuf {
    toolchain::root().join("target/rust-programs")
}

/// What cargo tells the tests that it runs is not meant for the cargo that they run.
fn clean(command: &mut Command) {
    for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET", "RUSTC", "RUSTC_WRAPPER"] {
        command.env_remove(name);
    }
}

fn right(level: &str) -> Result<()> {
    let mut command = cargo_enzyme(&toolchain::root().join("tests/rust"))?;
    command.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", level);
    command.args(["build", "--release", "--bin", "enzyme-rust-programs"]);
    process::run(&mut command, BUILD_LIMIT)?.expect_success("cargo enzyme failed")?;
    let built = std::fs::read_dir(target()).map_err(Error::io("reading the folder of what was built"))?;
    let program = built
        .filter_map(|entry| Some(entry.ok()?.path().join("release/enzyme-rust-programs")))
        .find(|path| path.is_file())
        .ok_or_else(|| Error::Failed("cargo enzyme has built no program".to_owned()))?;
    let finished =
        process::run(&mut Command::new(&program), corpus::RUN_LIMIT)?.expect_success("the program failed")?;
    let good = finished.stdout.lines().filter(|line| line.starts_with("ok ")).count();
    if good != CHECKS || finished.stdout.contains("WRONG") {
        return Err(finished.failure(&format!("{good} of {CHECKS} checks are right")));
    }
    let selftest = process::run(Command::new(&program).arg("selftest"), corpus::RUN_LIMIT)?;
    if !selftest.stdout.contains("WRONG selftest") {
        return Err(selftest.failure("a wrong gradient passes"));
    }
    under_valgrind(&program)
}

/// Programs that use faer: apart, since that takes as long to compile and link as all else here, and at the least level and the one that cargo's release
/// builds have.
fn faer(level: &str) -> Result<()> {
    let mut command = cargo_enzyme(&toolchain::root().join("tests/rust/faer"))?;
    command.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", level);
    command.args(["run", "--release"]);
    let mut checks = CHECKS_OF_FAER;
    if level == "0" {
        command.args(["--features", "factors"]);
        checks += CHECKS_OF_FACTORS;
    }
    let finished = process::run(&mut command, BUILD_LIMIT)?.expect_success("cargo enzyme failed")?;
    let good = finished.stdout.lines().filter(|line| line.starts_with("ok ")).count();
    if good != checks || finished.stdout.contains("WRONG") {
        return Err(finished.failure(&format!("{good} of {checks} checks are right")));
    }
    Ok(())
}

/// Gradients leak nothing, whether they return or unwind; a primal that leaks does, or valgrind sees nothing.
fn under_valgrind(program: &Path) -> Result<()> {
    let run = |word: &str| {
        let mut command = Command::new("valgrind");
        command.args(["-q", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect", "--error-exitcode=9"]);
        process::run(command.arg(program).arg(word), VALGRIND_LIMIT)
    };
    let kept = run("leaks")?.expect_success("a gradient leaks, or reads what it must not")?;
    if kept.stdout.contains("WRONG") || !kept.stdout.contains("ok leaks::panic") {
        return Err(kept.failure("a gradient is wrong under valgrind"));
    }
    let lost = run("forget")?;
    if lost.succeeded() { Err(lost.failure("what the primal leaks is not seen")) } else { Ok(()) }
}

/// A package with one file, in a folder of its own.
fn package(source: &str) -> Result<tempfile::TempDir> {
    let folder = toolchain::scratch()?;
    let bindings = toolchain::root().join("bindings/rust");
    let manifest = format!(
        "[package]\nname = \"one\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies]\nenzyme = {{ path = {bindings:?} }}\n[workspace]\n"
    );
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap_or(folder.path())).map_err(Error::io("making a folder"))?;
        std::fs::write(file, text).map_err(Error::io("writing a package"))
    };
    write("Cargo.toml", &manifest)?;
    write("src/main.rs", source)?;
    Ok(folder)
}

/// What a build that fails says.
fn says(source: &str, plugin: bool, texts: &[&str]) -> Result<()> {
    let folder = package(source)?;
    let mut command = if plugin { cargo_enzyme(folder.path())? } else { Command::new("cargo") };
    if !plugin {
        command.current_dir(folder.path()).env("CARGO_TARGET_DIR", target());
        clean(&mut command);
    }
    let finished = process::run(command.arg("build"), BUILD_LIMIT)?;
    if !finished.succeeded() && texts.iter().all(|text| finished.stderr.contains(text)) {
        return Ok(());
    }
    Err(finished.failure(&format!("it must fail and say {texts:?}")))
}

/// A program is linked anew by another version of the plugin, and only then. A byte behind the end of a library does not
/// change what it does.
fn another_plugin() -> Result<()> {
    let folder = package(RIGHT)?;
    let plugin = folder.path().join("plugin.so");
    let mut bytes = std::fs::read(toolchain::plugin()?).map_err(Error::io("reading the plugin"))?;
    let compiles = |bytes: &[u8]| -> Result<bool> {
        std::fs::write(&plugin, bytes).map_err(Error::io("writing a plugin"))?;
        let mut command = cargo_enzyme(folder.path())?;
        command.arg("build").env("ENZYME_PLUGIN", &plugin).env("CARGO_TARGET_DIR", folder.path().join("target"));
        let finished = process::run(&mut command, BUILD_LIMIT)?.expect_success("cargo enzyme failed")?;
        Ok(finished.stderr.contains("Compiling one "))
    };
    let first = [compiles(&bytes)?, compiles(&bytes)?];
    bytes.push(0);
    let then = compiles(&bytes)?;
    if first == [true, false] && then {
        return Ok(());
    }
    Err(Error::Failed(format!("compiled: {first:?} with one plugin, {then} with another")))
}

/// With the crate, the other packages of a project are the same, with the same features, so that nothing else is built anew.
fn others() -> Result<()> {
    let folder = package("fn main() {}")?;
    let manifest = folder.path().join("Cargo.toml");
    let with = std::fs::read_to_string(&manifest).map_err(Error::io("reading a package"))?;
    let dependencies = "nalgebra = { version = \"0.35\", default-features = false, features = [\"std\", \"macros\"] }\n\
                        num-dual = \"0.15\"\nclap = { version = \"4\", features = [\"derive\"] }\n";
    let with = with.replace("[workspace]", &format!("{dependencies}[workspace]"));
    let without: String =
        with.lines().filter(|line| !line.starts_with("enzyme ")).map(|line| format!("{line}\n")).collect();
    let mut graphs = Vec::new();
    for text in [without, with] {
        std::fs::write(&manifest, text).map_err(Error::io("writing a package"))?;
        let mut command = Command::new("cargo");
        clean(command.current_dir(folder.path()).args([
            "tree",
            "--prefix=none",
            "--edges=normal,build",
            "--format={p} {f}",
        ]));
        let listed = process::run(&mut command, BUILD_LIMIT)?.expect_success("cargo tree failed")?.stdout;
        let lines = listed.lines().map(|line| line.trim_end_matches(" (*)").to_owned());
        graphs.push(lines.filter(|line| !line.starts_with("enzyme")).collect::<std::collections::BTreeSet<_>>());
    }
    if graphs[0] == graphs[1] && graphs[0].len() > 20 {
        return Ok(());
    }
    Err(Error::Failed(format!("packages without the crate {:#?}, and with it {:#?}", graphs[0], graphs[1])))
}

/// In a project of two hundred packages that does not use the crate, adding it builds the crate with what it needs, and of what
/// was built before only the project itself; then nothing is built any more.
fn two_hundred() -> Result<()> {
    let folder = package("fn main() {}")?;
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap_or(folder.path())).map_err(Error::io("making a folder"))?;
        std::fs::write(file, text).map_err(Error::io("writing a package"))
    };
    let with = std::fs::read_to_string(folder.path().join("Cargo.toml")).map_err(Error::io("reading a package"))?;
    let mut list = String::from("[profile.dev]\ndebug = 0\n[dependencies]\n");
    for n in 0..200 {
        // A tree, so that each has others behind it.
        let below = if n > 0 { format!("c{0} = {{ path = \"../c{0}\" }}", (n - 1) / 2) } else { String::new() };
        let head = format!("[package]\nname = \"c{n}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
        write(&format!("c{n}/Cargo.toml"), &format!("{head}[dependencies]\n{below}\n"))?;
        write(&format!("c{n}/src/lib.rs"), "")?;
        list.push_str(&format!("c{n} = {{ path = \"c{n}\" }}\n"));
    }
    let with = with.replace("[dependencies]\n", &list);
    let without: String =
        with.lines().filter(|line| !line.starts_with("enzyme ")).map(|line| format!("{line}\n")).collect();
    let built = |manifest: &str| -> Result<Vec<String>> {
        write("Cargo.toml", manifest)?;
        let mut command = Command::new("cargo");
        clean(command.current_dir(folder.path()).args(["build", "--message-format=json"]));
        command.env("CARGO_TARGET_DIR", folder.path().join("target"));
        let said = process::run(&mut command, BUILD_LIMIT)?.expect_success("cargo failed")?.stdout;
        let name = |line: &str| {
            Some(line.split_once("\"target\":")?.1.split_once("\"name\":\"")?.1.split_once('"')?.0.to_owned())
        };
        let mut names: Vec<String> =
            said.lines().filter(|line| line.contains("\"fresh\":false")).filter_map(name).collect();
        names.sort();
        Ok(names)
    };
    let (first, then, last) = (built(&without)?, built(&with)?, built(&with)?);
    let again: Vec<&String> = then.iter().filter(|name| first.contains(name)).collect();
    if first.len() == 201 && then.iter().any(|name| name == "enzyme") && again == ["one"] && last.is_empty() {
        return Ok(());
    }
    Err(Error::Failed(format!("built: {} without the crate, {then:?} with it, {last:?} once more", first.len())))
}

/// The same bits when rustc itself loads the plugin; options of the plugin by way of the linker.
fn llvm_plugins() -> Result<()> {
    let folder = package(BITS)?;
    let mut answers = Vec::new();
    for mode in ["--option=print-plan", "--llvm-plugins"] {
        let mut command = cargo_enzyme(folder.path())?;
        command.args([mode, "run", "--release"]);
        if mode == "--llvm-plugins" {
            command.env("RUSTC_BOOTSTRAP", "1");
        }
        let finished = process::run(&mut command, BUILD_LIMIT)?.expect_success("cargo enzyme failed")?;
        if finished.stderr.contains("plan of @") != (mode != "--llvm-plugins") {
            return Err(finished.failure("the plan is printed where it is asked for, and only there"));
        }
        answers.push(finished.stdout);
    }
    // The derivative of a product is exact: 3 and 2.
    if answers[0] == answers[1]
        && answers[0].starts_with("4008000000000000 4000000000000000\n")
        && answers[0].lines().count() == 4
    {
        return Ok(());
    }
    Err(Error::Failed(format!("by the linker {:?}, by rustc {:?}", answers[0], answers[1])))
}

/// Numbers in hash maps that grow, by name and by number: in a program for each, since beside others the types of the bytes of a
/// table are not always told (E0301).
fn hash_map() -> Result<()> {
    let others = ["by_number", "by_constant_name", "by_cell", "groups"];
    each_is_right(MAPS, &["0", "3"], &["by_name", "lists_by_name"])?;
    // Texts and vectors of floats in several tables of one program are taken for one another's.
    for but in ["by_name", "lists_by_name"] {
        let but: Vec<&str> = others.into_iter().chain([but]).collect();
        each_is_right(MAPS, &["0", "3"], &but)?;
    }
    Ok(())
}

/// Values of an `enum` that take each other's place in a vector, floats where vectors and boxes were: LLVM merges their words.
fn variants() -> Result<()> {
    for level in ["2", "3"] {
        let folder = package(&format!("{VARIANTS}{}", MAIN.replace("by_what", "variants")))?;
        let mut command = cargo_enzyme(folder.path())?;
        command.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", level).args(["run", "--release"]);
        let finished = process::run(&mut command, BUILD_LIMIT)?.expect_success("cargo enzyme failed")?;
        if finished.stdout.trim() != "right" {
            return Err(finished.failure(&format!("the gradient of variants at level {level} is wrong")));
        }
    }
    Ok(())
}

/// Whole values of an `enum` that are moved about, without optimisation too, where LLVM copies the addresses in them as floats.
fn moved() -> Result<()> {
    each_is_right(MOVED, &["0", "1", "2", "3"], &[])
}

/// Programs whose data are values of an `enum`. Without optimisation the copying of a text is a call beside active memory.
fn enums() -> Result<()> {
    each_is_right(ENUMS, &["2", "3"], &[])?;
    each_is_right(ENUMS, &["0"], &["json"])
}

/// The gradients of the functions of `x` in `source` whose definitions begin lines, but those of `but`, agree with differences.
fn each_is_right(source: &str, levels: &[&str], but: &[&str]) -> Result<()> {
    let names: Vec<&str> = source
        .lines()
        .filter_map(|line| line.strip_prefix("fn ")?.split_once("(x:"))
        .map(|parts| parts.0)
        .filter(|name| !but.contains(name))
        .collect();
    let checks: String = names
        .iter()
        .map(|name| MAIN.replace("by_what", name).replace("fn main", &format!("fn check_{name}")))
        .collect();
    let calls: String = names.iter().map(|name| format!("check_{name}();")).collect();
    for level in levels {
        let folder = package(&format!("{source}{checks}fn main() {{ {calls} }}"))?;
        let mut command = cargo_enzyme(folder.path())?;
        command.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", level).args(["run", "--release"]);
        let finished = process::run(&mut command, BUILD_LIMIT)?.expect_success("cargo enzyme failed")?;
        if names.is_empty() || finished.stdout.lines().filter(|line| *line == "right").count() != names.len() {
            return Err(finished.failure(&format!("a gradient of {names:?} at level {level} is wrong")));
        }
    }
    Ok(())
}

/// At level 0 `format!` beside layers is refused, and traits of two kinds of layers in one program are taken for one another's.
fn layers() -> Result<()> {
    each_is_right(LAYERS, &["0", "3"], &["loaded"])?;
    each_is_right(LAYERS, &["3"], &["kept_state", "parsed"])
}

/// Each function of `x` whose definition begins a line is differentiated.
const MOVED: &str = include_str!("rust/moved.rs");
const ENUMS: &str = include_str!("rust/enums.rs");
const IDIOMS: &str = include_str!("rust/idioms.rs");
const LAYERS: &str = include_str!("rust/layers.rs");
const NESTED: &str = include_str!("rust/nested.rs");
const VARIANTS: &str = r#"
enum Value { Number(f64), List(Vec<f64>), Pair(f64, f64) }
enum Item { Number(f64), List(Vec<f64>), Boxed(Box<f64>), Nothing }
fn pass(values: &mut Vec<Value>, x: f64) {
    for i in 0..values.len() {
        values[i] = match &values[i] {
            Value::Number(a) => Value::List(vec![*a, x, a * x]),
            Value::List(l) => Value::Pair(l.iter().sum(), l[0]),
            Value::Pair(a, b) => Value::Number(a * b * 0.3),
        };
    }
}
fn next(item: &Item, x: f64) -> Item {
    match item {
        Item::Number(a) => Item::Boxed(Box::new(a * x)),
        Item::List(l) => Item::Number(l.iter().map(|a| a * x).sum()),
        Item::Boxed(b) => Item::List(vec![**b, x, **b * x]),
        Item::Nothing => Item::Number(x * x),
    }
}
fn weight(item: &Item) -> f64 {
    match item {
        Item::Number(a) => a.sin(),
        Item::List(l) => l.iter().map(|a| a.cos()).sum(),
        Item::Boxed(b) => (-**b).exp(),
        Item::Nothing => 1.0,
    }
}
fn variants(x: &[f64]) -> f64 {
    let mut values = vec![Value::Number(x[0] * x[1]), Value::List(x[..3].to_vec()), Value::Pair(x[3], x[4])];
    for k in 0..4 {
        pass(&mut values, x[k]);
    }
    let mut sum: f64 = values.iter().map(|v| match v {
        Value::Number(a) => a.sin(),
        Value::List(l) => l.iter().map(|a| a.sin()).sum(),
        Value::Pair(a, b) => (a - b * b).sin(),
    }).sum();
    let mut item = Item::Nothing;
    for k in 0..9 {
        item = next(&item, x[k] * 0.5);
        sum += weight(&item) * x[k + 2];
    }
    sum + swapped(x) + guarded(x) + shared(x) + counted(x) + handed(x)
}
fn swapped(x: &[f64]) -> f64 {
    let (mut a, mut b, mut sum) = (Value::Number(x[0]), Value::List(x[1..4].to_vec()), 0.0);
    for k in 0..6 {
        std::mem::swap(&mut a, &mut b);
        sum += match &a {
            Value::Number(u) => u.sin() * x[k],
            Value::List(l) => l.iter().map(|t| t * t).sum(),
            Value::Pair(p, q) => p * q,
        };
        if k == 3 {
            sum += match std::mem::replace(&mut a, Value::Pair(x[2], sum)) {
                Value::Number(u) => u.exp(),
                Value::List(l) => l.iter().product(),
                Value::Pair(p, q) => p - q,
            };
        }
    }
    sum
}
fn guarded(x: &[f64]) -> f64 {
    let mut items = vec![Item::Number(x[0]), Item::List(x[..5].to_vec()), Item::Nothing];
    let mut sum = 0.0;
    for k in 0..5 {
        for item in items.iter_mut() {
            match item {
                Item::Number(a) if *a > 0.9 => *item = Item::List(vec![*a * x[k], x[1]]),
                Item::Number(a) => *a *= 1.7 * x[k],
                Item::List(l) if l.len() > 3 => l.truncate(2),
                Item::List(l) => *item = Item::Number(l[0] + l[1]),
                Item::Boxed(b) => **b *= 0.5,
                Item::Nothing => *item = Item::Number(x[k] * x[k]),
            }
        }
        sum += items.iter().map(weight).sum::<f64>();
    }
    sum
}
fn shared(x: &[f64]) -> f64 {
    use std::{cell::RefCell, rc::Rc};
    let cells: Vec<_> = x.iter().map(|a| Rc::new(RefCell::new(Value::Number(*a)))).collect();
    for k in 0..8 {
        let next = match &*cells[k % 5].borrow() {
            Value::Number(a) => Value::List(vec![*a, a * x[k]]),
            Value::List(l) => Value::Number(l[0] + l[1].sin()),
            Value::Pair(a, b) => Value::Number(a * b),
        };
        *cells[k % 5].borrow_mut() = next;
    }
    cells.iter().map(|c| match &*c.borrow() { Value::Number(a) => a.sin(), Value::List(l) => l.iter().product(), Value::Pair(..) => 0.0 }).sum()
}
enum Counted { Float(f64), Count(u64), List(Vec<f64>) }
fn counted(x: &[f64]) -> f64 {
    let (mut v, mut sum) = (Counted::Count(2), 0.0);
    for k in 0..9 {
        v = match v {
            Counted::Float(a) if k % 2 == 0 => Counted::List(vec![a, x[k]]),
            Counted::Float(a) => Counted::Float(a * x[k]),
            Counted::Count(n) => Counted::Float(n as f64 * x[0]),
            Counted::List(l) => {
                sum += l[0] * l[1];
                if k > 6 { Counted::Count(l.len() as u64) } else { Counted::Float(l[1] + sum) }
            }
        };
    }
    sum + match v { Counted::Float(a) => a, Counted::Count(n) => n as f64 * x[1], Counted::List(l) => l.iter().product() }
}
enum Held { Float(f64), Boxed(Box<f64>) }
#[inline(never)]
fn hold(k: usize, a: f64) -> Held { if k % 2 == 0 { Held::Float(a) } else { Held::Boxed(Box::new(a)) } }
#[inline(never)]
fn let_go(held: Held) -> f64 { match held { Held::Float(a) => a, Held::Boxed(b) => *b * 2.0 } }
fn handed(x: &[f64]) -> f64 {
    (0..6).fold(1.0, |sum, k| sum * 0.5 + let_go(hold(k, x[k] * sum)).sin())
}
"#;
/// Whoever catches a panic gets its value, which has no shadow.
const PANIC: &str = r#"
fn part(v: f64) -> f64 {
    if v > 1.5 { std::panic::panic_any(v * v) } else { v }
}
fn main() {
    let caught = |x: &[f64]| match std::panic::catch_unwind(|| part(x[0])) {
        Ok(v) => v,
        Err(e) => *e.downcast_ref::<f64>().unwrap(),
    };
    println!("{:?}", enzyme::grad!(caught, &[2.0][..]));
}
"#;
/// Numbers that are rounded by way of their text.
const THROUGH_TEXT: &str = r#"
fn main() {
    let rounded = |x: &[f64]| x.iter().map(|v| format!("{:.3}", v * v).parse::<f64>().unwrap()).sum::<f64>();
    println!("{:?}", enzyme::grad!(rounded, &[1.0, 2.0][..]));
}
"#;
/// What is simplified little merges the address of a box with a float.
const LOST_ADDRESS: &str = r#"
enum A { Number(f64), More(B) }
enum B { List(Vec<f64>), Pair(f64, f64), Boxed(Box<A>) }
fn weight(a: &A) -> f64 {
    match a {
        A::Number(t) => t.sin(),
        A::More(B::List(l)) => l.iter().sum(),
        A::More(B::Pair(p, q)) => p * q,
        A::More(B::Boxed(b)) => 1.5 * weight(b),
    }
}
fn f(x: &[f64]) -> f64 {
    let (mut a, mut sum) = (A::Number(x[0]), 0.0);
    for k in 0..8 {
        a = match a {
            A::Number(t) => A::More(B::List(vec![t, x[k % 5]])),
            A::More(B::List(l)) => A::More(B::Pair(l[0], l[1])),
            A::More(B::Pair(p, q)) => A::More(B::Boxed(Box::new(A::Number(p * q)))),
            A::More(B::Boxed(b)) => *b,
        };
        sum += weight(&a) * x[(k + 1) % 5];
    }
    sum
}
fn main() {
    println!("{:?}", enzyme::grad!(f, &[0.5, 0.7, 0.9, 1.1, 1.3][..]));
}
"#;
const MAPS: &str = include_str!("rust/maps.rs");
const MAIN: &str = r#"
fn main() {
    let x: Vec<f64> = (0..16).map(|n| (n as f64 * 0.37).cos() + 1.5).collect();
    let found = enzyme::grad!(by_what, &x[..]);
    let right = (0..x.len()).all(|n| {
        let at = |h: f64| by_what(&x.iter().enumerate().map(|(m, v)| if m == n { v + h } else { *v }).collect::<Vec<_>>());
        let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
        (slope - found[n]).abs() <= 1e-6 * slope.abs().max(1.0)
    });
    println!("{}", if right { "right".to_owned() } else { format!("{found:?}") });
}
"#;

/// Gradients in bits: a product, a chain of iterators, a recurrence with vectors, a Hessian product.
const BITS: &str = r#"
fn show(x: &[f64]) {
    println!("{}", x.iter().map(|v| format!("{:016x}", v.to_bits())).collect::<Vec<_>>().join(" "));
}
fn recurrence(x: &[f64]) -> f64 {
    let mut state = x.to_vec();
    for n in 0..50 {
        let mixed: Vec<f64> = state.windows(2).map(|w| (w[0] * w[1] + x[n % x.len()]).tanh()).collect();
        for (s, m) in state.iter_mut().zip(mixed) {
            *s = 0.3 * *s + m.exp().ln_1p().sqrt();
        }
    }
    state.iter().sum()
}
fn main() {
    let x: Vec<f64> = (0..7).map(|n| (n as f64 * 0.7 + 0.1).sin()).collect();
    show(&enzyme::grad!(|x: &[f64]| x[0] * x[1], &[2.0, 3.0][..]));
    show(&enzyme::grad!(|x: &[f64]| x.iter().map(|v| v.sin() * v.powi(3)).sum::<f64>().sqrt().exp(), &x[..]));
    show(&enzyme::grad!(recurrence, &x[..]));
    show(&enzyme::hvp!(|x: &[f64]| x.iter().map(|v| v.exp() * v).product::<f64>(), &x[..], &x[..]));
}
"#;
const DUALV: &str = "
#[enzyme::autodiff_forward(a, 2, Dualv, Dual)]
fn f(x: &f64) -> f64 { x * x }
#[enzyme::autodiff_forward(b, 2, Dualv, DualvOnly)]
fn g(x: &[f64]) -> f64 { x[0] }
#[enzyme::autodiff_reverse(c, 2, Dualv, Active)]
fn h(x: &[f64]) -> f64 { x[0] }
#[enzyme::autodiff_reverse(d, 2, Active, Active)]
fn i(x: f64) -> f64 { x }
#[enzyme::autodiff_reverse(e, Active, Active)]
unsafe fn j(p: *const f64) -> f64 { unsafe { *p } }
#[enzyme::autodiff_reverse(k, DuplicatedOnly, Active)]
fn l(x: f64) -> f64 { x }
#[enzyme::autodiff_reverse(m, ActiveOnly, Active)]
fn n(x: f64) -> f64 { x }
fn main() {}
";
const RIGHT: &str = "
#[enzyme::autodiff_reverse(norm_gradient, Duplicated, Active)]
fn norm(x: &[f64]) -> f64 {
    x.iter().map(|v| v * v).sum::<f64>().sqrt()
}
fn main() {
    let mut dx = [0.0; 2];
    let value = norm_gradient(&[3.0, 4.0], &mut dx, 1.0);
    println!(\"{value} {dx:?}\");
}
";
const WRONG_ACTIVITY: &str = "
#[enzyme::autodiff_reverse(d, Active, Active, Active)]
fn f(x: f64, n: usize) -> f64 { x * n as f64 }
fn main() {}
";
const REFERENCE: &str = "
#[enzyme::autodiff_reverse(d, Active, Active)]
fn f(x: &f64) -> f64 { x * x }
fn main() {}
";
const STRUCTURE: &str = "
struct Text { name: String, x: f64 }
#[enzyme::autodiff_reverse(d, Active, Active)]
fn f(t: Text) -> f64 { t.x * t.name.len() as f64 }
fn main() {}
";
const COUNT: &str = "
#[enzyme::autodiff_reverse(d, Active, Active)]
fn f(x: f64, y: f64) -> f64 { x * y }
fn main() {}
";
/// What `kept` moves is a number where it puts one, and the vector of its caller else.
const SINGLES: &str = "
enum Value { Number(f64), Single(f32), List(Vec<f64>) }
use Value::*;
fn made(n: usize, x: &[f64]) -> Value {
    match n % 3 {
        0 => Number(x[0] * x[1]),
        1 => Single(x[2] as f32 * 0.5),
        _ => List(x.iter().map(|a| a * a).collect()),
    }
}
#[inline(never)]
fn kept(v: Value, x: &[f64]) -> Value { if let Single(a) = v { Number(x[1] * a as f64) } else { v } }
fn read(v: Value) -> f64 {
    match v {
        Number(a) => a.sin(),
        Single(a) => a as f64,
        List(l) => l.iter().sum(),
    }
}
fn f(x: &[f64]) -> f64 { (0..7).map(|n| read(kept(made(n, x), x)) * x[n % 4]).sum() }
fn main() {
    std::hint::black_box(enzyme::grad!(f, &[1.0, 2.0, 3.0, 4.0][..]));
}
";
/// Functions of which nothing is known, more of them than lld tells errors by itself.
/// The operation is in the standard library; the call of it is what its author can change.
const IN_LIBRARY: &str = "
fn turned(x: &[f64]) -> f64 {
    f64::from_bits(x[0].to_bits().rotate_left(3)) * x[1]
}
fn main() {
    std::hint::black_box(enzyme::grad!(turned, &[1.0, 2.0][..]));
}
";

fn unknown() -> Result<()> {
    let function = |n: usize| {
        format!(
            "unsafe extern \"C\" {{ fn strange{n}(x: f64) -> f64; }}\n\
             #[enzyme::autodiff_reverse(d{n}, Active, Active)]\n\
             fn f{n}(x: f64) -> f64 {{ unsafe {{ strange{n}(x) }} }}\n"
        )
    };
    let source: String = (0..25).map(function).collect();
    let calls: String = (0..25).map(|n| format!("println!(\"{{:?}}\", d{n}(1.0, 1.0));")).collect();
    // The call stands in the last of three lines.
    let places: Vec<String> = (0..25).map(|n| format!("main.rs:{}:", 3 * n + 3)).collect();
    let texts: Vec<&str> = places.iter().map(String::as_str).chain(["[E0201]"]).collect();
    says(&format!("{source}fn main() {{ {calls} }}\n"), true, &texts)
}
