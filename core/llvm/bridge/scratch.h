// Memory that each iteration of a loop writes before it reads it (scratch.cpp).
#ifndef ENZYME_SCRATCH_H
#define ENZYME_SCRATCH_H

#include "support.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Dominators.h"

namespace enz {

// An object from before the loop that might as well be made anew in each iteration.
struct ScratchObject {
  llvm::Instruction *object;
  // What frees it, after the loop; null for a variable.
  llvm::CallInst *release = nullptr;
  // Addresses in it that are computed before the loop for the loop, those first that others are made of.
  llvm::SmallVector<llvm::Instruction *, 8> addresses;
};

class Scratch {
public:
  Scratch(EnzOpaqueHost &host, llvm::Function &function, llvm::Loop &loop);

  // `object` as such memory, if it is; asked once for each object.
  std::optional<ScratchObject> find(llvm::Instruction &object);

private:
  struct Uses {
    llvm::SmallVector<llvm::LoadInst *, 16> reads;
    llvm::SmallVector<llvm::Instruction *, 16> writes;
  };
  // Bytes from `low` on, before `high`, of one object; those of the first element, if several were written.
  struct Span {
    const llvm::SCEV *low = nullptr, *high = nullptr, *first = nullptr, *firstEnd = nullptr;
  };

  bool isObject(const llvm::Instruction &object) const;
  bool isAfter(const llvm::Instruction &inst) const { return after_.contains(inst.getParent()); }
  bool follow(ScratchObject &out, Uses &uses);
  bool isWrittenBefore(llvm::LoadInst &read, llvm::ArrayRef<llvm::Instruction *> writes);
  bool covers(llvm::Instruction &write, llvm::LoadInst &read);
  bool isGuardedAlike(const llvm::BasicBlock *block, const llvm::Loop &around, const llvm::BasicBlock *later) const;
  std::optional<Span> writtenIn(llvm::Instruction &write, const llvm::Loop &around, const llvm::Instruction &before);
  std::optional<Span> readIn(llvm::LoadInst &read, const llvm::Loop &around);
  const llvm::SCEV *extreme(const llvm::SCEV *value, const llvm::Loop &loop, bool largest);
  const llvm::SCEV *sizeOf(const llvm::Instruction &access, const llvm::Type *like);

  llvm::Loop &loop_;
  llvm::ScalarEvolution &evolution_;
  llvm::DominatorTree &dominators_;
  llvm::LoopInfo &loops_;
  llvm::TargetLibraryInfo &library_;
  const llvm::DataLayout &layout_;
  llvm::SmallPtrSet<const llvm::BasicBlock *, 16> after_;
};

} // namespace enz

#endif
