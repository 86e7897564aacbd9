// Clones of functions whose operations are done in another format: the part that does not depend on which.

#include "precision.h"

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

unsigned enz::digitsOf(const Type *type) { return type->getFPMantissaWidth() - 1; }

unsigned enz::exponentOf(const Type *type) { return type->getPrimitiveSizeInBits() - 1 - digitsOf(type); }

Type *enz::formatOf(LLVMContext &context, uint32_t bits, uint32_t exponent, uint32_t digits) {
  if (bits == 16 || (exponent == 5 && digits == 10))
    return Type::getHalfTy(context);
  if (bits == 32 || (exponent == 8 && digits == 23))
    return Type::getFloatTy(context);
  if (bits == 64 || (exponent == 11 && digits == 52))
    return Type::getDoubleTy(context);
  if (exponent == 8 && digits == 7)
    return Type::getBFloatTy(context);
  return nullptr;
}

std::optional<uint32_t> enz::numberAt(const CallBase &call, unsigned at) {
  auto *number = at < call.arg_size() ? dyn_cast<ConstantInt>(call.getArgOperand(at)) : nullptr;
  return number && number->getValue().getActiveBits() <= 31 ? std::optional(uint32_t(number->getZExtValue()))
                                                            : std::nullopt;
}

bool enz::isMathematical(EnzOpaqueHost &host, const CallBase &call) {
  const Function *callee = call.getCalledFunction();
  if (!callee || !callee->isDeclaration())
    return false;
  if (callee->isIntrinsic())
    return true;
  LibFunc known;
  const auto &library = host.functions->getResult<TargetLibraryAnalysis>(*const_cast<Function *>(call.getFunction()));
  return library.getLibFunc(*callee, known);
}

Function *enz::Clones::of(Function &function) {
  if (Function *known = clones_.lookup(&function))
    return known;
  ValueToValueMapTy map;
  Function *copy = CloneFunction(&function, map);
  copy->setName(prefix_ + function.getName());
  copy->setLinkage(GlobalValue::InternalLinkage);
  copy->setComdat(nullptr);
  clones_[&function] = copy;
  all_.push_back(copy);
  prepare_(*copy);
  SmallVector<Instruction *, 64> insts;
  for (BasicBlock &block : *copy)
    for (Instruction &inst : block)
      insts.push_back(&inst);
  for (Instruction *inst : insts) {
    if (visit_(*inst))
      continue;
    if (auto *call = dyn_cast<CallBase>(inst)) {
      Function *callee = call->getCalledFunction();
      if (callee && enz::exactBody(*callee) && callee->getFunctionType() == call->getFunctionType())
        call->setCalledFunction(of(*callee));
    }
  }
  return copy;
}
