//! The crate graph is the architecture: each dependency between the project's crates must stand in ARCHITECTURE.md.
//!
//! Normal, build and test dependencies count alike. The crates that know nothing of LLVM must have no way to it in the whole graph,
//! dependencies of others included.

use std::collections::{BTreeSet, HashMap};

use anyhow::Result;
use cargo_metadata::PackageId;

use super::Finding;
use super::architecture::{self, DOCUMENT, Row};
use crate::ci::PURE;
use crate::project::Project;

/// Packages that are, or lead to, LLVM or a C++ compiler.
const LLVM: [&str; 7] = ["enzyme-llvm", "enzyme-bridge", "llvm-sys", "inkwell", "mlir-sys", "melior", "cc"];

/// An edge between two crates of the project.
type Edge = (String, String);

/// Compares the edges of `cargo metadata` with those of ARCHITECTURE.md.
pub fn check(project: &Project) -> Result<Vec<Finding>> {
    Ok(compare(&edges(project), &architecture::crate_table(project)?))
}

fn edges(project: &Project) -> BTreeSet<Edge> {
    let packages = project.packages();
    let ours: BTreeSet<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    let dependencies = packages.iter().flat_map(|package| package.dependencies.iter().map(move |to| (package, to)));
    dependencies
        .filter(|(_, to)| ours.contains(to.name.as_str()))
        .map(|(package, to)| (package.name.to_string(), to.name.clone()))
        .collect()
}

fn compare(edges: &BTreeSet<Edge>, table: &[Row]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (from, to) in edges {
        // A crate that is missing in the table is the business of the check `architecture`.
        if let Some(row) = table.iter().find(|row| &row.name == from)
            && !row.may_use.contains(to)
        {
            let message = format!(
                "{from} depends on {to}, which its row does not allow: remove the edge, or argue for it in the table"
            );
            findings.push(Finding::new(DOCUMENT, row.line, message));
        }
    }
    findings
}

/// Checks that no pure crate leads to LLVM.
pub fn check_pure(project: &Project) -> Vec<Finding> {
    let Some(resolve) = &project.metadata.resolve else {
        return vec![Finding::new("Cargo.toml", 0, "cargo metadata gave no resolved graph")];
    };
    let nodes: HashMap<&PackageId, &cargo_metadata::Node> = resolve.nodes.iter().map(|node| (&node.id, node)).collect();
    let mut findings = Vec::new();
    for package in project.packages().into_iter().filter(|package| PURE.contains(&package.name.as_str())) {
        let mut seen: BTreeSet<&PackageId> = BTreeSet::new();
        let mut open = vec![&package.id];
        while let Some(id) = open.pop() {
            if seen.insert(id)
                && let Some(node) = nodes.get(id)
            {
                open.extend(node.dependencies.iter());
            }
        }
        for name in seen.iter().map(|id| project.metadata[id].name.as_str()).filter(|name| LLVM.contains(name)) {
            let message =
                format!("{} must build without LLVM, but depends (perhaps through others) on {name}", package.name);
            findings.push(Finding::new(project.folder(package).join("Cargo.toml"), 0, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, may_use: &[&str]) -> Row {
        let may_use = may_use.iter().map(|name| (*name).to_owned()).collect();
        Row { name: name.to_owned(), folder: name.into(), may_use, may_be_unsafe: false, line: 7 }
    }

    #[test]
    fn an_edge_that_is_not_in_the_table_is_found() {
        let edges = BTreeSet::from([("b".to_owned(), "a".to_owned()), ("a".to_owned(), "b".to_owned())]);
        let findings = compare(&edges, &[row("a", &[]), row("b", &["a"])]);
        assert_eq!(findings.len(), 1);
        assert!(findings[0].message.starts_with("a depends on b"), "{}", findings[0]);
    }
}
