//! Small programs of the kind that people differentiate: an integrator with a closure for its right-hand side, springs, a Kalman filter, a ray
//! marcher, a network generic over its numbers (which dual numbers check), and users of ndarray and nalgebra.

use enzyme::grad;
use nalgebra::{DMatrix, Matrix3, Vector3};
use ndarray::{Array1, Array2, ArrayView1};
use num_dual::{Dual64, DualNum};

use crate::check::{self, compare, numbers};

fn runge_kutta(f: impl Fn(f64, &[f64; 2]) -> [f64; 2], start: [f64; 2], steps: usize) -> [f64; 2] {
    let h = 2.0 / steps as f64;
    let add = |a: &[f64; 2], b: &[f64; 2], s: f64| [a[0] + s * b[0], a[1] + s * b[1]];
    (0..steps).fold(start, |y, n| {
        let t = n as f64 * h;
        let k1 = f(t, &y);
        let k2 = f(t + h / 2.0, &add(&y, &k1, h / 2.0));
        let k3 = f(t + h / 2.0, &add(&y, &k2, h / 2.0));
        let k4 = f(t + h, &add(&y, &k3, h));
        std::array::from_fn(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]))
    })
}

fn springs(x: &[f64]) -> f64 {
    let count = x.len() / 2;
    let mut position: Vec<f64> = x[..count].to_vec();
    let mut speed = vec![0.0; count];
    for _ in 0..20 {
        for i in 0..count {
            let left = if i > 0 { position[i - 1] - position[i] } else { -position[i] };
            let right = if i + 1 < count { position[i + 1] - position[i] } else { -position[i] };
            speed[i] += 0.05 * x[count + i] * (left + right);
        }
        for i in 0..count {
            position[i] += 0.05 * speed[i];
        }
    }
    position.iter().zip(&speed).map(|(p, v)| p * p + v * v).sum()
}

fn kalman(x: &[f64]) -> f64 {
    let (process, noise) = (x[0], x[1]);
    let (mut estimate, mut variance, mut loss) = (0.0, 1.0, 0.0);
    for z in &x[2..] {
        variance += process;
        let gain = variance / (variance + noise);
        let surprise = z - estimate;
        loss += 0.5 * ((variance + noise).ln() + surprise * surprise / (variance + noise));
        estimate += gain * surprise;
        variance *= 1.0 - gain;
    }
    loss
}

fn march(x: &[f64]) -> f64 {
    let distance = |p: [f64; 3]| {
        let sphere = (p[0] * p[0] + p[1] * p[1] + (p[2] - 4.0) * (p[2] - 4.0)).sqrt() - 1.0 - 0.1 * x[2];
        sphere.min(p[1] + 2.0)
    };
    let direction = [0.2 * x[0], 0.2 * x[1], 1.0];
    let mut t = 0.0;
    for _ in 0..60 {
        t += 0.5 * distance([t * direction[0], t * direction[1], t * direction[2]]);
    }
    t
}

/// A network with one hidden layer, generic over its numbers.
fn network<T: DualNum<Primitive = f64> + Copy>(w: &[T], input: &[f64]) -> T {
    let hidden = 3;
    let mut out = w[0];
    for h in 0..hidden {
        let row = &w[1 + h * (input.len() + 1)..];
        let sum = input.iter().zip(row).fold(row[input.len()], |sum, (x, w)| sum + *w * *x);
        out += sum.tanh() * w[1 + hidden * (input.len() + 1) + h];
    }
    out * out
}

fn networks() {
    let input = [0.3, -0.8, 0.5];
    let w = numbers(1 + 3 * 4 + 3);
    let found = grad!(|w: &[f64]| network(w, &input), &w[..]);
    check::gradient("network", &found, &w, |w| network(w, &input));
    let wanted: Vec<f64> = (0..w.len())
        .map(|n| {
            let seeded: Vec<Dual64> =
                w.iter().enumerate().map(|(i, v)| Dual64::new(*v, if i == n { 1.0 } else { 0.0 })).collect();
            network(&seeded, &input).eps
        })
        .collect();
    check::same("network::dual_numbers", &found, &wanted);
}

fn libraries() {
    compare("ndarray::dot", 9, |x| {
        let a = Array2::from_shape_fn((3, 3), |(i, j)| (x[i * 3 + j] * (i + j + 1) as f64).sin());
        let v = Array1::from_iter(x[..3].iter().copied());
        let mut total = 0.0;
        for i in 0..3 {
            for j in 0..3 {
                total += a[[i, j]] * v[j];
            }
        }
        total
    });
    compare("ndarray::map", 6, |x| {
        let v = ArrayView1::from(x);
        let w = v.mapv(|a| a * a);
        w.sum()
    });
    compare("nalgebra::fixed", 9, |x| {
        let m = Matrix3::from_row_slice(x);
        let v = Vector3::new(x[0], x[4], x[8]);
        (m * v).norm() + m.determinant()
    });
    compare("nalgebra::dynamic", 6, |x| {
        let m = DMatrix::from_row_slice(2, 3, x);
        (&m * m.transpose()).trace()
    });
}

/// All of them.
pub fn run() {
    compare("runge_kutta", 4, |x| {
        let end = runge_kutta(|t, y| [y[1], -x[2] * y[0] - x[3] * y[1] * t], [x[0], x[1]], 12);
        end[0] * end[1]
    });
    compare("springs", 8, springs);
    compare("kalman", 10, kalman);
    compare("ray_marcher", 3, march);
    networks();
    libraries();
}
