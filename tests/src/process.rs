//! Runs a program to its end within a time limit and keeps what it printed.
//!
//! Output goes through files, not pipes: a program that prints much cannot block while its end is awaited. Each program leads a
//! process group of its own, and all of it is ended when time is up: clang's driver leaves its work to a child. Not handled: what
//! a program starts in yet another group outlives it.

use std::ffi::OsStr;
use std::io::{Read, Seek};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
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
    command.stdin(Stdio::null()).stdout(duplicate(&stdout)?).stderr(duplicate(&stderr)?).process_group(0);
    let start = Instant::now();
    let mut child = command.spawn().map_err(Error::io(format!("starting {line}")))?;
    let ended = child.wait_timeout(limit).map_err(Error::io(format!("waiting for {line}")))?;
    if ended.is_none() {
        end_group(&child);
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

/// Ends a child that leads its group, and the group; it must not have been waited for, else its number may be another's.
fn end_group(child: &Child) {
    // It may have ended this moment; then there is nothing to kill.
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
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
    fn what_it_started_is_ended_with_it() {
        let limit = Duration::from_millis(500);
        let finished = run(Command::new("sh").args(["-c", "sleep 600 & echo $!; wait"]), limit).unwrap();
        assert!(finished.timed_out);
        let started = finished.stdout.trim().parse().ok().and_then(Pid::from_raw).unwrap();
        // Killed is not yet gone: whoever inherits it reads its status later, and until then it is a zombie.
        let gone = || {
            let status = std::fs::read_to_string(format!("/proc/{started}/stat")).unwrap_or_default();
            status.is_empty() || status.contains(") Z ") || status.contains(") X ")
        };
        let start = Instant::now();
        while !gone() && start.elapsed() < LONG {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(gone(), "the sleeping child lives on");
    }

    #[test]
    fn a_program_that_is_missing_is_an_error() {
        assert!(run(&mut Command::new("no-such-program-anywhere"), LONG).is_err());
    }
}
