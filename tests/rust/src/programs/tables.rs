//! Tables of several kinds beside each other: texts, numbers, vectors, and structures of them, in hash maps that grow and vectors that are
//! sorted, by more elements than are sorted one by one.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::Number;

/// Readings by the name of who took them, in the order of the names.
pub fn readings<T: Number>(x: &[T]) -> T {
    let mut sums: HashMap<String, T> = HashMap::new();
    let mut all: HashMap<String, Vec<T>> = HashMap::new();
    for (n, v) in x.iter().cycle().take(40).enumerate() {
        sums.insert(format!("reading {n}"), *v * *v);
        all.entry(format!("station {}", n % 9)).or_default().push(*v * (1.0 + n as f64));
    }
    let mut sorted: Vec<(&String, &T)> = sums.iter().collect();
    sorted.sort_by(|a, b| a.0.cmp(b.0));
    let mut stations: Vec<(&String, &Vec<T>)> = all.iter().collect();
    stations.sort_by_key(|station| station.0);
    let single: T = sorted.iter().enumerate().map(|(n, (name, v))| **v * (n + name.len()) as f64).sum();
    let joint: T = stations.iter().map(|(_, of)| of.iter().copied().sum::<T>() * of[0]).sum();
    single + joint * 0.01
}

struct Row<T> {
    name: String,
    values: Vec<T>,
    weight: T,
}

/// Rows of a table, sorted by their weights.
pub fn ranked_rows<T: Number>(x: &[T]) -> T {
    let mut rows: Vec<Row<T>> = Vec::new();
    for n in 0..30 {
        let (a, b) = (x[n % x.len()], x[(n * 5 + 1) % x.len()]);
        let values = (0..=n % 4).map(|k| a * (k as f64 + 1.0) + b.sin()).collect();
        rows.push(Row { name: format!("row {n}"), values, weight: a * b + ((n * 7) % 30) as f64 });
    }
    rows.sort_by(|a, b| b.weight.re().total_cmp(&a.weight.re()));
    let share =
        |(n, row): (usize, &Row<T>)| row.values.iter().copied().sum::<T>() * row.weight * (n + row.name.len()) as f64;
    rows.iter().enumerate().map(share).sum::<T>() * 0.001
}

struct Entry<T> {
    group: Rc<str>,
    value: T,
    parts: Vec<T>,
    id: u32,
}

/// Entries by group, and in each from the largest on; largest are those whose bits are.
pub fn grouped_entries<T: Number>(x: &[T]) -> T {
    let entry = |n: usize| {
        let value = x[n % x.len()] * (n + 1) as f64;
        Entry { group: format!("group {}", n % 4).into(), value, parts: vec![value * 0.5; n % 3 + 1], id: n as u32 }
    };
    let mut entries: Vec<Entry<T>> = (0..30).map(entry).collect();
    entries.sort_by(|a, b| a.group.cmp(&b.group).then(b.value.re().total_cmp(&a.value.re())));
    let groups = entries.chunk_by(|a, b| a.group == b.group);
    let sum = |of: &[Entry<T>]| of.iter().map(|e| e.value * (e.id + 1) as f64 + e.parts[0] * e.parts.len() as f64).sum::<T>();
    groups.enumerate().map(|(n, of)| sum(of) * of[n].value).sum::<T>() * 1e-4
}

/// Distances in a graph whose nodes are known by name.
pub fn named_graph<T: Number>(x: &[T]) -> T {
    let names: Vec<String> = (0..x.len()).map(|n| format!("node {n}")).collect();
    let mut edges: HashMap<String, Vec<(String, T)>> = HashMap::new();
    for (i, from) in names.iter().enumerate() {
        for (j, to) in names.iter().enumerate().filter(|(j, _)| (i * 7 + j) % 3 == 0 && i != *j) {
            edges.entry(from.clone()).or_default().push((to.clone(), x[i] * x[j] + 1.0));
        }
    }
    let mut distances: HashMap<String, T> = HashMap::from([(names[0].clone(), x[0])]);
    let mut open = vec![names[0].clone()];
    while let Some(name) = open.pop() {
        let distance = distances[&name];
        for (to, length) in edges.get(&name).into_iter().flatten() {
            if !distances.contains_key(to) {
                distances.insert(to.clone(), distance + *length);
                open.push(to.clone());
            }
        }
    }
    names.iter().enumerate().filter_map(|(n, name)| Some(*distances.get(name)? * (n + 1) as f64)).sum()
}

/// Sums by the bin that a number falls into; and prices of orders, the lowest first, which are taken as others come.
pub fn binned<T: Number>(x: &[T]) -> T {
    let mut bins: BTreeMap<i64, (usize, T)> = BTreeMap::new();
    for (n, v) in x.iter().enumerate() {
        let bin = bins.entry((v.re() * 7.3) as i64).or_insert((n, T::from(0.0)));
        bin.1 += *v * *v;
    }
    let (mut orders, mut sum): (BTreeMap<u64, Vec<T>>, T) = (BTreeMap::new(), T::from(0.0));
    for (n, v) in x.iter().cycle().take(24).enumerate() {
        if n % 3 > 0 {
            orders.entry((v.re() * 10.3) as u64).or_default().push(*v);
        } else if let Some((_, lowest)) = orders.pop_first() {
            sum += lowest[0] * *v;
        }
    }
    sum + bins.values().map(|(n, v)| v.sin() * *n as f64).sum::<T>()
}

/// Words beside numbers, by iterators of both; and a formula whose words name numbers.
pub fn words_and_numbers<T: Number>(x: &[T]) -> T {
    let scaled: T = "1.5, 2.5, 3.5".split(", ").zip(x).map(|(word, v)| *v * *v * word.parse::<f64>().unwrap()).sum();
    let functions = "sin exp sqrt".split_whitespace().zip(x).map(|(name, v)| match name {
        "sin" => v.sin(),
        "exp" => v.exp(),
        _ => v.sqrt(),
    });
    let term = |term: &str| term.split('*').map(|name| x[name[1..].parse::<usize>().unwrap()]).product::<T>();
    scaled * functions.sum::<T>() + "x0*x1+x2*x3".split('+').map(term).sum::<T>()
}

/// Functions that are called until one of them has enough, each with what it remembers.
pub fn called_back<T: Number>(x: &[T]) -> T {
    type Step<'a, T> = Box<dyn FnMut(&mut Vec<T>) -> bool + 'a>;
    let mut last = x[0];
    let grow = |v: &mut Vec<T>| {
        last *= x[1];
        v.push(last);
        v.len() < 7
    };
    let mix = |v: &mut Vec<T>| {
        v.push(v[0] * x[2]);
        true
    };
    let (mut steps, mut all): (Vec<Step<'_, T>>, Vec<T>) = (vec![Box::new(grow), Box::new(mix)], Vec::new());
    while steps.iter_mut().all(|step| step(&mut all)) {}
    drop(steps);
    all.iter().copied().sum::<T>() * last
}
