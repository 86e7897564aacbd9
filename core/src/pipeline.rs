//! One module, start to end: find markers, import, differentiate, export, replace, optimise.
//!
//! A refused request is tried again in other ways, a few times, where these may help ([`crate::retry`]); if they do not, the first refusal is
//! reported, and all is as if it had not been tried.

use std::collections::{BTreeMap, BTreeSet};

use enzyme_analysis::Timing;
use enzyme_analysis::program::callees;
use enzyme_diff::{Derivative, Engine, Log, Mode, ParamActivity, Request, ResultUse, Story};
use enzyme_ir::{Facts, FastMath, FuncId, LocId, Op};
use enzyme_llvm::{
    Checkpoints, Diagnostic, ExternalWrites, Level, MarkerCall, Options, Phase, PrepareOptions, Session, Severity,
};

use crate::batch::{self, BATCH};
use crate::codes;
use crate::fortran;
use crate::forward_split;
use crate::marker::{self, AUGMENT_SIZE, FORWARD_SPLIT, MARKERS, Marker, OTHER_MARKERS};
use crate::names;
use crate::report::{Report, from_problem, from_refusal};
use crate::retry::{Change, Failure, change, failure, remember};
use crate::rules;
use crate::tape_size;
use crate::truncate::{self, TRUNCATE, TRUNCATE_MEMORY};
use crate::wrapper;

/// How often a refused request is tried again with more inlined.
const RETRIES: usize = 7;
/// How much dearer keeping a value is under a limit on the tape: what one call of a transcendental function gives is computed again
/// then, which takes less time than states of the loop and its steps once more.
const LIMITED: u64 = 4;
/// What programs call in the body of a loop to have it checkpointed.
const CHECKPOINT_MARK: &str = "__enzyme_checkpoint";
/// What stands for memory that nobody needs, and for that of a linear map of which only the transpose is wanted.
const NOTHING: &str = "__enzyme_todense.nothing";
/// Markers whose result is a view of memory that two functions stand for.
const TO_DENSE: [&str; 2] = ["__enzyme_todense", "__enzyme_post_sparse_todense"];

/// What happened to a marker call.
enum Outcome {
    /// It calls this wrapper now.
    Replaced,
    /// It is left for the link step.
    Deferred,
}

/// Differentiates everything that is asked for in the module of `session`. Whether the module was changed.
pub fn run(session: &mut Session, options: &Options, phase: Phase, level: Level) -> bool {
    work(session, options, phase, level, None, &mut None)
}

/// Differentiates what the function `name` asks for, and what that needs, and tells what each derivative makes of its function. Other
/// marker calls of the module are left as they are, unless some ask for tangents from tapes: those are known together.
pub fn explain(session: &mut Session, options: &Options, name: &str) -> Vec<Story> {
    let mut stories = Some(Vec::new());
    work(session, options, Phase::Explicit, Level::default(), Some(name), &mut stories);
    stories.unwrap_or_default()
}

fn work(
    session: &mut Session,
    options: &Options,
    phase: Phase,
    level: Level,
    only: Option<&str>,
    stories: &mut Option<Vec<Story>>,
) -> bool {
    session.mark_statements();
    if let Err(report) = truncate::all(session, &options.truncate_all) {
        report.show(session);
        return false;
    }
    let mut parts: Vec<&str> = MARKERS.iter().map(|m| m.0).collect();
    session.split_marker_calls(&parts);
    parts.extend(OTHER_MARKERS);
    let mut calls = session.find_marker_calls(&parts);
    let on_tape = !session.find_marker_calls(&[FORWARD_SPLIT]).is_empty();
    if calls.is_empty() && !on_tape {
        lower_dense_views(session, phase.may_defer(), &mut forward_split::Written::default());
        session.lower_statements(phase.may_defer());
        session.drop_checkpoint_marks();
        return true;
    }
    if let Err(problem) = session.verify() {
        let text = problem.message.lines().take(4).collect::<Vec<_>>().join("\n  ");
        Report::new(codes::E0110, format!("the module is malformed: {text}")).show(session);
        return false;
    }
    let mut on_tapes = forward_split::Written::default();
    if on_tape {
        on_tapes = forward_split::lower(session);
        calls = session.find_marker_calls(&parts);
        parts.push(FORWARD_SPLIT);
    }
    let all = calls.len();
    if let (Some(name), false) = (only, on_tape) {
        calls = asked_by(session, calls, name);
    }
    let waits = phase.may_defer() || calls.len() < all;
    session.external_writes = Some(external_writes);
    let inline_budget = options.inline_count.max(0) as u64;
    let mut prepare = PrepareOptions { inline_budget, products: options.products, ..PrepareOptions::default() };
    if options.products {
        session.make_products();
    }
    match rules::collect(session, on_tape) {
        Ok(keep) => prepare.keep = keep,
        Err(reports) => {
            reports.into_iter().for_each(|r| r.show(session));
            return false;
        }
    }
    let log = Log {
        wants_types: options.print_type,
        wants_activity: options.print_activity,
        wants_plans: options.print_plan,
        text: String::new(),
        stories: stories.take(),
        unlimited: Vec::new(),
    };
    let mut engine = Engine::new(log);
    engine.keeps_tapes = calls.iter().any(marker::keeps_tape);
    let mut changed = false;
    // Memory that is not there has no addresses to compare.
    let may_compare = !on_tape && session.find_marker_calls(&TO_DENSE).is_empty();
    let is_combined = |call: &MarkerCall| marker::mode_of(&call.callee) == Ok(Mode::Combined);
    let second_bodies = may_compare && calls.iter().any(is_combined);
    let needs = session.marker_needs(&calls);
    // What is differentiated again is optimised before, as other code is.
    let mut failed: BTreeSet<usize> = BTreeSet::new();
    for round in rounds(calls.len(), &needs) {
        let mut exported: Vec<FuncId> = Vec::new();
        for n in round {
            if !session.is_there(&calls[n]) {
                continue;
            }
            let call = &session.read_again(&calls[n]);
            if needs.iter().any(|(outer, inner)| *outer == n && failed.contains(inner)) {
                failed.insert(n);
                continue;
            }
            // Tangents that are had from a tape alone have no memory in which steps could be repeated.
            let limits = !on_tape && !is_reversed(&calls, &needs, n);
            let outcome = set_loops(session, options, &mut engine, &mut prepare, call, (second_bodies, limits))
                .and_then(|()| try_harder(session, options, phase, &mut engine, &mut prepare, call, n));
            match outcome {
                Ok((Outcome::Replaced, functions)) => exported.extend(functions),
                Ok((Outcome::Deferred, _)) => {}
                Err(reports) => {
                    failed.insert(n);
                    // A host may end at an error.
                    eprint!("{}", std::mem::take(&mut engine.log.text));
                    for mut r in on_tapes.explain(session, call, reports) {
                        // What is ours has no place in the source: the host then shows where the marker stands.
                        r.func = r.func.filter(|f| !session.ir.funcs[*f].name.starts_with("enzyme."));
                        r.at(Some(call.caller), call.loc).show(session);
                    }
                }
            }
        }
        // As compilers' other dumps, these go to standard error.
        eprint!("{}", std::mem::take(&mut engine.log.text));
        if !exported.is_empty() {
            changed = true;
            session.forget_bodies();
            engine.forget();
            // Derivatives that are differentiated next have these shadows for memory of their own.
            engine.globals.clear();
            engine.timing.of("optimise", || session.optimise(&exported, &calls, level));
        }
    }
    *stories = engine.log.stories.take();
    let dense = lower_dense_views(session, waits, &mut on_tapes);
    session.lower_statements(waits);
    if calls.len() == all {
        session.drop_checkpoint_marks();
    }
    session.finish(&parts);
    if options.print_rules {
        eprint!("{}", rules::describe(&session.ir, &engine));
    }
    if options.print_perf {
        eprint!("enzyme: time in the derivatives of this module\n{}", engine.timing);
    }
    changed || dense || !failed.is_empty() || phase.may_defer()
}

/// Lowers dense views of sparse storage, now that all derivatives which read and write them stand there; whether there were any.
/// Before a link some of these may be missing; then a view waits for them (`waits`).
fn lower_dense_views(session: &mut Session, waits: bool, on_tapes: &mut forward_split::Written) -> bool {
    let views = session.find_marker_calls(&TO_DENSE);
    for call in &views {
        if let (Err(why), false) = (session.lower_dense(call), waits) {
            if on_tapes.has(call) {
                if let Some(report) = on_tapes.refuse(session, call, &why) {
                    report.show(session);
                }
                continue;
            }
            let what = match call.callee.as_str() {
                NOTHING => why,
                name => format!("the dense view that '{name}' gives can't be followed: {why}"),
            };
            Report::new(codes::E0112, what).at(Some(call.caller), call.loc).show(session);
        }
    }
    !views.is_empty()
}

/// Those of `calls` that stand in the function `name`, and those that these need.
fn asked_by(session: &Session, calls: Vec<MarkerCall>, name: &str) -> Vec<MarkerCall> {
    let needs = session.marker_needs(&calls);
    let own = |n: &usize| calls[*n].caller_name == name;
    let mut work: Vec<usize> = (0..calls.len()).filter(own).collect();
    let mut wanted: BTreeSet<usize> = BTreeSet::new();
    while let Some(n) = work.pop() {
        if wanted.insert(n) {
            work.extend(needs.iter().filter(|(outer, _)| *outer == n).map(|(_, inner)| *inner));
        }
    }
    calls.into_iter().enumerate().filter(|(n, _)| wanted.contains(n)).map(|(_, call)| call).collect()
}

/// Whether reverse mode goes through what the call `n` stands for: what puts states back has no types, and no adjoint.
fn is_reversed(calls: &[MarkerCall], needs: &[(usize, usize)], n: usize) -> bool {
    let mut seen = BTreeSet::from([n]);
    let mut work = vec![n];
    while let Some(n) = work.pop() {
        for (outer, _) in needs.iter().filter(|(_, inner)| *inner == n) {
            if marker::mode_of(&calls[*outer].callee).unwrap_or(Mode::Forward) != Mode::Forward {
                return true;
            }
            if seen.insert(*outer) {
                work.push(*outer);
            }
        }
    }
    false
}

/// The numbers below `count` in rounds: what one needs comes in an earlier round, unless both need each other.
fn rounds(count: usize, needs: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut out: Vec<Vec<usize>> = Vec::new();
    let mut left: BTreeSet<usize> = (0..count).collect();
    while !left.is_empty() {
        let waits = |n: &usize| needs.iter().any(|(outer, inner)| outer == n && left.contains(inner));
        let mut round: Vec<usize> = left.iter().copied().filter(|n| !waits(n)).collect();
        if round.is_empty() {
            round.extend(left.iter().copied());
        }
        left.retain(|n| !round.contains(n));
        out.push(round);
    }
    out
}

/// What the tables say of an external function's writes.
fn external_writes(name: &str) -> ExternalWrites {
    use enzyme_rules::known::{Known, Reach};
    if enzyme_rules::lookup_call(name).is_some() {
        return ExternalWrites::OnlyArguments;
    }
    // What throws writes to what it has allocated.
    if ["__cxa_allocate_exception", "__cxa_throw"].contains(&name) {
        return ExternalWrites::Nothing;
    }
    match enzyme_rules::known(name) {
        Some(k) if matches!(k.what, Known::Free { .. }) => ExternalWrites::Nothing,
        Some(k) if matches!(k.what, Known::Inactive) && k.effects.writes == Reach::Nothing => ExternalWrites::Nothing,
        Some(_) | None => ExternalWrites::Unknown,
    }
}

/// Imports `f` and all functions with bodies that it calls, prepared.
fn import(
    session: &mut Session,
    prepare: &PrepareOptions,
    f: FuncId,
    timing: &mut Timing,
) -> Result<Vec<FuncId>, Vec<Report>> {
    let mut done = Vec::new();
    let mut work = vec![f];
    while let Some(g) = work.pop() {
        if done.contains(&g) {
            continue;
        }
        done.push(g);
        if session.ir.stated.rules.contains_key(&g) {
            rules::define_model(&mut session.ir, g);
            continue;
        }
        timing
            .of("prepare and import", || session.define_body(g, prepare))
            .map_err(|problems| problems.iter().map(|p| from_problem(p, codes::E0203)).collect::<Vec<_>>())?;
        let func = &session.ir.funcs[g];
        let mut called: Vec<FuncId> = Vec::new();
        for (_, i) in func.placed() {
            if matches!(func.insts[i].op, Op::Call(_) | Op::Invoke { .. }) {
                called.extend(session.ir.direct_callee(func, i));
            }
        }
        for h in called {
            let inactive = session.ir.funcs[h].attrs.inactive;
            let name = enzyme_analysis::callee::name_of(&session.ir, h);
            let is_math = enzyme_rules::lookup_call(name).is_some() || session.ir.stated.like.contains_key(&h);
            let ruled = session.ir.stated.rules.contains_key(&h);
            if ruled || !inactive && !is_math && session.ir.funcs[h].is_declaration() && session.has_body(h) {
                work.push(h);
            }
        }
        work.extend(callees(&session.ir, &session.ir.funcs[g]));
    }
    Ok(done)
}

/// Whether every function that active code may reach has a body or is known.
fn is_closed(session: &Session, functions: &[FuncId]) -> bool {
    functions.iter().all(|f| {
        let func = &session.ir.funcs[*f];
        func.placed().all(|(_, i)| match func.insts[i].op {
            Op::Call(_) | Op::Invoke { .. } => {
                let unknown =
                    matches!(enzyme_analysis::resolve(&session.ir, func, i), enzyme_analysis::Callee::Unknown(Some(_)));
                !unknown && !session.facts(*f).fallbacks.contains(&i)
            }
            _ => true,
        })
    })
}

/// As [`differentiate`], again in other ways where these may help.
fn try_harder(
    session: &mut Session,
    options: &Options,
    phase: Phase,
    engine: &mut Engine,
    prepare: &mut PrepareOptions,
    call: &MarkerCall,
    number: usize,
) -> Result<(Outcome, Vec<FuncId>), Vec<Report>> {
    let before = prepare.clone();
    let mut first: Option<Vec<Report>> = None;
    let (mut left, mut untyped) = (RETRIES, false);
    loop {
        let failure = match differentiate(session, options, phase, engine, prepare, call, number) {
            Ok(done) => return Ok(done),
            Err(failure) => failure,
        };
        untyped |= failure.reports.iter().any(|report| report.code == codes::E0301);
        let (by_member, declared) = (prepare.by_member, prepare.declared);
        let change = if left > 0 { change(&before, prepare, &failure, untyped) } else { Change::None };
        left = if prepare.declared == declared { left.saturating_sub(1) } else { RETRIES };
        remember(session, prepare, &failure);
        // What is refused where functions are called that cannot be meant is told better without these.
        if prepare.by_member == by_member || prepare.declared {
            first.get_or_insert(failure.reports);
        }
        match change {
            Change::None => break,
            Change::All => session.forget_bodies(),
            // The words of a body are those that the attempt before saw.
            Change::CallersOf(names) => session.forget_bodies_if(|ir, func| {
                let calls_one = |i| ir.direct_callee(func, i).is_some_and(|f| names.contains(&ir.funcs[f].name));
                !func.words.is_empty() || func.placed().any(|(_, i)| calls_one(i))
            }),
        }
        engine.forget();
    }
    let has_samples =
        || session.ir.funcs.iter().any(|(_, f)| f.name.starts_with(enzyme_diff::reverse::samples::SAMPLE));
    if before.checkpoints.is_some() || session.has_second_bodies() || (before.samples.is_some() && has_samples()) {
        // What keeps a loop on its own from being differentiated may vanish where it is part of its function; and of two bodies
        // each would be refused, in the same words.
        *prepare = PrepareOptions { checkpoints: None, samples: None, disjoint: false, ..before };
        session.forget_bodies();
        engine.forget();
        return try_harder(session, options, phase, engine, prepare, call, number);
    }
    let by_rule = before.products && session.ir.stated.rules.values().any(|rule| rule.product);
    if *prepare != before {
        *prepare = before;
        session.forget_bodies();
        engine.forget();
    }
    if by_rule {
        // What is not told of a product is told of its body.
        prepare.products = false;
        session.forget_bodies();
        engine.forget();
        let done = try_harder(session, options, phase, engine, prepare, call, number);
        prepare.products = true;
        session.forget_bodies();
        engine.forget();
        return done.map_err(|reports| first.unwrap_or(reports));
    }
    Err(first.unwrap_or_default())
}

/// Prepares loops for checkpointing where that is asked for, and those over independent samples for a reversal iteration by
/// iteration, unless the program marks loops; `second_bodies`: functions may have one for arrays that are apart; `limits`: loops may be
/// checkpointed. What was prepared for other calls is forgotten if it cannot stay.
fn set_loops(
    session: &mut Session,
    options: &Options,
    engine: &mut Engine,
    prepare: &mut PrepareOptions,
    call: &MarkerCall,
    (second_bodies, limits): (bool, bool),
) -> Result<(), Vec<Report>> {
    let max_tape = marker::max_tape(call).map_err(|r| vec![r])?.unwrap_or(options.max_tape);
    let has_marks = session.find_function(CHECKPOINT_MARK).is_some();
    let mode = marker::mode_of(&call.callee).unwrap_or(Mode::Forward);
    let root = marker::function_of(call).ok();
    let checkpoints = root.filter(|_| mode != Mode::Forward && limits && (max_tape > 0 || has_marks));
    let checkpoints = checkpoints.map(|root| Checkpoints { root, max_tape });
    // A body that was prepared before, for another call, is as right: forward derivatives prepare it as combined ones want it.
    let is_split = matches!(mode, Mode::Augmented | Mode::Gradient);
    prepare.samples = root.filter(|_| !is_split && !has_marks);
    // Both sweeps of a split derivative are of one body. Forward derivatives gain nothing, but share their bodies with combined ones.
    prepare.disjoint = second_bodies && !is_split;
    if checkpoints != prepare.checkpoints || (is_split && session.has_second_bodies()) {
        prepare.checkpoints = checkpoints;
        session.forget_bodies();
        engine.forget();
    }
    Ok(())
}

fn differentiate(
    session: &mut Session,
    options: &Options,
    phase: Phase,
    engine: &mut Engine,
    prepare: &PrepareOptions,
    call: &MarkerCall,
    number: usize,
) -> Result<(Outcome, Vec<FuncId>), Failure> {
    let already = engine.written.len();
    session.begin_request(prepare);
    if truncate::VALUES.iter().any(|part| call.callee.contains(part)) {
        return Err(truncate::no_value(call).into());
    }
    if call.callee.contains(TRUNCATE) || call.callee.contains(TRUNCATE_MEMORY) {
        truncate::replace(session, call)?;
        return Ok((Outcome::Replaced, Vec::new()));
    }
    if call.callee.contains(BATCH) {
        let wrapper = batch::build(&mut session.ir, call, number)?;
        return replace(session, engine, call, Vec::new(), wrapper);
    }
    let sized = call.callee.contains(AUGMENT_SIZE).then(|| tape_size::asked(&session.ir, call)).transpose()?;
    let (asker, call) = (call, sized.as_ref().unwrap_or(call));
    let mode = marker::mode_of(&call.callee)?;
    let func = match marker::function_of(call) {
        Ok(func) => func,
        Err(report) => match session.why_no_function(call) {
            why if why.is_empty() => return Err(report.into()),
            // With all files together, all callers may be known.
            _ if phase.may_defer() => return Ok((Outcome::Deferred, Vec::new())),
            why => {
                let what = format!(
                    "which function '{}' is to differentiate is not known when the program is compiled",
                    call.callee
                );
                return Err(Report::new(codes::E0103, what).note(why).into());
            }
        },
    };
    let mut marker = match marker::parse(&session.ir, call, mode, func) {
        Ok(marker) => marker,
        // What the annotations alone do not say takes memory of its own.
        Err(_) if sized.is_some() => {
            let wrapper = tape_size::wrapper(&mut session.ir, asker, 0, number);
            return replace(session, engine, asker, Vec::new(), wrapper);
        }
        Err(report) => return Err(report.into()),
    };
    fortran::check_shapes(session, call, &marker)?;
    marker.settings.kept_tapes = engine.keeps_tapes && matches!(mode, Mode::Augmented | Mode::Gradient);
    if marker.settings.content == enzyme_diff::Content::Dependence
        && session.find_function(enzyme_diff::UNION).is_none()
    {
        let what = format!("'{}' needs '{}'", call.callee, enzyme_diff::UNION);
        return Err(Report::new(codes::E0108, what).note("<enzyme/sparsity.h> has it: include that header").into());
    }
    let transposed = forward_split::is_sweep(call);
    // The tape is the same, what reads it is not.
    let layout = wrapper::layout_of(&session.ir, call, &marker) ^ u64::from(transposed);
    if let Some((_, _, made)) = engine.kept.iter().find(|(m, n, _)| *m == mode && *n == layout).cloned() {
        return put(session, engine, asker, &marker, &made, Vec::new(), number);
    }
    let ruled = session.ir.stated.rules.contains_key(&func);
    if session.ir.funcs[func].is_declaration() && !session.has_body(func) && !ruled {
        if phase.may_defer() {
            return Ok((Outcome::Deferred, Vec::new()));
        }
        let name = session.ir.funcs[func].name.clone();
        return Err(Report::new(codes::E0104, format!("'{name}' has no body here")).into());
    }
    let reached = import(session, prepare, func, &mut engine.timing)?;
    let notes = std::mem::take(&mut session.notes);
    if options.print_plan {
        engine.log.text.push_str(&notes);
    }
    if phase.may_defer() && !is_closed(session, &reached) {
        return Ok((Outcome::Deferred, Vec::new()));
    }
    refuse_packed(session, &marker, func)?;
    if options.print {
        for f in &reached {
            eprintln!("{}", enzyme_ir::text::print_func(&session.ir, &session.ir.funcs[*f]));
            eprintln!("; {:?}", session.facts(*f));
        }
    }
    let facts: BTreeMap<FuncId, Facts> = reached.iter().map(|f| (*f, session.facts(*f).clone())).collect();
    let params: Vec<ParamActivity> = marker.params.iter().map(|p| p.activity).collect();
    let result = ResultUse { value: marker.settings.primal, constant: marker.settings.constant_result };
    let request = Request {
        func,
        mode,
        params,
        result,
        width: marker.settings.width,
        tested: marker.settings.tested,
        keeps: marker.settings.kept_tapes,
        transposed,
    };
    // Both halves of a split derivative are made at once, so that they agree on the tape.
    let (request, other) = match mode {
        Mode::Augmented => (request.clone(), Some(Request { mode: Mode::Gradient, ..request })),
        Mode::Gradient => (request.clone(), Some(Request { mode: Mode::Augmented, ..request })),
        Mode::Forward | Mode::Combined => (request, None),
    };
    let fast = if options.fast_math { FastMath::all() } else { FastMath::empty() };
    let dearer = if prepare.checkpoints.is_some_and(|c| c.max_tape > 0) { LIMITED } else { 1 };
    let cache_price = enzyme_diff::CachePrice((options.cache_price.max(0) as u64).saturating_mul(dearer));
    let strong_zero = options.strong_zero || marker.settings.strong_zero;
    let content = marker.settings.content;
    let atomic = marker.settings.atomic;
    let synthesis = enzyme_diff::Options { fast, strong_zero, content, cache_price, atomic };
    // What was made without the stronger zero is not taken for a call that wants it, nor the other way round; nor are bounds or sets taken for tangents.
    let alone = strong_zero != options.strong_zero || content != enzyme_diff::Content::Tangent || atomic;
    if alone {
        engine.forget_made();
    }
    engine.log.unlimited.clear();
    let made = engine.differentiate(&mut session.ir, &facts, &request, synthesis);
    let made = made.and_then(|first| match &other {
        Some(r) => match engine.differentiate(&mut session.ir, &facts, r, synthesis) {
            Ok(second) => Ok((first, Some(second))),
            // A tape that is never gone back on, but has tangents.
            Err(_) if has_tangents(session, engine, &facts, r, synthesis) => Ok((first, None)),
            Err(refused) => Err(refused),
        },
        None => Ok((first, None)),
    });
    if alone {
        engine.forget_made();
    }
    let derivative = match made {
        Ok((first, second)) => {
            if let (Some(r), Some(second)) = (other, second) {
                engine.kept.push((r.mode, layout, second));
                engine.kept.push((mode, layout, first.clone()));
            }
            first
        }
        Err(refused) => {
            let units = engine.units(&mut session.ir, &facts, func);
            let reports = refused.iter().map(|r| from_refusal(&session.ir, &units, r)).collect();
            return Err(failure(session, prepare, func, &reached, &refused, reports));
        }
    };
    if options.print {
        for f in &engine.written[already..] {
            eprintln!("{}", enzyme_ir::text::print_func(&session.ir, &session.ir.funcs[*f]));
        }
    }
    warn_of_limits(session, std::mem::take(&mut engine.log.unlimited));
    let functions = engine.written[already..].to_vec();
    put(session, engine, asker, &marker, &derivative, functions, number)
}

/// Says which loops may keep more than the limit on the tape grants.
fn warn_of_limits(session: &mut Session, loops: Vec<(FuncId, Option<LocId>, String)>) {
    for (function, loc, why) in loops {
        let message = format!("what this loop keeps for its gradient has no limit: {}", names::readable(&why));
        session.diagnose(&Diagnostic {
            severity: Severity::Warning,
            code: "",
            message,
            notes: Vec::new(),
            help: "docs/checkpointing.md says which loops can be checkpointed; -enzyme-print-plan says what they keep",
            function: Some(function),
            loc,
        });
    }
}

/// Refuses an integer of which parts are floats, if nothing is said of it: that it is constant would be a guess.
fn refuse_packed(session: &Session, marker: &Marker, func: FuncId) -> Result<(), Report> {
    let func = &session.ir.funcs[func];
    let implied = |n: &usize| marker.params.get(*n).is_some_and(|p| p.is_implied);
    match enzyme_analysis::packed::given(&session.ir, func).into_iter().find(implied) {
        Some(n) => {
            let what = format!(
                "parameter {} of '{}' holds floats within an integer, and nothing is said of it",
                n + 1,
                func.name
            );
            Err(Report::new(codes::E0109, what)
                .note("'enzyme_const' before it says that it is constant; else pass the structure by its address"))
        }
        None => Ok(()),
    }
}

/// Whether the program gives rules for tangents on the tape of `request`, and they suffice for these.
fn has_tangents(
    session: &mut Session,
    engine: &mut Engine,
    facts: &BTreeMap<FuncId, Facts>,
    request: &Request,
    options: enzyme_diff::Options,
) -> bool {
    let stated = session.ir.stated.rules.values().any(|rule| rule.transposed.is_some());
    let transposed = Request { transposed: true, ..request.clone() };
    stated
        && request.mode == Mode::Gradient
        && engine.differentiate(&mut session.ir, facts, &transposed, options).is_ok()
}

/// Puts a derivative, of which `functions` are new, in the place of a marker call.
fn put(
    session: &mut Session,
    engine: &mut Engine,
    call: &MarkerCall,
    marker: &Marker,
    derivative: &Derivative,
    functions: Vec<FuncId>,
    number: usize,
) -> Result<(Outcome, Vec<FuncId>), Failure> {
    forward_split::check(&session.ir, engine, call, derivative.func)?;
    let made = wrapper::Made {
        derivative: derivative.clone(),
        globals: &engine.globals,
        tape: engine.tapes.get(&derivative.func).copied(),
    };
    let wrapper = if call.callee.contains(AUGMENT_SIZE) {
        tape_size::wrapper(&mut session.ir, call, made.tape.unwrap_or(0), number)
    } else {
        wrapper::build(&mut session.ir, call, marker, &made, number)?
    };
    replace(session, engine, call, functions, wrapper)
}

/// Exports `functions` and `wrapper`, and lets the marker call call that.
fn replace(
    session: &mut Session,
    engine: &mut Engine,
    call: &MarkerCall,
    mut functions: Vec<FuncId>,
    wrapper: FuncId,
) -> Result<(Outcome, Vec<FuncId>), Failure> {
    let helpers = session.ir.funcs.iter().filter(|(_, f)| f.name.starts_with("enzyme.rt.") && !f.is_declaration());
    functions.extend(helpers.map(|h| h.0).filter(|h| !session.has_llvm(*h)));
    functions.push(wrapper);
    let exported = engine.timing.of("export", || session.export(&functions));
    exported.map_err(|problems| problems.iter().map(|p| from_problem(p, codes::E0901)).collect::<Vec<_>>())?;
    session.replace_marker(call, wrapper).map_err(|p| from_problem(&p, codes::E0901))?;
    Ok((Outcome::Replaced, functions))
}
