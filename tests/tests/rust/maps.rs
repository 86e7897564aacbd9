//! Tables by hash: keys of several kinds beside floats, that grow while they hold some, of which the next is made, of structures and of
//! vectors. Each function of `x` is differentiated.

use std::collections::{HashMap, HashSet};
const NAMES: [&str; 16] =
    ["mass", "speed", "drag", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"];
fn by_name(x: &[f64]) -> f64 {
    let mut table: HashMap<String, f64> = HashMap::new();
    for (name, v) in NAMES.iter().zip(x) {
        table.insert(name.to_string(), *v * *v);
    }
    *table.entry("mass".to_string()).or_insert(0.0) += x[1];
    let sum: f64 = table.values().sum();
    table["mass"] * table["speed"] - table.get("drag").copied().unwrap_or(1.0) + sum * sum
}
fn by_number(x: &[f64]) -> f64 {
    let mut table: HashMap<u32, f64> = HashMap::new();
    for (n, v) in x.iter().enumerate() {
        *table.entry(n as u32 * 7 % 13).or_insert(1.0) += *v * *v;
    }
    let sum: f64 = table.values().sum();
    (0..13).map(|k| table.get(&k).map_or(0.0, |v| v * (k as f64 + 1.0))).sum::<f64>() + sum * sum
}
// Grows while it holds numbers beside texts.
fn by_constant_name(x: &[f64]) -> f64 {
    let mut table: HashMap<&str, f64> = HashMap::new();
    for (name, v) in NAMES.iter().zip(x) {
        *table.entry(name).or_insert(0.5) += v.sin();
    }
    NAMES.iter().enumerate().map(|(n, name)| table[name] * table[name] * n as f64).sum()
}
// One table after the other, each made of the last.
fn by_cell(x: &[f64]) -> f64 {
    let mut cells: HashMap<(i32, i32), f64> = HashMap::new();
    for (n, v) in x.iter().enumerate() {
        *cells.entry((n as i32 * 3 % 4, n as i32 % 3)).or_default() += v;
    }
    for _ in 0..3 {
        let mut next: HashMap<(i32, i32), f64> = HashMap::with_capacity(cells.len());
        for (&(row, column), &v) in &cells {
            for (down, right) in [(0, 0), (1, 0), (0, 1)] {
                let share = 0.5 - 0.1 * (down + 2 * right) as f64;
                *next.entry(((row + down) % 5, (column + right) % 5)).or_insert(0.0) += v * share;
            }
        }
        cells = next;
    }
    let rows: HashSet<i32> = cells.keys().map(|cell| cell.0).collect();
    let mut places: Vec<_> = cells.keys().copied().collect();
    places.sort();
    places.iter().enumerate().map(|(n, cell)| cells[cell] * cells[cell] * (n as f64 + 1.0)).sum::<f64>() / rows.len() as f64
}
struct Group {
    weight: f64,
    members: usize,
}
fn groups(x: &[f64]) -> f64 {
    let mut table: HashMap<usize, Group> = HashMap::new();
    for (n, v) in x.iter().enumerate() {
        let group = table.entry(n % 5).or_insert(Group { weight: 0.0, members: 0 });
        group.weight += v * v;
        group.members += 1;
    }
    (0..5).map(|n| table[&n].weight.powi(2) / table[&n].members as f64).sum()
}
fn lists_by_name(x: &[f64]) -> f64 {
    let mut layers: HashMap<String, Vec<f64>> = HashMap::new();
    for (n, v) in x.iter().enumerate() {
        layers.entry(format!("layer{}", n % 3)).or_insert_with(Vec::new).push(*v);
    }
    (0..3)
        .map(|n| {
            let weights = layers.get(&format!("layer{n}")).map(|w| w.as_slice()).unwrap_or(&[]);
            weights.iter().enumerate().map(|(k, v)| v.powi(k as i32 % 3 + 1)).sum::<f64>() * (n + 1) as f64
        })
        .sum()
}
