//! The notation of the rows.
//!
//! `expr!` writes an [`Expr`](crate::Expr) in infix form, each operation in its own parentheses, so that a table stays
//! one `static`:
//!
//! | written | meaning |
//! | --- | --- |
//! | `X`, `Y`, `Z` | operands 0, 1, 2 (floats); any other constant in scope by its name |
//! | `R`, `R1` | outputs 0, 1 |
//! | `2.0`, `(-2.0)` | numbers |
//! | `(a + b)`, `(a - b)`, `(a * b)`, `(a / b)`, `(- a)` | arithmetic |
//! | `[Cos X]`, `[Pow X Y]` | calls |
//! | `[if (c) a b]` | selection; `cond!` writes `c`: `a < b`, `a == b`, `nan a`, `(c) or (d)`, ... |
//! | `(int 1)`, `(int 1 + 0)`, `(int 1 - 1)` | integer operand 1 as a float; as an integer, plus or minus a constant |

/// Writes one expression.
macro_rules! expr {
    ((int $i:literal)) => { $crate::Expr::IntToFloat($i) };
    ((int $i:literal + $k:literal)) => { $crate::Expr::IntAdd($i, $k) };
    ((int $i:literal - $k:literal)) => { $crate::Expr::IntAdd($i, -$k) };
    ((- $v:literal)) => { $crate::Expr::Const(-$v) };
    ((- $a:tt)) => { $crate::Expr::Neg(&expr!($a)) };
    (($a:tt + $b:tt)) => { $crate::Expr::Add(&expr!($a), &expr!($b)) };
    (($a:tt - $b:tt)) => { $crate::Expr::Sub(&expr!($a), &expr!($b)) };
    (($a:tt * $b:tt)) => { $crate::Expr::Mul(&expr!($a), &expr!($b)) };
    (($a:tt / $b:tt)) => { $crate::Expr::Div(&expr!($a), &expr!($b)) };
    ([if ($($c:tt)+) $a:tt $b:tt]) => { $crate::Expr::Select(&cond!($($c)+), &expr!($a), &expr!($b)) };
    ([$f:ident $($a:tt)+]) => { $crate::Expr::Call($crate::MathFn::$f, &[$(expr!($a)),+]) };
    ($v:literal) => { $crate::Expr::Const($v) };
    ($name:ident) => { $name };
}

/// Writes one condition.
macro_rules! cond {
    (nan $a:tt) => { $crate::Cond::Unordered(&expr!($a), &expr!($a)) };
    (($($a:tt)+) and ($($b:tt)+)) => { $crate::Cond::And(&cond!($($a)+), &cond!($($b)+)) };
    (($($a:tt)+) or ($($b:tt)+)) => { $crate::Cond::Or(&cond!($($a)+), &cond!($($b)+)) };
    ($a:tt < $b:tt) => { $crate::Cond::Lt(&expr!($a), &expr!($b)) };
    ($a:tt <= $b:tt) => { $crate::Cond::Le(&expr!($a), &expr!($b)) };
    ($a:tt > $b:tt) => { $crate::Cond::Gt(&expr!($a), &expr!($b)) };
    ($a:tt >= $b:tt) => { $crate::Cond::Ge(&expr!($a), &expr!($b)) };
    ($a:tt == $b:tt) => { $crate::Cond::Eq(&expr!($a), &expr!($b)) };
}

/// Writes one partial: `_` is zero.
macro_rules! partial {
    (_) => {
        None
    };
    ($e:tt) => {
        Some(expr!($e))
    };
}

/// Writes one row.
macro_rules! rule {
    (
        $name:literal in $group:ident,
        spelled: [$($spelling:expr),* $(,)?],
        operands: [$($operand:ident),* $(,)?],
        outputs: [$($place:expr => [$($partial:tt),* $(,)?]),* $(,)?],
        formula: $formula:literal,
        kinks: $kinks:literal,
        boxes: [$([$($span:expr),* $(,)?]),* $(,)?],
        edges: [$([$($at:expr),* $(,)?] => [$($value:expr),* $(,)?]),* $(,)?] $(,)?
    ) => {
        $crate::rule::Rule {
            name: $name,
            group: $crate::rule::Group::$group,
            spellings: &[$($spelling),*],
            operands: &[$($crate::rule::Operand::$operand),*],
            outputs: &[$($crate::rule::Output { place: $place, partials: &[$(partial!($partial)),*] }),*],
            formula: $formula,
            kinks: $kinks,
            test: $crate::rule::TestDomain {
                boxes: &[$(&[$($span),*]),*],
                edges: &[$($crate::rule::Edge { at: &[$($at),*], partials: &[$($value),*] }),*],
            },
        }
    };
}
