//! Modules that compilers lend: they hold them through LLVM-C, and want a derivative in them.
//!
//! [`Loan`] is a copy of what one function needs of its module, in the same context; a [`Session`] works on it, and
//! [`Loan::give_back`] moves what was made into the module. What the module had is as it was. The references of LLVM-C cross as
//! addresses ([`Raw`]), which nobody can check: who passes them answers for them.

#![allow(missing_docs, reason = "what crosses is documented in bridge/compiler.h")]

use std::ffi::{c_char, c_void};
use std::ptr::NonNull;

use crate::ffi::{HostRef, Str, TextSink};
use crate::session::Session;
use crate::text::collect;

/// An object of LLVM-C, or null.
pub type Raw = *mut c_void;

#[repr(C)]
struct OpaqueLoan {
    _private: [u8; 0],
}

#[repr(C)]
struct OpaqueRule {
    _private: [u8; 0],
}

#[repr(C)]
struct OpaqueWatched {
    _private: [u8; 0],
}

unsafe extern "C" {
    fn enz_loan_take(function: Raw, error: TextSink, context: *mut c_void) -> Option<NonNull<OpaqueLoan>>;
    fn enz_loan_host(loan: NonNull<OpaqueLoan>) -> HostRef;
    fn enz_loan_root(loan: NonNull<OpaqueLoan>) -> Str;
    fn enz_loan_return(loan: NonNull<OpaqueLoan>, names: *const Str, count: usize, out: *mut Raw) -> u8;
    fn enz_loan_allocates(loan: NonNull<OpaqueLoan>, names: *const Str, count: usize) -> u8;
    fn enz_loan_state(loan: NonNull<OpaqueLoan>, stated: *const StatedBytes, count: usize);
    fn enz_redirect(from: Raw, to: Raw) -> u8;
    fn enz_loan_drop(loan: NonNull<OpaqueLoan>);
    fn enz_watch(value: Raw) -> NonNull<OpaqueWatched>;
    fn enz_watched(watched: NonNull<OpaqueWatched>) -> Raw;
    fn enz_unwatch(watched: NonNull<OpaqueWatched>);
    fn enz_rules_write(
        loan: NonNull<OpaqueLoan>,
        handlers: *const RawHandler,
        count: usize,
        handles: *const RawHandles,
        error: TextSink,
        context: *mut c_void,
    ) -> u8;
    fn enz_rule_primal(rule: NonNull<OpaqueRule>, original: Raw) -> Raw;
    fn enz_rule_shadow(rule: NonNull<OpaqueRule>, original: Raw) -> Raw;
    fn enz_rule_lookup(rule: NonNull<OpaqueRule>, value: Raw) -> Raw;
    fn enz_rule_adjoint(rule: NonNull<OpaqueRule>, original: Raw, builder: Raw) -> Raw;
    fn enz_rule_set_adjoint(rule: NonNull<OpaqueRule>, original: Raw, value: Raw, builder: Raw) -> u8;
    fn enz_rule_add_adjoint(rule: NonNull<OpaqueRule>, original: Raw, value: Raw, builder: Raw) -> u8;
    fn enz_rule_add_to_memory(rule: NonNull<OpaqueRule>, pointer: Raw, value: Raw, builder: Raw, align: u32) -> u8;
    fn enz_rule_is_constant(rule: NonNull<OpaqueRule>, original: Raw) -> u8;
    fn enz_rule_mode(rule: NonNull<OpaqueRule>) -> u32;
    fn enz_rule_concrete(value: Raw) -> u32;
    fn enz_rule_replace(rule: NonNull<OpaqueRule>, value: Raw, by: Raw) -> u8;
    fn enz_rule_erase(rule: NonNull<OpaqueRule>, value: Raw) -> u8;
    fn enz_rule_map(rule: NonNull<OpaqueRule>, original: Raw, value: Raw);
    fn enz_rule_entry(rule: NonNull<OpaqueRule>) -> Raw;
    fn enz_rule_new_block(rule: NonNull<OpaqueRule>, behind: Raw, name: *const c_char) -> Raw;
    fn enz_rule_set_last(rule: NonNull<OpaqueRule>, block: Raw);
    fn enz_rule_call(
        rule: NonNull<OpaqueRule>,
        function: Raw,
        ty: Raw,
        args: *mut Raw,
        count: usize,
        original: Raw,
        builder: Raw,
    ) -> Raw;
    fn enz_rule_describe(rule: NonNull<OpaqueRule>, sink: TextSink, context: *mut c_void);
}

/// What bytes are.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BytesType {
    Integer,
    Pointer,
    Float,
    Double,
}

/// Bytes behind a parameter of a function.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StatedBytes {
    /// The number of the parameter.
    pub param: u32,
    pub ty: BytesType,
    /// Where they begin; -1 for all that lies there.
    pub offset: i64,
    /// How many they are, if they do not lie everywhere.
    pub bytes: u64,
}

/// A callback that writes the augmented part of a call: a builder, the call, a handle of the rule, places for the result, its
/// shadow and the tape.
pub type Augment = unsafe extern "C-unwind" fn(Raw, Raw, Raw, *mut Raw, *mut Raw, *mut Raw) -> u8;
/// A callback that writes the reverse part: a builder, the call, a handle of the rule, the tape.
pub type Reverse = unsafe extern "C-unwind" fn(Raw, Raw, Raw, Raw);
/// A callback that writes the tangent: a builder, the call, a handle of the rule, places for the result and its tangent.
pub type Forward = unsafe extern "C-unwind" fn(Raw, Raw, Raw, *mut Raw, *mut Raw) -> u8;

/// A callback that says whether the reverse part uses a value: the call, a handle of the rule, the value, whether its shadow is meant,
/// a number of the C interface for the part, a place to say that the engine is to decide.
pub type Uses = unsafe extern "C-unwind" fn(Raw, Raw, Raw, u8, u32, *mut u8) -> u8;

/// A callback that writes the shadow of memory that a call allocates: a builder, the call, its arguments, a handle of the rule.
pub type Allocate = unsafe extern "C-unwind" fn(Raw, Raw, usize, *mut Raw, Raw) -> Raw;
/// A callback that writes what frees it: a builder, the shadow.
pub type Release = unsafe extern "C-unwind" fn(Raw, Raw) -> Raw;

/// What a compiler registered for calls of a name.
#[derive(Clone, Debug, Default)]
pub struct Handler {
    pub name: String,
    pub augmented: Option<Augment>,
    pub reverse: Option<Reverse>,
    pub forward: Option<Forward>,
    pub uses: Option<Uses>,
    pub allocate: Option<Allocate>,
    pub release: Option<Release>,
}

#[repr(C)]
struct RawHandler {
    name: Str,
    augmented: Option<Augment>,
    reverse: Option<Reverse>,
    forward: Option<Forward>,
    uses: Option<Uses>,
    allocate: Option<Allocate>,
    release: Option<Release>,
}

#[repr(C)]
struct RawHandles {
    context: *mut c_void,
    enter: unsafe extern "C" fn(*mut c_void, NonNull<OpaqueRule>) -> Raw,
    leave: unsafe extern "C" fn(*mut c_void, Raw),
}

/// Who gives rules their handles while callbacks run.
pub trait Handles {
    /// A handle for a rule.
    fn enter(&mut self, rule: RuleRef) -> Raw;
    /// Takes it back.
    fn leave(&mut self, handle: Raw);
}

unsafe extern "C" fn enter<H: Handles>(context: *mut c_void, rule: NonNull<OpaqueRule>) -> Raw {
    // SAFETY: `write_rules` passes what outlives its call, and nobody else holds it meanwhile.
    unsafe { &mut *context.cast::<H>() }.enter(RuleRef(rule.as_ptr().expose_provenance()))
}

unsafe extern "C" fn leave<H: Handles>(context: *mut c_void, handle: Raw) {
    // SAFETY: as in `enter`.
    unsafe { &mut *context.cast::<H>() }.leave(handle);
}

/// A copy of what one function needs of a module that somebody else owns.
#[derive(Debug)]
pub struct Loan {
    raw: NonNull<OpaqueLoan>,
}

impl Loan {
    /// A copy for the LLVM function `function`; the reason if there is none.
    ///
    /// # Safety
    ///
    /// `function` is null or a value of LLVM-C. Its module and context outlive the loan, and nobody else uses them meanwhile.
    pub unsafe fn take(function: Raw) -> Result<Loan, String> {
        // SAFETY: by this function's contract; sink and context come from `collect`.
        let (raw, why) = collect(|sink, context| unsafe { enz_loan_take(function, sink, context) });
        raw.map(|raw| Loan { raw }).ok_or(why)
    }

    /// The name of the function in the copy.
    pub fn root(&self) -> String {
        // SAFETY: the loan is alive.
        unsafe { enz_loan_root(self.raw) }.to_text()
    }

    /// Runs `work` on a session of the copy. The session ends with the call.
    pub fn with_session<T>(&mut self, work: impl FnOnce(&mut Session) -> T) -> T {
        // SAFETY: the loan is alive.
        let host = unsafe { enz_loan_host(self.raw) };
        // SAFETY: the host lives as long as `self`, which is borrowed mutably, so nobody else changes the copy.
        let mut session = unsafe { Session::new(host) };
        work(&mut session)
    }

    /// Lets the handlers write derivatives of the functions of the copy that they are for.
    ///
    /// # Safety
    ///
    /// The callbacks have the types that are said, and write valid code through the builders that they get.
    pub unsafe fn write_rules<H: Handles>(&mut self, handlers: &[Handler], handles: &mut H) -> Result<(), String> {
        let raw: Vec<RawHandler> = handlers
            .iter()
            .map(|h| RawHandler {
                name: Str::of(&h.name),
                augmented: h.augmented,
                reverse: h.reverse,
                forward: h.forward,
                uses: h.uses,
                allocate: h.allocate,
                release: h.release,
            })
            .collect();
        let table = RawHandles { context: (&raw mut *handles).cast(), enter: enter::<H>, leave: leave::<H> };
        // SAFETY: the loan is alive; what is passed lives across the call; the callbacks are as this function's contract says.
        let (good, why) = collect(|sink, context| unsafe {
            enz_rules_write(self.raw, raw.as_ptr(), raw.len(), &raw const table, sink, context)
        });
        if good != 0 { Ok(()) } else { Err(why) }
    }

    /// States what lies behind the parameters of the function, unless it is called in the copy, where that may be something else.
    pub fn state(&mut self, stated: &[StatedBytes]) {
        // SAFETY: the loan is alive; the array is as long as said.
        unsafe { enz_loan_state(self.raw, stated.as_ptr(), stated.len()) };
    }

    /// Whether what the functions of these names need allocates memory that the program did not ask for.
    pub fn allocates(&self, names: &[String]) -> bool {
        let names: Vec<Str> = names.iter().map(|n| Str::of(n)).collect();
        // SAFETY: the loan is alive; the array is as long as said.
        unsafe { enz_loan_allocates(self.raw, names.as_ptr(), names.len()) != 0 }
    }

    /// Moves the functions of these names, and what they need, into the module that lent; `None` if one is not there.
    pub fn give_back(self, names: &[String]) -> Option<Vec<Raw>> {
        let names: Vec<Str> = names.iter().map(|n| Str::of(n)).collect();
        let mut out = vec![std::ptr::null_mut(); names.len()];
        // SAFETY: the loan is alive; both arrays are as long as said.
        let done = unsafe { enz_loan_return(self.raw, names.as_ptr(), names.len(), out.as_mut_ptr()) };
        (done != 0).then_some(out)
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        // SAFETY: the loan is ours; sessions borrow `self` and are gone.
        unsafe { enz_loan_drop(self.raw) };
    }
}

/// Gives the function `from` a body that calls `to`; false if that does not fit.
///
/// # Safety
///
/// Both are null or values of LLVM-C, in a module that nobody else uses meanwhile.
pub unsafe fn redirect(from: Raw, to: Raw) -> bool {
    // SAFETY: by this function's contract.
    unsafe { enz_redirect(from, to) != 0 }
}

/// A value that others may erase.
#[derive(Debug)]
pub struct Watched {
    raw: NonNull<OpaqueWatched>,
}

impl Watched {
    /// Begins to watch `value`.
    ///
    /// # Safety
    ///
    /// `value` is null or a value of LLVM-C.
    pub unsafe fn new(value: Raw) -> Watched {
        // SAFETY: by this function's contract.
        Watched { raw: unsafe { enz_watch(value) } }
    }

    /// The value; null if it was erased.
    pub fn get(&self) -> Raw {
        // SAFETY: it is alive as long as `self`.
        unsafe { enz_watched(self.raw) }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // SAFETY: it is ours.
        unsafe { enz_unwatch(self.raw) };
    }
}

// SAFETY: compilers say by which thread their context is used; a lock guards what belongs to us.
unsafe impl Send for Watched {}
// SAFETY: looking at a handle changes nothing.
unsafe impl Sync for Watched {}

/// A derivative of a call that is being written. It lives while the callback runs that writes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RuleRef(usize);

macro_rules! questions {
    ($($(#[$doc:meta])* $name:ident = $raw:ident($($param:ident: $ty:ty),*) -> $ret:ty;)+) => {
        impl RuleRef {$(
            $(#[$doc])*
            ///
            /// # Safety
            ///
            /// The callback that writes the rule runs; the references are null or of LLVM-C, and builders are not null.
            pub unsafe fn $name(self, $($param: $ty),*) -> Option<$ret> {
                // SAFETY: by this function's contract the rule is alive, and the references are good.
                NonNull::new(std::ptr::with_exposed_provenance_mut(self.0)).map(|rule| unsafe { $raw(rule, $($param),*) })
            }
        )+}
    };
}

questions! {
    /// Where a value of the call is in the function at hand; null if it is not known.
    primal = enz_rule_primal(original: Raw) -> Raw;
    /// Its shadow, or its tangent; null if it has none.
    shadow = enz_rule_shadow(original: Raw) -> Raw;
    /// A value of the function at hand, where it is used; null if it is of another function.
    lookup = enz_rule_lookup(value: Raw) -> Raw;
    /// The adjoint of a value of the call; null if it has none.
    adjoint = enz_rule_adjoint(original: Raw, builder: Raw) -> Raw;
    /// Sets it; 0 if there is none of this type.
    set_adjoint = enz_rule_set_adjoint(original: Raw, value: Raw, builder: Raw) -> u8;
    /// Adds to it; 0 if there is none of this type.
    add_adjoint = enz_rule_add_adjoint(original: Raw, value: Raw, builder: Raw) -> u8;
    /// Adds to what the shadow of an address points to; 0 if there is none, or that is no number.
    add_to_memory = enz_rule_add_to_memory(pointer: Raw, value: Raw, builder: Raw, align: u32) -> u8;
    /// 1 for what has no derivative, 0 for what has, 2 for what is no part of the call.
    is_constant = enz_rule_is_constant(original: Raw) -> u8;
    /// A number of the C interface: which derivative is written.
    mode = enz_rule_mode() -> u32;
    /// Puts a value in the place of another; 0 if that cannot be.
    replace = enz_rule_replace(value: Raw, by: Raw) -> u8;
    /// Erases an instruction that nothing uses; 0 if that cannot be.
    erase = enz_rule_erase(value: Raw) -> u8;
    /// Says where a value of the call is from here on.
    map = enz_rule_map(original: Raw, value: Raw) -> ();
    /// The block where stack slots go.
    entry = enz_rule_entry() -> Raw;
    /// A new block behind another; null if that is of another function.
    new_block = enz_rule_new_block(behind: Raw, name: *const c_char) -> Raw;
    /// Says where the reverse part ends.
    set_last = enz_rule_set_last(block: Raw) -> ();
    /// A call of a function; null if it does not fit.
    call = enz_rule_call(function: Raw, ty: Raw, args: *mut Raw, count: usize, original: Raw, builder: Raw) -> Raw;
}

impl RuleRef {
    /// The shadows that are known, one to a line.
    ///
    /// # Safety
    ///
    /// The callback that writes the rule runs.
    pub unsafe fn describe(self) -> String {
        let Some(rule) = NonNull::new(std::ptr::with_exposed_provenance_mut(self.0)) else { return String::new() };
        // SAFETY: by this function's contract; sink and context come from `collect`.
        collect(|sink, context| unsafe { enz_rule_describe(rule, sink, context) }).1
    }
}

/// What the type of a value says of its bytes, as a number of the C interface.
///
/// # Safety
///
/// `value` is null or a value of LLVM-C.
pub unsafe fn concrete(value: Raw) -> u32 {
    // SAFETY: by this function's contract.
    unsafe { enz_rule_concrete(value) }
}
