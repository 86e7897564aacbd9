//! What Rust programs are written with: iterators, closures, `dyn`, `Result` and `?`, `Option`, matches, recursion, boxes, vectors of vectors,
//! loops that end early.

use enzyme::{grad, hvp, jacobian, jvp, value_and_grad};

use crate::check::{self, compare, numbers};

fn iterators() {
    compare("zip_map_sum", 6, |x| x.iter().zip(x.iter().skip(1)).map(|(a, b)| a * b.exp()).sum());
    compare("fold", 5, |x| x.iter().fold(1.0, |all, v| all * v + v));
    compare("windows", 6, |x| x.windows(2).map(|w| (w[1] - w[0]).powi(2) + w[0]).sum());
    compare("chunks", 6, |x| x.chunks(2).map(|c| c.iter().product::<f64>()).sum());
    compare("filter", 6, |x| x.iter().filter(|v| **v > 0.6).map(|v| v * v).sum::<f64>() + x[0]);
    compare("scan_take_while", 6, |x| x.iter().scan(0.0, |s, v| { *s += v; Some(*s) }).take_while(|s| *s < 3.0).map(f64::sin).sum());
    compare("rev_enumerate", 5, |x| x.iter().rev().enumerate().map(|(n, v)| (n + 1) as f64 * v.sqrt()).sum());
    compare("maximum", 5, |x| x.iter().copied().fold(f64::MIN, f64::max) * x[0]);
}

/// Vectors that are filled with numbers which happen to be zero.
fn filled() {
    let f = |x: &[f64]| {
        let (singles, pairs, tuples) = (vec![x[0]; 4], vec![[x[0], x[1]]; 3], vec![(x[0], x[1]); 2]);
        let halves = vec![x[1] as f32; 2];
        singles.iter().sum::<f64>()
            + pairs.iter().map(|p| p[0] + 3.0 * p[1]).sum::<f64>()
            + tuples.iter().map(|p| p.0 - p.1).sum::<f64>()
            + halves.iter().map(|v| f64::from(*v)).sum::<f64>()
            + vec![0.0; 3].iter().sum::<f64>()
    };
    let zeros = [0.0, 0.0];
    check::same("filled", &grad!(f, &zeros[..]), &[9.0, 9.0]);
    check::same("filled::tangent", &[jvp!(f, &zeros[..], &[1.0, 2.0])], &[27.0]);
}

fn containers() {
    compare("collect", 5, |x| {
        let squares: Vec<f64> = x.iter().map(|v| v * v).collect();
        squares.iter().rev().zip(x).map(|(a, b)| a * b).sum()
    });
    compare("push_pop", 5, |x| {
        let mut stack = Vec::new();
        for v in x {
            stack.push(v.sin());
            if stack.len() > 2 {
                let top = stack.pop().unwrap_or(0.0);
                stack[0] += top * v;
            }
        }
        stack.iter().sum()
    });
    compare("rows", 6, |x| {
        let rows: Vec<Vec<f64>> = x.chunks(3).map(<[f64]>::to_vec).collect();
        rows[0].iter().zip(&rows[1]).map(|(a, b)| a * b).sum()
    });
    compare("boxed_list", 4, |x| {
        enum List {
            End,
            Node(f64, Box<List>),
        }
        fn product(list: &List) -> f64 {
            match list {
                List::End => 1.0,
                List::Node(v, rest) => v * product(rest),
            }
        }
        let list = x.iter().fold(List::End, |rest, v| List::Node(*v, Box::new(rest)));
        product(&list)
    });
}

trait Layer {
    fn apply(&self, x: f64) -> f64;
}
struct Scale(f64);
struct Squash;
impl Layer for Scale {
    fn apply(&self, x: f64) -> f64 {
        self.0 * x
    }
}
impl Layer for Squash {
    fn apply(&self, x: f64) -> f64 {
        x.tanh()
    }
}

fn abstractions() {
    compare("dyn_layers", 3, |x| {
        let layers: [&dyn Layer; 4] = [&Scale(x[1]), &Squash, &Scale(x[2]), &Squash];
        layers.iter().fold(x[0], |v, layer| layer.apply(v))
    });
    compare("closure_argument", 3, |x| {
        fn twice(f: impl Fn(f64) -> f64, v: f64) -> f64 {
            f(f(v))
        }
        twice(|v| x[0] * v + x[1], x[2])
    });
    compare("question_mark", 3, |x| {
        fn root(v: f64) -> Result<f64, String> {
            if v < 0.0 { Err(format!("{v} is negative")) } else { Ok(v.sqrt()) }
        }
        fn all(x: &[f64]) -> Result<f64, String> {
            Ok(root(x[0])? * root(x[1])? + root(x[2])?)
        }
        all(x).unwrap_or(0.0)
    });
    compare("recursion", 2, |x| {
        fn power(x: f64, n: u32) -> f64 {
            if n == 0 { 1.0 } else { x * power(x, n - 1) }
        }
        power(x[0], 5) + power(x[1], 3)
    });
    compare("newton", 2, |x| {
        let mut y = x[0];
        while (y * y - x[1]).abs() > 1e-13 {
            y -= (y * y - x[1]) / (2.0 * y);
        }
        y + x[0]
    });
}

fn macros() {
    let x = numbers(4);
    let f = |x: &[f64]| x[0] * x[1].sin() + (x[2] * x[3]).exp();
    let (value, g) = value_and_grad!(f, &x[..]);
    check::same("value_and_grad", &[value], &[f(&x)]);
    check::gradient("value_and_grad::gradient", &g, &x, f);
    let v = [1.0, -0.5, 0.25, 2.0];
    let along: f64 = g.iter().zip(&v).map(|(a, b)| a * b).sum();
    check::same("jvp", &[jvp!(f, &x[..], &v[..])], &[along]);
    let h = hvp!(f, &x[..], &v[..]);
    let directional = |y: &[f64]| grad!(f, y).iter().zip(&v).map(|(a, b)| a * b).sum::<f64>();
    check::gradient("hvp", &h, &x, directional);
    let rows = jacobian!(|x: &[f64]| vec![x[0] * x[1], x[2].exp(), x[0] * x[3]], &x[..]);
    check::same("jacobian", &rows[0], &[x[1], x[0], 0.0, 0.0]);
    check::same("jacobian::last", &rows[2], &[x[3], 0.0, 0.0, x[0]]);
    // A result that has another length each time is no function.
    let turn = std::cell::Cell::new(1);
    std::panic::set_hook(Box::new(|_| {}));
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        jacobian!(
            |x: &[f64]| {
                turn.set(turn.get() + 1);
                vec![x[0]; turn.get()]
            },
            &x[..]
        )
    }));
    let _ = std::panic::take_hook();
    check::same("jacobian::of_no_function", &[f64::from(u8::from(caught.is_err()))], &[1.0]);
    let (a, b) = grad!(|x: &[f64; 2], y: f64| x[0] * y + x[1] * y * y, &[2.0, 3.0], 5.0);
    check::same("several_arguments", &[a[0], a[1], b], &[5.0, 25.0, 32.0]);
}

/// All of them.
pub fn run() {
    iterators();
    filled();
    containers();
    abstractions();
    macros();
}
