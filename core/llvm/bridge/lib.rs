//! The C++ bridge as a static library; `bridge.h` is its face, and `enzyme-llvm` declares it in Rust.
//!
//! A crate of its own, without features, so that programs with and without libLLVM share its objects, which take longest to
//! compile. It holds no Rust.
#![forbid(unsafe_code)]
