// Whether the iterations of a loop are samples of a sum, each of which can be reversed as soon as it has run
// (samples.cpp).
//
// What must hold:
// - one number is carried from iteration to iteration, a sum to which each iteration adds without looking at it;
//   counters and pointers that move in steps are the only other things carried;
// - an iteration writes no memory but its own: that of variables which begin to live in it, what it allocates, and
//   memory that it writes before it reads it (scratch.cpp), of which the branched off function makes its own;
// - nothing that an iteration may read is written after the loop: adjoints of it would be those of later contents;
// - after the loop the sum goes to the result, or to memory that nothing else touches there, in the way said above.
//
// Taken are outermost loops with loops in them: others keep little, and are vectorised better one by one. Not handled:
// several sums; loops that are left early, unless nothing returns from there (a check that failed); calls that write.
#ifndef ENZYME_SAMPLES_H
#define ENZYME_SAMPLES_H

#include "checkpoint.h"
#include "scratch.h"
#include "support.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/LoopIterator.h"
#include "llvm/Analysis/MemoryBuiltins.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"

namespace enz {

using namespace llvm;

// Reads and writes that are compared, one with another.
constexpr size_t kMostReads = 400;
constexpr size_t kMostWrites = 400;
// Blocks that are reached where a check fails.
constexpr size_t kMostEnds = 32;

class Samples {
public:
  Samples(EnzOpaqueHost &host, Function &function, Loop &loop, const EnzPrepare &options)
      : function_(function), loops_(host.functions->getResult<LoopAnalysis>(function)), loop_(loop), options_(options),
        dominators_(host.functions->getResult<DominatorTreeAnalysis>(function)),
        postDominators_(host.functions->getResult<PostDominatorTreeAnalysis>(function)),
        aliases_(host.functions->getResult<AAManager>(function)),
        library_(host.functions->getResult<TargetLibraryAnalysis>(function)), scratch_(host, function, loop) {}

  // Why the loop is not taken; null if it is.
  const char *examine() {
    const char *why = examineShape();
    if (!why)
      dropUnused();
    for (auto next : {&Samples::examineCarried, &Samples::examineMemory, &Samples::examineAfter})
      why = why ? why : (this->*next)();
    return why || keepsSomething() ? why : "nothing need be kept of it";
  }

  void transform(unsigned number);

private:
  const char *examineShape() {
    latch_ = loop_.getLoopLatch();
    if (!loop_.isOutermost() || loop_.isInnermost() || !loop_.isLoopSimplifyForm())
      return "it has no loops in it";
    auto *branch = latch_ ? dyn_cast<BranchInst>(latch_->getTerminator()) : nullptr;
    if (branch && branch->isConditional())
      exit_ = branch->getSuccessor(branch->getSuccessor(0) == loop_.getHeader() ? 1 : 0);
    if (!exit_ || loop_.contains(exit_) || exit_->isEHPad() || exit_->getSinglePredecessor() != latch_ || !findEnds())
      return "it may be left in the midst of an iteration";
    condition_ = branch->getCondition();
    return nullptr;
  }

  // The other ways out of the loop, if they lead to nothing but calls that do not return: a check of a language has
  // failed.
  bool findEnds() {
    SmallVector<Loop::Edge, 8> edges;
    loop_.getExitEdges(edges);
    for (auto [from, to] : edges)
      if (to != exit_)
        ends_.insert(to);
    for (size_t i = 0; i < ends_.size(); ++i) {
      if (ends_.size() > kMostEnds || ends_[i]->isEHPad())
        return false;
      for (Instruction &inst : *ends_[i]) {
        const auto *call = dyn_cast<CallInst>(&inst);
        if (call && call->doesNotReturn() && call->getCalledFunction())
          continue;
        if (inst.mayReadOrWriteMemory() || !isa<PHINode, BranchInst, UnreachableInst, CastInst>(inst))
          return false;
      }
      for (BasicBlock *next : successors(ends_[i])) {
        if (next == exit_ || loop_.contains(next))
          return false;
        ends_.insert(next);
      }
    }
    return true;
  }

  bool isInLoop(const Value *value) const {
    const auto *inst = dyn_cast<Instruction>(value);
    return inst && loop_.contains(inst);
  }

  // A number that is carried where nothing else ever is: it comes by the way that a condition known before the loop
  // decides, so that it is what it was before the loop, or nowhere used. (LLVM leaves such a phi where it hoists a
  // load.)
  void dropUnused() {
    for (PHINode &phi : make_early_inc_range(loop_.getHeader()->phis())) {
      auto *next = dyn_cast<PHINode>(phi.getIncomingValueForBlock(latch_));
      if (!phi.getType()->isFloatingPointTy() || !next || loops_.getLoopFor(next->getParent()) != &loop_ ||
          next->getParent() == loop_.getHeader() || !is_contained(phi.users(), next))
        continue;
      const BasicBlock *from = nullptr;
      const bool one = all_of(phi.uses(), [&](const Use &use) {
        const auto *user = dyn_cast<PHINode>(use.getUser());
        const BasicBlock *way = user && user->getParent() == next->getParent() ? user->getIncomingBlock(use) : nullptr;
        if (!way || (from && from != way))
          return false;
        from = way;
        return true;
      });
      const BasicBlock *last = one ? from : nullptr;
      while (last && last->getUniqueSuccessor() && last->getSinglePredecessor())
        last = last->getSinglePredecessor();
      const auto *branch = last ? dyn_cast<BranchInst>(last->getTerminator()) : nullptr;
      Value *before = phi.getIncomingValueForBlock(loop_.getLoopPreheader());
      if (!branch || !branch->isConditional() || branch->getSuccessor(0) == branch->getSuccessor(1) ||
          !loop_.isLoopInvariant(branch->getCondition()) || loops_.getLoopFor(last) != &loop_ ||
          !dominators_.dominates(last, latch_))
        continue;
      phi.replaceAllUsesWith(isa<UndefValue>(before) ? Constant::getNullValue(phi.getType()) : before);
      phi.eraseFromParent();
    }
  }

  // The sum, and the counters with all that their steps and the last condition are made of.
  const char *examineCarried() {
    for (PHINode &phi : loop_.getHeader()->phis()) {
      if (phi.getType()->isFloatTy() || phi.getType()->isDoubleTy()) {
        if (sum_)
          return "it carries more than one number";
        sum_ = &phi;
      } else if (!phi.getType()->isIntOrPtrTy()) {
        return "it carries something else than a number and counters";
      } else if (!addToSkeleton(phi.getIncomingValueForBlock(latch_))) {
        return "what it counts does not follow from counters alone";
      }
    }
    if (!sum_)
      return "it adds to no number";
    if (!addToSkeleton(condition_))
      return "how long it runs does not follow from counters alone";
    fillGaps();
    if (!isOnlyAddedTo(*sum_, 0))
      return "what it carries is not a sum alone";
    next_ = dyn_cast<Instruction>(sum_->getIncomingValueForBlock(latch_));
    if (!next_ || !added_.contains(next_))
      return "what it carries is not a sum alone";
    for (PHINode &phi : exit_->phis()) {
      Value *value = phi.getIncomingValueForBlock(latch_);
      if (isInLoop(value) && value != next_ && !isOfSkeleton(value))
        return "something else than the sum is used after it";
    }
    return nullptr;
  }

  bool isOfSkeleton(const Value *value) const {
    const auto *inst = dyn_cast<Instruction>(value);
    return inst && inst != sum_ &&
           (skeleton_.contains(inst) || (isa<PHINode>(inst) && inst->getParent() == loop_.getHeader()));
  }

  bool addToSkeleton(Value *value) {
    auto *inst = dyn_cast<Instruction>(value);
    if (!inst || !loop_.contains(inst) || skeleton_.contains(inst))
      return true;
    if (isa<PHINode>(inst))
      return inst->getParent() == loop_.getHeader() && !inst->getType()->isFloatingPointTy();
    // What is run in each iteration that ends may be run again at its end, as nothing that is read has changed.
    const auto *load = dyn_cast<LoadInst>(inst);
    const bool reads = load && load->isSimple() && !isOwn(load->getPointerOperand());
    if ((inst->mayReadOrWriteMemory() && !reads) || inst->getType()->isFPOrFPVectorTy() ||
        !dominators_.dominates(inst, latch_->getTerminator()))
      return false;
    skeleton_.insert(inst);
    return all_of(inst->operands(), [this](Use &operand) { return addToSkeleton(operand.get()); });
  }

  // a b + c with `value` as c alone.
  static bool addsProduct(const Instruction &inst, const Value *value) {
    const auto *call = dyn_cast<IntrinsicInst>(&inst);
    return call && (call->getIntrinsicID() == Intrinsic::fmuladd || call->getIntrinsicID() == Intrinsic::fma) &&
           call->getArgOperand(2) == value && call->getArgOperand(0) != value && call->getArgOperand(1) != value;
  }

  // Whether something that takes a loop, or long, to compute goes into an operation that is not linear in it: other
  // loops keep nothing, so that nothing is won.
  bool keepsSomething() {
    SmallVector<Instruction *, 32> work;
    SmallPtrSet<Instruction *, 32> seen;
    const auto add = [&](Instruction &inst) {
      if (loop_.contains(&inst) && seen.insert(&inst).second)
        work.push_back(&inst);
    };
    for (BasicBlock *block : loop_.blocks())
      for (Instruction &inst : *block) {
        const bool isNumber = inst.getType()->isFPOrFPVectorTy();
        const bool isOfLoop = isa<PHINode>(inst) && any_of(predecessors(block), [&](BasicBlock *from) {
                                return loops_.getLoopFor(from) != &loop_ && loop_.contains(from) &&
                                       loops_.getLoopFor(from) != loops_.getLoopFor(block);
                              });
        if (isNumber && &inst != sum_ && !added_.contains(&inst) && (isOfLoop || isa<CallInst>(inst)))
          add(inst);
        if (isa<StoreInst>(inst) && inst.getOperand(0)->getType()->isFPOrFPVectorTy())
          return true;
      }
    for (size_t i = 0; i < work.size(); ++i)
      for (User *user : work[i]->users()) {
        auto &inst = *cast<Instruction>(user);
        const bool linear = isa<PHINode>(inst) || inst.getOpcode() == Instruction::FAdd ||
                            inst.getOpcode() == Instruction::FSub || inst.getOpcode() == Instruction::FNeg ||
                            (inst.getOpcode() == Instruction::FDiv && loop_.isLoopInvariant(inst.getOperand(1))) ||
                            (inst.getOpcode() == Instruction::FMul && (loop_.isLoopInvariant(inst.getOperand(0)) ||
                                                                       loop_.isLoopInvariant(inst.getOperand(1)))) ||
                            addsProduct(inst, work[i]);
        if (!linear && loop_.contains(&inst))
          return true;
        add(inst);
      }
    return false;
  }

  // On ways that the arithmetic promises not to be taken (the logarithm of nothing, where there are no infinities), the
  // next sum is any number; so it may be the sum so far.
  void fillGaps() {
    SmallVector<Instruction *, 8> work{sum_};
    SmallPtrSet<Instruction *, 8> seen;
    while (!work.empty())
      for (User *user : work.pop_back_val()->users()) {
        auto *inst = cast<Instruction>(user);
        auto *phi = dyn_cast<PHINode>(inst);
        const bool goesOn = phi || inst->getOpcode() == Instruction::FAdd || inst->getOpcode() == Instruction::FSub;
        if (!goesOn || !isInLoop(inst) || inst->getParent() == loop_.getHeader() || !seen.insert(inst).second)
          continue;
        for (Use &use : inst->operands())
          if (phi && isa<UndefValue>(use.get()))
            use.set(sum_);
        work.push_back(inst);
      }
  }

  // Whether the sum so far goes into additions alone, until the next iteration.
  bool isOnlyAddedTo(Instruction &so_far, unsigned depth) {
    if (depth > 64)
      return false;
    for (User *user : so_far.users()) {
      auto *inst = cast<Instruction>(user);
      if (!loop_.contains(inst))
        continue; // looked at by examineCarried and examineAfter
      if (inst == sum_ || added_.contains(inst))
        continue;
      const bool adds = inst->getOpcode() == Instruction::FAdd && inst->getOperand(0) != inst->getOperand(1);
      const bool subtracts =
          inst->getOpcode() == Instruction::FSub && inst->getOperand(0) == &so_far && inst->getOperand(1) != &so_far;
      const bool merges = isa<PHINode>(inst) && inst->getParent() != loop_.getHeader();
      if (!adds && !subtracts && !merges && !addsProduct(*inst, &so_far))
        return false;
      added_.insert(inst);
      if (!isOnlyAddedTo(*inst, depth + 1))
        return false;
    }
    if (depth > 0)
      return true;
    // The other operand of an addition is no sum so far, and no way leads around all additions from something else.
    return all_of(added_, [this](Instruction *inst) {
      const auto carries = [this](const Value *value) {
        const auto *one = dyn_cast<Instruction>(value);
        return one && (one == sum_ || added_.contains(one));
      };
      const size_t carried = count_if(inst->operands(), [&](const Use &use) { return carries(use.get()); });
      return isa<PHINode>(inst) ? carried == inst->getNumOperands() : carried == 1;
    });
  }

  // Memory that exists for one iteration only.
  bool isOwn(const Value *pointer) {
    SmallVector<const Value *, 4> objects;
    getUnderlyingObjects(pointer, objects);
    return all_of(objects, [this](const Value *object) {
      const auto *slot = dyn_cast<AllocaInst>(object);
      if (slot && isBornInLoop(*slot))
        return true;
      const auto *call = dyn_cast<CallInst>(object);
      if (call && loop_.contains(call) && isAllocLikeFn(call, &library_))
        return true;
      return (slot || call) && isScratch(*cast<Instruction>(object));
    });
  }

  // Whether each iteration writes it before it reads it.
  bool isScratch(const Instruction &object) {
    // Where a failed check unwinds, what was allocated for the iteration would not be freed.
    if (isa<CallInst>(object) && !ends_.empty() && !function_.doesNotThrow())
      return false;
    const auto [at, fresh] = scratchObjects_.try_emplace(&object);
    if (fresh)
      at->second = scratch_.find(const_cast<Instruction &>(object));
    return at->second.has_value();
  }

  // Whether a variable begins to live in each iteration before it is used, and is not used outside of the loop.
  bool isBornInLoop(const AllocaInst &slot) {
    if (const auto found = own_.find(&slot); found != own_.end())
      return found->second;
    bool &own = own_[&slot];
    own = false;
    if (!slot.isStaticAlloca())
      return false;
    const Instruction *birth = nullptr;
    SmallVector<const Value *, 16> work{&slot};
    SmallPtrSet<const Value *, 16> seen;
    SmallVector<const Instruction *, 16> uses, addresses;
    while (!work.empty()) {
      const Value *value = work.pop_back_val();
      if (!seen.insert(value).second)
        continue;
      for (const User *user : value->users()) {
        const auto *inst = cast<Instruction>(user);
        if (const auto *life = dyn_cast<IntrinsicInst>(inst); life && life->isLifetimeStartOrEnd()) {
          if (life->getIntrinsicID() == Intrinsic::lifetime_start) {
            // In another copy of the loop that does not use it, it may be born as well.
            if (birth && loop_.contains(life))
              return false;
            birth = loop_.contains(life) ? life : birth;
          }
          continue;
        }
        if (!loop_.contains(inst)) {
          // An address that was taken before the loop.
          if (!isa<GetElementPtrInst, CastInst>(inst) || !inst->getType()->isPointerTy())
            return false;
          addresses.push_back(inst);
          work.push_back(inst);
          continue;
        }
        uses.push_back(inst);
        if (isa<GetElementPtrInst, CastInst, PHINode, SelectInst>(inst))
          work.push_back(inst);
      }
    }
    if (!birth || loops_.getLoopFor(birth->getParent()) != &loop_)
      return false;
    // A phi may be reached on another way, with another pointer.
    own = all_of(uses, [&](const Instruction *use) { return isa<PHINode>(use) || dominators_.dominates(birth, use); });
    if (own)
      addresses_.insert(addresses.begin(), addresses.end());
    return own;
  }

  bool isKnown(const Function &callee) const {
    return options_.harmless && options_.harmless(options_.context, text(callee.getName())) == 1;
  }

  const char *examineMemory() {
    for (BasicBlock *block : loop_.blocks())
      for (Instruction &inst : *block)
        if (const char *why = examineAccess(inst))
          return why;
    return reads_.size() > kMostReads ? "it reads memory in too many places" : nullptr;
  }

  void addRead(const Value *pointer) {
    SmallVector<const Value *, 4> objects;
    getUnderlyingObjects(pointer, objects);
    reads_.insert(objects.begin(), objects.end());
  }

  const char *examineAccess(Instruction &inst) {
    if (inst.isEHPad() || isa<InvokeInst, CallBrInst>(inst) || inst.isAtomic() || inst.isVolatile())
      return "it may throw, or works with other threads";
    if (isa<AssumeInst, NoAliasScopeDeclInst>(inst) || inst.isLifetimeStartOrEnd())
      return nullptr;
    if (auto *load = dyn_cast<LoadInst>(&inst)) {
      if (!isOwn(load->getPointerOperand()))
        addRead(load->getPointerOperand());
      return nullptr;
    }
    if (auto *store = dyn_cast<StoreInst>(&inst))
      return isOwn(store->getPointerOperand()) ? nullptr : "it writes memory that outlives an iteration";
    if (auto *memory = dyn_cast<MemIntrinsic>(&inst)) {
      if (auto *copy = dyn_cast<MemTransferInst>(memory))
        addRead(copy->getRawSource());
      return isOwn(memory->getRawDest()) ? nullptr : "it writes memory that outlives an iteration";
    }
    auto *call = dyn_cast<CallInst>(&inst);
    if (!call)
      return inst.mayReadOrWriteMemory() ? "it has an unusual access to memory" : nullptr;
    const Function *callee = call->getCalledFunction();
    if (isAllocLikeFn(call, &library_))
      return nullptr;
    if (const Value *freed = getFreedOperand(call, &library_))
      return isOwn(freed) ? nullptr : "it frees memory that outlives an iteration";
    if (!callee || call->isConvergent() || callee->getName().contains("__enzyme"))
      return "it calls a function that is not known";
    const bool takes = any_of(call->args(), [](const Use &arg) { return arg->getType()->isPtrOrPtrVectorTy(); });
    if (callee->isDeclaration() && !takes && (callee->isIntrinsic() || isKnown(*callee)) &&
        (call->onlyAccessesInaccessibleMemory() || call->doesNotAccessMemory() || isKnown(*callee)))
      return nullptr;
    if (call->doesNotThrow() && call->hasFnAttr(Attribute::WillReturn) && call->doesNotAccessMemory())
      return nullptr;
    return "it calls a function that may do more than compute";
  }

  // All that is run after the loop.
  SmallVector<BasicBlock *, 16> blocksAfter() const {
    SmallVector<BasicBlock *, 16> all{exit_};
    SmallPtrSet<BasicBlock *, 16> seen{exit_};
    for (size_t i = 0; i < all.size(); ++i)
      for (BasicBlock *next : successors(all[i]))
        if (seen.insert(next).second)
          all.push_back(next);
    return all;
  }

  const char *examineAfter() {
    SmallVector<Instruction *, 32> accesses;
    for (BasicBlock *block : blocksAfter())
      for (Instruction &inst : *block)
        if (inst.mayReadOrWriteMemory() && !isa<AssumeInst, NoAliasScopeDeclInst>(inst) &&
            !inst.isLifetimeStartOrEnd() && !isFree(inst))
          accesses.push_back(&inst);
    if (accesses.size() > kMostWrites)
      return "there is too much after it";
    BatchAAResults batch(aliases_);
    for (Instruction *inst : accesses)
      if (inst->mayWriteToMemory() && !isMathCall(*inst) && !isSample(*inst) && any_of(reads_, [&](const Value *read) {
            return isModSet(batch.getModRefInfo(inst, MemoryLocation::getBeforeOrAfter(read)));
          }))
        return "something that it reads may be written after it";
    for (PHINode &phi : exit_->phis())
      if (phi.getIncomingValueForBlock(latch_) == next_ && !goesOn(phi, accesses, 0))
        return "its sum is used in another way than added, or multiplied by what is known before";
    return nullptr;
  }

  bool isFree(const Instruction &inst) const {
    const auto *call = dyn_cast<CallBase>(&inst);
    return call && getFreedOperand(call, &library_);
  }

  bool isMathCall(const Instruction &inst) const {
    const auto *call = dyn_cast<CallBase>(&inst);
    const Function *callee = call ? call->getCalledFunction() : nullptr;
    return callee && callee->isDeclaration() && isKnown(*callee) &&
           none_of(call->args(), [](const Use &arg) { return arg->getType()->isPtrOrPtrVectorTy(); });
  }

  // Whether a value is known at the end of `place`, or can be: it is then brought to where it is known there and where
  // it is used.
  bool isKnownAt(Value *value, BasicBlock *place, unsigned depth = 0) {
    auto *inst = dyn_cast<Instruction>(value);
    if (!inst || dominators_.dominates(inst, place->getTerminator()))
      return true;
    if (depth > 8 || loop_.contains(inst) || isa<PHINode>(inst) || inst->mayReadOrWriteMemory())
      return false;
    BasicBlock *early = dominators_.findNearestCommonDominator(place, inst->getParent());
    if (const auto found = early_.find(inst); found != early_.end())
      early = dominators_.findNearestCommonDominator(early, found->second);
    if (!isSafeToSpeculativelyExecute(inst, early->getTerminator()) ||
        !all_of(inst->operands(), [&](Use &operand) { return isKnownAt(operand.get(), early, depth + 1); }))
      return false;
    early_[inst] = early;
    return true;
  }

  bool isKnownBefore(Value *value) { return isKnownAt(value, loop_.getLoopPreheader()); }

  bool isAlwaysReached(const BasicBlock *block) const { return postDominators_.dominates(block, exit_); }

  // An edge by which a loop goes on or is left, if it is left in one place, is taken as well: the sum goes on by one of
  // them.
  bool isAlwaysTaken(const BasicBlock *from, const BasicBlock *to) const {
    const Loop *around = loops_.getLoopFor(from);
    const bool one = from->getUniqueSuccessor() == to || (around && around->getExitingBlock() == from);
    return one && isAlwaysReached(from);
  }

  // Where `value` goes on to on the only ways that count: on all others the result is any number.
  PHINode *onlyWay(Value &value) const {
    auto *phi = value.use_empty() ? nullptr : dyn_cast<PHINode>(value.user_back());
    const bool only = phi && all_of(value.users(), [&](const User *user) { return user == phi; }) &&
                      isAlwaysReached(phi->getParent()) && !loops_.getLoopFor(phi->getParent()) &&
                      all_of(phi->incoming_values(),
                             [&](const Use &use) { return use.get() == &value || isa<UndefValue>(use.get()); });
    return only ? phi : nullptr;
  }

  // Whether the adjoint of `value` is known before the loop.
  bool goesOn(Instruction &value, ArrayRef<Instruction *> accesses, unsigned depth) {
    if (depth > 32)
      return false;
    if (PHINode *way = onlyWay(value))
      return goesOnOnce(*way, accesses, depth);
    return all_of(value.uses(), [&](const Use &use) {
      auto *user = cast<Instruction>(use.getUser());
      if (auto *phi = dyn_cast<PHINode>(user)) {
        if (!isAlwaysTaken(phi->getIncomingBlock(use), phi->getParent()))
          return false;
        if (!loops_.getLoopFor(phi->getParent()))
          return goesOnOnce(*phi, accesses, depth);
        CallInst *sample = sampleOf(*phi);
        return sample && goesOnOnce(*sample, accesses, depth);
      }
      // What another later loop does to the sum it may do many times.
      if ((!isAlwaysReached(user->getParent()) && !onlyWay(*user)) || loops_.getLoopFor(user->getParent()))
        return false;
      switch (user->getOpcode()) {
      case Instruction::FAdd:
      case Instruction::FSub:
        return user->getOperand(0) != user->getOperand(1) && goesOnOnce(*user, accesses, depth);
      case Instruction::FNeg:
      case Instruction::FPExt:
      case Instruction::FPTrunc:
        return goesOnOnce(*user, accesses, depth);
      case Instruction::FMul:
        return isKnownBefore(user->getOperand(1 - use.getOperandNo())) && goesOnOnce(*user, accesses, depth);
      case Instruction::FDiv:
        return use.getOperandNo() == 0 && isKnownBefore(user->getOperand(1)) && goesOnOnce(*user, accesses, depth);
      case Instruction::Call:
        return (addsProduct(*user, use.get()) || multiplies(*user, use)) && goesOnOnce(*user, accesses, depth);
      case Instruction::Ret:
        return true;
      case Instruction::Store:
        return use.getOperandNo() == 0 && isLastAccess(cast<StoreInst>(*user), accesses);
      default:
        return false;
      }
    });
  }

  // a b + c with the value as one factor alone, and the other known before the loop.
  bool multiplies(const Instruction &inst, const Use &use) {
    const auto *call = dyn_cast<IntrinsicInst>(&inst);
    return call && (call->getIntrinsicID() == Intrinsic::fmuladd || call->getIntrinsicID() == Intrinsic::fma) &&
           use.getOperandNo() < 2 && isKnownBefore(call->getArgOperand(1 - use.getOperandNo())) &&
           call->getArgOperand(2) != use.get();
  }

  // The call of an iteration in a later loop over samples, whose sum so far is this phi and nothing else.
  static CallInst *sampleOf(PHINode &phi) {
    auto *call = phi.hasOneUse() ? dyn_cast<CallInst>(phi.user_back()) : nullptr;
    return call && isSample(*call) && phi.use_begin()->getOperandNo() == 0 && phi.getNumIncomingValues() == 2 &&
                   is_contained(phi.incoming_values(), call)
               ? call
               : nullptr;
  }

  // A later loop comes back to its call; else no two ways may lead to one place, which the engine would count once.
  bool goesOnOnce(Instruction &value, ArrayRef<Instruction *> accesses, unsigned depth) {
    const auto [at, fresh] = gone_.insert({&value, true});
    if (!fresh)
      return at->second;
    const bool goes = goesOn(value, accesses, depth + 1);
    gone_[&value] = false;
    return goes;
  }

  // Whether nothing else after the loop touches what is stored.
  bool isLastAccess(StoreInst &store, ArrayRef<Instruction *> accesses) {
    const MemoryLocation where = MemoryLocation::getBeforeOrAfter(store.getPointerOperand());
    return !store.isVolatile() && !store.isAtomic() && isKnownBefore(store.getPointerOperand()) &&
           all_of(accesses, [&](Instruction *other) {
             return other == &store || isMathCall(*other) || !isModOrRefSet(aliases_.getModRefInfo(other, where));
           });
  }

  bool isInSample(BasicBlock *block) const { return loop_.contains(block) || ends_.contains(block); }

  Function *makeSample(const Twine &name, ArrayRef<Value *> inputs, ArrayRef<PHINode *> counters);

  Function &function_;
  LoopInfo &loops_;
  Loop &loop_;
  const EnzPrepare &options_;
  DominatorTree &dominators_;
  PostDominatorTree &postDominators_;
  AAResults &aliases_;
  TargetLibraryInfo &library_;
  BasicBlock *latch_ = nullptr, *exit_ = nullptr;
  Value *condition_ = nullptr;
  PHINode *sum_ = nullptr;
  Instruction *next_ = nullptr;
  SmallPtrSet<Instruction *, 16> added_;
  SmallPtrSet<Instruction *, 16> skeleton_;
  // Where the sum goes: whether the search is still behind it.
  DenseMap<const Instruction *, bool> gone_;
  MapVector<Instruction *, BasicBlock *> early_;
  MapVector<const AllocaInst *, bool> own_;
  Scratch scratch_;
  MapVector<const Instruction *, std::optional<ScratchObject>> scratchObjects_;
  // Addresses in these which were taken before the loop.
  SmallSetVector<const Instruction *, 8> addresses_;
  SmallSetVector<const Value *, 16> reads_;
  // Blocks outside of the loop from which nothing returns, and to which it may go.
  SmallSetVector<BasicBlock *, 8> ends_;
};

} // namespace enz

#endif
