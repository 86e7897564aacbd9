//! The few functions of LLVM-C that are called from here.

use std::ffi::{c_char, c_uint};

use super::types::{LLVMContextRef, LLVMMetadataRef, LLVMTypeRef, LLVMValueRef};

/// `LLVMPointerTypeKind`.
const POINTER: c_uint = 12;
/// `LLVMVoidTypeKind`.
const VOID: c_uint = 0;

unsafe extern "C" {
    fn LLVMGetTypeKind(ty: LLVMTypeRef) -> c_uint;
    fn LLVMTypeOf(value: LLVMValueRef) -> LLVMTypeRef;
    fn LLVMIsAFunction(value: LLVMValueRef) -> LLVMValueRef;
    fn LLVMGlobalGetValueType(value: LLVMValueRef) -> LLVMTypeRef;
    fn LLVMGetReturnType(ty: LLVMTypeRef) -> LLVMTypeRef;
    fn LLVMGetLastParam(function: LLVMValueRef) -> LLVMValueRef;
    fn LLVMMDStringInContext2(context: LLVMContextRef, text: *const c_char, len: usize) -> LLVMMetadataRef;
    fn LLVMMDNodeInContext2(context: LLVMContextRef, parts: *mut LLVMMetadataRef, count: usize) -> LLVMMetadataRef;
    fn LLVMValueAsMetadata(value: LLVMValueRef) -> LLVMMetadataRef;
    fn LLVMMetadataAsValue(context: LLVMContextRef, metadata: LLVMMetadataRef) -> LLVMValueRef;
    fn LLVMInt32TypeInContext(context: LLVMContextRef) -> LLVMTypeRef;
    fn LLVMConstInt(ty: LLVMTypeRef, n: u64, sign_extend: i32) -> LLVMValueRef;
    fn LLVMIsAMDNode(value: LLVMValueRef) -> LLVMValueRef;
    fn LLVMGetMDString(value: LLVMValueRef, len: *mut c_uint) -> *const c_char;
    fn LLVMGetMDNodeNumOperands(value: LLVMValueRef) -> c_uint;
    fn LLVMGetMDNodeOperands(value: LLVMValueRef, out: *mut LLVMValueRef);
    fn LLVMIsAConstantInt(value: LLVMValueRef) -> LLVMValueRef;
    fn LLVMConstIntGetSExtValue(value: LLVMValueRef) -> i64;
}

/// Whether a type is that of tapes.
///
/// # Safety
///
/// `ty` is null or a type of LLVM-C.
pub unsafe fn is_tape(ty: LLVMTypeRef) -> bool {
    // SAFETY: it is not null, so it is a type.
    !ty.is_null() && unsafe { LLVMGetTypeKind(ty) } == POINTER
}

/// Whether a value is a function without result.
///
/// # Safety
///
/// `value` is null or a value of LLVM-C.
pub unsafe fn returns_nothing(value: LLVMValueRef) -> bool {
    // SAFETY: it is not null, so it is a value.
    if value.is_null() || unsafe { LLVMIsAFunction(value) }.is_null() {
        return false;
    }
    // SAFETY: it is a function.
    let ty = unsafe { LLVMGlobalGetValueType(value) };
    // SAFETY: it is the type of a function.
    let ret = unsafe { LLVMGetReturnType(ty) };
    // SAFETY: functions return types.
    unsafe { LLVMGetTypeKind(ret) == VOID }
}

/// The type of the last parameter; null if there is none.
///
/// # Safety
///
/// `function` is a function of LLVM-C.
pub unsafe fn last_parameter(function: LLVMValueRef) -> LLVMTypeRef {
    // SAFETY: by this function's contract.
    let last = unsafe { LLVMGetLastParam(function) };
    // SAFETY: it is not null, so it is a parameter.
    if last.is_null() { std::ptr::null_mut() } else { unsafe { LLVMTypeOf(last) } }
}

/// A text as metadata.
///
/// # Safety
///
/// `context` is a context of LLVM-C.
pub unsafe fn text(context: LLVMContextRef, text: &str) -> LLVMMetadataRef {
    // SAFETY: by this function's contract; the text is borrowed for the call.
    unsafe { LLVMMDStringInContext2(context, text.as_ptr().cast(), text.len()) }
}

/// A number as metadata.
///
/// # Safety
///
/// `context` is a context of LLVM-C.
pub unsafe fn number(context: LLVMContextRef, n: i64) -> LLVMMetadataRef {
    // SAFETY: by this function's contract.
    let ty = unsafe { LLVMInt32TypeInContext(context) };
    // SAFETY: it is the type of an integer.
    let value = unsafe { LLVMConstInt(ty, n.cast_unsigned(), 1) };
    // SAFETY: it is a constant.
    unsafe { LLVMValueAsMetadata(value) }
}

/// A node of metadata.
///
/// # Safety
///
/// `context` is a context of LLVM-C, and `parts` are metadata in it.
pub unsafe fn node(context: LLVMContextRef, parts: &mut [LLVMMetadataRef]) -> LLVMMetadataRef {
    // SAFETY: by this function's contract.
    unsafe { LLVMMDNodeInContext2(context, parts.as_mut_ptr(), parts.len()) }
}

/// Metadata as a value.
///
/// # Safety
///
/// `context` is a context of LLVM-C, and `metadata` is metadata in it.
pub unsafe fn as_value(context: LLVMContextRef, metadata: LLVMMetadataRef) -> LLVMValueRef {
    // SAFETY: by this function's contract.
    unsafe { LLVMMetadataAsValue(context, metadata) }
}

/// The operands of a node of metadata; none for other values.
///
/// # Safety
///
/// `value` is null or a value of LLVM-C.
pub unsafe fn operands(value: LLVMValueRef) -> Vec<LLVMValueRef> {
    // SAFETY: it is not null, so it is a value.
    if value.is_null() || unsafe { LLVMIsAMDNode(value) }.is_null() {
        return Vec::new();
    }
    // SAFETY: it is a node.
    let count = unsafe { LLVMGetMDNodeNumOperands(value) } as usize;
    let mut out = vec![std::ptr::null_mut(); count];
    // SAFETY: there is room for all operands.
    unsafe { LLVMGetMDNodeOperands(value, out.as_mut_ptr()) };
    out
}

/// The text that metadata is.
///
/// # Safety
///
/// `value` is null or a value of LLVM-C.
pub unsafe fn as_text(value: LLVMValueRef) -> Option<String> {
    let mut len = 0;
    if value.is_null() {
        return None;
    }
    // SAFETY: it is a value; the place for the length is valid.
    let data = unsafe { LLVMGetMDString(value, &raw mut len) };
    if data.is_null() {
        return None;
    }
    // SAFETY: LLVM says that so many bytes are there.
    let bytes = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), len as usize) };
    Some(String::from_utf8_lossy(bytes).into_owned())
}

/// The number that a constant is.
///
/// # Safety
///
/// `value` is null or a value of LLVM-C.
pub unsafe fn as_number(value: LLVMValueRef) -> Option<i64> {
    // SAFETY: it is not null, so it is a value.
    if value.is_null() || unsafe { LLVMIsAConstantInt(value) }.is_null() {
        return None;
    }
    // SAFETY: it is an integer.
    Some(unsafe { LLVMConstIntGetSExtValue(value) })
}
