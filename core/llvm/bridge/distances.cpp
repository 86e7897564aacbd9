// What is known of distances between places in memory, over all iterations of a loop.
//
// Rows i and j of a matrix in one array are (i - j) n elements apart, and rows of which i > j have nothing in common.
// In the loop over i that distance shrinks or grows by n in each iteration, so that it is least in the last or in the
// first one, where it is often a number that ScalarEvolution knows the sign of: n, in the end. The sign of n itself
// follows from the conditions under which the loop is entered. What is compared is a sum of products: ScalarEvolution
// does not find that (n + 1) (n - 1) is n n - 1.
//
// Not handled: distances that are not affine in the iterations of each loop; conditions within them.
#include "distances.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"

using namespace llvm;

namespace {

// Products of sums of more terms are left as they are.
constexpr size_t kMostProducts = 16;

const SCEV *multipliedOut(ScalarEvolution &evolution, const SCEV *of) {
  if (const auto *moving = dyn_cast<SCEVAddRecExpr>(of); moving && moving->isAffine())
    return evolution.getAddRecExpr(multipliedOut(evolution, moving->getStart()),
                                   multipliedOut(evolution, moving->getStepRecurrence(evolution)), moving->getLoop(),
                                   SCEV::FlagAnyWrap);
  if (!isa<SCEVAddExpr>(of) && !isa<SCEVMulExpr>(of))
    return of;
  SmallVector<const SCEV *, 8> terms;
  if (isa<SCEVAddExpr>(of)) {
    for (const SCEV *part : of->operands())
      terms.push_back(multipliedOut(evolution, part));
    return evolution.getAddExpr(terms);
  }
  terms.push_back(evolution.getOne(of->getType()));
  for (const SCEV *part : of->operands()) {
    const SCEV *factor = multipliedOut(evolution, part);
    const auto factors = isa<SCEVAddExpr>(factor) ? factor->operands() : ArrayRef<const SCEV *>(factor);
    if (terms.size() * factors.size() > kMostProducts)
      return of;
    SmallVector<const SCEV *, 8> products;
    for (const SCEV *term : terms)
      for (const SCEV *by : factors)
        products.push_back(evolution.getMulExpr(term, by));
    terms = products;
  }
  return evolution.getAddExpr(terms);
}

bool hasSign(ScalarEvolution &evolution, const Loop &loop, CmpInst::Predicate sign, const SCEV *of) {
  const SCEV *zero = evolution.getZero(of->getType());
  return evolution.isKnownPredicate(sign, of, zero) ||
         evolution.isKnownPredicate(sign, evolution.applyLoopGuards(of, &loop), zero);
}

} // namespace

bool enz::runsInEachIteration(const BasicBlock &block, const Loop &loop, const DominatorTree &dominators) {
  const BasicBlock *exiting = loop.getExitingBlock(), *latch = loop.getLoopLatch();
  return exiting && latch && dominators.dominates(&block, exiting) && dominators.dominates(&block, latch);
}

bool enz::goesOn(const Loop &loop) {
  return all_of(loop.blocks(),
                [](const BasicBlock *block) { return isGuaranteedToTransferExecutionToSuccessor(block); });
}

namespace {

// Whether `of` is not negative in any iteration of `loop`: if not by itself, then at that end at which it is least of
// the innermost loop, from `loop` on outwards, in which it changes.
bool isNowhereNegative(ScalarEvolution &evolution, const DominatorTree &dominators, const Loop &loop, const SCEV *of) {
  if (hasSign(evolution, loop, ICmpInst::ICMP_SGE, of))
    return true;
  const Loop *in = &loop;
  while (in && evolution.isLoopInvariant(of, in))
    in = in->getParentLoop();
  const auto *moving = dyn_cast<SCEVAddRecExpr>(of);
  if (!moving || moving->getLoop() != in || !moving->isAffine() ||
      (in != &loop && !(enz::goesOn(*in) && enz::runsInEachIteration(*loop.getHeader(), *in, dominators))))
    return false;
  const SCEV *step = moving->getStepRecurrence(evolution), *count = evolution.getBackedgeTakenCount(in);
  if (hasSign(evolution, *in, ICmpInst::ICMP_SGT, step))
    return isNowhereNegative(evolution, dominators, *in, moving->getStart());
  if (isa<SCEVCouldNotCompute>(count) || !hasSign(evolution, *in, ICmpInst::ICMP_SLT, step) ||
      evolution.getTypeSizeInBits(count->getType()) > evolution.getTypeSizeInBits(of->getType()))
    return false;
  const SCEV *last = moving->evaluateAtIteration(evolution.getNoopOrZeroExtend(count, of->getType()), evolution);
  return isNowhereNegative(evolution, dominators, *in, multipliedOut(evolution, last));
}

} // namespace

bool enz::isAtLeast(ScalarEvolution &evolution, const DominatorTree &dominators, const Loop &loop, const SCEV *distance,
                    const SCEV *least) {
  const SCEV *excess = evolution.getMinusSCEV(distance, least);
  return !isa<SCEVCouldNotCompute>(excess) &&
         isNowhereNegative(evolution, dominators, loop, multipliedOut(evolution, excess));
}

bool enz::isApart(ScalarEvolution &evolution, const DominatorTree &dominators, const Loop &loop,
                  const Instruction &access, const StoreInst &store) {
  auto addressOf = [&](const Instruction &inst) -> const SCEV * {
    auto *address = const_cast<Value *>(getLoadStorePointerOperand(&inst));
    return address && evolution.isSCEVable(address->getType()) ? evolution.getSCEV(address) : nullptr;
  };
  const SCEV *at = addressOf(access), *place = addressOf(store);
  const SCEV *distance = at && place ? evolution.getMinusSCEV(at, place) : evolution.getCouldNotCompute();
  if (isa<SCEVCouldNotCompute>(distance) ||
      (!evolution.isLoopInvariant(distance, &loop) && !runsInEachIteration(*access.getParent(), loop, dominators)))
    return false;
  auto sizeOf = [&](const Instruction &inst) { return inst.getDataLayout().getTypeStoreSize(getLoadStoreType(&inst)); };
  const TypeSize width = sizeOf(access), size = sizeOf(store);
  if (width.isScalable() || size.isScalable())
    return false;
  auto bytes = [&](TypeSize of) { return evolution.getConstant(distance->getType(), of.getFixedValue()); };
  return isAtLeast(evolution, dominators, loop, distance, bytes(size)) ||
         isAtLeast(evolution, dominators, loop, evolution.getNegativeSCEV(distance), bytes(width));
}
