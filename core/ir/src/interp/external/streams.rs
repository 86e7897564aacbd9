//! Output to streams and to strings. What goes to `stdout` and `stderr` is kept in the interpreter; there is no
//! input and there are no files.

use super::super::Interp;
use super::super::format::{self, Varargs};
use super::super::memory::Kind;
use super::super::trap::Trap;
use super::super::value::Val;
use super::{Builtin, Outcome, integer, pointer, word};

const STDOUT: usize = 1;
const STDERR: usize = 2;
const END_OF_FILE: i64 = -1;

impl Interp<'_> {
    /// Makes the objects behind `stdin`, `stdout` and `stderr`.
    pub(in super::super) fn open_streams(&mut self) -> Result<(), Trap> {
        for stream in 0..3 {
            let address = self.memory.allocate(8, Kind::Internal)?;
            if let Some(place) = self.library.streams.get_mut(stream) {
                *place = address;
            }
        }
        Ok(())
    }

    fn stream_at(&self, address: u64) -> Result<usize, Trap> {
        let found = self.library.streams.iter().position(|s| *s == address);
        found.ok_or_else(|| Trap::fault(format!("{address:#x} is no open stream")))
    }

    fn emit(&mut self, stream: usize, bytes: &[u8]) -> Result<(), Trap> {
        let max = self.config.max_output;
        let target = match stream {
            STDOUT => &mut self.library.output,
            STDERR => &mut self.library.errors,
            _ => return Err(Trap::fault("output to a stream for input")),
        };
        if target.len().saturating_add(bytes.len()) > max {
            return Err(Trap::limit(format!("{max} bytes of output")));
        }
        target.extend_from_slice(bytes);
        Ok(())
    }
}

/// Formats by the string in argument `at` and what follows it, or by the `va_list` that follows it.
fn formatted(i: &mut Interp<'_>, args: &[Val], at: usize, list: bool) -> Result<Vec<u8>, Trap> {
    let text = i.read_c_string(word(args, at)?)?;
    let mut source = match list {
        true => Varargs::List(word(args, at + 1)?),
        false => Varargs::Values(args.get(at + 1..).unwrap_or(&[])),
    };
    format::format(i, &text, &mut source)
}

fn print(i: &mut Interp<'_>, stream: usize, args: &[Val], at: usize, list: bool) -> Outcome {
    let bytes = formatted(i, args, at, list)?;
    i.emit(stream, &bytes)?;
    integer(bytes.len() as i64)
}

fn print_to(i: &mut Interp<'_>, args: &[Val], at: usize, list: bool) -> Outcome {
    let stream = i.stream_at(word(args, 0)?)?;
    print(i, stream, args, at, list)
}

/// Writes the text and its end to argument 0, `limit` bytes at most.
fn print_string(i: &mut Interp<'_>, args: &[Val], limit: Option<u64>, at: usize, list: bool) -> Outcome {
    let mut bytes = formatted(i, args, at, list)?;
    let len = bytes.len() as i64;
    if limit != Some(0) {
        bytes.truncate(limit.map_or(usize::MAX, |l| l as usize - 1));
        bytes.push(0);
        i.write_bytes(word(args, 0)?, &bytes)?;
    }
    integer(len)
}

fn put_char(i: &mut Interp<'_>, stream: usize, args: &[Val]) -> Outcome {
    let byte = word(args, 0)? as u8;
    i.emit(stream, &[byte])?;
    integer(i64::from(byte))
}

pub(super) fn function(name: &str) -> Option<Builtin> {
    Some(match name {
        "printf" => |i, a| print(i, STDOUT, a, 0, false),
        "__printf_chk" => |i, a| print(i, STDOUT, a, 1, false),
        "vprintf" => |i, a| print(i, STDOUT, a, 0, true),
        "__vprintf_chk" => |i, a| print(i, STDOUT, a, 1, true),
        "fprintf" => |i, a| print_to(i, a, 1, false),
        "__fprintf_chk" => |i, a| print_to(i, a, 2, false),
        "vfprintf" => |i, a| print_to(i, a, 1, true),
        "__vfprintf_chk" => |i, a| print_to(i, a, 2, true),
        "sprintf" => |i, a| print_string(i, a, None, 1, false),
        "__sprintf_chk" => |i, a| print_string(i, a, None, 3, false),
        "vsprintf" => |i, a| print_string(i, a, None, 1, true),
        "snprintf" => |i, a| print_string(i, a, Some(word(a, 1)?), 2, false),
        "__snprintf_chk" => |i, a| print_string(i, a, Some(word(a, 1)?), 4, false),
        "vsnprintf" => |i, a| print_string(i, a, Some(word(a, 1)?), 2, true),
        "__vsnprintf_chk" => |i, a| print_string(i, a, Some(word(a, 1)?), 4, true),
        "puts" => |i, a| {
            let mut bytes = i.read_c_string(word(a, 0)?)?;
            bytes.push(b'\n');
            i.emit(STDOUT, &bytes)?;
            integer(bytes.len() as i64)
        },
        "putchar" | "putchar_unlocked" => |i, a| put_char(i, STDOUT, a),
        "fputc" | "putc" | "_IO_putc" => |i, a| {
            let stream = i.stream_at(word(a, 1)?)?;
            put_char(i, stream, a)
        },
        "fputs" | "fputs_unlocked" => |i, a| {
            let (bytes, stream) = (i.read_c_string(word(a, 0)?)?, i.stream_at(word(a, 1)?)?);
            i.emit(stream, &bytes)?;
            integer(bytes.len() as i64)
        },
        "fwrite" | "fwrite_unlocked" => |i, a| {
            let (size, count, stream) = (word(a, 1)?, word(a, 2)?, i.stream_at(word(a, 3)?)?);
            let bytes = i.read_bytes(word(a, 0)?, size.saturating_mul(count) as usize)?;
            i.emit(stream, &bytes)?;
            integer(count as i64)
        },
        "write" => |i, a| {
            let bytes = i.read_bytes(word(a, 1)?, word(a, 2)? as usize)?;
            i.emit(word(a, 0)? as usize, &bytes)?;
            integer(bytes.len() as i64)
        },
        "perror" => |i, a| {
            let mut bytes = i.read_c_string(word(a, 0)?)?;
            bytes.extend(b": Success\n");
            i.emit(STDERR, &bytes)?;
            Ok(None)
        },
        "fflush" | "setvbuf" | "fclose" | "fileno" | "ferror" | "feof" => |_, _| integer(0),
        "setbuf" | "setlinebuf" => |_, _| Ok(None),
        "getchar" | "fgetc" | "getc" => |_, _| integer(END_OF_FILE),
        "fgets" | "fopen" | "popen" => |_, _| pointer(0),
        _ => return None,
    })
}
