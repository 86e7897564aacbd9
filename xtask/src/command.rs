//! Running other programs: what is run is shown, its output passes through, its failure is an error.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, IsTerminal, Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::thread;

use anyhow::{Context, Result, bail};

use crate::llvm;
use crate::project::Project;

static COLOUR: LazyLock<bool> =
    LazyLock::new(|| std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none());

/// Whether output may carry colour: only on a terminal.
pub fn colour() -> bool {
    *COLOUR
}

fn paint(code: &str, text: &str) -> String {
    if colour() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

/// Text of good news.
pub fn green(text: &str) -> String {
    paint("32", text)
}

/// Text of bad news.
pub fn red(text: &str) -> String {
    paint("1;31", text)
}

/// Text that leads the eye.
pub fn bold(text: &str) -> String {
    paint("1", text)
}

/// A program with its arguments and environment.
pub struct Invocation {
    program: OsString,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    folder: PathBuf,
}

/// A call of cargo in the project's root, pointed at the LLVM that was chosen.
pub fn cargo(project: &Project, arguments: &[&str]) -> Invocation {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut invocation = Invocation::new(project, program).arguments(arguments);
    invocation.environment.extend(llvm::environment());
    invocation
}

impl Invocation {
    /// A call of any program in the project's root.
    pub fn new(project: &Project, program: impl Into<OsString>) -> Invocation {
        Invocation {
            program: program.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            folder: project.root.clone(),
        }
    }

    /// Adds arguments.
    pub fn arguments<S: AsRef<OsStr>>(mut self, arguments: &[S]) -> Invocation {
        self.arguments.extend(arguments.iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Sets an environment variable.
    pub fn environment(mut self, name: &str, value: impl Into<OsString>) -> Invocation {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// The command as a person would type it; cargo by its short name.
    pub fn text(&self) -> String {
        let program = PathBuf::from(&self.program);
        let program = program.file_stem().unwrap_or(&self.program).to_string_lossy().into_owned();
        let arguments = self.arguments.iter().map(|argument| argument.to_string_lossy().into_owned());
        std::iter::once(program).chain(arguments).collect::<Vec<_>>().join(" ")
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        // Cargo sets variables of xtask's own package for this process; the programs called must not take them for theirs.
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
                command.env_remove(&name);
            }
        }
        command.args(&self.arguments).envs(self.environment.iter().cloned()).current_dir(&self.folder);
        command
    }

    /// Runs the program with its output passed through.
    pub fn run(&self) -> Result<()> {
        let status = self.command().status().with_context(|| format!("`{}` could not be started", self.text()))?;
        if !status.success() {
            bail!("`{}` failed ({status})", self.text());
        }
        Ok(())
    }

    /// Runs the program and gives what it wrote to its standard output.
    pub fn output(&self) -> Result<String> {
        let output = self
            .command()
            .stderr(Stdio::inherit())
            .output()
            .with_context(|| format!("`{}` could not be started", self.text()))?;
        if !output.status.success() {
            bail!("`{}` failed ({})", self.text(), output.status);
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Runs the program silently and gives what it wrote to its standard output; `None` if it failed or is not there.
    pub fn output_quietly(&self) -> Option<String> {
        let output = self.command().stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Runs the program with its output passed through and also collected, standard output and error together; says whether it
    /// succeeded.
    pub fn tee(&self) -> Result<(bool, String)> {
        let mut child = self
            .command()
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("`{}` could not be started", self.text()))?;
        let (output, errors) = (child.stdout.take(), child.stderr.take());
        let errors = thread::spawn(move || errors.map_or_else(String::new, |stream| pass(stream, std::io::stderr())));
        let mut text = output.map_or_else(String::new, |stream| pass(stream, std::io::stdout()));
        // A panic of the reading thread means that our own standard error is gone: nothing more can be said.
        text.push_str(&errors.join().unwrap_or_default());
        Ok((child.wait()?.success(), text))
    }
}

/// Copies a stream line by line and returns what passed. A closed destination ends the copying, not the reading.
fn pass(stream: impl Read, mut to: impl Write) -> String {
    let mut reader = BufReader::new(stream);
    let (mut text, mut line) = (String::new(), Vec::new());
    while reader.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
        let _ = to.write_all(&line);
        let _ = to.flush();
        text.push_str(&String::from_utf8_lossy(&line));
        line.clear();
    }
    text
}
