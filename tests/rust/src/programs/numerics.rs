//! Numerical methods: factorisations, iterations, splines, transforms, quadrature, sparse matrices; options, curves and paths of prices.

use super::Number;

type Rows<T> = Vec<Vec<T>>;

/// Gaussian elimination with exchange of rows; fails on a singular matrix.
fn solve<T: Number>(mut a: Rows<T>, mut b: Vec<T>) -> Option<Vec<T>> {
    let n = b.len();
    for k in 0..n {
        let size = |i: &usize| a[*i][k].abs();
        let pivot = (k..n).max_by(|i, j| size(i).partial_cmp(&size(j)).unwrap_or(std::cmp::Ordering::Equal))?;
        if a[pivot][k].abs() < 1e-12 {
            return None;
        }
        a.swap(k, pivot);
        b.swap(k, pivot);
        let (above, below) = a.split_at_mut(k + 1);
        for (i, row) in below.iter_mut().enumerate() {
            let factor = row[k] / above[k][k];
            for (x, y) in row[k..].iter_mut().zip(&above[k][k..]) {
                *x -= factor * *y;
            }
            let part = factor * b[k];
            b[k + 1 + i] -= part;
        }
    }
    for k in (0..n).rev() {
        let known: T = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - known) / a[k][k];
    }
    Some(b)
}

/// A linear system of four equations.
pub fn elimination<T: Number>(x: &[T]) -> T {
    let rows: Rows<T> = x[..16]
        .chunks(4)
        .enumerate()
        .map(|(i, c)| c.iter().enumerate().map(|(j, v)| *v + ((i + j) % 3) as f64).collect())
        .collect();
    let Some(y) = solve(rows, x[16..20].to_vec()) else { return T::from(f64::NAN) };
    y.iter().map(|v| v.powi(2)).sum()
}

/// Newton's method for two equations, until it moves no more.
pub fn newton<T: Number>(x: &[T]) -> T {
    let (mut u, mut v) = (T::from(1.0), T::from(1.0));
    for _ in 0..50 {
        let (f, g) = (u * u + v * v - x[0] - 3.0, u * v - x[1] + v.sin() * x[2] * 0.1);
        let (fu, fv, gu, gv) = (u * 2.0, v * 2.0, v, u + v.cos() * x[2] * 0.1);
        let determinant = fu * gv - fv * gu;
        let (du, dv) = ((f * gv - g * fv) / determinant, (g * fu - f * gu) / determinant);
        u -= du;
        v -= dv;
        if du.abs() + dv.abs() < 1e-14 {
            break;
        }
    }
    u * 2.0 + v * v
}

/// A matrix in compressed rows.
struct Sparse<T> {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<T>,
}

impl<T: Number> Sparse<T> {
    fn times(&self, x: &[T]) -> Vec<T> {
        let row = |w: &[usize]| {
            let entries = self.columns[w[0]..w[1]].iter().zip(&self.values[w[0]..w[1]]);
            entries.map(|(c, v)| *v * x[*c as usize]).sum()
        };
        self.starts.windows(2).map(row).collect()
    }
}

/// Conjugate gradients on a sparse matrix, the graph of a ring with weights.
pub fn conjugate_gradients<T: Number>(x: &[T]) -> T {
    let n = 6;
    let mut a = Sparse { starts: vec![0], columns: Vec::new(), values: Vec::new() };
    for i in 0..n {
        let (before, after) = ((i + n - 1) % n, (i + 1) % n);
        for (c, v) in [(before, -x[before]), (i, x[before] + x[i] + 1.0), (after, -x[i])] {
            a.columns.push(c as u32);
            a.values.push(v);
        }
        a.starts.push(a.columns.len());
    }
    let dot = |a: &[T], b: &[T]| a.iter().zip(b).map(|(a, b)| *a * *b).sum::<T>();
    let b = &x[n..2 * n];
    let (mut y, mut r) = (vec![T::from(0.0); n], b.to_vec());
    let (mut p, mut rr) = (r.clone(), dot(&r, &r));
    for _ in 0..20 {
        if rr < 1e-20 {
            break;
        }
        let ap = a.times(&p);
        let step = rr / dot(&p, &ap);
        for i in 0..n {
            y[i] += step * p[i];
            r[i] -= step * ap[i];
        }
        let next = dot(&r, &r);
        let keep = next / std::mem::replace(&mut rr, next);
        p.iter_mut().zip(&r).for_each(|(p, r)| *p = *r + *p * keep);
    }
    dot(&y, &y) + y[0]
}

/// A natural cubic spline: its values between the knots.
pub fn spline<T: Number>(x: &[T]) -> T {
    let n = x.len();
    let (mut c, mut d) = (vec![T::from(0.0); n], vec![T::from(0.0); n]);
    for i in 1..n - 1 {
        let pivot = -c[i - 1] + 4.0;
        c[i] = pivot.recip();
        d[i] = ((x[i + 1] - x[i] * 2.0 + x[i - 1]) * 6.0 - d[i - 1]) / pivot;
    }
    let mut m = vec![T::from(0.0); n];
    for i in (1..n - 1).rev() {
        m[i] = d[i] - c[i] * m[i + 1];
    }
    let at = |t: f64| {
        let i = (t as usize).min(n - 2);
        let (u, v) = (t - i as f64, 1.0 - (t - i as f64));
        x[i] * v + x[i + 1] * u + (m[i] * (v * v * v - v) + m[i + 1] * (u * u * u - u)) / 6.0
    };
    (0..12).map(|k| at(0.4 * k as f64).powi(2)).sum()
}

/// A curve of Bézier, by de Casteljau's algorithm in place; its length.
pub fn bezier<T: Number>(x: &[T]) -> T {
    let at = |t: f64| -> [T; 2] {
        let mut points: Vec<[T; 2]> = x.chunks_exact(2).map(|c| [c[0], c[1]]).collect();
        while points.len() > 1 {
            for i in 0..points.len() - 1 {
                let [p, q] = [points[i], points[i + 1]];
                points[i] = std::array::from_fn(|k| p[k] * (1.0 - t) + q[k] * t);
            }
            points.pop();
        }
        points[0]
    };
    let along: Vec<[T; 2]> = (0..=10).map(|n| at(n as f64 / 10.0)).collect();
    along.windows(2).map(|w| ((w[1][0] - w[0][0]).powi(2) + (w[1][1] - w[0][1]).powi(2)).sqrt()).sum()
}

#[derive(Clone, Copy)]
struct Complex<T> {
    re: T,
    im: T,
}

/// Fourier's transform, recursive, on vectors of even and odd elements.
fn transform<T: Number>(x: &[Complex<T>]) -> Vec<Complex<T>> {
    if x.len() == 1 {
        return x.to_vec();
    }
    let [even, odd] = [0, 1].map(|first| transform(&x.iter().skip(first).step_by(2).copied().collect::<Vec<_>>()));
    let mut out = Vec::with_capacity(x.len());
    for sign in [1.0, -1.0] {
        for (k, (e, o)) in even.iter().zip(&odd).enumerate() {
            let (s, c) = (-2.0 * std::f64::consts::PI * k as f64 / x.len() as f64).sin_cos();
            let turned = Complex { re: o.re * c - o.im * s, im: o.re * s + o.im * c };
            out.push(Complex { re: e.re + turned.re * sign, im: e.im + turned.im * sign });
        }
    }
    out
}

/// The power of a few frequencies of a signal.
pub fn spectrum<T: Number>(x: &[T]) -> T {
    let signal: Vec<_> = x.iter().map(|v| Complex { re: *v, im: *v * *v * 0.5 }).collect();
    transform(&signal).iter().enumerate().map(|(k, z)| (z.re * z.re + z.im * z.im) / (1.0 + k as f64)).sum()
}

/// Simpson's rule that halves where it must, recursive over a closure.
fn simpson<T: Number>(f: &impl Fn(T) -> T, a: T, b: T, depth: u32) -> T {
    let middle = (a + b) * 0.5;
    let rule = |a: T, b: T| (f(a) + f((a + b) * 0.5) * 4.0 + f(b)) * (b - a) / 6.0;
    let (whole, halves) = (rule(a, b), rule(a, middle) + rule(middle, b));
    if depth == 0 || (whole - halves).abs() < 1e-6 {
        halves
    } else {
        simpson(f, a, middle, depth - 1) + simpson(f, middle, b, depth - 1)
    }
}

/// An integral whose integrand and end depend on the parameters.
pub fn quadrature<T: Number>(x: &[T]) -> T {
    simpson(&|t: T| (t * x[0] * 3.0).sin() * (-t * x[1]).exp(), T::from(0.0), x[2] * 2.0, 8)
}

/// The largest eigenvalue, by powers.
pub fn eigenvalue<T: Number>(x: &[T]) -> T {
    let n = 3;
    let mut v = vec![T::from(1.0); n];
    let mut size = T::from(1.0);
    for _ in 0..30 {
        let w: Vec<T> = (0..n).map(|i| (0..n).map(|j| (x[i * n + j] + x[j * n + i]) * v[j]).sum()).collect();
        size = w.iter().map(|v| *v * *v).sum::<T>().sqrt();
        v = w.into_iter().map(|v| v / size).collect();
    }
    size
}

fn normal<T: Number>(x: T) -> T {
    // Zelen and Severo's approximation.
    let t = (x.abs() * 0.2316419 + 1.0).recip();
    let poly = [1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.319381530]
        .iter()
        .fold(T::from(0.0), |p, c| (p + *c) * t);
    let tail = (-x * x * 0.5).exp() * 0.3989422804 * poly;
    if x > 0.0 { -tail + 1.0 } else { tail }
}

/// What Black and Scholes pay for a call.
pub fn option_price<T: Number>(x: &[T]) -> T {
    let (spot, strike, rate, spread, time) = (x[0] + 1.0, x[1] + 1.0, x[2] * 0.1, x[3], x[4]);
    let d1 = ((spot / strike).ln() + (rate + spread * spread * 0.5) * time) / (spread * time.sqrt());
    let d2 = d1 - spread * time.sqrt();
    spot * normal(d1) - strike * (-rate * time).exp() * normal(d2)
}

/// An American put on a tree of prices, which may be exercised early.
pub fn american<T: Number>(x: &[T]) -> T {
    let (spot, strike, spread, rate, steps) = (x[0] + 1.0, x[1] + 1.3, x[2] * 0.3, x[3] * 0.05, 12);
    let step = 1.0 / steps as f64;
    let up = (spread * step.sqrt()).exp();
    let chance = ((rate * step).exp() - up.recip()) / (up - up.recip());
    let discount = (-rate * step).exp();
    let paid = |n: usize, ups: usize| {
        let gain = strike - spot * up.powi(2 * ups as i32 - n as i32);
        if gain > 0.0 { gain } else { T::from(0.0) }
    };
    let mut values: Vec<T> = (0..=steps).map(|ups| paid(steps, ups)).collect();
    for n in (0..steps).rev() {
        for ups in 0..=n {
            let wait = discount * (chance * values[ups + 1] + (-chance + 1.0) * values[ups]);
            let now = paid(n, ups);
            values[ups] = if now > wait { now } else { wait };
        }
        values.truncate(n + 1);
    }
    values[0]
}

/// Random numbers that are the same each time, as an iterator.
struct Draws(u64);

impl Iterator for Draws {
    type Item = f64;
    fn next(&mut self) -> Option<f64> {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let uniform = (self.0 >> 11) as f64 / (1u64 << 53) as f64;
        Some((uniform - 0.5) * 3.4)
    }
}

/// An option on the mean of a path of prices, over random paths.
pub fn asian<T: Number>(x: &[T]) -> T {
    let (start, drift, spread) = (x[0] + 1.0, x[1] * 0.1, x[2] * 0.3);
    let mut draws = Draws(7);
    let mut pay = T::from(0.0);
    for _ in 0..20 {
        let mut price = start;
        let path = draws.by_ref().take(8).map(|z| {
            price *= (drift * 0.1 + spread * (z * 0.3)).exp();
            price
        });
        let mean = path.sum::<T>() / 8.0;
        pay += ((mean - 1.5) * 8.0).exp().ln_1p() / 8.0;
    }
    pay / 20.0
}

#[derive(Debug)]
enum CurveError {
    NoRate,
    Negative,
}

/// Discount factors from rates of swaps, one after the other; any may fail.
pub fn curve<T: Number>(x: &[T]) -> T {
    fn factor<T: Number>(rate: Option<&T>, annuity: T) -> Result<T, CurveError> {
        let rate = *rate.ok_or(CurveError::NoRate)? * 0.1;
        let factor = (-rate * annuity + 1.0) / (rate + 1.0);
        if factor > 0.0 { Ok(factor) } else { Err(CurveError::Negative) }
    }
    fn factors<T: Number>(x: &[T], years: usize) -> Result<Vec<T>, CurveError> {
        let mut found = Vec::new();
        for year in 0..years {
            let annuity = found.iter().copied().sum();
            found.push(factor(x.get(year), annuity)?);
        }
        Ok(found)
    }
    let good = factors(x, x.len()).map(|f| f.iter().enumerate().map(|(n, v)| *v * (1.0 + n as f64)).sum());
    match (good, factors(x, x.len() + 1)) {
        (Ok(sum), Err(CurveError::NoRate)) => sum,
        _ => T::from(f64::NAN),
    }
}
