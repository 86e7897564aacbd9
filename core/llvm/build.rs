//! Links libLLVM if the feature `link` asks for it; the build of the bridge has found it.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_FEATURE_LINK").is_none() {
        return;
    }
    let (Ok(dir), Ok(libs)) = (std::env::var("DEP_ENZYME_BRIDGE_LIBDIR"), std::env::var("DEP_ENZYME_BRIDGE_LIBS"))
    else {
        println!("cargo:warning=the build of enzyme-bridge did not say where libLLVM is");
        return;
    };
    println!("cargo:rustc-link-search=native={dir}");
    println!("cargo:rustc-link-arg=-Wl,-rpath,{dir}");
    for lib in libs.split_whitespace() {
        println!("cargo:rustc-link-lib=dylib={}", lib.trim_start_matches("-l"));
    }
}
