// Sums that a loop of a derivative makes in memory are made in a register, and added to memory once, after the loop.
//
// The adjoint of what is the same throughout a loop is a sum over its iterations, in shadow memory where the value was
// loaded from memory. LLVM keeps such a sum in a register if nothing else in the loop may touch its place. In a
// factorisation in place the other accesses are to the same array. But of those most are sums as well, of which the
// order does not matter (they are marked as sums that may be reordered): they may meet the place, what they add is
// there in the end. The others, which read adjoints or end them, have to be elsewhere (distances.cpp).
//
// Taken are loops with one exit in which the sum is made in each iteration. Not handled: sums of parts of vectors;
// distances that are known only under a condition.

#include "sums.h"
#include "distances.h"
#include "support.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace {

// Larger loops are left as they are: each access is compared with each sum.
constexpr size_t kLargestLoop = 400;
// How many amounts one iteration may add to one place.
constexpr size_t kLongestSum = 8;

bool isAddition(const Instruction &inst) {
  return (inst.getOpcode() == Instruction::FAdd || inst.getOpcode() == Instruction::FSub) && inst.hasAllowReassoc() &&
         inst.hasNoSignedZeros();
}

bool isUsedOnceWithin(const Instruction &inst, const Loop &loop, bool alsoAfter) {
  unsigned within = 0;
  for (const User *user : inst.users())
    if (loop.contains(cast<Instruction>(user)))
      ++within;
    else if (!alsoAfter)
      return false;
  return within == 1;
}

} // namespace

std::optional<enz::Sum> enz::sumAt(StoreInst &store, const Loop &loop) {
  Sum sum{nullptr, &store, {}};
  auto *at = dyn_cast<Instruction>(store.getValueOperand());
  if (!store.isSimple() || !store.getValueOperand()->getType()->isFloatingPointTy())
    return std::nullopt;
  while (at && isAddition(*at) && sum.operations.size() < kLongestSum) {
    if (at->getParent() != store.getParent() || !isUsedOnceWithin(*at, loop, sum.operations.empty()))
      return std::nullopt;
    sum.operations.push_back(at);
    for (Use &operand : at->operands()) {
      auto *load = dyn_cast<LoadInst>(operand.get());
      const bool fits = load && load->isSimple() && load->getPointerOperand() == store.getPointerOperand() &&
                        load->getParent() == store.getParent() && isUsedOnceWithin(*load, loop, false);
      if (fits && (operand.getOperandNo() == 0 || at->getOpcode() == Instruction::FAdd)) {
        sum.load = load;
        return sum;
      }
    }
    at = dyn_cast<Instruction>(at->getOperand(0));
  }
  return std::nullopt;
}

bool enz::isUsedAfter(const Sum &sum, const Loop &loop) {
  return any_of(sum.operations.front()->users(),
                [&](const User *user) { return !loop.contains(cast<Instruction>(user)); });
}

bool enz::isUndisturbed(const Sum &sum) {
  for (auto at = std::next(sum.load->getIterator()); at != sum.store->getIterator(); ++at)
    if (at == sum.load->getParent()->end() || at->mayWriteToMemory())
      return false;
  return true;
}

namespace {

using enz::isUndisturbed;
using enz::Sum;
using enz::sumAt;

class Gather {
public:
  Gather(EnzOpaqueHost &host, Function &function, LoopInfo &loops, Loop &loop)
      : loops_(loops), loop_(loop), evolution_(host.functions->getResult<ScalarEvolutionAnalysis>(function)),
        dominators_(host.functions->getResult<DominatorTreeAnalysis>(function)),
        results_(host.functions->getResult<AAManager>(function)), layout_(function.getDataLayout()) {}

  bool run() {
    exit_ = loop_.getExitBlock();
    exiting_ = loop_.getExitingBlock();
    if (!loop_.getLoopLatch() || !exit_ || !exiting_ || exit_->isEHPad() || !collect())
      return false;
    SmallVector<const Sum *, 4> found;
    for (const Sum &sum : sums_)
      if (canBeGathered(sum))
        found.push_back(&sum);
    if (found.empty())
      return false;
    if (!isolate())
      return true;
    // In the order of the loop: what is used after it is the last that memory holds.
    Instruction &after = *exit_->getFirstInsertionPt();
    for (const Sum *sum : found)
      gather(*sum, after);
    return true;
  }

private:
  // Gives the loop a block before it and one behind it that are nobody else's, as the one behind a loop and its copy
  // is.
  bool isolate() {
    if (!loop_.getLoopPreheader() && !InsertPreheaderForLoop(&loop_, &dominators_, &loops_, nullptr, false))
      return false;
    if (!exit_->getSinglePredecessor())
      formDedicatedExitBlocks(&loop_, &dominators_, &loops_, nullptr, false);
    exit_ = loop_.getExitBlock();
    return exit_ && exit_->getSinglePredecessor();
  }

  // All that touches memory; false if some of it is nothing that can be reasoned about.
  bool collect() {
    size_t count = 0;
    for (BasicBlock *block : loop_.blocks()) {
      count += block->sizeWithoutDebug();
      if (count > kLargestLoop)
        return false;
      for (Instruction &inst : *block) {
        if (inst.mayThrow() || !inst.willReturn() || inst.isAtomic() || inst.isVolatile())
          return false;
        if (!inst.mayReadOrWriteMemory())
          continue;
        accesses_.push_back(&inst);
        if (auto *store = dyn_cast<StoreInst>(&inst))
          if (std::optional<Sum> sum = sumAt(*store, loop_); sum && isUndisturbed(*sum))
            sums_.push_back(*sum);
      }
    }
    for (const Sum &sum : sums_) {
      partOf_[sum.load] = &sum;
      partOf_[sum.store] = &sum;
    }
    return !sums_.empty();
  }

  // Two places of this kind are the same or have nothing in common.
  bool isWhole(const Sum &sum) const {
    const uint64_t size = layout_.getTypeStoreSize(sum.load->getType());
    return sum.load->getAlign().value() >= size && sum.store->getAlign().value() >= size;
  }

  bool canBeGathered(const Sum &sum) {
    const BasicBlock *block = sum.store->getParent();
    if (loops_.getLoopFor(block) != &loop_ || !loop_.isLoopInvariant(sum.store->getPointerOperand()) ||
        !enz::runsInEachIteration(*block, loop_, dominators_))
      return false;
    const MemoryLocation where = MemoryLocation::get(sum.store);
    const bool after = enz::isUsedAfter(sum, loop_);
    BatchAAResults aliases(results_);
    for (Instruction *access : accesses_) {
      auto other = partOf_.find(access);
      if (other != partOf_.end() && other->second == &sum)
        continue;
      if (!isModOrRefSet(aliases.getModRefInfo(access, where)) ||
          enz::isApart(evolution_, dominators_, loop_, *access, *sum.store))
        continue;
      if (other == partOf_.end())
        return false;
      const Sum &second = *other->second;
      if (second.load->getType() != sum.load->getType() || !isWhole(second) || !isWhole(sum) ||
          enz::isUsedAfter(second, loop_))
        return false;
      // What is used after the loop is what memory holds then: the last one in each iteration.
      if (after && (second.store->getParent() != sum.store->getParent() || !second.store->comesBefore(sum.store)))
        return false;
    }
    return true;
  }

  void gather(const Sum &sum, Instruction &after) {
    Instruction *last = sum.operations.front();
    auto *phi = PHINode::Create(last->getType(), 2, "", loop_.getHeader()->begin());
    phi->addIncoming(ConstantFP::getNegativeZero(last->getType()), loop_.getLoopPreheader());
    phi->addIncoming(last, loop_.getLoopLatch());
    IRBuilder<> build(&after);
    auto *before = cast<LoadInst>(build.Insert(sum.load->clone()));
    auto *total = cast<Instruction>(build.CreateFAdd(before, last));
    total->copyFastMathFlags(last);
    auto *store = cast<StoreInst>(build.Insert(sum.store->clone()));
    store->setOperand(0, total);
    SmallVector<PHINode *, 2> copies;
    last->replaceUsesWithIf(total, [&](Use &use) {
      auto *user = cast<Instruction>(use.getUser());
      if (user == total || loop_.contains(user))
        return false;
      if (auto *copy = dyn_cast<PHINode>(user); copy && copy->getParent() == exit_) {
        copies.push_back(copy);
        return false;
      }
      return true;
    });
    for (PHINode *copy : copies) {
      copy->replaceAllUsesWith(total);
      copy->eraseFromParent();
    }
    sum.load->replaceAllUsesWith(phi);
    sum.load->eraseFromParent();
    sum.store->eraseFromParent();
    evolution_.forgetLoop(&loop_);
  }

  LoopInfo &loops_;
  Loop &loop_;
  ScalarEvolution &evolution_;
  DominatorTree &dominators_;
  AAResults &results_;
  const DataLayout &layout_;
  BasicBlock *exit_ = nullptr, *exiting_ = nullptr;
  SmallVector<Instruction *, 32> accesses_;
  SmallVector<Sum, 8> sums_;
  DenseMap<Instruction *, const Sum *> partOf_;
};

} // namespace

bool enz::gatherSums(EnzOpaqueHost &host, Function &function) {
  auto &loops = host.functions->getResult<LoopAnalysis>(function);
  bool changed = false;
  const SmallVector<Loop *, 4> outerFirst = loops.getLoopsInPreorder();
  for (Loop *loop : reverse(outerFirst))
    changed |= Gather(host, function, loops, *loop).run();
  return changed;
}
