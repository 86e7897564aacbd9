//! A dense snapshot of LLVM functions, and what can be said of it without LLVM.
//!
//! A [`Module`] holds interned types and constants, globals and functions. A [`Func`] is made of blocks of
//! instructions over dense values ([`ValueId`]); facts about it live in side tables, never in it. Semantics are those
//! of the LLVM Language Reference, version 22, for every operation of [`Op`].
//!
//! Invariants: nothing here names LLVM's libraries; nothing here panics on malformed input (the verifier reports
//! it); iteration orders are those of insertion.

#![forbid(unsafe_code)]

pub mod builder;
pub mod cfg;
pub mod consts;
pub mod facts;
pub mod float;
pub mod func;
pub mod ids;
pub mod interp;
pub mod layout;
pub mod module;
pub mod op;
pub mod promote;
pub mod text;
pub mod types;
pub mod verify;

pub use builder::Builder;
pub use cfg::{Cfg, DomTree, Loop, LoopId, LoopNest};
pub use consts::{Const, ConstOp, Consts};
pub use facts::{ByteRun, ByteType, Facts};
pub use func::{Args, Block, Func, FuncAttrs, Inst, Like, Linkage, Origin, ParamAttrs, Value, ValueDef, Word};
pub use ids::{BlockId, ConstId, FuncId, GlobalId, InstId, LocId, TypeId, ValueId};
pub use layout::DataLayout;
pub use module::{Context, CustomRule, Global, Loc, Module, ShadowRule, Stated};
pub use op::*;
pub use text::{ParseError, parse_module, print_func, print_module};
pub use types::{FloatKind, StructType, Type, Types};
pub use verify::{VerifyError, verify, verify_module};
