// Checkpointed loops: checkpoint.cpp finds and outlines them, schedule.cpp brings their run-time part into a module.
#ifndef ENZYME_CHECKPOINT_H
#define ENZYME_CHECKPOINT_H

#include "support.h"

namespace enz {

// What programs call in the body of a loop to have it checkpointed.
constexpr llvm::StringLiteral kCheckpointMark = "__enzyme_checkpoint";

// Branches off loops whose steps can be repeated; whether anything was changed.
bool checkpointLoops(EnzOpaqueHost &host, llvm::Function &function, const EnzPrepare &options);

// Erases the marks of loops.
bool dropCheckpointMarks(llvm::Function &function);

// Brings the functions of checkpoint.c into the module.
void linkSchedule(EnzOpaqueHost &host);

} // namespace enz

#endif
