//! Loops through two pointers into one array, or into two: what they lead to overlaps, or does not, as the run has it.
//!
//! A compiler that cannot tell has to compare addresses, from bounds of all subscripts: of counters that go up, down, by two, up to a
//! limit that is never met, round a ring or over a triangle; and of loops that do not run, far outside of the arrays.

use super::generate::Generator;
use super::tree::Node;
use crate::tree;

/// Iterations of a loop.
const LENGTH: u32 = 8;
/// Elements of the array: where the last part begins, and the furthest subscript.
const SIZE: u32 = 44 + 4 * LENGTH;
/// Where the parts may begin.
const STARTS: [u32; 10] = [0, 1, 2, 3, LENGTH - 1, LENGTH, LENGTH + 1, 2 * LENGTH, 27, 40];

impl Generator {
    /// A block with two arrays, two pointers each of which leads into one or the other, loops over them, and a sum.
    pub(super) fn overlaps(&mut self) -> Node {
        let (here, there, i) = (self.fresh("w"), self.fresh("w"), self.fresh("i"));
        let (one, other) = (self.fresh("p"), self.fresh("p"));
        let fill = self.over(&i, 1);
        let mut work = String::new();
        let common = self.start();
        for (bit, pointer) in [(1, &one), (2, &other)] {
            let (first, second) = if self.chance(0.7) { (&here, &there) } else { (&there, &here) };
            let (a, b) = (self.near(common), self.near(common));
            work.push_str(&format!("double *{pointer} = (n & {bit}) ? {first} + {a} : {second} + {b};\n"));
        }
        for _ in 0..self.range(1, 3) {
            work.push_str(&self.overlapping(&one, &other));
        }
        let head = format!("for (int {i} = 0; {i} < {SIZE}; {i}++)");
        tree!(
            Statement,
            "{\ndouble @[@], @[@];\n@ {\n@[@] = @ + 0.003 * @;\n@[@] = 0.4 - 0.5 * @[@];\n}\n@@\nacc += (0.1 + 0.02 * (@ & 15)) * (@[@] - @[@]);\n}\n",
            here.clone(),
            SIZE.to_string(),
            there.clone(),
            SIZE.to_string(),
            head.clone(),
            here.clone(),
            i.clone(),
            fill,
            i.clone(),
            there.clone(),
            i.clone(),
            here.clone(),
            i.clone(),
            work,
            head,
            i.clone(),
            here,
            i.clone(),
            there,
            i
        )
    }

    fn start(&mut self) -> u32 {
        STARTS[self.below(STARTS.len() as u32) as usize]
    }

    fn near(&mut self, place: u32) -> u32 {
        if self.chance(0.6) { (place + self.below(6)).saturating_sub(2) } else { self.start() }
    }

    /// A loop, or two within each other.
    fn overlapping(&mut self, one: &str, other: &str) -> String {
        let (i, j, e) = (self.fresh("i"), self.fresh("i"), self.fresh("e"));
        let short = LENGTH - 3;
        let (before, head) = match self.below(9) {
            0 => (String::new(), format!("int {i} = {LENGTH} - 1; {i} >= 0; {i}--")),
            1 => (String::new(), format!("long {i} = 0; {i} < {LENGTH}; {i} += 2")),
            2 => (String::new(), format!("unsigned {i} = 0; {i} != (unsigned)(n & 7); {i}++")),
            3 => (String::new(), format!("int {i} = n & 1; {i} < (n & 7); {i}++")),
            // It ends where numbers say so; the limit may be none.
            4 | 5 => (
                format!(
                    "int {e}[{LENGTH}];\nfor (int {i} = 0; {i} < {LENGTH}; {i}++)\n{e}[{i}] = {i} < {short};\nunsigned long {e}m = (n & 2) ? -1ul : {};\n",
                    self.range(1, short)
                ),
                format!("unsigned long {i} = 0; {i} != {e}m && {e}[{i}]; {i}++"),
            ),
            _ => (String::new(), format!("int {i} = 0; {i} < {LENGTH}; {i}++")),
        };
        let mut counters = vec![i.clone()];
        let inner = match self.below(6) {
            0 => Some(format!("int {j} = 0; {j} < (int){i}; {j}++")),
            1 => Some(format!("int {j} = (int){i} + 1; {j} < {LENGTH}; {j}++")),
            2 => Some(format!("long {j} = {i}; {j} >= 0; {j}--")),
            _ => None,
        };
        if inner.is_some() {
            counters.push(j);
        }
        let mut body = String::new();
        for _ in 0..self.range(1, 2) {
            body.push_str(&self.cell(one, other, &counters));
        }
        if let Some(inner) = inner {
            let first = if self.chance(0.5) { self.cell(one, other, &counters[..1]) } else { String::new() };
            body = format!("{first}for ({inner}) {{\n{body}}}\n");
        }
        // Far before the array, for no iteration.
        if self.chance(0.15) {
            let (far, row) = (self.fresh("f"), self.fresh("r"));
            body.push_str(&format!(
                "const long {far} = (n & 2) ? -(1l << 39) : -(1l << 38);\nfor (long {row} = {far}; {row} < {far} - (n & 7); {row}++)\n{one}[{row} * 64] += 0.1 * {other}[{row} * 64];\n"
            ));
        }
        format!("{{\n{before}for ({head}) {{\n{body}}}\n}}\n")
    }

    /// What is written through one pointer is made of what is read through both.
    fn cell(&mut self, one: &str, other: &str, counters: &[String]) -> String {
        let (to, from) = if self.chance(0.8) { (one, other) } else { (other, one) };
        let place = format!("{to}[{}]", self.reached(counters));
        let mut terms = Vec::new();
        for _ in 0..self.range(1, 3) {
            let (a, b) = (self.reached(counters), self.reached(counters));
            let left = if self.chance(0.8) { from } else { to };
            terms.push(match self.below(3) {
                0 => format!("0.2 * {left}[{a}] * {from}[{b}]"),
                1 => format!("0.3 * sin({left}[{a}])"),
                _ => format!("0.1 * {left}[{a}] * {left}[{a}] * scalar"),
            });
        }
        let value = terms.join(" + ");
        match self.below(4) {
            0 => format!("{place} = 0.9 * {place} + 0.2 * sin({value});\n"),
            1 => format!("{place} = 0.5 * {place} + 0.3 * ({value});\n"),
            _ => format!("{place} = tanh({value});\n"),
        }
    }

    /// A subscript of at most 3 * LENGTH + 3.
    fn reached(&mut self, counters: &[String]) -> String {
        let Some(counter) = self.pick(counters) else { return "0".to_owned() };
        match self.below(9) {
            0 => self.below(LENGTH).to_string(),
            1 => format!("{counter} + {}", self.below(4)),
            2 => format!("{LENGTH} - 1 - {counter}"),
            3 => format!("2 * {counter} + {}", self.below(2)),
            4 => format!("({counter} == 0 ? {LENGTH} - 1 : {counter} - 1)"),
            5 => match self.pick(counters) {
                Some(second) => format!("2 * {counter} + {second}"),
                None => counter,
            },
            _ => counter,
        }
    }
}
