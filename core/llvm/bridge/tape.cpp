// Memory of tapes in a function that is to be differentiated again.
//
// Derivatives cut small pieces of memory from an arena (core/diff/src/arena.rs), where data of all kinds lie at places
// that no analysis knows. Each of the functions that do so stands for another that allocates or frees one piece by
// itself, and is replaced by it in prepared clones: the derivative of a derivative sees plain memory.

#include "support.h"

#include "llvm/IR/IRBuilder.h"

using namespace llvm;

namespace {

// `name` by `by`, which gets these of the arguments.
struct Plain {
  StringLiteral name;
  StringLiteral by;
  SmallVector<unsigned, 2> args;
  // Whether it wants the function that frees.
  bool releases = false;
};

constexpr StringLiteral kFree = "free";

const Plain *plainOf(StringRef name) {
  static const Plain kPlain[] = {
      {"enzyme.rt.take", "enzyme.rt.alloc", {1}},
      {"enzyme.rt.take.aligned", "enzyme.rt.alloc.aligned", {1, 2}},
      {"enzyme.rt.extend", "enzyme.rt.grow", {1, 3}},
      {"enzyme.rt.give", kFree, {0}},
      {"enzyme.rt.list", "enzyme.rt.defer", {0, 1}, true},
  };
  const auto *found = find_if(kPlain, [name](const Plain &plain) { return plain.name == name; });
  return found == std::end(kPlain) ? nullptr : found;
}

} // namespace

CallBase *enz::plainTape(CallBase &call) {
  Function *function = call.getCalledFunction();
  const Plain *plain = function && isa<CallInst>(call) ? plainOf(function->getName()) : nullptr;
  Function *by = plain ? call.getModule()->getFunction(plain->by) : nullptr;
  if (!by)
    return &call;
  SmallVector<Value *, 4> args;
  SmallVector<Type *, 4> types;
  for (unsigned n : plain->args)
    if (n < call.arg_size())
      args.push_back(call.getArgOperand(n));
  if (plain->releases)
    args.push_back(call.getModule()->getFunction(kFree));
  if (is_contained(args, nullptr))
    return &call;
  for (Value *arg : args)
    types.push_back(arg->getType());
  auto *type = FunctionType::get(call.getType(), types, /*isVarArg=*/false);
  if (by->getName() != kFree && by->getFunctionType() != type)
    return &call;
  IRBuilder<> b(&call);
  CallInst *made = b.CreateCall(type, by, args);
  made->setCallingConv(by->getCallingConv());
  call.replaceAllUsesWith(made);
  call.eraseFromParent();
  return made;
}
