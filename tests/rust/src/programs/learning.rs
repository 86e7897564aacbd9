//! Networks and statistical models: layers generic and behind `dyn`, recurrent cells, attention, mixtures, processes, alignment.

use super::Number;

fn sigmoid<T: Number>(x: T) -> T {
    ((-x).exp() + 1.0).recip()
}

fn log_sum_exp<T: Number>(values: impl Iterator<Item = T> + Clone) -> T {
    let mut all = values.clone();
    let first = all.next().unwrap_or_else(|| T::from(0.0));
    let top = all.fold(first, |a, b| if b > a { b } else { a });
    values.map(|v| (v - top).exp()).sum::<T>().ln() + top
}

/// Weights and biases of a layer, taken from a flat slice.
struct Dense<T> {
    weights: Vec<Vec<T>>,
    biases: Vec<T>,
}

impl<T: Number> Dense<T> {
    fn take(from: &mut &[T], inputs: usize, outputs: usize) -> Self {
        let (weights, rest) = from.split_at(inputs * outputs);
        let (biases, rest) = rest.split_at(outputs);
        *from = rest;
        Dense { weights: weights.chunks(inputs).map(<[T]>::to_vec).collect(), biases: biases.to_vec() }
    }
    fn forward(&self, x: &[T], squash: impl Fn(T) -> T) -> Vec<T> {
        let row = |(w, b): (&Vec<T>, &T)| squash(w.iter().zip(x).map(|(w, x)| *w * *x).sum::<T>() + *b);
        self.weights.iter().zip(&self.biases).map(row).collect()
    }
}

/// A network of three layers, and its mean squared error over a batch.
pub fn perceptron<T: Number>(w: &[T]) -> T {
    let mut rest = w;
    let layers = [Dense::take(&mut rest, 2, 3), Dense::take(&mut rest, 3, 3), Dense::take(&mut rest, 3, 1)];
    let batch = [([0.1, 0.9], 0.3), ([0.8, -0.4], -0.5), ([-0.6, 0.2], 0.9)];
    let error = |(input, wanted): &([f64; 2], f64)| {
        let hidden = layers[0].forward(&input.map(T::from), |v| v.tanh());
        let hidden = layers[1].forward(&hidden, |v| if v > 0.0 { v } else { v * 0.1 });
        (layers[2].forward(&hidden, sigmoid)[0] - *wanted).powi(2)
    };
    batch.iter().map(error).sum::<T>() / batch.len() as f64
}

/// There are not as many numbers as weights.
struct WrongLength;

trait Layer<T> {
    fn forward(&self, x: &mut [T]) -> Result<(), WrongLength>;
}
struct Affine<T> {
    scale: T,
    shift: T,
}
struct Mix<T>(T);
struct Squash;

impl<T: Number> Layer<T> for Affine<T> {
    fn forward(&self, x: &mut [T]) -> Result<(), WrongLength> {
        x.iter_mut().for_each(|v| *v = *v * self.scale + self.shift);
        Ok(())
    }
}
impl<T: Number> Layer<T> for Mix<T> {
    fn forward(&self, x: &mut [T]) -> Result<(), WrongLength> {
        let Some((first, rest)) = x.split_first_mut() else { return Err(WrongLength) };
        for v in rest {
            let mixed = *first * self.0 + *v;
            *first -= *v * 0.5;
            *v = mixed;
        }
        Ok(())
    }
}
impl<T: Number> Layer<T> for Squash {
    fn forward(&self, x: &mut [T]) -> Result<(), WrongLength> {
        if x.len() < 2 {
            return Err(WrongLength);
        }
        x.iter_mut().for_each(|v| *v = v.tanh());
        Ok(())
    }
}

/// Layers behind `dyn`, each of which may fail.
pub fn boxed_layers<T: Number>(w: &[T]) -> T {
    let affine = |n: usize| Box::new(Affine { scale: w[n], shift: w[n + 1] });
    let layers: Vec<Box<dyn Layer<T>>> = vec![
        affine(0),
        Box::new(Squash),
        Box::new(Mix(w[2])),
        affine(3),
        Box::new(Squash),
        Box::new(Mix(w[5])),
        affine(6),
    ];
    let mut x = [0.5, -1.0, 2.0, 0.25].map(T::from);
    match layers.iter().try_for_each(|layer| layer.forward(&mut x)) {
        Ok(()) => x.iter().enumerate().map(|(n, v)| v.powi(2) * (n + 1) as f64).sum(),
        Err(WrongLength) => T::from(f64::NAN),
    }
}

/// A layer that gives a new vector.
trait Block<T> {
    fn forward(&self, x: Vec<T>) -> Vec<T>;
}
struct Linear<T> {
    weights: Vec<T>,
    biases: Vec<T>,
}
struct Scale<T> {
    by: T,
}
struct Tanh;
struct Chain<T> {
    inner: Vec<Box<dyn Block<T>>>,
}

impl<T: Number> Block<T> for Linear<T> {
    fn forward(&self, x: Vec<T>) -> Vec<T> {
        let rows = self.weights.chunks(x.len()).zip(&self.biases);
        rows.map(|(w, b)| w.iter().zip(&x).map(|(w, x)| *w * *x).sum::<T>() + *b).collect()
    }
}
impl<T: Number> Block<T> for Scale<T> {
    fn forward(&self, mut x: Vec<T>) -> Vec<T> {
        x.iter_mut().for_each(|v| *v *= self.by);
        x
    }
}
impl<T: Number> Block<T> for Tanh {
    fn forward(&self, x: Vec<T>) -> Vec<T> {
        x.into_iter().map(|v| v.tanh()).collect()
    }
}
impl<T: Number> Block<T> for Chain<T> {
    fn forward(&self, x: Vec<T>) -> Vec<T> {
        self.inner.iter().fold(x, |x, block| block.forward(x))
    }
}

/// Layers behind `dyn` that own vectors, numbers, other layers or nothing.
pub fn owning_layers<T: Number>(w: &[T]) -> T {
    let linear = |w: &[T], b: &[T]| Box::new(Linear { weights: w.to_vec(), biases: b.to_vec() });
    let layers: Vec<Box<dyn Block<T>>> = vec![
        Box::new(Chain { inner: vec![linear(&w[..6], &w[6..9]), Box::new(Tanh)] }),
        Box::new(Scale { by: w[13] }),
        linear(&w[9..12], &w[12..13]),
    ];
    let x = layers.iter().fold(vec![T::from(0.3), T::from(-0.8)], |x, layer| layer.forward(x));
    x.iter().map(|v| *v * *v).sum()
}

/// A cell with long and short memory, over a sequence.
pub fn lstm<T: Number>(w: &[T]) -> T {
    const H: usize = 2;
    let (mut hidden, mut cell) = ([T::from(0.0); H], [T::from(0.0); H]);
    let gate = |g: usize, k: usize, x: f64, hidden: &[T; H]| {
        let row = &w[(g * H + k) * (H + 2)..][..H + 2];
        row[0] * x + row[1] + hidden.iter().zip(&row[2..]).map(|(h, w)| *h * *w).sum::<T>()
    };
    let mut loss = T::from(0.0);
    for (t, x) in [0.3, -0.7, 1.1, 0.4, -0.2].into_iter().enumerate() {
        let before = hidden;
        for k in 0..H {
            let [forget, input, output] = [0, 1, 2].map(|g| sigmoid(gate(g, k, x, &before)));
            cell[k] = forget * cell[k] + input * gate(3, k, x, &before).tanh();
            hidden[k] = output * cell[k].tanh();
        }
        loss += (hidden[0] - hidden[1] * 0.5 - (t as f64).cos() * 0.3).powi(2);
    }
    loss
}

/// A convolution, pooled by the maximum, then a linear layer.
pub fn convolution<T: Number>(w: &[T]) -> T {
    let image: Vec<Vec<f64>> = (0..6).map(|i| (0..6).map(|j| ((i * 7 + j * 3) as f64).sin()).collect()).collect();
    let (kernel, linear) = w.split_at(9);
    let at = |i: usize, j: usize| {
        let sum: T = (0..9).map(|k| kernel[k] * image[i + k / 3][j + k % 3]).sum();
        if sum > 0.0 { sum } else { T::from(0.0) }
    };
    let pooled = |i: usize, j: usize| {
        let four = [at(2 * i, 2 * j), at(2 * i, 2 * j + 1), at(2 * i + 1, 2 * j), at(2 * i + 1, 2 * j + 1)];
        four.into_iter().reduce(|a, b| if b > a { b } else { a }).unwrap_or_else(|| T::from(0.0))
    };
    linear.iter().enumerate().map(|(n, w)| *w * pooled(n / 2, n % 2)).sum::<T>().powi(2)
}

/// One head of attention over four tokens.
pub fn attention<T: Number>(x: &[T]) -> T {
    let rows = |part: &[T]| -> Vec<[T; 2]> { part.chunks_exact(2).map(|c| [c[0], c[1]]).collect() };
    let (queries, keys, values) = (rows(&x[..8]), rows(&x[8..16]), rows(&x[16..24]));
    let attend = |q: &[T; 2]| -> [T; 2] {
        let scores: Vec<T> = keys.iter().map(|k| (q[0] * k[0] + q[1] * k[1]) * 0.7).collect();
        let total = log_sum_exp(scores.iter().copied());
        let weights: Vec<T> = scores.iter().map(|score| (*score - total).exp()).collect();
        [0, 1].map(|k| weights.iter().enumerate().map(|(n, w)| *w * values[n][k]).sum())
    };
    queries.iter().map(attend).enumerate().map(|(n, o)| o[0] * (n as f64 + 1.0) + o[1] * o[1]).sum()
}

/// A mixture of three normal distributions: the likelihood of a few points.
pub fn mixture<T: Number>(x: &[T]) -> T {
    let (weights, rest) = x.split_at(3);
    let (means, scales) = rest.split_at(3);
    let norm = log_sum_exp(weights.iter().copied());
    let of_point = |point: f64| {
        let parts = (0..3).map(move |k| {
            let z = (-means[k] + point) / scales[k];
            weights[k] - norm - scales[k].ln() - z * z * 0.5
        });
        log_sum_exp(parts)
    };
    [-0.5, 0.2, 0.9, 1.4].into_iter().map(of_point).sum()
}

/// Logistic regression, as one chain of iterators.
pub fn logistic<T: Number>(w: &[T]) -> T {
    let rows = [[0.5, 1.2, -0.3], [1.5, -0.2, 0.8], [-1.0, 0.4, 0.1], [0.3, -0.9, -1.4]];
    let labels = [true, false, true, false];
    rows.iter()
        .map(|row| row.iter().zip(w).map(|(x, w)| *w * *x).sum::<T>() + w[3])
        .zip(labels)
        .map(|(score, label)| if label { ((-score).exp() + 1.0).ln() } else { (score.exp() + 1.0).ln() })
        .sum::<T>()
        + w.iter().map(|w| *w * *w).sum::<T>() * 0.05
}

/// The likelihood of a Gaussian process, by Cholesky's factors of its covariance.
pub fn process<T: Number>(x: &[T]) -> T {
    let (points, wanted) = ([0.0, 0.4, 0.9, 1.7, 2.0], [0.1, 0.5, 0.7, -0.2, -0.6]);
    let n = points.len();
    let mut a = vec![vec![T::from(0.0); n]; n];
    for i in 0..n {
        for j in 0..=i {
            let d = points[i] - points[j];
            a[i][j] = x[0] * (-(x[1].powi(2).recip()) * (d * d)).exp();
        }
        a[i][i] += x[2];
    }
    for j in 0..n {
        for k in 0..j {
            for i in j..n {
                let part = a[i][k] * a[j][k];
                a[i][j] -= part;
            }
        }
        let root = a[j][j].sqrt();
        for row in &mut a[j..] {
            row[j] /= root;
        }
    }
    let mut z: Vec<T> = Vec::with_capacity(n);
    for i in 0..n {
        let sum: T = z.iter().zip(&a[i]).map(|(z, l)| *z * *l).sum();
        z.push((-sum + wanted[i]) / a[i][i]);
    }
    let determinant: T = (0..n).map(|i| a[i][i].ln()).sum();
    -z.iter().map(|v| *v * *v).sum::<T>() * 0.5 - determinant
}

/// A chain of hidden states: the likelihood of what was seen, by the forward algorithm.
pub fn hidden_states<T: Number>(x: &[T]) -> T {
    let normalised = |row: &[T]| -> Vec<T> {
        let total = log_sum_exp(row.iter().copied());
        row.iter().map(|v| *v - total).collect()
    };
    let moves: Vec<Vec<T>> = x[..9].chunks(3).map(normalised).collect();
    let shown: Vec<Vec<T>> = x[9..15].chunks(2).map(normalised).collect();
    let mut state: Vec<T> = shown.iter().map(|s| s[0] - 3f64.ln()).collect();
    for seen in [1, 0, 0, 1, 1] {
        let next = |to: usize| log_sum_exp((0..3).map(|from| state[from] + moves[from][to])) + shown[to][seen];
        state = (0..3).map(next).collect();
    }
    log_sum_exp(state.into_iter())
}

/// The soft alignment of two series, by dynamic programming.
pub fn alignment<T: Number>(x: &[T]) -> T {
    let (a, b) = x.split_at(x.len() / 2);
    let far = T::from(1e3);
    let mut table = vec![vec![far; b.len() + 1]; a.len() + 1];
    table[0][0] = T::from(0.0);
    for (i, u) in a.iter().enumerate() {
        for (j, v) in b.iter().enumerate() {
            let before = [table[i][j], table[i][j + 1], table[i + 1][j]];
            let least = -log_sum_exp(before.into_iter().map(|v| -v * 5.0)) / 5.0;
            table[i + 1][j + 1] = (*u - *v).powi(2) + least;
        }
    }
    table[a.len()][b.len()]
}
