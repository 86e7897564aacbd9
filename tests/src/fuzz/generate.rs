//! Random C programs whose derivatives can be checked.
//!
//! Every program is free of undefined behaviour and smooth enough for differences, by construction:
//!
//! - each place that holds a float stays within [-2, 2]: expressions carry a bound of their magnitude, and what is over it is
//!   squashed before it is stored; denominators, roots and logarithms are kept away from their singularities;
//! - indices are masked, loops have few trips, recursion a small depth;
//! - a pointer has four elements behind it, and points only to what lives at least as long as itself;
//! - all memory is initialised where it is declared, and what is allocated is freed at the end of its block;
//! - the result is a sum over all that was computed, so that a lost adjoint shows.
//!
//! Names at file scope end in `$`, which printing replaces by an underscore and the program's number. `FL` is a float, or a double in the
//! reference that differences are taken of. Not generated: threads, volatile, exceptions, long double, variadic functions.

use std::fmt::Write;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::asked::wrappers;
use super::tree::{Kind, Node, Part};
use crate::tree;

/// How the random choices are weighed.
#[derive(Clone, Copy, Debug)]
pub struct Weights {
    /// Share of programs that may use single precision.
    pub floats: f64,
    /// Share of programs with calls through function pointers.
    pub indirect: f64,
    /// Share of programs with untyped copies and other constructs that may well be refused.
    pub rare: f64,
    /// Share of programs that are differentiated in other modes as well.
    pub modes: f64,
}

/// One program.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its number.
    pub id: u32,
    /// Whether it computes in single precision somewhere.
    pub floats: bool,
    /// Its text.
    pub body: Node,
    /// The functions that ask for derivatives.
    pub wrappers: String,
    /// Those that ask for them in other modes.
    pub modes: Option<String>,
}

impl Program {
    /// The text of one function group, and how many lines it has.
    pub fn print(&self) -> String {
        let mut text = String::new();
        let body = self.body.text();
        let own = format!("_{}", self.id);
        if self.floats {
            let reference = format!("{own}r");
            text.push_str("#undef FL\n#undef FSIN\n#undef FEXP\n#undef FSQRT\n#undef FTANH\n");
            text.push_str(
                "#define FL double\n#define FSIN sin\n#define FEXP exp\n#define FSQRT sqrt\n#define FTANH tanh\n",
            );
            text.push_str(&body.replace('$', &reference));
            text.push_str("#undef FL\n#undef FSIN\n#undef FEXP\n#undef FSQRT\n#undef FTANH\n");
            text.push_str(
                "#define FL float\n#define FSIN sinf\n#define FEXP expf\n#define FSQRT sqrtf\n#define FTANH tanhf\n",
            );
        }
        text.push_str(&body.replace('$', &own));
        text.push_str(&self.wrappers.replace('$', &own));
        if let Some(modes) = &self.modes {
            text.push_str("#ifndef FUZZ_PLAIN\n");
            text.push_str(&modes.replace('$', &own));
            text.push_str("#endif\n");
        }
        text
    }

    /// Its row in the table of cases.
    pub fn row(&self) -> String {
        let id = self.id;
        let reference = if self.floats { format!("value_{id}r") } else { format!("value_{id}") };
        let modes = match &self.modes {
            Some(_) => format!(", split_{id}, lanes_{id}, tangents_{id}, second_{id}"),
            None => ", 0, 0, 0, 0".to_owned(),
        };
        let modes = format!("FUZZ_MODES({})", modes.trim_start_matches(", "));
        format!(
            "    {{{id}, {}, value_{id}, {reference}, gradient_{id}, tangent_{id}, {modes}}},\n",
            u8::from(self.floats)
        )
    }
}

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Var {
    /// A float that may be assigned.
    Scalar { single: bool },
    /// `size` floats that no other name of an array overlaps, unless `shared`.
    Array { size: u32, single: bool, shared: bool },
    /// Four by four doubles.
    Matrix,
    /// Eight constant doubles.
    Table,
    /// A pointer to at least four doubles; `fixed` ones are not reassigned.
    Pointer { fixed: bool },
    /// Four such pointers.
    Rows,
    /// A struct, or a pointer to one.
    Record { index: usize, arrow: bool },
    /// Four structs.
    Records { index: usize },
    /// An integer in [0, 16) that may be assigned.
    Int,
    /// An integer in [0, 16) that may not.
    Counter,
}

/// A variable in scope.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub name: String,
    pub var: Var,
    /// Nesting depth of the block that declares it.
    pub depth: u32,
}

/// A field of a generated struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Double,
    Single,
    Int,
    Char,
    Array,
    Pointer,
    Inner,
}

/// A function that may be called.
#[derive(Clone, Debug)]
pub(super) enum Helper {
    /// `double h(double, double)`.
    Value,
    /// `void h(double *, double *, int, double)`.
    Update,
    /// `double h(const double *, int)`.
    Reduce,
    /// `struct S h(struct S, double)`.
    RecordByValue(usize),
    /// `void h(struct S *, double)`.
    RecordByPointer(usize),
    /// `double h(int depth, double, double *)`.
    Recursive,
    /// `double *h(double *, double *, int)`.
    Pick,
    /// `double (*const h[2])(double, double)`.
    Functions,
    /// `double *h(int, double)`: memory that the caller frees.
    Make,
}

/// The state of generation.
pub(super) struct Generator {
    pub rng: ChaCha8Rng,
    pub names: u32,
    pub vars: Vec<Named>,
    pub structs: Vec<Vec<Field>>,
    pub helpers: Vec<(String, Helper)>,
    pub items: Vec<Node>,
    pub depth: u32,
    /// Product of the trip counts around.
    pub trips: u32,
    /// Whether `break` and `continue` leave no memory behind.
    pub breakable: bool,
    /// Whether `return` leaves no memory behind, and what it returns.
    pub returns: Option<&'static str>,
    pub floats: bool,
    pub rare: bool,
    /// The program may have sweeps in place.
    pub sweeps: bool,
    pub in_helper: bool,
    /// Whether this function may still have an array of run-time size: of two in blocks one after the other clang 22 itself
    /// gives one the memory of the other while it is still read.
    pub run_time_array: bool,
}

/// The bound of what is stored.
pub(super) const STORED: f64 = 2.0;

/// The program of this number.
pub fn program(seed: u64, id: u32, weights: &Weights) -> Program {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(u64::from(id));
    let floats = rng.random_bool(weights.floats);
    let indirect = rng.random_bool(weights.indirect);
    let rare = rng.random_bool(weights.rare);
    let mut generator = Generator {
        rng,
        names: 0,
        vars: Vec::new(),
        structs: Vec::new(),
        helpers: Vec::new(),
        items: Vec::new(),
        depth: 0,
        trips: 1,
        breakable: false,
        returns: None,
        floats,
        rare,
        // No number is drawn, so that the others are the same with and without them.
        sweeps: id % 4 == 3,
        in_helper: false,
        run_time_array: true,
    };
    generator.file_scope(indirect);
    let (wrappers, modes) = generator.top();
    // No number is drawn, so that a program is the same with and without them.
    let modes = Some(modes).filter(|_| f64::from(id.wrapping_mul(2_654_435_761) >> 16) < weights.modes * 65_536.0);
    let body = Node::list(std::mem::take(&mut generator.items));
    let floats = body.text().contains("FL ") || body.text().contains("(FL)");
    Program { id, floats, body, wrappers, modes }
}

impl Generator {
    pub fn below(&mut self, end: u32) -> u32 {
        self.rng.random_range(0..end.max(1))
    }

    pub fn range(&mut self, from: u32, to: u32) -> u32 {
        self.rng.random_range(from..=to)
    }

    pub fn chance(&mut self, probability: f64) -> bool {
        self.rng.random_bool(probability)
    }

    pub fn pick<T: Clone>(&mut self, from: &[T]) -> Option<T> {
        if from.is_empty() { None } else { from.get(self.below(from.len() as u32) as usize).cloned() }
    }

    pub fn fresh(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }

    pub fn declare(&mut self, name: &str, var: Var) {
        self.vars.push(Named { name: name.to_owned(), var, depth: self.depth });
    }

    /// A constant of either sign, and its magnitude.
    pub fn constant(&mut self) -> (Node, f64) {
        let hundredths = self.range(10, 150);
        let value = f64::from(hundredths) / 100.0;
        let text = if self.chance(0.3) { format!("-{value:?}") } else { format!("{value:?}") };
        (tree!(Float, "@", if text.starts_with('-') { format!("({text})") } else { text }), value)
    }

    // ------------------------------------------------------------------------------------------------------ integers

    /// An integer expression without a side effect, of small magnitude.
    pub fn int(&mut self, depth: u32) -> Node {
        let names: Vec<String> = self
            .vars
            .iter()
            .filter(|named| matches!(named.var, Var::Int | Var::Counter))
            .map(|named| named.name.clone())
            .collect();
        match self.below(if depth == 0 { 5 } else { 9 }) {
            0..=2 => match self.pick(&names) {
                Some(name) => tree!(Int, "@", name),
                None => tree!(Int, "@", self.below(8).to_string()),
            },
            3 => tree!(Int, "@", self.below(8).to_string()),
            4 => match self.record_place(&[Field::Int, Field::Char]) {
                Some((text, _)) => tree!(Int, "@", text),
                None => tree!(Int, "@", self.below(4).to_string()),
            },
            5 => tree!(Int, "(@ + @)", self.int(depth - 1), self.int(depth - 1)),
            6 => tree!(Int, "(@ * @ & 15)", self.int(depth - 1), self.int(depth - 1)),
            7 => tree!(Int, "(@ ^ @)", self.int(depth - 1), self.int(depth - 1)),
            _ => match self.below(3) {
                0 => tree!(Int, "(int)(3.0 * fabs(@))", self.stored(1)),
                1 => tree!(Int, "(@ ? @ : @)", self.condition(), self.int(0), self.int(0)),
                _ => tree!(Int, "(@ >> 1)", self.int(depth - 1)),
            },
        }
    }

    /// An index below a power of two.
    pub fn index(&mut self, size: u32) -> Part {
        match self.below(3) {
            0 => Part::Node(tree!(Int, "@", self.below(size).to_string())),
            _ => {
                let inner = self.int(1);
                let mask = (size - 1).to_string();
                Part::Node(tree!(Fixed, "@ & @", inner, mask))
            }
        }
    }

    /// A condition, on floats or integers.
    pub fn condition(&mut self) -> Node {
        let compare = self.pick(&["<", ">", "<=", ">="]).unwrap_or("<");
        match self.below(6) {
            0 | 1 => tree!(Int, "(@ @ @)", self.stored(1), compare, self.constant().0),
            2 => tree!(Int, "(@ @ @)", self.stored(1), compare, self.stored(1)),
            3 => tree!(Int, "((@ & 3) @ @)", self.int(1), compare, self.below(4).to_string()),
            4 => tree!(Int, "((@ & 1) == @)", self.int(1), self.below(2).to_string()),
            _ => {
                let both = self.pick(&["&&", "||"]).unwrap_or("&&");
                tree!(Int, "(@ @ 0.2 @ (@ & 3) != 1)", self.stored(1), compare, both, self.int(1))
            }
        }
    }

    // -------------------------------------------------------------------------------------------------------- places

    /// A place in some struct with a field of one of these kinds.
    pub fn record_place(&mut self, fields: &[Field]) -> Option<(Node, Field)> {
        let mut found = Vec::new();
        for named in &self.vars {
            let (index, many, arrow) = match named.var {
                Var::Record { index, arrow } => (index, false, arrow),
                Var::Records { index } => (index, true, false),
                _ => continue,
            };
            for field in self.structs.get(index).into_iter().flatten() {
                if fields.contains(field) {
                    found.push((named.name.clone(), many, arrow, *field));
                }
            }
        }
        let (name, many, arrow, field) = self.pick(&found)?;
        let base = if many {
            tree!(Fixed, "@[@].", name, self.index(4))
        } else {
            tree!(Fixed, "@@", name, if arrow { "->" } else { "." })
        };
        let node = match field {
            Field::Double => tree!(Fixed, "@d", base),
            Field::Single => tree!(Fixed, "@f", base),
            Field::Int => tree!(Fixed, "@k", base),
            Field::Char => tree!(Fixed, "@c", base),
            Field::Array => tree!(Fixed, "@arr[@]", base, self.index(4)),
            Field::Pointer => tree!(Fixed, "@p[@]", base, self.index(4)),
            Field::Inner => tree!(Fixed, "@in.@", base, if self.chance(0.5) { "x" } else { "y" }),
        };
        Some((node, field))
    }

    /// A float that may be assigned, and whether it is in single precision.
    pub fn place(&mut self) -> (Node, bool) {
        let count = self.vars.len() as u32;
        for _ in 0..12 {
            let Some(named) = self.vars.get(self.rng.random_range(0..count.max(1)) as usize).cloned() else { break };
            let name = named.name;
            return match named.var {
                Var::Scalar { single } => (tree!(Fixed, "@", name), single),
                Var::Array { size, single, .. } => (tree!(Fixed, "@[@]", name, self.index(size)), single),
                Var::Matrix => (tree!(Fixed, "@[@][@]", name, self.index(4), self.index(4)), false),
                Var::Pointer { .. } => (tree!(Fixed, "@[@]", name, self.index(4)), false),
                Var::Rows => (tree!(Fixed, "@[@][@]", name, self.index(4), self.index(4)), false),
                Var::Record { .. } | Var::Records { .. } => {
                    let fields = [Field::Double, Field::Single, Field::Array, Field::Pointer, Field::Inner];
                    match self.record_place(&fields) {
                        Some((node, field)) => (node, field == Field::Single),
                        None => continue,
                    }
                }
                Var::Table | Var::Int | Var::Counter => continue,
            };
        }
        (tree!(Fixed, "scalar"), false)
    }

    /// A float that is stored somewhere: of magnitude two at most.
    pub fn stored(&mut self, depth: u32) -> Node {
        if depth > 0 && self.chance(0.2) {
            let (node, bound) = self.float(depth);
            return self.within(node, bound, STORED);
        }
        if self.chance(0.1)
            && let Some(table) = self.named(|var| matches!(var, Var::Table))
        {
            return tree!(Float, "@[@]", table.name, self.index(8));
        }
        let (place, _) = self.place();
        Node { kind: Kind::Float, parts: vec![Part::Node(place)] }
    }

    /// Some variable of a kind.
    pub fn named(&mut self, wanted: fn(&Var) -> bool) -> Option<Named> {
        let found: Vec<Named> = self.vars.iter().filter(|named| wanted(&named.var)).cloned().collect();
        self.pick(&found)
    }

    /// An expression of at most this magnitude.
    pub fn within(&mut self, node: Node, bound: f64, limit: f64) -> Node {
        if bound <= limit {
            return node;
        }
        match self.below(5) {
            0 if limit >= 1.0 => tree!(Float, "sin(@)", node),
            1 if limit >= 1.0 => tree!(Float, "tanh(@)", node),
            2 if limit >= 0.5 => tree!(Float, "squash(@)", node),
            _ => tree!(Float, "(@ * @)", format!("{:?}", (limit / bound * 1e4).floor().max(1.0) / 1e4), node),
        }
    }

    /// An expression of magnitude two at most.
    pub fn bounded(&mut self, depth: u32) -> Node {
        let (node, bound) = self.float(depth);
        self.within(node, bound, STORED)
    }

    /// A float expression and a bound of its magnitude.
    pub fn float(&mut self, depth: u32) -> (Node, f64) {
        if depth == 0 {
            return match self.below(8) {
                0 => self.constant(),
                1 => (tree!(Float, "(0.1 * (double)(@ & 7))", self.int(0)), 0.7),
                _ => (self.stored(0), STORED),
            };
        }
        let choice = self.below(24);
        let (x, bound) = self.float(depth - 1);
        let up = |factor: f64| format!("{:?}", (factor * 100.0).ceil() / 100.0);
        match choice {
            0..=3 => {
                let (y, other) = self.float(depth - 1);
                let sign = if self.chance(0.5) { "+" } else { "-" };
                (tree!(Float, "(@ @ @)", x, sign, y), bound + other)
            }
            4..=7 => {
                let (y, other) = self.float(depth - 1);
                let (x, bound) = self.tamed(x, bound);
                let (y, other) = self.tamed(y, other);
                (tree!(Float, "(@ * @)", x, y), bound * other)
            }
            8 => {
                let (y, other) = self.float(depth - 1);
                (tree!(Float, "(@ / (@ + @))", x, y, up(other + 1.0)), bound)
            }
            9 => {
                let y = self.bounded(depth - 1);
                (tree!(Float, "(@ / (1.5 + @ * 0.5))", x, y), 2.0 * bound)
            }
            10 => (tree!(Float, "sin(@)", x), 1.0),
            11 => (tree!(Float, "cos(@)", x), 1.0),
            12 => {
                let x = self.within(x, bound, STORED);
                (tree!(Float, "exp(0.5 * @)", x), 2.8)
            }
            13 => (tree!(Float, "log(@ + @)", x, up(bound + 1.0)), (2.0 * bound + 1.0).ln().max(0.1)),
            14 => (tree!(Float, "sqrt(@ + @)", x, up(bound + 0.5)), (2.0 * bound + 0.51).sqrt()),
            15 => {
                let e = self.constant().0;
                let x = self.within(x, bound, STORED);
                (tree!(Float, "pow(@ + 3.0, @)", x, e), 12.0)
            }
            16 => {
                let y = self.bounded(depth - 1);
                (tree!(Float, "atan2(@, 3.0 + @)", x, y), 1.6)
            }
            17 => (tree!(Float, "(-@)", x), bound),
            18 => {
                let (y, other) = self.float(depth - 1);
                let function = self.pick(&["fmin", "fmax"]).unwrap_or("fmin");
                (tree!(Float, "@(@, @)", function, x, y), bound.max(other))
            }
            19 => (tree!(Float, "fabs(@)", x), bound),
            20 => {
                let (y, other) = self.float(depth - 1);
                (tree!(Float, "(@ ? @ : @)", self.condition(), x, y), bound.max(other))
            }
            21 | 22 => self.call(depth - 1).unwrap_or((x, bound)),
            _ if self.floats => match self.below(3) {
                0 => (tree!(Float, "(FL)(@)", x), bound),
                1 => (tree!(Float, "FSIN((FL)@)", x), 1.0),
                _ => {
                    let x = self.within(x, bound, STORED);
                    (tree!(Float, "((FL)@ * (FL)@)", x, self.constant().0), 3.0)
                }
            },
            _ => (tree!(Float, "squash(@)", x), 0.5),
        }
    }

    /// Products must not grow without limit.
    fn tamed(&mut self, node: Node, bound: f64) -> (Node, f64) {
        if bound <= 6.0 { (node, bound) } else { (self.within(node, bound, STORED), STORED) }
    }

    /// A call that gives a float.
    fn call(&mut self, depth: u32) -> Option<(Node, f64)> {
        let helpers: Vec<(String, Helper)> = self
            .helpers
            .iter()
            .filter(|(_, helper)| {
                matches!(helper, Helper::Value | Helper::Reduce | Helper::Recursive | Helper::Functions)
            })
            .cloned()
            .collect();
        let (name, helper) = self.pick(&helpers)?;
        let node = match helper {
            Helper::Value => tree!(Float, "@(@, @)", name, self.bounded(depth), self.bounded(0)),
            Helper::Functions => {
                tree!(Float, "@[@ & 1](@, @)", name, self.int(1), self.bounded(depth), self.bounded(0))
            }
            Helper::Reduce => tree!(Float, "@(@, @)", name, self.pointer(u32::MAX)?, self.int(0)),
            Helper::Recursive => {
                tree!(Float, "@(@ & 3, @, @)", name, self.int(0), self.bounded(depth), self.pointer(u32::MAX)?)
            }
            _ => return None,
        };
        Some((node, STORED))
    }

    /// A pointer to at least four doubles, of a block not deeper than `depth`.
    pub fn pointer(&mut self, depth: u32) -> Option<Node> {
        let found: Vec<Named> = self
            .vars
            .iter()
            .filter(|named| named.depth <= depth)
            .filter(|named| match &named.var {
                Var::Array { single, .. } => !single,
                Var::Matrix | Var::Pointer { .. } | Var::Rows => true,
                Var::Record { index, .. } => {
                    self.structs.get(*index).is_some_and(|s| s.contains(&Field::Array) || s.contains(&Field::Pointer))
                }
                _ => false,
            })
            .cloned()
            .collect();
        let named = self.pick(&found)?;
        let name = named.name;
        Some(match named.var {
            Var::Array { size: 8, .. } if self.chance(0.5) => tree!(Fixed, "@ + (@ & 3)", name, self.int(1)),
            Var::Matrix | Var::Rows => tree!(Fixed, "@[@]", name, self.index(4)),
            Var::Record { index, arrow } => {
                let fields = self.structs.get(index)?;
                let pointer = fields.contains(&Field::Pointer);
                let both = pointer && fields.contains(&Field::Array);
                let access = if arrow { "->" } else { "." };
                let first = if both { self.chance(0.5) } else { pointer };
                tree!(Fixed, "@@@", name, access, if first { "p" } else { "arr" })
            }
            _ => tree!(Fixed, "@", name),
        })
    }

    // ---------------------------------------------------------------------------------------------------- file scope

    fn file_scope(&mut self, indirect: bool) {
        for index in 0..self.below(3) {
            self.declare_struct(index as usize);
        }
        if self.chance(0.4) {
            let name = self.fresh("table") + "$";
            let values: Vec<String> = (0..8).map(|_| self.constant().0.text()).collect();
            self.items.push(tree!(Item, "static const double @[8] = {@};\n", name.clone(), values.join(", ")));
            self.declare(&name, Var::Table);
        }
        for _ in 0..self.below(5) {
            self.helper();
        }
        if indirect {
            self.function_table();
        }
    }

    fn declare_struct(&mut self, index: usize) {
        let mut fields = vec![Field::Double, Field::Int];
        for field in [Field::Array, Field::Pointer, Field::Inner, Field::Char, Field::Single] {
            if (field != Field::Single || self.floats) && self.chance(0.45) {
                fields.push(field);
            }
        }
        for i in (1..fields.len()).rev() {
            let j = self.below(i as u32 + 1) as usize;
            fields.swap(i, j);
        }
        let mut text = format!("struct s{index}$ {{\n");
        for field in &fields {
            text.push_str(match field {
                Field::Double => "double d;\n",
                Field::Single => "FL f;\n",
                Field::Int => "int k;\n",
                Field::Char => "char c;\n",
                Field::Array => "double arr[4];\n",
                Field::Pointer => "double *p;\n",
                Field::Inner => "struct { double x; int tag; double y; } in;\n",
            });
        }
        text.push_str("};\n");
        self.items.push(tree!(Item, "@", text));
        self.structs.push(fields);
    }

    /// The braces that initialise a struct whose pointer may point to blocks not deeper than `depth`.
    pub fn initializer(&mut self, index: usize, depth: u32) -> Option<Node> {
        let fields = self.structs.get(index)?.clone();
        let mut parts = vec![Part::from("{")];
        for field in fields {
            let part = match field {
                Field::Double => tree!(Fixed, ".d = @, ", self.bounded(1)),
                Field::Single => tree!(Fixed, ".f = (FL)@, ", self.bounded(1)),
                Field::Int => tree!(Fixed, ".k = @ & 15, ", self.int(1)),
                Field::Char => tree!(Fixed, ".c = (char)(@ & 15), ", self.int(0)),
                Field::Array => tree!(Fixed, ".arr = {@, @, @}, ", self.bounded(0), self.bounded(0), self.bounded(0)),
                Field::Pointer => tree!(Fixed, ".p = @, ", self.pointer(depth)?),
                Field::Inner => tree!(Fixed, ".in = {@, 7, @}, ", self.bounded(0), self.bounded(0)),
            };
            parts.push(Part::Node(part));
        }
        parts.push(Part::from("}"));
        Some(Node { kind: Kind::Fixed, parts })
    }

    // ------------------------------------------------------------------------------------------------- the function

    /// The function to be differentiated, and the wrappers that ask for it.
    fn top(&mut self) -> (String, String) {
        self.run_time_array = self.chance(0.5);
        let signature = self.below(if self.floats { 6 } else { 5 });
        let scope = self.vars.len();
        self.depth = 1;
        let (head, s, tail) = match signature {
            // Two arrays that overlap.
            1 => ("static double f$(double *a, double *b, double s, int n)\n{\n", "s", "return"),
            2 => ("static void f$(double *a, double *b, double s, int n, double *out)\n{\n", "s", "*out ="),
            3 => (
                "static double f$(struct args$ *args)\n{\ndouble *a = args->a, *b = args->b, s = args->s;\nint n = args->n;\n",
                "s",
                "return",
            ),
            4 => ("static double f$(double *restrict a, double *restrict b, double s, int n)\n{\n", "s", "return"),
            5 => ("static FL f$(double *a, double *b, FL s, int n)\n{\n", "s", "return (FL)"),
            _ => ("static double f$(double *a, double *b, double s, int n)\n{\n", "s", "return"),
        };
        if signature == 3 {
            self.items.push(tree!(Fixed, "struct args$ {\nint n;\ndouble *a, s, *b;\n};\n"));
        }
        let shared = signature != 4;
        self.declare("a", Var::Array { size: 8, single: false, shared });
        self.declare("b", Var::Array { size: 8, single: false, shared });
        self.declare(s, Var::Scalar { single: signature == 5 });
        self.declare("n", Var::Counter);
        self.declare("scalar", Var::Scalar { single: false });
        self.returns = Some(if signature == 2 { "{ *out = acc; return; }" } else { "return acc;" });
        let count = match self.below(10) {
            0..=5 => self.range(1, 4),
            6..=8 => self.range(4, 7),
            _ => self.range(7, 12),
        };
        // A function that is large, or overwrites much else, has one body whatever overlaps.
        let statements = match self.sweeps && self.chance(0.25) {
            true => vec![self.overlaps()],
            false => self.body(count),
        };
        let sums = self.sums(scope);
        self.vars.truncate(scope);
        self.items.push(tree!(
            Fixed,
            "@double scalar = 0.3, acc = 0.0;\n@@@ acc;\n}\n",
            head,
            Node::list(statements),
            Node::list(sums),
            tail
        ));
        wrappers(signature, &mut self.items)
    }

    /// Adds all that is in scope above a mark to `acc`.
    pub fn sums(&mut self, mark: usize) -> Vec<Node> {
        let mut sums = Vec::new();
        let locals = self.vars.split_at(mark.min(self.vars.len())).1.to_vec();
        for named in locals {
            if self.chance(0.15) {
                continue;
            }
            let weight = f64::from(self.range(10, 90)) / 100.0;
            let name = named.name;
            let text = match named.var {
                Var::Scalar { .. } => format!("acc += {weight:?} * {name};\n"),
                Var::Array { size, .. } => {
                    format!("for (int i = 0; i < {size}; i++)\nacc += ({weight:?} + 0.1 * i) * {name}[i];\n")
                }
                Var::Matrix => format!(
                    "for (int i = 0; i < 4; i++)\nfor (int j = 0; j < 4; j++)\nacc += ({weight:?} + 0.1 * i - 0.05 * j) * {name}[i][j];\n"
                ),
                Var::Pointer { .. } => format!("acc += {weight:?} * {name}[0] - 0.2 * {name}[3];\n"),
                Var::Rows => {
                    format!("for (int i = 0; i < 4; i++)\nacc += ({weight:?} - 0.1 * i) * {name}[i][i];\n")
                }
                Var::Record { index, arrow } => self.record_sum(&name, index, arrow, weight),
                Var::Records { index } => {
                    let inner = self.record_sum(&format!("{name}[i]"), index, false, weight);
                    format!("for (int i = 0; i < 4; i++) {{\n{inner}}}\n")
                }
                Var::Table | Var::Int | Var::Counter => continue,
            };
            sums.push(tree!(Statement, "@", text));
        }
        sums
    }

    fn record_sum(&self, name: &str, index: usize, arrow: bool, weight: f64) -> String {
        let access = if arrow { "->" } else { "." };
        let mut text = String::new();
        for field in self.structs.get(index).into_iter().flatten() {
            let term = match field {
                Field::Double => "d",
                Field::Single => "f",
                Field::Array => "arr[2]",
                Field::Pointer => "p[1]",
                Field::Inner => "in.y",
                Field::Int | Field::Char => continue,
            };
            let _ = writeln!(text, "acc += {weight:?} * {name}{access}{term};");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEIGHTS: Weights = Weights { floats: 0.3, indirect: 0.1, rare: 0.3, modes: 0.3 };

    #[test]
    fn a_number_always_means_the_same_program() {
        for id in 0..100 {
            let text = program(7, id, &WEIGHTS).print();
            assert_eq!(text, program(7, id, &WEIGHTS).print());
            assert!(!text.contains(['@', '$']), "{text}");
        }
    }
}
