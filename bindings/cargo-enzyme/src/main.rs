//! `cargo enzyme build`, `run`, `test`, `bench`: cargo, with what it takes for the plugin to make derivatives when a program is linked. The same
//! program under the name `enzyme-cc` is the linker that rustc calls.
//!
//! Crates are compiled to bitcode that is not yet optimised (`-C linker-plugin-lto`, `-C no-prepopulate-passes`), profiles link by
//! `lto = "fat"`, and [`linker`] has lld optimise the whole program with the plugin. A target is always named, so that build scripts and
//! procedural macros are compiled as ever, in a folder of their own. With `--llvm-plugins` rustc itself loads the plugin, which nightly can.
//!
//! Not handled: flags of rustc that stand in `build.rustflags` of a configuration file, which `RUSTFLAGS` overrides, as ever in cargo.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod linker;
mod place;

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode};

use clap::Parser;

/// Rust programs with derivatives: cargo, with the Enzyme plugin at the link.
#[derive(Parser)]
#[command(
    name = "cargo enzyme",
    version,
    override_usage = "cargo enzyme [--llvm-plugins] [-o NAME[=VALUE]]... <COMMAND> [ARGUMENTS]..."
)]
struct Arguments {
    /// Have rustc load the plugin (nightly, or RUSTC_BOOTSTRAP=1), instead of the linker
    #[arg(long)]
    llvm_plugins: bool,
    /// An option of the plugin, such as `-o print-plan` or `-o max-tape=16M`; what it prints comes as a message of the linker
    #[arg(short, long = "option", value_name = "NAME[=VALUE]")]
    options: Vec<String>,
    /// A command of cargo: build, run, test, bench
    command: String,
    /// What that command gets
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

fn main() -> ExitCode {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    let called = words.first().map(|name| Path::new(name).file_stem().unwrap_or_default().to_os_string());
    let done = if called.is_some_and(|name| name == linker::NAME) {
        linker::link(&words[1..])
    } else {
        // As a subcommand, cargo gives its name first.
        if words.get(1).is_some_and(|word| word == "enzyme") {
            words.remove(1);
        }
        cargo(&Arguments::parse_from(words))
    };
    done.unwrap_or_else(|message| {
        eprintln!("enzyme: error: {message}");
        ExitCode::FAILURE
    })
}

/// Flags of rustc when the linker makes the derivatives.
const AT_THE_LINK: [&str; 2] = ["-Clinker-plugin-lto", "-Cno-prepopulate-passes"];

fn cargo(arguments: &Arguments) -> Result<ExitCode, String> {
    let plugin = place::plugin()?;
    let target = match named(&arguments.arguments, "--target") {
        Some(target) => target,
        None => host()?,
    };
    let profile = named(&arguments.arguments, "--profile").unwrap_or_default();
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.arg(&arguments.command);
    if named(&arguments.arguments, "--target").is_none() {
        command.args(["--target", &target]);
    }
    command.args(&arguments.arguments);
    for name in ["dev", "release", profile.as_str()].iter().filter(|name| !name.is_empty()) {
        command.env(format!("CARGO_PROFILE_{}_LTO", name.to_uppercase().replace('-', "_")), "fat");
    }
    let mut flags: Vec<String> = std::env::var("RUSTFLAGS").iter().map(|flags| flags.trim().to_owned()).collect();
    if arguments.llvm_plugins {
        flags.push(format!("-Zllvm-plugins={}", plugin.display()));
        // Unoptimised, rustc hands each part of a crate to the plugin as if it were the whole program.
        if std::env::var_os("CARGO_PROFILE_DEV_OPT_LEVEL").is_none() {
            command.env("CARGO_PROFILE_DEV_OPT_LEVEL", "1");
        }
    } else {
        let linker = place::beside(linker::NAME)?;
        flags.extend(AT_THE_LINK.map(str::to_owned));
        command.env(format!("CARGO_TARGET_{}_LINKER", target.to_uppercase().replace(['-', '.'], "_")), &linker);
        let of_docs = std::env::var("RUSTDOCFLAGS").unwrap_or_default();
        let docs = format!("{of_docs} {} -Clto=fat -Clinker={}", AT_THE_LINK.join(" "), linker.display());
        command.env("RUSTDOCFLAGS", docs.trim());
    }
    if !arguments.options.is_empty() {
        if arguments.llvm_plugins {
            return Err("rustc reads options before it loads a plugin: give -o without --llvm-plugins".to_owned());
        }
        let short = |option: &String| option.trim_start_matches('-').trim_start_matches("enzyme-").to_owned();
        let options = arguments.options.iter().map(short);
        flags.extend(options.map(|option| format!("-Clink-arg=-Wl,-mllvm,-enzyme-{option}")));
        // rustc keeps what a linker says to itself.
        flags.push("-Wlinker-messages".to_owned());
    }
    // cargo does not look at the linker nor at what that loads: without this, a program would keep the derivatives of the plugin
    // that it was first built with.
    flags.push(format!("-Cmetadata=enzyme-{:016x}", place::stamp(&plugin)?));
    command.env("RUSTFLAGS", flags.join(" ").trim());
    let status = command.status().map_err(|error| format!("cargo cannot be started: {error}"))?;
    Ok(exit_code(status))
}

/// The value of an option among arguments for cargo.
fn named(arguments: &[OsString], option: &str) -> Option<String> {
    let mut words = arguments.iter().map(|word| word.to_string_lossy()).take_while(|word| word != "--");
    while let Some(word) = words.next() {
        if word == option {
            return words.next().map(|value| value.into_owned());
        }
        if let Some(value) = word.strip_prefix(option).and_then(|rest| rest.strip_prefix('=')) {
            return Some(value.to_owned());
        }
    }
    (option == "--profile" && arguments.iter().any(|word| word == "--release" || word == "-r"))
        .then(|| "release".to_owned())
}

/// The target that rustc compiles for when none is named.
fn host() -> Result<String, String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output =
        Command::new(rustc).arg("-vV").output().map_err(|error| format!("rustc cannot be started: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "`rustc -vV` names no host".to_owned())
}

fn exit_code(status: std::process::ExitStatus) -> ExitCode {
    status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_for_cargo_are_read() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(named(&words("--target x --release"), "--target").as_deref(), Some("x"));
        assert_eq!(named(&words("--target=y"), "--target").as_deref(), Some("y"));
        assert_eq!(named(&words("-- --target z"), "--target"), None);
        assert_eq!(named(&words("--profile fast"), "--profile").as_deref(), Some("fast"));
        assert_eq!(named(&words("-r"), "--profile").as_deref(), Some("release"));
    }
}
