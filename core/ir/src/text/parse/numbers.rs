//! Values of numeric tokens.

use smallvec::SmallVec;

use crate::float::{from_f64, to_f64};
use crate::types::FloatKind;

/// Bits of an integer type beyond which literals are refused; only `zeroinitializer` and the like may stand there.
pub(super) const MAX_LITERAL_BITS: u32 = 1 << 16;

/// Two's complement words of an integer token in `bits` bits; `None` if it does not fit.
pub(super) fn int_words(text: &str, bits: u32) -> Option<SmallVec<[u64; 2]>> {
    if bits == 0 || bits > MAX_LITERAL_BITS {
        return None;
    }
    let count = bits.div_ceil(64) as usize;
    let mut words: SmallVec<[u64; 2]> = SmallVec::from_elem(0, count);
    let top_mask = if bits.is_multiple_of(64) { u64::MAX } else { (1u64 << (bits % 64)) - 1 };
    let is_hex_signed = text.starts_with("s0x");
    if let Some(hex) = text.strip_prefix("u0x").or_else(|| text.strip_prefix("s0x")) {
        for (i, c) in hex.bytes().rev().enumerate() {
            let digit = u64::from((c as char).to_digit(16)?);
            match words.get_mut(i / 16) {
                Some(w) => *w |= digit << (i % 16 * 4),
                None if digit == 0 => {}
                None => return None,
            }
        }
        if words[count - 1] & !top_mask != 0 {
            return None;
        }
        let width = (hex.len() as u32 * 4).min(bits);
        let sign = (words[((width - 1) / 64) as usize] >> ((width - 1) % 64)) & 1;
        if is_hex_signed && sign == 1 {
            for bit in width..bits {
                words[(bit / 64) as usize] |= 1 << (bit % 64);
            }
        }
        return Some(words);
    }
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |d| (true, d));
    for chunk in digits.as_bytes().chunks(18) {
        let mut carry = chunk.iter().try_fold(0u64, |n, c| Some(n * 10 + u64::from((*c as char).to_digit(10)?)))?;
        let scale = 10u128.pow(chunk.len() as u32);
        for w in &mut words {
            let wide = u128::from(*w) * scale + u128::from(carry);
            (*w, carry) = (wide as u64, (wide >> 64) as u64);
        }
        if carry != 0 || words[count - 1] & !top_mask != 0 {
            return None;
        }
    }
    if negative {
        // The magnitude may be as large as the sign bit alone.
        let sign_bit = 1u64 << ((bits - 1) % 64);
        let lower_is_zero = words[..count - 1].iter().all(|w| *w == 0) && words[count - 1] & (sign_bit - 1) == 0;
        if words[count - 1] & sign_bit != 0 && !lower_is_zero {
            return None;
        }
        let mut carry = true;
        for w in &mut words {
            (*w, carry) = (!*w).overflowing_add(u64::from(carry));
        }
        words[count - 1] &= top_mask;
    }
    Some(words)
}

/// The bits of a float token in the format `kind`.
pub(super) fn float_bits(text: &str, kind: FloatKind) -> Result<u128, &'static str> {
    let Some(hex) = text.strip_prefix("0x") else {
        let value: f64 = text.parse().map_err(|_| "not a number")?;
        return narrowed(value, kind);
    };
    let letter = hex.bytes().next().filter(|c| !c.is_ascii_hexdigit());
    let digits = hex.get(usize::from(letter.is_some())..).unwrap_or("");
    let word = |from: usize, to: usize| {
        let text = digits.get(from..to.min(digits.len())).unwrap_or("");
        if text.is_empty() { 0 } else { u64::from_str_radix(text, 16).unwrap_or(0) }
    };
    let expected = match letter {
        None => None,
        Some(b'H') => Some((FloatKind::Half, 4)),
        Some(b'R') => Some((FloatKind::BFloat, 4)),
        Some(b'K') => Some((FloatKind::X86Fp80, 20)),
        Some(b'L') => Some((FloatKind::Fp128, 32)),
        Some(_) => Some((FloatKind::PpcFp128, 32)),
    };
    match expected {
        Some((k, _)) if k != kind => Err("hexadecimal float of another format"),
        Some((_, limit)) if digits.len() > limit => Err("too many hexadecimal digits"),
        Some((FloatKind::Half | FloatKind::BFloat, _)) => Ok(u128::from(word(0, 4))),
        Some((FloatKind::X86Fp80, _)) => Ok(u128::from(word(0, 4)) << 64 | u128::from(word(4, 20))),
        Some(_) => Ok(u128::from(word(16, 32)) << 64 | u128::from(word(0, 16))),
        None if digits.len() > 16 => Err("too many hexadecimal digits"),
        None => {
            let bits = word(0, 16);
            let value = f64::from_bits(bits);
            match kind {
                FloatKind::Double => Ok(u128::from(bits)),
                FloatKind::Float if value.is_nan() => {
                    let payload = bits >> 29 & 0x7f_ffff;
                    if payload == 0 || bits << 35 != 0 {
                        return Err("not exactly representable in its type");
                    }
                    Ok(u128::from(bits >> 63 << 31 | 0xff << 23 | payload))
                }
                _ => narrowed(value, kind),
            }
        }
    }
}

/// The encoding of `value`, which must be exact, as LLVM demands.
fn narrowed(value: f64, kind: FloatKind) -> Result<u128, &'static str> {
    let bits = from_f64(kind, value);
    let back = to_f64(kind, bits);
    if back.to_bits() == value.to_bits() || back.is_nan() && value.is_nan() {
        Ok(bits)
    } else {
        Err("not exactly representable in its type")
    }
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    #[test]
    fn integers_of_any_width() {
        for (text, bits, expect) in [
            ("255", 8, Some(vec![255])),
            ("-1", 8, Some(vec![255])),
            ("-128", 8, Some(vec![128])),
            ("-129", 8, None),
            ("256", 8, None),
            ("-1", 1, Some(vec![1])),
            ("-1", 65, Some(vec![u64::MAX, 1])),
            ("18446744073709551616", 65, Some(vec![0, 1])),
            ("-18446744073709551616", 65, Some(vec![0, 1])),
            ("-18446744073709551617", 65, None),
            ("340282366920938463463374607431768211455", 128, Some(vec![u64::MAX, u64::MAX])),
            ("u0xFF", 16, Some(vec![255])),
            ("s0xFF", 16, Some(vec![0xffff])),
            ("u0x1FF", 8, None),
            ("1", MAX_LITERAL_BITS + 1, None),
        ] {
            assert_eq!(int_words(text, bits).map(|w| w.to_vec()), expect, "{text} in {bits} bits");
        }
    }
}
