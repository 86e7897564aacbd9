//! Whole values of an `enum` that are moved about. Each function of `x` whose definition begins a line is differentiated by the test
//! `moved`.
#[derive(Clone)]
enum Value {
    Number(f64),
    List(Vec<f64>),
}
impl Default for Value {
    fn default() -> Value {
        Value::Number(0.0)
    }
}
impl Value {
    fn weight(&self) -> f64 {
        match self {
            Value::Number(a) => a.sin(),
            Value::List(l) => l.iter().map(|a| a * a).sum(),
        }
    }
}
struct Held {
    by: f64,
    value: Value,
    times: usize,
}
mod by {
    use super::Value;
    pub enum Expression {
        Number(f64),
        Negative(Box<Expression>),
        Product(Box<Expression>, Box<Expression>),
    }
    impl Expression {
        pub fn value(&self) -> f64 {
            match self {
                Expression::Number(v) => *v,
                Expression::Negative(a) => -a.value(),
                Expression::Product(a, b) => a.value() * b.value(),
            }
        }
    }
    pub fn values(x: &[f64]) -> Vec<Value> {
        vec![
            Value::Number(x[0] * x[1]),
            Value::List(x[1..3].to_vec()),
            Value::Number(x[2] * x[3]),
            Value::List(vec![x[3], x[4]]),
            Value::Number(x[4]),
            Value::List(vec![x[5]]),
        ]
    }
    #[inline(never)]
    pub fn eaten(value: Value, a: f64) -> f64 {
        match value {
            Value::List(mut l) => {
                l.push(a);
                l.iter().map(|t| t * t).sum()
            }
            other => other.weight() * a,
        }
    }
    #[inline(never)]
    pub fn longer(value: Value, a: f64) -> Value {
        match value {
            Value::List(mut l) => {
                l.push(a);
                Value::List(l)
            }
            Value::Number(b) => Value::List(vec![a, b]),
        }
    }
    #[inline(never)]
    pub fn same(value: Value) -> Value {
        value
    }
    #[inline(never)]
    pub fn picked(values: &mut [Value], i: usize) -> Value {
        std::mem::take(&mut values[i])
    }
}
fn taken(x: &[f64]) -> f64 {
    let (mut v, mut s) = (by::values(x), 0.0);
    for i in 0..v.len() {
        match std::mem::take(&mut v[i]) {
            Value::List(mut l) => {
                l.push(x[i] * 2.0);
                l.push(x[0]);
                s += l.iter().sum::<f64>();
                v[i] = Value::List(l);
            }
            other => s += other.weight(),
        }
    }
    s + v.iter().map(Value::weight).sum::<f64>()
}
fn replaced(x: &[f64]) -> f64 {
    let (mut v, mut s) = (by::values(x), 0.0);
    for i in 0..v.len() {
        let t = std::mem::replace(&mut v[i], Value::Number(x[i]));
        if let Value::List(mut l) = t {
            l.push(x[i] * 2.0);
            s += l.iter().map(|a| a * a).sum::<f64>();
            v[i] = Value::List(l);
        } else {
            s += t.weight();
        }
    }
    s + v.iter().map(Value::weight).sum::<f64>()
}
fn matched(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for (i, value) in by::values(x).into_iter().enumerate() {
        s += match value {
            Value::List(mut l) => {
                l.push(x[i] * s);
                l.iter().sum::<f64>()
            }
            other => other.weight() * x[i],
        };
    }
    s
}
fn put_back(x: &[f64]) -> f64 {
    let mut v = by::values(x);
    for i in 0..v.len() {
        v[i] = match std::mem::take(&mut v[i]) {
            Value::List(mut l) => {
                l.push(x[i]);
                Value::List(l)
            }
            Value::Number(a) => Value::List(vec![a]),
        };
    }
    v.iter().zip(x).map(|(value, a)| value.weight() * a).sum()
}
fn optional(x: &[f64]) -> f64 {
    let mut v: Vec<Option<Value>> = by::values(x).into_iter().map(Some).collect();
    let mut s = 0.0;
    for i in 0..v.len() {
        if let Some(Value::List(mut l)) = v[i].take() {
            l.push(x[i]);
            s += l.iter().map(|a| a * a).sum::<f64>();
            v[i] = Some(Value::List(l));
        }
    }
    s + v.iter().flatten().map(Value::weight).sum::<f64>()
}
fn by_value(x: &[f64]) -> f64 {
    by::values(x).into_iter().zip(x).map(|(value, a)| by::eaten(value, *a)).sum()
}
fn returned(x: &[f64]) -> f64 {
    let (mut v, mut s) = (by::values(x), 0.0);
    for i in 0..v.len() {
        let mut t = by::picked(&mut v, i);
        if let Value::List(l) = &mut t {
            l.push(x[i]);
            l.push(x[i] * x[0]);
        }
        s += t.weight() * x[i];
    }
    s
}
fn through(x: &[f64]) -> f64 {
    let mut v = by::values(x);
    for i in 0..v.len() {
        let t = std::mem::take(&mut v[i]);
        v[i] = by::longer(t, x[i]);
    }
    for i in 0..v.len() {
        let t = std::mem::take(&mut v[i]);
        v[i] = by::same(t);
    }
    v.iter().zip(x).map(|(value, a)| value.weight() * a).sum()
}
fn cloned(x: &[f64]) -> f64 {
    let (mut v, mut s) = (by::values(x), 0.0);
    v[0] = v[1].clone();
    for i in 0..v.len() {
        let mut t = v[i].clone();
        if let Value::List(l) = &mut t {
            l.push(x[i]);
        }
        s += t.weight() * x[i];
    }
    s + v.iter().map(Value::weight).sum::<f64>()
}
fn in_fields(x: &[f64]) -> f64 {
    let mut held: Vec<Held> =
        by::values(x).into_iter().enumerate().map(|(times, value)| Held { by: x[times], value, times }).collect();
    let mut s = 0.0;
    for h in held.iter_mut() {
        match std::mem::take(&mut h.value) {
            Value::List(mut l) => {
                l.push(h.by);
                h.by = l.iter().sum();
                h.value = Value::List(l);
            }
            Value::Number(a) => h.value = Value::List(vec![a, h.by]),
        }
        s += h.value.weight() * h.by * h.times as f64;
    }
    s
}
/// In the variable lies now a number, now a box, which is moved into the next box.
fn nested(x: &[f64]) -> f64 {
    let mut e = by::Expression::Number(x[0]);
    for v in x {
        e = if *v > 1.2 {
            by::Expression::Product(Box::new(e), Box::new(by::Expression::Number(*v)))
        } else {
            by::Expression::Negative(Box::new(e))
        };
    }
    e.value()
}
