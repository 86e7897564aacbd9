// Whether vectors in memory overlap in part: `a[i + 4 .. i + 6]` and `a[i + 3 .. i + 5]`, as the shadows of reads are
// that were made vectors before.
//
// LLVM's LoopLoadElimination hands a stored vector on to the next iteration's load, and overlooks a store in between
// that overlaps it in part (LLVM 22): a sum of adjoints would lose what that store added. Functions with such vectors
// go without that pass.
//
// Two accesses of a block overlap in part in some iteration if their distance is a constant, and no multiple of their
// size. Vectors that are aligned to their size never do. Not handled: distances that are not constant, for which
// the pass checks addresses itself.

#include "support.h"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace {

// Accesses of one block that are compared with each other; more are taken to overlap.
constexpr size_t kAccesses = 64;

// Whether this reads or writes a vector that is aligned to less than its size.
bool isUnaligned(const Instruction &inst, const DataLayout &layout) {
  if (!isa<LoadInst, StoreInst>(inst))
    return false;
  auto *vector = dyn_cast<FixedVectorType>(getLoadStoreType(&inst));
  return vector && getLoadStoreAlignment(&inst).value() < layout.getTypeStoreSize(vector);
}

using Accesses = SmallVector<Instruction *, 16>;

// Those of a block, if one of them is a store.
Accesses accessesIn(BasicBlock &block, const DataLayout &layout) {
  Accesses found;
  bool stores = false;
  for (Instruction &inst : block)
    if (isUnaligned(inst, layout)) {
      found.push_back(&inst);
      stores |= isa<StoreInst>(inst);
    }
  return stores ? found : Accesses();
}

bool overlap(const Instruction &one, const Instruction &other, ScalarEvolution &evolution, const DataLayout &layout) {
  Type *type = getLoadStoreType(&one);
  if (getLoadStoreType(&other) != type)
    return false;
  const SCEV *apart =
      evolution.getMinusSCEV(evolution.getSCEV(const_cast<Value *>(getLoadStorePointerOperand(&one))),
                             evolution.getSCEV(const_cast<Value *>(getLoadStorePointerOperand(&other))));
  const auto *distance = dyn_cast<SCEVConstant>(apart);
  return distance && distance->getAPInt().srem(static_cast<int64_t>(layout.getTypeStoreSize(type))) != 0;
}

} // namespace

bool enz::hasStaggeredVectors(Function &function) {
  const DataLayout &layout = function.getParent()->getDataLayout();
  SmallVector<Accesses, 4> blocks;
  for (BasicBlock &block : function)
    if (Accesses accesses = accessesIn(block, layout); accesses.size() > 1)
      blocks.push_back(std::move(accesses));
  if (blocks.empty())
    return false;
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  AssumptionCache assumptions(function);
  TargetLibraryInfoImpl library(function.getParent()->getTargetTriple());
  TargetLibraryInfo functions(library, &function);
  ScalarEvolution evolution(function, functions, assumptions, dominators, loops);
  return any_of(blocks, [&](const Accesses &accesses) {
    if (!loops.getLoopFor(accesses.front()->getParent()))
      return false;
    if (accesses.size() > kAccesses)
      return true;
    return any_of(accesses, [&](const Instruction *store) {
      return isa<StoreInst>(store) && any_of(accesses, [&](const Instruction *other) {
               return other != store && overlap(*store, *other, evolution, layout);
             });
    });
  });
}
