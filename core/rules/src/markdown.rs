//! The tables in words: as data for programs, and as the documentation page `docs/rules.md`.

use enzyme_ir::{BinOp, CastOp};

use crate::known::{self, Known, KnownFn, Name, Reach};
use crate::rule::{Group, Place, Rule, Spelling};
use crate::table::rules;
use crate::written::Written;

const HEAD: &str = "\
# Derivative rules

*Generated from the tables in `core/rules`; `BLESS=1 cargo test -p enzyme-rules --test tables` writes this file anew.*

Each row gives the partial derivatives of one operation by its operands. Floating-point operands are called `x`, `y`,
`z`, `w` in their order, an integer operand `n`; `r` is the result (`r1` the second one). From the row follow the tangent
(forward mode) and the adjoint (reverse mode). A C function stands for all its formats: `sin` for `sinf`, `sinl`,
`sinf128`, `__sin_finite`, ...; an intrinsic for all its formats and vector lengths.

The last column says what is chosen where the function has no derivative, or no finite one.
";

const MIDDLE: &str = "
# Known functions

What the engine knows of functions without a rule and without a body. *Inactive* functions stay in the primal program
as they are; no derivative flows through them.

| functions | what they do | memory |
| --- | --- | --- |
";

/// Characters of a partial that is still written out.
const LONGEST: usize = 80;

/// A rule in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleInWords {
    /// Title of its group.
    pub group: &'static str,
    /// Operations and functions of this rule.
    pub operations: Vec<String>,
    /// Partial derivatives that are not zero, as expressions.
    pub partials: Vec<String>,
    /// The same as people write it.
    pub formula: &'static str,
    /// What is chosen at kinks and edges.
    pub kinks: &'static str,
}

/// What is known of functions, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownInWords {
    /// Their names; an ellipsis stands for any ending or beginning.
    pub functions: Vec<String>,
    /// What they are.
    pub title: &'static str,
    /// What they do.
    pub what: &'static str,
    /// The memory they touch.
    pub memory: String,
}

/// All rules, group by group.
pub fn rules_in_words() -> impl Iterator<Item = RuleInWords> {
    Group::ALL.into_iter().flat_map(|group| {
        rules().filter(move |r| r.group == group).map(move |rule| RuleInWords {
            group: group.title(),
            operations: rule.spellings.iter().map(|s| spelling(*s)).collect(),
            partials: partials(rule),
            formula: rule.formula,
            kinks: rule.kinks,
        })
    })
}

/// All that is known of functions without a rule.
pub fn known_in_words() -> impl Iterator<Item = KnownInWords> {
    known::rows().map(known_words)
}

/// The page.
pub fn markdown() -> String {
    let mut out = HEAD.to_owned();
    let mut group = "";
    for rule in rules_in_words() {
        if rule.group != group {
            group = rule.group;
            out.push_str(&format!(
                "\n## {group}\n\n| operation | partial derivatives | in words | kinks and edges |\n"
            ));
            out.push_str("| --- | --- | --- | --- |\n");
        }
        out.push_str(&rule_row(&rule));
    }
    out.push_str(MIDDLE);
    for row in known_in_words() {
        let names: Vec<String> = row.functions.iter().map(|n| format!("`{n}`")).collect();
        let (title, what, memory) = (row.title, row.what, row.memory);
        out.push_str(&format!("| {} | {title}: {what} | {memory} |\n", cell(&names.join(" "))));
    }
    out
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// A partial of what an argument points to begins with a star.
fn escaped(partial: &str) -> String {
    if partial.starts_with('*') { format!("\\{partial}") } else { partial.to_owned() }
}

fn rule_row(rule: &RuleInWords) -> String {
    let operations: Vec<String> = rule.operations.iter().map(|o| format!("`{o}`")).collect();
    let partials: Vec<String> = rule.partials.iter().map(|p| escaped(p)).collect();
    let is_long = rule.partials.iter().any(|p| p.chars().count() > LONGEST);
    let partials = match (partials.is_empty(), is_long) {
        (true, _) => "none".to_owned(),
        (false, true) => "as in words, arranged for precision".to_owned(),
        (false, false) => partials.join("<br>"),
    };
    format!(
        "| {} | {} | {} | {} |\n",
        cell(&operations.join(", ")),
        cell(&partials),
        cell(rule.formula),
        cell(rule.kinks)
    )
}

/// `∂/∂x: ...` for each partial that is not zero.
fn partials(rule: &Rule) -> Vec<String> {
    let names = rule.operand_names();
    let mut out = Vec::new();
    for output in rule.outputs {
        let of = match output.place {
            Place::Return => String::new(),
            Place::ReturnField(i) => format!("field {i} "),
            Place::Pointee(i) => format!("*{} ", names.get(usize::from(i)).copied().unwrap_or("?")),
        };
        for (partial, name) in output.partials.iter().zip(&names) {
            if let Some(expr) = partial {
                out.push(format!("{of}∂/∂{name}: {}", Written { expr, names: &names }));
            }
        }
    }
    out
}

fn spelling(s: Spelling) -> String {
    match s {
        Spelling::FNeg => "fneg".to_owned(),
        Spelling::Binary(op) => binary_name(op).to_owned(),
        Spelling::Cast(op) => cast_name(op).to_owned(),
        Spelling::Intrinsic(name) => format!("llvm.{name}"),
        Spelling::Libm(name) | Spelling::Exact(name, _) => name.to_owned(),
    }
}

fn binary_name(op: BinOp) -> &'static str {
    match op {
        BinOp::Add => "add",
        BinOp::FAdd => "fadd",
        BinOp::Sub => "sub",
        BinOp::FSub => "fsub",
        BinOp::Mul => "mul",
        BinOp::FMul => "fmul",
        BinOp::UDiv => "udiv",
        BinOp::SDiv => "sdiv",
        BinOp::FDiv => "fdiv",
        BinOp::URem => "urem",
        BinOp::SRem => "srem",
        BinOp::FRem => "frem",
        BinOp::Shl => "shl",
        BinOp::LShr => "lshr",
        BinOp::AShr => "ashr",
        BinOp::And => "and",
        BinOp::Or => "or",
        BinOp::Xor => "xor",
    }
}

fn cast_name(op: CastOp) -> &'static str {
    match op {
        CastOp::Trunc => "trunc",
        CastOp::ZExt => "zext",
        CastOp::SExt => "sext",
        CastOp::FPToUI => "fptoui",
        CastOp::FPToSI => "fptosi",
        CastOp::UIToFP => "uitofp",
        CastOp::SIToFP => "sitofp",
        CastOp::FPTrunc => "fptrunc",
        CastOp::FPExt => "fpext",
        CastOp::PtrToInt => "ptrtoint",
        CastOp::PtrToAddr => "ptrtoaddr",
        CastOp::IntToPtr => "inttoptr",
        CastOp::BitCast => "bitcast",
        CastOp::AddrSpaceCast => "addrspacecast",
    }
}

fn known_words(row: &KnownFn) -> KnownInWords {
    let functions: Vec<String> = row
        .names
        .iter()
        .map(|n| match n {
            Name::Exact(n) => (*n).to_owned(),
            Name::Prefix(n) => format!("{n}…"),
            Name::Suffix(n) => format!("…{n}"),
        })
        .collect();
    let what = match row.what {
        Known::Inactive => "inactive",
        Known::Identity { .. } => "returns its first operand",
        Known::Alloc(a) if a.zeroed => "allocates zeroed memory",
        Known::Alloc(_) => "allocates",
        Known::Realloc { .. } => "reallocates",
        Known::Free { .. } => "releases",
        Known::MemCopy { .. } => "copies",
        Known::MemMove { .. } => "copies, also overlapping memory",
        Known::MemSet { .. } => "fills",
    };
    let mut memory = Vec::new();
    for (word, reach) in [("reads", row.effects.reads), ("writes", row.effects.writes)] {
        match reach {
            Reach::Nothing => {}
            Reach::Args(list) => {
                let list: Vec<String> = list.iter().map(|i| (i + 1).to_string()).collect();
                memory.push(format!("{word} through argument {}", list.join(", ")));
            }
            Reach::AllArgs => memory.push(format!("{word} through its arguments")),
        }
    }
    if row.effects.hidden {
        memory.push("hidden state".to_owned());
    }
    if row.effects.noreturn {
        memory.push("never returns".to_owned());
    }
    let memory = if memory.is_empty() { "none".to_owned() } else { memory.join("; ") };
    KnownInWords { functions, title: row.title, what, memory }
}
