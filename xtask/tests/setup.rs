//! Whoever names an LLVM of his own gets nothing installed: `setup.sh` runs with programs that only write down that they were called.
//! What `others.sh` cannot fetch it names, and fails nothing.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program that does `body`.
fn program(folder: &Path, name: &str, body: &str) {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// What `setup.sh test` says with these variables set, and what it would have installed.
fn set_up(folder: &Path, variables: &[(&str, &Path)]) -> (String, String) {
    let _ = fs::remove_dir_all(folder);
    let log = folder.join("called");
    let config = format!(
        "case $1 in --version) echo 22.1.0 ;; --bindir) echo {0}/bin ;; --includedir) echo {0}/include ;; esac",
        folder.display()
    );
    let programs = folder.join("bin");
    fs::create_dir_all(&programs).unwrap();
    fs::create_dir_all(folder.join("include/llvm-c")).unwrap();
    fs::write(folder.join("include/llvm-c/Core.h"), "").unwrap();
    program(&programs, "llvm-config", &config);
    for name in ["cargo", "clang", "cc", "c++"] {
        program(&programs, name, "exit 0");
    }
    for name in ["apt-get", "sudo"] {
        program(&programs, name, &format!("echo {name} $* >> {}", log.display()));
    }
    program(&programs, "dpkg-query", "echo installed");
    for name in ["dirname", "id", "mktemp", "rm", "mkdir", "chmod", "cp", "grep", "sort", "head", "cat", "tail", "env"]
    {
        let found = ["/usr/bin", "/bin"].iter().map(|f| PathBuf::from(f).join(name)).find(|f| f.exists());
        program(&programs, name, &format!("exec {} \"$@\"", found.unwrap().display()));
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut command = Command::new("/bin/sh");
    command.arg("xtask/setup.sh").arg("test").current_dir(root).env_clear().env("PATH", &programs);
    for (name, value) in variables {
        command.env(name, value);
    }
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    (said, fs::read_to_string(log).unwrap_or_default())
}

#[test]
fn nothing_is_installed_beside_an_llvm_of_ones_own() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("setup-named");
    let named = folder.join("bin/llvm-config");
    for variable in [("LLVM_CONFIG", named.as_path()), ("LLVM_SYS_221_PREFIX", folder.as_path())] {
        let (said, called) = set_up(&folder, &[variable]);
        assert_eq!(called, "", "{}", variable.0);
        assert!(said.contains("Julia: nothing is installed beside an LLVM that you name"), "{said}");
    }
}

/// The test above sees what it looks for.
#[test]
fn what_is_missing_is_installed_otherwise() {
    let (_, called) = set_up(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("setup-unnamed"), &[]);
    assert!(called.contains("apt-get"), "{called}");
}

#[test]
fn what_cannot_be_fetched_is_named() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("others-lacking");
    let _ = fs::remove_dir_all(&folder);
    let programs = folder.join("bin");
    fs::create_dir_all(&programs).unwrap();
    program(&programs, "cmp", "exit 1");
    for name in ["mkdir", "rm", "grep", "cp"] {
        program(&programs, name, &format!("exec /bin/{name} \"$@\""));
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let says = || {
        let mut command = Command::new("/bin/sh");
        command.arg("xtask/others.sh").current_dir(root).env_clear().env("PATH", &programs);
        let output = command.env("CARGO_TARGET_DIR", &folder).env("LLVM_CONFIG", "named").output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(says().contains("CppAD, JAX: there is no python3; the comparison goes without."), "{}", says());

    // A pip that has CppAD only.
    let python = "case $2 in venv) mkdir -p $3/bin && cp $0 $3/bin/python ;; pip) case $* in *cppad*) ;; *) exit 1 ;; esac ;; esac";
    program(&programs, "python3", python);
    assert!(says().contains(": jax=="), "{}", says());
    assert!(!says().contains("cppad"), "{}", says());
    assert!(!folder.join("others/requirements.txt").exists());
}
