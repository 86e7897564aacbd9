//! Types, constants, globals and locations of a module.

use cranelift_entity::{EntityRef, SecondaryMap};

use super::casts::cast_fits;
use super::{Entity, VerifyError};
use crate::consts::{Const, ConstOp};
use crate::ids::{ConstId, LocId, TypeId};
use crate::module::Module;
use crate::op::CastOp;
use crate::types::{FloatKind, StructType, Type};

/// What is known of the types and constants of a module, all of which are in order.
pub(super) struct Parts {
    types: usize,
    consts: usize,
    sized: SecondaryMap<TypeId, bool>,
    pub token: Option<TypeId>,
    metadata: Option<TypeId>,
}

impl Parts {
    /// Checks types and constants; `None` if they must not be walked.
    pub(super) fn new(module: &Module, errors: &mut Vec<VerifyError>) -> Option<Parts> {
        let ctx = &module.ctx;
        let before = errors.len();
        let mut parts = Parts {
            types: ctx.types.len(),
            consts: ctx.consts.len(),
            sized: SecondaryMap::new(),
            token: ctx.types.find(&Type::Token),
            metadata: ctx.types.find(&Type::Metadata),
        };
        for index in 0..parts.types {
            parts.check_type(module, TypeId::new(index), errors);
        }
        if errors.len() > before {
            return None;
        }
        for index in 0..parts.consts {
            let id = ConstId::new(index);
            if let Err(message) = parts.check_const(module, id) {
                errors.push(error(Entity::Const(id), message));
            }
        }
        (errors.len() == before).then_some(parts)
    }

    pub(super) fn has_type(&self, ty: TypeId) -> bool {
        ty.index() < self.types
    }

    pub(super) fn has_const(&self, c: ConstId) -> bool {
        c.index() < self.consts
    }

    /// Whether values of `ty` have a size in memory.
    pub(super) fn is_sized(&self, ty: TypeId) -> bool {
        self.sized[ty]
    }

    /// The type of a constant; `None` for addresses, which are of some pointer type.
    pub(super) fn const_type(&self, module: &Module, c: ConstId) -> Option<TypeId> {
        match &module.ctx.consts[c] {
            Const::Int { ty, .. }
            | Const::Float { ty, .. }
            | Const::Aggregate { ty, .. }
            | Const::Data { ty, .. }
            | Const::Expr { ty, .. }
            | Const::Opaque { ty, .. } => Some(*ty),
            Const::Zero(ty) | Const::Undef(ty) | Const::Poison(ty) => Some(*ty),
            Const::Global(_) | Const::Func(_) | Const::BlockAddress { .. } => None,
            Const::TokenNone => self.token,
            Const::Metadata(_) => self.metadata,
        }
    }

    fn check_type(&mut self, module: &Module, id: TypeId, errors: &mut Vec<VerifyError>) {
        let types = &module.ctx.types;
        let mut inner: Vec<TypeId> = Vec::new();
        match &types[id] {
            Type::Vector { elem, .. } | Type::Array { elem, .. } => inner.push(*elem),
            Type::Struct(s) => inner.extend(s.fields.iter().flatten()),
            Type::Func { ret, params, .. } => {
                inner.push(*ret);
                inner.extend(params);
            }
            Type::TargetExt { types, .. } => inner.extend(types),
            Type::Void
            | Type::Int(_)
            | Type::Float(_)
            | Type::Ptr(_)
            | Type::Label
            | Type::Metadata
            | Type::Token
            | Type::X86Amx => {}
        }
        if inner.iter().any(|t| *t >= id) {
            errors.push(error(Entity::Type(id), "refers to itself, to a later type or to none"));
            return;
        }
        let is_value = |t: &TypeId| !matches!(types[*t], Type::Void | Type::Func { .. });
        let is_element = |t: &TypeId| is_value(t) && !matches!(types[*t], Type::Label | Type::Metadata | Type::Token);
        let message = match &types[id] {
            Type::Int(bits) if *bits == 0 || *bits > 1 << 23 => "integers have 1 to 8388608 bits",
            Type::Vector { elem, len, .. } => match &types[*elem] {
                _ if *len == 0 => "vectors have at least one lane",
                Type::Int(_) | Type::Float(_) | Type::Ptr(_) => "",
                _ => "vectors hold integers, floats or pointers",
            },
            Type::Array { elem, .. } if !is_element(elem) => "arrays cannot hold this type",
            Type::Struct(s) if !s.fields.iter().flatten().all(is_element) => "structures cannot hold this type",
            Type::Func { params, .. } if !params.iter().all(is_value) => "parameters cannot have this type",
            Type::Func { ret, .. } if matches!(types[*ret], Type::Func { .. } | Type::Label | Type::Metadata) => {
                "functions cannot return this type"
            }
            _ => "",
        };
        if !message.is_empty() {
            errors.push(error(Entity::Type(id), message));
        }
        self.sized[id] = match &types[id] {
            Type::Struct(StructType { fields: None, .. })
            | Type::Void
            | Type::Func { .. }
            | Type::Label
            | Type::Metadata
            | Type::Token => false,
            Type::Struct(_) | Type::Array { .. } | Type::Vector { .. } => inner.iter().all(|t| self.sized[*t]),
            Type::Int(_) | Type::Float(_) | Type::Ptr(_) | Type::X86Amx | Type::TargetExt { .. } => true,
        };
    }

    fn check_const(&self, module: &Module, id: ConstId) -> Result<(), &'static str> {
        let types = &module.ctx.types;
        let get = |ty: &TypeId| if self.has_type(*ty) { Ok(&types[*ty]) } else { Err("type is out of range") };
        let lanes_of = |ty: &TypeId| match get(ty) {
            Ok(Type::Vector { elem, .. }) => &types[*elem],
            Ok(other) => other,
            Err(_) => &Type::Void,
        };
        match &module.ctx.consts[id] {
            Const::Int { ty, words } => {
                let Type::Int(bits) = *get(ty)? else { return Err("integer of a type that is none") };
                if words.len() != bits.div_ceil(64) as usize {
                    return Err("number of words does not fit the type");
                }
                let spare = (64 - bits % 64) % 64;
                if words.last().is_some_and(|w| w.leading_zeros() < spare) {
                    return Err("bits above the width are set");
                }
            }
            Const::Float { ty, bits } => {
                let Type::Float(kind) = get(ty)? else { return Err("float of a type that is none") };
                if bits.leading_zeros() < 128 - kind.bits() {
                    return Err("bits above the width are set");
                }
            }
            Const::Zero(ty) | Const::Undef(ty) | Const::Poison(ty) => {
                if matches!(get(ty)?, Type::Void | Type::Func { .. } | Type::Label | Type::Metadata) {
                    return Err("no constant has this type");
                }
            }
            Const::Opaque { ty, .. } => {
                get(ty)?;
            }
            Const::Aggregate { ty, elems } => {
                if elems.iter().any(|e| *e >= id) {
                    return Err("refers to itself, to a later constant or to none");
                }
                let (len, elem, fields) = match get(ty)? {
                    Type::Array { elem, len } => (*len, Some(*elem), None),
                    Type::Vector { elem, len, scalable: false } => (u64::from(*len), Some(*elem), None),
                    Type::Struct(StructType { fields: Some(fields), .. }) => (fields.len() as u64, None, Some(fields)),
                    _ => return Err("aggregate of a type that is none"),
                };
                if elems.len() as u64 != len {
                    return Err("number of elements does not fit the type");
                }
                for (i, e) in elems.iter().enumerate() {
                    let wanted = elem.or_else(|| fields?.get(i).copied());
                    let agrees = match (self.const_type(module, *e), wanted) {
                        (Some(found), Some(wanted)) => found == wanted,
                        (None, Some(wanted)) => matches!(get(&wanted)?, Type::Ptr(_)),
                        (_, None) => false,
                    };
                    if !agrees {
                        return Err("element of another type than the aggregate demands");
                    }
                }
            }
            Const::Data { ty, bytes } => {
                let (elem, len) = match get(ty)? {
                    Type::Array { elem, len } => (elem, *len),
                    Type::Vector { elem, len, scalable: false } => (elem, u64::from(*len)),
                    _ => return Err("data of a type that is no array or vector"),
                };
                let size = match get(elem)? {
                    Type::Int(bits @ (8 | 16 | 32 | 64)) => u64::from(bits / 8),
                    Type::Float(
                        kind @ (FloatKind::Half | FloatKind::BFloat | FloatKind::Float | FloatKind::Double),
                    ) => u64::from(kind.bits() / 8),
                    _ => return Err("data of elements that are not simple numbers"),
                };
                if Some(bytes.len() as u64) != len.checked_mul(size) {
                    return Err("number of bytes does not fit the type");
                }
            }
            Const::Global(g) => {
                if !module.globals.is_valid(*g) {
                    return Err("global is out of range");
                }
            }
            Const::Func(f) => {
                if !module.funcs.is_valid(*f) {
                    return Err("function is out of range");
                }
            }
            Const::BlockAddress { func, block } => {
                let func = module.funcs.get(*func).ok_or("function is out of range")?;
                if func.layout.get(*block as usize).is_none_or(|b| Some(*b) == func.entry()) {
                    return Err("block is out of range or the entry");
                }
            }
            Const::Expr { ty, op, args } => {
                if args.iter().any(|a| *a >= id) {
                    return Err("refers to itself, to a later constant or to none");
                }
                let count = match op {
                    ConstOp::Cast(_) => 1..=1,
                    ConstOp::Binary(_) | ConstOp::ExtractElement | ConstOp::Shuffle(_) => 2..=2,
                    ConstOp::InsertElement => 3..=3,
                    ConstOp::Gep(..) => 1..=usize::MAX,
                };
                if !count.contains(&args.len()) {
                    return Err("wrong number of operands");
                }
                get(ty)?;
                let of_arg = args.first().and_then(|a| self.const_type(module, *a));
                let fits = match (op, of_arg) {
                    (ConstOp::Cast(cast), Some(from)) => cast_fits(module, *cast, from, *ty),
                    (ConstOp::Cast(CastOp::PtrToInt | CastOp::PtrToAddr), None) => matches!(get(ty)?, Type::Int(_)),
                    (ConstOp::Cast(CastOp::AddrSpaceCast | CastOp::BitCast), None) => matches!(get(ty)?, Type::Ptr(_)),
                    (ConstOp::Cast(_), None) => false,
                    (ConstOp::Binary(_), _) => args.iter().all(|a| self.const_type(module, *a) == Some(*ty)),
                    (ConstOp::Gep(..) | ConstOp::ExtractElement | ConstOp::InsertElement | ConstOp::Shuffle(_), _) => {
                        true
                    }
                };
                if !fits {
                    return Err("operands of types that the operation is not made for");
                }
                if let ConstOp::Gep(elem, _) = op {
                    get(elem)?;
                    if !matches!(lanes_of(ty), Type::Ptr(_)) {
                        return Err("address computation of a type that is no pointer");
                    }
                }
            }
            Const::TokenNone => {}
            Const::Metadata(_) => {}
        }
        Ok(())
    }
}

fn error(entity: Entity, message: impl Into<String>) -> VerifyError {
    VerifyError { func: None, entity, message: message.into() }
}

/// Globals, their names, and source locations.
pub(super) fn globals(module: &Module, parts: &Parts, errors: &mut Vec<VerifyError>) {
    let mut names = std::collections::HashSet::new();
    for (id, g) in module.globals.iter() {
        let mut wrong = |message: &str| errors.push(error(Entity::Global(id), message));
        if !g.name.is_empty() && !names.insert(g.name.as_str()) {
            wrong("name is used twice");
        }
        if !parts.has_type(g.ty) {
            wrong("type is out of range");
            continue;
        }
        if !parts.is_sized(g.ty) && g.init.is_some() {
            wrong("initialiser of a type without size");
        }
        if g.align != 0 && !g.align.is_power_of_two() {
            wrong("alignment is not a power of two");
        }
        if let Some(init) = g.init {
            let agrees = parts.has_const(init)
                && match parts.const_type(module, init) {
                    Some(ty) => ty == g.ty,
                    None => matches!(module.ctx.types[g.ty], Type::Ptr(_)),
                };
            if !agrees {
                wrong("initialiser of another type");
            }
        }
    }
    locations(module, errors);
}

fn locations(module: &Module, errors: &mut Vec<VerifyError>) {
    // 0: new, 1: on the current path, 2: done.
    let mut state: SecondaryMap<LocId, u8> = SecondaryMap::new();
    for start in module.locs.keys() {
        let mut path = Vec::new();
        let mut at = Some(start);
        while let Some(loc) = at {
            let Some(entry) = module.locs.get(loc) else {
                errors.push(error(Entity::Loc(start), "call site is out of range"));
                break;
            };
            match state[loc] {
                0 => {
                    state[loc] = 1;
                    path.push(loc);
                    at = entry.inlined_at;
                }
                1 => {
                    errors.push(error(Entity::Loc(loc), "is inlined into itself"));
                    break;
                }
                _ => break,
            }
        }
        path.into_iter().for_each(|l| state[l] = 2);
    }
}
