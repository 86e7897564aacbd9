//! The plan of a derivative, and its synthesis as IR.
//!
//! [`Shape`] says how control can be turned round, [`Plan`] what is cached and what is rebuilt; [`reverse`] and
//! [`tangent`] write functions. Nothing here names LLVM: a derivative can be made, printed and interpreted from text.

#![forbid(unsafe_code)]

pub mod arena;
pub mod carried;
pub mod checkpoint;
pub mod copies;
pub mod custom;
pub mod cut;
pub mod emit;
pub mod engine;
pub mod fixed;
pub mod handed;
pub mod hoisted;
pub mod keys;
pub mod lanes;
pub mod latest;
pub mod local;
mod lower;
pub mod moved;
pub mod needs;
pub mod normalise;
pub mod owned;
pub mod passed;
pub mod plan;
pub mod refusal;
pub mod request;
pub mod reverse;
pub mod runtime;
mod schedule;
pub mod shape;
pub mod steady;
pub mod story;
pub mod tangent;
pub mod undo;
pub mod unwanted;
pub mod unwind;
pub mod vanishing;
mod why;
pub mod words;

pub use cut::CachePrice;
pub use engine::{Derivative, Engine, Log, ParamActivity, Refused, Request, ResultUse};
pub use keys::Subject;
pub use plan::Plan;
pub use refusal::{Refusal, RefusalKind};
pub use request::{DerivativeKey, Derivatives, Mode, Signature};
pub use reverse::{Content, Options, ShadowGlobals};
pub use shape::Shape;
pub use story::Story;
pub use tangent::UNION;
