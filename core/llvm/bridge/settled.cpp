// Pointers that a loop passes on and changes only under a condition that follows from themselves, as where an array is
// given memory if it has none, or more if it is too short:
//
//   for (...) { if (!u) u = malloc(n); ... }
//
// If the condition does not hold as they are at first it never does, so they stay as they are. The loop is cloned for
// that case: the clone has neither the condition nor the phi. Which of both runs is asked before, once.
//
// The assumptions are found by following what comes back to a phi at the latch: each way on which that is not the phi
// itself must lie behind a side of a branch whose condition is computed from such phis and from what is the same
// throughout; that side is assumed never to be taken. By induction over the steps, that holds if it does in the first
// one.
//
// Not handled: conditions on memory, or on numbers that the loop computes anew to the same value.

#include "checkpoint.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

#include <map>

using namespace llvm;

namespace {

// Longer computations of a condition, and more phis on the way to the latch, are not followed.
constexpr size_t kLongest = 32;

class Settling {
public:
  Settling(Loop &loop, LoopInfo &loops, DominatorTree &dominators)
      : loop_(loop), loops_(loops), dominators_(dominators), before_(loop.getLoopPreheader()) {}

  bool find();
  enz::Settled clone();

private:
  bool stays(PHINode &phi);
  bool assumeNot(BasicBlock *from, BasicBlock *to);
  bool isOfPhis(Value *value, SmallPtrSetImpl<Value *> &seen);
  Value *atFirst(IRBuilder<> &build, Value *value, std::map<Value *, Value *> &known);

  Loop &loop_;
  LoopInfo &loops_;
  DominatorTree &dominators_;
  BasicBlock *before_;
  SmallSetVector<PHINode *, 8> phis_;
  // Branches, and the side that each takes always.
  std::map<BranchInst *, unsigned> always_;
};

// Whether a value follows from such phis and what is the same throughout.
bool Settling::isOfPhis(Value *value, SmallPtrSetImpl<Value *> &seen) {
  auto *inst = dyn_cast<Instruction>(value);
  if (!inst || !loop_.contains(inst) || !seen.insert(inst).second)
    return true;
  if (auto *phi = dyn_cast<PHINode>(inst))
    return phis_.contains(phi);
  return seen.size() < kLongest && !isa<FreezeInst>(inst) && !inst->mayReadOrWriteMemory() &&
         isSafeToSpeculativelyExecute(inst) &&
         all_of(inst->operands(), [&](Use &operand) { return isOfPhis(operand.get(), seen); });
}

// Assumes that a way is never taken, if a condition says so.
bool Settling::assumeNot(BasicBlock *from, BasicBlock *to) {
  // Not the way on which the loop goes on at all.
  const auto assume = [&](BranchInst &branch, unsigned never) {
    SmallPtrSet<Value *, 16> seen;
    if (!isOfPhis(branch.getCondition(), seen) ||
        dominators_.dominates(BasicBlockEdge(branch.getParent(), branch.getSuccessor(never)), loop_.getLoopLatch()))
      return false;
    const auto [known, isNew] = always_.try_emplace(&branch, 1 - never);
    return isNew || known->second == 1 - never;
  };
  const auto chooses = [&](BasicBlock *block) {
    auto *branch = dyn_cast<BranchInst>(block->getTerminator());
    const bool two = branch && branch->isConditional() && branch->getSuccessor(0) != branch->getSuccessor(1);
    return two && loops_.getLoopFor(block) == &loop_ ? branch : nullptr;
  };
  if (to == loop_.getHeader())
    return false;
  if (BranchInst *last = chooses(from); last && assume(*last, last->getSuccessor(0) == to ? 0 : 1))
    return true;
  for (auto *node = dominators_.getNode(from); node && node->getBlock() != loop_.getHeader(); node = node->getIDom()) {
    BasicBlock *above = node->getIDom()->getBlock();
    BranchInst *branch = chooses(above);
    if (!branch)
      continue;
    for (unsigned side : {0U, 1U})
      if (dominators_.dominates(BasicBlockEdge(above, branch->getSuccessor(side)), from) && assume(*branch, side))
        return true;
  }
  return false;
}

// Whether the phi comes back as it is on all ways that are not assumed away.
bool Settling::stays(PHINode &phi) {
  SmallSetVector<PHINode *, 8> web;
  const auto follow = [&](Value *value, BasicBlock *from, BasicBlock *to) {
    if (value == &phi)
      return true;
    auto *next = dyn_cast<PHINode>(value);
    if (next && loop_.contains(next) && next->getParent() != loop_.getHeader() &&
        loops_.getLoopFor(next->getParent()) == &loop_) {
      web.insert(next);
      return true;
    }
    return assumeNot(from, to);
  };
  BasicBlock *latch = loop_.getLoopLatch();
  if (!follow(phi.getIncomingValueForBlock(latch), latch, loop_.getHeader()))
    return false;
  for (size_t n = 0; n < web.size(); ++n)
    for (unsigned i = 0; i < web[n]->getNumIncomingValues(); ++i)
      if (web.size() > kLongest ||
          !follow(web[n]->getIncomingValue(i), web[n]->getIncomingBlock(i), web[n]->getParent()))
        return false;
  return true;
}

bool Settling::find() {
  if (!before_ || !loop_.getLoopLatch() || !loop_.hasDedicatedExits())
    return false;
  for (PHINode &phi : loop_.getHeader()->phis())
    if (phi.getType()->isIntOrPtrTy())
      phis_.insert(&phi);
  // Those that do not stay are no ground for an assumption.
  for (bool again = true; again;) {
    always_.clear();
    again = phis_.remove_if([this](PHINode *phi) { return !stays(*phi); });
  }
  // Behind the loop its values are used by phis alone, where it is left.
  for (BasicBlock *block : loop_.blocks())
    for (Instruction &inst : *block)
      for (Use &use : inst.uses()) {
        const auto *outside = cast<Instruction>(use.getUser());
        const auto *phi = dyn_cast<PHINode>(outside);
        if (!loop_.contains(outside) && (!phi || !loop_.contains(phi->getIncomingBlock(use))))
          return false;
      }
  return !always_.empty() && any_of(phis_, [](const PHINode *phi) { return phi->getType()->isPointerTy(); });
}

Value *Settling::atFirst(IRBuilder<> &build, Value *value, std::map<Value *, Value *> &known) {
  auto *inst = dyn_cast<Instruction>(value);
  if (!inst || !loop_.contains(inst))
    return value;
  if (auto *phi = dyn_cast<PHINode>(inst))
    return phi->getIncomingValueForBlock(loop_.getLoopPreheader());
  if (const auto at = known.find(inst); at != known.end())
    return at->second;
  Instruction *copy = inst->clone();
  for (Use &use : copy->operands())
    use.set(atFirst(build, use.get(), known));
  Value *&out = known[inst];
  out = ConstantFoldInstruction(copy, inst->getDataLayout());
  if (out)
    copy->deleteValue();
  else
    out = build.Insert(copy);
  return out;
}

enz::Settled Settling::clone() {
  Function &function = *before_->getParent();
  IRBuilder<> build(before_->getTerminator());
  std::map<Value *, Value *> known;
  Value *all = build.getTrue();
  for (auto [branch, side] : always_) {
    Value *holds = atFirst(build, branch->getCondition(), known);
    // The first step decides, and it is known how.
    if (isa<Constant>(holds))
      return {};
    holds = build.CreateFreeze(holds);
    all = build.CreateAnd(all, side == 0 ? holds : build.CreateNot(holds));
  }
  BasicBlock *slow = SplitBlock(before_, before_->getTerminator(), &dominators_, &loops_);
  ValueToValueMapTy map;
  SmallVector<BasicBlock *, 16> blocks;
  SmallVector<BasicBlock *, 4> exits;
  loop_.getUniqueExitBlocks(exits);
  Loop *fast = cloneLoopWithPreheader(slow, before_, &loop_, map, ".settled", &loops_, &dominators_, blocks);
  remapInstructionsInBlocks(blocks, map);
  const auto mapped = [&](Value *value) {
    Value *copy = map.lookup(value);
    return copy ? copy : value;
  };
  for (BasicBlock *exit : exits)
    for (PHINode &phi : exit->phis())
      for (unsigned n = 0, count = phi.getNumIncomingValues(); n < count; ++n)
        phi.addIncoming(mapped(phi.getIncomingValue(n)), cast<BasicBlock>(mapped(phi.getIncomingBlock(n))));
  for (auto [branch, side] : always_) {
    auto *copy = cast<BranchInst>(mapped(branch));
    BasicBlock *always = copy->getSuccessor(side);
    copy->getSuccessor(1 - side)->removePredecessor(copy->getParent(), /*KeepOneInputPHIs=*/true);
    BranchInst::Create(always, copy->getIterator());
    copy->eraseFromParent();
  }
  BasicBlock *fast_before = fast->getLoopPreheader();
  BasicBlock *header = fast->getHeader();
  before_->getTerminator()->eraseFromParent();
  build.SetInsertPoint(before_);
  build.CreateCondBr(all, fast_before, slow);
  for (PHINode *phi : phis_) {
    auto *copy = cast<PHINode>(mapped(phi));
    Value *first = copy->getIncomingValueForBlock(fast_before);
    copy->replaceAllUsesWith(first);
    copy->eraseFromParent();
  }
  removeUnreachableBlocks(function);
  return {header, slow};
}

} // namespace

enz::Settled enz::settlePointers(Loop &loop, LoopInfo &loops, DominatorTree &dominators) {
  if (none_of(loop.getHeader()->phis(), [](const PHINode &phi) { return phi.getType()->isPointerTy(); }))
    return {};
  Settling settling(loop, loops, dominators);
  return settling.find() ? settling.clone() : enz::Settled();
}
