//! Containers of objects that are such objects themselves: layers within layers behind `Box<dyn Layer>`, with counts and seeds, and data
//! of a tree built by recursion. Each function of `x` whose definition begins a line is differentiated by the test `nested`.
#![allow(dead_code)]
mod counting {
    trait Activation {
        fn apply(&self, v: f64) -> f64;
        fn name(&self) -> String {
            "act".into()
        }
    }
    struct Relu;
    struct Leaky {
        slope: f64,
        hits: std::cell::Cell<usize>,
    }
    struct Pow {
        n: i32,
    }
    impl Activation for Relu {
        fn apply(&self, v: f64) -> f64 {
            v.max(0.0)
        }
    }
    impl Activation for Leaky {
        fn apply(&self, v: f64) -> f64 {
            self.hits.set(self.hits.get() + 1);
            if v > 1.0 { v } else { self.slope * v }
        }
        fn name(&self) -> String {
            format!("leaky{}", self.hits.get())
        }
    }
    impl Activation for Pow {
        fn apply(&self, v: f64) -> f64 {
            v.powi(self.n)
        }
    }
    trait Layer {
        fn forward(&self, x: Vec<f64>) -> Vec<f64>;
        fn size(&self) -> usize;
    }
    struct Dense {
        w: Vec<Vec<f64>>,
        act: Box<dyn Activation>,
    }
    struct Norm {
        eps: f64,
        n: usize,
    }
    struct Residual {
        inner: Box<dyn Layer>,
        gain: f64,
    }
    impl Layer for Dense {
        fn forward(&self, x: Vec<f64>) -> Vec<f64> {
            self.w.iter().map(|r| self.act.apply(r.iter().zip(&x).map(|(a, b)| a * b).sum())).collect()
        }
        fn size(&self) -> usize {
            self.w.len()
        }
    }
    impl Layer for Norm {
        fn forward(&self, x: Vec<f64>) -> Vec<f64> {
            let m = x.iter().sum::<f64>() / self.n as f64;
            let v = x.iter().map(|a| (a - m).powi(2)).sum::<f64>();
            x.iter().map(|a| (a - m) / (v + self.eps).sqrt()).collect()
        }
        fn size(&self) -> usize {
            self.n
        }
    }
    impl Layer for Residual {
        fn forward(&self, x: Vec<f64>) -> Vec<f64> {
            let y = self.inner.forward(x.clone());
            x.iter().zip(&y).map(|(a, b)| a + self.gain * b).collect()
        }
        fn size(&self) -> usize {
            self.inner.size()
        }
    }
    pub fn run(x: &[f64]) -> f64 {
        let w = |o: usize| {
            (0..3)
                .map(|i| (0..3).map(|j| x[(i * 3 + j + o) % 16] * if (i + j) % 2 == 0 { 0.4 } else { -0.3 }).collect())
                .collect::<Vec<Vec<f64>>>()
        };
        let net: Vec<Box<dyn Layer>> = vec![
            Box::new(Dense { w: w(0), act: Box::new(Relu) }),
            Box::new(Residual {
                inner: Box::new(Dense {
                    w: w(5),
                    act: Box::new(Leaky { slope: x[3] * 0.1, hits: Default::default() }),
                }),
                gain: x[4],
            }),
            Box::new(Norm { eps: 0.1 * x[5], n: 3 }),
            Box::new(Dense { w: w(9), act: Box::new(Pow { n: 2 }) }),
        ];
        let out = net.iter().fold(x[..3].to_vec(), |v, l| l.forward(v));
        out.iter().enumerate().map(|(i, v)| v * (i + 1) as f64).sum::<f64>()
            + net.iter().map(|l| l.size()).sum::<usize>() as f64
    }
}
mod sequential {
    trait Layer {
        fn forward(&mut self, x: Vec<f64>) -> Vec<f64>;
        fn count(&self) -> usize {
            0
        }
    }
    struct Dense {
        w: Vec<f64>,
        n: usize,
    }
    struct Dropout {
        p: f64,
        seed: u64,
    }
    struct Scale {
        s: f64,
    }
    struct Sequential {
        layers: Vec<Box<dyn Layer>>,
        calls: u64,
    }
    impl Layer for Dense {
        fn forward(&mut self, x: Vec<f64>) -> Vec<f64> {
            (0..self.n)
                .map(|o| x.iter().enumerate().map(|(i, v)| v * self.w[(o * 3 + i) % self.w.len()]).sum())
                .collect()
        }
        fn count(&self) -> usize {
            self.w.len()
        }
    }
    impl Layer for Dropout {
        fn forward(&mut self, mut x: Vec<f64>) -> Vec<f64> {
            for v in x.iter_mut() {
                self.seed = self.seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let u = (self.seed >> 11) as f64 / (1u64 << 53) as f64;
                if u < self.p { *v = 0.0 } else { *v /= 1.0 - self.p }
            }
            x
        }
    }
    impl Layer for Scale {
        fn forward(&mut self, mut x: Vec<f64>) -> Vec<f64> {
            for v in &mut x {
                *v = (*v * self.s).tanh()
            }
            x
        }
    }
    impl Layer for Sequential {
        fn forward(&mut self, x: Vec<f64>) -> Vec<f64> {
            self.calls += 1;
            self.layers.iter_mut().fold(x, |v, l| l.forward(v))
        }
        fn count(&self) -> usize {
            self.layers.iter().map(|l| l.count()).sum::<usize>() + self.calls as usize
        }
    }
    pub fn run(x: &[f64]) -> f64 {
        let inner = Sequential {
            layers: vec![
                Box::new(Dense { w: x[..6].to_vec(), n: 3 }),
                Box::new(Dropout { p: 0.3, seed: 42 }),
                Box::new(Scale { s: x[6] * 0.2 }),
            ],
            calls: 0,
        };
        let mut net = Sequential {
            layers: vec![
                Box::new(Scale { s: 0.3 * x[7] }),
                Box::new(inner),
                Box::new(Dense { w: x[8..12].to_vec(), n: 2 }),
            ],
            calls: 0,
        };
        let mut s = 0.0;
        for k in 0..3 {
            s += net.forward(x[12 - k..15 - k].to_vec()).iter().map(|v| v * v).sum::<f64>()
        }
        s + net.count() as f64
    }
}
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
fn counted(x: &[f64]) -> f64 {
    counting::run(x)
}
fn seeded(x: &[f64]) -> f64 {
    sequential::run(x)
}
fn tree(x: &[f64]) -> f64 {
    json::run(x)
}
