//! External functions: their table, and those for memory and strings.
//!
//! A function is found by its symbol, first among those the user registered. Semantics are those of C17 and of
//! the Itanium C++ ABI's names of `operator new` and `operator delete`. What C leaves undefined is a trap: copies
//! between overlapping objects excepted, which are made as `memmove` does.

mod numeric;
mod standard;
mod streams;

use std::rc::Rc;

use super::Interp;
use super::memory::Kind;
use super::trap::Trap;
use super::value::Val;

/// A function that stands in for one without a body.
pub type Extern = Rc<dyn for<'a> Fn(&mut Interp<'a>, &[Val]) -> Result<Option<Val>, Trap>>;

/// What a call of an external function gives.
type Outcome = Result<Option<Val>, Trap>;

type Builtin = for<'a> fn(&mut Interp<'a>, &[Val]) -> Outcome;

/// An entry of the table of external functions in use.
#[derive(Clone)]
pub(super) enum HostEntry {
    Builtin(Builtin),
    User(Extern),
}

/// State of the C library.
#[derive(Default)]
pub(super) struct Library {
    pub output: Vec<u8>,
    pub errors: Vec<u8>,
    /// Addresses of `stdin`, `stdout` and `stderr` as objects.
    pub streams: [u64; 3],
    /// Functions for the end of the program, with their argument.
    pub at_exit: Vec<(u64, Option<u64>)>,
    pub random: u64,
    /// Nanoseconds: each look at the clock takes one microsecond.
    pub clock: u64,
    /// Place of `errno`, made when first asked for.
    pub errno: Option<u64>,
    /// glibc's tables of characters, made when first asked for.
    pub tables: [Option<u64>; 3],
    /// Where `strtok` goes on.
    pub token: u64,
}

/// Argument `i` as a word.
fn word(args: &[Val], i: usize) -> Result<u64, Trap> {
    args.get(i)
        .and_then(Val::as_u64)
        .ok_or_else(|| Trap::fault(format!("an external function without an integer or pointer as argument {i}")))
}

/// Argument `i` as a `double`.
fn number(args: &[Val], i: usize) -> Result<f64, Trap> {
    args.get(i)
        .and_then(Val::as_f64)
        .ok_or_else(|| Trap::fault(format!("an external function without a float as argument {i}")))
}

fn pointer(address: u64) -> Outcome {
    Ok(Some(Val::Ptr(address)))
}

fn integer(value: i64) -> Outcome {
    Ok(Some(Val::int(value)))
}

/// The difference of the first bytes that differ, as glibc gives it; a string that ends goes on with zeros.
fn order(x: &[u8], y: &[u8]) -> i64 {
    let len = x.len().max(y.len());
    let byte = |s: &[u8], i: usize| i64::from(s.get(i).copied().unwrap_or(0));
    (0..len).map(|i| byte(x, i) - byte(y, i)).find(|d| *d != 0).unwrap_or(0)
}

fn builtin(name: &str) -> Option<Builtin> {
    memory_function(name)
        .or_else(|| string_function(name))
        .or_else(|| streams::function(name))
        .or_else(|| standard::function(name))
        .or_else(|| numeric::function(name))
}

impl Interp<'_> {
    /// Whether the user registered a function of this name.
    pub(super) fn is_registered(&self, name: &str) -> bool {
        self.registered.contains_key(name)
    }

    /// The number by which steps call the function `name`, if it is known.
    pub(super) fn host_index(&mut self, name: &str) -> Option<u32> {
        if let Some(index) = self.host_names.get(name) {
            return Some(*index);
        }
        let entry = match self.registered.get(name) {
            Some(function) => HostEntry::User(Rc::clone(function)),
            None => HostEntry::Builtin(builtin(name)?),
        };
        let index = self.hosts.len() as u32;
        self.hosts.push(entry);
        self.host_names.insert(name.to_owned(), index);
        Some(index)
    }

    pub(super) fn call_host(&mut self, index: u32, args: &[Val]) -> Outcome {
        match self.hosts.get(index as usize).cloned() {
            Some(HostEntry::Builtin(function)) => function(self, args),
            Some(HostEntry::User(function)) => function(self, args),
            None => Err(Trap::fault("an external function that is not in the table")),
        }
    }

    /// A heap object as `malloc` makes it.
    pub fn alloc_heap(&mut self, bytes: u64) -> Result<u64, Trap> {
        self.memory.allocate(bytes, Kind::Heap)
    }

    /// The C string at an address.
    pub fn read_c_string(&self, address: u64) -> Result<Vec<u8>, Trap> {
        self.memory.c_string(address).map(<[u8]>::to_vec)
    }

    fn zero(&mut self, address: u64, len: u64) -> Result<(), Trap> {
        self.memory.bytes_mut(address, len as usize).map(|b| b.fill(0))
    }
}

fn memory_function(name: &str) -> Option<Builtin> {
    Some(match name {
        "malloc"
        | "_Znwm"
        | "_Znam"
        | "_ZnwmRKSt9nothrow_t"
        | "_ZnamRKSt9nothrow_t"
        | "_ZnwmSt11align_val_t"
        | "_ZnamSt11align_val_t"
        | "valloc" => |i, a| i.alloc_heap(word(a, 0)?).and_then(pointer),
        "aligned_alloc" | "memalign" => |i, a| i.alloc_heap(word(a, 1)?).and_then(pointer),
        "calloc" => |i, a| {
            let size = word(a, 0)?.checked_mul(word(a, 1)?).ok_or_else(|| Trap::limit("memory: calloc"))?;
            let address = i.alloc_heap(size)?;
            i.zero(address, size)?;
            pointer(address)
        },
        "posix_memalign" => |i, a| {
            let address = i.alloc_heap(word(a, 2)?)?;
            i.write_u64(word(a, 0)?, address)?;
            integer(0)
        },
        "realloc" => |i, a| reallocate(i, word(a, 0)?, word(a, 1)?),
        "reallocarray" => |i, a| {
            let size = word(a, 1)?.checked_mul(word(a, 2)?).ok_or_else(|| Trap::limit("memory: reallocarray"))?;
            reallocate(i, word(a, 0)?, size)
        },
        "free"
        | "cfree"
        | "_ZdlPv"
        | "_ZdlPvm"
        | "_ZdaPv"
        | "_ZdaPvm"
        | "_ZdlPvSt11align_val_t"
        | "_ZdaPvSt11align_val_t"
        | "_ZdlPvmSt11align_val_t"
        | "_ZdaPvmSt11align_val_t"
        | "_ZdlPvRKSt9nothrow_t"
        | "_ZdaPvRKSt9nothrow_t" => |i, a| {
            let address = word(a, 0)?;
            if address != 0 {
                i.memory.release(address, Kind::Heap)?;
            }
            Ok(None)
        },
        "malloc_usable_size" => |i, a| match word(a, 0)? {
            0 => integer(0),
            address => integer(i.memory.size_at(address, Kind::Heap)? as i64),
        },
        "memcpy" | "memmove" | "__memcpy_chk" | "__memmove_chk" => |i, a| {
            i.memory.copy(word(a, 0)?, word(a, 1)?, word(a, 2)?)?;
            pointer(word(a, 0)?)
        },
        // Wide characters have four bytes.
        "wmemcpy" | "wmemmove" | "__wmemcpy_chk" | "__wmemmove_chk" => |i, a| {
            i.memory.copy(word(a, 0)?, word(a, 1)?, word(a, 2)?.saturating_mul(4))?;
            pointer(word(a, 0)?)
        },
        "memset" | "__memset_chk" => |i, a| {
            let (address, len) = (word(a, 0)?, word(a, 2)?);
            if len > 0 {
                let byte = word(a, 1)? as u8;
                i.memory.bytes_mut(address, len as usize)?.fill(byte);
            }
            pointer(address)
        },
        "bzero" => |i, a| {
            i.zero(word(a, 0)?, word(a, 1)?)?;
            Ok(None)
        },
        "memcmp" | "bcmp" => |i, a| {
            let len = word(a, 2)? as usize;
            if len == 0 {
                return integer(0);
            }
            let (x, y) = (i.memory.bytes(word(a, 0)?, len)?, i.memory.bytes(word(a, 1)?, len)?);
            integer(order(x, y))
        },
        "memchr" => |i, a| {
            let (address, byte, len) = (word(a, 0)?, word(a, 1)? as u8, word(a, 2)?);
            // The search may be promised more bytes than there are, if it ends before.
            let len = len.min(i.memory.rest_at(address).unwrap_or(len));
            let found = i.memory.bytes(address, len as usize)?.iter().position(|b| *b == byte);
            pointer(found.map_or(0, |p| address + p as u64))
        },
        _ => return None,
    })
}

/// Moves memory into a new size.
fn reallocate(i: &mut Interp<'_>, old: u64, size: u64) -> Outcome {
    if old == 0 {
        return i.alloc_heap(size).and_then(pointer);
    }
    let kept = i.memory.size_at(old, Kind::Heap)?.min(size);
    let new = i.alloc_heap(size)?;
    i.memory.copy(new, old, kept)?;
    i.memory.release(old, Kind::Heap)?;
    pointer(new)
}

fn copy_string(i: &mut Interp<'_>, to: u64, from: u64, limit: Option<u64>) -> Result<u64, Trap> {
    let mut bytes = i.read_c_string(from)?;
    if let Some(limit) = limit {
        bytes.truncate(limit as usize);
    }
    let len = bytes.len() as u64;
    bytes.push(0);
    i.write_bytes(to, &bytes)?;
    Ok(len)
}

/// The string at an address, or its first `limit` bytes if it has no end before.
fn bounded_string<'a>(i: &'a Interp<'_>, address: u64, limit: u64) -> Result<&'a [u8], Trap> {
    let rest = i.memory.rest_at(address).unwrap_or(0).min(limit);
    let bytes = i.memory.bytes(address, rest as usize)?;
    match bytes.iter().position(|b| *b == 0) {
        Some(end) => Ok(bytes.get(..end).unwrap_or(&[])),
        None if rest == limit => Ok(bytes),
        None => i.memory.c_string(address),
    }
}

fn string_function(name: &str) -> Option<Builtin> {
    Some(match name {
        "strlen" => |i, a| integer(i.memory.c_string(word(a, 0)?)?.len() as i64),
        "strnlen" => |i, a| integer(bounded_string(i, word(a, 0)?, word(a, 1)?)?.len() as i64),
        "strcmp" | "strcoll" => |i, a| integer(order(i.memory.c_string(word(a, 0)?)?, i.memory.c_string(word(a, 1)?)?)),
        "strncmp" => |i, a| {
            let limit = word(a, 2)?;
            integer(order(bounded_string(i, word(a, 0)?, limit)?, bounded_string(i, word(a, 1)?, limit)?))
        },
        "strcasecmp" => |i, a| {
            let lower = |s: &[u8]| s.to_ascii_lowercase();
            let (x, y) = (i.memory.c_string(word(a, 0)?)?, i.memory.c_string(word(a, 1)?)?);
            integer(order(&lower(x), &lower(y)))
        },
        "strcpy" | "__strcpy_chk" => |i, a| {
            copy_string(i, word(a, 0)?, word(a, 1)?, None)?;
            pointer(word(a, 0)?)
        },
        "stpcpy" => |i, a| {
            let len = copy_string(i, word(a, 0)?, word(a, 1)?, None)?;
            pointer(word(a, 0)? + len)
        },
        "strncpy" => |i, a| {
            let (to, limit) = (word(a, 0)?, word(a, 2)?);
            let mut bytes = bounded_string(i, word(a, 1)?, limit)?.to_vec();
            if limit > i.memory.rest_at(to).unwrap_or(0) {
                return Err(Trap::fault("strncpy past the end of an object"));
            }
            bytes.resize(limit as usize, 0);
            i.write_bytes(to, &bytes)?;
            pointer(to)
        },
        "strcat" | "__strcat_chk" => |i, a| {
            let end = i.memory.c_string(word(a, 0)?)?.len() as u64;
            copy_string(i, word(a, 0)? + end, word(a, 1)?, None)?;
            pointer(word(a, 0)?)
        },
        "strncat" => |i, a| {
            let end = i.memory.c_string(word(a, 0)?)?.len() as u64;
            copy_string(i, word(a, 0)? + end, word(a, 1)?, Some(word(a, 2)?))?;
            pointer(word(a, 0)?)
        },
        "strdup" | "__strdup" => |i, a| {
            let len = i.memory.c_string(word(a, 0)?)?.len() as u64;
            let new = i.alloc_heap(len + 1)?;
            copy_string(i, new, word(a, 0)?, None)?;
            pointer(new)
        },
        "strchr" | "index" => |i, a| {
            let (address, byte) = (word(a, 0)?, word(a, 1)? as u8);
            let text = i.memory.c_string(address)?;
            let found = if byte == 0 { Some(text.len()) } else { text.iter().position(|b| *b == byte) };
            pointer(found.map_or(0, |p| address + p as u64))
        },
        "strrchr" | "rindex" => |i, a| {
            let (address, byte) = (word(a, 0)?, word(a, 1)? as u8);
            let text = i.memory.c_string(address)?;
            let found = if byte == 0 { Some(text.len()) } else { text.iter().rposition(|b| *b == byte) };
            pointer(found.map_or(0, |p| address + p as u64))
        },
        "strstr" => |i, a| {
            let address = word(a, 0)?;
            let (text, part) = (i.memory.c_string(address)?, i.memory.c_string(word(a, 1)?)?);
            let found = if part.is_empty() { Some(0) } else { text.windows(part.len()).position(|w| w == part) };
            pointer(found.map_or(0, |p| address + p as u64))
        },
        "strspn" => |i, a| span(i, a, true),
        "strcspn" => |i, a| span(i, a, false),
        "strtok" => |i, a| {
            let start = if word(a, 0)? == 0 { i.library.token } else { word(a, 0)? };
            if start == 0 {
                return pointer(0);
            }
            let stops = i.read_c_string(word(a, 1)?)?;
            let text = i.read_c_string(start)?;
            let Some(first) = text.iter().position(|b| !stops.contains(b)) else {
                i.library.token = 0;
                return pointer(0);
            };
            let tail = text.get(first..).unwrap_or(&[]);
            let found = tail.iter().position(|b| stops.contains(b));
            let token = start + first as u64;
            i.library.token = 0;
            if let Some(len) = found {
                i.write_bytes(token + len as u64, &[0])?;
                i.library.token = token + len as u64 + 1;
            }
            pointer(token)
        },
        _ => return None,
    })
}

fn span(i: &mut Interp<'_>, args: &[Val], wanted: bool) -> Outcome {
    let (text, set) = (i.memory.c_string(word(args, 0)?)?, i.memory.c_string(word(args, 1)?)?);
    integer(text.iter().position(|b| set.contains(b) != wanted).unwrap_or(text.len()) as i64)
}
