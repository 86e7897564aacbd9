//! First-order bounds of rounding errors, in the place of tangents.
//!
//! What stands in for the tangent of a value is a bound of its error, to first order: the errors of the operands, each times
//! the size of its partial derivative, and what rounding adds, by the standard model `fl(x op y) = (x op y)(1 + d), |d| <= u`
//! (Higham, "Accuracy and Stability of Numerical Algorithms", section 2.2). Library functions are taken to be right within
//! one unit in the last place, `2 u`. What only chooses, moves or negates adds nothing.
//!
//! Invariant: bounds of arguments that are not negative give bounds that are not negative.
//!
//! Not handled: underflow; atomic updates (refused); rounding in what no argument reaches.

use enzyme_ir::{FastMath, FloatKind, MemClass, TypeId, ValueId};
use enzyme_rules::{Group, Operand, Place, Rule};

use super::Tangent;

/// The unit roundoff of a format: half the distance from 1 to the next number.
fn unit_roundoff(kind: FloatKind) -> f64 {
    let digits = match kind {
        FloatKind::Half => 11,
        FloatKind::BFloat => 8,
        FloatKind::Float => 24,
        FloatKind::Double => 53,
        FloatKind::X86Fp80 => 64,
        FloatKind::PpcFp128 => 106,
        FloatKind::Fp128 => 113,
    };
    2f64.powi(-digits)
}

/// By how many units the result of an operation may be off, were its operands exact.
pub(super) fn roundings(rule: &Rule) -> f64 {
    match (rule.group, rule.name) {
        (Group::Choices | Group::Parts, _) | (_, "fneg" | "fpext") => 0.0,
        (Group::Instructions, _) | (_, "sqrt" | "fma" | "fmuladd") => 1.0,
        _ => 2.0,
    }
}

impl Tangent<'_, '_> {
    /// The absolute value of `v`.
    pub(super) fn magnitude(&mut self, v: ValueId) -> ValueId {
        let ty = self.e.ty(v);
        let name = enzyme_rules::intrinsic_symbol(&self.e.module.ctx.types, "llvm.fabs", &[ty]);
        name.map_or(v, |name| self.e.call(&name, ty, &[v]))
    }

    /// `error` and what rounding a result of this value adds to it.
    pub(super) fn with_rounding(&mut self, error: ValueId, value: ValueId, units: f64) -> ValueId {
        let ty = self.e.ty(value);
        let Some(kind) = self.e.module.ctx.types.float_kind(ty).filter(|_| units > 0.0) else { return error };
        let flags = std::mem::replace(&mut self.e.fast, FastMath::empty());
        let size = self.magnitude(value);
        let unit = self.e.b().float(ty, units * unit_roundoff(kind));
        let more = self.e.b().binary(enzyme_ir::BinOp::FMul, size, unit);
        let sum = self.e.sum(error, more);
        self.e.fast = flags;
        sum
    }

    /// The type in which an operation with these arguments computes.
    pub(super) fn float_type(&mut self, rule: &Rule, args: &[ValueId]) -> TypeId {
        match rule.operands.iter().zip(args).find(|(o, _)| **o == Operand::Float) {
            Some((_, v)) => self.s.func.ty(*v),
            None => self.e.module.ctx.types.double(),
        }
    }

    /// The value of an output of an operation that has been written.
    pub(super) fn output(
        &mut self,
        place: Place,
        args: &[ValueId],
        ty: TypeId,
        result: Option<ValueId>,
    ) -> Option<ValueId> {
        match (place, result) {
            (Place::Return, Some(w)) => Some(w),
            (Place::ReturnField(n), Some(w)) => Some(self.e.b().extract_value(w, &[n])),
            (Place::Pointee(n), _) => {
                let at = self.value(*args.get(n as usize)?);
                Some(self.e.b().load(ty, at, 0, MemClass::Primal))
            }
            (Place::Return | Place::ReturnField(_), None) => None,
        }
    }
}
