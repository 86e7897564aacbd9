//! Programs whose data are values of an `enum`: expressions, shapes, events, code of a stack machine, texts and numbers. Each function
//! of `x` whose definition begins a line is differentiated by the test `enums`.
#![allow(dead_code)]
mod by {
    #[derive(Clone)]
    pub enum Expr {
        Const(f64),
        Var(usize),
        Add(Box<Expr>, Box<Expr>),
        Mul(Box<Expr>, Box<Expr>),
        Sin(Box<Expr>),
        Pow(Box<Expr>, i32),
    }
    use Expr::*;
    impl Expr {
        pub fn eval(&self, x: &[f64]) -> f64 {
            match self {
                Const(c) => *c,
                Var(i) => x[*i],
                Add(a, b) => a.eval(x) + b.eval(x),
                Mul(a, b) => a.eval(x) * b.eval(x),
                Sin(a) => a.eval(x).sin(),
                Pow(a, n) => a.eval(x).powi(*n),
            }
        }
    }
    pub fn add(a: Expr, b: Expr) -> Expr {
        Add(Box::new(a), Box::new(b))
    }
    pub fn mul(a: Expr, b: Expr) -> Expr {
        Mul(Box::new(a), Box::new(b))
    }
    pub fn sin(a: Expr) -> Expr {
        Sin(Box::new(a))
    }
    pub enum Shape {
        Circle { r: f64 },
        Rect { w: f64, h: f64 },
        Polygon(Vec<(f64, f64)>),
        Grid { n: u32, side: f64 },
    }
    impl Shape {
        pub fn area(&self) -> f64 {
            match self {
                Shape::Circle { r } => std::f64::consts::PI * r * r,
                Shape::Rect { w, h } => w * h,
                Shape::Polygon(p) => {
                    let n = p.len();
                    0.5 * (0..n).map(|i| p[i].0 * p[(i + 1) % n].1 - p[(i + 1) % n].0 * p[i].1).sum::<f64>().abs()
                }
                Shape::Grid { n, side } => (*n * *n) as f64 * side * side,
            }
        }
    }
    pub enum Event {
        Wait(f64),
        Count(u32),
        Long(u64),
        Stop,
    }
    pub enum Op {
        Push(f64),
        Load(usize),
        Add,
        Mul,
        Sin,
        Pow(i32),
    }
    pub fn run(ops: &[Op], x: &[f64]) -> f64 {
        let mut stack: Vec<f64> = Vec::new();
        for op in ops {
            match op {
                Op::Push(c) => stack.push(*c),
                Op::Load(i) => stack.push(x[*i]),
                Op::Add => {
                    let (b, a) = (stack.pop().unwrap(), stack.pop().unwrap());
                    stack.push(a + b)
                }
                Op::Mul => {
                    let (b, a) = (stack.pop().unwrap(), stack.pop().unwrap());
                    stack.push(a * b)
                }
                Op::Sin => {
                    let a = stack.pop().unwrap();
                    stack.push(a.sin())
                }
                Op::Pow(n) => {
                    let a = stack.pop().unwrap();
                    stack.push(a.powi(*n))
                }
            }
        }
        stack.pop().unwrap()
    }
    pub enum Json {
        Null,
        Bool(bool),
        Number(f64),
        Text(String),
        Array(Vec<Json>),
    }
    impl Json {
        pub fn sum(&self) -> f64 {
            match self {
                Json::Null => 0.0,
                Json::Bool(b) => *b as u8 as f64,
                Json::Number(a) => a * a,
                Json::Text(t) => t.len() as f64,
                Json::Array(l) => l.iter().map(|j| j.sum()).sum(),
            }
        }
    }
    pub enum Inner {
        A(f64),
        B(u32),
    }
    pub enum Outer {
        In(Inner),
        F(f64),
        S(f32),
        N,
    }
    pub trait Part {
        fn cost(&self, t: f64) -> f64;
    }
    pub struct Spring(pub f64);
    pub struct Steps(pub usize, pub f64);
    impl Part for Spring {
        fn cost(&self, t: f64) -> f64 {
            0.5 * self.0 * t * t
        }
    }
    impl Part for Steps {
        fn cost(&self, t: f64) -> f64 {
            self.0 as f64 * self.1 * t
        }
    }
    pub enum Item {
        Own(Box<dyn Part>),
        Fixed(f64),
        Many(usize),
    }
    #[inline(never)]
    pub fn grown(x: &[f64], depth: usize) -> Box<Expr> {
        if depth == 0 {
            return Box::new(Const(x[1]));
        }
        let part = grown(x, depth - 1);
        let other = if depth % 2 == 0 { Var(depth % x.len()) } else { Const(x[depth % x.len()]) };
        if depth % 2 == 0 { Box::new(Add(part, Box::new(other))) } else { Box::new(Mul(part, Box::new(other))) }
    }
    pub enum Value {
        Real(f64),
        Whole(i64),
        List(Vec<f64>),
    }
    impl Value {
        pub fn made(n: usize, x: &[f64]) -> Value {
            match n % 3 {
                0 => Value::Real(x[0] * x[1]),
                1 => Value::Whole(3),
                _ => Value::List(x.iter().map(|a| a * a).collect()),
            }
        }
        #[inline(never)]
        pub fn kept(self, x: &[f64]) -> Value {
            if let Value::Whole(n) = self { Value::Real(x[n as usize]) } else { self }
        }
        pub fn read(self) -> f64 {
            match self {
                Value::Real(a) => a.sin(),
                Value::Whole(n) => n as f64,
                Value::List(l) => l.iter().sum(),
            }
        }
    }
    pub trait Joint {
        fn end(&self, from: [f64; 3]) -> [f64; 3];
        fn cost(&self) -> f64 {
            0.0
        }
    }
    pub struct Turn {
        pub name: String,
        pub length: f64,
        pub angle: f64,
    }
    pub struct Slide {
        pub by: f64,
        pub limit: Option<f64>,
    }
    impl Joint for Turn {
        fn end(&self, [x, y, a]: [f64; 3]) -> [f64; 3] {
            let a = a + self.angle;
            [x + self.length * a.cos(), y + self.length * a.sin(), a]
        }
        fn cost(&self) -> f64 {
            if self.name.ends_with('2') { self.angle.powi(2) } else { 0.1 * self.angle }
        }
    }
    impl Joint for Slide {
        fn end(&self, [x, y, a]: [f64; 3]) -> [f64; 3] {
            let d = self.limit.map_or(self.by, |l| self.by.min(l));
            [x + d * a.cos(), y + d * a.sin(), a]
        }
    }
    pub enum Few {
        Within([f64; 4], usize),
        Outside(Vec<f64>),
    }
    impl Few {
        pub fn push(&mut self, v: f64) {
            match self {
                Few::Within(a, n) if *n < 4 => {
                    a[*n] = v;
                    *n += 1
                }
                Few::Within(a, n) => {
                    let mut all = a[..*n].to_vec();
                    all.push(v);
                    *self = Few::Outside(all)
                }
                Few::Outside(all) => all.push(v),
            }
        }
        pub fn all(&self) -> &[f64] {
            match self {
                Few::Within(a, n) => &a[..*n],
                Few::Outside(all) => all,
            }
        }
    }
    pub fn checked(a: f64) -> Result<f64, String> {
        if a < 0.0 { Err(format!("less than none")) } else { Ok(a.sqrt()) }
    }
}
use by::*;
fn tree_constant(x: &[f64]) -> f64 {
    let e = add(mul(Expr::Const(2.0), Expr::Var(1)), sin(mul(Expr::Var(2), Expr::Var(0))));
    e.eval(x)
}
fn tree_outside(x: &[f64]) -> f64 {
    MADE.with(|e| e.eval(x))
}
thread_local! { static MADE: Expr = add(mul(Expr::Const(2.0), Expr::Var(1)), sin(mul(Expr::Var(2), Expr::Pow(Box::new(Expr::Var(0)), 3)))); }
fn tree_grown(x: &[f64]) -> f64 {
    grown(x, 5).eval(x)
}
fn values(x: &[f64]) -> f64 {
    (0..7).map(|n| Value::made(n, x).kept(x).read() * x[n % 4]).sum()
}
fn joints(x: &[f64]) -> f64 {
    let mut arm: Vec<Box<dyn Joint>> = Vec::new();
    for (i, c) in x[..4].chunks(2).enumerate() {
        arm.push(Box::new(Slide { by: c[0], limit: Some(c[1]) }));
        arm.push(Box::new(Turn { length: c[0], angle: c[1], name: format!("j{}", i + 1) }));
    }
    let end = arm.iter().fold([0.0; 3], |p, j| j.end(p));
    (end[0] - 1.0).powi(2) + (end[1] - 2.0).powi(2) + arm.iter().map(|j| j.cost()).sum::<f64>()
}
fn few(x: &[f64]) -> f64 {
    let (mut a, mut b) = (Few::Within([0.0; 4], 0), Few::Within([0.0; 4], 0));
    for (i, v) in x.iter().cycle().take(7).enumerate() {
        a.push(v * v);
        if i < 3 {
            b.push(v.sin())
        }
    }
    a.all().iter().enumerate().map(|(i, v)| v * i as f64).sum::<f64>() + b.all().iter().product::<f64>()
}
fn shapes(x: &[f64]) -> f64 {
    let all = vec![
        Shape::Circle { r: x[0] },
        Shape::Rect { w: x[1], h: x[2] },
        Shape::Grid { n: 3, side: x[3] },
        Shape::Rect { w: x[4], h: x[0] },
    ];
    all.iter().map(|s| s.area()).sum()
}
fn polygons(x: &[f64]) -> f64 {
    let all = vec![
        Shape::Circle { r: x[0] },
        Shape::Polygon(vec![(0.0, 0.0), (x[1], 0.1), (x[2], x[3])]),
        Shape::Grid { n: 3, side: x[3] },
    ];
    all.iter().map(|s| s.area()).sum()
}
fn events(x: &[f64]) -> f64 {
    let l = [Event::Wait(x[0]), Event::Count(3), Event::Wait(x[1] * x[2]), Event::Stop, Event::Wait(x[3])];
    let mut t = 1.0;
    for e in &l {
        match e {
            Event::Wait(a) => t += a * t,
            Event::Count(n) => t *= *n as f64,
            Event::Long(n) => t += *n as f64,
            Event::Stop => break,
        }
    }
    t
}
fn options(x: &[f64]) -> f64 {
    let mut held: Option<f64> = None;
    let mut s = 0.0;
    for a in x {
        held = match held {
            None if *a > 0.3 => Some(a * a),
            Some(b) if b > 2.0 => None,
            Some(b) => Some(b + a),
            None => None,
        };
        s += held.unwrap_or(0.5) * a;
    }
    s
}
fn unwanted(x: &[f64]) -> f64 {
    let root = |a: f64| if a > 0.0 { Some((1.0 + a) * a.sqrt()) } else { None };
    let mean = |v: &[f64]| if v.is_empty() { None } else { Some(v.iter().sum::<f64>() / v.len() as f64) };
    let roots: Vec<Option<f64>> = x.iter().map(|a| root(a - 1.0)).collect();
    let means: Vec<Option<f64>> = (0..4).map(|n| mean(&x[..n % 2 * 2])).collect();
    roots.iter().flatten().sum::<f64>() * means.iter().flatten().product::<f64>() + roots[0].or(roots[1]).unwrap_or(x[2])
}
fn results(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for a in x {
        match checked(*a - 0.4) {
            Ok(b) => s += b * a,
            Err(t) => s += t.len() as f64 * a,
        }
    }
    s
}
fn collected(x: &[f64]) -> f64 {
    let all: Vec<Result<f64, String>> = x.iter().map(|a| checked(*a - 0.4)).collect();
    all.iter().map(|r| match r { Ok(b) => b * b * b, Err(t) => t.len() as f64 }).sum()
}
fn json(x: &[f64]) -> f64 {
    let j = Json::Array(vec![
        Json::Number(x[0]),
        Json::Null,
        Json::Text("abc".to_string()),
        Json::Array(vec![Json::Number(x[1] * x[2]), Json::Bool(true)]),
        Json::Number(x[3]),
    ]);
    j.sum()
}
fn stack_machine(x: &[f64]) -> f64 {
    let ops = vec![Op::Push(x[3]), Op::Load(0), Op::Mul, Op::Load(1), Op::Sin, Op::Add, Op::Pow(3), Op::Push(2.0), Op::Mul];
    run(&ops, x)
}
fn stack_constant(x: &[f64]) -> f64 {
    let ops = vec![Op::Push(0.7), Op::Load(0), Op::Mul, Op::Load(1), Op::Sin, Op::Add, Op::Pow(3), Op::Load(2), Op::Mul];
    run(&ops, x)
}
fn nested(x: &[f64]) -> f64 {
    let l = vec![Outer::In(Inner::A(x[0])), Outer::F(x[1]), Outer::In(Inner::B(4)), Outer::S(0.5), Outer::N];
    let mut s = 1.0;
    for o in &l {
        s += match o {
            Outer::In(Inner::A(a)) => a * a * s,
            Outer::In(Inner::B(n)) => *n as f64 * s,
            Outer::F(a) => a.sin(),
            Outer::S(a) => (*a * *a) as f64,
            Outer::N => 0.0,
        };
    }
    s
}
fn items(x: &[f64]) -> f64 {
    let l = vec![Item::Own(Box::new(Spring(x[0]))), Item::Fixed(x[1]), Item::Many(3), Item::Own(Box::new(Steps(2, x[2])))];
    l.iter().map(|i| match i { Item::Own(p) => p.cost(x[3]), Item::Fixed(a) => a * a, Item::Many(n) => *n as f64 * x[0] }).sum()
}
fn tree_powers(x: &[f64]) -> f64 {
    use by::Expr::{Add, Const, Mul, Pow, Sin, Var};
    let product = Box::new(Mul(Box::new(Const(x[1])), Box::new(Sin(Box::new(Var(0))))));
    Add(product, Box::new(Pow(Box::new(Add(Box::new(Var(2)), Box::new(Const(x[3])))), 2))).eval(x)
}
