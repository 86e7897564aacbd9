//! Data of a tree that is built by recursion. Each function of `x` whose definition begins a line is differentiated by the test `nested`.
#![allow(dead_code)]
mod json {
    #[derive(Clone)]
    enum Json {
        Null,
        Bool(bool),
        Num(f64),
        Str(String),
        Arr(Vec<Json>),
        Obj(Vec<(String, Json)>),
    }
    fn total(j: &Json) -> f64 {
        match j {
            Json::Null => 0.5,
            Json::Bool(b) => {
                if *b {
                    1.0
                } else {
                    0.0
                }
            }
            Json::Num(n) => n * n,
            Json::Str(s) => s.len() as f64,
            Json::Arr(a) => a.iter().map(total).sum(),
            Json::Obj(o) => o.iter().map(|(k, v)| k.len() as f64 * total(v)).sum(),
        }
    }
    fn build(x: &[f64], d: usize) -> Json {
        if d == 0 {
            return Json::Num(x[0] * x[1]);
        }
        match d % 3 {
            0 => Json::Arr(x.iter().map(|v| Json::Num(*v)).chain([Json::Null, build(&x[1..], d - 1)]).collect()),
            1 => Json::Obj(vec![
                ("a".into(), Json::Num(x[2])),
                ("bcd".into(), build(&x[1..], d - 1)),
                ("t".into(), Json::Bool(true)),
            ]),
            _ => Json::Obj(vec![("s".into(), Json::Str("text".into())), ("n".into(), build(&x[1..], d - 1))]),
        }
    }
    pub fn run(x: &[f64]) -> f64 {
        total(&build(x, 5))
    }
}
fn tree(x: &[f64]) -> f64 {
    json::run(x)
}
