// Innermost loops of derivatives that go down through memory go up, where the order of their iterations does not
// matter.
//
// The reverse sweep runs each loop of the primal backward. Arrays and rows of matrices begin at multiples of the size
// of a vector more often than they end there, so that a loop of vectors which begins at the end of a row meets two
// lines of the cache with each access. Where no iteration depends on another, because that has been stated
// (versions.cpp) or because LLVM knows it, the loop runs the other way: each counter begins at the value that it had in
// the last iteration, and goes back to the one of the first. (Loop reversal: Allen, Kennedy, "Optimizing Compilers for
// Modern Architectures", section 5.9.)
//
// Where one loop of a nest has to go down, as it hands numbers on, all do: what one of them has stored, the next one
// reads by vectors with the same bounds, as a processor wants it that hands on stores before they are in the cache.
//
// Taken are loops of one block, within another loop, with counters of the size of an address and sums that may be
// reordered, in which what moves goes down. Not handled: counters that are used after the loop.

#include "support.h"

#include "llvm/Analysis/IVDescriptors.h"
#include "llvm/Analysis/LoopAccessAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace {

// Loops that are known to be shorter stay as they are.
constexpr unsigned kFewest = 8;
constexpr ptrdiff_t kLargestBlock = 400;

struct Counter {
  PHINode *phi;
  const SCEVAddRecExpr *values;
};

class Downward {
public:
  Downward(Loop &loop, ScalarEvolution &evolution, LoopAccessInfoManager &accesses)
      : loop_(loop), block_(*loop.getHeader()), evolution_(evolution), accesses_(accesses) {}

  // Whether it counts at all: another is for ranges that overlap, or short.
  bool matters() const {
    const unsigned most = evolution_.getSmallConstantMaxTripCount(&loop_);
    return (most == 0 || most >= kFewest) && !findOptionMDForLoop(&loop_, "llvm.loop.isvectorized");
  }

  // Whether something that it touches goes down from one element to the next.
  bool goesDown() const {
    return any_of(loop_.blocks(), [&](BasicBlock *block) {
      return any_of(*block, [&](Instruction &inst) { return directionOf(inst) < 0; });
    });
  }

  bool canTurn() {
    count_ = evolution_.getBackedgeTakenCount(&loop_);
    return loop_.getParentLoop() && loop_.getNumBlocks() == 1 && loop_.isLoopSimplifyForm() &&
           isa<BranchInst>(block_.getTerminator()) && loop_.getUniqueExitBlock() &&
           block_.sizeWithoutDebug() <= kLargestBlock && !isa<SCEVCouldNotCompute>(count_) &&
           count_->getType()->isIntegerTy(64) && hasCounters() && allGoesDown() && isUnordered();
  }

  // Whether it runs by vectors and an iteration hands numbers on to the next.
  bool hasToGoDown(DominatorTree &dominators) const {
    return loop_.getNumBlocks() == 1 && any_of(block_.phis(), [&](PHINode &phi) {
             return phi.getType()->isFloatingPointTy() && !isFreeSum(phi) &&
                    RecurrenceDescriptor::isFixedOrderRecurrence(&phi, &loop_, &dominators);
           });
  }

  bool turn() {
    BasicBlock *preheader = loop_.getLoopPreheader();
    Instruction *before = preheader->getTerminator();
    SCEVExpander expander(evolution_, "upward");
    SmallVector<const SCEV *, 4> last;
    for (const Counter &counter : counters_)
      last.push_back(counter.values->evaluateAtIteration(count_, evolution_));
    if (!expander.isSafeToExpandAt(count_, before) ||
        !all_of(last, [&](const SCEV *value) { return expander.isSafeToExpandAt(value, before); }))
      return false;
    SmallVector<Value *, 4> starts;
    for (const auto &[counter, value] : zip_equal(counters_, last))
      starts.push_back(expander.expandCodeFor(value, counter.phi->getType(), before));
    Value *most = expander.expandCodeFor(count_, count_->getType(), before);
    auto *branch = cast<BranchInst>(block_.getTerminator());
    IRBuilder<> build(branch);
    for (const auto &[counter, start] : zip_equal(counters_, starts)) {
      const APInt step = cast<SCEVConstant>(counter.values->getStepRecurrence(evolution_))->getAPInt();
      Value *back = build.getInt(-step);
      Value *next = counter.phi->getType()->isPointerTy() ? build.CreatePtrAdd(counter.phi, back)
                                                          : build.CreateAdd(counter.phi, back);
      counter.phi->setIncomingValueForBlock(preheader, start);
      counter.phi->setIncomingValueForBlock(&block_, next);
    }
    auto *turns = PHINode::Create(count_->getType(), 2, "", block_.begin());
    turns->addIncoming(ConstantInt::get(count_->getType(), 0), preheader);
    turns->addIncoming(build.CreateNUWAdd(turns, ConstantInt::get(count_->getType(), 1)), &block_);
    Value *old = branch->getCondition(), *done = build.CreateICmpEQ(turns, most);
    branch->setCondition(branch->getSuccessor(0) == &block_ ? build.CreateNot(done) : done);
    RecursivelyDeleteTriviallyDeadInstructions(old);
    evolution_.forgetLoop(&loop_);
    return true;
  }

private:
  // -1 or 1 for an access that goes down or up by its size, 0 for one that stays, 2 for any other.
  int directionOf(Instruction &inst) const {
    if (!inst.mayReadOrWriteMemory())
      return 0;
    Value *address = getLoadStorePointerOperand(&inst);
    if (!address || !evolution_.isSCEVable(address->getType()))
      return 2;
    if (loop_.isLoopInvariant(address))
      return 0;
    const auto *places = dyn_cast<SCEVAddRecExpr>(evolution_.getSCEV(address));
    const auto *step = places && places->getLoop() == &loop_ && places->isAffine()
                           ? dyn_cast<SCEVConstant>(places->getStepRecurrence(evolution_))
                           : nullptr;
    const TypeSize size = inst.getDataLayout().getTypeStoreSize(getLoadStoreType(&inst));
    if (!step || size.isScalable())
      return 2;
    const int64_t by = step->getAPInt().getSExtValue(), whole = static_cast<int64_t>(size.getFixedValue());
    return by == whole ? 1 : by == -whole ? -1 : 2;
  }

  bool isUsedAfter(const Value *value) const {
    return any_of(value->users(), [this](const User *user) { return !loop_.contains(cast<Instruction>(user)); });
  }

  // Others than these ask which iteration was first.
  bool isFreeSum(PHINode &phi) const {
    RecurrenceDescriptor sum;
    return RecurrenceDescriptor::isReductionPHI(&phi, &loop_, sum, nullptr, nullptr, nullptr, &evolution_) &&
           !sum.hasExactFPMath() &&
           is_contained({RecurKind::FAdd, RecurKind::FMulAdd, RecurKind::Add, RecurKind::Or}, sum.getRecurrenceKind());
  }

  bool hasCounters() {
    for (PHINode &phi : block_.phis()) {
      if (isFreeSum(phi))
        continue;
      if (!phi.getType()->isIntegerTy(64) && !phi.getType()->isPointerTy())
        return false;
      const auto *values = dyn_cast<SCEVAddRecExpr>(evolution_.getSCEV(&phi));
      if (!values || values->getLoop() != &loop_ || !values->isAffine() ||
          !isa<SCEVConstant>(values->getStepRecurrence(evolution_)))
        return false;
      counters_.push_back({&phi, values});
    }
    return !counters_.empty() && hasOnlySumsAfter();
  }

  // What else is used after the loop is of its last iteration.
  bool hasOnlySumsAfter() const {
    SmallPtrSet<const Value *, 4> sums;
    for (PHINode &phi : block_.phis())
      if (isFreeSum(phi))
        sums.insert(phi.getIncomingValueForBlock(&block_));
    return none_of(block_, [&](const Instruction &inst) { return isUsedAfter(&inst) && !sums.contains(&inst); });
  }

  // What is stored in the same place by each iteration is what the last one stores.
  bool allGoesDown() const {
    return all_of(block_, [&](Instruction &inst) {
      const int direction = directionOf(inst);
      return direction < 0 || (direction == 0 && !inst.mayWriteToMemory());
    });
  }

  bool isUnordered() {
    if (any_of(block_, [](const Instruction &inst) {
          return (inst.mayReadOrWriteMemory() && (inst.isAtomic() || inst.isVolatile())) || inst.mayThrow();
        }))
      return false;
    if (loop_.isAnnotatedParallel())
      return true;
    const LoopAccessInfo &info = accesses_.getInfo(loop_);
    const auto *found = info.getDepChecker().getDependences();
    return info.canVectorizeMemory() && info.getNumRuntimePointerChecks() == 0 && found && found->empty() &&
           !info.hasStoreStoreDependenceInvolvingLoopInvariantAddress() &&
           !info.hasLoadStoreDependenceInvolvingLoopInvariantAddress() && info.getPSE().getPredicate().isAlwaysTrue();
  }

  Loop &loop_;
  BasicBlock &block_;
  ScalarEvolution &evolution_;
  LoopAccessInfoManager &accesses_;
  const SCEV *count_ = nullptr;
  SmallVector<Counter, 4> counters_;
};

} // namespace

bool enz::runUpward(EnzOpaqueHost &host, Function &function) {
  auto &loops = host.functions->getResult<LoopAnalysis>(function);
  auto &evolution = host.functions->getResult<ScalarEvolutionAnalysis>(function);
  auto &dominators = host.functions->getResult<DominatorTreeAnalysis>(function);
  auto &accesses = host.functions->getResult<LoopAccessAnalysis>(function);
  bool changed = false;
  for (Loop *nest : loops.getTopLevelLoops()) {
    SmallVector<Downward, 8> found;
    bool stays = false;
    for (Loop *loop : nest->getLoopsInPreorder()) {
      Downward one(*loop, evolution, accesses);
      if (!loop->isInnermost() || !one.matters() || !one.goesDown())
        continue;
      stays |= one.hasToGoDown(dominators);
      if (one.canTurn())
        found.push_back(std::move(one));
    }
    for (Downward &one : found)
      changed |= !stays && one.turn();
    accesses.clear();
  }
  if (changed) {
    PreservedAnalyses preserved;
    preserved.preserveSet<CFGAnalyses>();
    host.functions->invalidate(function, preserved);
  }
  return changed;
}
