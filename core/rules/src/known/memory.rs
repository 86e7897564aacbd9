//! Functions that allocate, release, copy and fill memory.

use super::*;

const FREE: Release = Release { symbol: "free", args: &[ReleaseArg::Ptr] };
const DELETE: Release = Release { symbol: "_ZdlPv", args: &[ReleaseArg::Ptr] };
const DELETE_ARRAY: Release = Release { symbol: "_ZdaPv", args: &[ReleaseArg::Ptr] };
const DELETE_ALIGNED: Release =
    Release { symbol: "_ZdlPvSt11align_val_t", args: &[ReleaseArg::Ptr, ReleaseArg::Align] };
const DELETE_ARRAY_ALIGNED: Release =
    Release { symbol: "_ZdaPvSt11align_val_t", args: &[ReleaseArg::Ptr, ReleaseArg::Align] };
const DELETE_MSVC: Release = Release { symbol: "??3@YAXPEAX@Z", args: &[ReleaseArg::Ptr] };
const DELETE_ARRAY_MSVC: Release = Release { symbol: "??_V@YAXPEAX@Z", args: &[ReleaseArg::Ptr] };
const RUST_DEALLOC_ARGS: &[ReleaseArg] = &[ReleaseArg::Ptr, ReleaseArg::Size, ReleaseArg::Align];
const RUST_DEALLOC: Release = Release { symbol: "__rust_dealloc", args: RUST_DEALLOC_ARGS };
const RUST_DEALLOC_MANGLED: Release = Release { symbol: "14___rust_dealloc", args: RUST_DEALLOC_ARGS };

const fn alloc(title: &'static str, names: &'static [Name], size: AllocSize, release: Release) -> KnownFn {
    let what = Known::Alloc(Alloc { size, align: None, zeroed: false, place: AllocPlace::Return, release });
    KnownFn { title, names, what, effects: HIDDEN, returns: None, floats: false }
}

const fn alloc_aligned(
    title: &'static str,
    names: &'static [Name],
    size: u8,
    align: u8,
    zeroed: bool,
    release: Release,
) -> KnownFn {
    let size = AllocSize::Arg(size);
    let what = Known::Alloc(Alloc { size, align: Some(align), zeroed, place: AllocPlace::Return, release });
    KnownFn { title, names, what, effects: HIDDEN, returns: None, floats: false }
}

const fn free(title: &'static str, names: &'static [Name]) -> KnownFn {
    let effects = Effects { writes: Reach::Args(&[0]), ..HIDDEN };
    KnownFn { title, names, what: Known::Free { ptr: 0 }, effects, returns: None, floats: false }
}

const fn realloc(title: &'static str, names: &'static [Name], size: AllocSize, release: Release) -> KnownFn {
    let effects = Effects { reads: Reach::Args(&[0]), writes: Reach::Args(&[0]), ..HIDDEN };
    KnownFn { title, names, what: Known::Realloc { ptr: 0, size, release }, effects, returns: None, floats: false }
}

const COPIES: Effects = Effects { reads: Reach::Args(&[1]), writes: Reach::Args(&[0]), ..NOTHING };
const FILLS: Effects = Effects { writes: Reach::Args(&[0]), ..NOTHING };
const COPY: Known = Known::MemCopy { dst: 0, src: 1, len: 2 };
const MOVE: Known = Known::MemMove { dst: 0, src: 1, len: 2 };
const SET: Known = Known::MemSet { dst: 0, value: Some(1), len: 2 };

const STATED: Release = Release { symbol: "enzyme.free.0", args: &[ReleaseArg::Ptr] };

const fn stated_free(title: &'static str, names: &'static [Name], ptr: u8, written: &'static [u8]) -> KnownFn {
    let effects = Effects { writes: Reach::Args(written), ..HIDDEN };
    KnownFn { title, names, what: Known::Free { ptr }, effects, returns: None, floats: false }
}

pub(super) static ROWS: &[KnownFn] = &[
    // What the program takes for an allocator: the number is that of the argument with the size, or with the pointer.
    alloc("stated allocation, first argument", names!["enzyme.alloc.0"], AllocSize::Arg(0), STATED),
    alloc("stated allocation, second argument", names!["enzyme.alloc.1"], AllocSize::Arg(1), STATED),
    alloc("stated allocation, third argument", names!["enzyme.alloc.2"], AllocSize::Arg(2), STATED),
    alloc("stated allocation, fourth argument", names!["enzyme.alloc.3"], AllocSize::Arg(3), STATED),
    KnownFn {
        title: "stated allocation whose shadow another function makes",
        names: names!["enzyme.alloc.shadowed"],
        what: Known::Alloc(Alloc {
            size: AllocSize::Unknown,
            align: None,
            zeroed: true,
            place: AllocPlace::Return,
            release: STATED,
        }),
        effects: HIDDEN,
        returns: None,
        floats: true,
    },
    stated_free("stated release, first argument", names!["enzyme.free.0"], 0, &[0]),
    stated_free("stated release, second argument", names!["enzyme.free.1"], 1, &[1]),
    stated_free("stated release, third argument", names!["enzyme.free.2"], 2, &[2]),
    stated_free("stated release, fourth argument", names!["enzyme.free.3"], 3, &[3]),
    alloc("C allocation", names!["malloc" "valloc" "pvalloc"], AllocSize::Arg(0), FREE),
    KnownFn {
        title: "C allocation of zeroed memory",
        names: names!["calloc"],
        what: Known::Alloc(Alloc {
            size: AllocSize::Product(0, 1),
            align: None,
            zeroed: true,
            place: AllocPlace::Return,
            release: FREE,
        }),
        effects: HIDDEN,
        returns: None,
        floats: false,
    },
    alloc_aligned("C allocation with alignment", names!["aligned_alloc" "memalign"], 1, 0, false, FREE),
    KnownFn {
        title: "POSIX allocation with alignment",
        names: names!["posix_memalign"],
        what: Known::Alloc(Alloc {
            size: AllocSize::Arg(2),
            align: Some(1),
            zeroed: false,
            place: AllocPlace::Pointee(0),
            release: FREE,
        }),
        effects: Effects { writes: Reach::Args(&[0]), ..HIDDEN },
        returns: None,
        floats: false,
    },
    KnownFn {
        title: "copy of a string",
        names: names!["strdup" "__strdup" "strndup" "__strndup"],
        what: Known::Alloc(Alloc {
            size: AllocSize::String(0),
            align: None,
            zeroed: false,
            place: AllocPlace::Return,
            release: FREE,
        }),
        effects: Effects { reads: Reach::Args(&[0]), ..HIDDEN },
        returns: None,
        floats: false,
    },
    realloc("C reallocation", names!["realloc"], AllocSize::Arg(1), FREE),
    realloc("C reallocation of arrays", names!["reallocarray"], AllocSize::Product(1, 2), FREE),
    free("C release", names!["free" "cfree"]),
    alloc(
        "C++ `new`",
        names!["_Znwm" "_Znwj" "_ZnwmRKSt9nothrow_t" "_ZnwjRKSt9nothrow_t" "_Znwm12__hot_cold_t"],
        AllocSize::Arg(0),
        DELETE,
    ),
    alloc(
        "C++ `new[]`",
        names!["_Znam" "_Znaj" "_ZnamRKSt9nothrow_t" "_ZnajRKSt9nothrow_t" "_Znam12__hot_cold_t"],
        AllocSize::Arg(0),
        DELETE_ARRAY,
    ),
    alloc_aligned(
        "C++ `new` with alignment",
        names!["_ZnwmSt11align_val_t" "_ZnwjSt11align_val_t" "_ZnwmSt11align_val_tRKSt9nothrow_t"
               "_ZnwjSt11align_val_tRKSt9nothrow_t"],
        0,
        1,
        false,
        DELETE_ALIGNED,
    ),
    alloc_aligned(
        "C++ `new[]` with alignment",
        names!["_ZnamSt11align_val_t" "_ZnajSt11align_val_t" "_ZnamSt11align_val_tRKSt9nothrow_t"
               "_ZnajSt11align_val_tRKSt9nothrow_t"],
        0,
        1,
        false,
        DELETE_ARRAY_ALIGNED,
    ),
    free(
        "C++ `delete`, sized, aligned, nothrow",
        names!["_ZdlPv" "_ZdlPvm" "_ZdlPvj" "_ZdlPvRKSt9nothrow_t" "_ZdlPvSt11align_val_t"
               "_ZdlPvmSt11align_val_t" "_ZdlPvjSt11align_val_t" "_ZdlPvSt11align_val_tRKSt9nothrow_t"],
    ),
    free(
        "C++ `delete[]`, sized, aligned, nothrow",
        names!["_ZdaPv" "_ZdaPvm" "_ZdaPvj" "_ZdaPvRKSt9nothrow_t" "_ZdaPvSt11align_val_t"
               "_ZdaPvmSt11align_val_t" "_ZdaPvjSt11align_val_t" "_ZdaPvSt11align_val_tRKSt9nothrow_t"],
    ),
    alloc("C++ `new` of Microsoft's ABI", names!["??2@YAPEAX_K@Z"], AllocSize::Arg(0), DELETE_MSVC),
    alloc("C++ `new[]` of Microsoft's ABI", names!["??_U@YAPEAX_K@Z"], AllocSize::Arg(0), DELETE_ARRAY_MSVC),
    free(
        "C++ `delete` and `delete[]` of Microsoft's ABI",
        names!["??3@YAXPEAX@Z" "??3@YAXPEAX_K@Z" "??_V@YAXPEAX@Z" "??_V@YAXPEAX_K@Z"],
    ),
    alloc_aligned("Rust allocation", names!["__rust_alloc"], 0, 1, false, RUST_DEALLOC),
    alloc_aligned("Rust allocation, zeroed", names!["__rust_alloc_zeroed"], 0, 1, true, RUST_DEALLOC),
    realloc("Rust reallocation", names!["__rust_realloc"], AllocSize::Arg(3), RUST_DEALLOC),
    free("Rust release", names!["__rust_dealloc"]),
    alloc_aligned("Rust allocation, mangled", names![ending "12___rust_alloc"], 0, 1, false, RUST_DEALLOC_MANGLED),
    alloc_aligned(
        "Rust allocation, zeroed, mangled",
        names![ending "19___rust_alloc_zeroed"],
        0,
        1,
        true,
        RUST_DEALLOC_MANGLED,
    ),
    realloc("Rust reallocation, mangled", names![ending "14___rust_realloc"], AllocSize::Arg(3), RUST_DEALLOC_MANGLED),
    free("Rust release, mangled", names![ending "14___rust_dealloc"]),
    KnownFn {
        title: "copy, intrinsic",
        names: names![starting "llvm.memcpy.p" "llvm.memcpy.inline.p"],
        what: COPY,
        effects: COPIES,
        returns: None,
        floats: false,
    },
    KnownFn {
        title: "copy with overlap, intrinsic",
        names: names![starting "llvm.memmove.p"],
        what: MOVE,
        effects: COPIES,
        returns: None,
        floats: false,
    },
    KnownFn {
        title: "fill, intrinsic",
        names: names![starting "llvm.memset.p" "llvm.memset.inline.p"],
        what: SET,
        effects: FILLS,
        returns: None,
        floats: false,
    },
    KnownFn {
        title: "copy",
        names: names!["memcpy" "__memcpy_chk"],
        what: COPY,
        effects: COPIES,
        returns: Some(0),
        floats: false,
    },
    KnownFn {
        title: "copy with overlap",
        names: names!["memmove" "__memmove_chk"],
        what: MOVE,
        effects: COPIES,
        returns: Some(0),
        floats: false,
    },
    KnownFn {
        title: "fill",
        names: names!["memset" "__memset_chk"],
        what: SET,
        effects: FILLS,
        returns: Some(0),
        floats: false,
    },
    KnownFn {
        title: "copy, source first",
        names: names!["bcopy"],
        what: Known::MemMove { dst: 1, src: 0, len: 2 },
        effects: Effects { reads: Reach::Args(&[0]), writes: Reach::Args(&[1]), ..NOTHING },
        returns: None,
        floats: false,
    },
    KnownFn {
        title: "fill with zero",
        names: names!["bzero" "explicit_bzero" "__explicit_bzero_chk"],
        what: Known::MemSet { dst: 0, value: None, len: 1 },
        effects: FILLS,
        returns: None,
        floats: false,
    },
];
