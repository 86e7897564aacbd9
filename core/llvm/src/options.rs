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
    /// Of text; `None` if it does not say one.
    fn parse(text: &str) -> Option<Self>;
}

impl Setting for bool {
    fn read(name: &str, default: bool) -> bool {
        number(name).map_or(default, |n| n != 0)
    }

    fn parse(text: &str) -> Option<bool> {
        match text {
            "" | "1" | "true" | "on" => Some(true),
            "0" | "false" | "off" => Some(false),
            _ => None,
        }
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

    fn parse(text: &str) -> Option<u64> {
        bytes(text)
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

impl Setting for String {
    fn read(name: &str, default: String) -> String {
        text(name).unwrap_or(default)
    }

    fn parse(text: &str) -> Option<String> {
        Some(text.to_owned())
    }
}

impl Setting for i64 {
    fn read(name: &str, default: i64) -> i64 {
        number(name).unwrap_or(default)
    }

    fn parse(text: &str) -> Option<i64> {
        text.parse().ok()
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
    (String, $default:expr) => {
        OptionKind::Text
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

            /// Sets the option called `name`; what is amiss if there is none, or it does not hold such a value.
            pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
                match name {
                    $($name => {
                        let wrong = || format!("the option '{name}' cannot be '{value}'");
                        self.$field = <$ty as Setting>::parse(value).ok_or_else(wrong)?;
                        Ok(())
                    })+
                    _ => Err(format!("there is no option '{name}'")),
                }
            }
        }
    };
}

options! {
    enable: bool = true, "enzyme-enable", "Run the Enzyme pass";
    print_type: bool = false, "enzyme-print-type", "Print the results of type analysis";
    print_activity: bool = false, "enzyme-print-activity", "Print the results of activity analysis";
    print_plan: bool = false, "enzyme-print-plan", "Print what is recomputed and what is cached, and what it costs";
    print_rules: bool = false, "enzyme-print-rules", "Print which derivatives that the program registers are used, and where";
    print_perf: bool = false, "enzyme-print-perf", "Print where the time of differentiation goes";
    print: bool = false, "enzyme-print", "Print functions before and after differentiation";
    fast_math: bool = false, "enzyme-fast-math", "Allow fast-math on the arithmetic of derivatives";
    inline_count: i64 = 20000, "enzyme-inline-count", "Instructions that may be inlined into a function before it is differentiated (0: never)";
    max_tape: u64 = 0, "enzyme-max-tape", "Bytes (K, M, G) that the caches of a loop may take before it is checkpointed (0: never)";
    cache_price: i64 = 100, "enzyme-cache-price", "What keeping a value for the reverse sweep costs, in percent: 1 keeps, 1000000 rebuilds all it can";
    products: bool = true, "enzyme-products", "Differentiate products of matrices that Eigen, BLAS and Rust's libraries compute by rule, not by their code";
    truncate_all: String = String::new(), "enzyme-truncate-all", "Round all operations: 64to32, or 11-52to8-7 for bits of exponent and digits; several with ;";
    strong_zero: bool = false, "enzyme-strong-zero", "A zero adjoint stays zero through infinite partial derivatives";
}

/// Flags of the reference system that have no meaning here: they are accepted, and a note says that they do nothing.
pub const ACCEPTED: &[OptionRow] = &[
    accepted("activity-analysis-duplicated-ret", OptionKind::Bool(false)),
    accepted("activity-analysis-func", OptionKind::Text),
    accepted("activity-analysis-inactive-args", OptionKind::Bool(false)),
    accepted("enzyme-aggressive-aa", OptionKind::Bool(false)),
    accepted("enzyme-always-inline", OptionKind::Bool(false)),
    accepted("enzyme-assume-unknown-nofree", OptionKind::Bool(false)),
    accepted("enzyme-attributor", OptionKind::Bool(false)),
    accepted("enzyme-auto-sparsity", OptionKind::Bool(false)),
    accepted("enzyme-blas-copy", OptionKind::Bool(true)),
    accepted("enzyme-check-nan", OptionKind::Bool(false)),
    accepted("enzyme-coalese", OptionKind::Bool(false)),
    accepted("enzyme-detect-readthrow", OptionKind::Bool(true)),
    accepted("enzyme-disable-activity-analysis", OptionKind::Bool(false)),
    accepted("enzyme-emptyfn-inactive", OptionKind::Bool(false)),
    accepted("enzyme-enable-recursive-activity", OptionKind::Bool(true)),
    accepted("enzyme-free-internal-allocations", OptionKind::Bool(true)),
    accepted("enzyme-global-activity", OptionKind::Bool(false)),
    accepted("enzyme-globals-default-inactive", OptionKind::Bool(false)),
    accepted("enzyme-inactive-dynamic", OptionKind::Bool(true)),
    accepted("enzyme-inline", OptionKind::Bool(false)),
    accepted("enzyme-julia-addr-load", OptionKind::Bool(false)),
    accepted("enzyme-lapack-copy", OptionKind::Bool(false)),
    accepted("enzyme-loop-invariant-cache", OptionKind::Bool(true)),
    accepted("enzyme-loose-types", OptionKind::Bool(false)),
    accepted("enzyme-lower-globals", OptionKind::Bool(false)),
    accepted("enzyme-max-cache", OptionKind::Bool(false)),
    accepted("enzyme-max-int-offset", OptionKind::Int(100)),
    accepted("enzyme-max-type-depth", OptionKind::Int(6)),
    accepted("enzyme-max-type-offset", OptionKind::Int(500)),
    accepted("enzyme-memmove-warning", OptionKind::Bool(true)),
    accepted("enzyme-mincut-cache", OptionKind::Bool(true)),
    accepted("enzyme-name-instructions", OptionKind::Bool(false)),
    accepted("enzyme-new-cache", OptionKind::Bool(true)),
    accepted("enzyme-noalias", OptionKind::Bool(false)),
    accepted("enzyme-non-power2-cache", OptionKind::Bool(false)),
    accepted("enzyme-omp-opt", OptionKind::Bool(false)),
    accepted("enzyme-phi-restructure", OptionKind::Bool(false)),
    accepted("enzyme-post-inline-opt", OptionKind::Int(0)),
    accepted("enzyme-post-opt-level", OptionKind::Int(0)),
    accepted("enzyme-postopt", OptionKind::Bool(false)),
    accepted("enzyme-preopt", OptionKind::Bool(true)),
    accepted("enzyme-print-diffuse", OptionKind::Bool(false)),
    accepted("enzyme-print-unnecessary", OptionKind::Bool(false)),
    accepted("enzyme-register-reduce", OptionKind::Bool(false)),
    accepted("enzyme-rematerialize", OptionKind::Bool(true)),
    accepted("enzyme-runtime-error", OptionKind::Bool(false)),
    accepted("enzyme-rust-type", OptionKind::Bool(false)),
    accepted("enzyme-select-opt", OptionKind::Bool(true)),
    accepted("enzyme-shared-forward", OptionKind::Bool(false)),
    accepted("enzyme-smallbool", OptionKind::Bool(false)),
    accepted("enzyme-speculate-phis", OptionKind::Bool(false)),
    accepted("enzyme-strict-aliasing", OptionKind::Bool(true)),
    accepted("enzyme-type-warning", OptionKind::Bool(true)),
    accepted("enzyme-vector-split-phi", OptionKind::Bool(true)),
    accepted("enzyme-zero-cache", OptionKind::Bool(false)),
    accepted("enzyme_nonmarkedglobals_inactiveloads", OptionKind::Bool(true)),
    accepted("mincut-print-graphviz", OptionKind::Bool(false)),
    accepted("type-analysis-func", OptionKind::Text),
];

const fn accepted(name: &'static str, kind: OptionKind) -> OptionRow {
    OptionRow { name, kind, help: "Accepted for compatibility, without effect" }
}

/// The flags given on the command line of this process that do nothing.
pub fn given_without_effect() -> Vec<&'static str> {
    let given = |row: &&OptionRow| match row.kind {
        OptionKind::Bool(_) | OptionKind::Int(_) => number(row.name).is_some(),
        OptionKind::Text => text(row.name).is_some(),
    };
    ACCEPTED.iter().filter(given).map(|row| row.name).collect()
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
        .chain(ACCEPTED)
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
