//! The page of `enzyme explain` for `tests/corpus/lstm.c` in headless Chromium: that it is drawn, that the lines which carry derivatives say
//! so and how many bytes are kept, and that a line that is chosen opens with its reasons.
//!
//! What is drawn is judged by the size of its picture, which grows with what there is to see. Where there is no Chromium there is one
//! ignored test case, whose name says so.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use enzyme_tests::{Error, Result, process, toolchain};
use libtest_mimic::{Arguments, Failed, Trial};

const LIMIT: Duration = Duration::from_secs(120);
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome-headless-shell"];
/// Pixels of the window: wide enough for source and derivative side by side.
const WINDOW: &str = "--window-size=1280,900";
/// The first and the last statement of the network's layer: each line between them has a derivative, and values that its adjoint needs.
const LAYER: [&str; 2] = ["double forget = ", "hidden[j] = outgate * "];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let trial = match browser() {
        Some(browser) => Trial::test("lstm", move || lstm(browser).map_err(Failed::from)),
        None => Trial::test("skipped: there is no chromium", || Ok(())).with_ignored_flag(true),
    };
    libtest_mimic::run(&arguments, vec![trial]).exit_code()
}

/// The first browser that runs.
fn browser() -> Option<&'static str> {
    let runs = |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|out| out.status.success());
    BROWSERS.into_iter().find(runs)
}

/// The lines of the layer in the source, from 1.
fn layer(source: &Path) -> Result<std::ops::RangeInclusive<usize>> {
    let text = std::fs::read_to_string(source).map_err(Error::io("reading the source"))?;
    let line = |statement| text.lines().position(|line| line.trim_start().starts_with(statement)).map(|at| at + 1);
    let [first, last] = LAYER.map(line);
    let found = first.zip(last).map(|(first, last)| first..=last);
    found.ok_or_else(|| Error::Failed(format!("{} has no longer the statements {LAYER:?}", source.display())))
}

/// The browser, with a profile that vanishes; tests run as any user, in containers as well.
fn headless(browser: &str, folder: &Path) -> Command {
    let mut command = Command::new(browser);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", WINDOW]);
    command.arg(format!("--user-data-dir={}", folder.join("profile").display()));
    command
}

/// How many bytes the picture of a page has.
fn picture(browser: &str, folder: &Path, page: &str) -> Result<u64> {
    let path = folder.join("picture.png");
    let mut command = headless(browser, folder);
    command.arg(format!("--screenshot={}", path.display())).arg(page);
    let finished = process::run(&mut command, LIMIT)?.expect_success("the browser failed")?;
    let bytes = std::fs::read(&path).map_err(Error::io("reading the picture"))?;
    std::fs::remove_file(&path).map_err(Error::io("removing the picture"))?;
    if bytes.starts_with(b"\x89PNG") { Ok(bytes.len() as u64) } else { Err(finished.failure("it drew no picture")) }
}

/// The page as it is when its script has run.
fn document(browser: &str, folder: &Path, page: &str) -> Result<String> {
    let mut command = headless(browser, folder);
    command.arg("--dump-dom").arg(page);
    Ok(process::run(&mut command, LIMIT)?.expect_success("the browser failed")?.stdout)
}

fn lstm(browser: &str) -> Result<()> {
    let scratch = toolchain::scratch()?;
    let folder = scratch.path();
    let source: PathBuf = toolchain::root().join("tests/corpus/lstm.c");
    let page = folder.join("lstm.html");
    let mut explain = Command::new(toolchain::enzyme_command()?);
    explain.arg("explain").arg(&source).args(["--fn", "lstm_objective", "--wrt", "4,5,6", "-o"]).arg(&page);
    process::run(&mut explain, LIMIT)?.expect_success("the page was not made")?;

    let address = format!("file://{}", page.display());
    let (empty, drawn) = (picture(browser, folder, "about:blank")?, picture(browser, folder, &address)?);
    let check = |good: bool, what: String| if good { Ok(()) } else { Err(Error::Failed(what)) };
    check(drawn > 5 * empty, format!("the picture has {drawn} bytes, that of an empty page {empty}"))?;

    let layer = layer(&source)?;
    let text = document(browser, folder, &format!("{address}#{}:{}", source.display(), layer.start()))?;
    let row =
        |line: usize| text.lines().find(|row| row.contains(&format!("lstm.c:{line}\"")) && row.contains("\"number\""));
    let keeps = |row: &str| row.contains("class=\"tag kept\">kept ");
    for line in layer.clone() {
        let row = row(line).unwrap_or_default();
        let says = row.contains("class=\"row active") && (keeps(row) || row.contains("class=\"tag rebuilt\">rebuilt "));
        check(says, format!("line {line} must be active, and keep bytes or be rebuilt: {row}"))?;
    }
    let kept = layer.clone().filter(|line| row(*line).is_some_and(keeps)).count();
    check(2 * kept >= layer.clone().count(), format!("only {kept} lines of the layer keep bytes"))?;
    let head = layer.start() - 1;
    let counts = row(head).unwrap_or_default();
    let counted = !counts.is_empty() && !counts.contains("row active");
    check(counted, format!("line {head}, the loop's head, has no derivative: {counts}"))?;
    let opened = text.contains("class=\"why open\"") && text.contains("class=\"text said chosen\"");
    check(opened, "the line that the address names must be open, with what of the derivative comes from it".to_owned())
}
