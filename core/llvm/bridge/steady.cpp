// Loads in loop nests whose value is the same in each iteration of an outer loop, because the address is and nobody
// writes there meanwhile: one value for each iteration of the loop around the load is then all that there is to keep.
//
// Where stores in the loop may reach what is loaded, as far as alias analysis knows, the ranges of addresses that both
// touch over the whole loop are compared before it, at run time: the condition is written into the preheader. Ranges
// are those of extents.h: affine in the counters of the loops, with bounds known before the loop. If an access of a
// range does not happen, the range may be anything: then there is nothing to keep, or nothing that is written.
//
// The inner loop may go round another number of times in each iteration of the outer one, as over the rows of a
// triangle: then it is told how often at most, where that is about as often as the outer one.
//
// Not handled: writes that are no stores; bases that change; triangles that need a comparison.

#include "steady.h"

#include "extents.h"

using namespace llvm;

namespace {

// More stores than this are not compared at run time.
constexpr size_t kMostStores = 16;
// More ranges than this, neither.
constexpr size_t kMostComparisons = 4;
// An inner loop may go round so many times more than the outer one.
constexpr int64_t kMoreTurns = 16;

// Whether `value` is the same function of the iterations of the loops inside of `loop`, in each iteration of that.
bool isSameIn(ScalarEvolution &evolution, const SCEV *value, const Loop &loop) {
  return !SCEVExprContains(value, [&](const SCEV *part) {
    if (isa<SCEVCouldNotCompute>(part))
      return true;
    if (const auto *recurrence = dyn_cast<SCEVAddRecExpr>(part))
      return recurrence->getLoop() == &loop;
    if (const auto *unknown = dyn_cast<SCEVUnknown>(part))
      return !evolution.isLoopInvariant(unknown, &loop);
    return false;
  });
}

// The loops in whose iterations an address varies.
SmallPtrSet<const Loop *, 4> loopsOf(const SCEV *address) {
  SmallPtrSet<const Loop *, 4> out;
  SCEVExprContains(address, [&](const SCEV *part) {
    if (const auto *recurrence = dyn_cast<SCEVAddRecExpr>(part))
      out.insert(recurrence->getLoop());
    return false;
  });
  return out;
}

// Zero-extended n - 1 as zero-extended n, less 1, where n is at least 1: as it stands with signed indices.
class Widened : public SCEVRewriteVisitor<Widened> {
public:
  explicit Widened(ScalarEvolution &evolution) : SCEVRewriteVisitor(evolution) {}

  const SCEV *visitZeroExtendExpr(const SCEVZeroExtendExpr *wide) {
    const auto *sum = dyn_cast<SCEVAddExpr>(wide->getOperand());
    const auto *constant = sum ? dyn_cast<SCEVConstant>(sum->getOperand(0)) : nullptr;
    if (!constant || !constant->getAPInt().isNegative())
      return wide;
    const SCEV *rest = SE.getMinusSCEV(sum, constant);
    if (SE.getUnsignedRangeMin(rest).ult(constant->getAPInt().abs()))
      return wide;
    return SE.getAddExpr(SE.getZeroExtendExpr(rest, wide->getType()), SE.getSignExtendExpr(constant, wide->getType()));
  }
};

class Comparison : public enz::Extents {
public:
  using Extents::Extents;

  // Takes `store` into account; false if it touches what `load` reads, or if nobody knows.
  bool add(LoadInst &load, StoreInst &store) {
    Span read, written;
    if (!spanOf(load, read) || !spanOf(store, written))
      return false;
    read_ = read;
    if (read.base == written.base && areApart(read.bytes, written.bytes))
      return true;
    const auto few = [&](const SCEV *a, const SCEV *b) { return isa<SCEVConstant>(evolution_.getMinusSCEV(a, b)); };
    // Ranges that begin or end a few elements from each other overlap, or are too short to matter.
    if (read.base == written.base &&
        (few(read.bytes.low, written.bytes.low) || few(read.bytes.high, written.bytes.high)))
      return false;
    for (Span &other : written_)
      if (other.base == written.base) {
        other.bytes.low = evolution_.getSMinExpr(other.bytes.low, written.bytes.low);
        other.bytes.high = evolution_.getSMaxExpr(other.bytes.high, written.bytes.high);
        return true;
      }
    written_.push_back(written);
    return written_.size() <= kMostComparisons;
  }

  // Whether that can be stated at the end of the preheader.
  bool isStatable(const SCEVExpander &expander) const {
    if (written_.empty())
      return true;
    const Instruction *place = loop_.getLoopPreheader()->getTerminator();
    SmallVector<const SCEV *, 8> bounds{read_.bytes.low, read_.bytes.high};
    for (const Span &span : written_)
      bounds.append({span.bytes.low, span.bytes.high});
    return all_of(bounds, [&](const SCEV *bound) { return expander.isSafeToExpandAt(bound, place); });
  }

  // The condition under which `load` touches other memory than all these stores in the whole loop, at the end of the
  // preheader; null if it can't be stated.
  Value *condition(SCEVExpander &expander) {
    Value *all = ConstantInt::getTrue(function_.getContext());
    if (written_.empty())
      return all;
    if (!isStatable(expander))
      return nullptr;
    Instruction *place = loop_.getLoopPreheader()->getTerminator();
    const auto at = [&](Value *base, const SCEV *offset) {
      Value *bytes = expander.expandCodeFor(offset, offset->getType(), place);
      return IRBuilder<>(place).CreatePtrAdd(base, bytes);
    };
    Value *first = at(read_.base, read_.bytes.low), *end = at(read_.base, read_.bytes.high);
    // A range that goes beyond the ends of the address space is of an access that does not run.
    all = IRBuilder<>(place).CreateICmpULE(first, end);
    for (const Span &span : written_) {
      Value *other = at(span.base, span.bytes.low), *other_end = at(span.base, span.bytes.high);
      IRBuilder<> build(place);
      Value *one = build.CreateOr(build.CreateICmpULE(end, other), build.CreateICmpULE(other_end, first));
      all = build.CreateAnd(all, build.CreateAnd(one, build.CreateICmpULE(other, other_end)));
    }
    return all;
  }

  // Whether that is known without a comparison.
  bool areApart(LoadInst &load, StoreInst &store) {
    Span read, written;
    return spanOf(load, read) && spanOf(store, written) && read.base == written.base &&
           areApart(read.bytes, written.bytes);
  }

private:
  struct Span {
    Value *base = nullptr;
    enz::Range bytes;
  };

  bool areApart(const enz::Range &a, const enz::Range &b) { return isAtMost(a.high, b.low) || isAtMost(b.high, a.low); }

  // Whether a <= b where the loop is entered.
  bool isAtMost(const SCEV *a, const SCEV *b) {
    if (evolution_.isKnownPredicate(CmpInst::ICMP_SLE, a, b))
      return true;
    Widened widened(evolution_);
    const SCEV *least = widened.visit(evolution_.applyLoopGuards(a, &loop_));
    const SCEV *greatest = widened.visit(evolution_.applyLoopGuards(b, &loop_));
    return evolution_.isKnownNonNegative(evolution_.getMinusSCEV(greatest, least));
  }

  // The base of an access, and the bytes from there on that it touches in the whole loop.
  bool spanOf(Instruction &access, Span &out) {
    const SCEV *address = evolution_.getSCEV(getPointerOperand(&access));
    const auto *base = dyn_cast<SCEVUnknown>(evolution_.getPointerBase(address));
    const TypeSize size = layout_.getTypeStoreSize(getLoadStoreType(&access));
    if (!base || !evolution_.isLoopInvariant(base, &loop_) || base->getType()->getPointerAddressSpace() != 0 ||
        size.isScalable())
      return false;
    const enz::Range range = rangeOf(evolution_.removePointerBase(address));
    if (!range || evolution_.getTypeSizeInBits(range.low->getType()) != 64)
      return false;
    const SCEV *end = evolution_.getAddExpr(range.high, evolution_.getConstant(range.high->getType(), size));
    out = Span{base->getValue(), {range.low, end}};
    return true;
  }

  Span read_;
  // One for each object, with all that is written to it.
  SmallVector<Span, 4> written_;
};

} // namespace

std::optional<enz::Steady> enz::findSteady(ScalarEvolution &evolution, LoopInfo &loops, LoadInst &load,
                                           const ConflictsIn &conflicts, bool triangles) {
  std::optional<Steady> out;
  Loop *inner = loops.getLoopFor(load.getParent());
  if (!inner || !load.isSimple())
    return out;
  const SCEV *address = evolution.getSCEV(load.getPointerOperand());
  const SmallPtrSet<const Loop *, 4> moving = loopsOf(address);
  uint64_t varies = 0;
  SmallVector<const SCEV *, 4> counts;
  unsigned depth = 0;
  for (Loop *loop = inner; loop && depth < 64; loop = loop->getParentLoop(), ++depth) {
    if (moving.contains(loop)) {
      varies |= uint64_t{1} << depth;
      counts.push_back(evolution.getBackedgeTakenCount(loop));
      continue;
    }
    Steady found{&load, loop, varies, {}};
    const auto fixed = [&](const SCEV *count) {
      return !isa<SCEVCouldNotCompute>(count) && evolution.isLoopInvariant(count, loop);
    };
    found.is_triangular = triangles && varies == 1 && !all_of(counts, fixed) && mostTurns(evolution, *loop, *inner);
    if (!isSameIn(evolution, address, *loop) || (!found.is_triangular && !all_of(counts, fixed)) ||
        !loop->getLoopPreheader() || !conflicts(*loop, found.stores) || found.stores.size() > kMostStores ||
        (found.is_triangular && !found.stores.empty()))
      break;
    // A condition is only worth it where nothing is known without.
    if (out && !found.stores.empty())
      break;
    out = found;
  }
  return out;
}

const SCEV *enz::mostTurns(ScalarEvolution &evolution, const Loop &loop, const Loop &inner) {
  const auto *count = dyn_cast<SCEVAddRecExpr>(evolution.getBackedgeTakenCount(&inner));
  const SCEV *turns = evolution.getBackedgeTakenCount(&loop);
  if (!count || count->getLoop() != &loop || !count->isAffine() || isa<SCEVCouldNotCompute>(turns) ||
      count->getType() != turns->getType() || !turns->getType()->isIntegerTy(64))
    return nullptr;
  // One more or one less each time, and not much more in the end: no loop goes round so often that this wraps.
  const SCEV *step = count->getStepRecurrence(evolution), *most = nullptr;
  if (step->isOne())
    most = count->evaluateAtIteration(turns, evolution);
  else if (step->isAllOnesValue())
    most = count->getStart();
  const auto *more = most ? dyn_cast<SCEVConstant>(evolution.getMinusSCEV(most, turns)) : nullptr;
  if (!more || more->getAPInt().sgt(kMoreTurns))
    return nullptr;
  return evolution.getSMaxExpr(most, evolution.getZero(most->getType()));
}

bool enz::areApartIn(EnzOpaqueHost &host, Function &function, Loop &loop, LoadInst &load, StoreInst &store) {
  static const EnzPrepare kNothing{};
  return Comparison(host, function, loop, kNothing).areApart(load, store);
}

bool enz::hasSteadyCondition(EnzOpaqueHost &host, Function &function, const Steady &steady) {
  static const EnzPrepare kNothing{};
  Comparison comparison(host, function, *steady.loop, kNothing);
  const SCEVExpander expander(host.functions->getResult<ScalarEvolutionAnalysis>(function), "");
  return all_of(steady.stores, [&](StoreInst *store) { return comparison.add(*steady.load, *store); }) &&
         comparison.isStatable(expander);
}

Value *enz::steadyCondition(EnzOpaqueHost &host, Function &function, SCEVExpander &expander, const Steady &steady) {
  static const EnzPrepare kNothing{};
  Comparison comparison(host, function, *steady.loop, kNothing);
  for (StoreInst *store : steady.stores)
    if (!comparison.add(*steady.load, *store))
      return nullptr;
  return comparison.condition(expander);
}
