// Functions of Rust's own library through which no derivative flows: what panics, prints, formats, reads text, asks the
// system. A link brings their bodies along, so that names alone do not keep them calls. They are known by their path,
// which the symbol spells, and taken for one of the rows `enzyme.rust.*` of the table of known functions.
//
// What drops the library's own streams, backtraces and panics is marked as well, so that calls of destructors through
// tables (of a `Box<dyn Trait>`, whose drop any drop could be) do not take it for one of theirs; if it is, the program
// ends, as for any function that was not known.
//
// The crate libm has C's functions in plain Rust: they are taken for those of C by their path, too. Text that the
// library makes (`format!`, `to_string`) is moved, in a clone, to memory that the derivative sees allocated, if the
// program's allocator is C's.
//
// Not marked: what is instantiated with a closure, which may do anything; whatever stands in other crates; the
// allocator, whose body calls that of C.
//
// A vector is filled with a number by one of two ways, which depend on whether it is zero: in a clone by the one that
// stores it.

#include "rust.h"
#include "support.h"

#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

constexpr StringLiteral kTextRow = "enzyme.rust.text";
constexpr StringLiteral kShowsRow = "enzyme.rust.shows";

// Attribute of functions that make a `String` of C's memory behind their first argument.
constexpr StringLiteral kMakesString = "enzyme-makes-string";

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

// Nor what moves bytes between memory and a stream, which may be memory, too.
constexpr StringLiteral kStreams[] = {
    "std::io::cursor::",
    "std::io::impls::",
    "std::io::util::",
    "std::io::buffered::buf",
    "std::io::Read::",
    "std::io::BufRead::",
    "std::io::Write::",
    "std::io::copy::",
    "std::io::Chain",
    "std::io::Take",
    "std::io::Bytes",
    "std::io::default_read",
    "std::io::default_write_vec",
};

// But these, which read and write text.
constexpr StringLiteral kStreamsText[] = {"write_fmt", "read_line", "::lines", "read_to_string", "BufRead::split"};

// Whatever lies below these makes text of values, or values of text.
constexpr StringLiteral kText[] = {
    "core::fmt::",
    "alloc::fmt::format",
    "core::num::flt2dec",
    "core::num::imp::flt2dec",
    "core::num::dec2flt",
    "core::num::imp::dec2flt",
    "core::num::fmt",
    "core::num::imp::fmt",
    "core::str::converts",
    "core::str::count",
    "core::str::validations",
    "core::str::lossy",
    "core::unicode",
    "core::char",
    "alloc::string::String::from_utf8",
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

// Functions of the crate libm that are C's, which the table of rules has; those for `f32` end in an `f`. Their bodies
// take the bits of floats apart.
constexpr StringLiteral kMath[] = {"acos",  "acosh", "asin", "asinh", "atan",   "atan2", "atanh",  "cbrt",
                                   "cos",   "cosh",  "erf",  "erfc",  "exp",    "exp10", "exp2",   "expm1",
                                   "fmod",  "hypot", "j0",   "j1",    "jn",     "ldexp", "lgamma", "log",
                                   "log10", "log1p", "log2", "pow",   "rint",   "round", "scalbn", "sin",
                                   "sinh",  "sqrt",  "tan",  "tanh",  "tgamma", "y0",    "y1",     "yn"};
constexpr StringLiteral kMathPaths[] = {"libm::math::", "compiler_builtins::math::"};

// C's name of a function of the crate libm; empty if it is none.
StringRef mathOf(StringRef path) {
  if (!startsWithOne(path, kMathPaths))
    return {};
  StringRef name = path.rsplit("::").second;
  // The former way ends in a hash.
  if (name.size() == 17 && name.front() == 'h')
    name = path.drop_back(name.size() + 2).rsplit("::").second;
  StringRef plain = name;
  return is_contained(kMath, name) || (plain.consume_back("f") && is_contained(kMath, plain)) ? name : StringRef();
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

// Whether a function moves bytes as they are, which may be those of floats.
bool movesBytes(StringRef path) {
  path.consume_front("<");
  return startsWithOne(path, kStreams) && none_of(kStreamsText, [&](StringRef text) { return path.contains(text); });
}

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
    return kTextRow;
  if (movesBytes(path))
    return {};
  if (isSystem(path))
    return systemRow(path);
  // <type>::function, <type as trait>::function
  if (!path.starts_with("<"))
    return {};
  const auto [type, rest] = path.drop_front().split(" as ");
  if (startsWithOne(rest, kTextTraits))
    return rest.starts_with("core::fmt::") && !rest.starts_with("core::fmt::Write") ? kShowsRow : kTextRow;
  // Hashing computes with integers; only the keys of a map come from the system.
  if (rest.starts_with("core::hash::"))
    return {};
  if (isSystem(type))
    return systemRow(path);
  return startsWithOne(type, kText) ? StringRef(kTextRow) : StringRef();
}

// Whether this drops a type of which the library keeps objects to itself, or that never has a derivative.
bool dropsOwn(StringRef path) {
  if (!path.consume_front("core::ptr::drop_in_place"))
    return false;
  path.consume_front("::");
  path = path.ltrim("<&*[( ");
  return (isSystem(path) && !movesBytes(path)) || path.starts_with("core::fmt::") ||
         path.starts_with("std::ffi::os_str::");
}

// Whether this is of what the library panics with, or shows how it came to that: no function of the program's objects.
bool isOfPanics(StringRef path) {
  constexpr StringLiteral kPanics[] = {"std::panicking::panic_handler", "std::panicking::begin_panic",
                                       "std::sys::backtrace", "std::backtrace"};
  return startsWithOne(path.ltrim('<'), kPanics);
}

} // namespace

// A name without the number that a link puts behind the second one of it.
static StringRef withoutNumber(StringRef name) {
  const auto [plain, digits] = name.rsplit('.');
  return !digits.empty() && all_of(digits, isDigit) ? plain : name;
}

// The path that a symbol spells, in the present way or in the former, which has no signs but these.
std::string enz::rustPath(StringRef name) {
  name = withoutNumber(name);
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
  StringRef name = function.getName();
  name.consume_back(kPrepared);
  name = withoutNumber(name);
  // The former way ends in a hash of sixteen digits.
  const bool former =
      name.starts_with("_ZN") && name.size() > 23 && name.ends_with("E") && name.substr(name.size() - 20, 3) == "17h";
  return name.starts_with("_R") || former;
}

// `void enzyme.text.copied(ptr to, ptr from, i64 length)`: copies text. A copy of bytes could hold floats or addresses,
// for all that is seen of it; this is of a row of its own.
static Function *textCopier(Module &module) {
  LLVMContext &context = module.getContext();
  Type *pointer = PointerType::get(context, 0);
  FunctionType *type =
      FunctionType::get(Type::getVoidTy(context), {pointer, pointer, Type::getInt64Ty(context)}, false);
  Function *copier = Function::Create(type, GlobalValue::InternalLinkage, "enzyme.text.copied", module);
  copier->addFnAttr("enzyme_math", "enzyme.rust.copied");
  copier->addFnAttr(Attribute::NoInline);
  copier->setDoesNotThrow();
  IRBuilder<> at(BasicBlock::Create(context, "", copier));
  at.CreateMemCpy(copier->getArg(0), Align(1), copier->getArg(1), Align(1), copier->getArg(2));
  at.CreateRetVoid();
  return copier;
}

// `void enzyme.text.moved(ptr to, ptr from)`: moves a `String` to other memory.
static Function *textMover(Module &module) {
  constexpr StringLiteral name = "enzyme.text.moved";
  if (Function *known = module.getFunction(name))
    return known;
  LLVMContext &context = module.getContext();
  Type *word = Type::getInt64Ty(context), *nothing = Type::getVoidTy(context);
  Type *pointer = PointerType::get(context, 0);
  const FunctionCallee alloc = module.getOrInsertFunction("malloc", pointer, word);
  const FunctionCallee release = module.getOrInsertFunction("free", nothing, pointer);
  Function *mover = Function::Create(FunctionType::get(nothing, {pointer, pointer}, false),
                                     GlobalValue::InternalLinkage, name, module);
  mover->setDoesNotThrow();
  Value *to = mover->getArg(0), *from = mover->getArg(1);
  auto *entry = BasicBlock::Create(context, "", mover), *some = BasicBlock::Create(context, "some", mover),
       *none = BasicBlock::Create(context, "none", mover);
  IRBuilder<> at(entry);
  const auto part = [&](Value *text, uint64_t n) { return at.CreateConstInBoundsGEP1_64(word, text, n); };
  // What was multiplied is a number, and neither a float nor an address.
  const auto count = [&](uint64_t n) {
    Value *times = at.CreateMul(at.CreateLoad(word, part(from, n)), at.getInt64(3));
    return at.CreateUDiv(times, at.getInt64(3));
  };
  // Capacity, address, length: as Rust 1.95 lays them out.
  Value *room = count(0), *text = at.CreateLoad(pointer, part(from, 1)), *length = count(2);
  at.CreateStore(room, part(to, 0));
  at.CreateStore(length, part(to, 2));
  at.CreateCondBr(at.CreateIsNull(room), none, some);
  at.SetInsertPoint(some);
  Value *memory = at.CreateCall(alloc, {room});
  at.CreateCall(textCopier(module), {memory, text, length});
  at.CreateCall(release, {text});
  at.CreateStore(memory, part(to, 1));
  at.CreateRetVoid();
  at.SetInsertPoint(none);
  at.CreateStore(at.CreateIntToPtr(at.getInt64(1), pointer), part(to, 1));
  at.CreateRetVoid();
  return mover;
}

// Whether this makes a `String` behind its first argument.
static bool makesString(const Function &function, StringRef path) {
  return function.getReturnType()->isVoidTy() && function.arg_size() > 0 &&
         function.getArg(0)->getType()->isPointerTy() &&
         (path.starts_with("alloc::fmt::format") || path.contains("ToString>::"));
}

// Whether the program's allocator is C's: it has not named another one.
static bool allocatesByMalloc(const Module &module) {
  return module.getDataLayout().getPointerSizeInBits() == 64 && any_of(module, [](const Function &function) {
           return function.getName().ends_with("__rust_alloc") &&
                  any_of(instructions(function), [](const Instruction &inst) {
                    const auto *call = dyn_cast<CallBase>(&inst);
                    const Function *callee = call ? call->getCalledFunction() : nullptr;
                    return callee && callee->getName().ends_with("__rdl_alloc");
                  });
         });
}

// Text that the library makes lies in memory without a shadow, though it may come where a derivative has shadows of all
// that pointers lead to: it is moved to memory that the derivative sees allocated.
void enz::moveTexts(Function &clone) {
  SmallVector<CallBase *, 8> work;
  for (BasicBlock &block : clone)
    for (Instruction &inst : block)
      if (auto *call = dyn_cast<CallBase>(&inst); call && isa<CallInst, InvokeInst>(call) &&
                                                  call->getCalledFunction() &&
                                                  call->getCalledFunction()->hasFnAttribute(kMakesString))
        work.push_back(call);
  if (work.empty())
    return;
  Function *mover = textMover(*clone.getParent());
  for (CallBase *call : work) {
    Value *place = call->getArgOperand(0);
    IRBuilder<> entry(&clone.getEntryBlock(), clone.getEntryBlock().getFirstInsertionPt());
    AllocaInst *own = entry.CreateAlloca(ArrayType::get(entry.getInt64Ty(), 3));
    call->setArgOperand(0, own);
    auto *invoke = dyn_cast<InvokeInst>(call);
    BasicBlock *next = invoke ? SplitEdge(invoke->getParent(), invoke->getNormalDest()) : nullptr;
    IRBuilder<> after(next ? &*next->getFirstInsertionPt() : call->getNextNode());
    after.SetCurrentDebugLocation(call->getDebugLoc());
    after.CreateCall(mover, {place, own});
  }
}

// Whether `bits` are those of numbers.
static bool areBits(const Value *bits) {
  const Value *one = nullptr, *other = nullptr;
  if (match(bits, m_Or(m_Value(one), m_Value(other))))
    return areBits(one) && areBits(other);
  return isa<BitCastInst>(bits) && cast<BitCastInst>(bits)->getSrcTy()->isFloatingPointTy();
}

// Whether it is asked if all bits of some numbers are zero.
static bool asksForZeros(const Value *condition) {
  const Value *one = nullptr, *other = nullptr;
  if (match(condition, m_LogicalAnd(m_Value(one), m_Value(other))))
    return asksForZeros(one) && asksForZeros(other);
  if (match(condition, m_Intrinsic<Intrinsic::is_fpclass>(m_Value(one), m_SpecificInt(fcPosZero))))
    return !isa<Constant>(one);
  return match(condition, m_SpecificICmp(CmpInst::ICMP_EQ, m_Value(one), m_Zero())) && areBits(one);
}

// `vec![x; n]` asks whether all bits of x are zero and takes memory that is, so that nothing in it would depend on x.
// Where they are not, it takes memory to fill.
// (Not seen: arrays of more numbers than are compared at once.)
bool enz::fillAlike(Function &clone) {
  if (!isRust(clone))
    return false;
  const auto takes = [](const BasicBlock &block, StringRef plain, StringRef own) {
    return any_of(block, [&](const Instruction &inst) {
      const auto *call = dyn_cast<CallBase>(&inst);
      const Function *callee = call ? call->getCalledFunction() : nullptr;
      return callee && (callee->getName() == plain || callee->getName().ends_with(own));
    });
  };
  bool changed = false;
  for (BasicBlock &block : clone)
    if (auto *branch = dyn_cast<BranchInst>(block.getTerminator());
        branch && branch->isConditional() && asksForZeros(branch->getCondition()) &&
        takes(*branch->getSuccessor(0), "calloc", "__rust_alloc_zeroed") &&
        takes(*branch->getSuccessor(1), "malloc", "__rust_alloc")) {
      branch->setCondition(ConstantInt::getFalse(clone.getContext()));
      changed = true;
    }
  return changed;
}

void enz::markRustLibrary(Module &module) {
  const bool by_malloc = allocatesByMalloc(module);
  for (Function &function : module) {
    if (!isRust(function) || function.hasFnAttribute("enzyme_math"))
      continue;
    const std::string path = rustPath(function.getName());
    // It ends the process. Were it to unwind, what is about to be boxed would have to be dropped there, and stay in
    // memory of its own instead of going straight into the box: copies of bytes, between all variants of an
    // enumeration.
    if (path == "alloc::alloc::handle_alloc_error")
      function.setDoesNotThrow();
    const StringRef math = function.getReturnType()->isFloatingPointTy() ? mathOf(path) : StringRef();
    const StringRef row = math.empty() ? rowOf(path, function) : math;
    // Only formatters lead to what shows a value.
    if (dropsOwn(path) || isOfPanics(path) || row == kShowsRow)
      function.addFnAttr(kOwn);
    if (row.empty())
      continue;
    function.addFnAttr("enzyme_math", row);
    if (by_malloc && row == kTextRow && makesString(function, path))
      function.addFnAttr(kMakesString);
    function.removeFnAttr(Attribute::AlwaysInline);
    function.addFnAttr(Attribute::NoInline);
  }
}
