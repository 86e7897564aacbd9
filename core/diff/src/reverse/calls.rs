//! Calls of functions that have a derivative of their own: augmented in the forward sweep, gradient in the reverse.

use std::collections::{BTreeMap, BTreeSet};

use enzyme_analysis::memory::Placed;
use enzyme_analysis::{Callee, ClassId, Object, State as MemoryState, resolve};
use enzyme_ir::{InstId, Module, ValueId};

use super::Reverse;
use crate::custom::product;
use crate::keys::{Key, Subject};
use crate::refusal::{Refusal, RefusalKind};
use crate::request::{DerivativeKey, Mode, Signature};

impl Reverse<'_, '_> {
    fn callee_key(&self, i: InstId, mode: Mode) -> Option<DerivativeKey> {
        callee_key(self.e.module, &self.s, i, mode)
    }

    fn derivative(&mut self, i: InstId, mode: Mode) -> Result<(enzyme_ir::FuncId, Signature), Refusal> {
        let lost = || Refusal::new(RefusalKind::Internal("a call lost its derivative".into())).at(i);
        let key = self.callee_key(i, mode).ok_or_else(lost)?;
        self.derivatives.get(self.e.module, &key).ok_or_else(lost)
    }

    /// What the forward sweep gives to the parameters of a derivative: the arguments of the call, and their shadows.
    pub(super) fn forward_arguments(
        &mut self,
        sig: &Signature,
        args: &[ValueId],
    ) -> Result<Vec<Option<ValueId>>, Refusal> {
        let mut values = vec![None; sig.params.len()];
        for (n, a) in args.iter().enumerate().take(sig.primal.len()) {
            values[sig.primal[n]] = Some(self.forward_value(*a));
            if let Some(at) = sig.shadow[n] {
                self.in_lanes(|this| {
                    values[at + this.lane] = Some(this.forward_shadow(*a)?);
                    Ok(())
                })?;
            }
        }
        Ok(values)
    }

    /// The call in the forward sweep.
    pub fn forward_derivative_call(&mut self, i: InstId, args: &[ValueId]) -> Result<(), Refusal> {
        let (f, sig) = self.derivative(i, Mode::Augmented)?;
        let mut values = self.forward_arguments(&sig, args)?;
        if let Some(at) = sig.deferred {
            values[at] = self.state.deferred;
        }
        if let Some(at) = sig.products {
            values[at] = self.state.products;
        }
        let values: Vec<ValueId> = values.into_iter().flatten().collect();
        if values.len() != sig.params.len() {
            return Err(Refusal::new(RefusalKind::Operation("a call with too few arguments".into())).at(i));
        }
        let out = self.call_for(i, f, &values);
        let result = self.s.func.insts[i].result;
        if let (Some(r), Some(field)) = (result, sig.result_field) {
            self.map[r] = Some(self.e.b().extract_value(out, &[field]));
        }
        if let (Some(r), Some(field)) = (result, sig.shadow_field) {
            for lane in 0..self.shadows.len() {
                let shadow = self.e.b().extract_value(out, &[field + lane as u32]);
                self.shadows[lane].insert(r, shadow);
            }
        }
        if let Some(field) = sig.tape_field {
            let tape = self.e.b().extract_value(out, &[field]);
            self.keep(Key::Tape(i), tape);
        }
        Ok(())
    }

    /// The call in the reverse sweep.
    pub fn reverse_derivative_call(&mut self, i: InstId) -> Result<(), Refusal> {
        let (f, sig) = self.derivative(i, Mode::Gradient)?;
        let args: Vec<ValueId> = self.s.func.call_args(i).to_vec();
        let mut values = vec![None; sig.params.len()];
        for (n, a) in args.iter().enumerate().take(sig.primal.len()) {
            values[sig.primal[n]] = Some(self.primal(*a)?);
            if let Some(at) = sig.shadow[n] {
                let key = if self.s.has_shadow(*a) { Key::Shadow(*a) } else { Key::Primal(*a) };
                self.in_lanes(|this| {
                    values[at + this.lane] = Some(this.lookup(key)?);
                    Ok(())
                })?;
            }
        }
        if let Some(at) = sig.seed {
            let result = self.s.func.insts[i].result;
            let ty = sig.params[at];
            self.in_lanes(|this| {
                let adjoint = match result {
                    Some(r) if this.s.is_active(r) => this.take_adjoint(r)?,
                    _ => None,
                };
                values[at + this.lane] = Some(match adjoint {
                    Some(v) => this.e.b().cast(enzyme_ir::CastOp::BitCast, v, ty),
                    None => this.e.neutral(ty),
                });
                Ok(())
            })?;
        }
        if let Some(at) = sig.tape {
            values[at] = Some(self.lookup(Key::Tape(i))?);
        }
        let values: Vec<ValueId> = values.into_iter().flatten().collect();
        if values.len() != sig.params.len() {
            return Err(Refusal::new(RefusalKind::Operation("a call with too few arguments".into())).at(i));
        }
        let out = self.e.call_func(f, &values);
        for (n, a) in args.iter().enumerate().take(sig.adjoints.len()) {
            if let Some(field) = sig.adjoints[n] {
                self.in_lanes(|this| {
                    let v = this.e.b().extract_value(out, &[field + this.lane as u32]);
                    this.add_adjoint(*a, v)
                })?;
            }
        }
        Ok(())
    }

    /// The return of the augmented primal.
    pub fn return_tape(&mut self) -> Result<(), Refusal> {
        if self.s.shape.exit.is_none() {
            self.e.b().unreachable();
            return Ok(());
        }
        let tape = self.save_tape()?;
        let mut fields = vec![tape];
        if let Some((value, shadows)) = self.returned.clone() {
            if self.sig.result_field.is_some() {
                fields.push(value);
            }
            if self.sig.shadow_field.is_some() {
                fields.extend((0..self.shadows.len()).map(|lane| shadows.get(lane).copied().unwrap_or(value)));
            }
        }
        let out = self.e.tuple(self.sig.ret, &fields);
        self.e.b().ret(out);
        Ok(())
    }
}

/// The derivative that the call `i` of a function with a body calls.
pub fn callee_key(module: &Module, s: &Subject<'_>, i: InstId, mode: Mode) -> Option<DerivativeKey> {
    let context = s.activity.calls.get(&i)?.clone();
    let Callee::Defined(func) = resolve(module, s.func, i) else { return None };
    let (kept, own) = (kept_by(module, s, i, &context), crate::owned::passed_on(s, i));
    let key = s.key.clone();
    Some(DerivativeKey { func, mode, context, kept, own, placed: false, value: false, ..key })
}

/// Classes of the callee whose memory is not written between the sweeps: reached by one argument only, of which
/// LLVM says so, and not known to the caller of this function unless it says the same.
fn kept_by(module: &Module, s: &Subject<'_>, i: InstId, context: &enzyme_analysis::Context) -> BTreeSet<ClassId> {
    let mut out = BTreeSet::new();
    let Some(map) = s.unit.memory.calls.get(&i) else { return out };
    let args = s.func.call_args(i);
    let operands = operands_of(module, s, i, map);
    for (theirs, placed) in map {
        let ours = &placed.class;
        if context.classes.get(theirs) == Some(&MemoryState::Pinned) && s.unit.constants.contains(ours) {
            out.insert(*theirs);
            continue;
        }
        // An operand of a product is other memory than what the product writes, whatever both are part of.
        let positions: Vec<usize> = match operands.iter().find(|(class, _)| class == theirs) {
            Some((_, n)) => vec![*n],
            None => (0..args.len()).filter(|n| s.unit.memory.class_of[args[*n]] == Some(*ours)).collect(),
        };
        let stable =
            !positions.is_empty() && positions.iter().all(|n| s.unit.facts.stable_args.contains(&(i, *n as u32)));
        let inner = s.unit.memory.classes.values().any(|c| c.targets().any(|t| t == *ours));
        let global = s.unit.memory.classes[*ours].objects.iter().any(|o| matches!(o, Object::Global(_)));
        let outlives = !s.is_split() || !s.unit.outer_classes.contains(ours) || s.key.kept.contains(ours);
        if stable && !inner && !global && outlives {
            out.insert(*theirs);
        }
    }
    out
}

/// The classes of A and B, if the call is of a product with a rule of ours, and which arguments these are. The model of a product
/// does not join classes: there is one for each parameter that may be an address, in order.
fn operands_of(module: &Module, s: &Subject<'_>, i: InstId, map: &BTreeMap<ClassId, Placed>) -> Vec<(ClassId, usize)> {
    const ADDRESSES: [usize; 12] = [0, 1, 2, 4, 5, 6, 7, 8, 9, 11, 12, 13];
    let Callee::Defined(func) = resolve(module, s.func, i) else { return Vec::new() };
    let is_product = module.stated.rules.get(&func).is_some_and(|rule| rule.product);
    let known = is_product && map.len() == ADDRESSES.len();
    let all = map.keys().copied().zip(ADDRESSES).filter(|_| known);
    all.filter(|(_, n)| product::OPERANDS.contains(n)).collect()
}
