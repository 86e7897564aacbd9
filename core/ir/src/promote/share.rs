//! Slots that no run writes both of become one.
//!
//! What a branch keeps for its reverse goes to slots of its own, and where the arms meet again the slots of both arms live on. In a
//! tree of branches a block where arms meet then has a phi for each value that was kept below it: the square of the tree, which
//! LLVM's passes feel. Where no run gets from the block that stores one slot to the block that stores another, nor back, at most
//! one of the two holds a value, and whoever reads the other reads what is undefined: one slot serves for both. Phis then grow
//! with the depth of the tree instead of its size.
//!
//! Algorithm: children of a block in the dominator tree are layered by the longest path among them; children of one layer do not
//! reach each other, so their slots are paired, type by type. Lists are joined smaller to larger: n log n.
//!
//! Taken are slots that one block stores, which no cycle passes. Where children of a block form a cycle nothing is paired.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;

use crate::func::Func;
use crate::ids::{BlockId, TypeId};
use crate::{Cfg, DomTree, LoopNest};

/// Slots of each type.
type Lists = BTreeMap<TypeId, Vec<u32>>;

/// For each slot of these types, stored in these blocks, the slot that takes its place: the slot itself where none does.
pub fn share(
    func: &Func,
    cfg: &Cfg,
    dom: &DomTree,
    frontiers: &SecondaryMap<BlockId, Vec<BlockId>>,
    types: &[TypeId],
    stored: &[Vec<BlockId>],
) -> Vec<u32> {
    let nest = LoopNest::new(func, cfg, dom);
    let mut lists: SecondaryMap<BlockId, Lists> = SecondaryMap::new();
    for ((s, ty), blocks) in (0u32..).zip(types).zip(stored) {
        if let [b] = blocks.as_slice()
            && nest.innermost(*b).is_none()
            && !nest.is_irreducible(*b)
        {
            lists[*b].entry(*ty).or_default().push(s);
        }
    }
    let mut places: Vec<u32> = (0..types.len() as u32).collect();
    for b in dom.preorder().iter().rev() {
        let mut own = std::mem::take(&mut lists[*b]);
        for layer in layers(cfg, dom, frontiers, *b) {
            let mut joined = Lists::new();
            for child in layer {
                for (ty, list) in std::mem::take(&mut lists[child]) {
                    pair(joined.entry(ty).or_default(), list, &mut places);
                }
            }
            for (ty, list) in joined {
                append(own.entry(ty).or_default(), list);
            }
        }
        lists[*b] = own;
    }
    for s in 0..places.len() {
        let (mut root, mut at) = (s, s);
        while places[root] as usize != root {
            root = places[root] as usize;
        }
        while places[at] as usize != root {
            at = std::mem::replace(&mut places[at], root as u32) as usize;
        }
    }
    places
}

/// The children of `b` in groups whose members do not reach each other; each alone where they form a cycle.
fn layers(cfg: &Cfg, dom: &DomTree, frontiers: &SecondaryMap<BlockId, Vec<BlockId>>, b: BlockId) -> Vec<Vec<BlockId>> {
    let mut children: Vec<BlockId> = dom.children(b).to_vec();
    children.sort_by_key(|c| cfg.rpo_position(*c));
    let position: BTreeMap<BlockId, usize> = children.iter().enumerate().map(|(n, c)| (*c, n)).collect();
    let mut heights = vec![0; children.len()];
    for (n, child) in children.iter().enumerate() {
        for to in &frontiers[*child] {
            let Some(next) = position.get(to).copied().filter(|next| *next != n) else { continue };
            if next < n {
                return children.into_iter().map(|c| vec![c]).collect();
            }
            heights[next] = heights[next].max(heights[n] + 1);
        }
    }
    let mut layers: Vec<Vec<BlockId>> = vec![Vec::new(); heights.iter().max().map_or(0, |most| most + 1)];
    for (child, height) in children.into_iter().zip(heights) {
        layers[height].push(child);
    }
    layers
}

/// Lets each slot of the shorter list take the place of one of the other, and leaves the longer list in `into`.
fn pair(into: &mut Vec<u32>, mut list: Vec<u32>, places: &mut [u32]) {
    if list.len() > into.len() {
        std::mem::swap(into, &mut list);
    }
    for (s, to) in list.iter().zip(into.iter()) {
        places[*s as usize] = *to;
    }
}

fn append(into: &mut Vec<u32>, mut list: Vec<u32>) {
    if list.len() > into.len() {
        std::mem::swap(into, &mut list);
    }
    into.append(&mut list);
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::super::{MANY, Slots, promote, touched};
    use super::share;
    use crate::interp::{Config, Interp, Val};
    use crate::{Cfg, DomTree, parse_module, print_func, verify};

    /// Which slots of `@f`, in order of their making, have one place.
    fn places(text: &str) -> Vec<u32> {
        let module = parse_module(text).unwrap();
        let func = &module.funcs[module.find_func("f").unwrap()];
        let slots = Slots::find(&module.ctx, func);
        let cfg = Cfg::new(func);
        let dom = DomTree::new(func, &cfg);
        share(func, &cfg, &dom, &dom.frontiers(&cfg), &slots.types, &touched(func, &cfg, &slots).stored)
    }

    const HEAD: &str =
        "define void @f(i1 %c, i1 %d) {\nentry:\n  %p = alloca i64\n  %q = alloca i64\n  %r = alloca i32\n";

    #[test]
    fn slots_of_two_arms_are_one_where_their_types_are() {
        let arms = "  br i1 %c, label %a, label %b\na:\n  store i64 1, ptr %p\n  br label %z\nb:\n  store i64 2, ptr %q\n  store i32 3, ptr %r\n  br label %z\nz:\n  ret void\n}";
        assert_eq!(places(&format!("{HEAD}{arms}")), [0, 0, 2]);
    }

    #[test]
    fn slots_that_one_run_may_write_both_are_two() {
        let falls = "  br i1 %c, label %a, label %b\na:\n  store i64 1, ptr %p\n  br i1 %d, label %b, label %z\nb:\n  store i64 2, ptr %q\n  br label %z\nz:\n  ret void\n}";
        assert_eq!(places(&format!("{HEAD}{falls}")), [0, 1, 2]);
        let joins = "  br i1 %c, label %a, label %z\na:\n  store i64 1, ptr %p\n  br label %z\nz:\n  store i64 2, ptr %q\n  ret void\n}";
        assert_eq!(places(&format!("{HEAD}{joins}")), [0, 1, 2]);
        let turns = "  br label %h\nh:\n  br i1 %c, label %a, label %b\na:\n  store i64 1, ptr %p\n  br label %l\nb:\n  store i64 2, ptr %q\n  br label %l\nl:\n  br i1 %d, label %h, label %z\nz:\n  ret void\n}";
        assert_eq!(places(&format!("{HEAD}{turns}")), [0, 1, 2]);
        let crosses = "  br i1 %c, label %a, label %b\na:\n  store i64 1, ptr %p\n  br i1 %d, label %b, label %z\nb:\n  store i64 2, ptr %q\n  br i1 %d, label %a, label %z\nz:\n  ret void\n}";
        assert_eq!(places(&format!("{HEAD}{crosses}")), [0, 1, 2]);
    }

    fn runs(text: &str, inputs: &[i64]) -> (String, Vec<i64>) {
        let mut module = parse_module(text).unwrap();
        let id = module.find_func("f").unwrap();
        let mut func = module.funcs[id].clone();
        promote(&mut module.ctx, &mut func);
        assert!(verify(&module, &func).is_empty());
        module.funcs[id] = func;
        let mut interp = Interp::new(&module, Config::default()).unwrap();
        let result = |n: &i64| interp.run(id, &[Val::int(*n)]).unwrap().and_then(|v| v.as_i64()).unwrap();
        let outputs = inputs.iter().map(result).collect();
        (print_func(&module, &module.funcs[id]), outputs)
    }

    #[test]
    fn many_cases_share_their_slots_and_keep_their_results() {
        let count = MANY;
        let table = |to: &str| (0..count).map(|i| format!(" i64 {i}, label %{to}{i}")).collect::<String>();
        let mut text = "define i64 @f(i64 %n) {\nentry:\n".to_owned();
        for i in 0..count {
            let _ = writeln!(text, "  %p{i} = alloca i64\n  %q{i} = alloca i64");
        }
        let _ = writeln!(text, "  switch i64 %n, label %z [{} ]", table("a"));
        for i in 0..count {
            let _ = writeln!(text, "a{i}:\n  %x{i} = mul i64 %n, 3\n  %y{i} = add i64 %n, {i}");
            let _ = writeln!(text, "  store i64 %x{i}, ptr %p{i}\n  store i64 %y{i}, ptr %q{i}\n  br label %m");
        }
        let _ = writeln!(text, "m:\n  switch i64 %n, label %z [{} ]", table("b"));
        for i in 0..count {
            let _ = writeln!(text, "b{i}:\n  %u{i} = load i64, ptr %p{i}\n  %v{i} = load i64, ptr %q{i}");
            let _ = writeln!(text, "  %w{i} = sub i64 %u{i}, %v{i}\n  ret i64 %w{i}");
        }
        let (printed, outputs) = runs(&(text + "z:\n  ret i64 -1\n}"), &[0, 5, 500, 5000]);
        assert_eq!(outputs, [0, 5, 500, -1]);
        assert_eq!((printed.matches(" phi ").count(), printed.matches("alloca").count()), (2, 0));
    }

    #[test]
    fn a_block_that_thousands_leave_to_has_few_phis() {
        let count = 2000;
        let mut text = "define i64 @f(i64 %n) {\nentry:\n".to_owned();
        for i in 0..count {
            let _ = writeln!(text, "  %p{i} = alloca i64");
        }
        let _ = writeln!(text, "  br label %a0");
        for i in 0..count {
            let _ = writeln!(text, "a{i}:\n  %x{i} = mul i64 %n, {i}\n  store i64 %x{i}, ptr %p{i}");
            let _ = writeln!(text, "  %c{i} = icmp eq i64 %n, {i}\n  br i1 %c{i}, label %m, label %a{}", i + 1);
        }
        let _ = writeln!(text, "a{count}:\n  ret i64 -1\nm:");
        let table = (0..count).map(|i| format!(" i64 {i}, label %b{i}")).collect::<String>();
        let _ = writeln!(text, "  switch i64 %n, label %a{count} [{table} ]");
        for i in 0..count {
            let _ = writeln!(text, "b{i}:\n  %u{i} = load i64, ptr %p{i}\n  ret i64 %u{i}");
        }
        let (printed, outputs) = runs(&(text + "}"), &[0, 3, 1999, 2000]);
        assert_eq!(outputs, [0, 9, 1999 * 1999, -1]);
        // The first block that stores dominates where all meet.
        let (phis, slots) = (printed.matches(" phi ").count(), printed.matches("alloca").count());
        assert!(phis < 100 && phis + slots == count - 1, "{phis} phis, {slots} slots");
        assert_eq!(printed.matches("load volatile").count(), slots);
    }
}
