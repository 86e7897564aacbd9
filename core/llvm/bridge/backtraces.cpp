// What Rust's library needs to print a backtrace stays as it is at a link.
//
// A link of the whole program brings the library's code along, which was optimised when the library was made. Two
// thirds of it read debug information (the crates gimli and addr2line) and spell names, for backtraces that most runs
// never print. To optimise that once more and to select good instructions for it took more time than all the rest of a
// small program: it is left (`optnone`).
//
// The library's copies of those crates are known by the crate's number, which stands in the names of what the library
// itself made of their generic functions (RFC 2603: the last path is the crate that instantiates). What only such
// functions call goes with them. A program's own use of the same crates has other numbers and other callers.

#include "rust.h"
#include "support.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace {

constexpr StringLiteral kReaders[] = {"5gimli", "9addr2line"};
constexpr StringLiteral kOwnModule = "3std12backtrace_rs";

// The next crate that a symbol names, `s4X4t9plMPHF_9addr2line`, and what comes behind its number.
StringRef nextCrate(StringRef &rest) {
  while (true) {
    const size_t at = rest.find("Cs");
    if (at == StringRef::npos)
      return {};
    rest = rest.drop_front(at + 1);
    const StringRef number = rest.drop_front().take_while(isAlnum);
    const StringRef behind = rest.drop_front(1 + number.size());
    if (!behind.starts_with("_"))
      continue;
    for (const StringRef reader : kReaders)
      if (behind.drop_front().starts_with(reader))
        return rest.take_front(2 + number.size() + reader.size());
  }
}

bool isMadeByLibrary(StringRef name) {
  if (!name.starts_with("_R") || !name.consume_back("_3std"))
    return false;
  return name.rtrim("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz").size() < name.size();
}

StringSet<> numbersOfLibrary(const Module &module) {
  StringSet<> numbers;
  for (const Function &function : module) {
    if (!isMadeByLibrary(function.getName()))
      continue;
    StringRef rest = function.getName();
    for (StringRef crate = nextCrate(rest); !crate.empty(); crate = nextCrate(rest))
      numbers.insert(crate);
  }
  return numbers;
}

bool isReader(const Function &function, const StringSet<> &numbers) {
  StringRef rest = function.getName();
  if (rest.contains(kOwnModule) && (isMadeByLibrary(rest) || rest.starts_with("_RN")))
    return true;
  for (StringRef crate = nextCrate(rest); !crate.empty(); crate = nextCrate(rest))
    if (numbers.contains(crate))
      return true;
  return false;
}

using Readers = SetVector<Function *>;

bool isCalledByThemAlone(const Function &function, const Readers &readers) {
  return function.hasLocalLinkage() && all_of(function.uses(), [&](const Use &use) {
           const auto *call = dyn_cast<CallBase>(use.getUser());
           return call && call->isCallee(&use) && readers.contains(const_cast<Function *>(call->getFunction()));
         });
}

// Those callees that nobody else calls; a callee is looked at once more when the last of its callers is found.
void addCallees(Readers &readers) {
  for (size_t n = 0; n < readers.size(); ++n)
    for (const Instruction &instruction : instructions(*readers[n]))
      if (const auto *call = dyn_cast<CallBase>(&instruction))
        if (Function *callee = call->getCalledFunction();
            callee && !callee->isDeclaration() && isCalledByThemAlone(*callee, readers))
          readers.insert(callee);
}

} // namespace

bool enz::leaveBacktraces(Module &module) {
  const StringSet<> numbers = numbersOfLibrary(module);
  Readers readers;
  for (Function &function : module)
    if (!function.isDeclaration() && isReader(function, numbers))
      readers.insert(&function);
  addCallees(readers);
  for (Function *function : readers) {
    if (function->hasFnAttribute(Attribute::AlwaysInline) || function->hasFnAttribute(Attribute::Naked))
      continue;
    function->removeFnAttr(Attribute::MinSize);
    function->removeFnAttr(Attribute::OptimizeForSize);
    function->addFnAttr(Attribute::NoInline);
    function->addFnAttr(Attribute::OptimizeNone);
  }
  return !readers.empty();
}
