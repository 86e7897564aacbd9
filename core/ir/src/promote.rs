//! Stack slots to values, on a finished function.
//!
//! Synthesis keeps adjoints and other running values in slots: simple to write, and LLVM's own promotion takes them out again, but
//! its time grows with slots times blocks, which huge derivatives feel. This is the classic construction of pruned SSA form:
//! phis at the iterated dominance frontier of the stores (Cytron, Ferrante, Rosen, Wegman, Zadeck: Efficiently Computing Static
//! Single Assignment Form and the Control Dependence Graph, 1991), names by one walk over the dominator tree. What is kept for the
//! reverse sweep is live nearly everywhere, so where a slot is live is asked only for slots whose frontier is large; of the others,
//! phis that nothing uses go in the end. The result is the same. The time is that of the walk plus the frontiers.
//!
//! Functions with many slots are kept near-linear at two further places. Slots that exclude each other become one ([`share`]). And
//! what still needs phis with more operands than the function has room for stays in memory, volatile so that LLVM leaves it there:
//! thousands of blocks that leave to one, each of which keeps something, else cost the square in phis.
//!
//! Taken are slots of the entry block, made by synthesis (no origin), of one element, whose address is only loaded from and
//! stored to, as a whole, in the slot's type. Others stay as they are. What is loaded before anything was stored is undefined.

use std::collections::{HashMap, HashSet};

use cranelift_entity::{EntityRef, SecondaryMap};
use smallvec::SmallVec;

use crate::func::{Func, Inst};
use crate::ids::{BlockId, ConstId, InstId, TypeId, ValueId};
use crate::module::Context;
use crate::op::{Access, FastMath, IntFlags, MemClass, Op, Ordering};
use crate::{Cfg, Const, DomTree};

pub mod share;

/// Takes slots out of `func`, and says how many.
pub fn promote(ctx: &mut Context, func: &mut Func) -> usize {
    let mut slots = Slots::find(ctx, func);
    if slots.types.is_empty() {
        return 0;
    }
    let cfg = Cfg::new(func);
    let dom = DomTree::new(func, &cfg);
    let frontiers = dom.frontiers(&cfg);
    let mut touched = touched(func, &cfg, &slots);
    if slots.types.len() > MANY {
        let places = share::share(func, &cfg, &dom, &frontiers, &slots.types, &touched.stored);
        for slot in slots.of.values_mut() {
            *slot = places[*slot as usize];
        }
        touched = self::touched(func, &cfg, &slots);
    }
    let undefined: Vec<ConstId> = slots.types.iter().map(|ty| ctx.consts.intern(Const::Undef(*ty))).collect();
    let (phis, large) = place_phis(func, &cfg, &frontiers, &slots, touched);
    slots.leave(func, &large);
    rename(func, &cfg, &dom, &slots, &phis, &undefined);
    drop_unused(func, &phis);
    slots.types.len() - large.len()
}

/// How many values may meet in the phis of a slot before it is asked where the slot is live.
const SMALL: usize = 128;

/// How many slots a function may have before those that exclude each other become one.
const MANY: usize = 512;

/// What the phis of slots that have more than [`SMALL`] operands may cost together: LLVM looks for operands one by one, so a phi costs
/// the square of them.
const ROOM: usize = 1 << 28;

/// How many blocks may be visited, over all slots, to know where they are live, and some for each block of the function.
const VISITS: (usize, usize) = (1 << 24, 256);

type Phis = SecondaryMap<BlockId, Vec<(u32, InstId)>>;

/// What an instruction does to a slot.
enum Touch {
    Load(u32),
    Store(u32),
    Make,
}

struct Slots {
    /// Type of each.
    types: Vec<TypeId>,
    /// Slot by address.
    of: HashMap<ValueId, u32>,
}

impl Slots {
    fn find(ctx: &Context, func: &Func) -> Slots {
        let mut found: Vec<Option<TypeId>> = Vec::new();
        let mut of: HashMap<ValueId, u32> = HashMap::new();
        let entry = func.entry().map(|b| func.blocks[b].insts.as_slice()).unwrap_or_default();
        for i in entry {
            let inst = &func.insts[*i];
            let (Op::Alloca { elem, .. }, None, Some(address)) = (&inst.op, inst.origin, inst.result) else { continue };
            let one = inst.args.first().and_then(|n| func.as_const(*n)).and_then(|c| ctx.consts.as_u64(c)) == Some(1);
            if one {
                of.insert(address, found.len() as u32);
                found.push(Some(*elem));
            }
        }
        for (_, i) in func.placed() {
            let inst = &func.insts[i];
            for (n, arg) in inst.args.iter().enumerate() {
                let Some(slot) = of.get(arg) else { continue };
                let place = &mut found[*slot as usize];
                let whole = match (&inst.op, n) {
                    (Op::Load(access), 0) => is_plain(*access) && *place == Some(inst.ty),
                    (Op::Store(access), 1) => {
                        is_plain(*access) && inst.args.first().is_some_and(|v| *place == Some(func.ty(*v)))
                    }
                    _ => false,
                };
                if !whole {
                    *place = None;
                }
            }
        }
        let mut numbers = vec![None; found.len()];
        let mut types = Vec::new();
        for (number, ty) in numbers.iter_mut().zip(&found) {
            if let Some(ty) = ty {
                *number = Some(types.len() as u32);
                types.push(*ty);
            }
        }
        let of = of.into_iter().filter_map(|(v, n)| Some((v, numbers[n as usize]?))).collect();
        Slots { types, of }
    }

    /// Leaves these slots in memory.
    fn leave(&mut self, func: &mut Func, large: &HashSet<u32>) {
        if large.is_empty() {
            return;
        }
        let mut left: HashSet<ValueId> = HashSet::new();
        self.of.retain(|address, slot| {
            let goes = large.contains(slot);
            if goes {
                left.insert(*address);
            }
            !goes
        });
        let placed: Vec<InstId> = func.placed().map(|(_, i)| i).collect();
        for i in placed {
            let inst = &mut func.insts[i];
            let address = inst.args.get(usize::from(matches!(inst.op, Op::Store(_))));
            if let Op::Load(access) | Op::Store(access) = &mut inst.op {
                access.volatile |= address.is_some_and(|a| left.contains(a));
            }
        }
    }

    fn touch(&self, func: &Func, i: InstId) -> Option<Touch> {
        let inst = &func.insts[i];
        match inst.op {
            Op::Load(_) => Some(Touch::Load(*self.of.get(inst.args.first()?)?)),
            Op::Store(_) => Some(Touch::Store(*self.of.get(inst.args.get(1)?)?)),
            Op::Alloca { .. } => self.of.contains_key(&inst.result?).then_some(Touch::Make),
            _ => None,
        }
    }
}

fn is_plain(access: Access) -> bool {
    !access.volatile && access.ordering == Ordering::NotAtomic
}

/// For each slot, the blocks that store it, and those that load it before they store it.
struct Touched {
    stored: Vec<Vec<BlockId>>,
    exposed: Vec<Vec<BlockId>>,
}

fn touched(func: &Func, cfg: &Cfg, slots: &Slots) -> Touched {
    let count = slots.types.len();
    let (mut stored, mut exposed): (Vec<Vec<BlockId>>, Vec<Vec<BlockId>>) = (vec![vec![]; count], vec![vec![]; count]);
    for b in cfg.rpo() {
        for i in &func.blocks[*b].insts {
            match slots.touch(func, *i) {
                Some(Touch::Load(s)) => {
                    let s = s as usize;
                    if stored[s].last() != Some(b) && exposed[s].last() != Some(b) {
                        exposed[s].push(*b);
                    }
                }
                Some(Touch::Store(s)) if stored[s as usize].last() != Some(b) => stored[s as usize].push(*b),
                Some(Touch::Store(_) | Touch::Make) | None => {}
            }
        }
    }
    Touched { stored, exposed }
}

/// Empty phis where stores meet and the slot is live, and the slots whose phis are too large.
fn place_phis(
    func: &mut Func,
    cfg: &Cfg,
    frontiers: &SecondaryMap<BlockId, Vec<BlockId>>,
    slots: &Slots,
    touched: Touched,
) -> (Phis, HashSet<u32>) {
    let Touched { mut stored, mut exposed } = touched;
    let mut room = ROOM;
    let mut visits = VISITS.0 + VISITS.1 * func.layout.len();
    let mut large = HashSet::new();
    let mut phis: Phis = SecondaryMap::new();
    // The slot for which a block was last found to store it, to be in need of it, to have a phi.
    let mut stores: SecondaryMap<BlockId, u32> = SecondaryMap::with_default(u32::MAX);
    let (mut live, mut merged) = (stores.clone(), stores.clone());
    for (s, ty) in (0u32..).zip(&slots.types) {
        let index = s as usize;
        if exposed[index].is_empty() {
            continue;
        }
        for b in &stored[index] {
            stores[*b] = s;
        }
        let mut places = Vec::new();
        let mut work = std::mem::take(&mut stored[index]);
        while let Some(b) = work.pop() {
            for at in &frontiers[b] {
                if merged[*at] != s {
                    merged[*at] = s;
                    places.push(*at);
                    work.push(*at);
                }
            }
        }
        if places.iter().map(|b| cfg.preds(*b).len()).sum::<usize>() > SMALL {
            let mut work = std::mem::take(&mut exposed[index]);
            for b in &work {
                live[*b] = s;
            }
            while let Some(b) = work.pop()
                && visits > 0
            {
                visits -= 1;
                for from in cfg.preds(b) {
                    if live[*from] != s && stores[*from] != s {
                        live[*from] = s;
                        work.push(*from);
                    }
                }
            }
            places.retain(|b| live[*b] == s);
            let cost = places.iter().map(|b| cfg.preds(*b).len().pow(2)).sum::<usize>();
            if visits == 0 || cost > room {
                large.insert(s);
                continue;
            }
            room -= cost;
        }
        for at in places {
            phis[at].push((s, func.make_inst(phi(*ty), false)));
        }
    }
    (phis, large)
}

/// Takes out those of `phis` that no other instruction needs.
fn drop_unused(func: &mut Func, phis: &Phis) {
    let merges: HashMap<ValueId, InstId> =
        phis.values().flatten().filter_map(|(_, merge)| Some((func.insts[*merge].result?, *merge))).collect();
    let ours: HashSet<InstId> = merges.values().copied().collect();
    let mut used: HashSet<InstId> = HashSet::new();
    let mut work: Vec<InstId> = func.placed().map(|(_, i)| i).filter(|i| !ours.contains(i)).collect();
    while let Some(i) = work.pop() {
        for merge in func.insts[i].args.iter().filter_map(|v| merges.get(v)) {
            if used.insert(*merge) {
                work.push(*merge);
            }
        }
    }
    for (b, merges) in phis.iter().filter(|(_, merges)| !merges.is_empty()) {
        let drops = merges.iter().filter(|(_, merge)| !used.contains(merge)).count();
        if drops > 0 {
            func.blocks[b].insts.retain(|i| !ours.contains(i) || used.contains(i));
        }
    }
}

fn phi(ty: TypeId) -> Inst {
    Inst {
        op: Op::Phi(Vec::new()),
        args: SmallVec::new(),
        ty,
        result: None,
        fast: FastMath::empty(),
        ints: IntFlags::empty(),
        loc: None,
        origin: None,
        scoped: None,
        mem: MemClass::Unknown,
    }
}

fn rename(func: &mut Func, cfg: &Cfg, dom: &DomTree, slots: &Slots, phis: &Phis, undefined: &[ConstId]) {
    let initial: Vec<ValueId> =
        slots.types.iter().zip(undefined).map(|(ty, undefined)| func.constant(*undefined, *ty)).collect();
    let mut now = initial.clone();
    let mut renamed: HashMap<ValueId, ValueId> = HashMap::new();
    // What was overwritten on the way down, to be put back on the way up.
    let mut before: Vec<(u32, ValueId)> = Vec::new();
    enum Step {
        Enter(BlockId),
        Leave(usize),
    }
    let mut steps: Vec<Step> = func.entry().into_iter().map(Step::Enter).collect();
    while let Some(step) = steps.pop() {
        let b = match step {
            Step::Leave(height) => {
                while before.len() > height
                    && let Some((s, v)) = before.pop()
                {
                    now[s as usize] = v;
                }
                continue;
            }
            Step::Enter(b) => b,
        };
        steps.push(Step::Leave(before.len()));
        let mut set = |now: &mut [ValueId], s: u32, v: ValueId| {
            before.push((s, now[s as usize]));
            now[s as usize] = v;
        };
        for (s, merge) in &phis[b] {
            if let Some(v) = func.insts[*merge].result {
                set(&mut now, *s, v);
            }
        }
        let insts = std::mem::take(&mut func.blocks[b].insts);
        let mut kept: Vec<InstId> = phis[b].iter().map(|(_, merge)| *merge).collect();
        for i in insts {
            match slots.touch(func, i) {
                Some(Touch::Load(s)) => {
                    if let Some(v) = func.insts[i].result {
                        renamed.insert(v, now[s as usize]);
                    }
                }
                Some(Touch::Store(s)) => {
                    if let Some(v) = func.insts[i].args.first() {
                        set(&mut now, s, renamed.get(v).copied().unwrap_or(*v));
                    }
                }
                Some(Touch::Make) => {}
                None => kept.push(i),
            }
        }
        func.blocks[b].insts = kept;
        for to in func.successors(b) {
            for (s, merge) in &phis[to] {
                add_incoming(func, *merge, b, now[*s as usize]);
            }
        }
        steps.extend(dom.children(b).iter().rev().map(|child| Step::Enter(*child)));
    }
    for b in func.layout.clone() {
        if cfg.is_reachable(b) {
            continue;
        }
        let insts = std::mem::take(&mut func.blocks[b].insts);
        for i in &insts {
            if let (Some(Touch::Load(s)), Some(v)) = (slots.touch(func, *i), func.insts[*i].result) {
                renamed.insert(v, initial[s as usize]);
            }
        }
        func.blocks[b].insts = insts.into_iter().filter(|i| slots.touch(func, *i).is_none()).collect();
        for to in func.successors(b) {
            for (s, merge) in &phis[to] {
                add_incoming(func, *merge, b, initial[*s as usize]);
            }
        }
    }
    for n in 0..func.insts.len() {
        for arg in &mut func.insts[InstId::new(n)].args {
            if let Some(v) = renamed.get(arg) {
                *arg = *v;
            }
        }
    }
}

fn add_incoming(func: &mut Func, merge: InstId, from: BlockId, value: ValueId) {
    let inst = &mut func.insts[merge];
    if let Op::Phi(blocks) = &mut inst.op {
        blocks.push(from);
        inst.args.push(value);
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;
    use crate::interp::{Config, Interp, Val};
    use crate::{parse_module, print_func, verify};

    const LOOP: &str = "
define i64 @f(i64 %n) {
entry:
  %sum = alloca i64
  %kept = alloca i64
  %i = alloca i64
  %never = alloca i64
  store i64 0, ptr %sum
  store i64 0, ptr %i
  store i64 5, ptr %kept
  br label %head
head:
  %at = load i64, ptr %i
  %more = icmp slt i64 %at, %n
  br i1 %more, label %body, label %done
body:
  %odd = trunc i64 %at to i1
  br i1 %odd, label %add, label %next
add:
  %old = load i64, ptr %sum
  %new = add i64 %old, %at
  store i64 %new, ptr %sum
  br label %next
next:
  %up = add i64 %at, 1
  store i64 %up, ptr %i
  br label %head
done:
  %result = load i64, ptr %sum
  %address = ptrtoint ptr %kept to i64
  %nothing = and i64 %address, 0
  %all = add i64 %result, %nothing
  ret i64 %all
}";

    fn results(text: &str, inputs: &[i64]) -> (usize, String, Vec<Option<Val>>) {
        let mut module = parse_module(text).unwrap();
        let id = module.find_func("f").unwrap();
        let mut func = module.funcs[id].clone();
        let taken = promote(&mut module.ctx, &mut func);
        assert!(verify(&module, &func).is_empty(), "{}", print_func(&module, &func));
        module.funcs[id] = func;
        let printed = print_func(&module, &module.funcs[id]);
        let mut interp = Interp::new(&module, Config::default()).unwrap();
        let outputs = inputs.iter().map(|n| interp.run(id, &[Val::int(*n)]).unwrap()).collect();
        (taken, printed, outputs)
    }

    #[test]
    fn loops_and_branches_keep_their_results() {
        let (taken, text, outputs) = results(LOOP, &[0, 1, 2, 6, 11]);
        assert_eq!(taken, 3, "{text}");
        let expected: Vec<Option<Val>> = [0i64, 0, 1, 9, 25].iter().map(|n| Some(Val::int(*n))).collect();
        assert_eq!(outputs, expected, "{text}");
        assert_eq!((text.matches("alloca").count(), text.matches("phi").count()), (1, 3), "{text}");
    }

    /// Some arms that meet: a slot is read where they meet, another only within its arm.
    fn arms(count: usize) -> String {
        let mut text = "define i64 @f(i64 %n) {\nentry:\n  %out = alloca i64\n  %own = alloca i64\n".to_owned();
        text += "  switch i64 %n, label %last [";
        for i in 0..count {
            let _ = write!(text, " i64 {i}, label %a{i}");
        }
        text += " ]\nlast:\n  store i64 7, ptr %out\n  br label %meet\n";
        for i in 0..count {
            let _ = writeln!(text, "a{i}:\n  store i64 {}, ptr %own\n  br label %b{i}", i * i);
            let _ =
                writeln!(text, "b{i}:\n  %v{i} = load i64, ptr %own\n  store i64 %v{i}, ptr %out\n  br label %meet");
        }
        text + "meet:\n  %all = load i64, ptr %out\n  ret i64 %all\n}"
    }

    #[test]
    fn slots_have_phis_only_where_they_are_needed() {
        for count in [3, 2 * SMALL] {
            let (taken, text, outputs) = results(&arms(count), &[0, 2, count as i64]);
            assert_eq!((taken, text.matches("phi").count()), (2, 1), "{text}");
            assert_eq!(outputs, [0i64, 4, 7].map(|n| Some(Val::int(n))), "{text}");
        }
    }

    #[test]
    fn slots_that_are_more_than_a_value_stay() {
        let text = "
define i64 @f(i64 %n) {
entry:
  %parts = alloca i64
  %several = alloca i64, i64 %n
  %itself = alloca ptr
  %seen = alloca i64
  store i64 %n, ptr %parts
  %half = load i32, ptr %parts
  store i64 1, ptr %several
  store ptr %itself, ptr %itself
  store volatile i64 %n, ptr %seen
  %one = load i64, ptr %several
  %wide = zext i32 %half to i64
  %sum = add i64 %one, %wide
  ret i64 %sum
}";
        let (taken, text, outputs) = results(text, &[4]);
        assert_eq!((taken, outputs), (0, vec![Some(Val::int(5))]), "{text}");
    }
}
