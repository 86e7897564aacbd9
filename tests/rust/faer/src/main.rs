//! Programs that use faer, whose numbers are floats: the gradient of each is compared with central differences, with what dual numbers give for the same
//! formulas written as loops, and with the derivative of forward mode along a direction.

#[allow(dead_code)]
#[path = "../../src/check.rs"]
mod check;
mod loops;

use check::numbers;
use enzyme::{grad, jvp};
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::solvers::{DenseSolveCore, Solve};
use faer::{Accum, Col, Mat, MatRef, Par, Row, Scale, unzip, zip};
use num_dual::Dual64;

/// A matrix of numbers of `x`, no two rows or columns alike.
fn filled(x: &[f64], rows: usize, columns: usize, first: usize) -> Mat<f64> {
    Mat::from_fn(rows, columns, |i, j| loops::element(x, i, j, first))
}

/// A sum of all elements with different weights.
fn weighed(m: MatRef<f64>) -> f64 {
    let mut sum = 0.0;
    for j in 0..m.ncols() {
        for i in 0..m.nrows() {
            sum += m[(i, j)] * loops::weight(i, j);
        }
    }
    sum / (m.nrows() * m.ncols()) as f64
}

/// Matrices and vectors, in rows and in columns.
fn vectors(x: &[f64]) -> f64 {
    let a = filled(x, 9, 7, 0);
    let right = Col::from_fn(7, |i| x[i]);
    let left = Row::from_fn(9, |i| x[i + 2]);
    let y = &a * &right;
    let z = &left * &a;
    let back = a.transpose() * &y;
    let outer = &y * &z;
    y[3] * z[2] + back[1] + &left * &y + weighed(outer.as_ref())
}

/// Products of matrices in rows and in columns, of parts, backwards, scaled by active numbers, added to active matrices, small and large.
fn products(x: &[f64]) -> f64 {
    let (a, b) = (filled(x, 12, 9, 0), filled(x, 9, 11, 2));
    let mut c = &a * &b;
    let mut sum = weighed(c.as_ref());
    matmul(&mut c, Accum::Add, a.as_ref().subcols(0, 5), b.as_ref().subrows(2, 5), x[3], Par::Seq);
    let mut d = Mat::<f64>::zeros(11, 9);
    matmul(d.as_mut().transpose_mut().reverse_rows_mut(), Accum::Replace, a.transpose(), &c, 0.5 * x[1], Par::Seq);
    let large = filled(x, 33, 40, 1) * filled(x, 40, 21, 3);
    sum += weighed(c.as_ref()) + weighed(d.as_ref()) + weighed(large.as_ref());
    sum + weighed((&a * &b * &d * Scale(x[2])).as_ref()) + (a.transpose() * &a).norm_l2()
}

/// Products of which half is wanted, with and without the diagonal: added and not, turned round, scaled by active numbers, small and in blocks.
fn halves(x: &[f64]) -> f64 {
    use BlockStructure::{Rectangular, StrictTriangularLower, StrictTriangularUpper, TriangularLower, TriangularUpper};
    let mut sum = 0.0;
    for n in [1, 5, 16, 40] {
        let (a, b, mut c) = (filled(x, n, 7, 0), filled(x, 7, n, 2), filled(x, n, n, 1));
        triangular::matmul(&mut c, TriangularLower, Accum::Add, &a, Rectangular, &b, Rectangular, x[3], Par::Seq);
        sum += weighed(c.as_ref());
        let (left, right) = (b.transpose(), a.transpose());
        triangular::matmul(
            &mut c,
            TriangularUpper,
            Accum::Replace,
            left,
            Rectangular,
            right,
            Rectangular,
            -0.5,
            Par::Seq,
        );
        sum += weighed(c.as_ref());
        triangular::matmul(&mut c, StrictTriangularLower, Accum::Add, &a, Rectangular, &b, Rectangular, x[1], Par::Seq);
        sum += weighed(c.as_ref()) * x[2];
        let turned = c.as_mut().reverse_rows_and_cols_mut();
        triangular::matmul(
            turned,
            StrictTriangularUpper,
            Accum::Replace,
            &a,
            Rectangular,
            &b,
            Rectangular,
            x[0],
            Par::Seq,
        );
        sum += weighed(c.as_ref()).sin();
    }
    sum
}

/// Element by element, views, sums and norms.
fn entries(x: &[f64]) -> f64 {
    let a = filled(x, 5, 6, 0);
    let mut b = a.transpose().to_owned();
    for j in 0..b.ncols() {
        for i in 0..b.nrows() {
            b[(i, j)] *= x[j];
        }
    }
    let mut c = &b - &(a.transpose() * Scale(2.0));
    let mut e = Mat::<f64>::zeros(6, 5);
    zip!(&mut e, &c, &b).for_each(|unzip!(e, c, b)| *e = *c * b.exp());
    let norms = a.norm_l2() + c.squared_norm_l2() + e.row(1).norm_l2() + e.as_ref().submatrix(1, 1, 4, 3).norm_l2();
    c += &e;
    c *= Scale(x[1]);
    norms + b.norm_l1() * c.norm_max() + e.sum() + (-&c).sum() + e.col(2).sum() + weighed(c.as_ref())
}

/// Linear systems by factors of rows that change places, an inverse and a determinant.
fn systems(x: &[f64]) -> f64 {
    let a = filled(x, 6, 6, 0) * Scale(0.5) + Mat::<f64>::identity(6, 6);
    let b = filled(x, 6, 2, 4);
    let factors = a.partial_piv_lu();
    let y = factors.solve(&b);
    weighed(y.as_ref()) + weighed(factors.inverse().as_ref()) + a.determinant()
}

/// A system that is factored in blocks.
fn large_system(x: &[f64]) -> f64 {
    let a = filled(x, 40, 40, 0) * Scale(0.1) + Mat::<f64>::identity(40, 40) * Scale(2.0);
    weighed(a.partial_piv_lu().solve(filled(x, 40, 3, 1)).as_ref())
}

/// Systems with a definite matrix by its factor, a small one and one that is factored in blocks, and the factor itself.
#[cfg(feature = "factors")]
fn definite(x: &[f64]) -> f64 {
    let (a, b) = (filled(x, 6, 6, 0), filled(x, 70, 5, 2));
    let small = (&a * a.transpose() + Mat::<f64>::identity(6, 6)).llt(faer::Side::Lower).unwrap();
    let large = (&b * b.transpose() + Mat::<f64>::identity(70, 70) * Scale(2.0)).llt(faer::Side::Upper).unwrap();
    let (y, z) = (small.solve(filled(x, 6, 2, 4)), large.solve(filled(x, 70, 1, 1)));
    weighed(y.as_ref()) + weighed(z.as_ref()) + weighed(small.L()) + small.inverse().norm_l2()
}

/// A system with a symmetric matrix by two factors, and the diagonal one.
#[cfg(feature = "factors")]
fn symmetric(x: &[f64]) -> f64 {
    let a = filled(x, 6, 6, 0);
    let s = &a + a.transpose() + Mat::<f64>::identity(6, 6) * Scale(6.0);
    let factors = s.ldlt(faer::Side::Lower).unwrap();
    weighed(factors.solve(filled(x, 6, 2, 4)).as_ref()) + weighed(factors.D().column_vector().as_mat())
}

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
    ($($name:ident),+) => {
        $({
            let name = stringify!($name);
            let (x, along) = (numbers(13), numbers(26).split_off(13));
            let found = grad!($name, &x[..]);
            check::gradient(name, &found, &x, $name);
            check::exactly(&format!("{name}::dual_numbers"), &found, &dual_gradient(&x, |x| loops::$name(x)));
            let slope: f64 = jvp!($name, &x[..], &along[..]);
            let wanted: f64 = found.iter().zip(&along).map(|(a, b)| a * b).sum();
            check::exactly(&format!("{name}::forward"), &[slope], &[wanted]);
        })+
    };
}

fn main() {
    programs!(vectors, products, halves, entries, systems, large_system);
    #[cfg(feature = "factors")]
    programs!(definite, symmetric);
}
