//! Lets the command find the libLLVM that it was linked with, where the user named an LLVM that lies in no usual folder.
//!
//! Without `LLVM_CONFIG` or `LLVM_SYS_221_PREFIX` the library is one that the system's loader knows. The build program sets them
//! for any other LLVM that it finds.

use std::process::Command;

fn variable(name: &str) -> Option<String> {
    println!("cargo:rerun-if-env-changed={name}");
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let (config, prefix) = (variable("LLVM_CONFIG"), variable("LLVM_SYS_221_PREFIX"));
    let Some(config) = config.or_else(|| prefix.map(|prefix| format!("{prefix}/bin/llvm-config"))) else { return };
    // An llvm-config that does not answer is reported by the build of enzyme-bridge.
    if let Ok(output) = Command::new(config).arg("--libdir").output() {
        println!("cargo:rustc-link-arg-bins=-Wl,-rpath,{}", String::from_utf8_lossy(&output.stdout).trim());
    }
}
