//! The attributes: activities, widths, methods, generics, structures, `f32`; panics and what they leave behind.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use enzyme::{Differentiable, autodiff_forward, autodiff_reverse};

use crate::check;

#[autodiff_reverse(product_reverse, Active, Active, Active)]
#[autodiff_reverse(product_only, Active, Const, ActiveOnly)]
#[autodiff_forward(product_forward, Dual, Const, Dual)]
#[autodiff_forward(product_four, 3, Dual, Dual, DualOnly)]
fn product(x: f64, y: f64) -> f64 {
    x * y * y.sin()
}

fn scalars() {
    let (x, y) = (1.5_f64, 0.7_f64);
    let (dx, dy) = (y * y.sin(), x * y.sin() + x * y * y.cos());
    let (value, rx, ry) = product_reverse(x, y, 2.0);
    check::same("scalars::reverse", &[value, rx, ry], &[product(x, y), 2.0 * dx, 2.0 * dy]);
    check::same("scalars::only", &[product_only(x, y, 1.0)], &[dx]);
    let (value, t) = product_forward(x, 3.0, y);
    check::same("scalars::forward", &[value, t], &[product(x, y), 3.0 * dx]);
    let three = product_four(x, 1.0, 0.0, 1.0, y, 0.0, 1.0, 1.0);
    check::same("scalars::width", &three, &[dx, dy, dx + dy]);
}

#[autodiff_reverse(mixed_reverse, Duplicated, Const, Duplicated, Active)]
fn mixed(x: &[f64], weights: &[f64], out: &mut [f64], scale: f64) {
    for i in 0..out.len() {
        out[i] = scale * x[i] * weights[i];
    }
}

fn slices() {
    let (x, w) = ([1.0, 2.0, 3.0], [0.5, 0.25, 2.0]);
    let (mut dx, mut out, mut dout) = ([0.0; 3], [0.0; 3], [1.0, 1.0, 1.0]);
    let dscale = mixed_reverse(&x, &mut dx, &w, &mut out, &mut dout, 2.0);
    check::same("slices::shadow", &dx, &[1.0, 0.5, 4.0]);
    check::same("slices::out", &out, &[1.0, 1.0, 12.0]);
    check::same("slices::active", &[dscale], &[0.5 + 0.5 + 6.0]);
}

#[derive(Clone, Copy, Differentiable)]
struct Vector {
    x: f64,
    y: f64,
}

struct Spring {
    stiffness: f64,
    rest: f64,
}

impl Spring {
    #[autodiff_reverse(energy_reverse, Duplicated, Active, Active, Active)]
    fn energy(&self, a: Vector, b: Vector) -> f64 {
        let length = (a.x - b.x).hypot(a.y - b.y);
        0.5 * self.stiffness * (length - self.rest).powi(2)
    }
}

fn methods() {
    let value = |p: &[f64]| {
        let spring = Spring { stiffness: p[0], rest: p[1] };
        spring.energy(Vector { x: p[2], y: p[3] }, Vector { x: p[4], y: p[5] })
    };
    let p = [1.5, 0.5, 1.0, 2.0, 0.3, 0.1];
    let spring = Spring { stiffness: p[0], rest: p[1] };
    let mut dspring = Spring { stiffness: 0.0, rest: 0.0 };
    let (a, b) = (Vector { x: p[2], y: p[3] }, Vector { x: p[4], y: p[5] });
    let (_, da, db) = spring.energy_reverse(&mut dspring, a, b, 1.0);
    let found = [dspring.stiffness, dspring.rest, da.x, da.y, db.x, db.y];
    check::gradient("methods", &found, &p, value);
}

#[autodiff_forward(scaled_lanes, 2, Dualv, Const, Dualv, Dual)]
#[autodiff_forward(scaled_lanes_only, 2, DualvOnly, Const, DualvOnly, DualOnly)]
#[autodiff_reverse(scaled_pair, 2, Duplicated, Const, Duplicated, Active)]
#[autodiff_reverse(scaled_only, Duplicated, Const, DuplicatedOnly, ActiveOnly)]
fn scaled(x: &[f64], weights: &[f64], out: &mut [f64]) -> f64 {
    for ((o, x), w) in out.iter_mut().zip(x).zip(weights) {
        *o = x * x * w;
    }
    out.iter().sum()
}

/// Several derivatives at once: tangents that lie one behind the other, and a shadow for each adjoint.
fn widths() {
    let (x, w, mut out) = ([1.0, 2.0], [3.0, 5.0], [0.0; 2]);
    // Two tangents: one for each component.
    let (tangents, mut touts) = ([1.0, 0.0, 0.0, 1.0], [0.0; 4]);
    let all = scaled_lanes(&x, &tangents, &w, &mut out, &mut touts);
    check::same("widths::dualv", &all, &[23.0, 6.0, 20.0]);
    check::same("widths::dualv_out", &[&out[..], &touts].concat(), &[3.0, 20.0, 6.0, 0.0, 0.0, 20.0]);
    touts = [0.0; 4];
    check::same("widths::dualv_only", &scaled_lanes_only(&x, &tangents, &w, &mut out, &mut touts), &[6.0, 20.0]);
    check::same("widths::dualv_only_out", &touts, &[6.0, 0.0, 0.0, 20.0]);
    // Two adjoints of the memory, beside that of the result.
    let (mut dx, mut dy, mut dout, mut eout) = ([0.0; 2], [0.0; 2], [1.0, 0.0], [0.0, 10.0]);
    let value = scaled_pair(&x, &mut dx, &mut dy, &w, &mut out, &mut dout, &mut eout, 1.0);
    check::same("widths::reverse", &[&[value], &dx[..], &dy].concat(), &[23.0, 12.0, 20.0, 6.0, 220.0]);
    (dx, dout) = ([0.0; 2], [0.0; 2]);
    scaled_only(&x, &mut dx, &w, &mut out, &mut dout, 2.0);
    check::same("widths::only", &dx, &[12.0, 40.0]);
    std::panic::set_hook(Box::new(|_| {}));
    let short = catch_unwind(AssertUnwindSafe(|| scaled_lanes(&x, &tangents[..3], &w, &mut out, &mut touts)));
    let _ = std::panic::take_hook();
    check::same("widths::short", &[f64::from(u8::from(short.is_err()))], &[1.0]);
}

#[autodiff_reverse(pointed_reverse, Duplicated, Const, Duplicated, Active)]
#[autodiff_forward(pointed_forward, Dual, Const, DualOnly, Dual)]
unsafe fn pointed(x: *const f64, count: usize, last: *mut f64) -> f64 {
    // SAFETY: the caller has `count` elements, and a place.
    unsafe {
        *last = *x.add(count - 1) * 2.0;
        (0..count).map(|n| *x.add(n) * *x.add(n)).sum()
    }
}

/// Raw pointers, and arguments that are any closure.
fn pointers() {
    let (x, mut dx, v) = ([1.0, 2.0, 3.0], [0.0; 3], [1.0, 0.0, 1.0]);
    let (mut last, mut dlast) = (0.0, 1.0);
    // SAFETY: as many elements as are said.
    let value = unsafe { pointed_reverse(x.as_ptr(), dx.as_mut_ptr(), 3, &raw mut last, &raw mut dlast, 1.0) };
    check::same("pointers::reverse", &[&[value, last], &dx[..]].concat(), &[14.0, 6.0, 2.0, 4.0, 8.0]);
    dlast = 0.0;
    // SAFETY: as many elements as are said.
    let (value, along) = unsafe { pointed_forward(x.as_ptr(), v.as_ptr(), 3, &raw mut last, &raw mut dlast) };
    check::same("pointers::forward", &[value, along, dlast], &[14.0, 8.0, 2.0]);
    let (value, slope) = applied_reverse(|v| v * v.sin(), 0.5, 2.0);
    check::same("pointers::closure", &[value, slope], &[0.5 * 0.5f64.sin(), 2.0 * (0.5f64.sin() + 0.5 * 0.5f64.cos())]);
}

#[autodiff_reverse(applied_reverse, Const, Active, Active)]
fn applied(f: impl Fn(f64) -> f64, x: f64) -> f64 {
    f(x)
}

#[autodiff_reverse(power_reverse, Active, Const, Active)]
fn power<T>(x: T, times: usize) -> T
where
    T: Differentiable + Copy + std::ops::Mul<Output = T>,
{
    (1..times).fold(x, |all, _| all * x)
}

fn generics() {
    let (value, slope) = power_reverse(1.5_f64, 3, 1.0);
    check::same("generics::f64", &[value, slope], &[3.375, 6.75]);
    let (value, slope) = power_reverse(1.5_f32, 3, 1.0);
    check::same("generics::f32", &[f64::from(value), f64::from(slope)], &[3.375, 6.75]);
}

thread_local! {
    static DROPPED: Cell<u32> = const { Cell::new(0) };
}

struct Counted(Vec<f64>);

impl Drop for Counted {
    fn drop(&mut self) {
        DROPPED.with(|count| count.set(count.get() + 1));
    }
}

#[autodiff_reverse(element_reverse, Duplicated, Const, Active)]
fn element(x: &[f64], at: usize) -> f64 {
    let squares = Counted(x.iter().map(|v| v * v).collect());
    squares.0[at] * 3.0
}

/// An index out of bounds unwinds through the derivative, and what the primal holds is dropped once.
fn panics() {
    let mut dx = [0.0; 2];
    let value = element_reverse(&[2.0, 3.0], &mut dx, 1, 1.0);
    check::same("panics::none", &[value, dx[0], dx[1]], &[27.0, 0.0, 18.0]);
    let before = DROPPED.with(Cell::get);
    std::panic::set_hook(Box::new(|_| {}));
    let caught = catch_unwind(AssertUnwindSafe(|| element_reverse(&[2.0, 3.0], &mut dx, 7, 1.0)));
    let _ = std::panic::take_hook();
    let dropped = DROPPED.with(Cell::get) - before;
    check::same("panics::caught", &[f64::from(u8::from(caught.is_err())), f64::from(dropped)], &[1.0, 1.0]);
}

/// All of them.
pub fn run() {
    scalars();
    slices();
    methods();
    widths();
    pointers();
    generics();
    panics();
}
