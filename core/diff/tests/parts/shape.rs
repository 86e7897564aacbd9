//! Control flow as the reverse sweep sees it: merges, trip counts, counters, and what is refused.

use enzyme_diff::shape::{Merge, Trip};
use enzyme_diff::{RefusalKind, Shape};
use enzyme_ir::{Facts, parse_module};

use crate::{block_name, name, value, with_subject};

/// How block `b` of a function with this body is entered.
fn check_merge(body: &str, b: &str, expected: &str) {
    let source = format!("define void @f(i32 %k, i1 %c, i1 %d) {{\n{body}\n}}\n");
    with_subject(
        &source,
        |_| Facts::default(),
        |_, s| {
            let block = s.func.blocks.iter().find(|(_, x)| x.name.as_deref() == Some(b)).unwrap().0;
            let found = match &s.shape.merges[&block] {
                Merge::Single(p) => format!("single {}", block_name(s.func, *p)),
                Merge::Decided { decider, by_successor } => {
                    let ways = by_successor.iter().map(|p| p.map_or("-".to_owned(), |p| block_name(s.func, p)));
                    format!("{} decides {}", block_name(s.func, *decider), ways.collect::<Vec<_>>().join(" "))
                }
                Merge::Recorded(preds) => {
                    let preds: Vec<String> = preds.iter().map(|p| block_name(s.func, *p)).collect();
                    format!("recorded {}", preds.join(" "))
                }
            };
            assert_eq!(found, expected, "{body}");
        },
    );
}

#[test]
fn merges() {
    let diamond = "entry:\n  br i1 %c, label %a, label %b\na:\n  br label %m\nb:\n  br label %m\nm:\n  ret void";
    check_merge(diamond, "a", "single entry");
    check_merge(diamond, "m", "entry decides a b");
    let triangle = "entry:\n  br i1 %c, label %a, label %m\na:\n  br label %m\nm:\n  ret void";
    check_merge(triangle, "m", "entry decides a entry");
    let switch = "entry:\n  switch i32 %k, label %a [\n    i32 1, label %b\n    i32 2, label %b\n    i32 3, label %m\n  ]\n\
        a:\n  br label %m\nb:\n  br label %m\nm:\n  ret void";
    check_merge(switch, "m", "entry decides a b b entry");
    // One arm never arrives.
    let dead = "entry:\n  switch i32 %k, label %x [\n    i32 1, label %a\n    i32 2, label %b\n  ]\nx:\n  unreachable\n\
        a:\n  br label %m\nb:\n  br label %m\nm:\n  ret void";
    check_merge(dead, "m", "entry decides - a b");
    // Within an arm the way divides once more: the first branch alone cannot tell.
    let two = "entry:\n  br i1 %c, label %a, label %b\na:\n  br i1 %d, label %m, label %n\nn:\n  br label %m\n\
        b:\n  br label %m\nm:\n  ret void";
    check_merge(two, "m", "recorded a n b");
    // An arm that divides and meets again before it arrives is still one way.
    let inner = "entry:\n  br i1 %c, label %a, label %b\na:\n  br i1 %d, label %x, label %y\nx:\n  br label %z\n\
        y:\n  br label %z\nz:\n  br label %m\nb:\n  br label %m\nm:\n  ret void";
    check_merge(inner, "z", "a decides x y");
    check_merge(inner, "m", "entry decides z b");
}

#[test]
fn a_branch_in_a_loop_does_not_decide_outside_of_it() {
    let body = "entry:\n  br label %loop\nloop:\n  %i = phi i32 [ 0, %entry ], [ %j, %next ]\n  br i1 %c, label %next, label %a\n\
        next:\n  %j = add i32 %i, 1\n  %more = icmp ult i32 %j, %k\n  br i1 %more, label %loop, label %b\n\
        a:\n  br label %m\nb:\n  br label %m\nm:\n  ret void";
    check_merge(body, "m", "recorded a b");
}

/// Counters found in a loop, as `name = start + n * step`.
fn check_affine(phi: &str, update: &str, expected: &str) {
    let source = format!(
        "define void @f(ptr %p, i64 %n, i64 %k, i32 %m) {{\nentry:\n  br label %loop\nloop:\n  %i = phi {phi}\n  %t = phi i64 [ 0, %entry ], [ %t1, %loop ]\n\
         \x20 %t1 = mul i64 %t, 3\n  {update}\n  br i1 true, label %loop, label %done\ndone:\n  ret void\n}}\n"
    );
    with_subject(
        &source,
        |_| Facts::default(),
        |module, s| {
            let show = |v| match s.func.as_const(v) {
                Some(c) => module.ctx.consts.as_u64(c).map(|n| n as i64).unwrap_or(-77).to_string(),
                None => name(s.func, v),
            };
            let found: Vec<String> = s
                .shape
                .affine
                .iter()
                .map(|(v, a)| format!("{} = {} + n * {}", name(s.func, *v), show(a.start), show(a.step)))
                .collect();
            assert_eq!(found.join(", "), expected, "{phi}; {update}");
        },
    );
}

#[test]
fn counters() {
    check_affine("i64 [ 0, %entry ], [ %j, %loop ]", "%j = add i64 %i, 1", "i = 0 + n * 1");
    check_affine("i64 [ %n, %entry ], [ %j, %loop ]", "%j = add i64 %k, %i", "i = n + n * k");
    check_affine("i32 [ %m, %entry ], [ %j, %loop ]", "%j = add i32 %i, %m", "i = m + n * m");
    check_affine("ptr [ %p, %entry ], [ %j, %loop ]", "%j = getelementptr double, ptr %i, i64 2", "i = p + n * 2");
    // The step changes; the update is no sum; there are two indices; the phi itself is the step.
    check_affine("i64 [ 0, %entry ], [ %j, %loop ]", "%j = add i64 %i, %t", "");
    check_affine("i64 [ 1, %entry ], [ %j, %loop ]", "%j = mul i64 %i, 2", "");
    check_affine("ptr [ %p, %entry ], [ %j, %loop ]", "%j = getelementptr [2 x double], ptr %i, i64 0, i64 1", "");
    check_affine("i64 [ 1, %entry ], [ %j, %loop ]", "%j = add i64 %i, %i", "");
    check_affine("i64 [ 1, %entry ], [ 5, %loop ]", "", "");
}

#[test]
fn trips_are_known_where_facts_say_so() {
    let source = "define void @f(i64 %n) {\nentry:\n  br label %loop\nloop:\n  %i = phi i64 [ 0, %entry ], [ %j, %loop ]\n  %j = add i64 %i, 1\n\
        %more = icmp ule i64 %j, %n\n  br i1 %more, label %loop, label %done\ndone:\n  ret void\n}\n";
    with_subject(
        source,
        |_| Facts::default(),
        |_, s| {
            assert_eq!(s.shape.trips.values().copied().collect::<Vec<_>>(), [Trip::Counted]);
        },
    );
    let stated = |func: &enzyme_ir::Func| {
        let header = func.blocks.iter().find(|(_, b)| b.name.as_deref() == Some("loop")).unwrap().0;
        let mut facts = Facts::default();
        facts.trip_counts.insert(header, value(func, "n"));
        facts
    };
    with_subject(source, stated, |_, s| {
        assert_eq!(s.shape.trips.values().copied().collect::<Vec<_>>(), [Trip::Known(value(s.func, "n"))]);
    });
}

/// The refusal of a body, by the words in it.
fn check_refused(body: &str, expected: &str) {
    let source = format!("define void @f(i1 %c, i1 %d, ptr %p) {{\n{body}\n}}\n");
    let module = parse_module(&source).unwrap_or_else(|e| panic!("{e}\n{source}"));
    let func = module.funcs.values().next().unwrap();
    match Shape::new(&module, func, &Facts::default()) {
        Ok(_) => panic!("not refused: {body}"),
        Err(e) => match e.kind {
            RefusalKind::Shape(words) | RefusalKind::Control(words) => assert_eq!(words, expected, "{body}"),
            other => panic!("{other:?}"),
        },
    }
}

#[test]
fn other_shapes_are_refused() {
    check_refused("  br i1 %c, label %a, label %b\na:\n  ret void\nb:\n  ret void", "several returns");
    let entries =
        "  br i1 %c, label %a, label %b\na:\n  br i1 %d, label %b, label %m\nb:\n  br label %a\nm:\n  ret void";
    check_refused(entries, "a loop with several entries");
    let latches =
        "entry:\n  br label %a\na:\n  br i1 %c, label %a, label %b\nb:\n  br i1 %d, label %a, label %m\nm:\n  ret void";
    check_refused(latches, "a loop with several latches");
    let preheader =
        "entry:\n  br i1 %c, label %a, label %m\na:\n  br i1 %d, label %a, label %n\nn:\n  br label %m\nm:\n  ret void";
    check_refused(preheader, "a loop without preheader");
    let exit = "entry:\n  br i1 %c, label %ahead, label %m\nahead:\n  br label %a\na:\n  br i1 %d, label %a, label %m\nm:\n  ret void";
    check_refused(exit, "a loop exit that is entered from elsewhere");
    let computed = "entry:\n  indirectbr ptr %p, [label %a, label %b]\na:\n  br label %b\nb:\n  ret void";
    check_refused(computed, "a computed goto");
}
