//! Functions that generated programs call, each with a scope of its own.

use super::generate::{Generator, Helper, Named, STORED, Var};
use super::tree::Node;
use crate::tree;

/// What generation keeps apart for each function.
struct Kept {
    vars: Vec<Named>,
    depth: u32,
    trips: u32,
    breakable: bool,
    returns: Option<&'static str>,
    in_helper: bool,
}

impl Generator {
    fn enter(&mut self) -> Kept {
        let tables = self.vars.iter().filter(|named| matches!(named.var, Var::Table)).cloned().collect();
        let kept = Kept {
            vars: std::mem::replace(&mut self.vars, tables),
            depth: self.depth,
            trips: self.trips,
            breakable: self.breakable,
            returns: self.returns,
            in_helper: self.in_helper,
        };
        self.depth = 1;
        // A helper may be called in loops.
        self.trips = 12;
        self.breakable = false;
        self.in_helper = true;
        // Helpers may be inlined, so theirs would follow each other.
        self.run_time_array = false;
        kept
    }

    fn leave_function(&mut self, kept: Kept) {
        self.vars = kept.vars;
        self.depth = kept.depth;
        self.trips = kept.trips;
        self.breakable = kept.breakable;
        self.returns = kept.returns;
        self.in_helper = kept.in_helper;
    }

    /// A function of a random kind, declared before those that follow it.
    pub fn helper(&mut self) {
        let kept = self.enter();
        self.make_helper();
        self.leave_function(kept);
    }

    fn parameters(&mut self, pointers: &[&str], doubles: &[&str], ints: &[&str]) {
        for name in pointers {
            self.declare(name, Var::Pointer { fixed: true });
        }
        for name in doubles {
            self.declare(name, Var::Scalar { single: false });
        }
        for name in ints {
            self.declare(name, Var::Counter);
        }
        self.declare("scalar", Var::Scalar { single: false });
    }

    /// Statements between the declaration of `acc` and the end, with sums over the locals.
    fn statements(&mut self, most: u32) -> Node {
        let mark = self.vars.len();
        let count = self.below(most + 1);
        let mut nodes = if count == 0 { Vec::new() } else { self.body(count) };
        nodes.extend(self.sums(mark));
        self.vars.truncate(mark);
        Node::list(nodes)
    }

    fn make_helper(&mut self) {
        let linkage = if self.chance(0.5) { "static" } else { "__attribute__((noinline)) static" };
        let choice = self.below(9);
        let name = self.fresh("help") + "$";
        let structs = self.structs.len() as u32;
        let (node, helper) = match choice {
            0 | 1 => (self.value_helper(linkage, &name), Helper::Value),
            2 => {
                self.parameters(&["p", "q"], &["x"], &["k"]);
                self.returns = Some("return;");
                let statements = self.statements(4);
                (
                    tree!(
                        Item,
                        "@ void @(double *p, double *q, int k, double x)\n{\ndouble scalar = 0.2, acc = 0.0;\nint n = k & 3;\nk &= 15;\n(void)n;\n@p[k & 3] = @;\nq[1] = sin(0.5 * q[2] + acc);\n}\n",
                        linkage,
                        name.clone(),
                        statements,
                        self.bounded(2)
                    ),
                    Helper::Update,
                )
            }
            3 => {
                let start = self.constant().0;
                let scale = self.constant().0;
                (
                    tree!(
                        Item,
                        "@ double @(const double *p, int k)\n{\ndouble sum = @;\nfor (int i = 0; i < 4; i++)\nsum += @ * p[i] * p[(i + k) & 3];\nreturn tanh(sum);\n}\n",
                        linkage,
                        name.clone(),
                        start,
                        scale
                    ),
                    Helper::Reduce,
                )
            }
            4 | 5 if structs > 0 => {
                let index = self.below(structs) as usize;
                let by_value = self.chance(0.5);
                self.parameters(&[], &["x"], &[]);
                self.declare("r", Var::Record { index, arrow: !by_value });
                self.returns = Some(if by_value { "return r;" } else { "return;" });
                let statements = self.statements(3);
                let ty = index.to_string();
                let node = if by_value {
                    tree!(
                        Item,
                        "@ struct s@$ @(struct s@$ r, double x)\n{\ndouble scalar = 0.2, acc = 0.0;\nint n = r.k & 3;\n(void)n;\n@r.d = sin(r.d + acc);\nreturn r;\n}\n",
                        linkage,
                        ty.clone(),
                        name.clone(),
                        ty,
                        statements
                    )
                } else {
                    tree!(
                        Item,
                        "@ void @(struct s@$ *r, double x)\n{\ndouble scalar = 0.2, acc = 0.0;\nint n = r->k & 3;\n(void)n;\n@r->d = sin(r->d + acc);\n}\n",
                        linkage,
                        name.clone(),
                        ty,
                        statements
                    )
                };
                (node, if by_value { Helper::RecordByValue(index) } else { Helper::RecordByPointer(index) })
            }
            6 => (self.recursive_helper(linkage, &name), Helper::Recursive),
            7 => (
                tree!(
                    Item,
                    "@ double *@(double *p, double *q, int k)\n{\nif (k & 1)\nreturn p;\nreturn @ ? q : p;\n}\n",
                    linkage,
                    name.clone(),
                    if self.chance(0.5) { "p[1] < q[2]" } else { "(k & 2)" }
                ),
                Helper::Pick,
            ),
            8 => {
                let value = {
                    self.parameters(&[], &["x"], &["k"]);
                    self.declare("i", Var::Counter);
                    self.bounded(2)
                };
                (
                    tree!(
                        Item,
                        "@ double *@(int k, double x)\n{\ndouble scalar = 0.4;\nk &= 15;\ndouble *made = malloc(8 * sizeof(double));\nfor (int i = 0; i < 8; i++)\nmade[i] = @;\nreturn made;\n}\n",
                        linkage,
                        name.clone(),
                        value
                    ),
                    Helper::Make,
                )
            }
            _ => (self.value_helper(linkage, &name), Helper::Value),
        };
        self.items.push(node);
        self.helpers.push((name, helper));
    }

    fn value_helper(&mut self, linkage: &str, name: &str) -> Node {
        self.parameters(&[], &["x", "y"], &[]);
        self.returns = Some("return sin(acc);");
        let statements = self.statements(3);
        let (value, bound) = self.float(2);
        let value = self.within(value, bound, STORED / 2.0);
        tree!(
            Item,
            "@ double @(double x, double y)\n{\ndouble scalar = 0.3, acc = 0.0;\nint n = 2;\n(void)n;\n@return @ + sin(acc);\n}\n",
            linkage,
            name,
            statements,
            value
        )
    }

    fn recursive_helper(&mut self, linkage: &str, name: &str) -> Node {
        self.parameters(&["p"], &["x"], &[]);
        let base = self.bounded(1);
        let (store, argument) = (self.bounded(1), self.bounded(2));
        let again = if self.chance(0.3) { format!(" * {name}(depth - 2, 0.5 * x, p)") } else { String::new() };
        tree!(
            Item,
            "@ double @(int depth, double x, double *p)\n{\ndouble scalar = 0.3;\nif (depth <= 0)\nreturn @;\nif (depth & 1)\np[depth & 3] = @;\nscalar = @(depth - 1, @, p)@;\nreturn @;\n}\n",
            linkage,
            name,
            base,
            store,
            name,
            argument,
            again,
            self.bounded(2)
        )
    }

    /// A constant table of two functions, called with an index known when the program runs.
    pub fn function_table(&mut self) {
        let mut names = Vec::new();
        for _ in 0..2 {
            let kept = self.enter();
            let name = self.fresh("help") + "$";
            let node = self.value_helper("static", &name);
            self.leave_function(kept);
            self.items.push(node);
            names.push(name);
        }
        let name = self.fresh("functions") + "$";
        self.items.push(tree!(
            Item,
            "static double (*const @[2])(double, double) = {@};\n",
            name.clone(),
            names.join(", ")
        ));
        self.helpers.push((name, Helper::Functions));
    }
}
