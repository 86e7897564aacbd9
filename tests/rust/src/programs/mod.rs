//! The corpus: programs that somebody would differentiate, generic over their numbers. The gradient of each is compared with central differences and
//! with what dual numbers give.

mod learning;
mod libraries;
mod numerics;
mod physics;
mod structures;
mod tables;

use enzyme::grad;
use num_dual::{Dual64, DualNum};

use crate::check::{self, numbers};

/// A float or a dual number.
pub trait Number: DualNum<Primitive = f64> + Copy {}
impl<T: DualNum<Primitive = f64> + Copy> Number for T {}

/// The gradient by dual numbers, one run for each component.
fn dual_gradient(x: &[f64], f: impl Fn(&[Dual64]) -> Dual64) -> Vec<f64> {
    let mut seeded: Vec<Dual64> = x.iter().map(|v| Dual64::from(*v)).collect();
    let mut component = |n: usize| {
        seeded[n].eps = 1.0;
        let slope = f(&seeded).eps;
        seeded[n].eps = 0.0;
        slope
    };
    (0..x.len()).map(&mut component).collect()
}

macro_rules! programs {
    ($($module:ident: $($name:ident $count:literal),+;)+) => {
        /// All of them; with a word, those whose names contain it.
        pub fn run(word: Option<&str>) {
            $($({
                let name = concat!(stringify!($module), "::", stringify!($name));
                if word.is_none_or(|word| name.contains(word)) {
                    let x = numbers($count);
                    let found = grad!(|x: &[f64]| $module::$name(x), &x[..]);
                    check::gradient(name, &found, &x, |x| $module::$name(x));
                    let wanted = dual_gradient(&x, |x| $module::$name(x));
                    check::exactly(concat!(stringify!($module), "::", stringify!($name), "::dual_numbers"), &found, &wanted);
                }
            })+)+
        }
    };
}

programs! {
    physics: bodies 21, cloth 4, heat 9, wave 17, lorenz 6, epidemic 3, growth 4, kalman 10, marcher 7, spheres 8, arm 6, delay 4;
    learning: perceptron 25, boxed_layers 8, owning_layers 14, lstm 32, convolution 13, attention 24, mixture 9, logistic 4, process 3, hidden_states 15, alignment 10;
    numerics: elimination 20, newton 3, conjugate_gradients 12, spline 7, bezier 10, spectrum 8, quadrature 3, eigenvalue 9, option_price 5,
        american 4, asian 3, curve 6;
    structures: tree 4, iterators 8, trimmed_mean 9, shortest_ways 7, model 4, boxed_closures 6, ledger 7, in_place 8, search_tree 9, expression 4, interpreter 4,
        shared_cells 5, counters 15;
    tables: readings 7, ranked_rows 8, grouped_entries 6, named_graph 9, binned 6, words_and_numbers 5, called_back 4;
    libraries: rotations 7, systems 12, least_squares 12, array_network 22, array_statistics 12, array_products 30, array_stencil 10;
}
