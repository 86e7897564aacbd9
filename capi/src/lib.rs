//! `libEnzyme-22`: the C ABI, for programs and languages without a compiler plugin.
//!
//! A module of LLVM IR comes in as bytes, a derivative is asked for by name, and what comes out is a module, or an address to call
//! by way of a JIT. `include/enzyme/enzyme.h` is made from this crate by cbindgen.
//!
//! Rules of the interface. Handles are numbers that are looked up (see `handles`): null, freed and made-up ones are errors. Every pointer
//! is checked for null. Out-parameters come last, and are written only on success; the error comes behind them, is written
//! only on failure, and may be null. Nothing unwinds into C. Calls may come from any thread; those with the same object
//! wait for each other. Settings belong to contexts, none to the process.
//!
//! Not handled here: see `enzyme_core::named` for functions that cannot be asked for by name.

#![allow(non_snake_case, reason = "the library's file name is what programs link")]

/// cbindgen:ignore
mod compiler;
mod error;
mod handles;
mod types;

use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use enzyme_core::library;
use enzyme_core::named::{Activity, Named};
use enzyme_llvm::tools::OwnedModule;

use error::{Failure, Item};
use handles::{Object, Settings, free, get, keep, lock};
pub use types::*;

/// Runs `work`; what goes wrong, panics included, becomes an error object and a status.
fn guard(error: *mut *mut EnzymeError, work: impl FnOnce() -> Result<(), Failure>) -> EnzymeStatus {
    let failure = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return EnzymeStatus::Ok,
        Ok(Err(failure)) => failure,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            Failure::internal(text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unknown cause"))
        }
    };
    let status = failure.status;
    if !error.is_null() {
        let handle = keep(Object::Error(Arc::new(failure)));
        // SAFETY: the caller passes null or a place for a handle.
        unsafe { error.write(handle) };
    }
    status
}

fn place<T>(out: *mut T, what: &str) -> Result<*mut T, Failure> {
    if out.is_null() { Err(Failure::misuse(format!("the place for the {what} is null"))) } else { Ok(out) }
}

/// Text of the caller's.
fn text(given: *const c_char, what: &str) -> Result<String, Failure> {
    if given.is_null() {
        return Err(Failure::misuse(format!("the {what} is null")));
    }
    // SAFETY: by the interface's rules it is null or ends with a zero.
    let text = unsafe { CStr::from_ptr(given) };
    text.to_str().map(str::to_owned).map_err(|_| Failure::misuse(format!("the {what} is not UTF-8")))
}

/// The caller's bytes. More than any object has are a number that was never set.
///
/// # Safety
///
/// `data` is null or points to `size` bytes, which are not written to while the result lives.
unsafe fn bytes<'a>(data: *const c_void, size: usize) -> Result<&'a [u8], Failure> {
    if data.is_null() {
        return Err(Failure::misuse("the data is null"));
    }
    if size > isize::MAX as usize {
        return Err(Failure::misuse(format!("the data cannot have {size} bytes")));
    }
    // SAFETY: by this function's contract, and there may be so many.
    Ok(unsafe { std::slice::from_raw_parts(data.cast::<u8>(), size) })
}

/// The version of the interface that this library has; compare it with `ENZYME_ABI_VERSION` of the header.
#[unsafe(no_mangle)]
pub extern "C" fn enzyme_abi_version() -> u32 {
    ENZYME_ABI_VERSION
}

/// The version of this library, as text.
#[unsafe(no_mangle)]
pub extern "C" fn enzyme_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// Makes a context. `abi_version` is `ENZYME_ABI_VERSION` of the header that the caller was compiled with.
///
/// # Safety
///
/// `context` and `error` are null or places for handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn enzyme_context_new(
    abi_version: u32,
    context: *mut *mut EnzymeContext,
    error: *mut *mut EnzymeError,
) -> EnzymeStatus {
    guard(error, || {
        let out = place(context, "context")?;
        if abi_version != ENZYME_ABI_VERSION {
            return Err(Failure::misuse(format!(
                "the header is of version {abi_version} of the interface, this library has version {ENZYME_ABI_VERSION}"
            )));
        }
        let handle = keep(Object::Context(Arc::new(Mutex::new(Settings::default()))));
        // SAFETY: it is not null, so it is a place for a handle.
        unsafe { out.write(handle) };
        Ok(())
    })
}

/// Frees a context. Modules and code made with it stay. Null and freed handles are ignored, here and in the functions like this one.
#[unsafe(no_mangle)]
pub extern "C" fn enzyme_context_free(context: *mut EnzymeContext) {
    free(context);
}

/// Sets an option of the plugin's, by its name without dashes: `enzyme_context_set(context, "enzyme-max-tape", "16M", &error)`.
///
/// # Safety
///
/// `name` and `value` are null or end with a zero; `error` is null or a place for a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn enzyme_context_set(
    context: *mut EnzymeContext,
    name: *const c_char,
    value: *const c_char,
    error: *mut *mut EnzymeError,
) -> EnzymeStatus {
    guard(error, || {
        let settings = get(context)?;
        let (name, value) = (text(name, "name of the option")?, text(value, "value of the option")?);
        lock(&settings).options.set(&name, &value).map_err(Failure::misuse)
    })
}

/// Reads a module, bitcode or text, from `size` bytes at `data`, which are copied.
///
/// # Safety
///
/// `data` is null or points to `size` bytes; `module` and `error` are null or places for handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn enzyme_module_read(
    context: *mut EnzymeContext,
    data: *const c_void,
    size: usize,
    module: *mut *mut EnzymeModule,
    error: *mut *mut EnzymeError,
) -> EnzymeStatus {
    guard(error, || {
        get(context)?;
        let out = place(module, "module")?;
        // SAFETY: by this function's contract.
        let bytes = unsafe { bytes(data, size) }?;
        let read = OwnedModule::from_bytes(bytes).map_err(|e| Failure::malformed(e.message))?;
        // SAFETY: it is not null, so it is a place for a handle.
        unsafe { out.write(keep_module(read)) };
        Ok(())
    })
}

fn keep_module(module: OwnedModule) -> *mut EnzymeModule {
    keep(Object::Module(Arc::new(Mutex::new(module))))
}

/// Frees a module.
#[unsafe(no_mangle)]
pub extern "C" fn enzyme_module_free(module: *mut EnzymeModule) {
    free(module);
}

/// Copies the first `capacity` bytes of `bytes` to `buffer` and writes how many there are to `size`.
///
/// # Safety
///
/// `buffer` is null or has room for `capacity` bytes; `size` is null or valid.
unsafe fn give(bytes: &[u8], buffer: *mut c_void, capacity: usize, size: *mut usize) -> Result<(), Failure> {
    let size = place(size, "size")?;
    if !buffer.is_null() {
        // SAFETY: by this function's contract.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), buffer.cast::<u8>(), bytes.len().min(capacity)) };
    }
    // SAFETY: it is not null, so it is valid.
    unsafe { size.write(bytes.len()) };
    Ok(())
}

/// The module as bitcode: up to `capacity` bytes of it go to `buffer`, which may be null, and its size to `size`.
///
/// # Safety
///
/// `buffer` is null or has room for `capacity` bytes; `size` is null or valid; `error` is null or a place for a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn enzyme_module_bitcode(
    module: *const EnzymeModule,
    buffer: *mut c_void,
    capacity: usize,
    size: *mut usize,
    error: *mut *mut EnzymeError,
) -> EnzymeStatus {
    guard(error, || {
        let bytes = lock(&*get(module)?).bitcode();
        // SAFETY: by this function's contract.
        unsafe { give(&bytes, buffer, capacity, size) }
    })
}

/// The module as text, as `enzyme_module_bitcode`; no zero follows.
///
/// # Safety
///
/// As for `enzyme_module_bitcode`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn enzyme_module_text(
    module: *const EnzymeModule,
    buffer: *mut c_void,
    capacity: usize,
    size: *mut usize,
    error: *mut *mut EnzymeError,
) -> EnzymeStatus {
    guard(error, || {
        let text = lock(&*get(module)?).text();
        // SAFETY: by this function's contract.
        unsafe { give(text.as_bytes(), buffer, capacity, size) }
    })
}

fn activity(raw: u32) -> Result<Activity, Failure> {
    [Activity::ByType, Activity::Const, Activity::Active, Activity::NoNeed]
        .get(raw as usize)
        .copied()
        .ok_or_else(|| Failure::misuse(format!("{raw} is no activity")))
}

/// Reads a request of any version: what an older caller does not have is zero.
///
/// # Safety
///
/// `request` is null, or what the interface says.
unsafe fn read_request(request: *const EnzymeRequest) -> Result<Named, Failure> {
    const LEAST: usize = std::mem::offset_of!(EnzymeRequest, width);
    /// More activities than that are a number that was never set.
    const MOST_PARAMETERS: usize = 1 << 16;
    if request.is_null() {
        return Err(Failure::misuse("the request is null"));
    }
    // SAFETY: it is not null, and begins with its size.
    let size = unsafe { (&raw const (*request).size).read() };
    if !(LEAST..=4096).contains(&size) {
        return Err(Failure::misuse(format!(
            "the request says that it has {size} bytes: set its first field to its size"
        )));
    }
    let mut whole = std::mem::MaybeUninit::<EnzymeRequest>::zeroed();
    let known = size.min(size_of::<EnzymeRequest>());
    // SAFETY: the request has `size` bytes, and `whole` has room for those that are copied.
    unsafe { std::ptr::copy_nonoverlapping(request.cast::<u8>(), whole.as_mut_ptr().cast::<u8>(), known) };
    // SAFETY: any bytes are a value of this type of numbers and raw pointers.
    let r = unsafe { whole.assume_init() };
    let function = text(r.function, "name of the function")?;
    let forward = match r.mode {
        m if m == EnzymeMode::Gradient as u32 => false,
        m if m == EnzymeMode::Tangent as u32 => true,
        other => return Err(Failure::misuse(format!("{other} is no mode"))),
    };
    if r.flags & !(ENZYME_WITH_VALUE | ENZYME_RUNTIME_ACTIVITY | ENZYME_STRONG_ZERO) != 0 {
        return Err(Failure::misuse(format!("the flags {:#x} have bits without meaning", r.flags)));
    }
    let params = match r.num_activities {
        0 => Vec::new(),
        _ if r.activities.is_null() => return Err(Failure::misuse("the activities are null")),
        n if n > MOST_PARAMETERS => return Err(Failure::misuse(format!("no function has {n} parameters"))),
        // SAFETY: by the interface's rules there are so many.
        n => unsafe { std::slice::from_raw_parts(r.activities, n) }
            .iter()
            .map(|a| activity(*a))
            .collect::<Result<_, _>>()?,
    };
    let name = match r.name.is_null() {
        true => format!("{function}{}", if forward { "_tangent" } else { "_gradient" }),
        false => text(r.name, "name of the derivative")?,
    };
    Ok(Named {
        function,
        name,
        forward,
        params,
        width: r.width.max(1),
        value: r.flags & ENZYME_WITH_VALUE != 0,
        runtime_activity: r.flags & ENZYME_RUNTIME_ACTIVITY != 0,
        strong_zero: r.flags & ENZYME_STRONG_ZERO != 0,
    })
}

/// A copy of `module` with the derivative that is wanted, or with those that its markers ask for.
fn derive(
    context: *mut EnzymeContext,
    module: *const EnzymeModule,
    wanted: impl FnOnce() -> Result<Option<Named>, Failure>,
    derivative: *mut *mut EnzymeModule,
) -> Result<(), Failure> {
    let options = lock(&*get(context)?).options.clone();
    let given = get(module)?;
    let out = place(derivative, "derivative")?;
    let wanted = wanted()?;
    let copy = lock(&given).bitcode();
    let mut copy = OwnedModule::from_bytes(&copy).map_err(|e| Failure::internal(&e.message))?;
    library::replace(&mut copy, wanted.as_slice(), &options).map_err(|told| Failure::refused(&told))?;
    // SAFETY: it is not null, so it is a place for a handle.
    unsafe { out.write(keep_module(copy)) };
    Ok(())
}

/// Differentiates a function of `module`. `derivative` is a copy of the module that has the derivative, too; `module` stays as it is.
///
/// # Safety
///
/// `request` is null or a request, whose texts end with zeros and which has as many activities as it says; `derivative` and
/// `error` are null or places for handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn enzyme_differentiate(
    context: *mut EnzymeContext,
    module: *const EnzymeModule,
    request: *const EnzymeRequest,
    derivative: *mut *mut EnzymeModule,
    error: *mut *mut EnzymeError,
) -> EnzymeStatus {
    // SAFETY: by this function's contract.
    let wanted = || unsafe { read_request(request) }.map(Some);
    guard(error, || derive(context, module, wanted, derivative))
}

/// Replaces the marker calls (`__enzyme_autodiff` and kin) that a module has. `derivative` is a copy of the module that calls derivatives
/// in their place; `module` stays as it is. For languages whose calls need more than `enzyme_differentiate` can be told.
///
/// # Safety
///
/// `derivative` and `error` are null or places for handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn enzyme_replace_markers(
    context: *mut EnzymeContext,
    module: *const EnzymeModule,
    derivative: *mut *mut EnzymeModule,
    error: *mut *mut EnzymeError,
) -> EnzymeStatus {
    guard(error, || derive(context, module, || Ok(None), derivative))
}

/// Adds the definitions of another module, bitcode or text of `size` bytes at `data`, to `module`: run-time functions that derivatives call.
/// If it fails, `module` is of no more use.
///
/// # Safety
///
/// `data` is null or points to `size` bytes; `error` is null or a place for a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn enzyme_module_link(
    module: *mut EnzymeModule,
    data: *const c_void,
    size: usize,
    error: *mut *mut EnzymeError,
) -> EnzymeStatus {
    guard(error, || {
        let given = get(module)?;
        // SAFETY: by this function's contract.
        let bytes = unsafe { bytes(data, size) }?;
        lock(&given).link(bytes).map_err(Failure::malformed)
    })
}

/// Makes native code of a copy of `module`, optimised for this machine at `level`: 0 as it is; 1 as 2, with machine code that is
/// made in a fraction of the time and is slower; 2 or 3. What the module does not define is looked for in this process.
///
/// # Safety
///
/// `code` and `error` are null or places for handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn enzyme_compile(
    module: *const EnzymeModule,
    level: u32,
    code: *mut *mut EnzymeCode,
    error: *mut *mut EnzymeError,
) -> EnzymeStatus {
    guard(error, || {
        let given = get(module)?;
        let out = place(code, "code")?;
        let made = lock(&given).jit(level.min(3)).map_err(Failure::native)?;
        // SAFETY: it is not null, so it is a place for a handle.
        unsafe { out.write(keep(Object::Code(Arc::new(Mutex::new(made))))) };
        Ok(())
    })
}

/// The address of a function or variable, valid until the code is freed.
///
/// # Safety
///
/// `name` is null or ends with a zero; `address` is null or a place for an address; `error` is null or a place for a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn enzyme_code_address(
    code: *const EnzymeCode,
    name: *const c_char,
    address: *mut *mut c_void,
    error: *mut *mut EnzymeError,
) -> EnzymeStatus {
    guard(error, || {
        let code = get(code)?;
        let out = place(address, "address")?;
        let name = text(name, "name")?;
        let found = lock(&code).address(&name).map_err(Failure::native)?;
        // SAFETY: it is not null, so it is a place for an address.
        unsafe { out.write(std::ptr::with_exposed_provenance_mut(found)) };
        Ok(())
    })
}

/// Frees native code. None of it may be running, or be called again.
#[unsafe(no_mangle)]
pub extern "C" fn enzyme_code_free(code: *mut EnzymeCode) {
    free(code);
}

/// How the call ended that made this error; `EnzymeStatus_Misuse` for a handle that is none.
#[unsafe(no_mangle)]
pub extern "C" fn enzyme_error_status(error: *const EnzymeError) -> EnzymeStatus {
    get(error).map_or(EnzymeStatus::Misuse, |failure| failure.status)
}

/// How many items an error has; 0 for a handle that is none.
#[unsafe(no_mangle)]
pub extern "C" fn enzyme_error_count(error: *const EnzymeError) -> usize {
    get(error).map_or(0, |failure| failure.items.len())
}

/// A text of item `at`, which lives as long as the error; empty where there is none.
fn item_text(error: *const EnzymeError, at: usize, text: impl FnOnce(&Item) -> Option<&CStr>) -> *const c_char {
    let found = get(error).ok().and_then(|f| f.items.get(at).and_then(text).map(CStr::as_ptr));
    found.unwrap_or(c"".as_ptr())
}

fn item_number(error: *const EnzymeError, at: usize, number: impl FnOnce(&Item) -> u32) -> u32 {
    get(error).ok().and_then(|f| f.items.get(at).map(number)).unwrap_or(0)
}

/// The code of item `at`, as `E0201`; empty if it has none. Texts live as long as their error.
#[unsafe(no_mangle)]
pub extern "C" fn enzyme_error_code(error: *const EnzymeError, at: usize) -> *const c_char {
    item_text(error, at, |i| Some(&i.code))
}

/// What item `at` says.
#[unsafe(no_mangle)]
pub extern "C" fn enzyme_error_message(error: *const EnzymeError, at: usize) -> *const c_char {
    item_text(error, at, |i| Some(&i.message))
}

/// What to do about item `at`; empty if nothing is known.
#[unsafe(no_mangle)]
pub extern "C" fn enzyme_error_help(error: *const EnzymeError, at: usize) -> *const c_char {
    item_text(error, at, |i| Some(&i.help))
}

/// The function that item `at` is about; empty if not known.
#[unsafe(no_mangle)]
pub extern "C" fn enzyme_error_function(error: *const EnzymeError, at: usize) -> *const c_char {
    item_text(error, at, |i| Some(&i.function))
}

/// The source file that item `at` is about; empty if not known.
#[unsafe(no_mangle)]
pub extern "C" fn enzyme_error_file(error: *const EnzymeError, at: usize) -> *const c_char {
    item_text(error, at, |i| Some(&i.file))
}

/// The line, from 1, that item `at` is about; 0 if not known.
#[unsafe(no_mangle)]
pub extern "C" fn enzyme_error_line(error: *const EnzymeError, at: usize) -> u32 {
    item_number(error, at, |i| i.line)
}

/// The column, from 1, that item `at` is about; 0 if not known.
#[unsafe(no_mangle)]
pub extern "C" fn enzyme_error_column(error: *const EnzymeError, at: usize) -> u32 {
    item_number(error, at, |i| i.column)
}

/// How many notes item `at` has.
#[unsafe(no_mangle)]
pub extern "C" fn enzyme_error_note_count(error: *const EnzymeError, at: usize) -> usize {
    get(error).ok().and_then(|f| f.items.get(at).map(|i| i.notes.len())).unwrap_or(0)
}

/// Note `number` of item `at`: why.
#[unsafe(no_mangle)]
pub extern "C" fn enzyme_error_note(error: *const EnzymeError, at: usize, number: usize) -> *const c_char {
    item_text(error, at, |i| i.notes.get(number).map(std::ffi::CString::as_c_str))
}

/// Frees an error, and its texts.
#[unsafe(no_mangle)]
pub extern "C" fn enzyme_error_free(error: *mut EnzymeError) {
    free(error);
}
