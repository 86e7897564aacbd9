//! What a result depends on: names of sets of independent variables in the place of tangents.
//!
//! A set is named by a whole number, kept in a float as a tangent would be, so that all that moves tangents moves names: memory,
//! calls, conversions between formats. Zero, of either sign, names the empty set. What an operation makes of several operands
//! depends on what any of them depends on, if its partial derivative there is not zero whatever the values: the name of the union,
//! which a function of the program gives ([`UNION`], of `<enzyme/sparsity.h>`). (Propagation of index domains: Griewank,
//! Walther, "Evaluating Derivatives", 2nd ed., section 7.1.)
//!
//! Not handled: formats narrower than single precision, which cannot hold the names (refused); atomic updates; functions whose
//! derivative the program gives.

use enzyme_ir::{CastOp, FloatKind, Op, Type, TypeId, ValueId};
use smallvec::smallvec;

use super::Tangent;
use crate::refusal::{Refusal, RefusalKind};

/// The function that names the union of two sets, by a name that is not greater than the third argument:
/// `double(double, double, double)`.
pub const UNION: &str = "enzyme_sparsity_union";

/// The largest whole number up to which every one is in double and in single precision.
const LARGEST: f64 = 9_007_199_254_740_992.0;
const LARGEST_SINGLE: f64 = 16_777_216.0;

impl Tangent<'_, '_> {
    /// The name of the union of two sets, element by element for vectors.
    pub(super) fn union(&mut self, a: ValueId, b: ValueId) -> Result<ValueId, Refusal> {
        self.union_below(a, b, LARGEST)
    }

    /// The same set, under a name that the narrower type `ty` holds.
    pub(super) fn narrowed(&mut self, name: ValueId, ty: TypeId) -> Result<ValueId, Refusal> {
        let largest = match self.e.module.ctx.types.float_kind(ty) {
            Some(FloatKind::Float) => LARGEST_SINGLE,
            Some(FloatKind::Double) => LARGEST,
            _ => return Err(half()),
        };
        let wide = self.e.ty(name);
        let none = self.e.b().zero(wide);
        let name = self.union_below(name, none, largest)?;
        Ok(self.e.b().cast(CastOp::FPTrunc, name, ty))
    }

    fn union_below(&mut self, a: ValueId, b: ValueId, largest: f64) -> Result<ValueId, Refusal> {
        let ty = self.e.ty(a);
        let Type::Vector { elem, len, scalable: false } = self.e.module.ctx.types[ty] else {
            return self.union_of_one(a, b, largest);
        };
        let mut out = self.e.b().zero(ty);
        for n in 0..len {
            let at = self.e.b().i64(u64::from(n));
            let [a, b] = [a, b].map(|v| self.e.b().value(Op::ExtractElement, smallvec![v, at], elem));
            let name = self.union_of_one(a, b, largest)?;
            out = self.e.b().value(Op::InsertElement, smallvec![out, name, at], ty);
        }
        Ok(out)
    }

    fn union_of_one(&mut self, a: ValueId, b: ValueId, largest: f64) -> Result<ValueId, Refusal> {
        let (ty, double) = (self.e.ty(a), self.e.module.ctx.types.double());
        let (into, back, largest) = match self.e.module.ctx.types.float_kind(ty) {
            Some(FloatKind::Double) => (None, None, largest),
            Some(FloatKind::Float) => (Some(CastOp::FPExt), Some(CastOp::FPTrunc), LARGEST_SINGLE),
            Some(FloatKind::X86Fp80 | FloatKind::Fp128) => (Some(CastOp::FPTrunc), Some(CastOp::FPExt), largest),
            _ => return Err(half()),
        };
        let [a, b] = [a, b].map(|v| into.map_or(v, |op| self.e.b().cast(op, v, double)));
        let largest = self.e.b().float(double, largest);
        let name = self.e.call(UNION, double, &[a, b, largest]);
        Ok(back.map_or(name, |op| self.e.b().cast(op, name, ty)))
    }
}

fn half() -> Refusal {
    let what = "what values in half precision depend on (they can't hold the names of sets)".to_owned();
    Refusal::new(RefusalKind::Operation(what))
}
