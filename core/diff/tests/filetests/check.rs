//! Checks of one file: every gradient in both modes, alone and called, without and with the facts stated.
//!
//! With `w` for the weights of the outputs and `J` for the Jacobian, for every input i:
//!
//! - reverse against forward: `(J^T w)_i = w . J e_i`, up to rounding of sums taken in another order;
//! - reverse against differences: Romberg's extrapolation of central differences (Ridders, 1982), within the tolerance
//!   that the file states;
//! - the derivative leaves primal memory, and as many heap objects, as the primal does; its primal result is the same.
//!
//! Two wrappers put each function into split mode: one calls it once, one twice in a loop, which adds up the results.
//! Fresh memory of the interpreter holds a pattern, so that what is read without being written is seen.

use std::collections::BTreeMap;

use enzyme_diff::engine::Log;
use enzyme_diff::{Derivative, Engine, Mode, Options, ParamActivity, RefusalKind, Request, ResultUse};
use enzyme_ir::facts::{Steady, UndoneStore, Written};
use enzyme_ir::interp::{Config, Interp, Trap, Val};
use enzyme_ir::text::print_type;
use enzyme_ir::{
    BlockId, ByteRun, ByteType, Facts, FloatKind, Func, FuncId, InstId, Module, Op, Type, ValueId, parse_module,
    print_func, verify_module,
};

use crate::directive::{Call, Directives, Fact, Gradient, Planned, Refused};
use crate::point::{Arg, Placed, Point, floats_of, set_floats};

/// The ways in which a function is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Variant {
    Plain,
    /// By a call from another function.
    Called,
    /// By two calls from a loop.
    Looped,
}

impl Variant {
    fn name(self, func: &str) -> String {
        match self {
            Variant::Plain => func.to_owned(),
            Variant::Called => format!("{func}.called"),
            Variant::Looped => format!("{func}.looped"),
        }
    }
}

/// Sums in another order differ by this part of the tolerance at most: differences lose more digits than that.
const AGREEMENT: f64 = 1e-3;
/// Nothing is asked to agree better than this: some ten roundings at values a hundred times the result.
const ROUNDING: f64 = 1e-12;

/// Checks all directives of a file.
pub fn file(source: &str, directives: &Directives) -> Result<(), String> {
    let mut failures = Vec::new();
    let variants =
        if directives.alone { vec![Variant::Plain] } else { vec![Variant::Plain, Variant::Called, Variant::Looped] };
    for variant in variants {
        let stated: &[bool] = match (directives.facts.is_empty(), directives.needs_facts) {
            (true, _) => &[false],
            (false, false) => &[false, true],
            (false, true) => &[true],
        };
        for with_facts in stated {
            if let Err(e) = gradients(source, directives, variant, *with_facts) {
                let facts = if *with_facts { " with facts" } else { "" };
                failures.push(format!("{variant:?}{facts}: {e}"));
            }
        }
    }
    for r in &directives.refusals {
        if let Err(e) = refusal(source, directives, r) {
            failures.push(format!("line {}: {e}", r.line));
        }
    }
    for p in &directives.plans {
        if let Err(e) = plan(source, directives, p) {
            failures.push(format!("line {}: {e}", p.line));
        }
    }
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
}

fn read(source: &str, funcs: &[&str], variant: Variant) -> Result<Module, String> {
    let mut text = source.to_owned();
    if variant != Variant::Plain {
        let module = parse_module(source).map_err(|e| e.to_string())?;
        for f in funcs {
            text.push_str(&wrapper(&module, f, variant)?);
        }
    }
    let module = parse_module(&text).map_err(|e| format!("{e}\n{text}"))?;
    check_module(&module)?;
    Ok(module)
}

fn check_module(module: &Module) -> Result<(), String> {
    let errors = verify_module(module);
    match errors.first() {
        None => Ok(()),
        Some(first) => {
            let func = first.func.as_deref().and_then(|f| module.find_func(f));
            let text = func.map(|f| print_func(module, &module.funcs[f])).unwrap_or_default();
            Err(format!("{} errors of the verifier, the first: {first}\n{text}", errors.len()))
        }
    }
}

fn wrapper(module: &Module, func: &str, variant: Variant) -> Result<String, String> {
    let id = module.find_func(func).ok_or_else(|| format!("no function @{func}"))?;
    let (ret, params, _) = module.signature(id);
    let types = &module.ctx.types;
    let names: Vec<String> =
        params.iter().enumerate().map(|(n, ty)| format!("{} %a{n}", print_type(types, *ty))).collect();
    let (names, ty, name) = (names.join(", "), print_type(types, ret), variant.name(func));
    if types[ret] == Type::Void {
        let call = format!("call void @{func}({names})");
        return Ok(match variant {
            Variant::Plain | Variant::Called => {
                format!("\ndefine void @{name}({names}) {{\n  {call}\n  ret void\n}}\n")
            }
            Variant::Looped => format!(
                "\ndefine void @{name}({names}) {{\nentry:\n  br label %loop\nloop:\n  %i = phi i1 [ true, %entry ], [ false, %loop ]\n  \
                 {call}\n  br i1 %i, label %loop, label %done\ndone:\n  ret void\n}}\n"
            ),
        });
    }
    let call = format!("%r = call {ty} @{func}({names})");
    Ok(match variant {
        Variant::Plain | Variant::Called => {
            format!("\ndefine {ty} @{name}({names}) {{\n  {call}\n  ret {ty} %r\n}}\n")
        }
        Variant::Looped => {
            let adds = types.is_float_or_vector(ret);
            let sum = if adds {
                format!("  %sum = phi {ty} [ zeroinitializer, %entry ], [ %next, %loop ]\n")
            } else {
                String::new()
            };
            let next = if adds { format!("  %next = fadd {ty} %sum, %r\n") } else { String::new() };
            let last = if adds { "%next" } else { "%r" };
            format!(
                "\ndefine {ty} @{name}({names}) {{\nentry:\n  br label %loop\nloop:\n  %i = phi i1 [ true, %entry ], [ false, %loop ]\n\
                 {sum}  {call}\n{next}  br i1 %i, label %loop, label %done\ndone:\n  %out = phi {ty} [ {last}, %loop ]\n  ret {ty} %out\n}}\n"
            )
        }
    })
}

fn value_named(func: &Func, name: &str) -> Result<ValueId, String> {
    let found = func.value_names.iter().find(|(_, n)| n.as_str() == name).map(|(v, _)| *v);
    found.ok_or_else(|| format!("no value %{name} in @{}", func.name))
}

fn inst_named(func: &Func, name: &str) -> Result<InstId, String> {
    func.def_inst(value_named(func, name)?).ok_or_else(|| format!("%{name} is no instruction"))
}

fn block_named(func: &Func, name: &str) -> Result<BlockId, String> {
    let found = func.blocks.iter().find(|(_, b)| b.name.as_deref() == Some(name)).map(|(b, _)| b);
    found.ok_or_else(|| format!("no block %{name} in @{}", func.name))
}

fn loads(func: &Func) -> impl Iterator<Item = InstId> + '_ {
    func.placed().map(|(_, i)| i).filter(|i| matches!(func.insts[*i].op, Op::Load(_)))
}

fn store_of(func: &Func, value: &str) -> Result<InstId, String> {
    let v = value_named(func, value)?;
    let is_it = |i: &InstId| matches!(func.insts[*i].op, Op::Store(_)) && func.insts[*i].args.first() == Some(&v);
    func.placed().map(|e| e.1).find(is_it).ok_or_else(|| format!("no store of %{value}"))
}

fn facts(
    module: &Module,
    stated: &[Fact],
    variant: Variant,
    roots: &[&str],
) -> Result<BTreeMap<FuncId, Facts>, String> {
    let mut out: BTreeMap<FuncId, Facts> = BTreeMap::new();
    let find = |name: &str| module.find_func(name).ok_or_else(|| format!("no function @{name}"));
    for fact in stated {
        match fact {
            Fact::AllStable => {
                for (id, func) in module.funcs.iter() {
                    out.entry(id).or_default().stable_loads.extend(loads(func));
                }
            }
            Fact::Stable(func, loads) => {
                let id = find(func)?;
                for name in loads {
                    let i = inst_named(&module.funcs[id], name)?;
                    out.entry(id).or_default().stable_loads.insert(i);
                }
            }
            Fact::Stands(func, value) => {
                let id = find(func)?;
                let store = store_of(&module.funcs[id], value)?;
                out.entry(id).or_default().stable_stores.insert(store);
            }
            Fact::Undone { func, loads, stored, old, seen } => {
                let id = find(func)?;
                let func = &module.funcs[id];
                let (store, old) = (store_of(func, stored)?, inst_named(func, old)?);
                let written = match seen.as_slice() {
                    [] => None,
                    [header, start, steps @ ..] => {
                        let step =
                            |s: &[String]| Ok::<_, String>((block_named(func, &s[0])?, value_named(func, &s[1])?));
                        let steps = steps.chunks_exact(2).map(step).collect::<Result<Vec<_>, _>>()?;
                        Some(Written { header: block_named(func, header)?, start: value_named(func, start)?, steps })
                    }
                    [_] => return Err("where does it store?".to_owned()),
                };
                let facts = out.entry(id).or_default();
                facts.undone_stores.insert(store, UndoneStore { old, written });
                for load in loads {
                    facts.repeated_loads.entry(inst_named(func, load)?).or_default().push(store);
                }
            }
            Fact::Steady { func, load, header, varies, condition, most } => {
                let id = find(func)?;
                let func = &module.funcs[id];
                let (i, header) = (inst_named(func, load)?, block_named(func, header)?);
                let named = |v: &Option<String>| v.as_ref().map(|v| value_named(func, v)).transpose();
                let (condition, most) = (named(condition)?, named(most)?);
                let fact = Steady { header, condition, varies: *varies, most };
                out.entry(id).or_default().steady_loads.insert(i, fact);
            }
            Fact::Trip(func, header, count) => {
                let id = find(func)?;
                let func = &module.funcs[id];
                let (header, count) = (block_named(func, header)?, value_named(func, count)?);
                out.entry(id).or_default().trip_counts.insert(header, count);
            }
            Fact::Fallback(func, call) => {
                let id = find(func)?;
                let i = inst_named(&module.funcs[id], call)?;
                out.entry(id).or_default().fallbacks.insert(i);
            }
            Fact::Bytes(func, inst, ty) => {
                let id = find(func)?;
                let func = &module.funcs[id];
                let i = inst_named(func, inst)?;
                let (ty, size) = match ty.as_str() {
                    "double" => (ByteType::Float(FloatKind::Double), 8),
                    "float" => (ByteType::Float(FloatKind::Float), 4),
                    "ptr" => (ByteType::Pointer, 8),
                    "int" => (ByteType::Integer, 8),
                    other => return Err(format!("bytes of {other}?")),
                };
                out.entry(id).or_default().access_types.insert(i, vec![ByteRun { offset: 0, size, ty }]);
            }
        }
    }
    if variant == Variant::Called && !stated.is_empty() {
        // After its only call the wrapper returns: nothing that the call can reach is written.
        for root in roots {
            let id = find(&variant.name(root))?;
            let func = &module.funcs[id];
            for (_, i) in func.placed() {
                let n = func.call_args(i).len() as u32;
                out.entry(id).or_default().stable_args.extend((0..n).map(|a| (i, a)));
            }
        }
    }
    Ok(out)
}

fn request(func: FuncId, mode: Mode, point: &Point) -> Request {
    let params = point.args.iter().map(|a| match a {
        Arg::Value(_, true) | Arg::Bits(_) => ParamActivity::Active,
        Arg::Value(_, false) | Arg::Pointer(_, _, true) => ParamActivity::Const,
        Arg::Pointer(_, _, false) => ParamActivity::Dup,
    });
    Request {
        func,
        mode,
        params: params.collect(),
        result: ResultUse::default(),
        width: 1,
        tested: false,
        keeps: false,
        transposed: false,
    }
}

fn differentiate(
    engine: &mut Engine,
    module: &mut Module,
    facts: &BTreeMap<FuncId, Facts>,
    request: &Request,
) -> Result<Derivative, String> {
    let made = engine.differentiate(module, facts, request, Options::default());
    made.map_err(|refused| {
        let all: Vec<String> =
            refused.iter().map(|r| format!("@{}: {:?}", module.funcs[r.func].name, r.refusal)).collect();
        format!("refused in {:?} mode: {}", request.mode, all.join("; "))
    })
}

fn gradients(source: &str, directives: &Directives, variant: Variant, with_facts: bool) -> Result<(), String> {
    let mut roots: Vec<&str> = directives.gradients.iter().map(|g| g.call.func.as_str()).collect();
    roots.sort_unstable();
    roots.dedup();
    let mut module = read(source, &roots, variant)?;
    let stated = if with_facts { directives.facts.as_slice() } else { &[] };
    let facts = facts(&module, stated, variant, &roots)?;
    let mut engine = Engine::default();
    let mut cases = Vec::new();
    // All derivatives stand in one module before the first runs.
    for g in &directives.gradients {
        let at = |e: String| format!("line {}: {e}", g.line);
        let name = variant.name(&g.call.func);
        let func = module.find_func(&name).ok_or_else(|| at(format!("no function @{name}")))?;
        let point = Point::new(&module, &module.funcs[func], &g.call.args).map_err(at)?;
        let at = |e: String| format!("line {}: {e}", g.line);
        let [forward, reverse] = [Mode::Forward, Mode::Combined].map(|m| request(func, m, &point));
        let forward = differentiate(&mut engine, &mut module, &facts, &forward).map_err(at)?;
        let at = |e: String| format!("line {}: {e}", g.line);
        let reverse = match g.forward_only {
            true => None,
            false => Some(differentiate(&mut engine, &mut module, &facts, &reverse).map_err(at)?),
        };
        cases.push((g, func, point, forward, reverse));
    }
    if std::env::var_os("FILETESTS_PRINT").is_some() {
        eprintln!("{}", enzyme_ir::print_module(&module));
    }
    check_module(&module)?;
    for (g, func, point, forward, reverse) in cases {
        if g.exact.is_some() && variant == Variant::Looped {
            continue;
        }
        let case = Case { module: &module, func, point };
        case.check(g, &forward, reverse.as_ref()).map_err(|e| format!("line {}: {e}", g.line))?;
    }
    Ok(())
}

/// A call whose derivatives are there.
struct Case<'m> {
    module: &'m Module,
    func: FuncId,
    point: Point,
}

/// What a run left.
#[derive(Clone, Debug)]
struct Left {
    /// Floats of the result, then those in memory with a shadow.
    outputs: Vec<f64>,
    image: Vec<u8>,
    heap: usize,
    result: Option<Val>,
}

impl Case<'_> {
    fn interp(&self) -> Result<Interp<'_>, String> {
        let config = Config {
            max_steps: 50_000_000,
            max_bytes: 256 << 20,
            max_depth: 10_000,
            uninit_byte: 0xcb,
            ..Config::default()
        };
        Interp::new(self.module, config).map_err(trap("the globals"))
    }

    fn args(&self, point: &Point, placed: &[u64]) -> Vec<Val> {
        let one = |a: &Arg| match a {
            Arg::Value(v, _) => v.clone(),
            Arg::Bits(x) => Val::Int(u128::from(x.to_bits())),
            Arg::Pointer(m, offset, _) => Val::Ptr(placed.get(*m).copied().unwrap_or(0) + offset),
        };
        point.args.iter().map(one).collect()
    }

    fn left(&self, interp: &Interp<'_>, point: &Point, placed: &Placed, result: Option<Val>) -> Result<Left, Trap> {
        let mut outputs = Vec::new();
        result.iter().for_each(|r| floats_of(r, &mut outputs));
        outputs.extend(point.read(interp, &placed.primal)?);
        let image = point.image(interp, &placed.primal)?;
        Ok(Left { outputs, image, heap: interp.live_heap_allocations(), result })
    }

    fn primal(&self, point: &Point) -> Result<Left, String> {
        let mut interp = self.interp()?;
        let place = trap("the primal");
        let placed = point.place(&mut interp, &[]).map_err(&place)?;
        let result = interp.run(self.func, &self.args(point, &placed.primal)).map_err(&place)?;
        self.left(&interp, point, &placed, result).map_err(&place)
    }

    /// Tangents of the outputs along `direction`.
    fn forward(&self, d: &Derivative, direction: &[f64], primal: &Left) -> Result<Vec<f64>, String> {
        let mut interp = self.interp()?;
        let place = trap("the forward derivative");
        let (by_value, cells) = direction.split_at(self.point.scalars());
        let placed = self.point.place(&mut interp, cells).map_err(&place)?;
        let args = self.args(&self.point, &placed.primal);
        let mut tangents = self.args(&self.point, &placed.shadow);
        let mut next = by_value.iter().copied();
        for (t, a) in tangents.iter_mut().zip(&self.point.args) {
            match a {
                Arg::Value(_, true) => set_floats(t, &mut next),
                Arg::Bits(_) => *t = Val::Int(u128::from(next.next().unwrap_or(0.0).to_bits())),
                Arg::Value(_, false) | Arg::Pointer(..) => {}
            }
        }
        let all = arrange(d, &args, &tangents, None);
        let returned = interp.run(d.func, &all).map_err(&place)?;
        let result = field(&returned, d.signature.result_field);
        let left = self.left(&interp, &self.point, &placed, result.clone()).map_err(&place)?;
        self.same_primal(&left, primal, "forward")?;
        if let (Some(a), Some(b)) = (&result, &primal.result)
            && !same_result(a, b)
        {
            return Err(format!("the forward derivative returns {a:?} as primal result instead of {b:?}"));
        }
        let mut out = Vec::new();
        match (field(&returned, d.signature.shadow_field), &primal.result) {
            (Some(t), _) => floats_of(&t, &mut out),
            (None, Some(r)) => {
                floats_of(r, &mut out);
                out.fill(0.0);
            }
            (None, None) => {}
        }
        out.extend(self.point.read(&interp, &placed.shadow).map_err(&place)?);
        Ok(out)
    }

    /// Adjoints of the inputs for `weights` of the outputs.
    fn reverse(&self, d: &Derivative, weights: &[f64], primal: &Left) -> Result<Vec<f64>, String> {
        let mut interp = self.interp()?;
        let place = trap("the reverse derivative");
        let (of_result, cells) = weights.split_at(weights.len() - self.point.cells());
        let placed = self.point.place(&mut interp, cells).map_err(&place)?;
        let args = self.args(&self.point, &placed.primal);
        let shadows = self.args(&self.point, &placed.shadow);
        let seed = primal.result.clone().map(|mut r| {
            set_floats(&mut r, &mut of_result.iter().copied());
            r
        });
        let returned = interp.run(d.func, &arrange(d, &args, &shadows, seed)).map_err(&place)?;
        let left = self.left(&interp, &self.point, &placed, None).map_err(&place)?;
        self.same_primal(&left, primal, "reverse")?;
        let mut out = Vec::new();
        for (a, n) in self.point.args.iter().zip(&d.signature.adjoints) {
            let adjoint = field(&returned, *n);
            match (a, adjoint) {
                (Arg::Bits(_), Some(x)) => out.push(f64::from_bits(x.as_u64().unwrap_or(0))),
                (Arg::Value(_, true), Some(x)) => floats_of(&x, &mut out),
                (Arg::Value(_, true) | Arg::Bits(_), None) => return Err("an adjoint is not returned".to_owned()),
                (Arg::Value(_, false) | Arg::Pointer(..), _) => {}
            }
        }
        out.extend(self.point.read(&interp, &placed.shadow).map_err(&place)?);
        Ok(out)
    }

    fn same_primal(&self, left: &Left, primal: &Left, mode: &str) -> Result<(), String> {
        if left.image != primal.image {
            let at = left.image.iter().zip(&primal.image).position(|(a, b)| a != b);
            return Err(format!("the {mode} derivative leaves other memory than the primal, first at byte {at:?}"));
        }
        if left.heap != primal.heap {
            return Err(format!("the {mode} derivative leaves {} heap objects, the primal {}", left.heap, primal.heap));
        }
        Ok(())
    }

    fn check(&self, g: &Gradient, forward: &Derivative, reverse: Option<&Derivative>) -> Result<(), String> {
        let primal = self.primal(&self.point)?;
        let cells = self.point.cells();
        let count = primal.outputs.len();
        let weights: Vec<f64> = match g.exact {
            Some(_) => (0..count).map(|n| if n < count - cells { 1.0 } else { 0.0 }).collect(),
            // Of either sign, and exact in all formats.
            None => (0..count).map(|n| ((n * 5 + 3) % 11) as f64 / 4.0 - 1.375).collect(),
        };
        let inputs = self.point.floats();
        let tangents = |n: usize| {
            let mut direction = vec![0.0; inputs.len()];
            direction[n] = 1.0;
            let tangents = self.forward(forward, &direction, &primal)?;
            Ok(weights.iter().zip(&tangents).filter(|(w, _)| **w != 0.0).map(|(w, t)| w * t).sum::<f64>())
        };
        let adjoints = match reverse {
            Some(reverse) => self.reverse(reverse, &weights, &primal)?,
            None => (0..inputs.len()).map(&tangents).collect::<Result<_, String>>()?,
        };
        if adjoints.len() != inputs.len() {
            return Err(format!("{} adjoints for {} inputs", adjoints.len(), inputs.len()));
        }
        let scale = adjoints.iter().fold(1.0f64, |s, a| s.max(a.abs()));
        for (n, adjoint) in adjoints.iter().copied().enumerate() {
            let sum = tangents(n)?;
            let allowed = (g.tolerance * AGREEMENT).max(ROUNDING) * scale;
            if !near(adjoint, sum, allowed) {
                return Err(format!("input {n}: reverse mode says {}, forward mode {sum}", adjoint));
            }
            match &g.exact {
                Some(exact) => {
                    let expected = exact.get(n).copied().ok_or("too few exact adjoints")?;
                    if !near(adjoint, expected, g.tolerance * expected.abs()) {
                        return Err(format!("input {n}: both modes say {}, exact is {expected}", adjoint));
                    }
                }
                None => {
                    let (difference, error) = self.difference(&inputs, n, &weights)?;
                    if !near(adjoint, difference, g.tolerance * scale) {
                        return Err(format!(
                            "input {n}: both modes say {}, differences {difference} +- {error:e}",
                            adjoint
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    /// The derivative of the weighted outputs with respect to an input, by extrapolated central differences.
    fn difference(&self, inputs: &[f64], n: usize, weights: &[f64]) -> Result<(f64, f64), String> {
        let at = |x: f64| -> Result<Vec<f64>, String> {
            let mut moved = inputs.to_vec();
            moved[n] = x;
            Ok(self.primal(&self.point.with(&moved))?.outputs)
        };
        // Powers of two, so that the step is exact in every format.
        let mut h = 2f64.powi(-7) * 2f64.powf(inputs[n].abs().max(1.0).log2().floor());
        let mut table: Vec<f64> = Vec::new();
        let mut best = (f64::NAN, f64::INFINITY);
        for _ in 0..9 {
            let (up, down) = (at(inputs[n] + h)?, at(inputs[n] - h)?);
            let changed = weights.iter().zip(up.iter().zip(&down)).filter(|(_, (u, d))| u.to_bits() != d.to_bits());
            let sum: f64 = changed.map(|(w, (u, d))| w * (u - d)).sum();
            let mut row = vec![sum / (2.0 * h)];
            let mut power = 1.0;
            for (m, old) in table.iter().enumerate() {
                power *= 4.0;
                let better = (power * row[m] - old) / (power - 1.0);
                let error = (better - row[m]).abs().max((better - old).abs());
                if error < best.1 {
                    best = (better, error);
                }
                row.push(better);
            }
            table = row;
            h /= 2.0;
        }
        Ok(best)
    }
}

fn trap(what: &'static str) -> impl Fn(Trap) -> String {
    move |t| format!("{what} traps: {t}")
}

fn arrange(d: &Derivative, args: &[Val], shadows: &[Val], seed: Option<Val>) -> Vec<Val> {
    let mut all = vec![Val::Int(0); d.signature.params.len()];
    for (n, (a, s)) in args.iter().zip(shadows).enumerate() {
        all[d.signature.primal[n]] = a.clone();
        if let Some(at) = d.signature.shadow[n] {
            all[at] = s.clone();
        }
    }
    if let (Some(at), Some(seed)) = (d.signature.seed, seed) {
        all[at] = seed;
    }
    all
}

fn field(returned: &Option<Val>, n: Option<u32>) -> Option<Val> {
    returned.as_ref()?.elements()?.get(n? as usize).cloned()
}

fn same_result(a: &Val, b: &Val) -> bool {
    let bits = |v: &Val| {
        let mut out = Vec::new();
        floats_of(v, &mut out);
        out.into_iter().map(f64::to_bits).collect::<Vec<_>>()
    };
    // Addresses differ between runs.
    bits(a) == bits(b)
}

fn near(a: f64, b: f64, allowed: f64) -> bool {
    a == b || (a - b).abs() <= allowed
}

fn point_of(module: &Module, call: &Call) -> Result<(FuncId, Point), String> {
    let func = module.find_func(&call.func).ok_or_else(|| format!("no function @{}", call.func))?;
    Ok((func, Point::new(module, &module.funcs[func], &call.args)?))
}

fn kind_of(kind: &RefusalKind) -> String {
    let text = match kind {
        RefusalKind::Conflict(c) => format!("{c:?}"),
        other => format!("{other:?}"),
    };
    text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned()
}

fn refusal(source: &str, directives: &Directives, r: &Refused) -> Result<(), String> {
    let mut module = read(source, &[], Variant::Plain)?;
    let facts = facts(&module, &directives.facts, Variant::Plain, &[])?;
    let (func, point) = point_of(&module, &r.call)?;
    let mode = if r.forward { Mode::Forward } else { Mode::Combined };
    let request = request(func, mode, &point);
    match Engine::default().differentiate(&mut module, &facts, &request, Options::default()) {
        Ok(_) => Err("it is not refused".to_owned()),
        Err(refused) => {
            let kinds: Vec<String> = refused.iter().map(|r| kind_of(&r.refusal.kind)).collect();
            if kinds.contains(&r.kind) { Ok(()) } else { Err(format!("it is refused as {}", kinds.join(", "))) }
        }
    }
}

fn plan(source: &str, directives: &Directives, p: &Planned) -> Result<(), String> {
    let mut module = read(source, &[], Variant::Plain)?;
    let facts = facts(&module, &directives.facts, Variant::Plain, &[])?;
    let call = directives.gradients.iter().map(|g| &g.call).find(|c| c.func == p.func);
    let call = call.ok_or_else(|| format!("no gradient of @{}", p.func))?;
    let (func, point) = point_of(&module, call)?;
    let mut text = p.text.clone();
    if let Some(name) = p.text.strip_prefix('%') {
        text = format!("({})", value_named(&module.funcs[func], name)?);
    }
    let mut engine = Engine::new(Log { wants_plans: true, ..Log::default() });
    differentiate(&mut engine, &mut module, &facts, &request(func, Mode::Combined, &point))?;
    let head = format!("enzyme.grad.{}\n", p.func);
    let plan = engine.log.text.split("plan of @").find(|text| text.starts_with(&head)).ok_or("no plan was made")?;
    let wanted = |line: &str| line.trim_start().starts_with(&p.row) || p.row == "loops" && line.starts_with("loop");
    let found = plan.lines().filter(|l| wanted(l)).any(|l| l.contains(&text));
    if found == p.present {
        Ok(())
    } else {
        Err(format!("`{text}` {} in {} of\n{plan}", if found { "is" } else { "is not" }, p.row))
    }
}
