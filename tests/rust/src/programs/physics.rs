//! Simulations: bodies, cloth, heat, waves, populations, filters, rays, arms. Each is generic over its numbers, and is the program that a user would write.

use std::collections::VecDeque;
use std::ops::{Add, Mul, Sub};

use super::Number;

#[derive(Clone, Copy)]
struct Vec3<T>(T, T, T);

impl<T: Number> Add for Vec3<T> {
    type Output = Self;
    fn add(self, b: Self) -> Self {
        Vec3(self.0 + b.0, self.1 + b.1, self.2 + b.2)
    }
}
impl<T: Number> Sub for Vec3<T> {
    type Output = Self;
    fn sub(self, b: Self) -> Self {
        Vec3(self.0 - b.0, self.1 - b.1, self.2 - b.2)
    }
}
impl<T: Number> Mul<T> for Vec3<T> {
    type Output = Self;
    fn mul(self, s: T) -> Self {
        Vec3(self.0 * s, self.1 * s, self.2 * s)
    }
}
impl<T: Number> Vec3<T> {
    fn dot(self, b: Self) -> T {
        self.0 * b.0 + self.1 * b.1 + self.2 * b.2
    }
    fn length(self) -> T {
        self.dot(self).sqrt()
    }
    fn of(x: &[T]) -> Self {
        Vec3(x[0], x[1], x[2])
    }
    fn constant(x: f64, y: f64, z: f64) -> Self {
        Vec3(T::from(x), T::from(y), T::from(z))
    }
}

struct Body<T> {
    position: Vec3<T>,
    velocity: Vec3<T>,
    mass: T,
}

/// Three bodies, by leapfrog: their energy after a while, and where one of them is.
pub fn bodies<T: Number>(x: &[T]) -> T {
    let mut bodies: Vec<Body<T>> = x
        .chunks_exact(7)
        .enumerate()
        .map(|(n, c)| Body {
            position: Vec3::of(c) + Vec3::constant(2.0 * n as f64, -1.5 * n as f64, n as f64),
            velocity: Vec3::of(&c[3..]),
            mass: c[6],
        })
        .collect();
    let accelerations = |bodies: &[Body<T>]| -> Vec<Vec3<T>> {
        let pull = |a: &Body<T>, b: &Body<T>| {
            let d = b.position - a.position;
            d * (b.mass / (d.dot(d) + 0.1).powf(1.5))
        };
        let on = |(i, a): (usize, &Body<T>)| {
            let others = bodies.iter().enumerate().filter(|(j, _)| *j != i);
            others.fold(Vec3::constant(0.0, 0.0, 0.0), |sum, (_, b)| sum + pull(a, b))
        };
        bodies.iter().enumerate().map(on).collect()
    };
    let h = T::from(0.05);
    for _ in 0..10 {
        let before = accelerations(&bodies);
        for (body, a) in bodies.iter_mut().zip(&before) {
            body.velocity = body.velocity + *a * (h * 0.5);
            body.position = body.position + body.velocity * h;
        }
        let after = accelerations(&bodies);
        for (body, a) in bodies.iter_mut().zip(after) {
            body.velocity = body.velocity + a * (h * 0.5);
        }
    }
    let kinetic: T = bodies.iter().map(|b| b.mass * b.velocity.dot(b.velocity) * 0.5).sum();
    kinetic + bodies[0].position.length()
}

/// A hanging cloth of 4 by 4 points, by Verlet's method on vectors of rows.
pub fn cloth<T: Number>(x: &[T]) -> T {
    let (stiffness, gravity, damping) = (x[0] * 20.0, x[1], x[2] * 0.1);
    let start = |i: usize, j: usize| Vec3(T::from(j as f64), T::from(-(i as f64)), x[3] * (i as f64 * 0.1));
    let mut now: Vec<Vec<Vec3<T>>> = (0..4).map(|i| (0..4).map(|j| start(i, j)).collect()).collect();
    let mut before = now.clone();
    let neighbours = |i: usize, j: usize| {
        let steps = [(0, 1), (1, 0), (0, -1), (-1, 0)];
        let moved = steps.iter().map(move |(di, dj): &(i32, i32)| (i as i32 + di, j as i32 + dj));
        moved
            .filter(|(i, j)| (0..4).contains(i) && (0..4).contains(j))
            .map(|(i, j)| (i as usize, j as usize))
            .collect::<Vec<_>>()
    };
    for _ in 0..8 {
        let mut next = now.clone();
        for i in 1..4 {
            for j in 0..4 {
                let mut force = Vec3(T::from(0.0), -gravity, T::from(0.0));
                for (ni, nj) in neighbours(i, j) {
                    let d = now[ni][nj] - now[i][j];
                    let length = d.length();
                    force = force + d * (stiffness * (length - 1.0) / length);
                }
                let speed = now[i][j] - before[i][j];
                next[i][j] = now[i][j] + speed * (-damping + 1.0) + force * T::from(0.01);
            }
        }
        before = std::mem::replace(&mut now, next);
    }
    now.iter().flatten().map(|p| p.dot(*p)).sum::<T>() * 0.1
}

/// Heat in a rod, by implicit steps with Thomas's algorithm: how far the end state is from a wanted one.
pub fn heat<T: Number>(x: &[T]) -> T {
    let (diffusivity, mut u) = (x[0], x[1..].to_vec());
    let n = u.len();
    for _ in 0..6 {
        let (mut upper, mut right) = (vec![T::from(0.0); n], u.clone());
        let (off, diagonal) = (-diffusivity * 0.3, diffusivity * 0.6 + 1.0);
        upper[0] = off / diagonal;
        right[0] /= diagonal;
        for i in 1..n {
            let pivot = diagonal - off * upper[i - 1];
            upper[i] = off / pivot;
            right[i] = (right[i] - off * right[i - 1]) / pivot;
        }
        for i in (0..n - 1).rev() {
            let below = right[i + 1];
            right[i] -= upper[i] * below;
        }
        u = right;
    }
    u.iter().enumerate().map(|(i, v)| (*v - (i as f64 * 0.7).sin()).powi(2)).sum()
}

/// A wave on a square grid, whose two states change places after each step.
pub fn wave<T: Number>(x: &[T]) -> T {
    const N: usize = 6;
    let speed = x[0] * 0.2;
    let mut now = vec![vec![T::from(0.0); N]; N];
    for (k, v) in x[1..].iter().enumerate() {
        now[1 + k / 4][1 + k % 4] = *v;
    }
    let mut last = now.clone();
    for _ in 0..7 {
        for i in 1..N - 1 {
            for j in 1..N - 1 {
                let around = now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1] - now[i][j] * 4.0;
                last[i][j] = now[i][j] * 2.0 - last[i][j] + speed * speed * around;
            }
        }
        std::mem::swap(&mut now, &mut last);
    }
    now.iter().map(|row| row.iter().map(|v| *v * *v).sum::<T>()).sum()
}

/// A method of Runge and Kutta whose right-hand side is any closure, behind a reference to `dyn Fn`.
fn runge_kutta<T: Number, const N: usize>(
    f: &dyn Fn(T, &[T; N]) -> [T; N],
    start: [T; N],
    end: f64,
    steps: usize,
) -> [T; N] {
    let h = T::from(end / steps as f64);
    let add = |a: &[T; N], b: &[T; N], s: T| -> [T; N] { std::array::from_fn(|i| a[i] + b[i] * s) };
    let mut y = start;
    for n in 0..steps {
        let t = h * n as f64;
        let k1 = f(t, &y);
        let k2 = f(t + h * 0.5, &add(&y, &k1, h * 0.5));
        let k3 = f(t + h * 0.5, &add(&y, &k2, h * 0.5));
        let k4 = f(t + h, &add(&y, &k3, h));
        y = std::array::from_fn(|i| y[i] + (k1[i] + k2[i] * 2.0 + k3[i] * 2.0 + k4[i]) * h / 6.0);
    }
    y
}

/// Lorenz's equations.
pub fn lorenz<T: Number>(x: &[T]) -> T {
    let (sigma, rho, beta) = (x[3] * 10.0, x[4] * 20.0, x[5] * 2.0);
    let f = |_: T, y: &[T; 3]| [sigma * (y[1] - y[0]), y[0] * (rho - y[2]) - y[1], y[0] * y[1] - beta * y[2]];
    let end = runge_kutta(&f, [x[0], x[1], x[2]], 0.4, 16);
    end[0] + end[1] * 0.5 + end[2] * 0.1
}

/// An epidemic: susceptible, infected, recovered; the loss is the distance to what was observed.
pub fn epidemic<T: Number>(x: &[T]) -> T {
    let (contact, recovery) = (x[0] * 2.0, x[1] * 0.5);
    let observed = [0.08, 0.15, 0.25, 0.31];
    let mut state = [-x[2] * 0.1 + 1.0, x[2] * 0.1, T::from(0.0)];
    let mut loss = T::from(0.0);
    for wanted in observed {
        let f = move |_: T, y: &[T; 3]| {
            let (infections, recoveries) = (contact * y[0] * y[1], recovery * y[1]);
            [-infections, infections - recoveries, recoveries]
        };
        state = runge_kutta(&f, state, 1.0, 4);
        loss += (state[1] - wanted).powi(2);
    }
    loss * 10.0
}

/// Steps of a size that the error chooses (Heun and Euler), with an error if there are too many of them.
fn adaptive<T: Number>(f: impl Fn(T, T) -> T, mut y: T, end: f64, tolerance: f64) -> Result<T, String> {
    let (mut t, mut h) = (T::from(0.0), T::from(0.1));
    for _ in 0..1000 {
        if t >= end {
            return Ok(y);
        }
        if t + h > end {
            h = -t + end;
        }
        let k1 = f(t, y);
        let k2 = f(t + h, y + k1 * h);
        let error = ((k2 - k1) * h * 0.5).abs();
        if error <= tolerance {
            t += h;
            y += (k1 + k2) * h * 0.5;
            h *= 1.5;
        } else {
            h *= 0.5;
        }
    }
    Err(format!("too many steps at {t}"))
}

/// Growth under a changing load, solved by steps of changing size; `?` hands on the error.
pub fn growth<T: Number>(x: &[T]) -> T {
    let both = || -> Result<T, String> {
        let first = adaptive(|t, y| y * x[0] - y * y * x[1] + (t * 3.0).sin() * x[2], x[3], 2.0, 1e-2)?;
        let second = adaptive(|t, y| -y * x[1] + t.cos(), first, 1.0, 1e-2)?;
        Ok(first + second * second)
    };
    both().unwrap_or_else(|_| T::from(f64::NAN))
}

/// A matrix of a size known to the compiler.
#[derive(Clone, Copy)]
struct Matrix<T, const R: usize, const C: usize>([[T; C]; R]);

impl<T: Number, const R: usize, const C: usize> Matrix<T, R, C> {
    fn times<const K: usize>(&self, b: &Matrix<T, C, K>) -> Matrix<T, R, K> {
        Matrix(std::array::from_fn(|i| std::array::from_fn(|j| (0..C).map(|k| self.0[i][k] * b.0[k][j]).sum())))
    }
    fn transposed(&self) -> Matrix<T, C, R> {
        Matrix(std::array::from_fn(|i| std::array::from_fn(|j| self.0[j][i])))
    }
    fn plus(&self, b: &Self, s: f64) -> Self {
        Matrix(std::array::from_fn(|i| std::array::from_fn(|j| self.0[i][j] + b.0[i][j] * s)))
    }
}

/// A filter of Kalman for place and speed: the likelihood of what is measured.
pub fn kalman<T: Number>(x: &[T]) -> T {
    let (zero, one) = (T::from(0.0), T::from(1.0));
    let (process, noise) = (x[0] * 0.1, x[1]);
    let step = Matrix([[one, T::from(0.3)], [zero, one]]);
    let observe = Matrix([[one, zero]]);
    let drift = Matrix([[process * 0.1, zero], [zero, process]]);
    let mut state = Matrix([[x[2]], [x[3]]]);
    let mut cover = Matrix([[one, zero], [zero, one]]);
    let mut loss = zero;
    for z in &x[4..] {
        state = step.times(&state);
        cover = step.times(&cover).times(&step.transposed()).plus(&drift, 1.0);
        let spread = observe.times(&cover).times(&observe.transposed()).0[0][0] + noise;
        let surprise = *z - observe.times(&state).0[0][0];
        let gain = Matrix(cover.times(&observe.transposed()).0.map(|row| row.map(|v| v / spread)));
        state = state.plus(&gain.times(&Matrix([[surprise]])), 1.0);
        cover = cover.plus(&gain.times(&observe).times(&cover), -1.0);
        loss += (spread.ln() + surprise * surprise / spread) * 0.5;
    }
    loss
}

/// A thing in a scene, by its distance.
trait Shape<T> {
    fn distance(&self, p: Vec3<T>) -> T;
}
struct Sphere<T>(Vec3<T>, T);
struct Floor<T>(T);
struct Blend<T>(Box<dyn Shape<T>>, Box<dyn Shape<T>>, f64);

impl<T: Number> Shape<T> for Sphere<T> {
    fn distance(&self, p: Vec3<T>) -> T {
        (p - self.0).length() - self.1
    }
}
impl<T: Number> Shape<T> for Floor<T> {
    fn distance(&self, p: Vec3<T>) -> T {
        p.1 + self.0
    }
}
impl<T: Number> Shape<T> for Blend<T> {
    fn distance(&self, p: Vec3<T>) -> T {
        let (a, b) = (self.0.distance(p), self.1.distance(p));
        -((a * -self.2).exp() + (b * -self.2).exp()).ln() / self.2
    }
}

/// A ray marcher whose scene is made of boxed shapes: brightness along a few rays.
pub fn marcher<T: Number>(x: &[T]) -> T {
    let ball = |n: usize| Box::new(Sphere(Vec3(x[n], x[n + 1], T::from(4.0)), x[n + 2] + 0.5));
    let scene: Vec<Box<dyn Shape<T>>> = vec![Box::new(Blend(ball(0), ball(3), 4.0)), Box::new(Floor(x[6] + 1.0))];
    let distance = |p: Vec3<T>| {
        let mut all = scene.iter().map(|shape| shape.distance(p));
        let first = all.next().unwrap_or_else(|| T::from(1e9));
        all.fold(first, |a, b| if b < a { b } else { a })
    };
    let mut light = T::from(0.0);
    for n in 0..4 {
        let direction = Vec3::constant(0.1 * n as f64, -0.15 * n as f64, 1.0);
        let mut t = T::from(0.0);
        for _ in 0..40 {
            let d = distance(direction * t);
            if d < 1e-4 || t > 20.0 {
                break;
            }
            t += d * 0.8;
        }
        light += (-t * 0.2).exp();
    }
    light
}

/// Spheres hit by rays: nearest hit as an `Option`, shaded by the angle of the light.
pub fn spheres<T: Number>(x: &[T]) -> T {
    let scene: Vec<(Vec3<T>, T)> =
        x.chunks_exact(4).map(|c| (Vec3::of(c) + Vec3::constant(0.0, 0.0, 4.0), c[3] + 0.6)).collect();
    let hit = |direction: Vec3<T>, (centre, radius): &(Vec3<T>, T)| -> Option<(T, Vec3<T>)> {
        let along = direction.dot(*centre);
        let inside = along * along - centre.dot(*centre) + *radius * *radius;
        if inside < 0.0 {
            return None;
        }
        let t = along - inside.sqrt();
        Some((t, (direction * t - *centre) * radius.recip()))
    };
    let mut total = T::from(0.0);
    for n in 0..9 {
        let d: Vec3<T> = Vec3::constant((n % 3) as f64 * 0.1, (n / 3) as f64 * 0.1, 1.0);
        let d = d * d.length().recip();
        let hits = scene.iter().filter_map(|sphere| hit(d, sphere));
        let nearest = hits.min_by(|a, b| a.0.partial_cmp(&b.0).unwrap_or(std::cmp::Ordering::Equal));
        total += match nearest {
            Some((t, normal)) => -normal.dot(Vec3::constant(0.3, 0.2, 1.0)) + t * 0.1,
            None => T::from(0.0),
        };
    }
    total
}

/// The hand of an arm with three joints, by a chain of matrices.
pub fn arm<T: Number>(x: &[T]) -> T {
    let (zero, one) = (T::from(0.0), T::from(1.0));
    let joint = |angle: T, length: T, twist: f64| {
        let ((s, c), (st, ct)) = (angle.sin_cos(), twist.sin_cos());
        Matrix([
            [c, -s * ct, s * st, length * c],
            [s, c * ct, -c * st, length * s],
            [zero, T::from(st), T::from(ct), zero],
            [zero, zero, zero, one],
        ])
    };
    let links = x.chunks_exact(2).enumerate().map(|(n, c)| joint(c[0], c[1], 0.5 * n as f64));
    let hand = links.reduce(|a, b| a.times(&b)).map(|m| m.times(&Matrix([[zero], [zero], [zero], [one]])).0);
    hand.map_or(zero, |p| (p[0][0] - 1.0).powi(2) + (p[1][0] - 0.5).powi(2) + p[2][0] * 0.3)
}

/// A line with a delay: what went in comes out of a queue some steps later.
pub fn delay<T: Number>(x: &[T]) -> T {
    let mut line: VecDeque<T> = VecDeque::from(vec![x[0]; 3]);
    let mut level = x[1];
    for n in 0..12 {
        let late = line.pop_front().unwrap_or(level);
        level = level + (x[2] * late / (late.powi(4) + 1.0) - x[3] * level) * 0.4;
        line.push_back(level * (1.0 + 0.05 * n as f64));
    }
    level + line.iter().copied().sum::<T>()
}
