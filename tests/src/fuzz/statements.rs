//! Statements and declarations of generated programs.

use super::generate::{Field, Generator, Helper, Named, Var};
use super::tree::{Node, Part};
use crate::tree;

/// Deepest nesting of blocks.
const DEEPEST: u32 = 5;
/// Nesting of a function's outermost statements, at most.
const OUTERMOST: u32 = 2;
/// Largest product of trip counts.
const TRIPS: u32 = 120;

impl Generator {
    /// Declarations, then statements, of a function's own block. What is declared stays in scope for the caller's sums.
    pub fn body(&mut self, count: u32) -> Vec<Node> {
        let mut nodes = Vec::new();
        for _ in 0..self.range(1, 3) {
            nodes.extend(self.declaration());
        }
        for _ in 0..count {
            nodes.push(self.statement());
            if self.chance(0.1) {
                nodes.extend(self.declaration());
            }
        }
        nodes
    }

    /// A block of its own.
    fn block(&mut self, count: u32) -> Node {
        let mark = self.vars.len();
        self.depth += 1;
        let mut nodes = Vec::new();
        if self.chance(0.3) {
            nodes.extend(self.declaration());
        }
        for _ in 0..count {
            nodes.push(self.statement());
        }
        self.depth -= 1;
        self.vars.truncate(mark);
        Node::list(nodes)
    }

    fn some_block(&mut self) -> Node {
        let count = self.range(1, 3);
        self.block(count)
    }

    /// A declaration with its initialisation.
    fn declaration(&mut self) -> Option<Node> {
        let node = match self.below(13) {
            0 | 1 => {
                let single = self.floats && self.chance(0.4);
                let name = self.fresh("v");
                let node = tree!(Statement, "@ @ = @;\n", type_name(single), name.clone(), self.bounded(2));
                self.declare(&name, Var::Scalar { single });
                node
            }
            2 | 3 => {
                let single = self.floats && self.chance(0.3);
                let size = if self.chance(0.5) { 4 } else { 8 };
                let name = self.fresh("w");
                let counter = self.fresh("i");
                let value = self.over(&counter, 2);
                let node = tree!(
                    Statement,
                    "@ @[@];\nfor (int @ = 0; @ < @; @++)\n@[@] = @;\n",
                    type_name(single),
                    name.clone(),
                    size.to_string(),
                    counter.clone(),
                    counter.clone(),
                    size.to_string(),
                    counter.clone(),
                    name.clone(),
                    counter,
                    value
                );
                self.declare(&name, Var::Array { size, single, shared: false });
                node
            }
            4 => {
                let name = self.fresh("w");
                let values = (self.bounded(1), self.bounded(0), self.bounded(1));
                let node = tree!(Statement, "double @[4] = {@, @, @};\n", name.clone(), values.0, values.1, values.2);
                self.declare(&name, Var::Array { size: 4, single: false, shared: false });
                node
            }
            5 => {
                let name = self.fresh("m");
                let value = self.bounded(1);
                let node = tree!(
                    Statement,
                    "double @[4][4];\nfor (int i = 0; i < 4; i++)\nfor (int j = 0; j < 4; j++)\n@[i][j] = @ * (0.3 * i - 0.2 * j);\n",
                    name.clone(),
                    name.clone(),
                    value
                );
                self.declare(&name, Var::Matrix);
                node
            }
            6 | 7 => {
                let name = self.fresh("p");
                let node = tree!(Statement, "double *@ = @;\n", name.clone(), self.pointer(self.depth)?);
                self.declare(&name, Var::Pointer { fixed: false });
                node
            }
            8 => {
                let name = self.fresh("r");
                let depth = self.depth;
                let rows = (self.pointer(depth)?, self.pointer(depth)?, self.pointer(depth)?, self.pointer(depth)?);
                let node =
                    tree!(Statement, "double *@[4] = {@, @, @, @};\n", name.clone(), rows.0, rows.1, rows.2, rows.3);
                self.declare(&name, Var::Rows);
                node
            }
            9 | 10 => {
                let index = self.below(self.structs.len() as u32) as usize;
                let init = self.initializer(index, self.depth)?;
                let name = self.fresh("s");
                let node = tree!(Statement, "struct s@$ @ = @;\n", index.to_string(), name.clone(), init);
                self.declare(&name, Var::Record { index, arrow: false });
                node
            }
            11 => {
                let index = self.below(self.structs.len() as u32) as usize;
                let counter = self.fresh("i");
                let mark = self.vars.len();
                self.declare(&counter, Var::Counter);
                let init = self.initializer(index, self.depth);
                self.vars.truncate(mark);
                let name = self.fresh("t");
                let node = tree!(
                    Statement,
                    "struct s@$ @[4];\nfor (int @ = 0; @ < 4; @++)\n@[@] = (struct s@$)@;\n",
                    index.to_string(),
                    name.clone(),
                    counter.clone(),
                    counter.clone(),
                    counter.clone(),
                    name.clone(),
                    counter,
                    index.to_string(),
                    init?
                );
                self.declare(&name, Var::Records { index });
                node
            }
            _ => {
                let name = self.fresh("k");
                let node = tree!(Statement, "int @ = @ & 15;\n", name.clone(), self.int(1));
                self.declare(&name, Var::Int);
                node
            }
        };
        Some(node)
    }

    /// A stored expression in which a counter may occur.
    pub(super) fn over(&mut self, counter: &str, depth: u32) -> Node {
        let mark = self.vars.len();
        self.declare(counter, Var::Counter);
        let value = self.bounded(depth);
        self.vars.truncate(mark);
        value
    }

    /// Any statement.
    pub fn statement(&mut self) -> Node {
        for _ in 0..8 {
            let nested = self.depth < DEEPEST;
            let made = match self.below(if self.sweeps { 36 } else { 34 }) {
                0..=7 => Some(self.assignment()),
                8 => Some(self.integer()),
                9..=13 if nested => self.counted_loop(),
                14 if nested => self.conditional_loop(),
                15..=17 if nested => Some(self.branch()),
                18 if nested => Some(self.switch()),
                19 | 20 => self.copy(),
                21 if nested => self.allocation(),
                22 | 23 => self.call_statement(),
                24 | 25 => self.pointer_statement(),
                26 | 27 => self.record_copy(),
                28 => self.leave(),
                29 => Some(self.accumulation()),
                30 if nested => self.list_on_heap(),
                31 => self.swap(),
                32 if nested => self.run_time_array(),
                33 if self.rare => self.rarity(),
                34 | 35 if self.depth <= OUTERMOST && self.trips == 1 => Some(self.sweep()),
                _ => None,
            };
            if let Some(node) = made {
                return node;
            }
        }
        self.assignment()
    }

    fn assignment(&mut self) -> Node {
        let (place, _) = self.place();
        let depth = self.range(1, 3);
        match self.below(6) {
            0 => {
                let (value, bound) = self.float(depth);
                let value = self.within(value, bound, 1.0);
                let again = place.clone();
                tree!(Statement, "@ = 0.5 * @ + @;\n", place, again, value)
            }
            1 => {
                let (value, bound) = self.float(depth);
                let value = self.within(value, bound, 1.0);
                tree!(Statement, "@ *= @;\n", place, value)
            }
            2 => {
                let value = self.bounded(depth);
                let again = place.clone();
                tree!(Statement, "@ = sin(@ + @);\n", place, again, value)
            }
            _ => tree!(Statement, "@ = @;\n", place, self.bounded(depth)),
        }
    }

    fn accumulation(&mut self) -> Node {
        let (value, bound) = self.float(2);
        let value = self.within(value, bound, 4.0);
        let sign = if self.chance(0.7) { "+=" } else { "-=" };
        tree!(Statement, "acc @ @;\n", sign, value)
    }

    fn integer(&mut self) -> Node {
        match self.named(|var| matches!(var, Var::Int)) {
            Some(named) => {
                tree!(Statement, "@ = (@ * 3 + @) & 15;\n", named.name.clone(), named.name, self.int(1))
            }
            None => match self.record_place(&[Field::Int]) {
                Some((place, _)) => tree!(Statement, "@ = @ & 15;\n", place, self.int(1)),
                None => self.assignment(),
            },
        }
    }

    /// Generates what stands in a loop of at most `count` rounds.
    fn looped(&mut self, count: u32, counter: Option<&str>) -> Option<Node> {
        if self.trips * count > TRIPS {
            return None;
        }
        let (trips, breakable, mark) = (self.trips, self.breakable, self.vars.len());
        self.trips *= count;
        self.breakable = true;
        if let Some(counter) = counter {
            self.depth += 1;
            self.declare(counter, Var::Counter);
        }
        let block = self.some_block();
        if counter.is_some() {
            self.depth -= 1;
        }
        self.vars.truncate(mark);
        self.trips = trips;
        self.breakable = breakable;
        Some(block)
    }

    fn counted_loop(&mut self) -> Option<Node> {
        let i = self.fresh("i");
        let count = self.range(1, 6);
        let c = count.to_string();
        let outer = self.named(|var| matches!(var, Var::Counter)).map(|named| named.name);
        let shape = self.below(8);
        let head = match shape {
            0..=2 => tree!(Fixed, "for (int @ = 0; @ < @; @++)", i.clone(), i.clone(), c, i.clone()),
            3 => tree!(Fixed, "for (int @ = @; @ >= 0; @--)", i.clone(), c, i.clone(), i.clone()),
            4 => tree!(Fixed, "for (int @ = 0; @ < @; @ += 2)", i.clone(), i.clone(), c, i.clone()),
            5 => {
                let outer = outer?;
                tree!(Fixed, "for (int @ = 0; @ <= (@ & 7); @++)", i.clone(), i.clone(), outer, i.clone())
            }
            6 => {
                let outer = outer?;
                tree!(Fixed, "for (int @ = @ & 7; @ < 6; @++)", i.clone(), outer, i.clone(), i.clone())
            }
            _ => {
                let bound = self.int(1);
                tree!(
                    Fixed,
                    "for (int @ = 0, end@ = @ & 3; @ < end@; @++)",
                    i.clone(),
                    i.clone(),
                    bound,
                    i.clone(),
                    i.clone(),
                    i.clone()
                )
            }
        };
        let most = match shape {
            5 => 8,
            6 => 6,
            7 => 3,
            _ => count + 1,
        };
        let block = self.looped(most, Some(&i))?;
        Some(tree!(Statement, "@ {\n@}\n", head, block))
    }

    fn conditional_loop(&mut self) -> Option<Node> {
        let guard = self.fresh("g");
        let count = self.range(2, 5);
        let condition = self.condition();
        let block = self.looped(count + 1, None)?;
        Some(if self.chance(0.6) {
            tree!(
                Statement,
                "for (int @ = 0; @ < @ && @; @++) {\n@}\n",
                guard.clone(),
                guard.clone(),
                count.to_string(),
                condition,
                guard,
                block
            )
        } else {
            tree!(
                Statement,
                "int @ = 0;\ndo {\n@} while (++@ < @ && @);\n",
                guard.clone(),
                block,
                guard,
                count.to_string(),
                condition
            )
        })
    }

    fn branch(&mut self) -> Node {
        let condition = self.condition();
        let then = self.some_block();
        if self.chance(0.5) {
            let other = self.some_block();
            tree!(Statement, "if (@) {\n@} else {\n@}\n", condition, then, other)
        } else {
            tree!(Statement, "if (@) {\n@}\n", condition, then)
        }
    }

    fn switch(&mut self) -> Node {
        // A `break` would leave the switch, not the loop, which is as good; `continue` still means the loop.
        let on = self.int(1);
        let mut cases = Vec::new();
        for value in 0..self.range(2, 4) {
            let block = self.block(1);
            let end = if self.chance(0.7) { "break;\n" } else { "" };
            cases.push(tree!(Statement, "case @: {\n@}\n@", value.to_string(), block, end));
        }
        if self.chance(0.6) {
            let block = self.block(1);
            cases.push(tree!(Statement, "default: {\n@}\n", block));
        }
        tree!(Statement, "switch (@ & 7) {\n@}\n", on, Node::list(cases))
    }

    fn leave(&mut self) -> Option<Node> {
        let condition = self.condition();
        match self.below(3) {
            0 if self.breakable => Some(tree!(Statement, "if (@)\nbreak;\n", condition)),
            1 if self.breakable => Some(tree!(Statement, "if (@)\ncontinue;\n", condition)),
            2 => {
                let what = self.returns?;
                Some(tree!(Statement, "if (@)\n@\n", condition, what))
            }
            _ => None,
        }
    }

    fn doubles(&mut self) -> Option<Named> {
        self.named(|var| matches!(var, Var::Array { single: false, .. }))
    }

    fn copy(&mut self) -> Option<Node> {
        let to = self.doubles()?;
        let from = self.doubles()?;
        let (Var::Array { size: n, shared: first, .. }, Var::Array { size: m, shared: second, .. }) =
            (&to.var, &from.var)
        else {
            return None;
        };
        let (n, m, overlaps) = (*n, *m, to.name == from.name || (*first && *second));
        let count = self.range(1, n.min(m)).to_string();
        Some(match self.below(7) {
            0 => {
                let k = self.range(1, n - 1);
                let left = (n - k).to_string();
                if self.chance(0.5) {
                    tree!(
                        Statement,
                        "memmove(@ + @, @, @ * sizeof(double));\n",
                        to.name.clone(),
                        k.to_string(),
                        to.name,
                        left
                    )
                } else {
                    tree!(
                        Statement,
                        "memmove(@, @ + @, @ * sizeof(double));\n",
                        to.name.clone(),
                        to.name,
                        k.to_string(),
                        left
                    )
                }
            }
            1 => tree!(Statement, "memset(@, 0, @ * sizeof(double));\n", to.name, count),
            2 | 3 if !overlaps => {
                tree!(Statement, "memcpy(@, @, @ * sizeof(double));\n", to.name, from.name, count)
            }
            4 if !overlaps => {
                let trips = self.int(1);
                tree!(Statement, "memcpy(@, @, (@ & 3) * sizeof(double));\n", to.name, from.name, trips)
            }
            5 => {
                let (p, q) = (self.pointer(u32::MAX)?, self.pointer(u32::MAX)?);
                let count = self.range(1, 4).to_string();
                tree!(Statement, "memmove(@, @, @ * sizeof(double));\n", p, q, count)
            }
            _ => {
                let i = self.fresh("i");
                let most = n.min(m).to_string();
                tree!(
                    Statement,
                    "for (int @ = 0; @ < @; @++)\n@[@] = @[@];\n",
                    i.clone(),
                    i.clone(),
                    most,
                    i.clone(),
                    to.name,
                    i.clone(),
                    from.name,
                    i
                )
            }
        })
    }

    /// A block with memory of its own, which is freed at its end.
    fn allocation(&mut self) -> Option<Node> {
        let name = self.fresh("h");
        let (breakable, returns) = (std::mem::take(&mut self.breakable), self.returns.take());
        self.depth += 1;
        let mark = self.vars.len();
        let maker =
            self.helpers.iter().find(|(_, helper)| matches!(helper, Helper::Make)).map(|(name, _)| name.clone());
        let counter = self.fresh("i");
        let (declaration, size) = match (self.below(4), maker) {
            (0, Some(maker)) => {
                (tree!(Fixed, "double *@ = @(@, @);\n", name.clone(), maker, self.int(0), self.bounded(1)), 8)
            }
            (1, _) => (
                tree!(
                    Fixed,
                    "double *@ = calloc(8, sizeof(double));\n@[@] = @;\n",
                    name.clone(),
                    name.clone(),
                    self.index(8),
                    self.bounded(1)
                ),
                8,
            ),
            (2, _) => {
                let value = self.over(&counter, 1);
                (
                    tree!(
                        Fixed,
                        "double *@ = malloc((size_t)(8 + n) * sizeof(double));\nfor (int @ = 0; @ < 8 + n; @++)\n@[@] = @;\n",
                        name.clone(),
                        counter.clone(),
                        counter.clone(),
                        counter.clone(),
                        name.clone(),
                        counter,
                        value
                    ),
                    8,
                )
            }
            _ => {
                let value = self.over(&counter, 1);
                (
                    tree!(
                        Fixed,
                        "double *@ = malloc(4 * sizeof(double));\nfor (int @ = 0; @ < 4; @++)\n@[@] = @;\n",
                        name.clone(),
                        counter.clone(),
                        counter.clone(),
                        counter.clone(),
                        name.clone(),
                        counter,
                        value
                    ),
                    4,
                )
            }
        };
        self.declare(&name, Var::Array { size, single: false, shared: false });
        let count = self.range(1, 4);
        let block = self.block(count);
        let weight = self.constant().0;
        let index = self.index(size);
        self.depth -= 1;
        self.vars.truncate(mark);
        self.breakable = breakable;
        self.returns = returns;
        Some(tree!(
            Statement,
            "{\n@@acc += @ * @[@];\nfree(@);\n}\n",
            declaration,
            block,
            weight,
            name.clone(),
            index,
            name
        ))
    }

    /// A linked list that is built, changed, summed and freed.
    fn list_on_heap(&mut self) -> Option<Node> {
        if self.trips > 12 {
            return None;
        }
        let (head, i) = (self.fresh("list"), self.fresh("i"));
        let value = self.over(&i, 2);
        let change = self.bounded(1);
        let length = self.range(1, 4).to_string();
        let weight = self.constant().0;
        Some(tree!(
            Statement,
            "{\nstruct node { double value; int tag; struct node *next; } *@ = NULL;\nfor (int @ = 0; @ < @; @++) {\nstruct node *fresh = malloc(sizeof *fresh);\nfresh->value = @;\nfresh->tag = @;\nfresh->next = @;\n@ = fresh;\n}\nfor (struct node *at = @; at; at = at->next) {\nat->value = at->value * @ + 0.1 * at->tag;\nacc += @ * at->value;\n}\nwhile (@) {\nstruct node *next = @->next;\nfree(@);\n@ = next;\n}\n}\n",
            head.clone(),
            i.clone(),
            i.clone(),
            length,
            i.clone(),
            value,
            i,
            head.clone(),
            head.clone(),
            head.clone(),
            change,
            weight,
            head.clone(),
            head.clone(),
            head.clone(),
            head
        ))
    }

    /// An array whose size is known only when the program runs.
    fn run_time_array(&mut self) -> Option<Node> {
        if !std::mem::take(&mut self.run_time_array) {
            return None;
        }
        let (name, i) = (self.fresh("vla"), self.fresh("i"));
        let size = self.int(0);
        let value = self.over(&i, 1);
        self.depth += 1;
        let mark = self.vars.len();
        self.declare(&name, Var::Array { size: 4, single: false, shared: false });
        let block = self.some_block();
        self.vars.truncate(mark);
        self.depth -= 1;
        Some(tree!(
            Statement,
            "{\nint size = 4 + (@ & 3);\ndouble @[size];\nfor (int @ = 0; @ < size; @++)\n@[@] = @;\n@acc += @[size - 1] + 0.5 * @[1];\n}\n",
            size,
            name.clone(),
            i.clone(),
            i.clone(),
            i.clone(),
            name.clone(),
            i,
            value,
            block,
            name.clone(),
            name
        ))
    }

    fn call_statement(&mut self) -> Option<Node> {
        let helpers: Vec<(String, Helper)> = self
            .helpers
            .iter()
            .filter(|(_, helper)| {
                matches!(helper, Helper::Update | Helper::RecordByValue(_) | Helper::RecordByPointer(_))
            })
            .cloned()
            .collect();
        let (name, helper) = self.pick(&helpers)?;
        Some(match helper {
            Helper::Update => {
                let (p, q) = (self.pointer(u32::MAX)?, self.pointer(u32::MAX)?);
                tree!(Statement, "@(@, @, @, @);\n", name, p, q, self.int(1), self.bounded(1))
            }
            Helper::RecordByValue(wanted) => {
                let to = self.record(wanted)?;
                let from = self.record(wanted)?;
                if from.1 > to.1 && self.points(wanted) {
                    return None;
                }
                tree!(Statement, "@ = @(@, @);\n", to.0, name, from.0, self.bounded(1))
            }
            Helper::RecordByPointer(wanted) => {
                let to = self.record(wanted)?;
                tree!(Statement, "@(&@, @);\n", name, to.0, self.bounded(1))
            }
            _ => return None,
        })
    }

    fn points(&self, index: usize) -> bool {
        self.structs.get(index).is_some_and(|fields| fields.contains(&Field::Pointer))
    }

    /// A struct of this type that may be assigned, and its depth.
    fn record(&mut self, wanted: usize) -> Option<(Node, u32)> {
        let found: Vec<Named> = self
            .vars
            .iter()
            .filter(|named| match named.var {
                Var::Record { index, .. } | Var::Records { index } => index == wanted,
                _ => false,
            })
            .cloned()
            .collect();
        let named = self.pick(&found)?;
        let node = match named.var {
            Var::Records { .. } => tree!(Fixed, "@[@]", named.name, self.index(4)),
            Var::Record { arrow: true, .. } => tree!(Fixed, "(*@)", named.name),
            _ => tree!(Fixed, "@", named.name),
        };
        Some((node, named.depth))
    }

    fn record_copy(&mut self) -> Option<Node> {
        let index = self.below(self.structs.len() as u32) as usize;
        let (to, outer) = self.record(index)?;
        let (from, inner) = self.record(index)?;
        if inner > outer && self.points(index) {
            return None;
        }
        let ty = index.to_string();
        Some(match self.below(4) {
            0 => tree!(Statement, "memmove(&@, &@, sizeof(struct s@$));\n", to, from, ty),
            1 => {
                let swap = if self.points(index) && inner != outer { to.clone() } else { from };
                tree!(
                    Statement,
                    "{\nstruct s@$ kept = @;\n@ = @;\n@ = kept;\n}\n",
                    ty,
                    to.clone(),
                    to,
                    swap.clone(),
                    swap
                )
            }
            _ => tree!(Statement, "@ = @;\n", to, from),
        })
    }

    fn pointer_statement(&mut self) -> Option<Node> {
        let pointers: Vec<Named> =
            self.vars.iter().filter(|named| matches!(named.var, Var::Pointer { fixed: false })).cloned().collect();
        match self.below(5) {
            0 | 1 => {
                let to = self.pick(&pointers)?;
                let other = self.pick(&pointers)?;
                if to.depth != other.depth {
                    return None;
                }
                Some(tree!(
                    Statement,
                    "{\ndouble *kept = @;\n@ = @;\n@ = kept;\n}\n",
                    to.name.clone(),
                    to.name,
                    other.name.clone(),
                    other.name
                ))
            }
            2 => {
                let to = self.pick(&pointers)?;
                let (p, q) = (self.pointer(to.depth)?, self.pointer(to.depth)?);
                let condition = self.condition();
                Some(tree!(Statement, "@ = @ ? @ : @;\n", to.name, condition, p, q))
            }
            3 => {
                let rows = self.named(|var| matches!(var, Var::Rows))?;
                let p = self.pointer(rows.depth)?;
                Some(tree!(Statement, "@[@] = @;\n", rows.name, self.index(4), p))
            }
            _ => {
                let to = self.pick(&pointers)?;
                let pick = self.helpers.iter().find(|(_, helper)| matches!(helper, Helper::Pick)).cloned();
                let p = self.pointer(to.depth)?;
                Some(match pick {
                    Some((name, _)) => {
                        let q = self.pointer(to.depth)?;
                        tree!(Statement, "@ = @(@, @, @);\n", to.name, name, p, q, self.int(1))
                    }
                    None => tree!(Statement, "@ = @;\n", to.name, p),
                })
            }
        }
    }

    fn swap(&mut self) -> Option<Node> {
        let array = self.doubles()?;
        let Var::Array { size, .. } = array.var else { return None };
        let (i, j) = (self.index(size), self.index(size));
        let name = array.name;
        Some(tree!(
            Statement,
            "{\nint i = @, j = @;\ndouble kept = @[i];\n@[i] = @[j];\n@[j] = kept;\n}\n",
            i,
            j,
            name.clone(),
            name.clone(),
            name.clone(),
            name
        ))
    }

    /// What may well be refused.
    fn rarity(&mut self) -> Option<Node> {
        let value: Part = self.bounded(1).into();
        Some(match self.below(4) {
            0 => tree!(
                Statement,
                "{\nunion { double d; unsigned char bytes[8]; } u;\nu.d = @;\nu.bytes[7] ^= 0x80;\nacc += u.d;\n}\n",
                value
            ),
            1 => {
                let (to, from) = (self.doubles()?, self.doubles()?);
                tree!(
                    Statement,
                    "for (unsigned i = 0; i < 4 * sizeof(double); i++)\n((char *)@)[i] = ((const char *)@)[i];\n",
                    to.name,
                    from.name
                )
            }
            2 => tree!(
                Statement,
                "{\ndouble from = @, to;\nlong bits;\nmemcpy(&bits, &from, 8);\nmemcpy(&to, &bits, 8);\nacc += to;\n}\n",
                value
            ),
            _ => tree!(
                Statement,
                "{\ndouble *grown = malloc(sizeof(double));\ngrown[0] = @;\nfor (int i = 1; i < 4; i++) {\ngrown = realloc(grown, (size_t)(i + 1) * sizeof(double));\ngrown[i] = 0.5 * grown[i - 1] + 0.1 * i;\n}\nacc += grown[3];\nfree(grown);\n}\n",
                value
            ),
        })
    }
}

/// The name of a float type.
pub(super) fn type_name(single: bool) -> &'static str {
    if single { "FL" } else { "double" }
}
