//! A reverse rule that is known by its transpose alone: what stands for it where the program gives tangents on a tape.
//!
//! Tangents at the point of an augmented sweep are made by the reverse mode of the reverse sweep. A function with a rule for such
//! tangents takes part by a reverse rule that nobody runs, whose own reverse rule is the given one: transposed twice, a linear map is
//! itself (Radul et al., *You Only Linearize Once*, POPL 2023). For `double f(double *x, double y)`, whose tape is a `T`:
//!
//! ```text
//! double R(x, dx, y, seed, T)                                       declared; adds to dx, returns the adjoint of y
//! double R_augmented(x, x', dx, dx', y, seed, T, T')                { return 0 }
//! {y, seed} R_reverse(x, x', dx, dx', y, seed, T, T', tangent of y) { return {0, rule(x, dx', y, tangent of y, T)} }
//! ```
//!
//! Invariants: `R` is a weak declaration, so that no copy of the sweep that is left asks the linker for it; whoever puts a derivative
//! in place looks for calls of it ([`is_declared`]).
//! Not handled: several lanes (refused where the rule is called).

use enzyme_ir::{CustomRule, Func, FuncId, Linkage, Module, Type, TypeId, ValueId};

use super::{Adapter, tape_type};
use crate::emit::Emit;
use crate::refusal::Refusal;
use crate::request::Signature;

/// How the names of the functions that nobody runs begin.
const PREFIX: &str = "enzyme.transposed.";

/// What a parameter of the reverse rule is: of which parameter of the function, the seed, or the tape.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Primal(usize),
    Shadow(usize),
    Seed,
    Tape,
}

/// Whether `f` is a reverse rule that has no body.
pub fn is_declared(f: &Func) -> bool {
    f.name.starts_with(PREFIX) && f.is_declaration()
}

fn is_pointer(module: &Module, ty: TypeId) -> bool {
    module.ctx.types.contains_pointer(ty)
}

fn is_scalar(module: &Module, ty: TypeId) -> bool {
    module.ctx.types.contains_float(ty) && !is_pointer(module, ty)
}

/// States for `primal` the reverse rule whose transpose is `rule`, a rule for tangents on the tape of `augmented`. The functions
/// with bodies that this takes.
pub fn state(module: &mut Module, primal: FuncId, augmented: FuncId, rule: FuncId) -> Result<Vec<FuncId>, Refusal> {
    let func = module.funcs[primal].clone();
    let (ret, types, _) = module.signature(primal);
    let tape = tape_type(module, ret, augmented);
    let tangent = tangent(module, &func, rule, tape)?;
    let mut params: Vec<(Role, TypeId)> = Vec::new();
    for (n, ty) in types.iter().enumerate() {
        params.push((Role::Primal(n), *ty));
        params.extend(is_pointer(module, *ty).then_some((Role::Shadow(n), *ty)));
    }
    params.extend(is_scalar(module, ret).then_some((Role::Seed, ret)));
    params.extend(tape.map(|ty| (Role::Tape, ty)));
    let adjoints: Vec<TypeId> = types.iter().copied().filter(|ty| is_scalar(module, *ty)).collect();
    let result = together(module, &adjoints);
    let own: Vec<TypeId> = params.iter().map(|p| p.1).collect();
    let declared = module.declare(&format!("{PREFIX}{}", func.name), result, &own);
    module.funcs[declared].attrs.interposable = true;
    let rules = CustomRule {
        augmented: Some(augment(module, &func.name, &params, result)),
        reverse: Some(reverse(module, &func.name, &params, &adjoints, result, tangent)),
        ..CustomRule::default()
    };
    let made = [Some(tangent), rules.augmented, rules.reverse].into_iter().flatten().collect();
    module.stated.rules.insert(declared, rules);
    module.stated.rules.entry(primal).or_default().transposed = Some(declared);
    Ok(made)
}

/// The type of what is returned where these are.
fn together(module: &mut Module, types: &[TypeId]) -> TypeId {
    match types {
        [] => module.ctx.types.void(),
        [one] => *one,
        all => module.ctx.types.tuple(all.to_vec()),
    }
}

fn start<'m>(module: &'m mut Module, name: String, params: &[TypeId], ret: TypeId) -> Emit<'m> {
    let sig = module.ctx.types.func(ret, params.to_vec());
    let mut func = Func::new(name, sig, params);
    func.linkage = Linkage::Internal;
    let mut e = Emit::new(module, func);
    e.block = e.new_block("start");
    e
}

fn end(mut e: Emit<'_>, value: Option<ValueId>) -> Func {
    e.b().ret(value);
    let block = e.block;
    e.finish(block)
}

/// The given rule with parameters that do not depend on how it is written: each of the function, its shadow or tangent behind it;
/// the tape.
fn tangent(module: &mut Module, primal: &Func, rule: FuncId, tape: Option<TypeId>) -> Result<FuncId, Refusal> {
    let ret = match &module.ctx.types[primal.sig] {
        Type::Func { ret, .. } => *ret,
        _ => module.ctx.types.void(),
    };
    let mut sig = Signature::of(ret);
    for p in &primal.params {
        let ty = primal.ty(*p);
        sig.primal.push(sig.params.len());
        sig.params.push(ty);
        let follows = is_pointer(module, ty) || is_scalar(module, ty);
        sig.shadow.push(follows.then_some(sig.params.len()));
        sig.params.extend(follows.then_some(ty));
    }
    sig.tape = tape.map(|_| sig.params.len());
    sig.params.extend(tape);
    let e = start(module, format!("enzyme.tangent.{}", primal.name), &sig.params, ret);
    let mut a = Adapter { e, primal, sig: &sig, mixed: &[], lane: 0, lanes: 1, listed: false, flags: None };
    let more: Vec<ValueId> = sig.tape.map(|n| a.e.func.params[n]).into_iter().collect();
    let value = a.tangent(rule, &more)?.map(|both| both.1);
    let func = end(a.e, value);
    Ok(module.funcs.push(func))
}

/// The parameters of the rules of the declared function: each of its own, behind pointers those of their shadows.
fn ruled(module: &Module, params: &[(Role, TypeId)]) -> (Vec<TypeId>, Vec<usize>) {
    let (mut types, mut places) = (Vec::new(), Vec::new());
    for (_, ty) in params {
        places.push(types.len());
        types.extend(vec![*ty; 1 + usize::from(is_pointer(module, *ty))]);
    }
    (types, places)
}

/// Its value does not matter: a linear map's derivative does not depend on it.
fn augment(module: &mut Module, name: &str, params: &[(Role, TypeId)], result: TypeId) -> FuncId {
    let (types, _) = ruled(module, params);
    let mut e = start(module, format!("enzyme.tangent.{name}.augmented"), &types, result);
    let value = (e.module.ctx.types[result] != Type::Void).then(|| e.b().zero(result));
    let func = end(e, value);
    module.funcs.push(func)
}

fn reverse(
    module: &mut Module,
    name: &str,
    params: &[(Role, TypeId)],
    adjoints: &[TypeId],
    result: TypeId,
    tangent: FuncId,
) -> FuncId {
    let (mut types, places) = ruled(module, params);
    let given = (!adjoints.is_empty()).then_some(types.len());
    types.extend(given.map(|_| result));
    let floats: Vec<(Role, TypeId)> = params.iter().copied().filter(|p| is_scalar(module, p.1)).collect();
    let returned: Vec<TypeId> = floats.iter().map(|p| p.1).collect();
    let ret = together(module, &returned);
    let mut e = start(module, format!("enzyme.tangent.{name}.reverse"), &types, ret);
    let (mut args, mut scalars) = (Vec::new(), 0);
    for ((role, ty), at) in params.iter().zip(&places) {
        match role {
            Role::Primal(_) | Role::Tape => args.push(e.func.params[*at]),
            Role::Shadow(_) => args.push(e.func.params[*at + 1]),
            Role::Seed => {}
        }
        if let (Role::Primal(_), Some(given), true) = (role, given, is_scalar(e.module, *ty)) {
            let given = e.func.params[given];
            let alone = adjoints.len() == 1;
            args.push(if alone { given } else { e.b().extract_value(given, &[scalars]) });
            scalars += 1;
        }
    }
    let seed = e.call_func(tangent, &args);
    let mut values = Vec::new();
    for (role, ty) in &floats {
        values.push(if *role == Role::Seed { seed } else { e.b().zero(*ty) });
    }
    let value = if let [one] = values[..] { Some(one) } else { e.tuple(ret, &values) };
    let func = end(e, value);
    module.funcs.push(func)
}
