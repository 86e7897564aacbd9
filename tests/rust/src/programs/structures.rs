//! Programs whose data or flow is the point: an interpreter of text, trees, graphs, shared cells, own iterators, sorting, shortest paths, associated types.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};
use std::rc::Rc;

use super::Number;

enum Problem {
    Word(String),
    Empty,
}

/// A calculator with a stack, driven by text.
fn interpret<T: Number>(text: &str, x: &[T]) -> Result<T, Problem> {
    let mut stack: Vec<T> = Vec::new();
    for word in text.split_whitespace() {
        let mut pop = || stack.pop().ok_or(Problem::Empty);
        let value = match word {
            "+" => pop()? + pop()?,
            "-" => -pop()? + pop()?,
            "*" => pop()? * pop()?,
            "/" => pop()?.recip() * pop()?,
            "sin" => pop()?.sin(),
            "exp" => pop()?.exp(),
            "dup" => {
                let top = pop()?;
                stack.push(top);
                top
            }
            _ => match word.strip_prefix('x') {
                Some(digits) => {
                    let n: usize = digits.parse().map_err(|_| Problem::Word(word.to_owned()))?;
                    *x.get(n).ok_or_else(|| Problem::Word(word.to_owned()))?
                }
                None => T::from(word.parse::<f64>().map_err(|_| Problem::Word(word.to_owned()))?),
            },
        };
        stack.push(value);
    }
    stack.pop().ok_or(Problem::Empty)
}

/// A formula in text; beside it two that fail.
pub fn interpreter<T: Number>(x: &[T]) -> T {
    let good = interpret("x0 x1 * sin 2.5 x2 dup * + * x3 exp - x1 x0 / +", x);
    let bad = (interpret("x0 +", x), interpret("x0 what", x));
    match (good, bad) {
        (Ok(value), (Err(Problem::Empty), Err(Problem::Word(word)))) => value * word.len() as f64,
        _ => T::from(f64::NAN),
    }
}

/// A formula as a tree.
enum Tree<T> {
    Number(Box<T>),
    Input(Box<usize>),
    Sum(Vec<Tree<T>>),
    Product(Box<Tree<T>>, Box<Tree<T>>),
    Call { function: fn(&T) -> T, of: Box<Tree<T>> },
}

impl<T: Number> Tree<T> {
    fn value(&self, x: &[T]) -> T {
        match self {
            Tree::Number(v) => **v,
            Tree::Input(n) => x[**n],
            Tree::Sum(terms) => terms.iter().map(|t| t.value(x)).sum(),
            Tree::Product(a, b) => a.value(x) * b.value(x),
            Tree::Call { function, of } => function(&of.value(x)),
        }
    }
}

/// The value of a tree some of whose leaves are parameters, and whose functions are pointers.
pub fn tree<T: Number>(x: &[T]) -> T {
    let (number, input) = (|v| Tree::Number(Box::new(v)), |n| Tree::Input(Box::new(n)));
    let product = |a, b| Tree::Product(Box::new(a), Box::new(b));
    let call = |function, of| Tree::Call { function, of: Box::new(of) };
    let tree = Tree::Sum(vec![
        product(input(0), call(T::sin as fn(&T) -> T, input(1))),
        call(T::exp, product(number(x[2]), input(0))),
        Tree::Sum(vec![number(x[3] * x[3]), input(2)]),
    ]);
    tree.value(x) * tree.value(&x[1..])
}

struct Cell<T> {
    value: T,
    links: Vec<(Rc<RefCell<Cell<T>>>, T)>,
}

/// Cells that share others and are changed through them.
pub fn shared_cells<T: Number>(x: &[T]) -> T {
    let cells: Vec<Rc<RefCell<Cell<T>>>> =
        x.iter().map(|v| Rc::new(RefCell::new(Cell { value: *v, links: Vec::new() }))).collect();
    for (n, cell) in cells.iter().enumerate().skip(1) {
        let links = (0..n).map(|m| (Rc::clone(&cells[m]), x[m] * 0.3)).collect();
        cell.borrow_mut().links = links;
    }
    for _ in 0..2 {
        for cell in &cells {
            let pull: T = cell.borrow().links.iter().map(|(other, weight)| other.borrow().value.tanh() * *weight).sum();
            cell.borrow_mut().value += pull;
            for (other, _) in &cell.borrow().links {
                other.borrow_mut().value *= 0.9;
            }
        }
    }
    cells.iter().map(|cell| cell.borrow().value.powi(2)).sum()
}

/// A moving mean, as an iterator of its own around any other.
struct Smooth<I, T> {
    inner: I,
    level: Option<T>,
    keep: T,
}

impl<I: Iterator<Item = T>, T: Number> Iterator for Smooth<I, T> {
    type Item = T;
    fn next(&mut self) -> Option<T> {
        let v = self.inner.next()?;
        let level = self.level.map_or(v, |level| level * self.keep + v * (-self.keep + 1.0));
        self.level = Some(level);
        Some(level)
    }
}

/// Chains of adaptors: own iterators, `flat_map`, `peekable`, `step_by`, `chain`, `cycle`, `rposition`.
pub fn iterators<T: Number>(x: &[T]) -> T {
    let smooth = Smooth { inner: x[1..].iter().copied(), level: None, keep: x[0] * 0.5 };
    let mut ahead = smooth.peekable();
    let mut total = T::from(0.0);
    while let Some(v) = ahead.next() {
        if let Some(next) = ahead.peek() {
            total += (*next - v).powi(2);
        }
    }
    let pairs: T = x.iter().enumerate().flat_map(|(i, a)| x[i + 1..].iter().map(move |b| *a * *b)).step_by(2).sum();
    let around: T = x.iter().chain(&x[..2]).zip(x.iter().cycle().skip(1)).map(|(a, b)| (*a - *b).sin() * *a).sum();
    let last = x.iter().rposition(|v| *v > 0.5).map_or(T::from(0.0), |n| x[n] * x[n]);
    total + pairs + around + last
}

/// A mean without the extremes, of numbers that are sorted.
pub fn trimmed_mean<T: Number>(x: &[T]) -> T {
    let mut sorted: Vec<T> = x.iter().map(|v| *v * *v + v.sin()).collect();
    sorted.sort_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
    let kept = &sorted[1..sorted.len() - 1];
    let mean = kept.iter().copied().sum::<T>() / kept.len() as f64;
    kept.iter().map(|v| (*v - mean).powi(2)).sum::<T>() + mean
}

/// The order of a queue of whom the nearest comes first.
struct Waiting<T>(T, usize);

impl<T: Number> PartialEq for Waiting<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl<T: Number> Eq for Waiting<T> {}
impl<T: Number> PartialOrd for Waiting<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<T: Number> Ord for Waiting<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.partial_cmp(&self.0).unwrap_or(Ordering::Equal).then(self.1.cmp(&other.1))
    }
}

/// The shortest ways through a graph, by Dijkstra's algorithm with a heap.
pub fn shortest_ways<T: Number>(x: &[T]) -> T {
    let edges = [(0, 1), (0, 2), (1, 3), (2, 3), (1, 2), (3, 4), (2, 4)];
    let mut nearest: Vec<Option<T>> = vec![None; 5];
    let mut heap = BinaryHeap::from(vec![Waiting(T::from(0.0), 0)]);
    while let Some(Waiting(far, at)) = heap.pop() {
        if nearest[at].is_some() {
            continue;
        }
        nearest[at] = Some(far);
        for ((from, to), length) in edges.iter().zip(x) {
            if *from == at {
                heap.push(Waiting(far + *length * *length, *to));
            }
        }
    }
    nearest.into_iter().flatten().map(|v| v * v).sum()
}

/// A model says what its state is.
trait Model<T> {
    type State: Clone;
    const STEPS: usize;
    fn start(&self) -> Self::State;
    fn step(&self, state: &mut Self::State);
    fn loss(&self, state: &Self::State) -> T;
}

struct Oscillator<'a, T> {
    parameters: &'a [T],
}
#[derive(Clone)]
struct Phase<T> {
    place: T,
    speed: T,
    history: Vec<T>,
}

impl<T: Number> Model<T> for Oscillator<'_, T> {
    type State = Phase<T>;
    const STEPS: usize = 9;
    fn start(&self) -> Phase<T> {
        Phase { place: self.parameters[0], speed: self.parameters[1], history: Vec::new() }
    }
    fn step(&self, state: &mut Phase<T>) {
        let Phase { place, speed, history } = state;
        *speed -= (self.parameters[2] * *place + place.powi(3) * self.parameters[3]) * 0.1;
        *place += *speed * 0.1;
        history.push(*place);
    }
    fn loss(&self, state: &Phase<T>) -> T {
        state.history.iter().rev().step_by(2).map(|p| *p * *p).sum::<T>() + state.speed
    }
}

/// Runs any model, and keeps a copy of the state in the middle.
fn simulate<T: Number, M: Model<T>>(model: &M) -> T {
    let mut state = model.start();
    let mut middle = None;
    for n in 0..M::STEPS {
        model.step(&mut state);
        if n == M::STEPS / 2 {
            middle = Some(state.clone());
        }
    }
    model.loss(&state) + middle.as_ref().map_or(T::from(0.0), |m| model.loss(m))
}

/// A model with associated types.
pub fn model<T: Number>(x: &[T]) -> T {
    simulate(&Oscillator { parameters: x })
}

/// A list of steps as closures in boxes, each of which owns a parameter.
pub fn boxed_closures<T: Number>(x: &[T]) -> T {
    type Step<T> = Box<dyn Fn(T) -> T>;
    let steps: Vec<Step<T>> = x.iter().enumerate().fold(Vec::new(), |mut steps, (n, v)| {
        let v = *v;
        let step: Step<T> = match n % 3 {
            0 => Box::new(move |y| y * v + 1.0),
            1 => Box::new(move |y| (y - v).tanh()),
            _ => Box::new(move |y| y * y * v),
        };
        steps.push(step);
        steps
    });
    steps.iter().fold(T::from(0.7), |y, step| step(y))
}

/// Bills by number, in a vector that is kept in order.
pub fn ledger<T: Number>(x: &[T]) -> T {
    let mut totals: Vec<(u32, T)> = Vec::new();
    for (n, v) in x.iter().enumerate() {
        let (key, bill) = (n as u32 * 7 % 4, *v * (n as f64 + 1.0));
        match totals.binary_search_by_key(&key, |(key, _)| *key) {
            Ok(at) => totals[at].1 += bill,
            Err(at) => totals.insert(at, (key, bill)),
        }
    }
    totals.iter().map(|(key, v)| *v * *v * (1.0 + f64::from(*key))).sum::<T>() * 0.1
}

/// Exchange and rotation in place, by slices of slices.
pub fn in_place<T: Number>(x: &[T]) -> T {
    let mut work = x.to_vec();
    work.rotate_left(2);
    let (left, right) = work.split_at_mut(x.len() / 2);
    for (a, b) in left.iter_mut().zip(right.iter_mut()) {
        *a *= *b;
        std::mem::swap(a, b);
    }
    for pair in work.chunks_exact_mut(2) {
        let [a, b] = pair else { continue };
        (*a, *b) = (*a + *b, *a - *b);
    }
    work.reverse();
    work.retain(|v| *v > -0.4);
    work.dedup_by(|a, b| (*a - *b).abs() < 1e-9);
    work.extend_from_slice(&x[..2]);
    work.iter().enumerate().map(|(n, v)| v.powi(2) * (1.0 + n as f64 * 0.1)).sum()
}

/// Sums by number, in a hash map that grows and shrinks.
pub fn counters<T: Number>(x: &[T]) -> T {
    let mut table: HashMap<u32, T> = HashMap::new();
    for (n, v) in x.iter().enumerate() {
        *table.entry(n as u32 * 7 % 11).or_insert(T::from(1.0)) += *v * *v;
    }
    let gone = table.remove(&7).unwrap_or(T::from(0.0));
    table.values_mut().for_each(|v| *v *= gone);
    (0..11).map(|n| table.get(&n).map_or(x[2], |v| *v * (1.0 + f64::from(n)))).sum::<T>() * 0.1
}

/// A search tree that is descended by a cursor: the place of a subtree is the root, or one of two in any node.
struct Search<T> {
    root: Option<Box<Branch<T>>>,
}
struct Branch<T> {
    key: T,
    weight: T,
    below: [Option<Box<Branch<T>>>; 2],
}

impl<T: Number> Search<T> {
    fn insert(&mut self, key: T, weight: T) {
        let mut at = &mut self.root;
        while let Some(branch) = at {
            at = &mut branch.below[usize::from(key >= branch.key)];
        }
        *at = Some(Box::new(Branch { key, weight, below: [None, None] }));
    }
}

fn weigh<T: Number>(at: &Option<Box<Branch<T>>>, depth: T) -> T {
    let Some(branch) = at else { return T::from(0.0) };
    let [left, right] = &branch.below;
    branch.weight * depth + weigh(left, depth * branch.key) + weigh(right, depth + 1.0)
}

/// Weights in a search tree, by depth.
pub fn search_tree<T: Number>(x: &[T]) -> T {
    let mut tree = Search { root: None };
    for (n, v) in x.iter().enumerate() {
        tree.insert(*v * 0.01 + (n as f64 * 2.3).sin(), *v * *v);
    }
    weigh(&tree.root, T::from(1.0))
}

/// An expression: in a node lies now a number, now boxes, now an index.
enum Expression<T> {
    Number(T),
    Parameter(usize),
    Sum(Box<Expression<T>>, Box<Expression<T>>),
    Product(Box<Expression<T>>, Box<Expression<T>>),
    Sine(Box<Expression<T>>),
}
use Expression::{Parameter, Product, Sine, Sum};

impl<T: Number> Expression<T> {
    fn number(v: T) -> Box<Expression<T>> {
        Box::new(Expression::Number(v))
    }
    fn value(&self, x: &[T]) -> T {
        match self {
            Expression::Number(v) => *v,
            Parameter(n) => x[*n],
            Sum(a, b) => a.value(x) + b.value(x),
            Product(a, b) => a.value(x) * b.value(x),
            Sine(a) => a.value(x).sin(),
        }
    }
}

/// An expression with numbers of the argument in it.
pub fn expression<T: Number>(x: &[T]) -> T {
    let inner = Sine(Box::new(Product(Expression::number(x[2] * x[0]), Box::new(Parameter(3)))));
    let whole = Sum(Box::new(Product(Expression::number(x[0] * x[1]), Box::new(Parameter(1)))), Box::new(inner));
    whole.value(x) * whole.value(&[x[3], x[2], x[1], x[0]])
}
