//! Compiles the C++ bridge against the headers of LLVM 22, and tells the build of `enzyme-llvm` how libLLVM is linked. Bodies of
//! library functions (`LIBRARIES`) are compiled to bitcode by that LLVM's clang, and go into the bridge as bytes.
//!
//! That clang compiles the bridge too, unless `CXX` names another compiler: most of the time goes into LLVM's headers, which
//! clang reads once (`precompiled.h`) and takes a third of the time for each file after that. What it made is kept in `bridge` of
//! the target folder, under a hash of all that goes in: the builds for users and for tests, which have other profiles, need the same.
//!
//! LLVM is found through `LLVM_CONFIG` (a program), else `LLVM_SYS_221_PREFIX` (an installation), else
//! `llvm-config-22` or `llvm-config` on the path.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const SOURCES: [&str; 102] = [
    "plugin",
    "options",
    "host",
    "types",
    "constants",
    "inspect",
    "prepare",
    "addresses",
    "disjoint",
    "reveal",
    "zeros",
    "normalise",
    "vectors",
    "lanes",
    "shuffles",
    "blends",
    "reads",
    "latest",
    "tape",
    "aligned",
    "bits",
    "words",
    "assembly",
    "library",
    "products",
    "blas",
    "views",
    "slopes",
    "halves",
    "fields",
    "memoised",
    "buckets",
    "scalar",
    "checkpoint",
    "rotations",
    "hoists",
    "unfreed",
    "settled",
    "temporaries",
    "schedule",
    "samples",
    "flow",
    "inline",
    "indirect",
    "callbacks",
    "catching",
    "facts",
    "members",
    "order",
    "steady",
    "carry",
    "undo",
    "copyloops",
    "atomics",
    "variadic",
    "bytes",
    "declare",
    "build",
    "markers",
    "choices",
    "fortran",
    "fortran_rules",
    "rust",
    "backtraces",
    "registry",
    "statements",
    "steps",
    "sums",
    "loopsums",
    "relay",
    "scatter",
    "again",
    "scopes",
    "scratch",
    "reuse",
    "bounds",
    "snapshots",
    "apart",
    "distances",
    "begins",
    "upward",
    "slots",
    "versions",
    "mirror",
    "prefetch",
    "staggered",
    "precision",
    "truncate",
    "widen",
    "dense",
    "optimise",
    "equal",
    "loops",
    "vectormath",
    "diagnose",
    "jit",
    "link",
    "describe",
    "loan",
    "handlers",
    "gradient",
    "helpers",
];

/// C files of which the bridge holds the bitcode, beside `strings.cpp`.
const LIBRARIES: [&str; 5] = ["library", "flang", "products", "blas", "checkpoint"];
/// Simplified, but in the shape that a derivative is made of: not vectorised, every access of its own type.
const LIBRARY_FLAGS: [&str; 8] = [
    "-O1",
    "-fno-vectorize",
    "-fno-slp-vectorize",
    // Loops that are to vanish when more is known cannot do so yet.
    "-Wno-pass-failed",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-emit-llvm",
    "-c",
];

fn env(name: &str) -> Option<String> {
    println!("cargo:rerun-if-env-changed={name}");
    std::env::var(name).ok().filter(|v| !v.is_empty())
}

fn ask(config: &str, args: &[&str]) -> Option<String> {
    let out = Command::new(config).args(args).output().ok()?;
    out.status.success().then(|| String::from_utf8_lossy(&out.stdout).trim().to_owned())
}

fn find_config() -> Result<String, String> {
    if let Some(config) = env("LLVM_CONFIG") {
        return Ok(config);
    }
    if let Some(prefix) = env("LLVM_SYS_221_PREFIX") {
        return Ok(format!("{prefix}/bin/llvm-config"));
    }
    let is_22 = |c: &&str| ask(c, &["--version"]).is_some_and(|v| v.starts_with("22."));
    ["llvm-config-22", "llvm-config"].into_iter().find(is_22).map(str::to_owned).ok_or_else(|| {
        "LLVM 22 was not found. Install its development package (Debian: llvm-22-dev), or set LLVM_CONFIG to its \
         llvm-config program, or LLVM_SYS_221_PREFIX to its directory."
            .to_owned()
    })
}

/// Writes the bitcode of a library as a list of bytes, `<name>.inc`.
fn library(clang: &str, name: &str, folder: &str) -> Result<(), String> {
    let (source, bitcode) = (format!("{name}.c"), format!("{folder}/{name}.bc"));
    // What rules copy has the type of the floats.
    let aliasing = if ["products", "blas"].contains(&name) { "-fstrict-aliasing" } else { "-fno-strict-aliasing" };
    let mut command = Command::new(clang);
    command.args(LIBRARY_FLAGS).args(["-std=c11", aliasing, &source, "-o", &bitcode]);
    if !command.status().map_err(|e| format!("{clang}: {e}"))?.success() {
        return Err(format!("{clang} could not compile {source}"));
    }
    bytes(&bitcode, &format!("{folder}/{name}.inc"))
}

/// The same of the members of std::string, as C++20 has them; one byte, which is no bitcode, where the compiler does not
/// find that library of C++.
fn strings(clang: &str, cxx: &str, folder: &str) -> Result<(), String> {
    let (bitcode, which) = (format!("{folder}/{cxx}.bc"), format!("-stdlib={cxx}"));
    let flags = ["-x", "c++", "-std=c++20", &which, "-fno-exceptions", "-fno-rtti", "-fno-strict-aliasing"];
    let made = Command::new(clang).args(LIBRARY_FLAGS).args(flags).args(["strings.cpp", "-o", &bitcode]).output();
    if !made.is_ok_and(|made| made.status.success()) {
        std::fs::write(&bitcode, [0]).map_err(|e| format!("{bitcode}: {e}"))?;
    }
    bytes(&bitcode, &format!("{folder}/{cxx}.inc"))
}

/// Writes what a file has as a list of numbers.
fn bytes(file: &str, list: &str) -> Result<(), String> {
    let bytes = std::fs::read(file).map_err(|e| format!("{file}: {e}"))?;
    let text: String = bytes.iter().map(|byte| format!("{byte},")).collect();
    std::fs::write(list, text).map_err(|e| format!("{list}: {e}"))
}

/// Compiles the headers that most files read; returns the name of the result.
fn precompile(cc: &cc::Build, folder: &str) -> Result<String, String> {
    let result = format!("{folder}/precompiled.h.pch");
    let mut command = cc.try_get_compiler().map_err(|e| e.to_string())?.to_command();
    command.args(["-fpch-instantiate-templates", "-x", "c++-header", "precompiled.h", "-o", &result]);
    if !command.status().map_err(|e| format!("{command:?}: {e}"))?.success() {
        return Err(format!("the headers of LLVM could not be compiled: {command:?}"));
    }
    Ok(result)
}

/// The folder of the bridge's objects in the target folder, named by their sources and by what compiles them.
fn shared_folder(cc: &cc::Build, versions: &[Option<String>], out: &str) -> Result<PathBuf, String> {
    let tool = cc.try_get_compiler().map_err(|e| e.to_string())?;
    let mut hasher = DefaultHasher::new();
    (tool.path(), versions).hash(&mut hasher);
    for word in tool.args() {
        word.to_string_lossy().replace(out, "").hash(&mut hasher);
    }
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(".").map_err(|e| e.to_string())?.flatten().map(|file| file.path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.is_file()) {
        file.hash(&mut hasher);
        std::fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?.hash(&mut hasher);
    }
    // OUT_DIR is `<target>/<profile>/build/<package>/out`.
    let target = Path::new(out).ancestors().nth(4).ok_or_else(|| format!("{out} is not in a target folder"))?;
    Ok(target.join("bridge").join(format!("{:016x}", hasher.finish())))
}

/// The objects of a folder, by name; none if there is no such folder.
fn objects(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path());
    let mut objects: Vec<PathBuf> = files.filter(|file| file.extension().is_some_and(|e| e == "o")).collect();
    objects.sort();
    objects
}

/// Compiles all files; the result goes to `shared` as a whole, since another build may look there at any time.
fn compile(cc: &cc::Build, owns_compiler: bool, out: &str, shared: &Path) -> Result<Vec<PathBuf>, String> {
    let named = |error: std::io::Error| format!("{}: {error}", shared.display());
    let folder = shared.with_extension(std::process::id().to_string());
    std::fs::create_dir_all(&folder).map_err(named)?;
    let mut cc = cc.clone();
    let precompiled = if owns_compiler { Some(precompile(&cc, out)?) } else { None };
    if let Some(header) = &precompiled {
        cc.flag("-include-pch").flag(header);
    }
    cc.out_dir(&folder).files(SOURCES.map(|source| format!("{source}.cpp")));
    cc.try_compile_intermediates().map_err(|e| e.to_string())?;
    if let Some(header) = &precompiled {
        // It is larger than all else here, and the next compilation makes its own.
        std::fs::remove_file(header).map_err(|e| format!("{header}: {e}"))?;
    }
    // What older sources made is of no use; what is as new may be that of a build which goes on at this moment.
    for old in std::fs::read_dir(shared.with_file_name("")).map_err(named)?.flatten() {
        let age = old.metadata().and_then(|data| data.modified()).ok().and_then(|time| time.elapsed().ok());
        if age.is_some_and(|age| age > Duration::from_secs(3600)) && old.path() != shared {
            let _ = std::fs::remove_dir_all(old.path());
        }
    }
    // Another build may have been faster: then there are two copies of the same, and the folder of this one goes with the old.
    let made = if std::fs::rename(&folder, shared).is_ok() { shared } else { &folder };
    Ok(objects(made))
}

/// Clang beside LLVM's programs, else on the path.
fn find_clang(bindir: &str) -> Result<String, String> {
    let beside = format!("{bindir}/clang");
    [beside.as_str(), "clang-22", "clang"]
        .into_iter()
        .find(|clang| ask(clang, &["-dumpversion"]).is_some_and(|v| v.starts_with("22.")))
        .map(str::to_owned)
        .ok_or_else(|| format!("clang 22 was not found in {bindir} nor on the path (Debian: clang-22)"))
}

fn build() -> Result<(), String> {
    for file in std::fs::read_dir(".").map_err(|e| e.to_string())?.flatten() {
        if file.path().extension().is_some_and(|e| ["cpp", "c", "h", "inc"].iter().any(|known| e == *known)) {
            println!("cargo:rerun-if-changed={}", file.path().display());
        }
    }
    let config = find_config()?;
    let tell = |args: &[&str]| ask(&config, args).ok_or_else(|| format!("`{config} {}` failed", args.join(" ")));
    let version = tell(&["--version"])?;
    if !version.starts_with("22.") {
        return Err(format!("LLVM 22 is needed, but {config} is version {version}"));
    }
    let include = tell(&["--includedir"])?;
    let clang = find_clang(&tell(&["--bindir"])?)?;
    let out = std::env::var("OUT_DIR").map_err(|e| e.to_string())?;
    for name in LIBRARIES {
        library(&clang, name, &out)?;
    }
    for cxx in ["libstdc++", "libc++"] {
        strings(&clang, cxx, &out)?;
    }
    println!("cargo:libdir={}", tell(&["--libdir"])?);
    println!("cargo:libs={}", tell(&["--link-shared", "--libs"])?);
    // Lints need no objects, and clippy has this script run once more for itself.
    if env("RUSTC_WORKSPACE_WRAPPER").is_some_and(|wrapper| wrapper.contains("clippy-driver")) {
        return Ok(());
    }
    let mut cc = cc::Build::new();
    let owns_compiler = env("CXX").is_none();
    if owns_compiler {
        cc.compiler(&clang);
    }
    cc.cpp(true).flag("-isystem").flag(&include).flag("-std=c++17").include(&out).include(".");
    // The standard library deprecates a function that its own `stable_sort` calls.
    for flag in ["-fno-exceptions", "-fno-rtti", "-fvisibility=hidden", "-Wno-deprecated-declarations"] {
        cc.flag(flag);
    }
    for define in ["_GNU_SOURCE", "__STDC_CONSTANT_MACROS", "__STDC_FORMAT_MACROS", "__STDC_LIMIT_MACROS"] {
        cc.define(define, None);
    }
    // The bridge is small and its compile time is dominated by headers: one level serves every profile.
    cc.opt_level(1).debug(false);
    // The warnings of a compiler that nobody has tried are no reason to fail.
    cc.warnings(owns_compiler).warnings_into_errors(owns_compiler);
    let compiler = env("CXX").unwrap_or(clang);
    let shared = shared_folder(&cc, &[ask(&compiler, &["--version"]), Some(version)], &out)?;
    let mut made = objects(&shared);
    if made.len() != SOURCES.len() {
        made = compile(&cc, owns_compiler, &out, &shared)?;
    }
    cc.objects(made).try_compile("enzyme_bridge").map_err(|e| e.to_string())?;
    Ok(())
}

fn main() {
    if let Err(message) = build() {
        eprintln!("{message}");
        std::process::exit(1);
    }
}
