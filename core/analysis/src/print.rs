//! Results of the analyses as text, with their reasons: `-enzyme-print-type`, `-enzyme-print-activity`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use enzyme_ir::text::Numbered;
use enzyme_ir::{ByteType, Func, FuncId, InstId, Module, ValueDef, ValueId};

use crate::activity::{Activity, Reason, State};
use crate::carry::Carry;
use crate::memory::{Class, ClassId, Object, Span, Steps};
use crate::program::Program;

fn named_values(func: &Func) -> impl Iterator<Item = ValueId> + '_ {
    func.values.keys().filter(|v| !matches!(func.values[*v].def, ValueDef::Const(_)))
}

fn place(module: &Module, func: &Func, i: InstId) -> String {
    match func.insts[i].loc {
        Some(l) => format!(" at {}", module.describe_loc(l)),
        None => String::new(),
    }
}

/// Why a value of the function, or memory, is active.
pub fn because(numbered: &Numbered<'_>, reason: &Reason) -> String {
    let (module, func) = (numbered.module, numbered.func);
    let value = |v: ValueId| numbered.value(v);
    match reason {
        Reason::Given => "stated by the caller".to_owned(),
        Reason::Operand(i, v) => format!("operand {}{}", value(*v), place(module, func, *i)),
        Reason::Read(i, c) => format!("read from {c}{}", place(module, func, *i)),
        Reason::Stored(i, Some(v)) => format!("{} is stored in it{}", value(*v), place(module, func, *i)),
        Reason::Stored(i, None) => format!("active data is copied into it{}", place(module, func, *i)),
        Reason::Call(i) => format!("call{}", place(module, func, *i)),
        Reason::PointsTo(c) => format!("it holds pointers to {c}"),
    }
}

/// The functions that objects are of.
type Functions<'a> = BTreeMap<FuncId, Numbered<'a>>;

fn object<'a>(program: &Program<'a>, functions: &mut Functions<'a>, o: &Object) -> String {
    let func = |f: &FuncId| &program.module.funcs[*f];
    match o {
        Object::Param(f, n) => format!("parameter {n} of @{}", func(f).name),
        Object::Stack(f, i) | Object::Heap(f, i) | Object::Unknown(f, i) | Object::Called(f, i) => {
            let kind = match o {
                Object::Stack(..) => "stack",
                Object::Heap(..) => "heap",
                Object::Called(..) => "called by",
                _ => "unknown",
            };
            let value = func(f).insts[*i].result;
            let numbered = functions.entry(*f).or_insert_with(|| Numbered::new(program.module, func(f)));
            let value = value.map(|v| numbered.value(v)).unwrap_or_default();
            format!("{kind} {value} of @{}", func(f).name)
        }
        Object::Global(g) => format!("@{}", program.module.globals[*g].name),
        Object::Code(f) => format!("code of @{}", func(f).name),
    }
}

fn span(s: Span) -> String {
    match (s.stride, s.way, s.further) {
        (0, ..) => s.offset.to_string(),
        (n, Steps::Up, None) => format!("{}+{n}n", s.offset),
        (n, Steps::Up, Some(most)) => format!("{}+{n}n to {most}", s.offset),
        (n, Steps::Down, _) => format!("{}-{n}n", s.offset),
        (n, Steps::Both, _) => format!("{}±{n}n", s.offset),
    }
}

fn class_line<'a>(program: &Program<'a>, functions: &mut Functions<'a>, id: ClassId, class: &Class) -> String {
    let Class { edges, objects, items, merged: _, given: _, opaque: _, unaligned: _, foreign: _ } = class;
    let holds: Vec<String> = items
        .iter()
        .map(|(item, proof)| {
            let what = match item.ty {
                ByteType::Float(kind) => kind.name().to_owned(),
                ByteType::Pointer => "pointer".to_owned(),
                ByteType::Integer => format!("i{}", item.size * 8),
            };
            format!("{}: {what} {}", span(item.span), format!("{proof:?}").to_lowercase())
        })
        .collect();
    let to: Vec<String> = edges.iter().map(|e| format!("{} -> {} at {}", span(e.at), e.to, span(e.span))).collect();
    let to = if to.is_empty() { String::new() } else { format!(" [{}]", to.join("; ")) };
    let objects: Vec<String> = objects.iter().map(|o| object(program, functions, o)).collect();
    format!("{id}{to} holds {{{}}}: {}", holds.join(", "), objects.join("; "))
}

/// Memory classes of `f`, the class of each address, and how each value carries floats.
pub fn types(program: &Program<'_>, f: FuncId) -> String {
    let Some(unit) = program.unit(f) else { return String::new() };
    let func = program.func(f);
    let mut out = format!("types of @{}\n", func.name);
    let mut functions = Functions::new();
    for (id, class) in unit.memory.classes.iter() {
        let _ = writeln!(out, "  {}", class_line(program, &mut functions, id, class));
    }
    let numbered = Numbered::new(program.module, func);
    for v in named_values(func) {
        let carry = match unit.carry[v] {
            Carry::None => String::new(),
            Carry::Native => "float".to_owned(),
            Carry::Bits(kind, n) => format!("integer with the bits of {n} x {}", kind.name()),
            Carry::Unknown => "integer of unknown bytes".to_owned(),
            Carry::Word => "word that is told when it runs".to_owned(),
            Carry::Mixed => "integer with pieces of floats".to_owned(),
        };
        let class = unit.memory.class_of[v].map(|c| format!("address in {c} at {}", span(unit.memory.span_of[v])));
        let class = class.unwrap_or_default();
        let facts: Vec<String> = [carry, class].into_iter().filter(|s| !s.is_empty()).collect();
        if !facts.is_empty() {
            let _ = writeln!(out, "  {}: {}", numbered.value(v), facts.join(", "));
        }
    }
    out
}

/// Active values and shadowed memory of `f` in one context, each with its reason.
pub fn activity(program: &Program<'_>, f: FuncId, activity: &Activity) -> String {
    let func = program.func(f);
    let numbered = Numbered::new(program.module, func);
    let because = |reason: &Reason| because(&numbered, reason);
    let mut out = format!("activity of @{}\n", func.name);
    for (class, reason) in &activity.shadowed {
        let mixed = if activity.mixed.contains(class) { ", tested at run time" } else { "" };
        let _ = writeln!(out, "  {class} shadowed{mixed}: {}", because(reason));
    }
    for (class, state) in &activity.states {
        if *state == State::Pinned {
            let _ = writeln!(out, "  {class} constant");
        }
    }
    for v in named_values(func) {
        if let Some(reason) = &activity.active[v] {
            let what = match func.values[v].def {
                ValueDef::Inst(i) => numbered.inst(i).trim().to_owned(),
                ValueDef::Param(_) | ValueDef::Const(_) => numbered.value(v),
            };
            let _ = writeln!(out, "  active  {what}\n          because: {}", because(reason));
        }
    }
    out
}
