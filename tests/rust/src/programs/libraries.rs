//! Users of libraries: ndarray with any number, nalgebra with any number. Those of faer, whose numbers are floats, are in `tests/rust/faer`.

use nalgebra::{DMatrix, Isometry3, Matrix3, RealField, Rotation3, SMatrix, Translation3, UnitQuaternion, Vector3};
use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayView2, Axis, ShapeBuilder, s};

use super::Number;

/// A network on arrays of any number.
pub fn array_network<T: Number>(w: &[T]) -> T {
    let (first, rest) = w.split_at(12);
    let first = Array2::from_shape_vec((3, 4), first.to_vec()).expect("twelve weights");
    let (second, bias) = rest.split_at(8);
    let second = Array2::from_shape_vec((4, 2), second.to_vec()).expect("eight weights");
    let bias = Array1::from_vec(bias.to_vec());
    let batch = Array2::from_shape_fn((5, 3), |(i, j)| T::from(((i * 3 + j) as f64).sin()));
    let hidden = batch.dot(&first).mapv_into(|v| v.tanh());
    let out = hidden.dot(&second) + &bias;
    let wanted = Array2::from_shape_fn((5, 2), |(i, j)| T::from(((i + 2 * j) as f64).cos()));
    let error = &out - &wanted;
    error.iter().map(|e| *e * *e).sum::<T>() / 10.0
}

/// Columns brought to mean zero and deviation one, and their covariance.
pub fn array_statistics<T: Number>(x: &[T]) -> T {
    let mut a = Array2::from_shape_vec((x.len() / 3, 3), x.to_vec()).expect("rows of three");
    let rows = a.nrows() as f64;
    for mut column in a.columns_mut() {
        let mean = column.iter().copied().sum::<T>() / rows;
        column.mapv_inplace(|v| v - mean);
        let size = (column.iter().map(|v| *v * *v).sum::<T>() / rows).sqrt();
        column.mapv_inplace(|v| v / size);
    }
    let covariance = a.t().dot(&a);
    covariance[[0, 1]] + covariance[[1, 2]] * covariance[[0, 2]]
}

/// Products of matrices in rows and in columns, with steps, backwards, broadcast, scaled by active numbers, added to active matrices, overwritten afterwards.
pub fn array_products<T: Number>(x: &[T]) -> T {
    let filled = |rows: usize, columns: usize, first: usize| {
        Array2::from_shape_fn((rows, columns), |(i, j)| {
            x[(first + 5 * i + 3 * j) % x.len()] * ((i * 7 + j) as f64).cos()
        })
    };
    let weighed = |m: ArrayView2<T>| {
        let terms = m.indexed_iter().map(|((i, j), v)| *v * (1.0 + 0.1 * ((3 * i + 5 * j) % 7) as f64));
        terms.sum::<T>() / (m.len() + 1) as f64
    };
    let (a, b) = (filled(12, 9, 0), filled(9, 11, 2));
    let mut c = a.dot(&b);
    let mut sum = weighed(c.view())
        + weighed(a.t().dot(&a).view())
        + weighed(a.slice(s![..;3, ..;-2]).dot(&b.slice(s![..5, 1..;2])).view());
    let mut columns = Array2::from_elem((9, 11).f(), x[5]);
    general_mat_mul(x[3], &a.t(), &c, x[4], &mut columns);
    let mut square = filled(9, 9, 1);
    general_mat_mul(x[1] * x[2], &columns.slice(s![..;-1, ..]), &b.t(), T::from(0.5), &mut square);
    let (narrow, wide) = (b.slice(s![.., ..4]), columns.t());
    general_mat_mul(
        T::from(2.0),
        &narrow,
        &wide.slice(s![..4, ..]),
        x[0],
        &mut c.slice_mut(s![1..10, ..9]).reversed_axes(),
    );
    let same_rows = b.row(3).to_owned();
    if let Some(wide) = same_rows.broadcast((9, 11)) {
        sum += weighed(a.dot(&wide).view());
    }
    let mut power = filled(10, 10, 4);
    for _ in 0..3 {
        power = power.dot(&power.t()).mapv_into(|v| v * 0.05);
    }
    let none = a.slice(s![.., ..0]).dot(&b.slice(s![..0, ..]));
    sum + weighed(c.view())
        + weighed(square.view())
        + weighed(columns.view())
        + weighed(power.view())
        + weighed(none.view())
}

/// A stencil by slices of arrays, and a sum along an axis.
pub fn array_stencil<T: Number>(x: &[T]) -> T {
    let mut grid = Array2::from_elem((5, 5), T::from(0.0));
    grid.slice_mut(s![1..4, 1..4]).assign(&Array2::from_shape_vec((3, 3), x[..9].to_vec()).expect("nine numbers"));
    for _ in 0..3 {
        let inner = &grid.slice(s![..-2, 1..-1])
            + &grid.slice(s![2.., 1..-1])
            + grid.slice(s![1..-1, ..-2])
            + grid.slice(s![1..-1, 2..]);
        let mixed = inner.mapv(|v| v * 0.25) + grid.slice(s![1..-1, 1..-1]).mapv(|v| v * x[9]);
        grid.slice_mut(s![1..-1, 1..-1]).assign(&mixed);
    }
    grid.sum_axis(Axis(0)).iter().map(|v| *v * *v).sum()
}

/// A camera that looks at points: rotations and moves of nalgebra.
pub fn rotations<T: Number + RealField>(x: &[T]) -> T {
    let turn = UnitQuaternion::from_euler_angles(x[0], x[1], x[2]);
    let camera = Isometry3::from_parts(Translation3::new(x[3], x[4], x[5] + 3.0), turn);
    let roll = Rotation3::from_axis_angle(&Vector3::z_axis(), x[6]);
    let points = [[0.1, 0.5, 1.0], [-0.4, 0.2, 0.7], [0.9, -0.8, 0.3]];
    let mut loss = T::from(0.0);
    for [a, b, c] in points {
        let seen = roll * camera.transform_point(&Vector3::new(T::from(a), T::from(b), T::from(c)).into());
        loss += (seen.x / seen.z - a).powi(2) + (seen.y / seen.z - b).powi(2);
    }
    loss
}

/// Linear systems of nalgebra: an inverse, and Cholesky's factors.
pub fn systems<T: Number + RealField>(x: &[T]) -> T {
    let a = Matrix3::from_row_slice(&x[..9]) + Matrix3::from_diagonal_element(T::from(2.0));
    let b = Vector3::new(x[9], x[10], x[11]);
    let Some(inverse) = a.try_inverse() else { return T::from(f64::NAN) };
    let y = inverse * b;
    let square: SMatrix<T, 3, 3> = a.transpose() * a;
    let Some(factors) = square.cholesky() else { return T::from(f64::NAN) };
    let z = factors.solve(&b);
    y.dot(&z) + factors.l().trace()
}

/// Matrices of nalgebra whose size is known at run time: least squares by the normal equations, by LU.
pub fn least_squares<T: Number + RealField>(x: &[T]) -> T {
    let a = DMatrix::from_row_slice(4, 2, &x[..8]);
    let b = DMatrix::from_row_slice(4, 1, &x[8..12]);
    let normal = a.transpose() * &a + DMatrix::identity(2, 2);
    let right = a.transpose() * &b;
    let Some(y) = normal.lu().solve(&right) else { return T::from(f64::NAN) };
    (a * y - b).norm_squared()
}
