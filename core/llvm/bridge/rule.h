// A derivative of a call that callbacks of a compiler write: a small function, and what it knows of the call.
#ifndef ENZYME_RULE_H
#define ENZYME_RULE_H

#include "compiler.h"
#include "support.h"

#include "llvm/ADT/MapVector.h"

// CDerivativeMode of the C interface.
enum EnzRuleMode : uint32_t { ENZ_RULE_FORWARD = 0, ENZ_RULE_AUGMENTED = 1, ENZ_RULE_REVERSE = 2 };

struct EnzRule {
  EnzRuleMode mode = ENZ_RULE_FORWARD;
  llvm::Function *original = nullptr; // calls the function with its own parameters, and returns the result
  llvm::CallInst *call = nullptr;     // that call
  llvm::Function *made = nullptr;     // what is written
  llvm::WeakVH result;                // what the call returns there, as long as nobody erases it
  llvm::MapVector<llvm::Value *, llvm::Value *> primal, shadow; // of parameters of the original
  llvm::MapVector<llvm::Value *, llvm::AllocaInst *> adjoint;   // of these and of the call: where it lies
  llvm::BasicBlock *last = nullptr;                             // where the reverse part ends, if that was said
};

#endif
