//! Derivative rules and facts about known functions, as tables.
//!
//! Two tables, both plain `static` data:
//!
//! - [`rules`]: per operation, its partial derivatives as expressions over its operands and results, with what is
//!   chosen at kinks and edges. Tangent, adjoint, the primal values that the adjoint needs, the documentation page
//!   (`docs/rules.md`, by [`markdown()`]) and the numeric test of each row are derived from the row.
//! - [`known()`]: per external function, whether it is inactive, allocates, frees, copies, and what memory it touches.
//!
//! Nothing here writes derivative code: that is the work of the synthesis, which gives each
//! [`Expr`] the format and lane count of the operation at hand. Helper functions that the rules call and no library
//! has are built as IR by [`build_helper`].
//!
//! Invariant: no symbol is claimed by two rows, of either table.

#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

#[macro_use]
mod notation;

pub mod expr;
pub mod helpers;
pub mod known;
pub mod markdown;
pub mod names;
pub mod ops;
pub mod rule;
mod table;
mod written;

pub use expr::{Callee, Cond, Expr, MathFn, Needs};
pub use helpers::{Helper, build_helper};
pub use known::{Known, KnownFn, known};
pub use markdown::{KnownInWords, RuleInWords, known_in_words, markdown, rules_in_words};
pub use names::{CallRule, Lanes, intrinsic_symbol, libm_symbol, lookup_call, lookup_inst};
pub use ops::{OpDerivative, RmwFloat, is_zero_derivative, op_derivative, rmw_float_op};
pub use rule::{Edge, Group, Operand, Output, Place, Rule, Spelling, TestDomain};
pub use table::rules;
pub use written::Written;
