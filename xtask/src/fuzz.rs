//! The hunt: random programs and broken IR, by the program `fuzz` of the crate `enzyme-tests`, on a fresh build.

use anyhow::Result;

use crate::artefacts;
use crate::command::cargo;
use crate::project::Project;

/// How much is hunted.
#[derive(Clone, Copy, Debug)]
pub struct Hunt {
    /// Random programs.
    pub programs: u32,
    /// Broken modules.
    pub mutants: u32,
    /// Seed of both.
    pub seed: u64,
}

/// Runs the mutants, then the programs; `false` if either found a defect. What failed lies in `build/fuzz/failures`.
pub fn hunt(project: &Project, hunt: &Hunt, arguments: &[String]) -> Result<bool> {
    artefacts::build(project)?;
    let jobs = std::thread::available_parallelism().map_or(2, usize::from).to_string();
    let mut good = true;
    for (option, count) in [("--mutants", hunt.mutants), ("--programs", hunt.programs)] {
        if count == 0 {
            continue;
        }
        println!();
        let (count, seed) = (count.to_string(), hunt.seed.to_string());
        let run = ["run", "--quiet", "--release", "--package", "enzyme-tests", "--bin", "fuzz", "--"];
        let fixed = [option, &count, "--seed", &seed, "--jobs", &jobs];
        good &= cargo(project, &run).arguments(&fixed).arguments(arguments).run().is_ok();
    }
    Ok(good)
}
