// Stores that a reverse sweep can take back, and loads that it can then do again (undo.cpp).
#ifndef ENZYME_UNDO_H
#define ENZYME_UNDO_H

#include "support.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#include <functional>
#include <optional>

namespace enz {

// Moves stores of floats in loops behind what their blocks compute next, up to what else may access memory, so that as
// little as can be comes after a store that the reverse sweep could take back. `is_pure` tells calls that compute
// numbers and do nothing else. Whether anything moved.
bool delayStores(llvm::Function &function, const llvm::LoopInfo &loops,
                 llvm::function_ref<bool(const llvm::CallBase &)> is_pure);

class Undoing {
public:
  // The stores that may overwrite what a load has read, in any iteration; false if other writes may, or if it is not
  // known.
  using StoresAfter = std::function<bool(llvm::LoadInst &, llvm::SmallVectorImpl<llvm::StoreInst *> &)>;
  // Whether a loop has no write that may reach what a load in it reads.
  using IsSteady = std::function<bool(const llvm::LoadInst &, const llvm::Loop &)>;
  // Whether nobody but the function can see what is stored somewhere.
  using IsPrivate = std::function<bool(const llvm::Value *)>;
  // Whether a call computes a number and does nothing else.
  using IsPure = std::function<bool(const llvm::CallBase &)>;

  Undoing(EnzOpaqueHost &host, llvm::Function &function, StoresAfter stores_after, IsSteady is_steady,
          IsPrivate is_private, IsPure is_pure);

  // Looks at the loads, all at once.
  void find(llvm::ArrayRef<llvm::LoadInst *> loads);

  bool empty() const { return reads_.empty(); }
  // Whether a load can be done again, or reads what a store is about to overwrite.
  bool needs(const llvm::LoadInst *load) const { return canRepeat(load) || isOld(load); }
  bool canRepeat(const llvm::LoadInst *load) const { return reads_.count(const_cast<llvm::LoadInst *>(load)) != 0; }

  // Says that a phi at the head of a loop has the value of a load which nothing else uses any more, and which reads the
  // same there.
  void standsFor(llvm::PHINode *phi, llvm::LoadInst *load);

  // Writes the places of stores into the function, and reports all.
  void report(const EnzFactSink &sink);

private:
  // What a store that others can see writes to, over all iterations of `outer`: `start`, and steps for each iteration
  // of loops in it.
  struct Place {
    llvm::Loop *outer = nullptr;
    const llvm::SCEV *start = nullptr;
    llvm::SmallVector<std::pair<llvm::Loop *, const llvm::SCEV *>, 4> steps;
  };
  struct Store {
    llvm::LoadInst *old = nullptr;
    bool is_private = false;
  };

  bool isOld(const llvm::LoadInst *load) const;
  void findRead(llvm::LoadInst &load);
  void findCarried(llvm::LoadInst &load);
  void dropCovered(llvm::LoadInst &load, llvm::SmallVectorImpl<llvm::StoreInst *> &stores);
  bool fillsBefore(const llvm::LoadInst &load, llvm::StoreInst &fill, llvm::StoreInst &late);
  bool readsWhereFilled(const llvm::LoadInst &load, const llvm::StoreInst &fill, const llvm::Loop &loop,
                        const llvm::Value &object);
  bool fillsAll(llvm::StoreInst &store, llvm::Loop &loop, const llvm::Value &object);
  const llvm::SCEV *sizeOf(llvm::ScalarEvolution &evolution, const llvm::Instruction &object);
  bool canUndo(llvm::StoreInst &store);
  std::optional<Place> placeOf(llvm::ScalarEvolution &evolution, llvm::StoreInst &store);
  bool readsBefore(llvm::Instruction &load, llvm::ArrayRef<llvm::StoreInst *> stores);
  bool joinsOf(const llvm::BasicBlock &branch, llvm::SmallVectorImpl<const llvm::Instruction *> &out);
  bool leavesLoop(const llvm::Value &value, const llvm::PHINode &phi) const;
  bool usesOf(llvm::Instruction &read, llvm::SmallVectorImpl<const llvm::Instruction *> &out);
  llvm::LoadInst *oldOf(llvm::StoreInst &store);

  EnzOpaqueHost &host_;
  llvm::Function &function_;
  llvm::LoopInfo &loops_;
  llvm::DominatorTree &tree_;
  StoresAfter stores_after_;
  IsSteady is_steady_;
  IsPrivate is_private_;
  IsPure is_pure_;
  size_t blocks_seen_ = 0;
  // None: cannot be undone.
  llvm::MapVector<llvm::StoreInst *, std::optional<Store>> stores_;
  llvm::MapVector<llvm::LoadInst *, llvm::SmallVector<llvm::StoreInst *, 4>> reads_;
  llvm::SmallVector<std::pair<llvm::PHINode *, llvm::LoadInst *>, 4> phis_;
};

} // namespace enz

#endif
