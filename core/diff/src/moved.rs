//! Words that are now doubles, now pointers are taken apart before anything else is looked at.
//!
//! LLVM and its front ends move what may be either (a union, a variant, a field of an `enum`) by the type of one of them: `load
//! double`, `store double`, perhaps with phis in between; what variants do with their fields hangs from one load, as a double here
//! and cast to a pointer there. So where both may lie at a place that is read, all that is merged with what was read is written in each of
//! the forms that are asked for: as a double where it is computed with, as a pointer where it is followed, as an
//! integer where it goes to such a place. Of integers that only move, the derivative tells by their bits what they are (`crate::words`).
//!
//! What an access was before is kept beside the function ([`enzyme_ir::Func::words`]), for it is evidence of what lies there.
//!
//! Not handled: words that calls pass and return, in aggregates or by themselves; words of which integers are computed.

use std::collections::{BTreeMap, BTreeSet};

use enzyme_analysis::{Activities, Callee, Unit, Units, resolve};
use enzyme_ir::{
    Access, BlockId, ByteType, CastOp, FloatKind, Func, FuncId, Inst, InstId, Module, Op, Ordering, Type, TypeId,
    ValueId, Word,
};
use smallvec::smallvec;

use crate::refusal::{Refusal, RefusalKind};

const WHAT: &str = "a word that may be a float or a pointer, and is copied to so many places that it is not followed";
const WORD: u64 = 8;
/// More values than this are not merged with each other.
const MOST: usize = 5000;

/// Takes the words of the functions of `units` apart; whether there were any.
pub fn take_apart(module: &mut Module, units: &Units) -> bool {
    let found: Vec<(FuncId, Func)> =
        units.functions().filter_map(|f| Some((f, rewritten(module, f, units.get(f)?)?))).collect();
    let any = !found.is_empty();
    for (f, func) in found {
        module.funcs[f] = func;
    }
    any
}

fn rewritten(module: &mut Module, f: FuncId, unit: &Unit) -> Option<Func> {
    if module.ctx.layout.pointer_bits(0) != WORD as u32 * 8 {
        return None;
    }
    let view = View { module, func: &module.funcs[f], unit };
    let webs: Vec<(Web, Vec<Consumer>)> = view.unwritten().into_iter().filter(|(web, _)| !web.is_open(&view)).collect();
    if webs.is_empty() {
        return None;
    }
    let mut func = module.funcs[f].clone();
    for (web, wanted) in &webs {
        web.write(module, &mut func, wanted);
    }
    drop_unused(&mut func, &webs.iter().flat_map(|(web, _)| web.members.iter().copied()).collect());
    Some(func)
}

/// The first of the words that have to be taken apart and are not, if a derivative depends on them.
pub fn left(module: &Module, units: &Units, activities: &Activities) -> Option<(FuncId, Refusal)> {
    units.functions().find_map(|f| {
        let view = View { module, func: &module.funcs[f], unit: units.get(f)? };
        let is_active = |v: &ValueId| activities.all().any(|(g, a)| g == f && a.is_active(*v));
        let webs = view.unwritten();
        let (web, _) = webs.iter().find(|(web, _)| web.members.iter().any(is_active))?;
        let at = web.members.iter().filter(|v| is_active(v)).find_map(|v| view.func.def_inst(*v))?;
        Some((f, Refusal::new(RefusalKind::UnknownType(WHAT)).at(at)))
    })
}

/// Takes out what made those of `values` that nothing else uses any more.
fn drop_unused(func: &mut Func, values: &BTreeSet<ValueId>) {
    let made_by = |func: &Func, i: InstId| func.insts[i].result.is_some_and(|r| values.contains(&r));
    let others =
        func.placed().filter(|(_, i)| !made_by(func, *i)).flat_map(|(_, i)| func.insts[i].args.iter().copied());
    let mut used: BTreeSet<ValueId> = BTreeSet::new();
    let mut work: Vec<ValueId> = others.filter(|v| values.contains(v)).collect();
    while let Some(v) = work.pop() {
        if used.insert(v) {
            let parts = func.def_inst(v).map_or(&[][..], |i| &func.insts[i].args);
            work.extend(parts.iter().copied().filter(|v| values.contains(v)));
        }
    }
    let dead: BTreeSet<InstId> = values.difference(&used).filter_map(|v| func.def_inst(*v)).collect();
    for b in func.layout.clone() {
        func.blocks[b].insts.retain(|i| !dead.contains(i));
    }
}

/// A form that a word may have.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Form {
    Double,
    Pointer,
    /// Bits, of which nothing is said.
    Word,
}

impl Form {
    fn of(module: &Module, ty: TypeId) -> Option<Form> {
        match module.ctx.types[ty] {
            Type::Float(FloatKind::Double) => Some(Form::Double),
            Type::Ptr(0) => Some(Form::Pointer),
            Type::Int(64) => Some(Form::Word),
            _ => None,
        }
    }

    fn ty(self, module: &mut Module) -> TypeId {
        match self {
            Form::Double => module.ctx.types.double(),
            Form::Pointer => module.ctx.types.ptr(),
            Form::Word => module.ctx.types.int(64),
        }
    }

    fn bytes(self) -> Option<ByteType> {
        match self {
            Form::Double => Some(ByteType::Float(FloatKind::Double)),
            Form::Pointer => Some(ByteType::Pointer),
            Form::Word => None,
        }
    }
}

/// An operand that takes a word in one form.
struct Consumer {
    inst: InstId,
    operand: usize,
    form: Form,
}

/// A function and what is known of it.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The module.
    pub module: &'a Module,
    /// The function.
    pub func: &'a Func,
    /// What is known of it.
    pub unit: &'a Unit,
}

impl View<'_> {
    fn form(&self, v: ValueId) -> Option<Form> {
        Form::of(self.module, self.func.ty(v))
    }

    /// Whether `i` reads a word of which the program does not say what it is.
    fn reads_word(&self, i: InstId) -> bool {
        let inst = &self.func.insts[i];
        let plain = matches!(inst.op, Op::Load(access) if is_plain(access));
        plain && Form::of(self.module, inst.ty).is_some() && !self.unit.facts.access_types.contains_key(&i)
    }

    /// Whether `i` reads a word where both doubles and pointers may lie, as far as is known, and are told apart when it runs.
    pub fn reads_turns(&self, i: InstId) -> bool {
        let inst = &self.func.insts[i];
        let (Some(p), memory) = (inst.args.first(), &self.unit.memory) else { return false };
        let turns = || memory.takes_turns(*p) && memory.tells_all_words(*p);
        let double = || Form::of(self.module, inst.ty) == Some(Form::Double) && memory.takes_turns_with_numbers(*p);
        self.reads_word(i) && (turns() || double()) && memory.contents_at(*p, Some(WORD)).is_none()
    }

    /// Whether `i` makes a double of an integer's bits, or the other way round.
    fn is_recast(&self, i: InstId) -> bool {
        let inst = &self.func.insts[i];
        matches!(inst.op, Op::Cast(CastOp::BitCast)) && !self.handed_on(i).is_empty()
    }

    /// The webs that have to be taken apart, with what takes their words.
    fn unwritten(&self) -> Vec<(Web, Vec<Consumer>)> {
        let mut webs: Vec<(Web, Vec<Consumer>)> = Vec::new();
        let mut seen: BTreeSet<ValueId> = BTreeSet::new();
        for (_, i) in self.func.placed() {
            let Some(v) = self.func.insts[i].result.filter(|v| !seen.contains(v)) else { continue };
            if self.reads_turns(i) || self.is_recast(i) {
                let web = Web::of(self, v);
                seen.extend(web.members.iter().copied());
                webs.extend(web.consumers(self).map(|wanted| (web, wanted)));
            }
        }
        webs
    }

    /// The words that `i` hands on as they are.
    fn handed_on(&self, i: InstId) -> &[ValueId] {
        let inst = &self.func.insts[i];
        let parts = match inst.op {
            Op::Phi(_) | Op::Freeze | Op::Cast(CastOp::BitCast | CastOp::PtrToInt | CastOp::IntToPtr) => {
                inst.args.as_slice()
            }
            Op::Select => inst.args.get(1..).unwrap_or(&[]),
            _ => &[],
        };
        let words = Form::of(self.module, inst.ty).is_some() && parts.iter().all(|v| self.form(*v).is_some());
        if words { parts } else { &[] }
    }
}

/// Words that are merged with each other, each of which is one value in several forms.
struct Web {
    members: Vec<ValueId>,
}

impl Web {
    fn of(view: &View<'_>, v: ValueId) -> Web {
        let web = Web::with(view, v, false);
        let recast = web.members.iter().filter_map(|v| view.func.def_inst(*v)).any(|i| view.is_recast(i));
        if recast { Web::with(view, v, true) } else { web }
    }

    /// What is merged with `v`. Where the program itself takes one for the other, all that is read may be either.
    fn with(view: &View<'_>, v: ValueId, recast: bool) -> Web {
        let mut members = vec![v];
        let mut seen = BTreeSet::from([v]);
        let mut n = 0;
        while let Some(v) = members.get(n).copied().filter(|_| members.len() < MOST) {
            n += 1;
            let from = view.func.def_inst(v).map_or(&[][..], |i| view.handed_on(i)).iter().copied();
            let users = view.unit.uses.of(v).iter().filter(|i| view.handed_on(**i).contains(&v));
            let to = users.filter_map(|i| view.func.insts[*i].result);
            let is_member = |v: &ValueId| {
                let made = view.func.def_inst(*v);
                let read = |i| if recast { view.reads_word(i) } else { view.reads_turns(i) };
                made.is_some_and(|i| !view.handed_on(i).is_empty() || read(i))
            };
            let more: Vec<ValueId> = from.chain(to).filter(is_member).filter(|v| seen.insert(*v)).collect();
            members.extend(more);
        }
        Web { members }
    }

    /// What takes the words, if they have to be taken apart.
    fn consumers(&self, view: &View<'_>) -> Option<Vec<Consumer>> {
        let all: BTreeSet<ValueId> = self.members.iter().copied().collect();
        let turns = all.iter().filter_map(|v| view.func.def_inst(*v)).any(|i| view.reads_turns(i));
        let mut out = Vec::new();
        let mut computed = false;
        for v in &self.members {
            let own = view.form(*v)?;
            for i in view.unit.uses.of(*v) {
                let inst = &view.func.insts[*i];
                if view.handed_on(*i).contains(v) && inst.result.is_some_and(|r| all.contains(&r)) {
                    continue;
                }
                let stored = matches!(inst.op, Op::Store(access) if is_plain(access) && inst.args.first() == Some(v));
                let stated = view.unit.facts.access_types.contains_key(i);
                let told = || inst.args.get(1).is_some_and(|p| view.unit.memory.tells_whole_words(*p));
                // What is read there, by whatever type, may be either.
                let form = if stored && !stated && told() { Form::Word } else { own };
                if form == Form::Word && !stored {
                    computed = true;
                    continue;
                }
                let operands = inst.args.iter().enumerate().filter(|(_, a)| *a == v);
                out.extend(operands.map(|(operand, _)| Consumer { inst: *i, operand, form }));
            }
        }
        let parts = all.iter().copied().chain(self.leaves(view.func, &|i| view.handed_on(i)));
        let forms: BTreeSet<Form> = parts.filter_map(|v| view.form(v)).collect();
        let wanted: BTreeSet<Form> = out.iter().map(|c| c.form).collect();
        let moved = wanted.contains(&Form::Word) && (computed || forms != BTreeSet::from([Form::Word]));
        let either = |forms: &BTreeSet<Form>| forms.contains(&Form::Double) && forms.contains(&Form::Pointer);
        let both = either(&wanted) || either(&forms);
        let apart = (moved && turns || both) && !out.iter().all(|c| self.is_written(view, &all, c));
        apart.then_some(out)
    }

    /// Whether there are more of them than can be told, or some come from where nothing can be placed behind.
    fn is_open(&self, view: &View<'_>) -> bool {
        let closed = |v: &ValueId| view.func.def_inst(*v).is_some_and(|i| behind(view.func, i).is_none());
        self.members.len() >= MOST || self.leaves(view.func, &|i| view.handed_on(i)).iter().any(closed)
    }

    /// Whether `consumer` takes what is written in its form already; `all` are the members.
    fn is_written(&self, view: &View<'_>, all: &BTreeSet<ValueId>, consumer: &Consumer) -> bool {
        let (func, form) = (view.func, consumer.form);
        if form == Form::Word && !func.words.contains_key(&consumer.inst) {
            return false;
        }
        let mut work: Vec<ValueId> =
            func.insts[consumer.inst].args.get(consumer.operand).copied().into_iter().collect();
        let mut seen = BTreeSet::new();
        while let Some(v) = work.pop() {
            if !seen.insert(v) {
                continue;
            }
            let made = func.def_inst(v).filter(|_| all.contains(&v));
            let written = match made.map(|i| (i, &func.insts[i].op)) {
                Some((_, Op::Cast(_))) => self.is_converted(view, all, v, form),
                Some((i, _)) => {
                    work.extend(view.handed_on(i));
                    view.form(v) == Some(form)
                }
                None => view.form(v) == Some(form),
            };
            if !written {
                return false;
            }
        }
        true
    }

    /// Whether `v`, a cast, is what comes from elsewhere in this form.
    fn is_converted(&self, view: &View<'_>, all: &BTreeSet<ValueId>, v: ValueId, form: Form) -> bool {
        let mut from = v;
        while let Some(i) = view.func.def_inst(from).filter(|_| all.contains(&from)) {
            match (&view.func.insts[i].op, view.func.insts[i].args.first()) {
                (Op::Cast(_), Some(next)) => from = *next,
                _ => return false,
            }
        }
        let apart = |form: Form| form != Form::Word;
        let never = |own| apart(own) && apart(form) && is_known(view.module, view.func, from);
        view.form(v) == Some(form) && view.form(from).is_some_and(|own| own != form && !never(own))
    }

    /// What comes from elsewhere.
    fn leaves<'f>(&self, func: &Func, handed_on: &dyn Fn(InstId) -> &'f [ValueId]) -> BTreeSet<ValueId> {
        let parts = self.members.iter().filter_map(|v| func.def_inst(*v)).flat_map(|i| handed_on(i).iter().copied());
        parts.filter(|v| !self.members.contains(v)).collect()
    }

    /// Gives each consumer the form that it takes.
    fn write(&self, module: &mut Module, func: &mut Func, consumers: &[Consumer]) {
        for form in [Form::Double, Form::Pointer, Form::Word] {
            let taken: Vec<&Consumer> = consumers.iter().filter(|c| c.form == form).collect();
            if taken.is_empty() {
                continue;
            }
            let twins = self.twins(module, func, form);
            for c in taken {
                let Some(v) = func.insts[c.inst].args.get(c.operand).copied() else { continue };
                if let (Form::Word, Op::Store(_)) = (form, &func.insts[c.inst].op) {
                    let was = Form::of(module, func.ty(v)).and_then(Form::bytes);
                    func.words.insert(c.inst, Word { was, like: c.inst });
                }
                if let (Some(twin), Some(arg)) = (twins.get(&v), func.insts[c.inst].args.get_mut(c.operand)) {
                    *arg = *twin;
                }
            }
        }
    }

    /// Each member in this form.
    fn twins(&self, module: &mut Module, func: &mut Func, form: Form) -> BTreeMap<ValueId, ValueId> {
        let ty = form.ty(module);
        let mut twins: BTreeMap<ValueId, ValueId> = BTreeMap::new();
        let mut casts: BTreeMap<ValueId, ValueId> = BTreeMap::new();
        let mut merges: Vec<InstId> = Vec::new();
        for v in &self.members {
            let Some(i) = func.def_inst(*v) else { continue };
            let old = func.insts[i].clone();
            match (&old.op, old.args.first()) {
                (Op::Cast(_), Some(from)) => {
                    casts.insert(*v, *from);
                }
                (Op::Load(_), _) if old.ty == ty => {
                    twins.insert(*v, *v);
                }
                _ => {
                    let was = Form::of(module, old.ty).and_then(Form::bytes).filter(|_| form == Form::Word);
                    let is_load = matches!(old.op, Op::Load(_));
                    let twin = func.make_inst(Inst { ty, origin: None, scoped: old.origin, ..old }, false);
                    place_after(func, Some(i), twin);
                    twins.extend(func.insts[twin].result.map(|r| (*v, r)));
                    if is_load {
                        func.words.insert(twin, Word { was, like: i });
                    } else {
                        merges.push(twin);
                    }
                }
            }
        }
        // A cast is what it casts, in this form.
        for v in casts.keys().copied().collect::<Vec<_>>() {
            let mut from = v;
            while let Some(next) = casts.get(&from) {
                from = *next;
            }
            let twin = match twins.get(&from) {
                Some(twin) => *twin,
                None => converted(module, func, from, form),
            };
            twins.insert(from, twin);
            twins.insert(v, twin);
        }
        for i in merges {
            let first = usize::from(matches!(func.insts[i].op, Op::Select));
            for n in first..func.insts[i].args.len() {
                let v = func.insts[i].args[n];
                let twin = match twins.get(&v) {
                    Some(twin) => *twin,
                    None => converted(module, func, v, form),
                };
                twins.insert(v, twin);
                func.insts[i].args[n] = twin;
            }
        }
        twins
    }
}

/// `v`, which comes from elsewhere, in this form. What is known to be a double is no pointer, and the other way round: as such
/// nobody uses it.
fn converted(module: &mut Module, func: &mut Func, v: ValueId, form: Form) -> ValueId {
    let ty = form.ty(module);
    let op = match (Form::of(module, func.ty(v)), form) {
        (Some(from), to) if from == to => return v,
        (Some(Form::Pointer), Form::Double) | (Some(Form::Double), Form::Pointer) => {
            if is_known(module, func, v) {
                let none = module.ctx.zero(ty);
                return func.constant(none, ty);
            }
            let bits = converted(module, func, v, Form::Word);
            return converted(module, func, bits, form);
        }
        (Some(Form::Pointer), _) => CastOp::PtrToInt,
        (_, Form::Pointer) => CastOp::IntToPtr,
        _ => CastOp::BitCast,
    };
    let i = func.make_inst(cast(op, v, ty), false);
    place_after(func, func.def_inst(v), i);
    func.insts[i].result.unwrap_or(v)
}

/// Whether `v` is what its type says: it was computed here.
fn is_known(module: &Module, func: &Func, v: ValueId) -> bool {
    let Some(i) = func.def_inst(v) else { return func.as_const(v).is_some() };
    match func.insts[i].op {
        Op::ExtractValue(_) | Op::ExtractElement | Op::VaArg => false,
        _ if func.insts[i].op.call_info().is_some() => {
            matches!(resolve(module, func, i), Callee::Math(_) | Callee::Known(_))
        }
        _ => true,
    }
}

fn cast(op: CastOp, v: ValueId, ty: TypeId) -> Inst {
    Inst {
        op: Op::Cast(op),
        args: smallvec![v],
        ty,
        result: None,
        fast: Default::default(),
        ints: Default::default(),
        loc: None,
        origin: None,
        mem: Default::default(),
        scoped: None,
    }
}

fn is_plain(access: Access) -> bool {
    !access.volatile && access.ordering == Ordering::NotAtomic
}

/// The block and the place in it where what `i` makes is known; none for a call whose end is not the only way to where it leads.
fn behind(func: &Func, i: InstId) -> Option<(BlockId, usize)> {
    if let Op::Invoke { normal, .. } = func.insts[i].op {
        let ways = func.layout.iter().filter(|b| func.successors(**b).contains(&normal)).count();
        return (ways == 1).then_some((normal, 0));
    }
    let found = func.placed().find(|(_, j)| *j == i)?.0;
    let at = func.blocks[found].insts.iter().position(|j| *j == i)?;
    (!func.insts[i].op.is_terminator()).then_some((found, at + 1))
}

/// Places `new` behind `i`, and behind the phis that stand there; at the entry if there is no `i`.
fn place_after(func: &mut Func, i: Option<InstId>, new: InstId) {
    let place = match i {
        Some(i) => behind(func, i),
        None => func.entry().map(|entry| (entry, 0)),
    };
    let Some((block, at)) = place else { return };
    let is_phi = |i: &InstId| matches!(func.insts[*i].op, Op::Phi(_));
    let insts = &func.blocks[block].insts;
    let phis = insts.iter().take_while(|i| is_phi(i)).count();
    let at = if is_phi(&new) { at } else { at.max(phis) };
    func.blocks[block].insts.insert(at, new);
}
