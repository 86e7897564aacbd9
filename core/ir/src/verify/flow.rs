//! Phis against predecessors, definitions against uses.

use std::collections::HashMap;

use super::{Entity, Verifier};
use crate::cfg::{Cfg, DomTree};
use crate::func::ValueDef;
use crate::ids::{BlockId, InstId, ValueId};
use crate::op::Op;

impl Verifier<'_> {
    /// Entries of phis: one for each edge into the block.
    pub(super) fn phis(&mut self, cfg: &Cfg) {
        let func = self.func;
        for b in &func.layout {
            let mut preds: Vec<BlockId> = cfg.preds(*b).to_vec();
            preds.sort_unstable();
            for i in &func.blocks[*b].insts {
                let inst = &func.insts[*i];
                let Op::Phi(from) = &inst.op else { break };
                let mut sorted = from.clone();
                sorted.sort_unstable();
                if sorted != preds {
                    let names =
                        |list: &[BlockId]| list.iter().take(8).map(ToString::to_string).collect::<Vec<_>>().join(" ");
                    let message = format!(
                        "phi has entries for [{}], but the predecessors are [{}]",
                        names(&sorted),
                        names(&preds)
                    );
                    self.error(Entity::Inst(*i), message);
                }
                let mut known: HashMap<BlockId, ValueId> = HashMap::new();
                for (block, value) in from.iter().zip(&inst.args) {
                    if *known.entry(*block).or_insert(*value) != *value {
                        self.error(Entity::Inst(*i), format!("phi has different values for edges from {block}"));
                    }
                }
            }
        }
    }

    /// Definitions dominate uses.
    pub(super) fn dominance(&mut self, cfg: &Cfg, dom: &DomTree) {
        let func = self.func;
        for (b, i) in func.placed() {
            if !cfg.is_reachable(b) {
                continue;
            }
            let inst = &func.insts[i];
            for (at, arg) in inst.args.iter().enumerate() {
                let ValueDef::Inst(def) = func.values[*arg].def else { continue };
                let Some((def_block, def_at)) = self.place[def] else {
                    self.error(Entity::Inst(i), format!("uses {arg}, whose instruction is in no block"));
                    continue;
                };
                let is_invoke = matches!(func.insts[def].op, Op::Invoke { .. });
                let is_dominated = match &inst.op {
                    Op::Phi(from) => match from.get(at) {
                        Some(edge) if cfg.is_reachable(*edge) => {
                            if is_invoke && def_block == *edge {
                                self.is_normal_edge(cfg, def, b)
                            } else {
                                self.reaches(cfg, dom, def, def_block, *edge)
                            }
                        }
                        _ => true,
                    },
                    _ if def_block == b => self.place[i].is_some_and(|(_, use_at)| def_at < use_at),
                    _ => self.reaches(cfg, dom, def, def_block, b),
                };
                if !is_dominated {
                    self.error(Entity::Inst(i), format!("uses {arg} where it is not defined on every path"));
                }
            }
        }
    }

    /// Whether the result of `def` is there in all of block `to`, or at its end if `to` is the block of `def`.
    fn reaches(&self, cfg: &Cfg, dom: &DomTree, def: InstId, def_block: BlockId, to: BlockId) -> bool {
        match self.func.insts[def].op {
            Op::Invoke { normal, unwind, .. } => {
                // Dominated by the edge: by its target, if that is entered otherwise only from what it dominates.
                let only_edge = cfg.preds(normal).iter().all(|p| *p == def_block || dom.dominates(normal, *p));
                normal != unwind && only_edge && dom.dominates(normal, to)
            }
            _ => dom.dominates(def_block, to),
        }
    }

    /// Whether the edge from the block of the invoke `def` to `to` is the normal one alone.
    fn is_normal_edge(&self, cfg: &Cfg, def: InstId, to: BlockId) -> bool {
        match self.func.insts[def].op {
            Op::Invoke { normal, unwind, .. } => normal == to && unwind != to && !cfg.preds(to).is_empty(),
            _ => false,
        }
    }
}
