// Whether a store may overwrite what a load has read before, in loops over the elements of one array.
//
// Factorisations and substitutions work in place, and yet what they read in their inner loops is final: row k of U, the
// columns of L left of column j. Alias analysis sees two accesses to the same array. Here the subscripts are compared,
// as in dependence analysis (Allen, Kennedy, "Optimizing Compilers for Modern Architectures", chapter 3), but for one
// direction only, and with bounds of inner loops that depend on counters of outer ones:
//
//   the load at iterations I and the store at iterations J of the common loops L1 .. Lc, J after I, means that for some
//   m they agree in L1 .. Lm-1 and J is later than I in Lm, or they agree in all and the store follows the load.
//
// For each case a dimension is looked for whose subscripts differ for sure: the least subscript of one access, over all
// inner loops, lies above the greatest of the other; in the case of Lm it may also be the store's subscript that has
// risen above the load's since. Subscripts come from delinearisation (Grosser et al., "Optimistic delinearization of
// parametrically sized arrays", ICS 2015); they decide only if all but the first stay within the bounds of their
// dimension.
//
// The same holds of what a store has written, instead of what a load has read: it stays if nothing overwrites it.
//
// Not handled: subscripts that are not affine, sizes that change, accesses of different width.

#include "order.h"

#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/Delinearization.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace {

// Known distances of this many bits are small beside all addresses.
constexpr unsigned kGapBits = 40;
// A loop that goes round less often is short.
constexpr uint64_t kManyTurns = uint64_t{1} << 40;
constexpr int64_t kFewTurns = 1 << 20;
// Loops around each other of which the inner ones go round as often as the outer ones say.
constexpr unsigned kTriangles = 4;

// The loop, if any, in whose first iteration alone control goes from `before` to `after`, because its counter has to be
// what it starts from.
const Loop *inFirstTurnOf(ScalarEvolution &evolution, BasicBlock *before, BasicBlock *after) {
  auto *branch = dyn_cast<BranchInst>(before->getTerminator());
  auto *test = branch && branch->isConditional() ? dyn_cast<ICmpInst>(branch->getCondition()) : nullptr;
  if (!test || !test->isEquality() || branch->getSuccessor(0) == branch->getSuccessor(1) ||
      branch->getSuccessor(test->getPredicate() == ICmpInst::ICMP_EQ ? 0 : 1) != after ||
      !evolution.isSCEVable(test->getOperand(0)->getType()))
    return nullptr;
  const auto *counter = dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(test->getOperand(0)));
  const bool first = counter && counter->isAffine() && counter->hasNoSignedWrap() &&
                     evolution.isKnownNonZero(counter->getStepRecurrence(evolution)) &&
                     counter->getStart() == evolution.getSCEV(test->getOperand(1));
  return first && counter->getLoop()->contains(before) ? counter->getLoop() : nullptr;
}

class Order {
public:
  Order(ScalarEvolution &evolution, LoopInfo &loops, Instruction &access, StoreInst &store, enz::Turns &turns)
      : se_(evolution), loops_(loops), load_(access), store_(store), turns_(turns) {}

  bool neverOverwrites() {
    findCommonLoops();
    if (!findSubscripts())
      return false;
    for (Loop *level : common_)
      if (!storesFirst(level) && !later(level) && !separateWithin(level->getParentLoop()))
        return false;
    return !followsInOneTurn() || separateWithin(innermost());
  }

private:
  Loop *innermost() const { return common_.empty() ? nullptr : common_.back(); }

  void findCommonLoops() {
    for (Loop *loop = loops_.getLoopFor(load_.getParent()); loop; loop = loop->getParentLoop())
      if (loop->contains(store_.getParent()))
        common_.insert(common_.begin(), loop);
  }

  bool findSubscripts() {
    Type *type = getLoadStoreType(&load_), *stored = store_.getValueOperand()->getType();
    const DataLayout &layout = load_.getModule()->getDataLayout();
    const TypeSize width = layout.getTypeStoreSize(type);
    if (width.isScalable() || width != layout.getTypeStoreSize(stored) || width != layout.getTypeAllocSize(type))
      return false;
    const SCEV *read = se_.getSCEV(getPointerOperand(&load_)), *written = se_.getSCEV(store_.getPointerOperand());
    const SCEV *base = se_.getPointerBase(read);
    if (base != se_.getPointerBase(written) || !isa<SCEVUnknown>(base) ||
        (!common_.empty() && !se_.isLoopInvariant(base, common_.front())))
      return false;
    read = se_.removePointerBase(read);
    written = se_.removePointerBase(written);
    const SCEV *size = se_.getConstant(read->getType(), width.getFixedValue());
    bytes_ = size;
    SmallVector<const SCEV *, 4> terms, sizes;
    collectParametricTerms(se_, read, terms);
    collectParametricTerms(se_, written, terms);
    findArrayDimensions(se_, terms, sizes, size);
    if (sizes.size() >= 2) {
      SmallVector<const SCEV *, 4> read_sizes = sizes, written_sizes = sizes;
      computeAccessFunctions(se_, read, read_, read_sizes);
      computeAccessFunctions(se_, written, written_, written_sizes);
      if (read_.size() == sizes.size() && written_.size() == sizes.size() && read_sizes == sizes &&
          written_sizes == sizes && inBounds(sizes))
        return true;
    }
    // One dimension of bytes.
    read_.assign(1, read);
    written_.assign(1, written);
    linear_ = true;
    return true;
  }

  bool inBounds(ArrayRef<const SCEV *> sizes) {
    for (size_t i = 1; i < read_.size(); ++i) {
      // A size that is another one in another iteration puts the same subscripts elsewhere.
      if (!isFixed(sizes[i - 1], nullptr))
        return false;
      if (read_[i]->getType() != sizes[i - 1]->getType() || written_[i]->getType() != read_[i]->getType())
        return false;
      for (const SCEV *subscript : {read_[i], written_[i]}) {
        const SCEV *least = extreme(subscript, nullptr, false), *greatest = extreme(subscript, nullptr, true);
        if (!least || !greatest || !se_.isKnownNonNegative(least) ||
            !(less(greatest, sizes[i - 1]) || less(greatest, whereEntered(sizes[i - 1]))))
          return false;
      }
    }
    return true;
  }

  // What is known of a number where the loops around both accesses are entered.
  const SCEV *whereEntered(const SCEV *number) {
    return common_.empty() ? number : se_.applyLoopGuards(number, common_.front());
  }

  // The extreme value of `value` over all loops other than `keep` and those around it; null if it can't be stated.
  const SCEV *extreme(const SCEV *value, const Loop *keep, bool greatest) {
    while (const auto *recurrence = dyn_cast<SCEVAddRecExpr>(value)) {
      const Loop *loop = recurrence->getLoop();
      if (keep && loop->contains(keep))
        break;
      if (!recurrence->isAffine() || !neverWraps(recurrence))
        return nullptr;
      const SCEV *step = recurrence->getStepRecurrence(se_);
      const bool rises = se_.isKnownNonNegative(step);
      if (!rises && !se_.isKnownNonPositive(step))
        return nullptr;
      if (rises != greatest) {
        value = recurrence->getStart();
        continue;
      }
      const SCEV *count = se_.getBackedgeTakenCount(loop);
      if (isa<SCEVCouldNotCompute>(count) ||
          se_.getTypeSizeInBits(count->getType()) > se_.getTypeSizeInBits(value->getType()))
        return nullptr;
      value = recurrence->evaluateAtIteration(se_.getNoopOrZeroExtend(count, value->getType()), se_);
    }
    return isFixed(value, keep) ? value : nullptr;
  }

  // Whether a recurrence stays within the signed numbers of its type: by its flags, or since it is short.
  bool neverWraps(const SCEVAddRecExpr *recurrence) {
    if (recurrence->hasNoSignedWrap())
      return true;
    const auto *step = dyn_cast<SCEVConstant>(recurrence->getStepRecurrence(se_));
    if (!step || !recurrence->getType()->isIntegerTy(64) || !isShort(recurrence->getLoop()))
      return false;
    const ConstantRange start = se_.getSignedRange(recurrence->getStart());
    return step->getAPInt().abs().ult(1u << 20) && start.getSignedMin().getSignificantBits() <= 62 &&
           start.getSignedMax().getSignificantBits() <= 62;
  }

  bool isShort(const Loop *loop) {
    const auto [known, fresh] = turns_.try_emplace(loop, kManyTurns);
    if (fresh) {
      const uint64_t most = mostTurns(loop, 0);
      turns_[loop] = most;
    }
    return turns_.lookup(loop) < kManyTurns;
  }

  // The most backedges of a loop, as far as they are not very many. Conditions under which it is entered tell more of
  // their number; a triangle's inner loop has few where the outer one has. What seems to be a small negative number is
  // none: no loop goes round so often.
  uint64_t mostTurns(const Loop *loop, unsigned depth) {
    const SCEV *count = se_.getBackedgeTakenCount(loop);
    if (isa<SCEVCouldNotCompute>(count) || depth > kTriangles)
      return kManyTurns;
    if (const APInt most = se_.getUnsignedRangeMax(count); most.ult(kManyTurns))
      return most.getZExtValue();
    if (!count->getType()->isIntegerTy(64))
      return kManyTurns;
    if (const auto *triangle = dyn_cast<SCEVAddRecExpr>(count)) {
      const SCEV *step = triangle->isAffine() ? triangle->getStepRecurrence(se_) : nullptr;
      if (!step || !(step->isOne() || step->isAllOnesValue()) || !triangle->getLoop()->contains(loop))
        return kManyTurns;
      const APInt start = se_.getSignedRangeMax(se_.applyLoopGuards(triangle->getStart(), triangle->getLoop()));
      const uint64_t outer = step->isOne() ? mostTurns(triangle->getLoop(), depth + 1) : 0;
      if (start.isNegative() ? start.slt(-kFewTurns) : start.uge(kManyTurns))
        return kManyTurns;
      return std::min(kManyTurns, (start.isNegative() ? 0 : start.getZExtValue()) + outer);
    }
    const ConstantRange range = se_.getSignedRange(se_.applyLoopGuards(count, loop));
    if (range.getSignedMin().slt(-kFewTurns) || range.getSignedMax().sge(static_cast<int64_t>(kManyTurns)))
      return kManyTurns;
    return range.getSignedMax().isNegative() ? 0 : range.getSignedMax().getZExtValue();
  }

  // Whether `value` has one value for each iteration of `keep` and the loops around it.
  bool isFixed(const SCEV *value, const Loop *keep) {
    return !SCEVExprContains(value, [&](const SCEV *part) {
      const Loop *loop = nullptr;
      if (const auto *recurrence = dyn_cast<SCEVAddRecExpr>(part))
        loop = recurrence->getLoop();
      else if (const auto *unknown = dyn_cast<SCEVUnknown>(part))
        if (const auto *inst = dyn_cast<Instruction>(unknown->getValue()))
          loop = loops_.getLoopFor(inst->getParent());
      return isa<SCEVCouldNotCompute>(part) || (loop && !(keep && loop->contains(keep)));
    });
  }

  // Whether a < b as signed numbers.
  bool less(const SCEV *a, const SCEV *b) {
    // Offsets of what is accessed are so far from the ends of their type that a few bytes more do not wrap.
    if (const auto *gap =
            linear_ && a->getType() == b->getType() ? dyn_cast<SCEVConstant>(se_.getMinusSCEV(b, a)) : nullptr)
      if (gap->getAPInt().isStrictlyPositive() && gap->getAPInt().getActiveBits() <= kGapBits)
        return se_.isKnownPredicate(ICmpInst::ICMP_SGE, gap, bytes_);
    if (linear_)
      a = se_.getAddExpr(a, se_.getMinusSCEV(bytes_, se_.getOne(bytes_->getType())));
    if (a->getType() != b->getType())
      return false;
    if (se_.isKnownPredicate(ICmpInst::ICMP_SLT, a, b))
      return true;
    // Of a number that is not negative nothing can be subtracted so that the difference only seems positive.
    return se_.isKnownNonNegative(b) && se_.isKnownPositive(se_.getMinusSCEV(b, a)) && !linear_;
  }

  // Whether the accesses differ whenever they agree in `keep` and the loops around it.
  bool separate(const Loop *keep) {
    for (size_t i = 0; i < read_.size(); ++i) {
      const SCEV *most_read = extreme(read_[i], keep, true), *least_written = extreme(written_[i], keep, false);
      if (most_read && least_written && less(most_read, least_written))
        return true;
      const SCEV *least_read = extreme(read_[i], keep, false), *most_written = extreme(written_[i], keep, true);
      if (least_read && most_written && less(most_written, least_read))
        return true;
    }
    return false;
  }

  bool separateWithin(const Loop *keep) {
    for (; keep; keep = keep->getParentLoop())
      if (separate(keep))
        return true;
    return separate(nullptr);
  }

  // Whether the accesses differ whenever they agree in the loops around `level` and the store comes in a later
  // iteration.
  bool later(const Loop *level) {
    for (size_t i = 0; i < read_.size(); ++i) {
      const SCEV *most_read = extreme(read_[i], level, true), *least_written = extreme(written_[i], level, false);
      if (most_read && least_written && isSteady(most_read, level))
        if (const SCEV *next = fromNext(least_written, level, true); next && less(most_read, next))
          return true;
      const SCEV *least_read = extreme(read_[i], level, false), *most_written = extreme(written_[i], level, true);
      if (least_read && most_written && isSteady(least_read, level))
        if (const SCEV *next = fromNext(most_written, level, false); next && less(next, least_read))
          return true;
    }
    return false;
  }

  // Whether the store runs in the first iteration of `level` alone: then it follows no load of an earlier one.
  bool storesFirst(const Loop *level) {
    BasicBlock *block = store_.getParent();
    while (block != level->getHeader()) {
      Loop *inner = loops_.getLoopFor(block);
      const bool heads = inner && inner->getHeader() == block;
      BasicBlock *before = heads ? inner->getLoopPreheader() : block->getSinglePredecessor();
      if (!before)
        return false;
      if (inFirstTurnOf(se_, before, block) == level)
        return true;
      block = before;
    }
    return false;
  }

  // Whether `value` is known in `level` by its iteration alone.
  bool isSteady(const SCEV *value, const Loop *level) {
    const auto *recurrence = dyn_cast<SCEVAddRecExpr>(value);
    if (!recurrence || recurrence->getLoop() != level)
      return se_.isLoopInvariant(value, level);
    return recurrence->isAffine() && se_.isLoopInvariant(recurrence->getStart(), level) &&
           se_.isLoopInvariant(recurrence->getStepRecurrence(se_), level);
  }

  // A bound of `value` in all later iterations of `level`, where it `rises` or else falls.
  const SCEV *fromNext(const SCEV *value, const Loop *level, bool rises) {
    if (!isSteady(value, level))
      return nullptr;
    const auto *recurrence = dyn_cast<SCEVAddRecExpr>(value);
    if (!recurrence || recurrence->getLoop() != level)
      return value;
    const SCEV *step = recurrence->getStepRecurrence(se_);
    const bool right = rises ? se_.isKnownNonNegative(step) : se_.isKnownNonPositive(step);
    return right && neverWraps(recurrence) ? recurrence->getPostIncExpr(se_) : nullptr;
  }

  // Whether the store can follow the load in one iteration of all common loops.
  bool followsInOneTurn() {
    if (&load_ == &store_)
      return false;
    SmallPtrSet<BasicBlock *, 1> headers;
    if (Loop *loop = innermost()) {
      if (loop->getHeader() == store_.getParent())
        return load_.getParent() == store_.getParent() && load_.comesBefore(&store_);
      headers.insert(loop->getHeader());
    }
    BasicBlock *from = load_.getParent(), *to = store_.getParent();
    if (from == to && load_.comesBefore(&store_))
      return true;
    // From behind the load's own block, which may be the header, where the next iteration begins.
    return any_of(successors(from), [&](BasicBlock *next) {
      return !headers.contains(next) &&
             isPotentiallyReachable(next, to, headers.empty() ? nullptr : &headers, nullptr, nullptr);
    });
  }

  ScalarEvolution &se_;
  LoopInfo &loops_;
  // The load, or the store whose value is to stay.
  Instruction &load_;
  StoreInst &store_;
  // Outermost first.
  SmallVector<Loop *, 4> common_;
  SmallVector<const SCEV *, 4> read_, written_;
  const SCEV *bytes_ = nullptr;
  // Whether there is one subscript, in bytes.
  bool linear_ = false;
  enz::Turns &turns_;
};

} // namespace

bool enz::neverOverwrites(ScalarEvolution &evolution, LoopInfo &loops, Instruction &access, StoreInst &store,
                          Turns &turns) {
  const auto *load = dyn_cast<LoadInst>(&access);
  const auto *earlier = dyn_cast<StoreInst>(&access);
  return ((load && load->isSimple()) || (earlier && earlier->isSimple())) && store.isSimple() &&
         Order(evolution, loops, access, store, turns).neverOverwrites();
}

namespace {

// A value that is `start` in the first iteration of a loop by a branch of its own, and else what has the value `start`
// there in any case: the latter, computed at the phi. LLVM splits first iterations off conditions.
bool joinFirstIterations(ScalarEvolution &evolution, LoopInfo &loops, Function &function) {
  SmallVector<std::pair<PHINode *, const SCEV *>, 8> found;
  for (BasicBlock &block : function) {
    Loop *loop = loops.getLoopFor(&block);
    if (!loop || loop->getHeader() == &block)
      continue;
    for (PHINode &phi : block.phis()) {
      if (phi.getNumIncomingValues() != 2 || !phi.getType()->isIntegerTy(64))
        continue;
      for (unsigned i = 0; i < 2; ++i) {
        // The edge that is taken in the first iteration alone: from a block that only `counter == start` leads to.
        BasicBlock *single = phi.getIncomingBlock(i);
        BasicBlock *before = single->getSinglePredecessor();
        const Loop *first = before ? inFirstTurnOf(evolution, before, single) : nullptr;
        if (!first || single->getUniqueSuccessor() != &block || !first->contains(&block))
          continue;
        const auto *other = dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(phi.getIncomingValue(1 - i)));
        if (other && other->getLoop() == first && other->isAffine() &&
            other->getStart() == evolution.getSCEV(phi.getIncomingValue(i))) {
          found.emplace_back(&phi, other);
          break;
        }
      }
    }
  }
  SCEVExpander expander(evolution, "enzyme.index");
  bool changed = false;
  for (auto &[phi, value] : found) {
    Instruction *place = &*phi->getParent()->getFirstInsertionPt();
    if (!expander.isSafeToExpandAt(value, place))
      continue;
    Value *joined = expander.expandCodeFor(value, phi->getType(), place);
    if (joined == phi)
      continue;
    evolution.forgetValue(phi);
    phi->replaceAllUsesWith(joined);
    phi->eraseFromParent();
    changed = true;
  }
  return changed;
}

} // namespace

bool enz::clarifySubscripts(ScalarEvolution &evolution, LoopInfo &loops, Function &function) {
  SmallVector<CastInst *, 16> casts;
  for (BasicBlock &block : function)
    for (Instruction &inst : block) {
      auto *cast = dyn_cast<CastInst>(&inst);
      if (!cast || !cast->getType()->isIntegerTy(64) || !loops.getLoopFor(&block))
        continue;
      auto *product = dyn_cast<BinaryOperator>(cast->getOperand(0));
      if (!product || product->getOpcode() != Instruction::Mul)
        continue;
      const bool positive = isa<ZExtInst>(cast) && cast->hasNonNeg();
      if (((isa<SExtInst>(cast) || positive) && product->hasNoSignedWrap()) ||
          (isa<ZExtInst>(cast) && product->hasNoUnsignedWrap()))
        casts.push_back(cast);
    }
  for (CastInst *cast : casts) {
    auto *product = llvm::cast<BinaryOperator>(cast->getOperand(0));
    IRBuilder<> builder(cast);
    const Loop *loop = loops.getLoopFor(cast->getParent());
    const bool is_unsigned = isa<ZExtInst>(cast) && product->hasNoUnsignedWrap();
    Value *factors[2];
    for (unsigned i = 0; i < 2; ++i) {
      Value *factor = product->getOperand(i);
      const SCEV *known = evolution.applyLoopGuards(evolution.getSCEV(factor), loop);
      // What other indices do with the same number is done with it here.
      factors[i] = is_unsigned || evolution.isKnownNonNegative(known) ? builder.CreateZExt(factor, cast->getType())
                                                                      : builder.CreateSExt(factor, cast->getType());
    }
    Value *wide =
        is_unsigned ? builder.CreateNUWMul(factors[0], factors[1]) : builder.CreateNSWMul(factors[0], factors[1]);
    evolution.forgetValue(cast);
    cast->replaceAllUsesWith(wide);
    cast->eraseFromParent();
  }
  return joinFirstIterations(evolution, loops, function) || !casts.empty();
}
