// Sums that a loop of a derivative makes in shadow memory (sums.cpp).
#ifndef ENZYME_SUMS_H
#define ENZYME_SUMS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Instructions.h"

#include <optional>

namespace enz {

// `store` adds to what `load` has read: by operations that nothing else uses within the loop, the last of which may be
// used after it. All are marked as sums that may be reordered, and stand in one block.
struct Sum {
  llvm::LoadInst *load;
  llvm::StoreInst *store;
  llvm::SmallVector<llvm::Instruction *, 4> operations; // the last one first
};

std::optional<Sum> sumAt(llvm::StoreInst &store, const llvm::Loop &loop);

// Whether nothing is written between the load and the store.
bool isUndisturbed(const Sum &sum);

// Whether what a sum has left in memory is read after the loop: others must not come before it then.
bool isUsedAfter(const Sum &sum, const llvm::Loop &loop);

} // namespace enz

#endif
