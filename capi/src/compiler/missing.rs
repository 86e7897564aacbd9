//! What is not there, by name: each says so through `CustomErrorHandler` and returns null or 0. docs/capi.md lists them.
//!
//! And what has nothing to do here, because the engine finds it out by itself, which returns in silence.

use std::ffi::{c_char, c_void};

use super::report::missing;
use super::types::*;

/// Not there.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn AddPreserveNVVMPass(PM: LLVMPassManagerRef, Begin: u8) {
    let _ = PM;
    let _ = Begin;
    missing((), "AddPreserveNVVMPass");
}

/// Not there.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeAddAttributorLegacyPass(PM: LLVMPassManagerRef) {
    let _ = PM;
    missing((), "EnzymeAddAttributorLegacyPass");
}

/// Not there.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn RunAttributorOnModule(M0: LLVMModuleRef) {
    let _ = M0;
    missing((), "RunAttributorOnModule");
}

/// Not there.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn registerEnzymeAndPassPipeline(PB: *mut c_void, augment: u8) {
    let _ = PB;
    let _ = augment;
    missing((), "registerEnzymeAndPassPipeline");
}

/// Not there.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeAnalyzeTypes(
    TAR: EnzymeTypeAnalysisRef,
    CTI: CFnTypeInfo,
    F: LLVMValueRef,
) -> EnzymeTypeAnalyzerRef {
    let _ = TAR;
    let _ = CTI;
    let _ = F;
    missing(std::ptr::null_mut(), "EnzymeAnalyzeTypes")
}

/// Not there.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeTypeAnalyzerToString(src: EnzymeTypeAnalyzerRef) -> *mut c_char {
    let _ = src;
    missing(std::ptr::null_mut(), "EnzymeTypeAnalyzerToString")
}

/// Not there.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeTypeAnalyzerGetLogic(src: EnzymeTypeAnalyzerRef) -> EnzymeLogicRef {
    let _ = src;
    missing(std::ptr::null_mut(), "EnzymeTypeAnalyzerGetLogic")
}

/// Not there.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeGetTypeAnalysisFromTypeAnalyzer(TAR: EnzymeTypeAnalyzerRef) -> EnzymeTypeAnalysisRef {
    let _ = TAR;
    missing(std::ptr::null_mut(), "EnzymeGetTypeAnalysisFromTypeAnalyzer")
}

/// Not there.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeGradientUtilsTypeAnalyzer(G: EnzymeGradientUtilsRef) -> EnzymeTypeAnalyzerRef {
    let _ = G;
    missing(std::ptr::null_mut(), "EnzymeGradientUtilsTypeAnalyzer")
}

/// Not there.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeGradientUtilsDumpTypeResults(gutils: EnzymeGradientUtilsRef) {
    let _ = gutils;
    missing((), "EnzymeGradientUtilsDumpTypeResults");
}

/// Not there.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeGradientUtilsEraseWithPlaceholder(
    G: EnzymeGradientUtilsRef,
    I: LLVMValueRef,
    orig: LLVMValueRef,
    erase: u8,
) {
    let _ = G;
    let _ = I;
    let _ = orig;
    let _ = erase;
    missing((), "EnzymeGradientUtilsEraseWithPlaceholder");
}

/// Not there.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeGradientUtilsSubTransferHelper(
    gutils: EnzymeGradientUtilsRef,
    mode: CDerivativeMode,
    secretty: LLVMTypeRef,
    intrinsic: u64,
    dstAlign: u64,
    srcAlign: u64,
    offset: u64,
    dstConstant: u8,
    shadow_dst: LLVMValueRef,
    primal_dst: LLVMValueRef,
    srcConstant: u8,
    shadow_src: LLVMValueRef,
    primal_src: LLVMValueRef,
    length: LLVMValueRef,
    isVolatile: LLVMValueRef,
    MTI: LLVMValueRef,
    allowForward: u8,
    shadowsLookedUp: u8,
) {
    let _ = gutils;
    let _ = mode;
    let _ = secretty;
    let _ = intrinsic;
    let _ = dstAlign;
    let _ = srcAlign;
    let _ = offset;
    let _ = dstConstant;
    let _ = shadow_dst;
    let _ = primal_dst;
    let _ = srcConstant;
    let _ = shadow_src;
    let _ = primal_src;
    let _ = length;
    let _ = isVolatile;
    let _ = MTI;
    let _ = allowForward;
    let _ = shadowsLookedUp;
    missing((), "EnzymeGradientUtilsSubTransferHelper");
}

/// Not there.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeBitcodeReplacement(
    M: LLVMModuleRef,
    FncsNamesToIgnore: *mut *mut c_char,
    numFncNames: usize,
    foundP: *mut *mut *mut c_char,
    foundLen: *mut usize,
) -> u8 {
    let _ = M;
    let _ = FncsNamesToIgnore;
    let _ = numFncNames;
    let _ = foundP;
    let _ = foundLen;
    missing(0, "EnzymeBitcodeReplacement")
}

/// Not there.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeReplaceFunctionImplementation(M: LLVMModuleRef) {
    let _ = M;
    missing((), "EnzymeReplaceFunctionImplementation");
}

/// Not there.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeRemoveTrivialAtomicIncrements(F: LLVMValueRef) {
    let _ = F;
    missing((), "EnzymeRemoveTrivialAtomicIncrements");
}

/// Not there.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeSetForMemSet(I: LLVMValueRef) {
    let _ = I;
    missing((), "EnzymeSetForMemSet");
}

/// Not there.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeCloneFunctionDISubprogramInto(NF: LLVMValueRef, F: LLVMValueRef) {
    let _ = NF;
    let _ = F;
    missing((), "EnzymeCloneFunctionDISubprogramInto");
}

/// Not there.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeLowerSparsification(F: LLVMValueRef, replaceAll: u8) -> u8 {
    let _ = F;
    let _ = replaceAll;
    missing(0, "EnzymeLowerSparsification")
}

/// Not there.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn FindEnzymeStaticTraceInterface(M: LLVMModuleRef) -> EnzymeTraceInterfaceRef {
    let _ = M;
    missing(std::ptr::null_mut(), "FindEnzymeStaticTraceInterface")
}

/// Not there.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn CreateEnzymeStaticTraceInterface(
    C: LLVMContextRef,
    getTraceFunction: LLVMValueRef,
    getChoiceFunction: LLVMValueRef,
    insertCallFunction: LLVMValueRef,
    insertChoiceFunction: LLVMValueRef,
    insertArgumentFunction: LLVMValueRef,
    insertReturnFunction: LLVMValueRef,
    insertFunctionFunction: LLVMValueRef,
    insertChoiceGradientFunction: LLVMValueRef,
    insertArgumentGradientFunction: LLVMValueRef,
    newTraceFunction: LLVMValueRef,
    freeTraceFunction: LLVMValueRef,
    hasCallFunction: LLVMValueRef,
    hasChoiceFunction: LLVMValueRef,
) -> EnzymeTraceInterfaceRef {
    let _ = C;
    let _ = getTraceFunction;
    let _ = getChoiceFunction;
    let _ = insertCallFunction;
    let _ = insertChoiceFunction;
    let _ = insertArgumentFunction;
    let _ = insertReturnFunction;
    let _ = insertFunctionFunction;
    let _ = insertChoiceGradientFunction;
    let _ = insertArgumentGradientFunction;
    let _ = newTraceFunction;
    let _ = freeTraceFunction;
    let _ = hasCallFunction;
    let _ = hasChoiceFunction;
    missing(std::ptr::null_mut(), "CreateEnzymeStaticTraceInterface")
}

/// Not there.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn CreateEnzymeDynamicTraceInterface(
    interface: LLVMValueRef,
    F: LLVMValueRef,
) -> EnzymeTraceInterfaceRef {
    let _ = interface;
    let _ = F;
    missing(std::ptr::null_mut(), "CreateEnzymeDynamicTraceInterface")
}

/// Not there.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn FreeTraceInterface(Ref: EnzymeTraceInterfaceRef) {
    let _ = Ref;
    missing((), "FreeTraceInterface");
}

/// Not there.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeCreateTrace(
    Logic: EnzymeLogicRef,
    request_req: LLVMValueRef,
    request_ip: LLVMBuilderRef,
    totrace: LLVMValueRef,
    sample_functions: *mut LLVMValueRef,
    sample_functions_size: usize,
    observe_functions: *mut LLVMValueRef,
    observe_functions_size: usize,
    active_random_variables: *mut *const c_char,
    active_random_variables_size: usize,
    mode: CProbProgMode,
    autodiff: u8,
    interface: EnzymeTraceInterfaceRef,
) -> LLVMValueRef {
    let _ = Logic;
    let _ = request_req;
    let _ = request_ip;
    let _ = totrace;
    let _ = sample_functions;
    let _ = sample_functions_size;
    let _ = observe_functions;
    let _ = observe_functions_size;
    let _ = active_random_variables;
    let _ = active_random_variables_size;
    let _ = mode;
    let _ = autodiff;
    let _ = interface;
    missing(std::ptr::null_mut(), "EnzymeCreateTrace")
}

/// Nothing to do: the engine knows functions by their names.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeAttributeKnownFunctions(FC: LLVMValueRef) {
    let _ = FC;
}

/// Nothing to do: what functions write is found out when they are differentiated.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeDetectReadonlyOrThrow(M: LLVMModuleRef) {
    let _ = M;
}
