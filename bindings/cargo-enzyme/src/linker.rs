//! `enzyme-cc`: what rustc calls to link. A link of bitcode goes to lld with the plugin, through clang, and is optimised as one program at the level
//! that rustc asks for; any other link goes to clang as it is. Names in what the linker says are written as in the source.

use std::ffi::OsString;
use std::io::Write;
use std::process::{Command, ExitCode, Stdio};

use crate::place;

/// The name under which this program is a linker. It ends as that of a compiler: rustc takes from that how to call it.
pub const NAME: &str = "enzyme-cc";

/// Links.
pub fn link(arguments: &[OsString]) -> Result<ExitCode, String> {
    let clang = place::tool("clang", "ENZYME_CLANG", "clang-22")?;
    let mut command = Command::new(clang);
    if let Some(level) = level(arguments) {
        let lld = place::tool("ld.lld", "ENZYME_LLD", "lld-22")?;
        command.arg(with("--ld-path=", lld.as_os_str()));
        let plugin = place::plugin()?;
        command.arg(with("-Wl,--load-pass-plugin=", plugin.as_os_str()));
        // Its options exist once it is loaded, so this comes before them; lld loads passes later.
        command.arg(with("-Wl,-mllvm,-load=", plugin.as_os_str()));
        // Each refusal is an error, and all are told, as by rustc; lld would stop after twenty.
        command.arg("-Wl,--error-limit=0");
        // What was optimised by nobody yet is optimised here, as a file would be. Unoptimised Rust copies bytes of which no type is told, and goes
        // ways that are none: it is simplified all the same, so that more can be differentiated.
        let level = level.max('2');
        command.arg(format!("-Wl,--lto-newpm-passes=default<O{level}>"));
    }
    let output = command
        .args(arguments)
        .stderr(Stdio::piped())
        .output()
        .map_err(|error| format!("clang cannot be started: {error}"))?;
    let said = readable(&String::from_utf8_lossy(&output.stderr));
    let _ = std::io::stderr().write_all(said.as_bytes());
    let _ = std::io::stdout().write_all(&output.stdout);
    Ok(crate::exit_code(output.status))
}

fn with(option: &str, value: &std::ffi::OsStr) -> OsString {
    let mut word = OsString::from(option);
    word.push(value);
    word
}

/// The level of optimisation, as a digit, if rustc links bitcode.
fn level(arguments: &[OsString]) -> Option<char> {
    let words = arguments.iter().map(|word| word.to_string_lossy());
    let digit = |word: &str| word.split("-plugin-opt=O").nth(1)?.chars().next();
    words.into_iter().find_map(|word| digit(&word)).filter(char::is_ascii_digit)
}

/// Text in which mangled names are names.
fn readable(text: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$' || c == '.';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_word) {
        let (before, word) = rest.split_at(start);
        let (word, behind) = word.split_at(word.find(|c| !is_word(c)).unwrap_or(word.len()));
        out.push_str(before);
        match rustc_demangle::try_demangle(word) {
            Ok(name) => out.push_str(&format!("{name:#}")),
            Err(_) => out.push_str(word),
        }
        rest = behind;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_read() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(level(&words("-m64 -Wl,-plugin-opt=O3,-plugin-opt=mcpu=x86-64 a.o")), Some('3'));
        assert_eq!(level(&words("-m64 a.o")), None);
    }

    #[test]
    fn names_are_readable() {
        let text = "in function _RNvNtCsgEmfK2I1SDS_4core9panicking5panic void (ptr), a_b.";
        assert_eq!(readable(text), "in function core::panicking::panic void (ptr), a_b.");
    }
}
