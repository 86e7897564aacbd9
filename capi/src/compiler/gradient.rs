//! What a handler asks while it writes the derivative of a call: the `EnzymeGradientUtils` functions.
//!
//! The handle that a callback gets is one of a rule, a small function of its own (`core/llvm/bridge/gradient.cpp`). It ends with the
//! callback. The rule knows the parameters of the call, its result, and constants; anything else is told as an error, and
//! answered with null. There is one lane: several are several calls of the rule.

use std::ffi::{c_char, c_uint, c_void};

use enzyme_core::trees::{Concrete, Limits, TypeTree};
use enzyme_llvm::compiler::{Raw, RuleRef, concrete};

use super::logic;
use super::report::{Complaint, settle};
use super::trees::{give_text, keep_tree};
use super::types::*;
use crate::handles::get;

/// A rule that is being written.
#[derive(Clone, Copy)]
pub struct Rule {
    pub rule: RuleRef,
    /// The handle of the engine that asked for it.
    pub logic: usize,
}

fn rule(gutils: EnzymeGradientUtilsRef) -> Result<RuleRef, Complaint> {
    Ok(get(gutils)?.rule)
}

fn present(answer: Option<Raw>, what: &str) -> Result<Raw, Complaint> {
    answer.filter(|raw| !raw.is_null()).ok_or_else(|| Complaint::misuse(what))
}

fn builder(given: LLVMBuilderRef) -> Result<Raw, Complaint> {
    if given.is_null() { Err(Complaint::misuse("the builder is null")) } else { Ok(given.cast()) }
}

fn done(answer: Option<u8>, what: &str) -> Result<(), Complaint> {
    if answer == Some(1) { Ok(()) } else { Err(Complaint::misuse(what)) }
}

const FOREIGN: &str = "this value is no part of the call that the handler is for";

/// The number of lanes: 1, since a rule is called for each.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeGradientUtilsGetWidth(gutils: EnzymeGradientUtilsRef) -> u64 {
    settle(1, || rule(gutils).map(|_| 1))
}

/// Which part is written: `DEM_ForwardMode`, `DEM_ReverseModePrimal` (augmented) or `DEM_ReverseModeGradient`.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeGradientUtilsGetMode(gutils: EnzymeGradientUtilsRef) -> CDerivativeMode {
    // SAFETY: the handle is there, so the callback runs.
    settle(DEM_FORWARD_MODE, || Ok(unsafe { rule(gutils)?.mode() }.unwrap_or(DEM_FORWARD_MODE)))
}

/// The engine.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeGradientUtilsGetLogic(gutils: EnzymeGradientUtilsRef) -> EnzymeLogicRef {
    settle(std::ptr::null_mut(), || Ok(std::ptr::without_provenance_mut(get(gutils)?.logic)))
}

/// The address that the compiler keeps with the engine.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeGradientUtilsGetExternalContext(gutils: EnzymeGradientUtilsRef) -> *mut c_void {
    settle(std::ptr::null_mut(), || logic::external(std::ptr::without_provenance_mut(get(gutils)?.logic)))
}

/// 0: which memory has a shadow is known when the handler is asked to write for it.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeGradientUtilsGetRuntimeActivity(gutils: EnzymeGradientUtilsRef) -> u8 {
    settle(0, || rule(gutils).map(|_| 0))
}

/// 0: what a rule computes is what it is written to.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeGradientUtilsGetStrongZero(gutils: EnzymeGradientUtilsRef) -> u8 {
    settle(0, || rule(gutils).map(|_| 0))
}

/// 0: one thread adds to adjoints.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeGradientUtilsGetAtomicAdd(gutils: EnzymeGradientUtilsRef) -> u8 {
    settle(0, || rule(gutils).map(|_| 0))
}

/// The type of a shadow: `T` itself, in one lane.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeGradientUtilsGetShadowType(
    gutils: EnzymeGradientUtilsRef,
    T: LLVMTypeRef,
) -> LLVMTypeRef {
    settle(std::ptr::null_mut(), || rule(gutils).map(|_| T))
}

/// Where a value of the call is in the function at hand: a parameter, the result, or a constant.
///
/// # Safety
///
/// `val` is null or a value of LLVM-C; so for the functions below.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeGradientUtilsNewFromOriginal(
    gutils: EnzymeGradientUtilsRef,
    val: LLVMValueRef,
) -> LLVMValueRef {
    // SAFETY: the handle is there, so the callback runs.
    settle(std::ptr::null_mut(), || Ok(present(unsafe { rule(gutils)?.primal(val.cast()) }, FOREIGN)?.cast()))
}

/// Says where a value of the call is from here on.
///
/// # Safety
///
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeReplaceOriginalToNew(
    gutils: EnzymeGradientUtilsRef,
    origC: LLVMValueRef,
    repC: LLVMValueRef,
) {
    settle((), || {
        if origC.is_null() || repC.is_null() {
            return Err(Complaint::misuse("a value is null"));
        }
        // SAFETY: the handle is there, so the callback runs.
        unsafe { rule(gutils)?.map(origC.cast(), repC.cast()) };
        Ok(())
    });
}

/// A value of the function at hand, where it is used: itself.
///
/// # Safety
///
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeGradientUtilsLookup(
    gutils: EnzymeGradientUtilsRef,
    val: LLVMValueRef,
    B: LLVMBuilderRef,
) -> LLVMValueRef {
    let _ = B;
    settle(std::ptr::null_mut(), || {
        let what = "only values of the function at hand can be looked up: keep others on the tape";
        // SAFETY: the handle is there, so the callback runs.
        Ok(present(unsafe { rule(gutils)?.lookup(val.cast()) }, what)?.cast())
    })
}

/// The shadow of an address, or the tangent of a number.
///
/// # Safety
///
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeGradientUtilsInvertPointer(
    gutils: EnzymeGradientUtilsRef,
    val: LLVMValueRef,
    B: LLVMBuilderRef,
) -> LLVMValueRef {
    let _ = B;
    settle(std::ptr::null_mut(), || {
        let what = "this value has no shadow: ask EnzymeGradientUtilsIsConstantValue first";
        // SAFETY: the handle is there, so the callback runs.
        Ok(present(unsafe { rule(gutils)?.shadow(val.cast()) }, what)?.cast())
    })
}

/// The adjoint of a parameter, or of the call.
///
/// # Safety
///
/// As above; `B` is null or a builder of LLVM-C.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeGradientUtilsDiffe(
    gutils: EnzymeGradientUtilsRef,
    val: LLVMValueRef,
    B: LLVMBuilderRef,
) -> LLVMValueRef {
    settle(std::ptr::null_mut(), || {
        let b = builder(B)?;
        let what = "this value has no adjoint here: numbers of the call have one in the reverse part";
        // SAFETY: the handle is there, so the callback runs.
        Ok(present(unsafe { rule(gutils)?.adjoint(val.cast(), b) }, what)?.cast())
    })
}

const NO_ADJOINT: &str =
    "this value has no adjoint of this type here: numbers of the call have one in the reverse part";

/// Adds to the adjoint of a parameter. `T` is not used: the type of `diffe` is.
///
/// # Safety
///
/// As above; `B` is null or a builder of LLVM-C.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeGradientUtilsAddToDiffe(
    gutils: EnzymeGradientUtilsRef,
    val: LLVMValueRef,
    diffe: LLVMValueRef,
    B: LLVMBuilderRef,
    T: LLVMTypeRef,
) {
    let _ = T;
    settle((), || {
        let b = builder(B)?;
        // SAFETY: the handle is there, so the callback runs.
        done(unsafe { rule(gutils)?.add_adjoint(val.cast(), diffe.cast(), b) }, NO_ADJOINT)
    });
}

/// Sets the adjoint of a parameter, or of the call.
///
/// # Safety
///
/// As above; `B` is null or a builder of LLVM-C.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeGradientUtilsSetDiffe(
    gutils: EnzymeGradientUtilsRef,
    val: LLVMValueRef,
    diffe: LLVMValueRef,
    B: LLVMBuilderRef,
) {
    settle((), || {
        let b = builder(B)?;
        // SAFETY: the handle is there, so the callback runs.
        done(unsafe { rule(gutils)?.set_adjoint(val.cast(), diffe.cast(), b) }, NO_ADJOINT)
    });
}

/// # Safety
///
/// The references are null or of LLVM-C.
unsafe fn add_to_memory(
    gutils: EnzymeGradientUtilsRef,
    pointer: LLVMValueRef,
    value: LLVMValueRef,
    B: LLVMBuilderRef,
    align: c_uint,
    whole: bool,
) -> Result<(), Complaint> {
    if !whole {
        return Err(Complaint::misuse(
            "only a whole number is added to memory, without a mask and from its first byte on",
        ));
    }
    let b = builder(B)?;
    let what = "a number is added to the shadow of an address of the call that has one";
    // SAFETY: the handle is there, so the callback runs.
    done(unsafe { rule(gutils)?.add_to_memory(pointer.cast(), value.cast(), b, align) }, what)
}

/// Adds a number to what the shadow of an address points to. `mask` is null and `start` 0; `orig`, `origVal`, `addingType` and `size` are
/// not used: the type of `dif` is.
///
/// # Safety
///
/// As above; `B` is null or a builder of LLVM-C.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeGradientUtilsAddToInvertedPointerDiffe(
    gutils: EnzymeGradientUtilsRef,
    orig: LLVMValueRef,
    origVal: LLVMValueRef,
    addingType: LLVMTypeRef,
    start: c_uint,
    size: c_uint,
    origptr: LLVMValueRef,
    dif: LLVMValueRef,
    BuilderM: LLVMBuilderRef,
    align: c_uint,
    mask: LLVMValueRef,
) {
    let _ = (orig, origVal, addingType, size);
    let whole = mask.is_null() && start == 0;
    // SAFETY: by this function's contract.
    settle((), || unsafe { add_to_memory(gutils, origptr, dif, BuilderM, align, whole) });
}

/// As `EnzymeGradientUtilsAddToInvertedPointerDiffe`, with a type tree, which is not used.
///
/// # Safety
///
/// As above; `B` is null or a builder of LLVM-C.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeGradientUtilsAddToInvertedPointerDiffeTT(
    gutils: EnzymeGradientUtilsRef,
    orig: LLVMValueRef,
    origVal: LLVMValueRef,
    vd: CTypeTreeRef,
    LoadSize: c_uint,
    origptr: LLVMValueRef,
    prediff: LLVMValueRef,
    BuilderM: LLVMBuilderRef,
    align: c_uint,
    premask: LLVMValueRef,
) {
    let _ = (orig, origVal, vd, LoadSize);
    // SAFETY: by this function's contract.
    settle((), || unsafe { add_to_memory(gutils, origptr, prediff, BuilderM, align, premask.is_null()) });
}

fn is_constant(gutils: EnzymeGradientUtilsRef, val: LLVMValueRef) -> Result<bool, Complaint> {
    // SAFETY: the handle is there, so the callback runs; the value is the caller's to answer for.
    match unsafe { rule(gutils)?.is_constant(val.cast()) } {
        Some(0) => Ok(false),
        Some(1) => Ok(true),
        _ => Err(Complaint::misuse(FOREIGN)),
    }
}

/// Whether a value of the call has no derivative.
///
/// # Safety
///
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeGradientUtilsIsConstantValue(
    gutils: EnzymeGradientUtilsRef,
    val: LLVMValueRef,
) -> u8 {
    settle(0, || is_constant(gutils, val).map(u8::from))
}

/// 0: a handler is asked for calls that matter.
///
/// # Safety
///
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeGradientUtilsIsConstantInstruction(
    gutils: EnzymeGradientUtilsRef,
    val: LLVMValueRef,
) -> u8 {
    let _ = val;
    settle(0, || rule(gutils).map(|_| 0))
}

/// # Safety
///
/// `val` is null or a value of LLVM-C.
unsafe fn activity(gutils: EnzymeGradientUtilsRef, val: LLVMValueRef) -> Result<CDIFFE_TYPE, Complaint> {
    if is_constant(gutils, val)? {
        return Ok(DFT_CONSTANT);
    }
    // SAFETY: the handle is there, so the callback runs.
    let forward = unsafe { rule(gutils)?.mode() } == Some(DEM_FORWARD_MODE);
    // SAFETY: by this function's contract.
    let pointer = unsafe { concrete(val.cast()) } == Concrete::Pointer.number();
    Ok(if forward || pointer { DFT_DUP_ARG } else { DFT_OUT_DIFF })
}

/// What a value of the call is to its derivative.
///
/// # Safety
///
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeGradientUtilsGetDiffeType(
    gutils: EnzymeGradientUtilsRef,
    oval: LLVMValueRef,
    foreignFunction: u8,
) -> CDIFFE_TYPE {
    let _ = foreignFunction;
    // SAFETY: by this function's contract.
    settle(DFT_CONSTANT, || unsafe { activity(gutils, oval) })
}

/// What the result of the call is to its derivative, and whether the result and its shadow are wanted.
///
/// # Safety
///
/// As above; `needsPrimal` and `needsShadow` are null or places for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeGradientUtilsGetReturnDiffeType(
    gutils: EnzymeGradientUtilsRef,
    oval: LLVMValueRef,
    needsPrimal: *mut u8,
    needsShadow: *mut u8,
    mode: CDerivativeMode,
) -> CDIFFE_TYPE {
    settle(DFT_CONSTANT, || {
        // SAFETY: by this function's contract.
        let activity = unsafe { activity(gutils, oval) }?;
        // SAFETY: by this function's contract; values without a type of bytes are results that are nothing.
        let is_value = unsafe { concrete(oval.cast()) } != Concrete::Unknown.number();
        let wants =
            [(needsPrimal, is_value && mode != DEM_REVERSE_MODE_GRADIENT), (needsShadow, activity == DFT_DUP_ARG)];
        for (place, wanted) in wants {
            if !place.is_null() {
                // SAFETY: by this function's contract.
                unsafe { place.write(u8::from(wanted)) };
            }
        }
        Ok(activity)
    })
}

/// Which arguments of the call may be overwritten later: all, going backward. Whether there is an answer.
///
/// # Safety
///
/// `data` is null or has room for `size` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeGradientUtilsGetUncacheableArgs(
    gutils: EnzymeGradientUtilsRef,
    orig: LLVMValueRef,
    data: *mut u8,
    size: u64,
) -> u8 {
    let _ = orig;
    settle(0, || {
        // SAFETY: the handle is there, so the callback runs.
        if unsafe { rule(gutils)?.mode() } == Some(DEM_FORWARD_MODE) {
            return Ok(0);
        }
        let size = usize::try_from(size).map_err(|_| Complaint::misuse("so many arguments there are not"))?;
        if data.is_null() && size > 0 {
            return Err(Complaint::misuse("the place for the answer is null"));
        }
        for n in 0..size {
            // SAFETY: by this function's contract.
            unsafe { data.add(n).write(1) };
        }
        Ok(1)
    })
}

/// What the type of a value says, as a tree.
///
/// # Safety
///
/// `val` is a value of LLVM-C.
unsafe fn tree_of(val: LLVMValueRef) -> TypeTree {
    // SAFETY: by this function's contract.
    let ty = Concrete::from_number(unsafe { concrete(val.cast()) }).unwrap_or(Concrete::Unknown);
    TypeTree::of(ty).only(-1, Limits::default())
}

/// What is known of the bytes of a value, which is what its type says. Free it with `EnzymeFreeTypeTree`.
///
/// # Safety
///
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeGradientUtilsAllocAndGetTypeTree(
    gutils: EnzymeGradientUtilsRef,
    val: LLVMValueRef,
) -> CTypeTreeRef {
    settle(std::ptr::null_mut(), || {
        rule(gutils)?;
        if val.is_null() {
            return Err(Complaint::misuse("the value is null"));
        }
        // SAFETY: it is not null, so it is a value.
        Ok(keep_tree(unsafe { tree_of(val) }))
    })
}

/// The block for stack slots.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeGradientUtilsAllocationBlock(gutils: EnzymeGradientUtilsRef) -> LLVMBasicBlockRef {
    // SAFETY: the handle is there, so the callback runs.
    settle(std::ptr::null_mut(), || Ok(present(unsafe { rule(gutils)?.entry() }, FOREIGN)?.cast()))
}

/// A new block behind `block`. `forkCache` and `push` are not used: there is one function at hand.
///
/// # Safety
///
/// `block` is null or a block of LLVM-C; `name` is null or ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeGradientUtilsAddReverseBlock(
    gutils: EnzymeGradientUtilsRef,
    block: LLVMBasicBlockRef,
    name: *const c_char,
    forkCache: u8,
    push: u8,
) -> LLVMBasicBlockRef {
    let _ = (forkCache, push);
    settle(std::ptr::null_mut(), || {
        let what = "the block is one of another function";
        // SAFETY: the handle is there, so the callback runs.
        Ok(present(unsafe { rule(gutils)?.new_block(block.cast(), name) }, what)?.cast())
    })
}

/// Says in which block the reverse part ends; without it, where the builder is left.
///
/// # Safety
///
/// `block` is null or a block of LLVM-C.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeGradientUtilsSetReverseBlock(
    gutils: EnzymeGradientUtilsRef,
    block: LLVMBasicBlockRef,
) {
    settle((), || {
        // SAFETY: the handle is there, so the callback runs.
        unsafe { rule(gutils)?.set_last(block.cast()) };
        Ok(())
    });
}

/// Erases an instruction of the function at hand that nothing uses.
///
/// # Safety
///
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeGradientUtilsErase(gutils: EnzymeGradientUtilsRef, I: LLVMValueRef) {
    settle((), || {
        let what = "only an instruction of the function at hand that nothing uses can be erased";
        // SAFETY: the handle is there, so the callback runs.
        done(unsafe { rule(gutils)?.erase(I.cast()) }, what)
    });
}

/// Puts a value in the place of an instruction of the function at hand.
///
/// # Safety
///
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeGradientUtilsReplaceAWithB(
    gutils: EnzymeGradientUtilsRef,
    A: LLVMValueRef,
    B: LLVMValueRef,
) {
    settle((), || {
        let what = "only an instruction of the function at hand can be replaced, by a value of its type";
        // SAFETY: the handle is there, so the callback runs.
        done(unsafe { rule(gutils)?.replace(A.cast(), B.cast()) }, what)
    });
}

/// Emits a call of `func`. Calls with operand bundles are refused.
///
/// # Safety
///
/// The references are null or of LLVM-C; `args` is null or points to `args_size` values.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeGradientUtilsCallWithInvertedBundles(
    gutils: EnzymeGradientUtilsRef,
    func: LLVMValueRef,
    funcTy: LLVMTypeRef,
    args: *mut LLVMValueRef,
    args_size: u64,
    orig: LLVMValueRef,
    valTys: *mut CValueType,
    valTys_size: u64,
    B: LLVMBuilderRef,
    lookup: u8,
) -> LLVMValueRef {
    let _ = (valTys, valTys_size, lookup);
    settle(std::ptr::null_mut(), || {
        let b = builder(B)?;
        let size = usize::try_from(args_size).map_err(|_| Complaint::misuse("so many arguments there are not"))?;
        if args.is_null() && size > 0 {
            return Err(Complaint::misuse("the arguments are null"));
        }
        let what = "the arguments do not fit the function, or the call has operand bundles";
        // SAFETY: the handle is there, so the callback runs; by this function's contract.
        let call = unsafe { rule(gutils)?.call(func.cast(), funcTy.cast(), args.cast(), size, orig.cast(), b) };
        Ok(present(call, what)?.cast())
    })
}

/// The shadows that are known, as text; free it with `EnzymeStringFree`.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeGradientUtilsInvertedPointersToString(gutils: EnzymeGradientUtilsRef) -> *const c_char {
    // SAFETY: the handle is there, so the callback runs.
    settle(std::ptr::null(), || Ok(give_text(&unsafe { rule(gutils)?.describe() }).cast_const()))
}
