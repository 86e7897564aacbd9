//! Modules of our own, read from files: for tools and tests, which link LLVM (feature `link`).

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::ffi::{self, OwnedRef, Str};
use crate::session::Session;
use crate::text::{collect, collect_bytes};

/// A file that could not be read or written, or does not hold a valid module.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{}: {message}", path.display())]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// LLVM's or the system's words.
    pub message: String,
}

/// A module with a context of its own.
#[derive(Debug)]
pub struct OwnedModule {
    raw: OwnedRef,
}

impl OwnedModule {
    /// Reads and verifies a `.ll` or `.bc` file.
    pub fn read(path: &Path) -> Result<OwnedModule, FileError> {
        let name = path.to_string_lossy();
        // SAFETY: the name is borrowed for the call; sink and context come from `collect`.
        let (raw, message) = collect(|sink, context| unsafe { ffi::enz_read_module(Str::of(&name), sink, context) });
        raw.map(|raw| OwnedModule { raw }).ok_or_else(|| FileError { path: path.to_owned(), message })
    }

    /// Reads and verifies a module from its text.
    pub fn parse(text: &str) -> Result<OwnedModule, FileError> {
        // SAFETY: the text is borrowed for the call; sink and context come from `collect`.
        let (raw, message) = collect(|sink, context| unsafe { ffi::enz_parse_module(Str::of(text), sink, context) });
        raw.map(|raw| OwnedModule { raw }).ok_or_else(|| FileError { path: PathBuf::from("<text>"), message })
    }

    /// Reads and verifies a module, bitcode or text, from memory. Nothing is printed, neither now nor later.
    pub fn from_bytes(bytes: &[u8]) -> Result<OwnedModule, FileError> {
        let data = Str { data: bytes.as_ptr(), len: bytes.len() };
        // SAFETY: the bytes are borrowed for the call, which copies them; sink and context come from `collect`.
        let (raw, message) = collect(|sink, context| unsafe { ffi::enz_parse_quietly(data, sink, context) });
        raw.map(|raw| OwnedModule { raw }).ok_or_else(|| FileError { path: PathBuf::from("<memory>"), message })
    }

    /// The module as bitcode.
    pub fn bitcode(&self) -> Vec<u8> {
        // SAFETY: the module is ours and alive.
        let host = unsafe { ffi::enz_owned_host(self.raw) };
        // SAFETY: the host is alive; sink and context come from `collect_bytes`.
        collect_bytes(|sink, context| unsafe { ffi::enz_module_bitcode(host, sink, context) }).1
    }

    /// The module as text.
    pub fn text(&self) -> String {
        // SAFETY: the module is ours and alive.
        let host = unsafe { ffi::enz_owned_host(self.raw) };
        // SAFETY: the host is alive; sink and context come from `collect`.
        collect(|sink, context| unsafe { ffi::enz_print_module(host, sink, context) }).1
    }

    /// Adds the definitions of another module, bitcode or text, to this one.
    pub fn link(&mut self, bytes: &[u8]) -> Result<(), String> {
        let data = Str { data: bytes.as_ptr(), len: bytes.len() };
        // SAFETY: the module is ours and alive.
        let host = unsafe { ffi::enz_owned_host(self.raw) };
        // SAFETY: the host is alive and borrowed mutably; the bytes are borrowed for the call.
        let (good, message) = collect(|sink, context| unsafe { ffi::enz_link_module(host, data, sink, context) });
        if good != 0 { Ok(()) } else { Err(message) }
    }

    /// Native code of a copy of the module, optimised for this machine at level `speed`: 0 as it is, 1 as 2 but with code made
    /// quickly, 2 or 3. Symbols that it does not define are those of the process.
    pub fn jit(&self, speed: u32) -> Result<Jit, String> {
        // SAFETY: the module is ours and alive.
        let host = unsafe { ffi::enz_owned_host(self.raw) };
        // SAFETY: the host is alive; sink and context come from `collect`.
        let (raw, message) = collect(|sink, context| unsafe { ffi::enz_jit_make(host, speed, sink, context) });
        raw.map(|raw| Jit { raw }).ok_or(message)
    }

    /// Runs `work` on a session of this module. The session ends with the call.
    pub fn with_session<T>(&mut self, work: impl FnOnce(&mut Session) -> T) -> T {
        // SAFETY: the module is ours and alive.
        let host = unsafe { ffi::enz_owned_host(self.raw) };
        // SAFETY: the host lives as long as `self`, which is borrowed mutably, so nobody else changes the module.
        let mut session = unsafe { Session::new(host) };
        work(&mut session)
    }

    /// Writes the module, as bitcode if the name ends in `.bc`, else as text.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        let name = path.to_string_lossy();
        let bitcode = u8::from(path.extension().is_some_and(|e| e == "bc"));
        // SAFETY: the module is ours and alive.
        let host = unsafe { ffi::enz_owned_host(self.raw) };
        // SAFETY: the host is alive; the name is borrowed for the call.
        let (good, message) =
            collect(|sink, context| unsafe { ffi::enz_write_module(host, Str::of(&name), bitcode, sink, context) });
        if good != 0 { Ok(()) } else { Err(FileError { path: path.to_owned(), message }) }
    }
}

impl Drop for OwnedModule {
    fn drop(&mut self) {
        // SAFETY: the module is ours; sessions borrow `self` and are gone.
        unsafe { ffi::enz_owned_drop(self.raw) };
    }
}

// SAFETY: the module and its context belong to this value alone; LLVM has no state per thread that either needs.
unsafe impl Send for OwnedModule {}

/// Native code in this process; it lives as long as this value.
#[derive(Debug)]
pub struct Jit {
    raw: ffi::JitRef,
}

impl Jit {
    /// The address of a function or variable.
    pub fn address(&self, name: &str) -> Result<usize, String> {
        // SAFETY: the code is ours and alive; the name is borrowed for the call.
        let (address, message) =
            collect(|sink, context| unsafe { ffi::enz_jit_address(self.raw, Str::of(name), sink, context) });
        usize::try_from(address).ok().filter(|a| *a != 0).ok_or(message)
    }
}

impl Drop for Jit {
    fn drop(&mut self) {
        // SAFETY: the code is ours.
        unsafe { ffi::enz_jit_drop(self.raw) };
    }
}

// SAFETY: ORC's JIT may be used and dropped by any thread; its context went into it.
unsafe impl Send for Jit {}
