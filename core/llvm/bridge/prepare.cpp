// A simplified clone of a function, in the shape that the import and the derivative expect: values instead of stack
// slots, small callees inlined, simple loops in LCSSA form, one return, no constant expressions.
//
// Code that was optimised before (no promotable stack slot is left) gets only the shape; raw code gets roughly what -O1
// does before it vectorises or unrolls, so that derivatives at -O0 are not of stack traffic. Lifetime markers go:
// the derivative reads memory later than the program did.

#include "checkpoint.h"
#include "members.h"
#include "products.h"
#include "rust.h"
#include "support.h"
#include "words.h"

#include "llvm/Analysis/GlobalsModRef.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/JumpThreading.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopDeletion.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/LowerConstantIntrinsics.h"
#include "llvm/Transforms/Scalar/LowerMatrixIntrinsics.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include "llvm/Transforms/Utils/UnifyFunctionExitNodes.h"

using namespace llvm;

namespace {

// How often calls through pointers are looked for in what the last ones brought in.
constexpr int kPointerRounds = 32;
// How often what is known of Fortran's descriptors is carried on.
constexpr unsigned kFlangRounds = 6;

// Whether a variable of one number is copied to or from as memory: `memcpy(&bits, &x, sizeof bits)`.
bool isCopiedScalar(const AllocaInst &slot) {
  return slot.getAllocatedType()->isSingleValueType() &&
         any_of(slot.users(), [](const User *user) { return isa<MemTransferInst>(user); });
}

void addCleanup(FunctionPassManager &passes) {
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass(true));
  passes.addPass(SimplifyCFGPass(SimplifyCFGOptions().convertSwitchRangeToICmp(true)));
  passes.addPass(InstCombinePass());
}

void addLoopWork(FunctionPassManager &passes) {
  LoopPassManager first;
  first.addPass(LoopRotatePass(true, false));
  first.addPass(LICMPass(LICMOptions()));
  passes.addPass(createFunctionToLoopPassAdaptor(std::move(first), /*UseMemorySSA=*/true));
  passes.addPass(SimplifyCFGPass(SimplifyCFGOptions().convertSwitchRangeToICmp(true)));
  passes.addPass(InstCombinePass());
  LoopPassManager second;
  second.addPass(IndVarSimplifyPass());
  second.addPass(LoopDeletionPass());
  passes.addPass(createFunctionToLoopPassAdaptor(std::move(second), /*UseMemorySSA=*/false));
  passes.addPass(GVNPass());
  passes.addPass(InstCombinePass());
  passes.addPass(ADCEPass());
  passes.addPass(SimplifyCFGPass(SimplifyCFGOptions().convertSwitchRangeToICmp(true)));
}

void addShape(FunctionPassManager &passes) {
  passes.addPass(UnifyFunctionExitNodesPass());
  passes.addPass(LoopSimplifyPass());
  passes.addPass(LCSSAPass());
}

void run(EnzOpaqueHost &host, Function &function, FunctionPassManager passes) {
  PreservedAnalyses preserved = passes.run(function, *host.functions);
  host.functions->invalidate(function, preserved);
}

bool inlineCalls(EnzOpaqueHost &host, Function &clone, const EnzPrepare &options, uint64_t &budget,
                 enz::InlineHistory &history) {
  const bool inlined = budget > 0 && enz::inlineInto(host, clone, options, budget, history);
  if (inlined)
    host.functions->invalidate(clone, PreservedAnalyses::none());
  return inlined;
}

// Whether pointers are passed to functions with bodies that were not inlined.
bool passesPointers(const Function &clone) {
  for (const BasicBlock &block : clone)
    for (const Instruction &inst : block) {
      const auto *call = dyn_cast<CallBase>(&inst);
      const Function *callee = call ? call->getCalledFunction() : nullptr;
      if (callee && enz::exactBody(*callee) &&
          any_of(call->args(), [](const Use &arg) { return arg->getType()->isPointerTy(); }))
        return true;
    }
  return false;
}

// Calls through pointers and calls of library functions that call back, by direct calls: first as far as the targets
// follow from the code, which inlining and forwarding through memory make clearer, then by guessing.
bool resolvePointers(EnzOpaqueHost &host, Function &clone, const EnzPrepare &options, uint64_t &budget,
                     enz::InlineHistory &history, bool inlined) {
  const auto tidy = [&](bool with_memory) {
    FunctionPassManager passes;
    addCleanup(passes);
    if (with_memory) {
      passes.addPass(GVNPass());
      passes.addPass(InstCombinePass());
    }
    host.functions->invalidate(clone, PreservedAnalyses::none());
    run(host, clone, std::move(passes));
  };
  const auto bringIn = [&] {
    host.functions->invalidate(clone, PreservedAnalyses::none());
    const bool more = inlineCalls(host, clone, options, budget, history);
    inlined |= more;
    return more;
  };
  for (int round = 0; round < kPointerRounds && enz::hasPointerCalls(clone); ++round) {
    tidy(/*with_memory=*/true);
    const bool replaced = enz::replaceCallbacks(host, clone);
    if (!enz::promoteKnownCalls(clone, history) && !replaced)
      break;
    bringIn();
  }
  for (int round = 0; round < kPointerRounds; ++round) {
    if (inlined && passesPointers(clone))
      tidy(/*with_memory=*/false);
    if (!enz::specialiseCallees(host, clone) || !bringIn())
      break;
  }
  for (int round = 0; round < kPointerRounds && enz::promoteLikelyCalls(host, clone, options); ++round)
    if (!bringIn())
      break;
  enz::promoteLikelyCalls(host, clone, options);
  return inlined;
}

// Matrices are products, transpositions and accesses of intrinsics until late in a pipeline.
void lowerMatrices(EnzOpaqueHost &host, Function &clone) {
  const auto isOne = [](const Instruction &inst) {
    const auto *intrinsic = dyn_cast<IntrinsicInst>(&inst);
    return intrinsic && is_contained({Intrinsic::matrix_multiply, Intrinsic::matrix_transpose,
                                      Intrinsic::matrix_column_major_load, Intrinsic::matrix_column_major_store},
                                     intrinsic->getIntrinsicID());
  };
  if (none_of(instructions(clone), isOne))
    return;
  FunctionPassManager passes;
  passes.addPass(LowerMatrixIntrinsicsPass());
  host.functions->invalidate(clone, PreservedAnalyses::none());
  run(host, clone, std::move(passes));
}

// Whether it is asked how large the memory behind a pointer is, as `_FORTIFY_SOURCE` does of what is copied: late in a
// pipeline, when more is known, that is answered, and most copies are copies as others then.
bool asksSizes(const Function &clone) {
  return any_of(instructions(clone), [](const Instruction &inst) {
    const auto *intrinsic = dyn_cast<IntrinsicInst>(&inst);
    return intrinsic && intrinsic->getIntrinsicID() == Intrinsic::objectsize;
  });
}

// Nobody else knows the memory of an exception before it is thrown.
void markExceptions(Function &clone) {
  for (BasicBlock &block : clone)
    for (Instruction &inst : block)
      if (auto *call = dyn_cast<CallBase>(&inst))
        if (const Function *callee = call->getCalledFunction();
            callee && callee->getName() == "__cxa_allocate_exception" && call->getType()->isPointerTy())
          call->addRetAttr(Attribute::NoAlias);
}

// Bodies of flang's library come in last: what is known of the data by then leaves one of their ways.
bool bringInFlang(EnzOpaqueHost &host, Function &clone) {
  enz::splitAllocations(clone);
  if (!enz::callFlangBodies(clone))
    return false;
  // What is known of one level of structures in structures tells of the next.
  const auto tidy = [&] {
    for (unsigned before = 0, round = 0; round < kFlangRounds && clone.getInstructionCount() != before; ++round) {
      before = clone.getInstructionCount();
      enz::settleDescriptors(clone);
      FunctionPassManager passes;
      addCleanup(passes);
      passes.addPass(GVNPass());
      passes.addPass(InstCombinePass());
      LoopPassManager loops;
      loops.addPass(LoopRotatePass(true, false));
      loops.addPass(IndVarSimplifyPass());
      loops.addPass(LoopFullUnrollPass(2, /*OnlyWhenForced=*/true));
      passes.addPass(createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/false));
      addCleanup(passes);
      host.functions->invalidate(clone, PreservedAnalyses::none());
      run(host, clone, std::move(passes));
    }
  };
  enz::splitDescriptorCopies(clone);
  for (const bool copies : {false, true}) {
    tidy();
    enz::inlineFlangBodies(clone, copies);
  }
  tidy();
  enz::forgetUnrolling(clone);
  return true;
}

void dropLifetimes(Function &function) {
  for (BasicBlock &block : function)
    for (Instruction &inst : make_early_inc_range(block))
      if (inst.isLifetimeStartOrEnd())
        inst.eraseFromParent();
}

// Procedures that are handed on together with the frame around them are called directly by now, or else by an address
// that is asked for; what nobody asks for is not made.
void dropTrampolines(Function &function) {
  for (BasicBlock &block : function)
    for (Instruction &inst : make_early_inc_range(block))
      if (auto *made = dyn_cast<IntrinsicInst>(&inst); made && made->getIntrinsicID() == Intrinsic::init_trampoline &&
                                                       isa<AllocaInst>(made->getArgOperand(0)) &&
                                                       made->getArgOperand(0)->hasOneUse())
        made->eraseFromParent();
}

} // namespace

namespace enz {

bool hasStackTraffic(const Function &function) {
  for (const Instruction &inst : function.getEntryBlock())
    if (const auto *slot = dyn_cast<AllocaInst>(&inst); slot && (isAllocaPromotable(slot) || isCopiedScalar(*slot)))
      return true;
  return false;
}

// Constant expressions among operands become instructions: before the user, or for a phi at the end of the incoming
// block, once for each block.
void lowerConstantExpressions(Function &function) {
  SmallVector<Instruction *, 64> work;
  for (BasicBlock &block : function)
    for (Instruction &inst : block)
      work.push_back(&inst);
  while (!work.empty()) {
    Instruction *user = work.pop_back_val();
    if (isa<LandingPadInst>(user))
      continue;
    auto *phi = dyn_cast<PHINode>(user);
    SmallDenseMap<std::pair<BasicBlock *, Constant *>, Instruction *> done;
    for (Use &use : user->operands()) {
      auto *expr = dyn_cast<ConstantExpr>(use.get());
      if (!expr)
        continue;
      BasicBlock *from = phi ? phi->getIncomingBlock(use) : nullptr;
      Instruction *&lowered = done[{from, expr}];
      if (!lowered) {
        lowered = expr->getAsInstruction();
        lowered->insertBefore(phi ? from->getTerminator()->getIterator() : user->getIterator());
        work.push_back(lowered);
      }
      use.set(lowered);
    }
  }
}

} // namespace enz

EnzValue enz_prepare(EnzHost host, EnzValue raw, const EnzPrepare *options) {
  auto *function = enz::as<Function>(raw);
  if (!function || function->isDeclaration())
    return nullptr;
  // What was known of globals before we write functions into the module is not known any more. Asked first, as the
  // manager looks at all that is known of each function of the module.
  if (host->modules->getCachedResult<GlobalsAA>(*host->module)) {
    PreservedAnalyses preserved = PreservedAnalyses::all();
    preserved.abandon<GlobalsAA>();
    host->modules->invalidate(*host->module, preserved);
  }

  enz::keepOrder(*function);
  ValueToValueMapTy map;
  Function *clone = CloneFunction(function, map);
  clone->setName(function->getName() + enz::kPrepared);
  clone->setLinkage(GlobalValue::InternalLinkage);
  clone->setVisibility(GlobalValue::DefaultVisibility);
  clone->setDLLStorageClass(GlobalValue::DefaultStorageClass);
  clone->setComdat(nullptr);
  clone->removeFnAttr(Attribute::OptimizeNone);
  clone->removeFnAttr(Attribute::NoInline);
  for (BasicBlock &block : *clone)
    for (Instruction &inst : make_early_inc_range(block)) {
      inst.dropDbgRecords();
      if (auto *call = dyn_cast<CallBase>(&inst))
        enz::straightenCall(*enz::plainTape(*call));
    }
  enz::lowerComputedGotos(*clone, *function, map);
  lowerMatrices(*host, *clone);

  enz::normalise(*clone);
  enz::noteFloats(*clone);
  enz::noteMembers(*clone, options->declared);
  enz::fixVariadicCalls(*clone);
  const bool answered = enz::answerQuestions(*clone);
  const bool stack = enz::hasStackTraffic(*clone);
  if (stack || answered) {
    FunctionPassManager first;
    addCleanup(first);
    run(*host, *clone, std::move(first));
  }
  uint64_t budget = options->inline_budget;
  enz::InlineHistory history;
  bool inlined = inlineCalls(*host, *clone, *options, budget, history);
  enz::noteFloats(*clone);
  // What comes with what was inlined goes the plain way before more of it does.
  for (bool more = inlined; more && enz::answerQuestions(*clone);) {
    host->functions->invalidate(*clone, PreservedAnalyses::none());
    FunctionPassManager tidy;
    addCleanup(tidy);
    run(*host, *clone, std::move(tidy));
    more = inlineCalls(*host, *clone, *options, budget, history);
  }
  inlined = resolvePointers(*host, *clone, *options, budget, history, inlined);
  if (inlined) {
    lowerMatrices(*host, *clone);
    enz::normalise(*clone);
    enz::fixVariadicCalls(*clone);
  }
  inlined |= bringInFlang(*host, *clone);
  markExceptions(*clone);
  const bool late = enz::answerQuestions(*clone);
  if ((options->products && enz::callProducts(*clone)) || late) {
    host->functions->invalidate(*clone, PreservedAnalyses::none());
    FunctionPassManager tidy;
    addCleanup(tidy);
    run(*host, *clone, std::move(tidy));
  }
  // What was done above by hand keeps no account of what it changed.
  host->functions->invalidate(*clone, PreservedAnalyses::none());
  if (asksSizes(*clone)) {
    FunctionPassManager answers;
    answers.addPass(LowerConstantIntrinsicsPass());
    answers.addPass(InstCombinePass());
    addCleanup(answers);
    run(*host, *clone, std::move(answers));
  }
  const bool more = inlined && enz::hasStackTraffic(*clone);
  FunctionPassManager second;
  if (inlined) {
    addCleanup(second);
    // Ways that meet and part again stay apart: of an enumeration of Rust each variant goes on for itself. Elsewhere it
    // costs more flags of which way was gone.
    if (host->module->getFunction("rust_eh_personality")) {
      second.addPass(JumpThreadingPass());
      addCleanup(second);
    }
  }
  if (stack || more)
    addLoopWork(second);
  run(*host, *clone, std::move(second));
  if (enz::copyAsStored(*clone)) {
    host->functions->invalidate(*clone, PreservedAnalyses::none());
    FunctionPassManager promoted;
    addCleanup(promoted);
    run(*host, *clone, std::move(promoted));
  }
  if (enz::alignMemory(*clone)) {
    host->functions->invalidate(*clone, PreservedAnalyses::none());
    FunctionPassManager aligned;
    addCleanup(aligned);
    run(*host, *clone, std::move(aligned));
  }
  if (enz::giveOwnBuckets(*clone))
    host->functions->invalidate(*clone, PreservedAnalyses::none());
  if (enz::separateHalves(*clone)) {
    host->functions->invalidate(*clone, PreservedAnalyses::none());
    FunctionPassManager separated;
    addCleanup(separated);
    run(*host, *clone, std::move(separated));
  }
  if (enz::raiseAtomicAdditions(*clone)) {
    host->functions->invalidate(*clone, PreservedAnalyses::none());
    FunctionPassManager raised;
    addCleanup(raised);
    run(*host, *clone, std::move(raised));
  }
  if (enz::fillAlike(*clone)) {
    host->functions->invalidate(*clone, PreservedAnalyses::none());
    FunctionPassManager filled;
    addCleanup(filled);
    run(*host, *clone, std::move(filled));
  }
  FunctionPassManager simple;
  simple.addPass(LoopSimplifyPass());
  run(*host, *clone, std::move(simple));
  if (enz::lowerCopyLoops(*host, *clone)) {
    FunctionPassManager emptied;
    LoopPassManager loops;
    loops.addPass(IndVarSimplifyPass());
    loops.addPass(LoopDeletionPass());
    emptied.addPass(createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/false));
    addCleanup(emptied);
    run(*host, *clone, std::move(emptied));
  }
  if (enz::plainResults(*clone))
    host->functions->invalidate(*clone, PreservedAnalyses::none());
  if (enz::distrustMemories(*host, *clone))
    host->functions->invalidate(*clone, PreservedAnalyses::none());
  enz::revealCounters(*host, *clone);
  const bool words = enz::splitWords(*clone);
  if (words)
    host->functions->invalidate(*clone, PreservedAnalyses::none());
  const bool blends = enz::revealBlends(*clone);
  const bool bits = enz::floatBits(*clone);
  const bool slopes = enz::giveSlopes(*clone);
  if (blends || bits || slopes)
    host->functions->invalidate(*clone, PreservedAnalyses::none());
  const bool splitIntegers = enz::splitIntegerVectors(*clone);
  const bool splitPointers = enz::splitPointerAccesses(*clone);
  const bool split = splitIntegers || splitPointers;
  if (split)
    host->functions->invalidate(*clone, PreservedAnalyses::none());
  enz::shapeControl(*host, *clone);
  FunctionPassManager third;
  // An address of one field or another that nobody reads through any more would still be taken for both.
  if (words || blends || bits || slopes || split)
    third.addPass(ADCEPass());
  addShape(third);
  run(*host, *clone, std::move(third));
  if (options->disjoint && enz::separateArrays(*host, *clone, *options)) {
    *options->has_second_body = 1;
    host->functions->invalidate(*clone, PreservedAnalyses::none());
    FunctionPassManager again;
    addShape(again);
    run(*host, *clone, std::move(again));
  }
  if (enz::branchOffSamples(*host, *clone, *options)) {
    FunctionPassManager again;
    again.addPass(ADCEPass());
    addShape(again);
    run(*host, *clone, std::move(again));
  }
  dropLifetimes(*clone);
  dropTrampolines(*clone);
  if (enz::checkpointLoops(*host, *clone, *options)) {
    FunctionPassManager again;
    addShape(again);
    run(*host, *clone, std::move(again));
  }
  enz::moveTexts(*clone);
  enz::addTerms(*clone);
  enz::selectExtremes(*clone);
  enz::widenCopies(*clone);
  enz::lowerConstantExpressions(*clone);
  if (enz::nameAddresses(*clone))
    enz::lowerConstantExpressions(*clone);
  host->functions->invalidate(*clone, PreservedAnalyses::none());
  return enz::in(static_cast<Value *>(clone));
}

void enz_function_erase(EnzHost host, EnzValue raw) {
  auto *function = enz::as<Function>(raw);
  if (!function)
    return;
  host->functions->clear(*function, function->getName());
  function->deleteBody();
  if (!function->use_empty())
    function->replaceAllUsesWith(PoisonValue::get(function->getType()));
  function->eraseFromParent();
}

uint8_t enz_module_drop_checkpoint_marks(EnzHost host) {
  if (!host->module->getFunction(enz::kCheckpointMark))
    return 0;
  bool any = false;
  for (Function &function : *host->module)
    if (enz::dropCheckpointMarks(function)) {
      any = true;
      host->functions->invalidate(function, PreservedAnalyses::none());
    }
  return any;
}
