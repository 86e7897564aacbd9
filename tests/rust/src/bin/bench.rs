//! What gradients cost in Rust: a network on arrays of ndarray, the same in plain vectors, and a simulation, each against its primal, against an adjoint
//! written by hand where there is one, and against dual numbers. Prints a table in Markdown; `cargo xtask bench-rust` runs it.
//!
//! A time is the least of many runs of some milliseconds each. Dual numbers give one component of a gradient in a run: what is printed for them is the
//! time of one run times the number of components, against the primal.

use std::hint::black_box;
use std::time::{Duration, Instant};

use enzyme::value_and_grad;
use ndarray::{Array1, Array2, ArrayView2, LinalgScalar};
use num_dual::{Dual64, DualNum};

trait Number: DualNum<Primitive = f64> + Copy + LinalgScalar {}
impl<T: DualNum<Primitive = f64> + Copy + LinalgScalar> Number for T {}

const BATCH: usize = 64;
const SIZES: [usize; 3] = [48, 64, 10];
const WEIGHTS: usize = SIZES[0] * SIZES[1] + SIZES[1] + SIZES[1] * SIZES[2];

/// The input of the networks and what they ought to give.
struct Data<T> {
    input: Array2<T>,
    wanted: Array2<T>,
}

impl<T: Number> Data<T> {
    fn new() -> Self {
        let value = |i: usize, j: usize| T::from(((i * 13 + j * 7) as f64).sin());
        Data {
            input: Array2::from_shape_fn((BATCH, SIZES[0]), |(i, j)| value(i, j)),
            wanted: Array2::from_shape_fn((BATCH, SIZES[2]), |(i, j)| value(j, i)),
        }
    }
}

/// The weights as matrices that refer to them.
fn weights<T>(w: &[T]) -> (ArrayView2<'_, T>, &[T], ArrayView2<'_, T>) {
    let (first, rest) = w.split_at(SIZES[0] * SIZES[1]);
    let (bias, second) = rest.split_at(SIZES[1]);
    let first = ArrayView2::from_shape((SIZES[0], SIZES[1]), first).expect("as many weights");
    let second = ArrayView2::from_shape((SIZES[1], SIZES[2]), second).expect("as many weights");
    (first, bias, second)
}

/// A network with one hidden layer on arrays: the mean squared error over a batch.
fn arrays<T: Number>(w: &[T], data: &Data<T>) -> T {
    let (first, bias, second) = weights(w);
    let mut hidden = data.input.dot(&first);
    for mut row in hidden.rows_mut() {
        row.iter_mut().zip(bias).for_each(|(h, b)| *h = (*h + *b).tanh());
    }
    let out = hidden.dot(&second);
    out.iter().zip(&data.wanted).map(|(a, b)| (*a - *b) * (*a - *b)).sum::<T>() / (BATCH * SIZES[2]) as f64
}

/// The adjoint of [`arrays`], by hand.
fn arrays_by_hand(w: &[f64], data: &Data<f64>) -> (f64, Vec<f64>) {
    let (first, bias, second) = weights(w);
    let bias = Array1::from_vec(bias.to_vec());
    let hidden = (data.input.dot(&first) + &bias).mapv_into(f64::tanh);
    let error = hidden.dot(&second) - &data.wanted;
    let count = (BATCH * SIZES[2]) as f64;
    let value = error.iter().map(|e| e * e).sum::<f64>() / count;
    let dout = error * (2.0 / count);
    let dsecond = hidden.t().dot(&dout);
    let mut dhidden = dout.dot(&second.t());
    dhidden.zip_mut_with(&hidden, |d, h| *d *= 1.0 - h * h);
    let dfirst = data.input.t().dot(&dhidden);
    let dbias = dhidden.sum_axis(ndarray::Axis(0));
    (value, dfirst.iter().chain(&dbias).chain(&dsecond).copied().collect())
}

/// The same network on slices.
fn slices<T: Number>(w: &[T], data: &Data<T>) -> T {
    let (first, bias, second) = weights(w);
    let (first, second) = (first.to_slice().unwrap_or(&[]), second.to_slice().unwrap_or(&[]));
    let mut hidden = vec![T::from(0.0); SIZES[1]];
    let mut total = T::from(0.0);
    for (input, wanted) in data.input.rows().into_iter().zip(data.wanted.rows()) {
        hidden.copy_from_slice(bias);
        for (x, row) in input.iter().zip(first.chunks_exact(SIZES[1])) {
            hidden.iter_mut().zip(row).for_each(|(h, w)| *h += *w * *x);
        }
        let mut out = [T::from(0.0); SIZES[2]];
        for (h, row) in hidden.iter().zip(second.chunks_exact(SIZES[2])) {
            let h = h.tanh();
            out.iter_mut().zip(row).for_each(|(o, w)| *o += *w * h);
        }
        total += out.iter().zip(wanted).map(|(a, b)| (*a - *b) * (*a - *b)).sum::<T>();
    }
    total / (BATCH * SIZES[2]) as f64
}

/// Springs in a row that swing, the last of which is pushed.
fn springs<T: Number>(x: &[T], steps: usize) -> T {
    let count = x.len() / 2;
    let (start, stiffness) = x.split_at(count);
    let mut place = start.to_vec();
    let mut speed = vec![T::from(0.0); count];
    for _ in 0..steps {
        for i in 1..count - 1 {
            speed[i] +=
                ((place[i + 1] - place[i]) * stiffness[i] - (place[i] - place[i - 1]) * stiffness[i - 1]) * 0.05;
        }
        place.iter_mut().zip(&speed).for_each(|(p, v)| *p += *v * 0.05);
    }
    place.iter().zip(&speed).map(|(p, v)| *p * *p + *v * *v).sum()
}

/// The least time of a run, in microseconds.
fn time(mut run: impl FnMut()) -> f64 {
    let start = Instant::now();
    run();
    let runs = (4e-3 / start.elapsed().as_secs_f64()).clamp(1.0, 1e5) as u32;
    let mut best = Duration::MAX;
    for _ in 0..25 {
        let start = Instant::now();
        for _ in 0..runs {
            run();
        }
        best = best.min(start.elapsed() / runs);
    }
    best.as_secs_f64() * 1e6
}

/// A gradient with the value before it.
type Gradient<'a> = &'a dyn Fn(&[f64]) -> (f64, Vec<f64>);

/// One row of the table. The gradient is compared with dual numbers in a few components, and with the adjoint by hand.
fn row(
    name: &str,
    x: &[f64],
    primal: &dyn Fn(&[f64]) -> f64,
    gradient: Gradient<'_>,
    dual: &dyn Fn(&[Dual64]) -> Dual64,
    hand: Option<Gradient<'_>>,
) {
    let found = gradient(x).1;
    let mut seeded: Vec<Dual64> = x.iter().map(|v| Dual64::from(*v)).collect();
    let mut worst: f64 = 0.0;
    for n in (0..x.len()).step_by(x.len() / 5) {
        seeded[n].eps = 1.0;
        worst = worst.max((dual(&seeded).eps - found[n]).abs());
        seeded[n].eps = 0.0;
    }
    if let Some(hand) = hand {
        let difference = |(a, b): (&f64, &f64)| (a - b).abs();
        worst = hand(x).1.iter().zip(&found).map(difference).fold(worst, f64::max);
    }
    let base = time(|| {
        black_box(primal(black_box(x)));
    });
    let cost = time(|| {
        black_box(gradient(black_box(x)));
    });
    let by_hand = hand.map(|hand| {
        time(|| {
            black_box(hand(black_box(x)));
        })
    });
    let duals = time(|| {
        black_box(dual(black_box(&seeded)));
    }) * x.len() as f64;
    let by_hand = by_hand.map_or("–".to_owned(), |t| format!("{t:.1} µs ({:.2}×)", t / base));
    let count = x.len();
    println!(
        "| {name} | {count} | {base:.1} µs | {cost:.1} µs | **{:.2}×** | {by_hand} | {:.0}× | {worst:.0e} |",
        cost / base,
        duals / base
    );
}

fn main() {
    println!("| program | components | primal | gradient | ratio | by hand | dual numbers | difference |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    let w: Vec<f64> = (0..WEIGHTS).map(|n| (n as f64 * 1.7).sin() * 0.3).collect();
    let (data, duals) = (Data::<f64>::new(), Data::<Dual64>::new());
    let gradient = |w: &[f64]| value_and_grad!(|w: &[f64]| arrays(w, &data), w);
    row(
        "network, ndarray",
        &w,
        &|w| arrays(w, &data),
        &gradient,
        &|w| arrays(w, &duals),
        Some(&|w| arrays_by_hand(w, &data)),
    );
    let gradient = |w: &[f64]| value_and_grad!(|w: &[f64]| slices(w, &data), w);
    row(
        "network, slices",
        &w,
        &|w| slices(w, &data),
        &gradient,
        &|w| slices(w, &duals),
        Some(&|w| arrays_by_hand(w, &data)),
    );
    let x: Vec<f64> = (0..200).map(|n| (n as f64).cos() * 0.5 + 0.7).collect();
    let gradient = |x: &[f64]| value_and_grad!(|x: &[f64]| springs(x, 500), x);
    row("springs, 500 steps", &x, &|x| springs(x, 500), &gradient, &|x| springs(x, 500), None);
}
