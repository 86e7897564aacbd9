// Inlining into a prepared clone, so that the derivative sees whole loop nests instead of calls.
//
// Callees come in if they are defined here for good, small, not recursive, and not functions that are wanted as calls:
// markers, those the caller names, known library functions, and whatever carries an annotation of ours. `noinline` is
// respected unless it comes with `optnone`, which compilers put on everything at -O0. Code for a processor that the
// caller's need not run on stays where it is: outside, its intrinsics would become calls.

#include "members.h"
#include "rust.h"
#include "support.h"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace {

// How many functions a search for recursion visits before it assumes the worst.
constexpr size_t kRecursionSearchLimit = 2000;
// Instructions of a function that costs no more as a copy than as a call.
constexpr uint64_t kSmall = 30;
constexpr StringLiteral kFeatures = "target-features";

class Inliner {
public:
  Inliner(EnzOpaqueHost &host, Function &target, const EnzPrepare &options, uint64_t &budget,
          enz::InlineHistory &history)
      : host_(host), target_(target), options_(options), budget_(budget), history_(history) {
    collectAnnotated();
  }

  bool run() {
    struct Site {
      WeakTrackingVH call;
      int inside;
    };
    DenseMap<const Value *, int> inside;
    for (const auto &[call, body] : history_.calls)
      if (call)
        inside[call] = body;
    SmallVector<Site, 32> work;
    for (BasicBlock &block : target_)
      for (Instruction &inst : block)
        if (isa<CallInst, InvokeInst>(inst)) {
          const auto found = inside.find(&inst);
          work.push_back({&inst, found == inside.end() ? -1 : found->second});
        }
    bool changed = false;
    for (size_t next = 0; next < work.size(); ++next) {
      auto *call = dyn_cast_or_null<CallBase>(static_cast<Value *>(work[next].call));
      if (call) {
        call = enz::plainTape(*call);
        enz::straightenCall(*call);
      }
      const int around = work[next].inside;
      Function *callee = call ? dyn_cast_or_null<Function>(call->getCalledOperand()) : nullptr;
      if (!callee || !wanted(*callee) || callee->getFunctionType() != call->getFunctionType() ||
          isInside(*callee, around) || call->hasFnAttr(enz::kAsksProcessor) ||
          (call->hasFnAttr(enz::kGuess) && (options_.keep_guesses || callsPointers(*callee))))
        continue;
      const uint64_t size = sizeOf(*callee);
      const bool forced = isForced(*callee);
      enz::Copies &copies = host_.copies;
      const bool is_first = !copies.copied.contains(callee);
      const bool counts = !forced && size > kSmall && isTight(*callee);
      if (counts && !is_first && copies.further + size > copies.growth + copies.first)
        continue;
      if (forced ? history_.forced + size > options_.force_budget : size > budget_)
        continue;
      auto cache = [this](Function &function) -> AssumptionCache & {
        return host_.functions->getResult<AssumptionAnalysis>(function);
      };
      InlineFunctionInfo info(cache);
      enz::keepOrder(*callee);
      enz::noteMembers(*callee, options_.declared);
      if (!InlineFunction(*call, info, /*MergeAttributes=*/false, /*CalleeAAR=*/nullptr, /*InsertLifetime=*/false)
               .isSuccess())
        continue;
      if (forced)
        history_.forced += size;
      else
        budget_ -= size;
      if (counts)
        (is_first ? copies.first : copies.further) += size;
      copies.copied.insert(callee);
      changed = true;
      const int body = static_cast<int>(history_.bodies.size());
      history_.bodies.emplace_back(callee, around);
      for (CallBase *inner : info.InlinedCallSites) {
        work.push_back({inner, body});
        history_.calls.emplace_back(inner, body);
      }
    }
    return changed;
  }

private:
  void collectAnnotated() {
    const GlobalVariable *table = host_.module->getGlobalVariable("llvm.global.annotations");
    const auto *entries = table && table->hasInitializer() ? dyn_cast<ConstantArray>(table->getInitializer()) : nullptr;
    if (!entries)
      return;
    for (const Use &use : entries->operands()) {
      const auto *entry = dyn_cast<ConstantStruct>(use.get());
      if (!entry || entry->getNumOperands() < 2)
        continue;
      const auto *label = dyn_cast<GlobalVariable>(entry->getOperand(1)->stripPointerCasts());
      const auto *bytes =
          label && label->hasInitializer() ? dyn_cast<ConstantDataArray>(label->getInitializer()) : nullptr;
      const auto *function = dyn_cast<Function>(entry->getOperand(0)->stripPointerCasts());
      if (function && bytes && bytes->isCString() && bytes->getAsCString().starts_with("enzyme"))
        annotated_.insert(function);
    }
  }

  uint64_t sizeOf(const Function &function) {
    auto [it, fresh] = sizes_.try_emplace(&function, 0);
    if (fresh)
      it->second = function.getInstructionCount();
    return it->second;
  }

  bool isTight(const Function &callee) {
    auto [it, fresh] = tight_.try_emplace(&callee, false);
    if (fresh)
      it->second = !enz::hasStackTraffic(callee);
    return it->second;
  }

  bool wanted(Function &callee) {
    auto [it, fresh] = wanted_.try_emplace(&callee, false);
    if (fresh) {
      const bool answer = decide(callee);
      wanted_[&callee] = answer;
      return answer;
    }
    return it->second;
  }

  bool isForced(const Function &callee) const {
    for (size_t i = 0; i < options_.num_force; ++i)
      if (callee.getName() == enz::text(options_.force[i]))
        return true;
    return false;
  }

  bool decide(Function &callee) {
    if (!enz::exactBody(callee) || callee.isVarArg() || annotated_.count(&callee))
      return false;
    if (isForced(callee)) {
      return isInlineViable(callee).isSuccess() && !isRecursive(callee);
    }
    if (callee.hasFnAttribute(Attribute::NoInline) && !callee.hasFnAttribute(Attribute::OptimizeNone))
      return false;
    for (const Attribute &attribute : callee.getAttributes().getFnAttrs())
      if (attribute.isStringAttribute() && attribute.getKindAsString().starts_with("enzyme"))
        return false;
    const StringRef name = callee.getName();
    for (size_t i = 0; i < options_.num_keep; ++i)
      if (name == enz::text(options_.keep[i]))
        return false;
    for (size_t i = 0; i < options_.num_keep_containing; ++i)
      if (name.contains(enz::text(options_.keep_containing[i])))
        return false;
    LibFunc known;
    if (!callee.hasLocalLinkage() &&
        host_.functions->getResult<TargetLibraryAnalysis>(target_).getLibFunc(callee, known))
      return false;
    if (sizeOf(callee) > options_.inline_callee || !runsWhereTargetRuns(callee))
      return false;
    return isInlineViable(callee).isSuccess() && !isRecursive(callee);
  }

  // Whether each processor that the target is compiled for runs the callee's code.
  bool runsWhereTargetRuns(Function &callee) {
    SmallVector<StringRef, 32> ours, theirs;
    target_.getFnAttribute(kFeatures).getValueAsString().split(ours, ',');
    callee.getFnAttribute(kFeatures).getValueAsString().split(theirs, ',');
    const auto have = [&](StringRef feature) { return !feature.starts_with("+") || is_contained(ours, feature); };
    return all_of(theirs, have) ||
           host_.functions->getResult<TargetIRAnalysis>(target_).areInlineCompatible(&target_, &callee);
  }

  bool isInside(const Function &callee, int body) const {
    for (; body >= 0; body = history_.bodies[body].second)
      if (history_.bodies[body].first == &callee)
        return true;
    return false;
  }

  // The functions with bodies that a function calls, and whether it calls through pointers.
  struct Calls {
    SmallPtrSet<const Function *, 8> defined;
    bool pointers = false;
  };

  const Calls &callsOf(const Function &function) {
    std::unique_ptr<Calls> &calls = calls_[&function];
    if (calls)
      return *calls;
    calls = std::make_unique<Calls>();
    for (const BasicBlock &block : function)
      for (const Instruction &inst : block)
        if (const auto *call = dyn_cast<CallBase>(&inst)) {
          calls->pointers |= call->isIndirectCall();
          if (const Function *callee = call->getCalledFunction(); callee && !callee->isDeclaration())
            calls->defined.insert(callee);
        }
    return *calls;
  }

  bool callsPointers(const Function &callee) {
    auto [it, fresh] = calls_pointers_.try_emplace(&callee, false);
    if (fresh)
      it->second = anyWithin(callee, [](const Calls &calls) { return calls.pointers; });
    return it->second;
  }

  bool isRecursive(const Function &callee) {
    return anyWithin(callee, [&callee](const Calls &calls) { return calls.defined.contains(&callee); });
  }

  // Whether `test` holds for the calls of `callee` or of a function that it leads to.
  bool anyWithin(const Function &callee, function_ref<bool(const Calls &)> test) {
    SmallPtrSet<const Function *, 16> seen{&callee};
    SmallVector<const Function *, 16> work{&callee};
    while (!work.empty()) {
      const Calls &calls = callsOf(*work.pop_back_val());
      if (test(calls) || seen.size() > kRecursionSearchLimit)
        return true;
      for (const Function *next : calls.defined)
        if (seen.insert(next).second)
          work.push_back(next);
    }
    return false;
  }

  EnzOpaqueHost &host_;
  Function &target_;
  const EnzPrepare &options_;
  uint64_t &budget_;
  enz::InlineHistory &history_;
  DenseMap<const Function *, std::unique_ptr<Calls>> calls_;
  DenseMap<const Function *, bool> calls_pointers_;
  SmallPtrSet<const Function *, 16> annotated_;
  DenseMap<const Function *, uint64_t> sizes_;
  DenseMap<const Function *, bool> wanted_;
  DenseMap<const Function *, bool> tight_;
};

} // namespace

void enz_inline_begin(EnzHost host, uint64_t growth) {
  host->copies = enz::Copies();
  host->copies.growth = growth;
}

bool enz::inlineInto(EnzOpaqueHost &host, Function &function, const EnzPrepare &options, uint64_t &budget,
                     InlineHistory &history) {
  return Inliner(host, function, options, budget, history).run();
}
