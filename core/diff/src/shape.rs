//! The control flow of a primal function as its reverse sweep sees it.
//!
//! Only blocks on a path from the entry to the return take part (*live* blocks); the others end in `unreachable` and
//! are never left. Of the primal function it is required (and established by the importer): one `ret`, loops with a
//! preheader, one latch and dedicated exits. What does not have this shape is refused with the block's name.
//!
//! An `invoke` counts as a call at the start of its normal destination, which is entered from nowhere else: there its
//! result is defined, and there its reverse stands. Where the call throws, there is nothing to reverse.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::SecondaryMap;
use enzyme_ir::cfg::{Cfg, DomTree, LoopId, LoopNest};
use enzyme_ir::{BinOp, BlockId, Facts, Func, InstId, Module, Op, ValueDef, ValueId};

use crate::carried::Chains;
use crate::fixed::Fixed;
use crate::latest::Running;
use crate::refusal::{Refusal, RefusalKind};

/// How far it is looked where a number comes from.
const MOST_STEPS: usize = 8;

/// How the block from which a merge block was entered is found again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Merge {
    /// It has one predecessor.
    Single(BlockId),
    /// The terminator of `decider` decides: its operand, and the predecessor for each of its successors in order.
    Decided {
        /// The dominating block that branches.
        decider: BlockId,
        /// Predecessor of the merge block reached through each successor; `None` for one that never arrives.
        by_successor: Vec<Option<BlockId>>,
    },
    /// The position of the predecessor in this list is recorded.
    Recorded(Vec<BlockId>),
}

/// How often a loop ran is found again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trip {
    /// The backedge-taken count is this value, available in the preheader.
    Known(ValueId),
    /// It is counted and recorded.
    Counted,
}

/// A loop-header phi that is `start + iteration * step`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Affine {
    /// The loop.
    pub in_loop: LoopId,
    /// Value on entry.
    pub start: ValueId,
    /// Increment per iteration, the same throughout the loop.
    pub step: ValueId,
    /// The instruction that adds the step.
    pub next: InstId,
}

/// Control flow facts of one function.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Predecessors and successors.
    pub cfg: Cfg,
    /// Dominators.
    pub dom: DomTree,
    /// Loops.
    pub loops: LoopNest,
    /// Whether a block lies on a path to the return.
    pub live: SecondaryMap<BlockId, bool>,
    /// Block of each placed instruction; of an invoke its normal destination.
    pub block_of: SecondaryMap<InstId, Option<BlockId>>,
    /// The block that returns; absent if the function never does.
    pub exit: Option<BlockId>,
    /// How each live block other than entry and loop headers was entered.
    pub merges: BTreeMap<BlockId, Merge>,
    /// Trip count of each live loop.
    pub trips: BTreeMap<LoopId, Trip>,
    /// Loops that find some of their memory by numbers which they read: over pairs, edges, entries of a sparse matrix.
    pub gathering: BTreeSet<LoopId>,
    /// Induction variables.
    pub affine: BTreeMap<ValueId, Affine>,
    /// Values that are stored in the block that computes them, and stand in memory from then on: by which store.
    pub standing: BTreeMap<ValueId, InstId>,
    /// Phis that are what another value was some iterations ago.
    pub carried: Chains,
    /// Selections that replace a number which a loop carries on.
    pub running: BTreeMap<ValueId, Running>,
    /// Values that are computed alike in each iteration of an outer loop.
    pub fixed: BTreeMap<ValueId, Fixed>,
    /// Addresses in stack slots that nobody outside of the function can know.
    pub local: BTreeSet<ValueId>,
}

impl Shape {
    /// Blocks and loops alone, with no claim that control can be turned round.
    pub fn unchecked(func: &Func) -> Shape {
        let cfg = Cfg::new(func);
        let dom = DomTree::new(func, &cfg);
        let loops = LoopNest::new(func, &cfg, &dom);
        let mut block_of = func.inst_blocks();
        for b in &func.layout {
            if let Some((t, normal)) = normal_dest(func, *b)
                && cfg.reachable_preds(normal).len() == 1
            {
                block_of[t] = Some(normal);
            }
        }
        Shape {
            cfg,
            dom,
            loops,
            live: SecondaryMap::new(),
            block_of,
            exit: None,
            merges: BTreeMap::new(),
            trips: BTreeMap::new(),
            gathering: BTreeSet::new(),
            affine: BTreeMap::new(),
            standing: BTreeMap::new(),
            carried: Chains::default(),
            running: BTreeMap::new(),
            fixed: BTreeMap::new(),
            local: BTreeSet::new(),
        }
    }

    /// Analyses `func`.
    pub fn new(module: &Module, func: &Func, facts: &Facts) -> Result<Shape, Refusal> {
        let mut shape = Shape::unchecked(func);
        shape.find_live(func)?;
        shape.check_terminators(func)?;
        shape.check_loops(func)?;
        shape.check_closed(func)?;
        shape.find_merges(func);
        shape.find_trips(facts);
        shape.find_gathering(func);
        shape.find_affine(module, func);
        for i in &facts.stable_stores {
            let value = func.insts[*i].args.first().copied();
            if let Some(v) =
                value.filter(|v| func.def_inst(*v).is_some_and(|d| shape.block_of[d] == shape.block_of[*i]))
            {
                shape.standing.entry(v).or_insert(*i);
            }
        }
        shape.carried = Chains::new(module, func, facts, &shape);
        shape.running = crate::latest::find(module, func, &shape);
        shape.fixed = crate::fixed::find(module, func, facts, &shape);
        shape.local = crate::local::addresses(module, func);
        Ok(shape)
    }

    /// Live blocks in reverse post-order.
    pub fn live_blocks(&self) -> impl DoubleEndedIterator<Item = BlockId> + '_ {
        self.cfg.rpo().iter().copied().filter(|b| self.live[*b])
    }

    /// Instructions that belong to `b`: those in it, after the invoke that leads here instead of one that ends it.
    pub fn insts(&self, func: &Func, b: BlockId) -> Vec<InstId> {
        let lead = match self.cfg.reachable_preds(b).as_slice() {
            [p] => normal_dest(func, *p).filter(|(_, normal)| *normal == b).map(|e| e.0),
            _ => None,
        };
        let own = func.blocks[b].insts.iter().copied().filter(|i| !matches!(func.insts[*i].op, Op::Invoke { .. }));
        lead.into_iter().chain(own).collect()
    }

    /// Whether control may come to `b` from `p` because a call threw.
    pub fn is_unwind_edge(&self, func: &Func, p: BlockId, b: BlockId) -> bool {
        func.terminator(p).is_some_and(|t| matches!(func.insts[t].op, Op::Invoke { unwind, .. } if unwind == b))
    }

    /// Block in which a value is defined; `None` for parameters and constants.
    pub fn def_block(&self, func: &Func, v: ValueId) -> Option<BlockId> {
        self.block_of[func.def_inst(v)?]
    }

    /// The innermost loop around the definition of `v`.
    pub fn def_loop(&self, func: &Func, v: ValueId) -> Option<LoopId> {
        self.loops.innermost(self.def_block(func, v)?)
    }

    /// Loops that are left when control goes from `from` to `to`, innermost first.
    pub fn left_between(&self, from: BlockId, to: BlockId) -> Vec<LoopId> {
        self.loops.around(from).filter(|l| !self.loops.contains(*l, to)).collect()
    }

    fn find_live(&mut self, func: &Func) -> Result<(), Refusal> {
        let returns: Vec<BlockId> = self
            .cfg
            .rpo()
            .iter()
            .copied()
            .filter(|b| func.terminator(*b).is_some_and(|t| matches!(func.insts[t].op, Op::Ret)))
            .collect();
        if returns.len() > 1 {
            return Err(Refusal::new(RefusalKind::Shape("several returns")).at_block(func, returns[1]));
        }
        self.exit = returns.first().copied();
        let mut work: Vec<BlockId> = returns;
        while let Some(b) = work.pop() {
            if !self.live[b] {
                self.live[b] = true;
                work.extend(self.cfg.reachable_preds(b));
            }
        }
        Ok(())
    }

    fn check_terminators(&self, func: &Func) -> Result<(), Refusal> {
        for b in self.live_blocks() {
            let Some(t) = func.terminator(b) else {
                return Err(Refusal::new(RefusalKind::Shape("a block without terminator")).at_block(func, b));
            };
            let what = match &func.insts[t].op {
                Op::Ret | Op::Br(_) | Op::CondBr { .. } | Op::Switch { .. } => continue,
                Op::Invoke { normal, .. } => {
                    self.check_normal_dest(func, b, *normal)?;
                    continue;
                }
                Op::IndirectBr(_) => "a computed goto",
                Op::CallBr { .. } => "assembly that jumps",
                _ => "exceptional control flow",
            };
            return Err(Refusal::new(RefusalKind::Control(what)).at(t));
        }
        for region in self.loops.irreducible() {
            if let Some(b) = region.iter().copied().find(|b| self.live[*b]) {
                return Err(Refusal::new(RefusalKind::Control("a loop with several entries")).at_block(func, b));
            }
        }
        Ok(())
    }

    /// The start of the normal destination is as good a place for a call as its own block.
    fn check_normal_dest(&self, func: &Func, b: BlockId, normal: BlockId) -> Result<(), Refusal> {
        let alone = self.cfg.reachable_preds(normal).len() == 1;
        let has_phi = func.blocks[normal].insts.first().is_some_and(|i| matches!(func.insts[*i].op, Op::Phi(_)));
        if self.live[normal] && (!alone || has_phi || self.loops.innermost(b) != self.loops.innermost(normal)) {
            return Err(
                Refusal::new(RefusalKind::Shape("a call whose normal destination is not its own")).at_block(func, b)
            );
        }
        Ok(())
    }

    fn check_loops(&self, func: &Func) -> Result<(), Refusal> {
        for (id, l) in self.loops.loops() {
            if !self.live[l.header] {
                continue;
            }
            let refuse = |what| Err(Refusal::new(RefusalKind::Shape(what)).at_block(func, l.header));
            if l.preheader.is_none() {
                return refuse("a loop without preheader");
            }
            if l.latches.len() != 1 {
                return refuse("a loop with several latches");
            }
            for (_, exit) in self.loops.exits(&self.cfg, id) {
                let dedicated = self.cfg.reachable_preds(exit).iter().all(|p| self.loops.contains(id, *p));
                if self.live[exit] && !dedicated {
                    return refuse("a loop exit that is entered from elsewhere");
                }
            }
        }
        Ok(())
    }

    /// Values leave loops through phis only (LCSSA): elsewhere the last iteration would have to be looked up.
    fn check_closed(&self, func: &Func) -> Result<(), Refusal> {
        for b in self.live_blocks() {
            for i in self.insts(func, b) {
                let inst = &func.insts[i];
                if matches!(inst.op, Op::Phi(_)) {
                    continue;
                }
                for a in &inst.args {
                    let Some(l) = self.def_loop(func, *a) else { continue };
                    if !self.loops.contains(l, b) {
                        return Err(Refusal::new(RefusalKind::Shape("a value used outside of its loop")).at(i));
                    }
                }
            }
        }
        Ok(())
    }

    fn find_merges(&mut self, func: &Func) {
        let blocks: Vec<BlockId> = self.live_blocks().collect();
        for b in blocks {
            if self.cfg.entry() == Some(b) || self.loops.headed_by(b).is_some() {
                continue;
            }
            let mut preds = self.cfg.reachable_preds(b);
            preds.sort_unstable();
            preds.dedup();
            let merge = match preds.as_slice() {
                [one] => Merge::Single(*one),
                _ => self.decided(func, b, &preds).unwrap_or(Merge::Recorded(preds)),
            };
            self.merges.insert(b, merge);
        }
    }

    /// Whether the terminator of the immediate dominator of `b` tells its predecessor.
    fn decided(&self, func: &Func, b: BlockId, preds: &[BlockId]) -> Option<Merge> {
        let decider = self.dom.idom(b)?;
        let same_nest = self.loops.innermost(decider).is_none_or(|l| self.loops.contains(l, b));
        if !same_nest {
            return None;
        }
        let terminator = func.terminator(decider)?;
        if !matches!(func.insts[terminator].op, Op::CondBr { .. } | Op::Switch { .. }) {
            return None;
        }
        let successors = func.successors(decider);
        let mut by_successor = Vec::new();
        let mut covered = Vec::new();
        for s in &successors {
            let arrives: Vec<BlockId> = if *s == b {
                vec![decider]
            } else if self.cfg.preds(*s).iter().all(|p| p == &decider) {
                preds.iter().copied().filter(|p| *p != decider && self.dom.dominates(*s, *p)).collect()
            } else {
                return None;
            };
            match arrives.as_slice() {
                [] => by_successor.push(None),
                [p] => {
                    by_successor.push(Some(*p));
                    covered.push(*p);
                }
                _ => return None,
            }
        }
        preds.iter().all(|p| covered.contains(p)).then_some(Merge::Decided { decider, by_successor })
    }

    fn find_trips(&mut self, facts: &Facts) {
        for (id, l) in self.loops.loops() {
            if self.live[l.header] {
                let trip = facts.trip_counts.get(&l.header).map_or(Trip::Counted, |v| Trip::Known(*v));
                self.trips.insert(id, trip);
            }
        }
    }

    fn find_gathering(&mut self, func: &Func) {
        for (_, i) in func.placed() {
            let Some(l) = self.block_of[i].and_then(|b| self.loops.innermost(b)) else { continue };
            let inst = &func.insts[i];
            let indices = inst.args.iter().skip(1);
            if matches!(inst.op, Op::Gep { .. }) && indices.into_iter().any(|v| self.is_read_in(func, l, *v)) {
                self.gathering.insert(l);
            }
        }
    }

    /// Whether a number is computed of one that `l` itself reads.
    fn is_read_in(&self, func: &Func, l: LoopId, v: ValueId) -> bool {
        let mut work = vec![v];
        for _ in 0..MOST_STEPS {
            let Some(i) = work.pop().and_then(|v| func.def_inst(v)) else { continue };
            let inst = &func.insts[i];
            let here = self.block_of[i].and_then(|b| self.loops.innermost(b)) == Some(l);
            match inst.op {
                Op::Load(_) if here => return true,
                Op::Cast(_) | Op::Binary(_) if here => work.extend(inst.args.iter().copied()),
                _ => {}
            }
        }
        false
    }

    /// Whether `v` has the same value in all iterations of one entry of `l` because it is defined outside.
    pub fn is_outside(&self, func: &Func, l: LoopId, v: ValueId) -> bool {
        match func.values[v].def {
            ValueDef::Param(_) | ValueDef::Const(_) => true,
            ValueDef::Inst(i) => self.block_of[i].is_some_and(|b| !self.loops.contains(l, b)),
        }
    }

    fn find_affine(&mut self, module: &Module, func: &Func) {
        let mut found = BTreeMap::new();
        for (id, l) in self.loops.loops() {
            let (Some(preheader), [latch]) = (l.preheader, l.latches.as_slice()) else { continue };
            for i in &func.blocks[l.header].insts {
                let inst = &func.insts[*i];
                let Op::Phi(blocks) = &inst.op else { break };
                let Some(phi) = inst.result else { continue };
                let from = |b: BlockId| blocks.iter().position(|x| *x == b).and_then(|n| inst.args.get(n)).copied();
                let (Some(start), Some(next)) = (from(preheader), from(*latch)) else { continue };
                let Some(step_inst) = func.def_inst(next) else { continue };
                let adds = &func.insts[step_inst];
                let integer = matches!(module.ctx.types[inst.ty], enzyme_ir::Type::Int(n) if n <= 64);
                let pointer = matches!(module.ctx.types[inst.ty], enzyme_ir::Type::Ptr(_));
                let step = match (&adds.op, adds.args.as_slice()) {
                    (Op::Binary(BinOp::Add), [a, b]) if integer && *a == phi => *b,
                    (Op::Binary(BinOp::Add), [a, b]) if integer && *b == phi => *a,
                    (Op::Gep { .. }, [a, b]) if pointer && *a == phi => *b,
                    _ => continue,
                };
                let scalar = matches!(module.ctx.types[func.ty(step)], enzyme_ir::Type::Int(n) if n <= 64);
                if scalar && self.is_outside(func, id, step) {
                    found.insert(phi, Affine { in_loop: id, start, step, next: step_inst });
                }
            }
        }
        self.affine = found;
    }
}

/// The invoke that ends `b`, and where it goes on when it returns.
fn normal_dest(func: &Func, b: BlockId) -> Option<(InstId, BlockId)> {
    let t = func.terminator(b)?;
    match func.insts[t].op {
        Op::Invoke { normal, .. } => Some((t, normal)),
        _ => None,
    }
}
