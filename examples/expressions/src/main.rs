//! A small language that has gradients: expressions of named variables are compiled by inkwell, differentiated by `enzyme-core`, and run
//! by LLVM's JIT. An example for compilers written in Rust; `src/compile.rs` is where the engine is asked.
//!
//! ```text
//! cargo run -p enzyme-expressions -- 'sum(i, 1, 10, x^i / i) * sin(y)' x=0.5 y=2
//! ```
//!
//! Not handled: anything but numbers; a sum of more terms than one waits for.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod compile;
mod parse;

use std::process::ExitCode;

use inkwell::context::Context;

/// What may go wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is no expression.
    #[error("column {column}: expected {wanted}")]
    Syntax {
        /// Where, from 1.
        column: usize,
        /// What should stand there.
        wanted: String,
    },
    /// The point has not a number for each variable.
    #[error("the point has {given} numbers, the expression {wanted} variables")]
    Point {
        /// Numbers.
        given: usize,
        /// Variables.
        wanted: usize,
    },
    /// An argument that gives no number to a variable.
    #[error("{0}")]
    Usage(String),
    /// There is no derivative.
    #[error(transparent)]
    Derivative(#[from] enzyme_core::Failed),
    /// LLVM refuses something.
    #[error("LLVM: {0}")]
    Llvm(String),
}

fn main() -> ExitCode {
    match run(std::env::args().skip(1).collect()) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: Vec<String>) -> Result<String, Error> {
    let usage = || Error::Usage("usage: enzyme-expressions EXPRESSION [NAME=NUMBER]...".to_owned());
    let (text, given) = words.split_first().ok_or_else(usage)?;
    let (expression, names) = parse::parse(text)?;
    let mut point = Vec::new();
    for name in &names {
        let number = given.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        let number = number.ok_or_else(|| Error::Usage(format!("{name} has no number: add {name}=1.5")))?;
        point.push(number.parse().map_err(|_| Error::Usage(format!("{name}={number}: not a number")))?);
    }
    let context = Context::create();
    let (value, gradient) = compile::compile(&context, &expression, names.len())?.value_and_gradient(&point)?;
    let mut lines = vec![format!("f = {value:.6}")];
    lines.extend(names.iter().zip(gradient).map(|(name, slope)| format!("df/d{name} = {slope:.6}")));
    Ok(lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str, x: &[f64]) -> (f64, Vec<f64>) {
        let (expression, names) = parse::parse(text).unwrap();
        let context = Context::create();
        compile::compile(&context, &expression, names.len()).unwrap().value_and_gradient(x).unwrap()
    }

    /// Central differences of a step of 1e-6 err by some 1e-10 of rounding and of third derivatives; 1e-7 leaves room.
    #[test]
    fn gradients_agree_with_differences() {
        let cases: [(&str, &[f64]); 7] = [
            ("x * sin(y) + x^2 / y", &[1.3, 0.7]),
            ("-x^2 * exp(-y) - (x - y)^3", &[0.4, 1.1]),
            ("tanh(a) * log(b) + sqrt(a * b) - cos(c)", &[0.5, 2.0, 0.3]),
            ("if(x - y, x * y, x / y)", &[2.0, 1.0]),
            ("if(x - y, x * y, x / y)", &[1.0, 2.0]),
            ("sum(i, 1, 10, x^i / i) * sin(y)", &[0.5, 2.0]),
            ("sum(i, 1, 3, sum(j, i, 4, if(x - i * j / 8, x * j, sin(y * i))))", &[0.6, 0.2]),
        ];
        for (text, x) in cases {
            let (_, gradient) = answer(text, x);
            for n in 0..x.len() {
                let moved = |by: f64| {
                    let mut x = x.to_vec();
                    x[n] += by;
                    answer(text, &x).0
                };
                let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                assert!((gradient[n] - difference).abs() < 1e-7, "{text}: {} and {difference}", gradient[n]);
            }
        }
    }

    #[test]
    fn the_manual_is_right() {
        let words = ["sum(i, 1, 10, x^i / i) * sin(y)", "x=0.5", "y=2"].map(str::to_owned);
        let said = run(words.to_vec()).unwrap();
        assert_eq!(said, "f = 0.630202\ndf/dx = 1.816819\ndf/dy = -0.288417");
    }

    #[test]
    fn what_is_wrong_is_an_error() {
        for (text, part) in [
            ("x + ", "column 5: expected a number"),
            ("f(x)", "a function instead of `f`"),
            ("x y", "column 3: expected the end"),
            ("1.2.3", "expected a number"),
            ("x", "x has no number"),
            (&"(".repeat(10_000), "fewer parentheses"),
            (&"é".repeat(3), "column 1"),
        ] {
            let error = run(vec![text.to_owned()]).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn what_cannot_be_differentiated_is_refused_with_its_code() {
        let text = "declare double @strange(double)
            define double @f(ptr %x) { %v = load double, ptr %x %r = call double @strange(double %v) ret double %r }";
        let error = enzyme_core::derive(text.as_bytes(), &[enzyme_core::Named::gradient("f")], &Default::default());
        assert!(error.unwrap_err().to_string().contains("[E0201]"));
        let error = enzyme_core::derive(text.as_bytes(), &[enzyme_core::Named::gradient("g")], &Default::default());
        assert!(error.unwrap_err().to_string().contains("[E0114] the module defines no function 'g'"));
        let error = enzyme_core::derive(b"nonsense", &[], &Default::default());
        assert!(matches!(error, Err(enzyme_core::Failed::Malformed(_))));
    }
}
