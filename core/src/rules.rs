//! Derivatives that the program gives of its own functions: read from registration globals into the module's statements.
//!
//! A function with a rule is opaque: the analyses see a model of it that does nothing with what it is given, and the engine calls
//! the rule instead of making a derivative. Rules for tangents on a tape are transposed where such tangents are asked for.

use enzyme_diff::custom::transposed;
use enzyme_diff::{Engine, Mode, RefusalKind};
use enzyme_ir::{BinOp, Builder, CustomRule, Func, FuncId, MemClass, Module, ShadowRule, Type, ValueId};
use enzyme_llvm::{Registration, RegistrationKind, Session};

use crate::codes;
use crate::report::{Report, from_problem};

/// Notes the rules of the module, those for tangents on a tape if any are asked for (`on_tape`); the names of functions that have to
/// stay calls.
pub fn collect(session: &mut Session, on_tape: bool) -> Result<Vec<String>, Vec<Report>> {
    let mut reports = Vec::new();
    let mut keep = Vec::new();
    let registrations = session.registrations();
    for r in &registrations {
        match enter(&mut session.ir, r) {
            Ok(Some(name)) => keep.push(name),
            Ok(None) => {}
            Err(report) => reports.push(report.at(r.stated_in, None)),
        }
    }
    let on_tapes = registrations.iter().filter(|r| on_tape && r.kind == RegistrationKind::SplitDerivative);
    for r in on_tapes.filter(|_| reports.is_empty()).collect::<Vec<_>>() {
        reports.extend(tangents(session, r).err());
    }
    if reports.is_empty() { Ok(keep) } else { Err(reports) }
}

/// Lets tangents on the tape of a function be taken by the rule that the program gives.
fn tangents(session: &mut Session, r: &Registration) -> Result<(), Report> {
    let [Some(primal), Some(augmented), Some(rule), _] = r.functions else { return Ok(()) };
    let made = transposed::state(&mut session.ir, primal, augmented, rule).map_err(|refusal| {
        let why = match refusal.kind {
            RefusalKind::Rule(text) => text,
            other => format!("{other:?}"),
        };
        Report::new(codes::E0111, why).at(Some(primal), None)
    })?;
    session.export(&made).map_err(|problems| match problems.first() {
        Some(p) => from_problem(p, codes::E0901),
        None => Report::new(codes::E0901, "a function was not accepted".to_owned()),
    })
}

fn enter(module: &mut Module, r: &Registration) -> Result<Option<String>, Report> {
    let wrong = |what: &str| Err(Report::new(codes::E0111, format!("'{}' {what}", r.name)));
    let needed = match r.kind {
        RegistrationKind::Gradient | RegistrationKind::SplitDerivative => 3,
        RegistrationKind::Derivative => 2,
        RegistrationKind::Like => 1,
        RegistrationKind::InactiveFunction if r.stated_in.is_some() && r.functions[0].is_none() => {
            return wrong("must be given the name of a procedure");
        }
        RegistrationKind::InactiveFunction | RegistrationKind::InactiveGlobal => return Ok(None),
        RegistrationKind::Allocation => return allocator(module, r),
        RegistrationKind::Product => return Ok(product(module, r)),
    };
    let wanted = match needed {
        1 => "a function and the name of a library function",
        2 => "a function and its forward rule",
        _ => "a function, its augmented primal and its rule",
    };
    let functions: Vec<FuncId> = r.functions.iter().take(needed).copied().flatten().collect();
    let complete = functions.len() == needed && r.entries == needed.max(2);
    if r.stated_in.is_some() && !r.text.is_empty() {
        return wrong(&r.text);
    }
    if !complete && r.stated_in.is_some() {
        return wrong(&format!("must be given the names of {wanted}"));
    }
    if !complete {
        return wrong(&format!(
            "must hold the addresses of {wanted}, and be initialised with them when the program is compiled"
        ));
    }
    let primal = functions[0];
    let name = module.funcs[primal].name.clone();
    if r.kind == RegistrationKind::Like {
        return match known(&r.text) {
            true => Ok(Some(name)),
            false => wrong(&format!("takes '{name}' for '{}', which the table of rules does not have", r.text)),
        };
    }
    let both = |a: FuncId, b: FuncId| format!("'{}' and '{}'", module.funcs[a].name, module.funcs[b].name);
    let other =
        module.stated.rules.get(&primal).and_then(|rule| rule.augmented).filter(|f| needed == 3 && *f != functions[1]);
    if let Some(f) = other {
        return wrong(&format!(
            "gives '{name}' two augmented primals, {}: its tape is that of one",
            both(f, functions[1])
        ));
    }
    let rule = module.stated.rules.entry(primal).or_default();
    match (r.kind, functions.as_slice()) {
        (RegistrationKind::Gradient, [_, augmented, reverse]) => {
            (rule.augmented, rule.reverse) = (Some(*augmented), Some(*reverse));
        }
        (RegistrationKind::SplitDerivative, [_, augmented, _]) => {
            rule.augmented.get_or_insert(*augmented);
        }
        (RegistrationKind::Derivative, [_, forward]) => rule.forward = Some(*forward),
        _ => {}
    }
    Ok(Some(name))
}

/// Notes the rules of a product of matrices.
fn product(module: &mut Module, r: &Registration) -> Option<String> {
    let [Some(primal), augmented, reverse, forward] = r.functions else { return None };
    let rule = CustomRule { augmented, reverse, forward, product: true, ..CustomRule::default() };
    module.stated.rules.insert(primal, rule);
    Some(module.funcs[primal].name.clone())
}

const SHADOWS: &str =
    "what makes the shadow of memory takes and gives what the allocator does, and what frees it takes that alone";

/// Checks that the functions that a program takes for an allocator and its release look like them.
fn allocator(module: &mut Module, r: &Registration) -> Result<Option<String>, Report> {
    let fits = |f: FuncId| {
        let (ret, params, _) = module.signature(f);
        let like = module.stated.like.get(&f)?;
        enzyme_rules::known(like)?.fits(&module.ctx.types, ret, &params).then_some(())
    };
    match r.functions {
        // The shadow is made by another function, and freed by another if there is one.
        [Some(allocator), Some(make), None, free] if r.entries == 4 && fits(allocator).is_some() => {
            let (of_make, of_free) = (module.funcs[make].sig, free.map(|f| module.signature(f)));
            let (ret, _, _) = module.signature(allocator);
            let void = module.ctx.types.void();
            if of_make != module.funcs[allocator].sig
                || of_free.is_some_and(|(out, params, variadic)| out != void || params != [ret] || variadic)
            {
                return Err(Report::new(codes::E0111, format!("'{}': {SHADOWS}", r.name)));
            }
            module.stated.shadows.insert(allocator, ShadowRule { make, free });
            Ok(Some(module.funcs[allocator].name.clone()))
        }
        [Some(allocator), .., Some(release)] if r.entries == 4 && fits(allocator).and(fits(release)).is_some() => {
            Ok(Some(module.funcs[allocator].name.clone()))
        }
        _ => {
            let what = "must hold an allocator, the number of its argument with the size (0 to 3), the arguments of its release as text, where \
                        -1 is what was allocated, and the release; both of types that fit, known when the program is compiled";
            Err(Report::new(codes::E0111, format!("'{}' {what}", r.name)))
        }
    }
}

/// Which rules were used, and where, one to a line.
pub fn describe(module: &Module, engine: &Engine) -> String {
    let mut out = String::new();
    // Of ours, those that are not used are nobody's concern.
    let is_used = |f: &FuncId| engine.ruled.iter().any(|(g, ..)| g == f);
    for (f, _) in module.stated.rules.iter().filter(|(f, rule)| !rule.product || is_used(f)) {
        let name = &module.funcs[*f].name;
        let mut uses = engine.ruled.iter().filter(|(g, ..)| g == f).peekable();
        if uses.peek().is_none() {
            out.push_str(&format!("enzyme: the rules of '{name}' are not used\n"));
        }
        for (_, mode, place) in uses {
            let what = match mode {
                Mode::Forward => "forward rule",
                Mode::Combined => "augmented and reverse rules",
                Mode::Augmented => "augmented rule",
                Mode::Gradient => "reverse rule",
            };
            out.push_str(&format!("enzyme: the {what} of '{name}': {place}\n"));
        }
    }
    out
}

fn known(name: &str) -> bool {
    enzyme_rules::lookup_call(name).is_some() || enzyme_rules::known(name).is_some()
}

/// Gives the declaration `f`, which has a rule, a body that lets the analyses see its parameters and nothing else, or of a product
/// what depends on what.
pub fn define_model(module: &mut Module, f: FuncId) {
    if !module.funcs[f].is_declaration() {
        return;
    }
    if module.stated.rules.get(&f).is_some_and(|rule| rule.product) {
        return define_product(module, f);
    }
    let types = &mut module.ctx.types;
    let (ptr, void, i64, i8, i1) = (types.ptr(), types.void(), types.int(64), types.int(8), types.int(1));
    let touch = module.declare("llvm.memset.p0.i64", void, &[ptr, i8, i64, i1]);
    let sig = module.funcs[touch].sig;
    let (ret, _, _) = module.signature(f);
    let mut func = module.funcs[f].clone();
    let entry = func.add_block(Some("model".to_owned()));
    let pointers: Vec<ValueId> = func.params.iter().copied().filter(|p| func.ty(*p) == ptr).collect();
    let mut b = Builder::new(&mut module.ctx, &mut func, entry);
    let (zero, none, no) = (b.zero(i8), b.i64(0), b.zero(i1));
    for p in pointers {
        b.call(touch, sig, &[p, zero, none, no]);
    }
    let result = (b.ctx.types[ret] != Type::Void).then(|| b.poison(ret));
    b.ret(result);
    func.layout = vec![entry];
    module.funcs[f] = func;
}

/// The model of a product: one element of C is a product of one of A and one of B, and what was there.
fn define_product(module: &mut Module, f: FuncId) {
    let mut func = module.funcs[f].clone();
    let entry = func.add_block(Some("model".to_owned()));
    let params = func.params.clone();
    let of = |func: &Func, ty: &dyn Fn(&Type) -> bool| -> Vec<ValueId> {
        params.iter().copied().filter(|p| ty(&module.ctx.types[func.ty(*p)])).collect()
    };
    let pointers = of(&func, &|ty| matches!(ty, Type::Ptr(_)));
    let floats = of(&func, &|ty| matches!(ty, Type::Float(_)));
    let ([a, b, c], [alpha, beta], Some(some)) = (&pointers[..], &floats[..], params.first().copied()) else { return };
    let real = func.ty(*alpha);
    let mut m = Builder::new(&mut module.ctx, &mut func, entry);
    let mut places = [*a, *b, *c];
    for place in &mut places {
        *place = m.gep(real, *place, &[some]);
    }
    let [left, right, before] = places.map(|place| m.load(real, place, 0, MemClass::Unknown));
    let product = m.binary(BinOp::FMul, left, right);
    let (scaled, rest) = (m.binary(BinOp::FMul, *alpha, product), m.binary(BinOp::FMul, *beta, before));
    let sum = m.binary(BinOp::FAdd, scaled, rest);
    m.store(sum, places[2], 0, MemClass::Unknown);
    m.ret(None);
    func.layout = vec![entry];
    module.funcs[f] = func;
}
