//! Programs of several files, differentiated when they are linked (`-flto`): what is known only of all files together is known
//! to the derivative.
#![allow(clippy::unwrap_used)]

use enzyme_tests::process;
use enzyme_tests::toolchain::{Compilation, Level, root};

/// A format that no file asks for is never met: the function that it needs has no derivative.
#[test]
fn what_no_file_asks_for_is_not_differentiated() {
    let folder = tempfile::tempdir().unwrap();
    let source = |name: &str| root().join("tests/link").join(name);
    for level in [Level::O1, Level::O2, Level::O3] {
        let store = Compilation::new(source("store.c"), folder.path().join("store.o"), level);
        let store = store.flags(["-flto"]).only_compile().build().unwrap();
        let program = Compilation::new(source("energy.c"), folder.path().join("energy"), level);
        let program = program.with_plugin_in_link().unwrap().flags([store]).build().unwrap();
        let told = process::run(&mut std::process::Command::new(program), std::time::Duration::from_secs(10)).unwrap();
        assert_eq!(told.stdout.trim(), "1 -5 18", "{}", level.name());
    }
}
