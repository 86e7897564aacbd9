// Loads that repeat what an earlier iteration has loaded (carry.cpp).
#ifndef ENZYME_CARRY_H
#define ENZYME_CARRY_H

#include "steady.h"
#include "undo.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/AliasAnalysis.h"

namespace enz {

// The stores in a loop that may reach a load; false if other writes may.
using StoresInto =
    std::function<bool(const llvm::LoadInst &, const llvm::Loop &, llvm::SmallVectorImpl<llvm::StoreInst *> &)>;

// Replaces those of `loads` whose value an earlier iteration has loaded by that value. Returns the loads concerned: the
// leading ones, and those that nothing uses any more, which are gone unless `undoing` needs them. The control flow
// stays.
llvm::SmallPtrSet<const llvm::LoadInst *, 16> carryLoads(EnzOpaqueHost &host, llvm::Function &function,
                                                         llvm::ArrayRef<llvm::LoadInst *> loads,
                                                         const StoresInto &stores, Undoing &undoing);

// Whether what `load` reads stands in memory at the end of `end`, to which there is one way.
bool staysUntil(llvm::AAResults &aliases, const llvm::LoadInst &load, const llvm::BasicBlock &end);

} // namespace enz

#endif
