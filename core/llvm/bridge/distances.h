// What is known of distances between places in memory, over all iterations of a loop: see distances.cpp.
#pragma once

#include "llvm/IR/InstrTypes.h"

namespace llvm {
class BasicBlock;
class DominatorTree;
class Instruction;
class Loop;
class SCEV;
class ScalarEvolution;
class StoreInst;
} // namespace llvm

namespace enz {

// Whether `block` runs in each iteration of `loop`, the last one included: once, or more often if it is in a loop
// within.
bool runsInEachIteration(const llvm::BasicBlock &block, const llvm::Loop &loop, const llvm::DominatorTree &dominators);

// Whether each iteration of `loop` but the last is followed by another.
bool goesOn(const llvm::Loop &loop);

// Whether `distance` is `least` bytes or more in each iteration of `loop`. In each one memory must be touched that lies
// so far apart, and it must go on, so that the way from the first to the last does not wrap around.
bool isAtLeast(llvm::ScalarEvolution &evolution, const llvm::DominatorTree &dominators, const llvm::Loop &loop,
               const llvm::SCEV *distance, const llvm::SCEV *least);

// Whether `access`, a load or a store in `loop`, is elsewhere than `store` in each iteration of it. The place of
// `store` is touched before, in or after each iteration.
bool isApart(llvm::ScalarEvolution &evolution, const llvm::DominatorTree &dominators, const llvm::Loop &loop,
             const llvm::Instruction &access, const llvm::StoreInst &store);

} // namespace enz
