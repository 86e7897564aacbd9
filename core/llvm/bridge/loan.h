// A copy of part of a module that somebody else owns, in the same context.
#ifndef ENZYME_LOAN_H
#define ENZYME_LOAN_H

#include "compiler.h"
#include "support.h"

#include "llvm/IR/DiagnosticHandler.h"

struct EnzLoan {
  llvm::Module *lender = nullptr;
  std::unique_ptr<llvm::Module> copy;
  llvm::ValueToValueMapTy map;                       // from what was lent to its copy
  llvm::SmallPtrSet<llvm::GlobalValue *, 8> changed; // copies that will not be what they were
  llvm::Function *root = nullptr;
  std::unique_ptr<llvm::DiagnosticHandler> silenced; // the handler that waits meanwhile
  struct Managers;
  std::unique_ptr<Managers> managers;
  EnzLoan();
  ~EnzLoan();
};

#endif
