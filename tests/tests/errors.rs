//! What cannot be differentiated is refused: each file of `tests/errors/` must fail to compile, with a coded error, without a
//! crash, and without leaving an output file behind.
//!
//! The first line says which code: `// error[E0123]: text`, or `; error[E0123]: text` in a `.ll` file. `E????` stands for any
//! code. The text is for readers, unless it is in double quotes: then the message must contain it. A line that ends in
//! `// refused here` is the one that the error must point at. C files are compiled at -O0 and -O2 (`name::O0`, `name::O2`), and
//! `.ll` files go through `opt -passes=enzyme` with the options of a line `; flags: ...`.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use enzyme_tests::corpus;
use enzyme_tests::process::{self, Finished};
use enzyme_tests::toolchain::{self, Compilation, Level};
use enzyme_tests::{Error, Result};
use libtest_mimic::{Arguments, Failed, Trial};

/// As for any compilation.
const LIMIT: Duration = Duration::from_secs(240);
/// The mark of the line which the error must point at.
const HERE: &str = "// refused here";
/// What LLVM and Rust print when they crash.
const CRASHES: [&str; 5] = ["PLEASE submit a bug report", "Stack dump", "panicked at", "LLVM ERROR", "Assertion"];

/// What is expected of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Case {
    code: String,
    text: Option<String>,
    flags: Vec<String>,
    line: Option<usize>,
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    match trials() {
        Ok(trials) => libtest_mimic::run(&arguments, trials).exit_code(),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn trials() -> Result<Vec<Trial>> {
    let mut trials =
        vec![Trial::test("expectations_are_told_apart", || expectations_are_told_apart().map_err(Failed::from))];
    for path in corpus::files(&toolchain::root().join("tests/errors"), &["c", "cpp", "ll"])? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let source = std::fs::read_to_string(&path).map_err(Error::io(format!("reading {}", path.display())))?;
        let case = parse(&source).ok_or_else(|| {
            Error::Failed(format!("{}: the first line must be `// error[E0123]: text`", path.display()))
        })?;
        let modes: &[Option<Level>] = if path.extension().is_some_and(|ending| ending == "ll") {
            &[None]
        } else {
            &[Some(Level::O0), Some(Level::O2)]
        };
        for &mode in modes {
            let name = match mode {
                Some(level) => format!("{name}::{}", level.name()),
                None => format!("{name}::opt"),
            };
            let (path, case) = (path.clone(), case.clone());
            trials.push(Trial::test(name, move || refused(&path, &case, mode).map_err(Failed::from)));
        }
    }
    Ok(trials)
}

fn parse(source: &str) -> Option<Case> {
    let first = source.lines().next()?.trim_start_matches(['/', ';', ' ']);
    let (code, text) = first.strip_prefix("error[")?.split_once("]:")?;
    let text = text.trim();
    let quoted = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let flags = source.lines().find_map(|line| line.strip_prefix("; flags:")).unwrap_or_default();
    let valid = code == "E????" || is_code(code);
    valid.then(|| Case {
        code: code.to_owned(),
        text: quoted.map(str::to_owned),
        flags: flags.split_whitespace().map(str::to_owned).collect(),
        line: source.lines().position(|line| line.trim_end().ends_with(HERE)).map(|index| index + 1),
    })
}

fn is_code(text: &str) -> bool {
    text.len() == 5 && text.starts_with('E') && text[1..].bytes().all(|byte| byte.is_ascii_digit())
}

/// The first code of the project in a message, such as the `E0123` of `error: [E0123] ...`.
fn find_code(message: &str) -> Option<&str> {
    message.split(|c: char| !c.is_ascii_alphanumeric()).find(|word| is_code(word))
}

fn refused(path: &Path, case: &Case, mode: Option<Level>) -> Result<()> {
    let folder = toolchain::scratch()?;
    let output = folder.path().join("output");
    let finished = match mode {
        Some(level) => Compilation::new(path, &output, level)
            .only_compile()
            .flags(["-gline-tables-only"])
            .flags(case.flags.clone())
            .with_plugin()?
            .run()?,
        None => optimise(path, &output, &case.flags)?,
    };
    judge(path, case, &finished)?;
    if output.exists() {
        return Err(Error::Failed(format!("an output file was left behind by {}", finished.command)));
    }
    Ok(())
}

fn optimise(path: &Path, output: &Path, flags: &[String]) -> Result<Finished> {
    let mut plugin = std::ffi::OsString::from("-load-pass-plugin=");
    plugin.push(toolchain::plugin()?);
    let mut command = Command::new(toolchain::llvm_program("opt"));
    process::run(command.arg(plugin).arg("-passes=enzyme").args(flags).arg(path).arg("-o").arg(output), LIMIT)
}

fn judge(path: &Path, case: &Case, finished: &Finished) -> Result<()> {
    let failure = |what: String| Err(finished.failure(&what));
    let messages = &finished.stderr;
    if finished.succeeded() {
        return failure("it was not refused".to_owned());
    }
    if finished.status.is_none() || CRASHES.iter().any(|crash| messages.contains(crash)) {
        return failure("the compiler crashed".to_owned());
    }
    match find_code(messages) {
        None => return failure("the message has no code".to_owned()),
        Some(_) if case.code == "E????" => {}
        Some(_) if !messages.contains(&case.code) => {
            return failure(format!("the message has not the code {}", case.code));
        }
        Some(_) => {}
    }
    let mut said: Vec<&str> = messages.lines().filter(|line| line.contains("error: [E")).collect();
    said.sort_unstable();
    if said.windows(2).any(|pair| pair[0] == pair[1]) {
        return failure("a message stands there twice".to_owned());
    }
    if let Some(text) = &case.text
        && !messages.contains(text)
    {
        return failure(format!("the message does not say {text:?}"));
    }
    if let Some(line) = case.line {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if !messages.contains(&format!("{name}:{line}:")) {
            return failure(format!("the message does not point at {name}:{line}"));
        }
    }
    Ok(())
}

/// The judgement itself, on made-up output.
fn expectations_are_told_apart() -> Result<()> {
    let case =
        parse("// error[E0012]: \"no body\"\nint x; // refused here\n").ok_or_else(|| failed("it must parse"))?;
    let path = PathBuf::from("a.c");
    let with = |status: Option<i32>, stderr: &str| Finished {
        command: String::new(),
        status,
        timed_out: false,
        stdout: String::new(),
        stderr: stderr.to_owned(),
        elapsed: Duration::ZERO,
    };
    let good = "a.c:2:3: error: [E0012] function has no body\n";
    let bad = [
        with(Some(0), good),
        with(None, good),
        with(Some(1), &format!("{good}Stack dump:\n")),
        with(Some(1), &good.replace("E0012", "E0013")),
        with(Some(1), &good.replace("[E0012]", "")),
        with(Some(1), &good.replace("no body", "nobody")),
        with(Some(1), &good.replace(":2:", ":1:")),
        with(Some(1), &good.repeat(2)),
    ];
    judge(&path, &case, &with(Some(1), good))?;
    match bad.iter().position(|finished| judge(&path, &case, finished).is_ok()) {
        Some(index) => Err(failed(&format!("example {index} passed"))),
        None if parse("int x;").is_some() => Err(failed("a file without expectation passed")),
        None => Ok(()),
    }
}

fn failed(text: &str) -> Error {
    Error::Failed(text.to_owned())
}
