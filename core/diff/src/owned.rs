//! Memory of the caller that a reverse derivative must not lose.
//!
//! What a function reallocates has a new shadow afterwards; the adjoints of its old content end up in the old shadow,
//! which dies with the derivative. For memory that the caller of the derivative owns that would be the gradient: such
//! requests are refused, unless it is seen that no address of the caller's comes there ([`Given`]). Calls are followed; all calls of
//! one function count for each of them.
//!
//! Where a float takes the place of a pointer the forward sweep leaves no shadow of that pointer behind: it would be taken for an
//! adjoint. In memory of the caller an adjoint may lie there already, which must stay: words tell which it is.

use std::collections::{BTreeMap, BTreeSet};

use enzyme_analysis::callee::MemoryEffect;
use enzyme_analysis::memory::{Class, FuncMemory, Proof, Span};
use enzyme_analysis::{Callee, ClassId, Context, Given, Object, Units, resolve};
use enzyme_ir::{ByteType, FuncId, InstId, Module, Op, ValueId};
use enzyme_rules::Operand;

use crate::copies::taken_for_integer;
use crate::keys::Subject;

const POINTER: u64 = 8;

/// The instruction of `root` that reallocates memory with a shadow given by the caller, if there is one.
pub fn reallocates(module: &Module, units: &Units, root: FuncId, context: &Context) -> Option<InstId> {
    // What is in one class with the caller's memory need not be the caller's.
    found(module, units, root, context, &|_, _| true)?;
    let addresses = Given::follow(module, units, root);
    found(module, units, root, context, &|f, v| addresses.leads_to_callers(module, f, v))
}

fn found(
    module: &Module,
    units: &Units,
    root: FuncId,
    context: &Context,
    counts: &dyn Fn(FuncId, ValueId) -> bool,
) -> Option<InstId> {
    let mut moved: BTreeMap<FuncId, BTreeMap<ClassId, InstId>> = BTreeMap::new();
    loop {
        let before: usize = moved.values().map(BTreeMap::len).sum();
        for f in units.functions() {
            let found = moved_in(module, units, f, &moved, counts);
            let known = moved.entry(f).or_default();
            for (class, i) in found {
                known.entry(class).or_insert(i);
            }
        }
        if moved.values().map(BTreeMap::len).sum::<usize>() == before {
            break;
        }
    }
    let given: BTreeSet<ClassId> = context.classes.iter().filter(|e| e.1.has_shadow()).map(|e| *e.0).collect();
    moved.get(&root)?.iter().find(|(class, _)| given.contains(class)).map(|e| *e.1)
}

fn moved_in(
    module: &Module,
    units: &Units,
    f: FuncId,
    moved: &BTreeMap<FuncId, BTreeMap<ClassId, InstId>>,
    counts: &dyn Fn(FuncId, ValueId) -> bool,
) -> Vec<(ClassId, InstId)> {
    let Some(unit) = units.get(f) else { return Vec::new() };
    let func = &module.funcs[f];
    let mut out = Vec::new();
    for (_, i) in func.placed() {
        if func.insts[i].op.call_info().is_none() {
            continue;
        }
        match resolve(module, func, i) {
            Callee::Known(known) => {
                if let MemoryEffect::Realloc { ptr, .. } = known.memory() {
                    let address = func.call_args(i).get(ptr).filter(|p| counts(f, **p));
                    let class = address.and_then(|p| unit.memory.class_of[*p]);
                    out.extend(class.map(|c| (c, i)));
                }
            }
            Callee::Defined(g) => {
                let Some(inner) = moved.get(&g) else { continue };
                let placed = unit.memory.calls.get(&i);
                for class in inner.keys() {
                    // Within a recursive group classes are shared.
                    let ours = match placed {
                        Some(map) => map.get(class).map(|p| p.class),
                        None => Some(*class),
                    };
                    out.extend(ours.map(|c| (c, i)));
                }
            }
            Callee::Math(_) | Callee::Unknown(_) => {}
        }
    }
    out
}

/// Memory of callers, and of global variables.
fn given(memory: &FuncMemory) -> BTreeSet<ClassId> {
    let global = |class: &Class| class.objects.iter().any(|o| matches!(o, Object::Global(_)));
    let globals = memory.classes.iter().filter(|(_, class)| global(class)).map(|(id, _)| id);
    let roots = memory.params.iter().flatten().copied().chain(globals);
    roots.flat_map(|root| memory.chain(root)).collect()
}

/// Whether pointers may lie in `len` bytes at `span`.
fn holds_pointers(class: &Class, span: Span, len: u64) -> bool {
    let is_pointer = |(item, proof): (&enzyme_analysis::memory::Item, &Proof)| {
        item.ty == ByteType::Pointer && *proof > Proof::Declared && item.span.overlaps(item.size, span, len)
    };
    class.items.iter().any(is_pointer) || class.edges.iter().any(|e| e.at.overlaps(POINTER, span, len))
}

/// What becomes of the pointer whose place a float takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Replaced {
    /// There is none, or what there is lies in memory of the caller and is but a guess.
    None,
    /// Its shadow is cleared.
    Cleared,
    /// It may be the caller's, as may the adjoint that lies in the same place: which of them is there, the word tells
    /// ([`crate::words`]), and a pointer's shadow is cleared.
    Told,
    /// The same where nothing tells.
    Contended,
}

/// Where the instruction `i` puts floats, by a store or as a mathematical function that leaves them in memory, and how many bytes.
pub fn float_places(module: &Module, s: &Subject<'_>, i: InstId) -> Vec<(ValueId, u64)> {
    let inst = &s.func.insts[i];
    let (types, layout) = (&module.ctx.types, &module.ctx.layout);
    match (&inst.op, inst.args.as_slice()) {
        (Op::Store(_), [v, p]) if s.unit.carry[*v].may() && !taken_for_integer(s, *v, *p) => {
            vec![(*p, layout.store_size(types, s.func.ty(*v)).unwrap_or(0))]
        }
        (Op::Call(_), _) => {
            let Callee::Math(math) = resolve(module, s.func, i) else { return Vec::new() };
            let args = s.func.call_args(i);
            let kind = args.iter().find_map(|a| module.ctx.float_kind(s.func.ty(*a)));
            let len = kind.map_or(0, |kind| u64::from(kind.bits()).div_ceil(8));
            let written = math.rule.operands.iter().zip(args).filter(|(o, _)| **o == Operand::OutPtr);
            written.map(|(_, p)| (*p, len)).collect()
        }
        _ => Vec::new(),
    }
}

/// What becomes of pointers where floats of `len` bytes are stored at `p`.
pub fn replaces_pointer(s: &Subject<'_>, p: ValueId, len: u64) -> Replaced {
    let memory = &s.unit.memory;
    let Some(id) = memory.class_of[p] else { return Replaced::None };
    let (class, span) = (&memory.classes[id], memory.span_of[p]);
    let stated = |(item, proof): (&enzyme_analysis::memory::Item, &Proof)| {
        *proof == Proof::Asserted && item.span.overlaps(item.size, span, len)
    };
    if !class.is_several() && class.items.iter().any(stated) {
        return Replaced::None;
    }
    if !holds_pointers(class, span, len) {
        return Replaced::None;
    }
    if s.key.own.contains(&id) || !given(memory).contains(&id) {
        return Replaced::Cleared;
    }
    let same = enzyme_analysis::memory::Item::new(span, POINTER, ByteType::Pointer);
    let certain = class.items.get(&same).is_some_and(|proof| *proof >= Proof::Passed);
    // An address as an adjoint in double precision is next to nothing; where many places or objects are meant, that is not worth a refusal.
    let one = span.stride == 0 && !class.is_several();
    let each = len < POINTER && (span.stride == 0 || span.stride >= POINTER);
    match certain && (one || each) {
        true if len.is_multiple_of(POINTER) && memory.tells_words(p) => Replaced::Told,
        true => Replaced::Contended,
        false => Replaced::None,
    }
}

/// Classes of what the call `i` calls that belong to the derivative, and where floats take the place of pointers.
pub fn passed_on(s: &Subject<'_>, i: InstId) -> BTreeSet<ClassId> {
    let memory = &s.unit.memory;
    let both = |id: &ClassId| {
        let class = &memory.classes[*id];
        if class.edges.is_empty() && !class.items.keys().any(|item| item.ty == ByteType::Pointer) {
            return false;
        }
        let mut floats = class.items.keys().filter(|item| matches!(item.ty, ByteType::Float(_)));
        floats.any(|item| holds_pointers(class, item.span, item.size))
    };
    let mixed: BTreeSet<ClassId> = memory.classes.keys().filter(both).collect();
    if mixed.is_empty() {
        return mixed;
    }
    let given = given(memory);
    let owned = |id: &ClassId| mixed.contains(id) && (!given.contains(id) || s.key.own.contains(id));
    match memory.calls.get(&i) {
        Some(map) => map.iter().filter(|(_, placed)| owned(&placed.class)).map(|(theirs, _)| *theirs).collect(),
        // Within a recursive group classes are shared.
        None => mixed.iter().copied().filter(owned).collect(),
    }
}
