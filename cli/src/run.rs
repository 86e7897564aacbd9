//! `enzyme run`: imports a module as it is and interprets its main function.
//!
//! The program's output is written when it ends, also when it ends in a fault. What the interpreter covers is said in
//! [`enzyme_ir::interp`].

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use enzyme_ir::interp::{Config, Interp, Trap, Val};
use enzyme_ir::{FuncId, Module, Type};
use enzyme_llvm::Problem;
use enzyme_llvm::tools::{FileError, OwnedModule};
use thiserror::Error;

use crate::fail;

/// Why a program did not run to its end.
#[derive(Debug, Error)]
enum RunError {
    /// The caller's fault: no such file, or no module in it.
    #[error(transparent)]
    File(#[from] FileError),
    /// The module holds what the snapshot cannot.
    #[error("{}", lines(.0))]
    Import(Vec<Problem>),
    /// There is nothing to run.
    #[error("{0} defines no function `main`")]
    NoMain(String),
    /// `main` is not the one of C.
    #[error("`main` takes other arguments than (int, char **)")]
    StrangeMain,
    /// The program's fault, mostly: it did what has no meaning, or met a limit.
    #[error("{0}")]
    Trap(#[from] Trap),
}

fn lines(problems: &[Problem]) -> String {
    problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n")
}

/// Runs the program; the exit status is its own, or 1 with a message if it cannot be run.
pub fn run(file: &Path, arguments: &[String]) -> ExitCode {
    match read_and_run(file, arguments) {
        // An exit status has eight bits, as everywhere on Unix.
        Ok(status) => ExitCode::from((status & 0xff) as u8),
        Err(error) => fail(&error.to_string()),
    }
}

fn read_and_run(file: &Path, arguments: &[String]) -> Result<i32, RunError> {
    let mut module = OwnedModule::read(file)?;
    module.with_session(|session| {
        session.import_module().map_err(RunError::Import)?;
        interpret(&session.ir, file, arguments)
    })
}

fn interpret(module: &Module, file: &Path, arguments: &[String]) -> Result<i32, RunError> {
    let is_main = |f: &FuncId| module.funcs[*f].name == "main" && !module.funcs[*f].is_declaration();
    let main = module.funcs.keys().find(is_main).ok_or_else(|| RunError::NoMain(file.display().to_string()))?;
    let mut interp = Interp::new(module, Config::default())?;
    let values = main_arguments(&mut interp, main, file, arguments)?;
    let result = interp.run(main, &values);
    // Nothing can be done about a closed output, as in the program's own case.
    let _ = std::io::stdout().write_all(interp.output().as_bytes());
    let _ = std::io::stdout().flush();
    let _ = std::io::stderr().write_all(interp.error_output().as_bytes());
    match result {
        Ok(value) => Ok(value.and_then(|value| value.as_i32()).unwrap_or(0)),
        Err(Trap::Exit(status)) => Ok(status),
        Err(trap) => Err(trap.into()),
    }
}

/// The count of arguments and the array of them, ended by a null pointer, as far as `main` takes them.
fn main_arguments(
    interp: &mut Interp<'_>,
    main: FuncId,
    file: &Path,
    arguments: &[String],
) -> Result<Vec<Val>, RunError> {
    let module = interp.module();
    let (_, params, _) = module.signature(main);
    let is_int = |index: usize| params.get(index).is_none_or(|ty| matches!(module.ctx.types[*ty], Type::Int(_)));
    let is_ptr = |index: usize| params.get(index).is_none_or(|ty| matches!(module.ctx.types[*ty], Type::Ptr(_)));
    if params.len() > 3 || !is_int(0) || !is_ptr(1) || !is_ptr(2) {
        return Err(RunError::StrangeMain);
    }
    let name = file.display().to_string();
    let strings: Vec<&str> = std::iter::once(name.as_str()).chain(arguments.iter().map(String::as_str)).collect();
    let table = interp.alloc((strings.len() as u64 + 1) * 8)?;
    for (index, string) in strings.iter().enumerate() {
        let address = interp.alloc(string.len() as u64 + 1)?;
        interp.write_bytes(address, string.as_bytes())?;
        interp.write_u64(table + 8 * index as u64, address)?;
    }
    let environment = interp.alloc(8)?;
    let mut values = vec![Val::int(strings.len() as i64), Val::Ptr(table), Val::Ptr(environment)];
    values.truncate(params.len());
    Ok(values)
}
