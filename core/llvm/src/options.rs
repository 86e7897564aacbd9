//! Options of the plugin: one table, from which the command line and [`Options`] both come.
//!
//! The names are those that users of the reference system write. They exist on a command line only if the library is
//! loaded before the host reads it: `opt -load=X -load-pass-plugin=X`, `clang -fpass-plugin=X -Xclang -load -Xclang X`.

use crate::ffi;
use crate::ffi::Str;

/// What an option holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OptionKind {
    /// On or off, with its default.
    Bool(bool),
    /// A number, with its default.
    Int(i64),
    /// Text, empty by default.
    Text,
}

/// One option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OptionRow {
    /// Name without dashes.
    pub name: &'static str,
    /// Kind and default.
    pub kind: OptionKind,
    /// One line of help.
    pub help: &'static str,
}

trait Setting: Sized {
    fn read(name: &str, default: Self) -> Self;
}

impl Setting for bool {
    fn read(name: &str, default: bool) -> bool {
        number(name).map_or(default, |n| n != 0)
    }
}

impl Setting for u64 {
    fn read(name: &str, default: u64) -> u64 {
        match text(name) {
            Some(given) if !given.is_empty() => bytes(&given).unwrap_or_else(|| {
                eprintln!("warning: -{name}={given} is no number of bytes (digits, then K, M or G); it is ignored");
                default
            }),
            Some(_) | None => default,
        }
    }
}

/// A number of bytes: digits, and K, M or G for powers of 1024.
pub fn bytes(text: &str) -> Option<u64> {
    let (digits, unit) = match text.char_indices().last()? {
        (n, 'k' | 'K') => (&text[..n], 1 << 10),
        (n, 'm' | 'M') => (&text[..n], 1 << 20),
        (n, 'g' | 'G') => (&text[..n], 1 << 30),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

impl Setting for i64 {
    fn read(name: &str, default: i64) -> i64 {
        number(name).unwrap_or(default)
    }
}

macro_rules! kind_of {
    (bool, $default:expr) => {
        OptionKind::Bool($default)
    };
    (u64, $default:expr) => {
        OptionKind::Text
    };
    (i64, $default:expr) => {
        OptionKind::Int($default)
    };
}

macro_rules! options {
    ($($field:ident: $ty:tt = $default:expr, $name:literal, $help:literal;)+) => {
        /// Values of all options.
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub struct Options {
            $(#[doc = $help] pub $field: $ty,)+
        }

        impl Default for Options {
            fn default() -> Options {
                Options { $($field: $default,)+ }
            }
        }

        /// All options, in the order of the help text.
        pub const TABLE: &[OptionRow] = &[
            $(OptionRow { name: $name, kind: kind_of!($ty, $default), help: $help },)+
        ];

        impl Options {
            /// The values given on the command line of this process, defaults where nothing was said.
            pub fn from_command_line() -> Options {
                let default = Options::default();
                Options { $($field: <$ty as Setting>::read($name, default.$field),)+ }
            }
        }
    };
}

options! {
    enable: bool = true, "enzyme-enable", "Run the Enzyme pass";
    print_type: bool = false, "enzyme-print-type", "Print the results of type analysis";
    print_activity: bool = false, "enzyme-print-activity", "Print the results of activity analysis";
    print_plan: bool = false, "enzyme-print-plan", "Print what is recomputed and what is cached, and what it costs";
    print_perf: bool = false, "enzyme-print-perf", "Print where the time of differentiation goes";
    print: bool = false, "enzyme-print", "Print functions before and after differentiation";
    fast_math: bool = false, "enzyme-fast-math", "Allow fast-math on the arithmetic of derivatives";
    inline_count: i64 = 20000, "enzyme-inline-count", "Instructions that may be inlined into a function before it is differentiated (0: never)";
    max_tape: u64 = 0, "enzyme-max-tape", "Bytes (K, M, G) that the caches of a loop may take before it is checkpointed (0: never)";
    cache_price: i64 = 100, "enzyme-cache-price", "What keeping a value for the reverse sweep costs, in percent: 1 keeps, 1000000 rebuilds all it can";
    strong_zero: bool = false, "enzyme-strong-zero", "A zero adjoint stays zero through infinite partial derivatives";
}

fn number(name: &str) -> Option<i64> {
    let mut value = 0i64;
    // SAFETY: the name is borrowed for the call and `value` is a valid place to write to.
    let found = unsafe { ffi::enz_option_number(Str::of(name), &raw mut value) };
    (found != 0).then_some(value)
}

/// The text of an option of kind [`OptionKind::Text`] given on the command line of this process.
pub fn text(name: &str) -> Option<String> {
    // SAFETY: the name is borrowed for the call; sink and context come from `collect`.
    let (found, text) =
        crate::text::collect(|sink, context| unsafe { ffi::enz_option_text(Str::of(name), sink, context) });
    (found != 0).then_some(text)
}

/// Registers the table with LLVM's command line. Options that exist already are left alone, so this may be called by
/// two copies of the library.
pub fn register() {
    let specs: Vec<ffi::OptionSpec> = TABLE
        .iter()
        .map(|row| {
            let (kind, initial) = match row.kind {
                OptionKind::Bool(on) => (0, i64::from(on)),
                OptionKind::Int(n) => (1, n),
                OptionKind::Text => (2, 0),
            };
            ffi::OptionSpec { name: Str::of(row.name), help: Str::of(row.help), kind, initial }
        })
        .collect();
    // SAFETY: `specs` holds as many entries as it says and the bridge copies their strings.
    unsafe { ffi::enz_options_register(specs.as_ptr(), specs.len()) };
}
