// Whether ranges of memory that a loop touches are apart, compared before the loop, by as few comparisons as can be.
//
// LLVM compares the ends of each two ranges. The rows that one loop works on are mostly of one length L, and two ranges
// of one length are apart if they begin at least L apart: one comparison, d + (L - 1) >= 2 L - 1 without signs, instead
// of two, of numbers that change less often. Several pairs share their distance, as the rows of two arrays do which
// are indexed alike: it is compared once. A distance which is known to be L or more, as that of neighbouring rows of a
// matrix is, is not compared at all.
//
// A range is not empty and does not go around the end of memory: a loop touches what it is asked for.

#include "apart.h"

#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace {

bool isKnown(const SCEV *what) { return !isa<SCEVCouldNotCompute>(what); }

// The length of a range; null if it is not known.
const SCEV *lengthOf(ScalarEvolution &evolution, const RuntimeCheckingPtrGroup &range) {
  const SCEV *length = evolution.getMinusSCEV(range.High, range.Low);
  return isKnown(length) ? length : nullptr;
}

// How far `one` begins above `other`; null if that cannot be said.
const SCEV *distanceOf(ScalarEvolution &evolution, const RuntimeCheckingPtrGroup &one,
                       const RuntimeCheckingPtrGroup &other, Type *type) {
  const SCEV *distance = evolution.getMinusSCEV(one.Low, other.Low);
  if (isKnown(distance))
    return distance;
  const SCEV *from = evolution.getPtrToIntExpr(other.Low, type), *to = evolution.getPtrToIntExpr(one.Low, type);
  return isKnown(from) && isKnown(to) ? evolution.getMinusSCEV(to, from) : nullptr;
}

// How often values are multiplied with each other, at most.
unsigned degreeOf(const SCEV *what) {
  unsigned degree = isa<SCEVUnknown>(what) ? 1 : 0;
  for (const SCEV *operand : what->operands()) {
    const unsigned of = degreeOf(operand);
    degree = isa<SCEVMulExpr>(what) ? degree + of : std::max(degree, of);
  }
  return degree;
}

SmallPtrSet<const SCEV *, 8> unknownsOf(const SCEV *what) {
  struct Collect {
    SmallPtrSet<const SCEV *, 8> found;
    bool follow(const SCEV *part) {
      if (isa<SCEVUnknown>(part))
        found.insert(part);
      return true;
    }
    bool isDone() const { return false; }
  } collect;
  visitAll(what, collect);
  return collect.found;
}

} // namespace

enz::Comparisons::Comparisons(ArrayRef<RuntimePointerCheck> checks, ScalarEvolution &evolution)
    : evolution_(evolution) {
  for (const RuntimePointerCheck &check : checks)
    add(check);
}

void enz::Comparisons::add(const RuntimePointerCheck &check) {
  const RuntimeCheckingPtrGroup &one = *check.first, &other = *check.second;
  const SCEV *length = lengthOf(evolution_, one);
  const SCEV *distance =
      length && length == lengthOf(evolution_, other) ? distanceOf(evolution_, one, other, length->getType()) : nullptr;
  if (!distance || distance->getType() != length->getType()) {
    ranges_.push_back(check);
    return;
  }
  const SCEV *opposite = evolution_.getNegativeSCEV(distance);
  for (const SCEV *far : {distance, opposite})
    if (const auto *beyond = dyn_cast<SCEVConstant>(evolution_.getMinusSCEV(far, length));
        beyond && beyond->getAPInt().isNonNegative() && beyond->getAPInt().getActiveBits() < 32)
      return;
  if (none_of(distances_, [&](const Distance &known) {
        return known.length == length && (known.distance == distance || known.distance == opposite);
      }))
    distances_.push_back({distance, length});
}

// Rows whose choice depends on the loop around are mostly apart, and so is what lies at a distance as large as the
// range for what both are computed from: n * n elements, where n are touched. That n elements are, where m are touched,
// is not to be expected: they may be the rows of a matrix which one loop goes through as a whole.
bool enz::Comparisons::arePromising(const Loop &around) const {
  return all_of(distances_, [&](const Distance &two) {
    if (!evolution_.isLoopInvariant(two.distance, &around))
      return true;
    const SmallPtrSet<const SCEV *, 8> distance = unknownsOf(two.distance);
    return degreeOf(two.distance) >= degreeOf(two.length) &&
           all_of(unknownsOf(two.length), [&](const SCEV *of) { return distance.contains(of); });
  });
}

bool enz::Comparisons::canBeMadeAt(Instruction &at, SCEVExpander &expander) const {
  auto can = [&](const SCEV *what) { return expander.isSafeToExpandAt(what, &at); };
  return all_of(distances_, [&](const Distance &two) { return can(two.distance) && can(two.length); }) &&
         all_of(ranges_, [&](const RuntimePointerCheck &check) {
           return can(check.first->Low) && can(check.first->High) && can(check.second->Low) && can(check.second->High);
         });
}

Value *enz::Comparisons::makeAt(Instruction &at, SCEVExpander &expander) const {
  auto value = [&](const SCEV *what) { return expander.expandCodeFor(what, what->getType(), &at); };
  SmallVector<std::pair<Value *, Value *>, 16> far;
  for (const Distance &two : distances_) {
    const SCEV *one = evolution_.getOne(two.length->getType());
    const SCEV *less = evolution_.getMinusSCEV(two.length, one);
    const SCEV *least = evolution_.getAddExpr(two.length, less);
    far.emplace_back(value(evolution_.getAddExpr(two.distance, less)), value(least));
  }
  IRBuilder<> build(&at);
  Value *apart = build.getTrue();
  for (auto [distance, least] : far)
    apart = build.CreateAnd(apart, build.CreateICmpUGE(distance, least));
  for (const RuntimePointerCheck &check : ranges_) {
    Value *firstLow = value(check.first->Low), *firstHigh = value(check.first->High);
    Value *secondLow = value(check.second->Low), *secondHigh = value(check.second->High);
    IRBuilder<> here(&at);
    Value *below = here.CreateICmpULE(firstHigh, secondLow), *above = here.CreateICmpULE(secondHigh, firstLow);
    apart = here.CreateAnd(apart, here.CreateOr(below, above));
  }
  // A range that is poison is touched, too: what the comparison says then does not matter.
  return IRBuilder<>(&at).CreateFreeze(apart);
}
