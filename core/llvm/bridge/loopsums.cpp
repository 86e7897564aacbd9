// The sums that an innermost loop of a derivative makes in memory, and all else that it touches.
//
// What is found here is what the two ways of making such loops ready for vectors begin with: strips (scatter.cpp), and
// numbers that go from one iteration to the next (relay.cpp). What else the loop reads and writes must be elsewhere, or
// be of the element that is added to, before that. This is asked of alias analysis, and of the run if that does not
// know: ranges are compared before the loop.
//
// Taken are loops of one block whose count is known on entry, and in which all else is what LLVM vectorises. Not
// handled: strides other than the size of an element; sums under a condition.

#include "loopsums.h"

#include "llvm/Analysis/IVDescriptors.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace {

constexpr size_t kMostSums = 16;
constexpr size_t kLargestBlock = 400;
// Sums that are closer than this to each other are in the way of vectors.
constexpr uint64_t kNear = 64;
// Comparisons before a loop, each of two ranges.
constexpr size_t kMostChecks = 16;
// Comparisons of ranges that LLVM's vectoriser makes by itself (its option runtime-memory-check-threshold).
constexpr size_t kChecksOfVectoriser = 8;
// Loops of one function that are rewritten.
constexpr unsigned kMostLoops = 32;

// Whether `other` is of the very element that `target` adds to later in the same iteration, and in no other one.
bool comesFirst(const enz::Place &other, const enz::Target &target) {
  return other.whole == target.place.whole && other.size == target.place.size &&
         other.access->comesBefore(target.sum.load);
}

} // namespace

enz::LoopSums::LoopSums(EnzOpaqueHost &host, Function &function, Loop &loop)
    : loop_(loop), block_(*loop.getHeader()), evolution_(host.functions->getResult<ScalarEvolutionAnalysis>(function)),
      dominators_(host.functions->getResult<DominatorTreeAnalysis>(function)),
      results_(host.functions->getResult<AAManager>(function)), layout_(function.getDataLayout()) {}

bool enz::LoopSums::find() { return isSimple() && collect() && hinders() && isVectorisableElse(); }

bool enz::LoopSums::isSimple() {
  exit_ = loop_.getUniqueExitBlock();
  auto *branch = dyn_cast<BranchInst>(block_.getTerminator());
  // One of two versions (see versions.cpp).
  if (findOptionMDForLoop(&loop_, "llvm.loop.parallel_accesses") ||
      findOptionMDForLoop(&loop_, "llvm.loop.isvectorized"))
    return false;
  if (loop_.getNumBlocks() != 1 || !loop_.getLoopPreheader() || !exit_ || exit_->isEHPad() || !branch ||
      !branch->isConditional() || exit_->getSinglePredecessor() != &block_ || block_.size() > kLargestBlock)
    return false;
  count_ = evolution_.getBackedgeTakenCount(&loop_);
  return !isa<SCEVCouldNotCompute>(count_) && evolution_.getTypeSizeInBits(count_->getType()) <= 64 &&
         !isSmallConstant(count_);
}

bool enz::LoopSums::isSmallConstant(const SCEV *count) {
  const auto *constant = dyn_cast<SCEVConstant>(count);
  return constant && constant->getAPInt().ult(kFewestTurns);
}

std::optional<enz::Place> enz::LoopSums::placeOf(Instruction &inst) {
  Value *pointer = getLoadStorePointerOperand(&inst);
  if (!pointer || pointer->getType()->getPointerAddressSpace() != 0 || !evolution_.isSCEVable(pointer->getType()))
    return std::nullopt;
  const TypeSize size = layout_.getTypeStoreSize(getLoadStoreType(&inst));
  if (size.isScalable())
    return std::nullopt;
  Place place{&inst, nullptr, evolution_.getSCEV(pointer), 0, size.getFixedValue()};
  if (evolution_.isLoopInvariant(place.whole, &loop_))
    return place;
  place.address = dyn_cast<SCEVAddRecExpr>(place.whole);
  if (!place.address || place.address->getLoop() != &loop_ || !place.address->isAffine())
    return std::nullopt;
  const auto *step = dyn_cast<SCEVConstant>(place.address->getStepRecurrence(evolution_));
  if (!step || step->getAPInt().getSignificantBits() > 32)
    return std::nullopt;
  place.step = step->getAPInt().getSExtValue();
  return place;
}

// The sums, and all else that touches memory.
bool enz::LoopSums::collect() {
  SmallPtrSet<const Instruction *, 32> ofSums;
  for (Instruction &inst : block_) {
    if (inst.mayThrow() || !inst.willReturn() || inst.isAtomic() || inst.isVolatile() || !enz::isVectorised(inst))
      return false;
    auto *store = dyn_cast<StoreInst>(&inst);
    if (!store)
      continue;
    std::optional<Sum> sum = enz::sumAt(*store, loop_);
    if (!sum || !enz::isUndisturbed(*sum) || enz::isUsedAfter(*sum, loop_))
      continue;
    const std::optional<Place> place = placeOf(inst);
    if (!place || std::abs(place->step) != static_cast<int64_t>(place->size) || !isWhole(*sum))
      continue;
    ofSums.insert(sum->load);
    ofSums.insert(sum->store);
    targets_.push_back({*sum, *place});
  }
  if (targets_.size() < 2 || targets_.size() > kMostSums)
    return false;
  for (Instruction &inst : block_) {
    if (!inst.mayReadOrWriteMemory() || ofSums.contains(&inst))
      continue;
    const std::optional<Place> place = placeOf(inst);
    if (!place || (isa<StoreInst>(inst) && !place->address))
      return false;
    others_.push_back(*place);
  }
  // The order of sums in one place is free if these are of one type; those of another would meet it in part.
  Type *type = targets_.front().sum.load->getType();
  return all_of(targets_, [type](const Target &target) { return target.sum.load->getType() == type; });
}

bool enz::LoopSums::isWhole(const Sum &sum) const {
  const uint64_t size = layout_.getTypeStoreSize(sum.load->getType());
  return sum.load->getAlign().value() >= size && sum.store->getAlign().value() >= size;
}

// Whether LLVM could not vectorise the loop for these sums: some are an iteration or more apart, or there are more
// pairs that may meet than it would compare.
bool enz::LoopSums::hinders() {
  size_t pairs = 0;
  BatchAAResults aliases(results_);
  for (size_t i = 0; i < targets_.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      const Place &one = targets_[i].place, &other = targets_[j].place;
      const auto *distance = dyn_cast<SCEVConstant>(evolution_.getMinusSCEV(one.whole, other.whole));
      if (distance && !distance->isZero() && distance->getAPInt().abs().ult(kNear * one.size))
        return true;
      if (one.step != other.step)
        return true;
      pairs += !aliases.isNoAlias(around(one), around(other));
    }
  return pairs > kChecksOfVectoriser;
}

MemoryLocation enz::LoopSums::around(const Place &place) {
  const MemoryLocation at = MemoryLocation::get(place.access);
  return MemoryLocation::getBeforeOrAfter(at.Ptr, at.AATags);
}

bool enz::LoopSums::isVectorisableElse() {
  for (PHINode &phi : block_.phis()) {
    RecurrenceDescriptor recurrence;
    InductionDescriptor induction;
    if (!InductionDescriptor::isInductionPHI(&phi, &loop_, &evolution_, induction) &&
        !RecurrenceDescriptor::isReductionPHI(&phi, &loop_, recurrence) &&
        !RecurrenceDescriptor::isFixedOrderRecurrence(&phi, &loop_, &dominators_))
      return false;
  }
  return true;
}

enz::Bytes enz::LoopSums::rangeOf(const Place &place) const {
  const SCEV *size = evolution_.getConstant(evolution_.getEffectiveSCEVType(place.whole->getType()), place.size);
  if (!place.address)
    return {place.whole, evolution_.getAddExpr(place.whole, size)};
  const SCEV *first = place.address->getStart();
  const SCEV *count = evolution_.getNoopOrZeroExtend(count_, size->getType());
  const SCEV *last = place.address->evaluateAtIteration(count, evolution_);
  if (place.step < 0)
    std::swap(first, last);
  return {first, evolution_.getAddExpr(last, size)};
}

void enz::LoopSums::include(MapVector<const SCEV *, Bytes> &ranges, const Place &place) const {
  const Bytes range = rangeOf(place);
  auto [at, fresh] = ranges.insert({evolution_.getPointerBase(range.from), range});
  if (fresh)
    return;
  at->second.from = evolution_.getUMinExpr(at->second.from, range.from);
  at->second.to = evolution_.getUMaxExpr(at->second.to, range.to);
}

bool enz::LoopSums::findChecks() {
  BatchAAResults aliases(results_);
  MapVector<const SCEV *, Bytes> sums, rest;
  for (const Target &target : targets_)
    include(sums, target.place);
  for (const Place &other : others_) {
    SmallVector<const Target *, 8> near;
    for (const Target &target : targets_)
      if (!comesFirst(other, target) && !aliases.isNoAlias(around(target.place), around(other)))
        near.push_back(&target);
    if (near.empty())
      continue;
    const SCEV *base = evolution_.getPointerBase(other.whole);
    if (sums.contains(base)) {
      // Within one object the range of all sums may well go around it.
      for (const Target *target : near)
        checks_.emplace_back(rangeOf(target->place), rangeOf(other));
      continue;
    }
    include(rest, other);
  }
  for (auto &[base, sum] : sums)
    for (auto &[otherBase, other] : rest)
      checks_.emplace_back(sum, other);
  return checks_.size() <= kMostChecks;
}

Value *enz::LoopSums::amountOf(IRBuilder<> &build, const Sum &sum, ValueToValueMapTy &map) {
  auto mapped = [&map](Value *value) {
    Value *to = map.lookup(value);
    return to ? to : value;
  };
  Value *amount = nullptr;
  for (Instruction *operation : reverse(sum.operations)) {
    Value *left = operation->getOperand(0), *right = operation->getOperand(1);
    const bool minus = operation->getOpcode() == Instruction::FSub;
    IRBuilderBase::FastMathFlagGuard guard(build);
    build.setFastMathFlags(operation->getFastMathFlags());
    if (!amount) {
      Value *first = mapped(left == sum.load ? right : left);
      amount = minus ? build.CreateFNeg(first) : first;
      continue;
    }
    // The chain goes through the left operand of what follows.
    amount = minus ? build.CreateFSub(amount, mapped(right)) : build.CreateFAdd(amount, mapped(right));
  }
  return amount;
}

SmallPtrSet<const Instruction *, 32> enz::LoopSums::partsOfSums() const {
  SmallPtrSet<const Instruction *, 32> out;
  for (const Target &target : targets_) {
    out.insert(target.sum.load);
    out.insert(target.sum.store);
    out.insert(target.sum.operations.begin(), target.sum.operations.end());
  }
  return out;
}

bool enz::LoopSums::canExpand(SCEVExpander &expander, ArrayRef<std::pair<Bytes, Bytes>> checks) const {
  Instruction *at = loop_.getLoopPreheader()->getTerminator();
  auto can = [&](const SCEV *what) { return expander.isSafeToExpandAt(what, at); };
  return can(count_) && all_of(targets_, [&](const Target &t) { return can(t.place.address->getStart()); }) &&
         all_of(checks, [&](const std::pair<Bytes, Bytes> &check) {
           return can(check.first.from) && can(check.first.to) && can(check.second.from) && can(check.second.to);
         });
}

enz::LoopSums::Entry enz::LoopSums::enter(SCEVExpander &expander, LoopInfo &loops,
                                          ArrayRef<std::pair<Bytes, Bytes>> checks) const {
  auto *i64 = Type::getInt64Ty(block_.getContext());
  BasicBlock *preheader = loop_.getLoopPreheader();
  // Short loops go past the comparisons, too.
  Instruction *turn = preheader->getTerminator();
  Value *count = expander.expandCodeFor(evolution_.getNoopOrZeroExtend(count_, i64), i64, turn);
  auto *is_long = new ICmpInst(turn->getIterator(), CmpInst::ICMP_UGE, count, ConstantInt::get(i64, kFewestTurns - 1));
  BasicBlock *before = SplitEdge(preheader, &block_, &dominators_, &loops);
  Instruction *at = before->getTerminator();
  IRBuilder<> build(at);
  const DebugLoc where = at->getDebugLoc();
  build.SetCurrentDebugLocation(where);
  Value *apart = build.getTrue();
  for (const auto &[sum, other] : checks) {
    auto place = [&](const SCEV *what) { return expander.expandCodeFor(what, what->getType(), at); };
    Value *below = build.CreateICmpULE(place(sum.to), place(other.from));
    Value *above = build.CreateICmpULE(place(other.to), place(sum.from));
    apart = build.CreateAnd(apart, build.CreateOr(below, above));
  }
  BasicBlock *as_it_was = SplitEdge(before, &block_, &dominators_, &loops);
  ReplaceInstWithInst(preheader->getTerminator(), BranchInst::Create(before, as_it_was, is_long));
  return {before, as_it_was, count, apart, where};
}

bool enz::rewriteSums(EnzOpaqueHost &host, Function &function,
                      function_ref<bool(LoopSums &, LoopInfo &, SmallPtrSetImpl<const BasicBlock *> &)> rewrite) {
  SmallPtrSet<const BasicBlock *, 16> done;
  bool changed = false;
  for (unsigned round = 0; round < kMostLoops; ++round) {
    auto &loops = host.functions->getResult<LoopAnalysis>(function);
    const SmallVector<Loop *, 4> all = loops.getLoopsInPreorder();
    const bool any = any_of(all, [&](Loop *loop) {
      if (!loop->isInnermost() || done.contains(loop->getHeader()))
        return false;
      LoopSums sums(host, function, *loop);
      return sums.find() && sums.findChecks() && rewrite(sums, loops, done);
    });
    if (!any)
      break;
    changed = true;
    host.functions->invalidate(function, PreservedAnalyses::none());
  }
  return changed;
}
