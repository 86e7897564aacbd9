//! The command `enzyme`: derivatives, checks and compilers from the command line.
//!
//! Exit statuses: that of the program for `run`, of the compiler for `cc`, `c++` and `fc`; else 0 if all went well, 1 if not, 2 for a wrong command line.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod check;
mod doctor;
mod driver;
mod explain;
mod grad;
mod page;
mod progress;
mod run;
mod source;
mod toolchain;

use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use driver::Language;

#[derive(Parser)]
#[command(name = "enzyme", version, about = "Derivatives of compiled programs")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compile and link C: clang with the plugin
    #[command(disable_help_flag = true)]
    Cc {
        /// What clang gets
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Compile and link C++: clang++ with the plugin
    #[command(name = "c++", disable_help_flag = true)]
    Cpp {
        /// What clang++ gets
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Compile and link Fortran: flang with the plugin and the module `enzyme`
    #[command(disable_help_flag = true)]
    Fc {
        /// What flang gets
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Write the derivative of a function, with no marker in its source
    Grad {
        #[command(flatten)]
        wanted: grad::Wanted,
        /// A file to write: .ll, .bc, .o or .so
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
    /// Compare the gradient of a function with differences of its values
    Check {
        #[command(flatten)]
        wanted: grad::Wanted,
        #[command(flatten)]
        how: check::How,
    },
    /// Look at the compilers that are there and at the plugin, and say what mends what is amiss
    Doctor {
        /// Print the findings as JSON
        #[arg(long)]
        json: bool,
    },
    /// Interpret the main function of a module of LLVM IR
    Run {
        /// A .ll or .bc file
        file: PathBuf,
        /// What the program gets as its arguments
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Explain an error code; or a derivative, as a page: its source, what is active, what is kept, and the derivative beside it
    Explain {
        /// A code, such as E0201 (all are listed if it is left out); or a file of C, C++, Fortran or LLVM IR, with --fn
        subject: Option<String>,
        /// The function, if a file is given: its name in the source, or its symbol
        #[arg(long = "fn", value_name = "NAME")]
        function: Option<String>,
        /// Parameters that it is differentiated with respect to, by name or number from 1
        #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "function")]
        wrt: Vec<String>,
        /// Tangents (forward mode) instead of adjoints (reverse mode)
        #[arg(long, requires = "function")]
        forward: bool,
        /// An option of the plugin, as enzyme-cache-price=1
        #[arg(long = "option", value_name = "NAME=VALUE", requires = "function")]
        options: Vec<String>,
        /// The same as JSON
        #[arg(long)]
        json: bool,
        /// The page; written to standard output if left out
        #[arg(short, long, value_name = "FILE", requires = "function")]
        output: Option<PathBuf>,
        /// What the compiler gets
        #[arg(last = true)]
        compiler: Vec<OsString>,
    },
    /// Print the table of derivative rules
    Rules {
        /// The same as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print what completes command lines in a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages to a folder
    Man {
        /// An existing folder
        folder: PathBuf,
    },
    /// Print the versions of this program and of LLVM
    Version {
        /// The same as JSON
        #[arg(long)]
        json: bool,
    },
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Cc { arguments } => return compile(Language::C, &arguments),
        Command::Cpp { arguments } => return compile(Language::Cpp, &arguments),
        Command::Fc { arguments } => return compile(Language::Fortran, &arguments),
        Command::Grad { wanted, output } => return answer(grad::grad(&wanted, &output), wanted.json),
        Command::Check { wanted, how } => {
            let found = check::check(&wanted, &how);
            let wrong = matches!(found, Ok((_, false)));
            let code = answer(found.map(|(text, _)| text), wanted.json);
            return if wrong { ExitCode::FAILURE } else { code };
        }
        Command::Doctor { json } => return examine(json),
        Command::Run { file, arguments } => return run::run(&file, &arguments),
        Command::Explain { subject, function: None, json: true, .. } => {
            let found = explain::data(subject.as_deref()).map_err(|error| error.to_string());
            return answer(found.and_then(|found| data(&found)).map_err(grad::Failure::Usage), true);
        }
        Command::Explain { subject, function: None, .. } => {
            explain::explain(subject.as_deref()).map_err(|error| error.to_string())
        }
        Command::Explain { subject, function: Some(function), wrt, forward, options, json, output, compiler } => {
            let Some(file) = subject.map(PathBuf::from) else {
                let missing = "--fn says which function, but no file is named".to_owned();
                return answer(Err(grad::Failure::Usage(missing)), json);
            };
            let (width, value, name) = (1, false, None);
            let wanted = grad::Wanted { file, function, wrt, forward, width, value, name, options, json, compiler };
            return answer(page::explain(&wanted, output.as_deref()), json);
        }
        Command::Rules { json: true } => data(&explain::rules()),
        Command::Rules { json: false } => Ok(enzyme_rules::markdown()),
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "enzyme", &mut text);
            String::from_utf8(text).map_err(|e| e.to_string())
        }
        Command::Man { folder } => clap_mangen::generate_to(Arguments::command(), &folder)
            .map(|()| String::new())
            .map_err(|e| format!("{}: {e}", folder.display())),
        Command::Version { json: true } => {
            data(&serde_json::json!({ "enzyme": env!("CARGO_PKG_VERSION"), "llvm": "22" }))
        }
        Command::Version { json: false } => Ok(format!("enzyme {}\nLLVM 22\n", env!("CARGO_PKG_VERSION"))),
    };
    match result {
        Ok(text) => print(&text),
        Err(message) => fail(&message),
    }
}

/// What was found, as JSON.
fn data(found: &impl serde::Serialize) -> Result<String, String> {
    serde_json::to_string_pretty(found).map(|text| text + "\n").map_err(|error| error.to_string())
}

fn compile(language: Language, arguments: &[OsString]) -> ExitCode {
    driver::compile(language, arguments).unwrap_or_else(|message| fail(&message))
}

fn examine(json: bool) -> ExitCode {
    let findings = doctor::examine();
    let text =
        if json { serde_json::to_string_pretty(&findings).map(|t| t + "\n") } else { Ok(doctor::text(&findings)) };
    let printed = match text {
        Ok(text) => print(&text),
        Err(error) => fail(&error.to_string()),
    };
    if doctor::is_well(&findings) { printed } else { ExitCode::FAILURE }
}

/// Prints what was found, or says what is amiss.
fn answer(found: Result<String, grad::Failure>, json: bool) -> ExitCode {
    match found {
        Ok(text) => print(&text),
        Err(failure) => {
            let text = grad::tell(&failure, json);
            if json {
                print(&text);
            } else {
                eprint!("{text}");
            }
            ExitCode::FAILURE
        }
    }
}

/// Writes text to standard output. A reader that has had enough (`enzyme rules | head`) is no failure.
fn print(text: &str) -> ExitCode {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => fail(&format!("writing the output: {error}")),
        Ok(()) | Err(_) => ExitCode::SUCCESS,
    }
}

/// Says what went wrong.
fn fail(message: &str) -> ExitCode {
    eprintln!("enzyme: error: {message}");
    ExitCode::FAILURE
}
