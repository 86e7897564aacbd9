//! Refusals as diagnostics: code, place, chain of reasons, what to do.

use enzyme_analysis::{ClassId, Conflict, Object, Units};
use enzyme_diff::{Refusal, RefusalKind, Refused};
use enzyme_ir::{Func, FuncId, InstId, LocId, Module, Op};
use enzyme_llvm::{Diagnostic, Problem, Session, Severity};

use crate::codes::{self, Code};
use crate::names;

/// A refusal ready to be shown.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// Its code.
    pub code: Code,
    /// What exactly.
    pub message: String,
    /// Why, one line each.
    pub notes: Vec<String>,
    /// Place in the source.
    pub loc: Option<LocId>,
    /// The function.
    pub func: Option<FuncId>,
}

impl Report {
    /// A report without place and notes.
    pub fn new(code: Code, message: impl Into<String>) -> Report {
        Report { code, message: message.into(), notes: Vec::new(), loc: None, func: None }
    }

    /// At a place in a function.
    pub fn at(self, func: Option<FuncId>, loc: Option<LocId>) -> Report {
        Report { func: self.func.or(func), loc: self.loc.or(loc), ..self }
    }

    /// With one more line of explanation.
    pub fn note(mut self, note: impl Into<String>) -> Report {
        self.notes.push(note.into());
        self
    }

    /// What its user can do, in the language of the place.
    fn help(&self, module: &Module) -> &'static str {
        let in_rust = self.loc.is_some_and(|l| module.locs[l].file.ends_with(".rs"));
        if in_rust && self.code == codes::E0301 { codes::E0301_IN_RUST } else { self.code.help }
    }

    /// Hands the report to the host compiler.
    pub fn show(&self, session: &mut Session) {
        session.diagnose(&Diagnostic {
            severity: Severity::Error,
            code: self.code.id,
            message: names::readable(&self.message).into_owned(),
            notes: self.notes.iter().map(|note| names::readable(note).into_owned()).collect(),
            help: self.help(&session.ir),
            function: self.func,
            loc: self.loc,
        });
    }
}

/// A problem at the rim as a report.
pub fn from_problem(problem: &Problem, code: Code) -> Report {
    Report { loc: problem.loc, ..Report::new(code, format!("{problem}")) }
}

/// The name of a value as the user may know it.
fn describe(module: &Module, func: &Func, i: InstId) -> String {
    let inst = &func.insts[i];
    let target = module.direct_callee(func, i).map(|f| module.funcs[f].name.clone());
    let what = match (&inst.op, target) {
        (Op::Call(_) | Op::Invoke { .. }, Some(name)) => format!("the call of '{name}'"),
        (Op::Call(_) | Op::Invoke { .. }, None) => "an indirect call".to_owned(),
        (Op::Load(_), _) => "a read".to_owned(),
        (Op::Store(_), _) => "a write".to_owned(),
        _ => "an operation".to_owned(),
    };
    match inst.loc {
        Some(l) => format!("{what} at {}", module.describe_loc(l)),
        None => format!("{what} in '{}'", func.name),
    }
}

/// How many places that may be meant are named.
const NAMED: usize = 3;

fn describe_class(module: &Module, units: &Units, f: FuncId, class: ClassId) -> String {
    let objects = units.get(f).map(|u| u.memory.classes[class].objects.clone()).unwrap_or_default();
    let mut objects: Vec<Object> = objects.into_iter().collect();
    // Variables say more than memory of which many copies may be.
    objects.sort_by_key(|o| !matches!(o, Object::Global(_)));
    let mut names: Vec<String> = Vec::new();
    for o in objects {
        let name = match o {
            Object::Param(g, n) => format!("what parameter {} of '{}' points to", n + 1, module.funcs[g].name),
            Object::Stack(g, _) => format!("a local variable of '{}'", module.funcs[g].name),
            Object::Heap(g, i) => describe(module, &module.funcs[g], i),
            Object::Global(g) if module.globals[g].is_memory_of_numbers() => {
                "memory at an address that is a number".to_owned()
            }
            Object::Global(g) => format!("the global variable '{}'", module.globals[g].name),
            Object::Code(g) => format!("the function '{}'", module.funcs[g].name),
            Object::Called(g, i) => format!("what {} calls", describe(module, &module.funcs[g], i)),
            Object::Unknown(g, i) => format!("memory from {}", describe(module, &module.funcs[g], i)),
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    match names.len() {
        0 => "memory".to_owned(),
        n if n <= NAMED => names.join(", or "),
        n => format!("{}, or {} more", names[..NAMED].join(", or "), n - NAMED),
    }
}

fn is_global(units: &Units, f: FuncId, class: ClassId) -> bool {
    let Some(unit) = units.get(f) else { return false };
    unit.memory.classes[class].objects.iter().any(|o| matches!(o, Object::Global(_)))
}

/// A refusal of the synthesis or the analyses as a report.
pub fn from_refusal(module: &Module, units: &Units, refused: &Refused) -> Report {
    let func = &module.funcs[refused.func];
    let Refusal { kind, inst } = &refused.refusal;
    let loc = inst.and_then(|i| func.insts[i].loc).map(|l| in_program(module, l)).or(func.loc);
    let here = inst.map(|i| describe(module, func, i)).unwrap_or_else(|| format!("in '{}'", func.name));
    let report = match kind {
        RefusalKind::Conflict(c) => conflict(module, units, refused.func, c),
        RefusalKind::Control(what) => {
            Report::new(codes::E0204, format!("'{}' has {what}, which cannot be run backwards", func.name))
        }
        RefusalKind::Shape(what) => Report::new(codes::E0901, format!("'{}' was imported with {what}", func.name)),
        RefusalKind::Operation(what) => Report::new(codes::E0203, format!("no derivative for {what}")).note(here),
        RefusalKind::Variable(what) => Report::new(codes::E0203, format!("no derivative for {what}")).note(here),
        RefusalKind::UnknownType(what) => {
            Report::new(codes::E0301, format!("the type of {what} is not known, and the derivative depends on it"))
                .note(here)
        }
        RefusalKind::NoShadow(what) => Report::new(codes::E0304, format!("no shadow for {what}")).note(here),
        RefusalKind::PackedResult => several_parts(&func.name, "floats within an integer"),
        RefusalKind::Rule(what) => Report::new(codes::E0111, what.clone()),
        RefusalKind::Internal(what) => Report::new(codes::E0901, format!("internal error: {what}")).note(here),
    };
    let report = report.at(Some(refused.func), loc);
    if report.loc.is_some() { report } else { report.note(NO_LINE) }
}

/// A result of several parts, or of parts that nobody can tell, of which one may be meant.
pub fn several_parts(name: &str, what: &str) -> Report {
    Report::new(codes::E0106, format!("'{name}' returns {what}: which part to differentiate is not said"))
        .note("let it store what is meant behind a pointer that is enzyme_dup, or call it in a function that returns that part")
        .note("'enzyme_const_return' says that no part is")
}

const NO_LINE: &str = "its line is known with debug information: -g, or `debug = 1` in a profile of Cargo.toml";

/// Where code is inlined of the standard library of C++ or Rust, the call of it: nobody looks for what to change in there.
fn in_program(module: &Module, loc: LocId) -> LocId {
    let of_library = |l: &LocId| {
        let file = module.locs[*l].file.as_str();
        file.contains("/include/c++/") || file.starts_with("library/") || file.starts_with("/rustc/")
    };
    let mut calls = std::iter::successors(Some(loc), |l| module.locs[*l].inlined_at);
    calls.find(|l| !of_library(l) && module.locs[*l].line > 0).unwrap_or(loc)
}

fn conflict(module: &Module, units: &Units, f: FuncId, c: &Conflict) -> Report {
    let func = &module.funcs[f];
    match c {
        Conflict::LostInPinned { class, store, load } => {
            let global = is_global(units, f, *class);
            let what = describe_class(module, units, f, *class);
            let code = if global { codes::E0305 } else { codes::E0302 };
            Report::new(code, format!("active data is stored in {what}, which has no shadow, and is read back"))
                .note(format!("stored by {}", describe(module, func, *store)))
                .note(format!("read by {}", describe(module, func, *load)))
        }
        Conflict::UnknownCall(i) => {
            let name = module.direct_callee(func, *i).map(|g| module.funcs[g].name.clone()).unwrap_or_default();
            if name.starts_with(crate::truncate::KEPT) {
                return Report::new(codes::E0203, "no derivative for numbers that memory keeps in a wider format")
                    .note(describe(module, func, *i))
                    .note("a function that differentiates may be given to '__enzyme_truncate_mem_func' instead");
            }
            Report::new(codes::E0201, format!("no derivative for '{name}': it has no body here and no rule"))
                .note(describe(module, func, *i))
        }
        Conflict::IndirectCall(i) => {
            Report::new(codes::E0202, "a function pointer is called with active data").note(describe(module, func, *i))
        }
        Conflict::Unsupported(i, what) => {
            Report::new(codes::E0203, format!("no derivative for {what}")).note(describe(module, func, *i))
        }
        Conflict::ReturnsTwice(i) => {
            Report::new(codes::E0204, format!("'{}' calls a function that returns twice", func.name))
                .note(describe(module, func, *i))
        }
        Conflict::Assembly(i) => Report::new(codes::E0203, "no derivative for assembly with active operands")
            .note(describe(module, func, *i)),
        Conflict::BitTrick(i) => Report::new(codes::E0205, "bits of active floats are computed with as integers")
            .note(describe(module, func, *i)),
    }
}
