//! `enzyme check`: a gradient against differences of the function's own values.
//!
//! A program is written in C that fills the arguments in, calls function and gradient, and compares; it runs in a process of its own,
//! so that what goes wrong in the function stays there. All that the function leaves, its result and its arrays, is put
//! together to one number with weights between 1/2 and 3/2; the gradient gets these as seeds, so one run has every derivative in it.
//!
//! Differences are central and of fourth order, with a step of 1e-3 of the argument for double precision and 3e-2 for single: their error is
//! the step's fourth power times a fifth derivative, and rounding over the step. Where two steps disagree by more than the tolerance
//! the function is not smooth there, which is said and is no failure.
//!
//! Not handled: arguments that are structures or addresses of them, and functions without debug information.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use clap::Args;
use serde::Serialize;

use crate::driver::Language;
use crate::grad::{self, Failure, Made, Parameter, Wanted};
use crate::{progress, source};

/// How a gradient is checked.
#[derive(Args, Clone, Debug)]
pub struct How {
    /// Elements of arrays; integers have this value, too
    #[arg(long, default_value_t = 8, value_name = "N")]
    pub size: u32,
    /// An argument's value, or that of all its elements, as n=5 or x=0.25
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// What the arguments are filled with: other numbers for another seed
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u32,
    /// Largest error that is accepted, relative to the largest derivative
    /// [default: 1e-6, or 2e-2 if a number of single precision takes part]
    #[arg(long, value_name = "ERROR")]
    pub tolerance: Option<f64>,
}

/// What was found about one argument.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Its name, or its number.
    pub argument: String,
    /// How many derivatives were compared.
    pub compared: u32,
    /// Largest error, relative to the largest derivative of all.
    pub error: f64,
    /// The element with that error, from 0.
    pub element: u32,
    /// What the gradient says there.
    pub gradient: f64,
    /// What differences say there.
    pub difference: f64,
    /// `right`, `wrong`, or `not smooth`.
    pub verdict: String,
}

/// Makes the gradient, runs both, and says how they agree: what is printed, and whether all is right.
pub fn check(wanted: &Wanted, how: &How) -> Result<(String, bool), Failure> {
    if wanted.forward || wanted.width != 1 || wanted.value {
        return Err(Failure::Usage(
            "what is checked is the gradient: without --forward, --width and --value".to_owned(),
        ));
    }
    let made = grad::make(wanted)?;
    let program = harness(&made, how, source::language(&wanted.file)? == Some(Language::Fortran))?;
    let findings = run(&made, wanted, &program)?;
    let right = findings.iter().all(|f| f.verdict != "wrong");
    if wanted.json {
        let text = serde_json::to_string_pretty(&serde_json::json!({ "right": right, "arguments": findings }));
        return text.map(|t| (t + "\n", right)).map_err(|e| Failure::Usage(e.to_string()));
    }
    let mut text = format!("{:<16} {:>8} {:>10}  {}\n", "argument", "compared", "error", "");
    for f in &findings {
        let _ = write!(text, "{:<16} {:>8} {:>10.1e}  {}", f.argument, f.compared, f.error, f.verdict);
        if f.verdict != "right" {
            let _ = write!(text, ": element {}: gradient {:e}, differences {:e}", f.element, f.gradient, f.difference);
        }
        text.push('\n');
    }
    Ok((text, right))
}

/// One argument in the program.
struct Slot<'a> {
    parameter: &'a Parameter,
    name: String,
    /// The type of its elements.
    element: &'a str,
    array: bool,
    floating: bool,
    /// A value for all elements.
    value: Option<&'a str>,
}

fn slots<'a>(made: &'a Made, how: &'a How) -> Result<Vec<Slot<'a>>, String> {
    let mut out = Vec::new();
    for (n, parameter) in made.parameters.iter().enumerate() {
        let name = if parameter.name.is_empty() { (n + 1).to_string() } else { parameter.name.clone() };
        let element = parameter.c_type.trim_end_matches('*').trim_end();
        let stars = parameter.c_type.matches('*').count();
        let known =
            ["float", "double", "int", "unsigned", "int8_t", "int16_t", "int64_t", "uint8_t", "uint16_t", "uint64_t"];
        if stars > 1 || !known.contains(&element) {
            let what = if parameter.c_type == "void *" {
                "the address of a structure, or of what is not known"
            } else {
                &parameter.c_type
            };
            return Err(format!("argument '{name}' cannot be filled in: it is {what}"));
        }
        let given = how.set.iter().filter_map(|s| s.split_once('=')).find(|(given, _)| *given == name);
        if let Some((_, value)) = given
            && value.parse::<f64>().is_err()
        {
            return Err(format!("--set {name}={value}: the value is no number"));
        }
        let floating = matches!(element, "float" | "double");
        let value = given.map(|(_, value)| value);
        out.push(Slot { parameter, name, element, array: stars == 1, floating, value });
    }
    for given in &how.set {
        let name = given.split('=').next().unwrap_or_default();
        if !given.contains('=') || !out.iter().any(|s| s.name == name) {
            return Err(format!("--set {given}: there is no argument '{name}'"));
        }
    }
    Ok(out)
}

/// The program, in C.
fn harness(made: &Made, how: &How, fortran: bool) -> Result<String, String> {
    let slots = slots(made, how)?;
    let floating = matches!(made.result.as_str(), "float" | "double");
    if !floating && !["void", "int", "int8_t", "int16_t", "int64_t"].contains(&made.result.as_str()) {
        return Err(format!("'{}' returns {}, of which no differences are taken", made.function, made.result));
    }
    let single = made.result == "float" || slots.iter().any(|s| s.element == "float");
    let tolerance = how.tolerance.unwrap_or(if single { 2e-2 } else { 1e-6 });
    let step = if single { 3e-2 } else { 1e-3 };
    let mut c = String::from(
        "#include <math.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <sys/mman.h>\n",
    );
    let types = |derivative: bool| {
        let mut list = Vec::new();
        for s in &slots {
            list.push(s.parameter.c_type.clone());
            if derivative && s.parameter.active {
                list.push(if s.array { s.parameter.c_type.clone() } else { format!("{} *", s.element) });
            }
        }
        if list.is_empty() { "void".to_owned() } else { list.join(", ") }
    };
    let _ = writeln!(c, "{} function({}) __asm__(\"{}\");", made.result, types(false), made.function);
    let _ = writeln!(c, "void gradient({}) __asm__(\"{}\");", types(true), made.name);
    let _ = writeln!(c, "enum {{ N = {}, ARGUMENTS = {} }};", how.size.max(1), slots.len());
    let _ = writeln!(c, "static uint32_t state = {}u;", how.seed);
    c.push_str("static double next(void) { state = state * 1664525u + 1013904223u; return 0.5 + (state >> 8) / 16777216.0; }\n");
    for (n, s) in slots.iter().enumerate() {
        let _ = writeln!(c, "static {t} given{n}[N], weight{n}[N], *used{n}, *shadow{n};", t = s.element);
    }
    // What lies behind an array belongs to nobody: to reach there ends the program, and is no wrong number.
    c.push_str(
        "static void *guarded(size_t bytes) {\n  size_t page = 65536, room = (bytes + page - 1) / page * page;\n  \
         char *base = mmap(0, room + 256 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);\n  \
         if (base == MAP_FAILED || mprotect(base + room, 256 * page, PROT_NONE)) exit(3);\n  \
         return base + room - bytes;\n}\n",
    );
    // One number of all that the function leaves.
    c.push_str("static double whole(void) {\n  double sum = 0.0;\n");
    for n in 0..slots.len() {
        let _ = writeln!(c, "  memcpy(used{n}, given{n}, sizeof given{n});");
    }
    let argument = |n: usize, s: &Slot<'_>| if s.array { format!("used{n}") } else { format!("used{n}[0]") };
    let arguments: Vec<String> = slots.iter().enumerate().map(|(n, s)| argument(n, s)).collect();
    let _ = writeln!(c, "  {}function({});", if floating { "sum = " } else { "" }, arguments.join(", "));
    for (n, s) in slots.iter().enumerate().filter(|(_, s)| s.array && s.floating && s.parameter.active) {
        let _ = (s, writeln!(c, "  for (int i = 0; i < N; i++) sum += (double)weight{n}[i] * used{n}[i];"));
    }
    c.push_str("  return sum;\n}\nint main(void) {\n");
    for n in 0..slots.len() {
        let _ = writeln!(c, "  used{n} = guarded(sizeof given{n}), shadow{n} = guarded(sizeof given{n});");
    }
    for (n, s) in slots.iter().enumerate() {
        let value = match (s.value, s.floating) {
            (Some(value), _) => format!("({}){value}", s.element),
            (None, true) => format!("({})next()", s.element),
            // In C arrays of integers are mostly indices; in Fortran every scalar is an array of one.
            (None, false) if s.array && !fortran => "i".to_owned(),
            (None, false) => "N".to_owned(),
        };
        let _ = writeln!(c, "  for (int i = 0; i < N; i++) given{n}[i] = {value};");
        if s.floating {
            let _ = writeln!(c, "  for (int i = 0; i < N; i++) weight{n}[i] = ({})next();", s.element);
            let seed = if s.array {
                format!("weight{n}")
            } else {
                format!("(memset(shadow{n}, 0, sizeof given{n}), shadow{n})")
            };
            let _ = writeln!(c, "  memcpy(shadow{n}, {seed}, sizeof given{n});");
        }
        let _ = writeln!(c, "  memcpy(used{n}, given{n}, sizeof given{n});");
    }
    let mut list = Vec::new();
    for (n, s) in slots.iter().enumerate() {
        list.push(argument(n, s));
        list.extend(s.parameter.active.then(|| format!("shadow{n}")));
    }
    let _ = writeln!(c, "  gradient({});\n  double scale = 0.0;", list.join(", "));
    let active = || slots.iter().enumerate().filter(|(_, s)| s.parameter.active && s.floating);
    for (n, s) in active() {
        let count = if s.array { "N" } else { "1" };
        let _ = writeln!(c, "  for (int i = 0; i < {count}; i++) scale = fmax(scale, fabs((double)shadow{n}[i]));");
    }
    c.push_str("  if (!(scale >= 1e-300)) scale = 1.0;\n");
    for (n, s) in active() {
        let count = if s.array { "N" } else { "1" };
        let t = s.element;
        let _ = write!(
            c,
            r#"  {{
    double worst = -1.0, at_worst = 0.0, rough_at = 0.0; int where = 0, rough = 0;
    for (int i = 0; i < {count}; i++) {{
      {t} kept = given{n}[i];
      double slope[2];
      for (int k = 0; k < 2; k++) {{
        double h = {step} * fmax(0.1, fabs((double)kept)) / (k + 1), sum = 0.0;
        const double steps[4] = {{1.0, -1.0, 2.0, -2.0}}, weights[4] = {{8.0, -8.0, -1.0, 1.0}};
        for (int m = 0; m < 4; m++) {{ given{n}[i] = ({t})(kept + steps[m] * h); sum += weights[m] * whole(); }}
        given{n}[i] = kept;
        slope[k] = sum / (12.0 * h);
      }}
      double error = fabs(shadow{n}[i] - slope[0]) / scale, other = fabs(shadow{n}[i] - slope[1]) / scale;
      double best = error < other ? error : other;
      if (!(best <= {tolerance}) && fabs(slope[0] - slope[1]) / scale > {tolerance}) {{ rough = i + 1; rough_at = slope[1]; continue; }}
      if (worst == worst && !(best <= worst)) {{ worst = best; where = i; at_worst = error < other ? slope[0] : slope[1]; }}
    }}
    int wrong = !(worst <= {tolerance});
    if (rough && worst < 0.0) {{ worst = 0.0; wrong = 0; }}
    if (!wrong && rough) {{ where = rough - 1; at_worst = rough_at; }}
    printf("{n} %d %.17g %d %.17g %.17g %s\n", {count}, worst, where, (double)shadow{n}[where], at_worst, wrong ? "wrong" : rough ? "rough" : "right");
  }}
"#
        );
    }
    c.push_str("  return 0;\n}\n");
    Ok(c)
}

/// Compiles the program with the module and reads what it prints.
fn run(made: &Made, wanted: &Wanted, program: &str) -> Result<Vec<Finding>, Failure> {
    let io = |what: &str, e: std::io::Error| Failure::Usage(format!("{what}: {e}"));
    let folder = tempfile::tempdir().map_err(|e| io("making a folder", e))?;
    let [bitcode, part, source, object, binary] =
        ["module.bc", "module.o", "check.c", "check.o", "check"].map(|name| folder.path().join(name));
    made.module.write(&bitcode).map_err(|e| e.to_string())?;
    std::fs::write(&source, program).map_err(|e| io("writing a program", e))?;
    let language = source::language(&wanted.file)?.unwrap_or(Language::C);
    let compile = |language: Language, arguments: &[&Path], more: &[&str], to: &Path| -> Result<(), Failure> {
        let compiler = language.compiler()?.path;
        let mut command = Command::new(&compiler);
        command.args(arguments).args(more).arg("-o").arg(to);
        let out = command.output().map_err(|e| io(&compiler.display().to_string(), e))?;
        if out.status.success() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&out.stderr);
        Err(Failure::Usage(format!("the program that checks could not be made:\n{}", text.trim_end())))
    };
    let step = progress::step("compiling the gradient and what checks it");
    compile(Language::C, &[&source], &["-O1", "-c"], &object)?;
    // What neither of them needs may lack what it needs.
    compile(Language::C, &[&bitcode], &["-O1", "-c", "-fPIC", "-ffunction-sections", "-fdata-sections"], &part)?;
    compile(language, &[&part, &object], &["-Wl,--gc-sections", "-lm"], &binary)?;
    drop(step);
    let step = progress::step("running the gradient and differences");
    let out = Command::new(&binary).output().map_err(|e| io("running the check", e))?;
    drop(step);
    if !out.status.success() {
        let text = String::from_utf8_lossy(&out.stderr);
        let how =
            out.status.code().map_or("was ended by a signal".to_owned(), |code| format!("ended with status {code}"));
        let help = "it may want arrays longer than --size, or an integer be no index: --set gives it a value";
        return Err(Failure::Usage(format!("the function or its gradient {how} ({help})\n{}", text.trim_end())));
    }
    let printed = String::from_utf8_lossy(&out.stdout).into_owned();
    // The function may print, too: what is ours has seven words.
    let findings = printed.lines().filter_map(|line| finding(made, line)).collect::<Vec<_>>();
    if findings.is_empty() {
        return Err(Failure::Usage(
            "nothing is differentiated: no argument is a float or an array of floats".to_owned(),
        ));
    }
    Ok(findings)
}

fn finding(made: &Made, line: &str) -> Option<Finding> {
    let words: Vec<&str> = line.split(' ').collect();
    let [number, compared, error, element, gradient, difference, verdict] = words.as_slice() else { return None };
    let number: usize = number.parse().ok()?;
    let parameter = made.parameters.get(number)?;
    let argument = if parameter.name.is_empty() { (number + 1).to_string() } else { parameter.name.clone() };
    let verdict = match *verdict {
        "rough" => "not smooth".to_owned(),
        "right" | "wrong" => (*verdict).to_owned(),
        _ => return None,
    };
    let (compared, element) = (compared.parse().ok()?, element.parse().ok()?);
    let [error, gradient, difference] = [error, gradient, difference].map(|w| w.parse::<f64>().ok());
    Some(Finding { argument, compared, error: error?, element, gradient: gradient?, difference: difference?, verdict })
}
