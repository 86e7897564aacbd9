//! The checks on the project's shape, one test each: what `cargo xtask tidy` reports fails here.
#![allow(clippy::unwrap_used)]

use xtask::project::Project;
use xtask::tidy::CHECKS;

/// Runs the check of a name; it must exist and find nothing.
fn run(name: &str) {
    let project = Project::load().unwrap();
    let (_, check) = CHECKS.iter().find(|(found, _)| *found == name).unwrap();
    let findings: Vec<String> = check(&project)
        .unwrap()
        .into_iter()
        .filter(|finding| !finding.warning)
        .map(|finding| finding.to_string())
        .collect();
    assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), findings.join("\n"));
}

macro_rules! checks {
    ($($name:ident),* $(,)?) => {
        $(#[test] fn $name() { run(stringify!($name)); })*

        #[test]
        fn each_check_has_a_test() {
            let tested = [$(stringify!($name)),*];
            for (name, _) in CHECKS {
                assert!(tested.contains(&name), "{name}");
            }
        }
    };
}

checks!(edges, pure, architecture, unsafe_code, module_docs, crashes, error_codes, licences, words);
