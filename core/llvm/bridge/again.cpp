// Values that each iteration of an outer loop stores again at the same place of the tape are stored in the first one.
//
// A row that is the same throughout a loop over time steps, as the conductivities of a rod, is kept once; but the loop
// that reads it fills it in each step:
//
//   for t:  for j: x = h[j]; row[j] = x; ...      for t:  if t == 0: for j: x = h[j]; row[j] = x; ...
//                                                         else:      for j: x = h[j]; ...
//
// Where that is so, what is stored goes through a call of `enzyme.rt.again.*` (core/diff/src/runtime.rs), which returns
// it, with the condition under which memory has it already. It is a value like any other: whatever LLVM has made of
// these loops before, the condition belongs to the store. Innermost loops of one block are entered in a copy without
// such stores where the condition holds; elsewhere they are made again, which does no harm. (Loop unswitching: Allen,
// Cocke, "A catalogue of optimizing transformations", 1972.)
//
// Not handled: stores under a condition of their own; several conditions in one loop, of which the first counts.

#include "support.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace {

constexpr StringLiteral kAgain = "enzyme.rt.again.";
constexpr ptrdiff_t kLargestBlock = 200;
// Loops that are known to be shorter stay as they are.
constexpr unsigned kFewest = 8;
// Loops of one function that are copied.
constexpr unsigned kMostLoops = 16;

SmallVector<CallInst *, 8> callsIn(Function &function) {
  SmallVector<CallInst *, 8> calls;
  for (BasicBlock &block : function)
    for (Instruction &inst : block)
      if (auto *call = dyn_cast<CallInst>(&inst))
        if (const Function *callee = call->getCalledFunction();
            callee && callee->getName().starts_with(kAgain) && call->arg_size() == 2)
          calls.push_back(call);
  return calls;
}

// The store that takes the result of `call`, if that is in a loop which may be copied.
StoreInst *storeOf(CallInst &call, const LoopInfo &loops, ScalarEvolution &evolution) {
  const Loop *loop = loops.getLoopFor(call.getParent());
  auto *store = call.hasOneUse() ? dyn_cast<StoreInst>(call.user_back()) : nullptr;
  if (!loop || loop->getNumBlocks() != 1 || !loop->isLoopSimplifyForm() || !store || !store->isSimple() ||
      store->getValueOperand() != &call || store->getParent() != call.getParent())
    return nullptr;
  const BasicBlock *exit = loop->getUniqueExitBlock();
  const unsigned most = evolution.getSmallConstantMaxTripCount(loop);
  const bool isTaken = exit && !exit->isEHPad() && exit->getSinglePredecessor() == loop->getHeader() &&
                       loop->getHeader()->sizeWithoutDebug() <= kLargestBlock && (most == 0 || most >= kFewest) &&
                       loop->isLoopInvariant(call.getArgOperand(1)) && !isa<Constant>(call.getArgOperand(1)) &&
                       none_of(*loop->getHeader(), [](const Instruction &inst) {
                         const auto *other = dyn_cast<CallBase>(&inst);
                         return (other && other->cannotDuplicate()) || inst.getType()->isTokenTy();
                       });
  return isTaken ? store : nullptr;
}

// Enters a copy of `loop` without `stores` where `again` holds.
void copyWithout(Loop &loop, Value &again, ArrayRef<StoreInst *> stores, LoopInfo &loops, DominatorTree &dominators,
                 ScalarEvolution &evolution) {
  formLCSSA(loop, dominators, &loops, &evolution);
  BasicBlock *block = loop.getHeader(), *before = loop.getLoopPreheader(), *exit = loop.getUniqueExitBlock();
  BasicBlock *enter = SplitEdge(before, block, &dominators, &loops);
  BasicBlock *other = BasicBlock::Create(block->getContext(), "again.enter", block->getParent(), exit);
  ValueToValueMapTy map;
  BasicBlock *copy = CloneBasicBlock(block, map, ".again", block->getParent());
  copy->moveAfter(other);
  map[enter] = other;
  map[block] = copy;
  remapInstructionsInBlocks({copy}, map);
  for (PHINode &phi : exit->phis()) {
    Value *value = phi.getIncomingValueForBlock(block), *copied = map.lookup(value);
    phi.addIncoming(copied ? copied : value, copy);
  }
  BranchInst::Create(copy, other)->setDebugLoc(enter->getTerminator()->getDebugLoc());
  ReplaceInstWithInst(before->getTerminator(), BranchInst::Create(other, enter, &again));
  // Each loop has a name of its own.
  if (MDNode *old = loop.getLoopID()) {
    SmallVector<Metadata *, 4> parts(old->op_begin(), old->op_end());
    MDNode *name = MDNode::getDistinct(block->getContext(), parts);
    name->replaceOperandWith(0, name);
    copy->getTerminator()->setMetadata(LLVMContext::MD_loop, name);
  }
  for (StoreInst *store : stores) {
    auto *copied = cast<StoreInst>(static_cast<Value *>(map.lookup(store)));
    Value *value = copied->getValueOperand(), *pointer = copied->getPointerOperand();
    copied->eraseFromParent();
    RecursivelyDeleteTriviallyDeadInstructions(pointer);
    RecursivelyDeleteTriviallyDeadInstructions(value);
  }
}

// Gives the loops with such calls blocks of their own before and behind.
void shape(EnzOpaqueHost &host, Function &function) {
  auto &loops = host.functions->getResult<LoopAnalysis>(function);
  auto &dominators = host.functions->getResult<DominatorTreeAnalysis>(function);
  auto &evolution = host.functions->getResult<ScalarEvolutionAnalysis>(function);
  for (const CallInst *call : callsIn(function))
    if (Loop *loop = loops.getLoopFor(call->getParent()))
      simplifyLoop(loop, &dominators, &loops, &evolution, nullptr, nullptr, /*PreserveLCSSA=*/false);
  host.functions->invalidate(function, PreservedAnalyses::none());
}

// Copies one loop; false if there is none.
bool copyOne(EnzOpaqueHost &host, Function &function) {
  auto &loops = host.functions->getResult<LoopAnalysis>(function);
  auto &evolution = host.functions->getResult<ScalarEvolutionAnalysis>(function);
  SmallVector<StoreInst *, 4> stores;
  Loop *loop = nullptr;
  Value *again = nullptr;
  for (CallInst *call : callsIn(function)) {
    StoreInst *store = storeOf(*call, loops, evolution);
    if (!store || (loop && (loops.getLoopFor(call->getParent()) != loop || call->getArgOperand(1) != again)))
      continue;
    loop = loops.getLoopFor(call->getParent());
    again = call->getArgOperand(1);
    stores.push_back(store);
  }
  if (!loop)
    return false;
  // All of the loop are answered with it.
  for (CallInst *call : callsIn(function))
    if (loop->contains(call)) {
      call->replaceAllUsesWith(call->getArgOperand(0));
      call->eraseFromParent();
    }
  copyWithout(*loop, *again, stores, loops, host.functions->getResult<DominatorTreeAnalysis>(function), evolution);
  host.functions->invalidate(function, PreservedAnalyses::none());
  return true;
}

} // namespace

bool enz::storeOnce(EnzOpaqueHost &host, Function &function, bool copy) {
  if (callsIn(function).empty())
    return false;
  if (copy)
    shape(host, function);
  for (unsigned loops = 0; copy && loops < kMostLoops && copyOne(host, function);)
    ++loops;
  for (CallInst *call : callsIn(function)) {
    call->replaceAllUsesWith(call->getArgOperand(0));
    call->eraseFromParent();
  }
  return true;
}
