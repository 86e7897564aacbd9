// The order of accesses to one array in loops (order.cpp).
#ifndef ENZYME_ORDER_H
#define ENZYME_ORDER_H

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Instructions.h"

namespace enz {

// The most backedges of loops, as far as they were asked for.
using Turns = llvm::DenseMap<const llvm::Loop *, uint64_t>;

// Whether `store` never writes what `access`, a load or store, has read or written before: over all iterations of the
// loops around them.
bool neverOverwrites(llvm::ScalarEvolution &evolution, llvm::LoopInfo &loops, llvm::Instruction &access,
                     llvm::StoreInst &store, Turns &turns);

// Writes subscripts so that ScalarEvolution sees through them: products of 32-bit indices that are widened afterwards
// are computed widened, values of a first iteration that is no exception are joined with the rest. Whether anything
// changed.
bool clarifySubscripts(llvm::ScalarEvolution &evolution, llvm::LoopInfo &loops, llvm::Function &function);

} // namespace enz

#endif
