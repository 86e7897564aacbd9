//! Where clang, opt, the plugin and the command `enzyme` are.
//!
//! Clang and opt come from the LLVM that the project is built with: `LLVM_CONFIG`, else `LLVM_SYS_221_PREFIX`, else `clang-22` and
//! `opt-22` on the PATH. The plugin is `ENZYME_PLUGIN`, else `build/lib/LLVMEnzyme-22.so`; the command is `ENZYME_COMMAND`, else
//! `build/bin/enzyme`: what users load, not what cargo has in its own folder. Whatever is missing is an error which says so, never
//! a test that is skipped.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::process::{self, Finished};
use crate::{Error, Result};

/// A compilation that takes longer hangs.
const COMPILE_LIMIT: Duration = Duration::from_secs(240);

/// Options of C++ sources: its version, and where Debian has Eigen.
const CPP_FLAGS: [&str; 3] = ["-std=c++20", "-isystem", "/usr/include/eigen3"];

/// An optimisation level of clang.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// `-O0`.
    O0,
    /// `-O1`.
    O1,
    /// `-O2`.
    O2,
    /// `-O3`.
    O3,
    /// `-Og -g`: for debuggers.
    Og,
    /// `-Oz`: as small as can be. Of programs that name it.
    Oz,
}

impl Level {
    /// Those of programs that name none.
    pub const ALL: [Self; 5] = [Self::O0, Self::O1, Self::O2, Self::O3, Self::Og];

    /// All that a program can name.
    pub const NAMED: [Self; 6] = [Self::O0, Self::O1, Self::O2, Self::O3, Self::Og, Self::Oz];

    /// Its name, which is that of the test cases.
    pub fn name(self) -> &'static str {
        self.flags()[0].trim_start_matches('-')
    }

    /// The options.
    pub fn flags(self) -> &'static [&'static str] {
        match self {
            Self::O0 => &["-O0"],
            Self::O1 => &["-O1"],
            Self::O2 => &["-O2"],
            Self::O3 => &["-O3"],
            Self::Og => &["-Og", "-g"],
            Self::Oz => &["-Oz"],
        }
    }
}

/// The project's own folder.
pub fn root() -> &'static Path {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().unwrap_or(tests)
}

fn from_environment(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// A program of LLVM, such as `clang`.
pub fn llvm_program(name: &str) -> PathBuf {
    let suffix = |folder: PathBuf| {
        let versioned = folder.join(format!("{name}-22"));
        if versioned.exists() { versioned } else { folder.join(name) }
    };
    if let Some(config) = from_environment("LLVM_CONFIG")
        && let Ok(output) = Command::new(config).arg("--bindir").output()
        && output.status.success()
    {
        return suffix(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()));
    }
    match from_environment("LLVM_SYS_221_PREFIX") {
        Some(prefix) => suffix(prefix.join("bin")),
        None => PathBuf::from(format!("{name}-22")),
    }
}

fn built(variable: &str, place: &str, what: &'static str) -> Result<PathBuf> {
    let path = from_environment(variable).unwrap_or_else(|| root().join(place));
    if path.is_file() { Ok(path) } else { Err(Error::NotBuilt { what, path: path.display().to_string() }) }
}

/// The plugin.
pub fn plugin() -> Result<PathBuf> {
    built("ENZYME_PLUGIN", "build/lib/LLVMEnzyme-22.so", "the plugin")
}

/// The command `enzyme`.
pub fn enzyme_command() -> Result<PathBuf> {
    built("ENZYME_COMMAND", "build/bin/enzyme", "the command `enzyme`")
}

/// A folder that vanishes with the value.
pub fn scratch() -> Result<tempfile::TempDir> {
    tempfile::Builder::new().prefix("enzyme-tests-").tempdir().map_err(Error::io("making a temporary folder"))
}

/// Whether a file is C++ by its name.
pub fn is_cpp(source: &Path) -> bool {
    source.extension().is_some_and(|ending| ending == "cpp")
}

/// One call of clang.
#[derive(Clone, Debug)]
pub struct Compilation {
    source: PathBuf,
    output: PathBuf,
    flags: Vec<OsString>,
    libraries: Vec<OsString>,
}

impl Compilation {
    /// Compiles and links `source` into the program `output`; a source `.cpp` is C++20.
    pub fn new(source: impl Into<PathBuf>, output: impl Into<PathBuf>, level: Level) -> Self {
        let (source, output) = (source.into(), output.into());
        let mut flags: Vec<OsString> = level.flags().iter().map(Into::into).collect();
        if is_cpp(&source) {
            flags.extend(CPP_FLAGS.map(Into::into));
            flags.extend(["-I".into(), root().join("include").into_os_string()]);
        }
        // Colours of sparse derivatives; a program that has none is not linked with it.
        let colours = ["-Wl,--as-needed", "-lColPack"].into_iter().filter(|_| is_cpp(&source));
        // LLVM's linker takes half the time of the system's, which matters with the sanitizer's run-time library.
        let libraries = ["-fuse-ld=lld", "-lm"].into_iter().chain(colours).map(Into::into).collect();
        Self { source, output, flags, libraries }
    }

    /// With the plugin.
    pub fn with_plugin(self) -> Result<Self> {
        let mut option = OsString::from("-fpass-plugin=");
        option.push(plugin()?);
        Ok(self.flags([option]))
    }

    /// With the plugin in the linker alone (`-flto`), and with what the program says to it by variables that nothing uses.
    pub fn with_plugin_in_link(self) -> Result<Self> {
        let mut option = OsString::from("-Wl,--load-pass-plugin=");
        option.push(plugin()?);
        let kept = OsString::from("-Wl,--export-dynamic-symbol=__enzyme_*");
        Ok(self.flags(["-flto".into(), option, kept]))
    }

    /// With further options.
    pub fn flags<I: IntoIterator<Item = S>, S: Into<OsString>>(mut self, flags: I) -> Self {
        self.flags.extend(flags.into_iter().map(Into::into));
        self
    }

    /// With further libraries, or words for the linker.
    pub fn libraries<'a>(mut self, libraries: impl IntoIterator<Item = &'a str>) -> Self {
        self.libraries.extend(libraries.into_iter().map(Into::into));
        self
    }

    /// Makes an object file.
    pub fn only_compile(mut self) -> Self {
        self.libraries.clear();
        self.flags(["-c"])
    }

    /// Makes LLVM bitcode: what the optimiser hands on, derivatives included.
    pub fn to_bitcode(self) -> Self {
        self.only_compile().flags(["-emit-llvm"])
    }

    /// The command.
    pub fn command(&self) -> Command {
        let clang = if is_cpp(&self.source) { "clang++" } else { "clang" };
        let mut command = Command::new(llvm_program(clang));
        command.args(&self.flags).arg(&self.source).arg("-o").arg(&self.output).args(&self.libraries);
        command
    }

    /// Runs the compiler, whatever it says.
    pub fn run(&self) -> Result<Finished> {
        process::run(&mut self.command(), COMPILE_LIMIT)
    }

    /// Runs the compiler; its failure is an error. Returns the path of what it made.
    pub fn build(&self) -> Result<PathBuf> {
        self.run()?.expect_success("the compiler failed")?;
        Ok(self.output.clone())
    }
}
