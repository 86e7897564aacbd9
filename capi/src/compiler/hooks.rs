//! Variables that compilers set: hooks, which are addresses of functions, and options, whose addresses they pass to
//! `EnzymeSetCLBool` and kin.
//!
//! They are the only settings of the process, because the reference's are: a request for a compiler reads them when it is made.
//! `CustomErrorHandler` is called; the other hooks are kept and not called, see docs/capi.md. Options of which `WORKS` says
//! nothing are kept and without effect.

use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicI64, Ordering};

use enzyme_llvm::Options;

use super::report::{Complaint, settle};
use super::types::CustomErrorHandlerFunction;

/// A hook that is kept: whatever its function takes.
pub type Hook = Option<unsafe extern "C-unwind" fn()>;

/// Called with what goes wrong: the message, the value it is about, an `ErrorType`, null, the value again, and a builder if one was
/// given with the request. What it returns is not used.
#[unsafe(no_mangle)]
pub static mut CustomErrorHandler: CustomErrorHandlerFunction = None;

macro_rules! hooks {
    ($($name:ident)+) => {$(
        /// Kept, not called.
        #[unsafe(no_mangle)]
        pub static mut $name: Hook = None;
    )+};
}

hooks! {
    CustomAllocator CustomDeallocator CustomRuntimeInactiveError CustomZero EnzymeDefaultTapeType EnzymeFixupReturn
    EnzymePostCacheStore EnzymeSanitizeDerivatives EnzymeShadowAllocRewrite EnzymeUndefinedValueForType
}

/// The handler of errors, if one is set.
pub fn error_handler() -> CustomErrorHandlerFunction {
    // SAFETY: compilers set it before they call anything.
    unsafe { (&raw const CustomErrorHandler).read_volatile() }
}

/// Whether memory is to come from a function that the compiler writes calls of.
pub fn wants_own_memory() -> bool {
    // SAFETY: as above.
    unsafe { (&raw const CustomAllocator).read_volatile().is_some() }
}

/// An option; its address is its name.
#[repr(C)]
pub struct EnzymeOption {
    value: AtomicI64,
}

macro_rules! options {
    ($($name:ident = $default:literal;)+) => {
        $(
            /// An option: give its address to `EnzymeSetCLBool` and kin.
            #[unsafe(no_mangle)]
            pub static $name: EnzymeOption = EnzymeOption { value: AtomicI64::new($default) };
        )+
        static ALL: &[&EnzymeOption] = &[$(&$name),+];
    };
}

options! {
    EnzymeFastMath = 0;
    EnzymeInline = 0;
    EnzymeJuliaAddrLoad = 0;
    EnzymeMaxTypeDepth = 6;
    EnzymeMemmoveWarning = 1;
    EnzymeNameInstructions = 1;
    EnzymeNonPower2Cache = 0;
    EnzymePrint = 0;
    EnzymePrintActivity = 0;
    EnzymePrintDiffUse = 0;
    EnzymePrintPerf = 0;
    EnzymePrintType = 0;
    EnzymePrintUnnecessary = 0;
    EnzymeStrictAliasing = 1;
    EnzymeTypeWarning = 1;
    EnzymeZeroCache = 0;
    MaxTypeOffset = 500;
    looseTypeAnalysis = 0;
}

fn is_on(option: &EnzymeOption) -> bool {
    option.value.load(Ordering::Relaxed) != 0
}

/// The largest offset and the greatest depth that type trees keep.
pub fn tree_limits() -> (i64, usize) {
    let depth = EnzymeMaxTypeDepth.value.load(Ordering::Relaxed).clamp(0, 64);
    (MaxTypeOffset.value.load(Ordering::Relaxed).max(0), depth as usize)
}

/// What is set now, for a request.
pub fn options() -> Options {
    Options {
        fast_math: is_on(&EnzymeFastMath),
        print: is_on(&EnzymePrint),
        print_type: is_on(&EnzymePrintType),
        print_activity: is_on(&EnzymePrintActivity),
        print_perf: is_on(&EnzymePrintPerf),
        print_plan: is_on(&EnzymePrintUnnecessary),
        ..Options::default()
    }
}

fn find(option: *const c_void) -> Result<&'static EnzymeOption, Complaint> {
    let found = ALL.iter().find(|known| std::ptr::eq::<EnzymeOption>(**known, option.cast()));
    found.copied().ok_or_else(|| Complaint::misuse("this is the address of no option of this library"))
}

/// Sets an option that is on or off.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeSetCLBool(option: *mut c_void, value: u8) {
    EnzymeSetCLInteger(option, i64::from(value != 0));
}

/// Whether an option is on.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeGetCLBool(option: *mut c_void) -> u8 {
    u8::from(EnzymeGetCLInteger(option) != 0)
}

/// Sets an option that is a number.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeSetCLInteger(option: *mut c_void, value: i64) {
    settle((), || {
        find(option)?.value.store(value, Ordering::Relaxed);
        Ok(())
    });
}

/// What number an option is.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeGetCLInteger(option: *mut c_void) -> i64 {
    settle(0, || Ok(find(option)?.value.load(Ordering::Relaxed)))
}

/// Sets an option that is a text; there is none in this library.
///
/// # Safety
///
/// `value` is null or ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeSetCLString(option: *mut c_void, value: *const c_char) {
    settle((), || {
        find(option)?;
        if value.is_null() {
            return Err(Complaint::misuse("the value of the option is null"));
        }
        // SAFETY: by this function's contract.
        let text = unsafe { CStr::from_ptr(value) }.to_string_lossy();
        Err(Complaint::misuse(format!("this option is no text: it cannot be '{text}'")))
    });
}
