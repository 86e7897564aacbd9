//! The choice between caching and rebuilding: known answers, and exactness against all choices on small random graphs.

use std::collections::{BTreeMap, BTreeSet};

use enzyme_diff::Subject;
use enzyme_diff::cut::{CachePrice, Choice, Prices, choose, weight};
use enzyme_diff::keys::{Key, Source, derive};
use enzyme_ir::{Facts, Module};

use crate::{name, value, with_subject};

fn names(s: &Subject<'_>, keys: &BTreeSet<Key>) -> Vec<String> {
    let one = |k: &Key| match k {
        Key::Primal(v) => name(s.func, *v),
        other => format!("{other:?}"),
    };
    let mut out: Vec<String> = keys.iter().map(one).collect();
    out.sort();
    out
}

/// Which of the values `needed` (and of those they are made of) are cached, and which are rebuilt.
fn check(body: &str, needed: &str, cached: &str, rebuilt: &str) {
    let source = format!("declare double @llvm.exp.f64(double)\ndefine void @f(ptr %p, double %x) {{\n{body}\n}}\n");
    with_subject(
        &source,
        |_| Facts::default(),
        |module, s| {
            let needed = needed.split_whitespace().map(|n| Key::Primal(value(s.func, n))).collect();
            let (Choice { cached: c, rebuilt: r }, _) = choose(module, s, &needed, CachePrice::default());
            assert_eq!(names(s, &c).join(" "), cached, "cached in {body}");
            assert_eq!(names(s, &r).join(" "), rebuilt, "rebuilt in {body}");
        },
    );
}

#[test]
fn known_choices() {
    let in_loop = |body: &str| {
        format!(
            "entry:\n  br label %loop\nloop:\n  %i = phi i64 [ 0, %entry ], [ %j, %loop ]\n  %q = getelementptr double, ptr %p, i64 %i\n\
             {body}\n  %j = add i64 %i, 1\n  %more = icmp ult i64 %j, 9\n  br i1 %more, label %loop, label %done\ndone:\n  ret void"
        )
    };
    let r = "  %r = load double, ptr %q\n";
    // One value is cached from which three can be had.
    let three = "  %a = fadd double %r, 1.0\n  %b = fmul double %r, %r\n  %c = fsub double %r, %x\n";
    check(&in_loop(&format!("{r}{three}")), "a b c", "r", "a b c");
    // One value is cached that was made of three.
    let sum = "  %r1 = load double, ptr %p\n  %s = fadd double %r, %r1\n  %r2 = load double, ptr %q\n  %t = fadd double %s, %r2\n";
    check(&in_loop(&format!("{r}{sum}")), "t", "t", "");
    // What is dear is cached though it could be rebuilt, also from a value that is cached anyway.
    let dear = "  %e = call double @llvm.exp.f64(double %r)\n";
    let stored = "  store double %e, ptr %q\n";
    check(&in_loop(&format!("{r}{dear}{stored}")), "e r", "e r", "");
    // But not if it would be computed for the cache alone.
    check(&in_loop(&format!("{r}{dear}")), "e r", "r", "e");
    // What is made of parameters alone is rebuilt, a counter too.
    check(&in_loop("  %a = fadd double %x, 1.0"), "a i", "", "a i");
    let exp = "  %e = call double @llvm.exp.f64(double %x)\n";
    check(&format!("{exp}  ret void"), "e", "", "e");
    check(&format!("{exp}  store double %e, ptr %p\n  ret void"), "e", "e", "");
    check("  %a = fmul double %x, %x\n  ret void", "a", "", "a");
    check("  ret void", "x", "", "");
}

/// A pseudo-random sequence (the 64-bit generator of Knuth's MMIX).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n as u64) as usize
    }
}

/// A straight line of loads and operations, partly in a loop: text, and the names of the values.
fn random_function(random: &mut Random) -> (String, Vec<String>) {
    let mut names = vec!["x".to_owned()];
    let line = |random: &mut Random, names: &mut Vec<String>| {
        let name = format!("v{}", names.len());
        let [a, b] = [0; 2].map(|_| names[random.below(names.len())].clone());
        let text = match random.below(6) {
            0 | 1 => format!("  %{name} = load double, ptr %p\n"),
            2 => format!("  %{name} = fdiv double %{a}, %{b}\n"),
            3 => format!("  %{name} = call double @llvm.exp.f64(double %{a})\n"),
            _ => format!("  %{name} = fmul double %{a}, %{b}\n"),
        };
        names.push(name);
        text
    };
    let before: String = (0..random.below(4)).map(|_| line(random, &mut names)).collect();
    let inside: String = (0..4 + random.below(5)).map(|_| line(random, &mut names)).collect();
    let text = format!(
        "declare double @llvm.exp.f64(double)\ndefine void @f(ptr %p, double %x) {{\nentry:\n{before}  br label %loop\nloop:\n  %i = phi i64 [ 0, %entry ], [ %j, %loop ]\n\
         {inside}  store double %{}, ptr %p\n  %j = add i64 %i, 1\n  %more = icmp ult i64 %j, 9\n  br i1 %more, label %loop, label %done\ndone:\n  ret void\n}}\n",
        names[names.len() - 1]
    );
    (text, names)
}

/// Cost of having `needed` when exactly `rebuilt` is rebuilt; `None` if a root is.
fn cost(module: &Module, s: &Subject<'_>, needed: &BTreeSet<Key>, rebuilt: &BTreeSet<Key>) -> Option<u64> {
    let (mut total, mut wanted) = (0, needed.clone());
    for k in rebuilt {
        let Source::Rebuild(from, once) = derive(module, s, *k) else { return None };
        total += once * weight(module, s, s.scope(*k));
        wanted.extend(from);
    }
    let cached = wanted.difference(rebuilt).filter(|k| derive(module, s, **k) != Source::Free);
    let prices = Prices::new(module, s, needed, CachePrice::default());
    Some(total + cached.map(|k| prices.caching(*k)).sum::<u64>())
}

#[test]
fn no_choice_is_cheaper() {
    let mut random = Random(2024);
    for round in 0..60 {
        let (text, all) = random_function(&mut random);
        with_subject(
            &text,
            |_| Facts::default(),
            |module, s| {
                let keys: Vec<Key> = all.iter().map(|n| Key::Primal(value(s.func, n))).collect();
                let needed: BTreeSet<Key> = keys.iter().copied().filter(|_| random.below(3) == 0).collect();
                let (chosen, said) = choose(module, s, &needed, CachePrice::default());
                let found = cost(module, s, &needed, &chosen.rebuilt).unwrap();
                assert_eq!(said, found, "round {round}");
                let buildable: Vec<Key> =
                    keys.into_iter().filter(|k| matches!(derive(module, s, *k), Source::Rebuild(..))).collect();
                let subsets = (0u32..1 << buildable.len()).map(|bits| {
                    let chosen = buildable.iter().enumerate().filter(|(n, _)| bits >> n & 1 == 1);
                    chosen.map(|(_, k)| *k).collect::<BTreeSet<Key>>()
                });
                let best = subsets.filter_map(|rebuilt| cost(module, s, &needed, &rebuilt)).min().unwrap();
                assert_eq!(found, best, "round {round}: {:?} of\n{text}", names(s, &chosen.rebuilt));
                // What is cached is what the cost counted.
                let mut wanted = needed.clone();
                for k in &chosen.rebuilt {
                    if let Source::Rebuild(from, _) = derive(module, s, *k) {
                        wanted.extend(from);
                    }
                }
                let free: BTreeMap<Key, bool> =
                    wanted.iter().map(|k| (*k, derive(module, s, *k) == Source::Free)).collect();
                let cached: BTreeSet<Key> =
                    wanted.iter().copied().filter(|k| !free[k] && !chosen.rebuilt.contains(k)).collect();
                assert_eq!(cached, chosen.cached, "round {round}\n{text}");
            },
        );
    }
}
