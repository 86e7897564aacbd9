//! What a call that takes long is doing: a line on standard error with the seconds that went by, on terminals alone, overwritten as
//! time goes and erased at the end of its step. Quick steps show nothing.

use std::io::{IsTerminal, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Steps that end sooner are not mentioned.
const QUICK: Duration = Duration::from_millis(700);
/// Back to the beginning of the line, and nothing behind it.
const ERASE: &str = "\r\x1b[K";

/// A step that is told while this lives.
pub struct Step {
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

/// Whether somebody sees lines that are overwritten.
pub fn is_seen() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("TERM").is_some_and(|term| term != "dumb")
}

/// Begins a step: `compiling energy.c`.
pub fn step(what: impl Into<String>) -> Step {
    if !is_seen() {
        return Step { running: None };
    }
    let (what, begun) = (what.into(), Instant::now());
    let (end, ended) = channel::<()>();
    let tell = std::thread::spawn(move || {
        let mut pause = QUICK;
        let mut shown = false;
        while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
            pause = Duration::from_secs(1);
            shown = true;
            write(&line(&what, begun.elapsed()));
        }
        if shown {
            write(ERASE);
        }
    });
    Step { running: Some((end, tell)) }
}

fn line(what: &str, time: Duration) -> String {
    format!("{ERASE}enzyme: {what} ... {} s", time.as_secs())
}

/// A terminal that is gone is no failure.
fn write(text: &str) {
    let mut stream = std::io::stderr().lock();
    let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
}

impl Drop for Step {
    fn drop(&mut self) {
        if let Some((end, tell)) = self.running.take() {
            drop(end);
            // The line is gone when others write.
            let _ = tell.join();
        }
    }
}

/// Runs a compiler as a step; whether it succeeded. What it says comes behind the step's line, in colours where it would have them.
pub fn compile(command: &mut Command, what: String) -> std::io::Result<bool> {
    if !is_seen() {
        return Ok(command.status()?.success());
    }
    let running = step(what);
    let finished = command.arg("-fcolor-diagnostics").stdout(Stdio::inherit()).stderr(Stdio::piped()).output()?;
    drop(running);
    std::io::stderr().write_all(&finished.stderr)?;
    Ok(finished.status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_replace_each_other() {
        assert_eq!(line("compiling a.c", Duration::from_millis(2900)), "\r\x1b[Kenzyme: compiling a.c ... 2 s");
    }
}
