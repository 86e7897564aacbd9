//! How a compiler hears of what goes wrong: through `CustomErrorHandler` if it is set, else on standard error.
//!
//! The handler may leave by a jump or an exception, as those of compilers do. So it is called when nothing of ours is locked
//! or waits to be dropped, at the end of the function that was called.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::hooks;
use super::types::{ET_INTERNAL_ERROR, ET_NO_DERIVATIVE, ErrorType, LLVMBuilderRef, LLVMValueRef};

/// What went wrong.
pub struct Complaint {
    pub kind: ErrorType,
    pub message: String,
    pub value: LLVMValueRef,
    pub builder: LLVMBuilderRef,
}

impl Complaint {
    pub fn new(kind: ErrorType, message: impl Into<String>) -> Complaint {
        Complaint { kind, message: message.into(), value: std::ptr::null_mut(), builder: std::ptr::null_mut() }
    }

    /// The caller broke a rule of the interface.
    pub fn misuse(message: impl Into<String>) -> Complaint {
        Complaint::new(ET_INTERNAL_ERROR, message)
    }

    /// About this value, with code to be written there.
    pub fn about(mut self, value: LLVMValueRef, builder: LLVMBuilderRef) -> Complaint {
        (self.value, self.builder) = (value, builder);
        self
    }
}

impl From<crate::error::Failure> for Complaint {
    fn from(failure: crate::error::Failure) -> Complaint {
        let text = failure.items.first().map(|item| item.message.to_string_lossy().into_owned());
        Complaint::misuse(text.unwrap_or_default())
    }
}

thread_local! {
    /// The last message of this thread: who is told may read it until the next.
    static LAST: RefCell<CString> = RefCell::default();
    /// Whether the handler runs: what goes wrong in it goes to standard error.
    static TELLING: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`; what goes wrong, panics included, is told, and `otherwise` returned.
pub fn settle<T>(otherwise: T, work: impl FnOnce() -> Result<T, Complaint>) -> T {
    let complaint = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => return value,
        Ok(Err(complaint)) => complaint,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unknown cause");
            Complaint::misuse(format!("internal error in Enzyme, please report it: {text}"))
        }
    };
    tell(complaint);
    otherwise
}

fn tell(complaint: Complaint) {
    let Complaint { kind, message, value, builder } = complaint;
    let text = CString::new(message.replace('\0', "\u{fffd}")).unwrap_or_default();
    drop(message);
    let text = LAST.with_borrow_mut(|last| {
        *last = text;
        last.as_ptr()
    });
    let handler = hooks::error_handler().filter(|_| !TELLING.get());
    let Some(handler) = handler else {
        // SAFETY: it is the text that was kept just now.
        eprintln!("enzyme: {}", unsafe { CStr::from_ptr(text) }.to_string_lossy());
        return;
    };
    TELLING.set(true);
    // SAFETY: the compiler that set the handler says that it has this type.
    unsafe { handler(text, value, kind, std::ptr::null(), value, builder) };
    TELLING.set(false);
}

/// A request begins: a handler that left by a jump tells no more.
pub fn begin() {
    TELLING.set(false);
}

/// Says that a function of the interface does nothing.
pub fn missing<T>(otherwise: T, name: &str) -> T {
    settle(otherwise, || Err(Complaint::new(ET_NO_DERIVATIVE, format!("{name} is not there: docs/capi.md says why"))))
}
