//! `printf` formatting (C17, 7.21.6.1) of values or of an x86-64 `va_list`.
//!
//! Decimal digits are exact and correctly rounded in every format of floats. Hexadecimal ones are those of `double`.

use super::Interp;
use super::decimal::Decimal;
use super::floats;
use super::trap::Trap;
use super::value::Val;
use crate::types::FloatKind;

/// Where the values to be formatted come from.
pub(super) enum Varargs<'a> {
    /// One after another.
    Values(&'a [Val]),
    /// Address of a `va_list` (System V ABI, AMD64 supplement, 3.5.7).
    List(u64),
}

/// Widest field and longest precision; more is refused.
const MAX_WIDTH: usize = 1 << 20;

impl Varargs<'_> {
    fn next(&mut self) -> Result<&Val, Trap> {
        let missing = || Trap::fault("a format that wants more arguments than there are");
        match self {
            Varargs::Values(values) => {
                let (first, rest) = values.split_first().ok_or_else(missing)?;
                *values = rest;
                Ok(first)
            }
            Varargs::List(_) => Err(missing()),
        }
    }

    /// From the save area up to `end`, then from the overflow area.
    fn from_list(i: &mut Interp<'_>, list: u64, offset_at: u64, step: u64, end: u64) -> Result<u64, Trap> {
        let offset = u64::from(i.read_u32(list.wrapping_add(offset_at))?);
        if offset < end {
            i.write_u32(list.wrapping_add(offset_at), (offset + step) as u32)?;
            let saved = i.read_u64(list.wrapping_add(16))?;
            return i.read_u64(saved.wrapping_add(offset));
        }
        let rest = i.read_u64(list.wrapping_add(8))?;
        i.write_u64(list.wrapping_add(8), rest.wrapping_add(8))?;
        i.read_u64(rest)
    }

    fn integer(&mut self, i: &mut Interp<'_>) -> Result<u64, Trap> {
        if let Varargs::List(list) = self {
            return Self::from_list(i, *list, 0, 8, 48);
        }
        self.next()?.as_u64().ok_or_else(|| Trap::fault("a format for an integer or pointer, but another argument"))
    }

    fn float(&mut self, i: &mut Interp<'_>, long: bool) -> Result<(FloatKind, u128), Trap> {
        if let Varargs::List(list) = self {
            if !long {
                return Self::from_list(i, *list, 4, 16, 176).map(|bits| (FloatKind::Double, u128::from(bits)));
            }
            let at = i.read_u64(list.wrapping_add(8))?.wrapping_add(15) & !15;
            i.write_u64(list.wrapping_add(8), at.wrapping_add(16))?;
            let mut bits = [0u8; 16];
            bits.get_mut(..10).unwrap_or(&mut []).copy_from_slice(&i.read_bytes(at, 10)?);
            return Ok((FloatKind::X86Fp80, u128::from_le_bytes(bits)));
        }
        self.next()?.float_bits().ok_or_else(|| Trap::fault("a format for a float, but another argument"))
    }
}

/// A conversion specification without its letter.
#[derive(Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    /// Bytes of an integer argument.
    size: u32,
    long_double: bool,
}

/// The text that a format makes of its arguments.
pub(super) fn format(i: &mut Interp<'_>, text: &[u8], args: &mut Varargs<'_>) -> Result<Vec<u8>, Trap> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        if *first != b'%' {
            out.push(*first);
            continue;
        }
        let mut spec = Spec { size: 4, ..Spec::default() };
        read_flags(&mut rest, &mut spec);
        if let Some(width) = read_number(i, &mut rest, args)? {
            spec.left |= width < 0;
            spec.width = width.unsigned_abs() as usize;
        }
        if rest.first() == Some(&b'.') {
            rest = rest.get(1..).unwrap_or(&[]);
            let precision = read_number(i, &mut rest, args)?.unwrap_or(0);
            spec.precision = usize::try_from(precision).ok();
        }
        if spec.width > MAX_WIDTH || spec.precision.is_some_and(|p| p > MAX_WIDTH) {
            return Err(Trap::limit("width of a formatted field"));
        }
        read_size(&mut rest, &mut spec);
        let Some((letter, tail)) = rest.split_first() else { return Err(Trap::fault("a format that ends in `%`")) };
        rest = tail;
        convert(i, *letter, &spec, args, &mut out)?;
    }
    Ok(out)
}

fn read_flags(rest: &mut &[u8], spec: &mut Spec) {
    while let Some((first, tail)) = rest.split_first() {
        match first {
            b'-' => spec.left = true,
            b'+' => spec.plus = true,
            b' ' => spec.space = true,
            b'#' => spec.alternate = true,
            b'0' => spec.zero = true,
            _ => return,
        }
        *rest = tail;
    }
}

fn read_number(i: &mut Interp<'_>, rest: &mut &[u8], args: &mut Varargs<'_>) -> Result<Option<i64>, Trap> {
    if rest.first() == Some(&b'*') {
        *rest = rest.get(1..).unwrap_or(&[]);
        return Ok(Some(i64::from(args.integer(i)? as i32)));
    }
    let len = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let (digits, tail) = rest.split_at(len);
    *rest = tail;
    let value = digits.iter().fold(0i64, |v, d| v.saturating_mul(10).saturating_add(i64::from(d - b'0')));
    Ok((len > 0).then_some(value))
}

fn read_size(rest: &mut &[u8], spec: &mut Spec) {
    while let Some((first, tail)) = rest.split_first() {
        match first {
            b'l' | b'z' | b'j' | b't' | b'q' => spec.size = 8,
            b'h' => spec.size = if spec.size == 2 { 1 } else { 2 },
            b'L' => spec.long_double = true,
            _ => return,
        }
        *rest = tail;
    }
}

fn convert(i: &mut Interp<'_>, letter: u8, spec: &Spec, args: &mut Varargs<'_>, out: &mut Vec<u8>) -> Result<(), Trap> {
    match letter {
        b'%' => out.push(b'%'),
        b'd' | b'i' => {
            let unused = 64 - 8 * spec.size;
            let value = ((args.integer(i)? << unused) as i64) >> unused;
            let digits = at_least(value.unsigned_abs().to_string(), spec.precision);
            pad_number(out, spec, sign(value < 0, spec), "", &digits, spec.precision.is_none());
        }
        b'u' | b'x' | b'X' | b'o' | b'b' => {
            let value = args.integer(i)? & (u64::MAX >> (64 - 8 * spec.size));
            let digits = match letter {
                b'u' => value.to_string(),
                b'x' => format!("{value:x}"),
                b'X' => format!("{value:X}"),
                b'o' => format!("{value:o}"),
                _ => format!("{value:b}"),
            };
            let mut digits = at_least(digits, spec.precision);
            let prefix = match letter {
                b'x' if spec.alternate && value != 0 => "0x",
                b'X' if spec.alternate && value != 0 => "0X",
                b'o' if spec.alternate && !digits.starts_with('0') => {
                    digits.insert(0, '0');
                    ""
                }
                _ => "",
            };
            pad_number(out, spec, "", prefix, &digits, spec.precision.is_none());
        }
        b'c' => {
            let byte = args.integer(i)? as u8;
            pad(out, spec, &[byte]);
        }
        b's' => {
            let address = args.integer(i)?;
            let limit = spec.precision.unwrap_or(usize::MAX);
            let known = i.memory.rest_at(address).unwrap_or(0).min(limit as u64) as usize;
            let head = if address == 0 { b"(null)" } else { i.memory.bytes(address, known)? };
            let end = head.iter().position(|b| *b == 0);
            let text = match end {
                Some(end) => head.get(..end).unwrap_or(&[]).to_vec(),
                None if address == 0 || known == limit => head.to_vec(),
                None => i.read_c_string(address)?,
            };
            pad(out, spec, &text);
        }
        b'p' => {
            let address = args.integer(i)?;
            let text = if address == 0 { "(nil)".to_owned() } else { format!("{address:#x}") };
            pad(out, spec, text.as_bytes());
        }
        b'n' => {
            let address = args.integer(i)?;
            i.write_u32(address, out.len() as u32)?;
        }
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
            let (kind, bits) = args.float(i, spec.long_double)?;
            let class = floats::class(kind, bits);
            let text = match class {
                1 | 2 => "nan".to_owned(),
                4 | 0x200 => "inf".to_owned(),
                _ => float_text(kind, bits, letter.to_ascii_lowercase(), spec),
            };
            let text = if letter.is_ascii_uppercase() { text.to_ascii_uppercase() } else { text };
            let (prefix, digits) = match text.get(..2) {
                Some(x @ ("0x" | "0X")) => (x.to_owned(), text.get(2..).unwrap_or("").to_owned()),
                _ => (String::new(), text),
            };
            let negative = bits & floats::sign_bit(kind) != 0;
            pad_number(out, spec, sign(negative, spec), &prefix, &digits, class & 0x207 == 0);
        }
        other => return Err(Trap::unsupported(format!("the format `%{}`", other as char))),
    }
    Ok(())
}

fn at_least(digits: String, precision: Option<usize>) -> String {
    match precision {
        Some(0) if digits == "0" => String::new(),
        Some(p) if digits.len() < p => "0".repeat(p - digits.len()) + &digits,
        _ => digits,
    }
}

fn sign(negative: bool, spec: &Spec) -> &'static str {
    match (negative, spec.plus, spec.space) {
        (true, _, _) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        (false, false, false) => "",
    }
}

fn pad(out: &mut Vec<u8>, spec: &Spec, text: &[u8]) {
    let fill = spec.width.saturating_sub(text.len());
    if !spec.left {
        out.resize(out.len() + fill, b' ');
    }
    out.extend_from_slice(text);
    if spec.left {
        out.resize(out.len() + fill, b' ');
    }
}

fn pad_number(out: &mut Vec<u8>, spec: &Spec, sign: &str, prefix: &str, digits: &str, zeros_allowed: bool) {
    let len = sign.len() + prefix.len() + digits.len();
    let fill = spec.width.saturating_sub(len);
    let zeros = if spec.zero && !spec.left && zeros_allowed { "0".repeat(fill) } else { String::new() };
    pad(out, spec, [sign, prefix, &zeros, digits].concat().as_bytes());
}

/// The digits of a finite number, by the letter of its conversion.
fn float_text(kind: FloatKind, bits: u128, letter: u8, spec: &Spec) -> String {
    if letter == b'a' {
        return hexadecimal(floats::to_f64(kind, bits).abs(), spec.precision);
    }
    let value = Decimal::new(kind, bits);
    let precision = spec.precision.unwrap_or(6);
    match letter {
        b'f' => value.fixed(precision, spec.alternate),
        b'e' => {
            let (mantissa, exponent) = value.scientific(precision, spec.alternate);
            join_exponent(&mantissa, exponent)
        }
        _ => {
            let digits = precision.max(1);
            let (mantissa, exponent) = value.scientific(digits - 1, spec.alternate);
            if exponent < -4 || exponent >= digits as i64 {
                return join_exponent(&shorten(mantissa, spec.alternate), exponent);
            }
            let places = (digits as i64 - 1 - exponent).max(0) as usize;
            shorten(value.fixed(places, spec.alternate), spec.alternate)
        }
    }
}

/// Without trailing zeros after the point, unless they are wanted.
fn shorten(text: String, keep: bool) -> String {
    if keep || !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn join_exponent(mantissa: &str, exponent: i64) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
}

/// As glibc writes it: one digit, 1 unless the number is zero or subnormal, before the point.
fn hexadecimal(value: f64, precision: Option<usize>) -> String {
    let bits = value.to_bits();
    let (stored, mut fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
    let mut first = u64::from(stored != 0);
    let exponent = if value == 0.0 { 0 } else { stored.max(1) - 1023 };
    if let Some(p) = precision.filter(|p| *p < 13) {
        let drop = 52 - 4 * p as u32;
        let whole = (first << 52) | fraction;
        let (kept, lost) = (whole >> drop, whole & ((1 << drop) - 1));
        let half = 1u64 << (drop - 1);
        let up = lost > half || (lost == half && kept & 1 == 1);
        let rounded = (kept + u64::from(up)) << drop;
        first = rounded >> 52;
        fraction = rounded & ((1 << 52) - 1);
    }
    let all = format!("{fraction:013x}");
    let digits = match precision {
        None => all.trim_end_matches('0').to_owned(),
        Some(p) if p <= 13 => all.get(..p).unwrap_or("").to_owned(),
        Some(p) => all.clone() + &"0".repeat(p - 13),
    };
    let point = if digits.is_empty() { "" } else { "." };
    format!("0x{first}{point}{digits}p{exponent:+}")
}
