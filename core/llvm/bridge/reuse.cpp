// Memory that each iteration of a loop allocates and frees is allocated once, before the loop, and freed after it.
//
// A loop over samples runs the derivative of one iteration after the other, each with arrays of its own: those that the
// program works in, their shadows, and what is kept from one sweep to the other. Where their sizes are the same
// throughout, one block serves all. What was allocated full of zeros is cleared in each iteration instead.
// (The lifetime of the block ends with the iteration; reuse is what an allocator would do, at the price of two calls.)
//
// Taken are allocations that run in each iteration, directly in an outermost loop with one exit, of a size known before
// it, whose address goes nowhere else and that are freed in each iteration, once. Where something between may throw
// they stay. Not handled: allocations under a condition, reallocation.

#include "support.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MemoryBuiltins.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;

namespace {

bool mayThrow(const Instruction &inst) {
  const auto *call = dyn_cast<CallBase>(&inst);
  const Function *callee = call ? call->getCalledFunction() : nullptr;
  return inst.mayThrow() && !(callee && callee->getName().starts_with("enzyme.rt."));
}

class Reuse {
public:
  Reuse(EnzOpaqueHost &host, Function &function)
      : dominators_(host.functions->getResult<DominatorTreeAnalysis>(function)),
        loops_(host.functions->getResult<LoopAnalysis>(function)),
        library_(host.functions->getResult<TargetLibraryAnalysis>(function)) {}

  bool run() {
    bool changed = false;
    for (Loop *loop : loops_)
      changed |= runOn(*loop);
    return changed;
  }

private:
  bool runOn(Loop &loop) {
    const BasicBlock *latch = loop.getLoopLatch();
    BasicBlock *exit = loop.getUniqueExitBlock();
    if (!latch || !loop.getLoopPreheader() || !exit || !loop.getExitingBlock() || exit->isEHPad() ||
        exit->getSinglePredecessor() != loop.getExitingBlock())
      return false;
    SmallVector<std::pair<CallInst *, CallInst *>, 8> found;
    for (BasicBlock *block : loop.blocks()) {
      if (loops_.getLoopFor(block) != &loop || !dominators_.dominates(block, latch) ||
          !dominators_.dominates(block, loop.getExitingBlock()))
        continue;
      for (Instruction &inst : *block) {
        auto *call = dyn_cast<CallInst>(&inst);
        if (call && isKnownAllocation(*call) &&
            all_of(call->args(), [&](const Use &arg) { return loop.isLoopInvariant(arg.get()); }))
          if (CallInst *release = releaseOf(*call, loop, *latch))
            found.emplace_back(call, release);
      }
    }
    for (BasicBlock *block : loop.blocks())
      if (any_of(*block, mayThrow))
        return false;
    for (auto [call, release] : found)
      move(*call, *release, loop, *exit);
    return !found.empty();
  }

  bool isKnownAllocation(const CallInst &call) const {
    LibFunc which = NotLibFunc;
    const Function *callee = call.getCalledFunction();
    return callee && library_.getLibFunc(*callee, which) && (which == LibFunc_malloc || which == LibFunc_calloc) &&
           !call.hasOperandBundles();
  }

  // The only call that frees it, in each iteration.
  CallInst *releaseOf(CallInst &made, const Loop &loop, const BasicBlock &latch) {
    CallInst *release = nullptr;
    SmallVector<const Value *, 16> work{&made};
    SmallPtrSet<const Value *, 16> seen{&made};
    while (!work.empty()) {
      const Value *value = work.pop_back_val();
      for (const Use &use : value->uses()) {
        auto *user = cast<Instruction>(use.getUser());
        if (!loop.contains(user))
          return nullptr;
        if (isa<GetElementPtrInst, PHINode, SelectInst>(user)) {
          // Beyond the header another iteration's memory would be meant.
          if (isa<PHINode>(user) && user->getParent() == loop.getHeader())
            return nullptr;
          if (seen.insert(user).second)
            work.push_back(user);
          continue;
        }
        auto *call = dyn_cast<CallInst>(user);
        if (call && getFreedOperand(call, &library_)) {
          LibFunc which = NotLibFunc;
          const Function *callee = call->getCalledFunction();
          if (release || value != &made || !callee || !library_.getLibFunc(*callee, which) || which != LibFunc_free)
            return nullptr;
          release = call;
          continue;
        }
        if (isa<LoadInst, ICmpInst>(user) || isa<MemIntrinsic>(user) ||
            (isa<StoreInst>(user) && use.getOperandNo() == StoreInst::getPointerOperandIndex()))
          continue;
        if (call && call->isArgOperand(&use) && call->doesNotCapture(call->getArgOperandNo(&use)))
          continue;
        return nullptr;
      }
    }
    const bool once = release && loops_.getLoopFor(release->getParent()) == &loop &&
                      dominators_.dominates(release->getParent(), &latch) &&
                      dominators_.dominates(release->getParent(), loop.getExitingBlock()) &&
                      dominators_.dominates(&made, release);
    return once ? release : nullptr;
  }

  void move(CallInst &made, CallInst &release, Loop &loop, BasicBlock &exit) {
    Instruction *before = loop.getLoopPreheader()->getTerminator();
    Value *block = &made;
    if (made.arg_size() == 2) {
      Function *function = made.getFunction();
      IRBuilder<> build(before);
      Type *width = made.getArgOperand(0)->getType();
      FunctionCallee malloc = function->getParent()->getOrInsertFunction("malloc", made.getType(), width);
      Value *bytes = build.CreateMul(made.getArgOperand(0), made.getArgOperand(1));
      block = build.CreateCall(malloc, {bytes});
      IRBuilder<>(&made).CreateMemSet(block, build.getInt8(0), bytes, MaybeAlign());
      made.replaceAllUsesWith(block);
      made.eraseFromParent();
    } else {
      made.moveBefore(before->getIterator());
    }
    release.moveBefore(exit.getFirstInsertionPt());
  }

  DominatorTree &dominators_;
  LoopInfo &loops_;
  TargetLibraryInfo &library_;
};

} // namespace

bool enz::reuseMemory(EnzOpaqueHost &host, Function &function) { return Reuse(host, function).run(); }
