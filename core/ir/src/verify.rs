//! Checks that a module is well formed. Errors are collected; each names the entity it is about.
//!
//! Module: (1) a type refers only to types made before it, and holds only what LLVM allows inside of it; (2) a constant
//! refers only to constants made before it, has as many elements or operands as its type or operation demands, of the
//! right types, and no set bits above its width; (3) initialisers have the type of their global, alignments are powers
//! of two; (4) names of globals and functions do not repeat; (5) call sites of source locations do not form a cycle.
//!
//! Function, structure: (6) ids are in range; the signature is a function type and the parameters are those of it;
//! (7) values and what defines them agree on each other and on the type; (8) the layout repeats no block, an
//! instruction stands in one block at most; (9) every block ends in a terminator and has no other; (10) phis stand
//! first, then exception pads; (11) the entry has no predecessors, targets are in the layout.
//!
//! Function, flow: (12) a phi has one entry for each edge into its block, and equal values for edges from the same
//! block; (13) definitions dominate uses: results of `invoke` only along the normal edge, incoming values at the end of
//! their block. What cannot be reached is free.
//!
//! Function, types (see `verify/ops.rs`): (14) number and types of operands, type of the result, flags, alignment and
//! ordering of every operation; (15) `ret` agrees with the signature; (16) calls agree with the function type of the
//! call; (17) cases of a `switch` are different integers; (18) paths and indices into aggregates lead somewhere;
//! (19) landing pads are reached by unwinding only and their function has a personality routine.
//!
//! Not checked: rules of particular intrinsics, nesting of Windows exception pads, `musttail`, token uses, agreement of
//! a call with the function it happens to name (undefined behaviour, not malformed).

mod casts;
mod flow;
mod ops;
mod parts;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fmt;

use cranelift_entity::SecondaryMap;

use crate::cfg::{Cfg, DomTree};
use crate::func::{Func, ValueDef};
use crate::ids::{BlockId, ConstId, GlobalId, InstId, LocId, TypeId, ValueId};
use crate::module::Module;
use crate::op::Op;
use crate::types::Type;
use parts::Parts;

/// Errors collected per function before the rest is left out.
const MAX_ERRORS: usize = 1000;

/// What an error is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entity {
    /// The function as a whole.
    Func,
    /// A block.
    Block(BlockId),
    /// An instruction.
    Inst(InstId),
    /// A value.
    Value(ValueId),
    /// A type of the module.
    Type(TypeId),
    /// A constant of the module.
    Const(ConstId),
    /// A global variable.
    Global(GlobalId),
    /// A source location.
    Loc(LocId),
}

/// A violated property.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct VerifyError {
    /// Name of the function; `None` for what belongs to the module.
    pub func: Option<String>,
    /// What it is about.
    pub entity: Entity,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(func) = &self.func {
            write!(f, "@{func}: ")?;
        }
        match self.entity {
            Entity::Func => {}
            Entity::Block(b) => write!(f, "{b}: ")?,
            Entity::Inst(i) => write!(f, "{i}: ")?,
            Entity::Value(v) => write!(f, "{v}: ")?,
            Entity::Type(t) => write!(f, "{t}: ")?,
            Entity::Const(c) => write!(f, "{c}: ")?,
            Entity::Global(g) => write!(f, "{g}: ")?,
            Entity::Loc(l) => write!(f, "{l}: ")?,
        }
        f.write_str(&self.message)
    }
}

/// Checks one function, and the types and constants of its module.
pub fn verify(module: &Module, func: &Func) -> Vec<VerifyError> {
    let mut errors = Vec::new();
    let Some(parts) = Parts::new(module, &mut errors) else { return errors };
    verify_func(module, &parts, func, &mut errors);
    errors
}

/// Checks a module and all its functions.
pub fn verify_module(module: &Module) -> Vec<VerifyError> {
    let mut errors = Vec::new();
    let Some(parts) = Parts::new(module, &mut errors) else { return errors };
    parts::globals(module, &parts, &mut errors);
    let mut names: HashSet<&str> = module.globals.values().map(|g| g.name.as_str()).collect();
    for func in module.funcs.values() {
        if !func.name.is_empty() && !names.insert(&func.name) {
            let func = Some(func.name.clone());
            errors.push(VerifyError { func, entity: Entity::Func, message: "name is used twice".to_owned() });
        }
        verify_func(module, &parts, func, &mut errors);
    }
    errors
}

fn verify_func(module: &Module, parts: &Parts, func: &Func, errors: &mut Vec<VerifyError>) {
    let mut verifier =
        Verifier { module, parts, func, errors: Vec::new(), place: SecondaryMap::new(), is_type_safe: true };
    verifier.signature();
    verifier.values();
    verifier.layout();
    if verifier.is_type_safe {
        let cfg = Cfg::new(func);
        let dom = DomTree::new(func, &cfg);
        verifier.operations();
        verifier.phis(&cfg);
        verifier.dominance(&cfg, &dom);
    }
    errors.append(&mut verifier.errors);
}

/// Block and position of a placed instruction.
type Place = Option<(BlockId, u32)>;

struct Verifier<'a> {
    module: &'a Module,
    parts: &'a Parts,
    func: &'a Func,
    errors: Vec<VerifyError>,
    place: SecondaryMap<InstId, Place>,
    /// All ids that the later checks follow are in range.
    is_type_safe: bool,
}

impl<'a> Verifier<'a> {
    fn error(&mut self, entity: Entity, message: impl Into<String>) {
        if self.errors.len() < MAX_ERRORS {
            let func = Some(self.func.name.clone());
            self.errors.push(VerifyError { func, entity, message: message.into() });
        }
    }

    /// An error after which ids cannot be trusted.
    fn broken(&mut self, entity: Entity, message: impl Into<String>) {
        self.is_type_safe = false;
        self.error(entity, message);
    }

    /// A type that is known to be in range.
    fn get(&self, ty: TypeId) -> &'a Type {
        &self.module.ctx.types[ty]
    }

    fn signature(&mut self) {
        let func = self.func;
        if !self.parts.has_type(func.sig) {
            return self.broken(Entity::Func, "signature out of range");
        }
        let Type::Func { params, .. } = self.get(func.sig) else {
            return self.broken(Entity::Func, "signature is not a function type");
        };
        if params.len() != func.params.len() {
            self.broken(Entity::Func, "as many parameters as the signature has are wanted");
        }
        if func.param_attrs.len() != func.params.len() {
            self.error(Entity::Func, "attributes of parameters do not match their number");
        }
        for (i, (v, ty)) in func.params.iter().zip(params).enumerate() {
            match func.values.get(*v) {
                None => self.broken(Entity::Func, format!("parameter {i} is out of range")),
                Some(value) if value.def != ValueDef::Param(i as u32) => {
                    self.error(Entity::Value(*v), "is listed as a parameter but not defined as that");
                }
                Some(value) if value.ty != *ty => {
                    self.error(Entity::Value(*v), "parameter of another type than the signature says");
                }
                Some(_) => {}
            }
        }
        for attrs in &func.param_attrs {
            if attrs.sret.into_iter().chain(attrs.byval).any(|t| !self.parts.has_type(t)) {
                self.error(Entity::Func, "type of a parameter attribute is out of range");
            }
        }
        if func.personality.is_some_and(|c| !self.parts.has_const(c)) {
            self.error(Entity::Func, "personality routine is out of range");
        }
        if func.loc.is_some_and(|l| !self.module.locs.is_valid(l)) {
            self.error(Entity::Func, "location is out of range");
        }
    }

    fn values(&mut self) {
        let func = self.func;
        for (v, value) in func.values.iter() {
            if !self.parts.has_type(value.ty) {
                self.broken(Entity::Value(v), "type is out of range");
                continue;
            }
            match value.def {
                ValueDef::Param(i) if func.params.get(i as usize) != Some(&v) => {
                    self.error(Entity::Value(v), "is a parameter that the function does not list");
                }
                ValueDef::Inst(i) if func.insts.get(i).is_none_or(|i| i.result != Some(v)) => {
                    self.broken(Entity::Value(v), "is not the result of the instruction that it names");
                }
                ValueDef::Const(c) if !self.parts.has_const(c) => {
                    self.broken(Entity::Value(v), "constant is out of range");
                }
                ValueDef::Const(c) => {
                    let types = &self.module.ctx.types;
                    let agrees = match self.parts.const_type(self.module, c) {
                        Some(ty) => ty == value.ty,
                        // Addresses take the address space from their place.
                        None => matches!(types[value.ty], Type::Ptr(_)),
                    };
                    if !agrees {
                        self.error(Entity::Value(v), "constant of another type");
                    }
                }
                ValueDef::Param(_) | ValueDef::Inst(_) => {}
            }
        }
    }

    fn layout(&mut self) {
        let func = self.func;
        let mut placed = SecondaryMap::new();
        for b in &func.layout {
            let Some(block) = func.blocks.get(*b) else {
                self.broken(Entity::Func, format!("{b} in the layout is out of range"));
                continue;
            };
            if std::mem::replace(&mut placed[*b], true) {
                self.broken(Entity::Block(*b), "stands twice in the layout");
                continue;
            }
            for (at, i) in block.insts.iter().enumerate() {
                if !func.insts.is_valid(*i) {
                    self.broken(Entity::Block(*b), format!("{i} is out of range"));
                } else if self.place[*i].is_some() {
                    self.broken(Entity::Inst(*i), "stands twice in the function");
                } else {
                    self.place[*i] = Some((*b, at as u32));
                    self.ids(*i);
                }
            }
            self.block(*b);
        }
        if !self.is_type_safe {
            return;
        }
        for (b, i) in func.placed() {
            for target in func.insts[i].op.successors() {
                if !func.blocks.is_valid(target) || !placed[target] {
                    self.broken(Entity::Inst(i), format!("{target} is not in the layout of the function"));
                } else if Some(target) == func.entry() {
                    self.error(Entity::Block(b), "leads to the entry block, which must have no predecessors");
                }
            }
        }
    }

    /// Ids of an instruction.
    fn ids(&mut self, i: InstId) {
        let inst = &self.func.insts[i];
        if !self.parts.has_type(inst.ty) {
            return self.broken(Entity::Inst(i), "type is out of range");
        }
        if inst.args.iter().any(|a| !self.func.values.is_valid(*a)) {
            self.broken(Entity::Inst(i), "operand is out of range");
        }
        if inst.loc.is_some_and(|l| !self.module.locs.is_valid(l)) {
            self.error(Entity::Inst(i), "location is out of range");
        }
        let is_void = matches!(self.get(inst.ty), Type::Void);
        match inst.result {
            None if !is_void => self.error(Entity::Inst(i), "has a type but no result"),
            Some(_) if is_void => self.error(Entity::Inst(i), "has a result but no type"),
            Some(r) => match self.func.values.get(r) {
                None => self.broken(Entity::Inst(i), "result is out of range"),
                Some(v) if v.def != ValueDef::Inst(i) => {
                    self.error(Entity::Inst(i), "result is defined by something else");
                }
                Some(v) if v.ty != inst.ty => self.error(Entity::Inst(i), "result has another type"),
                Some(_) => {}
            },
            None => {}
        }
    }

    /// Terminators, phis and pads of a block.
    fn block(&mut self, b: BlockId) {
        let func = self.func;
        let block = &func.blocks[b];
        let ops: Vec<(InstId, &Op)> = block.insts.iter().filter_map(|i| Some((*i, &func.insts.get(*i)?.op))).collect();
        if !ops.last().is_some_and(|(_, op)| op.is_terminator()) {
            self.error(Entity::Block(b), "does not end in a terminator");
        }
        let mut after_phis = false;
        let mut after_pads = false;
        for (at, (i, op)) in ops.iter().enumerate() {
            let is_pad = matches!(op, Op::LandingPad { .. } | Op::CleanupPad | Op::CatchPad | Op::CatchSwitch { .. });
            if matches!(op, Op::Phi(_)) {
                if after_phis {
                    self.error(Entity::Inst(*i), "phi after other instructions");
                }
                continue;
            }
            if is_pad && after_pads {
                self.error(Entity::Inst(*i), "exception pad is not the first instruction of its block");
            }
            (after_phis, after_pads) = (true, true);
            if op.is_terminator() && at + 1 != ops.len() {
                self.error(Entity::Inst(*i), "terminator in the middle of a block");
            }
        }
    }
}
