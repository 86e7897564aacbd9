//! Runs a program to its end within a time limit and keeps what it printed.
//!
//! Output goes through files, not pipes: a program that prints much cannot block while its end is awaited.

use std::ffi::OsStr;
use std::io::{Read, Seek};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use wait_timeout::ChildExt;

use crate::{Error, Result};

/// What a program did.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The command line, for messages.
    pub command: String,
    /// The exit status; `None` when a signal ended it or its time was up.
    pub status: Option<i32>,
    /// Whether it was ended because its time was up.
    pub timed_out: bool,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// Time from start to end.
    pub elapsed: Duration,
}

/// Lines of output that a message quotes at most.
const QUOTED_LINES: usize = 25;

impl Finished {
    /// Whether it ended by itself with status zero.
    pub fn succeeded(&self) -> bool {
        self.status == Some(0)
    }

    /// How it ended, in words.
    pub fn ending(&self) -> String {
        match self.status {
            _ if self.timed_out => format!("did not end within {:.0} s", self.elapsed.as_secs_f64()),
            Some(status) => format!("exit status {status}"),
            None => "ended by a signal".to_owned(),
        }
    }

    /// An error that says what was run, how it ended and what it printed that matters.
    pub fn failure(&self, what: &str) -> Error {
        let failed: Vec<&str> = self.stdout.lines().filter(|line| line.contains("FAIL")).collect();
        let printed = if failed.is_empty() { tail(&self.stdout) } else { failed.join("\n") };
        Error::Failed(format!(
            "{what}: {}\n  {}\n{}{}{}",
            self.ending(),
            self.command,
            printed,
            if printed.is_empty() || self.stderr.is_empty() { "" } else { "\n" },
            head(&self.stderr)
        ))
    }

    /// Itself if it succeeded, else [`Self::failure`].
    pub fn expect_success(self, what: &str) -> Result<Self> {
        if self.succeeded() { Ok(self) } else { Err(self.failure(what)) }
    }
}

fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(QUOTED_LINES)..].join("\n")
}

fn head(text: &str) -> String {
    text.lines().take(QUOTED_LINES).collect::<Vec<_>>().join("\n")
}

/// Runs a command to its end, or for `limit` at most.
pub fn run(command: &mut Command, limit: Duration) -> Result<Finished> {
    let line = command_line(command);
    let (stdout, stderr) = (capture()?, capture()?);
    let duplicate = |file: &std::fs::File| file.try_clone().map_err(Error::io("duplicating a file"));
    command.stdin(Stdio::null()).stdout(duplicate(&stdout)?).stderr(duplicate(&stderr)?);
    let start = Instant::now();
    let mut child = command.spawn().map_err(Error::io(format!("starting {line}")))?;
    let ended = child.wait_timeout(limit).map_err(Error::io(format!("waiting for {line}")))?;
    if ended.is_none() {
        // It may have ended this moment; then there is nothing to kill.
        let _ = child.kill();
        child.wait().map_err(Error::io(format!("waiting for {line}")))?;
    }
    Ok(Finished {
        command: line,
        status: ended.and_then(|status| status.code()),
        timed_out: ended.is_none(),
        stdout: contents(stdout)?,
        stderr: contents(stderr)?,
        elapsed: start.elapsed(),
    })
}

fn capture() -> Result<std::fs::File> {
    tempfile::tempfile().map_err(Error::io("making a temporary file"))
}

fn contents(mut file: std::fs::File) -> Result<String> {
    let mut bytes = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut bytes)).map_err(Error::io("reading a program's output"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The command as one would type it.
pub fn command_line(command: &Command) -> String {
    let word = |word: &OsStr| {
        let text = word.to_string_lossy();
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=+,:".contains(c);
        if !text.is_empty() && text.chars().all(plain) { text.into_owned() } else { format!("'{text}'") }
    };
    [command.get_program()].into_iter().chain(command.get_args()).map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn output_and_status_are_kept() {
        let finished = run(Command::new("sh").args(["-c", "echo out; echo err >&2; exit 3"]), LONG).unwrap();
        assert_eq!((finished.status, finished.stdout.as_str(), finished.stderr.as_str()), (Some(3), "out\n", "err\n"));
        assert!(!finished.succeeded());
        assert_eq!(finished.command, "sh -c 'echo out; echo err >&2; exit 3'");
        assert!(finished.failure("it").to_string().contains("exit status 3"));
    }

    #[test]
    fn a_program_that_runs_on_is_ended() {
        let finished = run(Command::new("sleep").arg("60"), Duration::from_millis(50)).unwrap();
        assert!(finished.timed_out && finished.status.is_none());
    }

    #[test]
    fn a_program_that_is_missing_is_an_error() {
        assert!(run(&mut Command::new("no-such-program-anywhere"), LONG).is_err());
    }
}
