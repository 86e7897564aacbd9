//! Help with LLVM's objects: what LLVM-C does not have (`core/llvm/bridge/helpers.cpp`).
//!
//! The references are the caller's to answer for; where one is of another kind than it has to be, that is told, and nothing changes.

use std::ffi::{c_char, c_uint};

use super::report::{Complaint, settle};
use super::types::*;

unsafe extern "C" {
    fn enz_help_alloca_type(value: LLVMValueRef) -> LLVMTypeRef;
    fn enz_help_scope_domain(name: *const c_char, context: LLVMContextRef) -> LLVMMetadataRef;
    fn enz_help_scope(domain: LLVMMetadataRef, name: *const c_char) -> LLVMMetadataRef;
    fn enz_help_extract(
        builder: LLVMBuilderRef,
        whole: LLVMValueRef,
        path: *const c_uint,
        size: usize,
        name: *const c_char,
    ) -> LLVMValueRef;
    fn enz_help_insert(
        builder: LLVMBuilderRef,
        whole: LLVMValueRef,
        part: LLVMValueRef,
        path: *const c_uint,
        size: usize,
        name: *const c_char,
    ) -> LLVMValueRef;
    fn enz_help_gep_offset(builder: LLVMBuilderRef, gep: LLVMValueRef, ty: LLVMTypeRef) -> LLVMValueRef;
    fn enz_help_copy_alignment(to: LLVMValueRef, from: LLVMValueRef) -> u8;
    fn enz_help_copy_metadata(to: LLVMValueRef, from: LLVMValueRef) -> u8;
    fn enz_help_take_name(to: LLVMValueRef, from: LLVMValueRef) -> u8;
    fn enz_help_move_before(moved: LLVMValueRef, place: LLVMValueRef, builder: LLVMBuilderRef) -> u8;
    fn enz_help_copy_place(to: LLVMValueRef, from: LLVMValueRef) -> u8;
    fn enz_help_set_metadata(value: LLVMValueRef, kind: *const c_char, metadata: LLVMValueRef) -> u8;
    fn enz_help_get_metadata(value: LLVMValueRef, kind: *const c_char) -> LLVMValueRef;
    fn enz_help_mark(value: LLVMValueRef, kind: *const c_char) -> u8;
    fn enz_help_array(ty: LLVMTypeRef, width: u64) -> LLVMTypeRef;
    fn enz_help_writable_tbaa(node: LLVMMetadataRef) -> LLVMMetadataRef;
    fn enz_help_set_called(call: LLVMValueRef, function: LLVMValueRef, removed: *const u64, count: usize) -> u8;
    fn enz_help_clone_without(
        function: LLVMValueRef,
        keep_result: u8,
        removed: *const u64,
        count: usize,
    ) -> LLVMValueRef;
    fn enz_help_dump_value(value: LLVMValueRef);
    fn enz_help_dump_type(ty: LLVMTypeRef);
    fn enz_help_dump_module(module: LLVMModuleRef);
}

fn wrong<T>(name: &str) -> Result<T, Complaint> {
    Err(Complaint::misuse(format!("{name}: what was given is null, of another kind, or does not fit")))
}

/// Functions that answer with a reference, or with null.
macro_rules! answers {
    ($($(#[$doc:meta])* $name:ident = $raw:ident($($param:ident: $ty:ty => $given:expr),*) -> $ret:ty;)+) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// The references are null or of LLVM-C; texts are null or end with a zero; arrays are as long as is said.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($param: $ty),*) -> $ret {
            settle(std::ptr::null_mut(), || {
                // SAFETY: by this function's contract.
                let answer: $ret = unsafe { $raw($($given),*) };
                if answer.is_null() { wrong(stringify!($name)) } else { Ok(answer) }
            })
        }
    )+};
}

/// Functions that change something.
macro_rules! changes {
    ($($(#[$doc:meta])* $name:ident = $raw:ident($($param:ident: $ty:ty => $given:expr),*);)+) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// The references are null or of LLVM-C; texts are null or end with a zero; arrays are as long as is said.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($param: $ty),*) {
            // SAFETY: by this function's contract.
            settle((), || match unsafe { $raw($($given),*) } {
                0 => wrong(stringify!($name)),
                _ => Ok(()),
            });
        }
    )+};
}

answers! {
    /// The type of what a stack slot holds.
    EnzymeAllocaType = enz_help_alloca_type(V: LLVMValueRef => V) -> LLVMTypeRef;
    /// A new domain of alias scopes.
    EnzymeAnonymousAliasScopeDomain =
        enz_help_scope_domain(str: *const c_char => str, ctx: LLVMContextRef => ctx) -> LLVMMetadataRef;
    /// A new alias scope of a domain.
    EnzymeAnonymousAliasScope =
        enz_help_scope(domain: LLVMMetadataRef => domain, str: *const c_char => str) -> LLVMMetadataRef;
    /// Builds an `extractvalue` of several indices.
    EnzymeBuildExtractValue = enz_help_extract(
        B: LLVMBuilderRef => B, AggVal: LLVMValueRef => AggVal, Index: *mut c_uint => Index, Size: c_uint => Size as usize,
        Name: *const c_char => Name) -> LLVMValueRef;
    /// Builds an `insertvalue` of several indices.
    EnzymeBuildInsertValue = enz_help_insert(
        B: LLVMBuilderRef => B, AggVal: LLVMValueRef => AggVal, EltVal: LLVMValueRef => EltVal, Index: *mut c_uint => Index,
        Size: c_uint => Size as usize, Name: *const c_char => Name) -> LLVMValueRef;
    /// As `EnzymeBuildInsertValue`.
    EnzymeInsertValue = enz_help_insert(
        B: LLVMBuilderRef => B, val: LLVMValueRef => val, val2: LLVMValueRef => val2, sz: *mut c_uint => sz,
        length: i64 => usize::try_from(length).unwrap_or(0), name: *const c_char => name) -> LLVMValueRef;
    /// Computes the distance in bytes that a `getelementptr` goes, as an integer of type `T_r`.
    EnzymeComputeByteOffsetOfGEP = enz_help_gep_offset(
        B_r: LLVMBuilderRef => B_r, V_r: LLVMValueRef => V_r, T_r: LLVMTypeRef => T_r) -> LLVMValueRef;
    /// A node of TBAA of the same type, whose memory may be written.
    EnzymeMakeNonConstTBAA = enz_help_writable_tbaa(MD: LLVMMetadataRef => MD) -> LLVMMetadataRef;
    /// A clone of a function without its result unless `keepReturnU`, and without the parameters at `argrem`, numbers that grow. It takes
    /// the function's name, and says in attributes what it lost.
    EnzymeCloneFunctionWithoutReturnOrArgs = enz_help_clone_without(
        FC: LLVMValueRef => FC, keepReturnU: u8 => keepReturnU, argrem: *mut i64 => argrem.cast(),
        num_argrem: i64 => usize::try_from(num_argrem).unwrap_or(0)) -> LLVMValueRef;
}

changes! {
    /// Gives a load, store or stack slot the alignment of another.
    EnzymeCopyAlignment = enz_help_copy_alignment(inst1: LLVMValueRef => inst1, inst2: LLVMValueRef => inst2);
    /// Gives an instruction the metadata of another.
    EnzymeCopyMetadata = enz_help_copy_metadata(inst1: LLVMValueRef => inst1, inst2: LLVMValueRef => inst2);
    /// Moves the name of `inst2` to `inst1`.
    EnzymeTakeName = enz_help_take_name(inst1: LLVMValueRef => inst1, inst2: LLVMValueRef => inst2);
    /// Moves `inst1` before `inst2`. A builder that stands before `inst1` stays behind.
    EnzymeMoveBefore = enz_help_move_before(inst1: LLVMValueRef => inst1, inst2: LLVMValueRef => inst2, B: LLVMBuilderRef => B);
    /// Gives an instruction or a global metadata of a kind; takes it away if `Val` is null.
    EnzymeSetStringMD =
        enz_help_set_metadata(Inst: LLVMValueRef => Inst, Kind: *const c_char => Kind, Val: LLVMValueRef => Val);
    /// Lets a call call another function, without the arguments at `argrem`, numbers that grow.
    EnzymeSetCalledFunction = enz_help_set_called(
        C_CI: LLVMValueRef => C_CI, C_F: LLVMValueRef => C_F, argrem: *mut i64 => argrem.cast(),
        num_argrem: i64 => usize::try_from(num_argrem).unwrap_or(0));
}

/// The type of a shadow for so many lanes: `[width x T]`, or `T` for one.
///
/// # Safety
///
/// The reference is null or of LLVM-C.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeGetShadowType(width: u64, T: LLVMTypeRef) -> LLVMTypeRef {
    // SAFETY: by this function's contract.
    settle(std::ptr::null_mut(), || Ok(unsafe { enz_help_array(T, width) }))
}

/// Marks an instruction whose value is to be kept for the reverse sweep. What is kept is decided by cost: nothing looks at the mark.
///
/// # Safety
///
/// The reference is null or of LLVM-C.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeSetMustCache(inst1: LLVMValueRef) {
    // SAFETY: by this function's contract.
    settle((), || match unsafe { enz_help_mark(inst1, c"enzyme_mustcache".as_ptr()) } {
        0 => wrong("EnzymeSetMustCache"),
        _ => Ok(()),
    });
}

/// The metadata of a kind that an instruction or a global has; null if it has none.
///
/// # Safety
///
/// The references are null or of LLVM-C; texts are null or end with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeGetStringMD(Inst: LLVMValueRef, Kind: *const c_char) -> LLVMValueRef {
    // SAFETY: by this function's contract.
    settle(std::ptr::null_mut(), || Ok(unsafe { enz_help_get_metadata(Inst, Kind) }))
}

/// Whether an allocation is marked to have been on the stack.
///
/// # Safety
///
/// The reference is null or of LLVM-C.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeHasFromStack(inst1: LLVMValueRef) -> u8 {
    // SAFETY: by this function's contract.
    settle(0, || Ok(u8::from(!unsafe { enz_help_get_metadata(inst1, c"enzyme_fromstack".as_ptr()) }.is_null())))
}

/// Gives an instruction of a rule the place in the source of one of the call.
///
/// # Safety
///
/// The references are null or of LLVM-C.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeGradientUtilsSetDebugLocFromOriginal(
    gutils: EnzymeGradientUtilsRef,
    val: LLVMValueRef,
    orig: LLVMValueRef,
) {
    settle((), || {
        crate::handles::get(gutils)?;
        // SAFETY: by this function's contract.
        match unsafe { enz_help_copy_place(val, orig) } {
            0 => wrong("EnzymeGradientUtilsSetDebugLocFromOriginal"),
            _ => Ok(()),
        }
    });
}

/// Prints a module to standard error.
///
/// # Safety
///
/// The reference is null or of LLVM-C.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeDumpModuleRef(M: LLVMModuleRef) {
    // SAFETY: by this function's contract.
    unsafe { enz_help_dump_module(M) };
}

/// Prints a value to standard error.
///
/// # Safety
///
/// The reference is null or of LLVM-C.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeDumpValueRef(M: LLVMValueRef) {
    // SAFETY: by this function's contract.
    unsafe { enz_help_dump_value(M) };
}

/// Prints a type to standard error.
///
/// # Safety
///
/// The reference is null or of LLVM-C.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeDumpTypeRef(M: LLVMTypeRef) {
    // SAFETY: by this function's contract.
    unsafe { enz_help_dump_type(M) };
}
