//! Makes a failing program small: cuts its tree while the same thing goes wrong.
//!
//! Greedy: nodes are tried from the outside in, each simpler form once per round, until a round changes nothing or the trials
//! are spent. A hang must cost little: its trials end after seconds, and all together after minutes. Delta debugging proper (halving lists) is not needed, since a list's statements are few.

use std::time::{Duration, Instant};

use super::generate::Program;
use super::run::{self, Bench, Mode, Outcome, disagreement};
use crate::Result;

/// A smaller program that takes longer to compile hangs, where hangs are looked for.
const HANG: Duration = Duration::from_secs(6);
/// The time that is spent on making a hang small.
const HANGS: Duration = Duration::from_secs(240);

/// What is seen of a program under the modes in which it failed: one mode, or two whose results differ.
pub fn observe(bench: &Bench, program: &Program, modes: &[Mode], limit: Duration) -> Result<Outcome> {
    let mut findings = Vec::new();
    for mode in modes {
        let mut found = bench.evaluate(std::slice::from_ref(program), *mode, limit)?;
        match found.remove(&program.id) {
            Some(finding) if finding.outcome.is_failure() => return Ok(finding.outcome),
            Some(finding) if matches!(finding.outcome, Outcome::Unfit(_) | Outcome::Refused(_)) => {
                return Ok(finding.outcome);
            }
            Some(finding) => findings.push(finding),
            None => return Ok(Outcome::Unfit("no result".to_owned())),
        }
    }
    if let [first, second] = &findings[..]
        && let Some(text) = disagreement(program, first, second)
    {
        return Ok(Outcome::Wrong(text));
    }
    Ok(Outcome::Right)
}

/// The program cut down as far as `trials` allow; it fails as `signature` says under `modes`.
pub fn reduce(
    bench: &Bench,
    program: &Program,
    modes: &[Mode],
    signature: &str,
    mut trials: u32,
) -> Result<(Program, Outcome)> {
    let mut best = program.clone();
    let mut seen = Outcome::Right;
    let hangs = signature == Outcome::CompilerHang.signature();
    let (limit, start) = (if hangs { HANG } else { run::COMPILE_LIMIT }, Instant::now());
    loop {
        let before = best.body.text().len();
        let mut index = 0;
        loop {
            let places = best.body.places();
            let Some(place) = places.get(index) else { break };
            let Some(node) = best.body.at(place) else { break };
            let mut cut = false;
            for simpler in node.simpler() {
                if trials == 0 || hangs && start.elapsed() > HANGS {
                    return Ok((best, seen));
                }
                trials -= 1;
                let candidate = Program { body: best.body.with(place, &simpler), ..best.clone() };
                let outcome = observe(bench, &candidate, modes, limit)?;
                if outcome.signature() == signature {
                    (best, seen, cut) = (candidate, outcome, true);
                    break;
                }
            }
            // What stands there now was tried as it is; the next place may have moved.
            index += usize::from(!cut);
            if cut && best.body.at(&places[index.min(places.len() - 1)]).is_none() {
                continue;
            }
        }
        if best.body.text().len() >= before {
            return Ok((best, seen));
        }
    }
}
