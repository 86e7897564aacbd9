//! Type trees: what compilers state of the bytes of a value, and of those behind the addresses in it.
//!
//! A tree is a map from paths of offsets to types. `[8]` is byte 8 of the value, `[8,0]` byte 0 behind the address there; -1 stands for
//! every offset, the empty path for the value as a whole. The operations are those of the reference system's C interface, on our
//! own representation; texts have its form: `{[-1]:Pointer, [-1,0]:Float@double}`.
//!
//! Invariants: of two paths of a length, one of which covers the other, only the wider is kept unless their types differ; then one is
//! `Anything`, which goes with all types. Paths are no longer than `Limits::depth`, and offsets beyond `Limits::offset` are not kept.
//!
//! Integers of several bytes are entries for each byte. Not handled: types of unions beside `Anything`.

use std::collections::BTreeMap;
use std::fmt;

use enzyme_ir::DataLayout;

/// What bytes are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Concrete {
    /// Whatever they are used as.
    Anything,
    /// Part of an integer.
    Integer,
    /// An address.
    Pointer,
    /// `half`.
    Half,
    /// `float`.
    Float,
    /// `double`.
    Double,
    /// Not known.
    Unknown,
    /// `x86_fp80`.
    Fp80,
    /// `bfloat`.
    BFloat16,
    /// `fp128`.
    Fp128,
}

const NAMES: [(Concrete, &str); 10] = [
    (Concrete::Anything, "Anything"),
    (Concrete::Integer, "Integer"),
    (Concrete::Pointer, "Pointer"),
    (Concrete::Half, "Float@half"),
    (Concrete::Float, "Float@float"),
    (Concrete::Double, "Float@double"),
    (Concrete::Unknown, "Unknown"),
    (Concrete::Fp80, "Float@fp80"),
    (Concrete::BFloat16, "Float@bf16"),
    (Concrete::Fp128, "Float@fp128"),
];

impl Concrete {
    /// The type of a number of the C interface.
    pub fn from_number(n: u32) -> Option<Concrete> {
        NAMES.get(n as usize).map(|row| row.0)
    }

    /// Its number there.
    pub fn number(self) -> u32 {
        NAMES.iter().position(|row| row.0 == self).unwrap_or(0) as u32
    }

    /// Its name in texts.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|row| row.0 == self).map_or("Unknown", |row| row.1)
    }

    /// The type of a name.
    pub fn from_name(name: &str) -> Option<Concrete> {
        NAMES.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// Bytes from one such value to the next in an array.
    fn stride(self, pointer: i64) -> i64 {
        match self {
            Concrete::Pointer => pointer,
            Concrete::Half | Concrete::BFloat16 => 2,
            Concrete::Float => 4,
            Concrete::Double => 8,
            Concrete::Fp80 => 10,
            Concrete::Fp128 => 16,
            Concrete::Anything | Concrete::Integer | Concrete::Unknown => 1,
        }
    }

    /// What is true of bytes of which both are stated.
    fn join(self, other: Concrete) -> Option<Concrete> {
        match (self, other) {
            (a, b) if a == b => Some(a),
            (Concrete::Anything, _) | (_, Concrete::Anything) => Some(Concrete::Anything),
            (Concrete::Unknown, known) | (known, Concrete::Unknown) => Some(known),
            _ => None,
        }
    }
}

/// Two statements that cannot both be true.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contradiction {
    /// Where.
    pub path: Vec<i64>,
    /// What the tree says.
    pub is: Concrete,
    /// What is stated beside.
    pub stated: Concrete,
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, is, stated) = (path_text(&self.path), self.is.name(), self.stated.name());
        write!(f, "{path} is {is} and cannot be {stated}")
    }
}

/// How much trees hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The largest offset that is kept.
    pub offset: i64,
    /// The longest path.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { offset: 500, depth: 6 }
    }
}

/// A type tree.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct TypeTree {
    entries: BTreeMap<Vec<i64>, Concrete>,
}

fn path_text(path: &[i64]) -> String {
    let offsets: Vec<String> = path.iter().map(i64::to_string).collect();
    format!("[{}]", offsets.join(","))
}

impl fmt::Display for TypeTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries: Vec<String> =
            self.entries.iter().map(|(path, ty)| format!("{}:{}", path_text(path), ty.name())).collect();
        write!(f, "{{{}}}", entries.join(", "))
    }
}

/// Whether `wide` covers every place of `narrow`.
fn covers(wide: &[i64], narrow: &[i64]) -> bool {
    wide.len() == narrow.len() && wide.iter().zip(narrow).all(|(w, n)| *w == -1 || w == n)
}

fn prefixed(first: i64, rest: &[i64]) -> Vec<i64> {
    std::iter::once(first).chain(rest.iter().copied()).collect()
}

/// The size of an address.
fn pointer_size(layout: &str) -> i64 {
    let bytes = i64::from(DataLayout::parse(layout).pointer_bits(0) / 8);
    if bytes > 0 { bytes } else { 8 }
}

impl TypeTree {
    /// A tree that says `ty` of the value as a whole; nothing if that is not known.
    pub fn of(ty: Concrete) -> TypeTree {
        let entries = (ty != Concrete::Unknown).then(|| (Vec::new(), ty)).into_iter().collect();
        TypeTree { entries }
    }

    /// What is stated, path by path.
    pub fn entries(&self) -> impl Iterator<Item = (&[i64], Concrete)> {
        self.entries.iter().map(|(path, ty)| (path.as_slice(), *ty))
    }

    /// What is stated of a path, or of a wider one.
    pub fn get(&self, path: &[i64]) -> Concrete {
        let exact = self.entries.get(path).copied();
        let wider = || self.entries.iter().find(|(p, _)| covers(p, path)).map(|e| *e.1);
        exact.or_else(wider).unwrap_or(Concrete::Unknown)
    }

    /// States `ty` of `path`; whether that is new.
    pub fn insert(&mut self, path: &[i64], ty: Concrete, limits: Limits) -> Result<bool, Contradiction> {
        let too_far = path.iter().any(|at| *at < -1 || *at > limits.offset);
        if ty == Concrete::Unknown || path.len() > limits.depth || too_far {
            return Ok(false);
        }
        // What lies behind something must lie behind an address; what may be anything is said already.
        for n in 0..path.len() {
            match self.get(&path[..n]) {
                Concrete::Pointer | Concrete::Unknown => {}
                Concrete::Anything => return Ok(false),
                is => return Err(Contradiction { path: path[..n].to_vec(), is, stated: Concrete::Pointer }),
            }
        }
        let alike = |p: &[i64]| covers(p, path) || covers(path, p);
        let met: Vec<(Vec<i64>, Concrete)> =
            self.entries.iter().filter(|(p, _)| alike(p)).map(|(p, t)| (p.clone(), *t)).collect();
        for (at, is) in &met {
            if ty.join(*is).is_none() {
                return Err(Contradiction { path: at.clone(), is: *is, stated: ty });
            }
        }
        if met.iter().any(|(at, is)| covers(at, path) && (*is == ty || *is == Concrete::Anything)) {
            return Ok(false);
        }
        for (at, is) in met {
            if covers(path, &at) && (is == ty || ty == Concrete::Anything) {
                self.entries.remove(&at);
            }
        }
        if ty == Concrete::Anything {
            // Nothing more is said of what lies behind.
            let behind = |p: &[i64]| p.len() > path.len() && covers(path, &p[..path.len()]);
            self.entries.retain(|p, _| !behind(p));
        }
        self.entries.insert(path.to_vec(), ty);
        Ok(true)
    }

    /// States all that `other` does; whether anything is new. On a contradiction nothing changes.
    pub fn merge(&mut self, other: &TypeTree, limits: Limits) -> Result<bool, Contradiction> {
        let mut merged = self.clone();
        let mut changed = false;
        for (path, ty) in &other.entries {
            changed |= merged.insert(path, *ty, limits)?;
        }
        *self = merged;
        Ok(changed)
    }

    /// The tree of what holds this one at `offset`.
    pub fn only(&self, offset: i64, limits: Limits) -> TypeTree {
        let kept = self.entries.iter().filter(|(path, _)| path.len() < limits.depth);
        TypeTree { entries: kept.map(|(path, ty)| (prefixed(offset, path), *ty)).collect() }
    }

    /// The tree of what this one holds at offset 0.
    pub fn data0(&self, limits: Limits) -> Result<TypeTree, Contradiction> {
        let mut out = TypeTree::default();
        for first in [-1, 0] {
            for (path, ty) in self.entries.iter().filter(|(path, _)| path.first() == Some(&first)) {
                out.insert(&path[1..], *ty, limits)?;
            }
        }
        Ok(out)
    }

    /// What the value at offset 0 is.
    pub fn inner0(&self) -> Concrete {
        let (all, first) = (self.get(&[-1]), self.get(&[0]));
        all.join(first).unwrap_or(first)
    }

    /// What lies behind the value, if that is an address: each run of bytes of one type, with its offset, or -1 if it lies
    /// everywhere. Of bytes that may be anything nothing is said, nor what is true of all bytes but some.
    pub fn behind(&self) -> Vec<(Concrete, i64, u64)> {
        let mut found: Vec<(i64, Concrete)> = Vec::new();
        for (path, ty) in &self.entries {
            if let [0 | -1, offset] = path[..] {
                found.push((offset, *ty));
            }
        }
        found.sort();
        found.dedup();
        let everywhere = found.len() == 1;
        let is_open = |at: i64| found.contains(&(at, Concrete::Anything));
        let found: Vec<(i64, Concrete)> =
            found.iter().copied().filter(|(at, _)| !is_open(*at) && !is_open(-1)).collect();
        let mut out: Vec<(Concrete, i64, u64)> = Vec::new();
        for (offset, ty) in found {
            match (out.last_mut(), offset) {
                (_, -1) if everywhere => out.push((ty, -1, 0)),
                (_, -1) => {}
                (Some((Concrete::Integer, first, bytes)), at)
                    if ty == Concrete::Integer && *first + *bytes as i64 == at =>
                {
                    *bytes += 1;
                }
                _ => out.push((ty, offset, ty.stride(8) as u64)),
            }
        }
        out
    }

    /// The tree of the `size` bytes behind the address at offset 0.
    pub fn lookup(&self, size: i64, layout: &str, limits: Limits) -> Result<TypeTree, Contradiction> {
        let mut behind = TypeTree::default();
        for (path, ty) in &self.entries {
            if path.len() < 2 || !matches!(path[0], 0 | -1) || path[1] >= size {
                continue;
            }
            behind.insert(&path[1..], *ty, limits)?;
        }
        behind.canonicalise(size, layout, limits)?;
        Ok(behind)
    }

    /// Writes -1 where every offset below `size` says the same.
    pub fn canonicalise(&mut self, size: i64, layout: &str, limits: Limits) -> Result<(), Contradiction> {
        let pointer = pointer_size(layout);
        let mut groups: BTreeMap<(Vec<i64>, Concrete), Vec<i64>> = BTreeMap::new();
        for (path, ty) in &self.entries {
            if let Some((first, rest)) = path.split_first() {
                groups.entry((rest.to_vec(), *ty)).or_default().push(*first);
            }
        }
        let whole = |rest: &[i64], ty: Concrete, offsets: &[i64]| {
            // What has more behind it is an address.
            let step = if rest.is_empty() { ty.stride(pointer) } else { pointer };
            size > 0 && !offsets.contains(&-1) && (0..size).step_by(step as usize).all(|at| offsets.contains(&at))
        };
        let mut out = TypeTree::default();
        let mut wide = Vec::new();
        for ((rest, ty), offsets) in &groups {
            if whole(rest, *ty, offsets) {
                wide.push((prefixed(-1, rest), *ty));
            } else {
                out.entries.extend(offsets.iter().map(|at| (prefixed(*at, rest), *ty)));
            }
        }
        out.entries.extend(self.entries.get(&Vec::new()).map(|ty| (Vec::new(), *ty)));
        // Shorter paths first: what lies behind is stated of addresses.
        wide.sort();
        for (path, ty) in wide {
            out.insert(&path, ty, limits)?;
        }
        *self = out;
        Ok(())
    }

    /// The tree of the bytes from `offset` on, `size` of them or all if it is -1, moved to `to`.
    pub fn shift(
        &self,
        layout: &str,
        offset: i64,
        size: i64,
        to: i64,
        limits: Limits,
    ) -> Result<TypeTree, Contradiction> {
        let deep = self.entries.keys().any(|path| !path.is_empty());
        if !deep {
            return Ok(self.clone());
        }
        let mut out = TypeTree::default();
        if size == 0 {
            return Ok(out);
        }
        let pointer = pointer_size(layout);
        for (path, ty) in &self.entries {
            let Some((first, rest)) = path.split_first() else {
                out.insert(&[], *ty, limits)?;
                continue;
            };
            match (*first, size) {
                (-1, -1) => {
                    // All of what begins at `to` cannot be said.
                    out.insert(&prefixed(if to == 0 { -1 } else { to }, rest), *ty, limits)?;
                }
                (-1, _) => {
                    let step = self.get(&[-1]).stride(pointer);
                    let start = (step - offset.rem_euclid(step)) % step;
                    let end = size.min(limits.offset.saturating_add(1));
                    for at in (start..end).step_by(step as usize) {
                        out.insert(&prefixed(at.saturating_add(to), rest), *ty, limits)?;
                    }
                }
                (at, _) if at < offset || (size != -1 && at - offset >= size) => {}
                (at, _) => {
                    out.insert(&prefixed((at - offset).saturating_add(to), rest), *ty, limits)?;
                }
            }
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUT: &str = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128";

    fn tree(entries: &[(&[i64], Concrete)]) -> TypeTree {
        let mut out = TypeTree::default();
        for (path, ty) in entries {
            out.insert(path, *ty, Limits::default()).unwrap();
        }
        out
    }

    #[test]
    fn texts_are_those_of_the_reference() {
        let doubles = tree(&[(&[-1], Concrete::Pointer), (&[-1, 0], Concrete::Double)]);
        assert_eq!(doubles.to_string(), "{[-1]:Pointer, [-1,0]:Float@double}");
        assert_eq!(TypeTree::default().to_string(), "{}");
        assert_eq!(TypeTree::of(Concrete::Fp80).to_string(), "{[]:Float@fp80}");
        assert_eq!(TypeTree::of(Concrete::Unknown), TypeTree::default());
        for (n, (ty, name)) in NAMES.iter().enumerate() {
            assert_eq!(Concrete::from_number(n as u32), Some(*ty));
            assert_eq!(ty.number(), n as u32);
            assert_eq!(Concrete::from_name(name), Some(*ty));
        }
        assert_eq!(Concrete::from_number(10), None);
    }

    #[test]
    fn wider_paths_swallow_narrower_ones() {
        let mut t = tree(&[(&[0], Concrete::Double), (&[8], Concrete::Double)]);
        assert_eq!(t.insert(&[-1], Concrete::Double, Limits::default()), Ok(true));
        assert_eq!(t.to_string(), "{[-1]:Float@double}");
        assert_eq!(t.insert(&[16], Concrete::Double, Limits::default()), Ok(false));
        assert_eq!(t.get(&[16]), Concrete::Double);
    }

    #[test]
    fn contradictions_change_nothing() {
        let mut t = tree(&[(&[-1], Concrete::Double)]);
        let other = tree(&[(&[0], Concrete::Double), (&[8], Concrete::Integer)]);
        let why = t.merge(&other, Limits::default()).unwrap_err();
        assert_eq!(why.to_string(), "[-1] is Float@double and cannot be Integer");
        assert_eq!(t.to_string(), "{[-1]:Float@double}");
        let mut t = tree(&[(&[0], Concrete::Integer)]);
        assert!(t.insert(&[0, 0], Concrete::Double, Limits::default()).is_err());
    }

    #[test]
    fn anything_goes_with_all() {
        let mut t = tree(&[(&[-1], Concrete::Pointer), (&[-1, 0], Concrete::Double)]);
        assert_eq!(t.merge(&tree(&[(&[-1], Concrete::Anything)]), Limits::default()), Ok(true));
        assert_eq!(t.to_string(), "{[-1]:Anything}");
        let mut t = tree(&[(&[-1], Concrete::Double)]);
        assert_eq!(t.insert(&[8], Concrete::Anything, Limits::default()), Ok(true));
        assert_eq!(t.to_string(), "{[-1]:Float@double, [8]:Anything}");
    }

    #[test]
    fn what_lies_behind_comes_in_runs() {
        use Concrete::{Anything, Double, Integer, Pointer};
        let t = tree(&[
            (&[-1], Pointer),
            (&[-1, 0], Double),
            (&[-1, 8], Integer),
            (&[-1, 9], Integer),
            (&[-1, 16], Pointer),
        ]);
        assert_eq!(t.behind(), [(Double, 0, 8), (Integer, 8, 2), (Pointer, 16, 8)]);
        assert_eq!(tree(&[(&[0], Pointer), (&[0, 0], Pointer), (&[0, 0, 0], Double)]).behind(), [(Pointer, 0, 8)]);
        assert_eq!(tree(&[(&[0], Pointer), (&[0, -1], Double)]).behind(), [(Double, -1, 0)]);
        assert_eq!(tree(&[(&[0], Pointer), (&[0, -1], Double), (&[0, 8], Anything)]).behind(), []);
        assert_eq!(TypeTree::of(Double).behind(), []);
    }

    #[test]
    fn only_and_data0_undo_each_other() {
        let t = tree(&[(&[0], Concrete::Pointer), (&[0, -1], Concrete::Float)]);
        let held = t.only(0, Limits::default());
        assert_eq!(held.to_string(), "{[0,0]:Pointer, [0,0,-1]:Float@float}");
        assert_eq!(held.data0(Limits::default()), Ok(t.clone()));
        assert_eq!(t.inner0(), Concrete::Pointer);
        let whole = TypeTree::of(Concrete::Double).only(-1, Limits::default());
        assert_eq!(whole.to_string(), "{[-1]:Float@double}");
        assert_eq!(whole.inner0(), Concrete::Double);
        assert_eq!(whole.data0(Limits::default()).unwrap().to_string(), "{[]:Float@double}");
    }

    #[test]
    fn lookup_sees_what_lies_behind() {
        let t = tree(&[
            (&[-1], Concrete::Pointer),
            (&[-1, 0], Concrete::Double),
            (&[-1, 8], Concrete::Double),
            (&[-1, 16], Concrete::Integer),
        ]);
        assert_eq!(t.lookup(16, LAYOUT, Limits::default()).unwrap().to_string(), "{[-1]:Float@double}");
        assert_eq!(
            t.lookup(24, LAYOUT, Limits::default()).unwrap().to_string(),
            "{[0]:Float@double, [8]:Float@double, [16]:Integer}"
        );
        // Addresses with what lies behind them.
        let t = tree(&[(&[-1], Concrete::Pointer), (&[-1, 0], Concrete::Pointer), (&[-1, 0, 4], Concrete::Float)]);
        assert_eq!(t.lookup(8, LAYOUT, Limits::default()).unwrap().to_string(), "{[-1]:Pointer, [-1,4]:Float@float}");
    }

    #[test]
    fn canonical_trees_cover_all_offsets() {
        let mut t = tree(&[(&[0], Concrete::Float), (&[4], Concrete::Float)]);
        t.canonicalise(8, LAYOUT, Limits::default()).unwrap();
        assert_eq!(t.to_string(), "{[-1]:Float@float}");
        let mut t = tree(&[(&[0], Concrete::Float), (&[8], Concrete::Float)]);
        t.canonicalise(12, LAYOUT, Limits::default()).unwrap();
        assert_eq!(t.to_string(), "{[0]:Float@float, [8]:Float@float}");
    }

    #[test]
    fn shifts_clip_and_move() {
        let t = tree(&[(&[0], Concrete::Double), (&[8], Concrete::Integer), (&[16], Concrete::Float)]);
        assert_eq!(t.shift(LAYOUT, 8, -1, 0, Limits::default()).unwrap().to_string(), "{[0]:Integer, [8]:Float@float}");
        assert_eq!(t.shift(LAYOUT, 8, 8, 32, Limits::default()).unwrap().to_string(), "{[32]:Integer}");
        let all = tree(&[(&[-1], Concrete::Double)]);
        assert_eq!(
            all.shift(LAYOUT, 0, 16, 8, Limits::default()).unwrap().to_string(),
            "{[8]:Float@double, [16]:Float@double}"
        );
        assert_eq!(all.shift(LAYOUT, 4, 12, 0, Limits::default()).unwrap().to_string(), "{[4]:Float@double}");
        assert_eq!(all.shift(LAYOUT, 4, -1, 0, Limits::default()).unwrap().to_string(), "{[-1]:Float@double}");
        assert_eq!(all.shift(LAYOUT, 0, 0, 0, Limits::default()).unwrap(), TypeTree::default());
        let whole = TypeTree::of(Concrete::Pointer);
        assert_eq!(whole.shift(LAYOUT, 8, 8, 0, Limits::default()).unwrap(), whole);
    }

    #[test]
    fn limits_hold() {
        let limits = Limits { offset: 16, depth: 2 };
        let mut t = TypeTree::default();
        assert_eq!(t.insert(&[24], Concrete::Double, limits), Ok(false));
        assert_eq!(t.insert(&[0, 0, 0], Concrete::Double, limits), Ok(false));
        assert_eq!(t.insert(&[16], Concrete::Double, limits), Ok(true));
        // As many entries as there are offsets, however large the size that is asked for.
        let all = tree(&[(&[-1], Concrete::Double)]);
        assert_eq!(all.shift(LAYOUT, 0, i64::MAX, 0, limits).unwrap().entries().count(), 3);
    }
}
