//! The command line of the build program; the Makefile calls it.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use xtask::project::Project;
use xtask::{artefacts, ci, command, format, fuzz, generate, programs, tidy};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Builds and checks the project", disable_version_flag = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build in release and leave in build/ what users load
    Build,
    /// Run every check
    Ci {
        /// Run only the steps of these names (see --list)
        #[arg(long, value_delimiter = ',')]
        only: Vec<String>,
        /// Stop at the first step that fails
        #[arg(long)]
        fail_fast: bool,
        /// List the steps
        #[arg(long)]
        list: bool,
    },
    /// Build, then differentiate real programs and draw a picture
    Demo {
        /// Arguments of the program
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Build, then measure gradients against handwritten adjoints
    Bench {
        /// Put the results into docs/benchmarks.md
        #[arg(long)]
        write: bool,
        /// Arguments of the program; `--help` lists them
        #[arg(last = true)]
        arguments: Vec<String>,
    },
    /// Build, then measure gradients of Rust programs against adjoints by hand and dual numbers
    BenchRust {
        /// Put the results into docs/benchmarks-rust.md
        #[arg(long)]
        write: bool,
    },
    /// Build, then hunt with random programs and broken IR
    Fuzz {
        /// Programs
        #[arg(long, default_value_t = 1_000_000)]
        programs: u32,
        /// Broken modules
        #[arg(long, default_value_t = 5000)]
        mutants: u32,
        /// Seed of both
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Further arguments of the program; `--help` lists them
        #[arg(last = true)]
        arguments: Vec<String>,
    },
    /// Show that the crates that need no LLVM build and pass their tests without one
    Pure,
    /// Check the project's shape: crate edges, unsafe code, documentation, file length, error codes, words
    Tidy,
    /// Write the generated parts of the documentation
    Generate {
        /// Write nothing; fail if something is not fresh
        #[arg(long)]
        check: bool,
    },
    /// Repair what a program can repair: formatting and generated documentation
    Fix,
    /// Remove below a prefix what `install` copies there
    Uninstall {
        #[arg(long)]
        prefix: PathBuf,
        /// A folder that stands for the root of the system (for packagers)
        #[arg(long, default_value = "")]
        destdir: String,
    },
    /// Copy build/ below a prefix
    Install {
        #[arg(long)]
        prefix: PathBuf,
        /// A folder that stands for the root of the system (for packagers)
        #[arg(long, default_value = "")]
        destdir: String,
    },
}

fn main() -> ExitCode {
    match dispatch(Arguments::parse().command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{} {error:#}", command::red("error:"));
            ExitCode::FAILURE
        }
    }
}

/// Runs a command; `false` means that it found something wrong and has said so.
fn dispatch(command: Command) -> Result<bool> {
    let project = Project::load()?;
    match command {
        Command::Build => artefacts::build(&project).map(|()| true),
        Command::Ci { list: true, .. } => {
            ci::list();
            Ok(true)
        }
        Command::Ci { only, fail_fast, list: false } => ci::run(&project, &only, fail_fast),
        Command::Demo { arguments } => programs::demo(&project, &arguments),
        Command::Bench { write, arguments } => programs::bench(&project, &arguments, write),
        Command::BenchRust { write } => programs::bench_rust(&project, write),
        Command::Fuzz { programs, mutants, seed, arguments } => {
            fuzz::hunt(&project, &fuzz::Hunt { programs, mutants, seed }, &arguments)
        }
        Command::Pure => ci::run(&project, &["pure".to_owned()], true),
        Command::Tidy => tidy::report(&project),
        Command::Generate { check: true } => generate::check(&project),
        Command::Generate { check: false } => generate::write(&project).map(|()| true),
        Command::Fix => {
            format::format(&project, format::Mode::Write)?;
            generate::write(&project).map(|()| true)
        }
        Command::Uninstall { prefix, destdir } => {
            artefacts::uninstall(&project, &prefix, destdir.as_ref()).map(|()| true)
        }
        Command::Install { prefix, destdir } => artefacts::install(&project, &prefix, destdir.as_ref()).map(|()| true),
    }
}
