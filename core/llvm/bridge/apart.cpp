// Whether ranges of memory that a loop touches are apart, compared before the loop, by as few comparisons as can be.
//
// LLVM compares the ends of each two ranges. The rows that one loop works on are mostly of one length L, and two ranges
// of one length are apart if they begin at least L apart: one comparison, d + (L - 1) >= 2 L - 1 without signs, instead
// of two, of numbers that change less often. Several pairs share their distance, as the rows of two arrays do which
// are indexed alike: it is compared once. A distance which is known to be L or more, as that of neighbouring rows of a
// matrix is, or of two rows one of which comes after the other (distances.cpp), is not compared at all.
//
// Many rows of one array and many of another are compared as wholes, from the first byte of all to the last: rows of
// the one between rows of the other are not to be expected. Distances that are the same in the loop around are compared
// before that.
//
// A range is not empty and does not go around the end of memory: a loop touches what it is asked for.

#include "apart.h"
#include "distances.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace {

// From so many on, rows of two arrays are compared as wholes.
constexpr size_t kManyPairs = 6;

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

enz::Comparisons::Comparisons(ArrayRef<RuntimePointerCheck> checks, ScalarEvolution &evolution,
                              const DominatorTree &dominators, const Loop *each)
    : evolution_(evolution), dominators_(dominators), each_(each) {
  MapVector<std::pair<const SCEV *, const SCEV *>, SmallVector<RuntimePointerCheck, 8>> arrays;
  for (RuntimePointerCheck check : checks) {
    const SCEV *one = evolution.getPointerBase(check.first->Low), *other = evolution.getPointerBase(check.second->Low);
    if (!arrays.contains({one, other}) && arrays.contains({other, one})) {
      std::swap(one, other);
      std::swap(check.first, check.second);
    }
    arrays[{one, other}].push_back(check);
  }
  for (const auto &[two, between] : arrays)
    if (two.first != two.second && between.size() >= kManyPairs)
      addHulls(between);
    else
      for_each(between, [&](const RuntimePointerCheck &check) { add(check); });
}

void enz::Comparisons::addHulls(ArrayRef<RuntimePointerCheck> checks) {
  Hulls hulls{checks[0].first->Low, checks[0].first->High, checks[0].second->Low, checks[0].second->High};
  for (const auto &[one, other] : checks) {
    hulls.firstLow = evolution_.getUMinExpr(hulls.firstLow, one->Low);
    hulls.firstHigh = evolution_.getUMaxExpr(hulls.firstHigh, one->High);
    hulls.secondLow = evolution_.getUMinExpr(hulls.secondLow, other->Low);
    hulls.secondHigh = evolution_.getUMaxExpr(hulls.secondHigh, other->High);
  }
  hulls_.push_back(hulls);
}

bool enz::Comparisons::isFixed(const Distance &two, const Loop &around) const {
  return evolution_.isLoopInvariant(two.distance, &around) && evolution_.isLoopInvariant(two.length, &around);
}

size_t enz::Comparisons::cost(const Loop &around) const {
  return count() - static_cast<size_t>(count_if(distances_, [&](const Distance &two) { return isFixed(two, around); }));
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
        (beyond && beyond->getAPInt().isNonNegative() && beyond->getAPInt().getActiveBits() < 32) ||
        (each_ && isAtLeast(evolution_, dominators_, *each_, far, length)))
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
         all_of(ranges_,
                [&](const RuntimePointerCheck &check) {
                  return can(check.first->Low) && can(check.first->High) && can(check.second->Low) &&
                         can(check.second->High);
                }) &&
         all_of(hulls_, [&](const Hulls &hulls) {
           return can(hulls.firstLow) && can(hulls.firstHigh) && can(hulls.secondLow) && can(hulls.secondHigh);
         });
}

Value *enz::Comparisons::makeAt(Instruction &at, Loop &around, SCEVExpander &expander) const {
  BasicBlock *preheader = around.getLoopPreheader();
  Instruction *before = preheader ? preheader->getTerminator() : nullptr;
  auto value = [&](const SCEV *what, Instruction *where) {
    return expander.expandCodeFor(what, what->getType(), where);
  };
  auto areFar = [&](const Distance &two, Instruction *where) {
    const SCEV *one = evolution_.getOne(two.length->getType());
    const SCEV *less = evolution_.getMinusSCEV(two.length, one);
    const SCEV *least = evolution_.getAddExpr(two.length, less);
    Value *distance = value(evolution_.getAddExpr(two.distance, less), where), *enough = value(least, where);
    return IRBuilder<>(where).CreateICmpUGE(distance, enough);
  };
  auto areApart = [&](const SCEV *low, const SCEV *high, const SCEV *otherLow, const SCEV *otherHigh) {
    Value *firstLow = value(low, &at), *firstHigh = value(high, &at);
    Value *secondLow = value(otherLow, &at), *secondHigh = value(otherHigh, &at);
    IRBuilder<> build(&at);
    Value *below = build.CreateICmpULE(firstHigh, secondLow), *above = build.CreateICmpULE(secondHigh, firstLow);
    return build.CreateOr(below, above);
  };
  Value *early = nullptr, *late = nullptr;
  for (const Distance &two : distances_) {
    const bool isEarly = before && isFixed(two, around) && expander.isSafeToExpandAt(two.distance, before) &&
                         expander.isSafeToExpandAt(two.length, before);
    Instruction *where = isEarly ? before : &at;
    Value *far = areFar(two, where), *&all = isEarly ? early : late;
    all = all ? IRBuilder<>(where).CreateAnd(all, far) : far;
  }
  for (const RuntimePointerCheck &check : ranges_) {
    Value *apart = areApart(check.first->Low, check.first->High, check.second->Low, check.second->High);
    late = late ? IRBuilder<>(&at).CreateAnd(late, apart) : apart;
  }
  for (const Hulls &hulls : hulls_) {
    Value *apart = areApart(hulls.firstLow, hulls.firstHigh, hulls.secondLow, hulls.secondHigh);
    late = late ? IRBuilder<>(&at).CreateAnd(late, apart) : apart;
  }
  IRBuilder<> build(&at);
  Value *apart = early && late ? build.CreateAnd(early, late) : early ? early : late ? late : build.getTrue();
  // A range that is poison is touched, too: what the comparison says then does not matter.
  return build.CreateFreeze(apart);
}
