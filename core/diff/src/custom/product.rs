//! Rules of products of matrices that libraries compute: what they are told, and how the forward rule is called.
//!
//! The rules are our own (`core/llvm/bridge/products.c`), with those of the program's conventions that suit them: a word of flags
//! comes after the parameters, the forward rule makes the tangent of one lane and is called before the product itself overwrites
//! what it reads, and the reverse rule leaves its tape for the next lane.
//!
//! Where an exception may leave the derivative between the sweeps, tapes are on a list of their own until the outermost derivative
//! ends. On the list of what else is put off they would be of one class with other memory, pointers among it, where derivatives are
//! taken again. Not handled: so in two sweeps that the program calls one after the other.
//!
//! Invariant: an operand is read where it is in the reverse sweep only if the key says that nobody writes it between the sweeps.

use enzyme_analysis::ClassId;
use enzyme_ir::{CustomRule, ValueId};

use super::Adapter;
use crate::refusal::Refusal;
use crate::request::{DerivativeKey, Mode};
use crate::reverse::Options;

/// The parameters of a product that matter here.
const ALPHA: usize = 3;
const A: usize = 4;
const B: usize = 7;
const BETA: usize = 10;
/// Those that the reverse rule reads.
pub const OPERANDS: [usize; 2] = [A, B];

/// The flags, as `products.c` has them.
const KEEP_A: u32 = 1;
const KEEP_B: u32 = 2;
const ACTIVE_ALPHA: u32 = 4;
const ACTIVE_BETA: u32 = 8;
const STRONG_ZERO: u32 = 16;
const ATOMIC: u32 = 32;

/// What the rules of a product are told of the call, whose parameters lead to memory of these classes.
pub fn flags(params: &[Option<ClassId>], key: &DerivativeKey, options: Options) -> u32 {
    let kept = |n: usize| params.get(n).copied().flatten().is_some_and(|class| key.kept.contains(&class));
    let split = matches!(key.mode, Mode::Augmented | Mode::Gradient);
    let active = |n: usize| key.context.scalars.get(n).copied().unwrap_or(false);
    let all = [
        (KEEP_A, split && !kept(A)),
        (KEEP_B, split && !kept(B)),
        (ACTIVE_ALPHA, active(ALPHA)),
        (ACTIVE_BETA, active(BETA)),
        (STRONG_ZERO, options.strong_zero),
        (ATOMIC, options.atomic),
    ];
    all.iter().filter(|(_, holds)| *holds).map(|(flag, _)| flag).sum()
}

impl Adapter<'_, '_> {
    /// The flags as an argument, of products.
    pub(super) fn told(&mut self) -> Vec<ValueId> {
        let i32 = self.e.module.ctx.types.int(32);
        self.flags.map(|flags| self.e.b().int(i32, u64::from(flags))).into_iter().collect()
    }

    /// The tangents of all lanes, then the product.
    pub(super) fn product_tangents(&mut self, rule: &CustomRule, lanes: u32) -> Result<Vec<ValueId>, Refusal> {
        let f = rule.forward.ok_or_else(|| self.missing("forward rule"))?;
        for lane in 0..lanes as usize {
            self.lane = lane;
            let told = self.told();
            self.call(f, true, &told, told.len())?;
        }
        let args: Vec<ValueId> = self.sig.primal.iter().map(|n| self.e.func.params[*n]).collect();
        let primal = self.e.module.find_func(&self.primal.name);
        let primal = primal.ok_or_else(|| self.missing("function"))?;
        self.e.call_func(primal, &args);
        Ok(Vec::new())
    }
}
