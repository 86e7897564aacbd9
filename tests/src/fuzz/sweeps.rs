//! Sweeps over one array in place: nests of loops with affine subscripts, as factorisations, stencils and substitutions have them.
//!
//! The array is one of its own, long enough for every subscript, filled from values of the program and summed up afterwards. What the
//! nest reads at one place it writes at another, sooner or later, or never: it is here that a derivative has to know what is
//! overwritten when, which sums may be made in registers, and what of a row stays the same.
//!
//! Or stencils from one array to another, or within one, in loops long enough to be split into strips.
//!
//! Or sums over samples, with memory of each iteration's own, or of all.
//!
//! Or steps in time: rates of change that are made of a state, each number of which is read several times, and an update of that state.

use super::generate::Generator;
use super::tree::Node;
use crate::tree;

/// Elements of the array.
const LENGTH: u32 = 24;
/// Loops within each other; each runs five times at most.
const NESTED: usize = 3;
/// Iterations of a loop with a stencil, and elements on either side of those that it reads or writes.
const LENGTHS: [u32; 6] = [9, 12, 13, 64, 65, 100];
const REACH: u32 = 4;

impl Generator {
    /// A block with an array or two, a nest over them, and a sum.
    pub(super) fn sweep(&mut self) -> Node {
        if self.chance(0.3) {
            return self.stencils();
        }
        if self.chance(0.3) {
            return self.steps();
        }
        if self.chance(0.4) {
            return self.samples();
        }
        let (array, i) = (self.fresh("w"), self.fresh("i"));
        let fill = self.over(&i, 1);
        let mut nest = Vec::new();
        for _ in 0..self.range(1, 3) {
            nest.push(self.sweep_statement(&array, &mut Vec::new()));
        }
        tree!(
            Statement,
            "{\ndouble @[@];\nfor (int @ = 0; @ < @; @++)\n@[@] = @ + 0.01 * @;\n@for (int @ = 0; @ < @; @++)\nacc += (0.1 + 0.02 * @) * @[@];\n}\n",
            array.clone(),
            LENGTH.to_string(),
            i.clone(),
            i.clone(),
            LENGTH.to_string(),
            i.clone(),
            array.clone(),
            i.clone(),
            fill,
            i.clone(),
            Node::list(nest),
            i.clone(),
            i.clone(),
            LENGTH.to_string(),
            i.clone(),
            i.clone(),
            array,
            i
        )
    }

    /// Stencils between two arrays: what a cell becomes is a polynomial of its neighbours, of second degree at most.
    fn stencils(&mut self) -> Node {
        let (one, other, i) = (self.fresh("w"), self.fresh("w"), self.fresh("i"));
        let length = LENGTHS[self.below(LENGTHS.len() as u32) as usize];
        let size = (length + 2 * REACH).to_string();
        let fill = self.over(&i, 1);
        let mut loops = Vec::new();
        for _ in 0..self.range(1, 3) {
            let end = REACH + length;
            let head = match self.chance(0.7) {
                true => format!("int {i} = {REACH}; {i} < {end}; {i}++"),
                false => format!("int {i} = {end} - 1; {i} >= {REACH}; {i}--"),
            };
            let mut cells = Vec::new();
            for _ in 0..self.range(1, 2) {
                let to = self.neighbour(&one, &other, &i);
                let terms: Vec<String> = (0..self.range(2, 5)).map(|_| self.term(&one, &other, &i)).collect();
                let (kept, sign) =
                    (if self.chance(0.5) { "0.5 * " } else { "0.0 * " }, if self.chance(0.3) { "-" } else { "+" });
                cells.push(tree!(Statement, "@ = @@ @ (@);\n", to.clone(), kept, to, sign, terms.join(" + ")));
            }
            loops.push(tree!(Statement, "for (@) {\n@}\n", head, Node::list(cells)));
        }
        tree!(
            Statement,
            "{\ndouble @[@], @[@];\nfor (int @ = 0; @ < @; @++) {\n@[@] = @ + 0.01 * @;\n@[@] = 0.3 - 0.5 * @[@];\n}\n@for (int @ = 0; @ < @; @++)\nacc += (0.1 + 0.02 * (@ & 7)) * (@[@] - @[@]);\n}\n",
            one.clone(),
            size.clone(),
            other.clone(),
            size.clone(),
            i.clone(),
            i.clone(),
            size.clone(),
            i.clone(),
            one.clone(),
            i.clone(),
            fill,
            i.clone(),
            other.clone(),
            i.clone(),
            one.clone(),
            i.clone(),
            Node::list(loops),
            i.clone(),
            i.clone(),
            size,
            i.clone(),
            i.clone(),
            one,
            i.clone(),
            other,
            i
        )
    }

    /// Steps in time of a state: an array of its own, or a parameter.
    fn steps(&mut self) -> Node {
        let (rates, t, i, k) = (self.fresh("w"), self.fresh("t"), self.fresh("i"), self.fresh("k"));
        let (state, length) = if self.chance(0.5) { (self.fresh("w"), LENGTH) } else { ("a".to_owned(), 8) };
        let near = |g: &mut Self| format!("{state}[{i} + {}]", i64::from(g.below(3)) - 1);
        let mut terms = Vec::new();
        for _ in 0..self.range(2, 4) {
            let (x, y, z) = (near(self), near(self), near(self));
            terms.push(if self.chance(0.5) { format!("0.3 * {x} * {y}") } else { format!("0.2 * {x} * {y} * {z}") });
        }
        let inner = format!("int {i} = 1; {i} < {length} - 1; {i}++");
        let outer = match self.below(4) {
            0 => format!("int {k} = {length} - 2; {k} > 0; {k}--"),
            1 => format!("int {k} = 1; {k} < {length} - 1; {k} += 2"),
            _ => format!("int {k} = 1; {k} < {length} - 1; {k}++"),
        };
        let condition = match self.below(6) {
            0 => "if (scalar > 0.25)\n".to_owned(),
            1 => format!("if ({t} & 1)\n"),
            _ => String::new(),
        };
        let update = match self.below(3) {
            0 => format!("{state}[{k}] += 0.3 * sin({rates}[{k}])"),
            1 => format!("{state}[{k}] = tanh({rates}[{k}])"),
            _ => format!("{state}[{k}] = 0.6 * {state}[{k}] + 0.3 * {rates}[{k}]"),
        };
        // What was read before the update may be used behind it.
        let late = match self.below(3) {
            0 => (format!("double {t}x = {state}[2];\n"), format!("acc += 0.2 * {t}x * {state}[1];\n")),
            _ => (String::new(), String::new()),
        };
        let declared = match state.as_str() {
            "a" => Node::list(Vec::new()),
            _ => {
                let fill = self.over(&i, 1);
                let (s, l) = (state.clone(), length.to_string());
                let (a, b, c, d) = (i.clone(), i.clone(), i.clone(), i.clone());
                tree!(
                    Statement,
                    "double @[@];\nfor (int @ = 0; @ < @; @++)\n@[@] = @ + 0.01 * @;\n",
                    s.clone(),
                    l.clone(),
                    a,
                    b,
                    l,
                    c,
                    s,
                    d,
                    fill,
                    i.clone()
                )
            }
        };
        let work = format!(
            "double {rates}[{length}] = {{0.0}};\nfor (int {t} = 0; {t} < (n & 3) + 1; {t}++) {{\n{}for ({inner})\n{rates}[{i}] = {};\n{condition}for ({outer})\n{update};\n{}}}\nfor (int {i} = 0; {i} < {length}; {i}++)\nacc += (0.1 + 0.02 * {i}) * {state}[{i}];\n",
            late.0,
            terms.join(" + "),
            late.1
        );
        tree!(Statement, "{\n@@}\n", declared, work)
    }

    /// A sum over samples that is a polynomial of sums of each; or something alike that is none.
    fn samples(&mut self) -> Node {
        let (total, units, i, k) = (self.fresh("s"), self.fresh("h"), self.fresh("i"), self.fresh("k"));
        let own = self.chance(0.7);
        let memory = format!("double {units}[4] = {{0.1, 0.2, 0.3, 0.4}};\n");
        let (outside, inside) = if own { (String::new(), memory) } else { (memory, String::new()) };
        let kept = if own { String::new() } else { format!("0.5 * {units}[{k}] + ") };
        let share = self.over(&i, 1);
        let unit = match self.below(3) {
            0 => format!("tanh(a[{k}] + a[({i} + {k}) & 7])"),
            1 => format!("0.3 * a[{k}] * a[({i} + 1) & 7] * scalar"),
            _ => format!("sin(a[{k} + 1] * {total}x)"),
        };
        let product = format!("{units}[0] * {units}[1] - {units}[2] * {units}[3] * {total}x");
        let add = match self.below(8) {
            0 => format!("if ({units}[1] > 0.1)\n{total} += {product};\nelse\n{total} -= 0.5 * {units}[2];\n"),
            1 => format!("{total} += 0.1 * {total} * {units}[0];\n"),
            2 => format!("if ({i} == 1)\n{total} = 0.4;\n{total} += {product};\n"),
            _ => format!("{total} += {product};\n"),
        };
        let after = match self.below(5) {
            0 => format!("acc += sin({total});\n"),
            1 => format!("a[3] = 0.5 * a[3] + 0.1 * {total};\n"),
            2 => format!("acc -= 0.2 * {total} / ((n & 3) + 1);\n"),
            _ => format!("acc += 0.1 * {total};\n"),
        };
        let head = if self.chance(0.7) {
            format!("int {i} = 0; {i} < (n & 7); {i}++")
        } else {
            format!("int {i} = (n & 7); {i} > 0; {i}--")
        };
        let inner = format!("for (int {k} = 0; {k} < 2 + (n & 2); {k}++)\n{units}[{k}] = {kept}{unit};\n");
        tree!(
            Statement,
            "{\ndouble @ = 0.0;\n@for (@) {\n@const double @x = 0.3 * @;\n@@}\n@}\n",
            total.clone(),
            outside,
            head,
            inside,
            total,
            share,
            inner,
            add,
            after
        )
    }

    fn neighbour(&mut self, one: &str, other: &str, i: &str) -> String {
        let offset = i64::from(self.below(2 * REACH)) - i64::from(REACH);
        format!("{}[{i} + {offset}]", if self.chance(0.5) { one } else { other })
    }

    /// Small enough for sums of some of them to stay small.
    fn term(&mut self, one: &str, other: &str, i: &str) -> String {
        let (a, b) = (self.neighbour(one, other, i), self.neighbour(one, other, i));
        let factor = f64::from(1 + self.below(9)) / 128.0;
        if self.chance(0.5) { format!("{factor} * {a} * {b}") } else { format!("{factor} * {a}") }
    }

    fn subscript(&mut self, counters: &[String]) -> String {
        let Some(counter) = self.pick(counters) else { return self.below(8).to_string() };
        match self.below(10) {
            0 | 1 => self.below(8).to_string(),
            2..=4 => format!("{counter} + {}", self.below(4)),
            5 => format!("{} - {counter}", LENGTH - 1),
            6 | 7 => match self.pick(counters) {
                Some(other) => format!("3 * {counter} + {other}"),
                None => counter,
            },
            8 => format!("2 * {counter} + {}", self.below(2)),
            _ => format!("({counter} + {}) & 7", self.below(5)),
        }
    }

    fn element(&mut self, array: &str, counters: &[String]) -> String {
        format!("{array}[{}]", self.subscript(counters))
    }

    fn of_elements(&mut self, array: &str, counters: &[String], depth: u32) -> Node {
        if depth == 0 || self.chance(0.35) {
            let element = if self.chance(0.85) { self.element(array, counters) } else { "scalar".to_owned() };
            return tree!(Float, "@", element);
        }
        let (a, b) = (self.of_elements(array, counters, depth - 1), self.of_elements(array, counters, depth - 1));
        match self.below(5) {
            0 => tree!(Float, "(@ + @)", a, b),
            1 | 2 => tree!(Float, "(@ * @)", a, b),
            3 => tree!(Float, "sin(@)", a),
            _ => tree!(Float, "(@ / (2.0 + fabs(@)))", a, b),
        }
    }

    fn sweep_statement(&mut self, array: &str, counters: &mut Vec<String>) -> Node {
        let deep = counters.len() >= NESTED;
        match self.below(10) {
            0..=4 => self.update(array, counters),
            5 | 6 if !deep && !counters.is_empty() => {
                let condition = match (self.chance(0.5), self.pick(counters)) {
                    (true, Some(counter)) => {
                        format!("{counter} {} {}", ["==", ">", "<"][self.below(3) as usize], self.below(3))
                    }
                    _ => format!("{} > 0.4", self.element(array, counters)),
                };
                let (then, other) = (self.update(array, counters), self.update(array, counters));
                match self.chance(0.5) {
                    true => tree!(Statement, "if (@) {\n@} else {\n@}\n", condition, then, other),
                    false => tree!(Statement, "if (@) {\n@}\n", condition, then),
                }
            }
            _ if !deep => {
                let counter = self.fresh("k");
                let mut ends = vec!["4".to_owned(), "5".to_owned(), "(n & 3)".to_owned()];
                ends.extend(counters.iter().flat_map(|c| [c.clone(), format!("{c} + 1")]));
                let end = self.pick(&ends).unwrap_or_default();
                let head = match self.below(10) {
                    0..=6 => format!("int {counter} = {}; {counter} < {end}; {counter}++", self.below(2)),
                    7 | 8 => format!("int {counter} = {end} - 1; {counter} >= 0; {counter}--"),
                    _ => format!("int {counter} = 0; {counter} < {end}; {counter} += 2"),
                };
                counters.push(counter);
                let mut body = Vec::new();
                for _ in 0..self.range(1, 3) {
                    body.push(self.sweep_statement(array, counters));
                }
                counters.pop();
                tree!(Statement, "for (@) {\n@}\n", head, Node::list(body))
            }
            _ => self.update(array, counters),
        }
    }

    /// An update that keeps elements small.
    fn update(&mut self, array: &str, counters: &[String]) -> Node {
        let place = self.element(array, counters);
        let value = self.of_elements(array, counters, 2);
        match self.below(5) {
            0 | 1 => tree!(Statement, "@ = 0.7 * @ + 0.2 * sin(@);\n", place.clone(), place, value),
            2 => tree!(Statement, "@ -= 0.1 * sin(@);\n", place, value),
            3 => tree!(Statement, "@ = tanh(@);\n", place, value),
            _ => tree!(Statement, "@ *= cos(@);\n", place, value),
        }
    }
}
