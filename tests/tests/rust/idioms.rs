//! Programs of no special data, as they are written: chains of iterators, layers behind `dyn Trait`, optimisers, locks, reports. Each
//! function of `x` whose definition begins a line is differentiated by the test `idioms`.
#![allow(dead_code)]
mod by {
    use std::sync::{Arc, Mutex, RwLock};
    #[derive(Clone, Default)]
    pub struct Params {
        pub lr: f64,
        pub decay: f64,
        pub clip: Option<f64>,
        pub name: String,
        pub steps: usize,
        pub sizes: Vec<usize>,
    }
    pub trait Optimizer {
        fn step(&mut self, p: &mut [f64], g: &[f64]);
        fn lr(&self) -> f64;
    }
    struct Sgd {
        lr: f64,
        momentum: f64,
        velocity: Vec<f64>,
    }
    struct Adam {
        lr: f64,
        t: i32,
        m: Vec<f64>,
        v: Vec<f64>,
    }
    impl Optimizer for Sgd {
        fn step(&mut self, p: &mut [f64], g: &[f64]) {
            if self.velocity.is_empty() {
                self.velocity = vec![0.0; p.len()]
            }
            for ((p, g), v) in p.iter_mut().zip(g).zip(&mut self.velocity) {
                *v = self.momentum * *v + g;
                *p -= self.lr * *v
            }
        }
        fn lr(&self) -> f64 {
            self.lr
        }
    }
    impl Optimizer for Adam {
        fn step(&mut self, p: &mut [f64], g: &[f64]) {
            self.t += 1;
            self.m.resize(p.len(), 0.0);
            self.v.resize(p.len(), 0.0);
            for i in 0..p.len() {
                self.m[i] = 0.9 * self.m[i] + 0.1 * g[i];
                self.v[i] = 0.99 * self.v[i] + 0.01 * g[i] * g[i];
                let (m, v) = (self.m[i] / (1.0 - 0.9f64.powi(self.t)), self.v[i] / (1.0 - 0.99f64.powi(self.t)));
                p[i] -= self.lr * m / (v.sqrt() + 0.1)
            }
        }
        fn lr(&self) -> f64 {
            self.lr * self.t as f64
        }
    }
    pub fn made(p: &Params) -> Box<dyn Optimizer> {
        match p.name.as_str() {
            "sgd" => Box::new(Sgd { lr: p.lr, momentum: p.decay, velocity: vec![] }),
            _ => Box::new(Adam { lr: p.lr, t: 0, m: vec![], v: vec![] }),
        }
    }
    pub struct Bank {
        pub total: Mutex<f64>,
        pub log: Arc<Mutex<Vec<f64>>>,
        pub rates: RwLock<Vec<f64>>,
        pub best: RwLock<Option<f64>>,
    }
    impl Bank {
        pub fn add(&self, v: f64) {
            *self.total.lock().unwrap() += v * v;
            self.log.lock().unwrap().push(v);
            let mut best = self.best.write().unwrap();
            if best.is_none_or(|w| v > w) {
                *best = Some(v)
            }
        }
        pub fn rate(&self, n: usize) -> f64 {
            let rates = self.rates.read().unwrap();
            rates[n % rates.len()]
        }
    }
    pub struct Report {
        pub lines: Vec<String>,
        pub worst: f64,
    }
    #[derive(Debug, Clone, Copy)]
    pub enum Kind {
        Low,
        Mid(f64),
        High { by: f64 },
    }
    impl std::fmt::Display for Kind {
        fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            match self {
                Kind::Low => write!(out, "low"),
                Kind::Mid(v) => write!(out, "mid {v:.2}"),
                Kind::High { by } => write!(out, "high by {by:.1}"),
            }
        }
    }
}
use by::*;
fn iterators(x: &[f64]) -> f64 {
    let own: Vec<f64> = x.iter().scan(0.0, |s, v| { *s = 0.8 * *s + 0.2 * v; Some(*s) }).collect();
    let (high, low): (Vec<f64>, Vec<f64>) = own.iter().partition(|v| **v > 1.0);
    let either: f64 = x.iter().rev().step_by(2).zip(x.iter().chain(&own).cycle().skip(5)).map(|(a, b)| a * b).sum();
    let (a, b): (Vec<f64>, Vec<f64>) = x.chunks_exact(2).map(|c| (c[0] * c[1], c[0] - c[1])).unzip();
    let flat: f64 = a.iter().flat_map(|p| b.iter().map(move |q| p * q)).sum();
    let compound = x.iter().try_fold(1.0, |all, r| if *r > 5.0 { None } else { Some(all * (1.0 + 0.1 * r)) });
    let drawn = x.iter().scan(0.0, |top: &mut f64, v| { *top = top.max(*v); Some(*top - v) }).fold(0.0, f64::max);
    high.iter().sum::<f64>() * low.len() as f64 + either + flat + compound.unwrap_or(0.0) + drawn
}
fn optimisers(x: &[f64]) -> f64 {
    let base = Params { lr: 0.05 * x[0], decay: 0.3 * x[1], name: "sgd".into(), steps: 4, sizes: vec![1, 2, 1], ..Params::default() };
    let clipped = Params { clip: Some(x[2]), ..base.clone() };
    let adam = Params { name: "adam".into(), lr: 0.1 * x[3], ..base.clone() };
    let log = std::cell::RefCell::new(vec![]);
    let mut sum = 0.0;
    for p in [base, clipped, adam] {
        let mut w = x[4..7].to_vec();
        let mut optimizer = made(&p);
        let mut rates: Vec<f64> = Vec::new();
        for k in 0..p.steps {
            let size = |i: usize| p.sizes.get(i).map_or(1.0, |s| *s as f64);
            let mut g: Vec<f64> = w.iter().enumerate().map(|(i, v)| 2.0 * (v - i as f64 * 0.3) * size(i)).collect();
            if let Some(most) = p.clip {
                let norm = g.iter().map(|v| v * v).sum::<f64>().sqrt();
                if norm > most {
                    g.iter_mut().for_each(|v| *v *= most / norm)
                }
            }
            optimizer.step(&mut w, &g);
            if k % 2 == 0 {
                log.borrow_mut().push(w[0] * w[1]);
                rates.push(optimizer.lr())
            }
        }
        sum += w.iter().chain(&rates).sum::<f64>();
    }
    sum + log.borrow().iter().sum::<f64>()
}
fn locks(x: &[f64]) -> f64 {
    use std::sync::{Arc, Mutex, RwLock};
    let log = Arc::new(Mutex::new(Vec::new()));
    let rates = RwLock::new(vec![x[0], x[1] * x[2]]);
    let bank = Bank { total: Mutex::new(0.0), log: log.clone(), rates, best: RwLock::new(None) };
    for (n, v) in x.iter().enumerate() {
        bank.add(v * bank.rate(n));
        if n == 4 {
            bank.rates.write().unwrap().push(*v)
        }
    }
    let total = *bank.total.lock().unwrap() + bank.best.read().unwrap().unwrap_or(0.0);
    log.lock().unwrap().iter().zip(x).map(|(a, b)| a * b).sum::<f64>() + total
}
fn reports(x: &[f64]) -> f64 {
    assert_eq!(x.len(), 16, "length {}", x.len());
    debug_assert!(x.iter().all(|v| v.is_finite()), "bad {x:?}");
    let mut report = Report { lines: vec![], worst: 0.0 };
    let mut sum = 0.0;
    for (i, v) in x.iter().enumerate() {
        let kind = match *v {
            v if v < 0.9 => Kind::Low,
            v if v < 1.6 => Kind::Mid(v),
            v => Kind::High { by: v - 1.2 },
        };
        let weight = match kind {
            Kind::Low => 0.1 * v,
            Kind::Mid(m) => m * m,
            Kind::High { by } => by.sqrt(),
        };
        sum += weight * (i + 1) as f64;
        report.lines.push(format!("{i}: {kind} {weight:.3}"));
        if weight > report.worst {
            report.worst = weight
        }
        if weight > 100.0 {
            eprintln!("large {weight} at {i} of {kind:?}")
        }
    }
    sum + report.worst * report.lines.iter().filter(|l| l.contains("high")).count() as f64
}
fn sets_of_bits(x: &[f64]) -> f64 {
    let bits: std::collections::BTreeSet<u64> = x.iter().map(|a| (a * 3.0).to_bits()).collect();
    bits.iter().enumerate().map(|(i, b)| f64::from_bits(*b) * i as f64).sum()
}
fn caught(x: &[f64]) -> f64 {
    std::panic::set_hook(Box::new(|_| {}));
    let part = |v: f64| if v > 1.7 { panic!("{v} is too much") } else { v.sin() };
    x.iter().map(|v| std::panic::catch_unwind(|| part(*v)).unwrap_or(0.5 * v)).sum()
}

// Nodes in one vector, of which each names others by their number, if there are any.
struct Branch {
    key: f64,
    weight: f64,
    left: Option<usize>,
    right: Option<usize>,
}
struct Tree {
    branches: Vec<Branch>,
    root: Option<usize>,
}
impl Tree {
    fn insert(&mut self, key: f64, weight: f64) {
        let id = self.branches.len();
        self.branches.push(Branch { key, weight, left: None, right: None });
        let Some(mut at) = self.root else {
            self.root = Some(id);
            return;
        };
        loop {
            let branch = &mut self.branches[at];
            let slot = if key < branch.key { &mut branch.left } else { &mut branch.right };
            match slot {
                Some(next) => at = *next,
                None => {
                    *slot = Some(id);
                    break;
                }
            }
        }
    }
    fn sum(&self, at: Option<usize>, depth: i32) -> f64 {
        at.map_or(0.0, |i| {
            let branch = &self.branches[i];
            branch.key * branch.weight / (depth + 1) as f64
                + self.sum(branch.left, depth + 1)
                + self.sum(branch.right, depth + 1)
        })
    }
}
fn numbered_nodes(x: &[f64]) -> f64 {
    let mut tree = Tree { branches: vec![], root: None };
    for (n, v) in x.iter().enumerate() {
        tree.insert(v.sin(), v * n as f64);
    }
    tree.sum(tree.root, 0)
}
