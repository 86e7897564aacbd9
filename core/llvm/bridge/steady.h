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
  // In whose it is another one, all of them inside of `loop`: bit n is the n-th loop around the load, the innermost
  // first.
  uint64_t varies;
  // Stores in `loop` that must be compared at run time.
  llvm::SmallVector<llvm::StoreInst *, 4> stores;
  // Whether the loop around the load goes round another number of times in each iteration of `loop`.
  bool is_triangular = false;
};

// The stores in a loop that may reach the load at hand; false if other writes may.
using ConflictsIn = std::function<bool(const llvm::Loop &, llvm::SmallVectorImpl<llvm::StoreInst *> &)>;

// The outermost loop in which `load` is steady, if any. `triangles`: also where the loop around it goes round another
// number of times in each iteration of that.
std::optional<Steady> findSteady(llvm::ScalarEvolution &evolution, llvm::LoopInfo &loops, llvm::LoadInst &load,
                                 const ConflictsIn &conflicts, bool triangles = false);

// The most backedges that `inner` takes in any iteration of `loop`, which is not much more than `loop` takes itself;
// null if that is not known.
const llvm::SCEV *mostTurns(llvm::ScalarEvolution &evolution, const llvm::Loop &loop, const llvm::Loop &inner);

// Whether a load and a store touch different parts of one object in all iterations of `loop`.
bool areApartIn(EnzOpaqueHost &host, llvm::Function &function, llvm::Loop &loop, llvm::LoadInst &load,
                llvm::StoreInst &store);

// Whether there is a condition under which it is.
bool hasSteadyCondition(EnzOpaqueHost &host, llvm::Function &function, const Steady &steady);

// The condition under which it is, true or a value at the end of the preheader; null if it can't be stated.
llvm::Value *steadyCondition(EnzOpaqueHost &host, llvm::Function &function, llvm::SCEVExpander &expander,
                             const Steady &steady);

} // namespace enz

#endif
