// Optimisation of what was generated: the host's own function simplification, so that its later passes (vectorisation
// above all) find derivatives in the shape in which they find everything else; and inlining of the wrappers that stand
// between a marker's call site and the derivative.

#include "checkpoint.h"
#include "support.h"
#include "words.h"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LoopLoadElimination.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

using namespace llvm;

namespace {

// A derivative with more blocks than this is simplified with less effort.
constexpr size_t kManyBlocks = 1500;

// A derivative of at most this many instructions is inlined where the marker stood.
constexpr unsigned kSmallDerivative = 60;

OptimizationLevel levelOf(uint32_t speed, uint32_t size) {
  if (size == 1)
    return OptimizationLevel::Os;
  if (size > 1)
    return OptimizationLevel::Oz;
  switch (speed) {
  case 0:
    return OptimizationLevel::O0;
  case 1:
    return OptimizationLevel::O1;
  case 2:
    return OptimizationLevel::O2;
  default:
    return OptimizationLevel::O3;
  }
}

FunctionPassManager light() {
  FunctionPassManager passes;
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass(true));
  passes.addPass(InstCombinePass());
  passes.addPass(SimplifyCFGPass());
  return passes;
}

// LoopLoadElimination where no vectors overlap in part.
class ForwardPass : public PassInfoMixin<ForwardPass> {
public:
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &functions) {
    return enz::hasStaggeredVectors(function) ? PreservedAnalyses::all()
                                              : LoopLoadEliminationPass().run(function, functions);
  }
};

// Values that go from one iteration to the next through shadow memory go through registers (see loops.cpp).
FunctionPassManager forwardStores(OptimizationLevel level) {
  FunctionPassManager passes;
  passes.addPass(ForwardPass());
  // The first iteration reads what the loop did not store: it is peeled.
  passes.addPass(createFunctionToLoopPassAdaptor(LoopFullUnrollPass(static_cast<int>(level.getSpeedupLevel()))));
  passes.addPass(InstCombinePass());
  passes.addPass(SimplifyCFGPass());
  return passes;
}

void run(EnzOpaqueHost &host, Function &function, FunctionPassManager &passes) {
  PreservedAnalyses preserved = passes.run(function, *host.functions);
  host.functions->invalidate(function, preserved);
}

// An iteration that stands in its loop, and nowhere else.
bool isLeftOver(const Function &function) {
  return function.hasLocalLinkage() && function.use_empty() && function.getName().contains(enz::kSample);
}

ThinOrFullLTOPhase phaseOf(const EnzOpaqueHost &host) {
  // Within a full link LLVM simplifies functions by another list; ours is the one of a single file.
  return host.phase == ThinOrFullLTOPhase::FullLTOPostLink ? ThinOrFullLTOPhase::None : host.phase;
}

// Inlines the direct calls of `callee`; returns the functions they stood in.
SmallVector<Function *, 4> inlineCalls(EnzOpaqueHost &host, Function &callee) {
  SmallVector<CallBase *, 4> calls;
  for (User *user : callee.users())
    if (auto *call = dyn_cast<CallBase>(user);
        call && call->getCalledOperand() == &callee && call->getFunctionType() == callee.getFunctionType())
      calls.push_back(call);
  auto cache = [&host](Function &function) -> AssumptionCache & {
    return host.functions->getResult<AssumptionAnalysis>(function);
  };
  SmallVector<Function *, 4> callers;
  for (CallBase *call : calls) {
    Function *caller = call->getFunction();
    InlineFunctionInfo info(cache);
    if (!InlineFunction(*call, info).isSuccess())
      continue;
    host.functions->invalidate(*caller, PreservedAnalyses::none());
    if (!is_contained(callers, caller))
      callers.push_back(caller);
  }
  return callers;
}

// Brings the iterations of loops over samples, which were branched off, into these loops. Whether there were any.
bool inlineSamples(EnzOpaqueHost &host, Function &caller) {
  bool any = false;
  for (bool again = true; again;) {
    again = false;
    SmallVector<CallBase *, 4> calls;
    for (BasicBlock &block : caller)
      for (Instruction &inst : block)
        if (auto *call = dyn_cast<CallBase>(&inst))
          if (const Function *callee = call->getCalledFunction();
              callee && callee != &caller && !callee->isDeclaration() && callee->getName().contains(enz::kSample))
            calls.push_back(call);
    for (CallBase *call : calls) {
      auto cache = [&host](Function &function) -> AssumptionCache & {
        return host.functions->getResult<AssumptionAnalysis>(function);
      };
      InlineFunctionInfo info(cache);
      again |= InlineFunction(*call, info).isSuccess();
    }
    if (again)
      host.functions->invalidate(caller, PreservedAnalyses::none());
    any |= again;
  }
  return any;
}

// AddressSanitizer takes stores of parameters to stack slots before all else, past other stores to these slots that
// come first in code of ours: the zero in a tangent's slot would come after the tangent. It stops at whatever is
// neither a store nor a cast.
bool keepStoresInOrder(Function &function) {
  SmallPtrSet<const Value *, 8> stored;
  SmallVector<StoreInst *, 8> again;
  for (Instruction &inst : function.getEntryBlock())
    if (auto *store = dyn_cast<StoreInst>(&inst)) {
      const Value *slot = store->getPointerOperand()->stripInBoundsOffsets();
      if (isa<AllocaInst>(slot) && !stored.insert(slot).second && isa<Argument, CastInst>(store->getValueOperand()))
        again.push_back(store);
    }
  for (StoreInst *store : again)
    IRBuilder<>(store).CreateIntrinsic(Intrinsic::sideeffect, {});
  return !again.empty();
}

// Calls of small generated functions that a wrapper left behind in its caller.
bool inlineSmall(EnzOpaqueHost &host, Function &caller, const SmallPtrSetImpl<Function *> &generated) {
  bool changed = false;
  SmallVector<CallBase *, 8> calls;
  for (BasicBlock &block : caller)
    for (Instruction &inst : block)
      if (auto *call = dyn_cast<CallBase>(&inst))
        if (Function *callee = call->getCalledFunction(); callee && generated.contains(callee))
          calls.push_back(call);
  for (CallBase *call : calls) {
    auto cache = [&host](Function &function) -> AssumptionCache & {
      return host.functions->getResult<AssumptionAnalysis>(function);
    };
    InlineFunctionInfo info(cache);
    changed |= InlineFunction(*call, info).isSuccess();
  }
  if (changed)
    host.functions->invalidate(caller, PreservedAnalyses::none());
  return changed;
}

} // namespace

void enz_optimise(EnzHost host, const EnzValue *functions, size_t count, uint32_t speed, uint32_t size) {
  const OptimizationLevel level = levelOf(speed, size);
  SmallPtrSet<const Function *, 4> hasSamples;
  for (size_t i = 0; i < count; ++i)
    if (auto *function = enz::as<Function>(functions[i]);
        function && !function->isDeclaration() && inlineSamples(*host, *function))
      hasSamples.insert(function);
  for (size_t i = 0; i < count; ++i) {
    auto *function = enz::as<Function>(functions[i]);
    if (!function || function->isDeclaration() || isLeftOver(*function))
      continue;
    enz::markWords(*function);
    // Jump threading and the propagation of correlated values take time in the square of the blocks; level 1 has
    // neither.
    const bool many = level != OptimizationLevel::O0 && function->size() > kManyBlocks;
    const OptimizationLevel chosen = many ? OptimizationLevel::O1 : level;
    FunctionPassManager passes = level == OptimizationLevel::O0
                                     ? light()
                                     : host->passes->buildFunctionSimplificationPipeline(chosen, phaseOf(*host));
    run(*host, *function, passes);
    if (function->hasFnAttribute(Attribute::SanitizeAddress) && keepStoresInOrder(*function))
      host->functions->invalidate(*function, PreservedAnalyses::none());
    const bool isForSpeed = level.getSpeedupLevel() >= 2 && level.getSizeLevel() == 0;
    if (enz::storeOnce(*host, *function, isForSpeed))
      host->functions->invalidate(*function, PreservedAnalyses::none());
    if (!isForSpeed)
      continue;
    host->module->getOrInsertNamedMetadata(enz::kDerivatives);
    enz::readSnapshots(*host, *function);
    if (enz::gatherSums(*host, *function))
      host->functions->invalidate(*function, PreservedAnalyses::none());
    if (enz::beginSums(*host, *function)) {
      PreservedAnalyses preserved;
      preserved.preserveSet<CFGAnalyses>();
      host->functions->invalidate(*function, preserved);
    }
    const bool joined = enz::joinLatches(*host, *function);
    if (joined)
      host->functions->invalidate(*function, PreservedAnalyses::none());
    // Loops that are entered under a condition have no block before them.
    FunctionPassManager shape;
    shape.addPass(LoopSimplifyPass());
    run(*host, *function, shape);
    const bool sunk = enz::sinkStores(*host, *function);
    enz::handOnSums(*host, *function);
    if (sunk || joined) {
      PreservedAnalyses preserved;
      preserved.preserveSet<CFGAnalyses>();
      host->functions->invalidate(*function, preserved);
      FunctionPassManager more = forwardStores(level);
      run(*host, *function, more);
    }
    run(*host, *function, shape);
    if (enz::runLatest(*host, *function)) {
      FunctionPassManager more;
      more.addPass(SimplifyCFGPass());
      more.addPass(LoopSimplifyPass());
      run(*host, *function, more);
    }
    if (hasSamples.contains(function) && enz::reuseMemory(*host, *function)) {
      PreservedAnalyses preserved;
      preserved.preserveSet<CFGAnalyses>();
      host->functions->invalidate(*function, preserved);
    }
    enz::versionLoops(*host, *function);
    if (enz::splitScatters(*host, *function))
      enz::versionLoops(*host, *function);
    enz::runUpward(*host, *function);
  }
}

void enz_inline_wrappers(EnzHost host, const EnzValue *wrappers, size_t count, const EnzValue *generated,
                         size_t num_generated, EnzValue *marks, size_t num_marks, uint32_t speed) {
  SmallVector<WeakVH, 8> standing;
  for (size_t i = 0; i < num_marks; ++i)
    standing.push_back(WeakVH(enz::as<Value>(marks[i])));
  SmallPtrSet<Function *, 16> small;
  for (size_t i = 0; i < num_generated; ++i)
    if (auto *function = enz::as<Function>(generated[i]);
        function && function->hasLocalLinkage() && function->getInstructionCount() <= kSmallDerivative)
      small.insert(function);
  SmallVector<Function *, 8> callers;
  for (size_t i = 0; i < count; ++i) {
    auto *wrapper = enz::as<Function>(wrappers[i]);
    if (!wrapper)
      continue;
    small.erase(wrapper);
    for (Function *caller : inlineCalls(*host, *wrapper))
      if (!is_contained(callers, caller))
        callers.push_back(caller);
    if (wrapper->use_empty())
      enz_function_erase(host, wrappers[i]);
  }
  if (speed == 0)
    return;
  for (Function *caller : callers) {
    inlineSmall(*host, *caller, small);
    if (caller->hasOptNone())
      continue;
    FunctionPassManager passes = light();
    run(*host, *caller, passes);
  }
  for (auto [mark, call] : zip_equal(MutableArrayRef(marks, num_marks), standing))
    if (!call)
      mark = nullptr;
}
