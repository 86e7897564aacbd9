//! What only a run can refuse: each file of `tests/runtime/` compiles, and its program ends by `abort` with the code that
//! its first line names (`// aborts[E0123]: text`) on standard error, at every level or those that a line `// levels: O0 O1` names, and not before it has printed what a line
//! `// after: text` says there, if there is one, and with what each line `// says: text` has in its message.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use enzyme_tests::toolchain::{self, Compilation, Level};
use enzyme_tests::{Error, Result, corpus, process};
use libtest_mimic::{Arguments, Failed, Trial};

const LIMIT: Duration = Duration::from_secs(60);

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
    let mut trials = Vec::new();
    for path in corpus::files(&toolchain::root().join("tests/runtime"), &["c", "cpp"])? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let source = std::fs::read_to_string(&path).map_err(Error::io(format!("reading {}", path.display())))?;
        let named = source.lines().find_map(|line| line.strip_prefix("// levels: "));
        let is_meant = |level: &Level| named.is_none_or(|names| names.split_whitespace().any(|n| n == level.name()));
        for level in [Level::O0, Level::O1, Level::O2, Level::O3].into_iter().filter(is_meant) {
            let path = path.clone();
            let name = format!("{name}::{}", level.name());
            trials.push(Trial::test(name, move || aborts(&path, level).map_err(Failed::from)));
        }
    }
    Ok(trials)
}

fn aborts(path: &Path, level: Level) -> Result<()> {
    let source = std::fs::read_to_string(path).map_err(Error::io(format!("reading {}", path.display())))?;
    let wanted = source
        .strip_prefix("// aborts[")
        .and_then(|rest| rest.split_once(']'))
        .map(|(code, _)| code.to_owned())
        .ok_or_else(|| Error::Failed(format!("{}: the first line must be `// aborts[E0123]: text`", path.display())))?;
    let folder = toolchain::scratch()?;
    let compilation = Compilation::new(path, folder.path().join("program"), level).with_plugin()?;
    let program = compilation.libraries(corpus::libraries(&source)).build()?;
    let finished = process::run(&mut Command::new(program), LIMIT)?;
    if finished.status.is_some() {
        return Err(finished.failure("it was not ended by abort"));
    }
    if !finished.stderr.contains(&format!("[{wanted}]")) {
        return Err(finished.failure(&format!("the message has not the code {wanted}")));
    }
    let before = source.lines().find_map(|line| line.strip_prefix("// after: "));
    if let Some(text) = before.filter(|text| !finished.stderr.contains(*text)) {
        return Err(finished.failure(&format!("it was ended before it printed '{text}'")));
    }
    let said = source.lines().filter_map(|line| line.strip_prefix("// says: "));
    match said.into_iter().find(|text| !finished.stderr.contains(*text)) {
        Some(text) => Err(finished.failure(&format!("the message does not say '{text}'"))),
        None => Ok(()),
    }
}
