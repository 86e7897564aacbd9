//! `LLVMEnzyme`: the pass plugin that clang, opt, flang, lld and rustc load.
//!
//! The library is not linked against LLVM: its symbols come from the host that loads it. Loading registers the command-line
//! options (so that a host which loads plugins before it reads its command line knows them); the host then asks for
//! [`llvmGetPassPluginInfo`], and runs the pass on each module, which ends up in the handler set here.

#![allow(non_snake_case, reason = "the library's file name is what build systems look for")]

use enzyme_llvm::ffi::PluginInfo;

/// The entry point that LLVM's hosts look for; `PassPluginLibraryInfo` is returned in memory, as [`PluginInfo`] is.
#[unsafe(no_mangle)]
pub extern "C" fn llvmGetPassPluginInfo() -> PluginInfo {
    enzyme_llvm::pass::set_handler(enzyme_core::run);
    enzyme_llvm::pass::plugin_info()
}

extern "C" fn on_load() {
    enzyme_llvm::options::register();
}

/// Run by the dynamic linker when the library is loaded.
#[used]
#[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_os = "macos"), unsafe(link_section = ".init_array"))]
static ON_LOAD: extern "C" fn() = on_load;
