//! The parts of a plan one by one: control flow, the choice between caching and rebuilding, and bytes of copies.

#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

mod copies;
mod cut;
mod shape;

use std::collections::{BTreeMap, BTreeSet};

use enzyme_analysis::{Activities, Program, Units};
use enzyme_diff::engine::context_of;
use enzyme_diff::{DerivativeKey, Mode, ParamActivity, Request, ResultUse, Shape, Subject};
use enzyme_ir::{Facts, Func, FuncId, Module, ValueId, parse_module};

/// Runs `test` with the only defined function of `source`, whose pointers have shadows and whose floats are active.
/// `facts` may state facts.
fn with_subject(source: &str, facts: impl Fn(&Func) -> Facts, test: impl FnOnce(&Module, &Subject<'_>)) {
    let module = parse_module(source).unwrap_or_else(|e| panic!("{e}\n{source}"));
    assert_eq!(enzyme_ir::verify_module(&module), []);
    let id = module.funcs.iter().find(|(_, f)| !f.is_declaration()).map(|(id, _)| id).unwrap();
    let func = &module.funcs[id];
    let params = func.params.iter().map(|p| match module.ctx.types.contains_pointer(func.ty(*p)) {
        true => ParamActivity::Dup,
        false if module.ctx.types.contains_float(func.ty(*p)) => ParamActivity::Active,
        false => ParamActivity::Const,
    });
    let request = Request {
        func: id,
        mode: Mode::Combined,
        params: params.collect(),
        result: ResultUse::default(),
        width: 1,
        tested: false,
        keeps: false,
        transposed: false,
    };
    let all: BTreeMap<FuncId, Facts> = BTreeMap::from([(id, facts(func))]);
    let units = Units::analyze(&module, &all, &[id]);
    let context = context_of(&module, &units, &request).unwrap();
    let mut activities = Activities::default();
    activities.solve(&Program { module: &module, units: &units }, id, context.clone());
    let unit = units.get(id).unwrap();
    let activity = activities.get(id, &context).unwrap();
    let shape = Shape::new(&module, func, &unit.facts).unwrap_or_else(|e| panic!("{e:?}\n{source}"));
    let key = DerivativeKey {
        func: id,
        mode: Mode::Combined,
        context: context.clone(),
        kept: BTreeSet::new(),
        own: BTreeSet::new(),
        unwinds: false,
        products: false,
        keeps: false,
        transposed: false,
        placed: false,
        value: false,
        width: 1,
    };
    test(&module, &Subject { func, unit, activity, shape: &shape, key: &key, undo: &enzyme_diff::undo::NOTHING });
}

fn value(func: &Func, name: &str) -> ValueId {
    let found = func.value_names.iter().find(|(_, n)| n.as_str() == name);
    *found.unwrap_or_else(|| panic!("no value %{name}")).0
}

fn name(func: &Func, v: ValueId) -> String {
    func.value_names.get(&v).cloned().unwrap_or_else(|| v.to_string())
}

fn block_name(func: &Func, b: enzyme_ir::BlockId) -> String {
    func.blocks[b].name.clone().unwrap_or_else(|| b.to_string())
}
