//! Derivatives asked for by name: by those who have a module and no marker in its source.
//!
//! For each request a function is written that calls a marker, which the pipeline then replaces like others. It has the parameters
//! of the function, of types that every language can pass, and what the derivative needs more:
//!
//! ```text
//! gradient:  f(double x, double *y, int n) -> double   becomes   g(double x, double *dx, double *y, double *dy, int n)
//! tangent:   f(double x, double *y, int n) -> double   becomes   t(double x, double dx, double *y, double *dy, int n) -> double
//! ```
//!
//! Adjoints are added to what lies behind `dx` and `dy`; the adjoint of the result is 1. With several lanes there is one `dx` and
//! one `dy` for each, and of a tangent's result there is a pointer for each behind all other parameters. A gradient with
//! the value returns it; a tangent with the value stores it through a pointer that comes last.
//!
//! Not handled (E0114): functions with variable arguments; parameters and results that are structures by value.

use enzyme_diff::Mode;
use enzyme_diff::emit::Emit;
use enzyme_ir::{Func, FuncId, Linkage, MemClass, Module, Type, TypeId, ValueId};
use enzyme_llvm::Session;

use crate::codes;
use crate::marker;
use crate::report::{Report, from_problem};

/// What one parameter is to the derivative.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Activity {
    /// What its type says: floats and pointers are active, integers are constant.
    ByType,
    /// Constant.
    Const,
    /// Differentiated.
    Active,
    /// Differentiated; what the function leaves in its memory is not needed.
    NoNeed,
}

/// A derivative, asked for by name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Named {
    /// The symbol of the function.
    pub function: String,
    /// The symbol of the derivative.
    pub name: String,
    /// Tangents instead of adjoints.
    pub forward: bool,
    /// One per parameter, or none for [`Activity::ByType`] of all.
    pub params: Vec<Activity>,
    /// Lanes, at least 1.
    pub width: u32,
    /// The function's value is wanted, too.
    pub value: bool,
    /// Pointers may have no shadow of their own at run time.
    pub runtime_activity: bool,
    /// A zero adjoint stays zero through infinite partial derivatives.
    pub strong_zero: bool,
}

impl Named {
    /// The gradient of `function`, called `function_gradient`: parameters by their types, one lane, without the value.
    pub fn gradient(function: &str) -> Named {
        Named {
            function: function.to_owned(),
            name: format!("{function}_gradient"),
            forward: false,
            params: Vec::new(),
            width: 1,
            value: false,
            runtime_activity: false,
            strong_zero: false,
        }
    }

    /// The derivative of `function` along tangents, called `function_tangent`; else as [`Named::gradient`].
    pub fn tangent(function: &str) -> Named {
        Named { name: format!("{function}_tangent"), forward: true, ..Named::gradient(function) }
    }
}

/// Writes the function of a request into the module, with a marker call for [`crate::run`] to replace.
pub fn write(session: &mut Session, wanted: &Named) -> Result<(), Report> {
    let f = session.find_function(&wanted.function).filter(|f| session.has_body(*f));
    let Some(f) = f else {
        let what = "it is not there, only declared, or weak, so that another may replace it";
        return Err(refuse(format!("the module defines no function '{}': {what}", wanted.function)));
    };
    if wanted.name.is_empty() || session.find_function(&wanted.name).is_some() {
        return Err(refuse(format!("the name '{}' is taken, or is none", wanted.name)));
    }
    let g = function(&mut session.ir, f, wanted)?;
    session.export_external(&[g]).map_err(|problems| match problems.first() {
        Some(p) => from_problem(p, codes::E0901),
        None => Report::new(codes::E0901, "a function was not accepted"),
    })
}

fn refuse(why: String) -> Report {
    Report::new(codes::E0114, why)
}

/// What becomes of a parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Const,
    /// A float by value.
    Scalar,
    /// Memory.
    Memory {
        needed: bool,
    },
}

fn roles(module: &Module, types: &[TypeId], wanted: &Named) -> Result<Vec<Role>, Report> {
    if !wanted.params.is_empty() && wanted.params.len() != types.len() {
        let (given, has) = (wanted.params.len(), types.len());
        return Err(refuse(format!("{given} activities are given, but '{}' has {has} parameters", wanted.function)));
    }
    let role = |n: usize, ty: TypeId| {
        let activity = wanted.params.get(n).copied().unwrap_or(Activity::ByType);
        let needed = activity != Activity::NoNeed;
        match (&module.ctx.types[ty], activity) {
            (Type::Struct(_) | Type::Array { .. }, _) => {
                Err(refuse(format!("parameter {} of '{}' is a structure by value", n + 1, wanted.function)))
            }
            (_, Activity::Const) => Ok(Role::Const),
            (Type::Float(_), _) => Ok(Role::Scalar),
            (Type::Ptr(_), _) => Ok(Role::Memory { needed }),
            (_, Activity::ByType) => Ok(Role::Const),
            (_, Activity::Active | Activity::NoNeed) => {
                let what = "neither a float nor a pointer, so it can only be constant";
                Err(refuse(format!("parameter {} of '{}' is {what}", n + 1, wanted.function)))
            }
        }
    };
    types.iter().enumerate().map(|(n, ty)| role(n, *ty)).collect()
}

/// The parameters of the function that is written.
fn parameters(
    module: &mut Module,
    types: &[TypeId],
    roles: &[Role],
    ret: Option<TypeId>,
    wanted: &Named,
) -> Vec<TypeId> {
    let ptr = module.ctx.types.ptr();
    let width = wanted.width as usize;
    let mut out = Vec::new();
    for (ty, role) in types.iter().zip(roles) {
        out.push(*ty);
        match role {
            Role::Const => {}
            Role::Scalar if wanted.forward => out.extend(vec![*ty; width]),
            Role::Scalar | Role::Memory { .. } => out.extend(vec![ptr; width]),
        }
    }
    if wanted.forward && ret.is_some() {
        out.extend(vec![ptr; if width > 1 { width } else { 0 }]);
        out.extend(wanted.value.then_some(ptr));
    }
    out
}

struct Call<'a, 'm> {
    e: &'a mut Emit<'m>,
    list: Vec<ValueId>,
}

impl Call<'_, '_> {
    fn note(&mut self, name: &str) {
        let value = marker::address_of_annotation(self.e, name);
        self.list.push(value);
    }
}

fn function(module: &mut Module, f: FuncId, wanted: &Named) -> Result<FuncId, Report> {
    let (ret, types, variadic) = module.signature(f);
    if variadic {
        return Err(refuse(format!("'{}' takes variable arguments", wanted.function)));
    }
    if !(1..=64).contains(&wanted.width) {
        return Err(refuse(format!("{} lanes are asked for; there may be 1 to 64", wanted.width)));
    }
    let roles = roles(module, &types, wanted)?;
    let result = match module.ctx.types[ret] {
        Type::Float(_) => Some(ret),
        Type::Void | Type::Int(_) => None,
        _ => {
            return Err(refuse(format!(
                "the result of '{}' is neither a float, an integer nor nothing",
                wanted.function
            )));
        }
    };
    let params = parameters(module, &types, &roles, result, wanted);
    let width = wanted.width as usize;
    let void = module.ctx.types.void();
    let own = match result {
        Some(ty) if wanted.forward && width == 1 || !wanted.forward && wanted.value => ty,
        _ => void,
    };
    let sig = module.ctx.types.func(own, params.clone());
    let mut func = Func::new(wanted.name.clone(), sig, &params);
    func.linkage = Linkage::External;
    let mut e = Emit::new(module, func);
    let start = e.new_block("start");
    e.block = start;
    let mut given = e.func.params.clone().into_iter();
    let address = e.b().func_addr(f);
    let mut call = Call { e: &mut e, list: vec![address] };
    for (on, name) in [
        (wanted.strong_zero, "enzyme_strong_zero"),
        (wanted.runtime_activity, "enzyme_runtime_activity"),
        (wanted.value && result.is_some(), "enzyme_primal_return"),
    ] {
        if on {
            call.note(name);
        }
    }
    if width > 1 {
        call.note("enzyme_width");
        let lanes = call.e.b().i64(width as u64);
        call.list.push(lanes);
    }
    let mut adjoints: Vec<(TypeId, ValueId)> = Vec::new();
    for (role, ty) in roles.iter().zip(&types) {
        call.note(match role {
            Role::Const => "enzyme_const",
            Role::Scalar if !wanted.forward => "enzyme_out",
            Role::Scalar | Role::Memory { needed: true } => "enzyme_dup",
            Role::Memory { needed: false } => "enzyme_dupnoneed",
        });
        call.list.extend(given.by_ref().take(1));
        match role {
            Role::Const => {}
            Role::Scalar if !wanted.forward => adjoints.extend(given.by_ref().take(width).map(|p| (*ty, p))),
            Role::Scalar | Role::Memory { .. } => call.list.extend(given.by_ref().take(width)),
        }
    }
    let list = call.list;
    let value = result.filter(|_| wanted.value);
    let mut fields: Vec<TypeId> = value.into_iter().collect();
    match result {
        Some(ty) if wanted.forward => fields.extend(vec![ty; width]),
        _ => fields.extend(adjoints.iter().map(|a| a.0)),
    }
    let whole = match fields.as_slice() {
        [] => void,
        [one] => *one,
        _ => e.module.ctx.types.tuple(fields.clone()),
    };
    let mode = if wanted.forward { Mode::Forward } else { Mode::Combined };
    let part = if mode == Mode::Forward { "__enzyme_fwddiff" } else { "__enzyme_autodiff" };
    let out = e.call(&format!("{part}.named.{}", wanted.name), whole, &list);
    let mut values = match fields.len() {
        0 => Vec::new(),
        1 => vec![out],
        n => (0..n as u32).map(|field| e.b().extract_value(out, &[field])).collect(),
    }
    .into_iter();
    let primal = value.and_then(|_| values.next());
    let back = if wanted.forward {
        give_tangents(&mut e, &values.collect::<Vec<_>>(), primal, &given.collect::<Vec<_>>())
    } else {
        for ((ty, place), adjoint) in adjoints.into_iter().zip(values) {
            let old = e.b().load(ty, place, 0, MemClass::Unknown);
            let new = e.b().fadd(old, adjoint);
            e.b().store(new, place, 0, MemClass::Unknown);
        }
        primal
    };
    e.b().ret(back);
    let func = e.finish(start);
    Ok(module.funcs.push(func))
}

/// Stores the tangents of several lanes, and the value, where the last parameters point to; what is returned.
fn give_tangents(
    e: &mut Emit<'_>,
    tangents: &[ValueId],
    primal: Option<ValueId>,
    places: &[ValueId],
) -> Option<ValueId> {
    let stored = if tangents.len() > 1 { tangents } else { &[] };
    for (v, place) in stored.iter().copied().chain(primal).zip(places) {
        e.b().store(v, *place, 0, MemClass::Unknown);
    }
    match tangents {
        [one] => Some(*one),
        _ => None,
    }
}
