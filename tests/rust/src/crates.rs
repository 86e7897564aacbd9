//! What users of small crates and of the standard library's text do beside numbers: the mathematics of libm in plain Rust, the vectors of wide, vectors
//! of smallvec that move to the heap, layers whose names are made by `format!`.

use smallvec::SmallVec;
use wide::f64x4;

use crate::check::compare;

fn plain_mathematics(x: &[f64]) -> f64 {
    let angles = libm::sin(x[1]) * libm::cos(x[2]) + libm::atan2(x[0], x[1]) + libm::tanh(x[5]);
    let powers = libm::pow(x[3], x[4]) + libm::cbrt(x[3]) + libm::hypot(x[4], x[5]) + libm::sqrt(x[6]);
    let singles = f64::from(libm::expf(0.5)) * x[2] * x[3];
    libm::exp(x[0]) + libm::log(x[2]) + libm::lgamma(x[6] + 1.0) + libm::erf(x[7]) + angles + powers + singles
}

fn vectors(x: &[f64]) -> f64 {
    let mut sum = f64x4::splat(0.0);
    for c in x.chunks_exact(4) {
        let v = f64x4::from([c[0], c[1], c[2], c[3]]);
        sum += v.exp() * v.abs() + v.ln() * v.sqrt();
    }
    sum.reduce_add()
}

#[inline(never)]
fn on_the_heap(x: &[f64]) -> f64 {
    let mut list: SmallVec<[f64; 4]> = SmallVec::new();
    list.extend(x.iter().map(|v| v * v));
    list.insert(1, x[0]);
    list.iter().enumerate().map(|(n, v)| v * n as f64).sum()
}

struct Layer {
    name: String,
    weights: Vec<f64>,
    gain: f64,
}

fn named_layers(x: &[f64]) -> f64 {
    let layer = |(n, v): (usize, &f64)| Layer { name: format!("layer {n}"), weights: vec![*v; 3], gain: v.sin() };
    let mut layers: Vec<Layer> = x.iter().enumerate().map(layer).collect();
    layers.sort_by(|a, b| b.name.cmp(&a.name));
    let ordered = layers.windows(2).all(|w| w[0].name > w[1].name) && layers[0].name == format!("layer {}", 9);
    let place = |n: usize| if ordered { (n + 1) as f64 } else { 0.0 };
    layers.iter().enumerate().map(|(n, l)| l.gain * l.weights.iter().sum::<f64>() * place(n)).sum()
}

pub fn run() {
    compare("libm", 8, plain_mathematics);
    compare("wide", 8, vectors);
    compare("smallvec", 9, on_the_heap);
    compare("named layers", 10, named_layers);
}
