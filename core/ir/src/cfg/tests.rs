//! Graphs as data: edges in, facts out; and random graphs against brute force and another algorithm.

use super::*;
use crate::func::Inst;
use crate::ids::{BlockId, ConstId};
use crate::module::Context;
use crate::op::{FastMath, IntFlags, MemClass, Op};
use cranelift_entity::EntityRef;
use petgraph::graph::{DiGraph, NodeIndex};

fn bb(i: usize) -> BlockId {
    BlockId::new(i)
}

/// A function whose block `i` has the successors `edges[i]`.
fn graph(edges: &[Vec<usize>]) -> Func {
    let mut ctx = Context::default();
    let void = ctx.types.void();
    let sig = ctx.types.func(void, vec![]);
    let mut func = Func::new("f", sig, &[]);
    for _ in edges {
        func.add_block(None);
    }
    for (i, targets) in edges.iter().enumerate() {
        let op = match targets.as_slice() {
            [] => Op::Ret,
            [t] => Op::Br(bb(*t)),
            [t, e] => Op::CondBr { then_to: bb(*t), else_to: bb(*e) },
            [d, rest @ ..] => {
                Op::Switch { default: bb(*d), cases: rest.iter().map(|t| (ConstId::new(0), bb(*t))).collect() }
            }
        };
        let inst = Inst {
            op,
            args: Default::default(),
            ty: void,
            result: None,
            fast: FastMath::empty(),
            ints: IntFlags::empty(),
            loc: None,
            origin: None,
            scoped: None,
            mem: MemClass::Unknown,
        };
        let id = func.make_inst(inst, true);
        func.blocks[bb(i)].insts.push(id);
    }
    func
}

struct All {
    cfg: Cfg,
    dom: DomTree,
    post: DomTree,
    nest: LoopNest,
}

fn all(edges: &[Vec<usize>]) -> All {
    let func = graph(edges);
    let cfg = Cfg::new(&func);
    let dom = DomTree::new(&func, &cfg);
    let post = DomTree::post(&func, &cfg);
    let nest = LoopNest::new(&func, &cfg, &dom);
    All { cfg, dom, post, nest }
}

fn names(blocks: &[BlockId]) -> Vec<usize> {
    blocks.iter().map(|b| b.index()).collect()
}

#[test]
fn diamond_with_an_unreachable_block() {
    let a = all(&[vec![1, 2], vec![3], vec![3], vec![], vec![3, 3]]);
    assert_eq!(names(a.cfg.rpo()), [0, 1, 2, 3]);
    assert_eq!(names(a.cfg.preds(bb(3))), [1, 2, 4, 4]);
    assert_eq!(names(&a.cfg.reachable_preds(bb(3))), [1, 2]);
    assert_eq!(a.dom.idom(bb(3)), Some(bb(0)));
    assert_eq!(a.post.idom(bb(0)), Some(bb(3)));
    assert_eq!(a.dom.common(bb(1), bb(2)), Some(bb(0)));
    assert!(a.dom.dominates(bb(1), bb(4)) && !a.dom.contains(bb(4)));
    assert!(!a.dom.dominates(bb(4), bb(1)));
    assert_eq!(names(&a.dom.frontiers(&a.cfg)[bb(1)]), [3]);
    assert_eq!(names(&a.post.frontiers(&a.cfg)[bb(1)]), [0]);
    assert!(a.nest.is_empty() && a.nest.irreducible().is_empty());
}

#[test]
fn nested_loops_with_two_exits() {
    // 0 -> 1 (outer header) -> 2 (inner header) -> 3 -> 2 | 4; 2 -> 6; 4 -> 1 | 5
    let a = all(&[vec![1], vec![2], vec![3, 6], vec![2, 4], vec![1, 5], vec![], vec![]]);
    assert_eq!(a.nest.len(), 2);
    let (outer, inner) = (LoopId::new(0), LoopId::new(1));
    assert_eq!(a.nest[outer].header, bb(1));
    assert_eq!((a.nest[inner].parent, a.nest[inner].depth), (Some(outer), 2));
    assert_eq!(names(a.nest.blocks(outer)), [1, 2, 3, 4]);
    assert_eq!(names(a.nest.blocks(inner)), [2, 3]);
    assert_eq!(a.nest.preheader(outer), Some(bb(0)));
    assert_eq!(a.nest.preheader(inner), Some(bb(1)));
    assert_eq!(a.nest.exits(&a.cfg, outer), [(bb(2), bb(6)), (bb(4), bb(5))]);
    assert_eq!(a.nest.exits(&a.cfg, inner), [(bb(2), bb(6)), (bb(3), bb(4))]);
    assert_eq!(a.nest.around(bb(3)).collect::<Vec<_>>(), [inner, outer]);
    assert_eq!(a.nest.headed_by(bb(2)), Some(inner));
    assert!(a.nest.encloses(outer, inner) && !a.nest.encloses(inner, outer));
    assert_eq!(a.nest.depth(bb(5)), 0);
}

#[test]
fn shared_header_is_one_loop_and_a_branching_entry_no_preheader() {
    let a = all(&[vec![1, 4], vec![2, 3], vec![1], vec![1, 4], vec![]]);
    let l = LoopId::new(0);
    assert_eq!(a.nest.len(), 1);
    assert_eq!(names(&a.nest[l].latches), [2, 3]);
    assert_eq!(a.nest.preheader(l), None);
}

#[test]
fn two_entries_make_an_irreducible_region_with_its_inner_loop() {
    // 1 <-> 2 entered at both; 1 has an inner self-made loop over 4.
    let a = all(&[vec![1, 2], vec![2, 4], vec![1, 3], vec![], vec![1]]);
    assert_eq!(a.nest.irreducible().len(), 1);
    let mut region = names(&a.nest.irreducible()[0]);
    region.sort_unstable();
    assert_eq!(region, [1, 2, 4]);
    assert!(a.nest.is_irreducible(bb(4)) && !a.nest.is_irreducible(bb(0)));
    assert_eq!(a.nest.headed_by(bb(1)), Some(LoopId::new(0)));
}

#[test]
fn infinite_loops_have_post_dominators() {
    let a = all(&[vec![1, 4], vec![2], vec![1, 3], vec![2], vec![]]);
    assert_eq!(a.post.idom(bb(0)), None);
    assert!(a.post.contains(bb(3)) && a.post.roots().contains(&bb(4)));
    assert!([1, 2, 3].iter().all(|b| a.post.contains(bb(*b))));
}

#[test]
fn malformed_functions_do_no_harm() {
    let mut func = graph(&[vec![1, 2], vec![0], vec![]]);
    func.blocks[bb(2)].insts.clear();
    func.layout.push(bb(1));
    func.layout.push(bb(77));
    func.insts.values_mut().for_each(|i| i.op.map_targets(&mut |b| if b == bb(2) { bb(99) } else { b }));
    let cfg = Cfg::new(&func);
    let dom = DomTree::new(&func, &cfg);
    let _ = DomTree::post(&func, &cfg);
    let nest = LoopNest::new(&func, &cfg, &dom);
    assert_eq!(names(cfg.succs(bb(0))), [1]);
    assert_eq!(nest.len(), 1);
    let empty = graph(&[]);
    let cfg = Cfg::new(&empty);
    assert!(cfg.rpo().is_empty() && DomTree::post(&empty, &cfg).preorder().is_empty());
    assert!(DomTree::new(&empty, &cfg).roots().is_empty());
}

#[test]
fn large_functions_are_fast_and_need_no_stack() {
    let n = 100_000;
    // A chain whose every block may leave to one exit.
    let mut chain: Vec<Vec<usize>> = (0..n).map(|i| vec![i + 1, n]).collect();
    chain.push(vec![]);
    let a = all(&chain);
    assert_eq!(a.dom.idom(bb(n)), Some(bb(0)));
    // Loops nested as deeply as there are blocks: 1 + i -> 2 + i going in, then back from 1 + deep + i to 1 + deep - i.
    let deep = 20_000;
    let mut nested: Vec<Vec<usize>> = (0..=deep + 1).map(|i| vec![i + 1]).collect();
    nested.extend((1..=deep).map(|i| vec![1 + deep - i, deep + i + 2]));
    nested.push(vec![]);
    let a = all(&nested);
    assert_eq!(a.nest.len(), deep);
    assert_eq!(a.nest.depth(bb(deep + 1)), deep as u32);
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % n
    }
}

/// Blocks reached from `from` without passing `without`.
fn reach(succs: &[Vec<usize>], from: usize, without: usize) -> Vec<bool> {
    let mut seen = vec![false; succs.len()];
    let mut stack = vec![from];
    while let Some(b) = stack.pop() {
        if b != without && !std::mem::replace(&mut seen[b], true) {
            stack.extend(&succs[b]);
        }
    }
    seen
}

#[test]
fn random_graphs_agree_with_brute_force() {
    let mut random = Random(7);
    for _ in 0..400 {
        let n = 1 + random.below(12);
        let edges: Vec<Vec<usize>> = (0..n).map(|_| (0..random.below(4)).map(|_| random.below(n)).collect()).collect();
        let a = all(&edges);
        let reached = reach(&edges, 0, n);
        let mut oracle: DiGraph<(), ()> = DiGraph::new();
        for _ in 0..n {
            oracle.add_node(());
        }
        for (from, targets) in edges.iter().enumerate() {
            for to in targets {
                oracle.add_edge(NodeIndex::new(from), NodeIndex::new(*to), ());
            }
        }
        let fast = petgraph::algo::dominators::simple_fast(&oracle, NodeIndex::new(0));
        let frontiers = a.dom.frontiers(&a.cfg);
        for x in 0..n {
            assert_eq!(a.cfg.is_reachable(bb(x)), reached[x]);
            if !reached[x] {
                continue;
            }
            let expect = fast.immediate_dominator(NodeIndex::new(x)).map(|i| bb(i.index()));
            assert_eq!(a.dom.idom(bb(x)), expect, "{edges:?}");
            assert!(a.post.contains(bb(x)));
            let without = reach(&edges, 0, x);
            let exits: Vec<usize> = (0..n).filter(|e| edges[*e].is_empty()).collect();
            for y in (0..n).filter(|y| reached[*y]) {
                assert_eq!(a.dom.dominates(bb(x), bb(y)), x == y || !without[y], "{edges:?} {x} {y}");
                let leaves = |skip| exits.iter().any(|e| reach(&edges, y, skip)[*e]);
                // Where the exit is reached at all, paths to it decide unless a cycle without way out is reachable.
                let trapped = (0..n).filter(|t| reach(&edges, y, n)[*t]).any(|t| {
                    let from = reach(&edges, t, n);
                    exits.iter().all(|e| !from[*e])
                });
                if x != y && leaves(n) && !trapped {
                    assert_eq!(a.post.dominates(bb(x), bb(y)), !leaves(x), "post {edges:?} {x} {y}");
                }
                let in_frontier = a.cfg.preds(bb(y)).iter().any(|p| reached[p.index()] && a.dom.dominates(bb(x), *p))
                    && !a.dom.strictly_dominates(bb(x), bb(y));
                assert_eq!(frontiers[bb(x)].contains(&bb(y)), in_frontier, "frontier {edges:?} {x} {y}");
            }
        }
        check_loops(&edges, &reached, &a);
    }
}

fn check_loops(edges: &[Vec<usize>], reached: &[bool], a: &All) {
    let n = edges.len();
    let mut order = names(a.nest.order());
    order.sort_unstable();
    assert_eq!(order, (0..n).filter(|b| reached[*b]).collect::<Vec<_>>());
    let mut backwards = vec![Vec::new(); n];
    for (from, targets) in edges.iter().enumerate().filter(|(f, _)| reached[*f]) {
        targets.iter().for_each(|t: &usize| backwards[*t].push(from));
    }
    for (_, l) in a.nest.loops() {
        assert!(l.parent.is_none_or(|p| a.nest[p].depth + 1 == l.depth));
    }
    let headers = (0..n).filter(|h| reached[*h] && backwards[*h].iter().any(|p| a.dom.dominates(bb(*h), bb(*p))));
    assert_eq!(headers.clone().count(), a.nest.len());
    for h in headers {
        let id = a.nest.headed_by(bb(h)).expect("each header has a loop");
        let mut expect = vec![false; n];
        expect[h] = true;
        for latch in backwards[h].iter().filter(|p| a.dom.dominates(bb(h), bb(**p))) {
            let back = reach(&backwards, *latch, h);
            back.iter().enumerate().for_each(|(i, r)| expect[i] |= *r);
        }
        for (b, inside) in expect.into_iter().enumerate() {
            assert_eq!(a.nest.contains(id, bb(b)), inside, "loop {edges:?} header {h} block {b}");
            assert_eq!(a.nest.around(bb(b)).any(|l| l == id), inside);
        }
        assert_eq!(a.nest.blocks(id).first(), Some(&bb(h)));
    }
    // A block is on a cycle exactly when it is in a loop or in an irreducible region.
    for b in (0..n).filter(|b| reached[*b]) {
        let on_cycle = edges[b].iter().any(|s| reach(edges, *s, n)[b]);
        let known = a.nest.depth(bb(b)) > 0 || a.nest.is_irreducible(bb(b));
        assert_eq!(on_cycle, known, "cycle {edges:?} {b}");
    }
}
