//! What the compilers' interface speaks in: the references of LLVM-C, our handles, numbers of enumerations, and callbacks.
//!
//! Enumerations are numbers here, since C may pass any. Callbacks may unwind: what
//! they throw passes through.

#![allow(non_camel_case_types, non_snake_case, missing_docs, reason = "the names are the reference's")]

use std::ffi::{c_char, c_int, c_uint, c_void};

macro_rules! references {
    ($($opaque:ident $name:ident),+ $(,)?) => {$(
        #[repr(C)]
        pub struct $opaque {
            _hidden: [u8; 0],
        }
        pub type $name = *mut $opaque;
    )+};
}

references!(
    LLVMOpaqueValue LLVMValueRef, LLVMOpaqueType LLVMTypeRef, LLVMOpaqueBasicBlock LLVMBasicBlockRef,
    LLVMOpaqueBuilder LLVMBuilderRef, LLVMOpaqueContext LLVMContextRef, LLVMOpaqueModule LLVMModuleRef,
    LLVMOpaqueMetadata LLVMMetadataRef, LLVMOpaquePassManager LLVMPassManagerRef,
    EnzymeOpaqueLogic EnzymeLogicRef, EnzymeOpaqueTypeAnalysis EnzymeTypeAnalysisRef,
    EnzymeOpaqueAugmentedReturn EnzymeAugmentedReturnPtr, EnzymeOpaqueTypeAnalyzer EnzymeTypeAnalyzerRef,
    EnzymeOpaqueGradientUtils EnzymeGradientUtilsRef, EnzymeOpaqueTraceInterface EnzymeTraceInterfaceRef,
    EnzymeTypeTree CTypeTreeRef,
);

pub type CConcreteType = c_uint;
pub type CValueType = c_uint;
pub type CDIFFE_TYPE = c_uint;
pub type CBATCH_TYPE = c_uint;
pub type CDerivativeMode = c_uint;
pub type CProbProgMode = c_uint;
pub type ErrorType = c_uint;

pub const DFT_OUT_DIFF: CDIFFE_TYPE = 0;
pub const DFT_DUP_ARG: CDIFFE_TYPE = 1;
pub const DFT_CONSTANT: CDIFFE_TYPE = 2;
pub const DFT_DUP_NONEED: CDIFFE_TYPE = 3;

pub const BT_SCALAR: CBATCH_TYPE = 0;
pub const BT_VECTOR: CBATCH_TYPE = 1;

pub const DEM_FORWARD_MODE: CDerivativeMode = 0;
pub const DEM_REVERSE_MODE_GRADIENT: CDerivativeMode = 2;
pub const DEM_REVERSE_MODE_COMBINED: CDerivativeMode = 3;

pub const ET_NO_DERIVATIVE: ErrorType = 0;
pub const ET_NO_SHADOW: ErrorType = 1;
pub const ET_NO_TYPE: ErrorType = 3;
pub const ET_INTERNAL_ERROR: ErrorType = 5;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct IntList {
    pub data: *mut i64,
    pub size: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CFnTypeInfo {
    pub Arguments: *mut CTypeTreeRef,
    pub Return: CTypeTreeRef,
    pub KnownValues: *mut IntList,
}

pub type CustomRuleType = Option<
    unsafe extern "C-unwind" fn(c_int, CTypeTreeRef, *mut CTypeTreeRef, *mut IntList, usize, LLVMValueRef) -> u8,
>;
pub type CustomShadowAlloc = Option<
    unsafe extern "C-unwind" fn(
        LLVMBuilderRef,
        LLVMValueRef,
        usize,
        *mut LLVMValueRef,
        EnzymeGradientUtilsRef,
    ) -> LLVMValueRef,
>;
pub type CustomShadowFree = Option<unsafe extern "C-unwind" fn(LLVMBuilderRef, LLVMValueRef) -> LLVMValueRef>;
pub type CustomAugmentedFunctionForward = Option<
    unsafe extern "C-unwind" fn(
        LLVMBuilderRef,
        LLVMValueRef,
        EnzymeGradientUtilsRef,
        *mut LLVMValueRef,
        *mut LLVMValueRef,
        *mut LLVMValueRef,
    ) -> u8,
>;
pub type CustomFunctionReverse =
    Option<unsafe extern "C-unwind" fn(LLVMBuilderRef, LLVMValueRef, EnzymeGradientUtilsRef, LLVMValueRef)>;
pub type CustomFunctionForward = Option<
    unsafe extern "C-unwind" fn(
        LLVMBuilderRef,
        LLVMValueRef,
        EnzymeGradientUtilsRef,
        *mut LLVMValueRef,
        *mut LLVMValueRef,
    ) -> u8,
>;
pub type CustomFunctionDiffUse = Option<
    unsafe extern "C-unwind" fn(LLVMValueRef, EnzymeGradientUtilsRef, LLVMValueRef, u8, CDerivativeMode, *mut u8) -> u8,
>;
pub type CustomErrorHandlerFunction = Option<
    unsafe extern "C-unwind" fn(
        *const c_char,
        LLVMValueRef,
        ErrorType,
        *const c_void,
        LLVMValueRef,
        LLVMBuilderRef,
    ) -> LLVMValueRef,
>;
