//! Memory classes, carried floats and activity of small functions, and that results do not depend on orders.

#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

mod activity;
mod bytes;
mod carry;
mod classes;
mod contents;

use std::collections::{BTreeMap, BTreeSet};

use enzyme_analysis::memory::Class;
use enzyme_analysis::{ClassId, Object, Units};
use enzyme_ir::{Func, FuncId, Module, ValueDef, ValueId, parse_module};

fn parse(source: &str) -> Module {
    let module = parse_module(source).unwrap_or_else(|e| panic!("{e}\n{source}"));
    assert_eq!(enzyme_ir::verify_module(&module), [], "{source}");
    module
}

fn analyze(module: &Module) -> Units {
    let defined: Vec<FuncId> = module.funcs.iter().filter(|(_, f)| !f.is_declaration()).map(|(id, _)| id).collect();
    Units::analyze(module, &BTreeMap::new(), &defined)
}

fn name(func: &Func, v: ValueId) -> String {
    func.value_names.get(&v).cloned().unwrap_or_else(|| v.to_string())
}

fn value(func: &Func, wanted: &str) -> ValueId {
    let found = func.value_names.iter().find(|(_, n)| n.as_str() == wanted);
    *found.unwrap_or_else(|| panic!("no value %{wanted}")).0
}

/// The names in each class that has any, classes in the order of their first value.
fn members(module: &Module, units: &Units, f: FuncId) -> Vec<(ClassId, Vec<String>)> {
    let (func, unit) = (&module.funcs[f], units.get(f).unwrap());
    let mut out: Vec<(ClassId, Vec<String>)> = Vec::new();
    for v in func.values.keys() {
        let Some(c) = unit.memory.class_of[v] else { continue };
        let text = match func.values[v].def {
            ValueDef::Const(c) => match &module.ctx.consts[c] {
                enzyme_ir::Const::Global(g) => format!("@{}", module.globals[*g].name),
                _ => continue,
            },
            ValueDef::Param(_) | ValueDef::Inst(_) => name(func, v),
        };
        match out.iter_mut().find(|(known, _)| *known == c) {
            Some((_, names)) => names.push(text),
            None => out.push((c, vec![text])),
        }
    }
    out
}

/// What is known of a class, in words that do not depend on the numbers of classes and instructions.
fn describe(module: &Module, class: &Class) -> String {
    let mut words: BTreeSet<String> = class.floats().iter().map(|k| k.name().to_owned()).collect();
    if class.has_pointers() {
        words.insert("pointers".to_owned());
    }
    if class.items.keys().any(|i| i.ty == enzyme_ir::ByteType::Integer) {
        words.insert("integers".to_owned());
    }
    for o in &class.objects {
        words.insert(match o {
            Object::Param(..) => "parameter".to_owned(),
            Object::Stack(..) => "stack".to_owned(),
            Object::Heap(..) => "heap".to_owned(),
            Object::Global(g) => format!("@{}", module.globals[*g].name),
            Object::Code(f) => format!("code of @{}", module.funcs[*f].name),
            Object::Called(..) => "called".to_owned(),
            Object::Unknown(..) => "unknown".to_owned(),
        });
    }
    words.into_iter().collect::<Vec<_>>().join(" ")
}
