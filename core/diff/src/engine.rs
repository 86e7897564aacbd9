//! From a request to finished functions: the work list over everything that a derivative calls.
//!
//! Derivatives are declared before they are written, so that recursion closes; each key is written once. All is pure:
//! the module is the only thing that grows.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::rc::Rc;

use enzyme_analysis::{Activities, Conflict, Context, Program, State, Timing, Units};
use enzyme_ir::{Const, Facts, FastMath, Func, FuncId, Linkage, LocId, Module, Type, ValueId};

use crate::keys::{Key, Subject};
use crate::plan::Plan;
use crate::refusal::{Refusal, RefusalKind};
use crate::request::{DerivativeKey, Derivatives, Mode, Signature, signature};
use crate::reverse::{Content, Options, ShadowGlobals};
use crate::shape::Shape;
use crate::story::Story;
use crate::undo::NOTHING;

/// How often words that only move are looked for: each time, addresses are followed through those that were found.
const MOVED_ROUNDS: usize = 16;
/// Of so many functions that were asked for what is known is kept.
const KNOWN: usize = 4;

/// Activity of a parameter, as the user states it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ParamActivity {
    /// Nothing flows through it.
    Const,
    /// An active scalar: its adjoint is returned, or its tangent is given.
    Active,
    /// A pointer with a shadow, or (forward) a scalar with a tangent.
    Dup,
}

/// A derivative that a user asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// The primal function.
    pub func: FuncId,
    /// [`Mode::Forward`] or [`Mode::Combined`].
    pub mode: Mode,
    /// One per parameter.
    pub params: Vec<ParamActivity>,
    /// What is wanted of the result.
    pub result: ResultUse,
    /// Number of lanes.
    pub width: u32,
    /// Whether memory has a shadow is tested at run time: a shadow pointer that is the pointer itself says that it has none.
    pub tested: bool,
    /// The reverse sweep may run more than once on one tape; matters to split modes only.
    pub keeps: bool,
    /// The reverse sweep is transposed afterwards, as tangents on its tape are wanted.
    pub transposed: bool,
}

/// What a derivative does with the result of the primal function.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ResultUse {
    /// It is returned beside the derivative.
    pub value: bool,
    /// It is constant: neither seeded nor given a tangent.
    pub constant: bool,
}

/// A finished derivative.
#[derive(Clone, PartialEq, Debug)]
pub struct Derivative {
    /// The function.
    pub func: FuncId,
    /// Where its parts are.
    pub signature: Signature,
}

/// A refusal, and the function in which its instruction stands.
#[derive(Clone, PartialEq, Debug)]
pub struct Refused {
    /// The primal function.
    pub func: FuncId,
    /// Why.
    pub refusal: Refusal,
}

/// What was made so far in one module.
#[derive(Clone, Debug, Default)]
pub struct Engine {
    made: BTreeMap<DerivativeKey, (FuncId, Signature)>,
    /// What is known of the last functions that were asked for, and of all that they call.
    known: VecDeque<(FuncId, Rc<Units>)>,
    /// Functions written, in order.
    pub written: Vec<FuncId>,
    /// Both halves of the split derivatives that were asked for, each with a number that tells these apart.
    pub kept: Vec<(Mode, u64, Derivative)>,
    /// The bytes of the tapes that lie where the caller of these functions says. The tapes of others are memory of their own.
    pub tapes: BTreeMap<FuncId, u64>,
    /// Some reverse sweep of the module leaves its tape for another.
    pub keeps_tapes: bool,
    /// Reverse sweeps that find addresses of shadows on their tapes.
    pub remembering: BTreeSet<FuncId>,
    /// Shadows of global variables.
    pub globals: ShadowGlobals,
    /// Calls of functions for which the program gives derivatives, of which derivatives were made: the function, the mode, and the
    /// place of the call.
    pub ruled: BTreeSet<(FuncId, Mode, String)>,
    /// What was decided, as text.
    pub log: Log,
    /// Where the time went.
    pub timing: Timing,
}

/// Results of the analyses and plans as text, where they are asked for.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// Keep the results of type analysis.
    pub wants_types: bool,
    /// Keep the results of activity analysis.
    pub wants_activity: bool,
    /// Keep the plans.
    pub wants_plans: bool,
    /// What was kept, in order.
    pub text: String,
    /// What is told of each derivative, if it is to be.
    pub stories: Option<Vec<Story>>,
    /// Loops that may keep more than a limit grants since they cannot be checkpointed: function, place, and why.
    pub unlimited: Vec<(FuncId, Option<LocId>, String)>,
}

struct Library<'a> {
    units: &'a Units,
    activities: &'a Activities,
    made: &'a mut BTreeMap<DerivativeKey, (FuncId, Signature)>,
    work: &'a mut Work,
}

/// Derivatives that are still to be written, and the names that are taken in the module.
struct Work {
    queue: Vec<DerivativeKey>,
    names: HashSet<String>,
}

impl Derivatives for Library<'_> {
    fn get(&mut self, module: &mut Module, key: &DerivativeKey) -> Option<(FuncId, Signature)> {
        if let Some(found) = self.made.get(key) {
            return Some(found.clone());
        }
        let unit = self.units.get(key.func)?;
        let activity = self.activities.get(key.func, &key.context)?;
        let primal = module.funcs[key.func].clone();
        let sig = signature(module, &primal, unit, activity, key);
        let stem = format!("enzyme.{}.{}", key.mode.word(), primal.name);
        let mut name = stem.clone();
        let mut n = 1;
        while !self.work.names.insert(name.clone()) {
            n += 1;
            name = format!("{stem}.{n}");
        }
        let ty = module.ctx.types.func(sig.ret, sig.params.clone());
        let mut func = Func::new(name, ty, &sig.params);
        func.linkage = Linkage::Internal;
        let id = module.funcs.push(func);
        self.made.insert(key.clone(), (id, sig.clone()));
        self.work.queue.push(key.clone());
        Some((id, sig))
    }

    fn loses(&self, module: &Module, func: FuncId, context: &Context) -> bool {
        crate::unwind::loses(module, self.units, self.activities, func, context)
    }

    fn checkpointed(&self, module: &Module, key: &DerivativeKey) -> Result<(), &'static str> {
        let parts = (self.units.get(key.func), self.activities.get(key.func, &key.context));
        let (Some(unit), Some(activity)) = parts else { return Err("nothing flows through it") };
        let func = &module.funcs[key.func];
        let outlined = crate::checkpoint::recognise(module, func).ok_or("it is no loop any more")?;
        if key.width != 1 {
            return Err("its derivative has several lanes");
        }
        crate::checkpoint::plan(outlined, func, unit, activity, key).map(|_| ())
    }
}

/// The context in which a request calls its function.
pub fn context_of(module: &Module, units: &Units, request: &Request) -> Result<Context, Refused> {
    let fail = |kind| Refused { func: request.func, refusal: Refusal::new(kind) };
    let unit = units.get(request.func).ok_or_else(|| fail(RefusalKind::Internal("no analysis".into())))?;
    let func = &module.funcs[request.func];
    let types = &module.ctx.types;
    let mut classes: BTreeMap<_, State> = BTreeMap::new();
    let mut scalars = Vec::new();
    for (i, p) in func.params.iter().enumerate() {
        let activity = request.params.get(i).copied().unwrap_or(ParamActivity::Const);
        let ty = func.ty(*p);
        let carries = unit.carry[*p].may() || types.contains_float(ty);
        scalars.push(activity != ParamActivity::Const && carries);
        let Some(class) = unit.memory.params.get(i).copied().flatten().filter(|_| types.contains_pointer(ty)) else {
            continue;
        };
        let state = match activity {
            ParamActivity::Const => State::Pinned,
            ParamActivity::Active | ParamActivity::Dup if request.tested => State::Mixed,
            ParamActivity::Active | ParamActivity::Dup => State::Shadowed,
        };
        for c in unit.memory.chain(class).into_iter().filter(|c| !unit.memory.is_code(*c)) {
            let known = classes.entry(c).or_insert(state);
            if *known != state {
                *known = State::Mixed;
            }
        }
    }
    let has_result = match &types[func.sig] {
        Type::Func { ret, .. } => types[*ret] != Type::Void,
        _ => false,
    };
    Ok(Context { scalars, classes, ret: has_result && !request.result.constant })
}

impl Engine {
    /// An engine that has made nothing yet.
    pub fn new(log: Log) -> Engine {
        Engine { log, ..Engine::default() }
    }

    /// Forgets what was made, which stays as it is: the bodies of primal functions are about to be replaced, and with
    /// them what is known of their memory.
    pub fn forget(&mut self) {
        self.forget_made();
        self.known.clear();
    }

    /// Forgets what was made, which stays as it is: what is asked for next is made in another way.
    pub fn forget_made(&mut self) {
        self.made.clear();
    }

    /// What is known of `f` and all that it calls: of each derivative of one function the same.
    pub fn units(&mut self, module: &mut Module, facts: &BTreeMap<FuncId, Facts>, f: FuncId) -> Rc<Units> {
        let mut reached = vec![f];
        let mut n = 0;
        while let Some(f) = reached.get(n).copied() {
            crate::normalise::by_value(module, f);
            let more = enzyme_analysis::program::callees(module, &module.funcs[f]);
            reached.extend(more.into_iter().filter(|g| !reached.contains(g)).collect::<Vec<_>>());
            n += 1;
        }
        // Functions that were asked for themselves have bodies from then on, also where others call them.
        reached.sort_unstable();
        let is_same =
            |(root, units): &&(FuncId, Rc<Units>)| *root == f && units.functions().eq(reached.iter().copied());
        if let Some((_, units)) = self.known.iter().find(is_same) {
            return Rc::clone(units);
        }
        let mut units = Units::analyze_timed(module, facts, &[f], &mut self.timing);
        // Addresses that are followed further may lead to more of them.
        for _ in 0..MOVED_ROUNDS {
            if !crate::moved::take_apart(module, &units) {
                break;
            }
            self.known.clear();
            units = Units::analyze_timed(module, facts, &[f], &mut self.timing);
        }
        let units = Rc::new(units);
        self.known.retain(|(root, _)| *root != f);
        self.known.truncate(KNOWN - 1);
        self.known.push_front((f, Rc::clone(&units)));
        units
    }

    /// Makes the derivative that `request` asks for, and all that it calls.
    pub fn differentiate(
        &mut self,
        module: &mut Module,
        facts: &BTreeMap<FuncId, Facts>,
        request: &Request,
        options: Options,
    ) -> Result<Derivative, Vec<Refused>> {
        let mut units = self.units(module, facts, request.func);
        let context = context_of(module, &units, request).map_err(|r| vec![r])?;
        let packed = if context.ret { units.packed_result(module, request.func) } else { Vec::new() };
        if !packed.is_empty() {
            Rc::make_mut(&mut units).take_packed_result(request.func, &packed);
        }
        let reached: Vec<FuncId> = units.functions().collect();
        let mut activities = Activities::default();
        let program = Program { module, units: &units };
        self.timing.of("analysis: activity", || activities.solve(&program, request.func, context.clone()));
        self.report(module, &units, &activities);
        if let Some(activity) = activities.get(request.func, &context)
            && let Some(v) = packed.iter().find(|v| activity.is_active(**v))
        {
            let refusal = Refusal { kind: RefusalKind::PackedResult, inst: module.funcs[request.func].def_inst(*v) };
            return Err(vec![Refused { func: request.func, refusal }]);
        }
        let refused = conflicts(&activities, request.func, &context);
        if !refused.is_empty() {
            return Err(refused);
        }
        if request.mode != Mode::Forward
            && let Some((func, refusal)) = crate::moved::left(module, &units, &activities)
                .or_else(|| crate::handed::lost(module, &units, &activities))
        {
            return Err(vec![Refused { func, refusal }]);
        }
        if request.mode != Mode::Forward
            && let Some(i) = crate::owned::reallocates(module, &units, request.func, &context)
        {
            let what = "reallocation of memory that the caller of the derivative owns";
            let refusal = Refusal::new(RefusalKind::Operation(what.to_owned())).at(i);
            return Err(vec![Refused { func: request.func, refusal }]);
        }
        let unwinds = request.mode != Mode::Forward && reached.iter().any(|f| crate::unwind::may_unwind(module, *f));
        let value = request.result.value && request.mode == Mode::Combined;
        // Two sweeps that are asked for by themselves have no place for the second list.
        let rules = &module.stated.rules;
        let multiplies = reached.iter().any(|f| rules.get(f).is_some_and(|rule| rule.product));
        let products = unwinds && request.mode == Mode::Combined && multiplies;
        let (kept, own) = (BTreeSet::new(), BTreeSet::new());
        let key = DerivativeKey {
            func: request.func,
            mode: request.mode,
            context,
            kept,
            own,
            unwinds: unwinds || request.keeps,
            products,
            keeps: request.keeps,
            transposed: request.transposed,
            placed: matches!(request.mode, Mode::Augmented | Mode::Gradient),
            value,
            width: request.width.max(1),
        };
        let names = module.funcs.values().map(|f| f.name.clone()).collect();
        let mut work = Work { queue: Vec::new(), names };
        // A refused request leaves nothing behind that a later one could call.
        let before = (self.made.clone(), self.globals.clone(), self.written.len());
        let mut made = std::mem::take(&mut self.made);
        let mut library = Library { units: &units, activities: &activities, made: &mut made, work: &mut work };
        let root = library.get(module, &key);
        let mut failed = Vec::new();
        while let Some(next) = work.queue.pop() {
            let written = self.write(module, &units, &activities, &mut made, &mut work, &next, options);
            if let Err(refusal) = written {
                failed.push(Refused { func: next.func, refusal });
            }
        }
        self.made = made;
        if !failed.is_empty() {
            (self.made, self.globals) = (before.0, before.1);
            self.written.truncate(before.2);
            return Err(failed);
        }
        match root {
            Some((func, signature)) => Ok(Derivative { func, signature }),
            None => {
                let refusal = Refusal::new(RefusalKind::Internal("the derivative was not declared".into()));
                Err(vec![Refused { func: request.func, refusal }])
            }
        }
    }

    fn report(&mut self, module: &Module, units: &Units, activities: &Activities) {
        let program = Program { module, units };
        if self.log.wants_types {
            for f in units.functions() {
                self.log.text.push_str(&enzyme_analysis::print::types(&program, f));
            }
        }
        if self.log.wants_activity {
            for (f, activity) in activities.all() {
                self.log.text.push_str(&enzyme_analysis::print::activity(&program, f, activity));
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the state of one loop, split for the borrow checker")]
    fn write(
        &mut self,
        module: &mut Module,
        units: &Units,
        activities: &Activities,
        made: &mut BTreeMap<DerivativeKey, (FuncId, Signature)>,
        work: &mut Work,
        key: &DerivativeKey,
        options: Options,
    ) -> Result<(), Refusal> {
        let lost = || Refusal::new(RefusalKind::Internal("an analysis was lost".into()));
        let unit = units.get(key.func).ok_or_else(lost)?;
        let activity = activities.get(key.func, &key.context).ok_or_else(lost)?;
        let (id, sig) = made.get(key).cloned().ok_or_else(lost)?;
        let func = module.funcs[key.func].clone();
        let mut options = options;
        if contracts(module, &func) {
            options.fast |= FastMath::CONTRACT;
        }
        if module.signature(key.func).2 && starts_list(module, &func) {
            let what = format!(
                "'{}', which takes a variable number of arguments (differentiated for x86-64 alone)",
                func.name
            );
            return Err(Refusal::new(RefusalKind::Operation(what)));
        }
        let shape = if key.mode == Mode::Forward {
            // Control flow is only copied; nothing is asked of it.
            Shape::unchecked(&func)
        } else {
            self.timing.of("plan: control flow", || Shape::new(module, &func, &unit.facts))?
        };
        let s = Subject { func: &func, unit, activity, shape: &shape, key, undo: &NOTHING };
        if let Some(rule) = module.stated.rules.get(&key.func).cloned() {
            if options.content != Content::Tangent {
                let what = match options.content {
                    Content::Dependence => "what the result depends on can't be told from",
                    _ => "the rounding error can't be bounded by",
                };
                let what = format!("{what} the derivative that the program gives for '{}'", func.name);
                return Err(Refusal::new(RefusalKind::Rule(what)));
            }
            let is_mixed = |c: &Option<enzyme_analysis::ClassId>| c.is_some_and(|c| activity.mixed.contains(&c));
            let mixed: Vec<bool> = unit.memory.params.iter().map(is_mixed).collect();
            let remembers = !(key.transposed && rule.transposed.is_some());
            if remembers && !rule.product && func.params.iter().any(|p| s.has_shadow(*p)) {
                self.remembering.insert(id);
            }
            let adds = func.params.iter().any(|p| s.has_shadow(*p));
            if options.atomic && adds && !rule.product && matches!(key.mode, Mode::Combined | Mode::Gradient) {
                let what = format!(
                    "the derivative that the program gives for '{}', where sums of adjoints in memory must be atomic",
                    func.name
                );
                return Err(Refusal::new(RefusalKind::Operation(what)));
            }
            let flags = crate::custom::product::flags(&unit.memory.params, key, options);
            let written = crate::custom::synthesise(module, id, &func, key, &sig, &rule, (&mixed, flags))?;
            module.funcs[id] = written;
            self.written.push(id);
            return Ok(());
        }
        for i in activity.calls.keys() {
            let callee = module.direct_callee(&func, *i).filter(|g| module.stated.rules.contains_key(g));
            if let Some(g) = callee {
                self.ruled.insert((g, key.mode, crate::reverse::place_of(module, &func, *i)));
            }
        }
        let mut library = Library { units, activities, made, work };
        let mut story = None;
        let outlined =
            crate::checkpoint::recognise(module, &func).filter(|_| s.is_split() && key.width == 1 && !key.keeps);
        let checkpointed = outlined.map(|o| crate::checkpoint::plan(o, &func, unit, activity, key));
        if let (Some(Err(why)), true, Mode::Augmented) = (&checkpointed, self.log.wants_plans, key.mode) {
            self.log.text.push_str(&format!("@{} is not checkpointed: {why}\n", func.name));
        }
        let written = if let Some(Ok(plan)) = &checkpointed {
            self.remembering.insert(id);
            crate::checkpoint::synthesise(module, id, s, plan, &sig, &mut library)?
        } else if key.mode == Mode::Forward {
            story = self.log.stories.as_ref().map(|_| crate::story::tell(module, &s, None, &module.funcs[id].name));
            let globals = &mut self.globals;
            let write = || crate::tangent::synthesise(module, id, s, sig, &mut library, globals, options);
            self.timing.of("synthesis", write)?
        } else {
            let plan = self.timing.of("plan: cache or recompute", || Plan::new(module, &s, options.cache_price))?;
            let s = Subject { undo: &plan.undo, ..s };
            let unlimited = crate::checkpoint::unlimited(module, &s, &plan, &library);
            self.log.unlimited.extend(unlimited.into_iter().map(|(loc, why)| (key.func, loc, why)));
            if self.log.wants_plans {
                self.log.text.push_str(&format!("plan of @{}\n{plan}", module.funcs[id].name));
                self.log.text.push_str(&crate::plan::describe(module, &s, &plan));
                self.log.text.push_str(&crate::checkpoint::describe(module, &s, &plan));
            }
            let told = || crate::story::tell(module, &s, Some(&plan), &module.funcs[id].name);
            story = self.log.stories.as_ref().map(|_| told());
            if plan.choice.cached.iter().any(|k| matches!(k, Key::Shadow(_))) {
                self.remembering.insert(id);
            }
            let globals = &mut self.globals;
            let write = || crate::reverse::synthesise(module, id, s, &plan, sig, &mut library, globals, options);
            let (written, bytes) = self.timing.of("synthesis", write)?;
            if key.placed {
                self.tapes.insert(id, bytes);
            }
            written
        };
        let mut written = written;
        self.timing.of("slots to values", || enzyme_ir::promote::promote(&mut module.ctx, &mut written));
        if let (Some(mut story), Some(stories)) = (story, &mut self.log.stories) {
            story.write(module, &written);
            // A request that is tried again in another way tells the last one.
            stories.retain(|other| other.derivative != story.derivative);
            stories.push(story);
        }
        module.funcs[id] = written;
        self.written.push(id);
        Ok(())
    }
}

/// Conflicts in all contexts reached, each once.
fn conflicts(activities: &Activities, root: FuncId, context: &Context) -> Vec<Refused> {
    let mut out: Vec<Refused> = Vec::new();
    let mut seen = BTreeSet::new();
    let mut work = vec![(root, context.clone())];
    let (mut thrown, mut caught) = (false, None);
    while let Some((f, ctx)) = work.pop() {
        if !seen.insert((f, ctx.clone())) {
            continue;
        }
        let Some(activity) = activities.get(f, &ctx) else { continue };
        thrown |= activity.thrown.is_some();
        caught = caught.or(activity.caught.map(|i| (f, i)));
        for c in &activity.conflicts {
            let inst = match c {
                Conflict::LostInPinned { store, .. } => Some(*store),
                Conflict::UnknownCall(i)
                | Conflict::IndirectCall(i)
                | Conflict::Unsupported(i, _)
                | Conflict::BitTrick(i)
                | Conflict::ReturnsTwice(i)
                | Conflict::Assembly(i) => Some(*i),
            };
            let refused = Refused { func: f, refusal: Refusal { kind: RefusalKind::Conflict(c.clone()), inst } };
            if !out.contains(&refused) {
                out.push(refused);
            }
        }
        work.extend(activity.callees.iter().cloned());
    }
    if let Some((func, i)) = caught.filter(|_| thrown) {
        let kind = RefusalKind::Conflict(Conflict::Unsupported(i, "active data carried by an exception"));
        out.push(Refused { func, refusal: Refusal { kind, inst: Some(i) } });
    }
    out
}

/// Whether a product and a sum of the function may be one operation, rounded once: then those of its derivative may, too.
fn contracts(module: &Module, func: &Func) -> bool {
    let is_multiply_add = |v: ValueId| match func.as_const(v).map(|c| &module.ctx.consts[c]) {
        Some(Const::Func(f)) => module.funcs[*f].name.starts_with("llvm.fmuladd."),
        _ => false,
    };
    func.placed()
        .any(|(_, i)| func.insts[i].fast.contains(FastMath::CONTRACT) || func.callee(i).is_some_and(is_multiply_add))
}

/// Whether the function looks at its variable arguments.
fn starts_list(module: &Module, func: &Func) -> bool {
    let starts = |v: ValueId| match func.as_const(v).map(|c| &module.ctx.consts[c]) {
        Some(Const::Func(f)) => module.funcs[*f].name.starts_with("llvm.va_start"),
        _ => false,
    };
    func.placed().any(|(_, i)| func.callee(i).is_some_and(starts))
}
