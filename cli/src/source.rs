//! What a user names on the command line as a module: a file of C, C++ or Fortran, compiled on the way, or of LLVM IR; and the
//! function in it that is meant.
//!
//! Sources are compiled at -O1 with debug information: simplified, so that derivatives are small, and with lines, names and types for
//! what is said to people.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use enzyme_ir::Linkage;
use enzyme_llvm::Session;
use enzyme_llvm::tools::OwnedModule;

use crate::driver::Language;
use crate::progress;

/// The language of a source file by its name; `None` for LLVM IR.
pub fn language(file: &Path) -> Result<Option<Language>, String> {
    let ending = file.extension().and_then(|e| e.to_str()).unwrap_or_default();
    match ending {
        "ll" | "bc" => Ok(None),
        "c" => Ok(Some(Language::C)),
        "cpp" | "cc" | "cxx" | "C" | "c++" => Ok(Some(Language::Cpp)),
        "f" | "for" | "f77" | "f90" | "f95" | "f03" | "f08" | "F" | "F90" => Ok(Some(Language::Fortran)),
        _ => Err(format!("{}: neither C, C++ nor Fortran by its name, nor LLVM IR (.ll, .bc)", file.display())),
    }
}

/// A module, and the function in it that is meant.
pub struct Meant {
    /// The module.
    pub module: OwnedModule,
    /// The function's symbol.
    pub symbol: String,
    /// Only its own file sees it in the program; here everybody does.
    pub hidden: bool,
}

/// Reads a module, compiled first if it is a source, and looks for a function in it; `options` go to the compiler.
pub fn read(file: &Path, name: &str, options: &[OsString]) -> Result<Meant, String> {
    let Some(language) = language(file)? else {
        if !options.is_empty() {
            return Err(format!("{} is not compiled, so there is no compiler for the options", file.display()));
        }
        let mut module = OwnedModule::read(file).map_err(|e| e.to_string())?;
        let symbol = module.with_session(|session| symbol(session, name))?;
        return Ok(Meant { module, symbol, hidden: false });
    };
    let folder = tempfile::tempdir().map_err(|e| format!("making a folder: {e}"))?;
    let [first, shown, second] = ["first.bc", "shown.bc", "second.bc"].map(|name| folder.path().join(name));
    let common: [&str; 3] = ["-O1", "-g", "-fPIC"];
    compile(language, file, &common, options, &first)?;
    let mut module = OwnedModule::read(&first).map_err(|e| e.to_string())?;
    let found = module.with_session(|session| symbol(session, name).map(|s| (is_visible(session, &s), s)));
    let why = match found {
        Ok((visible, symbol)) if visible || language == Language::Fortran => {
            module.with_session(|session| session.set_visible(&symbol, true));
            return Ok(Meant { module, symbol, hidden: !visible });
        }
        Ok((_, symbol)) => format!("'{symbol}' is not to be had"),
        Err(why) => why,
    };
    if language == Language::Fortran {
        return Err(why);
    }
    // A static function was inlined, or is used by nobody, or lost parameters: it is brought out before anything is simplified.
    let whole = ["-O1", "-g", "-fPIC", "-Xclang", "-disable-llvm-passes", "-Xclang", "-femit-all-decls"];
    compile(language, file, &whole, options, &first)?;
    let mut module = OwnedModule::read(&first).map_err(|e| e.to_string())?;
    let found = module.with_session(|session| {
        let symbol = symbol(session, name).ok()?;
        session.set_visible(&symbol, true).then_some(symbol)
    });
    let Some(symbol) = found else { return Err(why) };
    module.write(&shown).map_err(|e| e.to_string())?;
    compile(language, &shown, &common, &[], &second)?;
    let module = OwnedModule::read(&second).map_err(|e| e.to_string())?;
    Ok(Meant { module, symbol, hidden: true })
}

fn is_visible(session: &mut Session, symbol: &str) -> bool {
    session.find_function(symbol).is_some_and(|f| session.ir.funcs[f].linkage != Linkage::Internal)
}

fn compile(language: Language, file: &Path, flags: &[&str], options: &[OsString], to: &Path) -> Result<(), String> {
    let mut command = Command::new(language.compiler()?.path);
    command.args(flags);
    if language == Language::Fortran {
        // Files of modules that nobody asked for go where the bitcode goes; there is one such folder at most.
        let places = |o: &OsString| ["-J", "-module-dir"].iter().any(|p| o.to_string_lossy().starts_with(p));
        if let Some(folder) = to.parent().filter(|_| !options.iter().any(places)) {
            command.arg("-J").arg(folder);
        }
    } else {
        // Files keep the names under which they were given.
        command.args(["-fno-discard-value-names", "-fdebug-compilation-dir=.", "-Wno-unused-command-line-argument"]);
    }
    command.args(options).args(["-emit-llvm", "-c"]).arg(file).arg("-o").arg(to);
    let done = progress::compile(&mut command, format!("compiling {}", file.display()));
    let done = done.map_err(|e| format!("{}: {e}", command.get_program().display()))?;
    if done { Ok(()) } else { Err(format!("{} could not be compiled", file.display())) }
}

/// The symbol of the function that is called `name` in its source.
fn symbol(session: &mut Session, name: &str) -> Result<String, String> {
    let all = session.defined_functions();
    if all.iter().any(|s| s == name) {
        return Ok(name.to_owned());
    }
    let meant: Vec<&String> = all.iter().filter(|s| is_called(s, name)).collect();
    match meant.as_slice() {
        [one] => Ok((*one).clone()),
        [] => {
            let known: Vec<String> = all.iter().map(|s| readable(s)).collect();
            let list = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            Err(format!("no function '{name}' is defined; there are: {list}"))
        }
        several => {
            let list: Vec<String> = several.iter().map(|s| format!("{s} ({})", readable(s))).collect();
            Err(format!("'{name}' may be one of several; name the symbol: {}", list.join(", ")))
        }
    }
}

/// Whether a symbol is that of a function called `name` in C++ or Fortran.
fn is_called(symbol: &str, name: &str) -> bool {
    let lower = name.to_lowercase();
    let of_module = || symbol.starts_with("_QM") && symbol.ends_with(&format!("P{lower}"));
    if symbol == format!("{lower}_") || symbol == format!("_QP{lower}") || of_module() {
        return true;
    }
    let Some(text) = demangled(symbol) else { return false };
    // Templates have their result before the name.
    let head = text.split('(').next().unwrap_or_default();
    let bare = head.split('<').next().unwrap_or_default().rsplit(' ').next().unwrap_or_default();
    let whole =
        |head: &str| head == name || [" ", "::"].iter().any(|before| head.ends_with(&format!("{before}{name}")));
    bare == name || bare.ends_with(&format!("::{name}")) || whole(head) || text == name
}

fn demangled(symbol: &str) -> Option<String> {
    let parsed = symbol.starts_with("_Z").then(|| cpp_demangle::Symbol::new(symbol.as_bytes()).ok())??;
    parsed.demangle().ok()
}

/// A symbol as people write it.
fn readable(symbol: &str) -> String {
    demangled(symbol).unwrap_or_else(|| symbol.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_by_the_name_in_their_source() {
        for (symbol, name) in [
            ("_Z4lossRKSt6vectorIdSaIdEE", "loss"),
            ("_ZN5model4lossEd", "loss"),
            ("_ZN5model4lossEd", "model::loss"),
            ("_Z3sumIdET_PKS0_i", "sum"),
            ("_Z3sumIdET_PKS0_i", "sum<double>"),
            ("loss_", "Loss"),
            ("_QMheatPfinal", "final"),
            ("_QPenergy", "ENERGY"),
        ] {
            assert!(is_called(symbol, name), "{symbol} {name}");
        }
        for (symbol, name) in
            [("_Z5glossd", "loss"), ("loss", "los"), ("_QMheatPfinal", "nal"), ("_Zgarbage", "garbage")]
        {
            assert!(!is_called(symbol, name), "{symbol} {name}");
        }
    }
}
