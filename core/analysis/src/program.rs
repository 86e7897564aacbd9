//! Everything that is known of a set of functions before any request: memory classes, carried floats, uses.
//!
//! Functions are visited callees first (strongly connected components of the call graph, Tarjan 1972, from petgraph);
//! each recursive group is one memory problem.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::SecondaryMap;
use enzyme_ir::{CastOp, Facts, Func, FuncId, InstId, Module, Op, TypeId, ValueId};
use petgraph::graphmap::DiGraphMap;

use crate::bits::{self, Bits};
use crate::callee::{Callee, resolve};
use crate::carry::{self, Carry};
use crate::memory::{self, ClassId, FuncMemory, Object, Span};
use crate::numbers::Number;
use crate::observing::Observing;
use crate::reworked::Reworked;
use crate::timing::Timing;
use crate::transfers::{self, Transfers};
use crate::uses::Uses;

/// What is known of one function.
#[derive(Clone, Debug)]
pub struct Unit {
    /// LLVM's facts.
    pub facts: Facts,
    /// Def-use chains.
    pub uses: Uses,
    /// Memory classes.
    pub memory: FuncMemory,
    /// How each value carries floats.
    pub carry: SecondaryMap<ValueId, Carry>,
    /// What it does with the bits of floats.
    pub bits: Bits,
    /// What becomes of the integers of its callers.
    pub transfers: Transfers,
    /// Values that are addresses for all that matters: pointers, and integers whose class is somebody's memory.
    pub addresses: SecondaryMap<ValueId, bool>,
    /// Loads from memory that is written as another type too, so that what type-based alias analysis says of it, or
    /// rather of its first life, does not hold.
    pub retyped: BTreeSet<InstId>,
    /// What stores integers that are made of words which may be floats, where floats lie, and what reads these words.
    pub reworked: BTreeMap<InstId, Reworked>,
    /// Integers that become numbers and may be the bits of floats ([`crate::numbers`]).
    pub numbers: BTreeMap<InstId, Number>,
    /// Pointers through which only code is found: no shadow pointer is wanted beside them.
    pub dispatch: SecondaryMap<ValueId, bool>,
    /// Classes that a caller can reach: through parameters, the result or globals.
    pub outer_classes: BTreeSet<ClassId>,
    /// Classes that are constants of the program and nothing else.
    pub constants: BTreeSet<ClassId>,
}

/// What is known of a set of functions.
#[derive(Clone, Debug, Default)]
pub struct Units {
    units: BTreeMap<FuncId, Unit>,
    /// Those that may throw floats, themselves or by what they call.
    throwing: BTreeSet<FuncId>,
    /// Those of which nothing comes out but their result.
    observing: Observing,
}

impl Units {
    /// Analyses all functions with a body that `roots` call, directly or not.
    pub fn analyze(module: &Module, facts: &BTreeMap<FuncId, Facts>, roots: &[FuncId]) -> Units {
        Units::analyze_timed(module, facts, roots, &mut Timing::default())
    }

    /// As [`Units::analyze`], and keeps the time.
    pub fn analyze_timed(
        module: &Module,
        facts: &BTreeMap<FuncId, Facts>,
        roots: &[FuncId],
        timing: &mut Timing,
    ) -> Units {
        let mut graph: DiGraphMap<u32, ()> = DiGraphMap::new();
        let mut seen: BTreeSet<FuncId> = BTreeSet::new();
        let mut work: Vec<FuncId> = roots.to_vec();
        while let Some(f) = work.pop() {
            if !seen.insert(f) {
                continue;
            }
            graph.add_node(f.as_u32());
            for g in callees(module, &module.funcs[f]) {
                graph.add_edge(f.as_u32(), g.as_u32(), ());
                work.push(g);
            }
        }
        let mut memories: BTreeMap<FuncId, FuncMemory> = BTreeMap::new();
        let mut order: Vec<FuncId> = Vec::new();
        let mut group_of: BTreeMap<FuncId, Vec<FuncId>> = BTreeMap::new();
        for group in petgraph::algo::kosaraju_scc(&graph) {
            let mut group: Vec<FuncId> = group.into_iter().map(FuncId::from_u32).collect();
            group.sort_unstable();
            let solved = timing.of("analysis: memory", || memory::analyze_group(module, facts, &group, &memories));
            memories.extend(solved);
            group_of.extend(group.iter().map(|f| (*f, group.clone())));
            order.extend(group);
        }
        timing.of("analysis: memory, from callers", || {
            pass_down(&order, &group_of, &mut memories);
            find_foreign(roots, &group_of, &mut memories);
        });
        let mut units: BTreeMap<FuncId, Unit> = BTreeMap::new();
        let mut observing = Observing::default();
        let is_maker = |(f, memory): (&FuncId, &FuncMemory)| transfers::is_maker(module, &module.funcs[*f], memory);
        let makes_floats = timing.of("analysis: bits of floats", || memories.iter().any(is_maker));
        for f in order {
            let Some(memory) = memories.remove(&f) else { continue };
            let func = &module.funcs[f];
            let mut facts = facts.get(&f).cloned().unwrap_or_default();
            let again = func.words.iter().filter(|(_, word)| facts.stable_loads.contains(&word.like)).map(|(i, _)| *i);
            facts.stable_loads.extend(again.collect::<Vec<_>>());
            let uses = Uses::new(func);
            let mut carry = timing.of("analysis: which values carry floats", || {
                carry::analyze(module, func, &facts, &memory, &uses, &units)
            });
            let bits = timing.of("analysis: bits of floats", || {
                bits::follow(module, func, &facts, &memory, &uses, &units, &mut carry)
            });
            let outer_classes = outer_classes(&memory);
            let mut addresses = SecondaryMap::new();
            for v in func.values.keys() {
                let pointer = module.ctx.types.contains_pointer(func.ty(v));
                let integer = matches!(carry[v], Carry::None | Carry::Word);
                addresses[v] = pointer || integer && memory.class_of[v].is_some_and(|c| memory.is_memory(c));
            }
            let retyped = retyped(module, func, &facts, &memory);
            let reworked = crate::reworked::find(module, func, &facts, &memory, &carry);
            let numbers = crate::numbers::find(module, func, &memory, &uses, &carry);
            let transfers = timing.of("analysis: bits of floats", || {
                let followed = makes_floats.then(|| transfers::follow(module, func, &facts, &memory, &carry, &units));
                followed.unwrap_or_default()
            });
            // The shadows of words that are read to be worked on are asked for.
            let worked = reworked.values().flat_map(|r| r.loads.iter().copied());
            let loads: BTreeSet<InstId> =
                worked.chain(numbers.values().flat_map(|n| n.loads.iter().copied())).collect();
            let read = |v: ValueId| func.def_inst(v).is_some_and(|i| loads.contains(&i));
            let is_plain = |v: ValueId| carry[v] == Carry::None && !addresses[v] && !read(v);
            let dispatch = dispatch_only(module, func, &uses, &is_plain);
            let constants = constant_classes(module, &memory);
            let unit = Unit {
                facts,
                uses,
                memory,
                carry,
                bits,
                transfers,
                addresses,
                retyped,
                reworked,
                numbers,
                dispatch,
                outer_classes,
                constants,
            };
            observing.add(module, f, &unit);
            units.insert(f, unit);
        }
        let mut known = Units { units, throwing: BTreeSet::new(), observing };
        known.throwing = timing.of("analysis: exceptions", || {
            let program = Program { module, units: &known };
            crate::exceptions::throwing(&program)
        });
        known
    }

    /// Whether `f`, or what it calls, may put floats into an exception object.
    pub fn throws_floats(&self, f: FuncId) -> bool {
        self.throwing.contains(&f)
    }

    /// Whether nothing comes out of `f` but its result ([`crate::observing`]).
    pub fn is_observing(&self, f: FuncId) -> bool {
        self.observing.always.contains(&f)
    }

    /// What is known of `f`; `None` for declarations and functions that no root reaches.
    pub fn get(&self, f: FuncId) -> Option<&Unit> {
        self.units.get(&f)
    }

    /// The values of `f` that have floats which it returns within integers: nobody who is given such an integer can say what to
    /// differentiate.
    pub fn packed_result(&self, module: &Module, f: FuncId) -> Vec<ValueId> {
        crate::packed::returned(module, self, f)
    }

    /// Takes these floats for part of the result of `f`.
    pub fn take_packed_result(&mut self, f: FuncId, packed: &[ValueId]) {
        if let Some(unit) = self.units.get_mut(&f) {
            for v in packed {
                unit.carry[*v] = Carry::Mixed;
            }
        }
    }

    /// The analysed functions.
    pub fn functions(&self) -> impl Iterator<Item = FuncId> + '_ {
        self.units.keys().copied()
    }
}

/// A module and what is known of its functions.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    /// The functions.
    pub module: &'a Module,
    /// What is known of them.
    pub units: &'a Units,
}

impl<'a> Program<'a> {
    /// What is known of `f`; `None` for declarations and functions that no root reaches.
    pub fn unit(&self, f: FuncId) -> Option<&'a Unit> {
        self.units.get(f)
    }

    /// Which class of `f` each outer class of `g` is, that the instruction `i` calls.
    pub(crate) fn class_map(&self, f: FuncId, i: InstId, g: FuncId) -> Vec<(ClassId, ClassId)> {
        let (Some(unit), Some(theirs)) = (self.unit(f), self.unit(g)) else { return Vec::new() };
        match unit.memory.calls.get(&i) {
            Some(map) => map.iter().map(|(a, b)| (*a, b.class)).collect(),
            // Within a recursive group classes are shared.
            None => theirs.outer_classes.iter().map(|c| (*c, *c)).collect(),
        }
    }

    /// The function `f`.
    pub fn func(&self, f: FuncId) -> &'a Func {
        &self.module.funcs[f]
    }
}

/// Functions with a body that `func` calls directly, in order of the calls.
pub fn callees(module: &Module, func: &Func) -> Vec<FuncId> {
    let mut out = Vec::new();
    for (_, i) in func.placed() {
        if matches!(func.insts[i].op, Op::Call(_) | Op::Invoke { .. } | Op::CallBr { .. })
            && let Callee::Defined(g) = resolve(module, func, i)
            && !out.contains(&g)
        {
            out.push(g);
        }
    }
    out
}

/// Loads that only their type keeps apart from a store which may reach their bytes.
fn retyped(module: &Module, func: &Func, facts: &Facts, memory: &FuncMemory) -> BTreeSet<InstId> {
    let ctx = &module.ctx;
    let mut stores: BTreeMap<ClassId, BTreeSet<(Span, u64, TypeId)>> = BTreeMap::new();
    let place =
        |p: ValueId, ty: TypeId| Some((memory.class_of[p]?, memory.span_of[p], ctx.layout.store_size(&ctx.types, ty)?));
    for (_, i) in func.placed() {
        let inst = &func.insts[i];
        if let (Op::Store(_), [v, p]) = (&inst.op, inst.args.as_slice())
            && let Some((class, span, size)) = place(*p, func.ty(*v))
        {
            stores.entry(class).or_default().insert((span, size, func.ty(*v)));
        }
    }
    let mut out = BTreeSet::new();
    for (_, i) in func.placed() {
        let inst = &func.insts[i];
        if let (Op::Load(_), [p]) = (&inst.op, inst.args.as_slice())
            && let Some((class, span, size)) = place(*p, inst.ty)
            && let Some(written) = stores.get(&class)
            && facts.typed_loads.contains(&i)
            && written.iter().any(|(s, n, _)| s.overlaps(*n, span, size))
        {
            out.insert(i);
        }
    }
    out
}

/// Pointers that are only called, compared, or used to read such pointers and plain integers: those on the way from an
/// object through its virtual table to the function. The greatest solution; cost: linear in the uses.
fn dispatch_only(
    module: &Module,
    func: &Func,
    uses: &Uses,
    is_plain: &dyn Fn(ValueId) -> bool,
) -> SecondaryMap<ValueId, bool> {
    let is_pointer = |v: ValueId| module.ctx.types.contains_pointer(func.ty(v));
    let mut only: SecondaryMap<ValueId, bool> = SecondaryMap::new();
    for v in func.values.keys() {
        only[v] = is_pointer(v) && func.as_const(v).is_none();
    }
    let mut work: Vec<ValueId> = func.values.keys().filter(|v| only[*v]).collect();
    while let Some(v) = work.pop() {
        let fine = only[v]
            && uses.of(v).iter().all(|i| {
                let inst = &func.insts[*i];
                let first_only = inst.args.iter().skip(1).all(|a| *a != v);
                match &inst.op {
                    Op::ICmp(_) => true,
                    Op::Call(_) | Op::Invoke { .. } => first_only,
                    Op::Load(_) => inst.result.is_some_and(|r| only[r] || !is_pointer(r) && is_plain(r)),
                    Op::Gep { .. } => first_only && inst.result.is_some_and(|r| only[r]),
                    Op::Phi(_) | Op::Select | Op::Freeze | Op::Cast(CastOp::BitCast) => {
                        inst.result.is_some_and(|r| only[r])
                    }
                    _ => false,
                }
            });
        if fine || !only[v] {
            continue;
        }
        only[v] = false;
        if let Some(i) = func.def_inst(v) {
            work.extend(func.insts[i].args.iter().copied().filter(|a| only[*a]));
        }
    }
    only
}

/// Tells callees what the memory is that their callers pass to them, callers first. Functions that call each other have their classes in
/// common.
fn pass_down(order: &[FuncId], group_of: &BTreeMap<FuncId, Vec<FuncId>>, memories: &mut BTreeMap<FuncId, FuncMemory>) {
    for f in order.iter().rev() {
        let Some(memory) = memories.get_mut(f) else { continue };
        memory.spread_copies();
        let (classes, calls) = (memory.classes.clone(), memory.callees.clone());
        for (i, g) in calls {
            let Some(placed) = memories.get(f).and_then(|m| m.calls.get(&i)).cloned() else { continue };
            if !memories.get_mut(&g).is_some_and(|callee| callee.learn(&placed, &classes, false)) {
                continue;
            }
            for other in group_of.get(&g).into_iter().flatten().filter(|other| **other != g) {
                if let Some(memory) = memories.get_mut(other) {
                    memory.learn(&placed, &classes, true);
                }
            }
        }
    }
}

/// Marks the memory that others made: the callers of `roots`, of functions that none of the analysed ones is seen to call, and what is
/// not known. Functions that call each other have their classes in common.
fn find_foreign(
    roots: &[FuncId],
    group_of: &BTreeMap<FuncId, Vec<FuncId>>,
    memories: &mut BTreeMap<FuncId, FuncMemory>,
) {
    let mut passed: BTreeMap<(FuncId, ClassId), Vec<(FuncId, ClassId)>> = BTreeMap::new();
    for (f, memory) in memories.iter() {
        for (i, placed) in &memory.calls {
            let Some(g) = memory.callees.get(i) else { continue };
            for (theirs, place) in placed {
                passed.entry((*f, place.class)).or_default().push((*g, *theirs));
            }
        }
    }
    let called: BTreeSet<FuncId> = memories.values().flat_map(|m| m.callees.values().copied()).collect();
    let mut work: Vec<(FuncId, ClassId)> = Vec::new();
    for (f, memory) in memories.iter() {
        let made = |o: &Object| matches!(o, Object::Stack(..) | Object::Heap(..) | Object::Param(..));
        let others = memory.classes.iter().filter(|(_, c)| c.opaque || !c.objects.iter().all(made));
        let outer = if roots.contains(f) || !called.contains(f) { outer_classes(memory) } else { BTreeSet::new() };
        work.extend(others.map(|(id, _)| id).chain(outer).map(|id| (*f, id)));
    }
    while let Some((f, id)) = work.pop() {
        let Some(class) = memories.get_mut(&f).and_then(|m| m.classes.get_mut(id)) else { continue };
        if std::mem::replace(&mut class.foreign, true) {
            continue;
        }
        work.extend(class.targets().map(|to| (f, to)));
        work.extend(group_of.get(&f).into_iter().flatten().map(|g| (*g, id)));
        work.extend(passed.get(&(f, id)).into_iter().flatten());
    }
}

/// Classes whose objects are constants, all of which are known: a pointer that is read from memory which others write may point
/// to memory of theirs as well.
fn constant_classes(module: &Module, memory: &FuncMemory) -> BTreeSet<ClassId> {
    let constant = |o: &Object| matches!(o, Object::Global(g) if module.globals[*g].constant);
    let complete = |o: &Object| match o {
        Object::Global(g) => module.globals[*g].constant && module.globals[*g].init.is_some(),
        Object::Stack(..) | Object::Heap(..) | Object::Code(_) => true,
        Object::Param(..) | Object::Called(..) | Object::Unknown(..) => false,
    };
    let mut work: Vec<ClassId> = memory.params.iter().flatten().copied().collect();
    work.extend(memory.classes.iter().filter(|(_, c)| !c.objects.iter().all(complete)).map(|e| e.0));
    let mut written: BTreeSet<ClassId> = BTreeSet::new();
    while let Some(id) = work.pop() {
        work.extend(memory.classes[id].targets().filter(|t| written.insert(*t)));
    }
    let all = |(id, class): (ClassId, &memory::Class)| {
        (!class.objects.is_empty() && class.objects.iter().all(constant) && !written.contains(&id)).then_some(id)
    };
    memory.classes.iter().filter_map(all).collect()
}

pub(crate) fn outer_classes(memory: &FuncMemory) -> BTreeSet<ClassId> {
    let mut out = BTreeSet::new();
    let globals = memory.classes.iter().filter(|(_, c)| c.objects.iter().any(|o| matches!(o, Object::Global(_))));
    let roots = memory.params.iter().flatten().copied().chain(memory.ret).chain(globals.map(|e| e.0));
    for root in roots {
        out.extend(memory.chain(root));
    }
    out
}
