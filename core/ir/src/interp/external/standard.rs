//! Functions of `<stdlib.h>`, `<time.h>`, `<ctype.h>` and the start and end of programs.
//!
//! `rand` is the generator of the C standard's example, not glibc's. The clock is a counter, so that runs repeat.

use super::super::memory::Kind;
use super::super::trap::Trap;
use super::super::value::Val;
use super::super::{Interp, floats};
use super::{Builtin, Outcome, integer, pointer, word};
use crate::types::FloatKind;

const RAND_MAX: u64 = 0x7fff_ffff;

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

/// The number at the front of a text, and the bytes it takes.
fn parse_float(text: &[u8]) -> (f64, usize) {
    let start = text.iter().position(|b| !is_space(*b)).unwrap_or(text.len());
    let rest: String = text.iter().skip(start).take_while(|b| b.is_ascii()).map(|b| *b as char).collect();
    let unsigned = rest.trim_start_matches(['+', '-']);
    let sign_len = (rest.len() - unsigned.len()).min(1);
    let lower = unsigned.to_ascii_lowercase();
    if sign_len == 1 && rest.len() - unsigned.len() > 1 {
        return (0.0, 0);
    }
    let negative = rest.starts_with('-');
    let signed = |x: f64| if negative { -x } else { x };
    if let Some(digits) = lower.strip_prefix("0x") {
        let (value, len) = parse_hex(digits);
        return if len == 0 {
            (signed(0.0), start + sign_len + 1)
        } else {
            (signed(value), start + sign_len + 2 + len)
        };
    }
    for (word, value) in [("infinity", f64::INFINITY), ("inf", f64::INFINITY), ("nan", f64::NAN)] {
        if lower.starts_with(word) {
            return (signed(value), start + sign_len + word.len());
        }
    }
    let digits = |s: &str| s.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(&lower);
    let mut len = whole;
    let mut any = whole > 0;
    if lower.as_bytes().get(len) == Some(&b'.') {
        let fraction = digits(lower.get(len + 1..).unwrap_or(""));
        any |= fraction > 0;
        len += 1 + fraction;
    }
    if !any {
        return (0.0, 0);
    }
    if lower.as_bytes().get(len) == Some(&b'e') {
        let tail = lower.get(len + 1..).unwrap_or("");
        let sign = usize::from(tail.starts_with(['+', '-']));
        let exponent = digits(tail.get(sign..).unwrap_or(""));
        if exponent > 0 {
            len += 1 + sign + exponent;
        }
    }
    let value: f64 = lower.get(..len).and_then(|s| s.parse().ok()).unwrap_or(0.0);
    (signed(value), start + sign_len + len)
}

/// Hexadecimal digits with point and binary exponent; exact for up to 120 bits of digits.
fn parse_hex(text: &str) -> (f64, usize) {
    let (mut value, mut exponent, mut point, mut any, mut len) = (0u128, 0i32, false, false, 0);
    for c in text.chars() {
        match c.to_digit(16) {
            Some(digit) => {
                any = true;
                if value >> 116 == 0 {
                    value = (value << 4) | u128::from(digit);
                    exponent -= if point { 4 } else { 0 };
                } else if !point {
                    exponent = exponent.saturating_add(4);
                }
            }
            None if c == '.' && !point => point = true,
            None => break,
        }
        len += 1;
    }
    if !any {
        return (0.0, 0);
    }
    if let Some(tail) = text.get(len..).and_then(|t| t.strip_prefix('p')) {
        let sign = usize::from(tail.starts_with(['+', '-']));
        let digits = tail.bytes().skip(sign).take_while(u8::is_ascii_digit).count();
        if digits > 0 {
            let stated: i32 = tail.get(..sign + digits).and_then(|t| t.parse().ok()).unwrap_or(i32::MAX / 4);
            exponent = exponent.saturating_add(stated);
            len += 1 + sign + digits;
        }
    }
    let wide = floats::from_int(FloatKind::Fp128, false, 128, value);
    (floats::to_f64(FloatKind::Fp128, floats::scale(FloatKind::Fp128, wide, exponent.clamp(-20_000, 20_000))), len)
}

/// The integer at the front of a text as `strtol` reads it, and the bytes it takes.
fn parse_integer(text: &[u8], base: u64) -> (i128, usize) {
    let mut at = text.iter().position(|b| !is_space(*b)).unwrap_or(text.len());
    let negative = text.get(at) == Some(&b'-');
    at += usize::from(matches!(text.get(at), Some(b'+' | b'-')));
    let hex = text.get(at) == Some(&b'0')
        && matches!(text.get(at + 1), Some(b'x' | b'X'))
        && text.get(at + 2).is_some_and(u8::is_ascii_hexdigit);
    let base = match base {
        0 if hex => 16,
        0 if text.get(at) == Some(&b'0') => 8,
        0 => 10,
        b => b.clamp(2, 36) as u32,
    };
    at += if hex && base == 16 { 2 } else { 0 };
    let (mut value, mut any) = (0i128, false);
    while let Some(digit) = text.get(at).and_then(|b| (*b as char).to_digit(base)) {
        value = value.saturating_mul(i128::from(base)).saturating_add(i128::from(digit));
        any = true;
        at += 1;
    }
    (if negative { -value } else { value }, if any { at } else { 0 })
}

fn read_integer(i: &mut Interp<'_>, args: &[Val], low: i128, high: i128) -> Outcome {
    let (value, len) = parse_integer(i.memory.c_string(word(args, 0)?)?, word(args, 2)?);
    if word(args, 1)? != 0 {
        i.write_u64(word(args, 1)?, word(args, 0)? + len as u64)?;
    }
    Ok(Some(Val::Int(value.clamp(low, high) as u128)))
}

fn read_float(i: &mut Interp<'_>, args: &[Val], kind: FloatKind) -> Outcome {
    let (value, len) = parse_float(i.memory.c_string(word(args, 0)?)?);
    if word(args, 1)? != 0 {
        i.write_u64(word(args, 1)?, word(args, 0)? + len as u64)?;
    }
    Ok(Some(Val::float(kind, value)))
}

/// `qsort`: a stable merge sort of a copy, as glibc does where memory allows.
fn sort(i: &mut Interp<'_>, args: &[Val]) -> Outcome {
    let (base, count, size, order) = (word(args, 0)?, word(args, 1)?, word(args, 2)?, word(args, 3)?);
    let total = count.checked_mul(size).ok_or_else(|| Trap::fault("qsort of more than memory"))?;
    if count < 2 || size == 0 {
        return Ok(None);
    }
    let copy = i.memory.allocate(total, Kind::Internal)?;
    i.memory.copy(copy, base, total)?;
    let mut order_of: Vec<u64> = (0..count).map(|n| copy + n * size).collect();
    let mut width = 1usize;
    while width < order_of.len() {
        let mut merged = Vec::with_capacity(order_of.len());
        for pair in order_of.chunks(2 * width) {
            let (left, right) = pair.split_at(width.min(pair.len()));
            let (mut l, mut r) = (left.iter().peekable(), right.iter().peekable());
            while let (Some(x), Some(y)) = (l.peek(), r.peek()) {
                let result = i.call_address(order, &[Val::Ptr(**x), Val::Ptr(**y)])?;
                let greater = result.and_then(|v| v.as_i32()).unwrap_or(0) > 0;
                merged.extend(if greater { r.next() } else { l.next() });
            }
            merged.extend(l);
            merged.extend(r);
        }
        order_of = merged;
        width *= 2;
    }
    for (n, from) in order_of.iter().enumerate() {
        i.memory.copy(base + n as u64 * size, *from, size)?;
    }
    i.memory.release(copy, Kind::Internal)?;
    Ok(None)
}

fn search(i: &mut Interp<'_>, args: &[Val]) -> Outcome {
    let (key, base, mut count, size) = (word(args, 0)?, word(args, 1)?, word(args, 2)?, word(args, 3)?);
    let mut first = base;
    while count > 0 {
        let middle = first.wrapping_add((count / 2).wrapping_mul(size));
        let result = i.call_address(word(args, 4)?, &[Val::Ptr(key), Val::Ptr(middle)])?;
        match result.and_then(|v| v.as_i32()).unwrap_or(0) {
            0 => return pointer(middle),
            n if n < 0 => count /= 2,
            _ => {
                first = middle.wrapping_add(size);
                count = (count - 1) / 2;
            }
        }
    }
    pointer(0)
}

fn tick(i: &mut Interp<'_>) -> u64 {
    i.library.clock += 1000;
    i.library.clock
}

fn rand(i: &mut Interp<'_>) -> u64 {
    let next = i.library.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    i.library.random = next;
    (next >> 33) & RAND_MAX
}

fn message(i: &Interp<'_>, args: &[Val], at: usize) -> String {
    let text = word(args, at).ok().and_then(|a| i.memory.c_string(a).ok()).unwrap_or(b"?");
    String::from_utf8_lossy(text).into_owned()
}

pub(super) fn function(name: &str) -> Option<Builtin> {
    Some(match name {
        "exit" | "_exit" | "_Exit" | "quick_exit" => |_, a| Err(Trap::Exit(word(a, 0)? as i32)),
        "abort" | "_ZSt9terminatev" => |_, _| Err(Trap::fault("the program called abort")),
        "__assert_fail" => |i, a| {
            let (what, file, line) = (message(i, a, 0), message(i, a, 1), word(a, 2)? as u32);
            Err(Trap::fault(format!("{file}:{line}: the assertion `{what}` does not hold")))
        },
        "__stack_chk_fail" => |_, _| Err(Trap::fault("the stack was overwritten")),
        "__cxa_throw" | "__cxa_rethrow" | "_Unwind_Resume" => |_, _| Err(Trap::unsupported("unwinding")),
        "__cxa_pure_virtual" => |_, _| Err(Trap::fault("a call of a pure virtual function")),
        // Every C++ file that includes `<iostream>` may start and end the streams.
        "_ZNSt8ios_base4InitC1Ev" | "_ZNSt8ios_base4InitD1Ev" => |_, _| Ok(None),
        "atexit" => |i, a| {
            i.library.at_exit.push((word(a, 0)?, None));
            integer(0)
        },
        "__cxa_atexit" => |i, a| {
            i.library.at_exit.push((word(a, 0)?, Some(word(a, 1)?)));
            integer(0)
        },
        "__cxa_guard_acquire" => |i, a| {
            let [first] = i.memory.load::<1>(word(a, 0)?)?;
            integer(i64::from(first == 0))
        },
        "__cxa_guard_release" => |i, a| {
            i.memory.store(word(a, 0)?, [1])?;
            Ok(None)
        },
        "__cxa_guard_abort" => |_, _| Ok(None),
        "getenv" | "secure_getenv" | "setlocale" => |_, _| pointer(0),
        "system" => |_, _| integer(-1),
        "getpid" => |_, _| integer(1),
        "sched_yield" | "usleep" | "nanosleep" | "sleep" => |_, _| integer(0),
        "__errno_location" | "__error" => |i, _| {
            let place = match i.library.errno {
                Some(place) => place,
                None => i.alloc(4)?,
            };
            i.library.errno = Some(place);
            pointer(place)
        },
        "clock" => |i, _| integer((tick(i) / 1000) as i64),
        "time" => |i, a| {
            let seconds = tick(i) / 1_000_000_000;
            if word(a, 0)? != 0 {
                i.write_u64(word(a, 0)?, seconds)?;
            }
            integer(seconds as i64)
        },
        "clock_gettime" | "timespec_get" => |i, a| {
            let now = tick(i);
            // The time stands in the second argument here and in the first there.
            let place = match word(a, 0)? {
                id if id < 1 << 32 => word(a, 1)?,
                address => address,
            };
            i.write_u64(place, now / 1_000_000_000)?;
            i.write_u64(place + 8, now % 1_000_000_000)?;
            integer(0)
        },
        "gettimeofday" => |i, a| {
            let now = tick(i);
            i.write_u64(word(a, 0)?, now / 1_000_000_000)?;
            i.write_u64(word(a, 0)? + 8, now % 1_000_000_000 / 1000)?;
            integer(0)
        },
        "difftime" => |_, a| {
            let seconds = word(a, 0)? as i64 - word(a, 1)? as i64;
            Ok(Some(Val::F64(seconds as f64)))
        },
        "srand" | "srandom" | "srand48" => |i, a| {
            i.library.random = word(a, 0)?;
            Ok(None)
        },
        "rand" | "random" | "lrand48" => |i, _| integer(rand(i) as i64),
        "rand_r" => |i, a| {
            let state = u64::from(i.read_u32(word(a, 0)?)?);
            let next = state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
            i.write_u32(word(a, 0)?, next as u32)?;
            integer((next >> 1 & RAND_MAX) as i64)
        },
        "drand48" => |i, _| Ok(Some(Val::F64(rand(i) as f64 / (RAND_MAX as f64 + 1.0)))),
        "abs" => |_, a| integer(i64::from((word(a, 0)? as i32).wrapping_abs())),
        "labs" | "llabs" => |_, a| integer((word(a, 0)? as i64).wrapping_abs()),
        "atof" => |i, a| Ok(Some(Val::F64(parse_float(i.memory.c_string(word(a, 0)?)?).0))),
        "strtod" => |i, a| read_float(i, a, FloatKind::Double),
        "strtof" => |i, a| read_float(i, a, FloatKind::Float),
        "strtold" => |i, a| read_float(i, a, FloatKind::X86Fp80),
        "atoi" | "atol" | "atoll" => |i, a| {
            let (value, _) = parse_integer(i.memory.c_string(word(a, 0)?)?, 10);
            Ok(Some(Val::Int(value as u128)))
        },
        "strtol" | "strtoll" | "__isoc23_strtol" | "__isoc23_strtoll" => {
            |i, a| read_integer(i, a, i128::from(i64::MIN), i128::from(i64::MAX))
        }
        "strtoul" | "strtoull" | "__isoc23_strtoul" | "__isoc23_strtoull" => {
            |i, a| read_integer(i, a, -i128::from(u64::MAX), i128::from(u64::MAX))
        }
        "qsort" => sort,
        "bsearch" => search,
        "__ctype_b_loc" => |i, _| table(i, 0, 2, character_bits),
        "__ctype_toupper_loc" => |i, _| table(i, 1, 4, |b| u32::from(b.to_ascii_uppercase())),
        "__ctype_tolower_loc" => |i, _| table(i, 2, 4, |b| u32::from(b.to_ascii_lowercase())),
        "isalpha" => |_, a| class(a, |b| b.is_ascii_alphabetic()),
        "isdigit" => |_, a| class(a, |b| b.is_ascii_digit()),
        "isalnum" => |_, a| class(a, |b| b.is_ascii_alphanumeric()),
        "isspace" => |_, a| class(a, is_space),
        "isupper" => |_, a| class(a, |b| b.is_ascii_uppercase()),
        "islower" => |_, a| class(a, |b| b.is_ascii_lowercase()),
        "isxdigit" => |_, a| class(a, |b| b.is_ascii_hexdigit()),
        "ispunct" => |_, a| class(a, |b| b.is_ascii_punctuation()),
        "isprint" => |_, a| class(a, |b| (32..127).contains(&b)),
        "toupper" => |_, a| integer(letter(a, |b| b.to_ascii_uppercase())?),
        "tolower" => |_, a| integer(letter(a, |b| b.to_ascii_lowercase())?),
        _ if name.starts_with("_ZSt") && name.contains("__throw_") => {
            |_, _| Err(Trap::unsupported("unwinding: the C++ library threw"))
        }
        _ => return None,
    })
}

/// glibc's classes of a character (`bits` in its `<ctype.h>`, little-endian).
fn character_bits(byte: u8) -> u32 {
    let blank = byte == b' ' || byte == b'\t';
    let classes = [
        (blank, 0x1),
        (byte.is_ascii_control(), 0x2),
        (byte.is_ascii_punctuation(), 0x4),
        (byte.is_ascii_alphanumeric(), 0x8),
        (byte.is_ascii_uppercase(), 0x100),
        (byte.is_ascii_lowercase(), 0x200),
        (byte.is_ascii_alphabetic(), 0x400),
        (byte.is_ascii_digit(), 0x800),
        (byte.is_ascii_hexdigit(), 0x1000),
        (is_space(byte), 0x2000),
        ((32..127).contains(&byte), 0x4000),
        (byte.is_ascii_graphic(), 0x8000),
    ];
    classes.iter().filter(|(holds, _)| *holds).map(|(_, bit)| bit).sum()
}

/// Address of a pointer into a table with entries for -128 to 255, made when first asked for.
fn table(i: &mut Interp<'_>, which: usize, size: usize, entry: fn(u8) -> u32) -> Outcome {
    if let Some(Some(place)) = i.library.tables.get(which) {
        return pointer(*place);
    }
    let mut bytes = Vec::new();
    for c in -128i32..256 {
        let value = u8::try_from(c).ok().filter(u8::is_ascii).map_or(if size == 4 { c as u32 } else { 0 }, entry);
        bytes.extend(value.to_le_bytes().iter().take(size));
    }
    let base = i.alloc(bytes.len() as u64)?;
    i.write_bytes(base, &bytes)?;
    let place = i.alloc(8)?;
    i.write_u64(place, base + 128 * size as u64)?;
    if let Some(slot) = i.library.tables.get_mut(which) {
        *slot = Some(place);
    }
    pointer(place)
}

fn class(args: &[Val], test: impl Fn(u8) -> bool) -> Outcome {
    let found = u8::try_from(word(args, 0)? as i32).is_ok_and(test);
    integer(i64::from(found))
}

fn letter(args: &[Val], change: impl Fn(u8) -> u8) -> Result<i64, Trap> {
    let c = word(args, 0)? as i32;
    Ok(u8::try_from(c).map_or(i64::from(c), |b| i64::from(change(b))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_text() {
        assert_eq!(parse_float(b"  -1.5e3x"), (-1500.0, 8));
        assert_eq!(parse_float(b"2e"), (2.0, 1));
        assert_eq!(parse_float(b".5."), (0.5, 2));
        assert_eq!(parse_float(b"+inf"), (f64::INFINITY, 4));
        assert_eq!(parse_float(b"0x1.8p-1;"), (0.75, 8));
        assert_eq!(parse_float(b"x"), (0.0, 0));
        assert_eq!(parse_float(b"--1"), (0.0, 0));
        assert_eq!(parse_integer(b" -42abc", 10), (-42, 4));
        assert_eq!(parse_integer(b"0x1fg", 0), (31, 4));
        assert_eq!(parse_integer(b"077", 0), (63, 3));
        assert_eq!(parse_integer(b"-", 0), (0, 0));
    }
}
