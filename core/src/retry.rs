//! What may help against a refusal, so that the request is tried again.
//!
//! A refusal for what is not known in a callee (types of bytes, where a pointer leads) may vanish where the callee is seen together with its
//! caller: such callees are inlined, whatever their size. What seems to be called, or to be a float, may be less where functions are what the
//! program puts into a member of a structure, and members what they are declared to be: first nothing depends on that, as there are programs
//! that take one structure for another. A function may also be refused that is only called because a pointer might lead to it. If what is
//! not known there is where another pointer leads, that call is taken for one that is never made; else the function is taken from those
//! that are called. If the program does make such a call with active data, it ends with a message.

use std::collections::BTreeSet;

use enzyme_analysis::Conflict;
use enzyme_diff::{RefusalKind, Refused};
use enzyme_ir::{FuncId, Type, TypeId};
use enzyme_llvm::{PrepareOptions, Session};

use crate::names;
use crate::report::Report;

/// Why a marker call is refused, and what might help.
pub struct Failure {
    /// Why.
    pub reports: Vec<Report>,
    /// Functions to inline.
    inline: Vec<String>,
    /// Functions that were called on suspicion alone.
    avoid: Vec<String>,
    /// Functions called on suspicion alone that call what nobody knows.
    excuse: Vec<String>,
    /// Some function was called on suspicion, perhaps inlined.
    guessed: bool,
}

impl From<Vec<Report>> for Failure {
    fn from(reports: Vec<Report>) -> Failure {
        Failure { reports, inline: Vec::new(), avoid: Vec::new(), excuse: Vec::new(), guessed: false }
    }
}

impl From<Report> for Failure {
    fn from(report: Report) -> Failure {
        vec![report].into()
    }
}

/// The function of a refusal, if what is missing there may be known in its callers; and functions that it calls, if floats
/// come in integers from there, as structures do that are returned in registers.
fn curable(session: &Session, root: FuncId, refused: &Refused) -> Vec<String> {
    let name = |f: FuncId| session.ir.funcs[f].name.clone();
    let called_back = |i| {
        let target = session.ir.direct_callee(&session.ir.funcs[refused.func], i);
        target.is_some_and(|f| ["qsort", "qsort_r", "bsearch"].contains(&session.ir.funcs[f].name.as_str()))
    };
    let helps = match &refused.refusal.kind {
        RefusalKind::UnknownType(_) | RefusalKind::NoShadow(_) | RefusalKind::Variable(_) => true,
        RefusalKind::Conflict(Conflict::IndirectCall(_)) => true,
        RefusalKind::Conflict(Conflict::UnknownCall(i)) => called_back(*i),
        RefusalKind::Conflict(Conflict::BitTrick(_)) => {
            let others = calls(session, refused.func).map(|c| c.0).chain([refused.func]);
            return others.filter(|f| *f != root && passes_words(session, *f)).map(name).collect();
        }
        RefusalKind::Conflict(_)
        | RefusalKind::Control(_)
        | RefusalKind::Shape(_)
        | RefusalKind::Operation(_)
        | RefusalKind::Rule(_)
        | RefusalKind::PackedResult
        | RefusalKind::Internal(_) => false,
    };
    Vec::from_iter((helps && refused.func != root).then(|| name(refused.func)))
}

/// Whether `f` has a body, and parameters or a result which are integers that floats have room in.
fn passes_words(session: &Session, f: FuncId) -> bool {
    let (func, types) = (&session.ir.funcs[f], &session.ir.ctx.types);
    let is_word = |ty: TypeId| matches!(types[ty], Type::Int(bits) if bits >= 32);
    let Type::Func { ret, .. } = types[func.sig] else { return false };
    let is_returned = match &types[ret] {
        Type::Struct(s) => s.fields.iter().flatten().any(|ty| is_word(*ty)),
        Type::Array { elem, .. } => is_word(*elem),
        _ => is_word(ret),
    };
    !func.is_declaration() && (is_returned || func.params.iter().any(|p| is_word(func.ty(*p))))
}

/// Functions that `from` calls, directly or not; those called on suspicion only if `all`.
fn called(session: &Session, from: FuncId, all: bool) -> BTreeSet<FuncId> {
    let mut seen = BTreeSet::new();
    let mut work = vec![from];
    while let Some(f) = work.pop() {
        if seen.insert(f) {
            work.extend(calls(session, f).filter(|c| all || !c.1).map(|c| c.0));
        }
    }
    seen
}

/// Functions that `f` calls, and whether on suspicion.
fn calls(session: &Session, f: FuncId) -> impl Iterator<Item = (FuncId, bool)> + '_ {
    let func = &session.ir.funcs[f];
    let guesses = &session.facts(f).guesses;
    func.placed().filter_map(move |(_, i)| Some((session.ir.direct_callee(func, i)?, guesses.contains(&i))))
}

/// What might help against refusals in functions that `root` reaches.
pub fn failure(
    session: &Session,
    prepare: &PrepareOptions,
    root: FuncId,
    reached: &[FuncId],
    refused: &[Refused],
    reports: Vec<Report>,
) -> Failure {
    let certain = called(session, root, false);
    let inline = refused.iter().flat_map(|r| curable(session, root, r)).collect();
    let suspected: BTreeSet<FuncId> =
        reached.iter().flat_map(|f| calls(session, *f)).filter(|c| c.1).map(|c| c.0).collect();
    let name = |f: FuncId| session.ir.funcs[f].name.clone();
    let excusable = |r: &&Refused| {
        let unknown = matches!(r.refusal.kind, RefusalKind::Conflict(Conflict::IndirectCall(_)));
        unknown && !prepare.excuse.contains(&name(r.func))
    };
    let (excused, bad): (Vec<&Refused>, Vec<&Refused>) =
        refused.iter().filter(|r| !certain.contains(&r.func)).partition(excusable);
    let excuse = excused.into_iter().map(|r| name(r.func)).collect();
    let leads = |f: &FuncId| {
        let reach = called(session, *f, true);
        bad.iter().any(|b| reach.contains(&b.func))
    };
    let avoid = suspected.iter().filter(|f| leads(f)).map(|f| name(*f)).collect();
    let guessed = reached.iter().any(|f| !session.facts(*f).fallbacks.is_empty());
    Failure { reports, inline, avoid, excuse, guessed }
}

/// Keeps the reason for which functions are not called any more where a pointer leads, for who calls them nevertheless.
pub fn remember(session: &mut Session, prepare: &PrepareOptions, failure: &Failure) {
    let Some(report) = failure.reports.first() else { return };
    let place = report.loc.map(|loc| session.ir.describe_loc(loc) + ": ").unwrap_or_default();
    let why = format!("refused: {place}[{}] {}", report.code.id, report.message);
    for name in failure.avoid.iter().filter(|name| prepare.avoid.contains(*name)) {
        let told = format!("'{}', {}", names::readable(name), names::readable(&why));
        session.ir.refused.entry(name.clone()).or_insert(told);
    }
}

/// Which bodies are prepared in another way.
pub enum Change {
    None,
    /// Those that call one of these functions, which are inlined now.
    CallersOf(Vec<String>),
    All,
}

/// Prepares functions in another way after a refusal, if there is one that was not tried; `untyped`: some refusal was for bytes of unknown type.
pub fn change(before: &PrepareOptions, prepare: &mut PrepareOptions, failure: &Failure, untyped: bool) -> Change {
    let fresh = |known: &[String], names: &[String]| -> Vec<String> {
        names.iter().filter(|n| !known.contains(n)).cloned().collect()
    };
    let (avoid, inline) = (fresh(&prepare.avoid, &failure.avoid), fresh(&prepare.force, &failure.inline));
    let excuse = fresh(&prepare.excuse, &failure.excuse);
    if failure.guessed && !prepare.by_member {
        prepare.by_member = true;
        return Change::All;
    }
    if !avoid.is_empty() || !excuse.is_empty() {
        prepare.avoid.extend(avoid);
        prepare.excuse.extend(excuse);
        Change::All
    } else if !inline.is_empty() {
        prepare.force.extend_from_slice(&inline);
        Change::CallersOf(inline)
    } else if failure.guessed && !prepare.keep_guesses {
        // The next refusal then tells in which of them it is.
        prepare.keep_guesses = true;
        Change::All
    } else if untyped && !prepare.declared {
        *prepare = PrepareOptions { by_member: true, declared: true, ..before.clone() };
        Change::All
    } else {
        Change::None
    }
}
