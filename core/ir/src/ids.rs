//! Typed indices of everything a module holds.
//!
//! Each is a `u32` newtype whose `Display` is the name used in dumps (`v7`, `i12`, `bb3`). Dense maps over
//! them are `PrimaryMap` (owns) and `SecondaryMap` (side table), both from `cranelift-entity`.

use cranelift_entity::entity_impl;

macro_rules! define_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);
        entity_impl!($name, $prefix);
    };
}

define_id!(
    /// An interned type of a [`Context`](crate::Context).
    TypeId,
    "ty"
);
define_id!(
    /// An interned constant of a [`Context`](crate::Context).
    ConstId,
    "c"
);
define_id!(
    /// A value of one function: parameter, instruction result or constant.
    ValueId,
    "v"
);
define_id!(
    /// An instruction of one function.
    InstId,
    "i"
);
define_id!(
    /// A basic block of one function.
    BlockId,
    "bb"
);
define_id!(
    /// A function of a module, declared or defined.
    FuncId,
    "fn"
);
define_id!(
    /// A global variable of a module.
    GlobalId,
    "g"
);
define_id!(
    /// A source location of a module.
    LocId,
    "loc"
);
