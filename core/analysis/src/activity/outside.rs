//! Active data that leaves the memory that is followed, as text or bytes in a file, a stream or a string, and may come back
//! as numbers; bytes of active numbers that a library function takes for characters; and what a panic of Rust's carries.
//!
//! What is read from a file or made of text is not traced to what was written: a program that does both with active data in
//! what is differentiated is refused. Output to the terminal does not count. Not seen: text that a program makes of
//! numbers itself, digit by digit, whose derivative is zero; numbers that only functions read which are not differentiated with
//! what writes them.

use enzyme_ir::{Const, Func, InstId, Module, Op, ValueId};
use enzyme_rules::known::{Known, Reach};

use super::{Conflict, Pass};
use crate::callee::{Callee, resolve};
use crate::text;

const BYTES: &str = "active data written to a file, where files are read too";
const TEXT: &str = "active numbers made text, where numbers are made of text or read from files too";
const PANIC: &str = "a panic that carries active data";
const CHARACTERS: &str = "bytes of active numbers taken for characters";

const WRITE_BYTES: [&str; 6] = ["fwrite", "fwrite_unlocked", "write", "pwrite", "pwrite64", "_ZNSo5writeEPKcl"];
const READ_BYTES: [&str; 14] = [
    "fread",
    "fread_unlocked",
    "__fread_chk",
    "read",
    "__read_chk",
    "pread",
    "pread64",
    "getc",
    "fgetc",
    "getc_unlocked",
    "open_memstream",
    "fmemopen",
    "_ZNSi4readEPcl",
    "_ZNSi8readsomeEPcl",
];
/// Text goes where the first argument says, if that is not the terminal.
const PRINT_TO: [&str; 5] = ["fprintf", "vfprintf", "__fprintf_chk", "__vfprintf_chk", "dprintf"];
/// The numbers are where the last argument says.
const PRINT_LISTS: [&str; 6] =
    ["vsprintf", "vsnprintf", "__vsprintf_chk", "__vsnprintf_chk", "vfprintf", "__vfprintf_chk"];
const TERMINAL: [&str; 10] = [
    "stdout",
    "stderr",
    "__stdoutp",
    "__stderrp",
    "_ZSt4cout",
    "_ZSt4cerr",
    "_ZSt4clog",
    "_ZNSt3__14coutE",
    "_ZNSt3__14cerrE",
    "_ZNSt3__14clogE",
];
const READ_NUMBERS: [&str; 22] = [
    "atof",
    "strtod",
    "strtof",
    "strtold",
    "strtod_l",
    "strtof_l",
    "strtold_l",
    "_ZNSirsERd",
    "_ZNSirsERf",
    "_ZNSirsERe",
    "_ZNSi10_M_extractIdEERSiRT_",
    "_ZNSi10_M_extractIfEERSiRT_",
    "_ZNSi10_M_extractIeEERSiRT_",
    "_ZSt10from_charsPKcS0_RdSt12chars_format",
    "_ZSt10from_charsPKcS0_RfSt12chars_format",
    "_ZSt10from_charsPKcS0_ReSt12chars_format",
    "_ZNSt3__14stodERKNS_12basic_stringIcNS_11char_traitsIcEENS_9allocatorIcEEEEPm",
    "_ZNSt3__14stofERKNS_12basic_stringIcNS_11char_traitsIcEENS_9allocatorIcEEEEPm",
    "_ZNSt3__15stoldERKNS_12basic_stringIcNS_11char_traitsIcEENS_9allocatorIcEEEEPm",
    "_ZNSt3__113basic_istreamIcNS_11char_traitsIcEEErsERd",
    "_ZNSt3__113basic_istreamIcNS_11char_traitsIcEEErsERf",
    "_ZNSt3__113basic_istreamIcNS_11char_traitsIcEEErsERe",
];
/// How names of functions begin that copy characters to where they may be read again.
const COPY_CHARACTERS: [&str; 17] = [
    "strcpy",
    "strncpy",
    "strcat",
    "strncat",
    "strdup",
    "strndup",
    "__strcpy",
    "__strncpy",
    "__strdup",
    "__strndup",
    "stpcpy",
    "stpncpy",
    "__stpcpy",
    "__stpncpy",
    "_ZNSt7__cxx1112basic_string",
    "_ZNSt3__112basic_string",
    "_ZSt16__ostream_insert",
];
const FORTRAN_OUTPUT: &str = "_FortranAioOutput";
const FORTRAN_INPUT: &str = "_FortranAioInput";
/// Of Fortran's units, those of the terminal, and the one that stands for it.
const TERMINAL_UNITS: [i64; 3] = [-1, 0, 6];

/// The name of the library function that `i` calls. A function of the program's own that has such a name is another one.
fn library<'a>(module: &'a Module, func: &Func, i: InstId) -> Option<&'a str> {
    let callee = func.as_const(func.callee(i)?)?;
    let Const::Func(f) = module.ctx.consts[callee] else { return None };
    module.funcs[f].is_declaration().then_some(module.funcs[f].name.as_str())
}

fn reads_numbers(name: &str) -> bool {
    let scans = name.ends_with("scanf") && !name.contains("wscanf");
    let input = name.strip_prefix(FORTRAN_INPUT);
    let floats =
        input.is_some_and(|of| !["Integer", "Logical", "Ascii", "Character"].iter().any(|t| of.starts_with(t)));
    READ_NUMBERS.contains(&name) || scans || floats
}

impl Pass<'_> {
    /// Why the library call `i` is none through which active data may go.
    pub(super) fn goes_outside(&self, i: InstId) -> Option<Conflict> {
        let func = self.program.func(self.f);
        let name = library(self.program.module, func, i)?;
        let args = func.call_args(i);
        let shadowed = |a: &ValueId| self.class(*a).is_some_and(|c| self.state(c).has_shadow());
        let what = if text::is_made(self.program.module, func, i) {
            let is_read = |n: usize, a: &ValueId| self.varied[*a].is_some() || shadowed(a) && !self.is_written(i, n);
            (args.iter().enumerate().any(|(n, a)| is_read(n, a)) && self.parses()).then_some(TEXT)
        } else if text::is_panic_with_value(self.program.module, func, i) {
            args.iter().any(|a| self.varied[*a].is_some() || shadowed(a)).then_some(PANIC)
        } else if WRITE_BYTES.contains(&name) {
            (args.iter().any(shadowed) && self.is_read_by(&|n| READ_BYTES.contains(&n))).then_some(BYTES)
        } else if self.prints(i, name, args) && self.is_read_by(&reads_numbers) {
            Some(TEXT)
        } else {
            self.takes_for_characters(name, args).then_some(CHARACTERS)
        };
        what.map(|what| Conflict::Unsupported(i, what))
    }

    /// Whether the known function that `i` calls writes where its argument `n` points to.
    fn is_written(&self, i: InstId, n: usize) -> bool {
        let Callee::Known(known) = resolve(self.program.module, self.program.func(self.f), i) else { return false };
        matches!(known.facts.effects.writes, Reach::Args(written) if written.iter().any(|w| usize::from(*w) == n))
    }

    /// Whether something that may be differentiated has Rust's library make a number of text that is no constant.
    fn parses(&self) -> bool {
        let module = self.program.module;
        self.program.units.functions().any(|f| {
            let (func, Some(unit)) = (&module.funcs[f], self.program.unit(f)) else { return false };
            let is_constant = |v: &ValueId| unit.memory.class_of[*v].is_some_and(|c| unit.constants.contains(&c));
            func.placed().any(|(_, i)| {
                let called = func.callee(i).filter(|v| text::is_parser(module, func, *v)).is_some();
                match called {
                    true => !func.call_args(i).iter().any(is_constant),
                    false => func.insts[i].args.iter().any(|v| text::is_parser(module, func, *v)),
                }
            })
        })
    }

    /// Whether something that may be differentiated uses a library function of such a name.
    fn is_read_by(&self, is_reader: &dyn Fn(&str) -> bool) -> bool {
        let module = self.program.module;
        self.program.units.functions().any(|f| {
            module.funcs[f].constants().any(|c| match module.ctx.consts[c] {
                Const::Func(g) => module.funcs[g].is_declaration() && is_reader(&module.funcs[g].name),
                _ => false,
            })
        })
    }

    /// Whether `i` makes varied numbers text that can be read again.
    fn prints(&self, i: InstId, name: &str, args: &[ValueId]) -> bool {
        let func = self.program.func(self.f);
        let varied = args.iter().any(|a| self.varied[*a].is_some());
        let shadowed = |a: &ValueId| self.class(*a).is_some_and(|c| self.state(c).has_shadow());
        if name.starts_with(FORTRAN_OUTPUT) {
            return (varied || args.iter().any(shadowed)) && self.writes_units();
        }
        let listed = PRINT_LISTS.contains(&name) && args.last().is_some_and(shadowed);
        if !varied && !listed || args.first().is_some_and(|a| self.is_terminal(*a)) {
            return false;
        }
        match resolve(self.program.module, func, i) {
            Callee::Known(known) => {
                let is_written = known.facts.effects.writes != Reach::Nothing;
                matches!(known.facts.what, Known::Inactive) && is_written || PRINT_TO.contains(&name)
            }
            Callee::Unknown(_) => name.starts_with("_ZSt8to_chars"),
            Callee::Math(_) | Callee::Defined(_) => false,
        }
    }

    /// Whether `v` is a stream of the terminal, or read from a variable that holds one.
    fn is_terminal(&self, v: ValueId) -> bool {
        let func = self.program.func(self.f);
        let module = self.program.module;
        let from = match func.def_inst(v).map(|i| &func.insts[i]) {
            Some(inst) if matches!(inst.op, Op::Load(_)) => inst.args.first().copied().unwrap_or(v),
            _ => v,
        };
        let known = |c| match module.ctx.consts[c] {
            Const::Global(g) => TERMINAL.contains(&module.globals[g].name.as_str()),
            _ => false,
        };
        func.as_const(from).is_some_and(known)
    }

    /// Whether the function writes to strings, or to files that are not the terminal, in Fortran's way.
    fn writes_units(&self) -> bool {
        let func = self.program.func(self.f);
        let module = self.program.module;
        func.placed().any(|(_, i)| {
            let Some(name) = library(module, func, i).and_then(|n| n.strip_prefix("_FortranAioBegin")) else {
                return false;
            };
            let unit = func.call_args(i).first().and_then(|a| func.as_const(*a));
            let unit = unit.and_then(|c| module.ctx.consts.as_u64(c)).map(|n| n as u32 as i32);
            let terminal = name.starts_with("External") && unit.is_some_and(|n| TERMINAL_UNITS.contains(&n.into()));
            name.ends_with("Output") && !terminal
        })
    }

    /// Whether bytes of varied numbers are given to a library function that copies characters.
    fn takes_for_characters(&self, name: &str, args: &[ValueId]) -> bool {
        let Some(unit) = self.program.unit(self.f) else { return false };
        let is_number = |a: &ValueId| {
            let varied = self.class(*a).is_some_and(|c| self.state(c).has_shadow());
            varied
                && match unit.memory.floats_under(*a, 1) {
                    Some(floats) => !floats.is_empty(),
                    None => !unit.memory.holds_characters(*a),
                }
        };
        COPY_CHARACTERS.iter().any(|begin| name.starts_with(begin)) && args.iter().any(is_number)
    }
}
