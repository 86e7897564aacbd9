//! The command as users call it: its output, its messages, its exit statuses.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;
use std::process::{Command, Output};

fn enzyme(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_enzyme")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// A module of LLVM IR in a file of its own.
fn module(name: &str, ir: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, ir).unwrap();
    path
}

const HELLO: &str = r#"
@text = private constant [15 x i8] c"%s has %d, %f\0A\00"
declare i32 @printf(ptr, ...)
define i32 @main(i32 %count, ptr %strings) {
  %place = getelementptr ptr, ptr %strings, i64 1
  %first = load ptr, ptr %place
  %half = fdiv double 1.0, 2.0
  %printed = call i32 (ptr, ...) @printf(ptr @text, ptr %first, i32 %count, double %half)
  ret i32 %count
}
"#;

#[test]
fn a_program_runs_with_its_arguments_and_its_status() {
    let file = module("hello.ll", HELLO);
    let output = enzyme(&["run", file.to_str().unwrap(), "-x", "y"]);
    assert_eq!(text(&output.stderr), "");
    assert_eq!(text(&output.stdout), "-x has 3, 0.500000\n");
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn a_fault_is_told_after_the_output() {
    let ir = "@text = private constant [4 x i8] c\"out\\00\"\n\
              declare i32 @puts(ptr)\n\
              define i32 @main() {\n  %p = call i32 @puts(ptr @text)\n  %x = load i32, ptr null\n  ret i32 %x\n}\n";
    let output = enzyme(&["run", module("fault.ll", ir).to_str().unwrap()]);
    assert_eq!(text(&output.stdout), "out\n");
    assert!(text(&output.stderr).starts_with("enzyme: error: ") && text(&output.stderr).contains("`main`"));
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn what_cannot_be_run_is_refused() {
    let cases = [
        ("no.ll", None, "no.ll"),
        ("broken.ll", Some("define i32 @main() {"), "broken.ll"),
        ("library.ll", Some("define i32 @f() {\n  ret i32 0\n}\n"), "defines no function `main`"),
        ("strange.ll", Some("define i32 @main(double %x) {\n  ret i32 0\n}\n"), "`main` takes other arguments"),
    ];
    for (name, ir, expected) in cases {
        let file = match ir {
            Some(ir) => module(name, ir),
            None => PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name),
        };
        let output = enzyme(&["run", file.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(1), "{name}");
        assert!(text(&output.stderr).contains(expected), "{name}: {}", text(&output.stderr));
        assert_eq!(text(&output.stdout), "", "{name}");
    }
}

#[test]
fn codes_and_rules_are_explained() {
    let unknown = enzyme(&["explain", "E9999"]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(text(&unknown.stderr).contains("there is no error code \"E9999\""));
    for line in text(&enzyme(&["explain"]).stdout).lines() {
        let (code, title) = line.split_once("  ").unwrap();
        let page = enzyme(&["explain", code]);
        assert!(text(&page.stdout).starts_with(&format!("{code}: {title}\n\n")), "{code}");
        assert!(page.status.success());
    }
    let rules = enzyme(&["rules"]);
    assert!(rules.status.success());
    assert!(text(&rules.stdout).contains("sqrt"));
    let data: serde_json::Value = serde_json::from_slice(&enzyme(&["rules", "--json"]).stdout).unwrap();
    let of = |name: &str| data["rules"].as_array().unwrap().iter().find(|r| r["operations"][0] == name).unwrap();
    assert_eq!(of("fneg")["partials"], serde_json::json!(["∂/∂x: -1"]));
    let frees = |f: &serde_json::Value| f["functions"].as_array().unwrap().contains(&"free".into());
    assert!(data["functions"].as_array().unwrap().iter().any(|f| frees(f) && f["what"] == "releases"));
}

/// What goes wrong is data, too, where data is asked for.
#[test]
fn failures_are_data() {
    for arguments in [
        &["explain", "E9999", "--json"][..],
        &["explain", "--fn", "f", "--json"],
        &["explain", "no.c", "--fn", "f", "--json"],
        &["grad", "no.c", "--fn", "f", "-o", "no.o", "--json"],
        &["check", "no.f90", "--fn", "f", "--json"],
    ] {
        let output = enzyme(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let data: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(!data["errors"][0]["message"].as_str().unwrap().is_empty(), "{arguments:?}");
    }
}

#[test]
fn help_is_given() {
    let general = enzyme(&["help"]);
    assert!(general.status.success() && text(&general.stdout).contains("Usage: enzyme"));
    assert!(text(&enzyme(&["help", "check"]).stdout).contains("--tolerance"));
}

#[test]
fn the_command_line_is_checked() {
    assert!(text(&enzyme(&["version"]).stdout).starts_with(&format!("enzyme {}\n", env!("CARGO_PKG_VERSION"))));
    assert_eq!(enzyme(&["fly"]).status.code(), Some(2));
    assert_eq!(enzyme(&[]).status.code(), Some(2));
}

const ENERGY: &str = r#"
double missing(double x);
double cut(double x) { return x > 0.5 ? x * x : 0.0; }
double energy(double a, const double *x, int n)
{
    double sum = a;
    for (int i = 0; i + 1 < n; i++)
        sum += a * x[i] * x[i] * x[i + 1] + cut(x[i]);
    return sum;
}
double stuck(double x) { return missing(x) * x; }
double wrong(double x, double y);
"#;

/// Checks what `enzyme grad` prints, and that what it writes can be linked beside the program's own object and called.
#[test]
fn a_gradient_is_written_for_a_source_without_markers() {
    let source = module("energy.c", ENERGY);
    let folder = tempfile::tempdir().unwrap();
    let [object, program, main] = ["energy.o", "program", "main.c"].map(|name| folder.path().join(name));
    let (file, object_name) = (source.to_str().unwrap(), object.to_str().unwrap());
    let output = enzyme(&["grad", file, "--fn", "energy", "--wrt", "a,x", "--value", "-o", object_name]);
    assert_eq!(text(&output.stderr), "");
    assert_eq!(text(&output.stdout), "double energy_gradient(double a, double *da, double *x, double *dx, int n);\n");
    let calls = "#include <stdio.h>\ndouble energy(double, const double *, int);\n\
        double energy_gradient(double, double *, double *, double *, int);\ndouble missing(double x) { return x; }\n\
        int main(void) { double x[2] = {1.0, 3.0}, dx[2] = {0.0, 0.0}, da = 0.0;\n\
        double v = energy_gradient(2.0, &da, x, dx, 2);\n\
        printf(\"%g %g %g %g %g\\n\", v - energy(2.0, x, 2), v, da, dx[0], dx[1]); return 0; }\n";
    std::fs::write(&main, calls).unwrap();
    let mut clang = Command::new("clang-22");
    let built = clang.args([&source, &object, &main]).arg("-o").arg(&program).output().unwrap();
    assert_eq!(text(&built.stderr), "");
    let ran = Command::new(&program).output().unwrap();
    assert_eq!(text(&ran.stdout), "0 9 4 14 2\n");
}

#[test]
fn the_forms_of_a_derivative_go_by_the_name_of_the_file() {
    let source = module("forms.c", ENERGY);
    let folder = tempfile::tempdir().unwrap();
    for name in ["d.ll", "d.bc", "d.o"] {
        let file = folder.path().join(name);
        let arguments = ["grad", source.to_str().unwrap(), "--fn", "energy", "--forward", "-o", file.to_str().unwrap()];
        let output = enzyme(&arguments);
        assert_eq!(text(&output.stderr), "");
        assert!(
            text(&output.stdout)
                .starts_with("double energy_tangent(double a, double da, double *x, double *dx, int n)")
        );
        assert!(std::fs::metadata(&file).unwrap().len() > 100);
    }
    let ir = std::fs::read_to_string(folder.path().join("d.ll")).unwrap();
    assert!(ir.contains("@energy_tangent(double"), "{ir}");
    let strange = folder.path().join("d.txt");
    let output = enzyme(&["grad", source.to_str().unwrap(), "--fn", "energy", "-o", strange.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("must end with"));
    let same = folder.path().join("d.ll");
    let output = enzyme(&["grad", same.to_str().unwrap(), "--fn", "energy", "-o", same.to_str().unwrap()]);
    assert!(text(&output.stderr).contains("not overwritten"), "{}", text(&output.stderr));
}

const ASKING: &str = r#"
extern double __enzyme_autodiff(void *, ...);
double missing(double);
double cube(double x) { return x * x * x; }
__attribute__((noinline)) double slope(double x) { return __enzyme_autodiff((void *)cube, x); }
double unknown(double x) { return missing(x); }
double bent(double x) { return slope(x) * x; }
double refused(double x) { return __enzyme_autodiff((void *)unknown, x); }
"#;

/// What the file asks for itself is none of the request's business, except for what the request needs.
#[test]
fn other_derivatives_of_a_file_are_left() {
    let source = module("asking.c", ASKING);
    let folder = tempfile::tempdir().unwrap();
    let write = |function: &str, name: &str| {
        let file = folder.path().join(name);
        let output = enzyme(&["grad", source.to_str().unwrap(), "--fn", function, "-o", file.to_str().unwrap()]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        (std::fs::read_to_string(&file).unwrap_or_default(), text(&output.stderr).to_owned())
    };
    let (ir, said) = write("cube", "cube.ll");
    assert_eq!((ir.matches("@__enzyme_autodiff(").count(), said.as_str()), (3, ""), "{ir}");
    // The second derivative needs the first, which `slope` asks for.
    let (ir, said) = write("bent", "bent.ll");
    assert_eq!((ir.matches("@__enzyme_autodiff(").count(), said.as_str()), (2, ""), "{ir}");
    let (_, said) = write("cube", "cube.o");
    assert!(said.contains("asking.c:6:") && said.contains("note: another derivative"), "{said}");
    assert!(said.contains("[E0201]") && said.matches("another derivative").count() == 1, "{said}");
}

#[test]
fn pages_and_versions_come_as_data_too() {
    let read = |arguments: &[&str]| -> serde_json::Value { serde_json::from_slice(&enzyme(arguments).stdout).unwrap() };
    let all = read(&["explain", "--json"]);
    assert!(all.as_array().unwrap().len() > 20);
    let one = read(&["explain", "e0201", "--json"]);
    assert_eq!((one.as_array().unwrap().len(), &one[0]["code"]), (1, &"E0201".into()));
    assert!(one[0]["text"].as_str().unwrap().len() > 100);
    assert_eq!(read(&["version", "--json"])["llvm"], "22");
}

#[test]
fn refusals_name_the_line_as_text_and_as_data() {
    let source = module("refused.c", ENERGY);
    let file = source.to_str().unwrap();
    let output = enzyme(&["grad", file, "--fn", "stuck", "-o", "unused.ll"]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("refused.c:11:") && said.contains("[E0201]") && said.contains("help: "), "{said}");
    let output = enzyme(&["grad", file, "--fn", "stuck", "--json", "-o", "unused.ll"]);
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&said["errors"][0]["code"], &said["errors"][0]["line"]), (&"E0201".into(), &11.into()));
    for (arguments, part) in [
        (vec!["--fn", "nothing"], "there are: cut, energy, stuck"),
        (vec!["--fn", "energy", "--wrt", "q"], "there are 3: a, x, n"),
        (vec!["--fn", "energy", "--wrt", "n"], "neither a float nor a pointer"),
        (vec!["--fn", "energy", "--option", "enzyme-nothing=1"], "no option"),
    ] {
        let output = enzyme(&[&["grad", file, "-o", "unused.ll"], arguments.as_slice()].concat());
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains(part), "{}", text(&output.stderr));
    }
    assert!(!std::path::Path::new("unused.ll").exists());
}

#[test]
fn gradients_are_checked_against_differences() {
    let source = module("checked.c", ENERGY);
    let output = enzyme(&["check", source.to_str().unwrap(), "--fn", "energy", "--size", "5", "--set", "n=4"]);
    assert_eq!((text(&output.stderr), output.status.code()), ("", Some(0)));
    let lines: Vec<&str> = text(&output.stdout).lines().collect();
    assert!(lines.len() == 3 && lines[1].starts_with("a ") && lines[1].ends_with("right"), "{lines:?}");
    assert!(lines[2].starts_with("x ") && lines[2].contains(" 5 ") && lines[2].ends_with("right"), "{lines:?}");

    // At its kink a function has no derivative, which is no defect of a gradient.
    let kink = enzyme(&["check", source.to_str().unwrap(), "--fn", "cut", "--set", "x=0.5", "--json"]);
    let said: serde_json::Value = serde_json::from_slice(&kink.stdout).unwrap();
    assert_eq!((&said["arguments"][0]["verdict"], kink.status.code()), (&"not smooth".into(), Some(0)));

    // The program says what is not so: its gradient is wrong, and that is found.
    let lies = format!("{ENERGY}\nvoid *__enzyme_inactivefn_cut[] = {{(void *)cut}};\n");
    let lies = module("lies.c", &lies.replace("double cut(", "__attribute__((noinline)) double cut("));
    let output = enzyme(&["check", lies.to_str().unwrap(), "--fn", "energy"]);
    assert_eq!(output.status.code(), Some(1));
    let lines: Vec<&str> = text(&output.stdout).lines().collect();
    assert!(lines[1].ends_with("right") && lines[2].contains("wrong: element"), "{lines:?}");

    // A static function is differentiated as it stands in the source, not as what is left of it.
    let part = "static double part(const double *x, double unused, int n) { (void)unused; return x[0] * x[n - 1]; }\n\
        double (*volatile table[1])(const double *, double, int) = {part};\n\
        double use(const double *x) { return part(x, 1.0, 2); }\n";
    let part = module("part.c", part);
    let output = enzyme(&["check", part.to_str().unwrap(), "--fn", "part"]);
    assert_eq!((text(&output.stderr), output.status.code()), ("", Some(0)));
    assert_eq!(text(&output.stdout).lines().count(), 3, "{}", text(&output.stdout));

    // What lies behind an array is no number that could be compared.
    let long = module("long.c", "double f(const double *x) { return x[0] * x[10]; }\n");
    let output = enzyme(&["check", long.to_str().unwrap(), "--fn", "f"]);
    assert!(text(&output.stderr).contains("longer than --size"), "{}", text(&output.stderr));
    let output = enzyme(&["check", long.to_str().unwrap(), "--fn", "f", "--size", "11"]);
    assert_eq!((text(&output.stderr), output.status.code()), ("", Some(0)));

    // What is no number is wrong, whatever comes after it.
    let nan = "#include <math.h>\ndouble f(const double *x) { return x[0] * x[1] * x[2] + sqrt(x[0] - x[0]); }\n";
    let nan = module("nan.c", nan);
    let output = enzyme(&["check", nan.to_str().unwrap(), "--fn", "f"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("wrong: element 0"), "{}", text(&output.stdout));

    let crash = module("crash.c", "double f(double *x) { return *(double *)((long)x + (1l << 40)) * x[0]; }\n");
    let output = enzyme(&["check", crash.to_str().unwrap(), "--fn", "f"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("ended by a signal"), "{}", text(&output.stderr));
}

#[test]
fn functions_of_cpp_and_fortran_are_found_by_their_names() {
    let cpp = module(
        "named.cpp",
        "namespace m { template <class T> T sq(T x) { return x * x; } }\ntemplate double m::sq(double);\ntemplate float m::sq(float);\n",
    );
    let output = enzyme(&["check", cpp.to_str().unwrap(), "--fn", "m::sq<double>"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let output = enzyme(&["check", cpp.to_str().unwrap(), "--fn", "sq"]);
    assert!(text(&output.stderr).contains("may be one of several"), "{}", text(&output.stderr));
    let fortran = module(
        "named.f90",
        "module heat\ncontains\n  function energy(n, k) result(y)\n    integer, intent(in) :: n\n    real(8), intent(in) :: k(n)\n    real(8) :: y\n    y = sum(k**3)\n  end function\nend module\n",
    );
    let mut check = Command::new(env!("CARGO_BIN_EXE_enzyme"));
    let folder = tempfile::tempdir().unwrap();
    check.current_dir(folder.path()).arg("check").arg(fortran).args(["--fn", "Energy"]);
    let output = check.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("k ") && text(&output.stdout).contains("right"));
    // Nobody asked for the module's file.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// The page of the LSTM: what it says of each line, and that it needs nothing else.
#[test]
fn a_derivative_is_explained_beside_its_source() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned();
    let source = root.join("tests/corpus/lstm.c");
    let include = format!("-I{}", root.join("tests/corpus").display());
    let file = source.to_str().unwrap();
    let explain = |more: &[&str]| {
        enzyme(&[&["explain", file, "--fn", "lstm_objective", "--wrt", "4,5,6"], more, &["--", &include]].concat())
    };
    let output = explain(&["--json"]);
    assert_eq!(text(&output.stderr), "");
    let page: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let lines = page["files"][0]["lines"].as_array().unwrap();
    let at = |part: &str| lines.iter().find(|l| l["text"].as_str().unwrap().contains(part)).unwrap();
    let items = |line: &serde_json::Value| line["items"].as_array().unwrap().clone();
    // The state is active and its products with gates are kept; the number of layers is not active.
    let cell = at("cell[j] = cell[j] * forget");
    assert!(cell["active"] == true && items(cell).iter().any(|i| i["active"].is_string()));
    assert!(lines.iter().any(|l| l["kept"].as_u64().unwrap() >= 8), "{lines:?}");
    assert_eq!(at("for (int layer = 0")["active"], false);
    assert!(page["kept"].as_str().unwrap().contains("bytes in each iteration of"), "{}", page["kept"]);
    // Lines of the derivative come from lines of the source.
    let derivatives = page["derivatives"].as_array().unwrap();
    let place = |part: &str| format!("{}:{}", page["files"][0]["name"].as_str().unwrap(), at(part)["number"]);
    let written = derivatives.iter().flat_map(|d| d["lines"].as_array().unwrap());
    assert!(written.filter(|l| l["at"] == place("cell[j] = cell[j] * forget").as_str()).count() > 3);
    let folder = tempfile::tempdir().unwrap();
    let html = folder.path().join("page.html");
    let output = explain(&["-o", html.to_str().unwrap()]);
    assert_eq!((text(&output.stdout), output.status.code()), ("", Some(0)));
    let html = std::fs::read_to_string(html).unwrap();
    assert!(html.starts_with("<!doctype html>") && html.contains("prefers-color-scheme: dark"));
    assert!(!html.contains("http://") && !html.contains("https://") && !html.contains("src="));
}
