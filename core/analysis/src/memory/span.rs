//! Sets of offsets into the memory of a class: where an address may point.
//!
//! A span is an arithmetic progression `offset + n * stride`, with `n >= 0`, or with `n <= 0` where an index is a negated
//! number (the entries of a hash table lie before its control bytes), or with any `n` where addresses step both ways, or with a
//! few `n` where an address is one of some places: that of the left or of the right child of a node. A variable index widens a span by the size of its element. An element of an array inside of
//! a structure is taken to lie at or after the array's start, as C demands.
//!
//! Spans form a lattice of finite height under [`Span::join`] with [`Span::widened`]: strides only shrink to divisors, and
//! more than [`MOST`] places are no longer counted.

/// Places of an address that are counted; more are taken for an array.
const MOST: u64 = 4;

/// Where a span goes on from its offset.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Steps {
    /// To larger offsets.
    #[default]
    Up,
    /// To smaller ones.
    Down,
    /// To both.
    Both,
}

/// Where an address may point, in bytes from the origin of its class.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Span {
    /// The least offset; the largest, if they go down; any one, if both ways.
    pub offset: i64,
    /// Distance of the next; zero for a single offset.
    pub stride: u64,
    /// Where the others lie.
    pub way: Steps,
    /// How many offsets follow the first, if they are counted.
    pub further: Option<u8>,
}

/// The greatest common divisor; `gcd(0, n) = n`.
pub fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Span {
    /// One offset.
    pub fn at(offset: i64) -> Span {
        Span { offset, stride: 0, way: Steps::Up, further: None }
    }

    /// Every offset.
    pub fn anywhere() -> Span {
        Span { offset: 0, stride: 1, way: Steps::Both, further: None }
    }

    /// Where places lie that are counted from one of these: those before a place that steps down may lie on either side.
    pub fn back(self) -> Steps {
        if self.way == Steps::Up { Steps::Up } else { Steps::Both }
    }

    fn normal(self) -> Span {
        match (i64::try_from(self.stride), self.way) {
            (Ok(0), _) => Span { way: Steps::Up, ..self },
            (Ok(s), Steps::Both) => Span { offset: self.offset.rem_euclid(s), further: None, ..self },
            (_, Steps::Down | Steps::Both) => Span { further: None, ..self },
            (_, Steps::Up) => self,
        }
    }

    /// The least offset; `None` if there is none.
    fn first(self) -> Option<i64> {
        (self.stride == 0 || self.way == Steps::Up).then_some(self.offset)
    }

    /// The largest offset; `None` if there is none.
    fn last(self) -> Option<i64> {
        if self.stride == 0 || self.way == Steps::Down {
            return Some(self.offset);
        }
        let further = i64::from(self.further?);
        self.offset.checked_add(i64::try_from(self.stride).ok()?.checked_mul(further)?)
    }

    /// All offsets that are counted, each for itself.
    fn each(self) -> impl Iterator<Item = Span> {
        let further = self.further.filter(|_| self.stride != 0).map_or(0, i64::from);
        (0..=further).map(move |n| Span::at(self.offset.wrapping_add((self.stride as i64).wrapping_mul(n))))
    }

    /// Whether this goes both ways and has all offsets of `other`.
    pub fn covers(self, other: Span) -> bool {
        self.way == Steps::Both
            && self.stride != 0
            && other.stride.is_multiple_of(self.stride)
            && self.offset.abs_diff(other.offset).is_multiple_of(self.stride)
    }

    /// All offsets moved by `by`.
    pub fn shift(self, by: i64) -> Span {
        Span { offset: self.offset.wrapping_add(by), ..self }.normal()
    }

    /// All offsets and those at multiples of `by` from them, that way.
    pub fn step(self, by: u64, way: Steps) -> Span {
        if by == 0 {
            return self;
        }
        let stride = gcd(self.stride, by);
        let (offset, way) = match (self.first(), self.last(), way) {
            (Some(first), _, Steps::Up) => (first, Steps::Up),
            (_, Some(last), Steps::Down) => (last, Steps::Down),
            _ => (self.offset, Steps::Both),
        };
        Span { offset, stride, way, further: None }.normal()
    }

    /// Sums of an offset of `self` and one of `other`.
    pub fn plus(self, other: Span) -> Span {
        match (self.stride, other.stride) {
            (_, 0) => self.shift(other.offset),
            (0, _) => other.shift(self.offset),
            _ => self.shift(other.offset).step(other.stride, other.way),
        }
    }

    /// The least span with both sets.
    pub fn join(self, other: Span) -> Span {
        let apart = self.offset.abs_diff(other.offset);
        let stride = gcd(gcd(self.stride, other.stride), apart);
        let first = self.first().zip(other.first()).map(|(a, b)| a.min(b));
        let last = self.last().zip(other.last()).map(|(a, b)| a.max(b));
        let (offset, way) = match (first, last) {
            (Some(first), _) => (first, Steps::Up),
            (None, Some(last)) => (last, Steps::Down),
            (None, None) => (self.offset, Steps::Both),
        };
        let further = last.filter(|_| stride != 0 && way == Steps::Up).map(|last| last.abs_diff(offset) / stride);
        let further = further.filter(|n| *n <= MOST).map(|n| n as u8);
        Span { offset, stride, way, further }.normal()
    }

    /// The join with `new`, for a span that grows again and again: one that grows downwards twice has no least offset, and one that
    /// then grows upwards no largest.
    pub fn widened(self, new: Span) -> Span {
        let joined = self.join(new);
        let both = Span { way: Steps::Both, ..joined }.normal();
        match (self.way, joined.way) {
            _ if self.stride == 0 || joined.further.is_some() => joined,
            (Steps::Up, Steps::Up) if joined.offset < self.offset => match self.last() {
                Some(last) if new.last().is_some_and(|n| n <= last) => {
                    Span { offset: last, way: Steps::Down, ..joined }.normal()
                }
                _ => both,
            },
            (Steps::Down, Steps::Down) if joined.offset > self.offset => both,
            _ => joined,
        }
    }

    /// Whether `size` bytes at this span may share one with `other_size` bytes at `other`.
    pub fn overlaps(self, size: u64, other: Span, other_size: u64) -> bool {
        if self.further.is_some() {
            return self.each().any(|one| one.overlaps(size, other, other_size));
        }
        if other.further.is_some() {
            return other.each().any(|one| self.overlaps(size, one, other_size));
        }
        let (size, other_size) = (size.min(1 << 40) as i64, other_size.min(1 << 40) as i64);
        let distance = self.offset.wrapping_sub(other.offset);
        match i64::try_from(gcd(self.stride, other.stride)) {
            Ok(0) => return distance < other_size && distance.wrapping_add(size) > 0,
            Ok(period) => {
                let d = distance.rem_euclid(period);
                if d >= other_size && d + size <= period {
                    return false;
                }
            }
            Err(_) => return true,
        }
        // What lies wholly below the least offset, or above the largest, is not meant.
        let below = |one: Span, one_size: i64, many: Span| {
            one.last().zip(many.first()).is_some_and(|(last, first)| last.wrapping_add(one_size) <= first)
        };
        !below(self, size, other) && !below(other, other_size, self)
    }
}

#[cfg(test)]
mod tests {
    use super::{Span, Steps};

    fn every(offset: i64, stride: u64) -> Span {
        Span { offset, stride, way: Steps::Up, further: None }
    }

    fn few(offset: i64, stride: u64, further: u8) -> Span {
        Span { further: Some(further), ..every(offset, stride) }
    }

    #[test]
    fn joins_are_progressions() {
        assert_eq!(Span::at(8).join(Span::at(8)), Span::at(8));
        assert_eq!(Span::at(0).join(Span::at(8)), few(0, 8, 1));
        assert_eq!(few(0, 8, 1).join(Span::at(8)), few(0, 8, 1));
        assert_eq!(few(0, 8, 1).join(Span::at(24)), few(0, 8, 3));
        assert_eq!(few(0, 8, 1).join(Span::at(48)), every(0, 8));
        assert_eq!(few(0, 8, 1).step(8, Steps::Up), every(0, 8));
        assert_eq!(few(0, 8, 1).plus(Span::at(4)), few(4, 8, 1));
        assert_eq!(every(4, 16).join(Span::at(12)), every(4, 8));
        assert_eq!(every(0, 8).widened(Span::at(-8)), Span { way: Steps::Both, ..every(0, 8) });
        assert_eq!(Span::at(0).widened(Span::at(-8)), few(-8, 8, 1));
    }

    fn down(offset: i64, stride: u64) -> Span {
        Span { way: Steps::Down, ..every(offset, stride) }
    }

    #[test]
    fn some_go_down() {
        assert_eq!(Span::at(-8).step(16, Steps::Down), down(-8, 16));
        assert_eq!(down(-8, 16).shift(-8), down(-16, 16));
        assert_eq!(down(-8, 16).join(Span::at(-24)), down(-8, 16));
        assert_eq!(down(-8, 16).join(down(-16, 16)), down(-8, 8));
        assert_eq!(few(0, 8, 1).step(8, Steps::Down), down(8, 8));
        assert_eq!(down(0, 8).join(every(0, 8)), Span { way: Steps::Both, ..every(0, 8) });
        assert_eq!(few(-32, 8, 4).widened(Span::at(-40)), down(0, 8));
        assert_eq!(down(0, 8).widened(Span::at(8)), Span { way: Steps::Both, ..every(0, 8) });
        // What lies above the largest offset is not meant.
        assert!(!down(-8, 16).overlaps(8, Span::at(0), 8));
        assert!(!down(-8, 16).overlaps(8, every(0, 1), 1));
        assert!(down(-8, 16).overlaps(8, Span::at(-24), 8));
        assert!(!down(-8, 16).overlaps(8, Span::at(-16), 8));
        assert!(down(-8, 16).overlaps(16, every(0, 1), 1));
    }

    #[test]
    fn both_ways_cover_what_leaves_the_same() {
        let both = |offset| Span { way: Steps::Both, ..every(offset, 16) };
        assert!(both(8).covers(Span::at(-24)) && both(8).covers(down(24, 32)) && both(8).covers(few(8, 16, 2)));
        assert!(!both(8).covers(Span::at(16)) && !both(8).covers(every(8, 8)) && !every(8, 16).covers(Span::at(24)));
        assert!(Span::anywhere().covers(every(3, 8)) && !Span::at(8).covers(Span::at(8)));
    }

    #[test]
    fn overlaps_respect_residues_and_directions() {
        // An array of { int, double } from 0 on; its ints and its doubles.
        assert!(!every(0, 16).overlaps(4, every(8, 16), 8));
        assert!(every(0, 16).overlaps(12, every(8, 16), 8));
        // An array from 16 on does not reach the fields before it.
        assert!(!Span::at(8).overlaps(8, every(16, 8), 8));
        assert!(Span::at(24).overlaps(8, every(16, 8), 8));
        assert!(Span::at(8).overlaps(8, Span { way: Steps::Both, ..every(0, 8) }, 8));
        // The places of two children, and the field behind them.
        assert!(few(0, 8, 1).overlaps(8, Span::at(8), 8));
        assert!(!few(0, 8, 1).overlaps(8, Span::at(16), 8));
        assert!(!Span::at(16).overlaps(8, few(0, 8, 1), 8));
        assert!(few(0, 8, 1).overlaps(8, every(8, 16), 8));
        assert!(!Span::at(0).overlaps(4, Span::at(4), 4));
        assert!(every(0, 1).overlaps(1, every(100, 8), 8));
    }
}
