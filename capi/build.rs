//! Gives the shared library the name that programs which link it look for.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let system = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    match system.as_str() {
        "macos" => println!("cargo:rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libEnzyme-22.dylib"),
        "windows" => {}
        _ => println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libEnzyme-22.so"),
    }
}
