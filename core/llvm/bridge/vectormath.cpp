// More of glibc's vector functions than LLVM knows of.
//
// With -fveclib=libmvec LLVM's loops may call vector versions of exp, log, pow, sin and cos. glibc has had those of
// tanh and twenty others since version 2.35, which LLVM's table for x86-64 lacks, so that a network's layer is computed
// one tanh at a time, in the primal as in its derivatives. Calls whose result may be approximate (`afn`, which
// -ffast-math gives) are marked here as having such versions, in the way LLVM's own table does it: by an attribute of
// the call that names them.
//
// Nothing is marked where LLVM is not told to use libmvec, nor where this program runs with an older glibc, which is
// taken to be the one that will be linked with. As in LLVM's table there are versions for 128 bits, and for 256 with
// AVX2.

#include "support.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/VFABIDemangler.h"
#include "llvm/Support/VersionTuple.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

using namespace llvm;

namespace {

// Without the f of the versions for floats.
StringRef baseName(const CallInst &call, const TargetLibraryInfo &libraries) {
  const Function *callee = call.getCalledFunction();
  switch (callee->getIntrinsicID()) {
  case Intrinsic::acos:
    return "acos";
  case Intrinsic::asin:
    return "asin";
  case Intrinsic::atan:
    return "atan";
  case Intrinsic::atan2:
    return "atan2";
  case Intrinsic::cosh:
    return "cosh";
  case Intrinsic::exp10:
    return "exp10";
  case Intrinsic::exp2:
    return "exp2";
  case Intrinsic::log10:
    return "log10";
  case Intrinsic::log2:
    return "log2";
  case Intrinsic::sinh:
    return "sinh";
  case Intrinsic::tan:
    return "tan";
  case Intrinsic::tanh:
    return "tanh";
  case Intrinsic::not_intrinsic:
    break;
  default:
    return "";
  }
  LibFunc function;
  if (!libraries.getLibFunc(call, function) || !libraries.has(function))
    return "";
  StringRef name = callee->getName();
  if (call.getType()->isFloatTy())
    name.consume_back("f");
  return StringSwitch<StringRef>(name)
      .Cases({"acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cosh", "erf", "erfc"}, name)
      .Cases({"exp10", "exp2", "expm1", "hypot", "log10", "log1p", "log2", "sinh", "tan", "tanh"}, name)
      .Default("");
}

// Whether LLVM's table is that of libmvec for x86-64, which has the other functions as well.
bool hasMore(const TargetLibraryInfo &libraries) {
#ifdef __GLIBC__
  VersionTuple version;
  return libraries.getVectorizedFunction("exp", ElementCount::getFixed(2), false) == "_ZGVbN2v_exp" &&
         !version.tryParse(gnu_get_libc_version()) && version >= VersionTuple(2, 35);
#else
  return false;
#endif
}

bool canRunInVectors(const CallInst &call) {
  const Type *type = call.getType();
  return call.getCalledFunction() && (type->isDoubleTy() || type->isFloatTy()) && call.hasApproxFunc() &&
         !call.mayHaveSideEffects() && !call.getFnAttr(VFABI::MappingsAttrName).isValid();
}

void mark(CallInst &call, StringRef base, bool hasAVX2) {
  Module &module = *call.getModule();
  Type *type = call.getType();
  const bool isFloat = type->isFloatTy();
  const std::string parameters(call.arg_size(), 'v');
  SmallVector<std::string, 2> variants;
  SmallVector<GlobalValue *, 2> functions;
  for (const auto &[letter, bits] : {std::pair('b', 128u), std::pair('d', 256u)}) {
    if (letter == 'd' && !hasAVX2)
      continue;
    const unsigned lanes = bits / (isFloat ? 32 : 64);
    const std::string shape = "N" + std::to_string(lanes) + parameters + "_";
    const std::string name = std::string("_ZGV") + letter + shape + base.str() + (isFloat ? "f" : "");
    auto *vector = FixedVectorType::get(type, lanes);
    const SmallVector<Type *, 2> arguments(call.arg_size(), vector);
    auto *function =
        dyn_cast<Function>(module.getOrInsertFunction(name, FunctionType::get(vector, arguments, false)).getCallee());
    if (!function)
      return;
    function->copyAttributesFrom(call.getCalledFunction());
    functions.push_back(function);
    variants.push_back("_ZGV_LLVM_" + shape + call.getCalledFunction()->getName().str() + "(" + name + ")");
  }
  VFABI::setVectorVariantNames(&call, variants);
  // What nothing calls yet would be removed.
  appendToCompilerUsed(module, functions);
}

class VectorMathPass : public PassInfoMixin<VectorMathPass> {
public:
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &functions) {
    const auto &libraries = functions.getResult<TargetLibraryAnalysis>(function);
    if (!hasMore(libraries))
      return PreservedAnalyses::all();
    const bool hasAVX2 = function.getFnAttribute("target-features").getValueAsString().contains("+avx2");
    SmallVector<std::pair<CallInst *, StringRef>, 8> calls;
    for (Instruction &inst : instructions(function))
      if (auto *call = dyn_cast<CallInst>(&inst); call && canRunInVectors(*call))
        if (StringRef base = baseName(*call, libraries); !base.empty())
          calls.push_back({call, base});
    for (auto [call, base] : calls)
      mark(*call, base, hasAVX2);
    // Marks are no part of what analyses know.
    return PreservedAnalyses::all();
  }
};

} // namespace

bool enz::runsInVectors(const CallInst &call, const TargetLibraryInfo &libraries) {
  return canRunInVectors(call) && (libraries.isFunctionVectorizable(call.getCalledFunction()->getName()) ||
                                   (hasMore(libraries) && !baseName(call, libraries).empty()));
}

void enz::useVectorMath(PassBuilder &passes) {
  passes.registerVectorizerStartEPCallback(
      [](FunctionPassManager &manager, OptimizationLevel) { manager.addPass(VectorMathPass()); });
}
