//! Which derivative of which function: modes, keys, and the signature that follows.
//!
//! | mode | parameters | result, a structure of |
//! | --- | --- | --- |
//! | forward | each primal parameter, its tangent or shadow after it | primal result, tangent of the result |
//! | combined | each primal parameter, its shadow after it; seed | primal result if asked for, adjoint of each active scalar parameter |
//! | augmented | each primal parameter, its shadow after it; list of deferred frees; where the tape goes | tape, primal result, shadow of the result |
//! | gradient | as combined; tape | as combined |
//!
//! Parts that do not exist are left out; an empty structure is `void`.

use std::collections::BTreeSet;

use enzyme_analysis::{Activity, ClassId, Context, Unit};
use enzyme_ir::{Func, FuncId, Module, Type, TypeId, ValueId};

/// Kind of derivative.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Mode {
    /// Tangents beside values.
    Forward,
    /// Forward sweep and reverse sweep in one function.
    Combined,
    /// The forward sweep of a split derivative.
    Augmented,
    /// The reverse sweep of a split derivative.
    Gradient,
}

impl Mode {
    /// Word in names of derivatives.
    pub fn word(self) -> &'static str {
        match self {
            Mode::Forward => "fwd",
            Mode::Combined => "grad",
            Mode::Augmented => "aug",
            Mode::Gradient => "rev",
        }
    }
}

/// Identity of a derivative: equal keys are the same function.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DerivativeKey {
    /// The primal function.
    pub func: FuncId,
    /// Kind of derivative. Augmented and gradient of one call have keys that differ in nothing else.
    pub mode: Mode,
    /// Activity of parameters and memory.
    pub context: Context,
    /// Outer memory that nobody writes between the sweeps; matters to split modes only.
    pub kept: BTreeSet<ClassId>,
    /// Outer memory that belongs to the derivative, where floats take the place of pointers: no adjoint of a result lies there yet.
    pub own: BTreeSet<ClassId>,
    /// Something that the outermost derivative calls may throw: tapes are on the list of deferred frees.
    pub unwinds: bool,
    /// Tapes of products are on a list of their own, which the outermost derivative frees whether it returns or is left by an exception.
    pub products: bool,
    /// The reverse sweep may run again on the same tape: what belongs to that is on the list, too, and shadows are left at zero.
    pub keeps: bool,
    /// The reverse sweep is transposed afterwards: rules for tangents on a tape stand for those that go back.
    pub transposed: bool,
    /// The tape lies where the caller says, who frees it, too; matters to split modes only.
    pub placed: bool,
    /// The primal result is returned beside the adjoints; matters to the combined mode only.
    pub value: bool,
    /// Number of lanes: tangents or adjoints that are computed side by side.
    pub width: u32,
}

/// Positions of the parts of a derivative's signature.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    /// Types of the parameters.
    pub params: Vec<TypeId>,
    /// Type of the result.
    pub ret: TypeId,
    /// Position of each primal parameter.
    pub primal: Vec<usize>,
    /// Position of the shadow or tangent of each primal parameter, of the first lane; those of the others follow.
    pub shadow: Vec<Option<usize>>,
    /// Position of the adjoint of the result, of the first lane.
    pub seed: Option<usize>,
    /// Position of the tape parameter.
    pub tape: Option<usize>,
    /// Position of the address where the tape goes.
    pub place: Option<usize>,
    /// Position of the address of the list of memory to free at the end of the outermost derivative.
    pub deferred: Option<usize>,
    /// Position of the address of the list of tapes of products.
    pub products: Option<usize>,
    /// Field of the returned structure with the adjoint of each primal parameter, of the first lane.
    pub adjoints: Vec<Option<u32>>,
    /// Field with the tape.
    pub tape_field: Option<u32>,
    /// Field with the primal result.
    pub result_field: Option<u32>,
    /// Field with the tangent or shadow of the result, of the first lane; those of the others follow.
    pub shadow_field: Option<u32>,
}

impl Signature {
    /// Of a function without parameters.
    pub fn of(ret: TypeId) -> Signature {
        Signature {
            params: Vec::new(),
            ret,
            primal: Vec::new(),
            shadow: Vec::new(),
            seed: None,
            tape: None,
            place: None,
            deferred: None,
            products: None,
            adjoints: Vec::new(),
            tape_field: None,
            result_field: None,
            shadow_field: None,
        }
    }
}

/// Whether `v` has a shadow pointer: it may hold an address of memory that has one.
pub fn has_shadow_pointer(unit: &Unit, activity: &Activity, v: ValueId) -> bool {
    unit.addresses[v] && !unit.dispatch[v] && unit.memory.class_of[v].is_some_and(|c| activity.is_shadowed(c))
}

/// The signature of a derivative.
pub fn signature(module: &mut Module, func: &Func, unit: &Unit, activity: &Activity, key: &DerivativeKey) -> Signature {
    let types = &mut module.ctx.types;
    let ptr = types.ptr();
    let void = types.void();
    let ret_ty = match &types[func.sig] {
        Type::Func { ret, .. } => *ret,
        _ => void,
    };
    let mut sig = Signature::of(void);
    let forward = key.mode == Mode::Forward;
    let mut fields: Vec<TypeId> = Vec::new();
    let has_ret = ret_ty != void;
    if key.mode == Mode::Combined && key.value && has_ret {
        sig.result_field = Some(0);
        fields.push(ret_ty);
    }
    for (i, p) in func.params.iter().enumerate() {
        let ty = func.ty(*p);
        sig.primal.push(sig.params.len());
        sig.params.push(ty);
        let active = key.context.scalars.get(i).copied().unwrap_or(false);
        let pointer = has_shadow_pointer(unit, activity, *p);
        let extra = pointer || (forward && active);
        sig.shadow.push(extra.then_some(sig.params.len()));
        if extra {
            sig.params.extend(vec![ty; key.width as usize]);
        }
        let adjoint = active && matches!(key.mode, Mode::Combined | Mode::Gradient);
        sig.adjoints.push(adjoint.then_some(fields.len() as u32));
        if adjoint {
            fields.extend(vec![ty; key.width as usize]);
        }
    }
    let ret_active = activity.ret && has_ret && key.context.ret;
    let ret_pointer = has_ret && unit.memory.ret.is_some_and(|c| activity.is_shadowed(c));
    match key.mode {
        Mode::Forward => {
            if has_ret {
                sig.result_field = Some(fields.len() as u32);
                fields.push(ret_ty);
            }
            if ret_active || ret_pointer {
                sig.shadow_field = Some(fields.len() as u32);
                fields.extend(vec![ret_ty; key.width as usize]);
            }
        }
        Mode::Augmented => {
            sig.deferred = Some(sig.params.len());
            sig.params.push(ptr);
            sig.products = key.products.then_some(sig.params.len());
            sig.params.extend(key.products.then_some(ptr));
            sig.place = key.placed.then_some(sig.params.len());
            sig.params.extend(key.placed.then_some(ptr));
            sig.tape_field = Some(fields.len() as u32);
            fields.push(ptr);
            if has_ret {
                sig.result_field = Some(fields.len() as u32);
                fields.push(ret_ty);
            }
            if ret_pointer {
                sig.shadow_field = Some(fields.len() as u32);
                fields.extend(vec![ret_ty; key.width as usize]);
            }
        }
        Mode::Combined | Mode::Gradient => {
            if ret_active {
                sig.seed = Some(sig.params.len());
                sig.params.extend(vec![ret_ty; key.width as usize]);
            }
            if key.mode == Mode::Gradient {
                sig.tape = Some(sig.params.len());
                sig.params.push(ptr);
            }
        }
    }
    if !fields.is_empty() {
        sig.ret = types.tuple(fields);
    }
    sig
}

/// Gives the functions of derivatives that a derivative calls: declares each once.
pub trait Derivatives {
    /// The function for `key` and its signature.
    fn get(&mut self, module: &mut Module, key: &DerivativeKey) -> Option<(FuncId, Signature)>;

    /// Whether what the function did can't be reversed if it throws.
    fn loses(&self, module: &Module, func: FuncId, context: &Context) -> bool;

    /// Whether this derivative is that of a loop which is checkpointed; else why it is not.
    fn checkpointed(&self, module: &Module, key: &DerivativeKey) -> Result<(), &'static str>;
}
