// Where memory is brought back from a snapshot for each iteration of a loop, only to be read in it, it is read in the
// snapshot.
//
// A time stepper overwrites its state in place. The forward sweep keeps the state of each step in a row of the tape;
// the reverse sweep copies the row back, and reads the state where the program did. The copy costs as much as the step
// may cost: a row comes from far away, is written once and read once.
//
//   for t in steps - 1 .. 0:                      for t in steps - 1 .. 0:
//     copy tape[t] to state                         from = tape[t]
//     reverse of the step, reads state[..]          reverse of the step, reads from[..]
//                                                 copy tape[0] to state
//
// All that the loop reads of the state must lie in what the snapshot covers. The indices are the program's, so the
// program itself tells, once, before the loop: bounds of them are computed (bounds.cpp), and where they are not within
// the snapshot, everything is as it was: `from` is the state, and copies are made. Behind the loop the state is what it
// would have been.
//
// Taken are copies, by a loop of one block or a call, directly within a loop with one exit, of the same bytes in each
// iteration; in which nothing else writes to the state or to the tape, and all that may read the state does so at an
// address computed from the same pointer. Not handled: snapshots of which a loop restores another part each time;
// pointers to the state that are chosen or loaded in the loop.

#include "bounds.h"
#include "support.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/DomTreeUpdater.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace {

// Addresses at which a loop reads the state.
constexpr size_t kMostReads = 64;
// Copies that are dealt with in one function.
constexpr unsigned kMostCopies = 16;
// Bits of the numbers of a program, for addresses in which one, two or three of them are multiplied with each other.
constexpr unsigned kLeafBits[] = {40, 25, 16};

Value *withoutOffsets(Value *pointer) {
  while (auto *step = dyn_cast<GEPOperator>(pointer))
    pointer = step->getPointerOperand();
  return pointer;
}

// A copy, in each iteration of `around`, of `bytes` bytes.
struct Copy {
  Loop *around;
  Loop *loop;          // of which each iteration copies an element; null for a call
  Instruction *before; // the copy begins behind it
  Instruction *write;  // the store, or the call
  LoadInst *read;      // null for a call
  const SCEV *to, *from, *bytes;
  MemoryLocation written, kept;
  Value *state; // the pointer from which `to` is computed
};

class Snapshot {
public:
  Snapshot(EnzOpaqueHost &host, Function &function, Copy copy)
      : function_(function), copy_(copy), loop_(*copy.around),
        evolution_(host.functions->getResult<ScalarEvolutionAnalysis>(function)),
        dominators_(host.functions->getResult<DominatorTreeAnalysis>(function)),
        results_(host.functions->getResult<AAManager>(function)), layout_(function.getDataLayout()) {}

  bool run() {
    if (!isSimple() || !collect())
      return false;
    SCEVExpander expander(evolution_, "snapshot");
    Instruction *entry = loop_.getLoopPreheader()->getTerminator();
    if (!expander.isSafeToExpandAt(copy_.to, entry) || !expander.isSafeToExpandAt(copy_.bytes, entry) ||
        !expander.isSafeToExpandAt(copy_.from, copy_.before))
      return false;
    Value *isWithin = compare();
    if (!isWithin)
      return false;
    rewrite(expander, isWithin);
    return true;
  }

private:
  // The copy happens in each iteration, or in none.
  bool isSimple() const {
    const BasicBlock *latch = loop_.getLoopLatch(), *at = copy_.before->getParent();
    const BasicBlock *exit = loop_.getUniqueExitBlock();
    if (!loop_.isLoopSimplifyForm() || !exit || exit->isEHPad() || loop_.getExitingBlock() != latch ||
        exit->getSinglePredecessor() != latch)
      return false;
    if (dominators_.dominates(at, latch))
      return true;
    const BasicBlock *above = at->getSinglePredecessor();
    const auto *branch = above ? dyn_cast<BranchInst>(above->getTerminator()) : nullptr;
    return branch && branch->isConditional() && dominators_.dominates(above, latch) &&
           loop_.isLoopInvariant(branch->getCondition());
  }

  // All that reads the state; false if anything else is done to it, or to the tape.
  bool collect() {
    BatchAAResults aliases(results_);
    if (!aliases.isNoAlias(copy_.written, copy_.kept))
      return false;
    for (BasicBlock *block : loop_.blocks())
      for (Instruction &inst : *block) {
        if (&inst == copy_.write || &inst == copy_.read || !inst.mayReadOrWriteMemory())
          continue;
        if (isModSet(aliases.getModRefInfo(&inst, copy_.kept)))
          return false;
        if (!isModOrRefSet(aliases.getModRefInfo(&inst, copy_.written)))
          continue;
        if (const std::optional<MemoryLocation> place = MemoryLocation::getOrNone(&inst);
            place && aliases.isNoAlias(MemoryLocation::getBeforeOrAfter(place->Ptr, place->AATags), copy_.written))
          continue;
        auto *load = dyn_cast<LoadInst>(&inst);
        if (!load || !load->isSimple() || withoutOffsets(load->getPointerOperand()) != copy_.state ||
            (copy_.loop && copy_.loop->contains(load)))
          return false;
        reads_.push_back(load);
      }
    return reads_.size() <= kMostReads;
  }

  // Whether all reads are within what is copied, as an i1 known before the loop; null if it cannot be told.
  Value *compare() {
    for (const unsigned leaf : kLeafBits) {
      BasicBlock *aside = BasicBlock::Create(function_.getContext(), "", &function_);
      IRBuilder<> build(aside);
      if (Value *isWithin = compareWith(build, leaf)) {
        Instruction *end = loop_.getLoopPreheader()->getTerminator();
        end->getParent()->splice(end->getIterator(), aside);
        aside->eraseFromParent();
        return isWithin;
      }
      aside->dropAllReferences();
      aside->eraseFromParent();
    }
    return nullptr;
  }

  Value *compareWith(IRBuilder<> &build, unsigned leaf) {
    enz::Bounds bounds(evolution_, loop_, build, leaf);
    const std::optional<enz::Bounds::Interval> bytes = bounds.of(copy_.bytes);
    if (!bytes)
      return nullptr;
    DenseSet<std::pair<const SCEV *, uint64_t>> seen;
    Value *all = build.getTrue();
    for (LoadInst *read : reads_) {
      const SCEV *offset = evolution_.getMinusSCEV(evolution_.getSCEV(read->getPointerOperand()), copy_.to);
      const TypeSize size = layout_.getTypeStoreSize(read->getType());
      if (isa<SCEVCouldNotCompute>(offset) || size.isScalable())
        return nullptr;
      if (!seen.insert({offset, size.getFixedValue()}).second)
        continue;
      const std::optional<enz::Bounds::Interval> place = bounds.of(offset);
      if (!place || place->bits > 61)
        return nullptr;
      all = build.CreateAnd(all, build.CreateICmpSGE(place->low, build.getInt64(0)));
      Value *end = build.CreateAdd(place->high, build.getInt64(size.getFixedValue()));
      all = build.CreateAnd(all, build.CreateICmpSLE(end, bytes->low));
    }
    return build.CreateFreeze(build.CreateAnd(all, bounds.holds()));
  }

  void bringBack(Instruction *at, Value *to, Value *from, Value *bytes) const {
    IRBuilder<> build(at);
    build.SetCurrentDebugLocation(copy_.write->getDebugLoc());
    build.CreateMemCpy(to, align_, from, align_, bytes);
  }

  void rewrite(SCEVExpander &expander, Value *isWithin) {
    BasicBlock *preheader = loop_.getLoopPreheader(), *exit = loop_.getUniqueExitBlock();
    Instruction *entry = preheader->getTerminator();
    auto *i64 = Type::getInt64Ty(function_.getContext());
    Value *to = expander.expandCodeFor(copy_.to, copy_.to->getType(), entry);
    Value *bytes = expander.expandCodeFor(evolution_.getNoopOrZeroExtend(copy_.bytes, i64), i64, entry);
    IRBuilder<> before(entry);
    Value *offset = before.CreateSub(before.CreatePtrToInt(to, i64), before.CreatePtrToInt(copy_.state, i64));
    Value *back = before.CreateNeg(offset);

    // Where the reads go from here on: the state would be `offset` bytes before the snapshot.
    Value *from = expander.expandCodeFor(copy_.from, copy_.from->getType(), copy_.before->getIterator());
    IRBuilder<> build(copy_.before);
    build.SetCurrentDebugLocation(copy_.write->getDebugLoc());
    Value *lent = build.CreateSelect(isWithin, build.CreatePtrAdd(from, back), copy_.state, "snapshot");
    BasicBlock *at = copy_.before->getParent();
    DomTreeUpdater updater(dominators_, DomTreeUpdater::UpdateStrategy::Eager);
    Instruction *copies =
        SplitBlockAndInsertIfThen(build.CreateNot(isWithin), copy_.before->getIterator(), false, nullptr, &updater);
    bringBack(copies, to, from, bytes);

    SSAUpdater values;
    values.Initialize(copy_.state->getType(), "snapshot");
    values.AddAvailableValue(preheader, copy_.state);
    values.AddAvailableValue(at, lent);
    IRBuilder<> after(exit, exit->getFirstInsertionPt());
    Value *last = values.GetValueInMiddleOfBlock(exit);
    Instruction *end = &*exit->getFirstInsertionPt();
    after.SetInsertPoint(end);
    after.SetCurrentDebugLocation(copy_.write->getDebugLoc());
    Value *differs = after.CreateICmpNE(last, copy_.state);
    Value *origin = after.CreatePtrAdd(last, offset);
    bringBack(SplitBlockAndInsertIfThen(differs, end->getIterator(), false, nullptr, &updater), to, origin, bytes);

    // The block of the copy ends where it begins now: reads in that block come before it.
    for (LoadInst *read : reads_)
      lend(*read, values.GetValueInMiddleOfBlock(read->getParent()));
    // What has been copied element by element, or by the call.
    copy_.write->eraseFromParent();
    if (copy_.read && copy_.read->use_empty())
      copy_.read->eraseFromParent();
    evolution_.forgetAllLoops();
  }

  // Has `read` take place at the same offset from `base` as from the state.
  void lend(LoadInst &read, Value *base) const {
    IRBuilder<> build(&read);
    Value *before = read.getPointerOperand();
    SmallVector<GEPOperator *, 4> steps;
    for (Value *pointer = before; pointer != copy_.state; pointer = steps.back()->getPointerOperand())
      steps.push_back(cast<GEPOperator>(pointer));
    Value *pointer = base;
    for (GEPOperator *step : reverse(steps)) {
      const SmallVector<Value *, 4> indices(step->indices());
      pointer = build.CreateGEP(step->getSourceElementType(), pointer, indices);
    }
    read.setOperand(LoadInst::getPointerOperandIndex(), pointer);
    // It may read either memory now.
    const Instruction &other = copy_.read ? *copy_.read : *copy_.write;
    read.setAAMetadata(read.getAAMetadata().merge(other.getAAMetadata()));
    if (auto *old = dyn_cast<Instruction>(before))
      RecursivelyDeleteTriviallyDeadInstructions(old);
  }

  Function &function_;
  const Copy copy_;
  Loop &loop_;
  ScalarEvolution &evolution_;
  DominatorTree &dominators_;
  AAResults &results_;
  const DataLayout &layout_;
  const Align align_ = Align(1);
  SmallVector<LoadInst *, 32> reads_;
};

MemoryLocation around(Value *pointer, const AAMDNodes &tags) { return MemoryLocation::getBeforeOrAfter(pointer, tags); }

// The copies that loops of one block make.
std::optional<Copy> copyIn(Loop &loop, ScalarEvolution &evolution, const DataLayout &layout) {
  Loop *parent = loop.getParentLoop();
  BasicBlock *block = loop.getHeader(), *before = loop.getLoopPreheader();
  if (!parent || !before || loop.getNumBlocks() != 1 ||
      isa<SCEVCouldNotCompute>(evolution.getBackedgeTakenCount(&loop)))
    return std::nullopt;
  for (Instruction &inst : *block) {
    auto *store = dyn_cast<StoreInst>(&inst);
    auto *load = store ? dyn_cast<LoadInst>(store->getValueOperand()) : nullptr;
    if (!load || !store->isSimple() || !load->isSimple() || load->getParent() != block || !load->hasOneUse() ||
        store->getPointerAddressSpace() != 0 || load->getPointerAddressSpace() != 0)
      continue;
    const auto *to = dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(store->getPointerOperand()));
    const auto *from = dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(load->getPointerOperand()));
    if (!to || !from || to->getLoop() != &loop || from->getLoop() != &loop || !to->isAffine() || !from->isAffine())
      continue;
    const auto *step = dyn_cast<SCEVConstant>(to->getStepRecurrence(evolution));
    const TypeSize size = layout.getTypeStoreSize(load->getType());
    if (!step || step != from->getStepRecurrence(evolution) || size.isScalable() ||
        step->getAPInt().abs() != size.getFixedValue())
      continue;
    Type *type = step->getType();
    const SCEV *turns = evolution.getBackedgeTakenCount(&loop);
    if (evolution.getTypeSizeInBits(turns->getType()) > evolution.getTypeSizeInBits(type))
      continue;
    turns = evolution.getNoopOrZeroExtend(turns, type);
    const SCEV *element = evolution.getConstant(type, size.getFixedValue());
    const SCEV *bytes = evolution.getAddExpr(evolution.getMulExpr(turns, element), element);
    const auto lowest = [&](const SCEVAddRecExpr *of) {
      return step->getAPInt().isNegative() ? of->evaluateAtIteration(turns, evolution) : of->getStart();
    };
    Copy copy{parent,
              &loop,
              before->getTerminator(),
              store,
              load,
              lowest(to),
              lowest(from),
              bytes,
              around(store->getPointerOperand(), store->getAAMetadata()),
              around(load->getPointerOperand(), load->getAAMetadata()),
              withoutOffsets(store->getPointerOperand())};
    if (evolution.isLoopInvariant(copy.to, parent) && evolution.isLoopInvariant(bytes, parent) &&
        !evolution.isLoopInvariant(copy.from, parent) && parent->isLoopInvariant(copy.state))
      return copy;
  }
  return std::nullopt;
}

// The copies that calls make which stand in a loop.
std::optional<Copy> copyBy(MemCpyInst &call, Loop &loop, ScalarEvolution &evolution) {
  Value *to = call.getRawDest(), *from = call.getRawSource();
  if (call.isVolatile() || call.getDestAddressSpace() != 0 || call.getSourceAddressSpace() != 0)
    return std::nullopt;
  Copy copy{&loop,
            nullptr,
            &call,
            &call,
            nullptr,
            evolution.getSCEV(to),
            evolution.getSCEV(from),
            evolution.getSCEV(call.getLength()),
            around(to, call.getAAMetadata()),
            around(from, call.getAAMetadata()),
            withoutOffsets(to)};
  if (evolution.isLoopInvariant(copy.to, &loop) && evolution.isLoopInvariant(copy.bytes, &loop) &&
      !evolution.isLoopInvariant(copy.from, &loop) && loop.isLoopInvariant(copy.state))
    return copy;
  return std::nullopt;
}

bool readOne(EnzOpaqueHost &host, Function &function) {
  auto &loops = host.functions->getResult<LoopAnalysis>(function);
  auto &evolution = host.functions->getResult<ScalarEvolutionAnalysis>(function);
  for (Loop *loop : loops.getLoopsInPreorder()) {
    const std::optional<Copy> made = copyIn(*loop, evolution, function.getDataLayout());
    if (made && Snapshot(host, function, *made).run())
      return true;
    for (BasicBlock *block : loop->blocks())
      for (Instruction &inst : *block)
        if (auto *call = dyn_cast<MemCpyInst>(&inst); call && loops.getLoopFor(block) == loop)
          if (const std::optional<Copy> copy = copyBy(*call, *loop, evolution);
              copy && Snapshot(host, function, *copy).run())
            return true;
  }
  return false;
}

} // namespace

bool enz::readSnapshots(EnzOpaqueHost &host, Function &function) {
  bool changed = false;
  for (unsigned round = 0; round < kMostCopies; ++round) {
    if (!readOne(host, function))
      break;
    changed = true;
    host.functions->invalidate(function, PreservedAnalyses::none());
  }
  return changed;
}
