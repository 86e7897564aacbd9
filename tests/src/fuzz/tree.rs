//! A program as a tree of text: what the generator writes, the runner prints and the reducer cuts down.
//!
//! A node is text with holes filled by nodes. Its kind says by what it may be replaced without a change of types: a statement by
//! nothing, an expression by a constant or by an expression of its kind within it. So a reducer needs to know nothing of C; what
//! it breaks (a declaration that is still used) does not compile and is not kept.

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Neither goes nor changes by itself.
    Fixed,
    /// A declaration at file scope.
    Item,
    /// A statement.
    Statement,
    /// An expression of floating type.
    Float,
    /// An expression of integer type.
    Int,
}

/// Text with holes.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// Text and nodes in order.
    pub parts: Vec<Part>,
}

/// A piece of a node.
#[derive(Clone, Debug)]
pub enum Part {
    /// Text as it stands.
    Text(String),
    /// A node.
    Node(Node),
}

impl From<&str> for Part {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&String> for Part {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<String> for Part {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Node> for Part {
    fn from(node: Node) -> Self {
        Self::Node(node)
    }
}

/// The hole in a template.
const HOLE: char = '@';

impl Node {
    /// A node from a template whose holes `@` are filled in order.
    pub fn new(kind: Kind, template: &str, holes: Vec<Part>) -> Self {
        let mut parts = Vec::with_capacity(2 * holes.len() + 1);
        let mut holes = holes.into_iter();
        for (index, text) in template.split(HOLE).enumerate() {
            if index > 0 {
                parts.extend(holes.next());
            }
            if !text.is_empty() {
                parts.push(Part::Text(text.to_owned()));
            }
        }
        Self { kind, parts }
    }

    /// Nodes one after the other.
    pub fn list(nodes: Vec<Self>) -> Self {
        Self { kind: Kind::Fixed, parts: nodes.into_iter().map(Part::Node).collect() }
    }

    /// Its text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.print(&mut text);
        text
    }

    fn print(&self, into: &mut String) {
        for part in &self.parts {
            match part {
                Part::Text(text) => into.push_str(text),
                Part::Node(node) => node.print(into),
            }
        }
    }

    /// Places of all nodes below this one, outer before inner.
    pub fn places(&self) -> Vec<Vec<usize>> {
        let mut places = Vec::new();
        self.collect(&mut Vec::new(), &mut places);
        places
    }

    fn collect(&self, place: &mut Vec<usize>, places: &mut Vec<Vec<usize>>) {
        for (index, part) in self.parts.iter().enumerate() {
            if let Part::Node(node) = part {
                place.push(index);
                places.push(place.clone());
                node.collect(place, places);
                place.pop();
            }
        }
    }

    /// The node at a place, if there still is one.
    pub fn at(&self, place: &[usize]) -> Option<&Self> {
        let Some((first, rest)) = place.split_first() else { return Some(self) };
        match self.parts.get(*first)? {
            Part::Node(node) => node.at(rest),
            Part::Text(_) => None,
        }
    }

    /// The tree with another node at a place.
    #[must_use]
    pub fn with(&self, place: &[usize], other: &Self) -> Self {
        let Some((first, rest)) = place.split_first() else { return other.clone() };
        let mut changed = self.clone();
        if let Some(Part::Node(node)) = changed.parts.get_mut(*first) {
            *node = node.with(rest, other);
        }
        changed
    }

    /// Smaller nodes that may stand in place of this one, the smallest first.
    pub fn simpler(&self) -> Vec<Self> {
        let text = |text: &str| Self { kind: self.kind, parts: vec![Part::from(text)] };
        let now = self.text();
        let mut simpler = match self.kind {
            Kind::Fixed => Vec::new(),
            Kind::Item | Kind::Statement if now.is_empty() => Vec::new(),
            Kind::Item | Kind::Statement => vec![text("")],
            Kind::Float if now == "0.5" => Vec::new(),
            Kind::Float => vec![text("0.5")],
            Kind::Int if now == "1" => Vec::new(),
            Kind::Int => vec![text("1")],
        };
        if matches!(self.kind, Kind::Float | Kind::Int | Kind::Statement) {
            let inner = self.places();
            let same = inner.iter().filter_map(|place| self.at(place)).filter(|node| node.kind == self.kind);
            simpler.extend(same.take(6).cloned());
        }
        simpler
    }
}

/// A node: `tree!(Float, "(@ + @)", left, right)`.
#[macro_export]
macro_rules! tree {
    ($kind:ident, $template:expr $(, $hole:expr)* $(,)?) => {
        $crate::fuzz::tree::Node::new(
            $crate::fuzz::tree::Kind::$kind,
            $template,
            vec![$($crate::fuzz::tree::Part::from($hole)),*],
        )
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_printed_and_cut() {
        let sum = tree!(Float, "(@ + @)", tree!(Float, "x"), tree!(Float, "sin(@)", tree!(Float, "y")));
        let statement = tree!(Statement, "@ = @;\n", "z", sum);
        let root = Node::list(vec![statement]);
        assert_eq!(root.text(), "z = (x + sin(y));\n");
        let places = root.places();
        assert_eq!(places.len(), 5);
        assert_eq!(root.with(&places[0], &root.at(&places[0]).unwrap().simpler()[0]).text(), "");
        let simpler = root.at(&places[1]).unwrap().simpler();
        let texts: Vec<String> = simpler.iter().map(Node::text).collect();
        assert_eq!(texts, ["0.5", "x", "sin(y)", "y"]);
        assert_eq!(root.with(&places[1], &simpler[2]).text(), "z = sin(y);\n");
    }
}
