//! Checkpointed loops in reverse mode: the forward sweep keeps states by a schedule, the reverse sweep repeats steps.
//!
//! Preparation branches off loops as functions: the *steps*, at most as many as they are told, and a *loop* that calls them
//! once for all (the bridge's `checkpoint.cpp` says what passes between them). The augmented derivative of such a loop calls
//! the primal steps, the gradient the steps again and, at those to be reversed, their combined derivative: only these have
//! caches. How many at a time, and which states are kept when, the schedule knows, a few functions of C in the user's module.
//!
//! ```text
//!   augmented:  new, region..., begin; do { n = before() } while (steps(n) == 0)
//!   gradient:   turn; while (n = next()) n > 0 ? steps(n) : derivative of steps(-n)
//! ```
//!
//! The schedule writes the state of the loop's memory and puts back what was there in the end, so nobody else notices.
//! What the loop reads and does not write must be as it was: it is, if the key says that the memory is kept; else it is
//! saved once as well, if its extent is known. Where that fails, or where written memory holds pointers (their shadows
//! would have to go back too), the loop function has its ordinary derivative, which is right and takes more memory.
//!
//! Whether the branch with the loop function is taken is decided at run time, by what the plan of the plain loop would
//! cache: bytes of rows times iterations.

use std::collections::{BTreeMap, BTreeSet};

use enzyme_analysis::{Activity, Callee, Unit, resolve};
use enzyme_ir::cfg::LoopId;
use enzyme_ir::{BinOp, BlockId, CastOp, Func, FuncId, InstId, IntPred, LocId, MemClass, Module, Op, ValueId};

use crate::emit::Emit;
use crate::keys::{Key, Subject};
use crate::plan::{Plan, Rows};
use crate::refusal::{Refusal, RefusalKind};
use crate::request::{DerivativeKey, Derivatives, Mode, Signature};
use crate::reverse::Reverse;
use crate::schedule::{done_again, share_out};

/// Prefix of the names of loop functions.
pub const LOOP: &str = "enzyme.checkpoint.loop.";
/// Prefix of the names of functions that ask whether a loop is to be checkpointed.
pub const WANTED: &str = "enzyme.checkpoint.wanted.";
/// Name of the function that asks for a loop's share of the limit.
pub const SHARE: &str = "enzyme.checkpoint.share";
/// Prefix of the names of functions that ask what a loop would cache in each step.
pub const ROW: &str = "enzyme.checkpoint.row.";

/// Prefix of the name of a function that is called, with the limit, before a loop which cannot be checkpointed; the reason follows.
pub const REFUSED: &str = "enzyme.checkpoint.refused.";

/// Parameters of a loop function between those of the steps and the regions.
const FIXED: usize = 4;
/// Arguments of the question before the trip counts: the limit, and what checkpoints take at least.
const ASKED: usize = 2;
/// Bytes that the list of states takes for each (`checkpoint.c`).
const ENTRY: u64 = 48;

/// A loop function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outlined {
    /// The call of the steps.
    pub call: InstId,
    /// The steps.
    pub steps: FuncId,
    /// Number of their parameters, which are the first of the loop's, without the last, which says how many may be done.
    pub inputs: usize,
    /// Number of regions that the loop may write, which are the first.
    pub written: usize,
    /// Whether the regions hold all that the loop reads.
    pub complete: bool,
}

/// Whether `func` is a loop function.
pub fn recognise(module: &Module, func: &Func) -> Option<Outlined> {
    let rest = func.name.strip_prefix(LOOP)?;
    let mut parts = rest.split('.');
    let complete = parts.next()? == "all";
    let written: usize = parts.next()?.parse().ok()?;
    let is_call = |i: &InstId| matches!(func.insts[*i].op, Op::Call(_));
    let mut calls = func.placed().map(|e| e.1).filter(is_call);
    let (call, None) = (calls.next()?, calls.next()) else { return None };
    let Callee::Defined(steps) = resolve(module, func, call) else { return None };
    let (_, args) = func.call_args(call).split_last()?;
    let inputs = args.len();
    let same = args.iter().zip(&func.params).all(|(a, p)| a == p);
    let regions = func.params.len().checked_sub(inputs + FIXED)?;
    (same && regions.is_multiple_of(2) && 2 * written <= regions).then_some(Outlined {
        call,
        steps,
        inputs,
        written,
        complete,
    })
}

/// How a loop function is checkpointed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checkpointed {
    /// The loop.
    pub outlined: Outlined,
    /// Regions that are saved: those that it writes, and of those that it only reads what may be overwritten later.
    pub saved: BTreeSet<usize>,
}

/// How the loop function `func` is checkpointed; else why it is not.
pub fn plan(
    outlined: Outlined,
    func: &Func,
    unit: &Unit,
    activity: &Activity,
    key: &DerivativeKey,
) -> Result<Checkpointed, &'static str> {
    if !activity.calls.contains_key(&outlined.call) {
        return Err("nothing flows through it");
    }
    if !outlined.complete && !unit.outer_classes.iter().all(|c| key.kept.contains(c)) {
        return Err("it reads memory that may be overwritten later, and whose extent is not known before it");
    }
    let mut saved = BTreeSet::new();
    for (n, p) in func.params.iter().skip(outlined.inputs + FIXED).step_by(2).enumerate() {
        let class = unit.memory.class_of[*p];
        if n >= outlined.written && class.is_some_and(|c| key.kept.contains(&c)) {
            continue;
        }
        let holds_pointers = |c| unit.memory.classes[c].has_pointers() || unit.memory.classes[c].targets().count() > 0;
        if class.is_some_and(holds_pointers) {
            return Err("it writes memory that may hold pointers");
        }
        saved.insert(n);
    }
    Ok(Checkpointed { outlined, saved })
}

/// Writes the augmented or gradient derivative of the loop function of `s`.
pub fn synthesise(
    module: &mut Module,
    id: FuncId,
    s: Subject<'_>,
    plan: &Checkpointed,
    sig: &Signature,
    derivatives: &mut dyn Derivatives,
) -> Result<Func, Refusal> {
    let declared = &module.funcs[id];
    let mut func = Func::new(declared.name.clone(), declared.sig, &sig.params);
    func.linkage = enzyme_ir::Linkage::Internal;
    let mut w = Writer { e: Emit::new(module, func), s, plan, sig };
    let start = w.e.new_block("start");
    w.e.block = start;
    match s.key.mode {
        Mode::Augmented => w.augmented(),
        Mode::Gradient => w.gradient(derivatives)?,
        Mode::Combined | Mode::Forward => return Err(internal("a checkpointed loop in another mode")),
    }
    Ok(w.e.finish(start))
}

fn internal(what: &str) -> Refusal {
    Refusal::new(RefusalKind::Internal(what.into()))
}

struct Writer<'a, 'm> {
    e: Emit<'m>,
    s: Subject<'a>,
    plan: &'a Checkpointed,
    sig: &'a Signature,
}

impl Writer<'_, '_> {
    fn primal(&mut self, n: usize) -> ValueId {
        self.e.func.params[self.sig.primal[n]]
    }

    fn steps(&mut self, count: ValueId) -> ValueId {
        let mut args: Vec<ValueId> = (0..self.plan.outlined.inputs).map(|n| self.primal(n)).collect();
        args.push(count);
        self.e.call_func(self.plan.outlined.steps, &args)
    }

    fn augmented(&mut self) {
        let [ptr, void, i64] = {
            let types = &mut self.e.module.ctx.types;
            [types.ptr(), types.void(), types.int(64)]
        };
        let inputs = self.plan.outlined.inputs;
        let fixed: Vec<ValueId> = (inputs..inputs + FIXED).map(|n| self.primal(n)).collect();
        let schedule = self.e.call("enzyme_checkpoint_new", ptr, &fixed);
        for (n, at) in (inputs + FIXED..self.s.func.params.len()).step_by(2).enumerate() {
            if self.plan.saved.contains(&n) {
                let is_written = n < self.plan.outlined.written;
                let (address, bytes) = (self.primal(at), self.primal(at + 1));
                let flag = self.e.b().i64(u64::from(is_written));
                self.e.call("enzyme_checkpoint_region", void, &[schedule, address, bytes, flag]);
            }
        }
        self.e.call("enzyme_checkpoint_begin", void, &[schedule]);
        let (body, left) = (self.e.new_block("body"), self.e.new_block("left"));
        self.e.go(body);
        let count = self.e.call("enzyme_checkpoint_before", i64, &[schedule]);
        let code = self.steps(count);
        let ty = self.e.ty(code);
        let zero = self.e.b().zero(ty);
        let goes_on = self.e.b().icmp(IntPred::Eq, code, zero);
        self.e.b().cond_br(goes_on, body, left);
        self.e.block = left;
        let mut fields = vec![schedule];
        if self.sig.result_field.is_some() {
            fields.push(code);
        }
        let out = self.e.tuple(self.sig.ret, &fields);
        self.e.b().ret(out);
    }

    fn gradient(&mut self, derivatives: &mut dyn Derivatives) -> Result<(), Refusal> {
        let lost = || internal("a checkpointed loop lost its steps");
        let (void, i64) = (self.e.module.ctx.types.void(), self.e.module.ctx.types.int(64));
        let outlined = &self.plan.outlined;
        let key = DerivativeKey {
            func: outlined.steps,
            mode: Mode::Combined,
            context: self.s.activity.calls.get(&outlined.call).cloned().ok_or_else(lost)?,
            kept: BTreeSet::new(),
            // Steps run between reverse sweeps: what they find in shadow memory may be adjoints of later ones.
            own: BTreeSet::new(),
            unwinds: self.s.key.unwinds,
            products: self.s.key.products,
            keeps: false,
            transposed: false,
            placed: false,
            value: false,
            width: 1,
        };
        let (derivative, of_steps) = derivatives.get(self.e.module, &key).ok_or_else(lost)?;
        let schedule = self.sig.tape.and_then(|n| self.e.func.params.get(n)).copied().ok_or_else(lost)?;
        let mut sums: BTreeMap<usize, ValueId> = BTreeMap::new();
        for (n, p) in self.s.func.params.iter().enumerate() {
            if self.sig.adjoints[n].is_some() {
                let ty = self.s.func.ty(*p);
                let neutral = self.e.neutral(ty);
                let slot = self.e.slot(ty, Some(neutral));
                sums.insert(n, slot);
            }
        }
        self.e.call("enzyme_checkpoint_turn", void, &[schedule]);
        let head = self.e.new_block("head");
        let [again, reverse, back, done] = ["again", "reverse", "back", "done"].map(|n| self.e.new_block(n));
        self.e.go(head);
        let what = self.e.call("enzyme_checkpoint_next", i64, &[schedule]);
        let zero = self.e.b().i64(0);
        let is_again = self.e.b().icmp(IntPred::Sgt, what, zero);
        self.e.b().cond_br(is_again, again, back);
        self.e.block = again;
        self.steps(what);
        self.e.b().br(head);
        self.e.block = back;
        let is_done = self.e.b().icmp(IntPred::Eq, what, zero);
        self.e.b().cond_br(is_done, done, reverse);
        self.e.block = reverse;
        let count = self.e.b().binary(BinOp::Sub, zero, what);
        let mut values = vec![None; of_steps.params.len()];
        for n in 0..of_steps.primal.len() {
            let primal = if n == self.plan.outlined.inputs { count } else { self.primal(n) };
            values[of_steps.primal[n]] = Some(primal);
            if let Some(at) = of_steps.shadow[n] {
                let own = self.sig.shadow.get(n).copied().flatten();
                values[at] = Some(own.map_or(primal, |m| self.e.func.params[m]));
            }
        }
        let values: Vec<ValueId> = values.into_iter().flatten().collect();
        if values.len() != of_steps.params.len() {
            return Err(lost());
        }
        let out = self.e.call_func(derivative, &values);
        for (n, field) in of_steps.adjoints.iter().enumerate() {
            if let (Some(field), Some(slot)) = (field, sums.get(&n).copied()) {
                let part = self.e.b().extract_value(out, &[*field]);
                let ty = self.e.ty(part);
                let old = self.e.b().load(ty, slot, 0, MemClass::Unknown);
                let sum = self.e.sum(old, part);
                self.e.b().store(sum, slot, 0, MemClass::Unknown);
            }
        }
        self.e.b().br(head);
        self.e.block = done;
        let mut fields = Vec::new();
        for (n, slot) in sums {
            let ty = self.s.func.ty(self.s.func.params[n]);
            fields.push(self.e.b().load(ty, slot, 0, MemClass::Unknown));
        }
        let out = self.e.tuple(self.sig.ret, &fields);
        self.e.b().ret(out);
        Ok(())
    }
}

/// What the plain form of a loop would cache: for each cache the bytes of a row, and the positions among the arguments of
/// the question of the trip counts that multiply.
pub type Estimate = Vec<(u64, Vec<usize>)>;

/// What preparation leaves for the plan to answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Question {
    /// Whether a loop is to be checkpointed: the bytes that it may take, those that two of its states take, and the trip counts of all
    /// loops in it.
    Wanted,
    /// The bytes that one loop may take of those that all may take.
    Share,
    /// The bytes that a loop would cache in each step, 0 if nobody knows; asked as `Wanted` is.
    Row,
    /// Nothing: it says that the loop behind it cannot be checkpointed.
    Refused,
}

/// What the call `i` asks, if it is a question.
pub fn question(module: &Module, func: &Func, i: InstId) -> Option<Question> {
    let name = &module.funcs[module.direct_callee(func, i)?].name;
    if name.starts_with(WANTED) {
        Some(Question::Wanted)
    } else if name == SHARE {
        Some(Question::Share)
    } else if name.starts_with(ROW) {
        Some(Question::Row)
    } else if name.starts_with(REFUSED) {
        Some(Question::Refused)
    } else {
        None
    }
}

/// How many loops of `s` share the limit: those that cache anything.
pub fn sharing(module: &Module, s: &Subject<'_>, plan: &Plan) -> u64 {
    let asks = |i: &InstId| {
        matches!(s.func.insts[*i].op, Op::Call(_)) && question(module, s.func, *i) == Some(Question::Wanted)
    };
    let caches = |i: &InstId| estimate(module, s, plan, *i).is_none_or(|e| !e.is_empty());
    (s.func.placed().map(|e| e.1).filter(asks).filter(caches).count() as u64).max(1)
}

/// Loops of `s` that may keep more than the limit grants, and cannot be checkpointed: place and reason. Not told of loops without
/// others in them, which mostly make or read the data.
pub fn unlimited(
    module: &Module,
    s: &Subject<'_>,
    plan: &Plan,
    derivatives: &dyn Derivatives,
) -> Vec<(Option<LocId>, String)> {
    let mut out = Vec::new();
    for (block, i) in s.func.placed().filter(|(_, i)| matches!(s.func.insts[*i].op, Op::Call(_))) {
        let (plain, at, why) = match question(module, s.func, i) {
            Some(Question::Refused) => {
                let name = module.direct_callee(s.func, i).map(|f| module.funcs[f].name.as_str());
                let why = name.and_then(|n| n.strip_prefix(REFUSED)).unwrap_or_default();
                let plain = s.shape.loops.loops().find(|(_, l)| l.preheader == Some(block)).map(|(id, _)| id);
                (plain, i, why)
            }
            Some(Question::Wanted) => {
                let Some(call) = loop_call(module, s, i) else { continue };
                let key = crate::reverse::callee_key(module, s, call, Mode::Augmented);
                let Some(Err(why)) = key.map(|k| derivatives.checkpointed(module, &k)) else { continue };
                (plain_loop(s, i), call, why)
            }
            _ => continue,
        };
        let plain = plain.filter(|p| s.shape.loops.loops().any(|(_, l)| l.parent == Some(*p)));
        let limit = s.func.call_args(i).first().and_then(|v| module.ctx.consts.as_u64(s.func.as_const(*v)?));
        if let Some(plain) = plain
            && cached_in(module, s, plan, plain).is_none_or(|bytes| bytes > limit.unwrap_or(0))
        {
            out.push((s.func.insts[at].loc, why.to_owned()));
        }
    }
    out
}

/// Bytes that all runs of the loop cache, if that is a number.
fn cached_in(module: &Module, s: &Subject<'_>, plan: &Plan, plain: LoopId) -> Option<u64> {
    let inside = |l: &LoopId| is_inside(s, *l, plain);
    let times = |l: LoopId| {
        let around = std::iter::successors(Some(l), |l| s.scope(Key::Count(*l))).take_while(inside);
        around.map(|l| s.trips_of(module, l)).try_fold(1u64, |all, one| Some(all.saturating_mul(one?)))
    };
    let rows = plan.loops.iter().map(|(l, cache)| (*l, cache.keys.as_slice()));
    let steady = plan.steady.iter().map(|cache| (cache.place.over, cache.keys.as_slice()));
    let mut sum = 0u64;
    for (l, keys) in rows.chain(steady).filter(|(l, keys)| inside(l) && !keys.is_empty()) {
        sum = sum.saturating_add(bytes_of(module, s, keys).saturating_mul(times(l)?));
    }
    Some(sum)
}

/// The call of the loop function that runs where the answer to the question `i` is yes.
fn loop_call(module: &Module, s: &Subject<'_>, i: InstId) -> Option<InstId> {
    let block = s.shape.block_of[i]?;
    let Op::CondBr { then_to, .. } = s.func.insts[s.func.terminator(block)?].op else { return None };
    let is_loop = |j: &InstId| {
        matches!(s.func.insts[*j].op, Op::Call(_))
            && module.direct_callee(s.func, *j).is_some_and(|f| module.funcs[f].name.starts_with(LOOP))
    };
    s.func.blocks[then_to].insts.iter().copied().find(is_loop)
}

impl Reverse<'_, '_> {
    /// The answer to the question `i` at the block at hand, in the forward sweep.
    pub(crate) fn answer(&mut self, question: Question, i: InstId, args: &[ValueId]) -> ValueId {
        let i1 = self.e.module.ctx.types.int(1);
        let values: Vec<ValueId> = args.iter().map(|a| self.forward_value(*a)).collect();
        if question == Question::Row {
            let terms = estimate_row(self.e.module, &self.s, self.plan, i);
            let row = terms.and_then(|terms| total(&mut self.e, terms, &values));
            return row.unwrap_or_else(|| self.e.b().i64(0));
        }
        let Some(limit) = values.first().copied() else { return self.e.b().int(i1, 0) };
        let loops = sharing(self.e.module, &self.s, self.plan);
        let loops = self.e.b().i64(loops);
        let share = self.e.b().binary(BinOp::UDiv, limit, loops);
        if question == Question::Share {
            return share;
        }
        let key = loop_call(self.e.module, &self.s, i)
            .and_then(|call| crate::reverse::callee_key(self.e.module, &self.s, call, Mode::Augmented));
        if key.is_none_or(|k| self.derivatives.checkpointed(self.e.module, &k).is_err()) {
            return self.e.b().int(i1, 0);
        }
        let terms = estimate(self.e.module, &self.s, self.plan, i);
        // Nothing is gained where the states would take as much.
        let least = values.get(1).copied().unwrap_or(share);
        let is_more = self.e.b().icmp(IntPred::Ugt, least, share);
        let bound = self.e.choose(is_more, least, share);
        let wanted = compare(&mut self.e, terms, bound, &values);
        match loop_call(self.e.module, &self.s, i).and_then(|call| self.mixes_shadows(call)) {
            Some(mixed) => {
                let one = self.e.b().int(i1, 1);
                let apart = self.e.b().binary(BinOp::Xor, mixed, one);
                self.e.b().binary(BinOp::And, wanted, apart)
            }
            None => wanted,
        }
    }

    /// Whether shadows lie among the memory that a state is of, as where numbers and their shadows are fields of one record: they
    /// would go back with it. None if there are no shadows.
    fn mixes_shadows(&mut self, call: InstId) -> Option<ValueId> {
        let callee = self.e.module.direct_callee(self.s.func, call)?;
        let outlined = recognise(self.e.module, &self.e.module.funcs[callee])?;
        let regions: Vec<ValueId> = self.s.func.call_args(call)[outlined.inputs + FIXED..].to_vec();
        let zero = self.e.b().i64(0);
        let mut any = None;
        for region in regions.chunks_exact(2).take(outlined.written) {
            let (at, bytes) = (region[0], region[1]);
            let Some(shadow) = Some(at).filter(|at| self.s.has_shadow(*at)).and_then(|at| self.forward_shadow(at).ok())
            else {
                continue;
            };
            let i64 = self.e.module.ctx.types.int(64);
            let ends = [shadow, self.forward_value(at)].map(|p| self.e.b().cast(CastOp::PtrToInt, p, i64));
            let distance = self.e.b().binary(BinOp::Sub, ends[0], ends[1]);
            let bytes = self.forward_value(bytes);
            let negated = self.e.b().binary(BinOp::Sub, zero, bytes);
            let is_less = self.e.b().icmp(IntPred::Slt, bytes, zero);
            let length = self.e.choose(is_less, negated, bytes);
            let both = self.e.b().add(length, length);
            let from_below = self.e.b().add(distance, length);
            let meets = self.e.b().icmp(IntPred::Ult, from_below, both);
            // Memory without a shadow of its own stands for it.
            let is_other = self.e.b().icmp(IntPred::Ne, distance, zero);
            let mixed = self.e.b().binary(BinOp::And, meets, is_other);
            any = Some(any.map_or(mixed, |before| self.e.b().binary(BinOp::Or, before, mixed)));
        }
        any
    }
}

/// What the plain form of the loop that the question `i` is about would cache; `None` if nobody knows.
pub fn estimate(module: &Module, s: &Subject<'_>, plan: &Plan, i: InstId) -> Option<Estimate> {
    let plain = plain_loop(s, i)?;
    let args = s.func.call_args(i);
    let inside = |l: &LoopId| is_inside(s, *l, plain);
    let order = asked_loops(s, plain);
    if order.len() + ASKED != args.len() {
        return None;
    }
    let mut out = Vec::new();
    for (l, cache) in plan.loops.iter().filter(|(l, _)| inside(l)) {
        if cache.keys.iter().any(|k| matches!(k, Key::Tape(_))) {
            return None;
        }
        let mut factors = Vec::new();
        let mut at = Some(*l);
        while let Some(x) = at.filter(inside) {
            factors.push(order.iter().position(|y| *y == x)? + ASKED);
            at = s.scope(Key::Count(x));
        }
        out.push((row_bytes(module, s, plan, *l), factors));
    }
    for cache in plan.steady.iter().filter(|c| inside(&c.place.over)) {
        let around = std::iter::successors(s.scope(Key::Count(cache.place.over)), |l| s.scope(Key::Count(*l)));
        let loops = cache.place.per.iter().map(|p| p.0).chain(around.take_while(|l| inside(l)));
        let factors = loops.map(|x| Some(order.iter().position(|y| *y == x)? + ASKED)).collect::<Option<_>>()?;
        out.push((bytes_of(module, s, &cache.keys), factors));
    }
    Some(out)
}

/// Whether the loop is `around` or within it.
fn is_inside(s: &Subject<'_>, l: LoopId, around: LoopId) -> bool {
    s.shape.loops.loops().any(|(id, x)| id == l && s.shape.loops.contains(around, x.header))
}

/// The loops of which the trip counts are among the arguments of a question about `plain`, in their order.
fn asked_loops(s: &Subject<'_>, plain: LoopId) -> Vec<LoopId> {
    let header = |b: &BlockId| s.shape.loops.headed_by(*b);
    s.func.layout.iter().filter_map(header).filter(|l| is_inside(s, *l, plain)).collect()
}

/// What the plain form of the loop that the question `i` is about would cache in each of its own iterations; `None` if nobody
/// knows.
fn estimate_row(module: &Module, s: &Subject<'_>, plan: &Plan, i: InstId) -> Option<Estimate> {
    let plain = plain_loop(s, i)?;
    let own = asked_loops(s, plain).iter().position(|l| *l == plain)? + ASKED;
    let mut terms = estimate(module, s, plan, i)?;
    for (_, factors) in &mut terms {
        factors.retain(|n| *n != own);
    }
    Some(terms)
}

/// The loop that runs where the answer is no.
fn plain_loop(s: &Subject<'_>, i: InstId) -> Option<LoopId> {
    let block = s.shape.block_of[i]?;
    let Op::CondBr { else_to, .. } = s.func.insts[s.func.terminator(block)?].op else { return None };
    s.shape.loops.loops().find(|(_, l)| l.preheader == Some(else_to)).map(|(id, _)| id)
}

/// Bytes of a row of the cache of `l`.
pub fn row_bytes(module: &Module, s: &Subject<'_>, plan: &Plan, l: LoopId) -> u64 {
    let Some(cache) = plan.loops.get(&l) else { return 0 };
    let sum = bytes_of(module, s, &cache.keys);
    if matches!(cache.rows, Rows::Exact(_)) { sum } else { sum.next_multiple_of(8) }
}

/// Whether rows of so many bytes times the trip counts among `args` come to more than `limit`.
fn compare(e: &mut Emit<'_>, terms: Option<Estimate>, limit: ValueId, args: &[ValueId]) -> ValueId {
    match terms.and_then(|terms| total(e, terms, args)) {
        Some(total) => e.b().icmp(IntPred::Ugt, total, limit),
        None => {
            let i1 = e.module.ctx.types.int(1);
            e.b().int(i1, 1)
        }
    }
}

/// Bytes of rows times trip counts, a large number if they are more; none if a trip count is not known.
fn total(e: &mut Emit<'_>, terms: Estimate, args: &[ValueId]) -> Option<ValueId> {
    let unknown = e.b().i64(u64::MAX);
    if terms.iter().flat_map(|t| &t.1).any(|n| args.get(*n).is_none_or(|a| *a == unknown)) {
        return None;
    }
    let times = crate::runtime::times(e.module);
    let one = e.b().i64(1);
    // No sum of these overflows.
    let large = e.b().i64(1 << 56);
    let mut total = e.b().i64(0);
    for (bytes, factors) in terms {
        let mut product = e.b().i64(bytes);
        for n in factors {
            let count = e.b().add(args[n], one);
            product = e.call_func(times, &[product, count]);
        }
        let fits = e.b().icmp(IntPred::Ult, product, large);
        let term = e.choose(fits, product, large);
        total = e.b().add(total, term);
    }
    Some(total)
}

fn bytes_of(module: &Module, s: &Subject<'_>, keys: &[Key]) -> u64 {
    let bytes = |k: &Key| match k {
        Key::Primal(v) | Key::Shadow(v) | Key::Column(v) => crate::keys::cached_bytes(module, s.func.ty(*v)),
        Key::Entered(_) => 4,
        Key::Count(_) | Key::Tape(_) | Key::Latest(_) => 8,
    };
    keys.iter().map(bytes).sum()
}

/// What the plan says of the loops of `s` that may be checkpointed.
pub fn describe(module: &Module, s: &Subject<'_>, plan: &Plan) -> String {
    let mut out = String::new();
    let number = |v: ValueId| module.ctx.consts.as_u64(s.func.as_const(v)?);
    for (_, i) in s.func.placed() {
        if !matches!(s.func.insts[i].op, Op::Call(_)) {
            continue;
        }
        let args = s.func.call_args(i);
        let shares = sharing(module, s, plan);
        if question(module, s.func, i) == Some(Question::Wanted) {
            let limit = args.first().and_then(|v| number(*v)).unwrap_or(0) / shares;
            let cached = match estimate(module, s, plan, i) {
                None => "what is not known".to_owned(),
                Some(terms) if terms.is_empty() => "nothing".to_owned(),
                Some(terms) => {
                    let term = |(bytes, factors): &(u64, Vec<usize>)| {
                        let known = |n: &usize| number(args[*n]).and_then(|c| c.checked_add(1));
                        let count = |n: &usize| known(n).map_or("n".to_owned(), |c| c.to_string());
                        let counts: Vec<String> = factors.iter().map(count).collect();
                        format!("{bytes} bytes x {}", counts.join(" x "))
                    };
                    terms.iter().map(term).collect::<Vec<_>>().join(" + ")
                }
            };
            out.push_str(&format!("loop checkpointed if it would cache over {limit} bytes: it caches {cached}\n"));
        }
        let callee = module.direct_callee(s.func, i).map(|f| &module.funcs[f]);
        if let Some(outlined) = callee.and_then(|f| recognise(module, f)) {
            out.push_str(&describe_states(module, s, plan, &outlined, i, shares));
        }
    }
    out
}

fn describe_states(
    module: &Module,
    s: &Subject<'_>,
    plan: &Plan,
    outlined: &Outlined,
    call: InstId,
    shares: u64,
) -> String {
    let number = |v: ValueId| module.ctx.consts.as_u64(s.func.as_const(v)?);
    let args = s.func.call_args(call);
    let place = crate::reverse::place_of(module, s.func, call);
    let at = |n: usize| args.get(n).and_then(|v| number(*v));
    let (bytes, states, steps) = (at(outlined.inputs), at(outlined.inputs + 1), at(outlined.inputs + 2));
    // A share is asked for; else the number of states is given.
    let asks = |n: usize| args.get(outlined.inputs + n).and_then(|v| s.func.def_inst(*v));
    let limit = asks(0).and_then(|i| s.func.call_args(i).first()).and_then(|v| number(*v)).map(|n| n / shares);
    let first = outlined.inputs + FIXED + 1;
    // Less than nothing of what each step fills before it reads it.
    let kept = |bytes: u64| if (bytes as i64) < 0 { 0 } else { bytes };
    let sizes: Vec<Option<u64>> = (0..outlined.written).map(|n| at(first + 2 * n).map(kept)).collect();
    let state: Option<u64> = sizes.iter().copied().sum();
    let known = steps.filter(|n| *n != u64::MAX);
    let row = asks(3).map_or(Some(0), |i| row_of(module, s, plan, i));
    let marked = bytes == Some(u64::MAX);
    let shared = match (state, limit, row) {
        (Some(state), Some(bytes), Some(row)) => Some(share_out(bytes, state + ENTRY, row, known)),
        _ => None,
    };
    let states = if marked { states } else { shared.map(|s| s.states) };
    let block = if marked { Some(1) } else { shared.map(|s| s.block) };
    let shown = |n: Option<u64>, word: &str| n.map_or(word.to_owned(), |n| n.to_string());
    let again = match (known, states, block) {
        (Some(steps), Some(states), Some(block)) => done_again(steps, states, block),
        _ => None,
    };
    let fixed: u64 = sizes.iter().flatten().sum();
    let size = match state {
        Some(n) => n.to_string(),
        None => format!("{fixed} and what is known at run time"),
    };
    let parts = [
        format!("state of {} regions, {size} bytes", outlined.written),
        format!("states kept: {}", shown(states, "as many as fit")),
        format!("steps: {}", shown(known, "known at run time")),
        format!("reversed at once: {}", shown(block, "as many as fit")),
        format!("steps repeated: {}", shown(again, "known at run time")),
    ];
    format!("  {place}: {}\n", parts.join("; "))
}

/// What each step caches of the loop that the question `i` is about, if that is a number; 0 if nobody knows.
fn row_of(module: &Module, s: &Subject<'_>, plan: &Plan, i: InstId) -> Option<u64> {
    let args = s.func.call_args(i);
    let Some(terms) = estimate_row(module, s, plan, i) else { return Some(0) };
    let mut sum = 0u64;
    for (bytes, factors) in terms {
        let mut product = bytes;
        for n in &factors {
            let Some(count) = module.ctx.consts.as_u64(s.func.as_const(*args.get(*n)?)?)?.checked_add(1) else {
                return Some(0);
            };
            product = product.saturating_mul(count);
        }
        sum = sum.saturating_add(product);
    }
    Some(sum)
}
