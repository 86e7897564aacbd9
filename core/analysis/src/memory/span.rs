//! Sets of offsets into the memory of a class: where an address may point.
//!
//! A span is an arithmetic progression `offset + n * stride`, with `n >= 0`, or with any `n` where addresses are also
//! known to step backwards, or with a few `n` where an address is one of some places: that of the left or of the right
//! child of a node. A variable index widens a span by the size of its element. An element of an array inside of
//! a structure is taken to lie at or after the array's start, as C demands.
//!
//! Spans form a lattice of finite height under [`Span::join`] with [`Span::widened`]: strides only shrink to divisors, and
//! more than [`MOST`] places are no longer counted.

/// Places of an address that are counted; more are taken for an array.
const MOST: u64 = 4;

/// Where an address may point, in bytes from the origin of its class.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Span {
    /// The least offset (any one, if `both`).
    pub offset: i64,
    /// Distance of the next; zero for a single offset.
    pub stride: u64,
    /// Smaller offsets in steps of the stride are meant too.
    pub both: bool,
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
        Span { offset, stride: 0, both: false, further: None }
    }

    /// Every offset.
    pub fn anywhere() -> Span {
        Span { offset: 0, stride: 1, both: true, further: None }
    }

    fn normal(self) -> Span {
        match i64::try_from(self.stride) {
            Ok(s) if s > 0 && self.both => Span { offset: self.offset.rem_euclid(s), further: None, ..self },
            _ => Span { both: self.both && self.stride != 0, ..self },
        }
    }

    /// The largest offset; `None` if there is none.
    fn last(self) -> Option<i64> {
        let further = if self.stride == 0 { 0 } else { i64::from(self.further?) };
        self.offset.checked_add(i64::try_from(self.stride).ok()?.checked_mul(further)?)
    }

    /// All offsets that are counted, each for itself.
    fn each(self) -> impl Iterator<Item = Span> {
        let further = self.further.filter(|_| self.stride != 0).map_or(0, i64::from);
        (0..=further).map(move |n| Span::at(self.offset.wrapping_add((self.stride as i64).wrapping_mul(n))))
    }

    /// All offsets moved by `by`.
    pub fn shift(self, by: i64) -> Span {
        Span { offset: self.offset.wrapping_add(by), ..self }.normal()
    }

    /// All offsets and those at multiples of `by` from them.
    pub fn step(self, by: u64, both: bool) -> Span {
        if by == 0 {
            return self;
        }
        let stride = gcd(self.stride, by);
        Span { offset: self.offset, stride, both: self.both || both, further: None }.normal()
    }

    /// Sums of an offset of `self` and one of `other`.
    pub fn plus(self, other: Span) -> Span {
        match (self.stride, other.stride) {
            (_, 0) => self.shift(other.offset),
            (0, _) => other.shift(self.offset),
            _ => self.shift(other.offset).step(other.stride, other.both),
        }
    }

    /// The least span with both sets.
    pub fn join(self, other: Span) -> Span {
        let apart = self.offset.abs_diff(other.offset);
        let stride = gcd(gcd(self.stride, other.stride), apart);
        let (offset, both) = (self.offset.min(other.offset), self.both || other.both);
        let last = self.last().zip(other.last()).map(|(a, b)| a.max(b));
        let further = last.filter(|_| stride != 0 && !both).map(|last| last.abs_diff(offset) / stride);
        let further = further.filter(|n| *n <= MOST).map(|n| n as u8);
        Span { offset, stride, both, further }.normal()
    }

    /// The join with `new`, for a span that grows again and again: one that grows downwards twice has no least offset.
    pub fn widened(self, new: Span) -> Span {
        let joined = self.join(new);
        if self.stride != 0 && !self.both && joined.further.is_none() && joined.offset < self.offset {
            return Span { both: true, ..joined }.normal();
        }
        joined
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
        // Upwards only: what lies wholly below the start is not meant.
        let below = |one: Span, one_size: i64, many: Span| {
            one.stride == 0 && !many.both && one.offset.wrapping_add(one_size) <= many.offset
        };
        !below(self, size, other) && !below(other, other_size, self)
    }
}

#[cfg(test)]
mod tests {
    use super::Span;

    fn every(offset: i64, stride: u64) -> Span {
        Span { offset, stride, both: false, further: None }
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
        assert_eq!(few(0, 8, 1).step(8, false), every(0, 8));
        assert_eq!(few(0, 8, 1).plus(Span::at(4)), few(4, 8, 1));
        assert_eq!(every(4, 16).join(Span::at(12)), every(4, 8));
        assert_eq!(every(0, 8).widened(Span::at(-8)), Span { both: true, ..every(0, 8) });
        assert_eq!(Span::at(0).widened(Span::at(-8)), few(-8, 8, 1));
    }

    #[test]
    fn overlaps_respect_residues_and_directions() {
        // An array of { int, double } from 0 on; its ints and its doubles.
        assert!(!every(0, 16).overlaps(4, every(8, 16), 8));
        assert!(every(0, 16).overlaps(12, every(8, 16), 8));
        // An array from 16 on does not reach the fields before it.
        assert!(!Span::at(8).overlaps(8, every(16, 8), 8));
        assert!(Span::at(24).overlaps(8, every(16, 8), 8));
        assert!(Span::at(8).overlaps(8, Span { both: true, ..every(0, 8) }, 8));
        // The places of two children, and the field behind them.
        assert!(few(0, 8, 1).overlaps(8, Span::at(8), 8));
        assert!(!few(0, 8, 1).overlaps(8, Span::at(16), 8));
        assert!(!Span::at(16).overlaps(8, few(0, 8, 1), 8));
        assert!(few(0, 8, 1).overlaps(8, every(8, 16), 8));
        assert!(!Span::at(0).overlaps(4, Span::at(4), 4));
        assert!(every(0, 1).overlaps(1, every(100, 8), 8));
    }
}
