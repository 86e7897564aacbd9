// Between which numbers an expression lies in all iterations of a loop, computed before the loop by the program itself;
// or in all iterations of all loops that follow.
//
// LLVM's ranges of expressions are constants; whether row (i == 0 ? n - 1 : i - 1) of an array has its place in it for
// all i < n is a matter of n. Here the bounds are code: interval arithmetic (Moore, "Interval Analysis", chapter 2)
// over the expression, in which a counter of an inner loop is between zero and the number of its iterations, and what
// the loop does not change is a number of the run.
//
// Addresses are numbers modulo 2^64, and so is all that is added and multiplied to them: a sum that wraps around stands
// for the number that mathematics gives, modulo 2^64. Intervals are of the latter. Where the program itself leaves the
// ring, as it does when an int is extended, the number must be what is in the register: that is required, by `holds`.
// So that intervals do not wrap, values of the program are required to be small (`leaf` bits), and products of more
// than 62 bits are refused.
//
// In (x == c ? a : b) with x a counter and c its first or last value, b is computed without this iteration: that is
// what the neighbours in periodic arrays are.
//
// What is told of an access holds whenever it runs. Intervals may be empty where it does not.
//
// Not handled: remainders, divisions by what is not constant, loads within the loop, counters that do not move by the
// same step.

#include "bounds.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"

using namespace llvm;

namespace {

constexpr unsigned kMostBits = 62;
constexpr unsigned kDeepest = 60;

bool isZero(const Value *number) {
  const auto *constant = dyn_cast<ConstantInt>(number);
  return constant && constant->isZero();
}

bool isComputed(const SCEV *what) { return !isa<SCEVCouldNotCompute>(what); }

} // namespace

// Whether a value is known where the bounds are computed.
bool enz::Bounds::isFixed(const Instruction &inst) const {
  return around_ ? !around_->contains(&inst) : dominators_->dominates(&inst, place_);
}

bool enz::Bounds::isFixed(const SCEV *what) const {
  return around_ ? evolution_.isLoopInvariant(what, around_) : !SCEVExprContains(what, [&](const SCEV *part) {
    const auto *leaf = dyn_cast<SCEVUnknown>(part);
    const auto *inst = leaf ? dyn_cast<Instruction>(leaf->getValue()) : nullptr;
    return isa<SCEVAddRecExpr>(part) || (inst && !isFixed(*inst));
  });
}

void enz::Bounds::require(Value *condition) {
  if (!is_contained(required_, condition))
    required_.push_back(condition);
}

Value *enz::Bounds::holds() {
  Value *all = build_.getTrue();
  for (Value *condition : required_)
    all = build_.CreateAnd(all, condition);
  return all;
}

Value *enz::Bounds::least(Value *a, Value *b) {
  return a == b ? a : build_.CreateBinaryIntrinsic(Intrinsic::smin, a, b);
}

Value *enz::Bounds::most(Value *a, Value *b) {
  return a == b ? a : build_.CreateBinaryIntrinsic(Intrinsic::smax, a, b);
}

enz::Bounds::Interval enz::Bounds::both(const Interval &a, const Interval &b) {
  return {least(a.low, b.low), most(a.high, b.high), std::max(a.bits, b.bits)};
}

std::optional<enz::Bounds::Interval> enz::Bounds::sum(const Interval &a, const Interval &b) {
  const unsigned bits = std::max(a.bits, b.bits) + 1;
  if (bits > kMostBits)
    return std::nullopt;
  const auto plus = [&](Value *x, Value *y) { return isZero(x) ? y : isZero(y) ? x : build_.CreateAdd(x, y); };
  Value *low = plus(a.low, b.low);
  return Interval{low, a.low == a.high && b.low == b.high ? low : plus(a.high, b.high), bits};
}

std::optional<enz::Bounds::Interval> enz::Bounds::product(const Interval &a, const Interval &b) {
  const unsigned bits = a.bits + b.bits;
  if (bits > kMostBits)
    return std::nullopt;
  const auto ends = [](const Interval &x) {
    return x.low == x.high ? SmallVector<Value *, 2>{x.low} : SmallVector<Value *, 2>{x.low, x.high};
  };
  SmallVector<Value *, 4> corners;
  for (Value *x : ends(a))
    for (Value *y : ends(b))
      corners.push_back(isZero(x) || isZero(y) ? number(0) : build_.CreateMul(x, y));
  Interval of{corners.front(), corners.front(), bits};
  for (Value *corner : ArrayRef(corners).drop_front())
    of = both(of, {corner, corner, bits});
  return of;
}

// `of`, required to be what a register of `width` bits holds.
std::optional<enz::Bounds::Interval> enz::Bounds::canonical(std::optional<Interval> of, unsigned width, bool hasSign) {
  if (!of)
    return of;
  const unsigned most = hasSign ? width - 1 : width;
  if (!hasSign)
    require(build_.CreateICmpSGE(of->low, number(0)));
  else if (most < kMostBits)
    require(build_.CreateICmpSGE(of->low, number(-(int64_t(1) << most))));
  if (most < kMostBits)
    require(build_.CreateICmpSLT(of->high, number(int64_t(1) << most)));
  of->bits = std::min(of->bits, most);
  return of;
}

std::optional<enz::Bounds::Interval> enz::Bounds::of(const SCEV *what) { return within(what, nullptr); }

std::optional<enz::Bounds::Interval> enz::Bounds::within(const SCEV *what, const Some *some) {
  if (!some)
    if (const auto at = known_.find(what); at != known_.end())
      return at->second;
  if (depth_ == kDeepest)
    return std::nullopt;
  // What is computed from itself has no bounds.
  if (!some)
    known_[what] = std::nullopt;
  ++depth_;
  const std::optional<Interval> result = compute(what, some);
  --depth_;
  if (!some)
    known_[what] = result;
  return result;
}

std::optional<enz::Bounds::Interval> enz::Bounds::compute(const SCEV *what, const Some *some) {
  const auto *type = dyn_cast<IntegerType>(what->getType());
  if (!type || type->getBitWidth() > 64)
    return std::nullopt;
  if (const auto *constant = dyn_cast<SCEVConstant>(what)) {
    const APInt &value = constant->getAPInt();
    if (value.getSignificantBits() > kMostBits)
      return std::nullopt;
    Value *same = number(value.getSExtValue());
    return Interval{same, same, value.getSignificantBits()};
  }
  if (const auto *leaf = dyn_cast<SCEVUnknown>(what))
    return unknown(*leaf->getValue(), some);
  if (const auto *cast = dyn_cast<SCEVCastExpr>(what)) {
    const SCEV *from = cast->getOperand();
    if (!from->getType()->isIntegerTy())
      return std::nullopt;
    const std::optional<Interval> of = within(from, some);
    if (isa<SCEVTruncateExpr>(cast))
      return of;
    return canonical(of, from->getType()->getIntegerBitWidth(), isa<SCEVSignExtendExpr>(cast));
  }
  if (const auto *recurrence = dyn_cast<SCEVAddRecExpr>(what))
    return iterated(*recurrence, some);
  if (const auto *many = dyn_cast<SCEVNAryExpr>(what))
    return folded(*many, some);
  if (const auto *division = dyn_cast<SCEVUDivExpr>(what)) {
    const auto *by = dyn_cast<SCEVConstant>(division->getRHS());
    if (!by || by->getAPInt().getActiveBits() > kMostBits)
      return std::nullopt;
    std::optional<Interval> of = canonical(within(division->getLHS(), some), type->getBitWidth(), false);
    if (!of)
      return of;
    Value *divisor = build_.getInt64(by->getAPInt().getZExtValue());
    return Interval{build_.CreateUDiv(of->low, divisor), build_.CreateUDiv(of->high, divisor), of->bits};
  }
  return std::nullopt;
}

std::optional<enz::Bounds::Interval> enz::Bounds::folded(const SCEVNAryExpr &many, const Some *some) {
  const SCEVTypes kind = many.getSCEVType();
  const bool isMinimum = kind == scSMinExpr || kind == scUMinExpr, isMaximum = kind == scSMaxExpr || kind == scUMaxExpr;
  if (kind != scAddExpr && kind != scMulExpr && !isMinimum && !isMaximum)
    return std::nullopt;
  const bool hasSign = kind == scSMinExpr || kind == scSMaxExpr;
  std::optional<Interval> result;
  for (const SCEV *operand : many.operands()) {
    std::optional<Interval> next = within(operand, some);
    if (isMinimum || isMaximum)
      next = canonical(next, operand->getType()->getIntegerBitWidth(), hasSign);
    if (!next)
      return std::nullopt;
    if (!result)
      result = next;
    else if (kind == scAddExpr)
      result = sum(*result, *next);
    else if (kind == scMulExpr)
      result = product(*result, *next);
    else if (isMinimum)
      result =
          Interval{least(result->low, next->low), least(result->high, next->high), std::max(result->bits, next->bits)};
    else
      result =
          Interval{most(result->low, next->low), most(result->high, next->high), std::max(result->bits, next->bits)};
    if (!result)
      return std::nullopt;
  }
  return result;
}

// A number that is in the range of its signed type, as an expression of 64 bits: sums and products of wide numbers.
const SCEV *enz::Bounds::widened(const SCEV *what) const {
  Type *wide = build_.getInt64Ty();
  const auto all = [&](const SCEV *many) {
    SmallVector<const SCEV *, 4> out;
    for (const SCEV *operand : many->operands())
      out.push_back(widened(operand));
    return out;
  };
  if (what->getType() == wide)
    return what;
  if (const auto *recurrence = dyn_cast<SCEVAddRecExpr>(what); recurrence && recurrence->isAffine()) {
    SmallVector<const SCEV *, 4> parts = all(what);
    return evolution_.getAddRecExpr(parts, recurrence->getLoop(), SCEV::FlagAnyWrap);
  }
  if (isa<SCEVAddExpr>(what)) {
    SmallVector<const SCEV *, 4> parts = all(what);
    return evolution_.getAddExpr(parts);
  }
  if (isa<SCEVMulExpr>(what)) {
    SmallVector<const SCEV *, 4> parts = all(what);
    return evolution_.getMulExpr(parts);
  }
  return evolution_.getSignExtendExpr(what, wide);
}

// Whether `turns`, a number of iterations of a loop that mathematics gives, is not negative where the loop runs, if it
// is in the range of the signed numbers of its type.
bool enz::Bounds::hasSignedTurns(const Loop &loop, const SCEV *turns) const {
  const auto isGuarded = [&](const SCEV *number) {
    return evolution_.isLoopEntryGuardedByCond(&loop, CmpInst::ICMP_SGE, number, evolution_.getZero(number->getType()));
  };
  // A loop that does as many iterations as a large number without sign stands for never ends. One that may end before
  // does not do them all.
  if (turns->getType() == build_.getInt64Ty() && turns == evolution_.getBackedgeTakenCount(&loop))
    return true;
  if (isGuarded(turns))
    return true;
  const SCEV *wide = widened(turns);
  if (isGuarded(wide))
    return true;
  // A comparison a < b before the loop, where b - a is at most one more.
  for (const BasicBlock *block = loop.getLoopPreheader(); block;) {
    const BasicBlock *above = block->getSinglePredecessor();
    const auto *branch = above ? dyn_cast<BranchInst>(above->getTerminator()) : nullptr;
    const auto *compare = branch && branch->isConditional() ? dyn_cast<ICmpInst>(branch->getCondition()) : nullptr;
    if (compare && compare->getOperand(0)->getType() == wide->getType()) {
      auto predicate = branch->getSuccessor(0) == block ? compare->getPredicate() : compare->getInversePredicate();
      const SCEV *a = evolution_.getSCEV(compare->getOperand(0)), *b = evolution_.getSCEV(compare->getOperand(1));
      if (ICmpInst::isGT(predicate)) {
        std::swap(a, b);
        predicate = CmpInst::getSwappedPredicate(predicate);
      }
      const auto *rest = dyn_cast<SCEVConstant>(evolution_.getMinusSCEV(wide, evolution_.getMinusSCEV(b, a)));
      if ((predicate == CmpInst::ICMP_SLT || (predicate == CmpInst::ICMP_ULT && evolution_.isKnownNonNegative(b))) &&
          rest && rest->getAPInt().sge(-1) && evolution_.willNotOverflow(Instruction::Sub, /*Signed=*/true, b, a))
        return true;
    }
    block = above;
  }
  return false;
}

// The number of the iterations that come before the last. It may be computed as less than zero where the loop is not
// entered.
std::optional<enz::Bounds::Interval> enz::Bounds::iterationsOf(const Loop &loop) {
  const SCEV *turns = evolution_.getBackedgeTakenCount(&loop);
  if (!isComputed(turns))
    turns = evolution_.getSymbolicMaxBackedgeTakenCount(&loop);
  if (!isComputed(turns))
    return std::nullopt;
  std::optional<Interval> last =
      canonical(of(turns), turns->getType()->getIntegerBitWidth(), hasSignedTurns(loop, turns));
  if (last)
    *last = Interval{number(0), most(last->high, number(0)), last->bits};
  return last;
}

// Between its first and its last value: where the number of iterations changes with the loops around, as that of a row
// of a triangle does, the last value is simpler than either.
std::optional<enz::Bounds::Interval> enz::Bounds::fromTo(const SCEVAddRecExpr &recurrence, const Some *some) {
  const Loop *loop = recurrence.getLoop();
  const SCEV *turns = evolution_.getBackedgeTakenCount(loop), *step = recurrence.getStepRecurrence(evolution_);
  const bool isRising = evolution_.isKnownNonNegative(step);
  if (!isComputed(turns) || isFixed(turns) || recurrence.getType() != build_.getInt64Ty() ||
      turns->getType()->getIntegerBitWidth() > 64 || !(isRising || evolution_.isKnownNonPositive(step)) ||
      !hasSignedTurns(*loop, turns) || !canonical(of(turns), turns->getType()->getIntegerBitWidth(), true))
    return std::nullopt;
  const std::optional<Interval> first = within(recurrence.getStart(), some);
  const std::optional<Interval> last =
      first ? within(recurrence.evaluateAtIteration(widened(turns), evolution_), some) : std::nullopt;
  if (!last)
    return std::nullopt;
  const unsigned bits = std::max(first->bits, last->bits);
  return isRising ? Interval{first->low, last->high, bits} : Interval{last->low, first->high, bits};
}

std::optional<enz::Bounds::Interval> enz::Bounds::iterated(const SCEVAddRecExpr &recurrence, const Some *some) {
  const Loop *loop = recurrence.getLoop();
  if (!recurrence.isAffine() || (around_ && !around_->contains(loop)))
    return std::nullopt;
  const bool all = !some || some->loop != loop;
  if (const std::optional<Interval> ends = all ? fromTo(recurrence, some) : std::nullopt)
    return ends;
  const std::optional<Interval> turns = !all ? some->iterations : iterationsOf(*loop);
  const std::optional<Interval> start = turns ? within(recurrence.getStart(), some) : std::nullopt;
  const std::optional<Interval> step = start ? within(recurrence.getStepRecurrence(evolution_), some) : std::nullopt;
  const std::optional<Interval> moved = step ? product(*step, *turns) : std::nullopt;
  return moved ? sum(*start, *moved) : std::nullopt;
}

std::optional<enz::Bounds::Interval> enz::Bounds::unknown(Value &value, const Some *some) {
  const auto *inst = dyn_cast<Instruction>(&value);
  if (!inst || isFixed(*inst)) {
    Value *same = build_.CreateSExt(&value, build_.getInt64Ty());
    require(build_.CreateICmpULT(build_.CreateAdd(same, number(int64_t(1) << leaf_)), number(int64_t(2) << leaf_)));
    return Interval{same, same, leaf_};
  }
  if (auto *select = dyn_cast<SelectInst>(&value))
    return chosen(*select, some);
  if (const auto *freeze = dyn_cast<FreezeInst>(inst))
    return within(evolution_.getSCEV(freeze->getOperand(0)), some);
  // One of several values, perhaps of an iteration before, so that all iterations count; one that is computed from
  // itself has been refused.
  std::optional<Interval> result;
  if (const auto *phi = dyn_cast<PHINode>(inst))
    for (Value *incoming : phi->incoming_values()) {
      const std::optional<Interval> next = of(evolution_.getSCEV(incoming));
      if (!next)
        return std::nullopt;
      result = result ? both(*result, *next) : *next;
    }
  return result;
}

std::optional<enz::Bounds::Interval> enz::Bounds::chosen(SelectInst &select, const Some *some) {
  const auto *compare = dyn_cast<ICmpInst>(select.getCondition());
  Value *same = select.getTrueValue(), *other = select.getFalseValue();
  if (compare && compare->getPredicate() == CmpInst::ICMP_NE)
    std::swap(same, other);
  const std::optional<Some> rest = others(select);
  const std::optional<Interval> a = within(evolution_.getSCEV(same), some);
  const std::optional<Interval> b = a ? within(evolution_.getSCEV(other), rest ? &*rest : some) : std::nullopt;
  return b ? std::optional(both(*a, *b)) : std::nullopt;
}

// The iterations in which a counter that is compared with its first or last value is something else.
std::optional<enz::Bounds::Some> enz::Bounds::others(SelectInst &select) {
  const auto *compare = dyn_cast<ICmpInst>(select.getCondition());
  if (!compare || !compare->isEquality() || !compare->getOperand(0)->getType()->isIntegerTy())
    return std::nullopt;
  const SCEV *counter = evolution_.getSCEV(compare->getOperand(0)), *value = evolution_.getSCEV(compare->getOperand(1));
  if (!isa<SCEVAddRecExpr>(counter))
    std::swap(counter, value);
  const auto *recurrence = dyn_cast<SCEVAddRecExpr>(counter);
  if (!recurrence || !recurrence->isAffine() || (around_ && !around_->contains(recurrence->getLoop())))
    return std::nullopt;
  const Loop *loop = recurrence->getLoop();
  const SCEV *turns = evolution_.getBackedgeTakenCount(loop);
  const SCEV *parts[] = {turns, value, recurrence->getStart(), recurrence->getStepRecurrence(evolution_)};
  if (!isComputed(turns) || !all_of(parts, [&](const SCEV *part) { return isFixed(part); }))
    return std::nullopt;
  // What does not change has one bound.
  const std::optional<Interval> last = iterationsOf(*loop), with = of(value), start = of(parts[2]), step = of(parts[3]);
  const std::optional<Interval> moved =
      last && step ? product(*step, {last->high, last->high, last->bits}) : std::nullopt;
  const std::optional<Interval> end = moved && start ? sum(*start, *moved) : std::nullopt;
  if (!end || !with)
    return std::nullopt;
  Value *isFirst = build_.CreateZExt(build_.CreateICmpEQ(with->low, start->low), build_.getInt64Ty());
  Value *isLast = build_.CreateZExt(build_.CreateICmpEQ(with->low, end->low), build_.getInt64Ty());
  return Some{loop, {isFirst, build_.CreateSub(last->high, isLast), last->bits}};
}
