// What LLVM's passes have hidden of the numbers that loops carry on.
//
// - Counters: where a path of the body begins with `i == k`, these passes know `i` on it, and write `k + 1` for `i +
// 1`.
//   What the loop goes on with is then a number that depends on the path, and no longer a recurrence that scalar
//   evolution sees; so nothing is known of the addresses that are made of it. Here the number is `i + 1` again,
//   computed once.
// - Running extremes: with fast arithmetic `x > best ? x : best` becomes `llvm.maxnum(x, best)`. As a selection it says
//   when the number was replaced, and the derivative needs the last time alone.
//
// Invariant: the function computes what it computed. The step's flags are those of all its former copies.
//
// Not handled: other comparisons than equality, steps that are not constant; extremes where NaNs count.

#include "support.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

// An edge by which a number comes into a phi.
struct Path {
  Value *number;
  BasicBlockEdge edge;
};

// All numbers that `value` may be, in the loop, followed through its phis. False if these go beyond the loop.
bool pathsOf(Value *value, const PHINode &counter, const Loop &loop, SmallVectorImpl<Path> &paths) {
  SmallPtrSet<PHINode *, 8> seen;
  SmallVector<PHINode *, 8> work{dyn_cast<PHINode>(value)};
  if (!work.front())
    return false;
  while (!work.empty()) {
    PHINode *phi = work.pop_back_val();
    if (phi == &counter || !loop.contains(phi) || paths.size() > 32)
      return false;
    if (!seen.insert(phi).second)
      continue;
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
      Value *number = phi->getIncomingValue(i);
      if (auto *inner = dyn_cast<PHINode>(number); inner && loop.contains(inner))
        work.push_back(inner);
      else
        paths.push_back({number, BasicBlockEdge(phi->getIncomingBlock(i), phi->getParent())});
    }
  }
  return true;
}

// Whether the counter is `number` where `edge` is taken.
bool equals(const PHINode &counter, const ConstantInt &number, const BasicBlockEdge &edge, const DominatorTree &tree) {
  const auto holds = [&](const BasicBlockEdge &known) {
    return (known.getStart() == edge.getStart() && known.getEnd() == edge.getEnd()) ||
           tree.dominates(known, edge.getStart());
  };
  for (const User *user : counter.users()) {
    if (const auto *choice = dyn_cast<SwitchInst>(user)) {
      // The case's own edge alone: others may lead to the same block.
      for (const auto &way : choice->cases())
        if (way.getCaseValue() == &number && count(successors(choice), way.getCaseSuccessor()) == 1 &&
            holds({choice->getParent(), way.getCaseSuccessor()}))
          return true;
      continue;
    }
    const auto *compare = dyn_cast<ICmpInst>(user);
    if (!compare || !compare->isEquality() || compare->getOperand(0) != &counter || compare->getOperand(1) != &number)
      continue;
    const unsigned taken = compare->getPredicate() == ICmpInst::ICMP_EQ ? 0 : 1;
    for (const User *use : compare->users())
      if (const auto *branch = dyn_cast<BranchInst>(use); branch &&
                                                          branch->getSuccessor(0) != branch->getSuccessor(1) &&
                                                          holds({branch->getParent(), branch->getSuccessor(taken)}))
        return true;
  }
  return false;
}

// Makes the next value of one counter a sum that its loop's header computes.
bool reveal(PHINode &counter, const Loop &loop, const DominatorTree &tree) {
  BasicBlock *latch = loop.getLoopLatch();
  auto *next = latch ? dyn_cast<PHINode>(counter.getIncomingValueForBlock(latch)) : nullptr;
  SmallVector<Path, 8> paths;
  if (!next || !pathsOf(next, counter, loop, paths))
    return false;
  const APInt *step = nullptr;
  for (const Path &path : paths)
    if (const APInt *here; match(path.number, m_Add(m_Specific(&counter), m_APInt(here))))
      step = here;
  if (!step)
    return false;
  bool unsignedSafe = true, signedSafe = true;
  for (const Path &path : paths) {
    if (const auto *number = dyn_cast<ConstantInt>(path.number)) {
      bool unsignedWraps = false, signedWraps = false;
      const APInt before = number->getValue() - *step;
      (void)before.uadd_ov(*step, unsignedWraps);
      (void)before.sadd_ov(*step, signedWraps);
      unsignedSafe &= !unsignedWraps;
      signedSafe &= !signedWraps;
      if (!equals(counter, *ConstantInt::get(counter.getContext(), before), path.edge, tree))
        return false;
      continue;
    }
    const auto *sum = dyn_cast<BinaryOperator>(path.number);
    if (!sum || !match(sum, m_Add(m_Specific(&counter), m_SpecificInt(*step))))
      return false;
    unsignedSafe &= sum->hasNoUnsignedWrap();
    signedSafe &= sum->hasNoSignedWrap();
  }
  IRBuilder<> builder(counter.getParent(), counter.getParent()->getFirstInsertionPt());
  next->replaceAllUsesWith(
      builder.CreateAdd(&counter, ConstantInt::get(counter.getType(), *step), "", unsignedSafe, signedSafe));
  return true;
}

} // namespace

namespace enz {

bool revealCounters(EnzOpaqueHost &host, Function &function) {
  const auto &loops = host.functions->getResult<LoopAnalysis>(function);
  const auto &tree = host.functions->getResult<DominatorTreeAnalysis>(function);
  bool changed = false;
  for (const Loop *loop : loops.getLoopsInPreorder())
    for (PHINode &phi : loop->getHeader()->phis())
      if (phi.getType()->isIntegerTy())
        changed |= reveal(phi, *loop, tree);
  if (!changed)
    return false;
  PreservedAnalyses preserved;
  preserved.preserveSet<CFGAnalyses>();
  host.functions->invalidate(function, preserved);
  // Counters that go side by side are one again.
  FunctionPassManager passes;
  LoopPassManager together;
  together.addPass(IndVarSimplifyPass());
  passes.addPass(createFunctionToLoopPassAdaptor(std::move(together), /*UseMemorySSA=*/false));
  host.functions->invalidate(function, passes.run(function, *host.functions));
  return true;
}

void selectExtremes(Function &function) {
  for (BasicBlock &block : function)
    for (PHINode &best : block.phis()) {
      if (!best.getType()->isFloatingPointTy())
        continue;
      for (Value *next : best.incoming_values()) {
        auto *call = dyn_cast<IntrinsicInst>(next);
        const Intrinsic::ID id = call ? call->getIntrinsicID() : Intrinsic::not_intrinsic;
        const bool largest = id == Intrinsic::maxnum;
        if ((!largest && id != Intrinsic::minnum) || !call->hasNoNaNs() || !is_contained(call->args(), &best))
          continue;
        IRBuilder<> builder(call);
        builder.setFastMathFlags(call->getFastMathFlags());
        Value *other = call->getArgOperand(call->getArgOperand(0) == &best ? 1 : 0);
        Value *replaced = builder.CreateFCmp(largest ? CmpInst::FCMP_OGT : CmpInst::FCMP_OLT, other, &best);
        call->replaceAllUsesWith(builder.CreateSelect(replaced, other, &best));
        call->eraseFromParent();
        break;
      }
    }
}

} // namespace enz
