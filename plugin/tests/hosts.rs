//! One plugin file in every host: clang, opt, flang, lld with full and thin link-time optimisation, and rustc.
//!
//! The plugin is `ENZYME_PLUGIN`, else `build/lib/LLVMEnzyme-22.so` of the project. It is looked for there and not built
//! here, since building tests together with tools would link it against LLVM.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn plugin() -> String {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../build/lib/LLVMEnzyme-22.so");
    let path = std::env::var_os("ENZYME_PLUGIN").map_or(built, PathBuf::from);
    assert!(path.is_file(), "{} is missing: `make` builds it", path.display());
    path.canonicalize().unwrap().to_str().unwrap().to_owned()
}

/// A folder for one test, with its sources.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("hosts-{name}"));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        for (file, text) in files {
            std::fs::write(path.join(file), text).unwrap();
        }
        Folder(path)
    }

    fn try_run(&self, program: &str, args: &[&str]) -> Output {
        let mut command = Command::new(program);
        command.current_dir(&self.0).args(args).env("RUSTC_BOOTSTRAP", "1");
        command.output().unwrap_or_else(|e| panic!("{program}: {e}"))
    }

    fn run(&self, program: &str, args: &[&str]) -> String {
        let out = self.try_run(program, args);
        let error = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.success(), "{program} {args:?}\n{error}");
        String::from_utf8_lossy(&out.stdout).into_owned() + &error
    }

    /// Runs what a compiler made here.
    fn result(&self) -> String {
        self.run(self.0.join("program").to_str().unwrap(), &[])
    }

    fn has(&self, file: &str) -> bool {
        self.0.join(file).exists()
    }
}

const SQUARE: &str = "#include <stdio.h>
extern double __enzyme_autodiff(void *, double);
double square(double x) { return x * x; }
int main() { printf(\"square'(3.140000) = %f\\n\", __enzyme_autodiff((void *)square, 3.14)); }
";
const ANSWER: &str = "square'(3.140000) = 6.280000\n";

/// A marker whose function is in another file.
const HERE: &str = "#include <stdio.h>
extern double __enzyme_autodiff(void *, double);
extern double cube(double);
int main() { printf(\"%f\\n\", __enzyme_autodiff((void *)cube, 2.0)); }
";
const THERE: &str = "double cube(double x) { return x * x * x; }\n";
const CUBE: &str = "12.000000\n";

/// The attributes, the header and the pass: all that `-fplugin` brings.
const ATTRIBUTES: &str = "#include <enzyme/enzyme>
#include <cmath>
#include <cstdio>
#ifndef ENZYME_VERSION_MAJOR
#error the plugin says which version it is
#endif
__attribute__((enzyme_inactive)) double weight(double x) { return x * x; }
[[enzyme::function_like(\"log1p\")]] double own(double x) { return std::log1p(x); }
double f(double x) { return weight(x) * x + own(x); }
int main() {
  auto slope = enzyme::autodiff<enzyme::Reverse>(f, enzyme::Active{3.0});
  std::printf(\"%.12f\\n\", enzyme::get<0>(enzyme::get<0>(slope)));
}
";

#[test]
fn clang_with_fplugin_alone() {
    let clang_plugin = plugin().replace("LLVMEnzyme-22", "ClangEnzyme-22");
    let load = format!("-fplugin={clang_plugin}");
    for level in ["-O0", "-O2"] {
        let folder = Folder::new(&format!("fplugin{level}"), &[("a.cpp", ATTRIBUTES)]);
        folder.run("clang++-22", &[level, "-std=c++17", &load, "a.cpp", "-o", "program"]);
        assert_eq!(folder.result(), "9.250000000000\n");
        // Both ways to load it at once, and its name where the pass plugin's is expected.
        folder.run(
            "clang++-22",
            &[level, "-std=c++17", &load, &format!("-fpass-plugin={}", plugin()), "a.cpp", "-o", "program"],
        );
        assert_eq!(folder.result(), "9.250000000000\n");
    }
    let folder = Folder::new("fpass-clang-plugin", &[("a.c", SQUARE)]);
    folder.run("clang-22", &["-O2", &format!("-fpass-plugin={clang_plugin}"), "a.c", "-o", "program"]);
    assert_eq!(folder.result(), ANSWER);
}

#[test]
fn rules_say_where_they_are_used() {
    let load = format!("-fplugin={}", plugin().replace("LLVMEnzyme-22", "ClangEnzyme-22"));
    let source = "extern double __enzyme_autodiff(void *, ...);
__attribute__((noinline)) static double f(double x) { return x * x; }
static double aug(double x) { return x * x; }
static double rev(double x, double seed) { return 2.0 * x * seed; }
void *__enzyme_register_gradient_f[] = {(void *)f, (void *)aug, (void *)rev};
static double unused(double x) { return x; }
void *__enzyme_register_gradient_unused[] = {(void *)unused, (void *)aug, (void *)rev};
static double g(double x) {
  return f(x) + x;
}
double dg(double x) { return __enzyme_autodiff((void *)g, x); }
";
    let folder = Folder::new("rules", &[("a.c", source)]);
    let said = folder.run("clang-22", &["-O1", "-g", &load, "-mllvm", "-enzyme-print-rules", "-c", "a.c"]);
    assert!(said.contains("enzyme: the augmented and reverse rules of 'f': a.c:9:10"), "{said}");
    assert!(said.contains("enzyme: the rules of 'unused' are not used"), "{said}");
}

#[test]
fn flags_of_the_reference_are_accepted_with_one_note() {
    let load = format!("-fplugin={}", plugin().replace("LLVMEnzyme-22", "ClangEnzyme-22"));
    let folder = Folder::new("flags", &[("a.c", SQUARE)]);
    let said = folder.run(
        "clang-22",
        &["-O2", &load, "-mllvm", "-enzyme-preopt=0", "-mllvm", "-enzyme-zero-cache", "a.c", "-o", "program"],
    );
    assert_eq!(said, "note: without effect here: -enzyme-preopt, -enzyme-zero-cache (docs/compat.md says why)\n");
    assert_eq!(folder.result(), ANSWER);
}

#[test]
fn all_operations_of_a_file_are_rounded() {
    let load = format!("-fplugin={}", plugin().replace("LLVMEnzyme-22", "ClangEnzyme-22"));
    let source = "#include <stdio.h>
static volatile double one = 1.0, three = 3.0;
static volatile float thirds = 3.0f;
int main(void) { printf(\"%a %a\\n\", one / three, (double)(1.0f / thirds)); return 0; }
";
    let folder = Folder::new("truncate-all", &[("a.c", source)]);
    let as_given = [
        ("64to32", "0x1.555556p-2 0x1.555556p-2\n"),
        ("11-52to8-4", "0x1.5p-2 0x1.555556p-2\n"),
        ("64to32;32to5-3", "0x1.555556p-2 0x1.6p-2\n"),
        ("32to64", "0x1.5555555555555p-2 0x1.555556p-2\n"),
    ];
    for (formats, wanted) in as_given {
        for level in ["-O0", "-O2", "-flto"] {
            let option = format!("-enzyme-truncate-all={formats}");
            let link = if level == "-flto" { "-fuse-ld=lld" } else { "-fuse-ld=bfd" };
            folder.run("clang-22", &[level, link, &load, "-mllvm", &option, "a.c", "-o", "program"]);
            assert_eq!(folder.result(), wanted, "{formats} {level}");
        }
    }
    for formats in ["64to64", "64to32;64to16"] {
        let option = format!("-enzyme-truncate-all={formats}");
        let wrong = folder.try_run("clang-22", &[&load, "-mllvm", &option, "-c", "a.c"]);
        assert!(!wrong.status.success(), "{formats}");
        assert!(String::from_utf8_lossy(&wrong.stderr).contains("[E0105]"), "{formats}");
    }
}

/// A fused product and sum is rounded once in a type, and twice by way of another format.
#[test]
fn all_operations_of_a_file_are_done_in_more_digits() {
    let load = format!("-fplugin={}", plugin().replace("LLVMEnzyme-22", "ClangEnzyme-22"));
    let include = format!("-I{}/include", env!("CARGO_MANIFEST_DIR").trim_end_matches("/plugin"));
    let source = "#include <enzyme/fprt/mpfr.h>
static volatile double large = 0x1p53, half = 1.0, little = 0x1p-14;
int main(void) { printf(\"%a\\n\", fma(half, large, half + little)); return 0; }
";
    let folder = Folder::new("widen-all", &[("a.c", source)]);
    // 2^53 + 1 + 2^-14 lies above the middle of two doubles, and with 63 digits it is the middle.
    for (options, wanted) in
        [(vec![], "0x1.0000000000001p+53\n"), (vec!["-mllvm", "-enzyme-truncate-all=64to80"], "0x1p+53\n")]
    {
        for level in ["-O0", "-O2"] {
            let mut words = vec![level, &include, &load];
            words.extend(&options);
            words.extend(["a.c", "-o", "program", "-lm", "-lmpfr"]);
            folder.run("clang-22", &words);
            assert_eq!(folder.result(), wanted, "{options:?} {level}");
        }
    }
}

#[test]
fn clang_at_every_level() {
    let pass = format!("-fpass-plugin={}", plugin());
    for level in ["-O0", "-O1", "-O2", "-O3", "-Os", "-Oz"] {
        let folder = Folder::new(&format!("clang{level}"), &[("a.c", SQUARE)]);
        folder.run("clang-22", &[level, &pass, "a.c", "-o", "program"]);
        assert_eq!(folder.result(), ANSWER, "{level}");
    }
}

#[test]
fn opt_by_name_and_in_a_default_pipeline() {
    let load = format!("-load-pass-plugin={}", plugin());
    let among_others = "-passes=preserve-nvvm,function(simple-gvn,jl-inst-simplify),enzyme,preserve-nvvm-end";
    for passes in ["-passes=enzyme", "-passes=default<O2>", "-passes=default<O0>", among_others] {
        let folder = Folder::new("opt", &[("a.c", SQUARE)]);
        folder.run("clang-22", &["-O1", "-emit-llvm", "-c", "a.c", "-o", "a.bc"]);
        folder.run("opt-22", &[&load, passes, "a.bc", "-o", "b.bc"]);
        folder.run("clang-22", &["b.bc", "-o", "program"]);
        assert_eq!(folder.result(), ANSWER, "{passes}");
    }
}

#[test]
fn markers_called_as_functions_of_another_type_are_left_alone() {
    let module = "declare double @__enzyme_ignore_derivatives(double)
declare void @__enzyme_double(ptr, i64)
declare ptr @__enzyme_pointer(ptr)
declare double @__enzyme_autodiff(ptr, ...)
define double @f(double %x) {
  %a = call double @__enzyme_ignore_derivatives()
  %p = call ptr @__enzyme_pointer()
  call void @__enzyme_double()
  %m = fmul double %x, %a
  ret double %m
}
define double @d(double %x) {
  %d = call double (ptr, ...) @__enzyme_autodiff(ptr @f, double %x)
  ret double %d
}";
    let load = format!("-load-pass-plugin={}", plugin());
    for passes in ["-passes=enzyme", "-passes=default<O0>", "-passes=default<O2>"] {
        let folder = Folder::new("opt-types", &[("a.ll", module)]);
        let out = folder.run("opt-22", &[&load, passes, "a.ll", "-S", "-o", "-"]);
        assert!(out.contains("call double @__enzyme_ignore_derivatives()"), "{passes}: {out}");
    }
}

/// Masked stores become branches after their function was inlined.
#[test]
fn branches_made_by_hand_are_known_to_the_passes_behind() {
    let module = "declare double @__enzyme_autodiff(ptr, ...)
declare void @llvm.masked.store.v4f64.p0(<4 x double>, ptr, <4 x i1>)
define double @f(ptr %p, ptr %q) {
  %r = call fastcc ptr @kept(ptr null)
  call fastcc void @filled(ptr %q)
  ret double 0.0
}
define fastcc void @filled(ptr %q) {
  %count = load i32, ptr %q, align 8
  %wide = zext i32 %count to i64
  %lanes = insertelement <4 x i64> zeroinitializer, i64 %wide, i64 0
  %mask = icmp uge <4 x i64> %lanes, splat (i64 1)
  tail call void @llvm.masked.store.v4f64.p0(<4 x double> zeroinitializer, ptr null, <4 x i1> %mask)
  ret void
}
define fastcc ptr @kept(ptr %p) noinline {
  ret ptr %p
}
define double @d(ptr %p, ptr %dp) {
  %d = call double (ptr, ...) @__enzyme_autodiff(ptr @f, ptr %p, ptr %dp, ptr %p, ptr %dp)
  ret double %d
}";
    let load = format!("-load-pass-plugin={}", plugin());
    let folder = Folder::new("opt-masked", &[("a.ll", module)]);
    let out = folder.run("opt-22", &[&load, "-passes=enzyme", "a.ll", "-S", "-o", "-"]);
    assert!(!out.contains("@__enzyme_autodiff("), "{out}");
}

#[test]
fn rules_in_metadata_are_used() {
    // A wrong derivative on purpose: the rule's.
    let module = "declare double @__enzyme_autodiff(ptr, ...)
declare double @__enzyme_fwddiff(ptr, ...)
declare {ptr, double} @__enzyme_augmentfwd(ptr, ...)
declare double @__enzyme_fwdsplit(ptr, ...)
declare i32 @printf(ptr, ...)
@format = private constant [10 x i8] c\"%g %g %g\\0A\\00\"
define double @square(double %x) !enzyme_augment !0 !enzyme_gradient !1 !enzyme_derivative !2 !enzyme_splitderivative !3 {
  %y = fmul double %x, %x
  ret double %y
}
define {ptr, double} @augmented(double %x) {
  %y = fmul double %x, %x
  %r = insertvalue {ptr, double} {ptr null, double 0.0}, double %y, 1
  ret {ptr, double} %r
}
define double @reversed(double %x, double %seed, ptr %tape) {
  %d = fmul double %seed, 100.0
  ret double %d
}
define double @tangent(double %x, double %dx) {
  %d = fmul double %dx, 10.0
  ret double %d
}
define double @on_tape(double %x, double %dx, ptr %tape) {
  %d = fmul double %dx, 7.0
  ret double %d
}
define double @f(double %x) {
  %y = call double @square(double %x)
  ret double %y
}
define i32 @main() {
  %g = call double (ptr, ...) @__enzyme_autodiff(ptr @f, double 3.0)
  %t = call double (ptr, ...) @__enzyme_fwddiff(ptr @f, double 3.0, double 1.0)
  %a = call {ptr, double} (ptr, ...) @__enzyme_augmentfwd(ptr @f, double 3.0)
  %tape = extractvalue {ptr, double} %a, 0
  %s = call double (ptr, ...) @__enzyme_fwdsplit(ptr @f, double 3.0, double 1.0, ptr %tape)
  %n = call i32 (ptr, ...) @printf(ptr @format, double %g, double %t, double %s)
  ret i32 0
}
!0 = !{ptr @augmented}
!1 = !{ptr @reversed}
!2 = !{ptr @tangent}
!3 = !{ptr @on_tape}";
    let load = format!("-load-pass-plugin={}", plugin());
    for passes in ["-passes=enzyme", "-passes=default<O2>"] {
        let folder = Folder::new("opt-rules", &[("a.ll", module)]);
        folder.run("opt-22", &[&load, passes, "a.ll", "-o", "b.bc"]);
        folder.run("clang-22", &["b.bc", "-o", "program"]);
        assert_eq!(folder.result(), "100 10 7\n", "{passes}");
    }
}

#[test]
fn values_without_derivative_are_stated_in_metadata() {
    let module = "declare double @__enzyme_autodiff(ptr, ...)
declare i32 @printf(ptr, ...)
@format = private constant [4 x i8] c\"%g\\0A\\00\"
define double @f(double %x) {
  %a = fmul double %x, %x
  %b = fmul double %x, 7.0, !enzyme_inactive !0
  %c = fadd double %a, %b
  %d = fmul double %c, %b, !enzyme_other !0
  ret double %d
}
define i32 @main() {
  %g = call double (ptr, ...) @__enzyme_autodiff(ptr @f, double 3.0)
  %n = call i32 (ptr, ...) @printf(ptr @format, double %g)
  ret i32 0
}
!0 = !{}";
    let load = format!("-load-pass-plugin={}", plugin());
    for passes in ["-passes=enzyme", "-passes=default<O0>", "-passes=default<O2>"] {
        let folder = Folder::new("opt-inactive", &[("a.ll", module)]);
        folder.run("opt-22", &[&load, passes, "a.ll", "-o", "b.bc"]);
        folder.run("clang-22", &["b.bc", "-o", "program"]);
        // (x^2 + b) b with b = 21 constant: 2 x b.
        assert_eq!(folder.result(), "126\n", "{passes}");
    }
}

#[test]
fn flang() {
    let source = "program p
  use iso_c_binding
  interface
    function autodiff(f, x) bind(c, name='__enzyme_autodiff_f')
      import c_funptr, c_double
      type(c_funptr), value :: f
      real(c_double), value :: x
      real(c_double) :: autodiff
    end function
  end interface
  print '(f8.4)', autodiff(c_funloc(square), 3.14d0)
contains
  real(c_double) function square(x) bind(c)
    real(c_double), value :: x
    square = x * x
  end function
end program
";
    let pass = format!("-fpass-plugin={}", plugin());
    for level in ["-O0", "-O1", "-O2"] {
        let folder = Folder::new(&format!("flang{level}"), &[("a.f90", source)]);
        folder.run("flang-22", &[level, &pass, "a.f90", "-o", "program"]);
        assert_eq!(folder.result().trim(), "6.2800", "{level}");
    }
}

#[test]
fn lld_in_a_full_and_in_a_thin_link() {
    let load = format!("-Wl,--load-pass-plugin={}", plugin());
    for lto in ["-flto", "-flto=thin"] {
        let folder = Folder::new(&format!("lld{lto}"), &[("a.c", SQUARE)]);
        let lld = "--ld-path=/usr/bin/ld.lld-22";
        folder.run("clang-22", &["-O2", lto, "a.c", "-o", "program", lld, &load]);
        assert_eq!(folder.result(), ANSWER, "{lto}");
    }
}

#[test]
fn a_function_in_another_file_is_differentiated_in_the_link() {
    let pass = format!("-fpass-plugin={}", plugin());
    let load = format!("-Wl,--load-pass-plugin={}", plugin());
    let folder = Folder::new("link", &[("a.c", HERE), ("b.c", THERE)]);
    // The compile step has the plugin too, finds no body, and leaves the marker for the link.
    for file in ["a", "b"] {
        let (source, object) = (format!("{file}.c"), format!("{file}.o"));
        folder.run("clang-22", &["-O2", "-flto", &pass, "-c", &source, "-o", &object]);
    }
    let lld = "--ld-path=/usr/bin/ld.lld-22";
    folder.run("clang-22", &["-O2", "-flto", "a.o", "b.o", "-o", "program", lld, &load]);
    assert_eq!(folder.result(), CUBE);
    // Without a link to come it is an error.
    let out = folder.try_run("clang-22", &["-O2", &pass, "-c", "a.c", "-o", "alone.o"]);
    assert!(!out.status.success());
    assert!(!folder.has("alone.o"));
}

#[test]
fn functions_that_other_files_choose_are_differentiated_in_the_link() {
    let helper = "extern double __enzyme_autodiff(void *, ...);
double slope(double (*f)(double), double x) { return __enzyme_autodiff((void *)f, x); }
";
    let main = "#include <stdio.h>
double slope(double (*f)(double), double x);
static double square(double x) { return x * x; }
static double cube(double x) { return x * x * x; }
int main(int count, char **words) { printf(\"%g %g\\n\", slope(square, 3), slope(count > 7 ? square : cube, 3)); }
";
    let pass = format!("-fpass-plugin={}", plugin());
    let load = format!("-Wl,--load-pass-plugin={}", plugin());
    let folder = Folder::new("chosen", &[("a.c", helper), ("b.c", main)]);
    for level in ["-O0", "-O2"] {
        let args = [level, "-flto", &pass, "a.c", "b.c", "-o", "program", "--ld-path=/usr/bin/ld.lld-22", &load];
        folder.run("clang-22", &args);
        assert_eq!(folder.result().trim(), "6 27", "{level}");
    }
    // By itself the first file may have other callers.
    let out = folder.try_run("clang-22", &["-O2", &pass, "-c", "a.c", "-o", "alone.o"]);
    assert!(!out.status.success() && String::from_utf8_lossy(&out.stderr).contains("E0103"));
}

#[test]
fn rustc() {
    let source = "unsafe extern \"C\" { fn __enzyme_autodiff(f: *const (), x: f64) -> f64; }
#[inline(never)] extern \"C\" fn square(x: f64) -> f64 { x * x }
fn main() { println!(\"square'(3.140000) = {:.6}\", unsafe { __enzyme_autodiff(square as *const (), 3.14) }); }
";
    let load = format!("-Zllvm-plugins={}", plugin());
    for optimise in [&[][..], &["-O"], &["-O", "-Clto=fat"]] {
        let folder = Folder::new(&format!("rustc{}", optimise.len()), &[("a.rs", source)]);
        let mut args = vec!["--edition=2024", &load, "a.rs", "-o", "program"];
        args.extend(optimise);
        folder.run("rustc", &args);
        assert_eq!(folder.result(), ANSWER, "{optimise:?}");
    }
}

#[test]
fn options_are_known_where_the_plugin_is_loaded_first() {
    let path = plugin();
    let (load, pass) = (format!("-load={path}"), format!("-load-pass-plugin={path}"));
    let folder = Folder::new("options", &[("a.c", SQUARE)]);
    folder.run("clang-22", &["-O1", "-emit-llvm", "-c", "a.c", "-o", "a.bc"]);
    let off = ["-passes=enzyme", "-enzyme-enable=0", "-S", "a.bc", "-o", "-"];
    let text = folder.run("opt-22", &[&[load.as_str(), &pass][..], &off].concat());
    assert!(text.contains("call double @__enzyme_autodiff"), "{text}");
    let help = folder.run("opt-22", &[&load, &pass, "--help"]);
    assert!(help.contains("enzyme-inline-count"), "{help}");
    let wrong = folder.try_run("opt-22", &[&load, &pass, "-passes=enzyme", "-enzyme-no-such-option", "a.bc"]);
    assert!(!wrong.status.success());
    let plugin = format!("-fpass-plugin={path}");
    let clang = ["-Xclang", "-load", "-Xclang", &path, "-mllvm", "-enzyme-enable=0", "-S", "-emit-llvm", "-o", "-"];
    let text = folder.run("clang-22", &[&["-O1", &plugin, "a.c"][..], &clang].concat());
    assert!(text.contains("@__enzyme_autodiff"), "{text}");
}

#[test]
fn two_copies_of_the_library_get_along() {
    let folder = Folder::new("copies", &[("a.c", SQUARE)]);
    std::fs::copy(plugin(), folder.0.join("copy.so")).unwrap();
    let (first, second) = (format!("-fpass-plugin={}", plugin()), "-fpass-plugin=./copy.so");
    let load = ["-Xclang", "-load", "-Xclang", "./copy.so"];
    folder.run("clang-22", &[&["-O2", &first, second, "a.c", "-o", "program"][..], &load].concat());
    assert_eq!(folder.result(), ANSWER);
}

#[test]
fn errors_fail_cleanly_in_every_host() {
    let source = "extern double __enzyme_autodiff(void *, ...);
double unknown(double);
double f(double x) { return unknown(x); }
double g(double x) {
  return __enzyme_autodiff((void *)f, x);
}
";
    let path = plugin();
    let pass = format!("-fpass-plugin={path}");
    let folder = Folder::new("errors", &[("a.c", source)]);
    let out = folder.try_run("clang-22", &["-O1", "-g", &pass, "-c", "a.c", "-o", "a.o"]);
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(1), "{text}");
    assert!(text.contains("a.c:") && text.contains("error: ") && text.contains("1 error generated"), "{text}");
    assert!(!folder.has("a.o"));
    folder.run("clang-22", &["-O1", "-g", "-emit-llvm", "-c", "a.c", "-o", "a.bc"]);
    let load = format!("-load-pass-plugin={path}");
    let out = folder.try_run("opt-22", &[&load, "-passes=enzyme", "a.bc", "-o", "b.bc"]);
    assert_eq!(out.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&out.stderr).contains("error: a.c:"));
    assert!(!folder.has("b.bc"), "no half-written output");
}
