//! Runs the functions of the `.ll` files beside this one as the comments in them say.
//!
//! An expectation stands after its function, one of
//!
//! * `; @f(i32 -1, [f64 0.5, f64 2.0]) = f64 2.5`: the result, exactly (NaN equals NaN);
//! * `; @f(i32 0) = void`;
//! * `; @f(i32 0) traps division by zero`: the words stand in the trap's message.
//!
//! Values are `iN n`, `f16|bf16|f32|f64|f80|f128|ppc x`, `ptr n`, and lists of values in brackets for vectors,
//! arrays and structures. `@f` stands for the last function defined before the line, whatever its name.

use super::super::*;
use crate::FloatKind;
use crate::text::parse_module;

struct Reader<'a> {
    rest: &'a str,
    line: &'a str,
}

impl Reader<'_> {
    fn skip(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn word(&mut self) -> String {
        self.rest = self.rest.trim_start();
        let end = self.rest.find([' ', ',', ')', ']']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.to_owned()
    }

    fn list(&mut self, end: &str) -> Vec<Val> {
        let mut values = Vec::new();
        while !self.skip(end) {
            values.push(self.value());
            self.skip(",");
        }
        values
    }

    fn value(&mut self) -> Val {
        if self.skip("[") {
            return Val::Agg(self.list("]"));
        }
        let kind = self.word();
        let number = self.word();
        let float = |kind| Val::float(kind, number.parse().unwrap_or_else(|_| panic!("number in {}", self.line)));
        match kind.as_str() {
            "f16" => float(FloatKind::Half),
            "bf16" => float(FloatKind::BFloat),
            "f32" => float(FloatKind::Float),
            "f64" => float(FloatKind::Double),
            "f80" => float(FloatKind::X86Fp80),
            "f128" => float(FloatKind::Fp128),
            "ppc" => float(FloatKind::PpcFp128),
            "ptr" => Val::Ptr(number.parse().unwrap()),
            int => {
                let bits: u32 =
                    int.strip_prefix('i').and_then(|b| b.parse().ok()).unwrap_or_else(|| panic!("{}", self.line));
                let value = match number.strip_prefix("0x") {
                    Some(hex) => u128::from_str_radix(hex, 16).unwrap(),
                    None => number.parse::<i128>().unwrap_or_else(|_| panic!("{}", self.line)) as u128,
                };
                Val::Int(shape::cut(value, bits))
            }
        }
    }
}

fn same(a: &Val, b: &Val) -> bool {
    match (a.float_bits(), b.float_bits(), a.elements(), b.elements()) {
        (Some((k, x)), Some((l, y)), _, _) => k == l && (x == y || floats::is_nan(k, x) && floats::is_nan(l, y)),
        (_, _, Some(x), Some(y)) => x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same(x, y)),
        _ => a == b,
    }
}

/// Runs all lines of a file.
fn check(file: &str, text: &str) {
    let module = parse_module(text).unwrap_or_else(|e| panic!("{file}:{e}"));
    let (mut current, mut count) = (None, 0);
    for (number, line) in text.lines().enumerate() {
        let place = format!("{file}:{}: {line}", number + 1);
        if line.starts_with("define") {
            let name = line.split('@').nth(1).and_then(|t| t.split('(').next()).unwrap();
            current = module.find_func(name);
        }
        let Some(rest) = line.strip_prefix("; @f(") else { continue };
        count += 1;
        let mut reader = Reader { rest, line };
        let args = reader.list(")");
        let func = current.unwrap_or_else(|| panic!("{place}: no function"));
        let result = Interp::new(&module, Config::default()).and_then(|mut i| i.run(func, &args));
        if reader.skip("traps") {
            let trap = result.expect_err(&place);
            assert!(trap.to_string().contains(reader.rest.trim()), "{place}: {trap}");
        } else if reader.skip("= void") {
            assert_eq!(result, Ok(None), "{place}");
        } else if reader.skip("=") {
            let expected = reader.value();
            let found = result.unwrap_or_else(|trap| panic!("{place}: {trap}"));
            let found = found.unwrap_or_else(|| panic!("{place}: no result"));
            assert!(same(&found, &expected), "{place}: {found:?}");
        } else {
            panic!("{place}: neither a result nor a trap");
        }
    }
    assert!(count > 0, "{file} checks nothing");
}

macro_rules! files {
    ($($name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            let file = concat!(stringify!($name), ".ll");
            check(file, include_str!(concat!(stringify!($name), ".ll")));
        })*
    };
}

files!(
    aggregates, calls, casts, constants, control, floats_ll, integers, intrinsics, library, memory_ll, traps, vectors
);
