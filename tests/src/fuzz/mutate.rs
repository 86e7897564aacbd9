//! Breaks LLVM assembly at random: what the plugin is given may be anything that LLVM's parser and verifier let pass, and more.
//!
//! A mutation is textual and touches one construct: operands and targets are swapped, constants, predicates, types and attributes
//! changed, instructions deleted, repeated or moved, arguments of marker calls dropped. Most mutants still parse. Whatever
//! comes of one is fine, except that the host crashes, aborts, runs on, or writes a module that does not verify; a crash
//! without the plugin does not count. Not handled: values are not renumbered, so deleting what is used is left to the parser.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::run::crash_of;
use crate::process::{self, Finished};
use crate::{Result, toolchain};

/// What came of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Differentiated, or nothing left to do.
    Accepted,
    /// Refused with a code.
    Refused(String),
    /// LLVM's parser or verifier would not have it.
    Rejected,
    /// The host crashed.
    Crash(String),
    /// The host did not end.
    Hang,
}

/// Time that a mutant may take.
const LIMIT: Duration = Duration::from_secs(20);

/// A text with one construct changed, and what was done.
pub fn mutate(text: &str, rng: &mut ChaCha8Rng) -> Option<(String, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let calls: Vec<usize> =
        (0..lines.len()).filter(|&at| lines[at].contains("@__enzyme_") && lines[at].contains(" call ")).collect();
    let marker = !calls.is_empty() && rng.random_bool(0.15);
    for _ in 0..200 {
        let index = if marker { calls[rng.random_range(0..calls.len())] } else { rng.random_range(0..lines.len()) };
        // Most of what is not an instruction is metadata, which matters little.
        if !lines.get(index).is_some_and(|line| line.starts_with("  ")) && rng.random_bool(0.8) {
            continue;
        }
        let Some(line) = lines.get(index) else { continue };
        let kind = rng.random_range(0..KINDS);
        let Some(changed) = change(kind, &lines, index, rng) else { continue };
        if changed.iter().map(String::as_str).eq([*line]) {
            continue;
        }
        let what = format!("line {}: {} -> {}", index + 1, line.trim(), changed.join(" | ").trim());
        let mut out = String::with_capacity(text.len() + 64);
        for (at, old) in lines.iter().enumerate() {
            if at == index {
                for new in &changed {
                    out.push_str(new);
                    out.push('\n');
                }
            } else {
                out.push_str(old);
                out.push('\n');
            }
        }
        return Some((out, what));
    }
    None
}

const KINDS: u32 = 24;

/// Lines in place of one, or nothing if this change does not apply.
fn change(kind: u32, lines: &[&str], index: usize, rng: &mut ChaCha8Rng) -> Option<Vec<String>> {
    let line = *lines.get(index)?;
    let instruction = line.starts_with("  ") && !line.trim_start().starts_with(';') && !line.trim().is_empty();
    let one = |text: String| Some(vec![text]);
    let trimmed = line.trim_start();
    match kind {
        // Deleted, if it has no result or the result is not used.
        0 if instruction => {
            let name = trimmed.split_once(" = ").map(|(name, _)| name);
            let used =
                name.is_some_and(|name| lines.iter().enumerate().any(|(at, l)| at != index && mentions(l, name)));
            (!used && !is_terminator(trimmed)).then(Vec::new)
        }
        // Repeated.
        1 if instruction && (trimmed.starts_with("store") || trimmed.starts_with("call")) => {
            Some(vec![line.to_owned(), line.to_owned()])
        }
        // Swapped with its neighbour.
        2 if instruction && !is_terminator(trimmed) => {
            let next = lines.get(index + 1)?;
            Some(vec![(*next).to_owned(), line.to_owned()])
        }
        // Operands swapped.
        3 | 4 => swap_operands(line, rng).and_then(one),
        // Constants.
        5 | 6 => replace_number(line, rng).and_then(one),
        // An operand becomes poison.
        7 | 8 if instruction => replace_name(line, rng).and_then(one),
        9 => replace_word(line, OPCODES, rng).and_then(one),
        10 => replace_word(line, PREDICATES, rng).and_then(one),
        11 => replace_word(line, TYPES, rng).and_then(one),
        12 => replace_word(line, ATTRIBUTES, rng).and_then(one),
        13 => replace_word(line, LINKAGES, rng).and_then(one),
        // Metadata dropped or exchanged.
        14 => {
            let at = line.find(", !")?;
            if rng.random_bool(0.5) {
                one(line.get(..at)?.to_owned())
            } else {
                let number = rng.random_range(0..12u32);
                let (head, _) = line.rsplit_once('!')?;
                one(format!("{head}!{number}"))
            }
        }
        // Arguments of marker calls.
        15..=18 if line.contains("@__enzyme_") && line.contains("call") => change_arguments(line, rng).and_then(one),
        // A terminator that ends all.
        19 if instruction && is_terminator(trimmed) && !line.ends_with('[') => one("  unreachable".to_owned()),
        // Something in front.
        20 if instruction && !trimmed.starts_with('%') => {
            let before = pick(
                rng,
                &["  fence seq_cst", "  call void @llvm.trap()", "  call void asm sideeffect \"nop\", \"\"()"],
            )?;
            Some(vec![before.to_owned(), line.to_owned()])
        }
        // Ordering and volatility.
        21 if instruction && (trimmed.starts_with("store ") || trimmed.contains("= load ")) => {
            let word = if trimmed.starts_with("store ") { "store " } else { "load " };
            one(line.replacen(word, &format!("{word}volatile "), 1))
        }
        // Another callee.
        22 if instruction && line.contains(" call ") => {
            let (head, rest) = line.split_once('@')?;
            let (_, arguments) = rest.split_once('(')?;
            let callee = pick(rng, &["null", "undef", "poison", "@main", "inttoptr (i64 64 to ptr)"])?;
            one(format!("{head}{callee}({arguments}"))
        }
        // A branch goes elsewhere.
        23 if trimmed.starts_with("br ") => {
            let labels: Vec<&str> = lines
                .iter()
                .filter(|l| !l.starts_with([' ', ';', '@', '}']) && l.contains(':'))
                .filter_map(|l| l.split(':').next())
                .collect();
            let (head, old) = line.rsplit_once("label %")?;
            let new = pick(rng, &labels)?;
            let rest: String = old.chars().skip_while(|c| c.is_alphanumeric() || "._-".contains(*c)).collect();
            one(format!("{head}label %{new}{rest}"))
        }
        _ => None,
    }
}

const OPCODES: &[&[&str]] = &[
    &["fadd", "fsub", "fmul", "fdiv", "frem"],
    &["add", "sub", "mul", "sdiv", "udiv", "urem", "shl", "lshr", "ashr", "and", "or", "xor"],
    &["sext", "zext"],
    &["sitofp", "uitofp"],
    &["fptosi", "fptoui"],
    &["nsw", "nuw", ""],
    &["inbounds", ""],
    &["tail", "musttail", "notail", ""],
    &["fneg", "freeze"],
    &["@llvm.memcpy.p0.p0.i64", "@llvm.memmove.p0.p0.i64"],
    &["@malloc", "@free", "@realloc", "@calloc", "@aligned_alloc", "@memcpy", "@strlen", "@unknown"],
    &["@sin", "@cos", "@exp", "@sinh", "@frexp", "@modf", "@lgamma", "@nextafter", "@unknown"],
];
const PREDICATES: &[&[&str]] = &[
    &["eq", "ne", "slt", "sgt", "sle", "sge", "ult", "ugt", "ule", "uge"],
    &[
        "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true",
        "false",
    ],
];
const TYPES: &[&[&str]] = &[
    &[
        "double",
        "float",
        "half",
        "bfloat",
        "fp128",
        "x86_fp80",
        "i64",
        "ptr",
        "<2 x double>",
        "[2 x double]",
        "{ double, i32 }",
    ],
    &["i32", "i64", "i16", "i8", "i1", "i128", "i7", "double"],
    &["ptr", "i64", "ptr addrspace(1)", "double"],
];
const ATTRIBUTES: &[&[&str]] = &[
    &["noundef", "nonnull", "signext", "inreg", "byval(i64)", "sret(double)", ""],
    &["nocapture", "captures(none)", "readonly", "writeonly", "readnone", "noalias", ""],
    &[
        "nounwind",
        "noreturn",
        "willreturn",
        "memory(none)",
        "memory(read)",
        "memory(argmem: readwrite)",
        "convergent",
        "alwaysinline",
        "naked",
        "optnone noinline",
        "",
    ],
    &["fast", "nnan", "reassoc", ""],
];
const LINKAGES: &[&[&str]] = &[
    &["internal", "private", "weak", "linkonce_odr", "external", "available_externally", "common", ""],
    &["constant", "global", "thread_local global", "externally_initialized global"],
    &["dso_local", "fastcc", "ccc", "coldcc", "tailcc", ""],
    &["unnamed_addr", "local_unnamed_addr", ""],
];

fn pick<'a>(rng: &mut ChaCha8Rng, from: &[&'a str]) -> Option<&'a str> {
    if from.is_empty() { None } else { from.get(rng.random_range(0..from.len())).copied() }
}

fn is_terminator(trimmed: &str) -> bool {
    ["br ", "ret ", "switch ", "unreachable", "resume", "indirectbr", "]", "i32 ", "i64 "]
        .iter()
        .any(|t| trimmed.starts_with(t))
        || trimmed.contains("invoke ")
}

fn mentions(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        line.get(at + name.len()..)
            .and_then(|rest| rest.chars().next())
            .is_none_or(|c| !(c.is_alphanumeric() || "._".contains(c)))
    })
}

/// Places of words (between spaces, commas and brackets).
fn words(line: &str) -> Vec<(usize, usize)> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in line.char_indices() {
        let inside = c.is_alphanumeric() || "._-%@!#\"".contains(c);
        match (inside, start) {
            (true, None) => start = Some(at),
            (false, Some(begin)) => {
                words.push((begin, at));
                start = None;
            }
            _ => {}
        }
    }
    words.extend(start.map(|begin| (begin, line.len())));
    words
}

fn splice(line: &str, (begin, end): (usize, usize), new: &str) -> Option<String> {
    Some(format!("{}{new}{}", line.get(..begin)?, line.get(end..)?))
}

/// One word of a family becomes another of the same.
fn replace_word(line: &str, families: &[&[&str]], rng: &mut ChaCha8Rng) -> Option<String> {
    let mut found = Vec::new();
    for place in words(line) {
        let word = line.get(place.0..place.1)?;
        found.extend(families.iter().filter(|family| family.contains(&word)).map(|family| (place, *family)));
    }
    if found.is_empty() {
        return None;
    }
    let (place, family) = found[rng.random_range(0..found.len())];
    splice(line, place, pick(rng, family)?)
}

/// A number becomes another.
fn replace_number(line: &str, rng: &mut ChaCha8Rng) -> Option<String> {
    let numbers: Vec<(usize, usize)> = words(line)
        .into_iter()
        .filter(|&(begin, end)| line.get(begin..end).is_some_and(|w| w.parse::<f64>().is_ok() || w.starts_with("0x")))
        .collect();
    if numbers.is_empty() {
        return None;
    }
    let place = numbers[rng.random_range(0..numbers.len())];
    let float = line.get(place.0..place.1)?.contains(['.', 'x']);
    let new = if float {
        pick(rng, &["0.0", "-1.0", "0x7FF0000000000000", "0x7FF8000000000000", "1.0e300", "poison", "undef"])?
    } else {
        pick(
            rng,
            &[
                "0",
                "1",
                "-1",
                "2",
                "3",
                "7",
                "8",
                "16",
                "64",
                "255",
                "4294967295",
                "9223372036854775807",
                "undef",
                "poison",
                "null",
            ],
        )?
    };
    splice(line, place, new)
}

/// A value becomes poison or the like.
fn replace_name(line: &str, rng: &mut ChaCha8Rng) -> Option<String> {
    let body = line.find(" = ").map_or(0, |at| at + 3);
    let names: Vec<(usize, usize)> = words(line)
        .into_iter()
        .filter(|&(begin, end)| begin >= body && line.get(begin..end).is_some_and(|w| w.starts_with('%')))
        .filter(|&(begin, _)| !line.get(..begin).is_some_and(|head| head.ends_with("label ")))
        .collect();
    if names.is_empty() {
        return None;
    }
    let place = names[rng.random_range(0..names.len())];
    splice(line, place, pick(rng, &["poison", "undef", "null", "zeroinitializer", "0", "1.0"])?)
}

/// Two values, numbers or labels of a line change places.
fn swap_operands(line: &str, rng: &mut ChaCha8Rng) -> Option<String> {
    let body = line.find(" = ").map_or(0, |at| at + 3);
    let names: Vec<(usize, usize)> = words(line)
        .into_iter()
        .filter(|&(begin, end)| {
            begin >= body && line.get(begin..end).is_some_and(|w| w.starts_with(['%', '@']) || w.parse::<f64>().is_ok())
        })
        .collect();
    if names.len() < 2 {
        return None;
    }
    let first = rng.random_range(0..names.len() - 1);
    let second = rng.random_range(first + 1..names.len());
    let (a, b) = (names[first], names[second]);
    let swapped = splice(line, b, line.get(a.0..a.1)?)?;
    splice(&swapped, a, line.get(b.0..b.1)?)
}

/// An argument of a marker call is dropped, doubled, moved or replaced.
fn change_arguments(line: &str, rng: &mut ChaCha8Rng) -> Option<String> {
    let at = line.find("@__enzyme_")?;
    let open = at + line.get(at..)?.find('(')?;
    let close = line.rfind(')')?;
    let mut arguments: Vec<&str> = line.get(open + 1..close)?.split(", ").collect();
    let index = rng.random_range(0..arguments.len());
    match rng.random_range(0..5u32) {
        0 => drop(arguments.remove(index)),
        1 => arguments.insert(index, arguments[index]),
        2 => {
            let other = rng.random_range(0..arguments.len());
            arguments.swap(index, other);
        }
        3 => {
            arguments[index] = pick(
                rng,
                &[
                    "ptr null",
                    "i32 0",
                    "double 1.0",
                    "ptr undef",
                    "float 0.0",
                    "i64 3",
                    "<2 x double> zeroinitializer",
                    "ptr @main",
                ],
            )?;
        }
        _ => arguments.truncate(index),
    }
    Some(format!("{}{}{}", line.get(..=open)?, arguments.join(", "), line.get(close..)?))
}

/// Gives a mutant to opt with the plugin, and if that goes wrong to opt alone.
pub fn judge(path: &Path) -> Result<Fate> {
    let plugin = toolchain::plugin()?;
    let mut load = std::ffi::OsString::from("-load-pass-plugin=");
    load.push(&plugin);
    let finished = opt(path, &[load, "-passes=enzyme".into()])?;
    let fate = fate_of(&finished);
    if !matches!(fate, Fate::Crash(_) | Fate::Hang) {
        return Ok(fate);
    }
    let alone = opt(path, &["-passes=verify".into()])?;
    Ok(if matches!(fate_of(&alone), Fate::Crash(_) | Fate::Hang) { Fate::Rejected } else { fate })
}

fn opt(path: &Path, options: &[std::ffi::OsString]) -> Result<Finished> {
    let mut command = Command::new(toolchain::llvm_program("opt"));
    command.args(options).arg(path).args(["-o", "/dev/null"]);
    process::run(&mut command, LIMIT)
}

fn fate_of(finished: &Finished) -> Fate {
    if finished.timed_out {
        return Fate::Hang;
    }
    if let Some(text) = crash_of(finished) {
        return Fate::Crash(text);
    }
    if finished.succeeded() {
        return Fate::Accepted;
    }
    match finished.stderr.lines().find_map(|line| line.find("[E0").and_then(|at| line.get(at..at + 7))) {
        Some(code) => Fate::Refused(code.to_owned()),
        None => Fate::Rejected,
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    const TEXT: &str =
        "define double @f(double %x) {\n  %y = fmul double %x, 2.0\n  store double %y, ptr @g\n  ret double %y\n}\n";

    #[test]
    fn one_construct_changes() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..200 {
            let (text, what) = mutate(TEXT, &mut rng).unwrap();
            assert_ne!(text, TEXT, "{what}");
            seen.insert(text);
        }
        assert!(seen.len() > 40);
    }

    #[test]
    fn arguments_of_markers_change() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let line = "  %r = call double (ptr, ...) @__enzyme_autodiff(ptr @f, double %x)";
        assert!((0..20).filter_map(|_| change_arguments(line, &mut rng)).any(|l| l.ends_with("(ptr @f)")));
    }
}
