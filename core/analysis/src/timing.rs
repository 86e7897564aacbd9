//! Where the time of differentiation goes: the phases of one module, each with how often it ran and for how long.
//!
//! A value that the pipeline carries along; clocks are read at the borders of phases only, so it is always kept. Phases do not
//! nest: what is measured twice would be counted twice.

use std::fmt;
use std::time::{Duration, Instant};

/// Times of phases, in the order in which they first ran.
#[derive(Clone, Debug, Default)]
pub struct Timing {
    phases: Vec<Phase>,
}

#[derive(Clone, Debug)]
struct Phase {
    name: &'static str,
    runs: u64,
    time: Duration,
}

impl Timing {
    /// Runs `work` and adds its time to the phase `name`.
    pub fn of<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.add(name, start.elapsed());
        result
    }

    /// Adds a time to the phase `name`.
    pub fn add(&mut self, name: &'static str, time: Duration) {
        match self.phases.iter_mut().find(|phase| phase.name == name) {
            Some(phase) => (phase.runs, phase.time) = (phase.runs + 1, phase.time + time),
            None => self.phases.push(Phase { name, runs: 1, time }),
        }
    }

    /// The time of all phases.
    pub fn total(&self) -> Duration {
        self.phases.iter().map(|phase| phase.time).sum()
    }
}

/// A line for each phase: milliseconds, share of the whole, runs, name.
impl fmt::Display for Timing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.total().as_secs_f64();
        for phase in &self.phases {
            let seconds = phase.time.as_secs_f64();
            let share = if total > 0.0 { 100.0 * seconds / total } else { 0.0 };
            writeln!(out, "{:>10.2} ms {share:>5.1} %  {:>6} x  {}", 1e3 * seconds, phase.runs, phase.name)?;
        }
        writeln!(out, "{:>10.2} ms 100.0 %            all", 1e3 * total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_add_up() {
        let mut timing = Timing::default();
        timing.add("plan", Duration::from_millis(3));
        timing.add("write", Duration::from_millis(5));
        timing.add("plan", Duration::from_millis(2));
        assert_eq!(timing.of("write", || 7), 7);
        assert!(timing.total() >= Duration::from_millis(10));
        let text = timing.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].ends_with("2 x  plan") && lines[0].contains("5.00 ms"), "{text}");
        assert!(lines[1].ends_with("2 x  write") && lines[2].ends_with("all"), "{text}");
    }
}
