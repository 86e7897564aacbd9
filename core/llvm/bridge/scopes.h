// What `restrict` promises of the accesses of a derivative (scopes.cpp).
#ifndef ENZYME_SCOPES_H
#define ENZYME_SCOPES_H

#include "support.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Metadata.h"

namespace enz {

class Scopes {
public:
  // `made` is to memory what `like` is in the primal, or, if `mirrored`, to its shadow.
  void access(llvm::Instruction &made, const llvm::Instruction &like, bool mirrored);
  // `block` runs where `end`'s block runs in the primal, or, if `turned`, where that is run backwards.
  void block(llvm::BasicBlock &block, const llvm::Instruction &end, bool turned);
  // Writes what is known of the accesses of a complete function.
  void finish(llvm::Function &function);

private:
  enum Kind { Repeated, Read, Written };
  struct Access {
    llvm::Instruction *made;
    const llvm::Instruction *like;
    Kind kind;
  };
  using Places = llvm::DenseMap<llvm::MDNode *, llvm::BasicBlock *>; // null for several

  llvm::MDNode *mirror(llvm::MDNode *scope, Kind kind);

  llvm::SmallVector<Access, 0> accesses_;
  Places repeated_, turned_;
  bool turns_ = false;
  llvm::DenseMap<const llvm::MDNode *, llvm::MDNode *> domains_;
  llvm::DenseMap<std::pair<llvm::MDNode *, unsigned>, llvm::MDNode *> mirrored_;
};

// The domain of scopes that hold for the whole run of a function, of primal memory alone (disjoint.cpp).
llvm::MDNode *lastingDomain(llvm::LLVMContext &context);
// Whether an access, or a declaration, is of a scope that a comparison has made, here or in what was differentiated.
bool wasCompared(const llvm::Instruction &access);
// What is known of an access by such scopes: these alone.
llvm::AAMDNodes lastingScopes(const llvm::Instruction &access);

// Whether the alias scopes of two accesses in `loop` say that they never meet in one run of it.
bool promisedApart(EnzOpaqueHost &host, const llvm::Loop &loop, const llvm::Instruction &one,
                   const llvm::Instruction &other);

} // namespace enz

#endif
