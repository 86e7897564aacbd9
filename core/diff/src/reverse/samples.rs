//! Loops over independent samples: each iteration is reversed as soon as it has run forward.
//!
//! Preparation branches off the body of such a loop as a function of the sum so far, which returns the sum with what the
//! iteration adds (the bridge's `samples.cpp` says what then holds). Its combined derivative is called in the forward sweep,
//! seeded with the adjoint of the sum after the loop: that is known there, as it is made of the seed of the result, of
//! adjoints in memory and of factors from before the loop. In the reverse sweep nothing is left to do but to pass on the
//! adjoint of the sum to what it started from.
//!
//! ```text
//!   forward sweep:   seed = adjoint of the sum;  loop: sum, more = derivative of sample(sum, i, ...; seed);  adjoints += more
//!   reverse sweep:   loop: adjoint of the sum so far = adjoint of the next sum
//! ```
//!
//! Only in the combined mode: in a split derivative the call is one as any other.

use std::collections::BTreeSet;

use enzyme_analysis::{Callee, resolve};
use enzyme_ir::{BinOp, CastOp, Func, InstId, Module, Op, ValueId};

use super::Reverse;
use crate::keys::Subject;
use crate::refusal::{Refusal, RefusalKind};
use crate::request::{DerivativeKey, Mode};

/// Before the names of functions that are an iteration of a loop over independent samples.
pub const SAMPLE: &str = "enzyme.sample.";

/// The sum so far among the parameters of such a function.
const SUM: usize = 0;

/// Whether `i` calls an iteration that is reversed where it runs forward.
pub fn is_sample(module: &Module, s: &Subject<'_>, i: InstId) -> bool {
    s.key.mode == Mode::Combined && s.activity.calls.contains_key(&i) && is_call(module, s.func, i)
}

fn is_call(module: &Module, func: &Func, i: InstId) -> bool {
    matches!(resolve(module, func, i), Callee::Defined(f) if module.funcs[f].name.starts_with(SAMPLE))
}

fn is_multiply_add(module: &Module, func: &Func, i: InstId) -> bool {
    matches!(resolve(module, func, i), Callee::Math(math) if math.rule.name == "fma")
}

fn unknown(i: InstId) -> Refusal {
    Refusal::new(RefusalKind::Internal("the adjoint of a sum is not known before its loop".into())).at(i)
}

impl Reverse<'_, '_> {
    /// Both sweeps of an iteration.
    pub fn sample(&mut self, i: InstId, args: &[ValueId]) -> Result<(), Refusal> {
        let lost = || unknown(i);
        let result = self.s.func.insts[i].result.ok_or_else(lost)?;
        let context = self.s.activity.calls.get(&i).cloned().ok_or_else(lost)?;
        let Callee::Defined(func) = resolve(self.e.module, self.s.func, i) else { return Err(lost()) };
        let DerivativeKey { unwinds, products, transposed, width, .. } = *self.s.key;
        let (kept, own) = (BTreeSet::new(), crate::owned::passed_on(&self.s, i));
        let mode = Mode::Combined;
        let key = DerivativeKey {
            func,
            mode,
            context,
            kept,
            own,
            unwinds,
            products,
            keeps: false,
            transposed,
            placed: false,
            value: true,
            width,
        };
        let (f, sig) = self.derivatives.get(self.e.module, &key).ok_or_else(lost)?;
        let mut values = self.forward_arguments(&sig, args)?;
        if let Some(at) = sig.seed {
            let ty = sig.params[at];
            self.in_lanes(|this| {
                let seed = this.ahead(result, &mut BTreeSet::new())?;
                values[at + this.lane] = Some(seed.unwrap_or_else(|| this.e.neutral(ty)));
                Ok(())
            })?;
        }
        let values: Vec<ValueId> = values.into_iter().flatten().collect();
        if values.len() != sig.params.len() {
            return Err(lost());
        }
        let out = self.call_for(i, f, &values);
        self.map[result] = Some(self.e.b().extract_value(out, &[sig.result_field.ok_or_else(lost)?]));
        for (n, a) in args.iter().enumerate().filter(|(n, _)| *n != SUM) {
            if let Some(field) = sig.adjoints.get(n).copied().flatten() {
                self.in_lanes(|this| {
                    let v = this.e.b().extract_value(out, &[field + this.lane as u32]);
                    this.add_adjoint(*a, v)
                })?;
            }
        }
        Ok(())
    }

    /// What is left for the reverse sweep.
    pub fn sample_adjoint(&mut self, i: InstId) -> Result<(), Refusal> {
        let sum = self.s.func.call_args(i).get(SUM).copied().ok_or_else(|| unknown(i))?;
        let result = self.s.func.insts[i].result.ok_or_else(|| unknown(i))?;
        self.in_lanes(|this| match this.take_adjoint(result)? {
            Some(adjoint) => this.add_adjoint(sum, adjoint),
            None => Ok(()),
        })
    }

    /// The adjoint of `v`, a sum over a loop, before anything of the reverse sweep has run; `None` for zero.
    fn ahead(&mut self, v: ValueId, seen: &mut BTreeSet<ValueId>) -> Result<Option<ValueId>, Refusal> {
        if !self.s.is_active(v) || !seen.insert(v) {
            return Ok(None);
        }
        let users: Vec<InstId> =
            self.s.func.placed().map(|e| e.1).filter(|i| self.s.func.insts[*i].args.contains(&v)).collect();
        let mut total: Option<ValueId> = None;
        for i in users {
            let Some(amount) = self.ahead_through(i, v, seen)? else { continue };
            total = Some(match total {
                Some(t) => self.e.sum(t, amount),
                None => amount,
            });
        }
        Ok(total)
    }

    /// A value that is known before the loop.
    fn known(&mut self, v: ValueId, i: InstId) -> Result<ValueId, Refusal> {
        if self.s.func.def_inst(v).is_some() && self.map[v].is_none() {
            return Err(unknown(i));
        }
        Ok(self.forward_value(v))
    }

    /// What the adjoint of the result of `i` gives to that of its operand `v`.
    fn ahead_through(
        &mut self,
        i: InstId,
        v: ValueId,
        seen: &mut BTreeSet<ValueId>,
    ) -> Result<Option<ValueId>, Refusal> {
        let inst = self.s.func.insts[i].clone();
        let other = |n: usize| inst.args.get(n).copied().ok_or_else(|| unknown(i));
        match (&inst.op, inst.result) {
            (Op::Ret, _) => Ok(self.sig.seed.map(|at| self.e.func.params[at + self.lane])),
            (Op::Store(access), _) if inst.args.first() == Some(&v) && inst.args.get(1) != Some(&v) => {
                let p = other(1)?;
                if !self.s.has_shadow(p) {
                    return Ok(None);
                }
                let (align, ty) = (access.align, self.s.func.ty(v));
                let shadow = self.forward_shadow(p)?;
                let class = self.e.shadow;
                Ok(Some(self.e.b().load(ty, shadow, align, class)))
            }
            (Op::Phi(_), Some(r)) => self.ahead(r, seen),
            (Op::Call(_), Some(r)) if is_call(self.e.module, self.s.func, i) => self.ahead(r, seen),
            (Op::FNeg, Some(r)) => Ok(self.ahead(r, seen)?.map(|a| self.e.b().fneg(a))),
            (Op::Cast(op @ (CastOp::FPExt | CastOp::FPTrunc)), Some(r)) => {
                let back = if *op == CastOp::FPExt { CastOp::FPTrunc } else { CastOp::FPExt };
                let ty = self.s.func.ty(v);
                Ok(self.ahead(r, seen)?.map(|a| self.e.b().cast(back, a, ty)))
            }
            (Op::Binary(op), Some(r)) => {
                let Some(adjoint) = self.ahead(r, seen)? else { return Ok(None) };
                let first = other(0)? == v;
                Ok(Some(match op {
                    BinOp::FAdd => adjoint,
                    BinOp::FSub if first => adjoint,
                    BinOp::FSub => self.e.b().fneg(adjoint),
                    BinOp::FMul => {
                        let factor = self.known(other(usize::from(first))?, i)?;
                        self.e.b().binary(BinOp::FMul, adjoint, factor)
                    }
                    BinOp::FDiv if first => {
                        let divisor = self.known(other(1)?, i)?;
                        self.e.b().binary(BinOp::FDiv, adjoint, divisor)
                    }
                    _ => return Err(unknown(i)),
                }))
            }
            (Op::Call(_), Some(r)) if is_multiply_add(self.e.module, self.s.func, i) => {
                let args: Vec<ValueId> = self.s.func.call_args(i).to_vec();
                let [a, b, c] = args[..] else { return Err(unknown(i)) };
                let Some(adjoint) = self.ahead(r, seen)? else { return Ok(None) };
                match (a == v, b == v, c == v) {
                    (false, false, true) => Ok(Some(adjoint)),
                    (true, false, false) | (false, true, false) => {
                        let factor = self.known(if a == v { b } else { a }, i)?;
                        Ok(Some(self.e.b().binary(BinOp::FMul, adjoint, factor)))
                    }
                    _ => Err(unknown(i)),
                }
            }
            _ => Err(unknown(i)),
        }
    }
}
