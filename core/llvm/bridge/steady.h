// Loads whose value is the same in each iteration of an outer loop (steady.cpp).
#ifndef ENZYME_STEADY_H
#define ENZYME_STEADY_H

#include "support.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#include <functional>
#include <optional>

namespace enz {

struct Steady {
  llvm::LoadInst *load;
  // In whose iterations the value is the same.
  llvm::Loop *loop;
  // Whether it is another one in each iteration of the loop around the load, which is inside of `loop` then.
  bool varies;
  // Stores in `loop` that must be compared at run time.
  llvm::SmallVector<llvm::StoreInst *, 4> stores;
};

// The stores in a loop that may reach the load at hand; false if other writes may.
using ConflictsIn = std::function<bool(const llvm::Loop &, llvm::SmallVectorImpl<llvm::StoreInst *> &)>;

// The outermost loop in which `load` is steady, if any.
std::optional<Steady> findSteady(llvm::ScalarEvolution &evolution, llvm::LoopInfo &loops, llvm::LoadInst &load,
                                 const ConflictsIn &conflicts);

// The condition under which it is, true or a value at the end of the preheader; null if it can't be stated.
llvm::Value *steadyCondition(EnzOpaqueHost &host, llvm::Function &function, llvm::SCEVExpander &expander,
                             const Steady &steady);

} // namespace enz

#endif
