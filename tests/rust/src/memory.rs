//! Programs whose gradients allocate, for valgrind: vectors, boxes, lists, shared cells, and panics that unwind through a derivative. Whatever was allocated is
//! freed when `run` returns.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use enzyme::{grad, hvp, jacobian, value_and_grad};

use crate::check;

enum List {
    End,
    Node(f64, Box<List>),
}

impl List {
    fn product(&self) -> f64 {
        match self {
            List::End => 1.0,
            List::Node(v, rest) => v * rest.product(),
        }
    }
}

/// A matrix of rows whose number of steps is known at run time, a list, a shared vector, a boxed closure; an element that may not be there.
fn allocates(x: &[f64], at: usize, forget: bool) -> f64 {
    let mut rows: Vec<Vec<f64>> = x.chunks(2).map(|c| c.iter().map(|v| v.sin()).collect()).collect();
    for n in 0..x.len() {
        let last = rows[n % rows.len()].clone();
        rows.push(last.iter().map(|v| v * x[n]).collect());
    }
    let list = x.iter().fold(List::End, |rest, v| List::Node(*v, Box::new(rest)));
    let shared = Rc::new(x.to_vec());
    let (other, first) = (Rc::clone(&shared), x[0]);
    let scale: Box<dyn Fn(f64) -> f64> = Box::new(move |v| v * first + other[1]);
    if forget {
        std::mem::forget(rows.clone());
    }
    let sum: f64 = rows.iter().flatten().sum();
    scale(sum) * list.product() + shared[at] * shared[at]
}

/// Gradients, Hessian products, a Jacobian, panics; with `forget`, the primal leaks.
pub fn run(forget: bool) {
    let (x, v) = ([0.7, 1.1, 0.9, 1.3], [1.0, 0.0, 0.5, 0.0]);
    let f = |x: &[f64]| allocates(x, 2, forget);
    let found = grad!(f, &x[..]);
    check::gradient("leaks::gradient", &found, &x, f);
    for _ in 0..3 {
        let (_, again) = value_and_grad!(f, &x[..]);
        check::same("leaks::again", &again, &found);
    }
    let squares =
        |x: &[f64]| x.iter().map(|v| v * v).collect::<Vec<f64>>().windows(2).map(|w| w[0] * w[1]).sum::<f64>();
    let products = hvp!(squares, &x[..], &v[..]);
    check::gradient("leaks::hessian", &products, &x, |y| grad!(squares, y).iter().zip(&v).map(|(a, b)| a * b).sum());
    let rows = jacobian!(|x: &[f64]| vec![allocates(x, 1, forget), x[0] * x[3]], &x[..]);
    check::same("leaks::jacobian", &rows[1], &[x[3], 0.0, 0.0, x[0]]);
    std::panic::set_hook(Box::new(|_| {}));
    for at in [4, 9] {
        let caught = catch_unwind(AssertUnwindSafe(|| grad!(|x: &[f64]| allocates(x, at, forget), &x[..])));
        check::same("leaks::panic", &[f64::from(u8::from(caught.is_err()))], &[1.0]);
    }
    drop(std::panic::take_hook());
}
