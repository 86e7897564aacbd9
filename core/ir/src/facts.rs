//! What LLVM knows of a function and the snapshot does not say: flat side tables, filled by the importer.
//!
//! An empty table is always sound: nothing is then promised, and derivatives cache more.

use std::collections::{BTreeMap, BTreeSet};

use crate::ids::{BlockId, InstId, ValueId};
use crate::types::FloatKind;

/// What the bytes of an access are, according to TBAA or debug information.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ByteType {
    /// A float of this format.
    Float(FloatKind),
    /// A pointer.
    Pointer,
    /// Neither float nor pointer.
    Integer,
}

/// A run of bytes of one type, relative to the address of the access.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ByteRun {
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub size: u64,
    /// What they are.
    pub ty: ByteType,
}

/// Where a load in a loop nest has the same value in each iteration of an outer loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Steady {
    /// Header of the outermost such loop.
    pub header: BlockId,
    /// A condition, available at the end of that loop's preheader, without which it is not so.
    pub condition: Option<ValueId>,
    /// The loops in each of whose iterations the value is another one, as bits: bit 0 is the innermost loop around the
    /// load, bit 1 the one around that. All are inside of that loop, and run equally often each time.
    pub varies: u64,
    /// The most backedges that the innermost loop takes, which is the only one of these then and does not run equally often;
    /// available at the end of that loop's preheader.
    pub most: Option<ValueId>,
}

/// What a store writes to over all iterations of the outermost loop around it: `start`, and so many bytes on for each iteration of
/// these loops, each of which runs equally often every time. All is known before that outermost loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Written {
    /// Header of the outermost loop.
    pub header: BlockId,
    /// The first address.
    pub start: ValueId,
    /// Headers of loops, and bytes, an `i64`, from one of their iterations to the next.
    pub steps: Vec<(BlockId, ValueId)>,
}

/// A store of a float that can be taken back: what it has overwritten is stored again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UndoneStore {
    /// The load of what it overwrites.
    pub old: InstId,
    /// Where it stores, if others than the function can see it.
    pub written: Option<Written>,
}

/// A write that may reach what a load has read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Overwritten {
    /// A store or a call.
    pub by: InstId,
    /// They go through different pointers, and nothing else may overwrite it.
    pub apart: bool,
}

/// Facts about one function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Header of a loop to its backedge-taken count, an unsigned `i64` value available at the end of the
    /// preheader. (The body runs once more than that if the loop is entered.)
    pub trip_counts: BTreeMap<BlockId, ValueId>,
    /// Loads whose memory this function does not write, nor free, on any path from the load to a return,
    /// over all iterations of all loops.
    pub stable_loads: BTreeSet<InstId>,
    /// Those of them of which only type-based alias analysis says so: memory may have several lives.
    pub typed_loads: BTreeSet<InstId>,
    /// Stores of floats whose memory this function does not write, nor free, on any path from the store to a return: what
    /// they stored stands there to the end.
    pub stable_stores: BTreeSet<InstId>,
    /// Loads of floats in loops, not stable, and why they are not: this is for telling alone.
    pub overwritten: BTreeMap<InstId, Overwritten>,
    /// Loads, not stable, of what stays the same for a while.
    pub steady_loads: BTreeMap<InstId, Steady>,
    /// Stores that can be undone.
    pub undone_stores: BTreeMap<InstId, UndoneStore>,
    /// Loads of floats, not stable, which read the same again wherever their value is wanted, once these stores were undone in
    /// the order opposite to that in which they ran.
    pub repeated_loads: BTreeMap<InstId, Vec<InstId>>,
    /// Loads that nothing uses, and the phis that have their value.
    pub stand_for: BTreeMap<InstId, ValueId>,
    /// Pointer arguments of calls (call, argument position) whose reachable memory this function does not
    /// write, nor free, on any path from after the call to a return, over all iterations.
    pub stable_args: BTreeSet<(InstId, u32)>,
    /// Types of the bytes that loads, stores and memory copies touch, where metadata states them.
    pub access_types: BTreeMap<InstId, Vec<ByteRun>>,
    /// Types of the bytes that pointer parameters point to, where debug information states them, repeating
    /// with the size of the element, which is the end of the last run.
    pub param_types: BTreeMap<u32, Vec<ByteRun>>,
    /// Of these, parameters that point to one object, not to an element of an array: references, and objects of member functions.
    pub alone: BTreeSet<u32>,
    /// Calls through pointers of which direct calls of all functions that are known to fit were branched off: what
    /// they call is in another module.
    pub fallbacks: BTreeSet<InstId>,
    /// Calls, of functions that have versions for vectors, in loops that may run in vectors.
    pub vector_calls: BTreeSet<InstId>,
    /// Copies that only run where a loop over bytes reads what it wrote, as decompressors do and copies of floats do not.
    pub overlapping: BTreeSet<InstId>,
    /// The direct calls branched off there.
    pub guesses: BTreeSet<InstId>,
}

impl Facts {
    /// Whether metadata states what all that `i` touches is, and it is such.
    pub fn is_stated(&self, i: InstId, such: impl Fn(ByteType) -> bool) -> bool {
        let runs = self.access_types.get(&i).map_or(&[][..], Vec::as_slice);
        !runs.is_empty() && runs.iter().all(|run| such(run.ty))
    }

    /// Whether metadata states that all that `i` touches are floats.
    pub fn states_floats(&self, i: InstId) -> bool {
        self.is_stated(i, |ty| matches!(ty, ByteType::Float(_)))
    }

    /// Whether metadata states that nothing that `i` touches is a float.
    pub fn states_no_floats(&self, i: InstId) -> bool {
        self.is_stated(i, |ty| !matches!(ty, ByteType::Float(_)))
    }
}
