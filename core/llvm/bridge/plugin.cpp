// The plugin's face to its hosts: the information structure, and the places of the pass in their pipelines.
//
// Our pass runs where functions are simplified and inlined and nothing is vectorised or unrolled yet: the extension
// point OptimizerEarly, which clang, flang, rustc and opt reach at every level, and the modules of a thin link once
// more; and at the start of a full link, where code was simplified file by file before: that of C and Fortran is
// simplified once more first, across files, as what a derivative is made of has been optimised whole elsewhere. Where
// vectors have been made, the lanes of those in modules with derivatives are left as they lie in memory; functions with
// hundreds of phis in a block are not searched for vectors in straight-line code, and values are not handed from one
// iteration to the next where vectors overlap in part. What must still be a call when our pass runs is marked at the
// start of each file's pipeline. Without optimisation coroutines are split after that point: there they are split
// before.

#include "rust.h"
#include "support.h"
#include "words.h"

#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/Transforms/Coroutines/CoroCleanup.h"
#include "llvm/Transforms/Coroutines/CoroConditionalWrapper.h"
#include "llvm/Transforms/Coroutines/CoroEarly.h"
#include "llvm/Transforms/Coroutines/CoroSplit.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/InstSimplifyPass.h"

using namespace llvm;

static_assert(sizeof(EnzPluginInfo) == sizeof(PassPluginLibraryInfo), "the structure that hosts read");
static_assert(LLVM_PLUGIN_API_VERSION == 2, "the structure was written for version 2");

namespace {

// Set once, when the host asks for the plugin's information, before any pass exists.
EnzRunFunction run_function = nullptr;

class EnzymePass : public PassInfoMixin<EnzymePass> {
public:
  EnzymePass(PassBuilder &passes, EnzPhase phase, OptimizationLevel level, ThinOrFullLTOPhase lto)
      : passes_(&passes), phase_(phase), level_(level), lto_(lto) {}

  PreservedAnalyses run(Module &module, ModuleAnalysisManager &modules) {
    if (!run_function)
      return PreservedAnalyses::all();
    auto &functions = modules.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
    EnzOpaqueHost host{&module, &modules, &functions, passes_, lto_};
    const bool changed = run_function(&host, phase_, level_.getSpeedupLevel(), level_.getSizeLevel()) != 0;
    if (changed && level_ != OptimizationLevel::O0)
      enz::keepOneOfEqual(module);
    return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }

  static bool isRequired() { return true; }

private:
  PassBuilder *passes_;
  EnzPhase phase_;
  OptimizationLevel level_;
  ThinOrFullLTOPhase lto_;
};

// Marks what must still be a call when our pass runs.
class MarkPass : public PassInfoMixin<MarkPass> {
public:
  explicit MarkPass(PassBuilder &passes) : passes_(&passes) {}

  PreservedAnalyses run(Module &module, ModuleAnalysisManager &modules) {
    auto &functions = modules.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
    EnzOpaqueHost host{&module, &modules, &functions, passes_, ThinOrFullLTOPhase::None};
    enz_registry_mark(&host);
    enz_statements_mark(&host);
    enz::markWords(module);
    // Before the optimiser takes reads of floats for such of integers.
    if (any_of(module, [](const Function &function) { return function.getName().contains("enzyme"); }))
      for_each(module, enz::noteFloats);
    return PreservedAnalyses::none();
  }

  static bool isRequired() { return true; }

private:
  PassBuilder *passes_;
};

// Simplifies and inlines across the files of a full link of C and Fortran, if derivatives are asked for there. Code of
// C++ and Rust was inlined before, file by file or crate by crate; done twice, more of its copies have lost their
// types.
class SimplifyPass : public PassInfoMixin<SimplifyPass> {
public:
  SimplifyPass(PassBuilder &passes, OptimizationLevel level) {
    simplify_.addPass(MarkPass(passes));
    simplify_.addPass(passes.buildModuleSimplificationPipeline(level, ThinOrFullLTOPhase::None));
  }

  PreservedAnalyses run(Module &module, ModuleAnalysisManager &modules) {
    const auto isMarker = [](const Function &function) {
      const StringRef name = function.getName();
      return function.isDeclaration() && name.contains("enzyme") && !name.starts_with("enzyme.");
    };
    const auto isMangled = [](const Function &function) {
      return function.getName().starts_with("_Z") || function.getName().starts_with("_R");
    };
    return any_of(module, isMarker) && none_of(module, isMangled) ? simplify_.run(module, modules)
                                                                  : PreservedAnalyses::all();
  }

private:
  ModulePassManager simplify_;
};

// Changes something at the link of a whole program in Rust only.
class BacktracesPass : public PassInfoMixin<BacktracesPass> {
public:
  PreservedAnalyses run(Module &module, ModuleAnalysisManager &) {
    return enz::leaveBacktraces(module) ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
};

// Runs where loops have become loops of vectors.
class MirrorPass : public PassInfoMixin<MirrorPass> {
public:
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &functions) {
    if (!function.getParent()->getNamedMetadata(enz::kDerivatives) ||
        !enz::mirrorVectors(functions.getResult<LoopAnalysis>(function)))
      return PreservedAnalyses::all();
    PreservedAnalyses preserved;
    preserved.preserveSet<CFGAnalyses>();
    return preserved;
  }
};

class ZerosPass : public PassInfoMixin<ZerosPass> {
public:
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &functions) {
    if (!function.getParent()->getNamedMetadata(enz::kDerivatives) ||
        !enz::leaveZeros(functions.getResult<LoopAnalysis>(function),
                         functions.getResult<ScalarEvolutionAnalysis>(function),
                         functions.getResult<AAManager>(function)))
      return PreservedAnalyses::all();
    PreservedAnalyses preserved;
    preserved.preserveSet<CFGAnalyses>();
    return preserved;
  }
};

class PrefetchPass : public PassInfoMixin<PrefetchPass> {
public:
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &functions) {
    if (!function.getParent()->getNamedMetadata(enz::kDerivatives) ||
        !enz::prefetchTape(function, functions.getResult<LoopAnalysis>(function),
                           functions.getResult<ScalarEvolutionAnalysis>(function),
                           functions.getResult<DominatorTreeAnalysis>(function)))
      return PreservedAnalyses::all();
    return PreservedAnalyses::none();
  }
};

EnzPhase phaseOf(ThinOrFullLTOPhase lto) {
  switch (lto) {
  case ThinOrFullLTOPhase::None:
    return ENZ_PHASE_COMPILE;
  case ThinOrFullLTOPhase::ThinLTOPreLink:
  case ThinOrFullLTOPhase::FullLTOPreLink:
    return ENZ_PHASE_PRE_LINK;
  case ThinOrFullLTOPhase::ThinLTOPostLink:
    return ENZ_PHASE_THIN_LINK;
  case ThinOrFullLTOPhase::FullLTOPostLink:
    return ENZ_PHASE_FULL_LINK;
  }
  return ENZ_PHASE_COMPILE;
}

void addCoroutineSplit(ModulePassManager &manager) {
  ModulePassManager coroutines;
  coroutines.addPass(CoroEarlyPass());
  CGSCCPassManager groups;
  groups.addPass(CoroSplitPass());
  coroutines.addPass(createModuleToPostOrderCGSCCPassAdaptor(std::move(groups)));
  coroutines.addPass(CoroCleanupPass());
  manager.addPass(CoroConditionalWrapper(std::move(coroutines)));
}

// Whether the search for vectors in straight-line code takes longer than these may ever save: it goes through the phis
// of a block in pairs, and what a large derivative keeps of each way through it is that many phis in one block.
bool isTooWide(const Function &function) {
  constexpr unsigned kPhis = 256;
  return any_of(function, [](const BasicBlock &block) {
    const auto phis = block.phis();
    return std::distance(phis.begin(), phis.end()) > kPhis;
  });
}

// Whether LoopLoadElimination would lose a part of a derivative in a function.
bool losesAdjoints(const Function &function) {
  return function.getParent()->getNamedMetadata(enz::kDerivatives) &&
         enz::hasStaggeredVectors(const_cast<Function &>(function));
}

void skipPasses(PassBuilder &passes) {
  PassInstrumentationCallbacks *callbacks = passes.getPassInstrumentationCallbacks();
  if (!callbacks)
    return;
  callbacks->registerShouldRunOptionalPassCallback([](StringRef pass, Any unit) {
    const auto *function = any_cast<const Function *>(&unit);
    if (!function)
      return true;
    const bool wide = pass == "SLPVectorizerPass" && isTooWide(**function);
    return !wide && !(pass == "LoopLoadEliminationPass" && losesAdjoints(**function));
  });
}

void registerCallbacks(PassBuilder &passes) {
  skipPasses(passes);
  passes.registerPipelineParsingCallback(
      [&passes](StringRef name, ModulePassManager &manager, ArrayRef<PassBuilder::PipelineElement>) {
        // Device functions stay without help: what keeps them for a derivative is the derivative's call.
        if (name == "preserve-nvvm" || name == "preserve-nvvm-end")
          return true;
        if (name != "enzyme")
          return false;
        manager.addPass(EnzymePass(passes, ENZ_PHASE_EXPLICIT, OptimizationLevel::O2, ThinOrFullLTOPhase::None));
        return true;
      });
  passes.registerPipelineParsingCallback(
      [](StringRef name, FunctionPassManager &manager, ArrayRef<PassBuilder::PipelineElement>) {
        if (name == "jl-inst-simplify")
          manager.addPass(InstSimplifyPass());
        else if (name == "simple-gvn")
          manager.addPass(GVNPass());
        else
          return false;
        return true;
      });
  passes.registerPipelineStartEPCallback(
      [&passes](ModulePassManager &manager, OptimizationLevel) { manager.addPass(MarkPass(passes)); });
  passes.registerOptimizerEarlyEPCallback(
      [&passes](ModulePassManager &manager, OptimizationLevel level, ThinOrFullLTOPhase lto) {
        if (level == OptimizationLevel::O0)
          addCoroutineSplit(manager);
        manager.addPass(EnzymePass(passes, phaseOf(lto), level, lto));
        // A link of Rust has this pipeline, too. What is inlined before decides what can be differentiated.
        if (level != OptimizationLevel::O0)
          manager.addPass(BacktracesPass());
      });
  passes.registerVectorizerEndEPCallback([](FunctionPassManager &manager, OptimizationLevel level) {
    if (level.getSpeedupLevel() > 1) {
      manager.addPass(MirrorPass());
      manager.addPass(ZerosPass());
      manager.addPass(PrefetchPass());
    }
  });
  enz::useVectorMath(passes);
  passes.registerFullLinkTimeOptimizationEarlyEPCallback(
      [&passes](ModulePassManager &manager, OptimizationLevel level) {
        if (level != OptimizationLevel::O0)
          manager.addPass(SimplifyPass(passes, level));
        manager.addPass(EnzymePass(passes, ENZ_PHASE_FULL_LINK, level, ThinOrFullLTOPhase::FullLTOPostLink));
        if (level != OptimizationLevel::O0)
          manager.addPass(BacktracesPass());
      });
}

} // namespace

void enz_plugin_info(EnzPluginInfo *out, EnzRunFunction run) {
  run_function = run;
  out->api = LLVM_PLUGIN_API_VERSION;
  out->name = "Enzyme";
  out->version = "0.1";
  out->register_callbacks = reinterpret_cast<void *>(&registerCallbacks);
  out->pre_codegen = nullptr;
}
