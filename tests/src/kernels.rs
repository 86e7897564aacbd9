//! The kernels of the benchmark, `tests/bench/`: how they are built, and what they print.
//!
//! A kernel is one file, compiled to an object with the plugin, and linked with `main.c`, which checks and measures it. Further
//! objects may be linked beside it ([`Column`]): the same file, differentiated as clang leaves it at -O0 or by another plugin, or
//! the same mathematics for another tool ([`crate::others`]). A kernel that the plugin refuses is an error; a further column that cannot be made is a remark.
//!
//! A line `// bench: flags ...` in a source gives further options of the compiler; `// bench: limit BYTES` a limit on the tape,
//! under which the gradient is measured, too.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::Serialize;

use crate::others::Tool;
use crate::process::{self, Finished};
use crate::toolchain::{self, Compilation, Level, llvm_program, root};
use crate::{Error, Result, corpus};

/// A program that runs longer hangs.
const RUN_LIMIT: Duration = Duration::from_secs(300);

/// The mark of further options.
const FLAGS: &str = "// bench: flags ";
/// The mark of a limit on the tape.
const LIMIT: &str = "// bench: limit ";

/// The kernels whose gradients' instructions are counted, and their sizes: small, as counting is slow, and large enough for loops
/// to outweigh what surrounds them.
pub const COUNTED: [(&str, u32); 8] = [
    ("ba", 100),
    ("brusselator", 16),
    ("fft", 256),
    ("gmm", 50),
    ("heat", 99),
    ("lstm", 30),
    ("lu_solve", 30),
    ("mlp", 3),
];

/// Keeps glibc from functions made for newer processors, so that the counts are those of every machine.
const BASELINE: &str = "glibc.cpu.hwcaps=-AVX_Usable,-AVX2_Usable,-AVX512F_Usable,-FMA_Usable,-FMA4_Usable,-AVX,-AVX2,-AVX512F,\
    -FMA,-FMA4,-ERMS,-FSRM,-AVX_Fast_Unaligned_Load";

/// A kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The name of its file without the ending.
    pub name: String,
    /// Its source.
    pub source: PathBuf,
    /// Further options of the compiler.
    pub flags: Vec<String>,
    /// The limit on the tape of a further column.
    pub limit: Option<String>,
}

/// For which processor, and how strictly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// `-march=native`.
    pub native: bool,
    /// `-ffast-math`, also for the derivative's own arithmetic, and functions of the vector library.
    pub fast: bool,
}

/// How an object of a kernel is made beside the plugin's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// The plugin differentiates what clang makes of the source at -O0; what comes out is optimised afterwards.
    Unoptimised,
    /// The plugin keeps no more than so many bytes (`-enzyme-max-tape`).
    Limited(String),
    /// Another plugin in the place of ours.
    Reference(PathBuf),
    /// Another tool differentiates the same mathematics, written for it.
    Tool(Tool),
}

impl Column {
    /// Its name, in the kernel's symbol and in the lines that the program prints.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Unoptimised => "unoptimised",
            Self::Limited(_) => "limited",
            Self::Reference(_) => "reference",
            Self::Tool(tool) => tool.name(),
        }
    }
}

/// A kernel that was built.
#[derive(Clone, Debug)]
pub struct Built {
    /// The program.
    pub program: PathBuf,
    /// Columns that could not be made, and why.
    pub missing: Vec<(&'static str, String)>,
}

/// Minimum and median of a variant's time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Time {
    /// The fastest round, in nanoseconds.
    pub minimum: f64,
    /// The middle one.
    pub median: f64,
}

/// Peak of what one call had beyond what was there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Memory {
    /// From malloc, in bytes.
    pub heap: u64,
    /// On the stack, in bytes.
    pub stack: u64,
}

/// What a program printed.
#[derive(Clone, Debug, Default)]
pub struct Printed {
    /// The size of the kernel.
    pub size: u64,
    /// By variant.
    pub times: Vec<(String, Time)>,
    /// By variant.
    pub memory: Vec<(String, Memory)>,
    /// Pages fetched from the system in one of many calls, by variant.
    pub faults: Vec<(String, u64)>,
    /// Bytes of distinct data that a reverse sweep needs.
    pub kept: Option<u64>,
    /// Sizes that show the growth.
    pub sizes: Vec<u64>,
    /// How many comparisons were made.
    pub compared: usize,
}

impl Printed {
    /// The time of a variant.
    pub fn time(&self, variant: &str) -> Option<Time> {
        self.times.iter().find(|(name, _)| name == variant).map(|(_, time)| *time)
    }

    /// The memory of a variant.
    pub fn memory(&self, variant: &str) -> Option<Memory> {
        self.memory.iter().find(|(name, _)| name == variant).map(|(_, memory)| *memory)
    }
}

/// All kernels, by name.
pub fn kernels() -> Result<Vec<Kernel>> {
    let mut kernels = Vec::new();
    for source in corpus::files(&root().join("tests/bench"), &["c", "cpp"])? {
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if name == "main" {
            continue;
        }
        let text = std::fs::read_to_string(&source).map_err(Error::io(format!("reading {}", source.display())))?;
        let marked = |mark: &str| text.lines().find_map(|line| line.strip_prefix(mark));
        let flags = marked(FLAGS).unwrap_or_default().split_whitespace().map(str::to_owned).collect();
        kernels.push(Kernel { name, source, flags, limit: marked(LIMIT).map(|limit| limit.trim().to_owned()) });
    }
    Ok(kernels)
}

/// Compiles `main.c` to an object in the folder.
pub fn build_main(folder: &Path) -> Result<PathBuf> {
    let source = root().join("tests/bench/main.c");
    Compilation::new(source, folder.join("main.o"), Level::O2).only_compile().build()
}

impl Kernel {
    /// A compilation to an object, with the kernel's own options and those of the mode, without a plugin.
    pub fn object(&self, output: &Path, level: Level, mode: Mode) -> Compilation {
        let mut flags = self.flags.clone();
        if mode.native {
            flags.insert(0, "-march=native".to_owned());
        }
        if mode.fast {
            flags.extend(["-ffast-math".to_owned(), "-fveclib=libmvec".to_owned()]);
        }
        Compilation::new(&self.source, output, level).flags(flags).only_compile()
    }

    /// The same, with the plugin.
    pub fn object_with_plugin(&self, output: &Path, level: Level, mode: Mode) -> Result<Compilation> {
        let compilation = self.object(output, level, mode).with_plugin()?;
        if mode.fast { with_option(compilation, "-enzyme-fast-math") } else { Ok(compilation) }
    }

    /// Builds the program in the folder; `main` is what [`build_main`] made.
    pub fn build(&self, folder: &Path, main: &Path, mode: Mode, columns: &[Column]) -> Result<Built> {
        let object = |column: &str| folder.join(format!("{}.{column}.o", self.name));
        let mut objects = vec![self.object_with_plugin(&object("ours"), Level::O3, mode)?.build()?];
        let mut missing = Vec::new();
        for column in columns {
            match self.build_column(column, &object(column.name()), mode) {
                Ok(path) => objects.push(path),
                Err(error) => missing.push((column.name(), first_error(&error.to_string()))),
            }
        }
        let program = folder.join(&self.name);
        let tools =
            || columns.iter().filter_map(|column| if let Column::Tool(tool) = column { Some(tool) } else { None });
        let is_cpp = toolchain::is_cpp(&self.source) || tools().next().is_some();
        let mut command = Command::new(llvm_program(if is_cpp { "clang++" } else { "clang" }));
        command.args(objects).arg(main).arg("-o").arg(&program).args(tools().flat_map(|tool| tool.libraries()));
        command.args(["-lm", "-lpthread"]);
        process::run(&mut command, RUN_LIMIT)?.expect_success("the linker failed")?;
        Ok(Built { program, missing })
    }

    fn build_column(&self, column: &Column, output: &Path, mode: Mode) -> Result<PathBuf> {
        let name = format!("-DBENCH_COLUMN={}", column.name());
        match column {
            Column::Reference(plugin) => {
                let option = format!("-fpass-plugin={}", plugin.display());
                let strict = if mode.fast { "-enzyme-fast-math=1" } else { "-enzyme-fast-math=0" };
                let compilation = self.object(output, Level::O3, mode).flags([name, option]);
                let loaded = compilation.flags(["-Xclang", "-load", "-Xclang"]).flags([plugin.as_os_str()]);
                loaded.flags(["-mllvm", strict]).build()
            }
            Column::Limited(bytes) => {
                let compilation = self.object_with_plugin(output, Level::O3, mode)?.flags([name]);
                with_option(compilation, &format!("-enzyme-max-tape={bytes}"))?.build()
            }
            Column::Tool(tool) => tool.object(&self.name, output, mode)?.build(),
            Column::Unoptimised => {
                let [raw, differentiated] = ["raw.bc", "differentiated.bc"].map(|ending| output.with_extension(ending));
                let emit = ["-Xclang", "-disable-llvm-passes", "-emit-llvm"];
                self.object(&raw, Level::O3, mode).flags([name.as_str()]).flags(emit).build()?;
                let plugin = toolchain::plugin()?;
                let mut command = Command::new(llvm_program("opt"));
                command.arg(format!("-load={}", plugin.display()));
                command.arg(format!("-load-pass-plugin={}", plugin.display())).arg("-passes=enzyme");
                command.args(mode.fast.then_some("-enzyme-fast-math"));
                process::run(command.arg(&raw).arg("-o").arg(&differentiated), RUN_LIMIT)?
                    .expect_success("opt failed")?;
                let optimised =
                    Self { source: differentiated, flags: Vec::new(), name: self.name.clone(), limit: None };
                optimised.object(output, Level::O3, Mode { fast: false, ..mode }).build()
            }
        }
    }
}

/// A compilation with an option of the plugin's own, which exists only once it is loaded: before it is read.
fn with_option(compilation: Compilation, option: &str) -> Result<Compilation> {
    let plugin = toolchain::plugin()?.into_os_string();
    Ok(compilation.flags(["-Xclang", "-load", "-Xclang"]).flags([plugin]).flags(["-mllvm", option]))
}

/// Where the counts stand that later ones are compared with.
pub fn record() -> PathBuf {
    root().join("tests/bench/instructions.json")
}

/// The recorded counts, by kernel.
pub fn recorded() -> Result<BTreeMap<String, u64>> {
    let path = record();
    let text = std::fs::read_to_string(&path).map_err(Error::io(format!("reading {}", path.display())))?;
    serde_json::from_str(&text).map_err(|error| Error::Failed(format!("{}: {error}", path.display())))
}

/// How many instructions one gradient of a kernel of [`COUNTED`] takes at -O3 on any x86-64, by valgrind's callgrind.
pub fn count_instructions(name: &str, size: u32) -> Result<u64> {
    let kernels = kernels()?;
    let kernel = kernels.iter().find(|kernel| kernel.name == name);
    let kernel = kernel.ok_or_else(|| Error::Failed(format!("there is no kernel {name}")))?;
    let folder = toolchain::scratch()?;
    let main = build_main(folder.path())?;
    let built = kernel.build(folder.path(), &main, Mode { native: false, fast: false }, &[])?;
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"]).arg(&built.program);
    command.args(["--size", &size.to_string(), "--once", "gradient"]).env("GLIBC_TUNABLES", BASELINE);
    let finished = process::run(&mut command, RUN_LIMIT)?.expect_success("valgrind failed")?;
    collected(&finished.stderr).ok_or_else(|| finished.failure("valgrind counted nothing"))
}

/// The count in a line `==123== Collected : 456`.
fn collected(text: &str) -> Option<u64> {
    let (_, count) = text.lines().find_map(|line| line.split_once("Collected :"))?;
    count.trim().parse().ok().filter(|count| *count > 0)
}

/// The compiler's first complaint.
pub fn first_error(text: &str) -> String {
    let line = text.lines().find(|line| line.contains("error:") || line.ends_with("FAIL"));
    let line = line.or_else(|| text.lines().next()).unwrap_or_default();
    line.split_once("error: ").map_or_else(|| line.to_owned(), |(_, what)| what.to_owned())
}

/// Runs a program that was built; a gradient that does not agree is an error.
pub fn run(program: &Path, arguments: &[&str]) -> Result<Printed> {
    run_command(Command::new(program).args(arguments), RUN_LIMIT)
}

/// Runs a program that prints what those of the kernels print.
pub fn run_command(command: &mut Command, limit: Duration) -> Result<Printed> {
    let finished = process::run(command, limit)?;
    read(&finished.expect_success("a kernel failed")?)
}

fn read(finished: &Finished) -> Result<Printed> {
    let mut printed = Printed::default();
    for line in finished.stdout.lines() {
        read_line(line, &mut printed).ok_or_else(|| Error::Failed(format!("not understood: {line:?}")))?;
    }
    Ok(printed)
}

fn read_line(line: &str, printed: &mut Printed) -> Option<()> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        ["AGREE", ..] => printed.compared += 1,
        ["TIME", _, size, variant, minimum, median] => {
            printed.size = size.parse().ok()?;
            let time = Time { minimum: minimum.parse().ok()?, median: median.parse().ok()? };
            printed.times.push(((*variant).to_owned(), time));
        }
        ["MEMORY", _, size, variant, heap, stack] => {
            printed.size = size.parse().ok()?;
            let memory = Memory { heap: heap.parse().ok()?, stack: stack.parse().ok()? };
            printed.memory.push(((*variant).to_owned(), memory));
        }
        ["FAULTS", _, _, variant, pages] => printed.faults.push(((*variant).to_owned(), pages.parse().ok()?)),
        ["KEPT", _, _, bytes] => printed.kept = Some(bytes.parse().ok()?),
        ["SIZES", _, sizes @ ..] => {
            for size in sizes {
                printed.sizes.push(size.parse().ok()?);
            }
        }
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_found() {
        let kernels = kernels().unwrap();
        assert!(kernels.iter().any(|kernel| kernel.name == "gmm"));
        assert!(kernels.iter().all(|kernel| kernel.name != "main"));
    }

    #[test]
    fn lines_are_read() {
        let mut printed = Printed::default();
        for line in [
            "AGREE heat 40 gradient 1e-15 1e-11 ok",
            "TIME heat 40 primal 120.5 130",
            "MEMORY heat 40 gradient 4096 512",
            "KEPT heat 40 12800",
            "FAULTS heat 40 gradient 3",
            "SIZES heat 40 400",
        ] {
            read_line(line, &mut printed).unwrap();
        }
        assert_eq!((printed.compared, printed.size, printed.kept), (1, 40, Some(12800)));
        assert_eq!(printed.time("primal"), Some(Time { minimum: 120.5, median: 130.0 }));
        assert_eq!(printed.memory("gradient"), Some(Memory { heap: 4096, stack: 512 }));
        assert_eq!(printed.faults, [("gradient".to_owned(), 3)]);
        assert_eq!(printed.sizes, [40, 400]);
        assert!(read_line("TIME heat 40 primal x 1", &mut printed).is_none());
    }

    #[test]
    fn counts_are_found() {
        assert_eq!(collected("==1== Events    : Ir\n==1== Collected : 4321\n"), Some(4321));
        assert_eq!(collected("==1== Collected : 0\n"), None);
    }

    #[test]
    fn the_first_complaint_is_found() {
        assert_eq!(
            first_error("the compiler failed: 1\n a.c:3: error: [E0203] no derivative\n more"),
            "[E0203] no derivative"
        );
    }
}
