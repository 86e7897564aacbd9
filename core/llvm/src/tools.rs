//! Modules of our own, read from files: for tools and tests, which link LLVM (feature `link`).

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::ffi::{self, OwnedRef, Str};
use crate::session::Session;
use crate::text::collect;

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
