//! Handlers: functions that write the derivative of a call of some name.
//!
//! They are registered for the process, as the reference's are. A request lets them write rules for the functions that it reaches
//! (`core/llvm/bridge/handlers.cpp` says how).

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use enzyme_llvm::compiler::{Allocate, Augment, Forward, Handler, Handles, Loan, Raw, Release, Reverse, RuleRef, Uses};

use super::gradient::Rule;
use super::report::{Complaint, settle};
use super::types::*;
use crate::handles::{Object, free, keep, lock};

static HANDLERS: Mutex<BTreeMap<String, Handler>> = Mutex::new(BTreeMap::new());
static VERSION: AtomicU64 = AtomicU64::new(0);

/// Grows whenever a handler is registered: what was made before may be made otherwise.
pub fn version() -> u64 {
    VERSION.load(Ordering::Relaxed)
}

/// # Safety
///
/// `name` is null or ends with a zero.
unsafe fn read_name(name: *const c_char) -> Result<String, Complaint> {
    if name.is_null() {
        return Err(Complaint::misuse("the name of the handler is null"));
    }
    // SAFETY: by this function's contract.
    let name = unsafe { CStr::from_ptr(name) }.to_str().map_err(|_| Complaint::misuse("the name is not UTF-8"))?;
    Ok(name.to_owned())
}

fn register(name: String, set: impl FnOnce(&mut Handler)) {
    let mut handlers = lock(&HANDLERS);
    let handler = handlers.entry(name.clone()).or_insert_with(|| Handler { name, ..Handler::default() });
    set(handler);
    VERSION.fetch_add(1, Ordering::Relaxed);
}

/// Registers what writes the augmented and the reverse part of calls of functions with this name, or with this text in the
/// attribute `enzyme_math`.
///
/// # Safety
///
/// `Name` is null or ends with a zero. The callbacks write valid code, and do not return by a jump.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeRegisterCallHandler(
    Name: *const c_char,
    FwdHandle: CustomAugmentedFunctionForward,
    RevHandle: CustomFunctionReverse,
) {
    settle((), || {
        // SAFETY: by this function's contract.
        let name = unsafe { read_name(Name) }?;
        let (Some(forward), Some(reverse)) = (FwdHandle, RevHandle) else {
            return Err(Complaint::misuse("one of the callbacks is null"));
        };
        // SAFETY: references of LLVM-C and handles are addresses.
        let augmented: Augment = unsafe { std::mem::transmute(forward) };
        // SAFETY: as above.
        let reverse: Reverse = unsafe { std::mem::transmute(reverse) };
        register(name, |h| (h.augmented, h.reverse) = (Some(augmented), Some(reverse)));
        Ok(())
    });
}

/// Registers what writes the tangent of calls of functions with this name, or with this text in the attribute `enzyme_math`.
///
/// # Safety
///
/// As for `EnzymeRegisterCallHandler`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeRegisterFwdCallHandler(Name: *const c_char, FwdHandle: CustomFunctionForward) {
    settle((), || {
        // SAFETY: by this function's contract.
        let name = unsafe { read_name(Name) }?;
        let handle = FwdHandle.ok_or_else(|| Complaint::misuse("the callback is null"))?;
        // SAFETY: references of LLVM-C and handles are addresses.
        let forward: Forward = unsafe { std::mem::transmute(handle) };
        register(name, |h| h.forward = Some(forward));
        Ok(())
    });
}

/// Registers what says which values the reverse part of a call handler uses. It is asked when that part is written; a rule gets all
/// arguments of its call, so its answer changes nothing.
///
/// # Safety
///
/// As for `EnzymeRegisterCallHandler`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeRegisterDiffUseCallHandler(Name: *const c_char, Handle: CustomFunctionDiffUse) {
    settle((), || {
        // SAFETY: by this function's contract.
        let name = unsafe { read_name(Name) }?;
        let handle = Handle.ok_or_else(|| Complaint::misuse("the callback is null"))?;
        // SAFETY: references of LLVM-C and handles are addresses.
        let uses: Uses = unsafe { std::mem::transmute(handle) };
        register(name, |h| h.uses = Some(uses));
        Ok(())
    });
}

/// Registers what writes the shadow of memory that functions of this name return, from the arguments of their call, and fills it with
/// zeros; and what writes its release where the memory is freed. Without the second it is freed as the memory is.
///
/// # Safety
///
/// As for `EnzymeRegisterCallHandler`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeRegisterAllocationHandler(
    Name: *const c_char,
    AHandle: CustomShadowAlloc,
    FHandle: CustomShadowFree,
) {
    settle((), || {
        // SAFETY: by this function's contract.
        let name = unsafe { read_name(Name) }?;
        let allocate = AHandle.ok_or_else(|| Complaint::misuse("the callback is null"))?;
        // SAFETY: references of LLVM-C and handles are addresses.
        let allocate: Allocate = unsafe { std::mem::transmute(allocate) };
        // SAFETY: as above.
        let release: Option<Release> = unsafe { std::mem::transmute(FHandle) };
        register(name, |h| (h.allocate, h.release) = (Some(allocate), release));
        Ok(())
    });
}

/// Puts rules into the table of handles while their callbacks run.
struct Table {
    logic: EnzymeLogicRef,
}

impl Handles for Table {
    fn enter(&mut self, rule: RuleRef) -> Raw {
        keep::<EnzymeOpaqueGradientUtils>(Object::Gradient(Rule { rule, logic: self.logic.addr() })).cast()
    }

    fn leave(&mut self, handle: Raw) {
        free(handle.cast::<EnzymeOpaqueGradientUtils>());
    }
}

/// Lets the handlers write rules into the copy of a module.
pub fn write(loan: &mut Loan, logic: EnzymeLogicRef) -> Result<(), Complaint> {
    let handlers: Vec<Handler> = lock(&HANDLERS).values().cloned().collect();
    if handlers.is_empty() {
        return Ok(());
    }
    // SAFETY: who registered the callbacks answers for them.
    unsafe { loan.write_rules(&handlers, &mut Table { logic }) }.map_err(|why| Complaint::new(ET_NO_DERIVATIVE, why))
}
