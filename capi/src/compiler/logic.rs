//! Derivatives made for compilers, in the modules that they hold.
//!
//! A logic remembers what it made: the same request gives the same function, as long as nobody erased it. Both halves of a split
//! derivative are made by the first request, so that they agree on the tape; the second request takes the other half.
//!
//! A tape that is left for another call (`freeMemory` 0) holds more, which the first request could not know: all functions are then made
//! again, and those of before call the new ones.
//!
//! Not handled, and refused: tangents from a tape, and memory from `CustomAllocator` where a derivative needs some.

use std::collections::HashMap;
use std::ffi::{c_uint, c_void};
use std::sync::Arc;

use enzyme_core::codes;
use enzyme_core::compiler::{self, Failed, Kind, Made, Part, Place, Wanted};
use enzyme_llvm::Told;
use enzyme_llvm::compiler::{self as lent, Loan, StatedBytes, Watched};

use super::hooks;
use super::report::{Complaint, begin, settle};
use super::rules;
use super::trees;
use super::types::*;
use crate::handles::{Object, free, get, keep, lock};

/// What compilers hold for an engine.
#[derive(Default)]
pub struct Logic {
    /// What the compiler keeps with it.
    external: usize,
    made: HashMap<Key, Entry>,
    /// Handles of augmented functions, which live as long as what was made.
    augmented: Vec<usize>,
}

impl Logic {
    fn clear(&mut self) {
        self.made.clear();
        for handle in self.augmented.drain(..) {
            free(std::ptr::without_provenance_mut::<EnzymeOpaqueAugmentedReturn>(handle));
        }
    }
}

impl Drop for Logic {
    fn drop(&mut self) {
        self.clear();
    }
}

/// A function, what is wanted of it, what is said of its parameters, and the settings of the process.
type Key = (usize, Wanted, Vec<StatedBytes>, String);

/// What a request gave.
struct Entry {
    of: Watched,
    functions: Vec<Watched>,
    /// The handle of the augmented function.
    augmented: usize,
}

/// A split derivative.
pub struct Augmented {
    wanted: Wanted,
    stated: Vec<StatedBytes>,
    of: Watched,
    functions: Vec<Watched>,
    places: [Place; 3],
}

/// Type analysis: there is one engine, which infers types by itself. Its rules are taken and not asked for.
pub struct Types {
    logic: usize,
}

fn part(raw: CDIFFE_TYPE) -> Result<Part, Complaint> {
    match raw {
        DFT_OUT_DIFF => Ok(Part::Out),
        DFT_DUP_ARG => Ok(Part::Dup),
        DFT_CONSTANT => Ok(Part::Const),
        DFT_DUP_NONEED => Ok(Part::NoNeed),
        _ => Err(Complaint::misuse(format!("{raw} is no activity"))),
    }
}

/// # Safety
///
/// `data` is null or points to `size` numbers.
unsafe fn parts(
    data: *const u32,
    size: usize,
    read: fn(u32) -> Result<Part, Complaint>,
) -> Result<Vec<Part>, Complaint> {
    if size == 0 {
        return Ok(Vec::new());
    }
    if data.is_null() {
        return Err(Complaint::misuse("the activities of the arguments are null"));
    }
    // SAFETY: by this function's contract.
    unsafe { std::slice::from_raw_parts(data, size) }.iter().map(|raw| read(*raw)).collect()
}

fn refused(told: &[Told]) -> Complaint {
    let texts: Vec<String> = told
        .iter()
        .map(|t| {
            let place = if t.line > 0 { format!("{}:{}:{}: ", t.file, t.line, t.column) } else { String::new() };
            format!("{place}{}", t.diagnostic.text())
        })
        .collect();
    let code = told.first().map_or("", |t| t.diagnostic.code);
    let kind = match code {
        c if c == codes::E0301.id => ET_NO_TYPE,
        c if c == codes::E0304.id || c == codes::E0305.id => ET_NO_SHADOW,
        c if c == codes::E0901.id => ET_INTERNAL_ERROR,
        _ => ET_NO_DERIVATIVE,
    };
    Complaint::new(kind, texts.join("\n"))
}

fn failed(failure: Failed) -> Complaint {
    match failure {
        Failed::Refused(told) => refused(&told),
        Failed::Unfit(report) => {
            Complaint::misuse(format!("[{}] {}\n  help: {}", report.code.id, report.message, report.code.help))
        }
    }
}

/// The functions of a request, made or remembered.
///
/// # Safety
///
/// `function` is null or a value of LLVM-C, in a module that nobody else uses meanwhile.
unsafe fn request(
    handle: EnzymeLogicRef,
    function: LLVMValueRef,
    wanted: Wanted,
    stated: Vec<StatedBytes>,
) -> Result<(Vec<LLVMValueRef>, usize), Complaint> {
    let logic = get(handle)?;
    let options = hooks::options();
    let key = (function.addr(), wanted.clone(), stated.clone(), format!("{options:?} {}", rules::version()));
    {
        let mut logic = lock(&logic);
        if let Some(entry) = logic.made.get(&key) {
            let alive: Vec<LLVMValueRef> = entry.functions.iter().map(|w| w.get().cast()).collect();
            if entry.of.get().cast() == function && alive.iter().all(|f| !f.is_null()) {
                return Ok((alive, entry.augmented));
            }
            logic.made.remove(&key);
        }
    }
    // SAFETY: by this function's contract.
    let mut loan = unsafe { Loan::take(function.cast()) }.map_err(Complaint::misuse)?;
    let root = loan.root();
    loan.state(&stated);
    rules::write(&mut loan, handle)?;
    let made: Made = loan.with_session(|session| compiler::make(session, &root, &wanted, &options)).map_err(failed)?;
    if hooks::wants_own_memory() && loan.allocates(&made.functions) {
        let why = "the derivative needs memory of its own, and CustomAllocator, which is set, is not asked for it yet";
        return Err(Complaint::new(ET_NO_DERIVATIVE, format!("'{root}': {why}")));
    }
    let functions = loan.give_back(&made.functions);
    let functions = functions.ok_or_else(|| Complaint::misuse("the derivative was lost, please report it"))?;
    // SAFETY: the value is alive, and so are those that were given back.
    let watch = |raw: *mut c_void| unsafe { Watched::new(raw) };
    let watched = || functions.iter().map(|f| watch(*f)).collect::<Vec<_>>();
    let augmented = if wanted.kind == Kind::Split {
        let made = Augmented { wanted, stated, of: watch(function.cast()), functions: watched(), places: made.places };
        keep::<EnzymeOpaqueAugmentedReturn>(Object::Augmented(Arc::new(made))).addr()
    } else {
        0
    };
    let mut logic = lock(&logic);
    logic.augmented.extend((augmented != 0).then_some(augmented));
    logic.made.insert(key, Entry { of: watch(function.cast()), functions: watched(), augmented });
    Ok((functions.into_iter().map(|f| f.cast()).collect(), augmented))
}

fn first(functions: &[LLVMValueRef]) -> Result<LLVMValueRef, Complaint> {
    functions.first().copied().ok_or_else(|| Complaint::misuse("nothing was made, please report it"))
}

/// Makes an engine. Optimisation of derivatives does not depend on `PostOpt`: they come optimised as the functions of a module
/// are at level 2.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn CreateEnzymeLogic(PostOpt: u8) -> EnzymeLogicRef {
    let _ = PostOpt;
    settle(std::ptr::null_mut(), || Ok(keep(Object::Logic(Arc::default()))))
}

/// Forgets what was made: the functions stay in their modules.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn ClearEnzymeLogic(Ref: EnzymeLogicRef) {
    settle((), || {
        lock(&*get(Ref)?).clear();
        Ok(())
    });
}

/// Does nothing: no prepared functions are left in modules.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeLogicErasePreprocessedFunctions(Ref: EnzymeLogicRef) {
    settle((), || get(Ref).map(|_| ()).map_err(Complaint::from));
}

/// Frees an engine, and the handles that it gave. Null and freed handles are ignored.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn FreeEnzymeLogic(Ref: EnzymeLogicRef) {
    settle((), || {
        free(Ref);
        Ok(())
    });
}

/// Keeps an address of the compiler's with an engine.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeLogicSetExternalContext(Ref: EnzymeLogicRef, ExternalContext: *mut c_void) {
    settle((), || {
        lock(&*get(Ref)?).external = ExternalContext.expose_provenance();
        Ok(())
    });
}

/// The address that the compiler keeps with an engine.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeLogicGetExternalContext(Ref: EnzymeLogicRef) -> *mut c_void {
    settle(std::ptr::null_mut(), || external(Ref))
}

/// The address that the compiler keeps with an engine.
pub fn external(logic: EnzymeLogicRef) -> Result<*mut c_void, Complaint> {
    Ok(std::ptr::with_exposed_provenance_mut(lock(&*get(logic)?).external))
}

/// Makes a type analysis. The engine infers types itself: rules for types are taken and not called.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn CreateTypeAnalysis(
    Log: EnzymeLogicRef,
    customRuleNames: *mut *mut std::ffi::c_char,
    customRules: *mut CustomRuleType,
    numRules: usize,
) -> EnzymeTypeAnalysisRef {
    settle(std::ptr::null_mut(), || {
        get(Log)?;
        if numRules > 0 && (customRuleNames.is_null() || customRules.is_null()) {
            return Err(Complaint::misuse("the rules for types are null"));
        }
        Ok(keep(Object::Types(Arc::new(Types { logic: Log.addr() }))))
    })
}

/// Forgets what a type analysis found, which is nothing here.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn ClearTypeAnalysis(TAR: EnzymeTypeAnalysisRef) {
    settle((), || get(TAR).map(|_| ()).map_err(Complaint::from));
}

/// Frees a type analysis. Null and freed handles are ignored.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn FreeTypeAnalysis(TAR: EnzymeTypeAnalysisRef) {
    settle((), || {
        free(TAR);
        Ok(())
    });
}

/// The engine of a type analysis.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeTypeAnalysisGetLogic(TAR: EnzymeTypeAnalysisRef) -> EnzymeLogicRef {
    settle(std::ptr::null_mut(), || Ok(std::ptr::without_provenance_mut(get(TAR)?.logic)))
}

/// Writes the forward derivative of `todiff` into its module. Its parameters are those of `todiff`, each that is duplicated followed by
/// its tangent, `[width x T]` for several lanes; it returns the value if `returnValue`, and the tangent if `retType` is
/// duplicated, both as a structure. Null if it is refused.
///
/// # Safety
///
/// `todiff` is null or a value of LLVM-C; `constant_args` is null or points to `constant_args_size` numbers. Its module and context are
/// used by nobody else meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeCreateForwardDiff(
    Logic: EnzymeLogicRef,
    request_req: LLVMValueRef,
    request_ip: LLVMBuilderRef,
    todiff: LLVMValueRef,
    retType: CDIFFE_TYPE,
    constant_args: *mut CDIFFE_TYPE,
    constant_args_size: usize,
    TA: EnzymeTypeAnalysisRef,
    returnValue: u8,
    mode: CDerivativeMode,
    freeMemory: u8,
    runtimeActivity: u8,
    strongZero: u8,
    width: c_uint,
    additionalArg: LLVMTypeRef,
    typeInfo: CFnTypeInfo,
    subsequent_calls_may_write: u8,
    _overwritten_args: *mut u8,
    overwritten_args_size: usize,
    augmented: EnzymeAugmentedReturnPtr,
) -> LLVMValueRef {
    let _ = (subsequent_calls_may_write, overwritten_args_size);
    begin();
    settle(std::ptr::null_mut(), || {
        let work = || {
            get(TA)?;
            if freeMemory == 0 {
                let why = "a tangent frees the shadow of what its function frees: freeMemory cannot be 0";
                return Err(Complaint::new(ET_NO_DERIVATIVE, why));
            }
            if mode != DEM_FORWARD_MODE || !augmented.is_null() || !additionalArg.is_null() {
                let why = "tangents from a tape (forward split mode) cannot be had this way";
                return Err(Complaint::new(ET_NO_DERIVATIVE, why));
            }
            let wanted = Wanted {
                kind: Kind::Forward,
                result: part(retType)?,
                // SAFETY: by this function's contract.
                params: unsafe { parts(constant_args, constant_args_size, part) }?,
                width,
                value: returnValue != 0,
                shadow: false,
                runtime_activity: runtimeActivity != 0,
                strong_zero: strongZero != 0,
                atomic: false,
                keeps: false,
            };
            // SAFETY: by this function's contract.
            let stated = unsafe { trees::stated(typeInfo.Arguments, constant_args_size) }?;
            // SAFETY: as above.
            first(&unsafe { request(Logic, todiff, wanted, stated) }?.0)
        };
        work().map_err(|c: Complaint| c.about(if request_req.is_null() { todiff } else { request_req }, request_ip))
    })
}

/// Writes the augmented function of `todiff`, which runs it and keeps what the reverse function needs on a tape, a pointer. Null if it is
/// refused. The handle lives as long as the engine, and until that is cleared.
///
/// # Safety
///
/// As for `EnzymeCreateForwardDiff`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeCreateAugmentedPrimal(
    Logic: EnzymeLogicRef,
    request_req: LLVMValueRef,
    request_ip: LLVMBuilderRef,
    todiff: LLVMValueRef,
    retType: CDIFFE_TYPE,
    constant_args: *mut CDIFFE_TYPE,
    constant_args_size: usize,
    TA: EnzymeTypeAnalysisRef,
    returnUsed: u8,
    shadowReturnUsed: u8,
    typeInfo: CFnTypeInfo,
    subsequent_calls_may_write: u8,
    _overwritten_args: *mut u8,
    overwritten_args_size: usize,
    _nowrite_shadows: *mut u8,
    nowrite_shadows_size: usize,
    forceAnonymousTape: u8,
    runtimeActivity: u8,
    strongZero: u8,
    width: c_uint,
    AtomicAdd: u8,
) -> EnzymeAugmentedReturnPtr {
    let _ = (subsequent_calls_may_write, overwritten_args_size, nowrite_shadows_size, forceAnonymousTape);
    begin();
    settle(std::ptr::null_mut(), || {
        let work = || {
            get(TA)?;
            let wanted = Wanted {
                kind: Kind::Split,
                result: part(retType)?,
                // SAFETY: by this function's contract.
                params: unsafe { parts(constant_args, constant_args_size, part) }?,
                width,
                value: returnUsed != 0,
                shadow: shadowReturnUsed != 0,
                runtime_activity: runtimeActivity != 0,
                strong_zero: strongZero != 0,
                atomic: AtomicAdd != 0,
                keeps: false,
            };
            // SAFETY: by this function's contract.
            let stated = unsafe { trees::stated(typeInfo.Arguments, constant_args_size) }?;
            // SAFETY: as above.
            let made = unsafe { request(Logic, todiff, wanted, stated) }?;
            Ok(std::ptr::without_provenance_mut(made.1))
        };
        work().map_err(|c: Complaint| c.about(if request_req.is_null() { todiff } else { request_req }, request_ip))
    })
}

/// Writes a reverse derivative of `todiff`. Its parameters are those of `todiff`, each that is duplicated followed by its shadow; then the
/// adjoint of the result if `retType` is `DFT_OUT_DIFF`; then, with `augmented` in mode `DEM_ReverseModeGradient`, the tape. It returns a
/// structure of the value, if `returnValue` in mode `DEM_ReverseModeCombined`, and the adjoint of each active parameter; nothing if
/// there are none. With `freeMemory` 0 it leaves the tape for another call; a combined derivative has none to leave. Null if it is
/// refused.
///
/// # Safety
///
/// As for `EnzymeCreateForwardDiff`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeCreatePrimalAndGradient(
    Logic: EnzymeLogicRef,
    request_req: LLVMValueRef,
    request_ip: LLVMBuilderRef,
    todiff: LLVMValueRef,
    retType: CDIFFE_TYPE,
    constant_args: *mut CDIFFE_TYPE,
    constant_args_size: usize,
    TA: EnzymeTypeAnalysisRef,
    returnValue: u8,
    dretUsed: u8,
    mode: CDerivativeMode,
    runtimeActivity: u8,
    strongZero: u8,
    width: c_uint,
    freeMemory: u8,
    additionalArg: LLVMTypeRef,
    forceAnonymousTape: u8,
    typeInfo: CFnTypeInfo,
    subsequent_calls_may_write: u8,
    _overwritten_args: *mut u8,
    overwritten_args_size: usize,
    augmented: EnzymeAugmentedReturnPtr,
    AtomicAdd: u8,
) -> LLVMValueRef {
    let _ = (subsequent_calls_may_write, overwritten_args_size, forceAnonymousTape);
    begin();
    settle(std::ptr::null_mut(), || {
        let work = || {
            get(TA)?;
            if dretUsed != 0 {
                let why = "the shadow of the result comes from the augmented function: dretUsed cannot be set";
                return Err(Complaint::new(ET_NO_DERIVATIVE, why));
            }
            let mut wanted = Wanted {
                kind: Kind::Combined,
                result: part(retType)?,
                // SAFETY: by this function's contract.
                params: unsafe { parts(constant_args, constant_args_size, part) }?,
                width,
                value: returnValue != 0,
                shadow: false,
                runtime_activity: runtimeActivity != 0,
                strong_zero: strongZero != 0,
                atomic: AtomicAdd != 0,
                keeps: false,
            };
            match mode {
                DEM_REVERSE_MODE_COMBINED if augmented.is_null() && additionalArg.is_null() => {
                    // SAFETY: by this function's contract.
                    let stated = unsafe { trees::stated(typeInfo.Arguments, constant_args_size) }?;
                    // SAFETY: as above.
                    first(&unsafe { request(Logic, todiff, wanted, stated) }?.0)
                }
                DEM_REVERSE_MODE_GRADIENT if returnValue == 0 => {
                    let split = get(augmented)?;
                    (wanted.kind, wanted.value, wanted.shadow) = (Kind::Split, split.wanted.value, split.wanted.shadow);
                    if wanted != split.wanted || split.of.get().cast() != todiff {
                        return Err(Complaint::misuse("the augmented function is that of another request"));
                    }
                    // SAFETY: by this function's contract.
                    if !unsafe { super::llvm::is_tape(additionalArg) } {
                        return Err(Complaint::misuse("the type of the tape is not that of the augmented function"));
                    }
                    if freeMemory != 0 {
                        return reverse_of(&split);
                    }
                    // SAFETY: as above.
                    unsafe { keeping(Logic, todiff, &split) }
                }
                _ => Err(Complaint::misuse(
                    "DEM_ReverseModeGradient goes with an augmented function, the type of its tape and no value, \
                     DEM_ReverseModeCombined with none of them",
                )),
            }
        };
        work().map_err(|c: Complaint| c.about(if request_req.is_null() { todiff } else { request_req }, request_ip))
    })
}

fn alive(watched: Option<&Watched>) -> Result<LLVMValueRef, Complaint> {
    let function = watched.map_or(std::ptr::null_mut(), Watched::get);
    if function.is_null() { Err(Complaint::misuse("the function was erased")) } else { Ok(function.cast()) }
}

fn reverse_of(split: &Augmented) -> Result<LLVMValueRef, Complaint> {
    alive(split.functions.get(1))
}

/// The reverse function of a split derivative that leaves the tape. Those that were made before make and take such tapes from here on.
///
/// # Safety
///
/// As for `request`.
unsafe fn keeping(logic: EnzymeLogicRef, function: LLVMValueRef, split: &Augmented) -> Result<LLVMValueRef, Complaint> {
    let wanted = Wanted { keeps: true, ..split.wanted.clone() };
    // SAFETY: by this function's contract.
    let (made, _) = unsafe { request(logic, function, wanted, split.stated.clone()) }?;
    let [augmented, reverse, keeping] = made[..] else {
        return Err(Complaint::misuse("nothing was made, please report it"));
    };
    for (old, new) in split.functions.iter().zip([augmented, reverse]) {
        // SAFETY: both are null or functions of this module.
        if !old.get().is_null() && !unsafe { lent::redirect(old.get(), new.cast()) } {
            return Err(Complaint::misuse("the functions of the split derivative were changed"));
        }
    }
    Ok(keeping)
}

fn batched(raw: CBATCH_TYPE) -> Result<Part, Complaint> {
    match raw {
        BT_SCALAR => Ok(Part::Const),
        BT_VECTOR => Ok(Part::Dup),
        _ => Err(Complaint::misuse(format!("{raw} is neither BT_SCALAR nor BT_VECTOR"))),
    }
}

/// Writes a function that runs `tobatch` for `width` lanes: parameters that are `BT_VECTOR` are arrays of a value for each lane, and so is
/// the result. Null if it is refused.
///
/// # Safety
///
/// As for `EnzymeCreateForwardDiff`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeCreateBatch(
    Logic: EnzymeLogicRef,
    request_req: LLVMValueRef,
    request_ip: LLVMBuilderRef,
    tobatch: LLVMValueRef,
    width: c_uint,
    arg_types: *mut CBATCH_TYPE,
    arg_types_size: usize,
    retType: CBATCH_TYPE,
) -> LLVMValueRef {
    begin();
    settle(std::ptr::null_mut(), || {
        let work = || {
            // What a function without result returns is the same in all lanes.
            let result = batched(retType)?;
            let wanted = Wanted {
                kind: Kind::Batch,
                // SAFETY: by this function's contract.
                result: if unsafe { super::llvm::returns_nothing(tobatch) } { Part::Const } else { result },
                // SAFETY: by this function's contract.
                params: unsafe { parts(arg_types, arg_types_size, batched) }?,
                width,
                value: false,
                shadow: false,
                runtime_activity: false,
                strong_zero: false,
                atomic: false,
                keeps: false,
            };
            // SAFETY: by this function's contract.
            first(&unsafe { request(Logic, tobatch, wanted, Vec::new()) }?.0)
        };
        work().map_err(|c: Complaint| c.about(if request_req.is_null() { tobatch } else { request_req }, request_ip))
    })
}

/// The augmented function of a split derivative.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeExtractFunctionFromAugmentation(ret: EnzymeAugmentedReturnPtr) -> LLVMValueRef {
    settle(std::ptr::null_mut(), || alive(get(ret)?.functions.first()))
}

/// The type of the tape as the augmented function returns it, a pointer.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeExtractTapeTypeFromAugmentation(ret: EnzymeAugmentedReturnPtr) -> LLVMTypeRef {
    settle(std::ptr::null_mut(), || {
        let split = get(ret)?;
        // The tape is the last parameter of the reverse function.
        // SAFETY: the function is alive.
        Ok(unsafe { super::llvm::last_parameter(reverse_of(&split)?) })
    })
}

/// Null: the tape stays what the augmented function returns.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn EnzymeExtractUnderlyingTapeTypeFromAugmentation(ret: EnzymeAugmentedReturnPtr) -> LLVMTypeRef {
    settle(std::ptr::null_mut(), || {
        get(ret)?;
        Ok(std::ptr::null_mut())
    })
}

/// Where tape, value and shadow are in what the augmented function returns: `existed` says whether there is one, `data` which field of the
/// structure it is, -1 if it is all that is returned.
///
/// # Safety
///
/// `data` and `existed` are null or have room for `len` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn EnzymeExtractReturnInfo(
    ret: EnzymeAugmentedReturnPtr,
    data: *mut i64,
    existed: *mut u8,
    len: usize,
) {
    settle((), || {
        let places = get(ret)?.places;
        if data.is_null() || existed.is_null() || len != places.len() {
            return Err(Complaint::misuse("there must be room for three numbers"));
        }
        for (n, place) in places.iter().enumerate() {
            let (field, there) = match place {
                Place::Absent => (0, 0),
                Place::Whole => (-1, 1),
                Place::Field(field) => (i64::from(*field), 1),
            };
            // SAFETY: there is room for three.
            unsafe { data.add(n).write(field) };
            // SAFETY: as above.
            unsafe { existed.add(n).write(there) };
        }
        Ok(())
    });
}
