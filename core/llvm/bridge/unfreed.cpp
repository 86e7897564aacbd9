// Memory that is allocated and freed within a step of a loop: see extents.h. A container that is local to a step may be
// empty, so that what is freed is a phi of null and the allocation; and an exception, for which there is no memory or
// which says that a length makes no sense, frees what there is on its way.
//
// Not handled: allocations whose exceptions are caught in the same function, or release anything else than memory.

#include "extents.h"

#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace enz {

namespace {

// Of more blocks than this it is not asked what they do.
constexpr size_t kCleanupLimit = 64;

// Whether no way leads from here back to the caller.
bool neverReturns(const BasicBlock *from) {
  SmallSetVector<const BasicBlock *, 8> seen;
  seen.insert(from);
  for (size_t n = 0; n < seen.size(); ++n) {
    if (isa<ReturnInst>(seen[n]->getTerminator()) || seen.size() > kCleanupLimit)
      return false;
    seen.insert_range(successors(seen[n]));
  }
  return true;
}

// Whether all that happens from a landing pad on is that memory is freed, and the exception goes on.
bool onlyFrees(const BasicBlock &pad, const TargetLibraryInfo &library) {
  SmallSetVector<const BasicBlock *, 8> seen;
  seen.insert(&pad);
  for (size_t n = 0; n < seen.size(); ++n) {
    if (seen.size() > kCleanupLimit)
      return false;
    for (const Instruction &inst : *seen[n]) {
      const auto *landing = dyn_cast<LandingPadInst>(&inst);
      const auto *call = dyn_cast<CallBase>(&inst);
      const bool frees = call && getFreedOperand(call, &library);
      if (landing ? landing->getNumClauses() > 0
                  : inst.mayHaveSideEffects() && !frees && !inst.isTerminator() && !isa<AssumeInst>(inst))
        return false;
    }
    if (!isa<BranchInst, ResumeInst, UnreachableInst>(seen[n]->getTerminator()))
      return false;
    seen.insert_range(successors(seen[n]));
  }
  return true;
}

} // namespace

bool dropCleanups(Loop &loop, const TargetLibraryInfo &library) {
  SmallVector<InvokeInst *, 8> work;
  SmallSetVector<BasicBlock *, 16> blocks;
  blocks.insert_range(loop.blocks());
  SmallVector<BasicBlock *, 8> exits;
  loop.getUniqueExitBlocks(exits);
  blocks.insert_range(exits);
  for (BasicBlock *block : blocks) {
    auto *invoke = dyn_cast<InvokeInst>(block->getTerminator());
    if (!invoke || !onlyFrees(*invoke->getUnwindDest(), library))
      continue;
    const bool allocates = loop.contains(block) && isAllocationFn(invoke, &library);
    const bool leaves = !loop.contains(block) && neverReturns(invoke->getNormalDest());
    if (allocates || leaves)
      work.push_back(invoke);
  }
  if (work.empty())
    return false;
  Function &function = *loop.getHeader()->getParent();
  for (InvokeInst *invoke : work)
    changeToCall(invoke);
  removeUnreachableBlocks(function);
  // What only an exception asked for.
  for (BasicBlock &block : function)
    for (PHINode &phi : make_early_inc_range(block.phis()))
      if (phi.use_empty())
        phi.eraseFromParent();
  return true;
}

bool Extents::isFreeing(const Value *freed, const CallBase &call,
                        const SmallPtrSetImpl<const BasicBlock *> &behind) const {
  const Value *object = getUnderlyingObject(freed, 0);
  if (object == &call)
    return true;
  const auto *phi = dyn_cast<PHINode>(object);
  // What comes back to the head of a loop is of another iteration.
  return phi && loop_.contains(phi) && !loops_.isLoopHeader(phi->getParent()) &&
         all_of(phi->incoming_values(), [&](const Use &use) {
           return getUnderlyingObject(use.get(), 0) == &call || !behind.contains(phi->getIncomingBlock(use));
         });
}

bool Extents::isFreedInStep(const CallBase &call) const {
  const Loop *around = loops_.getLoopFor(call.getParent());
  // Where one gets to from the allocation, before the next iteration.
  SmallPtrSet<const BasicBlock *, 16> behind;
  SmallVector<const BasicBlock *, 16> work{call.getParent()};
  while (!work.empty()) {
    const BasicBlock *block = work.pop_back_val();
    if (behind.insert(block).second)
      for (const BasicBlock *next : successors(block))
        if (around->contains(next) && next != around->getHeader())
          work.push_back(next);
  }
  const auto frees = [&](const BasicBlock *block) {
    return any_of(*block, [&](const Instruction &inst) {
      const auto *other = dyn_cast<CallBase>(&inst);
      const Value *freed = other ? freedBy(*other) : nullptr;
      return freed && isFreeing(freed, call, behind);
    });
  };
  SmallPtrSet<const BasicBlock *, 16> seen;
  work.push_back(call.getParent());
  while (!work.empty()) {
    const BasicBlock *block = work.pop_back_val();
    if (!seen.insert(block).second || frees(block))
      continue;
    for (const BasicBlock *next : successors(block)) {
      // It is not null.
      const auto *branch = dyn_cast<BranchInst>(block->getTerminator());
      const auto *is = branch && branch->isConditional() ? dyn_cast<ICmpInst>(branch->getCondition()) : nullptr;
      if (is && is->isEquality() && isa<ConstantPointerNull>(is->getOperand(1)) &&
          isFreeing(is->getOperand(0), call, behind) &&
          next == branch->getSuccessor(is->getPredicate() == ICmpInst::ICMP_EQ ? 0 : 1))
        continue;
      if (next == around->getHeader() || (!around->contains(next) && !neverReturns(next)))
        return false;
      if (around->contains(next))
        work.push_back(next);
    }
  }
  return true;
}

} // namespace enz
