//! Expressions as readers like them: `y pow(x, y - 1)`.

use std::fmt;

use crate::expr::{Cond, Expr};

/// An expression with names for its operands; outputs are `r`, `r1`, ...
#[derive(Clone, Copy)]
pub struct Written<'a> {
    /// The expression.
    pub expr: &'a Expr,
    /// One name per operand, as [`Rule::operand_names`](crate::Rule::operand_names) gives.
    pub names: &'a [&'static str],
}

/// Constants that are more than a number to a reader.
const NAMED: &[(f64, &str)] = &[
    (std::f64::consts::PI, "π"),
    (std::f64::consts::LN_2, "log(2)"),
    (std::f64::consts::LN_10, "log(10)"),
    (std::f64::consts::LOG2_E, "log2(e)"),
    (std::f64::consts::LOG10_E, "log10(e)"),
    (std::f64::consts::FRAC_2_SQRT_PI, "(2/√π)"),
    (std::f64::consts::FRAC_1_PI, "(1/π)"),
    (f64::INFINITY, "∞"),
    (f64::NEG_INFINITY, "-∞"),
];

impl<'a> Written<'a> {
    fn of(self, expr: &'a Expr) -> Written<'a> {
        Written { expr, ..self }
    }

    fn name(self, i: u8) -> &'static str {
        self.names.get(usize::from(i)).copied().unwrap_or("?")
    }

    /// As an operand: in parentheses unless it is atomic.
    fn inner(self, expr: &'a Expr, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let atomic = expr.as_const().is_some_and(|v| v >= 0.0)
            || matches!(expr, Expr::Arg(_) | Expr::Result(_) | Expr::IntToFloat(_) | Expr::Call(..));
        if atomic { write!(f, "{}", self.of(expr)) } else { write!(f, "({})", self.of(expr)) }
    }

    fn infix(self, a: &'a Expr, op: &str, b: &'a Expr, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner(a, f)?;
        f.write_str(op)?;
        self.inner(b, f)
    }

    fn cond(self, c: &'a Cond, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match c {
            Cond::Lt(a, b) => self.infix(a, " < ", b, f),
            Cond::Le(a, b) => self.infix(a, " ≤ ", b, f),
            Cond::Gt(a, b) => self.infix(a, " > ", b, f),
            Cond::Ge(a, b) => self.infix(a, " ≥ ", b, f),
            Cond::Eq(a, b) => self.infix(a, " = ", b, f),
            Cond::Ne(a, b) => self.infix(a, " ≠ ", b, f),
            Cond::Unordered(a, b) if a == b => write!(f, "{} is NaN", self.of(a)),
            Cond::Unordered(a, b) => write!(f, "{} or {} is NaN", self.of(a), self.of(b)),
            Cond::SignBit(a) => write!(f, "the sign bit of {} is set", self.of(a)),
            Cond::And(a, b) => self.both(a, " and ", b, f),
            Cond::Or(a, b) => self.both(a, " or ", b, f),
        }
    }

    fn both(self, a: &'a Cond, word: &str, b: &'a Cond, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cond(a, f)?;
        f.write_str(word)?;
        self.cond(b, f)
    }
}

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(v) = self.expr.as_const() {
            return match NAMED.iter().find(|n| n.0 == v) {
                Some((_, name)) => f.write_str(name),
                None => write!(f, "{v}"),
            };
        }
        match self.expr {
            Expr::Arg(i) | Expr::IntToFloat(i) | Expr::IntAdd(i, 0) => f.write_str(self.name(*i)),
            Expr::Result(0) => f.write_str("r"),
            Expr::Result(i) => write!(f, "r{i}"),
            Expr::Const(v) => write!(f, "{v}"),
            Expr::Neg(a) => {
                f.write_str("-")?;
                self.inner(a, f)
            }
            Expr::Add(a, b) => self.infix(a, " + ", b, f),
            Expr::Sub(a, b) => self.infix(a, " - ", b, f),
            Expr::Mul(a, b) => self.infix(a, " · ", b, f),
            Expr::Div(a, b) => self.infix(a, " / ", b, f),
            Expr::Call(m, args) => {
                write!(f, "{}(", format!("{m:?}").to_lowercase())?;
                for (i, a) in args.iter().enumerate() {
                    write!(f, "{}{}", if i == 0 { "" } else { ", " }, self.of(a))?;
                }
                f.write_str(")")
            }
            Expr::Select(c, a, b) => {
                f.write_str("if ")?;
                self.cond(c, f)?;
                write!(f, " then {} else {}", self.of(a), self.of(b))
            }
            Expr::IntAdd(i, k) if *k < 0 => write!(f, "{} - {}", self.name(*i), k.unsigned_abs()),
            Expr::IntAdd(i, k) => write!(f, "{} + {k}", self.name(*i)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expr: Expr, expected: &str) {
        assert_eq!(Written { expr: &expr, names: &["x", "n"] }.to_string(), expected);
    }

    #[test]
    fn notation() {
        const X: Expr = Expr::Arg(0);
        const R: Expr = Expr::Result(0);
        check(expr!((1.0 - (R * R))), "1 - (r · r)");
        check(expr!([if ((X < 0.0) or (nan X)) (-1.0) (- (1.0 / X))]), "if x < 0 or x is NaN then -1 else -(1 / x)");
        check(expr!(((int 1) * [Powi X (int 1 - 1)])), "n · powi(x, n - 1)");
        check(Expr::Add(&Expr::Const(std::f64::consts::PI), &Expr::Const(1.2246467991473532e-16)), "π");
    }
}
