// Which instructions the Rust crate faer computes with in clones. faer asks at run time what the processor has, and
// goes one of several ways that compute the same: by vectors and by kernels that are written in assembly or as the
// program runs, or by plain numbers. In programs that are not optimised, where the ways by vectors are too many calls
// to be understood, what is differentiated is the plain way: questions are answered no in a clone.
// Products of matrices have rules (products.cpp) and use all that the processor has.
//
// faer asks in two ways, both of which are functions that have no arguments or one number: which `Arch` of the crate
// pulp there is, of which zero is the one without vectors; and whether std has detected a feature. The calls are marked
// before anything is inlined, those alone that stand in functions of faer: what other crates make by vectors for
// vectors (numbers in the order in which a kernel reads them) may be read by what is differentiated. faer keeps no
// such.
//
// Invariants: a program whose processor has no vectors is right with the answer no; so is a clone. The user's functions
// ask as ever.
// Not handled: other crates that use pulp; what faer was told to use (`pulp::Arch` as a value that is passed on).

#include "rust.h"
#include "support.h"

#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace {

// The path that a symbol spells, without the numbers of crates (`faer[3f2a]::`) and of copies that a link joined
// (`default17h8fef931d71afa34eE.1008`).
std::string plainPath(const Function &function) {
  StringRef name = function.getName();
  const auto [stem, number] = name.rsplit('.');
  if (!number.empty() && all_of(number, isDigit))
    name = stem;
  std::string path = enz::rustPath(name);
  for (size_t at = path.find('[', 1); at != std::string::npos; at = path.find('[', at + 1)) {
    const size_t end = path.find_first_not_of("0123456789abcdef", at + 1);
    if (isAlnum(path[at - 1]) && end != std::string::npos && path[end] == ']')
      path.erase(at, end - at + 1);
  }
  return path;
}

bool isOfFaer(const Function &function) {
  if (!function.getName().contains("faer"))
    return false;
  const std::string path = plainPath(function);
  return StringRef(path).starts_with("faer::") || StringRef(path).starts_with("<faer::");
}

// Whether a function says what the processor has: a number of at most eight bits, zero if nothing.
bool tells(const Function &function) {
  const StringRef name = function.getName();
  const auto *type = dyn_cast<IntegerType>(function.getReturnType());
  if (!type || type->getBitWidth() > 8 || function.isVarArg())
    return false;
  if (name.contains("std_detect"))
    return type->getBitWidth() == 1 && StringRef(plainPath(function)).starts_with("std_detect::detect::") &&
           all_of(function.args(), [](const Argument &arg) { return arg.getType()->isIntegerTy(); });
  if (!name.contains("pulp") || function.arg_size() != 0)
    return false;
  const std::string path = plainPath(function);
  return StringRef(path).starts_with("<pulp::x86::Arch as core::default::Default>::default") ||
         StringRef(path).starts_with("pulp::x86::Arch::new");
}

// Whether a function states what its parameters point to: Rust says that where it optimises, and a link of either has
// the same passes.
bool statesSizes(const Function &function) {
  return any_of(function.args(), [](const Argument &arg) { return arg.getDereferenceableBytes() > 0; });
}

} // namespace

void enz::markQuestions(Module &module) {
  if (any_of(module, [](const Function &function) { return statesSizes(function) && isOfFaer(function); }))
    return;
  DenseMap<const Function *, bool> known;
  for (Function &function : module) {
    if (function.isDeclaration() || !isOfFaer(function))
      continue;
    for (BasicBlock &block : function)
      for (Instruction &inst : block) {
        auto *call = dyn_cast<CallBase>(&inst);
        const Function *callee = call ? call->getCalledFunction() : nullptr;
        if (!callee || !isa<CallInst, InvokeInst>(call) || call->getFunctionType() != callee->getFunctionType())
          continue;
        const auto [at, first] = known.try_emplace(callee, false);
        if (first)
          at->second = tells(*callee);
        if (!at->second)
          continue;
        call->addFnAttr(Attribute::get(module.getContext(), enz::kAsksProcessor));
        call->removeFnAttr(Attribute::AlwaysInline);
        call->setIsNoInline();
      }
  }
}

bool enz::answerQuestions(Function &clone) {
  SmallVector<CallBase *, 4> calls;
  for (BasicBlock &block : clone)
    for (Instruction &inst : block)
      if (auto *call = dyn_cast<CallBase>(&inst); call && call->getAttributes().hasFnAttr(enz::kAsksProcessor))
        calls.push_back(call);
  bool unwound = false;
  for (CallBase *call : calls) {
    call->replaceAllUsesWith(Constant::getNullValue(call->getType()));
    unwound |= isa<InvokeInst>(call);
    drop(*call);
  }
  if (unwound)
    removeUnreachableBlocks(clone);
  return !calls.empty();
}
