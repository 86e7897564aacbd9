// Functions of Rust's own library through which no derivative flows: what panics, prints, formats, reads text, asks the
// system. A link brings their bodies along, so that names alone do not keep them calls. They are known by their path,
// which the symbol spells, and taken for one of the rows `enzyme.rust.*` of the table of known functions.
//
// What drops the library's own streams, backtraces and panics is marked as well, so that calls of destructors through
// tables (of a `Box<dyn Trait>`, whose drop any drop could be) do not take it for one of theirs; if it is, the program
// ends, as for any function that was not known.
//
// Not marked: what is instantiated with a closure, which may do anything; whatever stands in other crates; the
// allocator, whose body calls that of C.

#include "rust.h"
#include "support.h"

#include "llvm/Demangle/Demangle.h"

using namespace llvm;

namespace {

// Whatever lies below these paths prints, reads or asks the system.
constexpr StringLiteral kSystem[] = {
    "std::io::",      "std::fs::",       "std::sys::",           "std::env::",          "std::net::",
    "std::process::", "std::time::",     "std::backtrace",       "std::panicking::",    "std::path::",
    "std::os::",      "std::thread::id", "std::thread::current", "std::hash::random::",
};

// But not what lies below these: the allocator, and what calls the program back or holds its data.
constexpr StringLiteral kOpen[] = {
    "std::sys::alloc",  "std::sys::sync::once",         "std::sys::thread_local",
    "std::sys::thread", "std::panicking::catch_unwind", "std::panicking::try",
};

// Whatever lies below these makes text of values, or values of text.
constexpr StringLiteral kText[] = {
    "core::fmt::",         "alloc::fmt::format",      "core::num::flt2dec", "core::num::imp::flt2dec",
    "core::num::dec2flt",  "core::num::imp::dec2flt", "core::num::fmt",     "core::num::imp::fmt",
    "core::str::converts", "core::str::pattern",      "core::str::count",   "core::str::validations",
    "core::str::lossy",    "core::unicode",           "core::char",         "alloc::string::String::from_utf8",
};

// But these step through text, by an iterator that may lie beside numbers.
constexpr StringLiteral kSteps = "core::str::validations::next_code_point";

// Traits by which types of the library do.
constexpr StringLiteral kTextTraits[] = {"core::fmt::", "core::str::traits::FromStr", "alloc::string::ToString",
                                         "alloc::string::SpecToString"};

constexpr StringLiteral kPlain[] = {"f16", "f32", "f64", "f128", "i8",   "i16",   "i32",  "i64",  "i128", "isize",
                                    "u8",  "u16", "u32", "u64",  "u128", "usize", "bool", "char", "str"};

bool startsWithOne(StringRef path, ArrayRef<StringLiteral> starts) {
  return any_of(starts, [&](StringRef start) { return path.starts_with(start); });
}

// Whether a path or type is of one of the library's crates, or a number, behind references and brackets.
bool isOfLibrary(StringRef path) {
  path = path.ltrim("<&*[( ");
  path.consume_front("mut ");
  path.consume_front("const ");
  if (path.starts_with("core::") || path.starts_with("alloc::") || path.starts_with("std::"))
    return true;
  const StringRef word = path.take_while([](char c) { return isAlnum(c) || c == '_'; });
  return is_contained(kPlain, word) && !path.substr(word.size()).starts_with("::");
}

bool isSystem(StringRef path) { return startsWithOne(path, kSystem) && !startsWithOne(path, kOpen); }

// Input goes to memory behind the second argument, all else only behind the first.
StringRef systemRow(StringRef path) {
  return path.rsplit("::").second.contains("read") ? "enzyme.rust.reads" : "enzyme.rust.system";
}

// The row of the table that a function of this path is of; empty if of none.
StringRef rowOf(StringRef path, const Function &function) {
  if (path.contains("{closure") || !isOfLibrary(path))
    return {};
  if (function.doesNotReturn())
    return "enzyme.rust.ends";
  if (path.starts_with(kSteps))
    return {};
  if (startsWithOne(path, kText))
    return "enzyme.rust.text";
  if (isSystem(path))
    return systemRow(path);
  // <type>::function, <type as trait>::function
  if (!path.starts_with("<"))
    return {};
  const auto [type, rest] = path.drop_front().split(" as ");
  if (startsWithOne(rest, kTextTraits))
    return rest.starts_with("core::fmt::") && !rest.starts_with("core::fmt::Write") ? "enzyme.rust.shows"
                                                                                    : "enzyme.rust.text";
  // Hashing computes with integers; only the keys of a map come from the system.
  if (rest.starts_with("core::hash::"))
    return {};
  if (isSystem(type))
    return systemRow(path);
  return startsWithOne(type, kText) ? "enzyme.rust.text" : StringRef();
}

// Whether this drops a type of which the library keeps objects to itself, or that never has a derivative.
bool dropsOwn(StringRef path) {
  if (!path.consume_front("core::ptr::drop_in_place"))
    return false;
  path.consume_front("::");
  path = path.ltrim("<&*[( ");
  return isSystem(path) || path.starts_with("core::fmt::") || path.starts_with("std::ffi::os_str::");
}

} // namespace

// The path that a symbol spells, in the present way or in the former, which has no signs but these.
std::string enz::rustPath(StringRef name) {
  std::string path = demangle(std::string_view(name.data(), name.size()));
  constexpr std::pair<StringLiteral, StringLiteral> kSigns[] = {
      {"_$LT$", "<"}, {"$LT$", "<"}, {"$GT$", ">"}, {"$RF$", "&"},  {"$BP$", "*"},
      {"$u20$", " "}, {"..", "::"},  {"$C$", ","},  {"$u7b$", "{"}, {"$u7d$", "}"},
  };
  if (name.starts_with("_ZN"))
    for (const auto &[sign, meaning] : kSigns)
      for (size_t at = path.find(sign); at != std::string::npos; at = path.find(sign, at + meaning.size()))
        path.replace(at, sign.size(), meaning);
  return path;
}

bool enz::isRust(const Function &function) {
  const StringRef name = function.getName();
  // The former way ends in a hash of sixteen digits.
  const bool former =
      name.starts_with("_ZN") && name.size() > 23 && name.ends_with("E") && name.substr(name.size() - 20, 3) == "17h";
  return name.starts_with("_R") || former;
}

void enz::markRustLibrary(Module &module) {
  for (Function &function : module) {
    if (!isRust(function) || function.hasFnAttribute("enzyme_math"))
      continue;
    const std::string path = rustPath(function.getName());
    // It ends the process. Were it to unwind, what is about to be boxed would have to be dropped there, and stay in
    // memory of its own instead of going straight into the box: copies of bytes, between all variants of an
    // enumeration.
    if (path == "alloc::alloc::handle_alloc_error")
      function.setDoesNotThrow();
    if (dropsOwn(path))
      function.addFnAttr(kDropsOwn);
    const StringRef row = rowOf(path, function);
    if (row.empty())
      continue;
    function.addFnAttr("enzyme_math", row);
    function.removeFnAttr(Attribute::AlwaysInline);
    function.addFnAttr(Attribute::NoInline);
  }
}
