//! Builds in release and lays out what users load: `build/lib`, `build/bin`, `build/include`.
//!
//! The plugin and the command differ in one thing: the command links libLLVM, the plugin must not, since its LLVM symbols come from
//! the program that loads it. Cargo unifies features within one call, so there are two calls. They share their target folder:
//! cargo keeps both variants of a crate side by side. Which packages go together matters: what they ask of packages that they share,
//! down to the parser of procedural macros, must be the same in both calls, or the whole engine is compiled twice.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use cargo_metadata::{Artifact, Message};

use crate::command::{Invocation, bold, cargo};
use crate::llvm;
use crate::project::Project;

/// The plugin's own name; the others are links to it, since builds of users name them.
const PLUGIN: &str = "LLVMEnzyme-22";
const PLUGIN_LINKS: [&str; 2] = ["LLDEnzyme-22", "FlangEnzyme-22"];
/// What clang loads with `-fplugin`: it brings the plugin along.
const CLANG_PLUGIN: &str = "ClangEnzyme-22";

/// The command of cargo, and its name as the linker that rustc calls.
const CARGO_COMMAND: &str = "cargo-enzyme";
const RUST_LINKER: &str = "enzyme-cc";

/// The library of the C ABI.
const C_LIBRARY: &str = "libEnzyme-22";

/// The extension of a file that a host can load.
fn library_extension() -> &'static str {
    if cfg!(target_os = "macos") { "dylib" } else { "so" }
}

/// What of `build/` is for users; programs of the project put other things beside it.
const FOR_USERS: [&str; 4] = ["bin", "include", "lib", "share"];
/// What builds of users read, and where it goes; `@VERSION@` becomes the version.
const TEXTS: [(&str, &str); 5] = [
    ("bindings/fortran/enzyme.f90", "share/enzyme/fortran/enzyme.f90"),
    ("cmake/EnzymeConfig.cmake", "lib/cmake/Enzyme/EnzymeConfig.cmake"),
    ("cmake/EnzymeConfigVersion.cmake.in", "lib/cmake/Enzyme/EnzymeConfigVersion.cmake"),
    ("cmake/enzyme.pc.in", "lib/pkgconfig/enzyme.pc"),
    ("cmake/enzyme-capi.pc.in", "lib/pkgconfig/enzyme-capi.pc"),
];

/// Builds everything and fills `build/`.
pub fn build(project: &Project) -> Result<()> {
    let llvm = llvm::find()?;
    let unlinked = artefacts(project, &["enzyme-plugin", CARGO_COMMAND])?;
    let library = artefact(project, &unlinked, "enzyme-plugin", "cdylib")?;
    let cargo_command = artefact(project, &unlinked, CARGO_COMMAND, "bin")?;
    let linked = artefacts(project, &["enzyme", "enzyme-capi"])?;
    let command = artefact(project, &linked, "enzyme", "bin")?;
    let shared = artefact(project, &linked, "enzyme-capi", "cdylib")?;
    let fixed = artefact(project, &linked, "enzyme-capi", "staticlib")?;

    let folder = project.root.join("build");
    let (library_folder, program_folder) = (folder.join("lib"), folder.join("bin"));
    fs::create_dir_all(&library_folder)?;
    fs::create_dir_all(&program_folder)?;

    let plugin = library_folder.join(format!("{PLUGIN}.{}", library_extension()));
    replace(&library, &plugin)?;
    check_unlinked(project, &llvm, &plugin)?;
    clang_plugin(project, &llvm, &library_folder)?;
    for name in PLUGIN_LINKS {
        link(&plugin, &library_folder.join(format!("{name}.{}", library_extension())))?;
    }
    replace(&command, &program_folder.join("enzyme"))?;
    replace(&cargo_command, &program_folder.join(CARGO_COMMAND))?;
    link(&program_folder.join(CARGO_COMMAND), &program_folder.join(RUST_LINKER))?;
    replace(&shared, &library_folder.join(format!("{C_LIBRARY}.{}", library_extension())))?;
    replace(&fixed, &library_folder.join(format!("{C_LIBRARY}.a")))?;
    copy_files(project, "include", &folder.join("include"))?;
    copy_files(project, "bindings/rust", &folder.join("share/enzyme/rust"))?;
    copy_files(project, "bindings/julia", &folder.join("share/enzyme/julia"))?;
    for (source, target) in TEXTS {
        let target = folder.join(target);
        fs::create_dir_all(target.parent().context("a file has a folder")?)?;
        let text = fs::read_to_string(project.root.join(source)).with_context(|| format!("reading {source}"))?;
        let text = text.replace("@VERSION@", env!("CARGO_PKG_VERSION"));
        fs::write(&target, text).with_context(|| format!("writing {}", target.display()))?;
    }

    module_file(project, &llvm, &folder.join("share/enzyme/fortran"))?;
    manual(project, &folder)?;

    println!("{}", bold("build/"));
    for file in for_users(&folder)? {
        println!("  {}", file.display());
    }
    Ok(())
}

/// The module that Fortran programs use, as flang reads it; its source, which is there as well, is for other versions of flang, and all that
/// there is where this LLVM comes without.
fn module_file(project: &Project, llvm: &llvm::Llvm, folder: &Path) -> Result<()> {
    let Some(flang) = llvm.program("flang") else {
        println!("flang is missing: Fortran programs compile enzyme.f90 themselves");
        let stale = folder.join("enzyme.mod");
        return if stale.exists() { Ok(fs::remove_file(stale)?) } else { Ok(()) };
    };
    let call = Invocation::new(project, flang).arguments(&["-fsyntax-only", "-J"]).arguments(&[folder]);
    call.arguments(&[folder.join("enzyme.f90")]).run()
}

/// Manual pages and completions, which the command writes itself.
fn manual(project: &Project, folder: &Path) -> Result<()> {
    let command = folder.join("bin/enzyme");
    let pages = folder.join("share/man/man1");
    if pages.is_dir() {
        fs::remove_dir_all(&pages)?;
    }
    fs::create_dir_all(&pages)?;
    Invocation::new(project, &command).arguments(&["man"]).arguments(&[&pages]).output()?;
    for (shell, file) in [
        ("bash", "share/bash-completion/completions/enzyme"),
        ("zsh", "share/zsh/site-functions/_enzyme"),
        ("fish", "share/fish/vendor_completions.d/enzyme.fish"),
    ] {
        let text = Invocation::new(project, &command).arguments(&["completions", shell]).output()?;
        let file = folder.join(file);
        fs::create_dir_all(file.parent().context("a file has a folder")?)?;
        fs::write(&file, text).with_context(|| format!("writing {}", file.display()))?;
    }
    Ok(())
}

/// Builds packages in release, in one call of cargo, which says what it made.
fn artefacts(project: &Project, packages: &[&str]) -> Result<Vec<Artifact>> {
    // Cargo's own words go to standard error as ever; only what it made is told as data.
    let build = cargo(project, &["build", "--release", "--message-format=json-render-diagnostics"]);
    let arguments: Vec<&str> = packages.iter().flat_map(|name| ["--package", name]).collect();
    let messages = build.arguments(&arguments).output()?;
    let mut made = Vec::new();
    for message in Message::parse_stream(messages.as_bytes()) {
        if let Message::CompilerArtifact(artefact) = message? {
            made.push(artefact);
        }
    }
    Ok(made)
}

/// Where the artefact of a package lies.
fn artefact(project: &Project, made: &[Artifact], package: &str, kind: &str) -> Result<PathBuf> {
    for artefact in made {
        let is_ours = project.packages().iter().any(|found| found.id == artefact.package_id && *found.name == package);
        if is_ours && artefact.target.kind.iter().any(|found| found.to_string() == kind) {
            let files = artefact.executable.iter().chain(&artefact.filenames);
            let wanted = |file: &&cargo_metadata::camino::Utf8PathBuf| match kind {
                "bin" => artefact.executable.as_ref() == Some(*file),
                "staticlib" => matches!(file.extension(), Some("a" | "lib")),
                _ => matches!(file.extension(), Some("so" | "dylib" | "dll")),
            };
            if let Some(file) = files.into_iter().find(wanted) {
                return Ok(file.clone().into_std_path_buf());
            }
        }
    }
    bail!("{package} has no {kind} target")
}

/// Copies a file so that a program that has the old one loaded is not disturbed.
fn replace(from: &Path, to: &Path) -> Result<()> {
    let new = to.with_extension("new");
    fs::copy(from, &new).with_context(|| format!("copying {} to {}", from.display(), new.display()))?;
    fs::rename(&new, to).with_context(|| format!("writing {}", to.display()))
}

/// Makes a link, beside its target and by name only, so that the folder may be moved.
fn link(target: &Path, to: &Path) -> Result<()> {
    let name = target.file_name().context("a file has a name")?;
    if to.symlink_metadata().is_ok() {
        fs::remove_file(to)?;
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink(name, to).with_context(|| format!("writing {}", to.display()))?;
    #[cfg(not(unix))]
    fs::copy(target.with_file_name(name), to).with_context(|| format!("writing {}", to.display()))?;
    Ok(())
}

/// A plugin that is linked against libLLVM brings a second LLVM into some hosts, which then crash.
fn check_unlinked(project: &Project, llvm: &llvm::Llvm, plugin: &Path) -> Result<()> {
    let Some(reader) = llvm.program("llvm-readobj") else { return Ok(()) };
    let needed = Invocation::new(project, reader).arguments(&["--needed-libs"]).arguments(&[plugin]).output()?;
    if let Some(line) = needed.lines().map(str::trim).find(|line| line.starts_with("libLLVM")) {
        bail!(
            "{} is linked against {line}; the plugin must take LLVM's symbols from the program that loads it",
            plugin.display()
        );
    }
    Ok(())
}

/// Builds the clang plugin from `plugin/clang`; where clang's headers are missing, its name stands for the pass plugin.
fn clang_plugin(project: &Project, llvm: &llvm::Llvm, folder: &Path) -> Result<()> {
    let target = folder.join(format!("{CLANG_PLUGIN}.{}", library_extension()));
    let config = llvm.program("llvm-config").context("llvm-config was found before")?;
    let ask = |what: &str| -> Result<String> {
        Ok(Invocation::new(project, &config).arguments(&[what]).output()?.trim().to_owned())
    };
    let headers = PathBuf::from(ask("--includedir")?).join("clang/Frontend/CompilerInstance.h");
    if !headers.is_file() {
        println!("clang's headers are missing: {CLANG_PLUGIN} works with -fpass-plugin, not with -fplugin");
        return link(&folder.join(format!("{PLUGIN}.{}", library_extension())), &target);
    }
    let source = project.root.join("plugin/clang/clang.cpp");
    let made = project.root.join("target").join(format!("{CLANG_PLUGIN}.{}", library_extension()));
    let newer =
        |a: &Path, b: &Path| Some(fs::metadata(a).ok()?.modified().ok()? > fs::metadata(b).ok()?.modified().ok()?);
    if !newer(&made, &source).unwrap_or(false) {
        let flags = ask("--cxxflags")?;
        let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
        let mut words = compiler.split_whitespace();
        let mut compile = Invocation::new(project, words.next().unwrap_or("c++"));
        compile =
            compile.arguments(&words.collect::<Vec<_>>()).arguments(&flags.split_whitespace().collect::<Vec<_>>());
        compile = compile.arguments(&["-fPIC", "-shared", "-fno-rtti", "-O2"]).arguments(&[&source]);
        if cfg!(target_os = "macos") {
            compile = compile.arguments(&["-undefined", "dynamic_lookup"]);
        }
        compile.arguments(&["-o"]).arguments(&[&made]).run()?;
    }
    replace(&made, &target)
}

/// Copies a folder of the project: headers, or sources that users build.
fn copy_files(project: &Project, from: &str, to: &Path) -> Result<()> {
    let mut kept = HashSet::new();
    for file in project.files.iter().filter(|file| file.starts_with(from)) {
        let name = file.strip_prefix(from)?;
        let target = to.join(name);
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder)?;
        }
        replace(&project.root.join(file), &target)?;
        kept.insert(name.to_owned());
    }
    // A file that the project no longer has must not stay behind.
    for file in layout(to)? {
        if !kept.contains(&file) {
            fs::remove_file(to.join(file))?;
        }
    }
    Ok(())
}

/// The files of a folder, relative to it, sorted; none if there is no such folder.
fn layout(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    if folder.is_dir() {
        for entry in ignore::WalkBuilder::new(folder).standard_filters(false).build() {
            let entry = entry?;
            if !entry.file_type().is_some_and(|kind| kind.is_dir()) {
                files.push(entry.path().strip_prefix(folder)?.to_owned());
            }
        }
    }
    files.sort();
    Ok(files)
}

/// The files that are for users, relative to `build/`.
fn for_users(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for part in FOR_USERS {
        files.extend(layout(&folder.join(part))?.into_iter().map(|file| Path::new(part).join(file)));
    }
    Ok(files)
}

/// The folder `<destdir><prefix>`.
fn root_of(prefix: &Path, destdir: &Path) -> Result<PathBuf> {
    if !prefix.is_absolute() {
        bail!("the prefix must be an absolute path, and {} is not", prefix.display());
    }
    Ok(if destdir.as_os_str().is_empty() { prefix.to_owned() } else { destdir.join(prefix.strip_prefix("/")?) })
}

/// What `build/` holds for users, and where it goes below `<destdir><prefix>`.
fn targets(project: &Project, prefix: &Path, destdir: &Path) -> Result<Vec<(PathBuf, PathBuf)>> {
    let from = project.root.join("build");
    let files = for_users(&from)?;
    if files.is_empty() {
        bail!("build/ is empty; run `make` first");
    }
    let to = root_of(prefix, destdir)?;
    Ok(files.into_iter().map(|file| (from.join(&file), to.join(&file))).collect())
}

/// Copies what `build/` holds for users to `<destdir><prefix>`.
pub fn install(project: &Project, prefix: &Path, destdir: &Path) -> Result<()> {
    for (source, target) in targets(project, prefix, destdir)? {
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder).with_context(|| format!("making the folder {}", folder.display()))?;
        }
        if source.symlink_metadata()?.is_symlink() {
            link(&fs::read_link(&source)?, &target)?;
        } else {
            replace(&source, &target)?;
        }
        println!("  {}", target.display());
    }
    Ok(())
}

/// Removes what [`install`] copies, and folders of ours that are empty then. What is not there is left at that.
pub fn uninstall(project: &Project, prefix: &Path, destdir: &Path) -> Result<()> {
    let root = root_of(prefix, destdir)?;
    for (_, target) in targets(project, prefix, destdir)? {
        if target.symlink_metadata().is_ok() {
            fs::remove_file(&target).with_context(|| format!("removing {}", target.display()))?;
            println!("  {}", target.display());
        }
        // A folder that others use is not empty.
        for folder in target.ancestors().skip(1).take_while(|folder| is_ours(&root, folder)) {
            let _ = fs::remove_dir(folder);
        }
    }
    Ok(())
}

/// Whether a folder below the installation's is one that only this project installs, or lies in one.
fn is_ours(root: &Path, folder: &Path) -> bool {
    let below = folder.strip_prefix(root).unwrap_or(Path::new(""));
    below.components().any(|part| part.as_os_str() == "enzyme" || part.as_os_str() == "Enzyme")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_others_stay() {
        let root = Path::new("/srv/enzyme/local");
        for ours in ["share/enzyme", "share/enzyme/rust/macros/src", "lib/cmake/Enzyme", "include/enzyme"] {
            assert!(is_ours(root, &root.join(ours)), "{ours}");
        }
        for other in ["", "bin", "lib", "lib/cmake", "share/man/man1"] {
            assert!(!is_ours(root, &root.join(other)), "{other}");
        }
        assert!(!is_ours(root, Path::new("/srv/enzyme")));
    }
}
