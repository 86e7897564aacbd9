//! What a derivative makes of each operation of its function, as data: for pages that show it beside the source.
//!
//! Written when a derivative is, from the same analyses and the same plan; it decides nothing.

use std::collections::BTreeMap;

use enzyme_analysis::print;
use enzyme_ir::text::{Numbered, pseudo};
use enzyme_ir::{Func, InstId, LocId, Module, ValueDef, ValueId};

use crate::keys::{Key, Subject, cached_bytes};
use crate::plan::Plan;
use crate::request::Mode;

/// A place in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file as the compiler was given it; empty if not known.
    pub file: String,
    /// Line, from 1; 0 if not known.
    pub line: u32,
    /// Column, from 1; 0 if not known.
    pub column: u32,
}

/// Where a primal value that the reverse sweep reads comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// The reverse sweep does not read it.
    NotNeeded,
    /// Computed again.
    Rebuilt,
    /// Kept by the forward sweep: bytes, each time it is computed.
    Kept {
        /// Size of one.
        bytes: u64,
        /// How many loops it is in; 0 is kept once.
        loops: u32,
        /// Why it is not computed again, if that is known.
        why: Option<String>,
    },
}

/// An operation of the function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Where it comes from.
    pub place: Place,
    /// What it is, as LLVM writes it.
    pub what: String,
    /// Why it is active; nothing if it is not.
    pub active: Option<String>,
    /// What becomes of its value.
    pub treatment: Treatment,
}

/// A line of the derivative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Pseudo-source.
    pub text: String,
    /// A label.
    pub label: bool,
    /// Where it comes from.
    pub place: Place,
}

/// One derivative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Story {
    /// Its symbol.
    pub derivative: String,
    /// The function's symbol.
    pub function: String,
    /// Whether it has tangents instead of adjoints.
    pub forward: bool,
    /// Operations of the function, in order.
    pub items: Vec<Item>,
    /// What else is kept: numbers of iterations, ways that were taken, tapes of calls; how much of each at a time.
    pub others: Vec<(String, u64)>,
    /// The derivative.
    pub lines: Vec<Line>,
    /// The symbols of the functions that it calls.
    pub calls: Vec<String>,
}

fn place(module: &Module, loc: Option<LocId>) -> Place {
    let Some(l) = loc.and_then(|l| module.locs.get(l)) else { return Place::default() };
    Place { file: l.file.clone(), line: l.line, column: l.column }
}

/// What is said of the derivative of `s`; its text comes with [`Story::write`].
pub(crate) fn tell(module: &Module, s: &Subject<'_>, plan: Option<&Plan>, derivative: &str) -> Story {
    let kept: BTreeMap<ValueId, Treatment> = plan.map(|p| treatments(module, s, p)).unwrap_or_default();
    let numbered = Numbered::new(module, s.func);
    let item = |i: InstId| {
        let result = s.func.insts[i].result;
        let reason = result.and_then(|r| s.activity.active[r].as_ref());
        Item {
            place: place(module, s.func.insts[i].loc),
            what: numbered.inst(i).trim().to_owned(),
            active: reason.map(|r| print::because(&numbered, r)),
            treatment: result.and_then(|r| kept.get(&r).cloned()).unwrap_or(Treatment::NotNeeded),
        }
    };
    Story {
        derivative: derivative.to_owned(),
        function: s.func.name.clone(),
        forward: s.key.mode == Mode::Forward,
        items: s.func.placed().map(|(_, i)| item(i)).collect(),
        others: plan.map(others).unwrap_or_default(),
        lines: Vec::new(),
        calls: Vec::new(),
    }
}

fn treatments(module: &Module, s: &Subject<'_>, plan: &Plan) -> BTreeMap<ValueId, Treatment> {
    let mut out = BTreeMap::new();
    for k in &plan.choice.rebuilt {
        if let Key::Primal(v) | Key::Shadow(v) | Key::Column(v) = k {
            out.insert(*v, Treatment::Rebuilt);
        }
    }
    for k in &plan.choice.cached {
        let (Key::Primal(v) | Key::Shadow(v) | Key::Column(v)) = k else { continue };
        if matches!(s.func.values[*v].def, ValueDef::Const(_)) {
            continue;
        }
        let mut loops = 0;
        let mut at = s.scope(*k);
        while let Some(l) = at {
            loops += 1;
            at = s.scope(Key::Count(l));
        }
        let more = match out.get(v) {
            Some(Treatment::Kept { bytes, .. }) => *bytes,
            _ => 0,
        };
        let bytes = cached_bytes(module, s.func.ty(*v)) + more;
        out.insert(*v, Treatment::Kept { bytes, loops, why: crate::why::kept(module, s, *v) });
    }
    out
}

fn others(plan: &Plan) -> Vec<(String, u64)> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for k in &plan.choice.cached {
        let (what, bytes) = match k {
            Key::Count(_) | Key::Latest(_) => ("numbers of iterations", 8),
            Key::Entered(_) => ("ways that were taken", 4),
            Key::Tape(_) => ("tapes of calls", 8),
            Key::Primal(_) | Key::Shadow(_) | Key::Column(_) => continue,
        };
        *counts.entry(what).or_default() += bytes;
    }
    counts.into_iter().map(|(what, bytes)| (what.to_owned(), bytes)).collect()
}

impl Story {
    /// Adds the text of the derivative.
    pub(crate) fn write(&mut self, module: &Module, written: &Func) {
        let callees = enzyme_analysis::program::callees(module, written);
        self.calls = callees.into_iter().map(|f| module.funcs[f].name.clone()).collect();
        let lines = pseudo::pseudo(module, written).into_iter();
        self.lines = lines.map(|l| Line { text: l.text, label: l.label, place: place(module, l.loc) }).collect();
    }
}
