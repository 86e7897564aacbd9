//! What the programs compute, by loops over numbers of any kind.

use num_dual::DualNum;

/// A float or a dual number.
pub trait Number: DualNum<Primitive = f64> + Copy {}
impl<T: DualNum<Primitive = f64> + Copy> Number for T {}

/// The element of a matrix that is made of `x`.
pub fn element<T: Number>(x: &[T], i: usize, j: usize, first: usize) -> T {
    x[(first + 5 * i + 3 * j) % x.len()] * ((i * 7 + j) as f64).cos()
}

/// What an element counts.
pub fn weight(i: usize, j: usize) -> f64 {
    1.0 + 0.1 * ((3 * i + 5 * j) % 7) as f64
}

/// A matrix, row by row.
#[derive(Clone)]
pub struct Matrix<T> {
    rows: usize,
    columns: usize,
    held: Vec<T>,
}

impl<T: Number> Matrix<T> {
    fn new(rows: usize, columns: usize, element: impl Fn(usize, usize) -> T) -> Self {
        Self { rows, columns, held: (0..rows * columns).map(|n| element(n / columns, n % columns)).collect() }
    }

    fn filled(x: &[T], rows: usize, columns: usize, first: usize) -> Self {
        Self::new(rows, columns, |i, j| element(x, i, j, first))
    }

    fn identity(size: usize) -> Self {
        Self::new(size, size, |i, j| T::from(if i == j { 1.0 } else { 0.0 }))
    }

    fn at(&self, i: usize, j: usize) -> T {
        self.held[i * self.columns + j]
    }

    fn map(&self, f: impl Fn(T) -> T) -> Self {
        Self::new(self.rows, self.columns, |i, j| f(self.at(i, j)))
    }

    fn plus(&self, other: &Self) -> Self {
        Self::new(self.rows, self.columns, |i, j| self.at(i, j) + other.at(i, j))
    }

    fn times(&self, other: &Self) -> Self {
        Self::new(self.rows, other.columns, |i, j| (0..self.columns).map(|k| self.at(i, k) * other.at(k, j)).sum())
    }

    fn turned(&self) -> Self {
        Self::new(self.columns, self.rows, |i, j| self.at(j, i))
    }

    fn part(&self, row: usize, column: usize, rows: usize, columns: usize) -> Self {
        Self::new(rows, columns, |i, j| self.at(row + i, column + j))
    }

    fn sum(&self) -> T {
        self.held.iter().copied().sum()
    }

    fn squares(&self) -> T {
        self.held.iter().map(|v| *v * *v).sum()
    }

    fn weighed(&self) -> T {
        Self::new(self.rows, self.columns, |i, j| self.at(i, j) * weight(i, j)).sum()
            / (self.rows * self.columns) as f64
    }

    /// The solution of a system, and the determinant: rows are added to others, the one with the largest number in a column first.
    fn solve(&self, right: &Self) -> (Self, T) {
        let (mut a, mut b, mut determinant) = (self.clone(), right.clone(), T::from(1.0));
        let (n, m) = (self.rows, right.columns);
        for k in 0..n {
            let pivot = (k..n).max_by(|p, q| a.at(*p, k).re().abs().total_cmp(&a.at(*q, k).re().abs())).unwrap_or(k);
            if pivot != k {
                (0..n).for_each(|j| a.held.swap(k * n + j, pivot * n + j));
                (0..m).for_each(|j| b.held.swap(k * m + j, pivot * m + j));
                determinant = -determinant;
            }
            determinant *= a.at(k, k);
            for i in (0..n).filter(|i| *i != k) {
                let factor = a.at(i, k) / a.at(k, k);
                (0..n).for_each(|j| a.held[i * n + j] = a.at(i, j) - factor * a.at(k, j));
                (0..m).for_each(|j| b.held[i * m + j] = b.at(i, j) - factor * b.at(k, j));
            }
        }
        (Self::new(n, m, |i, j| b.at(i, j) / a.at(i, i)), determinant)
    }

    /// The factors of a symmetric matrix, L with ones on its diagonal and D.
    #[cfg(feature = "factors")]
    fn factors(&self) -> (Self, Vec<T>) {
        let n = self.rows;
        let (mut l, mut d) = (Self::identity(n), Vec::<T>::new());
        for j in 0..n {
            let sum = |l: &Self, i| (0..j).map(|k| l.at(i, k) * l.at(j, k) * d[k]).sum::<T>();
            let pivot = self.at(j, j) - sum(&l, j);
            for i in j + 1..n {
                l.held[i * n + j] = (self.at(i, j) - sum(&l, i)) / pivot;
            }
            d.push(pivot);
        }
        (l, d)
    }
}

pub fn vectors<T: Number>(x: &[T]) -> T {
    let a = Matrix::filled(x, 9, 7, 0);
    let (right, left) = (Matrix::new(7, 1, |i, _| x[i]), Matrix::new(1, 9, |_, i| x[i + 2]));
    let (y, z) = (a.times(&right), left.times(&a));
    let back = a.turned().times(&y);
    y.at(3, 0) * z.at(0, 2) + back.at(1, 0) + left.times(&y).at(0, 0) + y.times(&z).weighed()
}

pub fn products<T: Number>(x: &[T]) -> T {
    let (a, b) = (Matrix::filled(x, 12, 9, 0), Matrix::filled(x, 9, 11, 2));
    let product = a.times(&b);
    let c = product.plus(&a.part(0, 0, 12, 5).times(&b.part(2, 0, 5, 11)).map(|v| v * x[3]));
    let upside_down = a.turned().times(&c).map(|v| v * x[1] * 0.5);
    let d = Matrix::new(11, 9, |i, j| upside_down.at(8 - j, i));
    let large = Matrix::filled(x, 33, 40, 1).times(&Matrix::filled(x, 40, 21, 3));
    let sum = product.weighed() + c.weighed() + d.weighed() + large.weighed();
    sum + product.times(&d).map(|v| v * x[2]).weighed() + a.turned().times(&a).squares().sqrt()
}

pub fn halves<T: Number>(x: &[T]) -> T {
    let mut sum = T::zero();
    for n in [1, 5, 16, 40] {
        let (a, b) = (Matrix::filled(x, n, 7, 0), Matrix::filled(x, 7, n, 2));
        let (ab, last) = (a.times(&b), n - 1);
        let c = Matrix::filled(x, n, n, 1);
        let c = Matrix::new(n, n, |i, j| if i >= j { c.at(i, j) + ab.at(i, j) * x[3] } else { c.at(i, j) });
        sum += c.weighed();
        let c = Matrix::new(n, n, |i, j| if i <= j { ab.at(j, i) * -0.5 } else { c.at(i, j) });
        sum += c.weighed();
        let c = Matrix::new(n, n, |i, j| if i > j { c.at(i, j) + ab.at(i, j) * x[1] } else { c.at(i, j) });
        sum += c.weighed() * x[2];
        let c = Matrix::new(n, n, |i, j| if i > j { ab.at(last - i, last - j) * x[0] } else { c.at(i, j) });
        sum += c.weighed().sin();
    }
    sum
}

pub fn entries<T: Number>(x: &[T]) -> T {
    let a = Matrix::filled(x, 5, 6, 0);
    let b = Matrix::new(6, 5, |i, j| a.at(j, i) * x[j]);
    let c = Matrix::new(6, 5, |i, j| b.at(i, j) - a.at(j, i) * 2.0);
    let e = Matrix::new(6, 5, |i, j| c.at(i, j) * b.at(i, j).exp());
    let norms =
        a.squares().sqrt() + c.squares() + e.part(1, 0, 1, 5).squares().sqrt() + e.part(1, 1, 4, 3).squares().sqrt();
    let scaled = c.plus(&e).map(|v| v * x[1]);
    let largest = scaled.held.iter().map(|v| v.abs()).max_by(|p, q| p.re().total_cmp(&q.re())).unwrap_or(T::zero());
    norms + b.map(|v| v.abs()).sum() * largest + e.sum() - scaled.sum() + e.part(0, 2, 6, 1).sum() + scaled.weighed()
}

pub fn systems<T: Number>(x: &[T]) -> T {
    let a = Matrix::filled(x, 6, 6, 0).map(|v| v * 0.5).plus(&Matrix::identity(6));
    let (y, determinant) = a.solve(&Matrix::filled(x, 6, 2, 4));
    y.weighed() + a.solve(&Matrix::identity(6)).0.weighed() + determinant
}

pub fn large_system<T: Number>(x: &[T]) -> T {
    let a = Matrix::filled(x, 40, 40, 0).map(|v| v * 0.1).plus(&Matrix::identity(40).map(|v| v * 2.0));
    a.solve(&Matrix::filled(x, 40, 3, 1)).0.weighed()
}

#[cfg(feature = "factors")]
pub fn definite<T: Number>(x: &[T]) -> T {
    let (a, b) = (Matrix::filled(x, 6, 6, 0), Matrix::filled(x, 70, 5, 2));
    let small = a.times(&a.turned()).plus(&Matrix::identity(6));
    let large = b.times(&b.turned()).plus(&Matrix::identity(70).map(|v| v * 2.0));
    let (y, z) = (small.solve(&Matrix::filled(x, 6, 2, 4)).0, large.solve(&Matrix::filled(x, 70, 1, 1)).0);
    let (l, d) = small.factors();
    let l = Matrix::new(6, 6, |i, j| l.at(i, j) * d[j].sqrt());
    y.weighed() + z.weighed() + l.weighed() + small.solve(&Matrix::identity(6)).0.squares().sqrt()
}

#[cfg(feature = "factors")]
pub fn symmetric<T: Number>(x: &[T]) -> T {
    let a = Matrix::filled(x, 6, 6, 0);
    let s = a.plus(&a.turned()).plus(&Matrix::identity(6).map(|v| v * 6.0));
    let d = s.factors().1;
    s.solve(&Matrix::filled(x, 6, 2, 4)).0.weighed() + Matrix::new(6, 1, |i, _| d[i]).weighed()
}
