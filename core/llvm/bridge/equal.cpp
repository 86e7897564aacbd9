// Of generated functions that are equal one is kept.
//
// A function has a derivative for each set of wishes that its callers have: which arguments have shadows, what is still
// there in the reverse sweep. Some of these sets make no difference to the code. LLVM would optimise each of the
// functions and turn it into machine code by itself: for a program that calls a library of matrices in many ways a
// sixth of all code is there more than once.
//
// Found by LLVM's own comparison of functions (MergeFunctions). Only what is called directly is looked at, since nobody
// compares its address. Runs after all derivatives of a module, before LLVM makes vectors of their loops.

#include "support.h"

#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/IPO/MergeFunctions.h"

using namespace llvm;

void enz::keepOneOfEqual(Module &module) {
  SmallVector<Function *, 32> generated;
  const auto isCalled = [](const Use &use) {
    const auto *call = dyn_cast<CallBase>(use.getUser());
    return call && call->isCallee(&use);
  };
  for (Function &function : module) {
    if (function.isDeclaration() || !function.hasLocalLinkage() || !function.getName().starts_with("enzyme.") ||
        function.use_empty() || !all_of(function.uses(), isCalled))
      continue;
    function.setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
    generated.push_back(&function);
  }
  MergeFunctionsPass::runOnFunctions(generated);
}
