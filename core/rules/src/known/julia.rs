//! The run-time system of Julia, by the names that its frontend gives calls (`bindings/julia`).
//!
//! Memory belongs to a collector, so nothing here is released. An array is two allocations, its header and its data, which the
//! frontend spells out; the header comes with its type, so it is not filled with zeros.
//!
//! Left out: what calls methods by name (`jl_apply_generic`), and what moves the data of an array, for which the frontend has bodies.

use super::*;

const fn row(title: &'static str, effects: Effects, names: &'static [Name]) -> KnownFn {
    KnownFn { title, names, what: Known::Inactive, effects, returns: None, floats: false }
}

const fn alloc(title: &'static str, names: &'static [Name], size: u8, zeroed: bool) -> KnownFn {
    let release = Release { symbol: "", args: &[] };
    let size = AllocSize::Arg(size);
    let what = Known::Alloc(Alloc { size, align: None, zeroed, place: AllocPlace::Return, release });
    KnownFn { title, names, what, effects: HIDDEN, returns: None, floats: false }
}

pub(super) static ROWS: &[KnownFn] = &[
    alloc("Julia: an object", names!["julia.gc_alloc_obj"], 1, false),
    alloc(
        "Julia: the header of an array",
        names!["julia.array_header" "julia.array_header_like" "julia.array_header_reshaped"],
        0,
        true,
    ),
    alloc("Julia: the data of an array, boxes", names!["julia.array_data" "julia.box"], 0, false),
    row("Julia: state of a task", NOTHING, names!["julia.ptls_states"]),
    row("Julia: the collector is told of a pointer", HIDDEN, names!["julia.write_barrier"]),
    row("Julia: the type of an object", READS, names!["julia.typeof"]),
];
