//! Text to expressions.
//!
//! ```text
//! expression = product { ("+" | "-") product }        product = power { ("*" | "/") power }
//! power      = "-" power | atom [ "^" power ]
//! atom       = number | name | function "(" expression ")" | "(" expression ")"
//!            | "if" "(" condition "," expression "," expression ")"           the first where the condition is above zero
//!            | "sum" "(" name "," from "," to "," expression ")"              over whole steps from one to the other
//! ```

use crate::Error;

/// Functions of one number.
pub const FUNCTIONS: [&str; 6] = ["sin", "cos", "tanh", "exp", "log", "sqrt"];
/// Parentheses and powers within each other beyond which a text is refused.
const DEEPEST: usize = 200;

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub enum Expression {
    /// A number.
    Number(f64),
    /// A variable, by its place among all; or the counter of a sum, by its depth.
    Variable(usize),
    /// The counter of a sum, by how many sums are around it.
    Counter(usize),
    /// `+`, `-`, `*`, `/` or `^`.
    Binary(char, Box<[Expression; 2]>),
    /// A function of [`FUNCTIONS`].
    Call(&'static str, Box<Expression>),
    /// Condition, and the two branches.
    If(Box<[Expression; 3]>),
    /// First and last value of the counter, and what is added up.
    Sum(Box<[Expression; 3]>),
}

/// Reads an expression; the names of its variables in the order in which they appear.
pub fn parse(text: &str) -> Result<(Expression, Vec<String>), Error> {
    let mut parser = Parser { text, at: 0, depth: 0, variables: Vec::new(), counters: Vec::new() };
    let expression = parser.expression()?;
    parser.space();
    if parser.at < text.len() { parser.fail("the end") } else { Ok((expression, parser.variables)) }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    variables: Vec<String>,
    counters: Vec<String>,
}

impl Parser<'_> {
    fn fail<T>(&self, wanted: &str) -> Result<T, Error> {
        Err(Error::Syntax { column: self.at + 1, wanted: wanted.to_owned() })
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Takes one of `signs`, if it is next.
    fn take(&mut self, signs: &str) -> Option<char> {
        self.space();
        let sign = self.rest().chars().next().filter(|sign| signs.contains(*sign))?;
        self.at += sign.len_utf8();
        Some(sign)
    }

    fn need(&mut self, sign: &str) -> Result<(), Error> {
        if self.take(sign).is_some() { Ok(()) } else { self.fail(&format!("`{sign}`")) }
    }

    /// Takes what is next and made of such characters.
    fn word(&mut self, part: impl Fn(char) -> bool) -> String {
        self.space();
        let word: String = self.rest().chars().take_while(|c| part(*c)).collect();
        self.at += word.len();
        word
    }

    fn expression(&mut self) -> Result<Expression, Error> {
        let mut left = self.product()?;
        while let Some(sign) = self.take("+-") {
            left = Expression::Binary(sign, Box::new([left, self.product()?]));
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Expression, Error> {
        let mut left = self.power()?;
        while let Some(sign) = self.take("*/") {
            left = Expression::Binary(sign, Box::new([left, self.power()?]));
        }
        Ok(left)
    }

    fn power(&mut self) -> Result<Expression, Error> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return self.fail("fewer parentheses and powers within each other");
        }
        let power = if self.take("-").is_some() {
            Expression::Binary('-', Box::new([Expression::Number(0.0), self.power()?]))
        } else {
            let atom = self.atom()?;
            match self.take("^") {
                Some(sign) => Expression::Binary(sign, Box::new([atom, self.power()?])),
                None => atom,
            }
        };
        self.depth -= 1;
        Ok(power)
    }

    fn atom(&mut self) -> Result<Expression, Error> {
        if self.take("(").is_some() {
            let inner = self.expression()?;
            return self.need(")").map(|()| inner);
        }
        let digits = self.word(|c| c.is_ascii_digit() || c == '.');
        if !digits.is_empty() {
            return digits.parse().map(Expression::Number).or_else(|_| self.fail("a number before this"));
        }
        let name = self.word(|c| c.is_ascii_alphabetic() || c == '_');
        if name.is_empty() {
            return self.fail("a number, a name or `(`");
        }
        if self.take("(").is_none() {
            return Ok(self.named(name));
        }
        let made = match (name.as_str(), FUNCTIONS.iter().find(|f| **f == name)) {
            (_, Some(function)) => Expression::Call(function, Box::new(self.expression()?)),
            ("if", None) => {
                let condition = self.expression()?;
                self.need(",")?;
                let first = self.expression()?;
                self.need(",")?;
                Expression::If(Box::new([condition, first, self.expression()?]))
            }
            ("sum", None) => self.sum()?,
            _ => return self.fail(&format!("a function instead of `{name}`: if, sum, {}", FUNCTIONS.join(", "))),
        };
        self.need(")").map(|()| made)
    }

    fn sum(&mut self) -> Result<Expression, Error> {
        let counter = self.word(|c| c.is_ascii_alphabetic() || c == '_');
        self.need(",")?;
        let first = self.expression()?;
        self.need(",")?;
        let last = self.expression()?;
        self.need(",")?;
        self.counters.push(counter);
        let term = self.expression()?;
        self.counters.pop();
        Ok(Expression::Sum(Box::new([first, last, term])))
    }

    fn named(&mut self, name: String) -> Expression {
        if let Some(depth) = self.counters.iter().rposition(|counter| *counter == name) {
            return Expression::Counter(depth);
        }
        let known = self.variables.iter().position(|variable| *variable == name);
        Expression::Variable(known.unwrap_or_else(|| {
            self.variables.push(name);
            self.variables.len() - 1
        }))
    }
}
