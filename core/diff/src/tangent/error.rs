//! First-order bounds of rounding errors, in the place of tangents.
//!
//! What stands in for the tangent of a value is a bound of its error, to first order: the errors of the operands, each times
//! the size of its partial derivative, and what rounding adds, by the standard model `fl(x op y) = (x op y)(1 + d), |d| <= u`
//! (Higham, "Accuracy and Stability of Numerical Algorithms", section 2.2). Library functions are taken to be right within
//! four units in the last place, `8 u`, special functions within ten (the GNU C Library's manual, "Known Maximum Errors in Math
//! Functions"); a part of a complex result, which may have cancelled, within as many of both parts together. What only chooses, moves or negates adds nothing.
//!
//! Invariant: bounds of arguments that are not negative give bounds that are not negative.
//!
//! Not handled: underflow; special functions near their zeros; atomic updates (refused); rounding in what no argument reaches.

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
        (Group::Instructions, _) | (_, "sqrt") => 1.0,
        (Group::Special, _) => 20.0,
        _ => 8.0,
    }
}

impl Tangent<'_, '_> {
    /// The absolute value of `v`.
    pub(super) fn magnitude(&mut self, v: ValueId) -> ValueId {
        let ty = self.e.ty(v);
        let name = enzyme_rules::intrinsic_symbol(&self.e.module.ctx.types, "llvm.fabs", &[ty]);
        name.map_or(v, |name| self.e.call(&name, ty, &[v]))
    }

    /// `error` and what rounding a result of this size adds to it.
    pub(super) fn with_rounding(&mut self, error: ValueId, size: ValueId, units: f64) -> ValueId {
        let ty = self.e.ty(size);
        let Some(kind) = self.e.module.ctx.types.float_kind(ty).filter(|_| units > 0.0) else { return error };
        let flags = std::mem::replace(&mut self.e.fast, FastMath::empty());
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

    /// The size of an output of an operation that has been written, to which its rounding is relative.
    pub(super) fn size(
        &mut self,
        rule: &Rule,
        place: Place,
        args: &[ValueId],
        ty: TypeId,
        result: Option<ValueId>,
    ) -> Option<ValueId> {
        let of_a_pair = rule.group == Group::Complex && matches!(place, Place::ReturnField(_));
        let mut sum = None;
        for o in rule.outputs.iter().filter(|o| o.place == place || of_a_pair) {
            let value = self.output(o.place, args, ty, result)?;
            let size = self.magnitude(value);
            sum = Some(sum.map_or(size, |sum| self.e.sum(sum, size)));
        }
        sum
    }

    /// The value of an output.
    fn output(&mut self, place: Place, args: &[ValueId], ty: TypeId, result: Option<ValueId>) -> Option<ValueId> {
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
