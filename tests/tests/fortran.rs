//! Fortran programs through flang with the plugin, one test case for each program of `tests/fortran` and level: `lu::O0` to
//! `lu::O3`. A program compares its gradients with differences itself and prints `ok NAME`, or `WRONG NAME` and the numbers.
//! A few cases more: what is refused, when compiled or when run, and that the checks of the harness can fail.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use enzyme_tests::{Error, Result, corpus, process, toolchain};
use libtest_mimic::{Arguments, Failed, Trial};

const COMPILE_LIMIT: Duration = Duration::from_secs(240);
/// Flang has no `-Og`.
const LEVELS: [&str; 4] = ["O0", "O1", "O2", "O3"];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    match trials() {
        Ok(trials) => libtest_mimic::run(&arguments, trials).exit_code(),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn trials() -> Result<Vec<Trial>> {
    let mut trials = vec![
        trial("refused::shape".to_owned(), || refused(SHAPE, "E0105")),
        trial("refused::value".to_owned(), || refused(VALUE, "E0109")),
        trial("refused::internal_file".to_owned(), || {
            refused(&unit("character(40) :: text", "write(text, *) x**2\nread(text, *) y"), "E0203")
        }),
        trial("refused::scratch_file".to_owned(), || {
            let opened = "open(10, status='scratch', form='unformatted')";
            refused(&unit("", &format!("{opened}\nwrite(10) x**2\nrewind(10)\nread(10) y\nclose(10)")), "E0203")
        }),
        trial("refused::defined_assignment".to_owned(), || ends(DEFINED_ASSIGNMENT, "defined assignment")),
        trial("refused::finaliser".to_owned(), || ends(FINALISER, "finalisers")),
        trial("refused::finaliser_of_a_component".to_owned(), || ends(FINALISER_OF_A_COMPONENT, "finalisers")),
        trial("refused::rule_lies".to_owned(), || refused(&rules(LYING), "E0111")),
        trial("refused::rule_of_an_allocatable".to_owned(), || refused(&rules(ALLOCATABLE), "E0111")),
        trial("refused::rule_of_no_procedure".to_owned(), || refused(&rules(NO_PROCEDURE), "E0111")),
        trial("selftest::wrong".to_owned(), selftest),
    ];
    for source in corpus::files(&toolchain::root().join("tests/fortran"), &["f90", "f"])? {
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if name == "check" {
            continue;
        }
        for level in LEVELS {
            let source = source.clone();
            trials.push(trial(format!("{name}::{level}"), move || right(&source, level)));
        }
    }
    Ok(trials)
}

fn trial(name: String, test: impl FnOnce() -> Result<()> + Send + 'static) -> Trial {
    Trial::test(name, move || test().map_err(Failed::from))
}

/// Compiles the module, the harness and a program, in that order, in a folder of their own.
fn compile(folder: &Path, source: &Path, level: &str) -> Result<process::Finished> {
    let root = toolchain::root();
    let mut plugin = std::ffi::OsString::from("-fpass-plugin=");
    plugin.push(toolchain::plugin()?);
    let mut command = Command::new(toolchain::llvm_program("flang"));
    command.current_dir(folder).arg(format!("-{level}")).arg("-g").arg(plugin);
    command.arg(root.join("bindings/fortran/enzyme.f90")).arg(root.join("tests/fortran/check.f90"));
    // Flang makes code on the stack for internal procedures that are handed on.
    command.arg(source).args(["-fuse-ld=lld", "-Wl,-z,execstack", "-o", "program"]);
    process::run(command.arg("-lopenblas"), COMPILE_LIMIT)
}

fn run(folder: &Path) -> Result<process::Finished> {
    process::run(&mut Command::new(folder.join("program")), corpus::RUN_LIMIT)
}

fn right(source: &Path, level: &str) -> Result<()> {
    let folder = toolchain::scratch()?;
    compile(folder.path(), source, level)?.expect_success("flang failed")?;
    let finished = run(folder.path())?.expect_success("the program failed")?;
    let good = finished.stdout.lines().any(|line| line.trim_start().starts_with("ok "));
    if good && !finished.stdout.contains("WRONG") {
        return Ok(());
    }
    Err(finished.failure("a derivative is wrong, or none was checked"))
}

/// Procedures that assignments call where only flang's run-time library knows them.
const DEFINED_ASSIGNMENT: &str = "
module m
  type inner
    real(8) :: v = 0
  contains
    procedure :: take
    generic :: assignment(=) => take
  end type
  type outer
    type(inner) :: x
    real(8), allocatable :: w(:)
  end type
contains
  subroutine take(a, b)
    class(inner), intent(inout) :: a
    class(inner), intent(in) :: b
    a%v = 2*b%v
  end subroutine
  function f(n, x) result(r)
    integer, intent(in) :: n
    real(8), intent(in) :: x(n)
    real(8) :: r
    type(outer) :: a, b
    a%x%v = x(1)
    a%w = x
    b = a
    r = b%x%v**2 + sum(b%w**2)
  end function
end module
program p
  use m
  use check
  use enzyme
  real(8) :: x(3), g(3)
  call fill(x)
  g = 0
  call enzyme_grad(f, 3, x, g)
  call check_gradient('f', f, 3, x, g)
end program
";

/// Procedures that are called when a value ends.
const FINALISER: &str = "
module m
  type inner
    real(8) :: v = 0
  contains
    final :: gone
  end type
  real(8) :: total = 0
  type outer
    type(inner) :: x
    real(8), allocatable :: w(:)
  end type
contains
  subroutine gone(a)
    type(inner), intent(inout) :: a
    total = total + a%v
  end subroutine
  function f(n, x) result(r)
    integer, intent(in) :: n
    real(8), intent(in) :: x(n)
    real(8) :: r
    type(outer) :: a, b
    a%x%v = x(1)
    a%w = x
    b = a
    r = total + b%x%v**2 + sum(b%w**2)
  end function
end module
program p
  use m
  use check
  use enzyme
  real(8) :: x(3), g(3)
  call fill(x)
  g = 0
  call enzyme_grad(f, 3, x, g)
  call check_gradient('f', f, 3, x, g)
end program
";

/// The same of a polymorphic component, whose type only the running program knows.
const FINALISER_OF_A_COMPONENT: &str = "
module m
  type base
    real(8) :: v = 0
  end type
  type, extends(base) :: inner
  contains
    final :: gone
  end type
  type outer
    class(base), allocatable :: x
  end type
  real(8) :: total = 0
contains
  subroutine gone(a)
    type(inner), intent(inout) :: a
    total = total + a%v
  end subroutine
  subroutine hold(x)
    real(8), intent(in) :: x
    type(outer) :: a
    allocate (inner :: a%x)
    a%x%v = x
  end subroutine
  function f(n, x) result(r)
    integer, intent(in) :: n
    real(8), intent(in) :: x(n)
    real(8) :: r
    call hold(x(1))
    r = total
  end function
end module
program p
  use m
  use check
  use enzyme
  real(8) :: x(3), g(3)
  call fill(x)
  g = 0
  call enzyme_grad(f, 3, x, g)
  call check_gradient('f', f, 3, x, g)
end program
";

/// A program that compiles, and ends with a message where its derivative would be wrong.
fn ends(program: &str, message: &str) -> Result<()> {
    let folder = toolchain::scratch()?;
    let source = folder.path().join("ends.f90");
    std::fs::write(&source, program).map_err(Error::io("writing a program"))?;
    compile(folder.path(), &source, "O1")?.expect_success("flang failed")?;
    let finished = run(folder.path())?;
    let said = finished.stderr.contains("no derivative") && finished.stderr.contains(message);
    if said && !finished.succeeded() && !finished.stdout.contains("ok ") {
        return Ok(());
    }
    Err(finished.failure(&format!("it must end with a message about {message}")))
}

/// The function describes its argument by its shape; without an interface only an address is passed.
const SHAPE: &str = "
module shapes
contains
  function f(x) result(y)
    double precision, intent(in) :: x(:)
    double precision :: y
    y = sum(x**2)
  end function
end module
program main
  use shapes
  use enzyme
  double precision :: x(3), dx(3)
  call enzyme_grad(f, x, dx)
end program
";

/// An adjoint has no place in what is passed by value.
const VALUE: &str = "
module values
contains
  function f(x) result(y)
    double precision, value :: x
    double precision :: y
    y = x**2
  end function
end module
program main
  use values
  use enzyme
  double precision :: x, dx
  call enzyme_grad(f, x, dx)
end program
";

/// A program with a function `f(x)` that has its result `y` from some statements.
fn unit(declared: &str, statements: &str) -> String {
    format!(
        "
module units
contains
  function f(x) result(y)
    double precision, intent(in) :: x
    double precision :: y
    {declared}
    {statements}
  end function
end module
program main
  use units
  use enzyme
  double precision :: x = 1.0d0, dx = 0.0d0
  call enzyme_grad(f, x, dx)
end program
"
    )
}

/// A program with a function `f(x)` and rules for it.
fn rules(own: &str) -> String {
    format!(
        "
module ruled
contains
  function f(x) result(y)
    double precision, intent(in) :: x
    double precision :: y
    y = x**2
  end function
{own}
end module
program main
  use ruled
  use enzyme
  double precision :: x, dx
  x = 1
  dx = 0
  call enzyme_grad(f, x, dx)
end program
"
    )
}

/// The reverse rule takes a real in the place where an address has a shadow.
const LYING: &str = "
  function f_augmented(x, dx) result(y)
    double precision, intent(in) :: x, dx
    double precision :: y
    y = f(x)
  end function
  subroutine f_reverse(x, seed)
    double precision, value :: x, seed
  end subroutine
  subroutine rules
    use enzyme
    call enzyme_register_gradient(f, f_augmented, f_reverse)
  end subroutine
";

/// What becomes of the shadow of an array that the procedure may allocate cannot be stated.
const ALLOCATABLE: &str = "
  subroutine grow(a)
    double precision, allocatable, intent(inout) :: a(:)
    a = [a, 1d0]
  end subroutine
  subroutine grow_twice(a, da)
    double precision, allocatable, intent(inout) :: a(:), da(:)
    call grow(a)
    call grow(da)
  end subroutine
  subroutine rules
    use enzyme
    call enzyme_register_gradient(grow, grow_twice, grow_twice)
  end subroutine
";

const NO_PROCEDURE: &str = "
  subroutine rules(x)
    use enzyme
    double precision :: x
    call enzyme_register_gradient(f, x, x)
  end subroutine
";

fn refused(source: &str, code: &str) -> Result<()> {
    let folder = toolchain::scratch()?;
    let file = folder.path().join("refused.f90");
    std::fs::write(&file, source).map_err(Error::io("writing a program"))?;
    let finished = compile(folder.path(), &file, "O1")?;
    if finished.stderr.contains(&format!("[{code}]")) && finished.stderr.contains("refused.f90:") {
        return Ok(());
    }
    Err(finished.failure(&format!("it is not refused with {code} at its place")))
}

/// A gradient that is wrong in one component.
fn selftest() -> Result<()> {
    let source = "
module wrong
contains
  function f(n, x) result(y)
    integer, intent(in) :: n
    double precision, intent(in) :: x(n)
    double precision :: y
    y = sum(x**2)
  end function
end module
program main
  use wrong
  use check
  double precision :: x(3), g(3)
  x = [1d0, 2d0, 3d0]
  g = [2d0, 4d0, 6.00001d0]
  call check_gradient('wrong', f, 3, x, g)
end program
";
    let folder = toolchain::scratch()?;
    let file = folder.path().join("wrong.f90");
    std::fs::write(&file, source).map_err(Error::io("writing a program"))?;
    compile(folder.path(), &file, "O1")?.expect_success("flang failed")?;
    let finished = run(folder.path())?.expect_success("the program failed")?;
    if finished.stdout.contains("WRONG wrong") {
        return Ok(());
    }
    Err(finished.failure("a wrong gradient passes"))
}
