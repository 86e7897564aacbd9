//! The comments of a file test that say what is to be checked.
//!
//! ```text
//! ; grad: @f(1.5, [1.0, 2.0], i32 3, const: [4.0], same: 1) tol 1e-8 because ...
//! ; grad: @f(1.5) forward                    forward mode only, where reverse mode is refused
//! ; grad: @f(1e-310) == (2e-310)             exact gradient, for a result seeded with 1; no differences are taken
//! ; stable: all                              fact: what every load of the file reads is never overwritten afterwards
//! ; stable: @f %x %y                         the same of these loads only
//! ; stands: @f %x                           fact: the store of %x is never overwritten afterwards
//! ; steady: @f %x %header [varies n] [if %c] [most %m]
//!                                            fact: the load %x is the same in all iterations of the loop [if %c], another
//!                                            one in each of the n innermost loops (1 where no number stands), which takes at
//!                                            most %m backedges, another number each time
//! ; undone: @f %load .. of %stored %old [seen %header %start %loop %stride ..]
//!                                            fact: the loads read the same again once the store of %stored is taken back; in
//!                                            memory that others see, with all that it writes over the outermost loop
//! ; trip: @f %header %count                  fact: backedges that the loop takes
//! ; bytes: @f %load double                   fact: type of the bytes that a load moves (also `ptr`, `int`)
//! ; fallback: @f %call                       fact: the call is left of one through a pointer whose known targets come before
//! ; alone: why                               the function is not called by wrappers
//! ; needs-facts: why                         without the facts stated it would be refused
//! ; error[UnknownType]: @f([1.0]) forward    refused, in forward mode; without the word in combined mode
//! ; plan: @f kept has %x                     a row of the plan names a value; also `rebuilt`, `needed`, `loops`, and `not`
//! ```
//!
//! An argument is a number (an active float), `iN n`, `bits x` (an integer that holds a float), `<..>` or `{..}` (vector or
//! structure), `null`, or `[..]`: a pointer to memory with a shadow. Its cells are numbers (`double`), `f32 x`, `iN n` and
//! lists (pointers to further memory); each stands at its natural alignment. `const:` makes an argument constant, and
//! `same: n` passes the pointer of argument n once more, `same: n+8` one that is 8 bytes further.

/// An argument as written.
#[derive(Clone, Debug, PartialEq)]
pub enum Written {
    Float(f64),
    Float32(f64),
    Int(u32, i128),
    Bits(f64),
    Aggregate(Vec<Written>),
    Memory(Vec<Written>),
    Null,
    Const(Box<Written>),
    Same(usize, u64),
}

/// A call in a directive.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub func: String,
    pub args: Vec<Written>,
}

/// One gradient to check.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient {
    pub line: usize,
    pub call: Call,
    pub tolerance: f64,
    pub exact: Option<Vec<f64>>,
    pub forward_only: bool,
}

/// One refusal to check.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    pub line: usize,
    pub kind: String,
    pub call: Call,
    pub forward: bool,
}

/// One property of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    pub line: usize,
    pub func: String,
    pub row: String,
    pub present: bool,
    pub text: String,
}

/// A fact about a function.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    AllStable,
    Stable(String, Vec<String>),
    Stands(String, String),
    Steady { func: String, load: String, header: String, varies: u64, condition: Option<String>, most: Option<String> },
    Undone { func: String, loads: Vec<String>, stored: String, old: String, seen: Vec<String> },
    Trip(String, String, String),
    Bytes(String, String, String),
    Fallback(String, String),
}

/// All directives of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Directives {
    pub gradients: Vec<Gradient>,
    pub refusals: Vec<Refused>,
    pub plans: Vec<Planned>,
    pub facts: Vec<Fact>,
    pub alone: bool,
    pub needs_facts: bool,
}

/// Differences of a smooth function with a first step of 2^-7 and Romberg's extrapolation end with an error of some
/// 1e-11 of the value; three digits are left for values that are larger than their derivative.
const DEFAULT_TOLERANCE: f64 = 1e-8;

/// Reads the directives of a file.
pub fn parse(source: &str) -> Result<Directives, String> {
    let mut out = Directives::default();
    for (n, text) in source.lines().enumerate() {
        let Some(rest) = text.strip_prefix("; ") else { continue };
        directive(&mut out, n + 1, rest).map_err(|e| format!("line {}: {e}", n + 1))?;
    }
    if out.gradients.is_empty() && out.refusals.is_empty() && out.plans.is_empty() {
        return Err("the file checks nothing".to_owned());
    }
    Ok(out)
}

fn directive(out: &mut Directives, line: usize, text: &str) -> Result<(), String> {
    if let Some(rest) = text.strip_prefix("grad:") {
        let mut p = Reader { rest };
        let call = p.call()?;
        let exact = if p.skip("==") {
            p.expect("(")?;
            let mut list = Vec::new();
            while !p.skip(")") {
                list.push(p.number()?);
                p.skip(",");
            }
            Some(list)
        } else {
            None
        };
        let forward_only = p.skip("forward");
        let tolerance = if p.skip("tol") { p.number()? } else { DEFAULT_TOLERANCE };
        if !p.rest.trim().is_empty() && !p.rest.trim().starts_with("because") {
            return Err(format!("`{}` is not understood", p.rest.trim()));
        }
        if tolerance > DEFAULT_TOLERANCE && !p.rest.contains("because") {
            return Err("a loose tolerance needs its reason".to_owned());
        }
        out.gradients.push(Gradient { line, call, tolerance, exact, forward_only });
    } else if let Some(rest) = text.strip_prefix("error[") {
        let (kind, rest) = rest.split_once("]:").ok_or("`]:` is missing")?;
        let mut p = Reader { rest };
        let call = p.call()?;
        out.refusals.push(Refused { line, kind: kind.to_owned(), call, forward: p.skip("forward") });
    } else if let Some(rest) = text.strip_prefix("plan:") {
        let words: Vec<&str> = rest.split_whitespace().collect();
        let [func, row, has, text @ ..] = words.as_slice() else { return Err("a plan needs four words".to_owned()) };
        let present = match *has {
            "has" => true,
            "not" => false,
            other => return Err(format!("`{other}` is neither `has` nor `not`")),
        };
        let func = func.trim_start_matches('@').to_owned();
        out.plans.push(Planned { line, func, row: (*row).to_owned(), present, text: text.join(" ") });
    } else if let Some(rest) = text.strip_prefix("stable:") {
        let words: Vec<String> = rest.split_whitespace().map(|w| w.trim_start_matches(['@', '%']).to_owned()).collect();
        out.facts.push(match words.split_first() {
            Some((all, [])) if all == "all" => Fact::AllStable,
            Some((func, loads)) => Fact::Stable(func.clone(), loads.to_vec()),
            None => return Err("what is stable?".to_owned()),
        });
    } else if let Some(rest) = text.strip_prefix("trip:").or_else(|| text.strip_prefix("bytes:")) {
        let words: Vec<String> = rest.split_whitespace().map(|w| w.trim_start_matches(['@', '%']).to_owned()).collect();
        let [a, b, c] = words.as_slice() else { return Err("three words are needed".to_owned()) };
        let (a, b, c) = (a.clone(), b.clone(), c.clone());
        out.facts.push(if text.starts_with("trip") { Fact::Trip(a, b, c) } else { Fact::Bytes(a, b, c) });
    } else if let Some(rest) = text.strip_prefix("stands:") {
        let words: Vec<String> = rest.split_whitespace().map(|w| w.trim_start_matches(['@', '%']).to_owned()).collect();
        let [func, value] = words.as_slice() else { return Err("two words are needed".to_owned()) };
        out.facts.push(Fact::Stands(func.clone(), value.clone()));
    } else if let Some(rest) = text.strip_prefix("steady:") {
        let words: Vec<String> = rest.split_whitespace().map(|w| w.trim_start_matches(['@', '%']).to_owned()).collect();
        let [func, load, header, how @ ..] = words.as_slice() else { return Err("three words are needed".to_owned()) };
        let after = |word: &str| how.iter().position(|w| w == word).and_then(|n| how.get(n + 1)).cloned();
        let (condition, most) = (after("if"), after("most"));
        let innermost = how.iter().position(|w| w == "varies").map(|n| how.get(n + 1).and_then(|w| w.parse().ok()));
        let varies = innermost.map_or(0, |n| (1 << n.unwrap_or(1)) - 1);
        let (func, load, header) = (func.clone(), load.clone(), header.clone());
        out.facts.push(Fact::Steady { func, load, header, varies, condition, most });
    } else if let Some(rest) = text.strip_prefix("undone:") {
        let words: Vec<String> = rest.split_whitespace().map(|w| w.trim_start_matches(['@', '%']).to_owned()).collect();
        let (head, seen) = match words.iter().position(|w| w == "seen") {
            Some(n) => (&words[..n], words[n + 1..].to_vec()),
            None => (&words[..], Vec::new()),
        };
        let [func, loads @ .., of, stored, old] = head else { return Err("five words are needed".to_owned()) };
        if of != "of" {
            return Err("`of` is missing".to_owned());
        }
        let (func, stored, old) = (func.clone(), stored.clone(), old.clone());
        out.facts.push(Fact::Undone { func, loads: loads.to_vec(), stored, old, seen });
    } else if let Some(rest) = text.strip_prefix("fallback:") {
        let words: Vec<String> = rest.split_whitespace().map(|w| w.trim_start_matches(['@', '%']).to_owned()).collect();
        let [func, call] = words.as_slice() else { return Err("two words are needed".to_owned()) };
        out.facts.push(Fact::Fallback(func.clone(), call.clone()));
    } else if text.starts_with("alone:") {
        out.alone = true;
    } else if text.starts_with("needs-facts:") {
        out.needs_facts = true;
    }
    Ok(())
}

struct Reader<'a> {
    rest: &'a str,
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

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.skip(token) { Ok(()) } else { Err(format!("`{token}` is missing before `{}`", self.rest)) }
    }

    fn word(&mut self) -> &str {
        self.rest = self.rest.trim_start();
        let end = self.rest.find([' ', ',', '(', ')', '[', ']', '<', '>', '{', '}']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn number<T: std::str::FromStr>(&mut self) -> Result<T, String> {
        let word = self.word();
        word.parse().map_err(|_| format!("`{word}` is no number"))
    }

    fn call(&mut self) -> Result<Call, String> {
        self.expect("@")?;
        let func = self.word().to_owned();
        self.expect("(")?;
        Ok(Call { func, args: self.list(")")? })
    }

    fn list(&mut self, end: &str) -> Result<Vec<Written>, String> {
        let mut out = Vec::new();
        while !self.skip(end) {
            out.push(self.argument()?);
            self.skip(",");
        }
        Ok(out)
    }

    fn argument(&mut self) -> Result<Written, String> {
        if self.skip("const:") {
            return Ok(Written::Const(Box::new(self.argument()?)));
        }
        if self.skip("same:") {
            let word = self.word().to_owned();
            let (n, offset) = word.split_once('+').unwrap_or((&word, "0"));
            let bad = |_| format!("`{word}` is no place");
            return Ok(Written::Same(n.parse().map_err(bad)?, offset.parse().map_err(bad)?));
        }
        for (open, close) in [("[", "]"), ("<", ">"), ("{", "}")] {
            if self.skip(open) {
                let list = self.list(close)?;
                return Ok(if open == "[" { Written::Memory(list) } else { Written::Aggregate(list) });
            }
        }
        let word = self.word().to_owned();
        match word.as_str() {
            "null" => Ok(Written::Null),
            "f32" => Ok(Written::Float32(self.number()?)),
            "bits" => Ok(Written::Bits(self.number()?)),
            _ => match word.strip_prefix('i').and_then(|n| n.parse().ok()) {
                Some(bits) => Ok(Written::Int(bits, self.number()?)),
                None => word.parse().map(Written::Float).map_err(|_| format!("`{word}` is no argument")),
            },
        }
    }
}
