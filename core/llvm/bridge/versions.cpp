// Innermost loops of derivatives that LLVM's vectoriser takes only if its comparison of ranges succeeds at run time are
// given a comparison that does.
//
// The vectoriser compares the ranges that a loop touches before the loop around it, for all iterations of that at once.
// Where rows of one array are worked on, as in a factorisation, the ranges of all iterations overlap; and where the
// loop around goes backward, as in each reverse sweep, it takes them for overlapping without a look. The loop then runs
// element by element although each single comparison would succeed. Here they are compared on each entry of the inner
// loop: where they are apart a copy runs, of which it is stated that no iteration depends on another, and the loop as
// it was where they are not. (LLVM's LoopVersioning; Bik, "The Software Vectorization Handbook", section 5.4, on
// overlap tests at run time.)
//
// What is stated holds for one entry of the inner loop and is said of that loop alone ("parallel accesses"): alias
// scopes would be taken to hold between one entry and the next, where rows meet.
//
// Taken are loops of one block with one exit, in which all else is what LLVM vectorises, and in which an element that
// is stored is touched in that iteration alone. Not handled: ranges that are not known on entry of the inner loop;
// outermost loops, which the vectoriser treats alike.

#include "apart.h"
#include "distances.h"
#include "support.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/IVDescriptors.h"
#include "llvm/Analysis/LoopAccessAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Dominators.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/LoopVersioning.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#include <mutex>

using namespace llvm;

namespace {

// Comparisons of ranges that the vectoriser makes by itself (its option runtime-memory-check-threshold).
constexpr size_t kChecksOfVectoriser = 8;
// Comparisons of numbers before a loop (see apart.cpp), and of pairs of ranges that are looked at.
constexpr size_t kMostComparisons = 16;
constexpr size_t kMostChecks = 128;
constexpr ptrdiff_t kLargestBlock = 400;
// Loops that are known to be shorter stay as they are.
constexpr unsigned kFewest = 8;
// Loops of one function that are copied.
constexpr unsigned kMostLoops = 32;

// Ranges are compared before the inner loop, not before the one around it, while this lives. The setting belongs to the
// process: derivatives that are made on other threads wait.
class CompareAtEntry {
public:
  CompareAtEntry() : lock_(mutex()), before_(VectorizerParams::HoistRuntimeChecks) {
    VectorizerParams::HoistRuntimeChecks = false;
  }
  ~CompareAtEntry() { VectorizerParams::HoistRuntimeChecks = before_; }
  CompareAtEntry(const CompareAtEntry &) = delete;
  CompareAtEntry &operator=(const CompareAtEntry &) = delete;

private:
  static std::mutex &mutex() {
    static std::mutex one;
    return one;
  }

  std::lock_guard<std::mutex> lock_;
  bool before_;
};

// Whether the vectoriser would compare this range for all iterations of the loop around at once.
bool isWidened(ScalarEvolution &evolution, const RuntimeCheckingPtrGroup &group, const Loop &around) {
  const auto *low = dyn_cast<SCEVAddRecExpr>(group.Low), *high = dyn_cast<SCEVAddRecExpr>(group.High);
  return low && high && low->getLoop() == &around && high->getLoop() == &around &&
         low->getStepRecurrence(evolution) == high->getStepRecurrence(evolution);
}

bool goesForward(ScalarEvolution &evolution, const RuntimeCheckingPtrGroup &group, const Loop &around) {
  const SCEV *step = cast<SCEVAddRecExpr>(group.Low)->getStepRecurrence(evolution);
  return evolution.isKnownNonNegative(evolution.applyLoopGuards(step, &around));
}

// Whether the comparison that the vectoriser makes is one that cannot, or hardly, succeed.
bool isVain(ScalarEvolution &evolution, const RuntimePointerCheck &check, const Loop &around) {
  const RuntimeCheckingPtrGroup *groups[] = {check.first, check.second};
  const auto vain = [&](const RuntimeCheckingPtrGroup *group) {
    return isWidened(evolution, *group, around) && !goesForward(evolution, *group, around);
  };
  if (any_of(groups, vain))
    return true;
  const bool wide = any_of(groups, [&](const auto *group) { return isWidened(evolution, *group, around); });
  return wide && evolution.getPointerBase(check.first->Low) == evolution.getPointerBase(check.second->Low);
}

// Whether nothing but the accesses keeps LLVM from vectorising the loop.
bool isVectorisableElse(ScalarEvolution &evolution, DominatorTree &dominators, Loop &loop) {
  BasicBlock *block = loop.getHeader();
  if (block->sizeWithoutDebug() > kLargestBlock)
    return false;
  for (PHINode &phi : block->phis()) {
    RecurrenceDescriptor sum;
    InductionDescriptor counter;
    const bool taken = RecurrenceDescriptor::isReductionPHI(&phi, &loop, sum, nullptr, nullptr, nullptr, &evolution)
                           ? !sum.hasExactFPMath()
                           : InductionDescriptor::isInductionPHI(&phi, &loop, &evolution, counter) ||
                                 RecurrenceDescriptor::isFixedOrderRecurrence(&phi, &loop, &dominators);
    if (!taken)
      return false;
  }
  return all_of(*block, [](const Instruction &inst) { return enz::isVectorised(inst); });
}

bool isCandidate(ScalarEvolution &evolution, DominatorTree &dominators, Loop &loop) {
  const Loop *around = loop.getParentLoop();
  const unsigned most = loop.isInnermost() ? evolution.getSmallConstantMaxTripCount(&loop) : 0;
  const BasicBlock *latch = around ? around->getLoopLatch() : nullptr;
  return loop.isInnermost() && latch && loop.getNumBlocks() == 1 && loop.isLoopSimplifyForm() &&
         loop.getExitingBlock() && loop.getUniqueExitBlock() && !findOptionMDForLoop(&loop, "llvm.loop.isvectorized") &&
         !isa<SCEVCouldNotCompute>(evolution.getExitCount(around, latch)) && (most == 0 || most >= kFewest) &&
         isVectorisableElse(evolution, dominators, loop);
}

// What is known of the accesses of a loop where the ranges that are compared are apart.
class Accesses {
public:
  Accesses(const LoopAccessInfo &info, Loop &loop, ScalarEvolution &evolution, AAResults &results)
      : loop_(loop), evolution_(evolution), aliases_(results) {
    aliases_.enableCrossIterationMode();
    const RuntimePointerChecking &checking = *info.getRuntimePointerChecking();
    for (const RuntimeCheckingPtrGroup &group : checking.CheckingGroups)
      for (const unsigned member : group.Members)
        groups_[checking.Pointers[member].PointerValue].push_back(&group);
    for (const auto &[a, b] : checking.getChecks())
      compared_.insert({a, b});
    for (Instruction &inst : *loop.getHeader())
      if (inst.mayReadOrWriteMemory())
        all_.push_back(&inst);
  }

  // Whether no iteration depends on another, but for what can come before the loop.
  bool areIndependent() {
    if (!all_of(all_, [](const Instruction *inst) {
          return isa<LoadInst, StoreInst>(inst) && !inst->isVolatile() && !inst->isAtomic();
        }))
      return false;
    for (Instruction *inst : all_)
      if (isa<LoadInst>(inst) && isFixed(*inst) &&
          all_of(all_, [&](Instruction *other) { return isa<LoadInst>(other) || isApart(*inst, *other); }))
        early_.insert(inst);
    for (Instruction *inst : all_)
      if (auto *store = dyn_cast<StoreInst>(inst);
          store && isFixed(*store) && isKnownEarly(store->getValueOperand()) &&
          all_of(all_, [&](Instruction *other) { return other == inst || isApart(*inst, *other); }))
        early_.insert(inst);
    return all_of(all_, [&](Instruction *inst) {
      return isa<LoadInst>(inst) || early_.contains(inst) || touchesItsOwn(cast<StoreInst>(*inst));
    });
  }

  // Brings forward what can come before the loop, and says of the rest that no iteration depends on another.
  void state() {
    Instruction *before = loop_.getLoopPreheader()->getTerminator();
    for (Instruction *inst : all_)
      if (early_.contains(inst))
        inst->moveBefore(before->getIterator());
    enz::stateIndependence(*loop_.getHeader());
  }

private:
  bool isFixed(const Instruction &inst) const { return loop_.isLoopInvariant(getLoadStorePointerOperand(&inst)); }

  bool isKnownEarly(const Value *value) const {
    const auto *inst = dyn_cast<Instruction>(value);
    return loop_.isLoopInvariant(value) || (inst && early_.contains(inst));
  }

  // In all iterations.
  bool isApart(Instruction &a, Instruction &b) {
    const auto ranges = [&](Instruction &inst) { return groups_.lookup(getLoadStorePointerOperand(&inst)); };
    // An address that is one of two has a range for each.
    const auto first = ranges(a), second = ranges(b);
    const auto areCompared = [&](const RuntimeCheckingPtrGroup *x, const RuntimeCheckingPtrGroup *y) {
      return compared_.contains({x, y}) || compared_.contains({y, x});
    };
    if (!first.empty() && !second.empty() &&
        all_of(first, [&](const auto *x) { return all_of(second, [&](const auto *y) { return areCompared(x, y); }); }))
      return true;
    return aliases_.isNoAlias(MemoryLocation::get(&a), MemoryLocation::get(&b));
  }

  // Whether all accesses to an element that `store` writes are in the iteration that writes it.
  bool touchesItsOwn(StoreInst &store) {
    const SCEV *place = evolution_.getSCEV(store.getPointerOperand());
    const auto *moving = dyn_cast<SCEVAddRecExpr>(place);
    const auto *step = moving && moving->getLoop() == &loop_ && moving->isAffine()
                           ? dyn_cast<SCEVConstant>(moving->getStepRecurrence(evolution_))
                           : nullptr;
    const TypeSize size = store.getModule()->getDataLayout().getTypeStoreSize(store.getValueOperand()->getType());
    if (!step || size.isScalable() || step->getAPInt().abs().ult(size.getFixedValue()))
      return false;
    return all_of(all_, [&](Instruction *other) {
      return other == &store || early_.contains(other) || isApart(store, *other) ||
             (evolution_.getSCEV(getLoadStorePointerOperand(other)) == place &&
              getLoadStoreType(other) == store.getValueOperand()->getType());
    });
  }

  Loop &loop_;
  ScalarEvolution &evolution_;
  BatchAAResults aliases_;
  SmallVector<Instruction *, 32> all_;
  SmallPtrSet<const Instruction *, 8> early_;
  DenseMap<const Value *, SmallVector<const RuntimeCheckingPtrGroup *, 1>> groups_;
  DenseSet<std::pair<const RuntimeCheckingPtrGroup *, const RuntimeCheckingPtrGroup *>> compared_;
};

// Enters `loop`, of which there are two versions, where the ranges are apart.
void choose(Loop &loop, const enz::Comparisons &comparisons, SCEVExpander &expander) {
  BasicBlock *preheader = loop.getLoopPreheader();
  auto *branch = cast<BranchInst>(preheader->getSinglePredecessor()->getTerminator());
  Value *apart = comparisons.makeAt(*branch, *loop.getParentLoop(), expander), *before = branch->getCondition();
  if (branch->getSuccessor(0) != preheader)
    branch->swapSuccessors();
  branch->setCondition(apart);
  RecursivelyDeleteTriviallyDeadInstructions(before);
}

} // namespace

void enz::stateIndependence(BasicBlock &loop) {
  LLVMContext &context = loop.getContext();
  MDNode *group = MDNode::getDistinct(context, {});
  for (Instruction &inst : loop)
    if (inst.mayReadOrWriteMemory())
      inst.setMetadata(LLVMContext::MD_access_group,
                       uniteAccessGroups(inst.getMetadata(LLVMContext::MD_access_group), group));
  SmallVector<Metadata *, 4> parts{nullptr};
  Instruction *turn = loop.getTerminator();
  if (MDNode *old = turn->getMetadata(LLVMContext::MD_loop))
    parts.append(old->op_begin() + 1, old->op_end());
  parts.push_back(MDNode::get(context, {MDString::get(context, "llvm.loop.parallel_accesses"), group}));
  MDNode *id = MDNode::getDistinct(context, parts);
  id->replaceOperandWith(0, id);
  turn->setMetadata(LLVMContext::MD_loop, id);
}

bool enz::versionLoops(EnzOpaqueHost &host, Function &function) {
  auto &loops = host.functions->getResult<LoopAnalysis>(function);
  auto &evolution = host.functions->getResult<ScalarEvolutionAnalysis>(function);
  auto &dominators = host.functions->getResult<DominatorTreeAnalysis>(function);
  SmallVector<Loop *, 16> candidates;
  for (Loop *loop : loops.getLoopsInPreorder())
    if (isCandidate(evolution, dominators, *loop))
      candidates.push_back(loop);
  if (candidates.empty())
    return false;
  auto &accesses = host.functions->getResult<LoopAccessAnalysis>(function);
  auto &aliases = host.functions->getResult<AAManager>(function);
  const CompareAtEntry setting;
  unsigned changed = 0;
  for (Loop *loop : candidates) {
    if (changed == kMostLoops)
      break;
    const LoopAccessInfo &info = accesses.getInfo(*loop);
    const auto &checks = info.getRuntimePointerChecking()->getChecks();
    const Loop &around = *loop->getParentLoop();
    if (!info.canVectorizeMemory() || info.hasConvergentOp() || checks.empty() || checks.size() > kMostChecks ||
        !info.getPSE().getPredicate().isAlwaysTrue() ||
        (checks.size() <= kChecksOfVectoriser &&
         none_of(checks, [&](const auto &check) { return isVain(evolution, check, around); })))
      continue;
    const bool each = enz::runsInEachIteration(*loop->getLoopPreheader(), around, dominators) && enz::goesOn(around);
    const enz::Comparisons comparisons(checks, evolution, dominators, each ? &around : nullptr);
    SCEVExpander expander(evolution, "apart");
    if (comparisons.cost(around) > kMostComparisons ||
        (checks.size() > kChecksOfVectoriser && !comparisons.arePromising(around)) ||
        !comparisons.canBeMadeAt(*loop->getLoopPreheader()->getTerminator(), expander))
      continue;
    Accesses known(info, *loop, evolution, aliases);
    if (!known.areIndependent())
      continue;
    formLCSSARecursively(*loop, dominators, &loops, &evolution);
    // Its own comparison, of one pair, is replaced.
    LoopVersioning versions(info, ArrayRef(checks).take_front(), loop, &loops, &dominators, &evolution);
    versions.versionLoop();
    choose(*loop, comparisons, expander);
    known.state();
    // The other copy is for ranges that overlap.
    addStringMetadataToLoop(versions.getNonVersionedLoop(), "llvm.loop.isvectorized", 1);
    evolution.forgetAllLoops();
    accesses.clear();
    ++changed;
  }
  if (changed > 0)
    host.functions->invalidate(function, PreservedAnalyses::none());
  return changed > 0;
}
