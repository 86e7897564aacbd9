//! Exact decimal digits of floats of every format.
//!
//! A float is `m * 2^e`. For `e >= 0` that is an integer; for `e < 0` it is `m * 5^-e / 10^-e`, again an integer with
//! the point moved. The digits of the integer come from division by powers of ten. Rounding is to nearest, ties to
//! even, on the exact digits. Cost is quadratic in the number of digits, at most 16 500.

use super::floats;
use crate::types::FloatKind;

/// A finite number that is not negative: `0.d1 d2 d3 ... * 10^point`, the first digit not zero; no digits is zero.
#[derive(Clone, Debug)]
pub(super) struct Decimal {
    digits: Vec<u8>,
    point: i64,
}

const CHUNK: u64 = 1_000_000_000;
const CHUNK_DIGITS: usize = 9;

fn multiply(words: &mut Vec<u32>, by: u32) {
    let mut carry = 0u64;
    for word in words.iter_mut() {
        let product = u64::from(*word) * u64::from(by) + carry;
        *word = product as u32;
        carry = product >> 32;
    }
    if carry > 0 {
        words.push(carry as u32);
    }
}

/// Divides by a chunk; the remainder.
fn divide(words: &mut Vec<u32>) -> u64 {
    let mut rest = 0u64;
    for word in words.iter_mut().rev() {
        let value = (rest << 32) | u64::from(*word);
        *word = (value / CHUNK) as u32;
        rest = value % CHUNK;
    }
    while words.last() == Some(&0) {
        words.pop();
    }
    rest
}

impl Decimal {
    /// The digits of a finite float, its sign dropped.
    pub fn new(kind: FloatKind, bits: u128) -> Decimal {
        let wide = floats::convert(kind, FloatKind::Fp128, bits);
        let exponent = ((wide >> 112) & 0x7fff) as i64;
        let fraction = wide & ((1 << 112) - 1);
        let mantissa = if exponent == 0 { fraction } else { fraction | (1 << 112) };
        if mantissa == 0 {
            return Decimal { digits: Vec::new(), point: 0 };
        }
        let zeros = mantissa.trailing_zeros();
        let mantissa = mantissa >> zeros;
        let scale = exponent.max(1) - 16_383 - 112 + i64::from(zeros);
        let mut words: Vec<u32> = (0..4).map(|i| (mantissa >> (32 * i)) as u32).collect();
        for _ in 0..scale.unsigned_abs() {
            multiply(&mut words, if scale > 0 { 2 } else { 5 });
        }
        while words.last() == Some(&0) {
            words.pop();
        }
        let mut digits = Vec::new();
        while !words.is_empty() {
            let mut chunk = divide(&mut words);
            for _ in 0..CHUNK_DIGITS {
                digits.push((chunk % 10) as u8);
                chunk /= 10;
            }
        }
        while digits.last() == Some(&0) {
            digits.pop();
        }
        digits.reverse();
        let point = digits.len() as i64 - if scale < 0 { -scale } else { 0 };
        Decimal { digits, point }
    }

    /// Rounded to `keep` digits; fewer than none give zero.
    fn rounded(&self, keep: i64) -> Decimal {
        let Ok(keep) = usize::try_from(keep) else { return Decimal { digits: Vec::new(), point: self.point } };
        let Some((next, tail)) = self.digits.get(keep..).and_then(<[u8]>::split_first) else { return self.clone() };
        let mut digits = self.digits.get(..keep).unwrap_or(&[]).to_vec();
        let odd = digits.last().is_some_and(|d| d % 2 == 1);
        let up = *next > 5 || (*next == 5 && (odd || tail.iter().any(|d| *d != 0)));
        let mut point = self.point;
        if up {
            while digits.last() == Some(&9) {
                digits.pop();
            }
            match digits.last_mut() {
                Some(last) => *last += 1,
                None => {
                    digits.push(1);
                    point += 1;
                }
            }
        }
        Decimal { digits, point }
    }

    fn digit(&self, i: i64) -> char {
        let found = usize::try_from(i).ok().and_then(|i| self.digits.get(i));
        char::from(b'0' + found.copied().unwrap_or(0))
    }

    /// With `precision` digits after the point.
    pub fn fixed(&self, precision: usize, always_point: bool) -> String {
        let rounded = self.rounded(self.point + precision as i64);
        let whole = if rounded.digits.is_empty() { 0 } else { rounded.point.max(0) };
        let first = if rounded.digits.is_empty() { 0 } else { rounded.point };
        let mut text: String = (0..whole).map(|i| rounded.digit(i)).collect();
        if text.is_empty() {
            text.push('0');
        }
        if precision > 0 || always_point {
            text.push('.');
        }
        text.extend((0..precision as i64).map(|i| rounded.digit(first + i)));
        text
    }

    /// One digit, the point, `precision` digits; and the power of ten.
    pub fn scientific(&self, precision: usize, always_point: bool) -> (String, i64) {
        let rounded = self.rounded(precision as i64 + 1);
        let mut text = String::from(rounded.digit(0));
        if precision > 0 || always_point {
            text.push('.');
        }
        text.extend((1..=precision as i64).map(|i| rounded.digit(i)));
        (text, if rounded.digits.is_empty() { 0 } else { rounded.point - 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(value: f64) -> Decimal {
        Decimal::new(FloatKind::Double, u128::from(value.to_bits()))
    }

    #[test]
    fn agrees_with_the_standard_library() {
        let values = [0.0, 1.0, 0.5, 1.5, 2.5, 0.1, 9.995, 99.5, 1e22, 5e-324, f64::MAX, 1e-5, 123456.789, 0.05, 0.04];
        for value in values {
            for precision in [0, 1, 2, 5, 17, 40] {
                assert_eq!(decimal(value).fixed(precision, false), format!("{value:.precision$}"));
                let (text, exponent) = decimal(value).scientific(precision, false);
                assert_eq!(format!("{text}e{exponent}"), format!("{value:.precision$e}"));
            }
        }
    }

    #[test]
    fn long_doubles_have_more_digits() {
        // The square root of two in 64 bits of precision.
        let root = Decimal::new(FloatKind::X86Fp80, 0x3fff_b504_f333_f9de_6484);
        assert_eq!(root.fixed(18, false), "1.414213562373095049");
        let least = Decimal::new(FloatKind::X86Fp80, 1);
        assert_eq!(least.scientific(6, false), ("3.645200".to_owned(), -4951));
    }
}
