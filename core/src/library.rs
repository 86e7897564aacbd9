//! The engine as a library, for compilers written in Rust: a module comes in, as bitcode, and goes out with derivatives in it.
//!
//! ```text
//! let bitcode = module.write_bitcode_to_memory();                               // inkwell's module, or any other
//! let made = derive(bitcode.as_slice(), &[Named::gradient("f")], &Options::default())?;
//! let buffer = MemoryBuffer::create_from_memory_range_copy(&made, "derivatives");
//! let module = Module::parse_bitcode_from_buffer(&buffer, &context)?;           // defines f and f_gradient
//! ```
//!
//! What `f_gradient` looks like is told in [`crate::named`]. A compiler that writes marker calls (`__enzyme_autodiff` and kin) into its
//! module itself, to say more than a [`Named`] does, passes no requests: markers are replaced in any case. Functions are best given
//! before they are optimised; derivatives come back optimised lightly, for the compiler's own pipeline to go on with.
//!
//! Bitcode, not handles of LLVM, is what passes: the caller's module stays as it is, whatever happens, no context is shared, and a
//! refusal leaves nothing behind. The caller's LLVM must be able to read what this one writes: the same major version.
//!
//! The program links libLLVM by the feature `link` of this crate; a binding of LLVM beside it (inkwell) then must not link another, so
//! its feature is `llvm22-1-no-llvm-linking`. `examples/expressions` is a whole program.

use enzyme_llvm::tools::OwnedModule;
use enzyme_llvm::{Level, Options, Phase, Told};
use thiserror::Error;

use crate::named::{self, Named};

/// Why there is no derivative.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum Failed {
    /// The bytes are no valid module of LLVM; in LLVM's words.
    #[error("the module cannot be read: {0}")]
    Malformed(String),
    /// What cannot be differentiated, each with code, place and reasons. `docs/errors.md` explains the codes.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Refused(Vec<Told>),
}

/// The module of `bitcode` (or of LLVM's text) with the derivatives that are `wanted`, and with all of its marker calls replaced.
pub fn derive(bitcode: &[u8], wanted: &[Named], options: &Options) -> Result<Vec<u8>, Failed> {
    let mut module = OwnedModule::from_bytes(bitcode).map_err(|error| Failed::Malformed(error.message))?;
    replace(&mut module, wanted, options).map_err(Failed::Refused)?;
    Ok(module.bitcode())
}

/// As [`derive()`], on a module that is owned already. If it is refused, the module is of no more use.
pub fn replace(module: &mut OwnedModule, wanted: &[Named], options: &Options) -> Result<(), Vec<Told>> {
    let told = module.with_session(|session| {
        session.keep_diagnostics();
        for named in wanted {
            if let Err(report) = named::write(session, named) {
                report.show(session);
                return session.take_diagnostics();
            }
        }
        crate::run(session, options, Phase::Explicit, Level::default());
        session.take_diagnostics()
    });
    if told.is_empty() { Ok(()) } else { Err(told) }
}
