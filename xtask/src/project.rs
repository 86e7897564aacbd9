//! What the project consists of: its packages (from `cargo metadata`) and its files (all that git does not ignore).

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cargo_metadata::{Metadata, MetadataCommand, Package};
use ignore::WalkBuilder;

/// The project: where it lies, its packages, its files.
pub struct Project {
    /// The folder of the workspace's `Cargo.toml`.
    pub root: PathBuf,
    /// All packages, those of others included, with the resolved graph of dependencies.
    pub metadata: Metadata,
    /// The project's files, relative to `root`, sorted.
    pub files: Vec<PathBuf>,
}

impl Project {
    /// Reads the project that cargo runs this program for: a copy of a tree may bring along what was built in the other one.
    pub fn load() -> Result<Project> {
        let own = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        let manifest = Path::new(&own).parent().context("xtask lies in no workspace")?;
        let metadata = MetadataCommand::new()
            .manifest_path(manifest.join("Cargo.toml"))
            .exec()
            .context("`cargo metadata` failed; is Cargo.toml in order?")?;
        let root = metadata.workspace_root.clone().into_std_path_buf();
        let files = list_files(&root)?;
        Ok(Project { root, metadata, files })
    }

    /// The project's own packages, by name.
    pub fn packages(&self) -> Vec<&Package> {
        let mut packages = self.metadata.workspace_packages();
        packages.sort_by(|a, b| a.name.cmp(&b.name));
        packages
    }

    /// The folder of a package, relative to the root (empty for a package at the root).
    pub fn folder(&self, package: &Package) -> PathBuf {
        let folder = package.manifest_path.parent().map(|path| path.as_std_path().to_owned()).unwrap_or_default();
        folder.strip_prefix(&self.root).map(Path::to_owned).unwrap_or(folder)
    }

    /// The package that a file belongs to: the one with the deepest folder around it.
    pub fn package_of(&self, file: &Path) -> Option<&Package> {
        self.packages()
            .into_iter()
            .filter(|package| file.starts_with(self.folder(package)))
            .max_by_key(|package| self.folder(package).components().count())
    }

    /// The text of a file; bytes that are no UTF-8 are replaced.
    pub fn read(&self, file: &Path) -> Result<String> {
        let bytes = std::fs::read(self.root.join(file)).with_context(|| format!("reading {}", file.display()))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The files with a certain extension.
    pub fn files_with_extension<'a>(&'a self, extension: &'a str) -> impl Iterator<Item = &'a Path> {
        self.files
            .iter()
            .map(PathBuf::as_path)
            .filter(move |file| file.extension().is_some_and(|found| found == extension))
    }
}

fn list_files(root: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    // Hidden files belong to the project (.ci, .cargo); git's own folder does not. A release unpacked without git has the same files.
    let walk = WalkBuilder::new(root)
        .hidden(false)
        .require_git(false)
        .git_global(false)
        .parents(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    for entry in walk {
        let entry = entry?;
        if entry.file_type().is_some_and(|kind| kind.is_file()) {
            files.push(entry.path().strip_prefix(root)?.to_owned());
        }
    }
    files.sort();
    Ok(files)
}
