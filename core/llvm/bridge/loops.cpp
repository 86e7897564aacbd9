// Innermost loops of generated functions, brought into a form that LLVM's vectoriser takes.
//
// The adjoint of an update in place reads what the iteration before has stored in the shadow, and carries adjoints of
// values that were handed from one iteration to the next. Vectorised this becomes a shift of lanes ("fixed-order
// recurrence"), under two conditions: the value goes from iteration to iteration in a register, for which LLVM has a
// pass that normally runs too late (LoopLoadElimination), and nothing with an effect uses the old value before the new
// one is computed. The latter is done here: stores move down past what does not touch their memory, and sums past each
// other.
//
// A reverse loop that hands adjoints on has a second block for what happens on the way to the next iteration alone; the
// vectoriser wants one. Where that block only computes, it runs in the last iteration as well, for nothing.
//
// Only loops of one block that carry a float are changed; the order of stores stays, since
// the vectoriser takes the store of an element that the next iteration stores again only in that order.

#include "sums.h"
#include "support.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace {

// Larger loops are not vectorised in any case.
constexpr ptrdiff_t kLargestLoop = 400;

bool carriesFloat(BasicBlock &block) {
  return any_of(block.phis(), [](const PHINode &phi) { return phi.getType()->isFPOrFPVectorTy(); });
}

// What `store` can't move past.
bool stops(BatchAAResults &aliases, Instruction &inst, const MemoryLocation &where) {
  if (inst.isTerminator() || isa<StoreInst>(inst) || inst.mayThrow() || !inst.willReturn() || inst.isAtomic() ||
      inst.isVolatile())
    return true;
  return inst.mayReadOrWriteMemory() && isModOrRefSet(aliases.getModRefInfo(&inst, where));
}

// Instructions that may run for nothing in the last iteration.
constexpr ptrdiff_t kLargestLatch = 24;

// The latch of a loop of two blocks that can be joined with its header; null if there is none.
BasicBlock *idleLatch(const Loop &loop) {
  BasicBlock *header = loop.getHeader(), *latch = loop.getLoopLatch();
  if (loop.getNumBlocks() != 2 || !latch || latch == header || !isa<BranchInst>(header->getTerminator()) ||
      latch->getSinglePredecessor() != header || !latch->getUniqueSuccessor() || latch->hasAddressTaken() ||
      !isa<BranchInst>(latch->getTerminator()) || latch->sizeWithoutDebug() > kLargestLatch)
    return nullptr;
  for (Instruction &inst : *latch)
    if (!inst.isTerminator() && (isa<PHINode>(inst) || !isSafeToSpeculativelyExecute(&inst)))
      return nullptr;
  return latch;
}

void join(BasicBlock &header, BasicBlock &latch) {
  Instruction *end = header.getTerminator();
  header.splice(end->getIterator(), &latch, latch.begin(), latch.getTerminator()->getIterator());
  if (MDNode *hints = latch.getTerminator()->getMetadata(LLVMContext::MD_loop))
    end->setMetadata(LLVMContext::MD_loop, hints);
  for (PHINode &phi : header.phis())
    phi.replaceIncomingBlockWith(&latch, &header);
  end->replaceSuccessorWith(&latch, &header);
  latch.eraseFromParent();
}

// Moves sums to the end of the block, in their order: past each other, since the order of what they add is free, and
// past what does not touch their memory. Their loads and stores are added to `moved`.
void sinkSums(Loop &loop, AAResults &results, SmallPtrSetImpl<const Instruction *> &moved) {
  BasicBlock &block = *loop.getHeader();
  SmallVector<enz::Sum, 8> sums;
  SmallPtrSet<const Instruction *, 32> parts;
  for (Instruction &inst : block)
    if (auto *store = dyn_cast<StoreInst>(&inst))
      if (std::optional<enz::Sum> sum = enz::sumAt(*store, loop);
          sum && enz::isUndisturbed(*sum) && !enz::isUsedAfter(*sum, loop)) {
        parts.insert(sum->load);
        parts.insert(sum->store);
        sums.push_back(std::move(*sum));
      }
  BatchAAResults aliases(results);
  // Sums of another type would meet in part.
  const auto isAlike = [&](const Instruction &part, const enz::Sum &sum) {
    return parts.contains(&part) && getLoadStoreType(&part) == sum.load->getType();
  };
  const auto passes = [&](const enz::Sum &sum) {
    const MemoryLocation where = MemoryLocation::get(sum.store);
    return all_of(make_range(std::next(sum.load->getIterator()), block.getTerminator()->getIterator()),
                  [&](Instruction &inst) {
                    return isAlike(inst, sum) ||
                           (!inst.mayThrow() && inst.willReturn() && !inst.isAtomic() && !inst.isVolatile() &&
                            !(inst.mayReadOrWriteMemory() && isModOrRefSet(aliases.getModRefInfo(&inst, where))));
                  });
  };
  erase_if(sums, [&](const enz::Sum &sum) { return !passes(sum); });
  for (const enz::Sum &sum : sums) {
    const auto end = block.getTerminator()->getIterator();
    sum.load->moveBefore(end);
    for (Instruction *operation : reverse(sum.operations))
      operation->moveBefore(end);
    sum.store->moveBefore(end);
    moved.insert(sum.load);
    moved.insert(sum.store);
  }
}

// Moves stores down, but not in between the `sums` at the end.
bool sinkIn(BasicBlock &block, AAResults &results, const SmallPtrSetImpl<const Instruction *> &sums) {
  SmallVector<StoreInst *, 16> stores;
  for (Instruction &inst : block)
    if (auto *store = dyn_cast<StoreInst>(&inst); store && store->isSimple() && !sums.contains(store))
      stores.push_back(store);
  bool changed = false;
  BatchAAResults aliases(results);
  for (StoreInst *store : reverse(stores)) {
    const MemoryLocation where = MemoryLocation::get(store);
    Instruction *place = store->getNextNode();
    while (!sums.contains(place) && !stops(aliases, *place, where))
      place = place->getNextNode();
    if (place != store->getNextNode()) {
      store->moveBefore(place->getIterator());
      changed = true;
    }
  }
  return changed;
}

} // namespace

bool enz::isVectorised(const Instruction &inst) {
  const auto *call = dyn_cast<IntrinsicInst>(&inst);
  if (!call)
    return !isa<CallBase>(inst);
  switch (call->getIntrinsicID()) {
  case Intrinsic::fabs:
  case Intrinsic::fma:
  case Intrinsic::fmuladd:
  case Intrinsic::sqrt:
  case Intrinsic::copysign:
  case Intrinsic::minnum:
  case Intrinsic::maxnum:
  case Intrinsic::minimum:
  case Intrinsic::maximum:
  case Intrinsic::floor:
  case Intrinsic::ceil:
  case Intrinsic::trunc:
  case Intrinsic::smin:
  case Intrinsic::smax:
  case Intrinsic::umin:
  case Intrinsic::umax:
    return true;
  default:
    return false;
  }
}

bool enz::sinkStores(EnzOpaqueHost &host, Function &function) {
  auto &loops = host.functions->getResult<LoopAnalysis>(function);
  if (loops.empty())
    return false;
  auto &results = host.functions->getResult<AAManager>(function);
  bool changed = false;
  for (Loop *loop : loops.getLoopsInPreorder())
    if (loop->isInnermost() && loop->getNumBlocks() == 1 && loop->getHeader()->sizeWithoutDebug() <= kLargestLoop &&
        carriesFloat(*loop->getHeader())) {
      SmallPtrSet<const Instruction *, 32> sums;
      sinkSums(*loop, results, sums);
      changed |= sinkIn(*loop->getHeader(), results, sums) || !sums.empty();
    }
  return changed;
}

bool enz::joinLatches(EnzOpaqueHost &host, Function &function) {
  SmallVector<std::pair<BasicBlock *, BasicBlock *>, 8> found;
  for (const Loop *loop : host.functions->getResult<LoopAnalysis>(function).getLoopsInPreorder())
    if (BasicBlock *latch = loop->isInnermost() ? idleLatch(*loop) : nullptr;
        latch && loop->getHeader()->sizeWithoutDebug() <= kLargestLoop && carriesFloat(*loop->getHeader()))
      found.emplace_back(loop->getHeader(), latch);
  for (auto [header, latch] : found)
    join(*header, *latch);
  return !found.empty();
}
