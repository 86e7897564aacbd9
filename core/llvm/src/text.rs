//! Text across the border: borrowed strings in, strings of any length out through a sink.

use std::ffi::c_void;

use crate::ffi::Str;

/// Calls `f` with a sink and its context, and returns what was written to it.
pub(crate) fn collect<T>(f: impl FnOnce(crate::ffi::TextSink, *mut c_void) -> T) -> (T, String) {
    let (out, bytes) = collect_bytes(f);
    (out, String::from_utf8_lossy(&bytes).into_owned())
}

/// As [`collect`], for what is no text.
pub(crate) fn collect_bytes<T>(f: impl FnOnce(crate::ffi::TextSink, *mut c_void) -> T) -> (T, Vec<u8>) {
    let mut bytes: Vec<u8> = Vec::new();
    let out = f(append, (&raw mut bytes).cast());
    (out, bytes)
}

unsafe extern "C" fn append(context: *mut c_void, data: *const u8, len: usize) {
    if data.is_null() || len == 0 {
        return;
    }
    // SAFETY: `collect` passes the address of a vector that outlives the call, and nobody else holds it meanwhile.
    let bytes = unsafe { &mut *context.cast::<Vec<u8>>() };
    // SAFETY: the bridge passes `len` bytes at `data`, valid during this call.
    bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(data, len) });
}

impl Str {
    /// Borrows `s`; the result must not outlive it.
    pub(crate) fn of(s: &str) -> Str {
        Str { data: s.as_ptr(), len: s.len() }
    }

    /// No text.
    pub(crate) const EMPTY: Str = Str { data: std::ptr::null(), len: 0 };

    /// A copy of the bytes.
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        if self.data.is_null() || self.len == 0 {
            return Vec::new();
        }
        // SAFETY: a `Str` that came from the bridge points to `len` bytes owned by LLVM's module, which is alive and not
        // being changed while a session reads from it.
        unsafe { std::slice::from_raw_parts(self.data, self.len) }.to_vec()
    }

    /// A copy as text; bytes that are not UTF-8 are replaced.
    pub(crate) fn to_text(self) -> String {
        String::from_utf8(self.to_bytes()).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
    }
}
