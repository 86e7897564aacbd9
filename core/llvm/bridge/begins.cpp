// Sums that begin at a zero which the same iteration has stored begin at it in a register.
//
// The adjoint of an element that is overwritten is taken, set to zero, and added to again where the iteration has read
// the element before it overwrote it, as it does in a factorisation in place:
//
//   a = s[i];  s[i] = 0;  for k: ...;  s[i] += b      becomes      a = s[i];  for k: ...;  s[i] = b
//
// LLVM finds that where it knows that nothing in between touches the element. Here distances are asked for, too
// (distances.cpp): what lies between is mostly sums along rows of the same array.
//
// Taken are sums that all ways from the zero lead to, in the same loop. Not handled: loops of loops in between.

#include "distances.h"
#include "sums.h"
#include "support.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"

using namespace llvm;

namespace {

// Blocks from a zero to a sum, and instructions in them, that are looked at.
constexpr size_t kMostBlocks = 16;
constexpr ptrdiff_t kLargestBlock = 400;

class Begin {
public:
  Begin(EnzOpaqueHost &host, Function &function)
      : function_(function), loops_(host.functions->getResult<LoopAnalysis>(function)),
        evolution_(host.functions->getResult<ScalarEvolutionAnalysis>(function)),
        dominators_(host.functions->getResult<DominatorTreeAnalysis>(function)),
        results_(host.functions->getResult<AAManager>(function)) {}

  bool run() {
    SmallVector<StoreInst *, 8> zeros;
    for (BasicBlock &block : function_)
      for (Instruction &inst : block)
        if (auto *store = dyn_cast<StoreInst>(&inst); store && loops_.getLoopFor(&block) && isZero(*store))
          zeros.push_back(store);
    bool changed = false;
    for (StoreInst *zero : zeros)
      changed |= begin(*zero);
    return changed;
  }

private:
  static bool isZero(const StoreInst &store) {
    const auto *value = dyn_cast<ConstantFP>(store.getValueOperand());
    return value && value->isZero() && store.isSimple();
  }

  bool begin(StoreInst &zero) {
    const Loop &loop = *loops_.getLoopFor(zero.getParent());
    for (User *user : zero.getPointerOperand()->users()) {
      auto *store = dyn_cast<StoreInst>(user);
      if (!store || store == &zero || store->getPointerOperand() != zero.getPointerOperand() ||
          loops_.getLoopFor(store->getParent()) != &loop || !dominators_.dominates(&zero, store))
        continue;
      const std::optional<enz::Sum> sum = enz::sumAt(*store, loop);
      if (!sum || !enz::isUndisturbed(*sum) || sum->load->getType() != zero.getValueOperand()->getType() ||
          !isUntouched(zero, *sum, loop))
        continue;
      sum->load->replaceAllUsesWith(zero.getValueOperand());
      sum->load->eraseFromParent();
      zero.eraseFromParent();
      return true;
    }
    return false;
  }

  // Whether all ways from `zero` lead to `sum`, and nothing on them, nor in it, touches the place.
  bool isUntouched(const StoreInst &zero, const enz::Sum &sum, const Loop &loop) {
    const LoadInst &load = *sum.load;
    const StoreInst &store = *sum.store;
    const MemoryLocation where = MemoryLocation::get(&zero);
    BatchAAResults aliases(results_);
    auto areElsewhere = [&](auto from, auto to) {
      return all_of(make_range(from, to), [&](const Instruction &inst) {
        return isGuaranteedToTransferExecutionToSuccessor(&inst) &&
               (!isModOrRefSet(aliases.getModRefInfo(&inst, where)) || isApart(inst, zero));
      });
    };
    if (!areElsewhere(std::next(load.getIterator()), store.getIterator()))
      return false;
    const BasicBlock *first = zero.getParent(), *last = load.getParent();
    if (first == last)
      return zero.comesBefore(&load) && areElsewhere(std::next(zero.getIterator()), load.getIterator());
    if (!areElsewhere(std::next(zero.getIterator()), first->end()) || !areElsewhere(last->begin(), load.getIterator()))
      return false;
    SmallSetVector<const BasicBlock *, kMostBlocks> between;
    auto follow = [&](const BasicBlock &block) {
      for (const BasicBlock *next : successors(&block)) {
        if (next == first || !loop.contains(next))
          return false;
        if (next != last)
          between.insert(next);
      }
      return !successors(&block).empty();
    };
    if (!follow(*first))
      return false;
    for (size_t i = 0; i < between.size(); ++i) {
      const BasicBlock &block = *between[i];
      if (between.size() > kMostBlocks || block.sizeWithoutDebug() > kLargestBlock || !follow(block) ||
          !areElsewhere(block.begin(), block.end()))
        return false;
    }
    return true;
  }

  // Whether what `inst` touches is elsewhere in each iteration of a loop that it is in.
  bool isApart(const Instruction &inst, const StoreInst &zero) {
    const Loop *within = loops_.getLoopFor(inst.getParent());
    const bool isWithin = within != loops_.getLoopFor(zero.getParent());
    return (isWithin || enz::runsInEachIteration(*zero.getParent(), *within, dominators_)) &&
           enz::isApart(evolution_, dominators_, *within, inst, zero);
  }

  Function &function_;
  LoopInfo &loops_;
  ScalarEvolution &evolution_;
  DominatorTree &dominators_;
  AAResults &results_;
};

} // namespace

bool enz::beginSums(EnzOpaqueHost &host, Function &function) { return Begin(host, function).run(); }
