// Loops whose bodies become functions. Checkpointed ones: checkpoint.cpp finds and outlines them, schedule.cpp brings
// their run-time part into a module. Sums over samples: samples.cpp.
#ifndef ENZYME_CHECKPOINT_H
#define ENZYME_CHECKPOINT_H

#include "support.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"

namespace enz {

// What programs call in the body of a loop to have it checkpointed.
constexpr llvm::StringLiteral kCheckpointMark = "__enzyme_checkpoint";

// Branches off loops whose steps can be repeated; whether anything was changed.
bool checkpointLoops(EnzOpaqueHost &host, llvm::Function &function, const EnzPrepare &options);

// Calls for invokes of allocations in the loop, and of what never returns behind it, where all that an exception would
// do here is to free memory, which is then lost with it; whether there were any. What was known of the function is to
// be forgotten then.
bool dropCleanups(llvm::Loop &loop, const llvm::TargetLibraryInfo &library);

// The header of a clone of a loop in which pointers stay as they are, and the block before the loop itself, which runs
// where they may not (settled.cpp); null if there is none.
struct Settled {
  llvm::BasicBlock *header = nullptr, *otherwise = nullptr;
};
Settled settlePointers(llvm::Loop &loop, llvm::LoopInfo &loops, llvm::DominatorTree &dominators);

// Makes a number of pointers that the loop passes on in a circle (rotations.cpp); whether there were any.
bool numberRotations(llvm::Loop &loop);

// Of such a pointer: those that it is in the first steps, one after the other; empty if it is none.
llvm::SmallVector<llvm::Value *, 4> placesOf(llvm::Value *pointer, const llvm::Loop &loop);

// Erases the marks of loops.
bool dropCheckpointMarks(llvm::Function &function);

// Before the names of functions that are an iteration of a loop over independent samples.
constexpr llvm::StringLiteral kSample = "enzyme.sample.";
// Whether this calls an iteration that was branched off.
bool isSample(const llvm::Instruction &inst);

// Branches off the iterations of loops over independent samples; whether anything was changed.
bool branchOffSamples(EnzOpaqueHost &host, llvm::Function &function, const EnzPrepare &options);

// Where a loop stands in the source, for people.
std::string placeOf(const llvm::Loop &loop);

// Gives a function that is a part of another the attributes that it can have.
void takeAttributes(llvm::Function &to, const llvm::Function &from);

// Brings the functions of checkpoint.c into the module.
void linkSchedule(EnzOpaqueHost &host);

} // namespace enz

#endif
