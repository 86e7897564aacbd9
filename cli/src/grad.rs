//! `enzyme grad`: the derivative of a function that is named, with no marker in its source.
//!
//! What is written holds all of the module that the file is, so it can be used alone; its definitions give way to those of the
//! same name when it is linked beside the program's own object files. Marker calls that the file has stay as they are in LLVM IR; in
//! object files, which cannot be linked with them, they are replaced where that can be done.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use enzyme_core::Story;
use enzyme_core::named::{self, Activity, Named};
use enzyme_ir::{FloatKind, Module, Type, TypeId};
use enzyme_llvm::tools::OwnedModule;
use enzyme_llvm::{Diagnostic, Level, Options, Phase, Severity, Told};
use serde::Serialize;

use crate::driver::Language;
use crate::{progress, source};

/// A derivative to be made.
#[derive(Args, Clone, Debug)]
pub struct Wanted {
    /// A file of C, C++, Fortran or LLVM IR
    pub file: PathBuf,
    /// The function: its name in the source, or its symbol
    #[arg(long = "fn", value_name = "NAME")]
    pub function: String,
    /// Parameters that it is differentiated with respect to, by name or number from 1; all floats and addresses if left out
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub wrt: Vec<String>,
    /// Tangents (forward mode) instead of adjoints (reverse mode)
    #[arg(long)]
    pub forward: bool,
    /// Tangents or adjoints at once
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub width: u32,
    /// The function's value, too
    #[arg(long)]
    pub value: bool,
    /// The symbol of the derivative [default: that of the function and _gradient or _tangent]
    #[arg(long, value_name = "SYMBOL")]
    pub name: Option<String>,
    /// An option of the plugin, as enzyme-max-tape=16M
    #[arg(long = "option", value_name = "NAME=VALUE")]
    pub options: Vec<String>,
    /// What is said and found, as JSON
    #[arg(long)]
    pub json: bool,
    /// What the compiler gets
    #[arg(last = true)]
    pub compiler: Vec<OsString>,
}

/// A parameter as the source has it.
#[derive(Clone, Debug, Serialize)]
pub struct Parameter {
    /// Empty if not known.
    pub name: String,
    /// Type in C.
    pub c_type: String,
    /// Whether it is differentiated with respect to.
    pub active: bool,
}

/// A derivative that was made.
#[derive(Debug)]
pub struct Made {
    pub module: OwnedModule,
    /// The symbol of the function.
    pub function: String,
    /// The symbol of the derivative.
    pub name: String,
    /// Those of the function.
    pub parameters: Vec<Parameter>,
    /// The type of the function's result, in C.
    pub result: String,
    /// The function is visible to its own file alone, in the program.
    pub hidden: bool,
    /// What the file asks for itself and cannot have.
    pub left: Vec<Told>,
}

/// Why there is none.
#[derive(Debug)]
pub enum Failure {
    /// A wrong file, name or option.
    Usage(String),
    /// No derivative.
    Refused(Vec<Told>),
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure::Usage(message)
    }
}

/// Makes the derivative.
pub fn make(wanted: &Wanted) -> Result<Made, Failure> {
    explained(wanted, false).map(|found| found.0)
}

/// Makes the derivative, and tells what it makes of the function. Those that the file itself asks for are made too if `rest`.
pub fn explained(wanted: &Wanted, rest: bool) -> Result<(Made, Vec<Story>), Failure> {
    let mut options = Options::default();
    for given in &wanted.options {
        let (name, value) = given.split_once('=').unwrap_or((given, ""));
        options.set(name.trim_start_matches('-'), value)?;
    }
    let source::Meant { mut module, symbol: function, hidden } =
        source::read(&wanted.file, &wanted.function, &wanted.compiler)?;
    let (named, parameters, result) = module.with_session(|session| {
        let f = session.find_function(&function).ok_or_else(|| format!("no function '{function}'"))?;
        let (ret, types, _) = session.ir.signature(f);
        let mut parameters = describe(&session.ir, &types, &session.describe_params(f));
        let params = activities(&mut parameters, &session.ir, &types, &wanted.wrt)?;
        let ending = if wanted.forward { "_tangent" } else { "_gradient" };
        let named = Named {
            name: wanted.name.clone().unwrap_or_else(|| format!("{function}{ending}")),
            function,
            forward: wanted.forward,
            params,
            width: wanted.width,
            value: wanted.value,
            runtime_activity: false,
            strong_zero: false,
        };
        Ok::<_, String>((named, parameters, c_type(&session.ir, ret)))
    })?;
    let mut stories = Vec::new();
    let running = progress::step(format!("differentiating '{}'", named.function));
    let told = module.with_session(|session| {
        session.keep_diagnostics();
        match named::write(session, &named) {
            Ok(()) => {
                stories = enzyme_core::explain(session, &options, &named.name);
            }
            Err(report) => report.show(session),
        }
        session.take_diagnostics()
    });
    if !told.is_empty() {
        return Err(Failure::Refused(told));
    }
    let left = module.with_session(|session| {
        session.keep_diagnostics();
        if rest {
            enzyme_core::run(session, &options, Phase::Explicit, Level::default());
        }
        session.yield_to_others(&named.name);
        session.take_diagnostics()
    });
    drop(running);
    Ok((Made { module, function: named.function, name: named.name, parameters, result, hidden, left }, stories))
}

/// The parameters of a function, of types by debug information or else by LLVM.
fn describe(module: &Module, types: &[TypeId], known: &[(String, String)]) -> Vec<Parameter> {
    let describe = |(n, ty): (usize, &TypeId)| {
        let (name, source) = known.get(n).cloned().unwrap_or_default();
        let c_type = c_name(&source).unwrap_or_else(|| c_type(module, *ty));
        Parameter { name, c_type, active: false }
    };
    types.iter().enumerate().map(describe).collect()
}

/// The type in C of what debug information says; nothing if it says nothing.
fn c_name(source: &str) -> Option<String> {
    if let Some(inner) = source.strip_prefix('*') {
        let inner = c_name(inner).unwrap_or_else(|| "void".to_owned());
        return Some(if inner.ends_with('*') { format!("{inner}*") } else { format!("{inner} *") });
    }
    let name = match source {
        "float32" => "float",
        "float64" => "double",
        "float80" | "float128" => "long double",
        "int8" => "int8_t",
        "int16" => "int16_t",
        "int32" => "int",
        "int64" => "int64_t",
        "uint8" => "uint8_t",
        "uint16" => "uint16_t",
        "uint32" => "unsigned",
        "uint64" => "uint64_t",
        _ => return None,
    };
    Some(name.to_owned())
}

fn c_type(module: &Module, ty: TypeId) -> String {
    match &module.ctx.types[ty] {
        Type::Void => "void",
        Type::Float(FloatKind::Float) => "float",
        Type::Float(FloatKind::Double) => "double",
        Type::Float(_) => "long double",
        Type::Ptr(_) => "void *",
        Type::Int(64) => "int64_t",
        Type::Int(16) => "int16_t",
        Type::Int(1 | 8) => "int8_t",
        Type::Int(_) => "int",
        _ => "struct",
    }
    .to_owned()
}

/// The activities that are asked for; the parameters learn theirs.
fn activities(
    parameters: &mut [Parameter],
    module: &Module,
    types: &[TypeId],
    wrt: &[String],
) -> Result<Vec<Activity>, String> {
    for word in wrt {
        let by_number = word.parse::<usize>().ok().filter(|n| (1..=types.len()).contains(n)).map(|n| n - 1);
        let found = parameters.iter().position(|p| p.name == *word).or(by_number);
        let names: Vec<&str> = parameters.iter().map(|p| p.name.as_str()).filter(|n| !n.is_empty()).collect();
        let list = if names.is_empty() { "by number".to_owned() } else { names.join(", ") };
        let at = found.ok_or_else(|| format!("no parameter '{word}'; there are {}: {list}", types.len()))?;
        parameters[at].active = true;
    }
    if !wrt.is_empty() {
        return Ok(parameters.iter().map(|p| if p.active { Activity::Active } else { Activity::Const }).collect());
    }
    for (p, ty) in parameters.iter_mut().zip(types) {
        // What an address of integers leads to has no derivative.
        let integers = p.c_type.contains("int") || p.c_type.contains("unsigned");
        p.active = match module.ctx.types[*ty] {
            Type::Float(_) => true,
            Type::Ptr(_) => !integers,
            _ => false,
        };
    }
    Ok(parameters.iter().map(|p| if p.active { Activity::ByType } else { Activity::Const }).collect())
}

impl Made {
    /// How the derivative is declared in C.
    pub fn prototype(&self, wanted: &Wanted) -> String {
        let lanes = wanted.width.max(1);
        let name = |n: usize, p: &Parameter| if p.name.is_empty() { format!("x{}", n + 1) } else { p.name.clone() };
        let declare = |ty: &str, name: &str| match ty.ends_with('*') {
            true => format!("{ty}{name}"),
            false => format!("{ty} {name}"),
        };
        let mut list = Vec::new();
        for (n, p) in self.parameters.iter().enumerate() {
            let own = name(n, p);
            list.push(declare(&p.c_type, &own));
            let address = p.c_type.ends_with('*');
            let ty = if address || wanted.forward { p.c_type.clone() } else { format!("{} *", p.c_type) };
            let lane = |k: u32| if lanes == 1 { format!("d{own}") } else { format!("d{own}_{}", k + 1) };
            list.extend((0..if p.active { lanes } else { 0 }).map(|k| declare(&ty, &lane(k))));
        }
        let floating = matches!(self.result.as_str(), "float" | "double" | "long double");
        let several = wanted.forward && floating && lanes > 1;
        list.extend((0..if several { lanes } else { 0 }).map(|k| format!("{} *dresult_{}", self.result, k + 1)));
        if wanted.forward && wanted.value && floating {
            list.push(format!("{} *result", self.result));
        }
        let returned = floating && (wanted.forward && lanes == 1 || !wanted.forward && wanted.value);
        let list = if list.is_empty() { "void".to_owned() } else { list.join(", ") };
        format!("{} {}({list});", if returned { &self.result } else { "void" }, self.name)
    }

    /// Writes the module to a file in the form that its name says.
    pub fn write(&self, wanted: &Wanted, output: &Path) -> Result<(), String> {
        let same = |a: &Path, b: &Path| a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b));
        if same(output, &wanted.file) {
            return Err(format!("{} is what is read; it is not overwritten", output.display()));
        }
        let shared: &[&str] = match output.extension().and_then(|e| e.to_str()) {
            Some("ll" | "bc") => return self.module.write(output).map_err(|e| e.to_string()),
            Some("o") => &["-c"],
            Some("so" | "dylib") => &["-shared"],
            _ => return Err(format!("{}: the name must end with .ll, .bc, .o or .so", output.display())),
        };
        let folder = tempfile::tempdir().map_err(|e| format!("making a folder: {e}"))?;
        let bitcode = folder.path().join("derivative.bc");
        self.module.write(&bitcode).map_err(|e| e.to_string())?;
        let language = source::language(&wanted.file)?.unwrap_or(Language::C);
        let mut command = Command::new(language.compiler()?.path);
        command.args(["-O2", "-fPIC"]).args(shared).arg(&bitcode).arg("-o").arg(output);
        if shared[0] == "-shared" && language != Language::Fortran {
            command.arg("-lm");
        }
        let done = progress::compile(&mut command, format!("writing {}", output.display()));
        let done = done.map_err(|e| format!("{}: {e}", command.get_program().display()))?;
        if done { Ok(()) } else { Err(format!("{} could not be made", output.display())) }
    }
}

#[derive(Serialize)]
struct Answer<'a> {
    function: &'a str,
    derivative: &'a str,
    prototype: String,
    parameters: &'a [Parameter],
    output: String,
    left: Vec<Said<'a>>,
}

/// Makes the derivative and writes it; what is printed.
pub fn grad(wanted: &Wanted, output: &Path) -> Result<String, Failure> {
    let is_object = !output.extension().is_some_and(|e| e == "ll" || e == "bc");
    let (mut made, _) = explained(wanted, is_object)?;
    if made.hidden {
        // Another file may have a function of the same name.
        made.module.with_session(|session| session.set_visible(&made.function, false));
    }
    made.write(wanted, output)?;
    let prototype = made.prototype(wanted);
    if !wanted.json {
        for told in &made.left {
            let what = told.diagnostic.text();
            eprintln!("{}note: another derivative that the file asks for is left out: {what}", place_of(told));
        }
        return Ok(prototype + "\n");
    }
    let answer = Answer {
        function: &made.function,
        derivative: &made.name,
        prototype,
        parameters: &made.parameters,
        output: output.display().to_string(),
        left: made.left.iter().map(said).collect(),
    };
    serde_json::to_string_pretty(&answer).map(|t| t + "\n").map_err(|e| Failure::Usage(e.to_string()))
}

#[derive(Serialize)]
struct Said<'a> {
    code: &'a str,
    message: &'a str,
    notes: &'a [String],
    help: &'a str,
    function: &'a str,
    file: &'a str,
    line: u32,
    column: u32,
}

fn said(told: &Told) -> Said<'_> {
    Said {
        code: told.diagnostic.code,
        message: &told.diagnostic.message,
        notes: &told.diagnostic.notes,
        help: told.diagnostic.help,
        function: &told.function,
        file: &told.file,
        line: told.line,
        column: told.column,
    }
}

fn place_of(told: &Told) -> String {
    match told.line {
        0 => "enzyme: ".to_owned(),
        line => format!("{}:{line}:{}: ", told.file, told.column),
    }
}

/// A failure as it is told: text as compilers write it, or JSON.
pub fn tell(failure: &Failure, json: bool) -> String {
    let told: Vec<Told> = match failure {
        Failure::Refused(told) => told.clone(),
        Failure::Usage(message) => vec![Told {
            diagnostic: Diagnostic {
                severity: Severity::Error,
                code: "",
                message: message.clone(),
                notes: Vec::new(),
                help: "",
                function: None,
                loc: None,
            },
            function: String::new(),
            file: String::new(),
            line: 0,
            column: 0,
        }],
    };
    if json {
        let said: Vec<Said<'_>> = told.iter().map(said).collect();
        return serde_json::to_string_pretty(&serde_json::json!({ "errors": said })).unwrap_or_default() + "\n";
    }
    let coloured = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let error = if coloured { "\x1b[1;31merror:\x1b[0m" } else { "error:" };
    told.iter().map(|t| format!("{}{error} {}\n", place_of(t), t.diagnostic.text())).collect()
}
