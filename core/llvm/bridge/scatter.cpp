// Loops of a derivative that add to shadow memory at several places in each iteration are split: what is added is
// computed into small buffers, strip by strip, and each buffer is added to memory by a loop of its own.
//
// The adjoint of a loop that gathers, as a stencil does, scatters: iteration j adds to s[j - 1], s[j] and s[j + 1], and
// perhaps to the rows above and below. LLVM must keep these in order, so that it vectorises nothing. But they are sums,
// of which the order does not matter (they are marked so): the amounts alone are computed as everything else is, and
// adding them is as simple a loop as there can be.
//
//   for j in 0..n:                          for strip in 0..n by 64:
//     a = f(j)                                for k in 0..64:  f0[k] = a(strip + k);  f1[k] = b(strip + k)
//     s[j] += a;  s[j + 1] += b               for k in 0..64:  s[strip + k] += f0[k]
//                                             for k in 0..64:  s[strip + k + 1] += f1[k]
//
// What else the loop reads and writes must be elsewhere, which is asked of alias analysis, and of the run if that does
// not know: ranges are compared before the loop, and where they meet, or the loop is short, it runs as it was.
// (Loop distribution and strip mining: Allen, Kennedy, "Optimizing Compilers for Modern Architectures", sections 5.6
// and 6.2.)
//
// Taken are loops of one block whose count is known on entry, and in which all else is what LLVM vectorises. Not
// handled: strides other than the size of an element; sums under a condition.

#include "sums.h"
#include "support.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/IVDescriptors.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;

namespace {

using enz::Sum;

// Elements of a buffer: a whole number of vectors of any width, and few enough for the nearest cache.
constexpr uint64_t kStrip = 64;
// Loops with fewer iterations run as they were.
constexpr uint64_t kFewest = 12;
constexpr size_t kMostSums = 16;
constexpr size_t kLargestBlock = 400;
// Comparisons before a loop, each of two ranges.
constexpr size_t kMostChecks = 16;
// Comparisons of ranges that LLVM's vectoriser makes by itself (its option runtime-memory-check-threshold).
constexpr size_t kChecksOfVectoriser = 8;
// Loops of one function that are split.
constexpr unsigned kMostLoops = 32;

// Where an access goes: an address that moves by `step` bytes an iteration.
struct Place {
  Instruction *access;
  const SCEVAddRecExpr *address; // null if it is the same in each iteration
  const SCEV *whole;
  int64_t step;
  uint64_t size;
};

// A sum and its buffer.
struct Target {
  Sum sum;
  Place place;
  Value *start = nullptr; // the address in the first iteration
  AllocaInst *buffer = nullptr;
};

class Split {
public:
  Split(EnzOpaqueHost &host, Function &function, LoopInfo &loops, Loop &loop)
      : function_(function), loops_(loops), loop_(loop), block_(*loop.getHeader()),
        evolution_(host.functions->getResult<ScalarEvolutionAnalysis>(function)),
        dominators_(host.functions->getResult<DominatorTreeAnalysis>(function)),
        results_(host.functions->getResult<AAManager>(function)), layout_(function.getDataLayout()) {}

  bool run(SmallPtrSetImpl<const BasicBlock *> &done) {
    if (!isSimple() || !collect() || !hinders() || !isVectorisableElse() || !findChecks())
      return false;
    SCEVExpander expander(evolution_, "scatter");
    if (!canExpand(expander))
      return false;
    done.insert(&block_);
    formLCSSA(loop_, dominators_, &loops_, &evolution_);
    rewrite(expander, done);
    return true;
  }

private:
  bool isSimple() {
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

  static bool isSmallConstant(const SCEV *count) {
    const auto *constant = dyn_cast<SCEVConstant>(count);
    return constant && constant->getAPInt().ult(kFewest);
  }

  std::optional<Place> placeOf(Instruction &inst) {
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
  bool collect() {
    SmallPtrSet<const Instruction *, 32> ofSums;
    for (Instruction &inst : block_) {
      if (inst.mayThrow() || !inst.willReturn() || inst.isAtomic() || inst.isVolatile() || !enz::isVectorised(inst))
        return false;
      auto *store = dyn_cast<StoreInst>(&inst);
      if (!store)
        continue;
      std::optional<Sum> sum = enz::sumAt(*store, loop_);
      if (!sum || !enz::isUndisturbed(*sum) || isUsedAfter(*sum))
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

  bool isUsedAfter(const Sum &sum) const {
    return any_of(sum.operations.front()->users(),
                  [this](const User *user) { return !loop_.contains(cast<Instruction>(user)); });
  }

  bool isWhole(const Sum &sum) const {
    const uint64_t size = layout_.getTypeStoreSize(sum.load->getType());
    return sum.load->getAlign().value() >= size && sum.store->getAlign().value() >= size;
  }

  // Whether LLVM could not vectorise the loop for these sums: some are an iteration or more apart, or there are more
  // pairs that may meet than it would compare.
  bool hinders() {
    size_t pairs = 0;
    BatchAAResults aliases(results_);
    for (size_t i = 0; i < targets_.size(); ++i)
      for (size_t j = 0; j < i; ++j) {
        const Place &one = targets_[i].place, &other = targets_[j].place;
        const auto *distance = dyn_cast<SCEVConstant>(evolution_.getMinusSCEV(one.whole, other.whole));
        if (distance && !distance->isZero() && distance->getAPInt().abs().ult(kStrip * one.size))
          return true;
        if (one.step != other.step)
          return true;
        pairs += !aliases.isNoAlias(around(one), around(other));
      }
    return pairs > kChecksOfVectoriser;
  }

  static MemoryLocation around(const Place &place) {
    const MemoryLocation at = MemoryLocation::get(place.access);
    return MemoryLocation::getBeforeOrAfter(at.Ptr, at.AATags);
  }

  bool isVectorisableElse() {
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

  struct Range {
    const SCEV *from, *to;
  };

  // The bytes that all iterations touch.
  Range rangeOf(const Place &place) {
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

  void include(MapVector<const SCEV *, Range> &ranges, const Place &place) {
    const Range range = rangeOf(place);
    auto [at, fresh] = ranges.insert({evolution_.getPointerBase(range.from), range});
    if (fresh)
      return;
    at->second.from = evolution_.getUMinExpr(at->second.from, range.from);
    at->second.to = evolution_.getUMaxExpr(at->second.to, range.to);
  }

  // Pairs of ranges that must have nothing in common, one of sums and one of something else.
  bool findChecks() {
    BatchAAResults aliases(results_);
    MapVector<const SCEV *, Range> sums, rest;
    for (const Target &target : targets_)
      include(sums, target.place);
    for (const Place &other : others_) {
      SmallVector<const Target *, 8> near;
      for (const Target &target : targets_)
        if (!aliases.isNoAlias(around(target.place), around(other)))
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

  bool canExpand(SCEVExpander &expander) {
    Instruction *at = loop_.getLoopPreheader()->getTerminator();
    auto can = [&](const SCEV *what) { return expander.isSafeToExpandAt(what, at); };
    return can(count_) && all_of(targets_, [&](const Target &t) { return can(t.place.address->getStart()); }) &&
           all_of(checks_, [&](const std::pair<Range, Range> &check) {
             return can(check.first.from) && can(check.first.to) && can(check.second.from) && can(check.second.to);
           });
  }

  // What a sum adds: its operations, without what was in memory.
  static Value *amountOf(IRBuilder<> &build, const Sum &sum, ValueToValueMapTy &map) {
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

  void rewrite(SCEVExpander &expander, SmallPtrSetImpl<const BasicBlock *> &done) {
    LLVMContext &context = function_.getContext();
    BasicBlock *preheader = loop_.getLoopPreheader();
    auto *i64 = Type::getInt64Ty(context);
    Type *element = targets_.front().sum.load->getType();

    // Short loops go past the comparisons, too.
    Instruction *turn = preheader->getTerminator();
    Value *count = expander.expandCodeFor(evolution_.getNoopOrZeroExtend(count_, i64), i64, turn);
    auto *isLong = new ICmpInst(turn->getIterator(), CmpInst::ICMP_UGE, count, ConstantInt::get(i64, kFewest - 1));
    BasicBlock *before = SplitEdge(preheader, &block_, &dominators_, &loops_);
    Instruction *at = before->getTerminator();
    for (Target &target : targets_) {
      const SCEV *start = target.place.address->getStart();
      target.start = expander.expandCodeFor(start, start->getType(), at);
    }
    IRBuilder<> build(at);
    const DebugLoc where = at->getDebugLoc();
    build.SetCurrentDebugLocation(where);
    Value *apart = build.getTrue();
    for (const auto &[sum, other] : checks_) {
      auto place = [&](const SCEV *what) { return expander.expandCodeFor(what, what->getType(), at); };
      Value *below = build.CreateICmpULE(place(sum.to), place(other.from));
      Value *above = build.CreateICmpULE(place(other.to), place(sum.from));
      apart = build.CreateAnd(apart, build.CreateOr(below, above));
    }
    Value *total = build.CreateAdd(count, build.getInt64(1), "", true);

    BasicBlock *asItWas = SplitEdge(before, &block_, &dominators_, &loops_);
    auto block = [&](const char *name) { return BasicBlock::Create(context, name, &function_, asItWas); };
    BasicBlock *outer = block("scatter.strip"), *inner = block("scatter.amounts"), *latch = block("scatter.next");
    ReplaceInstWithInst(preheader->getTerminator(), BranchInst::Create(before, asItWas, isLong));
    ReplaceInstWithInst(before->getTerminator(), BranchInst::Create(outer, asItWas, apart));
    // Buffers of what is added in both directions, by amount.
    DenseMap<std::pair<Value *, unsigned>, AllocaInst *> buffers;

    // The strip: its first iteration, and how many it has.
    IRBuilder<> strip(outer);
    strip.SetCurrentDebugLocation(where);
    ValueToValueMapTy map;
    SmallVector<std::pair<PHINode *, PHINode *>, 8> carried;
    for (PHINode &phi : block_.phis()) {
      PHINode *over = strip.CreatePHI(phi.getType(), 2, phi.getName());
      over->addIncoming(phi.getIncomingValueForBlock(asItWas), before);
      carried.emplace_back(&phi, over);
    }
    PHINode *first = strip.CreatePHI(i64, 2);
    first->addIncoming(strip.getInt64(0), before);
    Value *left = strip.CreateSub(total, first, "", true);
    Value *many = strip.CreateBinaryIntrinsic(Intrinsic::umin, left, strip.getInt64(kStrip));
    strip.CreateBr(inner);

    // The loop as it was, which keeps what it would add.
    IRBuilder<> amounts(inner);
    for (auto &[phi, over] : carried) {
      PHINode *within = amounts.CreatePHI(phi->getType(), 2, phi->getName());
      within->addIncoming(over, outer);
      map[phi] = within;
    }
    PHINode *index = amounts.CreatePHI(i64, 2);
    index->addIncoming(amounts.getInt64(0), outer);
    SmallPtrSet<const Instruction *, 16> leftOut;
    for (const Target &target : targets_) {
      leftOut.insert(target.sum.load);
      leftOut.insert(target.sum.store);
      leftOut.insert(target.sum.operations.begin(), target.sum.operations.end());
    }
    for (Instruction &inst : block_) {
      if (isa<PHINode>(inst) || inst.isTerminator() || leftOut.contains(&inst))
        continue;
      Instruction *copy = inst.clone();
      amounts.Insert(copy, inst.getName());
      RemapInstruction(copy, map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
      map[&inst] = copy;
    }
    for (Target &target : targets_) {
      const Sum &sum = target.sum;
      amounts.SetCurrentDebugLocation(sum.store->getDebugLoc());
      Value *amount = amountOf(amounts, sum, map);
      const unsigned down = target.place.step < 0 ? 1 : 0;
      AllocaInst *&buffer = buffers[{amount, down}];
      if (!buffer) {
        buffer = new AllocaInst(ArrayType::get(element, kStrip), layout_.getAllocaAddrSpace(), nullptr, Align(64),
                                "scatter", function_.getEntryBlock().begin());
        Value *slot = down ? amounts.CreateSub(amounts.getInt64(kStrip - 1), index, "", true, true) : index;
        amounts.CreateAlignedStore(amount, amounts.CreateInBoundsGEP(element, buffer, slot), sum.store->getAlign());
      }
      target.buffer = buffer;
    }
    for (auto &[phi, over] : carried) {
      Value *next = phi->getIncomingValueForBlock(&block_);
      if (Value *copy = map.lookup(next))
        next = copy;
      cast<PHINode>(map.lookup(phi))->addIncoming(next, inner);
      over->addIncoming(next, latch);
    }
    amounts.SetCurrentDebugLocation(where);
    Value *following = amounts.CreateAdd(index, amounts.getInt64(1), "", true, true);
    index->addIncoming(following, inner);

    // A loop for each sum.
    BasicBlock *from = inner;
    BranchInst *open = amounts.CreateCondBr(amounts.CreateICmpEQ(following, many), latch, inner);
    for (const Target &target : targets_) {
      BasicBlock *enter = block("scatter.enter"), *add = block("scatter.add");
      open->setSuccessor(0, enter);
      IRBuilder<> entry(enter);
      entry.SetCurrentDebugLocation(target.sum.store->getDebugLoc());
      Value *lowest = first, *slot = entry.getInt64(0);
      if (target.place.step < 0) {
        lowest = entry.CreateNeg(entry.CreateAdd(first, entry.CreateSub(many, entry.getInt64(1))));
        slot = entry.CreateSub(entry.getInt64(kStrip), many, "", true, true);
      }
      Value *to = entry.CreateGEP(element, target.start, lowest);
      Value *amount = entry.CreateInBoundsGEP(element, target.buffer, slot);
      entry.CreateBr(add);
      IRBuilder<> sum(add);
      sum.SetCurrentDebugLocation(target.sum.store->getDebugLoc());
      PHINode *k = sum.CreatePHI(i64, 2);
      k->addIncoming(sum.getInt64(0), enter);
      Value *place = sum.CreateInBoundsGEP(element, to, k);
      auto *present = cast<LoadInst>(sum.Insert(target.sum.load->clone()));
      present->setOperand(0, place);
      Value *more =
          sum.CreateAlignedLoad(element, sum.CreateInBoundsGEP(element, amount, k), target.sum.load->getAlign());
      sum.setFastMathFlags(target.sum.operations.front()->getFastMathFlags());
      Value *after = sum.CreateFAdd(present, more);
      auto *store = cast<StoreInst>(sum.Insert(target.sum.store->clone()));
      store->setOperand(0, after);
      store->setOperand(1, place);
      Value *next = sum.CreateAdd(k, sum.getInt64(1), "", true, true);
      k->addIncoming(next, add);
      open = sum.CreateCondBr(sum.CreateICmpEQ(next, many), latch, add);
      done.insert(add);
      from = add;
    }

    IRBuilder<> end(latch);
    end.SetCurrentDebugLocation(where);
    Value *begun = end.CreateAdd(first, many, "", true);
    first->addIncoming(begun, latch);
    end.CreateCondBr(end.CreateICmpEQ(begun, total), exit_, outer);
    for (PHINode &phi : exit_->phis()) {
      Value *value = phi.getIncomingValueForBlock(&block_);
      if (Value *copy = map.lookup(value))
        value = copy;
      phi.addIncoming(value, latch);
    }
    latch->moveAfter(from);
    done.insert(inner);
    evolution_.forgetAllLoops();
  }

  Function &function_;
  LoopInfo &loops_;
  Loop &loop_;
  BasicBlock &block_;
  ScalarEvolution &evolution_;
  DominatorTree &dominators_;
  AAResults &results_;
  const DataLayout &layout_;
  BasicBlock *exit_ = nullptr;
  const SCEV *count_ = nullptr;
  SmallVector<Target, 8> targets_;
  SmallVector<Place, 8> others_;
  SmallVector<std::pair<Range, Range>, 8> checks_;
};

} // namespace

bool enz::splitScatters(EnzOpaqueHost &host, Function &function) {
  SmallPtrSet<const BasicBlock *, 16> done;
  bool changed = false;
  for (unsigned round = 0; round < kMostLoops; ++round) {
    auto &loops = host.functions->getResult<LoopAnalysis>(function);
    const SmallVector<Loop *, 4> all = loops.getLoopsInPreorder();
    const bool split = any_of(all, [&](Loop *loop) {
      return loop->isInnermost() && !done.contains(loop->getHeader()) && Split(host, function, loops, *loop).run(done);
    });
    if (!split)
      break;
    changed = true;
    host.functions->invalidate(function, PreservedAnalyses::none());
  }
  return changed;
}
